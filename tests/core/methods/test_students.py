"""Students that are made of a teacher: narrower copies and fresh models, and what's foretold of their size."""

import pytest
import torch

from core import methods
from core.errors import UserError
from core.methods.distillation import students
from core.methods.distillation.distil import DistilParams
from core.models import inspect, load, save, size, surgery
from core.models.blocks import blocks
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply, give, same

QUICK = {"steps": 12, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32"}
NARROW = {"begin": "narrower", "share": 0.5}
FRESH = {"begin": "fresh", "layers": 1, "width": 16, "heads": 2}


def parameters(model) -> int:
    return sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("values", [NARROW, FRESH, {"begin": "fresh"}])
def test_a_new_student_learns_and_reloads(pico, pico_llama, tmp_path, values):
    before = {k: v.clone() for k, v in pico.model.state_dict().items()}
    run = Recorder()
    model = apply("distil", pico, run, **values, **QUICK).model
    assert min(run.curve("heldout_loss")[1:]) < run.curve("heldout_loss")[0]
    assert all(torch.equal(before[k], v) for k, v in pico.model.state_dict().items())  # the teacher
    save.save(model, tmp_path, pico_llama, run=Run())
    again = load.load(tmp_path)
    assert same(again.model, model)
    assert parameters(model) < parameters(pico.model)


def test_a_narrower_copy_has_the_parts_that_matter(pico):
    student, notes = students.narrower(pico.model, 0.5, Run(), give(pico))
    shape, before = surgery.anatomy(student), surgery.anatomy(pico.model)
    assert (shape.layers, shape.units, shape.width) == (before.layers, before.units // 2, before.width // 2)
    assert any("MLP width" in note for note in notes)


def test_a_narrower_copy_keeps_heads_that_can_not_be_fewer(pico_gpt2):
    loaded = load.load(pico_gpt2)
    student, notes = students.narrower(loaded.model, 0.5, Run(), give(loaded))
    assert surgery.anatomy(student).heads == surgery.anatomy(loaded.model).heads
    assert surgery.anatomy(student).width == surgery.anatomy(loaded.model).width // 2
    assert notes[0].startswith("All attention heads stay: ")


@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2"])
def test_a_fresh_model_has_the_shape_asked_for(request, model):
    loaded = load.load(request.getfixturevalue(model))
    student = students.fresh(loaded.model, students.fresh_shape(loaded.info, 1, 24, 4), 0)
    shape = surgery.anatomy(student)
    assert (len(blocks(student)), student.config.hidden_size, shape.heads, shape.head_dim) == (1, 24, 4, 6)
    assert same(student, students.fresh(loaded.model, students.fresh_shape(loaded.info, 1, 24, 4), 0))
    assert not same(student, students.fresh(loaded.model, students.fresh_shape(loaded.info, 1, 24, 4), 1))
    prompt = torch.arange(1, 9)[None]
    with torch.no_grad():
        cached, plain = (
            student.generate(prompt, max_new_tokens=8, do_sample=False, use_cache=use, eos_token_id=-1, pad_token_id=0)
            for use in (True, False)
        )
    assert torch.equal(cached, plain)


@pytest.mark.parametrize("values", [NARROW, FRESH, {"begin": "fresh"}, {"layers": 1}])
def test_its_size_is_foretold(tmp_path, values):
    folder = make_pico(tmp_path / "larger", layers=4, hidden=64)
    loaded = load.load(folder)
    params = DistilParams(**values, **QUICK)
    told = methods.estimate("distil", params, loaded.info, size.ledger(folder))
    model = apply("distil", loaded, **values, **QUICK | {"steps": 1}).model
    (tmp_path / "made").mkdir()
    save.save(model, tmp_path / "made", folder, run=Run())
    made = size.ledger(tmp_path / "made")
    assert told["bytes_on_disk"] == pytest.approx(made.bytes_on_disk, rel=0.08)  # headers count for something in a model so small
    assert f"{parameters(model) / 1e6:,.2f} million parameters" in told["notes"][0]


@pytest.mark.parametrize(
    ("heads", "kv_heads", "wanted", "kept"), [(8, 2, 4, 1), (9, 3, 3, 1), (9, 3, 4, 1), (4, 4, 2, 2), (12, 4, 6, 2), (32, 8, 6, 1)]
)
def test_groups_of_heads_stay_as_large_where_they_can(pico, heads, kv_heads, wanted, kept):
    info = pico.info.model_copy(update={"heads": heads, "kv_heads": kv_heads, "hidden": heads * 64, "head_dim": 64})
    assert students.fresh_shape(info, None, wanted * 64, wanted).kv_heads == kept


@pytest.mark.parametrize(("width", "heads"), [(30, 4), (12, 4), (36, 5)])
def test_heads_that_do_not_fit_the_width_are_refused(pico, width, heads):
    with pytest.raises(UserError, match="can't be cut into"):
        apply("distil", pico, begin="fresh", width=width, heads=heads, **QUICK)


@pytest.mark.parametrize("values", [NARROW, FRESH])
def test_no_copy_is_made_of_packed_weights(pico, values):
    apply("rtn", pico)
    with pytest.raises(UserError, match="packed weights can't be trained"):
        apply("distil", pico, **values, **QUICK)


def test_a_classifier_may_be_narrower_or_fresh(pico_bert):
    from core.data.labels import Labels

    rows = [(f"the {'home' if i % 2 else 'cold'} wind {i}", i % 2) for i in range(40)]
    texts, numbers = zip(*rows, strict=True)
    labels = Labels("a.csv", "a.csv", "", texts, numbers, ("bad", "good"), "text", "label")
    loaded = load.load(pico_bert)
    loaded.model = apply("classify", loaded, given=give(loaded, labels=labels), **QUICK).model
    loaded.info = inspect.inspect(pico_bert).model_copy(update={"task": "classifier"})
    for values in (NARROW, FRESH):
        model = apply("distil", loaded, given=give(loaded, labels=labels), **values, **QUICK).model
        assert model.config.id2label == loaded.model.config.id2label


@pytest.mark.parametrize(
    ("values", "name"),
    [(NARROW, "student, 50 % of the width"), ({"begin": "fresh"}, "fresh student, half the layers"), (FRESH, "fresh student, 1 layer")],
)
def test_its_name(values, name):
    assert methods.label(methods.get("distil"), DistilParams(**values)) == name
