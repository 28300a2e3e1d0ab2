"""Drafts with other tokens: exact whatever the tokenizers do, and right where they can be."""

import pytest
import torch

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.pieces import Pieces
from core.decode.policy import Fixed
from core.decode.retokenize import Retokenized
from core.decode.sampling import History, Sampling, Seeded
from tests.conftest import PROSE
from tests.core.decode.toys import Table, outcomes, reference, total_variation

PROMPT = [0, 1, 0, 2, 0]


class Words:
    """A tokenizer that takes the longest word that fits, from the left."""

    def __init__(self, words, eos=None, bos=None):
        self.words, self.eos_token_id, self.bos_token_id = words, eos, bos

    def __call__(self, text, add_special_tokens=True, **_):
        ids, at = [self.bos_token_id] if add_special_tokens and self.bos_token_id is not None else [], 0
        while at < len(text):
            best = max((w for w in self.words if text.startswith(w, at)), key=len)
            ids.append(self.words.index(best))
            at += len(best)
        return {"input_ids": ids}

    def decode(self, ids, skip_special_tokens=False, **_):
        return "".join(self.words[i] for i in ids if not (skip_special_tokens and i in (self.eos_token_id, self.bos_token_id)))


CONDITIONS = {
    "plain": Sampling(temperature=1.0, max_new_tokens=4),
    "end of text": Sampling(temperature=0.8, eos=(1,), max_new_tokens=4),
    "stop string": Sampling(temperature=1.0, stop=("ab", "cc"), max_new_tokens=4),
    "repetition penalty": Sampling(temperature=0.9, repetition_penalty=1.7, max_new_tokens=4),
    "min-p": Sampling(temperature=1.1, min_p=0.3, max_new_tokens=4),
    "bans": Sampling(temperature=1.0, banned=(2,), max_new_tokens=4),
}
TOKENIZERS = {
    "draft with longer words": (Words(["a", "b", "c", "ab", "ca"]), Words(["a", "b", "c"])),
    "target with longer words": (Words(["a", "b"]), Words(["a", "b", "ab"])),  # the history's own tokens aren't its text's
    "draft with an end": (Words(["a", "b", "c", "."], eos=3), Words(["a", "b", "c"], eos=1)),
    "draft with a beginning": (Words(["a", "b", "c", "^"], bos=3), Words(["a", "b", "c"])),
}


@pytest.mark.parametrize("tokenizers", TOKENIZERS)
@pytest.mark.parametrize("gamma", [1, 3])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_another_tokenizer_is_lossless(condition, gamma, tokenizers):
    sampling, target, (draft, own) = CONDITIONS[condition], Table(1), TOKENIZERS[tokenizers]
    found = outcomes(target, PROMPT, sampling, lambda: Apart(Table(2, vocabulary=len(draft.words)), draft, own), lambda: Fixed(gamma))
    assert total_variation(found, reference(target, PROMPT, sampling)) < 1e-12


class Apart:
    """Keeps the draft's model out of sight: the toys check that a draft's cache holds the target's own ids."""

    def __init__(self, *args):
        self.inner = Retokenized(*args)
        self.start, self.propose, self.settle = self.inner.start, self.inner.propose, self.inner.settle

    length = property(lambda self: self.inner.length)


def proposed(ids, draft, own, gamma=3, seed=2):
    proposer, history = Retokenized(Table(seed, vocabulary=len(draft.words)), draft, own), History(ids)
    proposer.start(history.ids)
    return proposer, proposer.propose(history, gamma, Seeded(0))


def by_hand(ids, draft, seed, count):
    """The draft's argmax text after a text."""
    table, text = Table(seed, vocabulary=len(draft.words)), draft(ids)["input_ids"]
    out = []
    for _ in range(count):
        table.fresh()
        out.append(int(table.forward([*text, *out], 1)[0].argmax()))
    return out


def test_it_proposes_what_the_draft_would_write():
    draft, own = Words(["a", "b", "c", "ab", "ca", "bc"]), Words(["a", "b", "c"])
    _, out = proposed([0, 1, 0, 2], draft, own, gamma=4)
    assert out.rows is None
    assert own.decode(out.ids) == draft.decode(by_hand("abac", draft, 2, 4))[:4]
    assert out.why == "gamma"


def test_gamma_counts_the_targets_tokens():
    draft, own = Words(["a", "b"]), Words(["a", "b", "ab", "aab", "bb", "aaaa", "ba", "bbb"])
    _, out = proposed([0, 1, 0], draft, own, gamma=3)
    assert len(out.ids) == 3
    assert len(out.calls) >= 3


def test_it_reads_only_what_is_new():
    draft, own = Words(["a", "b", "c"]), Words(["a", "b", "c"])
    proposer, out = proposed([0, 1, 0, 2], draft, own, gamma=2)
    assert [n for n, _ in out.calls] == [1, 1]
    history = History([0, 1, 0, 2, *out.ids, 1])  # all accepted, and one more
    proposer.settle(history)
    again = proposer.propose(history, 2, Seeded(0))
    assert [n for n, _ in again.calls] == [2, 1]
    assert proposer.model.cached == [*history.ids, again.ids[0]]
    other = History([0, 1, 0, 2, (out.ids[0] + 1) % 3])  # nothing accepted
    out = proposer.propose(other, 1, Seeded(0))
    assert out.calls[0][0] == 1


def test_long_texts_are_encoded_piece_by_piece(tokenizer, coarse):
    """The same draft tokens as of the whole text, with only its end encoded again each round."""
    ids = tokenizer(PROSE * 2)["input_ids"]
    proposer, encoded = Retokenized(None, coarse, tokenizer), []
    encode = proposer._ids
    proposer._ids = lambda kind, text: encoded.append(len(text)) or encode(kind, text)
    for end in range(300, 1500, 7):
        found = proposer._encoded(ids[:end])[1]
        assert found == coarse(tokenizer.decode(ids[:end]))["input_ids"]
    assert max(encoded) < 1200  # characters, of 5,000


def test_the_drafts_end_is_the_targets():
    draft, own = Words(["a", "b", "."], eos=2), Words(["a", "b", "c", "!"], eos=3)

    class Ending(Table):
        def forward(self, ids, keep):
            super().forward(ids, keep)
            return torch.eye(3)[[2 if len(self.cached) > 4 else 1]]

    proposer, history = Retokenized(Ending(1), draft, own), History([0, 1, 0])
    out = proposer.propose(history, 8, Seeded(0))
    assert (out.ids, out.why) == ([1, 1, 3], "end of text")


def test_half_a_character_is_not_drafted_from():
    class Halves(Words):
        def decode(self, ids, **_):
            return super().decode(ids) + ("\ufffd" if ids[-1:] == [2] else "")

    draft, own = Words(["a", "b"]), Halves(["a", "b", ""])
    proposer, history = Retokenized(Table(2, vocabulary=2), draft, own), History([0, 1, 2])
    proposer.start(history.ids)
    out = proposer.propose(history, 2, Seeded(0))
    assert (out.ids, out.calls, out.why) == ([], [], "nothing to propose")


# ---- real tokenizers ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def coarse(tmp_path_factory):
    """The pico tokenizer's text in larger tokens."""
    from tests.conftest import make_tokenizer

    return make_tokenizer(tmp_path_factory.mktemp("coarse"), size=340)


@pytest.fixture(scope="module")
def draft_model(coarse, tmp_path_factory):
    from transformers import AutoModelForCausalLM

    from tests.conftest import make_pico

    model = AutoModelForCausalLM.from_pretrained(make_pico(tmp_path_factory.mktemp("draft"), tied=False, seed=5)).eval()
    model.resize_token_embeddings(len(coarse), mean_resizing=False)
    return model.requires_grad_(False)


@pytest.fixture
def across(make, draft_model, coarse, tokenizer):
    def build(gamma=3, **settings):
        plain = make(**settings)
        return Decoding(
            plain.target,
            plain.history.ids,
            sampling=plain.sampling,
            proposer=Retokenized(CachedModel(draft_model, vocabulary=len(coarse)), coarse, tokenizer),
            policy=Fixed(gamma),
            chooser=Seeded(0),
            pieces=Pieces(tokenizer),
        )

    return build


@pytest.mark.parametrize("gamma", [1, 3, 8])
def test_greedy_text_is_the_plain_one(make, across, gamma):
    plain = make(max_new_tokens=60)
    list(plain.rounds())
    decoding = across(gamma, max_new_tokens=60)
    rounds = list(decoding.rounds())
    assert decoding.history.ids == plain.history.ids
    assert sum(len(r.drafted) for r in rounds) > 20


def test_a_draft_of_the_same_text_is_accepted(make, tokenizer, coarse, target_model):
    """A draft that writes what the target writes, in other tokens: all of it is kept."""
    plain = make(max_new_tokens=60, banned=tuple(range(1, 257)))  # whole words only
    list(plain.rounds())
    text = tokenizer.decode(plain.history.ids)
    ids = coarse(text)["input_ids"]
    assert len(ids) < len(plain.history.ids)

    class Script(Table):
        def forward(self, fed, keep):
            self.cached.extend(fed)
            assert self.cached == ids[: len(self.cached)]
            after = ids[len(self.cached)] if len(self.cached) < len(ids) else 0
            return torch.nn.functional.one_hot(torch.tensor([after]), len(coarse)).double()

    decoding = make(max_new_tokens=40, banned=tuple(range(1, 257)))
    decoding.proposer, decoding.policy = Retokenized(Script(1), coarse, tokenizer), Fixed(3)
    rounds = list(decoding.rounds())
    assert decoding.history.ids == plain.history.ids[: len(decoding.history.ids)]
    tested, accepted = sum(r.tested for r in rounds), sum(r.accepted for r in rounds)
    assert accepted > 0.8 * tested > 15
