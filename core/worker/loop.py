"""The child's main loop: import the libraries, say Ready, then do jobs until told to leave.

Every job ends in exactly one terminal event, whatever it raises.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import logging
import os
import platform
import threading
import time
import traceback
from importlib import metadata
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from core import events
from core.errors import Cancelled, UserError, explain
from core.records import Catalogue, Job
from core.run import Run
from core.worker.pipe import Listener, Sender
from core.workspace import Workspace


def main(conn: Connection, threads: int) -> None:
    """Serves one parent over `conn`. `threads`: how many torch uses."""
    os.dup2(2, 1)  # what libraries print must not mix with a document on the parent's standard output
    listener = Listener(conn)
    listener.start()
    import torch
    import transformers  # noqa: F401  (this is what warming up means)

    from core.models import devices
    from core.worker import tasks

    torch.set_num_threads(threads)
    _quiet()
    sender = Sender(conn, memory=devices.memory)
    sender.start()
    sender.put(events.Ready("", os.getpid(), catalogue()))
    while True:
        message = listener.todo.get()
        if isinstance(message, events.Exit):
            break
        if isinstance(message, events.Do):
            work(message.job, sender, listener, tasks.TASKS)
            gc.collect()
    sender.close()
    conn.close()
    os._exit(0)  # nothing is left to lose, and torch's own exit can take a second


def work(job: Job, sender: Sender, listener: Listener, tasks: dict[str, Any]) -> None:
    """One job, from Started to its terminal event."""
    from core.models import devices

    begun = time.monotonic()
    log = _log_of(job)

    def sink(event: Any) -> None:
        if log and isinstance(event, events.Log):
            log.write(event)
        sender.put(event)

    run = Run(job.id, sink)
    sender.working = job.id
    listener.begin(run)
    handler = _ToRun(run)
    logging.getLogger().addHandler(handler)
    if log:
        faulthandler.enable(log.file)
    try:
        run.device = sender.device = devices.choose(job.device)
        sender.put(events.Started(job.id, os.getpid(), run.device))
        run.check_cancelled()
        result = tasks[job.kind](job, run)
        last: Any = events.Finished(job.id, result, time.monotonic() - begun)
    except Cancelled:
        last = events.Cancelled(job.id)
    except BaseException as error:
        detail = traceback.format_exc()
        told = explain(error, detail=detail)
        if told.kind == "internal" and log:
            log.file.write(detail)
        plain = {k: v if isinstance(v, (str, int, float, bool, type(None))) else str(v) for k, v in told.values.items()}
        last = events.Failed(job.id, told.kind, told.template, told.hint_template, told.detail, plain)
    finally:
        logging.getLogger().removeHandler(handler)
        listener.end()
        sender.working = ""
        if log:
            faulthandler.disable()
            log.close(keep=isinstance(last, events.Failed))
    sender.put(last)


def _log_of(job: Job) -> _Log | None:
    """None where there's no workspace, or one that can't be written to: generating and exporting don't need to.

    A job that does need to finds the same failure at its own first write, and tells it.
    """
    if not job.workspace or not Path(job.workspace, "workspace.json").exists():
        return None
    try:
        return _Log(Workspace(job.workspace).log_path(job.id))
    except (OSError, UserError):
        return None


class _Log:
    """job.log while the job runs: one line an entry, flushed, so that a killed worker's last words are there."""

    def __init__(self, path: Path):
        self.path = path
        path.parent.mkdir(exist_ok=True)
        self.file = open(path, "w", encoding="utf-8", buffering=1)  # noqa: SIM115 (closed by `close`)

    def write(self, event: events.Log) -> None:
        moment = time.strftime("%H:%M:%S", time.localtime(event.time))
        with contextlib.suppress(OSError):  # a full disk is told of by what was being saved
            self.file.write(f"{moment}  {event.level:5}  {event.text}\n")

    def close(self, keep: bool) -> None:
        with contextlib.suppress(OSError):
            self.file.close()
            if not keep:
                self.path.unlink(missing_ok=True)


class _ToRun(logging.Handler):
    """Libraries' warnings go to the job's log."""

    def __init__(self, run: Run):
        super().__init__(logging.WARNING)
        self.run = run

    def emit(self, record: logging.LogRecord) -> None:
        level = "ERROR" if record.levelno >= logging.ERROR else "WARN"
        self.run.log(f"{record.name}: {record.getMessage()}", level)


def _quiet() -> None:
    """Progress bars of libraries would only clutter standard error: ours are events."""
    import tqdm
    from huggingface_hub.utils import disable_progress_bars
    from transformers.utils import logging as theirs

    theirs.disable_progress_bar()
    theirs.set_verbosity_error()
    disable_progress_bars()
    tqdm.tqdm.set_lock(threading.RLock())  # its default is a semaphore between processes, which outlives a worker that exits at once
    logging.captureWarnings(True)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)  # it warns of every optional library that isn't installed


def libraries() -> dict[str, str]:
    """Versions that a recipe records."""
    found = {"python": platform.python_version()}
    for name in ("spokeshave", "torch", "transformers", "compressed-tensors", "onnxruntime"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    if "spokeshave" not in found:
        import core

        found["spokeshave"] = core.__version__
    return found


def catalogue() -> Catalogue:
    from core import methods
    from core.models import devices

    return Catalogue(methods=methods.catalogue(), devices=devices.devices(), libraries=libraries())
