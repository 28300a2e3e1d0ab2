"""The keys and values that an exported decoder keeps between its steps, in onnxruntime's own memory.

A graph in standard operators puts a new, longer cache out at every step (`Grown`). One whose attention is GroupQueryAttention writes
new keys and values behind the old ones where it's handed the same memory as input and output (`InPlace`): nothing is copied, nothing
is allocated, and tokens are taken back by saying how many count. Needs numpy and onnxruntime.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime

from core.export.runtime import TYPES

ROOM = 256  # tokens that memory is taken for at first; then twice as many each time

_made = onnxruntime.OrtValue.ortvalue_from_numpy  # which refers to the array's own memory


def present(name: str) -> str:
    """The output that continues an input of the cache."""
    return name.replace("past_key_values.", "present.", 1)


class Grown:
    """The outputs of one step are the inputs of the next. shapes: name -> (batch, kv heads, 0, dim)."""

    def __init__(self, session: onnxruntime.InferenceSession, shapes: dict[str, tuple[int, ...]], dtypes: dict[str, Any]):
        self.session, self.outputs = session, [o.name for o in session.get_outputs()]
        self.values = {name: _made(np.zeros(shape, dtypes[name])) for name, shape in shapes.items()}
        self._empty, self._room = dict(self.values), {}

    def step(self, feeds: dict[str, np.ndarray]) -> np.ndarray:
        """feeds: all that goes in besides the cache -> logits (batch, new, vocabulary)"""
        given = {name: _made(array) for name, array in feeds.items()} | self.values
        found = dict(zip(self.outputs, self.session.run_with_ort_values(self.outputs, given), strict=True))
        self.values = {name: found[present(name)] for name in self.values}
        return found["logits"].numpy()

    def crop(self, length: int) -> None:
        """Keeps the first `length` tokens, copied into memory that's used again: fresh pages would cost more than the copying."""
        if not length:
            self.values = dict(self._empty)
            return
        for name, value in self.values.items():
            kept = value.numpy()[:, :, :length]  # (batch, kv heads, length, dim)
            if name not in self._room or self._room[name].size < kept.size:
                self._room[name] = np.empty(2 * kept.size, kept.dtype)
            place = self._room[name][: kept.size].reshape(kept.shape)
            place[...] = kept  # NumPy minds that they may overlap, where what was cut is cut again
            self.values[name] = _made(place)

    def arrays(self) -> list[np.ndarray]:
        """Each layer's keys and values (batch, kv heads, tokens, dim), in turn."""
        return [value.numpy() for value in self.values.values()]


class InPlace:
    """Memory for more tokens than there are, bound to the session once as input and as output. For one text at a time."""

    def __init__(self, session: onnxruntime.InferenceSession, shapes: dict[str, tuple[int, ...]], dtypes: dict[str, Any]):
        self.session, self.length, self.room = session, 0, 0
        logits = next(o for o in session.get_outputs() if o.name == "logits")
        self._columns, self._dtype = logits.shape[-1], TYPES[logits.type]
        self._held = {name: np.empty(shape, dtypes[name]) for name, shape in shapes.items()}
        self._binding = session.io_binding()

    def _take(self, room: int) -> None:
        """Memory for `room` tokens, with those so far in it. Where there isn't so much, what's bound is never used again."""
        self.room = 0
        for name, old in self._held.items():
            new = np.empty((*old.shape[:2], room, old.shape[3]), old.dtype)
            new[:, :, : self.length] = old[:, :, : self.length]
            self._held[name] = new
        self.room, self._binding = room, self.session.io_binding()
        values = {name: _made(array) for name, array in self._held.items()}
        for name, value in values.items():
            self._binding.bind_ortvalue_input(name, value)
            self._binding.bind_ortvalue_output(present(name), value)

    def step(self, feeds: dict[str, np.ndarray]) -> np.ndarray:
        """feeds: all that goes in besides the cache -> logits (1, new, vocabulary)"""
        length = self.length + feeds["input_ids"].shape[1]
        if length > self.room:
            self._take(max(ROOM, 2 * self.room, length))
        for name, array in feeds.items():
            self._binding.bind_ortvalue_input(name, _made(array))
        logits = np.empty((1, feeds["input_ids"].shape[1], self._columns), self._dtype)  # not kept: the caller may hold the last one's
        self._binding.bind_ortvalue_output("logits", _made(logits))
        self.session.run_with_iobinding(self._binding)
        self.length = length
        return logits

    def crop(self, length: int) -> None:
        self.length = min(length, self.length)

    def arrays(self) -> list[np.ndarray]:
        return [array[:, :, : self.length] for array in self._held.values()]
