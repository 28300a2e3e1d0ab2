"""Paired bars: what was to be expected above, what came below, a row for each outcome.

Covers drawing; what the two numbers are is the caller's. A row that's off is marked by a sign and a hatch too, not by its
colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.plots.rows import RowsArea
from app.theme import mono, theme, ui_font

BAR, GAP = 9, 4  # px: a bar, and between the two of a row
PAD, SIGN = 8, 16
KEY = 24
MIDDLE = int(Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)


@dataclass(frozen=True)
class PairRow:
    """One outcome. `around`: how far the second may lie from the first by chance (drawn as a whisker), None: not at all."""

    words: str
    first: float
    second: float
    note: str = ""  # at the right: the difference, in words
    off: bool = False
    tip: str = ""
    around: float | None = None


class PairedBars(QWidget):
    """The rows with a key above: two swatches with their words, and what the column at the right says."""

    def __init__(self, name: str, show: Callable[[float], str]) -> None:
        super().__init__()
        self.key = _Key()
        self.list = _Pairs(show)
        self.list.setObjectName(name)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        box.addWidget(self.key)
        box.addWidget(self.list, 1)

    def set_words(self, title: str, first: str, second: str, note: str, *, tips: Sequence[str] = ()) -> None:
        """title: what the rows are, for those who don't see them; tips: what bars, whiskers and note mean, a line each."""
        self.list.setAccessibleName(title)
        self.list.names = (first, second)
        self.key.set(first, second, note, "\n".join(tips))

    def set_rows(self, rows: Sequence[PairRow]) -> None:
        self.list.set_rows(rows)

    @property
    def rows(self) -> list[PairRow]:
        return self.list.rows


class _Key(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._parts = ("", "", "")
        self.setFixedHeight(KEY)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set(self, first: str, second: str, note: str, tip: str) -> None:
        self._parts = (first, second, note)
        self.setToolTip(tip)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(ui_font(12))
        metrics = QFontMetricsF(ui_font(12))
        first, second, note = self._parts
        x = float(PAD)
        for words, color in ((first, "muted"), (second, "accent")):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color(color))
            painter.drawRoundedRect(QRectF(x, KEY / 2 - 4, 12, 8), 2, 2)
            painter.setPen(theme().color("text2"))
            painter.drawText(QRectF(x + 18, 0, self.width(), KEY), MIDDLE, words)
            x += 18 + metrics.horizontalAdvance(words) + 18
        end = self.width() - PAD - SIGN - 10  # over the column's right end, beside a scroll bar
        if x + metrics.horizontalAdvance(note) < end:
            painter.drawText(QRectF(0, 0, end, KEY), RIGHT, note)
        painter.end()


class _Pairs(RowsArea):
    def __init__(self, show: Callable[[float], str]) -> None:
        super().__init__()
        self.rows: list[PairRow] = []
        self.names = ("", "")
        self._show = show
        self._words, self._figures, self._notes = mono(12), mono(11), ui_font(12)

    def count(self) -> int:
        return len(self.rows)

    def set_rows(self, rows: Sequence[PairRow]) -> None:
        self.rows = list(rows)
        words, figures, notes = (QFontMetricsF(f) for f in (self._words, self._figures, self._notes))
        self._name_width = max([words.horizontalAdvance(row.words) for row in rows], default=0.0) + 14
        self._note_width = max([notes.horizontalAdvance(row.note) for row in rows], default=0.0) + 6
        values = [self._show(v) for row in rows for v in (row.first, row.second)]
        self._figure_width = max([figures.horizontalAdvance(v) for v in values], default=0.0) + 10
        self._most = max([v for row in rows for v in (row.first + (row.around or 0.0), row.second)], default=0.0) or 1.0
        self.rows_changed()

    def description(self, at: int) -> str:
        row = self.rows[at]
        pair = ", ".join(f"{name} {self._show(value)}" for name, value in zip(self.names, (row.first, row.second), strict=True))
        return ". ".join(part for part in (f"{row.words}: {pair}", row.note, row.tip) if part)

    def paint_row(self, painter: QPainter, at: int, top: float, width: float) -> None:
        color, row = theme().color, self.rows[at]
        names = min(self._name_width, 0.36 * width)
        painter.setFont(self._words)
        painter.setPen(color("text"))
        shown = QFontMetricsF(self._words).elidedText(row.words, Qt.TextElideMode.ElideRight, names - 10)
        painter.drawText(QRectF(PAD, top, names, self.pitch), MIDDLE, shown)
        start = PAD + names
        right = width - PAD - self._note_width - SIGN
        longest = max(right - start - self._figure_width, 24.0)
        upper = top + (self.pitch - 2 * BAR - GAP) / 2
        for place, value, fill in ((0, row.first, "muted"), (1, row.second, "rejected_edge" if row.off else "accent")):
            bar = QRectF(start, upper + place * (BAR + GAP), max(2.0, longest * value / self._most), BAR)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color(fill))
            painter.drawRoundedRect(bar, 2, 2)
            if place and row.off:
                light = QColor(color("surface"))
                light.setAlphaF(0.55)
                painter.setBrush(QBrush(light, Qt.BrushStyle.BDiagPattern))
                painter.drawRoundedRect(bar, 2, 2)
            end = bar.right()
            if not place and row.around:
                end = max(end, self._paint_whisker(painter, row, start, longest, bar.center().y()))
            painter.setFont(self._figures)
            painter.setPen(color("text2"))
            painter.drawText(QRectF(end + 6, bar.y() - 4, 120, BAR + 8), MIDDLE, self._show(value))
        painter.setFont(self._notes)
        painter.setPen(color("err" if row.off else "text2"))
        painter.drawText(QRectF(right, top, self._note_width, self.pitch), RIGHT, row.note)
        if row.off:
            painter.drawText(QRectF(width - PAD - SIGN, top, SIGN, self.pitch), int(Qt.AlignmentFlag.AlignCenter), "≠")

    def _paint_whisker(self, painter: QPainter, row: PairRow, start: float, longest: float, y: float) -> float:
        """How far chance reaches about the expected value; returns where it ends."""
        low, high = (start + longest * max(v, 0.0) / self._most for v in (row.first - row.around, row.first + row.around))
        painter.setPen(QPen(theme().color("text"), 1.2))
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        for x in (low, high):
            painter.drawLine(QPointF(x, y - 3), QPointF(x, y + 3))
        return high
