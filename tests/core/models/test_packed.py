"""Packed weights: the grid, packing at the extremes, the layer, and the layout on disk."""

import pytest
import torch
from torch import nn

from core.errors import UserError
from core.models import packed
from core.models.packed import BITS, PackedLinear, code_range, dequantize, pack, quantize, unpack


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("columns", [1, 31, 32, 33, 96])
def test_packing_round_trips_at_the_extreme_codes(bits, columns):
    low, high = code_range(bits)
    codes = torch.randint(low, high + 1, (5, columns), dtype=torch.int8)
    codes[0], codes[1], codes[2] = low, high, 0
    for dim in (0, 1):
        words = pack(codes, bits, dim)
        assert words.dtype == torch.int32
        assert words.shape[dim] == -(-codes.shape[dim] * bits // 32)
        assert torch.equal(unpack(words, bits, tuple(codes.shape), dim), codes)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("group", [None, 16])
@pytest.mark.parametrize("bits", BITS)
def test_error_is_at_most_a_step(bits, group, symmetric):
    torch.manual_seed(0)
    weight = torch.randn(8, 64) + (0 if symmetric else 0.7)
    quant = quantize(weight, bits, group, symmetric)
    error = (dequantize(quant) - weight).abs().unflatten(-1, (quant.scale.shape[-1], -1))
    # half a step, and for an asymmetric grid half a step more by which rounding the zero may shift its ends
    assert (error <= quant.scale.unsqueeze(-1) * (0.501 if symmetric else 1.001)).all()
    low, high = code_range(bits)
    assert quant.codes.min() >= low
    assert quant.codes.max() <= high


@pytest.mark.parametrize("symmetric", [True, False])
def test_zero_stays_zero(symmetric):
    """A pruned weight must stay pruned: 0 is a point of every grid, also where all weights of a group are positive."""
    weight = torch.rand(4, 32) + 1
    weight[:, ::2] = 0
    assert (dequantize(quantize(weight, 4, 16, symmetric))[:, ::2] == 0).all()
    assert (dequantize(quantize(torch.zeros(4, 32), 4, 16, symmetric)) == 0).all()


@pytest.mark.parametrize(("low", "high"), [(-5.0, -4.0), (4.0, 5.0), (0.0, 1e-30), (-1e30, 1e30)])
def test_zero_point_doesn_t_overflow(low, high):
    weight = torch.linspace(low, high, 32).repeat(2, 1)
    quant = quantize(weight, 4, None, False)
    bottom, top = code_range(4)
    assert quant.zero.min() >= bottom
    assert quant.zero.max() <= top
    assert torch.isfinite(dequantize(quant)).all()


def test_more_bits_less_error():
    torch.manual_seed(0)
    weight = torch.randn(16, 128)
    errors = [(dequantize(quantize(weight, bits, 32)) - weight).pow(2).mean() for bits in sorted(BITS)]
    assert errors == sorted(errors, reverse=True)


def test_scales_are_rounded_before_the_codes_are_chosen():
    weight = torch.randn(8, 64)
    quant = quantize(weight, 8, scale_dtype=torch.bfloat16)
    assert quant.scale.dtype == torch.bfloat16
    again = packed.encode(weight, quant.scale, quant.zero, 8)
    assert torch.equal(again, quant.codes)


def test_clipping_narrows_the_grid():
    weight = torch.randn(4, 32)
    weight[:, 0] = 10
    clipped = quantize(weight, 4, None, True, low=torch.full((4, 1), -3.0), high=torch.full((4, 1), 3.0))
    assert clipped.scale.max() < quantize(weight, 4).scale.min()
    assert (clipped.codes[:, 0] == 7).all()


def test_group_that_doesn_t_fit():
    assert packed.fitting_group(576, 128) == 96
    assert packed.fitting_group(1536, 128) == 128
    assert packed.fitting_group([576, 1536], 128) == 96
    assert packed.fitting_group(64, 128) == 64
    assert packed.fitting_group(97, 32) == 1
    assert packed.fitting_group(64, None) is None
    with pytest.raises(ValueError, match="doesn't divide"):
        quantize(torch.randn(4, 33), 4, 16)
    with pytest.raises(ValueError, match="7 bits"):
        quantize(torch.randn(4, 32), 7)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("bits", "symmetric"), [(8, True), (4, True), (4, False), (3, False)])
def test_layer_computes_with_what_it_stands_for(bits, symmetric, bias):
    torch.manual_seed(0)
    linear = nn.Linear(48, 24, bias=bias)
    layer = PackedLinear.from_linear(linear, quantize(linear.weight, bits, 16, symmetric, scale_dtype=torch.bfloat16))
    x = torch.randn(2, 5, 48)
    assert torch.equal(layer(x), nn.functional.linear(x, layer.weight, linear.bias))
    assert layer.weight.dtype == torch.float32
    if bits < 8:
        assert layer.weight_packed.numel() == 24 * -(-48 * bits // 32)  # packed in memory too
    assert not any(p.requires_grad for p in layer.parameters())


def test_scale_survives_casting_the_model():
    """float16 would lose the bits of a bfloat16 scale, and with them the exact reload."""
    linear = nn.Linear(32, 8)
    layer = PackedLinear.from_linear(linear, quantize(linear.weight, 8, scale_dtype=torch.bfloat16))
    scale = layer.weight_scale.clone()
    layer.half()
    assert layer.weight.dtype == torch.float16
    assert torch.equal(layer.float().weight_scale, scale)
    assert layer.weight.dtype == torch.float32


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("group", [None, 16])
@pytest.mark.parametrize("bits", BITS)
def test_layout_round_trips(bits, group, symmetric):
    quant = quantize(torch.randn(24, 48), bits, group, symmetric, scale_dtype=torch.bfloat16)
    tensors = packed.to_layout(quant, torch.bfloat16)
    assert ("weight_packed" in tensors) == (bits < 8)
    entry = {"num_bits": bits, "symmetric": symmetric, "strategy": "group" if group else "channel", "group_size": group}
    again = packed.from_layout(tensors, entry)
    assert torch.equal(again.codes, quant.codes)
    assert torch.equal(again.scale, quant.scale)
    assert torch.equal(dequantize(again, torch.float32), dequantize(quant, torch.float32))


def test_layout_refuses_to_round_a_scale():
    with pytest.raises(ValueError, match="scale_dtype"):
        packed.to_layout(quantize(torch.randn(8, 32), 4), torch.bfloat16)


def test_damaged_layout():
    tensors = packed.to_layout(quantize(torch.randn(24, 48), 4, 16), torch.float32)
    entry = {"num_bits": 4, "symmetric": True, "strategy": "group", "group_size": 16}
    with pytest.raises(UserError, match="damaged"):
        packed.from_layout({k: v for k, v in tensors.items() if k != "weight_shape"}, entry)
    with pytest.raises(UserError, match="damaged"):
        packed.from_layout(tensors, entry | {"group_size": 32})


def test_conv1d_has_no_packed_layout():
    from transformers.pytorch_utils import Conv1D

    layer = Conv1D(8, 32)
    with pytest.raises(UserError, match="Conv1D"):
        PackedLinear.from_linear(layer, quantize(layer.weight.t(), 4))


def test_asymmetric_grids_aren_t_mixed():
    """transformers dequantizes them while loading by the first group's settings alone, so a second group would be read wrongly."""
    linear = nn.Linear(32, 32)
    modules = {name: PackedLinear.from_linear(linear, quantize(linear.weight, 4, g, False)) for name, g in (("a", 16), ("b", 32))}
    with pytest.raises(UserError, match="can't be mixed"):
        packed.quantization_config(modules, [])
    config = packed.quantization_config({"a": modules["a"]}, ["lm_head"])
    assert config["dequantize"] is True
    assert config["ignore"] == ["lm_head"]
