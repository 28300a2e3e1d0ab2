"""The inspector: figures against the root, the ledger, measurements with their conditions, the recipe."""

import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton, QLabel, QPlainTextEdit, QToolButton, QWidget

from app.inspector import Inspector, _MeasureRow
from app.library_model import Library
from core import methods
from core.events import Ready, Said, Samples, samples_to_json
from core.records import Catalogue, LedgerLine, Measurement
from tests.app.invented import StillBoard, drawn, invent_variant, invent_workspace, measured, put


@pytest.fixture
def inspector(qtbot, tmp_path):
    invent_workspace(tmp_path / "ws")
    library = Library()
    library.open(tmp_path / "ws")
    view = Inspector(library)
    view.resize(288, 600)
    qtbot.addWidget(view)
    view.show()
    yield view
    library.close()


def words(view):
    return [label.text() for label in view.scroll.widget().findChildren(QLabel) if label.text()]


def test_empty_until_something_is_chosen(inspector):
    assert inspector.empty.isVisible()
    inspector.library.select("kdint8")
    assert not inspector.empty.isVisible()
    inspector.library.select("")
    assert inspector.empty.isVisible()


def test_the_method_is_told_in_the_words_of_its_form(inspector):
    board = StillBoard()
    board.catalogue = None
    view = Inspector(inspector.library, board)
    params = {"pattern": "free", "sparsity": 0.4, "scope": "row"}
    put(view.library.workspace, invent_variant("cut", "cut", "tiny", "pruned", "magnitude", params, 20, 42, 42, 50))
    half = {"pattern": "2:4", "sparsity": 0.4, "scope": "row"}
    put(view.library.workspace, invent_variant("half", "half", "tiny", "pruned", "magnitude", half, 20, 42, 42, 51))
    view.library.refresh()
    view.library.select("cut")
    assert "Pruned · magnitude" in words(view)  # the recipe beneath says the rest
    board.catalogue = Catalogue(methods=(methods.get("magnitude").info,))
    board.event.emit(Ready("", 1, board.catalogue))
    assert "Pruned · Magnitude pruning · Pattern: Free · Sparsity: 0.4 · Compare within: Each output row" in words(view)
    view.library.select("half")
    assert "Pruned · Magnitude pruning · Pattern: 2 of every 4" in words(view)
    view.deleteLater()


def test_figures_are_against_the_root(inspector):
    inspector.library.select("kdint8")
    shown = words(inspector)
    for part in ("KD-recovered · int8", "33.2 MB", "\u221280 %", "13.00", "+4.8 %", "79.0 tok/s", "\u00d72.08", "31.6 M"):
        assert part in shown


def test_the_ledger_adds_up_on_screen(inspector):
    inspector.library.select("kdint8")
    shown = words(inspector)
    v = inspector.library.variant("kdint8")
    assert sum(line.bytes for line in v.ledger.lines) == v.ledger.bytes_on_disk
    for part in ("Embedding", "int8", "Tokenizer", "lm_head", "100.0 %"):
        assert part in shown
    assert "Resident memory" in shown


@pytest.mark.parametrize("width", [248, 288])
def test_how_parts_are_stored_can_be_read_whole_even_in_a_narrow_panel(inspector, qtbot, width):
    """'int4 packed' was cut to 'int4 pa…' at the width of a small window, and 'BF16' to 'BF…' in the narrowest."""
    stored = ("BF16", "int4 packed", "F8_E4M3", "F32")
    lines = [LedgerLine(component="embedding", storage=s, parameters=134_000_000, nonzero=133_000_000, bytes=268_000_000) for s in stored]
    made = invent_variant("packed", "packed", "tiny", "quantized", "rtn", {}, 20, 42, 42, 52)
    put(inspector.library.workspace, made.model_copy(update={"ledger": made.ledger.model_copy(update={"lines": tuple(lines)})}))
    inspector.library.refresh()
    inspector.library.select("packed")
    inspector.resize(width, 600)
    qtbot.wait(1)
    shown = {label.text(): label for label in inspector.scroll.widget().findChildren(QLabel)}
    for words in ("BF16", "int4", "fp8", "F32"):
        cell = shown[words]
        assert cell.width() >= cell.fontMetrics().horizontalAdvance(words)
        assert inspector.scroll.viewport().rect().contains(cell.mapTo(inspector.scroll.viewport(), cell.rect().topRight()))
    assert inspector.scroll.widget().width() <= inspector.scroll.viewport().width()
    assert shown["int4"].toolTip().startswith("int4 packed\n133 M of them")
    assert shown["fp8"].toolTip().startswith("F8_E4M3")


def test_peak_memory_has_a_row_only_where_it_was_measured(inspector):
    inspector.library.select("kdint8")
    assert "Peak memory" not in words(inspector)
    v, workspace = inspector.library.variant("kdint8"), inspector.library.workspace
    peak = Measurement(kind="peak", value=512e6, n=1, unit="bytes", conditions={"device": "cpu"})
    workspace.add_measurements(v.id, [peak])
    inspector.library.refresh()
    assert "512 MB" in words(inspector)


def test_measurements_unfold_their_conditions(inspector):
    inspector.library.select("kdint8")
    row = next(r for r in inspector.findChildren(_MeasureRow) if "Perplexity" in [w.text() for w in r.findChildren(QLabel)])
    assert row.conditions.isHidden()
    row.fold.click()
    assert not row.conditions.isHidden()
    assert "context: 512" in row.conditions.text()
    assert "n: 19968" in row.conditions.text()


def test_the_recipe_is_copied_whole(inspector):
    inspector.library.select("kdint8")
    recipe = inspector.library.variant("kdint8").recipe.to_yaml()
    inspector.findChild(QToolButton, "copy_recipe").click()
    assert QGuiApplication.clipboard().text() == recipe
    assert inspector.findChild(QPlainTextEdit, "recipe").toPlainText() == recipe.rstrip()


def test_what_isnt_measured_is_said_to_be(inspector, qtbot):
    put(inspector.library.workspace, invent_variant("bare", "bare", "tiny", "quantized", "rtn", {"bits": 4}, 20, 42, 42, 50))
    inspector.library.refresh()
    inspector.library.select("bare")
    assert any("Not measured yet" in w for w in words(inspector))
    inspector.library.workspace.add_measurements("bare", measured(14.0, 0.1, 70, "tiny"))
    inspector.library.refresh()
    assert "14.00" in words(inspector)


def test_lineage_selects_and_buttons_ask(inspector, qtbot):
    inspector.library.select("kdint8")
    for b, action in ((inspector.export, "export"), (inspector.draft, "draft"), (inspector.evaluate, "evaluate")):
        with qtbot.waitSignal(inspector.wanted) as asked:
            b.click()
        assert asked.args == [action, "kdint8"]


def test_an_encoder_cant_draft(inspector):
    v = invent_variant("enc", "encoder", None, "original", "import", {}, 90, 22, 22, 51)
    put(inspector.library.workspace, v.model_copy(update={"info": v.info.model_copy(update={"task": "encoder"})}))
    inspector.library.refresh()
    inspector.library.select("enc")
    assert not inspector.draft.isEnabled()
    assert inspector.draft.toolTip()
    assert "Cosine" in words(inspector)
    assert "Prefill" in words(inspector)
    assert "Decode" not in words(inspector)


def test_a_diffusion_model_shows_what_it_draws_and_offers_nothing_for_text(inspector, tmp_path):
    library = inspector.library
    for name, parent, steps, distance in (("digits", None, 32, 1.2), ("four", "digits", 4, 1.4)):
        variant = invent_variant(name, name, parent, "distilled" if parent else "original", "fewer_steps", {}, 1, 1, 1, 60)
        variant = variant.model_copy(update={"info": variant.info.model_copy(update={"task": "diffusion", "tokens_hash": ""})})
        known = {"steps": steps, "images": "digits.npz", "seed": 0}
        figures = [
            Measurement(kind="frechet", value=distance, stderr=0.1, n=1000, conditions=known),
            Measurement(kind="draw", value=1000 / steps, n=5, unit="images/s", conditions={"steps": steps}),
        ]
        put(library.workspace, variant, figures)
    picture = QImage(524, 160, QImage.Format.Format_Grayscale8)
    picture.save(str(library.workspace.path("four") / "samples.png"))
    library.refresh()
    library.select("four")
    shown = words(inspector)
    assert "Drawing" in shown
    assert "×8.00" in shown  # as many images in the time, though the steps differ
    picture = inspector.findChild(QWidget, "samples")
    assert picture.pixmap.width() == 524
    assert picture.minimumSizeHint().width() <= 0  # it yields to the panel's width
    assert library.scores("frechet")["four"].comparable
    assert library.scores("frechet")["digits"].comparable
    for action in ("heads", "layers", "sensitivity"):
        press = next(b for b in inspector.findChildren(QAbstractButton) if b.objectName() == action)
        assert not press.isEnabled()
        assert press.toolTip()
    library.select("digits")
    assert inspector.scroll.widget().findChild(QWidget, "samples") is None


def test_what_a_training_last_said_is_shown_with_its_variant(inspector):
    library = inspector.library
    said = Samples("", 90, said=(Said("It was", (" a", " day"), (" a", " night"), (True, False)),), kept=True)
    path = library.workspace.path("student") / "samples.json"
    path.write_bytes(samples_to_json(said))
    library.select("student")
    shown = inspector.findChild(QWidget, "said")
    assert "night" in " ".join(one.text() for one in shown.findChildren(QLabel))
    library.select("kd")
    assert inspector.scroll.widget().findChild(QWidget, "said") is None
    path.write_bytes(b"{")
    library.select("student")
    assert any("can't be read" in said for said in words(inspector))


def test_figures_in_other_numbers_of_steps_stand_in_a_table(inspector):
    library = inspector.library
    library.workspace.add_measurements("kd", [*drawn(32, 1.5, 10, True), *drawn(4, 6.25, 80, False)])
    library.refresh()
    library.select("kd")
    cells = [one.text() for one in inspector.findChild(QWidget, "by_steps").findChildren(QLabel)]
    assert cells == ["Steps", "Fréchet distance", "images/s", "32", "1.50", "10.0", "4", "6.25", "80.0"]
    kinds = [m.value for m in inspector._latest(library.variant("kd"), library.measurements("kd")) if m.kind in ("frechet", "draw")]
    assert kinds == [1.5, 10]
    library.workspace.add_measurements("int8", drawn(4, 6.25, 80, False)[:1])  # of one alone there is no table
    library.refresh()
    library.select("int8")
    assert inspector.scroll.widget().findChild(QWidget, "by_steps") is None
    assert 6.25 in [m.value for m in inspector._latest(library.variant("int8"), library.measurements("int8"))]


def test_figures_of_several_exports_name_theirs(inspector):
    """Of one export alone there's nothing to tell apart."""
    library = inspector.library
    said = lambda: [label.toolTip() or label.text() for label in inspector.findChildren(QLabel, "measured_export")]
    one = Measurement(kind="onnx_max_abs", value=1e-5, conditions={"folder": "/x/exact"})
    library.workspace.add_measurements("tiny", [one])
    library.refresh()
    library.select("tiny")
    assert said() == []
    library.workspace.add_measurements("tiny", [one.model_copy(update={"value": 1.8, "conditions": {"folder": "/x/rounded"}})])
    library.refresh()
    assert said() == ["exact", "rounded"]
