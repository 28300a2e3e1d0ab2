"""What 'find me a draft' found, as plain data: its rows, their order, the best of them, and where drafting would break even.

Covers reading a row of core's and the arithmetic of the plot; no Qt and no words. Everything in a row was measured by the
job, but `predicted`, which core.theory works out from what was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from core import theory
from core.records import Drafting

STEPS = 60  # of the contour
UNSTEADY = 1.25  # the greatest repeat over the least


@dataclass(frozen=True)
class Tried:
    """One way to draft. alpha: mean of sum min(p, q); cost: a draft forward over a target forward; None: not measured.

    gamma: the length that pays most by prediction. measured: the median over repeats, low and high the least and the greatest.
    memory: bytes besides the target's. seconds: of a target forward by the tokens fed, as measured for this way. settings: what
    was found for it, by Drafting's names. why: the reason why it wasn't tried, or not to the end.
    """

    proposer: str
    draft: str | None = None
    name: str = ""
    alpha: float | None = None
    cost: float | None = None
    gamma: int | None = None
    predicted: float | None = None
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    per_call: float | None = None
    memory: int | None = None
    seconds: Mapping[int, float] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""

    @property
    def key(self) -> tuple[str, str | None]:
        return self.proposer, self.draft

    @property
    def pays(self) -> bool:
        """Whether it was faster than plain decoding by the clock, in every repeat."""
        return self._least is not None and self._least > 1.0 and not self.by_chance

    @property
    def _least(self) -> float | None:
        return self.measured if self.low is None else self.low

    @property
    def by_chance(self) -> bool:
        """Whether it was faster than its tokens a target call can make it: the clock erred, and nothing can be said."""
        return self._least is not None and self.per_call is not None and self._least > max(self.per_call, 1.0)

    @property
    def undecided(self) -> bool:
        """Whether it was faster in some repeats and slower in others, or faster by chance: nothing can be said then."""
        return self.by_chance or (self.low is not None and self.high is not None and self.low <= 1.0 < self.high)

    @property
    def unsteady(self) -> bool:
        """Whether the repeats differ so much that something else must have taken the machine's time."""
        return bool(self.low and self.high and self.high / self.low > UNSTEADY)

    @property
    def hopeless(self) -> bool:
        """Whether it wasn't timed since it can't pay, even if every guess were kept; `predicted` is what it could reach then."""
        return bool(self.why) and self.cost is not None and self.predicted is not None and self.predicted <= 1.0

    def drafting(self) -> Drafting:
        """What it was measured with: at most its gamma, the adaptive policy choosing up to that."""
        found = {name: value for name, value in self.settings.items() if name in Drafting.model_fields}
        own = {"proposer": self.proposer, "draft": self.draft, "gamma": max(self.gamma or 1, 1), "policy": "adaptive"}
        return Drafting(**(found | own))


def read_row(row: Mapping[str, Any]) -> Tried:
    """A row of a result or of a DraftTried event. Names that aren't known here are passed over; KeyError without a proposer."""
    return Tried(
        proposer=row["proposer"],
        draft=row.get("draft"),
        name=row.get("name") or "",
        alpha=row.get("alpha"),
        cost=row.get("cost"),
        gamma=row.get("gamma"),
        predicted=row.get("predicted"),
        measured=row.get("measured"),
        low=row.get("low"),
        high=row.get("high"),
        per_call=row.get("tokens_per_target_call"),
        memory=row.get("memory"),
        seconds=table((row.get("seconds") or {}).get("target")),
        settings=dict(row.get("settings") or {}),
        why=row.get("why") or "",
    )


def ranked(rows: Sequence[Tried]) -> list[Tried]:
    """The fastest first; what couldn't be tried last. Rows that are equal keep their order."""
    return sorted(rows, key=lambda r: (r.measured is None, -(r.measured or 0.0), bool(r.why)))


def table(costs: Mapping[Any, float] | None) -> dict[int, float]:
    """Costs by tokens fed; from JSON their keys are strings."""
    return {int(n): float(seconds) for n, seconds in (costs or {}).items()}


def common_costs(rows: Sequence[Tried]) -> dict[int, float]:
    """T(n) of the target from every row's own measurement of it: the medians, since one may have been disturbed."""
    lengths = {n for row in rows for n in row.seconds}
    return {n: median(row.seconds[n] for row in rows if n in row.seconds) for n in sorted(lengths)}


def best_speedup(alpha: float, cost: float, most: int, target: Mapping[int, float], overhead: float = 0.0) -> float:
    """The largest S(gamma), gamma from 1 to most, with the same acceptance at each place. target {}: any length costs as much as one."""
    target = target or {1: 1.0}
    one = theory.cost(target, 1) or 1.0
    found = [
        theory.speedup([alpha] * gamma, target, {1: cost * one}, overhead=overhead, plain_overhead=overhead) for gamma in range(1, most + 1)
    ]
    return max(s for s in found if s is not None)


def break_even(cost: float, most: int, target: Mapping[int, float], overhead: float = 0.0, *, level: float = 1.0) -> float | None:
    """The least acceptance at which drafting at this cost reaches a speed-up of `level`; None: not even when every guess is kept.

    By bisection on tokens a call: S(gamma) reaches the level where they reach what drafting and checking cost in plain tokens.
    """
    target = target or {1: 1.0}
    one = theory.cost(target, 1) or 1.0
    needed = [
        level * (gamma * cost * one + (theory.cost(target, gamma + 1) or one) + overhead) / (one + overhead) for gamma in range(1, most + 1)
    ]

    def reached(alpha: float) -> bool:
        tokens, reach = 1.0, 1.0
        for need in needed:
            reach *= alpha
            tokens += reach
            if tokens >= need:
                return True
        return False

    if not reached(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(26):
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def contour(
    most_cost: float, most: int, target: Mapping[int, float], overhead: float = 0.0, *, level: float = 1.0
) -> list[tuple[float, float]]:
    """(cost, least acceptance) along the line of a speed-up, from cost 0 to where it's out of reach."""
    out = []
    for step in range(STEPS + 1):
        cost = most_cost * step / STEPS
        alpha = break_even(cost, most, target, overhead, level=level)
        if alpha is None:
            break
        out.append((cost, alpha))
    return out
