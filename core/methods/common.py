"""What several methods need: the dtype in which a variant is stored, and rounding to it before anything is measured."""

from __future__ import annotations

import torch
from torch import nn

from core.models import devices, load
from core.records import SourceInfo


def stored_dtype(info: SourceInfo) -> torch.dtype:
    """The dtype in which most of a variant's dense weights are stored, and in which what's made of it will be."""
    return devices.STORED.get(load.stored_dtype(info), torch.float32)


@torch.no_grad()
def round_weights(model: nn.Module, dtype: torch.dtype) -> None:
    """Rounds the floating weights to what `dtype` holds, in place and keeping their own dtype.

    Trained weights are stored in the parent's dtype; rounded here, the model that's checked and measured is the one
    that's on disk. Exact zeros stay zeros.
    """
    for parameter in model.parameters():
        if parameter.is_floating_point() and parameter.dtype != dtype:
            parameter.copy_(parameter.to(dtype))
