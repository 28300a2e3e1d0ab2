"""Generating with an exported folder, as the window shows it."""

import pytest
from PySide6.QtCore import Qt

from app.wizards.try_export import TryExportDialog
from core import events


@pytest.fixture
def dialog(qtbot, board):
    made = TryExportDialog(board, "/somewhere/x-onnx")
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.show()
    return made


def token(number, text, job="job-1"):
    taken = events.Round(
        number=number, start=number, planned=0, drafted=(), why_stopped="", final_id=1, final_text=text, final_kind="plain", committed=(1,)
    )
    return events.RoundTaken(job, "plain", taken)


def test_tokens_come_one_by_one_and_the_speed_at_the_end(dialog, board):
    dialog.prompt.setPlainText("To be")
    dialog.run_button.click()
    spec, _, _ = board.submitted[0]
    assert (spec.kind, spec.folder, spec.prompt, spec.max_new_tokens) == ("try-export", "/somewhere/x-onnx", "To be", 64)
    board.event.emit(token(0, " or"))
    board.event.emit(token(0, " nonsense", job="another"))
    board.event.emit(token(1, " not"))
    assert dialog.output.toPlainText() == "To be or not"
    assert dialog.state.text() == "2 tokens"
    board.event.emit(events.Finished("job-1", {"text": " or not", "ids": [1, 2], "tokens_per_s": 412.34}))
    assert dialog.speed.text() == "412 tokens/s"
    assert not dialog.running
    assert dialog.run_button.text() == "Generate"


def test_stop_keeps_what_there_is(dialog, board):
    dialog.run()
    assert dialog.run_button.text() == "Stop"
    dialog.run_button.click()
    assert board.controls == [("job-1", "stop")]
    board.event.emit(events.Finished("job-1", {"ids": [1], "tokens_per_s": None}))
    assert dialog.speed.text() == ""


def test_a_failure_is_told_in_the_dialog(dialog, board):
    dialog.run()
    board.event.emit(events.Failed("job-1", "input", "The prompt is empty.", "Write at least one word."))
    assert dialog.notice.text() == "The prompt is empty. Write at least one word."
    assert not dialog.running


def test_an_empty_prompt_is_not_sent(dialog, board):
    dialog.prompt.setPlainText("  ")
    assert not dialog.run_button.isEnabled()
    assert dialog.state.text() == "Write a prompt first."
    dialog.run()
    assert board.submitted == []
    dialog.prompt.setPlainText("x")
    assert dialog.state.text() == ""


def test_closing_cancels(dialog, board):
    dialog.run()
    dialog.close()
    assert board.cancelled == ["job-1"]


def test_the_last_prompt_comes_back(qtbot, dialog, board):
    dialog.prompt.setPlainText("Once more")
    dialog.tokens.setValue(7)
    dialog.run()
    again = TryExportDialog(board, "/x")
    qtbot.addWidget(again)
    assert again.prompt.toPlainText() == "Once more"
    assert again.tokens.value() == 7
    again.close()
