"""Tables of what rounded inputs, casts, training on a grid and gradients in few bits cost.

    pytest -m bench -s tests/bench/bench_activations.py

On the starter model and, where it's there, SmolLM2-135M: each 8-bit and fp8 method beside int8 weights alone, on held-out text
not used for calibration; on the shelf's MiniLM the cosine of its embeddings. The gradients' table trains the smaller starter
from random weights, three seeds a choice. SmolLM2's cache is scored at 8 and 4 bits. Asserts nothing.
"""

import pytest
import torch

import resources
from core import methods
from core.data.text import read_text, token_ids
from core.decode.cache import CachedModel
from core.decode.kv_quant import cache_bytes
from core.evaluate import embedding
from core.methods import training
from core.methods.gradient_study import begin_anew, study
from core.models import load
from core.run import Run
from tests.bench.bench_methods import bring_in, table

FEW = {"windows": 16}
CASES = [
    ("rtn", {"bits": 8, "symmetric": True}),
    ("int8_dynamic", {}),
    ("int8_dynamic", {"activations": "offset"}),
    ("smoothquant", FEW),
    ("smoothquant", FEW | {"strength": "fixed", "places": "norms"}),
    *(("int8_static", FEW | {"observer": observer}) for observer in ("error", "minmax", "percentile", "entropy")),
    ("int8_static", FEW | {"observer": "minmax", "smooth": 0}),
    ("fp8", {}),
    ("cast", {"to": "fp8"}),
    ("cast", {"to": "fp8", "scale": "none"}),
    ("cast", {"to": "float16"}),
]
GRID = {"symmetric": False, "group_size": 32, "steps": 100, "batch": 8, "context": 128}
TRAINED = [("qat", GRID | {"weights": weights}) for weights in ("int4", "int3")]

pytestmark = [pytest.mark.bench, pytest.mark.timeout(7200)]


def test_starter(tmp_path):
    table(bring_in(resources.STARTER_TARGET, tmp_path), tmp_path, CASES + TRAINED, 20_000)


def test_smollm2(shelf, tmp_path):
    table(bring_in(_there(shelf / "smollm2-135m.gguf"), tmp_path), tmp_path, CASES, 8_192)


def test_minilm(shelf):
    source = _there(shelf / "minilm-l6")
    reference, text, held_out = load.load(source), read_text(resources.TRAIN_TEXT), read_text(resources.HELDOUT_TEXT)
    print("\nMiniLM, mean cosine of its embeddings to the original's")
    for name, values in CASES:
        loaded = load.load(source)
        method = methods.get(name)
        given = methods.Given(loaded.tokenizer, source, loaded.info, text=text)
        if "windows" in values:
            values = values | {"context": 128}
        loaded.model = method.apply(loaded.model, methods.checked(method, values), Run(), given).model
        found = embedding.score(loaded, reference, held_out, most=128)[0]
        print(f"{methods.label(method, methods.checked(method, values)):50} {found.value:.5f} ± {found.stderr:.5f}")


def test_gradients():
    loaded = load.load(resources.STARTER_DRAFT, train=True)
    begin_anew(loaded.model, 0)
    given = methods.Given(loaded.tokenizer, loaded.folder, loaded.info, text=read_text(resources.TRAIN_TEXT))
    params = training.TrainingParams(steps=150, batch=8, context=64, learning_rate=2e-3)
    found = study(loaded.model, given, params, Run(), seeds=3)
    print(f"\n{found['parameters']:,} parameters, {found['steps']} steps from random weights, loss {found['start']:.4f} before")
    for row in found["rows"]:
        share, loss = row["sent"] / row["plain"], f"{row['heldout_loss']:.4f} ± {row['stderr']:.4f}"
        print(f"{row['name']:45} loss {loss}  {row['sent'] / 1e6:8.1f} MB ({share:.0%})  error {row['error']:.3f}  {row['seconds']:.1f} s")


def test_cache(shelf, tmp_path):
    loaded = load.load(bring_in(_there(shelf / "smollm2-135m.gguf"), tmp_path))
    ids = token_ids(read_text(resources.HELDOUT_TEXT), loaded.tokenizer, 2048).view(-1, 512)
    targets, want = ids[:, 1:].flatten(), None
    print("\nSmolLM2's cache on 4 windows of 512 tokens")
    for bits in (None, 8, 4):
        caches = [CachedModel(loaded.model, kv_bits=bits) for _ in ids]
        log_q = torch.cat([c.forward(row.tolist(), 512)[:-1].log_softmax(-1) for c, row in zip(caches, ids, strict=True)])
        want = log_q if want is None else want
        perplexity = float((-log_q.gather(1, targets[:, None])).mean().exp())
        kl = float((want.exp() * (want - log_q)).sum(-1).mean())
        taken, plain = cache_bytes(caches[0].layer_caches())
        print(f"{bits or 'full'!s:>5} bits: perplexity {perplexity:.3f}, KL {kl:.5f}, {taken / 1e6:.2f} of {plain / 1e6:.2f} MB a window")


def _there(path):
    if not path.exists():
        pytest.skip(f"{path} isn't there")
    return path
