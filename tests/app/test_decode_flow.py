"""The token flow: layout as arithmetic, and the painted view under mouse and keys."""

from __future__ import annotations

import random

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.decode_run import Cell, Kind, cells_of_round
from app.theme import theme
from app.token_flow import CELL, GAP, JOINED, MARGIN_Y, PITCH, ROUND_GAP, TokenFlow, breaks_after, gap_before, lay_out, nearest_in
from tests.app.decode_invented import invent


def cell(text=" a", kind=Kind.ACCEPTED, round=0, kept=True) -> Cell:
    return Cell(text, 1, kind, round, 0, kept)


# ---- arithmetic


def test_cells_fill_a_line_and_go_on_in_the_next():
    xs, begins, end = lay_out([40, 40, 40], [0, 3, 3], [0, 0, 0], 90)
    assert (xs, begins, end) == ([0, 43, 0], [2], 40)


def test_a_line_just_full_isnt_broken():
    assert lay_out([40, 47], [0, 3], [0, 0], 90)[:2] == ([0, 43], [])
    assert lay_out([40, 48], [0, 3], [0, 0], 90)[:2] == ([0, 0], [1])


def test_a_cell_wider_than_the_line_has_one_of_its_own():
    assert lay_out([200, 10], [0, 3], [0, 0], 90) == ([0, 0], [1], 10)


def test_the_text_breaks_lines():
    assert lay_out([10, 10], [0, 3], [0, 1], 90) == ([0, 0], [1], 10)


def test_laying_out_in_pieces_is_laying_out_at_once():
    rng = random.Random(5)
    n = 400
    widths = [rng.randint(8, 120) for _ in range(n)]
    gaps = [rng.choice((1, 3, 10)) for _ in range(n)]
    breaks = [rng.random() < 0.05 for _ in range(n)]
    whole = lay_out(widths, gaps, breaks, 500)
    xs, begins, x, i = [], [], 0, 0
    while i < n:
        k = rng.randint(1, 30)
        some, lines, x = lay_out(widths[i : i + k], gaps[i : i + k], breaks[i : i + k], 500, x, i)
        xs, begins, i = xs + some, begins + lines, i + k
    assert (xs, begins, x) == whole
    assert all(left + width <= 500 or left == 0 for left, width in zip(xs, widths, strict=True))


def test_gaps_tell_rounds_and_words_apart():
    assert gap_before(cell(), None) == 0
    assert gap_before(cell(round=1), cell(round=0)) == ROUND_GAP
    assert gap_before(cell(" b"), cell(" a")) == GAP
    assert gap_before(cell("b"), cell(" a")) == JOINED  # goes on with the word
    assert gap_before(cell("b"), cell("a\n")) == GAP
    assert gap_before(cell("b", Kind.REJECTED), cell(" a")) == GAP
    assert gap_before(cell(" b", Kind.PLAIN, 1), cell(" a", Kind.PLAIN, 0)) == GAP  # plain text isn't cut into rounds of one


def test_only_text_that_stays_breaks_a_line():
    assert breaks_after(cell("\n"))
    assert not breaks_after(cell("\n", Kind.REJECTED, kept=False))


def test_nearest_in_a_line():
    assert nearest_in([0, 50, 100], [40, 40, 40], 0, 3, 75) == 1


# ---- the view


@pytest.fixture
def flow(qtbot):
    theme().load_fonts()
    flow = TokenFlow()
    qtbot.addWidget(flow)
    flow.resize(500, 200)
    flow.show()
    qtbot.waitExposed(flow)
    return flow


def cells(rounds=40, **more) -> list[Cell]:
    return [c for i, taken in enumerate(invent(rounds, **more)) for c in cells_of_round(taken, i)]


def columns(flow: TokenFlow):
    return list(flow._x), list(flow._width), list(flow._lines), bytes(flow._kind), list(flow._shown), flow._end


def test_appended_piecemeal_truncated_and_laid_out_anew_it_looks_the_same(flow):
    all_cells = cells()
    flow.append(all_cells)
    whole = columns(flow)
    flow.clear()
    assert columns(flow)[:3] == ([], [], [])
    for i in range(0, len(all_cells), 7):
        flow.append(all_cells[i : i + 7])
    assert columns(flow) == whole
    flow.truncate(50)
    flow.append(all_cells[50:])
    assert columns(flow) == whole
    flow.truncate(flow._lines[3])  # exactly at a line's beginning
    flow.append(all_cells[len(flow.cells) :])
    assert columns(flow) == whole
    flow.resize(400, 200)
    flow.resize(500, 200)
    assert columns(flow) == whole


def test_it_follows_its_end_until_scrolled_away(flow):
    all_cells = cells(80)
    flow.append(all_cells[:200])
    bar = flow.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    assert bar.maximum() % PITCH == 0  # whole lines
    flow.append(all_cells[200:250])
    assert bar.value() == bar.maximum()
    bar.setValue(31)
    flow.append(all_cells[250:])
    assert bar.value() == 31


def test_every_cell_is_found_where_it_is(flow):
    flow.append(cells(12))
    flow.verticalScrollBar().setValue(0)
    for i in range(len(flow.cells)):
        assert flow.cell_at(flow.rect_of(i).center()) == i
    assert flow.cell_at(QPoint(5, MARGIN_Y + CELL + 3)) == -1  # between lines
    assert flow.cell_at(QPoint(5, 100_000)) == -1


def test_the_mouse_points_and_pins(flow, qtbot):
    flow.append(cells(4))
    with qtbot.waitSignal(flow.pointed):
        QTest.mouseMove(flow.viewport(), flow.rect_of(3).center())
    assert flow.current == 3
    QTest.mouseClick(flow.viewport(), Qt.MouseButton.LeftButton, pos=flow.rect_of(5).center())
    assert flow.pinned_cell == 5
    QTest.mouseClick(flow.viewport(), Qt.MouseButton.LeftButton, pos=flow.rect_of(5).center())
    assert flow.pinned_cell == -1


def press(flow, *keys):
    for key in keys:
        QTest.keyClick(flow, key)


def test_keys_move_pin_and_let_go(flow):
    k = Qt.Key
    flow.append(cells(60))
    flow.verticalScrollBar().setValue(0)
    press(flow, k.Key_Right)
    assert flow.current == 0
    press(flow, k.Key_Right, k.Key_Right)
    assert flow.current == 2
    press(flow, k.Key_Down)
    assert flow._line_of(flow.current) == 1
    press(flow, k.Key_Up, k.Key_Left)
    assert flow._line_of(flow.current) == 0
    press(flow, k.Key_End)
    assert flow.current == len(flow.cells) - 1
    assert flow.viewport().rect().contains(flow.rect_of(flow.current))
    press(flow, k.Key_PageUp)
    assert flow._line_of(flow.current) < len(flow._lines) - 2
    press(flow, k.Key_Return)
    pinned = flow.pinned_cell
    assert pinned >= 0
    press(flow, k.Key_Escape)
    assert (flow.pinned_cell, flow.current) == (-1, -1)
    press(flow, k.Key_Home)
    assert flow.current == 0


def test_keys_do_nothing_without_tokens(flow):
    press(flow, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Escape)
    assert flow.current == -1


def test_truncating_lets_go_of_a_pinned_cell(flow):
    flow.append(cells(10))
    flow.pin(20)
    flow.truncate(10)
    assert flow.current == -1


def test_what_is_copied_is_the_text(flow):
    flow.append(
        [
            cell(" Once", Kind.PROMPT, -1),
            cell(" a"),
            cell(" dog", Kind.REJECTED, kept=False),
            cell(" cat", Kind.CORRECTED),
            cell(" x", Kind.UNTESTED, kept=False),
        ]
    )
    QTest.keyClick(flow, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == " a cat"
    flow.set_copy_text(" décodé")
    flow.copy()
    assert QGuiApplication.clipboard().text() == " décodé"


def picture(flow):
    return flow.viewport().grab().toImage()


def test_each_state_has_a_look_of_its_own(flow):
    """In shades of grey, too: no state is told by colour alone."""
    from PySide6.QtGui import QImage

    looks = []
    for kind in Kind:
        flow.clear()
        flow.append([cell(" word", kind)])
        looks.append(picture(flow).copy(flow.rect_of(0)).convertToFormat(QImage.Format.Format_Grayscale8))
    for i, a in enumerate(looks):
        assert all(a != b for b in looks[:i])


def test_a_filter_dims_the_rest(flow):
    flow.append([cell(" a"), cell(" b", Kind.REJECTED)])
    before = picture(flow)
    flow.set_only(Kind.REJECTED)
    after = picture(flow)
    kept, dimmed = flow.rect_of(1), flow.rect_of(0)
    assert after.copy(kept) == before.copy(kept)
    assert after.copy(dimmed) != before.copy(dimmed)


def test_it_follows_the_theme(flow):
    flow.append(cells(3))
    light = picture(flow)
    theme().set_dark(True)
    try:
        assert picture(flow) != light
    finally:
        theme().set_dark(False)
    assert picture(flow) == light


def test_scrolling_by_steps_paints_what_painting_at_once_does(flow, qtbot):
    """Moved pixels plus the newly exposed strip must add up to the whole picture."""
    flow.append(cells(60))
    qtbot.wait(20)
    flow.verticalScrollBar().setValue(62)
    qtbot.wait(20)
    scrolled = flow.grab().toImage()
    flow.viewport().update()
    qtbot.wait(20)
    assert flow.grab().toImage() == scrolled


def test_long_and_odd_tokens(flow):
    flow.append([cell(" " + "x" * 500), cell(""), cell("\x00"), cell("海" * 3), cell("\ufffd")])
    picture(flow)
    assert max(flow._width) <= 260
    assert flow._shown[1] == "#1"
