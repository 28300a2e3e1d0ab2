"""How finely a quantized layer's activations must be rounded for its fast product, found out before a graph is written.

onnxruntime's fast product of packed weights rounds each token's activations to int8, symmetrically, in blocks as long as those of
the weights (MatMulNBits, accuracy level 4). Outliers make their whole block coarse, so shorter blocks are closer, and cost more
scales in the file. Here torch rounds the same way, and the longest block is taken whose probabilities stay within the limits of
the check (parity.ROUNDED) with some room. Covers text generators; an encoder gives no probabilities to judge by.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from core.export import parity
from core.models.activations import RoundedInputLinear
from core.run import Run

BLOCKS = (32, 16)
ROOM = 0.8  # share of what the check allows that may be used up here


def round_blocks(x: Tensor, block: int) -> Tensor:
    """(..., columns) with each run of `block` columns on its own symmetric int8 grid, whose end is the largest magnitude there."""
    columns = x.shape[-1]
    runs = nn.functional.pad(x, (0, -columns % block)).unflatten(-1, (-1, block))
    scale = runs.abs().amax(-1, keepdim=True) / 127
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    return ((runs / scale).round() * scale).flatten(-2)[..., :columns]


def block_for(
    model: nn.Module, names: Iterable[str], answers: dict[str, np.ndarray], run: Run, blocks: Iterable[int] = BLOCKS
) -> tuple[int | None, dict[str, dict[str, float]]]:
    """(the first of `blocks` with which the named dense layers, on their grid's exact values, may round their inputs; None where each
    changes too much; {block: {kl, top1}} of those that were tried). answers: of `parity.reference`."""
    tried: dict[str, dict[str, float]] = {}
    layers = [m for m in map(model.get_submodule, names) if isinstance(m, nn.Linear) and not isinstance(m, RoundedInputLinear)]
    ids, wanted = torch.from_numpy(answers["ids"])[None], answers["answer"]
    for block in blocks:
        run.check_cancelled()
        found = _ask(model, layers, ids, block)
        kl, top1 = parity.divergence(wanted, found), float((found.argmax(-1) == wanted.argmax(-1)).mean())
        tried[str(block)] = {"kl": kl, "top1": top1}
        if kl <= ROOM * parity.ROUNDED["kl"] and 1 - top1 <= ROOM * (1 - parity.ROUNDED["top1"]):
            return block, tried
    return None, tried


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
