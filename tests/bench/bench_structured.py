"""Structured pruning on SmolLM2-135M: perplexity, KL, parameters, bytes, seconds, and speed beside the original's.

    pytest -m bench tests/bench/bench_structured.py -s

SmolLM2-135M from $SHELF; judged on the starter's training text, measured on its held-out text in windows of 512. Heads are first
silenced by each criterion (no weight is changed, so that one pass judges all of them), then the methods make variants, which are saved
and measured from their folders. Speeds
are ratios to the original's, both taken one after the other. Asserts the orders and ratios that must hold.
"""

from __future__ import annotations

import math
import time

import pytest
import torch

import resources
from core import methods
from core.data.text import read_text, token_ids
from core.evaluate import speed
from core.evaluate.perplexity import score
from core.methods import importance
from core.methods.pruning import heads
from core.models import load, size, surgery
from core.run import Run
from tests.bench.bench_quantization import TOKENS, make, smollm2  # noqa: F401

CASES = [
    ("heads", {"share": 0.33, "compensate": False}),
    ("heads", {"share": 0.33, "compensate": True}),
    ("heads", {"share": 0.1, "allocation": "global"}),
    *(("layers", {"count": n}) for n in (1, 2, 3)),
    ("layers", {"count": 2, "criterion": "loss"}),
    *(("channels", {"share": share, "compensate": adjust}) for share in (0.1, 0.2) for adjust in (True, False)),
    ("channels", {"share": 0.2, "criterion": "taylor"}),
    ("resize", {"share": 0.1}),
    ("resize", {"share": 0.25}),
]


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_heads_by_criterion(smollm2):  # noqa: F811
    loaded = load.load(smollm2, dtype="float32")
    model, shape = loaded.model, surgery.anatomy(loaded.model)
    ids = token_ids(read_text(resources.HELDOUT_TEXT), loaded.tokenizer, TOKENS)
    given = methods.Given(loaded.tokenizer, smollm2, loaded.info, text=read_text(resources.TRAIN_TEXT))
    begun = time.perf_counter()
    examples, _ = importance.draw(model, given, heads.HeadsParams(), Run())
    scores = importance.head_scores(model, shape, importance.HEAD_CRITERIA, Run(), examples)
    print(f"\nwhat heads are worth, on {int(examples.tokens):,} tokens: {time.perf_counter() - begun:.0f} s")
    base = score(model, ids, context=512)[0].value
    print(f"original: perplexity {base:.2f} on {len(ids):,} tokens held out; {shape.layers} layers of {shape.units} key-value groups")
    print(f"{'criterion':20} {'share':>6} {'perplexity':>10} {'ratio':>7} {'nats more':>9} {'expected':>8}")
    found = {}
    for share in (0.1, 0.2, 0.3):
        for name in importance.HEAD_CRITERIA:
            off = heads.least_of_all(scores[name], heads.rounded(share, scores[name].numel()))
            with importance.silenced(model, shape, off):
                value = score(model, ids, context=512)[0].value
            found[name, share] = value / base
            expected = sum(float(scores["expected"][unit]) for unit in off)
            print(f"{name:20} {share:6.0%} {value:10.2f} {value / base:7.3f} {math.log(value / base):9.3f} {expected:8.3f}", flush=True)
    assert found["taylor", 0.1] < min(found[name, 0.1] for name in ("taylor_normalised", "random", "magnitude"))
    assert found["taylor", 0.1] <= 1.08
    assert found["taylor", 0.1] < found["taylor", 0.2] < found["taylor", 0.3]


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_variants(smollm2, tmp_path):  # noqa: F811
    original, ledger = load.load(smollm2), size.ledger(smollm2)
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, TOKENS)
    base = score(original.model, ids, context=512)[0].value
    print(f"\n{len(ids):,} tokens held out, {torch.get_num_threads()} threads")
    columns = f"{'M par.':>7} {'MB':>7} {'perplexity':>10} {'ratio':>6} {'KL':>7} {'agree':>6} {'prefill':>7} {'decode':>7} {'s':>4}"
    print(f"{'variant':34} {columns}")
    print(f"{'original':34} {ledger.parameters / 1e6:7.2f} {ledger.bytes_on_disk / 1e6:7.2f} {base:10.2f}")
    found = {}
    for number, (name, values) in enumerate(CASES):
        made = tmp_path / str(number)
        took = make(smollm2, made, name, values)
        after, loaded = size.ledger(made), load.load(made)
        m = {x.kind: x.value for x in score(loaded.model, ids, context=512, reference=original.model)}
        faster = _faster(loaded, original, ids)
        label = methods.label(methods.get(name), methods.checked(methods.get(name), values))
        label += {True: ", adjusted", False: ""}[values.get("compensate", False)] + f" {values.get('criterion', '')}"
        found[number] = m["perplexity"] / base
        sizes = f"{after.parameters / 1e6:7.2f} {after.bytes_on_disk / 1e6:7.2f}"
        quality = f"{m['perplexity']:10.2f} {m['perplexity'] / base:6.3f} {m['kl']:7.4f} {m['agreement']:6.3f}"
        print(f"{label:34} {sizes} {quality} {faster['prefill']:6.2f}x {faster['decode']:6.2f}x {took:4.0f}", flush=True)
    layers = [found[i] for i, (name, values) in enumerate(CASES) if name == "layers" and "criterion" not in values]
    assert layers == sorted(layers)


def _faster(loaded, original, ids) -> dict[str, float]:
    """The variant's speed over the original's, in plain transformers, taken one after the other."""
    mine, theirs = ({m.kind: m.value for m in speed.speed(x.model, ids, Run(), decode_tokens=16)} for x in (loaded, original))
    return {kind: mine[kind] / theirs[kind] for kind in ("prefill", "decode")}
