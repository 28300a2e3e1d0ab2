"""An exported language model in the decoding engine: onnxruntime computes, and tokens can be taken back by cutting its cache.

`load_exported` gives what `core.models.load.load` gives for a folder of weights; its model's `scorer` gives what
core.decode.cache.CachedModel is for one: the engine's Scorer. Both profiles. What needs more than logits of a text after a
cache isn't here: trees (the graph has no mask for them), rounded caches, the model's own layers.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from core.errors import UserError
from core.export.runtime import CausalSession, graph_file, open_session, provider_of
from core.export.target import REPORT
from core.models import inspect
from core.models.load import Loaded, load_tokenizer
from core.records import SourceInfo
from core.workspace import read_json

CHUNK = 256  # tokens a call when a prompt is read: the graph gives logits of every one of them, a vocabulary wide


def load_exported(folder: str | Path, *, name: str = "", threads: int | None = None, provider: str = "") -> Loaded:
    """An exported folder as core.models.load.load would give it. Raises UserError: whatever `open_session` finds wrong, an encoder."""
    folder = Path(folder)
    model = ExportedModel(folder, threads=threads, provider=provider)
    tokenizer = load_tokenizer(folder) if (folder / "tokenizer.json").is_file() else None
    report = read_json(folder / REPORT) if (folder / REPORT).is_file() else {}
    info = SourceInfo(
        source=str(folder),
        kind="folder",
        name=name or folder.name,
        architecture=str(report.get("architecture") or ""),
        task="causal-lm",
        bytes_on_disk=sum(p.stat().st_size for p in graph_file(folder).parent.iterdir() if p.is_file()),
        tokenizer=tokenizer is not None,
        tokens_hash=inspect.tokens_hash(folder) if tokenizer is not None else "",
        chat_template=bool(getattr(tokenizer, "chat_template", None)),
        layers=len(model.causal.past) // 2,
        vocabulary=model.rows,
        context=model.context,
    )
    return Loaded(model, tokenizer, info, folder, "cpu", torch.float32)


class ExportedModel:
    """A session with what the decode lab asks of a model. It isn't a module of torch's: nothing in it can be changed or looked into."""

    exported = True

    def __init__(self, folder: Path, *, threads: int | None = None, provider: str = ""):
        import transformers

        self.folder = folder
        self.causal = CausalSession(open_session(folder, threads, provider, in_turns=True))
        if self.causal.batch not in (None, 1):
            raise UserError(
                "This graph takes batch {batch} only, and decoding is of one text at a time.",
                hint="Export the model again.",
                batch=self.causal.batch,
            )
        self.provider = provider_of(self.causal.session)
        self.config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        generation = read_json(folder / "generation_config.json") if (folder / "generation_config.json").is_file() else {}
        self.generation_config = SimpleNamespace(eos_token_id=generation.get("eos_token_id"))
        text = self.config.get_text_config(decoder=True)
        self.context = getattr(text, "max_position_embeddings", None) or getattr(text, "n_positions", None)
        self.rows = text.vocab_size

    @property
    def nbytes(self) -> int:
        """Of its weights as they're stored; onnxruntime doesn't say what it makes of them in memory."""
        place = graph_file(self.folder)
        return sum(p.stat().st_size for p in place.parent.iterdir() if p.name.startswith(place.name))

    def scorer(
        self,
        *,
        name: str = "",
        vocabulary: int | None = None,
        rollback: bool = True,
        longest: int | None = None,
        kv_bits: Literal[8, 4] | None = None,
    ) -> ExportedScorer:
        if kv_bits:
            raise UserError(
                "{name} is an ONNX export, whose keys and values are kept as its graph gives them, so they can't be rounded.",
                hint="Leave the cache unrounded, or decode with the variant itself.",
                name=name,
            )
        return ExportedScorer(self, name=name, vocabulary=vocabulary)


class ExportedScorer:
    """The model with a cache of its own: a text, one at a time. See core.decode.cache.Scorer.

    vocabulary: how many tokens the tokenizer has; further columns of the logits are padding and are cut off, missing ones can't come.
    """

    device = torch.device("cpu")
    kv_bits = None

    def __init__(self, model: ExportedModel, *, name: str = "", vocabulary: int | None = None):
        self.model, self.name = model, name or model.folder.name
        self.context, self.vocabulary = model.context, vocabulary or model.rows
        self.ids: list[int] = []
        self._cache = model.causal.empty(1)

    @property
    def length(self) -> int:
        return len(self.ids)

    def forward(self, ids: list[int], keep: int) -> Tensor:
        if max(ids) >= self.model.rows:
            raise UserError(
                "{name} can't read token {token} of its tokenizer's: it has embeddings for {rows} tokens only.",
                hint="Leave that text out, or export the model again with the tokenizer that belongs to it.",
                kind="model",
                name=self.name,
                token=max(ids),
                rows=self.model.rows,
            )
        while len(ids) > keep + CHUNK:
            self._feed(ids[:CHUNK])
            ids = ids[CHUNK:]
        logits = torch.from_numpy(self._feed(ids)[-keep:, : self.vocabulary]).float()  # (keep, columns)
        lacking = self.vocabulary - logits.shape[-1]
        return logits if not lacking else torch.nn.functional.pad(logits, (0, lacking), value=-torch.inf)

    def _feed(self, ids: list[int]) -> np.ndarray:
        mask = np.ones((1, self.length + len(ids)), np.int64)
        logits, self._cache = self.model.causal.step(np.array([ids], np.int64), mask, self._cache)
        self.ids.extend(ids)
        return logits[0]  # (new, columns)

    def crop(self, length: int) -> None:
        if length < self.length:
            self._cache.crop(length)
            del self.ids[length:]

    def begin(self, ids: list[int]) -> int:
        same = next((i for i, (a, b) in enumerate(zip(self.ids, ids, strict=False)) if a != b), min(self.length, len(ids)))
        self.crop(min(same, len(ids) - 1))
        return self.length

    def require_trees(self) -> None:
        raise UserError(
            "{name} is an ONNX export, whose graph reads one continuation at a time, so it can't check a tree of drafts.",
            hint="Choose the token or the block rule.",
            kind="model",
            name=self.name,
        )

    def forward_tree(self, ids: list[int], parents: list[int], keep: int) -> Tensor:
        self.require_trees()
        raise AssertionError  # the line above has raised

    def keep_path(self, places: list[int]) -> None:
        self.require_trees()

    def layer_caches(self) -> list[Any]:
        """Each layer's keys and values, as far as counting their bytes needs them."""
        values = [torch.from_numpy(array) for array in self._cache.arrays()]
        return [_Layer(keys, found) for keys, found in zip(values[::2], values[1::2], strict=True)]

    def wait(self) -> None:
        """onnxruntime's calls return when they're done."""


class _Layer:
    is_initialized = True

    def __init__(self, keys: Tensor, values: Tensor):
        self.keys, self.values = keys, values
