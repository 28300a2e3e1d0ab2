"""The decode lab's job: events, lanes in turns, chat, pause and stop, and what it refuses."""

import copy
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from core import events
from core.decode import lab
from core.errors import Cancelled, UserError
from core.models.load import load
from core.records import Drafting, GenerateSpec, Turn
from core.run import Run
from tests.core.decode.test_chat import PLAIN


@pytest.fixture(scope="module")
def target(pico_target):
    return load(pico_target)


@pytest.fixture(scope="module")
def draft(target, noisy_copy):
    return replace(target, model=copy.deepcopy(noisy_copy), info=target.info.model_copy(update={"name": "noisy"}))


@pytest.fixture(scope="module")
def chatty(target, pico_target):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(pico_target)
    tokenizer.chat_template = PLAIN
    return replace(target, tokenizer=tokenizer)


def spec(**changes):
    return GenerateSpec(**({"workspace": "w", "target": "t", "prompt": "the old sailor", "max_new_tokens": 30, "gamma": 3} | changes))


def ran(target, draft, rival_draft=None, held=None, **changes):
    seen = []
    result = lab.generate(target, draft, spec(**changes), Run("job", seen.append), rival_draft=rival_draft, held=held)
    return result, seen


def rounds(seen, lane="speculative"):
    return [e.round for e in seen if isinstance(e, events.RoundTaken) and e.lane == lane]


# ---- races ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("proposer", ["draft", "ngram", "early-exit"])
def test_race_in_greedy_decoding(target, draft, proposer):
    result, seen = ran(target, draft, proposer=proposer, race=True)
    assert result["identical"] is True
    assert result["ids"] == result["plain"]["ids"]
    assert result["text"] == result["plain"]["text"] == target.tokenizer.decode(result["ids"], skip_special_tokens=True)
    assert result["speedup"] == pytest.approx(result["tokens_per_s"] / result["plain"]["tokens_per_s"])
    assert result["possible_speedup"] > 0
    assert result["efficiency"] == pytest.approx(result["speedup"] / result["possible_speedup"])
    assert result["stop"] == "length"
    taken = rounds(seen)
    assert result["rounds"] == len(taken)
    assert result["accepted"] == sum(r.accepted for r in taken)
    assert result["tested"] == sum(r.tested for r in taken)
    assert result["drafted"] == sum(len(r.drafted) for r in taken)
    assert result["gammas"] == {3: len(taken)}
    assert result["tokens_per_target_call"] == 30 / len(taken)
    assert [i for r in taken for i in r.committed] == result["ids"]
    assert len(rounds(seen, "plain")) == 30
    assert set(result["lanes"]) == {"speculative", "plain"}
    started = [e for e in seen if isinstance(e, events.DecodeStarted)]
    assert [s.lane for s in started] == ["speculative", "plain"]
    assert "".join(started[0].prompt_pieces) == "the old sailor"
    measured = [e for e in seen if isinstance(e, events.CostsMeasured)]
    assert [e.lane for e in measured] == ["speculative"]
    assert {1, 2, 4} <= set(measured[0].target)
    assert bool(measured[0].draft) == (proposer != "ngram")


@pytest.mark.parametrize("verifier", ["token", "block", "tree"])
def test_a_model_that_drafts_for_itself_has_two_caches(target, verifier):
    """The worker hands over one and the same model for both; with one cache for both the text was another one."""
    rival = Drafting(proposer="draft", gamma=2, verifier=verifier)
    result, seen = ran(target, target, rival_draft=target, proposer="draft", verifier=verifier, rival=rival, race=True)
    assert result["identical"] is True
    assert result["lanes"]["rival"]["identical"] is True
    assert result["accepted"] == result["tested"] > 0
    assert all(r.target_cache == r.start + len(r.committed) - 1 for r in rounds(seen))


class Clocked:
    """A decoding whose rounds take the seconds that it's told."""

    def __init__(self, *takes):
        self.takes, self.seconds, self.stop = takes, 0.0, ""

    def rounds(self, turn):
        for number, seconds in enumerate(self.takes, 1):
            if not turn():
                self.stop = "stopped"
                return
            self.seconds += seconds
            if number == len(self.takes):
                self.stop = "length"
            yield events.Round(number, 0, 0, (), "", 1, "x", "plain", committed=(1,), at=self.seconds)

    def spend(self, seconds):
        assert seconds >= 0


def test_the_lane_with_the_least_time_of_its_own_goes_next(target):
    lanes = [
        lab.Lane("speculative", None, Clocked(3, 3, 3)),
        lab.Lane("rival", None, Clocked(2, 2)),
        lab.Lane("plain", None, Clocked(1, 9)),
    ]
    seen = []
    order = [lane.name[0] for lane in lab.Lab(target, Run("job", seen.append)).turns(lanes)]
    assert "".join(order) == "srpprss"
    assert [e.lane[0] for e in seen] == order
    assert [len(lane.rounds) for lane in lanes] == [3, 2, 2]


def test_while_paused_a_step_is_a_round_of_the_first_lane(target):
    lanes = [lab.Lane("speculative", None, Clocked(3, 3)), lab.Lane("plain", None, Clocked(1, 1, 1))]
    run = Run("job")
    run.control("pause")
    turns = lab.Lab(target, run).turns(lanes)
    names = []
    for _ in range(3):
        run.control("step")
        names.append(next(turns).name)
    assert names == ["speculative", "speculative", "plain"]  # the other's turn comes once the first has ended
    run.control("resume")
    assert [lane.name for lane in turns] == ["plain", "plain"]


def test_lanes_have_clocks_of_their_own(target, draft):
    result, seen = ran(target, draft, proposer="draft", race=True)
    for lane in ("speculative", "plain"):
        taken = rounds(seen, lane)
        assert taken[-1].at == result["lanes"][lane]["seconds"]
        assert taken[-1].at >= sum(sum(r.seconds.values()) for r in taken) > 0
    lanes = [e.lane for e in seen if isinstance(e, events.RoundTaken)]
    assert lanes != sorted(lanes)  # not one after the other
    assert lanes != sorted(lanes, reverse=True)


def test_a_rival_is_one_more_lane(target, draft):
    rival = Drafting(proposer="ngram", gamma=5, policy="adaptive")
    result, seen = ran(target, draft, proposer="draft", race=True, rival=rival)
    assert set(result["lanes"]) == {"speculative", "rival", "plain"}
    assert result["lanes"]["rival"]["ids"] == result["ids"]
    assert result["lanes"]["rival"]["identical"] is True
    assert result["lanes"]["rival"]["speedup"] > 0
    assert sum(result["lanes"]["rival"]["gammas"].values()) == len(rounds(seen, "rival"))
    assert [e.lane for e in seen if isinstance(e, events.CostsMeasured)] == ["speculative", "rival"]


def test_a_rival_may_have_a_draft_of_its_own(target, draft):
    other = replace(draft, model=copy.deepcopy(target.model))
    result, _ = ran(target, draft, other, proposer="draft", rival=Drafting(proposer="draft", draft="x", gamma=3))
    assert result["lanes"]["rival"]["accepted"] == result["lanes"]["rival"]["tested"]  # the target's own copy is always right
    assert result["accepted"] < result["tested"]
    assert "plain" not in result
    assert result["speedup"] is None


def test_a_rival_that_does_not_draft_is_refused(target):
    with pytest.raises(UserError, match="rival doesn't draft"):
        ran(target, None, proposer="ngram", rival=Drafting())


def test_sampling_claims_no_identity(target, draft):
    result, _ = ran(target, draft, proposer="draft", race=True, temperature=1.0)
    assert "identical" not in result
    assert "divergence" not in result
    assert result["speedup"] is not None


def test_plain_decoding_is_the_plain_lane(target):
    result, seen = ran(target, None, race=True)
    assert result["accepted_of_tested"] is None
    assert result["possible_speedup"] is None
    assert rounds(seen) == []
    assert len(rounds(seen, "plain")) == result["rounds"] == 30
    assert set(result["lanes"]) == {"plain"}


def test_possible_speedup_without_a_race(target, draft):
    result, seen = ran(target, draft, proposer="draft")
    assert result["possible_speedup"] > 0
    assert result["speedup"] is None
    assert set(result["costs"]) == {"target", "draft"}
    assert not [e for e in seen if isinstance(e, events.CostsMeasured)]


def test_divergence_is_named(target, draft, monkeypatch):
    """In float32 it mustn't happen, so a verifier that accepts anything stands in for one that errs."""
    from core.decode.verify import Verdict, greedy

    def careless(scores, proposal, sampling, chooser):
        found = greedy(scores, proposal, sampling, chooser)
        return Verdict(len(proposal.ids), int(scores[-1].argmax())) if proposal.ids else found

    monkeypatch.setattr(lab, "verifier_for", lambda sampling, name, **how: careless)
    result, seen = ran(target, draft, proposer="draft", race=True)
    at = result["divergence"]["position"]
    assert result["identical"] is False
    assert result["ids"][:at] == result["plain"]["ids"][:at]
    assert result["ids"][at] != result["plain"]["ids"][at]
    top = rounds(seen, "plain")[at].final_top
    assert result["divergence"]["margin"] == pytest.approx(top[0].target - top[1].target)


# ---- ways to draft and to judge ---------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("verifier", ["token", "block", "tree"])
def test_lossless_rules_say_so(target, draft, verifier, temperature):
    result, _ = ran(target, draft, proposer="draft", verifier=verifier, temperature=temperature)
    assert result["lossless"] is True
    assert result["distance"] is None
    if not temperature:
        assert result["ids"] == ran(target, None)[0]["ids"]


@pytest.mark.parametrize("verifier", ["typical", "top-k"])
def test_rules_that_lose_something_say_how_much(target, draft, verifier):
    result, _ = ran(target, draft, proposer="draft", verifier=verifier, temperature=1.0)
    assert result["lossless"] is False
    assert 0 < result["distance"] < 1


def test_the_packed_copy_drafts(target):
    held = lab.Held()
    result, _ = ran(target, None, held=held, proposer="packed", race=True)
    assert result["identical"] is True
    assert result["accepted_of_tested"] > 0.8
    packed = held.packed
    ran(target, None, held=held, proposer="packed")
    assert held.packed is packed  # made once


def test_layers_to_skip_are_searched_and_told(target):
    result, seen = ran(target, None, proposer="layer-skip", race=True)
    assert result["settings"]["skipped"] == [1]  # of two layers the first must stay
    assert result["identical"] is True
    assert any("Layers left out: 1" in e.text for e in seen if isinstance(e, events.Log))
    given, seen = ran(target, None, proposer="layer-skip", skipped=(1,))
    assert given["ids"] == result["ids"]
    assert not [e for e in seen if isinstance(e, events.Log)]


def test_adaptive_measures_first_and_may_decline(target, draft):
    result, seen = ran(target, draft, proposer="draft", policy="adaptive", gamma=6)
    measured = [e for e in seen if isinstance(e, events.CostsMeasured)]
    assert len(measured) == 1
    assert {1, 2, 7} <= set(measured[0].target)
    assert seen.index(measured[0]) < seen.index(next(e for e in seen if isinstance(e, events.DecodeStarted)))
    assert sum(result["gammas"].values()) == result["rounds"]


def test_costs_are_measured_once_for_a_pair(target, draft, monkeypatch):
    from core.decode import calibrate

    calls, real = [], calibrate.measure
    monkeypatch.setattr(calibrate, "measure", lambda *args, **how: calls.append(1) or real(*args, **how))
    held = lab.Held()
    for _ in range(2):
        _, seen = ran(target, draft, held=held, proposer="draft", policy="adaptive")
        assert sum(isinstance(e, events.CostsMeasured) for e in seen) == 1
    assert len(calls) == 1
    held.keep(target.model)
    assert not held.costs


def test_the_next_text_begins_with_what_the_pair_was_worth(target, draft, monkeypatch):
    openings = []

    class Told(lab.Adaptive):
        def __init__(self, *args, **how):
            openings.append(how.get("opening"))
            super().__init__(*args, **how)

        def evidence(self):
            return 0.7, 30.0

    monkeypatch.setattr(lab, "Adaptive", Told)
    held = lab.Held()
    for temperature in (0.0, 0.0, 1.0):
        ran(target, draft, held=held, proposer="draft", policy="adaptive", max_new_tokens=4, temperature=temperature)
    assert openings == [None, (0.7, lab.OPENING), None]  # at another temperature it's another matter
    assert len(held.openings) == 2
    held.keep(target.model)
    assert not held.openings


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"proposer": "ngram", "verifier": "tree"}, "tree of candidates"),
        ({"proposer": "early-exit", "exit_layer": 2}, "2 layers"),
        ({"proposer": "layer-skip", "skipped": (1, 7)}, "no layer 7"),
        ({"proposer": "draft"}, "No draft"),
    ],
)
def test_what_cannot_draft_is_refused(target, how, said):
    with pytest.raises(UserError, match=said):
        ran(target, None, **how)


def test_a_draft_with_other_tokens_is_encoded_anew(target, draft, tmp_path):
    from tests.conftest import make_pico, make_tokenizer

    folder = make_pico(tmp_path / "other", seed=5)
    make_tokenizer(folder, size=280)
    other = load(folder)
    assert other.info.tokens_hash != target.info.tokens_hash
    result, _ = ran(target, other, proposer="draft", race=True)
    assert result["identical"] is True
    assert result["drafted"] > 0
    with pytest.raises(UserError, match="tree of candidates"):
        ran(target, other, proposer="draft", verifier="tree")
    with pytest.raises(UserError, match="no tokenizer"):
        ran(target, replace(other, tokenizer=None), proposer="draft")


# ---- pause, step, stop, cancel ----------------------------------------------------------------------------------


def test_stop_finishes_with_what_there_is(target, draft):
    seen, run = [], None

    def sink(event):
        seen.append(event)
        if len(rounds(seen)) == 3:
            run.control("stop")

    run = Run("job", sink)
    result = lab.generate(target, draft, spec(proposer="draft", race=True), run)
    assert result["stop"] == result["plain"]["stop"] == "stopped"
    assert result["rounds"] == 3
    assert result["ids"]
    assert result["identical"] is True  # as far as both got


def test_cancel_raises(target, draft):
    run = Run("job", lambda event: run.control("cancel") if isinstance(event, events.RoundTaken) else None)
    with pytest.raises(Cancelled):
        lab.generate(target, draft, spec(proposer="draft"), run)


def test_paused_it_steps_and_the_clock_waits_too(target, draft):
    """A step is a round of the drafting lane; the others follow when it goes on."""
    seen, ready = [], threading.Event()

    def sink(event):
        seen.append(event)
        if isinstance(event, events.DecodeStarted) and event.lane == "plain":
            ready.set()

    run = Run("job", sink)
    results = []
    worker = threading.Thread(
        target=lambda: results.append(lab.generate(target, draft, spec(proposer="draft", paused=True, race=True), run))
    )
    worker.start()
    try:
        assert ready.wait(30)
        worker.join(0.3)
        assert rounds(seen) == []
        for count in (1, 2):
            run.control("step")
            for _ in range(200):
                if len(rounds(seen)) == count:
                    break
                worker.join(0.05)
            worker.join(0.2)
            assert len(rounds(seen)) == count
            assert rounds(seen, "plain") == []
    finally:
        run.control("resume")
        worker.join(30)
    assert results[0]["stop"] == "length"
    assert results[0]["seconds"] == rounds(seen)[-1].at
    first, second = rounds(seen)[:2]
    assert second.at - first.at < 0.2  # the pause isn't in it


# ---- prompts, chats and caches ----------------------------------------------------------------------------------


def test_the_next_turn_of_a_chat_reads_only_what_is_new(chatty, draft):
    held, turns = lab.Held(), (Turn(role="user", content="the old sailor"),)
    first, _ = ran(chatty, draft, held=held, proposer="draft", prompt="", messages=turns, max_new_tokens=12)
    assert first["reused"] == 0
    turns = (*turns, Turn(role="assistant", content=first["text"]), Turn(role="user", content="and then"))
    second, seen = ran(chatty, draft, held=held, proposer="draft", prompt="", messages=turns, max_new_tokens=12)
    assert second["reused"] >= first["prompt_tokens"]
    fresh, _ = ran(chatty, draft, proposer="draft", prompt="", messages=turns, max_new_tokens=12)
    assert fresh["reused"] == 0
    assert fresh["ids"] == second["ids"]
    written = "".join(next(e for e in seen if isinstance(e, events.DecodeStarted)).prompt_pieces)
    assert written.endswith("<user>and then<|end|><assistant>")


def test_a_draft_that_left_takes_its_cache_with_it(target, draft):
    held = lab.Held()
    ran(target, draft, held=held, proposer="draft")
    assert {id(c.model) for c in held.caches.values()} == {id(target.model), id(draft.model)}
    ran(target, None, held=held)
    assert {id(c.model) for c in held.caches.values()} == {id(target.model)}


def test_a_chat_needs_a_template(target):
    with pytest.raises(UserError, match="no chat template"):
        ran(target, None, messages=(Turn(role="user", content="hello"),))


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


# ---- texts that become tokens -----------------------------------------------------------------------------------


def test_ends_come_from_the_models_configuration(target):
    assert lab.sampling_of(spec(), target).eos == (0,)


@pytest.mark.parametrize("named", [-1, 10**6, [0, 10**6]])
def test_ids_that_are_no_tokens_do_not_end_a_text(target, named):
    """Configurations write -1 for none, which banned the last token of all; a larger id was no index."""
    other = replace(target, model=copy.deepcopy(target.model))
    other.model.generation_config.eos_token_id = named
    assert lab.sampling_of(spec(), other).eos == (0,)
    assert len(ran(other, None, min_new_tokens=20, max_new_tokens=20)[0]["ids"]) == 20


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_packed_copy_drafts_in_half_precision(pico_target, dtype):
    result, _ = ran(load(pico_target, dtype=dtype), None, proposer="packed")
    assert len(result["ids"]) == 30
    assert result["accepted"] > 0


def test_a_ban_is_of_the_token_alone_and_with_a_space_before_it(target):
    tokenizer = target.tokenizer
    banned = lab.banned_ids("the", tokenizer)
    assert {tokenizer.decode([i]) for i in banned} == {"the", " the"} & {tokenizer.decode([i]) for i in range(len(tokenizer))}
    assert {tokenizer.decode([i]) for i in lab.banned_ids(" the", tokenizer)} == {" the"}
    plain, _ = ran(target, None)
    used = next(text for text in map(tokenizer.decode, ([i] for i in plain["ids"])) if text.strip() and text.isascii())
    found, _ = ran(target, None, banned=(used,))
    assert not {tokenizer.decode([i]) for i in found["ids"]} & {used}


def test_a_ban_of_several_tokens_is_refused_with_their_names(target):
    with pytest.raises(UserError, match=r"isn't one token but \d+ \('"):
        ran(target, None, banned=("the old sailor told",))


def test_a_forced_beginning_is_what_is_written_first(target, draft):
    for proposer in ("none", "draft", "ngram"):
        result, _ = ran(target, draft, proposer=proposer, forced=" told a long story")
        assert result["text"].startswith(" told a long story")


def test_a_stop_text_ends_it(target, draft):
    plain, _ = ran(target, None)
    stop = plain["text"][6:9]
    cut, _ = ran(target, draft, proposer="draft", stop=(stop,))
    assert cut["stop"] == "stop string"
    assert cut["text"] == plain["text"][: plain["text"].find(stop)]


def test_models_are_left_callable_as_they_were(target, draft):
    ran(target, draft, proposer="draft")
    for model in (target.model, draft.model):
        assert all("forward" not in m.__dict__ for m in model.modules())


def test_events_are_plain_data(target, draft):
    import json
    import pickle

    result, seen = ran(target, draft, proposer="draft", temperature=0.8, race=True, policy="adaptive")
    for event in seen:
        assert len(pickle.dumps(event)) < 20_000
    json.dumps(result)
    kinds = {type(v) for r in rounds(seen) for t in r.drafted for v in (t.id, t.draft, t.target, t.alpha, t.margin)}
    assert kinds <= {int, float, type(None)}


@pytest.mark.parametrize("where", [{"prompt": "ab\udcff"}, {"forced": "\ud83d"}, {"banned": ("\udcff",)}, {"stop": ("x\udcff",)}])
def test_half_a_character_is_refused_wherever_it_stands(target, where):
    """Bytes of another encoding on a command line come as such."""
    with pytest.raises(UserError, match="half a character") as caught:
        ran(target, None, **where)
    caught.value.sentence.encode()


def test_the_space_between_prompt_and_text_is_part_of_the_text(target):
    """SentencePiece's decoding drops it, though the rounds show it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.train_from_iterator(["the old sailor told a story of the sea"] * 5, trainers.BpeTrainer(vocab_size=60))
    spaced = PreTrainedTokenizerFast(tokenizer_object=made)
    before, both = spaced("the old")["input_ids"], spaced("the old sailor told")["input_ids"]
    assert lab.continued(before, both[len(before) :], spaced) == " sailor told"
    assert lab.continued([], before, spaced) == "the old"
    halves = target.tokenizer("\u6f22\u6f22")["input_ids"]  # bytes of a character on either side
    for cut in range(len(halves)):
        assert lab.continued(halves[:cut], halves[cut:], target.tokenizer) == target.tokenizer.decode(halves[cut:])


def test_a_race_that_was_stopped_before_it_wrote_claims_nothing():
    """Two empty texts are alike, and show nothing."""
    lanes = [SimpleNamespace(ids=ids, rounds=[], decoding=SimpleNamespace(stop="stopped")) for ids in ([], [5, 6])]
    assert lab._compare(*lanes) == {}
    assert lab._compare(lanes[1], lanes[1]) == {"identical": True}
