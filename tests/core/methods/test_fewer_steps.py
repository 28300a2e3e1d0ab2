"""Fewer steps: the halving's target, what a student learns, both ways, and what's refused."""

import copy
import io

import pytest
import torch
from PIL import Image

import resources
from core.data.images import read_images
from core.errors import UserError
from core.events import Samples
from core.methods import Given, checked, checkpoints, get
from core.methods.distillation import fewer_steps as fs
from core.models import diffusion
from core.records import SourceInfo
from core.run import Run


def given(images=None, **more):
    info = SourceInfo(source="x", kind="folder", name="digits", task="diffusion")
    return Given(None, resources.ROOT, info, images=images or read_images(resources.DIGITS), **more)


@pytest.fixture(autouse=True)
def judged_on_little(monkeypatch):
    monkeypatch.setattr(fs, "ASIDE", 16)


def learn(folder, **values):
    method = get("fewer_steps")
    return method.apply(diffusion.load(folder), checked(method, values), Run(), given())


def test_the_image_that_was_solved_for_leads_where_the_two_steps_led(pico_pipeline):
    student = diffusion.load(pico_pipeline)
    z, then = torch.randn(3, 1, 8, 8), torch.randn(3, 1, 8, 8)
    t, to = torch.tensor([63, 31, 15]), torch.tensor([47, 15, -1])
    target = fs.solved(student, z, then, t, to)
    alpha, sigma = (v.view(-1, 1, 1, 1) for v in student.schedule.at(t))
    e = (z - alpha * target) / sigma
    out = student.schedule.output(target, e, t)
    assert torch.allclose(student.schedule.step(out, z, t, to), then, atol=1e-4)


class Knowing(diffusion.Denoiser):
    """A teacher that always means the same image: two of its steps are one."""

    def forward(self, z, t, kinds=None):
        x = torch.full_like(z, 0.3)
        alpha, sigma = (v.view(-1, 1, 1, 1) for v in self.schedule.at(t))
        return self.schedule.output(x, (z - alpha * x) / sigma, t)


@pytest.mark.parametrize("steps", [1, 2, 8])
def test_a_student_of_a_teacher_whose_two_steps_are_one_has_nothing_to_learn(pico_pipeline, steps):
    plain = diffusion.load(pico_pipeline)
    teacher = Knowing(plain.unet, plain.schedule)
    batch = next(fs.batches(torch.randn(9, 1, 8, 8), None, steps, 16, 0))
    for loss_of in (
        fs._halving(teacher, teacher, steps, 2),
        fs._halving(teacher, teacher, steps, 1),
        fs._consistency(teacher, teacher, steps),
    ):
        assert float(loss_of(batch)["loss"]) < 1e-6
    other = fs._halving(plain, teacher, steps, 2)
    assert float(other(batch)["loss"]) > 1e-2


def test_a_student_draws_in_half_the_steps_what_its_teacher_drew(pico_pipeline):
    """Of the same noise, nearer than the teacher itself comes in as few steps."""
    teacher = diffusion.load(pico_pipeline)
    outcome = learn(pico_pipeline, to=1, start=2, updates=30, batch=16, learning_rate=4e-3)
    want = teacher.draw(24, 2, seed=9)[0]
    apart = lambda model: float((model.draw(24, 1, seed=9)[0] - want).square().mean())
    assert apart(outcome.model) < 0.5 * apart(teacher)
    assert outcome.model.steps == 1
    assert len(outcome.notes) == 1
    with Image.open(io.BytesIO(outcome.files["samples.png"])) as picture:
        assert picture.height == 3 * (48 + 4) + 4


def test_a_consistent_student_draws_nearer_too(pico_pipeline):
    teacher = diffusion.load(pico_pipeline)
    outcome = learn(pico_pipeline, to=1, start=4, how="consistency", updates=20, batch=32, learning_rate=2e-3)
    want = teacher.draw(24, 4, seed=9)[0]
    apart = lambda model: float((model.draw(24, 1, seed=9)[0] - want).square().mean())
    assert apart(outcome.model) < 0.7 * apart(teacher)


def test_the_same_seed_gives_the_same_student(pico_pipeline):
    one, other = (learn(pico_pipeline, to=2, start=4, updates=3, batch=8) for _ in range(2))
    for a, b in zip(one.model.parameters(), other.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_job_that_was_cut_off_ends_with_the_same_student(pico_pipeline, tmp_path, monkeypatch):
    """Once within a round, whose state was kept, and once after it."""
    method, values = get("fewer_steps"), {"to": 1, "start": 4, "updates": 3, "batch": 8}
    params = checked(method, values)
    want = learn(pico_pipeline, **values)
    monkeypatch.setattr(checkpoints, "SECONDS", 0)

    class Cut(Run):
        left = 0

        def metric(self, name, step, value):
            self.left -= name == "loss"
            if not self.left:
                raise RuntimeError("cut off")

    for left in (3, 7):
        cut = Cut()
        cut.left = left
        with pytest.raises(RuntimeError, match="cut off"):
            method.apply(diffusion.load(pico_pipeline), params, cut, given(work=tmp_path))
    assert list(tmp_path.glob("*/student.safetensors"))
    outcome = method.apply(diffusion.load(pico_pipeline), params, Run(), given(work=tmp_path))
    for a, b in zip(outcome.model.parameters(), want.model.parameters(), strict=True):
        assert torch.equal(a, b)
    assert outcome.notes == want.notes
    damaged = next(tmp_path.glob("*/student.safetensors"))
    damaged.write_bytes(damaged.read_bytes()[:50])
    warned = []
    run = Run()
    run.warn = warned.append
    assert method.apply(diffusion.load(pico_pipeline), params, run, given(work=tmp_path)).notes == want.notes
    assert any("can't be read" in text for text in warned)


def test_a_teacher_of_noise_becomes_a_student_of_v(pico_pipeline):
    teacher = diffusion.load(pico_pipeline)
    teacher.schedule = diffusion.Schedule(teacher.schedule.kept, "epsilon", "leading", 1.0, config=teacher.schedule.config)
    method = get("fewer_steps")
    before = copy.deepcopy(teacher.state_dict())
    outcome = method.apply(teacher, checked(method, {"to": 2, "start": 4, "updates": 2, "batch": 8}), Run(), given())
    assert outcome.model.schedule.prediction == "v_prediction"
    assert outcome.notes[0].startswith("4 steps")  # first into the other form
    assert outcome.notes[1].startswith("2 steps")
    assert all(torch.equal(before[k], v) for k, v in teacher.state_dict().items())


def test_classes_are_learnt_with(pico_class_pipeline):
    images = read_images(resources.DIGITS)
    three = type(images)("three", "", "x", images.pixels[images.labels < 3], images.labels[images.labels < 3], ("0", "1", "2"))
    method = get("fewer_steps")
    params = checked(method, {"to": 2, "start": 4, "updates": 2, "batch": 8})
    outcome = method.apply(diffusion.load(pico_class_pipeline), params, Run(), given(three))
    assert outcome.model.classes == 3
    assert any("no class" in note for note in outcome.notes)
    with pytest.raises(UserError, match=r"draws 3 classes, and digits\.npz names 10"):
        method.apply(diffusion.load(pico_class_pipeline), params, Run(), given())


@pytest.mark.parametrize(("values", "said"), [({"to": 8, "start": 8}, "8 aren't fewer"), ({"to": 16, "start": 4}, "16 aren't fewer")])
def test_more_steps_are_refused(pico_pipeline, values, said):
    with pytest.raises(UserError, match=said):
        learn(pico_pipeline, **values)


def test_where_steps_do_not_divide_the_levels_of_noise_it_is_said(pico_pipeline):
    """And the places of a drawing in half the steps are every second one of the whole all the same."""
    model = diffusion.load(pico_pipeline)
    config = {"_class_name": "DDIMScheduler", "num_train_timesteps": 100, "beta_schedule": "squaredcos_cap_v2"}
    model.schedule = diffusion.Schedule.from_config(config | {"prediction_type": "v_prediction", "timestep_spacing": "trailing"})
    assert torch.equal(fs._places(model, 16)[::2], fs._places(model, 8))
    method = get("fewer_steps")
    outcome = method.apply(model, checked(method, {"to": 8, "start": 16, "updates": 1, "batch": 8}), Run(), given())
    assert any("8 steps don't divide 100 levels" in note for note in outcome.notes)


@pytest.mark.parametrize(("start", "to", "want"), [(32, 4, [16, 8, 4]), (8, 1, [4, 2, 1]), (4, 4, [])])
def test_rounds(start, to, want):
    assert fs.rounds(start, to) == want


def test_each_round_shows_teacher_and_student_from_the_same_noise(pico_pipeline, monkeypatch):
    asked, shown = [], []

    def likeness(model, steps, count):
        asked.append((steps, count))
        return float(steps)

    monkeypatch.setattr(fs, "_affordable", lambda *_: True)
    model = diffusion.load(pico_pipeline)
    run = Run("job", lambda event: shown.append(event) if isinstance(event, Samples) else None)
    values = {"to": 2, "start": 8, "updates": 2, "batch": 4}
    student = get("fewer_steps").apply(model, checked(get("fewer_steps"), values), run, given(likeness=likeness)).model
    kept = [s for s in shown if s.kept]
    assert [[(d.who, d.steps) for d in s.drawn] for s in kept] == [
        [("teacher", 8), ("teacher", 4), ("student", 4)],
        [("teacher", 8), ("teacher", 2), ("student", 2)],
    ]
    assert shown[0].step == 0
    assert [d.frechet for d in kept[-1].drawn] == [8.0, 2.0, 2.0]
    assert asked == [(8, 500), (4, 500), (4, 500), (2, 500), (2, 500)]
    for who, steps, drawn in ((model, 8, kept[0].drawn[0]), (student, 2, kept[-1].drawn[2])):
        images = who.draw(drawn.count, steps, seed=0)[0]
        sheet = Image.open(io.BytesIO(drawn.png))
        assert sheet.size == (drawn.count * 8, 8)
        third = torch.tensor(list(sheet.crop((16, 0, 24, 8)).getdata())).reshape(8, 8)
        assert torch.equal(third, ((images[2, 0] + 1) * 127.5).round().long())


def test_distances_are_measured_where_they_take_little_of_the_training():
    plan = [(16, 2), (8, 2), (4, 2)]
    assert fs._affordable(fs.FewerStepsParams(), 32, plan)  # 500 x 88 forwards, against 960,000
    assert not fs._affordable(fs.FewerStepsParams(updates=100), 32, plan)
