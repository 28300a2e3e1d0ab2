"""Errors: a sentence with its cause, a way out, the detail folded away, and a report to copy.

Covers failures of jobs and foreseen errors raised in the window itself; the sentences are core's, translated.
"""

from __future__ import annotations

import platform
import sys
from importlib import metadata

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

import core
from app.text import failure_text
from app.theme import mono
from app.widgets import IconLabel, button, label
from core.errors import UserError
from core.events import Failed

PACKAGES = ("torch", "transformers", "onnxruntime", "PySide6-Essentials", "pydantic")


def report_text(failed: Failed | UserError, title: str = "", device: str = "") -> str:
    """What a bug report needs: versions, device, sentence, detail. Always in English, so that whoever reads it can."""
    versions = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            versions.append(f"{name} (absent)")
    sentence = str(failed) if isinstance(failed, UserError) else failed.sentence
    lines = [
        f"Spokeshave {core.__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(versions),
        f"Device: {device or 'not known'}",
        f"What: {title}" if title else "",
        f"Kind: {failed.kind}",
        sentence,
        "",
        failed.detail,
    ]
    return "\n".join(line for line in lines if line is not None).strip() + "\n"


class ErrorDialog(QDialog):
    """`title` says what failed ('Quantize SmolLM2 to 4 bits'); the sentence says why."""

    def __init__(self, parent: QWidget | None, failed: Failed | UserError, title: str = "", device: str = ""):
        super().__init__(parent)
        self.setWindowTitle(title or self.tr("That didn't work"))
        self.setMinimumWidth(460)
        self._report = report_text(failed, title, device)
        sentence, hint = failure_text(failed)
        box = QVBoxLayout(self)
        box.setContentsMargins(22, 20, 22, 16)
        box.setSpacing(12)
        top = QHBoxLayout()
        top.setSpacing(14)
        top.addWidget(IconLabel("error", 28, "err"), 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(6)
        self.sentence = label(sentence, "section", wrap=True)
        self.sentence.setObjectName("sentence")
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        words.addWidget(self.sentence)
        self.hint = label(hint, "caption", wrap=True)
        self.hint.setObjectName("hint")
        self.hint.setVisible(bool(hint))
        words.addWidget(self.hint)
        top.addLayout(words, 1)
        box.addLayout(top)

        self.detail = QPlainTextEdit(failed.detail)
        self.detail.setReadOnly(True)
        self.detail.setFont(mono(12))
        self.detail.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.detail.setMinimumHeight(200)
        self.detail.setMinimumWidth(620)
        self.detail.hide()
        box.addWidget(self.detail, 1)

        row = QHBoxLayout()
        self.fold = button(self.tr("Show detail"), self._fold, name="detail")
        self.fold.setVisible(bool(failed.detail))
        self.copy = button(self.tr("Copy report"), self._copy, name="copy_report")
        self.close_button = button(self.tr("Close"), self.accept, name="close", primary=True)
        self.close_button.setDefault(True)
        row.addWidget(self.fold)
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(self.close_button)
        box.addLayout(row)

    def _fold(self) -> None:
        shown = self.detail.isHidden()
        self.detail.setVisible(shown)
        self.fold.setText(self.tr("Hide detail") if shown else self.tr("Show detail"))
        self.adjustSize()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._report)
        self.copy.setText(self.tr("Copied"))


def show_failure(parent: QWidget | None, failed: Failed | UserError, title: str = "", device: str = "") -> ErrorDialog:
    """Shows a failure without stopping the window; returns the dialog."""
    dialog = ErrorDialog(parent, failed, title, device)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowModality(Qt.WindowModality.WindowModal)
    dialog.open()
    return dialog


def install_excepthook(window: QWidget) -> None:
    """A defect in the window is shown as one, with its traceback, and printed; the window goes on."""
    import traceback

    from core.errors import explain

    usual = sys.excepthook

    def show(kind, error, trace) -> None:
        usual(kind, error, trace)
        if issubclass(kind, Exception):
            detail = "".join(traceback.format_exception(kind, error, trace))
            title = QCoreApplication.translate("ErrorDialog", "That didn't work")
            show_failure(window, explain(error, detail=detail), title)

    sys.excepthook = show
