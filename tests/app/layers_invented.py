"""Invented layers for the tests of the maps, and for looking at them: sensitivities, errors of a job, a look at a layer."""

from __future__ import annotations

import math
import random
from pathlib import Path

from core.allocation import DENSE, WIDTHS, LayerCost, SensitivityMap

SHAPES = {
    "self_attn.q_proj": (576, 576),
    "self_attn.k_proj": (192, 576),
    "self_attn.v_proj": (192, 576),
    "self_attn.o_proj": (576, 576),
    "mlp.gate_proj": (1536, 576),
    "mlp.up_proj": (1536, 576),
    "mlp.down_proj": (576, 1536),
}


def invent_cost(block: int, kind: str, rng: random.Random, blocks: int = 30) -> LayerCost:
    rows, columns = SHAPES[kind]
    edge = 8.0 if block in (0, blocks - 1) else 1.0
    noise = edge * {"mlp.down_proj": 3.0, "self_attn.v_proj": 2.0, "self_attn.q_proj": 0.3}.get(kind, 1.0) * rng.uniform(0.4, 2)
    size = {w: rows * columns * w // 8 + (3 * rows if w == 8 else 2 * rows * columns // 64) for w in WIDTHS}
    kl = {w: 0.35 * noise * 4.0**-w for w in WIDTHS}
    return LayerCost(
        name=f"model.layers.{block}.{kind}",
        block=block,
        kind=kind,
        rows=rows,
        columns=columns,
        bytes={DENSE: 2 * rows * columns} | size,
        kl={DENSE: 0.0} | kl,
        stderr={DENSE: None} | {w: 0.1 * v for w, v in kl.items()},
    )


def invent_map(blocks: int = 30, seed: int = 1) -> SensitivityMap:
    rng = random.Random(seed)
    layers = tuple(invent_cost(b, kind, rng, blocks) for b in range(blocks) for kind in SHAPES)
    return SensitivityMap(widths=WIDTHS, layers=layers, conditions={"group_size": 64, "clip": True, "windows": 8}, complete=True)


def keep_map(folder: Path, found: SensitivityMap, name: str = "a") -> Path:
    path = folder / f"sensitivity-{name}.json"
    path.write_text(found.model_dump_json(), encoding="utf-8")
    return path


def invent_errors(blocks: int = 30, seed: int = 2) -> dict[str, tuple[int, float]]:
    """Layer -> (block, relative error) as a job's metrics give it."""
    rng = random.Random(seed)
    return {f"model.layers.{b}.{kind}": (b, 0.02 * rng.uniform(1, 3) * (1 + b / 10)) for b in range(blocks) for kind in SHAPES}


def invent_look(bits: int = 4, clipped: float = 0.0031, dense: bool = True) -> dict:
    """What a layer-look job gives."""
    rng = random.Random(3)
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    edges = [low - 0.15 * (high - low), high + 0.15 * (high - low)]
    per = max(1, 256 // round(edges[1] - edges[0]))
    bins = round((edges[1] - edges[0]) * per)
    wide = (high - low) / 5
    bell = lambda x: math.exp(-0.5 * ((x + 0.5) / wide) ** 2)
    counts = [int(90_000 / bins * bell(edges[0] + (i + 0.5) / per) * rng.uniform(0.92, 1.08)) for i in range(bins)]
    columns = [abs(rng.gauss(0.35, 0.06)) for _ in range(288)]
    columns[71], columns[200] = 1.9, 1.3
    layers = [f"model.layers.{b}.{kind}" for b in range(30) for kind in SHAPES]
    channels = {"largest": columns, "count": 576, "joined": 2, "median": 0.35, "outliers": [[142, 1.9, 5.43], [401, 1.3, 3.71]]}
    return {
        "layers": layers,
        "layer": layers[4],
        "shape": [1536, 576],
        "bits": bits,
        "group_size": 64,
        "symmetric": True,
        "kind": "int",
        "grid": {"low": low, "high": high, "points": [float(p) for p in range(low, high + 1)]},
        "edges": edges,
        "after": [int(90_000 / (high - low) * bell(p)) for p in range(low, high + 1)],
        "dense": counts if dense else None,
        "clipped": clipped if dense else None,
        "error": 0.0913 if dense else None,
        "why": "" if dense else "The variant that it was made from isn't here.",
        "columns": channels,
        "rows": channels | {"outliers": []},
        "before": "TinyStories-42M" if dense else None,
    }


def invent_activations(rounded: bool = True, before: str | None = "TinyStories-42M", blocks: int = 3) -> dict:
    """What an activation-look job keeps: int8 token by token, where one channel stretched the grid before and no longer does."""
    rng = random.Random(5)
    points = list(range(-128, 128))
    edges = [-128 - 0.15 * 255, 127 + 0.15 * 255]
    bins = round(edges[1] - edges[0])
    bell = lambda x, wide: math.exp(-0.5 * (x / wide) ** 2) + 1e-4 * math.exp(-0.5 * ((abs(x) - 118) / 6) ** 2)
    was = [abs(rng.gauss(1.1, 0.2)) for _ in range(288)]
    was[71] = 31.0
    now = [abs(rng.gauss(1.4, 0.2)) for _ in range(288)]
    now[71] = 5.2
    shape = {"count": 576, "joined": 2}
    after = shape | {"largest": now, "median": 1.4, "outliers": [[142, 5.2, 3.71]]}
    stretched = shape | {"largest": was, "median": 1.1, "outliers": [[142, 31.0, 28.2]]}
    look = {
        "width": 576,
        "tokens": 1024,
        "kind": "int",
        "bits": 8,
        "symmetric": True,
        "dynamic": True,
        "rounded": rounded,
        "grid": {"low": -128.0, "high": 127.0, "points": [float(p) for p in points]},
        "edges": edges,
        "dense": [int(90_000 * bell(edges[0] + at + 0.5, 4)) for at in range(bins)],
        "after": [int(30_000 * bell(p, 22)) for p in points],
        "now": {"error": 0.0134, "zeros": 0.021, "clipped": 0.0, "channels": after},
        "was": {"error": 0.0871, "zeros": 0.418, "clipped": 0.0, "channels": stretched},
    }
    if before is None:
        look["was"] = None
    layers = {f"model.layers.{b}.{kind}": look for b in range(blocks) for kind in SHAPES}
    layers["model.layers.1.mlp.down_proj"] = look | {"now": look["now"] | {"error": 0.19, "clipped": 0.004}}
    conditions = {"text": "starter-train.txt", "windows": 8, "context": 128}
    return {"layers": layers, "conditions": conditions, "before": before}
