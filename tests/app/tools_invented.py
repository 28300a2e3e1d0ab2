"""Invented results of the decode lab's tools, for their tests and for looking at them. Every figure is made up."""

from __future__ import annotations

import itertools
import math

from core.events import DraftTried, Finished, Progress, Started
from tests.app.decode_invented import FakeBoard


class AskedBoard(FakeBoard):
    """A board that's asked light questions too; `answer` gives the latest its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple] = []
        self.forgotten: list[str] = []

    def ask(self, spec, callback, device="auto") -> str:
        self.asked.append((spec, callback))
        return f"ask-{len(self.asked)}"

    def forget(self, asked: str) -> None:
        self.forgotten.append(asked)

    def answer(self, result: dict) -> None:
        self.asked[-1][1](Finished("", result, 0.1))


COSTS = {1: 0.0200, 2: 0.0260, 3: 0.0280, 4: 0.0290, 5: 0.0320, 8: 0.0410, 16: 0.0570}


def row(proposer: str, draft: str | None = None, **figures) -> dict:
    """A row as core.decode.find makes it; the repeats lie 3 % about the median where nothing else is said."""
    unknown = ("alpha", "cost", "gamma", "predicted", "measured", "low", "high", "tokens_per_target_call", "memory", "seconds", "rates")
    row = {"proposer": proposer, "draft": draft, "name": draft or proposer} | dict.fromkeys(unknown) | {"settings": {}, "why": ""}
    if figures.get("measured"):
        row |= {"low": 0.97 * figures["measured"], "high": 1.03 * figures["measured"], "seconds": {"target": COSTS, "draft": {}}}
    return row | figures


PAYING = [
    row("packed", alpha=0.96, cost=0.55, gamma=4, predicted=1.46, measured=1.38, tokens_per_target_call=4.61, memory=9_300_000),
    row("ngram", alpha=0.31, cost=0.0, gamma=2, predicted=1.02, measured=1.01, tokens_per_target_call=1.24, memory=0),
    row("layer-skip", alpha=0.66, cost=0.83, gamma=1, predicted=0.97, measured=0.86, tokens_per_target_call=1.9, memory=0),
    row(
        "draft", "student-cc", alpha=0.71, cost=0.16, gamma=5, predicted=1.71, measured=1.62, tokens_per_target_call=3.02, memory=4_100_000
    ),
    row("draft", "int8-bb", why="Its weights can't be read: layer 3 is missing."),
]
NOT_PAYING = [
    row("ngram", alpha=0.03, cost=0.0, gamma=1, predicted=0.97, measured=0.97, tokens_per_target_call=1.02, memory=0),
    row(
        "draft", "student-cc", alpha=0.12, cost=0.36, gamma=1, predicted=0.72, measured=0.58, tokens_per_target_call=1.13, memory=4_100_000
    ),
]


def feed_search(board: FakeBoard, rows: list[dict]) -> None:
    """What a search sends while it works."""
    board.event.emit(Started(board.job, 1, "cpu"))
    for done, each in enumerate(rows):
        board.event.emit(Progress(board.job, "Trying drafts", done, len(rows), 12.0, each["name"]))
        board.event.emit(DraftTried(board.job, each))


def search_result(rows: list[dict]) -> dict:
    paying = [i for i, r in enumerate(rows) if 1 < (r["low"] or 0) <= (r["tokens_per_target_call"] or 99)]
    best = max(paying, key=lambda i: rows[i]["measured"], default=None)
    return {"plain": {"tokens_per_s": 38.2}, "rows": rows, "best": best}


# ---- exactness -------------------------------------------------------------------------------------------------------

WORDS = (" the", " a", " my", " his")


def cells_of(runs: int = 1000, wrong: float = 0.0) -> list[dict]:
    """Outcomes of two tokens: expected counts and seen ones; `wrong` shifts what's seen from the likely to the others."""
    first, second = (0.52, 0.27, 0.14, 0.07), (0.6, 0.25, 0.1, 0.05)
    cells = []
    for n, (i, j) in enumerate(itertools.product(range(4), range(4))):
        expected = runs * first[i] * second[j]
        noise = math.sqrt(expected) * ((n * 7919) % 13 - 6) / 7
        seen = round(expected * (1 - wrong if i == 0 else 1 + wrong) + noise)
        control = round(expected * (0.75 if i == 0 else 1.25) + noise)
        cell = {"ids": [i, j], "text": WORDS[i] + WORDS[j], "expected": expected, "seen": max(seen, 0), "control": max(control, 0)}
        cells.append(cell | {"pooled": expected < 5})
    return cells


def exactness_result(*, passed: bool = True, caught: bool = True, runs: int = 1000) -> dict:
    return {
        "cells": cells_of(runs, 0.0 if passed else 0.25),
        "chi_square": 11.3 if passed else 96.2,
        "degrees": 12,
        "p": 0.503 if passed else 3.1e-15,
        "tests": [{"tokens": 1, "chi_square": 2.1, "degrees": 3, "p": 0.55 if passed else 2e-9}],
        "outside": 0,
        "lossless": True,
        "accepted": 512,
        "tested": 901,
        "level": 0.005,
        "passed": passed,
        "detects": 0.061,
        "control": {"rule": "resample", "p": 2.4e-9 if caught else 0.21, "caught": caught},
        "runs": runs,
        "seconds": 21.4,
        "exact_tv": None,
    }


# ---- enumeration -----------------------------------------------------------------------------------------------------

Q, P = (0.55, 0.30, 0.15), (0.25, 0.60, 0.15)
RULES = {
    "token": 0.0,
    "block": 0.0,
    "tree": 0.0,
    "typical": 0.31,
    "top-k": 0.22,
    "softmax-ratio": 0.713,
    "discard": 0.246,
    "resample": 0.198,
}


def enumeration_result(rule: str = "token", tokens: int = 3, vocabulary: int = 3) -> dict:
    """Each text's chance under a law that doesn't change along it, and the engine's, off by the rule's distance."""
    rows = []
    for ids in itertools.product(range(vocabulary), repeat=tokens):
        target = math.prod(Q[i] for i in ids)
        rows.append({"ids": list(ids), "text": "".join("abc"[i] for i in ids), "target": target, "engine": target})
    if RULES[rule]:
        low, high = rows[0], rows[-1]
        share = min(RULES[rule], low["engine"])
        low["engine"] -= share
        high["engine"] += share
    return {
        "rule": rule,
        "lossless": rule in ("token", "block", "tree"),
        "tv": 0.5 * math.fsum(abs(r["target"] - r["engine"]) for r in rows),
        "paths": 1215,
        "runs": 81,
        "prompt": "aba",
        "rows": rows,
        "tree": first_round(),
        "models": {"target": list(Q), "draft": list(P)},
    }


def first_round() -> list[dict]:
    """The outcomes of the first round at gamma 2."""
    out = []
    for a, b in itertools.product(range(3), repeat=2):
        drafted = {"drafted": [a, b], "drafted_text": "abc"[a] + "abc"[b], "drafted_chance": P[a] * P[b]}
        keep = [min(1.0, Q[x] / P[x]) for x in (a, b)]
        for x in range(3):
            chance = P[a] * P[b] * keep[0] * keep[1] * Q[x]
            out.append(drafted | _outcome(2, 2, x, "bonus", [a, b, x], chance))
        if keep[1] < 1:
            out.append(drafted | _outcome(1, 2, 0, "corrected", [a, 0], P[a] * P[b] * keep[0] * (1 - keep[1])))
        if keep[0] < 1:
            out.append(drafted | _outcome(0, 1, 0, "corrected", [0], P[a] * P[b] * (1 - keep[0])))
    return out


def _outcome(accepted: int, tested: int, final: int, kind: str, committed: list[int], chance: float) -> dict:
    text = "".join("abc"[i] for i in committed)
    return {
        "accepted": accepted,
        "tested": tested,
        "final": final,
        "final_text": "abc"[final],
        "final_kind": kind,
        "committed": committed,
        "text": text,
        "chance": chance,
    }
