"""What the methods share that quantize a layer's input with its weight: which layers, statistics of inputs, smoothing, errors.

Weights have 8 bits, symmetric, one scale for each output row: the grid for which products of integers exist. Inputs are
activations.py's. Only layers inside the transformer blocks that read (batch, tokens, width) have their inputs rounded; for
others (a pooler, a router) one scale for the whole batch would make a text's numbers depend on its neighbours, so they get
quantized weights alone. Embeddings and the head stay as they are.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from core.methods import estimates
from core.methods.folding import Fold
from core.methods.quantization import grid
from core.methods.quantization.grid import GridParams
from core.models.activations import FP8, FP8_MOST, ActivationQuant
from core.models.blocks import blocks, linears, weight_of
from core.models.integer import can_multiply
from core.models.packed import PackedLinear, QuantWeight
from core.models.verify import probe_ids
from core.records import Ledger, SourceInfo

SAMPLE = 512  # rows of a layer's input that errors are measured on
LEAST = 1e-5  # of a smoothing scale and of what it's made from: a channel that's never used has no range
ALPHAS = tuple(step / 10 for step in range(0, 10))  # tried where the strength of smoothing is searched


# ---- which layers -----------------------------------------------------------------------------------------------------


@torch.no_grad()
def token_layers(model: nn.Module) -> set[str]:
    """Names of the linear layers inside the blocks whose input is (batch, tokens, width), seen in a forward of a few tokens."""
    found: dict[str, int] = {}
    hooks = []
    inside = tuple(f"{name}." for name, _ in blocks(model))
    for name, module in linears(model):
        if name.startswith(inside):

            def see(_: nn.Module, args: tuple, kwargs: dict, name: str = name) -> None:
                found[name] = (args[0] if args else kwargs["input"]).ndim

            hooks.append(module.register_forward_pre_hook(see, with_kwargs=True))
    config = model.config.get_text_config()
    ids = probe_ids(config.vocab_size, getattr(config, "max_position_embeddings", None))[:, :8]
    try:
        model(input_ids=ids.to(next(model.parameters()).device))
    finally:
        for hook in hooks:
            hook.remove()
    return {name for name, ndim in found.items() if ndim == 3}


# ---- weights ------------------------------------------------------------------------------------------------------------


def int8_weight(name: str, weight: Tensor, dtype: torch.dtype) -> QuantWeight:
    """weight (out, in) in 8 bits, symmetric, one scale (stored in `dtype`) a row. Raises UserError where it isn't finite."""
    return grid.round_to_nearest(grid.finite(name, weight), 8, None, True, False, dtype)


def fp8_weight(name: str, weight: Tensor, dtype: torch.dtype, granularity: str = "channel") -> QuantWeight:
    """weight (out, in) as float8 e4m3 codes; the largest of each row ('channel') or of all ('tensor') is met; 'none': scale 1."""
    weight = grid.finite(name, weight).detach().float()
    most = weight.abs().amax(1, keepdim=True)  # (out, 1)
    if granularity == "tensor":
        most = most.amax().expand_as(most)
    scale = torch.ones_like(most) if granularity == "none" else most / FP8_MOST
    scale = scale.to(dtype)
    scale = torch.where(scale == 0, torch.ones_like(scale), scale).contiguous()
    codes = (weight / scale.float()).clamp(-FP8_MOST, FP8_MOST).to(FP8)
    return QuantWeight(8, None, True, scale, None, codes)


# ---- what's kept of the inputs ------------------------------------------------------------------------------------------


class Extremes:
    """The smallest and largest number of each channel, and some rows to measure errors on."""

    def __init__(self, columns: int, device: torch.device):
        self.low = torch.full((columns,), math.inf, device=device)  # (in,)
        self.high = torch.full((columns,), -math.inf, device=device)
        self._rows: list[Tensor] = []
        self._kept = 0

    def add(self, x: Tensor) -> None:
        """x: (tokens, in)."""
        self.low = torch.minimum(self.low, x.amin(0))
        self.high = torch.maximum(self.high, x.amax(0))
        if self._kept < SAMPLE:
            self._rows.append(x[:: max(1, len(x) // (SAMPLE // 4))][: SAMPLE - self._kept].clone())
            self._kept += len(self._rows[-1])

    @property
    def most(self) -> Tensor:
        """The largest |x| of each channel: (in,)."""
        return torch.maximum(-self.low, self.high)

    @property
    def rows(self) -> Tensor:
        """(≤ SAMPLE, in)."""
        return torch.cat(self._rows)

    def power(self, matrix: Tensor) -> float:
        rows = self.rows
        return float((rows @ matrix.t()).square().sum()) / len(rows)


def output_error(layer: PackedLinear, weight: Tensor, rows: Tensor) -> float:
    """|W x - W_q Q(x)| / |W x| in the root mean square over rows (n, in), activations' rounding and all."""
    want = rows @ weight.float().t()
    got = layer.rounded(rows[None])[0] @ layer.weight.float().t()
    power = float(want.square().sum())
    return math.sqrt(float((got - want).square().sum()) / power) if power else 0.0


# ---- smoothing ------------------------------------------------------------------------------------------------------------


def smoothing(fold: Fold, most: Tensor, alpha: float) -> Tensor:
    """s of SmoothQuant's equation 4 for a fold, max|x|^alpha / max|w|^(1 - alpha), one number for each channel of the source.

    most: (in,) the largest |x| of each of the targets' columns. Dividing the inputs and multiplying the columns by it moves the
    outliers of channels into the weights, the more the larger alpha.
    """
    heaviest = torch.stack([weight_of(target).float().abs().amax(0) for _, target in fold.targets]).amax(0)  # (in,)
    x, w = fold.gathered(most).clamp_min(LEAST), fold.gathered(heaviest).clamp_min(LEAST)
    s = (x**alpha / w ** (1 - alpha)).clamp_min(LEAST)
    return torch.where(fold.gathered(most) > 0, s, torch.ones_like(s))


def searched_alpha(fold: Fold, most: Tensor, rows: Tensor, grid_of: ActivationQuant, alphas: tuple[float, ...] = ALPHAS) -> float | None:
    """The alpha with the least squared error of the targets' outputs on rows (n, in); None where no smoothing is better still."""
    weights = [weight_of(target).float() for _, target in fold.targets]
    wanted = [rows @ w.t() for w in weights]
    best, least = None, _error(weights, wanted, rows, None, grid_of)
    for alpha in alphas:
        found = _error(weights, wanted, rows, fold.columns(smoothing(fold, most, alpha)), grid_of)
        if found < least:
            best, least = alpha, found
    return best


def _error(weights: list[Tensor], wanted: list[Tensor], rows: Tensor, columns: Tensor | None, grid_of: ActivationQuant) -> float:
    x = rows if columns is None else rows / columns
    if grid_of.dynamic:
        x = grid_of.fake(x[None])[0]
    else:
        scale, zero = grid_of.scale_for(x.amin().reshape(1), x.amax().reshape(1))
        x = grid_of.fake(x, scale, zero)
    total = 0.0
    for w, want in zip(weights, wanted, strict=True):
        w = w if columns is None else w * columns
        step = w.abs().amax(1, keepdim=True).clamp_min(1e-12) / 127
        total += float((x @ ((w / step).round() * step).t() - want).square().sum())
    return total


# ---- beforehand, and what's said -----------------------------------------------------------------------------------------


def estimate_size(
    info: SourceInfo, ledger: Ledger, static: bool = False, asymmetric: bool = False, *, notes: tuple[str, ...] = ()
) -> dict[str, Any]:
    """{bytes_on_disk, effective_bits, notes} with 8-bit weights, one scale a row; static: one more scale a layer."""
    out = grid.estimate_size(GridParams(bits=8, symmetric=True), info, ledger)
    layers = estimates.linear_count(info)
    if out.get("bytes_on_disk") and static:
        each = estimates.stored_bytes(info) + asymmetric
        out["bytes_on_disk"] += int(layers * (each + 100 + 95 * asymmetric))
        out["effective_bits"] += 8 * layers * each / max(1, ledger.original_parameters)
    return out | {"notes": [*out.get("notes", ()), *notes]}


def calibration_seconds(info: SourceInfo, tokens: int, passes: float, device: str) -> float | None:
    """Seconds for so many forwards over the tokens; a forward reaches about half of a single product's speed."""
    if not info.parameters:
        return None
    return 2 * estimates.linear_parameters(info) * tokens * passes / (0.5 * estimates.operations_per_second(device))


def sentences(rounded: int, weight_only: list[str], activation: ActivationQuant, transposed: list[str], dtype: torch.dtype) -> list[str]:
    """What every method here says of what it made."""
    kind = "fp8" if activation.kind == "float" else "int8"
    kept = str(dtype).removeprefix("torch.")
    out = [
        f"{rounded} linear layers: weights in {kind}, one scale for each output row; their inputs {activation.name}. "
        f"Embeddings and head stay in {kept}."
    ]
    if weight_only:
        out.append(f"Quantized weights alone, since they don't read text token by token: {', '.join(weight_only)}.")
    return out + grid.left_out(transposed)


def runs(device: str) -> str:
    """How fast such layers run where they're made: said beforehand, and with the variant."""
    return INTEGERS if torch.device(device).type == "cpu" and can_multiply() else COPIES


INTEGERS = (
    "Spokeshave multiplies these layers in 8 bits on this processor. Plain transformers computes the same numbers from copies in "
    "floating point, rounding included, and isn't faster."
)
COPIES = (
    "Not faster here: Spokeshave and plain transformers compute the same numbers from copies in floating point, rounding included. "
    "Runtimes such as vLLM multiply in 8 bits."
)
