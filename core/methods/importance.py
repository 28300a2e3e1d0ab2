"""What parts of a model are worth: attention heads, MLP channels, and whole blocks.

    taylor       mean over the tokens of |dL/dxi xi|, xi a unit's output before it's added to the others': how far the loss would move,
                 to first order, were the unit gone (Michel, Levy & Neubig, 'Are Sixteen Heads Really Better than One?', 2019, section 4.1;
                 Molchanov et al., 2019, for channels). One backward pass, through activations alone
    normalised   the same, divided by its L2 norm over the layer
    magnitude    the L2 norm of the unit's weights
    leave out    the loss with the unit silenced, minus the loss: measured, and exact
    activation   root of the mean square of a channel times the norm of the weights that it meets
    influence    1 - cos between what a block gets and what it gives, mean over the tokens (Men et al., 'ShortGPT', 2024, section 3.1)

The loss is that of the next token; of the class, for a classifier with labels, and without them of the class that the model itself
names. An encoder has none of its own: measured is how far its last hidden states turn (1 - cos, mean over the tokens), and for
Taylor, which can't see a distance that begins at 0, a projection of them that is drawn at random. Chooses nothing, changes nothing.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.data.labels import split, to_model
from core.data.text import padded
from core.errors import UserError
from core.methods import Given, calibration, estimates
from core.methods.calibration import CalibrationParams
from core.methods.losses import IGNORED
from core.methods.sensitivity import Suffix, in_float32
from core.models.blocks import blocks, weight_of
from core.models.surgery import Anatomy
from core.run import Run

HEAD_CRITERIA = ("taylor", "taylor_normalised", "magnitude", "random")
EXAMPLES = 8  # labelled examples that stand for one window of text
TOKENS = 4096  # that go through a model together


class Examples:
    """What a model is looked at with: batches of inputs, and what the loss compares its answers with.

    task: that of the model; inputs: what its forward takes; truth: of each batch the classes (rows,), for a classifier where they're
    known. `count` is how many positions, or examples, the loss is a mean over.
    """

    def __init__(self, model: Any, task: str, inputs: list[dict[str, Tensor]], truth: list[Tensor] | None = None, seed: int = 0):
        self.task = "classifier" if task == "classifier" else "causal-lm" if task == "causal-lm" else "encoder"
        device = next(model.parameters()).device
        self.inputs = [{name: t.to(device) for name, t in fed.items()} for fed in inputs]
        self.truth = [t.to(device) for t in truth] if truth is not None else None
        self.labelled = truth is not None
        self.reference: list[Tensor] = []
        self._generator = torch.Generator().manual_seed(seed)
        self.tokens = sum(self._mask(fed).sum().item() for fed in self.inputs)
        if self.task == "causal-lm":
            self.count = sum(int(self._mask(fed)[:, 1:].sum()) for fed in self.inputs)
        else:
            self.count = sum(len(fed["input_ids"]) for fed in self.inputs) if self.task == "classifier" else int(self.tokens)
        with torch.no_grad():
            if self.task == "classifier" and self.truth is None:
                self.truth = [model(**fed).logits.argmax(-1) for fed in self.inputs]
            if self.task == "encoder":
                self.reference = [self._states(model, fed) for fed in self.inputs]

    def loss(self, model: Any, number: int) -> Tensor:
        """Sum of the losses of batch `number`, a scalar."""
        fed = self.inputs[number]
        if self.task == "encoder":
            same = F.cosine_similarity(self._states(model, fed), self.reference[number], dim=-1)
            return ((1 - same) * self._mask(fed)).sum()
        logits = _logits(model, fed)
        if self.task == "classifier":
            return F.cross_entropy(logits, self.truth[number], reduction="sum")
        wanted = fed["input_ids"][:, 1:].masked_fill(self._mask(fed)[:, 1:] == 0, IGNORED)
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), wanted.flatten(), reduction="sum", ignore_index=IGNORED)

    def slope(self, model: Any, number: int) -> Tensor:
        """What Taylor differentiates: the loss, or an encoder's projection on a random direction for each token."""
        if self.task != "encoder":
            return self.loss(model, number)
        states = self._states(model, self.inputs[number])  # (rows, seq, hidden)
        noise = torch.randn(states.shape, generator=self._generator).to(states.device)
        return (states * noise * self._mask(self.inputs[number])[..., None]).sum() / math.sqrt(states.shape[-1])

    def right(self, model: Any, number: int) -> int:
        """How many of a classifier's first choices are right."""
        return int((_logits(model, self.inputs[number]).argmax(-1) == self.truth[number]).sum())

    @staticmethod
    def _mask(fed: dict[str, Tensor]) -> Tensor:
        return fed["attention_mask"] if "attention_mask" in fed else torch.ones_like(fed["input_ids"])

    @staticmethod
    def _states(model: Any, fed: dict[str, Tensor]) -> Tensor:
        return model.base_model(**fed).last_hidden_state.float()


def _logits(model: Any, fed: dict[str, Tensor]) -> Tensor:
    more = {"use_cache": False} if getattr(model.config.get_text_config(), "use_cache", None) is not None else {}
    return model(**fed, **more).logits.float()


# ---- what the examples are ------------------------------------------------------------------------------------------------------


def draw(model: Any, given: Given, params: CalibrationParams, run: Run) -> tuple[Examples, list[str]]:
    """(the examples to judge parts by, what has to be said of them): labelled ones for a classifier that has labels, else windows of text.

    Raises UserError where there is neither.
    """
    if given.info.task == "classifier" and given.labels is not None:
        rows = split(given.labels).learn
        order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(given.seed))[: EXAMPLES * params.windows]
        found = labelled(model, given, [rows[i] for i in order.tolist()], params.context)
        run.log(f"Looking at {found.count} labelled examples")
        return found, list(given.labels.notes)
    ids, notes = calibration.draw(given.text, given.tokenizer, params, given.info, given.seed, run)
    if given.info.task == "classifier":
        notes.append("There were no labels: what the model itself answers on the text stood for them.")
    return of_windows(model, given.info.task, ids, given.seed), notes


def of_windows(model: Any, task: str, ids: Tensor, seed: int = 0) -> Examples:
    """ids: LongTensor (windows, context)."""
    width = getattr(model.config.get_text_config(), "vocab_size", 1) if task == "causal-lm" else 1
    rows = min(estimates.rows_at_once(len(ids), ids.shape[1], width or 1), max(1, TOKENS // ids.shape[1]))
    return Examples(model, task, [{"input_ids": part} for part in ids.split(rows)], seed=seed)


def labelled(model: Any, given: Given, rows: list[int], context: int) -> Examples:
    """The labelled examples of those row numbers, those of like length together; texts are cut at what the model holds."""
    truth = to_model(given.labels, model.config.id2label)
    longest = min(context, given.info.context or context)
    order = sorted(rows, key=lambda i: (len(given.labels.texts[i]), i))
    pad = model.config.pad_token_id
    size = 1 if pad is None else max(1, TOKENS // longest)  # a model that finds the last token by its padding's id, and names none
    groups = [order[i : i + size] for i in range(0, len(order), size)]
    inputs = [padded(given.tokenizer, [given.labels.texts[i] for i in group], longest, pad) for group in groups]
    return Examples(model, "classifier", inputs, [torch.tensor([truth[i] for i in group]) for group in groups], given.seed)


# ---- measuring ------------------------------------------------------------------------------------------------------------------


@torch.no_grad()
def loss(model: Any, examples: Examples, run: Run) -> float:
    """The mean loss: nats a token, nats an example, or 1 - cos. Raises UserError where it isn't a number."""
    total = 0.0
    for number in range(len(examples.inputs)):
        run.check_cancelled()
        total += float(examples.loss(model, number))
    return finite(total / examples.count)


@torch.no_grad()
def accuracy(model: Any, examples: Examples, run: Run) -> float:
    """Share of a classifier's examples that it names rightly."""
    right = 0
    for number in range(len(examples.inputs)):
        run.check_cancelled()
        right += examples.right(model, number)
    return right / examples.count


def finite(value: float) -> float:
    if not math.isfinite(value):
        raise UserError(
            "The model's outputs aren't numbers (NaN or infinite), so nothing can be judged by them.",
            hint="Its weights are damaged; import it again from its source.",
            kind="model",
        )
    return value


@contextlib.contextmanager
def silenced(model: nn.Module, shape: Anatomy, off: Collection[tuple[int, int]]) -> Iterator[None]:
    """The model with the units (block, unit) in `off` giving nothing; no weight is touched."""
    masks: dict[str, Tensor] = {}
    for layer, unit in off:
        mask = masks.setdefault(shape.blocks[layer].out, torch.ones(shape.units * shape.unit_width))
        mask[unit * shape.unit_width : (unit + 1) * shape.unit_width] = 0
    with muted(model, masks):
        yield


@contextlib.contextmanager
def muted(model: nn.Module, masks: dict[str, Tensor]) -> Iterator[None]:
    """The model with the inputs of the named linear layers multiplied by masks (in,)."""
    handles = []
    try:
        for name, mask in masks.items():
            module = model.get_submodule(name)
            mask = mask.to(module.weight.device, module.weight.dtype)
            handles.append(module.register_forward_pre_hook(lambda m, args, mask=mask: (args[0] * mask.to(args[0].dtype),)))
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def skipped(model: nn.Module, off: Collection[int]) -> Iterator[None]:
    """The model with the blocks `off` passing on what they get."""
    found = [blocks(model)[index][1] for index in off]
    try:
        for block in found:
            block.forward = _pass(block.forward)  # on the instance: the class keeps its own
        yield
    finally:
        for block in found:
            block.__dict__.pop("forward", None)


def _pass(real: Callable) -> Callable:
    rest: list[Any] = []

    def forward(*args: Any, **kwargs: Any) -> Any:
        x = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
        if not rest:  # what it gives beside the hidden state is known only from a call
            out = real(*args, **kwargs)
            rest.append(tuple(out[1:]) if isinstance(out, tuple) else None)
        return x if rest[0] is None else (x, *rest[0])

    return forward


# ---- by the gradient ------------------------------------------------------------------------------------------------------------


def taylor(model: Any, examples: Examples, places: dict[str, int], run: Run) -> dict[str, Tensor]:
    """Of each named linear layer's input, cut into units of so many columns: mean over the tokens of |sum in a unit of dL/dx x|.

    places: {name: columns a unit}; returns {name: (units,)} in float32 on the CPU. L is the sum over the tokens, so the numbers are in
    the loss's unit a token. No gradient of a weight is taken.
    """
    return {name: found[0] for name, found in slopes(model, examples, places, run).items()}


def slopes(model: Any, examples: Examples, places: dict[str, int], run: Run) -> dict[str, tuple[Tensor, Tensor]]:
    """{name: (`taylor`, the rise of the loss to expect where a unit is gone)}, each (units,), from one backward pass.

    With g = dL/dxi of one mask over a whole window (or example), the second order gives the rise -g + h / 2. h, the second derivative, is
    put as g^2, the Fisher information (LeCun et al., 'Optimal Brain Damage', 1989; Theis et al., 2018, section 2.2). An estimate, of the
    right size where little goes; the sum of the slopes' sizes, by which units are ranked, is many times too large to be a rise.
    """
    first = blocks(model)[0][1]
    sizes, rises = dict.fromkeys(places, 0.0), dict.fromkeys(places, 0.0)
    seen: dict[str, Tensor] = {}
    handles = [first.register_forward_pre_hook(_differentiable, with_kwargs=True)]
    for name in places:
        handles.append(model.get_submodule(name).register_forward_pre_hook(lambda m, args, name=name: seen.update({name: args[0]})))
    try:
        with in_float32(model), torch.enable_grad():
            for number in run.track(range(len(examples.inputs)), "Judging by the gradient"):
                seen.clear()
                value = examples.slope(model, number)
                finite(float(value.detach()))
                gradients = torch.autograd.grad(value, list(seen.values()))
                for (name, x), slope in zip(seen.items(), gradients, strict=True):
                    units = (x.detach().float() * slope.float()).unflatten(-1, (-1, places[name])).sum(-1)  # (rows, seq, units)
                    whole = units.sum(1)  # (rows, units)
                    sizes[name] = sizes[name] + units.abs().sum((0, 1)).cpu()
                    rises[name] = rises[name] + (whole.square() / 2 - whole).sum(0).cpu()
                del value, gradients
    finally:
        for handle in handles:
            handle.remove()
    return {name: (sizes[name] / examples.count, rises[name] / examples.count) for name in places}


def _differentiable(module: nn.Module, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    """Lets the gradient begin at the first block, so that none is taken of the embedding or of a weight before it."""
    if "hidden_states" in kwargs:
        return args, {**kwargs, "hidden_states": kwargs["hidden_states"].detach().requires_grad_()}
    return (args[0].detach().requires_grad_(), *args[1:]), kwargs


# ---- heads ----------------------------------------------------------------------------------------------------------------------


def head_scores(
    model: Any, shape: Anatomy, criteria: Collection[str], run: Run, examples: Examples | None = None, seed: int = 0
) -> dict[str, Tensor]:
    """{criterion: (layers, units)} of HEAD_CRITERIA; the larger, the more a unit is worth. Taylor's need examples, and come with
    'expected', the rise of the loss that the second order foretells; an encoder's loss has no slope of its own, and none is foretold.
    """
    out: dict[str, Tensor] = {}
    if {"taylor", "taylor_normalised"} & set(criteria):
        if examples is None:
            raise ValueError("Taylor importance needs examples")
        found = slopes(model, examples, {b.out: shape.unit_width for b in shape.blocks}, run)
        raw = torch.stack([found[b.out][0] for b in shape.blocks])  # (layers, units)
        if examples.task != "encoder":
            out["expected"] = torch.stack([found[b.out][1] for b in shape.blocks])
        out["taylor"] = raw
        out["taylor_normalised"] = raw / raw.norm(dim=1, keepdim=True).clamp_min(1e-30)
    if "magnitude" in criteria:
        out["magnitude"] = torch.stack([_unit_norms(model, shape, layer) for layer in range(shape.layers)])
    if "random" in criteria:
        out["random"] = torch.rand(shape.layers, shape.units, generator=torch.Generator().manual_seed(seed))
    return {name: out[name] for name in (*criteria, "expected") if name in out}


@torch.no_grad()
def _unit_norms(model: nn.Module, shape: Anatomy, layer: int) -> Tensor:
    """L2 norm of the weights of each unit: (units,)."""
    block = shape.blocks[layer]
    out = weight_of(model.get_submodule(block.out)).float()  # (hidden, heads * head_dim)
    total = out.square().sum(0).view(shape.units, -1).sum(1)
    for name in dict.fromkeys((block.queries, block.keys, block.values)):
        rows = weight_of(model.get_submodule(name)).float().square().sum(1)  # (out,)
        parts = 3 if block.fused else 1
        total = total + rows.view(parts, shape.units, -1).sum((0, 2))
    return total.sqrt().cpu()


class _FromBlock(Suffix):
    """The model's loss from a block on, on what came to that block's door: what lies before it needn't be run again."""

    def __init__(self, model: Any, examples: Examples, run: Run):
        self.model, self.run, self.examples = model, run, examples
        self.blocks = [block for _, block in blocks(model)]
        self.start, self._rest, self.doors = 0, None, []
        self.batches = range(len(examples.inputs))
        self.base = 0.0
        for number in self.batches:
            run.check_cancelled()
            with self._replaced({0: self._note(self.blocks[0].forward)}):
                self.base += float(self._logits(number))
        self.base = finite(self.base / examples.count)

    def _logits(self, number: int) -> Tensor:
        return self.examples.loss(self.model, number)

    def loss(self) -> float:
        total = 0.0
        for number, door in zip(self.batches, self.doors, strict=True):
            self.run.check_cancelled()
            with self._from(door):
                total += float(self._logits(number))
        return finite(total / self.examples.count)


@torch.no_grad()
def leave_out(
    model: Any,
    shape: Anatomy,
    examples: Examples,
    run: Run,
    tell: Callable[[int, int, float], None] = lambda layer, unit, rise: None,
    done: Collection[tuple[int, int]] = (),
) -> tuple[float, Tensor]:
    """(the loss, (layers, units) of what it rises by where one unit is silent; 0 for those `done`). `tell` gets each as it's measured."""
    with in_float32(model):
        suffix = _FromBlock(model, examples, run)
        rises = torch.zeros(shape.layers, shape.units, dtype=torch.float64)
        pairs = [(layer, unit) for layer in range(shape.layers) for unit in range(shape.units) if (layer, unit) not in done]
        for layer, unit in run.track(pairs, "Leaving out one head after the other" if shape.unit == "head" else "Leaving out one group"):
            suffix.advance(layer)
            with silenced(model, shape, [(layer, unit)]):
                rises[layer, unit] = suffix.loss() - suffix.base
            tell(layer, unit, float(rises[layer, unit]))
    return suffix.base, rises


# ---- blocks ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What one run of the model over the examples showed."""

    loss: float
    influence: list[float]  # of each block
    squares: dict[str, Tensor]  # mean square of each input of the linear layers asked for: (in,)


@torch.no_grad()
def look(model: Any, examples: Examples, run: Run, layers: Collection[str] = ()) -> Seen:
    """One run: the loss, each block's influence, and the mean squares of the inputs of the named `layers`; padding doesn't count."""
    found = [block for _, block in blocks(model)]
    far = [0.0] * len(found)
    squares: dict[str, Any] = dict.fromkeys(layers, 0.0)
    loss, mask = 0.0, None

    def around(index: int) -> Callable:
        def see(module: nn.Module, args: tuple, kwargs: dict, out: Any) -> None:
            before = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
            after = out[0] if isinstance(out, tuple) else out
            turned = 1 - F.cosine_similarity(before.float(), after.float(), dim=-1)  # (rows, seq)
            far[index] += float((turned * mask).sum())

        return see

    def inside(name: str) -> Callable:
        def see(module: nn.Module, args: tuple) -> None:
            squares[name] = squares[name] + (args[0].float().square() * mask[..., None]).sum((0, 1)).cpu()

        return see

    handles = [block.register_forward_hook(around(index), with_kwargs=True) for index, block in enumerate(found)]
    handles += [model.get_submodule(name).register_forward_pre_hook(inside(name)) for name in layers]
    try:
        for number, fed in enumerate(examples.inputs):
            run.check_cancelled()
            mask = Examples._mask(fed)
            loss += float(examples.loss(model, number))
    finally:
        for handle in handles:
            handle.remove()
    tokens = int(examples.tokens)
    return Seen(
        finite(loss / examples.count), [finite(total / tokens) for total in far], {name: total / tokens for name, total in squares.items()}
    )


@torch.no_grad()
def block_losses(
    model: Any, examples: Examples, run: Run, stage: str = "Leaving out one block after the other"
) -> tuple[float, list[float]]:
    """(the loss, the loss without each block alone)."""
    suffix = _FromBlock(model, examples, run)
    out = []
    for index in run.track(range(len(suffix.blocks)), stage):
        suffix.advance(index)
        out.append(_without_first(suffix))
    return suffix.base, out


def _without_first(suffix: _FromBlock) -> float:
    """The loss where the block that the suffix begins at passes on what it gets."""
    total = 0.0
    index = suffix.start
    for number, door in zip(suffix.batches, suffix.doors, strict=True):
        suffix.run.check_cancelled()

        def give(*args: Any, door: Tensor = door, **kwargs: Any) -> Any:
            return door if suffix._rest is None else (door, *suffix._rest)

        with suffix._replaced(dict.fromkeys(range(index + 1), give)):
            total += float(suffix._logits(number))
    return finite(total / suffix.examples.count)
