"""Chat turns to a prompt, by the model's own template; and the token by which the model ends its turn.

Covers templates that come with the tokenizer. A model without one is refused: a made-up format would make it look worse
than it is. Tools and documents aren't passed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import UserError
from core.records import Turn

MARK = "\u2756chat\u2756"  # stands for the assistant's words where the end of its turn is looked for


def prompt_of(turns: Sequence[Turn], tokenizer: Any, name: str) -> tuple[str, list[int]]:
    """The text of the chat as the template writes it, up to where the assistant's next words go, and its ids.

    A last turn of the assistant is gone on with. Raises UserError: no turns, no template, or turns that the template refuses.
    """
    if not turns:
        raise UserError("The chat has no turns.", hint="Write a message.")
    ends = turns[-1].role == "assistant"
    text = _written(turns, tokenizer, name, add_generation_prompt=not ends, continue_final_message=ends)
    return text, ids_of(text, tokenizer)


def ids_of(text: str, tokenizer: Any) -> list[int]:
    """The ids of a text in which special tokens are written out already."""
    return list(tokenizer(whole(text), add_special_tokens=False)["input_ids"])


def whole(text: str) -> str:
    """The text; raises UserError where it can't be written as UTF-8, as bytes of another encoding on a command line can't."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UserError(
            "The text {text} holds half a character, which no tokenizer can read.",
            hint="Write it again, in UTF-8.",
            text=ascii(text[max(0, error.start - 10) : error.end + 10]),
        ) from None
    return text


def end_of_turn(tokenizer: Any, name: str) -> int | None:
    """The special token that the template writes after the assistant's words; None where it writes none."""
    turns = (Turn(role="user", content="?"), Turn(role="assistant", content=MARK))
    _, found, after = _written(turns, tokenizer, name).rpartition(MARK)
    ids = ids_of(after.lstrip(), tokenizer) if found else []
    special = {i for i, token in tokenizer.added_tokens_decoder.items() if token.special}
    return ids[0] if ids and ids[0] in special else None


def _written(turns: Sequence[Turn], tokenizer: Any, name: str, **how: Any) -> str:
    if not getattr(tokenizer, "chat_template", None):
        raise UserError(
            "{name} has no chat template, so turns can't be written as it was taught to read them.",
            hint="Write the prompt as plain text, or choose a model that was trained to chat.",
            kind="model",
            name=name,
        )
    try:
        return tokenizer.apply_chat_template([turn.model_dump() for turn in turns], tokenize=False, **how)
    except Exception as error:  # a template is a program of the model's author, and raises what it likes
        raise UserError(
            "The chat template of {name} refused these turns: {reason}",
            hint="Change the turns: some templates take no system turn, or want user and assistant in turns.",
            kind="model",
            name=name,
            reason=(str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".") + ".",
        ) from error
