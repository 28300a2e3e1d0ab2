"""A draft that's made for a target: its depth, its acceptance, what's predicted of it, and that it goes on where it stopped."""

import json
from types import SimpleNamespace

import pytest
import torch

from core import methods
from core.decode import calibrate
from core.errors import Cancelled, UserError
from core.methods import checkpoints
from core.methods.distillation import draft as drafts
from core.methods.distillation import students, told
from core.methods.distillation.draft import DraftParams, depths, predicted
from core.methods.distillation.told import Told
from core.models import draft_words, load, size
from core.models.blocks import blocks
from core.models.packed_embedding import head_of
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply, give, same

QUICK = {"steps": 30, "layers": 1, "batch": 4, "context": 24, "written": 1500, "learning_rate": 5e-3, "precision": "float32"}


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return make_pico(tmp_path_factory.mktemp("pico") / "target", layers=8)


def made_up(target, draft, longest):
    """Costs of a machine where a layer of a draft takes a tenth of what the target takes."""
    return {"target": {1: 1.0, longest + 1: 1.2}, "draft": {1: 0.02 + 0.1 * len(blocks(draft))}}


def test_a_draft_learns_to_be_kept(target):
    loaded, run = load.load(target), Recorder()
    before = {k: v.clone() for k, v in loaded.model.state_dict().items()}
    outcome = apply("draft", loaded, run, give(loaded, costs=made_up), **QUICK)
    kept, gains = run.curve("acceptance"), run.curve("predicted_speedup")
    assert max(kept) > kept[0] + 0.02
    assert len(kept) == len(gains)
    assert gains[0] == pytest.approx(predicted(kept[0], made_up(None, outcome.model, 8), 8)[1])
    assert all(torch.equal(before[k], v) for k, v in loaded.model.state_dict().items())
    assert outcome.notes[0] == "Draft: 1 of the target's 8 layers."
    assert any(note.startswith("Acceptance alpha on what the target wrote") for note in outcome.notes)
    assert any("A drafted token costs 0.120 of the target's" in note for note in outcome.notes)


def test_acceptance_is_the_mean_overlap_of_what_both_say(target):
    """Against the formula on the windows kept aside, where the target wrote."""
    loaded, run = load.load(target), Recorder()
    given = give(loaded)
    student = apply("draft", loaded, run, given, loss="tv", **QUICK).model
    params = DraftParams(**QUICK)
    feed = drafts._Work(loaded.model, params, run, given).feed(drafts.Plan(1, 30, 1500, None, {}))
    overlaps = []
    with torch.no_grad():
        for rows in feed.held_out:
            p, q = (m(input_ids=rows[:, :-1]).logits.double().softmax(-1) for m in (student, loaded.model))
            overlaps.append(torch.minimum(p, q).sum(-1)[:, feed.given - 1 :].flatten())
    assert float(torch.cat(overlaps).mean()) == pytest.approx(max(run.curve("acceptance")), abs=1e-5)


def by_words(target, draft, longest):
    """Costs of a machine where each token that the draft may say takes a hundredth of what the target takes."""
    head = head_of(draft)
    words = len(head.kept) if isinstance(head, draft_words.ShortHead) else len(head.weight)
    return {"target": {1: 1.0, longest + 1: 1.2}, "draft": {1: 0.02 + words / 100}}


def test_it_says_as_many_tokens_as_pay(target, monkeypatch):
    """Chosen by the predicted speed-up; acceptance against the formula, where all that it can't say is lost."""
    monkeypatch.setattr(drafts, "WORDS", (32, 64, 128))
    loaded, run = load.load(target), Recorder()
    outcome = apply("draft", loaded, run, give(loaded, costs=by_words), **QUICK)
    kept = torch.tensor(json.loads(outcome.files[draft_words.FILE])["tokens"])
    assert len(kept) in (32, 64, 128)
    assert loaded.tokenizer.eos_token_id in kept
    assert any(note.startswith(f"It says {len(kept)} of the 300 tokens") for note in outcome.notes)
    work = drafts._Work(loaded.model, DraftParams(**QUICK), run, give(loaded))
    feed = work.feed(drafts.Plan(1, 30, 1500, None, {}))
    overlaps = []
    with torch.no_grad():
        for rows in feed.held_out:
            mine, theirs = (m(input_ids=rows[:, :-1]).logits.double() for m in (outcome.model, loaded.model))
            overlaps.append(
                torch.minimum(mine[..., kept].softmax(-1), theirs.softmax(-1)[..., kept]).sum(-1)[:, feed.given - 1 :].flatten()
            )
    assert float(torch.cat(overlaps).mean()) == pytest.approx(max(run.curve("acceptance")), abs=1e-5)


def test_all_tokens_where_few_cost_as_much(target, monkeypatch):
    monkeypatch.setattr(drafts, "WORDS", (32, 64, 128))
    loaded = load.load(target)
    assert draft_words.FILE not in apply("draft", loaded, given=give(loaded, costs=made_up), **QUICK).files


@pytest.mark.parametrize("kind", ["forward", "tv"])
def test_what_was_asked_once_gives_the_loss_of_the_formula(target, kind):
    """Of the tokens that may be said: the likeliest apart, the others as one, in float64."""
    loaded, kept = load.load(target), torch.arange(0, 300, 3)
    params = DraftParams(**QUICK | {"loss": kind})
    feed = drafts._Work(loaded.model, params, Recorder(), give(loaded)).feed(drafts.Plan(1, 30, 1500, None, {}))
    asked = Told(feed, loaded.model, kept, kind, "float32", Recorder())
    student = students.shallower(loaded.model, [0])
    draft_words.learn_rows(student, kept)
    numbers = torch.tensor([0, 2])
    found = float(asked.loss_of(student, numbers)["loss"])
    rows = feed.windows[numbers]
    with torch.no_grad():
        p = loaded.model(input_ids=rows[:, :-1]).logits[:, feed.given - 1 :][..., kept].double().softmax(-1)
        q = student(input_ids=rows[:, :-1]).logits[:, feed.given - 1 :].double().softmax(-1)
    best = p.topk(asked.few, -1).indices
    p, q = (torch.cat([x.gather(-1, best), 1 - x.gather(-1, best).sum(-1, keepdim=True)], -1) for x in (p, q))
    by_hand = (p * (p / q).log()).sum(-1) if kind == "forward" else (p - q).abs().sum(-1) / 2
    assert found == pytest.approx(float(by_hand.mean()), rel=2e-3)


def test_the_depth_that_pays_most_is_taken(target):
    def chosen(costs):
        loaded, run = load.load(target), Recorder()
        model = apply("draft", loaded, run, give(loaded, costs=costs), **QUICK | {"layers": None}).model
        assert len(run.curve("loss")) == 30  # trials draw no curves
        return len(blocks(model))

    dear = lambda target, draft, longest: {"target": {1: 1.0, longest + 1: 1.2}, "draft": {1: 10.0 ** len(blocks(draft))}}
    assert depths(8) == [1, 2]
    assert chosen(dear) == 1


@pytest.mark.parametrize(("layers", "tried"), [(30, [2, 4, 8]), (8, [1, 2]), (2, [1]), (80, [5, 10, 20])])
def test_depths_that_are_tried(layers, tried):
    assert depths(layers) == tried


def test_what_is_predicted_is_the_formula():
    costs = {"target": {1: 1.0, 2: 1.1, 5: 1.4}, "draft": {1: 0.1}}
    by_hand = {g: sum(0.8**k for k in range(g + 1)) / (g * 0.1 + t) for g, t in ((1, 1.1), (2, 1.2), (3, 1.3), (4, 1.4))}
    gamma, speed = predicted(0.8, costs, 4)
    assert gamma == max(by_hand, key=by_hand.get)
    assert speed == pytest.approx(by_hand[gamma])


def test_costs_are_measured_on_models_laid_out_for_decoding(target):
    table = calibrate.pair(load.load(target, dtype="float32").model, load.load(target, dtype="float32").model, 4)
    assert sorted(table["target"]) == [1, 2, 3, 5]
    assert all(seconds > 0 for seconds in (*table["target"].values(), *table["draft"].values()))


def test_a_time_is_kept_to(target):
    loaded, run = load.load(target), Recorder()
    outcome = apply("draft", loaded, run, give(loaded), **QUICK | {"steps": None, "minutes": 0.02})
    assert len(run.curve("loss")) >= drafts.FEWEST
    assert len(blocks(outcome.model)) == 1


def test_a_draft_that_is_cut_off_goes_on_with_its_plan(target, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS", 0)
    settings = QUICK | {"steps": None, "minutes": 0.02}

    class Cut(Exception):
        pass

    def cut(run, step):
        if step == 8:
            raise Cut

    loaded = load.load(target)
    with pytest.raises(Cut):
        apply("draft", loaded, Recorder(cut), give(loaded, work=tmp_path, costs=made_up), **settings)
    plan = json.loads((tmp_path / drafts.PLAN).read_text(encoding="utf-8"))
    loaded, run = load.load(target), Recorder()
    resumed = apply("draft", loaded, run, give(loaded, work=tmp_path, costs=made_up), **settings).model
    assert [e.step for e in run.events if getattr(e, "name", "") == "lr"] == list(range(8, plan["steps"] + 1))
    (tmp_path / checkpoints.FILE).unlink()
    loaded = load.load(target)
    assert same(apply("draft", loaded, given=give(loaded, work=tmp_path, costs=made_up), **settings).model, resumed)


def test_a_draft_of_packed_weights_or_of_all_layers_is_refused(target):
    loaded = load.load(target)
    with pytest.raises(UserError, match="isn't shallower"):
        apply("draft", loaded, **QUICK | {"layers": 8})
    apply("rtn", loaded)
    with pytest.raises(UserError, match="already quantized"):
        apply("draft", loaded, **QUICK)


@pytest.mark.parametrize(("values", "name"), [({}, "draft"), ({"layers": 1}, "draft, 1 layer"), ({"layers": 3}, "draft, 3 layers")])
def test_its_name(values, name):
    assert methods.label(methods.get("draft"), DraftParams(**values)) == name


def test_what_it_gains_is_measured_beside_what_is_predicted(target):
    """At the start or the end at least, and in the note; the student that's measured is a copy."""
    seen = []

    def duel(model):
        def measured(draft, prompts, gamma):
            seen.append((draft, len(prompts), gamma))
            return 1.25

        return measured

    loaded, run = load.load(target), Recorder()
    outcome = apply("draft", loaded, run, give(loaded, costs=made_up, duel=duel), **QUICK)
    assert set(run.curve("measured_speedup")) == {1.25}
    assert any("1.25 times as fast" in note for note in outcome.notes)
    assert all(draft is not outcome.model and prompts <= 3 and 1 <= gamma <= 8 for draft, prompts, gamma in seen)


def test_a_training_is_not_lost_where_its_gain_cannot_be_measured(target):
    """Hours of it: the copies for measuring may need memory that isn't there. A cancel still ends it."""

    def duel(model):
        raise MemoryError("no room")

    loaded, run = load.load(target), Recorder()
    outcome = apply("draft", loaded, run, give(loaded, costs=made_up, duel=duel), **QUICK)
    assert len(run.curve("loss")) == 30
    assert "measured_speedup" not in {getattr(e, "name", "") for e in run.events}
    assert not any("times as fast" in note for note in outcome.notes)
    assert [e.text for e in run.events if getattr(e, "level", "") == "WARN"] == [
        "What the draft gains can't be measured here: MemoryError: no room"
    ]

    def cancelled(model):
        raise Cancelled

    with pytest.raises(Cancelled):
        apply("draft", loaded, Recorder(), give(loaded, costs=made_up, duel=cancelled), **QUICK)


def test_what_the_target_said_is_counted_in_the_memory(target):
    """What's kept of each written token, against the tensors themselves."""
    loaded = load.load(target)
    work = drafts._Work(loaded.model, DraftParams(**QUICK), Recorder(), give(loaded))
    asked = work.told(drafts.Plan(1, 30, 1500, None, {}))
    each = (asked.tokens.nbytes + asked.logs.nbytes) / asked.tokens[..., 0].numel()
    aside = sum(p.nbytes for p, _ in asked._whole)
    memory = lambda written: methods.estimate("draft", QUICK | {"written": written, "steps": 10_000}, loaded.info, size.ledger(target))[
        "memory"
    ]
    assert memory(200_000) - memory(100_000) == pytest.approx(2 * each * 100_000, rel=0.01)  # twice, while it's put together
    assert told.most_bytes(0, QUICK["context"], work.columns) >= aside


def test_depths_that_there_is_no_time_to_try_are_left_out():
    paces = {2: 1.0, 4: 2.0, 8: 4.0}
    tried = lambda **values: drafts._Work._payable(SimpleNamespace(params=DraftParams(**values), run=Recorder()), [2, 4, 8], paces)
    assert tried(minutes=10) == [2, 4, 8]  # 70 s of 120
    assert tried(minutes=3) == [2, 4]  # 30 s of 36
    assert tried(minutes=0.1) == [2]
    assert tried(minutes=0.1, steps=5) == [2, 4, 8]
