"""The job about attention heads: what they're worth, the loss without some of them, and the curve as they go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

import resources
from core import methods
from core.data import labels as labelled
from core.data import text as texts
from core.data.text import Text
from core.errors import UserError
from core.evaluate import accuracy
from core.methods import head_map, importance, training
from core.methods.calibration import CalibrationParams
from core.methods.importance import Examples
from core.models import load, surgery
from core.models.surgery import Anatomy
from core.records import HeadMap, HeadsSpec, Job, Variant
from core.run import Run
from core.worker import pictures
from core.workspace import Workspace

LEARNT_SHARE = 0.8  # of a text of the person's own: importance is computed on it, losses are measured on the rest
MOST_EXAMPLES = 1000  # of the held-out ones, on which a classifier is measured


@dataclass
class _Work:
    """The model and what it's looked at with."""

    spec: HeadsSpec
    folder: Path
    given: methods.Given
    model: Any
    shape: Anatomy
    run: Run

    def learnt(self) -> tuple[Examples, dict[str, Any]]:
        """(the examples that importance is computed on, the conditions)."""
        params = CalibrationParams(windows=self.spec.windows, context=self.spec.context)
        found, notes = importance.draw(self.model, self.given, params, self.run)
        for note in notes:
            self.run.log(note)
        source = self.given.labels if found.labelled else self.given.text
        return found, head_map.conditions(
            found,
            data=source.name,
            data_hash=source.sha256,
            windows=self.spec.windows,
            context=self.spec.context,
            seed=self.spec.seed,
            device=self.run.device,
        )

    def map(self, leave_out: bool = False) -> HeadMap:
        found, known = self.learnt()
        path = head_map.file_of(self.folder, known)
        return head_map.make(self.model, self.shape, found, known, self.run, path=path, leave_out=leave_out, seed=self.spec.seed)

    def heldout(self) -> Examples:
        """What importance wasn't computed on."""
        if self.given.labels is not None:
            rows = sample(labelled.split(self.given.labels).heldout)
            return importance.labelled(self.model, self.given, rows, self.spec.context)
        aside = replace(self.given, text=_text(self.spec, heldout=True), seed=self.spec.seed + 1)
        found, _ = importance.draw(self.model, aside, CalibrationParams(windows=self.spec.windows, context=self.spec.context), self.run)
        return found


def sample(rows: Sequence[int], most: int = MOST_EXAMPLES) -> list[int]:
    """No more than `most` of the rows, always the same; drawn from all of them, since a file may be in the order of its classes."""
    order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(0))[:most]
    return [rows[i] for i in sorted(order.tolist())]


def measure_heads(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, HeadsSpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    pictures.refuse(variant, "heads")
    if variant.info.quantization:
        raise UserError(
            "{name} is quantized, so what its heads are worth can't be judged.",
            hint="Choose the variant that it was made from.",
            kind="model",
            name=variant.name,
        )
    run.stage("Loading", variant.name)
    folder = workspace.path(variant.id)
    loaded = load.load(folder, device=run.device, dtype="float32")
    shape = surgery.anatomy(loaded.model)
    bad = [unit for unit in spec.off if not (0 <= unit[0] < shape.layers and 0 <= unit[1] < shape.units)]
    if bad:
        raise UserError(
            "There is no head {unit} in {name}.",
            hint="Open the map again.",
            kind="usage",
            unit=".".join(map(str, bad[0])),
            name=variant.name,
        )
    given = methods.Given(
        tokenizer=loaded.tokenizer,
        folder=folder,
        info=variant.info.model_copy(update={"name": variant.name}),
        text=_text(spec),
        labels=_labels(spec, variant),
        seed=spec.seed,
        device=run.device,
    )
    work = _Work(spec, folder, given, loaded.model, shape, run)
    return {"importance": _importance, "loss": _loss, "curve": _curve}[spec.action](work)


def _importance(work: _Work) -> dict[str, Any]:
    return {"map": work.map(work.spec.leave_out).model_dump(mode="json")}


def _loss(work: _Work) -> dict[str, Any]:
    known, examples = work.map(), work.heldout()
    base = importance.loss(work.model, examples, work.run)
    out: dict[str, Any] = {"base": base, "tokens": int(examples.tokens), "measure": head_map.measure_of(examples)}
    with importance.silenced(work.model, work.shape, work.spec.off):
        out["loss"] = importance.loss(work.model, examples, work.run)
        if examples.task == "classifier":
            out["accuracy"] = importance.accuracy(work.model, examples, work.run)
    if examples.task == "classifier":
        before = out["base_accuracy"] = importance.accuracy(work.model, examples, work.run)
        out["examples"] = examples.count
        out["interval"] = list(accuracy.wilson(round(before * examples.count), examples.count))
    words = examples.task == "causal-lm"
    out["perplexity"] = training.exp(out["loss"]) if words else None
    out["base_perplexity"] = training.exp(base) if words else None
    out["predicted"] = head_map.predicted(known, base, work.spec.off)
    return out


def _curve(work: _Work) -> dict[str, Any]:
    criterion = work.spec.criterion
    known, examples = work.map(criterion == "leave_out"), work.heldout()
    queue = head_map.order(known, criterion, work.spec.off)

    def tell(count: int, value: float) -> None:
        work.run.metric(f"heads/curve/{criterion}", count, value)

    points = head_map.curve(work.model, work.shape, examples, queue, work.run, tell)
    out = {"points": [list(p) for p in points], "total": len(queue), "measure": head_map.measure_of(examples), "criterion": criterion}
    if examples.task == "classifier":
        out["interval"] = list(accuracy.wilson(round(points[0][1] * examples.count), examples.count))
    return out


def _labels(spec: HeadsSpec, variant: Variant) -> labelled.Labels | None:
    """A classifier's labels: those named, else those that it learnt from."""
    wanted = spec.labels or variant.recipe.labels
    return labelled.read_labels(wanted) if wanted and variant.info.task == "classifier" else None


def _text(spec: HeadsSpec, heldout: bool = False) -> Text:
    """The starter's two texts, or two parts of the person's own."""
    if spec.text is None:
        return texts.read_text(resources.HELDOUT_TEXT if heldout else resources.TRAIN_TEXT)
    whole = texts.read_text(spec.text)
    cut = int(LEARNT_SHARE * len(whole.content))
    content = whole.content[cut:] if heldout else whole.content[:cut]
    return Text(whole.name, whole.path, content, whole.sha256)
