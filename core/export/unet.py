"""The UNet of a diffusion pipeline as a graph: a noisy image, its level of noise and, where it was taught them, a class -> its output.

The schedule isn't part of it: the folder keeps the scheduler's config as diffusers writes it, and example.py draws with it by DDIM.
Images go in and out as float32, whatever the graph computes in. Batches are free; the size of the images is the model's own.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from core.export.trace import Plan, Signature
from core.run import Run

FOLDER = "unet"
PLACE = f"{FOLDER}/model.onnx"
DRAWN, STEPS = 3, 8  # images that the check draws, and in how many steps where the model wasn't made for a number
BATCHES = (1, 4, 3)


class _Unet(nn.Module):
    def __init__(self, unet: nn.Module):
        super().__init__()
        self.unet = unet

    def forward(self, *inputs):
        sample, timestep, *kinds = inputs
        dtype = next(self.unet.parameters()).dtype
        extra = {"class_labels": kinds[0]} if kinds else {}
        return self.unet(sample.to(dtype), timestep, **extra, return_dict=False)[0].to(torch.float32)


def plan(denoiser: Any) -> Plan:
    channels, height, width = denoiser.shape
    sample: list[Tensor] = [torch.randn(2, channels, height, width), torch.tensor([1, denoiser.schedule.total - 1])]
    signature = Signature({"sample": ("batch", channels, height, width), "timestep": ("batch",)})
    if denoiser.classes is not None:
        sample.append(torch.tensor([0, denoiser.classes - 1]))
        signature.inputs["class_labels"] = ("batch",)
    signature.outputs["out_sample"] = ("batch", channels, height, width)
    return Plan(_Unet(denoiser.unet), tuple(sample), signature)


@contextlib.contextmanager
def as_it_is(model: nn.Module):
    """Nothing of a UNet is replaced while it's traced."""
    yield True


def reference(denoiser: Any, run: Run) -> dict[str, np.ndarray]:
    """What torch says of noise at several levels in batches of several sizes, and images that it draws from given noise."""
    rng, total = torch.Generator().manual_seed(0), denoiser.schedule.total
    kept: dict[str, np.ndarray] = {}
    for index, size in enumerate(BATCHES):
        run.check_cancelled()
        z = torch.randn(size, *denoiser.shape, generator=rng)
        t = torch.linspace(0, total - 1, size + 2).long()[1:-1] if size > 1 else torch.tensor([total - 1])
        kinds = None if denoiser.classes is None else torch.arange(size) % denoiser.classes
        with torch.no_grad():
            answer = denoiser(z, t, kinds)
        kept |= {f"z{index}": z.numpy(), f"t{index}": t.numpy(), f"answer{index}": answer.float().numpy()}
        if kinds is not None:
            kept[f"kinds{index}"] = kinds.numpy()
    steps = denoiser.steps or min(STEPS, total)
    kept["noise"] = torch.randn(DRAWN, *denoiser.shape, generator=torch.Generator().manual_seed(0)).numpy()  # as draw begins
    kept["drawn"] = denoiser.draw(DRAWN, steps, seed=0)[0].numpy()
    kept["steps"] = np.array(steps)
    return kept
