"""Packed weights: integer codes on a grid, how they're computed with, and how they lie on disk.

A weight row is cut into groups of `group_size` columns (one group a row: per channel); within a group

    weight ≈ (code - zero) * scale        code, zero in [-2^(bits-1), 2^(bits-1) - 1]

which is the convention of compressed-tensors (and, with zero = 0, of symmetric quantization). The record doesn't
say how the codes were chosen: rounding to nearest, GPTQ and others make the same one.

On disk: the layouts of compressed-tensors, 'int-quantized' for 8 bits and 'pack-quantized' below, so that plain
transformers (and vLLM) reads them. Scales are kept in the dtype in which the model is stored: a scale that had
to be rounded on saving would give another model than the one that was measured. Embeddings aren't packed here.

Plain transformers dequantizes in two ways, and a reload is exact only if it's done likewise here. As a rule the
scale is cast to the dtype that the model computes in, and multiplied there. Packed codes with a zero can't be
read that way (its empty model has the zeros unpacked, so their shapes clash); they're marked 'dequantize' in the
config, and then the product is formed in the scale's own dtype and cast afterwards.

Codes may be float8 (e4m3) instead of integers: 'float-quantized'. A layer may round its input too (activations.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import compressed_tensors
import torch
from compressed_tensors.compressors.pack_quantized import pack_to_int32, unpack_from_int32
from torch import nn
from torch.nn import functional as F

from core.errors import UserError
from core.models.activations import ActivationQuant, fp8_product, multiplies_fp8

BITS = (2, 3, 4, 5, 6, 8)


@dataclass(frozen=True, slots=True)
class QuantWeight:
    """One quantized weight of shape (out, in).

    scale: (out, groups), floating; zero: (out, groups) int8, None when symmetric; codes: (out, in) int8, signed;
    group_size: columns a group, None for one group a row. Codes of float8 (8 bits, symmetric) are points themselves.
    """

    bits: int
    group_size: int | None
    symmetric: bool
    scale: torch.Tensor
    zero: torch.Tensor | None
    codes: torch.Tensor

    @property
    def shape(self) -> torch.Size:
        return self.codes.shape

    @property
    def kind(self) -> str:
        """'int', or 'float' where the codes are float8."""
        return "float" if self.codes.is_floating_point() else "int"


def code_range(bits: int) -> tuple[int, int]:
    """Smallest and largest code."""
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def fitting_group(columns: int | Iterable[int], wanted: int | None) -> int | None:
    """`wanted` where it divides the width, or each of several widths, else the largest smaller one that does.

    None (or 0) stays None: per channel. One asymmetric grid below 8 bits has to serve the whole model: give all widths.
    """
    if not wanted:
        return None
    widths = [columns] if isinstance(columns, int) else list(columns)
    return next(size for size in range(min(wanted, *widths), 0, -1) if all(width % size == 0 for width in widths))


def grid(
    low: torch.Tensor, high: torch.Tensor, bits: int, symmetric: bool, scale_dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Scale and zero for values between `low` and `high` (tensors of any one shape, float32).

    The range is widened to hold 0, so that 0 stays 0 exactly. Symmetric: the larger of |low|, |high| lands half a
    step inside the grid's end, (2^bits - 1)/2 steps from 0, which wastes no code. The scale is rounded to
    `scale_dtype` before the zero is found from it. An all-zero group gets scale 1.
    """
    bottom, top = code_range(bits)
    low, high = low.clamp(max=0).float(), high.clamp(min=0).float()
    span = 2 * torch.maximum(-low, high) if symmetric else high - low
    scale = (span / (top - bottom)).to(scale_dtype)
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    if symmetric:
        return scale, None
    zero = (bottom - low / scale.float()).round().clamp(bottom, top).to(torch.int8)
    return scale, zero


def encode(weight: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor | None, bits: int) -> torch.Tensor:
    """Nearest codes, int8, of weight (out, in) on the grid of scale and zero (out, groups)."""
    bottom, top = code_range(bits)
    groups = scale.shape[-1]
    x = weight.float().unflatten(-1, (groups, -1)) / scale.float().unsqueeze(-1)  # (out, groups, group_size)
    if zero is not None:
        x = x + zero.unsqueeze(-1)
    return x.round_().clamp_(bottom, top).to(torch.int8).flatten(-2)


def quantize(
    weight: torch.Tensor,
    bits: int,
    group_size: int | None = None,
    symmetric: bool = True,
    *,
    scale_dtype: torch.dtype | None = None,
    low: torch.Tensor | None = None,
    high: torch.Tensor | None = None,
) -> QuantWeight:
    """Rounds weight (out, in) to the nearest grid point.

    low, high: (out, groups) ends of the range where it isn't the smallest and largest weight of each group (clipping);
    scale_dtype: of the scales, the weight's own dtype by default: pass the dtype in which the model is stored.
    Raises ValueError where the group doesn't divide the width: choose it by `fitting_group` and say so.
    """
    if bits not in BITS:
        raise ValueError(f"{bits} bits can't be packed; {BITS} can")
    columns = weight.shape[-1]
    if group_size is not None and columns % group_size:
        raise ValueError(f"a group of {group_size} doesn't divide {columns} columns")
    grouped = weight.detach().float().unflatten(-1, (-1, group_size or columns))  # (out, groups, group_size)
    low = grouped.amin(-1) if low is None else low
    high = grouped.amax(-1) if high is None else high
    scale, zero = grid(low, high, bits, symmetric, scale_dtype or weight.dtype)
    return QuantWeight(bits, group_size, symmetric, scale, zero, encode(weight.detach(), scale, zero, bits))


def dequantize(quant: QuantWeight, dtype: torch.dtype | None = None) -> torch.Tensor:
    """The weight (out, in) that the codes stand for, in `dtype` (the scale's own by default), bit for bit as a reload gives it."""
    dtype = dtype or quant.scale.dtype
    scale = quant.scale if dequantized_on_load(quant.bits, quant.symmetric) else quant.scale.to(dtype)
    x = quant.codes.to(scale.dtype).unflatten(-1, (scale.shape[-1], -1))  # (out, groups, group_size)
    if quant.zero is not None:
        x = x - quant.zero.to(scale.dtype).unsqueeze(-1)
    return (x * scale.unsqueeze(-1)).flatten(-2).to(dtype)


def dequantized_on_load(bits: int, symmetric: bool) -> bool:
    """Whether plain transformers must dequantize this grid while loading, rather than at the first forward."""
    return bits < 8 and not symmetric


def pack(codes: torch.Tensor, bits: int, dim: int = 1) -> torch.Tensor:
    """int8 codes (rows, columns) -> int32 words, dense along `dim`: ceil(n * bits / 32) words."""
    return pack_to_int32(codes, bits, packed_dim=dim)


def unpack(words: torch.Tensor, bits: int, shape: tuple[int, int], dim: int = 1) -> torch.Tensor:
    """The inverse of `pack`: int8 codes of `shape`."""
    if dim == 0:
        # turned here by a true copy: compressed-tensors' own turn leaves strides that it can't view when there is one word a column
        turned = words.t().clone(memory_format=torch.contiguous_format)
        return unpack_from_int32(turned, bits, torch.Size(shape[::-1])).t().contiguous()
    return unpack_from_int32(words, bits, torch.Size(shape)).contiguous()


class PackedLinear(nn.Module):
    """A linear layer whose weight stays packed; a forward dequantizes it, multiplies, and lets the dense copy go.

    `weight` is a dequantized copy: writing into it changes nothing. The scale keeps its dtype when the model is cast.
    """

    def __init__(
        self,
        quant: QuantWeight,
        bias: torch.Tensor | None = None,
        dtype: torch.dtype | None = None,
        *,
        activation: ActivationQuant | None = None,
        input_scale: torch.Tensor | None = None,
        input_zero_point: torch.Tensor | None = None,
    ):
        """dtype: to compute in, the scale's own by default. activation: how the input is rounded; with its scale and zero if static."""
        super().__init__()
        self.bits, self.group_size, self.symmetric, self.kind = quant.bits, quant.group_size, quant.symmetric, quant.kind
        self.activation = activation
        self.out_features, self.in_features = quant.shape
        if quant.bits == 8:
            self.register_buffer("weight_codes", quant.codes)  # (out, in) int8
        else:
            self.register_buffer("weight_packed", pack(quant.codes, quant.bits))  # (out, ceil(in * bits / 32)) int32
        self.register_buffer("weight_scale", quant.scale)  # (out, groups)
        self.register_buffer("weight_zero_point", quant.zero)  # (out, groups) int8, or None
        self.register_buffer("input_scale", input_scale)  # (1,), None where the scale comes from each token
        self.register_buffer("input_zero_point", input_zero_point)  # (1,) int8
        self.register_buffer("_like", torch.empty(0, dtype=dtype or quant.scale.dtype, device=quant.scale.device), persistent=False)
        self.bias = None if bias is None else nn.Parameter(bias.detach(), requires_grad=False)

    def _apply(self, fn, recurse=True):
        kept = {name: buffer for name, buffer in self._buffers.items() if buffer is not None and name != "_like"}
        super()._apply(fn, recurse)
        for name, buffer in kept.items():  # scales and float8 codes
            self._buffers[name] = buffer.to(self._buffers[name].device)
        return self

    @property
    def dtype(self) -> torch.dtype:
        return self._like.dtype

    @classmethod
    def from_linear(cls, linear: nn.Module, quant: QuantWeight, **rounding: Any) -> PackedLinear:
        """In place of `linear`, with its bias and its dtype to compute in; rounding: activation, input_scale, input_zero_point.

        Raises UserError for what isn't a torch Linear (GPT-2's Conv1D): compressed-tensors has no layout for it.
        """
        if not isinstance(linear, nn.Linear):
            raise UserError(
                "A {layer} layer can't be stored packed: no format that plain transformers reads has it.",
                hint="Leave these layers out, or choose a model with Linear layers.",
                kind="model",
                layer=type(linear).__name__,
            )
        if tuple(quant.shape) != tuple(linear.weight.shape):
            raise ValueError(f"codes of shape {tuple(quant.shape)} don't fit a weight of shape {tuple(linear.weight.shape)}")
        return cls(quant, linear.bias, linear.weight.dtype, **rounding)

    @property
    def quant(self) -> QuantWeight:
        codes = self.weight_codes if self.bits == 8 else unpack(self.weight_packed, self.bits, (self.out_features, self.in_features))
        return QuantWeight(self.bits, self.group_size, self.symmetric, self.weight_scale, self.weight_zero_point, codes)

    @property
    def weight(self) -> torch.Tensor:
        return dequantize(self.quant, self.dtype)

    def rounded(self, x: torch.Tensor) -> torch.Tensor:
        """The input as the layer sees it: on its activations' grid, where it has one."""
        return x if self.activation is None else self.activation.fake(x, self.input_scale, self.input_zero_point)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self._in_fp8(x):
            return fp8_product(x, self.weight_codes, self.weight_scale, self.bias)
        return F.linear(self.rounded(x), self.weight, self.bias)  # (..., in) -> (..., out)

    def _in_fp8(self, x: torch.Tensor) -> bool:
        """Whether to multiply in float8: weights and inputs are, token by token, and the device has such products of these widths."""
        if self.kind != "float" or self.activation is None or not self.activation.dynamic or x.ndim != 3:
            return False
        return self.in_features % 16 == 0 and self.out_features % 16 == 0 and self.weight_scale.shape[1] == 1 and multiplies_fp8(x.device)

    def extra_repr(self) -> str:
        grid = f"group {self.group_size}" if self.group_size else "per channel"
        symmetry = "symmetric" if self.symmetric else "asymmetric"
        bits = f"{self.bits} bits" if self.kind == "int" else f"float{self.bits}"
        rounding = f", input {self.activation.name}" if self.activation else ""
        return f"in={self.in_features}, out={self.out_features}, {bits}, {grid}, {symmetry}{rounding}"


# ---- compressed-tensors' layout -----------------------------------------------------------------------------------


def to_layout(quant: QuantWeight, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The tensors that stand for the weight on disk, by the name that follows the module's ('weight_packed' ...).

    dtype: in which the model is stored. Raises ValueError where the scale can't be held in it without rounding.
    """
    scale = quant.scale.to(dtype)
    if not torch.equal(scale.to(quant.scale.dtype), quant.scale):
        raise ValueError(f"the scale was computed in {quant.scale.dtype} and can't be stored in {dtype}: quantize with scale_dtype={dtype}")
    out = {"weight_scale": scale.contiguous()}
    if quant.bits == 8:
        out["weight"] = quant.codes.contiguous()
        if quant.zero is not None:
            out["weight_zero_point"] = quant.zero.contiguous()
        return out
    out["weight_packed"] = pack(quant.codes, quant.bits)
    out["weight_shape"] = torch.tensor(quant.shape, dtype=torch.int64)
    if quant.zero is not None:
        out["weight_zero_point"] = pack(quant.zero, quant.bits, dim=0)
    return out


def from_layout(tensors: dict[str, torch.Tensor], weights: dict[str, Any]) -> QuantWeight:
    """The inverse of `to_layout`; `weights` is the group's 'weights' entry of the quantization_config.

    Raises UserError where the tensors don't fit one another.
    """
    bits, symmetric = int(weights["num_bits"]), bool(weights.get("symmetric", True))
    group_size = weights.get("group_size") if weights.get("strategy") == "group" else None
    scale = tensors["weight_scale"]
    scale = scale.reshape(-1, 1) if scale.ndim < 2 else scale
    try:
        if "weight_packed" in tensors:
            shape = tuple(int(n) for n in tensors["weight_shape"])
            codes = unpack(tensors["weight_packed"], bits, shape)
            zero = None if symmetric else unpack(tensors["weight_zero_point"], bits, (shape[0], scale.shape[-1]), dim=0)
        else:
            codes = tensors["weight"] if weights.get("type") == "float" else tensors["weight"].to(torch.int8)
            zero = None if symmetric else tensors["weight_zero_point"].to(torch.int8).reshape(scale.shape)
        scale = scale.expand(codes.shape[0], -1)  # one scale a tensor -> one a row
        if codes.shape[-1] % scale.shape[-1] or (group_size and codes.shape[-1] != scale.shape[-1] * group_size):
            raise ValueError(f"{scale.shape[-1]} scales a row don't fit {codes.shape[-1]} columns")
    except (KeyError, ValueError, RuntimeError) as error:
        raise UserError(
            "A packed weight in this model is damaged or of an unknown layout.",
            hint="Download or make it again.",
            kind="model",
            detail=repr(error),
        ) from error
    return QuantWeight(bits, group_size, symmetric, scale, zero, codes)


def quantization_config(modules: dict[str, PackedLinear], dense: list[str], embedding: str | None = None) -> dict[str, Any]:
    """The config.json entry for these packed modules; `dense` names the Linear modules that stayed dense.

    embedding: the name of the one among `modules` that is an embedding (packed_embedding.PackedEmbedding).

    Modules on the same grid share a group. Where there's one group it targets the class Linear, with the dense
    ones ignored; otherwise each group lists its modules. Raises UserError where plain transformers couldn't read
    such a mixture.
    """
    groups: dict[tuple, list[str]] = {}
    for name, module in modules.items():
        groups.setdefault((module.bits, module.group_size, module.symmetric, module.kind, module.activation), []).append(name)
    on_load = any(dequantized_on_load(bits, symmetric) for bits, _, symmetric, _, _ in groups)
    if on_load and any(activation for *_, activation in groups):
        raise UserError(
            "Asymmetric grids below 8 bits can't be joined with quantized activations: plain transformers would leave the activations out.",
            hint="Use a symmetric grid for the weights, or leave the activations alone.",
            kind="model",
        )
    if on_load and len(groups) > 1:
        raise UserError(
            "Asymmetric grids below 8 bits can't be mixed with others in one model: plain transformers would read them wrongly.",
            hint="Use symmetric grids, or one asymmetric grid whose group size divides the width of every layer.",
            kind="model",
        )
    config_groups = {}
    formats = {_format(bits, kind) for bits, _, _, kind, _ in groups}
    for index, ((bits, group_size, symmetric, kind, activation), names) in enumerate(sorted(groups.items(), key=lambda item: str(item[0]))):
        config_groups[f"group_{index}"] = {
            "targets": ["Linear", *(n for n in names if n == embedding)] if len(groups) == 1 else sorted(names),
            "weights": {
                "num_bits": bits,
                "type": kind,
                "symmetric": symmetric,
                "strategy": "group" if group_size else "channel",
                "group_size": group_size,
                "dynamic": False,
                "actorder": None,
                "block_structure": None,
                "observer": "minmax",
                "observer_kwargs": {},
            },
            "input_activations": activation.config() if activation else None,
            "output_activations": None,
            "format": _format(bits, kind),
        }
    config = {
        "quant_method": "compressed-tensors",
        "version": compressed_tensors.__version__,
        "quantization_status": "compressed",
        "format": formats.pop() if len(formats) == 1 else "mixed-precision",
        "config_groups": config_groups,
        "ignore": sorted(dense),
        "kv_cache_scheme": None,
        "global_compression_ratio": None,
    }
    return config | {"dequantize": True} if on_load else config


def _format(bits: int, kind: str) -> str:
    if kind == "float":
        return "float-quantized"
    return "int-quantized" if bits == 8 else "pack-quantized"
