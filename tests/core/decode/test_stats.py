"""Rates and their denominators, and costs."""

import pytest

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


def test_overhead_of_plain_rounds_and_of_drafting_ones_are_apart():
    costs = Costs()
    costs.add_overhead(0.5)  # the first round, plain: it had the prompt's logits
    for fed, seconds in ((5, 3.0), (1, 0.7), (5, 3.4), (1, 0.6), (3, 3.2)):
        costs.add_target(fed, 1.0)
        costs.add_overhead(seconds)
    assert (costs.plain_overhead, costs.overhead) == (0.6, 3.2)
    assert costs.rounds == {1: 3, 5: 2, 3: 1}
    assert (Costs().plain_overhead, Costs().overhead) == (0.0, 0.0)
    assert costs.samples()[2] == {1: [0.5, 0.7, 0.6], 3: [3.2], 5: [3.0, 3.4]}
