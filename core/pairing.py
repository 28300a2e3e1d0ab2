"""Which draft can write for which target: decided from records alone, so that the window can say why not."""

from __future__ import annotations

from core.records import Variant


def draft_problem(target: Variant, draft: Variant) -> str:
    """Why `draft` can't draft for `target`, as a sentence; '' where it can.

    Token strings are compared, not sizes: padded embeddings differ inside one family, and equal sizes prove nothing.
    """
    if draft.info.task != "causal-lm":
        return "It doesn't generate text."
    if not draft.info.tokens_hash or not target.info.tokens_hash:
        return "One of the two has no tokenizer, so their tokens can't be compared."
    if draft.info.tokens_hash != target.info.tokens_hash:
        return "Its tokenizer has other tokens than the target's."
    return ""
