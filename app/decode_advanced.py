"""What few change of a decode, in a drawer: the finer settings of sampling, of the text's ends, and of drafting.

Covers the fields of Choice beyond temperature and length, and those of Drafting that only some ways of drafting have, which
are shown only where they apply. Lists of texts are written in one line, separated by |, with \\n, \\t, \\| and \\\\ as escapes.
"""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QAbstractSpinBox, QDoubleSpinBox, QFrame, QHBoxLayout, QLineEdit, QSizePolicy, QSpinBox, QVBoxLayout, QWidget

from app.forms import calm_wheel
from app.widgets import button, label
from core.records import Choice, Drafting

ESCAPES = {"\\n": "\n", "\\t": "\t", "\\|": "|", "\\\\": "\\"}
NO_ARROWS = (  # setButtonSymbols(NoButtons) leaves a styled box no room for its text
    "QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; border: none; }"
    "QAbstractSpinBox::up-arrow, QAbstractSpinBox::down-arrow { width: 0; height: 0; image: none; }"
)


def split_texts(line: str) -> tuple[str, ...]:
    """'a | \\n\\n' -> ('a', two line breaks). Blanks around a bar separate; a text that is wanted with blanks at its ends is in quotes."""
    parts = re.findall(r"(?:\\.|[^|\\]|\\$)+", line)
    out = []
    for part in (part.strip(" ") for part in parts):
        bare = part[1:-1] if len(part) > 1 and part[0] == part[-1] == '"' else part
        if text := unescaped(bare):
            out.append(text)
    return tuple(out)


def unescaped(line: str) -> str:
    return re.sub(r"\\[nt|\\]", lambda m: ESCAPES[m.group()], line)


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")


def join_texts(texts: tuple[str, ...]) -> str:
    """What `split_texts` reads back."""
    out = []
    for text in texts:
        line = escaped(text).replace("|", "\\|")
        quoted = line != line.strip(" ") or (len(line) > 1 and line[0] == line[-1] == '"')
        out.append(f'"{line}"' if quoted else line)
    return " | ".join(out)


def split_layers(line: str) -> tuple[int, ...] | None:
    """'3, 7-9' -> (3, 7, 8, 9); '' -> None. Raises ValueError for anything else."""
    out: set[int] = set()
    for part in (p.strip() for p in line.split(",") if p.strip()):
        low, _, high = part.partition("-")
        out.update(range(int(low), int(high or low) + 1))
    return tuple(sorted(out)) or None


class Advanced(QFrame):
    """`changed` fires as any field does. `count` is how many differ from what's usual."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self.setObjectName("advanced")
        self._usual = Choice()
        self._spins: dict[str, QAbstractSpinBox] = {}
        self._lines: dict[str, QLineEdit] = {}
        self._columns: dict[str, QWidget] = {}
        self._widths: list[tuple[QAbstractSpinBox, int, int]] = []
        first, second = QHBoxLayout(), QHBoxLayout()
        for row in (first, second):
            row.setSpacing(8)
        spin, line = self._spin, self._line
        spin(first, "top_k", self.tr("Top-k"), 0, 100_000, 1, self.tr("Sample from the k likeliest tokens only. 'all' leaves none out."))
        spin(
            first,
            "top_p",
            self.tr("Top-p"),
            0.01,
            1.0,
            0.05,
            self.tr("Sample from the fewest tokens that together have this probability. 1 leaves none out."),
        )
        spin(
            first,
            "min_p",
            self.tr("Min-p"),
            0.0,
            0.99,
            0.05,
            self.tr("Leave out tokens less likely than this share of the likeliest one's probability. 0 leaves none out."),
        )
        spin(
            first,
            "typical_p",
            self.tr("Typical-p"),
            0.01,
            1.0,
            0.05,
            self.tr("Sample from the tokens whose surprise is nearest to the expected one, up to this probability together. 1: all."),
        )
        spin(
            first,
            "repetition_penalty",
            self.tr("Repetition"),
            0.05,
            10.0,
            0.05,
            self.tr("Divides the scores of tokens that occurred already. 1 changes nothing, more makes repeating rarer."),
        )
        spin(
            first,
            "presence_penalty",
            self.tr("Presence"),
            -10.0,
            10.0,
            0.1,
            self.tr("Taken off the score of each token that was written already, once."),
        )
        spin(
            first,
            "frequency_penalty",
            self.tr("Frequency"),
            -10.0,
            10.0,
            0.1,
            self.tr("Taken off the score of each token for every time that it was written."),
        )
        spin(first, "seed", self.tr("Seed"), 0, 2**31 - 1, 1, self.tr("The same seed with the same settings gives the same text."))
        spin(
            first,
            "min_new_tokens",
            self.tr("Least"),
            0,
            100_000,
            8,
            self.tr("So many tokens are written before the text may end by itself."),
        )
        self.spin("top_k").setSpecialValueText(self.tr("all"))
        bars = self.tr('Separate several with |. \\n is a line break; blanks at the ends count inside "quotes".')
        line(second, "forced", self.tr("Begin with"), self.tr("The text begins with this, whatever the target would write."))
        line(second, "banned", self.tr("Never write"), self.tr("Words that are never written; each must be one token.") + "\n" + bars)
        line(second, "stop", self.tr("Stop at"), self.tr("The text ends where one of these comes up.") + "\n" + bars)
        spin(
            second,
            "confidence",
            self.tr("Confidence"),
            0.0,
            0.99,
            0.05,
            self.tr("Drafting stops after a token that the draft itself gave less than this. 0: never."),
        )
        spin(second, "branches", self.tr("Branches"), 1, 8, 1, self.tr("Candidates at each depth of the tree."))
        spin(
            second,
            "exit_layer",
            self.tr("Exit after"),
            0,
            999,
            1,
            self.tr("How many of the target's first layers draft. 'a third' of them, if unsaid."),
        )
        line(
            second,
            "skipped",
            self.tr("Skipped layers"),
            self.tr("Which of the target's layers the draft leaves out, such as 4, 7-9. Empty: searched on your prompt."),
        )
        spin(
            second,
            "epsilon",
            self.tr("\u03b5"),
            0.01,
            1.0,
            0.05,
            self.tr("Typical: a token is kept above min(\u03b5, \u03b4 exp(\u2212entropy))."),
        )
        spin(
            second,
            "delta",
            self.tr("\u03b4"),
            0.01,
            1.0,
            0.01,
            self.tr("Typical: a token is kept above min(\u03b5, \u03b4 exp(\u2212entropy))."),
        )
        spin(
            second,
            "relaxed_k",
            self.tr("Accept k"),
            1,
            64,
            1,
            self.tr("A token is kept when it's among so many of the target's likeliest."),
        )
        self.spin("exit_layer").setSpecialValueText(self.tr("a third"))
        self.spin("confidence").setSpecialValueText(self.tr("off"))
        self._lines["skipped"].setPlaceholderText(self.tr("searched"))
        self.reset_button = button(self.tr("Reset"), self.reset, name="reset-advanced")
        self.reset_button.setProperty("flat", True)
        self.reset_button.setToolTip(self.tr("Put everything here back to what's usual"))
        first.addStretch(1)
        end = QVBoxLayout()
        end.addStretch(1)
        end.addWidget(self.reset_button)
        second.addLayout(end)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 8, 12, 10)
        box.setSpacing(8)
        box.addLayout(first)
        box.addLayout(second)
        self.set_choice(Choice())
        self.set_drafting(Drafting())
        self.show_for(Drafting(), greedy=False)

    # -- making

    def _column(self, row: QHBoxLayout, name: str, words: str, widget: QWidget, tip: str, stretch: int) -> None:
        widget.setObjectName(name)
        widget.setToolTip(tip)
        widget.setAccessibleName(words)
        widget.setAccessibleDescription(tip)
        caption = label(words, "caption")
        caption.setBuddy(widget)
        caption.setToolTip(tip)
        column = QWidget()
        box = QVBoxLayout(column)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        box.addWidget(caption)
        box.addWidget(widget)
        row.addWidget(column, stretch)
        self._columns[name] = column

    def _spin(self, row: QHBoxLayout, name: str, words: str, low: float, high: float, step: float, tip: str) -> None:
        whole = isinstance(low, int) and isinstance(high, int)
        box = QSpinBox() if whole else QDoubleSpinBox()
        box.setRange(low, high)  # type: ignore[arg-type]
        box.setSingleStep(step)  # type: ignore[arg-type]
        box.setFixedHeight(30)
        box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        box.lineEdit().setTextMargins(7, 0, 0, 0)
        calm_wheel(box)
        box.valueChanged.connect(lambda _: self.changed.emit())
        self._spins[name] = box
        self._widths.append((box, 76, 58))
        self._column(row, name, words, box, tip, 0)

    def _line(self, row: QHBoxLayout, name: str, words: str, tip: str) -> None:
        box = QLineEdit()
        box.setMinimumWidth(60)
        box.textChanged.connect(lambda _: self.changed.emit())
        self._lines[name] = box
        self._column(row, name, words, box, tip, 1)

    def spin(self, name: str) -> Any:
        """A number's field, by the name of the setting."""
        return self._spins[name]

    def line(self, name: str) -> QLineEdit:
        return self._lines[name]

    def tighten(self, compact: bool) -> None:
        for box, width, small in self._widths:
            box.setStyleSheet(NO_ARROWS if compact else "")
            box.setFixedWidth(small if compact else width)

    # -- what it says

    def choice(self) -> dict[str, Any]:
        """The fields of a Choice that are chosen here."""
        n = lambda name: round(self._spins[name].value(), 4)
        return {
            **{name: n(name) for name in NUMBERS},
            "banned": split_texts(self._lines["banned"].text()),
            "forced": unescaped(self._lines["forced"].text()),
            "stop": split_texts(self._lines["stop"].text()),
        }

    def set_choice(self, choice: Choice) -> None:
        for name in NUMBERS:
            self._spins[name].setValue(getattr(choice, name))
        self._lines["banned"].setText(join_texts(choice.banned))
        self._lines["forced"].setText(escaped(choice.forced))
        self._lines["stop"].setText(join_texts(choice.stop))

    def drafting(self) -> dict[str, Any]:
        """The fields of a Drafting that are chosen here. Raises ValueError where the layers can't be read."""
        return {
            "confidence": round(self._spins["confidence"].value(), 4),
            "branches": self._spins["branches"].value(),
            "exit_layer": self._spins["exit_layer"].value() or None,
            "skipped": split_layers(self._lines["skipped"].text()),
            "epsilon": round(self._spins["epsilon"].value(), 4),
            "delta": round(self._spins["delta"].value(), 4),
            "relaxed_k": self._spins["relaxed_k"].value(),
        }

    def set_drafting(self, drafting: Drafting) -> None:
        for name in ("confidence", "branches", "epsilon", "delta", "relaxed_k"):
            self._spins[name].setValue(getattr(drafting, name))
        self._spins["exit_layer"].setValue(drafting.exit_layer or 0)
        self._lines["skipped"].setText(", ".join(map(str, drafting.skipped or ())))

    def problem(self) -> str:
        """What can't be read, as a sentence; ''."""
        try:
            split_layers(self._lines["skipped"].text())
        except ValueError:
            return self.tr("The skipped layers can't be read. Write their numbers, such as 4, 7-9.")
        return ""

    def reset(self) -> None:
        self.set_choice(Choice())
        self.set_drafting(Drafting())

    @property
    def count(self) -> int:
        """How many settings differ from what's usual, of those that apply."""
        if self.problem():
            return 1
        usual = {**Choice().model_dump(), **Drafting().model_dump()}
        now = {**self.choice(), **self.drafting()}
        return sum(now[name] != usual[name] for name in now if not self._columns[name].isHidden() and self._columns[name].isEnabled())

    def show_for(self, *draftings: Drafting, greedy: bool) -> None:
        """Shows the fields that some of the draftings have; puts away what has no effect at temperature 0."""
        verifiers = {d.verifier for d in draftings if d.proposer != "none"}
        proposers = {d.proposer for d in draftings}
        applies = {
            "confidence": bool(proposers & {"draft", "packed", "early-exit", "layer-skip"}),
            "branches": "tree" in verifiers,
            "exit_layer": "early-exit" in proposers,
            "skipped": "layer-skip" in proposers,
            "epsilon": "typical" in verifiers,
            "delta": "typical" in verifiers,
            "relaxed_k": "top-k" in verifiers,
        }
        for name, there in applies.items():
            self._columns[name].setVisible(there)
        for name in ("top_k", "top_p", "min_p", "typical_p", "seed"):
            self._columns[name].setEnabled(not greedy)


NUMBERS = (
    "top_k",
    "top_p",
    "min_p",
    "typical_p",
    "repetition_penalty",
    "presence_penalty",
    "frequency_penalty",
    "seed",
    "min_new_tokens",
)
