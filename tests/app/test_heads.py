"""Attention heads: which go, what that's predicted to cost, the map, the jobs, and the variant that's made."""

import math

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.heads import HeadsDialog
from app.heads_plan import HeadsPlan, maps_of
from app.library_model import Library
from app.theme import theme
from core.events import Cancelled, Failed, Finished, Metric, Progress
from core.records import ApplySpec, HeadsSpec
from tests.app.heads_invented import CONDITIONS, invent_curve, invent_heads, invent_loss
from tests.app.invented import TREE, StillBoard, invent_variant, invent_workspace, put, put_packed

# ---- the plan -----------------------------------------------------------------------------------------------------


@pytest.fixture
def plan():
    return HeadsPlan(invent_heads(5, 4, 2))


def test_the_least_important_go_first(plan):
    for criterion in ("taylor", "magnitude"):
        plan.criterion = criterion
        gone = plan.least(6)
        assert max(plan.score(u) for u in gone) <= min(plan.score(u) for u in plan.units() if u not in gone)
        assert set(plan.order()[:6]) == gone
    plan.each = True
    assert plan.most == 3
    for count in range(4):
        plan.set_off(plan.least(count))
        assert plan.counts() == [count] * 5
        assert plan.cuts == (count > 0)


def test_what_is_predicted_is_the_sum(plan):
    off = plan.least(3)
    assert plan.predicted(off) == {"taylor": pytest.approx(sum(plan.score(u) for u in off))}
    assert plan.predicted(()) == {"taylor": 0}
    judged = HeadsPlan(invent_heads(5, 4, 2, left_out=True))
    assert set(judged.predicted(off)) == {"taylor", "leave_out"}
    course = judged.predicted_course("magnitude")
    assert len(course) == 21
    assert course[0] == (0, 0.0)
    assert course[20][1] == pytest.approx(sum(judged.score(u, "leave_out") for u in judged.units()))
    assert plan.predicted_course("magnitude")[20][1] == pytest.approx(sum(plan.score(u, "taylor") for u in plan.units()))
    part = judged.map.model_copy(update={"scores": judged.map.scores | {"leave_out": ((None,) * 4,) * 5}})
    assert set(HeadsPlan(part).predicted(off)) == {"taylor"}
    assert not HeadsPlan(part).known("leave_out")


def test_only_even_choices_are_cut(plan):
    plan.set_off({(0, 1), (3, 2)})
    assert not plan.cuts
    even = plan.made_even()
    plan.set_off(even)
    assert plan.cuts
    assert plan.counts() == [1] * 5
    assert {(0, 1), (3, 2)} <= even
    assert plan.step().params == {"chosen": " ".join(f"{a}.{b}" for a, b in sorted(even))}
    plan.set_off(plan.units())
    assert not plan.cuts
    assert not HeadsPlan(plan.map, "bert").cuts
    bert = HeadsPlan(plan.map, "bert")
    bert.set_off(even)
    assert bert.even
    assert not bert.cuts


def test_changes_are_taken_back(plan):
    plan.set_off({(0, 0)})
    plan.toggle([(0, 0), (0, 1)])
    assert plan.off == {(0, 0), (0, 1)}
    plan.toggle(plan.layer(0)[:2])
    assert plan.off == frozenset()
    assert [plan.undo(), plan.undo(), plan.undo(), plan.undo()] == [True, True, True, False]
    assert plan.redo()
    assert plan.off == {(0, 0)}
    plan.set_off({(4, 3)})
    assert not plan.redo()


def test_kept_maps_are_found_and_broken_ones_passed_over(tmp_path):
    (tmp_path / "heads-a.json").write_text(invent_heads(2, 2).model_dump_json(), encoding="utf-8")
    (tmp_path / "heads-b.json").write_text('{"layers": 2', encoding="utf-8")
    assert [m.layers for m in maps_of(tmp_path)] == [2]


# ---- the window ---------------------------------------------------------------------------------------------------


@pytest.fixture
def board():
    return StillBoard()


@pytest.fixture
def make(qtbot, tmp_path, board):
    theme().load_fonts()
    workspace = invent_workspace(tmp_path / "ws", TREE[:1])
    put_packed(workspace)
    bert = invent_variant("bert", "MiniLM", None, "original", "import", {}, 90, 22, 22, 2)
    put(workspace, bert.model_copy(update={"info": bert.info.model_copy(update={"task": "classifier", "model_type": "bert"})}))
    library = Library()
    library.open(tmp_path / "ws")

    def made(variant="tiny", kept=None):
        if kept is not None:
            (workspace.path(variant) / "heads-a.json").write_text(kept.model_dump_json(), encoding="utf-8")
        dialog = HeadsDialog(library, board, variant)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(dialog)
        with qtbot.waitActive(dialog):
            dialog.show()
            dialog.activateWindow()
        return dialog

    yield made
    library.close()


def click(dialog, row, column, button=Qt.MouseButton.LeftButton):
    at = dialog.map.grid.rect_of(row, column).center().toPoint()
    QTest.mouseClick(dialog.map.grid.viewport(), button, Qt.KeyboardModifier.NoModifier, at)


def test_heads_are_judged_and_shown(make, board):
    dialog = make()
    assert dialog.pages.currentIndex() == 0
    dialog.windows.setValue(4)
    QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    spec = board.submitted[-1][0]
    assert isinstance(spec, HeadsSpec)
    assert (spec.action, spec.variant, spec.windows, spec.context, spec.text, spec.off) == ("importance", "tiny", 4, 256, None, ())
    dialog.grab()
    board.event.emit(Progress(dialog.job, "Judging by the gradient", 1, 2))
    board.event.emit(Finished(dialog.job, {"map": invent_heads().model_dump(mode="json")}, 3.0))
    assert len(dialog.map.grid.cells) == 90
    assert dialog.map.grid.columns == [str(n) for n in range(30)]
    assert [dialog.map.criterion.itemData(i) for i in range(dialog.map.criterion.count())] == list(dialog.titles())[:4]
    assert "heads 0 to 2" in dialog.map.cell_line.text()
    assert "nats, rank" in dialog.map.cell_line.text()
    assert dialog.side.count.text() == "0 of 90 groups"
    assert not dialog.apply_button.isEnabled()
    assert not dialog.measure_button.isEnabled()


def test_heads_are_switched_by_pointer_and_key(make):
    dialog = make(kept=invent_heads(6, 3))
    grid = dialog.map.grid
    click(dialog, "u1", "2")
    assert dialog.plan.off == {(2, 1)}
    assert grid.cells["u1", "2"].off
    assert "· off" in dialog.map.cell_line.text()
    click(dialog, "u1", "2")
    assert dialog.plan.off == frozenset()
    grid.setFocus()
    QTest.keyClick(grid, Qt.Key.Key_Space)
    QTest.keyClick(grid, Qt.Key.Key_Right)
    QTest.keyClick(grid, Qt.Key.Key_Space)
    assert dialog.plan.off == {(2, 1), (3, 1)}
    QTest.keyClick(grid, Qt.Key.Key_L)
    assert dialog.plan.off == {(2, 1), (3, 0), (3, 1), (3, 2)}
    QTest.keyClick(dialog, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert dialog.plan.off == {(2, 1), (3, 1)}
    QTest.keyClick(grid, Qt.Key.Key_Delete)
    assert dialog.plan.off == frozenset()
    dialog.side.undo_button.click()
    assert dialog.plan.off == {(2, 1), (3, 1)}


def test_a_stroke_switches_what_it_comes_to(make):
    dialog = make(kept=invent_heads(6, 3))
    view, places = dialog.map.grid.viewport(), [dialog.map.grid.rect_of("u0", str(n)).center().toPoint() for n in range(3)]
    QTest.mousePress(view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, places[0])
    for at in places[1:]:
        QTest.mouseMove(view, at)
        _drag(dialog.map.grid, at)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, places[2])
    assert dialog.plan.off == {(0, 0), (1, 0), (2, 0)}
    dialog.side.undo_button.click()  # the whole stroke
    assert dialog.plan.off == frozenset()


def _drag(grid, at: QPoint):
    """QTest moves the pointer without its buttons."""
    from PySide6.QtCore import QEvent, QPointF
    from PySide6.QtGui import QMouseEvent

    none, left = Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton
    grid.mouseMoveEvent(
        QMouseEvent(QEvent.Type.MouseMove, QPointF(at), grid.mapToGlobal(QPointF(at)), none, left, Qt.KeyboardModifier.NoModifier)
    )


def test_the_slider_takes_the_least_important(make, qtbot):
    dialog = make(kept=invent_heads(6, 3))
    dialog.side.slider.setValue(4)
    assert dialog.plan.off == frozenset(dialog.plan.order()[:4])
    qtbot.waitUntil(lambda: dialog.side.count.text() == "4 of 18 groups")
    rise = dialog.plan.predicted()["taylor"]
    assert dialog.side.values["taylor"].text() == f"+{rise:.3f} (×{math.exp(rise):.2f})"
    assert "zeros" in dialog.side.outcome.text()
    assert dialog.apply_button.text() == "Zero these"
    assert dialog.side.even_button.isVisible()
    assert dialog.side.even_button.text() == "Take 1 of each layer"
    dialog.side.even_button.click()
    assert dialog.plan.counts() == [1] * 6
    assert "cut out" in dialog.side.outcome.text()
    assert dialog.apply_button.text() == "Cut these"
    assert not dialog.side.even_button.isVisible()
    dialog.side.where.buttons["each"].click()
    assert dialog.side.slider.maximum() == 2
    dialog.side.slider.setValue(2)
    qtbot.waitUntil(lambda: dialog.side.count.text() == "12 of 18 groups")
    dialog.map.criterion.setCurrentIndex(2)
    assert dialog.plan.criterion == "magnitude"
    assert "nats" not in dialog.map.cell_line.text()
    dialog.side.clear_button.click()
    assert dialog.plan.off == frozenset()


def test_a_menu_of_a_cell(make):
    dialog = make(kept=invent_heads(6, 3))
    third = dialog.plan.order()[2]
    menu = dialog.map.cell_menu(f"u{third[1]}", str(third[0]))
    words = [a.text() for a in menu.actions()]
    assert words == ["Switch off", f"Switch the whole layer {third[0]}", "Switch off all that are worth no more (3)"]
    menu.actions()[2].trigger()
    assert dialog.plan.off == frozenset(dialog.plan.order()[:3])
    menu.close()


def test_the_loss_is_measured_for_exactly_what_is_off(make, board):
    dialog = make(kept=invent_heads(6, 3))
    click(dialog, "u1", "2")
    dialog.measure_button.click()
    spec = board.submitted[-1][0]
    assert (spec.action, spec.off, spec.windows) == ("loss", ((2, 1),), 8)
    board.event.emit(Finished(dialog.job, invent_loss(), 3.0))
    assert dialog.side.values["measured"].text() == "+0.071 (×1.07)"
    assert "27.2" in dialog.side.told.text()
    assert "2\u202f048 tokens" in dialog.side.told.text()
    assert not dialog.measure_button.isEnabled()  # it's known
    click(dialog, "u0", "0")
    assert dialog.side.values["measured"].text() == "not measured"
    assert dialog.side.told.text() == ""
    click(dialog, "u0", "0")
    assert dialog.side.values["measured"].text() == "+0.071 (×1.07)"


def test_the_curve_is_drawn_as_it_is_measured(make, board, qtbot):
    dialog = make(kept=invent_heads(6, 3))
    dialog.curve_button.click()
    spec = board.submitted[-1][0]
    assert (spec.action, spec.criterion, spec.off) == ("curve", "taylor", ())
    for count, value in invent_curve("taylor", 18, 19)[:7]:
        board.event.emit(Metric(dialog.job, "heads/curve/taylor", count, value))
    qtbot.waitUntil(lambda: len(dialog.chart.curves.get("taylor", ())) == 7)
    dialog.grab()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    board.event.emit(Cancelled(dialog.job))
    assert len(dialog.curves["taylor"]) == 7
    dialog.map.criterion.setCurrentIndex(2)
    dialog.curve_button.click()
    points = [list(p) for p in invent_curve("magnitude", 18, 19)]
    board.event.emit(Finished(dialog.job, {"points": points, "total": 18, "measure": "perplexity", "criterion": "magnitude"}, 3.0))
    assert set(dialog.chart.curves) == {"taylor", "magnitude"}
    assert dialog.chart.expected[0] == (0, pytest.approx(27.2))
    dialog.chart._at = 3.2
    assert "Size of the weights" in dialog.chart.reading()
    dialog.side.slider.setValue(5)
    qtbot.waitUntil(lambda: dialog.chart.here == 5)
    dialog.grab()


def test_each_is_left_out_live(make, board, qtbot):
    dialog = make(kept=invent_heads(2, 2))
    dialog.map.leave_button.click()
    assert board.submitted[-1][0].leave_out
    board.event.emit(Metric(dialog.job, "heads/leave_out/0.1", 1, -0.002))
    qtbot.waitUntil(lambda: dialog.plan.score((0, 1), "leave_out") == -0.002)
    board.event.emit(Finished(dialog.job, {"map": invent_heads(2, 2, left_out=True).model_dump(mode="json")}, 3.0))
    assert dialog.plan.criterion == "leave_out"
    assert not dialog.map.leave_button.isVisible()
    click(dialog, "u0", "0")
    assert dialog.side.values["leave_out"].text().startswith(("+", "−"))


def test_the_variant_is_made_without_them(make, board, qtbot):
    dialog = make(kept=invent_heads(6, 3))
    click(dialog, "u2", "0")
    click(dialog, "u1", "3")
    with qtbot.waitSignal(dialog.applied):
        dialog.apply_button.click()
    spec = board.submitted[-1][0]
    assert isinstance(spec, ApplySpec)
    assert (spec.variant, spec.steps[0].method, spec.steps[0].params) == ("tiny", "heads", {"chosen": "0.2 3.1"})
    assert spec.name == "groups −2 of 18"


def test_a_classifier_has_accuracy_and_only_zeros(make, board):
    found = invent_heads(6, 12, 1).model_copy(update={"conditions": CONDITIONS | {"labels": True}})
    dialog = make("bert", kept=found)
    assert dialog.measure == "accuracy"
    assert dialog.map.grid.labels["u3"] == "Head 3"
    click(dialog, "u3", "1")
    assert "no setting for fewer heads" in dialog.side.outcome.text()
    assert not dialog.side.even_button.isVisible()
    dialog.curve_button.click()
    result = {
        "points": [[0, 0.91], [36, 0.9], [72, 0.5]],
        "total": 72,
        "measure": "accuracy",
        "criterion": "taylor",
        "interval": [0.9, 0.92],
    }
    board.event.emit(Finished(dialog.job, result, 3.0))
    assert dialog.chart.band == (0.9, 0.92)
    dialog.measure_button.click()
    measured = {"loss": 0.31, "base": 0.3, "tokens": 9000, "measure": "accuracy", "accuracy": 0.9, "base_accuracy": 0.91, "predicted": {}}
    measured |= {"examples": 300, "interval": [0.87, 0.94]}
    board.event.emit(Finished(dialog.job, measured | {"perplexity": None, "base_perplexity": None}, 3.0))
    assert "91.0 % → 90.0 %" in dialog.side.told.text()
    assert "300 examples held out. From 87.0 % to 94.0 %" in dialog.side.told.text()  # nine in ten of so few says little
    assert dialog.chart.choices == [(1, 0.9)]
    dialog.grab()


def test_what_cannot_be_judged_and_what_failed_is_said(make, board):
    assert "quantized already" in make("packed").problem()
    dialog = make()
    dialog.run_button.click()
    board.event.emit(Failed(dialog.job, "model", "The parts of its blocks aren't known."))
    assert "aren't known" in dialog.failure.text()
    assert dialog.pages.currentIndex() == 0
