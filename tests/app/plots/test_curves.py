"""Curves: what a job reports while it trains."""

import math

from app.plots.curves import CurvesView, curve_title
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


def test_titles():
    assert curve_title("loss/teacher") == "Loss against the teacher"
    assert curve_title("some_new_curve") == "some new curve"
