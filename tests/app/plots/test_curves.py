"""Curves: what a job reports while it trains."""

import math

from app.plots.curves import ORDER, CurvesView, curve_help, curve_title
from core import events
from core.recipe import Step
from core.records import ApplySpec
from tests.app.invented import StillBoard


def test_curves_follow_the_job(qtbot):
    board = StillBoard()
    view = CurvesView(board)
    view.resize(500, 200)
    qtbot.addWidget(view)
    view.show()
    assert view._empty.isVisible()
    state = board.put(ApplySpec(workspace="/w", variant="v", steps=(Step(method="distil"),)), "Distil", status="running")
    view.show_job(state.job.id)
    for step in range(3_000):
        state.curves.setdefault("loss", []).append((step, 4 / (1 + step / 50)))
    state.curves["loss/teacher"] = [(0, 2.0), (2999, 1.0)]
    state.curves["lr"] = [(0, 3e-4), (2999, 0.0)]
    state.curves["loss"].append((3_000, math.nan))
    board.event.emit(events.Metric(state.job.id, "loss", 3_000, math.nan))
    qtbot.waitUntil(lambda: set(view._chart._curves) == {"loss", "loss/teacher"})
    assert view._chart.x_range == (0.0, 2999.0)
    view.grab()
    view._names.setCurrentIndex(view._names.findData("lr"))
    assert set(view._chart._curves) == {"lr"}
    view.grab()
    view.show_job("")
    assert view._empty.isVisible()


def test_the_training_loss_is_shown_until_a_person_chooses_another(qtbot):
    board = StillBoard()
    view = CurvesView(board)
    qtbot.addWidget(view)
    view.show()
    state = board.put(ApplySpec(workspace="/w", variant="v", steps=(Step(method="finetune"),)), "Fine-tune", status="running")
    state.curves["heldout_loss"], state.curves["heldout_perplexity"] = [(0, 3.0)], [(0, 20.0)]  # judged before the first step
    view.show_job(state.job.id)
    assert view._names.currentData() == "heldout_perplexity"
    state.curves["loss"], state.curves["lr"] = [(1, 3.0)], [(1, 1e-4)]
    view._redraw()
    assert view._names.currentData() == "loss"
    assert view._names.currentText() == "Training loss"
    assert set(view._chart._curves) == {"loss"}
    assert view._names.toolTip() == curve_help("loss")
    assert [view._names.itemData(i) for i in range(view._names.count())] == ["loss", "heldout_perplexity", "heldout_loss", "lr"]
    view._names.setCurrentIndex(view._names.findData("lr"))
    view._names.activated.emit(view._names.currentIndex())
    state.curves["agreement"] = [(5, 0.5)]
    view._redraw()
    assert view._names.currentData() == "lr"
    assert set(view._chart._curves) == {"lr"}


def test_one_curve_has_its_name_and_what_its_steps_are(qtbot):
    board = StillBoard()
    view = CurvesView(board)
    view.resize(500, 120)
    qtbot.addWidget(view)
    view.show()
    state = board.put(ApplySpec(workspace="/w", variant="v", steps=(Step(method="resize"),)), "To a size", status="running")
    state.curves["resize/loss"] = [(0, 4.0), (1, 4.1), (2, 4.3)]
    view.show_job(state.job.id)
    assert view._names.isVisible()
    assert view._names.currentText() == "Loss after each cut"
    assert view._chart.x_title == "Cut"
    view.grab()


def test_every_curve_of_a_training_has_words_and_a_tooltip():
    for name in ORDER:
        title = curve_title(name)
        assert title[0].isupper(), name
        assert "held" not in title.lower()
        assert curve_help(name).endswith("."), name
    assert curve_help("some_new_curve") == ""


def test_titles():
    assert curve_title("loss/teacher") == "Loss against the teacher"
    assert curve_title("some_new_curve") == "some new curve"
