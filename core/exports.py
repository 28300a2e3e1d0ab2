"""Exported folders as the workspace remembers them, and as targets and drafts of the decode lab.

A variant's folder lists what was exported of it (exports.jsonl); the exports themselves lie wherever the person put them, and may be
gone or replaced by now. `onnx:FOLDER` names one where a variant's id could stand. Nothing of ONNX itself is read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from core.errors import UserError
from core.records import ExportRecord, Variant
from core.workspace import Workspace, read_json

PREFIX = "onnx:"
REPORT = "export_report.json"


def reference(folder: str | Path) -> str:
    """What names an exported folder where a variant's id could stand."""
    return f"{PREFIX}{Path(folder).expanduser().absolute()}"


def folder_of(name: str) -> Path | None:
    """The folder that `reference` named; None for a variant."""
    return Path(name.removeprefix(PREFIX)) if name.startswith(PREFIX) else None


def holds_graph(folder: Path) -> bool:
    """Whether a folder looks like an ONNX export: a graph in it, or where Transformers.js looks for one."""
    return (folder / "model.onnx").is_file() or any((folder / "onnx").glob("*.onnx"))


def why_not(record: ExportRecord) -> str:
    """Why a remembered export can't be used any more, as a sentence; '' where it can."""
    folder = Path(record.folder)
    if not folder.is_dir():
        return "Its folder isn't there any more."
    try:
        report = read_json(folder / REPORT)
    except (UserError, OSError):
        return "Its folder holds something else by now."
    if report.get("made") != record.made:
        return "Another export lies in its folder by now."
    needed = sum(report.get(key) or 0 for key in ("graph_bytes", "data_bytes"))
    there = sum(path.stat().st_size for path in folder.rglob("*.onnx*") if path.is_file())
    return "" if there >= needed else "Some of its files are missing or cut short."


def title(record: ExportRecord, words: Mapping[str, str] = MappingProxyType({})) -> str:
    """What tells one export of a variant from another: 'fast, 8-bit, rounded'. words: in another language."""
    weights = record.weights.split(",")[0].replace(" integers", "")
    parts = (record.profile, weights, "rounded" if record.activations == "int8" else "")
    return ", ".join(words.get(part, part) for part in parts if part)


def models(workspace: Workspace, variants: Iterable[Variant], words: Mapping[str, str] = MappingProxyType({})) -> list[Variant]:
    """The exports of text generators among `variants` that are still there, each as its variant with the export's name and size.

    words: of `title`.
    """
    out = []
    for variant in variants:
        if variant.info.task != "causal-lm":
            continue
        records = [record for record in workspace.exports(variant.id) if not why_not(record)]
        titles = [title(record, words) for record in records]
        for record, said in zip(records, titles, strict=True):
            ledger = variant.ledger.model_copy(update={"bytes_on_disk": record.bytes})
            alike = titles.count(said) > 1  # in two precisions of one kind, say: the folder tells them apart
            name = f"{variant.name} ({said}, {Path(record.folder).name})" if alike else f"{variant.name} ({said})"
            changes = {"id": reference(record.folder), "name": name, "parent": variant.id, "ledger": ledger, "created": record.made}
            out.append(variant.model_copy(update=changes))
    return out


def gone(workspace: Workspace, variants: Iterable[Variant]) -> dict[str, str]:
    """Why each remembered export that can't be used any more can't, by what names it where a variant's id could stand."""
    records = [record for variant in variants for record in workspace.exports(variant.id)]
    return {reference(record.folder): why for record in records if (why := why_not(record))}


def find(workspace: Workspace, folder: str | Path) -> tuple[Variant, ExportRecord] | None:
    """The variant that an exported folder was made from, and what's remembered of it; None where the workspace doesn't know it."""
    wanted = str(Path(folder).expanduser().absolute())
    for variant in workspace.variants():
        for record in workspace.exports(variant.id):
            if record.folder == wanted and not why_not(record):
                return variant, record
    return None
