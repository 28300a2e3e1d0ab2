"""Weights before and after: what's asked of the worker, what's said of a layer, the pictures."""

import json

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from app.histograms import HistogramDialog, activations_of
from app.library_model import Library
from app.plots.histogram import ChannelPlot, HistogramPlot
from app.theme import theme
from core.events import Cancelled, Failed, Finished, Progress
from core.records import ActivationLookSpec, LayerLookSpec
from tests.app.invented import TREE, StillBoard, invent_workspace, put_packed
from tests.app.layers_invented import invent_activations, invent_look


@pytest.fixture
def make(qtbot, tmp_path):
    theme().load_fonts()
    put_packed(invent_workspace(tmp_path / "ws", TREE[:1]))
    library = Library()
    library.open(tmp_path / "ws")

    def made(variant="packed"):
        dialog = HistogramDialog(library, StillBoard(), variant)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(dialog)
        with qtbot.waitExposed(dialog):
            dialog.show()
        return dialog

    yield made
    library.close()


@pytest.fixture
def dialog(make):
    return make()


def answer(dialog, look):
    spec, callback = dialog.board.asked[-1]
    callback(Finished("x", look, 0.1))
    return spec


def test_the_first_layer_is_asked_for_and_shown(dialog):
    assert dialog.stack.currentWidget() is dialog.waiting
    spec = answer(dialog, invent_look())
    assert isinstance(spec, LayerLookSpec)
    assert (spec.variant, spec.layer) == ("packed", None)
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


# ---- activations --------------------------------------------------------------------------------------------------


def keep(dialog, found, name="a"):
    path = dialog.library.workspace.path(dialog.variant_id) / f"activations-{name}.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path


def test_activations_are_measured_once_and_kept(dialog, make):
    answer(dialog, invent_look())
    dialog.list.setCurrentRow(6)
    dialog._ask_current()
    answer(dialog, invent_look() | {"layer": dialog.list.item(6).text()})
    dialog.about.buttons["activations"].click()
    board = dialog.board
    spec = board.submitted[-1][0]
    assert isinstance(spec, ActivationLookSpec)
    assert (spec.variant, spec.text) == ("packed", None)
    assert dialog.stack.currentWidget() is dialog.waiting
    job = board.states()[-1].job.id
    board.event.emit(Progress(job, "Reading the text", 1, 4, 3.0))
    assert "3 s left" in dialog.waiting.lines.text()
    assert dialog.bar.share == 0.25
    board.event.emit(Finished(job, {"file": str(keep(dialog, invent_activations()))}, 4.0))
    assert dialog.title.text() == "model.layers.0.mlp.down_proj"  # where one was among the weights
    facts = dialog.facts.text()
    for part in ("576 channels", "8 bits", "a scale a token", "error 1.34 % (before: 8.71 %)", "rounded to 0 2.10 % (before: 41.80 %)"):
        assert part in facts
    assert "clipped" not in facts
    assert dialog.outliers.text() == "Outliers: 142 (×3.7 the median) · before, 142 had ×28.2 the median"
    assert "model.layers.1.mlp.down_proj, 19.00 %" in dialog.status.text()
    assert not dialog.side.isVisible()
    dialog.grab()
    dialog.list.setCurrentRow(dialog.list.count() - 8)
    dialog._ask_current()
    assert dialog.title.text() == "model.layers.1.mlp.down_proj"
    assert "clipped 0.40 % (before: 0.00 %)" in dialog.facts.text()
    dialog.about.buttons["weights"].click()
    assert dialog.side.isVisible()
    spec, _ = board.asked[-1]
    assert spec.layer == "model.layers.1.mlp.down_proj"
    again = make()
    answer(again, invent_look())
    again.about.buttons["activations"].click()
    assert again.board.submitted == []
    assert again.stack.currentIndex() == 2


def test_a_variant_that_is_not_quantized_has_activations_only(make):
    dialog = make("tiny")
    assert dialog.board.asked == []
    assert not dialog.about.buttons["weights"].isEnabled()
    job = dialog.board.states()[-1].job.id
    found = invent_activations(rounded=False, before=None)
    dialog.board.event.emit(Finished(job, {"file": str(keep(dialog, found))}, 4.0))
    assert "not rounded in this variant; what 8 bits, a scale a token, would make of it" in dialog.facts.text()
    assert "before" not in dialog.facts.text()
    dialog.grab()


def test_another_text_is_read_and_closing_ends_it(make, monkeypatch, tmp_path):
    dialog = make("tiny")
    first = dialog._job
    monkeypatch.setattr("app.histograms.QFileDialog.getOpenFileName", lambda *_: (str(tmp_path / "x.txt"), ""))
    dialog.other_text.click()
    assert dialog.board.cancelled == [first]
    assert dialog.board.submitted[-1][0].text == str(tmp_path / "x.txt")
    dialog.board.event.emit(Cancelled(first))  # of the one that was given up
    assert dialog.stack.currentWidget() is dialog.waiting
    last = dialog._job
    dialog.close()
    assert dialog.board.cancelled == [first, last]


def test_activations_that_cannot_be_read_are_told(make):
    dialog = make("tiny")
    dialog.board.event.emit(Failed(dialog._job, "model", "There is no tokenizer."))
    assert dialog.none.lines.text() == "There is no tokenizer."
    (dialog.library.workspace.path("tiny") / "activations-x.json").write_text("{", encoding="utf-8")
    assert activations_of(dialog.library.workspace.path("tiny")) is None
