"""The drawing of the trade-off plot: points, front, intervals, labels, hover card, budget line, ghosts; pointer and keys.

Covers painting and what's under the pointer. Which axes there are to choose and what's shown when there's nothing to plot
is plots/tradeoff's; the maths is in geometry.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)

from app import text
from app.library_model import Library, indistinguishable, running
from app.measures import half_width, measure
from app.plots import geometry as g
from app.plots.chart import Chart
from app.theme import SEMIBOLD, kind_path, numbers, theme, ui_font
from core.events import Finished
from core.records import EstimateSpec, Measurement, Variant


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


class TradeoffPlot(Chart):
    """The drawing. Wheel zooms, dragging moves, a click selects, a double click decodes (or shows everything)."""

    decode_wanted = Signal(str)
    menu_wanted = Signal(str, object)

    def __init__(self, library: Library, board: Any):
        super().__init__()
        self.library, self.board = library, board
        self.x_kind, self.y_kind = "disk", "perplexity"
        self.dots: list[Dot] = []
        self.ghosts: list[Ghost] = []
        self.hovered: str = ""
        self.budget_axis = ""
        self.budget_at: float | None = None  # in plot coordinates of its axis
        self.budget_best: str = ""
        self._estimates: dict[str, dict[str, Any]] = {}
        self._asked: dict[str, str] = {}
        self._own_view = False  # whether a person zoomed or moved
        self._press: QPointF | None = None
        self._dragging = ""  # '', 'view' or 'budget'
        self._static: QPixmap | None = None
        self._label_boxes: list[g.Box] = []
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setObjectName("tradeoff_plot")
        self.setAccessibleName(self.tr("Trade-off plot"))
        self.setMinimumHeight(140)
        self._pulse = QTimer(self)
        self._pulse.setInterval(50)
        self._pulse.timeout.connect(self._beat)
        library.selected.connect(self._repaint)
        self.set_axes("disk", "perplexity")

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
        return self.x_kind != "speed"

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
            m = self.library.latest(v.id, "decode")
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
        fair = [d for d in self.dots if d.comparable]
        for i in g.pareto([(d.x, d.y) for d in fair], less_x=self.less_x, less_y=False):
            fair[i].front = True
        self.refresh_ghosts()
        if not self._own_view:
            self._fit()
        self._find_best()
        self._repaint()

    def front(self) -> list[Dot]:
        """The front's points from the cheapest to the best."""
        out = [d for d in self.dots if d.front]
        return sorted(out, key=lambda d: d.x if self.less_x else -d.x)

    def _fit(self) -> None:
        if not self.dots:
            self.x_range, self.y_range = (3.0, 8.0), (-1.5, -1.0) if measure(self.y_kind).less else (0.0, 100.0)
            if self.ghosts:
                self.x_range = g.padded(min(s.x for s in self.ghosts), max(s.x for s in self.ghosts), least=3.0)
            return
        xs = [d.x for d in self.dots] + [s.x for s in self.ghosts]
        low, high = g.padded(min(xs), max(xs), 0.1, least=1.5)
        self.x_range = (low - 0.06 * (high - low), high)  # room for labels up-left of the first point
        ys = [d.y for d in self.dots]
        spec = measure(self.y_kind)
        least = 0.06 if spec.log else {"%": 4.0}.get(spec.unit, 0.02)
        bottom, top = g.without_outliers(ys, [d.y for d in self.dots if d.front] or ys, stretch=0.6)
        # the front's intervals belong to the picture, as long as they leave the points a quarter of the height
        reach = 1.5 * max(top - bottom, least)
        ends = [(d.low, d.high) for d in self.dots if d.front and d.low is not None and d.high is not None]
        bottom_end = max(min([bottom, *(low for low, _ in ends)]), bottom - reach)
        top_end = min(max([top, *(high for _, high in ends)]), top + reach)
        self.y_range = g.padded(bottom_end, top_end, 0.13 if top_end - bottom_end < 1.4 * (top - bottom) else 0.06, least=least)

    def reset_view(self) -> None:
        self._own_view = False
        self._fit()
        self._repaint()

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
            self._repaint()
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
            area = self.area()
            for ghost in self.ghosts:
                at = self.ghost_position(ghost, area)
                self.update(QRectF(at.x() - 18, at.y() - 18, 36, 36).toRect())

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
        self._repaint()

    def move_budget(self, at: float) -> None:
        low, high = self.x_range if self.budget_axis == "x" else self.y_range
        self.budget_at = min(max(at, low), high)
        self._find_best()
        self.update()

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
                "speed": f"{text.fmt_number(value, 3)} tok/s",
            }[self.x_kind]
            sign = "≤" if self.less_x else "≥"
        else:
            amount = spec.show(self.y_value(self.budget_at) / spec.scale)
            sign = "≤" if spec.less else "≥"
        best = self.library.get(self.budget_best)
        return f"{sign} {amount}  ·  " + (self.tr("best: {name}").format(name=best.name) if best else self.tr("nothing fits"))

    # -- drawing

    def restyled(self) -> None:
        self._repaint()

    def _repaint(self, _variant: str = "") -> None:
        self._static = None
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._static = None

    def sizeHint(self) -> QSize:
        return QSize(640, 460)

    def position(self, dot: Dot, area: QRectF) -> QPointF:
        """Where a point is drawn: one that falls under the plot is pinned to its lower edge."""
        at = self.to_screen(dot.x, dot.y, area)
        if self.pinned(dot):
            at.setY(area.bottom() - 11)
        return at

    def ghost_position(self, ghost: Ghost, area: QRectF) -> QPointF:
        """Fanned out below the parent, so that several of one parent are told apart."""
        at = self.to_screen(ghost.x, ghost.y, area)
        siblings = [s.job for s in self.ghosts if (s.from_x, s.y) == (ghost.from_x, ghost.y)]
        nth = siblings.index(ghost.job) if ghost.job in siblings else 0
        return at + (QPointF(0, 22 * nth) if ghost.estimated else QPointF(-26, 22 + 24 * nth))

    def pinned(self, dot: Dot) -> bool:
        return dot.y < self.y_range[0]

    def paintEvent(self, event: QPaintEvent) -> None:
        area = self.area()
        ratio = self.devicePixelRatioF()
        if self._static is None or self._static.devicePixelRatio() != ratio:
            self._static = QPixmap(QSize(round(self.width() * ratio), round(self.height() * ratio)))
            self._static.setDevicePixelRatio(ratio)
            self._static.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._static)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_static(painter, area)
            painter.end()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPixmap(0, 0, self._static)
        self._paint_budget(painter, area)
        for ghost in self.ghosts:
            self._paint_ghost(painter, ghost, area)
        if self.hasFocus() and not self.library.selection:
            painter.setPen(QPen(theme().color("accent"), 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(area)
        self._paint_card(painter, area)
        painter.end()

    def _paint_static(self, painter: QPainter, area: QRectF) -> None:
        t = theme()
        self.paint_frame(painter, area)
        front = self.front()
        far_x = self.x_range[1] if self.less_x else self.x_range[0]
        stairs = g.staircase([(d.x, d.y) for d in front], far_x, self.y_range[0])
        path = [self.to_screen(x, y, area) for x, y in stairs]
        painter.setClipRect(area.adjusted(0, 0, 1, 1))
        if path:
            fill = t.color("accent")
            fill.setAlphaF(0.05 if not t.dark else 0.07)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawPolygon(QPolygonF([*path, QPointF(path[-1].x(), area.bottom()), QPointF(path[0].x(), area.bottom())]))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(t.color("accent"), 1.6))
            painter.drawPolyline(QPolygonF(path[1:]))
        self._paint_lineage(painter, area)
        for dot in self.dots:
            self._paint_interval(painter, dot, area)
        order = sorted(self.dots, key=lambda d: (d.variant.id == self.library.selection, d.front))
        for dot in order:
            if self._across(dot):
                self._paint_dot(painter, dot, area)
        painter.setClipping(False)
        self._paint_labels(painter, area, front, path)

    def _across(self, dot: Dot) -> bool:
        return self.x_range[0] <= dot.x <= self.x_range[1] and dot.y <= self.y_range[1]

    def _paint_lineage(self, painter: QPainter, area: QRectF) -> None:
        if not self.library.selection:
            return
        by_id = {d.variant.id: d for d in self.dots}
        chain = [by_id[v.id] for v in self.library.lineage(self.library.selection) if v.id in by_id]
        if len(chain) > 1:
            painter.setPen(QPen(theme().color("text2"), 1, Qt.PenStyle.DashLine))
            painter.drawPolyline(QPolygonF([self.position(d, area) for d in chain]))

    def _paint_interval(self, painter: QPainter, dot: Dot, area: QRectF) -> None:
        if dot.low is None or dot.high is None or self.pinned(dot):
            return
        top, bottom = self.to_screen(dot.x, dot.high, area), self.to_screen(dot.x, dot.low, area)
        if bottom.y() - top.y() < 3:  # smaller than the point: the card says it
            return
        color = theme().kind_color(dot.variant.kind)
        color.setAlphaF(0.75 if dot.front else 0.5)
        painter.setPen(QPen(color, 1.2))
        painter.drawLine(top, bottom)
        for end in (top, bottom):
            painter.drawLine(QPointF(end.x() - 3.5, end.y()), QPointF(end.x() + 3.5, end.y()))

    def _paint_dot(self, painter: QPainter, dot: Dot, area: QRectF) -> None:
        t = theme()
        at = self.position(dot, area)
        color = t.kind_color(dot.variant.kind)
        if dot.variant.id == self.library.selection:
            painter.setPen(QPen(t.color("accent"), 1.8))
            painter.setBrush(t.color("accent_soft"))
            painter.drawEllipse(at, 11.5, 11.5)
        if self.pinned(dot):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawPolygon(QPolygonF([at + QPointF(-4.5, -3), at + QPointF(4.5, -3), at + QPointF(0, 4)]))
            return
        size = (14 if dot.variant.kind != "original" else 15) if dot.front else 11
        shape = kind_path(dot.variant.kind, at, size)
        if not dot.comparable:
            painter.setPen(QPen(color, 1.4, Qt.PenStyle.DotLine))
            painter.setBrush(t.color("surface"))
        elif dot.front:
            painter.setPen(QPen(t.color("surface"), 1.2))
            painter.setBrush(color)
        else:
            painter.setPen(QPen(color, 1.2))
            painter.setBrush(_mixed(color, t.color("surface"), 0.38))
        painter.drawPath(shape)

    def _paint_labels(self, painter: QPainter, area: QRectF, front: list[Dot], stairs: list[QPointF]) -> None:
        t = theme()
        selection = self.library.selection
        seen = [d for d in self.dots if self._across(d)]
        wanted = [d for d in front if d in seen]
        wanted += [d for d in seen if not d.front and (d.variant.id == selection or self.pinned(d))]
        # the best of the front keep their labels when there's no room for all
        wanted.sort(key=lambda d: (d.variant.id != selection, d.variant.kind != "original", -d.y))
        plain, bold = QFontMetricsF(ui_font(12)), QFontMetricsF(ui_font(12, SEMIBOLD))
        words = []
        for d in wanted:
            name = d.variant.name if not self.pinned(d) else f"{d.variant.name}  {measure(self.y_kind).show(d.measured.value)}"
            metrics = bold if d.variant.id == selection else plain
            words.append(metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, min(240, area.width() * 0.42)))
        sizes = [
            ((bold if d.variant.id == selection else plain).horizontalAdvance(w) + 2, 15.0) for d, w in zip(wanted, words, strict=True)
        ]
        positions = [self.position(d, area) for d in seen]
        boxes = [(p.x() - 7, p.y() - 7, 14.0, 14.0) for p in positions]
        if selection:
            boxes += [(p.x() - 12, p.y() - 12, 24.0, 24.0) for p, d in zip(positions, seen, strict=True) if d.variant.id == selection]
        boxes += [(p.x() - 12, p.y() - 12, 24.0, 24.0) for p in (self.ghost_position(s, area) for s in self.ghosts)]
        lines = [((a.x(), a.y()), (b.x(), b.y())) for a, b in pairwise(stairs)]
        for d in seen:
            if d.low is not None and d.high is not None and not self.pinned(d):
                top, bottom = self.to_screen(d.x, d.high, area), self.to_screen(d.x, d.low, area)
                boxes.append((top.x() - 4, top.y() - 1, 8.0, bottom.y() - top.y() + 2))
        placed = g.place_labels(
            [(p.x(), p.y()) for p in (self.position(d, area) for d in wanted)],
            sizes,
            (area.left() + 3, area.top(), area.width() - 4, area.height() - 2),
            gap=9,
            avoid_boxes=boxes,
            avoid_lines=lines,
            must=[i for i, d in enumerate(wanted) if d.variant.id == selection],
            mirrored=not self.less_x,
        )
        self._label_boxes = [b for b in placed if b]
        for d, name, box in zip(wanted, words, placed, strict=True):
            if box is None:
                continue
            chosen = d.variant.id == selection
            painter.setFont(ui_font(12, SEMIBOLD) if chosen else ui_font(12))
            painter.setPen(t.color("text" if chosen else "text2"))
            painter.drawText(QRectF(*box), int(Qt.AlignmentFlag.AlignCenter), name)

    def _paint_ghost(self, painter: QPainter, ghost: Ghost, area: QRectF) -> None:
        at = self.ghost_position(ghost, area)
        faint = theme().color("accent")
        faint.setAlphaF(0.5)
        painter.setPen(QPen(faint, 1, Qt.PenStyle.DotLine))
        painter.drawLine(self.to_screen(ghost.from_x, ghost.y, area), at)
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

    def _paint_budget(self, painter: QPainter, area: QRectF) -> None:
        if not self.budget_axis or self.budget_at is None:
            return
        t = theme()
        painter.setPen(QPen(t.color("ok"), 1.5, Qt.PenStyle.DashDotLine))
        words = self.budget_words()
        metrics = QFontMetricsF(ui_font(12, SEMIBOLD))
        wide = min(metrics.horizontalAdvance(words) + 18, area.width())
        if self.budget_axis == "x":
            x = self.to_screen(self.budget_at, 0, area).x()
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            left = min(max(x - wide / 2, area.left()), area.right() - wide)
            tag = QRectF(left, area.top() - 26, wide, 22)
            grip = QRectF(x - 4, area.center().y() - 12, 8, 24)
        else:
            y = self.to_screen(0, self.budget_at, area).y()
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            tag = QRectF(area.right() - wide, min(max(y - 26, area.top()), area.bottom() - 22), wide, 22)
            grip = QRectF(area.center().x() - 12, y - 4, 24, 8)
        best = next((d for d in self.dots if d.variant.id == self.budget_best), None)
        if best is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(t.color("ok"), 2))
            painter.drawEllipse(self.position(best, area), 14, 14)
        painter.setPen(QPen(t.color("ok"), 1))
        painter.setBrush(t.color("surface"))
        painter.drawRoundedRect(grip, 4, 4)
        painter.drawRoundedRect(tag, 6, 6)
        painter.setPen(t.color("ok"))
        painter.setFont(ui_font(12, SEMIBOLD))
        painter.drawText(tag, int(Qt.AlignmentFlag.AlignCenter), metrics.elidedText(words, Qt.TextElideMode.ElideRight, wide - 12))

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
        speed, speed_before = lib.latest(v.id, "decode"), lib.latest(parent.id, "decode") if parent else None
        if speed:
            faster = f"{text.TIMES}{speed.value / speed_before.value:.2f}" if speed_before and speed_before.value else ""
            rows.append((self.tr("Decode"), measure("decode").show(speed.value), faster))
        else:
            rows.append((self.tr("Decode"), text.unknown(), ""))
        return rows

    def twins(self, dot: Dot) -> list[str]:
        """Names of the comparable variants whose intervals overlap this one's."""
        if not dot.comparable:
            return []
        near = [d for d in self.dots if d is not dot and d.comparable and indistinguishable(d.measured, dot.measured)]
        return [d.variant.name for d in sorted(near, key=lambda d: abs(d.y - dot.y))]

    def _paint_card(self, painter: QPainter, area: QRectF) -> None:
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
            self._draw_card(painter, area, self.position(dot, area), dot.variant.name, kind, self.card_rows(dot), notes)
            return
        ghost = next((s for s in self.ghosts if s.job == self.hovered), None)
        if ghost is not None:
            size = text.fmt_bytes(2.0**ghost.x * 1e6) if ghost.estimated else text.unknown()
            rows = [(self.tr("Size, estimated"), size, ""), (measure(self.y_kind).title, text.unknown(), "")]
            self._draw_card(painter, area, self.ghost_position(ghost, area), ghost.title, self.tr("Being made"), rows, [])

    def _draw_card(
        self,
        painter: QPainter,
        area: QRectF,
        at: QPointF,
        title: str,
        kind: str,
        rows: list[tuple[str, str, str]],
        notes: list[str],
    ) -> None:
        t = theme()
        big, small, figures, fine = ui_font(13, SEMIBOLD), ui_font(12), numbers(13, 500), numbers(12)
        mb, ms, mf, mn = (QFontMetricsF(f) for f in (big, small, figures, fine))
        first = max(ms.horizontalAdvance(r[0]) for r in rows)
        second = max(mf.horizontalAdvance(r[1]) for r in rows)
        third = max(mn.horizontalAdvance(r[2]) for r in rows)
        most = min(self.width() - 16.0, 340.0)
        wide = min(most, max(first + second + third + 34, mb.horizontalAdvance(title), ms.horizontalAdvance(kind), 150) + 26)
        bounds = [ms.boundingRect(QRectF(0, 0, wide - 24, 200), int(Qt.TextFlag.TextWordWrap), n) for n in notes]
        high = 50 + 19 * len(rows) + sum(b.height() + 5 for b in bounds) + 8
        left, most_left = at.x() + 18, self.width() - wide - 6.0
        if left > most_left + 0.4 * wide and at.x() - 18 - wide >= area.left():
            left = at.x() - 18 - wide
        left = min(max(left, 6.0), most_left)
        top = min(max(at.y() + 16, 6.0), self.height() - high - 6.0)
        if QRectF(left, top, wide, high).contains(at):
            top = max(6.0, at.y() - high - 18)
        card = QRectF(left, top, wide, high)
        painter.setPen(Qt.PenStyle.NoPen)
        for grow, alpha in ((6, 10), (4, 14), (2, 18)):
            painter.setBrush(QColor(0, 0, 0, alpha * (2 if t.dark else 1)))
            painter.drawRoundedRect(card.adjusted(-grow / 2, -grow / 2 + 2, grow / 2, grow / 2 + 2), 8 + grow / 2, 8 + grow / 2)
        painter.setPen(QPen(t.color("border_strong"), 1))
        painter.setBrush(t.color("surface"))
        painter.drawRoundedRect(card, 8, 8)
        painter.setPen(t.color("text"))
        painter.setFont(big)
        painter.drawText(QPointF(left + 12, top + 21), mb.elidedText(title, Qt.TextElideMode.ElideRight, wide - 24))
        painter.setFont(small)
        painter.setPen(t.color("text2"))
        painter.drawText(QPointF(left + 12, top + 39), ms.elidedText(kind, Qt.TextElideMode.ElideRight, wide - 24))
        y = top + 60
        for what, figure, change in rows:
            painter.setFont(small)
            painter.setPen(t.color("text2"))
            painter.drawText(QPointF(left + 12, y), what)
            painter.setFont(figures)
            painter.setPen(t.color("text"))
            end = left + wide - 12 - (third + 12 if third else 0)
            painter.drawText(QPointF(end - mf.horizontalAdvance(figure), y), figure)
            painter.setFont(fine)
            painter.setPen(t.color("muted"))
            painter.drawText(QPointF(left + wide - 12 - mn.horizontalAdvance(change), y), change)
            y += 19
        painter.setFont(small)
        painter.setPen(t.color("text2"))
        y += -10
        for note, size in zip(notes, bounds, strict=True):
            painter.drawText(QRectF(left + 12, y, wide - 24, size.height() + 2), int(Qt.TextFlag.TextWordWrap), note)
            y += size.height() + 5

    # -- the pointer and the keys

    def at(self, where: QPointF) -> str:
        """The variant's id or ghost's job under a position, or ''."""
        area = self.area()
        seen = [d for d in self.dots if self._across(d)]
        points = [self.position(d, area) for d in seen] + [self.ghost_position(s, area) for s in self.ghosts]
        found = g.nearest([(p.x(), p.y()) for p in points], (where.x(), where.y()), 14)
        if found is None:
            return ""
        return seen[found].variant.id if found < len(seen) else self.ghosts[found - len(seen)].job

    def _on_budget(self, where: QPointF) -> bool:
        if not self.budget_axis or self.budget_at is None:
            return False
        area = self.area()
        if self.budget_axis == "x":
            return abs(self.to_screen(self.budget_at, 0, area).x() - where.x()) < 7 and area.top() - 26 <= where.y() <= area.bottom()
        return abs(self.to_screen(0, self.budget_at, area).y() - where.y()) < 7 and area.left() <= where.x() <= area.right()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        where = event.position()
        area = self.area()
        if self._dragging == "budget":
            x, y = self.from_screen(where, area)
            self.move_budget(x if self.budget_axis == "x" else y)
            return
        if self._press is not None and (self._dragging == "view" or (where - self._press).manhattanLength() > 6):
            self._dragging = "view"
            self._own_view = True
            (x0, y0), (x1, y1) = self.from_screen(self._press, area), self.from_screen(where, area)
            self.x_range = (self.x_range[0] - (x1 - x0), self.x_range[1] - (x1 - x0))
            self.y_range = (self.y_range[0] - (y1 - y0), self.y_range[1] - (y1 - y0))
            self._press = where
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._repaint()
            return
        under = self.at(where)
        on_budget = not under and self._on_budget(where)
        across = Qt.CursorShape.SplitHCursor if self.budget_axis == "x" else Qt.CursorShape.SplitVCursor
        self.setCursor(Qt.CursorShape.PointingHandCursor if under else across if on_budget else Qt.CursorShape.ArrowCursor)
        if under != self.hovered:
            self.hovered = under
            self.update()

    def leaveEvent(self, event: Any) -> None:
        if self.hovered:
            self.hovered = ""
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        where = event.position()
        under = self.at(where)
        if not under and self._on_budget(where):
            self._dragging = "budget"
            return
        if under and self.library.get(under):
            self.library.select(under)
            return
        if self.area().contains(where):
            self._press = where

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._press is not None and not self._dragging:
            self.library.select("")  # a click on nothing
        self._press, self._dragging = None, ""
        self.unsetCursor()

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

    def wheelEvent(self, event: QWheelEvent) -> None:
        area = self.area()
        if not self.dots or not area.contains(event.position()):
            event.ignore()
            return
        factor = 0.85 ** (event.angleDelta().y() / 120)
        x, y = self.from_screen(event.position(), area)
        width = (self.x_range[1] - self.x_range[0]) * factor
        if not 0.05 < width < 60:
            return
        self._own_view = True
        self.x_range = (x - (x - self.x_range[0]) * factor, x + (self.x_range[1] - x) * factor)
        self.y_range = (y - (y - self.y_range[0]) * factor, y + (self.y_range[1] - y) * factor)
        self._repaint()

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
            super().keyPressEvent(event)

    def describe(self) -> str:
        """The plot in words, for tests and screen readers."""
        return "; ".join(f"{d.variant.name}: {measure(self.y_kind).show(d.measured.value)}" for d in self.front())


def _mixed(a: QColor, b: QColor, share: float) -> QColor:
    """share of a, the rest of b, opaque."""
    mix = lambda x, y: round(x * share + y * (1 - share))
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()))
