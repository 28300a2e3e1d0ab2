"""A tokenizer as GGUF's metadata has it: tokens, types, scores or merges, special ids, and how text is split beforehand.

Covers byte-level BPE (GPT-2's kind: 'gpt2' in GGUF) and BPE over SentencePiece's pieces (Llama 2's and Gemma's kind: 'llama').
Others (unigram, word pieces) are refused with a sentence. llama.cpp has the ways of splitting built in, by name; one that
has no name there is written as 'default', and that is said.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gguf import GGUFWriter, TokenType

from core.errors import UserError
from core.models.tensors import corrupt

SPACE = "\u2581"  # SentencePiece's sign for a space
NAMES = ("llama-bpe", "qwen2", "tekken", "gpt-4o", "qwen35")  # llama.cpp's, for ways of splitting that transformers knows too
WHOLE = ("llama-bpe", "tekken")  # where llama.cpp takes a word that's a token as it is, without merging it up
UNNAMED = "llama.cpp has no name for the way this tokenizer splits text, so some text may be split differently there."


@dataclass(slots=True)
class Vocabulary:
    """What goes into the file. scores: of SentencePiece's kind; merges: of the byte-level kind."""

    model: str  # 'gpt2' or 'llama'
    pre: str
    tokens: list[str]
    types: list[int]
    scores: list[float] = field(default_factory=list)
    merges: list[str] = field(default_factory=list)
    space_prefix: bool = False
    notes: list[str] = field(default_factory=list)


def describe(folder: Path, tokenizer: Any, rows: int) -> Vocabulary:
    """The vocabulary of `tokenizer` (as transformers loads it from `folder`), filled up to the embedding's `rows`. Raises UserError."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise _other(type(tokenizer).__name__)
    described = json.loads(backend.to_str())
    model = described["model"]
    if model.get("type") != "BPE":
        raise _other(str(model.get("type")))
    vocabulary = {number: token for token, number in backend.get_vocab(with_added_tokens=True).items()}
    if max(vocabulary) >= rows:
        raise UserError(
            "The tokenizer has more tokens than the embedding has rows, so it can't be written into a GGUF file.",
            hint="Use the tokenizer that belongs to this model.",
            kind="model",
        )
    tokens = [vocabulary.get(number, f"[PAD{number}]") for number in range(rows)]
    added = {entry["id"]: entry for entry in described.get("added_tokens") or ()}
    types = [int(TokenType.NORMAL if number in vocabulary else TokenType.UNUSED) for number in range(rows)]
    for number, entry in added.items():
        types[number] = int(TokenType.CONTROL if entry["special"] else TokenType.USER_DEFINED)
    steps = _steps(described.get("pre_tokenizer"))
    merges = [tuple(m) if isinstance(m, list) else tuple(m.split(" ", 1)) for m in model.get("merges") or ()]
    if any(step["type"] == "ByteLevel" for step in steps):
        pre, notes = split_name(steps)
        if model.get("ignore_merges") and pre not in WHOLE:
            notes = [UNNAMED]
        prefix = any(step["type"] == "ByteLevel" and step.get("add_prefix_space") for step in steps)
        return Vocabulary("gpt2", pre, tokens, types, merges=[" ".join(m) for m in merges], space_prefix=prefix, notes=notes)
    if not (model.get("byte_fallback") or any(SPACE in t for t in list(vocabulary.values())[:2000])):
        raise _other("BPE")
    for number, token in vocabulary.items():
        if number in added:
            if types[number] == TokenType.USER_DEFINED:
                tokens[number] = token.replace(SPACE, " ")  # llama.cpp looks these up in the text itself
        elif len(token) == 6 and token.startswith("<0x") and token.endswith(">"):
            types[number] = int(TokenType.BYTE)
    unknown = model.get("unk_token")
    for number, token in vocabulary.items():
        if token == unknown:
            types[number] = int(TokenType.UNKNOWN)
    file = folder / "tokenizer.model"
    scores = read_scores(file, vocabulary) if file.is_file() else merge_scores(vocabulary, merges)
    prefix = _prepends(described.get("normalizer")) or any(
        step["type"] == "Metaspace" and step.get("prepend_scheme", "always") != "never" for step in steps
    )
    return Vocabulary("llama", "default", tokens, types, scores=[scores.get(n, -1e4) for n in range(rows)], space_prefix=prefix)


def _other(kind: str) -> UserError:
    return UserError(
        "The tokenizer is of a kind that can't be written into a GGUF file here ({tokenizer}).",
        hint="Models with a byte-level or a SentencePiece BPE tokenizer can be exported.",
        kind="model",
        tokenizer=kind,
    )


def _steps(entry: Any) -> list[dict[str, Any]]:
    """A pre-tokenizer's steps, those of a sequence one after the other."""
    if not entry:
        return []
    if entry.get("type") == "Sequence":
        return [step for inner in entry["pretokenizers"] for step in _steps(inner)]
    return [entry]


def _prepends(entry: Any) -> bool:
    """Whether a normalizer puts a space before the text."""
    if not entry:
        return False
    if entry.get("type") == "Sequence":
        return any(_prepends(inner) for inner in entry["normalizers"])
    return entry.get("type") == "Prepend"


def split_name(steps: list[dict[str, Any]]) -> tuple[str, list[str]]:
    """(llama.cpp's name for how a byte-level tokenizer splits text before merging, notes)."""
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS as known

    patterns = [(step.get("pattern") or {}).get("Regex") for step in steps if step["type"] == "Split"]
    digits = [step for step in steps if step["type"] == "Digits"]
    by_regex = [step for step in steps if step["type"] == "ByteLevel" and step.get("use_regex", True)]
    others = {step["type"] for step in steps} - {"Split", "Digits", "ByteLevel"}
    if not patterns and not others and by_regex:
        if not digits:
            return "gpt-2", []
        if len(digits) == 1 and digits[0].get("individual_digits"):
            return "smollm", []
    if len(patterns) == 1 and not others and not digits and not by_regex:
        name = next((n for n in NAMES if known.get(n) == patterns[0]), None)
        if name is not None:
            return name, []
    return "default", [UNNAMED]


# ---- SentencePiece's scores ---------------------------------------------------------------------------------------------


def merge_scores(vocabulary: dict[int, str], merges: list[tuple[str, str]]) -> dict[int, float]:
    """{id: score} where only the order of merges is known: the earlier a piece is merged, the higher it scores, as in BPE models
    of SentencePiece; pieces that no merge makes score below all that are."""
    order: dict[str, int] = {}
    for rank, (left, right) in enumerate(merges):
        order.setdefault(left + right, rank)
    last = len(merges)
    return {number: -float(order.get(token, last)) for number, token in vocabulary.items()}


def read_scores(path: Path, vocabulary: dict[int, str]) -> dict[int, float]:
    """{id: score} from a SentencePiece model: its pieces are messages in field 1, each with text (1) and score (2, a float).

    Tokens that were added beside it keep no score. Raises UserError where the file makes no sense.
    """
    scores: dict[int, float] = {}
    try:
        number = 0
        for tag, value in _fields(path.read_bytes()):
            if tag == 1 and isinstance(value, bytes):
                entry = dict(_fields(value))
                scores[number] = float(entry.get(2, 0.0))
                number += 1
    except (ValueError, IndexError) as error:
        raise corrupt(path, "it isn't a SentencePiece model", repr(error)) from None
    if not scores:
        raise corrupt(path, "it holds no pieces", "")
    return {n: scores[n] for n in vocabulary if n in scores}


def _fields(raw: bytes) -> list[tuple[int, Any]]:
    """(field number, value) of a protocol buffer's message: whole numbers, floats (32 bits) and bytes. Raises ValueError, IndexError."""
    out, at = [], 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = raw[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    while at < len(raw):
        key = number()
        kind, value = key & 7, None
        if kind == 0:
            value = number()
        elif kind == 2:
            size = number()
            value = raw[at : at + size]
            if len(value) != size:
                raise ValueError("cut short")
            at += size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            (value,) = struct.unpack_from("<d" if kind == 1 else "<f", raw, at) if at + size <= len(raw) else (None,)
            if value is None:
                raise ValueError("cut short")
            at += size
        else:
            raise ValueError(f"field of kind {kind}")
        out.append((key >> 3, value))
    return out


# ---- writing ------------------------------------------------------------------------------------------------------------


def write(writer: GGUFWriter, vocabulary: Vocabulary, tokenizer: Any) -> None:
    """The vocabulary, the special ids and the chat template, under llama.cpp's keys."""
    writer.add_tokenizer_model(vocabulary.model)
    writer.add_tokenizer_pre(vocabulary.pre)
    writer.add_token_list(vocabulary.tokens)
    if vocabulary.scores:
        writer.add_token_scores(vocabulary.scores)
    writer.add_token_types(vocabulary.types)
    if vocabulary.merges:
        writer.add_token_merges(vocabulary.merges)
    for name, add in (
        ("bos", writer.add_bos_token_id),
        ("eos", writer.add_eos_token_id),
        ("unk", writer.add_unk_token_id),
        ("pad", writer.add_pad_token_id),
    ):
        number = getattr(tokenizer, f"{name}_token_id", None)
        if isinstance(number, int) and 0 <= number < len(vocabulary.tokens):
            add(number)
    ids = list(tokenizer("a")["input_ids"])
    plain = list(tokenizer("a", add_special_tokens=False)["input_ids"])
    writer.add_add_bos_token(len(ids) > len(plain) and ids[0] == tokenizer.bos_token_id)
    writer.add_add_eos_token(len(ids) > len(plain) and ids[-1] == tokenizer.eos_token_id)
    writer.add_add_space_prefix(vocabulary.space_prefix)
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, str) and template:
        writer.add_chat_template(template)
