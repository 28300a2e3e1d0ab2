"""A look at one quantized layer: its weights before and after, on the grid that they were rounded to, and its outlier channels.

Every group of weights has a scale and a zero of its own, so weights are counted in steps of their own grid: w / scale + zero,
where the grid's points are the whole numbers (of float8, float8's own). Then one picture shows all groups, and what lies beyond
the grid's ends was clipped. Reads single tensors from the files; builds no model, and knows nothing of activations.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core.errors import UserError
from core.models import packed, tensors
from core.models.inspect import PACKED_SUFFIXES
from core.models.load import group_of
from core.models.packed import QuantWeight
from core.workspace import read_json

BINS = 256  # about as many are counted
CHANNELS = 384  # drawn at most; more are joined, the largest kept
MARGIN = 0.15  # of the grid's width that's counted beyond each end
BEYOND = 0.55  # steps past the outermost point from which a weight counts as clipped: half a step, and what rounding the scale moves
OUTLIERS = 8
FAR = 3.0  # a channel is called an outlier from so many times the median on


def look(folder: Path, before: Path | None, layer: str | None = None) -> dict[str, Any]:
    """What's to be shown of `layer` (None: the first) of the quantized model in `folder`; `before`: the folder that it was made from.

    {layers, layer, shape, bits, group_size, symmetric, kind, grid: {low, high, points}, edges: [low, high],
    after: weights at each point, dense: weights in each of equal bins between the edges, or None,
    clipped: share of the dense weights beyond the grid, error: |after - before| / |before|, why: why nothing is known of before,
    columns, rows: {largest: [...], count, joined: channels a bar, median, outliers: [[index, largest, times the median]]}}.
    Raises UserError: not quantized on a grid that's known here, no such layer.
    """
    config = read_json(folder / "config.json").get("quantization_config") or {}
    groups = list((config.get("config_groups") or {}).values())
    found = tensors.headers(folder)
    layers = sorted((name.removesuffix(".weight_scale") for name in found if name.endswith(".weight_scale")), key=_natural)
    if not layers or not groups:
        raise UserError(
            "This variant has no layers on a grid that can be shown.",
            hint="Choose one that was quantized to integers or float8.",
            kind="model",
        )
    name = layers[0] if layer is None else layer
    if name not in layers:
        raise UserError("{layer} isn't a quantized layer of this variant.", hint="Choose one from the list.", layer=name)
    scheme = group_of(name, groups)["weights"]
    wanted = {f"{name}.{leaf}": leaf for leaf in ("weight", *PACKED_SUFFIXES) if f"{name}.{leaf}" in found}
    quant = packed.from_layout({wanted[full]: tensor for full, tensor in tensors.read({full: found[full] for full in wanted})}, scheme)
    after = packed.dequantize(quant, torch.float32)
    dense, why = _dense(before, name, tuple(after.shape))
    low, high, points = _grid(quant)
    edges = (low - MARGIN * (high - low), high + MARGIN * (high - low))
    bins = _bins(edges, quant)
    out = {
        "layers": layers,
        "layer": name,
        "shape": list(after.shape),
        "bits": quant.bits,
        "group_size": quant.group_size,
        "symmetric": quant.symmetric,
        "kind": quant.kind,
        "grid": {"low": low, "high": high, "points": points},
        "edges": list(edges),
        "after": _at_points(quant, points),
        "dense": None,
        "clipped": None,
        "error": None,
        "why": why,
    }
    shown = after
    if dense is not None:
        steps = _steps(dense, quant)
        out["dense"] = _counts(steps, edges, bins)
        out["clipped"] = float(((steps < low - BEYOND) | (steps > high + BEYOND)).float().mean()) if quant.kind == "int" else None
        power = float(dense.square().sum())
        out["error"] = math.sqrt(float((after - dense).square().sum()) / power) if power else 0.0
        shown = dense
    out["columns"] = channels(shown.abs().amax(0))
    out["rows"] = channels(shown.abs().amax(1))
    return out


def _dense(before: Path | None, name: str, shape: tuple[int, ...]) -> tuple[Tensor | None, str]:
    """(the weight that the layer was made from, or why it isn't known)."""
    if before is None:
        return None, "The variant that it was made from isn't here."
    found = tensors.headers(before)
    full = f"{name}.weight"
    if full not in found:
        return None, "The variant that it was made from has no such layer."
    weight = next(tensors.read({full: found[full]}))[1].float()
    if tuple(weight.shape) != shape:
        return None, "The layer had another shape before."
    return weight, ""


def _grid(quant: QuantWeight) -> tuple[float, float, list[float]]:
    """Smallest, largest, and all points of the grid, in its own steps."""
    if quant.kind == "float":
        every = torch.arange(256, dtype=torch.uint8).view(quant.codes.dtype).float()
        points = every[torch.isfinite(every)].unique().tolist()
        return points[0], points[-1], points
    low, high = packed.code_range(quant.bits)
    return float(low), float(high), [float(code) for code in range(low, high + 1)]


def _steps(weight: Tensor, quant: QuantWeight) -> Tensor:
    """Weight (out, in) in steps of each group's own grid."""
    steps = weight.unflatten(-1, (quant.scale.shape[-1], -1)) / quant.scale.float().unsqueeze(-1)
    if quant.zero is not None:
        steps = steps + quant.zero.float().unsqueeze(-1)
    return steps.flatten(-2)


def _bins(edges: tuple[float, float], quant: QuantWeight) -> int:
    """So many that each step of an integer grid holds a whole number of bins."""
    span = edges[1] - edges[0]
    return round(span * max(1, BINS // max(1, round(span)))) if quant.kind == "int" else BINS


def _at_points(quant: QuantWeight, points: list[float]) -> list[int]:
    """How many weights lie at each of the grid's points."""
    place = torch.searchsorted(torch.tensor(points), quant.codes.float().flatten())
    return torch.bincount(place, minlength=len(points)).tolist()


def _counts(values: Tensor, edges: tuple[float, float], bins: int) -> list[int]:
    """How many values lie in each of the bins between the edges; those beyond count in the first and the last."""
    inside = values.flatten().clamp(*edges)
    return torch.histc(inside, bins, *edges).long().tolist()


def channels(largest: Tensor) -> dict[str, Any]:
    """Of the largest absolute value in each channel (n,): the picture's bars, the median, and those that stand out."""
    median = float(largest.median())
    count = len(largest)
    joined = -(-count // CHANNELS)
    padded = torch.nn.functional.pad(largest, (0, -count % joined))
    top = largest.topk(min(OUTLIERS, count))
    far = [
        [int(index), float(value), float(value) / median]
        for value, index in zip(top.values, top.indices, strict=True)
        if median and value >= FAR * median
    ]
    return {"largest": padded.view(-1, joined).amax(1).tolist(), "count": count, "joined": joined, "median": median, "outliers": far}


def _natural(name: str) -> list[tuple[int, int, str]]:
    """layers.10 after layers.9."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in name.split(".")]
