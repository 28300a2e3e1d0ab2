"""Samples of a training: always of the same things, marked where the teacher would say the same, and nothing else is changed by them."""

import pytest
import torch

from core import events
from core.errors import Cancelled
from core.methods import checkpoints, samples
from core.methods.feeds import TextFeed
from core.methods.training import TrainingParams
from core.models import inspect, load
from core.run import Run
from tests.conftest import PROSE, make_pico, make_tokenizer
from tests.core.methods.conftest import Recorder, apply, give, make_text, same
from tests.core.methods.test_classify import LABELS

QUICK = {"steps": 6, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32"}


def shown(run) -> list[events.Samples]:
    return [e for e in run.events if isinstance(e, events.Samples)]


def alone(model, ids: list[int], count: int) -> list[int]:
    """Greedy decoding without a cache, a token at a time."""
    ids = list(ids)
    with torch.no_grad():
        for _ in range(count):
            ids.append(int(model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].argmax()))
    return ids


@pytest.fixture(scope="module")
def pico_other(tmp_path_factory):
    """A pico Llama with fewer tokens than the others."""
    folder = make_pico(tmp_path_factory.mktemp("pico") / "other", seed=3)
    tokenizer = make_tokenizer(folder, 270)
    model = load.load(folder).model
    model.resize_token_embeddings(len(tokenizer))
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def feed(pico):
    return TextFeed(give(pico), TrainingParams(**QUICK), 0, Run())


def test_what_is_said_is_what_each_says_greedily_and_marked_by_what_the_teacher_would_say(pico, pico_draft, feed):
    student, run = load.load(pico_draft).model, Recorder()
    show = samples.shower(feed, student, pico.model, give(pico), run, tokens=7)
    show(3, False)
    (found,) = shown(run)
    assert (found.step, found.kept, found.before, len(found.said)) == (3, False, False, 3)
    held = torch.cat(feed.held_out)
    for said, row in zip(found.said, held[[0, round((len(held) - 1) / 2), -1]], strict=True):
        begun = row[:12].tolist()
        assert said.beginning == pico.tokenizer.decode(begun)
        for model, pieces in ((pico.model, said.teacher), (student, said.student)):
            ids = alone(model, begun, 7)
            end = ids.index(0, 12) + 1 if 0 in ids[12:] else len(ids)
            assert "".join(pieces) == pico.tokenizer.decode(ids[:end])[len(said.beginning) :]
            assert len(pieces) == end - 12
        ids = alone(student, begun, len(said.student))
        assert list(said.same) == [alone(pico.model, ids[:n], 1)[n] == ids[n] for n in range(12, len(ids))]
        parted = next((i for i, (a, b) in enumerate(zip(said.teacher, said.student, strict=False)) if a != b), None)
        assert (said.same.index(False) if False in said.same else None) == parted


def test_a_text_of_which_little_is_kept_aside_gives_several_beginnings_all_the_same(pico):
    text = make_text(PROSE[:1500])
    short = TextFeed(give(pico, text=text), TrainingParams(**QUICK | {"context": 60}), 0, Run())
    assert sum(map(len, short.held_out)) == 1
    run = Recorder()
    samples.shower(short, pico.model, None, give(pico), run, tokens=2)(0, False)
    begun = [said.beginning for said in shown(run)[0].said]
    assert len(begun) == 2
    assert "".join(begun) == pico.tokenizer.decode(short.held_out[0][0][:48])


def test_distilling_tells_the_start_and_what_is_kept_and_weights_do_not_move_by_it(pico, monkeypatch):
    run = Recorder()
    outcome = apply("distil", pico, run, layers=1, **QUICK)
    found = shown(run)
    assert [s.kept for s in found] == [False] * (len(found) - 1) + [True]
    assert found[0].step == 0
    assert [s.beginning for s in found[0].said] == [s.beginning for s in found[-1].said]
    assert [s.teacher for s in found[0].said] == [s.teacher for s in found[-1].said]
    again = events.samples_from_json(outcome.files["samples.json"])
    assert (again.step, again.said, again.kept) == (found[-1].step, found[-1].said, True)
    monkeypatch.setattr(samples.Shower, "__call__", lambda *_: None)
    assert same(apply("distil", pico, layers=1, **QUICK).model, outcome.model)


def test_fine_tuning_shows_what_the_model_said_before(pico):
    run = Recorder()
    apply("finetune", pico, run, **QUICK)
    first, *_, last = shown(run)
    assert first.before
    assert last.before
    assert all(all(s.same) and s.teacher == s.student for s in first.said)
    assert [s.teacher for s in last.said] == [s.student for s in first.said]
    for said in last.said:
        agreed = next((i for i, ok in enumerate(said.same) if not ok), len(said.same))
        assert said.teacher[:agreed] == said.student[:agreed]
        assert agreed >= len(said.same) - 1


def test_a_training_that_was_cut_off_goes_on_beside_the_same_beginning(pico_llama, tmp_path, monkeypatch):
    """What the model said before is what it said before the first try, not where the second began."""
    monkeypatch.setattr(checkpoints, "SECONDS", 0)

    def cut(run, step):
        if step == 5:
            raise KeyboardInterrupt

    begun, again = Recorder(cut), Recorder()
    loaded = load.load(pico_llama)
    with pytest.raises(KeyboardInterrupt):
        apply("finetune", loaded, begun, give(loaded, work=tmp_path), **QUICK)
    loaded = load.load(pico_llama)
    apply("finetune", loaded, again, give(loaded, work=tmp_path), **QUICK)
    assert next(e.step for e in again.events if getattr(e, "name", "") == "lr") == 5
    first, *_, last = shown(again)
    assert first.said == shown(begun)[0].said
    assert last.kept
    assert [s.teacher for s in last.said] == [s.teacher for s in shown(begun)[0].said]
    assert any(s.student != s.teacher for s in last.said)


def test_a_classifier_tells_the_same_examples_with_their_classes_and_probabilities(pico_bert):
    from core.data.labels import class_logits

    loaded = load.load(pico_bert)
    given = give(loaded, labels=LABELS)
    taught = Recorder()
    loaded.model = apply("classify", loaded, taught, given, **QUICK).model
    assert all(s.before and len(s.classed) == samples.EXAMPLES for s in shown(taught))
    assert shown(taught)[-1].kept
    loaded.info = inspect.inspect(pico_bert).model_copy(update={"task": "classifier"})
    run = Recorder()
    outcome = apply("distil", loaded, run, given=give(loaded, labels=LABELS), layers=1, **QUICK)
    first, *_, last = shown(run)
    assert [one.text for one in first.classed] == [one.text for one in last.classed]
    assert len(first.classed) == samples.EXAMPLES
    truth = dict(zip(LABELS.texts, (LABELS.classes[i] for i in LABELS.labels), strict=True))
    for one in last.classed:
        assert one.label == truth[one.text]
        with torch.no_grad():
            for model, name, share in ((loaded.model, one.teacher, one.teacher_share), (outcome.model, one.student, one.student_share)):
                chances = class_logits(model, loaded.tokenizer, [one.text], 24).softmax(-1)[0]
                assert share == pytest.approx(float(chances.max()), abs=1e-5)
                assert name == model.config.id2label[int(chances.argmax())]
    assert events.samples_from_json(outcome.files["samples.json"]).classed == last.classed


def test_a_student_with_other_tokens_is_held_beside_its_teacher_by_words_alone(pico, pico_other, feed):
    other = load.load(pico_other)
    mine = TextFeed(give(other), TrainingParams(**QUICK), 0, Run())
    run = Recorder()
    samples.shower(mine, other.model, pico.model, give(pico), run, reads=give(other), tokens=5)(0, False)
    (found,) = shown(run)
    for said in found.said:
        assert said.same == ()
        begun = pico.tokenizer(said.beginning)["input_ids"]
        ids = alone(pico.model, begun, 5)
        assert "".join(said.teacher) == pico.tokenizer.decode(ids)[len(said.beginning) :]


def test_samples_take_no_more_than_their_share_of_the_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(samples.time, "monotonic", lambda: now[0])
    run = Recorder()

    def take(kept):
        now[0] += 1.0
        return {}

    show = samples.Shower(take, run)
    show(0, False)
    for step in range(1, 101):
        now[0] += 1.0
        show(step, False)
    told = len(shown(run))
    assert 2 <= told <= 0.05 * now[0] + 1
    show(101, True)
    assert len(shown(run)) == told + 1
    now[0], run._rested = now[0] + 1000, 1000.0  # a rest is no training
    show(102, False)
    assert len(shown(run)) == told + 1


def test_a_training_goes_on_where_samples_cannot_be_taken(pico, monkeypatch):
    def broken(*_):
        raise RuntimeError("no cache")

    monkeypatch.setattr(samples, "continued", broken)
    run = Recorder()
    outcome = apply("distil", pico, run, layers=1, **QUICK)
    assert shown(run) == []
    assert [e.text for e in run.events if getattr(e, "level", "") == "WARN"] == [
        "Samples of this training can't be shown: RuntimeError: no cache"
    ]
    assert "samples.json" not in outcome.files
    run = Recorder(at=lambda run, step: run.control("cancel"))
    monkeypatch.undo()
    with pytest.raises(Cancelled):
        apply("distil", pico, run, layers=1, **QUICK)


@pytest.mark.parametrize("data", [b'{"said": []}', b"[]", b"\x00", b"{"])
def test_what_is_not_samples_is_said_to_be_none(data):
    with pytest.raises(ValueError, match="not samples"):
        events.samples_from_json(data)
