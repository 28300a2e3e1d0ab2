"""8-bit weights and inputs: which layers, what's smoothed, what's said, and that it all reloads as it was."""

import math

import pytest
import torch

from core import methods
from core.errors import UserError
from core.methods.folding import folds
from core.methods.quantization import w8a8
from core.models import inspect, load, save, size
from core.models.activations import ActivationQuant
from core.models.blocks import linears, weight_of
from core.models.integer import can_multiply
from core.models.packed import PackedLinear
from core.models.verify import Verifier
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply

QUICK = {"windows": 6, "context": 48}
CASES = [
    ("int8_dynamic", {}),
    ("int8_dynamic", {"activations": "offset"}),
    ("smoothquant", QUICK),
    ("smoothquant", QUICK | {"strength": "fixed", "alpha": 0.7, "places": "norms"}),
]
IDS = torch.randint(1, 300, (2, 40), generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


def hidden(model, ids=IDS):
    out = model(input_ids=ids)
    return out.logits if "logits" in out else out.last_hidden_state


def with_outliers(folder, tmp_path, channel=3, by=40.0):
    """The model with one channel behind each norm enlarged, and the columns that read it shrunk: the same outputs, harder inputs."""
    loaded = load.load(folder)
    for fold in folds(loaded.model):
        if fold.of_norm:
            s = torch.ones(fold.channels)
            s[channel] = 1 / by
            fold.apply(s)
    made = tmp_path / "outliers"
    made.mkdir()
    save.save(loaded.model, made, folder, run=Run())
    return made


@pytest.mark.parametrize("source", ["pico_llama", "pico_bert"])
@pytest.mark.parametrize(("name", "values"), CASES)
def test_what_is_made_reloads_as_it_was(request, verifier, tmp_path, source, name, values):
    folder = request.getfixturevalue(source)
    loaded = load.load(folder)
    model = apply(name, loaded, **values).model
    made = tmp_path / "made"
    made.mkdir()
    save.save(model, made, folder, run=Run())
    assert verifier.check(made, model, Run()) <= 1e-5
    info = inspect.inspect(made)
    assert "int8 activations" in info.quantization
    assert size.ledger(made).weight_bytes < size.ledger(folder).weight_bytes
    guess = methods.estimate(name, values, inspect.inspect(folder), size.ledger(folder))
    if source == "pico_llama":
        assert guess["bytes_on_disk"] == pytest.approx(size.ledger(made).bytes_on_disk, rel=0.03)
        assert guess["seconds"] > 0
    assert (w8a8.INTEGERS if can_multiply() else w8a8.COPIES) in guess["notes"]


def test_what_runs_it_is_said_beforehand(monkeypatch):
    monkeypatch.setattr(w8a8, "can_multiply", lambda: True)
    assert w8a8.runs("cpu") == w8a8.INTEGERS
    assert w8a8.runs("cuda:0") == w8a8.COPIES, "its kernel is the CPU's"
    monkeypatch.setattr(w8a8, "can_multiply", lambda: False)
    assert "Not faster here" in w8a8.runs("cpu")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_size_is_estimated(tmp_path, dtype):
    folder = make_pico(tmp_path / "pico", hidden=64, layers=3, dtype=dtype)
    made = tmp_path / "made"
    made.mkdir()
    guess = methods.estimate("int8_dynamic", {}, inspect.inspect(folder), size.ledger(folder))
    save.save(apply("int8_dynamic", load.load(folder)).model, made, folder, run=Run())
    real = size.ledger(made, original_parameters=size.ledger(folder).parameters)
    assert guess["bytes_on_disk"] == pytest.approx(real.bytes_on_disk, rel=0.03)
    assert guess["effective_bits"] == pytest.approx(real.effective_bits, rel=0.03)


def test_a_pooler_reads_no_tokens_and_keeps_its_input(pico_bert):
    loaded = load.load(pico_bert)
    outcome = apply("int8_dynamic", loaded)
    assert loaded.model.pooler.dense.activation is None
    assert all(m.activation for n, m in linears(outcome.model) if "layer." in n)
    assert any("pooler.dense" in note for note in outcome.notes)


def test_one_text_of_a_batch_does_not_move_another(pico_bert):
    model = apply("int8_dynamic", load.load(pico_bert)).model
    assert torch.allclose(hidden(model)[1], hidden(model, IDS[1:])[0], atol=1e-6)


def test_smoothing_mends_what_outliers_break(pico_llama, tmp_path):
    folder = with_outliers(pico_llama, tmp_path)
    want = hidden(load.load(folder).model)
    error = lambda name, **values: float((hidden(apply(name, load.load(folder), **values).model) - want).square().mean().sqrt())
    plain, fixed = error("int8_dynamic"), error("smoothquant", strength="fixed", alpha=0.5, **QUICK)
    searched = error("smoothquant", **QUICK)
    easy = float((hidden(apply("int8_dynamic", load.load(pico_llama)).model) - hidden(load.load(pico_llama).model)).square().mean().sqrt())
    assert fixed < 0.5 * plain
    assert searched < 0.5 * plain
    assert searched < 1.5 * easy


def test_smoothing_alone_changes_nothing(pico_llama):
    model = load.load(pico_llama).model
    want = hidden(model)
    for fold in folds(model):
        most = torch.rand(fold.targets[0][1].in_features, generator=torch.Generator().manual_seed(1)) * 20
        fold.apply(w8a8.smoothing(fold, most, 0.5))
    assert torch.allclose(hidden(model), want, rtol=1e-4, atol=1e-4)


def test_the_scale_is_the_papers_formula(pico_llama):
    fold = next(f for f in folds(load.load(pico_llama).model) if f.of_norm)
    most = torch.linspace(0.1, 10, fold.channels)
    most[4] = 0
    s = w8a8.smoothing(fold, most, 0.6)
    heaviest = torch.cat([t.weight.abs() for _, t in fold.targets]).amax(0)
    assert torch.allclose(s[:4], (most**0.6 / heaviest**0.4)[:4])
    assert s[4] == 1  # a channel that's never used isn't stretched


def test_the_search_never_makes_it_worse(pico_llama):
    for fold in folds(load.load(pico_llama).model):
        rows = torch.randn(64, fold.targets[0][1].in_features, generator=torch.Generator().manual_seed(2))
        rows[:, 5] *= 30
        most = rows.abs().amax(0)
        weights = [weight_of(t) for _, t in fold.targets]
        wanted = [rows @ w.t() for w in weights]
        alpha = w8a8.searched_alpha(fold, most, rows, ActivationQuant())
        at = lambda a, f=fold, m=most, w=weights, y=wanted, r=rows: w8a8._error(
            w, y, r, None if a is None else f.columns(w8a8.smoothing(f, m, a)), ActivationQuant()
        )
        assert at(alpha) <= min(at(None), *(at(a) for a in w8a8.ALPHAS)) + 1e-9


def test_errors_of_layers_are_told_and_are_those_of_the_layers(pico_llama):
    run = Recorder()
    loaded = load.load(pico_llama)
    before = {n: weight_of(m).clone() for n, m in linears(loaded.model)}
    apply("smoothquant", loaded, run, **QUICK)
    told = {e.name.removeprefix("error/"): e.value for e in run.events if getattr(e, "name", "").startswith("error/")}
    assert set(told) == set(before)
    assert all(0 < v < 0.1 for v in told.values())
    weight, rows = torch.randn(8, 16), torch.randn(32, 16)
    layer = PackedLinear(w8a8.int8_weight("x", weight, torch.float32), activation=ActivationQuant())
    want = rows @ weight.t()
    got = layer(rows[None])[0]
    assert w8a8.output_error(layer, weight, rows) == pytest.approx(float((got - want).norm() / want.norm()), rel=1e-4)


def test_extremes():
    stat = w8a8.Extremes(4, torch.device("cpu"))
    parts = [torch.randn(700, 4, generator=torch.Generator().manual_seed(i)) for i in range(3)]
    for part in parts:
        stat.add(part)
    whole = torch.cat(parts)
    assert torch.equal(stat.most, whole.abs().amax(0))
    assert torch.equal(stat.low, whole.amin(0))
    assert 0 < len(stat.rows) <= w8a8.SAMPLE
    assert math.isfinite(stat.power(torch.eye(4)))


def test_transposed_layers_are_refused(pico_gpt2):
    with pytest.raises(UserError, match="stored transposed"):
        apply("int8_dynamic", load.load(pico_gpt2))


@pytest.mark.parametrize(
    ("name", "values", "label"),
    [
        ("int8_dynamic", {}, "int8 dynamic"),
        ("int8_dynamic", {"activations": "offset"}, "int8 dynamic asymmetric"),
        ("smoothquant", {}, "smoothquant"),
        ("smoothquant", {"strength": "fixed"}, "smoothquant 0.5"),
    ],
)
def test_names(name, values, label):
    method = methods.get(name)
    assert methods.label(method, methods.checked(method, values)) == label


def test_fp8_codes_meet_the_largest_of_each_row():
    weight = torch.randn(6, 32, generator=torch.Generator().manual_seed(0))
    quant = w8a8.fp8_weight("x", weight, torch.float32)
    back = quant.codes.float() * quant.scale
    assert torch.allclose(back.abs().amax(1), weight.abs().amax(1), rtol=1e-6)
    assert ((back - weight).abs() <= weight.abs() * 2**-4 + quant.scale * 2**-10).all()
    assert w8a8.fp8_weight("x", weight, torch.float32, "tensor").scale.unique().numel() == 1
    assert (w8a8.fp8_weight("x", weight, torch.float32, "none").scale == 1).all()
    with pytest.raises(UserError, match="aren't all numbers"):
        w8a8.fp8_weight("x", weight / 0, torch.float32)
