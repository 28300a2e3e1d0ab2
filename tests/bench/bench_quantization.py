"""Weight-only quantization on real models: size, effective bits, perplexity, KL, agreement, seconds; and against llmcompressor.

    pytest -m bench tests/bench/bench_quantization.py -s

SmolLM2-135M and MiniLM from $SHELF; calibrated on the starter's training text, measured on its held-out text in windows of 512.
MiniLM also as a classifier of film reviews, taught first, for some minutes; or $SPOKESHAVE_BENCH_CLASSIFIER, the folder of one.
Every variant is saved and measured from its folder, set beside what was estimated. llmcompressor (pinned to other versions of
transformers and compressed-tensors) runs in a virtual environment of its own, whose Python $LLMCOMPRESSOR_PYTHON names; without
one it's left out, with a word. Asserts the orders that must hold, nothing about time.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
import torch

import resources
from core import methods
from core.data.labels import Labels, read_labels, split
from core.data.text import Text, read_text, token_ids
from core.evaluate import accuracy, embedding
from core.evaluate.perplexity import score
from core.methods import calibration
from core.models import bring, load, save, size
from core.recipe import LabelsRef
from core.run import Run

TOKENS, WINDOWS = 8192, 16
G64 = {"group_size": 64}
CALIBRATED = {"windows": WINDOWS, "context": 512}
CASES = [
    ("rtn", {"bits": 8}),
    ("rtn", {"bits": 8, "embeddings": 8}),
    *((n, G64 | {"bits": 4, "symmetric": s}) for s in (False, True) for n in ("rtn", "hqq")),
    ("rtn", G64 | {"bits": 4, "symmetric": False, "clip": True}),
    *((n, G64 | CALIBRATED | {"bits": 4, "symmetric": s}) for s in (False, True) for n in ("awq", "gptq")),
    ("gptq", G64 | CALIBRATED | {"bits": 4, "embeddings": 8}),
    ("gptq", G64 | CALIBRATED | {"bits": 4, "embeddings": 4}),
    ("rtn", G64 | {"bits": 3, "symmetric": False}),
    ("hqq", G64 | {"bits": 3}),
    ("awq", G64 | CALIBRATED | {"bits": 3}),
    ("gptq", G64 | CALIBRATED | {"bits": 3}),
]


@pytest.fixture(scope="module")
def smollm2(shelf, tmp_path_factory):
    source = shelf / "smollm2-135m.gguf"
    if not source.exists():
        pytest.skip(f"the shelf of real models isn't at {shelf}")
    folder = tmp_path_factory.mktemp("smollm2") / "original"
    folder.mkdir()
    bring.bring(source, folder, Run())
    return folder


def make(folder: Path, to: Path, name: str, values: dict, labels: Labels | None = None, text: Text | None = None) -> float:
    """Applies the method and saves to `to`; seconds of the method alone. text: the starter's training text by default."""
    loaded, method = load.load(folder), methods.get(name)
    given = methods.Given(loaded.tokenizer, folder, loaded.info, text=text or read_text(resources.TRAIN_TEXT), labels=labels)
    begun = time.perf_counter()
    model = method.apply(loaded.model, methods.checked(method, values), Run(), given).model
    took = time.perf_counter() - begun
    to.mkdir()
    save.save(model, to, folder, run=Run())
    return took


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_smollm2(smollm2, tmp_path):
    original, ledger = load.load(smollm2), size.ledger(smollm2)
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, TOKENS)
    base = score(original.model, ids, context=512)[0].value
    print(f"\nSmolLM2-135M, {len(ids):,} tokens held out, {WINDOWS} windows of calibration, {torch.get_num_threads()} threads")
    print(f"{'variant':44} {'MB':>7} {'guess':>7} {'bits':>5} {'perplexity':>10} {'ratio':>6} {'KL':>7} {'agree':>6} {'s':>6} {'guess':>6}")
    print(f"{'original':44} {ledger.bytes_on_disk / 1e6:7.2f} {'':7} {ledger.effective_bits:5.2f} {base:10.2f}")
    found = {}
    for number, (name, values) in enumerate(CASES):
        method = methods.get(name)
        label = methods.label(method, methods.checked(method, values))
        guess = methods.estimate(name, values, original.info, ledger)
        made = tmp_path / str(number)
        took = make(smollm2, made, name, values)
        after = size.ledger(made, original_parameters=ledger.parameters)
        m = {x.kind: x.value for x in score(load.load(made).model, ids, context=512, reference=original.model)}
        found[label] = m
        sizes = f"{after.bytes_on_disk / 1e6:7.2f} {guess['bytes_on_disk'] / 1e6:7.2f} {after.effective_bits:5.2f}"
        quality = f"{m['perplexity']:10.2f} {m['perplexity'] / base:6.3f} {m['kl']:7.4f} {m['agreement']:6.3f}"
        print(f"{label:44} {sizes} {quality} {took:6.0f} {guess['seconds']:6.0f}", flush=True)
    rtn, hqq, awq, gptq = (found[f"{n} 4-bit g64 asymmetric"] for n in ("rtn", "hqq", "awq", "gptq"))
    assert gptq["kl"] < awq["kl"] < rtn["kl"]
    assert hqq["perplexity"] < rtn["perplexity"]
    assert gptq["perplexity"] <= 1.10 * base
    assert gptq["kl"] <= 0.11
    assert found["gptq 3-bit g64"]["perplexity"] <= 1.5 * base
    assert found["rtn 8-bit"]["perplexity"] == pytest.approx(base, rel=0.003)
    assert found["rtn 8-bit"]["agreement"] >= 0.97


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_minilm(shelf, tmp_path):
    source = shelf / "minilm-l6"
    if not source.exists():
        pytest.skip(f"the shelf of real models isn't at {shelf}")
    reference, text, ledger = load.load(source), read_text(resources.HELDOUT_TEXT), size.ledger(source)
    print(f"\nMiniLM-L6, embeddings of 64 passages against the original's\n{'variant':44} {'MB':>7} {'guess':>7} {'cosine':>8} {'s':>6}")
    values = [("rtn", {"bits": 8}), ("rtn", {"bits": 8, "embeddings": 8})]
    values += [
        (n, G64 | {"bits": 4, "symmetric": False} | (CALIBRATED if n in ("awq", "gptq") else {})) for n in ("rtn", "hqq", "awq", "gptq")
    ]
    values += [("gptq", G64 | CALIBRATED | {"bits": 4, "embeddings": 4})]
    found = {}
    for number, (name, settings) in enumerate(values):
        method = methods.get(name)
        label = methods.label(method, methods.checked(method, settings))
        took = make(source, tmp_path / str(number), name, settings)
        after = size.ledger(tmp_path / str(number), original_parameters=ledger.parameters)
        guess = methods.estimate(name, settings, reference.info, ledger)
        found[label] = embedding.score(load.load(tmp_path / str(number)), reference, text, most=64)[0].value
        print(f"{label:44} {after.bytes_on_disk / 1e6:7.2f} {guess['bytes_on_disk'] / 1e6:7.2f} {found[label]:8.5f} {took:6.0f}")
    assert found["gptq 4-bit g64 asymmetric"] > found["rtn 4-bit g64 asymmetric"]


@pytest.mark.bench
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("symmetric", [True, False])
def test_against_llmcompressor(smollm2, tmp_path, symmetric):
    python = os.environ.get("LLMCOMPRESSOR_PYTHON", "")
    if not python or subprocess.run([python, "-c", "import llmcompressor"], capture_output=True).returncode:
        pytest.skip("llmcompressor isn't installed: make a virtual environment with it, and name its Python in LLMCOMPRESSOR_PYTHON")
    original = load.load(smollm2)
    values = G64 | CALIBRATED | {"bits": 4, "symmetric": symmetric}
    params = methods.checked(methods.get("gptq"), values)
    drawn, _ = calibration.draw(read_text(resources.TRAIN_TEXT), original.tokenizer, params, original.info, 0, Run())
    (tmp_path / "ids.json").write_text(json.dumps(drawn.tolist()), encoding="utf-8")
    ours = make(smollm2, tmp_path / "ours", "gptq", values)
    script = Path(__file__).with_name("oracle_llmcompressor.py")
    threads = str(torch.get_num_threads())
    told = subprocess.run(
        [python, str(script), str(smollm2), str(tmp_path / "ids.json"), str(tmp_path / "theirs"), str(symmetric), "64", threads],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": threads, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert told.returncode == 0, told.stderr[-3000:]
    theirs = json.loads(told.stdout.splitlines()[-1])
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, TOKENS)
    base = score(original.model, ids, context=512)[0].value
    grid = "symmetric" if symmetric else "with an offset"
    print(f"\nGPTQ int4 g64 {grid}, the same {WINDOWS} windows, llmcompressor {theirs['version']}, {threads} threads, one run")
    print(f"{'':16} {'ratio':>7} {'KL':>8} {'agree':>7} {'s':>7}")
    kl = {}
    for name, seconds in (("ours", ours), ("llmcompressor", theirs["seconds"])):
        model = load.load(tmp_path / name.replace("llmcompressor", "theirs")).model
        m = {x.kind: x.value for x in score(model, ids, context=512, reference=original.model)}
        kl[name] = m["kl"]
        print(f"{name:16} {m['perplexity'] / base:7.4f} {m['kl']:8.4f} {m['agreement']:7.4f} {seconds:7.0f}")
    assert kl["ours"] <= kl["llmcompressor"]


@pytest.mark.bench
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("bits", "average"), [(4, 4.25), (3, 3.25)])
def test_mixed_against_one_width(smollm2, tmp_path, bits, average):
    """Both by GPTQ on symmetric groups, which are what can be mixed, at the same size."""
    original, ledger = load.load(smollm2), size.ledger(smollm2)
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, TOKENS)
    base = score(original.model, ids, context=512)[0].value
    print(f"\n{bits} bits in groups of 64 against mixed widths, {WINDOWS} windows of calibration")
    print(f"{'':10} {'MB':>7} {'ratio':>6} {'KL':>7} {'agree':>6} {'s':>5}")
    kl = {}
    for name, values in (("gptq", {"bits": bits, "symmetric": True}), ("mixed", {"average_bits": average, "rounding": "gptq"})):
        took = make(smollm2, tmp_path / name, name, G64 | CALIBRATED | values)
        after = size.ledger(tmp_path / name, original_parameters=ledger.parameters)
        m = {x.kind: x.value for x in score(load.load(tmp_path / name).model, ids, context=512, reference=original.model)}
        kl[name] = m["kl"]
        quality = f"{m['perplexity'] / base:6.3f} {m['kl']:7.4f} {m['agreement']:6.3f}"
        print(f"{name:10} {after.bytes_on_disk / 1e6:7.2f} {quality} {took:5.0f}", flush=True)
    assert kl["mixed"] < kl["gptq"]


FILM = [
    ("rtn", {"bits": 8}),
    ("rtn", {"bits": 8, "embeddings": 8}),
    ("int8_dynamic", {}),
    ("smoothquant", {"windows": 32, "context": 128}),
    *((n, G64 | {"bits": 4, "symmetric": False}) for n in ("rtn", "hqq")),
    *((n, G64 | {"bits": 4, "symmetric": False, "windows": 32, "context": 128}) for n in ("awq", "gptq")),
    *((n, G64 | {"bits": 3, "symmetric": False} | more) for n, more in (("rtn", {}), ("gptq", {"windows": 32, "context": 128}))),
]


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_film_reviews(shelf, tmp_path):
    """Accuracy on the held-out fifth; calibrated on the reviews that the classifier learnt from."""
    if not (shelf / "labels" / "movie.csv").exists():
        pytest.skip(f"the shelf of real models isn't at {shelf}")
    labels = read_labels(LabelsRef(path=str(shelf / "labels" / "movie.csv")))
    source = Path(os.environ.get("SPOKESHAVE_BENCH_CLASSIFIER", tmp_path / "taught"))
    if not source.exists():
        made = make(shelf / "minilm-l6", source, "classify", {}, labels)
        print(f"\ntaught in {made:.0f} s")
    reference, ledger = load.load(source, dtype="float32"), size.ledger(source)
    learn = Text(labels.name, labels.path, "\n".join(labels.some(split(labels).learn)[0]), labels.sha256)
    first = accuracy.score(reference.model, reference.tokenizer, labels)[0]
    print(f"\nMiniLM on film reviews, {first.n:,} held out")
    print(f"{'variant':34} {'MB':>6} {'accuracy, 95 %':>22} {'KL':>8} {'agree':>6} {'s':>5}")
    print(f"{'original':34} {ledger.bytes_on_disk / 1e6:6.2f} {first.value:8.4f} ({first.low:.4f}-{first.high:.4f})")
    found = {}
    for number, (name, settings) in enumerate(FILM):
        method = methods.get(name)
        label = methods.label(method, methods.checked(method, settings))
        took = make(source, tmp_path / str(number), name, settings, labels, learn)
        after = size.ledger(tmp_path / str(number), original_parameters=ledger.parameters)
        model = load.load(tmp_path / str(number), dtype="float32").model
        m = {x.kind: x for x in accuracy.score(model, reference.tokenizer, labels, reference=reference.model)}
        found[label] = m["kl"].value
        right = f"{m['accuracy'].value:8.4f} ({m['accuracy'].low:.4f}-{m['accuracy'].high:.4f})"
        kl = f"{m['kl'].value:8.5f} {m['agreement'].value:6.4f}"
        print(f"{label:34} {after.bytes_on_disk / 1e6:6.2f} {right} {kl} {took:5.0f}", flush=True)
    assert found["gptq 4-bit g64 asymmetric"] < found["rtn 4-bit g64 asymmetric"]
