"""Geometry of the plots: the Pareto front, ticks, ranges, label places, thinning. Plain numbers; no Qt, no arrays.

Points are (x, y) tuples, boxes (left, top, width, height), segments ((x1, y1), (x2, y2)). Screen y grows downwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

Point = tuple[float, float]
Box = tuple[float, float, float, float]
Segment = tuple[Point, Point]


# ---- the front ------------------------------------------------------------------------------------------------------


def pareto(points: Sequence[Point], *, less_x: bool = True, less_y: bool = True) -> list[int]:
    """Indices of the points that no other beats in both, from the best x to the best y. less_*: smaller is better.

    Of equal points the first is kept. O(n log n).
    """
    sx, sy = (1 if less_x else -1), (1 if less_y else -1)
    order = sorted(range(len(points)), key=lambda i: (sx * points[i][0], sy * points[i][1], i))
    front: list[int] = []
    best = math.inf
    for i in order:
        y = sy * points[i][1]
        if y < best:
            front.append(i)
            best = y
    return front


def staircase(front: Sequence[Point], far_x: float, far_y: float) -> list[Point]:
    """The front as a polyline of level and upright pieces: what's the best y that an x buys.

    front: in `pareto`'s order. It begins at far_y under the first point (nothing so small is known) and ends level at
    far_x, the side where x costs most.
    """
    if not front:
        return []
    path = [(front[0][0], far_y), front[0]]
    for (_, y), (x, next_y) in pairwise(front):
        path += [(x, y), (x, next_y)]
    path.append((far_x, front[-1][1]))
    return path


def best_under(points: Sequence[Point], limit: float, *, axis: int, less_x: bool = True, less_y: bool = True) -> int | None:
    """The best point within a budget: axis 0, the best y with x within `limit`; axis 1, the best x with y within it."""
    sign = (less_x, less_y)
    within = [i for i, p in enumerate(points) if (p[axis] <= limit if sign[axis] else p[axis] >= limit)]
    if not within:
        return None
    other = 1 - axis
    score = lambda i, a: points[i][a] if sign[a] else -points[i][a]
    return min(within, key=lambda i: (score(i, other), score(i, axis), i))


# ---- ranges and ticks ------------------------------------------------------------------------------------------------


def padded(low: float, high: float, share: float = 0.08, least: float = 1e-9) -> tuple[float, float]:
    """A range with `share` of its width added at both ends; never narrower than `least`."""
    if high - low < least:
        middle = (low + high) / 2
        low, high = middle - least / 2, middle + least / 2
    room = (high - low) * share
    return low - room, high + room


def without_outliers(values: Sequence[float], keep: Iterable[float], stretch: float = 2.0) -> tuple[float, float]:
    """(low, high) that holds all of `keep`, and those values that stretch the range of `keep` at most `stretch` times its width.

    Where `keep` has no width, half the middle spread of all values stands in for it.
    """
    kept = sorted(keep)
    every = sorted(values)
    if not kept:
        kept = every[:1]
    low, high = kept[0], kept[-1]
    width = high - low
    if width <= 0:
        width = (every[(3 * len(every)) // 4] - every[len(every) // 4]) / 2
    if width <= 0:
        width = (every[-1] - every[0]) / 2
    reach = stretch * width
    inside = [v for v in every if low - reach <= v <= high + reach]
    return min([low, *inside]), max([high, *inside])


def log2_ticks(low: float, high: float, most: int = 9) -> list[tuple[float, str]]:
    """Ticks at powers of two between log2 values low and high: [(log2 value, label)], every k-th where they'd be too many.

    Where less than two powers fit, halves and quarters of an octave are added.
    """
    first, last = math.ceil(low - 1e-9), math.floor(high + 1e-9)
    powers = list(range(first, last + 1))
    if len(powers) >= 2:
        skip = max(1, math.ceil(len(powers) / most))
        return [(float(p), _short(2.0**p)) for p in powers if p % skip == 0]
    return [(math.log2(value), label) for value, label in nice_ticks(2.0**low, 2.0**high, min(most, 5)) if value > 0]


def log10_ticks(low: float, high: float, most: int = 7) -> list[tuple[float, str]]:
    """Ticks between log10 values low and high: 1-2-5 steps of each decade, or even steps where the range is narrow."""
    if high - low < 0.7:
        return [(math.log10(value), label) for value, label in nice_ticks(10.0**low, 10.0**high, most) if value > 0]
    for steps in ((1, 2, 5), (1, 3), (1,)):
        found = [
            (math.log10(s * 10.0**d), _short(s * 10.0**d))
            for d in range(math.floor(low), math.ceil(high) + 1)
            for s in steps
            if low - 1e-9 <= math.log10(s * 10.0**d) <= high + 1e-9
        ]
        if len(found) <= most:
            return found
    skip = math.ceil(len(found) / most)
    return found[::skip]


def nice_ticks(low: float, high: float, most: int = 7) -> list[tuple[float, str]]:
    """Ticks at 1, 2, 2.5 or 5 times a power of ten: [(value, label)]."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return []
    rough = (high - low) / max(most - 1, 1)
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= rough * 0.999)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    if abs(step / 10.0**-digits - round(step / 10.0**-digits)) > 1e-6:
        digits += 1  # 2.5 needs one figure more than 2 or 5
    first = math.ceil(low / step - 1e-9)
    out = []
    while first * step <= high + step * 1e-9:
        value = first * step
        out.append((value, f"{value:.{digits}f}".replace("-", "\u2212") if abs(value) < 1e6 else _short(value)))
        first += 1
    return out


def two_ticks(low: float, high: float, most: int = 7) -> list[tuple[float, str]]:
    """As `nice_ticks`, but at least two where there's room for any: a single one gives no scale."""
    tries = (nice_ticks(low, high, n) for n in range(most, most + 4))
    return next((found for found in tries if len(found) > 1), nice_ticks(low, high, most))


def whole_ticks(low: float, high: float, most: int = 7) -> list[tuple[float, str]]:
    """As `nice_ticks`, at whole numbers only: of things that are counted."""
    found = nice_ticks(low, high, most)
    while most > 2 and any(value != round(value) for value, _ in found):
        most -= 1
        found = nice_ticks(low, high, most)
    return [(value, words.split(".")[0] if "." in words else words) for value, words in found if value == round(value)]


def _short(value: float) -> str:
    """A tick's label: 0.5, 64, 1 024, 20 k, 3 M."""
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if name == 'k' else size):.4g} {name}"
    if value >= 1000:
        return f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.4g}" if value >= 0.001 else f"{value:.0e}".replace("e-0", "e\u2212")


# ---- labels ----------------------------------------------------------------------------------------------------------


def overlap(a: Box, b: Box) -> float:
    """Area that two boxes share."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return width * height if width > 0 and height > 0 else 0.0


def crosses(box: Box, segment: Segment) -> bool:
    """Whether a segment touches a box (Liang and Barsky's clipping)."""
    (x1, y1), (x2, y2) = segment
    dx, dy = x2 - x1, y2 - y1
    begin, end = 0.0, 1.0
    for p, q in ((-dx, x1 - box[0]), (dx, box[0] + box[2] - x1), (-dy, y1 - box[1]), (dy, box[1] + box[3] - y1)):
        if p == 0:
            if q < 0:
                return False
        elif p < 0:
            begin = max(begin, q / p)
        else:
            end = min(end, q / p)
    return begin <= end


def label_places(anchor: Point, size: tuple[float, float], gap: float, *, mirrored: bool = False) -> list[Box]:
    """Boxes where a label may sit about its point, the best first: up-left, then round, then the same farther out."""
    x, y = anchor
    w, h = size
    out: list[Box] = []
    for reach in (gap, gap * 2.1, gap * 3.4):
        left, right = x - reach - w, x + reach
        above, below = y - reach * 0.8 - h, y + reach * 0.8
        middle = y - h / 2
        near = [(left, above), (x - w / 2, above - gap * 0.3), (right, above), (left, middle)]
        near += [(right, below), (left, below), (right, middle), (x - w / 2, below + gap * 0.3)]
        if mirrored:
            near = [(2 * x - left_ - w, top) for left_, top in near]
        out += [(a, b, w, h) for a, b in near]
    return out


def place_labels(
    anchors: Sequence[Point],
    sizes: Sequence[tuple[float, float]],
    bounds: Box,
    *,
    gap: float = 10.0,
    avoid_boxes: Sequence[Box] = (),
    avoid_lines: Sequence[Segment] = (),
    must: Iterable[int] = (),
    mirrored: bool = False,
) -> list[Box | None]:
    """A box for each label, inside bounds, touching no other label, no `avoid_boxes` and no `avoid_lines`; None where there's no room.

    Those in `must` are placed first and get the least bad place where none is free. Others in the order given.
    """
    must = set(must)
    placed: list[Box | None] = [None] * len(anchors)
    taken: list[Box] = list(avoid_boxes)
    inside = lambda b: clamped(b, bounds) == b and b[2] <= bounds[2] and b[3] <= bounds[3]

    def price(box: Box) -> float:
        return sum(overlap(box, t) for t in taken) + 40.0 * sum(crosses(box, line) for line in avoid_lines)

    for i in sorted(range(len(anchors)), key=lambda i: (i not in must, i)):
        candidates = [b for b in label_places(anchors[i], sizes[i], gap, mirrored=mirrored) if inside(b)]
        free = next((b for b in candidates if price(b) == 0), None)
        if free is None and i in must:
            options = candidates or [clamped(label_places(anchors[i], sizes[i], gap)[0], bounds)]
            free = min(options, key=price)
        if free is not None:
            placed[i] = free
            taken.append(free)
    return placed


def clamped(box: Box, bounds: Box) -> Box:
    """The box moved so that it lies in bounds, as far as it fits."""
    x = max(bounds[0], min(box[0], bounds[0] + bounds[2] - box[2]))
    y = max(bounds[1], min(box[1], bounds[1] + bounds[3] - box[3]))
    return x, y, box[2], box[3]


def nearest(points: Sequence[Point], at: Point, reach: float) -> int | None:
    """The point nearest to `at` within `reach`, or None."""
    best, found = reach, None
    for i, (x, y) in enumerate(points):
        distance = math.hypot(x - at[0], y - at[1])
        if distance <= best:
            best, found = distance, i
    return found


# ---- curves ----------------------------------------------------------------------------------------------------------


def thinned(points: Sequence[Point], columns: int) -> list[Point]:
    """At most four points for each of `columns` equal stretches of x (first, lowest, highest, last), so that no spike is lost.

    points: by rising x.
    """
    if len(points) <= 4 * max(columns, 1):
        return list(points)
    low, high = points[0][0], points[-1][0]
    width = (high - low) / columns or 1.0
    out: list[Point] = []
    bucket: list[Point] = []
    current = 0

    def flush() -> None:
        if bucket:
            lowest, highest = min(bucket, key=lambda p: p[1]), max(bucket, key=lambda p: p[1])
            out.extend(dict.fromkeys(sorted([bucket[0], lowest, highest, bucket[-1]], key=lambda p: p[0])))

    for p in points:
        column = min(int((p[0] - low) / width), columns - 1)
        if column != current:
            flush()
            bucket, current = [], column
        bucket.append(p)
    flush()
    return out


def smoothed(points: Sequence[Point], share: float = 0.03) -> list[Point]:
    """A moving average centred on each point, over about `share` of the points, narrower at both ends: it doesn't lag."""
    known = [(x, y) for x, y in points if math.isfinite(y)]
    sums = [0.0]
    for _, y in known:
        sums.append(sums[-1] + y)
    half = max(1, round(share * len(known) / 2))
    out = []
    for i, (x, _) in enumerate(known):
        reach = min(half, i, len(known) - 1 - i)
        out.append((x, (sums[i + reach + 1] - sums[i - reach]) / (2 * reach + 1)))
    return out


def mapper(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """A linear map of [low, high] to [start, end]."""
    scale = (end - start) / ((high - low) or 1.0)
    return lambda value: start + (value - low) * scale
