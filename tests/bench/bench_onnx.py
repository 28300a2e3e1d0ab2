"""ONNX exports of one model beside torch: how exact, how large, how fast. Prints a table; asserts nothing about time.

    pytest -m bench tests/bench/bench_onnx.py -s           SmolLM2 from the shelf; SPOKESHAVE_BENCH_MODEL=<folder> for another
    SPOKESHAVE_BENCH_4BIT=<folder>                         a 4-bit variant of it to show instead of one rounded to nearest
    SPOKESHAVE_GENAI=<python>                              one that has onnxruntime-genai, which then runs the same folders, and whose
                                                           own builder makes int4 and int8 of the model (that needs torch too)
    SPOKESHAVE_LLAMA=<python>                              one that has llama-cpp-python, which then runs the source GGUF

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
GENAI_BITS = ("int4", "int8")
clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
# Each peer is a process of its own that answers a line with "prefill decode" in tokens a second, so that its rounds are in turn with ours.
COMMON = """
import json, sys, time
path, ids, count, threads = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
clock = time.process_time if threads == 1 else time.perf_counter
def answer(prefill, step):
    print("ready", flush=True)
    for _ in sys.stdin:
        begun = clock()
        prefill()
        first = clock() - begun
        begun = clock()
        for _ in range(count):
            step()
        print(len(ids) / first, count / (clock() - begun), flush=True)
"""
IN_GENAI = (
    COMMON
    + """
import onnxruntime_genai as og
config = og.Config(path)
model, made = og.Model(config), []
def prefill():
    asked = og.GeneratorParams(model)
    asked.set_search_options(max_length=len(ids) + count + 2, do_sample=False)
    made[:] = [asked, og.Generator(model, asked)]
    made[1].append_tokens(ids)
    made[1].generate_next_token()
answer(prefill, lambda: made[1].generate_next_token())
"""
)
IN_LLAMA = (
    COMMON
    + """
from llama_cpp import Llama
model = Llama(path, n_ctx=1024, n_batch=512, n_threads=threads, n_threads_batch=threads, logits_all=False, verbose=False)
def prefill():
    model.reset()
    model.eval(ids)
def step():
    model.eval([model.sample(temp=0.0)])
answer(prefill, step)
"""
)
LOGITS_IN_LLAMA = """
import json, sys
import numpy as np
from llama_cpp import Llama
ids = json.loads(sys.argv[2])
model = Llama(sys.argv[1], n_ctx=1024, n_batch=512, n_threads=int(sys.argv[4]), logits_all=True, verbose=False)
model.eval(ids)
np.save(sys.argv[3], np.asarray(model.scores[: len(ids)], np.float32))
"""


class Peer:
    """Another program's process. `why`: what it said where it doesn't run."""

    def __init__(self, python: str, script: str, path: Path, ids: np.ndarray):
        threads = str(torch.get_num_threads())
        command = [python, "-c", script, str(path), json.dumps(ids.tolist()), str(DECODE), threads]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.why = "" if self.process.stdout.readline().strip() == "ready" else (self._last_words() or "it ended without a word")

    def _last_words(self) -> str:
        lines = self.process.communicate()[1].strip().splitlines()
        return lines[-1][:100] if lines else ""

    def ask(self) -> tuple[float, float]:
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        prefill, decode = map(float, self.process.stdout.readline().split())
        return prefill, decode

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(30)


def built(source: Path, folder: Path, bits: str) -> str:
    """onnxruntime-genai's own builder writes `folder`; '' where it did, else why not."""
    python = os.environ.get("SPOKESHAVE_GENAI", "")
    if not python:
        return "SPOKESHAVE_GENAI names no Python that has onnxruntime-genai"
    builder = [python, "-m", "onnxruntime_genai.models.builder", "-i", str(source), "-o", str(folder), "-e", "cpu", "-c", str(folder)]
    said = subprocess.run([*builder, "-p", bits], capture_output=True, text=True, env=os.environ | {"HF_HUB_OFFLINE": "1"})
    if said.returncode or not (folder / "genai_config.json").is_file():
        return (said.stderr.strip().splitlines() or ["it wrote nothing"])[-1][:100]
    one_thread(folder)
    return ""


def one_thread(folder: Path) -> None:
    """As many threads as torch has here: genai takes them from its config."""
    config = json.loads((folder / "genai_config.json").read_text())
    config["model"]["decoder"].setdefault("session_options", {})["intra_op_num_threads"] = torch.get_num_threads()
    (folder / "genai_config.json").write_text(json.dumps(config))


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


def peers_of(source: Path, work: Path, exported: dict[str, Path], gguf: Path | None, ids: np.ndarray) -> dict[str, Peer]:
    """Those that run, by title; what doesn't is said."""
    found: dict[str, Peer] = {}
    genai, llama = os.environ.get("SPOKESHAVE_GENAI", ""), os.environ.get("SPOKESHAVE_LLAMA", "")
    wanted = [
        (f"genai's {bits}", genai, IN_GENAI, work / f"genai-{bits}", built(source, work / f"genai-{bits}", bits)) for bits in GENAI_BITS
    ]
    missing = "" if genai else "SPOKESHAVE_GENAI names no Python that has onnxruntime-genai"
    for title, folder in exported.items():
        if genai:
            one_thread(folder)
        wanted.append((f"{title}, in genai", genai, IN_GENAI, folder, missing))
    missing = "" if llama and gguf else "SPOKESHAVE_LLAMA names no Python that has llama-cpp-python, or there's no source GGUF"
    wanted.append(("llama.cpp", llama, IN_LLAMA, gguf or work, missing))
    for title, python, script, path, why in wanted:
        peer = None if why else Peer(python, script, path, ids)
        if peer is not None and not peer.why:
            found[title] = peer
        else:
            print(f"{title}: not run: {why or peer.why}")
    return found


def logits_of_genai(folder: Path, ids: np.ndarray) -> np.ndarray:
    """What the builder's graph says of the text, by onnxruntime: its axes have other names than ours."""
    session = open_session(folder, torch.get_num_threads())
    decoder = json.loads((folder / "genai_config.json").read_text())["model"]["decoder"]
    shape, kinds = (1, decoder["num_key_value_heads"], 0, decoder["head_size"]), {"tensor(float16)": np.float16}
    feeds = {"input_ids": ids[None], "attention_mask": np.ones((1, len(ids)), np.int64), "position_ids": np.arange(len(ids))[None]}
    past = {i.name: np.zeros(shape, kinds.get(i.type, np.float32)) for i in session.get_inputs() if i.name.startswith("past_key_values.")}
    feeds = {i.name: (past | feeds)[i.name] for i in session.get_inputs()}
    return session.run(["logits"], feeds)[0][0].astype(np.float32)


def logits_of_llama(gguf: Path, work: Path, ids: np.ndarray) -> np.ndarray | None:
    python, to = os.environ["SPOKESHAVE_LLAMA"], work / "llama.npy"
    command = [python, "-c", LOGITS_IN_LLAMA, str(gguf), json.dumps(ids.tolist()), str(to), str(torch.get_num_threads())]
    return np.load(to) if subprocess.run(command, capture_output=True).returncode == 0 else None


@pytest.mark.bench
@pytest.mark.timeout(3600)
def test_onnx_against_torch(source, shelf, tmp_path, request):
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
    sessions, reports, folders = {}, {}, {}
    for title, bits, options in VARIANTS:
        folder = source if bits is None else quantize(source, tmp_path / f"q{bits}", bits)
        to = tmp_path / title.replace(" ", "-")
        reports[title], folders[title] = export(folder, to, Run(), options=options), to
        causal = sessions[title] = CausalSession(open_session(to, torch.get_num_threads()))
        quality[title] = causal.step(ids[None], np.ones((1, count), np.int64), causal.empty(1))[0][0]
    prompt = ids[: min(PREFILL, count // 2)]
    gguf = shelf / "smollm2-135m.gguf" if not os.environ.get("SPOKESHAVE_BENCH_MODEL") else None
    gguf = gguf if gguf is not None and gguf.is_file() else None
    in_genai = {title: folders[title] for title in ("fp32 fast", "8-bit rounded", "4-bit rounded")}
    peers = peers_of(source, tmp_path, in_genai, gguf, prompt)
    for peer in peers.values():
        request.addfinalizer(peer.end)
    for title in peers:
        if title.startswith("genai's"):
            quality[title] = logits_of_genai(tmp_path / f"genai-{title.split()[-1]}", ids)
        elif title == "llama.cpp" and (found := logits_of_llama(gguf, tmp_path, ids)) is not None:
            quality[title] = found
    times: dict[str, list[tuple[float, float]]] = {title: [] for title in [*quality, *peers]}
    for _ in range(ROUNDS):
        for dtype, model in models.items():
            times[f"torch eager {dtype}"].append(time_torch(model, prompt))
        for title, causal in sessions.items():
            times[title].append(time_onnx(causal, prompt))
        for title, peer in peers.items():
            times[title].append(peer.ask())
    median = {title: tuple(statistics.median(column) for column in zip(*found, strict=True)) for title, found in times.items()}
    base = median["torch eager float32"]
    print(f"\n{source.name}, {torch.get_num_threads()} threads, {len(prompt)} tokens of prefill, {DECODE} decoded, median of {ROUNDS}")
    heads = f"{'max-abs':>9}{'top-1':>7}{'KL':>9}{'kept':>7}{'ppl':>7}{'MB':>7}{'prefill':>9}{'decode':>8}{'x torch':>13}"
    print(f"{'':24}{heads}   products")
    for title, (prefill, decode) in median.items():
        r = reports.get(title)
        mine = f"{r['max_abs']:9.1e}{r['top1']:7.3f}" if r else f"{'':16}"
        row = f"{'':23}"
        if title in quality:
            kept = float((quality[title].argmax(-1) == wanted.argmax(-1)).mean())
            row = f"{divergence(wanted, quality[title]):9.1e}{kept:7.3f}{perplexity(quality[title]):7.2f}"
        size = r["bytes"] if r else size_of(title, source, tmp_path, gguf)
        speed = f"{prefill:9.1f}{decode:8.1f}{prefill / base[0]:7.2f}/{decode / base[1]:5.2f}"
        blocks = r["rounding_tried"][-1]["blocks"] if r and r.get("rounding_tried") else ""
        note = f"   {r['activations']} {blocks}" if r else ""
        print(f"{title:24}{mine}{row}{size / 1e6:7.1f}{speed}{note}")


def size_of(title: str, source: Path, work: Path, gguf: Path | None) -> int:
    """Bytes of what a row ran that isn't an export's own."""
    if title == "llama.cpp" and gguf:
        return gguf.stat().st_size
    folder = work / f"genai-{title.split()[-1]}" if title.startswith("genai's") else work / title.split(",")[0].replace(" ", "-")
    if title.startswith("torch"):
        return sum(p.stat().st_size for p in source.glob("*.safetensors"))
    return sum(p.stat().st_size for p in folder.iterdir())
