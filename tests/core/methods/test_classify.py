"""Teaching an encoder to classify, and healing and distilling classifiers: what learns, what doesn't, and what padding doesn't change."""

import pytest
import torch

from core import methods
from core.data.labels import Labels, class_logits, split
from core.errors import UserError
from core.methods.feeds import LabelFeed, feed_for
from core.methods.recovery.classify import ClassifyParams, with_head
from core.models import load, save
from core.models.blocks import linears, weight_of
from core.run import Run
from tests.core.methods.conftest import Recorder, apply, give, same

GOOD, BAD = ("home", "harbour", "light", "song"), ("cold", "dark", "night", "wind")
QUICK = {"steps": 30, "batch": 8, "context": 24, "learning_rate": 5e-3, "precision": "float32"}


def make_labels(classes=("bad", "good")) -> Labels:
    generator = torch.Generator().manual_seed(0)
    texts, labels = [], []
    for i in range(240):
        words = (BAD, GOOD)[i % 2]
        length = int(torch.randint(1, 6, (), generator=generator))
        texts.append(" ".join(["the", *(words[int(torch.randint(4, (), generator=generator))] for _ in range(length)), f"{i}"]))
        labels.append(i % 2)
    return Labels("sea.csv", "sea.csv", "0" * 64, tuple(texts), tuple(labels), classes, "text", "label")


LABELS = make_labels()


@pytest.fixture(scope="module")
def classifier(pico_bert, tmp_path_factory):
    """Folder of a pico BERT that was taught, and what it was told."""
    loaded = load.load(pico_bert)
    run = Recorder()
    outcome = apply("classify", loaded, run, give(loaded, labels=LABELS), **QUICK)
    folder = tmp_path_factory.mktemp("made") / "classifier"
    folder.mkdir()
    save.save(outcome.model, folder, pico_bert, run=Run())
    return folder, outcome, run


def right(model, tokenizer, rows) -> float:
    texts, truth = LABELS.some(rows)
    with torch.no_grad():
        return float((class_logits(model, tokenizer, texts, 24).argmax(-1) == torch.tensor(truth)).float().mean())


def test_it_learns_what_can_be_learnt(classifier):
    folder, outcome, run = classifier
    loaded = load.load(folder)
    assert loaded.info.task == "classifier"
    assert loaded.model.config.id2label == {0: "bad", 1: "good"}
    assert right(loaded.model, loaded.tokenizer, split(LABELS).heldout) > 0.9
    assert run.curve("heldout_accuracy")[-1] > run.curve("heldout_accuracy")[0]
    assert "accuracy on examples kept aside" in outcome.notes[0]
    assert "Classes: bad, good." in outcome.notes


def test_padding_and_company_change_nothing(classifier):
    loaded = load.load(classifier[0])
    texts = ["the home", "the cold dark night and the wind " * 3, "light"]
    with torch.no_grad():
        together = class_logits(loaded.model, loaded.tokenizer, texts, 24)
        alone = torch.cat([class_logits(loaded.model, loaded.tokenizer, [t], 24) for t in texts])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=1e-5)


def test_the_head_alone(pico_bert):
    loaded = load.load(pico_bert)
    before = {name: p.clone() for name, p in loaded.model.named_parameters()}
    made = apply("classify", loaded, given=give(loaded, labels=LABELS), **QUICK | {"train": "head"}).model
    moved = {name for name, p in made.base_model.named_parameters() if not torch.equal(p, before[name])}
    assert moved == set()
    with_all = apply("classify", load.load(pico_bert), given=give(loaded, labels=LABELS), **QUICK).model
    assert any(not torch.equal(p, before[name]) for name, p in with_all.base_model.named_parameters())
    assert all(torch.equal(p, before[name]) for name, p in loaded.model.named_parameters())  # the encoder given is left as it was


def test_the_held_out_examples_are_never_trained_on(pico_bert):
    loaded = load.load(pico_bert)
    model, _ = with_head(loaded.model, LABELS.classes)
    feed = LabelFeed(give(loaded, labels=LABELS), ClassifyParams(**QUICK), model.config.id2label, Recorder())
    parts = split(LABELS)
    seen: set[int] = set()
    made = feed.batches(8, 0)
    for _ in range(60):
        rows = next(made)
        assert rows.shape == (8,)
        seen |= set(rows.tolist())
    assert seen == set(parts.learn)
    assert {i for rows in feed.held_out for i in rows.tolist()} == set(parts.aside)
    again = feed.batches(8, 0)
    assert torch.equal(next(again), next(feed.batches(8, 0)))
    assert not torch.equal(next(feed.batches(8, 1)), next(feed.batches(8, 0)))


def test_the_same_seed_gives_the_same_classifier(pico_bert):
    make = lambda seed: (
        apply("classify", load.load(pico_bert), given=give(load.load(pico_bert), labels=LABELS, seed=seed), **QUICK | {"steps": 4}).model
    )
    assert same(make(1), make(1))
    assert not same(make(1), make(2))


def test_a_classifier_learns_other_classes_or_goes_on(classifier):
    loaded = load.load(classifier[0])
    again, fresh = with_head(loaded.model, ("bad", "good"))
    assert again is loaded.model
    assert fresh == set()
    other, fresh = with_head(loaded.model, ("a", "b", "c"))
    assert other.config.id2label == {0: "a", 1: "b", 2: "c"}
    assert fresh == {"classifier.weight", "classifier.bias"}
    assert all(torch.equal(a, b) for a, b in zip(other.base_model.parameters(), loaded.model.base_model.parameters(), strict=True))


def test_what_it_refuses(pico_bert, pico):
    loaded = load.load(pico_bert)
    with pytest.raises(UserError, match="needs labelled examples"):
        apply("classify", loaded, **QUICK)
    with pytest.raises(UserError, match="works on encoders, classifiers"):
        apply("classify", pico, given=give(pico, labels=LABELS), **QUICK)
    with pytest.raises(UserError, match="holds 128 tokens"):
        apply("classify", loaded, given=give(loaded, labels=LABELS), **QUICK | {"context": 256})


@pytest.mark.parametrize("weights", ["all", "lora"])
def test_a_pruned_classifier_heals_and_keeps_its_zeros(classifier, weights):
    loaded = load.load(classifier[0])
    apply("magnitude", loaded, pattern="2:4")
    before = {name: weight_of(module) == 0 for name, module in linears(loaded.model)}
    run = Recorder()
    values = QUICK | {"steps": 10, "weights": weights}
    outcome = apply("finetune", loaded, run, give(loaded, labels=LABELS, text=None), **values)
    after = {name: weight_of(module) == 0 for name, module in linears(outcome.model)}
    assert all(torch.equal(after[name], mask) for name, mask in before.items())
    assert "zeros held" in outcome.notes[1]
    assert min(run.curve("heldout_loss")) <= run.curve("heldout_loss")[0]


def test_a_student_of_fewer_layers_learns_from_its_teacher(classifier):
    loaded = load.load(classifier[0])
    run = Recorder()
    outcome = apply("distil", loaded, run, give(loaded, labels=LABELS, text=None), **QUICK | {"layers": 1})
    assert outcome.model.config.num_hidden_layers == 1
    assert outcome.model.config.id2label == {0: "bad", 1: "good"}
    assert min(run.curve("heldout_loss")) < run.curve("heldout_loss")[0]
    assert len(run.curve("heldout_kl")) == len(run.curve("heldout_accuracy")) == len(run.curve("agreement"))
    assert "the teacher's class" in outcome.notes[-1]
    assert right(outcome.model, loaded.tokenizer, split(LABELS).heldout) > 0.8


def test_what_each_task_needs():
    for name in ("finetune", "distil"):
        info = methods.get(name).info
        assert "text" in info.needs_of("causal-lm")
        assert "labels" not in info.needs_of("causal-lm")
        assert "labels" in info.needs_of("classifier")
        assert "text" not in info.needs_of("classifier")
    assert methods.get("classify").info.needs_of("encoder") == ("labels",)


def test_the_feed_follows_the_task(pico, classifier):
    loaded = load.load(classifier[0])
    assert isinstance(feed_for(loaded.model, give(loaded, labels=LABELS), ClassifyParams(**QUICK), Recorder()), LabelFeed)
    assert feed_for(pico.model, give(pico), ClassifyParams(**QUICK), Recorder()).vocabulary == pico.info.vocabulary
