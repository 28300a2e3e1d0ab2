"""The operators that the tracer sees, and the packing for MatMulNBits."""

import pytest
import torch

from core.export.trace import Int8Linear, attend, grow, nbits_block, pack_nbits, unpack_nbits
from core.models.packed import BITS, QuantWeight, code_range, dequantize


def make(bits, out, columns, group_size, symmetric, seed=0) -> QuantWeight:
    """Random codes, both extremes among them."""
    torch.manual_seed(seed)
    low, high = code_range(bits)
    codes = torch.randint(low, high + 1, (out, columns), dtype=torch.int8)
    codes[0, 0], codes[0, 1] = low, high
    groups = columns // group_size if group_size else 1
    zero = None if symmetric else torch.randint(low, high + 1, (out, groups), dtype=torch.int8)
    return QuantWeight(bits, group_size, symmetric, torch.rand(out, groups) + 0.1, zero, codes)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("columns", "group_size"), [(96, 32), (96, 48), (192, 96), (64, None), (40, None), (72, 24)])
def test_packing_is_exact(bits, symmetric, columns, group_size):
    quant = make(bits, 6, columns, group_size, symmetric)
    wanted = dequantize(quant, torch.float32)
    block = nbits_block(quant)
    assert (block is None) == (bits > 4 or group_size == 24)  # no power of two from 16 divides 24
    if block:
        codes, scales, zeros = pack_nbits(quant, block)
        assert codes.shape == (6, -(-columns // block), block // 2)
        assert torch.equal(unpack_nbits(codes, scales, zeros, columns), wanted)
    x = torch.eye(columns)
    assert torch.equal(Int8Linear(quant, None)(x).t(), wanted)  # it takes any grid


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_attention_is_torchs(kv_heads):
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 4, 3, 8), torch.randn(2, kv_heads, 7, 8), torch.randn(2, kv_heads, 7, 8)
    mask = torch.zeros(2, 1, 3, 7)
    mask[0, 0, :, :2] = torch.finfo(torch.float32).min
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=0.3, enable_gqa=True).transpose(1, 2)
    assert torch.allclose(attend(q, k, v, mask, 0.3, 0.0), wanted, atol=1e-6)


def test_operators_have_the_shapes_they_claim():
    """torch's own check of a custom operator: schema, fake shapes, no aliasing."""
    q, k = torch.randn(2, 4, 3, 8), torch.randn(2, 2, 7, 8)
    checks = ("test_schema", "test_faketensor")
    torch.library.opcheck(grow, (k, k[:, :, :3].clone()), test_utils=checks)
    torch.library.opcheck(attend, (q, k, k.clone(), None, 0.3, 5.0), test_utils=checks)
