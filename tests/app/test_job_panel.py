"""The job dock: order, states, cancel, log that follows its end, curves, what a job changed."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.job_panel import JobPanel, LogView, made_by
from app.library_model import Library
from core import events
from core.records import GenerateSpec
from tests.app.invented import StillBoard, invent_jobs, invent_workspace


@pytest.fixture
def panel(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws")
    library = Library()
    library.open(tmp_path / "ws")
    board = StillBoard()
    panel = JobPanel(board, library)
    panel.resize(1200, 230)
    qtbot.addWidget(panel)
    panel.show()
    panel.made = invent_jobs(board, tmp_path / "ws")
    panel.refresh()
    yield panel
    library.close()


def test_running_first_and_the_latest_of_what_is_over(panel):
    assert [s.status for s in panel.states()] == ["running", "queued", "cancelled", "failed", "finished"]
    assert panel.count.text() == "1 running · 1 queued"
    assert panel.current == panel.made[0].job.id


def test_each_state_has_words_of_its_own(panel):
    lines = {s.status: panel._rows[s.job.id].line.text() for s in panel.made}
    assert "Training · 744 / 1\u202f200 · loss" in lines["running"]
    assert lines["queued"] == "Waits for its turn"
    assert lines["failed"] == "There wasn't enough memory for this."
    assert lines["cancelled"] == "Cancelled; nothing was kept"
    assert lines["finished"].startswith("KD-recovered · int4 g64 · 19.3 MB (\u221285 %) · Perplexity 14.40")
    assert panel._rows[panel.made[0].job.id].time.text() == "2 min left"


def test_cancel_and_taking_off_the_list(panel):
    running, finished = panel.made[0], panel.made[2]
    panel._rows[running.job.id].stop.click()
    assert panel.board.cancelled == [running.job.id]
    assert "Cancelling" in panel._rows[running.job.id].line.text()
    assert not panel._rows[running.job.id].stop.isEnabled()
    panel._rows[finished.job.id].stop.click()
    assert finished.job.id not in panel._rows
    panel.clear.click()
    assert [s.status for s in panel.states()] == ["running", "queued"]


def test_a_failure_is_explained(panel, qtbot):
    dialog = panel.explain(panel.made[3].job.id)
    qtbot.addWidget(dialog)
    assert "memory" in dialog.sentence.text()
    assert "MemoryError" in dialog.detail.toPlainText()
    dialog.accept()
    assert panel.explain(panel.made[0].job.id) is None


def test_a_finished_job_leads_to_its_variant(panel, qtbot):
    with qtbot.waitSignal(panel.variant_wanted) as asked:
        panel.activate(panel.made[2].job.id)
    assert asked.args == ["kdint4"]
    assert made_by(panel.made[0]) == ""


def test_restart_is_asked_for_with_the_job(panel, qtbot):
    row = panel._rows[panel.made[3].job.id]
    with qtbot.waitSignal(panel.restart_wanted) as asked:
        row.again.click()
    assert asked.args[0].spec.steps[0].params == {"sparsity": 0.4}
    assert panel._rows[panel.made[0].job.id].again.isHidden()


def test_keys_walk_and_act(panel, qtbot):
    first = panel._rows[panel.made[0].job.id]
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Down)
    assert panel.current == panel.made[1].job.id
    qtbot.keyClick(panel._rows[panel.current], Qt.Key.Key_Delete)
    assert panel.board.cancelled == [panel.made[1].job.id]


def test_a_persons_choice_isnt_taken_away_by_a_new_job(panel):
    panel.show_job(panel.made[1].job.id, picked=True)
    panel.board.put(panel.made[0].job.spec, "another")
    panel.refresh()
    assert panel.current == panel.made[1].job.id


def test_jobs_of_the_decode_lab_arent_listed(panel, tmp_path):
    panel.board.put(GenerateSpec(workspace=str(tmp_path / "ws"), target="tiny", prompt="x"), "decode")
    panel.refresh()
    assert len(panel.states()) == 5


def test_log_filter_and_copy(panel):
    assert "gradient norm" in panel.log.toPlainText()
    assert "batch 4" not in panel.log.toPlainText()  # DEBUG isn't shown at first
    panel.level.setCurrentIndex(0)
    assert "batch 4" in panel.log.toPlainText()
    panel.level.setCurrentIndex(3)
    assert panel.log.toPlainText().count("\n") == 0
    panel.copy.click()
    assert "ERROR" in QGuiApplication.clipboard().text()


def test_curves_are_drawn_for_a_job_that_trains(panel):
    panel.tabs.buttons["curves"].click()
    assert not panel.level.isVisibleTo(panel)  # the log's, which isn't shown
    assert panel.pages.currentWidget() is panel.curves
    assert panel.curves._chart._curves
    panel.show_job(panel.made[1].job.id, picked=True)
    assert not panel.curves._chart._curves
    panel.curves._chart.grab()


def test_the_log_follows_its_end_only_from_the_end(qtbot):
    log = LogView()
    qtbot.addWidget(log)
    log.resize(400, 120)
    log.show()
    log.show_lines([events.Log("j", "INFO", 0.0, f"line {i}") for i in range(200)])
    bar = log.verticalScrollBar()
    assert bar.value() == bar.maximum()
    log.add(events.Log("j", "INFO", 0.0, "one more"))
    qtbot.waitUntil(lambda: "one more" in log.toPlainText())
    assert bar.value() == bar.maximum()
    bar.setValue(20)
    log.add(events.Log("j", "INFO", 0.0, "and another"))
    qtbot.waitUntil(lambda: "and another" in log.toPlainText())
    assert bar.value() == 20


def test_a_long_sentence_of_the_log_is_read_without_scrolling_sideways(qtbot):
    log = LogView()
    qtbot.addWidget(log)
    log.resize(300, 120)
    log.show()
    log.show_lines([events.Log("j", "INFO", 0.0, "the loss on what was kept aside was never better " * 4)])
    assert log.horizontalScrollBar().maximum() == 0
    assert log.toPlainText().count("\n") == 0  # and it's copied as one line


def test_an_empty_dock_says_so(qtbot):
    panel = JobPanel(StillBoard())
    qtbot.addWidget(panel)
    panel.show()
    assert panel._stack.currentIndex() == 0
    assert panel.log.toPlainText() == ""
    assert panel.log.placeholderText()


def test_of_two_new_jobs_the_one_at_work_is_shown_and_then_the_next(panel):
    panel.board._states.clear()
    panel.refresh()
    first = panel.board.put(panel.made[0].job.spec, "first")
    second = panel.board.put(panel.made[0].job.spec, "second")
    panel.refresh()
    assert panel.current == first.job.id
    panel.show_job(second.job.id)  # as after a wizard
    first.status = "running"
    panel.refresh()
    assert panel.current == first.job.id
    first.status, second.status = "finished", "running"
    panel.refresh()
    assert panel.current == second.job.id
    panel.show_job(first.job.id, picked=True)
    panel.refresh()
    assert panel.current == first.job.id


def test_the_list_scrolls_to_the_job_that_is_shown(panel, qtbot):
    for n in range(8):
        panel.board.put(panel.made[0].job.spec, f"old {n}", status="cancelled")
    panel.refresh()
    qtbot.waitUntil(lambda: panel._scroll.verticalScrollBar().maximum() > 0)
    panel._scroll.verticalScrollBar().setValue(panel._scroll.verticalScrollBar().maximum())
    new = panel.board.put(panel.made[0].job.spec, "new", status="running")
    panel.refresh()
    panel.show_job(new.job.id)
    row = panel._rows[new.job.id]
    qtbot.waitUntil(lambda: row.visibleRegion().boundingRect().height() == row.height())


def test_the_tab_of_samples_is_there_for_jobs_that_have_some(panel):
    said = events.Said("It was", (" a",), (" the",), (False,))
    running, other = panel.made[0], panel.made[1]
    assert panel.tabs.buttons["samples"].isHidden()
    running.samples.append(events.Samples(running.job.id, 10, said=(said,)))
    panel.board.event.emit(running.samples[-1])
    assert not panel.tabs.buttons["samples"].isHidden()
    panel.tabs.buttons["samples"].click()
    assert panel.pages.currentWidget() is panel.samples
    panel.show_job(other.job.id, picked=True)
    assert panel.pages.currentWidget() is panel.log
    assert panel.tabs.buttons["samples"].isHidden()


def test_a_running_job_is_paused_and_goes_on_by_button_key_and_menu(panel, qtbot):
    running, waiting = panel.made[0], panel.made[1]
    row, board = panel._rows[running.job.id], panel.board
    assert row.pause.isVisible()
    assert panel._rows[waiting.job.id].pause.isHidden()
    row.pause.click()
    assert board.controls == [(running.job.id, "pause")]
    assert row.line.text().startswith("Pauses as soon as it can")
    running.paused, running.pausing = True, False
    panel.refresh()
    assert row.line.text().startswith("Paused · Training")
    assert row.time.text() == "Paused"
    assert row.pause.toolTip() == panel.pause.toolTip() == "Go on"
    row.setFocus()
    qtbot.keyClick(row, Qt.Key.Key_Space)
    assert board.controls[-1] == (running.job.id, "resume")
    running.paused = False
    panel.refresh()
    assert row.time.text() == "2 min left"
    next(a for a in panel.menu(running.job.id).actions() if a.text() == "Pause").trigger()
    panel.pause.click()
    assert [c for _, c in board.controls] == ["pause", "resume", "pause", "resume"]
    panel.show_job(waiting.job.id, picked=True)
    assert panel.pause.isHidden()


def test_a_training_can_be_ended_early_and_other_jobs_not(panel):
    running = panel.made[0]
    assert panel.keep.isVisible()
    panel.keep.click()
    assert panel.board.controls == [(running.job.id, "stop")]
    row = panel._rows[running.job.id]
    assert row.line.text().startswith("Stops here; the best is kept")
    assert row.pause.isHidden()
    assert panel.keep.isHidden()
    running.stopping, running.stage = False, "Saving"
    panel.refresh()
    assert panel.keep.isHidden()
    assert panel.pause.isVisible()


def test_a_paused_job_is_told_in_the_status_bar(panel, qtbot):
    from app.status_bar import StatusBar

    bar = StatusBar(panel.board)
    qtbot.addWidget(bar)
    assert bar.jobs.text() == "1 job running · 1 queued"
    panel.made[0].paused = True
    bar.refresh()
    assert bar.jobs.text() == "1 job running · 1 paused · 1 queued"


def test_the_title_yields_to_the_controls_in_a_narrow_panel(panel, qtbot):
    assert panel.title.isVisible()
    panel.splitter.setSizes([700, 490])
    panel.resize(1000, 230)
    qtbot.waitUntil(panel.title.isHidden)
    assert panel.pause.isVisible()
    panel.show_job(panel.made[1].job.id, picked=True)  # it waits, and has no controls
    assert not panel.title.isHidden()
