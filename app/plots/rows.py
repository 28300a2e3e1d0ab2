"""A list of rows that paint themselves: scrolling, pointing, tooltips and the keyboard, for hundreds of rows.

Covers everything but what a row looks like and says, which the subclass gives.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip

from app.theme import theme

TAB = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class RowsArea(QAbstractScrollArea):
    pointed = Signal(int)  # a row, or -1

    pitch = 34  # px, a row's height

    def __init__(self) -> None:
        super().__init__()
        self.current = -1
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.verticalScrollBar().setSingleStep(self.pitch)
        self.setMinimumHeight(3 * self.pitch)
        theme().changed.connect(self.viewport().update)

    # -- the subclass's

    def count(self) -> int:
        raise NotImplementedError

    def paint_row(self, painter: QPainter, at: int, top: float, width: float) -> None:
        raise NotImplementedError

    def description(self, at: int) -> str:
        """The row in words: its tooltip, and what's read out."""
        raise NotImplementedError

    # -- the rest

    def sizeHint(self) -> QSize:
        return QSize(380, 8 * self.pitch)

    def rows_changed(self) -> None:
        """To be called when there are other rows."""
        self.current = min(self.current, self.count() - 1)
        self._fit()
        self.viewport().update()

    def _fit(self) -> None:
        bar, page = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(page)
        bar.setRange(0, max(0, self.count() * self.pitch - page))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        offset, width = self.verticalScrollBar().value(), self.viewport().width()
        last = min(self.count(), (offset + self.viewport().height()) // self.pitch + 1)
        for at in range(max(0, offset // self.pitch), last):
            top = at * self.pitch - offset
            if at == self.current:
                painter.setPen(QPen(theme().color("accent"), 1) if self.hasFocus() else Qt.PenStyle.NoPen)
                painter.setBrush(theme().color("surface2"))
                painter.drawRoundedRect(QRect(1, top + 1, width - 2, self.pitch - 3), 5, 5)
            self.paint_row(painter, at, top, width)
        painter.end()

    def row_at(self, y: int) -> int:
        """The row at a height of the viewport; -1 where there's none."""
        at = (y + self.verticalScrollBar().value()) // self.pitch
        return at if 0 <= at < self.count() else -1

    def point_at(self, at: int) -> None:
        """Marks a row and brings it into view; -1 marks none."""
        if at != self.current:
            self.current = at
            self.setAccessibleDescription(self.description(at) if at >= 0 else "")
            self.pointed.emit(at)
        if at >= 0:
            bar = self.verticalScrollBar()
            bar.setValue(min(max(bar.value(), (at + 1) * self.pitch - self.viewport().height()), at * self.pitch))
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.point_at(self.row_at(round(event.position().y())))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = max(1, self.viewport().height() // self.pitch - 1)
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: page, Qt.Key.Key_PageUp: -page}
        ends = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: self.count() - 1}
        if not self.count() or event.key() not in (*steps, *ends):
            super().keyPressEvent(event)
            return
        to = ends[event.key()] if event.key() in ends else self.current + steps[event.key()]
        self.point_at(max(0, min(to, self.count() - 1)))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.current < 0 and self.count() and event.reason() in TAB:
            self.point_at(0)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            at = self.row_at(event.pos().y())
            if at >= 0:
                room = QRect(0, at * self.pitch - self.verticalScrollBar().value(), self.viewport().width(), self.pitch)
                QToolTip.showText(event.globalPos(), self.description(at), self.viewport(), room)
            else:
                QToolTip.hideText()
            return True
        return super().viewportEvent(event)
