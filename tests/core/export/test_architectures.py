"""Every architecture in both profiles, as it is and as the workbench leaves it: by the same check as an export's, against torch.

A 'treated' model is cut (one layer's MLP narrower than the other's, which no configuration of transformers' says), masked and
quantized at once: each leaves traces of its own in the graph, so one trace of the model tells of all three.
"""

from types import SimpleNamespace

import pytest
import torch
import transformers
from transformers.pytorch_utils import Conv1D

from core.export import onnx as exporting
from core.export import parity, trace
from core.export.runtime import GRAPH
from core.models import packed
from core.models.blocks import linears, replace, weight_of
from core.models.packed import PackedLinear
from core.models.surgery import anatomy
from core.run import Run
from tests.core.export.test_fused import lively

SHAPE = {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
SHAPE |= {"max_position_embeddings": 64}
SPECIAL = {"bos_token_id": None, "eos_token_id": 0, "pad_token_id": None}
GROUPED = SHAPE | SPECIAL | {"num_key_value_heads": 2}
WINDOW = {"sliding_window": 8}  # much shorter than the text of the check
BOTH = ["sliding_attention", "full_attention"]
OPT = {"vocab_size": 300, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 64, "max_position_embeddings": 64}
DISTIL = {"vocab_size": 300, "dim": 32, "hidden_dim": 64, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 64}
MODELS = {
    "llama": ("LlamaForCausalLM", "LlamaConfig", GROUPED),
    "mistral": ("MistralForCausalLM", "MistralConfig", GROUPED | WINDOW | {"head_dim": 16}),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", GROUPED | WINDOW | {"use_sliding_window": True, "max_window_layers": 1}),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", GROUPED | {"head_dim": 16}),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", GROUPED | {"head_dim": 16}),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", GROUPED | WINDOW | {"head_dim": 16, "attn_logit_softcapping": 2.0}),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", GROUPED | WINDOW | {"head_dim": 16, "layer_types": BOTH}),
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", SPECIAL | {"vocab_size": 300, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4}),
    "opt": ("OPTForCausalLM", "OPTConfig", OPT | SPECIAL | {"word_embed_proj_dim": 32}),
    "opt-projected": ("OPTForCausalLM", "OPTConfig", OPT | SPECIAL | {"word_embed_proj_dim": 16, "do_layer_norm_before": False}),
    "phi": ("PhiForCausalLM", "PhiConfig", SHAPE | SPECIAL | {"hidden_size": 128, "partial_rotary_factor": 0.5}),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", GROUPED),
    "bert": ("BertModel", "BertConfig", SHAPE),
    "distilbert": ("DistilBertForSequenceClassification", "DistilBertConfig", DISTIL | {"num_labels": 3}),
    "roberta": ("RobertaModel", "RobertaConfig", SHAPE | {"max_position_embeddings": 66}),
    "roberta-classes": ("RobertaForSequenceClassification", "RobertaConfig", SHAPE | {"max_position_embeddings": 66, "num_labels": 3}),
}
ENCODERS = ("bert", "distilbert", "roberta", "roberta-classes")
UNCUT = ("phi3",)  # its blocks have fused parts that surgery doesn't know
UNQUANTIZED = ("gpt2",)  # no format that transformers reads stores a packed Conv1D
QUICK = [
    ("mistral", "portable", True),
    ("mistral", "fast", True),
    ("qwen2", "fast", True),
    ("opt", "portable", True),
    ("opt", "fast", True),
    ("roberta", "portable", True),
]
PLAIN = [("mistral", "portable", False), ("qwen2", "portable", False), ("opt", "fast", False), ("roberta-classes", "portable", False)]
EVERY = [
    *PLAIN,
    *((name, profile, True) for name in MODELS for profile in ("portable", "fast")),
]  # a treated one has all that a plain one has


def made(name):
    kind, config, settings = MODELS[name]
    torch.manual_seed(0)
    return lively(getattr(transformers, kind)(getattr(transformers, config)(**settings)))


def narrow(layer, dim, width):
    """The layer without all but the first of its outputs (dim 0) or inputs (dim 1)."""
    dim = 1 - dim if isinstance(layer, Conv1D) else dim
    layer.weight = torch.nn.Parameter(layer.weight.narrow(dim, 0, width).contiguous())
    if dim == (1 if isinstance(layer, Conv1D) else 0):
        if layer.bias is not None:
            layer.bias = torch.nn.Parameter(layer.bias[:width])
        setattr(layer, "nf" if isinstance(layer, Conv1D) else "out_features", width)
    elif not isinstance(layer, Conv1D):
        layer.in_features = width


def treat(model, name):
    """In place: a narrower MLP in the last layer, every third weight zero, all on a grid of 4 bits."""
    with torch.no_grad():
        if name not in UNCUT:
            last = anatomy(model).blocks[-1]
            for part in last.into:
                narrow(model.get_submodule(part), 0, 32)
            narrow(model.get_submodule(last.down), 1, 32)
        for layer_name, layer in linears(model):
            weight_of(layer)[:, ::3] = 0
            if name in UNQUANTIZED:
                continue
            quant = packed.quantize(weight_of(layer), 4, group_size=16, scale_dtype=torch.float32)
            replace(model, layer_name, PackedLinear.from_linear(layer, quant))


def checked(model, profile, folder):
    """(figures of the check, plan, notes) of an export's own steps, without a process for each."""
    causal = any(part in type(model).__name__ for part in ("Causal", "LMHead"))
    info = SimpleNamespace(task="causal-lm" if causal else "encoder", architecture=type(model).__name__)
    if not causal and type(model).__name__.endswith("Model"):
        model = trace.body(model)
    quants, notes = trace.unpack_linears(model), []
    answers = parity.reference(model, None, Run(), context=64, cache_name=trace.cache_name(model) if causal else None)
    counted = trace.pack_linears(model, quants)
    program, plan = exporting._capture(info, model, profile, notes)
    graph, joined = exporting._graph(info, program, plan)
    exporting._write(graph, folder, GRAPH)
    counted["nbits"] -= joined["nbits"]
    declared = {"inputs": plan.signature.inputs, "outputs": plan.signature.outputs, "quantized": counted}
    return parity.compare(folder, answers, declared), plan, notes


def slowly(case):
    name, profile, treated = case
    label = f"{name}-{profile}-{'treated' if treated else 'plain'}"
    return pytest.param(*case, id=label, marks=[] if case in QUICK else [pytest.mark.matrix])


@pytest.mark.parametrize(("name", "profile", "treated"), [slowly(case) for case in EVERY])
def test_parity(name, profile, treated, tmp_path):
    model = made(name)
    if treated:
        treat(model, name)
    figures, plan, notes = checked(model, profile, tmp_path)
    assert figures["max_abs"] <= 1e-4
    if treated and name not in UNQUANTIZED:  # a quantized pooler once counted as a layer that the graph lacks
        least = 8 if name in ENCODERS else 6  # three a layer where queries, keys, values and an MLP read the same (Phi)
        assert figures["nodes"]["MatMulNBits"] >= least
    if name in ENCODERS:
        assert not plan.fused
        assert notes == (["The fast profile is for models that generate text; the portable one was written."] if profile == "fast" else [])
        return
    assert notes == []
    assert plan.fused == (profile == "fast")
    assert figures["nodes"].get("GroupQueryAttention", 0) == (2 if plan.fused else 0)
    if plan.fused:
        assert figures["in_place"] is True
    assert figures["greedy"]["equal"] == figures["greedy"]["tokens"] > 0
