"""The registry: discovery, look-up, and the checks that every method shares."""

import sys

import pytest

from core import methods
from core.errors import Cancelled, UserError
from core.models import inspect, load, size
from core.params import Params, knob
from core.records import MethodInfo
from tests.core.methods.conftest import Recorder, apply, give

NAMES = {"magnitude", "rtn", "distil", "finetune", "iterative"}


@pytest.fixture
def registry(monkeypatch):
    """The registry, put back afterwards."""
    methods.discover()
    monkeypatch.setattr(methods, "_methods", dict(methods._methods))
    monkeypatch.setattr(methods, "_broken", {})


def test_all_methods_are_found_without_error():
    found = {m.name: m for m in methods.catalogue()}
    assert set(found) >= NAMES
    assert not [m for m in found.values() if m.error]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_knob_says_what_it_is_and_when_to_change_it(name):
    info = methods.get(name).info
    assert info.title
    assert info.summary
    assert info.paper
    assert info.knobs
    for k in info.knobs:
        assert k.title
        assert len(k.help) > 30, k.name
        assert k.help.endswith("."), k.name
        for other, allowed in k.when.items():
            assert other in {x.name for x in info.knobs}
            assert allowed
        assert set(k.unless) <= {x.name for x in info.knobs}


def test_the_defaults_are_those_of_the_field():
    values = methods.checked(methods.get("magnitude"), {})
    assert (values.sparsity, values.pattern) == (0.5, "free")
    values = methods.checked(methods.get("rtn"), {})
    assert (values.bits, values.group_size) == (8, 128)
    values = methods.checked(methods.get("distil"), {})
    assert (values.temperature, values.alpha, values.student) == (2.0, 0.5, None)


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(UserError) as error:
        methods.get("magnitud")
    assert "Did you mean magnitude?" in error.value.sentence
    assert "rtn" in error.value.hint


def test_an_unknown_knob_is_answered_with_the_nearest():
    with pytest.raises(UserError) as error:
        methods.checked(methods.get("rtn"), {"bit": 4})
    assert "Did you mean bits?" in error.value.sentence


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("magnitude", {"sparsity": 1}),
        ("magnitude", {"sparsity": -0.1}),
        ("magnitude", {"pattern": "3:4"}),
        ("rtn", {"bits": 7}),
        ("rtn", {"group_size": 0}),
        ("distil", {"temperature": 0}),
        ("distil", {"layers": 0}),
        ("finetune", {"learning_rate": 0}),
    ],
)
def test_a_knob_out_of_bounds_is_named(name, values):
    with pytest.raises(UserError) as error:
        methods.checked(methods.get(name), values)
    assert next(iter(values)) in error.value.sentence


def test_a_file_that_can_not_be_imported_is_a_visible_entry(registry, tmp_path, monkeypatch):
    package = tmp_path / "strange_methods"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "broken.py").write_text("import a_library_that_is_not_there\n")
    (package / "fine.py").write_text(
        "from core.methods import Given, Outcome, method\n"
        "from core.params import Params\n"
        "from core.run import Run\n"
        "@method('fine', title='Fine', family='pruning', summary='Does nothing.')\n"
        "def fine(model, params: Params, run: Run, given: Given) -> Outcome:\n"
        "    return Outcome(model)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    methods.discover(("strange_methods",))
    found = {m.name: m for m in methods.catalogue()}
    assert found["broken"].family == "unknown"
    assert "a_library_that_is_not_there" in found["broken"].error
    assert found["fine"].error == ""
    with pytest.raises(UserError, match="a_library_that_is_not_there"):
        methods.get("broken")
    for name in [n for n in sys.modules if n.startswith("strange_methods")]:
        del sys.modules[name]


def test_every_choice_of_a_variant_says_what_it_means_to_make_none():
    unsaid = [(m.name, k.name) for m in methods.catalogue() for k in m.knobs if k.kind == "variant" and k.optional and not k.empty]
    assert not unsaid


def test_a_wrong_registration_is_refused(registry):
    class Nothing(Params):
        size: int = knob(1, title="Size", help="A size.")

    def untyped(model, params, run, given):
        return None

    def typed(model, params: Nothing, run, given):
        return None

    typed.__annotations__["params"] = Nothing
    with pytest.raises(TypeError, match="params"):
        methods.method("new", title="", family="pruning", summary="")(untyped)
    with pytest.raises(ValueError, match="unknown needs"):
        methods.method("new", title="", family="pruning", summary="", needs=("luck",))(typed)
    with pytest.raises(ValueError, match="two methods"):
        methods.method("rtn", title="", family="pruning", summary="")(typed)
    methods.method("new", title="New", family="pruning", summary="")(typed)
    assert methods.get("new").info.knobs[0].name == "size"
    assert methods.label(methods.get("new"), Nothing()) == "new"


@pytest.mark.parametrize("name", ["finetune", "distil"])
def test_a_method_for_other_models_says_so(name, pico_bert):
    loaded = load.load(pico_bert)
    with pytest.raises(UserError) as error:
        apply(name, loaded)
    assert "models that generate text" in error.value.sentence
    assert methods.why_not(methods.get(name).info, loaded.info)
    assert methods.estimate(name, {}, loaded.info, size.ledger(pico_bert))["notes"]


@pytest.mark.parametrize("name", ["magnitude", "rtn", "finetune", "distil"])
def test_a_packed_parent_is_refused_with_what_to_do(name, pico):
    packed = apply("rtn", pico).model
    pico.model = packed
    with pytest.raises(UserError) as error:
        apply(name, pico, context=16) if name in ("finetune", "distil") else apply(name, pico)
    assert "quantized" in error.value.sentence
    assert "before the quantization" in error.value.hint


def test_a_variant_that_is_quantized_is_refused_even_when_it_came_dequantized(pico):
    given = give(pico, info=pico.info.model_copy(update={"quantization": "int8 per channel (compressed-tensors)"}))
    with pytest.raises(UserError, match="already quantized"):
        apply("magnitude", pico, given=given)


def test_a_missing_text_or_tokenizer_is_said(pico):
    with pytest.raises(UserError, match="needs a text"):
        apply("finetune", pico, given=give(pico, text=None))
    with pytest.raises(UserError, match="no tokenizer"):
        apply("finetune", pico, given=give(pico, tokenizer=None))


def test_a_cancelled_run_does_not_begin(pico):
    run = Recorder()
    run.control("cancel")
    with pytest.raises(Cancelled):
        apply("magnitude", pico, run)


def test_why_not_is_silent_where_the_method_fits(pico):
    assert methods.why_not(methods.get("distil").info, pico.info) == ""
    assert "isn't known" in methods.why_not(MethodInfo(name="x", title="X"), pico.info.model_copy(update={"task": "unknown"}))


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_method_estimates(name, pico_llama):
    info, ledger = inspect.inspect(pico_llama), size.ledger(pico_llama)
    found = methods.estimate(name, {}, info, ledger)
    always = {"bytes_on_disk", "effective_bits", "memory", "seconds", "notes"}
    assert always <= set(found) <= always | {"layers", "parameters", "width"}  # of what's designed
    assert 0 < found["bytes_on_disk"] <= ledger.bytes_on_disk
    assert 0 < found["effective_bits"] <= 32
    assert found["memory"] >= 4 * info.parameters
    assert found["seconds"] > 0


def test_an_estimate_of_what_is_not_known_is_none(pico_llama):
    info, ledger = inspect.inspect(pico_llama), size.ledger(pico_llama)
    assert methods.estimate("distil", {"student": "other"}, info, ledger)["bytes_on_disk"] is None
    unknown = info.model_copy(update={"layers": None})
    assert methods.estimate("rtn", {}, unknown, ledger)["bytes_on_disk"] is None


def test_no_variant_is_loaded_by_default(pico):
    with pytest.raises(UserError, match="no variant called other"):
        give(pico).load_variant("other")
