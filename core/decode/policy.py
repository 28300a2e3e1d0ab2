"""How far to draft: a fixed length, or the length that measured costs and acceptance say pays.

A policy sees only what was kept and what calls cost, both of which are known after a round. It never sees a drafted
token before it's verified, so it can't bias the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from math import log, sqrt
from statistics import median
from typing import Protocol

from core.decode.stats import Costs
from core.theory import cost

EARLY = 12  # rounds in which every new sample may change much


class Policy(Protocol):
    def gamma(self) -> int:
        """How many tokens to draft next; 0: none."""

    def learn(self, tested: int, accepted: int) -> None:
        """What became of the round: how many drafted tokens were tested, and how many of those kept."""


class Fixed:
    """Always the same length."""

    def __init__(self, gamma: int):
        self._gamma = gamma

    def gamma(self) -> int:
        return self._gamma

    def learn(self, tested: int, accepted: int) -> None:
        pass


class Adaptive:
    """The length with the greatest expected speed, by measured costs and acceptance, on a budget for being wrong.

    S(gamma) = E(gamma) (T(1) + o) / (gamma T_draft(1) + T(gamma + 1) + o') is scanned from 0 to `longest`, where o and o' are
    what plain and drafting rounds cost besides their forwards; 0 means that drafting doesn't pay. Acceptance is an exponentially
    weighted mean at each position, leaning on the mean over all positions where a position was seldom tested.

    Where drafting doesn't seem to pay it's tried all the same as long as it might: if it would pay at the upper end of what the
    evidence allows (Wilson's bound). Evidence fades while nothing is drafted, so what didn't pay is tried again. The price
    of all this is bounded, trial or not: no round drafts if, with every token of it rejected, the run would have cost more than
    plain decoding's time for max(what's written, `horizon`) tokens and `budget` of that on top. So from `horizon` tokens on a
    run takes at most 1 + budget times what plain decoding takes, in the costs as measured; a shorter one wastes at most budget *
    horizon tokens' time. Half of what was gained before may be spent besides. A fall in acceptance is noticed within a few rounds.

    costs: the run's own, empty at its start. prior: what was measured beforehand; it stands until the run's own samples
    outweigh it, scaled by how they compare. Without it the first round drafts `first` tokens and the second none, to measure T(1).
    With it the first round drafts none: its token is free, since the prompt's logits are there. first: the most in a trial.
    branches: how many tokens the target reads for each one of gamma (a tree's). catch_up: whether the draft has to read what
    was written while it didn't draft; not so where it shares the target's cache. opening: the acceptance to expect before any
    evidence, and how many tests that's worth: of an earlier text of the pair, or of a copy of the target itself.
    """

    LEAST = 1.02  # a speed-up smaller than that is within the noise of the measurements
    WORTH = 1.05  # and one that's only possible should be larger
    TRUST = 0.5  # the share of a gain that may be spent: it's an estimate
    OPENING = 0.8  # acceptance before any evidence, which counts as one test
    THIN = 1.15  # less is only gone for with T(1) measured in the run itself:
    PLAINS = 8  # so often, in every third round
    SURE = 3.0  # log-likelihood, 20 to 1, by which acceptance must seem to have halved
    WEIGHT = 3  # how many of the run's own samples a measurement beforehand is worth

    def __init__(
        self,
        costs: Costs,
        *,
        first: int = 4,
        longest: int = 16,
        prior: Costs | None = None,
        memory: float = 0.9,
        fading: float = 0.98,
        budget: float = 0.015,
        horizon: int = 100,
        branches: int = 1,
        catch_up: bool = True,
        opening: tuple[float, float] | None = None,
    ):
        self.costs, self.first, self.longest, self.prior = costs, min(first, longest), longest, prior
        self.memory, self.fading, self.budget, self.horizon = memory, fading, budget, horizon
        self.branches, self.catch_up = branches, catch_up
        self._opening = opening or (self.OPENING, 1.0)
        self._at: int | None = None  # the round in which costs were last worked out, and what they were
        self._last: Known | None = None
        if prior is not None:
            before = prior.table()
            if not before["target"]:
                raise ValueError("costs measured beforehand lack the target's")
            self._then = Known(before["target"], before["draft"], {1: prior.plain_overhead, 2: prior.overhead}, 0)
        self._kept = [0.0] * longest  # weighted counts by position
        self._tested = [0.0] * longest
        self._alarm = 0.0
        self._since: list[tuple[int, int]] = []  # (tested, accepted) of the rounds since the alarm was last at 0
        self._rounds = self._written = 0
        self._behind = 1  # tokens that the draft has to read at once when it drafts next

    # -- what's known

    def rates(self) -> list[float]:
        """The acceptance rate at each position, given that it's reached."""
        overall = self._overall()
        return [(k + 2 * overall) / (t + 2) for k, t in zip(self._kept, self._tested, strict=True)]

    def _overall(self) -> float:
        rate, weight = self._opening
        return (sum(self._kept) + rate * weight) / (sum(self._tested) + weight)

    def evidence(self) -> tuple[float, float]:
        """The acceptance over all positions and how many tests it's worth: an opening for the next text of the same pair."""
        return self._overall(), sum(self._tested)

    def _hope(self) -> float:
        """The upper end of what acceptance may be (Wilson 1927, one standard error); 1 without evidence."""
        kept, tested = sum(self._kept), sum(self._tested)
        if tested <= 0:
            return 1.0
        rate = kept / tested
        return min(1.0, (rate + 0.5 / tested + sqrt(rate * (1 - rate) / tested + 0.25 / tested**2)) / (1 + 1 / tested))

    def _known(self) -> Known | None:
        """The costs as they're taken to be now; None while T(1) is unknown. Worked out in every fourth round, at first in each."""
        if self._at is not None and self._rounds - self._at < (1 if self._rounds < EARLY else 4):
            return self._last
        self._at, self._last = self._rounds, self._worked_out()
        return self._last

    def _worked_out(self) -> Known | None:
        target, draft, overhead = self.costs.samples()
        if self.prior is None:
            if 1 not in target:
                return None
            return Known(*({n: median(v) for n, v in kept.items()} for kept in (target, draft, overhead)), len(target.get(1, ())))
        then = self._then
        known = _updated(then._target, target, then.target, self.WEIGHT)
        drafts = _updated(then._draft, draft, then.draft, self.WEIGHT)
        around = {n: median(v) for n, v in overhead.items()} or then._around
        return Known(known, drafts, around, len(target.get(1, ())))

    # -- what follows from it

    def best(self) -> int:
        """The length that pays most by what's known now; `first` while T(1) is unknown."""
        known = self._known()
        return self.first if known is None else self._best(known, self.rates(), range(1, self.longest + 1), self.LEAST)

    def _best(self, known: Known, rates: list[float], lengths: Iterable[int], least: float) -> int:
        best, speed = 0, 1.0
        for gamma, now in self._speeds(known, rates, lengths):
            if now > speed * (self.LEAST if best else least):  # a longer draft must be worth it, too
                best, speed = gamma, now
        return best

    def _speeds(self, known: Known, rates: list[float], lengths: Iterable[int]) -> Iterator[tuple[int, float]]:
        """S(gamma) of each length, rising, over many rounds, in which a draft that was kept whole has two tokens to read next time."""
        one, more = known.draft(1), known.draft(2) - known.draft(1) if self.catch_up else 0.0
        tokens = reach = 1.0  # theory.expected_tokens, a term at a time
        at, plain = 0, known.plain
        for gamma in lengths:
            for rate in rates[at:gamma]:
                reach *= rate
                tokens += reach
            at, fed = gamma, 1 + self.branches * gamma
            yield gamma, tokens * plain / (gamma * one + reach * more + known.target(fed) + known.around(fed))

    def _speed(self, known: Known, rates: list[float]) -> float:
        return next(self._speeds(known, rates, [len(rates)]))[1]

    def _loss(self, known: Known, gamma: int) -> float:
        """Seconds lost, against plain decoding, by a round of this length that keeps nothing."""
        fed = 1 + self.branches * gamma
        drafting = (gamma - 1) * known.draft(1) + known.draft(self._behind if self.catch_up else 1)
        return drafting + known.target(fed) + known.around(fed) - known.plain

    def _balance(self, known: Known) -> float:
        """Seconds won so far against plain decoding, at what calls are taken to cost now; negative: lost."""
        costs = self.costs
        spent = sum(n * known.target(fed) for fed, n in costs.target_calls.items())
        spent += sum(n * known.draft(fed) for fed, n in costs.draft_calls.items())
        spent += sum(n * known.around(fed) for fed, n in costs.rounds.items())
        unread = self._rounds - sum(costs.target_calls.values())  # the first round's token came of the prompt's logits, as plainly too
        return self._written * known.plain - max(0, unread) * known.target(1) - spent

    def gamma(self) -> int:
        known = self._known()
        if known is None:
            return self.first if not self._rounds else 0
        if not self._rounds and self.prior is not None:
            return 0
        balance = self._balance(known)
        credit = min(balance, self.TRUST * balance) + self.budget * known.plain * max(self._written, self.horizon)
        affordable = [gamma for gamma in range(1, self.longest + 1) if self._loss(known, gamma) <= credit]
        chosen = self._best(known, self.rates(), affordable, self.LEAST)
        if chosen:
            thin = known.plains < self.PLAINS and self._speed(known, self.rates()[:chosen]) < self.THIN
            return 0 if thin and self._rounds % 3 == 0 else chosen
        hoped = self._best(known, [self._hope()] * self.first, range(1, self.first + 1), self.WORTH)
        return max((gamma for gamma in affordable if gamma <= hoped), default=0)

    def learn(self, tested: int, accepted: int) -> None:
        self._rounds += 1
        self._written += accepted + 1
        if not tested:
            self._kept = [k * self.fading for k in self._kept]
            self._tested = [t * self.fading for t in self._tested]
            self._behind += 1
            return
        self._behind = 2 if tested == accepted else 1
        self._watch(tested, accepted)
        self._count(tested, accepted)

    def _count(self, tested: int, accepted: int) -> None:
        for i in range(min(tested, self.longest)):
            self._tested[i] = self._tested[i] * self.memory + 1
            self._kept[i] = self._kept[i] * self.memory + (i < accepted)

    def _watch(self, tested: int, accepted: int) -> None:
        """Notices when acceptance has fallen (Page 1954, cumulative sum), and then forgets what came before the fall.

        A running mean is slow to: a round that keeps eight tokens is eight tests, one that keeps none a single one.
        """
        rate = min(0.95, self._overall())
        low = rate / 2
        self._alarm += accepted * log(low / rate) + (tested - accepted) * log((1 - low) / (1 - rate))
        if self._alarm <= 0:
            self._alarm, self._since = 0.0, []
            return
        self._since.append((tested, accepted))
        if self._alarm > self.SURE:
            self._kept, self._tested, self._opening = [0.0] * self.longest, [0.0] * self.longest, (self.OPENING, 1.0)
            for one in self._since[:-1]:
                self._count(*one)
            self._alarm, self._since = 0.0, []


@dataclass(frozen=True)
class Known:
    """Seconds by tokens fed: the target's forward, the draft's, and what a round costs besides; plains: samples of T(1)."""

    _target: dict[int, float]
    _draft: dict[int, float]
    _around: dict[int, float]
    plains: int

    def __post_init__(self):
        # The same lengths are asked for dozens of times a round: what's been worked out stays.
        for name in ("target", "draft", "around"):
            object.__setattr__(self, name, cache(getattr(self, name)))

    def target(self, tokens: int) -> float:
        """Beyond what was measured every token costs what it costs on average up to there."""
        most = max(self._target)
        if tokens <= most or most == 1:
            return cost(self._target, tokens)
        slope = max(0.0, (self._target[most] - cost(self._target, 1)) / (most - 1))
        return self._target[most] + slope * (tokens - most)

    def draft(self, tokens: int) -> float:
        """Beyond what was measured it costs as much more as the target does. 0 where drafting needs no forward."""
        if not self._draft:
            return 0.0
        most = max(self._draft)
        if tokens <= most:
            return cost(self._draft, tokens)
        return self._draft[most] * max(1.0, self.target(tokens) / self.target(most))

    def around(self, tokens: int) -> float:
        return cost(self._around, tokens) or 0.0

    @property
    def plain(self) -> float:
        """What plain decoding takes for a token."""
        return self.target(1) + self.around(1)


def _updated(before: dict[int, float], ours: dict[int, list[float]], then: Callable[[int], float], weight: int) -> dict[int, float]:
    """Costs measured beforehand (`then` gives them for any length), scaled to the run's own times, which stand where they're many.

    A measurement beforehand counts as `weight` samples, in the scale as in each length's median, so that one slow moment
    of the run changes nothing.
    """
    if not before:
        return {n: median(kept) for n, kept in ours.items()}
    scale = median([seconds / then(n) for n, kept in ours.items() for seconds in kept] + [1.0] * weight)
    return {n: v * scale for n, v in before.items()} | {n: median([*kept, *[then(n) * scale] * weight]) for n, kept in ours.items()}
