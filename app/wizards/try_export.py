"""The dialog that generates with an exported folder, by onnxruntime: proof in the window that the files work on their own.

Tokens come as RoundTaken events of a `TryExportSpec` job, one each; the speed is the job's own measurement.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QSpinBox, QVBoxLayout, QWidget

from app.forms import calm_wheel
from app.notes import note_text
from app.provider_choice import ProviderChoice
from app.text import failure_text, fmt_number
from app.theme import mono, restyle, theme
from app.wizards.base import Notice, button, keep, label, recall
from core.events import Cancelled, Failed, Finished, RoundTaken
from core.providers import fallback_note
from core.records import TryExportSpec

PROMPT = "Once upon a time"


class TryExportDialog(QDialog):
    def __init__(self, board: Any, folder: str, parent: QWidget | None = None):
        super().__init__(parent)
        self.board, self.folder, self.job = board, folder, ""
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Try the export"))
        box = QVBoxLayout(self)
        box.setContentsMargins(26, 22, 26, 18)
        box.setSpacing(8)
        box.addWidget(label(self.tr("Generate with the exported files"), "title", self))
        box.addWidget(
            label(self.tr("onnxruntime runs {folder}; torch has no part in it.").format(folder=Path(folder).name), "caption", self)
        )
        box.addSpacing(8)
        last = recall("try-export")
        self.prompt = QPlainTextEdit(self)
        self.prompt.setObjectName("prompt")
        self.prompt.setPlainText(str(last.get("prompt") or PROMPT))
        self.prompt.setTabChangesFocus(True)
        self.prompt.setProperty("panel", True)
        self.prompt.setFixedHeight(64)
        prompt_label = label(self.tr("Prompt"), parent=self, wrap=False)
        prompt_label.setBuddy(self.prompt)
        box.addWidget(prompt_label)
        box.addWidget(self.prompt)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.tokens = QSpinBox(self)
        self.tokens.setObjectName("max_new_tokens")
        self.tokens.setRange(1, 4096)
        self.tokens.setValue(int(last.get("tokens") or 64))
        self.tokens.setSuffix(" " + self.tr("tokens"))
        calm_wheel(self.tokens)
        self.provider = ProviderChoice(board, self)
        self.run_button = button(self.tr("Generate"), "run", primary=True)
        self.run_button.setToolTip(self.tr("Ctrl+Enter"))
        self.speed = label(role="value", parent=self, wrap=False)
        self.speed.setObjectName("speed")
        self.state = label(role="caption", parent=self)
        row.addWidget(self.run_button)
        row.addWidget(self.tokens)
        row.addWidget(self.provider)
        row.addWidget(self.state, 1)
        row.addWidget(self.speed)
        box.addLayout(row)
        box.addSpacing(4)
        self.output = QPlainTextEdit(self)
        self.output.setObjectName("output")
        self.output.setReadOnly(True)
        self.output.setProperty("sunken", True)
        self.output.setFont(mono(13))
        self.output.setPlaceholderText(self.tr("What the model writes appears here, token by token."))
        self.output.setAccessibleName(self.tr("Generated text"))
        box.addWidget(self.output, 1)
        self.notice = Notice(self)
        box.addWidget(self.notice)
        foot = QHBoxLayout()
        foot.addStretch(1)
        close = button(self.tr("Close"), "close")
        foot.addWidget(close)
        box.addLayout(foot)
        self.run_button.clicked.connect(self.toggle)
        self.prompt.textChanged.connect(self._enable)
        close.clicked.connect(self.close)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self, activated=self.run)
        board.event.connect(self._on_event)
        theme().changed.connect(self.update)
        self.resize(640, 520)
        self.prompt.setFocus()
        self._enable()

    @property
    def running(self) -> bool:
        return bool(self.job)

    def toggle(self) -> None:
        """Starts, or stops with what there is."""
        if self.running:
            self.board.control(self.job, "stop")
            self.state.setText(self.tr("Stopping …"))
        else:
            self.run()

    def run(self) -> None:
        prompt = self.prompt.toPlainText()
        if self.running or not prompt.strip():
            return
        keep("try-export", {"prompt": prompt, "tokens": self.tokens.value()})
        self.output.setPlainText(prompt)
        self.notice.tell("")
        self.speed.setText("")
        self.state.setText(self.tr("Loading …"))
        spec = TryExportSpec(folder=self.folder, prompt=prompt, max_new_tokens=self.tokens.value(), provider=self.provider.chosen())
        self.job = self.board.submit(spec, self.tr("Try {folder}").format(folder=Path(self.folder).name))
        self._enable()

    def _enable(self) -> None:
        self.run_button.setText(self.tr("Stop") if self.running else self.tr("Generate"))
        self.run_button.setProperty("primary", not self.running)
        restyle(self.run_button)
        wordless = not self.prompt.toPlainText().strip()
        self.run_button.setEnabled(self.running or not wordless)
        if not self.running and wordless:
            self.state.setText(self.tr("Write a prompt first."))
        elif not self.running and self.state.text() == self.tr("Write a prompt first."):
            self.state.setText("")

    def _on_event(self, event: Any) -> None:
        if not self.job or event.job != self.job:
            return
        if isinstance(event, RoundTaken):
            self._add(event.round.final_text)
            self.state.setText(self.tr("{n} tokens").format(n=event.round.number + 1))
        elif isinstance(event, Finished):
            self._finished(event.result)
        elif isinstance(event, Failed):
            sentence, hint = failure_text(event)
            self.notice.tell(f"{sentence} {hint}".strip(), "error")
            self._over("")
        elif isinstance(event, Cancelled):
            self._over(self.tr("Cancelled."))

    def _add(self, piece: str) -> None:
        bar = self.output.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        cursor = QTextCursor(self.output.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(piece)
        if at_end:
            bar.setValue(bar.maximum())

    def _finished(self, result: dict[str, Any]) -> None:
        speed = result.get("tokens_per_s")
        if speed is not None:
            self.speed.setText(self.tr("{n} tokens/s").format(n=fmt_number(float(speed), 3)))
        count = len(result.get("ids") or ())
        self.speed.setToolTip(self.tr("Measured by onnxruntime while it wrote; the prompt isn't counted"))
        if note := fallback_note(self.provider.chosen(), str(result.get("provider") or self.provider.chosen())):
            self.notice.tell(note_text(note), "warning")
        self._over(self.tr("{n} tokens, by onnxruntime alone.").format(n=count) if count else "")

    def _over(self, text: str) -> None:
        self.job = ""
        self.state.setText(text)
        self._enable()

    def done(self, result: int) -> None:
        if self.job:
            self.board.cancel(self.job)
            self.job = ""
        super().done(result)

    def closeEvent(self, event: Any) -> None:
        if self.job:
            self.board.cancel(self.job)
            self.job = ""
        super().closeEvent(event)
