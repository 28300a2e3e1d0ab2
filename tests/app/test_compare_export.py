"""An export beside torch in the window: texts with where they part, classes with probabilities, and what a graph is made of."""

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from app import look_export, provider_choice
from app.compare_export import ClassifyDialog, CompareDialog, marked
from app.exports_card import ExportRow
from app.look_export import LookDialog
from app.widgets import ElidedLabel
from core import events
from core.records import ExportRecord
from tests.app.decode_invented import FakeBoard, make_workspace

COMPARED = {
    "forms": {
        "original": {"name": "seven", "tokens_per_s": 20.0, "tokens": 9},
        "variant": {"name": "cut", "tokens_per_s": 25.0, "tokens": 9},
        "export": {"name": "x (ONNX)", "tokens_per_s": 80.0, "tokens": 9},
    },
    "prompts": [
        {
            "prompt": "Once upon",
            "forms": {
                "original": {"ids": [1, 2, 3], "pieces": [" a", " <b>", " time"]},
                "variant": {"ids": [1, 2, 3], "pieces": [" a", " <b>", " time"]},
                "export": {"ids": [1, 4, 3], "pieces": [" a", " hill", " time"]},
            },
            "parts": {"variant": None, "export": {"position": 1, "margin": 0.0021}},
        }
    ],
    "busy": 0.3,
    "provider": "cpu",
    "notes": ["Other programs used 30% of the processors meanwhile, so the speeds are lower than they could be."],
}


@pytest.fixture(autouse=True)
def cpu_alone(monkeypatch):
    monkeypatch.setattr(provider_choice, "_known", ["cpu"])


@pytest.fixture
def board():
    return FakeBoard()


def submitted(board):
    return board.submitted[-1][0]


def shown(widget) -> list[str]:
    return [one.text() for one in widget.findChildren(QLabel) if one.isVisible()]


def test_three_ways_side_by_side(qtbot, board):
    dialog = CompareDialog(board, "/w", "/x/pico", "cut")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.prompts.setPlainText("Once upon\n---\nTo be")
    dialog.tokens.setValue(9)
    dialog.run_button.click()
    spec = submitted(board)
    assert (spec.kind, spec.prompts, spec.max_new_tokens, spec.variant, spec.provider) == (
        "compare-export",
        ("Once upon", "To be"),
        9,
        "cut",
        "cpu",
    )
    dialog._ended(events.Finished(dialog.job, COMPARED, 1.0))
    text = dialog.findChild(QLabel, "text_export").text()
    assert "\u25b8 hill" in text
    assert "&lt;b&gt;" in dialog.findChild(QLabel, "text_variant").text()
    assert "0.0021" in dialog.findChild(QLabel, "verdict_export").text()
    assert "token 2" in dialog.findChild(QLabel, "verdict_export").text()
    assert dialog.findChild(QLabel, "verdict_variant").text() == "The same tokens as the original"
    assert dialog.findChild(QLabel, "verdict_original") is None
    assert "80.0 tokens/s" in shown(dialog.bars)
    assert dialog.bars.note.text().startswith("Other programs used 30%")
    dialog.prompts.setPlainText(" ")
    assert not dialog.run_button.isEnabled()


def test_a_line_break_that_parts_is_seen():
    assert "\u21b5" in marked(["a", "\n", "b"], 1)
    assert "\u25b8" not in marked(["a", "b"], None)


def test_classes_with_probabilities_of_both(qtbot, board):
    dialog = ClassifyDialog(board, "/w", "/x/judge", "judge")
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.run_button.isEnabled()
    dialog.texts.setPlainText("A fine film.\n\nA dull one.")
    dialog.run_button.click()
    assert submitted(board).texts == ("A fine film.", "A dull one.")
    rows = [
        {"text": "A fine film.", "export": [0.25, 0.75], "torch": [0.2499, 0.7501]},
        {"text": "A dull one.", "export": [0.9, 0.1], "torch": [0.9, 0.1]},
    ]
    result = {"classes": ["bad", "good"], "single": False, "rows": rows, "largest": 1e-4, "cut": 0, "notes": []}
    dialog._ended(events.Finished(dialog.job, result | {"seconds": {"export": 0.001, "torch": 0.004}}, 1.0))
    assert dialog.findChild(QLabel, "export_1").text() == "0.7500\n0.2500"
    assert dialog.findChild(QLabel, "torch_1").text() == "0.7501\n0.2499"
    assert "\u00d74.00" in shown(dialog.bars)  # less time is faster


LOOKED = {
    "contents": {
        "operators": {"MatMul": 14, "GroupQueryAttention": 2},
        "beyond_standard": {"com.microsoft.GroupQueryAttention": 2},
        "largest": [{"name": "embed", "type": "float", "shape": [300, 32], "bytes": 38400}],
        "fused": {"attention": 2, "norms": 5, "products": 4},
        "products": {"packed": 0, "widened": 0, "dense": 14, "computed": 0},
    },
    "report": {"contents": {"unquantized": ["lm_head"]}, "notes": [], "profile": "fast", "task": "causal-lm"},
    "graph": "/x/pico/model.onnx",
}


def test_a_graph_is_looked_into(qtbot, board, monkeypatch):
    monkeypatch.setattr(look_export, "netron", lambda: [])
    dialog = LookDialog(board, "/x/pico")
    qtbot.addWidget(dialog)
    dialog.show()
    assert (submitted(board).kind, submitted(board).folder) == ("look-export", "/x/pico")
    dialog._ended(events.Finished(dialog.job, LOOKED, 0.1))
    said = shown(dialog)
    assert "GroupQueryAttention *" in said
    assert "MatMul" in said
    assert "float 300\u00d732" in said
    assert "Not quantized, since the variant keeps them dense: lm_head." in said
    assert not dialog.netron_button.isEnabled()
    assert "pip install netron" in dialog.netron_button.toolTip()


def test_of_two_graphs_it_is_said_which_is_shown(qtbot, board):
    dialog = LookDialog(board, "/x/t5")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog._ended(events.Finished(dialog.job, LOOKED | {"graph": "/x/t5/decoder.onnx"}, 0.1))
    assert "Of the two graphs, this is the decoder's; the encoder's is beside it." in shown(dialog)


def test_in_a_narrow_window_weights_stand_below_and_their_names_are_read(qtbot, board):
    name = "model.model.layers.11.self_attn.q_proj.weight.codes"
    largest = [{"name": name, "type": "int8", "shape": [768, 1, 256], "bytes": 196608}]
    dialog = LookDialog(board, "/x/pico")
    qtbot.addWidget(dialog)
    dialog.resize(720, 520)
    dialog.show()
    dialog._ended(events.Finished(dialog.job, LOOKED | {"contents": LOOKED["contents"] | {"largest": largest}}, 0.1))
    QApplication.processEvents()
    shown_name = next(w for w in dialog.findChildren(ElidedLabel) if w.text() == name)
    assert shown_name.width() >= shown_name.sizeHint().width()
    _, operators, weights = dialog._parts
    assert weights.y() > operators.y()
    dialog.setMinimumSize(0, 0)
    dialog.resize(980, 680)
    QApplication.processEvents()
    assert weights.y() < operators.y()


def test_weights_that_are_not_there_are_told(qtbot, board):
    dialog = LookDialog(board, "/x/pico")
    qtbot.addWidget(dialog)
    dialog.show()
    problem = {"template": "The weights' file {file} is missing beside {graph}.", "values": {"file": "a.data", "graph": "a.onnx"}}
    dialog._ended(events.Finished(dialog.job, LOOKED | {"problem": problem}, 0.1))
    assert "The weights' file a.data is missing beside a.onnx." in shown(dialog)


def test_netron_opens_the_graph(qtbot, board, monkeypatch):
    opened = []
    monkeypatch.setattr(look_export, "netron", lambda: ["netron"])
    monkeypatch.setattr(look_export.subprocess, "Popen", lambda command, **_: opened.append(command))
    dialog = LookDialog(board, "/x/pico")
    qtbot.addWidget(dialog)
    dialog._ended(events.Finished(dialog.job, LOOKED, 0.1))
    dialog.netron_button.click()
    assert opened == [["netron", "/x/pico/model.onnx"]]


def test_providers_are_offered_where_there_are_several(qtbot, board, monkeypatch):
    """A worker says what onnxruntime has, once."""
    monkeypatch.setattr(provider_choice, "_known", [])
    choice = provider_choice.ProviderChoice(board)
    qtbot.addWidget(choice)
    choice.show()
    assert submitted(board).kind == "providers"
    choice._on_event(events.Finished(choice._job, {"providers": ["cpu", "cuda", "openvino"]}, 0.1))
    assert [choice.itemText(i) for i in range(choice.count())] == ["CPU", "CUDA", "OpenVINO"]
    choice.setCurrentIndex(1)
    assert choice.chosen() == "cuda"
    jobs = len(board.submitted)
    again = provider_choice.ProviderChoice(board)
    qtbot.addWidget(again)
    assert again.count() == 3
    assert len(board.submitted) == jobs


def test_an_export_in_the_inspector(qtbot, board, tmp_path):
    from app.library_model import Library
    from tests.app.decode_invented import VARIANTS

    make_workspace(tmp_path / "w", VARIANTS)
    library = Library()
    library.open(tmp_path / "w")
    variant = library.variants()[0]
    gone = ExportRecord(folder=str(tmp_path / "gone"), made="now", profile="fast", weights="float32", bytes=5_000_000, max_abs=2.5e-5)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "export_report.json").write_text('{"made": "now"}')
    there = gone.model_copy(update={"folder": str(tmp_path / "there")})
    for record in (gone, there):
        library.workspace.add_export(variant.id, record)
    library.refresh()
    assert library.exports(variant.id) == [gone, there]
    rows = [ExportRow(library, board, variant, record) for record in library.exports(variant.id)]
    for row in rows:
        qtbot.addWidget(row)
    assert rows[0].line.text() == "Its folder isn't there any more."
    assert [a.text() for a in rows[0].menu.actions()] == ["Forget it"]
    assert rows[1].line.text() == "ONNX \u00b7 fast, float32 \u00b7 5.00 MB \u00b7 checked to 2.5e\u22125"
    assert [a.text() for a in rows[1].menu.actions() if a.text()] == [
        "Try it\u2026",
        "Compare with torch\u2026",
        "Look inside\u2026",
        "Show folder",
        "Forget it",
    ]
    rows[1].show()
    rows[1].grab()
    assert rows[1].name.toolTip() == there.folder  # a name that fits took it away
    rows[0].forget()
    assert library.exports(variant.id) == [there]
    library.close()


def test_images_of_both(qtbot, board):
    from PySide6.QtCore import QBuffer
    from PySide6.QtGui import QImage

    from app.draw_export import DrawDialog

    image, buffer = QImage(100, 50, QImage.Format.Format_Grayscale8), QBuffer()
    image.fill(128)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")
    dialog = DrawDialog(board, "/w", "/x/digits", "digits")
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.seed.setValue(5)
    dialog.run_button.click()
    spec = submitted(board)
    assert (spec.kind, spec.count, spec.steps, spec.seed) == ("draw-export", 8, None, 5)
    result = {
        "png": bytes(buffer.data()),
        "count": 8,
        "steps": 16,
        "largest": 2e-5,
        "seconds": {"torch": 0.02, "export": 0.005},
        "notes": [],
    }
    dialog._ended(events.Finished(dialog.job, result, 1.0))
    assert dialog.findChild(QLabel, "picture").pixmap().width() % 100 == 0
    assert "16 steps" in dialog.said.text()
    assert "\u00d74.00" in shown(dialog.bars)
