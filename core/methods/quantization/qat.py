"""Quantization-aware training: the model learns with its weights and inputs on the grid that they'll be saved on.

Forward, every linear layer inside the blocks computes with rounded weights (and inputs, where that's chosen); backward, the
rounding counts as the identity where it didn't clip (Bengio et al., 'Estimating or Propagating Gradients Through Stochastic
Neurons', 2013, section 4; Jacob et al., 2018, section 3). Scales learn too, by the gradient of LSQ (Esser et al., 'Learned
Step Size Quantization', 2020, equation 3), as a factor on where they began. The loss is the text's, or the distance to a
teacher, the model before quantization (Liu et al., 'LLM-QAT', 2023, section 2.2), or both. A variant that's quantized already
keeps its own grid and learns on from it. Covers causal models and torch's Linear; embeddings, head and norms learn unrounded.
"""

from __future__ import annotations

import copy
from typing import Any, Literal

import torch
from pydantic import field_validator
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx
from torch.nn import functional as F

from core.errors import UserError
from core.methods import Given, Outcome, estimates, method, training
from core.methods.common import stored_dtype
from core.methods.losses import Against, distillation_loss, divergence
from core.methods.quantization import grid, w8a8
from core.methods.quantization.grid import GridParams
from core.models import packed
from core.models.activations import FP8, FP8_MOST, ActivationQuant
from core.models.blocks import replace
from core.models.packed import PackedLinear, QuantWeight
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

WIDTHS = {"int8": 8, "int6": 6, "int5": 5, "int4": 4, "int3": 3, "int2": 2}


class _Formats(Params):
    weights: Literal["auto", "int8", "int6", "int5", "int4", "int3", "int2", "fp8"] = knob(
        "auto",
        title="Weights",
        help="The numbers that the weights may be. Automatic: the grid of the variant where it's quantized already, else 4 bits.",
        labels={
            "auto": "Automatic",
            "int8": "8 bits",
            "int6": "6 bits",
            "int5": "5 bits",
            "int4": "4 bits",
            "int3": "3 bits",
            "int2": "2 bits",
            "fp8": "fp8 (e4m3)",
        },
    )
    group_size: int = knob(
        64,
        title="Group size",
        unit="columns",
        help="Columns that share a scale. Where it doesn't divide the model's widths, the next smaller size that does is taken, and said. "
        "8 bits and fp8 have one scale a row.",
        ge=8,
        le=1024,
        when={"weights": ("auto", "int6", "int5", "int4", "int3", "int2")},
    )
    symmetric: bool = knob(
        True,
        title="Symmetric",
        help="Zero lies in the middle of the grid. Without it the grid fits better at 4 bits and below, but inputs must stay as they are.",
        when={"weights": ("auto", "int8", "int6", "int5", "int4", "int3", "int2")},
    )
    activations: Literal["none", "int8", "fp8"] = knob(
        "none",
        title="Inputs",
        help="What the layers' inputs are rounded to, token by token. Choose it where the runtime multiplies in 8 bits.",
        labels={"none": "As they are", "int8": "8 bits", "fp8": "fp8 (e4m3)"},
    )
    learn_scales: bool = knob(
        True,
        title="Learn the scales",
        help="Scales are trained with the weights. Turn it off only to compare.",
        advanced=True,
    )
    learn_from: Literal["teacher", "text", "both"] = knob(
        "teacher",
        title="Learn from",
        help="The teacher: what the model said before it was quantized, which keeps it what it was. The text: what's written there.",
        labels={"teacher": "The teacher", "text": "The text", "both": "Both"},
    )
    teacher: str | None = knob(
        None,
        title="Teacher",
        help="The variant to stay close to. None: the variant that this is applied to, unless it's quantized already; then name the one "
        "that it was made from.",
        labels={None: "The variant that it's applied to"},
        kind="variant",
        when={"learn_from": ("teacher", "both")},
    )
    temperature: float = knob(
        1.0,
        title="Temperature",
        help="Softens both models' probabilities before they're compared. Higher teaches more of unlikely tokens.",
        gt=0,
        le=20,
        when={"learn_from": ("teacher", "both")},
        advanced=True,
    )

    @field_validator("teacher", mode="before")
    @classmethod
    def _no_variant(cls, value: Any) -> Any:
        return None if value == "" else value


class QatParams(training.TrainingParams, _Formats):
    steps: int = knob(
        200,
        title="Steps",
        help="Updates of the weights. More is better until the loss on text kept aside stops falling.",
        ge=1,
        le=1_000_000,
    )
    learning_rate: float = knob(
        1e-4,
        title="Learning rate",
        help="Size of the updates at their largest. Halve it where the loss on text kept aside rises; raise it for 3 bits and below.",
        gt=0,
        le=1,
    )


# ---- beforehand -----------------------------------------------------------------------------------------------------------


def estimate_qat(params: QatParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    tokens = params.steps * params.batch * params.context
    taught = params.learn_from != "text"
    out: dict[str, Any] = {
        "memory": estimates.training(info, params.batch, params.context) + (taught + 1) * 4 * (info.parameters or 0),
        "seconds": estimates.training_seconds(info, tokens, 1.0, 0.1 + taught, device, training.precision(params.precision, device)),
    }
    if info.quantization:
        return out | {"bytes_on_disk": ledger.bytes_on_disk, "effective_bits": ledger.effective_bits}
    width = 8 if params.weights == "fp8" else WIDTHS.get(params.weights, 4)
    symmetric = params.symmetric or params.weights == "fp8"
    granularity = "channel" if width == 8 else "group"
    on = GridParams(bits=width, granularity=granularity, group_size=params.group_size, symmetric=symmetric)
    return out | grid.estimate_size(on, info, ledger)


def label(params: QatParams) -> str:
    """'qat int4 g64 asymmetric, int8 inputs'."""
    name = "qat" if params.weights == "auto" else f"qat {params.weights}"
    if params.weights in ("auto", "int6", "int5", "int4", "int3", "int2") and params.group_size != 64:
        name += f" g{params.group_size}"
    name += " asymmetric" * (not params.symmetric)
    return name + (f", {params.activations} inputs" if params.activations != "none" else "")


# ---- the method -----------------------------------------------------------------------------------------------------------


@method(
    "qat",
    rank=8,
    title="Quantization-aware training",
    family="quantization",
    summary="Minutes to hours, needs a text. The best accuracy at 4 bits and below: the model learns to live with its grid.",
    needs=("text",),
    tasks=("causal-lm",),
    paper="https://arxiv.org/abs/1902.08153",
    estimate=estimate_qat,
    label=label,
    resumable=True,
    packed_parent=True,
)
def qat(model: Any, params: QatParams, run: Run, given: Given) -> Outcome:
    """Trains `model` on its grid in place, then replaces its linear layers by PackedLinear modules."""
    notes: list[str] = []
    kept = [(name, m) for name, m in model.named_modules() if isinstance(m, PackedLinear)]
    teacher = _teacher(model, params, given, bool(kept))
    if teacher is not None:
        teacher.float().eval().requires_grad_(False)
    learn, aside = training.read(given.text, given.tokenizer, params.context, run, given.info.context)
    notes += _own_grid(model, kept, params) if kept else _new_grid(model, params, given)
    hold = {} if kept else training.pruned_zeros_of([(n, m) for n, m in model.named_modules() if isinstance(m, OnGrid)], model)
    vocabulary = model.config.get_text_config().vocab_size
    rows = estimates.rows_at_once(params.batch, params.context, vocabulary)
    held_out = training.kept_aside(aside, params.context, rows, given.device)
    against = Against(temperature=params.temperature, alpha={"teacher": 0.0, "both": 1.0}.get(params.learn_from, 1.0))

    def both(rows: Tensor) -> tuple[Tensor, Tensor | None]:
        """Logits (rows, seq, vocab) of the model, and the teacher's."""
        theirs = None
        if teacher is not None:
            with torch.no_grad():
                theirs = teacher(input_ids=rows[:, :-1], use_cache=False).logits
        mine = model(input_ids=rows[:, :-1], use_cache=False).logits
        shared = mine.shape[-1] if theirs is None else min(mine.shape[-1], theirs.shape[-1])
        return mine[..., :shared], None if theirs is None else theirs[..., :shared]

    def losses(mine: Tensor, theirs: Tensor | None, labels: Tensor) -> dict[str, Tensor]:
        if theirs is None:
            return {"loss": training.cross_entropy(mine, labels)}
        return distillation_loss(mine, theirs, labels, against)

    def loss_of(rows: Tensor) -> dict[str, Tensor]:
        return losses(*both(rows), rows[:, 1:])

    @torch.no_grad()
    def judge() -> dict[str, float]:
        sums, count = dict.fromkeys(("heldout_loss", "text", "heldout_kl", "agreement"), 0.0), 0
        for rows in held_out:
            run.check_cancelled()
            mine, theirs = both(rows)
            n = rows[:, 1:].numel()
            count += n
            sums["heldout_loss"] += float(losses(mine, theirs, rows[:, 1:])["loss"]) * n
            sums["text"] += float(training.cross_entropy(mine, rows[:, 1:])) * n
            if theirs is not None:
                sums["heldout_kl"] += float(divergence(theirs.float(), mine.float()).sum())
                sums["agreement"] += float((mine.argmax(-1) == theirs.argmax(-1)).sum())
        means = {name: value / count for name, value in sums.items() if teacher is not None or name in ("heldout_loss", "text")}
        return {"heldout_perplexity": training.exp(means.pop("text"))} | means

    generator = torch.Generator().manual_seed(given.seed)
    feed = training.windows_of(learn, params.context, params.batch, generator)
    how = {"run": run, "device": given.device, "vocabulary": vocabulary, "hold": hold, "seed": given.seed, "work": given.work}
    trained = training.train(model, feed, loss_of, judge, params, **how)
    count = 0
    with torch.no_grad():
        for name, module in [(n, m) for n, m in model.named_modules() if isinstance(m, OnGrid)]:
            replace(model, name, module.packed())
            count += 1
    notes.append(trained.sentence())
    if trained.held:
        notes.append(f"{trained.held:,} zeros of the pruning stayed zero.")
    if teacher is not None:
        before, after = trained.start, trained.best
        notes.append(
            f"KL to the teacher {before['heldout_kl']:.4f} before, {after['heldout_kl']:.4f} after; it chooses the teacher's token "
            f"{100 * after['agreement']:.1f} % of the time ({100 * before['agreement']:.1f} % before)."
        )
    notes.append(f"{count} linear layers learnt on their grid; embeddings, head and norms stay in {_name(stored_dtype(given.info))}.")
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes))


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _teacher(model: Any, params: QatParams, given: Given, quantized: bool) -> Any | None:
    if params.learn_from == "text":
        return None
    if params.teacher is not None:
        loaded = given.load_variant(params.teacher)
        if not loaded.info.tokens_hash or loaded.info.tokens_hash != given.info.tokens_hash:
            raise UserError(
                "{teacher} has other tokens than {name}, so it can't teach it token by token.",
                hint="Choose the variant that it was made from.",
                kind="model",
                teacher=loaded.info.name,
                name=given.info.name,
            )
        return loaded.model
    if quantized:
        raise UserError(
            "{name} is quantized already, so it can't be its own teacher.",
            hint="Choose as the teacher the variant that it was made from, or learn from the text.",
            kind="model",
            name=given.info.name,
        )
    return copy.deepcopy(model)


def _own_grid(model: Any, kept: list[tuple[str, PackedLinear]], params: QatParams) -> list[str]:
    """Puts OnGrid in place of the packed layers, each on the grid that it has."""
    if params.weights != "auto" or params.activations != "none":
        raise UserError(
            "A quantized variant learns on with the grid that it has.",
            hint="Leave weights and inputs at their defaults, or apply this to the variant before the quantization.",
            kind="model",
        )
    for name, module in kept:
        replace(model, name, OnGrid.of_packed(module, params.learn_scales))
    first = kept[0][1]
    return [f"Learnt on with the grid of the parent: {'fp' if first.kind == 'float' else 'int'}{first.bits}, {len(kept)} layers."]


def _new_grid(model: Any, params: QatParams, given: Given) -> list[str]:
    """Puts OnGrid in place of the linear layers, on new grids with the least squared error."""
    layers, transposed = grid.targets(model, given.info)
    bits = WIDTHS.get(params.weights, 4)
    symmetric = params.symmetric or params.weights == "fp8"
    if params.activations != "none" and not symmetric and bits < 8:
        raise UserError(
            "Grids with an offset below 8 bits can't be joined with rounded inputs: plain transformers would leave the rounding out.",
            hint="Choose a symmetric grid, or leave the inputs as they are.",
            kind="model",
        )
    activation = None
    if params.activations != "none":
        activation = ActivationQuant(kind="float" if params.activations == "fp8" else "int")
    by_token = w8a8.token_layers(model) if activation else set()
    dtype = stored_dtype(given.info)
    size, notes = None, []
    if params.weights != "fp8" and bits < 8:
        size = grid.fitting_group(params.group_size, {m.in_features for _, m in layers})
        if size != params.group_size:
            notes.append(f"Group size {size} instead of {params.group_size}, which doesn't divide the model's widths.")
    with torch.no_grad():
        for name, module in layers:
            weight = module.weight
            if params.weights == "fp8":
                quant = w8a8.fp8_weight(name, weight, dtype)
            else:
                quant = grid.round_to_nearest(grid.finite(name, weight), bits, size, symmetric, bits < 8, dtype)
            made = OnGrid(weight, quant, module.bias, params.learn_scales, activation=activation if name in by_token else None)
            replace(model, name, made)
    kind = "fp8" if params.weights == "fp8" else f"{bits} bits"
    notes.append(f"Weights in {kind}, one scale for each {f'{size} columns of a row' if size else 'output row'}.")
    if activation:
        notes.append(f"Inputs {activation.name}.")
    return notes + grid.left_out(transposed)


# ---- a layer on its grid ----------------------------------------------------------------------------------------------------


class OnGrid(nn.Module):
    """A linear layer that computes with its weight rounded to its grid, while the weight itself learns unrounded.

    Forward is bit for bit what the PackedLinear that `packed` makes of it computes in float32. log_scale (out, groups): the
    logarithm of what each scale was multiplied by, 0 to begin with.
    """

    def __init__(
        self,
        weight: Tensor,
        quant: QuantWeight,
        bias: Tensor | None,
        learn_scale: bool = True,
        *,
        activation: ActivationQuant | None = None,
        input_scale: Tensor | None = None,
        input_zero_point: Tensor | None = None,
    ):
        super().__init__()
        self.bits, self.group_size, self.symmetric, self.kind = quant.bits, quant.group_size, quant.symmetric, quant.kind
        self.out_features, self.in_features = quant.shape
        self.stored = quant.scale.dtype
        self.weight = nn.Parameter(weight.detach().float().clone())
        self.bias = None if bias is None else nn.Parameter(bias.detach().float().clone())
        self.register_buffer("began", quant.scale.float())  # (out, groups)
        self.register_buffer("zero", None if quant.zero is None else quant.zero.float())
        self.log_scale = nn.Parameter(torch.zeros_like(self.began)) if learn_scale else None
        self.activation = activation
        self.register_buffer("input_scale", input_scale)
        self.register_buffer("input_zero_point", input_zero_point)

    @classmethod
    def of_packed(cls, module: PackedLinear, learn_scale: bool = True) -> OnGrid:
        """On the grid that a packed layer has, beginning with its points."""
        quant = module.quant
        rounding = {"activation": module.activation, "input_scale": module.input_scale, "input_zero_point": module.input_zero_point}
        return cls(packed.dequantize(quant, torch.float32), quant, module.bias, learn_scale, **rounding)

    @property
    def ends(self) -> tuple[float, float]:
        return (-FP8_MOST, FP8_MOST) if self.kind == "float" else tuple(map(float, packed.code_range(self.bits)))

    def scale(self) -> Tensor:
        """(out, groups) float32, with the values that the stored dtype holds; gradients go through the rounding."""
        if self.log_scale is None:
            return self.began
        scale = self.began * self.log_scale.exp()
        return scale + (scale.to(self.stored).float() - scale).detach()

    def rounded(self) -> Tensor:
        """The weight on its grid, (out, in)."""
        out = Rounded.apply(self.weight, self.scale(), self.zero, self.ends, self.kind)
        if packed.dequantized_on_load(self.bits, self.symmetric):  # the product is formed in the scale's dtype there
            out = out + (out.to(self.stored).float() - out).detach()
        return out

    def forward(self, x: Tensor) -> Tensor:
        if self.activation is not None:
            with torch.no_grad():
                moved = self.activation.fake(x, self.input_scale, self.input_zero_point) - x
            x = x + moved
        return F.linear(x, self.rounded(), self.bias)

    @torch.no_grad()
    def packed(self) -> PackedLinear:
        """The layer as it's saved."""
        scale = self.scale().detach()
        codes = on_grid(self.weight, scale, self.zero, self.ends, self.kind)
        codes = codes.to(FP8) if self.kind == "float" else codes.to(torch.int8)
        zero = None if self.zero is None else self.zero.to(torch.int8)
        quant = QuantWeight(self.bits, self.group_size, self.symmetric, scale.to(self.stored).contiguous(), zero, codes.contiguous())
        return PackedLinear(
            quant,
            self.bias,
            torch.float32,
            activation=self.activation,
            input_scale=self.input_scale,
            input_zero_point=self.input_zero_point,
        )


def on_grid(weight: Tensor, scale: Tensor, zero: Tensor | None, ends: tuple[float, float], kind: str) -> Tensor:
    """The codes, as floats (out, in), of weight (out, in) on the grid of scale and zero (out, groups)."""
    steps = weight.unflatten(-1, (scale.shape[-1], -1)) / scale.unsqueeze(-1)  # (out, groups, size)
    if kind == "float":
        return steps.clamp(*ends).to(FP8).float().flatten(-2)
    if zero is not None:
        steps = steps + zero.unsqueeze(-1)
    return steps.round().clamp(*ends).flatten(-2)


class Rounded(torch.autograd.Function):
    """weight -> (code - zero) scale, with gradients that take the rounding for the identity where nothing was clipped.

    d/dweight = 1 inside the grid and 0 outside; d/dscale = code - zero - weight/scale inside (LSQ, equation 3), code - zero
    outside. Keeps nothing for the backward but the weight and the scale themselves.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, weight: Tensor, scale: Tensor, zero: Tensor | None, ends: tuple[float, float], kind: str) -> Tensor:
        ctx.save_for_backward(weight, scale, zero)
        ctx.ends, ctx.kind = ends, kind
        codes = on_grid(weight, scale, zero, ends, kind).unflatten(-1, (scale.shape[-1], -1))
        points = codes if zero is None else codes - zero.unsqueeze(-1)
        return (points * scale.unsqueeze(-1)).flatten(-2)

    @staticmethod
    def backward(ctx: FunctionCtx, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weight, scale, zero = ctx.saved_tensors
        groups = (scale.shape[-1], -1)
        steps = weight.unflatten(-1, groups) / scale.unsqueeze(-1)  # (out, groups, size)
        codes = on_grid(weight, scale, zero, ctx.ends, ctx.kind).unflatten(-1, groups)
        offset = 0 if zero is None else zero.unsqueeze(-1)
        low, high = ctx.ends
        slack = 0.0 if ctx.kind == "float" else 0.5  # what rounds to an end isn't clipped
        inside = (steps + offset >= low - slack) & (steps + offset <= high + slack)
        gradient = gradient.unflatten(-1, groups)
        to_weight = (gradient * inside).flatten(-2) if ctx.needs_input_grad[0] else None
        to_scale = (gradient * (codes - offset - steps * inside)).sum(-1) if ctx.needs_input_grad[1] else None
        return to_weight, to_scale, None, None, None
