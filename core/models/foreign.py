"""Weights quantized by others: what a folder's headers say of them, and the numbers that they stand for.

Covers GPTQ (both zero-point conventions, activation order, 2, 3, 4 and 8 bits), AWQ in its gemm layout, bitsandbytes
(int8; nf4 and fp4, their scales quantized or not), FP8 in blocks, rows or whole tensors ('fp8', 'fbgemm_fp8'), torchao's
safetensors files, and the formats of compressed-tensors that this program doesn't compute with itself (8-bit and 4-bit
floats, activation order). All of it is arithmetic on plain tensors; no library of the format's is needed.

Not covered, and refused with a sentence: layouts made for one kernel (marlin, gemv, torchao's tiles), other codebooks (HQQ,
AQLM, QuIP ...), and pickled checkpoints. GGUF files have a module of their own. What's here is read, never written.

Packed integers lie as one dense stream of bits, lowest first: value i takes the bits from i * bits on, and may cross from
one 32-bit word into the next (3 bits: 32 values in 3 words).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import Tensor

from core.errors import UserError
from core.models import packed, tensors
from core.models.activations import ActivationQuant
from core.models.tensors import TensorInfo
from core.workspace import read_json

NATIVE = ("pack-quantized", "int-quantized", "float-quantized", "naive-quantized", "mixed-precision")  # of compressed-tensors
FLOATS4 = ("nvfp4-pack-quantized", "mxfp4-pack-quantized")
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # which of eight columns lies in each nibble of a word, lowest first (AutoAWQ, WQLinear_GEMM)
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)  # the magnitudes of a 4-bit float: 2 bits of exponent, 1 of mantissa
TORCHAO = ("Float8Tensor", "Int8Tensor", "Int4Tensor", "IntxUnpackedToInt8Tensor")
FLOATS8 = ("F8_E4M3", "F8_E5M2")
OLD_CONFIGS = (("quantize_config.json", "gptq"), ("quant_config.json", "awq"))  # beside config.json, before transformers read it there

# scales of what a layer takes in or gives out: they serve quantized activations, which a dense copy of the weights doesn't have
_ACTIVATIONS = ("input_scale", "output_scale", "input_global_scale", "input_zero_point", "output_zero_point")
_AO = ("qdata", "scale", "zero_point", "act_pre_scale", "scale_and_zero", "per_tensor_scale")

Parts = dict[str, Tensor]  # a module's tensors, by the name that follows its own


# ---- what headers say -----------------------------------------------------------------------------------------------


def stands_for(name: str, info: TensorInfo, found: dict[str, TensorInfo]) -> tuple[int, str] | None:
    """(original parameters that a stored tensor stands for, its storage); None where this module knows nothing of the tensor."""
    stem, _, leaf = name.rpartition(".")
    if leaf == "qweight" and f"{stem}.scales" in found:
        bits = _bits(found, stem)
        return info.numbers * 32 // bits, f"int{bits} packed"
    if leaf == "weight":
        if f"{name}.absmax" in found:  # two numbers a byte, whatever dtype the bytes are stored under
            return info.bytes * 2, "4-bit codes"
        if f"{stem}.SCB" in found:
            return info.numbers, "int8"
    if leaf == "weight_packed" and info.dtype == "U8":
        return info.numbers * 2, "fp4 packed"
    if leaf == "_weight_qdata":
        scale = found.get(f"{stem}._weight_scale")
        # an Int4Tensor keeps its scales turned: (groups, out) beside (out, in / 2)
        halves = scale is not None and scale.shape[:1] != info.shape[:1] and scale.shape[-1:] == info.shape[:1]
        return (info.numbers * 2, "int4 packed") if halves else (info.numbers, info.dtype if info.dtype in FLOATS8 else "int8")
    if is_serving(name, found):
        return 0, info.dtype
    return None


def is_serving(name: str, found: dict[str, TensorInfo]) -> bool:
    """Whether a tensor only serves to read a weight beside it, or to quantize activations."""
    stem, _, leaf = name.rpartition(".")
    if leaf in ("qzeros", "scales", "g_idx"):
        return f"{stem}.qweight" in found
    if leaf in ("SCB", "weight_format", "weight_scale_inv", "weight_global_scale"):
        return any(f"{stem}.{of}" in found for of in ("weight", "weight_packed"))
    if _of_activations(name, found):
        return True
    if leaf.startswith("_weight_") and leaf.removeprefix("_weight_") in _AO[1:]:
        return f"{stem}._weight_qdata" in found
    _, _, rest = name.partition(".weight.")
    return bool(rest) and (rest in ("absmax", "quant_map", "nested_absmax", "nested_quant_map") or rest.startswith("quant_state."))


def _of_activations(name: str, found: dict[str, TensorInfo]) -> bool:
    """Whether a tensor is a scale or zero of what a quantized layer takes in or gives out, or of an attention's cache."""
    stem, _, leaf = name.rpartition(".")
    if leaf in ("k_scale", "v_scale"):
        return any(f"{stem}.{leaf[0]}_proj.{of}" in found for of in ("weight_scale", "weight_packed", "weight_scale_inv"))
    beside = ("weight_scale", "weight_packed", "weight_scale_inv")
    return leaf in _ACTIVATIONS and any(f"{stem}.{of}" in found for of in beside)


def _bits(found: dict[str, TensorInfo], stem: str) -> int:
    """Bits a code of a GPTQ or AWQ weight, from the shapes of its tensors (one model may mix several)."""
    codes, scales, zeros = found[f"{stem}.qweight"], found[f"{stem}.scales"], found.get(f"{stem}.qzeros")
    out = scales.shape[-1]
    if len(codes.shape) == 2 and len(scales.shape) == 2 and zeros is not None and len(zeros.shape) == 2 and out:
        bits = 32 * zeros.shape[1] / out
        if bits in (2, 3, 4, 5, 6, 8):
            return int(bits)
    return 4


def name(settings: dict[str, Any], found: dict[str, TensorInfo] | None = None) -> str | None:
    """'int4 g128 (gptq)' and the like, for the methods whose configuration this module knows; None for the others."""
    method = method_of(settings)
    size = settings.get("group_size", settings.get("q_group_size"))
    group = f" g{size}" if isinstance(size, int) and size > 0 else ""
    if method in ("gptq", "awq"):
        bits = settings.get("bits", settings.get("w_bit", 4))
        return f"int{bits}{group or ' per channel'} ({method})"
    if method == "bitsandbytes":
        if settings.get("load_in_8bit") or settings.get("_load_in_8bit"):
            return "int8 per channel (bitsandbytes)"
        double = " double" if settings.get("bnb_4bit_use_double_quant") else ""
        return f"{settings.get('bnb_4bit_quant_type', 'fp4')}{double} (bitsandbytes)"
    if method == "fp8":
        block = settings.get("weight_block_size")
        return f"fp8 blocks {'×'.join(map(str, block))} (fp8)" if block else "fp8 (fp8)"
    if method == "fbgemm_fp8":
        return "fp8 per channel (fbgemm_fp8)"
    if method == "torchao":
        kinds = {stands_for(n, i, found)[1] for n, i in (found or {}).items() if n.endswith("._weight_qdata")}
        shown = {"int4 packed": "int4", "int8": "int8", "F8_E4M3": "fp8", "F8_E5M2": "fp8"}
        return f"{', '.join(sorted({shown.get(k, k) for k in kinds})) or 'quantized'} (torchao)"
    return None


def settings_of(folder: Path, raw: dict[str, Any]) -> dict[str, Any] | None:
    """The quantization_config of config.json (`raw`), or of the file that AutoGPTQ and AutoAWQ wrote beside it; None for a dense model."""
    own = raw.get("quantization_config")
    if isinstance(own, dict) and own:
        return own
    for file, method in OLD_CONFIGS:
        if (folder / file).is_file():
            return {"quant_method": method} | read_json(folder / file)
    return None


def method_of(settings: dict[str, Any]) -> str:
    """The quantization_config's method. bitsandbytes' old files don't name it."""
    method = str(settings.get("quant_method") or "")
    if not method and (settings.get("load_in_8bit") or settings.get("load_in_4bit")):
        return "bitsandbytes"
    return method


# ---- what can be read -----------------------------------------------------------------------------------------------


def is_native(settings: dict[str, Any], found: dict[str, TensorInfo]) -> bool:
    """Whether the program computes with this format itself: compressed-tensors with integer or float8 weights in static groups.

    Activations are rounded as they come or by one stored scale, or not at all; caches aren't.
    """
    if method_of(settings) != "compressed-tensors" or any(n.endswith(".weight_g_idx") for n in found):
        return False
    groups = list((settings.get("config_groups") or {}).values())
    whole = _sparsity(settings) == "dense" and not settings.get("kv_cache_scheme")
    return whole and bool(groups) and _formats(settings) <= set(NATIVE) and all(map(_plain, groups))


def _plain(group: dict[str, Any]) -> bool:
    weights, inputs = group.get("weights") or {}, group.get("input_activations")
    grids = {"int": ("channel", "group", "tensor"), "float": ("channel", "tensor") if weights.get("num_bits") == 8 else ()}
    known = weights.get("strategy") in grids.get(weights.get("type", "int"), ())
    return known and not group.get("output_activations") and (not inputs or ActivationQuant.from_config(inputs) is not None)


def _sparsity(settings: dict[str, Any]) -> str:
    """How the zeros of a sparse model are left out of its files; 'dense' where they aren't."""
    return (settings.get("sparsity_config") or {}).get("format") or "dense"


def _formats(settings: dict[str, Any]) -> set[Any]:
    return {g.get("format") or settings.get("format") for g in (settings.get("config_groups") or {}).values()}


def quantizes_activations(settings: dict[str, Any]) -> bool:
    """Whether layers also round what they take in, which a dense copy of the weights doesn't do."""
    method = method_of(settings)
    if method == "compressed-tensors":
        groups = (settings.get("config_groups") or {}).values()
        return any(g.get("input_activations") or g.get("output_activations") for g in groups) or bool(settings.get("kv_cache_scheme"))
    if method == "torchao":
        return "Activation" in json.dumps(settings)  # the name of its configuration's class says so
    return method in ("fbgemm_fp8", "fp8")


def why_not(settings: dict[str, Any], found: dict[str, TensorInfo]) -> str | None:
    """The name of the format where it can't be dequantized here; None where it can."""
    method = method_of(settings)
    if method == "gptq":
        layout = gptq_layout(settings)
        return None if layout in ("gptq", "gptq_v2") and _any(found, ".qweight") else f"gptq {layout}".strip()
    if method == "awq":
        layout, bits = awq_layout(settings), settings.get("bits", settings.get("w_bit", 4))
        return None if layout in ("gemm", "exllama") and bits == 4 and _any(found, ".qweight") else f"awq {layout} {bits}-bit"
    if method == "bitsandbytes":
        return None if _any(found, ".weight.absmax") or _any(found, ".SCB") else "bitsandbytes"
    if method in ("fp8", "fbgemm_fp8"):
        return None if _any(found, ".weight_scale_inv") or _any(found, ".weight_scale") else method
    if method == "torchao":
        return None if _any(found, "._weight_qdata") else "torchao"
    if method == "compressed-tensors":
        formats = {str(f) for f in _formats(settings)}
        sparse = _sparsity(settings)
        weights = [g.get("weights") or {} for g in (settings.get("config_groups") or {}).values()]
        fits = all(w.get("num_bits") == (4 if formats & set(FLOATS4) else 8) for w in weights if w.get("type") == "float")
        if formats and formats <= {*NATIVE, *FLOATS4, "mxfp8-quantized"} and sparse == "dense" and fits:
            return None
        return " ".join((method, *sorted(formats), *([sparse] if sparse != "dense" else [])))
    return method or "no method named"


def gptq_layout(settings: dict[str, Any]) -> str:
    layout = str(settings.get("checkpoint_format") or settings.get("format") or "gptq").lower()
    return "marlin" if settings.get("is_marlin_format") else layout


def awq_layout(settings: dict[str, Any]) -> str:
    if settings.get("backend") == "llm-awq":
        return "llm-awq"
    return str(settings.get("version") or settings.get("format") or settings.get("checkpoint_format") or "gemm").lower()


def _any(found: dict[str, TensorInfo], ending: str) -> bool:
    return any(n.endswith(ending) for n in found)


def not_read(model: str, shape: str) -> UserError:
    """The one sentence for every format that isn't read."""
    return UserError(
        "{name} is stored quantized in a way that Spokeshave doesn't read ({format}).",
        hint="Choose its unquantized original, or a copy in compressed-tensors, GPTQ, AWQ (gemm), bitsandbytes, FP8 or GGUF.",
        kind="model",
        name=model,
        format=shape,
    )


# ---- dequantizing ---------------------------------------------------------------------------------------------------


def dense(
    found: dict[str, TensorInfo],
    settings: dict[str, Any],
    dtype: torch.dtype,
    *,
    scheme: Callable[[str], dict[str, Any]],
    module: Callable[[str], Any] = lambda name: None,
    model: str = "The model",
) -> Iterator[tuple[str, Tensor]]:
    """Yields (name, tensor) of the model as if it had never been quantized, weights in `dtype`, one module at a time.

    scheme: the compressed-tensors group of a module, given its name; module: the module of the empty model that has this name
    (None where it isn't known), which tells a transposed weight, and an all-zero bias that the architecture doesn't have.
    model: what it's called in an error. Raises UserError: a format that isn't read, a tensor that's missing or of another shape.
    """
    reason = why_not(settings, found)
    if reason is not None:
        raise not_read(model, reason)
    stems, rest = _modules(found)
    for entry in rest:
        _, tensor = next(tensors.read({entry.name: entry}))
        yield entry.name, tensor.to(dtype) if entry.dtype in ("F64", "F32", "BF16", "F16") else tensor
    described = _torchao_metadata(found) if method_of(settings) == "torchao" else {}
    for stem, entries in stems.items():
        parts = {leaf: next(tensors.read({entry.name: entry}))[1] for leaf, entry in entries.items()}
        bias = parts.pop("bias", None)
        try:
            weight = decode(parts, settings, scheme(stem) if "weight_scale" in parts else {}, described.get(stem, {}))
        except UserError:
            raise
        except (KeyError, ValueError, IndexError, RuntimeError, TypeError) as error:
            raise UserError(
                "The quantized weight {layer} is damaged or of an unknown layout.",
                hint="Download the model again, or choose its unquantized original.",
                kind="model",
                layer=stem,
                detail=repr(error),
            ) from error
        owner = module(stem)
        if owner is not None and type(owner).__name__ == "Conv1D":
            weight = weight.t().contiguous()  # (out, in) -> (in, out)
        yield f"{stem}.weight", weight.to(dtype)
        spare = owner is not None and getattr(owner, "bias", None) is None and bias is not None and not bias.any()
        if bias is not None and not spare:  # AutoGPTQ stores a bias of zeros for every layer, whether the model has one or not
            yield f"{stem}.bias", bias.to(dtype)


def _modules(found: dict[str, TensorInfo]) -> tuple[dict[str, dict[str, TensorInfo]], list[TensorInfo]]:
    """(tensors of each quantized module by the name that follows its own, all others but those of activations)."""
    marks = (".qweight", ".weight_packed", ".weight_scale", ".weight_scale_inv", ".SCB", ".weight.absmax", "._weight_qdata")
    stems: dict[str, dict[str, TensorInfo]] = {n.removesuffix(mark): {} for n in found for mark in marks if n.endswith(mark)}
    rest = []
    for full, entry in found.items():
        stem, _, leaf = full.rpartition(".")
        owner, _, inner = full.partition(".weight.")
        if _of_activations(full, found):
            continue
        if inner and owner in stems:
            stems[owner][f"weight.{inner}"] = entry
        elif stem in stems:
            stems[stem][leaf] = entry
        else:
            rest.append(entry)
    return stems, rest


def decode(parts: Parts, settings: dict[str, Any], group: dict[str, Any], described: dict[str, Any]) -> Tensor:
    """The weight (out, in), float32, of one module's tensors. Raises KeyError, ValueError or RuntimeError where they don't fit."""
    method = method_of(settings)
    if "qweight" in parts:
        return gptq(parts, plus_one=gptq_layout(settings) == "gptq") if method == "gptq" else awq(parts)
    if "weight.absmax" in parts:
        return bitsandbytes4(parts)
    if "SCB" in parts:
        return bitsandbytes8(parts)
    if "_weight_qdata" in parts:
        return torchao({leaf.removeprefix("_weight_"): t for leaf, t in parts.items()}, described)
    if method in ("fp8", "fbgemm_fp8"):
        scale = parts["weight_scale_inv"] if "weight_scale_inv" in parts else parts["weight_scale"]
        return scaled(parts["weight"], scale, settings.get("weight_block_size"))
    return compressed(parts, group.get("weights") or {})


def unpack(words: Tensor, bits: int) -> Tensor:
    """int32 words (n, columns) -> codes (n * 32 / bits, columns), int16, along the dense stream of bits. Raises ValueError."""
    if words.dtype != torch.int32 or bits not in packed.BITS:
        raise ValueError(f"{bits} bits in {words.dtype}")
    shared = math.gcd(bits, 32)
    values, span = 32 // shared, bits // shared  # so many values lie in so many words
    if words.shape[0] % span:
        raise ValueError(f"{words.shape[0]} words hold no whole number of {bits}-bit values")
    mask = (1 << bits) - 1
    out = torch.empty(words.shape[0] // span * values, words.shape[1], dtype=torch.int16)
    for value in range(values):
        word, offset = divmod(value * bits, 32)
        code = (words[word::span] >> offset) & ((1 << min(bits, 32 - offset)) - 1)  # the shift keeps the sign, the mask drops it
        if offset + bits > 32:
            code = code | (words[word + 1 :: span] << (32 - offset))
        out[value::values] = (code & mask).to(torch.int16)
    return out


def gptq(parts: Parts, *, plus_one: bool) -> Tensor:
    """w[o, i] = scale[g, o] * (code[i, o] - zero[g, o]), where g is the group of column i (Frantar et al. 2022; AutoGPTQ's layout).

    qweight (in * bits / 32, out) int32, packed along in; qzeros (groups, out * bits / 32), packed along out; scales (groups, out);
    g_idx (in,). plus_one: the zeros are stored less one, as AutoGPTQ's first format does it.
    """
    words, scales = parts["qweight"], parts["scales"].float()
    groups, out = scales.shape
    bits = 32 * parts["qzeros"].shape[1] // out
    codes = unpack(words, bits)  # (in, out)
    zeros = unpack(parts["qzeros"].t().contiguous(), bits).t()  # (groups, out)
    if plus_one:
        zeros = (zeros + 1) & ((1 << bits) - 1)
    columns = codes.shape[0]
    group = parts.get("g_idx")
    if group is None:
        group = torch.arange(columns) // -(-columns // groups)
    group = group.long()
    if group.shape != (columns,) or zeros.shape != scales.shape or codes.shape[1] != out:
        raise ValueError(f"codes {tuple(codes.shape)}, zeros {tuple(zeros.shape)}, scales {tuple(scales.shape)}, {tuple(group.shape)}")
    return ((codes.float() - zeros.float()[group]) * scales[group]).t().contiguous()


def awq(parts: Parts) -> Tensor:
    """w[o, i] = scale[g, o] * (code[i, o] - zero[g, o]) (Lin et al. 2023; AutoAWQ's gemm layout), 4 bits.

    qweight (in, out / 8) and qzeros (groups, out / 8) int32, eight columns a word in AWQ_ORDER; scales (groups, out).
    """
    scales = parts["scales"].float()
    codes, zeros = _awq_unpack(parts["qweight"]), _awq_unpack(parts["qzeros"])
    if zeros.shape != scales.shape or codes.shape[1] != scales.shape[1] or codes.shape[0] % scales.shape[0]:
        raise ValueError(f"codes {tuple(codes.shape)}, zeros {tuple(zeros.shape)}, scales {tuple(scales.shape)}")
    size = codes.shape[0] // scales.shape[0]
    grouped = codes.float().unflatten(0, (-1, size)) - zeros.float().unsqueeze(1)  # (groups, size, out)
    return (grouped * scales.unsqueeze(1)).flatten(0, 1).t().contiguous()


def _awq_unpack(words: Tensor) -> Tensor:
    """(rows, out / 8) int32 -> (rows, out)."""
    nibbles = unpack(words.t().contiguous(), 4).t().unflatten(1, (-1, 8))  # (rows, out / 8, nibble)
    out = torch.empty_like(nibbles)
    out[..., list(AWQ_ORDER)] = nibbles
    return out.flatten(1)


def bitsandbytes8(parts: Parts) -> Tensor:
    """w = code * SCB / 127, one largest value a row (LLM.int8(), Dettmers et al. 2022). weight (out, in) int8, SCB (out,)."""
    layout = parts.get("weight_format")
    if layout is not None and int(layout) != 0:  # only row-major is stored by any release since 0.40
        raise ValueError(f"weight_format {int(layout)}")
    return parts["weight"].to(torch.int8).float() * (parts["SCB"].float() / 127).unsqueeze(1)


def bitsandbytes4(parts: Parts) -> Tensor:
    """w = quant_map[code] * absmax of its block (QLoRA, Dettmers et al. 2023, section 3), nf4 or fp4.

    Two codes a byte, the first in the upper half, over the flattened weight. Doubly quantized: the absmax of a block is itself a
    code of nested_quant_map, times the nested_absmax of its block of blocks, plus an offset. Sizes are in a small JSON tensor.
    """
    leaf = next(leaf for leaf in parts if leaf.startswith("weight.quant_state."))
    state = json.loads(bytes(parts[leaf].to(torch.uint8).tolist()).decode("utf-8"))
    shape, block = tuple(state["shape"]), int(state["blocksize"])
    raw = parts["weight"].contiguous().view(torch.uint8).flatten()
    codes = torch.stack((raw >> 4, raw & 0xF), 1).flatten()[: math.prod(shape)].long()
    absmax = parts["weight.absmax"].flatten()
    if "weight.nested_absmax" in parts:
        outer = parts["weight.nested_absmax"].float().repeat_interleave(int(state["nested_blocksize"]))[: absmax.numel()]
        absmax = parts["weight.nested_quant_map"].float()[absmax.long()] * outer + float(state["nested_offset"])
    scale = absmax.float().repeat_interleave(block)[: codes.numel()]
    return (parts["weight.quant_map"].float()[codes] * scale).reshape(shape)


def scaled(weight: Tensor, scale: Tensor, block: list[int] | None = None, zero: Tensor | None = None) -> Tensor:
    """w = (code - zero) * scale, one scale for the tensor, a row, a group of columns or a block of rows and columns.

    weight (out, in), integers or 8-bit floats; scale () or (1,), (out,), (out, 1), (out, groups), or (blocks down, blocks across)
    of `block`, whose last row and column may be cut off; uint8 scales are powers of two, stored as exponents less 127's bias.
    """
    rows, columns = weight.shape
    if scale.dtype == torch.uint8:
        scale = torch.exp2(scale.float() - 127)
    x = weight.float()
    spread = _spread(scale.float(), rows, columns, block)
    if zero is not None:
        x = x - _spread(zero.float(), rows, columns, block)
    return x * spread


def _spread(scale: Tensor, rows: int, columns: int, block: list[int] | None) -> Tensor:
    """A scale for every number, or broadcast to it: (1 or rows, 1 or columns)."""
    if scale.numel() == 1:
        return scale.reshape(1, 1)
    if scale.ndim == 1:
        scale = scale.unsqueeze(1)
    if block:
        down, across = (int(n) for n in block)
        if scale.shape != (-(-rows // down), -(-columns // across)):
            raise ValueError(f"scales {tuple(scale.shape)} for {rows} x {columns} in blocks of {down} x {across}")
        return scale.repeat_interleave(down, 0)[:rows].repeat_interleave(across, 1)[:, :columns]
    if scale.shape[0] != rows or columns % scale.shape[1]:
        raise ValueError(f"scales {tuple(scale.shape)} for {rows} x {columns}")
    return scale.repeat_interleave(columns // scale.shape[1], 1) if scale.shape[1] > 1 else scale


def floats4(raw: Tensor) -> Tensor:
    """(rows, n) uint8 -> (rows, 2n) 4-bit floats (sign, 2 bits of exponent, 1 of mantissa), the first in the lower half."""
    codes = torch.stack((raw & 0xF, raw >> 4), -1).flatten(-2).long()
    return torch.tensor([*E2M1, *(-x for x in E2M1)])[codes]


def compressed(parts: Parts, weights: dict[str, Any]) -> Tensor:
    """A weight of compressed-tensors; `weights` is its group's entry of that name."""
    zero = parts.get("weight_zero_point")
    if "weight_packed" not in parts:
        if parts["weight"].dtype not in (torch.int8, torch.uint8, torch.float8_e4m3fn, torch.float8_e5m2):
            return parts["weight"].float()  # stored dense, its scales beside it
        return scaled(parts["weight"], parts["weight_scale"], weights.get("block_structure"), zero)
    if parts["weight_packed"].dtype == torch.uint8:
        scale = parts["weight_scale"]
        if "weight_global_scale" in parts:  # two levels: scale / global scale
            scale = scale.float() / parts["weight_global_scale"].float()
        return scaled(floats4(parts["weight_packed"]), scale)
    order = parts.get("weight_g_idx")
    quant = packed.from_layout({k: v for k, v in parts.items() if k != "weight_g_idx"}, weights)
    if order is None:
        return packed.dequantize(quant, torch.float32)
    x = quant.codes.float()
    if quant.zero is not None:
        x = x - quant.zero.float()[:, order.long()]
    return x * quant.scale.float()[:, order.long()]


def torchao(parts: Parts, described: dict[str, Any]) -> Tensor:
    """A tensor subclass of torchao's, flattened into safetensors; `described` is its entry in the file's metadata. Raises UserError."""
    kind, data = described["_type"], described["_data"]
    if kind not in TORCHAO:
        raise not_read("The model", f"torchao {kind}")
    if parts.get("act_pre_scale") is not None:
        raise not_read("The model", f"torchao {kind} with scaled activations")
    codes, scale, zero = parts["qdata"], parts["scale"], parts.get("zero_point")
    if kind == "Int4Tensor":  # w = code * scale + zero, the code signed; scale and zero (groups, out)
        raw = codes.contiguous().view(torch.uint8)
        signed = torch.stack((raw & 0xF, raw >> 4), -1).flatten(-2).to(torch.int16)  # (out, in)
        signed = torch.where(signed > 7, signed - 16, signed).float()
        scale, zero = scale.float().t(), zero.float().t()
        size = signed.shape[1] // scale.shape[1]
        return signed * scale.repeat_interleave(size, 1) + zero.repeat_interleave(size, 1)
    block = [min(int(b), n) if int(b) > 0 else n for b, n in zip(data["block_size"], codes.shape, strict=True)]
    blocks = tuple(-(-n // b) for n, b in zip(codes.shape, block, strict=True))
    return scaled(codes, scale.reshape(blocks), block, None if zero is None else zero.reshape(blocks))


def _torchao_metadata(found: dict[str, TensorInfo]) -> dict[str, dict[str, Any]]:
    """{module: what the files' metadata says of its weight}."""
    out = {}
    for path in {info.file for info in found.values()}:
        with safe_open(path, framework="pt") as handle:
            for key, value in (handle.metadata() or {}).items():
                if key.endswith(".weight"):
                    try:
                        entry = json.loads(value)
                    except ValueError:
                        continue  # another key that happens to end so; a weight without an entry fails as damaged
                    if isinstance(entry, dict) and entry.get("_type") != "Tensor":
                        out[key.removesuffix(".weight")] = entry
    return out
