"""Run: the handle that long work gets. It reports, and it's where work notices that it was cancelled.

    for block in run.track(blocks, "Quantizing"):
        run.metric("error", i, value)

Iterating with `track` checks for cancellation at every item, so a method needn't think of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

from core import events
from core.errors import Cancelled

T = TypeVar("T")


class Run:
    """Reports to `sink`; obeys controls given by `control()` from another thread.

    device: as torch names it, already chosen; outer: the run that this one is inside of, whose controls it obeys.
    """

    def __init__(self, job: str = "", sink: Callable[[Any], None] | None = None, device: str = "cpu", outer: Run | None = None):
        self.job, self.device, self._outer = job, device, outer
        self._sink = sink or (lambda event: None)
        self._cancelled, self._stopped = threading.Event(), threading.Event()
        self._go, self._steps = threading.Event(), threading.Semaphore(0)
        self._go.set()
        self._last_progress = 0.0
        self._rested = 0.0

    # -- from the outside

    def control(self, command: str) -> None:
        if command == "cancel":
            self._cancelled.set()
        elif command == "stop":
            self._stopped.set()
        elif command == "pause":
            self._go.clear()
        elif command == "resume":
            self._go.set()
        elif command == "step":
            self._go.clear()
            self._steps.release()
        else:
            raise ValueError(f"unknown control: {command}")

    # -- for the work

    def check_cancelled(self) -> None:
        """Raises Cancelled where the job was cancelled. Cheap: call it at every batch, block or round."""
        if self._outer is not None:
            self._outer.check_cancelled()
        elif self._cancelled.is_set():
            raise Cancelled

    @property
    def stop_asked(self) -> bool:
        """Whether to finish early with what there is (not a cancel)."""
        return self._stopped.is_set() if self._outer is None else self._outer.stop_asked

    @property
    def paused(self) -> bool:
        """Whether only steps are let through."""
        return not self._go.is_set() if self._outer is None else self._outer.paused

    @property
    def rested(self) -> float:
        """Seconds that were spent paused. They count neither as work nor in the time left."""
        return self._rested if self._outer is None else self._outer.rested

    def wait_turn(self) -> None:
        """Blocks while paused; returns at 'resume', once per 'step', or at 'stop'; raises Cancelled."""
        self._rest(steps=True)

    def _rest(self, steps: bool) -> None:
        """steps: whether one 'step' lets go on, too. What paused is said once it rests, since it may take a while to get here."""
        if self._outer is not None:
            self._outer._rest(steps)
        elif self._go.is_set() or self.stop_asked:  # what ends early rests no more
            self.check_cancelled()
        else:
            begun = time.monotonic()
            self.emit(events.Paused(self.job, True))
            try:
                while not self._go.is_set():
                    self.check_cancelled()
                    if self.stop_asked or (steps and self._steps.acquire(timeout=0.05)) or (not steps and self._go.wait(0.05)):
                        break
                self.check_cancelled()
            finally:
                self._rested += time.monotonic() - begun
                self.emit(events.Paused(self.job, False))

    def track(self, items: Iterable[T], stage: str, total: int | None = None, known: int = 0, rests: bool = True) -> Iterator[T]:
        """Yields the items, reporting progress within `stage` and the time left, and obeying controls.

        known: how many first items an earlier try did, which are passed over and say nothing of the time that the others take; rests:
        whether it's paused here, which who asks `wait_turn` at each item needn't be.
        """
        if total is None:
            total = len(items) if isinstance(items, Sized) else 0
        begun = time.monotonic() - self.rested
        self.progress(stage, 0, total, force=True)
        for done, item in enumerate(items, 1):
            if rests:
                self._rest(steps=False)
            else:
                self.check_cancelled()
            yield item
            if done <= known:
                begun = time.monotonic() - self.rested
            spent = time.monotonic() - self.rested - begun
            left = spent / (done - known) * (total - done) if total and done > known else None
            self.progress(stage, done, total, left, force=done == total)
        self.check_cancelled()

    def progress(self, stage: str, done: float, total: float, left: float | None = None, note: str = "", force: bool = True) -> None:
        moment = time.monotonic()
        if force or moment - self._last_progress > 0.05:
            self._last_progress = moment
            self.emit(events.Progress(self.job, stage, done, total, left, note))

    def stage(self, stage: str, note: str = "") -> None:
        """A stage whose length isn't known."""
        self.check_cancelled()
        self.progress(stage, 0, 0, note=note)

    def metric(self, name: str, step: int, value: float) -> None:
        self.emit(events.Metric(self.job, name, step, float(value)))

    def log(self, text: str, level: str = "INFO") -> None:
        self.emit(events.Log(self.job, level, time.time(), text))  # type: ignore[arg-type]

    def warn(self, text: str) -> None:
        self.log(text, "WARN")

    def emit(self, event: Any) -> None:
        self._sink(event)
