"""Quantization-aware training: gradients through the rounding, layers that are saved as they computed, what's learnt, what's refused."""

import pytest
import torch
from torch import nn

from core import methods
from core.errors import UserError
from core.methods.quantization.qat import OnGrid, QatParams, Rounded, label, on_grid
from core.models import inspect, load, packed, save, size
from core.models.activations import ActivationQuant
from core.models.blocks import linears
from core.models.packed import PackedLinear
from core.models.verify import Verifier
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply, give, same

QUICK = {"steps": 6, "batch": 4, "context": 24, "learning_rate": 2e-3, "precision": "float32"}
IDS = torch.randint(1, 300, (2, 24), generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


# ---- the rounding -------------------------------------------------------------------------------------------------


def grid_for(bits, symmetric=True, kind="int", group=8):
    weight = torch.randn(6, 16, generator=torch.Generator().manual_seed(bits))
    quant = packed.quantize(weight, bits, group, symmetric)
    zero = None if symmetric else quant.zero.float()
    ends = (-448.0, 448.0) if kind == "float" else tuple(map(float, packed.code_range(bits)))
    return weight, quant, zero, ends


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("bits", [8, 4, 2])
def test_forward_is_the_grid(bits, symmetric):
    weight, quant, zero, ends = grid_for(bits, symmetric)
    got = Rounded.apply(weight, quant.scale, zero, ends, "int")
    assert torch.allclose(got, packed.dequantize(quant), atol=1e-6)
    assert torch.equal(on_grid(weight, quant.scale, zero, ends, "int").to(torch.int8), quant.codes)


@pytest.mark.parametrize("symmetric", [True, False])
def test_gradients_are_those_of_the_formula(symmetric):
    """Straight through inside, nothing outside; for the scale the point minus the weight in steps inside, the point outside."""
    weight, quant, zero, ends = grid_for(4, symmetric)
    weight[0, 0], weight[1, 9] = 30.0, -30.0  # clipped
    weight.requires_grad_(True)
    scale = quant.scale.clone().requires_grad_(True)
    push = torch.randn(6, 16, generator=torch.Generator().manual_seed(9))
    (Rounded.apply(weight, scale, zero, ends, "int") * push).sum().backward()
    for row in range(6):
        for group in range(2):
            expected = 0.0
            for column in range(8 * group, 8 * group + 8):
                z = 0.0 if zero is None else float(zero[row, group])
                steps = float((weight[row, column] / scale[row, group]).detach())
                inside = ends[0] - 0.5 <= steps + z <= ends[1] + 0.5
                point = min(max(round(steps + z), ends[0]), ends[1]) - z
                expected += float(push[row, column]) * (point - steps if inside else point)
                assert float(weight.grad[row, column]) == pytest.approx(float(push[row, column]) if inside else 0.0)
            assert float(scale.grad[row, group]) == pytest.approx(expected, rel=1e-3, abs=1e-4)
    assert weight.grad[0, 0] == 0
    assert weight.grad[1, 9] == 0


def test_float8_gradients_go_straight_through():
    weight = torch.randn(4, 8).requires_grad_(True)
    scale = torch.full((4, 1), 0.01)
    Rounded.apply(weight, scale, None, (-448.0, 448.0), "float").sum().backward()
    assert torch.equal(weight.grad, (weight.detach().abs() / 0.01 <= 448).float())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("activation", [None, ActivationQuant(), ActivationQuant(symmetric=False), ActivationQuant(kind="float")])
@pytest.mark.parametrize(("bits", "group", "symmetric"), [(8, None, True), (4, 8, True), (4, 8, False), (2, 8, True)])
def test_a_layer_is_saved_as_it_computed(dtype, activation, bits, group, symmetric):
    linear = nn.Linear(16, 6)
    quant = packed.quantize(linear.weight, bits, group, symmetric, scale_dtype=dtype)
    layer = OnGrid(linear.weight, quant, linear.bias, activation=activation)
    with torch.no_grad():
        layer.weight += 0.05 * torch.randn_like(layer.weight)
        layer.log_scale += 0.1 * torch.randn_like(layer.log_scale)
    x = torch.randn(2, 3, 16)
    made = layer.packed()
    assert made.weight_scale.dtype == dtype
    assert torch.equal(layer(x), made(x))
    again = OnGrid.of_packed(made)
    assert torch.equal(again(x), made(x))
    assert torch.equal(again.packed().quant.codes, made.quant.codes)
    assert again.activation == activation


# ---- the method ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"weights": "int3", "group_size": 16, "symmetric": False, "learn_from": "both"},
        {"weights": "int8", "activations": "int8", "learn_from": "text"},
        {"weights": "int4", "activations": "int8", "group_size": 16},
        {"weights": "fp8", "activations": "fp8"},
    ],
)
def test_what_is_made_reloads_as_it_was(verifier, tmp_path, source, values):
    folder = make_pico(tmp_path / "source", dtype=source)
    loaded = load.load(folder)
    run = Recorder()
    outcome = apply("qat", loaded, run, **QUICK | values)
    kinds = {type(m) for _, m in linears(outcome.model)}
    assert kinds == {PackedLinear}
    made = tmp_path / "made"
    made.mkdir()
    save.save(outcome.model, made, folder, run=Run())
    assert verifier.check(made, outcome.model, Run()) <= 1e-5
    heldout = run.curve("heldout_loss")
    if values.get("learn_from", "teacher") != "teacher":  # a tiny model that hardly lost anything has nothing to win back in six steps
        assert min(heldout[1:]) < heldout[0]
    assert ("agreement" in {getattr(e, "name", "") for e in run.events}) == (values.get("learn_from") != "text")
    parent = size.ledger(folder)
    guess = methods.estimate("qat", QUICK | values, inspect.inspect(folder), parent)
    assert guess["bytes_on_disk"] == pytest.approx(size.ledger(made).bytes_on_disk, rel=0.05)
    assert guess["memory"] > 0


def test_learning_beats_rounding(pico_llama):
    """After some steps the model on its grid is closer to what it was than rounding alone left it."""
    want = load.load(pico_llama).model(IDS).logits.log_softmax(-1)
    distance = lambda model: float((want.exp() * (want - model(IDS).logits.log_softmax(-1))).sum(-1).mean())
    run = Recorder()
    once = {"weights": "int3", "group_size": 16, "symmetric": True}
    learnt = apply("qat", load.load(pico_llama), run, **QUICK | once | {"steps": 40})
    rounded = apply("rtn", load.load(pico_llama), bits=3, group_size=16, clip=True)
    kl = run.curve("heldout_kl")
    assert min(kl) < 0.7 * kl[0]
    assert distance(learnt.model) < distance(rounded.model)


def test_a_quantized_variant_learns_on_with_its_grid(verifier, pico_llama, tmp_path):
    original = load.load(pico_llama)
    model = apply("gptq", load.load(pico_llama), bits=4, symmetric=False, group_size=16, windows=4, context=32).model
    middle, made = tmp_path / "gptq", tmp_path / "qat"
    middle.mkdir()
    made.mkdir()
    save.save(model, middle, pico_llama, run=Run())
    loaded = load.load(middle, packed=True)
    start = loaded.model(IDS).logits.detach()
    still = apply(
        "qat",
        load.load(middle, packed=True),
        None,
        give(loaded, load_variant=lambda _: original),
        teacher="o",
        **QUICK | {"steps": 1, "learning_rate": 1e-12},
    )
    assert torch.allclose(still.model(IDS).logits, start, atol=1e-5)  # it begins where the parent was
    run = Recorder()
    outcome = apply("qat", loaded, run, give(loaded, load_variant=lambda _: original), teacher="original", **QUICK | {"steps": 20})
    assert "grid of the parent: int4" in outcome.notes[0]
    assert all(m.quant.zero is not None for _, m in linears(outcome.model))
    assert min(run.curve("heldout_kl")[1:]) < run.curve("heldout_kl")[0]
    save.save(outcome.model, made, middle, run=Run())
    assert verifier.check(made, outcome.model, Run()) <= 1e-5
    assert size.ledger(made).weight_bytes == size.ledger(middle).weight_bytes


def test_a_quantized_variant_needs_a_teacher_or_the_text(pico):
    apply("rtn", pico, bits=4, group_size=16)
    with pytest.raises(UserError, match="can't be its own teacher"):
        apply("qat", pico, **QUICK)
    with pytest.raises(UserError, match="learns on with the grid that it has"):
        apply("qat", pico, **QUICK | {"weights": "int3", "learn_from": "text"})
    apply("qat", pico, **QUICK | {"learn_from": "text", "steps": 2})


def test_a_teacher_with_other_tokens_is_refused(pico):
    with pytest.raises(UserError, match="other tokens"):
        other = give(
            pico,
            load_variant=lambda _: type(pico)(
                pico.model, None, pico.info.model_copy(update={"tokens_hash": "x"}), pico.folder, "cpu", torch.float32
            ),
        )
        apply("qat", pico, None, other, teacher="x", **QUICK)


def test_offsets_below_8_bits_and_rounded_inputs_are_refused(pico):
    with pytest.raises(UserError, match="can't be joined with rounded inputs"):
        apply("qat", pico, **QUICK | {"symmetric": False, "activations": "int8"})


def test_zeros_of_a_pruning_stay(pico):
    apply("magnitude", pico, sparsity=0.5)
    before = {n: m.weight == 0 for n, m in linears(pico.model)}
    outcome = apply("qat", pico, **QUICK | {"weights": "int8"})
    assert all((m.weight[before[n]] == 0).all() for n, m in linears(outcome.model))
    assert any("zeros of the pruning stayed zero" in note for note in outcome.notes)


def test_the_same_seed_gives_the_same(pico_llama):
    once = lambda: apply("qat", load.load(pico_llama), **QUICK | {"gradient_bits": 8}).model
    assert same(once(), once())


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({}, "qat"),
        ({"weights": "int4", "group_size": 32, "symmetric": False}, "qat int4 g32 asymmetric"),
        ({"weights": "fp8", "activations": "fp8"}, "qat fp8, fp8 inputs"),
        ({"weights": "int8", "activations": "int8"}, "qat int8, int8 inputs"),
    ],
)
def test_its_name(values, name):
    assert label(QatParams(**values)) == name
