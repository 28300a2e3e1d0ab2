"""How it works: the teaching view, with a board that's asked and answers when told to."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.decode_run import Kind
from app.enumeration import LOSSLESS, LOSSY, WRONG, EnumerationDialog, course_of
from app.theme import theme
from app.toy_rules import rule_title, rule_words
from core.events import Failed
from core.records import EnumerateSpec
from tests.app.tools_invented import RULES, AskedBoard, enumeration_result, first_round


@pytest.fixture
def dialog(qtbot):
    theme().load_fonts()
    made = EnumerationDialog(AskedBoard())
    qtbot.addWidget(made)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # the fixture closes it
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.ask()
    return made


def choose(dialog, rule, **more):
    dialog.rules.choose(rule)
    dialog.ask()
    dialog.board.answer(enumeration_result(rule, **more))


def test_it_asks_at_once_and_shows_an_exact_rule(dialog):
    assert dialog.board.asked[0][0] == EnumerateSpec()
    assert dialog.views.currentWidget() is dialog.waiting
    dialog.board.answer(enumeration_result())
    assert dialog.verdict.text() == "Total variation 0: every text is exactly as likely as the target alone makes it."
    assert dialog.verdict_icon._name == "check"
    assert len(dialog.texts.rows) == 27
    assert not any(row.off for row in dialog.texts.rows)
    assert dialog.texts.rows[0].words == "aaa"
    assert "1\u202f215 courses" in dialog.status.text()
    assert dialog.rules.buttons["token"].figure() == "0"
    dialog.grab()


def test_a_wrong_rule_is_seen_to_be_wrong(dialog):
    dialog.board.answer(enumeration_result())
    choose(dialog, "resample")
    assert dialog.verdict.text() == "Total variation 0.166: this isn't the target's law."
    assert dialog.verdict_icon._name == "error"
    assert sum(row.off for row in dialog.texts.rows) == 2
    assert dialog.rules.buttons["resample"].figure() == "0.17"
    assert "drawn from q itself" in dialog.words.text()
    dialog.grab()


def test_a_lossy_rule_warns_and_is_not_called_wrong(dialog):
    dialog.board.answer(enumeration_result())
    choose(dialog, "typical")
    assert dialog.verdict_icon._name == "warning"


def test_a_lossless_rule_that_is_off_asks_for_a_report(dialog):
    wrong = enumeration_result("resample") | {"rule": "token", "lossless": True}
    dialog.board.answer(wrong)
    assert "please report it" in dialog.reach.text()


def test_a_wrong_rule_that_happens_to_be_exact_is_not_praised(dialog):
    dialog.board.answer(enumeration_result())
    dialog.rules.choose("discard")
    dialog.ask()
    dialog.board.answer(enumeration_result() | {"rule": "discard", "lossless": False})
    assert "Try another toy" in dialog.reach.text()


def test_answers_are_kept(dialog):
    dialog.board.answer(enumeration_result())
    choose(dialog, "block")
    asked = len(dialog.board.asked)
    dialog.rules.choose("token")
    dialog.ask()
    assert len(dialog.board.asked) == asked
    assert dialog.views.currentWidget() is dialog.texts
    dialog.gamma.setValue(3)
    assert dialog.views.currentWidget() is dialog.waiting
    assert dialog.rules.buttons["token"].figure() == ""
    dialog.ask()
    assert dialog.board.asked[-1][0] == EnumerateSpec(gamma=3)
    dialog.gamma.setValue(2)
    assert dialog.board.forgotten == [f"ask-{asked + 1}"]
    assert dialog.rules.buttons["block"].figure() == "0"


def test_the_first_token_and_the_first_round(dialog):
    dialog.board.answer(enumeration_result())
    dialog.switch.buttons["token"].click()
    assert dialog.overlap.isVisible()
    assert dialog.overlap.alpha == pytest.approx(0.7)
    assert sum(dialog.overlap.corrected) == pytest.approx(0.3)
    assert [k + c for k, c in zip(dialog.overlap.kept, dialog.overlap.corrected, strict=True)] == pytest.approx([0.55, 0.3, 0.15])
    assert "0.70 of the guesses is kept" in dialog.overlap_words.text()
    assert "draft 0.250, target 0.550" in dialog.overlap.accessibleDescription()
    dialog.grab()
    dialog.switch.buttons["round"].click()
    assert dialog.courses.isVisible()
    assert sum(c.chance for c in dialog.courses.courses) == pytest.approx(1.0)
    dialog.courses.list.setFocus()
    QTest.keyClick(dialog.courses.list, Qt.Key.Key_End)
    assert "Probability" in dialog.courses.list.accessibleDescription()
    dialog.grab()


def test_the_wrong_correction_overshoots_in_the_picture(dialog):
    dialog.board.answer(enumeration_result())
    choose(dialog, "resample")
    dialog.show_view("token")
    law = [k + c for k, c in zip(dialog.overlap.kept, dialog.overlap.corrected, strict=True)]
    assert sum(law) == pytest.approx(1.0)
    assert law[1] > dialog.overlap.target[1] + 0.05
    dialog.grab()
    choose(dialog, "tree")
    assert not dialog.switch.buttons["token"].isEnabled()
    assert dialog.views.currentWidget() is dialog.texts


def test_guesses_become_cells_by_their_fate():
    rows = {(r["drafted_text"], r["accepted"], r["text"]): course_of(r) for r in first_round()}
    assert rows["ab", 1, "aa"].cells == (("a", Kind.ACCEPTED), ("b", Kind.REJECTED), ("a", Kind.CORRECTED))
    assert rows["bc", 0, "a"].cells == (("b", Kind.REJECTED), ("c", Kind.UNTESTED), ("a", Kind.CORRECTED))
    assert rows["ac", 2, "acb"].cells[-1] == ("b", Kind.BONUS)


def test_a_failure_can_be_tried_again(dialog):
    dialog.board.asked[-1][1](Failed("", "internal", "Something broke.", "", "trace"))
    assert dialog.failure.text() == "Something broke."
    assert dialog.run_button.isVisible()
    assert dialog.waiting.title.text() == "No answer"
    dialog.run_button.click()
    assert not dialog.failure.isVisible()
    dialog.ask()
    assert len(dialog.board.asked) == 2


def test_escape_ends_a_question_and_then_closes(dialog):
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.board.forgotten == ["ask-1"]
    assert dialog.isVisible()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_rules_are_reached_by_the_arrow_keys(dialog):
    dialog.rules.buttons["token"].setFocus()
    QTest.keyClick(dialog.rules.buttons["token"], Qt.Key.Key_Down)
    assert dialog.rules.current == "block"


def test_every_rule_has_a_name_and_words():
    assert {*LOSSLESS, *LOSSY, *WRONG} == set(RULES)
    for rule in RULES:
        assert rule_title(rule)
        assert rule_words(rule).endswith(".")


def test_it_works_small_and_dark(dialog, qtbot):
    theme().set_dark(True)
    try:
        dialog.board.answer(enumeration_result())
        dialog.resize(720, 520)
        qtbot.wait(30)
        assert (dialog.width(), dialog.height()) == (720, 520)
        for view in ("texts", "token", "round"):
            dialog.show_view(view)
            dialog.grab()
    finally:
        theme().set_dark(False)
