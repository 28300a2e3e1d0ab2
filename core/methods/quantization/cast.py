"""Casts: the same numbers in another floating point type, with what's lost on the way counted.

The ladder is float64, float32, bfloat16, float16, fp8. Down it, values are rounded to nearest even (IEEE 754, section 4.3.1);
those too small become zero, those too large don't fit. bfloat16 keeps float32's range with 8 bits of precision, float16 has 11
bits and ends at 65504, fp8 (e4m3) 4 bits and ends at 448. Every stored floating tensor is cast; to fp8 only the linear layers,
with or without scales, since nothing computes with the others in it. Also looks at what flows through the model: numbers
beyond the type's range there make a model that computes in it overflow, whatever its weights are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from core.errors import UserError
from core.methods import Given, Outcome, estimates, method
from core.methods.common import stored_dtype
from core.methods.quantization import grid, w8a8
from core.models import diffusion, load, packed
from core.models.activations import FP8, FP8_MOST
from core.models.blocks import replace, weight_of
from core.models.packed import PackedLinear
from core.models.verify import probe_ids
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

TYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "fp8": FP8}


class CastParams(Params):
    to: Literal["float64", "float32", "bfloat16", "float16", "fp8"] = knob(
        "bfloat16",
        title="To",
        help="bfloat16 keeps the range and loses precision; float16 the other way round. fp8 is a quarter of float32. Upwards nothing is "
        "lost and nothing won.",
        labels={"fp8": "fp8 (e4m3)"},
    )
    beyond: Literal["refuse", "clip"] = knob(
        "refuse",
        title="Numbers out of range",
        help="Weights that are larger than the type's largest number: refuse, or set them to that largest number and say how many.",
        labels={"refuse": "Refuse", "clip": "Clip"},
        when={"to": ("float32", "bfloat16", "float16", "fp8")},
    )
    scale: Literal["channel", "tensor", "none"] = knob(
        "channel",
        title="Scales",
        help="What weights are multiplied by before they're cast, so that they use the whole range. None is the plain cast: above 448 "
        "nothing fits, and below 0.016 precision falls until, at 0.001, nothing is left.",
        labels={"channel": "One an output row", "tensor": "One a layer", "none": "None"},
        when={"to": "fp8"},
    )


@dataclass
class Lost:
    """What a cast did to some numbers."""

    numbers: int = 0
    changed: int = 0
    vanished: int = 0  # became zero and weren't
    beyond: int = 0  # larger than the type's largest, in magnitude
    error: float = 0.0  # sum of squares of the changes
    power: float = 0.0  # sum of squares of the numbers

    def add(self, before: Tensor, after: Tensor, most: float) -> Lost:
        """before, after: float64-comparable tensors of one shape; most: the type's largest number."""
        wide = torch.float64 if torch.float64 in (before.dtype, after.dtype) else torch.float32
        before, after = before.to(wide), after.to(wide)
        self.numbers += before.numel()
        self.changed += int((before != after).sum())
        self.vanished += int(((after == 0) & (before != 0)).sum())
        self.beyond += int((before.abs() > most).sum())
        self.error += float((before - after).double().square().sum())
        self.power += float(before.double().square().sum())
        return self

    def sentence(self, name: str) -> str:
        """'bfloat16: 12.1 % of 134,515,008 numbers changed (relative error 0.0012), 3 became zero, none was out of range.'"""
        if not self.changed:
            return f"{name}: nothing is lost, all {self.numbers:,} numbers are the same."
        relative = math.sqrt(self.error / self.power) if self.power else 0.0
        beyond = f"{self.beyond:,} were out of range and clipped" if self.beyond else "none was out of range"
        return (
            f"{name}: {100 * self.changed / self.numbers:.1f} % of {self.numbers:,} numbers changed (relative error {relative:.2g}), "
            f"{self.vanished:,} became zero, {beyond}."
        )


def estimate_cast(params: CastParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    basis = {
        "memory": estimates.resident(info, device) + 16 * estimates.largest_linear(info),
        "seconds": estimates.seconds_per_weight(device) * (info.parameters or 0) * 20,
    }
    if params.to == "fp8" and info.task == "diffusion":
        return basis | {"notes": ["diffusers loads no weights in fp8; choose float16 or bfloat16"]}
    if params.to == "fp8":
        return basis | w8a8.estimate_size(info, ledger)
    width = estimates.BYTES[params.to]
    change = sum(numbers * (width - estimates.BYTES[name]) for name, numbers in info.dtypes.items() if name in estimates.BYTES)
    return basis | {
        "bytes_on_disk": ledger.bytes_on_disk + change,
        "effective_bits": 8 * (ledger.weight_bytes + change) / max(1, ledger.original_parameters),
    }


@method(
    "cast",
    rank=9,
    title="Cast",
    family="quantization",
    summary="Seconds, needs no data. The precision ladder from float64 to fp8, with ranges checked and every loss counted.",
    tasks=("causal-lm", "encoder", "classifier", "diffusion"),
    paper="https://arxiv.org/abs/2209.05433",
    estimate=estimate_cast,
    label=lambda params: "cast " + params.to + (f", {_scales(params.scale)}" if params.to == "fp8" and params.scale != "channel" else ""),
)
def cast(model: Any, params: CastParams, run: Run, given: Given) -> Outcome:
    """Clips where asked and counts what's lost; the worker stores the model in the type. fp8 packs the linear layers."""
    dtype = TYPES[params.to]
    if params.to == "fp8" and isinstance(model, diffusion.Denoiser):
        raise UserError(
            "diffusers loads no weights in fp8, so {name} can't be cast to it.",
            hint="Choose float16 or bfloat16, which halve the file.",
            kind="model",
            name=given.info.name,
        )
    if load.stored_dtype(given.info) == "F64":  # float32, in which models are loaded to be worked on, doesn't hold these
        run.stage("Loading", "float64")
        model = load.load(given.folder, device=given.device, dtype=torch.float64).model
    reached = peak(model)
    notes = _to_fp8(model, params, run, given) if params.to == "fp8" else _plain(model, params, dtype, run)
    most = torch.finfo(dtype).max
    if reached > most and params.to != "fp8":
        notes.append(
            f"Careful: numbers up to {reached:.3g} flow through this model, and {params.to} ends at {most:.5g}. Its weights fit, but a "
            f"model that computes in {params.to} overflows: load it in float32 or bfloat16 to use it."
        )
    for note in notes:
        run.log(note)
    return Outcome(model, tuple(notes), dtype=None if params.to == "fp8" else dtype)


def _plain(model: nn.Module, params: CastParams, dtype: torch.dtype, run: Run) -> list[str]:
    most, lost = torch.finfo(dtype).max, Lost()
    saved = {name: t for name, t in model.state_dict(keep_vars=True).items() if t.is_floating_point()}
    seen: set[int] = set()
    with torch.no_grad():
        for name, tensor in run.track(list(saved.items()), "Casting"):
            if tensor.data_ptr() in seen:  # tied
                continue
            seen.add(tensor.data_ptr())
            grid.finite(name, tensor)
            before = tensor.detach()
            if bool((before.abs() > most).any()):
                if params.beyond == "refuse":
                    raise _beyond(name, float(before.abs().max()), params.to, most)
                after = before.clamp(-most, most).to(dtype)
            else:
                after = before.to(dtype)
                if not bool(torch.isfinite(after).all()):  # rounds up past the end
                    if params.beyond == "refuse":
                        raise _beyond(name, float(before.abs().max()), params.to, most)
                    after = after.clamp(-most, most)
            lost.add(before, after, most)
            if lost.beyond:
                tensor.data.copy_(after)
    return [lost.sentence(params.to)]


def _to_fp8(model: nn.Module, params: CastParams, run: Run, given: Given) -> list[str]:
    layers, transposed = grid.targets(model, given.info)
    dtype, lost = stored_dtype(given.info), Lost()
    most = FP8_MOST if params.scale == "none" else math.inf
    for name, module in layers:  # all of them, before the first is changed
        largest = float(weight_of(module).abs().max())
        if params.beyond == "refuse" and largest > most:
            raise _beyond(name, largest, "fp8", FP8_MOST)
    if dtype == torch.float64:
        model.float()
    with torch.no_grad():
        for name, module in run.track(layers, "Casting"):
            weight = weight_of(module).detach()
            quant = w8a8.fp8_weight(name, weight, dtype, params.scale)
            lost.add(weight, packed.dequantize(quant, torch.float32), most)
            replace(model, name, PackedLinear.from_linear(module, quant))
    kept = str(dtype).removeprefix("torch.")
    return [
        lost.sentence("fp8"),
        f"{len(layers)} linear layers, {_scales(params.scale)}; embeddings, head and norms stay in {kept}. They're computed with in the "
        "model's own precision.",
        *grid.left_out(transposed),
    ]


def _scales(scale: str) -> str:
    return {"channel": "a scale for each output row", "tensor": "a scale for each layer", "none": "without scales"}[scale]


def _beyond(name: str, largest: float, type_name: str, most: float) -> UserError:
    return UserError(
        "{tensor} holds numbers up to {largest:.4g}, and {type} ends at {most:.5g}.",
        hint="Choose a type with a larger range, such as bfloat16, or let them be clipped.",
        kind="model",
        tensor=name,
        largest=largest,
        type=type_name,
        most=most,
    )


@torch.no_grad()
def peak(model: nn.Module) -> float:
    """The largest magnitude that any module puts out on a few fixed tokens; what flows through the model when it's used is like it."""
    found = 0.0

    def see(_: nn.Module, __: Any, out: Any) -> None:
        nonlocal found
        for tensor in out if isinstance(out, tuple) else (out,):
            if isinstance(tensor, Tensor) and tensor.is_floating_point() and tensor.numel():
                finite = tensor[tensor.isfinite()]
                found = max(found, float(finite.abs().max())) if finite.numel() else found

    hooks = [m.register_forward_hook(see) for m in model.modules() if not any(True for _ in m.children())]
    try:
        if isinstance(model, diffusion.Denoiser):
            model.probe()
            return found
        config = model.config.get_text_config()
        ids = probe_ids(config.vocab_size, getattr(config, "max_position_embeddings", None))
        model(input_ids=ids.to(next(model.parameters()).device))
    finally:
        for hook in hooks:
            hook.remove()
    return found
