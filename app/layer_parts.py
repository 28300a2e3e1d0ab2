"""What a job says of a model's parts, out of its metrics: error of each layer, sparsity or influence of each block, importance of heads.

Covers telling such metrics from curves, and which parts are gone. No Qt. A part's points are (step, value), the last one counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# In this order they're offered; names of core/methods and its callers.
KINDS = ("error", "importance", "heads/leave_out", "influence", "loss_without", "sparsity")
GRIDS = ("error", "importance", "heads/leave_out")  # of two dimensions; the others are of blocks
Curves = Mapping[str, list[tuple[int, float]]]


def kind_and_part(name: str) -> tuple[str, str] | None:
    """('influence', 'model.layers.3') of a metric's name; None for one that is a curve."""
    for kind in KINDS:
        if name.startswith(f"{kind}/"):
            return kind, name[len(kind) + 1 :]
    return None


def parts_of(curves: Curves) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """Kind -> part -> its points, of a job's metrics."""
    out: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for name, points in curves.items():
        found = kind_and_part(name)
        if found is not None and points:
            out.setdefault(found[0], {})[found[1]] = points
    return {kind: out[kind] for kind in KINDS if kind in out}


def curves_only(curves: Curves) -> dict[str, list[tuple[int, float]]]:
    """The metrics that aren't of parts."""
    return {name: points for name, points in curves.items() if kind_and_part(name) is None}


def kind_of(layer: str) -> str:
    """What a layer is within its block: what follows the first number in its name."""
    found = re.search(r"(?:^|\.)\d+\.(.+)$", layer)
    return found.group(1) if found else layer


def block_of(part: str) -> int:
    """The last number in a block's name."""
    numbers = re.findall(r"\d+", part)
    return int(numbers[-1]) if numbers else 0


def dropped(points: Mapping[str, list[tuple[int, float]]], *, over: bool) -> set[str]:
    """Blocks that are gone, where each is judged anew after every drop: those that the later steps say nothing of.

    over: the job has ended, so that the least of the last step went too.
    """
    last = max((p[-1][0] for p in points.values()), default=0)
    gone = {part for part, p in points.items() if p[-1][0] < last}
    left = {part: p[-1][1] for part, p in points.items() if part not in gone}
    return gone | {min(left, key=lambda part: (left[part], block_of(part)))} if over and left else gone
