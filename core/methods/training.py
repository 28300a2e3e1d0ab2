"""The training loop that distillation and recovery share, and the windows of text that it's mostly fed with.

AdamW with decoupled weight decay (Loshchilov & Hutter 2019), linear warm-up and cosine decay, gradients quantized where
that's asked (gradients.py) and clipped to norm 1, weights that must stay zero held at zero, the best step kept by the loss on
what's kept aside. Windows of one long text, no padding; labelled examples are feeds.py's. Without dropout, since runs are short
and the best step is kept. No data or model parallelism.

Deterministic: the same seed, device, library versions and number of threads give the same weights bit for bit. The
number of threads counts, because sums are split between threads and floating-point addition isn't associative.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.data.text import Text, token_ids, windows
from core.errors import UserError
from core.methods import estimates
from core.methods.checkpoints import Checkpoint, fingerprint
from core.methods.common import PRUNED_FROM
from core.methods.gradients import Exchange
from core.models import devices
from core.params import Params, knob
from core.run import Run

MOST_TOKENS = 8_000_000  # of a longer text, only so much is read: tokenizing more takes longer than a short training
HELDOUT_SHARE, HELDOUT_WINDOWS = 0.05, 16  # the end of the text is kept aside: a twentieth, at most so many windows
FLOOR = 0.05  # of the learning rate, where the cosine ends
BETAS = (0.9, 0.95)


class TrainingParams(Params):
    """The knobs of the loop. A method's own knobs come first where its class names them before this one."""

    steps: int = knob(
        300,
        title="Steps",
        help="Updates of the weights. More is better until the loss on text kept aside stops falling.",
        ge=1,
        le=1_000_000,
    )
    batch: int = knob(
        8,
        title="Batch",
        unit="windows",
        help="Windows of text, or labelled examples, a step. Larger is steadier and slower; halve it where memory runs out.",
        ge=1,
        le=4096,
    )
    context: int = knob(
        256,
        title="Context",
        unit="tokens",
        help="Tokens a window, or of an example at most. Memory and time grow with it; longer than what the model will read later is "
        "wasted.",
        ge=8,
        le=131_072,
    )
    learning_rate: float = knob(
        5e-4,
        title="Learning rate",
        help="Size of the updates at their largest. Halve it where the loss jumps or rises; double it where it hardly falls.",
        gt=0,
        le=1,
    )
    warmup: float = knob(
        0.1,
        title="Warm-up",
        help="Share of the steps in which the learning rate grows from nothing to its full size. Raise it where the loss jumps at first.",
        ge=0,
        le=1,
        advanced=True,
    )
    weight_decay: float = knob(
        0.01,
        title="Weight decay",
        help="Pull of the weights towards zero at each step. Raise it to 0.1 for long trainings on little text.",
        ge=0,
        le=1,
        advanced=True,
    )
    precision: Literal["auto", "float32", "bfloat16"] = knob(
        "auto",
        title="Precision",
        help="In which forward and backward are computed; the weights are kept in float32. Automatic: bfloat16 on a GPU or CPU that "
        "multiplies in it, else float32.",
        labels={"auto": "Automatic", "float32": "float32", "bfloat16": "bfloat16"},
        advanced=True,
    )
    gradient_bits: Literal[32, 8, 4, 2] = knob(
        32,
        title="Gradient bits",
        help="Bits of each gradient, rounded at random so that the mean stays right, as machines that train together would send them. "
        "8 learns like 32; below, use error feedback.",
        labels={32: "32, not quantized", 8: "8 bits", 4: "4 bits", 2: "2 bits"},
        advanced=True,
    )
    gradient_scale: Literal["channel", "tensor"] = knob(
        "channel",
        title="Gradient scale for each",
        help="Gradients that share a scale. An output row costs four bytes more a row and rounds much finer than a whole tensor.",
        labels={"channel": "Output row", "tensor": "Tensor"},
        when={"gradient_bits": (8, 4, 2)},
        advanced=True,
    )
    gradient_feedback: bool = knob(
        False,
        title="Error feedback",
        help="Rounds to nearest, and adds to each gradient what rounding took from the last one. Try it at 4 bits and below; takes "
        "memory for one more copy of the weights.",
        when={"gradient_bits": (8, 4, 2)},
        advanced=True,
    )


@dataclass(frozen=True)
class Trained:
    """What the loop did. Losses are those on the text kept aside; `best_step` 0 means that training never beat the start."""

    steps: int
    best_step: int
    start: dict[str, float]
    best: dict[str, float]
    held: int  # weights held at zero
    stopped: bool
    gradient_bits: int = 32
    sent: int = 0  # bytes that the gradients took, where they were quantized
    sent_plain: int = 0  # what they'd have taken in float32

    def sentence(self) -> str:
        """'300 steps; perplexity on text kept aside 61.20 before, 33.10 at the best step (290), which was kept.'"""
        if "heldout_accuracy" in self.start:
            what = "accuracy on examples kept aside"
            before, after = (f"{100 * found['heldout_accuracy']:.1f} %" for found in (self.start, self.best))
        elif "heldout_perplexity" not in self.start:
            what = "loss on what was kept aside"
            before, after = (f"{found['heldout_loss']:.4f}" for found in (self.start, self.best))
        else:
            what = "perplexity on text kept aside"
            before, after = (f"{found['heldout_perplexity']:.2f}" for found in (self.start, self.best))
        kept = f"{after} at the best step ({self.best_step}), which was kept" if self.best_step else "never better: nothing was changed"
        note = f"{self.steps} steps{', finished early as asked' if self.stopped else ''}; {what} {before} before, {kept}."
        if self.sent:
            note += (
                f" Gradients in {self.gradient_bits} bits: {self.sent / 1e6:,.1f} MB would be sent instead of "
                f"{self.sent_plain / 1e6:,.1f} MB in float32."
            )
        return note


# ---- the text ---------------------------------------------------------------------------------------------------------


def read(text: Text, tokenizer: Any, context: int, run: Run, longest: int | None = None) -> tuple[Tensor, Tensor]:
    """(ids to train on, ids kept aside), both 1-D; the second are whole windows of context + 1 from the end of what's read.

    Raises UserError where the text or the model is too short for the context.
    """
    if longest and context > longest:
        raise UserError(
            "The model holds {longest} tokens, fewer than a context of {context}.",
            hint="Choose a context of at most {longest}.",
            longest=longest,
            context=context,
        )
    run.stage("Reading the text", text.name)
    ids = token_ids(text, tokenizer, MOST_TOKENS)
    window = context + 1
    aside = window * max(1, min(int(HELDOUT_SHARE * len(ids)) // window, HELDOUT_WINDOWS))
    if len(ids) - aside < window:
        raise UserError(
            "{name} has {tokens} tokens; training with a context of {context} needs {needed}, part of them kept aside.",
            hint="Choose a longer text, or a context of at most {most}.",
            kind="data",
            name=text.name,
            tokens=len(ids),
            context=context,
            needed=2 * window,
            most=max(1, len(ids) // 2 - 1),
        )
    run.log(f"{len(ids) - aside:,} tokens to train on, {aside:,} kept aside")
    return ids[:-aside], ids[-aside:]


def windows_of(ids: Tensor, context: int, batch: int, generator: torch.Generator, anew: bool = True) -> Iterator[Tensor]:
    """Endless batches (batch, context + 1): each pass over the text is shuffled, and cut at a random offset of its own where `anew`,
    else at the same places."""
    last = len(ids) - context - 1  # the last possible start
    rows: list[Tensor] = []
    while True:
        shift = int(torch.randint(min(context, last + 1), (), generator=generator)) if anew else 0
        starts = torch.arange(shift, last + 1, context)
        for start in starts[torch.randperm(len(starts), generator=generator)].tolist():
            rows.append(ids[start : start + context + 1])
            if len(rows) == batch:
                yield torch.stack(rows)
                rows = []


def kept_aside(ids: Tensor, context: int, rows: int, device: str) -> tuple[Tensor, ...]:
    """The windows of the ids kept aside, `rows` at a time: each (≤ rows, context + 1)."""
    return torch.stack(windows(ids, context + 1)).to(device).split(rows)


# ---- the loop ---------------------------------------------------------------------------------------------------------


def train(
    model: nn.Module,
    batches: Iterator[Tensor],
    loss_of: Callable[[Tensor], dict[str, Tensor]],
    judge: Callable[[], dict[str, float]],
    params: TrainingParams,
    *,
    run: Run,
    device: str,
    vocabulary: int,
    hold: dict[str, Tensor] | None = None,
    learns: Callable[[str], bool] | None = None,
    beside: nn.Module | None = None,
    rewrite: Callable[[Tensor, int], Tensor] | None = None,
    begun: int = 0,
    seed: int = 0,
    work: Path | None = None,
    show: Callable[[int, bool], None] | None = None,
) -> Trained:
    """Trains `model` in place, and leaves it with the weights of its best step, in eval mode and without gradients.

    batches: (batch, context + 1) ids; loss_of: rows of a batch -> {'loss': mean over their tokens, parts by name ...};
    judge: {'heldout_loss', 'heldout_perplexity', ...} of the model as it is; hold: parameter name -> True where a weight
    must stay exactly zero; learns: which parameters are trained, by name (all); beside: what the loss needs besides the model,
    trained along; rewrite: (batch, step) -> what's trained on in its place; begun: steps of a training before this one, from which
    the curves go on; seed: of the rounding of gradients, where they're quantized; work: a folder in which the state is kept, and
    gone on from where it's there: the result is the same bit for bit; show: (step, whether its weights are kept) -> tells what the model
    says, and changes nothing (samples.py): at the start, where it's judged, and of what's kept. Raises UserError where the loss stops
    being a number, Cancelled where that was asked.
    """
    hold = hold or {}
    model.float().requires_grad_(False)
    named = {name: p.requires_grad_(True) for name, p in model.named_parameters() if learns is None or learns(name)}
    if beside is not None:
        beside.to(device)
        named |= {f"beside.{name}": p for name, p in beside.named_parameters()}
    masks = [(named[name], mask.to(device)) for name, mask in hold.items()]
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in named.values() if p.ndim > 1], "weight_decay": params.weight_decay},
            {"params": [p for p in named.values() if p.ndim <= 1], "weight_decay": 0.0},  # norms and biases aren't pulled to zero
        ],
        lr=params.learning_rate,
        betas=BETAS,
        fused=True,
    )
    exchange = None
    if params.gradient_bits != 32:
        exchange = Exchange(named, params.gradient_bits, params.gradient_scale, params.gradient_feedback, seed)
    rows = estimates.rows_at_once(params.batch, params.context, vocabulary)
    every = min(max(5, params.steps // 10), 50)
    step, stopped = 0, False
    checkpoint, found = None, None
    if work is not None:
        settings = params.model_dump(mode="json") | {"seed": seed, "begun": begun}
        checkpoint = Checkpoint(work, fingerprint(named, settings), run)
        found = checkpoint.read()
    with deterministic(device):
        if found is None:
            done, best_step, start = 0, 0, judge()
            best, kept = start, _copy(named)
            _report(run, begun, start)
            if show is not None:
                show(begun, False)
        else:
            if show is not None:  # what it said at the very beginning, which later samples may stand beside
                show(begun, False)
            done, best_step, start, best, kept = _restored(found, named, optimizer, exchange)
            found = None  # as large as the training itself
            run.log(f"Going on after step {done}, where an earlier try stopped")
        for step in run.track(range(1, params.steps + 1), "Training", known=done, rests=False):
            batch = next(batches)
            if step <= done:  # drawn so that the next one is the one that it would have been
                continue
            run.wait_turn()
            if rewrite is not None:
                batch = rewrite(batch, begun + step)
            rate = params.learning_rate * schedule(step, params.steps, params.warmup)
            for group in optimizer.param_groups:
                group["lr"] = rate
            parts = _backward(batch.to(device), rows, loss_of, precision(params.precision, device), device, run)
            if not math.isfinite(parts["loss"]):
                raise UserError(
                    "The training diverged: at step {step} the loss isn't a number any more.",
                    hint="Choose a smaller learning rate or a longer warm-up.",
                    kind="data",
                    step=step,
                )
            for parameter, mask in masks:
                parameter.grad.masked_fill_(mask, 0)  # so that held weights count neither in the norm nor in the moments
            if exchange is not None:
                run.metric("gradient_error", begun + step, exchange.step())
            torch.nn.utils.clip_grad_norm_(list(named.values()), 1.0)
            optimizer.step()
            with torch.no_grad():
                for parameter, mask in masks:
                    parameter.masked_fill_(mask, 0)
            optimizer.zero_grad(set_to_none=True)
            for name, value in parts.items():
                run.metric(name, begun + step, value)
            run.metric("lr", begun + step, rate)
            stopped = run.stop_asked and step < params.steps
            if step % every == 0 or step == params.steps or stopped:
                judged = judge()
                _report(run, begun + step, judged)
                if judged["heldout_loss"] < best["heldout_loss"]:
                    best, best_step, kept = judged, step, _copy(named)
                if show is not None:
                    show(begun + step, False)
            if checkpoint is not None and checkpoint.due:
                state = functools.partial(_state, step, best_step, start, best, kept, named, optimizer, exchange)
                checkpoint.write(state, 16 * sum(p.numel() for p in named.values()))
            if stopped:
                break
    with torch.no_grad():
        for name, parameter in named.items():
            parameter.copy_(kept[name])
    model.requires_grad_(False)
    model.eval()
    if show is not None:
        show(begun + best_step, True)
    held = sum(int(m.sum()) for m in hold.values())
    sent = (exchange.sent, exchange.plain) if exchange is not None else (0, 0)
    trained = Trained(step, best_step, start, best, held, stopped, params.gradient_bits, *sent)
    run.log(trained.sentence())
    return trained


def _backward(batch: Tensor, rows: int, loss_of, dtype: torch.dtype, device: str, run: Run) -> dict[str, float]:
    """Gradients of the mean loss of the batch, `rows` at a time; returns the batch's mean losses by name."""
    totals: dict[str, float] = {}
    for part in batch.split(rows):
        run.check_cancelled()
        share = len(part) / len(batch)  # windows are all of one length, so tokens are weighted alike
        with torch.autocast(device.split(":")[0], dtype, enabled=dtype != torch.float32):
            losses = loss_of(part)
        (losses["loss"] * share).backward()
        for name, value in losses.items():
            totals[name] = totals.get(name, 0.0) + float(value.detach()) * share
    return totals


def schedule(step: int, steps: int, warmup: float) -> float:
    """Factor on the learning rate at `step` (from 1): linear to 1 over the warm-up, then a cosine down to FLOOR."""
    rising = math.ceil(warmup * steps)
    if step <= rising:
        return step / rising
    top = max(rising, 1)
    done = (step - top) / max(1, steps - top)
    return FLOOR + (1 - FLOOR) * 0.5 * (1 + math.cos(math.pi * done))


def precision(name: str, device: str) -> torch.dtype:
    """The dtype to compute in. It depends on the machine alone, never on a timing, so that a seed gives the same weights."""
    if name != "auto":
        return torch.bfloat16 if name == "bfloat16" else torch.float32
    if device.startswith("cuda"):
        return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float32
    if device == "cpu" and devices.multiplies_bfloat16():
        return torch.bfloat16
    return torch.float32


@contextlib.contextmanager
def deterministic(device: str) -> Iterator[None]:
    """Only algorithms that give the same sums every time. On the CPU they do so as it is, with the same number of threads."""
    if not device.startswith("cuda"):
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS asks for it, before its first call
    before, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warned)


def zeros_of(layers: list[tuple[str, nn.Module]], model: nn.Module) -> dict[str, Tensor]:
    """Parameter name -> True where the weight of a linear layer is exactly zero."""
    own = {id(p): name for name, p in model.named_parameters()}
    return {own[id(module.weight)]: module.weight.detach() == 0 for _, module in layers}


def pruned_zeros_of(layers: list[tuple[str, nn.Module]], model: nn.Module) -> dict[str, Tensor]:
    """What zeros_of gives, where the model was pruned: all of it by its share of zeros, else those layers that were, as by one head."""
    zeros = zeros_of(layers, model)
    if sum(int(m.sum()) for m in zeros.values()) > PRUNED_FROM * sum(m.numel() for m in zeros.values()):
        return zeros
    return {name: m for name, m in zeros.items() if int(m.sum()) > PRUNED_FROM * m.numel()}


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean over all tokens, or examples: logits (..., vocab), targets (...)."""
    return F.cross_entropy(logits.float().flatten(0, -2), targets.flatten())


def exp(x: float) -> float:
    """e^x, infinite where that's too large for a float."""
    return math.exp(x) if x < 700 else math.inf


def _state(
    step: int,
    best_step: int,
    start: dict[str, float],
    best: dict[str, float],
    kept: dict[str, Tensor],
    named: dict[str, nn.Parameter],
    optimizer: torch.optim.Optimizer,
    exchange: Exchange | None,
) -> dict[str, Any]:
    """All that the steps after `step` depend on, as what Checkpoint writes."""
    return {
        "step": step,
        "best_step": best_step,
        "start": start,
        "best": best,
        "kept": kept,
        "weights": {name: p.detach() for name, p in named.items()},
        "optimizer": optimizer.state_dict(),
        "exchange": None if exchange is None else exchange.state(),
    }


def _restored(
    state: dict[str, Any], named: dict[str, nn.Parameter], optimizer: torch.optim.Optimizer, exchange: Exchange | None
) -> tuple[int, int, dict[str, float], dict[str, float], dict[str, Tensor]]:
    """(step, best_step, start, best, kept) of the state; weights, moments and the exchange are given back what they were."""
    with torch.no_grad():
        for name, parameter in named.items():
            parameter.copy_(state["weights"][name])
    optimizer.load_state_dict(state["optimizer"])
    if exchange is not None:
        exchange.restore(state["exchange"])
    return state["step"], state["best_step"], state["start"], state["best"], state["kept"]


def _copy(named: dict[str, nn.Parameter]) -> dict[str, Tensor]:
    return {name: p.detach().to("cpu", copy=True) for name, p in named.items()}


def _report(run: Run, step: int, found: dict[str, float]) -> None:
    for name, value in found.items():
        run.metric(name, step, value)
