"""Finetuning and the loop under it: zeros held, the best step kept, the same again, and ends of every kind."""

import math

import pytest
import torch

from core import methods
from core.errors import Cancelled, UserError
from core.methods import training
from core.methods.recovery.finetune import FinetuneParams
from core.models import load
from core.models.blocks import linears, weight_of
from tests.core.methods.conftest import Recorder, apply, give, make_text, same

QUICK = {"steps": 12, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32"}


def zero_masks(model):
    return {name: weight_of(module) == 0 for name, module in linears(model)}


@pytest.mark.parametrize("weight_decay", [0.0, 0.5])
@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2"])
def test_zeros_are_held_after_every_step(request, model, weight_decay):
    loaded = load.load(request.getfixturevalue(model))
    apply("magnitude", loaded, pattern="2:4")
    before = zero_masks(loaded.model)
    unlike = []

    def look(run, step):
        unlike.extend(name for name, mask in zero_masks(loaded.model).items() if not torch.equal(mask, before[name]))

    outcome = apply("finetune", loaded, Recorder(look), weight_decay=weight_decay, **QUICK)
    assert unlike == []  # none moved, and no other weight became zero
    after = zero_masks(outcome.model)
    assert all(torch.equal(after[n], before[n]) for n in before)
    assert f"{sum(int(m.sum()) for m in before.values()):,} zeros held" in outcome.notes[1]


def test_zeros_are_held_where_the_model_was_pruned_or_it_is_asked(pico_llama):
    def left(sparsity, hold):
        loaded = load.load(pico_llama)
        apply("magnitude", loaded, sparsity=sparsity, scope="layer")
        before = sum(int(m.sum()) for m in zero_masks(loaded.model).values())
        outcome = apply("finetune", loaded, hold_zeros=hold, **QUICK)
        return before, sum(int(m.sum()) for m in zero_masks(outcome.model).values())

    for sparsity, hold, kept in ((0.5, "auto", True), (0.5, "no", False), (0.005, "auto", False), (0.005, "yes", True)):
        before, after = left(sparsity, hold)
        assert before > 0
        assert (after == before) is kept, (sparsity, hold)


def test_zeros_of_a_layer_are_held_where_they_are_few_in_the_model(pico):
    layers = linears(pico.model)
    weights = sum(weight_of(module).numel() for _, module in layers)
    name, module = max(layers, key=lambda layer: weight_of(layer[1]).numel())
    gone = int(0.009 * weights)
    module.weight.data.view(-1)[:gone] = 0
    dict(layers)[layers[0][0]].weight.data.view(-1)[0] = 0  # one zero is a number like others
    assert list(training.pruned_zeros_of(layers, pico.model)) == [f"{name}.weight"]
    for how in ("all", "lora"):
        outcome = apply("finetune", pico, weights=how, **QUICK)
        assert int((module.weight.view(-1)[:gone] == 0).sum()) == gone, how
        assert f"{gone:,} zeros held" in outcome.notes[1]


def test_it_learns_and_reports(pico):
    run = Recorder()
    outcome = apply("finetune", pico, run, **QUICK)
    assert run.curve("loss")[-1] < run.curve("loss")[0]
    heldout = run.curve("heldout_perplexity")
    assert min(heldout) < heldout[0]
    assert f"{heldout[0]:.2f} before, {min(heldout):.2f} at the best step" in outcome.notes[0]
    stages = [e.stage for e in run.events if type(e).__name__ == "Progress"]
    assert "Training" in stages


def test_the_same_seed_gives_the_same_weights_and_another_seed_others(pico_llama):
    make = lambda seed: apply("finetune", load.load(pico_llama), given=give(load.load(pico_llama), seed=seed), **QUICK).model
    first = make(1)
    assert same(first, make(1))
    assert not same(first, make(2))


def trained(losses, steps):
    """A small layer trained with held-out losses that are given, one each 5 steps: (what it was at each step, what it is, Trained)."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 4)
    told, weights = iter(losses), {0: layer.weight.detach().clone()}

    def keep(run, step):
        weights[step] = layer.weight.detach().clone()

    batches = iter(lambda: torch.ones(2, 4), None)
    loss_of = lambda rows: {"loss": layer(rows).square().mean()}
    judge = lambda: (lambda x: {"heldout_loss": x, "heldout_perplexity": math.exp(x)})(next(told))
    params = FinetuneParams(**QUICK | {"steps": steps})
    done = training.train(layer, batches, loss_of, judge, params, run=Recorder(keep), device="cpu", vocabulary=10)
    return weights, layer.weight.detach(), done


def test_the_best_step_is_kept_not_the_last():
    weights, left, done = trained([5, 4, 3, 3.5, 3.2], 20)
    assert done.best_step == 10
    assert torch.equal(left, weights[10])
    assert not torch.equal(left, weights[20])
    assert "20.09 at the best step (10), which was kept" in done.sentence()


def test_what_trains_worse_leaves_the_model_as_it_was():
    weights, left, done = trained([3, 4, 3.1], 10)
    assert done.best_step == 0
    assert torch.equal(left, weights[0])
    assert done.sentence() == "10 steps; perplexity on text kept aside 20.09 before, never better: nothing was changed."


def test_a_held_out_loss_that_is_not_a_number_is_never_the_best():
    weights, left, done = trained([3, math.nan, 2.5], 10)
    assert done.best_step == 10
    assert torch.equal(left, weights[10])


def test_stop_finishes_early_with_what_there_is(pico):
    run = Recorder(lambda run, step: run.control("stop") if step == 3 else None)
    outcome = apply("finetune", pico, run, **QUICK | {"steps": 1000})
    assert len(run.curve("loss")) <= 4
    assert "finished early as asked" in outcome.notes[0]
    assert min(run.curve("heldout_loss")) == run.curve("heldout_loss")[-1]


def test_cancel_ends_it_at_the_next_step(pico):
    run = Recorder(lambda run, step: run.control("cancel") if step == 3 else None)
    with pytest.raises(Cancelled):
        apply("finetune", pico, run, **QUICK | {"steps": 1000})
    assert len(run.curve("loss")) <= 4


def test_a_training_that_diverges_says_so(pico):
    run = Recorder(lambda run, step: pico.model.model.norm.weight.data.fill_(float("nan")))
    with pytest.raises(UserError, match="diverged: at step 2") as error:
        apply("finetune", pico, run, **QUICK)
    assert "learning rate" in error.value.hint


@pytest.mark.parametrize("steps", [1, 2, 7, 300])
def test_the_learning_rate_rises_then_falls(steps):
    for warmup in (0, 0.1, 1):
        rates = [training.schedule(s, steps, warmup) for s in range(1, steps + 1)]
        top = rates.index(max(rates))
        assert max(rates) == pytest.approx(1, abs=0.01) or steps < 3
        assert rates[: top + 1] == sorted(rates[: top + 1])
        assert rates[top:] == sorted(rates[top:], reverse=True)
        assert min(rates) > 0


def test_windows_cover_the_text_and_come_in_an_order_of_the_seed():
    ids = torch.arange(100)
    take = lambda seed: [next(g) for g in [training.windows_of(ids, 9, 4, torch.Generator().manual_seed(seed))] for _ in range(6)]
    batches = take(0)
    assert all(b.shape == (4, 10) for b in batches)
    assert all((row.diff() == 1).all() for b in batches for row in b)
    assert torch.cat(batches).unique().numel() > 90
    assert all(torch.equal(a, b) for a, b in zip(batches, take(0), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(batches, take(1), strict=True))


def test_a_text_of_just_two_windows_will_do():
    generator = training.windows_of(torch.arange(10), 9, 3, torch.Generator().manual_seed(0))
    assert torch.equal(next(generator), torch.arange(10).repeat(3, 1))


def test_what_is_kept_aside_is_not_trained_on(pico):
    learn, aside = training.read(make_text(), pico.tokenizer, 24, Recorder())
    assert len(learn) + len(aside) == len(pico.tokenizer(make_text().content)["input_ids"])
    assert len(aside) % 25 == 0
    assert 25 <= len(aside) <= 16 * 25
    rows = training.kept_aside(aside, 24, 3, "cpu")
    assert all(r.shape[1] == 25 for r in rows)


def test_precision_depends_on_the_machine_alone():
    assert training.precision("float32", "cpu") is torch.float32
    assert training.precision("bfloat16", "cpu") is torch.bfloat16
    assert training.precision("auto", "cpu") is training.precision("auto", "cpu")
    assert training.precision("auto", "mps") is torch.float32


def test_bfloat16_trains_as_well(pico_llama):
    losses = {}
    for precision in ("float32", "bfloat16"):
        run = Recorder()
        apply("finetune", load.load(pico_llama), run, **QUICK | {"precision": precision})
        losses[precision] = min(run.curve("heldout_loss"))
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.05)


@pytest.mark.gpu
def test_a_gpu_gives_the_same_weights_twice(pico_llama):
    def make():
        loaded = load.load(pico_llama, device="cuda:0")
        return apply("finetune", loaded, given=give(loaded, device="cuda:0"), **QUICK | {"precision": "auto"}).model

    assert same(make().cpu(), make().cpu())


def test_what_learns_comes_before_the_loop_in_the_form():
    fields = list(FinetuneParams.model_fields)
    assert fields[:4] == ["weights", "rank", "lora_learning_rate", "loss"]
    loop = fields.index("steps")
    assert fields[loop : loop + 4] == ["steps", "batch", "context", "learning_rate"]


def test_its_name():
    assert methods.label(methods.get("finetune"), FinetuneParams(steps=200)) == "fine-tuned, 200 steps"
