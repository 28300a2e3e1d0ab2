"""Trees: exact to the last branch, the same text as plain decoding, and caches that hold the path that was taken."""

import copy

import pytest
import torch

from core.decode import tree
from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.pieces import Pieces
from core.decode.policy import Fixed
from core.decode.propose import DraftModel, NGram, Proposal, TreeShape
from core.decode.sampling import History, Sampling, Seeded
from core.decode.tree import TreeDraft
from core.decode.verify import token
from core.errors import UserError
from tests.core.decode.toys import Table, outcomes, reference, total_variation

PROMPT = [0, 1, 0, 2, 0]
EXACT = 1e-12

CONDITIONS = {
    "plain": Sampling(temperature=1.0, max_new_tokens=4),
    "end of text": Sampling(temperature=0.8, eos=(1,), max_new_tokens=4),
    "end, stop and length": Sampling(temperature=1.2, eos=(2,), stop=("ba",), max_new_tokens=3),
    "repetition penalty": Sampling(temperature=0.9, repetition_penalty=1.7, max_new_tokens=4),
    "top-k": Sampling(temperature=1.3, top_k=2, max_new_tokens=4),
    "min-p": Sampling(temperature=1.1, min_p=0.3, max_new_tokens=4),
    "bias and bans": Sampling(temperature=1.0, bias=((0, 1.5),), banned=(2,), max_new_tokens=4),
    "minimum length": Sampling(temperature=1.0, eos=(1,), min_new_tokens=2, max_new_tokens=4),
}


@pytest.mark.parametrize(("branches", "gamma", "confidence"), [(1, 2, 0.0), (2, 1, 0.0), (2, 3, 0.0), (3, 2, 0.0), (2, 3, 0.6)])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_tree_is_lossless(condition, branches, gamma, confidence):
    sampling, target = CONDITIONS[condition], Table(1)
    found = outcomes(target, PROMPT, sampling, lambda: TreeDraft(Table(2), sampling, confidence, branches), lambda: Fixed(gamma))
    assert total_variation(found, reference(target, PROMPT, sampling)) < EXACT


def test_looking_at_a_tree_does_not_change_it():
    sampling, target = CONDITIONS["end of text"], Table(1)
    found = outcomes(target, PROMPT, sampling, lambda: TreeDraft(Table(2), sampling), lambda: Fixed(2), details=True)
    assert total_variation(found, reference(target, PROMPT, sampling)) < EXACT


@pytest.mark.parametrize("proposer", ["draft", "ngram"])
def test_the_trees_rule_is_lossless_for_chains(proposer):
    sampling, target = CONDITIONS["end of text"], Table(1)
    make = (lambda: DraftModel(Table(2, support=2), sampling)) if proposer == "draft" else (lambda: NGram(shortest=1))
    found = outcomes(target, PROMPT, sampling, make, lambda: Fixed(2), verifier=tree.verify)
    assert total_variation(found, reference(target, PROMPT, sampling)) < EXACT


def keeps_any_sibling(scores, proposal, sampling, chooser):
    """A wrong rule: where the target draws a token that isn't in the tree, takes the draft's second choice for it."""
    walk = tree.verify(scores, proposal, sampling, chooser)
    shape = tree.shape_of(proposal)
    last = walk.path[-1] if walk.path else -1
    others = [i for i, parent in enumerate(shape.parents) if parent == last]
    if len(others) > 1:
        walk.final = shape.ids[others[1]]
    return walk


def test_a_wrong_rule_for_trees_is_caught():
    sampling, target = CONDITIONS["plain"], Table(1)
    found = outcomes(target, PROMPT, sampling, lambda: TreeDraft(Table(2), sampling), lambda: Fixed(2), verifier=keeps_any_sibling)
    assert total_variation(found, reference(target, PROMPT, sampling)) > 0.05


def test_a_chains_rule_is_refused_for_trees():
    sampling, target = CONDITIONS["plain"], Table(1)
    with pytest.raises(ValueError, match="tree"):
        outcomes(target, PROMPT, sampling, lambda: TreeDraft(Table(2), sampling), lambda: Fixed(2), verifier=token)


# ---- the shape -------------------------------------------------------------------------------------------------------------


def test_a_tree_holds_the_likeliest_at_each_depth():
    sampling, draft, history = Sampling(banned=(3,)), TreeDraft(Table(4, vocabulary=6), Sampling(banned=(3,)), branches=3), History([0, 1])
    draft.start(history.ids)
    out = draft.propose(history, 2, Seeded(0))
    rows = [sampling.adjust(row, history, []) for row in out.scores]
    first, second = (row[0].topk(3).indices.tolist() for row in rows)
    assert out.ids == [first[0], second[0]]
    assert out.tree.ids == [first[0], second[0], *first[1:], *second[1:]]
    assert out.tree.parents == [-1, 0, -1, -1, 0, 0]
    assert out.tree.chain == 2
    assert [out.tree.rank(i) for i in range(6)] == [0, 0, 1, 2, 1, 2]
    assert out.tree.path_to(5) == [0, 5]
    assert out.tree.child(0, second[2]) == 5
    assert out.tree.child(-1, first[1]) == 2
    assert out.tree.child(1, 0) is None
    assert 3 not in out.tree.ids


def test_what_is_banned_is_no_branch():
    draft, history = TreeDraft(Table(4), Sampling(banned=(1, 2)), branches=3), History([0, 1])
    draft.start(history.ids)
    out = draft.propose(history, 2, Seeded(0))
    assert out.tree == TreeShape([0, 0], [-1, 0])


def test_penalties_follow_each_nodes_own_path():
    sampling, history = Sampling(repetition_penalty=2.0), History([0])
    shape = TreeShape([1, 2, 3], [-1, 0, -1])
    rows = tree.adjust(torch.ones(4, 5), history, shape, sampling)
    halved = [{i for i, x in enumerate(row) if x == 0.5} for row in rows.tolist()]
    assert halved == [{0}, {0, 1}, {0, 1, 2}, {0, 3}]


def test_a_walk_by_hand():
    shape = TreeShape([1, 2, 3, 0], [-1, 0, -1, 0])  # 1 - 2, 3 beside 1, 0 beside 2
    proposal = Proposal([1, 2], scores=[torch.zeros(1, 4)] * 2, tree=shape)

    def walk(*wanted):
        return tree.verify(torch.eye(4)[list(wanted)], proposal, Sampling(), Seeded(0))

    taken = walk(1, 2, 3, 3, 3)  # the chain, and one more
    assert (taken.path, taken.final) == ([0, 1], 3)
    taken = walk(3, 0, 0, 2, 0)  # the branch beside the first
    assert (taken.path, taken.final) == ([2], 2)
    shown, ranks, rows = tree.walked(proposal, taken)
    assert (shown.ids, ranks, rows) == ([3], [1], [0, 3])
    taken = walk(1, 3, 0, 0, 0)  # not in the tree at the second
    assert (taken.path, taken.final) == ([0], 3)
    shown, ranks, rows = tree.walked(proposal, taken)
    assert (shown.ids, ranks, rows) == ([1, 2], [0, 0], [0, 1])


# ---- on pico models ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def planted(make, target_model, noisy_copy, tokenizer):
    def build(gamma=3, branches=3, model=None, confidence=0.0, **settings):
        plain = make(model=model, **settings)
        return Decoding(
            plain.target,
            plain.history.ids,
            sampling=plain.sampling,
            proposer=TreeDraft(CachedModel(noisy_copy, vocabulary=len(tokenizer)), plain.sampling, confidence, branches),
            policy=Fixed(gamma),
            chooser=Seeded(settings.get("seed", 0)),
            pieces=Pieces(tokenizer),
        )

    return build


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_damaged_weights_are_told_of_and_not_taken_for_a_model_that_reads_no_trees(planted, target_model, temperature):
    damaged = copy.deepcopy(target_model)
    damaged.model.norm.weight.data[0] = torch.nan
    with pytest.raises(UserError, match="The target model computed something that isn't a number"):
        written(planted(model=damaged, temperature=temperature))


def written(decoding):
    rounds = list(decoding.rounds())
    return decoding.history.ids[decoding.history.prompt :], rounds


@pytest.mark.parametrize("gamma", [1, 2, 5, 8])
@pytest.mark.parametrize("settings", [{}, {"repetition_penalty": 1.3}, {"banned": tuple(range(40, 120))}])
def test_greedy_text_is_the_plain_one(make, planted, gamma, settings):
    ids, rounds = written(planted(gamma, max_new_tokens=60, **settings))
    assert ids == written(make(max_new_tokens=60, **settings))[0]
    assert sum(r.accepted for r in rounds) + sum(r.final_kind != "none" for r in rounds) == len(ids)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_caches_hold_the_path_after_every_round(planted, target_model, temperature):
    decoding, branches = planted(4, temperature=temperature, max_new_tokens=60), 0
    for taken in decoding.rounds():
        ids, target, draft = decoding.history.ids, decoding.target, decoding.proposer.model
        branches += any(t.branch for t in taken.drafted)
        assert target.ids == ids[:-1]
        assert taken.target_cache == target._cache.get_seq_length() == len(ids) - 1
        for model, whole in ((target, target_model), (draft, draft.model)):
            held = model.length
            assert model.ids == ids[:held]
            cached = model.forward(ids[held:], 1)
            with torch.inference_mode():
                fresh = whole(torch.tensor([ids])).logits[0, -1:]
            assert (cached - fresh[:, : model.vocabulary]).abs().max() < 1e-4
            model.crop(held)
    assert branches > 0  # some rounds left the chain


def test_rounds_count_a_tree_as_the_chain_that_was_walked(planted):
    rounds = [r for gamma in (1, 3) for r in written(planted(gamma, branches=2, temperature=0.3, max_new_tokens=80))[1]]
    kinds = set()
    for taken in rounds:
        if not taken.drafted:
            assert taken.nodes == 0
            continue
        verdicts = [t.verdict for t in taken.drafted]
        assert taken.nodes % 2 == 0
        assert taken.nodes >= len(verdicts)
        assert verdicts == sorted(verdicts, key=["accepted", "rejected", "untested"].index)
        assert verdicts.count("rejected") == (taken.final_kind == "corrected")
        assert all(t.branch == 0 for t in taken.drafted[:-1])  # only the chain is gone on from
        last = taken.drafted[-1]
        assert last.verdict == "accepted" or last.branch == 0
        assert taken.committed[: taken.accepted] == tuple(t.id for t in taken.drafted[: taken.accepted])
        assert taken.tested == taken.accepted + ("rejected" in verdicts)
        for t in taken.drafted[: taken.tested]:
            assert t.target is not None
            assert 0 <= t.alpha <= 1
        kinds.add((taken.final_kind, last.branch))
    assert {("corrected", 0), ("bonus", 0), ("bonus", 1)} <= kinds


def test_a_tree_brings_more_tokens_a_call_than_its_chain(planted):
    calls = [len(written(planted(3, branches=b, max_new_tokens=120))[1]) for b in (1, 2, 4)]
    assert calls[0] > calls[1] >= calls[2]


def test_a_tree_ends_where_plain_decoding_ends(make, planted):
    """Running past an end inside a block (transformers 47912), on a branch too."""
    plain, _ = written(make(max_new_tokens=40))
    for end in set(plain[:20]):
        ids, rounds = written(planted(5, eos=(end,), max_new_tokens=40))
        assert ids == plain[: plain.index(end) + 1]
        assert rounds[-1].stop == "end of text"


def test_an_unsure_token_ends_the_tree_and_stays(planted):
    _, rounds = written(planted(6, confidence=0.9, max_new_tokens=40))
    assert "confidence" in {r.why_stopped for r in rounds}
    assert all(r.drafted or r.final_kind == "plain" for r in rounds)


def test_a_target_that_cannot_read_trees_is_refused_at_once(planted):
    from tests.core.decode.test_cache import made

    bloom = made("bloom", n_head=2, n_layer=2, vocab_size=300)
    with pytest.raises(UserError, match="tree"):
        planted(model=bloom)
