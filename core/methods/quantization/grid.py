"""What the weight-only methods share: the knobs of the grid, the group that fits, ranges of least error, sizes beforehand.

The grid itself (codes, scales, zeros, how they lie on disk) is core.models.packed's. Covers uniform grids of 2 to 8 bits,
one a row or a group of columns. Which code a weight gets is for each method to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from core.errors import UserError
from core.methods import estimates
from core.models import packed
from core.models.blocks import linears, replace, weight_of
from core.models.packed import PackedLinear, QuantWeight
from core.params import Params, knob
from core.records import Ledger, SourceInfo

RATIOS = tuple(1 - step / 40 for step in range(1, 25))  # of the full range that clipping tries: 0.975 .. 0.4


class GridParams(Params):
    """The knobs that say which grid. A method's class adds its own, and may change a default."""

    bits: Literal[8, 6, 5, 4, 3, 2] = knob(
        4,
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


def granularity(params: GridParams) -> str:
    if params.granularity == "auto":
        return "channel" if params.bits == 8 else "group"
    return params.granularity


def symmetric(params: GridParams) -> bool:
    """Whether the grid has no offset. Below 8 bits 'auto' has none, since plain transformers unpacks such layers on loading."""
    return (params.bits < 8 or granularity(params) == "group") if params.symmetric == "auto" else params.symmetric


def grid_label(params: GridParams) -> list[str]:
    """['g64', 'symmetric']: what of the grid tells variants apart, so that two group sizes don't get one name."""
    grouped = granularity(params) == "group" and params.group_size != GridParams.model_fields["group_size"].default
    return [f"g{params.group_size}"] * grouped + {"auto": [], True: ["symmetric"], False: ["asymmetric"]}[params.symmetric]


# ---- which layers, which groups ---------------------------------------------------------------------------------------


def targets(model: nn.Module, info: SourceInfo) -> tuple[list[tuple[str, nn.Linear]], list[str]]:
    """(linear layers that can be saved packed, by name; names of those that can't: GPT-2's transposed ones).

    Raises UserError where there is none.
    """
    found = linears(model)
    layers = [(name, module) for name, module in found if isinstance(module, nn.Linear)]
    transposed = [name for name, module in found if not isinstance(module, nn.Linear)]
    if not layers:
        raise UserError(
            "{name} has no linear layers that can be saved packed{why}.",
            hint="Choose another model, or prune it.",
            kind="model",
            name=info.name,
            why=" (GPT-2's are stored transposed, and transformers can't reload those packed)" if transposed else "",
        )
    return layers, transposed


def finite(name: str, weight: Tensor) -> Tensor:
    """The weight, where all of it are numbers. Raises UserError naming the layer."""
    if not torch.isfinite(weight).all():
        raise UserError(
            "The weights of {layer} aren't all numbers (NaN or infinite), so they can't be rounded.",
            hint="The model is damaged; import it again from its source.",
            kind="model",
            layer=name,
        )
    return weight


def fitting_group(asked: int, widths: Iterable[int]) -> int:
    """The group size for layers of these widths: `asked` where it divides all of them, else a smaller one that does.

    Powers of two from 16 up are preferred, since the kernels that compute with groups know those; where the widths
    have none, it's the largest common divisor up to `asked`.
    """
    widths = tuple(widths)
    common = math.gcd(*widths) if widths else asked
    if common % asked == 0:
        return asked
    fitting = [size for size in range(1, min(asked, common) + 1) if common % size == 0]
    even = [size for size in fitting if size >= 16 and size & (size - 1) == 0]
    return max(even or fitting)


def group_of(params: GridParams, layers: list[tuple[str, nn.Linear]]) -> tuple[int | None, list[str]]:
    """(columns a group for these layers, None for one group a row; what has to be said of it)."""
    if granularity(params) != "group":
        return None, []
    widths = sorted({module.in_features for _, module in layers})
    size = fitting_group(params.group_size, widths)
    if size == params.group_size:
        return size, []
    return size, [
        f"Group size {size} instead of {params.group_size}: {params.group_size} doesn't divide the widths "
        f"{', '.join(str(w) for w in widths if w % params.group_size)}, and all layers get the same."
    ]


def sentence(count: int, bits: int, size: int | None, dtype: torch.dtype) -> str:
    """'210 linear layers in 4 bits, one scale for each 64 columns of a row; embeddings and head stay in bfloat16.'"""
    kept = f"{count} linear layers in {bits} bits, one scale for each {f'{size} columns of a row' if size else 'output row'}"
    return f"{kept}; embeddings and head stay in {str(dtype).removeprefix('torch.')}."


def still_dense(model: nn.Module, names: Iterable[str]) -> list[tuple[str, nn.Linear]]:
    """Those of the named layers that aren't packed."""
    return [(name, module) for name in names if isinstance(module := model.get_submodule(name), nn.Linear)]


def round_rest(
    model: nn.Module, layers: list[tuple[str, nn.Linear]], params: GridParams, size: int | None, dtype: torch.dtype, clip: bool = False
) -> list[str]:
    """Rounds those of `layers` that are still there as they were, outside the blocks (BERT's pooler); a sentence that says so."""
    names = []
    for name, module in layers:
        if model.get_submodule(name) is module:
            weight = finite(name, weight_of(module).detach())
            quant = round_to_nearest(weight, params.bits, size, symmetric(params), clip, dtype)
            replace(model, name, PackedLinear.from_linear(module, quant))
            names.append(name)
    return [f"Outside the blocks, so only rounded to nearest: {', '.join(names)}."] if names else []


def left_out(transposed: list[str]) -> list[str]:
    return [f"Left as they were, since transformers can't reload them packed: {', '.join(transposed)}."] if transposed else []


# ---- ranges and rounding, on plain tensors ------------------------------------------------------------------------------


def full_range(weight: Tensor, bits: int, group_size: int | None, symmetric: bool) -> tuple[Tensor, Tensor]:
    """(low, high), each (out, groups), that reach to the outermost weights of weight (out, in)."""
    grouped = weight.float().unflatten(-1, (-1, group_size or weight.shape[-1]))  # (out, groups, size)
    low, high = grouped.amin(-1), grouped.amax(-1)
    if symmetric and bits == 8:
        # The grid's end lies half a step inside the range. At 8 bits the step is so fine that the largest weight, which
        # counts most, is better met exactly; below, the finer step is worth more (KL on SmolLM2: at 8 bits .0030 instead
        # of .0032, but at 4 bits .57 instead of .41).
        low, high = low * (127.5 / 127), high * (127.5 / 127)
    return low, high


def searched_range(
    weight: Tensor, bits: int, group_size: int | None, symmetric: bool, scale_dtype: torch.dtype, importance: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """(low, high) of the share of the full range that has the least squared error of rounding, for each group.

    importance: (in,) not negative, weighs the columns' errors: with the mean squares of the layer's inputs it's the error of
    the outputs, where inputs don't depend on one another. Never worse than the full range.
    """
    low, high = full_range(weight, bits, group_size, symmetric)
    best = torch.ones_like(low)  # the share of the range that's kept
    least: Tensor | None = None
    for ratio in (1.0, *RATIOS):
        tried = packed.quantize(weight, bits, group_size, symmetric, scale_dtype=scale_dtype, low=low * ratio, high=high * ratio)
        found = group_error(tried, weight, importance)
        if least is None:
            least = found
            continue
        better = found < least
        least, best = torch.where(better, found, least), torch.where(better, ratio, best)
    return low * best, high * best


def group_error(quant: QuantWeight, weight: Tensor, importance: Tensor | None = None) -> Tensor:
    """Squared error of each group, (out, groups); columns weighed by `importance` (in,) where it's given."""
    error = (packed.dequantize(quant, torch.float32) - weight.float()).square()
    if importance is not None:
        error *= importance
    return error.unflatten(-1, (quant.scale.shape[-1], -1)).sum(-1)


def round_to_nearest(
    weight: Tensor,
    bits: int,
    group_size: int | None,
    symmetric: bool,
    clip: bool,
    scale_dtype: torch.dtype,
    importance: Tensor | None = None,
) -> QuantWeight:
    """weight (out, in) on the nearest points of its grids. With `clip`, each group's range is the one of least squared error."""
    if clip:
        low, high = searched_range(weight, bits, group_size, symmetric, scale_dtype, importance)
    else:
        low, high = full_range(weight, bits, group_size, symmetric)
    return packed.quantize(weight, bits, group_size, symmetric, scale_dtype=scale_dtype, low=low, high=high)


# ---- beforehand -----------------------------------------------------------------------------------------------------------


def estimate_size(params: GridParams, info: SourceInfo, ledger: Ledger) -> dict[str, Any]:
    """{bytes_on_disk, effective_bits, notes} of a variant on this grid, from the parent's shape and ledger."""
    weights, rows, notes = estimates.linear_parameters(info), estimates.linear_rows(info), []
    if rows is None:
        return {"notes": ["The size isn't known beforehand: the model's shape isn't in its configuration."]}
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
    return {
        "bytes_on_disk": int(ledger.bytes_on_disk + change + headers),
        "effective_bits": 8 * (ledger.weight_bytes + change) / max(1, ledger.original_parameters),
        "notes": notes,
    }
