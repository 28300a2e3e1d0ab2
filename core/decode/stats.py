"""What a decoding run amounted to: rates with their denominators, and what speed was possible.

accepted/tested counts only tokens that the target judged; accepted/drafted counts also those after a rejection.
Tokens per target call is what was committed, divided by rounds. Times are wall-clock seconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from statistics import median

from core.events import Round
from core.theory import cost


class Costs:
    """Measured seconds of the target's and the draft's forwards, by the number of tokens fed: T(n); and of what a round costs besides."""

    KEEP = 31  # the latest of each; the cache grows, so older ones no longer hold

    def __init__(self):
        self._target: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=self.KEEP))
        self._draft: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=self.KEEP))
        self._overhead: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=self.KEEP))  # by what the target was fed
        self.target_calls: Counter[int] = Counter()  # tokens fed -> how often
        self.draft_calls: Counter[int] = Counter()
        self.rounds: Counter[int] = Counter()  # tokens that the target was fed in a round -> how often
        self._fed = 0  # tokens in the latest target forward, until the round's overhead is told

    def add_target(self, tokens: int, seconds: float) -> None:
        self._target[tokens].append(seconds)
        self.target_calls[tokens] += 1
        self._fed = tokens

    def add_draft(self, tokens: int, seconds: float) -> None:
        self._draft[tokens].append(seconds)
        self.draft_calls[tokens] += 1

    def add_overhead(self, seconds: float) -> None:
        """Seconds of a round beyond its forwards; told after the round's target forward, where there was one."""
        fed = max(1, self._fed)  # without a forward the round was a plain one: the first, which has the prompt's logits
        self._overhead[fed].append(seconds)
        self.rounds[fed] += 1
        self._fed = 0

    @property
    def overhead(self) -> float:
        """Seconds of a round beyond the forwards, the median over the latest rounds that drafted; 0.0 before there was one."""
        drafted = [x for fed, kept in self._overhead.items() if fed > 1 for x in kept]
        return median(drafted) if drafted else 0.0

    @property
    def plain_overhead(self) -> float:
        """The same of rounds that didn't draft: what plain decoding spends on a token besides its forward."""
        return median(self._overhead[1]) if 1 in self._overhead else 0.0

    def needed(self) -> float:
        """Seconds that the forwards of the run take at their median costs: what its calls cost with nothing around them."""
        return sum(n * median(self._target[k]) for k, n in self.target_calls.items()) + sum(
            n * median(self._draft[k]) for k, n in self.draft_calls.items()
        )

    def target(self, tokens: int) -> float | None:
        """T(tokens) of the target: the median, or drawn between (or on from) the lengths that were measured; None: none was."""
        return cost({n: median(v) for n, v in self._target.items()}, tokens)

    def draft(self, tokens: int) -> float | None:
        return cost({n: median(v) for n, v in self._draft.items()}, tokens)

    def samples(self) -> tuple[dict[int, list[float]], dict[int, list[float]], dict[int, list[float]]]:
        """The latest measurements by tokens fed: the target's, the draft's, and rounds' overhead by what the target was fed."""
        target, draft, overhead = ({n: list(v) for n, v in sorted(kept.items())} for kept in (self._target, self._draft, self._overhead))
        return target, draft, overhead

    def table(self) -> dict[str, dict[int, float]]:
        """The medians as plain data."""
        return {
            "target": {n: median(v) for n, v in sorted(self._target.items())},
            "draft": {n: median(v) for n, v in sorted(self._draft.items())},
        }


def possible_speedup(committed: int, one: float, costs: Costs) -> float | None:
    """How much faster than plain decoding the run's calls allow: committed T(1) / (sum of its forwards at their median costs).

    With a fixed gamma that's S(gamma) = E T(1) / (gamma T_draft(1) + T(gamma + 1)), E being tokens per target call and `one`
    T(1). Measured times stand in for the textbook's "verifying costs as much as one token", which no real machine keeps.
    """
    needed = costs.needed()
    return committed * one / needed if needed > 0 else None


class Stats:
    """Counts over the rounds of one run."""

    def __init__(self):
        self.rounds = self.drafted = self.tested = self.accepted = self.committed = 0
        self.seconds: dict[str, float] = defaultdict(float)
        self.drafting_rounds = 0
        self.at = 0.0

    def add(self, round: Round) -> None:
        self.rounds += 1
        self.drafted += len(round.drafted)
        self.drafting_rounds += bool(round.drafted)
        self.tested += round.tested
        self.accepted += round.accepted
        self.committed += len(round.committed)
        self.at = round.at
        for name, spent in round.seconds.items():
            self.seconds[name] += spent

    def report(self) -> dict:
        """Plain data: counts, rates (None where nothing was drafted), tokens per target call, tokens per second, seconds by part."""
        return {
            "rounds": self.rounds,
            "drafted": self.drafted,
            "tested": self.tested,
            "accepted": self.accepted,
            "accepted_of_tested": self.accepted / self.tested if self.tested else None,
            "accepted_of_drafted": self.accepted / self.drafted if self.drafted else None,
            "tokens_per_target_call": self.committed / self.rounds if self.rounds else None,
            "tokens_per_s": self.committed / self.at if self.at else None,
            "seconds": self.at,
            "seconds_by_part": dict(self.seconds),
        }
