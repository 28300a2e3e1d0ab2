"""The export wizard and its report."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from app.wizards.export import ExportReport, ExportWizard
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
