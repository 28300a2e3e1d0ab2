"""A model with its key-value cache, which can be taken back by some tokens.

`CachedModel.forward` feeds tokens after those in the cache; `crop` forgets the last of them. `forward_tree` feeds tokens that
go on from each other in a tree, and `keep_path` forgets all but one path of it. Covers decoder-only transformers with
attention in every layer. A sliding window's keys and values are all kept, and its mask alone does the windowing, so they
can be taken back, too. A recurrent state can't, and such a model is refused for drafting, with the reason. Batches aren't here.

Semantics of transformers 5.24: the keyword is `cache`; `crop` takes zero or a negative count of tokens to forget; a mask of
four dimensions is used as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

import torch
from torch import Tensor
from transformers.cache_utils import DummyLayer, DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from core.errors import UserError

RESERVED = 4096  # tokens: a longer text's buffers grow as it does
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

    def require_trees(self) -> None:
        """Raises UserError where `forward_tree` can't be right."""

    def forward_tree(self, ids: list[int], parents: list[int], keep: int) -> Tensor:
        """Feeds a tree: token i follows token parents[i] < i of these, or, at -1, the cache. As `forward` otherwise."""

    def keep_path(self, places: list[int]) -> None:
        """Of what the last `forward_tree` fed, keeps the tokens at these places, which are a path from the cache on."""

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


def cached_model(model, **how) -> Scorer:
    """The model with an empty cache: as CachedModel makes it, or as a model that isn't torch's makes it itself (its `scorer`)."""
    return model.scorer(**how) if hasattr(model, "scorer") else CachedModel(model, **how)


class BufferedLayer(DynamicLayer):
    """Keys and values in a buffer that grows by halves, so that a token costs its own copy and not the whole past's.

    transformers' own layer concatenates, which at 1,000 tokens of SmolLM2 copies 46 MB for each new one.
    """

    def __init__(self, room: int = 0):
        super().__init__()
        self._first = max(256, room)
        self._room = self._length = 0

    def lazy_initialization(self, key_states: Tensor, value_states: Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        self._room = self._length = 0

    def update(self, key_states: Tensor, value_states: Tensor, *args, **kwargs) -> tuple[Tensor, Tensor]:
        """key_states, value_states: (batch, heads, new, head_dim); returns those of the whole past."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        begin, end = self._length, self._length + key_states.shape[-2]
        if end > self._room:
            self._room = max(self._first, end + end // 2)
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

    def keep(self, start: int, places: list[int]) -> None:
        """Forgets everything from position `start` on but what lies at `places`, which moves up."""
        end = start + len(places)
        moved = next((i for i, place in enumerate(places) if place != start + i), None)
        if moved is not None:
            for buffer in (self._keys, self._values):
                buffer[:, :, start + moved : end] = buffer[:, :, places[moved:]]  # indexing by a list copies first
        self._show(end)

    def tail(self, start: int) -> tuple[Tensor, Tensor]:
        """A copy of the keys and values from position `start` on."""
        return self.keys[:, :, start:].clone(), self.values[:, :, start:].clone()

    def put(self, start: int, tail: tuple[Tensor, Tensor]) -> None:
        """Makes what lies from position `start` on what `tail` returned."""
        end = start + tail[0].shape[-2]
        self._keys[:, :, start:end], self._values[:, :, start:end] = tail
        self._show(end)

    def _show(self, length: int) -> None:
        self._length = length
        self.keys, self.values = self._keys[:, :, :length], self._values[:, :, :length]


class WindowLayer(BufferedLayer):
    """A sliding window's past, kept whole: what leaves the window is hidden by the mask, and comes back when the cache is cropped.

    transformers' own forgets it, or, told to record, until the next crop. Costs memory for the whole text.
    """

    is_sliding = True  # the mask is that of a window; its sizes are a full layer's

    def __init__(self, window: int, room: int = 0):
        super().__init__(room)
        self.sliding_window = window


def _grown(old: Tensor, like: Tensor, room: int, used: int) -> Tensor:
    new = like.new_empty((*like.shape[:-2], room, like.shape[-1]))
    if used:
        new[:, :, :used] = old
    return new


TREE_LAYERS = (BufferedLayer, WindowLayer, DummyLayer)


def tree_mask(parents: list[int], cached: int) -> tuple[list[int], Tensor]:
    """The depth of each node, and what it may attend to: the cache, its ancestors and itself, as (nodes, cached + nodes) of bool."""
    depths: list[int] = []
    allowed = torch.zeros(len(parents), cached + len(parents), dtype=torch.bool)
    allowed[:, :cached] = True
    for node, parent in enumerate(parents):
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
        if parent >= 0:
            allowed[node] = allowed[parent]
        allowed[node, cached + node] = True
    return depths, allowed


class CachedModel:
    """A transformers causal language model in inference, batch of one.

    vocabulary: how many tokens the tokenizer has; further columns of the logits are padding and are cut off, and tokens
    without a column can't come. None: as many as columns.
    rollback: whether `crop` will be asked for; refuses, with a UserError, a model that can't. False keeps of a sliding window
    only the window.
    longest: the longest sequence expected, drafted tokens included; room is made for it at once.
    kv_bits: 8 or 4 to keep keys and values rounded (see kv_quant); None keeps them as they are.
    """

    def __init__(
        self,
        model,
        *,
        name: str = "",
        vocabulary: int | None = None,
        rollback: bool = True,
        longest: int | None = None,
        kv_bits: Literal[8, 4] | None = None,
    ):
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
        weight = getattr(model.get_input_embeddings(), "weight", None)
        self._rows = weight.shape[0] if weight is not None else config.vocab_size
        self._keeps_logits = "logits_to_keep" in accepted
        self._takes_trees = "position_ids" in accepted and "attention_mask" in accepted
        self._rollback, self._reserved, self.kv_bits = rollback, min(longest or 0, RESERVED), kv_bits
        self._cache = self._empty()
        self._fork, self._branched = 0, False  # tokens that were cached before the last tree; whether it's there still
        if rollback:
            self._refuse_one_way_layers()

    @property
    def length(self) -> int:
        return len(self.ids)

    def _empty(self) -> DynamicCache:
        from core.decode import kv_quant  # it builds on this module's layers

        cache, kinds, bits = DynamicCache(config=self.model.config), self._kinds(), self.kv_bits
        for i, layer in enumerate(cache.layers):
            if type(layer) is DynamicLayer:
                cache.layers[i] = kv_quant.layer(bits, self._reserved) if bits else BufferedLayer(self._reserved)
            elif (self._rollback or bits) and type(layer) is DynamicSlidingWindowLayer and kinds.get(i) != "chunked_attention":
                window = layer.sliding_window
                cache.layers[i] = kv_quant.layer(bits, self._reserved, window) if bits else WindowLayer(window, self._reserved)
        if cache.layer_class_to_replicate is DynamicLayer:
            cache.layer_class_to_replicate = kv_quant.kind_of(bits) if bits else BufferedLayer
        return cache

    def _kinds(self) -> dict[int, str]:
        """What each layer's attention is, where the configuration says so."""
        return dict(enumerate(getattr(self.model.config.get_text_config(decoder=True), "layer_types", None) or ()))

    def _refuse_one_way_layers(self) -> None:
        for layer in self._cache.layers:
            if hasattr(layer, "recurrent_states") or not layer.is_croppable or isinstance(layer, DynamicSlidingWindowLayer):
                raise UserError(
                    "{name} has layers whose state can't be taken back ({layer}), so it can't draft or check drafts.",
                    hint="Decode it plainly, or choose a model with attention in every layer.",
                    kind="model",
                    name=self.name,
                    layer=type(layer).__name__,
                )

    @torch.inference_mode()
    def forward(self, ids: list[int], keep: int) -> Tensor:
        extra = {self._cache_word: self._cache, "use_cache": True}
        if self._keeps_logits:
            extra["logits_to_keep"] = keep
        return self._feed(ids, keep, extra)

    def _feed(self, ids: list[int], keep: int, extra: dict) -> Tensor:
        self._refuse_unknown(max(ids))
        logits = self.model(input_ids=torch.tensor([ids], device=self.device), **extra).logits[0]  # (keep or all, columns)
        self.ids.extend(ids)
        logits = logits[-keep:, : self.vocabulary]
        lacking = self.vocabulary - logits.shape[-1]
        return logits if not lacking else torch.nn.functional.pad(logits, (0, lacking), value=-torch.inf)

    def _refuse_unknown(self, token: int) -> None:
        if token >= self._rows:
            raise UserError(
                "{name} can't read token {token} of its tokenizer's: it has embeddings for {rows} tokens only.",
                hint="Leave that text out, or put the tokenizer that belongs to the model into its folder and import it again.",
                kind="model",
                name=self.name,
                token=token,
                rows=self._rows,
            )

    @torch.inference_mode()
    def forward_tree(self, ids: list[int], parents: list[int], keep: int) -> Tensor:
        self._fork, self._branched = self.length, True
        if parents == list(range(-1, len(ids) - 1)):  # a chain
            return self.forward(ids, keep)
        extra = {self._cache_word: self._cache, "use_cache": True}
        if self._keeps_logits:
            extra["logits_to_keep"] = keep
        depths, mask = tree_mask(parents, self._fork)  # (new,), (new, cached + new)
        extra["position_ids"] = torch.tensor([depths], device=self.device) + self._fork
        extra["attention_mask"] = self._masks(mask, extra["position_ids"][0])
        return self._feed(ids, keep, extra)

    def _masks(self, allowed: Tensor, positions: Tensor):
        """What to add to the attention scores: one mask (1, 1, new, cached + new), or one for each kind of layer."""
        dtype = next(self.model.parameters()).dtype
        allowed, lowest = allowed.to(self.device), torch.finfo(dtype).min

        def added(window: int | None) -> Tensor:
            seen = allowed
            if window is not None:
                at = torch.cat([torch.arange(self._fork, device=self.device), positions])  # of every key
                seen = seen & (positions[:, None] - at < window)
            return torch.zeros(seen.shape, dtype=dtype, device=self.device).masked_fill(~seen, lowest)[None, None]

        layers = [(i, layer) for i, layer in enumerate(self._cache.layers) if isinstance(layer, BufferedLayer)]
        windows = {i: getattr(layer, "sliding_window", None) for i, layer in layers}
        if len(set(windows.values())) < 2:
            return added(next(iter(windows.values()), None))
        kinds = self._kinds()
        return {kind: added(windows[next(i for i in windows if kinds[i] == kind)]) for kind in {kinds[i] for i in windows}}

    @torch.inference_mode()
    def keep_path(self, places: list[int]) -> None:
        wanted = [self._fork + place for place in places]
        for layer in self._cache.layers:
            if isinstance(layer, BufferedLayer) and layer.is_initialized:
                layer.keep(self._fork, wanted)
        self.ids[self._fork :] = [self.ids[place] for place in wanted]
        self._branched = False

    def require_trees(self) -> None:
        """Raises UserError where the model doesn't read a tree as it reads the tree's paths: tried on five tokens."""
        config = self.model.config.get_text_config(decoder=True)
        attention = getattr(config, "_attn_implementation", None)
        if not self._takes_trees or attention not in ("sdpa", "eager") or not all(isinstance(x, TREE_LAYERS) for x in self._cache.layers):
            self._refuse_trees(attention or "")
        trial = CachedModel(self.model, name=self.name, vocabulary=self.vocabulary, kv_bits=self.kv_bits)
        ids = [token % self.vocabulary for token in (1, 2, 3, 5, 7)]
        straight = trial.forward([ids[i] for i in (0, 1, 2, 4)], 1)
        trial.crop(1)
        try:
            branched = trial.forward_tree(ids[1:], [-1, 0, 0, 1], 1)  # 0 - 1 - 2 - 4, and 3 beside 2
        except (TypeError, ValueError, RuntimeError, KeyError, AttributeError) as error:
            self._refuse_trees(f"{type(error).__name__}: {error}")
        # Rounding apart: another mask may take another kernel.
        close = 1e-3 if straight.dtype == torch.float32 else 0.1
        finite = straight.isfinite()
        if not finite.any():  # damaged weights, of which decoding tells
            return
        if not float((straight - branched)[finite].abs().max()) <= close * max(1.0, float(straight[finite].abs().max())):
            self._refuse_trees("the logits of a branch aren't those of its path")

    def _refuse_trees(self, detail: str) -> None:
        raise UserError(
            "{name} ({architecture}) can't read several continuations at once, so it can't check a tree of drafts.",
            hint="Choose the token or the block rule.",
            kind="model",
            detail=detail,
            name=self.name,
            architecture=type(self.model).__name__,
        )

    def crop(self, length: int) -> None:
        extra = self.length - length
        if extra > 0:
            self._cache.crop(-extra)
            del self.ids[length:]

    def begin(self, ids: list[int]) -> int:
        if self._rollback and self._cache.get_seq_length() != self.length:  # an error came in the middle of a forward
            self._cache, self.ids = self._empty(), []
        if self._branched:  # or before a tree's path was chosen
            self.crop(self._fork)
        kept = min(shared(self.ids, ids), len(ids) - 1)
        if kept < self.length and not self._rollback:  # nothing can be taken back, so it begins anew
            self._cache, self.ids = self._empty(), []
        self.crop(kept)
        return self.length

    def uncached(self, ids: Tensor, keep: int) -> Tensor:
        """The last `keep` logits, (keep, vocabulary), of a text (1, tokens) read from its beginning; the cache isn't touched."""
        self._refuse_unknown(int(ids.max()))
        extra = {"logits_to_keep": keep} if self._keeps_logits else {}
        return self.model(input_ids=ids, use_cache=False, **extra).logits[0, -keep:, : self.vocabulary]

    def layer_caches(self) -> list:
        """The cache's layers."""
        return self._cache.layers

    @contextmanager
    def borrowed(self, length: int) -> Iterator[None]:
        """Within, the cache looks as if it held the first `length` tokens only, and any layers may write on; then it's as it was.

        For whoever runs some of the model's layers on the target's own past. Costs a copy of the tokens after `length`.
        """
        layers = [layer for layer in self._cache.layers if isinstance(layer, BufferedLayer) and layer.is_initialized]
        ids = self.ids
        with torch.inference_mode():
            tails = [layer.tail(length) for layer in layers]
            self.ids = list(ids)
            self.crop(length)
            try:
                yield
            finally:
                for layer, tail in zip(layers, tails, strict=True):
                    layer.put(length, tail)
                self.ids = ids

    def wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        elif self.device.type == "mps":
            torch.mps.synchronize()
