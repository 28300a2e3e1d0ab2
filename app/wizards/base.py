"""What every wizard shares: the window with its steps at the left, its pages, and the parts that several pages use.

What may be done next is decided by a `plans.Flow`; this only shows it. Covers the keyboard (Enter goes on, or to the field that's
wrong; Esc cancels), the remembering of last values, and windows too small for the steps beside the page.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QCoreApplication, QPoint, QPointF, QRect, QRectF, QSettings, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QBoxLayout,
    QButtonGroup,
    QComboBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from app.forms import FileField, calm_wheel
from app.text import TIMES, failure_text, fmt_bytes, fmt_number, fmt_percent, fmt_seconds
from app.theme import SEMIBOLD, icon_pixmap, kind_icon, restyle, theme, ui_font
from app.wizards.plans import Bytes, Flow, Said, best_device, images_problem, text_problem
from core.errors import UserError
from core.events import Failed, Finished, Ready
from core.records import DeviceInfo, Variant

STEPS_WIDTH, NARROW = 208, 640
ESTIMATE_DELAY_MS = 250
MOST_IN_A_COLUMN, TWO_COLUMNS = 4, 600  # more cards than this stand in two columns, from this width
LOW = 440  # pixels: a lower window scrolls the whole page
BEGINNING = 150  # pixels of a form that are worth scrolling to


def spoken(said: Said) -> str:
    """A plan's sentence, translated and filled in. '' for nothing."""
    if not said:
        return ""
    template = QCoreApplication.translate("wizards", said.template)
    values = {name: _shown(value) for name, value in said.values.items()}
    return string.Formatter().vformat(template, (), values)


def _shown(value: Any) -> Any:
    """A sentence's value as it's filled in."""
    if isinstance(value, UserError):
        return failure_text(value)[0]
    return fmt_bytes(value) if isinstance(value, Bytes) else value


# ---- memory ------------------------------------------------------------------------------------------------------------


def store() -> QSettings:
    """Where last values are kept."""
    return QSettings("Spokeshave", "Spokeshave")


def recall(key: str) -> dict[str, Any]:
    """What was kept under a key; empty where nothing was, or where it can't be read."""
    try:
        found = json.loads(str(store().value(f"wizards/{key}", "") or "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def keep(key: str, values: dict[str, Any]) -> None:
    store().setValue(f"wizards/{key}", json.dumps(values, default=str))


# ---- small parts -------------------------------------------------------------------------------------------------------


def label(text: str = "", role: str = "", parent: QWidget | None = None, *, wrap: bool = True, selectable: bool = False) -> QLabel:
    out = QLabel(text, parent)
    out.setWordWrap(wrap)
    out.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        out.setProperty("role", role)
    if selectable:
        out.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return out


def set_role(widget: QLabel, role: str) -> None:
    if widget.property("role") != role:
        widget.setProperty("role", role)
        restyle(widget)


def button(text: str, name: str, *, primary: bool = False, flat: bool = False) -> QPushButton:
    out = QPushButton(text)
    out.setObjectName(name)
    out.setAutoDefault(False)
    if primary:
        out.setProperty("primary", True)
    if flat:
        out.setProperty("flat", True)
    return out


def column(parent: QWidget, spacing: int = 12) -> QVBoxLayout:
    out = QVBoxLayout(parent)
    out.setContentsMargins(0, 0, 0, 0)
    out.setSpacing(spacing)
    return out


class Notice(QFrame):
    """A sentence with a sign before it: 'info', 'warning' or 'error'. Hidden while it has nothing to say."""

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setProperty("card", True)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 9, 12, 9)
        row.setSpacing(10)
        self._sign = QLabel(self)
        self._sign.setFixedWidth(18)
        self._text = label(parent=self, selectable=True)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        self._kind = "info"
        theme().changed.connect(self._paint_sign)
        self.hide()

    def text(self) -> str:
        return self._text.text() if not self.isHidden() else ""

    def tell(self, text: str, kind: str = "warning") -> None:
        self._kind = kind
        self._text.setText(text)
        self._paint_sign()
        self.setVisible(bool(text))

    def _paint_sign(self) -> None:
        color = {"info": "accent", "warning": "warn", "error": "err"}[self._kind]
        self._sign.setPixmap(icon_pixmap(self._kind, 18, color, self.devicePixelRatioF()))


class Facts(QWidget):
    """Name and value pairs, two or one beside another."""

    def __init__(self, parent: QWidget | None = None, *, columns: int = 2, plain: bool = False):
        super().__init__(parent)
        self._role = "" if plain else "value"
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(7)
        self._columns = columns

    def show_pairs(self, pairs: Iterable[tuple[str, str]]) -> None:
        while self._grid.count():
            widget = self._grid.takeAt(0).widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for i, (name, value) in enumerate(pairs):
            row, at = divmod(i, self._columns)
            key = label(name, "caption", self, wrap=False)
            text = label(value, self._role, self, selectable=True)
            text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            text.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            self._grid.addWidget(key, row, 2 * at, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            self._grid.addWidget(text, row, 2 * at + 1)
            self._grid.setColumnStretch(2 * at + 1, 1)


class Card(QAbstractButton):
    """A choice with a title and a line of what it costs and gives; one of several, told apart by a radio mark."""

    def __init__(self, title: str, line: str, parent: QWidget | None = None, *, sign: QIcon | None = None, radio: bool = True):
        super().__init__(parent)
        self.setText(title)
        self.line, self.sign, self.radio = line, sign, radio
        self.reason = ""
        self.setCheckable(radio)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName(title)
        self.setAccessibleDescription(line)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme().changed.connect(self.update)

    def refuse(self, reason: str) -> None:
        """Greys it, with the reason in place of its line; '' allows it again."""
        self.reason = reason
        self.setEnabled(not reason)
        self.setToolTip(reason)
        self.setCursor(Qt.CursorShape.ArrowCursor if reason else Qt.CursorShape.PointingHandCursor)
        self.updateGeometry()
        self.update()

    def _fonts(self) -> tuple[QFontMetrics, QFontMetrics]:
        return QFontMetrics(ui_font(13, SEMIBOLD)), QFontMetrics(ui_font(12))

    def _left(self) -> int:
        return 44 if self.radio or self.sign else 14

    def _body(self) -> str:
        return self.reason or self.line

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        title, body = self._fonts()
        room = max(width - self._left() - 14, 40)
        flags = int(Qt.TextFlag.TextWordWrap)
        high = title.boundingRect(QRect(0, 0, room, 10_000), flags, self.text()).height()
        if self._body():
            high += 3 + body.boundingRect(QRect(0, 0, room, 10_000), flags, self._body()).height()
        return high + 22

    def sizeHint(self) -> QSize:
        return QSize(360, self.heightForWidth(max(self.width(), 360)))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self.updateGeometry()

    def paintEvent(self, event: Any) -> None:
        t, p = theme(), QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        on, enabled, hover = self.isChecked(), self.isEnabled(), self.underMouse()
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        fill = t.color("accent_soft") if on else t.color("surface2")
        lively = enabled and (on or self.hasFocus())
        edge = t.color("accent" if lively else "border_strong" if hover and enabled else "border")
        p.setPen(QPen(edge, 2 if self.hasFocus() else 1))
        p.setBrush(fill)
        p.drawRoundedRect(box, 8, 8)
        if self.radio:
            self._paint_radio(p, QPointF(22, 11 + 8.5), on, enabled)
        elif self.sign:
            self.sign.paint(p, QRect(14, 11, 18, 18))
        title, _ = self._fonts()
        left, room = self._left(), self.width() - self._left() - 14
        flags = int(Qt.TextFlag.TextWordWrap)
        p.setFont(ui_font(13, SEMIBOLD))
        p.setPen(t.color("text" if enabled else "muted"))
        used = title.boundingRect(QRect(0, 0, room, 10_000), flags, self.text()).height()
        p.drawText(QRect(left, 11, room, used), flags, self.text())
        if self._body():
            p.setFont(ui_font(12))
            p.setPen(t.color("warn" if self.reason else "on_soft" if on else "text2"))
            p.drawText(QRect(left, 11 + used + 3, room, self.height()), flags, self._body())
        p.end()

    def _paint_radio(self, p: QPainter, at: QPointF, on: bool, enabled: bool) -> None:
        t = theme()
        p.setPen(QPen(t.color("accent") if on else t.color("muted" if enabled else "border_strong"), 1.4))
        p.setBrush(t.color("accent") if on else QColor(0, 0, 0, 0))
        p.drawEllipse(at, 7.5, 7.5)
        if on:
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(t.color("on_accent"))
            p.drawEllipse(at, 2.8, 2.8)


class CardList(QWidget):
    """Cards of which one is chosen, by mouse or arrow keys. Many stand in two columns, each read downwards, where there's room."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self._layout = QGridLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)
        self._rows = 0  # in each column, as they're placed now; 0: not yet
        self._group = QButtonGroup(self)
        self.cards: dict[str, Card] = {}

    def fill(self, cards: Iterable[tuple[str, str, str, str]]) -> None:
        """(key, title, line, reason why not) for each card."""
        for old in self.cards.values():
            self._group.removeButton(old)
            self._layout.removeWidget(old)
            old.deleteLater()
        self.cards = {}
        for key, title, line, reason in cards:
            card = Card(title, line, self)
            card.setObjectName(f"card:{key}")
            card.refuse(reason)
            card.toggled.connect(lambda on, key=key: self.chosen.emit(key) if on else None)
            self._group.addButton(card)
            self.cards[key] = card
        self._rows = 0
        self._arrange()

    def _arrange(self) -> None:
        columns = 2 if len(self.cards) > MOST_IN_A_COLUMN and self.width() >= TWO_COLUMNS else 1
        rows = max(-(-len(self.cards) // columns), 1)
        if rows == self._rows:
            return
        self._rows = rows
        for at, card in enumerate(self.cards.values()):
            self._layout.addWidget(card, at % rows, at // rows)
        for at in range(2):
            self._layout.setColumnStretch(at, int(at < columns))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self._arrange()

    def choose(self, key: str) -> None:
        if key in self.cards:
            self.cards[key].setChecked(True)

    def current(self) -> str:
        return next((key for key, card in self.cards.items() if card.isChecked()), "")

    def first_field(self) -> QWidget | None:
        return self.cards.get(self.current()) or next((c for c in self.cards.values() if c.isEnabled()), None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        over = self._rows if self._rows < len(self.cards) else 1  # to the other column
        keys = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: over, Qt.Key.Key_Left: -over}
        step = keys.get(Qt.Key(event.key()))
        usable = [key for key, card in self.cards.items() if card.isEnabled()]
        if step is None or not usable:
            super().keyPressEvent(event)
            return
        everything = list(self.cards)
        at = everything.index(self.current()) if self.current() in usable else -step
        at = (at + step) % len(everything)
        while everything[at] not in usable:
            at = (at + (1 if step > 0 else -1)) % len(everything)
        key = everything[at]
        self.cards[key].setChecked(True)
        self.cards[key].setFocus(Qt.FocusReason.OtherFocusReason)


class _VariantRow(QStyledItemDelegate):
    """Kind, name, size; and under the name why it can't be chosen."""

    PLAIN, WITH_REASON = 34, 48
    SizeRole, ReasonRole, DepthRole, KindRole = (Qt.ItemDataRole.UserRole + i for i in range(1, 5))

    def sizeHint(self, option: QStyleOptionViewItem, index: Any) -> QSize:
        return QSize(200, self.WITH_REASON if index.data(self.ReasonRole) else self.PLAIN)

    def paint(self, p: QPainter, option: QStyleOptionViewItem, index: Any) -> None:
        t, box = theme(), QRectF(option.rect).adjusted(1, 1, -1, -1)
        reason = index.data(self.ReasonRole)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver) and not reason
        p.save()
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        if selected or hover:
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(t.color("accent_soft" if selected else "sunken"))
            p.drawRoundedRect(box, 6, 6)
        left = int(box.left()) + 10 + 16 * int(index.data(self.DepthRole) or 0)
        top = int(box.top())
        height = self.PLAIN - 2
        if reason:
            p.setOpacity(0.55)
        kind_icon(str(index.data(self.KindRole))).paint(p, QRect(left, top + (height - 16) // 2, 16, 16))
        p.setOpacity(1.0)
        size = str(index.data(self.SizeRole) or "")
        p.setFont(ui_font(12))
        width = QFontMetrics(p.font()).horizontalAdvance(size)
        p.setPen(t.color("muted"))
        p.drawText(QRect(int(box.right()) - 10 - width, top, width + 2, height), int(Qt.AlignmentFlag.AlignVCenter), size)
        room = int(box.right()) - 24 - width - (left + 26)
        font = ui_font(13, SEMIBOLD if selected else 400)
        p.setFont(font)
        p.setPen(t.color("muted" if reason else "text"))
        name = QFontMetrics(font).elidedText(str(index.data(Qt.ItemDataRole.DisplayRole)), Qt.TextElideMode.ElideRight, room)
        p.drawText(QRect(left + 26, top, room, height), int(Qt.AlignmentFlag.AlignVCenter), name)
        if reason:
            p.setFont(ui_font(12))
            p.setPen(t.color("warn"))
            room = int(box.right()) - 12 - (left + 26)
            text = QFontMetrics(p.font()).elidedText(reason, Qt.TextElideMode.ElideRight, room)
            p.drawText(QRect(left + 26, top + height - 6, room, 18), int(Qt.AlignmentFlag.AlignVCenter), text)
        p.restore()


class VariantList(QListWidget):
    """The variants in their lineage; those that can't be used are greyed, with the reason. `many`: several may be chosen."""

    chosen = Signal()

    def __init__(self, parent: QWidget | None = None, *, many: bool = False):
        super().__init__(parent)
        self.setObjectName("variants")
        self.setItemDelegate(_VariantRow(self))
        self.setMouseTracking(True)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if many else mode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMinimumHeight(120)
        self.itemSelectionChanged.connect(self.chosen)
        theme().changed.connect(self.viewport().update)

    def fill(self, variants: Iterable[Variant], why_not: Callable[[Variant], str], selected: Iterable[str]) -> None:
        """Shows them, parents before what was made of them."""
        wanted = set(selected)
        with QSignalBlocker(self):
            self.clear()
            for depth, variant in in_lineage(variants):
                item = QListWidgetItem(variant.name, self)
                reason = why_not(variant)
                item.setData(Qt.ItemDataRole.UserRole, variant.id)
                item.setData(_VariantRow.SizeRole, fmt_bytes(variant.ledger.bytes_on_disk))
                item.setData(_VariantRow.ReasonRole, reason)
                item.setData(_VariantRow.DepthRole, depth)
                item.setData(_VariantRow.KindRole, variant.kind)
                if reason:
                    item.setFlags(Qt.ItemFlag.NoItemFlags)
                    item.setToolTip(reason)
                elif variant.id in wanted:
                    item.setSelected(True)
                    self.setCurrentItem(item) if len(wanted) == 1 else None
        self.chosen.emit()

    def selected_ids(self) -> list[str]:
        return [self.item(i).data(Qt.ItemDataRole.UserRole) for i in range(self.count()) if self.item(i).isSelected()]


def in_lineage(variants: Iterable[Variant]) -> list[tuple[int, Variant]]:
    """(depth, variant), each after its parent."""
    all_of_them = list(variants)
    known = {v.id for v in all_of_them}
    made: dict[str | None, list[Variant]] = {}
    for v in all_of_them:
        made.setdefault(v.parent if v.parent in known else None, []).append(v)
    out: list[tuple[int, Variant]] = []

    def add(parent: str | None, depth: int) -> None:
        for v in made.get(parent, []):
            out.append((depth, v))
            add(v.id, depth + 1)

    add(None, 0)
    return out


class TextChoice(QWidget):
    """A text that comes with Spokeshave, or a file of one's own."""

    changed = Signal()
    check = staticmethod(text_problem)

    def __init__(self, starter: str, caption: str = "", parent: QWidget | None = None):
        super().__init__(parent)
        box = column(self, 6)
        self.starter = QRadioButton(starter, self)
        self.starter.setObjectName("starter")
        words, self.file = self._own()
        self.own = QRadioButton(words, self)
        self.own.setObjectName("own")
        self.problem = label(role="error", parent=self)
        self.problem.hide()
        self.starter.setChecked(True)
        box.addWidget(self.starter)
        if caption:
            hint = label(caption, "muted", self)
            hint.setContentsMargins(23, 0, 0, 0)
            box.addWidget(hint)
        box.addSpacing(2)
        box.addWidget(self.own)
        inset = QHBoxLayout()
        inset.setContentsMargins(23, 0, 0, 0)
        inset.addWidget(self.file)
        box.addLayout(inset)
        box.addWidget(self.problem)
        self.problem.setContentsMargins(23, 0, 0, 0)
        self.own.toggled.connect(self._switched)
        self.file.changed.connect(self._typed)
        self.file.setVisible(False)

    def _own(self) -> tuple[str, FileField]:
        """What one's own is called, and the field for it."""
        field = FileField(self, title=self.tr("Choose a text"), patterns=self.tr("Text files (*.txt *.md *.text);;All files (*)"))
        return self.tr("A text file of my own"), field

    def path(self) -> str | None:
        """None for the text that comes with Spokeshave."""
        return self.file.path() if self.own.isChecked() else None

    def set_path(self, path: str | None) -> None:
        (self.own if path else self.starter).setChecked(True)
        if path:
            self.file.set_path(path)

    def _switched(self, own: bool) -> None:
        self.file.setVisible(own)
        if own and self.isVisible():
            self.file.setFocus()
        self._typed()

    def _typed(self) -> None:
        path = self.path()
        wrong = spoken(self.check(path)) if path else ""
        self.problem.setText(wrong)
        self.problem.setVisible(bool(wrong))
        self.changed.emit()


class ImagesChoice(TextChoice):
    """The images that a model learnt from, or a set of one's own."""

    check = staticmethod(images_problem)

    def _own(self) -> tuple[str, FileField]:
        field = FileField(self, title=self.tr("Choose images"), patterns=self.tr("Arrays of images (*.npz);;All files (*)"))
        field.line.setPlaceholderText(self.tr("An .npz file, or a folder of pictures"))
        return self.tr("Images of my own"), field


class DeviceChoice(QComboBox):
    """The devices that a worker has found, the best one first chosen; 'auto' until a worker has told."""

    changed = Signal()

    def __init__(self, board: Any, preferred: str = "auto", parent: QWidget | None = None):
        super().__init__(parent)
        self.setObjectName("device")
        self._board, self._wanted = board, preferred
        self._devices: tuple[DeviceInfo, ...] = ()
        calm_wheel(self)
        self.fill()
        self.currentIndexChanged.connect(lambda _: self.changed.emit())

    def fill(self) -> None:
        catalogue = self._board.catalogue
        devices = tuple(catalogue.devices) if catalogue else ()
        if devices == self._devices and self.count():
            return
        chosen = self.device() if self.count() and self._devices else self._wanted
        self._devices = devices
        with QSignalBlocker(self):
            self.clear()
            if not devices:
                self.addItem(self.tr("The best one there is"), "auto")
            for d in devices:
                title = self.tr("CPU") if d.name == "cpu" else d.title
                if d.free_bytes is not None:
                    title = self.tr("{title}, {free} free").format(title=title, free=fmt_bytes(d.free_bytes))
                self.addItem(title, d.name)
                self.setItemData(self.count() - 1, f"{d.name}: {d.title}", Qt.ItemDataRole.ToolTipRole)
            at = self.findData(chosen if chosen != "auto" else best_device(devices))
            self.setCurrentIndex(at if at >= 0 else max(self.findData(best_device(devices)), 0))

    def device(self) -> str:
        return str(self.currentData() or "auto")

    def info(self) -> DeviceInfo | None:
        return next((d for d in self._devices if d.name == self.device()), None)


class Estimate(QFrame):
    """What would come out, as far as it can be told beforehand. It says that it's an estimate."""

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setProperty("card", True)
        self.setObjectName("estimate")
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 10, 14, 10)
        box.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(16)
        self._name = label(self.tr("Estimated size"), parent=self, wrap=False)
        self.figure = label(parent=self, role="value", wrap=False)
        self.figure.setObjectName("estimated_size")
        self.bits = label(parent=self, role="muted", wrap=False)
        self.bits.setToolTip(self.tr("Bytes of the weights, scales included, times eight, over the parameters of the original"))
        row.addWidget(self._name)
        row.addWidget(self.figure)
        row.addStretch(1)
        row.addWidget(self.bits)
        box.addLayout(row)
        self.speed = label(parent=self, role="caption")
        self.speed.setObjectName("predicted_speed")
        self.speed.setToolTip(
            self.tr("From the teacher's measured speed, by layers and by weights read for a token. The student's own is measured later.")
        )
        box.addWidget(self.speed)
        self.rest = label(parent=self, role="caption")
        self.notes = label(parent=self, role="muted")
        self.notes.setObjectName("estimate_notes")
        box.addWidget(self.rest)
        box.addWidget(self.notes)
        self.waiting()

    def waiting(self) -> None:
        self.figure.setText("…")
        self.bits.setText("")
        set_role(self.rest, "caption")
        self.rest.setText(self.tr("Working it out"))
        self.speed.hide()
        self.notes.hide()

    def unknown(self, why: str) -> None:
        self.figure.setText(self.tr("unknown"))
        self.bits.setText("")
        set_role(self.rest, "error")
        self.rest.setText(why)
        self.speed.hide()
        self.notes.hide()

    def tell(self, before: int, result: dict[str, Any], note: Callable[[str], str]) -> None:
        """`result` as core's EstimateSpec gives it; `before`: bytes on disk of the source."""
        size, bits = result.get("bytes_on_disk"), result.get("effective_bits")
        if size is None:
            self.figure.setText(self.tr("unknown"))
        else:
            self.figure.setText(f"{fmt_bytes(before)}  →  {fmt_bytes(size)}")
        self.bits.setText(self.tr("{bits} bits a weight, all told").format(bits=fmt_number(bits, 3)) if bits is not None else "")
        memory, seconds = result.get("memory"), result.get("seconds")
        parts = []
        if memory is not None:
            parts.append(self.tr("about {memory} of memory").format(memory=fmt_bytes(memory)))
        if seconds is None:
            parts.append(self.tr("time unknown"))
        elif seconds < 1:
            parts.append(self.tr("under a second"))
        else:
            parts.append(self.tr("about {time}").format(time=fmt_seconds(seconds)))
        set_role(self.rest, "caption")
        self.rest.setText(self.tr("Takes {what}.").format(what=", ".join(parts)))
        self.speed.setText(self._predicted(result))
        self.speed.setVisible(bool(self.speed.text()))
        notes = [note(str(n)) for n in result.get("notes") or ()]
        self.notes.setText("\n".join(notes))
        self.notes.setVisible(bool(notes))

    def _predicted(self, result: dict[str, Any]) -> str:
        """The speed that a new student is predicted to have, and a draft's speed-up; '' for what has no such thing."""
        if "measured_decode" not in result:
            return ""
        measured, predicted = result["measured_decode"], result.get("predicted_decode")
        if measured is None or predicted is None:
            return self.tr("Predicted speed: unknown, for the teacher's isn't measured yet")
        gains = result.get("predicted_speedups")
        if gains:
            each = [
                self.tr("{gain} at {alpha}").format(gain=f"{TIMES}{gain:.2f}", alpha=fmt_percent(alpha, 0)) for alpha, _gamma, gain in gains
            ]
            words = self.tr("Predicted speed-up of the two, by the share of drafted tokens that's kept: {gains}")
            return words.format(gains=", ".join(each))
        return self.tr("Predicted speed: {predicted} tokens/s, {times} the teacher's measured {measured}").format(
            predicted=fmt_number(predicted, 2), times=f"{TIMES}{predicted / measured:.1f}", measured=fmt_number(measured, 3)
        )


# ---- the window --------------------------------------------------------------------------------------------------------


class Page(QWidget):
    """One page: its title and explanation stand above it, `problem` comes from the plan."""

    changed = Signal()

    def __init__(self, key: str):
        super().__init__()
        self.key = key
        self.step = self.title = self.explanation = ""
        self.body = column(self, 14)
        self.below: QWidget | None = None  # what stays in sight under the page, however far that's scrolled

    def say(self, step: str, title: str, explanation: str = "") -> None:
        """step: its name among the steps; title and explanation: what stands above it."""
        self.step, self.title, self.explanation = step, title, explanation

    def entered(self) -> None:
        """The page is about to be shown."""

    def first_field(self) -> QWidget | None:
        """What takes the keyboard when the page is shown."""
        return None

    def wrong_field(self) -> QWidget | None:
        """The first field that's marked as wrong."""
        return next((w for w in self.findChildren(QWidget) if w.property("invalid") and w.isVisible()), None)


class Steps(QWidget):
    """The steps, one below the other: a tick for those passed, the present one filled."""

    clicked = Signal(str)
    PITCH, TOP, LEFT, RADIUS = 44, 38, 38, 11.5

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setFixedWidth(STEPS_WIDTH)
        self._steps: list[tuple[str, str]] = []
        self._at = 0
        self.setMouseTracking(True)
        theme().changed.connect(self.update)

    def show_steps(self, steps: list[tuple[str, str]], at: int) -> None:
        self._steps, self._at = steps, at
        here = self.tr("Step {n} of {total}: {name}").format(n=at + 1, total=len(steps), name=steps[at][1]) if steps else ""
        self.setAccessibleName(here)
        self.update()

    def _row(self, y: float) -> int:
        return int((y - (self.TOP - self.PITCH / 2)) // self.PITCH)

    def mousePressEvent(self, event: Any) -> None:
        row = self._row(event.position().y())
        if 0 <= row < self._at:
            self.clicked.emit(self._steps[row][0])

    def mouseMoveEvent(self, event: Any) -> None:
        passed = 0 <= self._row(event.position().y()) < self._at
        self.setCursor(Qt.CursorShape.PointingHandCursor if passed else Qt.CursorShape.ArrowCursor)

    def paintEvent(self, event: Any) -> None:
        t, p = theme(), QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        for i in range(len(self._steps) - 1):
            top = self.TOP + i * self.PITCH
            p.setPen(QPen(t.color("accent" if i < self._at else "border_strong"), 1.4))
            p.drawLine(QPointF(self.LEFT, top + self.RADIUS), QPointF(self.LEFT, top + self.PITCH - self.RADIUS))
        for i, (_, name) in enumerate(self._steps):
            at = QPointF(self.LEFT, self.TOP + i * self.PITCH)
            passed, here = i < self._at, i == self._at
            p.setPen(QPen(t.color("accent" if passed or here else "border_strong"), 1.4))
            p.setBrush(t.color("accent") if here else t.color("accent_soft") if passed else QColor(0, 0, 0, 0))
            p.drawEllipse(at, self.RADIUS, self.RADIUS)
            box = QRectF(at.x() - self.RADIUS, at.y() - self.RADIUS, 2 * self.RADIUS, 2 * self.RADIUS)
            if passed:
                pen = QPen(t.color("on_soft"), 1.6)
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                p.setPen(pen)
                x, y = at.x(), at.y()
                p.drawPolyline([QPointF(x - 4, y + 0.2), QPointF(x - 1.2, y + 3), QPointF(x + 4.2, y - 3)])
            else:
                p.setPen(t.color("on_accent" if here else "text2"))
                p.setFont(ui_font(11, SEMIBOLD))
                p.drawText(box, int(Qt.AlignmentFlag.AlignCenter), str(i + 1))
            p.setFont(ui_font(13, SEMIBOLD if here else 400))
            p.setPen(t.color("text" if here else "text2"))
            room = QRectF(at.x() + 22, at.y() - 18, self.width() - at.x() - 28, 36)
            p.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextWordWrap), name)
        p.end()


class Wizard(QDialog):
    """Pages over a plan. Show it with `open()`; it deletes itself when it's done with.

    A subclass adds its pages (`add_page`) in the order of the plan's names and implements `submit`.
    """

    submitted = Signal(str)  # the id of the job that was started

    def __init__(self, plan: Any, library: Any, board: Any, parent: QWidget | None = None):
        super().__init__(parent)
        self.plan, self.library, self.board = plan, library, board
        self.flow = Flow(plan)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._pages: dict[str, Page] = {}
        self._scrolls: dict[str, QScrollArea] = {}
        self._shown: dict[str, QWidget] = {}  # each page's scroll area, with what's below it
        self._asked: set[str] = set()
        self._begun = False
        self._build()
        theme().changed.connect(self.update)
        board.event.connect(self._on_event)

    # -- building

    def _build(self) -> None:
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        middle = QHBoxLayout()
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        self.steps = Steps(self)
        self.steps.clicked.connect(self._go)
        middle.addWidget(self.steps)
        self._content = QWidget(self)
        inside = QVBoxLayout(self._content)
        inside.setContentsMargins(30, 24, 14, 0)
        inside.setSpacing(0)
        self._where = label(role="muted", parent=self._content)
        self._title = label(role="title", parent=self._content)
        self._explanation = label(role="caption", parent=self._content)
        for widget, below in ((self._where, 2), (self._title, 6), (self._explanation, 16)):
            widget.setContentsMargins(0, 0, 16, 0)
            inside.addWidget(widget)
            inside.addSpacing(below)
        self._stack = QStackedWidget(self._content)
        inside.addWidget(self._stack, 1)
        middle.addWidget(self._content, 1)
        outer.addLayout(middle, 1)
        self._footer = QWidget(self)
        foot = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._footer)
        foot.setContentsMargins(30, 11, 16, 11)
        foot.setSpacing(8)
        self.reason = label(role="caption", parent=self._footer)
        self.reason.setObjectName("reason")
        self.back_button = button(self.tr("Back"), "back")
        self.next_button = button(self.tr("Next"), "next", primary=True)
        self.finish_button = button(self.tr("Start"), "finish", primary=True)
        self.cancel_button = button(self.tr("Cancel"), "cancel")
        foot.addWidget(self.reason, 1)
        self.extra = QHBoxLayout()
        foot.addLayout(self.extra)
        for b in (self.back_button, self.next_button, self.finish_button, self.cancel_button):
            foot.addWidget(b)
        outer.addWidget(self._footer)
        self.back_button.clicked.connect(self.back)
        self.next_button.clicked.connect(self.next)
        self.finish_button.clicked.connect(self.finish)
        self.cancel_button.clicked.connect(self.reject)
        room = self.screen().availableGeometry().size() if self.screen() else QSize(1024, 700)
        self.setMinimumSize(min(420, room.width()), min(320, room.height()))
        self.resize(min(940, room.width() - 24), min(680, room.height() - 24))

    def add_page(self, page: Page) -> None:
        scroll = QScrollArea(self._stack)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder = QWidget(scroll)
        box = QVBoxLayout(holder)
        box.setContentsMargins(0, 0, 16, 18)
        box.addWidget(page)
        scroll.setWidget(holder)
        shown: QWidget = scroll
        if page.below is not None:
            shown = QWidget(self._stack)
            both = column(shown, 0)
            both.addWidget(scroll, 1)
            both.addWidget(page.below)
        self._stack.addWidget(shown)
        self._pages[page.key], self._scrolls[page.key], self._shown[page.key] = page, scroll, shown
        page.changed.connect(self.refresh)

    def page(self, name: str) -> Page:
        return self._pages[name]

    def bring_into_sight(self, page: Page, first: QWidget, then: QWidget) -> None:
        """Scrolls as little as shows the beginning of `then`, which belongs to `first`, as long as `first` stays in sight."""
        scroll = self._scrolls[page.key]
        holder, bar = scroll.widget(), scroll.verticalScrollBar()
        top = first.mapTo(holder, QPoint(0, 0)).y()
        begins = then.mapTo(holder, QPoint(0, 0)).y()
        wanted = begins + min(then.height(), BEGINNING) - scroll.viewport().height()
        if wanted > bar.value():
            bar.setValue(min(wanted, top))
        elif top < bar.value():
            bar.setValue(top)

    @property
    def current_page(self) -> Page:
        return self._pages[self.flow.page]

    # -- moving

    def begin(self) -> None:
        """Shows the first page; the subclass calls it when all pages are there."""
        self._begun = True
        self._place_below()
        self._show_page()

    def next(self) -> None:
        if self.flow.next():
            self._show_page()

    def back(self) -> None:
        if self.flow.back():
            self._show_page()

    def _go(self, name: str) -> None:
        if self.flow.go(name):
            self._show_page()

    def _show_page(self) -> None:
        page = self.current_page
        page.entered()
        self._title.setText(page.title)
        self._explanation.setText(page.explanation)
        self._explanation.setVisible(bool(page.explanation))
        self._stack.setCurrentWidget(self._shown[page.key])
        self.refresh()
        field = page.first_field()
        if field is not None:
            field.setFocus(Qt.FocusReason.OtherFocusReason)

    def refresh(self) -> None:
        """Says where one is and what may be done, after anything changed."""
        if not self._begun:
            return
        names = self.plan.pages()
        at = self.flow.place
        self.steps.show_steps([(n, self._pages[n].step) for n in names], at)
        self.steps.setVisible(len(names) > 1 and self.width() >= NARROW)
        self._where.setText(self.tr("Step {n} of {total}").format(n=at + 1, total=len(names)))
        self._where.setVisible(len(names) > 1 and not self.steps.isVisibleTo(self))
        said = self.flow.problem
        last = self.flow.last
        self.back_button.setVisible(len(names) > 1)
        self.back_button.setEnabled(not self.flow.first)
        self.next_button.setVisible(not last)
        self.finish_button.setVisible(last)
        for b, shown in ((self.next_button, not last), (self.finish_button, last)):
            b.setEnabled(shown and not said)
            b.setDefault(shown)
        why = spoken(said)
        self.reason.setText(why or self.all_well())
        active = self.finish_button if last else self.next_button
        active.setToolTip(why)
        active.setAccessibleDescription(why)

    def all_well(self) -> str:
        """What stands beside an enabled button; usually nothing."""
        return ""

    # -- ending

    def submit(self) -> str:
        """Starts the job; returns its id."""
        raise NotImplementedError

    def finish(self) -> None:
        if not self.flow.last or self.flow.problem:
            return
        job = self.submit()
        self.submitted.emit(job)
        self.accept()

    def done(self, result: int) -> None:
        for asked in list(self._asked):
            self.board.forget(asked)
        self._asked.clear()
        super().done(result)

    # -- asking the worker

    def ask(self, spec: Any, answered: Callable[[Any], None], device: str = "auto") -> str:
        """A light question; its answer comes only while this window is there."""
        asked = ""

        def come(event: Any) -> None:
            self._asked.discard(asked)
            if isValid(self):
                answered(event)

        asked = self.board.ask(spec, come, device)
        self._asked.add(asked)
        return asked

    def forget(self, asked: str) -> None:
        if asked in self._asked:
            self._asked.discard(asked)
            self.board.forget(asked)

    def _on_event(self, event: Any) -> None:
        if isinstance(event, Ready) and isValid(self):
            self.catalogue_came()

    def catalogue_came(self) -> None:
        """A worker is ready and has told what it can do."""

    # -- Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            active = self.finish_button if self.flow.last else self.next_button
            if active.isEnabled():
                active.click()
            elif (wrong := self.current_page.wrong_field()) is not None:
                wrong.setFocus(Qt.FocusReason.OtherFocusReason)
                self._scrolls[self.current_page.key].ensureWidgetVisible(wrong)
            event.accept()
            return
        super().keyPressEvent(event)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if self._begun:
            self._place_below()
            self.refresh()

    def _place_below(self) -> None:
        """What stays under a page scrolls with it in a window so low that there'd be no room left for the page."""
        low = self.height() < LOW
        for key, page in self._pages.items():
            scroll, shown = self._scrolls[key], self._shown[key]
            if page.below is not None and scroll.isAncestorOf(page.below) != low:
                page.below.layout().setContentsMargins(0, 10, 0 if low else 16, 0 if low else 12)
                (scroll.widget() if low else shown).layout().addWidget(page.below)

    def paintEvent(self, event: Any) -> None:
        t, p = theme(), QPainter(self)
        p.fillRect(self.rect(), t.color("window"))
        content = QRect(self._content.mapTo(self, self._content.rect().topLeft()), self._content.size())
        p.fillRect(content, t.color("surface"))
        p.setPen(t.color("border"))
        y = self._footer.y()
        p.drawLine(0, y, self.width(), y)
        if self.steps.isVisible():
            p.drawLine(content.left(), 0, content.left(), y)
        p.end()


class Estimator:
    """Asks for an estimate a moment after the last change, and passes on only the latest answer."""

    def __init__(self, wizard: Wizard, question: Callable[[], tuple[Any, str] | None], answered: Callable[[Any], None]):
        self._wizard, self._question, self._answered = wizard, question, answered
        self._asked = ""
        self._timer = QTimer(wizard)
        self._timer.setSingleShot(True)
        self._timer.setInterval(ESTIMATE_DELAY_MS)
        self._timer.timeout.connect(self._ask)

    def soon(self) -> None:
        self._wizard.forget(self._asked)
        self._timer.start()

    def drop(self) -> None:
        """What was asked is no longer the question."""
        self._timer.stop()
        self._wizard.forget(self._asked)

    def _ask(self) -> None:
        found = self._question()
        if found is None:
            return
        spec, device = found
        self._wizard.forget(self._asked)
        self._asked = self._wizard.ask(spec, self._come, device)

    def _come(self, event: Any) -> None:
        if isinstance(event, (Finished, Failed)):
            self._answered(event)
