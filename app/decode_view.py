"""The decode lab: a small model drafts for a large one, and every token's fate is seen.

Covers the life of a run (start, pause, step, stop, record), replaying and scrubbing what was recorded, and how controls,
figures, token flow, card and plots are put together. Each of those is a file of its own; what a run is and what its
numbers mean is app.decode_run's, and no model is touched here: Run submits a GenerateSpec to the board, and Rounds come back.
"""

from __future__ import annotations

import datetime
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QKeySequence, QPainter, QPixmap, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.decode_controls import COMPACT, Controls
from app.decode_run import (
    SPECULATIVE,
    DecodeRun,
    Figures,
    Kind,
    cells_of_prompt,
    cells_of_round,
    explain,
    figures,
    read_run,
    recordings,
)
from app.error_dialog import show_failure
from app.plots.acceptance import PlotPanel, RacePlot, RoundsPlot, rounds_title
from app.text import TIMES, failure_text, fmt_percent, fmt_seconds
from app.theme import icon, mono, theme
from app.token_card import TokenCard, kind_hint, kind_word, number
from app.token_flow import TokenFlow, paint_cell
from app.widgets import ElidedLabel, EmptyState
from core import events
from core.errors import UserError
from core.errors import explain as explain_error
from core.records import new_id
from core.workspace import write_atomically

NONE = "\u2014"  # an unknown figure
REFRESH_MS = 90  # figures and plots, at most so often
FRAME_MS = 33
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
LOWEST_FLOW = 184  # px: room for the empty state's words and its button
WRITE_BUDGET = 0.004  # seconds of writing between two looks at the window


class StatCard(QFrame):
    """A figure with its name above and where it comes from below."""

    def __init__(self, name: str, title: str, tip: str) -> None:
        super().__init__()
        self.setProperty("panel", True)
        self.setObjectName(name)
        self.setToolTip(tip)
        self.setAccessibleName(title)
        self._title = title
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 8, 10, 8)
        box.setSpacing(1)
        self.parts = []
        for words, role in ((title, "caption"), (NONE, "figure"), ("", "muted")):
            label = ElidedLabel(words, role)
            box.addWidget(label)
            self.parts.append(label)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def value(self) -> str:
        return self.parts[1].text()

    @property
    def note(self) -> str:
        return self.parts[2].text()

    def set(self, value: str, note: str) -> None:
        if value != self.value:
            self.parts[1].setText(value)
        if note != self.note:
            self.parts[2].setText(note)
        self.setAccessibleDescription(f"{value} {note}")


class LegendButton(QToolButton):
    """A kind of token: a swatch as it's painted in the flow, and its word. Pressed, it dims every other kind."""

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.kind = kind
        self.setObjectName(f"legend-{kind.name.lower()}")
        self.setCheckable(True)
        self.setText(" " + kind_word(kind))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(18, 13))
        self.setToolTip(kind_hint(kind) + "\n" + self.tr("Click to dim the others."))
        self.setAccessibleName(self.tr("Show only: {kind}").format(kind=kind_word(kind)))
        self.paint_swatch()
        theme().changed.connect(self.paint_swatch)

    def worded_width(self) -> int:
        return self.fontMetrics().horizontalAdvance(self.text()) + 40

    def show_word(self, on: bool) -> None:
        """Without room for all the words there are only swatches; their tooltips name them."""
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if on else Qt.ToolButtonStyle.ToolButtonIconOnly
        self.setToolButtonStyle(style)

    def paint_swatch(self) -> None:
        ratio = 3
        pixmap = QPixmap(18 * ratio, 13 * ratio)
        pixmap.setDevicePixelRatio(ratio)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setFont(mono(9))
        paint_cell(painter, QRectF(0, 0, 18, 13), "", self.kind)
        painter.end()
        self.setIcon(QIcon(pixmap))


class Recorder(QObject):
    """Writes finished runs to disk a few milliseconds at a time, so that a long one doesn't hold up the window."""

    failed = Signal(object)  # UserError
    written = Signal(object)  # DecodeRun

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._queue: deque[tuple[DecodeRun, Path, Iterator[str], list[str]]] = deque()
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._work)

    def record(self, run: DecodeRun, path: Path) -> None:
        self._queue.append((run, path, run.lines(), []))
        self._timer.start()

    def flush(self) -> None:
        """Writes all that is waiting, now."""
        while self._queue:
            self._work(float("inf"))

    def _work(self, budget: float = WRITE_BUDGET) -> None:
        if not self._queue:
            self._timer.stop()
            return
        run, path, lines, done = self._queue[0]
        until = time.monotonic() + budget
        for line in lines:
            done.append(line)
            if time.monotonic() > until:
                return
        self._queue.popleft()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, "".join(done))
        except OSError as error:
            self.failed.emit(explain_error(error))
            return
        run.path = path
        self.written.emit(run)


class ReplayBar(QWidget):
    """Play, a slider over the rounds, where it stands, how fast."""

    moved = Signal(int)  # rounds over
    play_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.play = QToolButton()
        self.play.setObjectName("replay")
        self.play.setIconSize(QSize(16, 16))
        self.play.clicked.connect(lambda: self.play_pressed.emit())
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("scrub")
        self.slider.setPageStep(8)
        self.slider.setAccessibleName(self.tr("Rounds shown"))
        self.slider.setToolTip(self.tr("Drag through the rounds of this run"))
        self.slider.valueChanged.connect(self.moved)
        self.where = QLabel()
        self.where.setProperty("role", "muted")
        self.where.setMinimumWidth(150)
        self.where.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.speed = QComboBox()
        self.speed.setObjectName("speed")
        self.speed.setProperty("flat", True)
        self.speed.setAccessibleName(self.tr("Replay speed"))
        self.speed.setToolTip(self.tr("Replay speed: {times}1 is as fast as it was").format(times=TIMES))
        for value in SPEEDS:
            self.speed.addItem(f"{TIMES}{value:g}", value)
        self.speed.setCurrentIndex(SPEEDS.index(1.0))
        self.speed.setFixedWidth(72)
        box = QHBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(self.play)
        box.addWidget(self.slider, 1)
        box.addWidget(self.where)
        box.addWidget(self.speed)
        self.set_playing(False)

    def set_playing(self, playing: bool) -> None:
        words = self.tr("Pause the replay") if playing else self.tr("Replay this run")
        self.play.setIcon(icon("pause" if playing else "replay"))
        self.play.setToolTip(words)
        self.play.setAccessibleName(words)

    def set_position(self, done: int, of: int, seconds: float) -> None:
        was = self.slider.blockSignals(True)
        self.slider.setRange(0, of)
        self.slider.setValue(done)
        self.slider.blockSignals(was)
        self.where.setText(
            self.tr("round {done} of {of} \u00b7 {seconds}").format(done=done, of=of, seconds=self.tr("{n} s").format(n=f"{seconds:.2f}"))
        )


class DecodeView(QWidget):
    """The page. `open_model` asks for the open wizard (the empty state's button)."""

    open_model = Signal()
    started = Signal(str)  # job
    finished = Signal(object)  # DecodeRun

    def __init__(self, library, board) -> None:
        super().__init__()
        self.library, self.board = library, board
        self._job = ""  # of the live run
        self._live: DecodeRun | None = None
        self._shown: DecodeRun | None = None
        self._done = 0  # rounds of the shown run in the flow
        self._offsets = [0]  # cells after so many rounds
        self._runs: list[DecodeRun] = []  # of this session, oldest first
        self._steps, self._pause_asked, self._stopping = 0, False, False
        self._clock, self._ticked = 0.0, 0.0  # replay: seconds into the run, and when that was
        self._failure: events.Failed | UserError | None = None
        self._home: Path | None = None
        self._recorder = Recorder(self)
        self._recorder.failed.connect(self._not_recorded)
        self._make()
        self._refreshing = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._refreshing.timeout.connect(self._refresh)
        self._player = QTimer(self, interval=FRAME_MS)
        self._player.timeout.connect(self._tick)
        board.event.connect(self._take)
        library.changed.connect(self._library_changed)
        QCoreApplication.instance().aboutToQuit.connect(self.close_recordings)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, self._run_if_able, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._library_changed()
        if board.catalogue is not None:
            self.controls.set_devices(board.catalogue.devices)
        self._show_run(None)

    # -- making

    def _make(self) -> None:
        self.controls = Controls()
        self.controls.run_pressed.connect(self.run)
        self.controls.pause_pressed.connect(self.pause)
        self.controls.step_pressed.connect(self.step)
        self.controls.stop_pressed.connect(self.stop)
        self.controls.changed.connect(self._controls_changed)
        self.cards = self._make_cards()
        cards = QHBoxLayout()
        cards.setSpacing(8)
        for card in self.cards.values():
            cards.addWidget(card, 1)
        self.rounds_plot, self.race_plot = RoundsPlot(), RacePlot()
        self.rounds_plot.picked.connect(self.show_round)
        self.rounds_panel = PlotPanel(self.rounds_plot, self.tr("A bar for each round: how many of its guesses were kept."))
        self.race_panel = PlotPanel(self.race_plot, self.tr("Tokens over time, with the draft and without."))
        self.race_panel.title.setText(self.tr("Race: tokens over time"))
        plots = QWidget()
        row = QHBoxLayout(plots)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.rounds_panel, 1)
        row.addWidget(self.race_panel, 1)
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setHandleWidth(8)
        self.split.addWidget(self._make_flow())
        self.split.addWidget(plots)
        self.split.setCollapsible(0, False)
        self.split.setStretchFactor(0, 5)
        self.split.setStretchFactor(1, 3)
        self.split.setSizes([400, 240])
        page = QWidget()
        page.setMinimumWidth(1)  # the controls get tighter than they ask for, rather than stand out at the right
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addWidget(self.controls)
        box.addLayout(cards)
        box.addWidget(self.split, 1)
        self.scroll = QScrollArea()  # for windows too low for all of it
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setWidgetResizable(True)
        self.scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroll.setWidget(page)
        self.scroll.verticalScrollBar().valueChanged.connect(lambda _: self._place_card())
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.scroll)
        self.card = TokenCard(self)
        self.split.splitterMoved.connect(lambda *_: self._place_card())

    def _make_cards(self) -> dict[str, StatCard]:
        return {
            "acceptance": StatCard(
                "acceptance",
                self.tr("Acceptance rate"),
                self.tr("Accepted / tested: of the guesses that the target looked at, how many it kept.\n")
                + self.tr("Guesses behind a dropped one aren't looked at, and don't count."),
            ),
            "per_call": StatCard(
                "per_call",
                self.tr("Tokens per target call"),
                self.tr("New tokens / rounds: each round calls the target once, keeps some guesses, and adds one token of its own.\n")
                + self.tr("Plain decoding has 1."),
            ),
            "speedup": StatCard(
                "speedup",
                self.tr("Measured speed-up"),
                self.tr("Measured: tokens per second with the draft, divided by those without (the race; same seed, prefill excluded).\n")
                + self.tr("Possible: what it would be if only the calls of the two models took time."),
            ),
            "throughput": StatCard(
                "throughput",
                self.tr("Throughput"),
                self.tr("New tokens per second, from the first round on; reading the prompt isn't counted."),
            ),
        }

    def _make_flow(self) -> QFrame:
        panel = QFrame()
        panel.setProperty("panel", True)
        title = self._flow_title = QLabel(self.tr("Token flow"))
        title.setProperty("role", "section")
        head = QHBoxLayout()
        head.setSpacing(2)
        head.addWidget(title)
        head.addStretch(1)
        self.legend = [LegendButton(kind) for kind in (Kind.ACCEPTED, Kind.REJECTED, Kind.CORRECTED, Kind.BONUS, Kind.UNTESTED)]
        for button in self.legend:
            button.toggled.connect(lambda on, b=button: self._filter(b, on))
            head.addWidget(button)
        self.runs_button = QPushButton(self.tr("Runs"))
        self.runs_button.setObjectName("runs")
        self.runs_button.setProperty("flat", True)
        self.runs_button.setStyleSheet("QPushButton::menu-indicator { image: none; width: 0; } QPushButton { min-height: 24px; }")
        self.runs_button.setIcon(icon("down"))
        self.runs_button.setIconSize(QSize(12, 12))
        self.runs_button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow behind the word
        self.runs_button.setToolTip(self.tr("Recorded runs, to look at and replay"))
        self.runs_menu = QMenu(self.runs_button)
        self.runs_menu.setToolTipsVisible(True)
        self.runs_menu.aboutToShow.connect(self._fill_runs)
        self.runs_button.setMenu(self.runs_menu)
        head.addSpacing(6)
        head.addWidget(self.runs_button)
        self.note = QLabel()
        self.note.setObjectName("note")
        self.note.setProperty("role", "muted")
        self.note.setWordWrap(True)
        self.failure_label = QLabel()
        self.failure_label.setObjectName("failure")
        self.failure_label.setProperty("role", "error")
        self.failure_label.setWordWrap(True)
        self.details = QPushButton(self.tr("Details"))
        self.details.setObjectName("details")
        self.details.setProperty("flat", True)
        self.details.clicked.connect(self._show_failure)
        self._failure_row = QWidget()
        row = QHBoxLayout(self._failure_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.failure_label, 1)
        row.addWidget(self.details)
        self._failure_row.hide()
        self.flow = TokenFlow()
        self.flow.pointed.connect(lambda _: self._place_card())
        self.flow.pinned.connect(lambda _: self._place_card())
        self.flow.scrolled.connect(self._place_card)
        self.empty_button = QPushButton()
        self.empty_button.setObjectName("empty-action")
        self.empty_button.clicked.connect(self._empty_pressed)
        self.empty = EmptyState("draft", "", "", [self.empty_button])
        self.empty.lines.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.empty.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.flow)
        self.replay_bar = ReplayBar()
        self.replay_bar.moved.connect(self._scrubbed)
        self.replay_bar.play_pressed.connect(self.replay)
        box = QVBoxLayout(panel)
        box.setContentsMargins(14, 8, 10, 8)
        box.setSpacing(4)
        box.addLayout(head)
        box.addWidget(self.note)
        box.addWidget(self._failure_row)
        box.addWidget(self.stack, 1)
        box.addWidget(self.replay_bar)
        panel.setMinimumHeight(LOWEST_FLOW)
        return panel

    # -- from elsewhere

    def set_target(self, variant: str) -> bool:
        """Chooses the target; False where there's no such variant."""
        return self.controls.choose(self.controls.target, variant)

    def set_draft(self, variant: str) -> bool:
        """Chooses the draft; False where there's no such variant."""
        return self.controls.choose(self.controls.draft, variant)

    @property
    def shown_run(self) -> DecodeRun | None:
        return self._shown

    @property
    def live(self) -> bool:
        return bool(self._job)

    # -- the life of a run

    def run(self) -> None:
        """Submits a decode with what the controls say. Nothing happens while one is under way or something is missing."""
        self._start(paused=False)

    def _run_if_able(self) -> None:
        if self.controls.run_button.isEnabled():
            self.run()

    def step(self) -> None:
        """One more round, then wait; where nothing runs yet, starts and takes the first."""
        if not self._job:
            self._start(paused=True)
        elif self._live is not None and self._live.lanes:
            self.board.control(self._job, "step")
            self._set_state("paused")
        else:
            self._pause_asked = True
            self._steps += 1

    def pause(self) -> None:
        """Waits after the round at hand, or goes on."""
        if not self._job:
            return
        paused = self.controls_state == "paused"
        self.board.control(self._job, "resume" if paused else "pause")
        self._set_state("running" if paused else "paused")

    def stop(self) -> None:
        """Ends the run with what there is; one that hasn't begun is cancelled."""
        if not self._job:
            return
        if self._live is not None and self._live.lanes:
            self._stopping = True
            self.board.control(self._job, "stop")
            self._say(self.tr("Ending after this round\u2026"))
        else:
            self.board.cancel(self._job)
            self._say(self.tr("Cancelling\u2026"))

    def _start(self, *, paused: bool) -> None:
        if self._job or self.controls.problem():
            return
        spec = self.controls.spec(str(self.library.workspace.folder), paused=paused)
        target, draft = self.controls.names()
        name = f"{datetime.datetime.now():%Y-%m-%dT%H-%M-%S}-{new_id('run')[-6:]}"
        run = DecodeRun(name, spec, target, draft)
        self._live = run
        self._steps, self._pause_asked, self._stopping = int(paused), paused, False
        self._fail(None)
        self._show_run(run)
        self._set_state("starting")
        title = self.tr("Decode: {draft} for {target}") if draft else self.tr("Decode: {target}")
        self._job = self.board.submit(spec, title.format(draft=draft, target=target), self.controls.device.currentData() or "auto")
        before = next((s.job.title for s in self.board.states() if s.status == "running" and s.job.id != self._job), "")
        waits = self.tr("Waiting for its turn: {job} is at work\u2026")
        self._say(waits.format(job=before) if before else self.tr("Loading the models\u2026"))
        self.started.emit(self._job)

    def _set_state(self, state: str) -> None:
        self.controls_state = state
        self.controls.set_state(state)
        self.runs_button.setEnabled(state == "idle")
        self.replay_bar.setEnabled(state == "idle")
        if state == "paused":
            self._say(self.tr("Paused. Step takes one more round."))
        elif state == "running":
            self._say("")

    def _take(self, event) -> None:
        if isinstance(event, events.Ready):
            self.controls.set_devices(event.catalogue.devices)
        if not self._job or event.job != self._job or self._live is None:
            return
        run = self._live
        if isinstance(event, events.RoundTaken):
            run.take(event)
            if run is self._shown and run.lanes[event.lane] is run.lane:
                self._append(len(run.lane.rounds))
            self._soon()
        elif isinstance(event, events.DecodeStarted):
            run.take(event)
            self._begun(run, event.lane)
        elif isinstance(event, events.Started):
            self._say(self.tr("Loading the models\u2026"))
        elif isinstance(event, events.Progress) and not run.lanes:
            self._say(self.tr("Loading {name}\u2026").format(name=event.note) if event.note else self.tr("Loading the models\u2026"))
        elif isinstance(event, events.TERMINAL):
            self._ended(run, event)

    def _begun(self, run: DecodeRun, lane: str) -> None:
        if run is self._shown and run.lanes[lane] is run.lane:
            self._rebuild(0)
        if lane != SPECULATIVE and SPECULATIVE in run.lanes:
            if self.controls_state != "paused":
                self._say(self.tr("Decoding once more without the draft, for the race\u2026"))
            return
        if self._pause_asked:
            for _ in range(self._steps):
                self.board.control(self._job, "step")
            if not run.spec.paused and not self._steps:
                self.board.control(self._job, "pause")
            self._set_state("paused")
        else:
            self._set_state("running")

    def _ended(self, run: DecodeRun, event) -> None:
        self._job, self._live = "", None
        self._set_state("idle")
        if isinstance(event, events.Finished):
            run.status = "stopped" if event.result.get("stop") == "stopped" or self._stopping else "finished"
            run.result = event.result
        elif isinstance(event, events.Cancelled):
            run.status = "stopped"
        else:
            run.status = "stopped"
            self._fail(event)
        if run.lane.rounds:
            self._runs.append(run)
            self._recorder.record(run, Path(run.spec.workspace) / "runs" / f"{run.name}.jsonl")
            self._clock = run.lane.at[-1]
            if run is self._shown:
                self._go(len(run.lane.rounds))
        else:
            self._show_run(None)
        self._say(self._note_for(run) if run.lane.rounds else "")
        self._refresh()
        self.finished.emit(run)

    def let_go(self) -> None:
        """Ends the run under way, keeping what there is of it: the view is about to be made anew, and nobody else would end it."""
        if self._job:
            self.board.cancel(self._job)
            self._ended(self._live, events.Cancelled(self._job))
        self.close_recordings()

    def close_recordings(self) -> None:
        """Writes what hasn't been written yet. Called when the window closes."""
        self._recorder.flush()

    def _not_recorded(self, error: UserError) -> None:
        self._fail(error)

    # -- what is shown

    def _show_run(self, run: DecodeRun | None) -> None:
        self._player.stop()
        self.replay_bar.set_playing(False)
        self._shown = run
        self.stack.setCurrentIndex(0 if run is None else 1)
        for button in self.legend:
            button.setChecked(False)
        self._rebuild(0 if run is None else len(run.lane.rounds))
        if run is None:
            self._say_empty()
        self._refresh()

    def _rebuild(self, done: int) -> None:
        self.flow.clear()
        self.flow.set_copy_text("")
        self._done, self._offsets = 0, [0]
        if self._shown is not None:
            self.flow.append(cells_of_prompt(self._shown.lane))
            self._offsets = [len(self.flow.cells)]
            self._append(done)

    def _append(self, done: int) -> None:
        rounds, cells = self._shown.lane.rounds, []
        for i in range(self._done, done):
            cells.extend(cells_of_round(rounds[i], i))
            self._offsets.append(len(self.flow.cells) + len(cells))
        self._done = done
        self.flow.append(cells)

    def _go(self, done: int) -> None:
        """Shows the run as it stood after `done` rounds."""
        run = self._shown
        if run is None:
            return
        done = max(0, min(done, len(run.lane.rounds)))
        if done < self._done:
            self.flow.truncate(self._offsets[done])
            del self._offsets[done + 1 :]
            self._done = done
        else:
            self._append(done)
        self.flow.set_copy_text(run.text() if run.result.get("text") and done == len(run.lane.rounds) else "")
        self._soon()

    def show_round(self, index: int) -> None:
        """Brings a round, counted from 0, into view and points at its first token."""
        if self._shown is None or self.live:
            return
        if index >= self._done:
            self._go(len(self._shown.lane.rounds))
        self.flow.focus_cell(min(self._offsets[index], len(self.flow.cells) - 1))

    def _soon(self) -> None:
        if not self._refreshing.isActive():
            self._refreshing.start()

    def _refresh(self) -> None:
        """Figures, plots and the replay bar."""
        self._refreshing.stop()
        run = self._shown
        whole = run is None or self._done >= len(run.lane.rounds)
        self._show_figures(figures(run, self._done) if run else None)
        lane = run.lane if run else None
        drafted = lane is not None and bool(lane.drafted) and lane.drafted[-1] > 0
        self.rounds_panel.title.setText(rounds_title(lane) if drafted else self.tr("Accepted draft tokens per round"))
        self.rounds_panel.set_empty(
            self.tr("Nothing was drafted in this run, so there's nothing to accept.")
            if lane is not None and lane.rounds and run is not self._live
            else self.tr("A bar for each round: how many of its guesses were kept.")
        )
        self.rounds_panel.show_plot(drafted)
        if drafted:
            self.rounds_plot.set_lane(lane, None if whole else self._done)
        self.race_panel.show_plot(bool(lane and lane.rounds))
        if lane and lane.rounds:
            playing = self._player.isActive()
            moment = self._clock if playing else lane.at[self._done - 1] if self._done else 0.0
            self.race_plot.set_run(run, None if whole and not playing else moment)
        self.replay_bar.setVisible(bool(lane and lane.rounds))
        if lane:
            self.replay_bar.set_position(self._done, len(lane.rounds), lane.at[self._done - 1] if self._done else 0.0)

    def _show_figures(self, f: Figures | None) -> None:
        run, cards = self._shown, self.cards
        plain = run.plain if run else self.controls.plain
        if f is None or not f.rounds:
            cards["acceptance"].set(NONE, self.tr("run to see") if not plain else self.tr("needs a draft"))
            cards["per_call"].set(NONE, self.tr("run to see"))
            cards["speedup"].set(NONE, self.tr("needs a draft") if plain else self.tr("run with Race to measure"))
            cards["throughput"].set(NONE, self.tr("run to see"))
            return
        if f.acceptance is None:
            cards["acceptance"].set(NONE, self.tr("nothing was drafted"))
        else:
            cards["acceptance"].set(
                fmt_percent(f.acceptance), self.tr("{accepted} of {tested} tested").format(accepted=f.accepted, tested=f.tested)
            )
        if plain:
            cards["per_call"].set("1.00", self.tr("always, without a draft"))
        else:
            most = self.tr("at most {most} at \u03b3 = {gamma}").format(most=f"{f.gamma + 1:.2f}", gamma=f.gamma)
            cards["per_call"].set(f"{f.tokens_per_call:.2f}", most)
        possible = self.tr("possible {times}{x}").format(times=TIMES, x=f"{f.possible:.2f}") if f.possible else ""
        if f.speedup is not None:
            verdict = "" if f.speedup >= 1 else self.tr("slower than plain")
            cards["speedup"].set(f"{TIMES}{f.speedup:.2f}", " \u00b7 ".join(part for part in (verdict, possible) if part))
        elif plain:
            cards["speedup"].set(NONE, self.tr("there's no draft to compare"))
        elif self._live is run and run.spec is not None and run.spec.race:
            cards["speedup"].set(NONE, self.tr("the race comes after this"))
        else:
            cards["speedup"].set(NONE, " \u00b7 ".join(part for part in (possible, self.tr("race to measure")) if part))
        speed = f"{f.throughput:.1f}" if f.throughput is not None else ""
        if f.plain_throughput is not None:
            beside = self.tr("plain {n} tok/s").format(n=f"{f.plain_throughput:.1f}")
        elif plain:
            beside = self.tr("{n} tokens in {time}").format(n=f.tokens, time=fmt_seconds(f.seconds))
        else:
            beside = self.tr("plain {none}: run the race").format(none=NONE)
        cards["throughput"].set(self.tr("{n} tok/s").format(n=speed) if speed else NONE, beside)

    def _say(self, words: str) -> None:
        self.note.setText(words)
        self.note.setVisible(bool(words))

    def _note_for(self, run: DecodeRun) -> str:
        """What there is to say about a run that's over: why nothing is highlighted, how it ended."""
        lane = run.lane
        if run.plain:
            return self.tr(
                "Nothing is highlighted since nothing was drafted: the target wrote every token itself. Choose a draft and run again."
            )
        if lane.drafted and lane.drafted[-1] == 0:
            return self.tr("Nothing is highlighted since the draft had nothing to propose in any of the {n} rounds.").format(
                n=len(lane.rounds)
            )
        ends = {
            "end of text": self.tr("It ended by itself: the target wrote its end-of-text token."),
            "stop string": self.tr("It ended at a stop string."),
            "stopped": self.tr("You stopped it here."),
        }
        stop = run.result.get("stop") or (lane.rounds[-1].stop if lane.rounds else "")
        return " ".join(part for part in (ends.get(stop, ""), self._identity(run)) if part)

    def _identity(self, run: DecodeRun) -> str:
        """Whether a greedy race wrote the same twice; '' where that isn't known."""
        if run.result.get("identical"):
            return self.tr("With the draft and without, the text is the same, token for token.")
        parted = run.result.get("divergence")
        if not parted:
            return ""
        words = self.tr("The two texts part at token {n}.").format(n=parted["position"] + 1)
        if parted.get("margin") is not None:
            words += " " + self.tr("There the target's two likeliest were {margin} apart.").format(margin=number(parted["margin"]))
        return words

    def _fail(self, failure: events.Failed | UserError | None) -> None:
        self._failure = failure
        self._failure_row.setVisible(failure is not None)
        if failure is not None:
            sentence, hint = failure_text(failure)
            self.failure_label.setText(f"{sentence} {hint}".strip())

    def _show_failure(self) -> None:
        failure = self._failure
        if isinstance(failure, UserError):
            failure = events.Failed("", failure.kind, failure.template, failure.hint_template, failure.detail, failure.values)
        if failure is not None:
            show_failure(self, failure, self.tr("Decoding failed"))

    def _say_empty(self) -> None:
        if self._shown is not None or not hasattr(self, "empty"):
            return
        if not self.library.variants():
            title, words = self.tr("No model to decode with yet"), self.tr("Open a model")
            lines = self.tr("Open one and compress it: the small copy can then draft for the large one.")
            able, why = True, ""
        else:
            title, words = self.tr("Watch a guess being checked"), self.tr("Run")
            lines = self.tr("A small model guesses tokens, the large one checks them in one call.") + " "
            lines += self.tr("Each token appears here with its fate and the reason.")
            why = self.controls.problem()
            able = not why and not self.live
        self.empty.title.setText(title)
        self.empty.lines.setText(lines)
        self.empty_button.setText(words)
        self.empty_button.setEnabled(able)
        self.empty_button.setToolTip(why)

    def _controls_changed(self) -> None:
        self._say_empty()
        if self._shown is None and hasattr(self, "replay_bar"):
            self._show_figures(None)

    def _empty_pressed(self) -> None:
        if self.library.variants():
            self.run()
        else:
            self.open_model.emit()

    def _filter(self, button: LegendButton, on: bool) -> None:
        if on:
            for other in self.legend:
                if other is not button:
                    other.setChecked(False)
        chosen = next((b.kind for b in self.legend if b.isChecked()), None)
        self.flow.set_only(chosen)

    # -- the card

    def _place_card(self) -> None:
        index, run = self.flow.current, self._shown
        if run is None or not 0 <= index < len(self.flow.cells) or not self.flow.isVisible():
            self.card.hide()
            return
        rect = self.flow.rect_of(index)
        viewport = self.flow.viewport()
        if rect.bottom() < 0 or rect.top() > viewport.height():
            self.card.hide()  # scrolled away; it comes back with its token
            return
        beside = QRect(viewport.mapTo(self, rect.topLeft()), rect.size())
        if not self.rect().intersects(beside):
            self.card.hide()  # the page is scrolled away from it
            return
        self.card.show_facts(
            explain(run.lane, self.flow.cells[index]), beside, self.rect().adjusted(4, 4, -4, -4), self.flow.pinned_cell >= 0
        )
        if self.flow.hasFocus():
            self.flow.setAccessibleDescription(self.card.description())  # so that a screen reader says it as the keys move

    def minimumSizeHint(self) -> QSize:
        """As wide as its controls want, which a splitter heeds; low, since the page scrolls."""
        return QSize(self.controls.minimumSizeHint().width(), LOWEST_FLOW)

    def sizeHint(self) -> QSize:
        return self.scroll.widget().sizeHint()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        compact = self.width() < COMPACT
        self.empty.picture.setVisible(self.height() > 700)
        self.replay_bar.where.setMinimumWidth(120 if compact else 150)
        taken = self._flow_title.sizeHint().width() + self.runs_button.sizeHint().width() + 60
        worded = taken + sum(button.worded_width() for button in self.legend) <= self.width()
        for button in self.legend:
            button.show_word(worded)
        self._place_card()

    def hideEvent(self, event) -> None:
        self._player.stop()
        self.replay_bar.set_playing(False)
        super().hideEvent(event)

    # -- replay

    def replay(self) -> None:
        """Plays the shown run as fast as it was times the chosen speed, from the beginning if it stands at the end; or pauses."""
        run = self._shown
        if run is None or self.live or not run.lane.rounds:
            return
        if self._player.isActive():
            self._player.stop()
            self.replay_bar.set_playing(False)
            self._refresh()
            return
        if self._done >= len(run.lane.rounds):
            self._clock = 0.0
            self._go(0)
        else:
            self._clock = run.lane.at[self._done - 1] if self._done else 0.0
        self.flow.scroll_to_end()
        self._ticked = time.monotonic()
        self._player.start()
        self.replay_bar.set_playing(True)

    def _tick(self) -> None:
        moment = time.monotonic()
        self._advance((moment - self._ticked) * self.replay_bar.speed.currentData())
        self._ticked = moment

    def _advance(self, seconds: float) -> None:
        run = self._shown
        self._clock += seconds
        end = max(run.lane.at[-1], run.race.at[-1] if run.race and run.race.at else 0.0)
        self._go(run.lane.index_at(self._clock))
        if self._clock >= end:
            self._player.stop()
            self.replay_bar.set_playing(False)
            self._refresh()

    def _scrubbed(self, done: int) -> None:
        if self.live or self._shown is None:
            return
        self._player.stop()
        self.replay_bar.set_playing(False)
        self._go(done)
        self._refresh()

    # -- recordings

    def runs_folder(self) -> Path | None:
        return self.library.workspace.folder / "runs" if self.library.workspace else None

    def _fill_runs(self) -> None:
        self.runs_menu.clear()
        known = {run.name: run for run in reversed(self._runs)}
        folder = self.runs_folder()
        stored = {path.stem: (path, head) for path, head in recordings(folder)} if folder else {}
        for name in sorted({*known, *stored}, reverse=True)[:30]:
            run = known.get(name)
            if run is not None:
                words, tip = self._run_words(run.header()), run.spec.prompt if run.spec else ""
                action = self.runs_menu.addAction(words, lambda run=run: self._show_recorded(run))
            else:
                path, head = stored[name]
                words, tip = self._run_words(head), (head.get("spec") or {}).get("prompt", "")
                action = self.runs_menu.addAction(words, lambda path=path: self.open_recording(path))
            action.setToolTip(tip)
            action.setCheckable(True)
            action.setChecked(self._shown is not None and self._shown.name == name)
        if self.runs_menu.isEmpty():
            self.runs_menu.addAction(self.tr("No run is recorded yet")).setEnabled(False)
        self.runs_menu.addSeparator()
        self.runs_menu.addAction(icon("open"), self.tr("Open a recording\u2026"), self._choose_recording)
        back = self.runs_menu.addAction(icon("settings"), self.tr("Use this run's settings"), self._use_settings)
        back.setEnabled(self._shown is not None and self._shown.spec is not None)

    def _run_words(self, head: dict) -> str:
        """A run in the menu: when, who for whom, how."""
        spec, result = head.get("spec") or {}, head.get("result") or {}
        try:
            when = datetime.datetime.fromisoformat(head.get("created", "")).astimezone()
        except ValueError:
            when = None
        today = when is not None and when.date() == datetime.date.today()
        parts = [f"{when:%H:%M}" if today else f"{when:%Y-%m-%d %H:%M}"] if when else []
        who = self.tr("{draft} for {target}") if head.get("draft_name") else self.tr("{target}, plain")
        parts.append(who.format(draft=head.get("draft_name", ""), target=head.get("target_name", "")))
        if head.get("draft_name"):
            parts.append(f"\u03b3 {spec.get('gamma')}")
        parts.append(self.tr("greedy") if not spec.get("temperature") else self.tr("temp. {t}").format(t=f"{spec['temperature']:g}"))
        if result.get("tested"):
            parts.append(fmt_percent(result.get("accepted", 0) / result["tested"], 0))
        return "  \u00b7  ".join(parts).replace("&", "&&")

    def _show_recorded(self, run: DecodeRun) -> None:
        self._fail(None)
        self._show_run(run)
        self._clock = run.lane.at[-1] if run.lane.at else 0.0
        self._go(len(run.lane.rounds))
        head = self._run_words(run.header()) if run.spec else run.name
        self._say("  ".join(part for part in (self.tr("Recorded: {run}.").format(run=head), self._note_for(run)) if part))
        self._refresh()

    def open_recording(self, path: Path) -> bool:
        """Shows a recorded run from its file; False where it can't be read, and why is said in the view."""
        if self.live:
            return False
        try:
            run = read_run(Path(path))
        except UserError as error:
            self._fail(error)
            return False
        self._show_recorded(run)
        return True

    def _choose_recording(self) -> None:
        folder = self.runs_folder()
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Open a recording"), str(folder or ""), self.tr("Recorded runs (*.jsonl)"))
        if path:
            self.open_recording(Path(path))

    def _use_settings(self) -> None:
        if self._shown is not None and self._shown.spec is not None:
            self.controls.set_spec(self._shown.spec)

    # -- the library

    def _library_changed(self) -> None:
        home = self.library.workspace.folder if self.library.workspace else None
        if home != self._home:
            moved, self._home = self._home is not None, home
            if moved and not self.live:
                self._runs.clear()
                self._fail(None)
                self._say("")
                self._show_run(None)
        self.controls.set_variants(list(self.library.variants()))
        self._say_empty()
