"""What speculation gains, in formulas: tokens a target call, speed-up, the length that pays most. Plain numbers, no tensors.

Costs are seconds of a forward by the number of tokens fed, {n: T(n)}, as they were measured; between two measured lengths a
line is drawn. Nothing here is measured.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence


def expected_tokens(rates: Sequence[float]) -> float:
    """Tokens a target call brings: 1 + sum over k of the product of the first k acceptance rates (Leviathan et al. 2023, eq. 1)."""
    total, reach = 1.0, 1.0
    for rate in rates:
        reach *= rate
        total += reach
    return total


def cost(measured: Mapping[int, float], tokens: int) -> float | None:
    """T(tokens): as measured, drawn between the lengths beside it, or the nearest one's; None: nothing was measured."""
    known = sorted(measured)
    if not known:
        return None
    right = bisect_left(known, tokens)
    if right == len(known):
        return measured[known[-1]]  # more tokens cost at least as much
    if right == 0 or known[right] == tokens:
        return measured[known[right]]
    low, high = known[right - 1], known[right]
    share = (tokens - low) / (high - low)
    return measured[low] * (1 - share) + measured[high] * share


def speedup(
    rates: Sequence[float], target: Mapping[int, float], draft: Mapping[int, float], *, overhead: float = 0.0, plain_overhead: float = 0.0
) -> float | None:
    """S(gamma) = E (T(1) + o) / (gamma T_draft(1) + T(gamma + 1) + overhead), gamma = len(rates); o: plain decoding's overhead a token.

    rates: acceptance by position. draft: empty where drafting costs no forward (n-grams). None where T(1) is unknown.
    """
    one, gamma = cost(target, 1), len(rates)
    if one is None:
        return None
    if gamma == 0:
        return 1.0
    drafting = gamma * (cost(draft, 1) or 0.0)
    return expected_tokens(rates) * (one + plain_overhead) / (drafting + (cost(target, gamma + 1) or one) + overhead)


def speedups(
    rates: Sequence[float], target: Mapping[int, float], draft: Mapping[int, float], *, overhead: float = 0.0, plain_overhead: float = 0.0
) -> list[float]:
    """S(0), S(1), ... S(len(rates)); [] where T(1) is unknown."""
    found = [speedup(rates[:gamma], target, draft, overhead=overhead, plain_overhead=plain_overhead) for gamma in range(len(rates) + 1)]
    return [value for value in found if value is not None]
