"""The table of ways to draft: a row each as it's tried, what every column means, fewer columns where there's less room.

Covers showing rows of app.drafts_tried; naming them and choosing the best is the dialog's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from app.drafts_tried import Tried
from app.notes import note_text
from app.text import DASH, TIMES, fmt_bytes
from app.theme import SEMIBOLD, icon, numbers, theme

COLUMNS = ("name", "alpha", "cost", "gamma", "predicted", "measured", "per_call", "memory")
SAMPLES = {
    "alpha": "0.88",
    "cost": "0.88",
    "gamma": "16",
    "predicted": "×88.88",
    "measured": "×88.88 ▲",
    "per_call": "8.88",
    "memory": "888.8 MB",
}
SHOWN_FROM = {"gamma": 440, "predicted": 440, "per_call": 600, "memory": 690}  # px of the table; what isn't here is always shown
ROW = 30


def times(value: float | None) -> str:
    return f"{TIMES}{value:.2f}" if value is not None else DASH


class TriedModel(QAbstractTableModel):
    """Rows as they come, or ranked; a row that couldn't be tried holds its reason in the second column."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[Tried] = []
        self._names: dict[tuple, str] = {}
        self._best: tuple | None = None
        theme().changed.connect(self._repaint)

    def _repaint(self) -> None:
        if self.rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.rows) - 1, len(COLUMNS) - 1))

    def set_rows(self, rows: Sequence[Tried], names: dict[tuple, str], best: tuple | None) -> None:
        self.beginResetModel()
        self.rows, self._names, self._best = list(rows), names, best
        self.endResetModel()

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def title(self, column: int) -> tuple[str, str]:
        """(heading, what it means)."""
        return {
            "name": (self.tr("Way to draft"), self.tr("Who guesses the next tokens.")),
            "alpha": (
                "α",
                self.tr("Acceptance: how likely a guess is to be kept, the mean of Σ min(p, q) over the tested positions."),
            ),
            "cost": ("c", self.tr("Cost: the time of one draft step as a share of one target step. 0 is free, 1 as slow as the target.")),
            "gamma": ("γ", self.tr("Draft length that pays most by prediction; the speed was measured with at most so many.")),
            "predicted": (self.tr("Predicted"), self.tr("Speed-up over plain decoding worked out from α and the measured costs.")),
            "measured": (
                self.tr("Measured"),
                self.tr("Speed-up over plain decoding by the clock, the median of repeats. ≈: faster in some, slower in others."),
            ),
            "per_call": (self.tr("Tokens/call"), self.tr("New tokens for each call of the target; plain decoding has 1.")),
            "memory": (self.tr("Memory"), self.tr("What it holds in memory besides the target.")),
        }[COLUMNS[column]]

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.title(section)[0]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.title(section)[1]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _aligned(section)
        return None

    def reason(self, tried: Tried) -> str:
        """Why a row wasn't timed."""
        if tried.hopeless:
            return self.tr("Can't pay: {speed} at most").format(speed=times(tried.predicted))
        return note_text(tried.why)

    def text(self, tried: Tried, column: str) -> str:
        if column == "name":
            return self._names.get(tried.key, tried.name)
        if tried.why:
            return self.reason(tried) if column == "alpha" else ""
        value = getattr(tried, column)
        if value is None:
            return DASH
        if column == "gamma":
            return str(value)
        if column == "memory":
            return fmt_bytes(value) if value else "0"
        if column == "measured":
            return f"{times(value)} {'▲' if tried.pays else '≈' if tried.undecided else '▼'}"
        return times(value) if column == "predicted" else f"{value:.2f}"

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        tried, column = self.rows[index.row()], COLUMNS[index.column()]
        best = tried.key == self._best
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(tried, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _aligned(0 if tried.why else index.column())
        if role == Qt.ItemDataRole.DecorationRole and column == "name" and best:
            return icon("check", "ok")
        if role == Qt.ItemDataRole.FontRole:
            return numbers(13, SEMIBOLD if best or column == "measured" else 400)
        if role == Qt.ItemDataRole.ForegroundRole:
            if tried.why:
                return theme().color("muted")
            if column == "measured" and tried.measured is not None:
                return theme().color("ok" if tried.pays else "warn" if tried.undecided else "err")
            return theme().color("text" if column == "name" else "text2")
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleDescriptionRole):
            words = self.reason(tried) if tried.why else self.title(index.column())[1]
            return self.text(tried, column) if column == "name" else words
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.title(index.column())[0]}: {self.text(tried, column)}"
        return None


def _aligned(column: int) -> int:
    across = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
    return int(Qt.AlignmentFlag.AlignVCenter | across)


class TriedTable(QTableView):
    def __init__(self, model: TriedModel) -> None:
        super().__init__()
        self.setObjectName("tried")
        self.setModel(model)
        self.setAccessibleName(self.tr("Ways to draft"))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionsClickable(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setMinimumSectionSize(34)
        self.setMinimumWidth(280)
        self._fit()

    def _fit(self) -> None:
        """Fewer columns where there's less room: what they say is in the line beneath the table too."""
        width, model = self.viewport().width(), self.model()
        figures, heads = QFontMetricsF(numbers(13, SEMIBOLD)), QFontMetricsF(self.font())
        for at, name in enumerate(COLUMNS[1:], 1):
            need = max(figures.horizontalAdvance(SAMPLES[name]), heads.horizontalAdvance(model.title(at)[0])) + 18
            self.horizontalHeader().resizeSection(at, round(need))
            self.setColumnHidden(at, width < SHOWN_FROM.get(name, 0))

    def show_reasons(self) -> None:
        """A row that couldn't be tried has its reason right across."""
        self.clearSpans()
        for row, tried in enumerate(self.model().rows):
            if tried.why:
                self.setSpan(row, 1, 1, len(COLUMNS) - 1)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit()
