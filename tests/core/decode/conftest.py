"""Pico models loaded once, and a way to run the engine on them."""

import pytest
import torch

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.pieces import Pieces
from core.decode.policy import Fixed
from core.decode.propose import DraftModel, NGram, Nobody
from core.decode.sampling import Sampling, Seeded


def _load(folder):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval().requires_grad_(False)


@pytest.fixture(scope="session")
def pico_target(tmp_path_factory):
    """Untied, and of a seed whose greedy text both varies and repeats itself."""
    from tests.conftest import make_pico

    return make_pico(tmp_path_factory.mktemp("decode") / "target", tied=False, seed=3)


@pytest.fixture(scope="session")
def target_model(pico_target):
    return _load(pico_target)


@pytest.fixture(scope="session")
def noisy_copy(target_model):
    """The target with a little noise on its weights: a draft that's often right, but not always."""
    import copy

    model = copy.deepcopy(target_model)
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in model.parameters():
            weight += 0.4 * weight.std() * torch.randn(weight.shape, generator=generator) if weight.ndim > 1 else 0
    return model


@pytest.fixture(scope="session")
def tokenizer(pico_target):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(pico_target)


@pytest.fixture
def make(target_model, noisy_copy, tokenizer):
    """make(proposer='none'|'draft'|'ngram', gamma, prompt=..., **Sampling) -> Decoding over the pico models."""

    def build(proposer="none", gamma=0, prompt="the old sailor told", seed=0, model=None, draft=None, details=True, costs=None, **sampling):
        sampling = Sampling(**({"max_new_tokens": 24} | sampling))
        proposers = {
            "none": Nobody,
            "draft": lambda: DraftModel(CachedModel(draft or noisy_copy, vocabulary=len(tokenizer)), sampling),
            "ngram": lambda: NGram(shortest=1),
        }
        return Decoding(
            CachedModel(model or target_model, vocabulary=len(tokenizer)),
            tokenizer(prompt)["input_ids"] if isinstance(prompt, str) else prompt,
            sampling=sampling,
            proposer=proposers[proposer](),
            policy=Fixed(gamma),
            chooser=Seeded(seed),
            pieces=Pieces(tokenizer),
            details=details,
        )

    return build
