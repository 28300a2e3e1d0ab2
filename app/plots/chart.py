"""Chart: a pyqtgraph plot with our ticks, titles and colours. What's inside is for whoever derives from it.

Covers the frame (axes, grid, ranges, panning, zooming, mapping) and pens. Axes that are logarithmic get logarithms as
their values: pyqtgraph's own log mode leaves scatter points and error bars as they are. Imported only once there's
something to plot, since pyqtgraph and numpy take a third of a second.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QResizeEvent

from app.theme import numbers, theme, ui_font

Ticks = Callable[[float, float, int], list[tuple[float, str]]]

GRID, GROUND = -1000, -900  # below the view box, which lies at -100
RIGHT, TITLE_LINE, NUMBER_LINE = 14, 20, 26  # px
ZOOM = 0.85  # of the range, for one notch of the wheel


class Axis(pg.AxisItem):
    """An axis whose ticks a function of (low, high, most) gives, with faint lines right across the plot."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self.maker: Ticks = lambda low, high, most: []
        self.most = 5
        self.title = ""
        self._words: dict[float, str] = {}
        self.enableAutoSIPrefix(False)
        self.setStyle(tickLength=0, tickTextOffset=9, autoExpandTextSpace=False, tickFont=numbers(12))
        self.setGrid(255)
        self.setZValue(GRID)
        self.label.setFont(ui_font(12))

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:
        self._words = dict(self.maker(minVal, maxVal, self.most))
        return [(1.0, list(self._words))]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        return [self._words[value] for value in values]

    def generateDrawSpecs(self, p: QPainter) -> Any:
        """As pyqtgraph has it, with one faint pen for all lines, and without labels that run into the one before."""
        specs = super().generateDrawSpecs(p)
        if specs is None:
            return None
        axis, ticks, labels = specs
        faint = theme().color("border")
        faint.setAlphaF(0.55)
        line = pg.mkPen(faint, width=self.pen().widthF())
        if self.orientation == "bottom":
            apart, last = [], -math.inf
            for rect, flags, words in labels:
                if rect.left() >= last + 8:
                    apart.append((rect, flags, words))
                    last = rect.right()
            labels = apart
        return axis, [(line, a, b) for _, a, b in ticks], labels

    def boundingRect(self) -> QRectF:
        """Labels of ticks at the ends stand out over them."""
        return super().boundingRect().adjusted(-24, -10, 24, 10)

    def resizeEvent(self, event: Any = None) -> None:
        super().resizeEvent(event)
        if self.label is not None:  # pyqtgraph's places are for its own sizes of letters
            self.label.moveBy(*((3, 0) if self.orientation == "left" else (0, -4)))

    def set_title(self, title: str) -> None:
        if title != self.title:
            self.title = title
            self.setLabel(html.escape(title))
            self.showLabel(bool(title))
            self.resizeEvent()  # which centres it


class Box(pg.ViewBox):
    """The left button moves, the wheel zooms about the pointer; nothing else does anything."""

    def __init__(self) -> None:
        super().__init__(enableMenu=False, defaultPadding=0)
        self.state["wheelScaleFactor"] = math.log(ZOOM) / math.log(1.02) / 120  # pyqtgraph scales by 1.02 ** (angle * factor)

    def mouseDragEvent(self, ev: Any, axis: int | None = None) -> None:
        if ev.button() != Qt.MouseButton.LeftButton or not any(self.state["mouseEnabled"]):
            ev.ignore()
            return
        super().mouseDragEvent(ev, axis)
        if ev.isFinish():
            self.unsetCursor()
        else:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)


class Chart(pg.PlotWidget):
    """Ranges are in plot coordinates (already logarithmic where the axis is); larger y is higher.

    Scene coordinates are the widget's, so drawForeground paints in logical pixels. `arrange` is called whenever range,
    size, theme or sharpness changed: whoever derives from it puts its items right there.
    """

    def __init__(self, *, movable: bool) -> None:
        self._made = False
        self._x_axis, self._y_axis = Axis("bottom"), Axis("left")
        self.box = Box()
        super().__init__(viewBox=self.box, axisItems={"bottom": self._x_axis, "left": self._y_axis})
        self.x_ticks: Ticks = lambda low, high, most: []
        self.y_ticks: Ticks = lambda low, high, most: []
        self.x_title = self.y_title = ""
        self.y_short = ""  # the vertical title where the whole doesn't fit
        self.top = 10
        self.setMinimumSize(120, 64)
        self.setAntialiasing(True)
        item = self.getPlotItem()
        item.hideButtons()
        item.setMenuEnabled(False)
        for axis in (self._x_axis, self._y_axis):
            axis.setZValue(GRID)  # the plot item puts axes above the data
        self.box.disableAutoRange()
        self.box.setMouseEnabled(movable, movable)
        self.box.sigRangeChanged.connect(self._range_changed)
        theme().changed.connect(self.restyled)
        self._made = True
        self.restyled()

    # -- ranges and mapping

    @property
    def x_range(self) -> tuple[float, float]:
        low, high = self.box.viewRange()[0]
        return low, high

    @property
    def y_range(self) -> tuple[float, float]:
        low, high = self.box.viewRange()[1]
        return low, high

    def set_ranges(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.box.setRange(xRange=x, yRange=y, padding=0)

    def area(self) -> QRectF:
        """Where the data is drawn, in widget coordinates."""
        return self.box.mapRectToScene(self.box.rect())

    def to_screen(self, x: float, y: float) -> QPointF:
        return self.box.mapViewToScene(QPointF(x, y))

    def from_screen(self, point: QPointF) -> tuple[float, float]:
        at = self.box.mapSceneToView(point)
        return at.x(), at.y()

    # -- the frame

    def pen(self, color: str | QColor, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
        """A pen for pyqtgraph's items: theirs are device pixels wide, `width` is in logical ones."""
        return pg.mkPen(theme().color(color) if isinstance(color, str) else color, width=width * self.devicePixelRatioF(), style=style)

    def arrange(self) -> None:
        """The axes' room, which depends on their labels; items that depend on pixels are the subclass's."""
        metrics = QFontMetricsF(numbers(12))
        self._y_axis.maker, self._x_axis.maker = self.y_ticks, self.x_ticks
        self._y_axis.most = max(3, min(8, int(self.height() / 56)))
        labels = [words for _, words in self.y_ticks(*self.y_range, self._y_axis.most)]
        widest = max([metrics.horizontalAdvance(words) for words in labels], default=20.0)
        left = widest + 14 + (22 if self.y_title else 4)
        titled = bool(self.x_title) and self.height() >= 150  # a low plot gives the title's line to the data
        bottom = NUMBER_LINE + (TITLE_LINE if titled else 0)
        self._x_axis.most = max(2, min(10, int((self.width() - left - RIGHT) / 64)))
        high = self.height() - self.top - bottom + 16
        words = QFontMetricsF(ui_font(12))
        title = self.y_title if words.horizontalAdvance(self.y_title) <= high or not self.y_short else self.y_short
        self._y_axis.set_title(words.elidedText(title, Qt.TextElideMode.ElideRight, high))
        self._x_axis.set_title(self.x_title if titled else "")
        self._y_axis.setWidth(round(left))
        self._x_axis.setHeight(bottom)
        layout = self.getPlotItem().layout
        layout.setContentsMargins(0, self.top, RIGHT, 0)
        layout.activate()
        for axis in (self._x_axis, self._y_axis):
            axis.picture = None  # drawn anew, whichever of these changed
            axis.update()
        self.viewport().update()

    def restyled(self) -> None:
        self.setBackground(theme().color("surface"))
        for axis in (self._x_axis, self._y_axis):
            axis.setPen(self.pen("border_strong", 1))
            axis.setTextPen(theme().color("text2"))
            axis.label.setDefaultTextColor(theme().color("text2"))
        self.arrange()

    def _range_changed(self, *_: Any) -> None:
        self.arrange()

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        super().resizeEvent(event)
        if self._made:
            self.arrange()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange and self._made:
            self.restyled()
        return super().event(event)
