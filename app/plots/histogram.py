"""Histograms painted by hand: counts on a grid's steps before and after rounding, and the largest number of each channel as bars.

Covers drawing and the pointer, for weights and for activations alike; what a look is made of is core.models.layer_look's and
core.models.activation_look's.
"""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app import text
from app.theme import numbers, theme

CROWDED = 6  # pixels between two points from which each is drawn by itself


class HistogramPlot(QWidget):
    """Counts before, as an area, and at each point of the grid after, as lines.

    log: counts on a logarithmic scale, for what lies mostly at 0 and has long tails; after, point: words of the legend and of what's
    read at the pointer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.look: dict[str, Any] | None = None
        self.log = False
        self.before, self.after, self.point = self.tr("before"), self.tr("after, at each point"), self.tr("Point {point}: {n} weights")
        self._at: float | None = None
        self.setMinimumHeight(140)
        self.setMouseTracking(True)
        self.setAccessibleName(self.tr("Histogram"))
        theme().changed.connect(self.update)

    def set_look(self, look: dict[str, Any], *, log: bool = False, words: tuple[str, str, str] | None = None) -> None:
        """words: of the area, of the lines, and of a point ({point}, {n}); None: those of weights."""
        self.look, self.log = look, log
        if words is not None:
            self.before, self.after, self.point = words
        else:
            self.before, self.after, self.point = self.tr("before"), self.tr("after, at each point"), self.tr("Point {point}: {n} weights")
        self.update()

    def area(self) -> QRectF:
        return QRectF(6, 20, self.width() - 12, self.height() - 42)

    def _x(self, step: float) -> float:
        low, high = self.look["edges"]
        return self.area().left() + self.area().width() * (step - low) / (high - low)

    def reading(self) -> str:
        """What lies at the pointer; '' where the pointer is elsewhere."""
        if self._at is None or self.look is None:
            return ""
        points = self.look["grid"]["points"]
        at = min(range(len(points)), key=lambda i: abs(points[i] - self._at))
        return self.point.format(point=f"{points[at]:g}".replace("-", text.MINUS), n=text.fmt_count(self.look["after"][at]))

    def _share(self, count: float, top: float) -> float:
        return math.log1p(count) / math.log1p(top) if self.log else count / top

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.look is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t, area, look = theme(), self.area(), self.look
        painter.setPen(QPen(t.color("border"), 1))
        painter.setBrush(t.color("surface2"))
        painter.drawRect(area)
        low, high = look["edges"]
        points, after, dense = look["grid"]["points"], look["after"], look["dense"]
        beyond = t.color("sunken")
        for left, right in ((low, look["grid"]["low"] - 0.5), (look["grid"]["high"] + 0.5, high)):
            if right > left and look["kind"] == "int":
                painter.fillRect(QRectF(self._x(left), area.top(), self._x(right) - self._x(left), area.height()), beyond)
        apart = area.width() / (high - low)
        if dense:
            # both are shares of their own sum in a step, so that the area and the lines have one scale
            per = len(dense) / (high - low)
            heights = [n * per for n in dense]
            top = max(max(heights), max(after) if look["kind"] == "int" else 0, 1)
            path = QPainterPath(QPointF(area.left(), area.bottom()))
            for i, height in enumerate(heights):
                x0, x1 = area.left() + area.width() * i / len(dense), area.left() + area.width() * (i + 1) / len(dense)
                y = area.bottom() - (area.height() - 6) * self._share(height, top)
                path.lineTo(x0, y)
                path.lineTo(x1, y)
            path.lineTo(area.right(), area.bottom())
            fill = t.color("accent")
            fill.setAlphaF(0.3)
            painter.setPen(QPen(t.color("accent"), 1))
            painter.setBrush(fill)
            painter.drawPath(path)
        else:
            top = max(*after, 1)
        if look["kind"] == "float":
            top = max(*after, 1)  # float8's points lie closer together towards 0, so counts a point are a scale of their own
        place = lambda point, count: QPointF(self._x(point), area.bottom() - (area.height() - 6) * self._share(count, top))
        if apart < CROWDED and look["kind"] == "int":
            line = QPainterPath(QPointF(self._x(points[0] - 0.5), area.bottom()))
            for point, count in zip(points, after, strict=True):
                line.lineTo(self._x(point - 0.5), place(point, count).y())
                line.lineTo(self._x(point + 0.5), place(point, count).y())
            line.lineTo(self._x(points[-1] + 0.5), area.bottom())
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(t.color("kind_quantized"), 1.6))
            painter.drawPath(line)
        else:
            self._paint_stems(painter, area, points, after, place, apart)
        self._paint_words(painter, area, points, apart)
        painter.end()

    def _paint_stems(self, painter: QPainter, area: QRectF, points: list[float], after: list[int], place: Any, apart: float) -> None:
        """The grid as dotted lines, and on it what went to each point."""
        stem = theme().color("kind_quantized")
        for point, count in zip(points, after, strict=True):
            top = place(point, count)
            if self.look["kind"] == "int":
                painter.setPen(QPen(theme().color("border_strong"), 1, Qt.PenStyle.DotLine))
                painter.drawLine(QPointF(top.x(), area.top() + 1), QPointF(top.x(), area.bottom()))
            if not count:
                continue
            painter.setPen(QPen(stem, 2.4 if apart >= 8 else 1.2))
            painter.drawLine(QPointF(top.x(), area.bottom()), top)
            if apart >= 14:
                painter.setBrush(stem)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.drawEllipse(top, 3, 3)

    def _paint_words(self, painter: QPainter, area: QRectF, points: list[float], apart: float) -> None:
        t = theme()
        painter.setFont(numbers(11))
        painter.setPen(t.color("text2"))
        every = 1 << max(0, math.ceil(math.log2(34 / max(apart, 0.01))))  # grids are powers of two long
        marks = [p for p in points if int(p) % every == 0] if self.look["kind"] == "int" else [points[0], 0.0, points[-1]]
        for point in marks:
            box = QRectF(self._x(point) - 26, area.bottom() + 3, 52, 15)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignHCenter), f"{point:g}".replace("-", text.MINUS))
        x = area.left()
        legend = [("accent", self.before)] if self.look["dense"] else []
        for color, words in (*legend, ("kind_quantized", self.after)):
            painter.fillRect(QRectF(x, 6, 12, 8), t.color(color))
            painter.setPen(t.color("text2"))
            painter.drawText(QPointF(x + 17, 14), words)
            x += 17 + painter.fontMetrics().horizontalAdvance(words) + 16
        painter.setPen(t.color("text"))
        scale = self.tr("steps of the grid; counts on a logarithmic scale") if self.log else self.tr("steps of the grid")
        room = max(0.0, area.right() - x)
        words = painter.fontMetrics().elidedText(self.reading() or scale, Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(QRectF(x, 2, room, 15), int(Qt.AlignmentFlag.AlignRight), words)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        area = self.area()
        inside = self.look is not None and area.contains(event.position())
        low, high = self.look["edges"] if self.look else (0, 1)
        self._at = low + (high - low) * (event.position().x() - area.left()) / area.width() if inside else None
        self.update()

    def leaveEvent(self, event: Any) -> None:
        self._at = None
        self.update()


class ChannelPlot(QWidget):
    """The largest of each channel as bars, the median as a line, outliers in another colour and with their number.

    Of the same channels before, where they're given, a pale line, scaled so that both medians are alike: methods that move scales
    between layers change every channel's size, and what tells is how far one stands out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.channels: dict[str, Any] | None = None
        self.other: dict[str, Any] | None = None
        self.setMinimumHeight(90)
        self.setAccessibleName(self.tr("Largest of each channel"))
        theme().changed.connect(self.update)

    def set_channels(self, channels: dict[str, Any], other: dict[str, Any] | None = None) -> None:
        self.channels, self.other = channels, other if other and len(other["largest"]) == len(channels["largest"]) else None
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.channels or not self.channels["largest"]:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t, found = theme(), self.channels
        area = QRectF(6, 16, self.width() - 12, self.height() - 34)
        painter.setPen(QPen(t.color("border"), 1))
        painter.setBrush(t.color("surface2"))
        painter.drawRect(area)
        scaled: list[float] = []
        if self.other is not None and self.other["median"]:
            scaled = [value * found["median"] / self.other["median"] for value in self.other["largest"]]
        top = max(*found["largest"], *scaled, 0.0) or 1.0
        wide = area.width() / len(found["largest"])
        far = {index // found["joined"]: index for index, _, _ in found["outliers"]}
        painter.setFont(numbers(11))
        for at, value in enumerate(found["largest"]):
            high = (area.height() - 4) * value / top
            bar = QRectF(area.left() + at * wide, area.bottom() - high, max(wide - 0.5, 0.8), high)
            painter.fillRect(bar, t.color("rejected_edge" if at in far else "accent"))
        if scaled:
            line = QPainterPath(QPointF(area.left(), area.bottom()))
            for at, value in enumerate(scaled):
                y = area.bottom() - (area.height() - 4) * value / top
                line.lineTo(area.left() + at * wide, y)
                line.lineTo(area.left() + (at + 1) * wide, y)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme().color("text2"), 1))
            painter.drawPath(line)
        y = area.bottom() - (area.height() - 4) * found["median"] / top
        painter.setPen(QPen(t.color("text2"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(t.color("text2"))
        words = self.tr("median {median} (dashed), largest {largest}").format(
            median=text.fmt_number(found["median"], 3), largest=text.fmt_number(max(found["largest"]), 3)
        )
        if scaled:
            said = self.tr("{words}; line: before, scaled to this median, largest {times} it")
            words = said.format(words=words, times=f"{text.TIMES}{max(self.other['largest']) / self.other['median']:.1f}")
        painter.drawText(QRectF(area.left(), 0, area.width(), 14), int(Qt.AlignmentFlag.AlignRight), words)
        foot = QRectF(area.left(), area.bottom() + 2, area.width(), 15)
        painter.drawText(foot, int(Qt.AlignmentFlag.AlignLeft), "0")
        painter.drawText(foot, int(Qt.AlignmentFlag.AlignRight), str(found["count"] - 1))
        painter.setPen(t.color("rejected_edge"))
        last = -1e9
        for at, index in sorted(far.items()):
            x = area.left() + (at + 0.5) * wide
            if x - last > 34 and 24 < x - area.left() < area.width() - 40:
                painter.drawText(QRectF(x - 24, area.bottom() + 2, 48, 15), int(Qt.AlignmentFlag.AlignHCenter), str(index))
                last = x
        painter.end()
