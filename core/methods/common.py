"""What several methods need to know of a variant: the dtype in which it's stored, and which of its zeros were pruned."""

from __future__ import annotations

import torch
from torch import Tensor

from core.models import devices, load
from core.records import SourceInfo


def stored_dtype(info: SourceInfo) -> torch.dtype:
    """The dtype in which most of a variant's dense weights are stored, and in which saving stores what's made of it."""
    return devices.STORED.get(load.stored_dtype(info), torch.float32)


PRUNED_FROM = 0.01  # share of exact zeros from which a weight counts as pruned


def pruned_zeros(weight: Tensor) -> Tensor | None:
    """True where a pruned weight is zero; None where it wasn't pruned, and a zero in it is a number like others."""
    zeros = weight == 0
    return zeros if int(zeros.sum()) > PRUNED_FROM * weight.numel() else None
