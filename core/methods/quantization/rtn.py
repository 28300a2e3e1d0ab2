"""Round to nearest: every weight becomes the nearest point of a uniform grid of 2^bits, one grid a row or a group.

The baseline that all weight quantization is held against (Jacob et al., 'Quantization and Training of Neural Networks
for Efficient Integer-Arithmetic-Only Inference', 2018, section 2); the range can be clipped to where the squared error
is least (Banner et al., 'Post training 4-bit quantization', 2019, section 3). Covers the linear layers, saved packed.
Leaves embeddings and the head in their dtype, and activations alone: nothing becomes faster by itself.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import torch
from torch import Tensor, nn

from core.errors import UserError
from core.methods import Given, Outcome, estimates, method
from core.methods.common import stored_dtype
from core.models import packed
from core.models.blocks import linears, replace, weight_of
from core.models.packed import PackedLinear, QuantWeight
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run


class RtnParams(Params):
    bits: Literal[8, 6, 5, 4, 3, 2] = knob(
        8,
        title="Bits",
        help="Bits a weight. 8 is nearly free. 4 halves the file again and costs accuracy: use groups. Below 4 most models break.",
        labels={8: "8 bits", 6: "6 bits", 5: "5 bits", 4: "4 bits", 3: "3 bits", 2: "2 bits"},
    )
    granularity: Literal["auto", "channel", "group"] = knob(
        "auto",
        title="One scale for each",
        help="Weights that share a scale. Automatic: an output row at 8 bits, a group of columns below. Groups cost a few per cent of size "
        "and save accuracy at low bits.",
        labels={"auto": "Automatic", "channel": "Output row", "group": "Group of columns"},
    )
    group_size: int = knob(
        128,
        title="Group size",
        unit="columns",
        help="Columns that share a scale. Smaller is more accurate and larger on disk. Where it doesn't divide the model's widths, "
        "the next smaller size that does is taken, and said.",
        ge=8,
        le=1024,
        when={"granularity": ("auto", "group")},
        unless={"granularity": "auto", "bits": 8},
    )
    symmetric: Literal["auto", True, False] = knob(
        "auto",
        title="Grid",
        help="Symmetric: zero lies in the middle of the grid, and only a scale is stored. With an offset the grid fits the weights better. "
        "Automatic: an offset for each row at 8 bits, where it costs nothing, else symmetric. In groups, offsets add about 1 % of size.",
        labels={"auto": "Automatic", True: "Symmetric", False: "With an offset"},
    )
    clip: bool = knob(
        False,
        title="Clip outliers",
        help="Search for each scale the range with the least squared error, instead of reaching to the largest weight. "
        "Takes some twenty times longer; helps at 4 bits and below.",
    )


RATIOS = tuple(1 - step / 40 for step in range(1, 25))  # of the full range that clipping tries: 0.975 .. 0.4


def granularity(params: RtnParams) -> str:
    if params.granularity == "auto":
        return "channel" if params.bits == 8 else "group"
    return params.granularity


def symmetric(params: RtnParams) -> bool:
    """Whether the grid has no offset. Below 8 bits 'auto' has none, since plain transformers unpacks such layers on loading."""
    return (params.bits < 8 or granularity(params) == "group") if params.symmetric == "auto" else params.symmetric


def label(params: RtnParams) -> str:
    """'rtn 4-bit g64 clipped': what tells variants apart, so that two group sizes don't get one name."""
    grouped = granularity(params) == "group" and params.group_size != RtnParams.model_fields["group_size"].default
    grid = {"auto": [], True: ["symmetric"], False: ["asymmetric"]}[params.symmetric]
    parts = [f"g{params.group_size}"] * grouped + grid + ["clipped"] * params.clip
    return " ".join([f"rtn {params.bits}-bit", *parts])


def estimate_rtn(params: RtnParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    weights, rows, notes = estimates.linear_parameters(info), estimates.linear_rows(info), []
    out: dict[str, Any] = {
        "memory": estimates.resident(info, device) + 12 * estimates.largest_linear(info),
        "seconds": estimates.seconds_per_weight(device) * weights * (30 + (28 * len(RATIOS) if params.clip else 0)),
    }
    if rows is None:
        return out | {"notes": ["The size isn't known beforehand: the model's shape isn't in its configuration."]}
    groups = rows
    if granularity(params) == "group":
        size = fitting_group(params.group_size, estimates.widths(info))
        groups = weights / size
        if size != params.group_size:
            notes.append(f"Group size {size} instead of {params.group_size}, which doesn't divide the widths.")
    scales = groups * (estimates.stored_bytes(info) + (0 if symmetric(params) else params.bits / 8))
    layers = estimates.linear_count(info)
    shapes = 16 * layers if params.bits < 8 else 0
    change = weights * (params.bits / 8 - estimates.stored_bytes(info)) + scales + shapes
    headers = layers * (300 if params.bits < 8 else 110) + 900  # the added tensors' names and offsets; the configuration's entry
    return out | {
        "bytes_on_disk": int(ledger.bytes_on_disk + change + headers),
        "effective_bits": 8 * (ledger.weight_bytes + change) / max(1, ledger.original_parameters),
        "notes": notes,
    }


@method(
    "rtn",
    title="Round to nearest",
    family="quantization",
    summary="Seconds, needs no data. 8 bits: half the size, hardly a loss. 4 bits: a quarter, and it shows.",
    paper="https://arxiv.org/abs/1712.05877",
    estimate=estimate_rtn,
    label=label,
)
def rtn(model: Any, params: RtnParams, run: Run, given: Given) -> Outcome:
    """Replaces the linear layers of `model` by PackedLinear modules, one at a time."""
    layers = [(name, module) for name, module in linears(model) if isinstance(module, nn.Linear)]
    transposed = [name for name, module in linears(model) if not isinstance(module, nn.Linear)]
    if not layers:
        raise UserError(
            "{name} has no linear layers that can be saved packed{why}.",
            hint="Choose another model, or prune it.",
            kind="model",
            name=given.info.name,
            why=" (GPT-2's are stored transposed, and transformers can't reload those packed)" if transposed else "",
        )
    notes = []
    size = None
    if granularity(params) == "group":
        widths = sorted({module.in_features for _, module in layers})
        size = fitting_group(params.group_size, widths)
        if size != params.group_size:
            notes.append(
                f"Group size {size} instead of {params.group_size}: {params.group_size} doesn't divide the widths "
                f"{', '.join(str(w) for w in widths if w % params.group_size)}, and all layers get the same."
            )
    dtype = stored_dtype(given.info)  # a scale rounded only on saving would give other weights than those measured
    error = power = 0.0
    with torch.no_grad():
        for name, module in run.track(layers, "Quantizing"):
            weight = weight_of(module)  # (out, in)
            if not torch.isfinite(weight).all():
                raise UserError(
                    "The weights of {layer} aren't all numbers (NaN or infinite), so they can't be rounded.",
                    hint="The model is damaged; import it again from its source.",
                    kind="model",
                    layer=name,
                )
            quant = round_to_nearest(weight, params.bits, size, symmetric(params), params.clip, dtype)
            error += float((packed.dequantize(quant, torch.float32) - weight.float()).square().sum())
            power += float(weight.float().square().sum())
            replace(model, name, PackedLinear.from_linear(module, quant))
    kept = f"{len(layers)} linear layers in {params.bits} bits, one scale for each {f'{size} columns of a row' if size else 'output row'}"
    notes.append(f"{kept}; embeddings and head stay in {str(dtype).removeprefix('torch.')}.")
    if transposed:
        notes.append(f"Left as they were, since transformers can't reload them packed: {', '.join(transposed)}.")
    if power:
        run.log(f"Relative error of the weights: {math.sqrt(error / power):.4f}")
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


# ---- the rounding, on plain tensors ---------------------------------------------------------------------------------


def fitting_group(asked: int, widths: tuple[int, ...] | list[int]) -> int:
    """The group size for layers of these widths: `asked` where it divides all of them, else a smaller one that does.

    Powers of two from 16 up are preferred, since the kernels that compute with groups know those; where the widths
    have none, it's the largest common divisor up to `asked`.
    """
    common = math.gcd(*widths) if widths else asked
    if common % asked == 0:
        return asked
    fitting = [size for size in range(1, min(asked, common) + 1) if common % size == 0]
    even = [size for size in fitting if size >= 16 and size & (size - 1) == 0]
    return max(even or fitting)


def round_to_nearest(
    weight: Tensor, bits: int, group_size: int | None, symmetric: bool, clip: bool, scale_dtype: torch.dtype
) -> QuantWeight:
    """weight (out, in) on the nearest points of its grids. With `clip`, each group's range is the one of least squared error."""
    grouped = weight.float().unflatten(-1, (-1, group_size or weight.shape[-1]))  # (out, groups, size)
    low, high = grouped.amin(-1), grouped.amax(-1)  # (out, groups)
    if symmetric and bits == 8:
        # The grid's end lies half a step inside the range. At 8 bits the step is so fine that the largest weight, which
        # counts most, is better met exactly; below, the finer step is worth more (KL on SmolLM2: at 8 bits .0030 instead
        # of .0032, but at 4 bits .57 instead of .41).
        low, high = low * (127.5 / 127), high * (127.5 / 127)
    plain = packed.quantize(weight, bits, group_size, symmetric, scale_dtype=scale_dtype, low=low, high=high)
    if not clip:
        return plain
    best = torch.ones_like(low)  # the share of the range that's kept
    least = _group_error(plain, grouped)
    for ratio in RATIOS:
        tried = packed.quantize(weight, bits, group_size, symmetric, scale_dtype=scale_dtype, low=low * ratio, high=high * ratio)
        found = _group_error(tried, grouped)
        better = found < least
        least, best = torch.where(better, found, least), torch.where(better, ratio, best)
    return packed.quantize(weight, bits, group_size, symmetric, scale_dtype=scale_dtype, low=low * best, high=high * best)


def _group_error(quant: QuantWeight, grouped: Tensor) -> Tensor:
    """Squared error of each group: (out, groups)."""
    return (packed.dequantize(quant, torch.float32).view_as(grouped) - grouped).square().sum(-1)
