"""Pieces of the decode lab: a figure's card, the legend's buttons, the bar that replays, and the recorder of finished runs.

Covers each by itself; app.decode_view puts them together and knows what they're about.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetrics, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QSizePolicy, QSlider, QToolButton, QVBoxLayout, QWidget

from app.decode_run import DecodeRun, Kind
from app.text import TIMES
from app.theme import icon, mono, theme
from app.token_card import kind_hint, kind_word
from app.token_flow import paint_cell
from app.widgets import ElidedLabel
from core.errors import explain as explain_error
from core.workspace import write_atomically

NONE = "\u2014"  # an unknown figure
FIGURE = 20  # px, as the style sheet has it
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
WRITE_BUDGET = 0.004  # seconds of writing between two looks at the window


class Figure(ElidedLabel):
    """A figure, in smaller type where it wouldn't fit: half a number is worse than a small one."""

    def fit(self) -> None:
        font = self.font()
        for pixels in (FIGURE, 17, 15, 13):
            font.setPixelSize(pixels)
            if QFontMetrics(font).horizontalAdvance(self.text()) <= self.width():
                break
        if pixels != self.property("pixels"):
            self.setProperty("pixels", pixels)
            self.setStyleSheet(f"font-size: {pixels}px;" if pixels != FIGURE else "")

    def sizeHint(self) -> QSize:
        font = self.font()
        font.setPixelSize(FIGURE)
        return QSize(super().sizeHint().width(), QFontMetrics(font).height())

    def setText(self, words: str) -> None:
        super().setText(words)
        self.fit()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.fit()


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
            label = Figure(words, role) if role == "figure" else ElidedLabel(words, role)
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
    phase_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.play = QToolButton()
        self.play.setObjectName("replay")
        self.play.setIconSize(QSize(16, 16))
        self.play.clicked.connect(lambda: self.play_pressed.emit())
        self.phase = QToolButton()
        self.phase.setObjectName("replay-step")
        self.phase.setIcon(icon("step"))
        self.phase.setIconSize(QSize(16, 16))
        words = self.tr("One step on: draft, verify, correct")
        self.phase.setToolTip(words)
        self.phase.setAccessibleName(words)
        self.phase.clicked.connect(lambda: self.phase_pressed.emit())
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
        box.addWidget(self.phase)
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
