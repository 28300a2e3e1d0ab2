"""Which draft can write for which target: decided from records alone, so that the window can say why not."""

from __future__ import annotations

from core.records import Variant


def draft_problem(target: Variant, draft: Variant) -> str:
    """Why `draft` can't draft for `target`, as a sentence; '' where it can.

    Other tokens are no obstacle (see draft_note); having none is.
    """
    if draft.info.task != "causal-lm":
        return "It doesn't generate text."
    if not draft.info.tokens_hash or not target.info.tokens_hash:
        return "One of the two has no tokenizer, so neither can read what the other writes."
    return ""


def draft_note(target: Variant, draft: Variant) -> str:
    """What should be known of a draft that can write for `target`, as a sentence; '' where there's nothing to say.

    Token strings are compared, not sizes: padded embeddings differ inside one family, and equal sizes prove nothing.
    """
    if draft.info.tokens_hash != target.info.tokens_hash:
        return "Its tokens differ, so its text is re-encoded; the output stays exact, but more drafted tokens are lost."
    return ""
