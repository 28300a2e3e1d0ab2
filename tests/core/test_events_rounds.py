"""Rounds to JSON and back: what `--rounds` writes and the decode lab's recordings hold."""

import json

import pytest

from core.events import Candidate, Drafted, Round, round_from_dict, round_to_dict

TAKEN = Round(
    number=3,
    start=17,
    planned=4,
    drafted=(
        Drafted(5, " the", "accepted", 0.5, 0.7, 0.2, 0.9, 1.1, 0.8, 0.3, (Candidate(5, " the", 0.5, 0.7), Candidate(6, "\n", None, 0.1))),
        Drafted(9, " 海", "rejected", 0.6, 0.1, 0.83, 0.4),
        Drafted(2, "x", "untested"),
    ),
    why_stopped="gamma",
    final_id=11,
    final_text=" a",
    final_kind="corrected",
    final_top=(Candidate(11, " a", 0.1, 0.4),),
    committed=(5, 11),
    seconds={"draft": 0.01, "verify": 0.02},
    target_cache=18,
    draft_cache=18,
    at=0.5,
    stop="",
)


def test_round_trip_through_json():
    assert round_from_dict(json.loads(json.dumps(round_to_dict(TAKEN)))) == TAKEN


def test_counts_are_written_and_unknown_names_passed_over():
    data = round_to_dict(TAKEN)
    assert (data["accepted"], data["tested"]) == (1, 2)
    assert round_from_dict(data | {"lane": "plain", "later": 1}) == TAKEN


@pytest.mark.parametrize("data", [{}, {"drafted": 3}, {"number": 1, "drafted": [[1]]}, {"drafted": [{"id": 1}]}])
def test_what_is_no_round_says_so(data):
    with pytest.raises(ValueError, match="not a round"):
        round_from_dict(data)
