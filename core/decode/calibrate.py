"""What a forward costs here: T(n) of a target and of a draft, measured before a run, so that the first round can choose well.

Lengths are measured in turns, so that a busy moment hits all of them alike; medians are kept. Overhead of a round isn't measured here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import torch

from core.decode.cache import CachedModel, Scorer, read
from core.decode.fast import quicken
from core.decode.products import faster_products
from core.decode.stats import Costs

WIDTHS = (1, 2, 3, 5, 9, 17)  # tokens fed: what gammas 0, 1, 2, 4, 8 and 16 need
LENGTH = 64  # tokens in the cache, at least


@torch.inference_mode()
def measure(
    target: Scorer,
    draft: Scorer | None = None,
    widths: Iterable[int] = WIDTHS,
    *,
    length: int = LENGTH,
    repeats: int = 5,
    between: Callable[[], None] = lambda: None,
) -> Costs:
    """Costs of the target at each of `widths` tokens fed, and of the draft at one and two. Caches are left as they were found.

    length: of the text before, in tokens, where the caches hold less. between: called after every round of measuring.
    A model whose context is shorter than `length` plus a width is measured at what fits.
    """
    costs = Costs()
    work = [(target, n, costs.add_target) for n in sorted(set(widths))]
    if draft is not None and draft is not target:
        work += [(draft, n, costs.add_draft) for n in (1, 2)]
    held = {id(model): model.length for model, _, _ in work}
    for model in {id(m): m for m, _, _ in work}.values():
        room = length if model.context is None else min(length, model.context - max(n for m, n, _ in work if m is model))
        if model.length < room:
            read(model, _some(room - model.length, model), 1)
    try:
        for repeat in range(repeats + 1):  # the first warms up
            for model, n, add in work:
                before = model.length
                if model.context is not None and before + n > model.context:
                    continue
                ids = _some(n, model)
                begun = perf_counter()
                model.forward(ids, n)
                model.wait()
                spent = perf_counter() - begun
                model.crop(before)
                if repeat:
                    add(n, spent)
            between()
    finally:
        for model, _, _ in work:
            model.crop(held[id(model)])
    costs.target_calls.clear()  # these were no calls of a run
    costs.draft_calls.clear()
    return costs


def pair(target: Any, draft: Any, longest: int, between: Callable[[], None] = lambda: None) -> dict[str, dict[int, float]]:
    """{'target', 'draft'}: seconds of a forward by tokens fed, of two models laid out for decoding, after which they can't be trained.

    longest: drafted tokens a round. Raises UserError where one keeps no cache that can be taken back.
    """
    for model in (target, draft):
        quicken(model)
    widths = sorted({n for n in WIDTHS if n <= longest} | {longest + 1})
    with faster_products((target, draft), widths):
        return measure(CachedModel(target), CachedModel(draft), widths, between=between).table()


def _some(count: int, model: Scorer) -> list[int]:
    """Tokens to feed. Which ones doesn't matter to a dense model's cost."""
    return [i % model.vocabulary for i in range(1, count + 1)]
