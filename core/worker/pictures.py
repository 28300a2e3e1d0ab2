"""What the jobs do for diffusion models: which images they learn from and are held against, and what's measured of them."""

from __future__ import annotations

from pathlib import Path

import resources
from core.data.images import Images, read_images
from core.errors import UserError
from core.evaluate import frechet
from core.models import diffusion
from core.recipe import ImagesRef, Step
from core.records import Measurement, Variant
from core.run import Run

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


def measure(denoiser: diffusion.Denoiser, images: Images, run: Run, steps: int | None = None) -> list[Measurement]:
    """Likeness and speed, in as many steps as it was made for, else 32.

    With another number of `steps`, likeness alone, and its conditions say so: it isn't what the model is compared by.
    """
    own = denoiser.steps or min(STEPS, denoiser.schedule.total)
    found = frechet.score(denoiser, images, steps=steps or own, run=run)
    if steps in (None, own):
        return [*found, frechet.speed(denoiser, own, run)]
    return [m.model_copy(update={"conditions": m.conditions | {"other_steps": True}}) for m in found]


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
    raise UserError("{name} draws images, and only models of text are exported yet.", hint=hint, kind="model", name=variant.name)
