"""Pruning, rounding and healing of diffusion models: which weights, how many, and that plain diffusers runs what's made."""

import copy

import pytest
import torch
from torch import nn

import resources
from core import methods
from core.data.images import read_images
from core.errors import UserError
from core.events import Samples
from core.methods import Given, checked, checkpoints, get
from core.methods.distillation import fewer_steps
from core.methods.quantization.grid import round_to_nearest
from core.methods.recovery import finetune_images
from core.methods.recovery.finetune_images import objective
from core.methods.samples import FILE
from core.models import diffusion, inspect, load, packed, save, size
from core.models.verify import Verifier
from core.run import Run
from tests.core.methods.conftest import Recorder

OUTSIDE = ("unet.conv_in", "unet.conv_out", "unet.conv_norm_out", "unet.time_embedding", "unet.class_embedding")


def given(folder, **more):
    return Given(None, folder, inspect.inspect(folder), images=read_images(resources.DIGITS), **more)


def apply(name, folder, run=None, model=None, more=None, **values):
    method = get(name)
    model = model or diffusion.load(folder)
    return method.apply(model, checked(method, values), run or Run(), given(folder, **(more or {})))


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


def test_all_of_the_blocks_weights_are_worked_on_and_nothing_else(pico_class_pipeline):
    denoiser = diffusion.load(pico_class_pipeline)
    names = [name for name, _ in diffusion.layers(denoiser)]
    weights = {n.removesuffix(".weight") for n, p in denoiser.named_parameters() if p.ndim > 1}
    assert set(names) == {n for n in weights if not n.startswith(OUTSIDE)}
    kinds = {type(m) for _, m in diffusion.layers(denoiser)}
    assert kinds == {nn.Conv2d, nn.Linear}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("magnitude", {"sparsity": 0.3}),
        ("magnitude", {"scope": "global"}),
        ("magnitude", {"pattern": "2:4"}),
        ("rtn", {}),
        ("rtn", {"bits": 4, "group_size": 8}),
        ("hqq", {"granularity": "channel"}),
        ("cast", {"to": "float16"}),
    ],
)
def test_what_is_made_is_a_folder_that_diffusers_runs(pico_pipeline, tmp_path, verifier, name, values):
    folder = pico_pipeline
    before = diffusion.load(folder)
    outcome = apply(name, folder, **values)
    save.save(outcome.model, tmp_path, folder, run=Run(), dtype=outcome.dtype)
    assert verifier.check(tmp_path, outcome.model, Run()) <= 1e-4
    again = load.load(tmp_path).model
    assert torch.equal(again.probe(), outcome.model.probe())
    assert not torch.equal(again.probe(), before.probe())
    inside = {n for n, _ in diffusion.layers(before)}
    if name != "cast":
        for (n, a), (_, b) in zip(before.named_parameters(), again.named_parameters(), strict=True):
            assert torch.equal(a, b) == (n.removesuffix(".weight") not in inside), n
    method, info, ledger = get(name), inspect.inspect(folder), size.ledger(folder)
    said = methods.estimate(name, checked(method, values), info, ledger)
    assert said["bytes_on_disk"] == pytest.approx(size.ledger(tmp_path).bytes_on_disk, rel=0.01)
    assert again.bits == (outcome.model.bits if name in ("rtn", "hqq") else None)
    assert bool(again.bits) == (name in ("rtn", "hqq"))


@pytest.mark.parametrize(
    ("values", "share"), [({"sparsity": 0.3}, 0.3), ({"sparsity": 0.5, "scope": "global"}, 0.5), ({"pattern": "4:8"}, 0.5)]
)
def test_as_many_weights_are_zero_as_was_asked(pico_pipeline, values, share):
    outcome = apply("magnitude", pico_pipeline, **values)
    found = diffusion.layers(outcome.model)
    zeros, total = (sum(int(f(m.weight)) for _, m in found) for f in (lambda w: (w == 0).sum(), lambda w: w.numel()))
    assert zeros == int(share * total + 0.5)
    assert f"{zeros:,} of the {total:,} weights in {len(found)} convolutions and linear layers are zero" in outcome.notes[0]


def test_the_smallest_of_each_output_channel_go(pico_pipeline):
    before = dict(diffusion.layers(diffusion.load(pico_pipeline)))
    after = dict(diffusion.layers(apply("magnitude", pico_pipeline, sparsity=0.5).model))
    for name, module in before.items():
        old, new = module.weight.flatten(1).abs(), after[name].weight.flatten(1)
        gone, stay = old.masked_fill(new != 0, 0).amax(1), old.masked_fill(new == 0, torch.inf).amin(1)
        assert bool((gone <= stay).all()), name
        assert torch.equal(new[new != 0], module.weight.flatten(1)[new != 0])


def test_of_a_pattern_neighbours_are_input_channels(pico_pipeline):
    """As a GPU multiplies a convolution: the channels at one place of the kernel lie side by side."""
    for name, module in diffusion.layers(apply("magnitude", pico_pipeline, pattern="2:4").model):
        weight = module.weight.movedim(1, -1)  # (out, height, width, in), or (out, in)
        assert bool(((weight.reshape(-1, 4) == 0).sum(1) == 2).all()), name


def test_weights_lie_on_the_grid_of_each_output_channel(pico_pipeline):
    before = dict(diffusion.layers(diffusion.load(pico_pipeline)))
    outcome = apply("rtn", pico_pipeline, bits=4, granularity="channel", symmetric=True)
    stored = 0
    for name, module in diffusion.layers(outcome.model):
        rows = before[name].weight.flatten(1)
        quant = round_to_nearest(rows, 4, None, True, False, torch.float32)
        assert torch.equal(module.weight.flatten(1), packed.dequantize(quant, torch.float32)), name
        assert all(len(row.unique()) <= 16 for row in module.weight.flatten(1))
        stored += (rows.numel() + 1) // 2 + 4 * len(rows)
    assert f"would take {stored / 1e6:.2f} MB" in outcome.notes[1]
    assert outcome.notes[1].startswith("0 % smaller on disk")


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("magnitude", {"layers": "outliers"}, "blocks of a transformer"),
        ("rtn", {"embeddings": 8}, "embeddings of time and class stay"),
        ("hqq", {"embeddings": 8}, "embeddings of time and class stay"),
        ("cast", {"to": "fp8"}, "no weights in fp8"),
    ],
)
def test_what_a_unet_has_not_is_refused(pico_pipeline, name, values, why):
    with pytest.raises(UserError, match=why):
        apply(name, pico_pipeline, **values)


# ---- healing --------------------------------------------------------------------------------------------------------------

QUICK = {"updates": 12, "batch": 8, "learning_rate": 4e-3}


@pytest.fixture
def taught(pico_pipeline, monkeypatch):
    monkeypatch.setattr(finetune_images, "ASIDE", 32)
    return {"uncut": "whole", "load_variant": lambda name: load.load(pico_pipeline, train=True)}


@pytest.mark.parametrize("loss", ["teacher", "images"])
def test_a_pruned_model_heals_and_its_zeros_stay(pico_pipeline, taught, loss):
    pruned = apply("magnitude", pico_pipeline, sparsity=0.5).model
    zeros = {name: m.weight == 0 for name, m in diffusion.layers(pruned)}
    run = Recorder()
    outcome = apply("finetune_images", pico_pipeline, run, pruned, taught, loss=loss, **QUICK)
    assert min(run.curve("heldout_loss")[1:]) < 0.9 * run.curve("heldout_loss")[0]
    assert all(torch.equal(m.weight == 0, zeros[name]) for name, m in diffusion.layers(outcome.model))
    assert f"{sum(int(m.sum()) for m in zeros.values()):,} zeros held" in outcome.notes[-1]
    assert outcome.model.schedule is pruned.schedule
    seen = [e for e in run.events if isinstance(e, Samples)]
    assert seen[0].step == 0
    assert seen[-1].kept
    assert [d.who for d in seen[-1].drawn] == (["teacher", "student"] if loss == "teacher" else ["student"])
    assert seen[-1].drawn[-1].png == fewer_steps.sheet(outcome.model.draw(fewer_steps.SHOWN, 32, seed=0)[0])  # what's kept, drawn
    assert seen[0].drawn[-1].png != seen[-1].drawn[-1].png
    assert FILE in outcome.files


def test_the_uncut_model_has_nothing_to_learn_from_itself(pico_pipeline, taught):
    model = diffusion.load(pico_pipeline)
    places = torch.arange(64)
    batch = next(fewer_steps.batches(torch.randn(9, 1, 8, 8), None, 64, 16, 0))
    assert float(objective(model, copy.deepcopy(model), places)(batch)["loss"]) == 0


class Knowing(diffusion.Denoiser):
    """Knows that every image is 0.25 all over, and so the noise."""

    def forward(self, z, t, kinds=None):
        alpha, sigma = (v.view(-1, 1, 1, 1).float() for v in (self.schedule.kept[t].sqrt(), (1 - self.schedule.kept[t]).sqrt()))
        e = (z - alpha * 0.25) / sigma
        return {"epsilon": e, "sample": torch.full_like(z, 0.25), "v_prediction": alpha * e - sigma * 0.25}[self.schedule.prediction]


@pytest.mark.parametrize("prediction", ["epsilon", "sample", "v_prediction"])
def test_who_knows_the_noise_loses_nothing_on_the_images(pico_pipeline, prediction):
    plain = diffusion.load(pico_pipeline)
    knowing = Knowing(plain.unet, plain.schedule.for_steps(prediction))
    batch = next(fewer_steps.batches(torch.full((1, 1, 8, 8), 0.25), None, 63, 16, 0))
    assert float(objective(knowing, None, torch.arange(63))(batch)["loss"]) < 1e-6
    plain.schedule = knowing.schedule
    assert float(objective(plain, None, torch.arange(63))(batch)["loss"]) > 1e-2


def test_a_rounded_model_leaves_its_grid_and_says_so(pico_pipeline, taught):
    rounded = apply("rtn", pico_pipeline, bits=2, group_size=8).model
    outcome = apply("finetune_images", pico_pipeline, None, rounded, taught, **QUICK | {"updates": 3})
    assert outcome.model.bits is None
    assert any("2 bits any more" in note for note in outcome.notes)


def test_fewer_steps_leave_what_was_pruned_at_zero(pico_pipeline, monkeypatch):
    monkeypatch.setattr(fewer_steps, "ASIDE", 2)
    monkeypatch.setattr(fewer_steps, "SHOWN", 1)
    pruned = apply("magnitude", pico_pipeline, sparsity=0.5).model
    pruned.bits = 4
    zeros = {name: m.weight == 0 for name, m in diffusion.layers(pruned)}
    outcome = apply("fewer_steps", pico_pipeline, None, pruned, to=1, start=2, updates=1, batch=2)
    assert all(torch.equal(m.weight == 0, zeros[name]) for name, m in diffusion.layers(outcome.model))
    assert outcome.model.bits is None
    assert any("grid of 4 bits any more" in note for note in outcome.notes)


def test_who_can_not_teach_is_refused(pico_pipeline, pico_class_pipeline, taught):
    few = diffusion.load(pico_pipeline)
    few.steps = 4
    for model, more, values, why in (
        (None, {}, {}, "wasn't cut down from another"),
        (few, taught, {}, "number of steps are others"),
        (few, taught, {"loss": "images"}, "images know nothing"),
        (None, taught | {"load_variant": lambda name: load.load(pico_class_pipeline)}, {}, "can't teach"),
    ):
        with pytest.raises(UserError, match=why):
            apply("finetune_images", pico_pipeline, None, model, more, **QUICK | values)


def test_a_cut_off_healing_goes_on(pico_pipeline, tmp_path, taught, monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS", 0)

    def cut(run, step):
        if step == 4:
            raise KeyboardInterrupt

    values = QUICK | {"updates": 6}
    prune = lambda: apply("magnitude", pico_pipeline, sparsity=0.5).model
    with pytest.raises(KeyboardInterrupt):
        apply("finetune_images", pico_pipeline, Recorder(cut), prune(), taught | {"work": tmp_path}, **values)
    run = Recorder()
    resumed = apply("finetune_images", pico_pipeline, run, prune(), taught | {"work": tmp_path}, **values).model
    assert len(run.curve("lr")) < 6
    whole = apply("finetune_images", pico_pipeline, None, prune(), taught, **values).model
    assert all(torch.equal(a, b) for a, b in zip(resumed.parameters(), whole.parameters(), strict=True))
