"""Round to nearest: every weight becomes the nearest point of a uniform grid of 2^bits, one grid a row or a group.

The baseline that all weight quantization is held against (Jacob et al., 'Quantization and Training of Neural Networks
for Efficient Integer-Arithmetic-Only Inference', 2018, section 2); the range can be clipped to where the squared error
is least (Banner et al., 'Post training 4-bit quantization', 2019, section 3). Covers the linear layers, saved packed.
Leaves embeddings and the head in their dtype, and activations alone: nothing becomes faster by itself.
"""

from __future__ import annotations

from typing import Any, Literal

from core.methods import Given, Outcome, estimates, method, sequential
from core.methods.common import stored_dtype
from core.methods.quantization import grid
from core.methods.quantization.grid import RATIOS, GridParams, fitting_group, granularity, round_to_nearest
from core.models import diffusion
from core.models.blocks import weight_of
from core.models.packed import PackedLinear
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run

__all__ = ["RtnParams", "estimate_rtn", "fitting_group", "granularity", "label", "round_to_nearest", "rtn"]


class RtnParams(GridParams):
    bits: Literal[8, 6, 5, 4, 3, 2] = knob(
        8,
        title="Bits",
        help="Bits a weight. 8 is nearly free. 4 halves the file again and costs accuracy: use groups. Below 4 most models break.",
        labels={8: "8 bits", 6: "6 bits", 5: "5 bits", 4: "4 bits", 3: "3 bits", 2: "2 bits"},
    )
    clip: bool = knob(
        False,
        title="Clip outliers",
        help="Search for each scale the range with the least squared error, instead of reaching to the largest weight. "
        "Takes some twenty times longer; helps at 4 bits and below.",
    )


def label(params: RtnParams) -> str:
    """'rtn 4-bit g64 clipped'."""
    return " ".join([f"rtn {params.bits}-bit", *grid.grid_label(params), *["clipped"] * params.clip])


def estimate_rtn(params: RtnParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    return {
        "memory": estimates.resident(info, device) + 12 * estimates.largest_linear(info),
        "seconds": estimates.seconds_per_weight(device)
        * estimates.linear_parameters(info)
        * (30 + (28 * len(RATIOS) if params.clip else 0)),
    } | grid.estimate_size(params, info, ledger)


@method(
    "rtn",
    rank=0,
    title="Round to nearest",
    family="quantization",
    summary="Seconds, needs no data. 8 bits: half the size, hardly a loss. 4 bits: a quarter, and it shows.",
    tasks=("causal-lm", "encoder", "classifier", "diffusion"),
    paper="https://arxiv.org/abs/1712.05877",
    estimate=estimate_rtn,
    label=label,
    blockwise=True,
)
def rtn(model: Any, params: RtnParams, run: Run, given: Given) -> Outcome:
    """Replaces the linear layers of `model` by PackedLinear modules, block by block, then those outside the blocks."""
    if isinstance(model, diffusion.Denoiser):
        dtype = stored_dtype(given.info)
        quantize = lambda weight, size: round_to_nearest(weight, params.bits, size, grid.symmetric(params), params.clip, dtype)
        return Outcome(model, tuple(grid.round_unet(model, params, quantize, dtype, run, given.info.name)))
    found, transposed = grid.targets(model, given.info)
    size, notes = grid.group_of(params, found)
    layers = [name for name, _ in found]
    del found  # a layer that was replaced is to go, and its weight with it
    dtype = stored_dtype(given.info)  # a scale rounded only on saving would give other weights than those measured
    packable = set(layers)
    notes += grid.quantize_embeddings(model, params, size, dtype, run, given.home)
    if given.home is not None or sequential.walkable(model):
        for turn in sequential.walk(model, run, "Quantizing", home=given.home):
            for name in [n for n in turn.linears if n in packable]:
                run.check_cancelled()
                weight = grid.finite(name, weight_of(turn.linears[name]))  # (out, in)
                quant = round_to_nearest(weight, params.bits, size, grid.symmetric(params), params.clip, dtype)
                turn.replace(name, PackedLinear.from_linear(turn.linears[name], quant))
    grid.round_rest(model, grid.still_dense(model, layers), params, size, dtype, clip=params.clip)
    notes.append(grid.sentence(len(layers), params.bits, size, dtype, params.embeddings))
    notes += grid.left_out(transposed)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))
