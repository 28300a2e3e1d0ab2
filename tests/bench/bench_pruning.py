"""Unstructured pruning on SmolLM2-135M: perplexity, KL, agreement, zeros, bytes, seconds; and against llmcompressor.

    pytest -m bench tests/bench/bench_pruning.py -s

SmolLM2-135M from $SHELF; calibrated on the starter's training text, measured on its held-out text in windows of 512. Every variant
is saved and measured from its folder, and packed into the sparse file, whose bytes are shown beside. llmcompressor runs in a virtual
environment of its own, whose Python $LLMCOMPRESSOR_PYTHON names; without one it's left out, with a word. Asserts the orders that
must hold; about time only that of the ratio to llmcompressor's, both run one after the other.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import torch

import resources
from core import methods
from core.data.text import read_text, token_ids
from core.evaluate.perplexity import score
from core.export import sparse
from core.methods import calibration
from core.models import load, size
from core.run import Run
from tests.bench.bench_quantization import TOKENS, WINDOWS, make, smollm2  # noqa: F401

CALIBRATED = {"windows": WINDOWS, "context": 512}
PAPER = {"scope": "block", "fit": 0}  # but for the width of the blocks
CASES = [
    ("magnitude", {}),
    ("magnitude", {"scope": "global"}),
    ("magnitude", {"layers": "outliers"}),
    ("magnitude", {"pattern": "2:4"}),
    *(("wanda", CALIBRATED | more) for more in ({}, {"layers": "outliers"}, {"pattern": "4:8"}, {"pattern": "2:4"})),
    *(("sparsegpt", CALIBRATED | more) for more in (PAPER, {}, {"layers": "outliers"}, {"pattern": "4:8"}, {"pattern": "2:4"})),
    *((name, CALIBRATED | {"sparsity": 0.3}) for name in ("wanda", "sparsegpt")),
    *((name, CALIBRATED | {"sparsity": 0.7} | more) for name in ("wanda", "sparsegpt") for more in ({}, {"layers": "outliers"})),
]


def described(name: str, values: dict) -> str:
    method = methods.get(name)
    more = " global" * (values.get("scope") == "global") + " per block, unfitted" * (PAPER.items() <= values.items())
    return methods.label(method, methods.checked(method, values)) + more


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_smollm2(smollm2, tmp_path):  # noqa: F811
    original, ledger = load.load(smollm2), size.ledger(smollm2)
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, TOKENS)
    base = score(original.model, ids, context=512)[0].value
    print(f"\nSmolLM2-135M, {len(ids):,} tokens held out, {WINDOWS} windows of calibration, {torch.get_num_threads()} threads")
    print(
        f"{'variant':34} {'zeros':>6} {'MB':>7} {'packed':>7} {'perplexity':>10} {'ratio':>7} {'KL':>7} {'agree':>6} {'s':>5} {'guess':>5}"
    )
    print(f"{'original':34} {1 - ledger.nonzero / ledger.parameters:6.1%} {ledger.bytes_on_disk / 1e6:7.2f} {'':7} {base:10.2f}")
    found = {}
    for number, (name, values) in enumerate(CASES):
        made = tmp_path / str(number)
        guess = methods.estimate(name, values, original.info, ledger)
        took = make(smollm2, made, name, values)
        after = size.ledger(made)
        packed = sparse.pack(made, tmp_path / f"{number}-packed", Run())
        m = {x.kind: x.value for x in score(load.load(made).model, ids, context=512, reference=original.model)}
        label = described(name, values)
        found[label] = m["perplexity"] / base
        sizes = f"{1 - after.nonzero / after.parameters:6.1%} {after.bytes_on_disk / 1e6:7.2f} {packed['bytes'] / 1e6:7.2f}"
        quality = f"{m['perplexity']:10.2f} {m['perplexity'] / base:7.3f} {m['kl']:7.4f} {m['agreement']:6.3f}"
        print(f"{label:34} {sizes} {quality} {took:5.0f} {guess['seconds']:5.0f}", flush=True)
    for pattern in ("50 %", "2:4"):
        assert found[f"sparsegpt {pattern}"] <= found[f"wanda {pattern}"] <= found[f"magnitude {pattern}"]
    assert found["sparsegpt 50 %"] <= found["sparsegpt 50 % per block, unfitted"]
    assert found["wanda 50 %"] <= 2.0
    assert found["sparsegpt 50 %"] <= 1.75


@pytest.mark.bench
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("name", "pattern"), [("sparsegpt", "free"), ("sparsegpt", "2:4"), ("wanda", "free"), ("wanda", "2:4")])
def test_against_llmcompressor(smollm2, tmp_path, name, pattern):  # noqa: F811
    python = os.environ.get("LLMCOMPRESSOR_PYTHON", "")
    if not python or subprocess.run([python, "-c", "import llmcompressor"], capture_output=True).returncode:
        pytest.skip("llmcompressor isn't installed: make a virtual environment with it, and name its Python in LLMCOMPRESSOR_PYTHON")
    original = load.load(smollm2)
    values = CALIBRATED | {"pattern": pattern}
    params = methods.checked(methods.get(name), values)
    drawn, _ = calibration.draw(read_text(resources.TRAIN_TEXT), original.tokenizer, params, original.info, 0, Run())
    (tmp_path / "ids.json").write_text(json.dumps(drawn.tolist()), encoding="utf-8")
    ours = make(smollm2, tmp_path / "ours", name, values)
    threads, mask = str(torch.get_num_threads()), "0:0" if pattern == "free" else pattern
    script = Path(__file__).with_name("oracle_llmcompressor_pruning.py")
    told = subprocess.run(
        [python, str(script), str(smollm2), str(tmp_path / "ids.json"), str(tmp_path / "theirs"), name, "0.5", mask, threads],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": threads, "CUDA_VISIBLE_DEVICES": ""},
    )
    assert told.returncode == 0, told.stderr[-3000:]
    theirs = json.loads(told.stdout.splitlines()[-1])
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, TOKENS)
    base = score(original.model, ids, context=512)[0].value
    print(f"\n{name} {pattern} 50 %, the same {WINDOWS} windows, llmcompressor {theirs['version']}, {threads} threads, one run")
    print(f"{'':16} {'zeros':>7} {'ratio':>7} {'KL':>8} {'agree':>7} {'s':>7}")
    found = {}
    for who, seconds in (("ours", ours), ("theirs", theirs["seconds"])):
        loaded = load.load(tmp_path / who)
        m = {x.kind: x.value for x in score(loaded.model, ids, context=512, reference=original.model)}
        found[who] = m["kl"]
        pruned = size.ledger(tmp_path / who)
        zeros = 1 - pruned.nonzero / pruned.parameters
        print(f"{who:16} {zeros:7.2%} {m['perplexity'] / base:7.4f} {m['kl']:8.4f} {m['agreement']:7.4f} {seconds:7.0f}")
    assert found["ours"] <= found["theirs"] * (1.0 if name == "sparsegpt" else 1.01)  # Wanda is the same arithmetic in both
    assert ours <= theirs["seconds"]
