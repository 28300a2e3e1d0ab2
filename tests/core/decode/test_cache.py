"""Caches that can be taken back, and models that can't be."""

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from core.decode.cache import BufferedLayer, CachedModel
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


def test_sliding_window_is_refused_with_the_reason():
    """Sliding-window caches that can't be rolled back (transformers 48280)."""
    model = made("mistral", sliding_window=8)
    with pytest.raises(UserError) as caught:
        CachedModel(model, longest=40)
    assert "8 tokens" in caught.value.sentence
    assert "Mistral" in caught.value.sentence
    CachedModel(model, rollback=False)  # plain decoding takes nothing back


def test_sliding_window_that_is_never_outgrown_is_whole():
    model = made("mistral", sliding_window=32)
    cached = CachedModel(model, longest=20)
    ids = list(range(5, 20))
    cached.forward([*ids[:8], 1, 1], 1)
    cached.crop(8)
    rows = cached.forward(ids[8:], 1)
    with torch.inference_mode():
        fresh = model(input_ids=torch.tensor([ids])).logits[0, -1:]
    assert (rows - fresh).abs().max() < 1e-4


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
