"""From a torch model to an ONNX graph: flat inputs and outputs, attention as one node a layer, quantized layers as they are.

Covers decoder-only language models with a key-value cache (`causal`), and encoders and classifiers without one (`encoder`).
Nothing here writes a folder or checks a figure.

torch.export spends its time on symbolic shapes: the cache that grows by a concatenation and the attention that repeats
key-value heads cost more than all the rest of a block. So the cache and the attention are operators of our own (namespace
`spokeshave`): the tracer sees one node with a known shape, and the translation below says which ONNX nodes it becomes.
Grouped-query attention is then a matrix product over (kv heads, group x queries), with nothing repeated.
"""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import onnx_ir
import torch
from onnxscript import opset18 as op
from onnxscript import optimizer
from torch import Tensor, nn
from torch.export import Dim
from transformers import AttentionInterface
from transformers.cache_utils import Cache, DynamicCache, DynamicLayer
from transformers.masking_utils import AttentionMaskInterface, eager_mask

from core.errors import UserError
from core.models.activations import RoundedInputLinear
from core.models.blocks import replace
from core.models.packed import PackedLinear, QuantWeight, dequantize

OPSET = 18
NAME = "spokeshave_onnx"  # of the attention, as transformers knows it

# ---- operators that the tracer sees as one node -----------------------------------------------------------------------


@torch.library.custom_op("spokeshave::grow", mutates_args=())
def grow(past: Tensor, new: Tensor) -> Tensor:
    """(batch, kv heads, past, dim), (batch, kv heads, new, dim) -> (batch, kv heads, past + new, dim)."""
    return torch.cat([past, new], dim=2)


@grow.register_fake
def _(past: Tensor, new: Tensor) -> Tensor:
    batch, heads, length, dim = new.shape
    return new.new_empty((batch, heads, past.shape[2] + length, dim))


@torch.library.custom_op("spokeshave::attend", mutates_args=())
def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, softcap: float) -> Tensor:
    """softmax(query key' * scale + mask) value, with each key-value head serving a group of query heads.

    query (batch, heads, queries, dim); key, value (batch, kv heads, keys, dim); mask additive (batch, 1, queries, keys);
    softcap: scores become softcap * tanh(scores / softcap) before the mask; 0 for none. -> (batch, queries, heads, dim)
    """
    batch, heads, queries, dim = query.shape
    kv_heads = key.shape[1]
    grouped = (query * scale).reshape(batch, kv_heads, -1, dim)  # (batch, kv heads, group * queries, dim)
    scores = (grouped @ key.transpose(2, 3)).reshape(batch, heads, queries, -1)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if mask is not None:
        scores = scores + mask
    weights = scores.softmax(dim=-1).reshape(batch, kv_heads, -1, key.shape[2])
    return (weights @ value).reshape(batch, heads, queries, -1).transpose(1, 2).contiguous()


@attend.register_fake
def _(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float, softcap: float) -> Tensor:
    batch, heads, queries, _ = query.shape
    return query.new_empty((batch, queries, heads, value.shape[3]))


# ---- what they are in ONNX ----------------------------------------------------------------------------------------------


def _onnx_grow(past, new):
    return op.Concat(past, new, axis=2)


def _ints(*values: int):
    return op.Constant(value_ints=list(values))


def _like(value: float, other):
    return op.CastLike(op.Constant(value_float=value), other)


def _onnx_attend(query, key, value, mask, scale, softcap):
    heads, dim = query.shape[1], query.shape[3]
    kv_heads, value_dim = key.shape[1], value.shape[3]
    grouped = heads != kv_heads
    queries = op.Shape(query, start=2, end=3) if mask is None else op.Shape(mask, start=2, end=3)
    query = op.Mul(query, _like(scale, query))
    if grouped:
        query = op.Reshape(query, _ints(0, kv_heads, -1, dim))
    scores = op.MatMul(query, op.Transpose(key, perm=[0, 1, 3, 2]))
    if grouped:
        keys = op.Shape(key, start=2, end=3) if mask is None else op.Shape(mask, start=3, end=4)  # one mask serves all layers
        scores = op.Reshape(scores, op.Concat(_ints(0, heads), queries, keys, axis=0))
    if softcap:
        scores = op.Mul(op.Tanh(op.Div(scores, _like(softcap, scores))), _like(softcap, scores))
    if mask is not None:
        scores = op.Add(scores, mask)
    weights = op.Softmax(scores, axis=-1)
    if grouped:
        weights = op.Reshape(weights, op.Concat(_ints(0, kv_heads, -1), keys, axis=0))
    out = op.MatMul(weights, value)
    if grouped:
        out = op.Reshape(out, _ints(0, heads, -1, value_dim))
    return op.Transpose(out, perm=[0, 2, 1, 3])


TRANSLATION: dict[Callable, Callable] = {
    torch.ops.spokeshave.grow.default: _onnx_grow,
    torch.ops.spokeshave.attend.default: _onnx_attend,
}

# ---- quantized layers ------------------------------------------------------------------------------------------------------
#
# Up to 4 bits: MatMulNBits, which computes from the packed codes and is fast with float32 activations. Above: onnxruntime's 8-bit
# kernel is fast only where it rounds the activations too, which changes the result (measured on SmolLM2: a seventh of the float32
# speed without, 6.6 % of the most likely tokens changed with). So codes are stored as int8 and widened by standard operators,
# which a runtime folds when it loads: the file is small, and the speed (and the memory) that of float32.


def nbits_block(quant: QuantWeight) -> int | None:
    """The block length (a power of two, at least 16) in which MatMulNBits can hold this grid exactly; None where it can't.

    A group of 96 columns becomes three blocks of 32 with the same scale; a whole row becomes blocks of 128 or fewer.
    """
    if quant.bits > 4:
        return None
    if quant.group_size is None:
        return next(size for size in (128, 64, 32, 16) if size == 16 or quant.shape[1] % size == 0)
    return next((size for size in (256, 128, 64, 32, 16) if quant.group_size % size == 0), None)


def pack_nbits(quant: QuantWeight, block: int) -> tuple[Tensor, Tensor, Tensor | None]:
    """(codes, scales, zeros) in the 4-bit layout of MatMulNBits; the same grid, so nothing is rounded.

    codes: uint8 (out, blocks, block / 2), unsigned, lower nibble first; scales: float32 (out * blocks,); zeros: uint8, packed
    along the blocks, None when symmetric (the zero is then 8). Grids of 2 and 3 bits fit as they are. The last block of a row
    is filled up with weights of zero.
    """
    out, columns = quant.shape
    blocks = -(-columns // block)
    repeat = blocks if quant.group_size is None else quant.group_size // block
    scales = quant.scale.float().repeat_interleave(repeat, dim=1)  # (out, blocks)
    zero = None if quant.zero is None else (quant.zero.to(torch.int16) + 8).repeat_interleave(repeat, dim=1)
    fill = torch.full((out, blocks * block), 8, dtype=torch.int16)
    fill[:, :columns] = quant.codes.to(torch.int16) + 8
    if zero is not None and blocks * block > columns:
        fill[:, columns:] = zero[:, -1:]
    zeros = None if zero is None else _nibbles(zero).reshape(-1)
    return _nibbles(fill).reshape(out, blocks, -1), scales.reshape(-1).contiguous(), zeros


def _nibbles(values: Tensor) -> Tensor:
    """(rows, n) values of 0 to 15 -> (rows, ceil(n / 2)) uint8."""
    if values.shape[1] % 2:
        values = torch.cat([values, torch.zeros_like(values[:, :1])], dim=1)
    return (values[:, 0::2] | values[:, 1::2] << 4).to(torch.uint8)


def unpack_nbits(codes: Tensor, scales: Tensor, zeros: Tensor | None, columns: int) -> Tensor:
    """The float32 weight (out, columns) that `pack_nbits` wrote."""
    out, blocks = codes.shape[:2]

    def spread(packed: Tensor) -> Tensor:  # (out, bytes) -> (out, values)
        return torch.stack([packed & 15, packed >> 4], dim=-1).reshape(out, -1).to(torch.int16)

    values = spread(codes.reshape(out, -1)).reshape(out, blocks, -1)
    zero = 8 if zeros is None else spread(zeros.reshape(out, -1))[:, :blocks].unsqueeze(-1)
    weight = (values - zero).float() * scales.reshape(out, blocks, 1)
    return weight.reshape(out, -1)[:, :columns]


class NBitsLinear(nn.Module):
    """A layer of at most 4 bits on its way into the graph, where it's one MatMulNBits node."""

    def __init__(self, quant: QuantWeight, block: int, bias: Tensor | None):
        super().__init__()
        self.out, self.columns = quant.shape
        self.block, self.bias = block, _bias(bias)
        for name, tensor in zip(("codes", "scales", "zeros"), pack_nbits(quant, block), strict=True):
            self.register_buffer(name, tensor)

    def forward(self, x: Tensor) -> Tensor:
        """(..., columns) -> (..., out), for the tracer: outside of an export the result is a tensor of the right shape and no more."""
        inputs = (x, self.codes, self.scales) if self.zeros is None else (x, self.codes, self.scales, self.zeros)
        # accuracy_level 1: activations stay float32, so that the product is exact on the grid
        grid = {"K": self.columns, "N": self.out, "bits": 4, "block_size": self.block, "accuracy_level": 1}
        shape = (*x.shape[:-1], self.out)
        y = torch.onnx.ops.symbolic("com.microsoft::MatMulNBits", inputs, grid, dtype=x.dtype, shape=shape, version=1)
        return y if self.bias is None else y + self.bias


class Int8Linear(nn.Module):
    """A layer whose codes go into the graph as int8, widened there by Cast, Sub and Mul. Takes any grid."""

    def __init__(self, quant: QuantWeight, bias: Tensor | None):
        super().__init__()
        groups = quant.scale.shape[1]
        self.bias = _bias(bias)
        self.register_buffer("codes", quant.codes.unflatten(1, (groups, -1)).contiguous())  # (out, groups, group size)
        self.register_buffer("scales", quant.scale.float().unsqueeze(-1).contiguous())  # (out, groups, 1)
        self.register_buffer("zeros", None if quant.zero is None else quant.zero.unsqueeze(-1).contiguous())

    def forward(self, x: Tensor) -> Tensor:
        weight = self.codes.to(torch.float32)
        if self.zeros is not None:
            weight = weight - self.zeros.to(torch.float32)
        return nn.functional.linear(x, (weight * self.scales).flatten(1), self.bias)


class RoundedInput(nn.Module):
    """A layer whose input goes through its grid of activations first, in the graph as it does in torch."""

    def __init__(self, old: RoundedInputLinear, inner: nn.Module):
        super().__init__()
        self.activation, self.inner = old.activation, inner
        self.register_buffer("scale", old.input_scale)
        self.register_buffer("zero", old.input_zero_point)

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(self.activation.fake(x, self.scale, self.zero))


def _bias(bias: Tensor | None) -> nn.Parameter | None:
    return None if bias is None else nn.Parameter(bias.detach().float(), requires_grad=False)


def unpack_linears(model: nn.Module) -> dict[str, QuantWeight]:
    """Puts a dense float32 Linear with the grid's exact values in place of each PackedLinear; returns the packed weights by name.

    Plain transformers rounds (code - zero) * scale to the scale's dtype for asymmetric grids; here nothing is rounded. A layer
    whose input is rounded keeps that. Raises UserError for weights in float8.
    """
    quants = {}
    for name, module in [(n, m) for n, m in model.named_modules() if isinstance(m, PackedLinear)]:
        if module.kind == "float":
            raise UserError(
                "A model with weights in fp8 can't be exported to ONNX yet.",
                hint="Export the variant before that step, or one with int8 weights.",
                kind="model",
            )
        quant = dataclasses.replace(module.quant, scale=module.quant.scale.float())
        linear = nn.Linear(module.in_features, module.out_features, bias=False, device="meta")
        linear.weight = nn.Parameter(dequantize(quant, torch.float32), requires_grad=False)
        linear.bias = module.bias
        if module.activation is not None:
            linear = RoundedInputLinear(linear, module.activation, module.input_scale, module.input_zero_point)
        replace(model, name, linear)
        quants[name] = quant
    return quants


def pack_linears(model: nn.Module, quants: dict[str, QuantWeight]) -> dict[str, int]:
    """Puts NBitsLinear, or else Int8Linear, where the named layers are; returns how many of each: {'nbits': n, 'int8': n}."""
    made = {"nbits": 0, "int8": 0}
    for name, quant in quants.items():
        old = model.get_submodule(name)
        block, bias = nbits_block(quant), old.bias
        new = Int8Linear(quant, bias) if block is None else NBitsLinear(quant, block, bias)
        replace(model, name, RoundedInput(old, new) if isinstance(old, RoundedInputLinear) else new)
        made["int8" if block is None else "nbits"] += 1
    return made


# ---- attention and cache, as transformers calls them -------------------------------------------------------------------


def _attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, softcap=None, s_aux=None, **_):
    if s_aux is not None:
        raise UserError(
            "This model's attention has sinks, which the ONNX export doesn't write yet.",
            hint="Choose another model.",
            kind="model",
        )
    scale = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
    out = torch.ops.spokeshave.attend(query, key, value, attention_mask, scale, float(softcap or 0.0))
    return out, None


AttentionInterface.register(NAME, _attention)
AttentionMaskInterface.register(NAME, eager_mask)  # additive, and never left out


class _Layer(DynamicLayer):
    """One layer's cache: begun from a graph input, and an output once grown. Sliding layers keep everything; the mask hides it."""

    def __init__(self, key: Tensor, value: Tensor):
        super().__init__()
        self.keys, self.values, self.is_initialized = key, value, True
        self.dtype, self.device = key.dtype, key.device

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        self.keys = torch.ops.spokeshave.grow(self.keys, key_states)
        self.values = torch.ops.spokeshave.grow(self.values, value_states)
        return self.keys, self.values

    def get_seq_length(self) -> int:
        return self.keys.shape[2]


# ---- the graph's signature ----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Signature:
    """Names and axes of what goes in and out. An axis is a name where it's free, a number where it's fixed."""

    inputs: dict[str, tuple[int | str, ...]] = field(default_factory=dict)
    outputs: dict[str, tuple[int | str, ...]] = field(default_factory=dict)


class _Causal(nn.Module):
    def __init__(self, model: nn.Module, layers: int, positions: bool, cache_name: str):
        super().__init__()
        self.model, self.layers, self.positions, self.cache_name = model, layers, positions, cache_name

    def forward(self, input_ids, attention_mask, *rest):
        past = rest[1:] if self.positions else rest
        cache = Cache(layers=[_Layer(past[2 * i], past[2 * i + 1]) for i in range(self.layers)])
        extra = {"position_ids": rest[0]} if self.positions else {}
        out = self.model(input_ids=input_ids, attention_mask=attention_mask, use_cache=True, **{self.cache_name: cache}, **extra)
        return (out.logits, *(state for layer in cache.layers for state in (layer.keys, layer.values)))


class _Encoder(nn.Module):
    def __init__(self, model: nn.Module, names: list[str], output: str, extra: dict[str, Any]):
        super().__init__()
        self.model, self.names, self.output, self.extra = model, names, output, extra

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs, strict=True)), **self.extra)[self.output]


@dataclass(slots=True)
class Plan:
    """A model wrapped for tracing, with the sample that it's traced on."""

    module: nn.Module
    sample: tuple[Tensor, ...]
    signature: Signature
    positions: bool = False


def parameters_of(model: nn.Module) -> set[str]:
    return set(inspect.signature(model.forward).parameters)


def cache_name(model: nn.Module) -> str:
    """The name by which this model takes its key-value cache. Raises UserError for a model without one."""
    accepted = parameters_of(model)
    for name in ("cache", "past_key_values"):
        if name in accepted:
            return name
    raise UserError(
        "{architecture} has no key-value cache, so it can't be exported as a text generator.",
        hint="Choose a decoder-only language model.",
        kind="model",
        architecture=type(model).__name__,
    )


def causal(model: nn.Module) -> Plan:
    """Plan for a decoder with a cache. Every sample axis is at least 2 and no two free axes are equal, so that none becomes fixed.

    Raises UserError where the model keeps something else than keys and values (state-space and linear attention layers).
    """
    name = cache_name(model)
    positions = "position_ids" in parameters_of(model)
    batch, new, past = 2, 3, 5
    ids = torch.arange(batch * new).reshape(batch, new) % model.config.get_text_config().vocab_size
    with torch.no_grad():
        found = DynamicCache(config=model.config)
        model(input_ids=ids, use_cache=True, **{name: found})
    states = [(getattr(layer, "keys", None), getattr(layer, "values", None)) for layer in found.layers]
    if not states or any(k is None or v is None or k.ndim != 4 for k, v in states):
        raise UserError(
            "{architecture} keeps more than keys and values between tokens, which the ONNX export doesn't write yet.",
            hint="Choose a model whose layers are all attention layers.",
            kind="model",
            architecture=type(model).__name__,
        )
    mask = torch.ones(batch, past + new, dtype=torch.int64)
    mask[0, 0] = 0  # a sample without padding would let the tracer drop the mask
    sample = [ids, mask]
    signature = Signature({"input_ids": ("batch", "sequence"), "attention_mask": ("batch", "total")})
    if positions:
        sample.append(torch.arange(past, past + new).repeat(batch, 1))
        signature.inputs["position_ids"] = ("batch", "sequence")
    signature.outputs["logits"] = ("batch", "sequence", model.config.get_text_config().vocab_size)
    for index, pair in enumerate(states):
        for leaf, state in zip(("key", "value"), pair, strict=True):
            _, heads, _, dim = state.shape
            sample.append(torch.zeros(batch, heads, past, dim))
            signature.inputs[f"past_key_values.{index}.{leaf}"] = ("batch", heads, "past", dim)
            signature.outputs[f"present.{index}.{leaf}"] = ("batch", heads, "total", dim)
    return Plan(_Causal(model, len(states), positions, name), tuple(sample), signature, positions)


def encoder(model: nn.Module) -> Plan:
    """Plan for an encoder (-> last_hidden_state) or a classifier (-> logits)."""
    accepted = parameters_of(model)
    batch, length = 2, 5
    sample = {
        "input_ids": torch.arange(batch * length).reshape(batch, length) % model.config.vocab_size,
        "attention_mask": torch.ones(batch, length, dtype=torch.int64),
    }
    sample["attention_mask"][1, -1] = 0
    if "token_type_ids" in accepted and getattr(model.config, "type_vocab_size", 0) > 1:
        sample["token_type_ids"] = torch.zeros(batch, length, dtype=torch.int64)
    extra = {"use_cache": False} if "use_cache" in accepted else {}
    with torch.no_grad():
        out = model(**sample, **extra)
    output = "logits" if "logits" in out else "last_hidden_state"
    shape = tuple(out[output].shape)
    axes = ("batch", "sequence", shape[2]) if len(shape) == 3 else ("batch", *shape[1:])
    signature = Signature(dict.fromkeys(sample, ("batch", "sequence")), {output: axes})
    return Plan(_Encoder(model, list(sample), output, extra), tuple(sample.values()), signature)


# ---- tracing --------------------------------------------------------------------------------------------------------------


@contextmanager
def _our_attention(model: nn.Module) -> Iterator[bool]:
    """Our attention for the time of the trace, where the model lets attention be chosen; yields whether it does."""
    before = model.config._attn_implementation
    chosen = bool(getattr(model, "_supports_attention_backend", False))
    model.set_attn_implementation(NAME if chosen else "eager")
    try:
        yield chosen
    finally:
        model.set_attn_implementation(before)


def capture(model: nn.Module, plan: Plan) -> tuple[torch.export.ExportedProgram, bool]:
    """(the traced program, whether attention went in as one node a layer). Can't be interrupted."""
    free = tuple({i: Dim.DYNAMIC for i, axis in enumerate(axes) if isinstance(axis, str)} for axes in plan.signature.inputs.values())
    fixed = len(inspect.signature(plan.module.forward).parameters) - 1  # those before *rest or *inputs
    shapes = (*free[:fixed], free[fixed:])
    plan.module.eval()
    with warnings.catch_warnings(), _our_attention(model) as chosen, torch.no_grad():
        warnings.simplefilter("ignore")
        return torch.export.export(plan.module, plan.sample, dynamic_shapes=shapes, strict=False), chosen


def convert(program: torch.export.ExportedProgram, plan: Plan) -> onnx_ir.Model:
    """The ONNX model: names as the signature says, constants folded, and no trace of this machine's paths in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.onnx.export(
            program,
            dynamo=True,
            input_names=list(plan.signature.inputs),
            output_names=list(plan.signature.outputs),
            opset_version=OPSET,
            custom_translation_table=TRANSLATION,
            optimize=False,
            verbose=False,
        )
    model = made.model
    # one pass, and shapes not inferred again: the tracer knew them, and inferring them took most of the time
    optimizer.optimize_ir(model, num_iterations=1, onnx_shape_inference=False, should_fold=_should_fold)
    _name_axes(model, plan.signature)
    _tidy(model)
    return model


def _should_fold(node: onnx_ir.Node) -> bool | None:
    """Codes stay codes in the file, however small the layer; None leaves the rest to the optimizer's own rules."""
    codes = node.op_type == "Cast" and node.inputs[0] is not None and node.inputs[0].dtype == onnx_ir.DataType.INT8
    return False if codes else None


def _name_axes(model: onnx_ir.Model, signature: Signature) -> None:
    """Gives the free axes of inputs and outputs their names; an axis that became a number stays one, for the check to find."""
    for values, axes in ((model.graph.inputs, signature.inputs), (model.graph.outputs, signature.outputs)):
        for value in values:
            wanted = axes.get(value.name)
            if wanted is None or value.shape is None or len(wanted) != len(value.shape):
                continue
            value.shape = onnx_ir.Shape(
                [w if isinstance(w, str) and not isinstance(had, int) else had for w, had in zip(wanted, value.shape, strict=True)]
            )


def _tidy(model: onnx_ir.Model) -> None:
    """Drops the stack traces and source names that the tracer notes on every node: they hold local paths, and weigh megabytes."""
    model.metadata_props.clear()
    model.graph.metadata_props.clear()
    model.doc_string = model.graph.doc_string = None
    values = [*model.graph.inputs, *model.graph.outputs, *model.graph.initializers.values()]
    for node in model.graph.all_nodes():
        node.metadata_props.clear()
        node.doc_string = None
        values.extend(node.outputs)
    for value in values:
        value.metadata_props.clear()
        value.doc_string = None
    model.producer_name = "spokeshave"


def narrow_dense(model: onnx_ir.Model, smallest: int = 1 << 16) -> int:
    """Stores float32 initializers as bfloat16 behind a Cast where that loses nothing; returns the bytes saved.

    Runtimes fold the Cast when they load, so speed is that of float32; only the file gets smaller. For quantized variants, whose
    unquantized embedding would otherwise double in the export.
    """
    saved = 0
    for name, value in list(model.graph.initializers.items()):
        tensor = value.const_value
        if tensor is None or tensor.dtype != onnx_ir.DataType.FLOAT or tensor.nbytes < smallest:
            continue
        dense = torch.from_numpy(tensor.numpy().copy())
        narrow = dense.to(torch.bfloat16)
        if not torch.equal(narrow.float(), dense):
            continue
        stored = onnx_ir.Value(
            name=f"{name}.bf16",
            shape=value.shape,
            type=onnx_ir.TensorType(onnx_ir.DataType.BFLOAT16),
            const_value=onnx_ir.Tensor(
                narrow.view(torch.uint16).numpy(), dtype=onnx_ir.DataType.BFLOAT16, shape=tensor.shape, name=f"{name}.bf16"
            ),
        )
        cast = onnx_ir.node("Cast", inputs=[stored], attributes={"to": onnx_ir.DataType.FLOAT}, name=f"widen.{name}")
        out = cast.outputs[0]
        out.name, out.shape, out.type = f"{name}.f32", value.shape, onnx_ir.TensorType(onnx_ir.DataType.FLOAT)
        value.replace_all_uses_with(out)
        del model.graph.initializers[name]
        model.graph.register_initializer(stored)
        model.graph.insert_before(model.graph[0], cast)
        saved += narrow.nbytes
    return saved
