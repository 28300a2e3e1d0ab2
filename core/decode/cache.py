"""A model with its key-value cache, which can be taken back by some tokens.

`CachedModel.forward` feeds tokens after those in the cache; `crop` forgets the last of them. Covers decoder-only
transformers whose whole past is kept. Where a layer keeps less (a sliding window that was outgrown, a recurrent state)
nothing can be taken back exactly, and such a model is refused for drafting, with the reason. Batches aren't here.

Semantics of transformers 5.24: the keyword is `cache`; `crop` takes zero or a negative count of tokens to forget.
"""

from __future__ import annotations

import inspect
from typing import Protocol

import torch
from torch import Tensor
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from core.errors import UserError

CHUNK = 2048  # tokens a forward when a prompt is read: bounds memory, and lets a cancel through


class Scorer(Protocol):
    """What decoding needs of a model. CachedModel is the real one."""

    name: str
    ids: list[int]  # the tokens in the cache
    length: int  # how many that are
    context: int | None  # the longest sequence it can read
    vocabulary: int  # columns of its logits
    device: torch.device

    def forward(self, ids: list[int], keep: int) -> Tensor:
        """Feeds ids after the cache. Returns the logits at the last `keep` of them: (keep, vocabulary)."""

    def crop(self, length: int) -> None:
        """Forgets tokens until `length` are left; no-op where there are no more than that."""

    def begin(self, ids: list[int]) -> int:
        """Forgets what isn't the beginning of `ids`, and the last of `ids`, whose logits are still to be computed.

        Returns how many tokens are left in the cache: what needn't be read again.
        """

    def wait(self) -> None:
        """Returns when the device has finished, so that a clock read now is true."""


def read(model: Scorer, ids: list[int], keep: int, between=lambda: None) -> Tensor:
    """Feeds any number of tokens, in chunks, with a call of `between` after each. Returns the last `keep` logits: (keep, vocabulary)."""
    while len(ids) > CHUNK + keep:
        model.forward(ids[:CHUNK], 1)
        ids = ids[CHUNK:]
        between()
    return model.forward(ids, keep)


def shared(a: list[int], b: list[int], start: int = 0) -> int:
    """How many first tokens two sequences have in common, where the first `start` are known to be the same."""
    end = min(len(a), len(b))
    if a[start:end] == b[start:end]:
        return max(start, end)
    return next(i for i in range(start, end) if a[i] != b[i])


class BufferedLayer(DynamicLayer):
    """Keys and values in a buffer that grows by halves, so that a token costs its own copy and not the whole past's.

    transformers' own layer concatenates, which at 1,000 tokens of SmolLM2 copies 46 MB for each new one.
    """

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        self._room = 0
        self._length = 0

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        """key_states, value_states: (batch, heads, new, head_dim); returns those of the whole past."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        begin, end = self._length, self._length + key_states.shape[-2]
        if end > self._room:
            self._room = max(256, end + end // 2)
            self._keys = _grown(self.keys, key_states, self._room, begin)
            self._values = _grown(self.values, value_states, self._room, begin)
        self._keys[:, :, begin:end] = key_states
        self._values[:, :, begin:end] = value_states
        self._show(end)
        return self.keys, self.values

    def crop(self, tokens_to_remove: int) -> None:
        if tokens_to_remove > 0:
            raise ValueError("crop takes the number of tokens to forget as a negative number")
        if self.is_initialized and tokens_to_remove:
            self._show(max(0, self._length + tokens_to_remove))

    def reset(self) -> None:
        self._keys = self._values = None
        self._room = self._length = 0
        super().reset()

    def _show(self, length: int) -> None:
        self._length = length
        self.keys, self.values = self._keys[:, :, :length], self._values[:, :, :length]


def _grown(old: Tensor, like: Tensor, room: int, used: int) -> Tensor:
    new = like.new_empty((*like.shape[:-2], room, like.shape[-1]))
    if used:
        new[:, :, :used] = old
    return new


class CachedModel:
    """A transformers causal language model in inference, batch of one.

    vocabulary: how many tokens the tokenizer has; further columns of the logits are padding and are cut off, and tokens
    without a column can't come. None: as many as columns.
    rollback: whether `crop` will be asked for; refuses, with a UserError, a model that can't.
    longest: the longest sequence that will be fed, drafted tokens included; a sliding window up to this long is whole.
    """

    def __init__(self, model, *, name: str = "", vocabulary: int | None = None, rollback: bool = True, longest: int | None = None):
        self.model, self.name = model, name or type(model).__name__
        self.device = next(model.parameters()).device
        config = model.config.get_text_config(decoder=True)
        self.context = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
        self.vocabulary = vocabulary or config.vocab_size
        self.ids: list[int] = []
        accepted = inspect.signature(model.forward).parameters
        self._cache_word = next((word for word in ("cache", "past_key_values") if word in accepted), None)
        if self._cache_word is None or getattr(model.config, "is_encoder_decoder", False):
            raise UserError(
                "{name} ({architecture}) doesn't keep its past as a decoder's key-value cache, so it can't be decoded here.",
                hint="Choose a decoder-only transformer.",
                kind="model",
                name=self.name,
                architecture=type(model).__name__,
            )
        self._keeps_logits = "logits_to_keep" in accepted
        self._rollback = rollback
        self._cache = self._empty()
        if rollback:
            self._refuse_one_way_layers(longest)

    @property
    def length(self) -> int:
        return len(self.ids)

    def _empty(self) -> DynamicCache:
        cache = DynamicCache(config=self.model.config)
        cache.layers = [BufferedLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
        if cache.layer_class_to_replicate is DynamicLayer:
            cache.layer_class_to_replicate = BufferedLayer
        return cache

    def _refuse_one_way_layers(self, longest: int | None) -> None:
        for layer in self._cache.layers:
            kind = type(layer).__name__
            if isinstance(layer, DynamicSlidingWindowLayer) and not hasattr(layer, "recurrent_states"):
                if longest is not None and longest < layer.sliding_window:
                    continue  # nothing ever leaves the window, so it's a full cache
                raise UserError(
                    "{name} remembers only the last {window} tokens (a sliding window), so drafted tokens can't be taken back exactly.",
                    hint="Decode it plainly, keep the text below {window} tokens, or choose a model with full attention.",
                    kind="model",
                    name=self.name,
                    window=layer.sliding_window,
                )
            if hasattr(layer, "recurrent_states") or not layer.is_croppable:
                raise UserError(
                    "{name} has layers whose state can't be taken back ({layer}), so it can't draft or check drafts.",
                    hint="Decode it plainly, or choose a model with attention in every layer.",
                    kind="model",
                    name=self.name,
                    layer=kind,
                )

    @torch.inference_mode()
    def forward(self, ids: list[int], keep: int) -> Tensor:
        extra = {self._cache_word: self._cache, "use_cache": True}
        if self._keeps_logits:
            extra["logits_to_keep"] = keep
        logits = self.model(input_ids=torch.tensor([ids], device=self.device), **extra).logits[0]  # (keep or all, columns)
        self.ids.extend(ids)
        logits = logits[-keep:, : self.vocabulary]
        lacking = self.vocabulary - logits.shape[-1]
        return logits if not lacking else torch.nn.functional.pad(logits, (0, lacking), value=-torch.inf)

    def crop(self, length: int) -> None:
        extra = self.length - length
        if extra > 0:
            self._cache.crop(-extra)
            del self.ids[length:]

    def begin(self, ids: list[int]) -> int:
        kept = min(shared(self.ids, ids), len(ids) - 1)
        if kept < self.length and not self._rollback:  # nothing can be taken back, so it begins anew
            self._cache, self.ids = self._empty(), []
        self.crop(kept)
        return self.length

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()
