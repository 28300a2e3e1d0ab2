"""Fine-tuning of a diffusion model: one that was pruned or rounded learns again to take noise off images; what's zero stays zero.

    loss = mean |network(z_t, t) - wanted|^2,    z_t = alpha_t x + sigma_t e

wanted: what the schedule's prediction means of image x and noise e (Ho, Jain & Abbeel, 'Denoising Diffusion Probabilistic Models', 2020,
equation 14), or what the uncut model says of the same z_t, which has less chance in it (Hinton et al., 2015, for networks of any
kind). Timesteps are drawn from all levels of noise; of a model that was distilled into few steps from those few, and only its teacher,
uncut but distilled alike, knows what to say there. The number of steps doesn't change: that's `fewer_steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Literal

import torch
from pydantic import field_validator
from torch import Tensor

from core.errors import UserError
from core.events import Drawn
from core.methods import Given, Outcome, method, training
from core.methods.distillation import fewer_steps
from core.methods.samples import Shower
from core.models import diffusion
from core.models.diffusion import Denoiser
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

ASIDE = 512  # images with a noise and a level each, by which the best update is chosen
DRAWN_IN = 32  # steps of the samples, of a model that isn't made for a number of them


class FinetuneImagesParams(Params):
    loss: Literal["teacher", "images"] = knob(
        "teacher",
        title="Learn from",
        help="What the uncut model says of noisy images, which heals fastest; or the images alone, which need no other model.",
        labels={"teacher": "The uncut model", "images": "The images alone"},
    )
    teacher: str | None = knob(
        None,
        title="Teacher",
        help="Whose answers it learns from. Empty: the model that this one was cut down from.",
        labels={None: "The model that it was cut down from"},
        kind="variant",
        when={"loss": "teacher"},
    )
    updates: int = knob(
        1000,
        title="Updates",
        help="Updates of the weights. More is better until the loss on images kept aside stops falling.",
        ge=1,
        le=1_000_000,
    )
    batch: int = knob(64, title="Batch", unit="images", help="Images an update. Halve it where memory runs out.", ge=1, le=4096)
    learning_rate: float = knob(
        5e-4,
        title="Learning rate",
        help="Size of the updates at their largest. Halve it where the loss jumps; it falls to almost nothing towards the end.",
        gt=0,
        le=1,
    )
    hold_zeros: Literal["auto", "yes", "no"] = knob(
        "auto",
        title="Keep zeros",
        help="Whether weights of convolutions and linear layers that are exactly zero stay so. Automatic: where more than 1 % are, as "
        "after pruning.",
        labels={"auto": "Where it was pruned", "yes": "Always", "no": "Never"},
        advanced=True,
    )

    @field_validator("teacher", mode="before")
    @classmethod
    def _no_variant(cls, value: Any) -> Any:
        return None if value == "" else value


def estimate(params: FinetuneImagesParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    return {"bytes_on_disk": ledger.bytes_on_disk, "effective_bits": ledger.effective_bits}


def label(params: FinetuneImagesParams) -> str:
    """'fine-tuned, 1000 updates, taught'."""
    return f"fine-tuned, {params.updates} update{'s' * (params.updates != 1)}{', taught' * (params.loss == 'teacher')}"


@method(
    "finetune_images",
    title="Fine-tune on images",
    family="recovery",
    summary="Minutes, needs images. Wins back much of what pruning cost a diffusion model, at as many steps; zeros stay zeros.",
    needs=("images",),
    tasks=("diffusion",),
    paper="https://arxiv.org/abs/2006.11239",
    estimate=estimate,
    label=label,
    resumable=True,
    rank=11,
)
def finetune_images(model: Denoiser, params: FinetuneImagesParams, run: Run, given: Given) -> Outcome:
    """Trains `model` in place."""
    teacher, notes = None, []
    if params.loss == "teacher":
        teacher, name = teacher_of(params.teacher, model, given)
        notes.append(f"Taught by {name}.")
    elif model.steps:
        raise UserError(
            "{name} was distilled to draw in {steps} steps, and of what it has to say at them images know nothing.",
            hint="Let it learn from the variant that it was cut down from.",
            kind="model",
            name=given.info.name,
            steps=model.steps,
        )
    kinds, (learn, aside) = fewer_steps.kinds_of(model, given.images), given.images.split()
    images = given.images.fitted(model.shape)
    layers = diffusion.layers(model)
    hold = {"yes": training.zeros_of, "auto": training.pruned_zeros_of, "no": lambda layers, model: {}}[params.hold_zeros](layers, model)
    places = torch.tensor(model.schedule.timesteps(model.steps) if model.steps else list(range(model.schedule.total)))
    loss_of = objective(model, teacher, places)

    def feed(rows: Tensor, seed: int):
        return fewer_steps.batches(images[rows], None if kinds is None else kinds[rows], len(places), params.batch, seed)

    judged = [batch.to(given.device) for batch in islice(feed(aside, 1_000_003), max(1, ASIDE // params.batch))]

    @torch.no_grad()
    def judge() -> dict[str, float]:
        return {"heldout_loss": sum(float(loss_of(batch)["loss"]) for batch in judged) / len(judged)}

    settings = training.TrainingParams(
        steps=params.updates,
        batch=params.batch,
        context=8,
        learning_rate=params.learning_rate,
        warmup=0.05,
        weight_decay=0.0,
        precision="float32",
    )
    batches = feed(learn, given.seed)
    show = Shower(shown(model, teacher), run)
    how = {"run": run, "device": given.device, "vocabulary": 1, "hold": hold, "seed": given.seed, "work": given.work, "show": show}
    trained = training.train(model, batches, loss_of, judge, settings, **how)
    if trained.held:
        weights = sum(module.weight.numel() for _, module in layers)
        share = 100 * trained.held / weights
        notes.append(f"{trained.held:,} zeros held ({share:.1f} % of the weights of convolutions and linear layers in the blocks).")
    if model.bits and trained.best_step:
        notes.append(f"Its weights don't lie on the grid of {model.bits} bits any more that they were rounded to.")
        model.bits = None
    return Outcome(model, (trained.sentence(), *notes, *given.images.changed(model.shape)), files=show.files())


def shown(model: Denoiser, teacher: Denoiser | None) -> Callable[[bool], dict[str, Any]]:
    """What samples.Shower tells: what the teacher draws, where there's one, and what the model draws from the same noise."""
    steps = model.steps or min(DRAWN_IN, model.schedule.total)
    row = lambda who, drawer: Drawn(who, steps, fewer_steps.sheet(drawer.draw(fewer_steps.SHOWN, steps, seed=0)[0]), fewer_steps.SHOWN)
    beside: list[Drawn] = []

    def take(kept: bool) -> dict[str, Any]:
        if teacher is not None and not beside:
            beside.append(row("teacher", teacher))
        return {"drawn": (*beside, row("student", model))}

    return take


def objective(model: Denoiser, teacher: Denoiser | None, places: Tensor) -> Callable[[Tensor], dict[str, Tensor]]:
    """The loss of a batch of fewer_steps.batches, whose steps are places in `places`, timesteps."""

    def loss_of(batch: Tensor) -> dict[str, Tensor]:
        x, e, which, kind = fewer_steps.unpacked(batch, model)
        t = places.to(x.device)[which]
        z = model.schedule.noised(x, e, t)
        if teacher is None:
            wanted = model.schedule.output(x, e, t)
        else:
            with torch.no_grad():
                wanted = teacher(z, t, kind)
        return {"loss": (model(z, t, kind) - wanted).square().mean()}

    return loss_of


def teacher_of(variant: str | None, model: Denoiser, given: Given) -> tuple[Denoiser, str]:
    """(the teacher, what it's called): that variant, or the one that this model was cut down from. Raises UserError where there's none or
    its answers mean something else."""
    wanted = variant or given.uncut
    if not wanted:
        raise UserError(
            "{name} wasn't cut down from another model here, so there is none to learn from.",
            hint="Choose a teacher, or learn from the images alone.",
            kind="model",
            name=given.info.name,
        )
    loaded = given.load_variant(wanted)
    teacher = loaded.model
    alike = isinstance(teacher, Denoiser) and (
        (teacher.shape, teacher.classes, teacher.steps, teacher.schedule.prediction)
        == (model.shape, model.classes, model.steps, model.schedule.prediction)
        and torch.equal(teacher.schedule.kept, model.schedule.kept)
    )
    if not alike:
        raise UserError(
            "{teacher} can't teach {name}: its images, its classes, its noise or its number of steps are others.",
            hint="Choose the variant that it was pruned from, or learn from the images alone.",
            kind="model",
            teacher=loaded.info.name,
            name=given.info.name,
        )
    return teacher.requires_grad_(False), loaded.info.name if variant else "the uncut model"
