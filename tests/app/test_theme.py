"""The look: complete in both themes, readable, small, and stable in Qt."""

import sys

import pytest
from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QFontInfo, QIcon
from PySide6.QtWidgets import QWidget

from app import theme as look
from app.theme import PALETTE, Theme, icon, kind_icon, kind_path, theme
from resources import ROOT


def luminance(color):
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (color.redF(), color.greenF(), color.blueF())]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("front", "back", "least"),
    [
        ("text", "surface", 7),
        ("text", "window", 7),
        ("text2", "surface", 4.5),
        ("muted", "surface", 4.5),
        ("on_accent", "accent", 4.5),
        ("on_soft", "accent_soft", 4.5),
        ("ok", "surface", 4.5),
        ("warn", "surface", 4.5),
        ("err", "surface", 4.5),
        ("accepted_text", "accepted_fill", 4.5),
        ("rejected_text", "rejected_fill", 4.5),
        ("corrected_text", "corrected_fill", 4.5),
        ("bonus_text", "bonus_fill", 4.5),
    ],
)
def test_words_can_be_read(dark, front, back, least):
    colors = Theme()
    colors.dark = dark
    assert contrast(colors.color(front), colors.color(back)) >= least


@pytest.mark.parametrize("dark", [False, True])
def test_the_style_sheet_is_filled_in(dark):
    colors = Theme()
    colors.dark = dark
    sheet = colors.style_sheet()
    assert "@" not in sheet
    for name in sheet.split("url(spokeshave:")[1:]:
        assert (ROOT / "icons" / name.split(")")[0]).is_file()


def test_every_colour_is_a_colour(qapp):
    for name in PALETTE:
        for dark in (False, True):
            colors = Theme()
            colors.dark = dark
            assert colors.color(name).isValid()
    with pytest.raises(KeyError):
        theme().color("mauve")


def test_fonts_are_bundled_with_their_licences_and_small(qapp):
    theme().load_fonts()
    assert QFontInfo(look.ui_font()).family() == "Inter"
    assert QFontInfo(look.mono()).family() == "JetBrains Mono"
    assert QFontInfo(look.heading()).weight() == 600
    files = list((ROOT / "fonts").iterdir())
    assert sum(f.stat().st_size for f in files) < 1_500_000
    assert {"LICENSE-Inter", "LICENSE-JetBrainsMono"} <= {f.name for f in files}
    assert (ROOT / "icons" / "LICENSE-Phosphor").is_file()


NAMES = [
    "import",
    "prune",
    "quantize",
    "distil",
    "evaluate",
    "export",
    "search",
    "sun",
    "moon",
    "play",
    "pause",
    "stop",
    "step",
    "close",
    "check",
    "warning",
    "error",
    "copy",
    "cube",
    "chevron",
    "more",
    "trash",
    "settings",
    "replay",
]


@pytest.mark.parametrize("name", NAMES)
def test_icons_are_drawn(qapp, name):
    image = icon(name).pixmap(QSize(16, 16), 1.0).toImage()
    assert any(image.pixelColor(x, y).alpha() > 40 for x in range(16) for y in range(16))


def test_icons_are_sharp_on_dense_screens_and_follow_the_theme(qapp):
    assert icon("cube").pixmap(QSize(16, 16), 2.0).size() == QSize(32, 32)
    assert kind_icon("pruned").pixmap(QSize(16, 16), 2.0).size() == QSize(32, 32)
    with pytest.raises(FileNotFoundError):
        icon("nothing")
    picture = icon("close", "text")
    light = picture.pixmap(16, 16).toImage()
    theme().set_dark(True)
    try:
        assert picture.pixmap(16, 16).toImage() != light
    finally:
        theme().set_dark(False)
    assert isinstance(picture, QIcon)


def test_kinds_have_different_shapes():
    outlines = {kind: kind_path(kind, QPointF(0, 0), 20).toFillPolygon().count() for kind in look.SYMBOLS}
    assert len(set(outlines.values())) >= 4
    assert len(set(look.SYMBOLS.values())) == 5


def test_none_isnt_lost_by_void_calls(qapp, qtbot):
    """PySide 6.12.0 on Python 3.11 loses a reference to None on void calls, and aborts after some thousand of them."""
    widget = QWidget()
    qtbot.addWidget(widget)
    before = sys.getrefcount(None)
    for _ in range(1000):
        widget.update()
    assert sys.getrefcount(None) > before - 200
