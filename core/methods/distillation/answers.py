"""What a teacher answers, asked once and kept on disk: in the second pass over a text it needn't be run again.

For each row of a batch (a window of text, an example) one record: at every position the teacher's k likeliest tokens, their
log-probabilities in float16 and the mass of all others, exact in float32, as `losses.Top` wants them; or, where k is all there are, the
log-probabilities of all; of a classifier its logits in float32. Rows are known by their content, so whatever is fed with the same rows
is answered, and what isn't there, such as what the student wrote itself, has to be asked of the teacher.

    <work>/answers/<first record>.rows     records, then the key (32 bytes) and the records' crc32 (4 bytes)

A file is written whole or not at all, once a minute or when it's large enough; one that's cut short, damaged, or of other weights,
text, context, temperature or k is removed, and what's missing is asked again. Read by memory map. What's kept costs about 4 k + 4 bytes
a token (6 k + 4 where the vocabulary is larger than 65,536). Hidden states and attention aren't kept.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import itertools
import os
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from core.methods import checkpoints
from core.methods.feeds import Feed
from core.methods.losses import Against, Top
from core.models.save import room_for
from core.run import Run

DEFAULT_K = 64
FOLDER = "answers"
SECONDS = 60.0  # of the teacher's work that a kill costs at most
SHARD = 1 << 26  # bytes of records in a file, about
LEAST = -65_504.0  # of float16
KEY, SUM = 32, 4  # bytes after the records


def coarse(against: Against, vocabulary: int, classifier: bool) -> Against:
    """`against` with the top_k that's kept: of a language model DEFAULT_K where none was chosen; all for 'mse' and for classes."""
    if classifier or against.kind == "mse" or against.top_k is not None:
        return against
    return replace(against, top_k=DEFAULT_K) if vocabulary > DEFAULT_K else against


def record_type(positions: int, vocabulary: int, against: Against, classifier: bool) -> np.dtype:
    """Of one row."""
    if classifier:
        return np.dtype([("logits", "<f4", (vocabulary,))])
    k = against.top_k
    if k is None or k >= vocabulary:
        return np.dtype([("logs", "<f2", (positions, vocabulary))])
    tokens = "<u2" if vocabulary <= 1 << 16 else "<i4"
    return np.dtype([("tokens", tokens, (positions, k)), ("logs", "<f2", (positions, k)), ("rest", "<f4", (positions,))])


class Answers:
    """The teacher's answers to all rows that `feed` gives in so many batches; `gather` asks and keeps them.

        answers = Answers(work, teacher, feed, batches, vocabulary, against, known=..., run=run)
        answers.gather(rows_at_once, dtype)
        answers.of(rows)

    vocabulary: tokens or classes that are compared, from 0; against: as `coarse` gave it; known: what the rows' content doesn't say and the
    answers depend on, such as the hash of the labelled texts. Raises UserError where the disk hasn't the room.
    """

    def __init__(
        self,
        work: Path,
        teacher: Any,
        feed: Feed,
        batches: Iterable[Tensor],
        vocabulary: int,
        against: Against,
        *,
        known: dict[str, Any],
        run: Run,
        classifier: bool = False,
    ):
        self.folder, self.run = work / FOLDER, run
        self._teacher, self._feed, self._vocabulary, self._against = teacher, feed, vocabulary, against
        self._classifier = classifier
        self._rows: list[Tensor] = []
        self._places: dict[bytes, int] = {}  # of a row's content -> its record, in the order of first use
        self.asked = 0  # rows that the batches hold, those that come again counted again
        for batch in batches:
            self.asked += len(batch)
            for row in batch:
                if (name := _name(row)) not in self._places:
                    self._places[name] = len(self._rows)
                    self._rows.append(row)
        positions = 1 if classifier else len(self._rows[0]) - 1
        self.dtype = record_type(positions, vocabulary, against, classifier)
        self._known = known | {"record": str(self.dtype), "temperature": against.temperature, "vocabulary": vocabulary}
        self._files: list[np.ndarray] = []  # memory maps, in order
        self._starts: list[int] = []

    @property
    def count(self) -> int:
        """Rows that are kept."""
        return len(self._places)

    @property
    def bytes(self) -> int:
        return self.count * self.dtype.itemsize

    def gather(self, at_once: int, dtype: torch.dtype = torch.float32) -> None:
        """Asks the teacher for what isn't there yet, so many rows at a time. dtype: that training computes in."""
        weights = itertools.chain(self._teacher.named_parameters(), self._teacher.named_buffers())
        rows = hashlib.sha256(b"".join(self._places)).hexdigest()
        known = self._known | {"rows": rows, "dtype": str(dtype)}
        key = bytes.fromhex(checkpoints.fingerprint(dict(weights), known))
        self.folder.mkdir(parents=True, exist_ok=True)
        done = self._found(key)
        if done:
            self.run.log(f"{done:,} of {self.count:,} of the teacher's answers were kept by an earlier try")
        room_for(self.folder, (self.count - done) * self.dtype.itemsize)
        device = next(self._teacher.parameters()).device
        parts = [range(at, min(at + at_once, self.count)) for at in range(done, self.count, at_once)]
        made, size, last = [], 0, time.monotonic()
        for part in self.run.track(parts, "Asking the teacher"):
            rows = torch.stack([self._rows[i] for i in part]).to(device)
            with torch.no_grad(), torch.autocast(device.type, dtype, enabled=dtype != torch.float32):
                logits = self._feed.answers(self._teacher, rows)[0][..., : self._vocabulary]
                made.append(self._record(logits))
            size += made[-1].nbytes
            if size >= SHARD or time.monotonic() - last >= SECONDS or part.stop == self.count:
                self._write(np.concatenate(made), key)
                made, size, last = [], 0, time.monotonic()
        self._rows = []  # their names are enough from here on
        self.run.log(f"The teacher's answers to {self.count:,} rows take {self.bytes / 1e6:,.1f} MB on disk")

    def of(self, rows: Tensor) -> Tensor | Top | None:
        """As Against.brief gives it, of the rows of a batch, on their device; None where one of them isn't kept."""
        places = [self._places.get(_name(row)) for row in rows]
        if any(place is None for place in places):
            return None
        found = np.empty(len(places), self.dtype)
        for row, place in enumerate(places):
            number = bisect.bisect_right(self._starts, place) - 1
            found[row] = self._files[number][place - self._starts[number]]
        if self._classifier:
            return torch.from_numpy(np.ascontiguousarray(found["logits"])).to(rows.device)
        logs = torch.from_numpy(found["logs"].astype(np.float32)).to(rows.device)
        if "tokens" not in (self.dtype.names or ()):
            return logs
        tokens = torch.from_numpy(found["tokens"].astype(np.int64)).to(rows.device)
        rest = torch.from_numpy(np.ascontiguousarray(found["rest"])).to(rows.device)
        return Top(tokens, torch.cat([logs, rest[..., None]], -1))

    # -- records and files

    def _record(self, logits: Tensor) -> np.ndarray:
        """Of logits (rows, positions, vocabulary), or (rows, classes)."""
        out = np.empty(len(logits), self.dtype)
        kept = None if self._classifier else self._against.brief(logits)
        if isinstance(kept, Top):
            out["tokens"] = kept.tokens.cpu().numpy()
            out["logs"] = kept.logs[..., :-1].half().cpu().numpy()
            out["rest"] = kept.logs[..., -1].float().cpu().numpy()
        elif kept is not None:  # logits less a number each: near zero, where float16 is finest, for what's likely
            out["logs"] = torch.cat([row.float().log_softmax(-1).clamp_min(LEAST).half()[None] for row in logits]).cpu().numpy()
        else:
            out["logits"] = logits.float().cpu().numpy()
        return out

    def _found(self, key: bytes) -> int:
        """How many first records there are; what can't be used is removed."""
        done = 0
        for path in sorted(self.folder.iterdir()):
            records = _read(path, self.dtype, key) if path.name == _file(done) else None
            if records is None or done + len(records) > self.count:
                path.unlink(missing_ok=True)
                continue
            self._add(records, done)
            done += len(records)
        return done

    def _write(self, records: np.ndarray, key: bytes) -> None:
        start = self._starts[-1] + len(self._files[-1]) if self._files else 0
        path = self.folder / _file(start)
        part = path.with_suffix(".part")
        data = records.tobytes()
        try:
            with open(part, "wb") as handle:
                handle.write(data)
                handle.write(key + zlib.crc32(data).to_bytes(SUM, "little"))
                handle.flush()
                os.fsync(handle.fileno())
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        self._add(_mapped(path, self.dtype, len(records)), start)

    def _add(self, records: np.ndarray, start: int) -> None:
        self._files.append(records)
        self._starts.append(start)

    def close(self) -> None:
        """Lets go of the files, so that they can be removed where open ones can't."""
        self._files, self._starts = [], []


def _name(row: Tensor) -> bytes:
    return hashlib.blake2b(row.cpu().contiguous().numpy().tobytes(), digest_size=16).digest()


def _file(start: int) -> str:
    return f"{start:012}.rows"


def _read(path: Path, dtype: np.dtype, key: bytes) -> np.ndarray | None:
    """The records of a file that's whole and of that key, as a memory map; else None."""
    with contextlib.suppress(OSError):
        count, over = divmod(path.stat().st_size - KEY - SUM, dtype.itemsize)
        if over or count < 1:
            return None
        with open(path, "rb") as handle:
            handle.seek(count * dtype.itemsize)
            if handle.read(KEY) != key:
                return None
            wanted = int.from_bytes(handle.read(SUM), "little")
        records = _mapped(path, dtype, count)
        if zlib.crc32(records.view(np.uint8).reshape(-1)) == wanted:
            return records
    return None


def _mapped(path: Path, dtype: np.dtype, count: int) -> np.ndarray:
    return np.memmap(path, dtype, "r", shape=(count,))


# ---- beforehand -------------------------------------------------------------------------------------------------------


def most_bytes(positions: int, vocabulary: int, against: Against) -> int:
    """What a language model's answers to that many positions take at most."""
    kept = coarse(against, vocabulary, False)
    return positions * record_type(1, vocabulary, kept, False).itemsize


def batches_of(feed: Feed, batch: int, steps: int, seed: int) -> Iterator[Tensor]:
    """What a training of so many steps will be fed with."""
    return itertools.islice(feed.batches(batch, seed), steps)
