"""Live errors of layers: from a job's metrics, by kind and block, in the job dock and out of the curves."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.job_panel import JobPanel
from app.layer_error import LayerErrorView
from app.layer_parts import curves_only, dropped, kind_of, parts_of
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
    curves = {
        "loss": [(1, 2.0)],
        "error/a.0.b": [(0, 0.5), (0, 0.1)],
        "error/c": [],
        "heads/curve/taylor": [(0, 1.0)],
        "sparsity/x.3": [(3, 0.5)],
    }
    assert parts_of(curves) == {"error": {"a.0.b": [(0, 0.5), (0, 0.1)]}, "sparsity": {"x.3": [(3, 0.5)]}}
    assert set(curves_only(curves)) == {"loss", "heads/curve/taylor"}


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
    assert len(panel.layers.parts["error"]) == 21


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


# ---- what pruning says of its parts ---------------------------------------------------------------------------------


def metric(board, state, name, step, value):
    state.curves.setdefault(name, []).append((step, value))
    board.event.emit(events.Metric(state.job.id, name, step, value))


def test_blocks_that_later_steps_do_not_speak_of_are_gone():
    points = {f"h.{n}": [(0, 0.1 + n / 100)] for n in range(4)}
    assert dropped(points, over=False) == set()
    for name in ("h.1", "h.2", "h.3"):
        points[name].append((1, 0.3 if name != "h.2" else 0.05))
    assert dropped(points, over=False) == {"h.0"}
    assert dropped(points, over=True) == {"h.0", "h.2"}


def test_influence_is_drawn_as_bars_and_the_dropped_are_crossed(qtbot, board):
    view = LayerErrorView(board)
    qtbot.addWidget(view)
    view.resize(700, 160)
    state = job(board)
    view.show_job(state.job.id)
    for drop in range(3):
        for n in range(12):
            if n not in (3, 7)[:drop]:
                metric(board, state, f"influence/model.layers.{n}", drop, 0.02 if n == (3, 7, 8)[drop] else 0.1 + n / 50)
    qtbot.waitUntil(lambda: len(view.bars.blocks) == 12)
    assert view.pages.currentWidget() is view.bars
    assert [b.number for b in view.bars.blocks if b.gone] == [3, 7]
    assert "2 dropped" in view.line.text()
    view.grab()
    state.status = "finished"
    view.refresh()
    assert [b.number for b in view.bars.blocks if b.gone] == [3, 7, 8]
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.bars.setFocus()
    for _ in range(4):
        QTest.keyClick(view.bars, Qt.Key.Key_Right)
    assert view.line.text() == "Block 3: 0.0200 · dropped"
    QTest.keyClick(view.bars, Qt.Key.Key_End)
    assert view.line.text().startswith("Block 11: ")
    assert "Block 11" in view.bars.accessibleDescription()


def test_a_loss_is_not_drawn_from_zero(qtbot, board):
    view = LayerErrorView(board)
    qtbot.addWidget(view)
    view.resize(400, 130)
    state = job(board, curves={f"loss_without/h.{n}": [(0, 3.2 + n / 10)] for n in range(6)})
    view.show_job(state.job.id)
    assert not view.bars.from_zero
    assert view.bars.ends()[0] > 3
    view.grab()


def test_of_several_kinds_a_person_chooses(qtbot, board):
    view = LayerErrorView(board)
    qtbot.addWidget(view)
    view.resize(700, 160)
    state = job(board, curves={f"sparsity/model.layers.{n}": [(n, 0.45 + n / 100)] for n in range(11)})
    view.show_job(state.job.id)
    assert view.kind == "sparsity"
    assert view.bars.line == pytest.approx(0.5)
    assert "from 45.0 % to 55.0 %" in view.line.text()
    feed(board, state, invent_errors(2))
    qtbot.waitUntil(lambda: view.kinds.count() == 2)
    assert view.kind == "error"  # what comes in live
    view.kinds.setCurrentIndex(1)
    view._pick(1)
    assert view.pages.currentWidget() is view.bars
    feed(board, state, invent_errors(3))
    view.refresh()
    assert view.kind == "sparsity"
    view.grab()


def test_heads_are_a_grid(qtbot, board):
    view = LayerErrorView(board)
    qtbot.addWidget(view)
    view.resize(700, 160)
    state = job(board, curves={f"importance/{n}.{u}": [(n, 0.01 * (1 + n + u))] for n in range(12) for u in range(11)})
    view.show_job(state.job.id)
    assert (view.grid.rows, view.grid.columns) == ([str(u) for u in range(11)], [str(n) for n in range(12)])
    assert "132 heads" in view.line.text()
    view.grab()


def test_curves_of_rounds_are_named_and_parts_are_no_curves(qtbot, board):
    panel = JobPanel(board)
    panel.resize(1200, 230)
    qtbot.addWidget(panel)
    panel.show()
    rounds = {"iterative/heldout_perplexity": [(0, 20.0), (1, 21.0)], "iterative/sparsity": [(0, 0.0), (1, 0.3)], "loss": [(1, 3.0)]}
    state = job(board, curves=rounds | {"influence/h.0": [(0, 0.1)]})
    panel.show_job(state.job.id)
    panel.curves._redraw()
    names = [panel.curves._names.itemText(i) for i in range(panel.curves._names.count())]
    assert names == ["Training loss", "Perplexity after each round", "Share gone after each round"]
