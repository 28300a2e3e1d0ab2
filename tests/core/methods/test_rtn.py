"""Round to nearest: the grid, the group that fits, what stays dense, and what's refused."""

import pytest
import torch

from core import methods
from core.errors import UserError
from core.methods.quantization.rtn import RtnParams, fitting_group, granularity, label, round_to_nearest
from core.models import inspect, load, packed, save, size
from core.models.blocks import linears, weight_of
from core.models.packed import PackedLinear
from core.params import knobs
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import apply


@pytest.mark.parametrize(
    ("asked", "widths", "fits"),
    [
        (128, (576, 1536), 64),  # SmolLM2: 128 doesn't divide 576
        (128, (256, 768), 128),
        (128, (384, 1536), 128),
        (64, (576, 1536), 64),
        (32, (32, 64), 32),
        (128, (32, 64), 32),
        (128, (100,), 100),  # no power of two from 16 up divides it
        (48, (96, 192), 48),
        (40, (96, 192), 32),
    ],
)
def test_the_group_that_fits(asked, widths, fits):
    assert fitting_group(asked, widths) == fits
    assert all(w % fits == 0 for w in widths)


@pytest.mark.parametrize("bits", [8, 6, 5, 4, 3, 2])
@pytest.mark.parametrize("symmetric", [True, False])
def test_every_weight_goes_to_the_nearest_point(bits, symmetric):
    weight = torch.randn(5, 32, generator=torch.Generator().manual_seed(1))
    quant = round_to_nearest(weight, bits, 16, symmetric, False, torch.float32)
    scale = quant.scale.repeat_interleave(16, 1)  # (out, in)
    error = (packed.dequantize(quant) - weight).abs()
    inside = (quant.codes > -(1 << (bits - 1))) & (quant.codes < (1 << (bits - 1)) - 1)
    assert (error[inside] <= 0.5001 * scale[inside]).all()
    assert quant.codes.unique().numel() <= 1 << bits


def test_the_largest_weight_is_met_exactly_at_8_bits():
    weight = torch.tensor([[0.3, -1.27, 0.01, 0.5], [2.54, 0.1, 0.2, -0.7]])
    quant = round_to_nearest(weight, 8, None, True, False, torch.float32)
    assert quant.codes.int().abs().amax(1).tolist() == [127, 127]
    assert torch.allclose(packed.dequantize(quant)[[0, 1], [1, 0]], torch.tensor([-1.27, 2.54]))


@pytest.mark.parametrize("symmetric", [True, False])
def test_clipping_never_makes_the_error_larger(symmetric):
    weight = torch.randn(16, 64, generator=torch.Generator().manual_seed(2))
    weight[:, 3] *= 8  # outliers
    error = lambda clip: (packed.dequantize(round_to_nearest(weight, 3, 32, symmetric, clip, torch.float32)) - weight).square()
    plain, clipped = error(False).view(16, 2, 32).sum(-1), error(True).view(16, 2, 32).sum(-1)
    assert (clipped <= plain + 1e-6).all()
    assert clipped.sum() < 0.95 * plain.sum()


def test_more_bits_and_smaller_groups_are_closer(pico_llama):
    def error(**values):
        before = {n: weight_of(m).clone() for n, m in linears(load.load(pico_llama).model)}
        after = apply("rtn", load.load(pico_llama), **values).model
        return sum(float((m.weight - before[n]).square().sum()) for n, m in linears(after))

    errors = [error(bits=bits) for bits in (8, 6, 5, 4, 3, 2)]
    assert errors == sorted(errors)
    row = error(bits=4, granularity="channel", symmetric=True)
    assert error(bits=4, granularity="group", group_size=16, symmetric=True) < row
    assert error(bits=4, symmetric=False) < error(bits=4, symmetric=True)


def test_all_linears_become_packed_and_the_rest_stays(pico):
    names = [n for n, _ in linears(pico.model)]
    others = {k: v.clone() for k, v in pico.model.state_dict().items() if k.removesuffix(".weight") not in names}
    model = apply("rtn", pico).model
    assert len(names) == 14
    assert all(isinstance(model.get_submodule(n), PackedLinear) for n in names)
    assert all(torch.equal(v, model.state_dict()[k]) for k, v in others.items())
    assert not isinstance(model.lm_head, PackedLinear)


def test_the_default_is_per_channel_at_8_bits_and_in_groups_below(pico_llama):
    eight, four = apply("rtn", load.load(pico_llama)), apply("rtn", load.load(pico_llama), bits=4)
    assert {m.group_size for _, m in linears(eight.model)} == {None}
    assert {m.group_size for _, m in linears(four.model)} == {32}
    assert {m.symmetric for _, m in linears(eight.model)} == {False}  # an offset a row costs nothing
    assert {m.symmetric for _, m in linears(four.model)} == {True}
    assert not any("instead of" in n for n in eight.notes)
    assert four.notes[0].startswith("Group size 32 instead of 128: 128 doesn't divide the widths 32, 64")
    assert "14 linear layers in 4 bits" in four.notes[1]


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("chosen", ["auto", "channel", "group"])
def test_a_group_size_is_asked_for_only_where_there_are_groups(bits, chosen):
    size = next(k for k in knobs(RtnParams) if k.name == "group_size")
    params = RtnParams(bits=bits, granularity=chosen)
    assert size.active(params.model_dump()) == (granularity(params) == "group")


def test_its_name_tells_what_tells_variants_apart():
    assert label(RtnParams(bits=8)) == label(RtnParams(bits=8, group_size=64)) == "rtn 8-bit"  # per row: no groups
    assert label(RtnParams(bits=4)) == "rtn 4-bit"
    assert label(RtnParams(bits=4, group_size=64, symmetric=False, clip=True)) == "rtn 4-bit g64 asymmetric clipped"
    assert label(RtnParams(bits=8, granularity="group", group_size=32)) == "rtn 8-bit g32"


def test_scales_are_computed_in_the_dtype_that_is_stored(tmp_path):
    folder = make_pico(tmp_path / "bf16", dtype="bfloat16")
    for _, module in linears(apply("rtn", load.load(folder), bits=4).model):
        assert torch.equal(module.weight_scale, module.weight_scale.bfloat16().to(module.weight_scale.dtype))


def test_transposed_layers_are_refused_with_why(pico_gpt2):
    with pytest.raises(UserError, match="stored transposed"):
        apply("rtn", load.load(pico_gpt2))


def test_an_encoder_is_quantized(pico_bert):
    model = apply("rtn", load.load(pico_bert)).model
    assert len(linears(model)) >= 12
    assert all(isinstance(m, PackedLinear) for _, m in linears(model))


def test_weights_that_are_not_numbers_are_refused_and_named(pico):
    pico.model.model.layers[1].self_attn.q_proj.weight.data[0, 0] = float("inf")
    with pytest.raises(UserError, match=r"model\.layers\.1\.self_attn\.q_proj"):
        apply("rtn", pico)


@pytest.mark.parametrize(
    "values", [{}, {"bits": 4}, {"bits": 4, "symmetric": False, "group_size": 16}, {"bits": 4, "granularity": "channel"}, {"bits": 3}]
)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_size_is_estimated_within_3_percent(tmp_path, values, dtype):
    folder = make_pico(tmp_path / "pico", hidden=64, layers=3, dtype=dtype)
    made = tmp_path / "made"
    made.mkdir()
    guess = methods.estimate("rtn", values, inspect.inspect(folder), size.ledger(folder))
    loaded = load.load(folder)
    parameters = size.ledger(folder).parameters
    save.save(apply("rtn", loaded, **values).model, made, folder, run=Run())
    real = size.ledger(made, original_parameters=parameters)
    assert guess["bytes_on_disk"] == pytest.approx(real.bytes_on_disk, rel=0.03)
    assert guess["effective_bits"] == pytest.approx(real.effective_bits, rel=0.03)
