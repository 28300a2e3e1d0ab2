"""Linear layers for decoding, where a few rows meet a large matrix and memory is what's waited for.

Prepacked holds a float32 weight in the order that oneDNN reads it fastest (measured on an EPYC: 0.6 of nn.Linear's time for one
row, 0.4 for eight); Int8 holds 8 bits a weight, a scale a row. Which is worth it is measured, not assumed: `prepacking_pays`.
CPU only: elsewhere layers stay as they are. Kept weights are moved, not copied: `dense` gives them back.
"""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

ENOUGH = 48_000_000  # parameters to measure with, more than caches hold
ROWS = 4  # the number of rows that a weight is laid out for; it serves any number, and 1 to 16 well
WORTH = 0.95  # of nn.Linear's time, the most that packing may take to be chosen


class Prepacked(nn.Module):
    """x W^T + b with W (outputs, inputs) laid out by oneDNN. Exact to float32's rounding. Inference only."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach().contiguous(), ROWS)
        self.bias = None if bias is None else bias.detach()

    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.mkldnn._linear_pointwise(x, self.packed, self.bias, "none", [], "")

    def dense(self) -> Tensor:
        """The weight as it was given, (outputs, inputs)."""
        return self.packed.to_dense()


class Int8(nn.Module):
    """x W^T + b with 8-bit codes and a bfloat16 scale a row; x goes through bfloat16. Round to nearest, symmetric.

    The codes stay packed in memory and are never unpacked as a whole: a forward reads a quarter of float32's bytes.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        super().__init__()
        self.out_features, self.in_features = weight.shape
        weight = weight.detach().float().contiguous()
        scale = (weight.abs().amax(1, keepdim=True) / 127).clamp_min(torch.finfo(torch.float32).tiny).bfloat16()  # (outputs, 1)
        self.register_buffer("codes", (weight / scale.float()).round_().clamp_(-127, 127).to(torch.int8))
        self.register_buffer("scale", scale[:, 0].contiguous())
        self.bias = None if bias is None else bias.detach().float()

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, self.in_features).to(torch.bfloat16)
        out = torch.ops.aten._weight_int8pack_mm(rows, self.codes, self.scale).to(x.dtype)
        if self.bias is not None:
            out += self.bias
        return out.view(*x.shape[:-1], self.out_features)

    def dense(self) -> Tensor:
        return self.codes.float() * self.scale.float()[:, None]


def dense_of(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    """Weight (outputs, inputs) and bias of a linear layer of any kind here."""
    weight = module.dense() if isinstance(module, (Prepacked, Int8)) else module.weight
    return weight, module.bias


def can_prepack(weight: Tensor) -> bool:
    return weight.device.type == "cpu" and weight.dtype == torch.float32 and torch.backends.mkldnn.is_available()


def can_int8(device: torch.device) -> bool:
    """Whether Int8 has a kernel here. It's tried, since builds and processors differ."""
    if device.type not in _INT8:
        try:
            Int8(torch.eye(64, device=device))(torch.ones(1, 64, device=device))
            _INT8[device.type] = True
        except (RuntimeError, NotImplementedError, AttributeError):
            _INT8[device.type] = False
    return _INT8[device.type]


_INT8: dict[str, bool] = {}


@torch.inference_mode()
def prepacking_pays(weights: Iterable[Tensor]) -> bool:
    """Whether Prepacked is faster than nn.Linear for one row and for four, measured on a sample of these weights, (outputs, inputs)."""
    sample, size = [], 0
    for weight in weights:
        part = weight[: max(1, ENOUGH // 4 // weight.shape[1])]
        sample.append(part)
        size += part.numel()
        if size > ENOUGH:
            break
    if not sample or not all(can_prepack(w) for w in sample):
        return False
    packed = [Prepacked(w) for w in sample]
    times = {"dense": 0.0, "packed": 0.0}
    for rows in (1, 4):
        inputs = {w.shape[1]: torch.randn(rows, w.shape[1]) for w in sample}
        best = {"dense": float("inf"), "packed": float("inf")}
        for _ in range(5):
            begun = perf_counter()
            for weight in sample:
                linear(inputs[weight.shape[1]], weight)
            between = perf_counter()
            for layer in packed:
                layer(inputs[layer.in_features])
            best["dense"] = min(best["dense"], between - begun)
            best["packed"] = min(best["packed"], perf_counter() - between)
        for name, seconds in best.items():
            times[name] += seconds
    return times["packed"] < WORTH * times["dense"]
