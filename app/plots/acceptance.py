"""The decode lab's plots that go with the rounds: accepted tokens, where a round's time went, and the race of the lanes.

Covers drawing only; the numbers are app.decode_run's and app.decode_numbers'. All are calm: no menus, no buttons, no
dragging. Each is told what to show by `display`, cut at the moment of a replay: what lies after it is pale or not yet there.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QFrame, QToolTip

from app.decode_numbers import parts
from app.decode_run import PLAIN_LANE, DecodeRun, Figures, Lane, moving_average, race_line, thin
from app.plots.lanes import LANE_COLORS, LANE_DASHES, lane_title
from app.theme import SEMIBOLD, theme, ui_font

WINDOW = 8  # rounds of the moving average
MOST_BARS = 240
translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Moment:
    """What plots are to show: a run after `done` rounds of its main lane. seconds: the replay's clock; None: the end."""

    run: DecodeRun
    done: int
    whole: bool  # all rounds there are
    seconds: float | None
    figures: Figures
    live: bool = False


KEY = 18  # px of the line that says what the colours mean


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
        self._key: list[tuple[str, str, str]] = []  # words, colour, shape
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

    def display(self, moment: Moment) -> str:
        """Draws a moment of a run. Returns '' or, where there's nothing to draw, the sentence that says why."""
        raise NotImplementedError

    def set_labels(self, bottom: str, left: str) -> None:
        """Other words at the axes."""
        if ((("bottom", bottom), ("left", left))) != self._labels:
            self._labels = (("bottom", bottom), ("left", left))
            self.paint_theme()

    def set_key(self, entries: list[tuple[str, str, str]]) -> None:
        """What the colours mean, in one line above the data: (words, colour, 'box', 'line', 'dash' or 'dot')."""
        if entries != self._key:
            self._key = entries
            self.getPlotItem().layout.setContentsMargins(0, KEY if entries else 0, 0, 0)
            self.viewport().update()

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        if not self._key:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(ui_font(11))
        metrics = painter.fontMetrics()
        entries = list(self._key)
        need = sum(metrics.horizontalAdvance(words) + 36 for words, _, _ in entries)
        room = self.viewport().width() - 6
        right = room
        for words, color, shape in reversed(entries):
            width = metrics.horizontalAdvance(words) if need <= room else min(metrics.horizontalAdvance(words), room // len(entries) - 36)
            right -= width
            painter.setPen(theme().color("text2"))
            painter.drawText(QPointF(right, 12), metrics.elidedText(words, Qt.TextElideMode.ElideRight, width + 1))
            self._paint_mark(painter, right - 22, 8, color, shape)
            right -= 36
        painter.restore()

    @staticmethod
    def _paint_mark(painter: QPainter, x: float, y: float, color: str, shape: str) -> None:
        ink = theme().color(color)
        if shape in ("line", "dash"):
            pen = QPen(ink, 2)
            if shape == "dash":
                pen.setDashPattern([2.5, 2])
            painter.setPen(pen)
            painter.drawLine(QPointF(x, y), QPointF(x + 16, y))
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        if shape == "dot":
            painter.drawEllipse(QPointF(x + 11, y), 4, 4)
        else:
            painter.drawRoundedRect(QRectF(x + 6, y - 4, 10, 8), 2, 2)

    def reading(self, x: float) -> str:
        """What there is at a place along the bottom axis, in words; the subclass's. '': nothing."""
        return ""

    def mouseMoveEvent(self, event) -> None:
        super().mouseMoveEvent(event)
        box = self.getPlotItem().getViewBox()
        at = event.position()
        inside = box.mapRectToScene(box.rect()).contains(at)
        words = self.reading(box.mapSceneToView(at).x()) if inside else ""
        if words:
            QToolTip.showText(event.globalPosition().toPoint(), words, self)
        else:
            QToolTip.hideText()

    def wheelEvent(self, event) -> None:
        event.ignore()  # the page scrolls, not the plot

    def event(self, event) -> bool:
        if event.type() == QEvent.Type.DevicePixelRatioChange:
            self.redraw()
        return super().event(event)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.redraw()


# ---- rounds -----------------------------------------------------------------------------------------------------


class ByRound(CalmPlot):
    """Bars along the rounds, of which one can be clicked."""

    picked = Signal(int)  # a round, counted from 0, that was clicked

    def __init__(self, left: str) -> None:
        super().__init__(translate("acceptance", "Round"), left)
        self._lane: Lane | None = None
        self._done: int | None = None
        self.scene().sigMouseClicked.connect(self._clicked)

    def display(self, moment: Moment) -> str:
        lane = moment.run.lane
        if not lane.rounds:
            return translate("acceptance", "A bar for each round, as it comes.")
        self.set_lane(lane, None if moment.whole else moment.done)
        return ""

    def set_lane(self, lane: Lane | None, done: int | None = None) -> None:
        """done: rounds over at the moment shown; those after it are pale. None: all."""
        self._lane, self._done = lane, done
        self.redraw()

    def reading(self, x: float) -> str:
        """The round at a place."""
        index = round(x) - 1
        return self.of_round(index) if self._lane is not None and 0 <= index < len(self._lane.rounds) else ""

    def of_round(self, index: int) -> str:
        taken = self._lane.rounds[index]
        words = translate("acceptance", "round {n}: {drafted} guessed, {tested} tested, {kept} kept")
        return words.format(n=index + 1, drafted=len(taken.drafted), tested=taken.tested, kept=taken.accepted)

    def _clicked(self, event) -> None:
        if self._lane is not None and self._lane.rounds and event.button() == Qt.MouseButton.LeftButton:
            at = self.getPlotItem().getViewBox().mapSceneToView(event.scenePos())
            index = round(at.x()) - 1
            if 0 <= index < len(self._lane.rounds):
                self.picked.emit(index)


class RoundsPlot(ByRound):
    """Bars: accepted per round; line: their moving average; dashes: what was drafted at most (gamma)."""

    def __init__(self) -> None:
        super().__init__(translate("acceptance", "Accepted"))
        self.setAccessibleName(translate("acceptance", "Accepted draft tokens per round"))
        self._bars = pg.BarGraphItem(x=[], height=[], width=0.8)
        self._later = pg.BarGraphItem(x=[], height=[], width=0.8)
        self._gamma, self._average = pg.PlotCurveItem(), pg.PlotCurveItem(antialias=True)
        for item in (self._bars, self._later, self._gamma, self._average):
            self.addItem(item)

    def display(self, moment: Moment) -> str:
        lane = moment.run.lane
        if lane.rounds and not lane.drafted[-1] and not moment.live:
            return translate("acceptance", "Nothing was drafted in this run, so there's nothing to accept.")
        if not lane.rounds or not lane.drafted[-1]:
            return translate("acceptance", "A bar for each round: how many of its guesses were kept.")
        return super().display(moment)

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


class TimelinePlot(ByRound):
    """Where a round's time went, stacked: drafting, the target's call, and all around them. Long runs show means of neighbours."""

    PARTS = (("muted", "draft"), ("accent", "verify"), ("rejected_edge", "around"))

    def __init__(self) -> None:
        super().__init__(translate("acceptance", "Milliseconds"))
        self.setAccessibleName(translate("acceptance", "Where each round's time went"))
        self._bars = [(pg.BarGraphItem(x=[], height=[], width=0.8), pg.BarGraphItem(x=[], height=[], width=0.8)) for _ in self.PARTS]
        for pair in self._bars:
            for item in pair:
                self.addItem(item)

    def of_round(self, index: int) -> str:
        draft, verify, rest = (f"{1000 * seconds:.1f}" for seconds in parts(self._lane.rounds[index]))
        words = translate("acceptance", "round {n}: draft {draft} ms, verify {verify} ms, the rest {rest} ms")
        return words.format(n=index + 1, draft=draft, verify=verify, rest=rest)

    def redraw(self) -> None:
        if not hasattr(self, "_bars") or self._lane is None:
            return
        rounds = self._lane.rounds
        done = len(rounds) if self._done is None else self._done
        columns = [[1000 * seconds for seconds in column] for column in zip(*(parts(taken) for taken in rounds), strict=True)]
        base: list[float] = []
        totals = [sum(column[:done]) for column in columns]
        spent = sum(totals)
        words = (
            translate("acceptance", "draft"),
            translate("acceptance", "verify"),
            translate("acceptance", "the rest"),
        )
        key = []
        for (now, later), (color, _), column, word, total in zip(self._bars, self.PARTS, columns, words, totals, strict=True):
            xs, heights, bucket = thin(column, MOST_BARS)
            base = base or [0.0] * len(xs)
            cut = -(-done // bucket)
            fill = theme().color(color)
            pale = QColor(fill)
            pale.setAlphaF(0.28)
            now.setOpts(x=xs[:cut], y0=base[:cut], height=heights[:cut], width=0.8 * bucket, brush=fill, pen=pg.mkPen(None))
            later.setOpts(x=xs[cut:], y0=base[cut:], height=heights[cut:], width=0.8 * bucket, brush=pale, pen=pg.mkPen(None))
            base = [a + b for a, b in zip(base, heights, strict=True)]
            share = f"  {100 * total / spent:.0f} %" if spent else ""
            key.append((word + share, color, "box"))
        self.set_key(key)
        ordered = sorted(base)
        top = max(ordered[int(0.98 * (len(ordered) - 1))] * 1.25, 1e-3)  # a single stall mustn't flatten the rest
        self.setRange(xRange=(0.4, max(len(rounds), 12) + 0.6), yRange=(0, min(top, max(ordered) * 1.06) or 1e-3), padding=0)


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
    """Tokens over seconds of each lane's own clock: speculative solid, rival in long dashes, plain in short ones, named at their ends."""

    def __init__(self) -> None:
        super().__init__(translate("acceptance", "Seconds"), translate("acceptance", "Tokens"))
        self.setAccessibleName(translate("acceptance", "Race: tokens over time"))
        self._run: DecodeRun | None = None
        self._until: float | None = None
        self._lines = {name: pg.PlotCurveItem(antialias=True) for name in LANE_COLORS}
        self._words = {name: EndLabel() for name in LANE_COLORS}
        for item in (*self._lines.values(), *self._words.values()):
            self.addItem(item, ignoreBounds=True)

    def display(self, moment: Moment) -> str:
        if not any(lane.rounds for lane in moment.run.lanes.values()):
            return translate("acceptance", "Tokens over time, with the draft and without.")
        self.set_run(moment.run, moment.seconds)
        return ""

    def reading(self, x: float) -> str:
        """Where every lane stood then."""
        if self._run is None or x < 0:
            return ""
        lines = [translate("acceptance", "{n} s").format(n=f"{x:.2f}")]
        for name in self._run.order:
            words = translate("acceptance", "{lane}: {n} tokens")
            lines.append(words.format(lane=lane_title(self._run, name), n=self._run.lanes[name].tokens_at(x)))
        return "\n".join(lines)

    def set_run(self, run: DecodeRun | None, until: float | None = None) -> None:
        """until: seconds of the replay's moment; None: the end."""
        self._run, self._until = run, until
        self.redraw()

    def redraw(self) -> None:
        if not hasattr(self, "_words") or self._run is None:
            return
        run = self._run
        drawn = {name: run.lanes[name] for name in run.order if run.lanes[name].rounds}
        last_x = max((lane.at[-1] for lane in drawn.values()), default=1.0) or 1.0
        last_y = max((lane.tokens[-1] for lane in drawn.values()), default=1) or 1
        most = max(2 * int(self.width() * self.devicePixelRatioF()), 200)
        ends = []
        for name, line in self._lines.items():
            lane, words = drawn.get(name), self._words[name]
            line.setVisible(lane is not None)
            words.setVisible(False)
            if lane is None:
                continue
            xs, ys = race_line(lane, self._until, most)
            color = "text2" if name == run.main == PLAIN_LANE else LANE_COLORS[name]
            dashes = LANE_DASHES[name]
            pen = self.pen(color, 1.8 if dashes else 2.2, Qt.PenStyle.CustomDashLine if dashes else Qt.PenStyle.SolidLine)
            if dashes:
                pen.setDashPattern(dashes)
            line.setData(xs, ys, pen=pen)
            if len(xs) > 1:
                ends.append((words, color, lane_title(run, name), lane, xs[-1], ys[-1], name))
        height = max(self.getPlotItem().getViewBox().size().height(), 60.0)
        room = height / (height - EndLabel.HEIGHT - 10)  # for the word above the highest end
        self.setRange(xRange=(0, last_x * 1.02), yRange=(0, last_y * room), padding=0)
        if len(ends) > 2:  # no room at their ends for so many
            self.set_key(
                [
                    (self._end_words(name, lane), color, "dash" if LANE_DASHES[lane_of] else "line")
                    for _, color, name, lane, _, _, lane_of in ends
                ]
            )
        else:
            self.set_key([])
            self._place_words(ends)

    def _end_words(self, name: str, lane: Lane) -> str:
        """A lane's name and its pace so far."""
        speed = lane.throughput(lane.index_at(self._until) if self._until is not None else None)
        if not speed:
            return name
        return name + "  " + translate("acceptance", "{n} tok/s").format(n=f"{speed:.0f}" if speed >= 9.95 else f"{speed:.1f}")

    def _place_words(self, ends: list) -> None:
        """Names above their lines' ends, or below where they'd run into another line or name; left out without room."""
        box = self.getPlotItem().getViewBox()
        size, ((low_x, high_x), (low_y, high_y)) = box.size(), box.viewRange()
        if size.width() < 1 or size.height() < 1:
            return
        x_px, y_px = size.width() / (high_x - low_x), size.height() / (high_y - low_y)
        ends = sorted(ends, key=lambda end: -end[5] / (end[4] or 1))  # the fastest first
        taken: list[QRectF] = []
        for words, color, name, lane, x, y, _ in ends:
            text = self._end_words(name, lane)
            width = words.measure(text)
            ending = max(x, width / x_px)
            own = lane.tokens_at(max(ending - width / x_px, 0.0))  # the line's height where the word begins
            behind = x + (width + 6) / x_px
            for right, drop in ((ending, 0.0), (behind, -EndLabel.HEIGHT / 2), (ending, (y - own) * y_px + 6)):
                left = right - width / x_px
                if right > high_x and right != ending:
                    continue
                top = (high_y - y) * y_px + (drop if drop else -EndLabel.HEIGHT - 5)
                spot = QRectF(left * x_px, top, width, EndLabel.HEIGHT)
                others = [(end[3], end[4]) for end in ends if end[3] is not lane]
                crossed = any(self._crosses(other, until, left, right, high_y, y_px, spot) for other, until in others)
                if spot.top() >= -1 and spot.bottom() <= size.height() and not crossed and not any(spot.intersects(one) for one in taken):
                    taken.append(spot)
                    words.set(text, theme().color(color), right, y, drop)
                    words.setVisible(True)
                    break

    @staticmethod
    def _crosses(lane: Lane, end: float, left: float, right: float, high_y: float, y_px: float, spot: QRectF) -> bool:
        """Whether a lane's line runs through a spot: looked for at a few places along it."""
        for step in range(9):
            x = left + (right - left) * step / 8
            if 0 <= x <= end:
                y = (high_y - lane.tokens_at(x)) * y_px
                if spot.top() - 1 <= y <= spot.bottom() + 1:
                    return True
        return False
