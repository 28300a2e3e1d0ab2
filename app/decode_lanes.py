"""The lanes of a race, side by side: each a token flow under its name and its pace.

Covers showing one lane of a run as it stood at a moment, or with its next round half done. Which moment that is, is
app.decode_view's to say.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.decode_run import DecodeRun, Lane, Phase, cells_of_phase, cells_of_prompt, cells_of_round
from app.plots.lanes import LANE_COLORS, LANE_DASHES, lane_title
from app.text import fmt_percent
from app.theme import theme
from app.token_flow import TokenFlow
from app.widgets import ElidedLabel


class LaneMark(QWidget):
    """A short piece of a lane's line, as the race plot draws it."""

    def __init__(self) -> None:
        super().__init__()
        self._lane = "speculative"
        self.setFixedSize(22, 12)
        theme().changed.connect(self.update)

    def set_lane(self, lane: str) -> None:
        self._lane = lane
        self.update()

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(theme().color(LANE_COLORS[self._lane]), 2.2)
        if (dashes := LANE_DASHES[self._lane]) is not None:
            pen.setDashPattern(dashes)
        painter.setPen(pen)
        painter.drawLine(QPointF(0, 6), QPointF(22, 6))
        painter.end()


class LanePane(QWidget):
    """One lane: its flow and, beside others, its name and pace above."""

    def __init__(self) -> None:
        super().__init__()
        self.run: DecodeRun | None = None
        self.lane_name = ""
        self.done = 0  # rounds in the flow
        self.offsets = [0]  # cells after so many rounds
        self.phase = Phase.NONE  # of the round after those
        self.mark = LaneMark()
        self.title = ElidedLabel("", "value")
        self.pace = QLabel()
        self.pace.setProperty("role", "muted")
        self.head = QWidget()
        row = QHBoxLayout(self.head)
        row.setContentsMargins(2, 2, 8, 2)
        row.setSpacing(8)
        row.addWidget(self.mark)
        row.addWidget(self.title, 1)
        row.addWidget(self.pace)
        self.flow = TokenFlow()
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.head)
        box.addWidget(self.flow, 1)
        self.head.hide()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def lane(self) -> Lane:
        return self.run.lanes.get(self.lane_name, Lane()) if self.run is not None else Lane()

    def show_lane(self, run: DecodeRun | None, lane: str, done: int = 0) -> None:
        """Begins anew with a lane of a run, as it stood after `done` rounds."""
        self.run, self.lane_name = run, lane
        self.flow.clear()
        self.flow.set_copy_text("")
        self.done, self.offsets, self.phase = 0, [0], Phase.NONE
        if run is not None:
            self.flow.append(cells_of_prompt(self.lane))
            self.offsets = [len(self.flow.cells)]
            self.mark.set_lane(lane)
            self.go(done)

    def go(self, done: int) -> None:
        """Shows the lane as it stood after `done` rounds, each of them whole."""
        rounds = self.lane.rounds
        done = max(0, min(done, len(rounds)))
        self._drop_phase()
        if done < self.done:
            self.flow.truncate(self.offsets[done])
            del self.offsets[done + 1 :]
        else:
            cells = []
            for i in range(self.done, done):
                cells.extend(cells_of_round(rounds[i], i))
                self.offsets.append(len(self.flow.cells) + len(cells))
            self.flow.append(cells)
        self.done = done
        self._say_pace()

    def show_phase(self, phase: Phase) -> None:
        """Shows the next round as far as `phase`; of a plain round there's nothing to show by halves."""
        self._drop_phase()
        rounds = self.lane.rounds
        if self.done < len(rounds):
            self.phase = phase
            self.flow.append(cells_of_phase(rounds[self.done], self.done, phase))

    def next_phase(self) -> bool:
        """One step on: the guesses, their fate, the round whole. False where no round is left."""
        rounds = self.lane.rounds
        if self.done >= len(rounds):
            return False
        if self.phase == Phase.VERIFY or not rounds[self.done].drafted:
            self.go(self.done + 1)
        else:
            self.show_phase(Phase(self.phase + 1))
        return True

    def _drop_phase(self) -> None:
        self.phase = Phase.NONE
        self.flow.truncate(self.offsets[self.done])

    def show_head(self, on: bool) -> None:
        self.head.setVisible(on)
        self._say_pace()

    def _say_pace(self) -> None:
        if self.run is None:
            return
        self.title.setText(lane_title(self.run, self.lane_name))
        lane, done = self.lane, self.done
        parts = []
        if done:
            speed = lane.throughput(done)
            if speed is not None:
                parts.append(self.tr("{n} tok/s").format(n=f"{speed:.1f}"))
            if lane.tested[done - 1]:
                parts.append(self.tr("{share} kept").format(share=fmt_percent(lane.accepted[done - 1] / lane.tested[done - 1], 0)))
        self.pace.setText(" \u00b7 ".join(parts))
        self.pace.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.pace.setToolTip(self.pace.text())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 60)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.pace.setVisible(self.width() > 210)
