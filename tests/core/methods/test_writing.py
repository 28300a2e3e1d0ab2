"""Text that teacher and student write: whose distribution it is, what's learnt of it, and that it's the same every time."""

import math
from types import SimpleNamespace

import pytest
import torch

from core.data.labels import Labels
from core.errors import UserError
from core.methods import checkpoints
from core.methods.distillation import writing
from core.methods.distillation.distil import DistilParams
from core.methods.distillation.writing import OnPolicy, WrittenFeed, continued, told
from core.methods.losses import IGNORED, UNTOLD, Against, distillation_loss
from core.models import load
from core.run import Run
from tests.conftest import make_tokenizer
from tests.core.methods.conftest import Recorder, apply, give, same

QUICK = {"steps": 12, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32", "layers": 1}
WRITTEN = {"data": "written", "written": 1000}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def feed_of(pico, **values):
    return WrittenFeed(pico.model, give(pico), DistilParams(**QUICK), values.get("tokens", 960), values.get("continues", False), Run())


def test_what_is_written_follows_the_model(pico):
    """Chi-square of the first and the second sampled token against what the model says without a cache."""
    rows = torch.full((3000, 2), 5)
    out = continued(pico.model, rows, 4, 300, generator(), Run())
    assert torch.equal(out[:, :2], rows)
    with torch.no_grad():
        first = pico.model(input_ids=rows[:1]).logits[0, -1].softmax(-1)
        favourite = int(out[:, 2].mode().values)
        second = pico.model(input_ids=torch.tensor([[5, 5, favourite]])).logits[0, -1].softmax(-1)
    for drawn, chances in ((out[:, 2], first), (out[out[:, 2] == favourite][:, 3], second)):
        likely = chances * len(drawn) >= 5
        expected = torch.cat([chances[likely], chances[~likely].sum()[None]]) * len(drawn)
        counts = torch.bincount(drawn, minlength=300).float()
        seen = torch.cat([counts[likely], counts[~likely].sum()[None]])
        freedom = len(expected) - 1
        chi = float(((seen - expected).square() / expected.clamp_min(1e-9)).sum())
        assert chi < freedom + 5 * math.sqrt(2 * freedom)


def test_padding_of_the_vocabulary_is_never_written(pico):
    out = continued(pico.model, torch.ones(64, 1, dtype=torch.long), 12, 10, generator(), Run())
    assert int(out.max()) < 10


def test_windows_begin_a_text_or_continue_one(pico):
    alone, after = feed_of(pico), feed_of(pico, continues=True)
    assert alone.windows.shape == (40, 25)
    assert set(alone.windows[:, 0].tolist()) == {pico.model.config.eos_token_id}
    _, truth = alone.answers(pico.model, alone.windows[:2])
    assert torch.equal(truth, alone.windows[:2, 1:])
    _, truth = after.answers(pico.model, after.windows[:2])
    assert (truth[:, :5] == IGNORED).all()  # five of the six tokens that were given are to be told, and aren't the teacher's
    assert torch.equal(truth[:, 5:], after.windows[:2, 6:])


def test_what_is_kept_aside_is_not_learnt(pico):
    feed = feed_of(pico)
    aside = {tuple(row) for part in feed.held_out for row in part.tolist()}
    batches = feed.batches(4, 0)
    learnt = {tuple(row) for _ in range(30) for row in next(batches).tolist()}
    assert len(aside) == 2
    assert len(learnt) == 38
    assert not aside & learnt


@pytest.mark.parametrize("data", ["written", "continued"])
def test_a_student_learns_on_its_teachers_text(pico, data):
    run = Recorder()
    outcome = apply("distil", pico, run, **QUICK | WRITTEN | {"data": data})
    assert min(run.curve("heldout_kl")[1:]) < run.curve("heldout_kl")[0]
    assert any("tokens that the teacher wrote" in note for note in outcome.notes)


def test_writing_goes_on_where_it_stopped(pico_llama, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS", 0)
    monkeypatch.setattr(writing, "ROWS", 8)
    pico = load.load(pico_llama)
    whole = feed_of(pico).windows

    class Cut(Exception):
        pass

    calls = []

    def cut(*args):
        calls.append(len(calls))
        if len(calls) == 4:
            raise Cut
        return continued(*args)

    given = give(pico, work=tmp_path)
    again = lambda: WrittenFeed(pico.model, given, DistilParams(**QUICK), 960, False, Run()).windows
    monkeypatch.setattr(writing, "continued", cut)
    with pytest.raises(Cut):
        again()
    assert torch.equal(again(), whole)
    assert len(calls) == 4 + 2  # three of five parts had been kept
    assert torch.equal(again(), whole)
    assert len(calls) == 6


def test_the_students_own_text_is_marked_and_drawn_by_step(pico):
    rows = torch.arange(4 * 25).view(4, 25) % 300
    own = OnPolicy(pico.model, 1.0, 300, 0, Run())
    out = own(rows, 3)
    assert (out < 0).all()
    assert torch.equal(~out[:, :6], rows[:, :6])
    assert torch.equal(out, own(rows, 3))
    assert not torch.equal(out, own(rows, 4))
    assert torch.equal(OnPolicy(pico.model, 0.0, 300, 0, Run())(rows, 3), rows)
    half = OnPolicy(pico.model, 0.5, 300, 0, Run())
    assert 20 <= sum(bool((half(rows[:, :4], step) < 0).all()) for step in range(60)) <= 40


def test_a_text_that_the_teacher_ended_is_ended_for_a_student_with_other_tokens(pico, tmp_path):
    """By the student's own token; a window that was only cut off is no ended text."""
    theirs = make_tokenizer(tmp_path / "own", 280)
    theirs.add_special_tokens({"eos_token": "<|stop|>"})
    ids = lambda text: pico.tokenizer(text)["input_ids"]
    end = pico.tokenizer.eos_token_id
    windows = [[end, *ids("the sea")], [*ids("a ship"), end, *ids("the wind"), end], [end, *ids("an oar")]]
    feed = SimpleNamespace(windows=SimpleNamespace(tolist=lambda: windows))
    assert told(feed, pico.model, give(pico), theirs).content == "the sea\n\na ship<|stop|>the wind<|stop|>an oar"
    read = theirs(told(feed, pico.model, give(pico), theirs).content, add_special_tokens=False)["input_ids"]
    assert read.count(theirs.eos_token_id) == 2
    theirs.eos_token = None
    assert told(feed, pico.model, give(pico), theirs).content == "the sea\n\na ship\n\nthe wind\n\nan oar"


def test_nothing_is_told_of_what_the_student_writes(pico):
    torch.manual_seed(0)
    student, teacher = torch.randn(2, 3, 11), torch.randn(2, 3, 11)
    labels = torch.randint(11, (2, 3))
    how = Against(alpha=0.5)
    untold = distillation_loss(student, teacher, torch.full_like(labels, UNTOLD), how)
    assert "loss/text" not in untold  # a curve would fall to 0 at such steps
    assert torch.equal(untold["loss"], untold["loss/teacher"])
    assert torch.equal(untold["loss/teacher"], distillation_loss(student, teacher, labels, how)["loss/teacher"])
    labels[0] = UNTOLD
    some = distillation_loss(student, teacher, labels, how)["loss/text"]
    assert float(some) == pytest.approx(float(torch.nn.functional.cross_entropy(student[1], labels[1])), rel=1e-6)


def test_a_student_learns_on_its_own_text_and_the_same_again(pico_llama):
    def made(run):
        return apply("distil", load.load(pico_llama), run, **QUICK, on_policy=0.5).model

    run = Recorder()
    assert same(made(run), made(Recorder()))
    told = run.curve("loss/text")
    assert 0 < len(told) < len(run.curve("loss"))
    assert min(told) > 0
    assert min(run.curve("heldout_kl")[1:]) < run.curve("heldout_kl")[0]


@pytest.mark.parametrize("values", [WRITTEN, {"on_policy": 0.5}])
def test_a_classifier_writes_nothing(pico_bert, values):
    rows = [(f"the wind {i}", i % 2) for i in range(40)]
    texts, numbers = zip(*rows, strict=True)
    labels = Labels("a.csv", "a.csv", "", texts, numbers, ("bad", "good"), "text", "label")
    loaded = load.load(pico_bert)
    loaded.model = apply("classify", loaded, given=give(loaded, labels=labels), steps=1, batch=2, context=16).model
    loaded.info = loaded.info.model_copy(update={"task": "classifier"})
    with pytest.raises(UserError, match="writes no text"):
        apply("distil", loaded, given=give(loaded, labels=labels), **QUICK | values)
