"""Half-quadratic quantization: sparser errors than rounding leaves, in every group, on grids that can be saved."""

import pytest
import torch

from core.methods.quantization import grid
from core.methods.quantization.hqq import HqqParams, half_quadratic, label, shrink
from core.models import load, packed
from core.models.blocks import linears
from core.models.packed import PackedLinear
from tests.core.methods.conftest import Recorder, apply


def heavy_tailed(rows=16, columns=64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=generator) * torch.exp(0.8 * torch.randn(rows, columns, generator=generator))


@pytest.mark.parametrize("bits", [8, 4, 3, 2])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("norm", [0.7, 2.0])
def test_in_no_group_is_the_cost_larger_than_that_of_rounding(bits, symmetric, norm):
    weight = heavy_tailed()
    cost = lambda q: (packed.dequantize(q, torch.float32) - weight).abs().pow(norm).view(16, 4, 16).sum(-1)
    rounded = cost(grid.round_to_nearest(weight, bits, 16, symmetric, False, torch.float32))
    fitted = cost(half_quadratic(weight, bits, 16, symmetric, torch.float32, norm))
    assert (fitted <= rounded * (1 + 1e-4) + 1e-6).all()
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


@pytest.mark.parametrize("norm", [0.5, 0.7, 1.0])
def test_the_shrinking_is_the_generalised_soft_threshold(norm):
    x = torch.linspace(-3, 3, 61)
    e = shrink(x, 2.0, norm)
    assert torch.allclose(e, -shrink(-x, 2.0, norm))
    assert (e[x.abs() < 0.3] == 0).all()
    assert (e.abs() <= x.abs()).all()
    if norm == 1:
        assert torch.allclose(e, x.sign() * (x.abs() - 0.5).clamp_min(0))


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
