"""The losses against a teacher: formulas in float64, bounds, what mustn't change them, and that their gradients are theirs."""

import math

import pytest
import torch

from core.errors import UserError
from core.methods import losses
from core.methods.losses import IGNORED, Against, differences, distillation_loss, shared, top

KINDS = ("forward", "reverse", "js", "tv", "mse")
DIVERGENCES = KINDS[:-1]


@pytest.fixture
def logits():
    generator = torch.Generator().manual_seed(0)
    student, teacher = (3 * torch.randn(2, 5, 11, generator=generator, dtype=torch.float64) for _ in range(2))
    return student, teacher, torch.randint(11, (2, 5), generator=generator)


def formula(p, q, kind, beta):
    """One position, number by number: p, q lists of probabilities."""
    kl = lambda a, b: sum(x * math.log(x / y) for x, y in zip(a, b, strict=True))
    middle = [beta * x + (1 - beta) * y for x, y in zip(p, q, strict=True)]
    return {
        "forward": lambda: kl(p, q),
        "reverse": lambda: kl(q, p),
        "js": lambda: beta * kl(p, middle) + (1 - beta) * kl(q, middle),
        "tv": lambda: sum(abs(x - y) for x, y in zip(p, q, strict=True)) / 2,
    }[kind]()


def by_hand(student, teacher, how):
    """The mean over positions of `formula`, on the k likeliest tokens of the teacher and one bin more where that's asked."""
    total = 0.0
    for mine, theirs in zip(student.flatten(0, -2), teacher.flatten(0, -2), strict=True):
        if how.kind == "mse":
            apart = [(z - mine.mean()) - (v - theirs.mean()) for z, v in zip(mine, theirs, strict=True)]
            total += float(sum(x * x for x in apart)) / len(apart) / 2
            continue
        p, q = ((x / how.temperature).softmax(0).tolist() for x in (theirs, mine))
        if how.top_k:
            order = sorted(range(len(p)), key=lambda i: -p[i])
            kept, rest = order[: how.top_k], order[how.top_k :]
            p, q = ([x[i] for i in kept] + [sum(x[i] for i in rest)] * bool(rest) for x in (p, q))
        total += formula(p, q, how.kind, how.beta)
    return how.factor * total / student[..., 0].numel()


@pytest.mark.parametrize("temperature", [1, 2.5])
@pytest.mark.parametrize("kind", KINDS)
def test_each_is_its_formula(logits, kind, temperature):
    how = Against(kind, temperature, alpha=0.3)
    found = distillation_loss(*logits, how)
    text = torch.nn.functional.cross_entropy(logits[0].flatten(0, 1), logits[2].flatten())
    assert float(found["loss/teacher"]) == pytest.approx(by_hand(*logits[:2], how), rel=1e-9)
    assert float(found["loss/text"]) == pytest.approx(float(text), rel=1e-9)
    assert float(found["loss"]) == pytest.approx(float(found["loss/teacher"]) + 0.3 * float(text), rel=1e-9)


@pytest.mark.parametrize("beta", [0.1, 0.9])
def test_jensen_shannon_may_lean_to_one_side(logits, beta):
    how = Against("js", 1.5, beta=beta)
    assert float(distillation_loss(*logits, how)["loss/teacher"]) == pytest.approx(by_hand(*logits[:2], how), rel=1e-9)


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("kind", DIVERGENCES)
def test_on_the_likeliest_tokens_it_is_that_of_the_coarsened_distributions(logits, kind, k):
    student, teacher, _ = logits
    how, whole = Against(kind, 2, top_k=k), Against(kind, 2)
    found = distillation_loss(*logits, how)["loss/teacher"]
    assert float(found) == pytest.approx(by_hand(student, teacher, how), rel=1e-9)
    assert float(found) <= float(distillation_loss(*logits, whole)["loss/teacher"]) + 1e-12  # no divergence grows by lumping together
    brief = distillation_loss(student, how.brief(teacher), logits[2], how)["loss/teacher"]
    assert float(brief) == pytest.approx(float(found), rel=1e-12)


@pytest.mark.parametrize("k", [11, 12])
@pytest.mark.parametrize("kind", DIVERGENCES)
def test_as_many_as_the_vocabulary_has_are_all(logits, kind, k):
    one, other = (distillation_loss(*logits, Against(kind, 2, top_k=x))["loss"] for x in (k, None))
    assert torch.equal(one, other)


def test_the_tail_is_exact_where_it_is_tiny():
    logits = torch.tensor([[40.0, 0.0, 0.0, 0.0]])  # 1 - p of the first is below float32's grain
    found = top(logits, 1)
    assert float(found.logs[0, 1]) == pytest.approx(math.log(3) - 40, rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_formula(logits, kind):
    student, teacher, labels = logits[0][:, :2].clone().requires_grad_(True), logits[1][:, :2], logits[2][:, :2].clone()
    labels[0, 0] = IGNORED
    for k in (None, 4) if kind != "mse" else (None,):
        how = Against(kind, 2, 0.5, top_k=k)
        assert torch.autograd.gradcheck(lambda x, how=how: distillation_loss(x, teacher, labels, how)["loss"], student)


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_change_neither_loss_nor_gradient(logits, kind, monkeypatch):
    def both():
        student = logits[0].clone().requires_grad_(True)
        found = distillation_loss(student, *logits[1:], Against(kind, 2, 0.5))["loss"]
        found.backward()
        return found.detach(), student.grad

    whole = both()
    monkeypatch.setattr(losses, "CHUNK", 3 * 11)
    assert all(torch.allclose(a, b, rtol=1e-12) for a, b in zip(whole, both(), strict=True))


@pytest.mark.parametrize("top_k", [None, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_padding_the_shape_of_the_batch_and_a_shift_change_nothing(logits, kind, top_k):
    how = Against(kind, 2, 0.5, top_k if kind != "mse" else None)
    student, teacher, labels = logits
    plain = distillation_loss(*logits, how)["loss"]
    noise = 50 * torch.randn(2, 3, 11, dtype=torch.float64)
    ignored = torch.full((2, 3), IGNORED)
    padded = distillation_loss(torch.cat([student, noise], 1), torch.cat([teacher, -noise], 1), torch.cat([labels, ignored], 1), how)
    flat = distillation_loss(student.flatten(0, 1), teacher.flatten(0, 1), labels.flatten(), how)
    shifts = torch.randn(2, 2, 5, 1, dtype=torch.float64)
    shifted = distillation_loss(student + 9 * shifts[0], teacher + 9 * shifts[1], labels, how)
    for other in (padded, flat, shifted):
        assert float(other["loss"]) == pytest.approx(float(plain), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_nothing_for_equals_and_never_negative(logits, kind):
    student, teacher, _ = logits
    for temperature in (0.5, 1, 4):
        how = Against(kind, temperature)
        assert float(differences(teacher, teacher, how).abs().max()) < 1e-12
        assert float(differences(teacher, student, how).min()) > 0


def test_bounds_and_symmetry():
    far, other = torch.tensor([[60.0, 0.0, 0.0]]).double(), torch.tensor([[0.0, 0.0, 60.0]]).double()
    near = torch.tensor([[0.3, 0.1, 0.2]]).double()
    js, tv = Against("js"), Against("tv")
    assert float(differences(far, other, js)) == pytest.approx(math.log(2), rel=1e-9)
    assert float(differences(far, other, tv)) == pytest.approx(1, rel=1e-9)
    for how in (js, tv):
        assert float(differences(far, near, how)) == pytest.approx(float(differences(near, far, how)), rel=1e-12)
    one, back = (Against(kind) for kind in ("forward", "reverse"))
    assert float(differences(far, near, one)) == pytest.approx(float(differences(near, far, back)), rel=1e-12)


def test_total_variation_is_what_a_draft_is_refused_by(logits):
    student, teacher, _ = logits
    kept = torch.minimum(student.softmax(-1), teacher.softmax(-1)).sum(-1)
    assert torch.allclose(differences(teacher, student, Against("tv")), 1 - kept)


@pytest.mark.parametrize("kind", ["forward", "reverse", "js"])
def test_at_a_high_temperature_it_becomes_the_squared_error_of_the_logits(logits, kind):
    share = 0.25 if kind == "js" else 1.0  # b (1 - b): how far the two are from their middle
    hot, mse = (float(distillation_loss(*logits, Against(k, t))["loss/teacher"]) for k, t in ((kind, 1e4), ("mse", 1)))
    assert hot == pytest.approx(share * mse, rel=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_temperature_leaves_the_size_of_the_gradient(logits, kind):
    def size(temperature):
        student = (0.1 * logits[0]).requires_grad_(True)
        distillation_loss(student, 0.1 * logits[1], logits[2], Against(kind, temperature, alpha=0))["loss"].backward()
        return float(student.grad.norm())

    assert size(200) == pytest.approx(size(20), rel=0.05)


def test_squared_error_has_no_tail():
    with pytest.raises(ValueError, match="top_k"):
        Against("mse", top_k=5)


def test_vocabularies_may_differ_by_padding_alone():
    assert shared(151_936, 152_064, 151_665) == 151_936
    assert shared(100, 100, 120) == 100  # both lack the same
    with pytest.raises(UserError, match=r"only 151,?000 of them"):
        shared(151_000, 152_064, 151_665)


def test_half_precision_is_summed_in_float32():
    generator = torch.Generator().manual_seed(1)
    student, teacher = (torch.randn(4, 5000, generator=generator).bfloat16() for _ in range(2))
    labels = torch.randint(5000, (4,), generator=generator)
    for kind in KINDS:
        how = Against(kind, 2, 0.5)
        found, exact = (distillation_loss(a, b, labels, how)["loss"] for a, b in ((student, teacher), (student.double(), teacher.double())))
        assert found.dtype == torch.float32
        assert float(found) == pytest.approx(float(exact), rel=1e-4)


@pytest.mark.parametrize("kind", DIVERGENCES)
def test_tokens_that_neither_model_can_say_change_nothing(logits, kind):
    """As where padding of the vocabulary is masked by minus infinity."""
    student, teacher, labels = logits
    want = distillation_loss(student, teacher, labels, Against(kind))
    masked = [torch.cat([x, torch.full((*x.shape[:-1], 3), -torch.inf, dtype=x.dtype)], -1) for x in (student, teacher)]
    masked[0].requires_grad_(True)
    found = distillation_loss(*masked, labels, Against(kind))
    found["loss"].backward()
    assert {k: float(v.detach()) for k, v in found.items()} == pytest.approx({k: float(v) for k, v in want.items()})
    assert torch.isfinite(masked[0].grad).all()
