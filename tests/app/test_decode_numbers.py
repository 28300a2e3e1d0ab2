"""The numbers behind the decode lab's plots, the table that's exported, and why a token fared as it did under every rule."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from app.decode_advanced import escaped, join_texts, split_layers, split_texts, unescaped
from app.decode_export import COLUMNS, as_csv, rows
from app.decode_numbers import by_position, calibration, costs_of, gain, overhead, parts, position_rates, wilson
from app.decode_run import Cell, DecodeRun, Kind, Lane, Phase, cells_of_phase, explain, figures
from app.decode_steps import step_text
from app.webp import Frame, animated, chunks
from core.events import Candidate, CostsMeasured, DecodeStarted, Drafted, Round, RoundTaken
from core.records import Drafting, GenerateSpec
from core.theory import speedup
from tests.app.decode_invented import PROMPT, invent


def one(*verdicts: str, seconds=None, number=1, alpha=0.8, final="corrected", **more) -> Round:
    """A round of guesses with these fates: a, r, u."""
    names = {"a": "accepted", "r": "rejected", "u": "untested"}
    drafted = tuple(Drafted(5, " x", names[v], 0.5, None if v == "u" else 0.4, alpha=None if v == "u" else alpha, **more) for v in verdicts)
    committed = (*(5 for v in verdicts if v == "a"), 7)
    return Round(number, 9, 4, drafted, "gamma", 7, " y", final, (), committed, seconds or {"draft": 0.01, "verify": 0.02, "sample": 0.002})


def run_with(lanes: dict[str, list[Round]], spec: GenerateSpec | None = None) -> DecodeRun:
    run = DecodeRun("r", spec, "T", "D")
    for name, rounds in lanes.items():
        run.take(DecodeStarted("j", name, tuple(range(len(PROMPT))), PROMPT, 0.1))
        for taken in rounds:
            run.take(RoundTaken("j", name, taken))
    return run


SPEC = GenerateSpec(workspace="w", target="t", draft="d", proposer="draft", temperature=0.8, race=True)


# ---- acceptance


def test_acceptance_by_place_counts_tested_guesses_only():
    places = by_position([one("a", "a", "r", "u"), one("a", "r", "u", "u"), one("r", "u"), one()])
    assert [(p.tested, p.kept) for p in places] == [(3, 2), (2, 1), (1, 0)]
    assert places[0].rate == pytest.approx(2 / 3)
    assert places[0].overlap / places[0].known == pytest.approx(0.8)


def test_rates_lean_on_the_mean_where_little_was_tested():
    places = by_position([one("a", "a", "r")] * 50)
    rates = position_rates(places, 5)
    assert rates[0] > 0.98
    assert rates[2] < 0.03
    assert rates[3] == rates[4] == pytest.approx((100 + 0.5) / (150 + 1))


def test_wilson_is_inside_zero_and_one_and_narrows():
    assert wilson(0, 0) == (0.0, 1.0)
    for kept, tested in ((0, 3), (3, 3), (50, 100)):
        low, high = wilson(kept, tested)
        assert 0 <= low <= kept / tested <= high <= 1
    assert wilson(500, 1000)[1] - wilson(500, 1000)[0] < wilson(5, 10)[1] - wilson(5, 10)[0]


def test_calibration_holds_every_tested_guess_once_and_sorts_them():
    rounds = invent(120)
    bins = calibration(rounds)
    assert sum(b.tested for b in bins) == sum(r.tested for r in rounds)
    assert sum(b.kept for b in bins) == sum(r.accepted for r in rounds)
    assert all(a.promised <= b.promised for a, b in pairwise(bins))
    assert len(calibration([one("a", "r")])) == 1
    assert calibration([one()]) == []


# ---- time and speed-up


def test_a_rounds_time_is_drafting_verifying_and_the_rest():
    assert parts(one("a")) == pytest.approx((0.01, 0.02, 0.002))
    assert overhead(Lane(rounds=[one("a"), one("r")])) == pytest.approx(0.002)


def test_costs_measured_beforehand_come_first_then_the_reported_then_those_met():
    run = run_with({"speculative": [one("a", "r"), one("a", "a", final="bonus")], "plain": [one(final="plain")] * 3}, SPEC)
    met, beforehand = costs_of(run, "speculative")
    assert not beforehand
    assert met.target == pytest.approx({1: 0.02, 3: 0.02})  # T(1) is the plain lane's
    assert met.draft == pytest.approx({1: 0.005})
    run.result = {"costs": {"target": {"1": 0.5, "3": 0.6}, "draft": {"1": 0.1}}}
    assert costs_of(run, "speculative")[0].target == {1: 0.5, 3: 0.6}
    run.take(CostsMeasured("j", "speculative", {1: 0.7}, {1: 0.2}, 0.01))
    assert costs_of(run, "speculative") == (run.costs["speculative"], True)
    assert costs_of(DecodeRun("empty"), "speculative") == (None, False)


def test_the_curve_is_the_formulas_and_the_best_is_its_top():
    run = run_with({"speculative": [one("a", "a", "r", "u")] * 20, "plain": [one(final="plain")] * 40}, SPEC)
    run.take(CostsMeasured("j", "speculative", {1: 0.02, 4: 0.022, 8: 0.03}, {1: 0.002}, 0.001))
    found = gain(run, "speculative")
    rates = position_rates(by_position(run.lane.rounds), 16)
    assert found.curve[0] == 1.0
    expected = speedup(rates[:3], {1: 0.02, 4: 0.022, 8: 0.03}, {1: 0.002}, overhead=0.002, plain_overhead=overhead(run.lanes["plain"]))
    assert found.curve[3] == pytest.approx(expected)
    assert found.curve[found.best] == max(found.curve)
    assert found.now[0] == 4
    assert found.now[1] == pytest.approx(found.curve[4])
    assert (found.measured, found.beforehand) == (False, True)
    assert gain(run, "speculative", speedup=1.7).now == (4, 1.7)


def test_without_t1_there_is_no_curve():
    run = run_with({"speculative": [one("a", "r")]}, SPEC)
    assert gain(run, "speculative") is None


def test_efficiency_is_measured_over_possible():
    lanes = {"speculative": invent(20), "plain": invent(60, gamma=0)}
    f = figures(run_with(lanes, SPEC))
    assert f.efficiency == pytest.approx(f.speedup / f.possible)


def test_distance_is_shown_of_lossy_rules_only():
    rounds = [one("a", "r", distance=0.2), one("a", distance=0.1)]
    lossy = figures(run_with({"speculative": rounds}, SPEC.model_copy(update={"verifier": "typical"})))
    assert (lossy.distance, lossy.measured_at) == (pytest.approx(0.5 / 3), 3)
    assert figures(run_with({"speculative": rounds}, SPEC)).distance is None


# ---- reasons under other rules


def why(token: Drafted, rule: Drafting, *, greedy=False, final="corrected", top=()):
    taken = Round(1, 9, 4, (token,), "gamma", 7, " y", final, top, (5, 7) if token.verdict == "accepted" else (7,))
    kind = Kind.ACCEPTED if token.verdict == "accepted" else Kind.REJECTED
    return explain(Lane(rounds=[taken]), Cell(" x", 5, kind, 0, 0, True), rule, greedy=greedy)


def test_typical_acceptance_tells_what_it_asked_for():
    rule = Drafting(verifier="typical", epsilon=0.3, delta=0.09)
    bar = min(0.3, 0.09 * math.exp(-1.5))
    kept = why(Drafted(5, " x", "accepted", 0.5, 0.1, target_entropy=1.5, distance=0.25), rule)
    assert (kept.reason, kept.values, kept.distance) == ("kept-typical", {"q": 0.1, "bar": pytest.approx(bar)}, 0.25)
    assert why(Drafted(5, " x", "rejected", 0.5, 0.001, target_entropy=1.5), rule).reason == "dropped-typical"
    assert why(Drafted(5, " x", "accepted"), rule).reason == "kept-typical-bare"


def test_block_verification_tells_the_chance_that_it_compared():
    rule = Drafting(verifier="block")
    kept = why(Drafted(5, " x", "accepted", 0.5, 0.1, 0.3, chance=0.6), rule)
    assert (kept.reason, kept.values) == ("kept-block", {"u": 0.3, "chance": 0.6})
    assert why(Drafted(5, " x", "accepted", 0.5, 0.1), rule).reason == "kept-block-with"
    assert why(Drafted(5, " x", "rejected", 0.5, 0.1, 0.9, chance=0.6), rule).reason == "dropped-block"
    assert why(Drafted(5, " x", "accepted", 0.5, 0.1), rule, greedy=True).reason == "kept-greedy"
    assert (
        why(Drafted(5, " x", "accepted", None, 0.1, 0.05, chance=0.1), rule).reason == "kept-point"
    )  # of a point mass it's the token rule


def test_a_tree_tells_that_the_target_drew():
    top = (Candidate(5, " x", 0.5, 0.6), Candidate(6, " z", 0.1, 0.2))
    rule = Drafting(verifier="tree")
    token = Drafted(5, " x", "accepted", 0.5, 0.6, top=top, branch=1)
    assert why(token, rule).reason == "kept-tree"
    assert why(token, rule).branch == 1
    assert why(token, rule, greedy=True).reason == "kept-greedy"
    assert why(Drafted(6, " z", "rejected", 0.1, 0.2, top=top), rule).reason == "dropped-tree"


def test_top_k_acceptance_tells_its_k():
    facts = why(Drafted(5, " x", "accepted", 0.5, 0.2), Drafting(verifier="top-k", relaxed_k=3))
    assert (facts.reason, facts.values["k"]) == ("kept-top", 3)


# ---- steps


def test_the_three_steps_of_a_round():
    taken = one("a", "r", "u", u=0.9, seconds={"draft": 0.012, "verify": 0.03})
    assert [c.kind for c in cells_of_phase(taken, 0, Phase.DRAFT)] == [Kind.GUESSED] * 3
    assert [c.kind for c in cells_of_phase(taken, 0, Phase.VERIFY)] == [Kind.ACCEPTED, Kind.REJECTED, Kind.UNTESTED]
    assert cells_of_phase(taken, 0, Phase.NONE) == []
    assert step_text(taken, Phase.DRAFT, None) == "1 of 3, draft: 3 tokens are guessed (12.0 ms)."
    words = step_text(taken, Phase.VERIFY, None)
    assert words.startswith("2 of 3, verify: one call of the target scores 4 places at once (30.0 ms). 1 of 3 are kept;")
    assert "u = 0.90 > q/p = 0.80" in words
    assert step_text(taken, Phase.NONE, None).startswith("3 of 3, correct: “y” – put in place of “x”")
    assert step_text(one("a", final="bonus"), Phase.NONE, None).startswith("3 of 3, bonus:")
    assert "reading the prompt" in step_text(one(final="plain", seconds={"verify": 1e-5}), Phase.NONE, None)


# ---- exporting


def test_the_table_has_a_row_for_every_token_of_every_lane():
    run = run_with({"speculative": invent(5), "plain": invent(9, gamma=0)}, SPEC)
    table = rows(run)
    assert {tuple(row) for row in table} == {COLUMNS}
    tokens = 2 * len(PROMPT) + sum(len(r.drafted) + 1 for r in run.lanes["speculative"].rounds) + 9
    assert len(table) == tokens
    first = next(row for row in table if row["round"] == 1 and row["lane"] == "speculative")
    token = run.lanes["speculative"].rounds[0].drafted[0]
    assert (first["draft_probability"], first["u"], first["alpha"]) == (token.draft, token.u, token.alpha)
    kept = "".join(row["text"] for row in table if row["lane"] == "speculative" and row["kept"] and row["round"])
    assert kept == run.text()
    assert as_csv(run).count("\r\n") >= tokens  # a token may hold a line break of its own


def still(size: int) -> bytes:
    content = b"x" * size
    return b"RIFF" + (20 + size).to_bytes(4, "little") + b"WEBP" + b"VP8L" + size.to_bytes(4, "little") + content + b"\0" * (size % 2)


def test_an_animation_is_the_stills_in_a_container():
    data = animated([Frame(still(5), 0, 0, 10, 8, 100), Frame(still(4), 2, 4, 6, 4, 250)], 10, 8)
    assert int.from_bytes(data[4:8], "little") == len(data) - 8
    parts = list(chunks(data))
    assert [name for name, _ in parts] == [b"VP8X", b"ANIM", b"ANMF", b"ANMF"]
    assert parts[0][1][4:] == (9).to_bytes(3, "little") + (7).to_bytes(3, "little")
    assert parts[3][1][:3] == (1).to_bytes(3, "little")  # in steps of two pixels
    assert parts[3][1][12:15] == (250).to_bytes(3, "little")
    assert parts[2][1][16:20] == b"VP8L"
    with pytest.raises(ValueError, match="two pixels"):
        animated([Frame(still(4), 1, 0, 6, 4, 100)], 10, 8)
    with pytest.raises(ValueError, match="not a WebP"):
        list(chunks(b"GIF89a"))


# ---- texts in one line


@pytest.mark.parametrize("texts", [(), ("a",), ("\n\n", "END"), (" um ", "b|c", "tab\t", 'a"b', '"q"'), ("back\\slash", "\\n")])
def test_texts_come_back_from_their_line(texts):
    assert split_texts(join_texts(texts)) == texts


def test_a_text_alone_keeps_its_blanks():
    for text in (" Once", "a\nb ", "x|y", "c:\\n"):
        assert unescaped(escaped(text)) == text


def test_layers_are_numbers_and_ranges():
    assert split_layers("") is None
    assert split_layers(" 3, 7-9,3") == (3, 7, 8, 9)
    with pytest.raises(ValueError, match="three"):
        split_layers("three")
