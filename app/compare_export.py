"""An export held beside torch on a person's own words: three texts side by side with where they part, or classes with probabilities.

CompareDialog is for models that write (CompareExportSpec), ClassifyDialog for classifiers (ClassifyExportSpec). The work is a job's;
what its figures mean is core.decode.side_by_side's and core.export.classify's.
"""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QPlainTextEdit, QScrollArea, QSpinBox, QVBoxLayout, QWidget

from app.forms import calm_wheel
from app.provider_choice import ProviderChoice
from app.speed_bars import SpeedBars, speeds_of
from app.text import fmt_number
from app.theme import mono, numbers, theme
from app.tool_dialog import ToolDialog
from app.widgets import EmptyState, IconLabel, label
from core.records import ClassifyExportSpec, CompareExportSpec

BREAK = "---"  # a line between prompts
SAMPLE = "Once upon a time"


class _Words(QPlainTextEdit):
    def __init__(self, name: str, words: str, height: int) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setPlainText(words)
        self.setTabChangesFocus(True)
        self.setProperty("panel", True)
        self.setFixedHeight(height)


class CompareDialog(ToolDialog):
    """workspace: its folder; folder: the export's; variant: what it was made from, '' where only the workspace may know."""

    def __init__(self, board: Any, workspace: str, folder: str, variant: str = "", parent: QWidget | None = None):
        self.workspace, self.folder, self.variant = workspace, folder, variant
        self.result_: dict[str, Any] = {}
        super().__init__(
            board,
            "compare_export",
            self.tr("Compare {name}").format(name=Path(folder).name),
            self.tr(
                "The original, the variant and its ONNX export write after your own prompts, always the likeliest token, and in turns: "
                "they ought to write the same, but for near ties where products are rounded. Where they part, the text is marked."
            ),
            parent,
        )
        self.run_button.setText(self.tr("Compare"))
        self.prompts = _Words("prompts", SAMPLE, 62)
        self.prompts.setToolTip(self.tr("One prompt, or several with a line of three dashes between them"))
        caption = label(self.tr("Prompts"), "caption")
        caption.setBuddy(self.prompts)
        self.tokens = QSpinBox()
        self.tokens.setObjectName("tokens")
        self.tokens.setRange(1, 1024)
        self.tokens.setValue(48)
        self.tokens.setSuffix(" " + self.tr("tokens"))
        self.tokens.setToolTip(self.tr("How much each writes after a prompt"))
        calm_wheel(self.tokens)
        self.provider = ProviderChoice(board)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.prompts, 1)
        side = QVBoxLayout()
        side.setSpacing(4)
        side.addWidget(self.tokens)
        side.addWidget(self.provider)
        side.addStretch(1)
        row.addLayout(side)
        self.body.addWidget(caption)
        self.body.addLayout(row)
        self.bars = SpeedBars()
        self.body.addWidget(self.bars)
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setWidget(
            EmptyState("columns", self.tr("Nothing compared yet"), self.tr("Write a prompt like those that you'll use the model for."))
        )
        self.body.addWidget(self.scroll, 1)
        self.prompts.textChanged.connect(self.refresh)
        theme().changed.connect(self._draw)
        self.refresh()

    def written(self) -> tuple[str, ...]:
        parts = self.prompts.toPlainText().split(f"\n{BREAK}\n")
        return tuple(part.strip("\n") for part in parts if part.strip())

    def problem(self) -> str:
        return "" if self.written() else self.tr("Write a prompt first.")

    def start(self) -> None:
        spec = CompareExportSpec(
            workspace=self.workspace,
            folder=self.folder,
            variant=self.variant or None,
            prompts=self.written(),
            max_new_tokens=self.tokens.value(),
            provider=self.provider.chosen(),
        )
        self.submit(spec, self.tr("Compare {name}").format(name=Path(self.folder).name))

    def finished_with(self, result: dict[str, Any]) -> None:
        self.result_ = result
        self._draw()

    def _draw(self) -> None:
        result = self.result_
        if not result:
            return
        tip = self.tr(
            "Tokens per second of plain decoding: the median over the tokens, each form writing one in turn; prompts aren't counted"
        )
        self.bars.show_speeds(speeds_of(result), self.tr("tokens/s"), list(result.get("notes") or ()), tip=tip)
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 6, 0)
        box.setSpacing(10)
        for one in result["prompts"]:
            box.addWidget(self._prompt(one, result["forms"]))
        box.addStretch(1)
        self.scroll.setWidget(page)

    def _prompt(self, one: dict[str, Any], forms: dict[str, Any]) -> QWidget:
        card = QFrame()
        card.setProperty("card", True)
        grid = QGridLayout(card)
        grid.setContentsMargins(12, 10, 12, 10)
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(6)
        prompt = label(" ".join(one["prompt"].split()), "section", wrap=True)
        grid.addWidget(prompt, 0, 0, 1, len(one["forms"]))
        titles = {"original": self.tr("Original, torch"), "variant": self.tr("Variant, torch"), "export": self.tr("Export, onnxruntime")}
        before = {"variant": self.tr("the original"), "export": self.tr("the variant")}
        for column, (key, form) in enumerate(one["forms"].items()):
            grid.setColumnStretch(column, 1)
            head = label(titles.get(key, key), "caption")
            head.setToolTip(str(forms[key].get("name") or ""))
            grid.addWidget(head, 1, column)
            parts = one["parts"].get(key)
            text = QLabel(marked(form["pieces"], parts["position"] if parts else None))
            text.setObjectName(f"text_{key}")
            text.setTextFormat(Qt.TextFormat.RichText)
            text.setWordWrap(True)
            text.setMinimumWidth(1)
            text.setFont(mono(12))
            text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(text, 2, column)
            if key in one["parts"]:
                grid.addWidget(self._verdict(key, parts, before.get(key, "")), 3, column, Qt.AlignmentFlag.AlignTop)
        return card

    def _verdict(self, key: str, parts: dict[str, float] | None, before: str) -> QWidget:
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 2, 0, 0)
        row.setSpacing(6)
        if parts is None:
            words = self.tr("The same tokens as {before}").format(before=before)
            row.addWidget(IconLabel("check", 14, "ok"), 0, Qt.AlignmentFlag.AlignTop)
        else:
            words = self.tr("Parts from {before} at token {n}. There torch's two likeliest logits were {margin} apart.")
            words = words.format(before=before, n=parts["position"] + 1, margin=fmt_number(parts["margin"], 2))
            row.addWidget(IconLabel("warning", 14, "warn"), 0, Qt.AlignmentFlag.AlignTop)
        said = label(words, "caption", wrap=True)
        said.setObjectName(f"verdict_{key}")
        said.setToolTip(self.tr("The top-2 margin: how much the chosen token's logit was above the next one's. Near 0, rounding decides."))
        row.addWidget(said, 1)
        return holder


def marked(pieces: list[str], position: int | None) -> str:
    """The text as HTML, with the token at `position` set off and what follows it muted."""
    at = len(pieces) if position is None else position
    before, token, after = "".join(pieces[:at]), "".join(pieces[at : at + 1]), "".join(pieces[at + 1 :])
    out = html.escape(before)
    if position is not None:
        fill, text = theme().color("rejected_fill").name(), theme().color("rejected_text").name()
        shown = html.escape(token.replace("\n", "\u21b5\n") if token.strip() else token.replace("\n", "\u21b5\n") or "\u220e")
        out += f'<span style="background:{fill};color:{text};font-weight:600;">\u25b8{shown}</span>'
        out += f'<span style="color:{theme().color("muted").name()};">{html.escape(after)}</span>'
    return f'<div style="white-space:pre-wrap;">{out}</div>'


class ClassifyDialog(ToolDialog):
    """An exported classifier on a person's texts, one a line."""

    def __init__(self, board: Any, workspace: str, folder: str, variant: str = "", parent: QWidget | None = None):
        self.workspace, self.folder, self.variant = workspace, folder, variant
        super().__init__(
            board,
            "classify_export",
            self.tr("Classify with {name}").format(name=Path(folder).name),
            self.tr("onnxruntime runs the exported files on your texts, and torch the variant that they were made from."),
            parent,
        )
        self.run_button.setText(self.tr("Classify"))
        self.texts = _Words("texts", "", 92)
        self.texts.setPlaceholderText(self.tr("Texts, one a line"))
        caption = label(self.tr("Texts"), "caption")
        caption.setBuddy(self.texts)
        self.provider = ProviderChoice(board)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.texts, 1)
        row.addWidget(self.provider, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addWidget(caption)
        self.body.addLayout(row)
        self.bars = SpeedBars()
        self.body.addWidget(self.bars)
        self.said = label("", "caption", wrap=True)
        self.said.setObjectName("said")
        self.said.hide()
        self.body.addWidget(self.said)
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setWidget(EmptyState("columns", self.tr("Nothing classified yet"), self.tr("Write a text or several, one a line.")))
        self.body.addWidget(self.scroll, 1)
        self.texts.textChanged.connect(self.refresh)
        self.refresh()

    def written(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self.texts.toPlainText().splitlines() if line.strip())

    def problem(self) -> str:
        return "" if self.written() else self.tr("Write a text first.")

    def start(self) -> None:
        spec = ClassifyExportSpec(
            workspace=self.workspace,
            folder=self.folder,
            variant=self.variant or None,
            texts=self.written(),
            provider=self.provider.chosen(),
        )
        self.submit(spec, self.tr("Classify with {name}").format(name=Path(self.folder).name))

    def finished_with(self, result: dict[str, Any]) -> None:
        spent = result["seconds"]
        rows = [(self.tr("Variant, torch"), spent["torch"]), (self.tr("Export, onnxruntime"), spent["export"])]
        milliseconds = [(name, 1000 * seconds if seconds else None) for name, seconds in rows]
        tip = self.tr("Milliseconds for a text: the median of a few repeats in turns")
        self.bars.show_speeds(milliseconds, self.tr("ms a text"), list(result.get("notes") or ()), less=True, tip=tip)
        words = self.tr("The largest difference between two probabilities is {largest}.").format(largest=fmt_number(result["largest"], 2))
        if result["single"]:
            words = self.tr("The model has one output, which is a number; the largest difference is {largest}.").format(
                largest=fmt_number(result["largest"], 2)
            )
        if result["cut"]:
            words += " " + self.tr("{n} texts were longer than the model reads, and were cut.").format(n=result["cut"])
        self.said.setText(words)
        self.said.show()
        self.scroll.setWidget(self._table(result))

    def _table(self, result: dict[str, Any]) -> QWidget:
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 6, 0)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(0, 1)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
        for column, words in enumerate((self.tr("Text"), self.tr("Class"), self.tr("by onnxruntime"), self.tr("by torch"))):
            grid.addWidget(label(words, "caption"), 0, column, right if column > 1 else Qt.AlignmentFlag.AlignLeft)
        for at, row in enumerate(result["rows"], 1):
            text = label(row["text"], wrap=True)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(text, at, 0, Qt.AlignmentFlag.AlignTop)
            order = sorted(range(len(result["classes"])), key=lambda i: -row["export"][i])[:3]
            names = "\n".join(result["classes"][i] for i in order)
            both = [("export", names), ("torch", names)]
            grid.addWidget(label(names), at, 1, Qt.AlignmentFlag.AlignTop)
            for column, (who, _) in enumerate(both, 2):
                figures = "\n".join(f"{row[who][i]:.4f}" for i in order) if row[who] else ""
                value = label(figures)
                value.setFont(numbers(13))
                value.setObjectName(f"{who}_{at}")
                grid.addWidget(value, at, column, right)
        grid.setRowStretch(len(result["rows"]) + 1, 1)
        return page
