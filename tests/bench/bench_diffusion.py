"""The starter diffusion model in fewer steps: likeness and speed of teacher and students, round by round.

    pytest -m bench tests/bench/bench_diffusion.py -s        SPOKESHAVE_BENCH_PICTURE=<file.png> keeps the images

Each student is distilled from the one before, from 32 steps down to 1, with the method's own settings; likeness is the Frechet distance in
the features of the judge (core.evaluate.frechet), the same noise for all. Below it what real images are from one another, half against
half: what no model can come under. Consistency distillation to 4 and 1 steps beside. Asserts likeness, nothing about time.
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


def student(model, images, **values):
    method, folder = get("fewer_steps"), resources.STARTER_DIFFUSION
    given = Given(None, folder, inspect.inspect(folder), images=images)
    return method.apply(model, checked(method, values), Run(), given).model


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
