"""Running an exported folder with onnxruntime alone: opening it with sentences for what can be wrong, and greedy generation.

Needs numpy, onnx, onnxruntime and tokenizers; neither torch nor transformers. Sampling isn't covered: what is shown here is
that the file works, and at which speed. onnxruntime comes in where it's used: its import takes time and a thread, and most workers
never export.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx

from core import providers
from core.errors import UserError
from core.workspace import read_json

if TYPE_CHECKING:
    import onnxruntime

    from core.export.cache import Grown, InPlace

GRAPH, DATA = "model.onnx", "model.onnx.data"
CACHE, IN_PLACE = "spokeshave.cache", "in place"  # in a graph's metadata: its attention can write behind the keys and values it's given
NAMES = {"fp32": "model", "fp16": "model_fp16", "q8": "model_quantized", "q4": "model_q4"}  # of Transformers.js, by precision
TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int64)": np.int64, "tensor(int32)": np.int32}


def graph_file(folder: Path) -> Path:
    """Where the graph of an export is: model.onnx, or the one in the folder 'onnx' that Transformers.js looks into; a graph itself stays.

    Of several there, the one that config.json names. Raises UserError where it names none.
    """
    folder = Path(folder)
    if folder.suffix == ".onnx":
        return folder
    if (folder / "unet" / GRAPH).is_file():  # a pipeline that draws
        return folder / "unet" / GRAPH
    others = sorted((folder / "onnx").glob("*.onnx"))
    if not others or (folder / GRAPH).is_file():
        return folder / GRAPH
    if len(others) == 1:
        return others[0]
    config = read_json(folder / "config.json") if (folder / "config.json").is_file() else {}
    dtype = (config.get("transformers.js_config") or {}).get("dtype")
    named = folder / "onnx" / f"{NAMES.get(dtype, '')}.onnx"
    if named not in others:
        raise UserError(
            "{folder} holds {count} graphs, and nothing in it says which is meant: {names}.",
            hint="Choose the file itself.",
            folder=str(folder),
            count=len(others),
            names=", ".join(path.name for path in others),
        )
    return named


def read_graph(folder: Path) -> onnx.ModelProto:
    """The graph of an export, without its external data. Raises UserError where it's missing or isn't one."""
    path = graph_file(folder)
    if not path.is_file():
        raise UserError(
            "{folder} holds no {file}, so it isn't an ONNX export.",
            hint="Choose the folder that an export was written to.",
            folder=str(folder),
            file=GRAPH,
        )
    try:
        graph = onnx.load(path, load_external_data=False)
    except Exception as error:  # protobuf raises its own kinds for a damaged file
        raise _damaged(path, str(error)) from error
    if not graph.graph.node:
        raise _damaged(path, "the graph has no nodes")
    return graph


def _damaged(path: Path, detail: str) -> UserError:
    return UserError(
        "{path} is damaged and can't be read as an ONNX graph.",
        hint="Export the model again.",
        kind="model",
        path=str(path),
        detail=detail,
    )


def tensors_of(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    """All stored tensors of a graph and of the graphs within it."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t
            elif attribute.type == onnx.AttributeProto.GRAPH:
                yield from tensors_of(attribute.g)


def referenced(model: onnx.ModelProto) -> dict[str, list[tuple[int, int]]]:
    """External data file -> the (offset, length) ranges in it that the graph refers to, each once."""
    files: dict[str, set[tuple[int, int]]] = {}
    for tensor in tensors_of(model.graph):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            entry = {e.key: e.value for e in tensor.external_data}
            files.setdefault(entry["location"], set()).add((int(entry.get("offset", 0)), int(entry.get("length", 0))))
    return {name: sorted(ranges) for name, ranges in files.items()}


def data_problem(folder: Path) -> UserError | None:
    """What `check_data` finds about the export in a folder; None where its weights are all there."""
    try:
        check_data(folder, read_graph(folder))
    except UserError as problem:
        return problem
    return None


def check_data(folder: Path, model: onnx.ModelProto) -> None:
    """Raises UserError where an external data file is missing or ends before what the graph refers to."""
    for name, ranges in referenced(model).items():
        path = graph_file(folder).parent / name
        if not path.is_file():
            raise UserError(
                "The weights' file {file} is missing beside {graph}.",
                hint="Copy both files together, or export the model again.",
                kind="model",
                file=name,
                graph=graph_file(folder).name,
            )
        needed, there = max(offset + length for offset, length in ranges), path.stat().st_size
        if there < needed:
            raise UserError(
                "The weights' file {file} is cut short: {there} bytes of {needed} are there.",
                hint="Copy it again, or export the model again.",
                kind="model",
                file=name,
                there=there,
                needed=needed,
            )


def open_session(folder: Path, threads: int | None = None, provider: str = "", *, in_turns: bool = False) -> onnxruntime.InferenceSession:
    """An onnxruntime session. threads: OMP_NUM_THREADS where it's set, else onnxruntime's own choice.

    provider: which of onnxruntime's execution providers computes ('' and 'cpu': the CPU), by a name of core.providers. What it
    can't compute is the CPU's; which one really was taken on, `provider_of` says. in_turns: another library computes between the
    calls, so that this one's threads stop at a call's end instead of waiting busily for the next.
    Raises UserError: no model.onnx, a damaged graph, missing or short weights, an IR or opset that this onnxruntime doesn't read,
    a provider that this onnxruntime hasn't got.
    """
    import onnxruntime

    folder = Path(folder)
    wanted_providers = providers.chosen(provider, onnxruntime.get_available_providers())
    graph = read_graph(folder)
    check_data(folder, graph)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    wanted = threads or int(os.environ.get("OMP_NUM_THREADS") or 0)
    if wanted:
        options.intra_op_num_threads = wanted
    if in_turns:
        options.add_session_config_entry("session.force_spinning_stop", "1")
    try:
        return onnxruntime.InferenceSession(str(graph_file(folder)), options, providers=wanted_providers)
    except Exception as error:  # onnxruntime raises a kind of its own for each status, all derived from Exception
        raise _not_opened(folder, graph, error) from error


def provider_of(session: onnxruntime.InferenceSession) -> str:
    """The provider that computes first, as core.providers calls it: onnxruntime falls back to the CPU without raising."""
    return providers.name_of(session.get_providers()[0])


def _not_opened(folder: Path, graph: onnx.ModelProto, error: Exception) -> UserError:
    text = str(error)
    ir = re.search(r"max supported IR version:? *(\d+)", text)
    if ir:
        return UserError(
            "This onnxruntime reads IR up to {highest}, the file has {version}.",
            hint="Update onnxruntime, or export the model again with this version of Spokeshave.",
            kind="model",
            highest=int(ir[1]),
            version=graph.ir_version,
            detail=text,
        )
    opset = re.search(r"[Oo]pset (\d+) is under development|till opset (\d+)", text)
    if opset:
        return UserError(
            "This onnxruntime is too old for the operators in {path}.",
            hint="Update onnxruntime, or export the model again with this version of Spokeshave.",
            kind="model",
            path=str(graph_file(folder)),
            detail=text,
        )
    return UserError(
        "onnxruntime can't open {path}: {reason}",
        hint="Export the model again.",
        kind="model",
        path=str(graph_file(folder)),
        reason=text.strip().splitlines()[0][:200] if text.strip() else type(error).__name__,
        detail=text,
    )


class CausalSession:
    """A decoder's session with its cache: what goes in, how the cache begins, one call a step. Keys and values never leave onnxruntime."""

    def __init__(self, session: onnxruntime.InferenceSession):
        self.session = session
        self.inputs = {i.name: i for i in session.get_inputs()}
        self.outputs = [o.name for o in session.get_outputs()]
        self.past = [n for n in self.inputs if n.startswith("past_key_values.")]
        if not self.past or "logits" not in self.outputs:
            raise UserError(
                "This export has no key-value cache: it's an encoder or a classifier, which doesn't generate text.",
                hint="Choose an exported language model.",
            )
        batch = self.inputs["input_ids"].shape[0]
        self.batch = batch if isinstance(batch, int) else None  # texts at a time, where that's fixed
        marked = session.get_modelmeta().custom_metadata_map.get(CACHE) == IN_PLACE
        self.in_place = marked and self.batch == 1 and provider_of(session) == "cpu" and self._same_in_place()

    def _same_in_place(self) -> bool:
        """Whether a few tokens, some of them taken back, give the same in place. The graph was checked by the onnxruntime that it was
        made with; this may be another."""
        found = []
        for self.in_place in (False, True):
            cache = self.empty(1)
            try:
                for past, new in ((0, 3), (3, 1), (2, 2)):
                    cache.crop(past)
                    logits, cache = self.step(np.arange(new)[None], np.ones((1, past + new), np.int64), cache)
            except RuntimeError:  # what onnxruntime raises of memory that it can't write to
                return False
            found.append(logits)
        return bool(np.abs(found[0] - found[1]).max() <= 0.01 * np.abs(found[0]).max())  # NaN is never

    def empty(self, batch: int) -> InPlace | Grown:
        """The cache before the first token. In place where the graph's attention can do that, on the CPU."""
        from core.export.cache import Grown, InPlace

        shapes = {name: (batch, self.inputs[name].shape[1], 0, self.inputs[name].shape[3]) for name in self.past}
        kind = InPlace if self.in_place else Grown
        return kind(self.session, shapes, {name: TYPES[self.inputs[name].type] for name in self.past})

    def step(self, ids: np.ndarray, mask: np.ndarray, cache: InPlace | Grown) -> tuple[np.ndarray, InPlace | Grown]:
        """ids (batch, new); mask (batch, past + new), 0 where padded -> (logits (batch, new, vocabulary), the cache, which has grown)."""
        if self.batch is not None and len(ids) != self.batch:
            raise UserError(
                "This graph takes batch {batch} only.",
                hint="Give it one text at a time, or export the portable profile.",
                batch=self.batch,
            )
        feeds = {"input_ids": np.ascontiguousarray(ids, np.int64)}
        if "attention_mask" in self.inputs:
            feeds["attention_mask"] = np.ascontiguousarray(mask, np.int64)
        if "position_ids" in self.inputs:
            positions = np.maximum(np.cumsum(mask, axis=1) - 1, 0)[:, -ids.shape[1] :]  # a padded row begins at 0 where its text begins
            feeds["position_ids"] = np.ascontiguousarray(positions, np.int64)
        return cache.step(feeds), cache


class OnnxGenerator:
    """Greedy generation from an exported folder.

    Raises UserError for what `open_session` finds wrong, for an encoder, and for a folder without tokenizer.json.
    """

    def __init__(self, folder: Path, threads: int | None = None, provider: str = ""):
        from tokenizers import Tokenizer

        self.folder = Path(folder)
        self.causal = CausalSession(open_session(self.folder, threads, provider))
        self.provider = provider_of(self.causal.session)
        path = self.folder / "tokenizer.json"
        if not path.is_file():
            raise UserError(
                "{folder} holds no tokenizer.json, so text can't be turned into tokens.",
                hint="Copy the model's tokenizer.json into the folder.",
                kind="model",
                folder=str(self.folder),
            )
        try:
            self.tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises bare Exception
            raise UserError(
                "{path} can't be read as a tokenizer.", hint="Export the model again.", kind="model", path=str(path), detail=str(error)
            ) from error
        self.ends, self.context = self._settings()
        self._stopped = False

    def _settings(self) -> tuple[frozenset[int], int | None]:
        """(ids that end a text, longest sequence or None)."""
        config = read_json(self.folder / "config.json") if (self.folder / "config.json").is_file() else {}
        generation = read_json(self.folder / "generation_config.json") if (self.folder / "generation_config.json").is_file() else {}
        ends = generation.get("eos_token_id", config.get("eos_token_id"))
        ends = ends if isinstance(ends, list) else [ends]
        context = config.get("max_position_embeddings") or config.get("n_positions")
        return frozenset(e for e in ends if isinstance(e, int)), context

    def stop(self) -> None:
        """Ends the generation in progress after the token at work. May be called from the callback or another thread."""
        self._stopped = True

    def generate(self, prompt: str, max_new_tokens: int = 64, on_token: Callable[[int, str], None] | None = None) -> dict[str, Any]:
        """Greedy continuation of `prompt`.

        on_token(id, piece) is called for each token as it comes; piece is '' while a character isn't complete yet.
        Returns {text, ids, prompt_ids, prompt_tokens, tokens, tokens_per_s, prefill_seconds, seconds, stop}: text and ids of the
        continuation alone; tokens_per_s of decoding without the prefill (None below two tokens); stop: 'end of text', 'length', 'stopped'.
        """
        from tokenizers.decoders import DecodeStream

        self._stopped = False
        prompt_ids = self.tokenizer.encode(prompt).ids
        if not prompt_ids:
            raise UserError("The prompt is empty.", hint="Write at least one word.")
        if self.context and len(prompt_ids) >= self.context:
            raise UserError(
                "The prompt has {count} tokens, and this model reads {context} at most.",
                hint="Shorten the prompt.",
                count=len(prompt_ids),
                context=self.context,
            )
        begun = time.perf_counter()
        ids: list[int] = []
        stream, stop = DecodeStream(skip_special_tokens=True), "length"
        fed, cache = np.array([prompt_ids]), self.causal.empty(1)
        prefill = 0.0
        while len(ids) < max_new_tokens and not (self.context and len(prompt_ids) + len(ids) >= self.context):
            mask = np.ones((1, len(prompt_ids) + len(ids)), np.int64)
            logits, cache = self.causal.step(fed, mask, cache)
            if not ids:
                prefill = time.perf_counter() - begun
            token = int(logits[0, -1].argmax())
            ids.append(token)
            ended = token in self.ends
            try:
                piece = stream.step(self.tokenizer, token) or ""  # None while a character lacks its other bytes
            except Exception:  # tokenizers raises bare Exception, where a stray byte makes another text of what has been told already
                stream = DecodeStream(skip_special_tokens=True)
                piece = stream.step(self.tokenizer, token) or ""
            if on_token:
                on_token(token, piece)
            if ended or self._stopped:
                stop = "end of text" if ended else "stopped"
                break
            fed = np.array([[token]])
        seconds = time.perf_counter() - begun
        decoding = seconds - prefill
        return {
            "text": self.tokenizer.decode(ids),
            "ids": ids,
            "prompt_ids": prompt_ids,
            "prompt_tokens": len(prompt_ids),
            "tokens": len(ids),
            "tokens_per_s": (len(ids) - 1) / decoding if len(ids) > 1 and decoding > 0 else None,
            "prefill_seconds": prefill,
            "seconds": seconds,
            "stop": stop,
        }
