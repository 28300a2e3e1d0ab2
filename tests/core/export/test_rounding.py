"""Which layer rounds how coarsely: what its rounding would change is known beforehand, and spent where it saves most time."""

import itertools

import numpy as np
import pytest
import torch

from core.export import onnx as exporting
from core.export import parity, rounding
from core.export.rounding import BLOCKS, TIMES, Unit, choose, measure, round_blocks, way_for
from core.export.trace import cache_name
from core.models import packed
from core.models.blocks import linears
from core.models.load import load
from core.run import Run
from tests.conftest import make_pico


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """(model, its layers' grids, answers): weights large enough that outliers show in the probabilities."""
    loaded = load(make_pico(tmp_path_factory.mktemp("rounding") / "pico", hidden=64, tied=False, seed=5), dtype="float32")
    model = loaded.model
    with torch.no_grad():
        for name, module in linears(model):
            if name.endswith("q_proj"):
                module.weight.mul_(2)
        model.get_input_embeddings().weight[:, 7].mul_(12)  # an outlier in every token
    quants = {name: packed.quantize(module.weight, 8) for name, module in linears(model, head=True)}
    answers = parity.reference(model, loaded.tokenizer, Run(), context=256, cache_name=cache_name(model))
    return model, quants, answers


def test_blocks_of_a_row_have_grids_of_their_own():
    x = torch.tensor([[100.0, 1.0, 0.4, -0.26, 127.0, 0.4, 3.0]])
    found = round_blocks(x, 4)
    assert torch.allclose(found[0, :4] * 127 / 100, (x[0, :4] * 127 / 100).round())
    assert found[0, 4:].tolist() == [127.0, 0.0, 3.0]
    assert round_blocks(torch.zeros(1, 6), 4).tolist() == [[0.0] * 6]


def test_what_rounding_changes_is_known_from_one_pass(asked):
    """The sum over the layers is the divergence of the whole, and a layer's own is that of its rounding alone."""
    model, quants, answers = asked
    ids = torch.from_numpy(answers["ids"])[None]
    asking = [p.requires_grad for p in model.parameters()]
    units = measure(model, quants, ids, Run())
    assert sorted(name for unit in units for name in unit.names) == sorted(quants)
    assert sorted(len(unit.names) for unit in units) == [1, 1, 1, 1, 1, 2, 2, 3, 3]  # queries, keys, values; two ways into an MLP
    assert [p.requires_grad for p in model.parameters()] == asking
    assert all(p.grad is None for p in model.parameters())

    def true(blocks):
        return parity.divergence(answers["answer"], rounding._ask(model, blocks, ids))

    for block in BLOCKS:
        told = sum(unit.errors[block] for unit in units)
        assert true({name: block for unit in units for name in unit.names}) == pytest.approx(told, rel=0.5)
    for unit in sorted(units, key=lambda unit: -unit.errors[32])[:4]:
        assert true(dict.fromkeys(unit.names, 32)) == pytest.approx(unit.errors[32], rel=0.6)
    apart = [true(dict.fromkeys(unit.names, 32)) for unit in units]
    order = np.corrcoef(np.argsort(np.argsort(apart)), np.argsort(np.argsort([unit.errors[32] for unit in units])))[0, 1]
    assert order > 0.8


@pytest.mark.parametrize("seed", range(20))
def test_the_choice_is_near_the_best_there_is(seed):
    """Against all 4^5 choices: within the allowance, and never slower than the best by more than one unit's step."""
    random = np.random.default_rng(seed)
    units = []
    for index in range(5):
        size, worst = random.uniform(1, 10), 10 ** random.uniform(-4, -2)
        errors = {None: 0.0, 16: worst / 4, 32: worst / 2, 64: worst}
        times = {block: time * size for block, time in TIMES[8 if index % 2 else 4].items()}
        units.append(Unit([str(index)], times, errors))
    allowed = 10 ** random.uniform(-4, -1.5)
    chosen = choose(units, allowed)
    at = [chosen.get(str(i)) for i in range(5)]
    total = lambda what, blocks: sum(getattr(unit, what)[block] for unit, block in zip(units, blocks, strict=True))
    assert total("errors", at) <= allowed
    every = itertools.product((None, 16, 32, 64), repeat=5)
    best = min(total("times", blocks) for blocks in every if total("errors", blocks) <= allowed)
    step = max(unit.times[None] - unit.times[64] for unit in units)
    assert best <= total("times", at) <= best + step


def test_nothing_is_chosen_where_nothing_is_allowed():
    units = [Unit(["a"], dict(TIMES[4]), {None: 0.0, 64: 3e-3, 32: 2e-3, 16: 1e-3})]
    assert choose(units, 0.0) == {}
    assert choose(units, 1.0) == {"a": 64}
    assert choose(units, 1.0, longest=32) == {"a": 32}
    assert choose(units, 1.5e-3) == {}  # 16 is no faster than exact at 4 bits


def test_the_way_stays_within_what_the_check_allows_and_uses_it(asked, monkeypatch):
    """With more allowed, more is rounded coarsely; and what's asked of the probabilities holds of each way that's given."""
    model, quants, answers = asked
    units = measure(model, quants, torch.from_numpy(answers["ids"])[None], Run())
    whole = sum(unit.errors[64] for unit in units)
    monkeypatch.setitem(parity.ROUNDED, "top1", 0.5)
    taken = []
    for share in (0.1, 0.5, 2.0):
        monkeypatch.setitem(parity.ROUNDED, "kl", share * whole)
        way, tried, used = way_for(model, quants, answers, Run())
        assert way is not None
        room = rounding.ROOMS[used - 1]
        last = next(t for t in reversed(tried) if t["kl"] <= room * share * whole)
        assert sum(last["blocks"].values()) == len(quants)
        taken.append(sum(unit.times[way.get(unit.names[0])] for unit in units))
    assert taken == sorted(taken, reverse=True)
    assert way == dict.fromkeys(quants, 64)


def test_grids_that_no_block_fits_are_left_out(asked):
    model, _, answers = asked
    quants = {name: packed.quantize(module.weight, 4, group_size=8) for name, module in linears(model)}
    assert measure(model, quants, torch.from_numpy(answers["ids"])[None], Run()) == []
    assert way_for(model, quants, answers, Run()) == ({}, [], len(rounding.ROOMS))


def test_where_nothing_would_be_faster_the_report_says_that(asked):
    """4 bits in groups of 16 are no faster rounded: nothing was said; and of groups of 8, and of layers that round what they read
    themselves, that it had changed too much, though nothing had been tried."""
    model, _, answers = asked
    slow = {name: packed.quantize(module.weight, 4, group_size=16) for name, module in linears(model)}
    unfit = {name: packed.quantize(module.weight, 8, group_size=8) for name, module in linears(model)}
    for grids in (slow, unfit):
        notes = []
        assert exporting._rounding(model, grids, answers, Run(), notes, list(rounding.ROOMS)) == ({}, [])
        assert notes == ["Rounded activations would make none of the quantized layers faster, so they're left as they are."]


def test_what_is_tried_after_a_failed_check_is_gentler(asked, monkeypatch):
    """Where the fastest choice used little of what's allowed, all four attempts at an export were the same."""
    model, quants, answers = asked
    whole = sum(unit.errors[64] for unit in measure(model, quants, torch.from_numpy(answers["ids"])[None], Run()))
    monkeypatch.setitem(parity.ROUNDED, "top1", 0.5)
    monkeypatch.setitem(parity.ROUNDED, "kl", 20 * whole)
    rooms, ways = list(rounding.ROOMS), []
    while rooms:
        way, tried = exporting._rounding(model, quants, answers, Run(), [], rooms)
        if way is None:
            break
        ways.append((way, tried[-1]["kl"]))
    assert ways[0][0] == dict.fromkeys(quants, 64)
    assert len(ways) >= 3
    kls = [kl for _, kl in ways]
    assert kls == sorted(kls, reverse=True)
    assert len({tuple(sorted(way.items())) for way, _ in ways}) == len(ways)
