"""What the decode lab's tools share: a window with a title, two sentences, a body, and a job that it starts, follows and cancels.

Covers the life of that one job: its progress, the way out, and what went wrong. What the job is and what its result means is
the subclass's. The window stays beside the lab: it's not modal, and closing it ends the job.
"""

from __future__ import annotations

import functools
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.error_dialog import show_failure
from app.text import core_text, failure_text, fmt_left
from app.theme import theme
from app.widgets import Bar, IconLabel, button, label
from core.errors import UserError
from core.events import TERMINAL, Cancelled, Failed, Finished, Progress, Started

SMALLEST = QSize(720, 520)


class ToolDialog(QDialog):
    """`body` is the subclass's to fill. Show it with `show()`; it deletes itself when it's closed.

    Esc cancels a running job, and closes the window where nothing runs.
    """

    def __init__(self, board: Any, name: str, title: str, sentences: str, parent: QWidget | None = None):
        super().__init__(parent)
        self.board, self.job = board, ""
        self._device, self._title = "", title
        self._failure: Failed | UserError | None = None
        self._left = _Left(board)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.setModal(False)
        self._build(title, sentences)
        board.event.connect(self._on_event)
        theme().changed.connect(self.update)
        # with its parent it goes without being closed, and nobody else would end the job
        self.destroyed.connect(functools.partial(_Left.cancel, self._left))

    def _build(self, title: str, sentences: str) -> None:
        outer = QVBoxLayout(self)
        outer.setContentsMargins(20, 16, 20, 14)
        outer.setSpacing(10)
        self.heading = label(title, "title")
        self.sentences = label(sentences, "caption", wrap=True)
        self.sentences.setObjectName("sentences")
        outer.addWidget(self.heading)
        outer.addWidget(self.sentences)
        self.body = QVBoxLayout()
        self.body.setSpacing(10)
        outer.addLayout(self.body, 1)
        outer.addWidget(self._make_failure())
        line = QFrame()
        line.setProperty("line", True)
        outer.addWidget(line)
        outer.addLayout(self._make_foot())
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self.start_if_able)
        room = self.screen().availableGeometry().size() if self.screen() else QSize(1024, 700)
        self.setMinimumSize(SMALLEST.boundedTo(room))
        self.resize(QSize(980, 680).boundedTo(room - QSize(24, 48)).expandedTo(self.minimumSize()))

    def _make_failure(self) -> QWidget:
        self._failure_row = QFrame()
        self._failure_row.setProperty("card", True)
        row = QHBoxLayout(self._failure_row)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(10)
        row.addWidget(IconLabel("error", 18, "err"), 0, Qt.AlignmentFlag.AlignTop)
        self.failure = label("", wrap=True)
        self.failure.setObjectName("failure")
        self.failure.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(self.failure, 1)
        self.details = button(self.tr("Details"), self._show_failure, name="details")
        self.details.setProperty("flat", True)
        self.details.setAutoDefault(False)
        row.addWidget(self.details, 0, Qt.AlignmentFlag.AlignTop)
        self._failure_row.hide()
        return self._failure_row

    def _make_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setSpacing(8)
        progress = QVBoxLayout()
        progress.setSpacing(5)
        self.status = label("", "caption", wrap=True)
        self.status.setObjectName("status")
        self.bar = Bar(4)
        self.bar.setAccessibleName(self.tr("Progress"))
        self.bar.hide()
        progress.addStretch(1)
        progress.addWidget(self.status)
        progress.addWidget(self.bar)
        progress.addStretch(1)
        foot.addLayout(progress, 1)
        foot.addSpacing(8)
        self.extra = QHBoxLayout()
        self.extra.setSpacing(8)
        foot.addLayout(self.extra)
        self.run_button = button(self.tr("Start"), self.start_if_able, name="run", primary=True)
        self.run_button.setDefault(True)
        self.cancel_button = button(self.tr("Cancel"), self.cancel, name="cancel")
        self.cancel_button.setToolTip(self.tr("Ends the work (Esc). What was measured so far stays in sight."))
        self.cancel_button.hide()
        self.close_button = button(self.tr("Close"), self.close, name="close")
        for each in (self.run_button, self.cancel_button, self.close_button):
            each.setAutoDefault(each is self.run_button)
            each.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            foot.addWidget(each)
        return foot

    # -- what the subclass gives

    def problem(self) -> str:
        """Why the job can't be started; '' where it can."""
        return ""

    def start(self) -> None:
        """Submits the job, by `submit`."""
        raise NotImplementedError

    def took(self, event: Any) -> None:
        """An event of the job that isn't terminal."""

    def finished_with(self, result: dict[str, Any]) -> None:
        """The job is done."""

    def ended_without(self) -> None:
        """It was cancelled, or failed; the sentence is in sight already."""

    # -- the job

    @property
    def running(self) -> bool:
        return bool(self.job)

    def start_if_able(self) -> None:
        if not self.running and not self.problem():
            self.tell_failure(None)
            self.start()
            self.refresh()

    def submit(self, spec: Any, title: str, device: str = "auto") -> None:
        self._title, self._device = title, ""
        self.job = self._left.job = self.board.submit(spec, title, device)
        before = next((s.job.title for s in self.board.states() if s.status == "running" and s.job.id != self.job), "")
        self.say(self.tr("Waiting for its turn: {job} is at work…").format(job=before) if before else self.tr("Starting…"))
        self.bar.set_share(None)
        self.refresh()

    def cancel(self) -> None:
        if self.running:
            self.board.cancel(self.job)
            self.cancel_button.setEnabled(False)
            self.say(self.tr("Cancelling…"))

    def refresh(self) -> None:
        """Buttons and bar, after anything changed."""
        problem = self.problem()
        self.run_button.setVisible(not self.running)
        self.run_button.setEnabled(not self.running and not problem)
        self.run_button.setToolTip(problem or self.run_button.property("tip") or "")
        self.cancel_button.setVisible(self.running)
        self.cancel_button.setEnabled(self.running)
        self.bar.setVisible(self.running)
        if problem and not self.running:
            self.say(problem)
        elif not self.running and self.status.property("problem"):
            self.say("")
        self.status.setProperty("problem", bool(problem) and not self.running)

    def say(self, words: str) -> None:
        """The line beside the buttons."""
        self.status.setText(words)

    def _on_event(self, event: Any) -> None:
        if not self.job or event.job != self.job:
            return
        if isinstance(event, TERMINAL):
            self._ended(event)
            return
        if isinstance(event, Started):
            self._device = event.device
            self.say(self.tr("Loading the models…"))
        elif isinstance(event, Progress):
            self._progressed(event)
        self.took(event)

    def _progressed(self, event: Progress) -> None:
        parts = [core_text(event.stage), event.note, fmt_left(event.left)]
        self.say(" · ".join(part for part in parts if part))
        self.bar.set_share(event.done / event.total if event.total else None)

    def _ended(self, event: Any) -> None:
        self.job = self._left.job = ""
        self.say("")
        if isinstance(event, Finished):
            self.finished_with(event.result)
        else:
            if isinstance(event, Failed):
                self.tell_failure(event)
            elif isinstance(event, Cancelled):
                self.say(self.tr("Cancelled."))
            self.ended_without()
        self.refresh()

    # -- failures

    def tell_failure(self, failure: Failed | UserError | None) -> None:
        self._failure = failure
        self._failure_row.setVisible(failure is not None)
        if failure is not None:
            self.failure.setText(" ".join(part for part in failure_text(failure) if part))

    def _show_failure(self) -> None:
        if self._failure is not None:
            show_failure(self, self._failure, self._title, self._device)

    # -- Qt

    def add_button(self, widget: QPushButton) -> QPushButton:
        """One more beside the run button."""
        widget.setAutoDefault(False)
        self.extra.addWidget(widget)
        return widget

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.running:
            self.cancel()
            event.accept()
            return
        super().keyPressEvent(event)

    def done(self, result: int) -> None:
        self._left.cancel()
        self.job = ""
        super().done(result)

    def closeEvent(self, event: Any) -> None:
        self._left.cancel()
        self.job = ""
        super().closeEvent(event)


class _Left:
    """The job that a window which goes would leave behind."""

    def __init__(self, board: Any):
        self.board, self.job = board, ""

    def cancel(self, *_: Any) -> None:
        if self.job:
            self.board.cancel(self.job)
            self.job = ""
