"""The export wizard and its report."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.text import fmt_percent
from app.wizards.export import ExportReport, ExportWizard
from app.wizards.plans import NOTHING
from core import events

REPORT = {
    "bytes": 29_600_000,
    "max_abs": 6.3e-5,
    "top1": 1.0,
    "tokens": 256,
    "task": "causal-lm",
    "seconds": {"total": 41.0},
    "checks": [
        {"check": "the whole text at once", "value": 6.1e-5, "limit": 1e-3, "passed": True, "note": ""},
        {"check": "greedy tokens", "value": 64, "limit": 64, "passed": True, "note": ""},
    ],
    "notes": ["Weights are stored as float32: the export is 2.0 times as large as the model's own files."],
}


@pytest.fixture
def wizard(qtbot, library, board):
    def make(variant="cut", parent=None):
        made = ExportWizard(library, board, variant, parent)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        if parent is None:  # otherwise the parent takes it along
            qtbot.addWidget(made)
        made.show()
        return made

    return make


def test_from_variant_to_job(qtbot, wizard, board, tmp_path):
    w = wizard(variant="")
    assert w.flow.page == "source"
    w.next()
    assert w.folder.field.path().endswith("Shakespeare-7M-onnx")
    w.folder.field.set_path(str(tmp_path / "out"))
    w.next()
    with qtbot.waitSignal(w.submitted):
        w.finish_button.click()
    spec, title, device = board.submitted[0]
    assert (spec.kind, spec.variant, spec.to, spec.overwrite, device) == ("export", "seven", str(tmp_path / "out"), False, "cpu")
    assert title == "Export Shakespeare 7M to ONNX"


def test_a_fast_graph_is_asked_for(qtbot, wizard, board, tmp_path):
    w = wizard()
    assert w.folder.profiles.isVisible()
    assert not w.folder.activations.isVisible()  # nothing is quantized
    w.folder.profiles.setCurrentIndex(w.folder.profiles.findData("fast"))
    w.folder.field.set_path(str(tmp_path / "out"))
    w.next()
    w.finish()
    assert board.submitted[0][0].onnx.profile == "fast"
    again = wizard()
    assert again.folder.profiles.currentData() == "fast"  # as it was chosen last
    again.folder.formats.buttons["gguf"].click()
    assert not again.folder.profiles.isVisible()


def test_layout_and_runtime_are_asked_for_and_remembered(qtbot, wizard, board, tmp_path):
    w = wizard()
    w.folder.layouts.setCurrentIndex(w.folder.layouts.findData("transformers.js"))
    w.folder.runtimes.setCurrentIndex(w.folder.runtimes.findData("1.18"))
    assert [name for name, _ in w.plan.files()][:2] == ["onnx/model*.onnx", "onnx/model*.onnx_data"]
    w.folder.field.set_path(str(tmp_path / "out"))
    w.next()
    said = [label.text() for label in w.review.facts.findChildren(QLabel)]
    assert (
        "ONNX \u00b7 Portable: batches and padding \u00b7 float32: exact \u00b7 For Transformers.js \u00b7 onnxruntime 1.18 or later"
        in said
    )
    w.finish()
    spec, _, _ = board.submitted[0]
    assert (spec.onnx.layout, spec.onnx.runtime) == ("transformers.js", "1.18")
    again = wizard()
    assert (again.folder.layouts.currentData(), again.folder.runtimes.currentData()) == ("transformers.js", "1.18")
    again.folder.formats.buttons["gguf"].click()
    assert not again.folder.layouts.isVisible()
    assert not again.folder.runtimes.isVisible()


def test_a_runtime_too_old_for_what_is_chosen_is_told_beside_it_and_holds_up_next(qtbot, wizard, board, tmp_path):
    """Only the job said so, after the wizard had let it pass."""
    w = wizard()
    w.folder.field.set_path(str(tmp_path / "out"))
    choose = lambda combo, value: combo.setCurrentIndex(combo.findData(value))
    choose(w.folder.runtimes, "1.17")
    assert w.next_button.isEnabled()
    assert w.folder.too_old.isHidden()
    choose(w.folder.profiles, "fast")
    assert not w.next_button.isEnabled()
    assert "onnxruntime 1.17 is too old" in w.reason.text()
    assert w.folder.too_old.text().startswith(w.reason.text())
    assert "Name a later onnxruntime" in w.folder.too_old.text()
    assert w.folder.too_old.isVisible()
    assert w.folder.runtimes.property("invalid")
    w.folder.formats.buttons["gguf"].click()  # which asks nothing of onnxruntime
    assert w.next_button.isEnabled()
    assert w.folder.too_old.isHidden()
    w.folder.formats.buttons["onnx"].click()
    choose(w.folder.runtimes, "1.20")
    assert w.next_button.isEnabled()
    assert not w.folder.runtimes.property("invalid")


def test_what_a_runtime_must_open_is_read_from_the_variants_own_config(wizard, library):
    folder = library.workspace.path("cut")
    (folder / "config.json").write_text('{"sliding_window": 4096}')
    w = wizard()
    w.folder.profiles.setCurrentIndex(w.folder.profiles.findData("fast"))
    w.folder.runtimes.setCurrentIndex(w.folder.runtimes.findData("1.22"))
    assert "which 1.24 brought" in w.folder.too_old.text()


def test_a_precision_is_asked_for_and_a_text_where_it_needs_one(qtbot, wizard, board, tmp_path):
    w = wizard()
    combo = w.folder.precisions
    assert [combo.itemData(i) for i in range(combo.count())] == ["float32", "float16"]
    assert combo.isVisible()
    assert not w.folder.text.isVisible()
    source = w.plan.source
    w.plan.variants[source.id] = source.model_copy(update={"info": source.info.model_copy(update={"task": "encoder"})})
    w.folder.entered()
    combo.setCurrentIndex(combo.findData("int8-static"))
    combo.activated.emit(combo.currentIndex())
    assert w.folder.text.isVisible()
    w.folder.field.set_path(str(tmp_path / "out"))
    w.next()
    assert not w.review.device.isVisible()  # an ONNX file is traced and checked on the processor
    w.finish()
    spec, _, device = board.submitted[0]
    assert (spec.onnx.precision, spec.onnx.text, device) == ("int8-static", "", "cpu")
    again = wizard()
    assert again.folder.precisions.currentData() == "float32"  # a text generator has no int8 of this kind
    assert again.plan.precision == "int8-static"


def test_the_releases_to_choose_are_those_at_which_something_changed():
    """Each is one that the export can be asked for, and the oldest is the one that reads its operators' set at all."""
    from app.wizards.export import RUNTIMES
    from core.export.suited import IR
    from core.runtimes import OLDEST

    releases = [tuple(map(int, one.split("."))) for one in RUNTIMES]
    assert releases == sorted(releases, reverse=True)
    assert releases[-1] == OLDEST
    assert {since for since, _ in IR} <= set(releases)


def test_speed_is_measured_when_it_is_asked_for(qtbot, board):
    report = ExportReport(board, {"folder": "/x/pico-onnx", "report": REPORT, "workspace": "/w", "variant": "cut"}, "Cut")
    qtbot.addWidget(report)
    report.show()
    assert not report.bars.isVisible()
    report.measure_button.click()
    spec, _, _ = board.submitted[0]
    assert (spec.kind, spec.workspace, spec.folder, spec.variant) == ("compare-export", "/w", "/x/pico-onnx", "cut")
    assert not report.measure_button.isEnabled()
    forms = {"variant": {"name": "cut", "tokens_per_s": 20.0}, "export": {"name": "pico (ONNX)", "tokens_per_s": 50.0}}
    board.event.emit(events.Finished("job-1", {"forms": forms, "prompts": [], "busy": 0.0, "notes": []}))
    assert report.bars.isVisible()
    said = [w.text() for w in report.bars.findChildren(QLabel) if w.isVisible()]
    assert "50.0 tokens/s" in said
    assert "\u00d72.50" in said
    report.done(0)


def test_the_report_keeps_its_width_and_cuts_no_line_when_speeds_come(qtbot, board):
    notes = ["56 quantized layers keep their own grid; nothing was quantized again, and this goes on so that the line is broken."] * 3
    result = {"folder": "/x/pico-onnx", "report": REPORT | {"notes": notes}, "workspace": "/w", "variant": "cut"}
    report = ExportReport(board, result, "Cut")
    qtbot.addWidget(report)
    report.show()
    width = report.width()
    report.measure_button.click()
    forms = {"variant": {"name": "cut", "tokens_per_s": 20.0}, "export": {"name": "pico (ONNX)", "tokens_per_s": 50.0}}
    busy = "Other programs used 74% of the processors meanwhile, so the speeds are lower than they could be."
    board.event.emit(events.Finished("job-1", {"forms": forms, "prompts": [], "busy": 0.74, "notes": [busy]}))
    QApplication.processEvents()
    assert report.width() == width
    cut = [w.text() for w in report.findChildren(QLabel) if w.isVisible() and w.text() and w.height() < w.fontMetrics().height()]
    assert not cut
    report.done(0)


def test_figures_are_called_what_they_are(qtbot, board):
    """A UNet has no logits, and a classifier's choices aren't tokens."""
    said = {}
    for task in ("causal-lm", "classifier", "diffusion"):
        made = ExportReport(board, {"folder": "/x/y", "report": REPORT | {"task": task, "classified": 48}})
        qtbot.addWidget(made)
        said[task] = dict(made._figures())
        made.done(0)
    assert said["causal-lm"]["Same first choice"] == f"{fmt_percent(1.0, 1)} of 256 tokens"
    assert said["classifier"]["Same first choice"] == f"{fmt_percent(1.0, 1)} of 48 answers"
    assert "Largest difference in a logit" in said["classifier"]
    assert "Largest difference of an output" in said["diffusion"]


def test_what_cannot_be_run_has_no_speed(qtbot, board):
    for report in (REPORT | {"format": "gguf"}, REPORT | {"task": "encoder"}):
        made = ExportReport(board, {"folder": "/x/y", "report": report, "workspace": "/w", "variant": "cut"})
        qtbot.addWidget(made)
        made.show()
        assert not hasattr(made, "measure_button")
        assert not made.compare_button.isVisible()
        made.done(0)


def test_the_suggestion_follows_the_variant_until_a_folder_was_given(wizard):
    w = wizard(variant="")
    w.next()
    w.back()
    w.source.list.item(1).setSelected(True)
    w.next()
    assert w.folder.field.path().endswith("magnitude-30-onnx")
    w.folder.field.set_path("/mine")
    w.back()
    w.source.list.item(0).setSelected(True)
    w.next()
    assert w.folder.field.path() == "/mine"


def test_replacing_is_offered_only_where_something_is_in_the_way(wizard, tmp_path):
    w = wizard()
    assert not w.folder.replace.isVisible()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "model.onnx").write_text("x")
    w.folder.field.set_path(str(tmp_path / "old"))
    assert not w.folder.replace.isVisible()  # it isn't an export, and stays
    assert not w.next_button.isEnabled()
    (tmp_path / "old" / "export_report.json").write_text("{}")
    w.folder.field.set_path("")
    w.folder.field.set_path(str(tmp_path / "old"))
    assert w.folder.replace.isVisible()
    assert not w.next_button.isEnabled()
    w.folder.replace.setChecked(True)
    assert w.next_button.isEnabled()


def shown_reports():
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, ExportReport) and w.isVisible()]


def test_the_report_opens_when_the_job_is_done(qtbot, wizard, board):
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    w = wizard(parent=window)
    w.next()
    w.finish()
    board.event.emit(events.Finished("another", {"folder": "/x", "report": REPORT}))
    assert not shown_reports()
    board.event.emit(events.Finished("job-1", {"folder": "/x", "report": REPORT}))
    (report,) = shown_reports()
    assert report.parentWidget() is window
    board.event.emit(events.Finished("job-1", {"folder": "/x", "report": REPORT}))
    assert len(shown_reports()) == 1
    report.close()


def test_a_failed_export_shows_no_report(qtbot, wizard, board):
    w = wizard()
    w.next()
    w.finish()
    board.event.emit(events.Failed("job-1", "check", "No.", ""))
    assert not shown_reports()


def test_the_report_tells_every_figure(qtbot, board):
    report = ExportReport(board, {"folder": "/somewhere/x-onnx", "report": REPORT}, "x")
    qtbot.addWidget(report)
    words = " | ".join(label.text() for label in report.findChildren(QLabel))
    for expected in ("29.6 MB", "6.3e−5", "100.0 % of 256 tokens", "41 s", "The whole text at once", "64 of 64", "float32"):
        assert expected in words


def test_an_encoder_is_not_asked_to_generate(qtbot, board):
    report = ExportReport(board, {"folder": "/x", "report": REPORT | {"task": "encoder"}})
    qtbot.addWidget(report)
    assert report.try_button.isHidden()


def test_try_it(qtbot, board):
    report = ExportReport(board, {"folder": "/somewhere/x-onnx", "report": REPORT})
    dialog = report.try_it()
    qtbot.addWidget(dialog)
    assert dialog.folder == "/somewhere/x-onnx"
    dialog.close()


GGUF = {
    "format": "gguf",
    "file": "shakespeare-7m-q4_k.gguf",
    "bytes": 4_653_706,
    "max_abs": 0.77,
    "top1": 0.961,
    "kl": 0.0035,
    "tokens": 256,
    "task": "causal-lm",
    "seconds": {"total": 11.0},
    "checks": [
        {"check": "plain transformers reads what was written", "value": 0.0, "limit": 1e-3, "passed": True, "note": ""},
        {"check": "the tokenizer in the file splits the held-out text alike", "value": 512, "limit": 6680, "passed": False, "note": ""},
    ],
    "notes": ["Rows of 14 layers aren't whole blocks of q4_k; they take the next wider type that fits."],
}


def test_gguf_is_a_choice(qtbot, wizard, board, tmp_path):
    w = wizard(variant="")
    w.next()
    assert w.folder.types.isHidden()
    w.folder.formats.buttons["gguf"].click()
    assert not w.folder.types.isHidden()
    assert w.folder.field.path().endswith("Shakespeare-7M-gguf")
    assert w.plan.files()[0][0] == "Shakespeare-7M-q8_0.gguf"
    w.folder.types.setCurrentIndex(w.folder.types.findData("q4_k"))
    assert w.plan.files()[0][0] == "Shakespeare-7M-q4_k.gguf"
    w.folder.field.set_path(str(tmp_path / "out"))
    w.next()
    with qtbot.waitSignal(w.submitted):
        w.finish_button.click()
    spec, title, _ = board.submitted[0]
    assert (spec.format, spec.gguf_type, spec.variant) == ("gguf", "q4_k", "seven")
    assert title == "Export Shakespeare 7M to GGUF"


def test_the_format_is_remembered(wizard, tmp_path):
    w = wizard(variant="")
    w.next()
    w.folder.formats.buttons["gguf"].click()
    w.folder.types.setCurrentIndex(w.folder.types.findData("q4_0"))
    w.folder.field.set_path(str(tmp_path / "out"))
    w.next()
    w.finish()
    again = wizard(variant="")
    again.next()
    assert (again.plan.format, again.plan.gguf_type) == ("gguf", "q4_0")
    again.folder.formats.buttons["onnx"].click()
    assert again.plan.spec().format == "onnx"
    assert again.plan.spec().gguf_type == "auto"


def test_the_report_of_a_gguf_file(qtbot, board):
    report = ExportReport(board, {"folder": "/somewhere/x-gguf", "report": GGUF}, "x")
    qtbot.addWidget(report)
    words = " | ".join(label.text() for label in report.findChildren(QLabel))
    for expected in ("shakespeare-7m-q4_k.gguf", "4.65 MB", "0.0035", "96.1 % of 256 tokens", "512 of 6680", "Rows of 14 layers"):
        assert expected in words, words
    assert report.try_button.isHidden()


def test_a_pruned_model_can_be_packed_and_one_without_zeros_cannot(qtbot, wizard, board, tmp_path):
    w = wizard(variant="")
    w.next()
    w.folder.formats.buttons["sparse"].click()
    assert w.folder.types.isHidden()
    assert w.folder.field.path().endswith("Shakespeare-7M-sparse")
    w.folder.field.set_path(str(tmp_path / "out"))
    assert "too few" in w.plan.problem("folder").template
    assert not w.next_button.isEnabled()
    source = w.plan.source
    ledger = source.ledger.model_copy(update={"nonzero": source.ledger.parameters // 2})
    w.plan.variants[source.id] = source.model_copy(update={"ledger": ledger})
    assert w.plan.problem("folder") == NOTHING
    w.folder.entered()
    w.next()
    assert not w.review.device.isVisible()  # nothing is computed
    assert w.plan.estimate == pytest.approx(ledger.weight_bytes / 2 + ledger.parameters / 8, rel=0.01)
    with qtbot.waitSignal(w.submitted):
        w.finish_button.click()
    spec, title, _ = board.submitted[0]
    assert (spec.format, spec.variant) == ("sparse", "seven")
    assert title == "Pack Shakespeare 7M"
    report = ExportReport(board, {"folder": "/somewhere/x-sparse", "report": {"format": "sparse", "bytes": 1000, "file": "x"}}, "x")
    qtbot.addWidget(report)
    assert report.try_button.isHidden()
