"""After every round the cropped caches are as good as fresh ones: every proposer, on every kind of attention that's let through.

The breakages seen in public that concern caches, stopping and vocabularies, and where each has its test:
  sliding-window caches that can't be rolled back (transformers 48280): here, and test_cache
  recurrent and hybrid layers: test_cache.test_recurrent_layers_are_refused_with_the_reason
  crop's sign changed between versions (transformers 47720): test_cache.test_crop_takes_a_negative_count, and here
  a draft's cache left stale after rounds without drafting: here (the policy drafts every other round), test_exact
  a draft trimmed too far, acceptance decays: test_engine.test_draft_with_the_targets_weights_is_always_accepted
  running past an end inside a block (transformers 47912), ids kept after a stop string (vllm 47616), a stop string missed
    early in a burst (sglang 23802), a length cap hiding an earlier stop (sglang 31599), output shorter than asked: test_engine,
    and for trees test_tree
  a drafter returning a q that it didn't sample (transformers 47932): test_propose
  padded vocabularies of one family: test_engine.test_padded_vocabulary_is_cut_on_both_sides
  other tokenizers, refused or re-encoded: test_retokenize
"""

import pytest
import torch

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.pieces import Pieces
from core.decode.propose import DraftModel, NGram
from core.decode.retokenize import Retokenized
from core.decode.sampling import Sampling, Seeded
from core.decode.self_draft import SelfDraft
from core.decode.tree import TreeDraft
from tests.core.decode.test_cache import PLAIN, WINDOWED, made
from tests.core.decode.test_retokenize import Words

PROMPT = [5, 9, 11, 5, 9, 7, 5]
KINDS = {**PLAIN, **WINDOWED, "gpt2": {"n_embd": 32, "n_head": 2, "n_positions": 64}}
LETTERS = [chr(0x100 + i) for i in range(64)]
OWN, OTHER = Words(LETTERS), Words(LETTERS[::-1])  # the same letters, other ids


def model_of(kind, seed=0):
    model = made(kind, **(KINDS[kind] | {"num_hidden_layers": 4, "tie_word_embeddings": False} | _layers(kind)))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.mul_(6 if "embed" in name or "wte" in name else 2)
                weight.add_(0.15 * weight.std() * torch.randn(weight.shape, generator=generator) if seed else 0)
    return model


def _layers(kind):
    return {"layer_types": KINDS[kind]["layer_types"] * 2} if "layer_types" in KINDS[kind] else {}


class EveryOther:
    """Drafts in every other round, so that the draft's cache falls behind."""

    def __init__(self):
        self.turn = 0

    def gamma(self):
        self.turn += 1
        return 4 if self.turn % 2 else 0

    def learn(self, tested, accepted):
        pass


def proposer_of(name, target, kind, sampling):
    def draft():
        return CachedModel(model_of(kind, seed=1))

    return {
        "draft": lambda: DraftModel(draft(), sampling),
        "unsure draft": lambda: DraftModel(draft(), sampling, confidence=0.3),
        "tree": lambda: TreeDraft(draft(), sampling, branches=3),
        "ngram": lambda: NGram(shortest=1),
        "early exit": lambda: SelfDraft(target, range(3), sampling),
        "layer skip": lambda: SelfDraft(target, (0, 1, 3), sampling),
        "other tokens": lambda: Retokenized(draft(), OTHER, OWN),
    }[name]()


PROPOSERS = ("draft", "unsure draft", "tree", "ngram", "early exit", "layer skip", "other tokens")
OF_ALIKE_LAYERS = ("early exit", "layer skip")
CASES = [
    (kind, proposer, temperature)
    for kind in KINDS
    for proposer in PROPOSERS
    for temperature in ((0.0, 0.8) if kind in ("llama", "mistral", "gemma3_text") else (0.8,))
    if not (proposer in OF_ALIKE_LAYERS and "layer_types" in KINDS[kind])
]


@pytest.mark.parametrize(("kind", "proposer", "temperature"), CASES)
def test_caches_are_as_good_as_fresh_ones_after_every_round(kind, proposer, temperature):
    model, sampling = model_of(kind), Sampling(temperature=temperature, max_new_tokens=20)
    target = CachedModel(model)
    drafts = proposer_of(proposer, target, kind, sampling)
    decoding = Decoding(target, PROMPT, sampling=sampling, proposer=drafts, policy=EveryOther(), chooser=Seeded(3), pieces=Pieces())
    drafted = 0
    for taken in decoding.rounds():
        ids, drafted = decoding.history.ids, drafted + len(taken.drafted)
        assert taken.target_cache == target.length == target._cache.get_seq_length() == len(ids) - 1
        checked = [(target, ids)]
        if isinstance(drafts, DraftModel) and not isinstance(drafts, SelfDraft):
            checked.append((drafts.model, ids))
        elif isinstance(drafts, Retokenized):
            theirs = OTHER(OWN.decode(ids))["input_ids"]
            drafts.model.begin(theirs)
            checked.append((drafts.model, theirs))
        for cached, text in checked:
            held = cached.length
            assert held < len(text)
            assert cached.ids == text[:held]
            with torch.inference_mode():
                fresh = cached.model(input_ids=torch.tensor([text]), use_cache=False).logits[0, -1:]
            assert (cached.forward(text[held:], 1) - fresh).abs().max() < 1e-5 * max(1.0, float(fresh.abs().max()))
            cached.crop(held)
    assert len(decoding.history.ids) == len(PROMPT) + 20  # far beyond the windows of 8
    assert drafted > 3
