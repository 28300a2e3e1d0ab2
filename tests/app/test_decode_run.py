"""The decode lab's model of a run: cells, figures, reasons, recordings. No Qt."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from app.decode_run import (
    FINAL,
    DecodeRun,
    Kind,
    Lane,
    cells_of_prompt,
    cells_of_round,
    explain,
    figures,
    moving_average,
    peek,
    race_line,
    read_run,
    recordings,
    shown,
    thin,
    visible,
)
from core.errors import UserError
from core.events import Candidate, DecodeStarted, Drafted, Round, RoundTaken, round_to_dict
from core.records import GenerateSpec
from tests.app.decode_invented import PROMPT, invent

TOP = (Candidate(7, " cat", 0.2, 0.5), Candidate(8, " dog", 0.6, 0.12))


def taken(drafted=(), final="corrected", *, final_id: int | None = 7, committed=None, stop="", at=1.0, seconds=None) -> Round:
    accepted = [t.id for t in drafted if t.verdict == "accepted"]
    committed = (*accepted, final_id) if committed is None else committed
    return Round(1, 9, 4, tuple(drafted), "gamma", final_id, " cat", final, TOP, committed, seconds or {}, at=at, stop=stop)


def accepted(**more) -> Drafted:
    return Drafted(5, " a", "accepted", **more)


def rejected(**more) -> Drafted:
    return Drafted(8, " dog", "rejected", **{"top": TOP} | more)


UNTESTED = Drafted(9, " x", "untested", 0.3)


def run_of(*rounds: Round, lane: str = "speculative", **more) -> DecodeRun:
    run = DecodeRun("r", **more)
    run.take(DecodeStarted("j", lane, tuple(range(len(PROMPT))), PROMPT, 0.1))
    for one in rounds:
        run.take(RoundTaken("j", lane, one))
    return run


# ---- cells


def test_a_round_is_the_guess_and_then_the_targets_own_token():
    cells = cells_of_round(taken([accepted(), rejected(), UNTESTED]), 3)
    assert [c.kind for c in cells] == [Kind.ACCEPTED, Kind.REJECTED, Kind.UNTESTED, Kind.CORRECTED]
    assert [c.kept for c in cells] == [True, False, False, True]
    assert [c.item for c in cells] == [0, 1, 2, FINAL]
    assert {c.round for c in cells} == {3}


def test_a_fully_accepted_round_ends_in_a_bonus_and_a_plain_one_is_one_token():
    assert [c.kind for c in cells_of_round(taken([accepted()], "bonus"), 0)] == [Kind.ACCEPTED, Kind.BONUS]
    assert [c.kind for c in cells_of_round(taken([], "plain"), 0)] == [Kind.PLAIN]


def test_what_lies_behind_the_end_of_the_text_is_no_part_of_it():
    cut = taken([accepted(), accepted(), accepted()], "none", final_id=None, committed=(5,), stop="end of text")
    assert [(c.kind, c.kept) for c in cells_of_round(cut, 0)] == [(Kind.ACCEPTED, True), (Kind.UNTESTED, False), (Kind.UNTESTED, False)]
    lane = Lane(rounds=[cut])
    assert explain(lane, cells_of_round(cut, 0)[1]).reason == "untested-end"


def test_text_is_what_was_kept():
    run = run_of(taken([accepted(), rejected(), UNTESTED]), taken([accepted()], "bonus"))
    assert run.text() == " a cat a cat"
    assert run.text(1) == " a cat"
    run.result = {"text": " a café"}
    assert run.text() == " a café"  # the worker decodes all ids at once
    assert run.text(1) == " a cat"


def test_prompt_cells():
    cells = cells_of_prompt(run_of().lane)
    assert [c.text for c in cells] == list(PROMPT)
    assert {c.kind for c in cells} == {Kind.PROMPT}


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        (" the", "the"),
        ("the", "the"),
        (" ", "·"),
        ("  x", "··x"),
        ("\n", "↵"),
        (" \n", "·↵"),
        ("\t", "⇥"),
        ("", "#42"),
        ("\x07", "\\x07"),
        (" 海", "海"),
    ],
)
def test_every_blank_but_the_gap_is_seen(text, cell):
    assert shown(text, 42) == cell


def test_visible_keeps_the_leading_blank():
    assert visible(" the") == "·the"


# ---- reasons


@pytest.mark.parametrize(
    ("token", "reason", "values"),
    [
        (accepted(draft=0.8, target=0.4, u=0.2), "kept-ratio", {"u": 0.2, "ratio": 0.5}),
        (accepted(draft=0.2, target=0.4, u=0.9), "kept-sure", {"p": 0.2, "q": 0.4}),
        (accepted(target=0.4, u=0.2), "kept-point", {"u": 0.2, "q": 0.4}),
        (accepted(draft=0.8, target=0.4), "kept-greedy", {"q": 0.4}),
        (accepted(), "kept-greedy-bare", {}),
        (rejected(draft=0.6, target=0.12, u=0.83), "dropped-ratio", {"u": 0.83, "ratio": pytest.approx(0.2)}),
        (rejected(target=0.12, u=0.83), "dropped-point", {"u": 0.83, "q": 0.12}),
        (rejected(draft=0.6, target=0.12), "dropped-greedy", {"other": " cat", "q": 0.5}),
        (rejected(top=()), "dropped-greedy-bare", {"other": " cat"}),
    ],
)
def test_why_a_guess_was_kept_or_dropped(token, reason, values):
    one = taken([token], "bonus" if token.verdict == "accepted" else "corrected")
    facts = explain(Lane(rounds=[one]), cells_of_round(one, 0)[0])
    assert (facts.reason, facts.values) == (reason, values)


@pytest.mark.parametrize(
    ("drafted", "kind", "reason"),
    [
        ([accepted(u=0.1)], "bonus", "bonus"),
        ([], "plain", "plain"),
        ([rejected(draft=0.6, target=0.12, u=0.83)], "corrected", "corrected-drawn"),
        ([rejected(target=0.12, u=0.83)], "corrected", "corrected-point"),
        ([rejected(draft=0.6, target=0.12)], "corrected", "corrected-greedy"),
    ],
)
def test_why_the_targets_own_token(drafted, kind, reason):
    one = taken(drafted, kind)
    assert explain(Lane(rounds=[one]), cells_of_round(one, 0)[-1]).reason == reason


def test_an_untested_guess_lies_behind_a_dropped_one():
    one = taken([rejected(u=0.9, draft=0.5, target=0.1), UNTESTED])
    facts = explain(Lane(rounds=[one]), cells_of_round(one, 0)[1])
    assert (facts.reason, facts.position, facts.round) == ("untested", 10, 1)


def test_an_unlikely_guess_is_among_its_own_bars():
    token = Drafted(99, " zebra", "rejected", 0.3, 0.001, 0.9, top=TOP)
    one = taken([token])
    assert explain(Lane(rounds=[one]), cells_of_round(one, 0)[0]).bars[-1] == Candidate(99, " zebra", 0.3, 0.001)


# ---- figures


def test_untested_guesses_count_on_neither_side():
    """A rate that counts what nobody looked at is too low: the mistake of llama.cpp 14104."""
    f = figures(run_of(taken([accepted(), rejected(), UNTESTED, UNTESTED], at=0.5)))
    assert (f.accepted, f.tested, f.drafted) == (1, 2, 4)
    assert f.acceptance == 0.5
    assert f.tokens_per_call == 2
    assert f.throughput == 4
    assert (f.plain_throughput, f.speedup, f.possible) == (None, None, None)


def test_figures_of_a_moment_are_those_of_its_rounds_alone():
    rounds = invent(20)
    run, short = run_of(*rounds), run_of(*rounds[:7])
    assert figures(run, 7) == figures(short)
    assert figures(run, 0).acceptance is None


def test_the_race_measures_the_speedup():
    calls = {"draft": 0.1, "verify": 0.4}
    run = run_of(taken([accepted()], "bonus", at=1.0, seconds=calls), taken([accepted()], "bonus", at=2.0, seconds=calls))
    run.take(DecodeStarted("j", "plain", (), (), 0.1))
    for i in range(4):
        run.take(RoundTaken("j", "plain", taken([], "plain", at=1.0 * (i + 1), seconds={"verify": 0.5})))
    f = figures(run)
    assert (f.throughput, f.plain_throughput, f.speedup) == (2.0, 1.0, 2.0)
    assert f.possible == pytest.approx(4 * 0.5 / 1.0)
    run.result = {"possible_speedup": 1.9}
    assert figures(run).possible == 1.9
    assert figures(run, 1).possible == pytest.approx(2.0)  # of a part of the run the worker has no figure


def test_a_plain_run_has_no_rate_and_no_speedup():
    run = run_of(*invent(5, gamma=0), lane="plain")
    f = figures(run)
    assert run.plain
    assert (f.acceptance, f.speedup, f.tokens_per_call) == (None, None, 1.0)


def test_moving_average_and_thinning():
    assert moving_average([4, 0, 2, 2], 2) == [4, 2, 1, 2]
    assert thin([1, 2, 3], 10) == ([1, 2, 3], [1, 2, 3], 1)
    xs, means, bucket = thin([float(i) for i in range(1000)], 100)
    assert (len(xs), bucket, xs[0], means[0]) == (100, 10, 5.5, 4.5)


def test_a_race_line_starts_at_nothing_and_keeps_its_end():
    lane = run_of(*invent(500)).lane
    xs, ys = race_line(lane, None, 100)
    assert (xs[0], ys[0]) == (0, 0)
    assert (xs[-1], ys[-1]) == (lane.at[-1], lane.tokens[-1])
    assert len(xs) <= 102
    cut, _ = race_line(lane, lane.at[9], 100)
    assert cut[-1] == lane.at[9]
    assert race_line(Lane(), None, 100) == ([0.0], [0])


# ---- recordings


def recorded(tmp_path, **more):
    spec = GenerateSpec(workspace="w", target="t", draft="d", proposer="draft", prompt="Once\nupon", race=True)
    run = run_of(*invent(9), spec=spec, target_name="T", draft_name="D", **more)
    run.take(DecodeStarted("j", "plain", (1, 2), ("a", "b"), 0.2))
    for one in invent(12, gamma=0):
        run.take(RoundTaken("j", "plain", one))
    run.result = {"text": "été", "accepted": 3}
    path = tmp_path / "r.jsonl"
    path.write_text("".join(run.lines()), encoding="utf-8")
    return run, path


def test_a_recording_comes_back_whole(tmp_path):
    run, path = recorded(tmp_path)
    again = read_run(path)
    assert (again.spec, again.result, again.target_name, again.draft_name) == (run.spec, run.result, "T", "D")
    assert again.lanes == run.lanes
    assert figures(again) == figures(run)


def test_a_token_with_a_line_separator_in_it_survives(tmp_path):
    """U+2028 and U+0085 end a line for str.splitlines, but not in a JSON lines file."""
    odd = Round(1, 0, 0, (), "gamma", 5, "a\u2028b\x85", "plain", (), (5,), at=0.1)
    path = tmp_path / "r.jsonl"
    path.write_text("".join(run_of(odd, lane="plain").lines()), encoding="utf-8")
    assert read_run(path).lane.rounds == [odd]


def test_a_bare_file_of_rounds_opens_too(tmp_path):
    rounds = invent(4)
    path = tmp_path / "cli.jsonl"
    path.write_text("".join(json.dumps(round_to_dict(r)) + "\n" for r in rounds))
    run = read_run(path)
    assert run.lane.rounds == rounds
    assert (run.spec, run.plain, run.name) == (None, False, "cli")


def test_a_last_line_cut_short_is_passed_over(tmp_path):
    _run, path = recorded(tmp_path)
    path.write_text(path.read_text()[:-40])
    assert len(read_run(path).lanes["plain"].rounds) == 11


def test_a_last_line_cut_within_a_character_is_passed_over(tmp_path):
    _run, path = recorded(tmp_path)
    path.write_bytes(path.read_bytes() + '{"lane": "plain", "final_text": "\u6f22'.encode()[:-1])
    assert len(read_run(path).lanes["plain"].rounds) == 12


def test_a_byte_order_mark_is_none_of_the_text(tmp_path):
    _run, path = recorded(tmp_path)
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert read_run(path).target_name == peek(path)["target_name"] == "T"


WRONG = [None, "x", 7, [], {}, [[1]], {"a": 1}, 1e400]


@pytest.mark.parametrize("line", [0, 1, 2])
def test_whatever_stands_where_something_else_belongs_ends_in_a_sentence_or_is_shown(tmp_path, line):
    """Someone else's file, or a damaged one: what opens can be drawn, listed and written again."""
    _run, path = recorded(tmp_path)
    lines = path.read_text().splitlines()
    for place in list(places(json.loads(lines[line]))):
        for wrong in WRONG:
            data = json.loads(lines[line])
            inner = data
            for key in place[:-1]:
                inner = inner[key]
            inner[place[-1]] = wrong
            path.write_text("\n".join([*lines[:line], json.dumps(data), *lines[line + 1 :]]))
            listed = peek(path)
            if listed:
                assert isinstance((listed.get("spec") or {}).get("prompt", ""), str)
            try:
                run = read_run(path)
            except UserError:
                continue
            figures(run), list(run.lines()), run.text(), run.text(1), run.end
            for name, lane in run.lanes.items():
                assert len(cells_of_prompt(lane)) == len(lane.prompt_ids)
                run.of_lane(name)
                for i, taken in enumerate(lane.rounds):
                    for cell in cells_of_round(taken, i):
                        assert shown(explain(lane, cell, run.rule(name)).text, cell.id)


def places(data, above=()):
    """Every place in nested data, of lists the first."""
    for key in data if isinstance(data, dict) else range(min(1, len(data))):
        yield (*above, key)
        if isinstance(data[key], (dict, list)):
            yield from places(data[key], (*above, key))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "holds no rounds"),
        (b"[" * 100_000, "line 1"),
        (b'{"kind": "decode", "spokeshave": null, "lanes": 3}\n', "line 1"),
        (b"hello\nthere\n", "line 1"),
        (b'{"kind": "other"}\n', "line 1"),
        (b'{"kind": "decode", "spokeshave": 1}\n', "holds no rounds"),
        (b'{"kind": "decode", "spokeshave": 99}\n', "later Spokeshave"),
        (b'{"kind": "decode", "spokeshave": 1, "spec": {"gamma": -1}}\n{}\n', "line 1"),
        (b"\xff\xfe\x00", "holds no text"),
        (b"[1]\n[2]\n", "line 1"),
    ],
)
def test_what_is_no_recording_says_why(tmp_path, content, words):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(UserError, match=words):
        read_run(path)


def test_a_damaged_line_is_named(tmp_path):
    _run, path = recorded(tmp_path)
    lines = path.read_text().splitlines()
    lines[4] = lines[4][:50]
    path.write_text("\n".join(lines))
    with pytest.raises(UserError, match="line 5"):
        read_run(path)


def test_a_missing_recording_says_so(tmp_path):
    with pytest.raises(UserError, match="can't be read"):
        read_run(tmp_path / "gone.jsonl")


def test_the_newest_recordings_first_and_nothing_else(tmp_path):
    _, path = recorded(tmp_path)
    (tmp_path / "s.jsonl").write_text(path.read_text())
    (tmp_path / "t.jsonl").write_text("not one")
    assert [p.name for p, _ in recordings(tmp_path)] == ["s.jsonl", "r.jsonl"]
    assert peek(path)["target_name"] == "T"
    assert recordings(tmp_path / "missing") == []


def test_the_model_of_a_run_needs_no_qt():
    code = "import sys; import app.decode_run; sys.exit(any(m.startswith('PySide6') for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
