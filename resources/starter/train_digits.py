"""Trains the starter diffusion model: handwritten digits of 8 x 8 pixels, drawn from noise.

    python -m resources.starter.train_digits [--minutes 20] [--to FOLDER]

The images are the 1,797 of 'Optical Recognition of Handwritten Digits' (Alpaydin & Kaynak, 1998, UCI Machine Learning Repository,
CC BY 4.0), in digits.npz as bytes. The model predicts v on a cosine schedule that ends in pure noise, 1,024 levels, so that every power of
two is a number of steps; what's kept is the mean of its weights over the last thousand updates or so.
"""

from __future__ import annotations

import copy
import time
from pathlib import Path

import click
import torch

import resources
from core.data.images import read_images
from core.evaluate.frechet import score
from core.models.diffusion import Denoiser, Schedule, save
from core.run import Run

SCHEDULER = {
    "_class_name": "DDIMScheduler",
    "num_train_timesteps": 1024,
    "beta_schedule": "squaredcos_cap_v2",
    "rescale_betas_zero_snr": True,
    "prediction_type": "v_prediction",
    "timestep_spacing": "trailing",
    "clip_sample": False,
    "set_alpha_to_one": True,
}
BATCH, RATE, FOLLOWS = 128, 2e-3, 0.998


def fresh() -> Denoiser:
    from diffusers import UNet2DModel

    torch.manual_seed(0)
    unet = UNet2DModel(
        sample_size=8,
        in_channels=1,
        out_channels=1,
        layers_per_block=1,
        block_out_channels=(32, 64),
        norm_num_groups=8,
        attention_head_dim=16,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )
    return Denoiser(unet, Schedule.from_config(SCHEDULER))


@click.command()
@click.option("--minutes", type=float, default=20)
@click.option("--to", type=click.Path(path_type=Path), default=resources.STARTER_DIFFUSION)
@click.option("--threads", type=int, default=1)
def main(minutes: float, to: Path, threads: int) -> None:
    torch.set_num_threads(threads)
    images = read_images(resources.DIGITS)
    model = fresh()
    learn, _ = images.split()
    x = images.fitted(model.shape)[learn]
    kept = copy.deepcopy(model).eval().requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    generator = torch.Generator().manual_seed(0)
    begun, step, shown = time.monotonic(), 0, 0.0
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(x):,} images")
    while (done := (time.monotonic() - begun) / (60 * minutes)) < 1:
        step += 1
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, step / 100) * (1 - done)
        rows = torch.randint(len(x), (BATCH,), generator=generator)
        noise = torch.randn(BATCH, *model.shape, generator=generator)
        t = torch.randint(model.schedule.total, (BATCH,), generator=generator)
        z = model.schedule.noised(x[rows], noise, t)
        loss = (model(z, t) - model.schedule.output(x[rows], noise, t)).square().mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            for mine, theirs in zip(kept.parameters(), model.parameters(), strict=True):
                mine.lerp_(theirs, 1 - min(FOLLOWS, step / (step + 10)))
        if done >= shown:
            shown += 0.25
            found = score(kept, images, steps=16, count=500)[0]
            print(f"{step} updates, loss {float(loss.detach()):.4f}, Frechet distance at 16 steps {found.value:.3f}", flush=True)
    to.mkdir(parents=True, exist_ok=True)
    save(kept, to, run=Run(), dtype=torch.float16)
    for steps in (32, 16, 8, 4, 2, 1):
        found = score(kept, images, steps=steps)[0]
        print(f"{steps} steps: Frechet distance {found.value:.3f} +- {found.stderr:.3f}")


if __name__ == "__main__":
    main()
