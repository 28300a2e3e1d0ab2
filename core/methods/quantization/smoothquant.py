"""SmoothQuant: outliers of the inputs are moved into the weights, channel by channel, before both get 8 bits.

Xiao et al., 'SmoothQuant: Accurate and Efficient Post-Training Quantization for Large Language Models' (2023), equations 3
and 4: the inputs' channels are divided by s and the weights' columns multiplied by it, s = max|x|^alpha / max|w|^(1-alpha).
The division is folded into whatever puts the channels out, the norm before, and also, where that's exact, values and the
MLP's 'up' (see methods/folding.py). alpha is the paper's, one for all, or searched for each place by the error of the outputs.
Covers the linear layers inside the blocks. Where a model has no place to fold into, inputs stay as rough as they are.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from core.methods import Given, Outcome, calibration, estimates, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.common import stored_dtype
from core.methods.folding import folds
from core.methods.quantization import grid, w8a8
from core.models.activations import ActivationQuant
from core.models.blocks import replace, weight_of
from core.models.packed import PackedLinear
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run


class SmoothQuantParams(CalibrationParams):
    strength: Literal["searched", "fixed"] = knob(
        "searched",
        title="Strength",
        help="How far outliers are moved into the weights. Searched: for each place what gives the least error on the text. "
        "Fixed: the same everywhere, as in the paper.",
        labels={"searched": "Searched", "fixed": "The same everywhere"},
    )
    alpha: float = knob(
        0.5,
        title="Alpha",
        help="0: only the weights are evened out. 1: only the inputs. 0.5 halves the difficulty; Llama-like models often want 0.8.",
        ge=0,
        le=1,
        step=0.05,
        when={"strength": "fixed"},
    )
    places: Literal["all", "norms"] = knob(
        "all",
        title="Smooth behind",
        help="Norms only, as in the paper, or values and the MLP's inner layer too, where that changes nothing else.",
        labels={"all": "Everything that allows it", "norms": "Norms only"},
        advanced=True,
    )
    windows: int = knob(
        32,
        title="Windows",
        help="Windows of text whose inputs are looked at. 16 are enough for most models; time grows with it.",
        ge=1,
        le=4096,
    )


def estimate_smoothquant(params: SmoothQuantParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    tokens = params.windows * min(params.context, info.context or params.context)
    search = len(w8a8.ALPHAS) * w8a8.SAMPLE if params.strength == "searched" else 0
    return {
        "memory": estimates.resident(info, device) + 4 * tokens * (info.hidden or 0) + 16 * estimates.largest_linear(info),
        "seconds": w8a8.calibration_seconds(info, 2 * tokens + search, 1, device),
    } | w8a8.estimate_size(info, ledger, notes=(w8a8.runs(device),))


def label(params: SmoothQuantParams) -> str:
    return "smoothquant" if params.strength == "searched" else f"smoothquant {params.alpha:g}"


@method(
    "smoothquant",
    rank=5,
    title="SmoothQuant",
    family="quantization",
    summary="A minute, needs a text. 8-bit weights and inputs with hardly a loss, where the layers' layout allows it.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/2211.10438",
    estimate=estimate_smoothquant,
    label=label,
)
def smoothquant(model: Any, params: SmoothQuantParams, run: Run, given: Given) -> Outcome:
    """Smooths, then replaces the linear layers by PackedLinear modules that round their input, block by block."""
    layers, transposed = grid.targets(model, given.info)
    ids, notes = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
    dtype = stored_dtype(given.info)
    activation = ActivationQuant()
    by_token = w8a8.token_layers(model)
    packable = {name for name, _ in layers}
    places = [f for f in folds(model) if (f.of_norm or params.places == "all") and all(n in packable & by_token for n, _ in f.targets)]
    chosen: Counter[str] = Counter()
    for turn in sequential.walk(model, run, "Smoothing", ids):
        mine = [name for name in turn.linears if name in packable & by_token]
        stats = turn.collect(w8a8.Extremes, mine) if mine else {}
        rows = {name: stat.rows for name, stat in stats.items()}
        for fold in (f for f in places if f.targets[0][0] in stats):
            run.check_cancelled()
            reader = fold.targets[0][0]
            most = stats[reader].most
            alpha = params.alpha
            if params.strength == "searched":
                alpha = w8a8.searched_alpha(fold, most, rows[reader], activation)
            chosen["left as it was" if alpha is None else f"{alpha:g}"] += 1
            if alpha is None:
                continue
            s = w8a8.smoothing(fold, most, alpha)
            columns = fold.columns(s)
            fold.apply(s, dtype)
            for name, _ in fold.targets:
                rows[name] = rows[name] / columns
        for name in turn.linears:
            if name not in packable:
                continue
            weight = weight_of(turn.linears[name]).detach()
            quant = w8a8.int8_weight(name, weight, dtype)
            packed = PackedLinear.from_linear(turn.linears[name], quant, activation=activation if name in stats else None)
            turn.replace(name, packed, w8a8.output_error(packed, weight, rows[name]) if name in stats else None)
    outside = [name for name, _ in layers if name not in by_token]
    for name, module in layers:
        if model.get_submodule(name) is module:  # outside the blocks
            replace(model, name, PackedLinear.from_linear(module, w8a8.int8_weight(name, weight_of(module), dtype)))
    if places:
        alphas = ", ".join(f"{a} ({n})" for a, n in sorted(chosen.items()))
        norms = sum(f.of_norm for f in places)
        notes.append(f"Smoothed at {len(places)} places, {norms} of them norms; alpha (places): {alphas}.")
    without = sum(name in by_token for name, _ in layers) - sum(len(f.targets) for f in places)
    if without:
        notes.append(f"{without} layers have nothing before them that a scale could be moved into; they're quantized as they are.")
    notes += w8a8.sentences(sum(name in by_token for name, _ in layers), outside, activation, transposed, dtype)
    notes.append(w8a8.runs(given.device))
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))
