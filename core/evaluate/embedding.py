"""What an encoder's compression changed: how far its sentence embeddings turned away from the reference's.

An embedding is the mean of the last hidden states over the tokens that aren't padding, as sentence encoders use it
(Reimers & Gurevych, 'Sentence-BERT', 2019, section 3). Doesn't score a downstream task: 1 says that nothing changed,
not that the embeddings are good.
"""

from __future__ import annotations

import re
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from core.data.text import Text, padded
from core.errors import UserError
from core.evaluate.perplexity import batch_device, bootstrap, dtype_name
from core.models.load import Loaded
from core.records import Measurement
from core.run import Run


@torch.no_grad()
def cosine(
    model: Any,
    reference: Any,
    tokenizer: Any,
    texts: list[str],
    *,
    run: Run | None = None,
    batch: int = 16,
    max_tokens: int = 128,
    conditions: dict[str, Any] | None = None,
    reference_tokenizer: Any = None,
) -> list[Measurement]:
    """One measurement 'cosine': the mean cosine between both models' embeddings of each text, with its standard error.

    texts: sentences, cut at `max_tokens`. Both models take the same tokens, unless the
    reference has a tokenizer of its own; both are left as they are.
    Raises UserError where there are no texts, no tokenizer, or embeddings that aren't numbers.
    """
    run = run or Run()
    if tokenizer is None:
        raise UserError(
            "The encoder has no tokenizer, so nothing can be embedded.",
            hint="Put tokenizer.json beside the model and import it again.",
            kind="model",
        )
    if not texts:
        raise UserError("The text has no sentences to embed.", hint="Choose another text.", kind="data")
    longest = min(max_tokens, getattr(model.config, "max_position_embeddings", None) or max_tokens)
    found: list[float] = []
    for begin in run.track(range(0, len(texts), batch), "Comparing embeddings"):
        fed = encode(tokenizer, texts[begin : begin + batch], longest)
        fed_too = encode(reference_tokenizer, texts[begin : begin + batch], longest) if reference_tokenizer is not None else fed
        mine, theirs = embed(model, fed), embed(reference, fed_too)  # (batch, hidden)
        same = F.cosine_similarity(mine, theirs.to(mine.device), dim=1)  # (batch,)
        if not torch.isfinite(same).all():
            raise UserError(
                "The encoder's embeddings aren't numbers (NaN or infinite).",
                hint="Its weights are damaged or overflow in this precision: measure it in float32, or make the variant again.",
                kind="model",
            )
        found += same.tolist()
    known = (conditions or {}) | {
        "sentences": len(found),
        "max_tokens": longest,
        "pooling": "mean",
        "device": str(batch_device(model)),
        "dtype": dtype_name(model),
    }
    measured = bootstrap("cosine", found, [1] * len(found), known)
    run.log(f"Embeddings of {len(found)} sentences: mean cosine {measured.value:.5f}")
    return [measured]


def score(
    loaded: Loaded, reference: Loaded, text: Text, *, run: Run | None = None, conditions: dict[str, Any] | None = None, most: int = 256
) -> list[Measurement]:
    """`cosine` of two loaded encoders on the first `most` sentences of a text."""
    other = reference.tokenizer if reference.info.tokens_hash != loaded.info.tokens_hash else None
    return cosine(
        loaded.model, reference.model, loaded.tokenizer, sentences(text, most), run=run, conditions=conditions, reference_tokenizer=other
    )


def encode(tokenizer: Any, texts: list[str], longest: int) -> dict[str, Tensor]:
    """input_ids and attention_mask, (texts, longest of them), padded on the right whether or not the tokenizer names a pad token."""
    return padded(tokenizer, texts, longest)


def embed(model: Any, fed: dict[str, Tensor]) -> Tensor:
    """Mean-pooled last hidden states in float32, (batch, hidden); padding doesn't count."""
    device = batch_device(model)
    fed = {k: v.to(device) for k, v in fed.items()}
    out = model(**fed, output_hidden_states=True)
    hidden = out.hidden_states[-1].float()  # (batch, seq, hidden)
    mask = fed["attention_mask"][..., None].float()
    return (hidden * mask).sum(1) / mask.sum(1)


def sentences(text: Text | str, most: int = 256, shortest: int = 20) -> list[str]:
    """The first sentences of a text, cut at full stops and blank lines; those shorter than `shortest` characters are left out."""
    content = text if isinstance(text, str) else text.content
    pieces = (" ".join(piece.split()) for piece in re.split(r"(?<=[.!?])\s+|\n\s*\n", content))
    found = [piece for piece in pieces if len(piece) >= shortest][:most]
    if not found:
        raise UserError(
            "The text has no sentence of at least {shortest} characters.", hint="Choose a longer text.", kind="data", shortest=shortest
        )
    return found
