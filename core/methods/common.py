"""What several methods need to know of a variant: the dtype in which it's stored."""

from __future__ import annotations

import torch

from core.models import devices, load
from core.records import SourceInfo


def stored_dtype(info: SourceInfo) -> torch.dtype:
    """The dtype in which most of a variant's dense weights are stored, and in which saving stores what's made of it."""
    return devices.STORED.get(load.stored_dtype(info), torch.float32)
