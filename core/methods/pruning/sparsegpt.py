"""SparseGPT: weights go column by column, and the columns after them take up the error that this makes in the outputs.

Frantar & Alistarh, 'SparseGPT: Massive Language Models Can Be Accurately Pruned in One-Shot' (2023), algorithm 1: the inverse
Hessian of a layer's inputs by Cholesky, damped; the mask of a block of columns chosen when it's reached, by w² / [H⁻¹]², from
weights that already took up the errors before; N:M patterns group by group. Block by block, each on the outputs of the pruned ones
before it. Covers the linear layers of the blocks, GPT-2's transposed ones included; those outside are pruned by magnitude. Saves no
byte.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from core.methods import Given, Outcome, calibration, estimates, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.hessian import Factor, factorise
from core.methods.pruning import layer_sparsity, patterns
from core.methods.pruning.layer_sparsity import LayerSparsityParams
from core.methods.pruning.patterns import SHAPES, count_of, finite, layer_mask, n_of_m_mask
from core.methods.sequential import Hessian
from core.models.blocks import linears, weight_of
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run

BLOCK = 128  # columns whose mask is chosen together, and whose errors reach the rest of the weight in one product
COLUMN_SECONDS = 40e-6  # that a column takes whatever its height


class SparseGptParams(CalibrationParams, LayerSparsityParams):
    damping: float = knob(
        0.01,
        title="Damping",
        help="Share of the mean diagonal added to the Hessian. Raise it to 0.1 where a layer's error is larger than with wanda.",
        gt=0,
        le=1,
        advanced=True,
    )


def estimate_sparsegpt(params: SparseGptParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    twice = params.layers == "outliers" and params.pattern == "free"
    memory, seconds = estimates.walking(info, params.windows, params.context, device, passes=4 if twice else 2, hessians=4)
    if seconds is not None:
        weights, widths = estimates.linear_parameters(info), estimates.widths(info)
        columns = (info.layers or 0) * (6 * (info.hidden or 0) + max(widths, default=0))
        products = weights * (info.hidden or 0) / (estimates.REACHED[torch.float32] * estimates.operations_per_second(device))
        seconds += estimates.seconds_per_weight(device) * weights * 60 + COLUMN_SECONDS * columns + products
    return {"memory": memory, "seconds": seconds} | patterns.estimate_size(params, info, ledger)


@method(
    "sparsegpt",
    title="SparseGPT",
    family="pruning",
    summary="Minutes, needs a text. The most accurate zeros without training: the weights that stay make up for those that go.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/2301.00774",
    estimate=estimate_sparsegpt,
    label=lambda params: patterns.label("sparsegpt", params),
    blockwise=True,
    rank=0,
)
def sparsegpt(model: Any, params: SparseGptParams, run: Run, given: Given) -> Outcome:
    """Prunes the weights of `model` in place, one block at a time. Sparsity 0 leaves every bit as it was."""
    layers = linears(model)
    ids, notes = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
    sparsities, more = layer_sparsity.by_blocks(model, params, run, ids, given.home)
    planned = patterns.plan(layers, params, given.info.name, sparsities)
    notes += more
    pattern = None if params.pattern == "free" else SHAPES[params.pattern]
    for turn in sequential.walk(model, run, "Pruning", ids, home=given.home):
        groups = [kept for names in turn.groups() if (kept := [name for name in names if planned.counts[name]])]
        stats = turn.collect(Hessian, [name for names in groups for name in names]) if groups else {}
        for names in groups:  # one Hessian for all of them, since they read the same
            factor = factorise(stats[names[0]].sum, params.damping, act_order=False)
            for name in names:
                run.check_cancelled()
                weight = finite(name, weight_of(turn.linears[name]))
                turn.write(name, compensated(weight, factor, planned.counts[name], pattern))
                stats.pop(name, None)
    notes += patterns.prune_rest(model, params, "layer", planned)
    notes += patterns.said(model, layers, params, planned)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


# ---- the pruning, on plain tensors --------------------------------------------------------------------------------------


def compensated(weight: Tensor, factor: Factor, zeros: int, pattern: tuple[int, int] | None = None, block: int = BLOCK) -> Tensor:
    """weight (out, in) with exactly `zeros` zeros, the error of each column taken up by those after it in the factor's order.

    pattern: n of every m neighbours in a row instead, in the columns' own order. Weights that are 0 already stay 0 and are counted;
    where they're more than asked for, they're all.
    """
    rows, columns = weight.shape
    work = weight.detach().float()[:, factor.order].t().contiguous()  # (in, out): a column lies together
    dead = factor.dead[factor.order]
    frozen = work == 0
    done, frozen_after = 0, int(frozen.sum())
    for start in range(0, columns, block):
        end = min(start + block, columns)
        part, errors, zero = work[start:end], torch.empty_like(work[start:end]), frozen[start:end]  # (block, out)
        upper = factor.upper[start:end, start:end]
        diagonal = upper.diagonal()
        weighing = (1 / diagonal.square()).masked_fill(dead[start:end], 0)[:, None]  # (block, 1): an input that's always 0 needs no weight
        if pattern is None:
            already = int(zero.sum())
            frozen_after -= already
            upto = count_of(zeros / work.numel(), rows * end) if end < columns else zeros
            count = max(already, min(upto, zeros - frozen_after) - done)
            done += count
            gone = layer_mask((part.square() * weighing).masked_fill_(zero, -1), count)
        for i, divisor in enumerate(diagonal.tolist()):
            if pattern is not None and i % pattern[1] == 0:
                group = slice(i, i + pattern[1])
                score = (part[group].square() * weighing[group]).masked_fill_(zero[group], -1)  # from weights as they are by now
                chosen = n_of_m_mask(score.t(), *pattern).t() | zero[group]  # (m, out)
            lost = part[i].masked_fill(~(gone[i] if pattern is None else chosen[i % pattern[1]]), 0)
            part[i] -= lost
            errors[i] = lost / divisor
            if i + 1 < end - start:
                part[i + 1 :].addr_(upper[i, i + 1 :], errors[i], alpha=-1)
        if end < columns:
            work[end:].addmm_(factor.upper[start:end, end:].t(), errors, alpha=-1)
    out = torch.empty_like(work)
    out[factor.order] = work
    return out.t()
