"""Bringing a model into the workspace: a folder is copied, a Hub id downloaded, a GGUF file dequantized.

A folder quantized in a format that isn't computed with here (GPTQ, AWQ, bitsandbytes, 8-bit floats ...) is dequantized too.

What is left in the staged folder is what plain transformers loads, and nothing more; the source is never changed.
Weights are checked for values that aren't finite numbers, and the result is loaded once, strictly, before it counts.
"""

from __future__ import annotations

import contextlib
import functools
import json
import shutil
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import torch
import transformers

from core.errors import Cancelled, UserError, explain
from core.models import diffusion, foreign, hub, inspect, load, save, tensors, verify
from core.models.devices import DTYPES, STORED
from core.records import SourceInfo
from core.run import Run
from core.workspace import read_json

BLOCK = 16_000_000  # bytes copied between two looks at whether the job was cancelled


def bring(source: str | Path, staged: Path, run: Run, *, dtype: str = "auto", remote_code: bool = False) -> tuple[SourceInfo, list[str]]:
    """Fills the empty folder `staged` with the model; returns what it is now, and what should be said about it.

    dtype: to store the weights in; 'auto' keeps a folder's own, and stores what comes out of a GGUF file as bfloat16.
    Raises UserError: whatever inspection or loading refuses, a weight that isn't finite, no space, no memory, no network;
    Cancelled at any moment.
    """
    run.stage("Inspecting")
    info = inspect.inspect(source, remote_code=remote_code)
    load.refuse_remote_code(info, remote_code)
    notes: list[str] = []
    try:
        if info.kind == "gguf":
            notes += _dequantize(Path(source).expanduser(), info, staged, run, "bfloat16" if dtype == "auto" else dtype)
        else:
            folder = _downloaded(str(source), staged, run, remote_code) if info.kind == "hub" else Path(source).expanduser()
            if info.task == "diffusion":
                notes += _copy_pipeline(folder, staged, run, dtype)
            elif _is_foreign(folder):
                notes += _thaw(folder, info, staged, run, dtype, remote_code=remote_code)
            elif info.kind != "hub":
                _copy(folder, staged, run)
            if folder.parent == staged:
                shutil.rmtree(folder)
            notes += _convert(staged, info, run, dtype) if not notes and info.task != "diffusion" else []
            _check_finite(staged, run)
    except OSError as error:
        raise explain(error) from error
    _check_loads(staged, run, remote_code)
    found = inspect.inspect_folder(staged, remote_code=remote_code)
    return found.model_copy(update={"name": info.name, "kind": "variant", "source": str(source)}), notes


def _downloaded(repo: str, staged: Path, run: Run, remote_code: bool) -> Path:
    """Downloads a model of the Hub into `staged`, or into a folder in it where it has to be dequantized afterwards; returns which."""
    listing = hub.listing(repo)
    names = hub.needed_files(listing) + [n for n in listing.files if remote_code and n.endswith(".py")]
    save.room_for(staged, sum(listing.files[n] for n in names) + save.ROOM)
    settings = hub.read_json(listing, "config.json").get("quantization_config")
    to = staged
    if isinstance(settings, dict) and not foreign.is_native(settings, hub.headers(listing)):
        to = staged / "quantized"
        to.mkdir()
    hub.download(listing, names, to, run)
    return to


def _is_foreign(folder: Path) -> bool:
    settings = foreign.settings_of(folder, read_json(folder / "config.json"))
    if settings is None:
        return False
    return not foreign.is_native(settings, tensors.headers(folder))


def _thaw(folder: Path, info: SourceInfo, staged: Path, run: Run, dtype: str, *, remote_code: bool) -> list[str]:
    """Writes a folder quantized by others as a dense one, one module in memory at a time, in files of at most save.SHARD bytes."""
    raw = read_json(folder / "config.json")
    settings = foreign.settings_of(folder, raw) or {}
    found = tensors.headers(folder)
    wanted = DTYPES[dtype] if dtype != "auto" else _dense_dtype(raw, found)
    numbers = info.parameters or 0
    save.room_for(staged, numbers * wanted.itemsize + save.ROOM)
    weight_map: dict[str, str] = {}
    waiting: dict[str, torch.Tensor] = {}
    filled = total = done = 0
    parts: list[Path] = []

    def write() -> None:
        parts.append(staged / f"part-{len(parts)}")
        save.write_tensors(waiting, parts[-1])
        weight_map.update(dict.fromkeys(waiting, parts[-1].name))
        waiting.clear()

    for name, tensor in load.dequantized(folder, wanted, remote_code=remote_code):
        run.check_cancelled()
        size = tensor.numel() * tensor.element_size()
        if waiting and filled + size > save.SHARD:
            write()
            filled = 0
        waiting[name] = tensor.contiguous()
        filled, total, done = filled + size, total + size, done + tensor.numel()
        run.progress("Dequantizing", min(done, numbers), numbers)
    write()
    names = {p.name: f"model-{n:05}-of-{len(parts):05}.safetensors" for n, p in enumerate(parts, 1)}
    if len(parts) == 1:
        names = {parts[0].name: "model.safetensors"}
    else:
        save.write_index(staged, {tensor: names[part] for tensor, part in weight_map.items()}, total)
    for part in parts:
        part.rename(staged / names[part.name])
    save.copy_rest(folder, staged)
    for key in ("quantization_config", "torch_dtype"):
        raw.pop(key, None)
    stored = str(wanted).removeprefix("torch.")
    (staged / "config.json").write_text(json.dumps(raw | {"dtype": stored}, indent=2) + "\n", encoding="utf-8")
    notes = [f"Dequantized from {info.quantization}; stored in {stored}, so the file grew."]
    if foreign.quantizes_activations(settings):
        notes.append("Where it came from, activations were quantized too; here they aren't, so its numbers differ from those there.")
    return notes


def _dense_dtype(raw: dict[str, Any], found: dict[str, tensors.TensorInfo]) -> torch.dtype:
    """The dtype to store a dequantized model in: its config's, else that of most of its unquantized tensors, else bfloat16."""
    asked = str(raw.get("dtype") or raw.get("torch_dtype") or "").removeprefix("torch.")
    if asked in DTYPES:
        return DTYPES[asked]
    sums: dict[str, int] = {}
    for name, info in found.items():
        if info.dtype in STORED and not foreign.is_serving(name, found):
            sums[info.dtype] = sums.get(info.dtype, 0) + info.numbers
    return STORED[max(sums, key=lambda n: sums[n])] if sums else torch.bfloat16


def _copy(folder: Path, staged: Path, run: Run) -> None:
    """Copies the files that loading needs, weights in blocks."""
    weights = tensors.weight_files(folder)
    total = sum(p.stat().st_size for p in weights)
    save.room_for(staged, total + save.ROOM)
    save.copy_rest(folder, staged)
    for name in ("config.json", "model.safetensors.index.json"):
        if (folder / name).is_file() and (name == "config.json" or weights[0].name != "model.safetensors"):
            shutil.copyfile(folder / name, staged / name)
    done = 0
    run.progress("Copying", 0, total)
    for path in weights:
        with open(path, "rb") as reader, open(staged / path.name, "wb") as writer:
            while block := reader.read(BLOCK):
                run.check_cancelled()
                writer.write(block)
                done += len(block)
                run.progress("Copying", done, total, force=done == total)


def _copy_pipeline(folder: Path, staged: Path, run: Run, dtype: str) -> list[str]:
    files = diffusion.layout(folder)
    save.room_for(staged, sum(p.stat().st_size for p in files.values()))
    for name, path in run.track(list(files.items()), "Copying"):
        (staged / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(path, staged / name)
    return [] if dtype == "auto" else ["A diffusion model keeps the precision that it's stored in."]


def _convert(staged: Path, info: SourceInfo, run: Run, dtype: str) -> list[str]:
    """Casts the staged weights to `dtype`, file by file, where it isn't 'auto' and isn't theirs already."""
    if dtype == "auto":
        return []
    wanted = DTYPES[dtype]
    if info.quantization is not None:
        return ["It is stored quantized, so the precision that was asked for doesn't apply."]
    files = tensors.weight_files(staged)
    if all(t.dtype not in STORED or STORED[t.dtype] == wanted for t in tensors.headers(staged).values()):
        return []
    for path in run.track(files, "Converting"):
        state = {}
        for name, tensor in tensors.read(tensors.read_header(path)):
            run.check_cancelled()
            cast = tensor.to(wanted) if tensor.is_floating_point() else tensor
            if tensors.finite(tensor) and not tensors.finite(cast):
                raise UserError(
                    "{tensor} has values too large for {dtype}.",
                    hint="Choose bfloat16 or float32.",
                    kind="model",
                    tensor=name,
                    dtype=dtype,
                )
            state[name] = cast
        save.write_tensors(state, path.with_suffix(".new"))
        path.with_suffix(".new").replace(path)
    config = json.loads((staged / "config.json").read_text(encoding="utf-8"))
    config.pop("torch_dtype", None)
    (staged / "config.json").write_text(json.dumps(config | {"dtype": dtype}, indent=2) + "\n", encoding="utf-8")
    return [f"Stored in {dtype}; the source was in {load.stored_dtype(info)}."]


def _check_finite(staged: Path, run: Run) -> None:
    """Raises UserError where a weight holds NaN or an infinity: every number measured on it would be NaN too."""
    found = {name: t for name, t in tensors.headers(staged).items() if t.dtype in STORED}
    for name, tensor in run.track(tensors.read(found), "Checking weights", total=len(found)):
        if not tensors.finite(tensor):
            bad = int((~torch.isfinite(tensor)).sum())
            raise UserError(
                "{tensor} holds {count} values that aren't finite numbers (NaN or infinity), so nothing could be measured on this model.",
                hint="Get an undamaged copy of it.",
                kind="model",
                tensor=name,
                count=bad,
            )


def _check_loads(staged: Path, run: Run, remote_code: bool) -> None:
    """Raises UserError where the staged folder doesn't load, or computes no finite numbers."""
    run.stage("Checking that it loads")
    info = inspect.inspect_folder(staged, remote_code=remote_code)
    weights, free = sum(t.bytes for t in tensors.headers(staged).values()), psutil.virtual_memory().available
    if weights > free:
        raise UserError(
            "The model takes {needed} MB of memory, and {free} MB are free.",
            hint="Close other programs, or choose a smaller model.",
            kind="memory",
            needed=weights // 1_000_000,
            free=free // 1_000_000,
        )
    # float32 is the faster on a CPU; the stored dtype takes no more than the file does
    dtype = torch.float32 if 2 * (info.memory_needed or 0) < free else load.storage_dtype(info)
    loaded = load.load(staged, dtype=dtype, remote_code=remote_code)
    run.check_cancelled()
    if info.task == "diffusion":
        _finite_outputs(loaded.model.probe(), info)
        return
    config = loaded.model.config.get_text_config()
    with torch.no_grad():
        out = loaded.model(**verify.probe_inputs(config, verify.probe_ids(config.vocab_size, 8)))
    values = out.logits if "logits" in out else out.last_hidden_state
    _finite_outputs(values, info)


def _finite_outputs(values: torch.Tensor, info: SourceInfo) -> None:
    if not tensors.finite(values):
        raise UserError(
            "{name} loads, but computes values that aren't finite numbers.",
            hint="Try another precision to store it in: float32 or bfloat16.",
            kind="model",
            name=info.name,
        )


# ---- GGUF ---------------------------------------------------------------------------------------------------------


def _dequantize(path: Path, info: SourceInfo, staged: Path, run: Run, dtype: str) -> list[str]:
    """Loads a GGUF file by way of transformers and writes it as a dense folder in `dtype`."""
    wanted = DTYPES[dtype]
    size = (info.parameters or 0) * wanted.itemsize
    save.room_for(staged, size + save.ROOM)
    free = psutil.virtual_memory().available
    if size > free:
        raise UserError(
            "Dequantizing {name} takes {needed} MB of memory, and {free} MB are free.",
            hint="Close other programs, or choose a smaller model.",
            kind="memory",
            name=info.name,
            needed=size // 1_000_000,
            free=free // 1_000_000,
        )
    run.stage("Reading")
    where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name, "local_files_only": True}
    refused = {"ignore_mismatched_sizes": True}  # here; `strictly` refuses them by name
    try:
        with load.quiet(), _eased(run):
            tokenizer = transformers.AutoTokenizer.from_pretrained(**where) if info.tokenizer else None
            run.check_cancelled()
            model, report = transformers.AutoModelForCausalLM.from_pretrained(**where, **refused, dtype=wanted, output_loading_info=True)
    except (UserError, Cancelled):
        raise
    except Exception as error:  # transformers raises many kinds here
        known = explain(error, detail=traceback.format_exc())
        if known.kind != "internal":
            raise known from error
        raise UserError(
            "{file} couldn't be converted: {reason}",
            hint="Open the model's original folder instead.",
            kind="model",
            file=path.name,
            reason=load.first_line(error),
            detail=traceback.format_exc(),
        ) from error
    load.strictly(report, info)
    save.write(model, staged, {}, run=run, dtype=wanted)
    if getattr(model, "generation_config", None) is not None:
        model.generation_config.save_pretrained(staged)
    if tokenizer is not None:
        tokenizer.save_pretrained(staged)
    return [f"Dequantized from {info.quantization or 'GGUF'}; stored in {dtype}, so the file grew."]


@contextlib.contextmanager
def _eased(run: Run) -> Iterator[None]:
    """Makes transformers' GGUF loading report to `run`, obey a cancel, and not do the same work over and over.

    It has no seam for any of this: its loop over tensors reports to a tqdm; it parses the file three times (config,
    tokenizer, weights), a large vocabulary for seconds each time; and it builds the map of names anew for every module.
    """
    import gguf
    from transformers import modeling_gguf_pytorch_utils as loading

    def track(items: Any, **_: Any) -> Iterator[Any]:
        return run.track(items, "Dequantizing")

    with (
        hub.instead(loading, "tqdm", track),
        hub.instead(gguf, "GGUFReader", functools.cache(gguf.GGUFReader)),
        hub.instead(gguf, "get_tensor_name_map", functools.cache(gguf.get_tensor_name_map)),
    ):
        yield
