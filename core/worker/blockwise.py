"""Jobs that take long: begun again where they stopped; and those that go block by block run on models larger than memory.

    <workspace>/.unfinished/<key>/     the finished blocks of a job that crashed, ran out of memory or found the disk full,
                                       or the state of its training

The key says what was done to what: the parent's weights, method, settings, seed, text, labels, versions, device. A job with the same
key goes on after the last finished block, or after the last step whose state was written. What was cancelled, or is done, leaves
nothing; what nobody came back to is removed after a week. Where the model doesn't fit into memory, its blocks are read from disk one
at a time and the variant's files are made of the finished ones; it's checked on as many first blocks as do fit. Decides where things
lie, and no maths.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from core.data.text import Text
from core.errors import Cancelled
from core.methods import Method, estimates
from core.models import devices, load, streamed, verify
from core.models.streamed import Finished, InMemory, Streamed
from core.params import Params
from core.recipe import Step
from core.records import SourceInfo, Variant
from core.run import Run
from core.workspace import Workspace

KEPT_SECONDS = 7 * 24 * 3600
ROOM = 1.2  # of a model's bytes: what working on it needs beside


@dataclass(frozen=True)
class Place:
    """What a job has to go on from. `home`: where the blocks are while a method goes through them; `streamed`: the same where the model
    isn't in memory; `work`: a folder for a method that keeps its own state."""

    home: InMemory | Streamed | None = None
    work: Path | None = None

    @property
    def streamed(self) -> Streamed | None:
        return self.home if isinstance(self.home, Streamed) else None


@contextlib.contextmanager
def place(
    workspace: Workspace, parent: Variant, method: Method, params: Params, step: Step, text: Text | None, libraries: dict, run: Run
) -> Iterator[Place | None]:
    """None where the method neither goes block by block nor trains, or needs so little time that nothing need be kept for another try."""
    if method.resumable:
        with _kept_work(workspace, fingerprint(parent, method, params, step, text, libraries, run.device)) as work:
            yield Place(work=work)
        return
    folder = workspace.path(parent.id)
    large = method.blockwise and parent.info.quantization is None and too_large(parent.info, run.device)
    if not large and not (method.blockwise and "calibration" in method.info.needs):
        yield None
        return
    key = fingerprint(parent, method, params, step, text, libraries, run.device)
    with _held(workspace.folder / ".unfinished", key) as home:
        finished = Finished(home, key)
        if finished.blocks:
            run.log(f"Going on after block {len(finished.blocks)}, where an earlier try stopped")
        try:
            if large:
                run.log(f"{parent.name} is larger than the memory that's free: its blocks are read from disk one at a time")
            yield Place(Streamed(folder, finished, run.device) if large else InMemory(finished, folder))
        except BaseException as error:
            if isinstance(error, Cancelled) or not finished.blocks:
                finished.remove()
            raise
        finished.remove()


@contextlib.contextmanager
def _kept_work(workspace: Workspace, key: str) -> Iterator[Path]:
    """A folder that stays where the job fails with something in it."""
    with _held(workspace.folder / ".unfinished", key) as work:
        work.mkdir(exist_ok=True)
        try:
            yield work
        except BaseException as error:
            if isinstance(error, Cancelled) or not any(work.iterdir()):
                shutil.rmtree(work, ignore_errors=True)
            raise
        shutil.rmtree(work, ignore_errors=True)


def too_large(info: SourceInfo, device: str) -> bool:
    """Whether the model, held as methods hold it, leaves no room to work on it."""
    return ROOM * estimates.resident(info, device) > devices.free_bytes(device)


def fingerprint(
    parent: Variant, method: Method, params: Params, step: Step, text: Text | None, libraries: dict[str, str], device: str
) -> str:
    """sha256 of all that the finished blocks depend on."""
    said = {
        "parent": parent.fingerprint,
        "method": method.info.name,
        "params": params.model_dump(mode="json"),
        "seed": step.seed,
        "text": text.sha256 if text else None,
        "labels": step.labels.sha256 if step.labels else None,
        "images": step.images.sha256 if step.images else None,
        "libraries": libraries,
        "device": device,
    }
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def _held(home: Path, key: str) -> Iterator[Path]:
    """The folder of that key, locked. A job whose twin is at work gets a folder of its own, which is removed afterwards."""
    home.mkdir(exist_ok=True)
    _sweep(home, key)
    lock = FileLock(home / f"{key[:16]}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        with tempfile.TemporaryDirectory(prefix="twin-", dir=home) as folder:
            yield Path(folder)
        return
    try:
        yield home / key[:16]
    finally:
        lock.release()
        with contextlib.suppress(OSError):
            Path(lock.lock_file).unlink()


def _sweep(home: Path, key: str) -> None:
    """Removes what nobody came back to for a week."""
    for folder in [p for p in home.iterdir() if p.is_dir() and p.name != key[:16]]:
        with contextlib.suppress(OSError, Timeout):  # another process may be at work on it, or just have removed it
            if time.time() - max(p.stat().st_mtime for p in [folder, *folder.iterdir()]) < KEPT_SECONDS:
                continue
            with FileLock(home / f"{folder.name}.lock", timeout=0):
                shutil.rmtree(folder, ignore_errors=True)


# ---- a folder that was made without the model in memory ------------------------------------------------------------------


def checked(verifier: verify.Verifier, staged: Path, info: SourceInfo, run: Run) -> tuple[float, int]:
    """(largest difference of the outputs of plain transformers from ours, blocks checked), on as many first blocks as fit twice.

    Raises UserError on a mismatch.
    """
    layers = info.layers or 1
    one = 4 * (info.parameters or 0) / layers  # embeddings count into it, which errs on the safe side
    count = max(1, min(layers, int(devices.free_bytes("cpu") / (2.5 * one))))
    if count == layers:
        return _difference(verifier, staged, run), layers
    beside = staged.parents[1] / ".unfinished"  # on the same disk, so that links do, and not swept away
    with tempfile.TemporaryDirectory(prefix="check-", dir=beside) as home:
        return _difference(verifier, streamed.first_blocks(staged, Path(home) / "first", count), run), count


def _difference(verifier: verify.Verifier, folder: Path, run: Run) -> float:
    model: Any = load.load(folder, packed=True).model
    return verifier.check(folder, model, run)
