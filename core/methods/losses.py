"""The losses that training here has in common: against a teacher's predictions, and against what the text or the labels say.

On plain tensors; logits of tokens and logits of classes alike. p is the teacher's distribution, q the student's:

    forward   KL(p || q)                                     Hinton, Vinyals & Dean, 'Distilling the Knowledge in a Neural Network' (2015)
    reverse   KL(q || p)                                     Gu et al., 'MiniLLM' (2024), section 2.1
    js        b KL(p || m) + (1 - b) KL(q || m),             Agarwal et al., 'On-Policy Distillation of Language Models' (2024), section 2:
              m = b p + (1 - b) q                            generalised Jensen-Shannon; b = 1/2 is symmetric and at most ln 2
    tv        1/2 sum |p - q|                                1 - the chance that a draft's token is kept: Leviathan et al. (2023), cor. 3.6
    mse       1/2 mean (z - v)^2, each z and v less its      logits themselves; what T^2 KL goes to as T grows (Hinton et al., eq. 4)
              own mean, since softmax doesn't see it

Temperature T softens both; gradients of the first three fall with 1/T^2 and are multiplied by T^2, that of `tv` falls with 1/T and is
multiplied by T, and `mse` has none. With `top_k`, p and q are compared on the teacher's k likeliest tokens and one bin more for all others:
exactly the divergence of the coarsened distributions, so never more than the whole one. Everything is computed a chunk of tokens at a
time, and again in the backward pass, so that no second copy of the logits stays in memory. Hidden states and attention are in
distillation/features.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from core.errors import UserError

IGNORED = -100  # a label that doesn't count, as transformers writes it
UNTOLD = -101  # the same of a position that only the teacher has something to say about
CHUNK = 1 << 22  # logits that are worked on at once: 16 MB in float32

Kind = Literal["forward", "reverse", "js", "tv", "mse"]


@dataclass(frozen=True)
class Against:
    """How a student is compared with its teacher: the divergence, and alpha, what the text or the labels count beside it.

    beta: of 'js'; top_k: tokens of the teacher's that are told apart (None: all), not for 'mse'.
    """

    kind: Kind = "forward"
    temperature: float = 1.0
    alpha: float = 1.0
    top_k: int | None = None
    beta: float = 0.5

    def __post_init__(self):
        if self.kind == "mse" and self.top_k is not None:
            raise ValueError("logits have no tail: top_k is for the divergences")

    @property
    def factor(self) -> float:
        """What the divergence is multiplied by, so that temperature leaves the size of its gradient as it is."""
        return {"mse": 1.0, "tv": self.temperature}.get(self.kind, self.temperature**2)

    def brief(self, teacher: Tensor) -> Tensor | Top:
        """What has to be kept of the teacher's logits (..., vocab): all, or the likeliest and the tail."""
        return teacher if self.top_k is None or self.top_k >= teacher.shape[-1] else top(teacher, self.top_k, self.temperature)


@dataclass(frozen=True)
class Top:
    """A teacher's distribution at a temperature, coarsened: its likeliest tokens, and all others as one."""

    tokens: Tensor  # (..., k)
    logs: Tensor  # (..., k + 1): log-probabilities, the last one that of all others

    def __getitem__(self, where: Tensor) -> Top:
        return Top(self.tokens[where], self.logs[where])


def distillation_loss(student: Tensor, teacher: Tensor | Top, labels: Tensor, how: Against) -> dict[str, Tensor]:
    """{'loss', 'loss/teacher', 'loss/text'}: means over the positions whose label isn't IGNORED, so padding changes nothing; the
    text's is a mean over those that aren't UNTOLD either, and isn't there where all are.

    student, teacher: logits (..., vocab), of the teacher also what `Against.brief` keeps of them; labels: token ids (...). The mean over
    tokens is taken once, over all positions together: a mean over the vocabulary or over the batch's rows would make the loss depend on
    their number.
    """
    counted = labels != IGNORED  # (...)
    mine, theirs, truth = student[counted], teacher[counted], labels[counted]  # (tokens, vocab), (tokens, ...), (tokens,)
    rows = max(1, CHUNK // student.shape[-1])
    taught = text = student.new_zeros((), dtype=_wide(student).dtype)
    for number, part in enumerate(mine.split(rows)):  # split, not slices: their gradients are joined once
        where = slice(number * rows, (number + 1) * rows)
        one, other = checkpoint(_sums, part, theirs[where], truth[where], how, use_reentrant=False, preserve_rng_state=False)
        taught, text = taught + one, text + other
    taught, told = how.factor * taught / len(truth), int((truth != UNTOLD).sum())
    if not told:
        return {"loss": taught, "loss/teacher": taught}
    text = text / told
    return {"loss": taught + how.alpha * text, "loss/teacher": taught, "loss/text": text}


def _sums(student: Tensor, teacher: Tensor | Top, truth: Tensor, how: Against) -> tuple[Tensor, Tensor]:
    """(divergence, cross-entropy), each summed over the tokens."""
    mine = _wide(student)
    return differences(teacher, mine, how).sum(), F.cross_entropy(mine, truth, ignore_index=UNTOLD, reduction="sum")


def differences(teacher: Tensor | Top, student: Tensor, how: Against) -> Tensor:
    """How far the student is from its teacher at each position, before `how.factor`: (..., vocab) -> (...)."""
    student = _wide(student)
    if how.kind == "mse":
        teacher = _wide(teacher)
        apart = (student - student.mean(-1, keepdim=True)) - (teacher - teacher.mean(-1, keepdim=True))
        return apart.square().mean(-1) / 2
    if not isinstance(teacher, Top):
        teacher = how.brief(teacher)
    if isinstance(teacher, Top):
        return between(teacher.logs, _binned(student / how.temperature, teacher.tokens), how.kind, how.beta)
    log_p, log_q = F.log_softmax(_wide(teacher) / how.temperature, -1), F.log_softmax(student / how.temperature, -1)
    return between(log_p, log_q, how.kind, how.beta)


def between(log_p: Tensor, log_q: Tensor, kind: Kind, beta: float = 0.5) -> Tensor:
    """The divergence of two distributions, log-probabilities (..., bins) -> (...): nats, and for 'tv' a share of 1."""
    p, q = log_p.exp(), log_q.exp()
    if kind == "forward":
        return _expected(p, log_p, log_q)
    if kind == "reverse":
        return _expected(q, log_q, log_p)
    if kind == "tv":
        return (p - q).abs().sum(-1) / 2
    least = torch.finfo(p.dtype).min / 4  # where neither has anything, minus infinity twice would have no gradient
    log_m = torch.logaddexp(log_p.clamp_min(least) + math.log(beta), log_q.clamp_min(least) + math.log1p(-beta))
    return beta * _expected(p, log_p, log_m) + (1 - beta) * _expected(q, log_q, log_m)


def _expected(p: Tensor, log_p: Tensor, log_q: Tensor) -> Tensor:
    """sum of p (log p - log q) over the bins; those without p add nothing, also where neither has any."""
    return (p * (log_p - log_q).masked_fill(p == 0, 0.0)).sum(-1)


def top(logits: Tensor, k: int, temperature: float = 1.0) -> Top:
    """The k likeliest tokens of logits (..., vocab), k < vocab, and the mass of all others, exactly."""
    found = logits.topk(k, -1).indices  # (..., k)
    rows = max(1, CHUNK // logits.shape[-1])
    parts = zip(logits.flatten(0, -2).split(rows), found.flatten(0, -2).split(rows), strict=True)
    logs = torch.cat([_binned(_wide(part) / temperature, tokens) for part, tokens in parts])
    return Top(found, logs.view(*found.shape[:-1], k + 1))


def _binned(logits: Tensor, tokens: Tensor) -> Tensor:
    """Log-probabilities of those tokens, and of all others together: (..., vocab), (..., k) -> (..., k + 1).

    The others are added up as they are: one less the sum of the tokens' would lose a small tail to rounding.
    """
    rest = logits.scatter(-1, tokens, -torch.inf).logsumexp(-1, keepdim=True)
    return torch.cat([logits.gather(-1, tokens), rest], -1) - logits.logsumexp(-1, keepdim=True)


def divergence(teacher: Tensor, student: Tensor) -> Tensor:
    """KL(teacher || student) in nats at each position, summed over the vocabulary: logits (..., vocab) -> (...)."""
    return between(F.log_softmax(teacher, -1), F.log_softmax(student, -1), "forward")


def shared(student: int, teacher: int, tokens: int) -> int:
    """How many logits are compared, of that many each: embeddings padded to different sizes hold the tokenizer's `tokens` first.

    Raises UserError where what only one of them has isn't padding.
    """
    if student != teacher and min(student, teacher) < tokens:
        raise UserError(
            "The tokenizer has {tokens} tokens, but the smaller model only {fewer} of them, so it can't be told what the larger one says.",
            hint="Choose a student and a teacher that both have every token.",
            kind="model",
            tokens=tokens,
            fewer=min(student, teacher),
        )
    return min(student, teacher)


def _wide(logits: Tensor) -> Tensor:
    """At least float32: sums over a vocabulary aren't for fewer digits."""
    return logits if logits.dtype == torch.float64 else logits.float()
