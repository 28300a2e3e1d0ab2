"""Text: reading a file, its token ids, and windows of them.

Covers plain UTF-8 text as one long sequence, to which no padding and no special token is added, since either would count in a
score; and short texts side by side, which need both. Labelled data, shuffling and batches are not here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from core.errors import UserError, explain

MARGIN = 64  # tokens at the end of a cut prefix that may differ from those of the whole text


@dataclass(frozen=True, slots=True)
class Text:
    """A text and where it came from; `sha256` is over the file's bytes."""

    name: str
    path: str
    content: str
    sha256: str


def read_text(path: str | Path) -> Text:
    """The text of a UTF-8 file (a byte order mark is dropped). Raises UserError: missing, a folder, unreadable, empty, not text."""
    path = Path(path).expanduser()
    if path.is_dir():
        raise UserError("{path} is a folder, not a text file.", hint="Choose a file.", kind="data", path=str(path))
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise UserError("The text file {path} doesn't exist.", hint="Check the path.", kind="data", path=str(path)) from None
    except OSError as error:
        raise explain(error) from error
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            "{path} isn't UTF-8 text (byte {position} can't be decoded).",
            hint="Choose a plain text file, or save it again as UTF-8.",
            kind="data",
            path=str(path),
            position=error.start,
        ) from None
    if "\0" in content:
        raise UserError("{path} isn't text: it holds zero bytes.", hint="Choose a plain text file.", kind="data", path=str(path))
    if not content.strip():
        raise UserError("{path} is empty, so there is nothing to read.", hint="Choose a file with text in it.", kind="data", path=str(path))
    return Text(path.name, str(path), content, hashlib.sha256(raw).hexdigest())


def token_ids(text: Text | str, tokenizer: Any, max_tokens: int | None = None) -> torch.Tensor:
    """Token ids of the text from its start, without special tokens: LongTensor (n,), n ≤ max_tokens.

    With `max_tokens`, only as much text is tokenized as is needed, with a margin, so that the ids are those
    that the whole text has. Raises UserError where there is no tokenizer or the text gives no token.
    """
    if tokenizer is None:
        raise UserError(
            "This model has no tokenizer, so text can't be turned into tokens.",
            hint="Put the tokenizer's files into the model's folder and import it again.",
            kind="model",
        )
    content = text.content if isinstance(text, Text) else text
    name = text.name if isinstance(text, Text) else "The text"
    ids: list[int] = []
    characters = len(content) if max_tokens is None else 16 * (max_tokens + MARGIN)
    while True:
        ids = _encode(tokenizer, content[:characters])
        if max_tokens is None or characters >= len(content) or len(ids) >= max_tokens + MARGIN:
            break
        characters *= 4
    if not ids:
        raise UserError("{name} gives no tokens.", hint="Choose another text.", kind="data", name=name)
    return torch.tensor(ids[:max_tokens], dtype=torch.long)


def _encode(tokenizer: Any, content: str) -> list[int]:
    # verbose=False: a text longer than the context is what is wanted here, and needs no warning
    out = tokenizer(content, add_special_tokens=False, truncation=False, padding=False, return_attention_mask=False, verbose=False)
    return list(out["input_ids"])


def padded(tokenizer: Any, texts: list[str], longest: int, pad: int | None = None) -> dict[str, torch.Tensor]:
    """input_ids and attention_mask, (texts, longest of them), cut at `longest` tokens and padded on the right.

    The tokenizer's own special tokens are there. pad: the padding's id; None: the tokenizer's, or 0 where it names none.
    """
    rows = [tokenizer(t, truncation=True, max_length=longest)["input_ids"] or [0] for t in texts]
    width = max(map(len, rows))
    filler = pad if pad is not None else tokenizer.pad_token_id or 0
    ids = torch.tensor([row + [filler] * (width - len(row)) for row in rows])
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows])
    return {"input_ids": ids, "attention_mask": mask}


def windows(ids: torch.Tensor, context: int) -> list[torch.Tensor]:
    """Consecutive windows of exactly `context` tokens, not overlapping; what is left over at the end is not used.

    Raises UserError where the text is shorter than one window, or a window too short to predict anything.
    """
    if context < 2:
        raise UserError("A context of {context} leaves nothing to predict.", hint="Choose at least 2.", context=context)
    if len(ids) < context:
        raise UserError(
            "The text has {tokens} tokens, fewer than one context of {context}.",
            hint="Choose a longer text or a smaller context.",
            kind="data",
            tokens=len(ids),
            context=context,
        )
    return list(ids[: len(ids) // context * context].view(-1, context))
