"""Weights before and after: what's asked of the worker, what's said of a layer, the pictures."""

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from app.histograms import ChannelPlot, HistogramDialog, HistogramPlot
from app.library_model import Library
from app.theme import theme
from core.events import Failed, Finished
from core.records import LayerLookSpec
from tests.app.invented import StillBoard, invent_workspace
from tests.app.layers_invented import invent_look


@pytest.fixture
def dialog(qtbot, tmp_path):
    theme().load_fonts()
    invent_workspace(tmp_path / "ws")
    library = Library()
    library.open(tmp_path / "ws")
    made = HistogramDialog(library, StillBoard(), "int4")
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    yield made
    library.close()


def answer(dialog, look):
    spec, callback = dialog.board.asked[-1]
    callback(Finished("x", look, 0.1))
    return spec


def test_the_first_layer_is_asked_for_and_shown(dialog):
    assert dialog.stack.currentWidget() is dialog.waiting
    spec = answer(dialog, invent_look())
    assert isinstance(spec, LayerLookSpec)
    assert (spec.variant, spec.layer) == ("int4", None)
    assert dialog.list.count() == 210
    assert dialog.list.currentItem().text() == dialog.title.text() == "model.layers.0.mlp.gate_proj"
    facts = dialog.facts.text()
    for part in ("1536 × 576", "4 bits", "a scale for 64 columns", "symmetric", "9.13 %", "clipped 0.31 %", "before: TinyStories-42M"):
        assert part in facts
    assert dialog.outliers.text() == "Outliers: 142 (×5.4 the median), 401 (×3.7 the median)"
    dialog.side.buttons["rows"].click()
    assert "No channel" in dialog.outliers.text()
    dialog.grab()


def test_another_layer_is_asked_for_where_the_list_stops(dialog, qtbot):
    answer(dialog, invent_look())
    for _ in range(3):
        QTest.keyClick(dialog.list, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: len(dialog.board.asked) == 2)
    spec, _ = dialog.board.asked[-1]
    assert spec.layer == "model.layers.1.self_attn.q_proj"
    assert "Reading" in dialog.status.text()
    answer(dialog, invent_look() | {"layer": spec.layer})
    assert dialog.title.text() == spec.layer
    assert dialog.status.text() == ""


def test_the_list_can_be_narrowed(dialog):
    answer(dialog, invent_look())
    dialog.filter.setText("12.mlp")
    shown = [dialog.list.item(i).text() for i in range(dialog.list.count()) if not dialog.list.item(i).isHidden()]
    assert shown == [f"model.layers.12.mlp.{k}_proj" for k in ("gate", "up", "down")]


def test_without_the_original_that_is_said(dialog):
    answer(dialog, invent_look(dense=False))
    assert "isn't here" in dialog.facts.text()
    assert "clipped" not in dialog.facts.text()
    dialog.grab()


def test_a_failure_is_told(dialog):
    _, callback = dialog.board.asked[-1]
    callback(Failed("x", "model", "This variant has no layers on a grid that can be shown."))
    assert dialog.stack.currentWidget() is dialog.none
    assert "no layers on a grid" in dialog.none.lines.text()


@pytest.mark.parametrize("bits", [8, 6, 4, 3, 2])
@pytest.mark.parametrize("dense", [True, False])
def test_every_grid_is_drawn(qtbot, bits, dense):
    plot = HistogramPlot()
    qtbot.addWidget(plot)
    plot.resize(460, 200)
    plot.grab()
    plot.set_look(invent_look(bits, dense=dense))
    plot.grab()
    at = plot._x(0.0)
    QTest.mouseMove(plot, QPointF(at, 100).toPoint())
    plot._at = 0.2
    assert plot.reading().startswith("Point 0: ")
    plot.leaveEvent(None)
    assert plot.reading() == ""


def test_float8_is_drawn(qtbot):
    plot = HistogramPlot()
    qtbot.addWidget(plot)
    plot.resize(460, 200)
    points = [-448.0, -224.0, -1.0, 0.0, 1.0, 224.0, 448.0]
    look = invent_look(8) | {"kind": "float", "grid": {"low": -448, "high": 448, "points": points}, "after": [1, 4, 9, 30, 9, 4, 1]}
    plot.set_look(look | {"edges": [-582.0, 582.0]})
    assert not plot.grab().isNull()


def test_channels_are_drawn(qtbot):
    plot = ChannelPlot()
    qtbot.addWidget(plot)
    plot.grab()
    plot.set_channels(invent_look()["columns"])
    plot.grab()
    plot.set_channels({"largest": [0.0], "count": 1, "joined": 1, "median": 0.0, "outliers": []})
    plot.grab()
