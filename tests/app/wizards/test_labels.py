"""Choosing labelled examples: for an encoder a file, for a classifier those that it learnt from or others; what the worker found."""

import pytest
from PySide6.QtCore import Qt

from app.wizards import plans
from app.wizards.compress import CompressWizard
from app.wizards.evaluate import EvaluateDialog
from app.wizards.plans import CompressPlan, EvaluatePlan, labels_problem
from core import events
from core.params import Knob
from core.recipe import LabelsRef, Recipe, Source, Step
from core.records import Catalogue, MethodInfo
from tests.app.wizards import stand_ins as S

STEPS = Knob(name="steps", kind="int", title="Steps", help="Updates of the weights.", default=200, low=1, high=1000)
CLASSIFY = MethodInfo(
    name="classify", title="Teach to classify", family="recovery", needs=("labels",), tasks=("encoder", "classifier"), knobs=(STEPS,)
)
FINETUNE = MethodInfo(
    name="finetune", title="Fine-tune", family="recovery", needs=("text", "labels"), tasks=("causal-lm", "classifier"), knobs=(STEPS,)
)
WANDA = MethodInfo(name="wanda", title="Wanda", family="pruning", needs=("calibration",), knobs=())
LEARNT = LabelsRef(path="/data/movies.csv", sha256="0" * 64, text="text", label="label")
VARIANTS = (
    S.variant("mini", "MiniLM", task="encoder"),
    S.variant("film", "film reviews", parent="mini", task="classifier", kind="combined", created="2026-01-02T00:00:00+00:00").model_copy(
        update={"recipe": Recipe(source=Source(name="m"), steps=(Step(method="classify", labels=LEARNT),))}
    ),
    S.variant("seven", "Shakespeare 7M", created="2026-01-03T00:00:00+00:00"),
)
FOUND = {
    "name": "movies.csv",
    "rows": 10072,
    "columns": ["id", "text", "label"],
    "text": "text",
    "label": "label",
    "classes": {"bad": 5076, "good": 4996},
    "left_out": 2,
    "heldout": 2016,
    "longest": 257,
}


@pytest.fixture
def board(qtbot):
    made = S.Board(Catalogue(methods=(FINETUNE, CLASSIFY, WANDA), devices=(S.CPU,)))
    made.found = FOUND
    made.reply = lambda spec: made.found if spec.kind == "labels" else S.estimate(spec)
    return made


@pytest.fixture
def wizard(qtbot, tmp_path, board):
    library = S.make_library(tmp_path / "workspace", VARIANTS)
    made = []

    def make(variant, family="recovery"):
        made.append(CompressWizard(library, board, family, variant))
        made[-1].setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        qtbot.addWidget(made[-1])
        made[-1].show()
        return made[-1]

    yield make
    library.close()


@pytest.fixture
def movies(tmp_path):
    path = tmp_path / "movies.csv"
    path.write_text("id,text,label\n")
    return str(path)


def test_an_encoder_is_taught_on_a_file(qtbot, wizard, board, movies):
    w = wizard("mini")
    assert w.plan.method == "classify"  # the other isn't for encoders
    w.next_button.click()
    choice = w.data.labels
    assert choice.isVisible()
    assert not w.data.text.isVisible()
    assert not choice.known.isVisible()
    assert not w.next_button.isEnabled()
    choice.file.set_path(movies)
    qtbot.waitUntil(lambda: "10,072 examples of 2 classes" in choice.found.text(), timeout=3000)
    assert "bad (5,076), good (4,996)" in choice.found.text()
    assert "2,016 are held out" in choice.found.text()
    assert "2 rows without" in choice.found.text()
    assert (choice.text.currentText(), choice.classes.currentText()) == ("text", "label")
    assert "Always answering" not in choice.found.text()
    w.next_button.click()
    assert "accuracy" in w.review.measure.text()
    assert not w.review.text.isVisible()  # accuracy is measured on the examples held out
    w.finish_button.click()
    (spec, _, _) = board.submitted[0]
    assert spec.text is None
    assert spec.steps[0].labels == LabelsRef(path=movies)
    assert spec.steps[0].text is None


def test_a_class_that_is_most_of_the_examples_is_remarked_on(qtbot, wizard, board, movies):
    """Of 400 reviews 395 were good: 'accuracy 98.8 %' looked splendid, and was what a constant answer reaches."""
    board.found = FOUND | {"rows": 400, "classes": {"good": 395, "bad": 5}, "heldout": 80}
    w = wizard("mini")
    w.next_button.click()
    w.data.labels.file.set_path(movies)
    qtbot.waitUntil(lambda: "Always answering 'good' would be right for 99 %" in w.data.labels.found.text(), timeout=3000)


def test_another_column_is_asked_about_and_kept(qtbot, wizard, board, movies):
    w = wizard("mini")
    w.next_button.click()
    choice = w.data.labels
    choice.file.set_path(movies)
    qtbot.waitUntil(lambda: bool(w.plan.examples), timeout=3000)
    board.found = FOUND | {"label": "id"}
    choice.classes.setCurrentText("id")
    choice.classes.activated.emit(0)
    qtbot.waitUntil(lambda: bool(w.plan.examples), timeout=3000)
    assert w.plan.step().labels == LabelsRef(path=movies, text="text", label="id")


def test_columns_that_cannot_be_told_are_chosen(qtbot, wizard, board, movies):
    board.found = {"name": "movies.csv", "columns": ["a", "b"], "text": "", "label": ""}
    w = wizard("mini")
    w.next_button.click()
    choice = w.data.labels
    choice.file.set_path(movies)
    qtbot.waitUntil(lambda: "Choose the columns" in choice.problem.text(), timeout=3000)
    assert choice.columns.isVisible()
    assert choice.text.currentIndex() == -1
    assert not w.next_button.isEnabled()


def test_what_the_worker_refuses_is_said(qtbot, wizard, board, movies):
    board.found = events.Failed("ask", "data", "All examples are of one class.", "Choose another file.")
    w = wizard("mini")
    w.next_button.click()
    w.data.labels.file.set_path(movies)
    qtbot.waitUntil(lambda: "one class" in w.data.labels.problem.text(), timeout=3000)
    assert not w.next_button.isEnabled()


def test_a_classifier_learns_from_what_it_learnt_from_or_from_others(qtbot, wizard, board, movies):
    w = wizard("film")
    w.method.cards.cards["finetune"].click()
    w.next_button.click()
    choice = w.data.labels
    assert choice.known.isChecked()
    assert "movies.csv" in choice.known.text()
    assert not choice.file.isVisible()
    qtbot.waitUntil(w.next_button.isEnabled, timeout=3000)
    assert w.plan.step().labels == LEARNT
    choice.own.setChecked(True)
    assert not w.next_button.isEnabled()
    choice.file.set_path(movies)
    qtbot.waitUntil(w.next_button.isEnabled, timeout=3000)
    assert w.plan.step().labels.path == movies


def test_a_classifier_starts_from_its_own_examples_whatever_was_taken_last(qtbot, wizard, board, movies):
    """Examples chosen for another model were preselected for this one, so it would have been healed on a stranger's data."""
    w = wizard("mini")
    w.next_button.click()
    w.data.labels.file.set_path(movies)
    qtbot.waitUntil(w.next_button.isEnabled, timeout=3000)
    w.next_button.click()
    w.finish_button.click()
    w = wizard("film")
    w.next_button.click()
    assert w.data.labels.known.isChecked()
    assert w.plan.labels_ref == LEARNT
    w = wizard("mini")
    w.next_button.click()
    assert w.data.labels.file.path() == movies


def test_a_language_model_still_reads_text(wizard):
    w = wizard("seven")
    assert w.plan.method == "finetune"
    w.next_button.click()
    assert w.data.text.isVisible()
    assert not w.data.labels.isVisible()
    assert w.plan.step().labels is None


def test_a_classifier_is_calibrated_on_its_own_examples():
    plan = CompressPlan("w", "pruning", VARIANTS, (WANDA,))
    plan.variant = "film"
    assert plan.pages() == ("source", "method", "review")
    plan.variant = "mini"
    assert plan.pages() == ("source", "method", "data", "review")


def test_what_may_be_examples(tmp_path, movies):
    for fine in ("org/name", "org/name:part", movies):
        assert not labels_problem(fine), fine
    for path, sentence in (
        ("words.txt", "Choose a .csv"),
        ("none.csv", "There is no file"),
        ("", "Choose a file"),
        (None, "Choose a file"),
    ):
        assert labels_problem(path and str(tmp_path / path)).template.startswith(sentence)


def test_a_classifier_is_not_compared_with_an_encoder():
    plan = EvaluatePlan("w", VARIANTS)
    plan.variants = ("film",)
    assert plan.reference_problem(VARIANTS[0]) == plans.say("It doesn't do the same: one classifies, the other doesn't.")


def test_a_classifier_is_measured_on_its_own_examples_or_on_others(qtbot, tmp_path, board, movies):
    strange = S.variant("strange", "imported", task="classifier")
    library = S.make_library(tmp_path / "workspace", (*VARIANTS, strange))
    dialog = EvaluateDialog(library, board, "film")
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    assert dialog.measure.labels.isVisible()
    assert not dialog.measure.text.isVisible()  # it reads none
    dialog.plan.text = "/gone.txt"
    assert not dialog.plan.problem("measure")
    assert [spec.text for _, spec in dialog.plan.specs()] == [None]
    dialog.plan.text = None
    assert dialog.plan.reference is None  # the only one of its line that classifies is itself
    assert [spec.labels for _, spec in dialog.plan.specs()] == [None]
    dialog.plan.variants = ("strange",)
    assert "imported learnt from" in plans.Flow(dialog.plan).problem.template.format(name="imported")
    dialog.measure.labels.set_path(movies)
    assert not dialog.plan.problem("measure")
    assert dialog.plan.specs()[0][1].labels == LabelsRef(path=movies)
    dialog.plan.variants = ("seven",)
    assert dialog.plan.specs()[0][1].labels is None
    library.close()
