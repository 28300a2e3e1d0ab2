"""Diffusion models: the schedule against diffusers' own, drawing, and folders that plain diffusers runs."""

import json
import shutil

import pytest
import torch

from core.errors import UserError
from core.models import bring, diffusion, inspect
from core.models.diffusion import Schedule
from core.run import Run

diffusers = pytest.importorskip("diffusers")

CONFIGS = [
    {},
    {"beta_schedule": "scaled_linear", "beta_start": 0.00085, "beta_end": 0.012},
    {"beta_schedule": "squaredcos_cap_v2"},
    {"beta_schedule": "squaredcos_cap_v2", "prediction_type": "v_prediction", "rescale_betas_zero_snr": True},
    {"prediction_type": "sample", "num_train_timesteps": 64},
]


def schedule(kind="DDIMScheduler", **config):
    made = getattr(diffusers, kind)(**config)
    return Schedule.from_config(dict(made.config) | {"_class_name": kind}), made


@pytest.mark.parametrize("kind", ["DDPMScheduler", "DDIMScheduler"])
@pytest.mark.parametrize("config", CONFIGS)
def test_the_noise_is_what_diffusers_adds(kind, config):
    mine, theirs = schedule(kind, **config)
    assert torch.allclose(mine.kept.float(), theirs.alphas_cumprod, rtol=1e-4, atol=1e-6)
    x, e = torch.randn(2, 1, 4, 4), torch.randn(2, 1, 4, 4)
    t = torch.tensor([3, mine.total - 2])
    assert torch.allclose(mine.noised(x, e, t), theirs.add_noise(x, e, t), atol=1e-4)


@pytest.mark.parametrize("spacing", ["leading", "linspace", "trailing"])
@pytest.mark.parametrize("steps", [1, 2, 7, 32, 50])
@pytest.mark.parametrize("total", [1000, 1024])
def test_the_timesteps_are_those_of_diffusers(spacing, steps, total):
    mine, theirs = schedule(timestep_spacing=spacing, num_train_timesteps=total)
    if spacing == "linspace" and steps == 1:
        pytest.skip("one step of linspace begins with an image without noise in diffusers")
    theirs.set_timesteps(steps)
    assert mine.timesteps(steps) == theirs.timesteps.tolist()


@pytest.mark.parametrize("config", [c for c in CONFIGS if c.get("num_train_timesteps") is None])
@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("steps", [4, 8])
def test_a_drawing_is_the_one_of_diffusers(config, clip, steps):
    """The timestep before is the next of the list; diffusers subtracts T // steps, which is the same where it divides."""
    mine, theirs = schedule(timestep_spacing="trailing", clip_sample=clip, **config)
    theirs.set_timesteps(steps)
    net = torch.nn.Conv2d(2, 2, 3, padding=1).requires_grad_(False)
    z = mine_z = torch.randn(3, 2, 6, 6)
    times = mine.timesteps(steps)
    for t, to in zip(times, [*times[1:], -1], strict=True):
        z = theirs.step(net(z), t, z).prev_sample
        mine_z = mine.step(net(mine_z), mine_z, torch.full((3,), t), torch.full((3,), to))
        if config.get("rescale_betas_zero_snr") or t < times[0]:  # at almost no signal diffusers divides by almost nothing
            assert torch.allclose(mine_z, z, atol=2e-3 * float(z.abs().max()))
        mine_z = z.clone()


def test_the_step_before_is_the_next_of_the_list_where_steps_do_not_divide_the_timesteps():
    mine, _ = schedule(timestep_spacing="trailing", prediction_type="v_prediction", beta_schedule="squaredcos_cap_v2", clip_sample=False)
    times = mine.timesteps(7)
    x, e = torch.randn(1, 1, 4, 4), torch.randn(1, 1, 4, 4)
    z = mine.noised(x, e, torch.tensor([times[0]]))
    for t, to in zip(times, [*times[1:], -1], strict=True):  # a network that's always right walks along the same noise to the image
        t, to = torch.tensor([t]), torch.tensor([to])
        z = mine.step(mine.output(x, e, t), z, t, to)
        assert torch.allclose(z, mine.noised(x, e, to), atol=1e-5)
    assert torch.allclose(z, x, atol=1e-5)


@pytest.mark.parametrize("prediction", ["epsilon", "sample", "v_prediction"])
def test_what_an_output_means_is_undone_by_what_it_should_be(prediction):
    mine, _ = schedule(prediction_type=prediction)
    x, e, t = torch.randn(4, 1, 3, 3), torch.randn(4, 1, 3, 3), torch.tensor([0, 10, 500, 900])
    found = mine.meant(mine.output(x, e, t), mine.noised(x, e, t), t)
    assert torch.allclose(found[0], x, atol=1e-3)
    assert torch.allclose(found[1], e, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"_class_name": "KarrasVeScheduler"}, "scheduler"),
        ({"thresholding": True}, "thresholding"),
        ({"prediction_type": "flow"}, "prediction"),
        ({"beta_schedule": "sigmoid"}, "schedule of noise"),
        ({"timestep_spacing": "odd"}, "spacing"),
    ],
)
def test_an_unknown_schedule_is_refused(change, said):
    config = {"_class_name": "DDIMScheduler", "num_train_timesteps": 10} | change
    with pytest.raises(UserError, match=said):
        Schedule.from_config(config)


def test_more_steps_than_levels_of_noise_are_refused():
    with pytest.raises(UserError, match="20 steps"):
        schedule(num_train_timesteps=10)[0].timesteps(20)


# ---- folders --------------------------------------------------------------------------------------------------------------


def test_a_pipeline_that_diffusers_saved_is_opened(pico_pipeline):
    denoiser = diffusion.load(pico_pipeline)
    theirs = diffusers.DDIMPipeline.from_pretrained(pico_pipeline)
    assert denoiser.shape == (1, 8, 8)
    assert denoiser.classes is None
    z, t = torch.randn(2, 1, 8, 8), torch.tensor([5, 40])
    assert torch.equal(denoiser(z, t), theirs.unet(z, t).sample)


def test_a_saved_pipeline_is_run_by_plain_diffusers(pico_pipeline, tmp_path):
    denoiser = diffusion.load(pico_pipeline)
    denoiser.schedule, denoiser.steps = denoiser.schedule.for_steps("v_prediction"), 4
    diffusion.save(denoiser, tmp_path, run=Run())
    theirs = diffusers.DDIMPipeline.from_pretrained(tmp_path)
    theirs.set_progress_bar_config(disable=True)
    drawn, _ = denoiser.draw(2, seed=3)
    found = theirs(batch_size=2, num_inference_steps=4, generator=torch.Generator().manual_seed(3), output_type="np").images
    assert torch.allclose(drawn / 2 + 0.5, torch.from_numpy(found).permute(0, 3, 1, 2), atol=1e-4)
    again = diffusion.load(tmp_path)
    assert again.steps == 4
    assert torch.equal(again.schedule.kept, denoiser.schedule.kept)
    assert (again.schedule.prediction, again.schedule.spacing, again.schedule.clip) == ("v_prediction", "trailing", 0.0)
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and p not in set(diffusion.files(tmp_path))]


def test_classes_are_drawn_in_turn(pico_class_pipeline):
    denoiser = diffusion.load(pico_class_pipeline)
    images, kinds = denoiser.draw(7, 2)
    assert denoiser.classes == 3
    assert kinds.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert images.shape == (7, 1, 8, 8)


def test_the_same_seed_draws_the_same_images_whatever_the_batch(pico_pipeline):
    denoiser = diffusion.load(pico_pipeline)
    one, _ = denoiser.draw(5, 3, seed=1, rows=2)
    assert torch.allclose(one, denoiser.draw(5, 3, seed=1)[0], atol=1e-5)
    assert not torch.allclose(one, denoiser.draw(5, 3, seed=2)[0], atol=1e-2)


def test_a_pipeline_whose_parts_lie_beside_the_index_is_opened_and_brought_in(pico_pipeline, tmp_path):
    old, staged = tmp_path / "old", tmp_path / "staged"
    for folder in (old, staged):
        folder.mkdir()
    shutil.copy(pico_pipeline / "model_index.json", old)
    shutil.copy(pico_pipeline / "unet" / "config.json", old)
    shutil.copy(pico_pipeline / "unet" / diffusion.WEIGHTS, old / diffusion.HALVES)
    shutil.copy(pico_pipeline / "scheduler" / "scheduler_config.json", old)
    want = diffusion.load(pico_pipeline).probe()
    assert torch.equal(diffusion.load(old).probe(), want)
    info, _ = bring.bring(old, staged, Run())
    assert (info.task, info.image_shape) == ("diffusion", (1, 8, 8))
    assert torch.equal(diffusion.load(staged).probe(), want)
    assert sorted(str(p.relative_to(staged)) for p in staged.rglob("*") if p.is_file()) == sorted(diffusion.layout(pico_pipeline))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"out_channels": 2}, "output channels"),
        ({"class_embed_type": "timestep"}, "class embedding"),
        ({"sample_size": None}, "size of images"),
    ],
)
def test_unets_of_other_kinds_are_refused_before_they_are_built(pico_pipeline, tmp_path, change, said):
    folder = tmp_path / "model"
    shutil.copytree(pico_pipeline, folder)
    path = folder / "unet" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UserError, match=said):
        inspect.inspect(folder)


@pytest.mark.parametrize("what", ["weights", "truncated", "shape", "pipeline"])
def test_what_is_wrong_with_a_folder_is_said(pico_pipeline, tmp_path, what):
    folder = tmp_path / "model"
    shutil.copytree(pico_pipeline, folder)
    weights = folder / "unet" / diffusion.WEIGHTS
    if what == "weights":
        weights.unlink()
    elif what == "truncated":
        weights.write_bytes(weights.read_bytes()[:-100])
    elif what == "shape":
        config = json.loads((folder / "unet" / "config.json").read_text())
        (folder / "unet" / "config.json").write_text(json.dumps(config | {"in_channels": 2, "out_channels": 2}))
    else:
        index = json.loads((folder / "model_index.json").read_text())
        (folder / "model_index.json").write_text(json.dumps(index | {"vae": ["diffusers", "AutoencoderKL"]}))
    said = {
        "weights": "has no",
        "truncated": "ends early|cut short|truncated|incomplete",
        "shape": "don't fit",
        "pipeline": "AutoencoderKL",
    }[what]
    with pytest.raises(UserError, match=said):
        diffusion.load(folder)
