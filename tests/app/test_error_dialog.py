"""Errors: sentence, hint, folded detail, report."""

from PySide6.QtGui import QGuiApplication

from app.error_dialog import ErrorDialog, report_text, show_failure
from core.errors import UserError
from core.events import Failed

FAILED = Failed("j", "memory", "There wasn't enough memory for {what}.", "Choose a smaller model.", "Traceback: x", {"what": "this"})


def test_the_dialog_says_why_and_what_to_do(qtbot):
    dialog = ErrorDialog(None, FAILED, "Quantize", "cpu")
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.windowTitle() == "Quantize"
    assert dialog.sentence.text() == "There wasn't enough memory for this."
    assert dialog.hint.text() == "Choose a smaller model."
    assert dialog.detail.isHidden()
    dialog.fold.click()
    assert not dialog.detail.isHidden()
    assert "Traceback" in dialog.detail.toPlainText()
    dialog.copy.click()
    report = QGuiApplication.clipboard().text()
    for part in ("Spokeshave", "torch", "Device: cpu", "There wasn't enough memory for this.", "Traceback: x", "memory"):
        assert part in report


def test_an_error_raised_in_the_window_is_shown_the_same_way(qtbot):
    dialog = show_failure(None, UserError("{path} isn't a workspace.", path="/x"), "Open")
    qtbot.addWidget(dialog)
    assert dialog.sentence.text() == "/x isn't a workspace."
    assert not dialog.hint.isVisible()
    assert not dialog.fold.isVisible()
    dialog.accept()


def test_the_report_is_in_english_and_names_a_missing_device():
    assert "Device: not known" in report_text(FAILED)
