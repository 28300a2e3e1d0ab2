"""Curves: the numbers that a job reports while it trains (loss, held-out perplexity, learning rate), live.

Covers one job at a time, one name at a time for those of unlike scale. Long curves are thinned to the pixels there are.
"""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app import text
from app.plots.chart import Chart
from app.plots.geometry import nice_ticks, padded, smoothed, thinned
from app.theme import numbers, theme
from app.widgets import EmptyState
from core.events import Metric

REDRAW_MS = 120  # curves arrive at 60 Hz; nobody reads them that fast


class CurvesView(QWidget):
    """The curves of the job given by `show_job`."""

    def __init__(self, board: Any):
        super().__init__()
        self.board = board
        self.job = ""
        self._chart = _CurveChart()
        self._names = QComboBox()
        self._names.setProperty("flat", True)
        self._names.setObjectName("curve")
        self._names.currentIndexChanged.connect(self._redraw)
        self._empty = EmptyState("curve", self.tr("No curves"), self.tr("A job that trains draws its loss here, as it falls."))
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        row = QHBoxLayout()
        row.addWidget(self._names)
        row.addStretch(1)
        box.addLayout(row)
        box.addWidget(self._chart, 1)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(page)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self._redraw)
        board.event.connect(self._on_event)

    def show_job(self, job: str) -> None:
        if job != self.job:
            self.job = job
            self._names.clear()
        self._redraw()

    def _on_event(self, event: Any) -> None:
        if isinstance(event, Metric) and event.job == self.job and not self._later.isActive():
            self._later.start()

    def _redraw(self) -> None:
        state = self.board.state(self.job) if self.job else None
        curves = state.curves if state else {}
        known = [self._names.itemData(i) for i in range(self._names.count())]
        for name in curves:
            if name not in known and name.partition("/")[0] not in curves.keys() - {name}:
                self._names.addItem(curve_title(name), name)
        self._stack.setCurrentIndex(1 if curves else 0)
        self._names.setVisible(self._names.count() > 1)
        name = self._names.currentData()
        # parts of a loss ('loss/teacher') are drawn with it: they share its scale
        family = {n: c for n, c in curves.items() if n == name or n.startswith(f"{name}/")} if name else {}
        self._chart.set_curves(family)


def curve_title(name: str) -> str:
    """A curve's name as a person says it."""
    from PySide6.QtCore import QCoreApplication

    tr = QCoreApplication.translate
    known = {
        "loss": tr("curves", "Loss"),
        "loss/teacher": tr("curves", "Loss against the teacher"),
        "loss/text": tr("curves", "Loss on the text"),
        "lr": tr("curves", "Learning rate"),
        "heldout_perplexity": tr("curves", "Held-out perplexity"),
        "error": tr("curves", "Error by layer"),
    }
    return known.get(name, name.replace("_", " "))


class _CurveChart(Chart):
    COLORS = ("accent", "kind_quantized", "kind_distilled", "kind_combined", "kind_pruned")
    DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine, Qt.PenStyle.SolidLine)

    def __init__(self) -> None:
        super().__init__()
        self.x_ticks = self.y_ticks = nice_ticks
        self.x_title = self.tr("Step")
        self.setMinimumHeight(72)
        self._curves: dict[str, list[tuple[float, float]]] = {}
        self._at: QPointF | None = None
        self.setMouseTracking(True)

    def set_curves(self, curves: dict[str, list[tuple[int, float]]]) -> None:
        self._curves = {n: [(float(x), y) for x, y in c if math.isfinite(y)] for n, c in curves.items()}
        points = [p for c in self._curves.values() for p in c]
        if points:
            self.x_range = (min(x for x, _ in points), max(max(x for x, _ in points), 1.0))
            ys = sorted(y for _, y in points)
            top = ys[int(0.995 * (len(ys) - 1))] if len(ys) > 200 else ys[-1]  # one early spike mustn't flatten the rest
            self.y_range = padded(ys[0], top, 0.08, least=max(abs(top) * 1e-3, 1e-12))
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._at = event.position()
        self.update()

    def leaveEvent(self, event: Any) -> None:
        self._at = None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self.area()
        self.paint_frame(painter, area)
        painter.setClipRect(area.adjusted(0, -2, 2, 2))
        names = sorted(self._curves)
        for number, name in enumerate(names):
            points = self._curves[name]
            noisy = len(points) > 60
            color = theme().color(self.COLORS[number % 5])
            if noisy:
                pale = theme().color(self.COLORS[number % 5])
                pale.setAlphaF(0.28)
                self._line(painter, thinned(points, int(area.width())), QPen(pale, 1), area)
                points = smoothed(points)
            self._line(painter, thinned(points, max(int(area.width() / 2), 1)), QPen(color, 1.8, self.DASHES[number % 5]), area)
        painter.setClipping(False)
        if len(names) > 1:
            self._legend(painter, names, area)
        self._reading(painter, names, area)
        painter.end()

    def _line(self, painter: QPainter, points: list[tuple[float, float]], pen: QPen, area: QRectF) -> None:
        painter.setPen(pen)
        shown = QPolygonF([self.to_screen(x, y, area) for x, y in points])
        if len(points) == 1:
            painter.drawEllipse(shown[0], 2, 2)
        else:
            painter.drawPolyline(shown)

    def _legend(self, painter: QPainter, names: list[str], area: QRectF) -> None:
        painter.setFont(numbers(12))
        metrics = painter.fontMetrics()
        right = area.right()
        for number, name in reversed(list(enumerate(names))):
            words = curve_title(name)
            right -= metrics.horizontalAdvance(words)
            painter.setPen(theme().color("text2"))
            painter.drawText(QPointF(right, area.top() + 12), words)
            painter.setPen(QPen(theme().color(self.COLORS[number % 5]), 2, self.DASHES[number % 5]))
            painter.drawLine(QPointF(right - 24, area.top() + 8), QPointF(right - 6, area.top() + 8))
            right -= 38

    def _reading(self, painter: QPainter, names: list[str], area: QRectF) -> None:
        """A hair line at the pointer, with the step and the values there."""
        if self._at is None or not area.contains(self._at) or not names:
            return
        step = self.from_screen(self._at, area)[0]
        painter.setPen(QPen(theme().color("border_strong"), 1))
        painter.drawLine(QPointF(self._at.x(), area.top()), QPointF(self._at.x(), area.bottom()))
        words = []
        for name in names:
            points = self._curves[name]
            _, y = min(points, key=lambda p: abs(p[0] - step)) if points else (0, None)
            words.append(text.fmt_number(y))
        line = self.tr("step {step}: {values}").format(step=round(step), values=" · ".join(words))
        painter.setFont(numbers(12))
        painter.setPen(theme().color("text"))
        painter.drawText(QRectF(area.left() + 8, area.bottom() - 20, area.width() - 16, 18), int(Qt.AlignmentFlag.AlignLeft), line)
