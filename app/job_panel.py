"""The job dock: the queue with progress and cancel at the left; log, curves and samples of the chosen job at the right.

Covers watching and stopping. Restarting with other settings opens a wizard, which is the window's (signal `restart_wanted`).
"""

from __future__ import annotations

import time
from typing import Any

from PySide6.QtCore import QCoreApplication, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import text
from app.error_dialog import ErrorDialog, show_failure
from app.layer_error import LayerErrorView
from app.layer_parts import kind_and_part
from app.measures import measure
from app.plots.curves import CurvesView
from app.samples import SamplesView
from app.theme import icon, mono, restyle, theme
from app.widgets import Bar, ElidedLabel, EmptyState, IconLabel, Segmented, label, panel, tool_button
from core.events import Log, Metric, Samples

ROW, HEAD = 46, 32
REDRAW_MS = 90
LEAST_TITLED = 600  # pixels of the right panel that have room for a title beside its controls
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
RESTARTABLE = ("import", "apply", "evaluate", "speed", "export")
HIDDEN = ("generate", "try-export")  # the decode lab and the export's trial show these themselves


class JobPanel(QWidget):
    """`library`, where given, lets a finished job say what it changed."""

    restart_wanted = Signal(object)  # core.records.Job
    variant_wanted = Signal(str)

    def __init__(self, board: Any, library: Any = None):
        super().__init__()
        self.board, self.library = board, library
        self.current = ""
        self._rows: dict[str, JobRow] = {}
        self._picked = False  # whether a person chose the job that's shown

        left = panel()
        box = QVBoxLayout(left)
        box.setContentsMargins(14, 8, 8, 8)
        box.setSpacing(4)
        head = QHBoxLayout()
        head.addWidget(_tall(label(self.tr("Jobs"), "section")))
        head.addStretch(1)
        self.count = label("", "caption")
        head.addWidget(self.count)
        self.clear = tool_button("trash", self.tr("Take finished jobs off the list"), self._clear, px=14)
        self.clear.setObjectName("clear_jobs")
        head.addWidget(self.clear)
        box.addLayout(head)
        self._list = QWidget()
        self._column = QVBoxLayout(self._list)
        self._column.setContentsMargins(0, 0, 4, 0)
        self._column.setSpacing(2)
        self._column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(self._list)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll = scroll
        self._none = EmptyState("queued", self.tr("No jobs"), self.tr("What you start appears here, with its progress and its log."))
        self._none.picture.hide()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._none)
        self._stack.addWidget(scroll)
        box.addWidget(self._stack, 1)

        right = panel()
        box = QVBoxLayout(right)
        box.setContentsMargins(14, 8, 10, 8)
        box.setSpacing(4)
        head = QHBoxLayout()
        head.setSpacing(8)
        self.title = ElidedLabel(self.tr("Log"), "section")
        self.title.setFixedHeight(HEAD)
        head.addWidget(self.title, 1)
        parts = (("log", self.tr("Log")), ("curves", self.tr("Curves")), ("layers", self.tr("Layers")), ("samples", self.tr("Samples")))
        self.tabs = Segmented(parts)
        self.tabs.chosen.connect(self._show_page)
        for key in ("layers", "samples"):  # until a job has some to show
            self.tabs.buttons[key].hide()
        head.addWidget(self.tabs)
        self.level = QComboBox()
        self.level.setObjectName("log_level")
        self.level.setAccessibleName(self.tr("Least level shown"))
        for words, key in (
            (self.tr("All levels"), "DEBUG"),
            (self.tr("Information"), "INFO"),
            (self.tr("Warnings"), "WARN"),
            (self.tr("Errors"), "ERROR"),
        ):
            self.level.addItem(words, key)
        self.level.setCurrentIndex(1)
        self.level.currentIndexChanged.connect(lambda: self.log.set_level(self.level.currentData()))
        head.addWidget(self.level)
        self.pause = tool_button("pause", self.tr("Pause"), lambda: self.toggle_pause(self.current))
        self.pause.setObjectName("pause_job")
        self.keep = tool_button("stop", self.tr("Stop here and keep the best"), lambda: self.stop_and_keep(self.current))
        self.keep.setObjectName("stop_and_keep")
        head.insertWidget(1, self.pause)
        head.insertWidget(2, self.keep)
        head.insertStretch(3, 0)  # where the title isn't there
        self.copy = tool_button("copy", self.tr("Copy the log"), lambda: QGuiApplication.clipboard().setText(self.log.toPlainText()))
        self.copy.setObjectName("copy_log")
        head.addWidget(self.copy)
        box.addLayout(head)
        self.log = LogView()
        self.curves = CurvesView(board)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.log)
        self.pages.addWidget(self.curves)
        self.layers = LayerErrorView(board)
        self.pages.addWidget(self.layers)
        self.samples = SamplesView(board)
        self.pages.addWidget(self.samples)
        box.addWidget(self.pages, 1)

        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setHandleWidth(8)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(left)
        self.splitter.addWidget(right)
        self.splitter.setSizes([644, 772])
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.splitter)
        self.setMinimumHeight(120)
        self._right = right
        self.splitter.splitterMoved.connect(lambda *_: self._fit())

        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self.refresh)
        board.event.connect(self._on_event)
        if library is not None:
            library.changed.connect(self.refresh)
        self.refresh()

    # -- following the board

    def _on_event(self, event: Any) -> None:
        if isinstance(event, Log) and event.job == self.current:
            self.log.add(event)
        if isinstance(event, Metric) and event.job == self.current and kind_and_part(event.name):
            self._offer("layers", True)
        if isinstance(event, Samples) and event.job == self.current:
            self._offer("samples", True)
        if not isinstance(event, (Log, Metric, Samples)) and not self._later.isActive():
            self._later.start()

    def states(self) -> list[Any]:
        """Running first, then queued, then what's over, the latest first."""
        shown = [s for s in self.board.states() if s.job.kind not in HIDDEN]
        rank = {"running": 0, "queued": 1}
        order = sorted(enumerate(shown), key=lambda p: (rank.get(p[1].status, 2), p[0] if p[1].status in rank else -p[0]))
        return [s for _, s in order]

    def refresh(self) -> None:
        states = self.states()
        ids = [s.job.id for s in states]
        for gone in [id for id in self._rows if id not in ids]:
            row = self._rows.pop(gone)
            self._column.removeWidget(row)
            row.deleteLater()
        fresh = ""
        for at, state in enumerate(states):
            row = self._rows.get(state.job.id)
            if row is None:
                row = self._rows[state.job.id] = JobRow(state, self)
                if not state.over and not fresh:
                    fresh = state.job.id
            if self._column.indexOf(row) != at:
                self._column.removeWidget(row)
                self._column.insertWidget(at, row)
            row.refresh(state)
        running = sum(s.status == "running" for s in states)
        queued = sum(s.status == "queued" for s in states)
        parts = []
        if running:
            parts.append(self.tr("{n} running").format(n=running))
        if queued:
            parts.append(self.tr("{n} queued").format(n=queued))
        self.count.setText(" · ".join(parts))
        self._show_controls()
        self.clear.setVisible(any(s.over for s in states))
        self._stack.setCurrentIndex(1 if states else 0)
        shown = self.board.state(self.current)
        at_work = next((s.job.id for s in states if s.status == "running"), "")
        if fresh and (shown is None or shown.over or not self._picked):
            self.show_job(at_work or fresh)
        elif at_work and not self._picked and shown is not None and shown.status not in ("running", "failed"):
            self.show_job(at_work)  # what waits has no log yet, and what's done has had its turn
        elif self.current not in ids:
            self.show_job(ids[0] if ids else "")

    def show_job(self, job: str, *, picked: bool = False) -> None:
        """Shows a job's log and curves. `picked`: a person chose it, so a new job doesn't take its place."""
        self._picked = picked and bool(job)
        if job != self.current or not job:
            self.current = job
            state = self.board.state(job) if job else None
            self.title.setText(state.job.title if state else self.tr("Log"))
            self.log.show_lines(state.log if state else [])
            self.curves.show_job(job)
            self.layers.show_job(job)
            self.samples.show_job(job)
            self._offer("layers", bool(self.layers.parts))
            self._offer("samples", bool(state and state.samples))
        self._show_controls()
        for id, row in self._rows.items():
            row.set_current(id == job)
        if job in self._rows:  # once the list has been laid out with it
            QTimer.singleShot(0, self._rows[job], lambda row=self._rows[job]: self._scroll.ensureWidgetVisible(row, 0, 2))

    def _show_page(self, key: str) -> None:
        """'log', 'curves', 'layers' or 'samples'. The level and the copy are the log's."""
        self.pages.setCurrentIndex(("log", "curves", "layers", "samples").index(key))
        for part in (self.level, self.copy):
            part.setVisible(key == "log")

    def _show_controls(self) -> None:
        """The shown job's pause and early end, where they mean something."""
        state = self.board.state(self.current) if self.current else None
        show_pause(self.pause, state)
        self.keep.setVisible(state is not None and can_end_early(state))
        self._fit()

    def _fit(self) -> None:
        """The title yields to the controls where there's no room for both: the job is marked in the list as well."""
        self.title.setVisible(self._right.width() >= LEAST_TITLED or self.pause.isHidden())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit)  # once the parts have their places

    def _offer(self, key: str, some: bool) -> None:
        """A tab that's there only for jobs that have some of it; another job's view falls back to its log."""
        tab = self.tabs.buttons[key]
        if some == tab.isHidden():
            tab.setVisible(some)
            if not some and self.tabs.current == key:
                self.tabs.set_current("log")
                self._show_page("log")

    # -- doing

    def toggle_pause(self, job: str) -> None:
        """Pauses a running job, or lets it go on."""
        state = self.board.state(job)
        if state is not None and can_pause(state):
            self.board.control(job, "resume" if state.paused or state.pausing else "pause")
            self.refresh()

    def stop_and_keep(self, job: str) -> None:
        """Ends a training early: what was best so far becomes the variant."""
        state = self.board.state(job)
        if state is not None and can_end_early(state):
            self.board.control(job, "stop")
            self.refresh()

    def _clear(self) -> None:
        for state in self.states():
            if state.over:
                self.board.remove(state.job.id)
        self.refresh()

    def activate(self, job: str) -> None:
        """What a double click does: a failure is explained, a result shown, a running job's log brought up."""
        state = self.board.state(job)
        if state is None:
            return
        self.show_job(job, picked=True)
        if state.failure is not None:
            self.explain(job)
        elif state.status == "finished" and (made := made_by(state)):
            self.variant_wanted.emit(made)

    def explain(self, job: str) -> ErrorDialog | None:
        state = self.board.state(job)
        if state is None or state.failure is None:
            return None
        return show_failure(self.window(), state.failure, state.job.title, state.device)

    def step(self, job: str, by: int) -> None:
        """Moves the choice up or down."""
        ids = [s.job.id for s in self.states()]
        if job in ids:
            to = ids[min(max(ids.index(job) + by, 0), len(ids) - 1)]
            self.show_job(to, picked=True)
            self._rows[to].setFocus()
            self._scroll.ensureWidgetVisible(self._rows[to])

    def menu(self, job: str) -> QMenu:
        state = self.board.state(job)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made = made_by(state)
        if made:
            menu.addAction(icon("chevron"), self.tr("Show the variant"), lambda: self.variant_wanted.emit(made))
        if state.failure is not None:
            menu.addAction(icon("error"), self.tr("Explain the failure…"), lambda: self.explain(job))
        if state.job.kind in RESTARTABLE:
            menu.addAction(icon("replay"), self.tr("Restart with other settings…"), lambda: self.restart_wanted.emit(state.job))
        if can_pause(state):
            resting = state.paused or state.pausing
            words = self.tr("Go on") if resting else self.tr("Pause")
            menu.addAction(icon("play" if resting else "pause"), words, lambda: self.toggle_pause(job))
        if can_end_early(state):
            menu.addAction(icon("stop"), self.tr("Stop here and keep the best"), lambda: self.stop_and_keep(job))
        menu.addAction(icon("copy"), self.tr("Copy the log"), lambda: QGuiApplication.clipboard().setText(log_text(state.log)))
        menu.addSeparator()
        if state.over:
            menu.addAction(icon("close"), self.tr("Take off the list"), lambda: self._remove(job))
        else:
            menu.addAction(icon("close"), self.tr("Cancel"), lambda: self.board.cancel(job))
        return menu

    def _remove(self, job: str) -> None:
        self.board.remove(job)
        self.refresh()

    def what_changed(self, state: Any) -> str:
        """What a finished job changed, in a line."""
        result, lib = state.result, self.library
        made = made_by(state)
        v = lib.get(made) if lib is not None and made else None
        if v is not None:
            parent = lib.get(v.parent) if v.parent else None
            size = text.fmt_bytes(v.ledger.bytes_on_disk)
            if parent:
                size += f" ({text.fmt_change(v.ledger.bytes_on_disk / parent.ledger.bytes_on_disk)})" if parent.ledger.bytes_on_disk else ""
            parts = [v.name, size]
            kind = lib.score_kind(v)
            score = lib.scores(kind).get(v.id)
            if score:
                parts.append(f"{measure(kind).title} {measure(kind).show(score.value)}")
            return " · ".join(parts)
        if isinstance(result.get("measurements"), list):
            shown = []
            for m in result["measurements"][:3]:
                kind, value = (m.get("kind"), m.get("value")) if isinstance(m, dict) else (m.kind, m.value)
                shown.append(f"{measure(kind).title} {measure(kind).show(value)}")
            return " · ".join(shown)
        if result.get("folder"):
            return self.tr("Exported to {folder}").format(folder=result["folder"])
        return self.tr("Done")


def made_by(state: Any) -> str:
    """The variant that a job made (the last, where it made several), or ''."""
    made = state.result.get("variants") or [state.result.get("variant") or ""]
    return made[-1]


def can_pause(state: Any) -> bool:
    return state.status == "running" and not (state.cancelling or state.stopping)


def can_end_early(state: Any) -> bool:
    """Whether it's a training under way, which has a best step to keep."""
    training = state.job.kind == "apply" and "loss" in state.curves and state.stage == "Training"
    return can_pause(state) and training


def show_pause(press: QToolButton, state: Any) -> None:
    """The button as a job's state has it: to pause, or to go on."""
    tr = QCoreApplication.translate
    able = state is not None and can_pause(state)
    press.setVisible(able)
    resting = able and (state.paused or state.pausing)
    words = tr("jobs", "Go on") if resting else tr("jobs", "Pause: it keeps its place and its memory, and goes on when you say")
    if press.toolTip() != words:
        press.setIcon(icon("play" if resting else "pause"))
        press.setToolTip(words)
        press.setAccessibleName(tr("jobs", "Go on") if resting else tr("jobs", "Pause"))


class JobRow(QFrame):
    """Two lines, a bar, the time left, pause and ✕. States differ by picture and words, not by colour alone."""

    def __init__(self, state: Any, owner: JobPanel):
        super().__init__()
        self.job, self._owner = state.job.id, owner
        self._current = False
        self.setObjectName("job_row")
        self.setFixedHeight(ROW)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 4, 6, 4)
        row.setSpacing(10)
        self.picture = IconLabel("queued", 16, "text2")
        row.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignVCenter)
        words = QVBoxLayout()
        words.setSpacing(1)
        self.title = ElidedLabel(state.job.title, "value")
        self.line = ElidedLabel("", "caption")
        words.addStretch(1)
        words.addWidget(self.title)
        words.addWidget(self.line)
        words.addStretch(1)
        row.addLayout(words, 1)
        aside = QVBoxLayout()
        aside.setSpacing(5)
        top = QHBoxLayout()
        top.setSpacing(6)
        top.addStretch(1)
        self.time = label("", "caption")
        self.again = tool_button("replay", owner.tr("Restart with other settings"), lambda: owner.restart_wanted.emit(state.job), px=14)
        self.again.setObjectName("restart")
        self.pause = tool_button("pause", "", lambda: owner.toggle_pause(self.job), px=14)
        self.pause.setObjectName("pause")
        self.stop = tool_button("close", owner.tr("Cancel"), self._stop, px=14)
        self.stop.setObjectName("cancel")
        for b in (self.again, self.pause, self.stop):
            b.setFixedSize(QSize(22, 20))
        top.addWidget(self.time)
        top.addWidget(self.again)
        top.addWidget(self.pause)
        top.addWidget(self.stop)
        aside.addLayout(top)
        self.bar = Bar(4)
        self.bar.setFixedWidth(140)
        keep = self.bar.sizePolicy()
        keep.setHorizontalPolicy(QSizePolicy.Policy.Fixed)
        self.bar.setSizePolicy(keep)
        aside.addWidget(self.bar, 0, Qt.AlignmentFlag.AlignRight)
        row.addLayout(aside)
        theme().changed.connect(self.update)

    def refresh(self, state: Any) -> None:
        status = "cancelling" if state.cancelling and not state.over else state.status
        if status == "running" and (state.paused or state.pausing or state.stopping):
            status = "stopping" if state.stopping else "paused" if state.paused else "pausing"
        pictures = {
            "running": ("play", "accent"),
            "queued": ("queued", "text2"),
            "finished": ("check", "ok"),
            "failed": ("warning", "err"),
            "cancelled": ("stop", "muted"),
            "cancelling": ("stop", "warn"),
            "pausing": ("pause", "text2"),
            "paused": ("pause", "warn"),
            "stopping": ("stop", "accent"),
        }
        self.picture.set_icon(*pictures[status])
        self.line.setText(self._second_line(state, status))
        role = "error" if status == "failed" else "caption"
        if self.line.property("role") != role:
            self.line.setProperty("role", role)
            restyle(self.line)
        tr = self._owner.tr
        if status == "running":
            self.time.setText(text.fmt_left(state.left))
        elif status == "paused":
            self.time.setText(tr("Paused"))
        elif state.over:
            self.time.setText(text.fmt_seconds(state.seconds) if state.seconds else "")
        else:
            self.time.setText("")
        self.bar.setVisible(state.status == "running")
        self.bar.set_color("warn" if status == "paused" else "accent")
        self.bar.set_share(state.done / state.total if state.total else 0.0)
        self.again.setVisible(state.over and state.job.kind in RESTARTABLE)
        show_pause(self.pause, state)
        self.stop.setToolTip(tr("Take off the list") if state.over else tr("Cancel"))
        self.stop.setEnabled(status != "cancelling")
        self.setAccessibleName(f"{state.job.title}: {self.line.text()}")

    def _second_line(self, state: Any, status: str) -> str:
        tr = self._owner.tr
        if status in ("running", "paused", "pausing", "stopping"):
            stage = text.core_text(state.stage) if state.stage else tr("Starting")
            parts = [stage]
            if state.total:
                counted = f"{_amount(state.done)} / {_amount(state.total)}"
                parts.append(counted if state.total > 1 else f"{100 * state.done:.0f} %")
            if state.note:
                parts.append(state.note)
            first = {
                "paused": tr("Paused"),
                "pausing": tr("Pauses as soon as it can"),
                "stopping": tr("Stops here; the best is kept"),
            }.get(status)
            if first:
                parts.insert(0, first)
            loss = state.curves.get("loss")
            if loss:
                parts.append(tr("loss {value}").format(value=text.fmt_number(loss[-1][1])))
            return " · ".join(parts)
        if status == "failed":
            return text.failure_text(state.failure)[0] if state.failure else tr("Failed")
        if status == "finished":
            return self._owner.what_changed(state)
        return {"queued": tr("Waits for its turn"), "cancelled": tr("Cancelled; nothing was kept"), "cancelling": tr("Cancelling…")}[status]

    def set_current(self, current: bool) -> None:
        if current != self._current:
            self._current = current
            self.update()

    def _stop(self) -> None:
        state = self._owner.board.state(self.job)
        if state is not None and state.over:
            self._owner._remove(self.job)
        else:
            self._owner.board.cancel(self.job)
            self._owner.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color("accent_soft"))
            painter.drawRoundedRect(self.rect(), 6, 6)
        if self.hasFocus():
            painter.setPen(theme().color("accent"))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 6, 6)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._owner.show_job(self.job, picked=True)
        self.setFocus()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._owner.activate(self.job)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self._owner.menu(self.job).popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._owner.activate(self.job)
        elif key == Qt.Key.Key_Delete:
            self._stop()
        elif key == Qt.Key.Key_Space:
            self._owner.toggle_pause(self.job)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._owner.step(self.job, 1 if key == Qt.Key.Key_Down else -1)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QEvent) -> None:
        self.update()

    def focusOutEvent(self, event: QEvent) -> None:
        self.update()


def _tall(widget: QWidget) -> QWidget:
    """As high as the other panel's heading, so that both stand on one line."""
    widget.setFixedHeight(HEAD)
    return widget


def _amount(x: float) -> str:
    return text.fmt_count(x) if float(x).is_integer() else text.fmt_number(x, 3)


def log_line(entry: Log) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(entry.time))}  {entry.level:<5}  {entry.text}"


def log_text(lines: list[Log]) -> str:
    return "\n".join(log_line(entry) for entry in lines)


class LogView(QPlainTextEdit):
    """Follows its end as long as the end is in view. Levels differ by word and colour."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setObjectName("log")
        self.setAccessibleName(self.tr("Log"))
        self.setProperty("bare", True)
        self.setFont(mono(12))
        self.setPlaceholderText(self.tr("Nothing logged yet"))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)  # what a job says last is its result, and to be read whole
        self.setMaximumBlockCount(5_000)
        self.document().setDocumentMargin(2)
        self._level = "INFO"
        self._lines: list[Log] = []
        self._waiting: list[Log] = []
        self._flush = QTimer(self)
        self._flush.setSingleShot(True)
        self._flush.setInterval(REDRAW_MS)
        self._flush.timeout.connect(self._write)
        theme().changed.connect(self._again)

    def set_level(self, level: str) -> None:
        self._level = level
        self._again()

    def show_lines(self, lines: list[Log]) -> None:
        self._lines = list(lines)
        self._again()

    def add(self, entry: Log) -> None:
        self._lines.append(entry)
        del self._lines[:-5_000]
        self._waiting.append(entry)
        if not self._flush.isActive():
            self._flush.start()

    def _again(self) -> None:
        self._waiting = []
        self.clear()
        self._waiting = list(self._lines)
        self._write()
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _write(self) -> None:
        shown = [e for e in self._waiting if LEVELS.index(e.level) >= LEVELS.index(self._level)]
        self._waiting = []
        if not shown:
            return
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2  # before the text grows
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.beginEditBlock()
        t = theme()
        plain, pale = t.color("text"), t.color("muted")
        strong = {"WARN": t.color("warn"), "ERROR": t.color("err"), "DEBUG": t.color("muted")}
        for entry in shown:
            line = log_line(entry)
            color = strong.get(entry.level, plain)
            if not self.document().isEmpty() or cursor.position():
                cursor.insertText("\n")
            cursor.insertText(line[:8], _colored(pale))
            cursor.insertText(line[8:17], _colored(strong.get(entry.level, t.color("text2"))))
            cursor.insertText(line[17:], _colored(color))
        cursor.endEditBlock()
        if at_end:
            bar.setValue(bar.maximum())


def _colored(color: QColor) -> QTextCharFormat:
    out = QTextCharFormat()
    out.setForeground(color)
    return out
