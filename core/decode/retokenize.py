"""A draft with another tokenizer: it reads the text itself, re-encoded, and its text is re-encoded in the target's tokens.

The draft writes by argmax, and what it proposes is a point mass on each of the target's tokens, a function of the text alone.
So greedy decoding and sampling both stay exact, whatever the two tokenizers make of each other's text: a clumsy re-encoding
costs acceptance, never correctness. What the draft thinks likely isn't carried over to the target's tokens, so nothing is
known of p (Timor et al. 2025, algorithm 2, with an argmax draft; their ways to sample across vocabularies aren't here).
"""

from __future__ import annotations

from time import perf_counter

from core.decode.cache import Scorer, read
from core.decode.propose import Proposal
from core.decode.sampling import Chooser, History, bad_row

LONG, RECENT = 256, 128  # of a text longer than LONG tokens, only about the RECENT last ones are re-encoded each round
LOOKBACK = (8, 4, 2, 1)  # how many of the target's last tokens the new text is encoded together with
PATIENCE = 6  # draft tokens for each of the target's, at most
UNWRITABLE = "\ufffd"


class Retokenized:
    """Drafts for a target with other tokens. gamma counts the target's tokens.

    model: the draft, with `draft_tokenizer`'s tokens. Its cache keeps what its own encoding of the text has in common with the
    round before, so that a round reads the new end alone. After end of text in the draft's tokens comes the target's.
    """

    def __init__(self, model: Scorer, draft_tokenizer, target_tokenizer):
        self.model = model
        self._draft, self._target = draft_tokenizer, target_tokenizer
        self._begin = _begins_with(draft_tokenizer)
        self._known, self._settled = list(self._begin), 0  # the draft's ids of the history's first tokens, and how many those are
        self._first = {target_tokenizer.bos_token_id} - {None}
        self._eos = draft_tokenizer.eos_token_id

    @property
    def length(self) -> int:
        return self.model.length

    def start(self, prompt: list[int]) -> None:
        self._known, self._settled = list(self._begin), 0
        ids = self._encoded(prompt)[1]
        held = self.model.begin(ids) if ids else 0
        if held < len(ids) - 1 and (self.model.context is None or len(ids) <= self.model.context):
            read(self.model, ids[held:-1], 1)

    def propose(self, history: History, gamma: int, chooser: Chooser) -> Proposal:
        out = Proposal(why="nothing to propose")
        text, ids = self._encoded(history.ids)
        if not ids or text.endswith(UNWRITABLE):  # half a character can't be re-encoded
            return out
        room = PATIENCE * gamma if self.model.context is None else min(PATIENCE * gamma, self.model.context - len(ids) + 1)
        if room <= 0:
            out.why = "length"
            return out
        self.model.begin(ids)
        feed = ids[self.model.length :]
        written: list[int] = []
        while len(written) < room:
            begun = perf_counter()
            scores = read(self.model, feed, 1)  # (1, the draft's vocabulary)
            value, best = scores.max(-1)
            token, value = int(best), float(value)
            if value != value or value in (float("inf"), float("-inf")):
                bad_row(scores, "draft")
            out.calls.append((len(feed), perf_counter() - begun))
            if token == self._eos:
                out.ids = self._continued(history.ids, text, self._added(ids, written))[:gamma]
                if self._target.eos_token_id is not None and len(out.ids) < gamma:
                    out.ids.append(self._target.eos_token_id)
                out.why = "end of text"
                return out
            written.append(token)
            feed = [token]
            if len(written) >= gamma:
                out.ids = self._continued(history.ids, text, self._added(ids, written))[:gamma]
                if len(out.ids) == gamma:
                    out.why = "gamma"
                    return out
        out.ids = self._continued(history.ids, text, self._added(ids, written))[:gamma]
        out.why = "length" if out.ids else "nothing to propose"
        return out

    def settle(self, history: History) -> None:
        pass  # the next proposal keeps what its encoding of the text has in common with this one's

    def _text(self, ids: list[int]) -> str:
        """The target's tokens as text, special ones included but for the one that only marks the beginning."""
        if ids and ids[0] in self._first:
            ids = ids[1:]
        return self._target.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)

    def _encoded(self, ids: list[int]) -> tuple[str, list[int]]:
        """The text's end, and the whole text in the draft's tokens, whole characters only.

        What's long past was encoded once, up to the beginning of a word. That an encoding of the whole might differ there costs
        at most some acceptance.
        """
        if len(ids) - self._settled > LONG:
            cut = next((i for i in range(len(ids) - RECENT, len(ids) - LOOKBACK[0]) if self._begins_word(ids[i])), None)
            if cut is not None:
                self._known = self._known + self._ids(self._draft, self._text(ids[self._settled : cut]))
                self._settled = cut
        text = self._text(ids[self._settled :])
        return text, self._known + self._ids(self._draft, text.rstrip(UNWRITABLE))

    def _begins_word(self, token: int) -> bool:
        return (self._target.convert_ids_to_tokens(token) or "")[:1] in ("\u0120", "\u2581", " ")

    @staticmethod
    def _ids(tokenizer, text: str) -> list[int]:
        return tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]

    def _added(self, ids: list[int], written: list[int]) -> str:
        """The text of what the draft wrote after its last tokens `ids`, without special tokens and characters that aren't whole yet."""
        tail = ids[-4:]  # what decides the first one's leading space
        before = self._draft.decode(tail, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        after = self._draft.decode(tail + written, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return after[len(before) :].rstrip(UNWRITABLE) if after.startswith(before) else ""

    def _continued(self, ids: list[int], text: str, added: str) -> list[int]:
        """The target's tokens for `added` after the text of `ids`; [] where no encoding of both goes on from these ids.

        The end of the text is encoded along, since what stands before a text decides its tokens. Where the tokenizer would
        join the two in one token, a shorter end is tried, and last the added text alone.
        """
        if not added:
            return []
        for back in LOOKBACK:
            tail = ids[-back:]
            before = self._text(tail)
            if UNWRITABLE in before or not text.endswith(before):
                continue
            found = self._ids(self._target, before + added)
            if found[: len(tail)] == tail:
                return found[len(tail) :]
        alone = self._ids(self._target, added)
        joined = self._text([*ids[-LOOKBACK[0] :], *alone])
        return alone if joined.endswith(added) else []


def _begins_with(tokenizer) -> list[int]:
    """The special token that the tokenizer puts before a text, if it puts one there."""
    first = tokenizer.bos_token_id
    return [first] if first is not None and tokenizer("a")["input_ids"][:1] == [first] else []
