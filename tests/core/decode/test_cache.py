"""Caches that can be taken back, and models that can't be."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

from core.decode.cache import BufferedLayer, CachedModel, WindowLayer
from core.errors import UserError

SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 16,
}


def made(model_type, **settings):
    torch.manual_seed(0)
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(model_type, **(SMALL | settings))).eval()


@pytest.mark.parametrize(
    ("model_type", "settings"),
    [
        ("llama", {}),
        ("qwen2", {}),
        ("gpt2", {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64}),
        ("gpt_neox", {}),
        ("opt", {"ffn_dim": 32, "word_embed_proj_dim": 32, "max_position_embeddings": 64}),
    ],
)
def test_cropped_cache_is_as_good_as_a_fresh_one(model_type, settings):
    model = made(model_type, **settings)
    cached = CachedModel(model)
    ids = torch.randint(4, 60, (20,), generator=torch.Generator().manual_seed(1)).tolist()
    cached.forward(ids[:9], 1)
    for keep, junk in ((9, 3), (8, 1), (4, 5), (1, 2)):
        cached.forward([7] * junk, junk)
        cached.crop(keep)
        assert cached.length == cached._cache.get_seq_length() == keep
        rows = cached.forward(ids[keep:12], 12 - keep)
        with torch.inference_mode():
            fresh = model(input_ids=torch.tensor([ids[:12]])).logits[0, keep:]
        assert (rows - fresh).abs().max() < 1e-4
        cached.crop(9)


def test_crop_takes_a_negative_count():
    """The meaning of crop's sign changed between versions of transformers (47720)."""
    layer = BufferedLayer()
    keys = torch.randn(1, 2, 5, 4)
    layer.update(keys, keys)
    layer.crop(0)
    assert layer.get_seq_length() == 5
    layer.crop(-2)
    assert layer.get_seq_length() == 3
    assert torch.equal(layer.keys, keys[:, :, :3])
    with pytest.raises(ValueError, match="negative"):
        layer.crop(2)


def test_buffer_grows_and_keeps_what_it_had():
    layer, plain = BufferedLayer(), []
    for size in (3, 250, 1, 400, 1):
        new = torch.randn(1, 2, size, 4)
        plain.append(new)
        keys, values = layer.update(new, -new)
        assert torch.equal(keys, torch.cat(plain, 2))
        assert torch.equal(values, -keys)
    layer.reset()
    assert layer.get_seq_length() == 0
    assert layer.update(new, new)[0].shape[2] == 1


WINDOWED = {
    "mistral": {"sliding_window": 8},
    "gemma2": {"sliding_window": 8, "query_pre_attn_scalar": 16, "layer_types": ["sliding_attention", "full_attention"]},
    "gemma3_text": {"sliding_window": 8, "query_pre_attn_scalar": 16, "layer_types": ["sliding_attention", "full_attention"]},
    "qwen2": {
        "sliding_window": 8,
        "use_sliding_window": True,
        "max_window_layers": 1,
        "layer_types": ["full_attention", "sliding_attention"],
    },
}


def fresh_logits(model, ids, keep):
    """What transformers computes without any cache."""
    with torch.inference_mode():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -keep:]


@pytest.mark.parametrize("model_type", WINDOWED)
def test_sliding_windows_can_be_taken_back_beyond_the_window(model_type):
    """Sliding-window caches that can't be rolled back (transformers 48280): here they can, and agree with transformers' own cache."""
    model = made(model_type, **WINDOWED[model_type])
    cached = CachedModel(model)
    assert any(isinstance(layer, WindowLayer) for layer in cached._cache.layers)
    theirs = DynamicCache(config=model.config)
    ids = torch.randint(4, 60, (48,), generator=torch.Generator().manual_seed(1)).tolist()
    with torch.inference_mode():
        expected = [model(input_ids=torch.tensor([[i]]), cache=theirs).logits[0, -1] for i in ids]  # one by one, as plain decoding does
    for begin, end, junk in ((0, 5, 1), (5, 7, 5), (7, 16, 3), (16, 17, 20), (17, 30, 2), (30, 48, 9)):
        rows = cached.forward(ids[begin:end], end - begin)
        assert (rows - torch.stack(expected[begin:end])).abs().max() < 1e-5
        cached.forward([7] * junk, 1)
        cached.crop(end)
    for keep in (40, 21, 9, 3):  # far back, out of the window's own reach
        cached.crop(keep)
        assert (cached.forward(ids[keep : keep + 6], 6) - torch.stack(expected[keep : keep + 6])).abs().max() < 1e-5


@pytest.mark.parametrize("model_type", WINDOWED)
def test_plain_decoding_keeps_only_the_window(model_type):
    model = made(model_type, **WINDOWED[model_type])
    cached, ids = CachedModel(model, rollback=False), list(range(4, 40))
    for token in ids:
        rows = cached.forward([token], 1)
    assert (rows - fresh_logits(model, ids, 1)).abs().max() < 1e-5
    assert any(layer.keys.shape[-2] == 7 for layer in cached._cache.layers)


PLAIN = {
    "llama": {},
    "qwen3": {},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64},
    "gpt_neox": {},
    "opt": {"ffn_dim": 32, "word_embed_proj_dim": 32, "max_position_embeddings": 64},
    "phi": {},
}


@pytest.mark.parametrize(
    ("model_type", "attention"),
    [(kind, attention) for kind in [*PLAIN, *WINDOWED] for attention in ("sdpa", "eager") if (kind, attention) != ("gemma2", "sdpa")],
)
def test_a_trees_logits_are_those_of_its_paths(model_type, attention):
    model = made(model_type, **(PLAIN | WINDOWED)[model_type])
    model.set_attn_implementation(attention)
    cached, ids = CachedModel(model), list(range(4, 16))
    cached.require_trees()
    cached.forward(ids[:9], 1)
    # three tokens that follow the cache, then a tree on the last of them:  2 - 3 - 4 - 5,  6 and 7 beside 3,  8 beside 5, 9 after 6
    fed, parents = [*ids[9:], 20, 21, 22, 23, 24, 25, 26], [-1, 0, 1, 2, 3, 4, 2, 2, 4, 6]
    rows = cached.forward_tree(fed, parents, len(fed))
    for node in range(len(fed)):
        path, at = [], node
        while at >= 0:
            path.insert(0, fed[at])
            at = parents[at]
        assert (rows[node] - fresh_logits(model, [*ids[:9], *path], 1)[0]).abs().max() < 1e-5

    places = [0, 1, 2, 6, 9]
    cached.keep_path(places)
    kept = [*ids[:9], *(fed[i] for i in places)]
    assert cached.ids == kept
    assert cached.length == cached._cache.get_seq_length() == 14
    assert (cached.forward([5, 6], 2) - fresh_logits(model, [*kept, 5, 6], 2)).abs().max() < 1e-5


def test_a_trees_chain_is_kept_without_copying():
    cached = CachedModel(made("llama"))
    cached.forward([1, 2, 3], 1)
    cached.forward_tree([4, 5, 6, 7], [-1, 0, 1, 0], 4)
    before = cached._cache.layers[0].keys[:, :, 3:5].clone()
    cached.keep_path([0, 1])
    assert torch.equal(cached._cache.layers[0].keys[:, :, 3:], before)
    assert cached.ids == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("model_type", "settings"),
    [
        ("bloom", {"n_head": 2, "n_layer": 2}),  # positions come from the mask, and there's nowhere to say them
        ("mpt", {"d_model": 32, "n_heads": 2, "n_layers": 2}),
    ],
)
def test_models_that_cannot_read_a_tree_are_refused_with_the_reason(model_type, settings):
    cached = CachedModel(made(model_type, **settings))
    with pytest.raises(UserError) as caught:
        cached.require_trees()
    assert "tree" in caught.value.sentence
    assert type(cached.model).__name__ in caught.value.sentence


def test_a_model_that_passes_over_the_mask_is_found_out():
    model = made("llama")
    forward = model.model.forward
    model.model.forward = lambda *args, attention_mask=None, **kwargs: forward(*args, attention_mask=None, **kwargs)
    with pytest.raises(UserError) as caught:
        CachedModel(model).require_trees()
    assert "branch" in caught.value.detail


def test_recurrent_layers_are_refused_with_the_reason():
    model = made(
        "qwen3_next",
        layer_types=["linear_attention", "full_attention"],
        linear_num_key_heads=2,
        linear_num_value_heads=2,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        num_experts=0,
        decoder_sparse_step=1,
        mlp_only_layers=[0, 1],
    )
    with pytest.raises(UserError) as caught:
        CachedModel(model)
    assert "can't be taken back" in caught.value.sentence


def test_tokens_without_an_embedding_are_refused_with_the_reason():
    """A tokenizer may have more tokens than its model."""
    model = made("llama")
    rows = model.get_input_embeddings().weight.shape[0]
    cached = CachedModel(model, name="small", vocabulary=rows + 5)
    cached.forward([1, rows - 1], 1)
    with pytest.raises(UserError, match=f"small can't read token {rows} .* embeddings for {rows} tokens"):
        cached.forward([rows], 1)
    with pytest.raises(UserError, match="can't read token"):
        cached.uncached(torch.tensor([[rows + 4]]), 1)
    assert cached.length == 2


def test_encoder_decoder_is_refused():
    torch.manual_seed(0)
    from transformers import T5Config, T5ForConditionalGeneration

    model = T5ForConditionalGeneration(T5Config(vocab_size=32, d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2))
    with pytest.raises(UserError, match="decoder"):
        CachedModel(model)


def test_it_begins_from_what_a_text_shares_with_its_cache():
    cached = CachedModel(made("llama"))
    ids = list(range(5, 25))
    cached.forward(ids, 1)
    assert cached.ids == ids
    assert cached.begin([*ids[:12], 1, 1]) == 12
    assert cached.ids == ids[:12]
    assert cached._cache.get_seq_length() == 12
    assert cached.begin(ids[:12]) == 11  # the last token's logits are still wanted
    assert cached.begin([1, 2]) == 0


def test_a_cache_that_cannot_be_taken_back_begins_anew_or_goes_on():
    model = made("mistral", sliding_window=8)
    cached, ids = CachedModel(model, rollback=False), list(range(5, 25))
    cached.forward(ids, 1)
    assert cached.begin([*ids, 1, 2]) == 20
    rows = cached.forward([1, 2], 1)
    with torch.inference_mode():
        fresh = model(input_ids=torch.tensor([[*ids, 1, 2]])).logits[0, -1:]
    assert (rows - fresh).abs().max() < 1e-4
    assert cached.begin(ids) == 0
    rows = cached.forward(ids, 1)
    with torch.inference_mode():
        fresh = model(input_ids=torch.tensor([ids])).logits[0, -1:]
    assert (rows - fresh).abs().max() < 1e-4


def test_after_an_error_nothing_wrong_is_read_on_from():
    """A cache is kept between a chat's turns: what an interrupted forward, or a tree whose path was never chosen, left in it isn't."""
    model = made("llama")
    cached, ids = CachedModel(model), list(range(5, 25))
    cached.forward(ids[:10], 1)
    last = model.model.layers[1].forward
    model.model.layers[1].forward = lambda *args, **kwargs: 1 / 0
    with pytest.raises(ZeroDivisionError):
        cached.forward(ids[10:], 1)
    model.model.layers[1].forward = last
    assert cached.begin(ids) == 0
    assert (cached.forward(ids, 1) - fresh_logits(model, ids, 1)).abs().max() < 1e-5

    cached.forward_tree([1, 2, 3], [-1, 0, -1], 3)
    text = [*ids, 1, 2, 3, 4]  # by chance what the tree's nodes are, read as a row
    held = cached.begin(text)
    assert held == len(ids)
    assert (cached.forward(text[held:], 1) - fresh_logits(model, text, 1)).abs().max() < 1e-5
