"""The plot of a study of gradients: loss on text kept aside by step as it trains, then by bits, or by the bytes sent.

Covers drawing and the pointer. Colour and lightness say the bits; marker and dash say how they were rounded, so that neither is
needed alone. Bars are standard errors of the mean over seeds, small dots the seeds themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QMouseEvent, QPainter, QPainterPath, QPen

from app.gradient_rows import KINDS, Choice
from app.gradient_table import COLORS, choice_name, paint_marker
from app.plots import geometry as g
from app.plots.chart import Chart
from app.plots.hover_card import draw_card
from app.theme import SEMIBOLD, theme, ui_font

DASHES = {
    ("tensor", False): Qt.PenStyle.DotLine,
    ("tensor", True): Qt.PenStyle.DashDotLine,
    ("channel", False): Qt.PenStyle.DashLine,
    ("channel", True): Qt.PenStyle.SolidLine,
}
APART = 7.0  # px between choices of the same number of bits
REACH = 16.0
Rows = Mapping[Choice, Mapping[str, Any]]


class GradientChart(Chart):
    """`chosen`: a choice was clicked. card: (title, line, rows) of a choice's card."""

    chosen = Signal(object)

    def __init__(self, card: Callable[[Choice], tuple[str, str, list[tuple[str, str, str]]]]) -> None:
        self._card = card
        self.mode = "steps"  # or 'bits', 'sent'
        self.rows: dict[Choice, Mapping[str, Any]] = {}
        self.curves: dict[Choice, list[tuple[int, float]]] = {}
        self.selected: Choice | None = None
        self.hovered: Choice | None = None
        super().__init__(movable=False)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumHeight(120)
        self.setAccessibleName(self.tr("Loss of each choice"))
        self.y_title = self.tr("Loss on text kept aside")
        self.y_short = self.tr("Loss")
        self.y_ticks = g.nice_ticks
        self.set_mode("steps")

    # -- data

    def set_mode(self, mode: str) -> None:
        self.mode, self.hovered = mode, None
        self.x_title = {"steps": self.tr("Step"), "bits": self.tr("Bits of a gradient"), "sent": self.tr("Megabytes sent in a run")}[mode]
        self.x_ticks = {"steps": g.whole_ticks, "bits": self._bit_ticks, "sent": g.log10_ticks}[mode]
        self._fit()

    def set_rows(self, rows: Rows, curves: Mapping[Choice, list[tuple[int, float]]]) -> None:
        """rows: what has ended; curves: (step, loss) of everything that has begun."""
        self.rows = dict(rows)
        self.curves = {key: [(x, y) for x, y in curve if math.isfinite(y)] for key, curve in curves.items()}
        self._fit()

    def select(self, key: Choice | None) -> None:
        if key != self.selected:
            self.selected = key
            self.viewport().update()

    def _bit_ticks(self, low: float, high: float, most: int) -> list[tuple[float, str]]:
        return [(math.log2(bits), str(bits)) for bits in sorted({row["bits"] for row in self.rows.values()})]

    def x_of(self, key: Choice) -> float:
        row = self.rows[key]
        return math.log2(row["bits"]) if self.mode == "bits" else math.log10(max(row["sent"], 1) / 1e6)

    def _fit(self) -> None:
        if self.mode == "steps":
            points = [p for curve in self.curves.values() for p in curve]
            if points:
                ys = [y for _, y in points]
                late = [y for curve in self.curves.values() for _, y in curve[len(curve) // 3 :]]  # the fall at the start is common to all
                low, high = min(ys), max(late) if len(ys) > 3 * len(self.curves) else max(ys)
                wide = max(1.0, *(x for x, _ in points))
                self.set_ranges((0.0, wide * 1.01), g.padded(low, high, 0.08, least=max(abs(high) * 1e-3, 1e-9)))
        elif self.rows:
            xs = [self.x_of(key) for key in self.rows]
            ends = [v for row in self.rows.values() for v in (*row["losses"], *self._ends(row))]
            pad = 0.45 if self.mode == "bits" else 0.0
            across = (min(xs) - pad, max(xs) + pad) if self.mode == "bits" else g.padded(min(xs), max(xs), 0.1, least=0.3)
            self.set_ranges(across, g.padded(min(ends), max(ends), 0.12, least=max(abs(max(ends)) * 1e-3, 1e-9)))
        self.arrange()

    def _ends(self, row: Mapping[str, Any]) -> tuple[float, float]:
        middle, error = row["heldout_loss"], row["stderr"] or 0.0
        return middle - error, middle + error

    # -- where things are

    def place(self, key: Choice) -> QPointF:
        at = self.to_screen(self.x_of(key), self.rows[key]["heldout_loss"])
        if self.mode == "bits" and key[0] != 32:
            alike = [other for other in self.rows if other[0] == key[0]]
            at.setX(at.x() + APART * (alike.index(key) - (len(alike) - 1) / 2))
        return at

    # -- painting

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.mode == "steps":
            self._paint_curves(painter)
        elif self.rows:
            self._paint_points(painter)
        if self.mode != "steps" and self.hovered in self.rows:
            title, line, rows = self._card(self.hovered)
            draw_card(painter, QRectF(self.viewport().rect()), self.area(), self.place(self.hovered), title, line, rows, [])
        painter.restore()

    def _pen(self, key: Choice, width: float) -> QPen:
        color = theme().color(COLORS[key[0]])
        if self.selected is not None and key != self.selected:
            color.setAlphaF(0.45)
        return QPen(color, width, Qt.PenStyle.SolidLine if key[0] == 32 else DASHES[key[1], key[2]])

    def _paint_curves(self, painter: QPainter) -> None:
        area = self.area()
        ends, lines = [], []
        painter.setClipRect(area)
        for key, curve in sorted(self.curves.items(), key=lambda item: item[0] == self.selected):
            if not curve:
                continue
            points = [self.to_screen(x, y) for x, y in g.thinned(curve, max(int(area.width()), 2))]
            path = QPainterPath(points[0])
            for point in points[1:]:
                path.lineTo(point)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self._pen(key, 2.4 if key == self.selected else 1.6))
            painter.drawPath(path)
            if len(points) == 1:
                self._paint_marker(painter, key, points[0])
            ends.append((key, points[-1]))
            coarse = [(p.x(), p.y()) for p in points[:: max(1, len(points) // 40)]]
            lines += list(pairwise(coarse))
        painter.setClipping(False)
        self._paint_names(painter, dict(ends), lines)

    def _paint_points(self, painter: QPainter) -> None:
        area = self.area()
        plain = next((key for key in self.rows if key[0] == 32), None)
        if plain is not None:
            low, high = self._ends(self.rows[plain])
            y0, y1 = self.to_screen(0, high).y(), self.to_screen(0, low).y()
            band = theme().color("text")
            band.setAlphaF(0.07)
            painter.fillRect(QRectF(area.left(), y0, area.width(), max(y1 - y0, 0.0)), band)
            y = self.to_screen(0, self.rows[plain]["heldout_loss"]).y()
            painter.setPen(QPen(theme().color("text2"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        lines = []
        for per, feedback in KINDS:
            line = sorted((key for key in self.rows if key[1:] == (per, feedback) and key[0] != 32), key=lambda key: self.x_of(key))
            painter.setPen(QPen(theme().color("border_strong"), 1.4, DASHES[per, feedback]))
            for a, b in pairwise(line):
                start, end = self.place(a), self.place(b)
                painter.drawLine(start, end)
                lines.append(((start.x(), start.y()), (end.x(), end.y())))
        for key, row in self.rows.items():
            at, color = self.place(key), theme().color(COLORS[key[0]])
            painter.setPen(QPen(color, 1.2))
            if len(row["losses"]) > 1:
                low, high = (self.to_screen(0, v).y() for v in self._ends(row))
                painter.drawLine(QPointF(at.x(), low), QPointF(at.x(), high))
                for y in (low, high):
                    painter.drawLine(QPointF(at.x() - 3, y), QPointF(at.x() + 3, y))
                pale = theme().color(COLORS[key[0]])
                pale.setAlphaF(0.55)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(pale)
                for loss in row["losses"]:
                    painter.drawEllipse(QPointF(at.x(), self.to_screen(0, loss).y()), 1.8, 1.8)
            self._paint_marker(painter, key, at)
        self._paint_names(painter, {key: self.place(key) for key in self.rows}, lines)

    def _paint_marker(self, painter: QPainter, key: Choice, at: QPointF) -> None:
        """A circle for a scale a row, a square for a scale a tensor; filled with error feedback."""
        bits, per, feedback = key
        paint_marker(painter, at, COLORS[bits], square=per == "tensor" and bits != 32, filled=feedback or bits == 32)
        if key == self.selected:
            painter.setPen(QPen(theme().color("text"), 1.4, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, 10, 10)

    def _paint_names(self, painter: QPainter, places: Mapping[Choice, QPointF], lines: list[g.Segment]) -> None:
        """Names beside the points, as many as there's room for: the table and the card have them all."""
        keys = sorted(places, key=lambda key: (key != self.selected, key[0] != 32))
        font, strong = ui_font(11), ui_font(11, SEMIBOLD)
        metrics = QFontMetricsF(strong)
        area = self.area()
        sizes = [(metrics.horizontalAdvance(choice_name(key)) + 2, 14.0) for key in keys]
        dots = [(p.x() - 6, p.y() - 6, 12.0, 12.0) for p in places.values()]
        bounds = (area.left() + 2, area.top(), area.width() - 4, area.height())
        anchors = [(places[key].x(), places[key].y()) for key in keys]
        must = [i for i, key in enumerate(keys) if key == self.selected]
        boxes = g.place_labels(anchors, sizes, bounds, gap=9.0, avoid_boxes=dots, avoid_lines=lines, must=must)
        for key, box in zip(keys, boxes, strict=True):
            if box is None or _apart(box, places[key]) > 24:
                continue
            painter.setFont(strong if key == self.selected else font)
            painter.setPen(theme().color("text" if key == self.selected else "text2"))
            painter.drawText(QRectF(*box), int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), choice_name(key))

    # -- the pointer

    def _found(self, position: QPointF) -> Choice | None:
        if self.mode == "steps":
            if not self.area().contains(position):
                return None
            step, _ = self.from_screen(position)
            near = {key: min(c, key=lambda p: abs(p[0] - step)) for key, c in self.curves.items() if c}
            apart = {key: abs(self.to_screen(*p).y() - position.y()) for key, p in near.items()}
            best = min(apart, key=lambda key: apart[key], default=None)
            return best if best is not None and apart[best] <= REACH else None
        keys = list(self.rows)
        places = [self.place(key) for key in keys]
        at = g.nearest([(p.x(), p.y()) for p in places], (position.x(), position.y()), REACH)
        return None if at is None else keys[at]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        found = self._found(event.position())
        if found != self.hovered:
            self.hovered = found
            self.setCursor(Qt.CursorShape.PointingHandCursor if found else Qt.CursorShape.ArrowCursor)
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        found = self._found(event.position())
        if found is not None and event.button() == Qt.MouseButton.LeftButton:
            self.chosen.emit(found)

    def leaveEvent(self, event: Any) -> None:
        super().leaveEvent(event)
        self.hovered = None
        self.viewport().update()


def _apart(box: g.Box, at: QPointF) -> float:
    across = max(box[0] - at.x(), 0.0, at.x() - box[0] - box[2])
    down = max(box[1] - at.y(), 0.0, at.y() - box[1] - box[3])
    return math.hypot(across, down)
