"""Size, explained: where the bytes of a saved model are, and what they stand for.

Reads headers, and tensors one at a time to count zeros; no model is built. Everything here is a count, nothing an
estimate. What the model takes in memory is measured elsewhere.
"""

from __future__ import annotations

from pathlib import Path

import torch

from core.models import diffusion, inspect, packed, tensors
from core.models.blocks import component
from core.models.load import group_of
from core.records import Ledger, LedgerLine
from core.run import Run
from core.workspace import read_json

ORDER = ("embedding", "attention", "mlp", "norm", "head", "other", "scales", "tied copy", "tokenizer", "configuration")


def ledger(folder: str | Path, original_parameters: int | None = None, *, run: Run | None = None) -> Ledger:
    """The ledger of a model's folder.

    original_parameters: of the model that it came from, over which effective bits are counted; its own by default.
    Packed weights count as the numbers that they stand for, and as zero where they dequantize to 0; a tied copy that is
    stored all the same has bytes but no parameters. Raises UserError for a folder that can't be read.
    """
    folder = Path(folder)
    raw = {} if diffusion.is_pipeline(folder) else read_json(folder / "config.json")
    found = tensors.headers(folder)
    info = inspect.inspect_folder(folder, remote_code=True)
    groups = list(((raw.get("quantization_config") or {}).get("config_groups") or {}).values())
    copies = inspect.tied_copies(found) if info.tied else []
    rows: dict[tuple[str, str], list[int]] = {}  # (component, storage) -> [parameters, nonzero, bytes]
    payload = 0
    for name, tensor in tensors.read(found):
        if run is not None:
            run.check_cancelled()
        entry = found[name]
        numbers, storage = inspect.stands_for(name, entry, found)
        if name in copies:
            key, numbers, nonzero = ("tied copy", entry.dtype), 0, 0
        elif not numbers and inspect.is_scale(name):
            key, nonzero = ("scales", entry.dtype), 0
        elif storage.startswith("int"):
            key, nonzero = (component(name), storage), _nonzero_packed(name, tensor, found, groups)
        else:
            key, nonzero = (component(name), entry.dtype), _nonzero(tensor) if numbers else 0
        row = rows.setdefault(key, [0, 0, 0])
        for index, value in enumerate((numbers, nonzero, entry.bytes)):
            row[index] += value
        payload += entry.bytes
    files = {p: p.stat().st_size for p in inspect.files_of(folder)}
    weights = sum(size for p, size in files.items() if p.suffix == ".safetensors")
    rest = {"tokenizer": 0, "configuration": weights - payload}  # the headers of weight files describe, they don't weigh
    for path, size in files.items():
        if path.suffix != ".safetensors":
            rest[
                "configuration" if ("config.json" in path.name and "tokenizer" not in path.name) or "index" in path.name else "tokenizer"
            ] += size
    for name, size in rest.items():
        if size:
            rows[(name, "file")] = [0, 0, size]
    lines = [LedgerLine(component=c, storage=s, parameters=p, nonzero=z, bytes=b) for (c, s), (p, z, b) in rows.items()]
    parameters = sum(line.parameters for line in lines)
    original = original_parameters or parameters
    return Ledger(
        bytes_on_disk=sum(files.values()),
        weight_bytes=payload,
        parameters=parameters,
        nonzero=sum(line.nonzero for line in lines),
        effective_bits=8 * payload / original if original else 0.0,
        original_parameters=original,
        lines=tuple(sorted(lines, key=lambda line: (ORDER.index(line.component), line.storage))),
        tied=_tied(found, info.tied, copies),
    )


def _nonzero(tensor: torch.Tensor) -> int:
    """How many numbers of a dense tensor, or of one of float8 codes, aren't 0."""
    if tensor.element_size() == 1 and tensor.is_floating_point():
        tensor = tensor.view(torch.uint8) & 0x7F  # torch doesn't count in float8; without its sign bit, only ±0 is 0
    return int(torch.count_nonzero(tensor))


def _nonzero_packed(name: str, tensor: torch.Tensor, found: dict[str, tensors.TensorInfo], groups: list[dict]) -> int:
    """How many numbers of a packed weight aren't 0, which is where the code isn't the zero."""
    stem = name.rpartition(".")[0]
    parts = {
        leaf: next(tensors.read({n: found[n]}))[1] for leaf in inspect.PACKED_SUFFIXES if (n := f"{stem}.{leaf}") in found and n != name
    }
    parts[name.rpartition(".")[2]] = tensor
    quant = packed.from_layout(parts, group_of(stem, groups)["weights"])
    if quant.zero is None:
        return int(torch.count_nonzero(quant.codes))
    codes = quant.codes.unflatten(-1, (quant.scale.shape[-1], -1))  # (out, groups, group_size)
    return int((codes != quant.zero.unsqueeze(-1)).sum())


def _tied(found: dict[str, tensors.TensorInfo], tied: bool | None, copies: list[str]) -> tuple[str, ...]:
    """Names that share the embedding's storage: stored copies, or the usual output layer where it isn't in the file."""
    if not tied:
        return ()
    if copies:
        return tuple(copies)
    return () if any(component(n) == "head" and not inspect.is_scale(n) for n in found) else ("lm_head.weight",)
