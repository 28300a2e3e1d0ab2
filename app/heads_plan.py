"""Which attention heads go: switched off one by one, by layer, or the least important; what that's predicted to cost. No Qt.

A unit is (layer, unit), both counted from 0: a head, or the query heads that share keys and values. What's predicted is an estimate:
it takes units for independent of each other.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from pydantic import ValidationError

from core.recipe import Step
from core.records import MASKED_ONLY, HeadMap

Unit = tuple[int, int]


def maps_of(folder: Path) -> list[HeadMap]:
    """The maps that a variant's folder keeps, the latest first."""
    found = []
    for path in sorted(folder.glob("heads-*.json"), key=lambda p: -p.stat().st_mtime):
        try:
            found.append(HeadMap.model_validate_json(path.read_text(encoding="utf-8")))
        except (ValidationError, UnicodeDecodeError):  # cut off in the middle, or of another version: it's made again then
            continue
    return found


class HeadsPlan:
    """`off`: the units that go. `each`: whether the least important are taken from each layer alike, or from the whole model."""

    def __init__(self, found: HeadMap, model_type: str = ""):
        self.map = found
        self.criterion = "taylor"
        self.off: frozenset[Unit] = frozenset()
        self.each = False
        self.masked_only = model_type in MASKED_ONLY
        self._before: list[frozenset[Unit]] = []
        self._after: list[frozenset[Unit]] = []

    @property
    def total(self) -> int:
        return self.map.layers * self.map.units

    def score(self, unit: Unit, criterion: str | None = None) -> float | None:
        rows = self.map.scores.get(criterion or self.criterion)
        return rows[unit[0]][unit[1]] if rows else None

    def units(self) -> list[Unit]:
        return [(layer, unit) for layer in range(self.map.layers) for unit in range(self.map.units)]

    def known(self, criterion: str) -> bool:
        """Whether every unit has been judged by it."""
        return all(self.score(unit, criterion) is not None for unit in self.units())

    # -- choosing

    def set_off(self, off: Collection[Unit]) -> None:
        off = frozenset(off)
        if off != self.off:
            self._before.append(self.off)
            self._after.clear()
            self.off = off

    def replace_last(self, off: Collection[Unit]) -> None:
        """As `set_off`, in the same step of undoing: for a slider on its way."""
        self.off = frozenset(off)

    def toggle(self, units: Collection[Unit]) -> None:
        """Switches all of them off, or on where none is left on."""
        units = frozenset(units)
        self.set_off(self.off - units if units <= self.off else self.off | units)

    def layer(self, layer: int) -> list[Unit]:
        return [(layer, unit) for unit in range(self.map.units)]

    def undo(self) -> bool:
        if not self._before:
            return False
        self._after.append(self.off)
        self.off = self._before.pop()
        return True

    def redo(self) -> bool:
        if not self._after:
            return False
        self._before.append(self.off)
        self.off = self._after.pop()
        return True

    @property
    def can_undo(self) -> bool:
        return bool(self._before)

    def order(self, criterion: str | None = None) -> list[Unit]:
        """All units from the least important on; of equal ones the first."""
        return sorted(self.units(), key=lambda unit: (self.score(unit, criterion), unit))

    def least(self, count: int) -> frozenset[Unit]:
        """The `count` least important of the model; with `each`, of each layer."""
        if not self.each:
            return frozenset(self.order()[:count])
        taken: list[Unit] = []
        for layer in range(self.map.layers):
            taken += sorted(self.layer(layer), key=lambda unit: (self.score(unit), unit))[:count]
        return frozenset(taken)

    @property
    def most(self) -> int:
        """How many `least` may be asked for: at least one unit of a layer stays where each layer loses as many."""
        return self.map.units - 1 if self.each else self.total - 1

    # -- what comes of it

    def counts(self) -> list[int]:
        """Units that go, of each layer."""
        return [sum(layer == at for layer, _ in self.off) for at in range(self.map.layers)]

    @property
    def even(self) -> bool:
        return len(set(self.counts())) == 1

    @property
    def cuts(self) -> bool:
        """Whether they can be cut out, so that the file gets smaller; else they become zeros."""
        return bool(self.off) and self.even and not self.masked_only and self.counts()[0] < self.map.units

    def made_even(self) -> frozenset[Unit]:
        """The nearest choice that can be cut out: as many of each layer (at least one), its least important; those chosen go first."""
        count = min(max(1, round(len(self.off) / self.map.layers)), self.map.units - 1)
        taken: list[Unit] = []
        for layer in range(self.map.layers):
            taken += sorted(self.layer(layer), key=lambda unit: (unit not in self.off, self.score(unit), unit))[:count]
        return frozenset(taken)

    def predicted(self, off: Collection[Unit] | None = None) -> dict[str, float]:
        """How far the loss is expected to rise, by each criterion that speaks of a loss and has judged all of them."""
        off = self.off if off is None else off
        out = {}
        for criterion in ("taylor", "leave_out"):
            worth = [self._rise(unit, criterion) for unit in off]
            if self._rises(criterion) and None not in worth:
                out[criterion] = sum(worth)
        return out

    def _rises(self, criterion: str) -> tuple[tuple[float | None, ...], ...] | None:
        """How far the loss rises without each unit: expected from the gradient, or measured. What units are ranked by isn't that."""
        return self.map.expected if criterion == "taylor" else self.map.scores.get(criterion)

    def _rise(self, unit: Unit, criterion: str) -> float | None:
        rows = self._rises(criterion)
        return rows[unit[0]][unit[1]] if rows else None

    def predicted_course(self, criterion: str) -> list[tuple[int, float]]:
        """[(units removed, how far the loss is expected to rise)] as they go by a criterion; by what leaving each out measured, where
        that's known, else by the gradient; nothing where that tells nothing."""
        speaks = "leave_out" if self.known("leave_out") else "taylor"
        if self._rises(speaks) is None:
            return []
        course, rise = [(0, 0.0)], 0.0
        for count, unit in enumerate(self.order(criterion), 1):
            rise += self._rise(unit, speaks)
            course.append((count, rise))
        return course

    def chosen(self) -> str:
        """'0.3 1.7', as the method `heads` reads it."""
        return " ".join(f"{layer}.{unit}" for layer, unit in sorted(self.off))

    def step(self) -> Step:
        return Step(method="heads", params={"chosen": self.chosen()})
