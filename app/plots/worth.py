"""The plot of ways to draft: what a guess costs against how often guesses are kept, with the line above which drafting pays.

Covers drawing and pointing. The line is worked out from the target's measured costs (app.drafts_tried); filled points were
faster than plain decoding by the clock, hollow ones weren't, so that a point on the wrong side of the line can be seen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QPainter, QPen

from app.drafts_tried import Tried, contour
from app.plots import geometry as g
from app.plots.chart import Chart
from app.plots.hover_card import draw_card
from app.text import TIMES
from app.theme import SEMIBOLD, theme, ui_font

LEVELS = (1.5, 2.0, 3.0)
REACH = 14.0  # px within which the pointer finds a point


NEAR, TALL = 26.0, 190.0  # px: how far a name may lie from its point; a plot so high has room for the other lines' names


def even_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Halves or quarters, as many as fit, for axes about as long as one; else as everywhere."""
    if high - low > 2.6 or most < 2:
        return g.nice_ticks(low, high, most)
    step = 0.25 if (high - low) / 0.25 <= most else 0.5 if (high - low) / 0.5 <= most + 1 else 1.0
    digits = 2 if step == 0.25 else 1 if step == 0.5 else 0
    return [(n * step, f"{n * step:.{digits}f}") for n in range(math.ceil(low / step), math.floor(high / step) + 1) if n >= 0]


class WorthPlot(Chart):
    """A click chooses a way; `card` gives the words of the card shown beside the pointer: rows (what, figure, change)."""

    chosen = Signal(object)  # the key of a way

    def __init__(self, card: Callable[[Tried], tuple[str, str, list[tuple[str, str, str]]]]) -> None:
        self._ready = False
        super().__init__(movable=False)
        self._card = card
        self.points: list[Tried] = []
        self._names: dict[tuple, str] = {}
        self.best: tuple | None = None
        self.selected: tuple | None = None
        self.hovered: tuple | None = None
        self._most, self._target, self._overhead = 8, {}, 0.0
        self.setObjectName("worth_plot")
        self.setAccessibleName(self.tr("Cost of drafting against acceptance"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the table beside it is the keyboard's
        self.setMinimumSize(220, 170)
        self.x_ticks = self.y_ticks = even_ticks
        self.x_title = self.tr("Cost c of one guess (target calls)")
        self.y_title = self.tr("Acceptance α")
        self._line, self._top = pg.PlotCurveItem(antialias=True), pg.PlotCurveItem()
        self._fill = pg.FillBetweenItem(self._line, self._top)
        self._levels = [pg.PlotCurveItem(antialias=True) for _ in LEVELS]
        for height, item in enumerate((self._fill, self._top, self._line, *self._levels)):
            item.setZValue(height)
            self.addItem(item, ignoreBounds=True)
        self._curves: list[tuple[float, list[tuple[float, float]]]] = []
        self._asked: tuple = ()  # what the curves were worked out from
        self._ready = True
        self._work_out()

    # -- data

    def set_costs(self, most: int, target: Mapping[int, float], overhead: float = 0.0) -> None:
        """most: the longest draft considered; target: T(n), {} where it isn't known yet."""
        self._most, self._target, self._overhead = most, dict(target), overhead
        self._work_out()

    @property
    def costs_known(self) -> bool:
        return len(self._target) > 1

    def set_points(self, points: Sequence[Tried], names: Mapping[tuple, str], best: tuple | None) -> None:
        """Those that have both figures are drawn."""
        self.points = [p for p in points if p.alpha is not None and p.cost is not None]
        self._names, self.best = dict(names), best
        self._work_out()

    def select(self, key: tuple | None) -> None:
        if key != self.selected:
            self.selected = key
            self.viewport().update()

    def _work_out(self) -> None:
        far = max([1.0, *(p.cost for p in self.points)]) * 1.08
        asked = (far, self._most, tuple(sorted(self._target.items())), self._overhead)
        if asked != self._asked:
            self._asked = asked
            levels = (1.0, *LEVELS)
            self._curves = [(level, contour(far, self._most, self._target, self._overhead, level=level)) for level in levels]
        self.set_ranges((-0.03 * far, far), (0.0, 1.06))
        self.arrange()

    def arrange(self) -> None:
        super().arrange()
        if not self._ready:
            return
        (_, line), *levels = self._curves
        xs, ys = [x for x, _ in line], [y for _, y in line]
        self._line.setData(xs, ys, pen=self.pen("text2", 1.8))
        self._top.setData(xs, [1.0] * len(xs), pen=pg.mkPen(None))
        fill = theme().color("accepted_fill")
        fill.setAlphaF(0.75)
        self._fill.setBrush(fill)
        for item, (_, curve) in zip(self._levels, levels, strict=True):
            item.setVisible(len(curve) > 1)
            item.setData([x for x, _ in curve], [y for _, y in curve], pen=self.pen("accepted_edge", 1.2, Qt.PenStyle.DashLine))

    # -- painting over it

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        words = self._paint_lines_names(painter)
        places = [self._place(p) for p in self.points]
        for point, place in zip(self.points, places, strict=True):
            self._paint_point(painter, point, place)
        self._paint_names(painter, places, words)
        at = next((i for i, p in enumerate(self.points) if p.key == self.hovered), None)
        if at is not None:
            title, kind, rows = self._card(self.points[at])
            draw_card(painter, QRectF(self.viewport().rect()), self.area(), places[at], title, kind, rows, [])
        painter.restore()

    def _place(self, point: Tried) -> QPointF:
        return self.to_screen(point.cost, min(point.alpha, 1.0))

    def _paint_lines_names(self, painter: QPainter) -> list[g.Box]:
        """'break-even' under its line, the speed-ups where theirs begin; returns the room they take."""
        font = ui_font(11)
        painter.setFont(font)
        metrics, area, taken = QFontMetricsF(font), self.area(), []
        for level, curve in self._curves:
            if len(curve) < 2 or (level > 1.0 and area.height() < TALL):
                continue
            x, y = curve[0]
            at = self.to_screen(x, y)
            words = self.tr("break-even") if level == 1.0 else f"{TIMES}{level:g}"
            width = metrics.horizontalAdvance(words) + 2
            box = QRectF(at.x() + 5, at.y() + 2, width, 14) if level == 1.0 else QRectF(at.x() + 5, at.y() - 15, width, 14)
            if level == 1.0:  # a steep line: farther along, beneath it
                middle = curve[max(1, (2 * len(curve)) // 5)]
                on = self.to_screen(*middle)
                box.moveTo(on.x() + 8, on.y() + 6)
            tuple_box = (box.x(), box.y(), box.width(), box.height())
            if not area.contains(box) or any(g.overlap(tuple_box, other) for other in taken):
                continue
            painter.setPen(theme().color("text2"))
            painter.drawText(box, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), words)
            taken.append(tuple_box)
        return taken

    def _paint_point(self, painter: QPainter, point: Tried, at: QPointF) -> None:
        color = theme().color
        radius = 6.5 if point.key == self.best else 5.0
        if point.key == self.best:
            painter.setPen(QPen(color("accent"), 1.6))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, radius + 4, radius + 4)
        if point.key == self.selected:
            painter.setPen(QPen(color("text"), 1.4, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, radius + 7.5, radius + 7.5)
        painter.setPen(QPen(color("accent" if point.pays else "text2"), 1.8))
        painter.setBrush(color("accent") if point.pays else color("surface"))
        painter.drawEllipse(at, radius, radius)

    def _paint_names(self, painter: QPainter, places: list[QPointF], taken: list[g.Box]) -> None:
        plain, strong = ui_font(12), ui_font(12, SEMIBOLD)
        metrics = QFontMetricsF(strong)
        area = self.area()
        most = max(60.0, 0.45 * area.width())
        names = [metrics.elidedText(self._names.get(p.key, p.name), Qt.TextElideMode.ElideRight, most) for p in self.points]
        sizes = [(metrics.horizontalAdvance(name) + 2, 16.0) for name in names]
        dots = [(p.x() - 8, p.y() - 8, 16.0, 16.0) for p in places]
        must = [i for i, p in enumerate(self.points) if p.key in (self.best, self.selected)]
        bounds = (area.left(), area.top() - 6, area.width(), area.height() + 6)
        line = [self.to_screen(x, y) for x, y in self._curves[0][1]]
        lines = [((a.x(), a.y()), (b.x(), b.y())) for a, b in pairwise(line)]
        boxes = g.place_labels(
            [(p.x(), p.y()) for p in places], sizes, bounds, gap=13.0, avoid_boxes=[*dots, *taken], avoid_lines=lines, must=must
        )
        left = [i for i, box in enumerate(boxes) if box is None or _apart(box, places[i]) > NEAR]
        kept = [box for i, box in enumerate(boxes) if box is not None and i not in left]
        again = g.place_labels(  # upon the line, rather than not at all
            [(places[i].x(), places[i].y()) for i in left],
            [sizes[i] for i in left],
            bounds,
            gap=13.0,
            avoid_boxes=[*dots, *taken, *kept],
        )
        for i, box in zip(left, again, strict=True):
            boxes[i] = box
        ground = QColor(theme().color("surface"))
        ground.setAlphaF(0.72)
        for i, (point, name, box, place) in enumerate(zip(self.points, names, boxes, places, strict=True)):
            if box is None or _apart(box, place) > NEAR:
                continue  # a name far from its point would be taken for another's; the card has it
            if i in left:
                painter.fillRect(QRectF(*box), ground)
            chosen = point.key in (self.best, self.selected)
            painter.setFont(strong if chosen else plain)
            painter.setPen(theme().color("text" if chosen else "text2"))
            painter.drawText(QRectF(*box), int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), name)

    # -- the pointer

    def _found(self, position: QPointF) -> tuple | None:
        places = [self._place(p) for p in self.points]
        at = g.nearest([(p.x(), p.y()) for p in places], (position.x(), position.y()), REACH)
        return None if at is None else self.points[at].key

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        found = self._found(event.position())
        if found != self.hovered:
            self.hovered = found
            self.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    def leaveEvent(self, event) -> None:
        super().leaveEvent(event)
        self.hovered = None
        self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        found = self._found(event.position())
        if found is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(found)


def _apart(box: g.Box, at: QPointF) -> float:
    """How far a point lies outside a box."""
    across = max(box[0] - at.x(), 0.0, at.x() - box[0] - box[2])
    down = max(box[1] - at.y(), 0.0, at.y() - box[1] - box[3])
    return math.hypot(across, down)
