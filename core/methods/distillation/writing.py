"""Text that models write to learn from: the teacher's own, and what the student itself would say, for the teacher to judge.

Written by the teacher (Kim & Rush, 'Sequence-Level Knowledge Distillation', 2016, section 3.2, sampled here instead of searched
for): windows that continue the beginnings of the text's, or begin with nothing but the token that begins or ends a text (as in Liu et
al., 'LLM-QAT', 2023, section 2.1, who begin with any). Written by the student (Agarwal et al., 'On-Policy Distillation of Language
Models', 2024, algorithm 1): with a chance of `share` a step, the batch's windows are continued by the student as it is at that step.
All are sampled at temperature 1 from all that the model says, many rows at a time with a cache. A text that ends is followed by
another in the same window, as in training texts. A student with other tokens learns the teacher's text as any text, for there's no
comparing them token by token.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core.data.text import Text
from core.errors import UserError
from core.methods import Given, estimates, training
from core.methods.checkpoints import Checkpoint
from core.methods.feeds import TextFeed
from core.methods.losses import IGNORED
from core.methods.training import TrainingParams
from core.run import Run

ROWS = 32  # windows that are written together
BEGINNING = 4  # one part in so many of a window is given, where a text is continued
FILE = "written.pt"


class WrittenFeed(TextFeed):
    """Windows that the teacher wrote. Where they continue a text, what was given isn't learnt.

    continues: whether the text is continued; tokens: how many are written, at most as many as the training reads. Finished ones are
    kept in `given.work`. Raises UserError where the context is more than the model holds, or the text is too short to continue.
    """

    def __init__(
        self, teacher: Any, given: Given, params: TrainingParams, tokens: int, continues: bool, run: Run, longest: int | None = None
    ):
        longest = longest or given.info.context
        self.context, self.vocabulary = params.context, teacher.config.get_text_config().vocab_size
        if longest and params.context > longest:
            raise UserError(
                "The model holds {longest} tokens, fewer than a context of {context}.",
                hint="Choose a context of at most {longest}.",
                longest=longest,
                context=params.context,
            )
        self.given = params.context // BEGINNING if continues else 0  # positions whose token wasn't written
        each = params.context - max(0, self.given - 1)  # tokens that are learnt of a window
        count = max(2, min(tokens // each, params.steps * params.batch))
        begin = self._beginnings(given, run) if continues else _first(teacher, given)
        self.windows = write(teacher, begin, count, params.context + 1, len(given.tokenizer), run, given.seed, given.work)
        aside = max(1, min(int(training.HELDOUT_SHARE * count), training.HELDOUT_WINDOWS))
        rows = estimates.rows_at_once(params.batch, params.context, self.vocabulary)
        self.held_out = self.windows[-aside:].to(given.device).split(rows)
        self.notes = (f"Learnt from {(count - aside) * each:,} tokens that the teacher wrote; {aside} windows were kept aside.",)

    def _beginnings(self, given: Given, run: Run) -> Iterator[Tensor]:
        """Endless beginnings of windows of the text, (ROWS, given), in an order of the seed."""
        learn, _ = training.read(given.text, given.tokenizer, self.context, run)
        for rows in training.windows_of(learn, self.context, ROWS, torch.Generator().manual_seed(given.seed)):
            yield rows[:, : max(1, self.given)]

    @property
    def learnt(self) -> int:
        """Windows that are trained on, the first ones; the others are kept aside."""
        return len(self.windows) - sum(len(part) for part in self.held_out)

    def numbers(self, size: int, seed: int) -> Iterator[Tensor]:
        """Endless batches of the windows' numbers, (size,); each pass over them in another order of the seed."""
        generator = torch.Generator().manual_seed(seed)
        order: list[int] = []
        while True:
            while len(order) < size:
                order += torch.randperm(self.learnt, generator=generator).tolist()
            yield torch.tensor(order[:size])
            order = order[size:]

    def batches(self, size: int, seed: int) -> Iterator[Tensor]:
        return (self.windows[numbers] for numbers in self.numbers(size, seed))

    def answers(self, model: Any, rows: Tensor) -> tuple[Tensor, Tensor]:
        logits, truth = super().answers(model, rows)
        truth = truth.clone()
        truth[:, : max(0, self.given - 1)] = IGNORED
        return logits, truth


def told(feed: WrittenFeed, teacher: Any, given: Given, tokenizer: Any) -> Text:
    """What the teacher wrote as a text, for a student that has other tokens, those of `tokenizer`.

    Where the teacher ended a text stands the student's own token for that, if it has one; windows that were cut off are set apart by
    an empty line.
    """
    ends, end = _ends(teacher, given.tokenizer), tokenizer.eos_token
    known = end is not None and tokenizer(end, add_special_tokens=False)["input_ids"] == [tokenizer.eos_token_id]
    content, between = "", ""
    for window in feed.windows.tolist():
        texts: list[list[int]] = [[]]
        for token in window:
            if token in ends:
                texts.append([])
            else:
                texts[-1].append(token)
        said = given.tokenizer.batch_decode(texts, skip_special_tokens=True)
        for number, text in enumerate(said):
            ended = number < len(said) - 1
            if text.strip():
                content += between + text
                between = end if ended and known else "\n\n"
    return Text(f"what {given.info.name} wrote", "", content, hashlib.sha256(content.encode()).hexdigest())


def _ends(teacher: Any, tokenizer: Any) -> set[int]:
    """The tokens with which a text ends."""
    configs = [teacher.config.get_text_config(), getattr(teacher, "generation_config", None), tokenizer]
    found: set[int] = set()
    for config in configs:
        token = getattr(config, "eos_token_id", None)
        found |= set(token if isinstance(token, (list, tuple)) else [] if token is None else [token])
    return found


def _first(teacher: Any, given: Given) -> Iterator[Tensor]:
    """Endless single tokens that a text begins with, (ROWS, 1): the model's own for it, or what ends one; else any."""
    config = teacher.config.get_text_config()
    named = [config.bos_token_id, config.eos_token_id, given.tokenizer.bos_token_id, given.tokenizer.eos_token_id]
    known = [token[0] if isinstance(token, (list, tuple)) else token for token in named if token is not None]
    generator = torch.Generator().manual_seed(given.seed)
    while True:
        yield torch.full((ROWS, 1), known[0]) if known else torch.randint(len(given.tokenizer), (ROWS, 1), generator=generator)


def write(
    model: Any, begin: Iterator[Tensor], count: int, length: int, tokens: int, run: Run, seed: int, work: Path | None = None
) -> Tensor:
    """`count` windows (count, length) that the model wrote after the beginnings; of its vocabulary only the first `tokens` are tokens."""
    kept = None if work is None else Checkpoint(work, f"{count} {length} {seed}", run, FILE)
    done: list[Tensor] = list((kept.read() or []) if kept else [])
    total = math.ceil(count / ROWS)
    for number in run.track(range(total), "Writing text to learn from", known=len(done)):
        rows = next(begin)
        if number < len(done):
            continue
        rows = rows[: count - number * ROWS]
        done.append(continued(model, rows, length, tokens, torch.Generator().manual_seed(seed * 1_000_003 + number), run))
        if kept is not None and (kept.due or number == total - 1):
            kept.write(lambda: done, 8 * count * length)
    return torch.cat(done)


@torch.no_grad()
def continued(model: Any, rows: Tensor, length: int, tokens: int, generator: torch.Generator | None, run: Run) -> Tensor:
    """The rows (rows, n) and what the model says after them: (rows, length), on the CPU. Sampled; without a generator the likeliest.

    tokens: of the vocabulary, from 0.
    """
    device = next(model.parameters()).device
    word = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"  # renamed in transformers 5.24
    out, fed, held = rows.cpu(), rows.to(device), None
    while out.shape[1] < length:
        run.check_cancelled()
        answer = model(input_ids=fed, use_cache=True, **{word: held})
        held = getattr(answer, word)
        chances = answer.logits[:, -1, :tokens].float().softmax(-1).cpu()
        drawn = chances.argmax(-1, keepdim=True) if generator is None else torch.multinomial(chances, 1, generator=generator)
        out, fed = torch.cat([out, drawn], 1), drawn.to(device)
    return out


@dataclass(frozen=True)
class OnPolicy:
    """What `training.train` asks at each step: the batch as it is, or by chance the student's own continuations, marked as such."""

    student: Any
    share: float
    tokens: int
    seed: int
    run: Run

    def __call__(self, rows: Tensor, step: int) -> Tensor:
        """rows: (batch, length). Whatever was drawn at earlier steps, a step draws the same."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + step)
        if float(torch.rand((), generator=generator)) >= self.share:
            return rows
        begun = rows[:, : max(1, rows.shape[1] // BEGINNING)]
        return ~continued(self.student, begun, rows.shape[1], self.tokens, generator, self.run).to(rows.device)
