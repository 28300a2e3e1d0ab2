"""Distributions and draws, against the definitions and against transformers' own processors."""

import pytest
import torch
from transformers import LogitsProcessorList, MinPLogitsWarper, RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper
from transformers.generation.logits_process import TopKLogitsWarper, TopPLogitsWarper, TypicalLogitsWarper

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
        ({"temperature": 1.0, "typical_p": 0.7}, [TypicalLogitsWarper(0.7)]),
        (
            {"temperature": 0.8, "top_k": 300, "top_p": 0.9, "min_p": 0.01, "typical_p": 0.4},
            [TemperatureLogitsWarper(0.8), TopKLogitsWarper(300), TopPLogitsWarper(0.9), MinPLogitsWarper(0.01), TypicalLogitsWarper(0.4)],
        ),
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


def test_presence_and_frequency_are_of_what_was_written_row_by_row():
    """As vLLM has them: the prompt doesn't count, drafted tokens do, each from the row after it on."""
    history, ours = History([1, 2]), Sampling(temperature=1.0, presence_penalty=0.5, frequency_penalty=0.25)
    history.extend([3, 3])
    flat = torch.zeros(4, 6)
    rows = ours.adjust(flat, history, [3, 1, 1])
    assert rows.tolist() == [
        [0, 0, 0, -1.0, 0, 0],
        [0, 0, 0, -1.25, 0, 0],
        [0, -0.75, 0, -1.25, 0, 0],
        [0, -1.0, 0, -1.25, 0, 0],
    ]
    one_by_one = [ours.adjust(flat[:1], history, [3, 1, 1][:i], first=i)[0] for i in range(4)]
    assert torch.equal(rows, torch.stack(one_by_one))
    history.extend([1])
    assert ours.adjust(flat[:1], history, []).tolist() == [[0, -0.75, 0, -1.0, 0, 0]]


def test_frequency_alone():
    history = History([0])
    history.extend([4])
    rows = Sampling(frequency_penalty=0.5).adjust(torch.zeros(2, 5), history, [4])
    assert rows[:, 4].tolist() == [-0.5, -1.0]


def test_forced_tokens_outdo_bans_and_minimum_length_row_by_row():
    history = History([1])
    history.extend([2])
    ours = Sampling(temperature=0.7, top_k=3, forced=(2, 0, 4), banned=(4,), eos=(0,), min_new_tokens=9)
    rows = ours.adjust(logits(4, 6), history, [0, 4, 5])
    p = ours.probabilities(rows)
    assert p[0].tolist() == [1, 0, 0, 0, 0, 0]
    assert p[1].tolist() == [0, 0, 0, 0, 1, 0]
    assert (p[2:, [0, 4]] == 0).all()
    assert rows[:2].argmax(-1).tolist() == [0, 4]
    assert ours.adjust(logits(1, 6), history, [0], first=1)[0].argmax() == 4


@pytest.mark.parametrize("cut", [{"top_k": 1}, {"top_p": 0.3}, {"min_p": 0.9}, {"typical_p": 0.2}])
def test_a_forced_token_survives_every_cut(cut):
    ours = Sampling(temperature=1.0, forced=(7,), **cut)
    assert ours.probabilities(ours.adjust(logits(1, 3000), History([1]), []))[0, 7] == 1


@pytest.mark.parametrize("mass", [0.05, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("spread", [0.3, 1.0, 4.0])
def test_typical_prefilter_and_full_sort_agree(monkeypatch, mass, spread):
    p = torch.softmax(logits(size=5000, spread=spread), -1)
    quick = module.typical(p, mass)
    monkeypatch.setattr(module, "PREFILTER", 5000)
    assert torch.equal(quick, module.typical(p, mass))


def test_typical_leaves_out_the_too_likely():
    """A token far likelier than usual carries too little surprise: the set needn't hold the argmax."""
    p = torch.tensor([[0.4, *[0.06] * 10]])
    assert module.typical(p, 0.2).tolist() == [[False, *[True] * 10]]


def test_draft_rows_are_what_was_drawn_from_whatever_the_precision():
    """Drawing in bf16 and judging in fp32 changes the output: what's reported is the very tensor that the chooser was given."""
    from core.decode.propose import DraftModel
    from tests.core.decode.toys import Table

    given = []

    class Watching(Seeded):
        def categorical(self, p):
            given.append(p.clone())
            return super().categorical(p)

    ours = Sampling(temperature=0.8, top_p=0.9)
    out = DraftModel(Table(1, dtype=torch.bfloat16), ours).propose(History([0, 1]), 3, Watching(0))
    assert out.rows.dtype == torch.float32
    assert torch.equal(out.rows, torch.stack(given))


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


@pytest.mark.parametrize("bad", [{"temperature": -1}, {"top_p": 0}, {"top_k": -2}, {"min_p": 1}, {"typical_p": 0}, {"stop": ("",)}])
def test_settings_out_of_bounds_are_refused(bad):
    with pytest.raises(UserError) as caught:
        Sampling(**bad)
    assert next(iter(bad)) in caught.value.sentence


def test_a_temperature_too_low_for_float32_is_nearly_greedy():
    """1e-300 is 0 in float32; the division gave NaN, and the weights were blamed for it."""
    rows = logits()
    assert Sampling(temperature=1e-300).probabilities(rows).argmax(-1).equal(rows.argmax(-1))


@pytest.mark.parametrize("cut", [{"top_p": 1e-300}, {"typical_p": 1e-300}])
def test_a_mass_too_small_for_float32_keeps_one_token(cut):
    p = Sampling(temperature=1.0, **cut).probabilities(logits())
    assert ((p > 0).sum(-1) == 1).all()


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_rows_that_are_no_distribution_are_refused(value):
    rows = torch.zeros(2, 9)
    rows[1, 4] = value
    with pytest.raises(UserError) as caught:
        Sampling(temperature=1.0).probabilities(rows, "draft")
    assert "draft" in caught.value.sentence
