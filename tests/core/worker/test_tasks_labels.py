"""The classifier's path through the jobs: taught on a file of labels, measured by accuracy from then on, cut, exported."""

import json

import pytest

from core.errors import UserError
from core.recipe import LabelsRef, Recipe, Step
from core.records import ApplySpec, EvaluateSpec, ExportSpec, ImportSpec, LabelsSpec
from core.workspace import Workspace
from tests.core.methods.conftest import pico_bert  # noqa: F401
from tests.core.methods.test_classify import LABELS
from tests.core.worker.test_tasks import do

LEARN = {"steps": 30, "batch": 8, "context": 24, "learning_rate": 5e-3, "precision": "float32"}


@pytest.fixture(scope="module")
def labels(tmp_path_factory) -> LabelsRef:
    path = tmp_path_factory.mktemp("labels") / "sea.csv"
    rows = [f"{text},{LABELS.classes[i]}" for text, i in zip(LABELS.texts, LABELS.labels, strict=True)]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return LabelsRef(path=str(path))


@pytest.fixture(scope="module")
def home(tmp_path_factory, pico_bert) -> Workspace:  # noqa: F811
    folder = tmp_path_factory.mktemp("w") / "home"
    do(ImportSpec(workspace=str(folder), source=str(pico_bert), measure=False))
    return Workspace(folder)


def apply(home, variant, *steps, **changes):
    made = do(ApplySpec(workspace=str(home.folder), variant=variant.id, steps=steps, **changes))["variants"]
    return [home.variant(v) for v in made]


@pytest.fixture(scope="module")
def taught(home, labels):
    (encoder,) = [v for v in home.variants() if v.parent is None]
    return apply(home, encoder, Step(method="classify", params=LEARN, labels=labels))[0]


def measured(home, variant):
    return {m.kind: m for m in home.measurements(variant.id)}


def test_what_was_taught_is_measured_by_accuracy(home, taught, labels):
    assert (taught.info.task, taught.kind) == ("classifier", "combined")
    found = measured(home, taught)
    assert found["accuracy"].value > 0.9
    assert found["accuracy"].n == 48  # a fifth of 240
    assert found["accuracy"].low < found["accuracy"].value <= found["accuracy"].high
    assert not {"perplexity", "kl", "cosine"} & set(found)  # it has no classifier before it to compare with
    assert "prefill" in found
    kept = taught.recipe.labels
    assert (kept.path, kept.text, kept.label) == (labels.path, "text", "label")
    assert len(kept.sha256) == 64
    assert Recipe.from_yaml((home.path(taught.id) / "recipe.yaml").read_text()) == taught.recipe


def test_what_is_made_of_it_is_measured_on_the_same_examples_against_it(home, taught):
    steps = (Step(method="magnitude", params={"sparsity": 0.5}), Step(method="finetune", params=LEARN | {"steps": 5}))
    pruned, healed = apply(home, taught, *steps)
    for variant in (pruned, healed):
        found = measured(home, variant)
        assert {"accuracy", "kl", "agreement"} <= set(found)
        assert found["kl"].conditions["reference"] == taught.id
        assert found["accuracy"].conditions["examples"] == "sea.csv"
    assert healed.recipe.steps[-1].labels == taught.recipe.labels  # without being told, from the labels that it learnt from
    assert healed.recipe.steps[-1].text is None
    assert any("zeros held" in note for note in healed.notes)


def test_it_is_calibrated_on_the_texts_of_its_examples(home, taught):
    (wanda,) = apply(home, taught, Step(method="wanda", params={"windows": 2, "context": 24}), measure=False)
    step = wanda.recipe.steps[-1]
    assert step.text is None
    assert step.labels == taught.recipe.labels


def test_the_recipe_gives_the_same_classifier(home, taught):
    (encoder,) = [v for v in home.variants() if v.parent is None]
    (again,) = apply(home, encoder, *taught.recipe.steps, measure=False)
    assert again.fingerprint == taught.fingerprint


def test_it_can_be_taught_by_the_uncut_classifier(home, taught):
    (pruned,) = apply(home, taught, Step(method="magnitude", params={"sparsity": 0.5}), measure=False)
    (healed,) = apply(home, pruned, Step(method="finetune", params=LEARN | {"steps": 2, "loss": "teacher"}), measure=False)
    assert any("the uncut model" in note for note in healed.notes)  # not the encoder that the line begins with


def test_a_classifier_taught_other_classes_is_not_compared_with_what_it_was(home, taught, tmp_path):
    path = tmp_path / "length.csv"
    path.write_text("\n".join(["text,label", *(f"{'the wind ' * (i % 3 + 1)}{i},{('short', 'middle', 'long')[i % 3]}" for i in range(90))]))
    step = Step(method="classify", params=LEARN | {"steps": 2}, labels=LabelsRef(path=str(path)))
    (other,) = apply(home, taught, step)
    assert set(measured(home, other)) & {"accuracy", "kl", "agreement"} == {"accuracy"}
    assert other.recipe.labels.path == str(path)


def test_an_evaluation_on_other_examples(home, taught, tmp_path):
    (tmp_path / "other.csv").write_text("\n".join(["text,label", *(f"the wind {i},{'good' if i % 2 else 'bad'}" for i in range(20))]))
    spec = EvaluateSpec(workspace=str(home.folder), variant=taught.id, labels=LabelsRef(path=str(tmp_path / "other.csv")))
    (found,) = do(spec)["measurements"]
    assert (found["kind"], found["n"], found["conditions"]["examples"]) == ("accuracy", 4, "other.csv")
    (encoder,) = [v for v in home.variants() if v.parent is None]
    with pytest.raises(UserError, match="doesn't classify"):
        do(spec.model_copy(update={"reference": encoder.id}))


def test_it_can_be_taken_away_as_onnx(home, taught, tmp_path):
    report = do(ExportSpec(workspace=str(home.folder), variant=taught.id, to=str(tmp_path / "onnx")))["report"]
    assert report["task"] == "classifier"
    assert report["outputs"] == {"logits": ("batch", 2)}
    assert report["max_abs"] < 1e-4
    assert json.loads((tmp_path / "onnx" / "config.json").read_text())["id2label"] == {"0": "bad", "1": "good"}


def test_what_a_file_of_labels_holds(labels):
    found = do(LabelsSpec(labels=labels))
    assert found["classes"] == {"bad": 120, "good": 120}
    assert (found["rows"], found["heldout"], found["columns"]) == (240, 48, ["text", "label"])
    json.dumps(found)


def test_labels_are_needed_and_said(home):
    (encoder,) = [v for v in home.variants() if v.parent is None]
    with pytest.raises(UserError, match="needs labelled examples"):
        apply(home, encoder, Step(method="classify", params=LEARN))
