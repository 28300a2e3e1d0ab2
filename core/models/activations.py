"""Activations on a grid: what a quantized layer's input is rounded to, in the same arithmetic as plain transformers.

A layer with quantized weights and activations computes W_q · Q(x). Q is one of

    per token, as it comes    scale from the largest |x| of each token's vector
    per tensor, fixed         scale (and zero) found beforehand by calibration, stored beside the weight

on 2^8 integers or on the points of float8 e4m3. The numbers here are float copies of the grid's points ('fake quantized'):
what compressed-tensors computes in plain transformers, bit for bit (its _quantize_dequantize, 0.20). A layer whose input
isn't (batch, tokens, width) has no tokens to tell apart: there the whole tensor gets one scale, as compressed-tensors
does it, so such layers are better left out. Covers int8 and float8 e4m3; the product of integers is integer.py's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn
from torch.nn import functional as F

FP8 = torch.float8_e4m3fn
FP8_MOST = torch.finfo(FP8).max  # 448


@dataclass(frozen=True, slots=True)
class ActivationQuant:
    """How a layer's input is rounded. Static: by a stored scale (1,) and, asymmetric, a zero (1,) int8; else per token as it comes."""

    kind: Literal["int", "float"] = "int"
    dynamic: bool = True
    symmetric: bool = True
    bits: int = 8

    def ends(self) -> tuple[float, float]:
        """The grid's first and last point, in steps of the scale."""
        return (-FP8_MOST, FP8_MOST) if self.kind == "float" else (-float(1 << (self.bits - 1)), float((1 << (self.bits - 1)) - 1))

    def scale_for(self, low: torch.Tensor, high: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Scale and zero (None when symmetric) of a grid from `low` to `high`, tensors of one shape; the scale has their dtype.

        0 is always a point. A range without any width gets the smallest scale that counts (the dtype's epsilon).
        """
        first, last = self.ends()
        low, high = low.clamp(max=0), high.clamp(min=0)
        if self.symmetric:
            scale, zero = torch.maximum(-low, high) / ((last - first) / 2), None
        else:
            scale = (high - low) / (last - first)
            zero = (first - low / scale).clamp(first, last)
        scale = torch.where(scale == 0, torch.full_like(scale, torch.finfo(scale.dtype).eps), scale)
        return scale, None if zero is None else zero.nan_to_num(0.0).round().clamp(first, last).to(torch.int8)

    def range_of(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Smallest and largest number of each token of x (batch, tokens, ..., width), or of the whole tensor below three dimensions."""
        if x.ndim < 3:
            low, high = torch.aminmax(x)
            return low.reshape(1), high.reshape(1)
        dims = tuple(range(2, x.ndim))
        return x.amin(dims, keepdim=True), x.amax(dims, keepdim=True)

    def round(self, x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor | None) -> torch.Tensor:
        """x / scale (+ zero) on the grid: whole numbers, or those of float8, in x's dtype."""
        first, last = self.ends()
        steps = x / scale
        if zero is not None:
            steps = steps + zero.to(x.dtype)
        steps = steps.clamp(first, last)
        return steps.to(FP8).to(x.dtype) if self.kind == "float" else steps.round()

    def fake(self, x: torch.Tensor, scale: torch.Tensor | None = None, zero: torch.Tensor | None = None) -> torch.Tensor:
        """x rounded to the grid, as floats. scale, zero: the stored ones of a static grid."""
        if not x.numel():
            return x
        if self.dynamic:
            scale, zero = self.scale_for(*self.range_of(x))
        else:
            scale = scale.to(x.dtype)
        out = self.round(x, scale, zero).to(scale.dtype)
        if zero is not None:
            out = out - zero.to(scale.dtype)
        return out * scale

    @property
    def name(self) -> str:
        """'int8 per token', 'fp8, one fixed scale'."""
        grid = f"{'fp' if self.kind == 'float' else 'int'}{self.bits}{'' if self.symmetric else ' with an offset'}"
        return f"{grid} per token" if self.dynamic else f"{grid}, one fixed scale"

    # -- compressed-tensors' entry

    def config(self) -> dict[str, Any]:
        """The group's 'input_activations' entry."""
        return {
            "num_bits": self.bits,
            "type": self.kind,
            "symmetric": self.symmetric,
            "strategy": "token" if self.dynamic else "tensor",
            "group_size": None,
            "dynamic": self.dynamic,
            "observer_kwargs": {},
        }

    @classmethod
    def from_config(cls, entry: dict[str, Any]) -> ActivationQuant | None:
        """The inverse of `config`; None where the entry is of a kind that isn't known here."""
        kind, bits, dynamic = entry.get("type", "int"), entry.get("num_bits", 8), entry.get("dynamic", False)
        symmetric = bool(entry.get("symmetric", True))
        strategy = entry.get("strategy") or "tensor"
        known = (strategy == "token" and dynamic is True) or (strategy == "tensor" and dynamic is False)
        if not known or bits != 8 or kind not in ("int", "float") or (kind == "float" and not symmetric):
            return None
        return cls(kind=kind, dynamic=dynamic, symmetric=symmetric, bits=bits)


def multiplies_fp8(device: torch.device | str) -> bool:
    """Whether the device has products of float8 numbers: NVIDIA's from compute capability 8.9 on. Elsewhere fp8 is simulated."""
    device = torch.device(device)
    return device.type == "cuda" and torch.cuda.is_available() and torch.cuda.get_device_capability(device) >= (8, 9)


def fp8_product(x: torch.Tensor, codes: torch.Tensor, scale: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """x W^T + b with x (..., in) rounded to float8 row by row as it comes, W = codes (out, in) float8 times scale (out, 1).

    One product of float8 numbers, accumulated in float32; out in bfloat16 and from there in x's dtype, as the kernel has it.
    """
    rows = x.reshape(-1, x.shape[-1]).float()
    steps, _ = ActivationQuant(kind="float").scale_for(rows.amin(1, keepdim=True), rows.amax(1, keepdim=True))  # (rows, 1)
    points = (rows / steps).clamp(-FP8_MOST, FP8_MOST).to(FP8)
    row_wise = F.ScalingType.RowWise
    out = F.scaled_mm(points, codes.t(), steps, row_wise, scale.float().t().contiguous(), row_wise, output_dtype=torch.bfloat16)
    out = out.to(x.dtype).view(*x.shape[:-1], codes.shape[0])
    return out if bias is None else out + bias


class RoundedInputLinear(nn.Linear):
    """A dense linear layer whose input goes through a grid first: a layer with quantized activations, its weight unpacked.

    Never torch's plain Linear to those who ask by type: a faster product in its place would leave the rounding out.
    """

    def __init__(self, linear: nn.Linear, activation: ActivationQuant, scale: torch.Tensor | None = None, zero: torch.Tensor | None = None):
        with torch.device("meta"):
            super().__init__(linear.in_features, linear.out_features, bias=linear.bias is not None)
        self.weight, self.bias = linear.weight, linear.bias
        self.activation = activation
        self.register_buffer("input_scale", scale)  # (1,), None where the scale comes from each token
        self.register_buffer("input_zero_point", zero)  # (1,) int8
        self.train(linear.training)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(self.activation.fake(x, self.input_scale, self.input_zero_point), self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, input {self.activation.name}"
