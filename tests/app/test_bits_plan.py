"""The bits plan, without a window: the budget, what's set by hand, what comes of it, and the step that makes it."""

import math

import pytest

from app.bits_plan import STEPS, BitsPlan, maps_of
from core.allocation import DENSE, Allocator, file_bytes, read_bits, total_kl
from tests.app.layers_invented import invent_map, keep_map

ON_DISK = 270_000_000


@pytest.fixture(scope="module")
def found():
    return invent_map(6)


@pytest.fixture
def plan(found):
    return BitsPlan(found, ON_DISK)


def test_it_begins_with_four_bits_for_all(plan):
    assert set(plan.bits.values()) == {4}
    assert plan.value() == pytest.approx(plan.size, rel=2e-3)
    assert plan.counts() == [(4, 42)]


@pytest.mark.parametrize("budget", ["size", "kl"])
def test_the_budget_is_kept_and_best_met(plan, found, budget):
    uniform = dict.fromkeys(plan.bits, 4)
    plan.set_budget(budget)
    assert plan.bits == uniform  # nothing moves until the slider does
    for at in (200, 450, 800):
        assert plan.move(at)
        assert not plan.over
        assert (plan.size if budget == "size" else plan.kl) <= plan.value() * (1 + 1e-6)
    assert plan.move(plan.place(file_bytes(found.layers, uniform, ON_DISK) if budget == "size" else total_kl(found.layers, uniform)))
    assert plan.kl < total_kl(found.layers, uniform) if budget == "size" else plan.size < file_bytes(found.layers, uniform, ON_DISK)


def test_ends_of_the_slider_are_the_widest_and_the_narrowest(plan):
    assert plan.move(STEPS)
    assert set(plan.bits.values()) == {8}
    plan.move(0)
    assert set(plan.bits.values()) == {2}
    plan.set_budget("kl")
    assert plan.move(STEPS)
    assert set(plan.bits.values()) == {2}
    assert plan.place(plan.value(333)) == 333


def test_what_is_set_by_hand_stays_and_may_go_over(plan):
    plan.move(300)
    name = "model.layers.3.mlp.gate_proj"
    plan.set_bits([name], DENSE)
    assert plan.over
    assert plan.move(500)
    assert plan.bits[name] == DENSE
    assert not plan.over
    plan.nudge(name, -1)
    assert plan.bits[name] == 8
    plan.nudge(name, -1)
    plan.nudge(name, 1)
    plan.nudge(name, 1)
    plan.nudge(name, 1)
    assert plan.bits[name] == DENSE  # and no wider
    plan.uniform(3)
    assert plan.bits[name] == DENSE
    assert plan.counts() == [(DENSE, 1), (3, 41)]
    plan.free([name])
    plan.move(500)
    assert plan.bits[name] != DENSE
    assert plan.fixed == {}


def test_a_budget_that_cannot_be_met_leaves_the_bits(plan):
    plan.set_bits(list(plan.bits), 8)
    before = dict(plan.bits)
    assert not plan.move(0)
    assert plan.bits == before
    assert plan.over


def test_the_front_is_the_allocators(plan, found):
    front = plan.front()
    best = Allocator(found.layers, found.widths).front(160)
    assert [k for _, k in front] == [k for _, k in best]
    assert front[-1][0] == pytest.approx(plan.sizes[1], rel=0.01)


def test_the_step_holds_the_map_and_its_grid(plan, found):
    plan.move(400)
    step = plan.step("gptq", "/a/text.txt")
    assert (step.method, step.text.path) == ("mixed", "/a/text.txt")
    assert (step.params["rounding"], step.params["group_size"], step.params["clip"]) == ("gptq", 64, True)
    assert read_bits(step.params["layers"], list(plan.bits)) == plan.bits
    assert plan.name() == f"mixed {plan.average:.2f} bits"
    assert plan.step("rtn").text is None


def test_the_worst_layers_come_first(plan):
    worst = plan.worst(3)
    assert worst[0][1] == max(layer.kl[4] for layer in plan.map.layers)
    assert math.isclose(sum(k for _, k in plan.worst(42)), plan.kl)


def test_only_whole_maps_are_found_the_latest_first(tmp_path, found):
    import os

    keep_map(tmp_path, found, "a")
    later = keep_map(tmp_path, invent_map(3), "b")
    os.utime(tmp_path / "sensitivity-a.json", (1, 1))
    keep_map(tmp_path, found.model_copy(update={"complete": False}), "c")
    (tmp_path / "sensitivity-d.json").write_text("{", encoding="utf-8")
    assert [len(m.layers) for m in maps_of(tmp_path)] == [21, 42]
    assert later.exists()
    assert maps_of(tmp_path / "nowhere") == []
