"""Diffusion models: a network that takes noise off an image, the schedule that it learnt, and images drawn in few steps.

    z_t = alpha_t x + sigma_t e,    alpha_t^2 + sigma_t^2 = 1,    t = 0 ... T-1;   before the first step there's x itself

Ho, Jain & Abbeel, 'Denoising Diffusion Probabilistic Models' (2020), section 2; Song, Meng & Ermon, 'Denoising Diffusion Implicit
Models' (2021), equation 12 with eta = 0, which draws the same image from the same noise every time; Salimans & Ho, 'Progressive
Distillation for Fast Sampling of Diffusion Models' (2022), section 4 and appendix D for v = alpha e - sigma x; Lin et al., 'Common
Diffusion Noise Schedules and Sample Steps are Flawed' (2024), section 3, for schedules that end in pure noise and steps counted from
the end ('trailing').

Covers folders of diffusers with a UNet2DModel, unconditional or with classes (for which diffusers has no pipeline of its own), and the
schedulers that share its betas; they're drawn from by DDIM whatever the scheduler is. Text-to-image models, latent ones, learned
variances and guidance aren't covered.
"""

from __future__ import annotations

import json
import math
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from core.errors import UserError, explain
from core.models import tensors
from core.run import Run
from core.workspace import read_json

INDEX = "model_index.json"
WEIGHTS = "diffusion_pytorch_model.safetensors"
HALVES = "diffusion_pytorch_model.fp16.safetensors"
STEPS = "_sampling_steps"  # in model_index.json: how many steps the model was distilled for. diffusers leaves such names alone
BITS = "_weight_bits"  # likewise: of the grid that the weights inside the blocks lie on, where they were rounded to one
SCHEDULERS = ("DDPMScheduler", "DDIMScheduler", "PNDMScheduler", "DPMSolverMultistepScheduler", "DPMSolverSinglestepScheduler")
TOGETHER = 1 << 18  # numbers of images that are drawn together
Prediction = Literal["epsilon", "sample", "v_prediction"]


@dataclass(frozen=True, eq=False)
class Schedule:
    """The noise at each of the T timesteps, and how steps are laid among them.

    kept: (T,) float64, alpha_t^2; prediction: what the network's output means; spacing: as diffusers names it; clip: the range that
    a predicted image is held to, 0 for none; offset: added to timesteps of 'leading' spacing; last: alpha^2 before the first step.
    """

    kept: Tensor
    prediction: Prediction = "epsilon"
    spacing: Literal["leading", "linspace", "trailing"] = "leading"
    clip: float = 0.0
    offset: int = 0
    last: float = 1.0
    config: dict[str, Any] = field(default_factory=dict)  # the scheduler's own, as it was read

    @property
    def total(self) -> int:
        return len(self.kept)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Schedule:
        """From scheduler_config.json. Raises UserError for what isn't computed with here."""
        kind = config.get("_class_name", "")
        if kind not in SCHEDULERS:
            raise _unknown("scheduler", kind)
        if config.get("thresholding"):
            raise _unknown("scheduler with thresholding", kind)
        prediction, spacing = config.get("prediction_type", "epsilon"), config.get("timestep_spacing", "leading")
        if prediction not in ("epsilon", "sample", "v_prediction"):
            raise _unknown("prediction type", prediction)
        if spacing not in ("leading", "linspace", "trailing"):
            raise _unknown("spacing of timesteps", spacing)
        kept = torch.cumprod(1 - betas(config), 0)
        if config.get("rescale_betas_zero_snr"):
            kept = to_pure_noise(kept)
        clip = float(config.get("clip_sample_range", 1.0)) if config.get("clip_sample", True) and kind.startswith("DD") else 0.0
        last = 1.0 if config.get("set_alpha_to_one", True) else float(kept[0])
        return cls(kept, prediction, spacing, clip, int(config.get("steps_offset", 0)), last, dict(config))

    def at(self, t: Tensor) -> tuple[Tensor, Tensor]:
        """(alpha, sigma) at timesteps t, any shape, float32; -1 stands for the image itself."""
        kept = torch.cat([torch.tensor([self.last], dtype=torch.float64), self.kept])
        return tuple(root.sqrt().float().to(t.device)[t + 1] for root in (kept, 1 - kept))  # not all devices have float64

    def timesteps(self, steps: int) -> list[int]:
        """The timesteps of a drawing in `steps`, from the noisiest on. Raises UserError where there aren't as many."""
        total = self.total
        if not 1 <= steps <= total:
            raise UserError(
                "An image can't be drawn in {steps} steps: the model knows {total} levels of noise.",
                hint="Choose from 1 to {total} steps.",
                kind="usage",
                steps=steps,
                total=total,
            )
        if self.spacing == "trailing":
            return [round(total - i * total / steps) - 1 for i in range(steps)]
        if self.spacing == "linspace":
            return [round((total - 1) * (1 - i / max(1, steps - 1))) for i in range(steps)]
        return [min(total - 1, (steps - 1 - i) * (total // steps) + self.offset) for i in range(steps)]

    def noised(self, x: Tensor, e: Tensor, t: Tensor) -> Tensor:
        """z_t of images x and noise e (n, channels, height, width), t (n,)."""
        alpha, sigma = _wide(self.at(t), x)
        return alpha * x + sigma * e

    def meant(self, out: Tensor, z: Tensor, t: Tensor) -> tuple[Tensor, Tensor]:
        """(image, noise) that the network's output for z at t says z is made of. Not clipped.

        Where no image is left in z, an output that's the noise says nothing of the image, which is then 0.
        """
        alpha, sigma = _wide(self.at(t), z)
        if self.prediction == "v_prediction":
            return alpha * z - sigma * out, sigma * z + alpha * out
        if self.prediction == "sample":
            return out, (z - alpha * out) / sigma.clamp_min(1e-8)
        return torch.where(alpha > 1e-6, (z - sigma * out) / alpha.clamp_min(1e-6), 0.0), out

    def output(self, x: Tensor, e: Tensor, t: Tensor) -> Tensor:
        """What the network should say of z made of x and e: the inverse of `meant`."""
        alpha, sigma = _wide(self.at(t), x)
        if self.prediction == "v_prediction":
            return alpha * e - sigma * x
        return x if self.prediction == "sample" else e

    def step(self, out: Tensor, z: Tensor, t: Tensor, to: Tensor) -> Tensor:
        """z at timesteps `to` (-1: the image), from z and the network's output at t: one step of DDIM."""
        x, e = self.meant(out, z, t)
        if self.clip:
            x = x.clamp(-self.clip, self.clip)
        alpha, sigma = _wide(self.at(to), z)
        return alpha * x + sigma * e

    def for_steps(self, prediction: Prediction) -> Schedule:
        """The same noise, for a model that's drawn from in few steps: from the noisiest level on, nothing clipped."""
        config = {k: v for k, v in self.config.items() if k != "variance_type"}
        config |= {
            "_class_name": "DDIMScheduler",
            "timestep_spacing": "trailing",
            "clip_sample": False,
            "set_alpha_to_one": True,
            "prediction_type": prediction,
            "steps_offset": 0,
        }
        return Schedule(self.kept, prediction, "trailing", 0.0, 0, 1.0, config)


def _wide(pair: tuple[Tensor, Tensor], like: Tensor) -> tuple[Tensor, Tensor]:
    return tuple(v.to(like.dtype).view(-1, *[1] * (like.ndim - 1)) for v in pair)


def _unknown(what: str, value: Any) -> UserError:
    return UserError(
        "This diffusion model has a {what} that Spokeshave doesn't know: {value}.",
        hint="Models with a DDPM or DDIM scheduler can be opened.",
        kind="model",
        what=what,
        value=str(value or "none"),
    )


def betas(config: dict[str, Any]) -> Tensor:
    """(T,) float64: the variances that are added step by step, as the scheduler's settings mean them. Raises UserError."""
    total, low, high = int(config.get("num_train_timesteps", 1000)), config.get("beta_start", 1e-4), config.get("beta_end", 0.02)
    if config.get("trained_betas") is not None:
        return torch.tensor(config["trained_betas"], dtype=torch.float64)
    kind = config.get("beta_schedule", "linear")
    if kind == "linear":
        return torch.linspace(low, high, total, dtype=torch.float64)
    if kind == "scaled_linear":
        return torch.linspace(low**0.5, high**0.5, total, dtype=torch.float64) ** 2
    if kind == "squaredcos_cap_v2":
        left = lambda u: math.cos((u + 0.008) / 1.008 * math.pi / 2) ** 2
        return torch.tensor([min(1 - left((i + 1) / total) / left(i / total), 0.999) for i in range(total)], dtype=torch.float64)
    raise _unknown("schedule of noise", kind)


def to_pure_noise(kept: Tensor) -> Tensor:
    """alpha^2 (T,) shifted and stretched in its root, so that the last is 0 and the first stays (Lin et al., algorithm 1)."""
    root = kept.sqrt()
    return ((root - root[-1]) * root[0] / (root[0] - root[-1])) ** 2


class Denoiser(nn.Module):
    """A UNet with its schedule. classes: how many it was taught to draw, None where it wasn't told any."""

    def __init__(self, unet: nn.Module, schedule: Schedule, steps: int | None = None, bits: int | None = None):
        """steps: those that it was distilled for; None: as many as one likes. bits: of the grid that its weights were rounded to."""
        super().__init__()
        self.unet, self.schedule, self.steps, self.bits = unet, schedule, steps, bits

    @property
    def config(self) -> Any:
        return self.unet.config

    @property
    def classes(self) -> int | None:
        if self.unet.class_embedding is None:
            return None
        found = getattr(self.unet.class_embedding, "num_embeddings", None)
        return int(found or self.config.num_class_embeds)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(channels, height, width) of its images."""
        return shape_of(self.config)

    def forward(self, z: Tensor, t: Tensor, kinds: Tensor | None = None) -> Tensor:
        """The UNet's output for z (n, channels, height, width) at t (n,), of classes `kinds` (n,). In float32's range."""
        return self.unet(z, t, **({"class_labels": kinds} if self.classes is not None else {})).sample

    @torch.no_grad()
    def probe(self) -> Tensor:
        """What it says of fixed noise at three timesteps, (3, channels, height, width): to compare one copy with another."""
        device, total = next(self.parameters()).device, self.schedule.total
        z = torch.randn(3, *self.shape, generator=torch.Generator().manual_seed(7)).to(device)
        t = torch.tensor([0, total // 2, total - 1], device=device)
        return self(z, t, None if self.classes is None else torch.arange(3, device=device) % self.classes)

    @torch.no_grad()
    def draw(
        self,
        count: int,
        steps: int | None = None,
        *,
        seed: int = 0,
        rows: int | None = None,
        tell: Callable[[int], None] | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """(images (count, channels, height, width) in [-1, 1], their classes (count,) in turn, or None).

        The same seed begins with the same noise, whatever the model and the steps. rows: drawn together; None: as many as their size
        allows. tell: called at each step with how many are done.
        """
        rows = rows or max(1, min(256, TOGETHER // math.prod(self.shape)))
        device = next(self.parameters()).device
        times = self.schedule.timesteps(steps or self.steps or 32)
        noise = torch.randn(count, *self.shape, generator=torch.Generator().manual_seed(seed))
        kinds = torch.arange(count) % self.classes if self.classes is not None else None
        done: list[Tensor] = []
        for at in range(0, count, rows):
            z = noise[at : at + rows].to(device)
            y = None if kinds is None else kinds[at : at + rows].to(device)
            for t, to in zip(times, [*times[1:], -1], strict=True):
                if tell:
                    tell(at)
                now, then = (torch.full((len(z),), v, device=device) for v in (t, to))
                z = self.schedule.step(self(z, now, y), z, now, then)
            done.append(z.clamp(-1, 1).cpu())
            if tell:
                tell(min(count, at + rows))
        return torch.cat(done), kinds


def layers(denoiser: Denoiser) -> list[tuple[str, nn.Module]]:
    """The convolutions and linear layers inside the UNet's blocks, by their names in `denoiser`: nearly all of its weights.

    What turns timesteps, classes and pixels into what the blocks read isn't among them, nor what makes pixels of it, nor norms.
    """
    inside = ("unet.down_blocks.", "unet.mid_block.", "unet.up_blocks.")
    return [(name, m) for name, m in denoiser.named_modules() if name.startswith(inside) and isinstance(m, (nn.Conv2d, nn.Linear))]


def shape_of(config: Any) -> tuple[int, int, int]:
    """(channels, height, width) of the images of a UNet with that config."""
    size = config["sample_size"]
    height, width = (size, size) if isinstance(size, int) else size
    return int(config["in_channels"]), int(height), int(width)


# ---- folders of diffusers -------------------------------------------------------------------------------------------------


def is_pipeline(folder: Path) -> bool:
    return (folder / INDEX).is_file()


def layout(folder: Path) -> dict[str, Path]:
    """The files that loading the pipeline needs, by the names under which they're saved here.

    Older pipelines have the parts of unet and scheduler beside the index; weights may be those of the variant fp16.
    """
    unet, scheduler = (folder / part if (folder / part).is_dir() else folder for part in ("unet", "scheduler"))
    places = {
        INDEX: [folder / INDEX],
        "unet/config.json": [unet / "config.json"],
        f"unet/{WEIGHTS}": [unet / WEIGHTS, unet / HALVES],
        "scheduler/scheduler_config.json": [scheduler / "scheduler_config.json"],
    }
    return {name: found for name, paths in places.items() if (found := next((p for p in paths if p.is_file()), None))}


def parts(folder: Path) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """(model_index.json, the UNet's config, the scheduler's config). Raises UserError for a pipeline that isn't one of those covered."""
    index = read_json(folder / INDEX)
    named = {key: value[1] for key, value in index.items() if isinstance(value, list) and len(value) == 2 and value[1]}
    if named.get("unet") != "UNet2DModel" or set(named) - {"unet", "scheduler"}:
        raise UserError(
            "{name} is a {pipeline}, made of {parts}. Of diffusion models, those with one UNet2DModel can be opened.",
            hint="Choose a model that draws pixels, without a text encoder or an autoencoder.",
            kind="model",
            name=folder.name,
            pipeline=str(index.get("_class_name", "pipeline")),
            parts=", ".join(f"{key} ({value})" for key, value in sorted(named.items())) or "nothing",
        )
    found = layout(folder)
    for part in ("unet/config.json", "scheduler/scheduler_config.json"):
        if part not in found:
            raise UserError("{name} has no {file}.", hint="Download the model again.", kind="model", name=folder.name, file=part)
    config, scheduler = read_json(found["unet/config.json"]), read_json(found["scheduler/scheduler_config.json"])
    _check(config)
    return index, config, scheduler


def _check(config: dict[str, Any]) -> None:
    if config.get("sample_size") is None:
        raise _unknown("size of images", None)
    if config.get("out_channels", 3) != config.get("in_channels", 3):  # the rest is the noise's variance, or a condition
        raise _unknown("number of output channels", config.get("out_channels"))
    if config.get("class_embed_type") is not None:
        raise _unknown("kind of class embedding", config["class_embed_type"])


def weights(folder: Path) -> dict[str, tensors.TensorInfo]:
    """The UNet's tensors by name. Raises UserError where the file is missing or damaged."""
    path = layout(folder).get(f"unet/{WEIGHTS}")
    if path is None:
        raise UserError(
            "{name} has no {file} in its folder unet.",
            hint="Save it as one safetensors file, or download it again.",
            kind="model",
            name=folder.name,
            file=WEIGHTS,
        )
    return tensors.read_header(path)


def files(folder: Path) -> Iterator[Path]:
    """Those that loading the pipeline needs."""
    yield from layout(folder).values()


def load(folder: Path, *, device: str = "cpu") -> Denoiser:
    """Loads the pipeline strictly, in float32, in eval mode and without gradients. Raises UserError."""
    index, config, scheduler = parts(folder)
    found = weights(folder)
    from diffusers import UNet2DModel  # seconds to import: not until it's needed

    try:
        unet = UNet2DModel.from_config(config)
    except Exception as error:  # whatever a config's values lead to
        raise UserError(
            "The UNet of {name} can't be built from its config: {reason}",
            hint="Check unet/config.json, or download the model again.",
            kind="model",
            name=folder.name,
            reason=(str(error).strip().splitlines() or [type(error).__name__])[0][:200],
            detail=traceback.format_exc(),
        ) from error
    _strictly(unet, found, folder.name)
    unet.load_state_dict({name: tensor.float() for name, tensor in tensors.read(found)})
    steps, bits = (value if isinstance(value, int) and value > 0 else None for value in (index.get(STEPS), index.get(BITS)))
    denoiser = Denoiser(unet, Schedule.from_config(scheduler), steps, bits)
    return denoiser.to(device).eval().requires_grad_(False)


def _strictly(unet: nn.Module, found: dict[str, tensors.TensorInfo], name: str) -> None:
    wanted = {key: tuple(value.shape) for key, value in unet.state_dict().items()}
    have = {key: tuple(info.shape) for key, info in found.items()}
    wrong = sorted(key for key in wanted.keys() | have.keys() if wanted.get(key) != have.get(key))
    if wrong:
        raise UserError(
            "{count} weights of {name} don't fit its unet/config.json, {first} among them.",
            hint="Check that config and weights belong together.",
            kind="model",
            count=len(wrong),
            name=name,
            first=wrong[0],
            detail="\n".join(f"{key}: {have.get(key)} in the file, {wanted.get(key)} by the config" for key in wrong),
        )


def save(denoiser: Denoiser, staged: Path, *, run: Run, dtype: torch.dtype | None = None) -> None:
    """Writes the pipeline as a folder that plain diffusers runs. Where storing rounds, the weights in memory are rounded with it.

    dtype: of the stored weights, float32 by default. Raises UserError: weights that aren't finite, no space.
    """
    from core.models.save import check_finite, room_for, write_tensors  # save asks this module to save pipelines

    state: dict[str, Tensor] = {}
    for name, tensor in denoiser.unet.state_dict().items():
        stored = tensor.detach().to(dtype) if dtype and tensor.is_floating_point() else tensor.detach()
        if tensor.is_floating_point():
            check_finite(name, stored, tensor)
            tensor.copy_(stored)
        state[name] = stored.cpu().contiguous()
    run.stage("Saving")
    room_for(staged, sum(t.nbytes for t in state.values()))
    config = {k: v for k, v in dict(denoiser.config).items() if k not in ("_name_or_path", "_use_default_values")}
    scheduler = denoiser.schedule.config
    index: dict[str, Any] = {"_class_name": "DDIMPipeline"}
    index |= {"_diffusers_version": _version(), "scheduler": ["diffusers", scheduler["_class_name"]], "unet": ["diffusers", "UNet2DModel"]}
    if denoiser.steps:
        index[STEPS] = denoiser.steps
    if denoiser.bits:
        index[BITS] = denoiser.bits
    try:
        for name, content in (("unet/config.json", config), ("scheduler/scheduler_config.json", scheduler), (INDEX, index)):
            (staged / name).parent.mkdir(exist_ok=True)
            (staged / name).write_text(json.dumps(content, indent=2, sort_keys=True, default=list) + "\n", encoding="utf-8")
    except OSError as error:
        raise explain(error) from error
    write_tensors(state, staged / "unet" / WEIGHTS)


def _version() -> str:
    import diffusers

    return diffusers.__version__
