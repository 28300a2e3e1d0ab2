"""What the weight-only methods share: the knobs of the grid, the group that fits, ranges of least error, sizes beforehand.

The grid itself (codes, scales, zeros, how they lie on disk) is core.models.packed's. Covers uniform grids of 2 to 8 bits,
one a row or a group of columns. Which code a weight gets is for each method to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor, nn

from core.errors import UserError
from core.methods import estimates
from core.models import diffusion, packed
from core.models.blocks import linears, replace, weight_of
from core.models.packed import PackedLinear, QuantWeight
from core.models.packed_embedding import head_of, is_tied, name_of, pack_embedding, tied_problem
from core.models.streamed import Streamed
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

RATIOS = tuple(1 - step / 40 for step in range(1, 25))  # of the full range that clipping tries: 0.975 .. 0.4


def symmetric_knob(default: Any, automatic: str) -> Any:
    """The knob of the grid's symmetry; `automatic` says what 'auto' does."""
    return knob(
        default,
        title="Grid",
        help="Symmetric: zero lies in the middle of the grid, and only a scale is stored. With an offset the grid fits the weights better. "
        f"Automatic: {automatic} In groups, offsets add about 1 % of size.",
        labels={"auto": "Automatic", True: "Symmetric", False: "With an offset"},
    )


class GridParams(Params):
    """The knobs that say which grid. A method's class adds its own, and may change a default."""

    offset: ClassVar[bool] = False  # whether 'auto' is a grid with an offset below 8 bits too

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
    symmetric: Literal["auto", True, False] = symmetric_knob(
        "auto", "an offset for each row at 8 bits, where it costs nothing, and beside a 4-bit embedding, else symmetric."
    )
    embeddings: Literal["keep", 8, 4] = knob(
        "keep",
        title="Embedding and head",
        help="Half of a small model's file is its embedding. 8 bits are nearly free; a head that is tied to it reads the same codes. "
        "4 bits cost accuracy, and a tied embedding can only be stored so beside 4-bit weights with an offset.",
        labels={"keep": "As they are", 8: "8 bits", 4: "4 bits"},
    )


class OffsetGridParams(GridParams):
    """For the methods that spend time on a grid: 'auto' is the more accurate one, with an offset."""

    offset: ClassVar[bool] = True
    symmetric: Literal["auto", True, False] = symmetric_knob(
        "auto", "an offset, but symmetric where an 8-bit embedding is to be stored beside fewer bits."
    )


def granularity(params: GridParams) -> str:
    if params.granularity == "auto":
        return "channel" if params.bits == 8 else "group"
    return params.granularity


def symmetric(params: GridParams) -> bool:
    """Whether the grid of the linear layers has no offset.

    Below 8 bits 'auto' follows the embedding, where one is quantized: plain transformers reads no 8-bit one beside an offset,
    and a tied 4-bit one only beside offsets.
    """
    if params.symmetric != "auto":
        return params.symmetric
    if params.bits == 8 and granularity(params) == "channel":
        return False
    if params.embeddings == 4:
        return False
    return not params.offset or (params.embeddings == 8 and params.bits < 8)


def grid_label(params: GridParams) -> list[str]:
    """['g64', 'symmetric']: what of the grid tells variants apart, so that two group sizes don't get one name."""
    grouped = granularity(params) == "group" and params.group_size != GridParams.model_fields["group_size"].default
    symmetry = {"auto": [], True: ["symmetric"], False: ["asymmetric"]}[params.symmetric]
    return [f"g{params.group_size}"] * grouped + symmetry + [f"embedding {params.embeddings}-bit"] * (params.embeddings != "keep")


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


def sentence(count: int, bits: int, size: int | None, dtype: torch.dtype, embeddings: int | str = "keep") -> str:
    """'210 linear layers in 4 bits, one scale for each 64 columns of a row; embeddings and head stay in bfloat16.'"""
    kept = f"{count} linear layers in {bits} bits, one scale for each {f'{size} columns of a row' if size else 'output row'}"
    return f"{kept}." if embeddings != "keep" else f"{kept}; embeddings and head stay in {str(dtype).removeprefix('torch.')}."


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


def round_unet(
    denoiser: diffusion.Denoiser,
    params: GridParams,
    quantize: Callable[[Tensor, int | None], QuantWeight],
    dtype: torch.dtype,
    run: Run,
    name: str,
) -> list[str]:
    """Rounds the convolutions and linear layers of a UNet in place; sentences. quantize: (weight (out, in), group size) -> its codes.

    dtype: that the weights are stored in. diffusers has no layout of its own for codes, so the file is none the smaller: it holds
    the numbers that the codes stand for.
    """
    if params.embeddings != "keep":
        raise UserError(
            "{name} draws images, and its embeddings of time and class stay as they are.",
            hint="Leave embedding and head as they are.",
            kind="model",
            name=name,
        )
    layers = diffusion.layers(denoiser)
    widths = sorted({weight_of(module).shape[1] for _, module in layers})
    size = fitting_group(params.group_size, widths) if granularity(params) == "group" else None
    notes, stored = [], 0
    if size not in (None, params.group_size):
        notes.append(f"Group size {size} instead of {params.group_size}, which doesn't divide the widths of all layers.")
    with torch.no_grad():
        for layer, module in run.track(layers, "Quantizing"):
            weight = finite(layer, weight_of(module))
            quant = quantize(weight.detach(), size)
            weight.copy_(packed.dequantize(quant, torch.float32))
            stored += math.ceil(quant.codes.numel() * quant.bits / 8) + quant.scale.nbytes
            stored += 0 if quant.zero is None else math.ceil(quant.zero.numel() * quant.bits / 8)
    denoiser.bits = params.bits
    count = sum(weight_of(module).numel() for _, module in layers)
    kind = str(dtype).removeprefix("torch.")
    shared = f"{size} columns of a row" if size else "output channel"
    notes.append(
        f"{len(layers)} convolutions and linear layers in {params.bits} bits, one scale for each {shared}; the first and last convolution, "
        "time embedding and norms stay as they are."
    )
    notes.append(
        f"0 % smaller on disk: diffusers loads no packed weights by itself, so the file holds the rounded numbers in {kind}. As codes and "
        f"scales these layers would take {stored / 1e6:.2f} MB instead of {count * dtype.itemsize / 1e6:.2f} MB."
    )
    if dtype != torch.float32:
        notes.append(f"Stored in {kind}, they're rounded once more, so they lie beside the grid by that rounding.")
    return notes


# ---- embedding and head ---------------------------------------------------------------------------------------------------

ROWS = 4096  # of an embedding that are rounded together


def embedding_grid(params: GridParams, size: int | None) -> tuple[int, int | None, bool]:
    """(bits, group size, symmetric) of the embedding: 8 bits a row, or 4 in the layers' groups."""
    if params.embeddings == 4:
        return 4, size, symmetric(params)
    like = params.bits == 8 and granularity(params) == "channel"
    return 8, None, symmetric(params) if like else True


def embedding_problem(params: GridParams, tied: bool, scaled: bool = False) -> str:
    """Why plain transformers couldn't reload the embedding as chosen; '' where it can.

    scaled: whether it multiplies what it looks up by a factor (Gemma); compressed-tensors makes a weight of that which no file has.
    """
    if params.embeddings == "keep":
        return ""
    bits, _, even = embedding_grid(params, None)
    others = {(params.bits, symmetric(params))}
    if scaled and (bits == 8 or even):
        return "it multiplies what it looks up by a factor, which plain transformers loses unless all weights are in 4 bits with an offset"
    if tied:
        return tied_problem(bits, even, others)
    if any(b < 8 and not s for b, s in others | {(bits, even)}) and len(others | {(bits, even)}) > 1:
        return "weights below 8 bits that have an offset can't be mixed with another grid"
    return ""


def quantize_embeddings(
    model: nn.Module, params: GridParams, size: int | None, dtype: torch.dtype, run: Run, home: Any = None
) -> list[str]:
    """Packs the embedding, and the head: the same codes where it's tied. Returns sentences.

    To be done before the blocks, which then see the rounded embeddings. home: a Streamed, which has the rows on disk.
    Raises UserError where plain transformers couldn't reload the result.
    """
    if params.embeddings == "keep":
        return []
    tied, head = is_tied(model), head_of(model)
    problem = embedding_problem(params, tied, hasattr(model.get_input_embeddings(), "embed_scale"))
    if problem:
        raise UserError(
            "The embedding can't be stored like that: {problem}.",
            hint="Choose automatic for the grid, other bits for the embedding, or leave it as it is.",
            kind="model",
            problem=problem,
        )
    bits, group, even = embedding_grid(params, size)
    computed = next(p.dtype for p in model.parameters() if p.is_floating_point() and p.device.type != "meta")

    def rounded(module: nn.Module, embedding: bool) -> QuantWeight:
        parts = []
        for start in run.track(range(0, module.weight.shape[0], ROWS), "Quantizing the embedding" if embedding else "Quantizing the head"):
            end = min(start + ROWS, module.weight.shape[0])
            rows = home.rows(embedding, start, end) if isinstance(home, Streamed) else module.weight.detach()[start:end]
            parts.append(round_to_nearest(finite("the embedding" if embedding else "the head", rows), bits, group, even, bits < 8, dtype))
        zero = None if even else torch.cat([p.zero for p in parts])
        return QuantWeight(bits, group, even, torch.cat([p.scale for p in parts]), zero, torch.cat([p.codes for p in parts]))

    with torch.no_grad():
        own = rounded(head, False) if isinstance(head, nn.Linear) and not tied else None
        pack_embedding(model, rounded(model.get_input_embeddings(), True), computed)
        if own is not None:
            name = name_of(model, head)
            bias = None if head.bias is None else head.bias
            replace(model, name, PackedLinear(own, bias, computed))
    what = "Embedding and head, which share their codes," if tied else "Embedding and head" if own is not None else "The embedding"
    return [f"{what} in {bits} bits, one scale for each {f'{group} columns of a row' if group else 'row'}."]


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
    if info.task == "diffusion":
        notes = ["0 % smaller on disk: diffusers loads no packed weights by itself, so they're rounded and stored as floating numbers"]
        return {"bytes_on_disk": ledger.bytes_on_disk, "effective_bits": ledger.effective_bits, "notes": notes}
    weights, rows, notes = estimates.linear_parameters(info), estimates.linear_rows(info), []
    if rows is None:
        return {"notes": ["The size isn't known beforehand: the model's shape isn't in its configuration."]}
    groups = rows
    if granularity(params) == "group":
        size = fitting_group(params.group_size, estimates.widths(info))
        groups = weights / size
        if size != params.group_size:
            notes.append(f"Group size {size} instead of {params.group_size}, which doesn't divide the widths.")
    stored = estimates.stored_bytes(info)
    scales = groups * (stored + (0 if symmetric(params) else params.bits / 8))
    layers = estimates.linear_count(info)
    shapes = 16 * layers if params.bits < 8 else 0
    change = weights * (params.bits / 8 - stored) + scales + shapes
    headers = layers * (300 if params.bits < 8 else 110) + 900  # the added tensors' names and offsets; the configuration's entry
    if params.embeddings != "keep" and info.vocabulary and info.hidden:
        problem = embedding_problem(params, bool(info.tied))
        notes += [f"Can't be stored: {problem}."] if problem else []
        bits, group, even = embedding_grid(params, fitting_group(params.group_size, estimates.widths(info)))
        tables = 1 if info.tied or not info.components.get("head") else 2
        groups = info.vocabulary * (info.hidden // group if group else 1)
        change += tables * (info.vocabulary * info.hidden * (bits / 8 - stored) + groups * (stored + (0 if even else bits / 8)))
        change += info.vocabulary * (stored + (0 if even else 1)) if info.tied and bits == 8 else 0  # the head's scales
    return {
        "bytes_on_disk": int(ledger.bytes_on_disk + change + headers),
        "effective_bits": 8 * (ledger.weight_bytes + change) / max(1, ledger.original_parameters),
        "notes": notes,
    }
