"""The decode lab: a small model drafts for a large one, and every token's fate is seen.

Covers the life of a run (start, pause, step, stop, record), replaying and scrubbing what was recorded, and how controls,
figures, lanes, card and plots are put together. Each of those is a file of its own; what a run is and what its
numbers mean is app.decode_run's, and no model is touched here: Run submits a GenerateSpec to the board, and Rounds come back.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.decode_controls import COMPACT, WHY, Controls
from app.decode_export import as_csv, as_json
from app.decode_lanes import LanePane
from app.decode_parts import NONE, LegendButton, Recorder, ReplayBar, StatCard
from app.decode_run import (
    BESIDE_LANE,
    LANES,
    PLAIN_LANE,
    DecodeRun,
    Figures,
    Kind,
    Phase,
    explain,
    figures,
    read_run,
    recordings,
)
from app.decode_steps import step_text
from app.error_dialog import show_failure
from app.notes import note_text
from app.plots.acceptance import Moment, RacePlot, RoundsPlot, TimelinePlot
from app.plots.lanes import lane_title
from app.plots.slot import PlotSlot
from app.plots.speculation import CostsPlot, GainPlot, OverlapPlot, PositionsPlot
from app.text import TIMES, core_text, failure_text, fmt_percent, fmt_seconds
from app.theme import icon
from app.token_card import TokenCard, number
from app.token_flow import TokenFlow
from app.widgets import EmptyState
from core import events
from core.errors import UserError
from core.errors import explain as explain_error
from core.records import Drafting, Variant, new_id
from core.workspace import write_atomically

REFRESH_MS = 90  # figures and plots, at most so often
FRAME_MS = 33
LOWEST_FLOW = 184  # px: room for the empty state's words and its button


class Page(QWidget):
    """What scrolls only where it can't get any lower: a scroll area would give words that wrap as much height as they'd like."""

    def heightForWidth(self, width: int) -> int:
        return self.layout().totalMinimumHeightForWidth(width)


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
        self._runs: list[DecodeRun] = []  # of this session, oldest first
        self._before: DecodeRun | None = None  # what was shown before the run under way
        self._presses, self._asked = 0, False  # presses of Step not worked off; whether a round was asked for and hasn't come
        self._pause_asked, self._stopping = False, False
        self._clock, self._ticked = 0.0, 0.0  # replay: seconds into the run, and when that was
        self._failure: events.Failed | UserError | None = None
        self._home: Path | None = None
        self._exports: tuple[list[str], dict[str, str]] = ([], {})  # offered, and gone with why
        self._film: Any = None
        self._dialogs: dict[str, QWidget] = {}
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
        self.controls.find_pressed.connect(self.find_draft)
        self.controls.check_pressed.connect(self.check_exactness)
        self.controls.explain_pressed.connect(self.explain_engine)
        self.controls.list_opening.connect(self._look_at_exports)
        self.controls.changed.connect(self._controls_changed)
        self.cards = self._make_cards()
        cards = QHBoxLayout()
        cards.setSpacing(8)
        for card in self.cards.values():
            cards.addWidget(card, 1)
        self.slots = self._make_slots()
        plots = QWidget()
        row = QHBoxLayout(plots)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for slot in self.slots:
            row.addWidget(slot, 1)
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.setHandleWidth(8)
        self.split.addWidget(self._make_flow())
        self.split.addWidget(plots)
        self.split.setCollapsible(0, False)
        self.split.setStretchFactor(0, 5)
        self.split.setStretchFactor(1, 3)
        self.split.setSizes([400, 240])
        page = Page()
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
                self.tr("Tokens per call"),
                self.tr("New tokens / rounds: each round calls the target once, keeps some guesses, and adds one token of its own.\n")
                + self.tr("Plain decoding has 1."),
            ),
            "throughput": StatCard(
                "throughput",
                self.tr("Throughput"),
                self.tr("New tokens per second, from the first round on; reading the prompt isn't counted."),
            ),
            "speedup": StatCard(
                "speedup",
                self.tr("Speed-up"),
                self.tr("Measured: tokens per second with the draft, divided by those without (the race; same seed, prefill excluded).\n")
                + self.tr("Possible: what it would be if only the calls of the two models took time."),
            ),
            "efficiency": StatCard(
                "efficiency",
                self.tr("Efficiency"),
                self.tr("Measured speed-up / possible speed-up: how much of what the calls of this run allow was reached.\n")
                + self.tr("What's missing went into sampling, taking caches back, and telling this window of it."),
            ),
        }

    def _make_slots(self) -> tuple[PlotSlot, PlotSlot]:
        """Two places for plots; either can show any of them."""
        choices = (
            ("rounds", self.tr("Accepted per round"), self.tr("A bar for each round: how many of its guesses were kept."), RoundsPlot),
            (
                "timeline",
                self.tr("Time per round"),
                self.tr("A bar for each round: drafting, verifying, and all around them."),
                TimelinePlot,
            ),
            (
                "positions",
                self.tr("Acceptance by place"),
                self.tr("How often the first, second, third \u2026 token of a draft is kept."),
                PositionsPlot,
            ),
            (
                "overlap",
                self.tr("Acceptance, measured against promised"),
                self.tr("How often guesses are kept, against \u03a3 min(p, q), which is what theory promises."),
                OverlapPlot,
            ),
            (
                "gain",
                self.tr("Speed-up by length, S(\u03b3)"),
                self.tr("The speed-up that each draft length promises: today's, and the best."),
                GainPlot,
            ),
            ("costs", self.tr("Cost of a call, T(n)"), self.tr("What a call of the target costs by the tokens it's fed."), CostsPlot),
            ("race", self.tr("Race: tokens over time"), self.tr("Tokens over time, with the draft and without."), RacePlot),
        )
        left, right = PlotSlot("left-plot", choices, "rounds"), PlotSlot("right-plot", choices, "race")
        for slot in (left, right):
            slot.picked.connect(self.show_round)
        return left, right

    def _make_flow(self) -> QFrame:
        panel = QFrame()
        panel.setProperty("panel", True)
        title = self._flow_title = QLabel(self.tr("Token flow"))
        title.setProperty("role", "section")
        self.lossy = QLabel()
        self.lossy.setObjectName("lossy")
        self.lossy.setProperty("role", "badge")
        self.lossy.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.lossy.hide()
        head = QHBoxLayout()
        head.setSpacing(2)
        head.addWidget(title)
        head.addSpacing(6)
        head.addWidget(self.lossy)
        head.addStretch(1)
        self.legend = [LegendButton(kind) for kind in (Kind.ACCEPTED, Kind.REJECTED, Kind.CORRECTED, Kind.BONUS, Kind.UNTESTED)]
        for button in self.legend:
            button.toggled.connect(lambda on, b=button: self._filter(b, on))
            head.addWidget(button)
        self.beside_button = QToolButton()
        self.beside_button.setObjectName("side-by-side")
        self.beside_button.setCheckable(True)
        self.beside_button.setChecked(True)
        self.beside_button.setIcon(icon("columns"))
        self.beside_button.setIconSize(QSize(16, 16))
        self.beside_button.setToolTip(self.tr("The lanes of a race side by side"))
        self.beside_button.setAccessibleName(self.tr("The lanes of a race side by side"))
        self.beside_button.toggled.connect(lambda _: self._show_lanes())
        self.beside_button.hide()
        self.export_button = self._menu_button("export-run", self.tr("Export"), self.tr("This run for other programs, or as a picture"))
        menu = self.export_button.menu()
        menu.addAction(self.tr("Everything as JSON\u2026"), lambda: self._export("json"))
        menu.addAction(self.tr("Tokens as a table (CSV)\u2026"), lambda: self._export("csv"))
        menu.addAction(self.tr("Animated picture (WebP)\u2026"), lambda: self._export("webp"))
        self.runs_button = self._menu_button("runs", self.tr("Runs"), self.tr("Recorded runs, to look at and replay"))
        self.runs_menu = self.runs_button.menu()
        self.runs_menu.aboutToShow.connect(self._fill_runs)
        head.addSpacing(6)
        for button in (self.beside_button, self.export_button, self.runs_button):
            head.addWidget(button)
        self.note = QLabel()
        self.note.setObjectName("note")
        self.note.setProperty("role", "caption")
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
        self.panes = [LanePane() for _ in LANES]  # the main lane's first
        self._active = self.panes[0]  # whose token the card is about
        lanes = self.lanes = QSplitter(Qt.Orientation.Horizontal)
        lanes.setHandleWidth(9)
        lanes.setChildrenCollapsible(False)
        for pane in self.panes:
            lanes.addWidget(pane)
            pane.flow.pointed.connect(lambda i, p=pane: self._pointed(p, i))
            pane.flow.pinned.connect(lambda i, p=pane: self._pointed(p, i))
            pane.flow.scrolled.connect(self._place_card)
        for pane in self.panes[1:]:
            pane.hide()
        self.empty_button = QPushButton()
        self.empty_button.setObjectName("empty-action")
        self.empty_button.clicked.connect(self._empty_pressed)
        self.empty = EmptyState("draft", "", "", [self.empty_button])
        self.empty.lines.setMinimumHeight(2 * self.fontMetrics().lineSpacing())
        self.empty.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(lanes)
        self.replay_bar = ReplayBar()
        self.replay_bar.moved.connect(self._scrubbed)
        self.replay_bar.play_pressed.connect(self.replay)
        self.replay_bar.phase_pressed.connect(self.replay_step)
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

    def _menu_button(self, name: str, words: str, tip: str) -> QPushButton:
        button = QPushButton(words)
        button.setObjectName(name)
        button.setProperty("flat", True)
        button.setStyleSheet("QPushButton::menu-indicator { image: none; width: 0; } QPushButton { min-height: 24px; }")
        button.setIcon(icon("down"))
        button.setIconSize(QSize(12, 12))
        button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow behind the word
        button.setToolTip(tip)
        menu = QMenu(button)
        menu.setToolTipsVisible(True)
        button.setMenu(menu)
        return button

    # -- from elsewhere

    def set_target(self, variant: str) -> bool:
        """Chooses the target; False where there's no such variant."""
        return self.controls.target.choose(variant)

    def set_draft(self, variant: str) -> bool:
        """Chooses the draft; False where there's no such variant."""
        return self.controls.draft.choose(variant)

    @property
    def shown_run(self) -> DecodeRun | None:
        return self._shown

    @property
    def live(self) -> bool:
        return bool(self._job)

    @property
    def pane(self) -> LanePane:
        """The main lane's."""
        return self.panes[0]

    @property
    def flow(self) -> TokenFlow:
        return self.pane.flow

    # -- the life of a run

    def run(self) -> None:
        """Submits a decode with what the controls say. Nothing happens while one is under way or something is missing."""
        self._start(paused=False)

    def _run_if_able(self) -> None:
        if self.controls.run_button.isEnabled():
            self.run()

    def step(self) -> None:
        """One step more of a round (draft, verify, correct), then wait; where nothing runs yet, starts and takes the first."""
        if not self._job:
            self._start(paused=True)
            return
        self._presses += 1
        self._pause_asked = True
        self._work_off()

    def _work_off(self) -> None:
        """Works off the presses of Step: each brings the round in view one step on; behind its last the worker is asked for another."""
        if self._live is None or self._live.main not in self._live.lanes:
            return  # there's nothing to step yet
        pane = self.pane
        while self._presses and self._live is self._shown and pane.done < len(pane.lane.rounds):
            pane.next_phase()
            self._presses -= 1
            self._say_step()
            self._soon()
        if self._presses and not self._asked:
            self.board.control(self._job, "step")
            self._asked = True
        self._set_state("paused", say=False)

    def _say_step(self) -> None:
        """What the last step of the round in view was."""
        pane = self.pane
        rounds, index = pane.lane.rounds, pane.done if pane.phase else pane.done - 1
        if 0 <= index < len(rounds) and self._shown is not None:
            self._say(step_text(rounds[index], pane.phase, self._shown.rule(pane.lane_name), self._shown.greedy))

    def pause(self) -> None:
        """Waits after the round at hand, or goes on."""
        if not self._job:
            return
        paused = self.controls_state == "paused"
        if paused:
            self._presses, self._asked = 0, False
            self.pane.go(len(self.pane.lane.rounds))
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
        if self._job:
            return
        self._look_at_exports()
        if self.controls.problem():
            return
        spec = self.controls.spec(str(self.library.workspace.folder), paused=paused)
        target, draft = self.controls.names()
        name = f"{datetime.datetime.now():%Y-%m-%dT%H-%M-%S}-{new_id('run')[-6:]}"
        run = DecodeRun(name, spec, target, draft, self.controls.rival_name())
        self._live, self._before = run, self._shown
        self._presses, self._asked = int(paused), False
        self._pause_asked, self._stopping = paused, False
        self._fail(None)
        self._show_run(run)
        if spec.messages:
            self.controls.chat.send()
        self._keep_focus()
        self._set_state("starting")
        title = self.tr("Decode: {draft} for {target}") if draft else self.tr("Decode: {target}")
        self._job = self.board.submit(spec, title.format(draft=draft, target=target), self.controls.device.currentData() or "auto")
        before = next((s.job.title for s in self.board.states() if s.status == "running" and s.job.id != self._job), "")
        waits = self.tr("Waiting for its turn: {job} is at work\u2026")
        self._say(waits.format(job=before) if before else self.tr("Loading the models\u2026"))
        self.started.emit(self._job)

    def _keep_focus(self) -> None:
        """Run is about to be disabled, and would hand the keyboard to Step, where another press of the same key would pause the run."""
        if self.controls.run_button.hasFocus() or self.empty_button.hasFocus():
            (self.controls.chat.message if self.controls.chatting else self.flow).setFocus()

    def _set_state(self, state: str, *, say: bool = True) -> None:
        self.controls_state = state
        self.controls.set_state(state)
        for button in (self.runs_button, self.replay_bar):
            button.setEnabled(state == "idle")
        self._can_export()
        if say and state == "paused":
            self._say(self.tr("Paused. Step shows the next round step by step: draft, verify, correct."))
        elif say and state == "running":
            self._say("")

    def _take(self, event) -> None:
        if isinstance(event, events.Ready):
            self.controls.set_devices(event.catalogue.devices)
        if not self._job or event.job != self._job or self._live is None:
            return
        run = self._live
        if isinstance(event, events.RoundTaken):
            run.take(event)
            self._taken(run, event.lane)
        elif isinstance(event, events.DecodeStarted):
            run.take(event)
            self._begun(run, event.lane)
        elif isinstance(event, events.CostsMeasured):
            run.take(event)
            self._soon()
        elif isinstance(event, events.Started):
            self._say(self.tr("Loading the models\u2026"))
        elif isinstance(event, events.Progress) and not run.lanes:
            self._say(self._stage_words(event))
        elif isinstance(event, events.TERMINAL):
            self._ended(run, event)

    def _stage_words(self, event: events.Progress) -> str:
        if event.stage in ("", "Loading"):
            return self.tr("Loading {name}\u2026").format(name=event.note) if event.note else self.tr("Loading the models\u2026")
        words = core_text(event.stage)
        return f"{words}: {event.note}\u2026" if event.note else f"{words}\u2026"

    def _taken(self, run: DecodeRun, lane: str) -> None:
        """A round came: it's shown whole, or, where it was asked for by Step, its first step."""
        if run is self._shown:
            pane = next((p for p in self.panes if p.run is run and p.lane_name == lane), None)
            if pane is not None and not (pane is self.pane and self._asked):
                pane.go(len(pane.lane.rounds))
            elif pane is not None:
                self._asked = False
                pane.go(len(pane.lane.rounds) - 1)
                self._work_off()
        self._soon()

    def _begun(self, run: DecodeRun, lane: str) -> None:
        if run is self._shown:
            self._show_lanes()
        if lane != run.main:
            return
        if self._pause_asked:
            if not run.spec.paused and not self._presses:
                self.board.control(self._job, "pause")
            self._set_state("paused")
            self._work_off()
        else:
            self._set_state("running")

    def _ended(self, run: DecodeRun, event) -> None:
        self._job, self._live = "", None
        self._presses, self._asked = 0, False
        steered = self.controls.stop_button.hasFocus() or self.controls.pause_button.hasFocus()  # they're about to be disabled
        self._set_state("idle")
        if steered:
            (self.controls.chat.message if self.controls.chatting else self.controls.run_button).setFocus()
        if isinstance(event, events.Finished):
            run.status = "stopped" if event.result.get("stop") == "stopped" or self._stopping else "finished"
            run.result = event.result
        elif isinstance(event, events.Cancelled):
            run.status = "stopped"
        else:
            run.status = "stopped"
            self._fail(event)
        if run.spec.messages and self.controls.conversation(run.spec.messages):
            self.controls.chat.reply(run.text().strip())
        if run.lane.rounds:
            self._runs.append(run)
            self._recorder.record(run, Path(run.spec.workspace) / "runs" / f"{run.name}.jsonl")
            self._clock = run.end
            if run is self._shown:
                self._go(len(run.lane.rounds))
        else:  # it wrote nothing: what was shown before it comes back
            self._show_run(self._before)
            if self._before is not None:
                self._clock = self._before.end
                self._go(len(self._before.lane.rounds))
        self._before = None
        self._say(self._note_for(run) if run.lane.rounds else "")
        self._refresh()
        self.finished.emit(run)

    def _drop_film(self) -> None:
        if self._film is not None:
            self._film.stop()
            self._film = None

    def let_go(self) -> None:
        """Ends the run under way, keeping what there is of it: the view is about to be made anew, and nobody else would end it."""
        if self._job:
            self.board.cancel(self._job)
            self._ended(self._live, events.Cancelled(self._job))
        self.close_recordings()

    def close_recordings(self) -> None:
        """Writes what hasn't been written yet. Called when the window closes."""
        self._drop_film()
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
        for pane in self.panes:
            pane.show_lane(None, "")
        self._show_lanes()
        if run is None:
            self._say_empty()
        self._can_export()
        self._refresh()

    def _show_lanes(self) -> None:
        """The lanes there are, each in its pane: the main one, and beside it the others of a race."""
        run = self._shown
        order = run.order if run is not None else []
        self.beside_button.setVisible(len(order) > 1)
        wanted = (order if self.beside_button.isChecked() else order[:1]) or ([run.main] if run is not None else [])
        changed = False
        for place, pane in enumerate(self.panes):
            name = wanted[place] if place < len(wanted) else ""
            if name and (pane.run is not run or pane.lane_name != name):
                pane.show_lane(run, name, len(run.lanes[name].rounds) if name in run.lanes else 0)
                changed = True
            elif name and not pane.done and not pane.lane.rounds:
                pane.show_lane(run, name)  # its prompt has come
            elif not name and place and pane.run is not None:
                pane.show_lane(None, "")
            if pane.isHidden() == (place == 0 or bool(name)):
                pane.setVisible(place == 0 or bool(name))
                changed = True
            pane.show_head(len(wanted) > 1)
        if changed:
            self.lanes.setSizes([1000 if i < max(1, len(wanted)) else 0 for i in range(len(self.panes))])
            self._place_card()

    def _go(self, done: int, seconds: float | None = None) -> None:
        """Shows the run as it stood after `done` rounds of the main lane, and the others as they stood at that moment."""
        run = self._shown
        if run is None:
            return
        self.pane.go(done)
        done = self.pane.done
        whole = done == len(run.lane.rounds) and seconds is None
        moment = seconds if seconds is not None else run.lane.at[done - 1] if done else 0.0
        for pane in self.panes[1:]:
            if pane.run is run:
                pane.go(len(pane.lane.rounds) if whole else pane.lane.index_at(moment))
        self.flow.set_copy_text(run.text() if run.result.get("text") and done == len(run.lane.rounds) else "")
        self._soon()

    def show_round(self, index: int) -> None:
        """Brings a round, counted from 0, into view and points at its first token."""
        if self._shown is None or self.live:
            return
        if index >= self.pane.done:
            self._go(len(self._shown.lane.rounds))
        self.flow.focus_cell(min(self.pane.offsets[index], len(self.flow.cells) - 1))

    def _soon(self) -> None:
        if not self._refreshing.isActive():
            self._refreshing.start()

    def _refresh(self) -> None:
        """Figures, plots and the replay bar."""
        self._refreshing.stop()
        run, done = self._shown, self.pane.done
        playing = self._player.isActive()
        found = figures(run, done) if run else None
        self._show_figures(found)
        self._show_lossy(found)
        lane = run.lane if run else None
        moment = None
        if run is not None and lane is not None and found is not None and any(each.rounds for each in run.lanes.values()):
            whole = done >= len(lane.rounds)
            at = self._clock if playing else lane.at[done - 1] if done else 0.0
            moment = Moment(run, done, whole, None if whole and not playing else at, found, run is self._live)
        for slot in self.slots:
            slot.show_moment(moment)
        self.replay_bar.setVisible(bool(lane and lane.rounds))
        if lane:
            self.replay_bar.set_position(done, len(lane.rounds), lane.at[done - 1] if done else 0.0)

    def _show_figures(self, f: Figures | None) -> None:
        run, cards = self._shown, self.cards
        plain = run.plain if run else self.controls.plain
        if f is None or not f.rounds:
            cards["acceptance"].set(NONE, self.tr("run to see") if not plain else self.tr("needs a draft"))
            cards["per_call"].set(NONE, self.tr("run to see"))
            for name in ("speedup", "efficiency"):
                cards[name].set(NONE, self.tr("needs a draft") if plain else self.tr("race to measure"))
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
        self._show_speed(f, plain)
        speed = f"{f.throughput:.1f}" if f.throughput is not None else ""
        if f.plain_throughput is not None:
            beside = self.tr("plain {n} tok/s").format(n=f"{f.plain_throughput:.1f}")
        elif plain:
            beside = self.tr("{n} tokens in {time}").format(n=f.tokens, time=fmt_seconds(f.seconds))
        else:
            beside = self.tr("plain {none}: run the race").format(none=NONE)
        cards["throughput"].set(self.tr("{n} tok/s").format(n=speed) if speed else NONE, beside)

    def _show_speed(self, f: Figures, plain: bool) -> None:
        cards, possible = self.cards, f"{f.possible:.2f}" if f.possible else ""
        if plain:
            for name in ("speedup", "efficiency"):
                cards[name].set(NONE, self.tr("there's no draft to compare"))
            return
        said = self.tr("possible {times}{x}").format(times=TIMES, x=possible) if possible else ""
        if f.speedup is None:
            cards["speedup"].set(NONE, " \u00b7 ".join(part for part in (said, self.tr("race to measure")) if part))
            cards["efficiency"].set(NONE, self.tr("race to measure"))
            return
        verdict = self.tr("slower than plain") if f.speedup < 1 else self.tr("measured")
        if f"{f.speedup:.2f}" == "1.00":
            verdict = self.tr("as fast as plain")
        cards["speedup"].set(f"{TIMES}{f.speedup:.2f}", verdict)
        if f.efficiency is None:
            cards["efficiency"].set(NONE, self.tr("at the end of the run"))
        else:
            words = self.tr("of {times}{x} possible").format(times=TIMES, x=possible)
            if f.efficiency > 1.05:  # the lanes' calls weren't timed under the same conditions
                words = self.tr("{x} possible; timings vary").format(x=TIMES + possible)
            cards["efficiency"].set(fmt_percent(f.efficiency, 0), words)

    def _show_lossy(self, f: Figures | None) -> None:
        """The badge of a rule that changes the text, with how far it does."""
        run = self._shown
        self.lossy.setVisible(run is not None and not run.lossless)
        if run is None or run.lossless:
            return
        words = self.tr("not lossless")
        if f is not None and f.distance is not None:
            words = self.tr("not lossless \u00b7 {distance} from the target").format(distance=number(f.distance))
            tip = self.tr("Total variation between what this rule writes and what the target would, the mean over {n} tested places.")
            self.lossy.setToolTip(tip.format(n=f.measured_at))
        self.lossy.setText(words)

    def _say(self, words: str) -> None:
        self.note.setText(words)
        self.note.setVisible(bool(words))

    def _note_for(self, run: DecodeRun) -> str:
        """What there is to say about a run that's over: why nothing is highlighted, how it ended."""
        lane = run.lane
        parts = [self._cut_short(run)]
        if run.plain and run.spec is not None and run.spec.proposer != "none":
            words = self.tr("Nothing is highlighted since the draft length was 0: the target wrote every token itself.")
            return f"{words} {parts[0]}".strip()
        if run.plain:
            words = self.tr(
                "Nothing is highlighted since nothing was drafted: the target wrote every token itself. Choose a draft and run again."
            )
            return f"{words} {parts[0]}".strip()
        if lane.drafted and lane.drafted[-1] == 0:
            if run.spec is not None and run.spec.policy == "adaptive" and run.spec.proposer != "ngram":
                words = self.tr("Nothing is highlighted since drafting didn't pay: the policy chose length 0 in each of the {n} rounds.")
            else:
                words = self.tr("Nothing is highlighted since the draft had nothing to propose in any of the {n} rounds.")
            parts.append(words.format(n=len(lane.rounds)))
        else:
            ends = {
                "end of text": self.tr("It ended by itself: the target wrote its end-of-text token."),
                "stop string": self.tr("It ended at a stop string."),
                "stopped": self.tr("You stopped it here."),
            }
            stop = run.result.get("stop") or (lane.rounds[-1].stop if lane.rounds else "")
            parts.append(ends.get(stop, ""))
        if (reused := run.result.get("reused")) and run.spec is not None and run.spec.messages:
            parts.append(self.tr("{n} tokens of the chat were read before, and weren't read again.").format(n=reused))
        parts.append(self._identity(run))
        parts += [note_text(str(note)) for note in run.result.get("notes") or ()]
        return " ".join(part for part in parts if part)

    def _cut_short(self, run: DecodeRun) -> str:
        """That a run ended before as many tokens as were asked for since the model reads no further; '' where it didn't."""
        written, spec = len(run.result.get("ids") or ()), run.spec
        if spec is None or run.result.get("stop") != "length" or not 0 < written < spec.max_new_tokens:
            return ""
        words = self.tr("It ended at {n} tokens of the {most} asked for: the models read no longer text than that, prompt included.")
        return words.format(n=written, most=spec.max_new_tokens)

    def _identity(self, run: DecodeRun) -> str:
        """Whether a greedy race wrote the same on every lane; '' where that isn't known or, in sampling, means nothing."""
        if run.spec is not None and run.spec.temperature > 0:
            return ""
        drafting = [name for name in run.order if name != PLAIN_LANE]
        ends = {name: run.of_lane(name) or (run.result if name == run.main else {}) for name in drafting}
        same = [name for name in drafting if ends[name].get("identical")]
        if drafting and len(same) == len(drafting):
            if drafting == [BESIDE_LANE]:
                return self.tr("{lane} wrote the same as plain, token for token.").format(lane=lane_title(run, BESIDE_LANE))
            if len(drafting) > 1:
                return self.tr("Identical: all {n} lanes wrote the same text, token for token.").format(n=len(drafting) + 1)
            return self.tr("Identical: with the draft and without, the text is the same, token for token.")
        parts = []
        for name in drafting:
            parted = ends[name].get("divergence")
            if name in same:
                parts.append(self.tr("{lane} wrote the same as plain, token for token.").format(lane=lane_title(run, name)))
            if not parted:
                continue
            if len(drafting) > 1:
                words = self.tr("{lane} and plain part at token {n}.").format(lane=lane_title(run, name), n=parted["position"] + 1)
            else:
                words = self.tr("The two texts part at token {n}.").format(n=parted["position"] + 1)
            if parted.get("margin") is not None:
                words += " " + self.tr("There the target's two likeliest were {margin} apart.").format(margin=number(parted["margin"]))
            parts.append(words)
        return " ".join(parts)

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
        for pane in self.panes:
            pane.flow.set_only(chosen)

    # -- the card

    def _pointed(self, pane: LanePane, index: int) -> None:
        """A token of a lane is pointed at or kept open; the other lanes let go of theirs."""
        if index >= 0:
            self._active = pane
            for other in self.panes:
                if other is not pane and other.flow.pinned_cell >= 0:
                    other.flow.pin(-1)
        self._place_card()

    def _place_card(self) -> None:
        pane, run = self._active, self._shown
        flow = pane.flow
        index = flow.current
        if run is None or not 0 <= index < len(flow.cells) or not flow.isVisible():
            self.card.hide()
            return
        rect = flow.rect_of(index)
        viewport = flow.viewport()
        if rect.bottom() < 0 or rect.top() > viewport.height():
            self.card.hide()  # scrolled away; it comes back with its token
            return
        beside = QRect(viewport.mapTo(self, rect.topLeft()), rect.size())
        if not self.rect().intersects(beside):
            self.card.hide()  # the page is scrolled away from it
            return
        facts = explain(pane.lane, flow.cells[index], run.rule(pane.lane_name), greedy=run.greedy)
        self.card.show_facts(facts, beside, self.rect().adjusted(4, 4, -4, -4), flow.pinned_cell >= 0)
        if flow.hasFocus():
            flow.setAccessibleDescription(self.card.description())  # so that a screen reader says it as the keys move

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
        taken = self._flow_title.sizeHint().width() + self.runs_button.sizeHint().width() + self.export_button.sizeHint().width() + 100
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
        if self.pane.done >= len(run.lane.rounds):
            self._clock = 0.0
            self._go(0)
        else:
            self._clock = run.lane.at[self.pane.done - 1] if self.pane.done else 0.0
        for pane in self.panes:
            pane.flow.scroll_to_end()
        self._ticked = time.monotonic()
        self._player.start()
        self.replay_bar.set_playing(True)

    def replay_step(self) -> None:
        """One step on in the shown run: the next round's guesses, their fate, what the target adds. At the end, begins again."""
        run = self._shown
        if run is None or self.live or not run.lane.rounds:
            return
        self._player.stop()
        self.replay_bar.set_playing(False)
        if self.pane.done >= len(run.lane.rounds):
            self._go(0)
        self.pane.next_phase()
        if self.pane.phase == Phase.NONE:
            self._go(self.pane.done)
        self.flow.scroll_to_end()
        self._say_step()
        self._refresh()

    def _tick(self) -> None:
        moment = time.monotonic()
        self._advance((moment - self._ticked) * self.replay_bar.speed.currentData())
        self._ticked = moment

    def _advance(self, seconds: float) -> None:
        run = self._shown
        self._clock += seconds
        over = self._clock >= run.end
        self._go(run.lane.index_at(self._clock), None if over else self._clock)
        if over:
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

    # -- tools

    def find_draft(self) -> None:
        """Opens the search for a draft that pays; what's chosen there comes into the controls."""

        self._look_at_exports()
        if self.controls.target.currentData(WHY):
            return

        def make() -> QWidget:
            from app.find_draft import FindDraftDialog

            c = self.controls
            device = c.device.currentData() or "auto"
            dialog = FindDraftDialog(self.library, self.board, c.target_id, c.text(), self, choice=c.choice(), device=device)
            dialog.chosen.connect(self._take_drafting)
            return dialog

        self._open("find", make)

    def check_exactness(self) -> None:
        """Opens the statistical test of this pair."""

        self._look_at_exports()
        if not self.controls.check_action.isEnabled():
            return

        def make() -> QWidget:
            from app.exactness import ExactnessDialog

            c = self.controls
            device = c.device.currentData() or "auto"
            return ExactnessDialog(self.library, self.board, c.drafting(), c.choice(), c.target_id, c.text(), self, device=device)

        self._open("check", make)

    def explain_engine(self) -> None:
        """Opens the engine on a toy model."""

        def make() -> QWidget:
            from app.enumeration import EnumerationDialog

            return EnumerationDialog(self.board, self)

        self._open("explain", make)

    def _open(self, name: str, make: Callable[[], QWidget]) -> None:
        """Shows a tool's window, each once at a time; one that's open for other settings is made anew."""
        before = self._dialogs.pop(name, None)
        if before is not None:
            before.close()
        dialog = make()
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.destroyed.connect(lambda *_: self._dialogs.pop(name, None) if self._dialogs.get(name) is dialog else None)
        self._dialogs[name] = dialog
        dialog.show()
        dialog.raise_()

    def _take_drafting(self, drafting: Drafting) -> None:
        self.controls.set_drafting(drafting)

    # -- exporting

    def _can_export(self) -> None:
        if hasattr(self, "export_button"):
            there = self._shown is not None and bool(self._shown.lane.rounds)
            self.export_button.setEnabled(there and not self.live and self._film is None)

    def _export(self, kind: str) -> None:
        kinds = {
            "json": self.tr("JSON (*.json)"),
            "csv": self.tr("Table (*.csv)"),
            "webp": self.tr("Animated picture (*.webp)"),
        }
        if self._shown is None:
            return
        path, _ = QFileDialog.getSaveFileName(self, self.tr("Export this run"), f"{self._shown.name}.{kind}", kinds[kind])
        if path:
            self.export(Path(path), kind)

    def export(self, path: Path, kind: str) -> None:
        """Writes the shown run: kind 'json', 'csv' or 'webp'. A picture takes a while, and is made between two looks at the window."""
        run = self._shown
        if run is None or self.live:
            return
        self._fail(None)
        if kind == "webp":
            from app.decode_movie import Film

            self._film = Film(run, self)
            self._film.progress.connect(lambda done, of: self._say(self.tr("Drawing the picture: {n} %").format(n=round(100 * done / of))))
            self._film.finished.connect(lambda data: self._filmed(path, data))
            self._can_export()
            self._film.start()
        else:
            self._write(path, (as_json(run) if kind == "json" else as_csv(run)).encode("utf-8"))

    def _filmed(self, path: Path, data: bytes) -> None:
        self._film = None
        self._can_export()
        self._write(path, data)

    def _write(self, path: Path, data: bytes) -> None:
        try:
            write_atomically(path, data)
        except OSError as error:
            self._fail(explain_error(error, place=str(path.parent)))
            return
        self._say(self.tr("Exported to {path}.").format(path=path))

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
                words, tip = self._run_words(run.header()), _prompt_of(run.header())
                action = self.runs_menu.addAction(words, lambda run=run: self._show_recorded(run))
            else:
                path, head = stored[name]
                words, tip = self._run_words(head), _prompt_of(head)
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
        parts = [f"{when:%H:%M:%S}" if today else f"{when:%Y-%m-%d %H:%M}"] if when else []
        who = self.tr("{draft} for {target}") if head.get("draft_name") else self.tr("{target}, plain")
        parts.append(who.format(draft=head.get("draft_name", ""), target=head.get("target_name", "")))
        if head.get("draft_name"):
            parts.append(("\u03b3 \u2264 " if spec.get("policy") == "adaptive" else "\u03b3 ") + str(spec.get("gamma")))
        parts.append(self.tr("greedy") if not spec.get("temperature") else self.tr("temp. {t}").format(t=f"{spec['temperature']:g}"))
        if result.get("tested"):
            parts.append(fmt_percent(result.get("accepted", 0) / result["tested"], 0))
        if said := " ".join(_prompt_of(head).split()):
            parts.append(f"\u201c{said if len(said) <= 28 else said[:27] + chr(0x2026)}\u201d")
        return "  \u00b7  ".join(parts).replace("&", "&&")

    def _show_recorded(self, run: DecodeRun) -> None:
        self._fail(None)
        self._show_run(run)
        self._clock = run.end
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
        self._show_models(self.library.exported_models(), self.library.gone_exports())
        self._say_empty()

    def _show_models(self, exported: list[Variant], gone: dict[str, str]) -> None:
        self._exports = [v.id for v in exported], gone
        self.controls.set_variants(list(self.library.variants()), exported, gone)
        if exported:
            self.controls.provider.ask(self.board)

    def _look_at_exports(self) -> None:
        """A folder of an export may have gone, or come back, which nothing in the workspace tells."""
        exported, gone = self.library.exported_models(), self.library.gone_exports()
        if ([v.id for v in exported], gone) != self._exports:
            self._show_models(exported, gone)
            self._say_empty()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look_at_exports()


def _prompt_of(head: dict[str, Any]) -> str:
    """What a recorded run went on from: its prompt, or the chat's last message."""
    spec = head.get("spec") or {}
    messages = spec.get("messages") or ()
    return messages[-1].get("content", "") if messages else spec.get("prompt", "")
