"""Prompt lookup by definition, and drafts that say what they drew from."""

import random

import pytest
import torch

from core.decode.propose import DraftModel, NGram
from core.decode.sampling import History, Sampling, Seeded
from tests.core.decode.toys import EveryBranch, Table


def by_definition(ids, gamma, shortest, longest):
    """Longest match of the end, of equally long ones the most recent; it may run into the end and repeat."""
    for size in range(min(longest, len(ids) - 1), shortest - 1, -1):
        for end in range(len(ids) - 1, size - 1, -1):
            if ids[end - size : end] == ids[-size:]:
                text = list(ids)
                for k in range(gamma):
                    text.append(text[end + k])
                return text[len(ids) :]
    return []


@pytest.mark.parametrize("shortest", [1, 2, 3])
def test_ngram_finds_the_longest_and_most_recent(shortest):
    dice = random.Random(0)
    for _ in range(60):
        ids = [dice.randrange(3) for _ in range(dice.randrange(2, 40))]
        split = dice.randrange(1, len(ids) + 1)
        proposer, history = NGram(shortest, 6), History(ids[:split])
        proposer.start(ids[:split])
        for token in ids[split:]:
            history.extend([token])
            proposer.settle(history)
        assert proposer.propose(history, 5, Seeded(0)).ids == by_definition(ids, 5, shortest, 6)


def test_most_recent_and_not_the_oldest():
    proposer = NGram(1, 4)
    proposer.start([1, 2, 9, 1, 2, 8, 1, 2])
    assert proposer.propose(History([1]), 1, Seeded(0)).ids == [8]


def test_nothing_to_propose():
    proposer = NGram(2)
    proposer.start([1, 2, 3])
    out = proposer.propose(History([1, 2, 3]), 4, Seeded(0))
    assert (out.ids, out.rows, out.why) == ([], None, "nothing to propose")


def test_only_kept_tokens_are_looked_up():
    proposer, history = NGram(1), History([1, 2, 3, 1])
    proposer.start(history.ids)
    assert proposer.propose(history, 3, Seeded(0)).ids == [2, 3, 1]
    history.extend([5])
    proposer.settle(history)
    assert proposer.propose(history, 3, Seeded(0)).ids == []


def test_a_draft_returns_the_rows_it_drew_from():
    """A drafter returning a q that it didn't sample (transformers 47932)."""

    class Recording(EveryBranch):
        def begin(self):
            super().begin()
            self.seen = []

        def categorical(self, p):
            self.seen.append(p.clone())
            return super().categorical(p)

    sampling = Sampling(temperature=0.7, top_k=2, repetition_penalty=1.4)
    chooser, draft, history = Recording(), DraftModel(Table(4), sampling), History([0, 1, 2])
    draft.start(history.ids)
    out = draft.propose(history, 3, chooser)
    assert torch.equal(out.rows, torch.stack(chooser.seen))
    assert all(out.rows[i, x] > 0 for i, x in enumerate(out.ids))
    assert [n for n, _ in out.calls] == [1, 1, 1]


def test_a_draft_stops_after_an_end_that_it_keeps():
    sampling = Sampling(temperature=0.0, eos=(0, 1, 2))
    draft, history = DraftModel(Table(4), sampling), History([0, 1])
    draft.start(history.ids)
    out = draft.propose(history, 4, Seeded(0))
    assert (len(out.ids), out.why) == (1, "end of text")


def test_a_lagging_draft_reads_what_it_missed():
    draft, history = DraftModel(Table(4), Sampling(temperature=0.0)), History([0, 1])
    draft.start(history.ids)
    history.extend([2, 2, 1])
    draft.settle(history)
    out = draft.propose(history, 2, Seeded(0))
    assert out.calls[0][0] == 4
    assert draft.model.cached == [*history.ids, out.ids[0]]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_draft_stops_after_an_unsure_token_and_keeps_it(temperature):
    sampling = Sampling(temperature=temperature)
    sure = DraftModel(Table(4), sampling)
    history = History([0, 1])
    sure.start(history.ids)
    whole = sure.propose(history, 6, Seeded(1))
    chances = [float(torch.softmax(row[0], -1)[x]) for row, x in zip(whole.scores, whole.ids, strict=True)]
    limit = sorted(chances)[1] + 1e-9  # two of the six are below
    unsure = DraftModel(Table(4), sampling, confidence=limit)
    unsure.start(history.ids)
    out = unsure.propose(history, 6, Seeded(1))
    first = next(i for i, chance in enumerate(chances) if chance < limit)
    assert out.ids == whole.ids[: first + 1]
    assert out.why == ("confidence" if first < 5 else "gamma")


def test_confidence_is_a_probability():
    with pytest.raises(ValueError, match="probability"):
        DraftModel(Table(4), Sampling(), confidence=1.0)
