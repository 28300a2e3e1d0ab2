"""Live errors of layers: from a job's metrics, by kind and block, in the job dock and out of the curves."""

import pytest
from PySide6.QtCore import Qt

from app.job_panel import JobPanel
from app.layer_error import LayerErrorView, errors_of, kind_of
from core import events
from core.recipe import Step
from core.records import ApplySpec
from tests.app.invented import StillBoard
from tests.app.layers_invented import SHAPES, invent_errors


@pytest.fixture
def board():
    return StillBoard()


def job(board, **state):
    spec = ApplySpec(workspace="w", variant="v", steps=(Step(method="gptq"),))
    return board.put(spec, "GPTQ 4-bit", **({"status": "running"} | state))


def feed(board, state, errors):
    for name, (block, error) in errors.items():
        state.curves[f"error/{name}"] = [(block, error)]
        board.event.emit(events.Metric(state.job.id, f"error/{name}", block, error))


def test_kinds_are_what_follows_the_block():
    assert kind_of("model.layers.12.mlp.down_proj") == "mlp.down_proj"
    assert kind_of("bert.encoder.layer.0.attention.self.query") == "attention.self.query"
    assert kind_of("pooler") == "pooler"
    assert errors_of({"loss": [(1, 2.0)], "error/a.0.b": [(0, 0.5), (0, 0.1)], "error/c": []}) == {"a.0.b": (0, 0.1)}


def test_layers_are_coloured_as_they_come(qtbot, board):
    view = LayerErrorView(board)
    qtbot.addWidget(view)
    view.resize(700, 150)
    state = job(board)
    view.show_job(state.job.id)
    assert view._stack.currentWidget() is view.empty
    feed(board, state, invent_errors(2))
    qtbot.waitUntil(lambda: len(view.grid.cells) == 14)
    assert view.grid.rows == list(SHAPES)
    assert view.grid.columns == ["0", "1"]
    shares = [c.share for c in view.grid.cells.values()]
    assert max(shares) == 1
    assert "14 layers" in view.line.text()
    worst = max(invent_errors(2).items(), key=lambda item: item[1][1])[0]
    assert worst in view.line.text()
    feed(board, state, invent_errors(5))
    qtbot.waitUntil(lambda: len(view.grid.cells) == 35)
    assert view.grid.columns == ["0", "1", "2", "3", "4"]
    view.grab()
    other = job(board)
    view.show_job(other.job.id)
    assert view._stack.currentWidget() is view.empty


def test_the_cursor_names_its_layer(qtbot, board):
    view = LayerErrorView(board)
    qtbot.addWidget(view)
    state = job(board)
    feed(board, state, invent_errors(3))
    view.show_job(state.job.id)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.grid.setFocus()
    view.grid.set_current("mlp.up_proj", "2")
    assert view.line.text().startswith("model.layers.2.mlp.up_proj: error ")


def test_the_dock_has_a_tab_for_jobs_with_layers_only(qtbot, board):
    panel = JobPanel(board)
    panel.resize(1200, 230)
    qtbot.addWidget(panel)
    panel.show()
    state = job(board)
    panel.refresh()
    tab = panel.tabs.buttons["layers"]
    assert tab.isHidden()
    feed(board, state, invent_errors(3))
    assert not tab.isHidden()
    tab.click()
    assert panel.pages.currentWidget() is panel.layers
    qtbot.waitUntil(lambda: len(panel.layers.grid.cells) == 21)
    panel.curves._redraw()
    assert panel.curves._names.count() == 0  # hundreds of curves of one point each are no curves
    other = job(board, curves={"loss": [(0, 1.0), (1, 0.5)]})
    panel.show_job(other.job.id)
    assert tab.isHidden()
    assert panel.pages.currentWidget() is panel.log
    panel.show_job(state.job.id)
    assert not tab.isHidden()
    assert len(panel.layers.errors) == 21


def test_the_view_fits_a_low_dock(qtbot, board):
    view = LayerErrorView(board)
    qtbot.addWidget(view)
    view.resize(800, 166)
    state = job(board)
    feed(board, state, invent_errors(30))
    view.show_job(state.job.id)
    with qtbot.waitExposed(view):
        view.show()
    assert view.grid.verticalScrollBar().maximum() == 0
    assert view.grid.focusPolicy() == Qt.FocusPolicy.StrongFocus
