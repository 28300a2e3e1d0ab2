"""Mixed precision: each linear layer gets the bits that a budget is best spent on, from its measured sensitivity.

The sensitivity (core.methods.sensitivity) is the KL of the model with that layer alone quantized; the bits are the knapsack's
(core.allocation): the least sum of KLs in a size, or the least size under a sum of KLs. That the sum stands for the whole model's
KL is an estimate, and said to be one. After Dong et al., 'HAWQ-V2' (2020), whose measure is a trace of the Hessian. Or the bits
come ready, from a map edited by hand.

What plain transformers reads mixed is: rows with an offset at 8 bits, symmetric groups below, dense layers. Covers the linear
layers of the blocks, rounded to nearest, half-quadratic or by GPTQ; those outside (BERT's pooler) get 8 bits.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from torch import nn

from core import allocation
from core.allocation import DENSE, WIDTHS, Allocator, SensitivityMap
from core.errors import UserError
from core.methods import Given, Outcome, calibration, estimates, method, sensitivity, sequential
from core.methods.calibration import CalibrationParams
from core.methods.common import stored_dtype
from core.methods.quantization import grid
from core.methods.quantization.gptq import compensated, factorise
from core.methods.quantization.hqq import half_quadratic
from core.methods.sensitivity import grid_for
from core.methods.sequential import Hessian
from core.models.blocks import blocks, weight_of
from core.models.packed import PackedLinear, QuantWeight
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

CHOICES = {"all": WIDTHS, "fast": (8, 4)}
DAMPING = 0.01  # of GPTQ's Hessian, its default


class MixedKnobs(Params):
    budget: Literal["size", "kl"] = knob(
        "size",
        title="Budget",
        help="What bounds the choice: the size of the layers, or how far the outputs may move. The other is made as small as can be.",
        labels={"size": "Size", "kl": "KL divergence"},
        when={"layers": ""},
    )
    average_bits: float = knob(
        4.25,
        title="Bits a weight",
        help="What the linear layers' weights may take on average, scales and zeros counted. 4 bits in groups of 64 take 4.25.",
        ge=2,
        le=16,
        step=0.25,
        when={"budget": "size", "layers": ""},
    )
    kl: float = knob(
        0.1,
        title="KL",
        unit="nats",
        help="What the layers' single KLs may sum to. An estimate of the whole model's: rounding by GPTQ mostly comes out below it.",
        gt=0,
        le=10,
        step=0.05,
        when={"budget": "kl", "layers": ""},
    )
    widths: Literal["all", "fast"] = knob(
        "all",
        title="Widths",
        help="All: each layer gets 8, 6, 5, 4, 3 or 2 bits. 8 and 4: those that this program computes with packed, on the CPU.",
        labels={"all": "8 to 2 bits", "fast": "8 and 4 bits"},
        when={"layers": ""},
    )
    rounding: Literal["gptq", "hqq", "rtn"] = knob(
        "gptq",
        title="Rounding",
        help="How each layer is rounded to the grid that it got. GPTQ is the most accurate, round to nearest the fastest.",
        labels={"gptq": "GPTQ", "hqq": "Half-quadratic", "rtn": "Round to nearest"},
    )
    group_size: int = knob(
        128,
        title="Group size",
        unit="columns",
        help="Columns that share a scale, below 8 bits. Where it doesn't divide the model's widths, the next smaller that does is taken.",
        ge=8,
        le=1024,
    )
    clip: bool = knob(
        True,
        title="Clip outliers",
        help="Search for each scale the range with the least squared error, below 8 bits.",
        advanced=True,
    )
    probe_windows: int = knob(
        4,
        title="Windows for sensitivity",
        help="Windows of text on which each layer's sensitivity is measured. Time grows with it.",
        ge=1,
        le=1024,
        when={"layers": ""},
        advanced=True,
    )
    probe_context: int = knob(
        128,
        title="Context for sensitivity",
        unit="tokens",
        help="Tokens of each of these windows.",
        ge=8,
        le=8192,
        when={"layers": ""},
        advanced=True,
    )
    layers: str = knob(
        "",
        title="Bits of each layer",
        help="A choice made by hand instead of by budget: layer=bits, * for any part of a name, the last that fits counts, "
        "'dense' for a layer left as it is. Such as *=4, *.down_proj=6.",
        advanced=True,
    )


class MixedParams(CalibrationParams, MixedKnobs):
    """The method's own knobs, and after them those of the calibration text."""


def label(params: MixedParams) -> str:
    """'mixed 4.25 bits', 'mixed KL 0.1', or 'mixed by hand'."""
    if params.layers.strip():
        return "mixed by hand"
    return f"mixed {params.average_bits:g} bits" if params.budget == "size" else f"mixed KL {params.kl:g}"


def estimate_mixed(params: MixedParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    weights, widths = estimates.linear_parameters(info), CHOICES[params.widths]
    out: dict[str, Any] = {"memory": estimates.resident(info, device) + 40 * estimates.largest_linear(info)}
    if params.layers.strip():
        return out | {"notes": ["The size follows from the bits of each layer."]}
    tokens = params.probe_windows * params.probe_context
    out["memory"] += 8 * tokens * (info.vocabulary or 0)
    forwards = estimates.linear_count(info) * len(widths) * (0.5 * weights + (info.vocabulary or 0) * (info.hidden or 0))
    out["seconds"] = 2 * tokens * forwards / (0.7 * estimates.operations_per_second(device))
    if params.budget == "kl":
        return out | {"notes": ["The size follows from the sensitivities, which are measured first."]}
    change = round(weights * (params.average_bits / 8 - estimates.stored_bytes(info)))
    return out | {
        "bytes_on_disk": max(0, ledger.bytes_on_disk + min(0, change)),
        "effective_bits": 8 * (ledger.weight_bytes + min(0, change)) / max(1, ledger.original_parameters),
        "notes": ["At most: the bits chosen fill the budget as far as they fit."],
    }


@method(
    "mixed",
    rank=4,
    title="Mixed precision",
    family="quantization",
    summary="Minutes, needs a text. Measures how sensitive each layer is, and gives it its bits: better than one width at the same size.",
    needs=("calibration",),
    tasks=("causal-lm", "classifier"),
    paper="https://arxiv.org/abs/1911.03852",
    estimate=estimate_mixed,
    label=label,
)
def mixed(model: Any, params: MixedParams, run: Run, given: Given) -> Outcome:
    """Replaces the linear layers of the blocks by PackedLinear modules, each with its own bits, one block at a time."""
    layers, transposed = grid.targets(model, given.info)
    group, notes = grid.group_of(grid_for(4, params.group_size), layers)
    homes = tuple(f"{block}." for block, _ in blocks(model))
    names = [name for name, _ in layers if name.startswith(homes)]
    if params.layers.strip():
        bits = allocation.read_bits(params.layers, names)
    else:
        measured = _measured(model, layers, group, params, run, given)
        bits, words = choose(measured, params)
        notes += words
    if set(bits.values()) == {DENSE}:
        raise UserError("No layer is given any bits, so nothing would change.", hint="Give at least one layer a width.")
    _round(model, layers, bits, group, params, run, given, notes)
    notes.append(sentence(bits))
    outside = [(name, module) for name, module in layers if name not in bits]
    notes += grid.round_rest(model, outside, grid_for(8, params.group_size), None, stored_dtype(given.info))
    notes += grid.left_out(transposed)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


def choose(measured: SensitivityMap, params: MixedParams) -> tuple[dict[str, int], list[str]]:
    """(bits of each layer, what has to be said). Raises UserError where no choice meets the budget."""
    costs, widths = measured.layers, CHOICES[params.widths]
    allocator = Allocator(costs, widths)
    if params.budget == "size":
        weights = sum(cost.weights for cost in costs)
        bits = allocator.at_size(params.average_bits * weights / 8)
        if bits is None:
            raise UserError(
                "No choice of bits takes {asked} bits a weight or fewer: the smallest takes {least}.",
                hint="Raise the budget, or allow more widths.",
                asked=f"{params.average_bits:g}",
                least=f"{8 * allocator.least / weights:.2f}",
            )
    else:
        bits = allocator.at_kl(params.kl)
        if bits is None:
            raise UserError(
                "No choice of bits has a sum of KLs of {asked} or less: the least is {least}.",
                hint="Raise the budget.",
                asked=f"{params.kl:g}",
                least=f"{allocator.best[-1]:.3g}",
            )
    return bits, [
        f"Bits chosen from {len(costs)} measured sensitivities: {allocation.average_bits(costs, bits):.2f} bits a weight, "
        f"single-layer KLs sum to {allocation.total_kl(costs, bits):.4g} (an estimate, rounding to nearest)."
    ]


def sentence(bits: dict[str, int]) -> str:
    """'Layers by bits: 8 bits 12, 4 bits 150, 3 bits 48.'"""
    counts = Counter(bits.values())
    parts = [f"{width} bits {counts[width]}" for width in WIDTHS if counts[width]]
    return f"Layers by bits: {', '.join(parts + [f'as they were {counts[DENSE]}'] * (DENSE in counts))}."


def _measured(model: Any, layers: list, group: int | None, params: MixedParams, run: Run, given: Given) -> SensitivityMap:
    """The map under these settings: the one that lies in the parent's folder, or measured now."""
    probe = CalibrationParams(windows=params.probe_windows, context=params.probe_context)
    ids, _ = calibration.draw(given.text, given.tokenizer, probe, given.info, given.seed, run)
    widths = CHOICES[params.widths]
    known = sensitivity.conditions(
        text=given.text.name,
        text_hash=given.text.sha256,
        ids=ids,
        widths=widths,
        group=group,
        clip=params.clip,
        seed=given.seed,
        device=given.device,
    )
    kept = sensitivity.read(sensitivity.file_of(given.folder, known))
    if kept is not None and kept.complete:
        run.log("The sensitivities were measured before, under the same settings.")
        return kept
    dtype = stored_dtype(given.info)
    costs = sensitivity.measure(
        model, ids, layers, run, widths=widths, group=group, clip=params.clip, scale_dtype=dtype, dense_bytes=dtype.itemsize
    )
    return SensitivityMap(widths=widths, layers=costs, conditions=known, complete=True)


def _round(
    model: Any, layers: list, bits: dict[str, int], group: int | None, params: MixedParams, run: Run, given: Given, notes: list[str]
) -> None:
    """Puts PackedLinear modules in the place of the layers that got bits, and notes what has to be said of the calibration."""
    dtype = stored_dtype(given.info)
    ids = None
    if params.rounding == "gptq":
        ids, more = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
        notes += more

    def rounded(name: str, module: nn.Module, hessian: Hessian | None, factor: Any) -> QuantWeight:
        weight = grid.finite(name, weight_of(module))
        own = grid_for(bits[name], params.group_size)
        size, symmetric, clip = (group if bits[name] < 8 else None), grid.symmetric(own), params.clip and bits[name] < 8
        if params.rounding == "gptq":
            return compensated(weight, factor, bits[name], size, symmetric, dtype, importance=hessian.squares if clip else None)
        if params.rounding == "hqq" and bits[name] < 8:
            return half_quadratic(weight, bits[name], size, symmetric, dtype)
        return grid.round_to_nearest(weight, bits[name], size, symmetric, clip, dtype)

    for turn in sequential.walk(model, run, "Quantizing", ids):
        groups = turn.groups() if ids is not None else [[name] for name in turn.linears]
        for names in groups:
            wanted = [name for name in names if bits.get(name, DENSE) != DENSE]
            if not wanted:
                continue
            hessian = factor = None
            if ids is not None:
                hessian = turn.collect(Hessian, wanted)[wanted[0]]  # one for all of them, since they read the same
                factor = factorise(hessian.sum / hessian.tokens, DAMPING)
            for name in wanted:
                run.check_cancelled()
                module = turn.linears[name]
                turn.replace(name, PackedLinear.from_linear(module, rounded(name, module, hessian, factor)))
