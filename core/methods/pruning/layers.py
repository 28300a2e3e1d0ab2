"""Layers: whole transformer blocks are dropped, those that the model misses least, one after the other.

Block influence, 1 - cos between what a block gets and what it gives (Men et al., 'ShortGPT: Layers in Large Language Models are More
Redundant Than You Expect', 2024, section 3.1), looked at anew after each drop; or by the loss itself, measured without each block in
turn, greedily. Doesn't heal what was cut.
"""

from __future__ import annotations

from typing import Any, Literal

from core.errors import UserError
from core.methods import Given, Outcome, estimates, importance, method
from core.methods.calibration import CalibrationParams
from core.methods.importance import Examples
from core.models import surgery
from core.models.blocks import blocks
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run


class _What(Params):
    count: int = knob(
        1,
        title="Layers to drop",
        help="How many of the transformer's blocks go. Each one costs more than the one before; a tenth is mild, more needs healing "
        "by finetuning.",
        ge=0,
        le=1000,
        when={"chosen": ""},
    )
    criterion: Literal["influence", "loss"] = knob(
        "influence",
        title="Importance",
        help="Block influence: how far a block turns what it gets, seen in one run. Measured loss: every block is tried: surer, and "
        "takes as many runs as there are blocks.",
        labels={"influence": "Block influence", "loss": "Measured loss"},
        when={"chosen": ""},
    )
    chosen: str = knob(
        "",
        title="Exactly these",
        help="Numbers of blocks, counted from 0, such as '12 17': exactly these go.",
        advanced=True,
    )


class LayersParams(CalibrationParams, _What):  # what's cut comes before the text that it's judged on
    windows: int = knob(
        8,
        title="Windows",
        help="Windows of text (eight labelled examples each, for a classifier) that blocks are judged on. Time grows with it.",
        ge=1,
        le=4096,
    )
    context: int = knob(
        256,
        title="Context",
        unit="tokens",
        help="Tokens a window. Memory and time grow with it; shortened, visibly, to what the model holds.",
        ge=8,
        le=131_072,
    )


def label(params: LayersParams) -> str:
    count = len(_numbers(params.chosen)) if params.chosen.strip() else params.count
    return f"{count} layer{'s' if count != 1 else ''} dropped"


def estimate_layers(params: LayersParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    total = info.layers or 0
    count = len(_numbers(params.chosen)) if params.chosen.strip() else params.count
    if not total or count >= total:
        return {}
    inside = sum(info.components.get(part, 0) for part in ("attention", "mlp", "norm"))
    _, once = estimates.walking(info, params.windows, params.context, device, 1)
    runs = 0 if params.chosen.strip() else count * (1 if params.criterion == "influence" else total / 2)
    return {
        "bytes_on_disk": ledger.bytes_on_disk - int(inside * count / total) * estimates.stored_bytes(info),
        "memory": estimates.resident(info, device) + 4 * params.windows * params.context * (info.hidden or 0),
        "seconds": once * runs if once else None,
        "notes": [f"{count} of {total} layers go"],
    }


@method(
    "layers",
    title="Layers",
    family="pruning",
    summary="Under a minute. Whole blocks go: smaller, and faster by as much, on every machine.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/2403.03853",
    estimate=estimate_layers,
    label=label,
    rank=34,
)
def layers(model: Any, params: LayersParams, run: Run, given: Given) -> Outcome:
    """Drops blocks. A count of 0 leaves every bit as it was."""
    total = len(blocks(model))
    before = sum(p.numel() for p in model.parameters())
    notes: list[str] = []
    if params.chosen.strip():
        gone = _numbers(params.chosen)
        _check(len(gone), total, max(gone))
        model = surgery.drop_layers(model, set(gone))
        said = ""
    else:
        if params.count == 0:
            return Outcome(model, ("No layer was dropped.",))
        _check(params.count, total)
        examples, notes = importance.draw(model, given, params, run)
        model, gone, said = dropped(model, examples, params.count, params.criterion, run)
    after = sum(p.numel() for p in model.parameters())
    notes.append(
        f"Dropped {len(gone)} of {total} layers, counted from 0: {', '.join(map(str, sorted(gone)))}{said}; "
        f"{100 * (1 - after / before):.1f} % of all parameters are gone."
    )
    run.log(notes[-1])
    return Outcome(model, tuple(notes))


def dropped(model: Any, examples: Examples, count: int, criterion: str, run: Run) -> tuple[Any, list[int], str]:
    """(the model without `count` blocks, their numbers in the order in which they went, what's to be said of how).

    Each is chosen on what's left after the one before. Reports 'influence/<block>' or 'loss_without/<block>' at every drop.
    """
    numbers = list(range(len(blocks(model))))
    gone: list[int] = []
    first = last = 0.0
    kind = "influence" if criterion == "influence" else "loss_without"
    prefix = blocks(model)[0][0].rpartition(".")[0]
    for drop in run.track(range(count), "Dropping layers"):
        if criterion == "influence":
            seen = importance.look(model, examples, run)
            base, worth = seen.loss, seen.influence
        else:
            base, worth = importance.block_losses(model, examples, run)
        for number, value in zip(numbers, worth, strict=True):
            run.metric(f"{kind}/{prefix}.{number}", drop, value)
        first = first if drop else base
        index = min(range(len(worth)), key=lambda i: (worth[i], i))
        last = worth[index]
        model = surgery.drop_layers(model, {index})
        gone.append(numbers.pop(index))
    if criterion == "influence":
        return model, gone, f" (the last one's influence was {last:.3g})"
    return model, gone, f" (loss on the calibration text {first:.3f} before, {last:.3f} after)"


def _numbers(text: str) -> list[int]:
    """Block numbers of '12 17', each once. Raises UserError for what isn't a number."""
    words = text.replace(",", " ").split()
    wrong = next((w for w in words if not (w.isascii() and w.isdecimal())), None if words else text)
    if wrong is not None:
        raise UserError(
            "{word} isn't the number of a layer.", hint="Write numbers counted from 0, as in 12 17.", kind="usage", word=repr(wrong)
        )
    return sorted({int(w) for w in words})


def _check(count: int, total: int, highest: int = 0) -> None:
    if count >= total or highest >= total:
        raise UserError(
            "The model has {total} layers, counted from 0, and one of them must stay.",
            hint="Drop fewer, or others.",
            kind="usage",
            total=total,
        )
