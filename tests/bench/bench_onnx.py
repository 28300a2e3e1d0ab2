"""ONNX exports of one model beside torch: how exact, how large, how fast. Prints a table; asserts nothing about time.

    pytest -m bench tests/bench/bench_onnx.py -s           SmolLM2 from the shelf; SPOKESHAVE_BENCH_MODEL=<folder> for another

Rows: the original in float32, its 8-bit (per channel) and 4-bit (group 64) copies, each exported, against torch eager in float32
running the unquantized original. max-abs and top-1 are the export's own check (against torch on the same weights); 'kept' is the
share of positions where the export's most likely token is the original's. Rounds are interleaved, so that a machine that slows down
slows all rows alike; medians are shown.
"""

import os
import statistics
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from core.export.onnx import export
from core.export.parity import sample_ids
from core.export.runtime import CausalSession, open_session
from core.export.trace import cache_name
from core.models import packed, save
from core.models.blocks import linears, replace
from core.models.load import load
from core.models.packed import PackedLinear
from core.run import Run

PREFILL, DECODE, ROUNDS = 128, 24, 5
VARIANTS = (("fp32 portable", None, None), ("8-bit", 8, None), ("4-bit g64", 4, 64))


def quantize(source: Path, folder: Path, bits: int, group_size: int | None) -> Path:
    loaded = load(source, dtype="bfloat16")
    for name, module in linears(loaded.model):
        size = packed.fitting_group(module.in_features, group_size)
        quant = packed.quantize(module.weight.float(), bits, group_size=size, symmetric=True, scale_dtype=torch.bfloat16)
        replace(loaded.model, name, PackedLinear.from_linear(module, quant))
    folder.mkdir()
    save.save(loaded.model, folder, source, run=Run())
    return folder


def time_onnx(causal: CausalSession, ids: np.ndarray) -> tuple[float, float]:
    """(prefill, decode) in tokens a second."""
    begun = time.perf_counter()
    logits, cache = causal.step(ids[None], np.ones((1, len(ids)), np.int64), causal.empty(1))
    prefill = time.perf_counter() - begun
    begun = time.perf_counter()
    for step in range(DECODE):
        token = logits[:, -1:].argmax(-1)
        logits, cache = causal.step(token, np.ones((1, len(ids) + step + 1), np.int64), cache)
    return len(ids) / prefill, DECODE / (time.perf_counter() - begun)


def time_torch(model, ids: np.ndarray) -> tuple[float, float]:
    from transformers.cache_utils import DynamicCache

    cache, name, fed = DynamicCache(config=model.config), cache_name(model), torch.from_numpy(ids)[None]
    with torch.no_grad():
        begun = time.perf_counter()
        logits = model(fed, use_cache=True, **{name: cache}).logits
        prefill = time.perf_counter() - begun
        begun = time.perf_counter()
        for _ in range(DECODE):
            logits = model(logits[:, -1:].argmax(-1), use_cache=True, **{name: cache}).logits
    return len(ids) / prefill, DECODE / (time.perf_counter() - begun)


@pytest.fixture
def source(shelf, tmp_path) -> Path:
    given = os.environ.get("SPOKESHAVE_BENCH_MODEL")
    if given:
        return Path(given)
    from core.models.bring import bring

    if not (shelf / "smollm2-135m.gguf").exists():
        pytest.skip(f"the shelf of real models isn't at {shelf}")
    (tmp_path / "original").mkdir()
    bring(shelf / "smollm2-135m.gguf", tmp_path / "original", Run())
    return tmp_path / "original"


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_onnx_against_torch(source, tmp_path):
    original = load(source, dtype="float32")
    original.model.set_attn_implementation("eager")
    count = min(256, original.info.context or 256)
    ids = sample_ids(original.tokenizer, original.model.config.get_text_config().vocab_size, count)
    with torch.no_grad():
        wanted = original.model(torch.from_numpy(ids)[None]).logits[0].argmax(-1).numpy()
    rows, sessions, reports = {}, {}, {}
    for title, bits, group_size in VARIANTS:
        folder = source if bits is None else quantize(source, tmp_path / f"q{bits}", bits, group_size)
        reports[title] = export(folder, tmp_path / f"onnx-{bits}", Run())
        causal = sessions[title] = CausalSession(open_session(tmp_path / f"onnx-{bits}", torch.get_num_threads()))
        logits, _ = causal.step(ids[None], np.ones((1, count), np.int64), causal.empty(1))
        rows[title] = float((logits[0].argmax(-1) == wanted).mean())
    prompt = ids[: min(PREFILL, count // 2)]
    times: dict[str, list[tuple[float, float]]] = {title: [] for title in ("torch eager fp32", *sessions)}
    for _ in range(ROUNDS):
        times["torch eager fp32"].append(time_torch(original.model, prompt))
        for title, causal in sessions.items():
            times[title].append(time_onnx(causal, prompt))
    median = {title: tuple(statistics.median(column) for column in zip(*found, strict=True)) for title, found in times.items()}
    base = median["torch eager fp32"]
    print(f"\n{source.name}, {torch.get_num_threads()} threads, {len(prompt)} tokens of prefill, {DECODE} decoded, median of {ROUNDS}")
    print(f"{'':18}{'max-abs':>10}{'top-1':>8}{'kept':>8}{'MB':>8}{'prefill t/s':>13}{'decode t/s':>12}{'x torch':>15}{'export s':>10}")
    for title, (prefill, decode) in median.items():
        times_torch = f"{prefill / base[0]:.2f} / {decode / base[1]:.2f}"
        if title in reports:
            r = reports[title]
            figures = f"{r['max_abs']:10.1e}{r['top1']:8.3f}{rows[title]:8.3f}{r['bytes'] / 1e6:8.1f}"
            seconds = f"{r['seconds']['total']:10.1f}"
        else:
            figures, seconds = f"{'':26}{sum(p.stat().st_size for p in source.glob('*.safetensors')) / 1e6:8.1f}", ""
        print(f"{title:18}{figures}{prefill:13.1f}{decode:12.1f}{times_torch:>15}{seconds}")
