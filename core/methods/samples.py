"""Samples of a training as it goes on: how student and teacher go on after the same beginnings, or what they find of the same examples.

The beginnings and examples are of what's kept aside, and always the same, so that one step can be held beside another. Text is continued
greedily. A student's token counts as the teacher's where the teacher, after all that the student has said so far, finds it likeliest too
(one forward for the whole text); the first that isn't is where the two part. Changes neither models nor the order of random numbers.
Images are fewer_steps' own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from core.errors import Cancelled
from core.events import Classed, Said, Samples, samples_to_json
from core.methods import Given
from core.methods.distillation.writing import continued
from core.methods.feeds import Feed, LabelFeed
from core.run import Run

BEGINNINGS, BEGUN, TOKENS = 3, 24, 40  # texts, tokens given of each at most, tokens said after them
EXAMPLES, LONGEST = 6, 240  # of a classifier; characters told of each
SHARE = 0.05  # of the training's time that samples may take, besides those of kept weights
FILE = "samples.json"


class Shower:
    """`take` tells what's said at the moment, of kept weights or not; the shower itself goes to training.train, and `files` is what the
    variant's folder keeps. What can't be shown is said once, and costs the training nothing."""

    def __init__(self, take: Callable[[bool], dict[str, Any]] | None, run: Run):
        self.take, self._run = take, run
        self._begun, self._spent, self._longest = 0.0, 0.0, 0.0
        self.last: Samples | None = None

    def __call__(self, step: int, kept: bool) -> None:
        if self.take is None:
            return
        moment = time.monotonic() - self._run.rested
        if self.last is None:
            self._begun = moment
        elif not kept and self._spent + self._longest > SHARE * (moment - self._begun):
            return
        found = _tried(lambda: self.take(kept), self._run)
        if found is None:
            self.take = None
            return
        self.last = Samples(self._run.job, step, kept=kept, **found)
        self._run.emit(self.last)
        if not kept:
            took = time.monotonic() - self._run.rested - moment
            self._spent, self._longest = self._spent + took, max(self._longest, took)

    def files(self) -> dict[str, bytes]:
        return {FILE: samples_to_json(self.last)} if self.last is not None else {}


def shower(feed: Feed, student: Any, teacher: Any, given: Given, run: Run, *, reads: Given | None = None, tokens: int = TOKENS) -> Shower:
    """teacher: None where the student is held beside what it was itself; reads: what the student reads with, where its tokens aren't the
    teacher's, whose tokenizer `given` has: then only the words stand beside each other."""
    if isinstance(feed, LabelFeed):
        return Shower(_tried(lambda: _classed(feed, student, teacher), run), run)
    return Shower(_tried(lambda: _said(feed, student, teacher, given, run, reads or given, tokens), run), run)


@torch.no_grad()
def _tried(what: Callable[[], Any], run: Run) -> Any:
    """What comes of it; None where it fails, as of a model that keeps no cache of what it read: hours of training don't end by that."""
    try:
        return what()
    except Cancelled:
        raise
    except Exception as error:
        run.warn(f"Samples of this training can't be shown: {type(error).__name__}: {error}")
        return None


# ---- classes ------------------------------------------------------------------------------------------------------------


def _classed(feed: LabelFeed, student: Any, teacher: Any) -> Callable[[bool], dict[str, Any]]:
    rows = _spread(torch.cat(feed.held_out), EXAMPLES)
    names = student.config.id2label
    theirs = None if teacher is None else _likeliest(feed, teacher, rows)

    def take(kept: bool) -> dict[str, Any]:
        nonlocal theirs
        mine = _likeliest(feed, student, rows)
        theirs = theirs or mine
        found = zip(rows.tolist(), theirs, mine, strict=True)
        classed = tuple(
            Classed(_short(feed.texts[row]), names[int(feed.truth[row])], names[t], share, names[m], own)
            for row, (t, share), (m, own) in found
        )
        return {"classed": classed, "before": teacher is None}

    return take


@torch.no_grad()
def _likeliest(feed: LabelFeed, model: Any, rows: Tensor) -> list[tuple[int, float]]:
    """(class, its probability) of each example."""
    shares, classes = feed.answers(model, rows)[0].float().softmax(-1).max(-1)
    return list(zip(classes.tolist(), shares.tolist(), strict=True))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"


# ---- text ---------------------------------------------------------------------------------------------------------------


def _said(feed: Feed, student: Any, teacher: Any, given: Given, run: Run, reads: Given, tokens: int) -> Callable[[bool], dict[str, Any]]:
    held = torch.cat([part.cpu() for part in feed.held_out])
    begun = max(1, min(BEGUN, held.shape[1] // 2))
    if len(held) < BEGINNINGS:  # several of each window
        held = torch.cat([row[: len(row) // begun * begun].reshape(-1, begun) for row in held])
    own = _spread(held, BEGINNINGS)[:, :begun]  # (texts, begun)
    holds = [reads.info.context, getattr(student.config.get_text_config(), "max_position_embeddings", None)]
    length = min([begun + tokens, *(n for n in holds if n)])
    beginnings = [reads.tokenizer.decode(row.tolist(), clean_up_tokenization_spaces=False) for row in own]
    alike, size = reads is given, len(reads.tokenizer)

    def others() -> list[tuple[str, ...]]:
        """What a teacher with other tokens says."""
        out = []
        for text in beginnings:
            ids = torch.tensor([given.tokenizer(text, add_special_tokens=False)["input_ids"]])
            longest = min(ids.shape[1] + tokens, given.info.context or ids.shape[1] + tokens)
            out += _pieces(continued(teacher, ids, longest, len(given.tokenizer), None, run), ids.shape[1], given.tokenizer)
        return out

    theirs: list[tuple[str, ...]] | None = None
    first: Tensor | None = None
    if teacher is not None:  # once, since it doesn't learn
        theirs = _pieces(continued(teacher, own, length, size, None, run), begun, given.tokenizer) if alike else others()

    def take(kept: bool) -> dict[str, Any]:
        nonlocal theirs, first
        mine = continued(student, own, length, size, None, run)
        if theirs is None:
            theirs, first = _pieces(mine, begun, reads.tokenizer), mine
        said = _pieces(mine, begun, reads.tokenizer)
        if first is not None:
            same = [_until_they_part(row) for row in (mine == first)[:, begun:]]
        elif alike:
            device = next(teacher.parameters()).device
            logits = teacher(input_ids=mine.to(device), use_cache=False).logits[:, begun - 1 : -1, :size]
            same = (logits.argmax(-1).cpu() == mine[:, begun:]).tolist()
        else:
            same = [[] for _ in said]
        together = zip(beginnings, theirs, said, same, strict=True)
        return {"said": tuple(Said(b, t, s, tuple(ok[: len(s)])) for b, t, s, ok in together), "before": teacher is None}

    return take


def _until_they_part(same: Tensor) -> list[bool]:
    """Up to the first that differs, and that one: what comes after it follows other words."""
    values = same.tolist()
    return values if all(values) else values[: values.index(False) + 1]


def _pieces(rows: Tensor, begun: int, tokenizer: Any) -> list[tuple[str, ...]]:
    """What each token after the first `begun` adds to the text, up to the one that ends it. A character of several tokens comes with its
    last."""
    out = []
    for row in rows.tolist():
        said: list[str] = []
        known = _decoded(row[:begun], tokenizer)
        for end in range(begun + 1, len(row) + 1):
            text = _decoded(row[:end], tokenizer)
            whole = text.rstrip("\ufffd") if end < len(row) else text
            said.append(whole[len(known) :] if whole.startswith(known) else "")
            known = whole if whole.startswith(known) else known
            if row[end - 1] == tokenizer.eos_token_id:
                break
        out.append(tuple(said))
    return out


def _decoded(ids: list[int], tokenizer: Any) -> str:
    return tokenizer.decode(ids, clean_up_tokenization_spaces=False)


def _spread(rows: Tensor, count: int) -> Tensor:
    """At most `count` of the rows, evenly over all."""
    return rows[torch.linspace(0, len(rows) - 1, min(count, len(rows))).round().long()]
