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
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
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
from core.models.packed_embedding import PackedEmbedding, TiedHead

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

    query (batch, heads, queries, dim); key, value (batch, kv heads, keys, dim); mask additive (batch, 1 or heads, queries, keys);
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
# MatMulNBits computes from the packed codes, in two ways. Exactly, with float32 activations: fast up to 4 bits; its 8-bit kernel
# then unpacks the weight anew for each token (measured at 1536 x 1536 on one core: 2.2 ms against float32's 0.10). Or with
# activations rounded to int8 in blocks of 32 or so: 0.03 ms at 4 bits, 0.04 at 8, and no longer exact. So, unless the activations
# may be rounded, codes above 4 bits are stored as int8 and widened by standard operators, which a runtime folds when it loads: the
# file is small, and the speed (and the memory) that of float32.

EXACT, ROUNDED = 1, 4  # accuracy levels of MatMulNBits: activations in float32, in int8


def nbits_block(quant: QuantWeight, widest: int = 4, longest: int = 256) -> int | None:
    """The block length (a power of two, at least 16) in which MatMulNBits can hold this grid exactly; None where it can't.

    widest: bits of the codes that are taken at most; longest: columns a block at most. A group of 96 columns becomes three blocks
    of 32 with the same scale; a whole row becomes blocks of 128 or fewer.
    """
    if quant.bits > widest:
        return None
    if quant.group_size is None:
        return next(size for size in (128, 64, 32, 16) if size <= longest and (size == 16 or quant.shape[1] % size == 0))
    return next((size for size in (256, 128, 64, 32, 16) if size <= longest and quant.group_size % size == 0), None)


def nbits_of(quant: QuantWeight) -> int:
    """Bits that a code takes in MatMulNBits: 4 or 8."""
    return 4 if quant.bits <= 4 else 8


def pack_nbits(quant: QuantWeight, block: int) -> tuple[Tensor, Tensor, Tensor | None]:
    """(codes, scales, zeros) in the layout of MatMulNBits; the same grid, so nothing is rounded.

    codes: uint8 (out, blocks, block * bits / 8), unsigned, lower nibble first; scales: float32 (out * blocks,); zeros: uint8,
    packed along the blocks, None when symmetric (the zero is then 8, or 128). Grids of other bits fit into the next wider ones.
    The last block of a row is filled up with weights of zero.
    """
    out, columns = quant.shape
    blocks = -(-columns // block)
    repeat = blocks if quant.group_size is None else quant.group_size // block
    middle = 1 << (nbits_of(quant) - 1)
    pack = _nibbles if nbits_of(quant) == 4 else lambda values: values.to(torch.uint8)
    scales = quant.scale.float().repeat_interleave(repeat, dim=1)  # (out, blocks)
    zero = None if quant.zero is None else (quant.zero.to(torch.int16) + middle).repeat_interleave(repeat, dim=1)
    fill = torch.full((out, blocks * block), middle, dtype=torch.int16)
    fill[:, :columns] = quant.codes.to(torch.int16) + middle
    if zero is not None and blocks * block > columns:
        fill[:, columns:] = zero[:, -1:]
    zeros = None if zero is None else pack(zero).reshape(-1)
    return pack(fill).reshape(out, blocks, -1), scales.reshape(-1).contiguous(), zeros


def _nibbles(values: Tensor) -> Tensor:
    """(rows, n) values of 0 to 15 -> (rows, ceil(n / 2)) uint8."""
    if values.shape[1] % 2:
        values = torch.cat([values, torch.zeros_like(values[:, :1])], dim=1)
    return (values[:, 0::2] | values[:, 1::2] << 4).to(torch.uint8)


def _spread(packed: Tensor, bits: int) -> Tensor:
    """(..., bytes) of codes -> (..., codes) float32. In arithmetic of float32, which every runtime has; exact for bytes."""
    values = packed.to(torch.float32)
    if bits == 8:
        return values
    high = torch.floor(values / 16)
    return torch.stack([values - 16 * high, high], dim=-1).flatten(-2)


def unpack_nbits(codes: Tensor, scales: Tensor, zeros: Tensor | None, columns: int, bits: int = 4) -> Tensor:
    """The float32 weight (out, columns) that `pack_nbits` wrote."""
    out, blocks = codes.shape[:2]
    zero = float(1 << (bits - 1)) if zeros is None else _spread(zeros.reshape(out, -1), bits)[:, :blocks].unsqueeze(-1)
    weight = (_spread(codes, bits) - zero) * scales.reshape(out, blocks, 1)
    return weight.flatten(1)[:, :columns]


class NBitsLinear(nn.Module):
    """A layer on its way into the graph, where it's one MatMulNBits node."""

    def __init__(self, quant: QuantWeight, block: int, bias: Tensor | None, level: int = EXACT):
        super().__init__()
        self.out, self.columns = quant.shape
        self.block, self.bits, self.level, self.bias = block, nbits_of(quant), level, _bias(bias)
        for name, tensor in zip(("codes", "scales", "zeros"), pack_nbits(quant, block), strict=True):
            self.register_buffer(name, tensor)

    def forward(self, x: Tensor) -> Tensor:
        """(..., columns) -> (..., out), for the tracer: outside of an export the result is a tensor of the right shape and no more."""
        inputs = (x, self.codes, self.scales) if self.zeros is None else (x, self.codes, self.scales, self.zeros)
        grid = {"K": self.columns, "N": self.out, "bits": self.bits, "block_size": self.block, "accuracy_level": self.level}
        shape = (*x.shape[:-1], self.out)
        y = torch.onnx.ops.symbolic("com.microsoft::MatMulNBits", inputs, grid, dtype=x.dtype, shape=shape, version=1)
        return y if self.bias is None else y + self.bias

    def rows(self, ids: Tensor) -> Tensor:
        """(...) row numbers -> (..., columns), exactly what the grid holds."""
        blocks = self.codes.shape[1]
        codes = nn.functional.embedding(ids, self.codes.flatten(1)).unflatten(-1, (blocks, -1))  # (..., blocks, bytes)
        scales = nn.functional.embedding(ids, self.scales.reshape(self.out, blocks)).unsqueeze(-1)
        if self.zeros is None:
            zero = float(1 << (self.bits - 1))
        else:
            zero = _spread(nn.functional.embedding(ids, self.zeros.reshape(self.out, -1)), self.bits)[..., :blocks].unsqueeze(-1)
        return ((_spread(codes, self.bits) - zero) * scales).flatten(-2)[..., : self.columns]


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

    def rows(self, ids: Tensor) -> Tensor:
        """(...) row numbers -> (..., columns), exactly what the grid holds."""
        out, groups, size = self.codes.shape
        take = lambda table: nn.functional.embedding(ids, table.reshape(out, -1)).to(torch.float32)
        values = take(self.codes).unflatten(-1, (groups, size))
        if self.zeros is not None:
            values = values - take(self.zeros).unsqueeze(-1)
        return (values * take(self.scales).unsqueeze(-1)).flatten(-2)


class Rows(nn.Module):
    """A word embedding that reads its rows from a packed layer, which may be the output layer's own. scale: what they're multiplied by."""

    def __init__(self, table: NBitsLinear | Int8Linear, scale: Tensor | None):
        super().__init__()
        self.table = table
        self.register_buffer("scale", scale)

    def forward(self, ids: Tensor) -> Tensor:
        found = self.table.rows(ids)
        return found if self.scale is None else found * self.scale.to(found.dtype)


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


class _Dense(nn.Embedding):
    """An embedding with the grid's exact values. scale: what some models multiply it by (Gemma)."""

    scale: Tensor | None = None

    def forward(self, ids: Tensor) -> Tensor:
        found = super().forward(ids)
        return found if self.scale is None else found * self.scale.to(found.dtype)


def unpack_linears(model: nn.Module) -> dict[str, QuantWeight]:
    """Puts a dense float32 layer with the grid's exact values in place of each packed one; returns the packed weights by name.

    Plain transformers rounds (code - zero) * scale to the scale's dtype for asymmetric grids; here nothing is rounded. A layer
    whose input is rounded keeps that; an output layer that reads the embedding's codes shares its weight. Raises UserError for
    weights in float8.
    """
    quants: dict[str, QuantWeight] = {}
    tied: dict[int, nn.Parameter] = {}  # by the packed embedding
    modules = [(n, m) for n, m in model.named_modules() if isinstance(m, (PackedLinear, PackedEmbedding))]
    for name, module in sorted(modules, key=lambda found: isinstance(found[1], PackedLinear)):  # embeddings first: heads read them
        if module.kind == "float":
            raise UserError(
                "A model with weights in fp8 can't be exported to ONNX yet.",
                hint="Export the variant before that step, or one with int8 weights.",
                kind="model",
            )
        quant = dataclasses.replace(module.quant, scale=module.quant.scale.float())
        if isinstance(module, PackedEmbedding):
            dense: nn.Module = _Dense(module.num_embeddings, module.embedding_dim, device="meta")
            dense.scale = module.embed_scale
            dense.weight = tied[id(module)] = nn.Parameter(dequantize(quant, torch.float32), requires_grad=False)
        else:
            dense = nn.Linear(module.in_features, module.out_features, bias=False, device="meta")
            shared = tied.get(id(module._table)) if isinstance(module, TiedHead) else None
            dense.weight = nn.Parameter(dequantize(quant, torch.float32), requires_grad=False) if shared is None else shared
            dense.bias = module.bias
            if module.activation is not None:
                dense = RoundedInputLinear(dense, module.activation, module.input_scale, module.input_zero_point)
        replace(model, name, dense)
        quants[name] = quant
    return quants


def pack_linears(model: nn.Module, quants: dict[str, QuantWeight], *, rounded: Mapping[str, int] | None = None) -> dict[str, int]:
    """Puts NBitsLinear, or else Int8Linear, where the named layers are; returns how many of each: {'nbits': n, 'int8': n}.

    rounded: the block in which a layer's activations may be rounded to int8, which makes 8 bits fast too (not in layers whose input
    the model rounds itself, and not in those that aren't named).
    An embedding becomes Rows of such a layer: of the output layer where they're tied, which then counts alone.
    """
    made = {"nbits": 0, "int8": 0}
    held: dict[int, nn.Module] = {}  # by the dense weight that was shared
    longest = {id(model.get_submodule(name).weight): block for name, block in (rounded or {}).items()}
    for name, quant in quants.items():
        old = model.get_submodule(name)
        own = isinstance(old, RoundedInputLinear)
        rounds = None if own else longest.get(id(old.weight))
        block = nbits_block(quant, 8, rounds) if rounds else nbits_block(quant)
        bias, shared = getattr(old, "bias", None), None if own else held.get(id(old.weight))
        if shared is not None:  # the output layer, after the embedding
            shared.bias = _bias(bias)
            replace(model, name, shared)
            continue
        level = ROUNDED if rounds else EXACT
        new = Int8Linear(quant, bias) if block is None else NBitsLinear(quant, block, bias, level)
        made["int8" if block is None else "nbits"] += 1
        if isinstance(old, _Dense):
            held[id(old.weight)] = new
            replace(model, name, Rows(new, old.scale))
        else:
            replace(model, name, RoundedInput(old, new) if own else new)
    return made


# ---- attention and cache, as transformers calls them -------------------------------------------------------------------


def _attention(module, query, key, value, attention_mask, scaling=None, dropout=0.0, softcap=None, s_aux=None, position_bias=None, **_):
    if position_bias is not None:  # T5's, (1, heads, queries, keys)
        attention_mask = position_bias if attention_mask is None else attention_mask + position_bias
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


def _mask(*args, **kwargs) -> Tensor:
    """Additive, and never left out. In float16 half of its range, or a row of padding alone would overflow to no number at all."""
    mask = eager_mask(*args, **kwargs)
    return mask.clamp_min(-3e4) if mask.dtype == torch.float16 else mask


AttentionMaskInterface.register(NAME, _mask)


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
    fused: bool = False  # in onnxruntime's own operators (core.export.fused)


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


def cache_states(model: nn.Module) -> list[tuple[Tensor, Tensor]]:
    """Keys and values (1, kv heads, tokens, dim) that each layer keeps of a short text: what the cache is made of.

    Raises UserError where the model keeps something else than keys and values (state-space and linear attention layers).
    """
    ids = torch.arange(3)[None] % model.config.get_text_config().vocab_size
    with torch.no_grad():
        found = DynamicCache(config=model.config)
        model(input_ids=ids, use_cache=True, **{cache_name(model): found})
    states = [(getattr(layer, "keys", None), getattr(layer, "values", None)) for layer in found.layers]
    if not states or any(k is None or v is None or k.ndim != 4 for k, v in states):
        raise UserError(
            "{architecture} keeps more than keys and values between tokens, which the ONNX export doesn't write yet.",
            hint="Choose a model whose layers are all attention layers.",
            kind="model",
            architecture=type(model).__name__,
        )
    return states


def causal(model: nn.Module) -> Plan:
    """Plan for a decoder with a cache. Every sample axis is at least 2 and no two free axes are equal, so that none becomes fixed.

    Raises UserError as `cache_states` does.
    """
    name, states = cache_name(model), cache_states(model)
    positions = "position_ids" in parameters_of(model)
    batch, new, past = 2, 3, 5
    ids = torch.arange(batch * new).reshape(batch, new) % model.config.get_text_config().vocab_size
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
            sample.append(torch.zeros(batch, heads, past, dim, dtype=state.dtype))
            signature.inputs[f"past_key_values.{index}.{leaf}"] = ("batch", heads, "past", dim)
            signature.outputs[f"present.{index}.{leaf}"] = ("batch", heads, "total", dim)
    return Plan(_Causal(model, len(states), positions, name), tuple(sample), signature, positions)


def body(model: nn.Module) -> nn.Module:
    """An encoder without the head that it was taught with, which guesses masked tokens, and without the layer that makes one vector of
    a text: its hidden states need neither."""
    model = model.base_model
    if isinstance(getattr(model, "pooler", None), nn.Module):
        model.pooler = None  # as the classes of transformers take it that are built without one
    return model


def encoder(model: nn.Module) -> Plan:
    """Plan for an encoder (-> last_hidden_state) or a classifier (-> logits). Raises UserError where it takes one text only."""
    if hasattr(model, "score") and getattr(model.config, "pad_token_id", None) is None:  # it looks for each text's last token
        raise UserError(
            "{architecture} names no padding token, so it can't tell where each of several texts ends.",
            hint="Set pad_token_id in config.json, and import the model again.",
            kind="model",
            architecture=type(model).__name__,
        )
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


def capture(
    model: nn.Module, plan: Plan, around: Callable[[nn.Module], AbstractContextManager[bool]] = _our_attention
) -> tuple[torch.export.ExportedProgram, bool]:
    """(the traced program, whether attention went in as one node a layer). Can't be interrupted.

    around: what is replaced in the model for the time of the trace.
    """
    free = tuple({i: Dim.DYNAMIC for i, axis in enumerate(axes) if isinstance(axis, str)} for axes in plan.signature.inputs.values())
    fixed = len(inspect.signature(plan.module.forward).parameters) - 1  # those before *rest or *inputs
    shapes = (*free[:fixed], free[fixed:])
    plan.module.eval()
    with warnings.catch_warnings(), around(model) as chosen, torch.no_grad():
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
    if plan.fused:
        from core.export import fused  # it builds on this module

        fused.join(model)
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
