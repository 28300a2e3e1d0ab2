"""Layers: influence against its formula, the greedy choice against brute force, and what's left runs with a cache."""

import math

import pytest
import torch

from core.errors import UserError
from core.methods import importance
from core.methods.pruning import layers
from core.models import load, save, size, surgery
from core.models.blocks import blocks
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply, give, same

SMALL = {"windows": 3, "context": 24}


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    return make_pico(tmp_path_factory.mktemp("pico") / "deep", layers=5)


def drawn(loaded):
    return importance.draw(loaded.model, give(loaded), layers.LayersParams(**SMALL), Run())[0]


def test_influence_is_one_minus_the_cosine(deep):
    loaded = load.load(deep)
    examples = drawn(loaded)
    seen = importance.look(loaded.model, examples, Run(), ["model.layers.2.mlp.down_proj"])
    caught = []
    handle = blocks(loaded.model)[2][1].mlp.down_proj.register_forward_pre_hook(lambda m, args: caught.append(args[0]))
    with torch.no_grad():
        states = [loaded.model.model(**fed, output_hidden_states=True).hidden_states for fed in examples.inputs]
    handle.remove()
    for index in range(4):  # the last of them is normed already
        before, after = (torch.cat([s[index + i].flatten(0, 1) for s in states]).double() for i in (0, 1))
        cos = (before * after).sum(1) / before.norm(dim=1) / after.norm(dim=1)
        assert math.isclose(seen.influence[index], float((1 - cos).mean()), rel_tol=1e-4, abs_tol=1e-6)
    assert math.isclose(seen.loss, importance.loss(loaded.model, examples, Run()), rel_tol=1e-6)
    squares = torch.cat([c.flatten(0, 1) for c in caught]).square().mean(0)
    assert torch.allclose(seen.squares["model.layers.2.mlp.down_proj"], squares, rtol=1e-4)


def test_losses_without_each_block_are_those_of_the_cut_models(deep):
    loaded = load.load(deep)
    examples = drawn(loaded)
    base, found = importance.block_losses(loaded.model, examples, Run())
    assert math.isclose(base, importance.loss(loaded.model, examples, Run()), rel_tol=1e-6)
    for index, value in enumerate(found):
        cut = surgery.drop_layers(load.load(deep).model, {index})
        assert math.isclose(value, importance.loss(cut, examples, Run()), rel_tol=1e-5)
        with importance.skipped(loaded.model, [index]):
            assert math.isclose(value, importance.loss(loaded.model, examples, Run()), rel_tol=1e-5)


@pytest.mark.parametrize("criterion", ["influence", "loss"])
def test_blocks_go_one_after_the_other_each_judged_anew(deep, criterion):
    recorder = Recorder()
    out = apply("layers", load.load(deep), recorder, count=2, criterion=criterion, **SMALL)
    kind = {"influence": "influence", "loss": "loss_without"}[criterion]
    first = [recorder.curve(f"{kind}/model.layers.{i}")[0] for i in range(5)]
    gone = first.index(min(first))
    assert len(recorder.curve(f"{kind}/model.layers.{gone}")) == 1
    second = {i: recorder.curve(f"{kind}/model.layers.{i}")[1] for i in range(5) if i != gone}
    also = min(second, key=second.get)
    expected = surgery.drop_layers(load.load(deep).model, {gone, also})
    assert same(out.model, expected)
    assert f"Dropped 2 of 5 layers, counted from 0: {', '.join(map(str, sorted((gone, also))))}" in out.notes[-1]


def test_what_is_left_is_smaller_and_generates(deep, tmp_path):
    out = apply("layers", load.load(deep), chosen="1, 3")
    save.save(out.model, tmp_path, deep, run=Run())
    again = load.load(tmp_path)
    assert len(blocks(again.model)) == 3 == again.model.config.num_hidden_layers
    assert size.ledger(tmp_path).weight_bytes < size.ledger(deep).weight_bytes
    how = dict(max_new_tokens=8, do_sample=False, eos_token_id=None, pad_token_id=0)
    ids = torch.arange(6)[None]
    assert torch.equal(again.model.generate(ids, use_cache=True, **how), out.model.generate(ids, use_cache=False, **how))


def test_none_is_bit_identical(deep):
    assert same(apply("layers", load.load(deep), count=0).model, load.load(deep).model)


@pytest.mark.parametrize("values", [{"count": 5}, {"chosen": "7"}, {"chosen": "one"}, {"chosen": ","}, {"chosen": "0 1 2 3 4"}])
def test_what_is_not_possible_is_said(deep, values):
    with pytest.raises(UserError):
        apply("layers", load.load(deep), **values, **SMALL)


@pytest.mark.parametrize("source", ["pico_bert", "pico_gpt2"])
def test_encoders_and_gpt2_lose_blocks_too(request, source):
    loaded = load.load(request.getfixturevalue(source))
    before = len(blocks(loaded.model))
    for criterion in ("influence", "loss"):
        out = apply("layers", load.load(request.getfixturevalue(source)), count=1, criterion=criterion, **SMALL)
        assert len(blocks(out.model)) == before - 1
