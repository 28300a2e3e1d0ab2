"""Chart: a plot's frame (axes, ticks, grid, mapping) on a plain QWidget. What's inside is painted by whoever derives from it.

Painted by hand: it starts 0.3 s sooner than a plotting library's scene, and every line is where the design wants it.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QWidget

from app.theme import numbers, theme, ui_font

Ticks = Callable[[float, float, int], list[tuple[float, str]]]


class Chart(QWidget):
    """Ranges are in plot coordinates (already logarithmic where the axis is); larger y is higher."""

    def __init__(self) -> None:
        super().__init__()
        self.x_range, self.y_range = (0.0, 1.0), (0.0, 1.0)
        self.x_ticks: Ticks = lambda low, high, most: []
        self.y_ticks: Ticks = lambda low, high, most: []
        self.x_title = self.y_title = ""
        self.y_short = ""  # the vertical title where the whole doesn't fit
        self.top = 10
        self.setMinimumSize(120, 64)
        theme().changed.connect(self.restyled)

    def restyled(self) -> None:
        self.update()

    # -- mapping

    def area(self) -> QRectF:
        """Where the data is drawn, in widget coordinates."""
        metrics = QFontMetricsF(numbers(12))
        labels = [words for _, words in self.y_ticks(*self.y_range, self._most_y())]
        widest = max([metrics.horizontalAdvance(words) for words in labels], default=20.0)
        left = widest + 14 + (22 if self.y_title else 4)
        bottom = 26 + (20 if self._titled() else 0)
        return QRectF(left, self.top, max(self.width() - left - 14, 20), max(self.height() - self.top - bottom, 20))

    def _most_y(self) -> int:
        return max(3, min(8, int(self.height() / 56)))

    def _titled(self) -> bool:
        """A low plot gives the title's line to the data."""
        return bool(self.x_title) and self.height() >= 150

    def _most_x(self, width: float) -> int:
        return max(2, min(10, int(width / 64)))

    def to_screen(self, x: float, y: float, area: QRectF | None = None) -> QPointF:
        a = area or self.area()
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        return QPointF(a.left() + (x - x0) / ((x1 - x0) or 1) * a.width(), a.bottom() - (y - y0) / ((y1 - y0) or 1) * a.height())

    def from_screen(self, point: QPointF, area: QRectF | None = None) -> tuple[float, float]:
        a = area or self.area()
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        return x0 + (point.x() - a.left()) / a.width() * (x1 - x0), y0 + (a.bottom() - point.y()) / a.height() * (y1 - y0)

    # -- painting

    def paint_frame(self, painter: QPainter, area: QRectF) -> None:
        """Grid, axis lines, tick labels and titles."""
        t = theme()
        painter.save()
        grid = QPen(t.color("border"), 1)
        grid.setCosmetic(True)
        faint = t.color("border")
        faint.setAlphaF(0.55)
        x_ticks = self.x_ticks(*self.x_range, self._most_x(area.width()))
        y_ticks = self.y_ticks(*self.y_range, self._most_y())
        painter.setPen(QPen(faint, 1))
        for x, _ in x_ticks:
            at = round(self.to_screen(x, 0, area).x()) + 0.5
            painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()))
        for y, _ in y_ticks:
            at = round(self.to_screen(0, y, area).y()) + 0.5
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
        painter.setPen(QPen(t.color("border_strong"), 1))
        left, bottom = round(area.left()) + 0.5, round(area.bottom()) + 0.5
        painter.drawLine(QPointF(left, area.top()), QPointF(left, bottom))
        painter.drawLine(QPointF(left, bottom), QPointF(area.right(), bottom))
        painter.setFont(numbers(12))
        painter.setPen(t.color("text2"))
        metrics = QFontMetricsF(numbers(12))
        last = -1e9
        for x, words in x_ticks:
            at, wide = self.to_screen(x, 0, area).x(), metrics.horizontalAdvance(words)
            if at - wide / 2 < last + 8:
                continue
            painter.drawText(QRectF(at - wide / 2 - 2, area.bottom() + 7, wide + 4, 16), int(Qt.AlignmentFlag.AlignCenter), words)
            last = at + wide / 2
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for y, words in y_ticks:
            at = self.to_screen(0, y, area).y()
            painter.drawText(QRectF(0, at - 8, area.left() - 9, 16), int(right), words)
        painter.setFont(ui_font(12))
        if self._titled():
            painter.drawText(QRectF(area.left(), area.bottom() + 26, area.width(), 18), int(Qt.AlignmentFlag.AlignCenter), self.x_title)
        if self.y_title:
            painter.translate(9, area.center().y())
            painter.rotate(-90)
            fits = metrics.horizontalAdvance(self.y_title) <= area.height() + 16
            title = self.y_title if fits or not self.y_short else self.y_short
            shown = metrics.elidedText(title, Qt.TextElideMode.ElideRight, area.height() + 16)
            painter.drawText(QRectF(-area.height() / 2 - 8, -9, area.height() + 16, 18), int(Qt.AlignmentFlag.AlignCenter), shown)
        painter.restore()
