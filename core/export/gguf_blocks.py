"""Blocks of GGUF: rows of numbers as its quantized types store them, from floats or from codes that are there already.

Covers q8_0, q4_0, q4_1, q5_0 and q5_1 from an existing grid whose groups are made of whole blocks (the codes are kept, only
scales go to half precision), q4_k from floats, and the rest through the gguf package. The layouts are ggml's (ggml-quants.c):

    q8_0   d · code                      32 columns: d, 32 signed bytes
    q4_0   d · (code - 8)                32 columns: d, 16 bytes, column i in the lower half of byte i, i + 16 in the upper
    q4_1   d · code + m                  32 columns: d, m, 16 bytes
    q5_0   d · (code - 16)               32 columns: d, 32 fifth bits, 16 bytes
    q5_1   d · code + m                  32 columns: d, m, 32 fifth bits, 16 bytes
    q4_k   d · s_j · code - d_min · m_j  256 columns in 8 runs of 32: d, d_min, 12 bytes of 6-bit s_j and m_j, 128 bytes

d, m and d_min are half precision.
"""

from __future__ import annotations

import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from gguf import quants
from torch import Tensor

from core.models.packed import QuantWeight, code_range

RUN, SUPER = 32, 256  # columns of a block, and of a block of k-quants
ROUNDING = 2.0**-10  # a scale may move by this share when it goes to half precision; more means that it fell out of its range
STEPS = 20  # scales tried for each run of q4_k
ROWS = 1 << 21  # numbers of q4_k worked on at a time
PACKAGE = (Type.F32, Type.F16, Type.BF16, Type.Q8_0, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1)


def row_bytes(columns: int, kind: Type) -> int:
    """Bytes of a row. Raises ValueError where its width isn't a whole number of blocks."""
    block, size = _sizes(kind)
    if columns % block:
        raise ValueError(f"{columns} columns aren't a whole number of {kind.name} blocks of {block}")
    return columns // block * size


def _sizes(kind: Type) -> tuple[int, int]:
    from gguf.constants import GGML_QUANT_SIZES

    return GGML_QUANT_SIZES[kind]


def fits(columns: int, kind: Type) -> bool:
    """Whether rows of this width can be stored in this type."""
    return columns % _sizes(kind)[0] == 0


def quantize(weight: Tensor, kind: Type) -> np.ndarray:
    """weight (rows, columns), float -> (rows, bytes) uint8, or the numbers themselves in F32 and F16."""
    if kind == Type.Q4_K:
        return q4_k(weight.float())
    if kind not in PACKAGE:
        raise ValueError(f"{kind.name} isn't written here")
    return quants.quantize(np.ascontiguousarray(weight.detach().float().numpy()), kind)


def dequantize(data: np.ndarray, kind: Type) -> Tensor:
    """The float32 numbers (rows, columns) that stored rows stand for, by the gguf package: what a reader sees."""
    if kind == Type.F32:
        return torch.from_numpy(np.asarray(data, np.float32))
    if kind == Type.F16:
        return torch.from_numpy(np.asarray(data, np.float16).astype(np.float32))
    return torch.from_numpy(np.array(quants.dequantize(data, kind), np.float32))


# ---- from a grid that is there already --------------------------------------------------------------------------------


def own_type(quant: QuantWeight) -> Type | None:
    """The smallest type that holds a weight's own codes; None where none does and it has to be quantized again.

    Its groups have to be made of whole blocks of 32 columns, its scales must be numbers of half precision's range.
    """
    columns = quant.shape[-1]
    size = columns // quant.scale.shape[-1]
    if quant.kind != "int" or columns % RUN or size % RUN or not _half(quant.scale):
        return None
    if quant.zero is None:
        return Type.Q4_0 if quant.bits <= 4 else Type.Q5_0 if quant.bits == 5 else Type.Q8_0
    if quant.bits <= 5:
        return Type.Q4_1 if quant.bits <= 4 else Type.Q5_1
    return Type.Q8_0 if _signed(quant) else None


def holds(quant: QuantWeight, kind: Type) -> bool:
    """Whether `kind` can hold the weight's own codes."""
    own = own_type(quant)
    if own is None or own == kind:
        return own == kind and own is not None
    # bytes hold every code that's signed around 0: those of a symmetric grid, or with the zero taken off
    return kind == Type.Q8_0 and _signed(quant)


def _half(scale: Tensor) -> bool:
    scale = scale.float()
    return bool(((scale.half().float() - scale).abs() <= ROUNDING * scale.abs()).all())


def _signed(quant: QuantWeight) -> bool:
    codes = _around_zero(quant)
    return bool(codes.min() >= -128 and codes.max() <= 127)


def _around_zero(quant: QuantWeight) -> Tensor:
    """The codes less their zeros, (out, groups, size) int16."""
    codes = quant.codes.to(torch.int16).unflatten(-1, (quant.scale.shape[-1], -1))
    return codes if quant.zero is None else codes - quant.zero.to(torch.int16).unsqueeze(-1)


def keep(quant: QuantWeight, kind: Type) -> np.ndarray:
    """(rows, bytes) uint8 of a weight's own codes in a type that `holds` them."""
    rows, columns = quant.shape
    size = columns // quant.scale.shape[-1]
    blocks = columns // RUN
    spread = lambda t: t.repeat_interleave(size // RUN, 1).numpy()  # (rows, groups) -> (rows, blocks)
    scale = spread(quant.scale.float())
    if kind in (Type.Q8_0, Type.Q4_0, Type.Q5_0):
        codes = _around_zero(quant).reshape(rows, blocks, RUN).numpy()
        if kind == Type.Q8_0:
            return _joined(scale.astype(np.float16), body=codes.astype(np.int8).view(np.uint8))
        return _nibbles(codes + (8 if kind == Type.Q4_0 else 16), scale, None, five=kind == Type.Q5_0)
    bottom, _ = code_range(quant.bits)
    codes = (quant.codes.to(torch.int16) - bottom).reshape(rows, blocks, RUN).numpy()
    low = spread(quant.scale.float() * (bottom - quant.zero.float()))  # what the lowest code stands for
    return _nibbles(codes, scale, low, five=kind == Type.Q5_1)


def _nibbles(codes: np.ndarray, scale: np.ndarray, low: np.ndarray | None, *, five: bool) -> np.ndarray:
    """codes (rows, blocks, 32), not negative; scale and low (rows, blocks)."""
    codes = codes.astype(np.uint8)
    halves = [scale.astype(np.float16)] + ([] if low is None else [low.astype(np.float16)])
    body = (codes[..., :16] & 15) | ((codes[..., 16:] & 15) << 4)
    if five:
        body = np.concatenate((np.packbits(codes >> 4, axis=-1, bitorder="little"), body), -1)
    return _joined(*halves, body=body)


def _joined(*halves: np.ndarray, body: np.ndarray) -> np.ndarray:
    """Half-precision numbers (rows, blocks), then the bytes (rows, blocks, n), as rows of bytes."""
    heads = [np.ascontiguousarray(h)[..., None].view(np.uint8) for h in halves]
    return np.concatenate((*heads, body), -1).reshape(body.shape[0], -1)


# ---- q4_k ---------------------------------------------------------------------------------------------------------------


def q4_k(weight: Tensor) -> np.ndarray:
    """weight (rows, columns) float32, columns a multiple of 256 -> (rows, bytes).

    Each run of 32 gets the scale and minimum, out of STEPS ranges tried, that fit it best in least squares, large weights
    counting more (as ggml weighs them: the root mean square of the run plus |w|). Both are then rounded to 6 bits of the
    block's largest, and the codes found anew.
    """
    columns = weight.shape[1]
    if columns % SUPER:
        raise ValueError(f"{columns} columns aren't a whole number of Q4_K blocks of {SUPER}")
    step = max(1, ROWS // columns)
    return np.concatenate([_q4_k(part) for part in weight.detach().split(step)])


def _q4_k(weight: Tensor) -> np.ndarray:
    x = weight.unflatten(-1, (-1, 8, RUN))  # (rows, blocks, runs, 32)
    scale, low = _fitted(x)
    # 6 bits each, as shares of the block's largest
    d = (scale.amax(-1, keepdim=True) / 63).half().float()
    d_min = (low.amax(-1, keepdim=True) / 63).half().float()
    s = _share(scale, d)
    m = _share(low, d_min)
    step, offset = (d * s).unsqueeze(-1), (d_min * m).unsqueeze(-1)
    codes = torch.where(step > 0, (x + offset) / step.where(step > 0, torch.ones_like(step)), torch.zeros_like(x))
    q = codes.round().clamp(0, 15).to(torch.uint8).numpy()
    s, m = s.to(torch.uint8).numpy(), m.to(torch.uint8).numpy()
    # runs 0-3: six bits in bytes 0-3 and 4-7; of runs 4-7 the low four bits share bytes 8-11, the high two top the others
    head = (s[..., :4] | ((s[..., 4:] >> 4) << 6), m[..., :4] | ((m[..., 4:] >> 4) << 6), (s[..., 4:] & 15) | ((m[..., 4:] & 15) << 4))
    body = (q[..., 0::2, :] | (q[..., 1::2, :] << 4)).reshape(*q.shape[:2], 128)
    halves = [t.squeeze(-1).half().numpy() for t in (d, d_min)]
    return _joined(*halves, body=np.concatenate((*head, body), -1))


def _share(value: Tensor, unit: Tensor) -> Tensor:
    return torch.where(unit > 0, value / unit.where(unit > 0, torch.ones_like(unit)), torch.zeros_like(value)).round().clamp(0, 63)


def _fitted(x: Tensor) -> tuple[Tensor, Tensor]:
    """(scale, low), both (..., runs) and not negative, such that x ≈ scale · code - low with codes 0 ... 15."""
    weigh = x.square().mean(-1, keepdim=True).sqrt() + x.abs()
    bottom, top = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True)
    span = (top - bottom).clamp(min=0)
    total, first = weigh.sum(-1, keepdim=True), (weigh * x).sum(-1, keepdim=True)
    best = torch.full_like(span, torch.inf)
    scale, low = span / 15, -bottom
    safe = span.where(span > 0, torch.ones_like(span))
    for step in range(-1, STEPS):
        codes = ((x - bottom) * ((15 if step < 0 else 14 + 2 * step / (STEPS - 1)) / safe)).round().clamp(0, 15)
        a, b, c = (weigh * codes).sum(-1, keepdim=True), (weigh * codes.square()).sum(-1, keepdim=True), (weigh * codes * x)
        c = c.sum(-1, keepdim=True)
        det = total * b - a * a
        # least squares of x = s · code - m; where the best m would be below 0, the best s without one
        s = torch.where(det > 0, (total * c - first * a) / det, span / 15)
        m = torch.where(det > 0, (a * c - b * first) / det, -bottom)
        alone = torch.where(b > 0, c / b.where(b > 0, torch.ones_like(b)), span / 15)
        s, m = torch.where(m < 0, alone, s).clamp(min=0), m.clamp(min=0)
        error = (weigh * (s * codes - m - x).square()).sum(-1, keepdim=True)
        better = error < best
        best, scale, low = torch.where(better, error, best), torch.where(better, s, scale), torch.where(better, m, low)
    return scale.squeeze(-1), low.squeeze(-1)
