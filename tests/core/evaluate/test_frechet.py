"""The Frechet distance against its formula, and a judge that tells drawings from images."""

import pytest
import torch

import resources
from core.data.images import read_images
from core.evaluate import frechet
from core.models import diffusion
from core.run import Run


def gaussian(seed, d=6):
    generator = torch.Generator().manual_seed(seed)
    a = torch.randn(d, d, generator=generator, dtype=torch.float64)
    return torch.randn(d, generator=generator, dtype=torch.float64), a @ a.t()


def test_the_distance_is_that_of_the_formula():
    one, other = gaussian(0), gaussian(1)
    values, vectors = torch.linalg.eig(one[1] @ other[1])  # the product isn't symmetric, its eigenvalues are real all the same
    root = (vectors @ torch.diag(values.sqrt()) @ torch.linalg.inv(vectors)).real
    want = (one[0] - other[0]).square().sum() + torch.trace(one[1] + other[1] - 2 * root)
    assert frechet.frechet(one, other) == pytest.approx(float(want), rel=1e-9)
    assert frechet.frechet(one, other) == pytest.approx(frechet.frechet(other, one), rel=1e-9)
    assert frechet.frechet(one, one) == pytest.approx(0, abs=1e-9)


def test_where_covariances_commute_it_is_the_distance_of_the_roots():
    a, b = torch.rand(5, dtype=torch.float64), torch.rand(5, dtype=torch.float64)
    zero = torch.zeros(5, dtype=torch.float64)
    found = frechet.frechet((zero, torch.diag(a)), (zero + 1, torch.diag(b)))
    assert found == pytest.approx(float(5 + (a.sqrt() - b.sqrt()).square().sum()), rel=1e-9)


def test_moments_are_those_of_torch():
    x = torch.randn(40, 3, dtype=torch.float64)
    mean, covariance = frechet.moments(x)
    assert torch.allclose(mean, x.mean(0))
    assert torch.allclose(covariance, torch.cov(x.t()))


@pytest.fixture(scope="module")
def judged():
    images = read_images(resources.DIGITS)
    return images, frechet.judge_for(images, (1, 8, 8))


def test_a_judge_knows_digits(judged):
    images, judge = judged
    assert judge.accuracy > 0.93
    assert frechet.judge_for(images, (1, 8, 8)) is judge


def test_a_judge_is_the_same_again(monkeypatch):
    monkeypatch.setattr(frechet, "TEACHING", 5)
    images = read_images(resources.DIGITS)
    x = images.fitted((1, 8, 8))[:20]
    one, again = (frechet._taught(images, (1, 8, 8), Run()).features(x) for _ in range(2))
    assert torch.equal(one, again)


def test_real_images_are_near_and_damaged_ones_further_the_more_they_are_damaged(judged):
    images, judge = judged
    x = images.fitted((1, 8, 8))[::2]
    noise = torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
    found = [
        frechet.frechet(frechet.moments(judge.features((x + s * noise).clamp(-1, 1))), (judge.mean, judge.covariance))
        for s in (0, 0.2, 0.5, 1)
    ]
    assert found == sorted(found)
    assert found[0] < 0.1 * found[1]


def test_a_score_says_what_it_was_taken_on(judged, pico_pipeline):
    images, _ = judged
    (found,) = frechet.score(diffusion.load(pico_pipeline), images, steps=2, count=60)
    assert (found.kind, found.n, found.conditions["steps"]) == ("frechet", 60, 2)
    assert found.value > 10
    assert found.stderr > 0
    assert 0 < found.interval[0] < found.value < found.interval[1]


def test_images_without_classes_have_a_judge_too(monkeypatch):
    monkeypatch.setattr(frechet, "TEACHING", 100)
    images = read_images(resources.DIGITS)
    plain = type(images)(images.name, images.path, images.sha256 + "x", images.pixels)
    judge = frechet.judge_for(plain, (1, 8, 8))
    assert judge.accuracy > 0.5  # of four quarter turns
    assert not judge.names_classes
