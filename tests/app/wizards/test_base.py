"""The window that all wizards share."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QSpinBox

from app.forms import calm_wheel
from app.theme import theme
from app.wizards import base
from app.wizards.base import CardList, DeviceChoice, Estimate, Page, TextChoice, VariantList, Wizard, in_lineage
from app.wizards.plans import NOTHING, say
from core.records import Catalogue
from tests.app.wizards import stand_ins as S


class TwoPages:
    def __init__(self):
        self.word = ""

    def pages(self):
        return ("one", "two")

    def problem(self, page):
        return say("Write a word.") if page == "one" and not self.word else NOTHING


class Small(Wizard):
    def __init__(self, board, parent=None):
        super().__init__(TwoPages(), None, board, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        for name in ("one", "two"):
            page = Page(name)
            page.say(name.title(), f"Page {name}", "What it's for.")
            page.field = QLineEdit(page)
            page.body.addWidget(page.field)
            page.first_field = lambda page=page: page.field
            self.add_page(page)
        self.page("one").field.textChanged.connect(self._typed)
        self.jobs = []
        self.begin()

    def _typed(self, text):
        self.plan.word = text
        self.page("one").changed.emit()

    def submit(self):
        self.jobs.append("job")
        return "job"


@pytest.fixture
def small(qtbot, board):
    theme().apply(QApplication.instance())
    made = Small(board)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_next_is_disabled_with_the_reason_beside_it(small):
    assert not small.next_button.isEnabled()
    assert small.reason.text() == "Write a word."
    assert small.next_button.accessibleDescription() == "Write a word."
    small.page("one").field.setText("x")
    assert small.next_button.isEnabled()
    assert small.reason.text() == ""


def test_the_keyboard_is_enough(qtbot, small):
    field = small.page("one").field
    qtbot.waitUntil(field.hasFocus)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert small.flow.page == "one"  # something is in the way
    qtbot.keyClicks(field, "word")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert small.flow.page == "two"
    qtbot.waitUntil(small.page("two").field.hasFocus)
    with qtbot.waitSignal(small.submitted) as told:
        qtbot.keyClick(small.page("two").field, Qt.Key.Key_Enter)
    assert told.args == ["job"]
    assert small.result() == Wizard.DialogCode.Accepted


def test_escape_cancels(qtbot, small):
    qtbot.keyClick(small, Qt.Key.Key_Escape)
    assert not small.isVisible()
    assert small.jobs == []


def test_back_and_the_steps_lead_back(qtbot, small):
    small.page("one").field.setText("x")
    assert not small.back_button.isEnabled()
    small.next()
    assert (small.next_button.isVisible(), small.finish_button.isVisible()) == (False, True)
    small.back_button.click()
    assert small.flow.page == "one"
    small.next()
    qtbot.mouseClick(small.steps, Qt.MouseButton.LeftButton, pos=QPoint(40, small.steps.TOP))
    assert small.flow.page == "one"
    qtbot.mouseClick(small.steps, Qt.MouseButton.LeftButton, pos=QPoint(40, small.steps.TOP + small.steps.PITCH))
    assert small.flow.page == "one"  # a step that isn't reached yet


def test_the_steps_go_where_there_is_no_room(qtbot, small):
    small.resize(520, 400)
    qtbot.waitUntil(lambda: not small.steps.isVisible())
    assert small._where.text() == "Step 1 of 2"
    assert small.minimumSizeHint().width() <= 512  # 1024 pixels at 200 %
    small.resize(800, 600)
    qtbot.waitUntil(small.steps.isVisible)


def test_answers_are_dropped_with_the_window(qtbot, small, board):
    board.reply = None
    heard = []
    small.ask("spec", heard.append)
    question = board.asked[board.last_asked()][1]
    small.reject()
    assert board.forgotten
    question("late")  # a worker that answered just before
    assert heard == ["late"]  # the object is still there: no crash, and nothing is shown any more


def test_last_values_come_back():
    assert base.recall("x") == {}
    base.keep("x", {"a": 1, "b": [True, None]})
    assert base.recall("x") == {"a": 1, "b": [True, None]}
    base.store().setValue("wizards/x", "{broken")
    assert base.recall("x") == {}
    base.store().setValue("wizards/x", "[1]")
    assert base.recall("x") == {}


def test_many_cards_stand_in_two_columns_where_there_is_room(qtbot):
    """Nine methods below one another left no room for the settings of the one chosen."""
    cards = CardList()
    qtbot.addWidget(cards)
    cards.fill([(f"m{n}", f"Method {n}", "Some words about it", "not here" if n == 6 else "") for n in range(9)])
    cards.resize(700, 500)
    cards.show()
    place = lambda n: (cards.cards[f"m{n}"].x() > 300, cards.cards[f"m{n}"].y())
    assert [place(n)[0] for n in range(9)] == [False] * 5 + [True] * 4
    assert place(0)[1] == place(5)[1]
    cards.choose("m4")
    for key, then in (
        (Qt.Key.Key_Down, "m5"),
        (Qt.Key.Key_Down, "m7"),
        (Qt.Key.Key_Left, "m2"),
        (Qt.Key.Key_Right, "m7"),
        (Qt.Key.Key_Up, "m5"),
    ):
        qtbot.keyClick(cards, key)
        assert cards.current() == then
    cards.resize(400, 800)
    qtbot.waitUntil(lambda: not any(place(n)[0] for n in range(9)))


def test_cards_by_arrow_keys_pass_over_those_refused(qtbot):
    cards = CardList()
    qtbot.addWidget(cards)
    cards.fill([("a", "A", "first", ""), ("b", "B", "second", "not here"), ("c", "C", "third", "")])
    cards.show()
    cards.choose("a")
    told = []
    cards.chosen.connect(told.append)
    qtbot.keyClick(cards, Qt.Key.Key_Down)
    assert cards.current() == "c"
    qtbot.keyClick(cards, Qt.Key.Key_Down)
    assert cards.current() == "a"
    assert told == ["c", "a"]
    assert cards.cards["b"].toolTip() == "not here"


def test_variants_stand_below_their_parents(qtbot):
    assert [(d, v.id) for d, v in in_lineage(S.VARIANTS)] == [(0, "seven"), (1, "cut"), (1, "eight"), (0, "one"), (0, "other")]
    shown = VariantList()
    qtbot.addWidget(shown)
    shown.fill(S.VARIANTS, lambda v: "no" if v.id == "eight" else "", ["cut"])
    assert shown.selected_ids() == ["cut"]
    assert not shown.item(2).flags() & Qt.ItemFlag.ItemIsEnabled
    shown.resize(300, 300)
    shown.show()
    assert not shown.grab().isNull()


def test_text_choice_says_what_is_wrong(qtbot, tmp_path):
    choice = TextChoice("ours")
    qtbot.addWidget(choice)
    assert choice.path() is None
    choice.own.setChecked(True)
    assert choice.path() == ""
    choice.file.set_path(str(tmp_path / "no.txt"))
    assert "no file" in choice.problem.text()
    choice.set_path(None)
    assert choice.path() is None
    assert choice.problem.text() == ""


def test_devices_come_with_the_worker(qtbot):
    board = S.Board(None)
    choice = DeviceChoice(board)
    qtbot.addWidget(choice)
    assert choice.device() == "auto"
    board.catalogue = Catalogue(devices=(S.CPU, S.GPU))
    choice.fill()
    assert choice.device() == "cuda:0"
    assert "70.0 GB free" in choice.currentText()
    choice.setCurrentIndex(choice.findData("cpu"))
    board.catalogue = Catalogue(devices=(S.CPU.model_copy(update={"free_bytes": 5}), S.GPU))
    choice.fill()
    assert choice.device() == "cpu"  # what was chosen stays


def test_an_estimate_says_what_it_does_not_know(qtbot):
    shown = Estimate()
    qtbot.addWidget(shown)
    shown.tell(
        100_000_000, {"bytes_on_disk": None, "effective_bits": None, "memory": None, "seconds": None, "notes": ["A note."]}, str.upper
    )
    assert shown.figure.text() == "unknown"
    assert "time unknown" in shown.rest.text()
    assert shown.notes.text() == "A NOTE."
    shown.tell(100_000_000, {"bytes_on_disk": 50_000_000, "effective_bits": 8.25, "memory": 1e9, "seconds": 3.0}, str)
    assert shown.figure.text() == "100 MB  →  50.0 MB"
    assert shown.bits.text().startswith("8.25")
    assert "about 3.0 s" in shown.rest.text()
    shown.tell(100_000_000, {"bytes_on_disk": 50_000_000, "memory": 1e9, "seconds": 0.04}, str)
    assert shown.rest.text() == "Takes about 1.00 GB of memory, under a second."


def test_the_wheel_scrolls_the_page_and_changes_no_value(qtbot):
    box = QSpinBox()
    calm_wheel(box)
    qtbot.addWidget(box)
    box.setValue(5)
    at = box.rect().center().toPointF() if hasattr(box.rect().center(), "toPointF") else box.rect().center()
    turn = QWheelEvent(
        at, at, QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(box, turn)
    assert box.value() == 5


def test_a_students_speed_is_called_predicted_and_unknown_where_the_teachers_is(qtbot):
    shown = Estimate()
    qtbot.addWidget(shown)
    plain = {"bytes_on_disk": 1_000_000, "seconds": 3.0}
    shown.tell(2_000_000, plain, str)
    assert shown.speed.isHidden()
    shown.tell(2_000_000, plain | {"measured_decode": 50.0, "predicted_decode": 200.0}, str)
    assert shown.speed.text() == "Predicted speed: 200 tokens/s, ×4.0 the teacher's measured 50.0"
    gains = [(0.5, 1, 1.2), (0.9, 6, 2.75)]
    shown.tell(2_000_000, plain | {"measured_decode": 50.0, "predicted_decode": 200.0, "predicted_speedups": gains}, str)
    assert shown.speed.text().endswith("×1.20 at 50 %, ×2.75 at 90 %")
    shown.tell(2_000_000, plain | {"measured_decode": None}, str)
    assert "unknown" in shown.speed.text()
    shown.waiting()
    assert shown.speed.isHidden()
