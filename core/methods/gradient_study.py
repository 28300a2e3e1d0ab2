"""What gradients in fewer bits cost: the same training again and again, with only the gradients' grid changed.

    study(model, given, params, run, choices)

Every run starts from the same weights and sees the same text in the same order for the same seed. Reports for each choice the
loss on text kept aside at the end, its spread over seeds, and the bytes of all gradients sent; whether a choice differs from
float32 by more than seeds do can then be seen. Covers causal models, next-token cross-entropy, AdamW (training.py's loop).
"""

from __future__ import annotations

import copy
import statistics
import time
from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch import Tensor

from core import events
from core.methods import Given, estimates, training
from core.methods.training import TrainingParams
from core.run import Run

Choice = tuple[Literal[32, 8, 4, 2], Literal["channel", "tensor"], bool]  # bits, one scale for each, error feedback
CHOICES: tuple[Choice, ...] = (
    (32, "channel", False),
    (8, "tensor", False),
    (8, "channel", False),
    (4, "tensor", False),
    (4, "channel", False),
    (4, "channel", True),
    (2, "channel", False),
    (2, "channel", True),
)


def name_of(choice: Choice) -> str:
    """'4 bits, a scale a row, error feedback'."""
    bits, per, feedback = choice
    if bits == 32:
        return "float32"
    return f"{bits} bits, a scale a {'row' if per == 'channel' else 'tensor'}{', error feedback' if feedback else ''}"


@torch.no_grad()
def begin_anew(model: Any, seed: int) -> None:
    """Draws every matrix anew, normally distributed with the spread that it has; norms and biases stay. In place."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            drawn = torch.randn(parameter.shape, generator=generator) * float(parameter.float().std())
            parameter.copy_(drawn.to(parameter))


def study(
    model: Any, given: Given, params: TrainingParams, run: Run, choices: Iterable[Choice] = CHOICES, seeds: int = 1
) -> dict[str, Any]:
    """{rows, steps, parameters, start}: one row for each choice, in their order; `model` is left as it was.

    A row: {name, bits, per, feedback, heldout_loss, stderr (over seeds; None with one), losses (of each seed), heldout_perplexity,
    sent, plain (bytes a run), error (relative, of the gradients that arrived, mean over the steps), seconds, curve
    [(step, heldout_loss)] of the first seed, start}. start: the loss before training. Emits 'heldout_loss/<name>' as it goes, and
    the row as GradientsTried after each run. Raises what training raises.
    """
    learn, aside = training.read(given.text, given.tokenizer, params.context, run, given.info.context)
    vocabulary = model.config.get_text_config().vocab_size
    held_out = training.kept_aside(aside, params.context, estimates.rows_at_once(params.batch, params.context, vocabulary), given.device)
    rows: list[dict[str, Any]] = []
    start = None
    choices = list(choices)
    course = _Course(run, len(choices) * seeds)
    for choice in choices:
        bits, per, feedback = choice
        settings = params.model_copy(update={"gradient_bits": bits, "gradient_scale": per, "gradient_feedback": feedback})
        found = []
        for seed in range(given.seed, given.seed + seeds):
            found.append(_train(model, settings, choice, run, given, learn, held_out, vocabulary, seed, course))
            course.ended += 1
            run.emit(events.GradientsTried(run.job, _row(choice, found)))
            run.check_cancelled()
        start = found[0]["start"] if start is None else start
        rows.append(_row(choice, found))
    return {"rows": rows, "steps": params.steps, "parameters": sum(p.numel() for p in model.parameters()), "start": start, "seeds": seeds}


def _row(choice: Choice, found: list[dict[str, Any]]) -> dict[str, Any]:
    """What the runs of a choice say together."""
    bits, per, feedback = choice
    losses = [f["loss"] for f in found]
    return {
        "name": name_of(choice),
        "bits": bits,
        "per": per,
        "feedback": feedback,
        "heldout_loss": statistics.fmean(losses),
        "stderr": statistics.stdev(losses) / len(losses) ** 0.5 if len(losses) > 1 else None,
        "losses": losses,
        "heldout_perplexity": training.exp(statistics.fmean(losses)),
        "sent": found[0]["sent"],
        "plain": found[0]["plain"],
        "error": found[0]["error"],
        "seconds": statistics.fmean(f["seconds"] for f in found),
        "curve": found[0]["curve"],
        "start": found[0]["start"],
    }


def _train(
    model: Any,
    params: TrainingParams,
    choice: Choice,
    run: Run,
    given: Given,
    learn: Tensor,
    held_out: Any,
    vocabulary: int,
    seed: int,
    course: _Course,
) -> dict[str, Any]:
    copied = copy.deepcopy(model)
    curve: list[tuple[int, float]] = []
    listener = _Listener(run, name_of(choice), curve, course, first=seed == given.seed)

    def loss_of(rows: Tensor) -> dict[str, Tensor]:
        return {"loss": training.cross_entropy(copied(input_ids=rows[:, :-1], use_cache=False).logits, rows[:, 1:])}

    @torch.no_grad()
    def judge() -> dict[str, float]:
        total, count = 0.0, 0
        for rows in held_out:
            run.check_cancelled()
            total += float(loss_of(rows)["loss"]) * rows[:, 1:].numel()
            count += rows[:, 1:].numel()
        return {"heldout_loss": total / count, "heldout_perplexity": training.exp(total / count)}

    feed = training.windows_of(learn, params.context, params.batch, torch.Generator().manual_seed(seed))
    begun = time.perf_counter()
    trained = training.train(copied, feed, loss_of, judge, params, run=listener, device=given.device, vocabulary=vocabulary, seed=seed)
    sent = trained.sent or 4 * trained.steps * sum(p.numel() for p in copied.parameters())
    return {
        "loss": trained.best["heldout_loss"],
        "start": trained.start["heldout_loss"],
        "sent": sent,
        "plain": trained.sent_plain or sent,
        "error": statistics.fmean(listener.errors) if listener.errors else 0.0,
        "seconds": time.perf_counter() - begun,
        "curve": curve,
    }


class _Course:
    """How far the whole study is: so many runs of `runs` have ended."""

    def __init__(self, run: Run, runs: int):
        self.run, self.runs, self.ended = run, runs, 0
        self.begun = time.monotonic()

    def tell(self, name: str, share: float) -> None:
        """share: of the run that's at work; name: its choice."""
        done = self.ended + share
        left = (time.monotonic() - self.begun) * (self.runs - done) / done if done else None
        self.run.progress("Training", done, self.runs, left, note=name, force=not share)


class _Listener(Run):
    """A run inside the study: controls and log are the study's own; its curves get the choice's name, its progress is the study's."""

    def __init__(self, outer: Run, name: str, curve: list[tuple[int, float]], course: _Course, first: bool):
        super().__init__(outer.job, outer.emit, outer.device, outer)
        self._course = course
        self._name, self._curve, self._first = name, curve, first
        self.errors: list[float] = []

    def progress(self, stage: str, done: float, total: float, left: float | None = None, note: str = "", force: bool = True) -> None:
        self._course.tell(self._name, done / total if total else 0.0)

    def metric(self, name: str, step: int, value: float) -> None:
        if name == "gradient_error":
            self.errors.append(value)
        if name == "heldout_loss" and self._first:
            self._curve.append((step, value))
            self._outer.metric(f"heldout_loss/{self._name}", step, value)
