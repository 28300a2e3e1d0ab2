"""Where an export goes: a folder that's made beside its place, checked there, and renamed into it when it's whole.

Covers what every format has in common; nothing of the formats themselves.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import traceback
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from core.errors import UserError, is_no_space, no_space

MADE_BY = "spokeshave"
REPORT = "export_report.json"


def is_ours(folder: Path) -> bool:
    """Whether a folder holds an earlier export of Spokeshave's."""
    try:
        return json.loads((folder / REPORT).read_text(encoding="utf-8")).get("made_by") == MADE_BY
    except (OSError, ValueError, AttributeError):
        return False


def check_target(to: Path, overwrite: bool) -> None:
    """Raises UserError where `to` is taken: by a file, by anything that isn't an earlier export, by one that may not be replaced."""
    if to.is_file():
        raise UserError("{path} is a file, and an export is a folder.", hint="Choose another name.", path=str(to))
    if not to.is_dir() or not any(to.iterdir()):
        return
    if not is_ours(to):
        raise UserError(
            "{path} isn't empty, and what is in it isn't an earlier export.",
            hint="Choose a new or an empty folder.",
            path=str(to),
        )
    if not overwrite:
        raise UserError(
            "{path} holds an earlier export.",
            hint="Choose another folder, or ask for the earlier export to be replaced.",
            path=str(to),
        )


@contextlib.contextmanager
def partial(to: Path) -> Iterator[Path]:
    """A work folder beside `to`, on the same disk so that it can be renamed; removed at the end, whatever happened.

    What an export to the same place left when it was killed is removed first. One that is still at work holds the lock. A disk that's
    full is told as the one of that place, whatever was being written there.
    """
    try:
        with _locked(to) as work:
            yield work
    except Exception as error:
        if not is_no_space(error):
            raise
        raise no_space(_full(error, to), (error.detail if isinstance(error, UserError) else "") or traceback.format_exc()) from error


def _full(error: Exception, to: Path) -> str:
    """The folder whose disk is full: that of the export, unless the system named a file elsewhere."""
    file = getattr(error, "filename", None)
    return str(Path(file).parent if isinstance(file, str) and to.parent not in Path(file).parents else to.parent)


@contextlib.contextmanager
def _locked(to: Path) -> Iterator[Path]:
    to.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(to.parent / f".partial-{to.name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UserError("Another export to {path} is running.", hint="Wait for it, or choose another folder.", path=str(to)) from None
    try:
        for dead in to.parent.glob(f".partial-{glob_escape(to.name)}-*"):
            shutil.rmtree(dead, ignore_errors=True)
        work = to.parent / f".partial-{to.name}-{secrets.token_hex(4)}"
        work.mkdir()
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(lock.lock_file)
        lock.release()


def glob_escape(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def move_into_place(made: Path, to: Path, work: Path) -> None:
    """Renames; an earlier export is set aside first, and comes back should the rename fail."""
    if not to.exists():
        os.rename(made, to)
        return
    aside = work / "earlier"
    os.rename(to, aside)
    try:
        os.rename(made, to)
    except OSError:
        os.rename(aside, to)
        raise
