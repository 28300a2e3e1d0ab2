"""The decode lab's two plots: accepted tokens per round, and the race of speculative against plain decoding.

Covers drawing only; the numbers are app.decode_run's. Both are calm: no menus, no buttons, no dragging. Both can be cut
at a moment of a replay: what lies after it is pale or not yet there.
"""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from app.decode_run import DecodeRun, Lane, moving_average, race_line, thin
from app.theme import SEMIBOLD, theme, ui_font

WINDOW = 8  # rounds of the moving average
MOST_BARS = 240
translate = QCoreApplication.translate


class CalmPlot(pg.PlotWidget):
    """A PlotWidget in the theme's colours, with faint horizontal lines and nothing to press."""

    def __init__(self, bottom: str, left: str) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        item = self.getPlotItem()
        item.hideButtons()
        item.setMenuEnabled(False)
        item.setMouseEnabled(False, False)
        item.getViewBox().setDefaultPadding(0)
        self._labels = (("bottom", bottom), ("left", left))
        for side, _ in self._labels:
            axis = item.getAxis(side)
            axis.setStyle(tickFont=ui_font(11), tickLength=0, tickTextOffset=6)
            axis.enableAutoSIPrefix(False)
        item.getAxis("left").setWidth(46)
        item.getAxis("bottom").setHeight(36)
        self.paint_theme()
        theme().changed.connect(self.paint_theme)

    def pen(self, color: str | QColor, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
        """pyqtgraph's pens are device pixels, ours are logical ones."""
        return pg.mkPen(theme().color(color) if isinstance(color, str) else color, width=width * self.devicePixelRatioF(), style=style)

    def paint_theme(self) -> None:
        self.setBackground(theme().color("surface"))
        item = self.getPlotItem()
        for side, words in self._labels:
            axis = item.getAxis(side)
            axis.setPen(self.pen("border_strong", 1))
            axis.setTextPen(theme().color("text2"))
            axis.setLabel(words, **{"color": theme().color("text2").name(), "font-size": "11px"})
        item.showGrid(x=False, y=True, alpha=0.16)
        self.redraw()

    def redraw(self) -> None:
        """Draws again in the theme's colours; the subclass's."""

    def wheelEvent(self, event) -> None:
        event.ignore()  # the page scrolls, not the plot

    def event(self, event) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.redraw()
        return super().event(event)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.redraw()


class PlotPanel(QFrame):
    """A titled card around a plot, with a sentence in its place while there's nothing to draw."""

    def __init__(self, plot: CalmPlot, empty: str) -> None:
        super().__init__()
        self.setProperty("panel", True)
        self.plot = plot
        self.title = QLabel()
        self.title.setProperty("role", "section")
        self._empty = QLabel(empty)
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(plot)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 10, 8, 4)
        box.setSpacing(4)
        box.addWidget(self.title)
        box.addWidget(body, 1)
        self.setMinimumHeight(118)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_empty(self, words: str) -> None:
        self._empty.setText(words)

    def show_plot(self, there: bool) -> None:
        self._stack.setCurrentIndex(1 if there else 0)


# ---- rounds -----------------------------------------------------------------------------------------------------


class RoundsPlot(CalmPlot):
    """Bars: accepted per round; line: their moving average; dashes: what was drafted at most (gamma)."""

    picked = Signal(int)  # a round, counted from 0, that was clicked

    def __init__(self) -> None:
        super().__init__(translate("acceptance", "Round"), translate("acceptance", "Accepted"))
        self.setAccessibleName(translate("acceptance", "Accepted draft tokens per round"))
        self._lane: Lane | None = None
        self._done: int | None = None
        self._bars = pg.BarGraphItem(x=[], height=[], width=0.8)
        self._later = pg.BarGraphItem(x=[], height=[], width=0.8)
        self._gamma, self._average = pg.PlotCurveItem(), pg.PlotCurveItem(antialias=True)
        for item in (self._bars, self._later, self._gamma, self._average):
            self.addItem(item)
        self.scene().sigMouseClicked.connect(self._clicked)

    def set_lane(self, lane: Lane | None, done: int | None = None) -> None:
        """done: rounds over at the moment shown; those after it are pale. None: all."""
        self._lane, self._done = lane, done
        self.redraw()

    def redraw(self) -> None:
        if not hasattr(self, "_average") or self._lane is None:
            return
        rounds = self._lane.rounds
        done = len(rounds) if self._done is None else self._done
        accepted = [float(r.accepted) for r in rounds]
        xs, heights, bucket = thin(accepted, MOST_BARS)
        cut = -(-done // bucket)
        fill = theme().color("accepted_edge")
        pale = QColor(fill)
        pale.setAlphaF(0.28)
        width = 0.8 * bucket
        self._bars.setOpts(x=xs[:cut], height=heights[:cut], width=width, brush=fill, pen=pg.mkPen(None))
        self._later.setOpts(x=xs[cut:], height=heights[cut:], width=width, brush=pale, pen=pg.mkPen(None))
        average = moving_average(accepted, WINDOW)
        shown = [average[min(round(x) - 1, len(average) - 1)] for x in xs[:cut]]
        self._average.setData(xs[:cut], shown, pen=self.pen("text", 1.5))
        steps = [float(r.planned) for r in rounds[::bucket]]
        edges = [x - 0.5 * bucket for x in xs] + [len(rounds) + 0.5]
        self._gamma.setData(edges, steps, stepMode="center", pen=self.pen("muted", 1, Qt.PenStyle.DashLine))
        top = max([*steps, *accepted, 1.0])
        self.getPlotItem().getAxis("left").setTickSpacing(max(1, -(-int(top) // 5)), 1)
        self.setRange(xRange=(0.4, max(len(rounds), 12) + 0.6), yRange=(0, top * 1.06), padding=0)

    def _clicked(self, event) -> None:
        if self._lane is not None and self._lane.rounds and event.button() == Qt.MouseButton.LeftButton:
            at = self.getPlotItem().getViewBox().mapSceneToView(event.scenePos())
            index = round(at.x()) - 1
            if 0 <= index < len(self._lane.rounds):
                self.picked.emit(index)


def rounds_title(lane: Lane) -> str:
    planned = {r.planned for r in lane.rounds if r.planned}
    if not planned:
        return translate("acceptance", "Accepted draft tokens per round")
    low, high = min(planned), max(planned)
    gamma = str(high) if low == high else f"{low}\u2013{high}"
    return translate("acceptance", "Accepted draft tokens per round (\u03b3 = {gamma})").format(gamma=gamma)


# ---- race -------------------------------------------------------------------------------------------------------


class EndLabel(pg.GraphicsObject):
    """A word at a line's end, right-aligned to it; painted in pixels. `drop` pixels below the point, or above it where 0."""

    HEIGHT = 18

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(self.GraphicsItemFlag.ItemIgnoresTransformations)
        self._text, self._color, self._drop, self._width = "", QColor(), 0.0, 0.0

    def measure(self, text: str) -> float:
        return QFontMetricsF(ui_font(12, SEMIBOLD)).horizontalAdvance(text) + 4

    def set(self, text: str, color: QColor, x: float, y: float, drop: float) -> None:
        self.prepareGeometryChange()
        self._text, self._color, self._drop, self._width = text, color, drop, self.measure(text)
        self.setPos(x, y)
        self.update()

    def boundingRect(self) -> QRectF:
        return QRectF(-self._width, self._drop if self._drop else -self.HEIGHT - 5, self._width, self.HEIGHT)

    def paint(self, painter: QPainter, *_) -> None:
        painter.setFont(ui_font(12, SEMIBOLD))
        painter.setPen(self._color)
        painter.drawText(self.boundingRect(), int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._text)


class RacePlot(CalmPlot):
    """Tokens over seconds: speculative solid, plain dashed, each labelled at its end."""

    def __init__(self) -> None:
        super().__init__(translate("acceptance", "Seconds"), translate("acceptance", "Tokens"))
        self.setAccessibleName(translate("acceptance", "Race: tokens over time"))
        self._run: DecodeRun | None = None
        self._until: float | None = None
        self._lines = [pg.PlotCurveItem(antialias=True) for _ in range(2)]
        self._words = [EndLabel() for _ in range(2)]
        for item in (*self._lines, *self._words):
            self.addItem(item, ignoreBounds=True)

    def set_run(self, run: DecodeRun | None, until: float | None = None) -> None:
        """until: seconds of the replay's moment; None: the end."""
        self._run, self._until = run, until
        self.redraw()

    def redraw(self) -> None:
        if not hasattr(self, "_words") or self._run is None:
            return
        lane, beside = self._run.lane, self._run.race
        lanes = [(lane, "accent" if not self._run.plain else "text2"), (beside, "muted")]
        drawn = [lane for lane, _ in lanes if lane is not None and lane.rounds]
        last_x = max((lane.at[-1] for lane in drawn), default=1.0) or 1.0
        last_y = max((lane.tokens[-1] for lane in drawn), default=1) or 1
        most = max(2 * int(self.width() * self.devicePixelRatioF()), 200)
        ends = []
        for (lane, color), line, words in zip(lanes, self._lines, self._words, strict=True):
            there = lane is not None and bool(lane.rounds)
            line.setVisible(there)
            words.setVisible(False)
            if not there:
                continue
            xs, ys = race_line(lane, self._until, most)
            dashed = lane is beside or self._run.plain
            pen = self.pen(color, 2.2 if not dashed else 1.8, Qt.PenStyle.CustomDashLine if dashed else Qt.PenStyle.SolidLine)
            if dashed:
                pen.setDashPattern([4, 3])
            line.setData(xs, ys, pen=pen)
            if len(xs) > 1:
                ends.append((words, color, self._name(lane, beside), lane, xs[-1], ys[-1]))
        height = max(self.getPlotItem().getViewBox().size().height(), 60.0)
        room = height / (height - EndLabel.HEIGHT - 10)  # for the word above the highest end
        self.setRange(xRange=(0, last_x * 1.02), yRange=(0, last_y * room), padding=0)
        self._place_words(ends)

    def _place_words(self, ends: list) -> None:
        """Names above their lines' ends; the slower one's below where it would run into the faster line, left out without room."""
        box = self.getPlotItem().getViewBox()
        size, ((low_x, high_x), (low_y, high_y)) = box.size(), box.viewRange()
        if size.width() < 1 or size.height() < 1:
            return
        x_px, y_px = size.width() / (high_x - low_x), size.height() / (high_y - low_y)
        ends = sorted(ends, key=lambda end: -end[5] / (end[4] or 1))  # the faster first
        for place, (words, color, name, lane, x, y) in enumerate(ends):
            speed = lane.throughput(lane.index_at(self._until) if self._until is not None else None)
            text = name
            if speed:
                text += "  " + translate("acceptance", "{n} tok/s").format(n=f"{speed:.0f}" if speed >= 9.95 else f"{speed:.1f}")
            width = words.measure(text)
            right = max(x, width / x_px)
            left = right - width / x_px
            drop = 0.0
            if place == 1:
                ceiling = ends[0][3].tokens_at(max(left, 0.0))
                if left < ends[0][4] and (ceiling - y) * y_px < EndLabel.HEIGHT + 8:
                    drop = (y - lane.tokens_at(max(left, 0.0))) * y_px + 6
                    if y * y_px < drop + EndLabel.HEIGHT:
                        continue
            words.set(text, theme().color(color), right, y, drop)
            words.setVisible(True)

    def _name(self, lane: Lane, beside: Lane | None) -> str:
        plain = lane is beside or self._run.plain
        return translate("acceptance", "plain") if plain else translate("acceptance", "speculative")
