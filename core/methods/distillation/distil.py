"""Distillation: a student learns to say what its teacher says, and what the text says.

    loss = T^2 * KL(teacher at T || student at T) + alpha * cross-entropy(student, text)

Hinton, Vinyals & Dean, 'Distilling the Knowledge in a Neural Network' (2015), section 2, and other divergences in place of KL
(losses.py), summed over the vocabulary and averaged over the tokens that count. The student is a shallower copy of the teacher (as
in Sanh et al., 'DistilBERT', 2019, section 3: layers are taken over) or another variant with the same tokens. Covers causal language
models, and classifiers, where classes and examples stand for tokens. Hidden states and attention may be compared too (features.py);
the student writes no text of its own to learn from. What pruning set to zero in the student stays zero.
"""

from __future__ import annotations

import copy
from typing import Any

from pydantic import field_validator
from torch import nn

from core.errors import UserError
from core.methods import Given, Outcome, estimates, losses, method, training
from core.methods.distillation.features import Inside
from core.methods.feeds import feed_for, objective
from core.models.blocks import blocks, linears
from core.models.packed import PackedLinear
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

DIVERGENCES = ("forward", "reverse", "js", "tv")  # the losses that compare probabilities


class LossParams(Params):
    """How the student is compared with its teacher."""

    loss: losses.Kind = knob(
        "forward",
        title="Loss",
        help="How far the student is from its teacher. Forward KL covers all that the teacher says; reverse KL keeps to what it says most; "
        "Jensen-Shannon is between them; total variation is what a draft's acceptance falls by; or the logits themselves.",
        labels={
            "forward": "Forward KL",
            "reverse": "Reverse KL",
            "js": "Jensen-Shannon",
            "tv": "Total variation",
            "mse": "Squared error of the logits",
        },
    )
    temperature: float = knob(
        2.0,
        title="Temperature",
        help="Softens both models' probabilities before they're compared. Higher teaches more of unlikely tokens; 1 compares as they are.",
        gt=0,
        le=20,
        when={"loss": DIVERGENCES},
    )
    alpha: float = knob(
        0.5,
        title="Weight of the text",
        help="How much the text itself counts beside the teacher. 0: only the teacher. Raise it where the text is better than the teacher.",
        ge=0,
        le=100,
    )
    top_k: int | None = knob(
        None,
        title="Likeliest tokens compared",
        help="Only so many of the teacher's tokens are told apart at each position, and all others count as one, with their exact mass. "
        "Saves memory where the vocabulary is large; 50 to 200 lose little. Empty: all.",
        ge=1,
        le=1_000_000,
        when={"loss": DIVERGENCES},
        advanced=True,
    )
    hidden: float = knob(
        0.0,
        title="Weight of hidden states",
        help="How much it counts that what layers hand on is like the teacher's, layer by layer. 1 is usual; helps shallow encoders "
        "most. 0: not compared.",
        ge=0,
        le=1000,
        advanced=True,
    )
    relations: float = knob(
        0.0,
        title="Weight of attention relations",
        help="How much it counts that the last layer relates tokens as the teacher's does, by queries, keys and values. 1 is usual. Memory "
        "grows with the square of the context. 0: not compared.",
        ge=0,
        le=1000,
        advanced=True,
    )

    def against(self) -> losses.Against:
        top_k = None if self.loss == "mse" else self.top_k
        return losses.Against(self.loss, self.temperature, self.alpha, top_k)


class _Student(Params):
    student: str | None = knob(
        None,
        title="Student",
        help="Who learns: another variant with the same tokens, or, where none is chosen, a shallower copy of the teacher. "
        "The variant that the method is applied to is the teacher.",
        kind="variant",
    )
    layers: int | None = knob(
        None,
        title="Layers to keep",
        help="Layers of the shallower copy, spread evenly over the teacher's, the first and last among them. Empty: half of them. "
        "Fewer are faster and learn less.",
        ge=1,
        le=1000,
        when={"student": None},
    )

    @field_validator("student", mode="before")
    @classmethod
    def _no_variant(cls, value: Any) -> Any:
        return None if value in ("", "shallower") else value


class DistilParams(training.TrainingParams, LossParams, _Student):
    """The student and the loss first, then the loop's knobs."""


def estimate_distil(params: DistilParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    if params.student is not None:
        return {"notes": ["The size is the student's own."]}
    if not (info.parameters and info.layers):
        return {}
    keep = kept_layers(info.layers, params.layers)
    inside = sum(info.components.get(part, 0) for part in ("attention", "mlp", "norm"))
    gone = inside * (1 - len(keep) / info.layers)
    share = 1 - gone / info.parameters
    tokens = params.steps * params.batch * params.context
    return {
        "bytes_on_disk": int(ledger.bytes_on_disk - gone * ledger.weight_bytes / max(1, ledger.parameters)),
        "memory": estimates.resident(info, "cpu") + estimates.training(info, params.batch, params.context, share),
        "seconds": estimates.training_seconds(info, tokens, share, 1.1, device, training.precision(params.precision, device)),
    }


def label_distil(params: DistilParams) -> str:
    if params.student is not None:
        return "distilled"
    if params.layers is None:
        return "student, half the layers"
    return f"student, {params.layers} layer{'s' * (params.layers != 1)}"


@method(
    "distil",
    title="Distil",
    family="distillation",
    summary="Minutes to hours, needs a text or labels. A student that's smaller and faster for real; how good depends on the time given.",
    needs=("text", "labels", "teacher"),
    tasks=("causal-lm", "classifier"),
    paper="https://arxiv.org/abs/1503.02531",
    estimate=estimate_distil,
    label=label_distil,
    packed_parent=True,
)
def distil(model: Any, params: DistilParams, run: Run, given: Given) -> Outcome:
    """Returns the trained student, in float32; the teacher `model` is left as it was."""
    model.requires_grad_(False)
    notes: list[str] = []
    longest = given.info.context
    if params.student is None:
        if any(isinstance(m, PackedLinear) for m in model.modules()):
            raise UserError(
                "{name} is quantized, and a shallower copy of packed weights can't be trained.",
                hint="Distil the variant before the quantization, or choose another variant as the student.",
                kind="model",
                name=given.info.name,
            )
        total = len(blocks(model))
        kept = kept_layers(total, params.layers)
        student = shallower(model, kept)
        notes.append(f"Student: {len(kept)} of the teacher's {total} layers ({', '.join(str(k + 1) for k in kept)}).")
    else:
        loaded = given.load_variant(params.student)
        _check_student(loaded, model, given)
        student = loaded.model
        notes.append(f"Student: began with the weights of {loaded.folder.name}; the teacher is the parent, {given.info.name}.")
        longest = min(x for x in (longest, loaded.info.context) if x) if longest or loaded.info.context else None
    vocabulary = 0 if given.info.task == "classifier" else model.config.get_text_config().vocab_size
    feed = feed_for(student, given, params, run, vocabulary, longest)
    inside = None
    if params.hidden or params.relations:
        weights = {"hidden": params.hidden, "relations": params.relations}
        inside = Inside(student, model, weights, causal=given.info.task == "causal-lm", seed=given.seed)
    loss_of, judge = objective(feed, student, run, teacher=model, against=params.against(), beside=inside)
    rows = feed.batches(params.batch, given.seed)
    beside = inside.projections if inside else None
    how = {"run": run, "device": given.device, "vocabulary": feed.vocabulary, "beside": beside, "seed": given.seed}
    hold = training.pruned_zeros_of(linears(student), student)
    trained = training.train(student, rows, loss_of, judge, params, hold=hold, **how)
    notes += [trained.sentence(), *feed.notes]
    if trained.held:
        notes.append(f"{trained.held:,} zeros of the pruning stayed zero.")
    before, after, what = trained.start["agreement"], trained.best["agreement"], "class" if given.info.task == "classifier" else "token"
    notes.append(f"It chooses the teacher's {what} {100 * after:.1f} % of the time ({100 * before:.1f} % before).")
    return Outcome(student, tuple(notes))


# ---- the student ------------------------------------------------------------------------------------------------------


def kept_layers(total: int, wanted: int | None) -> list[int]:
    """Which of `total` layers a copy with `wanted` of them keeps (None: half, rounded up): evenly spread, first and last included."""
    wanted = wanted or (total + 1) // 2
    if wanted >= total:
        raise UserError(
            "A student of {wanted} layers isn't shallower than its teacher of {total}.",
            hint="Keep fewer than {total} layers.",
            wanted=wanted,
            total=total,
        )
    if wanted == 1:
        return [0]
    return [round(i * (total - 1) / (wanted - 1)) for i in range(wanted)]


def shallower(model: nn.Module, kept: list[int]) -> nn.Module:
    """A copy of the model with only those of its blocks, renumbered, and the config to match. The model is left as it was."""
    found = blocks(model)
    total = len(found)
    holder_name = found[0][0].rpartition(".")[0]
    parent_name, _, leaf = holder_name.rpartition(".")
    parent, whole = model.get_submodule(parent_name), model.get_submodule(holder_name)
    setattr(parent, leaf, nn.ModuleList(found[k][1] for k in kept))
    try:
        student = copy.deepcopy(model)  # only what stays is copied
    finally:
        setattr(parent, leaf, whole)
    for number, (_, block) in enumerate(blocks_of(student, holder_name)):
        for module in block.modules():  # a cache finds its layer by this number
            if isinstance(getattr(module, "layer_idx", None), int):
                module.layer_idx = number
    config = student.config.get_text_config()
    for name, value in list(vars(config).items()):
        if isinstance(value, (list, tuple)) and len(value) == total:  # 'layer_types' and the like: one entry a layer
            setattr(config, name, type(value)(value[k] for k in kept))
    config.num_hidden_layers = len(kept)
    return student


def blocks_of(model: nn.Module, holder: str) -> list[tuple[str, nn.Module]]:
    return [(f"{holder}.{index}", block) for index, block in enumerate(model.get_submodule(holder))]


def _check_student(loaded: Any, model: Any, given: Given) -> None:
    if not loaded.info.tokens_hash or loaded.info.tokens_hash != given.info.tokens_hash:
        raise UserError(
            "{student} has other tokens than {teacher}, so it can't learn from it token by token.",
            hint="Choose a student with the same tokenizer.",
            kind="model",
            student=loaded.folder.name,
            teacher=given.info.name,
        )
    if loaded.folder.resolve() == given.folder.resolve():
        raise UserError(
            "{student} can't learn from itself.",
            hint="Choose another variant as the student, or a shallower copy.",
            student=loaded.folder.name,
        )
    if loaded.info.task != given.info.task:
        raise UserError("{student} doesn't do what its teacher does.", hint="Choose another.", kind="model", student=loaded.folder.name)
    if given.info.task == "classifier" and loaded.model.config.id2label != model.config.id2label:
        raise UserError(
            "{student} tells other classes apart than {teacher}.",
            hint="Choose a student that learnt from the same labels.",
            kind="model",
            student=loaded.folder.name,
            teacher=given.info.name,
        )
    if given.info.task != "classifier":
        sizes = [one.config.get_text_config().vocab_size for one in (loaded.model, model)]
        losses.shared(*sizes, len(given.tokenizer))
    if loaded.info.quantization:
        raise UserError(
            "{student} is quantized, and packed weights can't be trained.",
            hint="Choose the variant that it was quantized from.",
            kind="model",
            student=loaded.folder.name,
        )
