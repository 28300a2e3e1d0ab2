"""The picture of the acceptance rule, for one token: what of the draft's guesses is kept, what's dropped, and how it's made good.

Covers drawing. Of each word: kept min(p, q), upon it what corrections bring; the draft's excess over the target dashed beside,
and the target's own probability as a line across, which the kept and the corrected must reach exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.theme import SEMIBOLD, mono, theme, ui_font

translate = QCoreApplication.translate
CENTER = int(Qt.AlignmentFlag.AlignCenter)
MIDDLE = int(Qt.AlignmentFlag.AlignVCenter)
BOTTOM, KEY = 22, 24


class OverlapPlot(QWidget):
    """target, draft: laws of the same words. corrected: what corrections bring to each word; None: what the rule says, (q - p)+."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("overlap")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(120)
        self.words: list[str] = []
        self.target: list[float] = []
        self.draft: list[float] = []
        self.corrected: list[float] = []
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(380, 240)

    def set_laws(self, words: Sequence[str], target: Sequence[float], draft: Sequence[float], corrected: Sequence[float] | None) -> None:
        self.words, self.target, self.draft = list(words), list(target), list(draft)
        own = [max(q - p, 0.0) for q, p in zip(target, draft, strict=True)]
        self.corrected = list(corrected) if corrected is not None else own
        self.setAccessibleName(translate("overlap", "What's kept and what's made good, for the first token"))
        self.setAccessibleDescription(" ".join(self.sentences()))
        self.setToolTip("\n".join(self.sentences()))
        self.update()

    @property
    def kept(self) -> list[float]:
        return [min(q, p) for q, p in zip(self.target, self.draft, strict=True)]

    @property
    def alpha(self) -> float:
        return sum(self.kept)

    def sentences(self) -> list[str]:
        template = translate("overlap", "{word}: draft {p}, target {q}; kept {kept}, corrected {corrected}.")
        rows = zip(self.words, self.draft, self.target, self.kept, self.corrected, strict=True)
        return [template.format(word=w, p=f"{p:.3f}", q=f"{q:.3f}", kept=f"{k:.3f}", corrected=f"{c:.3f}") for w, p, q, k, c in rows]

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.words:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_key(painter)
        area = QRectF(8, KEY + 10, self.width() - 16, self.height() - KEY - 10 - BOTTOM)
        most = max([*self.draft, *self.target, *(k + c for k, c in zip(self.kept, self.corrected, strict=True))]) * 1.12
        slot = area.width() / len(self.words)
        wide = min(64.0, 0.42 * slot)
        for i in range(len(self.words)):
            self._paint_word(painter, i, area, area.left() + (i + 0.5) * slot, wide, most)
        painter.setPen(QPen(theme().color("border_strong"), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.end()

    def _paint_word(self, painter: QPainter, at: int, area: QRectF, middle: float, wide: float, most: float) -> None:
        color = theme().color
        q, p, kept, corrected = self.target[at], self.draft[at], self.kept[at], self.corrected[at]
        left, ground, scale = middle - wide / 2, area.bottom(), area.height() / most

        def block(low: float, high: float) -> QRectF:
            return QRectF(left, ground - high * scale, wide, (high - low) * scale)

        painter.setPen(QPen(color("accepted_edge"), 1))
        painter.setBrush(color("accepted_fill"))
        painter.drawRect(block(0, kept))
        self._figure(painter, block(0, kept), kept, "accepted_text")
        if corrected > 1e-9:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color("corrected_fill"))
            painter.drawRect(block(kept, kept + corrected))
            self._figure(painter, block(kept, kept + corrected), corrected, "corrected_text")
        if p - q > 1e-9:  # beside, where a correction stands upon what's kept
            dropped = block(kept, p)
            if corrected > 1e-9:
                dropped = QRectF(dropped.left() - wide * 0.44, dropped.top(), wide * 0.4, dropped.height())
            pen = QPen(color("rejected_edge"), 1.2)
            pen.setDashPattern([3, 2])
            painter.setPen(pen)
            hatch = QColor(color("rejected_edge"))
            hatch.setAlphaF(0.5)
            painter.setBrush(QBrush(hatch, Qt.BrushStyle.BDiagPattern))
            painter.drawRect(dropped)
            if corrected <= 1e-9:
                self._figure(painter, dropped, p - q, "rejected_text", strike=True)
        y = ground - q * scale
        painter.setPen(QPen(color("text"), 2))
        painter.drawLine(QPointF(left - 8, y), QPointF(left + wide + 8, y))
        painter.setFont(ui_font(11, SEMIBOLD))
        painter.setPen(color("text"))
        painter.drawText(QRectF(left + wide + 11, y - 8, 60, 16), MIDDLE, f"q {q:.2f}")
        painter.setFont(mono(12))
        painter.drawText(QRectF(middle - 40, ground + 3, 80, BOTTOM - 4), CENTER, self.words[at])

    def _figure(self, painter: QPainter, room: QRectF, value: float, color: str, *, strike: bool = False) -> None:
        font = mono(11)
        font.setStrikeOut(strike)
        if room.height() < 15:
            return
        painter.setFont(font)
        painter.setPen(theme().color(color))
        words = f"{value:.2f}"
        if strike:  # on its own ground, the hatch would make it hard to read
            width = QFontMetricsF(font).horizontalAdvance(words) + 6
            behind = QRectF(room.center().x() - width / 2, room.center().y() - 7, width, 14)
            painter.fillRect(behind, theme().color("rejected_fill"))
        painter.drawText(room, CENTER, words)

    def _paint_key(self, painter: QPainter) -> None:
        color = theme().color
        entries = (
            ("accepted", translate("overlap", "kept, min(p, q)")),
            ("rejected", translate("overlap", "dropped, p − q")),
            ("corrected", translate("overlap", "made good by corrections")),
            ("target", translate("overlap", "the target's own q")),
        )
        metrics, x = QFontMetricsF(ui_font(12)), 8.0
        for kind, words in entries:
            width = metrics.horizontalAdvance(words)
            if x + 20 + width > self.width():
                break
            box = QRectF(x, KEY / 2 - 5, 14, 10)
            if kind == "target":
                painter.setPen(QPen(color("text"), 2))
                painter.drawLine(QPointF(x, KEY / 2), QPointF(x + 14, KEY / 2))
            else:
                pen = QPen(color(f"{kind}_edge"), 1)
                brush = QBrush(color(f"{kind}_fill"))
                if kind == "rejected":
                    pen.setDashPattern([3, 2])
                    brush = QBrush(color("rejected_edge"), Qt.BrushStyle.BDiagPattern)
                painter.setPen(pen)
                painter.setBrush(brush)
                painter.drawRect(box)
            painter.setFont(ui_font(12))
            painter.setPen(color("text2"))
            painter.drawText(QRectF(x + 20, 0, width + 2, KEY), MIDDLE, words)
            x += 20 + width + 16
