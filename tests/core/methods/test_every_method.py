"""Every registered method on a pico model: apply, save, reload in a fresh process, same logits; and sizes that don't lie."""

import pytest

from core import methods
from core.data.labels import Labels
from core.models import inspect, load, save, size
from core.models.verify import Verifier
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import apply, give

CALIBRATED = {"windows": 4, "context": 32}
SHORT = {"steps": 3, "batch": 2, "context": 16}
SETTINGS = {  # beside each method's defaults, on a pico model
    "magnitude": [{}, {"pattern": "2:4"}, {"scope": "global", "sparsity": 0.3}],
    "wanda": [CALIBRATED, CALIBRATED | {"layers": "outliers"}],
    "sparsegpt": [CALIBRATED, CALIBRATED | {"pattern": "2:4"}],
    "rtn": [
        {},
        {"bits": 4},
        {"bits": 4, "symmetric": False, "group_size": 16},
        {"bits": 8, "symmetric": True},
        *({"bits": b} for b in (6, 5, 3, 2)),
    ],
    "gptq": [
        CALIBRATED | {"embeddings": 8},
        CALIBRATED | {"embeddings": 4},
        CALIBRATED | {"bits": 3, "symmetric": False},
        CALIBRATED | {"bits": 8},
    ],
    "awq": [CALIBRATED, CALIBRATED | {"symmetric": False}],
    "hqq": [{}, {"bits": 3, "symmetric": False}],
    "int8_static": [CALIBRATED, CALIBRATED | {"observer": "entropy", "activations": "offset"}],
    "smoothquant": [CALIBRATED],
    "cast": [{"to": "fp8"}, {"to": "fp8", "scale": "none"}],  # the dense types change no size of a pico model for sure: test_cast
    "qat": [SHORT, SHORT | {"weights": "int8", "activations": "int8"}],
    "mixed": [CALIBRATED | {"probe_windows": 2, "probe_context": 24, "average_bits": 5.5}],
    "heads": [CALIBRATED | {"share": 0.5}],
    "channels": [CALIBRATED | {"share": 0.25, "multiple": 16}],
    "layers": [CALIBRATED],
    "resize": [CALIBRATED | {"share": 0.2}],
    "distil": [SHORT, SHORT | {"begin": "narrower"}, SHORT | {"begin": "fresh"}],
    "draft": [SHORT | {"layers": 1, "written": 200}],
    "iterative": [SHORT | {"rounds": 2, "criterion": "wanda", "windows": 4}],
    "finetune": [SHORT | {"gradient_bits": 8}, SHORT, SHORT | {"weights": "lora", "rank": 4}],
}
CUTS = ("heads", "channels", "layers", "resize")  # pruning that leaves a smaller file


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


@pytest.fixture(scope="module")
def pico_bf16(tmp_path_factory):
    return make_pico(tmp_path_factory.mktemp("pico") / "pico-bf16", dtype="bfloat16")


def cases():
    methods.discover()
    for name in sorted(n for n, m in methods._methods.items() if "causal-lm" in m.info.tasks):
        for values in SETTINGS.get(name, [{}]):
            yield pytest.param(name, values, id=f"{name}-" + "-".join(f"{k}={v}" for k, v in values.items()))


# the plain process lives as long as this module, so that every case needn't wait for its imports
@pytest.mark.parametrize("source", ["pico_llama", "pico_bf16"])
@pytest.mark.parametrize(("name", "values"), cases())
def test_what_is_made_reloads_as_it_was(request, verifier, tmp_path, name, values, source):
    folder = request.getfixturevalue(source)
    loaded = load.load(folder)
    model = apply(name, loaded, **values).model
    made = tmp_path / "made"
    made.mkdir()
    save.save(model, made, folder, run=Run())
    assert verifier.check(made, model, Run()) <= 1e-4
    before, after = size.ledger(folder), size.ledger(made)
    family = methods.get(name).info.family
    if family in ("quantization", "distillation") or name in CUTS:
        assert after.weight_bytes < before.weight_bytes
    else:
        assert after.weight_bytes == before.weight_bytes  # zeros are no savings
    if name in ("magnitude", "wanda", "sparsegpt"):
        assert after.nonzero < before.nonzero
    if family == "quantization":
        assert inspect.inspect(made).quantization


@pytest.mark.parametrize(("name", "values"), [("magnitude", {}), ("rtn", {}), ("rtn", {"bits": 4})])
def test_an_encoder_reloads_as_it_was(verifier, tmp_path, pico_bert, name, values):
    loaded = load.load(pico_bert)
    model = apply(name, loaded, **values).model
    save.save(model, tmp_path, pico_bert, run=Run())
    assert verifier.check(tmp_path, model, Run()) <= 1e-4


@pytest.mark.parametrize(("name", "values"), [("magnitude", {"pattern": "2:4"}), ("distil", SHORT), ("finetune", SHORT)])
def test_transposed_layers_reload_as_they_were(verifier, tmp_path, pico_gpt2, name, values):
    loaded = load.load(pico_gpt2)
    model = apply(name, loaded, **values).model
    save.save(model, tmp_path, pico_gpt2, run=Run())
    assert verifier.check(tmp_path, model, Run()) <= 1e-4


def test_a_classifier_reloads_as_it_was(verifier, tmp_path, pico_bert):
    rows = [(f"the {'home' if i % 2 else 'cold'} wind {i}", i % 2) for i in range(40)]
    texts, numbers = zip(*rows, strict=True)
    labels = Labels("a.csv", "a.csv", "", texts, numbers, ("bad", "good"), "text", "label")
    folder = pico_bert
    for step, (name, values) in enumerate([("classify", SHORT), ("magnitude", {}), ("finetune", SHORT | {"weights": "lora"}), ("rtn", {})]):
        loaded = load.load(folder)
        model = apply(name, loaded, given=give(loaded, labels=labels), **values).model
        made = tmp_path / str(step)
        made.mkdir()
        save.save(model, made, folder, run=Run())
        assert verifier.check(made, model, Run()) <= 1e-4
        folder = made
    assert inspect.inspect(folder).task == "classifier"


def test_a_chain_of_methods_reloads_as_it_was(verifier, tmp_path, pico_llama):
    folder = pico_llama
    for step, (name, values) in enumerate([("magnitude", {}), ("finetune", SHORT), ("rtn", {"bits": 4})]):
        loaded = load.load(folder)
        model = apply(name, loaded, **values).model
        made = tmp_path / str(step)
        made.mkdir()
        save.save(model, made, folder, run=Run())
        assert verifier.check(made, model, Run()) <= 1e-4
        folder = made
    assert size.ledger(folder).nonzero < size.ledger(pico_llama).nonzero  # pruned zeros are zeros still, in 4 bits
