"""Rates and their denominators, costs, and the length that they suggest."""

import pytest

from core.decode.policy import Adaptive, Fixed
from core.decode.stats import Costs, Stats, possible_speedup
from core.events import Drafted, Round


def round_of(*verdicts, committed, at=1.0):
    drafted = tuple(Drafted(1, "a", v) for v in verdicts)
    return Round(1, 0, len(verdicts), drafted, "gamma", 2, "b", "corrected", committed=(0,) * committed, at=at, seconds={"draft": 0.5})


def test_untested_drafts_are_in_no_rate_but_their_own():
    """Rates that count untested drafts (llama.cpp 14104), or accepts after a rejection (vllm 2658), or the wrong total (sglang 13212)."""
    stats = Stats()
    stats.add(round_of("accepted", "rejected", "untested", "untested", committed=2))
    stats.add(round_of("accepted", "accepted", "accepted", "accepted", committed=5, at=2.0))
    report = stats.report()
    assert (report["drafted"], report["tested"], report["accepted"]) == (8, 6, 5)
    assert report["accepted_of_tested"] == pytest.approx(5 / 6)
    assert report["accepted_of_drafted"] == pytest.approx(5 / 8)
    assert report["tokens_per_target_call"] == 3.5 == 1 + report["accepted"] / report["rounds"]
    assert report["tokens_per_s"] == 3.5
    assert report["seconds_by_part"] == {"draft": 1.0}


def test_nothing_drafted_has_no_rate():
    assert Stats().report()["accepted_of_tested"] is None


def test_possible_speedup_is_the_hardware_form():
    costs = Costs()
    for _ in range(10):
        costs.add_target(5, 0.05)
        for _ in range(4):
            costs.add_draft(1, 0.01)
    tokens_per_call, one = 3.2, 0.04
    assert possible_speedup(32, one, costs) == pytest.approx(tokens_per_call * one / (4 * 0.01 + 0.05))
    assert possible_speedup(3, one, Costs()) is None


def test_costs_between_measured_lengths():
    costs = Costs()
    assert costs.target(3) is None
    costs.add_target(2, 0.2)
    costs.add_target(4, 0.4)
    assert [costs.target(n) for n in (1, 2, 3, 4, 9)] == pytest.approx([0.2, 0.2, 0.3, 0.4, 0.4])
    assert costs.table() == {"target": {2: 0.2, 4: 0.4}, "draft": {}}


def drive(acceptance, draft_cost, slope, rounds=300, longest=8):
    """Adaptive against a world of given costs, whose drafts are accepted in a fixed pattern. Returns (gammas, policy)."""
    import random

    costs, dice, chosen = Costs(), random.Random(0), []
    policy = Adaptive(costs, first=4, longest=longest)
    for _ in range(rounds):
        gamma = policy.gamma()
        chosen.append(gamma)
        costs.add_target(gamma + 1, 1.0 + slope * gamma)
        for _ in range(gamma):
            costs.add_draft(1, draft_cost)
        accepted = 0
        while accepted < gamma and dice.random() < acceptance:
            accepted += 1
        policy.learn(min(accepted + 1, gamma), accepted)
    return chosen, policy


def test_adaptive_drafts_far_where_it_pays():
    chosen, _ = drive(0.95, 0.05, 0.02)
    assert sum(chosen[50:]) / len(chosen[50:]) > 5


def test_adaptive_does_not_draft_where_it_costs():
    chosen, _ = drive(0.1, 0.8, 0.3)
    assert sum(1 for g in chosen[30:] if g) <= 8  # probes only, further and further apart
    assert chosen[1] == 0  # T(1) was measured


def test_adaptive_comes_back_when_drafting_pays_again():
    costs = Costs()
    policy = Adaptive(costs, first=4, longest=8)
    for _ in range(80):
        gamma = policy.gamma()
        costs.add_target(gamma + 1, 1.0)
        for _ in range(gamma):
            costs.add_draft(1, 0.3)
        policy.learn(min(1, gamma), 0)
    assert policy.best() == 0
    for _ in range(400):
        gamma = policy.gamma()
        costs.add_target(gamma + 1, 1.0)
        for _ in range(gamma):
            costs.add_draft(1, 0.05)
        policy.learn(gamma, gamma)
    assert policy.best() > 2


def test_fixed():
    assert Fixed(3).gamma() == 3
