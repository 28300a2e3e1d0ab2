"""What a decode amounts to, for the plots: acceptance by position, against what the distributions promise, where the time went, S(gamma).

Covers counting and arithmetic on recorded rounds; no Qt. Drawing is app.plots.speculation's. Formulas are core.theory's.
Every number comes of rounds that were taken or calls that were timed; what isn't known is None or left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from app.decode_run import PLAIN_LANE, Costs, DecodeRun, Lane
from core.events import Round
from core.theory import cost, speedups

LONGEST = 16  # drafts up to this length are considered, and longer ones where longer ones were drafted
Z = 1.96  # of a 95 % interval


def wilson(kept: int, tested: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson 1927), which stays inside 0..1 and means something even for few tests."""
    if not tested:
        return 0.0, 1.0
    share, z2 = kept / tested, Z * Z / tested
    middle, half = share + z2 / 2, Z * math.sqrt(share * (1 - share) / tested + z2 / (4 * tested))
    return max(0.0, (middle - half) / (1 + z2)), min(1.0, (middle + half) / (1 + z2))


# ---- acceptance -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Position:
    """What became of the guesses at one place of the draft: of those tested, how many were kept; and the sum of their alphas."""

    tested: int = 0
    kept: int = 0
    overlap: float = 0.0  # sum of sum min(p, q) over those whose distributions are known
    known: int = 0

    @property
    def rate(self) -> float:
        return self.kept / self.tested if self.tested else 0.0


def by_position(rounds: Sequence[Round]) -> list[Position]:
    """Counts by place in the draft, the first being place 1. A guess that wasn't tested counts nowhere."""
    out: list[Position] = []
    for taken in rounds:
        for i, token in enumerate(taken.drafted):
            if token.verdict == "untested":
                break
            if i == len(out):
                out.append(Position())
            place = out[i]
            place.tested += 1
            place.kept += token.verdict == "accepted"
            if token.alpha is not None:
                place.overlap += token.alpha
                place.known += 1
    return out


@dataclass(frozen=True, slots=True)
class Bin:
    """Tested guesses of about the same alpha: its mean, and how many were kept."""

    promised: float
    kept: int
    tested: int


def calibration(rounds: Sequence[Round], most: int = 8, least: int = 12) -> list[Bin]:
    """Guesses sorted by alpha = sum min(p, q), in up to `most` groups of equal size (at least `least` each, where there are so many).

    In theory a guess is kept with exactly the probability alpha, so kept / tested lies at alpha but for chance.
    """
    pairs = sorted(
        (token.alpha, token.verdict == "accepted")
        for taken in rounds
        for token in taken.drafted
        if token.verdict != "untested" and token.alpha is not None
    )
    groups = max(1, min(most, len(pairs) // least))
    edges = [round(i * len(pairs) / groups) for i in range(groups + 1)]
    parts = [pairs[a:b] for a, b in pairwise(edges) if b > a]
    return [Bin(sum(a for a, _ in part) / len(part), sum(k for _, k in part), len(part)) for part in parts]


def position_rates(positions: Sequence[Position], upto: int) -> list[float]:
    """Acceptance at places 1..upto, leaning on the mean over all places where a place was seldom tested, and equal to it beyond."""
    tested, kept = sum(p.tested for p in positions), sum(p.kept for p in positions)
    overall = (kept + 0.5) / (tested + 1)
    counts = [(p.kept, p.tested) for p in positions[:upto]] + [(0, 0)] * (upto - len(positions))
    return [(k + 2 * overall) / (t + 2) for k, t in counts]


# ---- time -------------------------------------------------------------------------------------------------------


def parts(taken: Round) -> tuple[float, float, float]:
    """Seconds of a round: drafting, the target's call, and all around them (sampling, taking caches back, telling of it)."""
    draft, verify = taken.seconds.get("draft", 0.0), taken.seconds.get("verify", 0.0)
    return draft, verify, max(0.0, sum(taken.seconds.values()) - draft - verify)


def costs_of(run: DecodeRun, lane: str) -> tuple[Costs | None, bool]:
    """(what a lane's calls cost, whether that was measured beforehand); else from the calls of the run itself; None: nothing is known."""
    if lane in run.costs and run.costs[lane].target:
        return run.costs[lane], True
    reported = run.of_lane(lane).get("costs") or (run.result.get("costs") if lane == run.main else None)
    if reported:
        found = Costs.read(reported)
        if found.target:
            return _with_one(run, found), False
    return _met(run, lane), False


def _with_one(run: DecodeRun, found: Costs) -> Costs:
    """T(1) of the plain lane, where the lane itself never fed a single token."""
    plain = run.lanes.get(PLAIN_LANE)
    if 1 in found.target or plain is None or not plain.rounds:
        return found
    return Costs({1: median(parts(taken)[1] for taken in plain.rounds), **found.target}, found.draft, found.overhead)


def _met(run: DecodeRun, name: str) -> Costs | None:
    lane = run.lanes.get(name)
    if lane is None or not lane.rounds:
        return None
    target: dict[int, list[float]] = {}
    draft: list[float] = []
    for taken in lane.rounds:
        drafting, verifying, _ = parts(taken)
        target.setdefault((taken.nodes or len(taken.drafted)) + 1, []).append(verifying)
        if taken.drafted and drafting:
            draft.append(drafting / len(taken.drafted))
    found = Costs({n: median(each) for n, each in sorted(target.items())}, {1: median(draft)} if draft else {}, overhead(lane))
    return _with_one(run, found)


def overhead(lane: Lane) -> float:
    """Mean seconds a round besides its forwards."""
    return sum(parts(taken)[2] for taken in lane.rounds) / len(lane.rounds) if lane.rounds else 0.0


# ---- S(gamma) ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gain:
    """The speed-up that each draft length promises. now: (tokens drafted a round, speed-up); measured: whether a race measured that."""

    curve: list[float]  # S(0), S(1), ...
    best: int
    now: tuple[float, float]
    measured: bool
    beforehand: bool  # the costs were measured before the run, rather than met in it


def gain(run: DecodeRun, name: str, done: int | None = None, speedup: float | None = None) -> Gain | None:
    """S(gamma) of a lane from its acceptance so far and the costs of its calls; None where T(1) isn't known or nothing was tested."""
    lane = run.lanes.get(name)
    costs, beforehand = costs_of(run, name)
    if lane is None or costs is None or 1 not in costs.target:
        return None
    rounds = lane.rounds if done is None else lane.rounds[:done]
    positions = by_position(rounds)
    if not positions:
        return None
    plain = run.lanes.get(PLAIN_LANE)
    around = overhead(lane)
    curve = speedups(
        position_rates(positions, max(LONGEST, len(positions))),
        costs.target,
        costs.draft,
        overhead=around,
        plain_overhead=overhead(plain) if plain is not None and plain.rounds else costs.overhead,
    )
    mean = sum(len(taken.drafted) for taken in rounds) / len(rounds)
    expected = cost(dict(enumerate(curve)), min(mean, len(curve) - 1))  # between two lengths a line is drawn, as between two costs
    best = max(range(len(curve)), key=lambda gamma: curve[gamma])
    return Gain(curve, best, (mean, speedup if speedup is not None else expected or 1.0), speedup is not None, beforehand)
