"""A diffusion pipeline as ONNX: the UNet's output at several levels of noise, images of the folder's own script, and its files."""

import itertools
import json
import shutil

import numpy as np
import onnx
import pytest
import torch

from core.errors import UserError
from core.export import parity
from core.export.examples import draw as script
from core.export.onnx import export
from core.export.runtime import open_session, read_graph
from core.models import diffusion
from core.records import OnnxOptions
from core.run import Run
from tests.conftest import make_pipeline
from tests.core.export.test_onnx import run_example


@pytest.fixture(scope="module")
def exported(pico_class_pipeline, tmp_path_factory):
    """(folder, report)"""
    to = tmp_path_factory.mktemp("unet") / "out"
    return to, export(pico_class_pipeline, to, Run(), options=OnnxOptions(profile="fast", runtime="1.17"))


def test_it_says_what_torch_says_and_draws_what_torch_draws(exported):
    _, report = exported
    assert report["max_abs"] < 1e-4
    assert report["pixel"] < 1e-4
    assert [c["check"] for c in report["checks"]] == [
        "a batch of 1 at the noise of 63",
        "a batch of 4 at the noise of 12, 25, 37, 50",
        "a batch of 3 at the noise of 15, 31, 47",
        "3 images drawn in 8 steps",
    ]
    assert report["task"] == "diffusion"
    assert report["ir"] == 9
    assert report["inputs"] == {"sample": ("batch", 1, 8, 8), "timestep": ("batch",), "class_labels": ("batch",)}
    assert any("fast profile" in note for note in report["notes"])


def test_the_folder_draws_by_itself(exported, tmp_path):
    folder, _ = exported
    files = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    wanted = {"unet/model.onnx", "unet/model.onnx.data", "unet/config.json", "scheduler/scheduler_config.json", "model_index.json"}
    assert files == wanted | {"example.py", "export_report.json"}
    for name in ("one.png", "again.png"):
        run_example(folder, str(tmp_path / name), "2", "4", "7")
    data = (tmp_path / "one.png").read_bytes()
    assert data == (tmp_path / "again.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(data[16:20], "big") == 16  # two images of 8 pixels side by side
    run_example(folder, str(tmp_path / "other.png"), "2", "4", "8")
    assert data != (tmp_path / "other.png").read_bytes()


@pytest.mark.parametrize("prediction", ["epsilon", "sample", "v_prediction"])
@pytest.mark.parametrize(
    "settings",
    [
        {"beta_schedule": "linear", "timestep_spacing": "leading", "steps_offset": 1, "clip_sample": True, "set_alpha_to_one": False},
        {"beta_schedule": "scaled_linear", "timestep_spacing": "linspace", "clip_sample": True, "clip_sample_range": 0.5},
        {"beta_schedule": "squaredcos_cap_v2", "timestep_spacing": "trailing", "clip_sample": False, "rescale_betas_zero_snr": True},
        {"trained_betas": [0.01 * (i + 1) for i in range(64)], "clip_sample": False},
    ],
)
def test_the_script_s_steps_are_those_of_the_workbench(prediction, settings):
    """Every prediction, schedule and spacing that a pipeline here may have, with a network that only scales its input."""
    config = {"_class_name": "DDIMScheduler", "num_train_timesteps": 64, "prediction_type": prediction} | settings
    schedule = diffusion.Schedule.from_config(config)

    class Network:
        def get_inputs(self):
            return [type("Input", (), {"name": name}) for name in ("sample", "timestep")]

        def run(self, _, feeds):
            return [feeds["sample"] * 0.3 + feeds["timestep"].reshape(-1, 1, 1, 1).astype(np.float32) / 640]

    noise = torch.randn(2, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    z, path = noise, [*schedule.timesteps(8), -1]
    for t, to in itertools.pairwise(path):
        out = torch.from_numpy(Network().run(None, {"sample": z.numpy(), "timestep": np.full(2, t)})[0])
        z = schedule.step(out, z, torch.full((2,), t), torch.full((2,), to))
    drawn = script.draw(Network(), config, noise.numpy(), 8)
    assert script.levels(config, 8) == path
    assert np.allclose(drawn, z.clamp(-1, 1).numpy(), atol=1e-5)


def test_weights_that_aren_t_the_model_s_are_noticed(exported, pico_class_pipeline, tmp_path):
    from core.export import unet

    folder = shutil.copytree(exported[0], tmp_path / "copy")
    data = np.fromfile(folder / "unet" / "model.onnx.data", np.float32)
    data[500:900] += 0.05
    data.tofile(folder / "unet" / "model.onnx.data")
    answers = unet.reference(diffusion.load(pico_class_pipeline), Run())
    expected = {"inputs": exported[1]["inputs"], "outputs": exported[1]["outputs"], "quantized": {}, "limits": parity.DRAWING["float32"]}
    with pytest.raises(UserError, match="doesn't compute what the original computes"):
        parity.compare(folder, answers, expected)


@pytest.mark.matrix
@pytest.mark.parametrize("changed", ["plain", "fewer steps", "pruned"])
def test_float16_and_models_that_were_changed(changed, tmp_path):
    folder = make_pipeline(tmp_path / "model")
    denoiser = diffusion.load(folder)
    if changed == "pruned":
        for p in denoiser.unet.parameters():
            if p.ndim == 4:
                p[:, ::2] = 0
    if changed == "fewer steps":
        denoiser = diffusion.Denoiser(denoiser.unet, denoiser.schedule.for_steps("sample"), 2)
    (tmp_path / "saved").mkdir()
    diffusion.save(denoiser, tmp_path / "saved", run=Run())
    report = export(tmp_path / "saved", tmp_path / "out", Run(), options=OnnxOptions(precision="float16"))
    assert report["steps"] == (2 if changed == "fewer steps" else 8)
    assert report["weights"] == "float16"
    kinds = {t.data_type for t in read_graph(tmp_path / "out").graph.initializer if np.prod(t.dims) > 64}
    assert onnx.TensorProto.FLOAT16 in kinds
    assert [i.type for i in open_session(tmp_path / "out").get_inputs()] == ["tensor(float)", "tensor(int64)"]
    assert json.loads((tmp_path / "out" / "model_index.json").read_text()).get("_sampling_steps") == (
        2 if changed == "fewer steps" else None
    )


def test_a_person_draws_with_it_beside_torch(exported, pico_class_pipeline, tmp_path):
    """By the job of the window: the same sampler with onnxruntime in the network's place, of the same noise."""
    from core.records import DrawExportSpec, Job
    from core.worker import tasks
    from core.workspace import Workspace
    from tests.core.export.test_exported_jobs import variant_of

    home = Workspace(tmp_path / "ws", create=True)
    variant = variant_of(home, pico_class_pipeline, "digits")
    spec = DrawExportSpec(workspace=str(home.folder), folder=str(exported[0]), variant=variant.id, count=4, steps=6, seed=3)
    found = tasks.TASKS["draw-export"](Job(id="job", title="t", spec=spec, device="cpu"), Run())
    assert (found["count"], found["steps"]) == (4, 6)
    assert found["largest"] < 1e-3
    assert min(found["seconds"].values()) > 0
    assert found["png"].startswith(b"\x89PNG")
    with pytest.raises(UserError, match="64 levels of noise"):
        tasks.TASKS["draw-export"](Job(id="job", title="t", spec=spec.model_copy(update={"steps": 65}), device="cpu"), Run())


def test_the_drawer_asks_for_the_class(exported, pico_class_pipeline):
    from core.export.drawing import load_drawer

    drawer, provider = load_drawer(exported[0], threads=1)
    assert (drawer.classes, provider) == (3, "cpu")
    images, kinds = drawer.draw(3, 4, seed=1)
    wanted, _ = diffusion.load(pico_class_pipeline).draw(3, 4, seed=1)
    assert kinds.tolist() == [0, 1, 2]
    assert (images - wanted).abs().max() < 1e-3
    z, t = torch.randn(1, *drawer.shape), torch.tensor([40])
    first, second = (drawer(z, t, torch.tensor([kind])) for kind in (0, 1))
    assert (first - second).abs().max() > 1e-6
