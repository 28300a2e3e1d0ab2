"""A pruned model in one smaller file: of each tensor a bit for every number, and only the numbers that aren't zero.

    pack      the folder -> <name>.sparse.safetensors and a report, read back and compared before it's called done
    unpack    that file -> the folder, every file bit for bit as it was, checked by its sha256

compressed-tensors 0.14 dropped its bitmask formats, and plain transformers with it, so this file is for keeping and sending; what's
loaded is the folder. Covers any safetensors weights, dense or packed: a tensor is stored sparsely only where that's smaller, and
'zero' is all bits zero, so that -0 isn't lost. Holds one tensor at a time. Not covered: entropy coding of what isn't zero.

The file is a safetensors file itself, its tensors named by what they are:

    file:NAME     bytes of a file that isn't weights, or, of one that is, of what precedes its first tensor
    dense:NAME    a tensor as it is
    mask:NAME     uint8, bit k of byte i (highest first) says whether number 8 i + k of the flat tensor is there; zeros at the end
    kept:NAME     those numbers, flat

Its metadata names the files with their sha256 (a JSON object), and the tensors of each weight file in the order in which they lie.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

import core
from core.errors import Cancelled, UserError, explain
from core.export.target import MADE_BY, REPORT, check_target, move_into_place, partial
from core.models import inspect, tensors
from core.models.save import room_for
from core.run import Run
from core.workspace import write_atomically

FORMAT = "spokeshave-sparse-1"
ENDING = ".sparse.safetensors"
CHUNK = 1 << 24  # bytes of a file that are read together
WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True)
class _Part:
    """A tensor of the file: where its bytes come from."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    source: Path
    start: int  # of the source's bytes
    length: int  # in the source
    word: int  # bytes a number


def pack(folder: Path, to: Path, run: Run, *, name: str = "", overwrite: bool = False) -> dict[str, Any]:
    """Packs the model in `folder` into the new folder `to` (one file and a report); returns the report.

    {format, file, bytes, dense_bytes, sparse_tensors, tensors, seconds, ...}, bytes being the file's. Raises UserError: the target is
    taken or can't be written to, no space, too few zeros, a file that reads back otherwise. Cancelled between tensors. After either,
    nothing is left.
    """
    folder, to = Path(folder), Path(to).absolute()
    begun = time.perf_counter()
    try:
        check_target(to, overwrite)
        with partial(to) as work:
            made = work / "export"
            made.mkdir()
            report = _pack(folder, made, _file_name(name or folder.name), run)
            report["seconds"] = time.perf_counter() - begun
            write_atomically(made / REPORT, json.dumps(report, indent=1))
            run.check_cancelled()
            check_target(to, overwrite)
            move_into_place(made, to, work)
    except (UserError, Cancelled):
        raise
    except Exception as error:
        raise explain(error, detail=traceback.format_exc()) from error
    run.log(f"Packed to {to}: {report['bytes'] / 1e6:.2f} MB instead of {report['dense_bytes'] / 1e6:.2f} MB.")
    return report


def unpack(file: Path, to: Path, run: Run) -> list[str]:
    """Restores the folder that `file` was packed from, to the new folder `to`; returns the names of its files.

    Raises UserError: it isn't such a file, it's damaged, the target is taken, no space. Nothing is left behind then.
    """
    file, to = Path(file), Path(to).absolute()
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise UserError("{path} is there already.", hint="Choose a new or an empty folder.", path=str(to))
    try:
        archive = Archive(file)
        with partial(to) as work:
            made = work / "folder"
            made.mkdir()
            room_for(made, sum(map(archive.bytes_of, archive.hashes)), place=str(to.parent))
            for name in run.track(list(archive.hashes), "Unpacking"):
                with open(made / name, "wb") as out:
                    archive.check(name, run, out)
            if to.is_dir():
                to.rmdir()
            os.rename(made, to)
    except OSError as error:
        raise explain(error) from error
    return list(archive.hashes)


# ---- writing -----------------------------------------------------------------------------------------------------------


def _pack(folder: Path, made: Path, name: str, run: Run) -> dict[str, Any]:
    weights = tensors.weight_files(folder)
    if not weights:
        raise UserError("{folder} holds no safetensors weights.", hint="Choose a model's folder.", kind="model", folder=str(folder))
    rest = [p for p in sorted(folder.iterdir()) if p.is_file() and inspect.needed(p.name) and p.suffix != ".safetensors"]
    parts, order, sparse, total = [_whole(p) for p in rest], {}, 0, 0
    for path in weights:
        infos = tensors.read_header(path)
        offsets = _offsets(path)
        parts.append(_Part(f"file:{path.name}", "U8", (offsets.header,), offsets.header, path, 0, offsets.header, 1))
        order[path.name] = sorted(infos, key=lambda n, at=offsets.at: at[n])
        for tensor in run.track(order[path.name], f"Counting zeros of {path.name}"):
            run.check_cancelled()
            found = _choose(infos[tensor], path, offsets.header + offsets.at[tensor])
            sparse += len(found) == 2
            total += 1
            parts += found
    if not sparse:
        raise UserError(
            "Packed, {name} would be no smaller: none of its tensors has zeros enough.",
            hint="Prune it first; a mask pays from a sixteenth of zeros on in 16 bits.",
            kind="model",
            name=name,
        )
    hashes = {p.name: _sha256(p, run) for p in (*rest, *weights)}
    path = made / f"{name}{ENDING}"
    header = _header(parts, {"format": FORMAT, "files": json.dumps(hashes), "tensors": json.dumps(order), "version": core.__version__})
    room_for(made, len(header) + sum(p.bytes for p in parts), place=str(made.parents[1]))
    with open(path, "wb") as out:
        out.write(header)
        for part in run.track(parts, "Packing"):
            run.check_cancelled()
            _write(part, out)
    run.stage("Reading it back")
    archive = Archive(path)
    for packed in hashes:
        archive.check(packed, run)
    return {
        "made_by": MADE_BY,
        "format": "sparse",
        "file": path.name,
        "bytes": path.stat().st_size,
        "dense_bytes": sum((folder / n).stat().st_size for n in hashes),
        "tensors": total,
        "sparse_tensors": sparse,
        "checks": "restored bit for bit, by sha256 of every file",
    }


def _file_name(name: str) -> str:
    clean = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")
    return clean or "model"


def _whole(path: Path) -> _Part:
    size = path.stat().st_size
    return _Part(f"file:{path.name}", "U8", (size,), size, path, 0, size, 1)


@dataclass(frozen=True)
class _Offsets:
    header: int  # bytes before the first tensor
    at: dict[str, int]  # tensor -> its start after them


def _offsets(path: Path) -> _Offsets:
    with open(path, "rb") as handle:
        length = int.from_bytes(handle.read(8), "little")
        raw = json.loads(handle.read(length))
    return _Offsets(8 + length, {n: e["data_offsets"][0] for n, e in raw.items() if n != "__metadata__"})


def _choose(info: tensors.TensorInfo, path: Path, start: int) -> list[_Part]:
    """The tensor as it is, or as its mask and what's kept, whichever is smaller."""
    word = tensors.DTYPE_BYTES.get(info.dtype, 0)
    dense = _Part(f"dense:{info.name}", info.dtype, info.shape, info.bytes, path, start, info.bytes, word)
    if not info.bytes or not word:
        return [dense]
    kept = int(np.count_nonzero(_numbers(dense)))
    mask = -(-info.numbers // 8)
    if mask + kept * word >= info.bytes:
        return [dense]
    return [
        _Part(f"mask:{info.name}", "U8", (mask,), mask, path, start, info.bytes, word),
        _Part(f"kept:{info.name}", info.dtype, (kept,), kept * word, path, start, info.bytes, word),
    ]


def _numbers(part: _Part) -> np.ndarray:
    """The bit patterns of the source tensor, flat, from disk."""
    return np.memmap(part.source, WORDS[part.word], "r", part.start, (part.length // part.word,))


def _write(part: _Part, out: IO[bytes]) -> None:
    kind = part.name.partition(":")[0]
    if kind == "mask":
        out.write(np.packbits(_numbers(part) != 0).tobytes())
    elif kind == "kept":
        numbers = _numbers(part)
        out.write(numbers[numbers != 0].tobytes())
    else:
        for piece in _pieces(part.source, part.start, part.length):
            out.write(piece)


def _header(parts: list[_Part], metadata: dict[str, str]) -> bytes:
    entry: dict[str, Any] = {"__metadata__": metadata}
    at = 0
    for part in parts:
        entry[part.name] = {"dtype": part.dtype, "shape": list(part.shape), "data_offsets": [at, at + part.bytes]}
        at += part.bytes
    raw = json.dumps(entry, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw


def _sha256(path: Path, run: Run) -> str:
    digest = hashlib.sha256()
    for piece in _pieces(path, 0, path.stat().st_size):
        run.check_cancelled()
        digest.update(piece)
    return digest.hexdigest()


def _pieces(path: Path, start: int, length: int) -> Iterator[bytes]:
    with open(path, "rb") as handle:
        handle.seek(start)
        while length > 0:
            piece = handle.read(min(CHUNK, length))
            if not piece:
                raise tensors.truncated(path, length)
            yield piece
            length -= len(piece)


# ---- reading -----------------------------------------------------------------------------------------------------------


class Archive:
    """A packed file: what it holds, and each file's bytes as they were. Raises UserError where it isn't one, or is damaged."""

    def __init__(self, path: Path):
        self.path = path
        self.infos = tensors.read_header(path)  # refuses what's cut short
        self._offsets = _offsets(path)
        with open(path, "rb") as handle:
            metadata = json.loads(handle.read(int.from_bytes(handle.read(8), "little"))).get("__metadata__") or {}
        if metadata.get("format") != FORMAT:
            raise UserError(
                "{file} wasn't packed by Spokeshave.",
                hint="Choose a file that ends in {ending}.",
                kind="model",
                file=path.name,
                ending=ENDING,
            )
        try:
            self.hashes: dict[str, str] = json.loads(metadata["files"])
            self.order: dict[str, list[str]] = json.loads(metadata["tensors"])  # of a weight file, as its tensors lie
            plain = all(name and Path(name).name == name and f"file:{name}" in self.infos for name in self.hashes)
            if not plain or not self.order.keys() <= self.hashes.keys():
                raise ValueError(f"files {list(self.hashes)}")
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            raise self.damaged("its list of files makes no sense", repr(error)) from None

    def bytes_of(self, name: str) -> int:
        """How large the file is once it's restored."""
        return self.infos[f"file:{name}"].bytes + sum(i.bytes for i in self._original(name).values())

    def restored(self, name: str) -> Iterator[bytes]:
        """The bytes of the file that was packed under that name, piece by piece."""
        yield from self._pieces(f"file:{name}")
        original = self._original(name) if name in self.order else {}
        for tensor in self.order.get(name, ()):
            if f"dense:{tensor}" in self.infos:
                yield from self._pieces(f"dense:{tensor}")
            elif tensor in original:
                yield self._scattered(tensor, original[tensor].numbers)
            else:
                raise self.damaged(f"{tensor} is missing")

    def check(self, name: str, run: Run, out: IO[bytes] | None = None) -> None:
        """Restores the file, into `out` where that's given. Raises UserError where it doesn't come out as it was packed."""
        digest = hashlib.sha256()
        for piece in self.restored(name):
            run.check_cancelled()
            digest.update(piece)
            if out is not None:
                out.write(piece)
        if digest.hexdigest() != self.hashes[name]:
            raise self.damaged(f"{name} doesn't come out as it was packed")

    def damaged(self, why: str, detail: str = "") -> UserError:
        return tensors.corrupt(self.path, why, detail)

    def _scattered(self, tensor: str, count: int) -> bytes:
        mask, kept = self._read(f"mask:{tensor}"), self._read(f"kept:{tensor}")
        info = self.infos[f"kept:{tensor}"]
        there = np.unpackbits(np.frombuffer(mask, np.uint8)).view(bool)
        word = WORDS.get(tensors.DTYPE_BYTES.get(info.dtype, 0))
        if word is None or len(there) < count or np.count_nonzero(there) != info.numbers:
            raise self.damaged(f"{tensor} and its mask don't fit")
        numbers = np.zeros(len(there), word)
        numbers[there] = np.frombuffer(kept, word)
        return numbers[:count].tobytes()

    def _original(self, name: str) -> dict[str, tensors.TensorInfo]:
        """The tensors that the header of a packed weight file declares."""
        return tensors.parse_header(self._read(f"file:{name}")[8:], self.path, None) if name in self.order else {}

    def _pieces(self, key: str) -> Iterator[bytes]:
        if key not in self.infos:
            raise self.damaged(f"{key} is missing")
        return _pieces(self.path, self._offsets.header + self._offsets.at[key], self.infos[key].bytes)

    def _read(self, key: str) -> bytes:
        return b"".join(self._pieces(key))
