"""Workspace: a folder that holds variants, and the rules that keep it whole.

    <workspace>/workspace.json                      format number, settings
    <workspace>/variants/<id>/                      what transformers loads, plus:
        variant.json  recipe.yaml  measurements.jsonl  exports.jsonl  job.log
    <workspace>/runs/<name>.jsonl                   recorded decodes
    <workspace>/logs/<job>.log                      the log of a job while it runs
    <workspace>/.staging/<id>/                      a variant being written; its lock is held by the process that writes it

A variant is written in staging, checked there, and renamed into place; readers see all of it or nothing. Several
processes may use one workspace: ids are drawn at random, renames are atomic, appends and renames take a lock, and a
staging folder whose writer has died is swept away by the next process that opens the workspace.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import ValidationError

from core.errors import UserError
from core.params import nearest
from core.records import ExportRecord, Measurement, Record, Variant

FORMAT = 1
OURS = ("variant.json", "recipe.yaml", "measurements.jsonl", "exports.jsonl", "job.log", ".lock")  # files of ours in a variant's folder


class Settings(Record):
    spokeshave: int = FORMAT
    text: str | None = None  # evaluation text; None: the held-out starter text


class Workspace:
    """Opens (or with create=True makes) a workspace. Cheap; holds no lock and no cache."""

    def __init__(self, folder: str | Path, *, create: bool = False):
        self.folder = Path(folder).expanduser().absolute()
        marker = self.folder / "workspace.json"
        if not marker.exists():
            if not create:
                raise UserError(
                    "{folder} is not a Spokeshave workspace.",
                    hint="Import a model into it first, or choose another folder.",
                    folder=str(self.folder),
                )
            if self._strange() and not (self.folder / "variants").is_dir() and not marker.exists():
                raise UserError(
                    "{folder} holds other files, so it can't become a workspace.",
                    hint="Choose an empty folder or a new name.",
                    folder=str(self.folder),
                )
            if not marker.exists():
                self._make(marker)
        self.settings = self._read_settings(marker)
        for name in ("variants", "runs", "logs", ".staging"):
            with contextlib.suppress(OSError):  # a workspace on a read-only disk can still be looked at
                (self.folder / name).mkdir(exist_ok=True)
        self.sweep()

    def _strange(self) -> bool:
        """Whether the folder holds files; the marker that another process is just writing isn't one."""
        return self.folder.is_dir() and any(not p.name.startswith(".workspace.json.") for p in self.folder.iterdir())

    def _make(self, marker: Path) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(marker, Settings().model_dump_json(indent=1))
        except OSError as error:
            why = "the disk is full" if error.errno == errno.ENOSPC else "there is no permission to write there"
            if error.errno not in (errno.ENOSPC, errno.EACCES, errno.EPERM, errno.EROFS):
                why = os.strerror(error.errno or 0)
            raise UserError(
                "The workspace {folder} can't be made: {why}.", hint="Choose another folder.", kind="disk", folder=str(self.folder), why=why
            ) from error

    def _read_settings(self, marker: Path) -> Settings:
        try:
            settings = Settings.model_validate_json(marker.read_text(encoding="utf-8"))
        except (ValidationError, OSError, UnicodeDecodeError) as error:
            raise UserError(
                "{path} is damaged.", hint="Restore it, or import the models into a new workspace.", path=str(marker), detail=str(error)
            ) from None
        if settings.spokeshave > FORMAT:
            raise UserError(
                "This workspace was made by a later Spokeshave (format {theirs}, this one knows {ours}).",
                hint="Update Spokeshave.",
                theirs=settings.spokeshave,
                ours=FORMAT,
            )
        return settings

    # -- reading

    @property
    def variants_folder(self) -> Path:
        return self.folder / "variants"

    def path(self, variant: str) -> Path:
        return self.variants_folder / variant

    def ids(self) -> list[str]:
        try:
            return sorted(p.name for p in self.variants_folder.iterdir() if (p / "variant.json").is_file() and not p.name.startswith("."))
        except FileNotFoundError:
            return []

    def variant(self, variant: str) -> Variant:
        """The variant of that id, or of that name where just one has it. Raises UserError."""
        if not variant or Path(variant).name != variant:
            raise UserError("{variant} isn't the id of a variant.", hint="Look at the list of variants.", variant=repr(variant))
        record = self.path(variant) / "variant.json"
        try:
            return Variant.model_validate_json(record.read_text(encoding="utf-8"))
        except FileNotFoundError:
            named = [v for v in self.variants() if v.name == variant]
            if len(named) == 1:
                return named[0]
            if named:
                raise UserError(
                    "{count} variants are called {name}: {ids}.",
                    hint="Say by its id which one is meant.",
                    count=len(named),
                    name=variant,
                    ids=", ".join(v.id for v in named),
                ) from None
            raise UserError(
                "There is no variant {variant} in this workspace.{suggestion}",
                hint="Look at the list of variants.",
                variant=variant,
                suggestion=nearest(variant, self.ids()),
            ) from None
        except (ValidationError, UnicodeDecodeError) as error:
            raise UserError(
                "The record of variant {variant} is damaged.",
                hint="Its model files are still in {folder}; import that folder again.",
                variant=variant,
                folder=str(self.path(variant)),
                detail=str(error),
            ) from None

    def variants(self) -> list[Variant]:
        """All readable variants, oldest first. A damaged record is left out here and reported by `variant`."""
        out = []
        for name in self.ids():
            with contextlib.suppress(UserError, OSError):
                out.append(self.variant(name))
        return sorted(out, key=lambda v: (v.created, v.id))

    def root(self, variant: Variant) -> Variant:
        """The original that a variant came from (itself, where that is gone)."""
        seen = {variant.id}
        while variant.parent and variant.parent not in seen:
            seen.add(variant.parent)
            try:
                variant = self.variant(variant.parent)
            except UserError:
                break
        return variant

    def children(self, variant: str) -> list[Variant]:
        return [v for v in self.variants() if v.parent == variant]

    def measurements(self, variant: str) -> list[Measurement]:
        """Everything measured on a variant, oldest first; a last line cut short by a crash is passed over."""
        out = []
        try:
            lines = (self.path(variant) / "measurements.jsonl").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        for line in lines:
            with contextlib.suppress(ValidationError):
                out.append(Measurement.model_validate_json(line))
        return out

    def exports(self, variant: str) -> list[ExportRecord]:
        """What was exported of a variant, oldest first: of each folder the latest export. Whether they're still there: core.exports."""
        found: dict[str, ExportRecord] = {}
        try:
            lines = (self.path(variant) / "exports.jsonl").read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        for line in lines:
            with contextlib.suppress(ValidationError):
                record = ExportRecord.model_validate_json(line)
                found.pop(record.folder, None)
                found[record.folder] = record
        return list(found.values())

    def stamp(self) -> tuple:
        """Changes when any variant or measurement was added or removed, by whichever process."""
        out = []
        for name in self.ids():
            for file in ("variant.json", "measurements.jsonl", "exports.jsonl"):
                with contextlib.suppress(OSError):
                    info = (self.path(name) / file).stat()
                    out.append((name, file, info.st_mtime_ns, info.st_size))
        return tuple(out)

    # -- writing

    @contextlib.contextmanager
    def staging(self, variant: str) -> Iterator[Path]:
        """A folder to write a variant into. What isn't `commit`ted by the end is removed, whatever happened."""
        home = self.folder / ".staging"
        home.mkdir(exist_ok=True)
        lock = FileLock(home / f"{variant}.lock")
        with lock:
            folder = home / variant
            folder.mkdir()
            try:
                yield folder
            finally:
                shutil.rmtree(folder, ignore_errors=True)
                with contextlib.suppress(OSError):
                    os.unlink(lock.lock_file)

    def commit(self, staged: Path, variant: Variant, log: Path | None = None) -> Path:
        """Writes the record beside the staged files and renames the folder into place. Atomic."""
        write_atomically(staged / "variant.json", variant.model_dump_json(indent=1))
        write_atomically(staged / "recipe.yaml", variant.recipe.to_yaml())
        if log and log.exists():
            shutil.copyfile(log, staged / "job.log")
        _sync(staged)
        target = self.path(variant.id)
        os.rename(staged, target)
        return target

    def update(self, variant: Variant) -> None:
        """Replaces a variant's record (a new name, a measured memory figure)."""
        with self.lock(variant.id):
            write_atomically(self.path(variant.id) / "variant.json", variant.model_dump_json(indent=1))

    def add_measurements(self, variant: str, measured: list[Measurement]) -> None:
        lines = "".join(m.model_dump_json() + "\n" for m in measured)
        with self.lock(variant), open(self.path(variant) / "measurements.jsonl", "a", encoding="utf-8") as out:
            out.write(lines)

    def add_export(self, variant: str, record: ExportRecord) -> None:
        with self.lock(variant), open(self.path(variant) / "exports.jsonl", "a", encoding="utf-8") as out:
            out.write(record.model_dump_json() + "\n")

    def forget_export(self, variant: str, folder: str) -> None:
        """Forgets an export; its folder isn't touched."""
        with self.lock(variant):
            kept = [record for record in self.exports(variant) if record.folder != folder]
            write_atomically(self.path(variant) / "exports.jsonl", "".join(record.model_dump_json() + "\n" for record in kept))

    def delete(self, variant: str) -> None:
        """Removes a variant. Raises UserError where others were made from it: they'd lose their lineage."""
        record = self.variant(variant)
        made = self.children(record.id)
        if made:
            raise UserError(
                "{name} can't be deleted while {others} came from it.",
                hint="Delete those first.",
                name=record.name,
                others=", ".join(v.name for v in made),
            )
        with self.lock(record.id):
            bin = Path(tempfile.mkdtemp(prefix="deleted-", dir=self.folder / ".staging"))
            os.rename(self.path(record.id), bin / record.id)
        shutil.rmtree(bin, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(self.folder / ".staging" / f"{record.id}.use")

    def save_settings(self, **changes) -> None:
        self.settings = self.settings.model_copy(update=changes)
        write_atomically(self.folder / "workspace.json", self.settings.model_dump_json(indent=1))

    def lock(self, variant: str) -> FileLock:
        """A lock on a variant's small files, shared between processes."""
        return FileLock(self.folder / ".staging" / f"{variant}.use", timeout=30)

    def log_path(self, job: str) -> Path:
        return self.folder / "logs" / f"{job}.log"

    def sweep(self) -> list[str]:
        """Removes what a writer that died left in staging; returns what was removed. A living writer's is left alone."""
        removed = []
        home = self.folder / ".staging"
        if not home.is_dir() or not os.access(home, os.W_OK):
            return removed
        for folder in [p for p in home.iterdir() if p.is_dir()]:
            if folder.name.startswith("deleted-"):
                shutil.rmtree(folder, ignore_errors=True)
                continue
            lock = FileLock(home / f"{folder.name}.lock")
            try:
                with lock.acquire(timeout=0):
                    shutil.rmtree(folder, ignore_errors=True)
                    removed.append(folder.name)
            except (Timeout, OSError):
                continue
            with contextlib.suppress(OSError):
                os.unlink(lock.lock_file)
        return removed


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """The wanted name, with a number after it where it's taken."""
    names = set(taken)
    if wanted not in names:
        return wanted
    return next(f"{wanted} ({n})" for n in range(2, len(names) + 3) if f"{wanted} ({n})" not in names)


def write_atomically(path: Path, text: str | bytes) -> None:
    """Writes beside, flushes to disk, renames: a reader finds the old text or the new, and a full disk loses neither."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as out:
            out.write(text.encode("utf-8") if isinstance(text, str) else text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def read_json(path: Path) -> dict:
    """A JSON object from a file; UserError where it isn't one."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError("{path} is missing.", hint="Check the folder.", path=str(path)) from None
    except (ValueError, UnicodeDecodeError) as error:
        raise UserError("{path} isn't valid JSON.", hint="Download or write it again.", path=str(path), detail=str(error)) from None
    if not isinstance(data, dict):
        raise UserError("{path} doesn't hold a JSON object.", hint="Download or write it again.", path=str(path))
    return data
