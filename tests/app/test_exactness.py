"""Check exactness, as a person uses it, with a board that runs nothing."""

from __future__ import annotations

import math

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.exactness import ExactnessDialog, deviation, outcome_rows, p_value
from app.library_model import Library
from app.theme import theme
from core.events import Cancelled, Failed, Finished, Progress, Started
from core.records import Choice, Drafting
from tests.app.decode_invented import FakeBoard, make_workspace
from tests.app.tools_invented import exactness_result

DRAFTING = Drafting(proposer="draft", draft="student-cc", gamma=4, policy="adaptive", verifier="block")


@pytest.fixture
def make(qtbot, tmp_path):
    theme().load_fonts()

    def made(drafting=DRAFTING, choice=None, target="shakespeare-aa", prompt="Once upon a time") -> ExactnessDialog:
        if not (tmp_path / "w").exists():
            make_workspace(tmp_path / "w")
        library = Library()
        library.open(tmp_path / "w")
        dialog = ExactnessDialog(library, FakeBoard(), drafting, choice or Choice(temperature=0.8), target, prompt)
        qtbot.addWidget(dialog)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # the fixture closes it
        with qtbot.waitActive(dialog):
            dialog.show()
            dialog.activateWindow()
        return dialog

    return made


def checked(dialog, **result):
    dialog.run_button.click()
    dialog.board.event.emit(Finished(dialog.board.job, exactness_result(**result), 20.0))
    return dialog


def test_it_tests_what_the_lab_is_set_to(make):
    dialog = make(choice=Choice(temperature=0.7, top_k=40, top_p=0.9, presence_penalty=0.5, seed=3))
    assert "student 1M drafts 4 tokens for Shakespeare-7M (fp32), judged block verification" in dialog.pair.text()
    dialog.tokens.setValue(3)
    dialog.runs.setValue(2000)
    QTest.keyClick(dialog.prompt, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    spec, title, _ = dialog.board.submitted[0]
    assert (spec.kind, spec.target, spec.prompt) == ("exactness", "shakespeare-aa", "Once upon a time")
    assert (spec.proposer, spec.draft, spec.gamma, spec.policy, spec.verifier) == ("draft", "student-cc", 4, "adaptive", "block")
    assert (spec.temperature, spec.top_k, spec.top_p, spec.presence_penalty, spec.seed) == (0.7, 8, 0.9, 0.5, 3)
    assert (spec.tokens, spec.runs) == (3, 2000)
    assert "Shakespeare-7M" in title


def test_greedy_labs_are_tested_at_temperature_one(make):
    dialog = make(choice=Choice())
    assert dialog.temperature.value() == 1.0
    assert dialog.top_k.value() == 4
    assert "16 outcomes at most" in dialog.outcomes.text()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"drafting": Drafting()}, "Choose a way to draft"),
        ({"target": ""}, "Choose a target"),
        ({"prompt": " "}, "Write a prompt"),
        ({"drafting": Drafting(proposer="draft", draft="gone")}, "isn't in the workspace"),
    ],
)
def test_what_is_missing_is_said_beside_a_disabled_button(make, changed, words):
    dialog = make(**changed)
    assert not dialog.run_button.isEnabled()
    assert words in dialog.status.text()
    dialog.start_if_able()
    assert dialog.board.submitted == []


def test_its_progress_and_its_cancel(make):
    dialog = make()
    assert dialog.stack.currentWidget() is dialog.empty
    dialog.run_button.click()
    job = dialog.board.job
    dialog.board.event.emit(Started(job, 1, "cpu"))
    dialog.board.event.emit(Progress(job, "Drawing texts", 250, 1000, 12.0))
    assert dialog.bar.share == 0.25
    assert "12 s left" in dialog.status.text()
    assert not dialog.prompt.isEnabled()
    dialog.cancel_button.click()
    assert dialog.board.cancelled == [job]
    dialog.board.event.emit(Cancelled(job))
    assert dialog.status.text() == "Cancelled."
    assert dialog.prompt.isEnabled()
    assert dialog.empty.title.text() == "Not checked yet"


def test_a_pass_says_what_it_is_worth(make):
    dialog = checked(make())
    assert dialog.verdict.text().startswith("No difference found: p = 0.50")
    assert "total variation of 0.061 or more would be seen nine times in ten" in dialog.power.text()
    assert "was caught" in dialog.control.text()
    assert dialog.verdict_icon._name == "check"
    assert dialog.status.text() == "1\u202f000 runs in 21 s; 512 of 901 guesses were kept."
    dialog.grab()


def test_a_pass_whose_wrong_rule_was_not_caught_is_no_green_tick(make):
    dialog = checked(make(), caught=False)
    assert dialog.verdict_icon._name == "warning"
    assert "wasn't caught (p = 0.21)" in dialog.control.text()


def test_a_difference_of_a_lossless_rule_is_an_error(make):
    dialog = checked(make(), passed=False)
    assert "aren't distributed as the target's" in dialog.verdict.text()
    assert dialog.verdict_icon._name == "error"
    assert dialog.power.isHidden()
    assert any(row.off for row in dialog.bars.rows)
    dialog.grab()


def test_a_difference_of_a_lossy_rule_was_to_be_expected(make):
    dialog = checked(make(drafting=Drafting(proposer="draft", draft="student-cc", verifier="typical")), passed=False)
    assert "as was to be expected" in dialog.verdict.text()
    assert "not lossless" in dialog.pair.text()
    dialog = checked(make(drafting=Drafting(proposer="ngram", verifier="top-k")))
    assert "isn't lossless" in dialog.verdict.text()
    assert dialog.verdict_icon._name == "info"


def test_a_failure_is_a_sentence(make):
    dialog = make()
    dialog.run_button.click()
    dialog.board.event.emit(Failed(dialog.board.job, "input", "{text} isn't one token.", "Choose another.", "", {"text": "x"}))
    assert dialog.failure.text() == "x isn't one token. Choose another."
    assert dialog.verdict_card.isHidden()
    dialog.run_button.click()
    assert not dialog.failure.isVisible()


def test_outcomes_are_by_expectation_and_the_pooled_are_one():
    counts = (("b", 20.0, 31), ("a", 70.0, 60), ("c", 4.0, 5), ("d", 3.0, 2), ("e", 3.0, 2))
    cells = [{"text": t, "expected": e, "seen": s, "control": 0, "pooled": e < 5} for t, e, s in counts]
    rows = outcome_rows(cells, 100)
    assert [r[0] for r in rows] == ["a", "b", "c"]
    assert rows[2][1:3] == (10.0, 9)
    assert rows[2][4] == 3
    assert rows[1][3] == pytest.approx((31 - 20) / math.sqrt(100 * 0.2 * 0.8))
    assert [r[2] for r in outcome_rows(cells, 100, "control")] == [0, 0, 0]


def test_the_wrong_rule_can_be_looked_at(make):
    dialog = checked(make())
    assert not any(row.off for row in dialog.bars.rows)
    dialog.switch.buttons["control"].click()
    assert any(row.off for row in dialog.bars.rows)
    assert dialog.bars.list.names[1] == "seen (wrong rule)"
    dialog.run_button.click()
    dialog.board.event.emit(Finished(dialog.board.job, exactness_result(), 20.0))
    assert dialog.switch.current == "seen"


def test_the_least_p_of_all_its_tests_is_told(make):
    dialog = make()
    dialog.run_button.click()
    result = exactness_result() | {"passed": False, "tests": [{"tokens": 1, "p": 0.00021}, {"tokens": 2, "p": 0.503}]}
    dialog.board.event.emit(Finished(dialog.board.job, result, 20.0))
    assert "p = 0.00021" in dialog.verdict.text()


def test_what_the_target_cannot_write_is_counted(make):
    dialog = make()
    dialog.run_button.click()
    dialog.board.event.emit(Finished(dialog.board.job, exactness_result() | {"passed": False, "outside": 3}, 20.0))
    assert dialog.verdict.text().startswith("3 texts came that the target can't write.")


def test_what_cannot_be_and_was_seen_is_infinitely_off():
    ((_, _, _, away, _),) = outcome_rows([{"text": "x", "expected": 0.0, "seen": 2, "pooled": False}], 10)
    assert away == math.inf


def test_a_p_value_is_readable():
    assert p_value(0.042) == "p = 0.042"
    assert p_value(1e-30) == "p < 10⁻¹²"
    assert deviation(0.0, 0) == 0.0


def test_the_list_is_read_by_keys_and_in_words(make):
    dialog = checked(make())
    rows = dialog.bars.list
    assert rows.hasFocus()
    QTest.keyClick(rows, Qt.Key.Key_Down)
    QTest.keyClick(rows, Qt.Key.Key_End)
    assert rows.current == rows.count() - 1
    assert "expected (target alone)" in rows.accessibleDescription()
    QTest.keyClick(rows, Qt.Key.Key_Home)
    assert rows.current == 0
    QTest.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, rows.pitch + 4))
    assert rows.current == 1


def test_it_works_small_and_dark(make, qtbot):
    theme().set_dark(True)
    try:
        dialog = checked(make())
        dialog.resize(720, 520)
        qtbot.wait(30)
        assert (dialog.width(), dialog.height()) == (720, 520)
        dialog.grab()
    finally:
        theme().set_dark(False)
