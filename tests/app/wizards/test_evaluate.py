"""The dialog that measures again."""

import pytest
from PySide6.QtCore import Qt

from app.wizards.evaluate import EvaluateDialog
from tests.app.wizards import stand_ins


@pytest.fixture
def dialog(qtbot, library, board):
    def make(variant="cut"):
        made = EvaluateDialog(library, board, variant)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(made)
        made.show()
        return made

    return make


def test_a_variant_is_measured_against_its_original(dialog, board):
    d = dialog()
    assert d.measure.reference.currentData() == "seven"
    d.finish_button.click()
    spec, title, device = board.submitted[0]
    assert (spec.kind, spec.variant, spec.reference, spec.context, spec.speed, device) == ("evaluate", "cut", "seven", None, True, "cpu")
    assert title == "Measure magnitude 30 %"


def test_an_original_has_nothing_to_be_compared_with(dialog, board):
    d = dialog("seven")
    assert d.measure.reference.currentData() is None
    d.finish()
    assert board.submitted[0][0].reference is None


def test_several_at_once(qtbot, dialog, board):
    d = dialog()
    jobs = []
    d.submitted.connect(jobs.append)
    for row in (0, 2):
        d.measure.list.item(row).setSelected(True)
    d.measure.context.setValue(256)
    d.measure.tokens.setValue(4096)
    d.measure.speed.setChecked(False)
    d.finish()
    assert len(jobs) == len(board.submitted) == 3
    assert {s.variant: s.reference for s, _, _ in board.submitted} == {"seven": None, "cut": "seven", "eight": "seven"}
    assert {(s.context, s.max_tokens, s.speed) for s, _, _ in board.submitted} == {(256, 4096, False)}


def test_references_with_other_tokens_are_greyed(dialog):
    d = dialog()
    model = d.measure.reference.model()
    greyed = [d.measure.reference.itemText(i) for i in range(model.rowCount()) if not model.item(i).isEnabled()]
    assert greyed == ["magnitude 30 %", "Another vocabulary"]


def test_nothing_chosen(dialog):
    d = dialog()
    d.measure.list.clearSelection()
    assert d.reason.text() == "Choose at least one variant."
    assert not d.finish_button.isEnabled()


@pytest.fixture
def drawing(library):
    """Two models that draw, of images of different sizes, in the library."""
    for name, shape in (("digits", (1, 8, 8)), ("letters", (1, 28, 28))):
        made = stand_ins.variant(name, task="diffusion", tokens_hash="", image_shape=shape, context=1000)
        with library.workspace.staging(name) as staged:
            library.workspace.commit(staged, made)
    library.refresh()


def test_what_draws_is_asked_for_images_and_steps_and_held_against_no_model(dialog, board, drawing, tmp_path):
    d = dialog("digits")
    shown = lambda widget: widget.isVisibleTo(d.measure)
    assert not any(map(shown, (d.measure.text, d.measure.reference, d.measure.tokens, d.measure.speed)))
    assert all(map(shown, (d.measure.images, d.measure.steps, d.measure.device)))
    d.measure.course.setChecked(True)
    d.finish()
    (spec, *_), *_ = board.submitted
    assert (spec.reference, spec.text, spec.images, spec.steps, spec.also) == (None, None, None, None, (32, 16, 8, 4, 2, 1))
    d = dialog("letters")
    assert d.measure.course.isChecked()  # as last time
    assert "letters learnt from isn't known" in d.reason.text()
    images = tmp_path / "letters.npz"
    images.touch()
    d.measure.images.set_path(str(images))
    d.measure.steps.setCurrentIndex(d.measure.steps.findData(4))
    d.finish()
    spec = board.submitted[-1][0]
    assert (spec.images.path, spec.steps) == (str(images), 4)


def test_a_model_of_text_and_one_that_draws_are_each_asked_for_their_own(dialog, board, drawing):
    d = dialog("cut")
    for row in range(d.measure.list.count()):
        if d.measure.list.item(row).data(Qt.ItemDataRole.UserRole) == "digits":
            d.measure.list.item(row).setSelected(True)
    assert d.measure.reference.currentData() == "seven"
    d.finish()
    found = {spec.variant: spec for spec, *_ in board.submitted}
    assert found["cut"].reference == "seven"
    assert found["digits"].reference is None
    assert found["cut"].also == ()
