"""Fewer steps: a diffusion model learns to draw in few steps what it drew in many.

Progressive: two of the teacher's DDIM steps become one of the student's, round after round, each round's student the next one's
teacher. Salimans & Ho, 'Progressive Distillation for Fast Sampling of Diffusion Models' (2022), algorithm 2: the image that the one
step has to mean is solved for, and its error weighed by the signal-to-noise ratio, at least 1 (section 4).

Consistency: the image that the student means at one timestep is to be that which a slowly following copy of it means one teacher's step
further on. Song et al., 'Consistency Models' (2023), algorithm 2, here for whatever the network predicts, and drawn from by DDIM.

The student predicts v, which means something where only noise is left; a teacher that predicts otherwise is first copied into that
form, at as many steps. What's made is drawn from by plain diffusers with its DDIMScheduler. No guidance, no adversarial loss.
"""

from __future__ import annotations

import copy
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor

from core.data.images import Images
from core.errors import UserError
from core.events import Drawn
from core.methods import Given, Outcome, checkpoints, method, training
from core.methods.samples import Shower
from core.models.diffusion import Denoiser, layers
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

ASIDE = 128  # images that each round is judged on, each with a noise and a step of its own
FOLLOWS = 0.95  # of a consistency model's copy that stays at each step
SHOWN = 10  # images in each row of the picture
JUDGED = 500  # drawings that the distance is measured on in each round, where it takes at most so much of the training's forwards:
LIKENESS = 0.05
STEPS = Literal[1, 2, 4, 8, 16, 32]


class FewerStepsParams(Params):
    to: STEPS = knob(
        4,
        title="Steps to draw in",
        help="How many steps the student draws an image in. Each halving costs some likeness; 4 is near the teacher, 1 is rough.",
    )
    start: Literal[2, 4, 8, 16, 32, 64] = knob(
        32,
        title="Steps of the teacher",
        help="How many steps the teacher draws in. More are nearer to what it learnt; each doubling is one more round.",
    )
    how: Literal["progressive", "consistency"] = knob(
        "progressive",
        title="How",
        help="Progressive halves the steps round by round. Consistency jumps to the end in one round; it's rougher from 4 steps on.",
        labels={"progressive": "Progressive distillation", "consistency": "Consistency distillation"},
    )
    updates: int = knob(
        1000,
        title="Updates a round",
        help="Updates of the weights in each round. The last rounds are the hardest: twice as many are made below 4 steps.",
        ge=1,
        le=1_000_000,
    )
    batch: int = knob(64, title="Batch", unit="images", help="Images an update. Halve it where memory runs out.", ge=1, le=4096)
    learning_rate: float = knob(
        5e-4,
        title="Learning rate",
        help="Size of the updates at their largest. Halve it where the loss jumps; it falls to almost nothing in each round.",
        gt=0,
        le=1,
        advanced=True,
    )


def label(params: FewerStepsParams) -> str:
    """'4 steps'."""
    return f"{params.to} step{'s' * (params.to != 1)}"


def rounds(start: int, to: int) -> list[int]:
    """The numbers of steps of the students, one a round: 16, 8, 4 from 32 to 4."""
    out = []
    while start > to:
        start //= 2
        out.append(start)
    return out


def estimate(params: FewerStepsParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    if params.start <= params.to:
        return {"notes": [f"{params.to} steps aren't fewer than {params.start}."]}
    return {
        "bytes_on_disk": ledger.bytes_on_disk,
        "notes": [f"The same size; drawing takes {params.to} of {params.start} steps, so {params.start // params.to} times less time."],
    }


@method(
    "fewer_steps",
    title="Fewer steps",
    family="distillation",
    summary="Minutes to hours, needs images. The model draws in 1 to 16 steps nearly what it drew in 32; the file keeps its size.",
    needs=("images",),
    tasks=("diffusion",),
    paper="https://arxiv.org/abs/2202.00512",
    estimate=estimate,
    label=label,
    resumable=True,
)
def fewer_steps(model: Denoiser, params: FewerStepsParams, run: Run, given: Given) -> Outcome:
    """Returns the student; the teacher `model` is left as it was."""
    model.requires_grad_(False)
    start = min(params.start, model.steps) if model.steps else params.start
    _check(model, start, params, given)
    images = given.images.fitted(model.shape)
    kinds = kinds_of(model, given.images)
    learn, aside = given.images.split()
    teacher: Denoiser = copy.deepcopy(model)
    teacher.schedule = replace(model.schedule.for_steps(model.schedule.prediction), clip=model.schedule.clip)  # as it itself draws
    plan = [(n, 2) for n in rounds(start, params.to)]
    if params.how == "consistency":
        plan = [(start, 1)]
    elif model.schedule.prediction != "v_prediction":
        plan = [(start, 1), *plan]
    notes, done = [], 0
    student = teacher
    measured = JUDGED if given.likeness is not None and _affordable(params, start, plan) else 0
    begun = _row(model, "teacher", start, given, measured)
    show = Shower(lambda kept: {}, run)
    for steps, jumps in plan:
        student = copy.deepcopy(teacher)
        student.schedule = student.schedule.for_steps("v_prediction")
        student.steps, student.bits = steps, None
        updates = _updates(params, steps)
        settings = training.TrainingParams(
            steps=updates,
            batch=params.batch,
            context=8,
            learning_rate=params.learning_rate,
            warmup=0.05,
            weight_decay=0.0,
            precision="float32",
        )
        loss_of = _consistency(student, teacher, steps) if params.how == "consistency" else _halving(student, teacher, steps, jumps)
        feed = lambda rows, seed, n=steps: batches(images[rows], None if kinds is None else kinds[rows], n, params.batch, seed)
        judged = islice(feed(aside, 1_000_003), -(-ASIDE // params.batch))
        judged = [b.to(given.device) for b in judged]
        judge = _arriving(student, teacher, steps, judged) if params.how == "consistency" else _judge(loss_of, judged)
        said = f"{steps} step{'s' * (steps != 1)}" if params.how == "progressive" else f"consistent along {steps} steps"
        kept = given.work / f"{steps}-of-{jumps}" if given.work is not None and params.how == "progressive" else None
        if kept is not None and (found := _finished(kept, student, run)):
            run.log(f"{said}: finished by an earlier try")
            notes.append(found)
            teacher, done = student, done + updates
            continue
        run.stage("Distilling", said)
        show.take = _shown(begun, model, student, params.to if params.how == "consistency" else steps, given, measured)
        trained = training.train(
            student,
            feed(learn, given.seed + steps),
            loss_of,
            judge,
            settings,
            run=run,
            device=given.device,
            vocabulary=1,
            begun=done,
            hold=training.pruned_zeros_of(layers(student), student),
            work=kept,
            show=show,
        )
        done += updates
        before, after = trained.start["heldout_loss"], trained.best["heldout_loss"]
        notes.append(f"{said}: loss on images kept aside {before:.4f} before, {after:.4f} at the best update ({trained.best_step}).")
        run.log(notes[-1])
        if trained.stopped:
            notes.append(f"Finished early as asked: it draws in {steps} steps, not in {params.to}.")
            break
        if kept is not None:
            _keep(kept, student, notes[-1], run)
        teacher = student
    student.steps = params.to if params.how == "consistency" else student.steps
    if model.schedule.total % student.steps:
        notes.append(
            f"{student.steps} steps don't divide {model.schedule.total} levels of noise, so plain diffusers draws a little otherwise."
        )
    if model.bits:
        notes.append(f"Its weights don't lie on the grid of {model.bits} bits any more that its teacher's were rounded to.")
    if model.classes is not None:
        notes.append("diffusers' pipeline asks for no class: its UNet and scheduler have to be called by themselves.")
    notes += given.images.changed(model.shape)
    picture = compared([(model, start), (model, student.steps), (student, student.steps)])
    return Outcome(student, tuple(notes), files={"samples.png": picture})


def _keep(folder: Path, student: Denoiser, note: str, run: Run) -> None:
    """Keeps a round's student for another try of the same job; its training's own state can go."""
    try:
        save_file({k: v.contiguous() for k, v in student.unet.state_dict().items()}, folder / "student.part", {"note": note})
        os.replace(folder / "student.part", folder / "student.safetensors")
        (folder / checkpoints.FILE).unlink(missing_ok=True)
    except Exception as error:  # safetensors has errors of its own; without it the round is done again
        run.warn(f"The round's student couldn't be kept for another try: {error}")
        (folder / "student.part").unlink(missing_ok=True)


def _finished(folder: Path, student: Denoiser, run: Run) -> str:
    """The note of a round that an earlier try finished, whose weights `student` takes; '' where there's none."""
    path = folder / "student.safetensors"
    if not path.is_file():
        return ""
    try:
        student.unet.load_state_dict(load_file(path))
        with safe_open(path, framework="pt") as handle:
            return str((handle.metadata() or {}).get("note", ""))
    except Exception as error:  # damaged: the round is done again
        run.warn(f"What an earlier try finished can't be read, so the round is done again: {type(error).__name__}")
        return ""


def _check(model: Denoiser, start: int, params: FewerStepsParams, given: Given) -> None:
    if params.to >= start:
        raise UserError(
            "{name} draws in {start} steps, and {to} aren't fewer.",
            hint="Choose fewer steps, or begin with more of the teacher's.",
            kind="usage",
            name=given.info.name,
            start=start,
            to=params.to,
        )


def kinds_of(model: Denoiser, images: Images) -> Tensor | None:
    """The images' classes as the model numbers them; None where it draws none. Raises UserError where they aren't its own."""
    if model.classes is None:
        return None
    fits = len(images.classes) <= model.classes if images.numbered else len(images.classes) == model.classes
    if images.labels is None or not fits:
        raise UserError(
            "The model draws {classes} classes, and {name} names {found}.",
            hint="Choose the images that it was taught with.",
            kind="data",
            classes=model.classes,
            name=images.name,
            found=len(images.classes) or "none",
        )
    return images.labels


# ---- what's learnt ----------------------------------------------------------------------------------------------------


def batches(images: Tensor, kinds: Tensor | None, steps: int, batch: int, seed: int) -> Iterator[Tensor]:
    """Endless (batch, 2 size + 2): image, noise, number of the step (from 0, the noisiest), class. All of what's drawn at random."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        rows = torch.randint(len(images), (batch,), generator=generator)
        noise = torch.randn(batch, *images.shape[1:], generator=generator)
        which = torch.randint(steps, (batch, 1), generator=generator)
        kind = torch.zeros(batch, 1) if kinds is None else kinds[rows, None].float()
        yield torch.cat([images[rows].flatten(1), noise.flatten(1), which.float(), kind], 1)


def unpacked(batch: Tensor, model: Denoiser) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """(images, noise, number of the step, class or None) of a batch."""
    size = (batch.shape[1] - 2) // 2
    x, e = (part.reshape(-1, *model.shape) for part in (batch[:, :size], batch[:, size : 2 * size]))
    return x, e, batch[:, -2].long(), batch[:, -1].long() if model.classes is not None else None


def _halving(student: Denoiser, teacher: Denoiser, steps: int, jumps: int) -> Callable[[Tensor], dict[str, Tensor]]:
    """The loss of a student whose each step is `jumps` of the teacher's."""
    places, between = _places(student, steps), _places(teacher, steps * jumps)  # of the latter, every so many are the former

    def loss_of(batch: Tensor) -> dict[str, Tensor]:
        x, e, which, kind = unpacked(batch, student)
        t, to = places.to(x.device)[which], places.to(x.device)[which + 1]
        z = student.schedule.noised(x, e, t)
        with torch.no_grad():
            at, now = z, t
            for jump in range(1, jumps + 1):
                then = between.to(x.device)[which * jumps + jump]
                at, now = teacher.schedule.step(teacher(at, now, kind), at, now, then), then
            target = solved(student, z, at, t, to)
        return {"loss": weighed(student, z, t, kind, target)}

    return loss_of


def _places(model: Denoiser, steps: int) -> Tensor:
    """(steps + 1,): the timesteps of a drawing in so many steps, and -1, where it ends."""
    return torch.tensor([*model.schedule.timesteps(steps), -1])


def solved(student: Denoiser, z: Tensor, then: Tensor, t: Tensor, to: Tensor) -> Tensor:
    """The image that a DDIM step from z at t has to mean to arrive at `then` at `to` (Salimans & Ho, appendix G)."""
    (a, s), (a2, s2) = ((v.view(-1, 1, 1, 1) for v in student.schedule.at(u)) for u in (t, to))
    ratio = s2 / s
    return (then - ratio * z) / (a2 - ratio * a)


def weighed(student: Denoiser, z: Tensor, t: Tensor, kind: Tensor | None, target: Tensor) -> Tensor:
    """Mean squared error of the image that the student means, weighed by max(alpha^2 / sigma^2, 1)."""
    meant, _ = student.schedule.meant(student(z, t, kind), z, t)
    alpha, sigma = student.schedule.at(t)
    weight = (alpha / sigma.clamp_min(1e-4)).square().clamp(min=1, max=1e4)
    return (weight * (meant - target).square().flatten(1).mean(1)).mean()


def _consistency(student: Denoiser, teacher: Denoiser, steps: int) -> Callable[[Tensor], dict[str, Tensor]]:
    places = _places(student, steps)
    follower = copy.deepcopy(student).requires_grad_(False)

    @torch.no_grad()
    def follow() -> None:
        for mine, theirs in zip(follower.parameters(), student.parameters(), strict=True):
            mine.lerp_(theirs, 1 - FOLLOWS)

    def loss_of(batch: Tensor) -> dict[str, Tensor]:
        if torch.is_grad_enabled():  # at an update, not where it's judged
            follow()
        x, e, which, kind = unpacked(batch, student)
        t, to = places.to(x.device)[which], places.to(x.device)[which + 1]
        z = student.schedule.noised(x, e, t)
        with torch.no_grad():
            then = teacher.schedule.step(teacher(z, t, kind), z, t, to)
            meant, _ = follower.schedule.meant(follower(then, to.clamp_min(0), kind), then, to)
            target = torch.where((to < 0).view(-1, 1, 1, 1), then, meant)
        return {"loss": weighed(student, z, t, kind, target)}

    return loss_of


def _arriving(student: Denoiser, teacher: Denoiser, steps: int, judged: list[Tensor]) -> Callable[[], dict[str, float]]:
    """How far from where the teacher's drawing ends the student arrives in one jump from the same noise: mean squared error.

    Its training's own loss is against a copy of itself, and least where both know nothing.
    """
    places, ends = _places(teacher, steps), []
    starts = [(e, kind) for _, e, _, kind in (unpacked(batch, teacher) for batch in judged)]
    with torch.no_grad():
        for e, kind in starts:
            z = e
            for t, to in pairwise(places):
                now, then = (v.expand(len(z)).to(z.device) for v in (t, to))
                z = teacher.schedule.step(teacher(z, now, kind), z, now, then)
            ends.append(z)

    def judge() -> dict[str, float]:
        with torch.no_grad():
            losses = []
            for (e, kind), end in zip(starts, ends, strict=True):
                first = places[:1].expand(len(e)).to(e.device)
                meant, _ = student.schedule.meant(student(e, first, kind), e, first)
                losses.append(float((meant - end).square().mean()))
        return {"heldout_loss": sum(losses) / len(losses)}

    return judge


def _judge(loss_of: Callable[[Tensor], dict[str, Tensor]], judged: list[Tensor]) -> Callable[[], dict[str, float]]:
    def judge() -> dict[str, float]:
        with torch.no_grad():
            losses = [float(loss_of(batch)["loss"]) for batch in judged]
        return {"heldout_loss": sum(losses) / len(losses)}

    return judge


# ---- what came of it ----------------------------------------------------------------------------------------------------


def _affordable(params: FewerStepsParams, start: int, plan: list[tuple[int, int]]) -> bool:
    """Whether measuring the teacher and each round's student takes little of the time, by forwards; an update is about five."""
    measuring = JUDGED * (start + sum(2 * (params.to if params.how == "consistency" else steps) for steps, _ in plan))
    return measuring <= LIKENESS * sum(5 * params.batch * _updates(params, steps) for steps, _ in plan)


def _updates(params: FewerStepsParams, steps: int) -> int:
    return params.updates * (2 if steps < 4 or params.how == "consistency" else 1)


def _row(model: Denoiser, who: Literal["teacher", "student"], steps: int, given: Given, measured: int) -> Drawn:
    """What a model draws, from the noise that every row begins with. measured: drawings that its distance is measured on; 0: it isn't."""
    drawn = model.draw(SHOWN, steps, seed=0)[0]
    far = given.likeness(model, steps, measured) if measured and given.likeness is not None else None
    return Drawn(who, steps, sheet(drawn), SHOWN, far, measured if far is not None else 0)


def _shown(begun: Drawn, model: Denoiser, student: Denoiser, steps: int, given: Given, measured: int) -> Callable[[bool], dict[str, Any]]:
    """What samples.Shower tells of a round: the teacher in all of its steps, in as few as the student, and the student."""
    beside = _row(model, "teacher", steps, given, measured)

    def take(kept: bool) -> dict[str, Any]:
        return {"drawn": (begun, beside, _row(student, "student", steps, given, measured * kept))}

    return take


def sheet(drawn: Tensor) -> bytes:
    """Images (n, channels, height, width) side by side, as a PNG."""
    return _png(torch.cat(list(_pixels(drawn)), -1))


def compared(rows: list[tuple[Denoiser, int]]) -> bytes:
    """A PNG: a row of images for each (model, steps), all begun with the same noise."""
    return rows_of(torch.stack([model.draw(SHOWN, steps, seed=0)[0] for model, steps in rows]))


def rows_of(drawn: Tensor) -> bytes:
    """A PNG of images (rows, n, channels, height, width), small ones enlarged."""
    scale = max(1, 48 // drawn.shape[-1])
    pixels = _pixels(drawn).repeat_interleave(scale, -1).repeat_interleave(scale, -2)
    count, across, channels, height, width = pixels.shape
    gap = 4
    page = torch.full((channels, count * (height + gap) + gap, across * (width + gap) + gap), 128, dtype=torch.uint8)
    for i in range(count):
        for j in range(across):
            top, left = gap + i * (height + gap), gap + j * (width + gap)
            page[:, top : top + height, left : left + width] = pixels[i, j]
    return _png(page)


def _pixels(drawn: Tensor) -> Tensor:
    """Images in [-1, 1] as bytes."""
    return ((drawn + 1) * 127.5).round().clamp(0, 255).byte().cpu()


def _png(pixels: Tensor) -> bytes:
    """Of (channels, height, width)."""
    from PIL import Image

    array = pixels.permute(1, 2, 0).numpy()
    out = io.BytesIO()
    Image.fromarray(array[..., 0] if len(pixels) == 1 else array).save(out, "PNG")
    return out.getvalue()
