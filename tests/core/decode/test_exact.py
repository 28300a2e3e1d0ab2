"""Lossless means lossless: the real engine's output distribution, enumerated to the last branch, is the target's own.

Vocabulary of 3, up to 4 tokens; every rule with every proposer it takes, under every condition, with lengths that are fixed,
adapted and skipped. The distance from the reference, which shares no code with the engine, is a rounding error's. Rules that were
shipped and are wrong are here too, as proof that these tests would catch them.

Of the breakages seen in public, those that concern what's drawn and how it's judged have their tests here:
transformers 32867 (greedy assistant, softmax ratio), 47932 (reported rows that weren't drawn from), 40976 (the assistant's own
temperature), bf16 drawn and fp32 judged, vllm 42802 (min-p left out of verification), 38467 (logit bias left out), penalties
computed once for a block. In test_stats: llama.cpp 14104, vllm 2658, sglang 13212. In test_policy: transformers 36337, vllm 15025.
"""

import itertools
from dataclasses import replace

import pytest
import torch

from core.decode.policy import Adaptive, Fixed
from core.decode.propose import DraftModel, NGram, Nobody, Proposal
from core.decode.sampling import Sampling
from core.decode.stats import Costs
from core.decode.tree import TreeDraft
from core.decode.verify import Verdict, block, relaxed, residual, token, typical, verifier_for
from tests.core.decode.toys import LETTERS, EveryBranch, Table, outcomes, reference, total_variation

PROMPT = [0, 1, 1, 0]  # one token was never written, so that a repetition penalty has something to begin with
EXACT = 1e-12
UNSURE = 0.45  # the confidence below which a draft stops

CONDITIONS = {
    "plain": Sampling(temperature=1.0, max_new_tokens=4),
    "end of text": Sampling(temperature=0.8, eos=(1,), max_new_tokens=4),
    "stop string": Sampling(temperature=1.0, stop=("ab", "cc"), max_new_tokens=4),
    "end, stop and length": Sampling(temperature=1.2, eos=(2,), stop=("ba",), max_new_tokens=3),
    "minimum length": Sampling(temperature=1.0, eos=(1,), min_new_tokens=2, max_new_tokens=4),
    "repetition penalty": Sampling(temperature=0.9, repetition_penalty=1.7, max_new_tokens=4),
    "presence penalty": Sampling(temperature=1.0, presence_penalty=0.9, max_new_tokens=4),
    "frequency penalty": Sampling(temperature=1.0, presence_penalty=-0.4, frequency_penalty=0.7, max_new_tokens=4),
    "top-k": Sampling(temperature=1.3, top_k=2, max_new_tokens=4),
    "top-p": Sampling(temperature=1.1, top_p=0.8, max_new_tokens=4),
    "min-p": Sampling(temperature=1.1, min_p=0.3, max_new_tokens=4),
    "typical-p": Sampling(temperature=1.2, typical_p=0.6, max_new_tokens=4),
    "bias and bans": Sampling(temperature=1.0, bias=((0, 1.5),), banned=(2,), max_new_tokens=4),
    "forced": Sampling(temperature=1.0, forced=(2, 1), banned=(2,), max_new_tokens=4),
    "confidence stop": Sampling(temperature=1.0, eos=(2,), max_new_tokens=4),
    "all at once": Sampling(
        temperature=1.4,
        top_p=0.95,
        min_p=0.05,
        typical_p=0.97,
        repetition_penalty=1.2,
        presence_penalty=0.2,
        frequency_penalty=0.3,
        bias=((1, 0.5),),
        forced=(0,),
        eos=(2,),
        stop=("bb",),
        min_new_tokens=2,
        max_new_tokens=4,
    ),
}


class Alternating:
    """A policy that skips rounds, so that the draft's cache falls behind."""

    def __init__(self):
        self.turn = 0

    def gamma(self):
        self.turn += 1
        return 2 if self.turn % 2 else 0

    def learn(self, tested, accepted):
        pass


class Told(Costs):
    """Costs that don't depend on a clock, since an enumeration needs the same run after the same choices."""

    def samples(self):
        return {1: [1.0], 2: [1.1], 3: [1.2], 4: [1.25]}, {1: [0.3], 2: [0.35]}, {1: [0.01], 2: [0.05]}


POLICIES = {
    "1": lambda: Fixed(1),
    "2": lambda: Fixed(2),
    "3": lambda: Fixed(3),
    "adaptive": lambda: Adaptive(Told(), first=2, longest=3, memory=0.5),
    "alternating": Alternating,
}

PROPOSERS = {
    "draft": lambda seed, sampling, sure: DraftModel(Table(seed), sampling, sure),
    "ngram": lambda seed, sampling, sure: NGram(shortest=1),
    "tree": lambda seed, sampling, sure: TreeDraft(Table(seed), sampling, sure, branches=2),
}

PAIRS = [*itertools.product(("token", "block"), ("draft", "ngram")), *itertools.product(("tree",), ("draft", "ngram", "tree"))]


def rotated():
    """Every rule with every proposer under every condition, with three of the five policies each, in turn."""
    turn = itertools.cycle(POLICIES)
    for (rule, proposer), condition in itertools.product(PAIRS, CONDITIONS):
        yield from ((rule, proposer, condition, next(turn)) for _ in range(3))  # so each pair meets each policy, and so does each condition


def check(sampling, proposer, policy, verifier=None, details=False, seed=1):
    target = Table(seed)
    found = outcomes(target, PROMPT, sampling, proposer, policy, verifier, details=details)
    assert total_variation(found, reference(target, PROMPT, sampling)) < EXACT


@pytest.mark.parametrize(("rule", "proposer", "condition", "policy"), rotated())
def test_lossless(rule, proposer, condition, policy):
    sampling = CONDITIONS[condition]
    if (rule, proposer) == ("tree", "draft"):  # the draft's draws and the target's are independent, so courses are many
        sampling = replace(sampling, max_new_tokens=3)
    sure = UNSURE if condition == "confidence stop" else 0.0
    check(
        sampling,
        lambda: PROPOSERS[proposer](2, sampling, sure),
        POLICIES[policy],
        verifier_for(sampling, rule),
    )


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(("rule", "proposer"), PAIRS)
def test_lossless_in_another_world(rule, proposer, policy):
    sampling = Sampling(temperature=1.1, eos=(0,), stop=("cb",), max_new_tokens=3)
    check(sampling, lambda: PROPOSERS[proposer](6, sampling, 0.0), POLICIES[policy], verifier_for(sampling, rule), seed=5)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_plain_is_the_reference(condition):
    check(CONDITIONS[condition], Nobody, lambda: Fixed(0))


@pytest.mark.parametrize("proposer", PROPOSERS)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_greedy_is_the_plain_path(condition, proposer):
    """One path, the same whoever drafts and however far."""
    sampling = replace(CONDITIONS[condition], temperature=0.0)
    plain = outcomes(Table(1), PROMPT, sampling, Nobody)
    assert len(plain) == 1
    sure = UNSURE if condition == "confidence stop" else 0.0
    rules = ("tree",) if proposer == "tree" else ("token", "block", "tree")
    for policy, rule in itertools.product(POLICIES, rules):
        verifier = verifier_for(sampling, rule)
        assert plain == outcomes(Table(1), PROMPT, sampling, lambda: PROPOSERS[proposer](2, sampling, sure), POLICIES[policy], verifier)


@pytest.mark.parametrize("branches", [1, 3])
def test_trees_of_any_width_are_lossless(branches):
    sampling = CONDITIONS["all at once"]
    check(sampling, lambda: TreeDraft(Table(2), sampling, branches=branches), lambda: Fixed(3), verifier_for(sampling, "tree"))


def test_a_tree_needs_its_own_rule():
    """A chain's rule on a tree would read the wrong rows."""
    sampling = CONDITIONS["plain"]
    with pytest.raises(ValueError, match="own rule"):
        outcomes(Table(1), PROMPT, sampling, lambda: TreeDraft(Table(2), sampling), lambda: Fixed(2), token)


@pytest.mark.parametrize("rule", ["token", "block"])
def test_draft_that_never_says_some_tokens_is_lossless(rule):
    """Where p is zero, only corrections can bring a token."""
    sampling = Sampling(temperature=1.0, top_p=0.9, max_new_tokens=4)
    check(sampling, lambda: DraftModel(Table(3, support=2), sampling), lambda: Fixed(3), verifier_for(sampling, rule))


@pytest.mark.parametrize(("rule", "proposer"), PAIRS)
def test_looking_does_not_change_what_is_seen(rule, proposer):
    sampling = Sampling(temperature=0.8, eos=(1,), max_new_tokens=3)
    check(sampling, lambda: PROPOSERS[proposer](2, sampling, 0.0), lambda: Fixed(2), verifier_for(sampling, rule), details=True)


@pytest.mark.parametrize("rule", ["token", "block"])
def test_draft_at_another_temperature_and_truncation_is_lossless(rule):
    """The assistant's own settings changed the output unnoticed (transformers 40976). They're legal: p is what was drawn from."""
    sampling = CONDITIONS["top-k"]
    own = Sampling(temperature=0.4, min_p=0.1)
    check(sampling, lambda: DraftModel(Table(2, support=2), own), lambda: Fixed(2), verifier_for(sampling, rule))


@pytest.mark.parametrize("rule", ["token", "block", "tree"])
def test_greedy_draft_of_a_sampling_target_is_a_point_mass(rule):
    """A greedy assistant judged by the softmax ratio (transformers 32867) changes the output: see the first wrong rule below."""
    sampling = CONDITIONS["plain"]
    check(sampling, lambda: DraftModel(Table(2), Sampling(temperature=0.0)), lambda: Fixed(2), verifier_for(sampling, rule))


@pytest.mark.parametrize("rule", ["token", "block"])
def test_draft_equal_to_the_target_is_lossless(rule):
    """p = q makes the residual zero; nothing is ever rejected, and nothing is divided by it."""
    sampling = CONDITIONS["end of text"]
    check(sampling, lambda: DraftModel(Table(1), sampling), lambda: Fixed(3), verifier_for(sampling, rule))


@pytest.mark.parametrize("rule", ["token", "block"])
def test_half_precision_logits_are_judged_as_they_were_drawn(rule):
    """bf16 sampling judged by an fp32 ratio: here both sides are made float32 once, and drawn from and compared as such."""
    sampling, target = Sampling(temperature=1.0, max_new_tokens=3), Table(1, dtype=torch.bfloat16)
    found = outcomes(
        target,
        PROMPT,
        sampling,
        lambda: DraftModel(Table(2, dtype=torch.bfloat16), sampling),
        lambda: Fixed(2),
        verifier_for(sampling, rule),
    )
    assert total_variation(found, reference(target, PROMPT, sampling)) < 1e-6


# ---- rules that look right and aren't ------------------------------------------------------------------------------------


class ArgmaxWithSoftmaxRows(DraftModel):
    """Drafts its argmax but reports the softmax as what it drew from (transformers 32867)."""

    def propose(self, history, gamma, chooser):
        sharp, self.sampling = self.sampling, Sampling(temperature=0.0)
        out = super().propose(history, gamma, chooser)
        self.sampling = sharp
        if out.ids:
            out.rows = torch.softmax(torch.cat(out.scores), -1)
        return out


class ReportsAnotherTemperature(DraftModel):
    """Draws at one temperature and reports rows of another (transformers 47932)."""

    def propose(self, history, gamma, chooser):
        out = super().propose(history, gamma, chooser)
        if out.ids:
            out.rows = torch.softmax(torch.cat(out.scores) / 0.5, -1)
        return out


class DrawsInHalfPrecision(DraftModel):
    """Draws from bf16 probabilities and reports the fp32 ones."""

    def propose(self, history, gamma, chooser):
        class Rounding:
            def categorical(self, p):
                return chooser.categorical(p.to(torch.bfloat16))

        return super().propose(history, gamma, Rounding())


class DiscardsTheUnsure(DraftModel):
    """Stops where it's unsure of the token that it drew, and throws that token away."""

    def propose(self, history, gamma, chooser):
        out = super().propose(history, gamma, chooser)
        unsure = [i for i, x in enumerate(out.ids) if out.rows[i, x] < UNSURE]
        if unsure:
            end = unsure[0]
            return Proposal(out.ids[:end], out.rows[:end], out.scores[:end])
        return out


def resamples_the_target(rule):
    """After a rejection draws from q where the residual belongs."""

    def wrong(scores, proposal, sampling, chooser):
        verdict = rule(scores, proposal, sampling, chooser)
        if verdict.residual is not None:
            verdict.final = chooser.categorical(verdict.q[verdict.accepted])
        return verdict

    return wrong


def block_with_the_token_residual(scores, proposal, sampling, chooser):
    """Block verification that corrects from (q-p)+ where (r q-p)+ belongs."""
    if proposal.rows is None:
        return token(scores, proposal, sampling, chooser)

    class Apart:  # takes the correction's draw from another distribution
        def bernoulli(self, chance):
            return chooser.bernoulli(chance)

        def categorical(self, p):
            return 0

    verdict = block(scores, proposal, sampling, Apart())
    at = verdict.accepted
    law = verdict.q[at] if at == len(proposal.ids) else residual(verdict.q[at], proposal.rows[at], proposal.ids[at])
    return Verdict(at, chooser.categorical(law), verdict.q)


def judges_without(**off):
    """Leaves a processor out where drafted tokens are judged, as it's set up for plain decoding only."""

    def wrong(scores, proposal, sampling, chooser):
        verdict = token(scores, proposal, replace(sampling, **off), chooser)
        if not proposal.ids:
            return token(scores, proposal, sampling, chooser)
        return verdict

    return wrong


def ignores_bias(scores, proposal, sampling, chooser):
    """Judges by logits to which the bias wasn't added (vllm 38467)."""
    scores = scores.clone()
    for t, amount in sampling.bias:
        scores[:, t] -= amount if proposal.ids else 0
    return token(scores, proposal, sampling, chooser)


class PenalisesOnce(Sampling):
    """Penalties by what was committed before the block: drafted tokens aren't in their own context."""

    def adjust(self, logits, history, drafted, first=0):
        return super().adjust(logits, history, [], 0)


SAMPLING = Sampling(temperature=1.0, max_new_tokens=3)


def distance(proposer, verifier=None, sampling=SAMPLING, truth=None):
    target = Table(1)
    found = outcomes(target, PROMPT, sampling, proposer, lambda: Fixed(2), verifier)
    return total_variation(found, reference(target, PROMPT, truth or sampling))


@pytest.mark.parametrize("rule", [token, block])
@pytest.mark.parametrize("draft", [ArgmaxWithSoftmaxRows, ReportsAnotherTemperature, DiscardsTheUnsure])
def test_rows_that_were_not_drawn_from_are_caught(rule, draft):
    assert distance(lambda: draft(Table(2), SAMPLING), rule) > 0.05


def test_half_precision_draws_are_caught():
    """A rounding of 2^-9 shows as itself, eight orders above what a right rule's distance is."""
    assert distance(lambda: DrawsInHalfPrecision(Table(2), SAMPLING), token) > 1e-4


@pytest.mark.parametrize("rule", [token, block])
def test_resampling_the_target_is_caught(rule):
    assert distance(lambda: DraftModel(Table(2), SAMPLING), resamples_the_target(rule)) > 0.05


def test_the_token_residual_in_block_verification_is_caught():
    assert distance(lambda: DraftModel(Table(2), SAMPLING), block_with_the_token_residual) > 0.001


def test_min_p_left_out_of_verification_is_caught():
    sampling = Sampling(temperature=1.1, min_p=0.3, max_new_tokens=3)
    assert distance(lambda: NGram(shortest=1), judges_without(min_p=0.0), sampling) > 0.01


def test_bias_left_out_of_verification_is_caught():
    sampling = Sampling(temperature=1.0, bias=((0, 1.5),), max_new_tokens=3)
    assert distance(lambda: NGram(shortest=1), ignores_bias, sampling) > 0.01


@pytest.mark.parametrize("settings", [{"repetition_penalty": 1.7}, {"presence_penalty": 0.9}, {"frequency_penalty": 0.7}])
def test_penalties_computed_once_for_a_block_are_caught(settings):
    once = PenalisesOnce(temperature=1.0, max_new_tokens=3, **settings)
    right = Sampling(temperature=1.0, max_new_tokens=3, **settings)
    assert distance(lambda: DraftModel(Table(2), right), token, once, right) > 0.005


# ---- rules that aren't lossless, and say by how much ----------------------------------------------------------------------


@pytest.mark.parametrize("rule", [typical(0.3, 0.3), relaxed(1), relaxed(2)])
@pytest.mark.parametrize("proposer", ["draft", "ngram"])
def test_the_distance_told_is_that_of_the_law_written(rule, proposer):
    """The first of two tokens, drafted or corrected: its enumerated law against q, and the distance that the round tells."""
    from core.decode.engine import Decoding

    sampling, target = Sampling(temperature=1.0, max_new_tokens=2), Table(1)
    chooser, law, told = EveryBranch(), {}, set()
    while True:
        chooser.begin()
        decoding = Decoding(
            target.fresh(),
            list(PROMPT),
            sampling=sampling,
            proposer=PROPOSERS[proposer](2, sampling, 0.0),
            policy=Fixed(1),
            verifier=rule,
            chooser=chooser,
        )
        first = next(iter(decoding.rounds()))
        law[first.committed[0]] = law.get(first.committed[0], 0.0) + chooser.weight
        told.add(round(first.drafted[0].distance, 12))
        if not chooser.advance():
            break
    q = torch.softmax(target.table[PROMPT[-2], PROMPT[-1]], -1).tolist()
    assert len(told) == 1
    assert told.pop() == pytest.approx(total_variation(law, dict(enumerate(q))), abs=1e-10)


@pytest.mark.parametrize("rule", [typical(), relaxed(2)])
def test_rules_that_are_not_lossless_are_caught(rule):
    assert distance(lambda: DraftModel(Table(2), SAMPLING), rule) > 0.05


def test_letters():
    assert len(LETTERS) == Table(1).vocabulary
