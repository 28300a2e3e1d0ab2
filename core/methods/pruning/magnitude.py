"""Magnitude pruning: the weights nearest to zero become zero.

Han et al., 'Learning both Weights and Connections for Efficient Neural Networks' (2015), section 3. Covers the choice of the
weights (free per row, per layer or over all layers; 2:4 and 4:8 within a row) on linear layers, GPT-2's transposed ones included, and
on the convolutions of a UNet, whose rows are what makes one channel; their neighbours are input channels at one place of the kernel.
Reads no text, so layer sparsities come from outliers of |W| alone. Doesn't touch embeddings, the head, norms and biases, doesn't
move the weights that stay, and saves no byte: the zeros are stored.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor, nn

from core.errors import UserError
from core.methods import Given, Outcome, estimates, method
from core.methods.pruning import layer_sparsity, patterns
from core.methods.pruning.layer_sparsity import LayerSparsityParams
from core.methods.pruning.patterns import Threshold, finite, mask_of
from core.models import diffusion
from core.models.blocks import linears, weight_of
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run


class MagnitudeParams(LayerSparsityParams):
    scope: Literal["row", "layer", "global"] = knob(
        "row",
        title="Compare within",
        help="Where weights compete to stay. Row: every output keeps the same share, the safest. Layer: rows may differ. "
        "Whole model: layers with small weights lose the most.",
        labels={"row": "Each output row", "layer": "Each layer", "global": "The whole model"},
        when={"pattern": "free", "layers": "uniform"},
    )


def estimate_magnitude(params: MagnitudeParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    return {
        "memory": estimates.resident(info, device) + 16 * estimates.largest_linear(info),
        "seconds": estimates.seconds_per_weight(device) * 60 * estimates.linear_parameters(info),
    } | patterns.estimate_size(params, info, ledger)


@method(
    "magnitude",
    title="Magnitude pruning",
    family="pruning",
    summary="Seconds, needs no data. Zeros only: no smaller on disk. Mild up to 30 %, harsh at 50 % unless finetuned.",
    tasks=("causal-lm", "encoder", "classifier", "diffusion"),
    paper="https://arxiv.org/abs/1506.02626",
    estimate=estimate_magnitude,
    label=lambda params: patterns.label("magnitude", params),
    rank=2,
)
def magnitude(model: Any, params: MagnitudeParams, run: Run, given: Given) -> Outcome:
    """Zeroes weights of `model` in place. Sparsity 0 leaves every bit as it was."""
    draws = isinstance(model, diffusion.Denoiser)
    layers = diffusion.layers(model) if draws else linears(model)
    if draws and params.layers == "outliers" and params.pattern == "free":
        raise UserError(
            "Sparsities by outliers go by the blocks of a transformer, and {name} has none.",
            hint="Let all layers lose the same share, or compare within the whole model.",
            kind="model",
            name=given.info.name,
        )
    sparsities, notes = layer_sparsity.by_blocks(model, params, run, None)
    planned = patterns.plan(layers, params, given.info.name, sparsities)
    with torch.no_grad():
        threshold = None
        if params.pattern == "free" and params.scope == "global" and not sparsities:
            weights = (finite(name, weight_of(module)) for name, module in layers)
            threshold = Threshold.over(list(run.track(weights, "Comparing weights", len(layers))), params.sparsity)
        for name, module in run.track(layers, "Pruning"):
            if name in planned.skipped:
                continue
            weight = weight_of(module)
            score = _neighbours(module, finite(name, weight)).float().abs()  # (out, in)
            gone = threshold.mask(score) if threshold else mask_of(score, params, params.scope, planned.counts[name])
            weight.masked_fill_(_back(module, gone), 0)
    notes += patterns.said(model, layers, params, planned, draws)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


def _neighbours(module: nn.Module, rows: Tensor) -> Tensor:
    """A weight's rows (out, in), of a convolution turned so that neighbours are input channels: (out, height x width x in)."""
    if not isinstance(module, nn.Conv2d):
        return rows
    return rows.view(len(rows), module.weight.shape[1], -1).transpose(1, 2).reshape(len(rows), -1)


def _back(module: nn.Module, rows: Tensor) -> Tensor:
    """The inverse of `_neighbours`."""
    if not isinstance(module, nn.Conv2d):
        return rows
    return rows.view(len(rows), -1, module.weight.shape[1]).transpose(1, 2).reshape(len(rows), -1)
