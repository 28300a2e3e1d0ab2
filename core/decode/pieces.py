"""Token ids to text, token by token, never showing half a character.

A character may span several tokens (an emoji is up to four in a byte-level vocabulary). The token that completes it
carries it; those before it carry nothing. Covers live text for the screen and for stop strings; the result's text is
the tokenizer's own decoding of all the ids.
"""

from __future__ import annotations

import json
from functools import cache

REPLACEMENT = "\ufffd"


class Pieces:
    """A tokenizer's tokens as text. `tokenizer` None: ids are shown as '<12>'."""

    def __init__(self, tokenizer=None):
        self.tokenizer = tokenizer
        self._bytes: dict[int, bytes] = {}
        self._alone: dict[int, str] = {}
        self._byte_level = tokenizer is not None and _is_byte_level(tokenizer)
        self._added = {i: str(t) for i, t in getattr(tokenizer, "added_tokens_decoder", {}).items()} if tokenizer is not None else {}

    def start(self) -> Tail:
        """The state at the beginning of a text."""
        return Tail(b"", ())

    def feed(self, tail: Tail, token: int) -> tuple[str, Tail]:
        """The text that `token` completes, and the state after it. States are values: a draft can go on from a copy."""
        if self.tokenizer is None:
            return f"<{token}>", tail
        if self._byte_level:
            return _completed(tail.bytes + self.bytes_of(token))
        return self._decoded(tail, token)

    def alone(self, token: int) -> str:
        """The token as it's shown in a list, out of context. Incomplete characters are shown as their bytes."""
        text = self._alone.get(token)
        if text is None:
            if self.tokenizer is None:
                text = f"<{token}>"
            elif self._byte_level:
                text = _with_hex(self.bytes_of(token))
            else:
                text = self.tokenizer.decode([token]) or self.tokenizer.convert_ids_to_tokens(token) or ""
            self._alone[token] = text
        return text

    def all(self, ids: list[int]) -> list[str]:
        """A piece for every token of a text, in one go."""
        out, tail = [], self.start()
        for token in ids:
            text, tail = self.feed(tail, token)
            out.append(text)
        return out

    def bytes_of(self, token: int) -> bytes:
        """The bytes that a token of a byte-level vocabulary stands for."""
        found = self._bytes.get(token)
        if found is None:
            if token in self._added:
                found = self._added[token].encode()
            else:
                written = self.tokenizer.convert_ids_to_tokens(token)
                table = _byte_of_character()
                found = bytes(table[c] for c in written) if written and all(c in table for c in written) else (written or "").encode()
            self._bytes[token] = found
        return found

    def _decoded(self, tail: Tail, token: int) -> tuple[str, Tail]:
        """Other tokenizers (SentencePiece with byte fall-back, WordPiece): what decoding the last few tokens adds.

        Earlier tokens stay in the window, since a token's leading space depends on there being one before it.
        """
        window = (*tail.window, token)
        before = self.tokenizer.decode(list(window[: tail.shown]))
        after = self.tokenizer.decode(list(window))
        if after.endswith(REPLACEMENT) and len(window) - tail.shown < 4:
            return "", Tail(b"", window, tail.shown)
        start = max(0, len(window) - 4)  # four tokens of context decide every spacing rule that tokenizers have
        return after[len(before) :], Tail(b"", window[start:], len(window) - start)


class Tail:
    """What a text's end hides: bytes of a character to be completed, or the tokens that decide the next spacing."""

    __slots__ = ("bytes", "shown", "window")

    def __init__(self, held: bytes, window: tuple[int, ...], shown: int = 0):
        self.bytes, self.window, self.shown = held, window, shown


def _completed(held: bytes) -> tuple[str, Tail]:
    """Splits bytes into whole characters and the beginning of one more."""
    for back in range(1, min(3, len(held)) + 1):
        byte = held[-back]
        if 0x80 <= byte < 0xC0:
            continue  # a later byte of a character: its first one is further back
        need = 4 if 0xF0 <= byte < 0xF8 else 3 if 0xE0 <= byte < 0xF0 else 2 if 0xC0 <= byte < 0xE0 else 1
        if need > back:
            return held[:-back].decode("utf-8", "replace"), Tail(held[-back:], ())
        break
    return held.decode("utf-8", "replace"), Tail(b"", ())


def _with_hex(raw: bytes) -> str:
    """Bytes as text; what isn't a character is written <0xE2>."""
    return "".join(c if not 0xDC80 <= ord(c) <= 0xDCFF else f"<0x{ord(c) - 0xDC00:02X}>" for c in raw.decode("utf-8", "surrogateescape"))


def _is_byte_level(tokenizer) -> bool:
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or backend.decoder is None:
        return False
    kind = json.loads(backend.decoder.__getstate__())
    kinds = [kind, *kind.get("decoders", [])]
    return kinds[-1].get("type") == "ByteLevel" and len(kinds) <= 2


@cache
def _byte_of_character() -> dict[str, int]:
    """GPT-2's alphabet: printable bytes stand for themselves, the others for characters from U+0100 on, in order."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(b): b for b in printable}
    others = [b for b in range(256) if b not in printable]
    return table | {chr(0x100 + i): b for i, b in enumerate(others)}
