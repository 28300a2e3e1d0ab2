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
MANY = 16  # rows from which on 8-bit codes are faster as bfloat16 products (measured on an EPYC)
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
        if rows.shape[0] < MANY or x.device.type != "cpu":
            out = torch.ops.aten._weight_int8pack_mm(rows, self.codes, self.scale).to(x.dtype)
        else:
            out = linear(rows, self.codes.to(torch.bfloat16)).to(x.dtype).mul_(self.scale)
        if self.bias is not None:
            out += self.bias
        return out.view(*x.shape[:-1], self.out_features)

    def dense(self) -> Tensor:
        return self.codes.float() * self.scale.float()[:, None]


def dense_of(module: nn.Module) -> tuple[Tensor, Tensor | None]:
    """Weight (outputs, inputs) and bias of a linear layer of any kind here."""
    weight = module.dense() if hasattr(module, "dense") else module.weight
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


class Half(nn.Module):
    """x W^T + b with W laid out by oneDNN in bfloat16, which x goes through: half of the memory of Prepacked."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None):
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self.packed = torch.ops.mkldnn._reorder_linear_weight(weight.detach().to(torch.bfloat16).contiguous(), ROWS)
        self.bias = None if bias is None else bias.detach().float()

    def forward(self, x: Tensor) -> Tensor:
        out = torch.ops.mkldnn._linear_pointwise(x.to(torch.bfloat16), self.packed, None, "none", [], "").to(x.dtype)
        return out if self.bias is None else out + self.bias

    def dense(self) -> Tensor:
        return self.packed.to_dense().float()


class Codes8(nn.Module):
    """x W^T + b with W = (codes - zero) scale, 8 bits, one scale a row: a quantized variant's own grid, kept packed.

    Few rows go through torch's 8-bit kernel. Many are faster as bfloat16 products of the codes themselves, which that type
    holds exactly, with the scale applied to what comes out (Int8 does the same).
    """

    def __init__(self, codes: Tensor, scale: Tensor, zero: Tensor | None = None, bias: Tensor | None = None):
        """codes: (outputs, inputs) int8; scale: (outputs, 1); zero: (outputs, 1) or None."""
        super().__init__()
        self.out_features, self.in_features = codes.shape
        self.register_buffer("codes", codes.contiguous())
        self.register_buffer("scale", scale[:, 0].to(torch.bfloat16).contiguous())
        self.register_buffer("shift", None if zero is None else (zero[:, 0].float() * scale[:, 0].float()))
        self.bias = None if bias is None else bias.detach().float()

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, self.in_features).to(torch.bfloat16)
        if rows.shape[0] < MANY:
            out = torch.ops.aten._weight_int8pack_mm(rows, self.codes, self.scale).float()
        else:
            out = linear(rows, self.codes.to(torch.bfloat16)).float().mul_(self.scale.float())
        if self.shift is not None:
            out -= rows.sum(-1, keepdim=True, dtype=torch.float32) * self.shift
        if self.bias is not None:
            out += self.bias
        return out.to(x.dtype).view(*x.shape[:-1], self.out_features)

    def dense(self) -> Tensor:
        weight = self.codes.float() * self.scale.float()[:, None]
        return weight if self.shift is None else weight - self.shift[:, None]


class Codes4(nn.Module):
    """The same with 4 bits or fewer, in groups of columns: half a byte a weight, through torch's 4-bit kernel.

    The kernel takes rows in blocks of 64 and groups of 32 to 256 columns: outputs are filled up to the one, and scales of
    other groups repeated to the other. Many rows are multiplied with the weight unpacked in bfloat16 for the moment.
    """

    MANY = 200
    BLOCK = 64

    def __init__(self, codes: Tensor, scale: Tensor, zero: Tensor | None = None, bias: Tensor | None = None):
        """codes: (outputs, inputs) int8, from -8 to 7; scale, zero: (outputs, groups). Raises ValueError: no group of the kernel fits."""
        super().__init__()
        outputs, inputs = self.out_features, self.in_features = codes.shape
        own = inputs // scale.shape[1]
        self.group = next((g for g in (256, 128, 64, 32) if own % g == 0), 0)
        if not self.group:
            raise ValueError(f"groups of {own} columns don't fit the kernel")
        more = -outputs % self.BLOCK
        scale = scale.float().repeat_interleave(own // self.group, 1)  # (outputs, groups of the kernel)
        shift = -scale * zero.float().repeat_interleave(own // self.group, 1) if zero is not None else torch.zeros_like(scale)
        both = torch.stack([scale, shift], -1)
        if more:
            codes, both = (torch.cat([t, t.new_zeros(more, *t.shape[1:])]) for t in (codes, both))
        packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu((codes.int() + 8).contiguous(), 1)
        self.register_buffer("packed", packed)
        self.register_buffer("scales", both.transpose(0, 1).to(torch.bfloat16).contiguous())  # (groups, outputs, 2)
        self.bias = None if bias is None else bias.detach().float()

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(-1, self.in_features).to(torch.bfloat16)
        if rows.shape[0] < self.MANY:
            out = torch.ops.aten._weight_int4pack_mm_for_cpu(rows, self.packed, self.group, self.scales)
        else:
            out = rows @ self._unpacked()
        out = out[:, : self.out_features].to(x.dtype)
        if self.bias is not None:
            out = out + self.bias
        return out.reshape(*x.shape[:-1], self.out_features)

    def _unpacked(self) -> Tensor:
        """The weight as the kernel means it, transposed: (inputs, outputs) in bfloat16."""
        blocks = self.packed.view(-1, self.in_features, self.BLOCK // 2)  # (blocks, inputs, 32): 32 low nibbles, then 32 high ones
        codes = torch.cat([blocks & 15, blocks >> 4], -1).to(torch.bfloat16).sub_(8)  # (blocks, inputs, 64)
        scale, shift = (
            self.scales[..., i].view(-1, codes.shape[0], self.BLOCK).transpose(0, 1).repeat_interleave(self.group, 1) for i in (0, 1)
        )  # (blocks, inputs, 64)
        return codes.mul_(scale).add_(shift).transpose(0, 1).reshape(self.in_features, -1)

    def dense(self) -> Tensor:
        return self._unpacked().t()[: self.out_features].float()


@torch.inference_mode()
def can_int4() -> bool:
    """Whether Codes4 has a kernel here, and one that packs as it's unpacked. It's tried."""
    if "4" not in _INT8:
        try:
            codes = (torch.arange(64 * 64) * 7 % 16 - 8).to(torch.int8).view(64, 64)
            scale = torch.linspace(0.5, 1.5, 64)[:, None].bfloat16()
            layer = Codes4(codes, scale)
            want = codes.float() * scale.float()
            few, many = layer(torch.eye(64)), layer(torch.eye(64).repeat(4, 1))[:64]
            _INT8["4"] = bool(torch.allclose(few, want.t(), atol=0.05) and torch.allclose(many, want.t(), atol=0.05))
        except (RuntimeError, NotImplementedError, AttributeError):
            _INT8["4"] = False
    return _INT8["4"]
