"""Observers: from what a layer's inputs were on calibration text, the range that its one fixed scale should cover.

    min-max      all of it: no number is clipped, and one outlier makes the steps coarse for all
    percentile   all but a share of the numbers on either side (Wu et al., 'Integer Quantization for Deep Learning Inference',
                 2020, section 5.2)
    entropy      the range whose 8-bit histogram is closest to the real one in KL divergence (Migacz, '8-bit Inference with
                 TensorRT', 2017): trades numbers clipped against steps, and outliers nearly always lose
    error        the range with the least squared error of the numbers themselves

The last three read a histogram, which needs the extremes first: the text goes through the layer twice. Numbers beyond the
range are set to its end when the model is used.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from core.models.activations import ActivationQuant

Kind = Literal["minmax", "percentile", "entropy", "error"]
BINS = 8192  # of the histogram over [low, high]
LEVELS = 128  # that the positive half of an 8-bit grid has


class Histogram:
    """How often a layer's inputs fall into each of BINS equal parts of [low, high]."""

    def __init__(self, low: float, high: float, device: torch.device):
        self.low, self.high = low, high
        self.counts = torch.zeros(BINS, dtype=torch.float64, device=device)

    def add(self, x: Tensor) -> None:
        """x: any shape; numbers outside count in the first and the last part."""
        if self.high > self.low:
            at = ((x.flatten() - self.low) * (BINS / (self.high - self.low))).long().clamp_(0, BINS - 1)
            self.counts += torch.bincount(at, minlength=BINS)

    @property
    def centres(self) -> Tensor:
        """The middle of each part: (BINS,)."""
        step = (self.high - self.low) / BINS
        return self.low + step * (torch.arange(BINS, device=self.counts.device, dtype=torch.float64) + 0.5)


def stored_grid(
    grid: ActivationQuant, low: float, high: float, dtype: torch.dtype, device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor | None]:
    """(scale (1,) in the dtype that it's stored in, zero (1,) int8 or None) of a static grid over [low, high].

    The zero is found from the scale as stored.
    """
    ends = [torch.tensor([end], device=device) for end in (low, high)]
    scale, zero = grid.scale_for(*ends)
    scale = scale.to(dtype)
    if zero is not None:
        first, last = grid.ends()
        zero = (first - ends[0].clamp(max=0) / scale.float()).round().clamp(first, last).to(torch.int8)
    return scale, zero


def observed_range(
    kind: Kind, low: float, high: float, histogram: Histogram | None, share: float, grid: ActivationQuant
) -> tuple[float, float]:
    """(low, high) of the range to cover; with a symmetric grid its larger magnitude counts.

    low, high: the extremes; histogram: None for min-max only; share: of the numbers that percentile keeps, 0.999 for 99.9 %.
    """
    if kind == "minmax" or histogram is None or not high > low:
        return low, high
    if kind == "percentile":
        return _percentile(histogram, share, grid.symmetric)
    return _searched(histogram, kind, grid)


def _percentile(histogram: Histogram, share: float, symmetric: bool) -> tuple[float, float]:
    centres, total = histogram.centres, float(histogram.counts.sum())
    if symmetric:
        order = centres.abs().argsort()
        reached = histogram.counts[order].cumsum(0)
        at = int(torch.searchsorted(reached, share * total).clamp_max(BINS - 1))
        most = float(centres[order][at].abs()) + (histogram.high - histogram.low) / BINS / 2
        return max(-most, histogram.low), min(most, histogram.high)
    reached = histogram.counts.cumsum(0)
    outside = (1 - share) / 2 * total
    first = int(torch.searchsorted(reached, outside, right=True).clamp_max(BINS - 1))
    last = int(torch.searchsorted(reached, total - outside).clamp_max(BINS - 1))
    half = (histogram.high - histogram.low) / BINS / 2
    return float(centres[first]) - half, float(centres[max(first, last)]) + half


def _searched(histogram: Histogram, kind: Kind, grid: ActivationQuant) -> tuple[float, float]:
    """The range with the least cost: both ends drawn in together for a symmetric grid, else the upper one and then the lower."""
    cost = _divergence if kind == "entropy" else _error
    low, high = histogram.low, histogram.high
    shares = torch.logspace(0, -2, 100).tolist()  # from all of the range down to a hundredth
    if grid.symmetric:
        share = min(shares, key=lambda s: cost(histogram, low * s, high * s, grid))
        return low * share, high * share
    high *= min(shares, key=lambda s: cost(histogram, low, high * s, grid)) if high > 0 else 1
    low *= min(shares, key=lambda s: cost(histogram, low * s, high, grid)) if low < 0 else 1
    return low, high


def _error(histogram: Histogram, low: float, high: float, grid: ActivationQuant) -> float:
    """Sum of squared errors of the histogram's numbers on the grid over [low, high]."""
    centres = histogram.centres
    scale, zero = grid.scale_for(torch.tensor([low], dtype=torch.float64), torch.tensor([high], dtype=torch.float64))
    static = ActivationQuant(grid.kind, False, grid.symmetric, grid.bits)
    return float((histogram.counts.cpu() * (static.fake(centres.cpu(), scale, zero) - centres.cpu()).square()).sum())


def _divergence(histogram: Histogram, low: float, high: float, grid: ActivationQuant) -> float:
    """KL(P || Q) in nats as TensorRT has it: P is the histogram with what's clipped added to the ends of the range, Q spreads each
    point's count evenly over those of its parts that hold anything, clipped numbers not among them."""
    counts, centres = histogram.counts.cpu(), histogram.centres.cpu()
    scale, zero = grid.scale_for(torch.tensor([low], dtype=torch.float64), torch.tensor([high], dtype=torch.float64))
    inside = (centres >= (low if not grid.symmetric else -max(-low, high))) & (centres <= (high if not grid.symmetric else max(-low, high)))
    if int(inside.sum()) < 2:
        return float("inf")
    kept = counts * inside
    first, last = int(inside.nonzero()[0]), int(inside.nonzero()[-1])
    p = kept.clone()
    p[first] += counts[:first].sum()
    p[last] += counts[last + 1 :].sum()
    points = grid.round(centres, scale, zero).long()
    points = points - points.min()
    used = (kept > 0) & inside
    width = int(points.max()) + 1
    sums = torch.zeros(width, dtype=torch.float64).scatter_add_(0, points, kept)
    parts = torch.zeros(width, dtype=torch.float64).scatter_add_(0, points, used.double())
    q = torch.where(used, (sums / parts.clamp_min(1))[points], torch.zeros_like(kept))
    p, q = p / p.sum(), q / q.sum()
    both = p > 0
    # where all that lies in a part was clipped into it, Q has nothing: such ends count as one number in a million
    return float((p[both] * (p[both] / q[both].clamp_min(1e-6 / BINS)).log()).sum())
