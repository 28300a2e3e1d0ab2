"""Cutting and training in turns: the ramp, exact shares, held zeros, the budget, rewinding, and parts that are cut or masked."""

import math

import pytest
import torch

from core.errors import Cancelled, UserError
from core.methods import training
from core.methods.pruning import iterative as module
from core.methods.pruning.iterative import ramp
from core.models import load
from core.models.blocks import blocks, linears, weight_of
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply, give, same
from tests.core.methods.test_classify import LABELS
from tests.core.methods.test_classify import QUICK as LEARN

QUICK = {"steps": 4, "batch": 2, "context": 24, "learning_rate": 5e-3, "precision": "float32", "rounds": 3, "windows": 4}


def zeros(model):
    found = [weight_of(m) == 0 for _, m in linears(model)]
    return sum(int(m.sum()) for m in found), sum(m.numel() for m in found)


def test_the_ramp_is_cubic_and_ends_where_it_should():
    assert ramp(0.5, 1) == [0.5]
    shares = ramp(0.8, 4)
    assert shares == pytest.approx([0.8 * (1 - f**3) for f in (0.75, 0.5, 0.25, 0)])
    cuts = [b - a for a, b in zip([0, *shares], shares, strict=False)]
    assert cuts == sorted(cuts, reverse=True)  # most goes early


@pytest.mark.parametrize("criterion", ["magnitude", "wanda", "sparsegpt"])
def test_the_share_is_exact_and_what_was_cut_stays_cut(pico, criterion):
    kept, seen = {}, []

    def look(run, step):
        for name, m in linears(pico.model):
            now = weight_of(m) == 0
            seen.append(name in kept and bool((kept[name] & ~now).any()))  # a zero that came back
            kept[name] = now

    run = Recorder(look)
    outcome = apply("iterative", pico, run, criterion=criterion, sparsity=0.6, **QUICK)
    found, total = zeros(outcome.model)
    assert found == int(0.6 * total + 0.5)
    assert not any(seen)
    assert run.curve("iterative/sparsity") == pytest.approx([0, *ramp(0.6, 3)], abs=1e-3)
    assert len(run.curve("iterative/heldout_perplexity")) == 4
    assert outcome.notes[0].count("gone: perplexity") == 4
    assert len(run.curve("loss")) == 3 * QUICK["steps"]


def test_curves_go_on_over_the_rounds(pico):
    run = Recorder()
    apply("iterative", pico, run, **QUICK | {"first_steps": 3})
    steps = [e.step for e in run.events if getattr(e, "name", "") == "loss"]
    assert steps == list(range(1, 3 + 3 * QUICK["steps"] + 1))


@pytest.mark.parametrize(
    ("criterion", "sparsity", "left"),
    [("heads", 0.5, lambda m: m.config.num_key_value_heads == 2), ("channels", 0.5, lambda m: m.config.intermediate_size == 192)],
)
def test_parts_are_cut_a_few_at_a_time(tmp_path, criterion, sparsity, left):
    folder = make_pico(tmp_path / "m", num_key_value_heads=4, intermediate_size=384)
    run = Recorder()
    outcome = apply("iterative", load.load(folder), run, criterion=criterion, sparsity=sparsity, **QUICK)
    assert left(outcome.model)
    gone = run.curve("iterative/sparsity")
    assert gone == sorted(gone)
    assert len(gone) > 2


def test_layers_are_dropped_a_few_at_a_time(tmp_path):
    folder = make_pico(tmp_path / "m", layers=4)
    run = Recorder()
    outcome = apply("iterative", load.load(folder), run, criterion="layers", sparsity=0.5, **QUICK)
    assert len(blocks(outcome.model)) == outcome.model.config.num_hidden_layers == 2
    assert len(run.curve("iterative/sparsity")) == 3  # 2 go in 3 rounds: one of them had nothing to do


def test_heads_that_can_only_be_masked_stay_masked(pico_gpt2):
    loaded = load.load(pico_gpt2)
    outcome = apply("iterative", loaded, criterion="heads", sparsity=0.5, **QUICK)
    for _, block in blocks(outcome.model):
        columns = weight_of(block.attn.c_proj).view(32, 4, 8).abs().sum((0, 2))
        assert int((columns == 0).sum()) == 2


def fake_training(monkeypatch, losses):
    """Training that changes nothing, and says after each round what is given."""
    told = iter(losses)

    def train(model, rows, loss_of, judge, params, **how):
        loss = next(told)
        found = {"heldout_loss": loss, "heldout_perplexity": math.exp(loss)}
        return training.Trained(params.steps, 1, found, found, 0, False)

    monkeypatch.setattr(module.training, "train", train)


@pytest.mark.parametrize(
    ("rises", "rounds", "kept"), [([0.01, 0.05, 0.3], 3, 1), ([0.2], 1, None), ([0.05, math.nan], 2, 0), ([0.01, 0.02, 0.09], 3, 2)]
)
def test_it_ends_where_the_budget_is_left_and_keeps_the_last_state_within(monkeypatch, pico_llama, rises, rounds, kept):
    loaded = load.load(pico_llama)
    base = Recorder()
    apply("iterative", load.load(pico_llama), base, **QUICK | {"rounds": 1, "steps": 1})
    start = math.log(base.curve("iterative/heldout_perplexity")[0])
    fake_training(monkeypatch, [start + rise for rise in rises])
    run = Recorder()
    outcome = apply("iterative", loaded, run, sparsity=0.6, budget=10, **QUICK)
    assert len(run.curve("iterative/sparsity")) == rounds + 1
    found, total = zeros(outcome.model)
    assert found == (0 if kept is None else int(ramp(0.6, 3)[kept] * total + 0.5))
    assert any("left the budget" in note for note in outcome.notes) == (kept != 2)
    if kept is None:
        assert same(outcome.model, load.load(pico_llama).model)


def test_rewinding_takes_the_weights_that_stay_back(monkeypatch, pico_llama):
    fake_training(monkeypatch, [0.0] * 6)
    origin = {name: p.clone() for name, p in load.load(pico_llama).model.named_parameters()}
    real = module._Rounds.train

    def disturbed(self, params):
        done = real(self, params)
        with torch.no_grad():
            for p in self.model.parameters():
                p.mul_(1.5)
        return done

    monkeypatch.setattr(module._Rounds, "train", disturbed)
    for rewind in ("no", "weights"):
        outcome = apply("iterative", load.load(pico_llama), sparsity=0.5, rewind=rewind, **QUICK)
        factor = 1.5 if rewind == "weights" else 1.5**3  # only the last training was not taken back
        for name, p in outcome.model.named_parameters():
            assert torch.allclose(p, torch.where(p == 0, 0, origin[name] * factor)), name
        assert any("went back" in note for note in outcome.notes) == (rewind == "weights")


def test_a_classifier_is_cut_and_healed(pico_bert):
    loaded = load.load(pico_bert)
    taught = apply("classify", loaded, given=give(loaded, labels=LABELS), **LEARN).model
    loaded.model, loaded.info = taught, loaded.info.model_copy(update={"task": "classifier"})
    run = Recorder()
    outcome = apply("iterative", loaded, run, give(loaded, labels=LABELS), sparsity=0.5, **QUICK)
    found, total = zeros(outcome.model)
    assert found == int(0.5 * total + 0.5)
    assert len(run.curve("iterative/heldout_accuracy")) == 4
    assert "gone: accuracy" in outcome.notes[0]


def test_it_can_learn_from_what_it_was(pico):
    run = Recorder()
    apply("iterative", pico, run, **QUICK | {"loss": "teacher", "rounds": 1})
    assert run.curve("heldout_kl")[0] > 0


def test_the_same_seed_gives_the_same_weights(pico_llama):
    make = lambda seed: apply("iterative", load.load(pico_llama), given=give(load.load(pico_llama), seed=seed), **QUICK).model
    assert same(make(1), make(1))
    assert not same(make(1), make(2))


def test_what_cannot_be_cut_is_said_before_it_begins(pico):
    run = Recorder()
    with pytest.raises(UserError, match=r"10 % of the 2 heads of .* can't be cut"):
        apply("iterative", pico, run, criterion="heads", sparsity=0.1, **QUICK)
    assert run.curve("loss") == []


def test_cancel_and_stop(pico_llama):
    with pytest.raises(Cancelled):
        apply("iterative", load.load(pico_llama), Recorder(lambda run, step: run.control("cancel")), **QUICK)
    run = Recorder(lambda run, step: run.control("stop") if step == 2 else None)
    outcome = apply("iterative", load.load(pico_llama), run, **QUICK)
    assert len(run.curve("iterative/sparsity")) == 2
    assert any("Finished early as asked, after round 1 of 3" in note for note in outcome.notes)
