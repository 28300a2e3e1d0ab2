"""The map of what a model's attention heads are worth, kept beside the variant, and the curve of what's left as they go.

A map is computed once for its conditions (text or labels, windows, context, seed) and read back afterwards; heads left out one by
one are measured where that's asked, and taken up again where a job stopped. Losses and curves are measured on other text, or other
examples, than the map. Cuts nothing: core.methods.pruning.heads does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from torch import Tensor

from core.methods import importance, training
from core.methods.importance import HEAD_CRITERIA, Examples
from core.models.surgery import Anatomy
from core.records import HeadMap
from core.run import Run
from core.workspace import write_atomically

POINTS = 40  # of a curve, at most

Scores = tuple[tuple[float | None, ...], ...]


def conditions(examples: Examples, *, data: str, data_hash: str, windows: int, context: int, seed: int, device: str) -> dict[str, Any]:
    """What a map was measured under: equal conditions give equal numbers. data: the text's or the labels' name."""
    digest = hashlib.sha256()
    for fed in examples.inputs:
        digest.update(fed["input_ids"].cpu().numpy().tobytes())
    return {
        "data": data,
        "data_hash": data_hash[:16],
        "labels": examples.labelled,
        "task": examples.task,
        "windows": windows,
        "context": context,
        "tokens_hash": digest.hexdigest()[:16],
        "seed": seed,
        "dtype": "float32",
        "device": device,
    }


def file_of(folder: Path, known: dict[str, Any]) -> Path:
    """Where a variant's folder keeps the map of those conditions."""
    said = json.dumps({name: value for name, value in known.items() if name != "data"}, sort_keys=True)
    return folder / f"heads-{hashlib.sha256(said.encode()).hexdigest()[:12]}.json"


def read(path: Path) -> HeadMap | None:
    """The map in a file; None where there is none, or what's there isn't one (it's made again then)."""
    try:
        return HeadMap.model_validate_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValidationError, UnicodeDecodeError):
        return None


def make(
    model: Any, shape: Anatomy, examples: Examples, known: dict[str, Any], run: Run, *, path: Path, leave_out: bool = False, seed: int = 0
) -> HeadMap:
    """The map, from its file as far as it's there. leave_out: each unit's own loss is measured too; run.metric tells of each."""
    found = read(path)
    if found is None:
        scores = importance.head_scores(model, shape, HEAD_CRITERIA, run, examples, seed)
        expected = scores.pop("expected", None)
        found = HeadMap(
            layers=shape.layers,
            units=shape.units,
            unit=shape.unit,
            heads_per_unit=shape.heads_per_unit,
            scores={name: as_rows(values) for name, values in scores.items()},
            base=importance.loss(model, examples, run),
            tokens=int(examples.tokens),
            conditions=known,
            expected=as_rows(expected) if expected is not None else None,
        )
        write_atomically(path, found.model_dump_json())
    return _left_out(model, shape, examples, run, found, path) if leave_out else found


def _left_out(model: Any, shape: Anatomy, examples: Examples, run: Run, found: HeadMap, path: Path) -> HeadMap:
    rows = [list(row) for row in found.scores.get("leave_out", [[None] * shape.units] * shape.layers)]

    def with_rows() -> HeadMap:
        return found.model_copy(update={"scores": {**found.scores, "leave_out": tuple(tuple(row) for row in rows)}})

    def tell(layer: int, unit: int, rise: float) -> None:
        rows[layer][unit] = rise
        run.metric(f"heads/leave_out/{layer}.{unit}", layer * shape.units + unit, rise)
        write_atomically(path, with_rows().model_dump_json())

    done = {(layer, unit) for layer, row in enumerate(rows) for unit, value in enumerate(row) if value is not None}
    for layer, unit in sorted(done):
        run.metric(f"heads/leave_out/{layer}.{unit}", layer * shape.units + unit, rows[layer][unit])
    if len(done) < shape.layers * shape.units:
        importance.leave_out(model, shape, examples, run, tell, done)
    return with_rows()


def as_rows(values: Tensor) -> Scores:
    return tuple(tuple(float(v) for v in row) for row in values)


def predicted(found: HeadMap, base: float, off: Collection[tuple[int, int]]) -> dict[str, float]:
    """The loss to expect were the units in `off` gone, `base` plus the rise of each: by the gradient ('taylor'), and by leaving each out.

    An estimate: it takes units for independent, which they're less and less the more of them go.
    """
    out = {}
    for name, rows in (("taylor", found.expected), ("leave_out", found.scores.get("leave_out"))):
        worth = [rows[layer][unit] for layer, unit in off] if rows else [None]
        if rows and None not in worth:
            out[name] = base + sum(worth)
    return out


# ---- the curve ------------------------------------------------------------------------------------------------------------------


def order(found: HeadMap, criterion: str, first: Collection[tuple[int, int]] = ()) -> list[tuple[int, int]]:
    """All units, in the order in which they go: those of `first`, then from the least important; of equal ones the first."""
    rows = torch.tensor(found.scores[criterion], dtype=torch.float64)
    by_worth = [divmod(index, found.units) for index in rows.flatten().argsort(stable=True).tolist()]
    chosen = set(first)
    return [u for u in by_worth if u in chosen] + [u for u in by_worth if u not in chosen]


def steps(total: int, most: int = POINTS) -> list[int]:
    """Numbers of units removed at which the curve is measured: 0, `total`, and others as evenly as they go."""
    if total < most:
        return list(range(total + 1))
    return sorted({round(i * total / (most - 1)) for i in range(most)})


def measure_of(examples: Examples) -> str:
    """What a curve shows: 'perplexity', 'accuracy', or 'cosine'."""
    if examples.task == "classifier":
        return "accuracy"
    return "perplexity" if examples.task == "causal-lm" else "cosine"


def value(model: Any, examples: Examples, run: Run) -> float:
    if examples.task == "classifier":
        return importance.accuracy(model, examples, run)
    loss = importance.loss(model, examples, run)
    return training.exp(loss) if examples.task == "causal-lm" else 1 - loss


def curve(
    model: Any,
    shape: Anatomy,
    examples: Examples,
    queue: list[tuple[int, int]],
    run: Run,
    tell: Callable[[int, float], None],
) -> list[tuple[int, float]]:
    """[(units removed, value)] as the units of `queue` go one after the other; ends early where that's asked."""
    points = []
    for count in run.track(steps(len(queue)), "Removing one after the other"):
        with importance.silenced(model, shape, queue[:count]):
            points.append((count, value(model, examples, run)))
        tell(*points[-1])
        if run.stop_asked:
            break
    return points
