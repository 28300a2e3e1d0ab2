"""Safetensors files read with care: headers first, checked against the file, tensors one at a time.

Covers one file and a sharded folder. Pickled checkpoints (.bin, .pt) are never read: opening one runs code from it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open

from core.errors import UserError, explain

DTYPE_BYTES = {
    "F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2,
    "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "F8_E4M3FNUZ": 1, "F8_E5M2FNUZ": 1,
}  # fmt: skip
FLOATS = ("F64", "F32", "F16", "BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ")
LFS = b"version https://git-lfs"
HEADER_LIMIT = 100_000_000  # bytes; the format's own bound


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor as a header describes it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    file: Path

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)


def is_lfs_pointer(path: Path) -> bool:
    """Whether the file is what git leaves in place of a large file that wasn't pulled."""
    with open(path, "rb") as handle:
        return handle.read(len(LFS)) == LFS


def parse_header(raw: bytes, path: Path, data_bytes: int | None) -> dict[str, TensorInfo]:
    """Tensors of a header's JSON bytes; `data_bytes` is what follows the header (None: not known). Raises UserError."""
    try:
        header = json.loads(raw)
        found: dict[str, TensorInfo] = {}
        end = 0
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            shape, (start, stop) = tuple(entry["shape"]), entry["data_offsets"]
            size = DTYPE_BYTES.get(entry["dtype"])
            if start < 0 or stop < start or (size is not None and stop - start != math.prod(shape) * size):
                raise ValueError(f"{name}: {entry}")
            found[name] = TensorInfo(name, entry["dtype"], shape, stop - start, path)
            end = max(end, stop)
    except (ValueError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise corrupt(path, "its header makes no sense", repr(error)) from None
    if data_bytes is not None and end > data_bytes:
        raise truncated(path, end - data_bytes)
    return found


def read_header(path: Path) -> dict[str, TensorInfo]:
    """The tensors that a file declares, checked against its length. Raises UserError: LFS pointer, truncated, corrupt, unreadable."""
    try:
        size = os.path.getsize(path)
        if is_lfs_pointer(path):
            raise lfs_pointer(path)
        with open(path, "rb") as handle:
            length = int.from_bytes(handle.read(8), "little")
            if size < 8:
                raise truncated(path, 8 - size)
            if length > HEADER_LIMIT:
                raise corrupt(path, "it isn't a safetensors file", f"header length {length}")
            if length > size - 8:
                raise truncated(path, length - (size - 8))
            raw = handle.read(length)
    except OSError as error:
        raise explain(error) from error
    return parse_header(raw, path, size - 8 - length)


def lfs_pointer(path: Path) -> UserError:
    return UserError(
        "{file} is only a Git LFS pointer: the weights themselves haven't been downloaded.",
        hint="Run 'git lfs pull' in that folder, or download the file again.",
        kind="model",
        file=path.name,
    )


def truncated(path: Path, missing: int) -> UserError:
    return UserError(
        "{file} is cut short: at least {missing} bytes are missing at its end.",
        hint="Download or copy it again.",
        kind="model",
        file=path.name,
        missing=missing,
    )


def corrupt(path: Path, why: str, detail: str) -> UserError:
    return UserError("{file} is damaged: {why}.", hint="Download or copy it again.", kind="model", file=path.name, why=why, detail=detail)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files that hold a folder's weights, as transformers would choose them; empty where there are none.

    Raises UserError where the index names a file that isn't there, or can't be read.
    """
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if (folder / "model_index.json").is_file():  # a pipeline of diffusers; where its parts lie is diffusion.layout's
        unet = folder / "unet" if (folder / "unet").is_dir() else folder
        names = ("diffusion_pytorch_model.safetensors", "diffusion_pytorch_model.fp16.safetensors")
        return [path for name in names if (path := unet / name).is_file()][:1]
    if single.is_file():
        return [single]
    if not index.is_file():
        return []
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        bad = [n for n in names if not isinstance(n, str) or Path(n).name != n]
        if bad or not names:
            raise ValueError(f"files {bad}")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise corrupt(index, "it isn't an index of weights", repr(error)) from None
    except OSError as error:
        raise explain(error) from error
    missing = [n for n in names if not (folder / n).is_file()]
    if missing:
        raise UserError(
            "{count} of the {total} weight files are missing, {first} among them.",
            hint="Download the rest of the model.",
            kind="model",
            count=len(missing),
            total=len(names),
            first=missing[0],
            detail="\n".join(missing),
        )
    return [folder / n for n in names]


def headers(folder: Path) -> dict[str, TensorInfo]:
    """All tensors of a folder's weight files by name. Raises UserError, also where the index and the files disagree."""
    files = weight_files(folder)
    out: dict[str, TensorInfo] = {}
    for file in files:
        out |= read_header(file)
    if len(files) > 1 or (files and files[0].name != "model.safetensors" and not (folder / "model_index.json").is_file()):
        listed = json.loads((folder / "model.safetensors.index.json").read_text(encoding="utf-8"))["weight_map"]
        gone = sorted(set(listed) - set(out))
        if gone:
            raise UserError(
                "The index lists {count} tensors that no file holds, {first} among them.",
                hint="Download the model again.",
                kind="model",
                count=len(gone),
                first=gone[0],
                detail="\n".join(gone),
            )
    return out


def read(infos: dict[str, TensorInfo]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields (name, tensor) for each, one at a time, in the order given within each file."""
    files: dict[Path, list[str]] = {}
    for info in infos.values():
        files.setdefault(info.file, []).append(info.name)
    for path, names in files.items():
        try:
            with safe_open(path, framework="pt") as handle:
                for name in names:
                    yield name, handle.get_tensor(name)
        except SafetensorError as error:
            raise corrupt(path, "it can't be read", str(error)) from None


def finite(tensor: torch.Tensor) -> bool:
    """Whether a floating tensor holds neither NaN nor an infinity; one fast pass, since NaN goes through both ends."""
    if not tensor.numel():
        return True
    low, high = torch.aminmax(tensor.detach())
    return bool(torch.isfinite(low) and torch.isfinite(high))
