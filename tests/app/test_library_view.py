"""The tree as it's used: keys, filter, menu, selection."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from app.library_model import IdRole, Library
from app.library_view import LibraryView, marks
from tests.app.invented import StillBoard, invent_workspace


@pytest.fixture
def view(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws")
    library = Library()
    library.open(tmp_path / "ws")
    view = LibraryView(library, StillBoard())
    view.resize(328, 600)
    qtbot.addWidget(view)
    view.show()
    yield view
    library.close()


def test_tree_and_library_share_the_selection(view):
    view.library.select("kdint8")
    assert view.tree.currentIndex().data(IdRole) == "kdint8"
    view.tree.setCurrentIndex(view.model.index_of("int4"))
    assert view.library.selection == "int4"
    view.library.select("")
    assert not view.tree.selectionModel().hasSelection()


def test_selection_and_folded_branches_survive_a_change(view):
    view.library.select("int4")
    view.tree.setExpanded(view.model.index_of("heads"), False)
    view.library.changed.emit()
    assert view.tree.currentIndex().data(IdRole) == "int4"
    assert view.library.selection == "int4"
    assert not view.tree.isExpanded(view.model.index_of("heads"))
    assert view.tree.isExpanded(view.model.index_of("student"))


def test_filter_and_its_keys(view, qtbot):
    qtbot.keyClicks(view.search, "int4")
    assert view.model.filter == "int4"
    assert view.tree.isExpanded(view.model.index_of("kd"))
    qtbot.keyClick(view.search, Qt.Key.Key_Escape)
    assert view.search.text() == ""
    qtbot.keyClicks(view.search, "zzz")
    assert view.nothing.isVisible()
    assert "zzz" in view.nothing.text()


def test_enter_decodes_and_delete_asks(view, qtbot):
    view.library.select("int4")
    with qtbot.waitSignal(view.wanted) as asked:
        qtbot.keyClick(view.tree, Qt.Key.Key_Return)
    assert asked.args == ["decode", "int4"]
    with qtbot.waitSignal(view.wanted) as asked:
        qtbot.keyClick(view.tree, Qt.Key.Key_Delete)
    assert asked.args == ["delete", "int4"]


def test_f2_renames(view, qtbot):
    view.library.select("int4")
    qtbot.keyClick(view.tree, Qt.Key.Key_F2)
    editor = view.tree.findChild(QLineEdit, "rename")
    assert editor is not None
    editor.setText("smaller")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: view.library.variant("int4").name == "smaller")  # the editor hands in its text a moment later


def test_menu_offers_what_fits(view, qtbot):
    menu = view.menu("int4")
    actions = {a.objectName().removeprefix("menu_"): a for a in menu.actions() if a.objectName()}
    assert set(actions) == {
        "decode", "draft", "prune", "quantize", "distil", "finetune", "evaluate", "export", "layers", "sensitivity", "heads", "gradients",
        "rename", "folder", "recipe", "delete",
    }  # fmt: skip
    with qtbot.waitSignal(view.wanted) as asked:
        actions["quantize"].trigger()
    assert asked.args == ["quantize", "int4"]
    menu.close()


def test_damaged_records_are_told(view):
    (view.library.workspace.path("int2") / "variant.json").write_text("{", encoding="utf-8")
    view.library.refresh()
    assert "1" in view.nothing.text()
    assert view.nothing.isVisible()


def test_narrow_trees_keep_the_names(view):
    view.resize(230, 500)
    assert view.tree.isColumnHidden(1)
    view.resize(328, 500)
    assert not view.tree.isColumnHidden(1)


def test_marks():
    assert marks("KD-recovered · int4 g64", "int4") == [(15, 19)]
    assert marks("aXbxa", "x a") == [(0, 2), (3, 5)]
    assert marks("straße", "ss") == []
    assert marks("abc", "abcd") == []
