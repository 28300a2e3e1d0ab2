"""The sensitivity window, as a person uses it, with a board that runs nothing."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.forms import Form
from app.histograms import HistogramDialog
from app.inspector import Inspector
from app.library_model import Library
from app.main_window import MainWindow
from app.sensitivity import FrontPlot, SensitivityDialog, short_kind
from app.settings import Settings
from app.theme import theme
from core import methods
from core.allocation import DENSE
from core.events import Cancelled, Failed, Finished, LayerMeasured, Progress, Started
from core.records import Measurement
from tests.app.decode_invented import FakeBoard
from tests.app.invented import StillBoard, invent_variant, invent_workspace, put
from tests.app.layers_invented import invent_map, keep_map


@pytest.fixture
def make(qtbot, tmp_path):
    theme().load_fonts()
    libraries = []

    def made(variant="big", kept=True, **changes) -> SensitivityDialog:
        workspace = invent_workspace(tmp_path / "ws")
        v = invent_variant("big", "SmolLM2-135M", None, "original", "import", {}, 270.0, 134.5, 134.5, 60)
        put(workspace, v.model_copy(update={"info": v.info.model_copy(update=changes)}), [Measurement(kind="perplexity", value=27.9)])
        if kept:
            keep_map(workspace.path("big"), invent_map())
        library = Library()
        library.open(tmp_path / "ws")
        libraries.append(library)
        dialog = SensitivityDialog(library, FakeBoard(), variant)
        qtbot.addWidget(dialog)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # the fixture closes it
        with qtbot.waitActive(dialog):
            dialog.show()
            dialog.activateWindow()
        return dialog

    yield made
    for library in libraries:
        library.close()


def settle(dialog):
    dialog._soon.stop()
    dialog._show_soon()


def test_what_is_asked_for_is_what_is_measured(make, tmp_path):
    dialog = make(kept=False)
    assert dialog.pages.currentIndex() == 0
    assert not dialog.apply_button.isVisible()
    dialog.group.setCurrentIndex(dialog.group.findData(32))
    dialog.windows.setValue(16)
    dialog.context.setValue(64)
    text = tmp_path / "mine.txt"
    text.write_text("words", encoding="utf-8")
    dialog.text_choice.set_path(str(text))
    QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    spec, title, device = dialog.board.submitted[0]
    assert (spec.kind, spec.variant, spec.group_size, spec.windows, spec.context, spec.text) == (
        "sensitivity",
        "big",
        32,
        16,
        64,
        str(text),
    )
    assert "SmolLM2-135M" in title
    assert device == "auto"
    assert dialog.running


def test_layers_are_drawn_as_they_come_and_the_map_when_it_is_whole(make, tmp_path):
    dialog = make(kept=False)
    dialog.run_button.click()
    job, found = dialog.board.job, invent_map(4)
    dialog.board.event.emit(Started(job, 1, "cpu"))
    for layer in found.layers[:9]:
        dialog.board.event.emit(LayerMeasured(job, layer.model_dump(mode="json")))
    dialog.board.event.emit(Progress(job, "Measuring sensitivity", 9, 28, 40.0))
    settle(dialog)
    assert len(dialog.grid.cells) == 9
    assert dialog.grid.columns[:2] == ["self_attn.q_proj", "self_attn.k_proj"]
    assert dialog.grid.rows == ["0", "1"]
    assert not dialog.slider.isEnabled()
    assert not dialog.apply_button.isVisible()
    assert dialog.bar.share == pytest.approx(9 / 28)
    path = keep_map(tmp_path, found)
    dialog.board.event.emit(Finished(job, {"file": str(path)}, 60.0))
    assert len(dialog.grid.cells) == 28
    assert dialog.slider.isEnabled()
    assert dialog.apply_button.isEnabled()
    dialog.grab()


def test_a_map_that_was_kept_is_shown_at_once(make):
    dialog = make()
    assert dialog.pages.currentIndex() == 1
    assert dialog.board.submitted == []
    assert len(dialog.grid.cells) == 210
    assert dialog.bits_value.text() == "4.25"
    assert {c.big for c in dialog.grid.cells.values()} == {"4"}


def test_the_slider_moves_bits_size_and_kl(make):
    dialog = make()
    sizes, kls = [], []
    for at in (150, 500, 900):
        dialog.slider.setValue(at)
        settle(dialog)
        sizes.append(dialog.plan.size)
        kls.append(dialog.plan.kl)
        assert dialog.kl_value.text()
        assert "MB" in dialog.size_value.text()
    assert sizes == sorted(sizes)
    assert kls == sorted(kls, reverse=True)
    assert len({c.big for c in dialog.grid.cells.values()}) > 1
    assert dialog.counts.text().startswith("Layers: ")
    dialog.budget.buttons["kl"].click()
    assert dialog.plan.budget == "kl"
    assert "nats" in dialog.budget_line.text()
    dialog.slider.setValue(dialog.slider.value() - 200)
    settle(dialog)
    assert dialog.plan.kl < kls[-1] * 1.01
    dialog.grab()


def test_cells_are_edited_by_key(make):
    dialog = make()
    dialog.grid.setFocus()
    dialog.grid.set_current("2", "mlp.up_proj")
    name = "model.layers.2.mlp.up_proj"
    QTest.keyClick(dialog.grid, Qt.Key.Key_8)
    assert dialog.plan.bits[name] == 8
    assert dialog.grid.cells["2", "mlp.up_proj"].marked
    assert "set by hand" in dialog.cell_line.text()
    QTest.keyClick(dialog.grid, Qt.Key.Key_Minus)
    assert dialog.plan.bits[name] == 6
    QTest.keyClick(dialog.grid, Qt.Key.Key_Plus)
    QTest.keyClick(dialog.grid, Qt.Key.Key_0)
    assert dialog.plan.bits[name] == DENSE
    assert dialog.grid.cells["2", "mlp.up_proj"].big == "–"
    assert dialog.free.isVisible()
    assert dialog.free.text() == "Free 1"
    QTest.keyClick(dialog.grid, Qt.Key.Key_7)  # no such width
    assert dialog.plan.bits[name] == DENSE
    QTest.keyClick(dialog.grid, Qt.Key.Key_Delete)
    assert dialog.plan.fixed == {}
    assert not dialog.free.isVisible()


def test_cells_are_edited_by_menu_also_for_a_row_and_a_kind(make, qtbot):
    dialog = make()
    menu = dialog.cell_menu("1", "self_attn.v_proj")
    words = [a.text() for a in menu.actions() if a.text()]
    assert words[0].startswith("As it is: ")
    assert words[1].startswith("8 bits: ")
    assert "KL" in words[1]
    assert [a.isChecked() for a in menu.actions() if a.isCheckable()] == [False, False, False, False, True, False, False]
    next(a for a in menu.actions() if a.text().startswith("6 bits")).trigger()
    assert dialog.plan.bits["model.layers.1.self_attn.v_proj"] == 6
    row, kind = (a.menu() for a in menu.actions() if a.menu())
    next(a for a in row.actions() if a.text() == "3 bits").trigger()
    assert all(dialog.plan.bits[c.name] == 3 for c in dialog.plan.map.layers if c.block == 1)
    next(a for a in kind.actions() if a.text() == "8 bits").trigger()
    assert all(dialog.plan.bits[c.name] == 8 for c in dialog.plan.map.layers if c.kind == "self_attn.v_proj")
    assert len(dialog.plan.fixed) == 36
    menu.close()
    dialog.free.click()
    assert dialog.plan.fixed == {}


def test_going_over_the_budget_by_hand_is_said(make):
    dialog = make()
    dialog.slider.setValue(200)
    settle(dialog)
    assert dialog.budget_line.property("role") == "caption"
    dialog._set_many([c.name for c in dialog.plan.map.layers if c.kind == "mlp.down_proj"], 8)
    assert "goes over it" in dialog.budget_line.text()
    assert dialog.budget_line.property("role") == "warn"


def test_one_width_is_shown_alone_with_its_own_colours(make):
    dialog = make()
    dialog.width_switch.buttons["2"].click()
    assert {c.big for c in dialog.grid.cells.values()} == {"2"}
    assert max(c.share for c in dialog.grid.cells.values()) == 1.0
    dialog.slider.setValue(700)  # what's chosen comes back into sight
    settle(dialog)
    assert dialog.width_switch.current == "chosen"
    dialog.uniform.setCurrentIndex(dialog.uniform.findData(3))
    dialog.uniform.activated.emit(dialog.uniform.currentIndex())
    assert {c.big for c in dialog.grid.cells.values()} == {"3"}
    assert dialog.uniform.currentIndex() == 0


def test_only_widths_with_kernels(make):
    dialog = make()
    dialog.slider.setValue(600)
    settle(dialog)
    assert len(set(dialog.plan.bits.values())) > 2
    dialog.fast.setChecked(True)
    assert set(dialog.plan.bits.values()) == {8, 4}
    assert not dialog.plan.over
    dialog.fast.setChecked(False)
    assert len(set(dialog.plan.bits.values())) > 2


def test_apply_starts_the_job_that_makes_it(make):
    dialog = make()
    started = []
    dialog.applied.connect(started.append)
    dialog.slider.setValue(400)
    settle(dialog)
    dialog.rounding.setCurrentIndex(dialog.rounding.findData("rtn"))
    dialog.apply_button.click()
    spec, _, _ = dialog.board.submitted[-1]
    step = spec.steps[0]
    assert (spec.kind, spec.variant, step.method, step.params["rounding"], step.params["group_size"]) == (
        "apply",
        "big",
        "mixed",
        "rtn",
        64,
    )
    assert step.params["layers"].startswith("*=")
    assert spec.name == dialog.plan.name()
    assert started == [dialog.board.job]
    assert not dialog.running  # the job is the list's
    assert "list of jobs" in dialog.status.text()
    dialog.plan.set_bits(list(dialog.plan.bits), DENSE)
    dialog._show()
    assert not dialog.apply_button.isEnabled()


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"quantization": "int4"}, "quantized already"), ({"task": "encoder"}, "no probabilities")],
)
def test_what_cannot_be_measured_says_why(make, changes, says):
    dialog = make(**changes)
    assert says in dialog.status.text()
    assert not dialog.run_button.isEnabled()
    dialog.start_if_able()
    assert dialog.board.submitted == []


def test_a_variant_that_is_gone_says_so(make):
    dialog = make(variant="nothing")
    assert dialog.pages.currentWidget() is dialog.gone
    dialog.apply()
    assert dialog.board.submitted == []


def test_cancelled_and_failed_keep_what_came(make):
    dialog = make(kept=False)
    dialog.run_button.click()
    job = dialog.board.job
    dialog.board.event.emit(LayerMeasured(job, invent_map(1).layers[0].model_dump(mode="json")))
    dialog.board.event.emit(Cancelled(job))
    assert len(dialog.grid.cells) == 1
    assert dialog.again.isVisible()
    dialog.again.click()
    assert dialog.pages.currentIndex() == 0
    dialog.run_button.click()
    dialog.board.event.emit(Failed(dialog.board.job, "model", "No."))
    assert dialog.failure.text() == "No."
    assert dialog.grid.cells == {}
    dialog.board.event.emit(LayerMeasured(dialog.board.job, {}))  # late, of a job that's over


def test_names_of_kinds_are_short_where_they_can_be():
    assert short_kind("self_attn.q_proj", ["self_attn.q_proj", "mlp.up_proj"]) == "q_proj"
    assert short_kind("output.dense", ["output.dense", "intermediate.dense"]) == "output.dense"


def test_the_front_paints_without_points(qtbot):
    plot = FrontPlot()
    qtbot.addWidget(plot)
    plot.set_front([], None)
    plot.grab()
    plot.set_front([(100, 1.0), (200, 0.1)], (150, 0.0))
    plot.grab()


# ---- the ways in


def test_the_inspector_offers_it_for_what_is_not_quantized(make, qtbot):
    library = make().library
    view = Inspector(library)
    qtbot.addWidget(view)
    wanted = []
    view.wanted.connect(lambda *what: wanted.append(what))
    library.select("big")
    view.findChild(QPushButton, "sensitivity").click()
    small = invent_variant("q4", "int4", "big", "quantized", "rtn", {"bits": 4}, 80, 134.5, 134.5, 61)
    put(library.workspace, small.model_copy(update={"info": small.info.model_copy(update={"quantization": "int4"})}))
    encoder = invent_variant("enc", "MiniLM", None, "original", "import", {}, 80, 22, 22, 62)
    put(library.workspace, encoder.model_copy(update={"info": encoder.info.model_copy(update={"task": "encoder"})}))
    library.refresh()
    library.select("q4")
    view.findChild(QPushButton, "layers").click()
    assert wanted == [("sensitivity", "big"), ("layers", "q4")]
    library.select("enc")
    press = view.scroll.widget().findChild(QPushButton, "sensitivity")
    assert not press.isEnabled()
    assert "no probabilities" in press.toolTip()


def test_the_window_opens_both(make, qtbot, tmp_path):
    make()
    board = StillBoard()
    window = MainWindow(tmp_path / "ws", board=board, settings=Settings(tmp_path / "settings.ini"))
    qtbot.addWidget(window, before_close_func=lambda w: board._states.clear())
    window.show()
    window.do("sensitivity", "big")
    dialog = window.findChild(SensitivityDialog)
    assert dialog.variant.id == "big"
    dialog.apply_button.click()
    assert window.jobs.current == next(iter(board._states))
    dialog.close()
    window.do("layers", "int4")
    assert window.findChild(HistogramDialog).variant_id == "int4"
    window.findChild(HistogramDialog).close()


def test_the_wizards_form_knows_what_a_map_by_hand_rules_out(qtbot):
    form = Form(methods.get("mixed").info.knobs)
    qtbot.addWidget(form)
    values = form.values() if callable(form.values) else form.values
    assert values["layers"] == ""
    knobs = {k.name: k for k in methods.get("mixed").info.knobs}
    assert knobs["average_bits"].active(values)
    assert not knobs["kl"].active(values)
    assert not knobs["average_bits"].active(values | {"layers": "*=4"})
