"""Resize: the model is made as small as is asked for, by whichever cuts cost the least: blocks, MLP width, or heads.

Greedy, and measured: at every step one cut of each kind is tried on the model as it then is (the block of least influence; the least
channels of every MLP; the least group of heads of every layer), and the one with the least rise of the loss for each parameter that it
removes is taken. What parts are worth is judged anew after every cut, so that the division among depth, width and heads follows from the
model (as in Muralidharan et al., 'Compact Language Models via Pruning and Knowledge Distillation', 2024, who search over shapes). All
layers keep the same shape, so the result loads plainly. The embedding isn't touched; 'vocabulary' is for that. Doesn't heal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from core.errors import UserError
from core.methods import Given, Outcome, calibration, estimates, importance, method
from core.methods.calibration import CalibrationParams
from core.methods.importance import Examples
from core.methods.pruning import channels, heads
from core.models import surgery
from core.models.blocks import blocks, weight_of
from core.models.surgery import Anatomy
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

ADJUSTED_ON = 16_384  # tokens, more than losses need: on few, weights would be fitted, not learnt
STEPS = 12  # cuts into which the way is divided, at least, where the model's parts are small enough


class _What(Params):
    share: float = knob(
        0.25,
        title="Share of the parameters to remove",
        help="A tenth is mild, a quarter needs healing by distillation, half needs a long one.",
        ge=0,
        lt=1,
        step=0.05,
        when={"millions": None},
    )
    millions: float | None = knob(
        None,
        title="Or parameters wanted",
        unit="million",
        help="Make it so many parameters at most, the embedding counted. Empty: by the share above.",
        gt=0,
        le=1_000_000,
    )
    among: Literal["all", "depth", "width", "heads"] = knob(
        "all",
        title="What may be cut",
        help="Everything, whichever costs the least; or only layers, only the MLP's width, only attention heads.",
        labels={"all": "Layers, width and heads", "depth": "Layers", "width": "MLP width", "heads": "Attention heads"},
        advanced=True,
    )
    compensate: bool = knob(
        True,
        title="Adjust the weights that stay",
        help="Solves the weights of the remaining heads and MLP channels anew, so that each layer's output moves least on the text.",
        advanced=True,
    )


class ResizeParams(CalibrationParams, _What):  # what's cut comes before the text that it's judged on
    windows: int = knob(
        8,
        title="Windows",
        help="Windows of text (eight labelled examples each, for a classifier) that every cut is tried on. Time grows with it.",
        ge=1,
        le=4096,
    )
    context: int = knob(
        256,
        title="Context",
        unit="tokens",
        help="Tokens a window. Memory and time grow with it; shortened, visibly, to what the model holds.",
        ge=8,
        le=131_072,
    )


def estimate_resize(params: ResizeParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    wanted = _wanted(params, info.parameters or 0)
    gone = max(0, (info.parameters or 0) - wanted)
    memory, once = estimates.walking(info, params.windows, params.context, device, 1)
    adjusting: float | None = 0.0
    if params.compensate:
        more, adjusting = estimates.walking(info, adjusted_on(params).windows, params.context, device, 2, 1)
        memory = max(memory, more)
    return {
        "bytes_on_disk": ledger.bytes_on_disk - gone * estimates.stored_bytes(info),
        "memory": memory,
        "seconds": once * 6 * STEPS + adjusting if once is not None and adjusting is not None else None,
        "notes": [f"{(info.parameters or 0) / 1e6:,.1f} million parameters become {wanted / 1e6:,.1f} million at most"],
    }


def adjusted_on(params: ResizeParams) -> CalibrationParams:
    """The windows on which the weights that stay are adjusted: of the context asked for, and as many as are needed."""
    return CalibrationParams(windows=max(params.windows, ADJUSTED_ON // params.context), context=params.context)


def label(params: ResizeParams) -> str:
    return f"{params.millions:g} M parameters" if params.millions is not None else f"{100 * params.share:.3g} % smaller"


def _wanted(params: ResizeParams, parameters: int) -> int:
    return round(params.millions * 1e6) if params.millions is not None else parameters - round(params.share * parameters)


@method(
    "resize",
    title="To a size",
    family="pruning",
    summary="Minutes. Say how many parameters: the cuts are divided among layers, width and heads by what each costs, measured.",
    needs=("calibration",),
    paper="https://arxiv.org/abs/2407.14679",
    estimate=estimate_resize,
    label=label,
    rank=38,
)
def resize(model: Any, params: ResizeParams, run: Run, given: Given) -> Outcome:
    """Cuts the model down to a number of parameters. Where it has no more already, every bit stays as it was."""
    before = count(model)
    wanted = _wanted(params, before)
    if before <= wanted:
        return Outcome(model, (f"It has {before:,} parameters, no more than {wanted:,}: nothing was cut.",))
    examples, notes = importance.draw(model, given, params, run)
    ids: Tensor | None = None
    if params.compensate:
        ids, more = calibration.draw(given.text, given.tokenizer, adjusted_on(params), given.info, given.seed, run)
        notes += [note for note in more if note not in notes]
    search = Search(model, examples, run, params.among, ids)
    if search.least() > wanted:
        raise UserError(
            "{name} can't have fewer than {least} million parameters by such cuts: what else it has is its embedding, mostly.",
            hint="Choose a larger size, or cut the vocabulary too.",
            name=given.info.name,
            least=f"{search.least() / 1e6:.1f}",
        )
    search.down_to(wanted)
    model = search.model
    width = search.width
    if width < surgery.anatomy(model).width:
        shape = surgery.anatomy(model)
        scores = None if ids is not None else search.channel_scores()
        model = channels.narrowed(model, shape, width, run, ids, scores=scores, compensate=params.compensate)
    after = count(model)
    notes.append(
        f"{before / 1e6:.2f} million parameters became {after / 1e6:.2f} million ({100 * (1 - after / before):.1f} % fewer): "
        f"{search.said()}; loss on the calibration text {search.first:.3f} before, {importance.loss(model, examples, run):.3f} after."
    )
    run.log(notes[-1])
    return Outcome(model, tuple(notes))


def count(model: Any) -> int:
    return sum(p.numel() for p in model.parameters())


@dataclass(frozen=True)
class Cut:
    """A cut that could be made: what it removes, the loss with it, and how to make it."""

    kind: Literal["depth", "width", "heads"]
    removed: int
    loss: float
    make: Callable[[], None]


class Search:
    """The model on its way down. Blocks and heads are cut at once; channels are silenced until the end, when all are known.

    ids: (windows, context) on which the output weights of the heads that stay are adjusted where some are cut; None: they aren't.
    """

    def __init__(self, model: Any, examples: Examples, run: Run, among: str = "all", ids: Tensor | None = None):
        self.model, self.examples, self.run, self.ids = model, examples, run, ids
        self.kinds = ("depth", "width", "heads") if among == "all" else (among,)
        self.start = surgery.anatomy(model)
        self.width = self.start.width  # channels that each MLP has left
        self.step = channels.step_of(self.start.width, channels.MULTIPLE)
        self.numbers = list(range(self.start.layers))  # of the blocks left, as they were at first
        self.influence: list[float] = []  # of the blocks left, and below the mean squares of their channels: as last looked at
        self.squares: list[Tensor] = []
        self.first = self.loss = 0.0
        self._units: Tensor | None = None  # (layers, units) importance of heads, until heads or blocks are cut

    # -- how large

    def parameters(self) -> int:
        """Of the model as it will be, silenced channels not counted."""
        shape = surgery.anatomy(self.model)
        return count(self.model) - shape.layers * (shape.width - self.width) * self._channel(shape)

    def _channel(self, shape: Anatomy) -> int:
        """Parameters of one channel of one MLP."""
        block = shape.blocks[0]
        rows = sum(weight_of(self.model.get_submodule(n)).shape[1] for n in block.into)
        biases = sum(self.model.get_submodule(n).bias is not None for n in block.into)
        return rows + biases + weight_of(self.model.get_submodule(block.down)).shape[0]

    def _block(self, shape: Anatomy) -> int:
        """Parameters of one block, silenced channels not counted."""
        found = blocks(self.model)[0][1]
        return sum(p.numel() for p in found.parameters()) - (shape.width - self.width) * self._channel(shape)

    def _unit(self, shape: Anatomy) -> int:
        """Parameters of one unit of heads in one block."""
        block = shape.blocks[0]
        total = 0
        for name, rows in ((block.queries, shape.unit_width), (block.keys, shape.head_dim), (block.values, shape.head_dim)):
            module = self.model.get_submodule(name)
            total += rows * (weight_of(module).shape[1] + (module.bias is not None))
        return total + shape.unit_width * weight_of(self.model.get_submodule(block.out)).shape[0]

    def least(self) -> int:
        """The fewest parameters that the allowed kinds of cuts can leave."""
        shape = surgery.anatomy(self.model)
        block, channel = self._block(shape), self._channel(shape)
        narrow = (self.width - self.step) * channel if "width" in self.kinds else 0
        units = shape.units - 1 if "heads" in self.kinds and not surgery.heads_stay_because(self.model, 1) else 0
        each = block - narrow - units * self._unit(shape)
        stay = 1 if "depth" in self.kinds else shape.layers
        return count(self.model) - shape.layers * block + stay * each

    # -- the way down

    def down_to(self, wanted: int) -> None:
        """Cuts until there are no more than `wanted` parameters. Reports 'resize/parameters' and 'resize/loss' at every cut."""
        total = self.parameters()
        aim = max(1, (total - wanted) // STEPS)
        made = 0
        while (now := self.parameters()) > wanted:
            self._look()
            if made == 0:
                self.first = self.loss
                self._report(0, now)
            self.run.progress("Cutting", total - now, total - wanted)
            missing = now - wanted
            cuts = [cut for kind in self.kinds if (cut := self._cut(kind, min(aim, missing)))]
            best = min(cuts, key=lambda cut: (cut.loss - self.loss) / min(cut.removed, missing))
            best.make()
            self.loss = best.loss
            made += 1
            self._report(made, self.parameters())
            self.run.log(f"{best.kind}: {best.removed:,} parameters fewer, loss {best.loss:.4f}")

    def _report(self, step: int, parameters: int) -> None:
        self.run.metric("resize/parameters", step, parameters)
        self.run.metric("resize/loss", step, self.loss)

    def _look(self) -> None:
        shape = surgery.anatomy(self.model)
        with self._narrow(shape, self.width):
            seen = importance.look(self.model, self.examples, self.run, [b.down for b in shape.blocks])
        self.loss, self.influence = seen.loss, seen.influence
        self.squares = [seen.squares[b.down] for b in shape.blocks]

    def _cut(self, kind: str, aim: int) -> Cut | None:
        return {"depth": self._depth, "width": self._narrower, "heads": self._fewer_heads}[kind](surgery.anatomy(self.model), aim)

    def _depth(self, shape: Anatomy, aim: int) -> Cut | None:
        if shape.layers < 2:
            return None
        index = min(range(shape.layers), key=lambda i: (self.influence[i], i))

        def make() -> None:
            self.model = surgery.drop_layers(self.model, {index})
            for aligned in (self.numbers, self.squares):
                del aligned[index]
            self._units = None

        with self._narrow(shape, self.width), importance.skipped(self.model, [index]):
            return Cut("depth", self._block(shape), importance.loss(self.model, self.examples, self.run), make)

    def _narrower(self, shape: Anatomy, aim: int) -> Cut | None:
        one = shape.layers * self.step * self._channel(shape)
        steps = min(max(1, -(-aim // one)), (self.width - 1) // self.step)
        if steps < 1:
            return None
        left = self.width - steps * self.step

        def make() -> None:
            self.width = left

        with self._narrow(shape, left):
            return Cut("width", steps * one, importance.loss(self.model, self.examples, self.run), make)

    def _fewer_heads(self, shape: Anatomy, aim: int) -> Cut | None:
        if shape.units < 2 or surgery.heads_stay_because(self.model, shape.units - 1):
            return None
        if self._units is None:
            with self._narrow(shape, self.width):
                self._units = importance.head_scores(self.model, shape, ["taylor"], self.run, self.examples)["taylor"]
        off = heads.least_of_each(self._units, 1)

        def make() -> None:
            if self.ids is not None:
                with self._narrow(shape, self.width):
                    heads.compensate(self.model, shape, off, self.ids, self.run)
            keep = [torch.tensor([u for u in range(shape.units) if (layer, u) not in off]) for layer in range(shape.layers)]
            self.model = surgery.cut_heads(self.model, keep)
            self._units = None

        with self._narrow(shape, self.width), importance.silenced(self.model, shape, off):
            return Cut("heads", shape.layers * self._unit(shape), importance.loss(self.model, self.examples, self.run), make)

    # -- channels

    def channel_scores(self) -> list[Tensor]:
        """(channels,) of each block: what it adds to the output, as `channels` judges it, on the model as it was last looked at."""
        downs = [weight_of(self.model.get_submodule(b.down)) for b in surgery.anatomy(self.model).blocks]
        return [square.sqrt() * down.detach().float().norm(dim=0).cpu() for square, down in zip(self.squares, downs, strict=True)]

    def _narrow(self, shape: Anatomy, left: int) -> Any:
        """The model with the least channels of every MLP silent, for the length of the block."""
        if left == shape.width:
            return importance.muted(self.model, {})
        kept = [torch.zeros(shape.width).index_fill_(0, channels.kept(score, left), 1) for score in self.channel_scores()]
        return importance.muted(self.model, {b.down: mask for b, mask in zip(shape.blocks, kept, strict=True)})

    # -- what came of it

    def said(self) -> str:
        """What was cut, in words."""
        shape = surgery.anatomy(self.model)
        gone = [str(i) for i in range(self.start.layers) if i not in self.numbers]
        parts = []
        if gone:
            parts.append(f"{len(gone)} layer{'s' if len(gone) > 1 else ''} dropped ({', '.join(gone)}, counted from 0)")
        if self.width < self.start.width:
            parts.append(f"MLP width {self.start.width:,} -> {self.width:,}")
        if shape.units < self.start.units:
            parts.append(f"{self.start.heads} heads a layer -> {shape.heads}")
        return ", ".join(parts)
