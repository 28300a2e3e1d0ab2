"""The engine on real (pico) transformers: the same text whatever drafts, and caches that say what they hold."""

import pytest
import torch

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.policy import Fixed
from core.decode.propose import DraftModel, NGram
from core.decode.sampling import Sampling
from core.errors import UserError


def written(decoding):
    rounds = list(decoding.rounds())
    return decoding.history.ids[decoding.history.prompt :], rounds


def test_plain_greedy_is_what_transformers_generates(make, target_model, tokenizer):
    ids, rounds = written(make())
    prompt = torch.tensor([tokenizer("the old sailor told")["input_ids"]])
    theirs = target_model.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=24, do_sample=False, pad_token_id=0)
    assert ids == theirs[0, prompt.shape[1] :].tolist()
    assert [r.final_kind for r in rounds] == ["plain"] * len(rounds)


@pytest.mark.parametrize("gamma", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("proposer", ["draft", "ngram"])
def test_greedy_text_is_the_plain_one_at_any_length(make, proposer, gamma):
    plain, _ = written(make())
    ids, rounds = written(make(proposer, gamma))
    assert ids == plain
    assert sum(r.accepted for r in rounds) + sum(r.final_kind != "none" for r in rounds) == len(ids)


def test_seed_decides_a_sampled_text(make):
    one, two, other = (written(make("draft", 3, seed=s, temperature=1.0))[0] for s in (1, 1, 2))
    assert one == two != other


@pytest.mark.parametrize("proposer", ["draft", "ngram"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_caches_hold_the_committed_text_after_every_round(make, target_model, proposer, temperature):
    """A crop by one too many or too few, or the wrong sign (transformers 47720), shows as other logits than a fresh forward's."""
    decoding = make(proposer, 3, temperature=temperature)
    for taken in decoding.rounds():
        ids, target = decoding.history.ids, decoding.target
        assert taken.target_cache == target.length == target._cache.get_seq_length() == len(ids) - 1
        cached = target.forward([ids[-1]], 1)
        with torch.inference_mode():
            fresh = target_model(torch.tensor([ids])).logits[0, -1:]
        assert (cached - fresh[:, : target.vocabulary]).abs().max() < 1e-4
        target.crop(len(ids) - 1)
        if proposer == "draft":
            draft = decoding.proposer.model
            assert draft.length == draft._cache.get_seq_length() <= len(ids) - 1
            assert len(ids) - draft.length <= 2  # after a full accept it lacks one token more than the target
            before = draft.length
            cached = draft.forward(ids[before:], 1)
            with torch.inference_mode():
                fresh = draft.model(torch.tensor([ids])).logits[0, -1:]
            assert (cached - fresh[:, : draft.vocabulary]).abs().max() < 1e-4
            draft.crop(before)


def test_draft_with_the_targets_weights_is_always_accepted(make, target_model):
    """A draft trimmed too far, or left stale, would show as acceptance that decays."""
    _, rounds = written(make("draft", 4, draft=target_model, temperature=0.7, max_new_tokens=60))
    tested, accepted = sum(r.tested for r in rounds), sum(r.accepted for r in rounds)
    assert tested > 30
    assert accepted / tested > 0.99


def test_round_tells_why(make):
    _, rounds = written(make("draft", 3, temperature=0.9, max_new_tokens=40))
    seen = set()
    for taken in rounds:
        for place, t in enumerate(taken.drafted):
            seen.add(t.verdict)
            if t.verdict == "untested":
                assert t.target is None
                assert t.u is None
                continue
            kept = t.u < min(1.0, t.target / t.draft)
            assert kept == (t.verdict == "accepted")
            assert 0 <= t.alpha <= 1
            assert t.draft_entropy >= 0
            assert t.margin >= 0
            assert len(t.top) == 8
            assert next((c for c in t.top if c.id == t.id), t).draft == pytest.approx(t.draft)
            assert all(d.verdict == "accepted" for d in taken.drafted[:place])
        if taken.final_kind == "corrected":
            assert taken.final_top[0].residual is not None
            assert all(c.residual == 0 or c.target > (c.draft or 0) for c in taken.final_top)
        assert set(taken.seconds) == {"draft", "verify", "sample", "crop", "event"}
        assert taken.committed[: taken.accepted] == tuple(t.id for t in taken.drafted[: taken.accepted])
    assert seen == {"accepted", "rejected", "untested"}
    assert [r.number for r in rounds] == list(range(1, len(rounds) + 1))
    assert [r.at for r in rounds] == sorted(r.at for r in rounds)


def test_details_can_be_left_out(make):
    rich, poor = written(make("draft", 3)), written(make("draft", 3, details=False))
    assert rich[0] == poor[0]
    assert [[t.verdict for t in r.drafted] for r in rich[1]] == [[t.verdict for t in r.drafted] for r in poor[1]]
    assert poor[1][0].final_top == ()


# ---- stopping ----------------------------------------------------------------------------------------------------------


def test_nothing_follows_an_end_accepted_mid_block(make):
    """Running past an EOS accepted in the middle of a block (transformers 47912)."""
    plain, _ = written(make())
    end = plain[5]
    first = plain.index(end)
    ids, rounds = written(make("draft", 8, eos=(end,)))
    assert ids == plain[: first + 1]
    assert rounds[-1].stop == "end of text"
    assert rounds[-1].committed[-1] == end


@pytest.mark.parametrize("gamma", [1, 3, 8])
def test_budget_is_met_exactly(make, gamma):
    for budget in (1, 2, 5, 7):
        ids, rounds = written(make("draft", gamma, max_new_tokens=budget))
        assert len(ids) == budget
        assert rounds[-1].stop == "length"


def test_length_does_not_hide_an_earlier_end(make):
    """A length cap that hid an end reached before it (sglang 31599): both in one block, the earlier counts; on one token, the end."""
    plain, _ = written(make())
    at = plain.index(plain[5])
    for budget in (at + 1, at + 2):
        ids, rounds = written(make("draft", 8, eos=(plain[5],), max_new_tokens=budget))
        assert (ids, rounds[-1].stop) == (plain[: at + 1], "end of text")


def test_stop_string_ends_text_and_ids(make, tokenizer):
    """Ids kept after a stop string (vllm 47616), and one early in a burst missed (sglang 23802)."""
    other = tuple(i for i in range(len(tokenizer)) if not tokenizer.decode([i]).strip().isascii())
    plain, _ = written(make(banned=other))
    text = tokenizer.decode(plain)
    stop = text[6:9]
    for proposer, gamma in (("none", 0), ("draft", 8), ("ngram", 4)):
        decoding = make(proposer, gamma, stop=(stop,), banned=other)
        ids, rounds = written(decoding)
        assert decoding.text == text[: text.index(stop)]
        assert decoding.stop == rounds[-1].stop == "stop string"
        assert stop in tokenizer.decode(ids)
        assert stop not in tokenizer.decode(ids[:-1])
        assert ids == plain[: len(ids)]


def test_minimum_length_bans_the_end(make):
    plain, _ = written(make())
    ids, rounds = written(make("draft", 4, eos=(plain[2],), min_new_tokens=10))
    assert len(ids) >= 10
    assert plain[2] not in ids[:10]
    assert ids == written(make(eos=(plain[2],), min_new_tokens=10))[0]
    assert rounds[-1].stop in ("length", "end of text")


def test_target_stops_at_its_context(make, target_model):
    ids, rounds = written(make("draft", 4, prompt=[5] * 250, max_new_tokens=50))
    assert len(ids) == 6
    assert rounds[-1].stop == "length"


def test_asked_to_stop_it_ends_between_rounds(make):
    decoding, turns = make("draft", 2), iter([True, True, False])
    assert len(list(decoding.rounds(lambda: next(turns)))) == 2
    assert decoding.stop == "stopped"


# ---- the clock, and what the caches held already ------------------------------------------------------------------------


def test_a_texts_clock_runs_only_in_its_own_rounds(make):
    """Texts that take turns don't pay for each other's rounds, nor for whoever waits between them."""
    import time

    one, two = make("draft", 2, max_new_tokens=9), make("draft", 2, max_new_tokens=9)
    turns = [one.rounds(), two.rounds()]
    at, spent = {0: [], 1: []}, {0: 0.0, 1: 0.0}
    while turns[0] is not None:
        for lane, rounds in enumerate(turns):
            taken = next(rounds, None)
            if taken is None:
                turns[lane] = None
                continue
            spent[lane] += sum(taken.seconds.values())
            at[lane].append(taken.at)
            time.sleep(0.02)
    for lane, decoding in enumerate((one, two)):
        assert at[lane] == sorted(at[lane])
        assert at[lane][-1] == decoding.seconds == pytest.approx(spent[lane])
        assert decoding.seconds < 0.02 * len(at[lane]) + 0.02 * 9  # the other's pauses aren't in it


def test_what_the_caller_spent_is_in_the_next_rounds_time(make):
    decoding = make(max_new_tokens=3)
    rounds = decoding.rounds()
    first = next(rounds)
    decoding.spend(5.0)
    assert next(rounds).at >= first.at + 5


def fed(model):
    """How many tokens each forward of a CachedModel is fed from now on."""
    counts, forward = [], model.forward

    def counting(ids, keep):
        counts.append(len(ids))
        return forward(ids, keep)

    model.forward = counting
    return counts


@pytest.mark.parametrize("proposer", ["none", "draft"])
def test_a_cache_handed_over_is_read_on_from(make, proposer):
    """A chat's next turn: both caches hold the last one, and only what's new is read."""
    first = make(proposer, 2)
    written(first)
    longer = [*first.history.ids, 7, 8, 9]
    fresh = make(proposer, 2, prompt=longer)
    expected = written(fresh)[0]
    assert fresh.reused == 0

    again = make(proposer, 2, prompt=longer)
    again.target = first.target
    target = fed(first.target)
    if proposer == "draft":
        again.proposer.model = first.proposer.model
        draft = fed(first.proposer.model)
    again.prefill()
    assert again.reused == len(first.history.ids) - 1
    assert target == [4]  # the last token of the old text was never fed
    if proposer == "draft":
        assert sum(draft) <= 5
    assert written(again)[0] == expected


def test_an_edited_prompt_is_read_from_where_it_differs(make):
    first = make(prompt=[5, 6, 7, 8, 9, 10])
    written(first)
    again = make(prompt=[5, 6, 7, 11, 9, 10])
    expected = written(make(prompt=[5, 6, 7, 11, 9, 10]))[0]
    again.target = first.target
    assert written(again)[0] == expected
    assert again.reused == 3


def test_a_prompt_that_is_cached_whole_is_read_for_its_last_token(make):
    first = make(prompt=[5, 6, 7, 8])
    expected = written(first)[0]
    again = make(prompt=[5, 6, 7, 8])
    again.target = first.target
    counts = fed(again.target)
    assert written(again)[0] == expected
    assert counts[0] == 1


# ---- processing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"repetition_penalty": 1.5},
        {"bias": ((7, 6.0), (9, -8.0))},
        {"banned": tuple(range(40, 120))},
    ],
)
def test_verified_tokens_are_processed_as_plain_ones(make, settings):
    """Processors dropped on verified tokens: min-p (vllm 42802), logit bias (vllm 38467)."""
    plain, _ = written(make(**settings))
    assert plain != written(make())[0]
    assert plain == written(make("draft", 4, **settings))[0] == written(make("ngram", 4, **settings))[0]


def test_min_p_holds_for_verified_tokens(make):
    _, rounds = written(make("draft", 4, temperature=2.0, min_p=0.2, max_new_tokens=40))
    for taken in rounds:
        for t in taken.drafted[: taken.accepted]:
            assert t.target > 0


def test_bfloat16_rows_are_compared_as_drawn(target_model, noisy_copy, tokenizer):
    """Sampling in bf16 and comparing in fp32: p must be the row that was drawn from."""
    import copy

    half = copy.deepcopy(noisy_copy).to(torch.bfloat16)
    sampling = Sampling(temperature=1.0, max_new_tokens=30)
    proposer = DraftModel(CachedModel(half, vocabulary=len(tokenizer)), sampling)
    decoding = Decoding(
        CachedModel(target_model, vocabulary=len(tokenizer)), [5, 9, 11], sampling=sampling, proposer=proposer, policy=Fixed(3)
    )
    drawn = []
    propose = proposer.propose

    def spy(*args):
        out = propose(*args)
        drawn.append(out)
        return out

    proposer.propose = spy
    for taken in decoding.rounds():
        if not taken.drafted:
            continue
        rows = drawn[-1].rows
        assert rows.dtype == torch.float32
        assert rows.sum(-1).allclose(torch.ones(len(rows)))
        for i, t in enumerate(taken.drafted):
            assert t.draft == rows[i, t.id].item()


def test_padded_vocabulary_is_cut_on_both_sides(tmp_path, make):
    """Embeddings padded to different sizes inside one family (151936 and 152064): a padded id must never be drafted or chosen."""
    from transformers import AutoModelForCausalLM

    from tests.conftest import make_pico

    def padded(name, size, seed):
        model = AutoModelForCausalLM.from_pretrained(make_pico(tmp_path / name, seed=seed, tied=False)).eval()
        model.resize_token_embeddings(size, mean_resizing=False)
        with torch.no_grad():
            model.lm_head.weight[300:] = 40 * torch.randn(size - 300, model.config.hidden_size)
        return model

    target, draft = padded("a", 320, 0), padded("b", 384, 1)
    ids, _ = written(make("draft", 3, model=target, draft=draft, temperature=1.0))
    assert ids
    assert max(ids) < 300


def test_not_a_number_is_said(make, target_model):
    import copy

    broken = copy.deepcopy(target_model)
    with torch.no_grad():
        broken.model.norm.weight[0] = torch.nan
    for settings in ({}, {"temperature": 1.0}):
        with pytest.raises(UserError, match="target"):
            written(make(model=broken, **settings))
        with pytest.raises(UserError, match="draft"):
            written(make("draft", 2, draft=broken, **settings))


def test_everything_banned_is_said(make):
    for temperature in (0.0, 1.0):
        with pytest.raises(UserError) as caught:
            written(make(banned=tuple(range(300)), temperature=temperature))
        assert "banned" in caught.value.sentence


def test_prompts_without_room_are_refused(make):
    with pytest.raises(UserError) as caught:
        make(prompt=[5] * 256)
    assert "256" in caught.value.sentence
    with pytest.raises(UserError):
        make(prompt=[])


def test_draft_with_a_shorter_context_stops_drafting(make, tmp_path):
    from transformers import AutoModelForCausalLM

    from tests.conftest import make_pico

    short = AutoModelForCausalLM.from_pretrained(make_pico(tmp_path / "short", max_position_embeddings=32)).eval()
    plain, _ = written(make(prompt=[5] * 20))
    ids, rounds = written(make("draft", 4, prompt=[5] * 20, draft=short))
    assert ids == plain
    assert rounds[-1].drafted == ()
    assert {r.why_stopped for r in rounds} >= {"gamma", "length"}


def test_long_prompts_are_read_in_pieces(make, monkeypatch):
    from core.decode import cache

    whole, _ = written(make(prompt=list(range(3, 100)), temperature=0.0))
    monkeypatch.setattr(cache, "CHUNK", 16)
    calls = []
    decoding = make(prompt=list(range(3, 100)))
    decoding.prefill(lambda: calls.append(1))
    assert written(decoding)[0] == whole
    assert len(calls) >= 5


def test_ngram_needs_no_cache(make):
    _, rounds = written(make("ngram", 4, prompt=[5, 6, 7, 5, 6, 7, 5, 6]))
    assert rounds[0].drafted
    assert all(r.draft_cache == 0 for r in rounds)
    assert all(t.draft is None for r in rounds for t in r.drafted)
    assert isinstance(make("ngram", 4).proposer, NGram)
