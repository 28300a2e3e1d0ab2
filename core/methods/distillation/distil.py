"""Distillation: a student learns to say what its teacher says, and what the text says.

    loss = T^2 * KL(teacher at T || student at T) + alpha * cross-entropy(student, text)

Hinton, Vinyals & Dean, 'Distilling the Knowledge in a Neural Network' (2015), section 2, and other divergences in place of KL
(losses.py), summed over the vocabulary and averaged over the tokens that count. The student is made of the teacher, or
another variant with the same tokens (students.py). Covers causal language models, and classifiers, where classes and examples stand
for tokens. Hidden states and attention may be compared too (features.py). What's learnt from is a text, or what teacher or student
write themselves (writing.py). What the teacher answers can be kept on disk (answers.py), and the student learn by low-rank additions
(recovery/lora.py). What pruning set to zero in the student stays zero.
"""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import field_validator

from core.errors import UserError
from core.methods import Given, Outcome, estimates, losses, method, training
from core.methods.distillation import answers, students
from core.methods.distillation.features import Inside, looks_back_only
from core.methods.distillation.writing import OnPolicy, WrittenFeed, told
from core.methods.feeds import Feed, feed_for, objective
from core.methods.recovery import lora
from core.methods.samples import shower
from core.models import draft_words
from core.models.blocks import blocks, linears
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
        help="Who learns: another variant with the same tokens, or, where none is chosen, a new one. The variant that the method is "
        "applied to is the teacher.",
        labels={None: "A new one, designed below"},
        kind="variant",
    )
    begin: Literal["shallower", "narrower", "fresh"] = knob(
        "shallower",
        title="New student",
        help="A copy with some of the teacher's layers learns fastest; one with all layers, each narrower, keeps more and gains less "
        "speed; a fresh model may have any shape, knows nothing, and needs far more steps.",
        labels={"shallower": "Shallower copy", "narrower": "Narrower copy", "fresh": "Fresh model"},
        when={"student": None},
    )
    layers: int | None = knob(
        None,
        title="Layers to keep",
        help="Layers of the shallower copy, spread evenly over the teacher's, the first and last among them; or of the fresh model. Empty: "
        "half of the teacher's. Fewer are faster and learn less.",
        ge=1,
        le=1000,
        when={"student": None, "begin": ("shallower", "fresh")},
    )
    share: float = knob(
        0.5,
        title="Share of the width to keep",
        help="Of each layer's MLP channels and attention heads, those that matter most on the text.",
        gt=0,
        lt=1,
        step=0.05,
        when={"student": None, "begin": "narrower"},
    )
    width: int | None = knob(
        None,
        title="Width",
        help="Numbers that a token is in the fresh model; the MLP keeps its proportion to it. Empty: half of the teacher's.",
        ge=2,
        le=100_000,
        when={"student": None, "begin": "fresh"},
    )
    heads: int | None = knob(
        None,
        title="Attention heads",
        help="Of each layer of the fresh model; they must divide its width. Empty: heads as wide as the teacher's.",
        ge=1,
        le=1000,
        when={"student": None, "begin": "fresh"},
    )

    data: Literal["text", "continued", "written"] = knob(
        "text",
        title="Learns on",
        help="The text as it is; its windows' beginnings, continued by the teacher; or text that the teacher writes from nothing, where "
        "none is at hand that's like what the student will meet. For models that generate.",
        labels={"text": "The text", "continued": "The text, continued by the teacher", "written": "Text that the teacher writes"},
    )
    written: int = knob(
        100_000,
        title="Tokens that the teacher writes",
        help="More are less often repeated, and take longer to write. No more are written than the steps read.",
        ge=100,
        le=100_000_000,
        when={"data": ("continued", "written")},
    )
    on_policy: float = knob(
        0.0,
        title="Share of the student's own text",
        help="At so many of the steps, the student continues the text itself and the teacher judges what it says, so that it learns where "
        "its own mistakes lead. 0.5 is usual. Such a step takes several times as long. For models that generate.",
        ge=0,
        le=1,
        step=0.1,
        advanced=True,
    )

    answers: Literal["computed", "kept"] = knob(
        "computed",
        title="Teacher's answers",
        help="Computed at each step; or once beforehand, and kept on disk until the job is done, which makes every further pass over the "
        "text faster: much where the teacher is much larger. Each pass then cuts the text at the same places, and where all tokens would "
        "be compared, only the 64 likeliest are told apart and all others count as one. Where the steps read no text twice, it gains "
        "nothing.",
        labels={"computed": "Computed at each step", "kept": "Kept on disk"},
        when={"hidden": 0.0, "relations": 0.0},
        advanced=True,
    )

    @field_validator("student", mode="before")
    @classmethod
    def _no_variant(cls, value: Any) -> Any:
        return None if value in ("", "shallower") else value


class _Weights(lora.LoraParams):
    weights: Literal["all", "lora"] = lora.weights_knob(unless={"student": None, "begin": "fresh"})


class DistilParams(training.TrainingParams, _Weights, LossParams, _Student):
    """The student and the loss first, then which of its weights learn, then the loop's knobs."""

    learning_rate: float = knob(
        5e-4,
        title="Learning rate",
        help="Size of the updates at their largest. Halve it where the loss jumps or rises; double it where it hardly falls.",
        gt=0,
        le=1,
        unless={"weights": "lora"},
    )


def estimate_distil(params: DistilParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    if params.student is not None:
        return {"notes": ["The size is the student's own."]}
    if not (info.parameters and info.layers):
        return {}
    left = _parameters(params, info)
    share = left / info.parameters
    tokens = params.steps * params.batch * params.context
    written = min(params.written, tokens) if params.data != "text" else 0
    kept = params.answers == "kept" and info.task == "causal-lm"
    once = min(tokens, written or training.MOST_TOKENS) if kept else tokens  # of a shorter text, fewer: it isn't known here
    asked = once + params.on_policy * (tokens - once)
    writes = 0.1 + (asked + written) / tokens + 0.75 * params.on_policy * share  # forwards of the teacher's size, a token trained on
    memory = estimates.resident(info, "cpu") + estimates.training(info, params.batch, params.context, share)
    if params.weights == "lora":
        memory -= int(16 * share * info.parameters)  # no gradients, moments and best copy of the weights themselves
    notes = [f"The student has about {left / 1e6:,.2f} million parameters, the teacher {info.parameters / 1e6:,.2f} million"]
    if kept and info.vocabulary:
        size = answers.most_bytes(once, info.vocabulary, params.against())
        notes.append(f"While it trains, the teacher's answers take up to {size / 1e6:,.0f} MB on disk; on a short text, less")
    return {
        "bytes_on_disk": int(ledger.bytes_on_disk - (info.parameters - left) * ledger.weight_bytes / max(1, ledger.parameters)),
        "memory": memory,
        "seconds": estimates.training_seconds(info, tokens, share, writes, device, training.precision(params.precision, device)),
        "notes": notes,
        "layers": _layers(params, info),
        "parameters": left,
        "width": _width(params, info),
    }


def _layers(params: DistilParams, info: SourceInfo) -> int:
    """Layers that the new student has."""
    if params.begin == "fresh":
        return students.fresh_shape(info, params.layers, params.width, params.heads).layers
    return info.layers if params.begin == "narrower" else len(students.kept_layers(info.layers, params.layers))


def _width(params: DistilParams, info: SourceInfo) -> float:
    """How wide what its layers hand on is, as a share of the teacher's; a narrower copy hands on as much."""
    if params.begin != "fresh":
        return 1.0
    return students.fresh_shape(info, params.layers, params.width, params.heads).width / (info.hidden or 1)


def _parameters(params: DistilParams, info: SourceInfo) -> int:
    """Parameters that the new student has."""
    if params.begin == "fresh":
        return students.parameters(students.fresh_shape(info, params.layers, params.width, params.heads), info)
    if params.begin == "narrower":
        units = info.kv_heads or info.heads or 1
        attention = info.components.get("attention", 0) * students.units_gone(units, params.share) / units
        return round(info.parameters - attention - info.components.get("mlp", 0) * (1 - params.share))
    inside = sum(info.components.get(part, 0) for part in ("attention", "mlp", "norm"))
    return round(info.parameters - inside * (1 - len(students.kept_layers(info.layers, params.layers)) / info.layers))


def label_distil(params: DistilParams) -> str:
    """'student, 4 layers', and what tells its training from the usual one."""
    return f"{_kind_of_student(params)}{', LoRA' * (params.weights == 'lora')}"


def _kind_of_student(params: DistilParams) -> str:
    if params.student is not None:
        return "distilled"
    if params.begin == "narrower":
        return f"student, {100 * params.share:.3g} % of the width"
    fresh = "fresh " * (params.begin == "fresh")
    if params.layers is None:
        return f"{fresh}student, half the layers"
    return f"{fresh}student, {params.layers} layer{'s' * (params.layers != 1)}"


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
    resumable=True,
    packed_parent=True,
)
def distil(model: Any, params: DistilParams, run: Run, given: Given) -> Outcome:
    """Returns the trained student, in float32; the teacher `model` is left as it was."""
    model.requires_grad_(False)
    _check_data(params, given)
    notes: list[str] = []
    files: dict[str, bytes | None] = {}
    longest, teacher, reads = given.info.context, model, given
    if params.student is None:
        student, notes = _new(model, params, run, given)
    else:
        loaded = given.load_variant(params.student)
        texts = params.data != "text" and not students.alike(loaded, given)
        students.check(loaded, model, given, texts=texts)
        student = loaded.model
        notes.append(f"Student: began with the weights of {loaded.folder.name}; the teacher is the parent, {given.info.name}.")
        longest = min(x for x in (longest, loaded.info.context) if x) if longest or loaded.info.context else None
        if texts:
            _check_texts(params, loaded.folder.name)
            files = students.own_files(loaded, given)
            teacher, reads = None, dataclasses.replace(given, tokenizer=loaded.tokenizer, info=loaded.info)
            notes.append("Its tokens aren't the teacher's: it learnt the text that the teacher wrote, and no probabilities.")
        else:
            files = draft_words.carried(loaded.folder, given.folder)
    feed = _feed(student, model, params, run, given, reads, longest)
    notes += feed.notes
    against, inside = params.against(), None
    if params.hidden or params.relations:
        weights = {"hidden": params.hidden, "relations": params.relations}
        inside = Inside(student, model, weights, causal=looks_back_only(model), seed=given.seed)
    beside = inside.projections if inside else None
    how = {"run": run, "device": given.device, "vocabulary": feed.vocabulary, "beside": beside, "seed": given.seed, "work": given.work}
    hold = training.pruned_zeros_of(linears(student), student)
    own = OnPolicy(student, params.on_policy, len(given.tokenizer), given.seed, run) if params.on_policy else None
    show = shower(feed, student, model, given, run, reads=reads)
    with contextlib.ExitStack() as stack:
        kept, settings = None, params
        if params.answers == "kept":
            kept, against, said = stack.enter_context(_kept(model, student, feed, params, run, given))
            notes += said
        if params.weights == "lora":
            settings = params.model_copy(update={"learning_rate": params.lora_learning_rate})
            how["learns"] = stack.enter_context(lora.added(student, params.rank, hold, given.seed, head=given.info.task == "classifier"))
            notes.append(f"Low-rank additions of rank {params.rank} to the linear layers, folded into them.")
        loss_of, judge = objective(feed, student, run, teacher=teacher, against=against, beside=inside, kept=kept)
        if params.weights == "all":
            how["hold"] = hold
        rows = feed.batches(params.batch, given.seed)
        trained = training.train(student, rows, loss_of, judge, settings, rewrite=own, show=show, **how)
    notes.append(trained.sentence())
    held = sum(int(m.sum()) for m in hold.values())
    if held:
        notes.append(f"{held:,} zeros of the pruning stayed zero.")
    if teacher is not None:
        before, after, what = trained.start["agreement"], trained.best["agreement"], "class" if given.info.task == "classifier" else "token"
        notes.append(f"It chooses the teacher's {what} {100 * after:.1f} % of the time ({100 * before:.1f} % before).")
    return Outcome(student, tuple(notes), files=files | show.files())


def _feed(student: Any, model: Any, params: DistilParams, run: Run, given: Given, reads: Given, longest: int | None) -> Feed:
    """What the student learns on. reads: `given`, or where the student has other tokens, the same with its tokenizer."""
    if params.data == "text":
        vocabulary = 0 if given.info.task == "classifier" else model.config.get_text_config().vocab_size
        return feed_for(student, given, params, run, vocabulary, longest, anew=params.answers == "computed")
    feed = WrittenFeed(model, given, params, params.written, params.data == "continued", run, longest)
    if reads is given:
        return feed
    reads = dataclasses.replace(reads, text=told(feed, model, given, reads.tokenizer))
    return feed_for(student, reads, params, run, longest=longest)


@contextlib.contextmanager
def _kept(
    model: Any, student: Any, feed: Feed, params: DistilParams, run: Run, given: Given
) -> Iterator[tuple[answers.Answers, losses.Against, list[str]]]:
    """(the teacher's answers, how they're compared, what has to be said of them). Without a folder of the job they're kept in one of
    their own, and gone afterwards."""
    with contextlib.ExitStack() as stack:
        work = given.work or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="answers-")))
        classifier = given.info.task == "classifier"
        vocabulary = min(feed.outputs(student), feed.outputs(model))
        against = answers.coarse(params.against(), vocabulary, classifier)
        known = {"context": params.context, "labels": given.labels.sha256 if classifier else None}
        fed = answers.batches_of(feed, params.batch, params.steps, given.seed)
        kept = answers.Answers(work, model, feed, fed, vocabulary, against, known=known, run=run, classifier=classifier)
        stack.callback(kept.close)
        at_once = estimates.rows_at_once(params.batch, params.context, vocabulary)
        kept.gather(at_once, training.precision(params.precision, given.device))
        notes: list[str] = []
        notes.append(
            f"The teacher was asked once for each of {kept.count:,} {'examples' if classifier else 'windows of text'}, which were learnt "
            f"{kept.asked / kept.count:.1f} times; its answers took {kept.bytes / 1e6:,.1f} MB of disk while it trained."
        )
        if kept.asked == kept.count:
            notes.append("None came twice, so keeping its answers saved no time.")
        if against.top_k is not None and against.top_k < vocabulary:
            notes.append(f"Of its tokens the {against.top_k} likeliest were told apart at each position; all others counted as one.")
        yield kept, against, notes


def _check_texts(params: DistilParams, name: str) -> None:
    """What only a student with the teacher's tokens can do."""
    if params.answers == "kept":
        raise UserError(
            "{student} has other tokens than its teacher, whose probabilities it doesn't learn, so there are none to keep.",
            hint="Set the teacher's answers to be computed at each step.",
            student=name,
        )
    if params.on_policy or params.hidden or params.relations:
        raise UserError(
            "{student} has other tokens than its teacher, which can judge neither its own text nor its inside.",
            hint="Set the share of the student's own text, and the weights of hidden states and attention relations, to 0.",
            student=name,
        )


def _check_data(params: DistilParams, given: Given) -> None:
    if params.weights == "lora" and params.student is None and params.begin == "fresh":
        raise UserError(
            "A fresh student knows nothing yet, and low-rank additions alone can't teach it.",
            hint="Let all its weights learn, or begin with a copy.",
        )
    if params.answers == "kept" and (params.hidden or params.relations):
        raise UserError(
            "Hidden states and attention relations aren't kept on disk, so the teacher has to run at each step.",
            hint="Set their weights to 0, or the teacher's answers to be computed at each step.",
        )
    if given.info.task == "classifier" and (params.data != "text" or params.on_policy):
        raise UserError(
            "{name} tells classes apart and writes no text to learn from.",
            hint="Let its student learn on the labelled examples.",
            name=given.info.name,
        )


def _new(model: Any, params: DistilParams, run: Run, given: Given) -> tuple[Any, list[str]]:
    """(the student that's made of the teacher, what has to be said of it)."""
    students.check_dense(model, given)
    notes: list[str] = []
    if params.begin == "narrower":
        return students.narrower(model, params.share, run, given)
    if params.begin == "fresh":
        shape = students.fresh_shape(given.info, params.layers, params.width, params.heads)
        student = students.fresh(model, shape, given.seed)
        count = sum(p.numel() for p in student.parameters())
        notes.append(
            f"Student: fresh, from random weights: {shape.layers} layer{'s' * (shape.layers != 1)}, width {shape.width}, {shape.heads} "
            f"attention head{'s' * (shape.heads != 1)}, {count / 1e6:,.2f} million parameters."
        )
        return student, notes
    total = len(blocks(model))
    kept = students.kept_layers(total, params.layers)
    notes.append(f"Student: {len(kept)} of the teacher's {total} layers ({', '.join(str(k + 1) for k in kept)}).")
    return students.shallower(model, kept), notes
