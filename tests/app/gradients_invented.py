"""Invented studies of gradients, for the tests of their window and for looking at it. Every figure is made up."""

from __future__ import annotations

import random
import statistics

from app.gradient_rows import Choice
from app.gradient_study import FIRST, PLAIN, core_name

COST = {32: 0.0, 8: 0.001, 4: 0.05, 2: 0.32}


def invent_row(key: Choice, seeds: int = 3, steps: int = 100, seed: int = 0) -> dict:
    """A row as core.methods.gradient_study makes it: seeds differ by 0.03, choices of one seed by less."""
    bits, per, feedback = key
    cost = COST[bits] * (1.8 if per == "tensor" else 1.0) * (0.2 if feedback else 1.0)
    noise = random.Random(f"{key}{seed}")
    losses = [3.2 + 0.03 * (number - 1) + cost * (1 + 0.1 * noise.random()) + 0.002 * noise.random() for number in range(seeds)]
    curve = [(step, losses[0] + 2.4 * 0.96**step) for step in range(0, steps + 1, 5)]
    plain = 4 * 100 * 3_600_000
    return {
        "name": core_name(key),
        "bits": bits,
        "per": per,
        "feedback": feedback,
        "heldout_loss": statistics.fmean(losses),
        "stderr": statistics.stdev(losses) / seeds**0.5 if seeds > 1 else None,
        "losses": losses,
        "heldout_perplexity": 2.718281828 ** statistics.fmean(losses),
        "sent": plain if bits == 32 else plain * (bits + (0.1 if per == "channel" else 0.0)) / 32,
        "plain": plain,
        "error": 0.0 if bits == 32 else 1.9 / 2**bits * (1 if per == "channel" else 3),
        "seconds": 21.4 + (0 if bits == 32 else 2.2),
        "curve": curve,
        "start": 5.6,
    }


def invent_study(keys: tuple[Choice, ...] = (PLAIN, *FIRST), seeds: int = 3) -> dict:
    rows = [invent_row(key, seeds) for key in keys]
    return {"rows": rows, "steps": 100, "parameters": 3_600_000, "start": 5.6, "seeds": seeds}
