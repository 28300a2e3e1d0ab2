"""Attention heads: those that the loss misses least are cut out, or, where layers may lose different numbers, masked.

Michel, Levy & Neubig, 'Are Sixteen Heads Really Better than One?' (2019): importance by the gradient of the loss with respect to a
head's mask, section 4.1. Where query heads share keys and values, a whole group is the unit. Uniform: every layer loses as many, its
least important, and the file gets smaller. Global: the least important of the model go, wherever they are; no config can say that, so
their weights become zeros and the file keeps its size. Where a config can't say fewer heads at all (BERT, GPT-2), both are masks.
Doesn't heal what was cut.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Literal

import torch
from torch import Tensor

from core.errors import UserError
from core.methods import Given, Outcome, calibration, estimates, importance, method, sequential
from core.methods.calibration import CalibrationParams
from core.methods.pruning import channels
from core.methods.sensitivity import in_float32
from core.methods.sequential import Hessian
from core.models import surgery
from core.models.blocks import weight_of
from core.models.surgery import Anatomy
from core.params import Params, knob
from core.records import MASKED_ONLY, Ledger, SourceInfo
from core.run import Run


class _What(Params):
    share: float = knob(
        0.1,
        title="Share of the heads",
        help="Share of the attention heads (of the key-value groups, where heads share keys and values) that goes. A tenth is mild, a "
        "third is harsh unless healed by finetuning. Where each layer loses as many, it's one at least.",
        ge=0,
        lt=1,
        step=0.05,
        when={"chosen": ""},
    )
    allocation: Literal["uniform", "global"] = knob(
        "uniform",
        title="Which layers lose them",
        help="Each layer as many: the file gets smaller and everything faster. Wherever they matter least: gentler, but they can only "
        "be zeroed, and the file keeps its size.",
        labels={"uniform": "Each layer as many, cut", "global": "Wherever they matter least, zeroed"},
        when={"chosen": ""},
    )
    criterion: Literal["taylor", "taylor_normalised", "magnitude", "random"] = knob(
        "taylor",
        title="Importance",
        help="How a head's worth is judged. The gradient tells best. Magnitude is often worse than chance; both it and chance are here to "
        "compare with.",
        labels={
            "taylor": "Gradient (Taylor)",
            "taylor_normalised": "Gradient, within each layer",
            "magnitude": "Size of the weights",
            "random": "Chance",
        },
        when={"chosen": ""},
    )
    chosen: str = knob(
        "",
        title="Exactly these",
        help="Layer and head (or group), counted from 0, such as '0.3 1.7': exactly these go, whatever the settings above say. The head "
        "map in the window writes it.",
        advanced=True,
    )
    compensate: bool = knob(
        True,
        title="Adjust the weights that stay",
        help="Solves the output weights of the remaining heads anew, so that each layer's output moves least on the calibration text. Only "
        "where each layer loses as many: elsewhere it was found not to help.",
        unless={"allocation": "global", "chosen": ""},
    )


class HeadsParams(CalibrationParams, _What):  # what's cut comes before the text that it's judged on
    windows: int = knob(
        16,
        title="Windows",
        help="Windows of text (eight labelled examples each, for a classifier) on which the gradient is looked at. Beyond 32 the order "
        "hardly changes. Time grows with it.",
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


def label(params: HeadsParams) -> str:
    if params.chosen.strip():
        count = len(set(_words(params.chosen)))
        return f"{count} head{'s' if count != 1 else ''} chosen"
    return f"{100 * params.share:.3g} % of heads{' zeroed' if params.allocation == 'global' else ''}"


def estimate_heads(params: HeadsParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    memory = estimates.training(info, 1, params.context) if info.hidden else None
    tokens = params.windows * params.context
    out: dict[str, Any] = {"memory": memory, "seconds": estimates.training_seconds(info, tokens, 0.67, 0, device)}
    units = info.kv_heads or info.heads or 1
    gone = max(1, rounded(params.share, units))
    no_cut = info.model_type in MASKED_ONLY
    if params.chosen.strip() or params.allocation == "global" or no_cut:
        out["bytes_on_disk"] = ledger.bytes_on_disk
        out["notes"] = ["0 % smaller on disk: the heads' weights become zeros"]
        return out
    attention = info.components.get("attention", 0)
    out["bytes_on_disk"] = ledger.bytes_on_disk - int(attention * gone / units) * estimates.stored_bytes(info)
    what = "heads" if units == info.heads else "key-value groups"
    out["notes"] = [f"{gone} of {units} {what} of each layer go ({100 * gone / units:.0f} %)"]
    return out


@method(
    "heads",
    title="Attention heads",
    family="pruning",
    summary="Under a minute. The heads that the loss misses least are cut: a smaller file and faster attention.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/1905.10650",
    estimate=estimate_heads,
    label=label,
    rank=30,
)
def heads(model: Any, params: HeadsParams, run: Run, given: Given) -> Outcome:
    """Cuts or masks heads. A share of 0 leaves every bit as it was."""
    shape = surgery.anatomy(model)
    if params.chosen.strip():
        off = parse_units(params.chosen, shape)
        counts = {sum(layer == index for layer, _ in off) for index in range(shape.layers)}
        return _take(model, shape, off, len(counts) == 1, params, run, given, [])
    if params.share == 0:
        return Outcome(model, ("No head was taken.",))
    uniform = params.allocation == "uniform"
    gone = max(1, rounded(params.share, shape.units if uniform else shape.layers * shape.units))
    if uniform and gone >= shape.units:
        raise UserError(
            "Each layer of {name} has {units} {unit}, and one of them must stay.",
            hint="Choose a smaller share, or let layers lose different numbers.",
            name=given.info.name,
            units=shape.units,
            unit=_plural(shape),
        )
    scores, notes = judged(model, shape, params, run, given)
    for layer, row in enumerate(scores.tolist()):
        for unit, value in enumerate(row):
            run.metric(f"importance/{layer}.{unit}", layer, value)
    off = least_of_each(scores, gone) if uniform else least_of_all(scores, gone)
    return _take(model, shape, off, uniform, params, run, given, notes)


def judged(model: Any, shape: Anatomy, params: HeadsParams, run: Run, given: Given) -> tuple[Tensor, list[str]]:
    """((layers, units) importance by the criterion, notes)."""
    examples, notes = None, []
    if params.criterion in ("taylor", "taylor_normalised"):
        with in_float32(model):
            examples, notes = importance.draw(model, given, params, run)
    return importance.head_scores(model, shape, [params.criterion], run, examples, given.seed)[params.criterion], notes


def _take(
    model: Any, shape: Anatomy, off: set[tuple[int, int]], even: bool, params: HeadsParams, run: Run, given: Given, notes: list[str]
) -> Outcome:
    """Cuts the units where every layer loses as many and the config can say it; else masks them."""
    left = shape.units - len(off) // shape.layers
    why = "layers lose different numbers of them" if not even else surgery.heads_stay_because(model, left) if left else ""
    said = f"{len(off)} of {shape.layers * shape.units} {_plural(shape)}"
    before = sum(p.numel() for p in model.parameters())
    if params.compensate and even:
        ids, more = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
        compensate(model, shape, off, ids, run)
        notes += [note for note in more if note not in notes] + ["The output weights of the heads that stay were adjusted."]
    if not why and left:
        keep = [torch.tensor([unit for unit in range(shape.units) if (layer, unit) not in off]) for layer in range(shape.layers)]
        family = type(model).__name__
        model = surgery.cut_heads(model, keep)
        after = sum(p.numel() for p in model.parameters())
        notes.append(f"Cut: {said}, {shape.units - left} in each layer; {100 * (1 - after / before):.1f} % of all parameters are gone.")
        if type(model).__name__ != family:
            notes.append(
                f"Saved as {type(model).__name__}, which computes the same: {family} would refuse {model.config.num_attention_heads} heads."
            )
    else:
        zeros = surgery.mask_heads(model, off)
        notes.append(
            f"0 % smaller on disk: {said} were zeroed ({zeros:,} weights, {100 * zeros / before:.1f} % of all), since "
            f"{why or 'a layer without any head can not be written down'}."
        )
        notes += _nearest_cut(model, shape, off)
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


def compensate(model: Any, shape: Anatomy, off: Collection[tuple[int, int]], ids: Tensor, run: Run) -> None:
    """Gives the output projections the weights, for the units that stay, with which their outputs move least; zero for those in `off`.

    ids: (windows, context). Blocks are solved one after the other, each on what the ones before it give.
    """
    for turn in sequential.walk(model, run, "Adjusting", ids):
        gone = torch.tensor([(turn.index, unit) in off for unit in range(shape.units)]).repeat_interleave(shape.unit_width)
        if not gone.any():
            continue
        name = shape.blocks[turn.index].out
        weight = weight_of(turn.linears[name]).float()  # (hidden, heads * head_dim)
        stat = turn.collect(Hessian, [name])[name]
        new = torch.zeros_like(weight)
        if not gone.all():
            stay = (~gone).nonzero()[:, 0].to(weight.device)
            new[:, stay] = channels.compensated(weight, stat.sum, stay)
        turn.write(name, new)


def _nearest_cut(model: Any, shape: Anatomy, off: set[tuple[int, int]]) -> list[str]:
    """The uniform cut that takes about as many, in words; nothing where there is none."""
    wanted = len(off) / shape.layers
    able = [n for n in range(1, shape.units) if not surgery.heads_stay_because(model, shape.units - n)]
    if not able:
        return []
    gone = min(able, key=lambda n: (abs(n - wanted), n))
    share = gone / shape.units
    return [
        f"The nearest cut that makes the file smaller: uniform, {gone} of {shape.units} {_plural(shape)} of each layer (share {share:.3g})."
    ]


def _plural(shape: Anatomy) -> str:
    return "heads" if shape.unit == "head" else "key-value groups"


# ---- which go -------------------------------------------------------------------------------------------------------------------


def rounded(share: float, total: int) -> int:
    """How many of `total` a share is: rounded to nearest, halves up."""
    return int(share * total + 0.5)


def least_of_each(scores: Tensor, count: int) -> set[tuple[int, int]]:
    """The `count` smallest of each layer; of equal ones the first. scores: (layers, units)."""
    order = scores.argsort(dim=1, stable=True)[:, :count]
    return {(layer, unit) for layer, row in enumerate(order.tolist()) for unit in row}


def least_of_all(scores: Tensor, count: int) -> set[tuple[int, int]]:
    """The `count` smallest of all layers together; of equal ones the first."""
    order = scores.flatten().argsort(stable=True)[:count].tolist()
    return {divmod(index, scores.shape[1]) for index in order}


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[\s,;]+", text) if word]


def parse_units(text: str, shape: Anatomy) -> set[tuple[int, int]]:
    """{(layer, unit)} of '0.3 1.7'. Raises UserError for what isn't there."""
    out = set()
    for word in _words(text) or [text]:
        found = re.fullmatch(r"(\d+)\.(\d+)", word)
        if not found:
            raise UserError(
                "{word} isn't a head: write layer and {unit} with a point between them.",
                hint="For example 0.3 1.7, counted from 0.",
                kind="usage",
                word=repr(word),
                unit="head" if shape.unit == "head" else "key-value group",
            )
        layer, unit = int(found[1]), int(found[2])
        if layer >= shape.layers or unit >= shape.units:
            raise UserError(
                "There is no {word}: the model has {layers} layers of {units} {plural}, counted from 0.",
                hint="Correct the list of heads.",
                kind="usage",
                word=word,
                layers=shape.layers,
                units=shape.units,
                plural=_plural(shape),
            )
        out.add((layer, unit))
    return out
