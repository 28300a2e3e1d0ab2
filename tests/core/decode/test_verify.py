"""The rules on plain tensors: what's kept, what's compared with what, and how far off the rules are that aren't lossless."""

import itertools

import pytest
import torch

from core.decode.engine import Decoding
from core.decode.policy import Fixed
from core.decode.propose import DraftModel, Proposal
from core.decode.sampling import Sampling, Seeded
from core.decode.tree import verify as tree
from core.decode.verify import block, greedy, relaxed, residual, token, typical, verifier_for
from core.errors import UserError
from tests.core.decode.toys import EveryBranch, Letters, Table

ONE = Sampling(temperature=1.0)


class Dice:
    """Hands out the uniform numbers given, in order; draws the likeliest."""

    def __init__(self, *us):
        self.us = list(us)

    def bernoulli(self, chance):
        u = self.us.pop(0)
        return u < chance, u

    def categorical(self, p):
        return int(p.argmax())


def rows(*chances):
    return torch.tensor(chances, dtype=torch.float64)


def judge(rule, q, ids, p, *us, sampling=ONE):
    return rule(q.log(), Proposal(list(ids), p), sampling, Dice(*us))


def expected_accepted(rule, target, draft, gamma):
    """Mean accepted tokens when every row of the target is `target` and of the draft `draft`, over all drafts and draws."""
    total, q, p = 0.0, target.expand(gamma + 1, -1), draft.expand(gamma, -1)
    for ids in itertools.product(range(len(draft)), repeat=gamma):
        chance = float(torch.stack([draft[x] for x in ids]).prod())
        chooser = EveryBranch()
        while chance:
            chooser.begin()
            accepted = rule(q.log(), Proposal(list(ids), p), ONE, chooser).accepted
            total += chance * chooser.weight * accepted
            if not chooser.advance():
                break
    return total


# ---- lossless ----------------------------------------------------------------------------------------------------------


def test_greedy_keeps_what_the_target_would_say():
    scores = torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert [greedy(scores, Proposal(ids), Sampling(), Dice()).accepted for ids in ([1, 0], [1, 2], [2, 0])] == [2, 1, 0]
    assert [greedy(scores, Proposal(ids), Sampling(), Dice()).final for ids in ([1, 0], [1, 2], [2, 0])] == [2, 0, 1]


def test_token_compares_u_with_the_ratio():
    q, p = rows([0.2, 0.8], [0.5, 0.5], [0.9, 0.1]), rows([0.5, 0.5], [0.25, 0.75])
    kept = judge(token, q, [0, 0], p, 0.39, 0.99)
    assert (kept.accepted, kept.final, kept.us) == (2, 0, [0.39, 0.99])
    assert kept.chances == pytest.approx([0.4, 1.0])
    lost = judge(token, q, [0, 0], p, 0.41)
    assert (lost.accepted, lost.final, lost.us) == (0, 1, [0.41])
    assert lost.residual.tolist() == pytest.approx([0.0, 0.3])


def test_token_takes_a_point_mass_at_q():
    q = rows([0.2, 0.5, 0.3], [0.1, 0.1, 0.8])
    lost = judge(token, q, [1], None, 0.51)
    assert lost.residual.tolist() == pytest.approx([0.2, 0, 0.3])
    assert lost.chances == pytest.approx([0.5])
    assert judge(token, q, [1], None, 0.49).accepted == 1


def test_block_keeps_more_than_token_by_the_papers_example():
    """Sun et al. 2024, section 2: draft (2/3, 1/3), target (1/3, 2/3), two tokens: 10/9 by token, 11/9 by block."""
    target, draft = rows([1 / 3, 2 / 3])[0], rows([2 / 3, 1 / 3])[0]
    assert expected_accepted(token, target, draft, 2) == pytest.approx(10 / 9)
    assert expected_accepted(block, target, draft, 2) == pytest.approx(11 / 9)


@pytest.mark.parametrize("seed", range(6))
def test_block_never_keeps_fewer_than_token(seed):
    generator = torch.Generator().manual_seed(seed)
    target, draft = torch.softmax(1.5 * torch.randn(2, 3, generator=generator, dtype=torch.float64), -1)
    by_token, by_block = (expected_accepted(rule, target, draft, 3) for rule in (token, block))
    assert by_block >= by_token - 1e-12
    assert expected_accepted(block, target, draft, 1) == pytest.approx(expected_accepted(token, target, draft, 1))


def test_block_carries_luck_over():
    """x1 is likelier by the target than by the draft, x2 less likely: together they're kept with 0.5, x2 alone would be with 0.25."""
    q, p = rows([0.8, 0.2], [0.2, 0.8], [0.5, 0.5]), rows([0.4, 0.6], [0.8, 0.2])
    kept = judge(block, q, [0, 0], p, 0.24)
    assert kept.accepted == 2
    assert kept.chances[1] == pytest.approx(0.25)  # r_1 is capped at 1, so no more than that here
    carried = judge(block, rows([0.2, 0.8], [0.8, 0.2], [0.5, 0.5]), [0, 0], rows([0.4, 0.6], [0.4, 0.6]), 0.99)
    assert carried.chances[1] == pytest.approx(1.0)  # 0.5 and then 2: what the first lacked the second makes up for
    assert carried.accepted == 2


def test_block_draws_from_the_last_token_backwards_and_tells_only_what_was_drawn():
    q, p = rows([0.2, 0.8], [0.5, 0.5], [0.3, 0.7]), rows([0.5, 0.5], [0.1, 0.9])
    verdict = judge(block, q, [0, 1], p, 0.9, 0.0)
    assert (verdict.accepted, verdict.us) == (1, [0.0, 0.9])
    reach = 0.4
    assert verdict.chances[1] == pytest.approx(reach * 0.5 / 0.9)
    excess = reach * 0.5 - 0.1  # of token 0; token 1 has none
    assert verdict.chances[0] == pytest.approx(excess / (excess + 1 - reach))
    assert verdict.residual.tolist() == pytest.approx([excess, 0.0])
    assert judge(block, q, [0, 1], p, 0.0).us == [None, 0.0]


def test_block_of_point_masses_is_token():
    q = rows([0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4])
    one, other = (judge(rule, q, [1, 2], None, 0.4, 0.9) for rule in (block, token))
    assert (one.accepted, one.final, one.us) == (other.accepted, other.final, other.us) == (1, 0, [0.4, 0.9])


def test_block_of_equal_models_keeps_all():
    """p = q: nothing is left over, and 0/0 mustn't be computed."""
    q = rows([0.2, 0.8], [0.5, 0.5], [0.3, 0.7])
    assert judge(block, q, [0, 1], q[:2], 0.999999).accepted == 2


def test_chances_are_chances_in_float32():
    """Rounding must not make one larger than 1 or not a number, whatever the rows."""
    generator = torch.Generator().manual_seed(0)
    for spread in (0.001, 1.0, 8.0):
        base = spread * torch.randn(7, 500, generator=generator)
        scores = base + 1e-4 * torch.randn(7, 500, generator=generator)
        p = torch.softmax(base[:6], -1)
        ids = [int(torch.multinomial(row, 1, generator=generator)) for row in p]
        for rule in (token, block):
            verdict = rule(scores, Proposal(ids, p), ONE, Dice(*[1.0] * 6))
            assert all(0 <= chance <= 1 for chance in verdict.chances if chance is not None)


def test_residual_of_equal_rows_is_q():
    q = rows([0.4, 0.6])[0]
    assert residual(q, q, 0).equal(q)
    assert residual(rows([1.0, 0.0])[0], None, 0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("rule", [token, block])
def test_nothing_drafted_is_a_draw_from_the_target(rule):
    verdict = rule(rows([0.3, 0.7]).log(), Proposal(), ONE, Dice())
    assert (verdict.accepted, verdict.final, verdict.us) == (0, 1, [])


# ---- not lossless --------------------------------------------------------------------------------------------------------


def test_typical_threshold():
    """min(epsilon, delta exp(-H)): a flat distribution accepts less likely tokens than a peaked one."""
    flat, peaked = [0.25] * 4, [0.85, 0.05, 0.05, 0.05]
    entropy = -(0.85 * torch.tensor(0.85).log() + 3 * 0.05 * torch.tensor(0.05).log())
    assert judge(typical(1.0, 0.9), rows(flat, flat), [3], None).accepted == 1  # 0.9 / 4 < 0.25
    assert judge(typical(1.0, 1.0), rows(flat, flat), [3], None).accepted == 0  # not above 1 / 4
    least = float(0.09 * torch.exp(-entropy))
    assert 0.04 < least < 0.06
    assert judge(typical(0.3, 0.09), rows(peaked, flat), [1], None).accepted == (least < 0.05)
    assert judge(typical(0.3, 0.05), rows(peaked, flat), [1], None).accepted == 1
    assert judge(typical(0.04, 1.0), rows(peaked, flat), [1], None).accepted == 1  # epsilon is the lesser


def test_relaxed_keeps_the_k_likeliest_and_ties():
    q = rows([0.4, 0.3, 0.2, 0.1], [0.25] * 4)
    assert [judge(relaxed(2), q, [x], None).accepted for x in range(4)] == [1, 1, 0, 0]
    assert judge(relaxed(1), rows([0.25] * 4, [0.25] * 4), [3], None).accepted == 1
    assert judge(relaxed(99), q, [3], None).accepted == 1


@pytest.mark.parametrize("rule", [typical(1.0, 1e-9), relaxed(4)])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_what_cannot_be_drawn_is_never_kept(rule, temperature):
    q = rows([0.6, 0.4, 0.0, 0.0], [0.25] * 4)
    verdict = judge(rule, q, [2], None, sampling=Sampling(temperature=temperature))
    assert (verdict.accepted, verdict.final, verdict.distance) == (0, 0, [0.0])


def test_distance_by_hand():
    q, p = rows([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [1 / 3] * 3), rows([0.2, 0.2, 0.6], [0.1, 0.8, 0.1])
    verdict = judge(relaxed(2), q, [0, 0], p)
    assert verdict.accepted == 1
    # first: (0.2, 0.2) kept of p, 0.6 drawn from q -> (0.5, 0.38, 0.12); second: (0.8, 0.1) kept, 0.1 from q -> (0.02, 0.83, 0.15)
    assert verdict.distance == pytest.approx([0.08, 0.53])
    assert judge(relaxed(2), q, [0, 1], None).distance == pytest.approx([0.5, 0.7])  # point masses
    assert judge(relaxed(2), q, [2, 1], None).distance == [0.0]  # rejected, and then drawn from q: no distance, nothing tested after


def test_distance_at_temperature_zero_counts_tokens_that_are_not_the_argmax():
    q, cold = rows([0.5, 0.4, 0.1], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]), Sampling(temperature=0.0)
    verdict = judge(relaxed(2), q, [1, 2], None, sampling=cold)
    assert (verdict.accepted, verdict.final, verdict.distance) == (2, 2, [1.0, 0.0])
    rejected = judge(relaxed(2), q, [2, 2], None, sampling=cold)
    assert (rejected.accepted, rejected.final, rejected.distance) == (0, 0, [0.0])


@pytest.mark.parametrize("rule", [typical(), relaxed()])
def test_nothing_drafted_is_no_distance(rule):
    verdict = rule(rows([0.3, 0.7]).log(), Proposal(), ONE, Dice())
    assert (verdict.accepted, verdict.final, verdict.distance) == (0, 1, [])


def test_relaxed_one_at_temperature_zero_is_greedy():
    generator = torch.Generator().manual_seed(1)
    for _ in range(30):
        scores = torch.randn(4, 3, generator=generator)
        ids = torch.randint(3, (3,), generator=generator).tolist()
        lossy, strict = relaxed(1)(scores, Proposal(ids), Sampling(), Dice()), greedy(scores, Proposal(ids), Sampling(), Dice())
        assert (lossy.accepted, lossy.final) == (strict.accepted, strict.final)
        assert not any(lossy.distance)


# ---- as a round tells it -------------------------------------------------------------------------------------------------


def told(rule, seeds=range(12)):
    sampling = Sampling(temperature=1.0, max_new_tokens=12)
    for seed in seeds:
        yield from Decoding(
            Table(1).fresh(),
            [0, 1, 0],
            sampling=sampling,
            proposer=DraftModel(Table(2), sampling),
            policy=Fixed(3),
            verifier=rule,
            chooser=Seeded(seed),
            pieces=Letters(),
        ).rounds()


@pytest.mark.parametrize("rule", [token, block])
def test_a_round_tells_what_u_was_compared_with(rule):
    seen = set()
    for taken in told(rule):
        for t in taken.drafted:
            if t.verdict != "untested" and t.u is not None:
                seen.add(t.verdict)
                assert (t.u < t.chance) == (t.verdict == "accepted")
                if rule is token:
                    assert t.chance == pytest.approx(min(1.0, t.target / t.draft))
            assert t.distance is None
    assert seen == {"accepted", "rejected"}


@pytest.mark.parametrize("rule", [typical(), relaxed(2)])
def test_a_round_tells_the_distance_at_every_tested_position(rule):
    distances = []
    for taken in told(rule):
        for t in taken.drafted:
            assert (t.distance is None) == (t.verdict == "untested")
            distances += [t.distance] if t.distance is not None else []
    assert all(0 <= d <= 1 for d in distances)
    assert max(distances) > 0.1


# ---- by name -------------------------------------------------------------------------------------------------------------


def test_rules_by_name():
    cold = Sampling(temperature=0.0)
    assert [verifier_for(ONE, name) for name in ("token", "block", "tree")] == [token, block, tree]
    assert [verifier_for(cold, name) for name in ("token", "block", "tree")] == [greedy, greedy, tree]
    q = rows([0.4, 0.35, 0.25], [1 / 3] * 3)
    assert [judge(verifier_for(ONE, "top-k", k=k), q, [1], None).accepted for k in (1, 2)] == [0, 1]
    assert [judge(verifier_for(ONE, "typical", epsilon=e, delta=1.0), q, [2], None).accepted for e in (0.2, 0.3)] == [1, 0]


@pytest.mark.parametrize("wrong", [{"name": "nonsense"}, {"name": "top-k", "k": 0}, {"name": "typical", "epsilon": 0.0}])
def test_rules_that_cannot_be(wrong):
    with pytest.raises(UserError) as caught:
        verifier_for(ONE, **wrong)
    assert caught.value.hint
