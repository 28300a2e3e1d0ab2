"""The main job through the real window, with real workers: open the starter models, quantize, see the point, decode, export."""

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QPushButton

import resources
from app.main_window import MainWindow
from app.settings import Settings
from core.workspace import Workspace, write_atomically

PATIENCE = 200_000  # ms; a loaded machine is slow, and the test is about what happens, not how fast


def press(qtbot, parent, name: str) -> None:
    button = parent.findChild(QPushButton, name)
    assert button is not None, name
    qtbot.waitUntil(button.isEnabled, timeout=PATIENCE)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def through(qtbot, wizard: QDialog) -> str:
    """Presses Next until Finish is there, then Finish; returns the job's id."""
    jobs = []
    wizard.submitted.connect(jobs.append)
    while not wizard.flow.last:
        press(qtbot, wizard, "next")
    press(qtbot, wizard, "finish")
    assert jobs
    return jobs[0]


@pytest.fixture
def window(qtbot, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    # the starter's text, but less of it: what's measured here is whether, not how well
    text = tmp_path / "held-out.txt"
    text.write_text(resources.HELDOUT_TEXT.read_text(encoding="utf-8")[:9_000], encoding="utf-8")
    workspace = Workspace(tmp_path / "bench", create=True)
    write_atomically(workspace.folder / "workspace.json", workspace.settings.model_copy(update={"text": str(text)}).model_dump_json())
    made = MainWindow(workspace.folder, starter=True, settings=Settings(tmp_path / "settings.ini"))
    made.show()
    yield made
    made.close_now()
    QApplication.processEvents()
    made.deleteLater()


@pytest.mark.slow
@pytest.mark.skipif(not resources.STARTER_TARGET.exists(), reason="the starter models aren't here")
@pytest.mark.timeout(600)
def test_open_quantize_decode_export(qtbot, window, tmp_path):
    begun = time.monotonic()
    board, library = window.board, window.library

    def finished(job: str) -> bool:
        state = board.state(job)
        assert state is not None
        assert state.status not in ("failed", "cancelled"), state.failure
        return state.status == "finished"

    # both starter models come in, each with its baseline
    qtbot.waitUntil(lambda: len(board.states()) == 2, timeout=PATIENCE)
    for state in board.states():
        qtbot.waitUntil(lambda s=state: finished(s.job.id), timeout=PATIENCE)
    qtbot.waitUntil(lambda: len(library.variants()) == 2, timeout=PATIENCE)
    by_name = {v.name: v for v in library.variants()}
    target, draft = by_name["shakespeare-7m"], by_name["shakespeare-1m"]
    baseline = library.latest(target.id, "perplexity")
    assert baseline.stderr > 0

    # quantize through the wizard; the point appears
    before = len(window.tradeoff.plot.dots)
    job = through(qtbot, window.open_wizard("quantization", target.id))
    qtbot.waitUntil(lambda: finished(job), timeout=PATIENCE)
    qtbot.waitUntil(lambda: len(library.variants()) == 3, timeout=PATIENCE)
    made = next(v for v in library.variants() if v.parent == target.id)
    assert made.ledger.bytes_on_disk < 0.75 * target.ledger.bytes_on_disk
    assert library.latest(made.id, "perplexity").value < 1.05 * baseline.value
    qtbot.waitUntil(lambda: len(window.tradeoff.plot.dots) == before + 1, timeout=PATIENCE)

    # decode, the small one drafting for the large one
    window.do("decode", target.id)
    window.do("draft", draft.id)
    policy = window.decode.controls.policy
    policy.setCurrentIndex(policy.findData("fixed"))  # the adaptive one may find that nothing pays on a busy machine
    window.decode.run()
    qtbot.waitUntil(lambda: not window.decode.live and window.decode.shown_run is not None, timeout=PATIENCE)
    run = window.decode.shown_run
    assert run.result["tested"] > 0
    assert run.result["text"]

    # export, checked by onnxruntime
    wizard = window.open_wizard("export", target.id)
    job = through(qtbot, wizard)
    qtbot.waitUntil(lambda: finished(job), timeout=PATIENCE)
    result = board.state(job).result
    assert (tmp_path / "bench").exists()
    assert result["report"]["max_abs"] <= 1e-3
    assert result["report"]["top1"] == 1.0
    print(f"journey: {time.monotonic() - begun:.0f} s")
    for dialog in QApplication.topLevelWidgets():
        if isinstance(dialog, QDialog) and dialog.isVisible():
            dialog.close()
