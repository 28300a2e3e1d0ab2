"""The drawing of a job's curves: a line for each, smoothed where it's noisy, and the values at the pointer.

Covers curves that share one scale. Long ones are thinned to the pixels there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPen

from app import text
from app.plots.chart import Chart
from app.plots.geometry import padded, smoothed, thinned, two_ticks, whole_ticks
from app.theme import numbers, theme

COLORS = ("accent", "kind_quantized", "kind_distilled", "kind_combined", "kind_pruned")
DASHES = (Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine, Qt.PenStyle.SolidLine)
NOISY = 60  # points from which a curve is smoothed, its points pale behind


class CurveChart(Chart):
    """It doesn't move: it always shows the whole. title: a curve's name as a person says it."""

    def __init__(self, title: Callable[[str], str]) -> None:
        self._title = title
        self._curves: dict[str, list[tuple[float, float]]] = {}
        self._lines: dict[str, tuple[pg.PlotCurveItem, pg.PlotCurveItem]] = {}  # what was measured, and its course
        super().__init__(movable=False)
        self.x_ticks, self.y_ticks = whole_ticks, two_ticks
        self.x_title = self.tr("Step")
        self.setMinimumHeight(72)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(self.tr("Curves"))
        self._hair = pg.InfiniteLine(angle=90, movable=False)
        self._hair.hide()
        self.addItem(self._hair, ignoreBounds=True)

    def set_curves(self, curves: dict[str, list[tuple[int, float]]]) -> None:
        """curves: name -> [(step, value)] by rising step; values that aren't finite are left out."""
        self._curves = {n: [(float(x), y) for x, y in c if math.isfinite(y)] for n, c in sorted(curves.items())}
        for name in self._lines.keys() - self._curves.keys():
            for line in self._lines.pop(name):
                self.removeItem(line)
        for name in self._curves.keys() - self._lines.keys():
            self._lines[name] = (pg.PlotCurveItem(antialias=True), pg.PlotCurveItem(antialias=True))
            for line in self._lines[name]:
                self.addItem(line, ignoreBounds=True)
        points = [p for c in self._curves.values() for p in c]
        if points:
            ys = sorted(y for _, y in points)
            top = ys[int(0.995 * (len(ys) - 1))] if len(ys) > 200 else ys[-1]  # one early spike mustn't flatten the rest
            self.set_ranges(
                (min(x for x, _ in points), max(max(x for x, _ in points), 1.0)),
                padded(ys[0], top, 0.08, least=max(abs(top) * 1e-3, 1e-12)),
            )
        self.arrange()

    def arrange(self) -> None:
        super().arrange()
        columns = max(int(self.area().width()), 2)
        for number, (name, points) in enumerate(self._curves.items()):
            pale = theme().color(COLORS[number % 5])
            pale.setAlphaF(0.28)
            raw, course = self._lines[name]
            raw.setVisible(len(points) > NOISY)
            if len(points) > NOISY:
                _draw(raw, thinned(points, columns), self.pen(pale, 1))
                points = smoothed(points)
            _draw(course, thinned(points, columns // 2), self.pen(COLORS[number % 5], 1.8, DASHES[number % 5]))

    # -- the pointer

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        inside = self.area().contains(event.position()) and bool(self._curves)
        self._hair.setPen(self.pen("border_strong", 1))
        self._hair.setVisible(inside)
        self._hair.setValue(self.from_screen(event.position())[0])
        self.viewport().update()

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self._hair.hide()
        self.viewport().update()

    def reading(self) -> str:
        """The step at the pointer and the values there; '' where the pointer is elsewhere."""
        if not self._hair.isVisible():
            return ""
        step = self._hair.value()
        nearest = [min(c, key=lambda p: abs(p[0] - step))[1] if c else None for c in self._curves.values()]
        values = " · ".join(text.fmt_number(y) for y in nearest)
        return self.tr("step {step}: {values}").format(step=round(step), values=values)

    # -- words over the lines

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        painter.save()
        painter.setFont(numbers(12))
        area = self.area()
        if len(self._curves) > 1:
            self._paint_legend(painter, area)
        painter.setPen(theme().color("text"))
        at = QRectF(area.left() + 8, area.bottom() - 20, area.width() - 16, 18)
        painter.drawText(at, int(Qt.AlignmentFlag.AlignLeft), self.reading())
        if not self._x_axis.title:  # a low plot has no line for it
            painter.setPen(theme().color("muted"))
            painter.drawText(at, int(Qt.AlignmentFlag.AlignRight), self.x_title)
        painter.restore()

    def _paint_legend(self, painter: QPainter, area: QRectF) -> None:
        """In one line at the top right: a legend item of pyqtgraph's is a box that hides the curves of so low a plot."""
        right = area.right()
        for number, name in reversed(list(enumerate(self._curves))):
            title = self._title(name)
            right -= painter.fontMetrics().horizontalAdvance(title)
            painter.setPen(theme().color("text2"))
            painter.drawText(QPointF(right, area.top() + 12), title)
            painter.setPen(QPen(theme().color(COLORS[number % 5]), 2, DASHES[number % 5]))
            painter.drawLine(QPointF(right - 24, area.top() + 8), QPointF(right - 6, area.top() + 8))
            right -= 38


def _draw(line: pg.PlotCurveItem, points: list[tuple[float, float]], pen: QPen) -> None:
    """A single point as a short level stroke: a line needs two."""
    if len(points) == 1:
        (x, y), short = points[0], 0.002 * max(abs(points[0][0]), 1.0)
        points = [(x - short, y), (x + short, y)]
    line.setData([x for x, _ in points], [y for _, y in points], pen=pen)
