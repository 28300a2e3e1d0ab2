"""Surgery: a cut model equals the masked one, is built of the shapes that its config says, and generates with a cache."""

import pytest
import torch
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from core.errors import UserError
from core.models import surgery
from core.models.blocks import weight_of

SMALL = dict(vocab_size=90, hidden_size=48, num_hidden_layers=4, intermediate_size=80, max_position_embeddings=64)
ROTARY = SMALL | dict(num_attention_heads=6, num_key_value_heads=3, head_dim=8, bos_token_id=1, eos_token_id=2, pad_token_id=None)
ENCODER = SMALL | dict(num_attention_heads=6)
OWN = {"vocab_size": 90, "max_position_embeddings": 64}


def made(cls, config):
    torch.manual_seed(0)
    model = cls(config).eval().requires_grad_(False)
    for p in model.parameters():
        p.add_(torch.randn_like(p) * 0.2)
    return model


MAKERS = {
    "llama": lambda: made(LlamaForCausalLM, LlamaConfig(**ROTARY, tie_word_embeddings=True)),
    "qwen2": lambda: made(Qwen2ForCausalLM, Qwen2Config(**ROTARY)),
    "qwen3": lambda: made(Qwen3ForCausalLM, Qwen3Config(**ROTARY)),
    "gpt2": lambda: made(GPT2LMHeadModel, GPT2Config(vocab_size=90, n_embd=48, n_layer=4, n_head=6, n_positions=64)),
    "bert": lambda: made(BertModel, BertConfig(**ENCODER)),
    "bert-classes": lambda: made(BertForSequenceClassification, BertConfig(**ENCODER, num_labels=3)),
    "bert-words": lambda: made(BertForMaskedLM, BertConfig(**ENCODER)),
    "distilbert": lambda: made(DistilBertModel, DistilBertConfig(**OWN, dim=48, n_layers=4, n_heads=6, hidden_dim=80)),
    "opt": lambda: made(
        OPTForCausalLM,
        OPTConfig(**OWN, hidden_size=48, word_embed_proj_dim=48, num_hidden_layers=4, num_attention_heads=6, ffn_dim=80),
    ),
}
CUTTABLE = ("llama", "qwen2", "qwen3")
IDS = torch.arange(24).view(2, 12) * 3 % 90


def outputs(model, ids=IDS):
    with torch.no_grad():
        out = model(input_ids=ids)
    return out.logits if "logits" in out else out.last_hidden_state


def as_saved(model, folder):
    """The model as plain transformers reloads it."""
    model.save_pretrained(folder)
    again, report = type(model).from_pretrained(folder, output_loading_info=True)
    assert not any(report[k] for k in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    return again.eval()


@pytest.mark.parametrize("kind", MAKERS)
def test_the_anatomy_fits_the_model(kind):
    shape = surgery.anatomy(MAKERS[kind]())
    assert (shape.layers, shape.heads, shape.head_dim, shape.width) == (4, 6, 8, 192 if kind == "gpt2" else 80)
    assert (shape.units, shape.unit) == ((3, "kv_group") if kind in CUTTABLE else (6, "head"))


@pytest.mark.parametrize("kind", CUTTABLE)
def test_cut_heads_equal_masked_heads(kind, tmp_path):
    keep = [torch.tensor(k) for k in ([0, 2], [1, 2], [0, 1], [0, 2])]
    masked = MAKERS[kind]()
    surgery.mask_heads(masked, [(layer, unit) for layer, k in enumerate(keep) for unit in range(3) if unit not in k.tolist()])
    cut = surgery.cut_heads(MAKERS[kind](), keep)
    assert cut.config.num_attention_heads == 4
    assert cut.config.num_key_value_heads == 2
    assert cut.config.head_dim == 8
    assert torch.allclose(outputs(cut), outputs(masked), atol=1e-5)
    assert torch.equal(outputs(as_saved(cut, tmp_path)), outputs(cut))


def test_a_llama_whose_heads_do_not_divide_its_width_becomes_a_mistral(tmp_path):
    config = LlamaConfig(**(ROTARY | dict(num_attention_heads=12, num_key_value_heads=6, head_dim=8, tie_word_embeddings=True)))
    keep = [torch.tensor([0, 1, 3, 4, 5])] * 4  # 10 heads, and 48 isn't a multiple of 10
    masked = made(LlamaForCausalLM, config)
    surgery.mask_heads(masked, [(layer, 2) for layer in range(4)])
    cut = surgery.cut_heads(made(LlamaForCausalLM, config), keep)
    assert type(cut) is MistralForCausalLM
    assert cut.config.sliding_window is None
    assert torch.allclose(outputs(cut), outputs(masked), atol=1e-5)
    again = as_saved(cut, tmp_path)
    assert torch.equal(outputs(again), outputs(cut))
    assert again.lm_head.weight is again.model.embed_tokens.weight
    ids = cut.generate(IDS[:1], max_new_tokens=8, do_sample=False, pad_token_id=0)
    assert torch.equal(ids, masked.generate(IDS[:1], max_new_tokens=8, do_sample=False, pad_token_id=0))


@pytest.mark.parametrize("kind", [k for k in MAKERS if k not in CUTTABLE])
def test_heads_that_a_config_cannot_express_are_masked(kind):
    model = MAKERS[kind]()
    assert "width of a head" in surgery.heads_stay_because(model, 4)
    with pytest.raises(UserError, match="can't be cut"):
        surgery.cut_heads(model, [torch.arange(4)] * 4)
    shape = surgery.anatomy(model)
    seen = []
    out = model.get_submodule(shape.blocks[1].out)
    surgery.mask_heads(model, [(1, 2), (1, 5)])
    handle = out.register_forward_pre_hook(lambda m, args: seen.append(args[0]))
    outputs(model)
    handle.remove()
    heads = seen[0].unflatten(-1, (6, 8))
    assert (heads[..., [2, 5], :] == 0).all()
    assert (heads[..., [0, 1, 3, 4], :] != 0).any()
    assert (weight_of(out).unflatten(1, (6, 8))[:, [2, 5]] == 0).all()


def test_a_bias_of_llama_keeps_its_heads_where_mistral_has_none():
    config = LlamaConfig(**(ROTARY | dict(num_attention_heads=12, num_key_value_heads=6, attention_bias=True)))
    assert surgery.heads_stay_because(made(LlamaForCausalLM, config), 5)
    assert not surgery.heads_stay_because(made(LlamaForCausalLM, config), 4)


@pytest.mark.parametrize("kind", MAKERS)
def test_cut_channels_equal_masked_channels(kind, tmp_path):
    masked = MAKERS[kind]()
    shape = surgery.anatomy(masked)
    keep = [torch.randperm(shape.width, generator=torch.Generator().manual_seed(i))[:64].sort().values for i in range(4)]
    for block, kept in zip(shape.blocks, keep, strict=True):
        gone = torch.ones(shape.width, dtype=torch.bool)
        gone[kept] = False
        weight_of(masked.get_submodule(block.down))[:, gone] = 0
    cut = surgery.cut_channels(MAKERS[kind](), keep)
    assert surgery.anatomy(cut).width == 64 == getattr(cut.config, shape.width_key)
    assert torch.allclose(outputs(cut), outputs(masked), atol=1e-5)
    assert torch.equal(outputs(as_saved(cut, tmp_path)), outputs(cut))


@pytest.mark.parametrize("kind", MAKERS)
def test_dropped_blocks_equal_blocks_that_pass_on_what_they_get(kind, tmp_path):
    from core.models.blocks import blocks

    whole = MAKERS[kind]()
    for index in (1, 2):
        block = blocks(whole)[index][1]
        one = isinstance(block(*_call(whole, index)[0], **_call(whole, index)[1]), tuple)
        block.forward = lambda x, *a, one=one, **k: (x,) if one else x
    cut = surgery.drop_layers(MAKERS[kind](), {1, 2})
    assert cut.config.num_hidden_layers == 2 == len(blocks(cut))
    assert torch.allclose(outputs(cut), outputs(whole), atol=1e-5)
    assert torch.equal(outputs(as_saved(cut, tmp_path)), outputs(cut))


def _call(model, index):
    """The arguments that a block is called with."""
    from core.models.blocks import blocks

    seen = []
    handle = blocks(model)[index][1].register_forward_pre_hook(lambda m, args, kwargs: seen.append((args, kwargs)), with_kwargs=True)
    outputs(model)
    handle.remove()
    return seen[0]


@pytest.mark.parametrize("kind", ["llama", "qwen2", "gpt2"])
def test_generation_with_a_cache_works_after_blocks_were_dropped(kind):
    cut = surgery.drop_layers(MAKERS[kind](), {0, 2})
    how = dict(max_new_tokens=8, do_sample=False, pad_token_id=0, eos_token_id=None)
    assert torch.equal(cut.generate(IDS[:1], use_cache=True, **how), cut.generate(IDS[:1], use_cache=False, **how))
    if kind == "qwen2":
        assert len(cut.config.layer_types) == 2


def test_a_model_without_blocks_or_with_unknown_ones_is_refused():
    with pytest.raises(UserError, match="can't be recognised"):
        surgery.anatomy(torch.nn.Linear(2, 2))
    with pytest.raises(UserError, match="at least"):
        surgery.drop_layers(MAKERS["llama"](), {0, 1, 2, 3})
    odd = made(GPT2LMHeadModel, GPT2Config(vocab_size=90, n_embd=48, n_layer=2, n_head=6, scale_attn_by_inverse_layer_idx=True))
    with pytest.raises(UserError, match="number of the block"):
        surgery.drop_layers(odd, {0})


@pytest.mark.parametrize("kind", ["llama", "qwen2", "gpt2", "bert", "bert-words", "bert-classes", "opt"])
def test_a_cut_vocabulary_gives_the_same_outputs_for_its_words(kind, tmp_path):
    keep = torch.tensor([*range(0, 90, 3), 1, 2]).unique()
    whole, cut = MAKERS[kind](), surgery.cut_vocabulary(MAKERS[kind](), keep)
    new = {int(old): n for n, old in enumerate(keep)}
    ids = torch.tensor([[new[int(i)] for i in row] for row in IDS])
    expected = outputs(whole)
    if expected.shape[-1] == 90:
        expected = expected[..., keep]
    assert torch.allclose(outputs(cut, ids), expected, atol=1e-5)
    assert cut.config.vocab_size == len(keep)
    if kind == "llama":
        assert (cut.config.bos_token_id, cut.config.eos_token_id) == (1, 2)
        assert cut.config.pad_token_id is None
        assert cut.lm_head.weight is cut.model.embed_tokens.weight
    assert torch.equal(outputs(as_saved(cut, tmp_path), ids), outputs(cut, ids))
