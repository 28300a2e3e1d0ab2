"""AWQ: the columns that the largest inputs meet are scaled up before rounding, so that they are rounded more finely.

Lin et al., 'AWQ: Activation-aware Weight Quantization for LLM Compression and Acceleration' (2024), section 3.2: a column's
scale is the mean magnitude of its input to the power alpha, alpha searched on a grid for each set of layers that reads the
same input; the inverse scale is folded into the norm or linear layer before, so that nothing is left to do at run time. The
error of a trial is that of the layers' outputs on the calibration text, from their inputs' second moments. Layers without a
place to fold into (found by trying, see folding.py) are only rounded. Covers the linear layers of the blocks, saved packed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from core.methods import Given, Outcome, calibration, estimates, folding, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.common import stored_dtype
from core.methods.folding import Fold
from core.methods.quantization import grid
from core.methods.quantization.grid import OffsetGridParams
from core.methods.sequential import Hessian
from core.models import packed
from core.models.blocks import weight_of
from core.models.packed import PackedLinear
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run

POINTS = 20


class AwqParams(CalibrationParams, OffsetGridParams):
    points: int = knob(
        POINTS,
        title="Grid points",
        help="Powers between 0 (no scaling) and 1 that are tried for each set of layers. Time grows with it.",
        ge=1,
        le=100,
        advanced=True,
    )
    clip: bool = knob(
        True,
        title="Clip outliers",
        help="Search for each scale the range with the least squared error, columns weighed by their inputs, instead of reaching to "
        "the largest weight.",
    )


def label(params: AwqParams) -> str:
    """'awq 4-bit g64 asymmetric'."""
    return " ".join([f"awq {params.bits}-bit", *grid.grid_label(params)])


def estimate_awq(params: AwqParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    memory, seconds = estimates.walking(info, params.windows, params.context, device, passes=2, hessians=4)
    if seconds is not None:
        weights = estimates.linear_parameters(info)
        each = 28 * (params.points + (len(grid.RATIOS) if params.clip else 0)) + 40
        speed = estimates.REACHED[torch.float32] * estimates.operations_per_second(device)
        seconds += estimates.seconds_per_weight(device) * weights * each + 2 * params.points * weights * (info.hidden or 0) / speed
    return {"memory": memory, "seconds": seconds} | grid.estimate_size(params, info, ledger)


@method(
    "awq",
    rank=2,
    title="AWQ",
    family="quantization",
    summary="Minutes, needs a text. Protects the weights that large inputs meet; better than rounding, mostly a little behind GPTQ.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/2306.00978",
    estimate=estimate_awq,
    label=label,
    blockwise=True,
)
def awq(model: Any, params: AwqParams, run: Run, given: Given) -> Outcome:
    """Scales and replaces the linear layers of the blocks by PackedLinear modules, one block at a time."""
    found, transposed = grid.targets(model, given.info)
    size, notes = grid.group_of(params, found)
    layers = [name for name, _ in found]
    del found  # a layer that was replaced is to go, and its weight with it
    ids, more = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
    notes += more
    dtype = stored_dtype(given.info)
    packable = set(layers)
    notes += grid.quantize_embeddings(model, params, size, dtype, run, given.home)
    scaled = 0
    for turn in sequential.walk(model, run, "Quantizing", ids, home=given.home):
        wanted = [name for name in turn.linears if name in packable]
        stats = turn.collect(Hessian, wanted)
        inverse: dict[str, Tensor] = {}  # layer -> (in,): what its columns were multiplied by
        for fold in folding.folds_of_block(model, turn.name, turn.block, *turn.call()):
            names = [name for name, _ in fold.targets]
            if not set(names) <= packable:
                continue
            weights = [weight_of(module).float() for _, module in fold.targets]
            s = best_scales(weights, stats[names[0]], fold, params.points, params.bits, size, grid.symmetric(params), dtype)
            run.check_cancelled()
            if s is None:
                continue
            inverse |= dict.fromkeys(names, fold.apply(s, dtype))
            scaled += len(names)
        for name in wanted:
            run.check_cancelled()
            module, stat = turn.linears[name], stats[name]
            weight = grid.finite(name, weight_of(module)).float()
            columns = inverse.get(name, torch.ones_like(weight[0]))
            quant = grid.round_to_nearest(
                weight, params.bits, size, grid.symmetric(params), params.clip, dtype, importance=stat.squares / columns.square()
            )
            delta = packed.dequantize(quant, torch.float32) - weight
            error = sequential.relative_error(delta / columns, weight / columns, stat)
            turn.replace(name, PackedLinear.from_linear(module, quant), error)
    rest = grid.round_rest(model, grid.still_dense(model, layers), params, size, dtype)
    notes.append(grid.sentence(len(layers), params.bits, size, dtype, params.embeddings))
    notes += rest
    notes.append(f"{scaled} of them with their columns scaled; the inverse lies in the layer before.")
    notes += grid.left_out(transposed)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


# ---- the search, on plain tensors -----------------------------------------------------------------------------------------


def best_scales(
    weights: list[Tensor],
    stat: Hessian,
    fold: Fold,
    points: int,
    bits: int,
    group_size: int | None,
    symmetric: bool,
    scale_dtype: torch.dtype,
) -> Tensor | None:
    """The channel scales (channels,) of the least output error over all of `weights` (out, in); None where not scaling is best."""
    magnitude = fold.gathered(stat.magnitude / max(1, stat.tokens)).clamp_min(1e-6)  # (channels,)
    least, best = None, None
    for point in range(points):
        s = magnitude.pow(point / points)
        s = (s / (s.max() * s.min()).sqrt()).clamp(1e-4, 1e4)
        columns = fold.columns(s)
        error = 0.0
        for weight in weights:
            quant = grid.round_to_nearest(weight * columns, bits, group_size, symmetric, False, scale_dtype)
            error += stat.power(packed.dequantize(quant, torch.float32) / columns - weight)
        if least is None or error < least:
            least, best = error, s if point else None
    return best
