"""The target's own layers as its draft: the same text, a cache left as it was, layers found by what they do."""

import pytest
import torch
from torch import nn

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.pieces import Pieces
from core.decode.policy import Fixed
from core.decode.sampling import History, Sampling, Seeded
from core.decode.self_draft import SelfDraft, search_skips
from core.errors import UserError
from tests.core.decode.test_cache import PLAIN, WINDOWED, made

DEEP = {
    "llama": {"num_hidden_layers": 5},
    "qwen3": {"num_hidden_layers": 5},
    "gpt2": {"n_embd": 32, "n_head": 2, "n_positions": 64, "num_hidden_layers": 5},
    "gpt_neox": {"num_hidden_layers": 5},
    "opt": PLAIN["opt"] | {"num_hidden_layers": 5},
    "mistral": WINDOWED["mistral"] | {"num_hidden_layers": 5},
}


def deep(model_type):
    model = made(model_type, tie_word_embeddings=False, **DEEP[model_type])
    with torch.no_grad():  # so that tokens differ in likelihood
        for name, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.mul_(8 if "embed" in name or "wte" in name else 3)
    return model


def decode(model, layers=None, gamma=3, tokens=24, seed=0, confidence=0.0, **settings):
    sampling, target = Sampling(max_new_tokens=tokens, **settings), CachedModel(model)
    return Decoding(
        target,
        [5, 9, 11, 5, 9],
        sampling=sampling,
        proposer=SelfDraft(target, layers, sampling, confidence) if layers is not None else None,
        policy=Fixed(gamma if layers is not None else 0),
        chooser=Seeded(seed),
        pieces=Pieces(),
    )


def written(decoding):
    rounds = list(decoding.rounds())
    return decoding.history.ids[5:], rounds


@pytest.mark.parametrize("layers", [range(2), (0, 1, 3, 4), (0, 4)])
@pytest.mark.parametrize("model_type", DEEP)
def test_the_text_is_the_plain_one(model_type, layers):
    model = deep(model_type)
    plain, _ = written(decode(model))
    ids, rounds = written(decode(model, layers))
    assert ids == plain
    assert sum(r.tested for r in rounds) > 0
    assert len(set(plain)) > 3


@pytest.mark.parametrize("layers", [range(2), (0, 1, 3, 4)])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_the_cache_is_that_of_the_text_after_every_round(layers, temperature):
    model = deep("llama")
    decoding = decode(model, layers, temperature=temperature)
    for taken in decoding.rounds():
        ids, target = decoding.history.ids, decoding.target
        assert taken.target_cache == target.length == target._cache.get_seq_length() == len(ids) - 1
        assert all(layer.get_seq_length() == len(ids) - 1 for layer in target.layer_caches())
        with torch.inference_mode():
            fresh = model(torch.tensor([ids])).logits[0, -1:]
        assert (target.forward(ids[-1:], 1) - fresh).abs().max() < 1e-5
        target.crop(len(ids) - 1)


def test_proposing_leaves_the_cache_as_it_was():
    model = deep("llama")
    target, history = CachedModel(model), History([5, 9, 11, 5, 9])
    for held in (5, 4):  # after the prompt was read, and in every later round
        target.begin([0, 0])
        target.forward(history.ids[:held], 1)
        before = [(layer.keys.clone(), layer.values.clone()) for layer in target.layer_caches()]
        proposal = SelfDraft(target, (0, 2, 4), Sampling()).propose(history, 3, Seeded(0))
        assert len(proposal.ids) == 3
        assert [n for n, _ in proposal.calls] == [1, 1, 1]
        assert target.ids == history.ids[:held]
        for layer, (keys, values) in zip(target.layer_caches(), before, strict=True):
            assert torch.equal(layer.keys, keys)
            assert torch.equal(layer.values, values)


def test_it_is_the_chosen_layers_that_draft():
    """Against the model rebuilt from those layers."""
    import copy

    model = deep("llama")
    short = copy.deepcopy(model)
    short.model.layers = nn.ModuleList(short.model.layers[i] for i in (0, 1, 3))
    for place, layer in enumerate(short.model.layers):
        layer.self_attn.layer_idx = place
    short.config.num_hidden_layers = 3
    target, history = CachedModel(model), History([5])  # after one token both have the same past
    target.forward(history.ids, 1)
    proposal = SelfDraft(target, (0, 1, 3), Sampling()).propose(history, 1, Seeded(0))
    with torch.inference_mode():
        expected = short(torch.tensor([[5]])).logits[0, -1]
    assert (proposal.scores[0][0] - expected).abs().max() < 1e-5
    assert len(model.model.layers) == 5


def test_all_layers_agree_with_the_target():
    """With nothing left out the draft is the target: everything is accepted."""
    _, rounds = written(decode(deep("llama"), range(5), temperature=1.0))
    assert all(r.accepted == r.tested for r in rounds)


def test_an_error_while_drafting_leaves_the_model_whole():
    model = deep("llama")
    target = CachedModel(model)
    draft, history = SelfDraft(target, range(2), Sampling(banned=tuple(range(64)))), History([5, 6])
    target.forward([5], 1)
    with pytest.raises(UserError, match="banned"):
        draft.propose(history, 2, Seeded(0))
    assert len(model.model.layers) == 5
    assert target.ids == [5]


def test_an_unsure_layer_stops():
    _, rounds = written(decode(deep("llama"), range(2), gamma=6, confidence=0.9))
    assert "confidence" in {r.why_stopped for r in rounds}


@pytest.mark.parametrize("model_type", ["gemma3_text", "qwen2"])
def test_layers_that_differ_by_their_place_are_refused(model_type):
    target = CachedModel(made(model_type, **WINDOWED[model_type]))
    for ask in (lambda: SelfDraft(target, (0,), Sampling()), lambda: search_skips(target, [1, 2, 3])):
        with pytest.raises(UserError, match="differ by their place"):
            ask()


@pytest.mark.parametrize("layers", [(), (1, 2), (0, 7)])
def test_layers_that_are_not_there_are_refused(layers):
    with pytest.raises(UserError, match="layer 0"):
        SelfDraft(CachedModel(deep("llama")), layers, Sampling())


# ---- searching ------------------------------------------------------------------------------------------------------------------


def test_harmless_layers_are_found_first():
    model = deep("llama")
    with torch.no_grad():
        for i in (1, 3):  # these two add nothing at all
            model.model.layers[i].self_attn.o_proj.weight.zero_()
            model.model.layers[i].mlp.down_proj.weight.zero_()
    target = CachedModel(model)
    target.forward([1, 2], 1)
    checks = []
    found = search_skips(target, list(range(5, 45)), lambda: checks.append(1), most=3)
    assert set(found[0][0]) < {1, 3}
    assert found[1][0] == (1, 3)
    assert found[1][1] == pytest.approx(1, abs=1e-5)
    assert found[2][1] < 0.99
    assert len(checks) == 1 + 4 + 3 + 2
    assert target.ids == [1, 2]


def test_the_rate_found_is_the_one_by_definition():
    model = deep("llama")
    ids = torch.randint(4, 60, (30,), generator=torch.Generator().manual_seed(1)).tolist()
    (skipped, alpha), *_ = search_skips(CachedModel(model), ids, most=1)
    with torch.inference_mode():
        q = model(torch.tensor([ids])).logits[0].softmax(-1)
        whole = model.model.layers
        model.model.layers = nn.ModuleList(layer for i, layer in enumerate(whole) if i not in skipped)
        p = model(torch.tensor([ids]), use_cache=False).logits[0].softmax(-1)
        model.model.layers = whole
    assert alpha == pytest.approx(float(torch.minimum(p, q).sum(-1).mean()), abs=1e-5)


def test_a_search_needs_a_text():
    with pytest.raises(UserError, match="too short"):
        search_skips(CachedModel(deep("llama")), [5])
