"""The table of a study of gradients, and how its choices are called and marked; the plot marks them alike.

Covers showing rows of core.methods.gradient_study; what they mean against each other is gradient_rows'.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QModelIndex, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QStyledItemDelegate, QTableView, QWidget

from app import text
from app.gradient_rows import KINDS, Choice, Difference, differences
from app.theme import SEMIBOLD, numbers, theme

COLORS = {32: "text", 8: "accent", 4: "kind_quantized", 2: "kind_combined"}
COLUMNS = ("name", "loss", "apart", "perplexity", "sent", "share", "error", "seconds")
SAMPLES = {
    "loss": "8.8888 ± 0.888",
    "apart": "+0.8888 ± 0.0088 ▼",
    "perplexity": "888.88",
    "sent": "8888 MB",
    "share": "88.8 %",
    "error": "888.8 %",
    "seconds": "88 min 88 s",
}
SHOWN_FROM = {"perplexity": 700, "error": 780, "seconds": 880}  # px of the table; what isn't here is always shown
ROW = 28


def choice_name(key: Choice) -> str:
    """'4 bits, a scale a row, error feedback'."""
    tr = QCoreApplication.translate
    bits, per, feedback = key
    if bits == 32:
        return "float32"
    words = {
        ("tensor", False): tr("gradients", "{n} bits, a scale a tensor"),
        ("tensor", True): tr("gradients", "{n} bits, a scale a tensor, error feedback"),
        ("channel", False): tr("gradients", "{n} bits, a scale a row"),
        ("channel", True): tr("gradients", "{n} bits, a scale a row, error feedback"),
    }
    return words[per, feedback].format(n=bits)


def plus(value: float | None) -> str:
    """'± 0.012'; '' for None."""
    return "" if value is None else f"± {text.fmt_number(value, 2)}"


def signed(value: float) -> str:
    """'+0.0123', with a real minus sign."""
    return f"{'+' if value > 0 else ''}{value:.4f}".replace("-", text.MINUS)


def paint_marker(painter: QPainter, at: QPointF, color: str, *, square: bool, filled: bool, radius: float = 4.5) -> None:
    painter.setPen(QPen(theme().color(color), 1.8))
    painter.setBrush(theme().color(color) if filled else theme().color("surface"))
    if square:
        painter.drawRect(QRectF(at.x() - radius + 0.5, at.y() - radius + 0.5, 2 * radius - 1, 2 * radius - 1))
    else:
        painter.drawEllipse(at, radius, radius)


class ChoiceKey(QWidget):
    """What the markers mean, as many as fit."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[Choice] = []
        self.setMinimumHeight(20)
        theme().changed.connect(self.update)

    def set_keys(self, keys: list[Choice]) -> None:
        if keys != self.keys:
            self.keys = list(keys)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        words = {
            ("tensor", False): self.tr("a scale a tensor"),
            ("tensor", True): self.tr("a scale a tensor, feedback"),
            ("channel", False): self.tr("a scale a row"),
            ("channel", True): self.tr("a scale a row, feedback"),
        }
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(numbers(11))
        metrics = painter.fontMetrics()
        middle = self.height() / 2
        entries = [(COLORS[b], False, True, self.tr("{n} bits").format(n=b)) for b in dict.fromkeys(k[0] for k in self.keys if k[0] != 32)]
        kinds = [kind for kind in KINDS if any(key[1:] == kind and key[0] != 32 for key in self.keys)]
        entries += [("text2", per == "tensor", feedback, words[per, feedback]) for per, feedback in kinds]
        x = 8.0
        for color, square, filled, said in entries:
            wide = metrics.horizontalAdvance(said)
            if x + 12 + wide > self.width():
                break
            paint_marker(painter, QPointF(x, middle), color, square=square, filled=filled, radius=4)
            painter.setPen(theme().color("text2"))
            painter.drawText(QRectF(x + 9, 0, wide + 4, self.height()), int(Qt.AlignmentFlag.AlignVCenter), said)
            x += 9 + wide + 18
        painter.end()


class GradientModel(QAbstractTableModel):
    """A row a choice, in the order asked; what hasn't ended yet has its name only."""

    def __init__(self, parent: QWidget):
        super().__init__(parent)
        self.keys: list[Choice] = []
        self.rows: dict[Choice, dict[str, Any]] = {}
        self.apart: dict[Choice, Difference] = {}
        theme().changed.connect(self._repaint)

    def _repaint(self) -> None:
        if self.keys:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.keys) - 1, len(COLUMNS) - 1))

    def set_rows(self, keys: list[Choice], rows: dict[Choice, dict[str, Any]]) -> None:
        self.rows, self.apart = dict(rows), differences(rows)
        if keys != self.keys:
            self.beginResetModel()
            self.keys = list(keys)
            self.endResetModel()
        else:
            self._repaint()

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.keys)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def title(self, column: int) -> tuple[str, str]:
        """(heading, what it means)."""
        return {
            "name": (self.tr("Gradients"), self.tr("How they're sent.")),
            "loss": (
                self.tr("Loss"),
                self.tr("On text kept aside, nats a token, the lowest of a run: mean over the seeds, and its standard error."),
            ),
            "apart": (
                self.tr("Against float32"),
                self.tr(
                    "Difference of the losses of runs with the same seed: mean and half of its 95 % interval. "
                    "≈: alike, within 2 % of what float32 gains by training. ▼: worse, ▲: better, by more than the seeds differ. "
                    "?: more seeds would tell."
                ),
            ),
            "perplexity": (self.tr("Perplexity"), self.tr("e to the power of the loss.")),
            "sent": (self.tr("Sent"), self.tr("All gradients of a run, scales counted.")),
            "share": (self.tr("Of float32"), self.tr("Those bytes as a share of what float32 takes.")),
            "error": (self.tr("Error"), self.tr("Of a gradient as it arrives: |change| / |gradient|, the mean over the steps.")),
            "seconds": (self.tr("Time"), self.tr("Of a run, with this machine's other work in it.")),
        }[COLUMNS[column]]

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.title(section)[0]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.title(section)[1]
        return _aligned(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def text(self, key: Choice, column: str) -> str:
        row = self.rows.get(key)
        if column == "name":
            return choice_name(key)
        if row is None:
            return ""
        if column == "loss":
            return f"{row['heldout_loss']:.4f} {plus(row['stderr'])}".strip()
        if column == "apart":
            apart = self.apart.get(key)
            if apart is None:
                return text.DASH
            mark = {"same": " ≈", "worse": " ▼", "better": " ▲", "unclear": " ?", "unknown": ""}[apart.verdict]
            return f"{signed(apart.mean)} {plus(apart.half)}".strip() + mark
        if column == "perplexity":
            return text.fmt_number(row["heldout_perplexity"])
        if column == "sent":
            return text.fmt_bytes(row["sent"])
        if column == "share":
            return text.fmt_percent(row["sent"] / row["plain"])
        return text.fmt_percent(row["error"]) if column == "error" else text.fmt_seconds(row["seconds"])

    def as_text(self) -> str:
        lines = ["\t".join(self.title(at)[0] for at in range(len(COLUMNS)))]
        lines += ["\t".join(self.text(key, column) for column in COLUMNS) for key in self.keys if key in self.rows]
        return "\n".join(lines)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        key, column = self.keys[index.row()], COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.text(key, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _aligned(index.column())
        if role == Qt.ItemDataRole.FontRole:
            return numbers(13, SEMIBOLD if column == "apart" else 400)
        if role == Qt.ItemDataRole.ForegroundRole:
            if key not in self.rows:
                return theme().color("muted")
            apart = self.apart.get(key)
            if column == "apart" and apart is not None:
                return theme().color({"same": "ok", "better": "ok", "worse": "err", "unclear": "warn", "unknown": "text"}[apart.verdict])
            return theme().color("text" if column == "name" else "text2")
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.text(key, column) if column == "name" else self.title(index.column())[1]
        return f"{self.title(index.column())[0]}: {self.text(key, column)}" if role == Qt.ItemDataRole.AccessibleTextRole else None


def _aligned(column: int) -> int:
    across = Qt.AlignmentFlag.AlignLeft if column == 0 else Qt.AlignmentFlag.AlignRight
    return int(Qt.AlignmentFlag.AlignVCenter | across)


class _Marked(QStyledItemDelegate):
    """A choice's marker before its name, as it is in the plot."""

    def paint(self, painter: QPainter, option: Any, index: Any) -> None:
        bits, per, feedback = index.model().keys[index.row()]
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, theme().color("accent_soft"))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        at = QPointF(option.rect.left() + 14, option.rect.center().y() + 0.5)
        paint_marker(painter, at, COLORS[bits], square=per == "tensor" and bits != 32, filled=feedback or bits == 32, radius=4)
        painter.restore()
        option.rect.adjust(22, 0, 0, 0)
        super().paint(painter, option, index)


class GradientTable(QTableView):
    def __init__(self, model: GradientModel) -> None:
        super().__init__()
        self.setObjectName("choices")
        self.setModel(model)
        self.setAccessibleName(self.tr("Ways to send gradients"))
        self.setItemDelegateForColumn(0, _Marked(self))
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setWordWrap(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setSectionsClickable(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._fit()

    def _fit(self) -> None:
        width, model = self.viewport().width(), self.model()
        figures, heads = QFontMetricsF(numbers(13, SEMIBOLD)), QFontMetricsF(self.font())
        for at, name in enumerate(COLUMNS[1:], 1):
            need = max(figures.horizontalAdvance(SAMPLES[name]), heads.horizontalAdvance(model.title(at)[0])) + 16
            self.horizontalHeader().resizeSection(at, round(need))
            self.setColumnHidden(at, width < SHOWN_FROM.get(name, 0))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._fit()
