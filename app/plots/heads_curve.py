"""The curve of what's left as attention heads go: measured, a line for each criterion, beside what was predicted, and single choices.

Covers drawing and the pointer. x is units removed; y the perplexity (logarithmic), or the accuracy or cosine of a model that has none.
"""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPainterPath, QPen

from app import text
from app.plots import geometry as g
from app.plots.chart import Chart
from app.theme import SEMIBOLD, theme, ui_font

COLORS = {
    "taylor": "accent",
    "taylor_normalised": "kind_distilled",
    "magnitude": "kind_quantized",
    "random": "text2",
    "leave_out": "kind_combined",
}
DASHES = {
    "taylor": Qt.PenStyle.SolidLine,
    "taylor_normalised": Qt.PenStyle.DashDotLine,
    "magnitude": Qt.PenStyle.DashLine,
    "random": Qt.PenStyle.DotLine,
    "leave_out": Qt.PenStyle.SolidLine,
}
STEEP = 12.0  # times the start: farther up a perplexity says no more than that it's broken
Course = list[tuple[float, float]]


class HeadsCurve(Chart):
    """`titles`: what the criteria are called. Values above what's drawn are pinned to the edge."""

    def __init__(self, titles: dict[str, str]) -> None:
        self._titles = titles
        self.measure = "perplexity"
        self.curves: dict[str, Course] = {}
        self.expected: Course = []
        self.choices: list[tuple[int, float]] = []
        self.here = 0
        self.band: tuple[float, float] | None = None
        self._at: float | None = None
        super().__init__(movable=False)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumHeight(120)
        self.setAccessibleName(self.tr("What's left as heads go"))
        self.x_ticks = g.whole_ticks
        self._fit()

    def set_data(
        self,
        measure: str,
        curves: dict[str, Course],
        *,
        total: int,
        expected: Course,
        choices: list[tuple[int, float]],
        here: int,
        unit: str,
        band: tuple[float, float] | None = None,
    ) -> None:
        """curves: criterion -> [(units removed, value)] measured; expected: the same, predicted; choices: measured ones of a person;
        here: how many are off now; unit: the x axis' title; band: an interval of the whole model's value."""
        self.measure, self.curves, self.expected, self.choices = measure, curves, expected, choices
        self.total, self.here, self.band, self.x_title = total, here, band, unit
        self.y_title = self.y_short = {"perplexity": self.tr("Perplexity"), "accuracy": self.tr("Accuracy")}.get(measure, self.tr("Cosine"))
        self._fit()

    total = 1

    def _y(self, value: float) -> float:
        return math.log10(value) if self.measure == "perplexity" else value

    def _fit(self) -> None:
        measured = [y for curve in self.curves.values() for _, y in curve if math.isfinite(y)] + [y for _, y in self.choices]
        self.y_ticks = {"perplexity": g.log10_ticks, "accuracy": _percents}.get(self.measure, g.two_ticks)
        if measured:
            low, high = min(measured), max(measured)
            if self.measure == "perplexity":
                start = min((curve[0][1] for curve in self.curves.values() if curve), default=low)
                top = max(*(y for _, y in self.choices), start * STEEP, 0.0) if self.choices else start * STEEP
                low, high = math.log10(low), math.log10(min(high, top))
            if self.band is not None:
                low, high = min(low, self._y(self.band[0])), max(high, self._y(self.band[1]))
            self.set_ranges((0.0, max(1.0, self.total)), g.padded(low, high, 0.1, least=0.02))
        self.arrange()

    def place(self, count: float, value: float) -> QPointF:
        """Pinned at the upper edge where it lies beyond."""
        y = self._y(value) if math.isfinite(value) and value > 0 else self.y_range[1]
        return self.to_screen(count, min(max(y, self.y_range[0]), self.y_range[1]))

    def _beyond(self, value: float) -> bool:
        return not math.isfinite(value) or value <= 0 or self._y(value) > self.y_range[1]

    def reading(self) -> str:
        """What was measured nearest to the pointer; '' where it's elsewhere."""
        if self._at is None or not self.curves:
            return ""
        parts = []
        for criterion, curve in self.curves.items():
            if curve:
                count, value = min(curve, key=lambda p: abs(p[0] - self._at))
                parts.append(f"{self._titles[criterion]} {self.show_value(value)} ({count:g})")
        return " · ".join(parts)

    def show_value(self, value: float) -> str:
        return text.fmt_percent(value) if self.measure == "accuracy" else text.fmt_number(value)

    # -- painting

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = self.area()
        if self.band is not None:
            top, bottom = self.place(0, self.band[1]).y(), self.place(0, self.band[0]).y()
            fill = theme().color("accepted_fill")
            painter.fillRect(QRectF(area.left(), top, area.width(), bottom - top), fill)
        painter.setClipRect(area.adjusted(-6, -6, 6, 6))
        if self.here:
            x = self.to_screen(self.here, 0).x()
            painter.setPen(QPen(theme().color("border_strong"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if len(self.expected) > 1:
            self._line(painter, self.expected, QPen(theme().color("muted"), 1.2, Qt.PenStyle.DotLine))
        ends: list[tuple[str, QPointF]] = []
        for criterion, curve in self.curves.items():
            if not curve:
                continue
            self._line(painter, curve, QPen(theme().color(COLORS[criterion]), 1.9, DASHES[criterion]))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color(COLORS[criterion]))
            inside = [p for p in curve if not self._beyond(p[1])]
            for point in inside:
                painter.drawEllipse(self.place(*point), 2.0, 2.0)
            ends.append((self._titles[criterion], self.place(*(inside[-1] if inside else curve[0]))))
        if len(self.expected) > 1:
            inside = [p for p in self.expected if not self._beyond(p[1])]
            ends.append((self.tr("predicted"), self.place(*inside[-1])))
        for count, value in self.choices:
            at = self.place(count, value)
            painter.setPen(QPen(theme().color("surface"), 1.5))
            painter.setBrush(theme().color("kind_pruned"))
            painter.drawRect(QRectF(at.x() - 4.5, at.y() - 4.5, 9, 9))
        painter.setClipping(False)
        self._names(painter, ends)
        painter.setFont(ui_font(11))
        painter.setPen(theme().color("text"))
        painter.drawText(area.adjusted(8, 0, -8, -4), int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom), self.reading())
        painter.restore()

    def _line(self, painter: QPainter, curve: Course, pen: QPen) -> None:
        """As far as the first point that lies beyond."""
        path = QPainterPath(self.place(*curve[0]))
        for point in curve[1:]:
            path.lineTo(self.place(*point))
            if self._beyond(point[1]):
                break
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        painter.drawPath(path)

    def _names(self, painter: QPainter, ends: list[tuple[str, QPointF]]) -> None:
        """Beside where each line ends or leaves the picture."""
        font = ui_font(11, SEMIBOLD)
        painter.setFont(font)
        metrics, area = QFontMetricsF(font), self.area()
        sizes = [(metrics.horizontalAdvance(words) + 2, 14.0) for words, _ in ends]
        bounds = (area.left() + 2, area.top(), area.width() - 4, area.height() - 16)
        boxes = g.place_labels([(p.x(), p.y()) for _, p in ends], sizes, bounds, gap=8.0, must=range(len(ends)))
        for (words, _), box in zip(ends, boxes, strict=True):
            if box is not None:
                ground = theme().color("surface")
                ground.setAlphaF(0.75)
                painter.fillRect(QRectF(*box), ground)
                painter.setPen(theme().color("text2"))
                painter.drawText(QRectF(*box), int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), words)

    # -- the pointer

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        inside = self.area().contains(event.position())
        self._at = self.from_screen(event.position())[0] if inside else None
        self.viewport().update()

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self._at = None
        self.viewport().update()


def _percents(low: float, high: float, most: int = 7) -> list[tuple[float, str]]:
    return [(value / 100, f"{words} %") for value, words in g.two_ticks(100 * low, 100 * high, most)]
