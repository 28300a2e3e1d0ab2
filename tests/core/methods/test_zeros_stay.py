"""What pruning set to zero is zero still after what comes next: every quantization, saving, reloading, pruning once more."""

import pytest
import torch

from core.models import load, save, size
from core.models.blocks import linears, weight_of
from core.run import Run
from tests.core.methods.conftest import apply

CALIBRATED = {"windows": 4, "context": 32}
SHORT = {"steps": 3, "batch": 2, "context": 16}
NEXT = [
    *(
        ("rtn", {"bits": b, "symmetric": s, "group_size": 16, "clip": c})
        for b, s, c in ((8, True, False), (8, False, False), (4, False, True))
    ),
    *(("rtn", {"bits": b, "symmetric": s, "group_size": 16}) for b in (4, 2) for s in (True, False)),
    *(("gptq", CALIBRATED | {"bits": b, "symmetric": s, "group_size": 16}) for b in (4, 3) for s in (True, False)),
    ("gptq", CALIBRATED | {"bits": 4, "group_size": 16, "act_order": False, "stepwise": True}),
    *(("awq", CALIBRATED | {"symmetric": s, "group_size": 16}) for s in (True, False)),
    *(("hqq", {"bits": b, "symmetric": s, "group_size": 16}) for b in (4, 3) for s in (True, False)),
    *(
        ("mixed", CALIBRATED | {"probe_windows": 2, "probe_context": 24, "average_bits": 5.5, "rounding": r})
        for r in ("gptq", "hqq", "rtn")
    ),
    ("int8_static", CALIBRATED),
    ("smoothquant", CALIBRATED),
    ("int8_dynamic", {}),
    ("cast", {"to": "fp8"}),
    ("qat", SHORT),
    ("qat", SHORT | {"weights": "int8", "activations": "int8"}),
    ("finetune", SHORT),
    ("sparsegpt", CALIBRATED | {"sparsity": 0.6}),
    ("wanda", CALIBRATED | {"sparsity": 0.6}),
]


@pytest.fixture(scope="module")
def pruned(pico_llama, tmp_path_factory):
    """Half of the weights by SparseGPT, whose zeros lie anywhere in a row."""
    folder = tmp_path_factory.mktemp("pruned")
    save.save(apply("sparsegpt", load.load(pico_llama), **CALIBRATED).model, folder, pico_llama, run=Run())
    return folder


@pytest.mark.parametrize(("name", "values"), NEXT, ids=lambda v: v if isinstance(v, str) else "-".join(map(str, v.values())))
def test_zeros_stay_zero(pruned, tmp_path, name, values):
    before = {n: weight_of(m) == 0 for n, m in linears(load.load(pruned).model)}
    outcome = apply(name, load.load(pruned), **values)
    save.save(outcome.model, tmp_path, pruned, run=Run(), dtype=outcome.dtype)
    after = dict(linears(load.load(tmp_path).model))  # dequantized, as plain transformers reads it
    assert sum(int(m.sum()) for m in before.values()) == sum(m.numel() for m in before.values()) // 2
    lost = {n: int((weight_of(after[n])[mask] != 0).sum()) for n, mask in before.items()}
    assert not any(lost.values()), lost
    assert size.ledger(tmp_path).nonzero <= size.ledger(pruned).nonzero
    assert all(torch.isfinite(weight_of(m)).all() for m in after.values())
