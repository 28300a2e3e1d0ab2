"""Knobs to widgets and back."""

import pytest
from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QScrollArea

from app.forms import (
    TWO_COLUMNS,
    BoolEditor,
    ComboEditor,
    FieldGrid,
    FileEditor,
    FloatEditor,
    Form,
    IntEditor,
    SegmentEditor,
    TextEditor,
    VariantEditor,
    local_paths,
)
from core import params
from core.params import Knob
from tests.app.wizards import stand_ins


@pytest.fixture
def library(qtbot, tmp_path):
    made = stand_ins.make_library(tmp_path / "workspace")
    yield made
    made.close()


def form_of(qtbot, *knobs, library=None, variant=None):
    form = Form(knobs, library, variant)
    qtbot.addWidget(form)
    form.resize(600, 400)
    form.show()
    return form


BITS = Knob(name="bits", kind="choice", title="Bits", help="How many.", default=8, choices=((8, "8"), (4, "4")))
GROUP = Knob(name="group", kind="int", title="Group", help="Columns.", default=64, low=8, high=512, when={"bits": (4,)})
INNER = Knob(name="inner", kind="bool", title="Inner", help="", default=True, when={"group": (64,)})
SHARE = Knob(name="share", kind="float", title="Share", help="Of one.", default=0.5, low=0, high=1, high_open=True, step=0.05)
RATE = Knob(name="rate", kind="float", title="Rate", help="", default=3e-4, low=0, low_open=True)
LAYERS = Knob(name="layers", kind="int", title="Layers", help="", default=None, optional=True, low=1, high=100)
WORD = Knob(name="word", kind="text", title="Word", help="", default="a")
FILE = Knob(name="file", kind="file", title="File", help="", default="")
WHO = Knob(name="who", kind="variant", title="Who", help="", optional=True)


def test_each_kind_of_knob_has_its_widget(qtbot, library):
    many = Knob(name="many", kind="choice", title="Many", help="", default="a", choices=tuple((c, f"choice {c}") for c in "abcdef"))
    flag = Knob(name="flag", kind="bool", title="Flag", help="", default=True)
    form = form_of(qtbot, BITS, many, LAYERS, SHARE, flag, WORD, FILE, WHO, library=library)
    kinds = {"bits": SegmentEditor, "many": ComboEditor, "layers": IntEditor, "share": FloatEditor, "flag": BoolEditor}
    kinds |= {"word": TextEditor, "file": FileEditor, "who": VariantEditor}
    assert {name: type(form.editor(name)) for name in kinds} == kinds


def test_values_keep_their_types(qtbot):
    form = form_of(qtbot, BITS, SHARE, LAYERS, WORD, RATE)
    assert form.values() == {"bits": 8, "share": 0.5, "layers": None, "word": "a", "rate": 3e-4}
    assert isinstance(form.values()["share"], float)
    form.set_values({"bits": 4, "share": 0.25, "layers": 3, "word": "b", "rate": 1e-5})
    assert form.values() == {"bits": 4, "share": 0.25, "layers": 3, "word": "b", "rate": 1e-5}


def test_one_and_true_are_told_apart(qtbot):
    knob = Knob(name="x", kind="choice", title="X", help="", default=True, choices=((1, "one"), (True, "yes")))
    form = form_of(qtbot, knob)
    assert form.values()["x"] is True
    form.set_values({"x": 1})
    assert form.values()["x"] == 1
    assert form.values()["x"] is not True


def test_a_knob_that_does_not_apply_is_hidden_and_left_out(qtbot):
    form = form_of(qtbot, BITS, GROUP, INNER)
    assert form.values() == {"bits": 8}
    assert not form.editor("group").isVisible()
    form.set_values({"bits": 4})
    assert form.values() == {"bits": 4, "group": 64, "inner": True}
    assert form.editor("group").isVisible()
    form.set_values({"group": 128})
    assert "inner" not in form.values()


def test_what_hangs_on_a_hidden_knob_is_hidden_too(qtbot):
    form = form_of(qtbot, BITS, GROUP, INNER)
    assert not form.shown("inner")  # group is 64 in its widget, but it doesn't apply at 8 bits


def test_advanced_knobs_are_folded_until_asked_for_or_wrong(qtbot):
    hidden = RATE.model_copy(update={"advanced": True})
    form = form_of(qtbot, BITS, hidden)
    assert not form.editor("rate").isVisible()
    assert form.values()["rate"] == 3e-4  # folded, not left out
    form.more.click()
    assert form.editor("rate").isVisible()
    form.more.click()
    form.set_values({"rate": 0.0})
    assert form.editor("rate").isVisible()


def test_no_advanced_knobs_no_fold(qtbot):
    assert form_of(qtbot, BITS).more.isHidden()


def test_an_open_bound_is_told_beside_the_knob_once_it_was_touched(qtbot):
    form = form_of(qtbot, SHARE)
    assert form.problem() is None
    form.editor("share").box.setValue(1.0)
    assert "Share" in form.problem()
    assert "less than 1" in form.problem()
    assert "less than 1" in form._fields["share"].caption.text()
    form.editor("share").box.setValue(0.3)
    assert form.problem() is None
    assert form._fields["share"].caption.text() == "Of one."


def test_nothing_shouts_before_it_was_touched(qtbot):
    needed = Knob(
        name="who", kind="choice", title="Who", help="The help.", default=None, choices=tuple((c, f"choice {c}") for c in "abcdefgh")
    )
    form = form_of(qtbot, needed)
    form.editor("who").setCurrentIndex(-1)
    form._fields["who"].touched = False
    form.set_values({})
    assert form.problem() == "Who: choose one."
    assert form._fields["who"].caption.text() == "The help."


@pytest.mark.parametrize(("typed", "value"), [("0.00003", 3e-5), ("3e-5", 3e-5), ("1e-3", 1e-3), ("0,5", 0.5)])
def test_small_numbers_can_be_typed_either_way(qtbot, typed, value):
    form = form_of(qtbot, RATE)
    box = form.editor("rate").box
    box.lineEdit().setText(typed)
    box.interpretText()
    assert form.values()["rate"] == value


def test_small_numbers_are_shown_short(qtbot):
    form = form_of(qtbot, RATE)
    form.set_values({"rate": 3e-5})
    assert form.editor("rate").box.text() == "3e-5"


def test_steps_add_up_to_round_numbers(qtbot):
    form = form_of(qtbot, SHARE.model_copy(update={"default": 0.1, "step": 0.1}))
    form.editor("share").box.stepBy(2)
    assert form.values()["share"] == 0.3  # not 0.30000000000000004


def test_slider_and_box_follow_each_other(qtbot):
    form = form_of(qtbot, SHARE)
    editor = form.editor("share")
    editor.slider.setValue(700)
    assert form.values()["share"] == 0.7
    editor.box.setValue(0.25)
    assert editor.slider.value() == 250


def test_a_slider_of_small_numbers_goes_by_powers_of_ten(qtbot):
    """A learning rate of 1e-4 stood at the very left of a slider from 0 to 1, whose next notch was 1e-3."""
    form = form_of(qtbot, RATE.model_copy(update={"default": 1e-4, "low": 0, "low_open": True, "high": 1}))
    editor = form.editor("rate")
    assert editor.slider.value() == 333  # 1e-6 to 1
    editor.slider.setValue(500)
    assert form.values() == {"rate": 1e-3}
    editor.box.setValue(1e-8)
    assert editor.slider.value() == 0
    assert form.values() == {"rate": 1e-8}
    assert form.problem() is None


@pytest.mark.parametrize("kind", ["int", "float"])
def test_an_optional_number_can_be_emptied(qtbot, kind):
    form = form_of(qtbot, LAYERS.model_copy(update={"kind": kind, "unit": "layers"}))
    form.set_values({"layers": 4})
    editor = form.editor("layers")
    box = editor if kind == "int" else editor.box
    box.lineEdit().clear()
    box.interpretText()
    assert form.values() == {"layers": None}
    assert box.text() == "not set"


def test_an_optional_number_may_be_left_out(qtbot):
    form = form_of(qtbot, LAYERS)
    assert form.editor("layers").text() == "not set"
    form.editor("layers").stepBy(1)
    assert form.values() == {"layers": 1}
    form.editor("layers").stepBy(-1)
    assert form.values() == {"layers": None}


def test_units_are_suffixes(qtbot):
    form = form_of(qtbot, LAYERS.model_copy(update={"unit": "layers", "default": 4, "optional": False}))
    assert form.editor("layers").text() == "4 layers"


def test_variants_that_do_not_fit_are_greyed_with_the_reason(qtbot, library):
    mine = library.variant("seven")
    form = form_of(qtbot, WHO, library=library, variant=mine)
    combo = form.editor("who")
    model = combo.model()
    assert isinstance(model, QStandardItemModel)
    why = {combo.itemData(i): (model.item(i).isEnabled(), model.item(i).toolTip()) for i in range(combo.count())}
    assert why[None] == (True, "")
    assert why["one"] == (True, "")
    assert why["seven"] == (False, "It's the model itself.")
    assert why["other"] == (False, "Its tokenizer has other tokens.")


def test_where_no_variant_is_named_it_says_what_that_means(qtbot, library):
    """Where a new student was designed, the choice of student read 'None chosen'."""
    mine = library.variant("seven")
    assert form_of(qtbot, WHO, library=library, variant=mine).editor("who").currentText() == "None chosen"
    form = form_of(qtbot, WHO.model_copy(update={"empty": "A new one"}), library=library, variant=mine)
    assert form.editor("who").currentText() == "A new one"
    assert form.values() == {"who": None}


def test_a_chosen_variant_survives_a_change_of_the_library(qtbot, library):
    form = form_of(qtbot, WHO, library=library, variant=library.variant("seven"))
    form.set_values({"who": "one"})
    assert form.values() == {"who": "one"}
    with library.workspace.staging("new") as staged:
        library.workspace.commit(staged, stand_ins.variant("new"))
    library.refresh()
    assert form.values() == {"who": "one"}
    assert form.editor("who").findData("new") > 0
    library.delete("one")
    assert form.values() == {"who": None}


def test_a_variant_that_is_gone_is_not_chosen_from_memory(qtbot, library):
    form = form_of(qtbot, WHO, library=library, variant=library.variant("seven"))
    form.set_values({"who": "long-gone"})
    assert form.values() == {"who": None}
    assert form.problem() is None


def test_a_file_that_is_not_there_is_a_problem(qtbot, tmp_path):
    form = form_of(qtbot, FILE)
    assert form.problem() is None
    form.editor("file").line.setText(str(tmp_path / "no.txt"))
    assert form.problem() == "File: There is no such file."
    (tmp_path / "no.txt").write_text("x")
    form.editor("file").line.setText("")
    form.editor("file").line.setText(str(tmp_path / "no.txt"))
    assert form.problem() is None


def test_only_files_of_this_machine_are_taken_from_a_drop(tmp_path):
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/x"), QUrl.fromLocalFile(str(tmp_path))])
    assert local_paths(data) == [str(tmp_path)]
    assert local_paths(QMimeData()) == []


def test_remembered_values_that_no_longer_fit_do_no_harm(qtbot):
    form = form_of(qtbot, LAYERS, SHARE, BITS)
    form.set_values({"gone": 1, "layers": "many", "share": 7, "bits": "none of these"})
    assert form.values() == {"layers": None, "share": 1.0, "bits": 8}


def test_changed_tells_of_every_edit(qtbot):
    form = form_of(qtbot, BITS, SHARE, WORD)
    told = []
    form.changed.connect(lambda: told.append(form.values()))
    form.editor("share").box.setValue(0.1)
    form.editor("word").setText("b")
    form.editor("bits")._group.button(1).click()
    assert [len(told), told[-1]] == [3, {"bits": 4, "share": 0.1, "word": "b"}]


def test_two_columns_where_there_is_room(qtbot):
    form = form_of(qtbot, BITS, LAYERS, SHARE)
    grid = form.findChildren(FieldGrid)[0]
    first, second = form._fields["bits"], form._fields["layers"]
    qtbot.waitUntil(lambda: first.y() == second.y() and first.x() < second.x())
    form.resize(300, 500)
    qtbot.waitUntil(lambda: first.y() < second.y() and first.x() == second.x())
    assert grid.width() <= 300


def test_a_form_in_a_narrow_page_does_not_end_beyond_its_edge(qtbot):
    """Fields that need more than half of a narrow page come to stand one below the other."""
    page = QScrollArea()
    page.setWidgetResizable(True)
    page.setWidget(Form((BITS, LAYERS)))
    qtbot.addWidget(page)
    first, second = (page.widget()._fields[name] for name in ("bits", "layers"))
    for field in (first, second):
        field.editor.setMinimumWidth(TWO_COLUMNS - 100)
    page.resize(TWO_COLUMNS + 60, 400)
    page.show()
    qtbot.wait(50)
    assert page.widget().width() <= page.viewport().width()
    assert first.y() < second.y()
    assert first.x() == second.x()
    page.resize(2 * TWO_COLUMNS, 400)
    qtbot.waitUntil(lambda: first.y() == second.y() and first.x() < second.x(), timeout=1000)


def test_every_registered_method_takes_what_its_form_gives(qtbot, library):
    """The form is made from the knobs as they cross the pipe; the method's own Params must accept its defaults unchanged."""
    from core import methods

    for info in methods.catalogue():
        assert not info.error, info.error
        form = form_of(qtbot, *info.knobs, library=library, variant=library.variant("seven"))
        method = methods.get(info.name)
        checked = params.check(method.params, form.values(), of=info.name)
        assert checked == method.params(), info.name
        assert form.problem() is None
