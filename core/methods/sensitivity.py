"""Sensitivity: how far a model's outputs move when one linear layer alone is quantized, for each layer and each width.

    KL(model || model with the layer on its grid), in nats, mean over the outputs at all positions of the windows

After Dong et al., 'HAWQ' (2019), in which second derivatives stand for it; here it's measured. A layer's change can't be seen
before the layer's own block, so the activations at the door of that block are kept, and only the blocks from there on are run
again: half the cost. Weights are rounded to nearest, as `rtn` rounds them, and put back bit for bit.

The mean of p(expm1(-d) + d), d = ln p - ln q, is the KL without the part that sums to 0, so that an 8-bit layer's 1e-6 isn't lost
in the rounding of float32. Covers models with outputs over a vocabulary or over classes, whose blocks run one after the other.
Doesn't choose bits: core.allocation does.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from pydantic import ValidationError
from torch import Tensor, nn

from core.allocation import DENSE, LayerCost, SensitivityMap
from core.errors import UserError
from core.methods.quantization import grid
from core.methods.quantization.grid import GridParams
from core.models import devices, packed
from core.models.blocks import blocks, weight_of
from core.run import Run
from core.workspace import write_atomically

TOKENS = 4096  # that go through a block together
LOGITS = 1 << 25  # outputs held at once besides the reference's: 128 MB in float32


def grid_for(bits: int, group_size: int) -> GridParams:
    """The grid of a layer with so many bits: rows with an offset at 8, symmetric groups below, which is what can be mixed in one model."""
    return GridParams(bits=bits, granularity="auto", group_size=group_size, symmetric="auto")


def layer_bytes(rows: int, columns: int, bits: int, group: int, scale_bytes: int) -> int:
    """Bytes of a layer's codes, scales and zeros on `grid_for`'s grid, where `group` columns share a scale."""
    if bits == 8:
        return rows * (columns + scale_bytes + 1)
    return rows * (4 * math.ceil(columns * bits / 32) + columns // group * scale_bytes)


@torch.no_grad()
def measure(
    model: nn.Module,
    ids: Tensor,
    layers: Sequence[tuple[str, nn.Module]],
    run: Run,
    *,
    widths: Sequence[int],
    group: int,
    clip: bool,
    scale_dtype: torch.dtype,
    dense_bytes: int,
    known: Sequence[LayerCost] = (),
    tell: Callable[[LayerCost], None] = lambda cost: None,
) -> tuple[LayerCost, ...]:
    """The costs of those of `layers` that lie in a block, in the model's order.

    model: changed while it runs and left as it was; ids: LongTensor (windows, context); group: columns that share a
    scale below 8 bits; scale_dtype: what scales are stored in; dense_bytes: of a weight as it's stored; known: costs that needn't
    be measured again; tell: called with each new one. Raises UserError: no recognisable blocks, no logits, weights that aren't
    numbers, no memory for the reference.
    """
    found = blocks(model)
    with in_float32(model):
        return _costs(model, found, ids, layers, run, widths, group, clip, scale_dtype, dense_bytes, known, tell)


def _costs(model, found, ids, layers, run, widths, group, clip, scale_dtype, dense_bytes, known, tell) -> tuple[LayerCost, ...]:
    home = [
        (index, block, name, module) for index, (block, _) in enumerate(found) for name, module in layers if name.startswith(f"{block}.")
    ]
    done = {cost.name: cost for cost in known}
    todo = [entry for entry in home if entry[2] not in done]
    suffix = Suffix(model, [block for _, block in found], ids, run) if todo else None
    for index, block, name, module in run.track(todo, "Measuring sensitivity"):
        suffix.advance(index)
        weight = weight_of(module)  # a view: what's written there, the model computes with
        kept = grid.finite(name, weight).clone()
        rows, columns = kept.shape
        kl, error = {DENSE: 0.0}, {DENSE: None}
        try:
            for bits in widths:
                run.check_cancelled()
                own = grid_for(bits, group)
                size = group if grid.granularity(own) == "group" else None
                quant = grid.round_to_nearest(kept, bits, size, grid.symmetric(own), clip and bits < 8, scale_dtype)
                weight.copy_(packed.dequantize(quant, kept.dtype))
                kl[bits], error[bits] = suffix.divergence()
        finally:
            weight.copy_(kept)
        size_of = {bits: layer_bytes(rows, columns, bits, group, scale_dtype.itemsize) for bits in widths}
        done[name] = LayerCost(
            name=name,
            block=index,
            kind=name.removeprefix(f"{block}."),
            rows=rows,
            columns=columns,
            bytes={DENSE: rows * columns * dense_bytes} | size_of,
            kl=kl,
            stderr=error,
        )
        tell(done[name])
    return tuple(done[name] for _, _, name, _ in home)


@contextlib.contextmanager
def in_float32(model: nn.Module) -> Iterator[None]:
    """The model with its parameters in float32 for the length of the block: in bfloat16 an 8-bit layer drowns in rounding.

    Afterwards they're what they were, bit for bit, so long as what's written into them is put back.
    """
    narrow = [(p, p.data.dtype) for p in model.parameters() if p.is_floating_point() and p.dtype.itemsize < 4]
    try:
        for parameter, _ in narrow:
            parameter.data = parameter.data.float()
        yield
    finally:
        for parameter, dtype in narrow:
            parameter.data = parameter.data.to(dtype)


class Suffix:
    """A model run from a block on, on the activations at that block's door; the blocks before it pass on what they get.

    The model's own forward is run, with the blocks' forwards replaced on the instances, so that masks, positions and whatever
    follows the blocks needn't be known here.
    """

    def __init__(self, model: nn.Module, found: list[nn.Module], ids: Tensor, run: Run):
        self.model, self.blocks, self.run = model, found, run
        self.start = 0
        self.device = next(model.parameters()).device
        config = model.config.get_text_config()
        width = getattr(config, "vocab_size", 1) or 1
        self._room(ids, width)
        self.batches = ids.split(max(1, min(TOKENS // ids.shape[1], LOGITS // (ids.shape[1] * width))))
        self._rest: tuple | None = None  # what a block returns after the hidden state; None where it returns that alone
        self.doors: list[Tensor] = []  # of each batch: the hidden states (rows, context, hidden) that come to block `start`
        self.reference: list[Tensor] = []  # of each batch: log-probabilities (rows, positions, outputs)
        for batch in self.batches:
            run.check_cancelled()
            with self._replaced({0: self._note(found[0].forward)}):
                self.reference.append(F.log_softmax(self._logits(batch), -1))

    def divergence(self) -> tuple[float, float | None]:
        """(KL of the reference from the model as it is now, its standard error over the windows; None for one window)."""
        each: list[float] = []
        for batch, door, log_p in zip(self.batches, self.doors, self.reference, strict=True):
            self.run.check_cancelled()
            with self._from(door):
                log_q = F.log_softmax(self._logits(batch), -1)
            difference = log_p - log_q
            # no term is below 0, so that a sum in float32 loses nothing
            kl = torch.linalg.vecdot(log_p.exp(), torch.expm1(-difference).add_(difference))  # (rows, positions)
            each += kl.double().mean(-1).tolist()
        mean = sum(each) / len(each)
        if not math.isfinite(mean):
            raise UserError(
                "The model's outputs aren't numbers (NaN or infinite), so they can't be compared.",
                hint="Its weights are damaged; import it again from its source.",
                kind="model",
            )
        if len(each) < 2:
            return mean, None
        return mean, math.sqrt(sum((x - mean) ** 2 for x in each) / (len(each) - 1) / len(each))

    def advance(self, index: int) -> None:
        """Brings the activations to the door of block `index`, by the blocks as they are now."""
        while self.start < index:
            for place, (batch, door) in enumerate(zip(self.batches, self.doors, strict=True)):
                self.run.check_cancelled()
                with self._from(door, stop=True), contextlib.suppress(_Enough):
                    self._logits(batch)
                self.doors[place] = self._caught
            self.start += 1

    # -- the blocks' forwards

    def _logits(self, batch: Tensor) -> Tensor:
        out = self.model(input_ids=batch.to(self.device))
        if getattr(out, "logits", None) is None:
            raise UserError(
                "{architecture} gives no probabilities, so there is no KL to measure.",
                hint="Choose a model that generates text, or a classifier.",
                kind="model",
                architecture=type(self.model).__name__,
            )
        logits = out.logits.float()
        return logits if logits.ndim > 2 else logits.unsqueeze(1)  # a classifier has one position

    def _note(self, real: Callable) -> Callable:
        def forward(*args: Any, **kwargs: Any) -> Any:
            out = real(*args, **kwargs)
            self._rest = tuple(out[1:]) if isinstance(out, tuple) else None
            self.doors.append(_hidden(args, kwargs).clone())
            return out

        return forward

    def _from(self, door: Tensor, stop: bool = False) -> contextlib.AbstractContextManager:
        """For a forward on `door` from block `start`; stop: it ends with _Enough before the block after that."""

        def skip(*args: Any, **kwargs: Any) -> Any:
            x = _hidden(args, kwargs)
            return x if self._rest is None else (x, *self._rest)

        real = self.blocks[self.start].forward

        def enter(*args: Any, **kwargs: Any) -> Any:
            if "hidden_states" in kwargs:
                return real(*args, **{**kwargs, "hidden_states": door})
            return real(door, *args[1:], **kwargs)

        def catch(*args: Any, **kwargs: Any) -> Any:
            self._caught = _hidden(args, kwargs)
            raise _Enough

        stubs: dict[int, Callable] = dict.fromkeys(range(self.start), skip) | {self.start: enter}
        return self._replaced(stubs | ({self.start + 1: catch} if stop else {}))

    @contextlib.contextmanager
    def _replaced(self, stubs: dict[int, Callable]) -> Iterator[None]:
        config = self.model.config
        caches = getattr(config, "use_cache", None)
        try:
            if caches is not None:
                config.use_cache = False
            for index, stub in stubs.items():
                self.blocks[index].forward = stub  # on the instance: the class keeps its own
            yield
        finally:
            for index in stubs:
                self.blocks[index].__dict__.pop("forward", None)
            if caches is not None:
                config.use_cache = caches

    def _room(self, ids: Tensor, width: int) -> None:
        """Raises UserError where the reference's outputs don't fit in what's free."""
        needed, free = 4 * ids.numel() * width, devices.free_bytes(str(self.device))
        if needed > free:
            raise UserError(
                "The outputs on {tokens} tokens take {needed} MB, and {free} MB are free.",
                hint="Choose fewer or shorter windows.",
                kind="memory",
                tokens=ids.numel(),
                needed=-(-needed // 1_000_000),
                free=free // 1_000_000,
            )


class _Enough(Exception):
    """Raised inside a forward that needn't go further."""


def _hidden(args: tuple, kwargs: dict) -> Tensor:
    return kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]


# ---- a map that outlives its job -----------------------------------------------------------------------------------------------


def conditions(
    *, text: str, text_hash: str, ids: Tensor, widths: Sequence[int], group: int, clip: bool, seed: int, device: str
) -> dict[str, Any]:
    """What a map was measured under: equal conditions give equal numbers."""
    windows, context = ids.shape
    return {
        "text": text,
        "text_hash": text_hash[:16],
        "windows": windows,
        "context": context,
        "tokens": ids.numel(),
        "tokens_hash": hashlib.sha256(ids.numpy().tobytes()).hexdigest()[:16],
        "bits": list(widths),
        "group_size": group,
        "clip": clip,
        "seed": seed,
        "dtype": "float32",
        "device": device,
    }


def file_of(folder: Path, known: dict[str, Any]) -> Path:
    """Where a variant's folder keeps the map of those conditions."""
    said = json.dumps({name: value for name, value in known.items() if name != "text"}, sort_keys=True)
    return folder / f"sensitivity-{hashlib.sha256(said.encode()).hexdigest()[:12]}.json"


def read(path: Path) -> SensitivityMap | None:
    """The map in a file; None where there is none, or what's there isn't one (it's measured again then)."""
    try:
        return SensitivityMap.model_validate_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValidationError, UnicodeDecodeError):
        return None


def write(path: Path, found: SensitivityMap) -> None:
    write_atomically(path, found.model_dump_json())
