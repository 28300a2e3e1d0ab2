"""The library and the tree's model: reading, comparing, noticing what others changed."""

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.library_model import SCORE, SIZE, GhostRole, IdRole, Library, LibraryModel, MatchRole, indistinguishable, running
from core import events
from core.errors import UserError
from core.recipe import Step
from core.records import ApplySpec, ImportSpec, Measurement
from core.workspace import Workspace
from tests.app.invented import CONDITIONS, TREE, StillBoard, drawn, invent_variant, invent_workspace, measured, put


@pytest.fixture
def library(qapp, tmp_path):
    invent_workspace(tmp_path / "ws")
    made = Library()
    made.open(tmp_path / "ws")
    yield made
    made.close()


def rows(model, parent=QModelIndex()):
    return {model.index(r, 0, parent).data(): rows(model, model.index(r, 0, parent)) for r in range(model.rowCount(parent))}


def test_the_tree_is_the_lineage(library):
    model = LibraryModel(library)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    tree = rows(model)
    assert list(tree) == ["TinyStories-42M"]
    below = tree["TinyStories-42M"]
    assert set(below["heads + FFN −25 %"]["KD-recovered"]) == {"KD-recovered · int8", "KD-recovered · int4 g64"}
    at = model.index_of("kdint8")
    assert at.siblingAtColumn(SIZE).data() == "33.2"
    assert at.siblingAtColumn(SCORE).data() == "13.00"
    assert at.data(IdRole) == "kdint8"
    library.changed.emit()
    assert tester.model() is model


def test_filter_keeps_the_parents_of_what_matches(library):
    model = LibraryModel(library)
    model.set_filter("int8 KD")
    assert rows(model) == {"TinyStories-42M": {"heads + FFN −25 %": {"KD-recovered": {"KD-recovered · int8": {}}}}}
    assert model.index_of("kdint8").data(MatchRole)
    assert not model.index_of("kd").data(MatchRole)
    model.set_filter("pruned")
    assert model.index_of("mag60").isValid()
    model.set_filter("no such thing")
    assert model.rowCount() == 0
    model.set_filter("")
    assert model.index_of("int2").isValid()


def test_what_another_process_changes_is_seen(library, qtbot):
    other = Workspace(library.workspace.folder)
    put(other, invent_variant("new", "made elsewhere", "tiny", "quantized", "rtn", {"bits": 8}, 40, 42, 42, 30))
    with qtbot.waitSignal(library.changed, timeout=4000):
        pass
    assert library.variant("new").name == "made elsewhere"
    other.add_measurements("new", measured(12.6, 0.1, 60, "tiny"))
    with qtbot.waitSignal(library.changed, timeout=4000):
        pass
    assert library.latest("new", "perplexity").value == 12.6
    other.delete("new")
    library.select("new")
    with qtbot.waitSignal(library.selected, timeout=4000):
        pass
    assert library.get("new") is None
    assert library.selection == ""


def test_an_unchanged_workspace_isnt_read_again(library, monkeypatch):
    monkeypatch.setattr(Workspace, "variant", lambda *a: pytest.fail("read"))
    monkeypatch.setattr(Workspace, "measurements", lambda *a: pytest.fail("read"))
    library.refresh()


def test_lineage_root_and_order(library):
    assert [v.id for v in library.lineage("kdint8")] == ["tiny", "heads", "kd", "kdint8"]
    assert library.root("kdint8").id == "tiny"
    assert [v.id for v in library.variants()] == [row[0] for row in TREE]
    assert {v.id for v in library.children("kd")} == {"kdint8", "kdint4"}
    with pytest.raises(KeyError):
        library.variant("nothing")


def test_only_figures_of_equal_conditions_are_compared(library):
    scores = library.scores("perplexity")
    assert all(s.comparable for s in scores.values())
    elsewhere = Measurement(kind="perplexity", value=9.0, stderr=0.1, n=19_968, conditions=CONDITIONS | {"text_hash": "other"})
    library.workspace.add_measurements("int8", [elsewhere])
    library.refresh()
    assert library.scores("perplexity")["int8"].value == 12.47  # the comparable one is kept, though it's older
    odd = invent_variant("odd", "another tokenizer", None, "original", "import", {}, 10, 5, 5, 40)
    odd = odd.model_copy(update={"info": odd.info.model_copy(update={"tokens_hash": "words-b"})})
    put(library.workspace, odd, measured(3.0, 0.1, 100, None))
    library.refresh()
    assert not library.scores("perplexity")["odd"].comparable  # perplexity per token of other tokens is another quantity
    assert LibraryModel(library).index_of("odd").siblingAtColumn(SCORE).data() == "(3.000)"


def test_perplexity_beside_a_reference_is_comparable_with_one_without(library):
    m = Measurement(kind="perplexity", value=12.0, n=19_968, conditions=CONDITIONS | {"reference": "tiny"})
    put(library.workspace, invent_variant("withref", "r", "tiny", "quantized", "rtn", {}, 10, 42, 42, 41), [m])
    library.refresh()
    assert library.scores("perplexity")["withref"].comparable


def test_indistinguishable_needs_both_intervals():
    a, b = Measurement(kind="perplexity", value=10, stderr=0.2), Measurement(kind="perplexity", value=10.5, stderr=0.2)
    assert indistinguishable(a, b)
    assert not indistinguishable(a, b.model_copy(update={"value": 11.5}))
    assert not indistinguishable(a, b.model_copy(update={"stderr": None}))


def test_a_damaged_record_is_reported_and_the_rest_goes_on(library):
    (library.workspace.path("int2") / "variant.json").write_text("{", encoding="utf-8")
    library.refresh()
    assert set(library.problems) == {"int2"}
    assert library.get("int2") is None
    assert library.get("int3") is not None


def test_rename_and_delete(library):
    model = LibraryModel(library)
    assert model.setData(model.index_of("int4"), "four bits", Qt.ItemDataRole.EditRole)
    assert library.variant("int4").name == "four bits"
    assert not model.setData(model.index_of("int4"), "   ", Qt.ItemDataRole.EditRole)
    with pytest.raises(UserError):
        library.rename("int4", " ")
    with pytest.raises(UserError):
        library.delete("kd")
    library.delete("int4")
    assert library.get("int4") is None


def test_running_jobs_are_ghosts_under_their_parent(library):
    board = StillBoard()
    model = LibraryModel(library, board)
    spec = ApplySpec(workspace=str(library.workspace.folder), variant="kd", steps=(Step(method="rtn"),))
    state = board.put(spec, "int3 of KD")
    ghost = model.index_of(state.job.id)
    assert ghost.data(GhostRole)
    assert ghost.parent().data(IdRole) == "kd"
    assert not (model.flags(ghost) & Qt.ItemFlag.ItemIsSelectable)
    state.status, state.done, state.total = "running", 30, 100
    board.event.emit(events.Progress(state.job.id, "Quantizing", 30, 100))
    assert ghost.siblingAtColumn(SCORE).data() == "30 %"
    elsewhere = board.put(ImportSpec(workspace="/somewhere/else", source="x"), "elsewhere")
    assert elsewhere not in running(board, library)
    state.status = "finished"
    board.event.emit(events.Finished(state.job.id))
    assert not model.index_of(state.job.id).isValid()


def test_a_model_is_compared_by_its_own_steps_and_the_others_make_its_course(library):
    own, few = drawn(32, 1.5, 10, True), drawn(4, 6.0, 80, False)
    library.workspace.add_measurements("int8", [*drawn(2, 9, 9, False, images_hash="cd"), *own, *few, *drawn(1, 20.0, 300, False)[:1]])
    library.workspace.add_measurements("int4", [*drawn(4, 2.0, 81, True), *drawn(2, 5.0, 160, False)])
    library.refresh()
    assert library.scores("frechet")["int8"].value == 1.5
    assert library.latest("int8", "draw").value == 10
    assert [(n, m.value, s.value) for n, m, s in library.by_steps("int8")] == [(32, 1.5, 10), (4, 6.0, 80)]  # 1: no speed; 2: other images
    assert all(score.comparable for score in library.scores("frechet").values())
    assert library.by_steps("tiny") == []
