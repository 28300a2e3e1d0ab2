"""The decode lab's plots of what speculation gains: acceptance by position, against what the distributions promise, S(gamma), T(n).

Covers drawing only; the numbers are app.decode_numbers'. Each says in a sentence what's missing where there's nothing to draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter

from app.decode_numbers import Bin, Gain, Position, by_position, calibration, costs_of, gain, wilson
from app.decode_run import Costs
from app.plots.acceptance import CalmPlot, Moment
from app.text import TIMES
from app.theme import SEMIBOLD, theme, ui_font

FEWEST = 30  # tested guesses, below which a comparison with alpha says nothing
translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Mark:
    """Words at a point: on which side of it, and how many pixels lower and further right than beside its middle."""

    x: float
    y: float
    words: str
    color: str
    side: str = "middle"  # of the point: left, middle, right
    drop: float = 0.0
    shift: float = 0.0


class Marked(CalmPlot):
    """A plot with words at points of it, painted in pixels, each kept inside the plot."""

    def __init__(self, bottom: str, left: str) -> None:
        self._marks: list[Mark] = []
        super().__init__(bottom, left)

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        super().drawForeground(painter, rect)
        box = self.getPlotItem().getViewBox()
        area = box.mapRectToScene(box.rect())
        font = ui_font(11, SEMIBOLD)
        metrics = QFontMetricsF(font)
        painter.save()
        painter.setFont(font)
        for mark in self._marks:
            at = box.mapViewToScene(QPointF(mark.x, mark.y))
            width = metrics.horizontalAdvance(mark.words) + 4
            left = at.x() - width * {"left": 1.0, "middle": 0.5, "right": 0.0}[mark.side] + mark.shift
            left = min(max(left, area.left() + 2), area.right() - width)
            top = min(max(at.y() - 8 + mark.drop, area.top()), area.bottom() - 16)
            painter.setPen(theme().color(mark.color))
            painter.drawText(QRectF(left, top, width, 16), Qt.AlignmentFlag.AlignCenter, mark.words)
        painter.restore()


# ---- acceptance by position -------------------------------------------------------------------------------------


class PositionsPlot(Marked):
    """Bars: the share kept of the guesses tested at each place of the draft, with 95 % intervals. Dots: the mean of sum min(p, q) there."""

    def __init__(self) -> None:
        super().__init__(translate("speculation", "Place in the draft"), translate("speculation", "Kept of tested"))
        self.setAccessibleName(translate("speculation", "Acceptance by place in the draft"))
        self._positions: list[Position] = []
        self._bars = pg.BarGraphItem(x=[], height=[], width=0.62)
        self._errors = pg.ErrorBarItem(beam=0.18)
        self._mean = pg.PlotCurveItem()
        self._dots = pg.ScatterPlotItem(size=9, pxMode=True)
        for item in (self._bars, self._errors, self._mean, self._dots):
            self.addItem(item)

    def display(self, moment: Moment) -> str:
        rounds = moment.run.lane.rounds[: moment.done]
        self._positions = by_position(rounds)
        if not self._positions:
            if rounds and not moment.live:
                return translate("speculation", "Nothing was drafted, so no place of a draft was tested.")
            return translate("speculation", "How often the first, second, third \u2026 token of a draft is kept.")
        self.redraw()
        return ""

    def reading(self, x: float) -> str:
        """What became of the guesses at a place of the draft."""
        index = round(x) - 1
        if not 0 <= index < len(self._positions):
            return ""
        place = self._positions[index]
        words = translate("speculation", "place {n}: {kept} of {tested} kept, {share}")
        said = words.format(n=index + 1, kept=place.kept, tested=place.tested, share=f"{100 * place.rate:.0f} %")
        if place.known:
            promised = translate("speculation", "promised {share}").format(share=f"{100 * place.overlap / place.known:.0f} %")
            said += f"\n{promised}"
        return said

    def redraw(self) -> None:
        if not hasattr(self, "_dots") or not self._positions:
            return
        places = self._positions
        xs = [float(i + 1) for i in range(len(places))]
        ys = [p.rate for p in places]
        spans = [wilson(p.kept, p.tested) for p in places]
        fill = theme().color("accepted_edge")
        self._bars.setOpts(x=xs, height=ys, width=0.62, brush=fill, pen=pg.mkPen(None))
        self._errors.setData(
            x=np.array(xs),
            y=np.array(ys),
            top=np.array([high - y for (_, high), y in zip(spans, ys, strict=True)]),
            bottom=np.array([y - low for (low, _), y in zip(spans, ys, strict=True)]),
            pen=self.pen("text2", 1.2),
        )
        known = [(x, p.overlap / p.known) for x, p in zip(xs, places, strict=True) if p.known]
        self._dots.setData(
            [x for x, _ in known], [y for _, y in known], brush=theme().color("accent"), pen=self.pen("surface", 1.2), symbol="d"
        )
        tested, kept = sum(p.tested for p in places), sum(p.kept for p in places)
        self._mean.setData([0.4, len(places) + 0.6], [kept / tested] * 2, pen=self.pen("muted", 1, Qt.PenStyle.DashLine))
        self._marks = (
            [Mark(x, 0.0, str(p.tested), "accepted_text", drop=-9) for x, p in zip(xs, places, strict=True)] if len(xs) <= 20 else []
        )
        key = [
            (translate("speculation", "kept (of so many tested)"), "accepted_edge", "box"),
            (translate("speculation", "all places {share}").format(share=f"{100 * kept / tested:.0f} %"), "muted", "dash"),
        ]
        if known:
            key.insert(1, (translate("speculation", "promised: \u03a3 min(p, q)"), "accent", "dot"))
        self.set_key(key)
        axis = self.getPlotItem().getAxis("bottom")
        axis.setTickSpacing(max(1, -(-len(places) // 12)), 1)
        self.getPlotItem().getAxis("left").setTicks([[(v / 4, f"{25 * v} %") for v in range(5)]])
        self.getPlotItem().getAxis("left").setWidth(58)
        self.setRange(xRange=(0.4, max(len(places), 4) + 0.6), yRange=(0, 1.09), padding=0)
        self.viewport().update()


# ---- alpha against sum min(p, q) --------------------------------------------------------------------------------


class OverlapPlot(Marked):
    """Guesses grouped by alpha = sum min(p, q): the share that was kept against what was promised. A faithful rule lies on the diagonal."""

    def __init__(self) -> None:
        super().__init__(translate("speculation", "Promised: \u03a3 min(p, q)"), translate("speculation", "Kept of tested"))
        self.setAccessibleName(translate("speculation", "Acceptance measured against promised"))
        self._bins: list[Bin] = []
        self._diagonal = pg.PlotCurveItem()
        self._errors = pg.ErrorBarItem(beam=0.0)
        self._dots = pg.ScatterPlotItem(size=9, pxMode=True)
        for item in (self._diagonal, self._errors, self._dots):
            self.addItem(item)

    def display(self, moment: Moment) -> str:
        run = moment.run
        self._bins = []
        if run.plain:
            return translate("speculation", "Nothing is drafted, so there's no acceptance to compare.")
        if run.spec is not None and run.spec.temperature == 0:
            return translate(
                "speculation",
                "At temperature 0 a guess is kept just when it's the target's first choice; \u03a3 min(p, q) speaks of sampling.",
            )
        rounds = run.lane.rounds[: moment.done]
        bins = calibration(rounds)
        if sum(b.tested for b in bins) < FEWEST:
            return translate("speculation", "After {n} tested guesses: how often they're kept, against \u03a3 min(p, q).").format(n=FEWEST)
        self._bins = bins
        self.redraw()
        return ""

    def redraw(self) -> None:
        if not hasattr(self, "_dots") or not self._bins:
            return
        xs = np.array([b.promised for b in self._bins])
        ys = np.array([b.kept / b.tested for b in self._bins])
        spans = [wilson(b.kept, b.tested) for b in self._bins]
        self._diagonal.setData([0, 1], [0, 1], pen=self.pen("muted", 1.2, Qt.PenStyle.DashLine))
        self._errors.setData(
            x=xs,
            y=ys,
            top=np.array([high for _, high in spans]) - ys,
            bottom=ys - np.array([low for low, _ in spans]),
            pen=self.pen("muted", 1.4),
        )
        self._dots.setData(xs, ys, brush=theme().color("accent"), pen=self.pen("surface", 1.2))
        tested = sum(b.tested for b in self._bins)
        kept, promised = sum(b.kept for b in self._bins) / tested, sum(b.promised * b.tested for b in self._bins) / tested
        self.set_key(
            [
                (translate("speculation", "kept {share}").format(share=f"{100 * kept:.1f} %"), "accent", "dot"),
                (translate("speculation", "promised {share}").format(share=f"{100 * promised:.1f} %"), "muted", "dash"),
            ]
        )
        self.getPlotItem().getAxis("left").setWidth(58)
        ticks = [[(v / 4, f"{25 * v} %") for v in range(5)]]
        self.getPlotItem().getAxis("left").setTicks(ticks)
        self.getPlotItem().getAxis("bottom").setTicks(ticks)
        self.setRange(xRange=(0, 1.04), yRange=(0, 1.09), padding=0)


# ---- S(gamma) ---------------------------------------------------------------------------------------------------


class GainPlot(Marked):
    """The speed-up that each draft length promises by this run's acceptance and the calls' measured costs; today's point, and the best."""

    def __init__(self) -> None:
        super().__init__(translate("speculation", "Draft length \u03b3"), translate("speculation", "Speed-up S(\u03b3)"))
        self.setAccessibleName(translate("speculation", "Speed-up by draft length"))
        self._gain: Gain | None = None
        self._even = pg.PlotCurveItem()
        self._curve = pg.PlotCurveItem(antialias=True)
        self._dots = pg.ScatterPlotItem(pxMode=True)
        for item in (self._even, self._curve, self._dots):
            self.addItem(item)

    def display(self, moment: Moment) -> str:
        run = moment.run
        self._gain = None
        if run.plain:
            return translate("speculation", "Nothing is drafted, so there's no length to choose.")
        self._gain = gain(run, run.main, moment.done, moment.figures.speedup)
        if self._gain is None:
            if moment.live or not run.lane.rounds:
                return translate("speculation", "The speed-up that each draft length promises, once calls were timed and guesses tested.")
            return translate("speculation", "No call of a single token was timed in this run. Run a race, and this curve can be drawn.")
        self.redraw()
        return ""

    def reading(self, x: float) -> str:
        """What a length promises."""
        gamma = round(x)
        if self._gain is None or not 0 <= gamma < len(self._gain.curve):
            return ""
        return translate("speculation", "\u03b3 = {gamma}: {times}{x}").format(gamma=gamma, times=TIMES, x=f"{self._gain.curve[gamma]:.2f}")

    def redraw(self) -> None:
        if not hasattr(self, "_dots") or self._gain is None:
            return
        found = self._gain
        curve = found.curve
        xs = list(range(len(curve)))
        self._curve.setData(xs, curve, pen=self.pen("accent", 2))
        self._even.setData([-0.5, len(curve)], [1, 1], pen=self.pen("muted", 1, Qt.PenStyle.DashLine))
        now_x, now_y = found.now
        self._dots.setData(
            [
                {"pos": (x, y), "size": 5, "brush": theme().color("accent"), "pen": pg.mkPen(None), "symbol": "o"}
                for x, y in zip(xs, curve, strict=True)
            ]
            + [
                {
                    "pos": (found.best, curve[found.best]),
                    "size": 15,
                    "brush": theme().color("bonus_fill"),
                    "pen": self.pen("bonus_edge", 1.6),
                    "symbol": "star",
                },
                {"pos": (now_x, now_y), "size": 11, "brush": theme().color("surface"), "pen": self.pen("text", 2), "symbol": "o"},
            ]
        )
        best = translate("speculation", "best: \u03b3 = {gamma}, {times}{x}").format(
            gamma=found.best, times=TIMES, x=f"{curve[found.best]:.2f}"
        )
        if found.best == 0:
            best = translate("speculation", "best: don't draft")
        said = translate("speculation", "measured") if found.measured else translate("speculation", "today")
        low, high = min(*curve, now_y, 1.0), max(*curve, now_y, 1.0)
        span = max(high - low, 0.2)
        near = abs(now_x - found.best) < len(curve) * 0.3 and abs(now_y - curve[found.best]) < span * 0.3
        after = now_x >= found.best or not near
        beside = ("right", -2.0, 9.0) if after else ("left", -2.0, -9.0)
        if not after and now_x < len(curve) * 0.3:  # there's no room at its left
            beside = ("middle", -17.0, 0.0)
        side, shift = ("middle", 0.0) if not near else ("left", -6.0) if after else ("right", 6.0)
        self._marks = [
            Mark(found.best, curve[found.best], best, "bonus_text", side, -15, shift),
            Mark(now_x, now_y, f"{said}  {TIMES}{now_y:.2f}", "text", *beside),
        ]
        self.set_key(
            [
                (
                    translate("speculation", "promised by the calls' costs")
                    if found.beforehand
                    else translate("speculation", "promised by this run's calls"),
                    "accent",
                    "line",
                ),
                (translate("speculation", "plain"), "muted", "dash"),
            ]
        )
        self.getPlotItem().getAxis("left").setWidth(52)
        self.getPlotItem().getAxis("bottom").setTickSpacing(2 if len(curve) > 10 else 1, 1)
        self.setRange(xRange=(-0.5, len(curve) - 0.4), yRange=(max(0.0, low - 0.18 * span), high + 0.28 * span), padding=0)
        self.viewport().update()


# ---- T(n) -------------------------------------------------------------------------------------------------------


class CostsPlot(Marked):
    """Milliseconds of one call by the number of tokens fed: the target's T(n), and the draft's."""

    def __init__(self) -> None:
        super().__init__(translate("speculation", "Tokens fed in one call"), translate("speculation", "Milliseconds"))
        self.setAccessibleName(translate("speculation", "Cost of a call"))
        self._costs: Costs | None = None
        self._lines = [pg.PlotCurveItem(antialias=True) for _ in range(2)]
        self._dots = [pg.ScatterPlotItem(size=7, pxMode=True) for _ in range(2)]
        self._free = pg.PlotCurveItem()
        for item in (self._free, *self._lines, *self._dots):
            self.addItem(item, ignoreBounds=True)

    def display(self, moment: Moment) -> str:
        self._costs, beforehand = costs_of(moment.run, moment.run.main)
        if self._costs is None:
            return translate("speculation", "What a call of the target costs by the tokens it's fed, once calls were timed.")
        words = (
            translate("speculation", "measured before the run") if beforehand else translate("speculation", "as met in this run; medians")
        )
        self.set_key([(words, "text2", "dot"), (translate("speculation", "if more tokens were free"), "muted", "dash")])
        self.redraw()
        return ""

    def reading(self, x: float) -> str:
        """What a call of so many tokens costs, where that was measured."""
        n = round(x)
        said = []
        if self._costs is not None and n in self._costs.target:
            words = translate("speculation", "target, {n} tokens: {ms} ms")
            said.append(words.format(n=n, ms=f"{1000 * self._costs.target[n]:.2f}"))
        if self._costs is not None and n in self._costs.draft:
            words = translate("speculation", "draft, {n} tokens: {ms} ms")
            said.append(words.format(n=n, ms=f"{1000 * self._costs.draft[n]:.2f}"))
        return "\n".join(said)

    def redraw(self) -> None:
        if not hasattr(self, "_free") or self._costs is None:
            return
        tables = (self._costs.target, self._costs.draft)
        ms = [sorted((n, 1000 * s) for n, s in table.items()) for table in tables]
        widest = max([n for table in ms for n, _ in table], default=1)
        highest = max([s for table in ms for _, s in table], default=1.0)
        for table, line, dots, color in zip(ms, self._lines, self._dots, ("accent", "muted"), strict=True):
            xs, ys = [n for n, _ in table], [s for _, s in table]
            line.setData(xs, ys, pen=self.pen(color, 2))
            dots.setData(xs, ys, brush=theme().color(color), pen=self.pen("surface", 1))
        one = self._costs.target.get(1)
        self._free.setVisible(one is not None)
        if one is not None:
            self._free.setData([1, widest], [1000 * one] * 2, pen=self.pen("muted", 1, Qt.PenStyle.DashLine))
        self._marks = []
        for table, words, color in zip(ms, (self._target_words(), self._draft_words()), ("accent", "text2"), strict=True):
            if len(table) == 1:
                self._marks.append(Mark(*table[0], words, color, "right", shift=8))
            elif table:
                self._marks.append(Mark(*table[-1], words, color, "left", -14, 8))
        self.getPlotItem().getAxis("bottom").setTickSpacing(4 if widest > 12 else 2 if widest > 6 else 1, 1)
        self.setRange(xRange=(0.4, widest + 0.6), yRange=(0, highest * 1.3), padding=0)
        self.viewport().update()

    def _target_words(self) -> str:
        table = self._costs.target
        name = translate("speculation", "target")
        one, many = table.get(1), table.get(max(table)) if table else None
        if one and many and max(table) > 1:
            return f"{name}  T({max(table)}) = {many / one:.2f} T(1)"
        return name

    def _draft_words(self) -> str:
        name = translate("speculation", "draft")
        one, draft = self._costs.target.get(1), self._costs.draft.get(1)
        return f"{name}  c = {draft / one:.2f}" if one and draft else name
