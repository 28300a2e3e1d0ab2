"""How often a classifier is right on examples that it never learnt from, and how far it moved from another one.

    accuracy   share of the held-out examples whose class is the model's first choice, with Wilson's 95 % interval
               (Wilson 1927; Brown, Cai & DasGupta, 'Interval Estimation for a Binomial Proportion', 2001, section 3)
    kl         mean over the examples of KL(reference || model) over the classes, in nats
    agreement  share of the examples for which both models' first choice is the same class

The examples are the held-out part of the data, which is the same for everyone who reads it (core.data.labels.split). Trains
nothing; doesn't weigh classes: where one is rare, accuracy says little of it.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F

from core.data.labels import Labels, class_logits, split, to_model
from core.errors import UserError
from core.evaluate.perplexity import batch_device, bootstrap, dtype_name, kl_divergence
from core.records import Measurement
from core.run import Run

BATCH = 32
MAX_TOKENS = 256  # of a text, where the model's own context isn't smaller
Z = 1.959963984540054  # of the normal distribution at 97.5 %


@torch.no_grad()
def score(
    model: Any,
    tokenizer: Any,
    labels: Labels,
    *,
    reference: Any = None,
    reference_tokenizer: Any = None,
    run: Run | None = None,
    max_tokens: int | None = None,
    conditions: dict[str, Any] | None = None,
) -> list[Measurement]:
    """Measurements accuracy, and kl and agreement where there's a `reference` with the same classes, on the held-out examples.

    reference_tokenizer: where the reference has one of its own. max_tokens: where texts are cut; None: 256, or the model's context.
    Both models are left as they are.
    Raises UserError: no tokenizer, classes that aren't the model's or the reference's, outputs that aren't numbers.
    """
    run = run or Run()
    if tokenizer is None:
        raise UserError(
            "The classifier has no tokenizer, so it can't read the examples.",
            hint="Put tokenizer.json beside the model and import it again.",
            kind="model",
        )
    if reference is not None and reference.config.id2label != model.config.id2label:
        raise UserError(
            "The two classifiers tell different classes apart, so they can't be compared.",
            hint="Choose a reference that learnt the same classes.",
            kind="model",
        )
    truth = to_model(labels, model.config.id2label)
    rows = sorted(split(labels).heldout, key=lambda i: len(labels.texts[i]))  # alike in length, so that little is padded
    longest = min(max_tokens or MAX_TOKENS, getattr(model.config, "max_position_embeddings", None) or MAX_TOKENS)
    right, kl, same = 0, [], []
    for begin in run.track(range(0, len(rows), BATCH), "Measuring accuracy"):
        part = rows[begin : begin + BATCH]
        texts = [labels.texts[i] for i in part]
        logits = class_logits(model, tokenizer, texts, longest).float().cpu()  # (rows, classes)
        if not torch.isfinite(logits).all():
            raise UserError(
                "The classifier's outputs aren't numbers (NaN or infinite), so there is no accuracy.",
                hint="Its weights are damaged or overflow in this precision: measure it in float32, or make the variant again.",
                kind="model",
            )
        chosen = logits.argmax(-1)
        right += int((chosen == torch.tensor([truth[i] for i in part])).sum())
        if reference is not None:
            theirs = class_logits(reference, reference_tokenizer or tokenizer, texts, longest).float().cpu()
            kl += kl_divergence(F.log_softmax(theirs, -1), F.log_softmax(logits, -1)).tolist()
            same += (theirs.argmax(-1) == chosen).double().tolist()
    known = (conditions or {}) | {
        "examples": labels.name,
        "examples_hash": labels.sha256[:16],
        "classes": len(labels.classes),
        "max_tokens": longest,
        "part": "held out",
        "device": str(batch_device(model)),
        "dtype": dtype_name(model),
    }
    n = len(rows)
    share = right / n
    low, high = wilson(right, n)
    found = {"stderr": math.sqrt(share * (1 - share) / n), "low": low, "high": high}
    measured = [Measurement(kind="accuracy", value=share, n=n, conditions=known | {"interval": "Wilson, 95 %"}, **found)]
    if reference is not None:
        measured.append(bootstrap("kl", kl, [1] * n, known, unit="nats"))
        measured.append(bootstrap("agreement", same, [1] * n, known))
    run.log(f"Accuracy on {n:,} held-out examples: {100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)")
    return measured


def wilson(right: int, total: int, z: float = Z) -> tuple[float, float]:
    """The interval (low, high) of a share of `right` of `total`: those p whose score test at z isn't rejected."""
    if not 0 <= right <= total or not total:
        raise ValueError(f"{right} of {total} isn't a share")
    share, inner = right / total, z * z / total
    middle = (share + inner / 2) / (1 + inner)
    half = z / (1 + inner) * math.sqrt(share * (1 - share) / total + inner / (4 * total))
    return 0.0 if right == 0 else middle - half, 1.0 if right == total else middle + half
