"""What a distribution is before anyone draws from it: penalties, bans, temperature and truncation; and who draws.

`Sampling.adjust` and `Sampling.probabilities` turn logits into the fully processed distribution, row by row, each row
with the drafted tokens before it in its context. Both are pure functions of the context, so a rejected token leaves
nothing to roll back. Drawing is a Chooser's; it's the only randomness in decoding. Beam search isn't here.

Order of processing: repetition penalty (Keskar et al. 2019, section 4.1), presence and frequency penalties (as vLLM has
them: of what was written, the prompt left out), logit bias, bans, minimum length, forced tokens (which therefore outdo
bans); then temperature, top-k, top-p (Holtzman et al. 2020, section 3.1), min-p (Nguyen et al. 2024, section 3), typical-p
(Meister et al. 2023, section 4), each judging what the one before it left.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from core.errors import UserError

COLDEST = 1e-30  # float32 would take a lower temperature for 0, and divide by it
PREFILTER = 512  # top-p and typical-p look among this many foremost tokens first; a full sort only where their mass falls short


@dataclass(frozen=True)
class Sampling:
    """How tokens are chosen, and when to stop. temperature 0 is greedy: the largest logit after penalties and bans.

    top_k 0, top_p 1, min_p 0, typical_p 1, repetition_penalty 1, presence and frequency_penalty 0 switch each off. `eos`
    and `stop` end the text; `min_new_tokens` bans `eos` until so many tokens were written; `forced` are the ids that the new
    text begins with. Tokens that tie with the last one kept by top-k, top-p or typical-p are kept.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0  # taken off the logit of every token written before
    frequency_penalty: float = 0.0  # taken off as often as it was written
    bias: tuple[tuple[int, float], ...] = ()  # (token id, what is added to its logit)
    banned: tuple[int, ...] = ()
    forced: tuple[int, ...] = ()
    eos: tuple[int, ...] = ()
    stop: tuple[str, ...] = ()
    min_new_tokens: int = 0
    max_new_tokens: int = 128

    def __post_init__(self):
        bounds = (
            (self.temperature >= 0, "temperature", "0 or more"),
            (self.top_k >= 0, "top_k", "0 or more"),
            (0 < self.top_p <= 1, "top_p", "above 0 and at most 1"),
            (0 <= self.min_p < 1, "min_p", "from 0 to below 1"),
            (0 < self.typical_p <= 1, "typical_p", "above 0 and at most 1"),
            (self.repetition_penalty > 0, "repetition_penalty", "above 0"),
            (self.min_new_tokens >= 0, "min_new_tokens", "0 or more"),
            (self.max_new_tokens >= 1, "max_new_tokens", "1 or more"),
            (all(self.stop), "stop", "a text that isn't empty"),
        )
        for ok, name, wanted in bounds:
            if not ok:
                raise UserError("{name} must be {wanted}.", hint="Change it and decode again.", name=name, wanted=wanted)

    @property
    def greedy(self) -> bool:
        return self.temperature == 0

    def adjust(self, logits: Tensor, history: History, drafted: list[int], first: int = 0) -> Tensor:
        """Penalties, bias, bans and forced tokens; row r is judged with drafted[: first + r] after the history.

        logits: (rows, vocabulary) of any float type. Returns (rows, vocabulary) in float32, or float64 where it came so.
        """
        scores = logits if logits.dtype in (torch.float32, torch.float64) else logits.float()
        rows, written = scores.shape[0], history.new + first  # of the first row
        early = self.min_new_tokens - written  # rows before this one come too soon to end
        must = self.forced[written : written + rows]  # row r has to be must[r]
        repeated, counted = self.repetition_penalty != 1, bool(self.presence_penalty or self.frequency_penalty)
        if not (repeated or counted or self.bias or self.banned or must or (early > 0 and self.eos)):
            return scores
        scores = scores.clone()
        if repeated:
            seen = history.seen_index(scores.device)
            scores[:, seen] = self._penalised(scores[:, seen])
            known = set()
            for place, token in enumerate(drafted):
                begins = max(place + 1 - first, 0)  # the first row that has this drafted token behind it
                if token in history.seen or token in known or begins >= rows:
                    continue
                known.add(token)
                scores[begins:, token] = self._penalised(scores[begins:, token])
        if counted:
            self._count(scores, history, drafted, first)
        for token, amount in self.bias:
            scores[:, token] += amount
        if self.banned:
            scores[:, list(self.banned)] = -torch.inf
        if early > 0 and self.eos:
            scores[: min(early, rows), list(self.eos)] = -torch.inf
        for row, token in enumerate(must):
            scores[row] = -torch.inf
            scores[row, token] = 0
        return scores

    def _penalised(self, scores: Tensor) -> Tensor:
        return torch.where(scores > 0, scores / self.repetition_penalty, scores * self.repetition_penalty)

    def _count(self, scores: Tensor, history: History, drafted: list[int], first: int) -> None:
        """Takes presence and frequency penalties off, in place: each row by what was written before it."""
        if history.counts:
            ids, counts = history.counts_index(scores.device)  # both (different tokens,)
            scores[:, ids] -= self.presence_penalty + self.frequency_penalty * counts.to(scores.dtype)
        known = set(history.counts)
        for place, token in enumerate(drafted):
            begins = max(place + 1 - first, 0)  # the first row that has this drafted token behind it
            if begins < scores.shape[0]:
                scores[begins:, token] -= self.frequency_penalty + (0 if token in known else self.presence_penalty)
            known.add(token)

    def probabilities(self, scores: Tensor, who: str = "target") -> Tensor:
        """The distribution that a token is drawn from (of greedy decoding: the plain softmax, to be shown).

        scores: (rows, vocabulary) as `adjust` gives them. Returns the same shape; every row sums to 1.
        Raises UserError where a row has no distribution (NaN, infinite, or everything banned).
        """
        if self.greedy:
            return checked(torch.softmax(scores, -1), scores, who)
        if self.temperature != 1:
            scores = scores / max(self.temperature, COLDEST)
        size = scores.shape[-1]
        if 0 < self.top_k < size:
            least = scores.topk(self.top_k, -1).values[:, -1:]
            scores = scores.masked_fill(scores < least, -torch.inf)
        p = checked(torch.softmax(scores, -1), scores, who)
        if self.top_p < 1:
            p = torch.where(p >= nucleus_edge(p, self.top_p), p, 0)
        if self.min_p > 0:
            p = torch.where(p >= self.min_p * p.amax(-1, keepdim=True), p, 0)
        if self.top_p < 1 or self.min_p > 0:
            p = p / p.sum(-1, keepdim=True)
        if self.typical_p < 1:
            p = torch.where(typical(p, self.typical_p), p, 0)
            p = p / p.sum(-1, keepdim=True)
        return p


def nucleus_edge(p: Tensor, mass: float) -> Tensor:
    """The least probability inside the smallest set of likeliest tokens that holds `mass`. p: (rows, vocabulary) -> (rows, 1).

    Sorting 49k probabilities costs torch 3 to 10 ms a row, finding the 512 largest of them 0.1 to 0.2 ms; so those first, and
    all of them only where they don't hold the mass.
    """
    width = min(PREFILTER, p.shape[-1])
    top = p.topk(width, -1).values  # (rows, width), descending
    edge = _edge(top, mass)
    if width < p.shape[-1]:
        for row in (top.sum(-1) < mass).nonzero()[:, 0].tolist():
            edge[row] = _edge(ascending(p[row]).flip(-1), mass)
    return edge


def _edge(top: Tensor, mass: float) -> Tensor:
    """top: (..., width), descending -> (..., 1)."""
    return top.gather(-1, _places(top, mass))


def _places(chances: Tensor, mass: float) -> Tensor:
    """The first place by which the chances, taken in order, hold `mass`; the last place where they don't. (..., width) -> (..., 1)."""
    before = chances.cumsum(-1) - chances  # the mass of everything ahead of it
    return (before < mass).sum(-1, keepdim=True).clamp_min(1) - 1  # nothing is ahead of the first, but float32 takes 1e-46 for 0


def typical(p: Tensor, mass: float) -> Tensor:
    """Which tokens are in the smallest set that holds `mass`, taken by how near their surprisal is to the entropy.

    p: (rows, vocabulary), every row summing to 1 -> the same shape, bool. Full sorts are avoided as in `nucleus_edge`.
    """
    surprisal = -p.log()  # inf where p is 0
    far = (surprisal - entropy(p)[:, None]).abs()  # (rows, vocabulary)
    width = min(PREFILTER, p.shape[-1])
    near, ids = far.topk(width, -1, largest=False)  # both (rows, width), ascending
    chances = p.gather(-1, ids)
    edge = near.gather(-1, _places(chances, mass))  # (rows, 1)
    if width < p.shape[-1]:
        for row in (chances.sum(-1) < mass).nonzero()[:, 0].tolist():
            order = ascending_order(far[row])
            edge[row] = far[row, order].gather(-1, _places(p[row, order], mass))
    return far <= edge


def ascending(row: Tensor) -> Tensor:
    """The values of a row (n,) in ascending order. On a CPU numpy's vectorised sort: 0.1 ms for 49k floats, where torch's takes 3."""
    return torch.from_numpy(np.sort(row.numpy())) if row.device.type == "cpu" else row.sort().values


def ascending_order(row: Tensor) -> Tensor:
    """Where those values stand: (n,). Equal ones come in any order."""
    return torch.from_numpy(np.argsort(row.numpy())) if row.device.type == "cpu" else row.argsort()


def entropy(p: Tensor) -> Tensor:
    """Of each row, in nats. p: (rows, vocabulary) -> (rows,). Half the time of torch.special.entr, which tests each element."""
    return p.clamp_min(torch.finfo(p.dtype).tiny).log_().mul_(p).sum(-1).neg_()


def checked(p: Tensor, scores: Tensor, who: str) -> Tensor:
    """p, after making sure that each row is a distribution. A NaN or an infinity anywhere makes a softmax's whole row NaN."""
    first = p[:, 0].tolist()
    if any(x != x for x in first):
        bad_row(scores, who)
    return p


def bad_row(scores: Tensor, who: str) -> None:
    """Says why there's nothing to choose from."""
    if bool((scores == -torch.inf).all(-1).any()):
        raise UserError(
            "No token is left to choose from: every one is banned.",
            hint="Ban fewer tokens, or allow the text to end earlier.",
        )
    raise UserError(
        "The {who} model computed something that isn't a number, so it has no next token.",
        hint="Decode in float32; if that doesn't help, this variant's weights are damaged.",
        kind="model",
        who=who,
    )


class History:
    """The committed sequence: prompt and what was written since. Drafted tokens are never in it."""

    def __init__(self, prompt: list[int]):
        self.ids = list(prompt)
        self.prompt = len(prompt)
        self.seen = set(prompt)
        self.counts: Counter[int] = Counter()  # of what was written after the prompt
        self._counted: dict[torch.device, tuple[Tensor, Tensor]] = {}
        self._index: dict[torch.device, Tensor] = {}  # `seen` as an index, on each device that asked

    @property
    def new(self) -> int:
        """How many tokens were written after the prompt."""
        return len(self.ids) - self.prompt

    def extend(self, ids: list[int]) -> None:
        self.ids.extend(ids)
        self.counts.update(ids)
        self._counted.clear()
        before = len(self.seen)
        self.seen.update(ids)
        if len(self.seen) != before:
            self._index.clear()

    def seen_index(self, device: torch.device) -> Tensor:
        if device not in self._index:
            self._index[device] = torch.tensor(sorted(self.seen), dtype=torch.long, device=device)
        return self._index[device]

    def counts_index(self, device: torch.device) -> tuple[Tensor, Tensor]:
        """The tokens written and how often each was, both (different tokens,)."""
        if device not in self._counted:
            ids, counts = list(self.counts), list(self.counts.values())
            self._counted[device] = torch.tensor(ids, dtype=torch.long, device=device), torch.tensor(counts, device=device)
        return self._counted[device]


class Chooser(Protocol):
    """All of decoding's randomness."""

    def categorical(self, p: Tensor) -> int:
        """An index drawn from p: (vocabulary,), not negative, not all zero; needn't sum to 1."""

    def bernoulli(self, chance: float) -> tuple[bool, float | None]:
        """Whether an event of this chance happened, and the uniform number that decided."""


class Seeded:
    """Draws from a seeded generator. The same seed gives the same draws on every device."""

    def __init__(self, seed: int):
        self._generator = torch.Generator().manual_seed(seed % 2**63)
        self._ready: list[float] = []

    def uniform(self) -> float:
        """A number in [0, 1). Taken from a block of 1024, since asking torch for one costs as much as for all of them."""
        if not self._ready:
            self._ready = torch.rand(1024, generator=self._generator, dtype=torch.float64).tolist()
            self._ready.reverse()
        return self._ready.pop()

    def categorical(self, p: Tensor) -> int:
        # torch.multinomial takes 1 ms on 49k tokens, this 0.05 ms. `right` makes tokens of probability 0 unreachable:
        # the first sum strictly above the mark belongs to a token that added something.
        # Summed in float64, since in float32 the 49k sums would be off by more than the least likely tokens have.
        sums = p.cumsum(-1, dtype=torch.float64 if p.device.type != "mps" else None)
        total = float(sums[-1])
        place = int(torch.searchsorted(sums, self.uniform() * total, right=True))
        if place >= p.shape[-1] or float(p[place]) == 0:  # the mark was rounded up to the very end
            place = int(p.nonzero()[-1])
        return place

    def bernoulli(self, chance: float) -> tuple[bool, float | None]:
        u = self.uniform()
        return u < chance, u
