"""The card of a token: what became of it, why in words and numbers, and what draft and target thought.

Covers the sentences (`reason_text`, `kind_word`) and the painting; the numbers come from app.decode_run.explain. The same
words are the card's accessible description, so that nothing is told by the picture alone.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from app.decode_run import Facts, Kind, visible
from app.theme import SEMIBOLD, mono, theme, ui_font
from app.token_flow import COLORS

WIDTH, PAD = 312, 14
ROW, BAR = 30, 6  # a token's pair of bars; one bar's height
BARS = 5
NAMES = 78  # width of the column of token names
translate = QCoreApplication.translate


def number(x: float) -> str:
    """A probability as the card writes it: two decimals, more where that would read as nothing."""
    if x >= 0.005 or x == 0:
        return f"{x:.2f}"
    return f"{x:.1g}" if x >= 1e-4 else f"{x:.0e}".replace("e-0", "e-").replace("-", "\u2212")


def ratio(x: float, u: float | None = None) -> str:
    """A ratio with enough decimals to tell it from `u`."""
    if x < 0.005:
        return number(x)
    places = 2
    while u is not None and places < 6 and f"{x:.{places}f}" == f"{u:.{places}f}":
        places += 1
    return f"{x:.{places}f}"


def quoted(text: str) -> str:
    return f"\u201c{visible(text.strip(' ') or text)}\u201d"


def kind_word(kind: Kind) -> str:
    """A verdict in one word, as in the legend."""
    return {
        Kind.PROMPT: translate("token_card", "prompt"),
        Kind.PLAIN: translate("token_card", "plain"),
        Kind.ACCEPTED: translate("token_card", "accepted"),
        Kind.REJECTED: translate("token_card", "rejected"),
        Kind.CORRECTED: translate("token_card", "corrected"),
        Kind.BONUS: translate("token_card", "bonus"),
        Kind.UNTESTED: translate("token_card", "untested"),
        Kind.GUESSED: translate("token_card", "guessed"),
    }[kind]


def kind_hint(kind: Kind) -> str:
    """What a verdict means, for the legend."""
    return {
        Kind.PROMPT: translate("token_card", "What you wrote."),
        Kind.PLAIN: translate("token_card", "Written by the target alone: nothing was drafted."),
        Kind.ACCEPTED: translate("token_card", "Guessed by the draft and kept by the target, which scored the whole guess in one call."),
        Kind.REJECTED: translate("token_card", "Guessed by the draft and dropped by the target. It's no part of the text."),
        Kind.CORRECTED: translate("token_card", "What the target put in place of a dropped token."),
        Kind.BONUS: translate("token_card", "The whole guess was kept, so the same call gave one more token."),
        Kind.UNTESTED: translate("token_card", "Guessed, but not looked at, since an earlier token of the guess was dropped."),
        Kind.GUESSED: translate("token_card", "Guessed by the draft; the target is asked at the next step."),
    }[kind]


def reason_text(facts: Facts) -> str:
    """Why a token fared as it did, in words and numbers."""
    v = facts.values
    u, p, q, r = (v.get(name) for name in ("u", "p", "q", "ratio"))
    say = {
        "prompt": translate("token_card", "part of the prompt"),
        "plain": translate("token_card", "written by the target alone: nothing was drafted in this round"),
        "kept-ratio": translate("token_card", "kept: u = {u} \u2264 q/p = {ratio}"),
        "kept-sure": translate("token_card", "kept for sure: the target likes it at least as much, q = {q} \u2265 p = {p}"),
        "kept-point": translate("token_card", "kept: u = {u} \u2264 q = {q} (this draft has no probabilities)"),
        "kept-greedy": translate("token_card", "kept: it's the target's first choice as well ({q})"),
        "kept-greedy-bare": translate("token_card", "kept: it's the target's first choice as well"),
        "dropped-ratio": translate("token_card", "dropped: u = {u} > q/p = {ratio}"),
        "dropped-point": translate("token_card", "dropped: u = {u} > q = {q} (this draft has no probabilities)"),
        "dropped-greedy": translate("token_card", "dropped: the target prefers {other} ({q})"),
        "dropped-greedy-bare": translate("token_card", "dropped: the target prefers {other}"),
        "dropped-bare": translate("token_card", "dropped by the target"),
        "guessed": translate("token_card", "guessed with probability p = {p}; the target hasn't been asked yet")
        if p is not None
        else translate("token_card", "guessed; the target hasn't been asked yet"),
        "kept-block": translate("token_card", "kept: the block holds up to here, u = {u} \u2264 {chance}"),
        "kept-block-with": translate("token_card", "kept with a later one: the block was judged as a whole"),
        "dropped-block": translate("token_card", "dropped: the block doesn't hold up to here, u = {u} > {chance}"),
        "dropped-block-bare": translate("token_card", "dropped: the block doesn't hold up to here"),
        "kept-tree": translate("token_card", "kept: the target chose it, and it's among the tree's candidates (q = {q}, candidate {rank})"),
        "dropped-tree": translate("token_card", "dropped: the target chose {other}, which isn't among the tree's candidates"),
        "kept-typical": translate("token_card", "kept: q = {q} is above what typical acceptance asks here, {bar}"),
        "kept-typical-bare": translate("token_card", "kept by typical acceptance: it's the target's first choice"),
        "dropped-typical": translate("token_card", "dropped: q = {q} is below what typical acceptance asks here, {bar}"),
        "dropped-typical-bare": translate("token_card", "dropped by typical acceptance"),
        "kept-top": translate("token_card", "kept: it's among the target's {k} likeliest (q = {q})"),
        "dropped-top": translate("token_card", "dropped: it isn't among the target's {k} likeliest (q = {q})"),
        "untested": translate("token_card", "not looked at: an earlier token of the round was dropped"),
        "untested-end": translate("token_card", "not used: the text had ended before it"),
        "corrected-greedy": translate("token_card", "put in place of {other}: the target's first choice ({q})"),
        "corrected-greedy-bare": translate("token_card", "put in place of {other}: the target's first choice"),
        "corrected-drawn": translate("token_card", "put in place of {other}: drawn from what the target gives more than the draft"),
        "corrected-point": translate("token_card", "put in place of {other}: drawn from all the target's other tokens"),
        "corrected-block": translate("token_card", "put in place of {other}: drawn from what the block left of the target's probability"),
        "corrected-tree": translate("token_card", "the target's own choice; the tree had no branch for it"),
        "corrected-lossy": translate("token_card", "put in place of {other}: chosen by the target itself"),
        "bonus": translate("token_card", "one more for nothing: all {n} guesses were kept, and the same call had scored this place too"),
    }[facts.reason]
    return say.format(
        u=ratio(u, next((x for x in (r, q, v.get("chance")) if x is not None), None)) if u is not None else "",
        ratio=ratio(r, u) if r is not None else "",
        p=number(p) if p is not None else "",
        q=(ratio(q, u) if u is not None else number(q)) if q is not None else "",
        other=quoted(v["other"]) if v.get("other") else translate("token_card", "another token"),
        n=v.get("n", ""),
        chance=ratio(v["chance"], u) if v.get("chance") is not None else "",
        k=v.get("k", ""),
        rank=v.get("rank", ""),
        bar=number(v["bar"]) if v.get("bar") is not None else "",
    )


def facts_text(facts: Facts) -> list[str]:
    """The small print: alpha, entropies, margin; only what was measured."""
    out = []
    if facts.alpha is not None:
        out.append(translate("token_card", "\u03b1 {alpha}").format(alpha=number(facts.alpha)))
    if facts.draft_entropy is not None and facts.target_entropy is not None:
        template = translate("token_card", "entropy {draft} draft, {target} target")
        out.append(template.format(draft=f"{facts.draft_entropy:.2f}", target=f"{facts.target_entropy:.2f}"))
    elif facts.target_entropy is not None:
        out.append(translate("token_card", "entropy {target} target").format(target=f"{facts.target_entropy:.2f}"))
    if facts.branch:
        out.append(translate("token_card", "candidate {n} of its place").format(n=facts.branch + 1))
    if facts.distance is not None:
        out.append(translate("token_card", "{distance} from the target's law").format(distance=number(facts.distance)))
    return out


def place_text(facts: Facts) -> str:
    if not facts.round:
        return translate("token_card", "place {position}").format(position=facts.position + 1)
    text = translate("token_card", "round {round} \u00b7 place {position}").format(round=facts.round, position=facts.position + 1)
    if facts.margin is not None:
        text += " \u00b7 " + translate("token_card", "first leads second by {margin}").format(margin=number(facts.margin))
    return text


class TokenCard(QWidget):
    """Floats over the flow. A child of the view, not a window of its own, so it's in every screenshot and under no manager."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(self.tr("Why this token"))
        self._facts: Facts | None = None
        self._pinned = False
        self._body, self._bold, self._small = ui_font(12), ui_font(13, SEMIBOLD), ui_font(11)
        self._title, self._names, self._figures = mono(14), mono(12), mono(11)
        self.hide()
        theme().changed.connect(self.update)

    @property
    def facts(self) -> Facts | None:
        return self._facts

    def show_facts(self, facts: Facts, beside: QRect, within: QRect, pinned: bool) -> None:
        """beside: the cell, within: where the card may be, both in the parent's coordinates."""
        self._facts, self._pinned = facts, pinned
        self.setAccessibleDescription(self.description())
        size = self._layout()
        self.resize(size)
        self.move(placed(size, beside, within))
        self.show()
        self.raise_()
        self.update()

    def description(self) -> str:
        """Everything on the card as one text."""
        facts = self._facts
        if facts is None:
            return ""
        rows = [self._row_words(row) for row in self._rows()]
        return ". ".join(
            [f"{quoted(facts.text)} {kind_word(facts.kind)}", reason_text(facts), *rows, *facts_text(facts), place_text(facts)]
        )

    def _row_words(self, row) -> str:
        if row.draft is None:
            words = translate("token_card", "{token}: target {q}").format(token=quoted(row.text), q=number(row.target))
        else:
            template = translate("token_card", "{token}: draft {p}, target {q}")
            words = template.format(token=quoted(row.text), p=number(row.draft), q=number(row.target))
        if row.residual is not None:
            words += translate("token_card", ", left over {r}").format(r=number(row.residual))
        return words

    def _rows(self):
        """The five likeliest of either; the token itself always among them."""
        facts = self._facts
        rows = sorted(facts.bars, key=lambda row: -max(row.target, row.draft or 0.0, row.residual or 0.0))
        picked = rows[:BARS]
        own = next((row for row in rows if row.id == facts.bold), None)
        if own is not None and own not in picked:
            picked[-1] = own
        return picked

    # -- measuring

    def _wrapped(self, text: str, font: QFont) -> float:
        flags = int(Qt.TextFlag.TextWordWrap)
        return QFontMetricsF(font).boundingRect(QRectF(0, 0, WIDTH - 2 * PAD, 1000), flags, text).height()

    def _small_print(self) -> str:
        lines = ["  \u00b7  ".join(facts_text(self._facts)), place_text(self._facts)]
        return "\n".join(line for line in lines if line)

    def _layout(self) -> QSize:
        rows = self._rows()
        height = PAD + 22 + 6 + self._wrapped(reason_text(self._facts), self._body)
        if rows:
            height += 10 + _pitch(rows) * len(rows) + 4 + 16
        height += 8 + self._wrapped(self._small_print(), self._small)
        if self._pinned:
            height += 17
        return QSize(WIDTH + 2 * SHADOW, round(height + PAD) + 2 * SHADOW)

    # -- painting

    def paintEvent(self, event) -> None:
        facts = self._facts
        if facts is None:
            return
        color = theme().color
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(SHADOW, SHADOW, -SHADOW, -SHADOW)
        _paint_shadow(painter, frame)
        painter.setPen(QPen(color("accent" if self._pinned else "border_strong"), 1))
        painter.setBrush(color("surface"))
        painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        left, top, width = frame.left() + PAD, frame.top() + PAD, WIDTH - 2 * PAD

        chip = self._paint_chip(painter, left + width, top, facts.kind)
        painter.setFont(self._title)
        painter.setPen(color("text"))
        title = QFontMetricsF(self._title).elidedText(f"\u201c{visible(facts.text)}\u201d", Qt.TextElideMode.ElideMiddle, width - chip - 10)
        painter.drawText(QRectF(left, top, width - chip - 10, 22), int(Qt.AlignmentFlag.AlignVCenter), title)
        top += 22 + 6

        reason = reason_text(facts)
        height = self._wrapped(reason, self._body)
        painter.setFont(self._body)
        painter.drawText(QRectF(left, top, width, height + 1), int(Qt.TextFlag.TextWordWrap), reason)
        top += height

        rows = self._rows()
        if rows:
            top += 10
            self._paint_rows(painter, rows, left, top, width)
            top += _pitch(rows) * len(rows) + 4
            self._paint_key(painter, left, top, rows)
            top += 16
        top += 8
        small = self._small_print()
        painter.setFont(self._small)
        painter.setPen(color("muted"))
        painter.drawText(QRectF(left, top, width, frame.bottom() - top), int(Qt.TextFlag.TextWordWrap), small)
        if self._pinned:
            painter.setPen(color("on_soft"))
            at = QRectF(left, frame.bottom() - PAD - 13, width, 15)
            painter.drawText(at, int(Qt.AlignmentFlag.AlignLeft), translate("token_card", "Pinned. Esc or a click closes it."))

    def _paint_chip(self, painter: QPainter, right: float, top: float, kind: Kind) -> float:
        """The verdict's word at the right; returns its width."""
        fill, edge, ink = COLORS[kind]
        font = ui_font(11, SEMIBOLD)
        width = QFontMetricsF(font).horizontalAdvance(kind_word(kind)) + 16
        rect = QRectF(right - width, top + 1, width, 19)
        pen = QPen(theme().color(edge or "border_strong"), 1)
        if kind == Kind.UNTESTED:
            pen.setDashPattern([2.5, 2.5])
        painter.setPen(pen)
        painter.setBrush(theme().color(fill) if fill else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), 9, 9)
        painter.setFont(font)
        painter.setPen(theme().color(ink))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, kind_word(kind))
        return width

    def _paint_rows(self, painter: QPainter, rows, left: float, top: float, width: float) -> None:
        color, names = theme().color, QFontMetricsF(self._names)
        start, longest = left + NAMES, width - NAMES - 44
        most = max(max(row.target, row.draft or 0.0, row.residual or 0.0) for row in rows) or 1.0
        pitch = _pitch(rows)
        for i, row in enumerate(rows):
            y = top + i * pitch
            own = row.id == self._facts.bold
            font = QFont(self._names)
            if own:
                font.setWeight(SEMIBOLD)
            painter.setFont(font)
            painter.setPen(color("text" if own else "text2"))
            name = names.elidedText(visible(row.text.removeprefix(" ") or row.text), Qt.TextElideMode.ElideRight, NAMES - 10)
            painter.drawText(QRectF(left, y, NAMES - 8, pitch - 6), int(Qt.AlignmentFlag.AlignVCenter), name)
            pair = [(row.target, "accent")] if row.draft is None else [(row.draft, "muted"), (row.target, "accent")]
            if row.residual is not None:
                pair.append((row.residual, "bonus_edge"))
            first = y + max(3.0, (pitch - 6 - (BAR + 5) * len(pair) + 5) / 2)
            for j, (value, fill) in enumerate(pair):
                bar = QRectF(start, first + j * (BAR + 5), max(2.0, longest * value / most), BAR)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(color(fill))
                painter.drawRoundedRect(bar, 2, 2)
                painter.setFont(self._figures)
                painter.setPen(color("text2"))
                at = QRectF(bar.right() + 6, bar.center().y() - 8, 60, 16)
                painter.drawText(at, int(Qt.AlignmentFlag.AlignVCenter), number(value))

    def _paint_key(self, painter: QPainter, left: float, top: float, rows) -> None:
        entries = [(translate("token_card", "target q(x)"), "accent")]
        if any(row.residual is not None for row in rows):
            entries.append((translate("token_card", "left over (q\u2212p)\u207a"), "bonus_edge"))
        if any(row.draft is not None for row in rows):
            entries.insert(0, (translate("token_card", "draft p(x)"), "muted"))
        painter.setFont(self._small)
        for words, fill in entries:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme().color(fill))
            painter.drawRoundedRect(QRectF(left, top + 4, 9, 7), 2, 2)
            painter.setPen(theme().color("text2"))
            width = QFontMetricsF(self._small).horizontalAdvance(words)
            painter.drawText(QRectF(left + 14, top, width + 4, 16), int(Qt.AlignmentFlag.AlignVCenter), words)
            left += 14 + width + 18


def _pitch(rows) -> int:
    """From one token's bars to the next one's: a third bar needs more room."""
    return ROW + BAR + 5 if any(row.residual is not None and row.draft is not None for row in rows) else ROW


SHADOW = 8


def _paint_shadow(painter: QPainter, frame: QRectF) -> None:
    """A soft edge under the card, from a few rounded outlines; cheaper than a graphics effect."""
    painter.setPen(Qt.PenStyle.NoPen)
    strength = 16 if theme().dark else 5
    for grow in range(SHADOW - 1, 0, -1):
        path = QPainterPath()
        path.addRoundedRect(frame.adjusted(-grow, -grow + 2, grow, grow + 1), 8 + grow, 8 + grow)
        painter.setBrush(QColor(0, 0, 0, strength))
        painter.drawPath(path)


def placed(size: QSize, beside: QRect, within: QRect) -> QPoint:
    """Below a cell; above it or beside it where there's no room. The cell stays in sight, and the card inside `within`."""
    low_x, high_x = within.left() - SHADOW, within.right() + SHADOW - size.width()
    low_y, high_y = within.top() - SHADOW, within.bottom() + SHADOW - size.height()
    x, below = beside.left() - SHADOW - 4, beside.bottom() + 6 - SHADOW
    above = beside.top() - 6 + SHADOW - size.height()
    y = below if below <= high_y else above
    if y < low_y:  # neither fits: to the right, else to the left
        right = beside.right() + 8 - SHADOW
        x = right if right <= high_x else beside.left() - 8 + SHADOW - size.width()
        y = below
    return QPoint(max(low_x, min(x, high_x)), max(low_y, min(y, high_y)))
