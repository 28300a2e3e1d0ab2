"""What the jobs do for diffusion models: which images they learn from and are held against, and what's measured of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import resources
from core.data.images import Images, read_images
from core.errors import UserError
from core.evaluate import frechet
from core.methods.distillation import fewer_steps
from core.models import diffusion
from core.recipe import ImagesRef, Step
from core.records import Measurement, SourceInfo, Variant
from core.run import Run

QUICK, MOST_WEIGHTS, MOST_PIXELS = 16, 20_000_000, 64 * 64  # steps of a first look at a model, and how large one is looked at
STEPS = 32  # that a model is drawn from in, where it wasn't made for another number and knows as many levels of noise


def images_for(asked: ImagesRef | None, variant: Variant, folder: Path) -> Images:
    """Those asked for, else those that the variant learnt from, else the starter's digits where they have its size.

    Raises UserError where there are none, or they aren't those that a recipe was made with.
    """
    wanted = asked or variant.recipe.images
    if wanted is None:
        if diffusion.shape_of(diffusion.parts(folder)[1]) != (1, 8, 8):
            raise UserError(
                "Which images {name} learnt to draw isn't known.",
                hint="Choose them: an .npz file or a folder of pictures.",
                kind="data",
                name=variant.name,
            )
        return read_images(resources.DIGITS)
    found = read_images(resources.DIGITS if wanted.path == "starter:digits" else wanted.path)
    if wanted.sha256 and wanted.sha256 != found.sha256:
        raise UserError(
            "The images in {path} aren't those that the recipe was made with.",
            hint="Restore them, or remove their sha256 from the recipe to use these.",
            kind="data",
            path=wanted.path,
        )
    return found


def recorded(step: Step, images: Images | None) -> Step:
    """The step with the images that it read, and their hash."""
    if images is None:
        return step.model_copy(update={"images": None})
    path = "starter:digits" if Path(images.path) == resources.DIGITS else images.path
    return step.model_copy(update={"images": ImagesRef(path=path, sha256=images.sha256)})


def measure(
    denoiser: diffusion.Denoiser, images: Images, run: Run, steps: int | None = None, also: tuple[int, ...] = ()
) -> list[Measurement]:
    """Likeness and speed, in as many steps as it was made for, else 32.

    With another number of `steps`, likeness alone, and its conditions say so: it isn't what the model is compared by. also: numbers of
    steps that both are measured in, as far as there are as many levels of noise.
    """
    own = denoiser.steps or min(STEPS, denoiser.schedule.total)
    first, found = steps or own, []
    for number in dict.fromkeys((first, *(n for n in also if n <= denoiser.schedule.total))):
        measured = frechet.score(denoiser, images, steps=number, run=run)
        if number == own or number in also:
            measured.append(frechet.speed(denoiser, number, run, repeats=5 if number == own else 3))
        found += measured if number == own else _other(measured)
    return found


def _other(found: list[Measurement]) -> list[Measurement]:
    return [m.model_copy(update={"conditions": m.conditions | {"other_steps": True}}) for m in found]


def drawn(info: SourceInfo, count: int, run: Run) -> dict[str, Any]:
    """{png, count, steps} of what the model in a folder draws, side by side; {why} where that'd take long, {} where it draws nothing."""
    if info.task != "diffusion" or info.image_shape is None or info.kind not in ("folder", "variant"):
        return {}
    _, height, width = info.image_shape
    if (info.parameters or 0) > MOST_WEIGHTS or height * width > MOST_PIXELS:
        return {"why": "large"}
    model = diffusion.load(Path(info.source))
    steps = model.steps or min(QUICK, model.schedule.total)
    images, _ = model.draw(count, steps, seed=0, tell=lambda done: run.check_cancelled())
    return {"png": fewer_steps.sheet(images), "count": count, "steps": steps}


def refuse(variant: Variant, job: str) -> None:
    """Raises UserError where a job for models of text ('sensitivity', 'heads', 'export') is asked of one that draws."""
    if variant.info.task != "diffusion":
        return
    hint = "Its folder is what diffusers loads; Fewer steps, under Distil, makes it faster."
    if job == "sensitivity":
        raise UserError(
            "{name} draws images, and sensitivity is measured by the probabilities of tokens.", hint=hint, kind="model", name=variant.name
        )
    if job == "heads":
        raise UserError("{name} draws images, and heads are judged by the loss on text.", hint=hint, kind="model", name=variant.name)
    raise UserError("{name} draws images, and of such models only ONNX files are written.", hint=hint, kind="model", name=variant.name)
