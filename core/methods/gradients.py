"""Gradients in few bits, as workers that train together would send them to each other.

A gradient g is put on a grid of 2 L + 1 points, L = 2^(bits-1) - 1, one scale a tensor or an output row, and rounded up or
down at random so that the mean of what's sent is g itself:

    sent = scale * floor(g / scale + u),   u uniform on [0, 1),   scale = max|g| / L

(Alistarh et al., 'QSGD', 2017, section 3; Gupta et al., 'Deep Learning with Limited Numerical Precision', 2015, section 3).
Error feedback adds what rounding took from a gradient to the next one (Seide et al., '1-Bit SGD', 2014; Karimireddy et al.,
'Error Feedback Fixes SignSGD', 2019, algorithm 2). Nothing is lost then in the long run, so that chance isn't needed to keep
the mean right, and gradients are rounded to the nearest point, which is closer. The optimizer gets what was sent. One machine
plays the worker: bytes are counted, not sent; in which order a network adds gradients up, and at what speed, isn't modelled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn

Scale = Literal["tensor", "channel"]


def levels(bits: int) -> int:
    """L: the largest code of a grid of `bits` bits (127, 7, 1); the smallest is -L."""
    return (1 << (bits - 1)) - 1


def encode(gradient: Tensor, bits: int, per: Scale, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """(codes int8 of the gradient's shape, scales float32): scales are (1,), or one for each first index where per is 'channel'.

    Unbiased: the mean of `decode` over the generator's draws is the gradient. Without a generator it's rounded to nearest.
    Vectors have one scale either way.
    """
    most = levels(bits)
    rows = gradient.float().flatten(1) if per == "channel" and gradient.ndim > 1 else gradient.float().reshape(1, -1)  # (rows, n)
    scale = rows.abs().amax(1, keepdim=True) / most  # (rows, 1)
    scale = torch.where(scale == 0, torch.ones_like(scale), scale)
    up = 0.5 if generator is None else torch.rand(rows.shape, generator=generator, device=rows.device)
    codes = (rows / scale + up).floor().clamp_(-most, most)
    return codes.to(torch.int8).view(gradient.shape), scale.flatten()


def decode(codes: Tensor, scale: Tensor) -> Tensor:
    """What the codes stand for, float32, of their shape."""
    shape = (-1, *[1] * (codes.ndim - 1)) if len(scale) > 1 else (1,) * codes.ndim
    return codes.float() * scale.view(shape)


def bytes_sent(shape: torch.Size, bits: int, per: Scale) -> int:
    """Bytes of a gradient on the wire: packed codes and float32 scales; at 32 bits the numbers themselves."""
    numbers = math.prod(shape)
    if bits == 32:
        return 4 * numbers
    scales = shape[0] if per == "channel" and len(shape) > 1 else 1
    return -(-numbers * bits // 8) + 4 * scales


@dataclass
class Exchange:
    """The gradients of a model's parameters, sent once a step. Replaces them by what the other side would decode.

    feedback: round to nearest, and add to each gradient what the last step's rounding took away; costs a float32 copy of the
    parameters. Without it, rounding is by chance.
    """

    named: dict[str, nn.Parameter]
    bits: int
    per: Scale = "channel"
    feedback: bool = False
    seed: int = 0
    sent: int = 0  # bytes so far
    plain: int = 0  # what float32 would have taken
    _owed: dict[str, Tensor] = field(default_factory=dict)
    _generators: dict[torch.device, torch.Generator] = field(default_factory=dict)

    @torch.no_grad()
    def step(self) -> float:
        """Sends every gradient. Returns the relative error of what arrived: |sent - wanted| / |wanted| over all of them."""
        error = power = 0.0
        for name, parameter in self.named.items():
            if parameter.grad is None:
                continue
            wanted = parameter.grad.float()
            if self.feedback and name in self._owed:
                wanted = wanted + self._owed[name]
            arrived = decode(*encode(wanted, self.bits, self.per, None if self.feedback else self._generator(wanted.device)))
            owed = wanted - arrived
            if self.feedback:
                self._owed[name] = owed
            parameter.grad.copy_(arrived)
            error += float(owed.square().sum())
            power += float(wanted.square().sum())
            self.sent += bytes_sent(parameter.shape, self.bits, self.per)
            self.plain += bytes_sent(parameter.shape, 32, self.per)
        return math.sqrt(error / power) if power else 0.0

    def state(self) -> dict[str, Any]:
        """What the next steps depend on, and the bytes so far."""
        chance = {str(device): generator.get_state() for device, generator in self._generators.items()}
        return {"sent": self.sent, "plain": self.plain, "owed": self._owed, "chance": chance}

    def restore(self, state: dict[str, Any]) -> None:
        """Goes on from what `state` gave."""
        self.sent, self.plain = state["sent"], state["plain"]
        self._owed = {name: owed.to(self.named[name].device) for name, owed in state["owed"].items()}
        for device, chance in state["chance"].items():
            self._generator(torch.device(device)).set_state(chance)

    def _generator(self, device: torch.device) -> torch.Generator:
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self.seed)
        return self._generators[device]
