"""Speeds of several forms of a model as bars beside each other: measured in turns in one run, and what disturbed it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.notes import note_text
from app.text import TIMES, fmt_number
from app.theme import numbers
from app.widgets import Bar, ElidedLabel, label


class SpeedBars(QWidget):
    """A row for each form: its name, a bar, tokens per second, and how many times the first's that is."""

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(6)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(0, 3)
        self._grid.setColumnStretch(1, 4)
        box.addLayout(self._grid)
        self.note = label("", "caption", wrap=True)
        self.note.setObjectName("speed_note")
        box.addWidget(self.note)
        self.hide()

    def show_speeds(self, rows: list[tuple[str, float | None]], unit: str, notes: list[str], *, less: bool = False, tip: str = "") -> None:
        """rows: (name, figure or None where it wasn't measured); the first is what others are compared with. less: smaller is faster."""
        while self._grid.count():
            widget = self._grid.takeAt(0).widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        known = [figure for _, figure in rows if figure]
        first = rows[0][1] if rows else None
        for at, (name, figure) in enumerate(rows):
            bar = Bar(8, "accent" if at else "muted")
            bar.set_share(figure / max(known) if figure and known else None)
            bar.setToolTip(tip)
            value = label(f"{fmt_number(figure, 3)} {unit}" if figure else self.tr("not measured"), "caption")
            value.setFont(numbers(12))
            ratio = (first / figure if less else figure / first) if at and figure and first else None
            times = label(f"{TIMES}{ratio:.2f}" if ratio else "", "caption")
            times.setFont(numbers(12))
            times.setToolTip(self.tr("How many times as fast as {name}").format(name=rows[0][0]) if ratio else "")
            for widget in (value, times):
                widget.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for column, widget in enumerate((ElidedLabel(name, "caption"), bar, value, times)):
                self._grid.addWidget(widget, at, column)
        self.note.setText(" ".join(note_text(note) for note in notes))
        self.note.setVisible(bool(notes))
        self.setVisible(bool(rows))


def speeds_of(result: dict[str, Any]) -> list[tuple[str, float | None]]:
    """(name, tokens per second) of a comparison's forms: those that torch runs, and then the export."""
    torch = QCoreApplication.translate("SpeedBars", "{name}, torch")
    forms = (result.get("forms") or {}).items()
    return [(form["name"] if key == "export" else torch.format(name=form["name"]), form.get("tokens_per_s")) for key, form in forms]
