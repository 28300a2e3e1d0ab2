"""GPTQ: each column is rounded, and the columns not rounded yet take up the error that this makes in the layer's outputs.

Frantar et al., 'GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers' (2023), algorithm 1:
columns in blocks, the inverse Hessian by Cholesky, damping. Act-order (columns of the largest inputs first) with static
groups (each column keeps the grid of its own neighbours), so that what's saved needs no table of columns. Each block is
quantized on the outputs of the quantized ones before it; within a block layer after layer too, if asked. Covers the linear layers of the
blocks, saved packed; embeddings and the head are grid.py's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from core.methods import Given, Outcome, calibration, estimates, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.common import pruned_zeros, stored_dtype
from core.methods.hessian import Factor, factorise
from core.methods.quantization import grid
from core.methods.quantization.grid import OffsetGridParams
from core.methods.sequential import Hessian
from core.models import packed
from core.models.blocks import weight_of
from core.models.packed import PackedLinear, QuantWeight
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run

COLUMN_SECONDS = 60e-6  # that a column takes whatever its height: a dozen small operations
BLOCK = 128  # columns whose errors reach the rest of the weight in one product


class GptqParams(CalibrationParams, OffsetGridParams):
    act_order: bool = knob(
        True,
        title="Important columns first",
        help="Round the columns with the largest inputs first, while the most other columns are left to take up their error. "
        "Turn it off only to compare.",
        advanced=True,
    )
    damping: float = knob(
        0.01,
        title="Damping",
        help="Share of the mean diagonal added to the Hessian. Raise it to 0.1 where a layer's error is larger than with rtn.",
        gt=0,
        le=1,
        advanced=True,
    )
    stepwise: bool = knob(
        False,
        title="Layer after layer within a block",
        help="Look again at a block's later layers after its earlier ones were rounded, instead of at all of them before. "
        "Takes a quarter longer, and holds less in memory; on SmolLM2 no more accurate.",
        advanced=True,
    )
    clip: bool = knob(
        True,
        title="Clip outliers",
        help="Search for each scale the range with the least squared error, columns weighed by their inputs, instead of reaching to "
        "the largest weight.",
    )


def label(params: GptqParams) -> str:
    """'gptq 4-bit g64 asymmetric'."""
    return " ".join([f"gptq {params.bits}-bit", *grid.grid_label(params)])


def estimate_gptq(params: GptqParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    memory, seconds = estimates.walking(info, params.windows, params.context, device, passes=2.6 if params.stepwise else 2, hessians=4)
    if seconds is not None:
        weights, widths = estimates.linear_parameters(info), estimates.widths(info)
        search = (28 * len(grid.RATIOS) if params.clip else 0) + 40
        columns = (info.layers or 0) * (6 * (info.hidden or 0) + max(widths, default=0))
        products = weights * (info.hidden or 0) / (estimates.REACHED[torch.float32] * estimates.operations_per_second(device))
        seconds += estimates.seconds_per_weight(device) * weights * search + COLUMN_SECONDS * columns + products
    return {"memory": memory, "seconds": seconds} | grid.estimate_size(params, info, ledger)


@method(
    "gptq",
    rank=1,
    title="GPTQ",
    family="quantization",
    summary="Minutes, needs a text. The most accurate 4 bits without training: errors are made up for by the weights not yet rounded.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/2210.17323",
    estimate=estimate_gptq,
    label=label,
    blockwise=True,
)
def gptq(model: Any, params: GptqParams, run: Run, given: Given) -> Outcome:
    """Replaces the linear layers of the blocks by PackedLinear modules, one block at a time."""
    found, transposed = grid.targets(model, given.info)
    size, notes = grid.group_of(params, found)
    layers = [name for name, _ in found]
    del found  # a layer that was replaced is to go, and its weight with it
    ids, more = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
    notes += more
    dtype = stored_dtype(given.info)  # a scale rounded only on saving would give other weights than those measured
    packable = set(layers)
    notes += grid.quantize_embeddings(model, params, size, dtype, run, given.home)
    for turn in sequential.walk(model, run, "Quantizing", ids, home=given.home):
        groups = [kept for names in turn.groups() if (kept := [name for name in names if name in packable])]
        stats = {} if params.stepwise or not groups else turn.collect(Hessian, [name for names in groups for name in names])
        for names in groups:
            # one Hessian for all of them, since they read the same
            hessian = turn.collect(Hessian, names)[names[0]] if params.stepwise else stats[names[0]]
            factor = factorise(hessian.sum, params.damping, params.act_order)  # its factor doesn't matter: damping is relative
            importance = hessian.squares if params.clip else None
            del hessian
            for name in names:
                run.check_cancelled()
                module = turn.linears[name]
                weight = grid.finite(name, weight_of(module))
                quant = compensated(weight, factor, params.bits, size, grid.symmetric(params), dtype, importance)
                turn.replace(name, PackedLinear.from_linear(module, quant))
                stats.pop(name, None)
    rest = grid.round_rest(model, grid.still_dense(model, layers), params, size, dtype)
    notes.append(grid.sentence(len(layers), params.bits, size, dtype, params.embeddings))
    notes += rest
    notes += grid.left_out(transposed)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


# ---- the rounding, on plain tensors ---------------------------------------------------------------------------------------


def compensated(
    weight: Tensor,
    factor: Factor,
    bits: int,
    group_size: int | None,
    symmetric: bool,
    scale_dtype: torch.dtype,
    importance: Tensor | None = None,
    block: int = BLOCK,
) -> QuantWeight:
    """weight (out, in) on its grids, each column's error taken up by those after it in the factor's order.

    importance: (in,) to search each group's range by (see grid.searched_range); None: the full range. The grids are those of
    the weight as it comes (static groups), whatever the order. Where it was pruned, zeros take up no error and stay zero.
    """
    held = pruned_zeros(weight)
    work = weight.detach().float().clone()
    work[:, factor.dead] = 0
    if importance is None:
        low, high = grid.full_range(work, bits, group_size, symmetric)
    else:
        low, high = grid.searched_range(work, bits, group_size, symmetric, scale_dtype, importance)
    scale, zero = packed.grid(low, high, bits, symmetric, scale_dtype)
    columns = weight.shape[1]
    group = factor.order // (group_size or columns)  # (in,): each column's group, in the order of rounding
    work = work[:, factor.order].t().contiguous()  # (in, out): a column lies together
    held = None if held is None else held[:, factor.order].t().contiguous()
    codes = torch.empty(work.shape, dtype=torch.int8, device=work.device)
    scales, zeros = scale.t().contiguous(), None if zero is None else zero.t().contiguous()  # (groups, out)
    bottom, top = packed.code_range(bits)
    product = scale_dtype if packed.dequantized_on_load(bits, symmetric) else torch.float32  # the dtype a reload multiplies in
    for start in range(0, columns, block):
        end = min(start + block, columns)
        part, errors = work[start:end], torch.empty_like(work[start:end])  # (block, out)
        upper = factor.upper[start:end, start:end]
        diagonal = upper.diagonal().tolist()
        which = group[start:end].tolist()
        for i in range(end - start):
            s = scales[which[i]]
            x = part[i] / s.float()
            if zeros is not None:
                z = zeros[which[i]]
                x = x + z
            code = x.round_().clamp_(bottom, top)
            if held is not None:
                code = code.masked_fill_(held[start + i], 0) if zeros is None else torch.where(held[start + i], z, code)
            codes[start + i] = code.to(torch.int8)
            shifted = code if zeros is None else code - z
            rounded = (shifted.to(product) * s.to(product)).float()
            errors[i] = (part[i] - rounded) / diagonal[i]
            if i + 1 < end - start:
                part[i + 1 :].addr_(upper[i, i + 1 :], errors[i], alpha=-1)
        if end < columns:
            work[end:].addmm_(factor.upper[start:end, end:].t(), errors, alpha=-1)
    unordered = torch.empty_like(codes)
    unordered[factor.order] = codes
    return QuantWeight(bits, group_size, symmetric, scale, zero, unordered.t().contiguous())
