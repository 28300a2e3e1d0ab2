"""The plots' maths, without a window."""

import itertools
import math
import random

import pytest

from app.plots import geometry as g


def test_pareto_keeps_what_nothing_beats():
    points = [(10, 5), (20, 4), (15, 6), (30, 4), (5, 9), (40, 1)]
    assert g.pareto(points) == [4, 0, 1, 5]
    assert g.pareto([(1, 1), (1, 1)]) == [0]
    assert g.pareto([]) == []


@pytest.mark.parametrize(("less_x", "less_y"), [(True, True), (True, False), (False, True), (False, False)])
def test_pareto_equals_the_definition(less_x, less_y):
    draw = random.Random(3)
    points = [(draw.randint(0, 30), draw.randint(0, 30)) for _ in range(200)]
    better = lambda a, b, less: a <= b if less else a >= b

    def beaten(p):
        return any(q != p and better(q[0], p[0], less_x) and better(q[1], p[1], less_y) for q in points)

    expected = {p for p in points if not beaten(p)}
    assert {points[i] for i in g.pareto(points, less_x=less_x, less_y=less_y)} == expected


def test_staircase_is_level_or_upright_and_ends_at_the_far_side():
    path = g.staircase([(1, 9), (2, 5), (8, 1)], far_x=20, far_y=30)
    assert path[0] == (1, 30)
    assert path[-1] == (20, 1)
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in itertools.pairwise(path))
    assert g.staircase([], 1, 1) == []


def test_best_under_a_budget():
    points = [(10, 5.0), (20, 4.0), (30, 3.0)]
    assert g.best_under(points, 25, axis=0) == 1
    assert g.best_under(points, 5, axis=0) is None
    assert g.best_under(points, 4.5, axis=1) == 1
    accuracy = [(10, 60.0), (20, 70.0), (30, 71.0)]
    assert g.best_under(accuracy, 65, axis=1, less_y=False) == 1
    assert g.best_under(accuracy, 25, axis=0, less_y=False) == 1


def test_ticks():
    assert [label for _, label in g.log2_ticks(3, 7.5)] == ["8", "16", "32", "64", "128"]
    assert [label for _, label in g.log2_ticks(-2, 1)] == ["0.25", "0.5", "1", "2"]
    assert len(g.log2_ticks(0, 30, most=9)) <= 9
    narrow = g.log2_ticks(math.log2(10), math.log2(15))
    assert len(narrow) >= 2
    assert [label for _, label in g.nice_ticks(60, 72, 7)] == ["60", "62", "64", "66", "68", "70", "72"]
    assert [label for _, label in g.nice_ticks(0, 0.01, 5)] == ["0.0000", "0.0025", "0.0050", "0.0075", "0.0100"]
    assert [label for _, label in g.log10_ticks(0, 2)] == ["1", "2", "5", "10", "20", "50", "100"]
    assert 2 <= len(g.log10_ticks(math.log10(17), math.log10(23))) <= 8
    assert 2 <= len(g.log10_ticks(0, 12)) <= 8
    assert g.nice_ticks(1, 1) == []
    assert len(g.nice_ticks(0.655, 0.735, 3)) == 1
    assert [label for _, label in g.two_ticks(0.655, 0.735, 3)] == ["0.66", "0.68", "0.70", "0.72"]
    assert g.two_ticks(1, 1) == []


def test_ranges():
    assert g.padded(0, 10, 0.1) == (-1, 11)
    low, high = g.padded(5, 5, 0.1, least=2)
    assert low < 4.01
    assert high > 5.99
    assert g.without_outliers([10, 11, 12, 13, 500], [10, 13]) == (10, 13)
    assert g.without_outliers([10, 18, 500], [10, 13]) == (10, 18)
    assert g.without_outliers([7], [7]) == (7, 7)


def test_segments_and_boxes():
    box = (0, 0, 10, 10)
    assert g.crosses(box, ((-5, 5), (15, 5)))
    assert g.crosses(box, ((5, 5), (6, 6)))
    assert not g.crosses(box, ((-5, -5), (15, -1)))
    assert not g.crosses(box, ((11, 0), (20, 9)))
    assert g.overlap(box, (5, 5, 10, 10)) == 25
    assert g.overlap(box, (20, 0, 5, 5)) == 0


def test_labels_never_touch_each_other_nor_the_staircase():
    draw = random.Random(1)
    bounds = (0, 0, 700, 400)
    front = [(40 + 60 * i, 360 - 33 * i) for i in range(10)]
    others = [(draw.uniform(300, 690), draw.uniform(200, 390)) for _ in range(15)]
    stairs = g.staircase(front, 700, 400)
    lines = list(itertools.pairwise(stairs))
    boxes = [(x - 7, y - 7, 14, 14) for x, y in front + others]
    placed = g.place_labels(front, [(90, 16)] * 10, bounds, avoid_boxes=boxes, avoid_lines=lines)
    found = [b for b in placed if b]
    assert len(found) >= 8
    for i, a in enumerate(found):
        assert a[0] >= 0
        assert a[1] >= 0
        assert a[0] + a[2] <= 700
        assert not any(g.crosses(a, line) for line in lines)
        assert not any(g.overlap(a, b) for b in found[i + 1 :] + boxes)


def test_a_label_that_must_be_shown_is():
    crowd = [(0, 0, 100, 100)]
    assert g.place_labels([(50, 50)], [(60, 16)], (0, 0, 100, 100), avoid_boxes=crowd) == [None]
    assert g.place_labels([(50, 50)], [(60, 16)], (0, 0, 100, 100), avoid_boxes=crowd, must=[0])[0] is not None
    wide = g.place_labels([(50, 50)], [(400, 16)], (0, 0, 100, 100), must=[0])[0]
    assert wide is not None


def test_thinning_keeps_spikes_and_ends():
    points = [(float(i), 1.0) for i in range(10_000)]
    points[5_432] = (5_432.0, 99.0)
    thin = g.thinned(points, 100)
    assert len(thin) <= 400
    assert (5_432.0, 99.0) in thin
    assert thin[0] == points[0]
    assert thin[-1] == points[-1]
    assert thin == sorted(thin)
    assert g.thinned(points[:5], 100) == points[:5]


def test_smoothing_begins_and_ends_with_the_curve_and_doesnt_lag():
    line = g.smoothed([(i, 4.0 - 0.01 * i) for i in range(300)])
    assert all(y == pytest.approx(4.0 - 0.01 * x) for x, y in line)
    assert g.smoothed([(0, 1.0), (1, math.nan), (2, 1.0)])[-1] == (2, pytest.approx(1.0))
    assert g.smoothed([]) == []


def test_nearest():
    assert g.nearest([(0, 0), (10, 0)], (8, 1), 5) == 1
    assert g.nearest([(0, 0)], (8, 1), 5) is None


@pytest.mark.parametrize(("low", "high"), [(0, 20), (0, 3), (0, 16), (0, 1), (0, 90), (0, 1_234_567)])
def test_whole_ticks_are_whole_and_not_too_many(low, high):
    found = g.whole_ticks(low, high, 9)
    assert 1 < len(found) <= 10
    assert all(value == round(value) and "." not in words.split(" ")[0] for value, words in found if value < 1e6)
