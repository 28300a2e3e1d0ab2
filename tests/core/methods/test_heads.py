"""Heads: importance against a reference by hand, cut and masked alike, and what's said of each."""

import math

import pytest
import torch

from core import methods
from core.errors import UserError
from core.methods import importance
from core.methods.pruning import heads
from core.models import load, save, size, surgery
from core.models.blocks import weight_of
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply, give, same

SMALL = {"windows": 4, "context": 24}
PLAIN = SMALL | {"compensate": False}


@pytest.fixture
def examples(pico):
    given = give(pico)
    return importance.draw(pico.model, given, heads.HeadsParams(**SMALL), Run())[0]


def test_taylor_is_the_gradient_of_a_mask_by_hand(pico, examples):
    """The mask xi of a unit is a number beside each token, so that dL/dxi is a number a token as well."""
    shape = surgery.anatomy(pico.model)
    found = importance.head_scores(pico.model, shape, ["taylor", "taylor_normalised"], Run(), examples)
    masks, handles = {}, []

    def hook(layer):
        def multiply(module, args):
            x = args[0]
            masks[layer] = torch.ones(*x.shape[:2], shape.units, 1, requires_grad=True)
            return ((x.unflatten(-1, (shape.units, -1)) * masks[layer]).flatten(-2),)

        return multiply

    for layer, block in enumerate(shape.blocks):
        handles.append(pico.model.get_submodule(block.out).register_forward_pre_hook(hook(layer)))
    expected = torch.zeros(shape.layers, shape.units)
    for number, fed in enumerate(examples.inputs):
        logits = pico.model(**fed).logits
        nll = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), fed["input_ids"][:, 1:].flatten(), reduction="sum")
        assert math.isclose(float(nll.detach()), float(examples.loss(pico.model, number).detach()), rel_tol=1e-5)
        nll = torch.nn.functional.cross_entropy(
            pico.model(**fed).logits[:, :-1].flatten(0, 1), fed["input_ids"][:, 1:].flatten(), reduction="sum"
        )
        for layer, grad in enumerate(torch.autograd.grad(nll, [masks[layer] for layer in range(shape.layers)])):
            expected[layer] += grad.abs().sum((0, 1, 3))
    for handle in handles:
        handle.remove()
    assert torch.allclose(found["taylor"], expected / examples.count, rtol=1e-4)
    assert torch.allclose(found["taylor_normalised"].norm(dim=1), torch.ones(shape.layers), atol=1e-5)
    assert not any(p.requires_grad or p.grad is not None for p in pico.model.parameters())


def test_leaving_out_is_the_loss_with_the_unit_zeroed(pico, pico_llama, examples):
    shape = surgery.anatomy(pico.model)
    told = []
    base, rises = importance.leave_out(pico.model, shape, examples, Run(), lambda *found: told.append(found))
    assert math.isclose(base, importance.loss(pico.model, examples, Run()), rel_tol=1e-6)
    for layer, unit, rise in told:
        other = load.load(pico_llama).model
        surgery.mask_heads(other, [(layer, unit)])
        assert math.isclose(rise, importance.loss(other, examples, Run()) - base, abs_tol=2e-5)
    assert rises.shape == (2, 2)
    assert same(pico.model, load.load(pico_llama).model)


def test_silencing_equals_zeroed_weights_and_ends(pico, pico_llama, examples):
    shape, other = surgery.anatomy(pico.model), load.load(pico_llama).model
    base = importance.loss(pico.model, examples, Run())
    surgery.mask_heads(other, [(0, 1), (1, 0)])
    with importance.silenced(pico.model, shape, [(0, 1), (1, 0)]):
        assert math.isclose(importance.loss(pico.model, examples, Run()), importance.loss(other, examples, Run()), abs_tol=1e-5)
    assert importance.loss(pico.model, examples, Run()) == base


def test_magnitude_is_the_norm_of_a_units_weights(pico, pico_llama):
    shape = surgery.anatomy(pico.model)
    found = importance.head_scores(pico.model, shape, ["magnitude", "random"], Run(), seed=3)
    other = load.load(pico_llama).model
    surgery.mask_heads(other, [(1, 0)])
    total = sum(
        (p.double().square().sum() - q.double().square().sum()) for p, q in zip(pico.model.parameters(), other.parameters(), strict=True)
    )
    assert math.isclose(found["magnitude"][1, 0], math.sqrt(total), rel_tol=1e-5)
    assert torch.equal(found["random"], importance.head_scores(pico.model, shape, ["random"], Run(), seed=3)["random"])


@pytest.mark.parametrize("criterion", ["taylor", "taylor_normalised", "magnitude", "random"])
def test_a_uniform_cut_takes_each_layers_least_important(pico, pico_llama, criterion, tmp_path):
    shape = surgery.anatomy(pico.model)
    params = heads.HeadsParams(**SMALL, criterion=criterion)
    scores, _ = heads.judged(pico.model, shape, params, Run(), give(pico))
    masked = load.load(pico_llama).model
    surgery.mask_heads(masked, {(layer, int(row.argmin())) for layer, row in enumerate(scores)})
    out = apply("heads", pico, share=0.5, criterion=criterion, **PLAIN)
    ids = torch.arange(20)[None]
    assert torch.allclose(out.model(ids).logits, masked(ids).logits, atol=1e-5)
    save.save(out.model, tmp_path, pico_llama, run=Run())
    assert size.ledger(tmp_path).weight_bytes < size.ledger(pico_llama).weight_bytes
    assert "in each layer" in out.notes[-1]


def test_a_global_choice_is_masked_and_names_the_nearest_cut(pico, tmp_path, pico_llama):
    out = apply("heads", pico, share=0.25, allocation="global", **SMALL)
    shape = surgery.anatomy(out.model)
    dead = [
        (layer, unit)
        for layer, block in enumerate(shape.blocks)
        for unit in range(shape.units)
        if not weight_of(out.model.get_submodule(block.out)).unflatten(1, (shape.units, -1))[:, unit].any()
    ]
    assert len(dead) == 1
    assert "0 % smaller" in out.notes[0]
    assert "1 of 2 key-value groups" in out.notes[1]
    save.save(out.model, tmp_path, pico_llama, run=Run())
    assert size.ledger(tmp_path).weight_bytes == size.ledger(pico_llama).weight_bytes


def test_chosen_heads_go_and_are_cut_where_each_layer_loses_as_many(pico, pico_llama):
    masked, ids = load.load(pico_llama).model, torch.arange(20)[None]
    surgery.mask_heads(masked, [(0, 1), (1, 0)])
    cut = apply("heads", pico, chosen="0.1 1.0", compensate=False)
    assert surgery.anatomy(cut.model).units == 1
    assert torch.allclose(cut.model(ids).logits, masked(ids).logits, atol=1e-5)
    zeroed = apply("heads", load.load(pico_llama), chosen="0.1,0.0,")
    assert surgery.anatomy(zeroed.model).units == 2
    assert not weight_of(zeroed.model.model.layers[0].self_attn.o_proj).any()


def test_the_name_says_how_many_were_chosen():
    method = methods.get("heads")
    for chosen, said in (("0.1,0.0, 1.1", "3 heads chosen"), ("0.1", "1 head chosen")):
        assert methods.label(method, methods.checked(method, {"chosen": chosen})) == said


def test_a_small_share_takes_one_of_each_layer_and_says_so(pico):
    out = apply("heads", pico, share=0.1, **SMALL)
    assert surgery.anatomy(out.model).units == 1
    assert "2 of 4 key-value groups, 1 in each layer" in out.notes[-1]


def test_none_is_bit_identical(pico, pico_llama):
    assert same(apply("heads", pico, share=0).model, load.load(pico_llama).model)


@pytest.mark.parametrize("values", [{"chosen": "0.9"}, {"chosen": "7.0"}, {"chosen": "zero"}, {"chosen": " ,"}, {"share": 0.9}])
def test_what_is_not_possible_is_said(pico, values):
    with pytest.raises(UserError):
        apply("heads", pico, **values, **SMALL)


@pytest.mark.parametrize("source", ["pico_bert", "pico_gpt2"])
def test_models_without_a_word_for_it_are_masked(request, source):
    loaded = load.load(request.getfixturevalue(source))
    out = apply("heads", loaded, share=0.25, **SMALL)
    assert "width of a head" in out.notes[-1]
    assert not any("nearest cut" in note for note in out.notes)
    shape = surgery.anatomy(out.model)
    for block in shape.blocks:
        columns = weight_of(out.model.get_submodule(block.out)).unflatten(1, (4, -1))
        assert sum(not columns[:, unit].any() for unit in range(4)) == 1


def test_a_planted_dead_head_is_found_by_the_gradient(tmp_path):
    """A head whose output is nearly nothing has the least importance, however large its other weights are."""
    loaded = load.load(make_pico(tmp_path / "m", layers=3, num_key_value_heads=4))
    shape = surgery.anatomy(loaded.model)
    for layer, unit in ((0, 2), (1, 0), (2, 3)):
        weight_of(loaded.model.get_submodule(shape.blocks[layer].out)).unflatten(1, (4, -1))[:, unit] *= 1e-4
        weight_of(loaded.model.get_submodule(shape.blocks[layer].queries)).unflatten(0, (4, -1))[unit] *= 30
    recorder = Recorder()
    out = apply("heads", loaded, recorder, allocation="global", share=0.25, **SMALL)
    for layer, unit in ((0, 2), (1, 0), (2, 3)):
        assert not weight_of(out.model.get_submodule(shape.blocks[layer].out)).unflatten(1, (4, -1))[:, unit].any()
        others = [recorder.curve(f"importance/{layer}.{u}")[0] for u in range(4) if u != unit]
        assert recorder.curve(f"importance/{layer}.{unit}")[0] < min(others) / 50


def test_adjusting_moves_the_outputs_less(pico_llama):
    found = {}
    for adjust in (False, True):
        loaded = load.load(pico_llama)
        examples = importance.draw(loaded.model, give(loaded), heads.HeadsParams(**SMALL), Run())[0]
        with torch.no_grad():
            before = torch.cat([loaded.model(**fed).logits for fed in examples.inputs])
        out = apply("heads", loaded, share=0.5, compensate=adjust, **SMALL)
        with torch.no_grad():
            found[adjust] = float((torch.cat([out.model(**fed).logits for fed in examples.inputs]) - before).square().mean())
        assert ("adjusted" in " ".join(out.notes)) == adjust
    assert found[True] < found[False]


def test_where_layers_differ_nothing_else_is_touched(pico, pico_llama):
    masked = load.load(pico_llama).model
    surgery.mask_heads(masked, [(1, 0)])
    assert same(apply("heads", pico, chosen="1.0", **SMALL).model, masked)


def test_the_expected_rise_is_the_second_order_of_one_window(pico):
    """A unit shrunk a little: the loss moves as -g (1 - xi) says, and the term in g^2 is half the squared slope of each window."""
    given = give(pico)
    examples = importance.draw(pico.model, given, heads.HeadsParams(windows=1, context=24), Run())[0]
    shape = surgery.anatomy(pico.model)
    block = shape.blocks[1]
    size, rise = (t.double() for t in importance.slopes(pico.model, examples, {block.out: shape.unit_width}, Run())[block.out])
    step = 1e-2
    for unit in range(shape.units):
        around = []
        for sign in (1, -1):
            mask = torch.ones(shape.units, shape.unit_width)
            mask[unit] += sign * step
            with importance.muted(pico.model, {block.out: mask.flatten()}):
                around.append(importance.loss(pico.model, examples, Run()))
        slope = (around[0] - around[1]) / (2 * step) * examples.count  # of the sum over the window
        assert float(rise[unit]) == pytest.approx((slope**2 / 2 - slope) / examples.count, rel=0.05, abs=1e-3)
        assert size[unit] >= abs(slope) / examples.count * 0.99
