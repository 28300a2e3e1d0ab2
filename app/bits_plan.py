"""Bits plan: which layer gets which bits, from a sensitivity map, a budget and what a person fixed. No widgets.

What it says of size and KL is an estimate: the KL is the sum of single-layer ones, the size counts headers roughly.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from core.allocation import (
    DENSE,
    HEADERS,
    Allocator,
    LayerCost,
    SensitivityMap,
    average_bits,
    file_bytes,
    layer_budget,
    total_kl,
    write_bits,
)
from core.recipe import Step, TextRef

STEPS = 1000  # of the budget's slider
SHORTER = HEADERS[4] - HEADERS[8]


def maps_of(folder: Path) -> list[SensitivityMap]:
    """The finished maps that a variant's folder keeps, the latest first."""
    found = []
    for path in sorted(folder.glob("sensitivity-*.json"), key=lambda p: -p.stat().st_mtime):
        try:
            read = SensitivityMap.model_validate_json(path.read_text(encoding="utf-8"))
        except ValueError:  # cut off in the middle, or of another version: it's measured again then
            continue
        if read.complete and read.layers:
            found.append(read)
    return found


class BitsPlan:
    """`fixed`: what a person set, by layer; the rest follows the budget. budget: 'size' or 'kl'."""

    def __init__(self, found: SensitivityMap, on_disk: int):
        self.map, self.on_disk = found, on_disk
        self.layers = {layer.name: layer for layer in found.layers}
        self.fixed: dict[str, int] = {}
        self.widths = found.widths  # that the budget may choose from; a person may set any by hand
        self.budget, self.at = "size", STEPS // 2
        self._allocator: Allocator | None = None
        widest = self._uniform(max(found.widths))
        least = self._uniform(min(found.widths))
        self.sizes = (file_bytes(found.layers, least, on_disk), file_bytes(found.layers, widest, on_disk))
        ends = sorted((total_kl(found.layers, widest), total_kl(found.layers, least)))
        self.kls = (max(ends[0], 1e-9), max(ends[1], 1e-9))
        self.bits: dict[str, int] = self._uniform(4 if 4 in found.widths else max(found.widths))
        self.at = self.place(self.size)

    def _uniform(self, width: int) -> dict[str, int]:
        return dict.fromkeys(self.layers, width)

    # -- the budget

    def value(self, at: int | None = None) -> float:
        """What the slider's place stands for: bytes on disk, or nats."""
        share = (self.at if at is None else at) / STEPS
        if self.budget == "size":
            return self.sizes[0] + share * (self.sizes[1] - self.sizes[0])
        low, high = (math.log(k) for k in self.kls)
        return math.exp(low + share * (high - low))

    def place(self, value: float) -> int:
        """The slider's place that stands for a value, the inverse of `value`."""
        if self.budget == "size":
            share = (value - self.sizes[0]) / max(1, self.sizes[1] - self.sizes[0])
        else:
            low, high = (math.log(k) for k in self.kls)
            share = (math.log(max(value, 1e-12)) - low) / max(1e-12, high - low)
        return round(STEPS * min(max(share, 0.0), 1.0))

    def set_budget(self, budget: str) -> None:
        """Changes what's bounded; the bits stay, and the slider goes where they are."""
        self.budget = budget
        self.at = self.place(self.size if budget == "size" else self.kl)

    def set_widths(self, widths: tuple[int, ...]) -> None:
        """Which widths the budget may choose from."""
        self.widths = widths
        self._allocator = None

    def move(self, at: int) -> bool:
        """Chooses the bits for a place of the slider; False where none meets it, and then they stay."""
        self.at = at
        if self._allocator is None:
            self._allocator = Allocator(self.map.layers, self.widths, self.fixed)
        value = self.value()
        if self.budget == "size":
            room = layer_budget(self.map.layers, self.on_disk, math.ceil(value))
            found = self._allocator.at_size(room)
            # `room` counts every header as the longest; what's chosen with the shortest is taken where it fits all the same
            bolder = self._allocator.at_size(room + SHORTER * len(self.layers))
            if bolder is not None and file_bytes(self.map.layers, bolder, self.on_disk) <= value:
                found = bolder
        else:
            found = self._allocator.at_kl(value * (1 + 1e-9))
        if found is not None:
            self.bits = found
        return found is not None

    @property
    def over(self) -> bool:
        """Whether the bits, as edited, exceed the budget."""
        value = self.value()
        return self.size > value * 1.0005 if self.budget == "size" else self.kl > value * 1.001

    # -- by hand

    def choices(self) -> tuple[int, ...]:
        """The widths that a layer may be given, the widest first; DENSE leaves it as it is."""
        return (DENSE, *sorted(self.map.widths, reverse=True))

    def set_bits(self, names: list[str], width: int) -> None:
        """Gives layers a width and fixes it."""
        for name in names:
            self.bits[name] = self.fixed[name] = width
        self._allocator = None

    def nudge(self, name: str, by: int) -> None:
        """One width more (by > 0) or fewer, and fixes it."""
        order = self.choices()
        at = min(max(order.index(self.bits[name]) - by, 0), len(order) - 1)
        self.set_bits([name], order[at])

    def free(self, names: list[str] | None = None) -> None:
        """Lets layers (all of them) follow the budget again."""
        for name in list(self.fixed) if names is None else names:
            self.fixed.pop(name, None)
        self._allocator = None

    def uniform(self, width: int) -> None:
        """One width for every layer that isn't fixed."""
        self.bits = self._uniform(width) | self.fixed
        self.at = self.place(self.size if self.budget == "size" else self.kl)

    # -- what comes of it

    @property
    def size(self) -> int:
        return file_bytes(self.map.layers, self.bits, self.on_disk)

    @property
    def kl(self) -> float:
        return total_kl(self.map.layers, self.bits)

    @property
    def average(self) -> float:
        return average_bits(self.map.layers, self.bits)

    def counts(self) -> list[tuple[int, int]]:
        """(width, layers that have it), the widest first."""
        found = Counter(self.bits.values())
        return [(width, found[width]) for width in self.choices() if found[width]]

    def front(self) -> list[tuple[int, float]]:
        """(bytes on disk, sum of KLs) of the best choices, with what's fixed."""
        if self._allocator is None:
            self._allocator = Allocator(self.map.layers, self.widths, self.fixed)
        inside = self.size - sum(self.layers[name].bytes[width] for name, width in self.bits.items())
        return [(inside + size, kl) for size, kl in self._allocator.front(160)]

    def worst(self, count: int) -> list[tuple[LayerCost, float]]:
        """The layers that bring most of the KL, with what each brings."""
        brought = [(layer, layer.kl[self.bits[layer.name]]) for layer in self.map.layers]
        return sorted(brought, key=lambda pair: -pair[1])[:count]

    def step(self, rounding: str, text: str | None = None) -> Step:
        """The step that makes it: `mixed`, with the bits of each layer in it, on the map's grid."""
        grid = {"group_size": self.map.conditions.get("group_size") or 128, "clip": bool(self.map.conditions.get("clip", True))}
        return Step(
            method="mixed",
            params={"layers": write_bits(self.bits), "rounding": rounding, **grid},
            text=TextRef(path=text) if text else None,
        )

    def name(self) -> str:
        """'mixed 4.12 bits'."""
        return f"mixed {self.average:.2f} bits"
