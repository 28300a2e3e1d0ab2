"""fp8: weights, and inputs token by token, as the 256 numbers of float8 e4m3.

Micikevicius et al., 'FP8 Formats for Deep Learning' (2022): 4 bits of exponent, 3 of mantissa, the largest 448. One scale a
row brings each row's largest weight, and one a token each token's largest number, to 448. Beside int8 it keeps small numbers
next to large ones better and large ones worse. Multiplied in fp8 on NVIDIA's from compute capability 8.9 on; elsewhere the
same rounding is simulated in floating point, which is said. Covers linear layers inside the blocks; calibrates nothing.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

from core.methods import Given, Outcome, estimates, method
from core.methods.common import stored_dtype
from core.methods.quantization import grid, w8a8
from core.models.activations import ActivationQuant, multiplies_fp8
from core.models.blocks import replace, weight_of
from core.models.packed import PackedLinear
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

SIMULATED = (
    "Simulated: {device} has no products of fp8 numbers, so they're rounded to fp8 and computed with in floating point. The numbers are "
    "those of fp8; the speed isn't."
)


class Fp8Params(Params):
    activations: Literal["dynamic", "none"] = knob(
        "dynamic",
        title="Inputs",
        help="Rounded to fp8 token by token, so that GPUs multiply in fp8; or left as they are, which only makes the file smaller.",
        labels={"dynamic": "fp8, token by token", "none": "As they are"},
    )


def estimate_fp8(params: Fp8Params, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    sized = w8a8.estimate_size(info, ledger)
    notes = sized["notes"]
    if not multiplies_fp8(device):
        notes.append(SIMULATED.format(device=device))
    return (
        {
            "memory": estimates.resident(info, device) + 12 * estimates.largest_linear(info),
            "seconds": estimates.seconds_per_weight(device) * estimates.linear_parameters(info) * 30,
        }
        | sized
        | {"notes": notes}
    )


@method(
    "fp8",
    rank=10,
    title="fp8",
    family="quantization",
    summary="Seconds, needs no data. Nearly lossless; fast on GPUs that multiply in fp8, simulated and so labelled elsewhere.",
    paper="https://arxiv.org/abs/2209.05433",
    estimate=estimate_fp8,
    label=lambda params: "fp8" if params.activations == "dynamic" else "fp8 weights",
)
def fp8(model: Any, params: Fp8Params, run: Run, given: Given) -> Outcome:
    """Replaces the linear layers of `model` by PackedLinear modules with float8 codes, one at a time."""
    layers, transposed = grid.targets(model, given.info)
    dtype = stored_dtype(given.info)
    activation = ActivationQuant(kind="float") if params.activations == "dynamic" else None
    by_token = w8a8.token_layers(model) if activation else set()
    with torch.no_grad():
        for name, module in run.track(layers, "Quantizing"):
            quant = w8a8.fp8_weight(name, weight_of(module), dtype)
            replace(model, name, PackedLinear.from_linear(module, quant, activation=activation if name in by_token else None))
    if activation:
        outside = [name for name, _ in layers if name not in by_token]
        notes = w8a8.sentences(len(layers) - len(outside), outside, activation, transposed, dtype)
        if not multiplies_fp8(given.device):
            notes.append(SIMULATED.format(device=given.device))
    else:
        kept = str(dtype).removeprefix("torch.")
        notes = [f"{len(layers)} linear layers: weights in fp8, one scale for each output row. Embeddings and head stay in {kept}."]
        notes += grid.left_out(transposed)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))
