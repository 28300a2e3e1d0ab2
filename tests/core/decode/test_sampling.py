"""Distributions and draws, against the definitions and against transformers' own processors."""

import pytest
import torch
from transformers import LogitsProcessorList, MinPLogitsWarper, RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper
from transformers.generation.logits_process import TopKLogitsWarper, TopPLogitsWarper

from core.decode import sampling as module
from core.decode.sampling import History, Sampling, Seeded, nucleus_edge
from core.errors import UserError


def logits(rows=3, size=2000, seed=0, spread=2.0):
    return spread * torch.randn(rows, size, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("settings", "theirs"),
    [
        ({"temperature": 0.7}, [TemperatureLogitsWarper(0.7)]),
        ({"temperature": 1.0, "top_k": 40}, [TopKLogitsWarper(40)]),
        ({"temperature": 1.3, "top_p": 0.9}, [TemperatureLogitsWarper(1.3), TopPLogitsWarper(0.9)]),
        ({"temperature": 1.0, "min_p": 0.05}, [MinPLogitsWarper(0.05)]),
        (
            {"temperature": 0.9, "top_k": 100, "top_p": 0.7, "min_p": 0.02, "repetition_penalty": 1.3},
            [
                RepetitionPenaltyLogitsProcessor(1.3),
                TemperatureLogitsWarper(0.9),
                TopKLogitsWarper(100),
                TopPLogitsWarper(0.7),
                MinPLogitsWarper(0.02),
            ],
        ),
    ],
)
def test_processing_agrees_with_transformers(settings, theirs):
    history, drafted = History([5, 9, 5, 77]), [100, 5]
    ours = Sampling(**settings)
    found = ours.probabilities(ours.adjust(logits(), history, drafted))
    for row in range(3):
        context = torch.tensor([history.ids + drafted[:row]])
        wanted = torch.softmax(LogitsProcessorList(theirs)(context, logits()[row : row + 1].clone()), -1)
        assert (found[row] - wanted[0]).abs().max() < 1e-6


def test_each_row_has_its_own_context():
    """Penalties computed once for a block, without the drafted tokens in context, change the output."""
    history, ours = History([1, 2]), Sampling(temperature=1.0, repetition_penalty=2.0)
    flat = torch.ones(4, 10)
    rows = ours.adjust(flat, history, [3, 1, 4])
    penalised = [sorted((row == 0.5).nonzero()[:, 0].tolist()) for row in rows]
    assert penalised == [[1, 2], [1, 2, 3], [1, 2, 3], [1, 2, 3, 4]]
    assert (flat == 1).all()  # what was given isn't changed
    one_by_one = [ours.adjust(flat[:1], history, [3, 1, 4][:i], first=i)[0] for i in range(4)]
    assert torch.equal(rows, torch.stack(one_by_one))


def test_minimum_length_by_row():
    ours, history = Sampling(temperature=1.0, eos=(0,), min_new_tokens=3), History([5])
    history.extend([6])
    rows = ours.adjust(torch.zeros(4, 8), history, [1, 2, 3])
    assert (rows[:, 0] == -torch.inf).tolist() == [True, True, False, False]


@pytest.mark.parametrize("mass", [0.1, 0.5, 0.9, 0.999])
def test_nucleus_prefilter_and_full_sort_agree(monkeypatch, mass):
    p = torch.softmax(logits(size=5000, spread=1.0), -1)
    quick = nucleus_edge(p, mass)
    monkeypatch.setattr(module, "PREFILTER", 5000)
    assert torch.equal(quick, nucleus_edge(p, mass))


def test_draws_follow_the_distribution():
    p = torch.tensor([0.0, 0.5, 0.0, 0.3, 0.2, 0.0])
    chooser, counts, n = Seeded(0), torch.zeros(6), 20_000
    for _ in range(n):
        counts[chooser.categorical(p)] += 1
    assert counts[[0, 2, 5]].sum() == 0
    possible = p > 0
    chi_square = ((counts - n * p)[possible] ** 2 / (n * p)[possible]).sum()
    assert chi_square < 13.8  # 99.9 % of 2 degrees of freedom


def test_a_draw_at_the_very_end_has_a_chance_of_its_own():
    class Last(Seeded):
        def uniform(self):
            return 1 - 2**-53

    p = torch.cat([torch.rand(50_000), torch.zeros(50)])
    assert Last(0).categorical(p) <= 49_999
    assert Last(0).bernoulli(1.0)[0]


def test_a_draw_of_zero_skips_what_cannot_be():
    class First(Seeded):
        def uniform(self):
            return 0.0

    assert First(0).categorical(torch.tensor([0.0, 0.0, 1.0])) == 2
    assert not First(0).bernoulli(0.0)[0]


@pytest.mark.parametrize("bad", [{"temperature": -1}, {"top_p": 0}, {"top_k": -2}, {"min_p": 1}, {"stop": ("",)}])
def test_settings_out_of_bounds_are_refused(bad):
    with pytest.raises(UserError) as caught:
        Sampling(**bad)
    assert next(iter(bad)) in caught.value.sentence


def test_a_temperature_too_low_for_float32_is_nearly_greedy():
    """1e-300 is 0 in float32; the division gave NaN, and the weights were blamed for it."""
    rows = logits()
    assert Sampling(temperature=1e-300).probabilities(rows).argmax(-1).equal(rows.argmax(-1))


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_rows_that_are_no_distribution_are_refused(value):
    rows = torch.zeros(2, 9)
    rows[1, 4] = value
    with pytest.raises(UserError) as caught:
        Sampling(temperature=1.0).probabilities(rows, "draft")
    assert "draft" in caught.value.sentence
