"""Jobs on exported folders: decoding, comparing and classifying with them, and looking into them; and how a workspace remembers one."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from core import exports, providers
from core.decode.side_by_side import BUSY, side_by_side
from core.errors import UserError
from core.export import classify, drawing, seq2seq
from core.export.contents import contents
from core.export.runtime import data_problem, graph_file
from core.export.scorer import load_exported
from core.methods.distillation import fewer_steps
from core.models import devices, diffusion, load
from core.records import ClassifyExportSpec, CompareExportSpec, DrawExportSpec, ExportRecord, Job, LookExportSpec, SourceInfo, Variant
from core.run import Run
from core.worker import pictures
from core.workspace import Workspace, read_json

# ---- in a variant's place -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exported:
    """An export where a variant could stand: what the jobs that generate ask of one."""

    id: str
    name: str
    folder: Path
    provider: str
    fingerprint: str  # of the files as they are now, and of who computes
    info: SourceInfo = field(compare=False)

    def loaded(self, run: Run) -> Any:
        made = load_exported(self.folder, name=self.name, threads=torch.get_num_threads(), provider=self.provider)
        note = providers.fallback_note(self.provider, made.model.provider)
        if note:
            run.warn(note)
        return made


def named(workspace: Workspace | None, name: str, provider: str = "") -> Variant | Exported:
    """The variant or the export of that name. Raises UserError where there's none."""
    folder = exports.folder_of(name)
    if folder is None:
        if workspace is None:
            raise UserError("{name} is a variant's name, and no workspace was given.", hint="Name its workspace.", kind="usage", name=name)
        return workspace.variant(name)
    if not folder.is_dir():
        raise UserError(
            "The export's folder {folder} isn't there any more.", hint="Choose another, or export again.", kind="model", folder=str(folder)
        )
    graph = graph_file(folder)
    at = graph.stat() if graph.is_file() else None
    stamp = f"{at.st_mtime_ns} {at.st_size}" if at else ""
    title = f"{folder.name} (ONNX)"
    info = SourceInfo(source=str(folder), kind="folder", name=title, task="causal-lm")
    return Exported(name, title, folder, provider, f"{stamp} {provider}", info)


def path(workspace: Workspace | None, one: Variant | Exported) -> Path:
    """The folder that it lies in."""
    if isinstance(one, Exported) or workspace is None:
        return one.folder
    return workspace.path(one.id)


def fallbacks(wanted: Sequence[Variant | Exported], loaded: Sequence[Any]) -> list[str]:
    """What to say of exports that another provider computes than was asked for, each sentence once."""
    said = [
        providers.fallback_note(one.provider, got.model.provider)
        for one, got in zip(wanted, loaded, strict=True)
        if isinstance(one, Exported)
    ]
    return list(dict.fromkeys(note for note in said if note))


def refuse_dtype(one: Variant | Exported, dtype: str) -> None:
    """Raises UserError where an export is to compute in a dtype: its graph says in which it does."""
    if isinstance(one, Exported) and dtype not in ("auto", "float32"):
        raise UserError(
            "{name} is an ONNX export: what it computes in was chosen when it was made.",
            hint="Leave the data type as it is, or export the variant in that precision.",
            kind="usage",
            name=one.name,
        )


def source(workspace: Workspace, one: Variant | Exported) -> Variant | None:
    """The variant itself, or that which an export was made from; None where the workspace doesn't know."""
    if isinstance(one, Variant):
        return one
    found = exports.find(workspace, one.folder)
    return found[0] if found else None


# ---- remembering --------------------------------------------------------------------------------------------------


def remember(workspace: Workspace, variant: str, folder: Path, report: dict[str, Any]) -> None:
    """Notes an export with its variant. The export is whole: a workspace that can't be written to loses only its note of it."""
    names = ("task", "profile", "weights", "activations", "bytes", "max_abs", "top1", "kl")
    known = {name: report[name] for name in names if report.get(name) is not None}
    record = ExportRecord(folder=str(folder.absolute()), made=str(report.get("made", "")), **known)
    with contextlib.suppress(OSError):
        workspace.add_export(variant, record)


# ---- jobs ---------------------------------------------------------------------------------------------------------


def compare(job: Job, run: Run) -> dict[str, Any]:
    """Original, variant and export on the person's prompts. See core.decode.side_by_side; `forms` are 'original' (left out where the
    variant is one), 'variant' and 'export'. Also {provider, notes}."""
    spec = job.spec
    assert isinstance(spec, CompareExportSpec)
    workspace = Workspace(spec.workspace)
    export = named(workspace, exports.reference(spec.folder), spec.provider)
    assert isinstance(export, Exported)
    variant = _source(workspace, spec.folder, spec.variant)
    root = workspace.root(variant)
    models: dict[str, Any] = {}
    notes = []
    forms = [("original", root)] if root.id != variant.id else []
    if forms and root.info.task != "causal-lm":
        forms = []
    needed = sum(4 * (one.info.parameters or 0) for _, one in [*forms, ("variant", variant)]) + _bytes(export.folder)
    if needed > devices.free_bytes("cpu"):
        if forms:
            notes.append("The original is left out: there isn't enough memory for all three at once.")
        forms = []
    for key, one in [*forms, ("variant", variant)]:
        run.stage("Loading", one.name)
        models[key] = load.load(workspace.path(one.id), device="cpu", dtype="float32")
        models[key].info = models[key].info.model_copy(update={"name": one.name})
    run.stage("Loading", export.name)
    models["export"] = export.loaded(run)
    result = side_by_side(models, spec.prompts, spec.max_new_tokens, run)
    got = models["export"].model.provider
    if note := providers.fallback_note(spec.provider, got):
        notes.append(note)
    if result["busy"] > BUSY:
        notes.append(f"Other programs used {result['busy']:.0%} of the processors meanwhile, so the speeds are lower than they could be.")
    return result | {"provider": got, "notes": notes}


def classified(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, ClassifyExportSpec)
    workspace = Workspace(spec.workspace)
    export = named(workspace, exports.reference(spec.folder), spec.provider)
    assert isinstance(export, Exported)
    variant = _source(workspace, spec.folder, spec.variant)
    run.stage("Loading", variant.name)
    beside = load.load(workspace.path(variant.id), device="cpu", dtype="float32")
    run.stage("Loading", export.name)
    threads = torch.get_num_threads()
    found = classify.classified(export.folder, spec.texts, run, beside=beside, provider=spec.provider, threads=threads)
    note = providers.fallback_note(spec.provider, found["provider"])
    return found | {"variant": variant.name, "notes": [note] if note else []}


def drawn(job: Job, run: Run) -> dict[str, Any]:
    """{png (torch's images above, the export's below), count, steps, largest (difference of two pixels in [-1, 1]), seconds of an image:
    {torch, export}, variant, provider, notes}."""
    spec = job.spec
    assert isinstance(spec, DrawExportSpec)
    workspace = Workspace(spec.workspace)
    variant = _source(workspace, spec.folder, spec.variant)
    run.stage("Loading", variant.name)
    beside = diffusion.load(workspace.path(variant.id))
    made, got = drawing.load_drawer(Path(spec.folder), threads=torch.get_num_threads(), provider=spec.provider)
    steps = spec.steps or made.steps or min(pictures.STEPS, made.schedule.total)
    if steps > made.schedule.total:
        raise UserError(
            "{name} knows {levels} levels of noise, so it can't draw in {steps} steps.",
            hint="Choose fewer steps.",
            kind="usage",
            name=variant.name,
            levels=made.schedule.total,
            steps=steps,
        )
    images, seconds = {}, {}
    for who, model in (("torch", beside), ("export", made)):
        run.stage("Drawing")
        model.draw(1, 1, seed=spec.seed)  # the first call is slower than the others
        begun = time.perf_counter()
        images[who] = model.draw(spec.count, steps, seed=spec.seed, tell=lambda _: run.check_cancelled())[0]
        seconds[who] = (time.perf_counter() - begun) / spec.count
    both = torch.stack([images["torch"], images["export"]])  # (2, count, channels, height, width)
    note = providers.fallback_note(spec.provider, got)
    return {
        "png": fewer_steps.rows_of(both),
        "count": spec.count,
        "steps": steps,
        "largest": float((both[0] - both[1]).abs().max()),
        "seconds": seconds,
        "variant": variant.name,
        "provider": got,
        "notes": [note] if note else [],
    }


def look(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, LookExportSpec)
    folder = Path(spec.folder)
    report = read_json(folder / exports.REPORT) if (folder / exports.REPORT).is_file() else {}
    graph = folder / seq2seq.DECODER if (folder / seq2seq.DECODER).is_file() else graph_file(folder)
    found = {"contents": contents(graph), "report": report, "graph": str(graph)}
    problem = data_problem(graph)
    return found | {"problem": {"template": problem.template, "values": problem.values} if problem else None}


def offered(job: Job, run: Run) -> dict[str, Any]:
    try:
        import onnxruntime  # a thread and half a second, so not before it's asked for
    except ImportError:
        return {"providers": []}
    return {"providers": providers.offered(onnxruntime.get_available_providers())}


def _source(workspace: Workspace, folder: str, asked: str | None) -> Variant:
    if asked:
        return workspace.variant(asked)
    found = exports.find(workspace, folder)
    if found is None:
        raise UserError(
            "This workspace doesn't know which of its variants {folder} was exported from.",
            hint="Say which one it was.",
            kind="usage",
            folder=folder,
        )
    return found[0]


def _bytes(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
