"""8-bit weights, and 8-bit inputs whose scale is found anew for every token as it comes.

Needs no data: the range of a token's vector is read off the vector itself (per-token dynamic quantization, as in Yao et al.,
'ZeroQuant', 2022, section 4.1; weights as in Jacob et al., 2018, one scale a row). A token with one outlier loses precision
in all its other numbers, which smoothquant mends. Covers linear layers inside the blocks; nothing is calibrated.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

from core.methods import Given, Outcome, estimates, method
from core.methods.common import stored_dtype
from core.methods.quantization import grid, w8a8
from core.models.activations import ActivationQuant
from core.models.blocks import replace, weight_of
from core.models.packed import PackedLinear
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run


class Int8DynamicParams(Params):
    activations: Literal["symmetric", "offset"] = knob(
        "symmetric",
        title="Grid of the inputs",
        help="Symmetric: what integer kernels multiply fastest. With an offset the grid fits inputs that are mostly of one sign; "
        "choose it where symmetric loses too much.",
        labels={"symmetric": "Symmetric", "offset": "With an offset"},
    )


def estimate_int8_dynamic(params: Int8DynamicParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    return {
        "memory": estimates.resident(info, device) + 12 * estimates.largest_linear(info),
        "seconds": estimates.seconds_per_weight(device) * estimates.linear_parameters(info) * 30,
    } | w8a8.estimate_size(info, ledger, notes=(w8a8.runs(device),))


@method(
    "int8_dynamic",
    rank=6,
    title="8 bits, dynamic",
    family="quantization",
    summary="Seconds, needs no data. 8-bit weights and inputs: multiplies in integers where the runtime can. Outliers cost accuracy.",
    paper="https://arxiv.org/abs/2206.01861",
    estimate=estimate_int8_dynamic,
    label=lambda params: "int8 dynamic" + " asymmetric" * (params.activations == "offset"),
)
def int8_dynamic(model: Any, params: Int8DynamicParams, run: Run, given: Given) -> Outcome:
    """Replaces the linear layers of `model` by PackedLinear modules that round their input, one at a time."""
    layers, transposed = grid.targets(model, given.info)
    dtype = stored_dtype(given.info)
    activation = ActivationQuant(symmetric=params.activations == "symmetric")
    by_token = w8a8.token_layers(model)
    with torch.no_grad():
        for name, module in run.track(layers, "Quantizing"):
            quant = w8a8.int8_weight(name, weight_of(module), dtype)
            replace(model, name, PackedLinear.from_linear(module, quant, activation=activation if name in by_token else None))
    rounded = [name for name, _ in layers if name in by_token]
    notes = w8a8.sentences(len(rounded), [n for n, _ in layers if n not in by_token], activation, transposed, dtype)
    notes.append(w8a8.runs(given.device))
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))
