"""Architectures beside Llama: brought, saved, packed and reloaded, each to the same logits."""

import pytest
import torch
import transformers

from core.models.blocks import blocks
from core.models.bring import bring
from core.models.load import load
from core.models.save import fingerprint, save
from core.models.size import ledger
from tests.core.models.conftest import quantized

SHAPE = {
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
}
GROUPED = SHAPE | {"num_key_value_heads": 2}
DISTIL = {"vocab_size": 300, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 64}
OPT = {k: v for k, v in SHAPE.items() if k != "intermediate_size"} | {"ffn_dim": 64, "word_embed_proj_dim": 32}


@pytest.mark.parametrize(
    ("model", "config", "settings", "task", "tied"),
    [
        ("Qwen2ForCausalLM", "Qwen2Config", GROUPED | {"tie_word_embeddings": True}, "causal-lm", True),
        ("Qwen3ForCausalLM", "Qwen3Config", GROUPED | {"head_dim": 16}, "causal-lm", False),
        ("MistralForCausalLM", "MistralConfig", GROUPED | {"sliding_window": None}, "causal-lm", False),
        ("Gemma2ForCausalLM", "Gemma2Config", GROUPED | {"head_dim": 8}, "causal-lm", True),
        ("OPTForCausalLM", "OPTConfig", OPT, "causal-lm", True),
        ("MixtralForCausalLM", "MixtralConfig", GROUPED | {"num_local_experts": 2}, "causal-lm", False),
        ("BertForMaskedLM", "BertConfig", SHAPE, "encoder", True),
        ("DistilBertForSequenceClassification", "DistilBertConfig", DISTIL, "classifier", None),
    ],
)
def test_round_trip(model, config, settings, task, tied, tmp_path, run, verifier):
    source, staged, dense, packed = (tmp_path / name for name in ("source", "staged", "dense", "packed"))
    for folder in (source, staged, dense, packed):
        folder.mkdir()
    torch.manual_seed(0)
    made = getattr(transformers, model)(getattr(transformers, config)(**settings))
    made.save_pretrained(source)
    info, _ = bring(source, staged, run)
    assert (info.task, info.tied, info.layers) == (task, tied, 2)
    assert info.parameters == sum(p.numel() for p in made.parameters())
    loaded = load(staged)
    assert len(blocks(loaded.model)) == 2
    save(loaded.model, dense, staged, run=run)
    assert fingerprint(dense) == fingerprint(source)
    assert verifier.check(dense, loaded.model, run) == 0.0
    loaded = load(staged)
    quantized(loaded.model, 8, None, True, torch.float32)
    save(loaded.model, packed, staged, run=run)
    assert verifier.check(packed, loaded.model, run) == 0.0
    size = ledger(packed, info.parameters)
    assert size.parameters == info.parameters
    assert size.weight_bytes < ledger(dense).weight_bytes
