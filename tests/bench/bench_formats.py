"""Every format in its runtime, one CPU thread: prefill and decoding in tokens a second, with what each costs in KL.

    pytest -m bench tests/bench/bench_formats.py -s        SmolLM2-135M from the shelf; SPOKESHAVE_BENCH_MODEL=<folder> for another

Rows: transformers in float32 and bfloat16, torch's dynamic 8 bits in it; ours, float32 and bfloat16 laid out anew and each packed
format in its kernels (core.decode.fast); our exports in onnxruntime. Prefill computes the logits of the prompt's last token alone, as
generating does (an export gives all of them), and greedy steps follow it, each row with its own cache. Rounds are interleaved, so
that a machine that slows down slows all rows alike; medians are shown, ratios are medians of the rounds' own.
KL(original in float32 ‖ row) is of that very runtime, on the held-out text in windows of 512.

Then, for each of torch's rows, the fastest of ours that's as close to the original. Asserts nothing about time.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers.cache_utils import DynamicCache

import resources
from core import methods
from core.data.text import read_text, token_ids
from core.decode import fast
from core.export.onnx import export
from core.export.runtime import CausalSession, open_session
from core.export.trace import cache_name
from core.models import bring, load, save
from core.run import Run
from tests.bench.bench_engines import dynamic

PREFILL, DECODE, ROUNDS = 128, 32, 7
WINDOW, WINDOWS = 512, 6
EQUAL = 1e-4  # of KL: two ways of adding up the same numbers differ by less
CALIBRATED = {"windows": 16, "context": 512}
G64 = {"group_size": 64}
VARIANTS = {  # name: (method, settings, whether it's exported too)
    "int8 per channel": ("rtn", {"bits": 8}, True),
    "int8, embeddings too": ("rtn", {"bits": 8, "embeddings": 8}, False),
    "int4 g64": ("gptq", CALIBRATED | G64 | {"bits": 4}, True),
    "int4 g64, embeddings int8": ("gptq", CALIBRATED | G64 | {"bits": 4, "embeddings": 8}, False),
    "int3 g64": ("gptq", CALIBRATED | G64 | {"bits": 3}, False),
    "int8, inputs int8": ("int8_dynamic", {}, False),
    "int8, inputs int8, smoothed": ("smoothquant", CALIBRATED, False),
}


def held(model: Any) -> int:
    """Bytes of the tensors that the model holds, each counted once, torch's own packed 8-bit weights among them."""
    tensors = [*model.parameters(), *model.buffers()]
    for module in model.modules():
        values = [v for value in vars(module).values() for v in (value if isinstance(value, tuple) else (value,))]
        tensors += [t for t in values if isinstance(t, torch.Tensor)]
        tensors += [v.unpack()[0] for v in values if isinstance(v, torch.ScriptObject)]
    return sum(t.nbytes for t in {id(t): t for t in tensors}.values())


class InTorch:
    """A transformers model, ours or theirs."""

    def __init__(self, model: Any):
        self.model, self.name, self.size = model, cache_name(model), held(model)

    @torch.inference_mode()
    def logits(self, ids: np.ndarray) -> torch.Tensor:
        """(n,) -> (n, vocabulary)."""
        return self.model(torch.from_numpy(ids)[None], use_cache=False).logits[0]

    @torch.inference_mode()
    def times(self, ids: np.ndarray) -> tuple[float, float]:
        """Seconds of the prompt, and of DECODE greedy steps after it."""
        how: dict[str, Any] = {"use_cache": True, self.name: DynamicCache(config=self.model.config)}
        begun = time.perf_counter()
        out = self.model(torch.from_numpy(ids)[None], logits_to_keep=1, **how).logits
        between = time.perf_counter()
        for _ in range(DECODE):
            out = self.model(out[:, -1:].argmax(-1), **how).logits
        return between - begun, time.perf_counter() - between


class InOnnxruntime:
    """An exported folder."""

    def __init__(self, folder: Path):
        self.causal = CausalSession(open_session(folder, threads=1))
        self.size = (folder / "model.onnx.data").stat().st_size

    def logits(self, ids: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(self.causal.step(ids[None], np.ones((1, len(ids)), np.int64), self.causal.empty(1))[0][0])

    def times(self, ids: np.ndarray) -> tuple[float, float]:
        begun = time.perf_counter()
        out, cache = self.causal.step(ids[None], np.ones((1, len(ids)), np.int64), self.causal.empty(1))
        between = time.perf_counter()
        for step in range(DECODE):
            out, cache = self.causal.step(out[:, -1:].argmax(-1), np.ones((1, len(ids) + step + 1), np.int64), cache)
        return between - begun, time.perf_counter() - between


@dataclass
class Row:
    """A format in a runtime. whose: 'torch', 'ours' or 'onnxruntime'; runs.size: bytes of its weights in memory (an export's on disk)."""

    name: str
    whose: str
    runs: InTorch | InOnnxruntime
    kl: list[float] = field(default_factory=list)  # of each token
    agreed: list[float] = field(default_factory=list)
    prefill: list[float] = field(default_factory=list)  # seconds of each round
    decode: list[float] = field(default_factory=list)

    def compare(self, mine: torch.Tensor, original: torch.Tensor) -> None:
        """mine, original: (n, vocabulary) logits."""
        p, q = original.float().log_softmax(-1), mine.float().log_softmax(-1)
        self.kl += (p.exp() * (p - q)).sum(-1).tolist()
        self.agreed += (mine.argmax(-1) == original.argmax(-1)).float().tolist()


def ratio(one: list[float], other: list[float]) -> float:
    """How many times as fast `one` is as `other`, the median of the rounds."""
    return statistics.median(b / a for a, b in zip(one, other, strict=True))


@pytest.fixture
def source(shelf, tmp_path) -> Path:
    if given := os.environ.get("SPOKESHAVE_BENCH_MODEL"):
        return Path(given)
    if not (shelf / "smollm2-135m.gguf").exists():
        pytest.skip(f"the shelf of real models isn't at {shelf}")
    (tmp_path / "original").mkdir()
    bring.bring(shelf / "smollm2-135m.gguf", tmp_path / "original", Run())
    return tmp_path / "original"


def make(source: Path, to: Path, name: str, values: dict[str, Any]) -> Path:
    loaded, method = load.load(source), methods.get(name)
    given = methods.Given(loaded.tokenizer, source, loaded.info, text=read_text(resources.TRAIN_TEXT))
    model = method.apply(loaded.model, methods.checked(method, values), Run(), given).model
    to.mkdir()
    save.save(model, to, source, run=Run())
    return to


def ours(folder: Path, half: bool = False, **how: Any) -> InTorch:
    """The variant as a generate job runs it."""
    model = load.load(folder, dtype="float32", **how).model
    done = fast.quicken(model, half)
    assert not done.slow, f"{done.slow} layers have no kernel here"
    return InTorch(model)


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_formats(source, tmp_path):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        _measure(source, tmp_path)
    finally:
        torch.set_num_threads(before)


def _measure(source: Path, work: Path) -> None:
    original = load.load(source, dtype="float32")
    rows = [
        Row("float32", "torch", InTorch(original.model)),
        Row("bfloat16", "torch", InTorch(load.load(source, dtype="bfloat16").model)),
        Row("dynamic int8", "torch", InTorch(dynamic(original.model))),
        Row("float32, laid out", "ours", ours(source)),
        Row("bfloat16, laid out", "ours", ours(source, half=True)),
    ]
    for number, (name, (method, values, exported)) in enumerate(VARIANTS.items()):
        folder = make(source, work / str(number), method, values)
        rows.append(Row(name, "ours", ours(folder, packed=True)))
        if exported:
            to = work / f"onnx-{number}"
            export(folder, to, run=Run())
            rows.append(Row(name, "onnxruntime", InOnnxruntime(to)))
        gc.collect()

    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, WINDOW * WINDOWS).numpy()
    window = min(WINDOW, original.info.context or WINDOW)
    for at in range(0, len(ids), window):
        wanted = rows[0].runs.logits(ids[at : at + window])
        for row in rows:
            row.compare(row.runs.logits(ids[at : at + window]), wanted)
        del wanted
    for turn in range(ROUNDS + 1):  # the first one warms up
        for row in rows:
            prefill, decode = row.runs.times(ids[:PREFILL])
            if turn:
                row.prefill.append(prefill)
                row.decode.append(decode)
    _show(rows, original.info.name, len(ids))


def _show(rows: list[Row], name: str, tokens: int) -> None:
    bf16 = rows[1]
    how = f"{PREFILL} tokens of prompt, {DECODE} steps, medians of {ROUNDS} interleaved rounds"
    print(f"\n{name}, one thread, {how}; KL on {tokens:,} tokens")
    print(f"{'format':28} {'runtime':12} {'MB':>6} {'KL':>8} {'agree':>6} {'prefill/s':>9} {'x bf16':>6} {'decode/s':>8} {'x bf16':>6}")
    for row in rows:
        quality = f"{row.runs.size / 1e6:6.1f} {statistics.fmean(row.kl):8.5f} {statistics.fmean(row.agreed):6.3f}"
        prefill = f"{PREFILL / statistics.median(row.prefill):9.0f} {ratio(row.prefill, bf16.prefill):6.2f}"
        decode = f"{DECODE / statistics.median(row.decode):8.1f} {ratio(row.decode, bf16.decode):6.2f}"
        print(f"{row.name:28} {row.whose:12} {quality} {prefill} {decode}", flush=True)
    for theirs in (r for r in rows if r.whose == "torch"):
        close = [r for r in rows if r.whose == "ours" and statistics.fmean(r.kl) <= statistics.fmean(theirs.kl) + EQUAL]
        for what in ("prefill", "decode"):
            best = max(close, key=lambda r, w=what: ratio(getattr(r, w), getattr(theirs, w)), default=None)
            told = f"{best.name}, {ratio(getattr(best, what), getattr(theirs, what)):.2f} times as fast" if best else "none of ours"
            print(f"as close as torch's {theirs.name}, {what}: {told}")
