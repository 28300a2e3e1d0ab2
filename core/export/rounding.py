"""How finely each quantized layer's activations must be rounded for its fast product, found out before a graph is written.

onnxruntime's fast product of packed weights rounds each token's activations to int8, symmetrically, in blocks as long as those of
the weights (MatMulNBits, accuracy level 4). Outliers make their whole block coarse, so shorter blocks are closer, and slower; a layer
may keep exact products, which are slower still at 8 bits. What all of it changes in the end may be as much as the check allows
(parity.ROUNDED), less some room, and it's spent where it buys most time: one pass over a text tells what each layer would change with
each block, one with all layers rounded by how much that's off, and the blocks follow. Here torch rounds the same way, so what was
chosen is tried before it's written. Covers text generators; an encoder gives no probabilities to judge by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from core.export import parity
from core.export.trace import nbits_block, nbits_of
from core.models.activations import RoundedInputLinear
from core.models.packed import QuantWeight
from core.run import Run

BLOCKS = (64, 32, 16)
USUAL = 32  # what the pass with all layers rounded takes
# Shares of the divergence that the check allows which may be used up here, the fastest first: onnxruntime's is the same to a few per cent.
# The likeliest tokens are few that change, and fall this way or that: of them always as many.
ROOMS = (0.95, 0.85, 0.7, 0.5, 0.3)
CHANGED = 0.9
TRIES = 4  # choices that are tried for each
# Time of a token's product with a weight, by bits and block, over that of 4 bits in blocks of 32; None: exact (onnxruntime 1.32, 576 x 1536
# on one core: 35.8 microseconds). Exact products at 8 bits are of weights widened to float32.
TIMES: dict[int, dict[int | None, float]] = {
    4: {64: 0.83, 32: 1.0, 16: 1.4, None: 1.37},
    8: {64: 1.4, 32: 1.45, 16: 1.87, None: 4.3},
}


def round_blocks(x: Tensor, block: int) -> Tensor:
    """(..., columns) with each run of `block` columns on its own symmetric int8 grid, whose end is the largest magnitude there."""
    columns = x.shape[-1]
    runs = nn.functional.pad(x, (0, -columns % block)).unflatten(-1, (-1, block))
    scale = runs.abs().amax(-1, keepdim=True) / 127
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    return ((runs / scale).round() * scale).flatten(-2)[..., :columns]


@dataclass(slots=True)
class Unit:
    """Layers that read the same tensor, one after the other. They round alike, so that those of one grid can become one product.

    times, errors: by block, and None for exact; an error is the divergence that it'd cause alone, in nats, mean over the tokens.
    """

    names: list[str] = field(default_factory=list)
    times: dict[int | None, float] = field(default_factory=dict)
    errors: dict[int | None, float] = field(default_factory=dict)


def way_for(
    model: nn.Module, quants: dict[str, QuantWeight], answers: dict[str, np.ndarray], run: Run, rooms: Sequence[float] = ROOMS
) -> tuple[dict[str, int] | None, list[dict[str, Any]], int]:
    """(the block in which each layer rounds what it reads, exact where it isn't named: {} where rounding would make none faster, None
    where every choice changes too much; [{blocks: {'32': layers, 'exact': layers}, kl, short_kl: of the check's short texts, used: the
    share of the divergence that's allowed, top1: parity.kept}] of what was tried, what's given last; how many of `rooms` that took).

    The named layers are dense here, on their grid's exact values (trace.unpack_linears). answers: of `parity.reference`.
    """
    ids, wanted = torch.from_numpy(answers["ids"])[None], answers["answer"]
    units = measure(model, quants, ids, run)
    usual = choose(units, float("inf"), longest=USUAL)
    tried: list[dict[str, Any]] = []
    if not usual:
        return {}, tried, len(rooms)
    rows = [(torch.from_numpy(answers[f"row{i}"])[None], answers[f"row{i}_answer"]) for i in range(len(parity.ROWS))]
    short = np.concatenate([answer for _, answer in rows])

    def attempt(blocks: dict[str, int]) -> dict[str, Any]:
        run.check_cancelled()
        found = _ask(model, blocks, ids)
        kl = parity.divergence(short, np.concatenate([_ask(model, blocks, row) for row, _ in rows]))
        counts = Counter(str(blocks.get(name, "exact")) for unit in units for name in unit.names)
        figures = {"kl": parity.divergence(wanted, found), "short_kl": kl, "top1": parity.kept(wanted, found)}
        pairs = ((figures["kl"], len(wanted)), (kl, len(short)))
        share = max(value / max(parity.allowed(tokens), 1e-30) for value, tokens in pairs)
        tried.append({"blocks": dict(counts)} | figures | {"used": share})
        return tried[-1]

    def within(found: dict[str, Any], room: float) -> bool:
        return found["used"] <= room and 1 - found["top1"] <= CHANGED * (1 - parity.ROUNDED["top1"])

    first = attempt(usual)
    off = first["kl"] / max(_sum(units, usual, "errors"), 1e-30)
    for index, room in enumerate(rooms):
        allowed = room * parity.ROUNDED["kl"] / max(off, 1e-30)
        for _ in range(TRIES):
            blocks = choose(units, allowed)
            if not blocks or (within(first, room) and _sum(units, blocks, "times") >= _sum(units, usual, "times")):
                break
            found = first if blocks == usual else attempt(blocks)
            if within(found, room):
                tried.sort(key=lambda one: one is found)
                return blocks, tried, index + 1
            allowed *= min(0.95, room / max(found["used"], 1e-30))
        if within(first, room):
            tried.sort(key=lambda one: one is first)
            return usual, tried, index + 1
    return None, tried, len(rooms)


def choose(units: list[Unit], allowed: float, longest: int = max(BLOCKS)) -> dict[str, int]:
    """The fastest blocks whose errors add up to `allowed` at most: what saves most time for its error first."""
    steps = [(ratio, error, index, block) for index, unit in enumerate(units) for ratio, error, block in _steps(unit, longest)]
    taken: dict[int, int | None] = {}
    full: set[int] = set()
    spent = 0.0
    for _, error, index, block in sorted(steps, key=lambda step: -step[0]):
        if index in full or spent + error > allowed:
            full.add(index)  # its next steps build on this one
            continue
        spent += error
        taken[index] = block
    return {name: block for index, block in taken.items() if block is not None for name in units[index].names}


def _steps(unit: Unit, longest: int) -> Iterator[tuple[float, float, int]]:
    """(time saved for each unit of error, error more, block), from exact products on, each step worth less than the one before."""
    at = None
    while True:
        time, error = unit.times[at], unit.errors[at]
        better = [b for b in unit.times if b is not None and b <= longest and unit.times[b] < time and unit.errors[b] >= error and b != at]
        if not better:
            return
        ratio = {b: (time - unit.times[b]) / max(unit.errors[b] - error, 1e-30) for b in better}
        at = max(better, key=lambda b: (ratio[b], -unit.times[b]))
        yield ratio[at], unit.errors[at] - error, at


def _sum(units: list[Unit], blocks: dict[str, int], what: str) -> float:
    return sum(getattr(unit, what)[blocks.get(unit.names[0])] for unit in units)


def measure(model: nn.Module, quants: dict[str, QuantWeight], ids: Tensor, run: Run) -> list[Unit]:
    """What each block would cost and spare, by one pass forth and back over a text. ids: (1, tokens)

    What a layer puts out moves by d, and the probabilities by a divergence of E[(g d)^2] / 2, where g is the gradient of a token's log
    probability and the token is drawn from the model: its Fisher information, as in Theis et al., arXiv 1801.05787, 2.1. Tokens of all
    places are drawn at once, since what's drawn at one tells nothing of the others.
    """
    units: list[Unit] = []
    read: list[Tensor | None] = [None]
    tokens = ids.shape[1]

    def after(name: str, options: dict[int | None, float]):
        def hook(layer: nn.Module, args: tuple, out: Tensor) -> None:
            run.check_cancelled()
            x = args[0].detach()
            unit = units[-1] if units and args[0] is read[0] and units[-1].times.keys() == options.keys() else None
            if unit is None:
                unit = Unit(times=dict.fromkeys(options, 0.0), errors=dict.fromkeys(options, 0.0))
                units.append(unit)
            read[0] = args[0]
            unit.names.append(name)
            for block, time in options.items():
                unit.times[block] += time * layer.weight.numel()

            def back(gradient: Tensor) -> None:
                run.check_cancelled()
                with torch.no_grad():
                    for block in options:
                        if block is not None:
                            moved = nn.functional.linear(x - round_blocks(x, block), layer.weight)
                            unit.errors[block] += float((gradient * moved).sum(-1).square().sum()) / (2 * tokens)

            out.register_hook(back)

        return hook

    hooks = [model.get_input_embeddings().register_forward_hook(lambda _, __, out: out.requires_grad_())]
    for name, quant in quants.items():
        layer = model.get_submodule(name)
        if isinstance(layer, nn.Linear) and not isinstance(layer, RoundedInputLinear):
            times = TIMES[nbits_of(quant)]
            exact = times[None] if nbits_block(quant) is not None else TIMES[8][None]
            blocks = [block for block in BLOCKS if nbits_block(quant, 8, block) == block]
            if blocks:
                options = {None: exact} | {block: times[block] for block in blocks}
                hooks.append(layer.register_forward_hook(after(name, options)))
    asked = [p for p in model.parameters() if p.requires_grad]
    for p in asked:
        p.requires_grad_(False)  # no memory for gradients of weights
    try:
        with torch.enable_grad():
            logs = model(input_ids=ids, use_cache=False).logits[0].float().log_softmax(-1)
            drawn = torch.multinomial(logs.detach().exp(), 1, generator=torch.Generator().manual_seed(0))
            logs.gather(-1, drawn).sum().backward()
    finally:
        for hook in hooks:
            hook.remove()
        for p in asked:
            p.requires_grad_(True)
    return units


@contextmanager
def _rounding(model: nn.Module, blocks: dict[str, int]) -> Iterator[None]:
    def before(block: int):
        return lambda _, args: (round_blocks(args[0], block), *args[1:])

    hooks = [model.get_submodule(name).register_forward_pre_hook(before(block)) for name, block in blocks.items()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _ask(model: nn.Module, blocks: dict[str, int], ids: Tensor) -> np.ndarray:
    with torch.no_grad(), _rounding(model, blocks):
        return model(input_ids=ids, use_cache=False).logits[0].float().numpy()
