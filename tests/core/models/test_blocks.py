"""Walking models: blocks, linear layers, names to components."""

import pytest
import torch
from torch import nn

from core.errors import UserError
from core.models.blocks import blocks, component, linears, replace, weight_of
from core.models.load import load


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("model.embed_tokens.weight", "embedding"),
        ("model.layers.0.self_attn.q_proj.weight", "attention"),
        ("model.layers.0.self_attn.q_norm.weight", "norm"),
        ("model.layers.11.mlp.down_proj.weight", "mlp"),
        ("model.layers.0.post_attention_layernorm.weight", "norm"),
        ("model.norm.weight", "norm"),
        ("lm_head.weight", "head"),
        ("score.weight", "head"),
        ("transformer.h.0.attn.c_attn.weight", "attention"),
        ("transformer.h.0.mlp.c_fc.weight", "mlp"),
        ("transformer.h.0.ln_1.bias", "norm"),
        ("transformer.wte.weight", "embedding"),
        ("transformer.wpe.weight", "embedding"),
        ("embeddings.word_embeddings.weight", "embedding"),
        ("embeddings.LayerNorm.weight", "norm"),
        ("encoder.layer.0.attention.output.dense.weight", "attention"),
        ("encoder.layer.0.attention.output.LayerNorm.weight", "norm"),
        ("encoder.layer.0.intermediate.dense.weight", "mlp"),
        ("encoder.layer.0.output.dense.weight", "mlp"),
        ("pooler.dense.weight", "other"),
        ("classifier.weight", "head"),
        ("cls.predictions.bias", "head"),
        ("model.decoder.layers.0.fc1.weight", "mlp"),
        ("distilbert.transformer.layer.0.attention.q_lin.weight", "attention"),
        ("distilbert.transformer.layer.0.ffn.lin1.weight", "mlp"),
        ("token_embd.weight", "embedding"),
        ("blk.0.attn_q.weight", "attention"),
        ("blk.0.ffn_gate.weight", "mlp"),
        ("blk.0.ffn_norm.weight", "norm"),
        ("output_norm.weight", "norm"),
        ("output.weight", "head"),
    ],
)
def test_component(name, part):
    assert component(name) == part


def test_llama(pico_llama):
    model = load(pico_llama).model
    assert [name for name, _ in blocks(model)] == ["model.layers.0", "model.layers.1"]
    assert len(linears(model)) == 14
    assert [name for name, _ in linears(model, head=True)][-1] == "lm_head"
    assert ("model.embed_tokens", model.model.embed_tokens) in linears(model, embeddings=True)


def test_gpt2_conv1d_is_found_and_turned(pico_gpt2):
    """Conv1D keeps its weight as (in, out): code that looks for Linear alone finds no layer in GPT-2."""
    model = load(pico_gpt2).model
    assert [name for name, _ in blocks(model)] == ["transformer.h.0", "transformer.h.1"]
    found = dict(linears(model))
    assert len(found) == 8
    layer = found["transformer.h.0.mlp.c_fc"]
    assert weight_of(layer).shape == (128, 32)
    weight_of(layer)[0].zero_()
    assert (layer.weight[:, 0] == 0).all()  # a view: writing into it changes the module


def test_bert(pico_bert):
    model = load(pico_bert).model
    assert [name for name, _ in blocks(model)] == ["encoder.layer.0", "encoder.layer.1"]
    assert len(linears(model)) == 13  # 6 a block, and the pooler


def test_no_blocks():
    with pytest.raises(UserError, match="blocks of Sequential"):
        blocks(nn.Sequential(nn.Linear(2, 2)))


def test_replace(pico_llama):
    model = load(pico_llama).model
    new = nn.Linear(32, 64, bias=False)
    replace(model, "model.layers.1.mlp.up_proj", new)
    assert model.model.layers[1].mlp.up_proj is new
    with torch.no_grad():
        model(input_ids=torch.tensor([[1, 2, 3]]))
