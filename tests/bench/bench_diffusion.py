"""The starter diffusion model in fewer steps, and cut or rounded: likeness and speed of what's made.

    pytest -m bench tests/bench/bench_diffusion.py -s        SPOKESHAVE_BENCH_PICTURE=<file.png> keeps the images

Each student is distilled from the one before, from 32 steps down to 1, with the method's own settings; likeness is the Frechet distance in
the features of the judge (core.evaluate.frechet), the same noise for all. Below it what real images are from one another, half against
half: what no model can come under. Consistency distillation to 4 and 1 steps beside. Cut and rounded: the likeness of pruned and of
rounded copies at the teacher's 32 steps, and of pruned ones that were fine-tuned on its answers and on the images alone, as many updates.
Asserts likeness, nothing about time.
"""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import pytest

import resources
from core.data.images import read_images
from core.evaluate import frechet
from core.methods import Given, checked, get
from core.methods.distillation import fewer_steps
from core.models import inspect, load
from core.run import Run

STEPS = (32, 16, 8, 4, 2, 1)


def made(name, model, images, **values):
    method, folder = get(name), resources.STARTER_DIFFUSION
    uncut = {"uncut": "starter", "load_variant": lambda variant: load.load(folder, train=True)}
    given = Given(None, folder, inspect.inspect(folder), images=images, **uncut)
    return method.apply(model, checked(method, values), Run(), given).model


def student(model, images, **values):
    return made("fewer_steps", model, images, **values)


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_fewer_steps():
    images = read_images(resources.DIGITS)
    teacher = load.load(resources.STARTER_DIFFUSION).model
    judge = frechet.judge_for(images, teacher.shape)
    features = judge.features(images.fitted(teacher.shape))
    halves = frechet.frechet(frechet.moments(features[::2]), frechet.moments(features[1::2]))
    print(f"\n{len(images):,} digits; the judge names {100 * judge.accuracy:.1f} % of those that it didn't learn from")
    print(f"real images, half against half: {halves:.3f}\n{'':14} {'steps':>5} {'distance':>9} {'error':>6} {'images/s':>9}")
    of: dict[tuple[str, int], float] = {}
    rows = [(teacher, 32)]

    def tell(name: str, model, steps: int) -> None:
        (found,) = frechet.score(model, images, steps=steps)
        of[name, steps] = found.value
        print(f"{name:14} {steps:5} {found.value:9.3f} {found.stderr:6.3f} {frechet.speed(model, steps).value:9.0f}", flush=True)

    for steps in STEPS:
        tell("teacher", teacher, steps)
    model = teacher
    for start, steps in pairwise(STEPS):
        model = student(model, images, start=start, to=steps)
        tell("progressive", model, steps)
        if steps <= 4:
            rows += [(teacher, steps), (model, steps)]
    for steps in (4, 1):
        tell("consistency", student(teacher, images, to=steps, how="consistency"), steps)
    if picture := os.environ.get("SPOKESHAVE_BENCH_PICTURE"):
        Path(picture).write_bytes(fewer_steps.compared(rows))
    assert of["progressive", 4] <= 0.5 * of["teacher", 4]
    assert of["progressive", 4] <= 1.3 * of["teacher", 32]
    assert of["progressive", 1] < of["teacher", 1] / 10


MADE = (
    ("magnitude", {"sparsity": 0.3}),
    ("magnitude", {"sparsity": 0.5}),
    ("magnitude", {"pattern": "2:4"}),
    ("rtn", {"bits": 8}),
    ("rtn", {"bits": 4, "granularity": "channel"}),
    ("rtn", {"bits": 4, "group_size": 32}),
    ("hqq", {"bits": 4, "group_size": 32}),
)


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_cut_and_rounded():
    images = read_images(resources.DIGITS)
    of: dict[str, float] = {}

    def tell(name: str, model) -> None:
        (found,) = frechet.score(model, images, steps=32)
        of[name] = found.value
        print(f"{name:50} {found.value:8.3f} {found.stderr:6.3f}", flush=True)

    fresh = lambda: load.load(resources.STARTER_DIFFUSION, train=True).model
    print(f"\n{'':50} {'distance':>8} {'error':>6}   at 32 steps")
    tell("starter", fresh())
    for name, values in MADE:
        tell(" ".join([name, *(f"{k} {v}" for k, v in values.items())]), made(name, fresh(), images, **values))
    for sparsity in (0.3, 0.5):
        for loss in ("teacher", "images"):
            model = made("magnitude", fresh(), images, sparsity=sparsity)
            tell(f"magnitude {sparsity}, fine-tuned on {loss}", made("finetune_images", model, images, loss=loss))
    tell("starter, fine-tuned on images", made("finetune_images", fresh(), images, loss="images"))
    assert of["rtn bits 8"] < 1.1 * of["starter"]
    assert of["magnitude 0.5, fine-tuned on teacher"] < 0.5 * of["magnitude sparsity 0.5"]
