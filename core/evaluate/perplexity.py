"""Perplexity of a causal model on token ids, and its divergence from a reference model on the same ids.

    ids cut into windows of `context` tokens, not overlapping, no BOS; the first token of a window isn't scored
    perplexity   exp(sum of -ln q(token) / scored tokens), weighted by token: the last, shorter window counts
    kl           mean over the scored positions of KL(reference || model), in nats
    agreement    share of the scored positions at which both models' first choice is the same token

Each comes with a standard error and a 95 % interval from a block bootstrap over the windows (Künsch 1989: tokens of one
window depend on each other, windows hardly). Doesn't read text and doesn't compare tokenizers: the caller hands over
ids, and a reference only where it has the same tokens.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from core.errors import UserError
from core.records import Measurement
from core.run import Run

CONTEXT = 512  # the default window
LOGITS = 1 << 25  # logits held at once for one model: 128 MB in float32
RESAMPLES = 1000
SEED = 20240229  # of the bootstrap, so that the same scores give the same interval


@torch.no_grad()
def score(
    model: Any,
    ids: Tensor,
    *,
    context: int | None = None,
    run: Run | None = None,
    reference: Any | None = None,
    text_bytes: int | None = None,
    conditions: dict[str, Any] | None = None,
) -> list[Measurement]:
    """Measurements perplexity, bits_per_byte (where `text_bytes` is given), and kl and agreement (where `reference` is).

    ids: LongTensor (n,) without special tokens. context: tokens a window; None: 512, or what the model can hold.
    text_bytes: UTF-8 bytes that the ids stand for. conditions: what the caller knows (text, text_hash, reference), kept
    with every measurement beside context, stride, bos, tokens, windows, device and dtype. Both models are left as they are.
    Raises UserError: fewer than two tokens, a context that the model can't hold, scores that aren't numbers.
    """
    run = run or Run()
    context = usable_context(model, context)
    if ids.ndim != 1:
        raise ValueError(f"ids must be one sequence, not of shape {tuple(ids.shape)}")
    if len(ids) < 2:
        raise UserError(
            "The text has {tokens} token(s), and a score needs at least two.",
            hint="Choose a longer text.",
            kind="data",
            tokens=len(ids),
        )
    nll, counts, kl, same = [], [], [], []  # one number a window
    for batch in run.track(list(batches(ids, context, LOGITS // (context * _vocabulary(model)))), "Measuring perplexity"):
        logits = _logits(model, batch)  # (rows, seq - 1, vocab)
        targets = batch[:, 1:].to(logits.device)
        log_q = F.log_softmax(logits, dim=-1)
        each = -log_q.gather(2, targets[..., None])[..., 0].double()  # (rows, seq - 1)
        if not torch.isfinite(each).all():
            raise _no_numbers()
        nll += each.sum(1).tolist()
        counts += [targets.shape[1]] * len(batch)
        if reference is not None:
            theirs = _logits(reference, batch).to(logits.device)
            vocab = min(theirs.shape[-1], logits.shape[-1])  # embeddings padded to different sizes hold the same tokens first
            log_q = log_q if vocab == logits.shape[-1] else F.log_softmax(logits[..., :vocab], dim=-1)
            log_p = F.log_softmax(theirs[..., :vocab], dim=-1)
            kl += kl_divergence(log_p, log_q).sum(1).tolist()
            same += (log_p.argmax(-1) == log_q.argmax(-1)).double().sum(1).tolist()
    known = (conditions or {}) | {
        "context": context,
        "stride": context,
        "bos": False,
        "tokens": len(ids),
        "windows": len(nll),
        "device": str(batch_device(model)),
        "dtype": dtype_name(model),
    }
    if sum(nll) > 700 * sum(counts):
        raise _no_numbers()  # e^700: past what a float can say, and no model
    measured = [bootstrap("perplexity", nll, counts, known, transform=math.exp)]
    if text_bytes:
        # n tokens of len(ids) are scored; the bits of the others are taken to be as many a token
        per = len(ids) / text_bytes / math.log(2)
        measured.append(
            bootstrap("bits_per_byte", nll, counts, known | {"bytes": text_bytes}, transform=lambda x: x * per, unit="bits/byte")
        )
    if reference is not None:
        measured.append(bootstrap("kl", kl, counts, known, unit="nats"))
        measured.append(bootstrap("agreement", same, counts, known))
    run.log(f"Scored {sum(counts):,} tokens in {len(nll)} windows of {context}: " + ", ".join(f"{m.kind} {m.value:.5g}" for m in measured))
    return measured


def kl_divergence(log_p: Tensor, log_q: Tensor) -> Tensor:
    """KL(p || q) in nats at each position, from log-probabilities (..., vocab), summed in float64. Never below 0."""
    return (log_p.exp() * (log_p - log_q)).sum(-1, dtype=torch.float64).clamp_min(0)


def batches(ids: Tensor, context: int, rows: int) -> list[Tensor]:
    """The windows of `ids` in their order, as tensors (≤ rows, context), the shorter last one apart: (1, < context).

    A last window of a single token can't be scored and is left out.
    """
    whole = len(ids) // context * context
    out = list(ids[:whole].view(-1, context).split(max(1, rows))) if whole else []
    rest = ids[whole:]
    return out + ([rest[None]] if len(rest) > 1 else [])


def bootstrap(
    kind: str, sums: list[float], counts: list[int], conditions: dict[str, Any], *, transform=None, unit: str = ""
) -> Measurement:
    """A token-weighted mean of window sums, through `transform`, with stderr and 95 % interval by resampling windows.

    With a single window the error isn't known and is left None.
    """
    transform = transform or (lambda x: x)
    total, tokens = torch.tensor(sums, dtype=torch.float64), torch.tensor(counts, dtype=torch.float64)
    value = transform(float(total.sum() / tokens.sum()))
    error = low = high = None
    if len(sums) > 1:
        draw = torch.randint(len(sums), (RESAMPLES, len(sums)), generator=torch.Generator().manual_seed(SEED))
        means = total[draw].sum(1) / tokens[draw].sum(1)  # (resamples,)
        spread = torch.tensor([transform(x) for x in means.tolist()], dtype=torch.float64)
        error = float(spread.std())
        low, high = spread.quantile(torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return Measurement(kind=kind, value=value, stderr=error, low=low, high=high, n=int(sum(counts)), unit=unit, conditions=conditions)


def usable_context(model: Any, context: int | None) -> int:
    """The window to score with. Raises UserError where the model can't hold the one asked for."""
    longest = getattr(model.config, "max_position_embeddings", None) or CONTEXT
    if context is None:
        return min(CONTEXT, longest)
    if context < 2:
        raise UserError("A context of {context} leaves nothing to predict.", hint="Choose at least 2.", context=context)
    if context > longest:
        raise UserError(
            "The model holds {longest} tokens, fewer than a context of {context}.",
            hint="Choose a context of at most {longest}.",
            longest=longest,
            context=context,
        )
    return context


def batch_device(model: Any) -> torch.device:
    return next(model.parameters()).device


def dtype_name(model: Any) -> str:
    """The dtype that the model computes in, as torch names it without 'torch.'."""
    return str(next(p.dtype for p in model.parameters() if p.is_floating_point())).removeprefix("torch.")


def byte_count(tokenizer: Any, ids: Tensor) -> int:
    """UTF-8 bytes of the text that the ids stand for."""
    return len(tokenizer.decode(ids.tolist(), clean_up_tokenization_spaces=False).encode("utf-8"))


def _no_numbers() -> UserError:
    return UserError(
        "The model's scores aren't numbers (NaN or infinite), so there is no perplexity.",
        hint="Its weights are damaged or overflow in this precision: measure it in float32, or make the variant again.",
        kind="model",
    )


def _vocabulary(model: Any) -> int:
    return getattr(model.config, "vocab_size", None) or 1 << 15


def _logits(model: Any, batch: Tensor) -> Tensor:
    """Logits in float32 for the next token at all positions but the last: (rows, seq - 1, vocab)."""
    return model(input_ids=batch.to(batch_device(model)), use_cache=False).logits[:, :-1].float()
