"""Half-quadratic quantization: the grid that leaves the weights' errors sparse, found from the weights alone.

After Badri & Shaji, 'Half-Quadratic Quantization of Large Machine Learning Models' (2023): minimise |W - W_q|_p with p < 1 by
half-quadratic splitting: the error is shrunk to a sparse E, and the grid is fitted, in closed form, to W - E. In the paper the
zero is a real number; the files written here hold whole ones, so scale and zero are both fitted, the zero rounded, and each
group keeps the best grid that it passed. Starts from the full range and from clipped ones. Covers the linear layers, saved packed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from core.methods import Given, Outcome, estimates, method, sequential
from core.methods.common import stored_dtype
from core.methods.quantization import grid
from core.methods.quantization.grid import GridParams
from core.models import packed
from core.models.blocks import weight_of
from core.models.packed import PackedLinear, QuantWeight
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run

STARTS = (1.0, 0.9, 0.8, 0.7)  # shares of the full range to begin from
BETA, KAPPA = 10.0, 1.01  # of the splitting, as in the paper's code


class HqqParams(GridParams):
    norm: float = knob(
        0.7,
        title="Norm",
        help="Power p of the errors that are summed: 2 is least squares; below 1 a few large errors are let be for many small ones.",
        gt=0,
        le=2,
        step=0.1,
        advanced=True,
    )
    iterations: int = knob(
        20,
        title="Iterations",
        help="Steps of the fit from each start. Beyond 20 hardly a grid moves.",
        ge=1,
        le=200,
        advanced=True,
    )


def label(params: HqqParams) -> str:
    """'hqq 4-bit g64'."""
    return " ".join([f"hqq {params.bits}-bit", *grid.grid_label(params)])


def estimate_hqq(params: HqqParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    steps = len(STARTS) * params.iterations
    return {
        "memory": estimates.resident(info, device) + 40 * estimates.largest_linear(info),
        "seconds": estimates.seconds_per_weight(device) * estimates.linear_parameters(info) * (30 + 30 * steps),
    } | grid.estimate_size(params, info, ledger)


@method(
    "hqq",
    title="Half-quadratic",
    family="quantization",
    summary="A minute, needs no data. Round to nearest on a grid fitted to the bulk of the weights: better at 4 bits and below.",
    paper="https://mobiusml.github.io/hqq_blog/",
    estimate=estimate_hqq,
    label=label,
)
def hqq(model: Any, params: HqqParams, run: Run, given: Given) -> Outcome:
    """Replaces the linear layers of `model` by PackedLinear modules, one at a time."""
    layers, transposed = grid.targets(model, given.info)
    size, notes = grid.group_of(params, layers)
    dtype = stored_dtype(given.info)
    packable = {name for name, _ in layers}
    for turn in sequential.walk(model, run, "Quantizing"):
        for name, module in turn.linears.items():
            if name not in packable:
                continue
            run.check_cancelled()
            weight = grid.finite(name, weight_of(module))
            quant = half_quadratic(weight, params.bits, size, grid.symmetric(params), dtype, params.norm, params.iterations)
            turn.replace(name, PackedLinear.from_linear(module, quant))
    rest = grid.round_rest(model, layers, params, size, dtype)
    notes.append(grid.sentence(len(layers), params.bits, size, dtype))
    notes += rest
    notes += grid.left_out(transposed)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


# ---- the fit, on plain tensors ----------------------------------------------------------------------------------------------


def half_quadratic(
    weight: Tensor, bits: int, group_size: int | None, symmetric: bool, scale_dtype: torch.dtype, norm: float = 0.7, iterations: int = 20
) -> QuantWeight:
    """weight (out, in) rounded to grids fitted group by group; in no group a larger sum of |error|^norm than rounding has."""
    groups = weight.shape[1] // (group_size or weight.shape[1])
    w = weight.detach().float().unflatten(-1, (groups, -1))  # (out, groups, size)
    bottom, top = packed.code_range(bits)
    low, high = grid.full_range(weight, bits, group_size, symmetric)
    best_scale, best_zero, least = None, None, None
    for share in STARTS:
        scale, zero = packed.grid(low * share, high * share, bits, symmetric, scale_dtype)
        beta = BETA
        for step in range(iterations + 1):
            z = 0.0 if zero is None else zero.float().unsqueeze(-1)
            s = scale.float().unsqueeze(-1)
            code = (w / s + z).round_().clamp_(bottom, top)
            error = w - (code - z) * s
            cost = error.abs().pow(norm).sum(-1)  # (out, groups)
            if least is None:
                best_scale, best_zero, least = scale, zero, cost
            else:
                better = cost < least
                least = torch.where(better, cost, least)
                best_scale = torch.where(better, scale, best_scale)
                best_zero = None if zero is None else torch.where(better, zero, best_zero)
            if step == iterations:
                break
            unit = s  # the shrinking acts on errors in steps of the grid, so that groups of small weights aren't all shrunk to 0
            e = shrink(error / unit, beta, norm) * unit
            target = w - e
            if zero is not None:
                zero = (code - target / s).mean(-1).round_().clamp_(bottom, top).to(torch.int8)
                z = zero.float().unsqueeze(-1)
            steps = code - z
            fitted = (target * steps).sum(-1) / steps.square().sum(-1).clamp_min(1e-12)
            scale = torch.where(fitted > 0, fitted, scale.float()).to(scale_dtype)
            scale = torch.where(scale > 0, scale, best_scale)
            beta *= KAPPA
    return QuantWeight(bits, group_size, symmetric, best_scale, best_zero, packed.encode(weight, best_scale, best_zero, bits))


def shrink(x: Tensor, beta: float, norm: float) -> Tensor:
    """The minimum over e of |e|^norm + beta/2 (e - x)^2, by the generalised soft threshold: small errors become 0."""
    size = x.abs()
    return x.sign() * (size - size.clamp_min(1e-8).pow(norm - 1) / beta).clamp_min(0)
