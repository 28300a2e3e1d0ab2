"""Check exactness: whether the engine's texts are distributed as the target alone would write them, tested on the person's pair.

Covers the question, the outcomes side by side, and the verdict with what it's worth: how small a difference the test would have
seen, and whether it caught a wrong rule put beside it. All counting is the job's (ExactnessSpec).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.decode_run import visible
from app.forms import calm_wheel
from app.plots.pairs import PairedBars, PairRow
from app.text import MINUS, fmt_count, fmt_number, fmt_seconds
from app.tool_dialog import ToolDialog
from app.widgets import EmptyState, IconLabel, Segmented, label, panel
from core.records import Choice, Drafting, ExactnessSpec

SUSPECT = 3.0  # standard deviations from which an outcome is marked


class ExactnessDialog(ToolDialog):
    """`drafting` and `choice` are the lab's at the moment: what's tested is what's used, but with the support restricted to top-k."""

    def __init__(
        self,
        library: Any,
        board: Any,
        drafting: Drafting,
        choice: Choice,
        target_id: str,
        prompt: str,
        parent: QWidget | None = None,
        *,
        device: str = "auto",
    ):
        self.library, self.target_id, self.drafting, self.device = library, target_id, drafting, device
        self._choice = choice
        self._spec: ExactnessSpec | None = None
        self.result: dict[str, Any] = {}
        super().__init__(
            board,
            "exactness",
            self.tr("Check exactness"),
            self.tr(
                "Speculative decoding promises the target's own distribution, whatever the draft guesses. "
                "This draws many short texts, and compares how often each came with how often it should by the target alone."
            ),
            parent,
        )
        self._make(prompt)
        library.changed.connect(self.refresh)
        self.refresh()

    # -- making

    def _make(self, prompt: str) -> None:
        self.body.addWidget(self._make_question(prompt))
        self.body.addWidget(self._make_verdict())
        self.bars = PairedBars("outcomes", lambda value: f"{value:.0f}")
        self.switch = Segmented((("seen", self.tr("Engine")), ("control", self.tr("Wrong rule"))))
        self.switch.buttons["seen"].setToolTip(self.tr("What the engine wrote, as the lab is set"))
        self.switch.buttons["control"].setToolTip(self.tr("What the wrong rule wrote beside it: see how a mistake looks"))
        self.switch.chosen.connect(lambda _: self._show_bars())
        holder = panel()
        box = QVBoxLayout(holder)
        box.setContentsMargins(8, 8, 6, 6)
        box.setSpacing(2)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.bars.key, 1)
        head.addWidget(self.switch)
        box.addLayout(head)
        box.addWidget(self.bars, 1)
        self.empty = EmptyState(
            "evaluate",
            "",
            "",
        )
        self._say_empty()
        self.empty.lines.setMinimumHeight(3 * self.fontMetrics().lineSpacing())
        self.stack = QStackedWidget()
        self.stack.addWidget(self.empty)
        self.stack.addWidget(holder)
        self.body.addWidget(self.stack, 1)
        self.run_button.setText(self.tr("Check"))
        self.run_button.setProperty("tip", self.tr("Starts the test (Ctrl+Enter)"))
        self.prompt.moveCursor(QTextCursor.MoveOperation.End)

    def _say_empty(self) -> None:
        if self.running:
            self.empty.title.setText(self.tr("At work"))
            self.empty.lines.setText(
                self.tr("Each run draws one text by the engine and one by a wrong rule. The counts appear at the end.")
            )
            return
        self.empty.title.setText(self.tr("Not checked yet"))
        self.empty.lines.setText(
            self.tr(
                "Check starts it. Beside the engine a deliberately wrong rule runs too: if the test didn't catch that one, "
                "its word would be worth nothing."
            )
        )

    def _make_question(self, prompt: str) -> QWidget:
        frame = panel()
        box = QVBoxLayout(frame)
        box.setContentsMargins(14, 10, 14, 12)
        box.setSpacing(8)
        self.pair = label("", "caption", wrap=True)
        self.pair.setObjectName("pair")
        row = QHBoxLayout()
        row.setSpacing(10)
        self.prompt = QPlainTextEdit(prompt)
        self.prompt.setObjectName("prompt")
        self.prompt.setTabChangesFocus(True)
        self.prompt.setFixedHeight(52)
        self.prompt.setAccessibleName(self.tr("Prompt"))
        self.prompt.setPlaceholderText(self.tr("Prompt: the text to go on from"))
        self.prompt.setToolTip(self.tr("The text to go on from; its next tokens are what's tested."))
        self.prompt.textChanged.connect(self.refresh)
        column = QVBoxLayout()
        column.setSpacing(4)
        title = label(self.tr("Prompt"), "caption")
        title.setBuddy(self.prompt)
        column.addWidget(title)
        column.addWidget(self.prompt)
        row.addLayout(column, 1)
        row.addLayout(self._make_numbers())
        box.addLayout(row)
        box.addWidget(self.pair)
        return frame

    def _make_numbers(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        self.tokens, self.top_k, self.runs, self.temperature = QSpinBox(), QSpinBox(), QSpinBox(), QDoubleSpinBox()
        self.tokens.setRange(1, 3)
        self.tokens.setValue(2)
        self.top_k.setRange(2, 8)
        self.top_k.setValue(min(max(self._choice.top_k, 2), 8) if self._choice.top_k else 4)
        self.runs.setRange(50, 20_000)
        self.runs.setSingleStep(500)
        self.runs.setGroupSeparatorShown(True)
        self.runs.setValue(1000)
        self.temperature.setRange(0.05, 5.0)
        self.temperature.setSingleStep(0.1)
        self.temperature.setValue(self._choice.temperature or 1.0)
        fields = (
            (
                "tokens",
                self.tr("Tokens"),
                self.tokens,
                self.tr("The joint law of so many next tokens is tested: two or more, since mistakes hide between one token and the next."),
            ),
            (
                "top_k",
                self.tr("Top-k"),
                self.top_k,
                self.tr(
                    "Only the target's k likeliest tokens may come, so that there are few outcomes and each comes often enough to count."
                ),
            ),
            (
                "temperature",
                self.tr("Temp."),
                self.temperature,
                self.tr("How freely the target samples. Greedy decoding can't be tested so: it has one outcome."),
            ),
            (
                "runs",
                self.tr("Runs"),
                self.runs,
                self.tr("How many texts are drawn. Four times as many see a difference half as large."),
            ),
        )
        for at, (name, words, box, tip) in enumerate(fields):
            box.setObjectName(name)
            box.setToolTip(tip)
            box.setAccessibleName(words)
            calm_wheel(box)
            box.setFixedWidth(92 if name == "runs" else 72)
            box.valueChanged.connect(self.refresh)
            title = label(words, "caption")
            title.setBuddy(box)
            title.setToolTip(tip)
            grid.addWidget(title, 0, at)
            grid.addWidget(box, 1, at)
        self.outcomes = label("", "muted")
        self.outcomes.setObjectName("outcome_count")
        grid.addWidget(self.outcomes, 2, 0, 1, len(fields))
        return grid

    def _make_verdict(self) -> QWidget:
        self.verdict_card = QFrame()
        self.verdict_card.setProperty("panel", True)
        row = QHBoxLayout(self.verdict_card)
        row.setContentsMargins(14, 9, 14, 9)
        row.setSpacing(12)
        self.verdict_icon = IconLabel("check", 20, "ok")
        row.addWidget(self.verdict_icon, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(3)
        self.verdict, self.power, self.control = (
            label("", "section", wrap=True),
            label("", "caption", wrap=True),
            label("", "caption", wrap=True),
        )
        for name, part in (("verdict", self.verdict), ("power", self.power), ("control", self.control)):
            part.setObjectName(name)
            words.addWidget(part)
        self.power.setToolTip(
            self.tr(
                "Total variation: the largest difference in probability that any set of texts can have; 0 means the same law, 1 nothing in "
                "common.\nThe test's power is the chance that it sees a difference which is there."
            )
        )
        self.control.setToolTip(
            self.tr(
                "The same engine with one mistake: after a dropped guess it draws from the target's whole distribution, "
                "where it should draw from what the draft left over. A test that can't see this one sees little."
            )
        )
        row.addLayout(words, 1)
        self.verdict_card.hide()
        return self.verdict_card

    # -- the question

    def problem(self) -> str:
        target = self.library.model(self.target_id) if self.target_id else None
        if target is None:
            return self.tr("Choose a target in the decode lab first.")
        if self.drafting.proposer == "none" or self.drafting.gamma == 0:
            return self.tr("Choose a way to draft in the decode lab first: plain decoding has nothing to check.")
        if self.drafting.draft is not None and self.library.model(self.drafting.draft) is None:
            return self.tr("The draft isn't in the workspace any more.")
        if not self.prompt.toPlainText().strip():
            return self.tr("Write a prompt first.")
        return ""

    def spec(self) -> ExactnessSpec:
        choice = self._choice.model_dump(include=set(Choice.model_fields))
        drafting = self.drafting.model_dump(include=set(Drafting.model_fields))
        own = {
            "temperature": round(self.temperature.value(), 2),
            "top_k": self.top_k.value(),
            "tokens": self.tokens.value(),
            "runs": self.runs.value(),
        }
        where = {"workspace": str(self.library.workspace.folder), "target": self.target_id, "prompt": self.prompt.toPlainText()}
        return ExactnessSpec(**(choice | drafting | own | where))

    def start(self) -> None:
        self._spec, self.result = self.spec(), {}
        self.verdict_card.hide()
        self.stack.setCurrentIndex(0)
        self.submit(self._spec, self.tr("Check exactness: {name}").format(name=self._names()[0]), self.device)
        self._say_empty()

    def _names(self) -> tuple[str, str]:
        """(target, who drafts)."""
        target = self.library.model(self.target_id) if self.target_id else None
        d = self.drafting
        if d.proposer == "draft":
            found = self.library.model(d.draft) if d.draft else None
            drafter = found.name if found else d.draft or ""
        else:
            drafter = {
                "ngram": self.tr("n-gram lookup"),
                "packed": self.tr("a packed copy of the target"),
                "early-exit": self.tr("the target's first layers"),
                "layer-skip": self.tr("the target with layers left out"),
            }.get(d.proposer, "")
        return (target.name if target else self.target_id), drafter

    def _rule(self) -> str:
        return {
            "token": self.tr("token by token"),
            "block": self.tr("block verification"),
            "tree": self.tr("a tree of guesses"),
            "typical": self.tr("typical acceptance (not lossless)"),
            "top-k": self.tr("top-k acceptance (not lossless)"),
        }[self.drafting.verifier]

    def refresh(self, *_: Any) -> None:
        if not hasattr(self, "prompt"):
            return
        target, drafter = self._names()
        if drafter:
            words = self.tr("Tested as the lab is set: {drafter} drafts {gamma} tokens for {target}, judged {rule}.")
            self.pair.setText(words.format(drafter=drafter, gamma=self.drafting.gamma, target=target, rule=self._rule()))
        self.pair.setVisible(bool(drafter))
        most = self.top_k.value() ** self.tokens.value()
        self.outcomes.setText(
            self.tr("{n} outcomes at most, {each} runs for each").format(n=most, each=fmt_number(self.runs.value() / most, 2))
        )
        for field in (self.prompt, self.tokens, self.top_k, self.temperature, self.runs):
            field.setEnabled(not self.running)
        super().refresh()

    # -- the answer

    def finished_with(self, result: dict[str, Any]) -> None:
        self.result = result
        self.switch.set_current("seen")
        self._show_bars()
        self.stack.setCurrentIndex(1)
        self._say_verdict(result)
        self.verdict_card.show()
        words = self.tr("{n} runs in {time}; {accepted} of {tested} guesses were kept.")
        if result.get("tested") is None:
            words = self.tr("{n} runs in {time}.")
        kept = {"accepted": fmt_count(result.get("accepted") or 0), "tested": fmt_count(result.get("tested") or 0)}
        self.say(words.format(n=fmt_count(result["runs"]), time=fmt_seconds(result.get("seconds")), **kept))
        self.bars.list.setFocus()

    def _show_bars(self) -> None:
        """The engine's counts, or the wrong rule's."""
        which = self.switch.current
        who = self.tr("seen (engine)") if which == "seen" else self.tr("seen (wrong rule)")
        self.bars.set_words(
            self.tr("Outcomes: how often each was expected and seen"),
            self.tr("expected (target alone)"),
            who,
            "",
            tips=(
                self.tr("Expected: runs × the text's probability under the target alone, worked out exactly."),
                self.tr("The whisker is two standard deviations: 95 % of honest counts lie within it."),
                self.tr("At the right: the difference in standard deviations σ. A few beyond 2 come among many; the verdict weighs all."),
            ),
        )
        self.bars.set_rows([self._row(*row) for row in outcome_rows(self.result["cells"], self.result["runs"], which)])

    def ended_without(self) -> None:
        self._say_empty()

    def _row(self, words: str, expected: float, seen: float, away: float, rare: int) -> PairRow:
        shown = self.tr("{n} rare ones").format(n=rare) if rare else visible(words)
        tip = self.tr("Each is expected too seldom to be tested alone, so the test counts them as one.") if rare else ""
        sign = "" if abs(away) < 0.05 else "+" if away > 0 else MINUS
        note = f"{sign}{abs(away):.1f} σ" if math.isfinite(away) else self.tr("impossible")
        spread = 2 * deviation(expected, self.result["runs"])
        return PairRow(shown, expected, seen, note, off=abs(away) > SUSPECT, tip=tip, around=spread)

    def _say_verdict(self, result: dict[str, Any]) -> None:
        level, control, outside = result["level"], result["control"], result.get("outside") or 0
        p = min([result["p"], *(test["p"] for test in result.get("tests", ()))])  # of the first token, the first two ...
        values = {"p": p_value(p), "level": fmt_number(level, 2)}
        lossless = self.drafting.lossless
        if result["passed"]:
            words = self.tr("No difference found: {p}, where only less than {level} would speak against the engine.")
            sign, color = "check", "ok"
            if not lossless:
                words = self.tr(
                    "No difference found here ({p}), though this rule isn't lossless: on this prompt it changes too little to see."
                )
                sign, color = "info", "warn"
        elif lossless and outside:
            words = self.tr("{n} texts came that the target can't write. Please report it with this prompt.")
            values["n"] = outside
            sign, color = "error", "err"
        elif lossless:
            words = self.tr(
                "The engine's texts aren't distributed as the target's: {p}, less than {level}. Please report it with this prompt."
            )
            sign, color = "error", "err"
        else:
            words = self.tr("Different from the target's, as was to be expected: {p}. This rule isn't lossless.")
            sign, color = "info", "warn"
        if not control["caught"] and result["passed"]:
            sign, color = "warning", "warn"
        self.verdict_icon.set_icon(sign, color)
        self.verdict.setText(words.format(**values))
        detects = result.get("detects")
        self.power.setText(
            self.tr("What that's worth: a total variation of {tv} or more would be seen nine times in ten.").format(
                tv=fmt_number(detects, 2)
            )
            if detects is not None
            else self.tr("How small a difference would be seen isn't known.")
        )
        self.power.setVisible(result["passed"])
        if control["caught"]:
            words = self.tr("A wrong rule run beside it was caught, so this test can see mistakes: {p}.")
        else:
            words = self.tr(
                "A wrong rule run beside it wasn't caught ({p}): too few guesses are dropped here for its mistake to show. "
                "More runs or another prompt make the test sharper."
            )
        self.control.setText(words.format(p=p_value(control["p"])))


def deviation(expected: float, runs: int) -> float:
    """Standard deviation of a count that's expected to be so much among so many runs (binomial)."""
    return math.sqrt(max(expected * (1 - expected / runs), 0.0)) if runs else 0.0


def outcome_rows(cells: Sequence[dict[str, Any]], runs: int, which: str = "seen") -> list[tuple[str, float, float, float, int]]:
    """(words, expected, seen, standard deviations between them, how many outcomes it stands for, 0: one), the likeliest first.

    which: 'seen', the engine's counts, or 'control', the wrong rule's. Outcomes that the test counted as one are one row, the
    last. What was seen without being possible is infinitely far off.
    """
    rows, pooled = [], []
    for cell in sorted(cells, key=lambda c: -c["expected"]):
        if cell.get("pooled"):
            pooled.append(cell)
        else:
            rows.append((cell["text"], cell["expected"], cell[which], _away(cell["expected"], cell[which], runs), 0))
    if pooled:
        expected, seen = sum(c["expected"] for c in pooled), sum(c[which] for c in pooled)
        rows.append((pooled[0]["text"], expected, seen, _away(expected, seen, runs), len(pooled)))
    return rows


def _away(expected: float, seen: float, runs: int) -> float:
    spread = deviation(expected, runs)
    if spread:
        return (seen - expected) / spread
    return 0.0 if seen == expected else math.copysign(math.inf, seen - expected)


def p_value(p: float) -> str:
    """'p = 0.042', 'p < 1e-12' in figures that a person reads."""
    return f"p < 10{_raised(-12)}" if p < 1e-12 else f"p = {fmt_number(p, 2)}"


def _raised(n: int) -> str:
    return str(n).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
