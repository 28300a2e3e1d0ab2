"""The heat grid: where cells are, the cursor by key and pointer, tooltips, colours that can be read in both themes."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.heat import LEAST, Cell, HeatGrid, HeatKey, heat_color, ink_on, log_share, luminance, span
from app.theme import theme


@pytest.fixture
def grid(qtbot):
    view = HeatGrid("map")
    view.set_axes([str(r) for r in range(30)], ["q", "k", "v"])
    view.set_cells({(r, c): Cell(int(r) / 30, r, "0.01", f"{r} {c}") for r in view.rows for c in view.columns})
    view.resize(360, 240)
    qtbot.addWidget(view)
    with qtbot.waitExposed(view):
        view.show()
    return view


def test_the_cursor_moves_by_keys_and_stays_in_sight(grid):
    got = []
    grid.picked.connect(lambda *at: got.append(at))
    QTest.keyClick(grid, Qt.Key.Key_Down)
    QTest.keyClick(grid, Qt.Key.Key_Right)
    assert got == [("1", "q"), ("1", "k")]
    QTest.keyClick(grid, Qt.Key.Key_End)
    QTest.keyClick(grid, Qt.Key.Key_PageDown)
    QTest.keyClick(grid, Qt.Key.Key_PageDown)
    QTest.keyClick(grid, Qt.Key.Key_PageDown)
    assert grid.current == ("29", "v")
    assert grid.viewport().rect().contains(grid.rect_of(*grid.current).toRect())
    QTest.keyClick(grid, Qt.Key.Key_Left)
    QTest.keyClick(grid, Qt.Key.Key_Home)
    assert grid.current == ("29", "q")
    assert grid.accessibleDescription() == "29 q"


def test_a_press_picks_and_a_second_one_asks(grid):
    asked = []
    grid.asked.connect(lambda row, column, at: asked.append((row, column)))
    at = grid.rect_of("2", "k").center().toPoint()
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert grid.current == ("2", "k")
    assert asked == []
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.RightButton, pos=grid.rect_of("3", "q").center().toPoint())
    QTest.keyClick(grid, Qt.Key.Key_Return)
    assert asked == [("2", "k"), ("3", "q"), ("3", "q")]
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(2, 2))
    assert grid.current == ("3", "q")


def test_other_keys_are_for_the_view(grid):
    keys = []
    grid.pressed.connect(lambda event: (keys.append(event.key()), event.accept()))
    QTest.keyClick(grid, Qt.Key.Key_4)
    assert keys == [Qt.Key.Key_4]


def test_cells_scroll_where_there_is_no_room(grid):
    assert grid.rect_of("0", "q").height() >= LEAST.height() - 1
    assert grid.verticalScrollBar().maximum() > 0
    grid.verticalScrollBar().setValue(100)
    at = grid.viewport().rect().center()
    row, column = grid.cell_at(at)
    assert grid.rect_of(row, column).contains(at.toPointF())
    assert grid.cell_at(QPoint(1, 1)) is None


def test_an_empty_one_paints_nothing(qtbot):
    view = HeatGrid("nothing")
    qtbot.addWidget(view)
    view.grab()
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.current is None
    view.set_axes(["a"], ["b"])
    assert view.current == ("a", "b")
    view.set_axes(["c"], ["d"])
    assert view.current == ("c", "d")


@pytest.mark.parametrize("dark", [False, True])
def test_words_stand_out_on_every_colour(dark):
    before = theme().dark
    theme().dark = dark
    try:
        for step in range(11):
            ground = heat_color(step / 10)
            light, low = sorted((luminance(ground), luminance(ink_on(ground))), reverse=True)
            assert (light + 0.05) / (low + 0.05) >= 4.5
        rising = [luminance(heat_color(step / 10)) for step in range(11)]
        assert rising == sorted(rising, reverse=not dark)  # lightness alone tells them apart
    finally:
        theme().dark = before


def test_shares():
    assert log_share(None, 1, 10) is None
    assert log_share(float("nan"), 1, 10) is None
    assert log_share(0.0, 0.1, 10) == 0
    assert log_share(1.0, 0.1, 10) == pytest.approx(0.5)
    assert log_share(99, 0.1, 10) == 1
    assert span([None, 0.0, 3.0, 0.5, float("inf")]) == (0.5, 3.0)
    assert span([]) == (1.0, 1.0)


def test_the_key_paints(qtbot):
    key = HeatKey()
    qtbot.addWidget(key)
    key.set_ends("0.1", "2")
    key.resize(200, 18)
    assert not key.grab().isNull()


def test_a_grid_of_switches(grid):
    """A click, the space bar and Enter switch; the right button and the menu key still ask."""
    grid.switches, switched, asked = True, [], []
    grid.switched.connect(lambda *at: switched.append(at))
    grid.asked.connect(lambda row, column, _: asked.append((row, column)))
    at = grid.rect_of("2", "k").center().toPoint()
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    QTest.keyClick(grid, Qt.Key.Key_Space)
    assert switched == [("2", "k", False)] * 3
    assert asked == []
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.RightButton, Qt.KeyboardModifier.NoModifier, at)
    QTest.keyClick(grid, Qt.Key.Key_Menu)
    assert asked == [("2", "k")] * 2


def test_what_is_off_is_crossed_out_and_the_corner_has_its_word(grid):
    before = grid.grab().toImage()
    side = grid.rect_of("0", "q").left()
    grid.set_cells({at: Cell(0.5, "x", off=True) for at in grid.cells})
    crossed = grid.grab().toImage()
    middle = grid.rect_of("0", "k").center().toPoint()
    assert crossed.pixelColor(middle) != before.pixelColor(middle)
    grid.corner = "Quite a long word"
    grid.resize(grid.width() + 1, grid.height())  # which measures anew
    assert grid.rect_of("0", "q").left() > side
