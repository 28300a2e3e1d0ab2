"""The wizard that makes a variant, with a board that stands in for workers."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.wizards.compress import CompressWizard
from core import events
from core.recipe import Recipe
from core.records import MethodInfo
from tests.app.wizards import stand_ins as S


@pytest.fixture
def wizard(qtbot, library, board):
    def make(family="quantization", variant="seven", board=board):
        made = CompressWizard(library, board, family, variant)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(made)
        made.show()
        return made

    return make


def estimated(qtbot, wizard):
    qtbot.waitUntil(lambda: "→" in wizard.method.estimate.figure.text(), timeout=3000)


def test_from_source_to_job(qtbot, wizard, board):
    w = wizard(variant="")
    assert w.flow.page == "source"
    assert w.source.list.selected_ids() == ["seven"]
    w.next_button.click()
    assert list(w.method.cards.cards) == ["rtn", "gptq", "awq"]
    assert w.method.cards.current() == "rtn"
    w.method.form.set_values({"bits": 4})
    estimated(qtbot, w)
    assert w.method.estimate.figure.text() == "14.9 MB  →  5.20 MB"
    w.next_button.click()
    assert w.flow.page == "review"
    with qtbot.waitSignal(w.submitted) as told:
        w.finish_button.click()
    assert told.args == ["job-1"]
    spec, title, device = board.submitted[0]
    assert (spec.kind, spec.variant, spec.steps[0].method, spec.steps[0].params["bits"], device) == ("apply", "seven", "rtn", 4, "cpu")
    assert "Shakespeare 7M" in title
    assert not w.isVisible()


def test_a_named_variant_skips_the_first_page_but_it_can_be_gone_back_to(wizard):
    w = wizard(variant="one")
    assert w.flow.page == "method"
    w.back_button.click()
    assert w.source.list.selected_ids() == ["one"]


def test_a_variant_that_cannot_be_used_is_not_preselected(wizard):
    w = wizard(variant="eight")
    assert w.plan.variant == "seven"
    item = next(w.source.list.item(i) for i in range(w.source.list.count()) if w.source.list.item(i).text() == "rtn 8-bit")
    assert not item.flags() & Qt.ItemFlag.ItemIsEnabled
    assert "quantized already" in item.toolTip()


def test_methods_appear_when_the_worker_is_ready(qtbot, wizard):
    cold = S.Board(None)
    cold.reply = S.estimate
    w = wizard(board=cold)
    assert "still starting" in w.method.wait.text()
    assert not w.next_button.isEnabled()
    cold.learn(S.catalogue(S.GPU, S.CPU))
    assert w.method.cards.current() == "rtn"
    assert w.method.wait.text() == ""
    assert w.next_button.isEnabled()
    w.next()
    assert w.plan.device == "cuda:0"


def test_a_method_that_failed_to_load_is_shown_with_its_reason(wizard):
    card = wizard().method.cards.cards["awq"]
    assert not card.isEnabled()
    assert "No module named" in card.reason


def test_another_method_has_another_form_and_a_page_for_its_text(wizard):
    w = wizard()
    assert w.plan.pages() == ("source", "method", "review")
    w.method.cards.cards["gptq"].click()
    assert [k.name for k in w.method.form.knobs] == ["bits", "damping"]
    w.next_button.click()
    assert w.flow.page == "data"
    w.data.text.own.setChecked(True)
    assert not w.next_button.isEnabled()
    assert w.reason.text() == "Choose a text file."


def test_settings_come_into_sight_and_the_estimate_stays_there(qtbot, wizard):
    """In a low window the settings of a card, and the estimate, were far below it and nothing said so."""
    w = wizard()
    w.resize(760, 450)
    estimated(qtbot, w)
    scroll = w._scrolls["method"]
    scroll.verticalScrollBar().setValue(0)
    w.method.cards.cards["gptq"].click()
    seen = lambda part: scroll.viewport().rect().contains(part.mapTo(scroll.viewport(), part.rect().topLeft()))
    qtbot.waitUntil(lambda: seen(w.method.cards.cards["gptq"]) and scroll.verticalScrollBar().value() > 0, timeout=2000)
    assert w.method.estimate.isVisible()
    assert not scroll.isAncestorOf(w.method.estimate)
    assert w.rect().contains(w.method.estimate.mapTo(w, w.method.estimate.rect().bottomRight()))
    w.resize(760, 320)  # so low that it would leave no room for the page
    assert scroll.isAncestorOf(w.method.estimate)
    w.resize(760, 610)
    assert not scroll.isAncestorOf(w.method.estimate)


def test_own_text_goes_into_the_recipe(qtbot, wizard, board, tmp_path):
    text = tmp_path / "own.txt"
    text.write_text("words")
    w = wizard("distillation")
    w.next()
    w.data.text.own.setChecked(True)
    w.data.text.file.set_path(str(text))
    w.next()
    w.finish()
    assert board.submitted[0][0].steps[0].text.path == str(text)


def test_several_are_queued_one_after_another(qtbot, wizard, board):
    w = wizard()
    jobs = []
    w.submitted.connect(jobs.append)
    w.next()
    w.another.click()
    assert w.isVisible()
    assert w.flow.page == "method"
    assert "rtn 8-bit" in w.reason.text()
    w.method.form.set_values({"bits": 4})
    w.next()
    assert w.review.name.text().startswith("rtn 4-bit")
    w.finish_button.click()
    assert jobs == ["job-1", "job-2"]
    assert [s.steps[0].params["bits"] for s, _, _ in board.submitted] == [8, 4]
    assert w.another.isVisibleTo(w) or not w.isVisible()


def test_the_worker_names_what_would_come_out(qtbot, wizard, board):
    board.reply = lambda spec: (S.estimate(spec) or {}) | {"name": "rtn eight"}
    w = wizard()
    w.next()
    qtbot.waitUntil(lambda: w.review.name.text() == "rtn eight", timeout=3000)
    w.review.name.setText("")
    qtbot.keyClicks(w.review.name, "mine")
    w.estimate_soon()
    qtbot.wait(400)
    assert w.review.name.text() == "mine"


def test_started_before_the_estimate_it_gets_the_name_that_the_estimate_would_have_given(qtbot, wizard, board):
    """The wizard's own attempt at a name was taken, since the worker's comes with the estimate."""
    board.reply = None
    w = wizard()
    w.next()
    assert w.review.name.text() == "rtn 8-bit (2)"  # until the worker answers
    w.another.click()
    assert board.submitted[0][0].name is None  # so that the job names it, as the estimate does
    w.next()
    qtbot.waitUntil(lambda: bool(board.asked), timeout=3000)
    board.answer(board.last_asked(), S.estimate(w._estimate_question()[0]) | {"name": "rtn eight"})
    w.finish_button.click()
    assert board.submitted[1][0].name == "rtn eight"


def test_a_name_that_the_worker_has_told_stands_on_the_review_at_once(qtbot, wizard, board):
    """The review began with another name and changed it under the person's eyes."""
    board.reply = lambda spec: S.estimate(spec) | {"name": f"rtn, {spec.step.params['bits']} bits"}
    w = wizard()
    estimated(qtbot, w)
    board.reply = None
    w.next()
    assert w.review.name.text() == "rtn, 8 bits"
    assert w.plan.spec().name == "rtn, 8 bits"
    w.back()
    w.method.form.set_values({"bits": 4})
    w.next()
    assert w.review.name.text() == "rtn 4-bit"
    assert w.plan.spec().name is None
    qtbot.keyClicks(w.review.name, " mine")
    assert w.plan.spec().name == "rtn 4-bit mine"


def test_a_name_is_taken_as_it_stands_where_no_estimate_comes(qtbot, wizard, board):
    board.reply = lambda spec: events.Failed("x", "internal", "Something went wrong.", "")
    w = wizard()
    w.next()
    qtbot.waitUntil(lambda: w.review.estimate.figure.text() == "unknown", timeout=3000)
    assert w.plan.spec().name == "rtn 8-bit (2)"


def test_a_name_is_needed(qtbot, wizard):
    w = wizard()
    w.next()
    w.review.name.selectAll()
    qtbot.keyClick(w.review.name, Qt.Key.Key_Backspace)
    assert not w.finish_button.isEnabled()
    assert w.reason.text() == "Give it a name."
    assert not w.another.isEnabled()


def test_the_recipe_can_be_copied_and_read_again(wizard):
    w = wizard(variant="cut")
    w.next()
    w.review.copy.click()
    copied = Recipe.from_yaml(QGuiApplication.clipboard().text())
    assert [s.method for s in copied.steps] == ["magnitude", "rtn"]
    assert copied == w.plan.recipe()
    assert w.review.copy.text() == "Copied"


def test_settings_that_the_worker_refuses_cannot_be_started(qtbot, wizard, board):
    board.reply = lambda spec: events.Failed("x", "input", "{knob} is too wide.", "Change it.", "", {"knob": "Group"})
    w = wizard()
    w.next()
    qtbot.waitUntil(lambda: not w.finish_button.isEnabled(), timeout=3000)
    assert w.reason.text() == "Group is too wide."
    assert w.review.estimate.rest.text() == "Group is too wide. Change it."


@pytest.mark.parametrize("kind", ["usage", "input", "model"])
def test_settings_that_the_worker_refuses_hold_up_next(qtbot, wizard, board, kind):
    """Next went on to a review that could not be started; a wrong list of layers, of the kind 'usage', could even be."""
    board.reply = lambda spec: (
        events.Failed("x", kind, "{knob} is too wide.", "Change it.", "", {"knob": "Group"})
        if spec.step.params["bits"] == 4
        else S.estimate(spec)
    )
    w = wizard()
    estimated(qtbot, w)
    assert w.next_button.isEnabled()
    w.method.form.set_values({"bits": 4})
    qtbot.waitUntil(lambda: not w.next_button.isEnabled(), timeout=3000)
    assert w.reason.text() == "Group is too wide."
    assert w.method.estimate.rest.text() == "Group is too wide. Change it."
    assert w.method.estimate.isVisible()
    qtbot.keyClick(w, Qt.Key.Key_Return)
    assert w.flow.page == "method"
    w.method.form.set_values({"bits": 8})
    estimated(qtbot, w)
    assert w.next_button.isEnabled()


def test_enter_leads_to_the_field_that_is_wrong(qtbot, wizard):
    w = wizard("pruning")
    box = w.method.form.editor("sparsity").box
    box.setValue(1.0)
    w.back_button.setFocus()
    assert not box.hasFocus()
    qtbot.keyClick(w, Qt.Key.Key_Return)
    assert w.flow.page == "method"
    assert w.focusWidget() is box


def test_an_estimate_that_fails_otherwise_holds_up_nothing(qtbot, wizard, board):
    board.reply = lambda spec: events.Failed("x", "internal", "Something went wrong.", "")
    w = wizard()
    w.next()
    qtbot.waitUntil(lambda: w.review.estimate.figure.text() == "unknown", timeout=3000)
    assert w.finish_button.isEnabled()


def test_only_the_last_question_counts(qtbot, wizard, board):
    board.reply = None
    w = wizard()
    qtbot.waitUntil(lambda: len(board.asked) == 1, timeout=3000)
    first = board.last_asked()
    w.method.form.set_values({"bits": 4})
    assert first in board.forgotten
    qtbot.waitUntil(lambda: len(board.asked) == 1, timeout=3000)
    assert board.asked[board.last_asked()][0].step.params["bits"] == 4


def test_too_little_memory_is_warned_of(qtbot, wizard, board):
    board.reply = lambda spec: {"bytes_on_disk": 1, "effective_bits": 1.0, "memory": 12 * S.GB, "seconds": None, "notes": []}
    w = wizard()
    w.next()
    qtbot.waitUntil(lambda: "may not fit" in w.review.notice.text(), timeout=3000)
    assert w.finish_button.isEnabled()


def test_a_wrong_knob_holds_up_next(wizard):
    w = wizard("pruning")
    w.method.form.editor("sparsity").box.setValue(1.0)
    assert not w.next_button.isEnabled()
    assert "less than 1" in w.reason.text()
    assert w.method.estimate.isHidden()


def test_last_settings_come_back(qtbot, wizard, board):
    w = wizard()
    w.method.form.set_values({"bits": 4})
    w.next()
    w.review.seed.setValue(11)
    w.review.measure.setChecked(False)
    w.finish()
    again = wizard()
    assert again.method.form.values()["bits"] == 4
    assert again.review.seed.value() == 11
    assert not again.review.measure.isChecked()


def test_a_student_is_chosen_among_variants_with_the_same_tokens(wizard, board):
    w = wizard("distillation")
    w.method.form.set_values({"student": "one"})
    assert "layers" not in w.method.form.values()
    w.next()
    w.next()
    w.finish()
    assert board.submitted[0][0].steps[0].params["student"] == "one"


def test_a_change_of_source_makes_the_form_anew_and_keeps_its_settings(wizard):
    w = wizard("distillation")
    w.method.form.set_values({"steps": 77})
    w.back()
    w.source.list.item(3).setSelected(True)
    w.next()
    assert w.plan.variant == "one"
    assert w.method.form.values()["steps"] == 77
    assert w.method.form.variant_problem(w.plan.variants["one"]) == "It's the model itself."


def test_no_model_yet(qtbot, tmp_path, board):
    empty = S.make_library(tmp_path / "empty", ())
    w = CompressWizard(empty, board, "pruning")
    w.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(w)
    assert not w.next_button.isEnabled()
    assert w.reason.text() == "There is no model in this workspace yet."


def test_it_deletes_itself(qtbot, library, board):
    w = CompressWizard(library, board, "quantization", "seven")
    with qtbot.waitSignal(w.destroyed, timeout=3000):
        w.open()
        w.reject()
    board.learn(S.catalogue())  # nothing listens any more
    library.changed.emit()


def test_images_of_ones_own_are_learnt_from(qtbot, wizard, library, board, tmp_path):
    fewer = MethodInfo(
        name="fewer_steps", title="Fewer steps", family="distillation", summary="Minutes.", needs=("images",), tasks=("diffusion",)
    )
    board.catalogue = board.catalogue.model_copy(update={"methods": (*board.catalogue.methods, fewer)})
    made = S.variant("letters", task="diffusion", tokens_hash="", image_shape=(1, 28, 28), context=1000)
    with library.workspace.staging("letters") as staged:
        library.workspace.commit(staged, made)
    library.refresh()
    w = wizard("distillation", "letters")
    assert "distil" not in w.method.cards.cards
    assert w.method.cards.current() == "fewer_steps"
    assert w.method.others.isVisibleTo(w.method)
    assert w.method.others.text().endswith(S.DISTIL.title)  # for other kinds of model: named, and no cards to scroll past
    w.next()
    assert w.flow.page == "data"
    assert w.data.images.isVisibleTo(w.data)
    assert not w.data.text.isVisibleTo(w.data)
    assert "isn't known" in w.reason.text()
    images = tmp_path / "mnist.npz"
    images.touch()
    w.data.images.set_path(str(images))
    w.next()
    w.finish()
    (step,) = board.submitted[0][0].steps
    assert (step.method, step.images.path) == ("fewer_steps", str(images))
