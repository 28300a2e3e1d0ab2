"""Wanda: of each output's weights, those go whose product with the size of their input is least.

Sun et al., 'A Simple and Effective Pruning Approach for Large Language Models' (2024), section 3: score |W_ij| · ‖x_j‖₂ over the
calibration tokens, compared within an output row; block by block, each on the outputs of the pruned ones before it. Covers the
linear layers of the blocks, GPT-2's transposed ones included; those outside are pruned by magnitude. Doesn't move the weights that
stay, and saves no byte.
"""

from __future__ import annotations

from typing import Any, Literal

from core.methods import Given, Outcome, calibration, estimates, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.pruning import layer_sparsity, patterns
from core.methods.pruning.layer_sparsity import LayerSparsityParams
from core.methods.pruning.patterns import finite, mask_of
from core.methods.sequential import Norms
from core.models.blocks import linears, weight_of
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run


class WandaParams(CalibrationParams, LayerSparsityParams):
    scope: Literal["row", "layer"] = knob(
        "row",
        title="Compare within",
        help="Where weights compete to stay. Row: every output keeps the same share, as in the paper. Layer: rows may differ.",
        labels={"row": "Each output row", "layer": "Each layer"},
        when={"pattern": "free"},
        advanced=True,
    )


def estimate_wanda(params: WandaParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    twice = params.layers == "outliers" and params.pattern == "free"
    memory, seconds = estimates.walking(info, params.windows, params.context, device, passes=4 if twice else 2)
    if seconds is not None:
        seconds += estimates.seconds_per_weight(device) * 60 * estimates.linear_parameters(info)
    return {"memory": memory, "seconds": seconds} | patterns.estimate_size(params, info, ledger)


@method(
    "wanda",
    title="Wanda",
    family="pruning",
    summary="A minute, needs a text. Far better than by magnitude: what matters is a weight's share of the output. No smaller on disk.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/2306.11695",
    estimate=estimate_wanda,
    label=lambda params: patterns.label("wanda", params),
    blockwise=True,
    rank=1,
)
def wanda(model: Any, params: WandaParams, run: Run, given: Given) -> Outcome:
    """Zeroes weights of `model` in place, one block at a time. Sparsity 0 leaves every bit as it was."""
    layers = linears(model)
    ids, notes = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
    sparsities, more = layer_sparsity.by_blocks(model, params, run, ids, given.home)
    planned = patterns.plan(layers, params, given.info.name, sparsities)
    notes += more
    for turn in sequential.walk(model, run, "Pruning", ids, home=given.home):
        wanted = [name for name in turn.linears if planned.counts[name]]
        stats = turn.collect(Norms, wanted) if wanted else {}
        for name in wanted:
            run.check_cancelled()
            weight = finite(name, weight_of(turn.linears[name]))  # (out, in)
            score = weight.float().abs() * stats[name].squares.sqrt()
            turn.write(name, weight.masked_fill(mask_of(score, params, params.scope, planned.counts[name]), 0))
    notes += patterns.prune_rest(model, params, params.scope, planned)
    notes += patterns.said(model, layers, params, planned)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))
