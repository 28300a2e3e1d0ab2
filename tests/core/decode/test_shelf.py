"""SmolLM2-135M from the shelf: whoever drafts, and however far, the text is the plain one to the last token; some of them pay."""

import copy
import time

import pytest
import torch

import resources
from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.fast import quicken
from core.decode.packed_copy import packed_copy
from core.decode.policy import Fixed
from core.decode.products import faster_products
from core.decode.propose import DraftModel, NGram, Nobody
from core.decode.retokenize import Retokenized
from core.decode.sampling import Sampling
from core.decode.self_draft import SelfDraft, search_skips
from core.decode.tree import TreeDraft

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


LONG = (
    *PROMPTS,
    "User: How do I boil an egg so that the yolk stays soft?\nAssistant:",
    "x = [1, 2, 3, 4, 5, 6, 7, 8]\ny = [1, 2, 3, 4, 5, 6, 7, 8]\nz = [1, 2, 3, 4, 5, 6, 7, 8]\nw = [",
)


@pytest.fixture(scope="module")
def quick(smol):
    """The target made fast for decoding, its packed copy, and what it writes by itself: 256 tokens after each prompt."""
    model, tokenizer = copy.deepcopy(smol[0]), smol[1]
    assert quicken(model).fused == 30
    sampling = Sampling(max_new_tokens=256)
    prompts = [tokenizer(text)["input_ids"] for text in LONG]
    return model, packed_copy(model), [(ids, decode(model, ids, Nobody(), 0, sampling)[0]) for ids in prompts]


def test_the_quickened_model_writes_what_transformers_does(smol, quick):
    model, _ = smol
    end = model.generation_config.eos_token_id
    for ids, _ in quick[2]:
        written, _, _ = decode(quick[0], ids, Nobody(), 0, Sampling(max_new_tokens=256, min_new_tokens=256, eos=(end,)))
        prompt = torch.tensor([ids])
        how = {"max_new_tokens": 256, "min_new_tokens": 256, "do_sample": False, "pad_token_id": 0}
        out = model.generate(prompt, attention_mask=torch.ones_like(prompt), **how)
        theirs = out[0, len(ids) :].tolist()
        apart = next((i for i, (a, b) in enumerate(zip(written, theirs, strict=True)) if a != b), None)
        if apart is not None:  # float32's rounding may turn a tie; anything more is a mistake
            top = model(out[:, : len(ids) + apart]).logits[0, -1].topk(2)
            assert set(top.indices.tolist()) == {written[apart], theirs[apart]}
            assert top.values[0] - top.values[1] < 1e-3


# Untrained layers of the target are rarely right, so that long drafts of theirs take minutes and show nothing more.
WAYS = [(who, gamma) for who in ("packed", "tree", "n-gram", "other tokens") for gamma in (1, 4, 8)]
WAYS += [(who, gamma) for who in ("early exit", "layer skip") for gamma in (1, 4)] + [("unsure", 8)]


@pytest.mark.parametrize(("proposer", "gamma"), WAYS)
def test_every_proposer_writes_exactly_the_plain_text(smol, quick, proposer, gamma):
    """256 tokens after five prompts, in float32."""
    (model, copied, plain), tokenizer = quick, smol[1]
    sampling = Sampling(max_new_tokens=256)
    make = {
        "packed": lambda target: DraftModel(CachedModel(copied), sampling),
        "unsure": lambda target: DraftModel(CachedModel(copied), sampling, confidence=0.5),
        "tree": lambda target: TreeDraft(CachedModel(copied), sampling, branches=2),
        "n-gram": lambda target: NGram(),
        "early exit": lambda target: SelfDraft(target, range(10), sampling),
        "layer skip": lambda target: SelfDraft(target, [n for n in range(30) if n not in (4, 17)], sampling),
        "other tokens": lambda target: Retokenized(CachedModel(small.model), small.tokenizer, tokenizer),
    }
    if proposer == "other tokens":
        from core.models import load

        small = load.load(resources.STARTER_DRAFT, dtype="float32")
    for ids, written in plain:
        target = CachedModel(model)
        decoding = Decoding(target, ids, sampling=sampling, proposer=make[proposer](target), policy=Fixed(gamma), details=False)
        for _ in decoding.rounds():
            pass
        assert decoding.history.ids[len(ids) :] == written


def test_layers_to_skip_are_found_within_seconds(smol, quick):
    ids = smol[1](resources.HELDOUT_TEXT.read_text(encoding="utf-8")[:1200])["input_ids"][:160]
    begun = time.perf_counter()
    found = search_skips(CachedModel(quick[0]), ids)
    assert time.perf_counter() - begun < 120
    assert found[0][1] > 0.6  # one layer left out
    assert all(0 < alpha <= 1 for _, alpha in found)
