"""A variant's exports in the inspector: what each is, whether its folder is still there, and what can be done with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.library_model import Library
from app.text import core_text, export_words, fmt_bytes, fmt_number
from app.widgets import ElidedLabel, IconLabel, label, tool_button
from core import exports
from core.records import ExportRecord, Variant


class ExportRow(QWidget):
    """One export. What its menu asks for opens over the window."""

    def __init__(self, library: Library, board: Any, variant: Variant, record: ExportRecord):
        super().__init__()
        self.library, self.board, self.variant, self.record = library, board, variant, record
        why = exports.why_not(record)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 2, 0, 4)
        row.setSpacing(6)
        sign = IconLabel("warning" if why else "check", 14, "warn" if why else "ok")
        row.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(1)
        self.name = ElidedLabel(Path(record.folder).name, "caption", Qt.TextElideMode.ElideMiddle)
        self.name.setToolTip(record.folder)
        words.addWidget(self.name)
        self.line = label(core_text(why) if why else self._line(), "muted", wrap=True)
        self.line.setObjectName("export_line")
        if not why and record.kl is not None:
            self.line.setToolTip(self.tr("Checked to: the mean divergence of its probabilities from torch's, in the check's worst text"))
        elif not why and record.max_abs is not None:
            self.line.setToolTip(self.tr("Checked to: the largest difference of an output from torch's, over the whole check"))
        words.addWidget(self.line)
        row.addLayout(words, 1)
        self.more = tool_button("more", self.tr("What to do with this export"), self._menu, px=16)
        self.more.setObjectName("export_menu")
        row.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        self.menu = QMenu(self)
        self._fill(bool(why))

    def _line(self) -> str:
        parts = ["ONNX", exports.title(self.record, export_words()), fmt_bytes(self.record.bytes)]
        if self.record.kl is not None:
            parts.append(self.tr("checked to a KL of {figure}").format(figure=fmt_number(max(self.record.kl, 0.0), 2)))
        elif self.record.max_abs is not None:
            parts.append(self.tr("checked to {figure}").format(figure=fmt_number(self.record.max_abs, 2)))
        return " \u00b7 ".join(part for part in parts if part)

    def _fill(self, gone: bool) -> None:
        if not gone:
            if self.record.task == "causal-lm":
                self.menu.addAction(self.tr("Try it\u2026"), self.try_it)
                self.menu.addAction(self.tr("Compare with torch\u2026"), self.compare)
            elif self.record.task == "diffusion":
                self.menu.addAction(self.tr("Draw with it\u2026"), self.draw)
            elif self.record.task == "classifier":
                self.menu.addAction(self.tr("Try it on texts\u2026"), self.classify)
            self.menu.addAction(self.tr("Look inside\u2026"), self.look)
            folder = QUrl.fromLocalFile(self.record.folder)
            self.menu.addAction(self.tr("Show folder"), lambda: QDesktopServices.openUrl(folder))
            self.menu.addSeparator()
        forget = self.menu.addAction(self.tr("Forget it"), self.forget)
        forget.setToolTip(self.tr("Takes it from this list; its folder isn't touched"))
        self.menu.setToolTipsVisible(True)

    def _menu(self) -> None:
        self.menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _shown(self, dialog: QWidget) -> QWidget:
        dialog.show()
        return dialog

    def _workspace(self) -> str:
        return str(self.library.workspace.folder) if self.library.workspace else ""

    def try_it(self) -> QWidget:
        from app.wizards.try_export import TryExportDialog  # the wizards build on much that the inspector needs only here

        return self._shown(TryExportDialog(self.board, self.record.folder, self.window()))

    def compare(self) -> QWidget:
        from app.compare_export import CompareDialog

        return self._shown(CompareDialog(self.board, self._workspace(), self.record.folder, self.variant.id, self.window()))

    def classify(self) -> QWidget:
        from app.compare_export import ClassifyDialog

        return self._shown(ClassifyDialog(self.board, self._workspace(), self.record.folder, self.variant.id, self.window()))

    def draw(self) -> QWidget:
        from app.draw_export import DrawDialog

        return self._shown(DrawDialog(self.board, self._workspace(), self.record.folder, self.variant.id, self.window()))

    def look(self) -> QWidget:
        from app.look_export import LookDialog

        return self._shown(LookDialog(self.board, self.record.folder, self.window()))

    def forget(self) -> None:
        if self.library.workspace is not None:
            self.library.workspace.forget_export(self.variant.id, self.record.folder)
            self.library.refresh()
