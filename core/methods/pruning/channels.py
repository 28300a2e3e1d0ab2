"""MLP channels: the inner width of every block's MLP is cut, by what each channel brings to the output.

Activation: root mean square of the channel times the norm of the weights that it meets, which is the size of its share of the output
(as Wanda's score, Sun et al. 2023, summed over a column). Taylor: |dL/da a|, mean over the tokens (Molchanov et al., 2019). Blocks are
cut one after the other, each judged on what the cut ones before it give. The weights that stay can be solved anew so that the block's
output moves least on the calibration text (the least-squares step of Optimal Brain Surgeon, Hassibi & Stork 1993; for whole channels
as in ZipLM, Kurtic et al. 2023, section 3). Every block keeps as many channels, since that's what a config can say.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from core.errors import UserError
from core.methods import Given, Outcome, calibration, estimates, importance, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.sequential import Hessian, Norms
from core.models import surgery
from core.models.blocks import weight_of
from core.models.surgery import Anatomy
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

MULTIPLE = 64  # channels; matrices of such widths are multiplied fastest
DAMPING = 0.01  # of the mean of the Hessian's diagonal


class _What(Params):
    share: float = knob(
        0.2,
        title="Share of the MLP width",
        help="Share of the channels inside each block's MLP that goes, rounded to whole multiples. A tenth is mild; a third needs healing "
        "by finetuning.",
        ge=0,
        lt=1,
        step=0.05,
    )
    criterion: Literal["activation", "taylor"] = knob(
        "activation",
        title="Importance",
        help="How a channel's worth is judged: by the size of what it adds to the output, or by the gradient of the loss.",
        labels={"activation": "Activation and weights", "taylor": "Gradient (Taylor)"},
    )
    compensate: bool = knob(
        True,
        title="Adjust the weights that stay",
        help="Solves the weights of the remaining channels anew, so that each block's output moves least on the calibration text.",
    )
    multiple: int = knob(
        MULTIPLE,
        title="Multiple",
        unit="channels",
        help="The width is rounded to a multiple of this (of a power of two, in a narrow model). 64 is fast everywhere.",
        ge=1,
        le=4096,
        advanced=True,
    )


class ChannelsParams(CalibrationParams, _What):  # what's cut comes before the text that it's judged on
    pass


def width_after(width: int, share: float, multiple: int) -> int:
    """The width without `share` of it, as the nearest multiple; at least one step smaller where anything is to go, and never 0."""
    step = step_of(width, multiple)
    if share <= 0:
        return width
    return max(step, min(width - step, round(width * (1 - share) / step) * step)) if width > step else width


def step_of(width: int, multiple: int) -> int:
    """`multiple`, or the largest power of two below it that divides the width (and isn't all of it)."""
    if width % multiple == 0 and width > multiple:
        return multiple
    step = 1
    while width % (2 * step) == 0 and 2 * step < min(multiple, width):
        step *= 2
    return step


def estimate_channels(params: ChannelsParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    width = info.intermediate
    if not width:
        return {}
    left = width_after(width, params.share, params.multiple)
    gone = info.components.get("mlp", 0) * (1 - left / width)
    memory, seconds = estimates.walking(info, params.windows, params.context, device, 2, 1 if params.compensate else 0)
    return {
        "bytes_on_disk": ledger.bytes_on_disk - int(gone) * estimates.stored_bytes(info),
        "memory": memory,
        "seconds": seconds,
        "notes": [f"MLP width {width:,} becomes {left:,}"],
    }


@method(
    "channels",
    title="MLP channels",
    family="pruning",
    summary="About a minute. A narrower MLP in every block: a smaller file, and faster wherever it runs.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/1906.10771",
    estimate=estimate_channels,
    label=lambda params: f"{100 * params.share:.3g} % of MLP channels",
    rank=32,
)
def channels(model: Any, params: ChannelsParams, run: Run, given: Given) -> Outcome:
    """Cuts the MLPs. A share of 0 leaves every bit as it was."""
    shape = surgery.anatomy(model)
    left = width_after(shape.width, params.share, params.multiple)
    if left == shape.width:
        if params.share > 0:
            raise UserError(
                "The MLPs of {name} are {width} channels wide, too narrow to be cut in steps of {step}.",
                hint="Choose a smaller multiple.",
                name=given.info.name,
                width=shape.width,
                step=params.multiple,
            )
        return Outcome(model, ("No channel was taken.",))
    scores, notes = None, []
    if params.criterion == "taylor":
        examples, notes = importance.draw(model, given, params, run)
        found = importance.taylor(model, examples, {b.down: 1 for b in shape.blocks}, run)
        scores = [found[b.down] for b in shape.blocks]
    ids = None
    if scores is None or params.compensate:
        ids, more = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
        notes += [note for note in more if note not in notes]
    before = sum(p.numel() for p in model.parameters())
    model = narrowed(model, shape, left, run, ids, scores=scores, compensate=params.compensate)
    after = sum(p.numel() for p in model.parameters())
    notes.append(
        f"MLP width {shape.width:,} -> {left:,} in each of {shape.layers} blocks ({100 * (1 - left / shape.width):.1f} % of its channels); "
        f"{100 * (1 - after / before):.1f} % of all parameters are gone."
    )
    run.log(notes[-1])
    return Outcome(model, tuple(notes))


def narrowed(
    model: Any, shape: Anatomy, left: int, run: Run, ids: Tensor | None, *, scores: list[Tensor] | None = None, compensate: bool = True
) -> Any:
    """The model with `left` channels in every MLP. `model` isn't to be used any more.

    ids: (windows, context) to calibrate on; None only where the scores are given and nothing is compensated. scores: (channels,) of each
    block; None: by activation, as the walk goes.
    """
    keep: list[Tensor] = []
    if ids is None:
        keep = [kept(score, left) for score in scores]
    else:
        for turn in sequential.walk(model, run, "Cutting channels", ids):
            name = shape.blocks[turn.index].down
            stat = turn.collect(Hessian if compensate else Norms, [name])[name]
            weight = weight_of(turn.linears[name]).float()  # (hidden, channels)
            score = scores[turn.index].to(weight.device) if scores else stat.squares.sqrt() * weight.norm(dim=0)
            chosen = kept(score, left)
            new = torch.zeros_like(weight)  # the channels that go are silent until all blocks are through
            new[:, chosen] = compensated(weight, stat.sum, chosen) if compensate else weight[:, chosen]
            turn.write(name, new)
            keep.append(chosen.cpu())
    return surgery.cut_channels(model, keep)


# ---- on plain tensors -----------------------------------------------------------------------------------------------------------


def kept(score: Tensor, count: int) -> Tensor:
    """Ascending indices of the `count` largest; of equal ones the first."""
    return score.argsort(descending=True, stable=True)[:count].sort().values


def compensated(weight: Tensor, hessian: Tensor, keep: Tensor, damping: float = DAMPING) -> Tensor:
    """The weights (out, kept) of the inputs that stay, for which the output is nearest to that of `weight` (out, in).

    Minimises sum over the tokens of |W x - W' x_keep|^2 + d |W' - W_keep|^2, d = damping times the mean of the diagonal of H = sum x x^T:
    W' = (W H[:, keep] + d W_keep) (H[keep, keep] + d I)^-1.
    """
    h = hessian.double()
    d = damping * h.diagonal().mean().clamp_min(torch.finfo(torch.float64).tiny)
    inner = h[keep][:, keep]  # (kept, kept)
    inner.diagonal().add_(d)
    right = weight.double() @ h[:, keep] + d * weight[:, keep].double()  # (out, kept)
    return torch.linalg.solve(inner, right.t()).t().to(weight.dtype)
