"""The card's words, and where it stands."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtWidgets import QWidget

from app.decode_run import Facts, Kind, cells_of_round, explain
from app.token_card import SHADOW, TokenCard, kind_hint, kind_word, number, placed, reason_text
from core.events import Candidate
from tests.app.decode_invented import invent
from tests.app.test_decode_run import run_of


def said(reason: str, **values) -> str:
    return reason_text(Facts(" of", Kind.REJECTED, reason, values))


@pytest.mark.parametrize(
    ("reason", "values", "words"),
    [
        ("dropped-ratio", {"u": 0.83, "ratio": 0.19}, "dropped: u = 0.83 > q/p = 0.19"),
        ("kept-ratio", {"u": 0.12, "ratio": 0.7}, "kept: u = 0.12 ≤ q/p = 0.70"),
        ("kept-sure", {"p": 0.2, "q": 0.4}, "kept for sure: the target likes it at least as much, q = 0.40 ≥ p = 0.20"),
        ("dropped-greedy", {"other": " x", "q": 0.41}, "dropped: the target prefers “x” (0.41)"),
        ("kept-greedy", {"q": 0.41}, "kept: it's the target's first choice as well (0.41)"),
        ("dropped-point", {"u": 0.83, "q": 0.0012}, "dropped: u = 0.83 > q = 0.001 (this draft has no probabilities)"),
        ("untested", {}, "not looked at: an earlier token of the round was dropped"),
        ("corrected-greedy", {"other": "\n", "q": 0.5}, "put in place of “↵”: the target's first choice (0.50)"),
        ("corrected-drawn", {"other": ""}, "put in place of another token: drawn from what the target gives more than the draft"),
        ("bonus", {"n": 4}, "one more for nothing: all 4 guesses were kept, and the same call had scored this place too"),
    ],
)
def test_reasons_in_words_and_numbers(reason, values, words):
    assert said(reason, **values) == words


def test_a_close_call_is_told_with_enough_digits():
    """'u = 0.83 > q/p = 0.83' would look like a mistake."""
    assert said("dropped-ratio", u=0.8312, ratio=0.8309) == "dropped: u = 0.8312 > q/p = 0.8309"


@pytest.mark.parametrize(("x", "text"), [(0.5, "0.50"), (0, "0.00"), (0.004, "0.004"), (0.00012, "0.0001"), (3e-7, "3e−7"), (1.0, "1.00")])
def test_probabilities_never_round_to_nothing(x, text):
    assert number(x) == text


def test_each_kind_has_a_word_and_a_hint():
    assert len({kind_word(k) for k in Kind}) == len({kind_hint(k) for k in Kind}) == len(Kind)


@pytest.mark.parametrize("how", [{}, {"greedy": True}, {"point": True}, {"gamma": 0}, {"greedy": True, "point": True}])
def test_every_token_of_every_way_of_decoding_gets_its_card(qtbot, how):
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(700, 600)
    card = TokenCard(parent)
    run = run_of(*invent(25, **how))
    for i, taken in enumerate(run.lane.rounds):
        for cell in cells_of_round(taken, i):
            card.show_facts(explain(run.lane, cell), QRect(300, 200, 50, 23), parent.rect(), pinned=i % 2 == 0)
            assert "{" not in card.description()
            assert kind_word(cell.kind) in card.accessibleDescription()
            assert parent.rect().adjusted(-SHADOW, -SHADOW, SHADOW, SHADOW).contains(card.geometry())
    card.grab()


def test_the_description_tells_all_that_the_picture_does(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    card = TokenCard(parent)
    bars = (Candidate(1, " of", 0.62, 0.12), Candidate(2, " quiet", 0.14, 0.58))
    facts = Facts(" of", Kind.REJECTED, "dropped-ratio", {"u": 0.83, "ratio": 0.19}, bars, 1, 0.4, 1.5, 2.0, 0.2, 3, 20)
    card.show_facts(facts, QRect(0, 0, 10, 10), QRect(0, 0, 500, 500), False)
    assert card.description() == (
        "“of” rejected. dropped: u = 0.83 > q/p = 0.19. “of”: draft 0.62, target 0.12. “quiet”: draft 0.14, target 0.58. "
        "α 0.40. entropy 1.50 draft, 2.00 target. round 3 · place 21 · first leads second by 0.20"
    )


def test_five_bars_with_the_token_itself_among_them(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    card = TokenCard(parent)
    bars = tuple(Candidate(i, f" w{i}", 0.1, 0.2 - i / 100) for i in range(8))
    card.show_facts(Facts(" w7", Kind.REJECTED, "dropped-bare", {}, bars, 7), QRect(0, 0, 10, 10), QRect(0, 0, 500, 500), False)
    assert [row.id for row in card._rows()] == [0, 1, 2, 3, 7]


WITHIN = QRect(0, 0, 700, 600)
SIZE = QSize(330, 300)


@pytest.mark.parametrize("beside", [QRect(x, y, 50, 23) for x in (0, 320, 640) for y in (0, 140, 290, 320, 570)])
def test_the_card_is_inside_and_leaves_its_token_in_sight(beside):
    inner = QRect(placed(SIZE, beside, WITHIN), SIZE).adjusted(SHADOW, SHADOW, -SHADOW, -SHADOW)
    assert WITHIN.contains(inner)
    assert not inner.intersects(beside)


def test_in_a_low_window_the_card_stands_beside_its_token():
    inner = QRect(placed(SIZE, QRect(20, 150, 50, 23), QRect(0, 0, 700, 320)), SIZE).adjusted(SHADOW, SHADOW, -SHADOW, -SHADOW)
    assert not inner.intersects(QRect(20, 150, 50, 23))
