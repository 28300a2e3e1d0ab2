"""How it works: the engine on a toy model, with every random choice followed to its end, so that exactness is seen, not tested.

Covers the rules to choose from, right ones and wrong ones, what each does in words and pictures, and how far its texts' law is
from the target's. The counting is the worker's (EnumerateSpec, a light job: it takes no models and no workspace).
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.decode_run import Kind
from app.forms import calm_wheel
from app.plots.courses import Course, Courses
from app.plots.overlap import OverlapPlot
from app.plots.pairs import PairedBars, PairRow
from app.text import MINUS, fmt_count, fmt_number
from app.tool_dialog import ToolDialog
from app.toy_rules import ROUNDING, RuleList, rule_title, rule_words
from app.widgets import EmptyState, IconLabel, Segmented, label, panel
from core.events import Failed, Finished
from core.records import EnumerateSpec

LOSSLESS, LOSSY, WRONG = ("token", "block", "tree"), ("typical", "top-k"), ("softmax-ratio", "discard", "resample")
PICTURED = ("token", "resample")  # rules whose first token the overlap picture is exact for
WAIT_MS = 180  # after the last change, before it's asked for
SIDE = 214


class EnumerationDialog(ToolDialog):
    """Asks for each rule as it's chosen and keeps the answers, so that rules can be compared at once."""

    def __init__(self, board: Any, parent: QWidget | None = None):
        self.answers: dict[EnumerateSpec, dict[str, Any]] = {}
        self._asked, self._asked_spec = "", None
        super().__init__(
            board,
            "enumeration",
            self.tr("How it works"),
            self.tr(
                "Two toy models that know a few words write short texts with the real engine, and every random choice is followed to its "
                "end. So the probability of each text comes out exactly: choose a rule and see whether it changes them."
            ),
            parent,
        )
        self._soon = QTimer(self, singleShot=True, interval=WAIT_MS)
        self._soon.timeout.connect(self.ask)
        self._make()
        self._rule_chosen()

    # -- making

    def _make(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._make_side())
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(self._make_verdict())
        right.addWidget(self._make_views(), 1)
        row.addLayout(right, 1)
        self.body.addLayout(row, 1)
        self.run_button.hide()
        self.close_button.setDefault(True)
        self.rules.setFocus()

    def _make_side(self) -> QWidget:
        side = panel()
        side.setFixedWidth(SIDE)
        box = QVBoxLayout(side)
        box.setContentsMargins(6, 8, 6, 10)
        box.setSpacing(6)
        self.rules = RuleList(
            (
                (self.tr("Lossless"), self.tr("The texts' law is the target's own, whatever the draft is."), LOSSLESS),
                (self.tr("Not lossless"), self.tr("Faster at the price of another law. In use where that's accepted."), LOSSY),
                (
                    self.tr("Wrong"),
                    self.tr("They look right, and each was shipped or proposed. Their law is another one, unnoticed."),
                    WRONG,
                ),
            )
        )
        self.rules.chosen.connect(lambda _: self._rule_chosen())
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self.rules)
        self.rules.shown_in = scroll
        box.addWidget(scroll, 1)
        line = QFrame()
        line.setProperty("line", True)
        box.addWidget(line)
        grid = QGridLayout()
        grid.setContentsMargins(6, 0, 6, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(3)
        self.gamma, self.tokens, self.vocabulary, self.seed = (QSpinBox() for _ in range(4))
        fields = (
            (self.gamma, "gamma", "γ", 1, 3, 2, self.tr("Draft length: how many tokens are guessed before the target checks them.")),
            (
                self.tokens,
                "tokens",
                self.tr("Length"),
                1,
                4,
                3,
                self.tr("How many tokens are written. The law of the whole text is compared."),
            ),
            (self.vocabulary, "vocabulary", self.tr("Words"), 2, 4, 3, self.tr("How many words the toys know.")),
            (self.seed, "seed", self.tr("Toy"), 0, 99, 0, self.tr("Another number makes another pair of toy models.")),
        )
        for at, (field, name, words, low, high, value, tip) in enumerate(fields):
            field.setObjectName(name)
            field.setRange(low, high)
            field.setValue(value)
            field.setToolTip(tip)
            field.setAccessibleName(words)
            calm_wheel(field)
            field.lineEdit().setTextMargins(2, 0, 0, 0)
            field.setStyleSheet("QSpinBox { padding: 0 2px 0 4px; }")
            field.setMinimumWidth(42)
            field.valueChanged.connect(lambda _: self._rule_chosen())
            title = label(words, "caption")
            title.setToolTip(tip)
            title.setBuddy(field)
            grid.addWidget(title, 0, at)
            grid.addWidget(field, 1, at)
        box.addLayout(grid)
        return side

    def _make_verdict(self) -> QWidget:
        card = panel()
        row = QHBoxLayout(card)
        row.setContentsMargins(14, 9, 14, 9)
        row.setSpacing(12)
        self.verdict_icon = IconLabel("queued", 20, "text2")
        row.addWidget(self.verdict_icon, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(3)
        self.verdict, self.reach, self.words = label("", "section", wrap=True), label("", "caption", wrap=True), label("", wrap=True)
        for name, part in (("verdict", self.verdict), ("reach", self.reach), ("rule_words", self.words)):
            part.setObjectName(name)
            column.addWidget(part)
        self.words.setProperty("role", "caption")
        self.verdict.setToolTip(
            self.tr(
                "Total variation: the largest difference in probability that any set of texts can have. 0: the same law. "
                "1: nothing in common."
            )
        )
        row.addLayout(column, 1)
        return card

    def _make_views(self) -> QWidget:
        holder = panel()
        box = QVBoxLayout(holder)
        box.setContentsMargins(8, 8, 6, 6)
        box.setSpacing(4)
        self.switch = Segmented((("texts", self.tr("All texts")), ("token", self.tr("First token")), ("round", self.tr("First round"))))
        tips = {
            "texts": self.tr("Every text that can be written: how likely the target alone makes it, and how likely the engine does."),
            "token": self.tr("How the first token's law comes about: what's kept of the guesses, and what corrections add."),
            "round": self.tr("Every course that the first round can take: what's guessed, kept, dropped and added."),
        }
        for key, part in self.switch.buttons.items():
            part.setToolTip(tips[key])
        self.switch.chosen.connect(self.show_view)
        head = QHBoxLayout()
        head.addWidget(self.switch)
        head.addStretch(1)
        box.addLayout(head)
        self.texts = PairedBars("texts", lambda value: f"{value:.4f}")
        self.texts.set_words(
            self.tr("Texts: their probability by the target alone and by the engine"),
            self.tr("target alone"),
            self.tr("engine"),
            self.tr("difference"),
            tips=(
                self.tr("Target alone: the product of its next-token probabilities."),
                self.tr("Engine: the sum over every course of drafts, verdicts and corrections that writes this text."),
            ),
        )
        self.overlap = OverlapPlot()
        self.overlap_words = label("", "caption", wrap=True)
        self.overlap_words.setObjectName("overlap_words")
        token = QWidget()
        inside = QVBoxLayout(token)
        inside.setContentsMargins(0, 0, 6, 4)
        inside.setSpacing(4)
        inside.addWidget(self.overlap, 1)
        inside.addWidget(self.overlap_words)
        self.courses = Courses("courses")
        self.waiting = EmptyState("queued", self.tr("Following every choice…"), self.tr("The first answer waits for a worker to be ready."))
        self.views = QStackedWidget()
        self._pages = {"texts": self.texts, "token": token, "round": self.courses}
        for page in (self.waiting, *self._pages.values()):
            self.views.addWidget(page)
        box.addWidget(self.views, 1)
        return holder

    # -- asking

    def spec(self) -> EnumerateSpec:
        return EnumerateSpec(
            rule=self.rules.current,
            gamma=self.gamma.value(),
            tokens=self.tokens.value(),
            vocabulary=self.vocabulary.value(),
            seed=self.seed.value(),
        )

    @property
    def running(self) -> bool:
        return bool(self._asked)

    def _rule_chosen(self) -> None:
        """Shows what's known of the rule as it's set, or asks for it."""
        self._forget()
        self.tell_failure(None)
        self._mark_known()
        if self.spec() in self.answers:
            self._soon.stop()
        else:
            self._soon.start()
        self._show()

    def ask(self) -> None:
        spec = self.spec()
        if spec in self.answers or self._asked:
            return
        self._asked_spec = spec
        asked = self.board.ask(spec, self._answered)
        if self._asked_spec is not None:  # it wasn't answered on the spot
            self._asked = asked
        self.refresh()

    def _answered(self, event: Any) -> None:
        spec, self._asked, self._asked_spec = self._asked_spec, "", None
        if isinstance(event, Finished) and spec is not None:
            self.answers[spec] = event.result
        elif isinstance(event, Failed):
            self.tell_failure(event)
        self._mark_known()
        self._show()

    def _forget(self) -> None:
        if self._asked:
            self.board.forget(self._asked)
        self._asked, self._asked_spec = "", None

    def cancel(self) -> None:
        self._forget()
        self._show()
        self.say(self.tr("Cancelled."))

    def done(self, result: int) -> None:
        self._forget()
        self._soon.stop()
        super().done(result)

    def closeEvent(self, event: Any) -> None:
        self._forget()
        self._soon.stop()
        super().closeEvent(event)

    def start_if_able(self) -> None:
        """Asks again, where an answer failed to come."""
        self._rule_chosen()

    # -- showing

    def refresh(self) -> None:
        if not hasattr(self, "views"):
            return
        self.run_button.setVisible(self._failure is not None and not self.running)
        self.run_button.setText(self.tr("Try again"))
        self.cancel_button.setVisible(self.running)

    def _mark_known(self) -> None:
        """Each rule's distance, of those that have been asked for with the toys as they're set."""
        now = self.spec()
        known = {spec.rule: answer["tv"] for spec, answer in self.answers.items() if spec.model_copy(update={"rule": now.rule}) == now}
        self.rules.mark(known)

    @property
    def answer(self) -> dict[str, Any] | None:
        return self.answers.get(self.spec())

    def show_view(self, key: str) -> None:
        """'texts', 'token' or 'round'."""
        self.switch.set_current(key)
        self.views.setCurrentWidget(self._pages[key] if self.answer is not None else self.waiting)

    def _show(self) -> None:
        rule, answer = self.rules.current, self.answer
        self.words.setText(rule_words(rule))
        pictured = rule in PICTURED
        self.switch.buttons["token"].setEnabled(pictured)
        if not pictured and self.switch.current == "token":
            self.switch.set_current("texts")
        self._say_verdict(answer)
        if answer is not None:
            self._show_answer(rule, answer)
        elif self._failure is not None:
            self.waiting.title.setText(self.tr("No answer"))
        else:
            self.waiting.title.setText(self.tr("Following every choice…"))
        self.waiting.lines.setVisible(not self.answers and self._failure is None)
        self.show_view(self.switch.current)
        self.refresh()

    def _show_answer(self, rule: str, answer: dict[str, Any]) -> None:
        rows = sorted(answer["rows"], key=lambda r: -r["target"])
        self.texts.set_rows([_pair(row) for row in rows])
        self.courses.set_courses([course_of(row) for row in answer["tree"]])
        models = answer["models"]
        q, p = models["target"], models["draft"]
        alpha = sum(min(a, b) for a, b in zip(q, p, strict=True))
        again = [(1 - alpha) * x for x in q] if rule == "resample" else None
        self.overlap.set_laws("abcd"[: len(q)], q, p, again)
        figures = {"alpha": f"{alpha:.2f}", "rest": f"{1 - alpha:.2f}"}
        if rule == "resample":
            words = self.tr(
                "After “{prompt}”: {alpha} of the guesses is kept. The {rest} that's dropped comes back in the proportions of q, so words "
                "that the draft likes stand above their line, and the others don't reach theirs."
            )
        else:
            words = self.tr(
                "After “{prompt}”: {alpha} of the guesses is kept. The {rest} that's dropped comes back as (q − p)⁺, just what's missing "
                "below each line, so every word ends at the target's own q."
            )
        self.overlap_words.setText(words.format(prompt=answer["prompt"], **figures))
        self.say(
            self.tr("{paths} courses of random choices, {texts} texts.").format(
                paths=fmt_count(answer["paths"]), texts=fmt_count(len(answer["rows"]))
            )
        )

    def _say_verdict(self, answer: dict[str, Any] | None) -> None:
        if answer is None:
            self.verdict_icon.set_icon("queued", "text2")
            self.verdict.setText(rule_title(self.rules.current))
            self.reach.setText("")
            self.reach.hide()
            self.say("")
            return
        tv, lossless = answer["tv"], answer["lossless"]
        self.reach.show()
        if tv < ROUNDING:
            self.verdict.setText(self.tr("Total variation 0: every text is exactly as likely as the target alone makes it."))
            reach = self.tr("Whatever the draft guessed, the law of the texts hasn't changed.")
            sign, color = "check", "ok"
            if not lossless:
                reach = self.tr("On this toy the rule changes nothing; it isn't lossless all the same. Try another toy.")
                sign, color = "info", "warn"
        else:
            self.verdict.setText(self.tr("Total variation {tv}: this isn't the target's law.").format(tv=fmt_number(tv, 3)))
            reach = self.tr("There are texts that together come {points} percentage points more often than they should.").format(
                points=f"{100 * tv:.1f}" if tv >= 0.0005 else fmt_number(100 * tv, 2)
            )
            sign, color = ("error", "err") if lossless or self.rules.current in WRONG else ("warning", "warn")
            if lossless:
                reach = self.tr("It ought to be: please report it, with the numbers at the lower left.")
        self.reach.setText(reach)
        self.verdict_icon.set_icon(sign, color)


def _pair(row: dict[str, Any]) -> PairRow:
    away = row["engine"] - row["target"]
    off = abs(away) > 1e-9
    sign = "+" if away > 0 else MINUS
    return PairRow(row["text"], row["target"], row["engine"], f"{sign}{abs(away):.4f}" if off else "0", off)


def course_of(row: dict[str, Any]) -> Course:
    """A line of the first round's outline as cells: guesses by what became of them, then the target's own token."""
    cells = []
    for i, letter in enumerate(row["drafted_text"]):
        kind = Kind.ACCEPTED if i < row["accepted"] else Kind.REJECTED if i < row["tested"] else Kind.UNTESTED
        cells.append((letter, kind))
    final = {"corrected": Kind.CORRECTED, "bonus": Kind.BONUS, "plain": Kind.PLAIN}.get(row["final_kind"])
    if final is not None:
        cells.append((row["final_text"], final))
    return Course(tuple(cells), row["text"], row["chance"])
