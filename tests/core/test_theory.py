import pytest

from core.theory import cost, expected_tokens, speedup, speedups


def test_expected_tokens_of_one_rate_is_the_closed_form():
    for rate in (0.0, 0.3, 0.9):
        for gamma in (1, 4, 9):
            assert expected_tokens([rate] * gamma) == pytest.approx((1 - rate ** (gamma + 1)) / (1 - rate))


def test_cost_is_drawn_between_what_was_measured():
    measured = {1: 2.0, 4: 5.0}
    assert cost({}, 1) is None
    assert [cost(measured, n) for n in (1, 2, 4, 9)] == [2.0, 3.0, 5.0, 5.0]


def test_speedup_by_hand():
    # 1 + .5 + .25 tokens for two drafted ones: 1.75 * 10 / (2 * 2 + 14 + 1)
    assert speedup([0.5, 0.5], {1: 10, 3: 14}, {1: 2}, overhead=1) == pytest.approx(1.75 * 10 / 19)
    assert speedup([0.5, 0.5], {1: 10, 3: 14}, {}, plain_overhead=1) == pytest.approx(1.75 * 11 / 14)
    assert speedup([], {1: 10}, {1: 2}) == 1.0
    assert speedup([0.9], {}, {}) is None


def test_speedups_begin_with_not_speculating():
    found = speedups([0.8, 0.8, 0.8], {1: 1.0, 8: 1.4}, {1: 0.3})
    assert len(found) == 4
    assert found[0] == 1.0
    assert speedups([0.8], {}, {}) == []
