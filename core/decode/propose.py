"""Who drafts: another model, the text's own repetitions, or nobody.

A proposer returns tokens and either the exact distributions that it drew them from or none at all ('point mass').
Anything else breaks losslessness, so rows are never recomputed, rounded or taken from another temperature.
It may stop early, but a token that it drew stays in the proposal: dropping it would bias what's left.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol

import torch
from torch import Tensor

from core.decode.cache import Scorer, read
from core.decode.sampling import Chooser, History, Sampling, bad_row


@dataclass(frozen=True)
class TreeShape:
    """Candidates for several continuations. Node i is the token ids[i] after node parents[i] < i, or, at -1, after the history.

    The nodes of the draft's own chain come first, each after the one before; siblings come in the order of their rank.
    """

    ids: list[int]
    parents: list[int]

    @property
    def chain(self) -> int:
        """How many nodes the chain has."""
        return next((i for i, parent in enumerate(self.parents) if parent != i - 1), len(self.ids))

    def child(self, node: int, token: int) -> int | None:
        """The child of a node (-1: of the root) that is this token."""
        for i in range(node + 1, len(self.ids)):
            if self.parents[i] == node and self.ids[i] == token:
                return i
        return None

    def path_to(self, node: int) -> list[int]:
        """The nodes from the root to this one, itself included."""
        path: list[int] = []
        while node >= 0:
            path.append(node)
            node = self.parents[node]
        return path[::-1]

    def rank(self, node: int) -> int:
        """How many siblings come before it."""
        return self.parents[:node].count(self.parents[node])


@dataclass
class Proposal:
    """Drafted tokens. rows: (len(ids), vocabulary), what each was drawn from; None: a point mass on each token.

    scores: a draft model's adjusted logits, for the screen; why: 'gamma', 'nothing to propose', 'length', 'end of text',
    'confidence'. calls: (tokens fed, seconds) of each forward.
    """

    ids: list[int] = field(default_factory=list)
    rows: Tensor | None = None
    scores: list[Tensor] = field(default_factory=list)
    why: str = "gamma"
    calls: list[tuple[int, float]] = field(default_factory=list)
    tree: TreeShape | None = None  # with branches: `ids` is then its chain

    def move(self, device: torch.device) -> None:
        """Takes the rows to the target's device, where it's another than the draft's."""
        if self.rows is not None and self.rows.device != device:
            self.rows = self.rows.to(device)
        if self.scores and self.scores[0].device != device:
            self.scores = [row.to(device) for row in self.scores]


class Proposer(Protocol):
    length: int  # tokens in its cache; 0 where it has none

    def start(self, prompt: list[int]) -> None:
        """Reads the prompt."""

    def propose(self, history: History, gamma: int, chooser: Chooser) -> Proposal:
        """At most gamma (at least 1) tokens to follow the history."""

    def settle(self, history: History) -> None:
        """Forgets what the history doesn't confirm. Called after every round, drafted or not."""


class Nobody:
    """Plain decoding."""

    length = 0

    def start(self, prompt: list[int]) -> None:
        pass

    def propose(self, history: History, gamma: int, chooser: Chooser) -> Proposal:
        return Proposal(why="nothing to propose")

    def settle(self, history: History) -> None:
        pass


class DraftModel:
    """A smaller model drafts (Leviathan et al. 2023, section 2; Chen et al. 2023). `sampling` is its own; by default the target's.

    confidence: drafting stops after a token that the draft gave less probability than this (in greedy drafting: of the softmax);
    0: never. The unsure token stays in the proposal, since dropping what was drawn would bias what's left. A model that was
    handed over with a beginning of the prompt in its cache reads only what follows.
    """

    def __init__(self, model: Scorer, sampling: Sampling, confidence: float = 0.0):
        if not 0 <= confidence < 1:
            raise ValueError("confidence is a probability below 1")
        self.model, self.sampling, self.confidence = model, sampling, confidence

    @property
    def length(self) -> int:
        return self.model.length

    def start(self, prompt: list[int]) -> None:
        held = self.model.begin(prompt)
        if held < len(prompt) - 1 and (self.model.context is None or len(prompt) <= self.model.context):
            read(self.model, prompt[held:-1], 1)

    def propose(self, history: History, gamma: int, chooser: Chooser) -> Proposal:
        out, rows = Proposal(), []
        room = gamma if self.model.context is None else self.model.context - len(history.ids) + 1
        if room <= 0:
            out.why = "length"
            return out
        feed = history.ids[self.model.length :]  # what was committed since it last read: one token, or more after a full accept
        for place in range(min(gamma, room)):
            begun = perf_counter()
            logits = read(self.model, feed, 1)  # (1, vocabulary)
            scores = self.sampling.adjust(logits, history, out.ids, first=place)
            out.scores.append(scores)
            if self.sampling.greedy:
                best, token = scores.max(-1)
                token, best = int(token), float(best)
                if best != best or best in (torch.inf, -torch.inf):
                    bad_row(scores, "draft")
                sure = 1.0 if not self.confidence else 1 / float((scores - best).exp().sum())  # the largest of the softmax
            else:
                row = self.sampling.probabilities(scores, "draft")
                rows.append(row)
                token = chooser.categorical(row[0])
                sure = 1.0 if not self.confidence else float(row[0, token])
            out.calls.append((len(feed), perf_counter() - begun))
            out.ids.append(token)
            feed = [token]
            if token in self.sampling.eos:
                out.why = "end of text"  # nothing can follow it
                break
            if sure < self.confidence and place + 1 < gamma:
                out.why = "confidence"
                break
        else:
            if room < gamma:
                out.why = "length"
        if rows:
            out.rows = torch.cat(rows)
        return out

    def settle(self, history: History) -> None:
        # The cache holds the old history and all but the last drafted token; what's confirmed of it is all but the
        # round's last token, which the target added. After a full accept that's more than the cache has: it lags.
        self.model.crop(len(history.ids) - 1)


class NGram:
    """What followed the last time these tokens were written, in the prompt or the output (Saxena 2023, prompt lookup).

    The longest match wins, up to `longest` tokens, and of equally long ones the most recent. A match that runs into the
    end of the text repeats itself, as a list or a loop would. Looked up in a hash index of every run of 1 ... longest
    tokens: adding a token and asking both cost `longest` dictionary accesses, whatever the length of the text.
    """

    length = 0

    def __init__(self, shortest: int = 2, longest: int = 12):
        if not 1 <= shortest <= longest:
            raise ValueError("a match has at least 1 token, and shortest can't exceed longest")
        self.shortest, self.longest = shortest, longest
        self._ids: list[int] = []
        self._ends: dict[tuple[int, ...], int] = {}  # run of tokens -> position after its most recent occurrence
        self._match = 0  # position after the match of the text's end; 0: none

    def start(self, prompt: list[int]) -> None:
        self._add(prompt)

    def propose(self, history: History, gamma: int, chooser: Chooser) -> Proposal:
        if not self._match:
            return Proposal(why="nothing to propose")
        period = len(self._ids) - self._match
        tail = self._ids[self._match : self._match + gamma]
        return Proposal([tail[i % period] for i in range(gamma)], why="gamma")

    def settle(self, history: History) -> None:
        self._add(history.ids[len(self._ids) :])

    def _add(self, ids: list[int]) -> None:
        for token in ids:
            self._ids.append(token)
            end, self._match = len(self._ids), 0
            for size in range(self.shortest, min(self.longest, end) + 1):
                run = tuple(self._ids[end - size :])
                self._match = self._ends.get(run, self._match)
                self._ends[run] = end
