"""Layer sparsities: blocks with more outliers keep more of their weights, the rest pay for it; the mean stays what was asked.

Yin et al., 'Outlier Weighed Layerwise Sparsity (OWL)' (2024), section 3: of each block the share of weights whose |W| ‖x‖ is more
than M times the block's mean; densities differ by that share, within a band of twice lambda. Covers blocks only (all layers of a
block share one sparsity), with the calibration text or from |W| alone. Which of a layer's weights go isn't decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from core.methods import sequential
from core.methods.pruning.patterns import PatternParams, finite
from core.methods.sequential import Norms
from core.models.blocks import blocks, linears, weight_of
from core.models.streamed import looking
from core.params import knob
from core.run import Run


class LayerSparsityParams(PatternParams):
    layers: Literal["uniform", "outliers"] = knob(
        "uniform",
        title="Sparsity of layers",
        help="Alike: every block loses the same share. By outliers: blocks with more weights that stand out keep more; the mean stays. "
        "Try it above 50 %.",
        labels={"uniform": "Alike", "outliers": "By outliers (OWL)"},
        when={"pattern": "free"},
    )
    outlier: float = knob(
        5.0,
        title="Outlier from",
        unit="times the mean",
        help="How far above its block's mean a weight's score is to count as an outlier. 5 to 7 in the paper.",
        gt=1,
        le=100,
        when={"layers": "outliers", "pattern": "free"},
        advanced=True,
    )
    band: float = knob(
        0.08,
        title="Band",
        help="How far a block's sparsity may be from the mean. Wider helps at high sparsities; beyond 0.1 mostly harms.",
        ge=0,
        le=0.5,
        when={"layers": "outliers", "pattern": "free"},
        advanced=True,
    )


def by_blocks(
    model: nn.Module, params: LayerSparsityParams, run: Run, ids: Tensor | None, home: Any = None
) -> tuple[dict[str, float], list[str]]:
    """(sparsity of each linear layer, notes). Empty where the layers are alike. Changes nothing.

    ids: LongTensor (windows, context) to see the inputs on; None: scores are |W| alone. Emits 'sparsity/<block>'.
    """
    if params.pattern != "free" or params.layers == "uniform" or params.sparsity == 0:
        return {}, []
    ratios, sizes, inside = [], [], []
    for turn in sequential.walk(model, run, "Looking for outliers", ids, home=looking(home)):
        stats = turn.collect(Norms) if ids is not None else {}
        scores = (
            finite(name, weight_of(module)).float().abs() * (stats[name].squares.sqrt() if stats else 1)
            for _ in range(2)  # the mean first, then what's above it: scores of a whole block aren't held side by side
            for name, module in turn.linears.items()
        )
        ratios.append(outlier_ratio(scores, len(turn.linears), params.outlier))
        sizes.append(sum(weight_of(m).numel() for m in turn.linears.values()))
        inside.append(list(turn.linears))
    found = spread(ratios, sizes, params.sparsity, params.band)
    for index, ((name, _), sparsity) in enumerate(zip(blocks(model), found, strict=True)):
        run.metric(f"sparsity/{name}", index, sparsity)
    least, most = min(found), max(found)
    note = f"Blocks lose between {100 * least:.1f} % and {100 * most:.1f} % of their weights: those with more outliers lose less."
    out = {name: sparsity for names, sparsity in zip(inside, found, strict=True) for name in names}
    # what lies outside the blocks loses what it would if they were alike, so that the mean is still met
    return {name: out.get(name, params.sparsity) for name, _ in linears(model)}, [note]


def outlier_ratio(scores: Iterable[Tensor], layers: int, multiple: float) -> float:
    """Share of all scores above `multiple` times their mean. scores: of each layer, not negative, all of them twice."""
    total, count, above = 0.0, 0, 0
    for number, score in enumerate(scores):
        if number < layers:
            total += float(score.sum(dtype=torch.float64))
            count += score.numel()
        else:
            above += int((score > multiple * total / count).sum())
    return above / count


def spread(ratios: Sequence[float], sizes: Sequence[int], sparsity: float, band: float) -> list[float]:
    """Sparsities in [0, 1], lower where the ratio is higher, whose mean over the weights is `sparsity`.

    They span twice the band, shifted as a whole to meet the mean, and cut off at 0 and 1 where they'd leave the range.
    """
    low, high = min(ratios), max(ratios)
    if high == low:
        return [sparsity] * len(ratios)
    base = [-2 * band * (r - low) / (high - low) for r in ratios]
    total = sum(sizes)

    def shifted(by: float) -> list[float]:
        return [min(1.0, max(0.0, b + by)) for b in base]

    left, right = 0.0, 1.0 + 2 * band
    for _ in range(200):  # bisection: the mean grows with the shift
        middle = (left + right) / 2
        if sum(s * n for s, n in zip(shifted(middle), sizes, strict=True)) < sparsity * total:
            left = middle
        else:
            right = middle
    return shifted(right)
