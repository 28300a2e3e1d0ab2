"""Jobs that look at single layers: sensitivity, kept and taken up again; a layer before and after; a mixed variant made of the map."""

import json
from pathlib import Path

import pytest

from core import events
from core.allocation import Allocator, SensitivityMap, file_bytes, layer_budget, write_bits
from core.errors import Cancelled, UserError
from core.recipe import Step
from core.records import ActivationLookSpec, ApplySpec, ImportSpec, Job, LayerLookSpec, SensitivitySpec
from core.worker.tasks import TASKS
from core.workspace import Workspace
from tests.core.worker.test_tasks import Recorder, do


@pytest.fixture
def home(tmp_path, pico_llama):
    made = do(ImportSpec(workspace=str(tmp_path / "w"), source=str(pico_llama), measure=False))
    return Workspace(tmp_path / "w"), made["variant"]


def spec_of(home, **more):
    workspace, variant = home
    return SensitivitySpec(workspace=str(workspace.folder), variant=variant, windows=3, context=24, group_size=16, **more)


def test_a_map_is_made_kept_and_found_again(home):
    workspace, variant = home
    run = Recorder()
    result = do(spec_of(home), run)
    found = SensitivityMap.model_validate_json(Path(result["file"]).read_text(encoding="utf-8"))
    assert found.complete
    assert len(found.layers) == 14
    assert found.kinds[:2] == ("self_attn.q_proj", "self_attn.k_proj")
    assert Path(result["file"]).parent == workspace.path(variant)
    told = [e.layer for e in run.seen if isinstance(e, events.LayerMeasured)]
    assert [t["name"] for t in told] == [c.name for c in found.layers]
    json.dumps(told)
    again = Recorder()
    assert do(spec_of(home), again) == result
    assert any("14 layers were measured before" in getattr(e, "text", "") for e in again.seen)
    assert not any(e.total for e in again.seen if isinstance(e, events.Progress) and e.stage == "Measuring sensitivity")
    assert do(spec_of(home, bits=(8, 4)))["file"] != result["file"]
    ledger = workspace.variant(variant).ledger
    assert ledger.bytes_on_disk == sum(p.stat().st_size for p in _loaded_files(workspace.path(variant)))


def _loaded_files(folder):
    from core.models.inspect import needed

    return [p for p in folder.iterdir() if needed(p.name)]


def test_a_cancelled_one_goes_on_where_it_stopped(home):
    class Stops(Recorder):
        def _keep(self, event):
            super()._keep(event)
            if isinstance(event, events.LayerMeasured) and sum(isinstance(e, events.LayerMeasured) for e in self.seen) == 5:
                self.control("cancel")

    with pytest.raises(Cancelled):
        do(spec_of(home), Stops())
    again = Recorder()
    result = do(spec_of(home), again)
    assert any("5 layers were measured before" in getattr(e, "text", "") for e in again.seen)
    progress = [e for e in again.seen if isinstance(e, events.Progress) and e.stage == "Measuring sensitivity"]
    assert progress[0].total == 9
    whole = SensitivityMap.model_validate_json(Path(result["file"]).read_text(encoding="utf-8"))
    Path(result["file"]).unlink()
    do(spec_of(home))
    assert SensitivityMap.model_validate_json(Path(result["file"]).read_text(encoding="utf-8")) == whole


def test_a_choice_from_the_map_is_made_into_a_variant_of_that_size(home):
    workspace, variant = home
    found = SensitivityMap.model_validate_json(Path(do(spec_of(home))["file"]).read_text(encoding="utf-8"))
    on_disk = workspace.variant(variant).ledger.bytes_on_disk
    budget = on_disk - 30_000
    bits = Allocator(found.layers).at_size(layer_budget(found.layers, on_disk, budget))
    step = Step(method="mixed", params={"layers": write_bits(bits), "rounding": "rtn", "group_size": 16})
    made = do(ApplySpec(workspace=str(workspace.folder), variant=variant, steps=(step,), measure=False))
    ledger = workspace.variant(made["variant"]).ledger
    assert ledger.bytes_on_disk <= budget
    assert abs(ledger.bytes_on_disk - file_bytes(found.layers, bits, on_disk)) < 0.05 * on_disk
    assert not list(workspace.path(made["variant"]).glob("sensitivity*"))  # it's the parent's
    look = do(LayerLookSpec(workspace=str(workspace.folder), variant=made["variant"]))
    assert look["before"] == "pico-llama"
    assert look["dense"]
    with pytest.raises(UserError, match="quantized already"):
        do(spec_of((workspace, made["variant"])))
    _activations_are_kept(workspace, made["variant"])


def _activations_are_kept(workspace, quantized):
    asked = {"workspace": str(workspace.folder), "variant": quantized, "windows": 2, "context": 24}
    file = Path(do(ActivationLookSpec(**asked))["file"])
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert file.parent == workspace.path(quantized)
    assert kept["before"] == "pico-llama"
    assert len(kept["layers"]) == 14
    assert all(look["was"] and not look["rounded"] for look in kept["layers"].values())
    assert (kept["conditions"]["windows"], kept["conditions"]["context"]) == (2, 24)
    again = Recorder()
    assert do(ActivationLookSpec(**asked), again)["file"] == str(file)
    assert not any(isinstance(e, events.Progress) for e in again.seen)
    assert do(ActivationLookSpec(**asked | {"seed": 1}))["file"] != str(file)
    parent = workspace.variant(quantized).parent
    of_parent = json.loads(Path(do(ActivationLookSpec(**asked | {"variant": parent}))["file"]).read_text(encoding="utf-8"))
    assert of_parent["before"] is None
    assert all(look["dense"] and look["was"] is None for look in of_parent["layers"].values())


def test_the_jobs_are_known_to_the_worker():
    assert {"sensitivity", "layer-look", "activation-look"} <= set(TASKS)
    spec = {"kind": "sensitivity", "workspace": "w", "variant": "v", "bits": [8, 4]}
    assert Job(id="j", title="t", spec=spec).spec == SensitivitySpec(workspace="w", variant="v", bits=(8, 4))
