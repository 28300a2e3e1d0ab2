"""The decode lab as a person uses it, with a board that runs nothing and invented rounds."""

from __future__ import annotations

import csv
import importlib
import json
import os
import shutil
from itertools import pairwise
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QImageReader
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from app import decode_drafting, provider_choice
from app.decode_advanced import NUMBERS
from app.decode_controls import NGRAM, PLAIN, WHY, in_lineage
from app.decode_drafting import EARLY, PACKED, SKIP
from app.decode_movie import Film
from app.decode_parts import FIGURE, NONE
from app.decode_run import Kind, Phase
from app.decode_view import DecodeView
from app.library_model import Library
from app.plots.acceptance import rounds_title
from app.theme import theme
from core.events import Cancelled, Failed, Finished, Progress, Started
from core.records import Catalogue, Choice, DeviceInfo, Drafting, GenerateSpec
from tests.app.decode_invented import VARIANTS, FakeBoard, invent, make_workspace, variant


@pytest.fixture
def lab(qtbot, tmp_path):
    return make_lab(qtbot, tmp_path / "w")


PLOTS = ("rounds", "timeline", "positions", "overlap", "gain", "costs", "race")


def make_lab(qtbot, folder, variants=VARIANTS, make=True) -> DecodeView:
    theme().load_fonts()
    if make:
        make_workspace(folder, variants)
    library = Library()
    library.open(folder)
    view = DecodeView(library, FakeBoard())
    qtbot.addWidget(view)
    view.resize(1096, 816)
    view.show()
    qtbot.waitExposed(view)
    return view


def recorded(view) -> list:
    view.close_recordings()
    return sorted(view.runs_folder().glob("*.jsonl"))


def whole_run(view, rounds=20, **more):
    view.run()
    view.board.begin()
    view.board.feed(invent(rounds, **more))
    view.board.finish(stop="length")


# ---- controls


def test_it_begins_with_an_original_and_its_smallest_draft(lab):
    assert (lab.controls.target_id, lab.controls.draft_id) == ("shakespeare-aa", "student-cc")
    assert lab.stack.currentWidget() is lab.empty
    assert lab.empty_button.isEnabled()


def test_what_cannot_draft_is_listed_with_the_reason(lab):
    box, found = lab.controls.draft, {}
    for i in range(box.count()):
        item = box.model().item(i)
        found[item.data(Qt.ItemDataRole.UserRole)] = (item.isEnabled(), item.text(), item.toolTip())
    assert found[PLAIN][0]
    assert found[NGRAM][0]
    assert found[PACKED][0]
    assert found["int8-bb"][0]
    enabled, text, tip = found["other-dd"]  # its text is re-encoded
    assert enabled
    assert text == "SmolLM2-135M"
    assert "re-encoded" in tip
    enabled, text, tip = found["minilm-ee"]
    assert not enabled
    assert "all-MiniLM-L6" in text
    assert "generate" in text
    assert "generate" in tip
    target = lab.controls.target
    assert not target.model().item(target.findText("all-MiniLM", Qt.MatchFlag.MatchStartsWith)).isEnabled()


def test_a_target_that_the_draft_doesnt_fit_is_said_beside_a_disabled_run(lab):
    lab.set_draft("minilm-ee")
    assert not lab.controls.run_button.isEnabled()
    assert "can't draft for this target" in lab.controls.problem()
    assert lab.controls._reason.isVisible()
    lab.run()
    assert lab.board.submitted == []
    assert lab.controls.draft.currentData(WHY)
    lab.set_draft(PLAIN)
    assert lab.controls.run_button.isEnabled()


def test_a_target_with_other_tokens_gets_a_draft_that_fits(lab):
    lab.set_target("other-dd")
    assert lab.controls.draft_id == PACKED
    lab.set_draft("student-cc")  # it may be chosen all the same
    assert lab.controls.run_button.isEnabled()
    lab.set_target("shakespeare-aa")
    assert lab.controls.draft_id == "student-cc"


def test_an_empty_prompt_is_asked_for(lab):
    lab.controls.prompt.setPlainText("")
    assert not lab.controls.run_button.isEnabled()
    assert "prompt is empty" in lab.controls.run_button.toolTip()


def test_a_run_asks_for_what_the_controls_say(lab):
    c = lab.controls
    c.policy.setCurrentIndex(c.policy.findData("fixed"))
    c.gamma.setValue(6)
    c.temperature.setValue(0.7)
    c.top_k.setValue(40)
    c.top_p.setValue(0.9)
    c.seed.setValue(11)
    c.most.setValue(64)
    c.race.setChecked(True)
    c.prompt.setPlainText("Hello\nthere")
    lab.run()
    spec, title, device = lab.board.submitted[0]
    assert (spec.target, spec.draft, spec.proposer, spec.gamma) == ("shakespeare-aa", "student-cc", "draft", 6)
    assert (spec.temperature, spec.top_k, spec.top_p, spec.seed, spec.max_new_tokens) == (0.7, 40, 0.9, 11, 64)
    assert (spec.race, spec.paused, spec.prompt, device) == (True, False, "Hello\nthere", "auto")
    assert spec.workspace == str(lab.library.workspace.folder)
    assert "student 1M" in title
    assert not c.run_button.isEnabled()


def test_plain_and_ngram(lab):
    lab.set_draft(NGRAM)
    assert lab.controls.spec("w").proposer == "ngram"
    assert lab.controls.spec("w").draft is None
    lab.set_draft(PLAIN)
    lab.controls.race.setChecked(True)
    spec = lab.controls.spec("w")
    assert (spec.proposer, spec.race) == ("none", False)  # there'd be nothing to race against
    assert not lab.controls.gamma.isEnabled()


def test_greedy_puts_away_what_has_no_effect(lab):
    lab.controls.temperature.setValue(0)
    assert lab.controls.temperature.text() == "greedy"
    assert not any(box.isEnabled() for box in (lab.controls.top_k, lab.controls.top_p, lab.controls.seed))


def test_ctrl_enter_runs(lab):
    lab.controls.prompt.setFocus()
    QTest.keyClick(lab.controls.prompt, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert len(lab.board.submitted) == 1


def test_the_prompt_grows_to_three_lines(lab):
    heights = []
    for n in (1, 2, 3, 4):
        lab.controls.prompt.setPlainText("\n".join("abcd"[:n]))
        heights.append(lab.controls.prompt.height())
    assert heights[0] < heights[1] < heights[2] == heights[3]


def test_everything_fits_a_small_window(lab):
    lab.resize(672, 600)
    QApplication.processEvents()
    assert lab.size().toTuple() == (672, 600), lab.minimumSizeHint()
    inside = lab.controls.rect()
    for child in lab.controls.findChildren(type(lab.controls.run_button)):
        if child.isVisible():
            assert inside.contains(QRect(child.mapTo(lab.controls, QPoint(0, 0)), child.size())), child.objectName()
    for box in (lab.controls.target, lab.controls.gamma, lab.controls.most, lab.controls.prompt):
        assert inside.contains(QRect(box.mapTo(lab.controls, QPoint(0, 0)), box.size()))
    assert lab.legend[-1].geometry().right() < lab.export_button.geometry().left()
    assert lab.export_button.geometry().right() < lab.runs_button.geometry().left()


def test_a_figure_gets_smaller_rather_than_cut(lab, qtbot):
    lab.resize(672, 600)
    card = lab.cards["throughput"]
    figure, height = card.parts[1], card.height()
    card.set("1234.5 tok/s", "")
    qtbot.waitUntil(lambda: figure.fontMetrics().horizontalAdvance(figure.text()) <= figure.width())
    assert card.height() == height
    lab.resize(1400, 816)
    qtbot.waitUntil(lambda: figure.property("pixels") == FIGURE)


def test_the_fields_of_the_drawer_keep_their_edges_in_a_small_window(lab, qtbot):
    lab.resize(672, 600)
    lab.controls.advanced_button.click()
    qtbot.waitUntil(lab.controls.advanced.isVisible)
    for name, column in lab.controls.advanced._columns.items():
        if column.isVisible() and name in NUMBERS:
            assert column.width() >= lab.controls.advanced.spin(name).width(), name


def test_the_page_scrolls_only_where_it_must(lab, qtbot):
    chatting(lab).message.setPlainText("Hello?")
    race(lab)
    qtbot.waitUntil(lambda: lab.scroll.widget().height() <= lab.scroll.viewport().height())
    assert lab.scroll.verticalScrollBar().maximum() == 0


def test_run_does_not_hand_the_keyboard_to_step(lab):
    lab.controls.run_button.setFocus()
    lab.run()
    assert lab.flow.hasFocus() or lab.focusWidget() is lab.flow
    lab.board.begin()
    lab.controls.stop_button.setFocus()
    lab.board.feed(invent(3))
    lab.board.finish(stop="length")
    assert lab.focusWidget() is lab.controls.run_button


def test_a_choice_of_device_appears_where_there_is_one(lab):
    assert not lab.controls.device.isVisible()
    lab.controls.set_devices((DeviceInfo(name="cpu", title="CPU"), DeviceInfo(name="cuda:0", title="H200")))
    assert lab.controls.device.isVisible()
    lab.controls.device.setCurrentIndex(2)
    lab.run()
    assert lab.board.submitted[0][2] == "cuda:0"
    lab.controls.set_devices(Catalogue(devices=(DeviceInfo(name="cpu", title="CPU"),)).devices)
    assert not lab.controls.device.isVisible()


def test_in_lineage_survives_a_missing_parent():
    vs = [variant("b", "b", parent="a"), variant("a", "a"), variant("orphan", "o", parent="gone"), variant("c", "c", parent="b")]
    names = [v.id for v in in_lineage(vs)]
    assert sorted(names) == ["a", "b", "c", "orphan"]
    assert names.index("a") < names.index("b") < names.index("c")


# ---- a run


def test_rounds_become_cells_and_figures(lab):
    rounds = invent(30)
    lab.run()
    assert "Loading" in lab.note.text()
    lab.board.event.emit(Progress(lab.board.job, "Loading", 0, 0, None, "student 1M"))
    assert "student 1M" in lab.note.text()
    lab.board.begin()
    assert lab.stack.currentWidget() is lab.lanes
    lab.board.feed(rounds)
    drafted = sum(len(r.drafted) for r in rounds)
    assert len(lab.flow.cells) == 9 + drafted + 30
    lab._refresh()
    accepted, tested = sum(r.accepted for r in rounds), sum(r.tested for r in rounds)
    assert lab.cards["acceptance"].value == f"{100 * accepted / tested:.1f} %"
    assert lab.cards["acceptance"].note == f"{accepted} of {tested} tested"
    assert lab.cards["per_call"].note == "at most 5.00 at γ = 4"
    assert lab.cards["speedup"].value == NONE
    assert "race" in lab.cards["speedup"].note
    assert "race" in lab.cards["throughput"].note


def test_unknown_figures_are_unknown(lab):
    assert [card.value for card in lab.cards.values()] == [NONE] * 5
    assert all(card.note for card in lab.cards.values())  # what would measure it


def test_another_jobs_rounds_are_not_ours(lab):
    lab.run()
    lab.board.begin()
    ours = lab.board.job
    lab.board.job = "someone-elses"
    lab.board.feed(invent(3))
    lab.board.job = ours
    assert len(lab.flow.cells) == 9


def race(lab, *, rival=True, greedy=True, rounds=30, **result):
    """A race with invented lanes, which take turns by their own clocks."""
    lab.controls.race.setChecked(True)
    lab.controls.temperature.setValue(0 if greedy else 0.8)
    if rival:
        lab.controls.rival.who.choose(PACKED)
    lab.run()
    lanes = {"speculative": invent(rounds, greedy=greedy), "plain": invent(3 * rounds, gamma=0, seed=5)}
    if rival:
        lanes["rival"] = invent(rounds, gamma=3, seed=9, greedy=greedy)
    for name in lanes:
        lab.board.measure(name)
    for name in lanes:
        lab.board.begin(name)
    for taken, name in sorted(((r, name) for name, rounds in lanes.items() for r in rounds), key=lambda pair: pair[0].at):
        lab.board.feed([taken], name)
    lab.board.finish(**{"stop": "length"} | result)
    return lanes


def test_a_race_measures_and_ends_with_identical(lab):
    race(lab, rival=False, identical=True)
    assert lab.cards["speedup"].value.startswith("×")
    assert lab.cards["throughput"].note.startswith("plain ")
    assert lab.cards["efficiency"].value.endswith("%")
    assert "Identical" in lab.note.text()


def test_three_lanes_stand_side_by_side_each_with_its_own_tokens(lab, qtbot):
    lanes = race(lab)
    assert [pane.lane_name for pane in lab.panes[:3] if pane.isVisible()] == ["speculative", "rival", "plain"]
    for pane in lab.panes[:3]:
        rounds = lanes[pane.lane_name]
        assert len(pane.flow.cells) == 9 + sum(len(r.drafted) + 1 for r in rounds)
    assert [pane.title.text() for pane in lab.panes[:3]] == ["student 1M", "Packed copy of the target", "plain"]
    assert "tok/s" in lab.panes[:3][1].pace.text()
    lab.beside_button.setChecked(False)
    assert [pane.isVisible() for pane in lab.panes[:3]] == [True, False, False]
    assert not lab.pane.head.isVisible()
    lab.beside_button.setChecked(True)
    assert all(pane.isVisible() for pane in lab.panes[:3])


def test_a_card_belongs_to_one_lane_at_a_time(lab):
    race(lab)
    lab.flow.reveal(12)
    lab.flow.pin(12)
    first = lab.card.description()
    lab.panes[1].flow.reveal(14)
    lab.panes[1].flow.pin(14)
    assert lab.flow.pinned_cell == -1
    assert lab.card.isVisible()
    assert lab.card.description() != first


def test_a_replay_moves_every_lane_by_its_own_clock(lab):
    race(lab)
    lab.replay()
    lab._player.stop()  # the test is the clock
    moment = lab.shown_run.end / 3
    lab._advance(moment)
    for pane in lab.panes[:3]:
        assert pane.done == pane.lane.index_at(moment)
    lab._advance(1e9)
    assert all(pane.done == len(pane.lane.rounds) for pane in lab.panes[:3])


def test_a_greedy_race_says_how_each_lane_ended(lab):
    race(lab, lanes={"speculative": {"identical": True}, "rival": {"identical": False, "divergence": {"position": 6, "margin": 0.0004}}})
    assert "student 1M wrote the same as plain" in lab.note.text()
    assert "Packed copy of the target and plain part at token 7." in lab.note.text()
    assert "0.0004" in lab.note.text()


def test_all_lanes_identical(lab):
    race(lab, lanes={"speculative": {"identical": True}, "rival": {"identical": True}})
    assert "all 3 lanes wrote the same" in lab.note.text()


def test_a_sampled_race_claims_nothing(lab):
    race(lab, greedy=False)
    assert lab.note.text() == ""


def test_a_race_says_who_else_drafts(lab):
    lab.controls.race.setChecked(True)
    assert lab.controls.rival.who.isVisible()
    assert lab.controls.spec("w").rival is None
    lab.controls.rival.who.choose(NGRAM)
    lab.controls.rival.gamma.setValue(5)
    spec = lab.controls.spec("w")
    assert (spec.rival.proposer, spec.rival.gamma, spec.rival.policy) == ("ngram", 5, "adaptive")
    lab.controls.race.setChecked(False)
    assert lab.controls.spec("w").rival is None
    assert not lab.controls.rival.who.isVisible()


def test_slower_than_plain_is_said(lab):
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(30, gamma=0))
    lab.board.begin("plain")
    fast = [type(r)(**{f: getattr(r, f) for f in r.__slots__} | {"at": r.at / 2}) for r in invent(30, gamma=0)]
    lab.board.feed(fast, "plain")
    lab.board.finish()
    assert "slower than plain" in lab.cards["speedup"].note


def test_what_reads_as_equal_is_called_equal(lab):
    lab._show_speed(SimpleNamespace(possible=1.1, speedup=0.998, efficiency=None), False)
    assert (lab.cards["speedup"].value, lab.cards["speedup"].note) == ("×1.00", "as fast as plain")


def test_a_run_that_the_models_length_ends_says_so(lab):
    lab.controls.most.setValue(5000)
    whole_run(lab, 20)
    lab.shown_run.result.update(stop="length", ids=list(range(507)))
    assert "ended at 507 tokens of the 5000 asked for" in lab._note_for(lab.shown_run)
    lab.shown_run.result["ids"] = list(range(5000))
    assert "asked for" not in lab._note_for(lab.shown_run)


def test_text_and_chat_say_what_they_are(lab):
    assert all(button.toolTip() for button in lab.controls.mode.buttons.values())


def test_why_nothing_was_drafted_at_length_0(lab):
    lab.controls.gamma.setValue(0)
    lab.run()
    lab.board.begin("plain")
    lab.board.feed(invent(3, gamma=0), "plain")
    lab.board.finish(stop="length")
    assert "the draft length was 0" in lab.note.text()
    assert "Choose a draft" not in lab.note.text()


def test_a_parting_of_the_lanes_is_named(lab):
    lab.controls.temperature.setValue(0)
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(3))
    lab.board.finish(identical=False, divergence={"position": 6, "margin": 0.0004})
    assert "part at token 7" in lab.note.text()
    assert "0.0004" in lab.note.text()


def test_plain_decoding_says_why_nothing_is_highlighted(lab):
    lab.set_draft(PLAIN)
    lab.run()
    lab.board.begin("plain")
    lab.board.feed(invent(10, gamma=0), "plain")
    lab.board.finish(stop="length")
    assert "Nothing is highlighted" in lab.note.text()
    assert {c.kind for c in lab.flow.cells} == {Kind.PROMPT, Kind.PLAIN}
    assert lab.cards["per_call"].value == "1.00"


def test_a_draft_with_nothing_to_propose_says_so(lab):
    lab.set_draft(NGRAM)
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(10, gamma=0))
    lab.board.finish(stop="length")
    assert "nothing to propose in any of the 10 rounds" in lab.note.text()


def test_pause_resume_stop(lab):
    lab.run()
    assert not lab.controls.pause_button.isEnabled()
    lab.board.begin()
    QTest.mouseClick(lab.controls.pause_button, Qt.MouseButton.LeftButton)
    assert lab.board.controls == ["pause"]
    assert lab.controls.pause_button.accessibleName() == "Resume"
    QTest.mouseClick(lab.controls.pause_button, Qt.MouseButton.LeftButton)
    QTest.mouseClick(lab.controls.stop_button, Qt.MouseButton.LeftButton)
    assert lab.board.controls == ["pause", "resume", "stop"]
    lab.board.feed(invent(2))
    lab.board.finish(stop="stopped")
    assert lab.controls.run_button.isEnabled()
    assert "You stopped it" in lab.note.text()
    assert len(recorded(lab)) == 1


def test_each_press_of_step_is_a_round(lab):
    """Presses before the models are loaded count as well, and none is lost."""
    lab.step()
    assert lab.board.submitted[0][0].paused
    lab.step()
    assert lab.board.controls == []  # there's nothing to step yet
    lab.board.begin()
    assert lab.board.controls == ["step"]  # one round has several steps
    assert lab.controls_state == "paused"
    [taken] = invent(1)
    lab.board.feed([taken])
    assert lab.pane.phase == Phase.VERIFY  # both presses are worked off
    lab.step()
    assert (lab.pane.phase, lab.pane.done) == (Phase.NONE, 1)
    lab.step()
    assert lab.board.controls == ["step"] * 2


def test_a_round_is_stepped_through_in_three_visible_steps(lab):
    first, second = invent(2)
    lab.step()
    lab.board.begin()
    prompt = len(lab.flow.cells)
    lab.board.feed([first])
    assert [c.kind for c in lab.flow.cells[prompt:]] == [Kind.GUESSED] * len(first.drafted)
    assert lab.note.text().startswith("1 of 3, draft: 4 tokens are guessed (16.0 ms).")
    assert lab.cards["acceptance"].value == NONE  # nothing was tested yet, as far as is shown
    lab.flow.pin(prompt)
    assert "hasn't been asked yet" in lab.card.description()
    lab.step()
    kinds = [c.kind for c in lab.flow.cells[prompt:]]
    assert len(kinds) == len(first.drafted)
    assert Kind.GUESSED not in kinds
    assert "2 of 3, verify: one call of the target scores 5 places" in lab.note.text()
    lab.step()
    assert lab.flow.cells[-1].kind in (Kind.CORRECTED, Kind.BONUS)
    assert lab.note.text().startswith("3 of 3")
    lab._refresh()
    assert lab.cards["acceptance"].value != NONE
    lab.step()
    lab.board.feed([second])
    lab.pause()  # goes on: what's half shown becomes whole
    assert (lab.pane.phase, lab.pane.done) == (Phase.NONE, 2)
    assert lab.board.controls == ["step", "step", "resume"]


def test_a_plain_round_is_one_step(lab):
    lab.step()
    lab.board.begin()
    lab.board.feed(invent(1, gamma=0))
    assert (lab.pane.phase, lab.pane.done) == (Phase.NONE, 1)
    assert "Nothing was drafted" in lab.note.text()


def test_a_recorded_run_is_stepped_through_too(lab):
    whole_run(lab, 5)
    lab.replay_bar.slider.setValue(2)
    button = lab.replay_bar.phase
    steps = []
    for _ in range(3):
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        steps.append((lab.pane.done, lab.pane.phase, lab.note.text()[:6]))
    assert steps == [(2, Phase.DRAFT, "1 of 3"), (2, Phase.VERIFY, "2 of 3"), (3, Phase.NONE, "3 of 3")]
    lab.replay_bar.slider.setValue(5)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert (lab.pane.done, lab.pane.phase) == (0, Phase.DRAFT)  # from the beginning again


def test_step_in_a_running_decode_pauses_it(lab):
    lab.run()
    lab.board.begin()
    lab.step()
    assert lab.board.controls == ["step"]
    assert lab.controls_state == "paused"


def test_step_pressed_while_a_run_loads_pauses_it_after_a_round(lab):
    lab.run()
    lab.step()
    lab.board.begin()
    assert lab.board.controls == ["step"]
    assert lab.controls_state == "paused"


def test_stop_before_anything_began_cancels(lab):
    lab.run()
    lab.stop()
    assert lab.board.cancelled == [lab.board.job]
    lab.board.event.emit(Cancelled(lab.board.job))
    assert lab.stack.currentWidget() is lab.empty
    assert lab.controls.run_button.isEnabled()
    assert recorded(lab) == []


def test_a_failure_is_a_sentence_with_a_way_out(lab, qtbot):
    lab.run()
    lab.board.event.emit(Failed(lab.board.job, "memory", "{what} didn't fit.", "Choose less.", "traceback", {"what": "It"}))
    assert lab.failure_label.text() == "It didn't fit. Choose less."
    assert lab.controls.run_button.isEnabled()
    QTest.mouseClick(lab.details, Qt.MouseButton.LeftButton)
    from app.error_dialog import ErrorDialog

    dialog = lab.findChild(ErrorDialog)
    assert dialog is not None
    dialog.close()
    lab.run()
    assert not lab.failure_label.isVisible()


def test_a_worker_that_dies_half_way_leaves_what_it_wrote(lab):
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(5))
    lab.board.event.emit(Failed(lab.board.job, "killed", "The worker ended.", ""))
    assert lab.shown_run.status == "stopped"
    assert len(lab.flow.cells) > 9
    assert len(recorded(lab)) == 1


def test_a_run_that_wrote_nothing_gives_the_one_before_it_back(lab):
    whole_run(lab)
    first, cells = lab.shown_run, len(lab.flow.cells)
    lab.run()
    lab.board.event.emit(Failed(lab.board.job, "memory", "It didn't fit.", "Choose less."))
    assert lab.shown_run is first
    assert len(lab.flow.cells) == cells
    assert lab.failure_label.text() == "It didn't fit. Choose less."


def test_a_second_run_takes_the_place_of_the_first(lab):
    whole_run(lab)
    first = lab.shown_run
    whole_run(lab, 5)
    assert lab.shown_run is not first
    assert len(lab.pane.offsets) == 6


# ---- the card


def test_a_pinned_token_opens_its_card_and_escape_closes_it(lab):
    whole_run(lab)
    i = next(k for k, c in enumerate(lab.flow.cells) if c.kind == Kind.REJECTED)
    lab.flow.reveal(i)
    lab.flow.pin(i)
    assert lab.card.isVisible()
    assert "dropped: u = " in lab.card.accessibleDescription()
    lab.flow.setFocus()
    QTest.keyClick(lab.flow, Qt.Key.Key_Right)
    assert lab.flow.accessibleDescription() == lab.card.description()
    QTest.keyClick(lab.flow, Qt.Key.Key_Escape)
    assert not lab.card.isVisible()


def test_the_card_goes_when_its_token_is_scrolled_away_and_comes_back(lab):
    whole_run(lab, 200)
    lab.flow.verticalScrollBar().setValue(0)
    lab.flow.pin(3)
    assert lab.card.isVisible()
    lab.flow.scroll_to_end()
    assert not lab.card.isVisible()
    lab.flow.verticalScrollBar().setValue(0)
    assert lab.card.isVisible()


def test_the_legend_filters_one_kind_at_a_time(lab):
    whole_run(lab)
    first, second = lab.legend[0], lab.legend[1]
    first.click()
    second.click()
    assert not first.isChecked()
    assert lab.flow._only == Kind.REJECTED
    second.click()
    assert lab.flow._only is None


# ---- replay and recordings


def test_scrubbing_shows_the_run_as_it_stood(lab):
    whole_run(lab, 40)
    final = list(lab.flow.cells)
    value = lab.cards["acceptance"].value
    lab.replay_bar.slider.setValue(10)
    assert len(lab.flow.cells) == lab.pane.offsets[10] < len(final)
    assert lab.flow.cells == final[: lab.pane.offsets[10]]
    at_ten = lab.cards["acceptance"].note
    lab.replay_bar.slider.setValue(25)
    lab.replay_bar.slider.setValue(10)
    assert lab.cards["acceptance"].note == at_ten
    lab.replay_bar.slider.setValue(0)
    assert {c.kind for c in lab.flow.cells} == {Kind.PROMPT}
    lab.replay_bar.slider.setValue(40)
    assert lab.flow.cells == final
    assert lab.cards["acceptance"].value == value


def test_replay_goes_by_the_runs_own_clock(lab):
    whole_run(lab, 40)
    at = lab.shown_run.lane.at
    lab.replay()
    lab._player.stop()  # the test is the clock
    assert lab.pane.done == 0
    lab._advance(at[4] + 1e-9)
    assert lab.pane.done == 5
    lab._advance(at[19] - at[4])
    assert lab.pane.done == 20
    lab._advance(1e9)
    assert lab.pane.done == 40
    lab.replay_bar.slider.setValue(12)
    lab.replay()
    lab._player.stop()
    assert lab.pane.done == 12  # from where it stands
    assert lab._clock == at[11]


def test_replay_plays_and_pauses_at_the_chosen_speed(lab, qtbot):
    whole_run(lab, 40)
    lab.replay_bar.speed.setCurrentIndex(0)
    assert lab.replay_bar.speed.currentData() == 0.1
    QTest.mouseClick(lab.replay_bar.play, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: lab.pane.done > 1, timeout=6000)
    QTest.mouseClick(lab.replay_bar.play, Qt.MouseButton.LeftButton)
    assert not lab._player.isActive()


def test_a_click_on_a_bar_shows_its_round(lab):
    whole_run(lab, 40)
    lab.slots[0].plot.picked.emit(4)
    assert lab.flow.cells[lab.flow.current].round == 4


def test_scrubbing_waits_for_a_live_run(lab):
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(10))
    lab._refresh()
    assert not lab.replay_bar.isEnabled()
    assert not lab.runs_button.isEnabled()
    lab._scrubbed(2)
    assert lab.pane.done == 10


def test_a_run_is_found_again_in_another_session(qtbot, tmp_path, lab):
    lab.controls.race.setChecked(True)
    lab.controls.prompt.setPlainText("To be")
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(25))
    lab.board.begin("plain")
    lab.board.feed(invent(60, gamma=0), "plain")
    lab.board.finish(text="decoded whole", tested=10, accepted=5, stop="length")
    [path] = recorded(lab)
    assert json.loads(path.read_text().splitlines()[0])["result"]["text"] == "decoded whole"
    figures = [card.value for card in lab.cards.values()]

    again = make_lab(qtbot, lab.library.workspace.folder, make=False)
    again._fill_runs()
    entry = again.runs_menu.actions()[0]
    assert "student 1M for Shakespeare-7M" in entry.text()
    assert "50 %" in entry.text()
    assert entry.toolTip() == "To be"
    entry.trigger()
    assert [card.value for card in again.cards.values()] == figures
    assert again.flow.cells == lab.flow.cells
    assert again.flow.text() == "decoded whole"
    again._use_settings()
    assert again.controls.prompt.toPlainText() == "To be"
    assert again.controls.race.isChecked()
    again.replay_bar.slider.setValue(5)
    assert again.flow.text() != "decoded whole"


def test_a_session_lists_its_runs_once(lab):
    whole_run(lab)
    recorded(lab)
    lab._fill_runs()
    entries = [a for a in lab.runs_menu.actions() if a.isCheckable()]
    assert len(entries) == 1
    assert entries[0].isChecked()


def test_a_damaged_recording_is_explained_and_the_view_stays(lab, tmp_path):
    whole_run(lab)
    shown = lab.shown_run
    path = tmp_path / "bad.jsonl"
    path.write_text("nonsense\nmore\n")
    assert lab.open_recording(path) is False
    assert "isn't a recorded run" in lab.failure_label.text()
    assert lab.shown_run is shown


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_workspace_that_cant_be_written_to_keeps_the_run_in_memory(lab):
    lab.runs_folder().chmod(0o500)
    try:
        whole_run(lab)
        lab.close_recordings()
    finally:
        lab.runs_folder().chmod(0o700)
    assert lab.failure_label.isVisible()
    assert len(lab._runs) == 1


def test_a_recording_that_cant_be_written_is_said(lab):
    folder = lab.runs_folder()
    folder.rmdir()
    folder.write_text("in the way")
    whole_run(lab)
    lab.close_recordings()
    assert lab.failure_label.isVisible()
    assert len(lab._runs) == 1
    assert len(lab.flow.cells) > 9


# ---- around it


def test_without_models_it_asks_for_one(qtbot, tmp_path):
    lab = make_lab(qtbot, tmp_path / "w", variants=())
    assert "No model" in lab.empty.title.text()
    with qtbot.waitSignal(lab.open_model):
        QTest.mouseClick(lab.empty_button, Qt.MouseButton.LeftButton)
    assert not lab.controls.run_button.isEnabled()


def test_another_workspace_begins_anew(lab, tmp_path):
    whole_run(lab)
    make_workspace(tmp_path / "other", VARIANTS[:1])
    lab.library.open(tmp_path / "other")
    assert lab.shown_run is None
    assert lab.controls.target_id == "shakespeare-aa"
    assert lab.controls.draft_id == PACKED


def test_a_new_variant_appears_and_the_choice_stays(lab):
    lab.set_draft("int8-bb")
    workspace = lab.library.workspace
    new = variant("rtn4-ff", "int4 g64", parent="shakespeare-aa", kind="quantized", megabytes=3)
    with workspace.staging(new.id) as staged:
        workspace.commit(staged, new)
    lab.library.refresh()
    assert lab.set_draft("rtn4-ff")
    lab.set_draft("int8-bb")
    lab.library.changed.emit()
    assert lab.controls.draft_id == "int8-bb"
    assert lab.set_target("no-such") is False


def test_the_plots_titles(lab):
    whole_run(lab, 10)
    assert rounds_title(lab.shown_run.lane) == "Accepted draft tokens per round (γ = 4)"


def test_plots_draw_long_and_short_runs_in_both_themes(lab, qtbot):
    for rounds in (1, 2, 700):
        whole_run(lab, rounds)
        lab.replay_bar.slider.setValue(rounds // 2)
        qtbot.wait(5)
        for slot in lab.slots:
            for key in PLOTS:
                slot.choose(key)
                lab.grab()
                assert (slot.sentence == "") == (slot._stack.currentWidget() is slot.plot)
    theme().set_dark(True)
    try:
        lab.grab()
    finally:
        theme().set_dark(False)


def test_everything_pressed_by_hand_has_a_name_and_can_be_reached(lab):
    from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QComboBox

    whole_run(lab)
    for kind in (QAbstractButton, QComboBox, QAbstractSpinBox):
        for widget in lab.findChildren(kind):
            if widget.isVisibleTo(lab):
                assert widget.accessibleName() or widget.text(), widget.objectName()
                assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus, widget.objectName()


def test_finished_reports_the_run(lab, qtbot):
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(3))
    with qtbot.waitSignal(lab.finished) as got:
        lab.board.event.emit(Finished(lab.board.job, {"stop": "end of text"}, 1.0))
    assert got.args[0] is lab.shown_run
    assert "end-of-text" in lab.note.text()


def test_in_a_low_window_the_page_scrolls_and_nothing_overlaps(lab, qtbot):
    lab.resize(495, 365)  # what a window of 720 x 450, or one of 1440 x 900 at 200 %, leaves it
    qtbot.waitUntil(lambda: lab.scroll.verticalScrollBar().maximum() > 0)
    parts = [lab.empty.title, lab.empty.lines, lab.empty_button]
    spots = [QRect(w.mapTo(lab.scroll.widget(), QPoint(0, 0)), w.size()) for w in parts]
    assert not any(a.intersects(b) for a, b in pairwise(spots))
    assert lab.stack.rect().contains(QRect(lab.empty_button.mapTo(lab.stack, QPoint(0, 0)), lab.empty_button.size()))
    qtbot.waitUntil(lambda: lab.controls.target.width() > 150)  # its name can be read
    c = lab.controls
    assert c.target.mapTo(c, QPoint(0, c.target.height())).y() < c.gamma.mapTo(c, QPoint(0, 0)).y()


def test_a_run_that_waits_behind_another_job_says_so(lab):
    lab.board.others = [SimpleNamespace(status="running", job=SimpleNamespace(id="x", title="finetune 300 steps"))]
    lab.run()
    assert lab.note.text() == "Waiting for its turn: finetune 300 steps is at work…"
    lab.board.event.emit(Started(lab.board.job, 1, "cpu"))
    assert lab.note.text() == "Loading the models…"


def test_a_view_that_is_let_go_ends_its_run_and_keeps_what_there_is(lab):
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(5))
    lab.let_go()
    assert lab.board.cancelled == [lab.board.job]
    assert not lab.live
    assert len(recorded(lab)) == 1
    lab.let_go()
    assert len(lab.board.cancelled) == 1


# ---- ways to draft and to judge


def choose(box, data) -> None:
    box.setCurrentIndex(box.findData(data))


@pytest.mark.parametrize(
    ("entry", "proposer"), [(PLAIN, "none"), (NGRAM, "ngram"), (PACKED, "packed"), (EARLY, "early-exit"), (SKIP, "layer-skip")]
)
def test_every_way_to_draft_that_is_no_variant(lab, entry, proposer):
    assert lab.set_draft(entry)
    spec = lab.controls.spec("w")
    assert (spec.proposer, spec.draft) == (proposer, None)


def test_the_policy_is_adaptive_unless_chosen_and_each_keeps_its_length(lab):
    c = lab.controls
    assert (c.spec("w").policy, c.spec("w").gamma) == ("adaptive", 8)
    assert c.main.gamma_label.text() == "Most γ"
    choose(c.policy, "fixed")
    assert (c.spec("w").policy, c.spec("w").gamma) == ("fixed", 4)
    assert c.main.gamma_label.text() == "Length γ"
    c.gamma.setValue(6)
    choose(c.policy, "adaptive")
    assert c.gamma.value() == 8
    choose(c.policy, "fixed")
    assert c.gamma.value() == 6


@pytest.mark.parametrize(("verifier", "lossless"), [("token", True), ("block", True), ("tree", True), ("typical", False), ("top-k", False)])
def test_a_rule_that_changes_the_text_carries_a_badge(lab, verifier, lossless):
    c = lab.controls
    choose(c.verifier, verifier)
    assert c.main.badge.isVisible() is not lossless
    whole_run(lab, 12, lossy=not lossless)
    assert lab.board.submitted[0][0].verifier == verifier
    assert lab.lossy.isVisible() is not lossless
    if not lossless:
        assert "from the target" in lab.lossy.text()  # how far, as it was measured


def test_a_tree_needs_a_draft_that_tells_its_probabilities(lab):
    choose(lab.controls.verifier, "tree")
    assert lab.controls.run_button.isEnabled()
    lab.set_draft(NGRAM)
    assert "tree" in lab.controls.problem()
    lab.set_draft(PACKED)
    assert lab.controls.problem() == ""


def test_finer_settings_are_asked_for_and_counted(lab):
    c, a = lab.controls, lab.controls.advanced
    assert not a.isVisible()
    QTest.mouseClick(c.advanced_button, Qt.MouseButton.LeftButton)
    assert a.isVisible()
    assert c.advanced_button.text().strip() == "Advanced"
    a.spin("min_p").setValue(0.05)
    a.spin("repetition_penalty").setValue(1.2)
    a.spin("confidence").setValue(0.4)
    a.line("stop").setText("\\n\\n | END")
    a.line("banned").setText('"um " | er')
    a.line("forced").setText(" There")
    assert c.advanced_button.text().strip() == "Advanced · 6"
    spec = c.spec("w")
    assert (spec.min_p, spec.repetition_penalty, spec.confidence) == (0.05, 1.2, 0.4)
    assert (spec.stop, spec.banned, spec.forced) == (("\n\n", "END"), ("um ", "er"), " There")
    QTest.mouseClick(a.reset_button, Qt.MouseButton.LeftButton)
    assert c.spec("w") == c.spec("w").model_copy(update=Choice(temperature=0.8).model_dump())
    assert c.advanced_button.text().strip() == "Advanced"


def test_settings_of_a_way_to_draft_are_shown_where_they_apply(lab):
    c, a = lab.controls, lab.controls.advanced
    c.advanced_button.setChecked(True)

    def there() -> set[str]:
        names = ("confidence", "branches", "exit_layer", "skipped", "epsilon", "delta", "relaxed_k")
        return {name for name in names if not a._columns[name].isHidden()}

    assert there() == {"confidence"}
    choose(c.verifier, "tree")
    assert there() == {"confidence", "branches"}
    choose(c.verifier, "typical")
    lab.set_draft(SKIP)
    assert there() == {"confidence", "skipped", "epsilon", "delta"}
    c.race.setChecked(True)
    c.rival.who.choose(EARLY)
    choose(c.rival.verifier, "top-k")
    assert there() == {"confidence", "skipped", "epsilon", "delta", "exit_layer", "relaxed_k"}
    a.line("skipped").setText("3, 7-9")
    assert c.spec("w").skipped == (3, 7, 8, 9)
    a.line("skipped").setText("three")
    assert "can't be read" in c.problem()
    assert not c.run_button.isEnabled()


def test_a_runs_settings_come_back_in_full(lab):
    c = lab.controls
    spec = GenerateSpec(
        workspace="w",
        target="shakespeare-aa",
        proposer="layer-skip",
        policy="fixed",
        gamma=5,
        verifier="typical",
        epsilon=0.2,
        delta=0.05,
        confidence=0.3,
        skipped=(2, 4, 5),
        temperature=0.9,
        top_k=20,
        min_p=0.1,
        frequency_penalty=-0.5,
        banned=(" a", "b|c"),
        forced="Once\n",
        stop=("\n\n",),
        min_new_tokens=8,
        max_new_tokens=40,
        seed=7,
        prompt="To be",
        race=True,
        rival=Drafting(proposer="ngram", policy="fixed", gamma=3, epsilon=0.2, delta=0.05, confidence=0.3, skipped=(2, 4, 5)),
    )
    c.set_spec(spec)
    assert c.spec("w") == spec


def test_a_found_draft_comes_into_the_controls(lab):
    lab.controls.set_drafting(Drafting(proposer="draft", draft="int8-bb", policy="fixed", gamma=3, verifier="block"))
    drafting = lab.controls.drafting()
    assert (drafting.draft, drafting.policy, drafting.gamma, drafting.verifier) == ("int8-bb", "fixed", 3, "block")


# ---- chats


def chatting(lab):
    lab.set_target("other-dd")
    QTest.mouseClick(lab.controls.mode.buttons["chat"], Qt.MouseButton.LeftButton)
    return lab.controls.chat


def test_a_chat_goes_on_turn_by_turn(lab):
    chat = chatting(lab)
    assert "message is empty" in lab.controls.problem()
    chat.system.setText("Be brief.")
    chat.message.setPlainText("Hello?")
    lab.run()
    sent = lab.board.submitted[0][0]
    assert [(t.role, t.content) for t in sent.messages] == [("system", "Be brief."), ("user", "Hello?")]
    assert sent.prompt == ""
    assert chat.message.toPlainText() == ""
    lab.board.begin()
    lab.board.feed(invent(3))
    lab.board.finish(stop="end of text", text=" Hi.", reused=0)
    assert [(t.role, t.content) for t in chat.turns] == [("user", "Hello?"), ("assistant", "Hi.")]
    chat.message.setPlainText("And?")
    lab.run()
    assert [t.role for t in lab.board.submitted[1][0].messages] == ["system", "user", "assistant", "user"]
    lab.board.begin()
    lab.board.feed(invent(3))
    lab.board.finish(stop="length", text="More.", reused=17)
    assert "17 tokens of the chat were read before" in lab.note.text()
    chat.take_back(2)
    assert chat.message.toPlainText() == "And?"
    assert len(chat.turns) == 2


def test_a_message_still_to_be_written_is_nothing_to_warn_of(lab):
    chat = chatting(lab)
    assert not lab.controls.run_button.isEnabled()
    assert "message is empty" in lab.controls.run_button.toolTip()
    assert lab.controls._reason.isHidden()
    lab.set_target("shakespeare-aa")
    assert "no chat template" in lab.controls._reason.text()
    assert not lab.controls._reason.isHidden()
    assert chat.message.isVisible()


def test_a_chat_that_fails_gives_the_message_back(lab):
    chat = chatting(lab)
    chat.message.setPlainText("Hello?")
    lab.run()
    lab.board.event.emit(Failed(lab.board.job, "model", "No.", ""))
    assert chat.turns == ()
    assert chat.message.toPlainText() == "Hello?"


def test_a_chat_needs_a_template(lab):
    chat = chatting(lab)
    lab.set_target("shakespeare-aa")
    chat.message.setPlainText("Hello?")
    assert "has no chat template" in lab.controls.problem()
    QTest.mouseClick(lab.controls.mode.buttons["text"], Qt.MouseButton.LeftButton)
    assert lab.controls.problem() == ""


# ---- exporting


def test_a_run_is_exported_as_json_and_as_a_table(lab, tmp_path):
    race(lab)
    lab.export(tmp_path / "run.json", "json")
    data = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert set(data["lanes"]) == {"speculative", "rival", "plain"}
    assert len(data["lanes"]["speculative"]["rounds"]) == 30
    assert data["lanes"]["speculative"]["rounds"][0]["drafted"][0]["verdict"]
    lab.export(tmp_path / "run.csv", "csv")
    with open(tmp_path / "run.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(len(pane.flow.cells) for pane in lab.panes)
    assert {row["fate"] for row in rows} >= {"prompt", "accepted", "rejected", "corrected", "bonus", "plain"}
    assert "run.csv" in lab.note.text()


def test_a_run_too_quick_for_the_eye_is_filmed_slowly(lab):
    whole_run(lab, 20)
    run = lab.shown_run
    run.lane.at[:] = [0.01 * (i + 1) for i in range(20)]
    film = Film(run)
    assert run.end / film.speed == pytest.approx(6.0)
    assert len(film._moments) >= 60
    film._stage.set_moment(0.1)
    assert film._stage._clock.text() == "0.10 s  (×0.03)"
    film.stop()


def test_an_animated_picture_is_drawn_while_the_window_goes_on(lab, qtbot, tmp_path):
    race(lab, rounds=6)
    path = tmp_path / "run.webp"
    lab.export(path, "webp")
    assert not lab.export_button.isEnabled()
    qtbot.waitUntil(lambda: path.exists(), timeout=20000)
    reader = QImageReader(str(path))
    assert reader.supportsAnimation()
    assert reader.imageCount() > 5
    first = reader.read()
    while not (image := reader.read()).isNull():
        last = image
    assert first.size() == last.size()
    assert first != last
    assert lab.export_button.isEnabled()


def test_a_file_that_cant_be_written_is_said(lab, tmp_path):
    whole_run(lab, 3)
    (tmp_path / "folder").write_text("in the way")
    lab.export(tmp_path / "folder" / "run.json", "json")
    assert lab.failure_label.isVisible()


def test_nothing_is_exported_before_there_is_a_run(lab):
    assert not lab.export_button.isEnabled()
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(3))
    assert not lab.export_button.isEnabled()  # it isn't over
    lab.board.finish(stop="length")
    assert lab.export_button.isEnabled()


# ---- tools


def test_the_tools_open_with_what_the_lab_says(lab, monkeypatch):
    made = []

    class Tool(QDialog):
        chosen = Signal(object)

        def __init__(self, *args, **more):
            super().__init__(next(a for a in args if a is lab))
            made.append((args, more))

    for module, name in (("find_draft", "FindDraftDialog"), ("exactness", "ExactnessDialog"), ("enumeration", "EnumerationDialog")):
        monkeypatch.setattr(importlib.import_module(f"app.{module}"), name, Tool)
    choose(lab.controls.verifier, "block")
    QTest.mouseClick(lab.controls.find_button, Qt.MouseButton.LeftButton)
    lab.controls.check_action.trigger()
    lab.controls.explain_action.trigger()
    assert len(made) == 3
    assert made[0][0][2:4] == ("shakespeare-aa", "Once upon a time")
    assert made[1][0][2].verifier == "block"
    assert made[1][0][3].temperature == 0.8
    finder = lab._dialogs["find"]
    finder.chosen.emit(Drafting(proposer="packed", policy="fixed", gamma=5))
    assert lab.controls.draft_id == PACKED
    assert lab.controls.gamma.value() == 5
    for dialog in list(lab._dialogs.values()):
        dialog.close()


def test_costs_measured_beforehand_are_kept_with_the_run(lab):
    race(lab)
    [path] = recorded(lab)
    head = json.loads(path.read_text().splitlines()[0])
    assert head["costs"]["speculative"]["target"]["16"] == 0.061
    assert head["rival_name"] == "Packed copy of the target"
    lab.open_recording(path)
    assert lab.shown_run.costs["speculative"].target[16] == 0.061
    assert [pane.lane_name for pane in lab.panes[:3]] == ["speculative", "rival", "plain"]


def test_plots_say_what_is_missing(lab):
    slot = lab.slots[0]
    for key in PLOTS:
        slot.choose(key)
        assert slot.sentence, key  # no run yet
    lab.set_draft(PLAIN)
    lab.run()
    lab.board.begin("plain")
    lab.board.feed(invent(40, gamma=0), "plain")
    lab.board.finish(stop="length")
    said = {}
    for key in PLOTS:
        slot.choose(key)
        said[key] = slot.sentence
    assert {key for key, words in said.items() if not words} == {"timeline", "costs", "race"}
    whole_run(lab, 40, greedy=True)


def test_plots_tell_what_is_under_the_pointer(lab):
    race(lab)
    slot, said = lab.slots[0], {}
    for key, x in (("rounds", 3), ("timeline", 3), ("positions", 1), ("gain", 2), ("costs", 4), ("race", 0.2)):
        slot.choose(key)
        said[key] = slot.plot.reading(x)
        assert slot.plot.reading(-5) == ""
    third = lab.shown_run.lane.rounds[2]
    assert said["rounds"] == f"round 3: 4 guessed, {third.tested} tested, {third.accepted} kept"
    assert said["timeline"].startswith("round 3: draft 16.0 ms, verify 30.0 ms")
    assert said["positions"].startswith("place 1: ")
    assert said["gain"].startswith("γ = 2: ×")
    assert said["costs"] == "target, 4 tokens: 33.50 ms"
    assert said["race"].splitlines()[0] == "0.20 s"
    assert len(said["race"].splitlines()) == 4


# ---- exports ----------------------------------------------------------------------------------------------------


@pytest.fixture
def with_exports(qtbot, tmp_path, monkeypatch):
    """The lab of a workspace in which two variants were exported, with an onnxruntime that has CUDA."""
    monkeypatch.setattr(provider_choice, "_known", ["cpu", "cuda"])
    import json

    from core.records import ExportRecord
    from core.workspace import Workspace

    make_workspace(tmp_path / "w", VARIANTS)
    home = Workspace(tmp_path / "w")
    generators = [v for v in home.variants() if v.info.task == "causal-lm" and v.info.tokenizer][:2]
    for v in generators:
        folder = tmp_path / f"onnx-{v.id}"
        folder.mkdir()
        (folder / "export_report.json").write_text(json.dumps({"made": "now"}))
        record = ExportRecord(folder=str(folder), made="now", profile="fast", weights="float32", bytes=5)
        home.add_export(v.id, record)
    view = make_lab(qtbot, tmp_path / "w", make=False)
    return view, [v.id for v in generators], [f"onnx:{tmp_path}/onnx-{v.id}" for v in generators]


def test_exports_are_offered_as_targets_and_drafts_and_never_chosen_by_themselves(with_exports):
    view, (first, _), (target, draft) = with_exports
    assert not view.controls.target_id.startswith("onnx:")
    assert not view.controls.draft_id.startswith("onnx:")
    assert view.set_target(target)
    assert view.set_draft(draft)
    box = view.controls.target
    assert box.currentData(decode_drafting.BADGE) == "ONNX"
    assert box.itemData(box.findData(first, decode_drafting.ID), decode_drafting.BADGE) is None
    spec = view.controls.spec("w")
    assert (spec.target, spec.draft, spec.proposer, spec.beside) == (target, draft, "draft", None)
    assert view.controls.problem() == ""


def delete(export: str) -> None:
    shutil.rmtree(export.removeprefix("onnx:"))


def offered(box) -> list[str]:
    return [box.itemData(i, decode_drafting.ID) for i in range(box.count())]


def test_an_export_deleted_on_disk_is_offered_no_more_when_a_list_opens(with_exports):
    """Nothing in the workspace tells of it: it stood in the list until something else changed there."""
    view, (first, _), (target, _draft) = with_exports
    view.set_target(first)
    assert target in offered(view.controls.target)
    delete(target)
    view.controls.main.who.showPopup()
    view.controls.main.who.hidePopup()
    assert target not in offered(view.controls.target)
    assert target not in offered(view.controls.main.who)
    assert view.controls.target_id == first


def test_an_export_deleted_on_disk_is_offered_no_more_when_the_lab_is_shown_again(with_exports):
    view, (first, _), (target, _draft) = with_exports
    view.set_target(first)
    view.hide()
    delete(target)
    view.show()
    assert target not in offered(view.controls.target)


def test_a_chosen_export_that_is_gone_stays_chosen_with_why_and_no_run_begins(with_exports):
    view, (first, _), (target, draft) = with_exports
    view.set_target(target)
    view.set_draft(draft)
    name = view.controls.names()[0]
    delete(target)
    assert view.controls.run_button.isEnabled()  # nobody has looked yet
    view.controls.run_button.click()
    assert not view.board.submitted
    assert view.controls.problem() == f"{name} can't be the target. Its folder isn't there any more."
    assert view.controls._reason.text() == view.controls.problem()
    assert view.controls._reason.isVisible()
    assert not view.controls.run_button.isEnabled()
    view.set_target(first)
    view.set_draft(draft)
    delete(draft)
    assert target in offered(view.controls.target)  # until the next look
    view.controls.target.showPopup()
    view.controls.target.hidePopup()
    assert target not in offered(view.controls.target)
    assert view.controls.problem().endswith("can't draft for this target. Its folder isn't there any more.")
    view.set_draft("")
    assert view.controls.problem() == ""


def test_another_form_of_the_target_that_is_gone_says_so(with_exports):
    view, (first, _), (target, _draft) = with_exports
    view.set_target(first)
    view.controls.race.setChecked(True)
    view.controls.rival.who.choose(decode_drafting.BESIDE + target)
    delete(target)
    view.step()
    assert not view.board.submitted
    assert "can't be decoded beside it. Its folder isn't there any more." in view.controls.problem()


def test_an_execution_provider_is_chosen_for_exports_alone(with_exports):
    view, (first, _), (target, _draft) = with_exports
    controls = view.controls
    controls.provider.setCurrentIndex(controls.provider.findData("cuda"))
    view.set_target(first)
    view.set_draft("")
    assert not controls.provider.isVisible()
    assert controls.spec("w").provider == ""
    view.set_target(target)
    assert controls.provider.isVisible()
    assert controls.spec("w").provider == "cuda"


def test_an_exported_target_leaves_out_what_it_cant(with_exports):
    view, _, (target, draft) = with_exports
    view.set_target(target)
    who = view.controls.main.who
    for way in (PACKED, EARLY, SKIP):
        assert not who.model().item(who.findData(way, decode_drafting.ID)).isEnabled()
    view.set_draft(draft)
    view.controls.verifier.setCurrentIndex(view.controls.verifier.findData("tree"))
    assert "can't check a tree" in view.controls.problem()
    view.set_target(view.controls._variants[target].parent)  # to whom the tree is no obstacle
    assert "can't check a tree" not in view.controls.problem()


def test_a_race_with_another_form_of_the_target(with_exports):
    """torch beside its export, with a draft and without one: lane 'beside', named by what it is."""
    view, (first, _), (target, draft) = with_exports
    view.set_target(target)
    view.set_draft(draft)
    view.controls.race.setChecked(True)
    assert view.controls.rival.who.choose(decode_drafting.BESIDE + first)
    spec = view.controls.spec("w")
    assert (spec.beside, spec.rival, spec.race) == (first, None, True)
    assert view.controls.rival_name().endswith("by torch, plain")
    view.set_draft("")
    assert view.controls.race.isEnabled()
    assert view.controls.spec("w").beside == first
    view.set_target(first)
    assert view.controls.spec("w").beside is None  # not beside itself
    view.controls.set_spec(spec)
    assert view.controls.spec("w").beside == first
