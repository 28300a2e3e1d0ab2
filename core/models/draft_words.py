"""The tokens that a draft may say: fewer than it reads, so that its output layer, most of a small model's cost, is as much smaller.

A draft that never says a token changes nothing of what's decoded: its chance of it is 0, and the target's own draw adds what's missing
(Leviathan et al., 'Fast Inference from Transformers via Speculative Decoding', 2023, appendix A.1; Zhao et al., 'FR-Spec', 2025, who
keep the most frequent tokens as here). The folder keeps the whole output layer, so plain transformers reads it as ever; which of its
rows draft is written beside it, in FILE, and taken where the model is loaded to draft.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from core.errors import UserError
from core.models.blocks import replace
from core.models.packed import PackedLinear, QuantWeight
from core.models.packed_embedding import head_of, name_of

FILE = "draft_vocabulary.json"


class SomeRows(nn.Module):
    """Logits of some tokens only, by the rows of a whole output layer, which learn through it: (..., width) -> (..., kept).

    spread: they come in their columns of the whole, all others minus infinity.
    """

    def __init__(self, head: nn.Module, kept: Tensor):
        super().__init__()
        self.head, self.spread = head, False
        self.register_buffer("kept", kept, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        bias = getattr(self.head, "bias", None)
        some = F.linear(x, self.head.weight[self.kept], None if bias is None else bias[self.kept])
        return spread(some, self.kept, len(self.head.weight)) if self.spread else some


class ShortHead(nn.Module):
    """An output layer that has only some tokens' rows; all others' logits are minus infinity: (..., width) -> (..., columns)."""

    def __init__(self, inner: nn.Module, kept: Tensor, columns: int):
        super().__init__()
        self.inner, self.columns = inner, columns
        self.register_buffer("kept", kept, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return spread(self.inner(x), self.kept, self.columns)


def spread(some: Tensor, kept: Tensor, columns: int) -> Tensor:
    """Logits (..., kept) in their columns of (..., columns), all others minus infinity."""
    return some.new_full((*some.shape[:-1], columns), -torch.inf).index_copy_(-1, kept, some)


def can_shorten(model: nn.Module) -> bool:
    """Whether the output layer has a row for each token."""
    return isinstance(head_of(model), (nn.Linear, PackedLinear))


def learn_rows(model: nn.Module, kept: Tensor) -> None:
    """Lets the model answer, and learn, with logits of those tokens alone, in their order. `whole` ends it."""
    head = head_of(model)
    replace(model, name_of(model, head), SomeRows(head, kept.to(head.weight.device)))


def whole(model: nn.Module) -> None:
    """Ends `learn_rows`; of other models nothing is changed."""
    if (found := _learning(model)) is not None:
        replace(model, name_of(model, found), found.head)


@contextlib.contextmanager
def in_all_columns(model: nn.Module) -> Iterator[None]:
    """For as long as it lasts, a model that learns some rows answers with a column for every token, as any model."""
    found = _learning(model)
    if found is not None:
        found.spread = True
    try:
        yield
    finally:
        if found is not None:
            found.spread = False


def _learning(model: nn.Module) -> SomeRows | None:
    return next((m for m in model.modules() if isinstance(m, SomeRows)), None)


def shorten(model: nn.Module, kept: Tensor) -> None:
    """Puts a ShortHead of those tokens in place of the output layer, for good: for a model that's there to draft."""
    head = head_of(model)
    kept = kept.to(head.weight.device)
    bias = None if getattr(head, "bias", None) is None else head.bias.detach()[kept]
    if isinstance(head, PackedLinear):
        inner: nn.Module = PackedLinear(_rows(head.quant, kept), bias, head.dtype)
    else:
        with torch.device("meta"):
            inner = nn.Linear(head.in_features, len(kept), bias=bias is not None)
        inner.weight = nn.Parameter(head.weight.detach()[kept], requires_grad=False)
        if bias is not None:
            inner.bias = nn.Parameter(bias, requires_grad=False)
    replace(model, name_of(model, head), ShortHead(inner, kept, head.out_features))


def _rows(quant: QuantWeight, kept: Tensor) -> QuantWeight:
    zero = None if quant.zero is None else quant.zero[kept]
    return QuantWeight(quant.bits, quant.group_size, quant.symmetric, quant.scale[kept], zero, quant.codes[kept])


def content(kept: Tensor) -> bytes:
    """What FILE says of those tokens."""
    return json.dumps({"tokens": kept.tolist()}).encode()


def renumbered(folder: Path, new: dict[int, int]) -> dict[str, bytes | None]:
    """FILE with the ids `new` (old -> new) alone, for a folder whose tokens are renumbered; {} where it has none."""
    if not has_words(folder):
        return {}
    try:
        left = [new[token] for token in json.loads((folder / FILE).read_text(encoding="utf-8"))["tokens"] if token in new]
    except (OSError, ValueError, KeyError, TypeError):
        left = []
    return {FILE: content(torch.tensor(left)) if left else None}


def carried(own: Path, other: Path) -> dict[str, bytes | None]:
    """FILE of the folder `own`, for a variant that takes all else from `other`, with the same tokens; {} where neither has one."""
    if has_words(own):
        return {FILE: (own / FILE).read_bytes()}
    return {FILE: None} if has_words(other) else {}


def has_words(folder: Path) -> bool:
    return (folder / FILE).is_file()


def for_drafting(loaded: Any) -> Any:
    """The loaded model (core.models.load.Loaded) with the output layer that its folder asks for where it drafts; the same object.

    Raises UserError where the file doesn't fit the model.
    """
    path = loaded.folder / FILE
    if not path.is_file() or isinstance(head_of(loaded.model), ShortHead):
        return loaded
    kept, message = _listed(path), ""
    if kept is None:
        message = "{name} can't draft with the list of tokens in {file}: it isn't a list of tokens."
    elif not can_shorten(loaded.model):
        message = "{name} can't draft with the list of tokens in {file}: the model's output layer has no row for each token."
    elif int(kept.min()) < 0 or int(kept.max()) >= head_of(loaded.model).out_features or len(kept.unique()) < len(kept):
        message = "{name} can't draft with the list of tokens in {file}: they aren't the model's."
    if message:
        raise UserError(
            message,
            hint="Delete that file: the model then drafts with all its tokens, only slower.",
            kind="model",
            name=loaded.info.name,
            file=FILE,
        )
    shorten(loaded.model, kept)
    return loaded


def _listed(path: Path) -> Tensor | None:
    """The tokens in the file; None where they can't be read, or are none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["tokens"]
        return torch.tensor(found) if found and all(type(token) is int for token in found) else None
    except (OSError, ValueError, KeyError, TypeError, RuntimeError):
        return None
