"""Jobs: start, poll and cancel work in worker processes, without a thread on this side.

    pool = JobPool()
    pool.submit(job)
    for event in pool.poll(): ...        # a QTimer, the command line's loop or a test calls this

One worker does one job at a time. A worker that compressed, measured or exported ends with its job, which frees
all its memory; one that generated stays for the next prompt; a spare one, warm and empty, serves light jobs
(inspect, estimate) and stays spare. Whatever becomes of a worker, its job ends in exactly one terminal event.

The seam for work elsewhere is `Launcher`: something that starts a worker and gives a `Worker` to talk to. Here
it's a spawned process and its pipe; a remote task would have the same five methods.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from core import events
from core.records import LIGHT, Catalogue, GenerateSpec, Job
from core.workspace import Workspace

TERMINATE_AFTER = 5.0  # seconds from a cancel to SIGTERM
KILL_AFTER = 8.0
IDLE_GENERATOR = 180.0  # seconds that a worker keeps a model pair for the next prompt


class Worker(Protocol):
    """A worker as this side sees it."""

    pid: int

    def send(self, message: Any) -> None: ...  # never raises; a dead worker is noticed by `alive`
    def receive(self, until: float) -> list[Any]: ...  # what has come, reading no longer than until (monotonic)
    def alive(self) -> bool: ...
    def end(self, kill: bool = False) -> None: ...
    def reap(self, timeout: float = 0.0) -> int | None: ...  # exit code once gone, releasing everything


class Launcher(Protocol):
    def launch(self) -> Worker: ...


class ProcessWorker:
    """A spawned process and one end of its pipe."""

    def __init__(self, threads: int | None):
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe(duplex=True)
        self._conn: Connection = ours
        self._process = context.Process(target=_child, args=(theirs, threads), name="spokeshave-worker", daemon=True)
        with _without_ctrl_c():
            self._process.start()
        theirs.close()  # else the pipe never reports that the child is gone
        self.pid = self._process.pid or 0
        self._open = True
        self._exit: int | None = None

    @property
    def connection(self) -> Connection | None:
        return self._conn if self._open else None

    def send(self, message: Any) -> None:
        try:
            self._conn.send(message)
        except (OSError, ValueError):
            self._open = False

    def receive(self, until: float) -> list[Any]:
        got: list[Any] = []
        try:
            while self._open and self._conn.poll(0):
                batch = self._conn.recv()
                got.extend(batch if isinstance(batch, list) else [batch])
                if time.monotonic() >= until:
                    break
        except (EOFError, OSError):
            self._open = False
        return got

    def alive(self) -> bool:
        """False once the process is gone and everything it sent has been read."""
        return self._open or (self._exit is None and self._process.is_alive())

    def end(self, kill: bool = False) -> None:
        if self._exit is None:
            (self._process.kill if kill else self._process.terminate)()

    def reap(self, timeout: float = 0.0) -> int | None:
        if self._exit is None:
            self._process.join(timeout)
            if self._process.exitcode is None:
                return None
            self._exit = self._process.exitcode
            self._process.close()
            self._conn.close()
            self._open = False
        return self._exit


@contextlib.contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """A process started inside never gets Ctrl-C, not even while Python comes up in it; on this side it waits till the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # its own start would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _child(conn: Connection, threads: int | None) -> None:
    """Entry of the child. The thread settings come before torch is imported, or they have no effect."""
    cores = os.cpu_count() or 1
    count = threads or cores
    os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(count)
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # waiting threads sleep: the window keeps its share of the cores
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what makes training on CUDA repeatable; read at cuBLAS's first call
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which cancels in order
    if hasattr(os, "nice"):
        os.nice(10)
    importlib.import_module("core.worker").main(conn, count)  # by name: this floor may not import that one


@dataclass
class ProcessLauncher:
    threads: int | None = None

    def launch(self) -> Worker:
        return ProcessWorker(self.threads)


@dataclass
class _Held:
    """A worker and what it's at."""

    worker: Worker
    ready: bool = False
    job: Job | None = None
    cancelled_at: float | None = None
    terminal: bool = False  # its job's terminal event has been seen
    keeps: tuple | None = None  # (workspace, target, device, dtype) of the model that it holds, with its last draft
    idle_since: float = field(default_factory=time.monotonic)
    leaving: bool = False
    left_at: float | None = None
    signalled: int = 0


class JobPool:
    """Queue and workers. Not thread-safe: one owner calls everything."""

    def __init__(self, launcher: Launcher | None = None, *, at_once: int = 1, spare: bool = False):
        self.launcher = launcher or ProcessLauncher()
        self.at_once = at_once  # heavy jobs at a time; light ones don't count
        self.keep_spare = spare
        self.catalogue: Catalogue | None = None
        self._queue: deque[Job] = deque()
        self._workers: list[_Held] = []
        self._out: list[Any] = []
        self._failed_starts = 0

    # -- asked by the owner

    def submit(self, job: Job) -> None:
        self._queue.append(job)
        self._out.append(events.Queued(job.id, job.title))
        self._dispatch()

    def cancel(self, job: str) -> None:
        for queued in list(self._queue):
            if queued.id == job:
                self._queue.remove(queued)
                self._out.append(events.Cancelled(job))
                return
        held = self._holding(job)
        if held and held.cancelled_at is None:
            held.worker.send(events.Control(job, "cancel"))
            if held.ready:
                held.cancelled_at = time.monotonic()
            else:  # it hasn't begun and won't: the worker finds job and cancel together, and is free for the next one
                held.job = None
                self._out.append(events.Cancelled(job))

    def control(self, job: str, command: str) -> None:
        if command == "cancel":
            self.cancel(job)
        elif held := self._holding(job):
            held.worker.send(events.Control(job, command))  # type: ignore[arg-type]

    def warm(self) -> None:
        """Starts a spare worker unless there is one."""
        if not any(self._spare(h) for h in self._workers) and self._failed_starts < 3:
            self._workers.append(_Held(self.launcher.launch()))

    def running(self) -> list[Job]:
        return [h.job for h in self._workers if h.job and not h.terminal]

    def queued(self) -> list[Job]:
        return list(self._queue)

    def worker_state(self) -> dict[str, int]:
        """How many workers are busy, starting, spare and warm, or holding models."""
        state = {"busy": 0, "starting": 0, "spare": 0, "holding": 0}
        for h in self._workers:
            if h.leaving:
                continue
            key = "busy" if h.job else "starting" if not h.ready else "holding" if h.keeps else "spare"
            state[key] += 1
        return state

    def busy(self) -> bool:
        return bool(self._queue) or any(h.job for h in self._workers)

    def connections(self) -> list[Connection]:
        return [c for h in self._workers if (c := getattr(h.worker, "connection", None)) is not None]

    def wait(self, timeout: float) -> None:
        """Sleeps until a worker has said something, for `timeout` seconds at most. For loops that have no timer."""
        if self._out:
            return
        found = self.connections()
        if found:
            wait(found, timeout)
        else:
            time.sleep(timeout)

    def poll(self, budget: float = 0.004) -> list[Any]:
        """Events since the last poll, in each job's order; spends no more than about `budget` seconds reading."""
        until = time.monotonic() + budget
        for held in list(self._workers):
            for event in held.worker.receive(until):
                self._take(held, event)
            if not held.worker.alive() or held.worker.reap() is not None:
                for event in held.worker.receive(until + 60):  # all of its last words come before its death is told
                    self._take(held, event)
                self._gone(held)
            else:
                self._press(held)
        self._dispatch()
        out, self._out = self._out, []
        return out

    def close(self, patience: float = 3.0) -> None:
        """Ends every worker; running jobs are cancelled. Returns once they're gone and their staging is swept."""
        self._queue.clear()
        workspaces = {h.job.workspace for h in self._workers if h.job and h.job.workspace}
        for held in self._workers:
            if held.job:
                held.worker.send(events.Control(held.job.id, "cancel"))
            held.worker.send(events.Exit())
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and any(h.worker.reap(0.02) is None for h in self._workers):
            for held in self._workers:
                held.worker.receive(time.monotonic() + 0.01)  # a child blocked on a full pipe can't exit
        for held in self._workers:
            if held.worker.reap() is None:
                held.worker.end()
                if held.worker.reap(1.0) is None:
                    held.worker.end(kill=True)
                    held.worker.reap(5.0)
        self._workers.clear()
        for folder in workspaces:
            Workspace(folder).sweep()

    # -- the inner life

    def _holding(self, job: str) -> _Held | None:
        return next((h for h in self._workers if h.job and h.job.id == job and not h.terminal), None)

    def _spare(self, h: _Held) -> bool:
        return h.job is None and h.keeps is None and not h.leaving

    def _take(self, held: _Held, event: Any) -> None:
        if isinstance(event, events.Ready):
            held.ready, held.idle_since = True, time.monotonic()
            self._failed_starts = 0
            self.catalogue = event.catalogue
        if event.job and (held.job is None or event.job != held.job.id):
            return  # of a job that has been told as over
        if isinstance(event, events.TERMINAL):
            if held.terminal or held.job is None:
                return
            if held.cancelled_at is not None and isinstance(event, events.Failed) and event.kind == "killed":
                event = events.Cancelled(event.job)
            self._finish(held, event)
        else:
            self._out.append(event)

    def _finish(self, held: _Held, event: Any) -> None:
        job = held.job
        assert job is not None
        self._out.append(event)
        held.job, held.cancelled_at, held.terminal, held.signalled = None, None, False, 0
        held.idle_since = time.monotonic()
        if job.kind in LIGHT:
            return
        if isinstance(job.spec, GenerateSpec) and not isinstance(event, events.Failed):
            held.keeps = pair_key(job)
            return
        self._leave(held)

    def _leave(self, held: _Held) -> None:
        held.leaving, held.left_at = True, time.monotonic()
        held.worker.send(events.Exit())

    def _press(self, held: _Held) -> None:
        """Escalates a cancel that isn't obeyed, and ends workers that linger."""
        moment = time.monotonic()
        since = held.cancelled_at if held.job else held.left_at if held.leaving else None
        if since is not None:
            if moment - since > KILL_AFTER and held.signalled < 2:
                held.signalled = 2
                held.worker.end(kill=True)
            elif moment - since > TERMINATE_AFTER and held.signalled < 1:
                held.signalled = 1
                held.worker.end()
        elif held.keeps and not held.job and moment - held.idle_since > IDLE_GENERATOR:
            self._leave(held)

    def _gone(self, held: _Held) -> None:
        code = held.worker.reap(1.0)
        if code is None:
            held.worker.end(kill=True)
            code = held.worker.reap(5.0)
        self._workers.remove(held)
        job = held.job
        if not held.ready and not held.leaving and job is None:
            self._failed_starts += 1
            if self._failed_starts == 3:
                text = "Workers end before they're ready (exit code {code})."
                self._out.append(events.Failed("", "killed", text, "Start Spokeshave from a terminal to see why.", values={"code": code}))
        if job is None:
            return
        if job.workspace:
            Workspace(job.workspace).sweep()  # what it was writing goes with it
        if held.cancelled_at is not None:
            self._out.append(events.Cancelled(job.id))
            return
        self._out.append(_killed(job, code))

    def _dispatch(self) -> None:
        for job in list(self._queue):
            light = job.kind in LIGHT
            busy = sum(1 for h in self._workers if h.job and h.job.kind not in LIGHT)
            if not light and busy >= self.at_once:
                continue
            held = self._choose(job)
            if held is None:
                if light and any(h.job and h.job.kind in LIGHT for h in self._workers):
                    continue  # its turn comes soon; another worker would take longer to start
                if self._failed_starts >= 3:
                    self._queue.remove(job)
                    self._out.append(_killed(job, None))
                    continue
                held = _Held(self.launcher.launch())
                self._workers.append(held)
            self._queue.remove(job)
            held.job, held.terminal, held.keeps = job, False, None
            held.worker.send(events.Do(job))  # a worker that still starts reads it when it's ready
        if self.keep_spare and self._workers and all(h.ready or h.leaving for h in self._workers):
            self.warm()

    def _choose(self, job: Job) -> _Held | None:
        free = [h for h in self._workers if h.job is None and not h.leaving]
        if isinstance(job.spec, GenerateSpec):
            same = next((h for h in free if h.keeps == pair_key(job)), None)
            if same:
                return same
        elif any(h.keeps for h in free) and job.kind not in LIGHT:
            for h in [h for h in free if h.keeps]:  # its memory is wanted now
                self._leave(h)
        if isinstance(job.spec, GenerateSpec):
            for h in [h for h in free if h.keeps]:
                self._leave(h)  # another pair: the old one's memory goes first
        spares = [h for h in free if self._spare(h) and not h.leaving]
        return next((h for h in spares if h.ready), spares[0] if spares else None)


def pair_key(job: Job) -> tuple:
    """What a generate worker must hold to serve a job without loading its target again. It lets go of drafts by itself."""
    spec = job.spec
    assert isinstance(spec, GenerateSpec)
    return (spec.workspace, spec.target, job.device, spec.dtype)


def _killed(job: Job, code: int | None) -> events.Failed:
    """What is told of a worker that died in the middle of a job."""
    tail = ""
    if job.workspace:
        path = Workspace(job.workspace).log_path(job.id)
        if path.exists():
            tail = "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-40:])
    name = signal.Signals(-code).name if code is not None and code < 0 and -code in set(signal.Signals) else None
    if name == "SIGKILL":
        message = "The worker was killed from outside, most likely because memory ran out."
        hint = "Close other programs, or choose a smaller context, batch or model. Nothing else was lost."
    elif name:
        message = "The worker crashed ({signal})."
        hint = "The end of its log is in the detail. Nothing else was lost; the job can be started again."
    else:
        message = "The worker ended without finishing (exit code {code})."
        hint = "The end of its log is in the detail. Nothing else was lost; the job can be started again."
    return events.Failed(job.id, "killed", message, hint, tail, {"signal": name, "code": code})
