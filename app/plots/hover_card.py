"""The card that says a point's figures: painted over a plot, beside the point, with a soft shadow."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app.theme import SEMIBOLD, numbers, theme, ui_font


def draw_card(
    painter: QPainter,
    room: QRectF,
    area: QRectF,
    at: QPointF,
    title: str,
    kind: str,
    rows: list[tuple[str, str, str]],
    notes: list[str],
) -> None:
    """Beside `at`, inside `room` (the widget), and rather over `area` (the data) than over the axes.

    rows: (what, figure, change); notes: sentences beneath, wrapped.
    """
    t = theme()
    big, small, figures, fine = ui_font(13, SEMIBOLD), ui_font(12), numbers(13, 500), numbers(12)
    mb, ms, mf, mn = (QFontMetricsF(f) for f in (big, small, figures, fine))
    first = max(ms.horizontalAdvance(r[0]) for r in rows)
    second = max(mf.horizontalAdvance(r[1]) for r in rows)
    third = max(mn.horizontalAdvance(r[2]) for r in rows)
    most = min(room.width() - 16.0, 340.0)
    wide = min(most, max(first + second + third + 34, mb.horizontalAdvance(title), ms.horizontalAdvance(kind), 150) + 26)
    bounds = [ms.boundingRect(QRectF(0, 0, wide - 24, 200), int(Qt.TextFlag.TextWordWrap), n) for n in notes]
    high = 50 + 19 * len(rows) + sum(b.height() + 5 for b in bounds) + 8
    left, most_left = at.x() + 18, room.width() - wide - 6.0
    if left > most_left + 0.4 * wide and at.x() - 18 - wide >= area.left():
        left = at.x() - 18 - wide
    left = min(max(left, 6.0), most_left)
    top = min(max(at.y() + 16, 6.0), room.height() - high - 6.0)
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
