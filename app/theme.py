"""Theme: the palette, the fonts, the icons and the style sheet, for light and dark.

Covers how things look; knows no view. A full QPalette and a small style sheet on Fusion, since Qt's own colour
scheme switch does nothing on a bare X server.

What widgets ask for, they ask by a dynamic property, set before they're shown:

    QFrame        panel=True            a card: surface, 1 px border, radius 8
                  sunken=True           a well
    QPushButton   primary=True          the accent one (one a page)
                  flat=True             no border until hovered
                  danger=True           text in the error colour
    QToolButton   segment=True          a part of a segmented switch;  bar=True  an action of the top bar
    QLabel        role='title' (17/600) 'section' (13/600) 'figure' (20/600) 'caption' (12) 'muted' (12) 'value' (13/600)
                  'warn' 'error' 'ok'

`restyle(widget)` repaints one whose property changed later. What paints by itself asks `theme().color(name)` while painting
and repaints at `theme().changed`.
"""

from __future__ import annotations

import functools
import math
import re

from PySide6.QtCore import QDir, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QIcon, QIconEngine, QPainter, QPainterPath, QPalette, QPixmap, QPolygonF
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QWidget

from resources import ROOT

PALETTE: dict[str, tuple[str, str]] = {  # name: (light, dark)
    "window": ("#F3F5F8", "#13161B"),
    "surface": ("#FFFFFF", "#1A1E25"),
    "surface2": ("#F7F8FA", "#1F242C"),
    "sunken": ("#EDF0F4", "#101318"),
    "border": ("#E2E6EC", "#2A303A"),
    "border_strong": ("#C9D0DA", "#3D4654"),
    "text": ("#1A2230", "#E3E8EF"),
    "text2": ("#526074", "#A3AEBD"),
    "muted": ("#677488", "#7D8999"),
    "accent": ("#2F66D0", "#6C9DF5"),
    "accent_hover": ("#2758B8", "#86AFF8"),
    "on_accent": ("#FFFFFF", "#0E1420"),
    "accent_soft": ("#E4ECFB", "#22304A"),
    "on_soft": ("#1F4A9C", "#B5CEFB"),
    "ok": ("#0A7D5C", "#4CC79F"),
    "warn": ("#9A6200", "#E3B341"),
    "err": ("#B3400A", "#F0884F"),
    "accepted_fill": ("#E2F3EC", "#15302A"),
    "accepted_edge": ("#B4DDCD", "#27594A"),
    "accepted_text": ("#14533F", "#A9DFCB"),
    "rejected_fill": ("#FFD9C2", "#5A2E12"),
    "rejected_edge": ("#D55E00", "#F08A4B"),
    "rejected_text": ("#8A3A00", "#FFD0B3"),
    "corrected_fill": ("#1F6FB2", "#4FA8E3"),
    "corrected_edge": ("#1F6FB2", "#4FA8E3"),
    "corrected_text": ("#FFFFFF", "#06243A"),
    "bonus_fill": ("#E6DCFA", "#3D2C66"),
    "bonus_edge": ("#7B4FC9", "#B594F0"),
    "bonus_text": ("#4B2A91", "#E3D6FF"),
    "kind_original": ("#1A2230", "#F2F5F9"),
    "kind_pruned": ("#56A5DE", "#7CC0F5"),
    "kind_quantized": ("#D9702B", "#E8793A"),
    "kind_distilled": ("#0E8C6C", "#2BA583"),
    "kind_combined": ("#7A2E8E", "#A65FD0"),
}

UI_FAMILIES = ["Inter", "Noto Sans CJK SC", "WenQuanYi Micro Hei", "DejaVu Sans"]
MONO_FAMILIES = ["JetBrains Mono", "Noto Sans Mono CJK SC", "WenQuanYi Micro Hei Mono", "DejaVu Sans Mono"]
SYMBOLS = {"original": "star", "pruned": "s", "quantized": "o", "distilled": "t1", "combined": "d"}
SEMIBOLD = QFont.Weight(600)  # PySide's enum has no attribute that every version spells alike


class Theme(QObject):
    """The app-wide look. `changed` fires when light and dark are switched."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.dark = False
        self._fonts_loaded = False
        self._applied: QApplication | None = None

    def color(self, name: str) -> QColor:
        """A colour of the palette by its name; KeyError for an unknown one."""
        return QColor(PALETTE[name][self.dark])

    def kind_color(self, kind: str) -> QColor:
        return self.color(f"kind_{kind}")

    def set_dark(self, dark: bool) -> None:
        if dark == self.dark:
            return
        self.dark = dark
        if self._applied is not None:
            self._paint(self._applied)
        self.changed.emit()

    def apply(self, app: QApplication) -> None:
        """Sets style, fonts, palette and style sheet. Once, after the application is made."""
        QDir.setSearchPaths("spokeshave", [str(ROOT / "icons")])
        app.setStyle("Fusion")
        self.load_fonts()
        app.setFont(ui_font(13))
        self._applied = app
        self._paint(app)

    def load_fonts(self) -> None:
        if not self._fonts_loaded:
            self._fonts_loaded = True
            for path in sorted((ROOT / "fonts").glob("*.[ot]tf")):
                QFontDatabase.addApplicationFont(str(path))

    def _paint(self, app: QApplication) -> None:
        app.setPalette(self.palette())
        app.setStyleSheet(self.style_sheet())

    def palette(self) -> QPalette:
        c, role, p = self.color, QPalette.ColorRole, QPalette()
        roles = {
            role.Window: "window",
            role.WindowText: "text",
            role.Base: "surface",
            role.AlternateBase: "surface2",
            role.Text: "text",
            role.Button: "surface",
            role.ButtonText: "text",
            role.BrightText: "err",
            role.ToolTipBase: "surface",
            role.ToolTipText: "text",
            role.PlaceholderText: "muted",
            role.Highlight: "accent_soft",
            role.HighlightedText: "on_soft",
            role.Link: "accent",
            role.LinkVisited: "accent",
            role.Light: "surface",
            role.Midlight: "surface2",
            role.Mid: "border",
            role.Dark: "border_strong",
            role.Shadow: "border_strong",
            role.Accent: "accent",
        }
        for which, name in roles.items():
            p.setColor(which, c(name))
        for which in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
            p.setColor(QPalette.ColorGroup.Disabled, which, c("muted"))
        return p

    def style_sheet(self) -> str:
        mode = "dark" if self.dark else "light"
        values = {"mode": mode, **{name: pair[self.dark] for name, pair in PALETTE.items()}}
        text = (ROOT / "style.qss").read_text(encoding="utf-8")
        return re.sub(r"@([a-z_0-9]+)", lambda m: values[m.group(1)], text)


@functools.cache
def theme() -> Theme:
    """The one theme of the application."""
    return Theme()


# ---- fonts ------------------------------------------------------------------------------------------------------


def ui_font(px: int = 13, weight: QFont.Weight | int = QFont.Weight.Normal) -> QFont:
    font = QFont(UI_FAMILIES)
    font.setPixelSize(px)
    font.setWeight(QFont.Weight(weight))
    return font


def heading(px: int = 17) -> QFont:
    return ui_font(px, SEMIBOLD)


def numbers(px: int = 13, weight: QFont.Weight | int = QFont.Weight.Normal) -> QFont:
    """The UI font with figures of one width, for columns of numbers."""
    font = ui_font(px, weight)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def mono(px: int = 12) -> QFont:
    font = QFont(MONO_FAMILIES)
    font.setPixelSize(px)
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


# ---- icons ------------------------------------------------------------------------------------------------------


class _LineIcon(QIconEngine):
    """Draws an SVG of resources/icons in a palette colour that is looked up at every painting, so it follows the theme."""

    def __init__(self, name: str, color: str) -> None:
        super().__init__()
        self.name, self.color = name, color

    def clone(self) -> QIconEngine:
        return _LineIcon(self.name, self.color)

    def paint(self, painter: QPainter, rect, mode: QIcon.Mode, state: QIcon.State) -> None:
        ratio = painter.device().devicePixelRatio() if painter.device() else 1.0
        painter.drawPixmap(rect, self.scaledPixmap(rect.size(), mode, state, ratio))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        color = "muted" if mode == QIcon.Mode.Disabled else self.color
        width, height = round(size.width() * scale), round(size.height() * scale)
        return _pixmap(self.name, QColor(PALETTE[color][theme().dark]).name(), width, height, scale)


@functools.lru_cache(maxsize=512)
def _pixmap(name: str, color: str, width: int, height: int, ratio: float) -> QPixmap:
    out = QPixmap(max(width, 1), max(height, 1))
    out.fill(Qt.GlobalColor.transparent)
    side = min(width, height)
    painter = QPainter(out)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    _svg(name, color).render(painter, QRectF((width - side) / 2, (height - side) / 2, side, side))
    painter.end()
    out.setDevicePixelRatio(ratio)
    return out


@functools.lru_cache(maxsize=256)
def _svg(name: str, color: str) -> QSvgRenderer:
    path = ROOT / "icons" / f"{name}.svg"
    return QSvgRenderer(path.read_bytes().replace(b"currentColor", color.encode()))


def icon(name: str, color: str = "text2") -> QIcon:
    """A line icon by what it stands for (the files of resources/icons); FileNotFoundError for an unknown one."""
    if not (ROOT / "icons" / f"{name}.svg").exists():
        raise FileNotFoundError(f"no icon {name}")
    return QIcon(_LineIcon(name, color))


def icon_pixmap(name: str, px: int, color: str = "text2", ratio: float = 1.0) -> QPixmap:
    """The same as a pixmap of px logical pixels, in the colour of the moment."""
    return _pixmap(name, theme().color(color).name(), round(px * ratio), round(px * ratio), ratio)


# ---- shapes of the kinds of variant ---------------------------------------------------------------------------------


def symbol(kind: str) -> str:
    """The pyqtgraph symbol of a kind of variant."""
    return SYMBOLS[kind]


def kind_path(kind: str, center: QPointF, size: float) -> QPainterPath:
    """The shape of a kind of variant: star, square, circle, triangle, diamond. `size` is about its height."""
    x, y, r = center.x(), center.y(), size / 2
    path = QPainterPath()
    if kind == "quantized":
        path.addEllipse(center, r * 0.92, r * 0.92)
        return path
    if kind == "pruned":
        path.addRect(QRectF(x - r * 0.84, y - r * 0.84, r * 1.68, r * 1.68))
        return path
    if kind == "distilled":
        points = [(0, -0.95), (0.98, 0.8), (-0.98, 0.8)]
    elif kind == "combined":
        points = [(0, -1.08), (0.82, 0), (0, 1.08), (-0.82, 0)]
    else:
        radii = [1.12 if i % 2 == 0 else 0.46 for i in range(10)]
        points = [(r10 * math.sin(i * math.pi / 5), -r10 * math.cos(i * math.pi / 5)) for i, r10 in enumerate(radii)]
    path.addPolygon(QPolygonF([QPointF(x + px * r, y + py * r) for px, py in points]))
    path.closeSubpath()
    return path


class _KindIcon(QIconEngine):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def clone(self) -> QIconEngine:
        return _KindIcon(self.kind)

    def paint(self, painter: QPainter, rect, mode: QIcon.Mode, state: QIcon.State) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().kind_color(self.kind))
        side = min(rect.width(), rect.height())
        painter.drawPath(kind_path(self.kind, QRectF(rect).center(), side * 0.66))
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        out = QPixmap(size * scale)
        out.fill(Qt.GlobalColor.transparent)
        painter = QPainter(out)
        self.paint(painter, out.rect(), mode, state)
        painter.end()
        out.setDevicePixelRatio(scale)
        return out


def kind_icon(kind: str) -> QIcon:
    """A kind's shape in its colour, for trees and legends."""
    return QIcon(_KindIcon(kind))


def restyle(widget: QWidget) -> None:
    """Makes the style sheet see a dynamic property that changed."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()
