"""JobBoard: owns the workers for the window. One timer polls them; one signal, `event`, tells what came.

Also keeps what is known of each job (JobState), so that a view opened late still shows all of it. The catalogue
of methods is cached between sessions, so that wizards open at once while the first worker is still importing.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import ValidationError
from PySide6.QtCore import QObject, QTimer, Signal

import core
from core import events
from core.jobs import JobPool, ProcessLauncher
from core.records import Catalogue, Job, new_id

POLL_MS = 33
LONGEST_CURVE = 20_000  # points kept of each curve
LONGEST_LOG = 5_000
MOST_SAMPLES = 200  # steps whose samples are kept


@dataclass
class JobState:
    """What is known of a job. status: queued, running, finished, cancelled or failed."""

    job: Job
    status: str = "queued"
    stage: str = ""
    done: float = 0.0
    total: float = 0.0
    left: float | None = None
    note: str = ""
    curves: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    log: list[events.Log] = field(default_factory=list)
    samples: list[events.Samples] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    failure: events.Failed | None = None
    seconds: float = 0.0
    started_at: float | None = None  # time.monotonic()
    cancelling: bool = False
    pausing: bool = False  # asked for, and not there yet
    paused: bool = False
    stopping: bool = False  # to end early with the best there is
    pid: int = 0
    device: str = ""

    @property
    def over(self) -> bool:
        return self.status in ("finished", "cancelled", "failed")

    @property
    def share(self) -> float | None:
        """Done share of the present stage, 0 to 1; None where unknown."""
        return min(1.0, self.done / self.total) if self.total else None


class JobBoard(QObject):
    event = Signal(object)  # every event from core.events, after the state has been updated

    def __init__(self, parent: QObject | None = None, *, pool: JobPool | None = None, threads: int | None = None):
        super().__init__(parent)
        self._pool = pool or JobPool(ProcessLauncher(threads), spare=True)
        self._states: dict[str, JobState] = {}
        self._asked: dict[str, Callable[[Any], None]] = {}
        self._catalogue = _read_catalogue()
        self.memory: events.Memory | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self._poll)
        self._timer.start()

    # -- asking

    def warm(self) -> None:
        """Starts a spare worker in the background. Call it once the window shows."""
        self._pool.warm()

    def submit(self, spec: Any, title: str, device: str = "auto") -> str:
        """Queues work; returns the job's id."""
        job = Job(id=new_id(spec.kind), title=title, spec=spec, device=device)
        self._states[job.id] = JobState(job)
        self._pool.submit(job)
        return job.id

    def ask(self, spec: Any, callback: Callable[[Any], None], device: str = "auto") -> str:
        """A light job (inspect, estimate) whose terminal event goes to `callback`; it's listed nowhere."""
        job = Job(id=new_id(spec.kind), title="", spec=spec, device=device)
        self._asked[job.id] = callback
        self._pool.submit(job)
        return job.id

    def forget(self, asked: str) -> None:
        """Drops a question whose answer nobody waits for any more."""
        if self._asked.pop(asked, None):
            self._pool.cancel(asked)

    def cancel(self, job: str) -> None:
        state = self._states.get(job)
        if state and not state.over:
            state.cancelling = True
            self._pool.cancel(job)

    def control(self, job: str, command: str) -> None:
        """command: pause, resume, step, stop."""
        state = self._states.get(job)
        if state and not state.over:
            asked(state, command)
        self._pool.control(job, command)

    def remove(self, job: str) -> None:
        """Takes a job that's over off the list."""
        state = self._states.get(job)
        if state and state.over:
            del self._states[job]

    # -- knowing

    @property
    def catalogue(self) -> Catalogue | None:
        return self._pool.catalogue or self._catalogue

    @property
    def warmed(self) -> bool:
        """Whether a worker has been ready in this session (the catalogue isn't only a cached one)."""
        return self._pool.catalogue is not None

    def states(self) -> list[JobState]:
        return list(self._states.values())

    def state(self, job: str) -> JobState | None:
        return self._states.get(job)

    def active(self) -> list[JobState]:
        return [s for s in self._states.values() if not s.over]

    def worker_state(self) -> dict[str, int]:
        return self._pool.worker_state()

    # -- living

    def _poll(self) -> None:
        for event in self._pool.poll():
            self._take(event)

    def _take(self, event: Any) -> None:
        if isinstance(event, events.Ready):
            _write_catalogue(event.catalogue)
        if isinstance(event, events.Memory):
            self.memory = event
        if event.job in self._asked:
            if isinstance(event, events.TERMINAL):
                self._asked.pop(event.job)(event)
            return
        state = self._states.get(event.job)
        if state:
            _update(state, event)
        self.event.emit(event)

    def close(self) -> None:
        """Cancels everything and ends the workers. Takes up to a few seconds where one is deep in work."""
        self._timer.stop()
        self._asked.clear()
        self._pool.close()


def asked(state: JobState, command: str) -> None:
    """What a control that was sent makes of a job's state, until the job itself tells."""
    if command in ("pause", "resume"):
        state.pausing = command == "pause" and not state.paused
    elif command == "stop":
        state.stopping, state.pausing = True, False


def _update(state: JobState, event: Any) -> None:
    if isinstance(event, events.Started):
        state.status, state.pid, state.device, state.started_at = "running", event.pid, event.device, time.monotonic()
    elif isinstance(event, events.Progress):
        state.stage, state.done, state.total, state.left, state.note = event.stage, event.done, event.total, event.left, event.note
    elif isinstance(event, events.Paused):
        state.paused, state.pausing = event.on, state.pausing and not event.on
    elif isinstance(event, events.Metric):
        curve = state.curves.setdefault(event.name, [])
        curve.append((event.step, event.value))
        if len(curve) > LONGEST_CURVE:
            del curve[1:-1:2]
    elif isinstance(event, events.Log):
        state.log.append(event)
        if len(state.log) > LONGEST_LOG:
            del state.log[: LONGEST_LOG // 10]
    elif isinstance(event, events.Samples):
        state.samples.append(event)
        if len(state.samples) > MOST_SAMPLES:
            del state.samples[1:-1:2]
    elif isinstance(event, events.Finished):
        state.status, state.result, state.seconds, state.left = "finished", event.result, event.seconds, None
    elif isinstance(event, events.Cancelled):
        state.status, state.left = "cancelled", None
    elif isinstance(event, events.Failed):
        state.status, state.failure, state.left = "failed", event, None
        if state.started_at:
            state.seconds = time.monotonic() - state.started_at


# ---- the cached catalogue ---------------------------------------------------------------------------------------


def _cache_file() -> Path:
    """One file for each state of the methods' source, so that an updated method never shows its old form."""
    digest = hashlib.sha256(core.__version__.encode())
    for path in sorted((Path(core.__file__).parent / "methods").rglob("*.py")):
        digest.update(f"{path.name}{path.stat().st_mtime_ns}{path.stat().st_size}".encode())
    return Path(platformdirs.user_cache_dir("spokeshave", False)) / f"catalogue-{digest.hexdigest()[:16]}.json"


def _read_catalogue() -> Catalogue | None:
    try:
        return Catalogue.model_validate_json(_cache_file().read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None  # there's none yet: the worker brings it


def _write_catalogue(catalogue: Catalogue) -> None:
    path = _cache_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for old in path.parent.glob("catalogue-*.json"):
            if old != path:
                old.unlink(missing_ok=True)
        path.write_text(catalogue.model_dump_json(), encoding="utf-8")
    except OSError:
        return  # a cache that can't be written only costs the next start some seconds
