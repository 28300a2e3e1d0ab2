"""Half-quadratic quantization: sparser errors than rounding leaves, in every group, on grids that can be saved."""

import pytest
import torch

from core.methods.quantization import grid
from core.methods.quantization.hqq import HqqParams, fitted, half_quadratic, label
from core.models import load, packed
from core.models.blocks import linears
from core.models.packed import PackedLinear
from tests.core.methods.conftest import Recorder, apply


def heavy_tailed(rows=16, columns=64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=generator) * torch.exp(0.8 * torch.randn(rows, columns, generator=generator))


@pytest.mark.parametrize("bits", [8, 4, 3, 2])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("norm", [0.7, 2.0, 3.0])
def test_in_no_group_is_the_cost_larger_than_that_of_rounding(bits, symmetric, norm):
    weight = heavy_tailed()
    cost = lambda q: (packed.dequantize(q, torch.float32) - weight).abs().pow(norm).view(16, 4, 16).sum(-1)
    rounded = cost(grid.round_to_nearest(weight, bits, 16, symmetric, False, torch.float32))
    fitted = cost(half_quadratic(weight, bits, 16, symmetric, torch.float32, norm))
    rel = 1e-4 if norm >= 2 else 0.01  # below 2 the smallest errors count as a thousandth of a step
    assert (fitted <= rounded * (1 + rel) + 1e-6).all()
    if bits < 8:
        assert fitted.sum() < 0.97 * rounded.sum()


@pytest.mark.parametrize("symmetric", [True, False])
def test_codes_are_the_nearest_on_the_grid_that_is_stored(symmetric):
    weight = heavy_tailed().bfloat16()
    quant = half_quadratic(weight, 4, 16, symmetric, torch.bfloat16)
    assert quant.scale.dtype == torch.bfloat16
    assert (quant.zero is None) == symmetric
    assert torch.equal(quant.codes, packed.encode(weight, quant.scale, quant.zero, 4))


def test_groups_of_zeros_stay_zeros():
    weight = heavy_tailed()
    weight[3] = 0
    for symmetric in (True, False):
        back = packed.dequantize(half_quadratic(weight, 4, 16, symmetric, torch.float32))
        assert (back[3] == 0).all()
        assert torch.isfinite(back).all()


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_fit_is_the_weighted_least_squares(symmetric):
    generator = torch.Generator().manual_seed(4)
    code = torch.randint(-8, 8, (3, 2, 16), generator=generator).float()
    zero = None if symmetric else torch.tensor([[2, -3], [0, 1], [5, -6]], dtype=torch.int8)
    scale = torch.rand(3, 2, generator=generator) + 0.1
    w = (code - (0 if symmetric else zero.unsqueeze(-1))) * scale.unsqueeze(-1)
    influence = torch.rand(3, 2, 16, generator=generator)
    found, found_zero = fitted(w, code, None if symmetric else torch.zeros_like(zero), influence, torch.ones(3, 2), -8, 7, torch.float32)
    assert torch.allclose(found, scale, atol=1e-5)
    assert symmetric or torch.equal(found_zero, zero)


def test_all_linears_become_packed_and_report_their_error(pico):
    names = [n for n, _ in linears(pico.model)]
    run = Recorder()
    model = apply("hqq", pico, run, bits=4).model
    assert all(isinstance(model.get_submodule(n), PackedLinear) for n in names)
    reported = [e for e in run.events if getattr(e, "name", "").startswith("error/")]
    assert len(reported) == len(names)


def test_linear_layers_outside_the_blocks_are_not_forgotten(pico_bert):
    model = apply("hqq", load.load(pico_bert), bits=4).model
    assert all(isinstance(m, PackedLinear) for _, m in linears(model))


def test_its_name():
    assert label(HqqParams(bits=4, group_size=64)) == "hqq 4-bit g64"
