"""The trade-off plot: what's on it, what may be compared, the pointer, the budget, ghosts, empty states."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from app.library_model import Library
from app.plots.tradeoff import TradeoffView
from core import events
from core.recipe import Step
from core.records import ApplySpec, ImportSpec, Measurement
from tests.app.invented import TREE, StillBoard, drawn, invent_variant, invent_workspace, put


@pytest.fixture
def view(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws")
    yield from shown(qtbot, tmp_path / "ws")


def shown(qtbot, folder):
    library = Library()
    library.open(folder)
    view = TradeoffView(library, StillBoard())
    view.resize(800, 560)
    qtbot.addWidget(view)
    view.show()
    yield view
    library.close()


def dot(view, variant):
    return next(d for d in view.plot.dots if d.variant.id == variant)


def at(view, variant):
    return view.plot.position(dot(view, variant)).toPoint()


def test_the_front(view):
    assert [d.variant.id for d in view.plot.front()] == ["stint4", "stint8", "kdint4", "int4", "kdint8", "int8", "tiny"]
    assert view.plot.describe().startswith("student 12M · int4 g32: 19.40")
    view.plot.grab()


def test_better_is_up_for_a_measure_where_less_is_better(view):
    assert dot(view, "tiny").y > dot(view, "int3").y > dot(view, "int2").y
    ticks = view.plot.y_ticks(*view.plot.y_range, 6)
    assert len(ticks) >= 2
    assert all(view.plot.y_range[0] <= y <= view.plot.y_range[1] for y, _ in ticks)


def test_outliers_are_pinned_to_the_lower_edge(view):
    far = dot(view, "int2")
    assert view.plot.pinned(far)
    assert view.plot.position(far).y() < view.plot.area().bottom()
    assert not any(view.plot.pinned(d) for d in view.plot.front())


def test_labels_touch_neither_each_other_nor_a_point(view):
    from app.plots.geometry import overlap

    view.plot.grab()
    boxes = [name.box for name in view.plot._labels]
    assert len(boxes) >= 6
    points = [view.plot.position(d) for d in view.plot.dots]
    for i, box in enumerate(boxes):
        assert not any(overlap(box, other) for other in boxes[i + 1 :])
        assert not any(overlap(box, (p.x() - 5, p.y() - 5, 10, 10)) for p in points)


def test_hover_click_and_double_click(view, qtbot):
    qtbot.mouseMove(view.plot.viewport(), at(view, "int4") - QPoint(40, 40))
    qtbot.mouseMove(view.plot.viewport(), at(view, "int4"))
    assert view.plot.hovered == "int4"
    qtbot.mouseClick(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=at(view, "int4"))
    assert view.library.selection == "int4"
    with qtbot.waitSignal(view.decode_wanted) as asked:
        qtbot.mouseDClick(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=at(view, "kdint8"))
    assert asked.args == ["kdint8"]
    view.plot.grab()


def test_the_card_compares_with_the_parent_and_names_twins(view):
    rows = view.plot.card_rows(dot(view, "int4"))
    assert rows[0][1:] == ("27.4 MB", "\u221284 %")
    assert rows[1] == ("Perplexity", "13.50 ± 0.27", "+8.9 %")
    assert rows[2][1:] == ("72.0 tok/s", "\u00d71.89")
    assert view.plot.twins(dot(view, "int8"))[0] == "TinyStories-42M"
    assert view.plot.twins(dot(view, "stint4")) == ["int3 g64"]


def test_unknown_speed_is_said_to_be_unknown(view):
    measured = [m for m in view.library.measurements("int4") if m.kind == "perplexity"]
    put(view.library.workspace, invent_variant("q", "q", "tiny", "quantized", "rtn", {}, 30, 42, 42, 58), measured)
    view.library.refresh()
    assert view.plot.card_rows(dot(view, "q"))[2][1] == "not measured"


@pytest.mark.parametrize("x_kind", ["disk", "parameters", "memory", "speed"])
@pytest.mark.parametrize("y_kind", ["perplexity", "kl", "agreement"])
def test_every_pair_of_axes_can_be_drawn(view, x_kind, y_kind):
    view.x_choice.setCurrentIndex(view.x_choice.findData(x_kind))
    view.y_choice.setCurrentIndex(view.y_choice.findData(y_kind))
    assert view.plot.dots
    front = view.plot.front()
    assert front
    ys = [d.y for d in front]
    assert ys == sorted(ys)
    view.grab()


def test_a_classifier_that_isnt_shown_is_a_link_away(view):
    """A classifier just made had no place on the plot of perplexity, and nothing said that accuracy is another axis."""
    v = invent_variant("film", "films & more", None, "combined", "classify", {}, 90, 22, 22, 51)
    score = Measurement(kind="accuracy", value=0.83, low=0.78, high=0.87, n=300, conditions={"labels": "films"})
    put(
        view.library.workspace,
        v.model_copy(update={"info": v.info.model_copy(update={"task": "classifier"})}),
        [score, Measurement(kind="prefill", value=500.0)],
    )
    view.library.refresh()
    view.y_choice.setCurrentIndex(view.y_choice.findData("perplexity"))
    assert "films &amp; more" in view.note.text()
    assert 'href="accuracy"' in view.note.text()
    view.note.linkActivated.emit("accuracy")
    assert view.y_choice.currentData() == "accuracy"
    assert [d.variant.id for d in view.plot.dots] == ["film"]
    low, high = view.plot.y_range
    assert low < 78 < 87 < high  # a lone point's interval is whole
    assert 'href="perplexity"' in view.note.text()
    view.x_choice.setCurrentIndex(view.x_choice.findData("prefill"))  # it has no speed of decoding
    assert [d.variant.id for d in view.plot.dots] == ["film"]
    assert not view.plot.less_x
    view.grab()


def test_measures_that_nothing_has_cant_be_chosen(view):
    model = view.y_choice.model()
    assert not model.item(view.y_choice.findData("cosine")).isEnabled()
    assert model.item(view.y_choice.findData("kl")).isEnabled()


def test_an_original_isnt_missing_from_what_is_measured_against_it(view):
    view.y_choice.setCurrentIndex(view.y_choice.findData("agreement"))
    assert "TinyStories" not in view.note.text()


def test_budget_marks_the_best_within_it(view, qtbot):
    view.budget.setCurrentIndex(view.budget.findData("x"))
    view.plot.move_budget(5.0)  # 32 MB
    assert view.plot.budget_best == "int4"
    assert "32.0 MB" in view.plot.budget_words()
    assert "int4 g32" in view.plot.budget_words()
    area = view.plot.area()
    grip = view.plot.to_screen(5.0, 0)
    start = QPoint(round(grip.x()), round(area.bottom() - 12))
    qtbot.mousePress(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=start)
    target = view.plot.to_screen(4.4, 0)
    qtbot.mouseMove(view.plot.viewport(), QPoint(round(target.x()), start.y()))
    qtbot.mouseRelease(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(target.x()), start.y()))
    assert view.plot.budget_at == pytest.approx(4.4, abs=0.05)
    assert view.plot.budget_best == "kdint4"
    view.budget.setCurrentIndex(view.budget.findData("y"))
    view.plot.move_budget(view.plot.y_up(15.0))
    assert view.plot.budget_best == "kdint4"
    view.plot.move_budget(-99)
    view.plot.grab()
    view.budget.setCurrentIndex(0)
    assert view.plot.budget_words() == ""


def test_the_budget_moves_by_its_words_too(view, qtbot):
    view.budget.setCurrentIndex(view.budget.findData("x"))
    view.plot.move_budget(5.0)
    start = view.plot._budget_tag().center().toPoint()
    qtbot.mousePress(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=start)
    target = view.plot.to_screen(4.4, 0)
    qtbot.mouseMove(view.plot.viewport(), QPoint(round(target.x()), start.y()))
    qtbot.mouseRelease(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(target.x()), start.y()))
    assert view.plot.budget_at == pytest.approx(4.4, abs=0.05)
    assert view.plot._budget_line.value() == view.plot.budget_at


def test_nothing_fits_is_said(view):
    view.budget.setCurrentIndex(view.budget.findData("x"))
    view.plot.move_budget(-99)
    assert "nothing fits" in view.plot.budget_words()


def test_other_conditions_are_hollow_and_off_the_front(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws", odd=True)
    view = next(made := shown(qtbot, tmp_path / "ws"))
    odd = dot(view, "heads")
    assert not odd.comparable
    assert not odd.front
    assert "can't be compared" in view.note.text()
    assert "int3 g64" in view.note.text()  # not measured, so not shown
    assert view.plot.twins(odd) == []
    view.grab()
    made.close()


def test_ghosts_wait_for_running_jobs(view):
    folder = str(view.library.workspace.folder)
    spec = ApplySpec(workspace=folder, variant="tiny", steps=(Step(method="rtn", params={"bits": 6}),))
    state = view.board.put(spec, "int6")
    assert [s.job for s in view.plot.ghosts] == [state.job.id]
    assert not view.plot.ghosts[0].estimated
    asked, answer = view.board.asked[0]
    assert asked.step.params == {"bits": 6}
    answer(events.Finished("ask", {"bytes_on_disk": 32_000_000}))
    assert view.plot.ghosts[0].estimated
    assert view.plot.ghosts[0].x == pytest.approx(5.0)
    where = view.plot.ghost_position(view.plot.ghosts[0])
    assert view.plot.at(where) == state.job.id
    view.plot.hovered = state.job.id
    view.plot.grab()
    state.status = "finished"
    view.board.event.emit(events.Finished(state.job.id))
    assert view.plot.ghosts == []
    assert not view.plot._pulse.isActive()
    assert len(view.board.asked) == 1


def test_zoom_pan_and_back(view, qtbot):
    before = view.plot.x_range
    view.plot._own_view = False
    view.plot.setFocus()
    qtbot.mousePress(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 300))
    qtbot.mouseMove(view.plot.viewport(), QPoint(330, 300))
    qtbot.mouseRelease(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(330, 300))
    assert view.plot.x_range != before
    view.library.changed.emit()
    assert view.plot.x_range != before  # a view that a person made is kept
    qtbot.keyClick(view.plot, Qt.Key.Key_Home)
    assert view.plot.x_range == before


def test_the_wheel_zooms_about_the_pointer(view):
    area = view.plot.area()
    before, where = view.plot.x_range, QPointF(area.left() + area.width() / 4, area.center().y())
    x, _ = view.plot.from_screen(where)
    turned = QWheelEvent(
        where,
        QPointF(view.plot.viewport().mapToGlobal(where.toPoint())),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view.plot.viewport(), turned)
    low, high = view.plot.x_range
    assert high - low == pytest.approx(0.85 * (before[1] - before[0]))
    assert view.plot.from_screen(where)[0] == pytest.approx(x, abs=0.02)
    view.library.changed.emit()
    assert view.plot.x_range == (low, high)  # a view that a person made is kept


def test_keys_walk_through_the_points(view, qtbot):
    view.plot.setFocus()
    qtbot.keyClick(view.plot, Qt.Key.Key_Right)
    assert view.library.selection == "stint4"
    qtbot.keyClick(view.plot, Qt.Key.Key_Left)
    assert view.library.selection == "tiny"
    with qtbot.waitSignal(view.decode_wanted):
        qtbot.keyClick(view.plot, Qt.Key.Key_Return)
    qtbot.keyClick(view.plot, Qt.Key.Key_Escape)
    assert view.library.selection == ""


def test_a_click_on_nothing_unselects(view, qtbot):
    view.library.select("int4")
    empty = view.plot.area().bottomRight() - QPointF(30, 30)
    qtbot.mouseClick(view.plot.viewport(), Qt.MouseButton.LeftButton, pos=empty.toPoint())
    assert view.library.selection == ""


def test_empty_then_opening_then_plot(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws", [])
    view = next(made := shown(qtbot, tmp_path / "ws"))
    assert view.empty.isVisible()
    folder = str(view.library.workspace.folder)
    state = view.board.put(ImportSpec(workspace=folder, source="/models/tiny"), "Open tiny")
    state.status, state.stage, state.done, state.total = "running", "Measuring", 3, 10
    view.board.event.emit(events.Progress(state.job.id, "Measuring", 3, 10))
    assert view.opening.isVisible()
    assert "30 %" in view.opening.lines.text()
    put(view.library.workspace, invent_variant(*TREE[0][:6], 168, 42, 42, 1))
    state.status = "finished"
    view.library.refresh()
    assert view.unmeasured.isVisible()  # there's a variant, but no figure
    with qtbot.waitSignal(view.evaluate_wanted) as asked:
        view._unmeasured_button.click()
    assert asked.args == ["tiny"]
    made.close()


def test_many_variants_are_drawn_fast_enough(qtbot, tmp_path):
    import time

    tree = [TREE[0]] + [
        (f"v{i}", f"variant {i}", "tiny", "quantized", "rtn", {"bits": 4}, 10 + i, 42.1, 42.1, 12 + 0.1 * i, 0.1, 50) for i in range(60)
    ]
    invent_workspace(tmp_path / "ws", tree)
    view = next(made := shown(qtbot, tmp_path / "ws"))
    begun = time.process_time()
    view.plot.arrange()
    view.plot.grab()
    assert time.process_time() - begun < 2.0
    made.close()


def test_quality_against_steps_is_a_line_for_each_model_against_drawing_speed(qtbot, tmp_path):
    workspace = invent_workspace(tmp_path / "ws")
    for variant, factor in (("tiny", 1.0), ("student", 0.5)):
        found = []
        for steps in (32, 4, 1):
            found += drawn(steps, factor * 40 / steps, 320 / steps, steps == (32 if variant == "tiny" else 4))
        workspace.add_measurements(variant, found)
    view = next(made := shown(qtbot, tmp_path / "ws"))
    view.y_choice.setCurrentIndex(view.y_choice.findData("frechet"))
    assert view.plot.courses == []
    assert 'href="draw"' in view.note.text()
    view.note.linkActivated.emit("draw")
    assert view.x_choice.currentData() == "draw"
    courses = {c.variant.id: [n for n, _, _ in c.points] for c in view.plot.courses}
    assert courses == {"tiny": [32, 4, 1], "student": [32, 4, 1]}
    area = view.plot.area()
    for course in view.plot.courses:
        assert all(area.contains(view.plot.to_screen(x, y)) for _, x, y in course.points)
        assert dot(view, course.variant.id).x in [x for _, x, _ in course.points]
    view.plot.grab()
    view.x_choice.setCurrentIndex(view.x_choice.findData("disk"))
    assert view.plot.courses == []
    assert not view.plot._courses
    made.close()
