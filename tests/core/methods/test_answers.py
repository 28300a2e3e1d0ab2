"""A teacher's answers on disk: the loss is the one computed with the teacher, and what a kill leaves is gone on from, and nothing else."""

import itertools

import pytest
import torch

from core import methods
from core.errors import UserError
from core.methods import checkpoints
from core.methods.distillation import answers
from core.methods.distillation.answers import Answers, batches_of, coarse, most_bytes
from core.methods.distillation.distil import DistilParams
from core.methods.distillation.students import shallower
from core.methods.feeds import feed_for, objective
from core.methods.losses import Against, Top
from core.models import load, size
from core.run import Run
from tests.core.methods.conftest import Recorder, apply, give, same
from tests.core.methods.test_classify import LABELS

QUICK = {"steps": 12, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32"}
PARAMS = DistilParams(**QUICK)
KEPT = {"answers": "kept", "layers": 1, "top_k": 8}


def kept_of(pico, folder, against, feed=None, run=None, known=None, steps=12):
    feed = feed or feed_for(pico.model, give(pico), PARAMS, Run(), anew=False)
    vocabulary = feed.outputs(pico.model)
    against = coarse(against, vocabulary, False)
    made = Answers(folder, pico.model, feed, batches_of(feed, 4, steps, 0), vocabulary, against, known=known or {}, run=run or Run())
    made.gather(2)
    return feed, made, against


class Counting(torch.nn.Module):
    """A teacher that counts the rows that it's asked for."""

    def __init__(self, model):
        super().__init__()
        self.model, self.rows = model, 0

    @property
    def config(self):
        return self.model.config

    def forward(self, input_ids, **how):
        self.rows += len(input_ids)
        return self.model(input_ids=input_ids, **how)


@pytest.mark.parametrize(
    "against",
    [
        Against("forward", 2.0, 0.5, 8),
        Against("reverse", 1.0, 0.0, 3),
        Against("js", 3.0, 0.5, 20),
        Against("tv", 1.0, 0.5),
        Against("mse"),
        Against("forward", 2.0, 0.5, 5000),
    ],
)
def test_the_loss_is_the_one_computed_with_the_teacher(pico, tmp_path, against):
    feed, kept, against = kept_of(pico, tmp_path, against)
    student = shallower(pico.model, [0]).requires_grad_(True)
    live, judge = objective(feed, student, Run(), teacher=pico.model, against=against)
    read, judge_too = objective(feed, student, Run(), teacher=pico.model, against=against, kept=kept)
    for rows in itertools.islice(feed.batches(4, 0), 3):
        found = []
        for loss_of in (live, read):
            losses = loss_of(rows)
            losses["loss"].backward()
            gradient = torch.cat([p.grad.flatten() for p in student.parameters() if p.grad is not None])
            student.zero_grad()
            found.append((losses, gradient))
        (one, g1), (two, g2) = found
        assert {k: v.item() for k, v in two.items()} == pytest.approx({k: v.item() for k, v in one.items()}, rel=2e-3, abs=1e-5)
        assert float((g1 - g2).norm() / g1.norm()) < 5e-3  # total variation has jumps where both are as likely
    assert judge() == judge_too()


def test_the_tail_is_exact_and_the_rest_within_float16(pico, tmp_path):
    feed, kept, _ = kept_of(pico, tmp_path, Against("forward", 2.0, 0.5, 8))
    rows = next(feed.batches(4, 0))
    with torch.no_grad():
        wanted = Against("forward", 2.0, 0.5, 8).brief(feed.answers(pico.model, rows)[0])
    found = kept.of(rows)
    assert isinstance(found, Top)
    assert torch.equal(found.tokens, wanted.tokens)
    assert torch.allclose(found.logs[..., -1], wanted.logs[..., -1], atol=1e-6)
    assert torch.allclose(found.logs[..., :-1], wanted.logs[..., :-1], rtol=2**-10)


def test_each_window_is_asked_for_once_and_what_is_not_kept_is_none(pico, tmp_path):
    feed = feed_for(pico.model, give(pico), PARAMS, Run(), anew=False)
    teacher = Counting(pico.model)
    kept = Answers(tmp_path, teacher, feed, batches_of(feed, 4, 40, 0), 300, Against(top_k=4), known={}, run=Run())
    kept.gather(5)
    assert kept.asked == 160
    assert teacher.rows == kept.count == len({row.numpy().tobytes() for row in itertools.chain(*batches_of(feed, 4, 40, 0))}) < 80
    assert sum(p.stat().st_size for p in tmp_path.glob("answers/*")) == kept.bytes + answers.KEY + answers.SUM
    rows = next(feed.batches(4, 0))
    assert kept.of(rows) is not None
    assert kept.of(~rows) is None  # as what the student wrote itself comes
    loss_of, _ = objective(feed, pico.model, Run(), teacher=teacher, against=Against(top_k=4), kept=kept)
    loss_of(rows)
    assert teacher.rows == kept.count
    loss_of(~rows)
    assert teacher.rows == kept.count + 4


def test_what_is_damaged_is_asked_again(pico, tmp_path, monkeypatch):
    monkeypatch.setattr(answers, "SHARD", 1)
    against = Against("forward", 2.0, 0.5, 8)
    feed, whole, _ = kept_of(pico, tmp_path, against)
    rows = next(feed.batches(4, 0))
    before = whole.of(rows).logs
    files = sorted((tmp_path / answers.FOLDER).iterdir())
    content = [p.read_bytes() for p in files]
    assert len(files) > 4
    files[-1].write_bytes(content[-1][:-7])  # cut off
    files[-2].write_bytes(content[-2][:5] + b"?" + content[-2][6:])  # changed
    (tmp_path / answers.FOLDER / "x.part").write_bytes(b"half")
    run = Recorder()
    _, again, _ = kept_of(pico, tmp_path, against, run=run)
    assert [p.read_bytes() for p in sorted((tmp_path / answers.FOLDER).iterdir())] == content
    assert any("were kept by an earlier try" in getattr(e, "text", "") for e in run.events)
    assert torch.equal(before, again.of(rows).logs)


@pytest.mark.parametrize("change", ["weights", "k", "temperature", "known", "steps"])
def test_what_was_kept_of_something_else_is_not_used(pico, tmp_path, change):
    run = Recorder()
    kept_of(pico, tmp_path, Against("forward", 2.0, 0.5, 8))
    if change == "weights":
        next(pico.model.parameters()).data[0] += 1
    other = {"k": Against("forward", 2.0, 0.5, 9), "temperature": Against("forward", 3.0, 0.5, 8)}.get(
        change, Against("forward", 2.0, 0.5, 8)
    )
    feed, kept, against = kept_of(
        pico, tmp_path, other, run=run, known={"context": 8} if change == "known" else {}, steps=3 if change == "steps" else 12
    )
    assert not any("kept by an earlier try" in getattr(e, "text", "") for e in run.events)
    rows = next(feed.batches(4, 0))
    with torch.no_grad():
        wanted = against.brief(feed.answers(pico.model, rows)[0])
    assert torch.equal(kept.of(rows).tokens, wanted.tokens)


def test_a_full_disk_is_told_before_it_begins(pico, tmp_path, monkeypatch):
    monkeypatch.setattr("core.models.save.shutil.disk_usage", lambda folder: type("", (), {"free": 1000}))
    with pytest.raises(UserError, match="The disk has"):
        kept_of(pico, tmp_path, Against("forward", 2.0, 0.5, 8))


# ---- in distil ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [{}, {"data": "written", "written": 400}, {"data": "continued", "written": 400, "on_policy": 0.5}])
def test_a_killed_training_ends_as_one_that_was_not(pico_llama, tmp_path, monkeypatch, data):
    monkeypatch.setattr(checkpoints, "SECONDS", 0)

    def cut(run, step):
        if step == 8:
            raise KeyboardInterrupt

    values = QUICK | KEPT | data
    loaded = load.load(pico_llama)
    with pytest.raises(KeyboardInterrupt):
        apply("distil", loaded, Recorder(cut), give(loaded, work=tmp_path), **values)
    loaded, run = load.load(pico_llama), Recorder()
    resumed = apply("distil", loaded, run, give(loaded, work=tmp_path), **values)
    assert any("kept by an earlier try" in getattr(e, "text", "") for e in run.events)
    assert 0 < len(run.curve("lr")) < 6
    loaded = load.load(pico_llama)
    whole = apply("distil", loaded, **values)
    assert same(resumed.model, whole.model)
    assert resumed.notes == whole.notes
    assert any("asked once for each of" in note for note in whole.notes)


def test_it_learns_what_it_learns_without(pico_llama):
    """Of windows that the teacher wrote, which are the same either way."""
    found = []
    for how in ("kept", "computed"):
        loaded, run = load.load(pico_llama), Recorder()
        apply("distil", loaded, run, data="written", written=400, top_k=8, layers=1, answers=how, **QUICK)
        found.append(run.curve("heldout_loss"))
    assert found[0][0] == found[1][0]  # judged by the teacher itself
    assert found[0][-1] == pytest.approx(found[1][-1], rel=1e-3)


def test_a_classifier_keeps_its_logits(pico_bert):
    loaded = load.load(pico_bert)
    given = give(loaded, labels=LABELS)
    values = {"steps": 6, "batch": 4, "context": 24, "learning_rate": 1e-3, "precision": "float32"}
    teacher = apply("classify", loaded, given=given, **values).model
    info = loaded.info.model_copy(update={"task": "classifier"})
    loaded.model = teacher
    found = [
        apply("distil", loaded, given=give(loaded, labels=LABELS, info=info), layers=1, answers=how, **values).model
        for how in ("kept", "computed")
    ]
    a, b = (torch.cat([p.flatten() for p in m.parameters()]) for m in found)
    assert torch.allclose(a, b, atol=2e-3)  # padded to other lengths, so not to the last bit


@pytest.mark.parametrize("values", [{"hidden": 1.0}, {"relations": 1.0}])
def test_what_is_not_kept_is_refused(pico, values):
    with pytest.raises(UserError, match="aren't kept on disk"):
        apply("distil", pico, **QUICK | KEPT | values)


def test_its_size_beforehand(pico, tmp_path):
    """What's said before is no less than what's taken, and as much where no window comes twice."""
    _, kept, against = kept_of(pico, tmp_path, Against("forward", 2.0, 0.5, 8), steps=1)
    assert kept.asked == kept.count == 4
    assert most_bytes(4 * 24, 300, against) == kept.bytes
    assert most_bytes(1, 70_000, Against(top_k=10)) == 10 * (4 + 2) + 4
    assert most_bytes(1, 60_000, Against()) == 64 * (2 + 2) + 4
    assert most_bytes(1, 60_000, Against("mse")) == 2 * 60_000


def test_its_size_is_said_beforehand(pico, pico_llama):
    """As an upper bound, whatever share of the steps is on the student's own text, for which nothing is kept."""
    ledger = size.ledger(pico_llama)
    values = {"answers": "kept", "top_k": 8, "steps": 1000, "batch": 10, "context": 100, "layers": 1}
    for more in ({}, {"on_policy": 0.5}):
        notes = methods.estimate("distil", values | more, pico.info, ledger)["notes"]
        assert any("up to 36 MB on disk" in note for note in notes), notes  # a million positions of 8 tokens
