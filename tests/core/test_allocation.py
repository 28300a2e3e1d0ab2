"""Bits under a budget: against every possible choice, in sizes that divide and sizes that don't; and how a choice is written."""

import itertools
import math
import random
import time

import pytest

from core.allocation import (
    DENSE,
    Allocator,
    LayerCost,
    average_bits,
    file_bytes,
    layer_budget,
    read_bits,
    total_bytes,
    total_kl,
    write_bits,
)
from core.errors import UserError

WIDTHS = (8, 6, 5, 4, 3, 2)


def layer(name, rows, columns, noise, rng, group=32):
    size = {w: rows * columns * w // 8 + 2 * rows * (1 if w == 8 else columns // group) for w in WIDTHS}
    kl = {w: noise * 4.0**-w * rng.uniform(0.5, 2) for w in WIDTHS}
    return LayerCost(
        name=name, block=0, kind=name, rows=rows, columns=columns, bytes=size | {DENSE: 2 * rows * columns}, kl=kl | {DENSE: 0.0}
    )


def invent(seed, count=5, shapes=((64, 64), (64, 128), (32, 64))):
    rng = random.Random(seed)
    return [layer(f"l{i}", *rng.choice(shapes), 10 ** rng.uniform(-2, 2), rng) for i in range(count)]


def every_choice(layers, widths):
    for widths_of in itertools.product(widths, repeat=len(layers)):
        bits = {one.name: w for one, w in zip(layers, widths_of, strict=True)}
        yield total_bytes(layers, bits), total_kl(layers, bits), bits


@pytest.mark.parametrize("seed", range(8))
def test_no_choice_is_better(seed):
    layers = invent(seed)
    widths = (8, 4, 3, 2)
    allocator = Allocator(layers, widths)
    assert allocator.exact
    everything = list(every_choice(layers, widths))
    sizes = sorted({size for size, _, _ in everything})
    for budget in [*sizes[:: max(1, len(sizes) // 12)], sizes[-1], sizes[-1] * 2, sizes[3] + 0.5]:
        bits = allocator.at_size(budget)
        assert total_bytes(layers, bits) <= budget
        assert math.isclose(total_kl(layers, bits), min(kl for size, kl, _ in everything if size <= budget), rel_tol=1e-9)
    for budget in sorted(kl for _, kl, _ in everything)[::90]:
        bits = allocator.at_kl(budget)
        assert total_kl(layers, bits) <= budget * (1 + 1e-9)
        assert total_bytes(layers, bits) == min(size for size, kl, _ in everything if kl <= budget * (1 + 1e-12))


@pytest.mark.parametrize("seed", range(4))
def test_coarse_units_keep_the_budget_and_lose_little(seed):
    layers = invent(seed, shapes=((63, 65), (61, 128), (37, 71)))
    allocator = Allocator(layers, (8, 4, 3, 2), states=200)
    assert not allocator.exact
    everything = list(every_choice(layers, (8, 4, 3, 2)))
    for size, _, _ in everything[::97]:
        bits = allocator.at_size(size)
        if bits is None:
            continue
        assert total_bytes(layers, bits) <= size
        best = min(kl for other, kl, _ in everything if other <= size * 0.97)
        assert total_kl(layers, bits) <= best * (1 + 1e-9)  # no worse than the best of three per cent less
    for _, kl, _ in everything[::97]:
        bits = allocator.at_kl(kl)
        assert total_kl(layers, bits) <= kl * (1 + 1e-9)


def test_a_budget_that_cannot_be_met_has_no_choice():
    layers = invent(1)
    allocator = Allocator(layers)
    assert allocator.at_size(allocator.least - 1) is None
    assert set(allocator.at_size(allocator.least).values()) == {2}
    assert allocator.at_kl(0.0) is None
    assert Allocator(layers, (*WIDTHS, DENSE)).at_kl(0.0) == {one.name: DENSE for one in layers}


def test_fixed_layers_stay_and_the_others_make_up_for_them():
    layers = invent(2)
    budget = 0.6 * sum(one.bytes[8] for one in layers)
    free = Allocator(layers).at_size(budget)
    held = Allocator(layers, fixed={"l0": 8, "l1": DENSE}).at_size(budget * 1.5)
    assert held["l0"] == 8
    assert held["l1"] == DENSE
    assert total_bytes(layers, held) <= budget * 1.5
    assert len(free) == len(held) == 5


def test_the_front_only_improves():
    front = Allocator(invent(3)).front(50)
    assert [s for s, _ in front] == sorted(s for s, _ in front)
    assert [k for _, k in front] == sorted((k for _, k in front), reverse=True)


def test_a_noisy_map_may_prefer_fewer_bits():
    odd = LayerCost(name="a", block=0, kind="a", rows=1, columns=64, bytes={8: 64, 4: 32, 0: 128}, kl={8: 0.2, 4: 0.1, 0: 0.0})
    assert Allocator([odd], (8, 4)).at_size(1000) == {"a": 4}


def test_a_model_of_hundreds_of_layers_is_quick():
    layers = invent(4, 224, ((576, 576), (192, 576), (1536, 576), (576, 1536)))
    begun = time.process_time()
    allocator = Allocator(layers)
    bits = allocator.at_size(0.55 * sum(one.bytes[8] for one in layers))
    assert time.process_time() - begun < 5
    assert len(set(bits.values())) > 2
    uniform = dict.fromkeys(bits, 4)
    best = allocator.at_size(total_bytes(layers, uniform))
    assert total_kl(layers, best) < 0.8 * total_kl(layers, uniform)


def test_sums():
    layers = invent(5, 2, ((64, 64),))
    bits = {"l0": 4, "l1": DENSE}
    assert average_bits(layers, {"l0": 4, "l1": 4}) == 4.5  # 16 bits of scale for each 32 weights
    assert file_bytes(layers, bits, 100_000) == 100_000 - 8192 + layers[0].bytes[4] + 416
    assert file_bytes(layers, {"l0": 4, "l1": 3}, 100_000) <= 95_000
    room = layer_budget(layers, 100_000, 95_000)
    found = Allocator(layers).at_size(room)
    assert file_bytes(layers, found, 100_000) <= 95_000


def test_a_choice_is_read_back_as_it_was_written():
    names = [f"model.layers.{i}.{kind}" for i in range(3) for kind in ("attn.q", "mlp.down")]
    bits = dict(zip(names, (4, 4, 8, 4, DENSE, 3), strict=True))
    written = write_bits(bits)
    assert written == "*=4, model.layers.1.attn.q=8, model.layers.2.attn.q=dense, model.layers.2.mlp.down=3"
    assert read_bits(written, names) == bits
    assert read_bits("*=4, *.down=3\n *.0.*=8", names)["model.layers.0.mlp.down"] == 8
    assert write_bits({}) == ""


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("*=4, nonsense", "nonsense doesn't say"),
        ("*=7", "7 isn't a width"),
        ("*=4, model.layers.9.*=3", "names no linear layer"),
        ("b=4", "1 linear layers were given no bits, a among them"),
        ("=4", "doesn't say"),
    ],
)
def test_what_cannot_be_read_is_told(written, says):
    with pytest.raises(UserError, match=says):
        read_bits(written, ["a", "b"])
