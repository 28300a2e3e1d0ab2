"""The token flow: tens of thousands of tokens in rounded cells, painted by hand.

Covers layout, painting, pointing at a cell with mouse or keyboard, copying. What a cell means comes from app.decode_run;
what its card says is app.token_card's. Kept fast by columns of plain arrays, one pixmap for each (text, kind), and by
repainting only the lines that changed: appending costs the same at the beginning and after 50,000 tokens.

A state is never told by colour alone: rejected is struck through, corrected is solid and bold, bonus has a dot, untested
is dashed, the prompt has no border; a guess that hasn't been judged yet is dashed and tinted.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QKeySequence, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QSizePolicy

from app.decode_run import Cell, Kind, shown
from app.theme import SEMIBOLD, mono, theme

CELL, PITCH = 23, 31  # a cell's height, and from line to line
GAP, ROUND_GAP, JOINED = 3, 10, 1  # inside a round, between rounds, before a token that goes on with the word
PAD = 7  # beside the text
MARGIN_X, MARGIN_Y = 2, 5
WIDEST = 260  # longer tokens are elided
MOST_PIXMAPS = 8000
DIMMED = 0.22  # opacity of what a filter leaves out


# ---- layout, as plain arithmetic --------------------------------------------------------------------------------


def lay_out(
    widths: Sequence[int], gaps: Sequence[int], breaks: Sequence[int], limit: int, x: int = 0, first: int = 0
) -> tuple[list[int], list[int], int]:
    """(left edge of each cell, indices of cells that begin a new line, x where the next cell would go).

    widths, gaps, breaks: of the cells to place, in pixels; gaps[i] comes before cell i, breaks[i] forces a new line at it.
    limit: a line's width. x: where the line at hand ends, 0 when it's empty. first: index of the first of these cells.
    """
    xs, begins = [], []
    for i, width in enumerate(widths):
        if breaks[i] or (x and x + gaps[i] + width > limit):
            begins.append(first + i)
            x = 0
        elif x:
            x += gaps[i]
        xs.append(x)
        x += width
    return xs, begins, x


def gap_before(cell: Cell, previous: Cell | None) -> int:
    """Wide between rounds, narrow inside one and in plain text, hardly any where a token goes on with the word before it."""
    if previous is None:
        return 0
    if cell.round != previous.round and not (cell.kind == previous.kind == Kind.PLAIN):
        return ROUND_GAP
    goes_on = bool(cell.text) and not cell.text[0].isspace() and bool(previous.text) and not previous.text[-1].isspace()
    return JOINED if goes_on and cell.kind == previous.kind else GAP


def breaks_after(cell: Cell) -> bool:
    """Whether the text itself starts a new line behind this cell."""
    return cell.kept and "\n" in cell.text


def nearest_in(xs: Sequence[int], widths: Sequence[int], low: int, high: int, x: int) -> int:
    """The cell of low..high-1 (one line) whose middle is nearest to x."""
    return min(range(low, high), key=lambda i: abs(xs[i] + widths[i] / 2 - x))


# ---- painting one cell ------------------------------------------------------------------------------------------

COLORS = {  # kind: (fill, edge, text); '' is none
    Kind.PROMPT: ("sunken", "", "muted"),
    Kind.PLAIN: ("surface2", "border_strong", "text"),
    Kind.ACCEPTED: ("accepted_fill", "accepted_edge", "accepted_text"),
    Kind.REJECTED: ("rejected_fill", "rejected_edge", "rejected_text"),
    Kind.CORRECTED: ("corrected_fill", "corrected_edge", "corrected_text"),
    Kind.BONUS: ("bonus_fill", "bonus_edge", "bonus_text"),
    Kind.UNTESTED: ("", "border_strong", "muted"),
    Kind.GUESSED: ("accent_soft", "accent", "on_soft"),
}


def paint_cell(painter: QPainter, rect: QRectF, text: str, kind: Kind) -> None:
    """A cell of the flow, the legend or a card's chip: `rect` on whole pixels, `text` already as shown."""
    fill, edge, ink = COLORS[kind]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(theme().color(edge), 1) if edge else QPen(Qt.PenStyle.NoPen)
    if kind in (Kind.UNTESTED, Kind.GUESSED):
        pen.setDashPattern([2.5, 2.5])
    painter.setPen(pen)
    painter.setBrush(theme().color(fill) if fill else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
    color = theme().color(ink)
    painter.setPen(color)
    if kind == Kind.CORRECTED:
        font = painter.font()
        font.setWeight(SEMIBOLD)
        painter.setFont(font)
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)
    if kind == Kind.REJECTED:
        half = min(QFontMetricsF(painter.font()).horizontalAdvance(text) / 2 + 2, rect.width() / 2 - 3) if text else rect.width() / 2 - 4
        middle = rect.center()
        painter.setPen(QPen(color, 1.4))
        painter.drawLine(QPointF(middle.x() - half, middle.y() + 0.5), QPointF(middle.x() + half, middle.y() + 0.5))
    elif kind == Kind.BONUS:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color(edge))
        painter.drawEllipse(QPointF(rect.right() - 4.5, rect.top() + 4.5), 2.2, 2.2)


# ---- the view ---------------------------------------------------------------------------------------------------


class TokenFlow(QAbstractScrollArea):
    """Shows cells; `pointed` fires as the mouse or a key moves to one (-1: to none), `pinned` when one is clicked or entered."""

    pointed = Signal(int)
    pinned = Signal(int)
    scrolled = Signal()

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("flow")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName(self.tr("Token flow"))
        self.setAccessibleDescription(
            self.tr("Arrow keys move from token to token, Enter keeps a token's card open, Ctrl+C copies the text.")
        )
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # scrolling moves the pixels of an opaque widget only
        self.verticalScrollBar().setSingleStep(PITCH)
        self._cells: list[Cell] = []
        self._shown: list[str] = []
        self._kind, self._x, self._width = bytearray(), array("i"), array("i")
        self._gap, self._break = bytearray(), bytearray()
        self._lines = array("l")  # index of each line's first cell
        self._end = 0  # x where the next cell would go
        self._limit = 0
        self._widths: dict[str, int] = {}
        self._pixmaps: dict[tuple[str, int], QPixmap] = {}
        self._ratio = 1.0
        self._font = mono(12)
        self._metrics = QFontMetricsF(self._font)
        self._only: Kind | None = None
        self._current, self._hovered, self._pinned = -1, -1, -1
        self._copy_text = ""
        self._leaving = QTimer(self, singleShot=True, interval=140)
        self._leaving.timeout.connect(self._left)
        theme().changed.connect(self._restyled)

    # -- what it holds

    @property
    def cells(self) -> list[Cell]:
        return self._cells

    def clear(self) -> None:
        self.truncate(0)

    def truncate(self, count: int) -> None:
        """Keeps the first `count` cells."""
        if count >= len(self._cells):
            return
        if max(self._hovered, self._current, self._pinned) >= count:
            self._hovered = self._current = self._pinned = -1
            self.pointed.emit(-1)
        follow = self._at_bottom()
        del self._cells[count:], self._shown[count:], self._kind[count:], self._gap[count:], self._break[count:]
        del self._x[count:], self._width[count:]
        del self._lines[bisect_right(self._lines, count - 1) if count else 0 :]
        self._end = self._x[-1] + self._width[-1] if count else 0
        self._set_range(follow)
        self.viewport().update()

    def append(self, cells: Sequence[Cell]) -> None:
        """Adds cells at the end. If the end was in view, it stays so."""
        if not cells:
            return
        follow = self._at_bottom()
        first, lines_before = len(self._cells), len(self._lines)
        previous = self._cells[-1] if self._cells else None
        widths, gaps, breaks = [], [], []
        for cell in cells:
            text = shown(cell.text, cell.id)
            self._shown.append(text)
            widths.append(self._measure(text))
            gaps.append(gap_before(cell, previous))
            breaks.append(previous is not None and breaks_after(previous))
            previous = cell
        self._cells.extend(cells)
        self._kind.extend([cell.kind for cell in cells])
        self._width.extend(widths)
        self._gap.extend(gaps)
        self._break.extend(breaks)
        self._place(first, widths, gaps, breaks)
        self._set_range(follow)
        top = self._line_top(max(lines_before - 1, 0))
        self.viewport().update(QRect(0, top - 3, self.viewport().width(), self._line_top(len(self._lines)) - top + 6))

    def _place(self, first: int, widths: Sequence[int], gaps: Sequence[int], breaks: Sequence[int]) -> None:
        if not self._lines:
            self._lines.append(0)
        xs, begins, self._end = lay_out(widths, gaps, breaks, self._limit, self._end, first)
        self._x.extend(xs)
        self._lines.extend(begins)

    def _relayout(self) -> None:
        follow = self._at_bottom()
        anchor = self._lines[min(self._offset() // PITCH, len(self._lines) - 1)] if self._lines else 0
        del self._x[:], self._lines[:]
        self._end = 0
        if self._cells:
            self._place(0, self._width, self._gap, self._break)
        self._set_range(follow)
        if not follow and self._lines:
            self.verticalScrollBar().setValue(self._line_of(anchor) * PITCH)
        self.viewport().update()

    def _measure(self, text: str) -> int:
        width = self._widths.get(text)
        if width is None:
            width = min(round(self._metrics.horizontalAdvance(text)) + 2 * PAD, WIDEST)
            self._widths[text] = width
        return width

    # -- geometry

    def _offset(self) -> int:
        return self.verticalScrollBar().value()

    def _at_bottom(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 2

    def _set_range(self, follow: bool) -> None:
        bar, height = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(height)
        over = len(self._lines) * PITCH + 2 * MARGIN_Y - (PITCH - CELL) - height
        bar.setRange(0, max(0, -(-over // PITCH) * PITCH))  # whole lines: with the end in view, no line is cut at the top
        bar.setEnabled(over > 0)  # its handle isn't shown where there's nowhere to scroll to
        if follow:
            bar.setValue(bar.maximum())

    def scroll_to_end(self) -> None:
        self.verticalScrollBar().setValue(self.verticalScrollBar().maximum())

    def _line_of(self, index: int) -> int:
        return bisect_right(self._lines, index) - 1

    def _line_top(self, line: int) -> int:
        return MARGIN_Y + line * PITCH - self._offset()

    def _span(self, line: int) -> tuple[int, int]:
        return self._lines[line], self._lines[line + 1] if line + 1 < len(self._lines) else len(self._cells)

    def rect_of(self, index: int) -> QRect:
        """A cell's rectangle in the viewport."""
        return QRect(MARGIN_X + self._x[index], self._line_top(self._line_of(index)), self._width[index], CELL)

    def cell_at(self, point: QPoint) -> int:
        """The cell under a point of the viewport, -1 where there's none."""
        y = point.y() + self._offset() - MARGIN_Y
        line = y // PITCH
        if not 0 <= line < len(self._lines) or y % PITCH >= CELL:
            return -1
        low, high = self._span(line)
        x = point.x() - MARGIN_X
        found = bisect_right(self._x, x, low, high) - 1
        return found if found >= low and x < self._x[found] + self._width[found] else -1

    def reveal(self, index: int) -> None:
        """Scrolls so that a cell is in view."""
        top = self._line_of(index) * PITCH
        bar, height = self.verticalScrollBar(), self.viewport().height()
        if top < bar.value():
            bar.setValue(top)
        elif top + PITCH > bar.value() + height:
            bar.setValue(top + PITCH + MARGIN_Y - height)

    def sizeHint(self) -> QSize:
        return QSize(600, 8 * PITCH)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 3 * PITCH)

    # -- looks

    def set_only(self, kind: Kind | None) -> None:
        """Dims every cell that isn't of this kind; None: none."""
        if kind != self._only:
            self._only = kind
            self.viewport().update()

    def _restyled(self) -> None:
        self._pixmaps.clear()
        self.viewport().update()

    def _pixmap(self, text: str, kind: int, width: int) -> QPixmap:
        pixmap = self._pixmaps.get((text, kind))
        if pixmap is None:
            if len(self._pixmaps) >= MOST_PIXMAPS:
                self._pixmaps.clear()
            pixmap = QPixmap(round(width * self._ratio), round(CELL * self._ratio))
            pixmap.setDevicePixelRatio(self._ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            painter.setFont(self._font)
            fitted = self._metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, width - 2 * PAD + 1) if width == WIDEST else text
            paint_cell(painter, QRectF(0, 0, width, CELL), fitted, Kind(kind))
            painter.end()
            self._pixmaps[text, kind] = pixmap
        return pixmap

    def paintEvent(self, event) -> None:
        painter = QPainter(self.viewport())
        ratio = self.devicePixelRatioF()
        if ratio != self._ratio:
            self._ratio = ratio
            self._pixmaps.clear()
        rect = event.rect()
        painter.fillRect(rect, theme().color("surface"))
        if not self._cells:
            return
        low_line = max(0, (rect.top() + self._offset() - MARGIN_Y) // PITCH)
        high_line = min(len(self._lines), (rect.bottom() + self._offset() - MARGIN_Y) // PITCH + 1)
        only, draw = self._only, painter.drawPixmap
        left, right = rect.left() - MARGIN_X, rect.right() - MARGIN_X
        for line in range(low_line, high_line):
            top = self._line_top(line)
            low, high = self._span(line)
            for i in range(low, high):
                x, width, kind = self._x[i], self._width[i], self._kind[i]
                if x + width < left or x > right:
                    continue
                if only is not None:
                    painter.setOpacity(1.0 if kind == only else DIMMED)
                draw(MARGIN_X + x, top, self._pixmap(self._shown[i], kind, width))
        painter.setOpacity(1.0)
        self._paint_rings(painter)

    def _paint_rings(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        focus = self._current if self.hasFocus() else -1
        for index, width in ((self._hovered, 1.4), (focus, 2.0), (self._pinned, 2.0)):
            if 0 <= index < len(self._cells):
                painter.setPen(QPen(theme().color("accent"), width))
                painter.drawRoundedRect(QRectF(self.rect_of(index)).adjusted(-0.5, -0.5, 0.5, 0.5), 5, 5)

    def _refresh(self, *indices: int) -> None:
        for i in indices:
            if 0 <= i < len(self._cells):
                self.viewport().update(self.rect_of(i).adjusted(-3, -3, 3, 3))

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        limit = self.viewport().width() - 2 * MARGIN_X
        if limit != self._limit:
            self._limit = limit
            self._relayout()
        else:
            self._set_range(event.oldSize().height() > 0 and self._at_bottom())
        self.scrolled.emit()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().scroll(dx, dy)  # moves the pixels: only the lines that come into view are painted
        if self._hovered >= 0:
            self._point(-1)
        self.scrolled.emit()

    # -- pointing

    @property
    def current(self) -> int:
        """The cell that a card should be about: the pinned one, else the one under mouse or keys; -1: none."""
        return self._pinned if self._pinned >= 0 else self._hovered if self._hovered >= 0 else -1

    @property
    def pinned_cell(self) -> int:
        return self._pinned

    def _point(self, index: int) -> None:
        if index != self._hovered:
            before, self._hovered = self._hovered, index
            self._refresh(before, index)
            self.pointed.emit(index)

    def pin(self, index: int) -> None:
        """Keeps a cell's card open; -1 lets go."""
        before, self._pinned = self._pinned, index
        if index >= 0:
            self._current = index
        self._refresh(before, index)
        self.pinned.emit(index)

    def focus_cell(self, index: int) -> None:
        """Moves the keyboard's cell."""
        before, self._current = self._current, index
        if self._pinned >= 0:
            self._refresh(self._pinned)
            self._pinned = -1
            self.pinned.emit(-1)
        self.reveal(index)
        self._refresh(before, index)
        self._point(index)

    def _left(self) -> None:
        self._point(-1)

    def mouseMoveEvent(self, event) -> None:
        index = self.cell_at(event.position().toPoint())
        if index >= 0:
            self._leaving.stop()
            self._point(index)
        elif self._hovered >= 0:
            self._leaving.start()

    def leaveEvent(self, event) -> None:
        self._leaving.start()
        super().leaveEvent(event)

    def mousePressEvent(self, event) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            index = self.cell_at(event.position().toPoint())
            self.pin(-1 if index == self._pinned else index)
            if index >= 0:
                self._current = index

    def focusInEvent(self, event) -> None:
        super().focusInEvent(event)
        self._refresh(self._current)

    def focusOutEvent(self, event) -> None:
        super().focusOutEvent(event)
        self._refresh(self._current)
        if not self.viewport().underMouse():
            self._point(-1)

    def keyPressEvent(self, event) -> None:
        key, count = event.key(), len(self._cells)
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif not count:
            super().keyPressEvent(event)
        elif key == Qt.Key.Key_Escape and self.current >= 0:
            self.pin(-1)
            self._point(-1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and 0 <= self._current < count:
            self.pin(-1 if self._pinned == self._current else self._current)
        elif (to := self._move(key, count)) is not None:
            self.focus_cell(to)
        else:
            super().keyPressEvent(event)

    def _move(self, key: int, count: int) -> int | None:
        """Where a key leads from the current cell; None: it isn't a moving key."""
        k = Qt.Key
        moving = (k.Key_Left, k.Key_Right, k.Key_Up, k.Key_Down, k.Key_Home, k.Key_End, k.Key_PageUp, k.Key_PageDown)
        if key not in moving:
            return None
        now = self._current
        if not 0 <= now < count:  # begin with what's in view
            line = min(max(self._offset() // PITCH, 0), len(self._lines) - 1)
            return count - 1 if key == k.Key_End else 0 if key == k.Key_Home else self._lines[line]
        if key == k.Key_Left:
            return max(now - 1, 0)
        if key == k.Key_Right:
            return min(now + 1, count - 1)
        if key == k.Key_Home:
            return 0
        if key == k.Key_End:
            return count - 1
        page = max(1, self.viewport().height() // PITCH - 1)
        step = {k.Key_Up: -1, k.Key_Down: 1, k.Key_PageUp: -page, k.Key_PageDown: page}[key]
        line = min(max(self._line_of(now) + step, 0), len(self._lines) - 1)
        low, high = self._span(line)
        return nearest_in(self._x, self._width, low, high, self._x[now] + self._width[now] // 2)

    # -- copying

    def set_copy_text(self, text: str) -> None:
        """What Ctrl+C gives, where it's better than the cells' own texts (the worker's decoding)."""
        self._copy_text = text

    def text(self) -> str:
        """The generated text in view: kept tokens, without the prompt."""
        return self._copy_text or "".join(c.text for c in self._cells if c.kept and c.kind != Kind.PROMPT)

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text())

    def contextMenuEvent(self, event) -> None:
        menu = QMenu(self)
        copy = menu.addAction(self.tr("Copy text"), self.copy)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setEnabled(bool(self._cells))
        index = self.cell_at(self.viewport().mapFromGlobal(event.globalPos()))
        if index >= 0:
            menu.addAction(self.tr("Copy this token"), lambda: QGuiApplication.clipboard().setText(self._cells[index].text))
            menu.addAction(self.tr("Explain this token"), lambda: self.pin(index))
        menu.exec(event.globalPos())
        menu.deleteLater()
