"""Small widgets that several views use: panels, elided labels, bars, empty states. They know nothing of models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.theme import icon, icon_pixmap, theme


def panel() -> QFrame:
    """A card: surface, border, radius 8."""
    frame = QFrame()
    frame.setProperty("panel", True)
    return frame


def label(words: str = "", role: str = "", *, wrap: bool = False, parent: QWidget | None = None) -> QLabel:
    out = QLabel(words, parent)
    if role:
        out.setProperty("role", role)
    out.setWordWrap(wrap)
    if wrap:
        out.setMinimumWidth(1)
    return out


def tool_button(name: str, tip: str, pressed: Callable[[], object] | None = None, *, px: int = 16) -> QToolButton:
    """A small button of an icon alone; the tooltip is its accessible name too."""
    out = QToolButton()
    out.setIcon(icon(name))
    out.setIconSize(QSize(px, px))
    out.setToolTip(tip)
    out.setAccessibleName(tip)
    if pressed is not None:
        out.clicked.connect(lambda: pressed())
    return out


def button(words: str, pressed: Callable[[], object] | None = None, *, name: str = "", primary: bool = False) -> QPushButton:
    out = QPushButton(words)
    out.setObjectName(name)
    if primary:
        out.setProperty("primary", True)
    if pressed is not None:
        out.clicked.connect(lambda: pressed())
    return out


class ElidedLabel(QLabel):
    """One line that ends in … where it doesn't fit, with all of it as the tooltip where no other was given."""

    def __init__(self, words: str = "", role: str = "", mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight):
        super().__init__(words)
        self._mode, self._tip = mode, ""
        if role:
            self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setMinimumWidth(20)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 2, max(super().sizeHint().height(), self.fontMetrics().height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(20, self.sizeHint().height())

    def setToolTip(self, tip: str) -> None:
        self._tip = tip
        super().setToolTip(tip)

    def paintEvent(self, event: QPaintEvent) -> None:
        metrics = QFontMetrics(self.font())
        shown = metrics.elidedText(self.text(), self._mode, self.width())
        tip = self._tip or (self.text() if shown != self.text() else "")
        if self.toolTip() != tip:
            super().setToolTip(tip)
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(self.rect(), int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), shown)
        painter.end()


class Bar(QWidget):
    """A rounded bar filled to `share`, 0 to 1; None draws the empty groove."""

    def __init__(self, height: int = 6, color: str = "accent"):
        super().__init__()
        self.share: float | None = None
        self.color = color
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set_color(self, color: str) -> None:
        if color != self.color:
            self.color = color
            self.update()

    def set_share(self, share: float | None) -> None:
        if share != self.share:
            self.share = share
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_bar(painter, QRectF(self.rect()), self.share, self.color)
        painter.end()


def paint_bar(painter: QPainter, rect: QRectF, share: float | None, color: str = "accent") -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    radius = rect.height() / 2
    painter.setBrush(theme().color("border"))
    painter.drawRoundedRect(rect, radius, radius)
    if share:
        filled = QRectF(rect)
        filled.setWidth(max(rect.height(), rect.width() * min(share, 1.0)))
        painter.setBrush(theme().color(color))
        painter.drawRoundedRect(filled, radius, radius)
    painter.restore()


class IconLabel(QLabel):
    """A line icon by itself, that follows the theme."""

    def __init__(self, name: str, px: int, color: str = "text2"):
        super().__init__()
        self._name, self._px, self._color = name, px, color
        self.setFixedSize(px, px)
        theme().changed.connect(self._draw)
        self._draw()

    def set_icon(self, name: str, color: str) -> None:
        if (name, color) != (self._name, self._color):
            self._name, self._color = name, color
            self._draw()

    def _draw(self) -> None:
        self.setPixmap(icon_pixmap(self._name, self._px, self._color, self.devicePixelRatioF()))


class EmptyState(QWidget):
    """What a view shows when it has nothing: an icon, a title, two lines, and what to press."""

    def __init__(self, picture: str, title: str, lines: str, buttons: Sequence[QPushButton] = ()):
        super().__init__()
        box = QVBoxLayout(self)
        box.setSpacing(0)
        box.addStretch(5)
        self.picture = IconLabel(picture, 52, "border_strong")
        box.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignHCenter)
        box.addSpacing(12)
        self.title = label(title, "title", wrap=True)
        self.lines = label(lines, "caption", wrap=True)
        for words in (self.title, self.lines):
            words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.lines.setMaximumWidth(420)
        box.addWidget(self.title)
        box.addSpacing(6)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.lines, 100)
        row.addStretch(1)
        box.addLayout(row)
        if buttons:
            box.addSpacing(16)
            row = QHBoxLayout()
            row.setSpacing(8)
            row.addStretch(1)
            for each in buttons:
                row.addWidget(each)
            row.addStretch(1)
            box.addLayout(row)
        box.addStretch(6)


class Segmented(QFrame):
    """A switch of a few named parts, one of them on. `chosen` gives its key."""

    chosen = Signal(str)

    def __init__(self, parts: Sequence[tuple[str, str]]):
        super().__init__()
        self.setProperty("segments", True)
        self.setFixedHeight(34)
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 3, 3, 3)
        row.setSpacing(2)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self.buttons: dict[str, QToolButton] = {}
        for key, words in parts:
            part = QToolButton()
            part.setText(words)
            part.setCheckable(True)
            part.setProperty("segment", True)
            part.setObjectName(f"show_{key}")
            part.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
            self._group.addButton(part)
            self.buttons[key] = part
            row.addWidget(part)
        self.buttons[parts[0][0]].setChecked(True)

    def set_current(self, key: str) -> None:
        self.buttons[key].setChecked(True)

    @property
    def current(self) -> str:
        return next(key for key, part in self.buttons.items() if part.isChecked())
