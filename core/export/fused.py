"""The fast profile: a decoder in the fused operators of onnxruntime (domain com.microsoft), for one text at a time.

An attention layer with its rotary embedding and its cache is one GroupQueryAttention node, a norm with the addition before it one
SkipSimplifiedLayerNormalization. Nothing is searched for in the finished graph to get there: while the model is traced, its
attention, its rotary embedding and its norms are replaced, each after it has been compared with the formula that the operator
computes. What differs (an interleaved rotation, a norm of another kind) stays as the model writes it, and is only slower.

Covers decoders whose attention is causal, with or without a sliding window, capped scores, grouped heads. Doesn't cover batches:
the operator takes no padding at the left. Needs onnxruntime (or what's built on it) to run; the portable profile doesn't.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import onnx_ir
import torch
from torch import Tensor, nn
from transformers import AttentionInterface
from transformers.cache_utils import Cache, DynamicLayer
from transformers.masking_utils import AttentionMaskInterface

from core.export import trace
from core.export.trace import Plan, Signature, cache_name, cache_states
from core.models.blocks import replace

NAME = "spokeshave_gqa"  # of the attention, as transformers knows it
LONGEST = 1 << 17  # positions in the table of the rotary embedding, at most
VARYING = ("dynamic", "longrope")  # rotary embeddings whose frequencies depend on the text's length: no table holds them


class NotFused(Exception):
    """Why this model can't be written in fused operators, as a note for the report."""


# ---- what the attention knows while a model is traced ---------------------------------------------------------------------


@dataclass(slots=True)
class _Tracing:
    lengths: Tensor | None = None  # (1, 1) int32: keys, less one
    total: Tensor | None = None  # (1,) int32: keys
    past: Any = None  # keys before this step: what the mask has more than the text, since a cache may have room for more than it holds
    layer: _Layer | None = None  # whose keys and values were just handed to the cache
    tables: tuple[Tensor, Tensor] | None = None  # cosines, sines (positions, rotated dims / 2) for the next attention


_now = _Tracing()


class _Layer(DynamicLayer):
    """One layer's cache: it holds what came before, until the attention gives back the whole."""

    def __init__(self, key: Tensor, value: Tensor):
        super().__init__()
        self.keys, self.values, self.is_initialized = key, value, True
        self.dtype, self.device = key.dtype, key.device

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        _now.layer = self
        return key_states, value_states

    def get_seq_length(self) -> int:
        return _now.past


def _attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, softcap=None, sliding_window=None, s_aux=None, **_):
    """query (1, heads, new, dim); key, value (1, kv heads, new, dim), not yet rotated -> (1, new, heads, dim)"""
    layer, tables = _now.layer, _now.tables
    _now.layer = _now.tables = None
    if layer is None or s_aux is not None or not getattr(module, "is_causal", True) or value.shape[3] != key.shape[3]:
        note = "Its attention isn't one that fused operators compute, so the portable profile was written."
        raise NotFused(note)
    _, heads, new, dim = query.shape
    kv_heads = key.shape[1]
    if dim % 8:
        note = "The width of its heads isn't a multiple of 8, which fused attention needs, so the portable profile was written."
        raise NotFused(note)
    flat = [x.transpose(1, 2).reshape(1, new, -1) for x in (query, key, value)]  # (1, new, heads * dim)
    settings = {
        "num_heads": heads,
        "kv_num_heads": kv_heads,
        "scale": dim**-0.5 if scaling is None else float(scaling),
        "do_rotary": int(tables is not None),
    }
    if softcap:
        settings["softcap"] = float(softcap)
    if sliding_window:
        settings["local_window_size"] = int(sliding_window)
    tables = tables and tuple(table.to(query.dtype) for table in tables)
    grown = (1, kv_heads, layer.keys.shape[2] + new, dim)
    out, layer.keys, layer.values = torch.onnx.ops.symbolic_multi_out(
        "com.microsoft::GroupQueryAttention",
        (*flat, layer.keys, layer.values, _now.lengths, _now.total, *(tables or ())),
        settings,
        dtypes=(query.dtype, key.dtype, value.dtype),
        shapes=((1, new, heads * dim), grown, grown),
        version=1,
    )
    return out.reshape(1, new, heads, dim), None


AttentionInterface.register(NAME, _attention)
AttentionMaskInterface.register(NAME, lambda *args, **kwargs: None)  # the operator knows the keys' number, and looks back only


class _Causal(nn.Module):
    def __init__(self, model: nn.Module, layers: int, cache_name: str):
        super().__init__()
        self.model, self.layers, self.cache_name = model, layers, cache_name

    def forward(self, input_ids, attention_mask, *past):
        ones = attention_mask.sum(dim=1, keepdim=True)
        _now.lengths = (ones - 1).to(torch.int32)
        shape = torch.onnx.ops.symbolic("Shape", (attention_mask,), {"start": 1, "end": 2}, dtype=torch.int64, shape=(1,))
        _now.total = shape.to(torch.int32)
        _now.past = attention_mask.shape[1] - input_ids.shape[1]
        cache = Cache(layers=[_Layer(past[2 * i], past[2 * i + 1]) for i in range(self.layers)])
        out = self.model(input_ids=input_ids, use_cache=True, **{self.cache_name: cache})
        return (out.logits, *(state for layer in cache.layers for state in (layer.keys, layer.values)))


def causal(model: nn.Module) -> Plan:
    """Plan for one text at a time. Raises UserError as `trace.causal` does; NotFused comes while tracing."""
    name, states = cache_name(model), cache_states(model)
    new, past = 3, 5
    vocabulary = model.config.get_text_config().vocab_size
    sample = [torch.arange(new)[None] % vocabulary, torch.ones(1, past + new, dtype=torch.int64)]
    signature = Signature({"input_ids": (1, "sequence"), "attention_mask": (1, "total")}, {"logits": (1, "sequence", vocabulary)})
    for index, (key, value) in enumerate(states):
        for leaf, state in (("key", key), ("value", value)):
            _, heads, _, dim = state.shape
            sample.append(torch.zeros(1, heads, past, dim, dtype=state.dtype))
            signature.inputs[f"past_key_values.{index}.{leaf}"] = (1, heads, "past", dim)
            signature.outputs[f"present.{index}.{leaf}"] = (1, heads, "total", dim)
    return Plan(_Causal(model, len(states), name), tuple(sample), signature, fused=True)


def capture(model: nn.Module, plan: Plan) -> tuple[torch.export.ExportedProgram, bool]:
    """`trace.capture` with everything replaced. Raises NotFused where not every layer became one node, or the model is left as it was."""
    program, chosen = trace.capture(model, plan, fusing)
    layers = sum(name.endswith(".key") for name in plan.signature.outputs)
    found = sum("symbolic_multi_out" in str(node.target) for node in program.graph.nodes)
    if found != layers:
        notes = []
        notes.append(f"{found} of {layers} attention layers could be fused, so the portable profile was written.")
        raise NotFused(notes[0])
    return program, chosen


# ---- what is replaced while a model is traced ------------------------------------------------------------------------------


@contextmanager
def fusing(model: nn.Module) -> Iterator[bool]:
    """The model with its attention, rotary embedding and norms replaced. Raises NotFused where its attention can't be chosen."""
    if not getattr(model, "_supports_attention_backend", False):
        note = "This architecture computes its attention itself, so the portable profile was written."
        raise NotFused(note)
    before = model.config._attn_implementation
    with contextlib.ExitStack() as undo:
        undo.callback(_forget)
        rotary = _tables(model)  # before the attention is replaced: the model is run for it
        model.set_attn_implementation(NAME)
        undo.callback(model.set_attn_implementation, before)
        _replace_rotary(model, rotary, undo)
        _replace_norms(model, undo)
        yield True


def _forget() -> None:
    _now.lengths = _now.total = _now.past = _now.layer = _now.tables = None


@dataclass(slots=True)
class _Rotary:
    """A rotary embedding's module, and its cosines and sines for each further argument that it's called with."""

    module: nn.Module
    tables: dict[Any, tuple[Tensor, Tensor]] = field(default_factory=dict)


def _rest(args: tuple, kwargs: dict[str, Any]) -> tuple:
    """What a rotary embedding is called with beyond the hidden states and the positions (Gemma 3: the kind of layer)."""
    return (*args[2:], *sorted((k, v) for k, v in kwargs.items() if k not in ("x", "position_ids")))


def _tables(model: nn.Module) -> list[_Rotary]:
    """Runs the model on three tokens to see how its rotary embeddings are called; returns them with their tables.

    None at all where one of them can't be had as a table, or isn't the rotation of halves.
    """
    found = [_Rotary(m) for m in model.modules() if any("inv_freq" in name for name, _ in m.named_buffers(recurse=False))]
    calls: list[tuple[_Rotary, tuple, dict]] = []
    with contextlib.ExitStack() as hooks:
        for rotary in found:
            note = lambda _, args, kwargs, rotary=rotary: calls.append((rotary, args, kwargs))
            hooks.callback(rotary.module.register_forward_pre_hook(note, with_kwargs=True).remove)
        with torch.no_grad():
            model(input_ids=torch.arange(3)[None] % model.config.get_text_config().vocab_size, use_cache=False)
    context = min(getattr(model.config.get_text_config(), "max_position_embeddings", None) or LONGEST, LONGEST)
    positions = torch.arange(context)[None]
    for rotary, args, kwargs in calls:
        kinds = getattr(rotary.module, "rope_type", "default")
        if any(kind in VARYING for kind in (kinds.values() if isinstance(kinds, dict) else [kinds])):
            return []
        hidden = args[0] if args else kwargs["x"]
        extra = {k: v for k, v in kwargs.items() if k not in ("x", "position_ids")}
        with torch.no_grad():
            made = rotary.module(hidden, positions, *args[2:], **extra)
        if not (isinstance(made, tuple) and len(made) == 2 and all(t.ndim == 3 for t in made)):
            return []
        cosines, sines = (t[0].float() for t in made)  # (positions, rotated dims)
        half = cosines.shape[1] // 2
        if half % 8 or not (torch.equal(cosines[:, :half], cosines[:, half:]) and torch.equal(sines[:, :half], sines[:, half:])):
            return []
        if not all(_rotates_halves(function, cosines, sines) for _, function in _rotations(model)):
            return []
        rotary.tables[_rest(args, kwargs)] = cosines[:, :half].contiguous(), sines[:, :half].contiguous()
    return [r for r in found if r.tables]


def _rotations(model: nn.Module) -> list[tuple[Any, Callable]]:
    """(module of Python, its apply_rotary_pos_emb) for each that the model's code comes from."""
    homes = {type(m).__module__: sys.modules[type(m).__module__] for m in model.modules()}
    return [(home, home.apply_rotary_pos_emb) for home in homes.values() if hasattr(home, "apply_rotary_pos_emb")]


def _rotates_halves(function: Callable, cosines: Tensor, sines: Tensor) -> bool:
    """Whether a model's rotation is (a cos - b sin, b cos + a sin) of the two halves (a, b) of a head, as the operator's is."""
    cos, sin = cosines[1:4], sines[1:4]  # (3, dim)
    half = cos.shape[1] // 2
    x = torch.randn(1, 2, 3, cos.shape[1], generator=torch.Generator().manual_seed(0))
    a, b = x[..., :half], x[..., half:]
    wanted = torch.cat([a * cos[:, :half] - b * sin[:, :half], b * cos[:, :half] + a * sin[:, :half]], dim=-1)
    try:
        found = function(x, x, cos[None], sin[None])
    except Exception:  # a signature of its own
        return False
    return all(torch.allclose(f, wanted, atol=1e-6) for f in found)


def _replace_rotary(model: nn.Module, rotary: list[_Rotary], undo: contextlib.ExitStack) -> None:
    """The rotary embeddings give whole tables instead of the rows asked for, and the rotation only notes them for the attention."""
    if not rotary or not _rotations(model):
        return
    for one in rotary:

        def forward(*args, one=one, **kwargs):
            return one.tables[_rest(args, kwargs)]

        one.module.forward = forward
        undo.callback(delattr, one.module, "forward")

    def rotate(query, key, cos, sin, *args, **kwargs):
        _now.tables = cos, sin
        return query, key

    for home, function in _rotations(model):
        home.apply_rotary_pos_emb = rotate
        undo.callback(setattr, home, "apply_rotary_pos_emb", function)


class _Norm(nn.Module):
    """A root-mean-square norm, which is one node in the graph."""

    def __init__(self, weight: Tensor, epsilon: float):
        super().__init__()
        self.epsilon = epsilon
        self.register_buffer("weight", weight.detach().float())

    def forward(self, x: Tensor) -> Tensor:
        settings = {"epsilon": self.epsilon, "axis": -1, "stash_type": 1}
        return torch.onnx.ops.symbolic("SimplifiedLayerNormalization", (x, self.weight.to(x.dtype)), settings, dtype=x.dtype, shape=x.shape)


def _replace_norms(model: nn.Module, undo: contextlib.ExitStack) -> None:
    for name, module in list(model.named_modules()):
        norm = _norm_of(module)
        if norm is not None:
            replace(model, name, norm)
            undo.callback(replace, model, name, module)


def _norm_of(module: nn.Module) -> _Norm | None:
    """The norm that `module` computes: weight, or 1 + weight (Gemma), times x / sqrt(mean x^2 + epsilon); None where it's another."""
    weight = getattr(module, "weight", None)
    epsilon = getattr(module, "variance_epsilon", getattr(module, "eps", None))
    if "RMSNorm" not in type(module).__name__ or not isinstance(weight, Tensor) or weight.ndim != 1 or not isinstance(epsilon, float):
        return None
    x = torch.randn(2, 3, len(weight), generator=torch.Generator().manual_seed(0))
    normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
    with torch.no_grad():
        found = module(x).float()
        for scale in (weight.float(), 1 + weight.float()):
            if torch.allclose(found, normed * scale, rtol=1e-5, atol=1e-5):
                return _Norm(scale, epsilon)
    return None


# ---- what is left to do in the graph --------------------------------------------------------------------------------------


def join(model: onnx_ir.Model) -> None:
    """Takes out the turns of heads that undo each other around GroupQueryAttention, and joins each norm with the addition before it."""
    graph = model.graph
    for node in list(graph):
        if node.op_type == "GroupQueryAttention":
            for index in range(3):
                node.replace_input_with(index, _unturned(node.inputs[index]))
            for table, name in zip(node.inputs[7:9], ("cos_cache", "sin_cache"), strict=False):
                if not table.name.startswith(name):
                    table.name = name if name not in graph.initializers else f"{name}.{node.name}"
            _skip_reshapes(node.outputs[0])
    for node in list(graph):
        if node.op_type == "SimplifiedLayerNormalization":
            _join_addition(graph, node)
    _drop_unused(graph)
    model.opset_imports["com.microsoft"] = 1


def _unturned(value: onnx_ir.Value) -> onnx_ir.Value:
    """The (1, new, width) value behind reshape, turn, turn back, reshape; the value itself where there's more between them."""
    node, turned, found = value.producer(), False, value
    while node is not None and node.op_type in ("Reshape", "Identity", "Transpose"):
        if node.op_type == "Transpose":
            if list(node.attributes["perm"].as_ints()) != [0, 2, 1, 3]:
                break
            turned = not turned
        source = node.inputs[0]
        if not turned and source.shape is not None and len(source.shape) == 3 and source.shape[2] == value.shape[2]:
            found = source
        node = source.producer()
    return found


def _skip_reshapes(value: onnx_ir.Value) -> None:
    """What only reshapes an attention's output back to (1, new, width) is taken out."""
    for user, _ in list(value.uses()):
        for last in _chain(user, "Reshape"):
            out = last.outputs[0]
            if out.shape is not None and len(out.shape) == 3 and out.shape[2] == value.shape[2]:
                out.replace_all_uses_with(value)


def _chain(node: onnx_ir.Node, op_type: str) -> Iterator[onnx_ir.Node]:
    if node.op_type == op_type:
        yield node
        for user, _ in list(node.outputs[0].uses()):
            yield from _chain(user, op_type)


def _join_addition(graph: onnx_ir.Graph, norm: onnx_ir.Node) -> None:
    added, weight = norm.inputs[:2]
    addition = added.producer()
    if addition is None or addition.op_type != "Add" or added.is_graph_output():
        return
    a, b = addition.inputs
    if any(x is None or x.shape is None or x.const_value is not None or list(x.shape) != list(added.shape) for x in (a, b)):
        return
    joined = onnx_ir.node(
        "SkipSimplifiedLayerNormalization",
        inputs=[a, b, weight],
        attributes={"epsilon": norm.attributes["epsilon"].as_float()},
        domain="com.microsoft",
        num_outputs=4,
        name=f"{norm.name}.joined",
    )
    for index, old in ((0, norm.outputs[0]), (3, added)):
        new = joined.outputs[index]
        new.shape, new.type, new.name = old.shape, old.type, f"{old.name}.joined"
        old.replace_all_uses_with(new)
    for index in (1, 2):  # mean and deviation, which inference doesn't need
        joined.outputs[index].name = ""
    graph.insert_before(addition, joined)


def _drop_unused(graph: onnx_ir.Graph) -> None:
    for node in reversed(list(graph)):
        if not any(out.uses() or out.is_graph_output() for out in node.outputs):
            graph.remove(node, safe=True)
    used = {value for node in graph.all_nodes() for value in node.inputs}
    for name, value in list(graph.initializers.items()):
        if value not in used:
            del graph.initializers[name]
