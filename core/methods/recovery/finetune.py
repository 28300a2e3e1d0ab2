"""Fine-tuning: a model that was cut learns to live with the cut; what pruning set to zero stays zero.

Han et al., 'Learning both Weights and Connections' (2015), section 3: retraining with the mask held is what makes
pruning pay. Covers causal language models on a text and classifiers on labelled examples; all weights, or low-rank additions to
the linear layers (lora.py) that are folded back before saving; the loss of the truth alone, or of the uncut model's predictions
beside it (Hinton et al. 2015), as in distillation. The head of an encoder is trained by `classify`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import field_validator

from core.errors import UserError
from core.methods import Given, Outcome, estimates, method, training
from core.methods.feeds import feed_for, objective
from core.methods.losses import Against
from core.methods.recovery import lora
from core.methods.samples import shower
from core.models.blocks import linears
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run


class _Zeros(Params):
    hold_zeros: Literal["auto", "yes", "no"] = knob(
        "auto",
        title="Keep zeros",
        help="Whether weights of linear layers that are exactly zero stay so. Automatic: where more than 1 % are, as after pruning. "
        "Never undoes the pruning.",
        labels={"auto": "Where it was pruned", "yes": "Always", "no": "Never"},
    )


class _What(Params):
    loss: Literal["truth", "teacher"] = knob(
        "truth",
        title="Learn from",
        help="The text (a classifier: the labels) alone, or also what the uncut model predicts, which heals better on little data and "
        "takes a third longer.",
        labels={"truth": "The text or labels", "teacher": "The uncut model too"},
    )
    teacher: str | None = knob(
        None,
        title="Teacher",
        help="Whose predictions it learns from. Empty: the model that this one was cut down from.",
        labels={None: "The model that it was cut down from"},
        kind="variant",
        when={"loss": "teacher"},
    )
    temperature: float = knob(
        1.0,
        title="Temperature",
        help="Softens both models' probabilities before they're compared. Higher teaches more of unlikely tokens.",
        gt=0,
        le=20,
        when={"loss": "teacher"},
        advanced=True,
    )
    alpha: float = knob(
        0.5,
        title="Weight of the text",
        help="How much the text or the labels count beside the teacher. 0: only the teacher.",
        ge=0,
        le=100,
        when={"loss": "teacher"},
        advanced=True,
    )

    @field_validator("teacher", mode="before")
    @classmethod
    def _no_variant(cls, value: Any) -> Any:
        return None if value == "" else value


class FinetuneParams(_Zeros, training.TrainingParams, _What, lora.LoraParams):
    """What learns and from what first, then the loop's knobs."""

    steps: int = knob(
        200,
        title="Steps",
        help="Updates of the weights. More is better until the loss on text kept aside stops falling.",
        ge=1,
        le=1_000_000,
    )
    learning_rate: float = knob(
        1e-4,
        title="Learning rate",
        help="Size of the updates at their largest. Halve it where perplexity on text kept aside rises; raise it for small models and "
        "deep cuts.",
        gt=0,
        le=1,
        when={"weights": "all"},
    )


def estimate_finetune(params: FinetuneParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    tokens = params.steps * params.batch * params.context
    taught = 1.0 if params.loss == "teacher" else 0.0
    memory = estimates.training(info, params.batch, params.context)
    if params.weights == "lora":
        memory -= 16 * (info.parameters or 0)  # no gradients, moments and best copy of the weights themselves
    dtype = training.precision(params.precision, device)
    return {
        "bytes_on_disk": ledger.bytes_on_disk,
        "effective_bits": ledger.effective_bits,
        "memory": memory + int(taught * estimates.resident(info, "cpu")),
        "seconds": None  # how long the examples are isn't known before they're read
        if info.task == "classifier"
        else estimates.training_seconds(info, tokens, 1.0, 0.1 + taught, device, dtype),
        "notes": ["How long it takes depends on how long the examples are"] if info.task == "classifier" else [],
    }


def label_finetune(params: FinetuneParams) -> str:
    how = "LoRA" if params.weights == "lora" else "fine-tuned"
    return f"{how}, {params.steps} step{'s' * (params.steps != 1)}{', taught' * (params.loss == 'teacher')}"


@method(
    "finetune",
    title="Fine-tune",
    family="recovery",
    summary="Minutes to hours, needs a text or labels. Wins back much of what pruning cost, on data of that kind; zeros stay zeros.",
    needs=("text", "labels"),
    tasks=("causal-lm", "classifier"),
    paper="https://arxiv.org/abs/1506.02626",
    estimate=estimate_finetune,
    label=label_finetune,
    resumable=True,
    rank=10,
)
def finetune(model: Any, params: FinetuneParams, run: Run, given: Given) -> Outcome:
    """Trains `model` in place, in float32; saving rounds it to the dtype that it's stored in."""
    teacher, notes = None, []
    if params.loss == "teacher":
        teacher = teacher_of(params.teacher, model, given)
        notes.append(f"Taught by {teacher.folder.name if params.teacher else 'the uncut model'} beside the truth.")
    feed = feed_for(model, given, params, run)
    weights = sum(module.weight.numel() for _, module in linears(model))
    held_by = {"yes": training.zeros_of, "auto": training.pruned_zeros_of, "no": lambda layers, model: {}}
    hold = held_by[params.hold_zeros](linears(model), model)
    taught = {"teacher": teacher.model if teacher else None, "against": Against(temperature=params.temperature, alpha=params.alpha)}
    loss_of, judge = objective(feed, model, run, **taught)
    rows = feed.batches(params.batch, given.seed)
    show = shower(feed, model, None, given, run)
    how = {"run": run, "device": given.device, "vocabulary": feed.vocabulary, "seed": given.seed, "work": given.work, "show": show}
    if params.weights == "lora":
        settings = params.model_copy(update={"learning_rate": params.lora_learning_rate})
        with lora.added(model, params.rank, hold, given.seed, head=given.info.task == "classifier") as learns:
            trained = training.train(model, rows, loss_of, judge, settings, learns=learns, **how)
        held = sum(int(m.sum()) for m in hold.values())
        notes.append(f"Low-rank additions of rank {params.rank} to the linear layers, folded into them.")
    else:
        trained = training.train(model, rows, loss_of, judge, params, hold=hold, **how)
        held = trained.held
    notes = [trained.sentence(), *notes, *feed.notes]
    if held:
        notes.insert(1, f"{held:,} zeros held ({100 * held / weights:.1f} % of the linear layers' weights).")
    return Outcome(model, tuple(notes), files=show.files())


def teacher_of(variant: str | None, model: Any, given: Given) -> Any:
    """The teacher, loaded: that variant, or the one that this model was cut down from. Raises UserError: none, other tokens or classes."""
    wanted = variant or given.uncut
    if not wanted:
        raise UserError(
            "{name} wasn't cut down from another model here, so there is none to learn from.",
            hint="Choose a teacher, or learn from the text alone.",
            kind="model",
            name=given.info.name,
        )
    loaded = given.load_variant(wanted)
    classes = getattr(model.config, "id2label", None) if given.info.task == "classifier" else None
    unlike = loaded.info.tokens_hash != given.info.tokens_hash or loaded.info.task != given.info.task
    if unlike or (classes is not None and loaded.model.config.id2label != classes):
        raise UserError(
            "{teacher} can't teach {name}: its tokens, its classes or its task are others.",
            hint="Choose a teacher with the same tokenizer that does the same.",
            kind="model",
            teacher=loaded.info.name,
            name=given.info.name,
        )
    loaded.model.requires_grad_(False)
    return loaded
