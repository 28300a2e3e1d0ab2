"""The window's small dialogs: settings, keyboard shortcuts, about."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QComboBox, QDialog, QFormLayout, QGridLayout, QHBoxLayout, QScrollArea, QSpinBox, QVBoxLayout, QWidget

import core
from app.settings import LANGUAGES, THEMES, Settings
from app.theme import numbers
from app.widgets import IconLabel, button, label


class SettingsDialog(QDialog):
    """Theme, language, threads. `accepted` means that they've been stored."""

    def __init__(self, settings: Settings, parent: QWidget | None = None):
        super().__init__(parent)
        self.settings = settings
        self.setWindowTitle(self.tr("Settings"))
        self.setMinimumWidth(400)
        box = QVBoxLayout(self)
        box.setContentsMargins(22, 18, 22, 16)
        box.setSpacing(14)
        box.addWidget(label(self.tr("Settings"), "title"))
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(10)
        self.theme = QComboBox()
        self.theme.setObjectName("theme")
        for key, words in zip(THEMES, (self.tr("As the system"), self.tr("Light"), self.tr("Dark")), strict=True):
            self.theme.addItem(words, key)
        self.theme.setCurrentIndex(self.theme.findData(settings.theme))
        self.language = QComboBox()
        self.language.setObjectName("language")
        for key, words in LANGUAGES.items():
            self.language.addItem(words, key)
        self.language.setCurrentIndex(self.language.findData(settings.language))
        self.threads = QSpinBox()
        self.threads.setObjectName("threads")
        self.threads.setRange(0, 256)
        self.threads.lineEdit().setTextMargins(8, 0, 0, 0)  # a style sheet's padding doesn't reach the line inside
        self.threads.setSpecialValueText(self.tr("All but the window's share"))
        self.threads.setValue(settings.threads)
        form.addRow(self.tr("&Theme"), self.theme)
        form.addRow(self.tr("&Language"), self.language)
        form.addRow(self.tr("T&hreads of a worker"), self.threads)
        box.addLayout(form)
        box.addWidget(label(self.tr("Threads apply from the next start. Each job's form names its device."), "muted", wrap=True))
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(button(self.tr("Cancel"), self.reject, name="cancel"))
        ok = button(self.tr("Save"), self.accept, name="save", primary=True)
        ok.setDefault(True)
        row.addWidget(ok)
        box.addLayout(row)

    def accept(self) -> None:
        self.settings.theme = self.theme.currentData()
        self.settings.language = self.language.currentData()
        self.settings.threads = self.threads.value()
        super().accept()


class ShortcutsDialog(QDialog):
    """What keys do, by group: [(group, [(keys, what)])]."""

    def __init__(self, groups: Sequence[tuple[str, Sequence[tuple[str, str]]]], parent: QWidget | None = None):
        super().__init__(parent)
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        box = QVBoxLayout(self)
        box.setContentsMargins(22, 18, 8, 16)
        box.addWidget(label(self.tr("Keyboard shortcuts"), "title"))
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 4, 12, 4)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(5)
        grid.setColumnStretch(1, 1)
        at = 0
        for group, entries in groups:
            if at:
                grid.setRowMinimumHeight(at, 8)
                at += 1
            grid.addWidget(label(group, "section"), at, 0, 1, 2)
            at += 1
            for keys, what in entries:
                native = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
                shown = label(keys if " " in keys else native, "value")
                shown.setFont(numbers(12))
                grid.addWidget(shown, at, 0)
                grid.addWidget(label(what, "caption"), at, 1)
                at += 1
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        scroll.setMinimumWidth(max(page.sizeHint().width() + 24, 420))
        box.addWidget(scroll, 1)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 14, 0)
        row.addStretch(1)
        row.addWidget(button(self.tr("Close"), self.accept, name="close", primary=True))
        box.addLayout(row)
        room = self.screen().availableGeometry().height() if self.screen() else 700
        self.resize(480, min(page.sizeHint().height() + 140, room - 60))


class AboutDialog(QDialog):
    def __init__(self, libraries: dict[str, str], parent: QWidget | None = None):
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Spokeshave"))
        self.setFixedWidth(420)
        box = QVBoxLayout(self)
        box.setContentsMargins(24, 22, 24, 18)
        box.setSpacing(8)
        top = QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(IconLabel("cube", 36, "accent"))
        names = QVBoxLayout()
        names.setSpacing(2)
        names.addWidget(label("Spokeshave", "title"))
        names.addWidget(label(self.tr("Version {version}").format(version=core.__version__), "caption"))
        top.addLayout(names, 1)
        box.addLayout(top)
        box.addWidget(
            label(
                self.tr(
                    "Takes off what a model doesn't need: prunes, quantizes and distils it, shows what each cut cost, "
                    "drafts with one model for another, and exports to ONNX and GGUF."
                ),
                "caption",
                wrap=True,
            )
        )
        if libraries:
            box.addWidget(label(" · ".join(f"{name} {version}" for name, version in libraries.items()), "muted", wrap=True))
        terms = self.tr("Apache License 2.0. Fonts: Inter and JetBrains Mono (OFL). Icons: Phosphor (MIT).")
        box.addWidget(label(terms, "muted", wrap=True))
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(button(self.tr("Close"), self.accept, name="close", primary=True))
        box.addLayout(row)
        self.setFixedHeight(box.totalHeightForWidth(420))
