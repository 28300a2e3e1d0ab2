"""Word embeddings in packed codes, and the output layer that reads the same ones.

In a small model the embedding is half of the file. Its rows are quantized as a linear layer's are (core.models.packed); a tied
output layer has no codes of its own. How plain transformers reads such files (tried with compressed-tensors 0.20) sets what can
be stored:

    head of its own         any grid
    tied, int8              'weight' once, the head's scales beside it (a number a row); dequantized at the first forward, apart
    tied, below 8 bits      only where every weight of the model is on an asymmetric grid of as many bits: such a model is
                            dequantized while it's loaded, and tied afterwards. Elsewhere the codes have a name of their own
                            ('weight_packed') that transformers doesn't tie, so they'd have to be stored twice
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from core.errors import UserError
from core.models.blocks import replace
from core.models.packed import PackedLinear, QuantWeight, dequantize, pack, unpack


class PackedEmbedding(nn.Module):
    """An embedding whose rows stay packed; those that are looked up are dequantized. `weight` is a dequantized copy of all."""

    def __init__(self, quant: QuantWeight, dtype: torch.dtype, embed_scale: torch.Tensor | float | None = None):
        """dtype: of what's returned; embed_scale: what some models multiply it by (Gemma)."""
        super().__init__()
        self.bits, self.group_size, self.symmetric, self.kind = quant.bits, quant.group_size, quant.symmetric, quant.kind
        self.activation = None
        self.num_embeddings, self.embedding_dim = quant.shape
        if quant.bits == 8:
            self.register_buffer("weight_codes", quant.codes)  # (tokens, width) int8
        else:
            self.register_buffer("weight_packed", pack(quant.codes, quant.bits))  # (tokens, ceil(width * bits / 32)) int32
        self.register_buffer("weight_scale", quant.scale)  # (tokens, groups)
        self.register_buffer("weight_zero_point", quant.zero)  # (tokens, groups) int8, or None
        self.register_buffer("_like", torch.empty(0, dtype=dtype, device=quant.scale.device), persistent=False)
        scale = None if embed_scale is None else torch.as_tensor(embed_scale, device=quant.scale.device)
        self.register_buffer("embed_scale", scale, persistent=False)

    @classmethod
    def from_embedding(cls, embedding: nn.Module, quant: QuantWeight, dtype: torch.dtype) -> PackedEmbedding:
        """In place of `embedding`. Raises UserError for a class of embedding that does what isn't known here."""
        scale = getattr(embedding, "embed_scale", None)
        if not isinstance(embedding, nn.Embedding) or (type(embedding) is not nn.Embedding and scale is None):
            raise UserError(
                "A {layer} can't be stored packed: it isn't a plain embedding.",
                hint="Leave the embedding as it is.",
                kind="model",
                layer=type(embedding).__name__,
            )
        return cls(quant, dtype, scale)

    def _apply(self, fn, recurse=True):
        scale = self.weight_scale
        super()._apply(fn, recurse)
        self.weight_scale = scale.to(self.weight_scale.device)
        return self

    @property
    def dtype(self) -> torch.dtype:
        return self._like.dtype

    @property
    def quant(self) -> QuantWeight:
        codes = self.weight_codes if self.bits == 8 else unpack(self.weight_packed, self.bits, (self.num_embeddings, self.embedding_dim))
        return QuantWeight(self.bits, self.group_size, self.symmetric, self.weight_scale, self.weight_zero_point, codes)

    @property
    def weight(self) -> torch.Tensor:
        return dequantize(self.quant, self.dtype)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        rows, where = ids.unique(return_inverse=True)
        codes = self.weight_codes[rows] if self.bits == 8 else unpack(self.weight_packed[rows], self.bits, (len(rows), self.embedding_dim))
        zero = None if self.weight_zero_point is None else self.weight_zero_point[rows]
        quant = QuantWeight(self.bits, self.group_size, self.symmetric, self.weight_scale[rows], zero, codes)
        out = F.embedding(where, dequantize(quant, self.dtype))  # (..., width)
        return out if self.embed_scale is None else out * self.embed_scale.to(out.dtype)

    def extra_repr(self) -> str:
        return (
            f"{self.num_embeddings}, {self.embedding_dim}, {self.bits} bits, {f'group {self.group_size}' if self.group_size else 'per row'}"
        )


class TiedHead(PackedLinear):
    """The output layer that reads the codes of the embedding: it holds none itself, and nothing of it is in the state."""

    def __init__(self, embedding: PackedEmbedding, bias: torch.Tensor | None = None):
        nn.Module.__init__(self)
        object.__setattr__(self, "_table", embedding)  # not a submodule: it is one of the model already
        self.bits, self.group_size, self.symmetric, self.kind = embedding.bits, embedding.group_size, embedding.symmetric, embedding.kind
        self.activation, self.input_scale, self.input_zero_point = None, None, None
        self.out_features, self.in_features = embedding.num_embeddings, embedding.embedding_dim
        self.bias = None if bias is None else nn.Parameter(bias.detach(), requires_grad=False)

    def __getattr__(self, name: str):
        if name in ("weight_codes", "weight_packed", "weight_scale", "weight_zero_point", "_like"):
            return getattr(self._table, name)
        return super().__getattr__(name)

    def _apply(self, fn, recurse=True):
        return nn.Module._apply(self, fn, recurse)


def is_tied(model: nn.Module) -> bool:
    """Whether the output layer reads the embedding's weight."""
    head, embedding = head_of(model), model.get_input_embeddings()
    return head is not None and getattr(head, "weight", None) is getattr(embedding, "weight", 0)


def head_of(model: nn.Module) -> nn.Module | None:
    """The layer that maps to the vocabulary; None where the model has none."""
    return getattr(model, "get_output_embeddings", lambda: None)()


def name_of(model: nn.Module, wanted: nn.Module) -> str:
    """The name of a module that the model has."""
    return next(name for name, module in model.named_modules() if module is wanted)


def pack_embedding(model: nn.Module, quant: QuantWeight, dtype: torch.dtype) -> None:
    """Puts a PackedEmbedding of `quant` in place of the model's embedding, and a TiedHead in place of a head that was tied to it."""
    embedding, head, tied = model.get_input_embeddings(), head_of(model), is_tied(model)
    made = PackedEmbedding.from_embedding(embedding, quant, dtype)
    replace(model, name_of(model, embedding), made)
    if tied:
        replace(model, name_of(model, head), TiedHead(made, head.bias))


def tied_problem(bits: int, symmetric: bool, others: set[tuple[int, bool]]) -> str:
    """Why an embedding on this grid, tied to the head, can't be stored beside weights on `others` ((bits, symmetric)); '' where it can."""
    if bits == 8:
        mixed = any(b < 8 and not s for b, s in others)
        return "an 8-bit embedding can't be mixed with weights below 8 bits that have an offset" if mixed else ""
    if symmetric or others - {(bits, symmetric)}:
        return (
            f"a tied embedding in {bits} bits is only reloaded once, rather than stored twice, where all weights are in {bits} bits "
            "with an offset"
        )
    return ""
