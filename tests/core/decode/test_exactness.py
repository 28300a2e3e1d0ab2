"""The proof and the test as features: what they claim of each rule, and that they say the same as a run without shortcuts."""

import copy
import json
import math
from dataclasses import replace

import pytest
import torch

from core.decode import exactness
from core.decode.policy import Fixed
from core.decode.propose import DraftModel
from core.decode.sampling import Sampling
from core.decode.verify import token
from core.errors import UserError
from core.events import Progress
from core.models.load import load
from core.records import EnumerateSpec, ExactnessSpec
from core.run import Run
from tests.core.decode.toys import outcomes

LOSSLESS = ("token", "block", "tree")
WRONG = ("softmax-ratio", "discard", "resample")
LOSSY = ("typical", "top-k")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("rule", LOSSLESS)
def test_lossless_rules_are_exact(rule, seed):
    found = exactness.enumerate_toy(EnumerateSpec(rule=rule, seed=seed))
    assert found["lossless"] is True
    assert found["tv"] < 1e-12


@pytest.mark.parametrize("rule", WRONG + LOSSY)
def test_the_others_are_not_and_it_says_by_how_much(rule):
    found = exactness.enumerate_toy(EnumerateSpec(rule=rule))
    assert found["lossless"] is False
    assert found["tv"] > 0.05


@pytest.mark.parametrize("rule", LOSSLESS + WRONG + LOSSY)
def test_what_it_tells_adds_up(rule):
    found = exactness.enumerate_toy(EnumerateSpec(rule=rule, gamma=3, tokens=4, vocabulary=4))
    assert len(found["rows"]) == 4**4
    for who in ("target", "engine"):
        assert math.fsum(row[who] for row in found["rows"]) == pytest.approx(1, abs=1e-12)
    assert math.fsum(row["chance"] for row in found["tree"]) == pytest.approx(1, abs=1e-12)
    for row in found["tree"]:
        assert row["chance"] <= row["drafted_chance"] + 1e-12
        assert row["committed"][: row["accepted"]] == row["drafted"][: row["accepted"]]
    assert math.fsum(found["models"]["target"]) == pytest.approx(1)
    assert found["paths"] >= len(found["tree"])


@pytest.mark.parametrize("verifier", [token, exactness.resampling(token)])
def test_rounds_that_leave_the_same_state_may_go_on_as_one(verifier):
    """Every whole course run by itself gives the same law as the rounds that were merged."""
    spec = EnumerateSpec(rule="token" if verifier is token else "resample", seed=3)

    class Seen(exactness.Table):
        """The same table, with the names that the tests' own enumeration looks at."""

        @property
        def cached(self):
            return self.ids

        def fresh(self):
            self.ids = []
            return self

    sampling = Sampling(temperature=1.0, max_new_tokens=spec.tokens)
    whole = outcomes(
        Seen(7, 3), [0, 1, 0], sampling, lambda: DraftModel(Seen(8, 3), sampling), lambda: Fixed(spec.gamma), verifier, exactness.Letters()
    )
    merged = {tuple(row["ids"]): row["engine"] for row in exactness.enumerate_toy(spec)["rows"] if row["engine"]}
    assert {ids for ids, _, _ in whole} == merged.keys()
    for (ids, text, _), chance in whole.items():
        assert merged[ids] == pytest.approx(chance, abs=1e-12)
        assert "".join(exactness.LETTERS[i] for i in ids) == text


# ---- the test on a real pair ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pair(pico_target, noisy_copy):
    target = load(pico_target)
    return target, replace(target, model=copy.deepcopy(noisy_copy))


def checked(pair, run=None, **changes):
    target, draft = pair
    told = {"workspace": "w", "target": "t", "prompt": "the old sailor", "proposer": "draft", "gamma": 3, "runs": 400, "top_k": 3}
    spec = ExactnessSpec(**(told | changes))
    return exactness.check(target, draft if spec.proposer == "draft" else None, spec, run or Run())


@pytest.mark.parametrize("verifier", ["token", "block", "tree"])
def test_a_lossless_rule_passes_and_the_wrong_one_is_caught(pair, verifier):
    found = checked(pair, verifier=verifier)
    assert found["passed"] is True
    assert found["lossless"] is True
    assert found["outside"] == 0
    assert found["control"]["caught"] is True
    assert found["runs"] == 400
    assert math.fsum(cell["expected"] for cell in found["cells"]) == pytest.approx(400, abs=1e-3)
    assert sum(cell["seen"] for cell in found["cells"]) == 400
    assert sum(cell["control"] for cell in found["cells"]) == 400
    assert len(found["cells"]) == 9
    assert found["level"] == pytest.approx(0.01 / 2)
    assert [test["tokens"] for test in found["tests"]] == [1, 2]
    assert found["tests"][-1]["p"] == found["p"]
    assert 0 < found["detects"] < 0.2
    assert found["tested"] > 0
    json.dumps(found)


def test_a_rule_that_loses_something_fails(pair):
    found = checked(pair, verifier="top-k", relaxed_k=3)
    assert found["lossless"] is False
    assert found["passed"] is False


@pytest.mark.parametrize("proposer", ["ngram", "early-exit"])
def test_other_proposers_pass(pair, proposer):
    assert checked(pair, proposer=proposer, runs=200)["passed"] is True


def test_a_text_that_may_end_is_one_token_long(pair):
    target, draft = pair
    ending = replace(target, tokenizer=copy.deepcopy(target.tokenizer))
    likely = max((cell for cell in checked(pair, runs=50)["cells"]), key=lambda cell: cell["expected"])["ids"][0]
    ending.tokenizer.eos_token = ending.tokenizer.convert_ids_to_tokens(likely)
    found = checked((ending, draft))
    assert [likely] in [cell["ids"] for cell in found["cells"]]
    assert found["passed"] is True


def test_it_stops_with_what_there_is(pair):
    run = Run("job", lambda event: run.control("stop") if isinstance(event, Progress) and event.done >= 150 else None)
    found = checked(pair, run, runs=20000)
    assert 150 <= found["runs"] < 20000
    assert sum(cell["seen"] for cell in found["cells"]) == found["runs"]


def test_a_context_that_cuts_the_text_short_is_no_fault_of_the_rules(pair):
    """One token of two fits: every run was found to write what the target can't."""
    text = pair[0].tokenizer.decode(pair[0].tokenizer("the old sailor told " * 80)["input_ids"][:255])
    with pytest.raises(UserError, match="reads at most 256, so there's no room for the 2"):
        checked(pair, prompt=text, runs=50)
    assert checked(pair, prompt=text, runs=50, tokens=1)["outside"] == 0


def test_what_cannot_be_tested_is_said(pair):
    with pytest.raises(UserError, match="Nothing drafts"):
        checked(pair, proposer="none")
    with pytest.raises(UserError, match="nearly all the probability"):
        checked(pair, forced=" told a long story", runs=50)


def test_chi_square_tails_are_those_of_the_tables():
    """NIST's critical values, and Cohen's noncentrality for power 0.9 at 0.05 with one degree."""
    assert exactness._tail(3.841, 1) == pytest.approx(0.05, abs=1e-4)
    assert exactness._tail(24.996, 15) == pytest.approx(0.05, abs=1e-4)
    assert exactness._power(10.507, 1, 3.8415) == pytest.approx(0.9, abs=1e-3)
    assert exactness.detectable(1, 0.05, 1000) == pytest.approx(math.sqrt(10.507 / 4000), rel=1e-3)


def test_the_distance_that_is_told_is_found_as_often_as_told():
    """The least favourable deviation, drawn 2,000 times: nine in ten are refuted."""
    degrees, level, runs = 7, 0.005, 1000
    t = exactness.detectable(degrees, level, runs)
    law = {(i,): 1 / 8 for i in range(8)}
    away = torch.tensor([(1 + (2 * t if i % 2 else -2 * t)) / 8 for i in range(8)], dtype=torch.float64)
    draws = torch.multinomial(away.expand(2000, 8), runs, replacement=True, generator=torch.Generator().manual_seed(1))
    refuted = 0
    for row in draws:
        counts = torch.bincount(row, minlength=8).tolist()
        refuted += exactness._test(law, {(i,): c for i, c in enumerate(counts)}, runs)["p"] < level
    assert refuted / 2000 == pytest.approx(0.9, abs=0.03)
