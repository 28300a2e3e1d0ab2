"""Half-quadratic quantization: round to nearest on a grid fitted to each group of weights, from the weights alone.

Minimises sum |W - W_q|^p over scale and zero. Badri & Shaji, 'Half-Quadratic Quantization of Large Machine Learning Models'
(2023), do it for p = 0.7 by the additive half-quadratic splitting; here it's the multiplicative one (Geman & Reynolds 1992),
which is least squares with weights |error|^(p-2) found anew at each step, and serves every p. On the models measured
(SmolLM2, table in bench_quantization.py) p below 2 is worse than plain rounding and p = 3 is better: there the large weights
count most. In the paper the zero is a real number; the files written here hold whole ones, so it's rounded, and the scale fitted
after it. Each group keeps the best grid that it passed, so that none is worse than plain rounding's. Covers the linear layers,
saved packed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from core.methods import Given, Outcome, estimates, method, sequential
from core.methods.common import stored_dtype
from core.methods.quantization import grid
from core.methods.quantization.grid import OffsetGridParams
from core.models import diffusion, packed
from core.models.blocks import weight_of
from core.models.packed import PackedLinear, QuantWeight
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run

SMALLEST = 1e-3  # steps of the grid: an error smaller than this weighs as much as one of that size


class HqqParams(OffsetGridParams):
    norm: float = knob(
        3.0,
        title="Norm",
        help="Power of the errors that are summed. 2 is least squares. Above it large errors count more, which protects outlying weights; "
        "below it a few large errors are let be for many small ones.",
        ge=0.5,
        le=8,
        step=0.5,
    )
    iterations: int = knob(
        8,
        title="Iterations",
        help="Steps of the fit. Beyond 10 hardly a grid moves.",
        ge=1,
        le=200,
        advanced=True,
    )


def label(params: HqqParams) -> str:
    """'hqq 4-bit g64'."""
    return " ".join([f"hqq {params.bits}-bit", *grid.grid_label(params)])


def estimate_hqq(params: HqqParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    return {
        "memory": estimates.resident(info, device) + 40 * estimates.largest_linear(info),
        "seconds": estimates.seconds_per_weight(device) * estimates.linear_parameters(info) * (30 + 60 * params.iterations),
    } | grid.estimate_size(params, info, ledger)


@method(
    "hqq",
    rank=3,
    title="Half-quadratic",
    family="quantization",
    summary="A minute, needs no data. Round to nearest on a grid fitted to the bulk of the weights: better at 4 bits and below.",
    tasks=("causal-lm", "encoder", "classifier", "diffusion"),
    paper="https://mobiusml.github.io/hqq_blog/",
    estimate=estimate_hqq,
    label=label,
    blockwise=True,
)
def hqq(model: Any, params: HqqParams, run: Run, given: Given) -> Outcome:
    """Replaces the linear layers of `model` by PackedLinear modules, one at a time."""
    if isinstance(model, diffusion.Denoiser):
        dtype = stored_dtype(given.info)
        quantize = lambda weight, size: half_quadratic(
            weight, params.bits, size, grid.symmetric(params), dtype, params.norm, params.iterations
        )
        return Outcome(model, tuple(grid.round_unet(model, params, quantize, dtype, run, given.info.name)))
    found, transposed = grid.targets(model, given.info)
    size, notes = grid.group_of(params, found)
    layers = [name for name, _ in found]
    del found  # a layer that was replaced is to go, and its weight with it
    dtype = stored_dtype(given.info)
    packable = set(layers)
    notes += grid.quantize_embeddings(model, params, size, dtype, run, given.home)
    for turn in sequential.walk(model, run, "Quantizing", home=given.home):
        for name, module in turn.linears.items():
            if name not in packable:
                continue
            run.check_cancelled()
            weight = grid.finite(name, weight_of(module))
            quant = half_quadratic(weight, params.bits, size, grid.symmetric(params), dtype, params.norm, params.iterations)
            turn.replace(name, PackedLinear.from_linear(module, quant))
    rest = grid.round_rest(model, grid.still_dense(model, layers), params, size, dtype)
    notes.append(grid.sentence(len(layers), params.bits, size, dtype, params.embeddings))
    notes += rest
    notes += grid.left_out(transposed)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


# ---- the fit, on plain tensors ----------------------------------------------------------------------------------------------


def half_quadratic(
    weight: Tensor, bits: int, group_size: int | None, symmetric: bool, scale_dtype: torch.dtype, norm: float = 3.0, iterations: int = 8
) -> QuantWeight:
    """weight (out, in) rounded to grids fitted group by group; in no group a larger sum of |error|^norm than rounding has."""
    w = weight.detach().float().unflatten(-1, (weight.shape[1] // (group_size or weight.shape[1]), -1))  # (out, groups, size)
    bottom, top = packed.code_range(bits)
    scale, zero = packed.grid(*grid.full_range(weight, bits, group_size, symmetric), bits, symmetric, scale_dtype)
    unit = scale.float().unsqueeze(-1)  # errors are counted in steps of the first grid, so that no power of them overflows
    best_scale, best_zero, least = scale, zero, None
    for step in range(iterations + 1):
        s = scale.float().unsqueeze(-1)
        code = w / s
        if zero is not None:
            code += zero.unsqueeze(-1)
        code = code.round_().clamp_(bottom, top)
        steps = code if zero is None else code - zero.unsqueeze(-1)
        error = torch.addcmul(w, steps, s, value=-1).div_(unit).abs_()
        influence = error.clamp_min(SMALLEST).pow_(norm - 2) if norm != 2 else torch.ones_like(error)  # (out, groups, size)
        cost = (influence * error.square_()).sum(-1)  # (out, groups): |error|^norm
        if least is None:
            least = cost
        else:
            better = cost < least
            least = torch.where(better, cost, least)
            best_scale = torch.where(better, scale, best_scale)
            best_zero = None if zero is None else torch.where(better, zero, best_zero)
        if step < iterations:
            scale, zero = fitted(w, code, zero, influence, scale, bottom, top, scale_dtype)
    return QuantWeight(bits, group_size, symmetric, best_scale, best_zero, packed.encode(weight, best_scale, best_zero, bits))


def fitted(
    w: Tensor, code: Tensor, zero: Tensor | None, influence: Tensor, scale: Tensor, bottom: int, top: int, scale_dtype: torch.dtype
) -> tuple[Tensor, Tensor | None]:
    """(scale, zero), each (out, groups), of the weighted least squares of w - (code - zero) * scale; the old scale where none fits."""
    steps = code
    if zero is not None:  # the line w = slope * code + rest first, whose zero is then rounded
        total = influence.sum(-1, keepdim=True)
        mean_code = (influence * code).sum(-1, keepdim=True) / total
        mean_w = (influence * w).sum(-1, keepdim=True) / total
        off = influence * (code - mean_code)
        slope = (off * (w - mean_w)).sum(-1, keepdim=True) / (off * (code - mean_code)).sum(-1, keepdim=True).clamp_min(1e-12)
        slope = torch.where(slope > 0, slope, scale.float().unsqueeze(-1))
        zero = (mean_code - mean_w / slope).squeeze(-1).round_().clamp_(bottom, top).to(torch.int8)
        steps = code - zero.unsqueeze(-1)
    found = (influence * w * steps).sum(-1) / (influence * steps.square()).sum(-1).clamp_min(1e-12)
    found = found.to(scale_dtype)
    return torch.where(found > 0, found, scale), zero
