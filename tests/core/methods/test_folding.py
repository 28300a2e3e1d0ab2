"""Folds: found on the model's own blocks, exact, and none where there can't be one."""

import pytest
import torch

from core.methods.folding import folds
from core.models import load
from tests.conftest import make_pico

IDS = torch.arange(1, 17)[None]


def output(model):
    out = model(input_ids=IDS)
    return out.logits if "logits" in out else out.last_hidden_state


def relative(fold):
    cut = fold.targets[0][0].split("layers.0.")[0] + "layers.0."
    return fold.source_name.removeprefix(cut), tuple(n.removeprefix(cut) for n, _ in fold.targets)


def test_llama_has_four_a_block(pico_llama):
    model = load.load(pico_llama).model
    found = folds(model)
    assert len(found) == 4 * 2
    assert [relative(f) for f in found[:4]] == [
        ("input_layernorm", ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")),
        ("post_attention_layernorm", ("mlp.gate_proj", "mlp.up_proj")),
        ("self_attn.v_proj", ("self_attn.o_proj",)),
        ("mlp.up_proj", ("mlp.down_proj",)),
    ]
    assert [f.repeat for f in found[:4]] == [None, None, (2, 2), None]  # each of the two value heads is read by two query heads
    assert [f.of_norm for f in found[:4]] == [True, True, False, False]


def test_a_norm_after_the_residual_is_none(pico_bert):
    """BERT's norms feed the residual too: only the values fold. And nothing is moved by looking."""
    model = load.load(pico_bert).model
    before = {k: v.clone() for k, v in model.state_dict().items()}
    found = folds(model)
    assert [f.source_name for f in found] == [f"encoder.layer.{i}.attention.self.value" for i in range(2)]
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())


def test_transposed_layers_have_none(pico_gpt2):
    assert folds(load.load(pico_gpt2).model) == []


@pytest.mark.parametrize("stored", [None, torch.bfloat16])
def test_the_model_stays_what_it_was(pico_llama, stored):
    model = load.load(pico_llama).model
    with torch.no_grad():
        want = output(model)
        generator = torch.Generator().manual_seed(0)
        for fold in folds(model):
            fold.apply(torch.exp2(6 * torch.rand(fold.channels, generator=generator) - 3), stored)
        got = output(model)
    assert (got - want).abs().max() < 1e-4 * want.abs().max()
    if stored:
        for name, parameter in model.named_parameters():
            if "norm" in name and name != "model.norm.weight":
                assert torch.equal(parameter.to(stored).float(), parameter)  # saving rounds nothing


@pytest.mark.parametrize("kind", ["gemma", "opt", "qwen2"])
def test_other_plans(kind, tmp_path):
    """Gemma's norms multiply by 1 + weight; OPT has biases everywhere and a ReLU, which positive scales go through."""
    import transformers as t

    torch.manual_seed(0)
    shape = dict(vocab_size=300, hidden_size=32, num_hidden_layers=2, num_attention_heads=4)
    if kind == "gemma":
        config = t.GemmaConfig(**shape, intermediate_size=64, num_key_value_heads=2, head_dim=8)
        model = t.GemmaForCausalLM(config)
        torch.nn.init.normal_(model.model.layers[0].input_layernorm.weight, 0, 0.3)
    elif kind == "opt":
        model = t.OPTForCausalLM(t.OPTConfig(**shape, ffn_dim=64, word_embed_proj_dim=32, dropout=0.0))
    else:
        model = t.Qwen2ForCausalLM(t.Qwen2Config(**shape, intermediate_size=64, num_key_value_heads=2))
    model.eval().requires_grad_(False)
    found = folds(model)
    assert len(found) == 4 * 2
    assert {f.plus_one for f in found if f.of_norm} == {kind == "gemma"}
    want = output(model)
    for number, fold in enumerate(found):
        fold.apply(torch.exp2(2 * torch.rand(fold.channels, generator=torch.Generator().manual_seed(number)) - 1))
    assert (output(model) - want).abs().max() < 1e-4 * want.abs().max()


def test_columns_and_their_largest_are_each_others_inverse(tmp_path):
    model = load.load(make_pico(tmp_path / "pico")).model
    fold = next(f for f in folds(model) if f.repeat)
    s = torch.rand(fold.channels)
    assert torch.equal(fold.gathered(fold.columns(s)), s)
    assert fold.columns(s).shape == (fold.targets[0][1].in_features,)
