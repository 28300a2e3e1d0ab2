"""Jobs on diffusion models: brought in, distilled into fewer steps, measured; what's recorded of the images."""

import io

import numpy as np
import pytest
import torch
import yaml
from PIL import Image

import resources
from core.errors import UserError
from core.models import diffusion
from core.recipe import ImagesRef, Recipe, Step
from core.records import (
    ApplySpec,
    EvaluateSpec,
    ExportSpec,
    HeadsSpec,
    ImportSpec,
    InspectSpec,
    Job,
    Measurement,
    SensitivitySpec,
    SpeedSpec,
)
from core.run import Run
from core.worker import pictures, tasks
from core.workspace import Workspace

SMALL = {"to": 2, "start": 4, "updates": 2, "batch": 8}


def run(spec):
    job = Job(id="j", title="", spec=spec)
    return tasks.TASKS[spec.kind](job, Run(job=job.id, device="cpu"))


@pytest.fixture
def home(tmp_path, pico_pipeline):
    workspace = Workspace(tmp_path / "w", create=True)
    made = run(ImportSpec(workspace=str(workspace.folder), source=str(pico_pipeline), name="digits", measure=False))["variant"]
    return workspace, workspace.variant(made)


def test_a_pipeline_is_brought_in_whole_and_reloaded(home, pico_pipeline):
    workspace, variant = home
    assert variant.info.task == "diffusion"
    assert variant.ledger.bytes_on_disk == sum(p.stat().st_size for p in diffusion.files(workspace.path(variant.id)))
    reload = workspace.measurements(variant.id)[0]
    assert (reload.kind, reload.value) == ("reload", 0)
    assert {p.name for p in diffusion.files(workspace.path(variant.id))} == {p.name for p in diffusion.files(pico_pipeline)}


def test_fewer_steps_makes_a_variant_whose_recipe_names_the_images(home):
    workspace, variant = home
    step = Step(method="fewer_steps", params=SMALL)
    (made,) = run(ApplySpec(workspace=str(workspace.folder), variant=variant.id, steps=(step,), measure=False))["variants"]
    student = workspace.variant(made)
    assert student.kind == "distilled"
    assert student.name == "2 steps"
    recipe = yaml.safe_load((workspace.path(made) / "recipe.yaml").read_text())
    assert recipe["steps"][0]["images"]["path"] == "starter:digits"
    assert (workspace.path(made) / "samples.png").is_file()
    assert diffusion.load(workspace.path(made)).steps == 2
    again = Recipe(**recipe).steps[0]
    (second,) = run(ApplySpec(workspace=str(workspace.folder), variant=variant.id, steps=(again,), measure=False))["variants"]
    assert workspace.variant(second).fingerprint == student.fingerprint
    spec = EvaluateSpec(workspace=str(workspace.folder), variant=made)
    kinds = {m["kind"]: m for m in run(spec)["measurements"]}
    assert kinds["frechet"]["conditions"]["steps"] == kinds["draw"]["conditions"]["steps"] == 2
    (other,) = run(spec.model_copy(update={"steps": 4}))["measurements"]  # likeness alone, and marked
    assert other["conditions"]["other_steps"]
    assert {m["kind"] for m in run(SpeedSpec(workspace=str(workspace.folder), variant=made))["measurements"]} == {"draw"}


def test_quality_and_speed_in_other_numbers_of_steps_are_marked(pico_pipeline, monkeypatch):
    asked = []
    measured = lambda kind, steps: Measurement(kind=kind, value=1.0, conditions={"steps": steps})
    monkeypatch.setattr(pictures.frechet, "score", lambda model, images, *, steps, run: asked.append(steps) or [measured("frechet", steps)])
    monkeypatch.setattr(pictures.frechet, "speed", lambda model, steps, run, repeats=5: measured("draw", steps))
    found = pictures.measure(diffusion.load(pico_pipeline), None, Run(), None, (32, 4, 1, 1000))  # it knows 64 levels of noise
    assert asked == [32, 4, 1]
    known = [(m.kind, m.conditions["steps"], "other_steps" in m.conditions) for m in found]
    assert known == [(kind, n, n != 32) for n in asked for kind in ("frechet", "draw")]
    asked.clear()  # drawn in another number than its own: nothing of what's asked besides is left out
    found = pictures.measure(diffusion.load(pico_pipeline), None, Run(), 8, (32, 8, 4))
    assert asked == [8, 32, 4]
    known = [(m.kind, m.conditions["steps"], "other_steps" in m.conditions) for m in found]
    assert known == [(kind, n, n != 32) for n in asked for kind in ("frechet", "draw")]


def test_an_inspection_draws_where_it_takes_no_time(home, pico_pipeline, monkeypatch):
    told = run(InspectSpec(source=str(pico_pipeline), draw=3))
    info = told["info"]
    assert (info.scheduler, info.prediction, info.steps, info.classes) == ("DDIMScheduler", "v_prediction", None, None)
    assert (told["count"], told["steps"]) == (3, 16)
    assert Image.open(io.BytesIO(told["png"])).size == (24, 8)
    monkeypatch.setattr(pictures, "MOST_WEIGHTS", 10)
    assert run(InspectSpec(source=str(pico_pipeline), draw=3))["why"] == "large"


def test_a_model_is_pruned_and_healed_in_one_job(home):
    """The uncut model teaches without being named; what's zero stays."""
    workspace, variant = home
    steps = (Step(method="magnitude"), Step(method="finetune_images", params={"updates": 2, "batch": 4}))
    pruned, healed = map(
        workspace.variant, run(ApplySpec(workspace=str(workspace.folder), variant=variant.id, steps=steps, measure=False))["variants"]
    )
    assert [pruned.kind, healed.kind] == ["pruned", "pruned"]
    found = [[m.weight == 0 for _, m in diffusion.layers(diffusion.load(workspace.path(v.id)))] for v in (pruned, healed)]
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))
    assert pruned.ledger.nonzero < 0.6 * variant.ledger.parameters
    assert pruned.ledger.weight_bytes == healed.ledger.weight_bytes == variant.ledger.weight_bytes
    assert pruned.fingerprint != healed.fingerprint
    assert "Taught by the uncut model." in healed.notes
    assert [step.images.path if step.images else None for step in healed.recipe.steps] == [None, "starter:digits"]


def test_an_original_is_not_taught_by_itself(home):
    """It would learn for minutes, and nothing."""
    workspace, variant = home
    steps = (Step(method="finetune_images", params={"updates": 2, "batch": 4}),)
    with pytest.raises(UserError, match="none to learn from") as refused:
        run(ApplySpec(workspace=str(workspace.folder), variant=variant.id, steps=steps, measure=False))
    assert "images alone" in refused.value.hint


def test_a_rounded_model_remembers_its_grid(home):
    workspace, variant = home
    (made,) = run(
        ApplySpec(workspace=str(workspace.folder), variant=variant.id, steps=(Step(method="rtn", params={"bits": 4}),), measure=False)
    )["variants"]
    assert workspace.variant(made).kind == "quantized"
    assert diffusion.load(workspace.path(made)).bits == 4


def test_other_images_than_the_recipes_are_refused(home):
    workspace, variant = home
    step = Step(method="fewer_steps", params=SMALL, images=ImagesRef(path=str(resources.DIGITS), sha256="0" * 64))
    with pytest.raises(UserError, match="aren't those that the recipe was made with"):
        run(ApplySpec(workspace=str(workspace.folder), variant=variant.id, steps=(step,), measure=False))


def test_images_of_another_size_have_to_be_named(home, tmp_path, monkeypatch):
    workspace, variant = home
    monkeypatch.setattr(diffusion, "shape_of", lambda config: (3, 32, 32))
    with pytest.raises(UserError, match="isn't known"):
        run(EvaluateSpec(workspace=str(workspace.folder), variant=variant.id))
    np.savez(tmp_path / "few.npz", images=np.zeros((3, 8, 8), np.uint8))
    with pytest.raises(UserError, match="too few"):
        run(EvaluateSpec(workspace=str(workspace.folder), variant=variant.id, images=ImagesRef(path=str(tmp_path / "few.npz"))))


def test_jobs_for_models_of_text_say_so(home, tmp_path):
    workspace, variant = home
    where = {"workspace": str(workspace.folder), "variant": variant.id}
    for spec in (
        ExportSpec(**where, to=str(tmp_path / "out"), format="gguf"),
        SensitivitySpec(**where),
        HeadsSpec(**where),
    ):
        with pytest.raises(UserError, match="digits draws images"):
            run(spec)
    with pytest.raises(UserError, match="not against another model"):
        run(EvaluateSpec(**where, reference=variant.id))


@pytest.mark.parametrize("method", ["wanda", "gptq", "finetune"])
def test_methods_for_other_models_say_so(home, method):
    workspace, variant = home
    with pytest.raises(UserError, match="doesn't apply to digits"):
        run(ApplySpec(workspace=str(workspace.folder), variant=variant.id, steps=(Step(method=method),), measure=False))
