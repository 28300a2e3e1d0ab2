"""What each method makes of real models: size, effective bits, perplexity, divergence, agreement, and the seconds it took.

    pytest -m bench tests/bench/bench_methods.py -s

The starter model, and SmolLM2-135M where $SHELF has it; held-out starter text, windows of 512. Every variant is saved,
measured from its folder, and set beside what was estimated before.
"""

from __future__ import annotations

import time

import pytest
import torch

import resources
from core import methods
from core.data.text import read_text, token_ids
from core.evaluate.perplexity import score
from core.models import bring, load, save, size
from core.run import Run

STEPS = {"steps": 200, "batch": 8, "context": 256}
CASES = [
    ("rtn", {}),
    ("rtn", {"bits": 6}),
    ("rtn", {"bits": 4, "granularity": "channel"}),
    ("rtn", {"bits": 4, "group_size": 128}),
    ("rtn", {"bits": 4, "group_size": 32}),
    ("rtn", {"bits": 4, "group_size": 32, "symmetric": False}),
    ("rtn", {"bits": 4, "group_size": 64, "symmetric": False}),
    ("rtn", {"bits": 4, "group_size": 64, "clip": True}),
    ("rtn", {"bits": 4, "group_size": 64, "symmetric": False, "clip": True}),
    ("rtn", {"bits": 3, "group_size": 64, "symmetric": False, "clip": True}),
    ("magnitude", {"sparsity": 0.3}),
    ("magnitude", {"sparsity": 0.5}),
    ("magnitude", {"sparsity": 0.5, "scope": "layer"}),
    ("magnitude", {"sparsity": 0.5, "scope": "global"}),
    ("magnitude", {"pattern": "2:4"}),
    ("magnitude", {"pattern": "4:8"}),
]
TRAINED = [("finetune", STEPS), ("distil", STEPS | {"layers": 4})]


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_starter(tmp_path):
    table(bring_in(resources.STARTER_TARGET, tmp_path), tmp_path, CASES + TRAINED, 20_000)


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_smollm2(shelf, tmp_path):
    source = shelf / "smollm2-135m.gguf"
    if not source.exists():
        pytest.skip(f"the shelf of real models isn't at {shelf}")
    table(bring_in(source, tmp_path), tmp_path, CASES, 8_192)


def bring_in(source, tmp_path):
    folder = tmp_path / "original"
    folder.mkdir()
    bring.bring(source, folder, Run())
    return folder


def table(folder, tmp_path, cases, tokens):
    original = load.load(folder)
    ledger = size.ledger(folder)
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, tokens)
    text = read_text(resources.TRAIN_TEXT)
    print(f"\n{original.info.architecture}, {ledger.parameters:,} parameters, {len(ids):,} tokens, {torch.get_num_threads()} threads")
    print(f"{'variant':60} {'MB':>7} {'guess':>7} {'bits':>6} {'perplexity':>16} {'KL':>8} {'agree':>6} {'s':>7} {'guess':>7}")
    base = score(original.model, ids, context=512)[0]
    print(f"{'original':60} {ledger.bytes_on_disk / 1e6:7.2f} {'':7} {ledger.effective_bits:6.2f} {base.value:9.2f} ±{base.stderr:6.2f}")
    for number, (name, values) in enumerate(cases):
        made = tmp_path / str(number)
        made.mkdir()
        loaded, method = load.load(folder, train=name in ("finetune", "distil")), methods.get(name)
        given = methods.Given(loaded.tokenizer, folder, loaded.info, text=text)
        guess = methods.estimate(name, values, loaded.info, ledger)
        begun = time.perf_counter()
        model = method.apply(loaded.model, methods.checked(method, values), Run(), given).model
        seconds = time.perf_counter() - begun
        save.save(model, made, folder, run=Run())
        real = size.ledger(made, original_parameters=ledger.original_parameters)
        found = {m.kind: m for m in score(load.load(made).model, ids, context=512, reference=original.model)}
        shown = f"{name} " + " ".join(f"{k}={v}" for k, v in values.items())
        print(
            f"{shown:60} {real.bytes_on_disk / 1e6:7.2f} {guess['bytes_on_disk'] / 1e6:7.2f} {real.effective_bits:6.2f} "
            f"{found['perplexity'].value:9.2f} ±{found['perplexity'].stderr:6.2f} {found['kl'].value:8.4f} {found['agreement'].value:6.3f} "
            f"{seconds:7.1f} {guess['seconds'] or float('nan'):7.1f}",
            flush=True,
        )
