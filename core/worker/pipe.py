"""The child's side of the pipe: a listener thread that takes controls, a sender thread that drains a coalescing queue.

The main thread only ever appends to a list, so neither a slow window nor a full pipe disturbs a timing. Progress
and memory are replaced by newer ones of their kind; a curve that outruns the reader is thinned; nothing else is lost.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
import time
from multiprocessing.connection import Connection
from typing import Any

from core import events
from core.run import Run

BEAT = 1 / 60  # seconds between sends
MOST_METRICS = 2000  # unsent points of curves


class Sender(threading.Thread):
    """Sends what is `put`, in order, in batches."""

    def __init__(self, conn: Connection, memory=None):
        super().__init__(name="spokeshave-sender", daemon=True)
        self._conn, self._memory = conn, memory
        self._lock, self._full = threading.Lock(), threading.Event()
        self._waiting: list[Any] = []
        self._metrics = 0
        self._done = False
        self.working = ""  # the job at work, for memory reports
        self.device = "cpu"  # the one it works on; a spare worker asks for nothing else, so the accelerator stays untouched

    def put(self, event: Any) -> None:
        with self._lock:
            if isinstance(event, events.Progress):
                for i in range(len(self._waiting) - 1, -1, -1):
                    old = self._waiting[i]
                    if isinstance(old, events.Progress) and old.job == event.job and old.stage == event.stage:
                        self._waiting[i] = event
                        return
                    if i < len(self._waiting) - 64:
                        break
            elif isinstance(event, events.Metric):
                self._metrics += 1
                if self._metrics > MOST_METRICS:
                    self._thin()
            self._waiting.append(event)
        self._full.set()

    def _thin(self) -> None:
        """Keeps every second unsent point of each curve."""
        seen: dict[str, int] = {}
        kept = []
        for event in self._waiting:
            if isinstance(event, events.Metric):
                seen[event.name] = seen.get(event.name, 0) + 1
                if seen[event.name] % 2 == 0:
                    continue
            kept.append(event)
        self._waiting = kept
        self._metrics = sum(isinstance(e, events.Metric) for e in kept)

    def run(self) -> None:
        last = 0.0
        while True:
            self._full.wait(1.0)
            self._full.clear()
            with self._lock:
                batch, self._waiting, self._metrics = self._waiting, [], 0
            if self._memory and time.monotonic() - last >= 1.0:
                last = time.monotonic()
                with contextlib.suppress(Exception):  # a report of memory must never end a job
                    batch.append(events.Memory(self.working, *self._memory(self.device)))
            if batch:
                try:
                    self._conn.send(batch)
                except (OSError, ValueError):
                    return  # the parent is gone; the listener ends the process
            if self._done and not self._waiting:
                return
            time.sleep(BEAT)

    def close(self, timeout: float = 5.0) -> None:
        """Sends what is left, then ends."""
        self._done = True
        self._full.set()
        self.join(timeout)


class Listener(threading.Thread):
    """Takes jobs and controls from the parent. A closed pipe means that the parent is gone: so ends the child."""

    def __init__(self, conn: Connection):
        super().__init__(name="spokeshave-listener", daemon=True)
        self._conn = conn
        self.todo: queue.Queue[Any] = queue.Queue()
        self._lock = threading.Lock()
        self._current: Run | None = None
        self._early: dict[str, list[str]] = {}  # controls for jobs that haven't begun

    def begin(self, run: Run) -> None:
        with self._lock:
            self._current = run
            for command in self._early.pop(run.job, []):
                run.control(command)

    def end(self) -> None:
        with self._lock:
            self._current = None

    def run(self) -> None:
        while True:
            try:
                message = self._conn.recv()
            except (EOFError, OSError):
                with self._lock:
                    if self._current:
                        self._current.control("cancel")
                self.todo.put(events.Exit())
                time.sleep(10)  # time to clean up at the next check, then no more
                os._exit(1)
            if isinstance(message, events.Control):
                with self._lock:
                    if self._current and self._current.job == message.job:
                        self._current.control(message.command)
                    else:
                        self._early.setdefault(message.job, []).append(message.command)
            else:
                self.todo.put(message)
