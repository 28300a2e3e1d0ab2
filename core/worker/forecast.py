"""How fast a model that isn't made yet is predicted to write, and to draft, from its teacher's measured speed.

    seconds a token = base + layers * each + weights read * rate

`base` and `each` are what a forward and a layer cost however small they are, measured once in a process on two models of next to
nothing; `rate` is what's left of the teacher's measured seconds over the weights that it reads for a token. Weights are taken to be
stored alike, which is right for students and not for quantized models. A prediction, and called one wherever it's shown.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch

from core.decode import calibrate
from core.records import Measurement, SourceInfo
from core.run import Run
from core.theory import speedups

ACCEPTANCES = (0.5, 0.7, 0.9)  # that a draft's speed-up is told for: its own isn't known before it's trained
FEW, MANY = 2, 10  # layers of the two small models
TIMES = 8  # that they're measured; the least counts, for a busy moment adds more than a layer costs


@cache
def overheads(threads: int) -> tuple[float, float]:
    """(base, each): seconds of a forward of one token without layers, and of a layer, both with hardly any weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    made = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for layers in (MANY, FEW):
            config = LlamaConfig(
                vocab_size=64,
                hidden_size=64,
                intermediate_size=128,
                num_hidden_layers=layers,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=256,
            )
            made.append(LlamaForCausalLM(config).eval())
    times = [calibrate.pair(*made, 1, lambda: None) for _ in range(TIMES)]
    many, few = (min(costs[who][1] for costs in times) for who in ("target", "draft"))
    each = max(0.0, many - few) / (MANY - FEW)
    return max(0.0, few - FEW * each), each


def weights_read(info: SourceInfo, parameters: int, vocabulary: float = 1.0, width: float = 1.0) -> float:
    """Weights that are read for a token by a model of the family of `info` with so many of them. vocabulary: share of the output's rows;
    width: of that of `info`, which embedding and output layer grow with, however many layers there are.

    Of an embedding one row is read, unless it's the output layer too.
    """
    embedding, head = (width * info.components.get(part, 0) for part in ("embedding", "head"))
    if info.tied:
        return parameters - (1 - vocabulary) * embedding
    return parameters - embedding - (1 - vocabulary) * head


def seconds(
    info: SourceInfo,
    measured: float,
    layers: int,
    parameters: int,
    vocabulary: float = 1.0,
    width: float = 1.0,
    threads: int | None = None,
) -> float:
    """Seconds a token of a model with so many layers and weights. measured: tokens a second of the one that `info` tells of."""
    base, each = overheads(threads or torch.get_num_threads())
    fixed = base + each * (info.layers or 0)
    whole = 1 / measured
    if fixed >= whole:  # measured while the machine was busier than it was then: what's fixed is no more than all of it
        base, each = base * whole / fixed, each * whole / fixed
        fixed = whole
    rate = (whole - fixed) / weights_read(info, info.parameters or 1)
    return base + each * layers + rate * weights_read(info, parameters, vocabulary, width)


def forecast(
    found: dict[str, Any], info: SourceInfo, measurements: list[Measurement], method: str, params: Any, run: Run
) -> dict[str, Any]:
    """What an estimate that names the student's layers and parameters can add: 'measured_decode' of the teacher, 'predicted_decode'; of a
    draft 'predicted_cost', its share of the target's, and 'predicted_speedups': (acceptance, gamma, speed-up) at the best gamma of each.

    Nothing where the teacher's speed wasn't measured on this device, or it's quantized.
    """
    layers, parameters = found.get("layers"), found.get("parameters")
    if not layers or not parameters or info.task != "causal-lm" or info.quantization or not info.parameters:
        return {}
    latest = {m.kind: m for m in measurements if m.kind in ("decode", "prefill") and m.conditions.get("device", "cpu") == run.device}
    if "decode" not in latest or latest["decode"].value <= 0:
        return {"measured_decode": None}
    decode = latest["decode"].value
    share = min(1.0, (getattr(params, "vocabulary", None) or math.inf) / (info.vocabulary or 1))
    one = seconds(info, decode, layers, parameters, share, found.get("width", 1.0))
    out: dict[str, Any] = {"measured_decode": decode, "predicted_decode": 1 / one}
    if method == "draft" and "prefill" in latest:
        out["predicted_cost"] = one * decode
        further = 1 / latest["prefill"].value  # what each further token of one forward costs
        target = {n: 1 / decode + (n - 1) * further for n in range(1, params.gamma + 2)}
        gains = []
        for alpha in ACCEPTANCES:
            course = speedups([alpha] * params.gamma, target, {1: one})
            gamma = max(range(1, len(course)), key=course.__getitem__)
            gains.append((alpha, gamma, course[gamma]))
        out["predicted_speedups"] = gains
    return out
