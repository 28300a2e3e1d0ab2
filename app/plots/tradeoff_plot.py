"""The drawing of the trade-off plot: points, front, intervals, labels, hover card, budget line, ghosts; pointer and keys.

Front, points, intervals, lineage and budget are pyqtgraph's items; labels, ghosts and the card are painted over them. Which
axes there are to choose and what's shown when there's nothing to plot is plots/tradeoff's; the maths is in geometry.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPolygonF,
)

from app import text
from app.library_model import Library, indistinguishable, running
from app.measures import half_width, measure, pace_name
from app.plots import geometry as g
from app.plots.chart import Chart
from app.plots.hover_card import draw_card
from app.theme import SEMIBOLD, kind_path, theme, ui_font
from core.events import Finished
from core.records import EstimateSpec, Measurement, Variant

FEW = 4  # so many points leave room for whole intervals


@dataclass
class Dot:
    """A variant on the plot. x, y in plot coordinates (y: up is better); low, high: the interval's ends there."""

    variant: Variant
    measured: Measurement
    x: float
    y: float
    low: float | None
    high: float | None
    comparable: bool
    front: bool = False


@dataclass
class Course:
    """A model that draws in several numbers of steps: (steps, x, y) of each, from many to few."""

    variant: Variant
    points: list[tuple[int, float, float]]


@dataclass
class Ghost:
    """A variant being made: x is an estimate where there is one, y its parent's, since its own isn't measured yet.

    from_x: the parent's x. Where nothing is estimated, the ghost stands aside of its parent, and the card says why.
    """

    job: str
    title: str
    x: float
    y: float
    estimated: bool
    from_x: float = 0.0


@dataclass
class Label:
    """A name beside a point, in widget coordinates."""

    words: str
    box: g.Box
    chosen: bool


class TradeoffPlot(Chart):
    """The drawing. Wheel zooms, dragging moves, a click selects, a double click decodes (or shows everything)."""

    decode_wanted = Signal(str)
    menu_wanted = Signal(str, object)

    def __init__(self, library: Library, board: Any):
        self._built = False
        super().__init__(movable=True)
        self.library, self.board = library, board
        self.x_kind, self.y_kind = "disk", "perplexity"
        self.dots: list[Dot] = []
        self.courses: list[Course] = []
        self.ghosts: list[Ghost] = []
        self.hovered: str = ""
        self.budget_axis = ""
        self.budget_at: float | None = None  # in plot coordinates of its axis
        self.budget_best: str = ""
        self._estimates: dict[str, dict[str, Any]] = {}
        self._asked: dict[str, str] = {}
        self._own_view = False  # whether a person zoomed or moved
        self._tag_held = False  # whether the budget's words are being dragged
        self._labels: list[Label] = []
        self.setObjectName("tradeoff_plot")
        self.setAccessibleName(self.tr("Trade-off plot"))
        self.setMinimumHeight(140)
        self._pulse = QTimer(self)
        self._pulse.setInterval(50)
        self._pulse.timeout.connect(self._beat)
        self._make_items()
        self._built = True
        library.selected.connect(self.arrange)
        self.set_axes("disk", "perplexity")

    def _make_items(self) -> None:
        self._stairs = pg.PlotCurveItem(antialias=True)
        self._lineage = pg.PlotCurveItem(antialias=True)
        # drawn as shapes at every painting: cached pictures of them would snap to whole pixels
        self._courses: dict[str, pg.PlotCurveItem] = {}  # by variant: quality against the number of steps
        self._rings, self._points = (pg.ScatterPlotItem(pxMode=True, antialias=True, useCache=False) for _ in range(2))
        self._intervals: dict[tuple[str, bool], pg.ErrorBarItem] = {}  # by kind, and whether on the front
        self._budget_line = pg.InfiniteLine(movable=True)
        self._budget_line.addMarker("o", size=8)  # widens what can be grasped; the grip is painted over it
        self._budget_line.sigDragged.connect(lambda line: self.move_budget(line.value()))
        self._budget_line.hide()
        for height, item in enumerate((self._stairs, self._lineage, self._rings, self._points, self._budget_line)):
            item.setZValue(10 * height)
            self.addItem(item, ignoreBounds=True)
        self.box.setLimits(minXRange=0.05, maxXRange=60)
        self.box.sigRangeChangedManually.connect(self._moved)
        self.scene().sigMouseClicked.connect(self._clicked)

    # -- data

    def set_axes(self, x_kind: str, y_kind: str) -> None:
        if (x_kind, y_kind) != (self.x_kind, self.y_kind):
            self._own_view = False
            self.budget_at = None
        self.x_kind, self.y_kind = x_kind, y_kind
        spec = measure(y_kind)
        self.x_title = {
            "disk": self.tr("Size on disk (MB, log scale)"),
            "parameters": self.tr("Parameters (millions, log scale)"),
            "memory": self.tr("Resident memory (MB, log scale)"),
            "speed": self.tr("Decode speed (tokens/s, log scale; right is better)"),
            "prefill": self.tr("Prefill speed (tokens/s, log scale; right is better)"),
            "draw": self.tr("Drawing speed (images/s, log scale; right is better)"),
        }[x_kind]
        unit = f"{spec.unit}, " if spec.unit else ""
        if spec.log:
            self.y_title = self.tr("{title} ({unit}log scale, up is better)").format(title=spec.title, unit=unit)
        else:
            self.y_title = f"{spec.title} ({spec.unit})" if spec.unit else spec.title
        self.y_short = spec.title
        self.x_ticks = g.log2_ticks
        self.y_ticks = self._ticks_up
        self.refresh()

    @property
    def less_x(self) -> bool:
        return self.x_kind not in ("speed", "prefill", "draw")

    def x_of(self, v: Variant) -> float | None:
        """Where a variant lies across, in log2 of MB, millions or tokens/s; None where that isn't known."""
        if self.x_kind == "disk":
            value: float | None = v.ledger.bytes_on_disk / 1e6
        elif self.x_kind == "parameters":
            value = v.ledger.nonzero / 1e6  # a pruned weight that's zero isn't counted, and nothing is said of its bytes
        elif self.x_kind == "memory":
            m = self.library.latest(v.id, "resident")
            resident = m.value if m else v.ledger.resident_bytes
            value = resident / 1e6 if resident else None
        else:
            m = self.library.latest(v.id, "decode" if self.x_kind == "speed" else self.x_kind)
            value = m.value if m else None
        return math.log2(value) if value and value > 0 else None

    def y_up(self, value: float) -> float | None:
        """A measure's value as a height: logarithmic where it is, turned over where less is better."""
        spec = measure(self.y_kind)
        value *= spec.scale
        if spec.log:
            if value <= 0 or not math.isfinite(value):
                return None
            value = math.log10(value)
        return -value if spec.less else value

    def y_value(self, up: float) -> float:
        """The measure's value (scaled for showing) at a height."""
        spec = measure(self.y_kind)
        value = -up if spec.less else up
        return 10.0**value if spec.log else value

    def _ticks_up(self, low: float, high: float, most: int) -> list[tuple[float, str]]:
        spec = measure(self.y_kind)
        maker = g.log10_ticks if spec.log else g.nice_ticks
        if not spec.less:
            return maker(low, high, most)
        return [(-at, words) for at, words in maker(-high, -low, most)]

    def refresh(self) -> None:
        """Reads the library again."""
        self.dots = []
        for variant, score in self.library.scores(self.y_kind).items():
            v = self.library.variant(variant)
            x, y = self.x_of(v), self.y_up(score.value)
            if x is None or y is None:
                continue
            interval = score.measurement.interval
            ends = sorted(e for e in (self.y_up(max(value, 1e-12)) for value in interval) if e is not None) if interval else []
            low, high = (ends[0], ends[-1]) if len(ends) == 2 else (None, None)
            self.dots.append(Dot(v, score.measurement, x, y, low, high, score.comparable))
        self.courses = self._read_courses()
        fair = [d for d in self.dots if d.comparable]
        for i in g.pareto([(d.x, d.y) for d in fair], less_x=self.less_x, less_y=False):
            fair[i].front = True
        self.refresh_ghosts()
        if not self._own_view:
            self._fit()
        self._find_best()
        self.arrange()

    def _read_courses(self) -> list[Course]:
        if self.x_kind != "draw" or self.y_kind not in ("frechet", "image_accuracy"):
            return []
        found = []
        for dot in self.dots:
            places = [
                (steps, math.log2(speed.value), up)
                for steps, likeness, speed in self.library.by_steps(dot.variant.id, self.y_kind)
                if speed.value > 0 and (up := self.y_up(likeness.value)) is not None
            ]
            if len(places) > 1:
                found.append(Course(dot.variant, places))
        return found

    def front(self) -> list[Dot]:
        """The front's points from the cheapest to the best."""
        out = [d for d in self.dots if d.front]
        return sorted(out, key=lambda d: d.x if self.less_x else -d.x)

    def _fit(self) -> None:
        if not self.dots:
            self.set_ranges((3.0, 8.0), (-1.5, -1.0) if measure(self.y_kind).less else (0.0, 100.0))
            return
        drawn = [place for course in self.courses for place in course.points]
        xs = [d.x for d in self.dots] + [s.x for s in self.ghosts] + [x for _, x, _ in drawn]
        low, high = g.padded(min(xs), max(xs), 0.1, least=1.5)
        across = (low - 0.06 * (high - low), high)  # room for labels up-left of the first point
        ys = [d.y for d in self.dots] + [y for _, _, y in drawn]
        spec = measure(self.y_kind)
        least = 0.06 if spec.log else {"%": 4.0}.get(spec.unit, 0.02)
        keep = ys if drawn else [d.y for d in self.dots if d.front] or ys  # a course is looked at to its end
        bottom, top = g.without_outliers(ys, keep, stretch=0.6)
        # the front's intervals belong to the picture, as long as they leave many points a quarter of the height
        reach = 1.5 * max(top - bottom, least) if len(self.dots) > FEW else math.inf  # few have the room for the whole
        ends = [(d.low, d.high) for d in self.dots if d.front and d.low is not None and d.high is not None]
        bottom_end = max(min([bottom, *(low for low, _ in ends)]), bottom - reach)
        top_end = min(max([top, *(high for _, high in ends)]), top + reach)
        share = 0.13 if top_end - bottom_end < 1.4 * (top - bottom) else 0.06
        self.set_ranges(across, g.padded(bottom_end, top_end, share, least=least))

    def reset_view(self) -> None:
        self._own_view = False
        self._fit()

    # -- ghosts

    def refresh_ghosts(self) -> None:
        """One for each job that is making a variant of one that's on the plot."""
        ghosts = []
        by_id = {d.variant.id: d for d in self.dots}
        for state in running(self.board, self.library):
            parent = by_id.get(getattr(state.job.spec, "variant", ""))
            if parent is None:
                continue
            estimate = self._estimates.get(state.job.id)
            if estimate is None and self.x_kind == "disk":
                self._ask(state.job)
            x, known = parent.x, False
            if self.x_kind == "disk" and estimate and estimate.get("bytes_on_disk"):
                x, known = math.log2(estimate["bytes_on_disk"] / 1e6), True
            ghosts.append(Ghost(state.job.id, state.job.title, x, parent.y, known, parent.x))
        if ghosts != self.ghosts:
            self.ghosts = ghosts
            if not self._own_view:
                self._fit()
            self.arrange()
        if bool(ghosts) != self._pulse.isActive():
            (self._pulse.start if ghosts else self._pulse.stop)()

    def _ask(self, job: Any) -> None:
        """The size that its last step would have, as an estimate; asked once a job."""
        if job.id in self._asked or not job.spec.steps:
            return
        spec = EstimateSpec(workspace=job.spec.workspace, variant=job.spec.variant, step=job.spec.steps[-1], device=job.device)
        self._asked[job.id] = "asked"

        def answer(event: Any, job_id: str = job.id) -> None:
            if isinstance(event, Finished):
                self._estimates[job_id] = event.result
                self.refresh_ghosts()

        self.board.ask(spec, answer)

    def _beat(self) -> None:
        if self.isVisible():
            for ghost in self.ghosts:
                at = self.ghost_position(ghost)
                self.viewport().update(QRectF(at.x() - 18, at.y() - 18, 36, 36).toRect())

    # -- budget

    def set_budget(self, axis: str) -> None:
        """axis: '' none, 'x' the most it may cost, 'y' the worst it may be."""
        self.budget_axis = axis
        self.top = 32 if axis == "x" else 10  # the line's words stand above the plot
        self.budget_at = None
        if axis and self.dots:
            low, high = self.x_range if axis == "x" else self.y_range
            self.budget_at = (low + high) / 2
        self._find_best()
        self.arrange()

    def move_budget(self, at: float) -> None:
        low, high = self.x_range if self.budget_axis == "x" else self.y_range
        self.budget_at = min(max(at, low), high)
        self._find_best()
        self._arrange_budget()

    def _find_best(self) -> None:
        fair = [d for d in self.dots if d.comparable]
        self.budget_best = ""
        if self.budget_axis and self.budget_at is None and fair:
            low, high = self.x_range if self.budget_axis == "x" else self.y_range
            self.budget_at = (low + high) / 2
        if self.budget_axis and self.budget_at is not None:
            points = [(d.x, d.y) for d in fair]
            found = g.best_under(points, self.budget_at, axis=0 if self.budget_axis == "x" else 1, less_x=self.less_x, less_y=False)
            self.budget_best = fair[found].variant.id if found is not None else ""

    def budget_words(self) -> str:
        """What the line says: the limit, and the best within it."""
        if not self.budget_axis or self.budget_at is None:
            return ""
        spec = measure(self.y_kind)
        if self.budget_axis == "x":
            value = 2.0**self.budget_at
            amount = {
                "disk": text.fmt_bytes(value * 1e6),
                "memory": text.fmt_bytes(value * 1e6),
                "parameters": text.fmt_count(value * 1e6),
                "draw": measure("draw").show(value),
            }.get(self.x_kind, f"{text.fmt_number(value, 3)} tok/s")
            sign = "≤" if self.less_x else "≥"
        else:
            amount = spec.show(self.y_value(self.budget_at) / spec.scale)
            sign = "≤" if spec.less else "≥"
        best = self.library.get(self.budget_best)
        return f"{sign} {amount}  ·  " + (self.tr("best: {name}").format(name=best.name) if best else self.tr("nothing fits"))

    # -- drawing

    def sizeHint(self) -> QSize:
        return QSize(640, 460)

    def position(self, dot: Dot) -> QPointF:
        """Where a point is drawn: one that falls under the plot is pinned to its lower edge."""
        at = self.to_screen(dot.x, dot.y)
        if self.pinned(dot):
            at.setY(self.area().bottom() - 11)
        return at

    def ghost_position(self, ghost: Ghost) -> QPointF:
        """Fanned out below the parent, so that several of one parent are told apart."""
        at = self.to_screen(ghost.x, ghost.y)
        siblings = [s.job for s in self.ghosts if (s.from_x, s.y) == (ghost.from_x, ghost.y)]
        nth = siblings.index(ghost.job) if ghost.job in siblings else 0
        return at + (QPointF(0, 22 * nth) if ghost.estimated else QPointF(-26, 22 + 24 * nth))

    def pinned(self, dot: Dot) -> bool:
        return dot.y < self.y_range[0]

    def _across(self, dot: Dot) -> bool:
        return self.x_range[0] <= dot.x <= self.x_range[1] and dot.y <= self.y_range[1]

    def arrange(self, _variant: str = "") -> None:
        super().arrange()
        if not self._built:
            return
        self.box.setMouseEnabled(bool(self.dots), bool(self.dots))
        stairs = self._arrange_front()
        self._arrange_courses()
        self._arrange_intervals()
        self._arrange_points()
        self._arrange_budget()
        self._place_labels(stairs)

    def _arrange_front(self) -> list[g.Point]:
        """The staircase, filled down to the lower edge; and the lineage of the selection."""
        t = theme()
        far_x = self.x_range[1] if self.less_x else self.x_range[0]
        stairs = g.staircase([(d.x, d.y) for d in self.front()], far_x, self.y_range[0])
        fill = t.color("accent")
        fill.setAlphaF(0.05 if not t.dark else 0.07)
        line = stairs[1:]
        self._stairs.setData([x for x, _ in line], [y for _, y in line], pen=self.pen("accent", 1.6), brush=fill, fillLevel=self.y_range[0])
        by_id = {d.variant.id: d for d in self.dots}
        lineage = self.library.lineage(self.library.selection) if self.library.selection else []
        chain = [self._shown_at(by_id[v.id]) for v in lineage if v.id in by_id]
        self._lineage.setData([x for x, _ in chain], [y for _, y in chain], pen=self.pen("text2", 1, Qt.PenStyle.DashLine))
        return stairs

    def _shown_at(self, dot: Dot) -> g.Point:
        """A point's place in plot coordinates, that of a pinned one at the lower edge."""
        return (dot.x, self.from_screen(self.position(dot))[1]) if self.pinned(dot) else (dot.x, dot.y)

    def _arrange_courses(self) -> None:
        """A line through what each model gives in each number of steps; the numbers are painted over it."""
        shown = {course.variant.id: course for course in self.courses}
        for gone in self._courses.keys() - shown.keys():
            self.removeItem(self._courses.pop(gone))
        for id, course in shown.items():
            if id not in self._courses:
                self._courses[id] = pg.PlotCurveItem(antialias=True)
                self._courses[id].setZValue(8)
                self.addItem(self._courses[id], ignoreBounds=True)
            color = theme().kind_color(course.variant.kind)
            color.setAlphaF(0.8)
            _, xs, ys = zip(*course.points, strict=True)
            self._courses[id].setData(list(xs), list(ys), pen=self.pen(color, 1.4))

    def _paint_courses(self, painter: QPainter) -> None:
        """A small dot and the number for each number of steps."""
        painter.save()
        painter.setFont(ui_font(11))
        metrics = QFontMetricsF(ui_font(11))
        area = self.area()
        own = {(d.variant.id, d.x, d.y) for d in self.dots}  # these have a point and a name of their own
        for course in self.courses:
            color = theme().kind_color(course.variant.kind)
            for steps, x, y in course.points:
                at = self.to_screen(x, y)
                if not area.adjusted(-1, -1, 1, 1).contains(at) or (course.variant.id, x, y) in own:
                    continue
                painter.setPen(QPen(theme().color("surface"), 1))
                painter.setBrush(color)
                painter.drawEllipse(at, 3.5, 3.5)
                words = str(steps)
                left = min(at.x() + 6, area.right() - metrics.horizontalAdvance(words))
                painter.setPen(theme().color("text2"))
                painter.drawText(QPointF(left, at.y() - 5), words)
        painter.restore()

    def _arrange_intervals(self) -> None:
        """Error bars, one item for each colour; those smaller than their point are left to the card."""
        x_pixel, y_pixel = self.box.viewPixelSize()
        groups: dict[tuple[str, bool], list[Dot]] = {key: [] for key in self._intervals}
        for d in self.dots:
            if d.low is not None and d.high is not None and not self.pinned(d) and d.high - d.low >= 3 * y_pixel:
                groups.setdefault((d.variant.kind, d.front), []).append(d)
        for (kind, front), dots in groups.items():
            if (kind, front) not in self._intervals:
                made = self._intervals[kind, front] = pg.ErrorBarItem()
                made.setZValue(15)
                self.addItem(made, ignoreBounds=True)
            color = theme().kind_color(kind)
            color.setAlphaF(0.75 if front else 0.5)
            xs, ys, lows, highs = (np.array([getattr(d, name) for d in dots]) for name in ("x", "y", "low", "high"))
            bars = self._intervals[kind, front]
            bars.setData(x=xs, y=ys, top=highs - ys, bottom=ys - lows, beam=7 * x_pixel, pen=self.pen(color, 1.2))
            bars.setVisible(bool(dots))

    def _arrange_points(self) -> None:
        t = theme()
        selection = self.library.selection
        spots = []
        self._rings.setData(spots=[])
        for dot in sorted(self.dots, key=lambda d: (d.variant.id == selection, d.front)):
            if not self._across(dot):
                continue
            at = self._shown_at(dot)
            if dot.variant.id == selection:
                self._rings.addPoints(pos=[at], size=23, symbol="o", pen=self.pen("accent", 1.8), brush=t.color("accent_soft"))
            color = t.kind_color(dot.variant.kind)
            size = (14 if dot.variant.kind != "original" else 15) if dot.front else 11
            spot = {"pos": at, "size": size, "symbol": kind_path(dot.variant.kind, QPointF(0, 0), 1), "data": dot.variant.id}
            if self.pinned(dot):
                spot |= {"size": 1, "symbol": _arrow(), "pen": pg.mkPen(None), "brush": color}
            elif not dot.comparable:
                spot |= {"pen": self.pen(color, 1.4, Qt.PenStyle.DotLine), "brush": t.color("surface")}
            elif dot.front:
                spot |= {"pen": self.pen("surface", 1.2), "brush": color}
            else:
                spot |= {"pen": self.pen(color, 1.2), "brush": _mixed(color, t.color("surface"), 0.38)}
            spots.append(spot)
        self._points.setData(spots=spots)

    def _place_labels(self, stairs: list[g.Point]) -> None:
        """Names for the front, the selection and what's pinned, where they cross nothing."""
        area = self.area()
        selection = self.library.selection
        seen = [d for d in self.dots if self._across(d)]
        wanted = [d for d in self.front() if d in seen]
        wanted += [d for d in seen if not d.front and (d.variant.id == selection or self.pinned(d))]
        # the best of the front keep their labels when there's no room for all
        wanted.sort(key=lambda d: (d.variant.id != selection, d.variant.kind != "original", -d.y))
        plain, bold = QFontMetricsF(ui_font(12)), QFontMetricsF(ui_font(12, SEMIBOLD))
        words, sizes = [], []
        for d in wanted:
            name = d.variant.name if not self.pinned(d) else f"{d.variant.name}  {measure(self.y_kind).show(d.measured.value)}"
            metrics = bold if d.variant.id == selection else plain
            words.append(metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, min(240, area.width() * 0.42)))
            sizes.append((metrics.horizontalAdvance(words[-1]) + 2, 15.0))
        places = {d.variant.id: self.position(d) for d in seen}
        around = lambda p, reach: (p.x() - reach, p.y() - reach, 2.0 * reach, 2.0 * reach)
        boxes = [around(p, 7) for p in places.values()]
        if selection in places:
            boxes.append(around(places[selection], 12))
        boxes += [around(self.ghost_position(s), 12) for s in self.ghosts]
        corners = [self.to_screen(x, y) for x, y in stairs]
        lines = [((a.x(), a.y()), (b.x(), b.y())) for a, b in pairwise(corners)]
        for d in seen:
            if d.low is not None and d.high is not None and not self.pinned(d):
                top, bottom = self.to_screen(d.x, d.high), self.to_screen(d.x, d.low)
                boxes.append((top.x() - 4, top.y() - 1, 8.0, bottom.y() - top.y() + 2))
        placed = g.place_labels(
            [(p.x(), p.y()) for p in (places[d.variant.id] for d in wanted)],
            sizes,
            (area.left() + 3, area.top(), area.width() - 4, area.height() - 2),
            gap=9,
            avoid_boxes=boxes,
            avoid_lines=lines,
            must=[i for i, d in enumerate(wanted) if d.variant.id == selection],
            mirrored=not self.less_x,
        )
        self._labels = [Label(w, b, d.variant.id == selection) for d, w, b in zip(wanted, words, placed, strict=True) if b]

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """What's painted by hand over the items: labels, ghosts, the budget's words, the focus, the card."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_courses(painter)
        for name in self._labels:
            painter.setFont(ui_font(12, SEMIBOLD) if name.chosen else ui_font(12))
            painter.setPen(theme().color("text" if name.chosen else "text2"))
            painter.drawText(QRectF(*name.box), int(Qt.AlignmentFlag.AlignCenter), name.words)
        self._paint_budget(painter)
        for ghost in self.ghosts:
            self._paint_ghost(painter, ghost)
        if self.hasFocus() and not self.library.selection:
            painter.setPen(QPen(theme().color("accent"), 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.area())
        self._paint_card(painter)
        painter.restore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def _paint_ghost(self, painter: QPainter, ghost: Ghost) -> None:
        at = self.ghost_position(ghost)
        faint = theme().color("accent")
        faint.setAlphaF(0.5)
        painter.setPen(QPen(faint, 1, Qt.PenStyle.DotLine))
        painter.drawLine(self.to_screen(ghost.from_x, ghost.y), at)
        phase = (time.monotonic() % 1.6) / 1.6
        color = theme().color("accent")
        color.setAlphaF(0.9 - 0.5 * abs(2 * phase - 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color, 1.6, Qt.PenStyle.DashLine))
        painter.drawEllipse(at, 6.5, 6.5)
        halo = theme().color("accent")
        halo.setAlphaF(0.35 * (1 - phase))
        painter.setPen(QPen(halo, 1.4))
        painter.drawEllipse(at, 7 + 8 * phase, 7 + 8 * phase)

    def _arrange_budget(self) -> None:
        shown = bool(self.budget_axis) and self.budget_at is not None
        self._budget_line.setVisible(shown)
        if shown:
            pen = self.pen("ok", 1.5, Qt.PenStyle.DashDotLine)
            self._budget_line.setPen(pen)
            self._budget_line.setHoverPen(pen)
            self._budget_line.setAngle(90 if self.budget_axis == "x" else 0)
            self._budget_line.setValue(self.budget_at)
        self.viewport().update()

    def _budget_tag(self) -> QRectF:
        """Where the budget's words stand: over the plot, or at the right end of the line."""
        area = self.area()
        wide = min(QFontMetricsF(ui_font(12, SEMIBOLD)).horizontalAdvance(self.budget_words()) + 18, area.width())
        if self.budget_axis == "x":
            x = self.to_screen(self.budget_at, 0).x()
            return QRectF(min(max(x - wide / 2, area.left()), area.right() - wide), area.top() - 26, wide, 22)
        y = self.to_screen(0, self.budget_at).y()
        return QRectF(area.right() - wide, min(max(y - 26, area.top()), area.bottom() - 22), wide, 22)

    def _paint_budget(self, painter: QPainter) -> None:
        """Of the budget, all that isn't the line: its grip, its words, a ring about the best within it."""
        if not self.budget_axis or self.budget_at is None:
            return
        t = theme()
        area = self.area()
        best = next((d for d in self.dots if d.variant.id == self.budget_best), None)
        if best is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(t.color("ok"), 2))
            painter.drawEllipse(self.position(best), 14, 14)
        if self.budget_axis == "x":
            grip = QRectF(self.to_screen(self.budget_at, 0).x() - 4, area.center().y() - 12, 8, 24)
        else:
            grip = QRectF(area.center().x() - 12, self.to_screen(0, self.budget_at).y() - 4, 24, 8)
        painter.setPen(QPen(t.color("ok"), 1))
        painter.setBrush(t.color("surface"))
        if area.contains(grip.center()):
            painter.drawRoundedRect(grip, 4, 4)
        tag = self._budget_tag()
        painter.drawRoundedRect(tag, 6, 6)
        font = ui_font(12, SEMIBOLD)
        painter.setFont(font)
        painter.setPen(t.color("ok"))
        words = QFontMetricsF(font).elidedText(self.budget_words(), Qt.TextElideMode.ElideRight, tag.width() - 12)
        painter.drawText(tag, int(Qt.AlignmentFlag.AlignCenter), words)

    # -- the card

    def card_rows(self, dot: Dot) -> list[tuple[str, str, str]]:
        """(what, figure, change against the parent) for the hover card."""
        v, lib = dot.variant, self.library
        parent = lib.get(v.parent) if v.parent else None
        before = parent.ledger.bytes_on_disk if parent else 0
        size = v.ledger.bytes_on_disk
        rows = [(self.tr("Size"), text.fmt_bytes(size), text.fmt_change(size / before) if before else "")]
        spec = measure(self.y_kind)
        scores = lib.scores(self.y_kind)
        theirs = scores.get(parent.id) if parent else None
        change = spec.show_change(dot.measured.value, theirs.value) if theirs and theirs.comparable and dot.comparable else ""
        figure = f"{spec.show(dot.measured.value)} {half_width(dot.measured)}".strip()
        rows.append((spec.title, figure, change))
        pace = lib.speed_kind(v)
        called = pace_name(pace)
        speed, speed_before = lib.latest(v.id, pace), lib.latest(parent.id, pace) if parent else None
        if speed:
            faster = f"{text.TIMES}{speed.value / speed_before.value:.2f}" if speed_before and speed_before.value else ""
            rows.append((called, measure(pace).show(speed.value), faster))
        else:
            rows.append((called, text.unknown(), ""))
        return rows

    def twins(self, dot: Dot) -> list[str]:
        """Names of the comparable variants whose intervals overlap this one's."""
        if not dot.comparable:
            return []
        near = [d for d in self.dots if d is not dot and d.comparable and indistinguishable(d.measured, dot.measured)]
        return [d.variant.name for d in sorted(near, key=lambda d: abs(d.y - dot.y))]

    def _paint_card(self, painter: QPainter) -> None:
        room = QRectF(self.rect())
        dot = next((d for d in self.dots if d.variant.id == self.hovered), None)
        if dot is not None:
            notes = []
            twins = self.twins(dot)
            if twins:
                more = self.tr(" and {n} more").format(n=len(twins) - 2) if len(twins) > 2 else ""
                notes.append(self.tr("Indistinguishable from {names}{more}").format(names=", ".join(twins[:2]), more=more))
            if not dot.comparable:
                notes.append(self.tr("Measured under other conditions"))
            kind = f"{text.kind_name(dot.variant.kind)} · {dot.variant.method}"
            draw_card(painter, room, self.area(), self.position(dot), dot.variant.name, kind, self.card_rows(dot), notes)
            return
        ghost = next((s for s in self.ghosts if s.job == self.hovered), None)
        if ghost is not None:
            size = text.fmt_bytes(2.0**ghost.x * 1e6) if ghost.estimated else text.unknown()
            rows = [(self.tr("Size, estimated"), size, ""), (measure(self.y_kind).title, text.unknown(), "")]
            draw_card(painter, room, self.area(), self.ghost_position(ghost), ghost.title, self.tr("Being made"), rows, [])

    # -- the pointer and the keys

    def at(self, where: QPointF) -> str:
        """The variant's id or ghost's job under a position, or ''."""
        seen = [d for d in self.dots if self._across(d)]
        points = [self.position(d) for d in seen] + [self.ghost_position(s) for s in self.ghosts]
        found = g.nearest([(p.x(), p.y()) for p in points], (where.x(), where.y()), 14)
        if found is None:
            return ""
        return seen[found].variant.id if found < len(seen) else self.ghosts[found - len(seen)].job

    def _on_budget(self, where: QPointF) -> bool:
        if not self.budget_axis or self.budget_at is None:
            return False
        line = self.to_screen(self.budget_at, self.budget_at)
        near = abs(line.x() - where.x()) if self.budget_axis == "x" else abs(line.y() - where.y())
        return (near < 7 and self.area().contains(where)) or self._budget_tag().contains(where)

    def _moved(self, *_: Any) -> None:
        self._own_view = True

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        where = event.position()
        if self._tag_held:
            x, y = self.from_screen(where)
            self.move_budget(x if self.budget_axis == "x" else y)
            return
        super().mouseMoveEvent(event)
        if event.buttons():
            return  # the view box moves the plot, or the line itself
        under = self.at(where)
        on_budget = not under and self._on_budget(where)
        across = Qt.CursorShape.SplitHCursor if self.budget_axis == "x" else Qt.CursorShape.SplitVCursor
        shape = Qt.CursorShape.PointingHandCursor if under else across if on_budget else Qt.CursorShape.ArrowCursor
        self.viewport().setCursor(shape)
        self._hover(under)

    def _hover(self, under: str) -> None:
        if under != self.hovered:
            self.hovered = under
            self.viewport().update()

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self._hover("")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            under = self.at(event.position())
            if under and self.library.get(under):
                self.library.select(under)
                return
            if not under and self.budget_axis and self.budget_at is not None and self._budget_tag().contains(event.position()):
                self._tag_held = True
                return
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._tag_held = False
        super().mouseReleaseEvent(event)

    def _clicked(self, event: Any) -> None:
        """A click, which is a press that wasn't drawn out into a drag, on nothing: nothing is selected."""
        where = event.scenePos()
        if event.button() == Qt.MouseButton.LeftButton and self.area().contains(where) and not self._on_budget(where):
            self.library.select("")

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        under = self.at(event.position())
        if under and self.library.get(under):
            self.decode_wanted.emit(under)
        elif not under:
            self.reset_view()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        under = self.at(QPointF(event.pos()))
        if under and self.library.get(under):
            self.library.select(under)
            self.menu_wanted.emit(under, event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk through the points, Return decodes, Home shows everything; with a budget, comma and period move it."""
        key = event.key()
        order = sorted((d for d in self.dots if self._across(d)), key=lambda d: (d.x, d.y))
        ids = [d.variant.id for d in order]
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and ids:
            step = 1 if key == Qt.Key.Key_Right else -1
            at = ids.index(self.library.selection) + step if self.library.selection in ids else (0 if step > 0 else len(ids) - 1)
            self.library.select(ids[at % len(ids)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.library.selection:
            self.decode_wanted.emit(self.library.selection)
        elif key == Qt.Key.Key_Home:
            self.reset_view()
        elif key == Qt.Key.Key_Escape:
            self.library.select("")
        elif key in (Qt.Key.Key_Comma, Qt.Key.Key_Period) and self.budget_at is not None:
            low, high = self.x_range if self.budget_axis == "x" else self.y_range
            self.move_budget(self.budget_at + (high - low) / 60 * (1 if key == Qt.Key.Key_Period else -1))
        else:
            event.ignore()

    def describe(self) -> str:
        """The plot in words, for tests and screen readers."""
        return "; ".join(f"{d.variant.name}: {measure(self.y_kind).show(d.measured.value)}" for d in self.front())


def _mixed(a: QColor, b: QColor, share: float) -> QColor:
    """share of a, the rest of b, opaque."""
    mix = lambda x, y: round(x * share + y * (1 - share))
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()))


def _arrow() -> QPainterPath:
    """Points down: there's more below."""
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(-4.5, -3), QPointF(4.5, -3), QPointF(0, 4)]))
    path.closeSubpath()
    return path
