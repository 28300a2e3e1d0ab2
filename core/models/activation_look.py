"""A look at activations: what goes into each linear layer as a model reads a text, on the grid that rounds it, and its outlier channels.

    before = watch(original, ids, run)
    after = watch(quantized, ids, run)
    looks = compare(before, after)

A layer that rounds its input has a grid of its own (activations.py). For one that doesn't, int8 token by token stands in, so that
one sees what such a grid would make of it; `rounded` tells the two apart. Counts are in steps of the grid, each token's by its own
scale where the grid has one a token. Covers what the layers see of one text; weights are layer_look's.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from core.models.activations import ActivationQuant
from core.models.blocks import linears
from core.models.layer_look import BEYOND, BINS, MARGIN, channels
from core.run import Run

STAND_IN = ActivationQuant()  # int8, token by token
TOKENS = 1024  # run through the model at once


class Watched:
    """Counts of one layer's input. quant, scale, zero: the grid; scale is None where each token has its own."""

    def __init__(self, quant: ActivationQuant, scale: Tensor | None, zero: Tensor | None, rounded: bool):
        self.quant, self.scale, self.zero, self.rounded = quant, scale, zero, rounded
        if quant.kind == "float":
            every = torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).float()
            self.points = every[torch.isfinite(every)].unique()
        else:
            low, high = quant.ends()
            self.points = torch.arange(low, high + 1)
        low, high = float(self.points[0]), float(self.points[-1])
        self.edges = (low - MARGIN * (high - low), high + MARGIN * (high - low))
        span = self.edges[1] - self.edges[0]
        self.bins = round(span) if quant.kind == "int" else BINS
        self.dense = torch.zeros(self.bins, dtype=torch.long)
        self.after = torch.zeros(len(self.points), dtype=torch.long)
        self.largest: Tensor | None = None  # (in,)
        self.tokens = 0
        self.beyond = self.zeros = self.count = 0
        self.power = self.wrong = 0.0

    @torch.no_grad()
    def see(self, x: Tensor) -> None:
        """x (..., in), as it comes to the layer."""
        if not x.numel():
            return
        quant, x = self.quant, x.detach().float()
        scale, zero = self.scale, self.zero
        if quant.dynamic:
            scale, zero = quant.scale_for(*quant.range_of(x))
        steps = x / scale.float()
        if zero is not None:
            steps = steps + zero.float()
        codes = quant.round(x, scale.float(), zero)
        back = (codes if zero is None else codes - zero.float()) * scale.float()
        first, last = quant.ends()
        self.dense += torch.histc(steps.clamp(*self.edges).cpu(), self.bins, *self.edges).long()
        place = torch.searchsorted(self.points.to(codes.device), codes.flatten().contiguous())
        self.after += torch.bincount(place.cpu(), minlength=len(self.points))
        self.beyond += int(((steps < first - BEYOND) | (steps > last + BEYOND)).sum())
        self.zeros += int((back == 0).sum())
        self.wrong += float((back - x).double().square().sum())
        self.power += float(x.double().square().sum())
        self.count += x.numel()
        self.tokens += x.numel() // x.shape[-1]
        most = x.abs().flatten(0, -2).amax(0).cpu() if x.ndim > 1 else x.abs().cpu()
        self.largest = most if self.largest is None else torch.maximum(self.largest, most)

    def figures(self) -> dict[str, Any]:
        """{error: |rounded - x| / |x|, zeros: share that is rounded to 0, clipped: share beyond the grid, channels}."""
        return {
            "error": math.sqrt(self.wrong / self.power) if self.power else 0.0,
            "zeros": self.zeros / self.count,
            "clipped": self.beyond / self.count,
            "channels": channels(self.largest),
        }


def grids(model: nn.Module) -> dict[str, tuple[ActivationQuant, Tensor | None, Tensor | None]]:
    """The grids of those layers that round their input, by the layer's name."""
    found = {}
    for name, module in linears(model):
        quant = getattr(module, "activation", None)
        if isinstance(quant, ActivationQuant):
            found[name] = (quant, module.input_scale, module.input_zero_point)
    return found


def watch(model: nn.Module, ids: Tensor, run: Run, stage: str, like: dict[str, Any] | None = None) -> dict[str, Watched]:
    """What each linear layer of `model` (without the output layer) is fed while it reads ids (windows, tokens).

    like: grids (as `grids` gives them) for layers that have none themselves. Layers that weren't called aren't in the result.
    """
    own, device = grids(model), next(model.parameters()).device
    watched: dict[str, Watched] = {}
    hooks = []
    for name, module in linears(model):
        quant, scale, zero = own.get(name) or (like or {}).get(name) or (STAND_IN, None, None)
        scale, zero = (None if t is None else t.to(device) for t in (scale, zero))
        watched[name] = Watched(quant, scale, zero, rounded=name in own)
        hooks.append(module.register_forward_pre_hook(lambda _, given, name=name: watched[name].see(given[0])))
    inner = getattr(model, "base_model", model)  # without the head: nothing is asked of the logits
    try:
        rows = max(1, TOKENS // ids.shape[1])
        for part in run.track(ids.split(rows), stage):
            with torch.no_grad():
                inner(input_ids=part.to(device))
    finally:
        for hook in hooks:
            hook.remove()
    return {name: seen for name, seen in watched.items() if seen.count}


def compare(before: dict[str, Watched] | None, after: dict[str, Watched]) -> dict[str, dict[str, Any]]:
    """Layer -> {width, tokens, kind, bits, symmetric, dynamic, rounded, grid: {low, high, points}, edges, dense: counts in equal bins
    between the edges, of the original where it's known, after: counts at each point, now: figures, was: the original's or None}.

    before: the original's; None where the model is one itself. A layer that was narrower or wider before has no `was`.
    """
    out = {}
    for name, seen in after.items():
        was = before.get(name) if before else None
        if was is not None and len(was.largest) != len(seen.largest):
            was = None
        source = was or (seen if before is None else None)
        out[name] = {
            "width": len(seen.largest),
            "tokens": seen.tokens,
            "kind": seen.quant.kind,
            "bits": seen.quant.bits,
            "symmetric": seen.quant.symmetric,
            "dynamic": seen.quant.dynamic,
            "rounded": seen.rounded,
            "grid": {"low": float(seen.points[0]), "high": float(seen.points[-1]), "points": seen.points.tolist()},
            "edges": list(seen.edges),
            "dense": source.dense.tolist() if source else None,
            "after": seen.after.tolist(),
            "now": _short(seen.figures()),
            "was": _short(was.figures()) if was else None,
        }
    return out


def _short(value: Any) -> Any:
    """Floats to five figures: what's drawn needs no more, and the file is half as large."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _short(part) for key, part in value.items()}
    return [_short(part) for part in value] if isinstance(value, (list, tuple)) else value
