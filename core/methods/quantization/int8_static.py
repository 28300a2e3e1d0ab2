"""8-bit weights, and 8-bit inputs with one fixed scale a layer, found beforehand on a text.

Nothing is looked at when the model runs, which is what the simplest integer hardware wants (Jacob et al., 2018, section 2.4;
Wu et al., 'Integer Quantization for Deep Learning Inference', 2020, section 5). One scale for all tokens and channels is the
coarsest grid of all: a language model's outliers make it useless unless they're clipped (observers.py) or moved into the
weights first (smoothquant.py's equation). Covers the linear layers inside the blocks, each calibrated on the outputs of the
blocks quantized before it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import torch

from core.methods import Given, Outcome, calibration, estimates, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.common import stored_dtype
from core.methods.folding import folds
from core.methods.quantization import grid, w8a8
from core.methods.quantization.observers import Histogram, observed_range, stored_grid
from core.models.activations import ActivationQuant
from core.models.blocks import replace, weight_of
from core.models.packed import PackedLinear
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run


class Int8StaticParams(CalibrationParams):
    observer: Literal["error", "minmax", "percentile", "entropy"] = knob(
        "error",
        title="Range of the inputs",
        help="What the fixed scale covers. Least error: where clipping and coarse steps together cost least. Largest and smallest clip "
        "nothing. Percentile leaves out the outermost numbers; entropy keeps the shape of their distribution.",
        labels={"error": "Least error", "minmax": "Largest and smallest", "percentile": "Percentile", "entropy": "Entropy (KL)"},
    )
    percentile: float = knob(
        99.99,
        title="Percentile",
        unit="%",
        help="Share of the numbers that the range covers. Lower clips more and makes the steps finer.",
        ge=90,
        le=100,
        when={"observer": "percentile"},
    )
    activations: Literal["symmetric", "offset"] = knob(
        "symmetric",
        title="Grid of the inputs",
        help="Symmetric: what integer kernels multiply fastest. With an offset the grid fits inputs that are mostly of one sign.",
        labels={"symmetric": "Symmetric", "offset": "With an offset"},
    )
    smooth: float = knob(
        0.5,
        title="Smoothing",
        help="How far outliers are moved into the weights beforehand, where the layout allows it. 0: not at all.",
        ge=0,
        le=1,
        step=0.05,
    )
    windows: int = knob(
        32,
        title="Windows",
        help="Windows of text whose inputs are looked at. Too few miss the outliers; time grows with it.",
        ge=1,
        le=4096,
    )


def estimate_int8_static(params: Int8StaticParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    tokens = params.windows * min(params.context, info.context or params.context)
    passes = 2 if params.observer == "minmax" else 3
    return {
        "memory": estimates.resident(info, device) + 4 * tokens * (info.hidden or 0) + 16 * estimates.largest_linear(info),
        "seconds": w8a8.calibration_seconds(info, tokens, passes, device),
    } | w8a8.estimate_size(info, ledger, static=True, asymmetric=params.activations == "offset", notes=(w8a8.runs(device),))


def label(params: Int8StaticParams) -> str:
    """'int8 static minmax asymmetric, smoothed 0.5'."""
    share = f" {params.percentile:g}" if params.observer == "percentile" else ""
    name = f"int8 static {params.observer}{share}" + " asymmetric" * (params.activations == "offset")
    return name + (f", smoothed {params.smooth:g}" if params.smooth else "")


@method(
    "int8_static",
    rank=7,
    title="8 bits, static",
    family="quantization",
    summary="A minute, needs a text. The simplest integer arithmetic, one fixed scale a layer; loses the most of the 8-bit methods.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/2004.09602",
    estimate=estimate_int8_static,
    label=label,
)
def int8_static(model: Any, params: Int8StaticParams, run: Run, given: Given) -> Outcome:
    """Calibrates, then replaces the linear layers by PackedLinear modules that round their input, block by block."""
    layers, transposed = grid.targets(model, given.info)
    ids, notes = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
    dtype = stored_dtype(given.info)
    activation = ActivationQuant(dynamic=False, symmetric=params.activations == "symmetric")
    by_token = w8a8.token_layers(model)
    packable = {name for name, _ in layers}
    places = folds(model) if params.smooth else []
    places = [f for f in places if all(n in packable & by_token for n, _ in f.targets)]
    clipped: list[float] = []
    for turn in sequential.walk(model, run, "Calibrating", ids):
        mine = [name for name in turn.linears if name in packable & by_token]
        if places and mine:
            most = {name: stat.most for name, stat in turn.collect(w8a8.Extremes, mine).items()}
            for fold in (f for f in places if f.targets[0][0] in most):
                fold.apply(w8a8.smoothing(fold, most[fold.targets[0][0]], params.smooth), dtype)
        stats = turn.collect(w8a8.Extremes, mine) if mine else {}
        ranges = {name: (float(stat.low.min()), float(stat.high.max())) for name, stat in stats.items()}
        counts: dict[str, Histogram] = {}
        if params.observer != "minmax" and mine:
            counts = _histograms(turn, mine, ranges)
        for name in turn.linears:
            if name not in packable:
                continue
            weight = weight_of(turn.linears[name]).detach()
            quant = w8a8.int8_weight(name, weight, dtype)
            rounding: dict[str, Any] = {}
            error = None
            if name in stats:
                low, high = observed_range(params.observer, *ranges[name], counts.get(name), params.percentile / 100, activation)
                scale, zero = stored_grid(activation, low, high, dtype, weight.device)
                rounding = {"activation": activation, "input_scale": scale, "input_zero_point": zero}
            packed = PackedLinear.from_linear(turn.linears[name], quant, **rounding)
            if name in stats:
                rows = stats[name].rows
                steps = rows / scale.float() + (0 if zero is None else zero)
                clipped.append(float(((steps < -128.5) | (steps > 127.5)).float().mean()))
                error = w8a8.output_error(packed, weight, rows)
            turn.replace(name, packed, error)
    for name, module in layers:
        if model.get_submodule(name) is module:  # outside the blocks
            replace(model, name, PackedLinear.from_linear(module, w8a8.int8_weight(name, weight_of(module), dtype)))
    outside_names = [name for name, _ in layers if name not in by_token]
    if places:
        notes.append(f"Smoothed at {len(places)} places beforehand, alpha {params.smooth:g}.")
    if clipped:
        mean, most_clipped = (100 * x for x in (sum(clipped) / len(clipped), max(clipped)))
        notes.append(f"Clipped of the inputs seen: {mean:.3f} %, at most {most_clipped:.3f} % in a layer.")
    notes += w8a8.sentences(len(layers) - len(outside_names), outside_names, activation, transposed, dtype)
    notes.append(w8a8.runs(given.device))
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


class Counted(w8a8.Extremes):
    """Extremes, and a histogram over a range known already."""

    def __init__(self, columns: int, device: torch.device, low: float, high: float):
        super().__init__(columns, device)
        self.histogram = Histogram(low, high, device)

    def add(self, x: torch.Tensor) -> None:
        super().add(x)
        self.histogram.add(x)


def _histograms(turn: sequential.Turn, names: list[str], ranges: dict[str, tuple[float, float]]) -> dict[str, Histogram]:
    """The histogram of the inputs of each layer over its range; layers that read the same tensor share one."""
    out: dict[str, Histogram] = {}
    for group in turn.groups():
        wanted = [name for name in group if name in names]
        if wanted:
            low, high = ranges[wanted[0]]
            shared = turn.collect(partial(Counted, low=low, high=high), wanted)
            out |= {name: found.histogram for name, found in shared.items()}
    return out
