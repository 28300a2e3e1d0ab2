"""Jobs that look into a variant layer by layer, and change nothing: its weights on their grid, what its layers are fed.

Covers finding what it was made from, and keeping what took long in the variant's folder.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import resources
from core.data import text as texts
from core.methods import calibration
from core.models import activation_look, layer_look, load
from core.records import ActivationLookSpec, Job, LayerLookSpec, Variant
from core.run import Run
from core.workspace import Workspace, write_atomically


def look_at_layer(job: Job, run: Run) -> dict[str, Any]:
    """Of a quantized variant; 'before' is the nearest ancestor that isn't."""
    spec = job.spec
    assert isinstance(spec, LayerLookSpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    before = _unquantized(workspace, variant)
    found = layer_look.look(workspace.path(variant.id), workspace.path(before.id) if before else None, spec.layer)
    return found | {"before": before.name if before else None}


def _unquantized(workspace: Workspace, variant: Variant) -> Variant | None:
    """The nearest ancestor that isn't quantized, or the variant itself; None where there's none, or it was deleted."""
    while variant.info.quantization:
        if not variant.parent or variant.parent not in workspace.ids():
            return None
        variant = workspace.variant(variant.parent)
    return variant


def look_at_activations(job: Job, run: Run) -> dict[str, Any]:
    """Of any variant that reads text; of a quantized one beside what it was made from. Kept in the variant's folder."""
    spec = job.spec
    assert isinstance(spec, ActivationLookSpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    before = _unquantized(workspace, variant)
    before = None if before is None or before.id == variant.id else before
    words = texts.read_text(spec.text or resources.TRAIN_TEXT)
    conditions = {
        "variant": variant.fingerprint,
        "before": before.fingerprint if before else None,
        "text": words.name,
        "text_hash": words.sha256,
        "windows": spec.windows,
        "context": spec.context,
        "seed": spec.seed,
        "device": run.device,
    }
    digest = hashlib.sha256(json.dumps(conditions, sort_keys=True).encode()).hexdigest()[:12]
    path = workspace.path(variant.id) / f"activations-{digest}.json"
    if path.is_file():
        path.touch()  # so that the latest asked for is the latest
        return {"file": str(path)}
    run.stage("Loading", variant.name)
    loaded = load.load(workspace.path(variant.id), device=run.device, dtype="float32")
    settings = calibration.CalibrationParams(windows=spec.windows, context=spec.context)
    ids, notes = calibration.draw(words, loaded.tokenizer, settings, variant.info, spec.seed, run)
    for note in notes:
        run.log(note)
    after = activation_look.watch(loaded.model, ids, run, "Reading the text")
    like = activation_look.grids(loaded.model)
    del loaded
    was = None
    if before is not None:
        run.stage("Loading", before.name)
        dense = load.load(workspace.path(before.id), device=run.device, dtype="float32")
        was = activation_look.watch(dense.model, ids, run, "Reading the text, as it was before", like)
        del dense
    conditions |= {"windows": len(ids), "context": ids.shape[1]}
    made = {"layers": activation_look.compare(was, after), "conditions": conditions, "before": before.name if before else None}
    write_atomically(path, json.dumps(made))
    return {"file": str(path)}
