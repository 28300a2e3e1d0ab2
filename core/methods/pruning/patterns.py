"""Which weights go: the knobs, counts and masks that magnitude, wanda and sparsegpt share.

Covers free sparsity and N:M patterns (2:4 as in Mishra et al., 'Accelerating Sparse Deep Neural Networks', 2021; 4:8), weights that
compete within a row, a layer or the whole model, and counts that are exact to the weight: over the model, in each layer, and to one
weight in each row. Masks are chosen from scores on plain tensors; where scores come from is each method's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from core.errors import UserError
from core.methods import estimates
from core.models.blocks import blocks, linears, weight_of
from core.params import Params, knob
from core.records import Ledger, SourceInfo

SHAPES = {"2:4": (2, 4), "4:8": (4, 8)}  # how many of how many neighbours go


class PatternParams(Params):
    pattern: Literal["free", "2:4", "4:8"] = knob(
        "free",
        title="Pattern",
        help="Free: any weight may go, best for accuracy. 2:4 and 4:8: exactly half of every 4 (8) neighbours in a row go; "
        "some GPUs multiply 2:4 faster. Choose it only for such a GPU.",
        labels={"free": "Free", "2:4": "2 of every 4", "4:8": "4 of every 8"},
    )
    sparsity: float = knob(
        0.5,
        title="Sparsity",
        help="Share of the weights of the linear layers that become zero. Accuracy falls slowly up to about 0.3, and fast after 0.5.",
        ge=0,
        lt=1,
        step=0.05,
        when={"pattern": "free"},
    )


def label(name: str, params: Any) -> str:
    """'wanda 50 %', 'wanda 2:4', 'wanda 50 % by outliers'."""
    if params.pattern != "free":
        return f"{name} {params.pattern}"
    return f"{name} {100 * params.sparsity:.3g} %" + (" by outliers" if getattr(params, "layers", "") == "outliers" else "")


def share(params: PatternParams) -> float:
    """The share of the weights that goes, whatever the pattern."""
    return params.sparsity if params.pattern == "free" else 0.5


def estimate_size(params: PatternParams, info: SourceInfo, ledger: Ledger) -> dict[str, Any]:
    """{bytes_on_disk, effective_bits, notes}: zeros are stored like other numbers."""
    zeros = share(params) * estimates.linear_parameters(info)
    return {
        "bytes_on_disk": ledger.bytes_on_disk,
        "effective_bits": ledger.effective_bits,
        "notes": [f"0 % smaller on disk, {100 * zeros / ledger.parameters:.0f} % zeros"] if ledger.parameters else [],
    }


# ---- how many go where ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plan:
    """How many weights of each linear layer become zero. Layers that the pattern doesn't fit are in `skipped`."""

    counts: dict[str, int]  # layer -> zeros
    sizes: dict[str, int]  # layer -> weights
    skipped: tuple[str, ...]


def plan(layers: Sequence[tuple[str, nn.Module]], params: PatternParams, of: str, sparsities: dict[str, float] | None = None) -> Plan:
    """The Plan for linear layers with their names; their weights needn't be in memory.

    of: the model's name, for what's refused; sparsities: of each layer where they aren't all `params.sparsity`; their mean over
    the weights is that all the same. Raises UserError: no layers, none that the pattern fits.
    """
    if not layers:
        raise UserError("{name} has no linear layers to prune.", hint="Choose another model.", kind="model", name=of)
    shapes = {name: weight_of(module).shape for name, module in layers}
    sizes = {name: shape.numel() for name, shape in shapes.items()}
    skipped: tuple[str, ...] = ()
    if params.pattern == "free":
        targets = [(sparsities or {}).get(name, params.sparsity) * size for name, size in sizes.items()]
        counts = whole(targets, list(sizes.values()), count_of(params.sparsity, sum(sizes.values())))
        return Plan(dict(zip(sizes, counts, strict=True)), sizes, skipped)
    gone, group = SHAPES[params.pattern]
    skipped = tuple(name for name, shape in shapes.items() if shape[1] % group)
    if len(skipped) == len(layers):
        raise UserError(
            "The pattern {pattern} needs widths that {group} divides, and {name} has none.",
            hint="Choose the free pattern.",
            kind="model",
            pattern=params.pattern,
            group=group,
            name=of,
        )
    return Plan({name: 0 if name in skipped else size * gone // group for name, size in sizes.items()}, sizes, skipped)


def count_of(sparsity: float, total: int) -> int:
    """How many of `total` go: rounded to nearest, halves up."""
    return int(sparsity * total + 0.5)


def whole(targets: Sequence[float], sizes: Sequence[int], total: int) -> list[int]:
    """Whole numbers that sum to `total`, each within 1 of its target and not above its size: running sums are rounded.

    The targets sum to `total`, up to rounding.
    """
    out, running, given = [], 0.0, 0
    for number, (target, size) in enumerate(zip(targets, sizes, strict=True), 1):
        running += target
        upto = total if number == len(targets) else int(running + 0.5)
        out.append(max(0, min(size, upto - given)))
        given += out[-1]
    return out


# ---- the masks, on plain tensors --------------------------------------------------------------------------------------


def smallest_mask(score: Tensor, n: int) -> Tensor:
    """True for exactly the n smallest scores of each row; of equal scores the leftmost go first.

    score: (rows, columns). Returns a boolean tensor of the same shape.
    """
    if n == 0:
        return torch.zeros_like(score, dtype=torch.bool)
    if n == score.shape[1]:
        return torch.ones_like(score, dtype=torch.bool)
    edge = score.kthvalue(n, dim=1, keepdim=True).values  # (rows, 1): the largest score that goes
    below, at = score < edge, score == edge
    ties = n - below.sum(1, keepdim=True)  # (rows, 1): how many of the equal ones go
    return below | (at & (at.cumsum(1) <= ties))


def rows_mask(score: Tensor, n: int) -> Tensor:
    """True for exactly n weights: as many in each row, the smallest, and one more in those rows where that one's score is least.

    score: (rows, columns), finite. Returns a boolean tensor of the same shape.
    """
    each, over = divmod(n, score.shape[0])
    mask = smallest_mask(score, each)
    if over:
        left = score.masked_fill(mask, torch.inf)
        least = left.amin(1, keepdim=True)  # (rows, 1)
        next_one = left == least
        next_one &= next_one.cumsum(1) == 1  # the leftmost
        mask |= next_one & smallest_mask(least.t(), over).t()
    return mask


def layer_mask(score: Tensor, n: int) -> Tensor:
    """True for exactly the n smallest scores of the whole layer (rows, columns); of equal ones, the first in row order."""
    return smallest_mask(score.reshape(1, -1), n).view_as(score)


def n_of_m_mask(score: Tensor, n: int, m: int) -> Tensor:
    """True for exactly the n smallest of every m neighbours in a row; of equal scores the leftmost go first.

    score: (rows, columns), m divides columns. Returns a boolean tensor of the same shape.
    """
    return least_of(score.reshape(-1, m).t(), n).t().reshape(score.shape)


def least_of(scores: Tensor, n: int) -> Tensor:
    """True for exactly the n smallest down each column of scores (few, any); of equal ones the uppermost go first.

    By comparing each pair of rows, which is faster than sorting a few numbers many times over.
    """
    rows = scores.unbind()
    before = [torch.zeros(rows[0].shape, dtype=torch.uint8, device=scores.device) for _ in rows]  # how many go before each
    for i, low in enumerate(rows):
        for j in range(i + 1, len(rows)):
            first = low <= rows[j]
            before[j] += first
            before[i] += ~first
    return torch.stack(before) < n


def mask_of(score: Tensor, params: PatternParams, scope: str, n: int) -> Tensor:
    """The mask of a layer by its scores (out, in): of the pattern, or of n weights that compete within 'row' or 'layer'."""
    if params.pattern != "free":
        return n_of_m_mask(score, *SHAPES[params.pattern])
    return rows_mask(score, n) if scope == "row" else layer_mask(score, n)


class Threshold:
    """The k-th smallest of many layers' scores together, without holding them side by side.

    Two counting passes over the 32 bits of the scores (for numbers that aren't negative, their bits as integers are in
    the numbers' order): the first finds the upper 16 bits of the k-th, the second its lower 16. Exact on any device.
    Equal scores go in the order of the layers, and leftmost first within one: `mask` must be asked in that order.
    """

    def __init__(self, edge: int, ties: int):
        self.edge, self.ties = edge, ties  # bits of the k-th score; how many scores equal to it still go

    @classmethod
    def over(cls, layers: list[Tensor], sparsity: float) -> Threshold:
        k = count_of(sparsity, sum(weight.numel() for weight in layers))
        if k == 0:
            return cls(-1, 0)
        high = sum(torch.bincount(_bits(w) >> 16, minlength=1 << 16).cpu() for w in layers)  # (65536,)
        upper, before = _bin_of(high, k)
        low = torch.zeros(1 << 16, dtype=torch.long)
        for w in layers:
            bits = _bits(w)
            low += torch.bincount(bits[bits >> 16 == upper] & 0xFFFF, minlength=1 << 16).cpu()
        lower, below = _bin_of(low, k - before)
        return cls(upper << 16 | lower, k - before - below)

    def mask(self, score: Tensor) -> Tensor:
        """True for the weights of this layer that go; takes its share of the ties, so call it once a layer."""
        bits = _bits(score)
        at = bits == self.edge
        at &= at.cumsum(0) <= self.ties
        self.ties -= int(at.sum())
        return ((bits < self.edge) | at).view_as(score)


def _bits(weight: Tensor) -> Tensor:
    """|weight| in float32, as the integers that its bits are. Flat, in row order, int32 -> int64 where counted."""
    return weight.float().abs().contiguous().view(torch.int32).flatten()


def _bin_of(counts: Tensor, k: int) -> tuple[int, int]:
    """The bin in which the k-th item (from 1) lies, and how many items lie before that bin."""
    running = counts.cumsum(0)
    found = int(torch.searchsorted(running, torch.tensor(k)))
    return found, int(running[found] - counts[found])


# ---- around the masks -------------------------------------------------------------------------------------------------


def finite(name: str, weight: Tensor) -> Tensor:
    """The weight; raises UserError where it holds what isn't a finite number."""
    if not torch.isfinite(weight).all():
        raise UserError(
            "The weights of {layer} aren't all numbers (NaN or infinite), so they can't be compared.",
            hint="The model is damaged; import it again from its source.",
            kind="model",
            layer=name,
        )
    return weight


def said(
    model: nn.Module,
    layers: Sequence[tuple[str, nn.Module]],
    params: PatternParams,
    planned: Plan,
    draws: bool = False,
) -> list[str]:
    """What has to be said of the zeros; counted in the weights, or as planned where they aren't in memory any more.

    draws: whether they're those of a UNet.
    """
    zeros = sum(planned.counts[n] if weight_of(m).is_meta else int((weight_of(m) == 0).sum()) for n, m in layers)
    weights, parameters = sum(planned.sizes.values()), sum(p.numel() for p in model.parameters())
    notes = [
        f"0 % smaller on disk, {100 * zeros / parameters:.0f} % zeros: {zeros:,} of the {weights:,} weights in {len(layers)} "
        f"{'convolutions and linear layers' if draws else 'linear layers'} are zero ({100 * zeros / weights:.1f} %); "
        f"{'the first and last convolution, time embedding, norms and biases' if draws else 'embeddings, head, norms and biases'} "
        "are untouched.",
        "Zeros are computed with like other numbers, so by itself nothing is faster.",
    ]
    if planned.skipped:
        notes.append(f"Left as they were, since {SHAPES[params.pattern][1]} doesn't divide their width: {', '.join(planned.skipped)}.")
    return notes


def prune_rest(model: nn.Module, params: PatternParams, scope: str, planned: Plan) -> list[str]:
    """Prunes, by magnitude alone, layers outside the blocks, whose inputs aren't seen (BERT's pooler); a sentence that says so."""
    names, inside = [], tuple(f"{name}." for name, _ in blocks(model))
    for name, module in linears(model):
        if planned.counts[name] and not name.startswith(inside):
            weight = weight_of(module)
            weight.masked_fill_(mask_of(finite(name, weight).float().abs(), params, scope, planned.counts[name]), 0)
            names.append(name)
    return [f"Outside the blocks, so pruned by magnitude alone: {', '.join(names)}."] if names else []
