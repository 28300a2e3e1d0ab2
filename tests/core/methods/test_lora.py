"""Low-rank additions: nothing before the first step, folded to the very model that was trained, zeros held, and undone on failure."""

import pytest
import torch

from core import methods
from core.errors import Cancelled, UserError
from core.methods.recovery import lora
from core.methods.recovery.finetune import FinetuneParams
from core.methods.training import zeros_of
from core.models import load
from core.models.blocks import blocks, linears
from tests.core.methods.conftest import Recorder, apply, give, same

QUICK = {"steps": 12, "batch": 4, "context": 24, "lora_learning_rate": 1e-2, "precision": "float32", "weights": "lora", "rank": 4}
IDS = torch.arange(2 * 20).view(2, 20)


@pytest.fixture(params=["pico_llama", "pico_gpt2"])
def loaded(request):
    return load.load(request.getfixturevalue(request.param))


def logits(model):
    with torch.no_grad():
        return model(input_ids=IDS, use_cache=False).logits


@pytest.mark.parametrize("pruned", [False, True])
def test_folded_is_what_was_trained(loaded, pruned):
    if pruned:
        apply("magnitude", loaded, pattern="2:4")
    model = loaded.model
    hold = zeros_of(linears(model), model) if pruned else {}
    before, plain = logits(model), {name: p.clone() for name, p in model.named_parameters()}
    with lora.added(model, 4, hold) as learns:
        torch.testing.assert_close(logits(model), before)  # B is zero: nothing has changed
        learning = {name for name, _ in model.named_parameters() if learns(name)}
        for name, p in model.named_parameters():
            if name in learning:
                p.data.normal_(std=0.1, generator=torch.Generator().manual_seed(len(name)))
        trained = logits(model)
    assert len(learning) == 2 * sum(len([m for _, m in linears(block)]) for _, block in blocks(model))
    assert not torch.allclose(trained, before, atol=1e-3)
    torch.testing.assert_close(logits(model), trained, atol=2e-5, rtol=1e-4)
    assert {name for name, _ in model.named_parameters()} == set(plain)  # no trace of peft is left
    assert not hasattr(model, "peft_config")
    for name, mask in hold.items():
        assert not model.get_parameter(name)[mask].any()
    inside = {f"{name}.weight" for name, _ in linears(model)}
    assert all(torch.equal(p, plain[name]) for name, p in model.named_parameters() if name not in inside)


def test_an_exception_leaves_the_weights_as_they_were(pico_llama):
    loaded = load.load(pico_llama)
    run = Recorder(lambda run, step: run.control("cancel") if step == 3 else None)
    with pytest.raises(Cancelled):
        apply("finetune", loaded, run, **QUICK)
    assert same(loaded.model, load.load(pico_llama).model)


def test_it_learns_and_says_so(pico):
    run = Recorder()
    outcome = apply("finetune", pico, run, **QUICK)
    assert min(run.curve("heldout_loss")) < run.curve("heldout_loss")[0]
    assert any("rank 4" in note for note in outcome.notes)


def test_the_same_seed_gives_the_same_weights(pico_llama):
    make = lambda seed: apply("finetune", load.load(pico_llama), given=give(load.load(pico_llama), seed=seed), **QUICK | {"steps": 3}).model
    assert same(make(1), make(1))
    assert not same(make(1), make(2))


@pytest.mark.parametrize("weights", ["all", "lora"])
def test_the_uncut_model_can_teach(pico_llama, weights):
    loaded = load.load(pico_llama)
    apply("magnitude", loaded, sparsity=0.6)
    run = Recorder()
    given = give(loaded, uncut="whole", load_variant=lambda name: {"whole": load.load(pico_llama)}[name])
    outcome = apply("finetune", loaded, run, given, **QUICK | {"weights": weights, "loss": "teacher", "alpha": 0, "learning_rate": 5e-3})
    kl = run.curve("heldout_kl")
    assert kl[0] > 0
    assert min(kl) < kl[0]
    assert any("the uncut model" in note for note in outcome.notes)


def test_a_teacher_that_cannot_teach(pico, pico_bert):
    with pytest.raises(UserError, match="wasn't cut down from another"):
        apply("finetune", pico, **QUICK | {"loss": "teacher"})
    given = give(pico, load_variant=lambda name: load.load(pico_bert))
    with pytest.raises(UserError, match="can't teach"):
        apply("finetune", pico, given=given, **QUICK | {"loss": "teacher", "teacher": "bert"})


def test_its_name():
    label = lambda **values: methods.label(methods.get("finetune"), FinetuneParams(**values))
    assert label(weights="lora", steps=50) == "LoRA, 50 steps"
    assert label(loss="teacher", steps=1) == "fine-tuned, 1 step, taught"
