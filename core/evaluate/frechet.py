"""How far drawn images are from real ones: the Frechet distance between features, and whether the class drawn is the one asked for.

    d^2 = |m1 - m2|^2 + tr(C1 + C2 - 2 (C1 C2)^(1/2))

Heusel et al., 'GANs Trained by a Two Time-Scale Update Rule Converge to a Local Nash Equilibrium' (2017), section 4, with another
network in Inception's place, which knows nothing of small grey images: a small classifier, taught on the person's own images in seconds,
the same whenever the images are the same. Distances can be compared only where images, sizes and numbers of drawings are the same.
Where images have no classes, the classifier learns by which quarter turn each was turned (Gidaris et al., 2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.data.images import Images
from core.evaluate.accuracy import wilson
from core.evaluate.speed import clock, rate
from core.models.diffusion import Denoiser
from core.records import Measurement
from core.run import Run

WIDTH = 64  # features
TEACHING = 400  # updates
DRAWN = 1000
RESAMPLED = 100  # of the bootstrap
_KNOWN: dict[tuple, Judge] = {}


class Critic(nn.Module):
    """Three convolutions and a linear layer; `features` is what the linear layer reads: (n, WIDTH)."""

    def __init__(self, channels: int, classes: int):
        super().__init__()
        widths = (channels, 32, WIDTH, WIDTH)
        self.layers = nn.ModuleList(nn.Conv2d(a, b, 3, padding=1) for a, b in pairwise(widths))
        self.out = nn.Linear(WIDTH, classes)

    def features(self, x: Tensor) -> Tensor:
        for number, layer in enumerate(self.layers):
            x = F.relu(layer(x))
            if min(x.shape[2:]) >= 4 and number < 2:
                x = F.max_pool2d(x, 2)
        return x.mean((2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.out(self.features(x))


@dataclass(frozen=True)
class Judge:
    """A critic with what it makes of the real images. accuracy: on those that it didn't learn from."""

    critic: Critic
    mean: Tensor  # (WIDTH,) float64
    covariance: Tensor  # (WIDTH, WIDTH) float64
    accuracy: float
    count: int
    names_classes: bool

    @torch.no_grad()
    def features(self, x: Tensor) -> Tensor:
        """(n, WIDTH) float64 of images (n, channels, height, width) in [-1, 1]."""
        return torch.cat([self.critic.features(part) for part in x.split(512)]).double()

    @torch.no_grad()
    def named(self, x: Tensor) -> Tensor:
        """(n,): the class that each image is taken for."""
        return torch.cat([self.critic(part).argmax(-1) for part in x.split(512)])


def judge_for(images: Images, shape: tuple[int, int, int], run: Run | None = None) -> Judge:
    """The judge of these images at this size, taught at the first call in a process. On the CPU, so that it's the same everywhere."""
    key = (images.sha256, shape)
    if key not in _KNOWN:
        _KNOWN.clear()
        _KNOWN[key] = _taught(images, shape, run or Run())
    return _KNOWN[key]


def _taught(images: Images, shape: tuple[int, int, int], run: Run) -> Judge:
    x = images.fitted(shape)
    for note in images.changed(shape):
        run.log(note)
    learn, aside = images.split()
    turns = images.labels is None or len(images.labels.unique()) < 2
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        critic = Critic(shape[0], 4 if turns else len(images.classes))
    generator = torch.Generator().manual_seed(0)
    optimizer = torch.optim.AdamW(critic.parameters(), lr=3e-3, weight_decay=0.01)
    with torch.enable_grad():
        for step in run.track(range(TEACHING), "Teaching the judge of images"):
            for group in optimizer.param_groups:
                group["lr"] = 3e-3 * 0.5 * (1 + math.cos(math.pi * step / TEACHING))
            rows = learn[torch.randint(len(learn), (128,), generator=generator)]
            batch, truth = _examples(x[rows], None if turns else images.labels[rows], generator)
            optimizer.zero_grad(set_to_none=True)
            F.cross_entropy(critic(batch), truth).backward()
            optimizer.step()
    critic.eval().requires_grad_(False)
    batch, truth = _examples(x[aside], None if turns else images.labels[aside], generator)
    right = float((torch.cat([critic(part).argmax(-1) for part in batch.split(512)]) == truth).float().mean())
    mean, covariance = moments(torch.cat([critic.features(part) for part in x.split(512)]).double())
    return Judge(critic, mean, covariance, right, len(x), not turns)


def _examples(x: Tensor, truth: Tensor | None, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    if truth is not None:
        return x, truth
    turns = torch.randint(4, (len(x),), generator=generator)
    return torch.stack([torch.rot90(one, int(k), (1, 2)) for one, k in zip(x, turns, strict=True)]), turns


def moments(features: Tensor) -> tuple[Tensor, Tensor]:
    """(mean (d,), covariance (d, d)) of features (n, d)."""
    mean = features.mean(0)
    centred = features - mean
    return mean, centred.t() @ centred / (len(features) - 1)


def frechet(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> float:
    """The squared Frechet distance of two Gaussians, each (mean (d,), covariance (d, d)) in float64."""
    (m1, c1), (m2, c2) = one, other
    root = _root(c1)
    values = torch.linalg.eigvalsh(root @ c2 @ root).clamp_min(0)  # those of c1 c2, whose root has their roots' sum as its trace
    return float((m1 - m2).square().sum() + c1.trace() + c2.trace() - 2 * values.sqrt().sum())


def _root(matrix: Tensor) -> Tensor:
    values, vectors = torch.linalg.eigh(matrix)
    return (vectors * values.clamp_min(0).sqrt()) @ vectors.t()


@torch.no_grad()
def speed(denoiser: Denoiser, steps: int, run: Run | None = None, *, count: int = 32, repeats: int = 5) -> Measurement:
    """Measurement draw, images/s: the median of `repeats` drawings of `count` images together, after one to warm up."""
    run = run or Run()
    device, seconds = next(denoiser.parameters()).device, []
    for _ in run.track(range(repeats + 1), "Measuring speed"):
        begun = clock(device)
        denoiser.draw(count, steps)
        seconds.append(clock(device) - begun)
    known = {"steps": steps, "batch": count, "device": str(device), "dtype": "float32", "threads": torch.get_num_threads()}
    known |= {"repeats": repeats, "warm": True, "interval": "smallest and largest repeat"}
    return rate("draw", count, seconds[1:], known).model_copy(update={"unit": "images/s"})


def distance(denoiser: Denoiser, images: Images, steps: int, count: int, run: Run, *, seed: int = 0) -> float:
    """The distance alone, to follow a training by. Fewer drawings are further away, so it compares with others of as many."""
    judge = judge_for(images, denoiser.shape, run)
    drawn, _ = denoiser.draw(count, steps, seed=seed, tell=lambda done: run.check_cancelled())
    return frechet(moments(judge.features(drawn)), (judge.mean, judge.covariance))


def score(
    denoiser: Denoiser, images: Images, *, steps: int, count: int = DRAWN, seed: int = 0, run: Run | None = None
) -> list[Measurement]:
    """Measurements frechet, with its interval, and image_accuracy where the model draws classes that the images name.

    count: how many are drawn; the same seed begins with the same noise for every model. The interval of the distance is as many times
    smaller and larger as the bootstrap's logarithms spread: around what was found, since resampling fewer different images raises the
    distance, and above 0, which no distance reaches.
    """
    run = run or Run()
    judge = judge_for(images, denoiser.shape, run)
    run.stage("Drawing", f"{count} images in {steps} steps")
    drawn, kinds = denoiser.draw(count, steps, seed=seed, tell=lambda done: (run.check_cancelled(), run.progress("Drawing", done, count)))
    features = judge.features(drawn)
    value = frechet(moments(features), (judge.mean, judge.covariance))
    generator = torch.Generator().manual_seed(0)
    again = []
    for _ in range(RESAMPLED):
        rows = torch.randint(count, (count,), generator=generator)
        again.append(frechet(moments(features[rows]), (judge.mean, judge.covariance)))
    found = torch.tensor(again, dtype=torch.float64)
    factor = math.exp(1.96 * float(found.clamp_min(1e-12).log().std()))
    known = {"steps": steps, "images": images.name, "images_hash": images.sha256[:16], "seed": seed}
    known["judge_accuracy"] = round(judge.accuracy, 4)
    ends = {"low": value / factor, "high": value * factor}
    out = [Measurement(kind="frechet", value=value, stderr=float(found.std()), **ends, n=count, conditions=known)]
    if kinds is not None and judge.names_classes and denoiser.classes == len(images.classes):
        right = int((judge.named(drawn) == kinds).sum())
        low, high = wilson(right, count)
        out.append(Measurement(kind="image_accuracy", value=right / count, low=low, high=high, n=count, conditions=known))
    return out
