"""A key-value cache in 8 or 4 bits: each token's keys and values rounded as they're written, and read back as floats.

Every token's vector is cut into groups of neighbours within a head, each with its own smallest value and step (asymmetric, as
in Liu et al., 'KIVI', 2024, section 3, for values). At 4 bits keys and values are rotated by a Hadamard matrix first and back
when they're read (Ashkboos et al., 'QuaRot', 2024, section 3.2): keys have a few channels far larger than the rest, which a
rotation spreads over all. KIVI instead rounds keys by channel, over blocks of tokens; here a token's numbers depend on that
token alone, so that it doesn't matter in how many forwards a text was read, drafted tokens can be taken back exactly, and
speculation stays lossless: what's decoded is the model with this cache, drafted or not. The tokens just fed are read back
rounded, too, for the same reason.

What's kept are codes and two float16 numbers a group. The floats of a layer exist while its attention runs. Doesn't make
attention faster: reading back costs about what the attention itself does.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from core.decode.cache import BufferedLayer, WindowLayer
from core.errors import UserError

Bits = Literal[8, 4]
GROUPS = {8: 64, 4: 32}  # numbers that share a step, at most


class Packed:
    """Vectors (..., tokens, width) as codes (uint8, two to a byte at 4 bits), with smallest value and step (float16) of each group."""

    def __init__(self, codes: Tensor, low: Tensor, step: Tensor, bits: int, width: int, dtype: torch.dtype):
        self.codes, self.low, self.step = codes, low, step  # (..., tokens, bytes), (..., tokens, groups) twice
        self.bits, self.width, self.dtype = bits, width, dtype

    @classmethod
    def of(cls, x: Tensor, bits: Bits) -> Packed:
        width = x.shape[-1]
        groups = width // group_of(width, bits)
        y = rotated(x.float()) if bits == 4 else x.float()
        y = y.unflatten(-1, (groups, -1))  # (..., tokens, groups, size)
        low = y.amin(-1, keepdim=True).clamp(-65504, 65504).half()
        step = ((y.amax(-1, keepdim=True) - low.float()) / ((1 << bits) - 1)).clamp(max=65504).half()
        step = torch.where(step == 0, torch.ones_like(step), step)
        codes = ((y - low.float()) / step.float()).round_().clamp_(0, (1 << bits) - 1).to(torch.uint8).flatten(-2)
        if bits == 4:
            codes = codes[..., 0::2] | (codes[..., 1::2] << 4)
        return cls(codes, low[..., 0], step[..., 0], bits, width, x.dtype)

    def dense(self) -> Tensor:
        """The vectors as they're read back: (..., tokens, width), in the dtype that they came in."""
        codes = self.codes
        if self.bits == 4:
            codes = torch.stack([codes & 15, codes >> 4], -1).flatten(-2)
        x = codes.float().unflatten(-1, (self.low.shape[-1], -1)) * self.step.float()[..., None] + self.low.float()[..., None]
        x = x.flatten(-2)
        return (rotated(x) if self.bits == 4 else x).to(self.dtype)  # the rotation is its own inverse

    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.codes, self.low, self.step

    def first(self, tokens: int) -> Packed:
        """A view of the first tokens."""
        return Packed(*(part[..., :tokens, :] for part in self.parts()), self.bits, self.width, self.dtype)

    def room_for(self, tokens: int, used: int) -> Packed:
        """A copy of the first `used` tokens with room for `tokens`."""
        made = []
        for part in self.parts():
            new = part.new_empty((*part.shape[:-2], tokens, part.shape[-1]))
            new[..., :used, :] = part[..., :used, :]
            made.append(new)
        return Packed(*made, self.bits, self.width, self.dtype)

    def write(self, begin: int, other: Packed) -> None:
        for mine, theirs in zip(self.parts(), other.parts(), strict=True):
            mine[..., begin : begin + theirs.shape[-2], :] = theirs


def group_of(width: int, bits: Bits) -> int:
    """How many of a head's numbers share a step: the largest divisor of the head's width up to GROUPS[bits]."""
    return next(size for size in range(min(width, GROUPS[bits]), 0, -1) if width % size == 0)


def rotated(x: Tensor) -> Tensor:
    """x H / sqrt(n) along the last dimension, H the Hadamard matrix of the largest power of two that divides it, block by block."""
    width = x.shape[-1]
    size = width & -width
    if size < 2:
        return x
    return (x.unflatten(-1, (-1, size)) @ _hadamard(size, x.device)).flatten(-2)


_matrices: dict[tuple[int, torch.device], Tensor] = {}


def _hadamard(size: int, device: torch.device) -> Tensor:
    """Symmetric and orthogonal: (size, size)."""
    if (size, device) not in _matrices:
        made = torch.ones(1, 1, device=device)
        while len(made) < size:
            made = torch.cat([torch.cat([made, made], 1), torch.cat([made, -made], 1)])
        _matrices[size, device] = made / math.sqrt(size)
    return _matrices[size, device]


class QuantizedLayer(BufferedLayer):
    """A layer of the cache that keeps codes. `keys` and `values` are empty: what's read is what `update` returns."""

    bits: Bits = 8

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        """key_states, value_states: (batch, heads, new, head_dim); returns those of the whole past, rounded."""
        if not self.is_initialized:
            if self.bits == 4 and (key_states.shape[-1] % 2 or value_states.shape[-1] % 2):
                raise UserError("A head of this model has an odd width, so its cache can't be packed in 4 bits.", hint="Choose 8 bits.")
            self.lazy_initialization(key_states, value_states)
        begin, end = self._length, self._length + key_states.shape[-2]
        keys, values = Packed.of(key_states, self.bits), Packed.of(value_states, self.bits)
        if end > self._room:
            self._room = max(self._first, end + end // 2)
            self._keys = (self._keys if begin else keys).room_for(self._room, begin)
            self._values = (self._values if begin else values).room_for(self._room, begin)
        self._keys.write(begin, keys)
        self._values.write(begin, values)
        self._show(end)
        return self._keys.first(end).dense(), self._values.first(end).dense()

    def get_seq_length(self) -> int:
        return self._length if self.is_initialized else 0

    def keep(self, start: int, places: list[int]) -> None:
        end = start + len(places)
        for packed in (self._keys, self._values):
            for part in packed.parts():
                part[..., start:end, :] = part[..., places, :]  # indexing by a list copies first
        self._show(end)

    def tail(self, start: int) -> tuple[Packed, Packed]:
        both = (self._keys.first(self._length), self._values.first(self._length))
        return tuple(Packed(*(part[..., start:, :].clone() for part in p.parts()), p.bits, p.width, p.dtype) for p in both)

    def put(self, start: int, tail: tuple[Packed, Packed]) -> None:
        self._keys.write(start, tail[0])
        self._values.write(start, tail[1])
        self._show(start + tail[0].codes.shape[-2])

    def nbytes(self) -> tuple[int, int]:
        """(bytes of what the tokens take, bytes that they'd take in the dtype that they came in)."""
        if not self.is_initialized or not self._length:
            return 0, 0
        packed = [p.first(self._length) for p in (self._keys, self._values)]
        plain = sum(p.codes[..., 0].numel() * p.width * p.dtype.itemsize for p in packed)
        return sum(part.numel() * part.element_size() for p in packed for part in p.parts()), plain

    def _show(self, length: int) -> None:
        self._length = length


class QuantizedWindowLayer(QuantizedLayer, WindowLayer):
    """The same of a sliding window, kept whole as WindowLayer does."""

    def __init__(self, window: int, room: int = 0):
        WindowLayer.__init__(self, window, room)


def layer(bits: Bits, room: int = 0, window: int | None = None) -> QuantizedLayer:
    """A new layer of that many bits."""
    made = QuantizedLayer(room) if window is None else QuantizedWindowLayer(window, room)
    made.bits = bits
    return made


def kind_of(bits: Bits) -> type[QuantizedLayer]:
    """The class of such layers, for caches that make their layers as they meet them."""
    return type(f"QuantizedLayer{bits}", (QuantizedLayer,), {"bits": bits})


def cache_bytes(layers: list) -> tuple[int, int]:
    """(bytes that a cache's tokens take now, bytes that they'd take unrounded), over all of its layers."""
    taken = plain = 0
    for one in layers:
        if isinstance(one, QuantizedLayer):
            mine, full = one.nbytes()
            taken, plain = taken + mine, plain + full
        elif getattr(one, "is_initialized", False) and isinstance(getattr(one, "keys", None), Tensor):
            size = one.keys.numel() * one.keys.element_size() + one.values.numel() * one.values.element_size()
            taken, plain = taken + size, plain + size
    return taken, plain
