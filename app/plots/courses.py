"""The courses that a round can take, one a row: what was guessed and what came of each guess, what was written, how likely that is.

Covers drawing; tokens look as they do in the token flow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.decode_run import Kind
from app.plots.rows import RowsArea
from app.theme import mono, theme, ui_font
from app.token_card import kind_word
from app.token_flow import paint_cell

CELL, STEP, HIGH = 24.0, 27.0, 21.0  # px: a token's width, from one to the next, its height
PAD, BAR = 8.0, 9.0
MIDDLE = int(Qt.AlignmentFlag.AlignVCenter)
translate = QCoreApplication.translate


@dataclass(frozen=True)
class Course:
    """cells: (text, what became of it), the target's own token last; written: the text of the round; chance: 0 to 1."""

    cells: tuple[tuple[str, Kind], ...]
    written: str
    chance: float


class Courses(QWidget):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.key = _Key()
        self.list = _Courses()
        self.list.setObjectName(name)
        self.list.setAccessibleName(translate("courses", "Courses that the first round can take"))
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        box.addWidget(self.key)
        box.addWidget(self.list, 1)

    def set_courses(self, courses: Sequence[Course]) -> None:
        self.list.set_courses(courses)
        self.key.set_kinds({kind for course in courses for _, kind in course.cells})

    @property
    def courses(self) -> list[Course]:
        return self.list.courses


class _Key(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._kinds: list[Kind] = []
        self.setFixedHeight(24)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set_kinds(self, kinds: set[Kind]) -> None:
        self._kinds = [k for k in (Kind.ACCEPTED, Kind.REJECTED, Kind.UNTESTED, Kind.CORRECTED, Kind.BONUS, Kind.PLAIN) if k in kinds]
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        metrics, x = QFontMetricsF(ui_font(12)), PAD
        for kind in self._kinds:
            words = kind_word(kind)
            width = metrics.horizontalAdvance(words)
            if x + 22 + width > self.width():
                break
            painter.setFont(mono(9))
            paint_cell(painter, QRectF(x, 6, 17, 12), "", kind)
            painter.setFont(ui_font(12))
            painter.setPen(theme().color("text2"))
            painter.drawText(QRectF(x + 22, 0, width + 2, 24), MIDDLE, words)
            x += 22 + width + 14
        painter.end()


class _Courses(RowsArea):
    pitch = 30

    def __init__(self) -> None:
        super().__init__()
        self.courses: list[Course] = []
        self._names, self._figures = mono(12), mono(11)

    def count(self) -> int:
        return len(self.courses)

    def set_courses(self, courses: Sequence[Course]) -> None:
        self.courses = sorted(courses, key=lambda c: -c.chance)
        self._longest = max([len(c.cells) for c in courses], default=1)
        self._written = max([QFontMetricsF(self._names).horizontalAdvance(c.written) for c in courses], default=0.0) + 6
        self._most = max([c.chance for c in courses], default=1.0) or 1.0
        self.rows_changed()

    def description(self, at: int) -> str:
        course = self.courses[at]
        cells = ", ".join(f"{text} {kind_word(kind)}" for text, kind in course.cells)
        template = translate("courses", "{cells}. Written: {text}. Probability {chance}.")
        return template.format(cells=cells, text=course.written, chance=f"{course.chance:.4f}")

    def paint_row(self, painter: QPainter, at: int, top: float, width: float) -> None:
        course, x = self.courses[at], PAD
        for text, kind in course.cells:
            painter.setFont(self._names)
            paint_cell(painter, QRectF(x, top + (self.pitch - HIGH) / 2, CELL, HIGH), text, kind)
            x += STEP
        start = PAD + self._longest * STEP + 6
        painter.setFont(self._figures)
        painter.setPen(theme().color("muted"))
        painter.drawText(QRectF(start, top, 20, self.pitch), MIDDLE, "→")
        painter.setFont(self._names)
        painter.setPen(theme().color("text"))
        painter.drawText(QRectF(start + 20, top, self._written, self.pitch), MIDDLE, course.written)
        start += 20 + self._written + 8
        longest = max(width - start - 70, 16.0)
        bar = QRectF(start, top + (self.pitch - BAR) / 2, max(2.0, longest * course.chance / self._most), BAR)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().color("accent"))
        painter.drawRoundedRect(bar, 2, 2)
        painter.setFont(self._figures)
        painter.setPen(theme().color("text2"))
        painter.drawText(QRectF(bar.right() + 6, top, 64, self.pitch), MIDDLE, f"{course.chance:.4f}")
