"""SparseGPT: weights go column by column, and the columns after them take up the error that this makes in the outputs.

Frantar & Alistarh, 'SparseGPT: Massive Language Models Can Be Accurately Pruned in One-Shot' (2023), algorithm 1: the inverse
Hessian of a layer's inputs by Cholesky, damped; the mask of a block of columns chosen when it's reached, by w² / [H⁻¹]², from
weights that already took up the errors before; N:M patterns group by group. Beyond the paper: how many weights a block of columns
loses follows from a comparison of the whole layer's by what each would cost alone (Hassibi & Stork, 'Second order derivatives for
network pruning: Optimal Brain Surgeon', 1993), and the weights that stay are fitted once more when it's known which they are. Block
by block, each on the outputs of the pruned ones before it. Covers the linear layers of the blocks, GPT-2's transposed ones included;
those outside are pruned by magnitude. Saves no byte.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from core.methods import Given, Outcome, calibration, estimates, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.hessian import Factor, factorise
from core.methods.pruning import layer_sparsity, patterns
from core.methods.pruning.layer_sparsity import LayerSparsityParams
from core.methods.pruning.patterns import SHAPES, count_of, finite, layer_mask, least_of
from core.methods.sequential import Hessian
from core.models.blocks import linears, weight_of
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run

BLOCK = 16  # columns whose mask is chosen together, and whose errors reach the rest of the weight in one product; 128 in the paper
COLUMN_SECONDS = 40e-6  # that a column takes whatever its height


class SparseGptParams(CalibrationParams, LayerSparsityParams):
    scope: Literal["layer", "block"] = knob(
        "layer",
        title="Compare within",
        help="Layer: blocks of columns lose as many weights as the whole layer's comparison says. Block of columns: all lose the same "
        "share, as in the paper; mostly less accurate.",
        labels={"layer": "Each layer", "block": "Each block of columns"},
        when={"pattern": "free"},
        advanced=True,
    )
    fit: int = knob(
        6,
        title="Fitting steps",
        help="Steps of conjugate gradients that fit the weights that stay to the layer's outputs, once it's known which go. "
        "0: as in the paper.",
        ge=0,
        le=100,
        advanced=True,
    )
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
        fitting = 2.5 * (params.fit + 1) * products + 10 * params.fit * estimates.seconds_per_weight(device) * weights
        seconds += estimates.seconds_per_weight(device) * weights * 60 + COLUMN_SECONDS * columns + products + fitting
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
            hessian = stats[names[0]]
            factor = factorise(hessian.sum, params.damping, act_order=False)
            for name in names:
                run.check_cancelled()
                weight = finite(name, weight_of(turn.linears[name]))
                pruned = compensated(weight, factor, planned.counts[name], pattern, even=params.scope == "block")
                turn.write(name, fitted(weight, pruned, hessian.sum, params.damping, params.fit))
                stats.pop(name, None)
            del hessian
    notes += patterns.prune_rest(model, params, "layer", planned)
    notes += patterns.said(model, layers, params, planned)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


# ---- the pruning, on plain tensors --------------------------------------------------------------------------------------


def compensated(
    weight: Tensor, factor: Factor, zeros: int, pattern: tuple[int, int] | None = None, *, even: bool = False, block: int = BLOCK
) -> Tensor:
    """weight (out, in) with exactly `zeros` zeros, the error of each column taken up by those after it in the factor's order.

    pattern: n of every m neighbours in a row instead, in the columns' own order. even: every block of columns loses the same share;
    else as many as are among the layer's `zeros` that would cost least, each gone alone. Weights that are 0 already stay 0 and are
    counted; where they're more than asked for, they're all.
    """
    rows, columns = weight.shape
    work = weight.detach().float()[:, factor.order].t().contiguous()  # (in, out): a column lies together
    frozen = work == 0
    # (in, 1); an input that's always 0 needs no weight
    weighing = (1 / factor.upper.diagonal().square()).masked_fill(factor.dead[factor.order], 0)[:, None]
    score = lambda part: (work[part].square() * weighing[part]).masked_fill_(frozen[part], -1)
    gone = None
    if pattern is None and not even:
        # what each would cost if it went alone and all others made up for it, whatever their order: w² / [H⁻¹]_jj
        alone = (1 / factor.upper.square().sum(0)).masked_fill(factor.dead[factor.order], 0)[:, None]  # (in, 1)
        gone = layer_mask((work.square() * alone).masked_fill_(frozen, -1), zeros)
    done, frozen_after = 0, int(frozen.sum())
    for start in range(0, columns, block):
        end = min(start + block, columns)
        part, errors = work[start:end], torch.empty_like(work[start:end])  # (block, out)
        upper = factor.upper[start:end, start:end]
        if pattern is None:
            already = int(frozen[start:end].sum())
            frozen_after -= already
            upto = zeros if end == columns else count_of(zeros / work.numel(), rows * end)
            wanted = upto - done if gone is None else int(gone[start:end].sum())
            count = max(already, min(wanted, zeros - frozen_after - done))
            done += count
            chosen = layer_mask(score(slice(start, end)), count)
        for i, divisor in enumerate(upper.diagonal().tolist()):
            if pattern is not None and i % pattern[1] == 0:
                group = slice(start + i, start + i + pattern[1])
                found = least_of(score(group), pattern[0]) | frozen[group]  # (m, out), by the weights as they are by now
            lost = part[i].masked_fill(~(chosen[i] if pattern is None else found[i % pattern[1]]), 0)
            part[i] -= lost
            errors[i] = lost / divisor
            if i + 1 < end - start:
                part[i + 1 :].addr_(upper[i, i + 1 :], errors[i], alpha=-1)
        if end < columns:
            work[end:].addmm_(factor.upper[start:end, end:].t(), errors, alpha=-1)
    out = torch.empty_like(work)
    out[factor.order] = work
    return out.t()


def fitted(weight: Tensor, pruned: Tensor, hessian: Tensor, damping: float, steps: int) -> Tensor:
    """`pruned` (out, in) with its weights that aren't 0 moved so that the outputs are nearer to those of `weight`; zeros stay.

    The damped least-squares problem of each row, by `steps` of conjugate gradients from where they are, preconditioned by the
    diagonal (Nocedal & Wright, 'Numerical Optimization', 2006, algorithm 5.3): its error falls with each step. hessian: (in, in),
    of any scale.
    """
    if not steps:
        return pruned
    added = damping * hessian.diagonal().mean()
    if not added:
        return pruned
    kept = (pruned != 0).float()
    scale = 1 / (hessian.diagonal() + added)  # (in,)
    apply = lambda rows: torch.addmm(added * rows, rows, hessian).mul_(kept)
    x = pruned.contiguous().clone()
    residual = apply(weight.float() - x)
    step = residual * scale
    power = (residual * step).sum(1, keepdim=True)  # (out, 1)
    for _ in range(steps):
        image = apply(step)
        along = (power / (step * image).sum(1, keepdim=True)).nan_to_num_(0, 0, 0)  # a row that's fitted already stays
        x.addcmul_(along, step)
        residual.addcmul_(along, image, value=-1)
        before, power = power, (residual * residual * scale).sum(1, keepdim=True)
        step = torch.addcmul(residual * scale, (power / before).nan_to_num_(0, 0, 0), step)
    return x
