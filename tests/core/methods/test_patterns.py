"""Masks and counts of pruning: exact to the weight, the smallest scores, ties from the left."""

import pytest
import torch
from torch import nn

from core.errors import UserError
from core.methods.pruning import patterns
from core.methods.pruning.magnitude import MagnitudeParams
from core.methods.pruning.patterns import Threshold, layer_mask, n_of_m_mask, rows_mask, smallest_mask, whole


def test_ties_are_broken_from_the_left():
    score = torch.ones(2, 6)
    assert smallest_mask(score, 3).tolist() == [[True, True, True, False, False, False]] * 2
    assert n_of_m_mask(torch.ones(1, 8), 2, 4).tolist() == [[True, True, False, False] * 2]
    first, second = torch.ones(1, 4), torch.ones(1, 4)
    over = Threshold.over([first, second], 0.75)
    assert over.mask(first).tolist() == [[True] * 4]
    assert over.mask(second).tolist() == [[True, True, False, False]]


def test_the_threshold_over_all_layers_is_the_kth_smallest():
    generator = torch.Generator().manual_seed(0)
    layers = [torch.randn(7, 13, generator=generator).mul(10.0**e).bfloat16().float() for e in (-20, 0, 3)] + [torch.zeros(3, 5)]
    flat = torch.cat([x.flatten() for x in layers]).abs()
    for sparsity in (0.01, 0.2, 0.5, 0.9, 0.999):
        k = int(sparsity * flat.numel() + 0.5)
        over = Threshold.over(layers, sparsity)
        masks = torch.cat([over.mask(x).flatten() for x in layers])
        assert masks.sum() == k
        order = flat.argsort(stable=True)[:k]
        assert masks[order].all()  # ties go in order of the layers


def scores(rows, columns, seed=0):
    return torch.rand(rows, columns, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("n", [0, 1, 6, 7, 13, 39, 41, 42])
def test_of_each_row_as_many_go_and_one_more_where_it_costs_least(n):
    score = scores(7, 6)
    mask = rows_mask(score, n)
    each, over = divmod(n, 7)
    found = mask.sum(1)
    assert mask.sum() == n
    assert ((found == each) | (found == each + 1)).all()
    ordered = score.sort(1).values
    assert all(score[i][mask[i]].sum() == pytest.approx(float(ordered[i, : found[i]].sum())) for i in range(7))
    if over:
        marginal = ordered[:, each]
        assert marginal[found > each].max() <= marginal[found == each].min()


def test_rows_whose_scores_are_all_alike_lose_the_leftmost():
    assert rows_mask(torch.zeros(2, 4), 3).tolist() == [[True, True, False, False], [True, False, False, False]]


@pytest.mark.parametrize("n", [0, 1, 20, 42])
def test_within_a_layer_the_smallest_go(n):
    score = scores(7, 6)
    mask = layer_mask(score, n)
    assert mask.sum() == n
    assert score[mask].sum() == pytest.approx(float(score.flatten().sort().values[:n].sum()))


def test_running_sums_are_rounded_so_that_the_whole_is_exact():
    generator = torch.Generator().manual_seed(1)
    sizes = torch.randint(1, 1000, (50,), generator=generator).tolist()
    for sparsity in (0.0, 0.1, 1 / 3, 0.5, 0.77, 0.999):
        targets = [sparsity * n for n in sizes]
        total = patterns.count_of(sparsity, sum(sizes))
        found = whole(targets, sizes, total)
        assert sum(found) == total
        assert all(abs(f - t) <= 1 and 0 <= f <= n for f, t, n in zip(found, targets, sizes, strict=True))


def test_sparsities_of_their_own_leave_the_total_exact():
    layers = [("a", nn.Linear(7, 5)), ("b", nn.Linear(11, 3)), ("c", nn.Linear(2, 9))]
    wanted = {"a": 0.4, "b": 0.7, "c": (0.55 * 86 - 0.4 * 35 - 0.7 * 33) / 18}
    planned = patterns.plan(layers, MagnitudeParams(sparsity=0.55), "pico", wanted)
    assert sum(planned.counts.values()) == 47  # of 86, rounded
    assert all(abs(planned.counts[n] - wanted[n] * planned.sizes[n]) <= 1 for n in wanted)


def test_a_pattern_that_fits_no_layer_is_refused():
    with pytest.raises(UserError, match="widths that 4 divides"):
        patterns.plan([("a", nn.Linear(6, 4))], MagnitudeParams(pattern="2:4"), "pico")
    with pytest.raises(UserError, match="no linear layers"):
        patterns.plan([], MagnitudeParams(), "pico")


def test_its_name_says_the_pattern_or_the_share():
    assert patterns.label("wanda", MagnitudeParams(sparsity=0.35)) == "wanda 35 %"
    assert patterns.label("wanda", MagnitudeParams(layers="outliers")) == "wanda 50 % by outliers"
    assert patterns.label("wanda", MagnitudeParams(pattern="4:8", layers="outliers")) == "wanda 4:8"
