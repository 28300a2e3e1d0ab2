"""The decode lab as a person uses it, with a board that runs nothing and invented rounds."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.decode_controls import NGRAM, PLAIN, WHY, in_lineage
from app.decode_run import Kind
from app.decode_view import NONE, DecodeView
from app.library_model import Library
from app.plots.acceptance import rounds_title
from app.theme import theme
from core.events import Cancelled, Failed, Finished, Progress, Started
from core.records import Catalogue, DeviceInfo
from tests.app.decode_invented import VARIANTS, FakeBoard, invent, make_workspace, variant


@pytest.fixture
def lab(qtbot, tmp_path):
    return make_lab(qtbot, tmp_path / "w")


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
    assert found["int8-bb"][0]
    enabled, text, tip = found["other-dd"]
    assert not enabled
    assert "SmolLM2-135M" in text
    assert "other tokens" in text
    assert tip == "Its tokenizer has other tokens than the target's."
    assert found["minilm-ee"][0] is False
    target = lab.controls.target
    assert not target.model().item(target.findText("all-MiniLM", Qt.MatchFlag.MatchStartsWith)).isEnabled()


def test_a_target_that_the_draft_doesnt_fit_is_said_beside_a_disabled_run(lab):
    lab.set_target("other-dd")
    assert lab.controls.draft_id == "student-cc"
    assert not lab.controls.run_button.isEnabled()
    assert "can't draft for this target" in lab.controls.problem()
    assert lab.controls._reason.isVisible()
    lab.run()
    assert lab.board.submitted == []
    assert lab.controls.draft.currentData(WHY)
    lab.set_draft(PLAIN)
    assert lab.controls.run_button.isEnabled()


def test_an_empty_prompt_is_asked_for(lab):
    lab.controls.prompt.setPlainText("")
    assert not lab.controls.run_button.isEnabled()
    assert "prompt is empty" in lab.controls.run_button.toolTip()


def test_a_run_asks_for_what_the_controls_say(lab):
    c = lab.controls
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
        assert inside.contains(child.geometry())
    for box in (lab.controls.target, lab.controls.gamma, lab.controls.most, lab.controls.prompt):
        assert inside.contains(box.geometry())
    assert lab.legend[-1].geometry().right() < lab.runs_button.geometry().left()


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
    assert lab.stack.currentWidget() is lab.flow
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
    assert [card.value for card in lab.cards.values()] == [NONE] * 4
    assert all(card.note for card in lab.cards.values())  # what would measure it


def test_another_jobs_rounds_are_not_ours(lab):
    lab.run()
    lab.board.begin()
    ours = lab.board.job
    lab.board.job = "someone-elses"
    lab.board.feed(invent(3))
    lab.board.job = ours
    assert len(lab.flow.cells) == 9


def test_the_race_comes_after_and_measures(lab):
    lab.controls.race.setChecked(True)
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(30))
    cells = len(lab.flow.cells)
    assert lab.cards["speedup"].value == NONE
    lab.board.begin("plain")
    assert "for the race" in lab.note.text()
    lab.board.feed(invent(90, gamma=0), "plain")
    assert len(lab.flow.cells) == cells  # the flow goes on showing the speculative lane
    lab.board.finish(stop="length", identical=True)
    assert lab.cards["speedup"].value.startswith("×")
    assert lab.cards["throughput"].note.startswith("plain ")
    assert "token for token" in lab.note.text()


def test_slower_than_plain_is_said(lab):
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(30, gamma=0))
    lab.board.begin("plain")
    fast = [type(r)(**{f: getattr(r, f) for f in r.__slots__} | {"at": r.at / 2}) for r in invent(30, gamma=0)]
    lab.board.feed(fast, "plain")
    lab.board.finish()
    assert "slower than plain" in lab.cards["speedup"].note


def test_a_parting_of_the_lanes_is_named(lab):
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
    assert lab.board.controls == ["step", "step"]
    assert lab.controls_state == "paused"
    lab.step()
    assert lab.board.controls == ["step"] * 3


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


def test_a_second_run_takes_the_place_of_the_first(lab):
    whole_run(lab)
    first = lab.shown_run
    whole_run(lab, 5)
    assert lab.shown_run is not first
    assert len(lab._offsets) == 6


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
    assert len(lab.flow.cells) == lab._offsets[10] < len(final)
    assert lab.flow.cells == final[: lab._offsets[10]]
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
    assert lab._done == 0
    lab._advance(at[4] + 1e-9)
    assert lab._done == 5
    lab._advance(at[19] - at[4])
    assert lab._done == 20
    lab._advance(1e9)
    assert lab._done == 40
    lab.replay_bar.slider.setValue(12)
    lab.replay()
    lab._player.stop()
    assert lab._done == 12  # from where it stands
    assert lab._clock == at[11]


def test_replay_plays_and_pauses_at_the_chosen_speed(lab, qtbot):
    whole_run(lab, 40)
    lab.replay_bar.speed.setCurrentIndex(0)
    assert lab.replay_bar.speed.currentData() == 0.25
    QTest.mouseClick(lab.replay_bar.play, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: lab._done > 2, timeout=4000)
    QTest.mouseClick(lab.replay_bar.play, Qt.MouseButton.LeftButton)
    assert not lab._player.isActive()


def test_a_click_on_a_bar_shows_its_round(lab):
    whole_run(lab, 40)
    lab.rounds_plot.picked.emit(4)
    assert lab.flow.cells[lab.flow.current].round == 4


def test_scrubbing_waits_for_a_live_run(lab):
    lab.run()
    lab.board.begin()
    lab.board.feed(invent(10))
    lab._refresh()
    assert not lab.replay_bar.isEnabled()
    assert not lab.runs_button.isEnabled()
    lab._scrubbed(2)
    assert lab._done == 10


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
    assert lab.controls.draft_id == NGRAM


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
    assert lab.rounds_panel.title.text().endswith("(γ = 4)")


def test_plots_draw_long_and_short_runs_in_both_themes(lab, qtbot):
    for rounds in (1, 2, 700):
        whole_run(lab, rounds)
        lab.replay_bar.slider.setValue(rounds // 2)
        qtbot.wait(5)
        lab.grab()
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
    assert lab.controls.target.geometry().bottom() < lab.controls.gamma.geometry().top()


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
