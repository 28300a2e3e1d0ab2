"""SmolLM2-135M from the shelf: an 8-bit copy drafts exactly the plain text, and prompt lookup pays where text repeats."""

import copy
import time

import pytest
import torch

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.policy import Fixed
from core.decode.products import faster_products
from core.decode.propose import DraftModel, NGram, Nobody
from core.decode.sampling import Sampling

pytestmark = [pytest.mark.shelf, pytest.mark.slow, pytest.mark.timeout(900)]

PROMPTS = (
    "The history of the steam engine begins with",
    "def fibonacci(n):\n    ",
    "Dear Sir, I am writing to you because",
)


@pytest.fixture(scope="module")
def smol(shelf):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    settings = {"gguf_file": "smollm2-135m.gguf"}
    model = AutoModelForCausalLM.from_pretrained(shelf, dtype=torch.float32, **settings).eval().requires_grad_(False)
    return model, AutoTokenizer.from_pretrained(shelf, **settings)


@pytest.fixture(scope="module")
def eight_bit(smol):
    """The same weights rounded to 8 bits a channel, symmetric, embedding left alone."""
    model = copy.deepcopy(smol[0])
    with torch.no_grad():
        for block in model.model.layers:
            for module in block.modules():
                if isinstance(module, torch.nn.Linear):
                    scale = module.weight.abs().amax(1, keepdim=True) / 127
                    module.weight.copy_((module.weight / scale).round().clamp(-127, 127) * scale)
    return model


def decode(model, ids, proposer, gamma, sampling):
    decoding = Decoding(CachedModel(model), ids, sampling=sampling, proposer=proposer, policy=Fixed(gamma))
    decoding.prefill()
    begun = time.process_time()
    rounds = list(decoding.rounds())
    return decoding.history.ids[len(ids) :], rounds, time.process_time() - begun


def test_eight_bit_draft_writes_exactly_the_plain_text(smol, eight_bit):
    model, tokenizer = smol
    sampling = Sampling(max_new_tokens=64)
    for text in PROMPTS:
        ids = tokenizer(text)["input_ids"]
        plain, _, _ = decode(model, ids, Nobody(), 0, sampling)
        for fast in (False, True):
            with faster_products([model, eight_bit] if fast else [], {1, 2, 4}):
                drafted, rounds, _ = decode(model, ids, DraftModel(CachedModel(eight_bit), sampling), 3, sampling)
            assert drafted == plain
        accepted, tested = sum(r.accepted for r in rounds), sum(r.tested for r in rounds)
        assert accepted / tested > 0.8


def test_prompt_lookup_pays_on_text_that_repeats(smol):
    model, tokenizer = smol
    paragraph = "The committee met on Tuesday and agreed that the harbour wall should be repaired before the winter storms arrive. "
    ids = tokenizer(paragraph * 3)["input_ids"]
    sampling = Sampling(max_new_tokens=48)
    plain, _, plain_seconds = decode(model, ids, Nobody(), 0, sampling)
    copied, rounds, seconds = decode(model, ids, NGram(), 7, sampling)
    assert copied == plain
    assert len(rounds) < 24
    assert seconds < plain_seconds
