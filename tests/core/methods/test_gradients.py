"""Gradients in few bits: unbiased, counted, fed back; and a training that hardly notices."""

import pytest
import torch
from torch import nn

import core.worker.tasks as tasks
import resources
from core import events, methods
from core.errors import UserError
from core.methods import gradients, training
from core.methods.gradient_study import CHOICES, name_of, study
from core.methods.gradients import Exchange, bytes_sent, decode, encode, levels
from core.models import load
from core.recipe import Step
from core.records import ApplySpec, GradientChoice, GradientStudySpec, ImportSpec, Job
from core.run import Run
from tests.core.methods.conftest import Recorder, apply, give, same

QUICK = {"steps": 12, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32"}


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("bits", [8, 4, 2])
@pytest.mark.parametrize("per", ["tensor", "channel"])
def test_rounding_is_unbiased(bits, per):
    """The mean over many draws is the gradient, within five standard errors; what one draw gives is at most a step away."""
    gradient = torch.randn(6, 20, generator=rng(1)) * torch.logspace(-3, 1, 6)[:, None]
    draws, generator = 4000, rng(2)
    total = torch.zeros_like(gradient, dtype=torch.float64)
    for _ in range(draws):
        codes, scale = encode(gradient, bits, per, generator)
        step = scale.view(-1, 1) if per == "channel" else scale
        got = decode(codes, scale)
        assert ((got - gradient).abs() <= step * (1 + 1e-5)).all()
        total += got
    share = (gradient / step).double() % 1  # of draws that are rounded up
    error = step.double() * (share * (1 - share) / draws).sqrt()  # standard error of each mean
    deviation = (total / draws - gradient.double()).abs()
    # five of them, and some single draws of what's hardly ever rounded up, which isn't normally distributed
    assert (deviation <= 5 * error + 8 * step / draws + 1e-6 * gradient.abs()).all()
    assert (deviation > 0.1 * error).any()  # it is a draw, after all


@pytest.mark.parametrize("bits", [8, 4, 2])
def test_the_variance_is_that_of_a_coin(bits):
    """Var = scale^2 f (1 - f), f the fraction above the lower point: no other rounding to neighbours is unbiased."""
    value, most = 0.337, 1.0
    gradient = torch.tensor([most, value])
    scale = most / levels(bits)
    fraction = value / scale % 1
    generator = rng(3)
    draws = torch.stack([decode(*encode(gradient, bits, "tensor", generator))[1] for _ in range(6000)])
    assert float(draws.var()) == pytest.approx(scale**2 * fraction * (1 - fraction), rel=0.1)


def test_codes_stay_on_the_grid_and_ends_are_exact():
    for bits in (8, 4, 2):
        gradient = torch.randn(50, 40, generator=rng(4))
        codes, scale = encode(gradient, bits, "channel", rng(5))
        assert int(codes.abs().max()) == levels(bits)
        assert codes.unique().numel() <= 2 * levels(bits) + 1
        at = gradient.abs().argmax(1)
        got = decode(codes, scale)[torch.arange(50), at]
        assert torch.allclose(got, gradient[torch.arange(50), at], rtol=1e-5)
    codes, scale = encode(torch.zeros(3, 4), 8, "channel", rng())
    assert not codes.any()
    assert (scale == 1).all()
    assert decode(*encode(torch.randn(5), 4, "channel", rng())).shape == (5,)


def test_bytes():
    assert bytes_sent(torch.Size((10, 16)), 32, "channel") == 640
    assert bytes_sent(torch.Size((10, 16)), 8, "channel") == 160 + 40
    assert bytes_sent(torch.Size((10, 16)), 4, "tensor") == 80 + 4
    assert bytes_sent(torch.Size((7,)), 4, "channel") == 4 + 4  # half a byte more, and one scale


@pytest.mark.parametrize("bits", [4, 2])
def test_feedback_loses_nothing_in_the_long_run(bits):
    """What arrived in all is what was sent in all but for what's still owed, and that doesn't grow."""
    parameter = nn.Parameter(torch.zeros(8, 12))
    exchange = Exchange({"w": parameter}, bits, "channel", feedback=True)
    wanted, arrived, owed = torch.zeros(8, 12), torch.zeros(8, 12), []
    generator = rng(6)
    for _ in range(200):
        gradient = torch.randn(8, 12, generator=generator)
        parameter.grad = gradient.clone()
        exchange.step()
        wanted += gradient
        arrived += parameter.grad
        owed.append(float(exchange._owed["w"].norm()))
        assert torch.allclose(wanted - arrived, exchange._owed["w"], atol=1e-3)
    assert max(owed[100:]) < 2 * max(owed[:100])
    assert exchange.sent == 200 * bytes_sent(torch.Size((8, 12)), bits, "channel")
    assert exchange.plain == 200 * 4 * 96


def test_the_same_seed_sends_the_same():
    def once(seed):
        parameter = nn.Parameter(torch.zeros(8, 12))
        parameter.grad = torch.randn(8, 12, generator=rng(7))
        Exchange({"w": parameter}, 4, seed=seed).step()
        return parameter.grad

    assert torch.equal(once(1), once(1))
    assert not torch.equal(once(1), once(2))


def test_held_zeros_stay_zero():
    parameter = nn.Parameter(torch.zeros(4, 6))
    exchange = Exchange({"w": parameter}, 4, feedback=True)
    for _ in range(5):
        parameter.grad = torch.randn(4, 6)
        parameter.grad[:, 2] = 0
        exchange.step()
        assert not parameter.grad[:, 2].any()


# ---- in training --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "extra"), [("finetune", {}), ("distil", {"layers": 1})])
def test_every_training_takes_them(pico, name, extra):
    run = Recorder()
    outcome = apply(name, pico, run, **QUICK | extra | {"gradient_bits": 8})
    errors = run.curve("gradient_error")
    assert len(errors) == 12
    assert all(0 < e < 0.05 for e in errors)
    assert min(run.curve("heldout_loss")[1:]) < run.curve("heldout_loss")[0]
    assert any("Gradients in 8 bits" in note and "instead of" in note for note in outcome.notes)


def test_full_precision_is_bit_for_bit_what_it_was(pico_llama):
    once = lambda **values: apply("finetune", load.load(pico_llama), **QUICK | values).model
    assert same(once(), once(gradient_bits=32, gradient_feedback=True))
    assert not same(once(), once(gradient_bits=8))


def test_the_rounding_follows_the_seed(pico_llama):
    def once(seed):
        loaded = load.load(pico_llama)
        return apply("finetune", loaded, None, give(loaded, seed=seed), **QUICK | {"gradient_bits": 4}).model

    assert same(once(1), once(1))
    assert not same(once(1), once(2))


def test_fewer_bits_are_rougher_and_cheaper(pico_llama):
    loaded = load.load(pico_llama)
    before = {k: v.clone() for k, v in loaded.model.state_dict().items()}
    run = Recorder()
    params = training.TrainingParams(**QUICK)
    found = study(loaded.model, give(loaded), params, run, seeds=2)
    assert all(torch.equal(before[k], v) for k, v in loaded.model.state_dict().items())
    rows = {(r["bits"], r["per"], r["feedback"]): r for r in found["rows"]}
    assert list(rows) == list(CHOICES)
    told = [e.row for e in run.events if isinstance(e, events.GradientsTried)]
    assert [(r["name"], len(r["losses"])) for r in told] == [(name_of(c), n) for c in CHOICES for n in (1, 2)]
    assert told[1::2] == found["rows"]
    progress = [e for e in run.events if isinstance(e, events.Progress) and e.stage == "Training"]
    assert {e.total for e in progress} == {2 * len(CHOICES)}
    assert [e.done for e in progress] == sorted(e.done for e in progress)
    assert {e.note for e in progress} == {name_of(c) for c in CHOICES}
    plain = rows[32, "channel", False]
    assert plain["error"] == 0
    assert plain["sent"] == 12 * 4 * found["parameters"]
    assert rows[8, "channel", False]["error"] < rows[4, "channel", False]["error"] < rows[2, "channel", False]["error"]
    assert rows[8, "channel", False]["error"] < rows[8, "tensor", False]["error"]
    assert plain["sent"] / 4.5 < rows[8, "channel", False]["sent"] < plain["sent"] / 3
    assert all(r["plain"] == plain["sent"] for r in found["rows"])
    for row in found["rows"]:
        assert row["heldout_loss"] < found["start"]
        assert row["stderr"] is not None
        assert row["curve"][0] == (0, pytest.approx(found["start"]))
        assert run.curve(f"heldout_loss/{row['name']}") == [loss for _, loss in row["curve"]]
    assert abs(rows[8, "channel", False]["heldout_loss"] - plain["heldout_loss"]) < 0.05 * (found["start"] - plain["heldout_loss"])


def test_names():
    assert [name_of(c) for c in CHOICES[:3]] == ["float32", "8 bits, a scale a tensor", "8 bits, a scale a row"]
    assert name_of((4, "channel", True)) == "4 bits, a scale a row, error feedback"
    assert gradients.levels(8) == 127
    assert {k.name for k in methods.get("finetune").info.knobs} >= {"gradient_bits", "gradient_scale", "gradient_feedback"}


# ---- as a job -----------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path, pico_llama, pico_text, monkeypatch):
    monkeypatch.setattr(resources, "TRAIN_TEXT", pico_text)  # the starter's takes seconds to be cut into a pico model's tokens
    folder = str(tmp_path / "home")
    spec = ImportSpec(workspace=folder, source=str(pico_llama), measure=False)
    return folder, tasks.import_model(Job(id="j", title="t", spec=spec), Run())["variant"]


def asked(home, **changes):
    folder, variant = home
    choices = (GradientChoice(), GradientChoice(bits=4, feedback=True))
    settings = {"steps": 4, "batch": 2, "context": 24, "choices": choices} | changes
    return tasks.study_gradients(Job(id="j", title="t", spec=GradientStudySpec(workspace=folder, variant=variant, **settings)), Run())


def test_the_worker_studies(home):
    found = asked(home)
    assert [r["name"] for r in found["rows"]] == ["float32", "4 bits, a scale a row, error feedback"]
    assert found["rows"][1]["sent"] < found["rows"][0]["sent"] / 6
    assert asked(home, fresh=True)["start"] != found["start"]
    assert tasks.TASKS["gradient-study"] is tasks.study_gradients


def test_a_quantized_variant_is_not_studied(home):
    folder, variant = home
    spec = ApplySpec(workspace=folder, variant=variant, steps=(Step(method="int8_dynamic"),), measure=False)
    made = tasks.apply(Job(id="j", title="t", spec=spec), Run())["variant"]
    with pytest.raises(UserError, match="its weights are packed"):
        asked((folder, made))


def test_the_command_line_shows_the_study(home, tmp_path):
    from click.testing import CliRunner

    from core.cli.commands import cli

    args = ["gradient-study", "--workspace", home[0], "--variant", home[1], "--steps", "2", "--batch", "2", "--context", "24"]
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 0, done.output
    assert "error feedback" in done.output
    assert "loss on text kept aside before training" in done.output
