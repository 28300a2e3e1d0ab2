"""What the decode lab's tools share: a job's life in a window, and its end with the window."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.tool_dialog import ToolDialog
from core.events import Finished, Progress, Started
from core.records import EnumerateSpec
from tests.app.decode_invented import FakeBoard


class Tool(ToolDialog):
    def __init__(self, board, parent=None):
        self.wrong, self.got = "", []
        super().__init__(board, "tool", "Tool", "It does this. And that.", parent)
        self.refresh()

    def problem(self):
        return self.wrong

    def start(self):
        self.submit(EnumerateSpec(), "Work")

    def finished_with(self, result):
        self.got.append(result)


@pytest.fixture
def tool(qtbot):
    made = Tool(FakeBoard())
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # the fixture closes it
    qtbot.addWidget(made)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


def test_a_job_from_start_to_end(tool):
    assert tool.sentences.text() == "It does this. And that."
    assert not tool.isModal()
    QTest.keyClick(tool, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    job = tool.board.job
    assert tool.status.text() == "Starting…"
    assert (tool.run_button.isVisible(), tool.cancel_button.isVisible(), tool.bar.isVisible()) == (False, True, True)
    tool.start_if_able()
    assert len(tool.board.submitted) == 1
    tool.board.event.emit(Started(job, 1, "cpu"))
    assert tool.status.text() == "Loading the models…"
    tool.board.event.emit(Progress(job, "Checking", 3, 4, 2.0, "a note"))
    assert tool.status.text() == "Checking · a note · 2 s left"
    tool.board.event.emit(Finished("another", {"x": 0}))
    assert tool.got == []
    tool.board.event.emit(Finished(job, {"x": 1}))
    assert tool.got == [{"x": 1}]
    assert (tool.run_button.isVisible(), tool.cancel_button.isVisible(), tool.bar.isVisible()) == (True, False, False)
    QTest.keyClick(tool, Qt.Key.Key_Escape)
    assert not tool.isVisible()
    assert tool.board.cancelled == []


def test_it_says_what_it_waits_for(tool):
    tool.board.others = [SimpleNamespace(status="running", job=SimpleNamespace(id="x", title="Distil a student"))]
    tool.run_button.click()
    assert tool.status.text() == "Waiting for its turn: Distil a student is at work…"


def test_a_reason_stands_beside_a_disabled_button_and_goes(tool):
    tool.wrong = "Something is missing."
    tool.refresh()
    assert not tool.run_button.isEnabled()
    assert tool.status.text() == tool.run_button.toolTip() == "Something is missing."
    tool.wrong = ""
    tool.refresh()
    assert tool.status.text() == ""
    assert tool.run_button.isEnabled()


def test_the_first_escape_cancels_and_cancels_once(tool):
    tool.run_button.click()
    job = tool.board.job
    QTest.keyClick(tool, Qt.Key.Key_Escape)
    QTest.keyClick(tool, Qt.Key.Key_Escape)
    assert set(tool.board.cancelled) == {job}
    assert tool.isVisible()
    assert not tool.cancel_button.isEnabled()


def test_a_window_that_goes_with_its_parent_takes_its_job_along(qtbot):
    parent, board = QWidget(), FakeBoard()
    tool = Tool(board, parent)
    tool.start_if_able()
    job = board.job
    parent.deleteLater()
    qtbot.waitUntil(lambda: board.cancelled == [job])
