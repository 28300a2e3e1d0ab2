"""What a step would need and give, reckoned from records and a moment's timing; everything here is an estimate.

Covers the sizes that the methods' own estimates are made of: the weights of the linear layers, their rows and widths,
memory on a device, and how fast this machine multiplies and touches memory. Loads no model.
"""

from __future__ import annotations

import functools
import math
import time
from typing import Any

import torch

from core.records import Ledger, SourceInfo

BYTES = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}


# Of a single product's speed, what training reached where it was timed: the faster the products, the more the rest counts.
REACHED = {torch.float32: 0.5, torch.bfloat16: 0.2}


def linear_parameters(info: SourceInfo) -> int:
    """Weights of the linear layers inside the blocks (their biases too, where there are any: under 1 %); of a UNet, its convolutions."""
    if info.task == "diffusion":
        return (info.parameters or 0) - info.components.get("norm", 0) - info.components.get("embedding", 0)
    return info.components.get("attention", 0) + info.components.get("mlp", 0)


def widths(info: SourceInfo) -> tuple[int, ...]:
    """The input widths that the blocks' linear layers have, ascending; empty where the shape isn't known."""
    attention = (info.heads or 0) * (info.head_dim or 0)
    return tuple(sorted({w for w in (info.hidden, info.intermediate, attention) if w}))


def linear_rows(info: SourceInfo) -> int | None:
    """Output rows of all linear layers in the blocks together: each has a scale, or one a group. None where not known."""
    if not (info.layers and info.hidden and info.intermediate and info.heads and info.head_dim):
        return None
    queries, keys = info.heads * info.head_dim, (info.kv_heads or info.heads) * info.head_dim
    matrices = round(info.components.get("mlp", 0) / (info.layers * info.hidden * info.intermediate))  # 3 with a gate, else 2
    mlp = max(1, matrices - 1) * info.intermediate + info.hidden
    return info.layers * (queries + 2 * keys + info.hidden + mlp)


def linear_count(info: SourceInfo) -> int:
    """How many linear layers the blocks hold."""
    matrices = round(info.components.get("mlp", 0) / max(1, (info.layers or 1) * (info.hidden or 1) * (info.intermediate or 1)))
    return (info.layers or 1) * (4 + max(2, matrices))


def largest_linear(info: SourceInfo) -> int:
    """Weights of the largest linear layer."""
    return (info.hidden or 0) * max(widths(info), default=0)


def stored_bytes(info: SourceInfo) -> int:
    """Bytes a weight has on disk, in the dtype that most of them are stored in."""
    main = max(info.dtypes, key=lambda name: info.dtypes[name], default="BF16")
    return BYTES.get(main, 2)


def resident(info: SourceInfo, device: str) -> int:
    """Bytes of the model's weights where it's loaded to be worked on: float32, but the stored dtype on CUDA."""
    return (info.parameters or 0) * (stored_bytes(info) if device.startswith("cuda") else 4)


def training(info: SourceInfo, batch: int, context: int, share: float = 1.0) -> int:
    """Bytes to train a model with `share` of the parameters: weights, gradients, two moments, the best copy, activations."""
    weights = 20 * share * (info.parameters or 0)
    hidden, layers = info.hidden or 0, max(1, round((info.layers or 0) * share))
    activations = 4 * batch * context * layers * (10 * hidden + 3 * (info.intermediate or 4 * hidden))
    return int(weights + activations + 6 * 4 * logits_at_once(batch, context, info.vocabulary or 0))


def logits_at_once(batch: int, context: int, vocabulary: int) -> int:
    """Logits that one pass of a training step holds: the batch is cut so that they stay bounded."""
    return rows_at_once(batch, context, vocabulary) * context * vocabulary


def rows_at_once(batch: int, context: int, vocabulary: int, most: int = 1 << 25) -> int:
    """Rows of a batch that go through the model together, so that their logits are at most `most` (128 MB in float32)."""
    return max(1, min(batch, most // max(1, context * vocabulary)))


def effective_bits(bytes_on_disk: int, ledger: Ledger) -> float | None:
    """Bits a parameter of the original, where the files come to that many bytes and what isn't weights stays as it is."""
    other = ledger.bytes_on_disk - ledger.weight_bytes
    return 8 * (bytes_on_disk - other) / ledger.original_parameters if ledger.original_parameters else None


def training_seconds(
    info: SourceInfo, tokens: int, student: float, teacher: float, device: str, dtype: torch.dtype = torch.float32
) -> float | None:
    """Seconds to train on `tokens`: 6 operations a parameter and token for the student, 2 for the teacher's forward.

    student, teacher: shares of `info.parameters`; dtype: computed in. Training reaches a part of what one product does.
    """
    if not info.parameters:
        return None
    return tokens * info.parameters * (6 * student + 2 * teacher) / (REACHED.get(dtype, 0.2) * operations_per_second(device, dtype))


@functools.cache
def operations_per_second(device: str, dtype: torch.dtype = torch.float32) -> float:
    """Floating-point operations a second of a matrix product on this device, timed for about a twentieth of a second."""
    n = 512 if device == "cpu" else 4096
    a = torch.ones(n, n, device=device, dtype=dtype)
    return 2 * n**3 / _seconds(lambda: a @ a, device)


@functools.cache
def seconds_per_weight(device: str) -> float:
    """Seconds to read, scale and write one float32 number on this device, timed."""
    x = torch.ones(1 << 20, device=device)
    return _seconds(lambda: x * 2, device) / x.numel()


def _seconds(act: Any, device: str, spend: float = 0.05) -> float:
    """Fastest of some repeats: others' load makes them slower, never faster."""
    best, begun = math.inf, time.perf_counter()
    while time.perf_counter() - begun < spend or math.isinf(best):
        start = time.perf_counter()
        act()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        elif device == "mps":
            torch.mps.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


# ---- methods that go block by block on a calibration text -----------------------------------------------------------------


def walking(info: SourceInfo, windows: int, context: int, device: str, passes: float, hessians: float = 0) -> tuple[int, float | None]:
    """(bytes, seconds) of a sequential walk: the model (or, where it doesn't fit, a block), activations, and what's collected.

    passes: how often each block is run on all windows, in whole runs; hessians: how many squares of the widest layer are held at
    once, 0 where no Hessian is collected. Seconds without what the method does with what it collected; None where not known.
    """
    from core.models import devices

    hidden, widest = info.hidden or 0, max(widths(info), default=0)
    model = resident(info, device)
    block = 4 * linear_parameters(info) // max(1, info.layers or 1)
    tokens = windows * context
    held = 4 * tokens * hidden + int(4 * hessians * widest**2) + 2 * block
    memory = (model if 1.2 * model <= devices.free_bytes(device) else block) + held
    if not linear_parameters(info):
        return memory, None
    inside = 2 * linear_parameters(info) * passes + 4 * context * hidden * (info.layers or 1) * passes
    collected = 2 * (info.layers or 1) * (3 * hidden**2 + widest**2) if hessians else 0
    return memory, tokens * (inside + collected) / (REACHED[torch.float32] * operations_per_second(device))
