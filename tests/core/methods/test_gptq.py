"""GPTQ: never worse than rounding on the inputs that it saw, exact on what it needn't round, and the traps of its order."""

import pytest
import torch

from core.data.text import token_ids
from core.errors import UserError
from core.methods.quantization import grid
from core.methods.quantization.gptq import GptqParams, compensated, factorise, label
from core.models import load, packed
from core.models.blocks import linears
from core.models.packed import PackedLinear
from tests.conftest import PROSE, make_pico
from tests.core.methods.conftest import Recorder, apply

SHORT = {"windows": 4, "context": 32}


def correlated(columns: int = 64, tokens: int = 512, seed: int = 0):
    """(weight (out, in), inputs (tokens, in)) with inputs that depend on one another, as a layer's do."""
    generator = torch.Generator().manual_seed(seed)
    mix = torch.randn(columns, columns, generator=generator) / columns**0.5 + 0.5 * torch.eye(columns)
    x = torch.randn(tokens, columns, generator=generator) @ mix
    x[:, 5] *= 6  # an outlier channel
    return torch.randn(24, columns, generator=generator), x


def output_error(quant, weight, x) -> float:
    return float(((packed.dequantize(quant, torch.float32) - weight) @ x.t()).square().sum())


@pytest.mark.parametrize("bits", [8, 4, 3, 2])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("group", [16, None])
@pytest.mark.parametrize("act_order", [True, False])
def test_its_error_on_the_calibration_inputs_is_at_most_that_of_rounding(bits, symmetric, group, act_order):
    weight, x = correlated()
    rounded = grid.round_to_nearest(weight, bits, group, symmetric, False, torch.float32)
    found = compensated(weight, factorise(x.t() @ x / len(x), 0.01, act_order), bits, group, symmetric, torch.float32)
    assert torch.equal(found.scale, rounded.scale)  # the same grid
    assert output_error(found, weight, x) < 0.95 * output_error(rounded, weight, x)


def test_with_inputs_that_do_not_depend_on_one_another_it_is_rounding():
    weight = torch.randn(8, 32, generator=torch.Generator().manual_seed(3))
    for act_order in (True, False):
        found = compensated(weight, factorise(torch.diag(torch.arange(1.0, 33)), 0.01, act_order), 4, 16, True, torch.float32)
        assert torch.equal(found.codes, packed.quantize(weight, 4, 16, True).codes)


@pytest.mark.parametrize("block", [1, 7, 64, 128])
def test_the_width_of_its_blocks_changes_nothing_but_rounding_errors(block):
    weight, x = correlated()
    factor = factorise(x.double().t() @ x.double() / len(x), 0.01)
    factor = type(factor)(factor.order, factor.upper.float(), factor.dead)
    one = compensated(weight, factor, 4, 16, False, torch.float32, block=block)
    other = compensated(weight, factor, 4, 16, False, torch.float32, block=32)
    assert (one.codes != other.codes).float().mean() < 0.01


def test_the_inverse_factor_is_that_of_the_inverse():
    _, x = correlated()
    hessian = x.double().t() @ x.double() / len(x)
    factor = factorise(hessian, 0.01)
    damped = (hessian + 0.01 * hessian.diagonal().mean() * torch.eye(64))[factor.order][:, factor.order]
    assert torch.allclose(factor.upper.t() @ factor.upper @ damped, torch.eye(64, dtype=torch.float64), atol=1e-8)


def test_inputs_that_are_always_zero_need_no_weight():
    weight, x = correlated()
    x[:, [3, 40]] = 0
    found = packed.dequantize(compensated(weight, factorise(x.t() @ x / len(x), 0.01), 4, 16, True, torch.float32))
    assert (found[:, [3, 40]] == 0).all()
    assert torch.isfinite(found).all()


def test_fewer_tokens_than_columns_are_damped_enough():
    weight, x = correlated(tokens=7)
    found = compensated(weight, factorise(x.t() @ x / len(x), 0.01), 4, 16, True, torch.float32)
    assert output_error(found, weight, x) < output_error(packed.quantize(weight, 4, 16, True), weight, x)


@pytest.mark.parametrize("stepwise", [True, False])
def test_all_linears_become_packed_and_each_layer_reports_its_error(pico, stepwise):
    names = [n for n, _ in linears(pico.model)]
    run = Recorder()
    outcome = apply("gptq", pico, run, stepwise=stepwise, **SHORT)
    assert all(isinstance(outcome.model.get_submodule(n), PackedLinear) for n in names)
    reported = {e.name.removeprefix("error/"): e.value for e in run.events if getattr(e, "name", "").startswith("error/")}
    assert reported.keys() == set(names)
    assert all(0 < value < 0.3 for value in reported.values())
    assert any("14 linear layers in 4 bits" in n for n in outcome.notes)


def test_its_layers_err_less_than_those_of_rounding(pico_llama):
    """Sequentially: each block's inputs are those that the quantized blocks before it make."""
    ids = token_ids(PROSE, load.load(pico_llama).tokenizer, 200)[None]

    def divergence(name, **values):
        reference = load.load(pico_llama).model(ids).logits.log_softmax(-1)
        out = apply(name, load.load(pico_llama), bits=3, group_size=16, **values).model(ids).logits.log_softmax(-1)
        return float((reference.exp() * (reference - out)).sum(-1).mean())

    rtn = divergence("rtn", symmetric=False)
    for stepwise in (True, False):
        assert divergence("gptq", windows=32, context=64, stepwise=stepwise) < rtn


def test_the_same_seed_gives_the_same_codes_whatever_else_is_drawn(pico_llama):
    def codes():
        torch.rand(5)
        return [m.quant.codes for _, m in linears(apply("gptq", load.load(pico_llama), **SHORT).model)]

    assert all(torch.equal(a, b) for a, b in zip(codes(), codes(), strict=True))


def test_a_head_and_an_embedding_of_its_own_stay(tmp_path):
    loaded = load.load(make_pico(tmp_path / "untied", tied=False))
    before = {n: p.clone() for n, p in loaded.model.named_parameters() if "embed" in n or "lm_head" in n}
    model = apply("gptq", loaded, **SHORT).model
    after = dict(model.named_parameters())
    assert len(before) == 2
    assert all(torch.equal(value, after[n]) for n, value in before.items())


def test_an_encoder_is_quantized(pico_bert):
    outcome = apply("gptq", load.load(pico_bert), **SHORT)
    assert all(isinstance(m, PackedLinear) for _, m in linears(outcome.model))
    assert "Outside the blocks, so only rounded to nearest: pooler.dense." in outcome.notes


def test_transposed_layers_are_refused_with_why(pico_gpt2):
    with pytest.raises(UserError, match="stored transposed"):
        apply("gptq", load.load(pico_gpt2), **SHORT)


def test_its_name():
    assert label(GptqParams()) == "gptq 4-bit"
    assert label(GptqParams(bits=3, group_size=64, symmetric=False)) == "gptq 3-bit g64 asymmetric"
