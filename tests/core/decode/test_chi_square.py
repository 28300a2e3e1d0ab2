"""The engine on tiny random transformers with seeded draws: what it writes is distributed as the target says, by a chi-square test.

Enumeration proves the rules on tables; this goes through real attention, real caches, float32 and the real chooser. The seeds are
fixed, so a test that passes once passes always; a wrong rule, run beside the right ones, shows what these sample sizes can see.
"""

from collections import Counter

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.policy import Adaptive, Fixed
from core.decode.propose import DraftModel, NGram
from core.decode.sampling import Sampling, Seeded
from core.decode.self_draft import SelfDraft
from core.decode.stats import Costs
from core.decode.tree import TreeDraft
from core.decode.verify import block, relaxed, token, verifier_for
from tests.core.decode.toys import Letters

WORDS, PROMPT, RUNS = 5, [0, 3, 1, 0, 3], 700
LEAST = 1e-4  # a right rule fails by chance once in ten thousand
SAMPLING = Sampling(temperature=0.9, min_p=0.05, repetition_penalty=1.2, max_new_tokens=3)


class Numbers(Letters):
    def feed(self, tail, token):
        return str(token), None

    alone = staticmethod(str)


def tiny(seed, layers=3):
    config = LlamaConfig(
        vocab_size=WORDS,
        hidden_size=16,
        intermediate_size=24,
        num_hidden_layers=layers,
        num_attention_heads=2,
        max_position_embeddings=64,
        tie_word_embeddings=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    torch.manual_seed(seed)
    model = LlamaForCausalLM(config).eval().requires_grad_(False)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.copy_(0.45 * torch.randn(weight.shape))
    return model


@pytest.fixture(scope="module")
def models():
    return tiny(1), tiny(2)


def law(model, prompt):
    """The joint distribution of the next two tokens, written out: penalty, temperature, softmax, min-p."""

    def after(ids):
        scores = model(torch.tensor([ids])).logits[0, -1].double()
        seen = sorted(set(ids))
        scores[seen] = torch.where(scores[seen] > 0, scores[seen] / 1.2, scores[seen] * 1.2)
        p = torch.softmax(scores / 0.9, -1)
        p[p < 0.05 * p.max()] = 0
        return p / p.sum()

    first = after(prompt)
    return {
        (a, b): float(first[a] * second[b]) for a in range(WORDS) if first[a] > 0 for second in (after([*prompt, a]),) for b in range(WORDS)
    }


def chi_square(counts, expected):
    """The chance of a deviation as large as this one. Outcomes expected less than 5 times are taken together."""
    runs = sum(counts.values())
    assert all(expected.get(ids, 0) > 0 for ids in counts), "something was written that can't be"
    large = [ids for ids, p in expected.items() if p * runs >= 5]
    cells = [(counts[ids], expected[ids] * runs) for ids in large]
    rest = runs - sum(e for _, e in cells)
    if rest > 1:
        cells.append((runs - sum(seen for seen, _ in cells), rest))
    statistic = sum((seen - e) ** 2 / e for seen, e in cells)
    return float(torch.special.gammaincc(torch.tensor((len(cells) - 1) / 2), torch.tensor(statistic / 2)))


def written(models, proposer, rule, policy=lambda: Fixed(2), seed=0):
    target, draft = (CachedModel(model, vocabulary=WORDS) for model in models)
    make = {
        "draft": lambda: DraftModel(draft, SAMPLING),
        "another temperature": lambda: DraftModel(draft, Sampling(temperature=1.6)),
        "ngram": lambda: NGram(shortest=1),
        "tree": lambda: TreeDraft(draft, SAMPLING, branches=2),
        "early exit": lambda: SelfDraft(target, range(2), SAMPLING),
    }[proposer]
    counts, chooser = Counter(), Seeded(seed)
    for _ in range(RUNS):
        decoding = Decoding(
            target,
            list(PROMPT),
            sampling=SAMPLING,
            proposer=make(),
            policy=policy(),
            verifier=rule,
            chooser=chooser,
            pieces=Numbers(),
            details=False,
        )
        rounds = decoding.rounds()
        while len(decoding.history.ids) < len(PROMPT) + 2:
            next(rounds)
        counts[tuple(decoding.history.ids[len(PROMPT) : len(PROMPT) + 2])] += 1
    return counts


@pytest.mark.parametrize(
    ("proposer", "rule"),
    [
        ("draft", "token"),
        ("draft", "block"),
        ("another temperature", "block"),
        ("ngram", "token"),
        ("tree", "tree"),
        ("early exit", "block"),
    ],
)
def test_real_models_follow_the_target(models, proposer, rule):
    assert chi_square(written(models, proposer, verifier_for(SAMPLING, rule)), law(models[0], PROMPT)) > LEAST


def test_a_length_that_adapts_to_a_clock_changes_nothing(models):
    """The policy reads times, which differ from run to run, and so does what's written; but not its law."""
    counts = written(models, "draft", token, lambda: Adaptive(Costs(), first=2, longest=3))
    assert chi_square(counts, law(models[0], PROMPT)) > LEAST


def resamples(scores, proposal, sampling, chooser):
    verdict = block(scores, proposal, sampling, chooser)
    if verdict.residual is not None:
        verdict.final = chooser.categorical(verdict.q[verdict.accepted])
    return verdict


@pytest.mark.parametrize("wrong", [resamples, relaxed(2)])
def test_wrong_rules_are_seen_in_as_many_runs(models, wrong):
    counts, expected = written(models, "draft", wrong), law(models[0], PROMPT)
    assert any(ids not in expected for ids in counts) or chi_square(counts, expected) < LEAST


def test_the_chi_square_law():
    """Known values: 95 % of one degree of freedom lies below 3.841."""
    expected = {(0, 0): 0.5, (0, 1): 0.5}
    off = 3.841459**0.5 * 10 / 2  # of 100 runs
    assert chi_square(Counter({(0, 0): 50 + off, (0, 1): 50 - off}), expected) == pytest.approx(0.05, abs=1e-5)
