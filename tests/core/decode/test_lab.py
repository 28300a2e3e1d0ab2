"""The decode lab's job: events, race, pause and stop, and what it refuses."""

import threading
from dataclasses import replace

import pytest

from core import events
from core.decode import lab
from core.errors import Cancelled, UserError
from core.models.load import load
from core.records import GenerateSpec
from core.run import Run


@pytest.fixture(scope="module")
def target(pico_target):
    return load(pico_target)


@pytest.fixture(scope="module")
def draft(target, noisy_copy):
    return replace(target, model=noisy_copy)


def spec(**changes):
    return GenerateSpec(**({"workspace": "w", "target": "t", "prompt": "the old sailor", "max_new_tokens": 30, "gamma": 3} | changes))


def ran(target, draft, **changes):
    seen = []
    return lab.generate(target, draft, spec(**changes), Run("job", seen.append)), seen


def rounds(seen, lane="speculative"):
    return [e.round for e in seen if isinstance(e, events.RoundTaken) and e.lane == lane]


@pytest.mark.parametrize("proposer", ["draft", "ngram"])
def test_race_in_greedy_decoding(target, draft, proposer):
    result, seen = ran(target, draft, proposer=proposer, race=True)
    assert result["identical"] is True
    assert result["ids"] == result["plain"]["ids"]
    assert result["text"] == result["plain"]["text"] == target.tokenizer.decode(result["ids"], skip_special_tokens=True)
    assert result["speedup"] == pytest.approx(result["tokens_per_s"] / result["plain"]["tokens_per_s"])
    assert result["possible_speedup"] > 0
    assert result["stop"] == "length"
    taken = rounds(seen)
    assert result["rounds"] == len(taken)
    assert result["accepted"] == sum(r.accepted for r in taken)
    assert result["tested"] == sum(r.tested for r in taken)
    assert result["drafted"] == sum(len(r.drafted) for r in taken)
    assert result["tokens_per_target_call"] == 30 / len(taken)
    assert [i for r in taken for i in r.committed] == result["ids"]
    assert len(rounds(seen, "plain")) == 30
    lanes = [e.lane for e in seen if isinstance(e, (events.RoundTaken, events.DecodeStarted))]
    assert lanes == sorted(lanes, reverse=True)  # one lane after the other, never both at once
    started = [e for e in seen if isinstance(e, events.DecodeStarted)]
    assert [s.lane for s in started] == ["speculative", "plain"]
    assert "".join(started[0].prompt_pieces) == "the old sailor"


def test_sampling_claims_no_identity(target, draft):
    result, _ = ran(target, draft, proposer="draft", race=True, temperature=1.0)
    assert "identical" not in result
    assert "divergence" not in result
    assert result["speedup"] is not None


def test_plain_decoding_is_the_plain_lane(target):
    result, seen = ran(target, None)
    assert result["accepted_of_tested"] is None
    assert result["possible_speedup"] is None
    assert rounds(seen) == []
    assert len(rounds(seen, "plain")) == result["rounds"] == 30


def test_possible_speedup_without_a_race(target, draft):
    result, _ = ran(target, draft, proposer="draft")
    assert result["possible_speedup"] > 0
    assert result["speedup"] is None
    assert set(result["costs"]) == {"target", "draft"}


def test_divergence_is_named(target, draft, monkeypatch):
    """In float32 it mustn't happen, so a verifier that accepts anything stands in for one that errs."""
    from core.decode import engine
    from core.decode.verify import Verdict, greedy

    def careless(scores, proposal, sampling, chooser):
        found = greedy(scores, proposal, sampling, chooser)
        return Verdict(len(proposal.ids), int(scores[-1].argmax())) if proposal.ids else found

    monkeypatch.setattr(engine, "verifier_for", lambda sampling: careless)
    result, seen = ran(target, draft, proposer="draft", race=True)
    at = result["divergence"]["position"]
    assert result["identical"] is False
    assert result["ids"][:at] == result["plain"]["ids"][:at]
    assert result["ids"][at] != result["plain"]["ids"][at]
    top = rounds(seen, "plain")[at].final_top
    assert result["divergence"]["margin"] == pytest.approx(top[0].target - top[1].target)


def test_stop_finishes_with_what_there_is(target, draft):
    seen, run = [], None

    def sink(event):
        seen.append(event)
        if len(rounds(seen)) == 3:
            run.control("stop")

    run = Run("job", sink)
    result = lab.generate(target, draft, spec(proposer="draft", race=True), run)
    assert result["stop"] == "stopped"
    assert result["rounds"] == 3
    assert "plain" not in result
    assert result["ids"]


def test_stop_in_the_race_compares_what_both_wrote(target, draft):
    seen, run = [], None

    def sink(event):
        seen.append(event)
        if len(rounds(seen, "plain")) == 4:
            run.control("stop")

    run = Run("job", sink)
    result = lab.generate(target, draft, spec(proposer="draft", race=True), run)
    assert result["plain"]["stop"] == "stopped"
    assert len(result["plain"]["ids"]) == 4
    assert result["identical"] is True


def test_cancel_raises(target, draft):
    run = Run("job", lambda event: run.control("cancel") if isinstance(event, events.RoundTaken) else None)
    with pytest.raises(Cancelled):
        lab.generate(target, draft, spec(proposer="draft"), run)


def test_paused_it_steps_and_the_clock_waits_too(target, draft):
    seen, stepped = [], threading.Event()

    def sink(event):
        seen.append(event)
        if isinstance(event, events.DecodeStarted):
            stepped.set()

    run = Run("job", sink)
    results = []
    worker = threading.Thread(target=lambda: results.append(lab.generate(target, draft, spec(proposer="draft", paused=True), run)))
    worker.start()
    try:
        assert stepped.wait(30)
        worker.join(0.3)
        assert rounds(seen) == []
        run.control("step")
        for _ in range(200):
            if rounds(seen):
                break
            worker.join(0.05)
        worker.join(0.3)
        assert len(rounds(seen)) == 1
    finally:
        run.control("resume")
        worker.join(30)
    assert results[0]["stop"] == "length"
    assert results[0]["seconds"] == rounds(seen)[-1].at
    first, second = rounds(seen)[:2]
    assert second.at - first.at < 0.3  # the pause isn't in it


def test_other_tokens_are_refused(target, draft):
    other = replace(draft, info=draft.info.model_copy(update={"tokens_hash": "else", "name": "stranger"}))
    with pytest.raises(UserError) as caught:
        ran(target, other, proposer="draft")
    assert "stranger" in caught.value.sentence
    with pytest.raises(UserError):
        ran(target, None, proposer="draft")


def test_without_tokenizer_it_says_so(target):
    with pytest.raises(UserError) as caught:
        ran(replace(target, tokenizer=None), None)
    assert "tokenizer" in caught.value.sentence


def test_empty_prompt_begins_a_text(target):
    result, seen = ran(target, None, prompt="")
    started = next(e for e in seen if isinstance(e, events.DecodeStarted))
    assert started.prompt_ids == (target.tokenizer.eos_token_id,)
    assert result["ids"]


def test_too_long_a_prompt_says_by_how_much(target):
    with pytest.raises(UserError) as caught:
        ran(target, None, prompt="sailor " * 400)
    assert "256" in caught.value.sentence


def test_ends_come_from_the_models_configuration(target):
    assert lab.sampling_of(spec(), target).eos == (0,)


def test_models_are_left_as_they_were(target, draft):
    ran(target, draft, proposer="draft")
    for model in (target.model, draft.model):
        assert all("forward" not in m.__dict__ for m in model.modules())


def test_events_are_plain_data(target, draft):
    import pickle

    _, seen = ran(target, draft, proposer="draft", temperature=0.8)
    for event in seen:
        assert len(pickle.dumps(event)) < 20_000
    kinds = {type(v) for r in rounds(seen) for t in r.drafted for v in (t.id, t.draft, t.target, t.alpha, t.margin)}
    assert kinds <= {int, float, type(None)}
