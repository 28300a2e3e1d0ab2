"""Calibration: the windows of text on which a method watches a model at work.

Covers the choice of the windows (drawn without overlap from all over the text, the same for the same seed) and the special
tokens that the model expects around them. Nothing is padded: a padded position would be calibrated on as if it were text.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from core.data.text import Text, token_ids
from core.errors import UserError
from core.params import Params, knob
from core.records import SourceInfo
from core.run import Run

MOST_TOKENS = 2_000_000  # of a longer text that has to be read whole, only its beginning is
CHARACTERS = 16  # that hold a token, amply


class CalibrationParams(Params):
    """The knobs of the calibration text. A method's own knobs come first where its class names them before this one."""

    windows: int = knob(
        32,
        title="Windows",
        help="Windows of text that the method looks at, drawn from all over it. 16 is a quick try; beyond 128 hardly anything improves. "
        "Time grows with it.",
        ge=1,
        le=4096,
    )
    context: int = knob(
        512,
        title="Context",
        unit="tokens",
        help="Tokens a window. Memory and time grow with it; shortened, visibly, to what the model holds.",
        ge=8,
        le=131_072,
    )


def draw(text: Text | None, tokenizer: Any, params: CalibrationParams, info: SourceInfo, seed: int, run: Run) -> tuple[Tensor, list[str]]:
    """(ids, notes): LongTensor (windows, context), and what has to be said where fewer or shorter ones had to do.

    A causal model whose tokenizer begins a text with a token of its own gets it once at the start of each window; an encoder
    gets its first and last token. Raises UserError: no text, no tokenizer, a text shorter than one window.
    """
    if text is None:
        raise UserError("A text to calibrate on is needed.", hint="Choose a text file.", kind="data")
    run.stage("Reading the text", text.name)
    notes = []
    context = min(params.context, info.context or params.context)
    if context < params.context:
        notes.append(f"Calibrated on windows of {context} tokens instead of {params.context}, which is more than the model holds.")
    first, last = special_tokens(tokenizer, info)
    inner = context - len(first) - len(last)
    rows = _rows(text, tokenizer, params.windows, inner, seed)
    count = len(rows)
    if not count:
        raise UserError(
            "{name} is shorter than one window of {context} tokens.",
            hint="Choose a longer text or a smaller context.",
            kind="data",
            name=text.name,
            context=context,
        )
    if count < params.windows:
        notes.append(f"Calibrated on {count} windows instead of {params.windows}: {text.name} holds no more.")
    around = [torch.tensor(t, dtype=torch.long).expand(count, -1) for t in (first, last) if t]
    rows = torch.cat([*around[: len(first) > 0], rows, *around[len(first) > 0 :]], 1)
    run.log(f"Calibrating on {count} windows of {context} tokens from {text.name}")
    return rows, notes


def _rows(text: Text, tokenizer: Any, windows: int, inner: int, seed: int) -> Tensor:
    """Up to `windows` rows of `inner` tokens, in the text's order: (rows, inner), without overlap.

    A long text is cut into as many parts as windows are wanted, and only as much of each is turned into tokens as a window
    needs, from a random place on; a short one is turned into tokens whole, and its windows are drawn.
    """
    generator = torch.Generator().manual_seed(seed)
    part, needed = len(text.content) // windows, CHARACTERS * inner
    if part >= 2 * needed:
        rows = []
        for number in range(windows):
            start = number * part + int(torch.randint(part - needed, (), generator=generator))
            start = text.content.find(" ", start, start + needed // 2) if number or start else start  # not in the middle of a word
            ids = token_ids(text.content[start : start + needed], tokenizer)[:inner] if start >= 0 else torch.empty(0)
            if len(ids) < inner:
                break  # a text without spaces, or of very long tokens
            rows.append(ids)
        else:
            return torch.stack(rows)
    ids = token_ids(text, tokenizer, MOST_TOKENS)
    found = len(ids) // inner
    chosen = torch.randperm(found, generator=generator)[:windows].sort().values
    return ids[: found * inner].view(found, inner)[chosen]


def special_tokens(tokenizer: Any, info: SourceInfo) -> tuple[list[int], list[int]]:
    """(tokens before, tokens after) that the tokenizer itself puts around a text; for a causal model those before only."""
    bare = list(tokenizer("a", add_special_tokens=False)["input_ids"])
    whole = list(tokenizer("a", add_special_tokens=True)["input_ids"])
    at = next((i for i in range(len(whole) - len(bare) + 1) if whole[i : i + len(bare)] == bare), 0)
    return whole[:at], ([] if info.task == "causal-lm" else whole[at + len(bare) :])
