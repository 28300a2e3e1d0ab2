"""The window as a whole, over a board that starts nothing: layout, actions, pages, wizards, workspaces, closing."""

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, QSettings, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QDialog

import resources
from app.language import install_language
from app.main_window import MainWindow, droppable, wants_dark
from app.settings import Settings
from app.status_bar import StatusBar
from app.theme import theme
from app.wizards import base
from core import events
from core.records import ImportSpec
from core.workspace import Workspace
from tests.app.invented import TREE, StillBoard, invent_jobs, invent_variant, invent_workspace, measured, put


@pytest.fixture(autouse=True)
def alone(qapp, tmp_path, monkeypatch):
    """No test sees a person's settings, and each leaves the application as it found it."""
    monkeypatch.setattr(base, "store", lambda: QSettings(str(tmp_path / "wizards.ini"), QSettings.Format.IniFormat))
    yield
    theme().set_dark(False)
    install_language(qapp, "en")


def make(qtbot, folder, *, jobs=False, size=(1440, 900), **more):
    board = StillBoard()
    window = MainWindow(folder, board=board, settings=Settings(folder.parent / "settings.ini"), **more)
    window.confirm = lambda *asked: pytest.fail(f"asked {asked}")
    if jobs:
        invent_jobs(board, folder)
    window.resize(*size)
    qtbot.addWidget(window, before_close_func=lambda w: board._states.clear())
    window.show()
    return window


@pytest.fixture
def window(qtbot, tmp_path):
    invent_workspace(tmp_path / "tiny stories")
    return make(qtbot, tmp_path / "tiny stories")


@pytest.fixture
def empty(qtbot, tmp_path):
    return make(qtbot, tmp_path / "fresh")


def test_an_empty_workspace_offers_the_two_ways_to_begin(empty):
    assert empty.tradeoff.empty.isVisible()
    assert not empty.inspector.isVisible()
    assert empty.actions_["open"].isEnabled()
    assert not empty.actions_["prune"].isEnabled()
    assert empty.actions_["prune"].toolTip() == "Open a model first"
    assert empty.open_wizard("pruning") is None
    assert (empty.library.workspace.folder / "workspace.json").is_file()


def test_the_starter_models_are_brought_in_once(empty, qtbot):
    empty.tradeoff.starter_wanted.emit()
    specs = [spec for spec, _, _ in empty.board.submitted]
    assert [Path(s.source).name for s in specs] == [resources.STARTER_TARGET.name, resources.STARTER_DRAFT.name]
    assert all(isinstance(s, ImportSpec) and s.measure for s in specs)
    assert empty.tradeoff.opening.isVisible()
    empty.open_starter()
    assert len(empty.board.submitted) == 2  # they're on their way
    for at, source in enumerate((resources.STARTER_TARGET, resources.STARTER_DRAFT)):
        v = invent_variant(f"s{at}", source.name, None, "original", "import", {}, 28, 7, 7, at)
        put(empty.library.workspace, v.model_copy(update={"origin": source.name}), measured(40, 1, 100, None))
    empty.board._states.clear()
    empty.library.refresh()
    empty.open_starter()
    assert len(empty.board.submitted) == 2  # they're there
    assert "already" in empty.status.said.text()


def test_layout_of_the_design(window):
    assert window.tree.width() == pytest.approx(328, abs=12)
    assert window.inspector.width() == pytest.approx(288, abs=12)
    assert window.jobs.height() == pytest.approx(216, abs=12)
    assert window.windowTitle() == "tiny stories — Spokeshave"
    assert all(a.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon for a in window.actions_.values())


@pytest.mark.parametrize("size", [(1024, 700), (720, 450)])
def test_small_windows_lose_words_but_nothing_else(qtbot, tmp_path, size):
    invent_workspace(tmp_path / "ws")
    window = make(qtbot, tmp_path / "ws", jobs=True, size=size)
    window.library.select("kdint8")
    assert window.width() == size[0]
    assert window.height() == size[1]
    for action in window.actions_.values():
        assert action.isVisible()
        assert action.geometry().right() <= window.width()
    assert window.menu_button.geometry().right() <= window.width()
    assert window.tradeoff.plot.width() > 150
    window.grab()


def test_the_decode_page_takes_the_width(window):
    window.show_page("decode")
    assert window.centre.currentWidget() is window.decode
    assert not window.inspector.isVisible()
    assert not window.jobs.isVisible()
    assert window.status.isVisible()
    window.show_page("tradeoff")
    assert window.inspector.isVisible()
    assert window.jobs.isVisible()
    with pytest.raises(ValueError, match="unknown page"):
        window.show_page("nowhere")


def test_decode_with_and_use_as_draft(window):
    window.do("decode", "tiny")
    assert window.page == "decode"
    window.do("draft", "student")
    assert window.decode.controls.draft.currentData() == "student"


@pytest.mark.parametrize("family", ["open", "pruning", "quantization", "distillation", "recovery", "evaluate", "export"])
def test_every_wizard_opens_over_the_window(window, family):
    wizard = window.open_wizard(family, "tiny" if family != "open" else "")
    assert wizard.isVisible()
    wizard.reject()


def test_a_submitted_job_returns_to_the_plot(window, qtbot):
    window.show_page("decode")
    wizard = window.open_wizard("evaluate", "int4")
    job = window.board.submit(ImportSpec(workspace="/w", source="x"), "another")
    wizard.submitted.emit(job)
    assert window.page == "tradeoff"
    assert window.jobs.current == job
    wizard.reject()


def test_restart_opens_the_wizard_with_the_jobs_settings(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws")
    window = make(qtbot, tmp_path / "ws", jobs=True)
    failed = next(s for s in window.board.states() if s.status == "failed")
    wizard = window.restart(failed.job)
    assert wizard.plan.source.id == "tiny"
    assert base.recall("compress/pruning")["params"]["magnitude"] == {"sparsity": 0.4}
    assert base.recall("compress/pruning")["method"] == "magnitude"
    wizard.reject()
    opened = window.restart(window.board.put(ImportSpec(workspace="/w", source="/models/x"), "Open x").job)
    assert opened.plan.source == "/models/x"
    opened.reject()


def test_delete_asks_and_explains_a_refusal(window, qtbot, monkeypatch):
    asked = []
    window.confirm = lambda *words: asked.append(words) or True
    window.do("delete", "int4")
    assert window.library.get("int4") is None
    assert "int4 g32" in asked[0][0]
    shown = []
    monkeypatch.setattr("app.main_window.show_failure", lambda *a: shown.append(a))
    window.do("delete", "kd")
    assert "can't be deleted" in str(shown[0][1])
    window.confirm = lambda *words: False
    window.do("delete", "int3")
    assert window.library.get("int3") is not None


def test_recipe_to_the_clipboard(window):
    window.do("recipe", "int4")
    assert QGuiApplication.clipboard().text() == window.library.variant("int4").recipe.to_yaml()
    assert "int4 g32" in window.status.said.text()
    window.do("decode", "gone")  # nothing happens for a variant that isn't there
    with pytest.raises(ValueError, match="unknown action"):
        window.do("fly", "int4")


def test_events_bring_what_is_new(window):
    put(
        window.library.workspace,
        invent_variant("new", "new", "tiny", "quantized", "rtn", {}, 30, 42, 42, 59),
        measured(13, 0.1, 60, "tiny"),
    )
    window.board.event.emit(events.VariantAdded("j", "new"))
    assert window.library.get("new") is not None
    assert any(d.variant.id == "new" for d in window.tradeoff.plot.dots)


def test_theme_and_settings_are_kept(window, qtbot):
    assert not theme().dark
    window.toggle_theme()
    assert theme().dark
    assert window.settings.theme == "dark"
    dialog = window.show_settings()
    dialog.theme.setCurrentIndex(dialog.theme.findData("light"))
    dialog.threads.setValue(1)
    dialog.accept()
    assert not theme().dark
    assert window.settings.threads == 1
    assert wants_dark("dark")
    assert not wants_dark("light")


def test_language_is_switched_in_place(window):
    window.library.select("int4")
    window.set_language("zh_CN")
    assert window.actions_["quantize"].text() != "Quantize"
    assert window.tree.search.placeholderText() != "Filter variants"
    assert window.library.selection == "int4"
    assert window.inspector.isVisible()
    assert window.tree.width() == pytest.approx(328, abs=12)
    window.board.event.emit(events.Progress("nobody", "x", 1, 2))
    window.library.changed.emit()  # the old views are gone, and hear nothing
    window.library.select("int8")
    window.grab()
    window.set_language("en")
    assert window.actions_["quantize"].text() == "Quantize"
    assert window.settings.language == "en"


def test_every_shortcut_is_listed_and_none_twice(window):
    keys = [entry[0] for entry in window._keys().values()]
    assert len(keys) == len(set(keys))
    dialog = window.show_shortcuts()
    dialog.accept()
    about = window.show_about()
    about.accept()


def test_keys_work(window, qtbot):
    window.activateWindow()
    qtbot.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert window.page == "decode"
    qtbot.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert window.page == "tradeoff"
    qtbot.keyClick(window, Qt.Key.Key_I, Qt.KeyboardModifier.ControlModifier)
    assert not window.inspector.isVisible()


def test_dropped_models_go_to_the_wizard_and_workspaces_are_opened(window, tmp_path, qtbot):
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    (tmp_path / "notes.txt").write_text("x")
    assert droppable(model)
    assert droppable(tmp_path)
    assert not droppable(tmp_path / "notes.txt")
    wizard = window.dropped(model)
    assert wizard.plan.source == str(model)
    wizard.reject()
    weights = tmp_path / "some" / "model.safetensors"
    weights.parent.mkdir()
    weights.write_bytes(b"x")
    wizard = window.dropped(weights)
    assert wizard.plan.source == str(weights.parent)
    wizard.reject()
    other = Workspace(tmp_path / "other", create=True).folder
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(other))])
    drop = QDropEvent(
        QPointF(10, 10), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QDropEvent.Type.Drop
    )
    window.dropEvent(drop)
    qtbot.waitUntil(lambda: window.library.workspace.folder == other)
    assert window.settings.workspace == other


def test_a_folder_that_isnt_a_workspace_is_refused_and_the_old_one_stays(window, tmp_path, qtbot, monkeypatch):
    (tmp_path / "photos").mkdir()
    shown = []
    monkeypatch.setattr("app.main_window.show_failure", lambda *a: shown.append(a))
    before = window.library.workspace.folder
    assert not window.open_workspace(tmp_path / "photos", create=False)
    qtbot.waitUntil(lambda: bool(shown))
    assert "is not a Spokeshave workspace" in str(shown[0][1])
    assert window.library.workspace.folder == before
    assert len(window.library.variants()) == len(TREE)


def test_closing_while_jobs_run_asks(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws")
    window = make(qtbot, tmp_path / "ws", jobs=True)
    asked = []
    window.confirm = lambda *words: asked.append(words) or False
    window.close()
    assert window.isVisible()
    assert "Distil student 12M" in asked[0][1]
    assert not window.board.closed
    window.confirm = lambda *words: True
    window.close()
    assert not window.isVisible()
    assert window.board.closed


def test_closing_with_nothing_running_doesnt_ask_and_remembers(window, tmp_path):
    window.close()
    assert window.board.closed
    assert window.settings.workspace == window.library.workspace.folder
    assert not window.settings.layout("window").isEmpty()
    assert not window.settings.layout("across").isEmpty()


def test_a_signal_closes_without_asking(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws")
    window = make(qtbot, tmp_path / "ws", jobs=True)
    window.close_now()
    assert window.board.closed


def test_status_bar_says_what_runs_and_what_is_held(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws")
    window = make(qtbot, tmp_path / "ws", jobs=True)
    window.board.memory = events.Memory("", 1_430_000_000, 3_100_000_000, 130_000_000_000)
    window.status.refresh()
    assert window.status.jobs.text() == "1 job running · 1 queued"
    assert window.status.bar.share == pytest.approx(744 / 1200)
    assert "1 spare" in window.status.worker.text()
    assert "CPU" in window.status.device.text()
    assert "GPU 3.10 GB used, 130 GB free" in window.status.memory.text()
    assert "1.43 GB" in window.status.memory.toolTip()
    window.show_page("decode")
    qtbot.mouseClick(window.status, Qt.MouseButton.LeftButton)
    assert window.page == "tradeoff"


@pytest.mark.parametrize(("threads", "said"), [(1, "CPU \u00b7 1 thread"), (2, "CPU \u00b7 2 threads")])
def test_one_thread_is_no_plural(window, qtbot, threads, said):
    bar = StatusBar(window.board, threads)
    qtbot.addWidget(bar)
    assert bar.device.text() == said


def test_a_workspace_that_goes_away_is_told_once(window, monkeypatch):
    shown = []
    monkeypatch.setattr("app.main_window.show_failure", lambda *a: shown.append(a))
    shutil.rmtree(window.library.workspace.folder)
    window.library.refresh()
    window.library.refresh()
    assert len(shown) == 1
    assert "isn't there any more" in str(shown[0][1])
    assert not window.library.variants()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("wide", [1440, 1200, 1024, 900, 700])
def test_the_workspaces_name_is_whole_or_not_there(window, language, wide):
    window.resize(wide, 700)
    window.set_language(language)
    QGuiApplication.processEvents()
    name = window.workspace_name
    assert not name.isVisible() or name.width() >= min(name.sizeHint().width(), 150)
    assert window.width() == wide


def test_what_looks_into_a_variant_opens_from_its_menu(window):
    """Heads, gradients and activations: none starts a job before a person asks, but for the reading of activations."""
    for action, name in (("heads", "heads"), ("gradients", "gradients"), ("layers", "histograms")):
        window.do(action, "tiny")
        dialog = next(d for d in window.findChildren(QDialog) if d.objectName() == name)
        assert dialog.isVisible()
        dialog.close()
    assert [spec.kind for spec, *_ in window.board.submitted] == ["activation-look"]
