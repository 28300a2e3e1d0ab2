"""Saving a model as a folder that plain transformers loads: weights, a config of the real shapes, tokenizer and the rest.

Dense weights keep the dtype in which the source stores them; PackedLinear layers are written packed. Nothing else is
written: no masks, no gradients, no second copy of a tied weight. Whether the folder reloads to the same model is
for verify.py to show.
"""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn
from transformers.core_model_loading import revert_weight_conversion

from core.errors import UserError, explain
from core.models import diffusion, inspect, tensors
from core.models.blocks import linears
from core.models.devices import STORED
from core.models.packed import PackedLinear, dequantized_on_load, quantization_config, to_layout
from core.models.packed_embedding import PackedEmbedding, TiedHead
from core.run import Run

SHARD = 4_000_000_000  # bytes; larger models are cut into files of at most this
ROOM = 20_000_000  # bytes beside the weights that a variant's other files may take


def save(model: nn.Module, staged: Path, source: Path, *, run: Run, dtype: torch.dtype | None = None) -> None:
    """Writes `model` into the existing folder `staged`; what isn't weights or config comes from the folder `source`.

    dtype: of the stored dense weights; None keeps, tensor by tensor, what `source` stores. Where storing rounds, the
    model in memory is rounded with it, so that what was saved, what is in memory and what is measured are the same.
    Raises UserError: a weight that isn't finite, or not in the stored precision; a layer that can't be stored; no space.
    """
    if isinstance(model, diffusion.Denoiser):
        diffusion.save(model, staged, run=run, dtype=dtype or main_dtype(tensors.headers(source)))
        return
    write(model, staged, tensors.headers(source), run=run, dtype=dtype)
    try:
        copy_rest(source, staged)
        if not (staged / "generation_config.json").exists() and getattr(model, "can_generate", lambda: False)():
            model.generation_config.save_pretrained(staged)
    except OSError as error:
        raise explain(error) from error


def put(staged: Path, files: Mapping[str, bytes | None]) -> None:
    """Files in the place of those that `save` copied from the source; None takes one away."""
    try:
        for name, content in files.items():
            if content is None:
                (staged / name).unlink(missing_ok=True)
            else:
                (staged / name).write_bytes(content)
    except OSError as error:
        raise explain(error) from error


def write(model: nn.Module, staged: Path, found: dict[str, tensors.TensorInfo], *, run: Run, dtype: torch.dtype | None = None) -> None:
    """Writes weights and config alone; `found` are the tensors of the source, whose dtypes are kept where `dtype` is None."""
    main = dtype or main_dtype(found)
    state, packed = _state(model, found, main, dtype)
    room_for(staged, sum(t.numel() * t.element_size() for t in state.values()) + ROOM)
    try:
        _write_weights(state, staged, run)
        write_config(model, packed, staged, main)
    except OSError as error:
        raise explain(error) from error


def _state(
    model: nn.Module, found: dict[str, tensors.TensorInfo], main: torch.dtype, dtype: torch.dtype | None
) -> tuple[dict[str, torch.Tensor], dict[str, PackedLinear | PackedEmbedding]]:
    """(tensors as they're to be stored, on the CPU, by name; packed modules by name)."""
    packed = packed_modules(model)
    head = getattr(model, "get_output_embeddings", lambda: None)()
    apart = isinstance(head, PackedLinear) and not isinstance(head, TiedHead)
    if apart and getattr(model.config.get_text_config(), "tie_word_embeddings", False):
        raise UserError(
            "The output layer is tied to the embedding, so it can't be packed apart from it.",
            hint="Leave the output layer out.",
            kind="model",
        )
    ignored = set(getattr(model, "_keys_to_ignore_on_save", None) or ())
    out: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        for name, tensor in _untied(model):
            stem, _, leaf = name.rpartition(".")
            if name in ignored or (stem in packed and leaf != "bias"):
                continue
            stored = tensor.detach()
            if tensor.is_floating_point():
                wanted = dtype or STORED.get(found[name].dtype if name in found else "", main)
                stored = stored.to(wanted)
                check_finite(name, stored, tensor)
                if wanted != tensor.dtype:
                    tensor.copy_(stored)
            out[name] = stored.cpu().contiguous()
    if not packed:
        out = revert_weight_conversion(model, out)
    for name, module in packed.items():
        if not tensors.finite(module.weight_scale):
            raise _not_finite(f"{name}.weight_scale")
        out |= {f"{name}.{leaf}": t.cpu().contiguous() for leaf, t in layout_of(module, main).items()}
    return out, packed


def packed_modules(model: nn.Module) -> dict[str, PackedLinear | PackedEmbedding]:
    """What of the model is stored packed, by name. A head that is tied to a packed embedding is left out where it's tied again
    on loading, since there is nothing of it to store."""
    found = {name: m for name, m in model.named_modules() if isinstance(m, (PackedLinear, PackedEmbedding))}
    return {name: m for name, m in found.items() if not (isinstance(m, TiedHead) and dequantized_on_load(m.bits, m.symmetric))}


def layout_of(module: PackedLinear | PackedEmbedding, main: torch.dtype) -> dict[str, torch.Tensor]:
    """The tensors of a packed module on disk, by the name that follows the module's; of a tied head its scales and zeros alone."""
    quant = module.quant
    try:
        layout = to_layout(quant, main)
    except ValueError:
        layout = to_layout(quant, quant.scale.dtype)  # a scale finer than the model's own dtype is kept as it is
    if isinstance(module, TiedHead):
        return {leaf: t.clone() for leaf, t in layout.items() if leaf != "weight"}
    rounding = {leaf: getattr(module, leaf, None) for leaf in ("input_scale", "input_zero_point")}
    return layout | {leaf: t.clone() for leaf, t in rounding.items() if t is not None}


def main_dtype(found: dict[str, tensors.TensorInfo]) -> torch.dtype:
    """The floating dtype that takes the most numbers in a file's dense weights."""
    sums: dict[str, int] = {}
    for info in found.values():
        if info.dtype in STORED and not info.name.endswith("weight_scale"):
            sums[info.dtype] = sums.get(info.dtype, 0) + info.numbers
    return STORED[max(sums, key=lambda name: sums[name])] if sums else torch.float32


def _untied(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    """(name, tensor) of the state, each tensor once: of names that share one, that which the others are tied to."""
    state = model.state_dict()
    tied = set(getattr(model, "all_tied_weights_keys", None) or ())  # names that are copies of another
    names: dict[tuple, list[str]] = {}
    for name, tensor in state.items():
        names.setdefault((tensor.data_ptr(), tensor.shape, tensor.dtype) if tensor.numel() else (name,), []).append(name)
    for group in names.values():
        name = next((n for n in group if n not in tied), group[0])
        yield name, state[name]


def check_finite(name: str, stored: torch.Tensor, original: torch.Tensor) -> None:
    """Raises UserError where `stored`, which `original` became, holds what isn't a finite number."""
    if tensors.finite(stored):
        return
    if tensors.finite(original):
        raise UserError(
            "{tensor} has values too large for {dtype}, so the model can't be stored in it.",
            hint="Store it in bfloat16 or float32.",
            kind="check",
            tensor=name,
            dtype=str(stored.dtype).removeprefix("torch."),
        )
    raise _not_finite(name)


def _not_finite(name: str) -> UserError:
    return UserError(
        "The result isn't usable: {tensor} holds values that aren't finite numbers.",
        hint="Try a smaller learning rate or a milder setting.",
        kind="check",
        tensor=name,
    )


def room_for(folder: Path, needed: int, *, place: str = "") -> None:
    """Raises UserError where the disk that `folder` is on has less than `needed` bytes free.

    place: what a person calls that folder, where it isn't the workspace.
    """
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise UserError(
            "The disk has {free} MB free, and {needed} MB are needed.",
            hint="Free some space on the disk of {place}, or choose a folder on another disk."
            if place
            else "Free some space, or choose a workspace on another disk.",
            kind="disk",
            free=free // 1_000_000,
            needed=-(-needed // 1_000_000),
            place=place,
        )


def _write_weights(state: dict[str, torch.Tensor], staged: Path, run: Run) -> None:
    shards: list[list[str]] = [[]]
    filled = 0
    for name, tensor in state.items():
        size = tensor.numel() * tensor.element_size()
        if shards[-1] and filled + size > SHARD:
            shards.append([])
            filled = 0
        shards[-1].append(name)
        filled += size
    weight_map: dict[str, str] = {}
    for index, names in enumerate(run.track(shards, "Saving"), 1):
        file = "model.safetensors" if len(shards) == 1 else f"model-{index:05}-of-{len(shards):05}.safetensors"
        write_tensors({name: state[name] for name in names}, staged / file)
        weight_map |= dict.fromkeys(names, file)
    if len(shards) > 1:
        write_index(staged, weight_map, sum(t.numel() * t.element_size() for t in state.values()))


def write_tensors(state: dict[str, torch.Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """One safetensors file. Raises UserError where the disk is full or can't be written to."""
    try:
        save_file(state, path, metadata={"format": "pt"} | (metadata or {}))
    except Exception as error:  # safetensors wraps the system's error in its own
        raise explain(error) from error


def write_index(folder: Path, weight_map: dict[str, str], total_bytes: int) -> None:
    """The index that tells which file of a sharded model holds which tensor."""
    index = {"metadata": {"total_size": total_bytes}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1), encoding="utf-8")


def write_config(model: nn.Module, packed: dict[str, PackedLinear | PackedEmbedding], staged: Path, main: torch.dtype) -> None:
    """config.json of the model as it is; `packed` are its packed modules, `main` the dtype of most of what's stored dense."""
    config = copy.deepcopy(model.config)
    config.architectures = [type(model).__name__]
    entry: dict[str, Any] = json.loads(config.to_json_string(use_diff=True))
    for key in ("quantization_config", "_name_or_path", "_model_name_or_path", "torch_dtype"):
        entry.pop(key, None)
    # the dtype that plain transformers loads in unless told otherwise: that of the stored weights, not the one computed in
    entry["dtype"] = str(main).removeprefix("torch.")
    if packed:
        again = lambda name, m: isinstance(m, TiedHead) and name not in packed  # tied again on loading
        dense = [name for name, m in linears(model, head=True) if isinstance(m, nn.Linear) or again(name, m)]
        embedding = next((name for name, m in packed.items() if isinstance(m, PackedEmbedding)), None)
        entry["quantization_config"] = quantization_config(packed, dense, embedding)
    (staged / "config.json").write_text(json.dumps(entry, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def copy_rest(source: Path, staged: Path) -> None:
    """Copies what a model's folder needs beside weights and config: tokenizer, chat template, generation config, its own code."""
    code = bool(json.loads((source / "config.json").read_text(encoding="utf-8")).get("auto_map"))
    for path in sorted(source.iterdir()):
        if not path.is_file() or path.suffix == ".safetensors" or path.name in ("config.json", "model.safetensors.index.json"):
            continue
        if inspect.needed(path.name) or (code and path.suffix == ".py"):
            shutil.copyfile(path, staged / path.name)


def fingerprint(folder: Path) -> str:
    """sha256 over the weights: each tensor's name, dtype, shape and bytes, in name order, however they're cut into files."""
    digest = hashlib.sha256()
    found = tensors.headers(folder)
    for name in sorted(found):
        info = found[name]
        digest.update(f"{name}\0{info.dtype}\0{info.shape}\n".encode())
        _, tensor = next(tensors.read({name: info}))
        digest.update(tensor.contiguous().view(-1).view(torch.uint8).numpy())
    return digest.hexdigest()
