"""A training that was cut off goes on where it was: its whole state in one file, written every few minutes, whole or not at all.

The state is what the loop's next step depends on: weights, the optimizer's moments, the best step's weights and figures, what the
gradients' exchange owes and how far its chance has come. Batches aren't in it: they're drawn anew from their seed up to the step. A
file of another training (other starting weights, settings or seed) is as good as none. Text and labels are for the folder's name to tell
apart, which is the caller's. Costs as much disk as weights, moments and best copy in float32: four times the model.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core.errors import UserError
from core.models.save import room_for
from core.run import Run

SECONDS = 300.0  # between two writings: what a crash costs at most
FILE = "training.pt"


class Checkpoint:
    """The state's file in `folder`, which is made. Nothing here ends a training: what can't be written is said once, and missed."""

    def __init__(self, folder: Path, fingerprint: str, run: Run, file: str = FILE):
        self.path, self.fingerprint, self._run = folder / file, fingerprint, run
        self._last, self._told = time.monotonic(), False
        folder.mkdir(parents=True, exist_ok=True)

    def read(self) -> Any:
        """The state, on the CPU; None where there is none of this training, or it can't be read."""
        if not self.path.is_file():
            return None
        try:
            found = torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception as error:  # whatever is wrong with the file, the training can begin anew
            self._run.warn(f"The state that an earlier try left can't be read, so the training begins anew: {type(error).__name__}")
            return None
        return found["state"] if isinstance(found, dict) and found.get("fingerprint") == self.fingerprint else None

    @property
    def due(self) -> bool:
        return time.monotonic() - self._last >= SECONDS

    def write(self, state: Callable[[], Any], size: int) -> None:
        """Puts the state in the place of the last one. size: bytes, about."""
        part = self.path.with_suffix(".part")
        try:
            room_for(self.path.parent, 2 * size)  # what's saved in the end needs some, too
            with open(part, "wb") as handle:
                torch.save({"fingerprint": self.fingerprint, "state": state()}, handle)
                handle.flush()
                os.fsync(handle.fileno())
            os.replace(part, self.path)
        except (OSError, RuntimeError, UserError) as error:
            part.unlink(missing_ok=True)
            if not self._told:
                self._run.warn(f"The training's state couldn't be kept for another try: {error}")
            self._told = True
        self._last = time.monotonic()


def fingerprint(weights: dict[str, Tensor], settings: dict[str, Any]) -> str:
    """sha256 over the weights that a training begins with and its settings."""
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for name, tensor in weights.items():
        digest.update(f"{name}\0{tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().data)
    return digest.hexdigest()
