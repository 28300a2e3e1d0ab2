"""Find me a draft: what's tried, in which order, and what each row claims."""

import copy
import json
from dataclasses import replace

import pytest

from core.decode import find
from core.decode.stats import Costs
from core.errors import Cancelled, UserError
from core.events import DraftTried, Progress
from core.models.load import load
from core.records import FindDraftSpec
from core.run import Run


@pytest.fixture(scope="module")
def target(pico_target):
    return load(pico_target)


@pytest.fixture(scope="module")
def noisy(target, noisy_copy):
    return replace(target, model=copy.deepcopy(noisy_copy), info=target.info.model_copy(update={"name": "noisy"}))


def spec(**changes):
    told = {"workspace": "w", "target": "t", "prompts": ("the old sailor", "the dog and the fox"), "max_new_tokens": 16, "gamma": 4}
    return FindDraftSpec(**(told | changes))


def found(target, variants=(), sink=None, run=None, **changes):
    seen = []
    wanted = spec(**changes)
    run = run or Run("job", lambda event: seen.append(event) or (sink and sink(event)))
    return find.find(target, find.candidates(wanted, variants), wanted, run), seen


def a_draft(loaded, name="noisy"):
    return find.Candidate("draft", name, f"{name}-000000", lambda: loaded)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_way_is_tried_and_told(target, noisy, temperature):
    result, seen = found(target, [a_draft(noisy)], temperature=temperature)
    rows = result["rows"]
    assert [row["proposer"] for row in rows] == ["ngram", "packed", "layer-skip", "draft"]
    assert [e.row for e in seen if isinstance(e, DraftTried)] == rows
    by = {row["proposer"]: row for row in rows}
    assert by["draft"]["draft"] == "noisy-000000"
    assert by["ngram"]["cost"] == 0
    assert by["ngram"]["memory"] == 0
    assert by["packed"]["memory"] > 0
    assert by["draft"]["memory"] >= sum(p.nbytes for p in noisy.model.parameters())
    assert by["layer-skip"]["settings"] == {"skipped": [1]}
    for row in rows:
        assert row["seconds"]["target"][1] > 0
        assert 1 <= row["gamma"] <= 4
        assert row["predicted"] > 0
        assert row["coverage"] is None or 0 <= row["coverage"] <= 1
        if row["why"]:
            assert row["measured"] is None
            continue
        assert row["low"] <= row["measured"] <= row["high"]
        assert 1 <= row["tokens_per_target_call"] <= 5
        assert row["alpha"] is None or 0 <= row["alpha"] <= 1
    assert result["plain"]["tokens_per_s"] is None or result["plain"]["tokens_per_s"] > 0
    json.dumps(result)


def test_what_costs_more_than_it_could_bring_is_not_tried_to_the_end(target, noisy, monkeypatch):
    """A draft as dear as its target can't pay, whatever it says."""
    dear = Costs()
    for n in (1, 2, 3, 5):
        dear.add_target(n, 1.0)
        dear.add_draft(n, 2.0)
    monkeypatch.setattr("core.decode.calibrate.measure", lambda *args, **how: dear)
    result, _ = found(target, [a_draft(noisy)], proposers=("draft",))
    (row,) = result["rows"]
    assert "can't pay" in row["why"]
    assert row["cost"] == 2
    assert row["predicted"] <= 1
    assert row["measured"] is None
    assert result["best"] is None
    assert result["plain"]["tokens_per_s"] is None


def test_what_cannot_draft_has_its_reason_and_costs_nothing_else(target, noisy):
    def lost():
        raise UserError("{name} is gone.", name="stranger")

    result, _ = found(target, [find.Candidate("draft", "stranger", "x-000000", lost), a_draft(noisy)], proposers=("draft", "ngram"))
    assert [row["name"] for row in result["rows"]] == ["n-gram", "stranger", "noisy"]
    assert result["rows"][1]["why"] == "stranger is gone."
    assert result["rows"][2]["cost"] is not None


def test_best_is_what_was_measured_fastest_or_nobody():
    rows = [{"measured": 1.2, "low": 1.1}, {"measured": 1.4, "low": 0.9}, {"measured": 1.3, "low": 1.25}, {"measured": None, "low": None}]
    assert find.best_of(rows) == 2
    assert find.best_of(rows[1:2]) is None
    assert find.best_of([]) is None
    assert find.best_of([{"measured": 1.1, "low": 1.09, "tokens_per_target_call": 1.0}]) is None  # more than its calls can give


def test_stop_ends_it_with_the_rows_that_are_done(target, noisy):
    def sink(event):
        if isinstance(event, DraftTried):
            run.control("stop")

    run = Run("job", sink)
    result, _ = found(target, [a_draft(noisy)], run=run)
    assert len(result["rows"]) == 1


def test_cancel_raises(target):
    run = Run("job", lambda event: run.control("cancel") if isinstance(event, Progress) and event.stage == "Learning acceptance" else None)
    with pytest.raises(Cancelled):
        found(target, run=run)


@pytest.mark.parametrize(("changes", "said"), [({"prompts": ()}, "no prompt"), ({"proposers": ("oracle",)}, "called oracle")])
def test_what_cannot_be_asked_is_said(target, changes, said):
    with pytest.raises(UserError, match=said):
        found(target, **changes)


def test_rates_lean_on_the_mean_where_little_was_tested():
    learnt = find.Learnt(False, [0.5], [[1.0] * 96, [0.0]])
    rates = learnt.rates(3)
    assert rates[0] == pytest.approx(1, abs=0.01)
    assert 0.5 < rates[1] < rates[2] < 1
    assert find.Learnt(True).rates(2) == [0, 0]


def test_rounds_without_a_draft_dilute_what_is_predicted():
    """N-grams that are seldom found bring little, however good they are when they are."""
    assert find.diluted(2.0, 3.0, 1.0) == 2
    assert find.diluted(2.0, 3.0, 0.0) == 1
    assert find.diluted(2.0, 3.0, 0.5) == pytest.approx(4 / 2.5)  # two rounds: 4 tokens in the time of 1.5 + 1


def test_drafts_are_tried_after_a_forced_beginning(target, monkeypatch):
    seen = []
    monkeypatch.setattr(find, "_try", lambda lab, one, row, prompts, *rest: seen.append(prompts))
    found(target, proposers=("ngram",))
    found(target, proposers=("ngram",), forced=" told a story")
    plain, forced = seen
    assert all(after[: len(before)] == before and len(after) > len(before) for before, after in zip(plain, forced, strict=True))
