"""A GGUF file's header: its key-value fields and the tensors that it declares, without its weights.

Covers GGUF versions 2 and 3, little-endian, in one file. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
Values of long arrays (tokens, merges) are read too, since a vocabulary is needed to compare tokenizers.
"""

from __future__ import annotations

import math
import mmap
import os
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import UserError, explain
from core.models import tensors

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
LONGEST = 1 << 32  # entries of an array, or characters of a string, beyond which a file can't be whole

# Names of transformers' mapping where it differs from the file's own (transformers, load_gguf_checkpoint)
_RENAMED = {"qwen2moe": "qwen2_moe", "qwen3moe": "qwen3_moe", "gpt-oss": "gpt_oss", "minimax-m2": "minimax_m2"}
_NOT_ARCHITECTURES = ("general", "tokenizer")
_OTHER_TASKS = ("t5", "umt5", "t5encoder")  # encoder-decoders and encoders


@dataclass(frozen=True, slots=True)
class GgufTensor:
    name: str
    shape: tuple[int, ...]  # as the file has it: innermost first
    type: str  # 'Q4_1', 'F32' ...
    bytes: int

    @property
    def numbers(self) -> int:
        return math.prod(self.shape)


@dataclass(slots=True)
class GgufHeader:
    fields: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, GgufTensor] = field(default_factory=dict)

    @property
    def architecture(self) -> str:
        return str(self.fields.get("general.architecture", ""))


class _Cursor:
    """Reads values one after the other; a read past the end raises EOFError."""

    def __init__(self, data: mmap.mmap):
        self.data, self.at = data, 0

    def take(self, form: str) -> Any:
        size = struct.calcsize(form)
        if self.at + size > len(self.data):
            raise EOFError
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return value

    def string(self) -> str:
        length = self.take("<Q")
        if length > LONGEST or self.at + length > len(self.data):
            raise EOFError
        raw = self.data[self.at : self.at + length]
        self.at += length
        return raw.decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind == _ARRAY:
            inner, count = self.take("<I"), self.take("<Q")
            if count > LONGEST:
                raise EOFError
            if inner in _SCALARS:
                form = f"<{count}{_SCALARS[inner][1]}"
                size = struct.calcsize(form)
                if self.at + size > len(self.data):
                    raise EOFError
                values = list(struct.unpack_from(form, self.data, self.at))
                self.at += size
                return values
            return [self.value(inner) for _ in range(count)]
        return self.take(_SCALARS[kind])


def read_header(path: Path) -> GgufHeader:
    """The header, checked against the file's length. Raises UserError: not GGUF, LFS pointer, cut short, of an unknown version."""
    try:
        size = os.path.getsize(path)
        if size and tensors.is_lfs_pointer(path):
            raise tensors.lfs_pointer(path)
        with open(path, "rb") as handle:
            if size < 24 or handle.read(4) != b"GGUF":
                raise UserError("{file} isn't a GGUF file.", hint="Choose a .gguf file or a model's folder.", kind="model", file=path.name)
            with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _parse(_Cursor(data), path, size)
    except OSError as error:
        raise explain(error) from error


def _parse(cursor: _Cursor, path: Path, size: int) -> GgufHeader:
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    header = GgufHeader()
    cursor.at = 4
    version = cursor.take("<I")
    if version not in (2, 3):
        raise UserError(
            "{file} is of GGUF version {version}, which isn't read here.",
            hint="Convert it with a current llama.cpp; big-endian files aren't read at all.",
            kind="model",
            file=path.name,
            version=version,
        )
    try:
        count, fields = cursor.take("<Q"), cursor.take("<Q")
        for _ in range(fields):
            key = cursor.string()
            header.fields[key] = cursor.value(cursor.take("<I"))
        end = 0
        for _ in range(count):
            name, dims = cursor.string(), cursor.take("<I")
            shape = tuple(cursor.take("<Q") for _ in range(dims))
            kind, offset = GGMLQuantizationType(cursor.take("<I")), cursor.take("<Q")
            block, block_bytes = GGML_QUANT_SIZES[kind]
            nbytes = math.prod(shape) // block * block_bytes
            header.tensors[name] = GgufTensor(name, shape, kind.name, nbytes)
            end = max(end, offset + nbytes)
    except EOFError:
        raise tensors.truncated(path, 1) from None
    except (ValueError, KeyError, struct.error, MemoryError, OverflowError) as error:
        raise tensors.corrupt(path, "its header makes no sense", repr(error)) from None
    alignment = int(header.fields.get("general.alignment", 32)) or 32
    start = -(-cursor.at // alignment) * alignment
    if start + end > size:
        raise tensors.truncated(path, start + end - size)
    return header


def config_of(header: GgufHeader, path: Path) -> dict[str, Any]:
    """The transformers config that the fields stand for, as config.json would have it. Raises UserError for an unknown architecture."""
    from transformers.integrations.ggml import GGUF_CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    own = header.architecture
    name = _RENAMED.get(own, own)
    if own == "llama" and "mistral" in str(header.fields.get("general.name", "")).lower():
        name = "mistral"
    known = sorted(set(GGUF_CONFIG_MAPPING) - set(_NOT_ARCHITECTURES) - set(_OTHER_TASKS))
    if name not in known:
        raise UserError(
            "{file} is of the architecture {architecture}, which can't be converted from GGUF here.",
            hint="These can: {known}. Otherwise open the model's original folder.",
            kind="model",
            file=path.name,
            architecture=repr(own),
            known=", ".join(known),
        )
    mapping = GGUF_CONFIG_MAPPING[name]
    raw: dict[str, Any] = {"model_type": name}
    for key, value in header.fields.items():
        prefix, _, rest = key.partition(".")
        target = mapping.get(rest) if prefix == own else None
        if isinstance(target, str):
            raw[target] = value
    if name in ("gemma3", "gemma4"):
        raw["model_type"] = f"{name}_text"  # their GGUF holds the text model only
    if isinstance(raw.get("num_key_value_heads"), list):
        raw["num_key_value_heads"] = max(raw["num_key_value_heads"])
    raw["tie_word_embeddings"] = "output.weight" not in header.tensors or own in ("falcon", "bloom")
    raw.setdefault("vocab_size", len(header.fields.get("tokenizer.ggml.tokens", [])) or None)
    raw["architectures"] = [MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(raw["model_type"], "")]
    return {key: value for key, value in raw.items() if value is not None}


def vocabulary(header: GgufHeader) -> dict[str, int]:
    """{token: id} of the tokenizer in the file; empty where it has none."""
    return {token: number for number, token in enumerate(header.fields.get("tokenizer.ggml.tokens", []))}
