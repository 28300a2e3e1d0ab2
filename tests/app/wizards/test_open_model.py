"""The wizard that opens a model."""

import io
import typing

import pytest
from PIL import Image
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

import resources
from app.samples import Pictures
from app.wizards.base import Card
from app.wizards.open_model import OpenModelWizard
from core import events
from core.records import SourceInfo, Task
from tests.app.wizards import stand_ins as S


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    return path


@pytest.fixture
def wizard(qtbot, library, board):
    def make(source="", reply=lambda spec: {"info": S.info("fresh")}):
        board.reply = reply
        made = OpenModelWizard(library, board, str(source))
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(made)
        made.show()
        return made

    return make


def test_from_folder_to_job(qtbot, wizard, board, folder):
    w = wizard(folder)
    assert w.source.kind.text() == "A folder on this machine."
    w.next_button.click()
    assert w.flow.page == "what"
    assert w.what.told.isVisible()
    w.next_button.click()
    assert w.baseline.name.text() == "fresh"
    w.next_button.click()
    assert w.finish_button.text() == "Open"
    with qtbot.waitSignal(w.submitted):
        w.finish_button.click()
    spec, title, device = board.submitted[0]
    assert (spec.kind, spec.source, spec.name, spec.measure, device) == ("import", str(folder), "fresh", True, "cpu")
    assert title == "Open fresh"


def test_nothing_is_typed_yet(wizard):
    w = wizard()
    assert w.reason.text() == "Choose a model first."
    assert "config.json" in w.source.kind.text()


def test_a_folder_is_read_ahead_and_the_hub_is_not_asked_while_typing(qtbot, wizard, board, folder):
    asked = []
    w = wizard(reply=lambda spec: asked.append(spec.source) or {"info": S.info()})
    w.source.line.setText("org/name")
    qtbot.wait(600)
    assert asked == []
    w.source.line.setText(str(folder))
    qtbot.waitUntil(lambda: asked == [str(folder)], timeout=3000)


def test_a_hub_id_says_what_it_will_download(wizard):
    w = wizard("org/name", lambda spec: {"info": S.info("name", kind="hub", bytes_on_disk=269_000_000)})
    w.next()
    assert w.what.notice.text() == "Opening it will download 269 MB from the Hub."


def test_what_it_is_is_told_in_full(wizard, folder):
    w = wizard(folder, lambda spec: {"info": S.info(warnings=("A warning.",))})
    w.next()
    words = " ".join(text for pair in w.what._pairs(S.info()) for text in pair)
    for expected in ("LlamaForCausalLM", "7.35 M", "14.9 MB", "BF16", "8 heads in 2 groups", "Tokenizer yes"):
        assert expected in words
    assert w.what.warnings.count() == 1
    assert "29.4 MB" in w.what.memory_text.text()
    assert not w.what.remote.isVisible()


def test_what_is_not_known_is_called_unknown(wizard):
    w = wizard()
    bare = S.info(parameters=None, context=None, tied=None, bytes_on_disk=None, tokenizer=False, layers=None, hidden=None, heads=None)
    pairs = dict(w.what._pairs(bare))
    assert (pairs["Parameters"], pairs["Size on disk"], pairs["Tied embedding"], pairs["Tokenizer"]) == (
        "unknown",
        "unknown",
        "unknown",
        "missing",
    )


def test_a_failure_is_a_sentence_with_a_way_out(wizard, folder):
    w = wizard(folder, lambda spec: events.Failed("x", "model", "{folder} has no weights.", "Download them.", "", {"folder": "It"}))
    w.next()
    assert w.what.notice.text() == "It has no weights. Download them."
    assert not w.next_button.isEnabled()
    assert w.reason.text() == "This model can't be opened."


def test_own_code_runs_only_where_it_was_ticked(wizard, board, folder):
    asked = []

    def reply(spec):
        asked.append(spec.remote_code)
        return {"info": S.info("code", remote_code=True)}

    w = wizard(folder, reply)
    w.next()
    assert not w.next_button.isEnabled()
    assert w.what.remote.isVisible()
    w.what.remote.setChecked(True)
    assert asked == [False, True]
    assert w.next_button.isEnabled()
    w.next()
    w.next()
    w.finish()
    assert board.submitted[0][0].remote_code


def test_leave_to_run_code_is_not_carried_over_to_another_model(wizard, folder, tmp_path):
    w = wizard(folder, lambda spec: {"info": S.info("code", remote_code=True)})
    w.next()
    w.what.remote.setChecked(True)
    w.back()
    (tmp_path / "second").mkdir()
    w.source.line.setText(str(tmp_path / "second"))
    w.next()
    assert not w.plan.remote_code
    assert not w.what.remote.isChecked()
    assert not w.next_button.isEnabled()


def test_a_late_answer_is_to_the_old_question(qtbot, wizard, board, folder, tmp_path):
    w = wizard(folder, None)
    w.next()
    assert not w.next_button.isEnabled()
    first = board.asked[board.last_asked()][1]
    (tmp_path / "second").mkdir()
    w.back()
    w.source.line.setText(str(tmp_path / "second"))
    first(events.Finished("x", {"info": S.info("old")}))
    assert w.plan.info is None


def test_a_worker_that_is_starting_is_waited_for(qtbot, library, folder):
    cold = S.Board(None)
    w = OpenModelWizard(library, cold, str(folder))
    w.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(w)
    w.next()
    assert "still starting" in w.what.notice._text.text()
    cold.catalogue = S.catalogue()
    cold.answer(cold.last_asked(), {"info": S.info("fresh")})
    assert w.next_button.isEnabled()


def test_dropping_a_weight_file_takes_its_folder(wizard, folder):
    (folder / "model.safetensors").write_bytes(b"x")
    w = wizard()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(folder / "model.safetensors"))])
    event = QDropEvent(QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    w.source.zone.dropEvent(event)
    assert w.source.line.text() == str(folder)


def test_a_starter_model_is_one_click(wizard, board, folder, monkeypatch):
    (folder / "config.json").write_text("{}")
    monkeypatch.setattr(resources, "STARTER_TARGET", folder)
    w = wizard()
    w.source.findChild(Card, f"starter:{folder.name}").click()
    assert (w.plan.source, w.flow.page) == (str(folder), "what")


def test_without_a_baseline_no_text_is_asked_for(wizard, board, folder):
    w = wizard(folder)
    w.next()
    w.next()
    w.baseline.text.own.setChecked(True)
    assert not w.next_button.isEnabled()
    w.baseline.measure.setChecked(False)
    assert w.next_button.isEnabled()
    w.next()
    w.finish()
    assert not board.submitted[0][0].measure


def test_last_choices_come_back(wizard, folder):
    w = wizard(folder)
    for _ in range(2):
        w.next()
    w.baseline.dtype.setCurrentIndex(w.baseline.dtype.findData("bfloat16"))
    w.baseline.tokens.setCurrentIndex(0)
    w.next()
    w.finish()
    again = wizard(folder)
    assert (again.plan.dtype, again.plan.max_tokens) == ("bfloat16", 4000)


@pytest.mark.parametrize("task", typing.get_args(Task))
def test_a_model_of_every_kind_is_told(wizard, folder, task):
    shape = (1, 8, 8) if task == "diffusion" else None
    info = SourceInfo(source=str(folder), kind="folder", name="model", task=task, context=64, image_shape=shape)
    said = dict(wizard(folder).what._pairs(info))
    assert said["Task"]
    assert ("Images" in said) == (task == "diffusion")
    assert ("Tokenizer" in said) == (task != "diffusion")


def test_what_draws_shows_what_it_draws_and_is_held_against_images(wizard, board, folder, tmp_path):
    shape = {"task": "diffusion", "image_shape": (1, 28, 28), "scheduler": "DDIMScheduler", "prediction": "v_prediction", "steps": 4}
    asked = []

    def reply(spec):
        asked.append(spec.draw)
        return {"png": png(30), "count": 3, "steps": 4} if spec.draw else {"info": S.info("letters", **shape)}

    w = wizard(folder, reply)
    w.next()
    assert asked == [0, 10]
    said = dict(w.what._pairs(w.plan.info))
    assert (said["Scheduler"], said["Steps to draw in"], said["Predicts"]) == ("DDIMScheduler", "4", "between noise and image (v)")
    pictures = w.what.findChild(Pictures)
    assert (pictures.count, pictures.sheet.width()) == (3, 30)
    assert "4 steps" in w.what.drawn_text.text()
    w.next()
    assert w.baseline.text.isHidden()
    assert w.baseline.tokens.isHidden()
    assert "Fréchet" in w.baseline.measure.text()
    assert "aren't of its size" in w.reason.text()
    images = tmp_path / "letters.npz"
    images.touch()
    w.baseline.images.set_path(str(images))
    w.next()
    w.finish()
    assert board.submitted[0][0].images.path == str(images)


def test_why_nothing_is_drawn_is_said(wizard, folder):
    info = {"task": "diffusion", "image_shape": (3, 256, 256)}
    w = wizard(folder, lambda spec: {"why": "large"} if spec.draw else {"info": S.info("large", **info)})
    w.next()
    assert "too large" in w.what.drawn_text.text()
    failed = events.Failed("x", "model", "The weights are damaged.")
    w = wizard(folder, lambda spec: failed if spec.draw else {"info": S.info("large", **info)})
    w.next()
    assert w.what.drawn_text.text() == "The weights are damaged."


def png(width: int) -> bytes:
    out = io.BytesIO()
    Image.new("L", (width, 10)).save(out, "PNG")
    return out.getvalue()
