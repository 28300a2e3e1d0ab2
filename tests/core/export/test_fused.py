"""The fast profile: how many nodes it takes, that they compute what torch computes, and what is left as it is."""

import numpy as np
import onnx_ir
import onnxruntime
import pytest
import torch

from core.errors import UserError
from core.export import fused, onnx, trace
from core.export.runtime import CausalSession, open_session
from core.models.load import load
from core.records import OnnxOptions
from core.run import Run
from tests.conftest import make_pico

SHAPE = {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
FAST = OnnxOptions(profile="fast")


def lively(model):
    """Weights so large that tokens differ in probability."""
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(4) if p.ndim > 1 else p.add_(0.1 * torch.randn_like(p))
    return model.eval()


def graph_of(model) -> onnx_ir.Model:
    plan = fused.causal(model)
    program, _ = fused.capture(model, plan)
    return trace.convert(program, plan)


def counts(graph: onnx_ir.Model) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in graph.graph:
        found[node.op_type] = found.get(node.op_type, 0) + 1
    return found


def apart(model, graph: onnx_ir.Model) -> float:
    """The largest difference of a logit: text, chunks and single steps, far beyond the length of the sample."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    data = onnx_ir.to_proto(graph).SerializeToString()
    causal = CausalSession(onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"]))
    ids = np.random.default_rng(0).integers(0, 300, (1, 40))
    got, at, cache = [], 0, causal.empty(1)
    for size in (17, 9, 1, 1, 12):
        logits, cache = causal.step(ids[:, at : at + size], np.ones((1, at + size), np.int64), cache)
        got.append(logits)
        at += size
    with torch.no_grad():
        wanted = model(torch.from_numpy(ids)).logits.numpy()
    return float(np.abs(np.concatenate(got, axis=1) - wanted).max())


def test_a_layer_is_a_handful_of_nodes(tmp_path):
    """Three norms and two additions a layer become two nodes, the attention with its cache and rotation one; nothing is turned."""
    model = load(make_pico(tmp_path / "pico", hidden=64), dtype="float32").model
    before = {name: p.clone() for name, p in model.state_dict().items()}
    graph = graph_of(model)
    found = counts(graph)
    assert found["GroupQueryAttention"] == 2
    assert found["SkipSimplifiedLayerNormalization"] == 4  # the first of five norms has no addition before it
    assert found["MatMul"] == 15
    assert not {"Reshape", "Softmax", "Cos", "Sin", "Add", "Concat"} & set(found)
    node = next(n for n in graph.graph if n.op_type == "GroupQueryAttention")
    assert [v.name for v in node.inputs[7:9]] == ["cos_cache", "sin_cache"]
    assert apart(model, graph) < 1e-4
    after = model.state_dict()  # the model is as it was
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert model.config._attn_implementation != fused.NAME
    assert model(torch.arange(5)[None]).logits.isfinite().all()


def _qwen3():
    """Norms between the projection and the rotation, so that the heads must stay turned there."""
    from transformers import Qwen3Config, Qwen3ForCausalLM

    return Qwen3ForCausalLM(Qwen3Config(**SHAPE, num_key_value_heads=2, head_dim=16, max_position_embeddings=64))


def _gemma2():
    """A window (8) much shorter than the text in every other layer, capped scores, norms of 1 + weight."""
    from transformers import Gemma2Config, Gemma2ForCausalLM

    more = {"num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 64, "sliding_window": 8, "attn_logit_softcapping": 2.0}
    return Gemma2ForCausalLM(Gemma2Config(**SHAPE, **more))


def _gemma3():
    """Two rotary bases, one for the layers with a window."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    kinds = ["sliding_attention", "full_attention"]
    more = {"num_key_value_heads": 1, "head_dim": 16, "max_position_embeddings": 64, "sliding_window": 8, "layer_types": kinds}
    return Gemma3ForCausalLM(Gemma3TextConfig(**SHAPE, **more))


def _gpt2():
    """Learned positions and no rotation at all."""
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(vocab_size=300, n_positions=64, n_embd=32, n_layer=2, n_head=4))


def _phi():
    """Half of each head is rotated."""
    from transformers import PhiConfig, PhiForCausalLM

    return PhiForCausalLM(PhiConfig(**SHAPE | {"hidden_size": 128}, partial_rotary_factor=0.5, max_position_embeddings=64))


@pytest.mark.parametrize("make", [_qwen3, _gemma2, _gemma3, _gpt2, _phi], ids=lambda f: f.__name__.strip("_"))
def test_other_architectures(make):
    torch.manual_seed(0)
    model = lively(make())
    graph = graph_of(model)
    assert counts(graph)["GroupQueryAttention"] == 2
    assert apart(model, graph) < 1e-4
    assert "Cos" not in counts(graph)  # rotations are the attention's


def test_layers_of_unequal_shape(pico_llama):
    """A key-value group less in one layer: no configuration of transformers' says that, the graph does."""
    model = load(pico_llama, dtype="float32").model
    attention = model.model.layers[1].self_attn
    for layer, left in ((attention.q_proj, 16), (attention.k_proj, 8), (attention.v_proj, 8)):
        layer.weight = torch.nn.Parameter(layer.weight[:left].detach())
    attention.o_proj.weight = torch.nn.Parameter(attention.o_proj.weight[:, :16].detach())
    graph = graph_of(model)
    assert apart(model, graph) < 1e-4


def test_what_is_rotated_otherwise_stays_the_models_own():
    cos, sin = torch.rand(5, 16), torch.rand(5, 16)
    from transformers.models.cohere import modeling_cohere
    from transformers.models.llama import modeling_llama

    cos[:, 8:], sin[:, 8:] = cos[:, :8], sin[:, :8]
    assert fused._rotates_halves(modeling_llama.apply_rotary_pos_emb, cos, sin)
    assert not fused._rotates_halves(modeling_cohere.apply_rotary_pos_emb, cos, sin)  # neighbours in pairs


def test_norms_are_recognised_by_what_they_compute():
    from transformers.models.gemma.modeling_gemma import GemmaRMSNorm
    from transformers.models.llama.modeling_llama import LlamaRMSNorm

    class OddRMSNorm(LlamaRMSNorm):
        def forward(self, x):
            return super().forward(x) + 1

    for kind, scale in ((LlamaRMSNorm, 0.0), (GemmaRMSNorm, 1.0)):
        norm = kind(16)
        torch.nn.init.normal_(norm.weight)
        found = fused._norm_of(norm)
        assert torch.equal(found.weight, norm.weight + scale)
    assert fused._norm_of(OddRMSNorm(16)) is None
    assert fused._norm_of(torch.nn.LayerNorm(16)) is None


def test_heads_that_can_t_be_fused_are_exported_portable(tmp_path):
    loaded = load(make_pico(tmp_path / "narrow", layers=1, head_dim=12), dtype="float32")
    notes = []
    _, plan = onnx._capture(loaded.info, loaded.model, "fast", notes)
    assert not plan.fused
    assert plan.signature.inputs["input_ids"] == ("batch", "sequence")
    assert notes == ["The width of its heads isn't a multiple of 8, which fused attention needs, so the portable profile was written."]


def test_an_export_takes_one_text_at_a_time_and_says_so(pico_llama, tmp_path):
    report = onnx.export(pico_llama, tmp_path / "out", Run(), options=OnnxOptions(profile="fast", activations="int8"))
    assert report["profile"] == "fast"
    # rounded activations of what isn't quantized were ignored without a word
    assert report["notes"][:1] == [
        "Activations are rounded before quantized layers only, and this variant has none: its products are exact."
    ]
    assert report["max_abs"] <= 1e-4
    assert report["greedy"]["equal"] == 64
    checks = [c["check"] for c in report["checks"]]
    assert checks[2:] == ["chunks and single steps with the cache", "texts of other lengths", "greedy tokens"]
    causal = CausalSession(open_session(tmp_path / "out"))
    with pytest.raises(UserError, match="takes batch 1 only"):
        causal.step(np.zeros((2, 3), np.int64), np.ones((2, 3), np.int64), causal.empty(1))
