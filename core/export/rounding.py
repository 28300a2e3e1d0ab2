"""How finely a quantized layer's activations must be rounded for its fast product, found out before a graph is written.

onnxruntime's fast product of packed weights rounds each token's activations to int8, symmetrically, in blocks as long as those of
the weights (MatMulNBits, accuracy level 4). Outliers make their whole block coarse, so shorter blocks are closer, and cost more
scales in the file. Where all layers together change too much, those that suffer most keep exact products: by the error of what they
put out, which one pass over the text tells. Here torch rounds the same way, and the first of WAYS is taken whose probabilities stay
within the limits of the check (parity.ROUNDED) with some room. Covers text generators; an encoder gives no probabilities to judge by.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from core.export import parity
from core.models.activations import RoundedInputLinear
from core.run import Run

WAYS = ((32, 1.0), (16, 1.0), (16, 0.9), (16, 0.75), (16, 0.5))  # (block, share of the layers that round), the fastest first
ROOM = 0.8  # share of what the check allows that may be used up here


def round_blocks(x: Tensor, block: int) -> Tensor:
    """(..., columns) with each run of `block` columns on its own symmetric int8 grid, whose end is the largest magnitude there."""
    columns = x.shape[-1]
    runs = nn.functional.pad(x, (0, -columns % block)).unflatten(-1, (-1, block))
    scale = runs.abs().amax(-1, keepdim=True) / 127
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    return ((runs / scale).round() * scale).flatten(-2)[..., :columns]


@dataclass(frozen=True)
class Rounding:
    """The block, and the layers that keep exact products."""

    block: int
    exact: frozenset[str] = frozenset()


def way_for(
    model: nn.Module, names: Iterable[str], answers: dict[str, np.ndarray], run: Run, ways: Iterable[tuple[int, float]] = WAYS
) -> tuple[Rounding | None, dict[str, dict[str, float]]]:
    """(the first of `ways` in which the named dense layers, on their grid's exact values, may round their inputs; None where each
    changes too much; {'16' or '16, 90%': {kl, top1: parity.kept}} of those that were tried). answers: of `parity.reference`."""
    tried: dict[str, dict[str, float]] = {}
    layers = {n: m for n in names if isinstance(m := model.get_submodule(n), nn.Linear) and not isinstance(m, RoundedInputLinear)}
    ids, wanted = torch.from_numpy(answers["ids"])[None], answers["answer"]
    order: list[str] | None = None
    for block, share in ways:
        run.check_cancelled()
        exact: frozenset[str] = frozenset()
        if share < 1:
            order = order or _by_error(model, layers, ids, block)
            exact = frozenset(order[max(1, round(share * len(order))) :])
        found = _ask(model, [m for n, m in layers.items() if n not in exact], ids, block)
        kl, top1 = parity.divergence(wanted, found), parity.kept(wanted, found)
        tried[str(block) if share == 1 else f"{block}, {share:.0%}"] = {"kl": kl, "top1": top1}
        if kl <= ROOM * parity.ROUNDED["kl"] and 1 - top1 <= ROOM * (1 - parity.ROUNDED["top1"]):
            return Rounding(block, exact), tried
    return None, tried


def _by_error(model: nn.Module, layers: dict[str, nn.Module], ids: Tensor, block: int) -> list[str]:
    """The layers by how much of what they put out is error, each rounding alone, the least first."""
    errors: dict[str, float] = {}

    def after(name: str):
        def hook(layer: nn.Module, args: tuple, out: Tensor) -> None:
            lost = nn.functional.linear(args[0] - round_blocks(args[0], block), layer.weight)
            errors[name] = float(lost.square().sum() / out.square().sum().clamp_min(1e-30))

        return hook

    hooks = [layer.register_forward_hook(after(name)) for name, layer in layers.items()]
    try:
        with torch.no_grad():
            model(input_ids=ids, use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    return sorted(errors, key=errors.__getitem__)


def _ask(model: nn.Module, layers: list[nn.Module], ids: Tensor, block: int) -> np.ndarray:
    def before(_: Any, args: tuple) -> tuple:
        return (round_blocks(args[0], block), *args[1:])

    hooks = [layer.register_forward_pre_hook(before) for layer in layers]
    try:
        with torch.no_grad():
            return model(input_ids=ids, use_cache=False).logits[0].float().numpy()
    finally:
        for hook in hooks:
            hook.remove()
