"""Allocation: how many bits each layer gets, so that a model meets a size or a divergence. Plain numbers, no tensors.

A sensitivity map says, for each layer and width, what the layer takes on disk and how far the model's outputs move (KL, in nats a
token) when that layer alone is quantized. The choice is a multiple-choice knapsack: one width a layer, the sum of the bytes or of
the KLs bounded, the other sum least. Solved by dynamic programming over the bytes, exactly where their common divisor allows it.

The sum of single-layer KLs is an estimate of the whole model's: errors of several layers can add up or cancel. Covers choosing,
and how a choice is written ('*=4, model.layers.0.mlp.down_proj=8'). Measuring is core.methods.sensitivity's.
"""

from __future__ import annotations

import fnmatch
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from core.errors import UserError

WIDTHS = (8, 6, 5, 4, 3, 2)
DENSE = 0  # in place of a width: the layer stays as it is
# Bytes that a packed layer's further tensors, their names and its mention in the configuration take, roughly.
HEADERS = {DENSE: 0, 8: 210} | dict.fromkeys((6, 5, 4, 3, 2), 416)
STATES = 1 << 16  # sums of bytes told apart; where the layers' sizes need more, they're rounded up to a coarser unit
NAMES = {"dense": DENSE} | {str(bits): bits for bits in WIDTHS}


class LayerCost(BaseModel):
    """A layer, with its bytes (codes, scales and zeros) and its KL by width; width DENSE is the layer as it is, with a KL of 0."""

    model_config = ConfigDict(frozen=True)
    name: str  # 'model.layers.3.mlp.down_proj'
    block: int
    kind: str  # 'mlp.down_proj': its name within the block
    rows: int
    columns: int
    bytes: dict[int, int]
    kl: dict[int, float]
    stderr: dict[int, float | None] = {}  # of kl, over the windows

    @property
    def weights(self) -> int:
        return self.rows * self.columns


class SensitivityMap(BaseModel):
    """What was measured, and under which conditions. `complete`: all layers are there (a map is kept layer by layer)."""

    model_config = ConfigDict(frozen=True)
    widths: tuple[int, ...]
    layers: tuple[LayerCost, ...] = ()
    conditions: dict[str, Any] = {}  # text, text_hash, windows, context, tokens, group_size, clip, seed, dtype, device
    complete: bool = False

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of linear layer in the order in which they come."""
        return tuple(dict.fromkeys(layer.kind for layer in self.layers))

    def layer(self, name: str) -> LayerCost | None:
        return next((layer for layer in self.layers if layer.name == name), None)


# ---- sums of a choice ---------------------------------------------------------------------------------------------------


def total_kl(layers: Iterable[LayerCost], bits: Mapping[str, int]) -> float:
    """Sum of the single-layer KLs: an estimate of the model's."""
    return math.fsum(layer.kl[bits[layer.name]] for layer in layers)


def total_bytes(layers: Iterable[LayerCost], bits: Mapping[str, int]) -> int:
    """Bytes of the layers' codes, scales and zeros."""
    return sum(layer.bytes[bits[layer.name]] for layer in layers)


def average_bits(layers: Sequence[LayerCost], bits: Mapping[str, int]) -> float:
    """Bits a weight of these layers, scales and zeros counted."""
    return 8 * total_bytes(layers, bits) / max(1, sum(layer.weights for layer in layers))


def file_bytes(layers: Sequence[LayerCost], bits: Mapping[str, int], on_disk: int) -> int:
    """What the variant's files would take, where the original's take `on_disk`: an estimate, headers roughly counted."""
    return on_disk + sum(layer.bytes[bits[layer.name]] - layer.bytes[DENSE] + HEADERS[bits[layer.name]] for layer in layers)


def layer_budget(layers: Sequence[LayerCost], on_disk: int, budget: int) -> int:
    """Bytes left for the layers' weights where the files may take `budget` and the original's take `on_disk`."""
    return budget - on_disk + sum(layer.bytes[DENSE] for layer in layers) - len(layers) * max(HEADERS.values())


# ---- choosing -------------------------------------------------------------------------------------------------------------


class Allocator:
    """All best choices for a set of layers at once; a budget is then looked up. fixed: widths that aren't up for choice.

    Takes some tenths of a second for a few hundred layers; looking up takes a millisecond.
    """

    def __init__(
        self,
        layers: Sequence[LayerCost],
        widths: Iterable[int] = WIDTHS,
        fixed: Mapping[str, int] | None = None,
        states: int = STATES,
    ):
        fixed = fixed or {}
        self.layers = tuple(layers)
        self._options: list[list[tuple[int, float, int]]] = []  # of each layer: (bytes, kl, width), fewest bytes first
        wanted = sorted(set(widths))
        for layer in self.layers:
            open_to = [fixed[layer.name]] if layer.name in fixed else wanted
            self._options.append(sorted((layer.bytes[w], layer.kl[w], w) for w in open_to))
        self.least = sum(options[0][0] for options in self._options)  # bytes of the smallest choice
        extras = [[option[0] - options[0][0] for option in options] for options in self._options]
        span = sum(max(extra) for extra in extras)
        self.unit = math.gcd(*(e for extra in extras for e in extra)) or 1
        self.exact = span // self.unit <= states
        if not self.exact:
            self.unit = -(-span // states)
        # rounded up, so that what fits by units fits by bytes
        self._units = [[-(-e // self.unit) for e in extra] for extra in extras]
        self._solve(sum(max(units) for units in self._units) + 1)

    def _solve(self, size: int) -> None:
        """best[s]: least sum of KLs within s units; _choice[layer][s]: the option that this layer then has."""
        best = np.zeros(size)
        self._choice = np.zeros((len(self.layers), size), dtype=np.uint8)
        for row, (options, units) in enumerate(zip(self._options, self._units, strict=True)):
            fresh = np.full(size, np.inf)
            for which, ((_, kl, _), used) in enumerate(zip(options, units, strict=True)):
                tried = best[: size - used] + kl
                better = tried < fresh[used:]
                fresh[used:][better] = tried[better]
                self._choice[row, used:][better] = which
            best = fresh
        self.best = best

    def at_size(self, most: float) -> dict[str, int] | None:
        """Width of each layer (by name) with the least sum of KLs in at most `most` bytes; None where not even the smallest fits."""
        if most < self.least:
            return None
        chosen = self._trace(min(int((most - self.least) // self.unit), len(self.best) - 1))
        return self._named(chosen if self.exact else self._fill(chosen, most))

    def at_kl(self, most: float) -> dict[str, int] | None:
        """Width of each layer with the fewest bytes whose KLs sum to at most `most`; None where no choice is as close."""
        slack = 1e-12 * max(1.0, abs(most))  # sums in another order
        state = int(np.searchsorted(-self.best, -(most + slack)))
        if state == len(self.best):
            return None
        chosen = self._trace(state)
        return self._named(chosen if self.exact else self._trim(chosen, most))

    def front(self, points: int = 400) -> list[tuple[int, float]]:
        """(bytes, KL) of the best choices from the smallest on, at most so many of them."""
        states = np.unique(np.linspace(0, len(self.best) - 1, points).round().astype(int))
        return [(self.least + int(s) * self.unit, float(self.best[s])) for s in states]

    def _trace(self, state: int) -> list[int]:
        chosen = [0] * len(self.layers)
        for row in range(len(self.layers) - 1, -1, -1):
            chosen[row] = int(self._choice[row, state])
            state -= self._units[row][chosen[row]]
        return chosen

    def _named(self, chosen: list[int]) -> dict[str, int]:
        return {layer.name: self._options[row][which][2] for row, (layer, which) in enumerate(zip(self.layers, chosen, strict=True))}

    def _sums(self, chosen: list[int]) -> tuple[int, float]:
        picked = [self._options[row][which] for row, which in enumerate(chosen)]
        return sum(p[0] for p in picked), math.fsum(p[1] for p in picked)

    def _fill(self, chosen: list[int], most: float) -> list[int]:
        """Spends what rounding the sizes up has left over, on the widening that lowers the KL most for each byte."""
        left = most - self._sums(chosen)[0]
        while True:
            gains = [
                ((kl - other) / max(1, more - size), row, which, more - size)
                for row, now in enumerate(chosen)
                for size, kl, _ in [self._options[row][now]]
                for which, (more, other, _) in enumerate(self._options[row])
                if other < kl and more - size <= left
            ]
            if not gains:
                return chosen
            _, row, which, used = max(gains)
            chosen[row], left = which, left - used

    def _trim(self, chosen: list[int], most: float) -> list[int]:
        """Spends the KL that's left over, on the narrowing that saves most bytes for each nat."""
        left = most - self._sums(chosen)[1]
        while True:
            gains = [
                ((size - fewer) / max(1e-12, other - kl), row, which, other - kl)
                for row, now in enumerate(chosen)
                for size, kl, _ in [self._options[row][now]]
                for which, (fewer, other, _) in enumerate(self._options[row])
                if fewer < size and other - kl <= left
            ]
            if not gains:
                return chosen
            _, row, which, used = max(gains)
            chosen[row], left = which, left - used


# ---- a choice as text -------------------------------------------------------------------------------------------------------


def write_bits(bits: Mapping[str, int]) -> str:
    """A choice as a recipe holds it: '*=4, model.layers.0.mlp.down_proj=8'. The commonest width first, then what differs."""
    if not bits:
        return ""
    words = {width: name for name, width in NAMES.items()}
    common = Counter(bits.values()).most_common(1)[0][0]
    return ", ".join([f"*={words[common]}", *(f"{name}={words[width]}" for name, width in bits.items() if width != common)])


def read_bits(written: str, names: Sequence[str]) -> dict[str, int]:
    """The inverse of `write_bits` for layers of these names; a name may be a pattern (*.down_proj=3), and the last that fits counts.

    Raises UserError: an entry that isn't 'layer=bits', a width that there isn't, a pattern that fits no layer, layers without a width.
    """
    out: dict[str, int] = {}
    for entry in filter(None, (part.strip() for part in written.replace("\n", ",").split(","))):
        pattern, equals, width = (part.strip() for part in entry.rpartition("="))
        if not equals or not pattern:
            raise UserError("{entry} doesn't say which bits a layer gets.", hint="Write layer=bits, such as *.down_proj=8.", entry=entry)
        if width not in NAMES:
            raise UserError(
                "{width} isn't a width in {entry}.", hint="Choose of {known}.", width=width, entry=entry, known=", ".join(NAMES)
            )
        fitting = fnmatch.filter(names, pattern)
        if not fitting:
            raise UserError(
                "{pattern} names no linear layer of this model.",
                hint="They're called as {example}; * stands for any part of a name.",
                pattern=pattern,
                example=names[0] if names else "",
            )
        out |= dict.fromkeys(fitting, NAMES[width])
    missing = [name for name in names if name not in out]
    if missing:
        raise UserError(
            "{count} linear layers were given no bits, {first} among them.",
            hint="Begin with *=8 for all that aren't named.",
            count=len(missing),
            first=missing[0],
        )
    return {name: out[name] for name in names}
