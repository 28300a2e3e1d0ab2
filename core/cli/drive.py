"""Runs a job in a worker and shows how it goes on standard error. Ctrl-C cancels; a second one doesn't wait."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from core import events
from core.errors import Cancelled, UserError
from core.jobs import JobPool, ProcessLauncher
from core.records import Job, new_id


class Driver:
    """A pool for a command's jobs. Use as a context manager."""

    def __init__(self, *, quiet: bool = False, debug: bool = False, spare: bool = False, threads: int | None = None):
        self.console = Console(stderr=True, highlight=False)
        self.quiet, self.debug = quiet, debug
        self._pool = JobPool(ProcessLauncher(threads), spare=spare)

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *what: Any) -> None:
        self._pool.close()

    def warm(self) -> None:
        self._pool.warm()

    def run(self, spec: Any, title: str, *, device: str = "auto", on_event: Callable[[Any], None] | None = None) -> dict[str, Any]:
        """The job's result. Raises UserError where it failed and Cancelled where Ctrl-C ended it."""
        job = Job(id=new_id(spec.kind), title=title, spec=spec, device=device)
        interactive = self.console.is_terminal and not self.quiet
        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeRemainingColumn(),
            console=self.console,
            transient=True,
            disable=not interactive,
        )
        self._pool.submit(job)
        asked = False
        with bar:
            task = bar.add_task(f"{title}: starting a worker", total=None, note="")
            while True:
                try:
                    self._pool.wait(0.2)
                    for event in self._pool.poll(budget=0.05):
                        if event.job not in (job.id, ""):
                            continue
                        last = self._show(event, title, bar, task)
                        if on_event:
                            on_event(event)
                        if last is not None:
                            return last
                except KeyboardInterrupt:
                    if asked:
                        raise
                    asked = True
                    bar.update(task, description=f"{title}: cancelling")
                    self._pool.cancel(job.id)

    def _show(self, event: Any, title: str, bar: Progress, task: Any) -> dict[str, Any] | None:
        if isinstance(event, events.Progress):
            total = event.total or None
            bar.update(task, description=f"{title}: {event.stage}", completed=event.done, total=total, note=event.note)
        elif isinstance(event, events.Metric) and event.name == "loss":
            bar.update(task, note=f"loss {event.value:.3f}")
        elif (
            isinstance(event, events.Log)
            and (self.debug or event.level in ("WARN", "ERROR"))
            and not (self.quiet and event.level == "DEBUG")
        ):
            self.console.print(
                f"{event.level.lower()}: {event.text}", markup=False, style="yellow" if event.level == "WARN" else None, soft_wrap=True
            )
        elif isinstance(event, events.Samples) and self.debug:
            for line in sample_lines(event):
                self.console.print(line, markup=False, soft_wrap=True)
        elif isinstance(event, events.Finished):
            return event.result
        elif isinstance(event, events.Cancelled):
            raise Cancelled
        elif isinstance(event, events.Failed):
            raise UserError(event.message, hint=event.hint, kind=event.kind, detail=event.detail, **event.values)
        return None


def sample_lines(samples: events.Samples) -> list[str]:
    """What teacher and student say at a step, a few lines for each beginning or example; | is where they part."""
    first = "before" if samples.before else "teacher"
    lines = [f"step {samples.step}{', kept' * samples.kept}:"]
    for said in samples.said:
        agreed = said.same.index(False) if False in said.same else len(said.student) if said.same else None
        student = "".join(said.student) if agreed is None else f"{''.join(said.student[:agreed])}|{''.join(said.student[agreed:])}"
        lines += [
            f"  {name:8} {_line(text)}" for name, text in ((" ", said.beginning), (first, "".join(said.teacher)), ("student", student))
        ]
    for one in samples.classed:
        found = f"{first} {one.teacher} {one.teacher_share:.2f}, student {one.student} {one.student_share:.2f}"
        lines.append(f"  {one.label}: {found}  {_line(one.text)[:60]}")
    lines += [f"  {d.who} in {d.steps} steps: Frechet distance {d.frechet:.2f}" for d in samples.drawn if d.frechet is not None]
    return lines if len(lines) > 1 else []


def _line(text: str) -> str:
    return text.replace("\n", "⏎")


def out(text: str) -> None:
    """To standard output, whatever its encoding can hold."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding) + "\n")
    sys.stdout.flush()
