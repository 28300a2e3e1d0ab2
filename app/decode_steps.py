"""A round told in three steps, for teaching: what the draft guessed, what the target made of it, what the target added.

Covers the sentences; which step is in view is app.decode_lanes'. The reasons are the card's own.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.decode_run import Kind, Lane, Phase, cells_of_round, explain
from app.token_card import quoted, reason_text
from core.events import Round
from core.records import Drafting

FREE = 1e-4  # seconds, below which no call was made: the prompt's own had scored the place
translate = QCoreApplication.translate


def _ms(seconds: float | None) -> str:
    return translate("decode_steps", "{n} ms").format(n=f"{1000 * seconds:.1f}") if seconds else ""


def _timed(sentence: str, seconds: float | None) -> str:
    return sentence + (f" ({_ms(seconds)})." if seconds else ".")


def step_text(taken: Round, phase: Phase, rule: Drafting | None, greedy: bool | None = None) -> str:
    """What has just happened in a round that's shown as far as `phase`; NONE: the round is whole."""
    if phase == Phase.DRAFT:
        n = len(taken.drafted)
        words = translate("decode_steps", "1 of 3, draft: {n} tokens are guessed")
        if n == 1:
            words = translate("decode_steps", "1 of 3, draft: one token is guessed")
        return _timed(words.format(n=n), taken.seconds.get("draft")) + _why_stopped(taken)
    if phase == Phase.VERIFY:
        scored = (taken.nodes or len(taken.drafted)) + 1
        words = translate("decode_steps", "2 of 3, verify: one call of the target scores {n} places at once").format(n=scored)
        return " ".join([_timed(words, taken.seconds.get("verify")), _fate(taken, rule, greedy)])
    if not taken.drafted and taken.seconds.get("verify", 0.0) < FREE:
        return translate("decode_steps", "Nothing was drafted, and reading the prompt had given this token already.")
    if not taken.drafted:
        return _timed(translate("decode_steps", "Nothing was drafted: one call of the target, one token"), taken.seconds.get("verify"))
    cell = next((c for c in reversed(cells_of_round(taken, 0)) if c.kind in (Kind.CORRECTED, Kind.BONUS)), None)
    if cell is None:
        return translate("decode_steps", "3 of 3: the text ends here, so the target adds nothing.")
    why = reason_text(explain(Lane(rounds=[taken]), cell, rule, greedy=greedy))
    words = (
        translate("decode_steps", "3 of 3, bonus: {token} \u2013 {why}.")
        if cell.kind == Kind.BONUS
        else translate("decode_steps", "3 of 3, correct: {token} \u2013 {why}.")
    )
    return words.format(token=quoted(cell.text), why=why)


def _why_stopped(taken: Round) -> str:
    words = {
        "confidence": translate("decode_steps", "The draft was unsure, so it stopped there."),
        "nothing to propose": translate("decode_steps", "It had no more to propose."),
        "length": translate("decode_steps", "More wouldn't fit the length asked for."),
        "end of text": translate("decode_steps", "It guessed that the text ends there."),
    }.get(taken.why_stopped, "")
    return f" {words}" if words else ""


def _fate(taken: Round, rule: Drafting | None, greedy: bool | None) -> str:
    cells = cells_of_round(taken, 0)
    kept = sum(c.kind == Kind.ACCEPTED for c in cells)
    dropped = next((c for c in cells if c.kind == Kind.REJECTED), None)
    if dropped is None:
        return translate("decode_steps", "All {n} are kept.").format(n=kept) if kept else ""
    why = reason_text(explain(Lane(rounds=[taken]), dropped, rule, greedy=greedy))
    words = translate("decode_steps", "{kept} of {n} are kept; {token} is {why}.")
    return words.format(kept=kept, n=len(taken.drafted), token=quoted(dropped.text), why=why)
