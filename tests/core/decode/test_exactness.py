"""The proof as a feature: what it claims of each rule, and that it says the same as a run without its shortcuts."""

import math

import pytest

from core.decode import exactness
from core.decode.policy import Fixed
from core.decode.propose import DraftModel
from core.decode.sampling import Sampling
from core.decode.verify import token
from core.records import EnumerateSpec
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
