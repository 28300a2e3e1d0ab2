"""Numbers as a person reads them, and core's sentences filled in."""

import math

import pytest

from app import text
from core.errors import UserError
from core.events import Failed


@pytest.mark.parametrize(
    ("n", "shown"),
    [
        (12, "12 B"),
        (999, "999 B"),
        (33_200_000, "33.2 MB"),
        (999_999, "1.00 MB"),
        (270_000_000, "270 MB"),
        (5.8e9, "5.80 GB"),
        (None, "not measured"),
    ],
)
def test_bytes(n, shown):
    assert text.fmt_bytes(n) == shown


@pytest.mark.parametrize(("n", "shown"), [(4096, "4\u202f096"), (31.6e6, "31.6 M"), (1.24e9, "1.24 B"), (7, "7"), (None, "not measured")])
def test_counts(n, shown):
    assert text.fmt_count(n) == shown


@pytest.mark.parametrize(
    ("s", "shown"),
    [(0.84, "0.8 s"), (12, "12 s"), (112, "1 min 52 s"), (120, "2 min"), (7500, "2 h 5 min"), (59.7, "1 min"), (None, "not measured")],
)
def test_seconds(s, shown):
    assert text.fmt_seconds(s) == shown


def test_time_left_is_rough_and_silent_where_unknown():
    assert text.fmt_left(121) == "2 min left"
    assert text.fmt_left(5) == "5 s left"
    assert text.fmt_left(None) == ""
    assert text.fmt_left(math.inf) == ""


@pytest.mark.parametrize(
    ("x", "shown"),
    [
        (12.4, "12.40"),
        (0.00123, "0.001230"),
        (-2.5, "\u22122.500"),
        (0, "0"),
        (math.inf, "\u221e"),
        (math.nan, "NaN"),
        (1.5e-7, "1.50e\u22127"),
        (None, "not measured"),
    ],
)
def test_numbers(x, shown):
    assert text.fmt_number(x) == shown


@pytest.mark.parametrize(
    ("ratio", "shown"), [(0.2, "\u221280 %"), (1.0, "±0 %"), (3.4, "\u00d73.40"), (1.048, "+4.8 %"), (None, ""), (math.nan, "")]
)
def test_changes(ratio, shown):
    assert text.fmt_change(ratio) == shown


def test_core_text_fills_in_and_never_fails():
    assert text.core_text("{a} of {b}", a=1, b=2) == "1 of 2"
    assert text.core_text("{a} of {b}", a=1) == "1 of {b}"
    assert text.core_text("{path}", path="{odd}") == "{odd}"


def test_failures():
    failed = Failed("j", "disk", "{path} is full.", "Free some space.", values={"path": "/tmp"})
    assert text.failure_text(failed) == ("/tmp is full.", "Free some space.")
    assert text.failure_text(UserError("No {what}.", what="way")) == ("No way.", "")
