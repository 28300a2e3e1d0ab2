"""The sequential driver: one transformer block at a time, each on the outputs of the blocks already changed.

    for turn in walk(model, run, "Quantizing", ids):
        for names in turn.groups():                        # ['q', 'k', 'v'], ['o'], ['gate', 'up'], ['down']
            for name, hessian in turn.collect(Hessian, names).items():
                turn.replace(name, PackedLinear.from_linear(turn.linears[name], ...))

The calibration windows are embedded once; their activations at the door of the next block are one tensor (windows, context,
hidden) in the dtype that the model computes in, and nothing else of them is kept. A method looks at what goes into the linear
layers of the block (`collect`), changes the block (`replace` a layer, or `write` a weight), and lets the walk go on, which runs
the changed block to get the next one's inputs. Without calibration the walk goes from block to block and runs none. Reports
'error/<layer>', the relative error of each changed layer's output, and checks for cancellation at every batch.

Where blocks aren't all in memory, or finished ones are to outlive a crash, a `Home` brings them in and puts them away
(core.models.streamed): then one block is held at a time.

Covers models whose blocks call each other with one hidden state and otherwise the same arguments for every window (all that
`blocks` recognises, encoders and GPT-2 among them); refuses others with a sentence. Doesn't touch what lies outside the blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn

from core.errors import UserError
from core.models import devices
from core.models.blocks import blocks, linears, replace, weight_of
from core.run import Run

TOKENS = 4096  # that go through a block together


# ---- what is collected of the inputs of a linear layer ------------------------------------------------------------------


class Statistic(Protocol):
    """What's kept of a linear layer's inputs x (tokens, in). Layers that read the very same tensor share one."""

    def add(self, x: Tensor) -> None: ...

    def power(self, matrix: Tensor) -> float:
        """Mean over the tokens of |matrix x|^2, for a matrix (any, in): of a change of the weight, the error that it makes."""
        ...


S = TypeVar("S", bound=Statistic)


class Hessian:
    """sum of x x^T, which is half the Hessian of the squared error of the outputs in each row of the weight."""

    STRIP = 128  # rows of the sum that are added to together on the CPU, only from the diagonal on: it's symmetric

    def __init__(self, columns: int, device: torch.device):
        self._sum = torch.zeros(columns, columns, device=device)  # (in, in)
        self._strips = range(0, columns, self.STRIP if device.type == "cpu" else columns)
        self._whole = True  # whether what's below the diagonal is there too
        self.magnitude = torch.zeros(columns, device=device)  # (in,): sum of |x|
        self.tokens = 0

    def add(self, x: Tensor) -> None:
        for start in self._strips:
            end = start + self._strips.step
            self._sum[start:end, start:].addmm_(x[:, start:end].t(), x[:, start:])
        self._whole = len(self._strips) == 1
        self.magnitude += x.abs().sum(0)
        self.tokens += len(x)

    @property
    def sum(self) -> Tensor:
        """(in, in), symmetric."""
        if not self._whole:
            for start in self._strips:
                end = start + self._strips.step
                self._sum[end:, start:end] = self._sum[start:end, end:].t()
            self._whole = True
        return self._sum

    @property
    def squares(self) -> Tensor:
        """Mean square of each input: (in,)."""
        return self._sum.diagonal() / self.tokens

    def power(self, matrix: Tensor) -> float:
        return float(((matrix @ self.sum) * matrix).sum().clamp_min(0)) / self.tokens


class Norms:
    """The mean square of each input, and some of the inputs themselves to measure errors on."""

    SAMPLE = 1024  # rows kept, of the first tokens

    def __init__(self, columns: int, device: torch.device):
        self.sum = torch.zeros(columns, device=device)  # (in,): sum of x^2
        self.tokens = 0
        self._sample: list[Tensor] = []

    def add(self, x: Tensor) -> None:
        self.sum += x.square().sum(0)
        room = self.SAMPLE - sum(map(len, self._sample))
        if room > 0:
            self._sample.append(x[:room].clone())
        self.tokens += len(x)

    @property
    def squares(self) -> Tensor:
        return self.sum / self.tokens

    def power(self, matrix: Tensor) -> float:
        return sum(float((part @ matrix.t()).square().sum()) for part in self._sample) / sum(map(len, self._sample))


class Inputs:
    """All inputs: (tokens, in), in the dtype that they came in. For methods that try weights on them."""

    def __init__(self, columns: int, device: torch.device):
        self._parts: list[Tensor] = []

    def add(self, x: Tensor) -> None:
        self._parts.append(x.clone())

    @property
    def rows(self) -> Tensor:
        self._parts = [torch.cat(self._parts)]
        return self._parts[0]

    def power(self, matrix: Tensor) -> float:
        return sum(float((part.float() @ matrix.t()).square().sum()) for part in self._parts) / sum(map(len, self._parts))


# ---- the walk ---------------------------------------------------------------------------------------------------------


@dataclass
class Turn:
    """A block whose turn it is. `linears` are those of the block by their name in the model, as they were when it began."""

    model: nn.Module
    run: Run
    index: int
    name: str
    block: nn.Module
    linears: dict[str, nn.Module]
    errors: dict[str, float] = field(default_factory=dict)  # relative error of the outputs of each changed layer
    _feed: Feed | None = None
    _seen: dict[str, Statistic] = field(
        default_factory=dict
    )  # let go of with the layer's change: a Hessian is as wide as the layer, squared
    _groups: list[list[str]] | None = None

    def groups(self) -> list[list[str]]:
        """Names of the block's linear layers in the order in which they're run; those that read the same tensor together."""
        if self._groups is None:
            found: list[list[str]] = []
            last: list[Tensor | None] = [None]

            def look(name: str, x: Tensor) -> None:
                if x is last[0]:
                    found[-1].append(name)
                else:
                    found.append([name])
                last[0] = x

            self._watch(list(self.linears), look, batches=1)
            self._groups = found
        return self._groups

    def collect(self, make: Callable[[int, torch.device], S], names: Collection[str] | None = None) -> dict[str, S]:
        """A statistic of the inputs of each of the named layers (all of the block's), over all windows.

        Runs the block as it is now. Layers that read the same tensor get the same object.
        """
        wanted = list(self.linears) if names is None else list(names)
        leader = {name: group[0] for group in self._grouped(wanted) for name in group}
        stats: dict[str, S] = {}
        for first in dict.fromkeys(leader.values()):
            weight = weight_of(self._module(first))
            stats[first] = make(weight.shape[1], weight.device)

        def look(name: str, x: Tensor) -> None:
            stats[name].add(x.reshape(-1, x.shape[-1]).float())

        self._watch(list(stats), look)
        out = {name: stats[leader[name]] for name in wanted}
        self._seen |= out
        return out

    def outputs(self, batches: int = 1) -> Tensor:
        """What the block as it is now makes of the first windows: (windows, context, hidden)."""
        feed = self._fed()
        return torch.cat([feed.run(self.index, self.block, x) for x in feed.batches(batches)])

    def call(self) -> tuple[tuple, dict]:
        """The arguments with which the block is called for the first window alone."""
        return self._fed().call(self.index)

    def replace(self, name: str, module: nn.Module, error: float | None = None) -> None:
        """Puts `module` where the model has the layer `name`, and reports the error of its output on what was collected last.

        error: the relative error, where the walk can't know it: after the layer's inputs were rescaled.
        """
        if error is None:
            error = self._error(name, weight_of(module))
        replace(self.model, name, module)
        self._report(name, error)

    def write(self, name: str, weight: Tensor, error: float | None = None) -> None:
        """Gives the layer `name` another weight (out, in), in place, and reports as `replace` does."""
        if error is None:
            error = self._error(name, weight)
        weight_of(self._module(name)).copy_(weight)
        self._report(name, error)

    def _error(self, name: str, weight: Tensor) -> float:
        before = weight_of(self._module(name)).detach().float()
        return relative_error(weight.detach().float() - before, before, self._seen.pop(name, None))

    def _report(self, name: str, error: float) -> None:
        self._seen.pop(name, None)
        self.errors[name] = error
        self.run.metric(f"error/{name}", self.index, error)

    def _grouped(self, wanted: list[str]) -> list[list[str]]:
        return [kept for group in self.groups() if (kept := [name for name in group if name in wanted])]

    def _module(self, name: str) -> nn.Module:
        return self.model.get_submodule(name)

    def _fed(self) -> Feed:
        if self._feed is None:
            raise ValueError("this walk has no calibration text, so there is nothing to run the block on")
        return self._feed

    def _watch(self, names: list[str], look: Callable[[str, Tensor], None], batches: int | None = None) -> None:
        """Runs the block, and calls look(name, input) at each named layer; doesn't run past the last of them."""
        feed, left = self._fed(), len(names)

        def hook(name: str):
            def see(module: nn.Module, args: tuple, kwargs: dict) -> None:
                nonlocal left
                look(name, args[0] if args else kwargs["input"])
                left -= 1
                if not left:
                    raise _Enough

            return see

        handles = [self._module(name).register_forward_pre_hook(hook(name), with_kwargs=True) for name in names]
        try:
            for x in feed.batches(batches):
                self.run.check_cancelled()
                left = len(names)
                try:
                    feed.run(self.index, self.block, x)
                except _Enough:
                    continue
                raise self._idle(names)
        finally:
            for handle in handles:
                handle.remove()

    def _idle(self, names: list[str]) -> UserError:
        return UserError(
            "Not all linear layers of {block} are used when it runs ({layers}), so it can't be calibrated.",
            hint="Choose a method that needs no data, such as rtn.",
            kind="model",
            block=self.name,
            layers=", ".join(names),
        )


class _Enough(Exception):
    """Raised inside a block that needn't be run further."""


class Home(Protocol):
    """Where blocks are while it isn't their turn."""

    def enter(self, index: int, name: str, block: nn.Module) -> bool:
        """Makes the block's weights present; whether it's finished already, by an earlier try."""
        ...

    def keep(self, index: int, name: str, block: nn.Module) -> None:
        """Keeps the block, which is finished now. Where storing rounds, its weights are rounded."""
        ...

    def leave(self, index: int, name: str, block: nn.Module) -> None:
        """The block's turn is over."""
        ...


def walk(
    model: nn.Module, run: Run, stage: str, ids: Tensor | None = None, *, home: Home | None = None, rows: int | None = None
) -> Iterator[Turn]:
    """Yields the blocks of `model` in their order, each as a Turn; what happens to a block between two of them is kept.

    ids: LongTensor (windows, context) to calibrate on; None: no block is run. rows: windows that go through a block together.
    home: what brings blocks in; those that it has finished aren't yielded. Raises UserError: no recognisable blocks, arguments
    that differ from window to window, no room for the activations.
    """
    found = blocks(model)
    inside = _linears_of(model, found)
    feed: Feed | None = None
    with torch.no_grad():
        for index, (name, block) in enumerate(run.track(found, stage)):
            finished = home is not None and home.enter(index, name, block)
            if ids is not None and feed is None:
                feed = Feed(model, found, ids, run, rows or max(1, TOKENS // ids.shape[1]))
            if not finished:
                turn = Turn(model, run, index, name, block, {n: model.get_submodule(n) for n in inside[name]}, _feed=feed)
                yield turn
                turn.linears.clear()  # whoever still holds the turn doesn't hold the weights
                turn._seen.clear()
                if home is not None:
                    home.keep(index, name, block)
            if feed is not None and index + 1 < len(found):
                feed.advance(index, block)
            if home is not None:
                home.leave(index, name, block)


def walkable(model: nn.Module) -> bool:
    """Whether the model's blocks can be recognised."""
    try:
        return bool(blocks(model))
    except UserError:
        return False


def _linears_of(model: nn.Module, found: list[tuple[str, nn.Module]]) -> dict[str, list[str]]:
    """Block name -> its linear layers' names in the model."""
    out: dict[str, list[str]] = {name: [] for name, _ in found}
    for name, _ in linears(model):
        home = next((block for block, _ in found if name.startswith(f"{block}.")), None)
        if home is not None:
            out[home].append(name)
    return out


def relative_error(delta: Tensor, weight: Tensor, stat: Statistic | None = None) -> float:
    """|delta x| / |weight x| in the root mean square over the inputs that `stat` saw; without it, of the weights alone."""
    if stat is None:
        error, power = float(delta.square().sum()), float(weight.square().sum())
    else:
        error, power = stat.power(delta), stat.power(weight)
    return math.sqrt(error / power) if power else 0.0


# ---- the activations ----------------------------------------------------------------------------------------------------


class Feed:
    """The calibration windows at the door of the block that is next, and how blocks are called.

    A model computes the blocks' other arguments (mask, positions, rotary tables) once a forward. They're taken from one
    forward of the whole model in which the blocks only pass on what they get, so that nothing of any architecture needs to be
    known here; that they're the same for every window is checked.
    """

    def __init__(self, model: nn.Module, found: list[tuple[str, nn.Module]], ids: Tensor, run: Run, rows: int):
        self.run_handle, self.rows = run, rows
        self.device = next(p.device for p in model.parameters() if p.device.type != "meta")
        self._calls: list[dict[int, tuple[tuple, dict]]] = [{} for _ in found]  # a block's arguments by number of windows
        self._rest: tuple | None = None  # what a block returns after the hidden state; None where it returns that alone
        self.inputs = self._embed(model, [block for _, block in found], ids)  # (windows, context, hidden)

    def batches(self, most: int | None = None) -> Iterator[Tensor]:
        """The windows, `rows` at a time, on the model's device; `most` bounds how many batches."""
        for part in self.inputs.split(self.rows)[:most]:
            yield part.to(self.device)

    def run(self, index: int, block: nn.Module, x: Tensor) -> Tensor:
        """The block's output (windows, context, hidden) for x of that shape."""
        args, kwargs = self._arguments(index, x)
        out = block(*args, **kwargs)
        return out[0] if isinstance(out, tuple) else out

    def call(self, index: int) -> tuple[tuple, dict]:
        return self._arguments(index, self.inputs[:1].to(self.device))

    def _arguments(self, index: int, x: Tensor) -> tuple[tuple, dict]:
        args, kwargs = self._calls[index][len(x)]
        return (args, kwargs | {"hidden_states": x}) if "hidden_states" in kwargs else ((x, *args), kwargs)

    def advance(self, index: int, block: nn.Module) -> None:
        """Replaces the activations by what the block makes of them."""
        for part in self.inputs.split(self.rows):
            self.run_handle.check_cancelled()
            part.copy_(self.run(index, block, part.to(self.device)))

    def _embed(self, model: nn.Module, found: list[nn.Module], ids: Tensor) -> Tensor:
        inputs: Tensor | None = None
        config = model.config
        caches, place = getattr(config, "use_cache", None), 0

        def stub(index: int, real: Callable):
            def forward(*args: Any, **kwargs: Any) -> Any:
                nonlocal inputs
                named = "hidden_states" in kwargs
                x = kwargs["hidden_states"] if named else args[0]
                if index == 0:
                    if inputs is None:
                        inputs = self._room(ids, x)
                        out = real(*args, **kwargs)
                        self._rest = tuple(out[1:]) if isinstance(out, tuple) else None
                    inputs[place : place + len(x)] = x.to(inputs.device)
                self._note(model, index, len(x), args if named else args[1:], kwargs)
                return x if self._rest is None else (x, *self._rest)

            return forward

        try:
            if caches is not None:
                config.use_cache = False
            for index, block in enumerate(found):
                block.forward = stub(index, block.forward)  # on the instance: the class keeps its own
            for batch in ids.split(self.rows):
                self.run_handle.check_cancelled()
                model.base_model(input_ids=batch.to(self.device))
                place += len(batch)
            if 1 not in self._calls[0]:  # so that a single window can be tried too
                place = 0
                model.base_model(input_ids=ids[:1].to(self.device))
        finally:
            for block in found:
                block.__dict__.pop("forward", None)
            if caches is not None:
                config.use_cache = caches
        if inputs is None or any(not calls for calls in self._calls):
            raise _unwalkable(model, "its blocks aren't run one after the other")
        return inputs

    def _room(self, ids: Tensor, x: Tensor) -> Tensor:
        """An empty tensor for all activations: where the model is, or in main memory where that has no room."""
        needed = ids.numel() * x.shape[-1] * x.element_size()
        home = self.device if needed < devices.free_bytes(str(self.device)) / 2 else torch.device("cpu")
        free = devices.free_bytes("cpu")
        if home.type == "cpu" and needed > free:
            raise UserError(
                "The activations of {windows} windows of {context} tokens take {needed} MB, and {free} MB are free.",
                hint="Choose fewer or shorter windows.",
                kind="memory",
                windows=ids.shape[0],
                context=ids.shape[1],
                needed=-(-needed // 1_000_000),
                free=free // 1_000_000,
            )
        return torch.empty(*ids.shape, x.shape[-1], dtype=x.dtype, device=home)

    def _note(self, model: nn.Module, index: int, size: int, args: tuple, kwargs: dict) -> None:
        known = self._calls[index].get(size)
        if known is None:
            kept = {name: value for name, value in kwargs.items() if name != "hidden_states"}
            if "hidden_states" in kwargs:
                kept["hidden_states"] = None  # a mark: it goes by name
            self._calls[index][size] = (args, kept)
        elif not _alike((args, {**kwargs, "hidden_states": None} if "hidden_states" in kwargs else kwargs), known):
            raise _unwalkable(model, "what its blocks are given differs from window to window")


def _alike(one: Any, other: Any) -> bool:
    """Whether two sets of arguments are the same in every tensor; objects that hold no tensors count as the same."""
    if isinstance(one, Tensor):
        return isinstance(other, Tensor) and torch.equal(one, other)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(_alike(one[k], other[k]) for k in one)
    if isinstance(one, (tuple, list)):
        return isinstance(other, (tuple, list)) and len(one) == len(other) and all(map(_alike, one, other))
    return type(one) is type(other)


def _unwalkable(model: nn.Module, why: str) -> UserError:
    return UserError(
        "{architecture} can't be worked on block by block: {why}.",
        hint="Choose a method that needs no data, such as rtn.",
        kind="model",
        architecture=type(model).__name__,
        why=why,
    )
