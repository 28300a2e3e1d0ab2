"""Heat grid: a table of coloured cells with numbers in them, a cursor, and a key to the colours. It knows nothing of models.

Covers painting, scrolling, the pointer and the keyboard. What a cell says and what a key does is for the view that uses it.
Colour is never alone: lightness rises or falls with it, and the number stands in the cell where there's room.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QSizePolicy, QToolTip, QWidget

from app.theme import SEMIBOLD, numbers, theme, ui_font

HEADER, GAP = 22, 1
LEAST = QSize(20, 16)  # of a cell
MOST = QSize(120, 34)
STACKED = 30  # high enough for both words, one above the other


@dataclass(frozen=True)
class Cell:
    """share: 0 to 1 of the colours, None where it isn't known; big, small: words; marked: changed by a person; off: crossed out."""

    share: float | None = None
    big: str = ""
    small: str = ""
    tip: str = ""
    marked: bool = False
    off: bool = False


def heat_color(share: float | None) -> QColor:
    """From the ground of the theme to orange; an unknown share is the well's own colour."""
    if share is None:
        return theme().color("sunken")
    low, high = theme().color("surface2"), theme().color("kind_quantized")
    share = min(max(share, 0.0), 1.0)
    mix = [round(a + (b - a) * share) for a, b in zip(low.getRgb()[:3], high.getRgb()[:3], strict=True)]
    return QColor(*mix)


def ink_on(ground: QColor) -> QColor:
    """Black or white, whichever is read better on that ground (by relative luminance, WCAG 2)."""
    return QColor("#111620") if luminance(ground) > 0.18 else QColor("#FFFFFF")


def luminance(color: QColor) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (color.redF(), color.greenF(), color.blueF())]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def log_share(value: float | None, low: float, high: float) -> float | None:
    """Where a value lies between two others on a logarithmic scale, 0 to 1; None for an unknown one."""
    if value is None or not math.isfinite(value):
        return None
    if value <= low or low <= 0:
        return 0.0
    return 1.0 if value >= high else math.log(value / low) / math.log(high / low)


def span(values: Iterable[float | None]) -> tuple[float, float]:
    """The smallest and the largest of the values above 0; (1, 1) where there's none."""
    known = [v for v in values if v is not None and v > 0 and math.isfinite(v)]
    return (min(known), max(known)) if known else (1.0, 1.0)


class HeatGrid(QAbstractScrollArea):
    """`picked`: the cursor came to a cell, by pointer or key; `pressed`: a key that isn't the cursor's, `asked`: a cell's menu.

    With `switches`, a click, the space bar and Enter are `switched` instead, and a pointer that's drawn on switches what it comes to.
    """

    picked = Signal(str, str)
    pressed = Signal(object)  # QKeyEvent
    asked = Signal(str, str, QPoint)
    switched = Signal(str, str, bool)  # True: drawn over, after a first one

    def __init__(self, name: str, parent: QWidget | None = None):
        super().__init__(parent)
        self.rows: list[str] = []
        self.columns: list[str] = []
        self.cells: dict[tuple[str, str], Cell] = {}
        self.current: tuple[str, str] | None = None
        self.switches = False
        self.least, self.most = LEAST, MOST  # of a cell
        self.corner = ""  # what the columns are
        self._drawn: set[tuple[str, str]] = set()  # cells that this stroke came to
        self.labels: dict[str, str] = {}  # a row's or column's words, where they aren't its key
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(name)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.viewport().setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme().changed.connect(self.viewport().update)

    def set_axes(self, rows: list[str], columns: list[str], labels: dict[str, str] | None = None) -> None:
        if (rows, columns) == (self.rows, self.columns):
            return
        self.rows, self.columns, self.labels = rows, columns, labels or {}
        if self.current is None or self.current[0] not in rows or self.current[1] not in columns:
            self.current = (rows[0], columns[0]) if rows and columns else None
        self._measure()
        self.viewport().update()

    def set_cells(self, cells: dict[tuple[str, str], Cell]) -> None:
        if cells != self.cells:
            self.cells = cells
            self.viewport().update()

    def set_current(self, row: str, column: str) -> None:
        if row in self.rows and column in self.columns:
            self.current = (row, column)
            self._reveal()
            self.viewport().update()
            cell = self.cells.get(self.current)
            self.setAccessibleDescription(cell.tip if cell else "")
            self.picked.emit(row, column)

    # -- where things are

    def _measure(self) -> None:
        metrics = QFontMetricsF(ui_font(12))
        self._side = max((metrics.horizontalAdvance(words) for words in (self.corner, *map(self._word, self.rows))), default=0) + 12
        room = self.viewport().size()
        wide = (room.width() - self._side) / max(1, len(self.columns))
        high = (room.height() - HEADER) / max(1, len(self.rows))
        self._cell = QSize(
            int(min(max(wide, self.least.width()), self.most.width())),
            int(min(max(high, self.least.height()), self.most.height())),
        )
        total = QSize(int(self._side + self._cell.width() * len(self.columns)), HEADER + self._cell.height() * len(self.rows))
        for bar, whole, seen, step in (
            (self.horizontalScrollBar(), total.width(), room.width(), self._cell.width()),
            (self.verticalScrollBar(), total.height(), room.height(), self._cell.height()),
        ):
            bar.setRange(0, max(0, whole - seen))
            bar.setPageStep(max(1, seen))
            bar.setSingleStep(step)

    def _word(self, key: str) -> str:
        return self.labels.get(key, key)

    def rect_of(self, row: str, column: str) -> QRectF:
        """A cell's place in the viewport."""
        x = self._side + self.columns.index(column) * self._cell.width() - self.horizontalScrollBar().value()
        y = HEADER + self.rows.index(row) * self._cell.height() - self.verticalScrollBar().value()
        return QRectF(x, y, self._cell.width() - GAP, self._cell.height() - GAP)

    def cell_at(self, at: QPoint) -> tuple[str, str] | None:
        if not self.rows or not self.columns or at.x() < self._side or at.y() < HEADER:
            return None
        column = int((at.x() - self._side + self.horizontalScrollBar().value()) // self._cell.width())
        row = int((at.y() - HEADER + self.verticalScrollBar().value()) // self._cell.height())
        return (self.rows[row], self.columns[column]) if row < len(self.rows) and column < len(self.columns) else None

    def _reveal(self) -> None:
        rect, room = self.rect_of(*self.current), self.viewport().rect()
        for bar, low, high, start, end in (
            (self.horizontalScrollBar(), rect.left(), rect.right(), self._side, room.width()),
            (self.verticalScrollBar(), rect.top(), rect.bottom(), HEADER, room.height()),
        ):
            if low < start:
                bar.setValue(int(bar.value() - (start - low)))
            elif high > end:
                bar.setValue(int(bar.value() + (high - end) + 1))

    # -- Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measure()

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 80)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        if not self.rows or not self.columns:
            painter.end()
            return
        room = self.viewport().rect()
        big, small = numbers(12, SEMIBOLD), numbers(11)
        both = QFontMetricsF(big).horizontalAdvance("8") + QFontMetricsF(small).horizontalAdvance("0.00000") + 14
        painter.setClipRect(QRectF(self._side, HEADER, room.width() - self._side, room.height() - HEADER))
        for row in self.rows:
            first = self.rect_of(row, self.columns[0])
            if first.bottom() < HEADER or first.top() > room.height():
                continue
            for column in self.columns:
                cell = self.cells.get((row, column))
                if cell is not None:
                    self._paint_cell(painter, self.rect_of(row, column), cell, big, small, both)
        if self.current is not None:
            rect = self.rect_of(*self.current).adjusted(1, 1, -1, -1)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme().color("accent" if self.hasFocus() else "border_strong"), 2))
            painter.drawRect(rect)
        painter.setClipping(False)
        self._paint_heads(painter, room)
        painter.end()

    def _paint_cell(self, painter: QPainter, rect: QRectF, cell: Cell, big, small, both: float) -> None:
        ground = theme().color("sunken") if cell.off else heat_color(cell.share)
        painter.fillRect(rect, ground)
        if cell.off:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme().color("err"), 1.6))
            side = min(rect.width(), rect.height(), 18.0) / 2 - 3
            middle = rect.center()
            for down in (-1, 1):
                painter.drawLine(middle - QPointF(side, down * side), middle + QPointF(side, down * side))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            return
        if cell.marked:  # a corner, seen without its colour too
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color("accent"))
            corner = rect.topRight()
            painter.drawPolygon([corner, QPoint(int(corner.x()) - 7, int(corner.y())), QPoint(int(corner.x()), int(corner.y()) + 7)])
        painter.setPen(ink_on(ground))
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.setFont(big)
        if cell.small and rect.width() >= both:
            painter.drawText(rect.adjusted(7, 0, 0, 0), middle | int(Qt.AlignmentFlag.AlignLeft), cell.big)
            painter.setFont(small)
            painter.drawText(rect.adjusted(0, 0, -7, 0), middle | int(Qt.AlignmentFlag.AlignRight), cell.small)
        elif cell.small and rect.height() >= STACKED - GAP and QFontMetricsF(small).horizontalAdvance(cell.small) <= rect.width():
            painter.drawText(rect.adjusted(0, 2, 0, -rect.height() / 2 + 1), middle | int(Qt.AlignmentFlag.AlignHCenter), cell.big)
            painter.setFont(small)
            painter.drawText(rect.adjusted(0, rect.height() / 2 - 1, 0, -1), middle | int(Qt.AlignmentFlag.AlignHCenter), cell.small)
        elif painter.fontMetrics().horizontalAdvance(cell.big) <= rect.width():
            painter.drawText(rect, middle | int(Qt.AlignmentFlag.AlignHCenter), cell.big)

    def _paint_heads(self, painter: QPainter, room) -> None:
        painter.setFont(ui_font(12))
        painter.setPen(theme().color("text2"))
        metrics = QFontMetricsF(ui_font(12))
        every = max(
            1, math.ceil((max((metrics.horizontalAdvance(self._word(c)) for c in self.columns), default=0) + 6) / self._cell.width())
        )
        every = 1 if every > 1 and not all(self._word(c).isdigit() for c in self.columns) else every
        painter.setClipRect(QRectF(self._side, 0, room.width() - self._side, HEADER))
        for at, column in enumerate(self.columns):
            if at % every:
                continue  # numbers may be left out between others; names are cut instead
            rect = self.rect_of(self.rows[0], column)
            wide = rect.width() * every
            words = metrics.elidedText(self._word(column), Qt.TextElideMode.ElideRight, wide)
            align = Qt.AlignmentFlag.AlignHCenter if every == 1 else Qt.AlignmentFlag.AlignLeft
            painter.drawText(QRectF(rect.left(), 0, wide, HEADER - 2), int(align | Qt.AlignmentFlag.AlignVCenter), words)
        painter.setClipRect(QRectF(0, 0, self._side, room.height()))
        corner = QRectF(0, 0, self._side - 8, HEADER - 2)
        painter.drawText(corner, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self.corner)
        painter.setClipRect(QRectF(0, HEADER, self._side, room.height() - HEADER))
        for row in self.rows:
            rect = self.rect_of(row, self.columns[0])
            side = QRectF(0, rect.top(), self._side - 8, rect.height())
            painter.drawText(side, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._word(row))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        found = self.cell_at(event.position().toPoint())
        if found is None:
            return
        again = found == self.current and self.hasFocus()
        self.setFocus()
        self.set_current(*found)
        if self.switches and event.button() == Qt.MouseButton.LeftButton:
            self._drawn = {found}
            self.switched.emit(*found, False)
        elif event.button() == Qt.MouseButton.RightButton or again:
            self.asked.emit(*found, self.viewport().mapToGlobal(event.position().toPoint()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        found = self.cell_at(event.position().toPoint())
        if not self._drawn or not event.buttons() & Qt.MouseButton.LeftButton or found is None or found in self._drawn:
            return
        self._drawn.add(found)
        self.set_current(*found)
        self.switched.emit(*found, True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._drawn = set()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        steps = {Qt.Key.Key_Left: (0, -1), Qt.Key.Key_Right: (0, 1), Qt.Key.Key_Up: (-1, 0), Qt.Key.Key_Down: (1, 0)}
        steps |= {Qt.Key.Key_PageUp: (-10, 0), Qt.Key.Key_PageDown: (10, 0)}
        steps |= {Qt.Key.Key_Home: (0, -len(self.columns)), Qt.Key.Key_End: (0, len(self.columns))}
        if self.current is None:
            super().keyPressEvent(event)
        elif key in steps:
            down, right = steps[key]
            row = min(max(self.rows.index(self.current[0]) + down, 0), len(self.rows) - 1)
            column = min(max(self.columns.index(self.current[1]) + right, 0), len(self.columns) - 1)
            self.set_current(self.rows[row], self.columns[column])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and not event.modifiers() and self.switches:
            self.switched.emit(*self.current, False)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Menu) and not event.modifiers():
            self.asked.emit(*self.current, self.viewport().mapToGlobal(self.rect_of(*self.current).center().toPoint()))
        else:
            event.ignore()
            self.pressed.emit(event)
            if not event.isAccepted():
                super().keyPressEvent(event)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            found = self.cell_at(event.pos())
            cell = self.cells.get(found) if found else None
            if cell is not None and cell.tip:
                QToolTip.showText(event.globalPos(), cell.tip, self)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)

    def focusInEvent(self, event) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event) -> None:
        super().focusOutEvent(event)
        self.viewport().update()


class HeatKey(QWidget):
    """The colours with the values at their ends."""

    def __init__(self, height: int = 18):
        super().__init__()
        self.low = self.high = ""
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set_ends(self, low: str, high: str) -> None:
        if (low, high) != (self.low, self.high):
            self.low, self.high = low, high
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = numbers(11)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        left, right = metrics.horizontalAdvance(self.low) + 8, metrics.horizontalAdvance(self.high) + 8
        painter.setPen(theme().color("text2"))
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(QRectF(self.rect()), middle | int(Qt.AlignmentFlag.AlignLeft), self.low)
        painter.drawText(QRectF(self.rect()), middle | int(Qt.AlignmentFlag.AlignRight), self.high)
        bar = QRectF(left, 4, max(0.0, self.width() - left - right), self.height() - 8)
        steps = 24
        for step in range(steps):
            part = QRectF(bar.left() + bar.width() * step / steps, bar.top(), bar.width() / steps + 0.6, bar.height())
            painter.fillRect(part.intersected(bar), heat_color((step + 0.5) / steps))
        painter.setPen(QPen(theme().color("border_strong"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)
        painter.end()
