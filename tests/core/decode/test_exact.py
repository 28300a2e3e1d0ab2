"""Lossless means lossless: the real engine's output distribution, enumerated to the last branch, is the target's own.

Vocabulary of 3, 4 tokens. The wrong rules seen in the wild are here too, as proof that these tests would catch them.
"""

import pytest
import torch

from core.decode.policy import Adaptive, Fixed
from core.decode.propose import DraftModel, NGram, Nobody, Proposal
from core.decode.sampling import Sampling
from core.decode.stats import Costs
from core.decode.verify import Verdict, token
from tests.core.decode.toys import LETTERS, Table, outcomes, reference, total_variation

PROMPT = [0, 1, 0, 2, 0]
EXACT = 1e-12

CONDITIONS = {
    "plain": Sampling(temperature=1.0, max_new_tokens=4),
    "end of text": Sampling(temperature=0.8, eos=(1,), max_new_tokens=4),
    "stop string": Sampling(temperature=1.0, stop=("ab", "cc"), max_new_tokens=4),
    "end, stop and length": Sampling(temperature=1.2, eos=(2,), stop=("ba",), max_new_tokens=3),
    "repetition penalty": Sampling(temperature=0.9, repetition_penalty=1.7, max_new_tokens=4),
    "top-k": Sampling(temperature=1.3, top_k=2, max_new_tokens=4),
    "top-p": Sampling(temperature=1.1, top_p=0.8, max_new_tokens=4),
    "min-p": Sampling(temperature=1.1, min_p=0.3, max_new_tokens=4),
    "bias and bans": Sampling(temperature=1.0, bias=((0, 1.5),), banned=(2,), max_new_tokens=4),
    "minimum length": Sampling(temperature=1.0, eos=(1,), min_new_tokens=2, max_new_tokens=4),
}


def check(sampling, proposer, policy, details=False, seed=1):
    target = Table(seed)
    found = outcomes(target, PROMPT, sampling, proposer, policy, details=details)
    assert total_variation(found, reference(target, PROMPT, sampling)) < EXACT


@pytest.mark.parametrize(("gamma", "seeds"), [(1, (1, 2)), (2, (1, 2)), (2, (5, 6))])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_draft_model_is_lossless(condition, gamma, seeds):
    sampling = CONDITIONS[condition]
    check(sampling, lambda: DraftModel(Table(seeds[1]), sampling), lambda: Fixed(gamma), seed=seeds[0])


@pytest.mark.parametrize("gamma", [1, 3, 8])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_ngram_is_lossless(condition, gamma):
    check(CONDITIONS[condition], lambda: NGram(shortest=1), lambda: Fixed(gamma))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_plain_is_the_reference(condition):
    check(CONDITIONS[condition], Nobody, lambda: Fixed(0))


def test_draft_that_never_says_some_tokens_is_lossless():
    """Where p is zero, only corrections can bring a token."""
    sampling = Sampling(temperature=1.0, top_p=0.9, max_new_tokens=4)
    check(sampling, lambda: DraftModel(Table(3, support=2), sampling), lambda: Fixed(3))


def test_long_draft_is_lossless():
    sampling = Sampling(temperature=1.0, eos=(2,), max_new_tokens=4)
    check(sampling, lambda: DraftModel(Table(2), sampling), lambda: Fixed(3))


@pytest.mark.parametrize("proposer", ["draft", "ngram"])
def test_looking_does_not_change_what_is_seen(proposer):
    sampling = CONDITIONS["end of text"]
    make = (lambda: DraftModel(Table(2, support=2), sampling)) if proposer == "draft" else (lambda: NGram(shortest=1))
    check(sampling, make, lambda: Fixed(2), details=True)


def test_draft_at_another_temperature_and_truncation_is_lossless():
    """The assistant's own settings changed the output unnoticed (transformers 40976). They're legal: p is what was drawn from."""
    check(
        CONDITIONS["top-k"],
        lambda: DraftModel(Table(2, support=2), Sampling(temperature=0.4, min_p=0.1)),
        lambda: Fixed(2),
    )


def test_greedy_draft_of_a_sampling_target_is_a_point_mass():
    """A greedy assistant judged by the softmax ratio (transformers 32867) changes the output: see the first wrong rule below."""
    check(CONDITIONS["plain"], lambda: DraftModel(Table(2), Sampling(temperature=0.0)), lambda: Fixed(2))


def test_draft_equal_to_the_target_is_lossless():
    """p = q makes the residual zero; nothing is ever rejected, and nothing is divided by it."""
    sampling = CONDITIONS["end of text"]
    check(sampling, lambda: DraftModel(Table(1, support=None), sampling), lambda: Fixed(1))


class Alternating:
    """A policy that skips rounds, so that the draft's cache falls behind."""

    def __init__(self):
        self.turn = 0

    def gamma(self):
        self.turn += 1
        return 2 if self.turn % 2 else 0

    def learn(self, tested, accepted):
        pass


def test_draft_that_lags_behind_is_lossless():
    """A draft cache left stale after rounds without drafting: acceptance decays, and with a wrong p so does the output."""
    sampling = CONDITIONS["plain"]
    check(sampling, lambda: DraftModel(Table(2, support=2), sampling), Alternating)


class Told(Costs):
    """Costs that don't depend on a clock, since an enumeration needs the same run after the same choices."""

    def target(self, tokens):
        return 1.0 + 0.1 * tokens

    def draft(self, tokens):
        return 0.4


def test_adaptive_length_is_lossless():
    sampling = CONDITIONS["end of text"]
    check(sampling, lambda: DraftModel(Table(2, support=2), sampling), lambda: Adaptive(Told(), first=2, longest=2))


# ---- rules that look right and aren't, with the distance from the target's distribution that DECODING calls for -----------


class ArgmaxWithSoftmaxRows(DraftModel):
    """Drafts its argmax but reports the softmax as what it drew from."""

    def propose(self, history, gamma, chooser):
        sharp, self.sampling = self.sampling, Sampling(temperature=0.0)
        out = super().propose(history, gamma, chooser)
        self.sampling = sharp
        if out.ids:
            out.rows = torch.softmax(torch.cat(out.scores), -1)
        return out


class DiscardsTheUnsure(DraftModel):
    """Stops where it's unsure of the token that it drew, and throws that token away."""

    def propose(self, history, gamma, chooser):
        out = super().propose(history, gamma, chooser)
        sure = [i for i, x in enumerate(out.ids) if out.rows[i, x] < 0.4]
        if sure:
            end = sure[0]
            return Proposal(out.ids[:end], out.rows[:end], out.scores[:end])
        return out


class KeepsTheUnsure(DraftModel):
    """The same stop with the token kept: that's exact."""

    def propose(self, history, gamma, chooser):
        out = super().propose(history, gamma, chooser)
        unsure = [i for i, x in enumerate(out.ids) if out.rows[i, x] < 0.4]
        end = unsure[0] + 1 if unsure else len(out.ids)
        return Proposal(out.ids[:end], out.rows[:end], out.scores[:end])


def resamples_the_target(scores, proposal, sampling, chooser):
    """After a rejection draws from q where the residual belongs."""
    verdict = token(scores, proposal, sampling, chooser)
    if verdict.residual is not None:
        return Verdict(verdict.accepted, chooser.categorical(verdict.q[verdict.accepted]), verdict.q, verdict.us, verdict.residual)
    return verdict


SAMPLING = Sampling(temperature=1.0, max_new_tokens=3)


def distance(proposer, verifier=None):
    target = Table(1)
    return total_variation(outcomes(target, PROMPT, SAMPLING, proposer, lambda: Fixed(2), verifier), reference(target, PROMPT, SAMPLING))


def test_argmax_with_the_softmax_ratio_is_caught():
    assert distance(lambda: ArgmaxWithSoftmaxRows(Table(2), SAMPLING)) > 0.05


def test_discarding_an_unsure_token_is_caught():
    assert distance(lambda: DiscardsTheUnsure(Table(2), SAMPLING)) > 0.05


def test_stopping_with_the_unsure_token_kept_is_exact():
    assert distance(lambda: KeepsTheUnsure(Table(2), SAMPLING)) < EXACT


def test_resampling_the_target_is_caught():
    assert distance(lambda: DraftModel(Table(2), SAMPLING), resamples_the_target) > 0.05


def test_letters():
    assert len(LETTERS) == Table(1).vocabulary
