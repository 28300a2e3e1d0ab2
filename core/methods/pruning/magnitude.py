"""Magnitude pruning: the weights nearest to zero become zero.

Han et al., 'Learning both Weights and Connections for Efficient Neural Networks' (2015), section 3; N:M patterns as in
Mishra et al., 'Accelerating Sparse Deep Neural Networks' (2021). Covers the choice of the weights (free per row, per
layer or over all layers; 2:4 and 4:8 within a row) on linear layers, GPT-2's transposed ones included. Doesn't touch
embeddings, the head, norms and biases, doesn't move the weights that stay, and saves no byte: the zeros are stored.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from core.errors import UserError
from core.methods import Given, Outcome, estimates, method
from core.models.blocks import linears, weight_of
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run


class MagnitudeParams(Params):
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
    scope: Literal["row", "layer", "global"] = knob(
        "row",
        title="Compare within",
        help="Where weights compete to stay. Row: every output keeps the same share, the safest. Layer: rows may differ. "
        "Whole model: layers with small weights lose the most.",
        labels={"row": "Each output row", "layer": "Each layer", "global": "The whole model"},
        when={"pattern": "free"},
    )


def estimate_magnitude(params: MagnitudeParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    share = params.sparsity if params.pattern == "free" else 0.5
    zeros = share * estimates.linear_parameters(info)
    return {
        "bytes_on_disk": ledger.bytes_on_disk,
        "effective_bits": ledger.effective_bits,
        "memory": estimates.resident(info, device) + 16 * estimates.largest_linear(info),
        "seconds": estimates.seconds_per_weight(device) * 60 * estimates.linear_parameters(info),
        "notes": [f"0 % smaller on disk, {100 * zeros / ledger.parameters:.0f} % zeros"] if ledger.parameters else [],
    }


@method(
    "magnitude",
    title="Magnitude pruning",
    family="pruning",
    summary="Seconds, needs no data. Zeros only: no smaller on disk. Mild up to 30 %, harsh at 50 % unless finetuned.",
    paper="https://arxiv.org/abs/1506.02626",
    estimate=estimate_magnitude,
    label=lambda params: f"magnitude {100 * params.sparsity:.3g} %" if params.pattern == "free" else f"magnitude {params.pattern}",
)
def magnitude(model: Any, params: MagnitudeParams, run: Run, given: Given) -> Outcome:
    """Zeroes weights of `model` in place. Sparsity 0 leaves every bit as it was."""
    layers = [(name, weight_of(module)) for name, module in linears(model)]  # weights as (out, in) views
    if not layers:
        raise UserError("{name} has no linear layers to prune.", hint="Choose another model.", kind="model", name=given.info.name)
    kept, group = (4 if params.pattern == "4:8" else 2), (8 if params.pattern == "4:8" else 4)
    notes, zeros, weights = [], 0, 0
    skipped = [name for name, weight in layers if params.pattern != "free" and weight.shape[1] % group]
    if len(skipped) == len(layers):
        raise UserError(
            "The pattern {pattern} needs widths that {group} divides, and {name} has none.",
            hint="Choose the free pattern.",
            kind="model",
            pattern=params.pattern,
            group=group,
            name=given.info.name,
        )
    with torch.no_grad():
        chosen = None
        if params.pattern == "free" and params.scope == "global":
            finite = (_finite(name, weight) for name, weight in layers)
            chosen = Threshold.over(list(run.track(finite, "Comparing weights", len(layers))), params.sparsity)
        for name, weight in run.track(layers, "Pruning"):
            weights += weight.numel()
            if name not in skipped:
                score = _finite(name, weight).float().abs()  # (out, in)
                if params.pattern != "free":
                    gone = n_of_m_mask(score, group - kept, group)
                elif chosen is not None:
                    gone = chosen.mask(score)
                else:
                    gone = smallest_mask(score if params.scope == "row" else score.reshape(1, -1), params.sparsity).view_as(score)
                weight.masked_fill_(gone, 0)
            zeros += int((weight == 0).sum())
    parameters = sum(p.numel() for p in model.parameters())
    notes.append(
        f"0 % smaller on disk, {100 * zeros / parameters:.0f} % zeros: {zeros:,} of the {weights:,} weights in {len(layers)} linear layers "
        f"are zero ({100 * zeros / weights:.1f} %); embeddings, head, norms and biases are untouched."
    )
    if skipped:
        notes.append(f"Left as they were, since {group} doesn't divide their width: {', '.join(skipped)}.")
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


# ---- the choice, on plain tensors -----------------------------------------------------------------------------------


def count_of(sparsity: float, total: int) -> int:
    """How many of `total` go: rounded to nearest, halves up."""
    return int(sparsity * total + 0.5)


def smallest_mask(score: Tensor, sparsity: float) -> Tensor:
    """True for exactly round(sparsity * columns) smallest scores of each row; of equal scores the leftmost go first.

    score: (rows, columns), not negative. Returns a boolean tensor of the same shape.
    """
    columns = score.shape[1]
    n = count_of(sparsity, columns)
    if n == 0:
        return torch.zeros_like(score, dtype=torch.bool)
    edge = score.kthvalue(n, dim=1, keepdim=True).values  # (rows, 1): the largest score that goes
    below, at = score < edge, score == edge
    ties = n - below.sum(1, keepdim=True)  # (rows, 1): how many of the equal ones go
    return below | (at & (at.cumsum(1) <= ties))


def n_of_m_mask(score: Tensor, n: int, m: int) -> Tensor:
    """True for exactly the n smallest of every m neighbours in a row; of equal scores the leftmost go first.

    score: (rows, columns), m divides columns. Returns a boolean tensor of the same shape.
    """
    groups = score.reshape(-1, m)  # (rows * columns / m, m)
    order = groups.argsort(dim=1, stable=True)
    mask = torch.zeros_like(groups, dtype=torch.bool).scatter_(1, order[:, :n], True)
    return mask.view_as(score)


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


def _finite(name: str, weight: Tensor) -> Tensor:
    if not torch.isfinite(weight).all():
        raise UserError(
            "The weights of {layer} aren't all numbers (NaN or infinite), so they can't be compared.",
            hint="The model is damaged; import it again from its source.",
            kind="model",
            layer=name,
        )
    return weight
