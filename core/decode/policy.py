"""How far to draft: a fixed length, or the length that measured costs and acceptance say pays.

A policy sees only what was kept and what calls cost, both of which are known after a round. It never sees a drafted
token before it's verified, so it can't bias the output.
"""

from __future__ import annotations

from typing import Protocol

from core.decode.stats import Costs
from core.theory import expected_tokens


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
    """The length with the greatest expected speed, from measured T(n) and a running acceptance rate per position.

    S(gamma) = E(gamma) T(1) / (gamma T_draft(1) + T(gamma + 1)) is scanned from 0 to `longest`; gamma 0 means that
    drafting doesn't pay. Acceptance is an exponentially weighted mean at each position, leaning on the mean over all
    positions where a position was seldom tested. While gamma is 0 nothing can be learnt, so it probes: every 16th
    round, then half as often after each probe that doesn't change its mind. That bounds what probing can cost.
    """

    FIRST_PROBE = 16

    def __init__(self, costs: Costs, *, first: int = 4, longest: int = 16, memory: float = 0.9):
        self.costs, self.first, self.longest, self.memory = costs, first, longest, memory
        self._kept = [0.0] * longest  # weighted counts by position
        self._tested = [0.0] * longest
        self._rounds = 0
        self._plain = 0  # rounds since the last one that drafted
        self._patience = self.FIRST_PROBE

    def rates(self) -> list[float]:
        """The acceptance rate at each position, given that it's reached."""
        kept, tested = sum(self._kept), sum(self._tested)
        overall = (kept + 0.5) / (tested + 1)
        return [(k + 2 * overall) / (t + 2) for k, t in zip(self._kept, self._tested, strict=True)]

    def best(self) -> int:
        """The length that pays most by what's known now."""
        one, draft = self.costs.target(1), self.costs.draft(1)
        if one is None:
            return self.first
        rates, best, speed = self.rates(), 0, 1.0
        for gamma in range(1, self.longest + 1):
            verify = self.costs.target(gamma + 1)
            now = expected_tokens(rates[:gamma]) * one / (gamma * (draft or 0.0) + (verify or one) + self.costs.overhead)
            if now > speed * 1.02:  # less than the noise of the measurements isn't worth a longer draft
                best, speed = gamma, now
        return best

    def gamma(self) -> int:
        self._rounds += 1
        if self._rounds == 2 and self.costs.target(1) is None:
            return 0  # one plain round: without T(1) nothing can be compared
        chosen = self.first if self._rounds == 1 else self.best()
        if chosen == 0:
            self._plain += 1
            if self._plain > self._patience:
                self._plain, self._patience = 0, self._patience * 2
                return 2
            return 0
        self._plain = 0
        if self._patience > self.FIRST_PROBE and self._rounds % 8 == 0:
            self._patience //= 2
        return chosen

    def learn(self, tested: int, accepted: int) -> None:
        for i in range(min(tested, self.longest)):
            self._tested[i] = self._tested[i] * self.memory + 1
            self._kept[i] = self._kept[i] * self.memory + (i < accepted)
