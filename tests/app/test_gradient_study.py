"""Gradients in fewer bits: what's asked of the worker, what's drawn as it comes, and what may be concluded."""

import random
import statistics

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.gradient_rows import Difference, differences, interval, key_of
from app.gradient_study import FIRST, PLAIN, GradientStudyDialog, core_name
from app.gradient_table import choice_name
from app.library_model import Library
from app.theme import theme
from core.events import Cancelled, Failed, Finished, GradientsTried, Metric, Progress, Started
from core.records import GradientStudySpec
from tests.app.gradients_invented import invent_row, invent_study
from tests.app.invented import TREE, StillBoard, invent_workspace, put_packed

FOUR = (4, "channel", True)


@pytest.fixture
def board():
    return StillBoard()


@pytest.fixture
def make(qtbot, tmp_path, board):
    theme().load_fonts()
    workspace = invent_workspace(tmp_path / "ws", TREE[:1])
    put_packed(workspace)
    library = Library()
    library.open(tmp_path / "ws")

    def made(variant="tiny"):
        dialog = GradientStudyDialog(library, board, variant)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(dialog)
        with qtbot.waitExposed(dialog):
            dialog.show()
        return dialog

    yield made
    library.close()


# ---- the figures --------------------------------------------------------------------------------------------------


def test_the_interval_is_students():
    assert interval([1.0]) is None
    assert interval([1.0, 3.0]) == pytest.approx(12.706 * 1.0)
    values = [random.Random(1).gauss(0, 1) for _ in range(40)]
    assert interval(values) == pytest.approx(2.093 * statistics.stdev(values) / 40**0.5)


def test_choices_are_compared_seed_by_seed():
    """Seeds differ by 0.03 and the choices by 0.002: over the seeds, the one difference is plain and the other isn't there."""
    rows = {key: invent_row(key) for key in (PLAIN, (8, "channel", False), (2, "channel", False))}
    found = differences(rows)
    assert set(found) == {(8, "channel", False), (2, "channel", False)}
    assert found[8, "channel", False].verdict == "same"
    assert found[2, "channel", False].verdict == "worse"
    assert rows[8, "channel", False]["stderr"] > 4 * found[8, "channel", False].half
    assert Difference(-0.1, 0.05).verdict == "better"
    assert Difference(0.08, 0.1, gain=2.4).verdict == "unclear"  # a wide interval isn't a proof that there's no difference
    assert Difference(0.004, 0.002, gain=2.4).verdict == "same"  # nor is a small difference one that matters
    assert differences({(8, "channel", False): rows[8, "channel", False]}) == {}


def test_one_seed_tells_nothing_of_noise():
    rows = {key: invent_row(key, seeds=1) for key in (PLAIN, FOUR)}
    assert differences(rows)[FOUR].verdict == "unknown"


def test_choices_are_called_in_curves_as_core_calls_them():
    from core.methods.gradient_study import CHOICES, name_of

    assert [core_name(key) for key in CHOICES] == [name_of(key) for key in CHOICES]
    assert choice_name(FOUR) == "4 bits, a scale a row, error feedback"
    assert {PLAIN, *FIRST} == set(CHOICES)


# ---- the window ---------------------------------------------------------------------------------------------------


def test_what_is_asked_of_the_worker(make, board):
    dialog = make()
    assert "24 runs of 100 steps" in dialog.amount.text()
    for key, box in dialog.choices.items():
        box.setChecked(key == FOUR)
    dialog.steps.setValue(40)
    dialog.seeds.setValue(2)
    dialog.fresh.setChecked(True)
    assert "4 runs of 40 steps" in dialog.amount.text()
    QTest.keyClick(dialog, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    spec, title, _ = board.submitted[-1]
    assert isinstance(spec, GradientStudySpec)
    assert [(c.bits, c.per, c.feedback) for c in spec.choices] == [PLAIN, FOUR]
    assert (spec.variant, spec.steps, spec.seeds, spec.fresh, spec.learning_rate, spec.text) == ("tiny", 40, 2, True, 5e-4, None)
    assert "TinyStories" in title


def test_it_is_drawn_as_it_comes(make, board, qtbot):
    dialog = make()
    dialog.run_button.click()
    job = dialog.job
    board.event.emit(Started(job, 1, "cpu"))
    assert dialog.mode.current == "steps"
    assert choice_name(dialog.model.keys[0]) == "float32"
    assert dialog.model.rowCount() == 8
    for step, loss in ((0, 5.6), (10, 4.0), (20, 3.6)):
        board.event.emit(Metric(job, "heldout_loss/float32", step, loss))
        board.event.emit(Metric(job, f"heldout_loss/{core_name(FOUR)}", step, loss + 0.1))
    qtbot.waitUntil(lambda: FOUR in dialog.chart.curves)
    assert dialog.chart.curves[PLAIN] == [(0, 5.6), (10, 4.0), (20, 3.6)]
    assert dialog.model.text(PLAIN, "loss") == ""
    board.event.emit(Progress(job, "Training", 1.5, 24, 60.0, core_name(FOUR)))
    assert choice_name(FOUR) in dialog.status.text()
    dialog.grab()
    board.event.emit(GradientsTried(job, invent_row(PLAIN, seeds=1)))
    board.event.emit(GradientsTried(job, invent_row(FOUR, seeds=1)))
    qtbot.waitUntil(lambda: dialog.model.text(FOUR, "loss") != "")
    assert "±" not in dialog.model.text(FOUR, "apart")
    assert "One run a choice" in dialog.verdict.text()
    board.event.emit(GradientsTried(job, invent_row(PLAIN, seeds=3)))
    board.event.emit(GradientsTried(job, invent_row(FOUR, seeds=3)))
    qtbot.waitUntil(lambda: "±" in dialog.model.text(FOUR, "apart"))
    for key in ("bits", "sent"):
        dialog.mode.buttons[key].click()
        dialog.grab()
    board.event.emit(Finished(job, invent_study(), 99.0))
    assert not dialog.running
    assert dialog.mode.current == "bits"
    assert len(dialog.rows) == 8
    assert "Loss before training: 5.6" in dialog.verdict.text()
    assert "3 of 7; the fewest bytes of them: 4 bits, a scale a row, error feedback, 12.8 %" in dialog.verdict.text()


def test_a_training_that_gained_nothing_compares_nothing(make, board):
    """Eight steps at a high rate: every best loss was the one before training, and the table said that 2 bits cost 0.0000."""
    dialog = make()
    dialog.run_button.click()
    study = invent_study(seeds=1)
    study["rows"] = [row | {"heldout_loss": 5.6, "losses": [5.6]} for row in study["rows"]]
    board.event.emit(Finished(dialog.job, study, 9.0))
    assert "No run got below it" in dialog.verdict.text()


def test_the_plot_and_the_table_choose_together(make, board, qtbot):
    dialog = make()
    dialog.run_button.click()
    board.event.emit(Finished(dialog.job, invent_study(), 9.0))
    dialog.chart.chosen.emit(FOUR)
    assert dialog.asked[dialog.table.currentIndex().row()] == FOUR
    assert dialog.chart.selected == FOUR
    assert dialog.chart._found(dialog.chart.place(FOUR)) == FOUR
    dialog.chart.hovered = FOUR
    dialog.grab()
    title, line, rows = dialog._card(FOUR)
    assert (title, line) == ("4 bits, a scale a row, error feedback", "3 of 3 runs")
    assert {r[0] for r in rows} == {"Loss", "Against float32", "Perplexity", "Sent", "Error of a gradient"}
    dialog.mode.buttons["steps"].click()
    at = dialog.chart.to_screen(50, dict(dialog.chart.curves[PLAIN])[50])
    assert dialog.chart._found(QPointF(at)) is not None
    dialog.table.setFocus()
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    assert dialog.chart.selected == dialog.asked[dialog.table.currentIndex().row()] != FOUR
    dialog.copy_button.click()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert len(lines) == 9
    assert lines[0].startswith("Gradients\tLoss\tAgainst float32")


def test_a_study_of_this_session_is_shown_again(make, board):
    first = make()
    first.run_button.click()
    state = board.state(first.job)
    state.status, state.result = "finished", invent_study()
    board.event.emit(Finished(first.job, state.result, 9.0))
    first.close()
    again = make()
    assert again.pages.currentIndex() == 1
    assert {key_of(row) for row in state.result["rows"]} == set(again.rows)
    again.again.click()
    assert again.pages.currentIndex() == 0
    assert again.run_button.isVisible()


def test_what_cannot_be_trained_is_said(make):
    assert "packed" in make("packed").problem()
    dialog = make()
    for box in dialog.choices.values():
        box.setChecked(False)
    assert "at least one way" in dialog.status.text()
    assert not dialog.run_button.isEnabled()


def test_cancelling_keeps_what_was_measured(make, board):
    dialog = make()
    dialog.run_button.click()
    board.event.emit(GradientsTried(dialog.job, invent_row(PLAIN)))
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert board.cancelled == [dialog.job]
    board.event.emit(Cancelled(dialog.job))
    assert dialog.model.text(PLAIN, "loss") != ""
    assert dialog.again.isVisible()


def test_a_failure_is_told(make, board):
    dialog = make()
    dialog.run_button.click()
    board.event.emit(Failed(dialog.job, "data", "The text is too short."))
    assert "too short" in dialog.failure.text()
