"""The rules that the teaching view compares, in words: what each is called and what it does; and the list to choose from.

Covers words and the list's drawing; what a rule does to the texts' law is worked out by the worker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.text import fmt_number
from app.theme import SEMIBOLD, theme, ui_font
from app.widgets import label

ROUNDING = 1e-12  # total variation below this is floating point's
_translate = QCoreApplication.translate


def rule_title(rule: str) -> str:
    tr = _translate
    return {
        "token": tr("toy_rules", "Token by token"),
        "block": tr("toy_rules", "Block verification"),
        "tree": tr("toy_rules", "Tree of guesses"),
        "typical": tr("toy_rules", "Typical acceptance"),
        "top-k": tr("toy_rules", "Top-k acceptance"),
        "softmax-ratio": tr("toy_rules", "Argmax as a draw"),
        "discard": tr("toy_rules", "Unsure discarded"),
        "resample": tr("toy_rules", "Correction from q"),
    }[rule]


def rule_words(rule: str) -> str:
    """What the rule does, and why it's exact or isn't. q is the target's law of the next token, p the draft's."""
    tr = _translate
    return {
        "token": tr(
            "toy_rules",
            "A guess x is kept with probability min(1, q(x)/p(x)). The first one dropped is replaced by a draw from what the draft left "
            "over, (q − p)⁺ scaled to 1. Kept and made good add up to q, whatever p is.",
        ),
        "block": tr(
            "toy_rules",
            "The guesses are judged together, by the ratio of their joint probabilities, and the longest beginning that it allows is kept. "
            "At least as many are kept as token by token, and the law is the same (Sun et al. 2024).",
        ),
        "tree": tr(
            "toy_rules",
            "The draft's two likeliest tokens stand at each depth. The target draws from q: where its token is among them the walk goes on "
            "from there, where not, that token ends the round. So every token is a draw from q.",
        ),
        "typical": tr(
            "toy_rules",
            "A guess is kept where q(x) is above a threshold that sinks as the target gets less sure. More is kept, but how often a "
            "word comes depends on the draft too (Cai et al. 2024).",
        ),
        "top-k": tr(
            "toy_rules",
            "A guess is kept where it's among the target's k likeliest, however unlikely it ought to be. More is kept, "
            "and the draft's taste shows in the text.",
        ),
        "softmax-ratio": tr(
            "toy_rules",
            "The draft takes its likeliest token, yet the ratio is taken as if it had drawn it by chance. What's certain has p(x) = 1: "
            "with less in its place too much is kept (transformers issue 32867).",
        ),
        "discard": tr(
            "toy_rules",
            "The draft stops where it's unsure of the token that it drew, and throws that token away. What remains isn't a draw from p any "
            "more. Stopping and keeping the token would be exact.",
        ),
        "resample": tr(
            "toy_rules",
            "After a dropped guess the correction is drawn from q itself, not from (q − p)⁺. Words that the draft likes then come "
            "too often: as guesses, and as corrections once more.",
        ),
    }[rule]


class RuleList(QWidget):
    """Groups of rules, one of them chosen. Up and Down go from one to the next, across groups."""

    chosen = Signal(str)

    def __init__(self, groups: Sequence[tuple[str, str, Sequence[str]]]):
        """groups: (title, what they have in common, rules)."""
        super().__init__()
        self.shown_in: QScrollArea | None = None
        self.buttons: dict[str, RuleButton] = {}
        self._group = QButtonGroup(self)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        for title, tip, rules in groups:
            head = label(title, "muted")
            head.setToolTip(tip)
            head.setContentsMargins(8, 3, 0, 1)
            box.addWidget(head)
            for rule in rules:
                part = RuleButton(rule_title(rule))
                part.setObjectName(f"rule_{rule}")
                part.setToolTip(f"{rule_words(rule)}\n{tip}")
                part.setAccessibleDescription(f"{title}. {tip}")
                part.toggled.connect(lambda on, rule=rule: on and self._chosen(rule))
                self._group.addButton(part)
                self.buttons[rule] = part
                box.addWidget(part)
        box.addStretch(1)
        first = next(iter(self.buttons.values()))
        self.setFocusProxy(first)
        was = self.blockSignals(True)
        first.setChecked(True)
        self.blockSignals(was)

    @property
    def current(self) -> str:
        return next(rule for rule, part in self.buttons.items() if part.isChecked())

    def choose(self, rule: str) -> None:
        self.buttons[rule].setChecked(True)

    def _chosen(self, rule: str) -> None:
        self.setFocusProxy(self.buttons[rule])
        if self.shown_in is not None:
            self.shown_in.ensureWidgetVisible(self.buttons[rule], 0, 4)
        self.chosen.emit(rule)

    def mark(self, known: Mapping[str, float]) -> None:
        """The total variation of the rules that it's known of."""
        for rule, part in self.buttons.items():
            part.set_distance(known.get(rule))


class RuleButton(QAbstractButton):
    """A rule's name, and at the right its distance from the target's law once it's known."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.setText(title)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.distance: float | None = None
        self.setAccessibleName(title)
        theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(160, 25)

    def set_distance(self, distance: float | None) -> None:
        if distance != self.distance:
            self.distance = distance
            name = self.text()
            if distance is not None:
                name = _translate("toy_rules", "{rule}: total variation {tv}").format(rule=name, tv=self.figure())
            self.setAccessibleName(name)
            self.update()

    def figure(self) -> str:
        if self.distance is None:
            return ""
        return "0" if self.distance < ROUNDING else fmt_number(self.distance, 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        color, painter = theme().color, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        on = self.isChecked()
        painter.setPen(QPen(color("accent"), 1) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(color("accent_soft") if on else color("surface2") if self.underMouse() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, 6, 6)
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color("accent"))
            painter.drawRoundedRect(QRectF(0, 5, 3, self.height() - 10), 1.5, 1.5)
        figure = self.figure()
        font = ui_font(12, SEMIBOLD)
        width = QFontMetricsF(font).horizontalAdvance(f"{figure} ≠") + 2 if figure else 0.0
        painter.setFont(ui_font(13, SEMIBOLD if on else 400))
        painter.setPen(color("on_soft" if on else "text"))
        title = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, round(self.width() - width - 20))
        painter.drawText(frame.adjusted(10, 0, -8, 0), int(Qt.AlignmentFlag.AlignVCenter), title)
        if figure:
            exact = figure == "0"
            painter.setFont(font)
            painter.setPen(color("ok" if exact else "err"))
            painter.drawText(
                frame.adjusted(0, 0, -8, 0),
                int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight),
                figure + (" ✓" if exact else " ≠"),
            )
        painter.end()
