"""Drawing with an exported UNet: the sampler that torch models are drawn from, with onnxruntime in the network's place."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
from torch import Tensor, nn

from core.errors import UserError
from core.export.runtime import open_session, provider_of
from core.models import diffusion


class _Graph(nn.Module):
    """Called as diffusers' UNet is. Its one weight says on which device tensors are to be: that of NumPy's arrays."""

    def __init__(self, folder: Path, config: dict, threads: int | None, provider: str):
        super().__init__()
        self.session = open_session(folder, threads, provider, in_turns=True)
        if "out_sample" not in {o.name for o in self.session.get_outputs()}:
            raise UserError("This export doesn't draw.", hint="Choose the export of a diffusion model.", kind="model")
        self.config = config
        self.place = nn.Parameter(torch.zeros(1), requires_grad=False)
        takes_classes = any(i.name == "class_labels" for i in self.session.get_inputs())
        self.class_embedding = SimpleNamespace(num_embeddings=config["num_class_embeds"]) if takes_classes else None

    def forward(self, sample: Tensor, timestep: Tensor, class_labels: Tensor | None = None) -> SimpleNamespace:
        feeds = {"sample": sample.numpy(), "timestep": timestep.numpy().astype(np.int64)}
        if class_labels is not None:
            feeds["class_labels"] = class_labels.numpy().astype(np.int64)
        return SimpleNamespace(sample=torch.from_numpy(self.session.run(["out_sample"], feeds)[0]))


def load_drawer(folder: Path, *, threads: int | None = None, provider: str = "") -> tuple[diffusion.Denoiser, str]:
    """(the exported pipeline as a Denoiser to draw from, and no more than that; the provider that computes it).

    Raises UserError: not a pipeline, whatever `open_session` finds wrong.
    """
    if not diffusion.is_pipeline(folder):
        raise UserError("This export doesn't draw.", hint="Choose the export of a diffusion model.", kind="model")
    index, config, scheduler = diffusion.parts(folder)
    graph = _Graph(folder, config, threads, provider)
    steps = index.get(diffusion.STEPS)
    steps = steps if isinstance(steps, int) and steps > 0 else None
    return diffusion.Denoiser(graph, diffusion.Schedule.from_config(scheduler), steps), provider_of(graph.session)
