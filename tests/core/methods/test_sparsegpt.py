"""SparseGPT: exact where exactness is known, never worse than leaving the rest as it was, and the traps of zeros that were there."""

import pytest
import torch

from core.methods.hessian import factorise
from core.methods.pruning.patterns import rows_mask
from core.methods.pruning.sparsegpt import compensated, fitted
from core.models import load
from core.models.blocks import linears, weight_of
from tests.core.methods.conftest import Recorder, apply, same
from tests.core.methods.test_gptq import correlated

SHORT = {"windows": 4, "context": 32}


def error(pruned, weight, x) -> float:
    return float(((pruned - weight) @ x.t()).square().sum())


def factor_of(x, damping=0.01):
    return factorise(x.t() @ x / len(x), damping, act_order=False)


@pytest.mark.parametrize("zeros", [0, 1, 100, 768, 1000, 1535])
@pytest.mark.parametrize("block", [16, 24, 128])
def test_exactly_as_many_zeros_as_asked(zeros, block):
    weight, x = correlated()
    found = compensated(weight, factor_of(x), zeros, block=block)
    assert (found == 0).sum() == zeros
    if zeros == 0:
        assert torch.equal(found, weight)


@pytest.mark.parametrize("pattern", [(2, 4), (4, 8)])
def test_exactly_half_of_every_group_goes_and_the_width_of_blocks_does_not_matter(pattern):
    weight, x = correlated()
    one, other = (compensated(weight, factor_of(x), 768, pattern, block=b) for b in (16, 128))
    assert ((one.reshape(-1, pattern[1]) == 0).sum(1) == pattern[0]).all()
    assert torch.equal(one == 0, other == 0)
    assert torch.allclose(one, other, atol=1e-4)


def test_a_first_column_alone_is_made_up_for_as_well_as_can_be():
    """Optimal brain surgery: with one weight gone, the rest are the least-squares solution, which float64 finds directly."""
    weight, x = correlated(columns=32)
    hessian = (x.t() @ x / len(x)).double()
    hessian += 0.01 * hessian.diagonal().mean() * torch.eye(32)
    weight[:, 0] = 1e-6  # so that these are what goes
    found = compensated(weight, factor_of(x), len(weight)).double()
    rest = hessian[1:, 1:]
    expected = weight[:, 1:].double() + torch.linalg.solve(rest, hessian[1:, :1]).t() * weight[:, :1].double()
    assert (found[:, 0] == 0).all()
    assert torch.allclose(found[:, 1:], expected, atol=1e-6)


def test_with_inputs_that_do_not_depend_on_one_another_nothing_else_moves():
    weight = torch.randn(8, 32, generator=torch.Generator().manual_seed(3))
    squares = torch.arange(1.0, 33)
    found = compensated(weight, factorise(torch.diag(squares), 0.01), 100)
    kept = found != 0
    assert torch.equal(found[kept], weight[kept])
    score = weight.square() * (squares + 0.01 * squares.mean())
    assert score[~kept].max() <= score[kept].min()


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_its_error_is_far_below_that_of_wanda_and_magnitude(share):
    weight, x = correlated()
    n = int(share * weight.numel())
    wanda, magnitude = (weight.masked_fill(rows_mask(weight.abs() * by, n), 0) for by in (x.norm(dim=0), 1))
    as_in_the_paper = compensated(weight, factor_of(x), n, even=True, block=128)
    alone = compensated(weight, factor_of(x), n)
    found = fitted(weight, alone, x.t() @ x, 0.01, 6)
    errors = [error(pruned, weight, x) for pruned in (found, alone, as_in_the_paper, magnitude)]
    assert errors == sorted(errors)
    assert errors[0] < 0.8 * error(wanda, weight, x) < errors[-1]


@pytest.mark.parametrize("zeros", [500, 1000])
def test_every_block_of_columns_loses_the_same_share_where_that_is_asked(zeros):
    weight, x = correlated()
    found = compensated(weight, factor_of(x), zeros, even=True, block=16)
    assert all(int((part == 0).sum()) == zeros // 4 for part in found.split(16, 1))


def test_fitting_reaches_the_least_squares_of_what_stays():
    """float64 finds it row by row, from the damped normal equations of the columns that stay."""
    weight, x = correlated(columns=32)
    hessian = x.t() @ x
    pruned = weight.masked_fill(rows_mask(weight.abs(), 500), 0)
    damped = hessian.double() + 0.01 * hessian.diagonal().mean() * torch.eye(32)
    expected = torch.zeros_like(weight, dtype=torch.float64)
    for row, (whole, kept) in enumerate(zip(weight.double(), pruned != 0, strict=True)):
        expected[row, kept] = torch.linalg.solve(damped[kept][:, kept], damped[kept] @ whole)
    found = fitted(weight, pruned, hessian, 0.01, 60)
    assert torch.equal(found == 0, pruned == 0)
    assert torch.allclose(found.double(), expected, atol=1e-4)


def test_each_step_of_fitting_lowers_the_error_whatever_the_scale():
    weight, x = correlated()
    pruned = compensated(weight, factor_of(x), 900)
    for scale in (1e-4, 1.0, 1e4):
        errors = [error(fitted(weight, pruned, scale * x.t() @ x, 1e-6, steps), weight, x) for steps in range(8)]
        assert errors == sorted(errors, reverse=True)
    assert fitted(weight, pruned, x.t() @ x, 0.01, 0) is pruned


def test_fitting_where_there_is_nothing_to_fit_changes_nothing():
    weight, x = correlated()
    for pruned in (weight, torch.zeros_like(weight)):
        assert torch.allclose(fitted(weight, pruned, x.t() @ x, 0.01, 5), pruned)
    assert torch.equal(fitted(weight, weight, torch.zeros(64, 64), 0.01, 5), weight)


def test_zeros_that_were_there_stay_and_are_counted():
    weight, x = correlated()
    before = weight.clone()
    before[:, -20:] = 0  # the last columns, which would otherwise take up everything
    for zeros, expected in ((0, 480), (480, 480), (481, 481), (1000, 1000)):
        found = compensated(before, factor_of(x), zeros)
        assert (found[:, -20:] == 0).all()
        assert (found == 0).sum() == expected
    grouped = compensated(before, factor_of(x), 768, (2, 4))
    assert (grouped[:, -20:] == 0).all()
    assert ((grouped[:, :-20].reshape(-1, 4) == 0).sum(1) == 2).all()


def test_inputs_that_are_always_zero_go_first_and_fewer_tokens_than_columns_do():
    weight, x = correlated(tokens=7)
    x[:, [3, 40]] = 0
    found = compensated(weight, factor_of(x), 12 * 64)
    assert (found[:, [3, 40]] == 0).all()
    assert torch.isfinite(found).all()


def test_pruned_once_more_it_keeps_the_zeros_that_it_had(pico_llama):
    loaded = load.load(pico_llama)
    first = {n: weight_of(m).clone() for n, m in linears(apply("sparsegpt", loaded, sparsity=0.3, **SHORT).model)}
    second = dict(linears(apply("sparsegpt", loaded, sparsity=0.6, **SHORT).model))
    assert all((weight_of(second[n])[w == 0] == 0).all() for n, w in first.items())


@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2", "pico_bert"])
def test_a_whole_model_is_exact_to_the_weight_and_reports_its_errors(request, model):
    loaded, run = load.load(request.getfixturevalue(model)), Recorder()
    pruned = apply("sparsegpt", loaded, run, sparsity=0.37, **SHORT).model
    zeros = sum(int((weight_of(m) == 0).sum()) for _, m in linears(pruned))
    assert zeros == int(0.37 * sum(weight_of(m).numel() for _, m in linears(pruned)) + 0.5)
    assert sum(getattr(e, "name", "").startswith("error/") for e in run.events) == len([n for n, _ in linears(pruned) if "pooler" not in n])


def test_sparsity_zero_is_bit_identical(pico_llama):
    assert same(apply("sparsegpt", load.load(pico_llama), sparsity=0, **SHORT).model, load.load(pico_llama).model)
