"""Products of integers: linear layers whose weights and inputs are both rounded to 8 bits, multiplied as they're stored.

    W Q(x) = scale_w scale_x (codes_w (codes_x - zero_x))        one scale a row of W, one a token of x or one for all

The simulated layer (core.models.packed.PackedLinear) forms the same product of floats from the same codes, so both agree
to float32's rounding. oneDNN's product of unsigned with signed codes reads a quarter of float32's bytes and multiplies four
times as many numbers an instruction (measured on an EPYC with VNNI, against bfloat16 laid out by oneDNN: 0.6 of its time for
one row, 0.55 for 4 and for 16, 0.5 for 512). Processors without such instructions may saturate, and some builds have a reference
loop in the kernel's place, a thousand times slower: `can_multiply` tries the ends of the range, and the clock.
CPU only, integers only; layers with float8 inputs or grouped weights aren't covered.
"""

from __future__ import annotations

from time import perf_counter

import torch
from torch import Tensor, nn

from core.models.activations import ActivationQuant
from core.models.packed import PackedLinear, quantize

SHIFT = 128  # from signed codes of inputs to the kernel's unsigned ones
TRIED = (512, 1024)  # shape of the weight that the kernel is tried with
ROWS = (1, 16)


class Product8(nn.Module):
    """W Q(x) + b in integers, x (..., in) rounded as `activation` says. Inference only.

    Memory: the codes in the kernel's order, a byte each, and 4 bytes a row.
    """

    def __init__(
        self,
        codes: Tensor,
        scale: Tensor,
        activation: ActivationQuant,
        bias: Tensor | None = None,
        input_scale: Tensor | None = None,
        input_zero: Tensor | None = None,
    ):
        """codes: (outputs, inputs) int8, symmetric; scale: (outputs, 1); input_scale, input_zero: (1,), of a fixed grid of inputs."""
        super().__init__()
        self.out_features, self.in_features = codes.shape
        self.activation = activation
        scale = scale[:, 0].float()
        self.register_buffer("packed", torch.ops.onednn.qlinear_prepack(codes.contiguous(), None))
        self.register_buffer("scale", scale.contiguous())
        self.register_buffer("_zeros", torch.zeros(self.out_features, dtype=torch.int64))  # of the weights' grid
        # what a zero of the inputs adds to each output, where tokens have zeros of their own
        moving = activation.dynamic and not activation.symmetric
        self.register_buffer("sums", codes.sum(1, dtype=torch.int64).float() * scale if moving else None)
        self.bias = None if bias is None else bias.detach().float()
        self.input_scale, self.input_zero = input_scale, input_zero
        self._fixed = None if input_scale is None else (float(input_scale.float()), SHIFT + (0 if input_zero is None else int(input_zero)))

    def forward(self, x: Tensor) -> Tensor:
        if not x.numel():
            return x.new_zeros(*x.shape[:-1], self.out_features)
        if self._fixed:
            codes = self.activation.round(x, self.input_scale.to(x.dtype), self.input_zero)
            out = self._product(codes, *self._fixed, self.bias)
            return out.to(x.dtype).view(*x.shape[:-1], self.out_features)
        scale, zero = self._scales(x)
        out = self._product(self.activation.round(x, scale, zero), 1.0, SHIFT, None).view(*x.shape[:-1], self.out_features)
        if zero is not None:
            out -= zero.float() * self.sums
        out *= scale
        if self.bias is not None:
            out += self.bias
        return out.to(x.dtype)

    def dense(self) -> Tensor:
        """The weight that the codes stand for, (outputs, inputs)."""
        return self.packed.to_dense().t().float() * self.scale[:, None]

    def _scales(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """Scale and zero (None when symmetric) of each token of x."""
        if not self.activation.symmetric or x.ndim != 3:
            return self.activation.scale_for(*self.activation.range_of(x))
        last = self.activation.ends()[1]
        scale = x.abs().amax(-1, keepdim=True) / (last + 0.5)  # as scale_for has it, in fewer steps
        return torch.where(scale == 0, torch.finfo(scale.dtype).eps, scale), None

    def _product(self, codes: Tensor, scale: float, zero: int, bias: Tensor | None) -> Tensor:
        """codes: whole numbers from -128 to 127 as floats, any shape. (rows, outputs) float32, the weights' scales applied."""
        rows = codes.reshape(-1, self.in_features).add_(SHIFT).to(torch.uint8)
        return torch.ops.onednn.qlinear_pointwise(
            rows, scale, zero, self.packed, self.scale, self._zeros, bias, 1.0, 0, torch.float32, "none", [], ""
        )


_CAN: list[bool] = []


@torch.inference_mode()
def can_multiply() -> bool:
    """Whether Product8 is right here, and faster than the simulated layer, which unpacks its weight. Tried once a process."""
    if not _CAN:
        try:
            _CAN.append(_right() and _faster())
        except (RuntimeError, NotImplementedError, AttributeError):
            _CAN.append(False)
    return _CAN[0]


def _right() -> bool:
    """The largest codes, all of one sign, and odd ones: what saturates first."""
    outputs, inputs = 64, 256
    codes = torch.full((outputs, inputs), 127, dtype=torch.int8)
    codes[1], codes[2] = -127, (torch.arange(inputs) * 37 % 255 - 127).to(torch.int8)
    layer = Product8(codes, torch.ones(outputs, 1), ActivationQuant(dynamic=False), input_scale=torch.ones(1))
    x = torch.stack([torch.full((inputs,), 127.0), torch.full((inputs,), -128.0), (torch.arange(inputs) * 91 % 256 - 128).float()])
    want = x.double() @ codes.double().t()
    return all(torch.equal(layer(x[None, :n])[0].double(), want[:n]) for n in (1, 3))


def _faster() -> bool:
    generator = torch.Generator().manual_seed(0)
    quant = quantize(torch.randn(TRIED, generator=generator), 8)
    simulated = PackedLinear(quant, activation=ActivationQuant())
    layer = Product8(quant.codes, quant.scale, ActivationQuant())
    for rows in ROWS:
        x = torch.randn(1, rows, TRIED[1], generator=generator)
        best = {"simulated": float("inf"), "integers": float("inf")}
        for _ in range(5):
            begun = perf_counter()
            simulated(x)
            between = perf_counter()
            layer(x)
            best["simulated"] = min(best["simulated"], between - begun)
            best["integers"] = min(best["integers"], perf_counter() - between)
        if best["integers"] > best["simulated"]:
            return False
    return True
