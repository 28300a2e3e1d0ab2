"""Find a draft, as a person uses it, with a board that runs nothing; and the arithmetic of what pays, without a window."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.drafts_tried import Tried, best_speedup, break_even, common_costs, contour, ranked, read_row, table
from app.find_draft import FindDraftDialog, split_prompts
from app.library_model import Library
from app.theme import theme
from core.events import Cancelled, Failed, Finished, Started
from core.records import Choice, Drafting
from core.theory import speedup
from tests.app.decode_invented import VARIANTS, FakeBoard, make_workspace, variant
from tests.app.tools_invented import COSTS, NOT_PAYING, PAYING, feed_search, row, search_result

TARGET, PROMPTS = "shakespeare-aa", "Once upon a time\n---\ndef main():\n\n    pass"


@pytest.fixture
def make(qtbot, tmp_path):
    theme().load_fonts()

    def made(target=TARGET, prompt=PROMPTS, variants=VARIANTS, **more) -> FindDraftDialog:
        make_workspace(tmp_path / "w", variants)
        library = Library()
        library.open(tmp_path / "w")
        dialog = FindDraftDialog(library, FakeBoard(), target, prompt, **more)
        qtbot.addWidget(dialog)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)  # the fixture closes it
        with qtbot.waitActive(dialog):
            dialog.show()
            dialog.activateWindow()
        return dialog

    return made


def searched(dialog, rows=PAYING):
    dialog.run_button.click()
    feed_search(dialog.board, rows)
    dialog.board.event.emit(Finished(dialog.board.job, search_result(rows), 30.0))
    return dialog


# ---- what's asked


def test_prompts_are_divided_by_three_dashes():
    assert split_prompts("a\n---\nb\n\nc\n---\n\n---\n") == ("a", "b\n\nc")
    assert split_prompts(" \n") == ()
    assert split_prompts("x --- y") == ("x --- y",)


def test_it_asks_for_what_is_ticked(make):
    dialog = make(choice=Choice(temperature=0.7, top_p=0.9, repetition_penalty=1.2, max_new_tokens=900))
    dialog.ways["layer-skip", None].setChecked(False)
    for other in ("int8-bb", "other-dd"):
        dialog.ways["draft", other].setChecked(False)
    dialog.tokens.setValue(64)
    dialog.gamma.setValue(5)
    dialog.repeats.setValue(2)
    QTest.keyClick(dialog.prompts, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    spec, title, device = dialog.board.submitted[0]
    assert (spec.kind, spec.target, spec.prompts) == ("find-draft", TARGET, ("Once upon a time", "def main():\n\n    pass"))
    assert (spec.proposers, spec.drafts) == (("packed", "ngram", "draft"), ("student-cc",))  # nor one whose tick was taken away
    assert (spec.temperature, spec.top_p, spec.repetition_penalty) == (0.7, 0.9, 1.2)
    assert (spec.max_new_tokens, spec.gamma, spec.repeats, device) == (64, 5, 2, "auto")
    assert "Shakespeare-7M" in title
    assert dialog.running
    assert dialog.cancel_button.isVisible()


def test_what_cannot_draft_is_listed_with_the_reason(make):
    dialog = make(variants=(*VARIANTS, variant("bare-ff", "no tokenizer", tokens="")))
    assert ("draft", "minilm-ee") not in dialog.ways
    assert ("draft", TARGET) not in dialog.ways
    bare = dialog.ways["draft", "bare-ff"]
    assert not bare.isEnabled()
    assert not bare.isChecked()
    assert "no tokenizer" in bare.toolTip()
    other = dialog.ways["draft", "other-dd"]
    assert other.isEnabled()
    assert "re-encoded" in other.toolTip()
    assert not dialog.ways["early-exit", None].isChecked()


def test_ticks_are_kept_when_the_workspace_changes(make):
    dialog = make()
    dialog.ways["packed", None].setChecked(False)
    dialog.library.workspace.delete("int8-bb")
    dialog.library.refresh()
    assert ("draft", "int8-bb") not in dialog.ways
    assert not dialog.ways["packed", None].isChecked()
    assert dialog.ways["draft", "student-cc"].isChecked()


def test_nothing_to_try_and_nothing_to_say_keep_it_from_starting(make):
    dialog = make()
    dialog.prompts.setPlainText("  \n---\n")
    assert not dialog.run_button.isEnabled()
    assert dialog.status.text() == dialog.run_button.toolTip() == "Write a prompt first."
    dialog.start_if_able()
    assert dialog.board.submitted == []
    dialog.prompts.setPlainText("x")
    assert dialog.run_button.isEnabled()
    assert dialog.status.text() == ""
    for box in dialog.ways.values():
        box.setChecked(False)
    assert "Tick at least one" in dialog.status.text()


def test_without_a_target_it_says_where_to_choose_one(make):
    dialog = make(target="gone")
    assert dialog.pages.currentWidget() is dialog.no_target
    assert not dialog.run_button.isEnabled()


def test_one_more_prompt_comes_after_three_dashes(make, qtbot):
    dialog = make(prompt="One")
    dialog.findChild(object, "add_prompt").click()
    qtbot.keyClicks(dialog.prompts, "Two")
    assert split_prompts(dialog.prompts.toPlainText()) == ("One", "Two")
    assert dialog.prompt_count.text() == "2"


# ---- what comes


def test_rows_come_one_by_one_and_the_best_is_named(make):
    dialog = make()
    dialog.run_button.click()
    dialog.board.event.emit(Started(dialog.board.job, 1, "cpu"))
    assert dialog.stack.currentWidget() is dialog.waiting
    feed_search(dialog.board, PAYING[:2])
    assert dialog.model.rowCount() == 2
    assert "Ahead so far: Packed copy of the target, ×1.38" in dialog.verdict.text()
    assert dialog.plot.costs_known
    assert "12 s left" in dialog.status.text()
    assert dialog.bar.share == 0.5
    dialog.board.event.emit(Finished(dialog.board.job, search_result(PAYING), 30.0))
    assert not dialog.running
    assert [r.measured for r in dialog.model.rows] == [1.62, 1.38, 1.01, 0.86, None]
    assert dialog.verdict.text() == "student 1M pays: ×1.62 the speed of plain decoding, measured."
    assert dialog.verdict_icon._name == "check"
    assert dialog.selected.draft == "student-cc"
    assert dialog.plot.best == dialog.plot.selected == ("draft", "student-cc")
    assert "plain 38.2 tok/s" in dialog.conditions.text()
    assert "keeps 71 % of its guesses" in dialog.detail.text()
    dialog.grab()


def test_where_none_pays_that_is_said(make):
    dialog = searched(make(), NOT_PAYING)
    assert dialog.verdict.text().startswith("None pays on these prompts: the best, N-gram lookup, reached ×0.97.")
    assert dialog.plot.best is None
    assert "No draft length is predicted to pay; γ = 1 comes nearest" in dialog.detail.text()
    assert dialog.use_button.text() == "Use it all the same"
    assert "slower than without" in dialog.detail.text()
    dialog.grab()


def test_faster_only_in_some_repeats_does_not_pay(make):
    dialog = searched(make(), [row("ngram", alpha=0.3, cost=0.0, gamma=2, predicted=1.1, measured=1.04, low=0.95, high=1.1)])
    assert dialog.verdict.text().startswith("None pays for sure: the best, N-gram lookup, was between ×0.95 and ×1.10")
    assert dialog.model.text(dialog.rows[0], "measured") == "×1.04 ≈"
    assert not dialog.rows[0].pays
    assert "×0.95 to ×1.10 from one repeat to the next" in dialog.detail.text()


def test_faster_than_its_calls_can_make_it_is_chance(make):
    dialog = searched(
        make(), [row("ngram", cost=0.0, gamma=1, predicted=1.0, measured=1.09, low=1.09, high=1.09, tokens_per_target_call=1.0)]
    )
    assert dialog.verdict.text().startswith("None pays for sure: N-gram lookup reached ×1.09, more than its 1.00 tokens a target call")
    assert dialog.model.text(dialog.rows[0], "measured") == "×1.09 ≈"
    assert not dialog.rows[0].pays


def test_repeats_that_differ_much_are_told_of(make):
    dialog = searched(make(), [row("packed", alpha=0.9, cost=0.5, gamma=2, predicted=1.3, measured=1.2, low=1.01, high=1.9)])
    assert "try again while the machine is quiet" in dialog.verdict.text()
    assert "The repeats differ much (×1.01 to ×1.90)" in dialog.detail.text()


def test_what_cannot_pay_is_not_timed_and_says_what_it_costs(make):
    dialog = searched(make(), [row("packed", cost=1.1, gamma=1, predicted=0.8, why="It can't pay: at most 0.80 of the speed.")])
    dialog.select(("packed", None))
    assert dialog.model.text(dialog.rows[0], "alpha") == "Can't pay: ×0.80 at most"
    assert "a guess costs 1.10 of a target call, so with every guess kept it could reach ×0.80" in dialog.detail.text()
    assert not dialog.use_button.isEnabled()


def test_a_way_that_could_not_be_tried_says_why_and_cannot_be_used(make):
    dialog = searched(make())
    dialog.select(("draft", "int8-bb"))
    assert dialog.model.text(dialog.model.rows[-1], "alpha") == "Its weights can't be read: layer 3 is missing."
    assert "layer 3 is missing" in dialog.detail.text()
    assert not dialog.use_button.isEnabled()
    got = []
    dialog.chosen.connect(got.append)
    dialog.use()
    assert got == []


def test_where_nothing_could_be_tried(make):
    dialog = searched(make(), [row("packed", why="There's no kernel for it on this machine.")])
    assert "None of these ways pays or could be tried" in dialog.verdict.text()


def test_a_way_is_taken_up_by_the_lab(make, qtbot):
    dialog = searched(make())
    with qtbot.waitSignal(dialog.chosen) as got:
        dialog.use_button.click()
    assert got.args[0] == Drafting(proposer="draft", draft="student-cc", gamma=5, policy="adaptive")
    assert "drafts with student 1M now" in dialog.status.text()
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    with qtbot.waitSignal(dialog.chosen) as got:
        dialog.use()
    assert got.args[0].proposer == "packed"


def test_the_layers_found_are_taken_along():
    tried = read_row(row("layer-skip", gamma=6, measured=1.1) | {"settings": {"skipped": [3, 7]}, "something_new": 1})
    assert tried.drafting() == Drafting(proposer="layer-skip", gamma=6, policy="adaptive", skipped=(3, 7))


def test_cancel_keeps_what_was_measured(make):
    dialog = make()
    dialog.run_button.click()
    job = dialog.board.job
    feed_search(dialog.board, PAYING[:2])
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.board.cancelled == [job]
    assert dialog.isVisible()
    dialog.board.event.emit(Cancelled(job))
    assert dialog.status.text() == "Cancelled."
    assert "ended early" in dialog.verdict.text()
    assert dialog.model.rowCount() == 2
    dialog.change_button.click()
    assert dialog.pages.currentIndex() == 0
    assert dialog.run_button.isEnabled()


def test_a_failure_is_a_sentence_with_its_detail(make):
    dialog = make()
    dialog.run_button.click()
    dialog.board.event.emit(Failed(dialog.board.job, "memory", "There wasn't enough memory for this.", "Close other programs.", "trace"))
    assert dialog.failure.isVisible()
    assert dialog.failure.text() == "There wasn't enough memory for this. Close other programs."
    assert "before anything was measured" in dialog.verdict.text()
    dialog.details.click()
    shown = dialog.findChild(object, "sentence")
    assert shown.text() == "There wasn't enough memory for this."
    shown.window().accept()
    dialog.change_button.click()
    assert not dialog.failure.isVisible()


def test_closing_ends_the_job(make, qtbot):
    dialog = make()
    dialog.run_button.click()
    job = dialog.board.job
    board = dialog.board
    dialog.close()
    assert board.cancelled == [job]


def test_it_works_small_and_dark(make, qtbot):
    dialog = make()
    theme().set_dark(True)
    try:
        searched(dialog)
        dialog.resize(720, 520)
        qtbot.wait(30)
        assert dialog.width() == 720
        assert dialog.height() == 520
        assert dialog.table.isColumnHidden(7)
        assert not dialog.table.isColumnHidden(5)
        dialog.grab()
        dialog.resize(1500, 800)
        qtbot.wait(30)
        assert not dialog.table.isColumnHidden(4)
        dialog.grab()
    finally:
        theme().set_dark(False)


def test_a_click_in_the_plot_chooses_the_row(make, qtbot):
    dialog = searched(make())
    dialog.grab()
    at = dialog.plot._place(next(p for p in dialog.plot.points if p.proposer == "packed")).toPoint()
    QTest.mouseMove(dialog.plot.viewport(), at)
    QTest.mouseClick(dialog.plot.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert dialog.selected.proposer == "packed"
    assert dialog.plot.hovered == ("packed", None)
    dialog.grab()


def test_every_column_says_what_it_means(make):
    dialog = make()
    for column in range(dialog.model.columnCount()):
        title, meaning = dialog.model.title(column)
        assert title
        assert meaning.endswith(".")


def test_a_deleted_draft_is_not_taken_up(make, tmp_path):
    dialog = searched(make())
    dialog.library.workspace.delete("student-cc")
    dialog.library.refresh()
    assert not dialog.use_button.isEnabled()
    assert "isn't in the workspace" in dialog.use_button.toolTip()


# ---- what pays, in numbers


def test_the_fastest_come_first_and_the_untried_last():
    rows = [Tried("a", why="no"), Tried("b", measured=0.9), Tried("c", measured=1.4), Tried("d")]
    assert [r.proposer for r in ranked(rows)] == ["c", "b", "d", "a"]


def test_break_even_of_free_drafts_whose_checking_is_free_is_at_zero():
    assert break_even(0.0, 4, {}) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("cost", [0.0, 0.2, 0.5])
def test_at_break_even_the_best_length_gains_nothing(cost):
    alpha = break_even(cost, 8, COSTS, 0.001)
    assert best_speedup(alpha, cost, 8, COSTS, 0.001) == pytest.approx(1.0, abs=1e-6)
    assert best_speedup(alpha + 0.02, cost, 8, COSTS, 0.001) > 1
    every = [speedup([alpha] * g, COSTS, {1: cost * COSTS[1]}, overhead=0.001, plain_overhead=0.001) for g in range(1, 9)]
    assert max(every) == pytest.approx(1.0, abs=1e-6)


def test_one_guess_at_flat_costs_breaks_even_where_alpha_is_the_cost():
    """S(1) = (1 + alpha) / (1 + c)."""
    assert break_even(0.3, 1, {}) == pytest.approx(0.3, abs=1e-6)


def test_a_draft_as_slow_as_the_target_never_pays():
    assert break_even(1.0, 8, COSTS) is None
    line = contour(1.2, 8, COSTS)
    assert line[0][0] == 0.0
    assert line[-1][0] < 1.0
    assert all(b >= a for (_, a), (_, b) in pairwise(line))


def test_costs_of_the_target_are_the_medians_of_all_rows():
    rows = [Tried("a", seconds={1: 0.02, 2: 0.03}), Tried("b", seconds={1: 0.9, 2: 0.031}), Tried("c", seconds={1: 0.021}), Tried("d")]
    assert common_costs(rows) == {1: 0.021, 2: pytest.approx(0.0305)}


def test_costs_from_json_have_numbers_as_keys():
    assert table({"1": 0.02, "4": 0.03}) == {1: 0.02, 4: 0.03}
    assert table(None) == {}
