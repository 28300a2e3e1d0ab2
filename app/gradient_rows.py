"""What a study of gradients says, as plain figures: how each choice differs from float32, by more than seeds do or not.

Runs of two choices that had the same seed saw the same text in the same order, so they're compared run by run: the spread of the
differences is far smaller than that of the losses. Covers rows as core.methods.gradient_study gives them; no Qt.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Choice = tuple[int, str, bool]  # bits, one scale for each, error feedback
KINDS = (("tensor", False), ("tensor", True), ("channel", False), ("channel", True))
# Student's t, two-sided 95 %, by degrees of freedom
T95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093)


ALIKE = 0.02  # of what float32 gains by training: a difference that's surely smaller is none


@dataclass(frozen=True)
class Difference:
    """A choice's loss less float32's: the mean over seeds, and half of its 95 % interval (None with one seed).

    gain: by how much float32's training lowered the loss.
    """

    mean: float
    half: float | None
    gain: float = 0.0

    @property
    def verdict(self) -> str:
        """'worse' or 'better' by more than the seeds; 'same': surely within ALIKE; 'unclear'; 'unknown' with one seed."""
        if self.half is None:
            return "unknown"
        if abs(self.mean) + self.half <= ALIKE * self.gain:
            return "same"
        return "unclear" if abs(self.mean) <= self.half else "worse" if self.mean > 0 else "better"


def key_of(row: Mapping[str, Any]) -> Choice:
    return row["bits"], row["per"], row["feedback"]


def interval(values: Iterable[float]) -> float | None:
    """Half of the 95 % interval of the mean of some values, by Student's t; None for fewer than two."""
    values = list(values)
    if len(values) < 2:
        return None
    return T95[min(len(values) - 2, len(T95) - 1)] * statistics.stdev(values) / math.sqrt(len(values))


def differences(rows: Mapping[Choice, Mapping[str, Any]]) -> dict[Choice, Difference]:
    """Of every row but float32's; {} where float32 isn't among them. Seeds that only one of the two has are left out."""
    plain = next((row for row in rows.values() if row["bits"] == 32), None)
    if plain is None:
        return {}
    out = {}
    for key, row in rows.items():
        if row["bits"] == 32:
            continue
        apart = [a - b for a, b in zip(row["losses"], plain["losses"], strict=False)]
        out[key] = Difference(statistics.fmean(apart), interval(apart), plain["start"] - plain["heldout_loss"])
    return out
