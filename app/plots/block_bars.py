"""Bars of a model's blocks, one each: a share, an influence, a loss, with those that are gone crossed out.

Covers painting, the pointer and the keyboard; what a value means is the caller's. A loss is drawn as a dot on a scale that doesn't
begin at 0, since a bar's length would say too much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import numbers, theme

LEFT, RIGHT, TOP, FOOT = 8, 8, 8, 18


@dataclass(frozen=True)
class Block:
    """value: None where it isn't known; tip: what's said of it."""

    number: int
    value: float | None
    tip: str = ""
    gone: bool = False


class BlockBars(QWidget):
    """`picked`: the cursor came to a block's place in the list."""

    picked = Signal(int)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self.line: float | None = None
        self.from_zero = True
        self.current = -1
        self._show: Callable[[float], str] = str
        self.setMinimumHeight(80)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(name)
        theme().changed.connect(self.update)

    def set_blocks(self, blocks: list[Block], *, show: Callable[[float], str], from_zero: bool = True, line: float | None = None) -> None:
        """show: a value as words; line: one that's drawn across, such as the mean."""
        self.blocks, self._show, self.from_zero, self.line = list(blocks), show, from_zero, line
        self.current = min(self.current, len(blocks) - 1)
        self.update()

    def area(self) -> QRectF:
        side = 0.0
        if self.blocks:
            metrics = QFontMetricsF(numbers(11))
            side = max(metrics.horizontalAdvance(self._show(v)) for v in self.ends()) + 6
        return QRectF(LEFT + side, TOP, max(self.width() - LEFT - RIGHT - side, 1), max(self.height() - TOP - FOOT, 1))

    def ends(self) -> tuple[float, float]:
        """What the lower and the upper edge stand for."""
        known = [b.value for b in self.blocks if b.value is not None] or [0.0, 1.0]
        low, high = min(known), max(known)
        if self.from_zero:
            return min(low, 0.0), high or 1.0
        room = (high - low) * 0.12 or abs(high) * 0.01 or 1.0
        return low - room, high + room

    def place(self, at: int) -> QRectF:
        """The bar's whole column."""
        area = self.area()
        wide = area.width() / max(1, len(self.blocks))
        return QRectF(area.left() + at * wide, area.top(), wide, area.height())

    def _y(self, value: float) -> float:
        (low, high), area = self.ends(), self.area()
        return area.bottom() - area.height() * (value - low) / ((high - low) or 1.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.blocks:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t, area = theme(), self.area()
        painter.setPen(QPen(t.color("border"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setFont(numbers(11))
        painter.setPen(t.color("text2"))
        low, high = self.ends()
        side = QRectF(0, 0, area.left() - 6, 14)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(side.translated(0, area.top() - 4), right, self._show(high))
        painter.drawText(side.translated(0, area.bottom() - 12), right, self._show(low))
        if self.line is not None:
            y = self._y(self.line)
            painter.setPen(QPen(t.color("text2"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        foot = max(1, -(-24 * len(self.blocks) // max(1, int(area.width()))))  # a number needs 24 px
        for at, block in enumerate(self.blocks):
            self._paint(painter, at, block)
            if at % foot == 0:
                painter.setPen(t.color("text2"))
                under = self.place(at)
                words = QRectF(under.center().x() - 20, area.bottom() + 2, 40, 15)
                painter.drawText(words, int(Qt.AlignmentFlag.AlignHCenter), str(block.number))
        painter.end()

    def _paint(self, painter: QPainter, at: int, block: Block) -> None:
        t, column = theme(), self.place(at)
        if at == self.current:
            painter.fillRect(column, t.color("accent_soft"))
        if block.value is not None:
            y = self._y(block.value)
            inside = min(column.width() * 0.16, 3.0)
            if self.from_zero:
                zero = self._y(max(0.0, self.ends()[0]))
                bar = QRectF(column.left() + inside, min(y, zero), max(column.width() - 2 * inside, 1), max(abs(zero - y), 1))
                painter.setPen(QPen(t.color("border_strong"), 1) if block.gone else Qt.PenStyle.NoPen)
                painter.setBrush(t.color("sunken") if block.gone else t.color("kind_pruned"))
                painter.drawRect(bar)
            else:
                painter.setPen(QPen(t.color("border_strong"), 1))
                painter.drawLine(QPointF(column.center().x(), column.bottom()), QPointF(column.center().x(), y))
                painter.setPen(QPen(t.color("kind_pruned"), 1.6))
                painter.setBrush(t.color("sunken") if block.gone else t.color("kind_pruned"))
                painter.drawEllipse(QPointF(column.center().x(), y), 3.6, 3.6)
        if block.gone:
            side = min(column.width() / 2 - 1, 4.0)
            middle = QPointF(column.center().x(), column.bottom() - 8)
            painter.setPen(QPen(t.color("err"), 1.6))
            for down in (-1, 1):
                painter.drawLine(middle - QPointF(side, down * side), middle + QPointF(side, down * side))

    # -- the cursor

    def set_current(self, at: int) -> None:
        if 0 <= at < len(self.blocks) and at != self.current:
            self.current = at
            self.setAccessibleDescription(self.blocks[at].tip)
            self.update()
            self.picked.emit(at)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        area = self.area()
        if self.blocks and area.left() <= event.position().x() < area.right():
            self.set_current(int((event.position().x() - area.left()) / area.width() * len(self.blocks)))

    def leaveEvent(self, event: Any) -> None:
        if not self.hasFocus() and self.current >= 0:
            self.current = -1
            self.update()
            self.picked.emit(-1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = len(self.blocks) - 1
        steps = {
            Qt.Key.Key_Left: max(self.current - 1, 0),
            Qt.Key.Key_Right: min(self.current + 1, last),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if event.key() in steps and self.blocks:
            self.set_current(steps[event.key()])
        else:
            super().keyPressEvent(event)
