"""Invented maps of attention heads, for the tests of their window and for looking at it. Every figure is made up."""

from __future__ import annotations

import math
import random

import resources
from core.records import HeadMap

CONDITIONS = {"data": resources.TRAIN_TEXT.name, "labels": False, "windows": 8, "context": 256, "task": "causal-lm"}


def invent_heads(layers: int = 30, units: int = 3, per_unit: int = 3, *, left_out: bool = False, seed: int = 4) -> HeadMap:
    rng = random.Random(seed)
    taylor = [
        [0.004 * math.exp(rng.gauss(0, 1.3)) * (3 if layer in (0, layers - 1) else 1) for _ in range(units)] for layer in range(layers)
    ]
    scores = {
        "taylor": taylor,
        "taylor_normalised": [[v / math.hypot(*row) for v in row] for row in taylor],
        "magnitude": [[rng.uniform(5, 9) for _ in row] for row in taylor],
        "random": [[rng.random() for _ in row] for row in taylor],
    }
    if left_out:
        scores["leave_out"] = [[0.7 * v + rng.gauss(0, 0.002) for v in row] for row in taylor]
    unit = "head" if per_unit == 1 else "kv_group"
    return HeadMap(
        layers=layers,
        units=units,
        unit=unit,
        heads_per_unit=per_unit,
        scores=scores,
        base=3.21,
        tokens=2048,
        conditions=CONDITIONS,
        expected=taylor,
    )


def invent_loss(rise: float = 0.071, base: float = 3.305) -> dict:
    """What the job gives of heads that are off."""
    words = {"perplexity": math.exp(base + rise), "base_perplexity": math.exp(base)}
    return {"loss": base + rise, "base": base, "tokens": 2048, "measure": "perplexity", "predicted": {"taylor": base + 1.3 * rise}, **words}


def invent_curve(criterion: str, total: int, points: int = 31, base: float = 27.2) -> list[tuple[int, float]]:
    bend = {"taylor": 3.0, "random": 1.6, "magnitude": 0.7}.get(criterion, 2.0)
    counts = [round(i * total / (points - 1)) for i in range(points)]
    return [(n, base * math.exp(min(9.0, 5 * (n / total) ** 1.2 / bend + 4 * (n / total) ** 4))) for n in counts]
