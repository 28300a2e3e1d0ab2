"""A run as an animated picture: the lanes' flows as they grew, with their figures.

Covers drawing the frames, one at a time, so that the window goes on; the file itself is app.webp's. A frame holds only the
rectangle that changed since the one before. Long runs are shown faster than they were, and those too quick for the eye slower; the
speed is written on the picture.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QRegion
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.decode_lanes import LanePane
from app.decode_run import DecodeRun, figures
from app.text import TIMES, fmt_percent
from app.theme import theme
from app.webp import Frame, animated
from app.widgets import ElidedLabel, label

WIDTH, HEIGHT, RATIO = 960, 460, 1.5  # logical pixels, and device pixels for each
FPS, LONGEST, HOLD = 10, 15.0, 2500  # frames a second, seconds of the whole, milliseconds of the last frame
A_ROUND = 0.3  # seconds that a round of the main lane is seen for, on average, where LONGEST lets it


class Stage(QWidget):
    """What's filmed: never on screen, drawn into pictures."""

    def __init__(self, run: DecodeRun, speed: float) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        self.setObjectName("stage")
        self._run = run
        title = self.tr("{draft} drafts for {target}") if run.draft_name else self.tr("{target}, plain")
        self._title = ElidedLabel(title.format(draft=run.draft_name, target=run.target_name) if run.target_name else run.name, "section")
        self._clock = label("", "muted")
        self._speed = speed
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self._clock)
        self._figures = label("", "caption")
        self.panes: list[LanePane] = []
        lanes = QHBoxLayout()
        lanes.setSpacing(12)
        order = run.order or [run.main]
        for name in order:
            pane = LanePane()
            pane.flow.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            pane.show_lane(run, name)
            pane.show_head(len(order) > 1)
            lanes.addWidget(pane, 1)
            self.panes.append(pane)
        panel = QFrame()
        panel.setProperty("panel", True)
        inner = QVBoxLayout(panel)
        inner.setContentsMargins(14, 10, 14, 10)
        inner.setSpacing(6)
        inner.addLayout(head)
        inner.addWidget(self._figures)
        inner.addLayout(lanes, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 8, 8, 8)
        box.addWidget(panel)
        self.resize(WIDTH, HEIGHT)
        self.show()

    def set_moment(self, seconds: float) -> None:
        """Every lane as it stood so many seconds into the run."""
        for pane in self.panes:
            pane.go(pane.lane.index_at(seconds))
            pane.flow.scroll_to_end()
        f = figures(self._run, self.panes[0].done)
        parts = []
        if f.acceptance is not None:
            parts.append(self.tr("{share} of tested guesses kept").format(share=fmt_percent(f.acceptance)))
        if f.tokens_per_call is not None:
            parts.append(self.tr("{n} tokens per target call").format(n=f"{f.tokens_per_call:.2f}"))
        if f.speedup is not None:
            parts.append(self.tr("{times}{x} against plain").format(times=TIMES, x=f"{f.speedup:.2f}"))
        self._figures.setText("   \u00b7   ".join(parts) or " ")
        clock = self.tr("{n} s").format(n=f"{min(seconds, self._run.end):.{1 if self._speed > 0.5 else 2}f}")
        self._clock.setText(clock if abs(self._speed - 1) < 0.05 else f"{clock}  ({TIMES}{self._speed:.{1 if self._speed > 1 else 2}f})")

    def picture(self) -> QImage:
        image = QImage(round(WIDTH * RATIO), round(HEIGHT * RATIO), QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(RATIO)
        image.fill(theme().color("window"))
        self.render(image, QPoint(), QRegion(), QWidget.RenderFlag.DrawChildren)
        return image


class Film(QObject):
    """Draws the frames one by one between other events, and compresses each on a thread beside. `finished` gives the file's bytes."""

    progress = Signal(int, int)
    finished = Signal(object)

    def __init__(self, run: DecodeRun, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.speed = run.end / min(LONGEST, max(run.end, A_ROUND * len(run.lane.rounds))) if run.end else 1.0
        self._stage = Stage(run, self.speed)
        self._moments = [i * self.speed / FPS for i in range(int(run.end / self.speed * FPS) + 1)] + [run.end]
        self._frames: list[Frame] = []
        self._next = 0
        self._before: QImage | None = None
        self._press = ThreadPoolExecutor(1)  # Qt lets go of Python's lock while it compresses
        self._waiting: tuple[Future[bytes], QRect] | None = None
        self._timer = QTimer(self, interval=5)
        self._timer.timeout.connect(self._work)

    def start(self) -> None:
        self._timer.start()

    def stop(self) -> None:
        """Ends it, finished or not."""
        self._timer.stop()
        self._press.shutdown(cancel_futures=True)
        self._stage.close()
        self._stage.deleteLater()
        self.deleteLater()

    def _work(self) -> None:
        if self._waiting is not None:
            compressed, rect = self._waiting
            if not compressed.done():
                return
            self._waiting = None
            self._frames.append(Frame(compressed.result(), rect.x(), rect.y(), rect.width(), rect.height(), 1000 // FPS))
        if self._next < len(self._moments):
            self._draw()
            return
        frames = [*self._frames[:-1], replace(self._frames[-1], milliseconds=HOLD)]
        data = animated(frames, self._before.width(), self._before.height())
        self.stop()
        self.finished.emit(data)

    def _draw(self) -> None:
        self._stage.set_moment(self._moments[self._next])
        self._next += 1
        image = self._stage.picture()
        rect = changed(self._before, image)
        self._before = image
        if rect.isEmpty():  # nothing moved: the frame before stands longer
            self._frames[-1] = replace(self._frames[-1], milliseconds=self._frames[-1].milliseconds + 1000 // FPS)
        else:
            self._waiting = (self._press.submit(_still, image.copy(rect)), rect)
        self.progress.emit(self._next, len(self._moments))


def changed(before: QImage | None, now: QImage) -> QRect:
    """The rectangle in which two pictures differ, its corner on even pixels; all of it where there's none before, empty where none do."""
    whole = QRect(0, 0, now.width(), now.height())
    if before is None:
        return whole
    a, b = (
        np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)[:, : image.width()]
        for image in (before, now)
    )
    rows = np.flatnonzero((a != b).any(1))
    if not len(rows):
        return QRect()
    top, bottom = int(rows[0]) & ~1, int(rows[-1])
    columns = np.flatnonzero((a[top : bottom + 1] != b[top : bottom + 1]).any(0))
    left, right = int(columns[0]) & ~1, int(columns[-1])
    return QRect(left, top, right - left + 1, bottom - top + 1)


def _still(image: QImage) -> bytes:
    """A picture as lossless WebP: quality 100 is what Qt takes for that."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    if not image.save(buffer, "WEBP", 100):
        raise OSError("this Qt writes no WebP")
    return bytes(buffer.data())
