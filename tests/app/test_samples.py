"""Samples of a training in the window: side by side, marked, step by step, and none where a job has none."""

import io

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.samples import Pictures, SamplesDialog, SamplesView, marked, step_words
from app.theme import theme
from core.events import Classed, Drawn, Said, Samples
from core.records import ApplySpec
from tests.app.invented import StillBoard

SAID = Said("It was", (" a", " <b>", " day"), (" a", " cold", "\n", " day"), (True, False, False, True))


def at(step: int, **more) -> Samples:
    return Samples("j", step, said=(Said("It was", (" a",), (f" word{step}",), (False,)),), **more)


@pytest.fixture
def view(qtbot):
    board = StillBoard()
    state = board.put(ApplySpec(workspace="w", variant="v", steps=()), "Distil", status="running")
    view = SamplesView(board)
    qtbot.addWidget(view)
    view.resize(760, 200)
    view.show()
    view.show_job(state.job.id)
    view.state = state
    return view


def tell(view, samples: Samples) -> None:
    view.state.samples.append(samples)
    view.refresh()


def words(view) -> str:
    return " ".join(one.text() for one in view.scroll.widget().findChildren(QLabel))


def test_what_the_teacher_would_say_too_is_tinted_the_parting_framed_and_the_rest_underlined():
    shown = marked(SAID)
    same, parts = theme().color("accepted_fill").name(), theme().color("rejected_fill").name()
    assert shown.count(f"background-color:{same}") == 2
    assert shown.count(f"background-color:{parts}") == 1
    assert shown.index("cold") > shown.index(parts)
    assert "<u>⏎ </u>" in shown or "<u>⏎</u>" in shown
    assert "&lt;b&gt;" in marked(Said("", (), (" <b>",), (True,)))
    assert "background" not in marked(Said("", (), (" as", " it", " is")))


def test_it_stays_at_the_latest_step_until_a_person_goes_back(view, qtbot):
    assert view.empty.isVisible()
    for step in (0, 50, 100):
        tell(view, at(step))
    assert "word100" in words(view)
    assert not view.forth.isEnabled()
    qtbot.keyClick(view.slider, Qt.Key.Key_Left)
    assert "word50" in words(view)
    assert view.line.text().startswith("Step 50")
    tell(view, at(150))
    assert "word50" in words(view)
    view.forth.click()
    view.forth.click()
    assert "word150" in words(view)
    tell(view, at(200, kept=True))
    assert "word200" in words(view)
    assert "kept" in view.line.text()
    view.show_job("another")
    assert view.empty.isVisible()


def test_the_share_of_tokens_is_told_and_only_against_a_teacher():
    assert "50 % of the tokens" in step_words(Samples("j", 3, said=(SAID,)))
    assert "tokens" not in step_words(Samples("j", 3, said=(SAID,), before=True))


def test_classes_say_right_or_wrong_without_colour_too(view):
    tell(view, Samples("j", 1, classed=(Classed("dull <i>", "bad", "bad", 0.75, "good", 0.5),)))
    assert "✓ bad 75 %" in words(view)
    assert "✗ good 50 %" in words(view)
    assert "&lt;i&gt;" in words(view)


def test_images_are_drawn_in_whole_pixels_and_as_many_as_fit(view, qtbot):
    from PIL import Image

    sheet = io.BytesIO()
    picture = Image.new("L", (3 * 8, 8), 0)
    picture.putpixel((0, 0), 255)
    picture.save(sheet, "PNG")
    tell(view, Samples("j", 1, drawn=(Drawn("teacher", 32, sheet.getvalue(), 3, 1.5), Drawn("student", 4, sheet.getvalue(), 3))))
    assert "Teacher, 32 steps" in words(view)
    assert "Fréchet 1.50" in words(view)
    assert words(view).count("Fréchet") == 1
    pictures = view.scroll.widget().findChild(Pictures)
    image = pictures.grab().toImage()
    assert [image.pixelColor(x, 2).lightness() > 200 for x in (0, 3, 4)] == [True, True, False]


def test_a_window_of_its_own_shows_the_same_job(view, qtbot):
    tell(view, at(7))
    dialog = view._open()
    qtbot.addWidget(dialog)
    assert isinstance(dialog, SamplesDialog)
    assert "word7" in words(dialog.view)
    assert "Distil" in dialog.windowTitle()
