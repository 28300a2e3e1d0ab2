"""The dialog that measures again."""

import pytest
from PySide6.QtCore import Qt

from app.wizards.evaluate import EvaluateDialog


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
