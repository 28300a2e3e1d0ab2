"""ONNX exports of one model beside torch: how exact, how large, how fast. Prints a table; asserts nothing about time.

    pytest -m bench tests/bench/bench_onnx.py -s           SmolLM2 from the shelf; SPOKESHAVE_BENCH_MODEL=<folder> for another
    SPOKESHAVE_BENCH_4BIT=<folder>                         a 4-bit variant of it to show instead of one rounded to nearest
    SPOKESHAVE_GENAI=<python>                              one that has onnxruntime-genai, which then runs the same folders

Rows: the original in float32, portable and fast, its 8-bit (per channel, the embedding too) and 4-bit (group 64, the embedding in 8)
copies, fast, with exact products and with rounded ones; against torch eager running the unquantized original. max-abs and top-1 are the
export's own check (against torch on the same weights); KL, 'kept' (share of positions whose most likely token is the original's) and
perplexity are against the original. Rounds are interleaved, so that a machine that slows down slows all rows alike; medians are shown,
of the processor's time where there is one thread, which a busy machine hardly changes.
"""

import json
import os
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from core.export.onnx import export
from core.export.parity import divergence, sample_ids
from core.export.runtime import CausalSession, open_session
from core.export.trace import cache_name
from core.models import packed, save
from core.models.blocks import linears, replace
from core.models.load import load
from core.models.packed import PackedLinear
from core.models.packed_embedding import pack_embedding
from core.records import OnnxOptions
from core.run import Run

PREFILL, DECODE, ROUNDS = 128, 24, 5
VARIANTS = (
    ("fp32 portable", None, OnnxOptions()),
    ("fp32 fast", None, OnnxOptions(profile="fast")),
    ("8-bit exact", 8, OnnxOptions(profile="fast")),
    ("8-bit rounded", 8, OnnxOptions(profile="fast", activations="int8")),
    ("4-bit exact", 4, OnnxOptions(profile="fast")),
    ("4-bit rounded", 4, OnnxOptions(profile="fast", activations="int8")),
)
clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
IN_GENAI = """
import json, sys, time
import onnxruntime_genai as og
model, ids, count = og.Model(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])
rates = []
for _ in range(3):
    asked = og.GeneratorParams(model)
    asked.set_search_options(max_length=len(ids) + count + 1, do_sample=False)
    made = og.Generator(model, asked)
    made.append_tokens(ids)
    made.generate_next_token()
    begun = time.perf_counter()
    for _ in range(count):
        made.generate_next_token()
    rates.append(count / (time.perf_counter() - begun))
print(sorted(rates)[1])
"""


def quantize(source: Path, folder: Path, bits: int) -> Path:
    if bits == 4 and os.environ.get("SPOKESHAVE_BENCH_4BIT"):
        return Path(os.environ["SPOKESHAVE_BENCH_4BIT"])
    if folder.is_dir():
        return folder
    group_size = 64 if bits == 4 else None
    loaded = load(source, dtype="bfloat16")
    for name, module in linears(loaded.model):
        size = packed.fitting_group(module.in_features, group_size)
        quant = packed.quantize(module.weight.float(), bits, group_size=size, symmetric=True, scale_dtype=torch.bfloat16)
        replace(loaded.model, name, PackedLinear.from_linear(module, quant))
    table = loaded.model.get_input_embeddings().weight.float()
    pack_embedding(loaded.model, packed.quantize(table, 8, scale_dtype=torch.bfloat16), torch.bfloat16)
    folder.mkdir()
    save.save(loaded.model, folder, source, run=Run())
    return folder


def time_onnx(causal: CausalSession, ids: np.ndarray) -> tuple[float, float]:
    """(prefill, decode) in tokens a second."""
    begun = clock()
    logits, cache = causal.step(ids[None], np.ones((1, len(ids)), np.int64), causal.empty(1))
    prefill = clock() - begun
    begun = clock()
    for step in range(DECODE):
        token = logits[:, -1:].argmax(-1)
        logits, cache = causal.step(token, np.ones((1, len(ids) + step + 1), np.int64), cache)
    return len(ids) / prefill, DECODE / (clock() - begun)


def time_torch(model, ids: np.ndarray) -> tuple[float, float]:
    from transformers.cache_utils import DynamicCache

    cache, name, fed = DynamicCache(config=model.config), cache_name(model), torch.from_numpy(ids)[None]
    with torch.no_grad():
        begun = clock()
        logits = model(fed, use_cache=True, **{name: cache}).logits
        prefill = clock() - begun
        begun = clock()
        for _ in range(DECODE):
            logits = model(logits[:, -1:].argmax(-1), use_cache=True, **{name: cache}).logits
    return len(ids) / prefill, DECODE / (clock() - begun)


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


def in_genai(folder: Path, ids: np.ndarray) -> str:
    """Tokens a second of onnxruntime-genai's decoding, by the clock on the wall; '' where it isn't installed."""
    python = os.environ.get("SPOKESHAVE_GENAI", "")
    if not python:
        return ""
    said = subprocess.run([python, "-c", IN_GENAI, str(folder), json.dumps(ids.tolist()), str(DECODE)], capture_output=True, text=True)
    return said.stdout.strip() if said.returncode == 0 else said.stderr.strip().splitlines()[-1][:60]


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_onnx_against_torch(source, tmp_path):
    models = {name: load(source, dtype=name).model for name in ("float32", "bfloat16")}
    for model in models.values():
        model.set_attn_implementation("eager")
    original = load(source, dtype="float32")
    count = min(256, original.info.context or 256)
    ids = sample_ids(original.tokenizer, original.model.config.get_text_config().vocab_size, count)

    def perplexity(logits: np.ndarray) -> float:
        logs = torch.from_numpy(logits).double().log_softmax(-1)
        return float(torch.exp(-logs[torch.arange(count - 1), torch.from_numpy(ids[1:])].mean()))

    with torch.no_grad():
        wanted = original.model(torch.from_numpy(ids)[None]).logits[0].numpy()
        half = models["bfloat16"](torch.from_numpy(ids)[None]).logits[0].float().numpy()
    quality = {"torch eager float32": wanted, "torch eager bfloat16": half}
    sessions, reports = {}, {}
    for title, bits, options in VARIANTS:
        folder = source if bits is None else quantize(source, tmp_path / f"q{bits}", bits)
        to = tmp_path / title.replace(" ", "-")
        reports[title] = export(folder, to, Run(), options=options)
        causal = sessions[title] = CausalSession(open_session(to, torch.get_num_threads()))
        quality[title] = causal.step(ids[None], np.ones((1, count), np.int64), causal.empty(1))[0][0]
    prompt = ids[: min(PREFILL, count // 2)]
    times: dict[str, list[tuple[float, float]]] = {title: [] for title in quality}
    for _ in range(ROUNDS):
        for dtype, model in models.items():
            times[f"torch eager {dtype}"].append(time_torch(model, prompt))
        for title, causal in sessions.items():
            times[title].append(time_onnx(causal, prompt))
    median = {title: tuple(statistics.median(column) for column in zip(*found, strict=True)) for title, found in times.items()}
    base = median["torch eager float32"]
    print(f"\n{source.name}, {torch.get_num_threads()} threads, {len(prompt)} tokens of prefill, {DECODE} decoded, median of {ROUNDS}")
    heads = f"{'max-abs':>9}{'top-1':>7}{'KL':>9}{'kept':>7}{'ppl':>7}{'MB':>7}{'prefill':>9}{'decode':>8}{'x torch':>13}"
    print(f"{'':22}{heads}   products")
    for title, (prefill, decode) in median.items():
        r = reports.get(title)
        kept = float((quality[title].argmax(-1) == wanted.argmax(-1)).mean())
        mine = f"{r['max_abs']:9.1e}{r['top1']:7.3f}" if r else f"{'':16}"
        size = r["bytes"] if r else sum(p.stat().st_size for p in source.glob("*.safetensors"))
        row = f"{divergence(wanted, quality[title]):9.1e}{kept:7.3f}{perplexity(quality[title]):7.2f}{size / 1e6:7.1f}"
        speed = f"{prefill:9.1f}{decode:8.1f}{prefill / base[0]:7.2f}/{decode / base[1]:5.2f}"
        note = f"   {r['activations']} {r.get('rounding_tried') or ''}" if r else ""
        print(f"{title:22}{mine}{row}{speed}{note}")
    for title in reports:
        rate = in_genai(tmp_path / title.replace(" ", "-"), prompt)
        print(f"{title:22}{rate or 'not run in onnxruntime-genai: SPOKESHAVE_GENAI names no Python that has it'}")
