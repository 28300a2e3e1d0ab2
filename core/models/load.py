"""Loading a model's folder with transformers, strictly: every tensor is used, and none is made up.

Covers dense folders and those of compressed-tensors with integer or float8 weights, which come dequantized, or packed as
PackedLinear, their quantized activations with them. Other quantized formats are dequantized where they can be (foreign),
else refused with a sentence. Remote code runs only where it's asked for.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn

from core.errors import Cancelled, UserError, explain
from core.models import diffusion, foreign, inspect, packed, tensors
from core.models.activations import ActivationQuant, RoundedInputLinear
from core.models.blocks import replace
from core.models.devices import STORED, choose, dtype_for
from core.models.packed import PackedLinear, QuantWeight
from core.models.packed_embedding import pack_embedding
from core.records import SourceInfo
from core.workspace import read_json


@dataclass(slots=True)
class Loaded:
    """A model ready to run: in eval mode, on `device`, computing in `dtype`; tokenizer None where the folder has none."""

    model: Any
    tokenizer: Any
    info: SourceInfo
    folder: Path
    device: str
    dtype: torch.dtype


def load(
    folder: str | Path,
    *,
    device: str = "cpu",
    dtype: str | torch.dtype = "auto",
    packed: bool = False,
    train: bool = False,
    remote_code: bool = False,
) -> Loaded:
    """Loads a folder that `inspect` accepts.

    dtype: by name, as devices.dtype_for takes it, or torch's own. packed: quantized layers come as PackedLinear;
    otherwise they're dequantized. train: parameters take gradients (the model is in eval mode all the same).
    A diffusion model comes in float32, whatever was asked for.
    Raises UserError: whatever inspection refuses, missing or unknown tensors, formats not read, no memory.
    """
    folder = Path(folder)
    info = inspect.inspect_folder(folder, remote_code=remote_code)
    refuse_remote_code(info, remote_code)
    device = choose(device)
    if not isinstance(dtype, torch.dtype):
        dtype = dtype_for(dtype, device, stored_dtype(info))
    if info.task == "diffusion":
        model = diffusion.load(folder, device=device).requires_grad_(train)
        return Loaded(model, None, info, folder, device, torch.float32)
    try:
        with quiet():
            model = _read(folder, info, dtype, packed=packed, remote_code=remote_code)
            model.to(device)
            tokenizer = load_tokenizer(folder, remote_code=remote_code) if info.tokenizer else None
    except (UserError, Cancelled):
        raise
    except Exception as error:  # transformers raises many kinds; each becomes one sentence with the trace folded away
        known = explain(error, detail=traceback.format_exc())
        if known.kind != "internal":
            raise known from error
        raise UserError(
            "{name} couldn't be loaded: {reason}",
            hint="The detail says where it failed.",
            kind="model",
            name=info.name,
            reason=first_line(error),
            detail=traceback.format_exc(),
        ) from error
    model.eval()
    model.requires_grad_(train)
    return Loaded(model, tokenizer, info, folder, device, dtype)


def refuse_remote_code(info: SourceInfo, asked: bool) -> None:
    """Raises UserError where the model needs its own code and nobody asked to run it."""
    if info.remote_code and not asked:
        raise UserError(
            "{name} needs code of its own to run, and Spokeshave doesn't run code that comes with a model unless you ask for it.",
            hint="If you trust its author, open it again with remote code allowed.",
            kind="model",
            name=info.name,
        )


def stored_dtype(info: SourceInfo) -> str:
    """The floating dtype, as safetensors names it, in which most of the dense weights are stored ('F32' where none is)."""
    floats = {name: n for name, n in info.dtypes.items() if name in tensors.FLOATS}
    return max(floats, key=lambda name: floats[name]) if floats else "F32"


def storage_dtype(info: SourceInfo) -> torch.dtype:
    """`stored_dtype` as torch's: what a dense weight of this model is saved in, and the dtype for the scales of a packed one."""
    return STORED.get(stored_dtype(info), torch.float32)


def load_tokenizer(folder: Path, *, remote_code: bool = False) -> Any:
    """The folder's tokenizer. Raises UserError where its files can't be read."""
    try:
        return transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=remote_code)
    except Exception as error:  # as above
        raise UserError(
            "The tokenizer of {name} can't be read: {reason}",
            hint="Download its files again.",
            kind="model",
            name=folder.name,
            reason=first_line(error),
            detail=traceback.format_exc(),
        ) from error


def model_class(config: Any) -> type:
    """The class that config.architectures names, or the bare model of that type where it names none. Raises UserError."""
    names = list(getattr(config, "architectures", None) or [])
    for name in names:
        found = getattr(transformers, name, None)
        if found is not None:
            return found
    if not names and type(config) in transformers.MODEL_MAPPING:
        return transformers.MODEL_MAPPING[type(config)]
    raise UserError(
        "The installed transformers has no model class {architecture}.",
        hint="Update transformers, or choose another model.",
        kind="model",
        architecture=", ".join(names) or type(config).__name__,
    )


def load_config(folder: Path, *, remote_code: bool = False) -> Any:
    """The folder's config, without its quantization_config: what a dense model of it is built from."""
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=remote_code)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    return config


def _read(folder: Path, info: SourceInfo, dtype: torch.dtype, *, packed: bool, remote_code: bool) -> nn.Module:
    config = load_config(folder, remote_code=remote_code)
    settings = {"config": config, "dtype": dtype, "output_loading_info": True, "local_files_only": True}
    settings["ignore_mismatched_sizes"] = True  # they're reported, and `strictly` refuses them by name
    if info.remote_code:
        auto = getattr(transformers, _AUTO.get(info.task, "AutoModel"))
        model, report = auto.from_pretrained(folder, trust_remote_code=True, **settings)
    else:
        cls = model_class(config)
        # eager is asked for by name where a class has no other kernel
        settings["attn_implementation"] = "sdpa" if getattr(cls, "_supports_sdpa", False) else "eager"
        quants: dict[str, QuantWeight] = {}
        rounding: dict[str, dict[str, Any]] = {}
        if info.quantization is None:
            model, report = cls.from_pretrained(folder, **settings)
        else:
            state, quants, rounding = read_quantized(folder, dtype)
            model, report = cls.from_pretrained(None, state_dict=state, **settings)
        for name in quants if packed else rounding:
            linear = model.get_submodule(name)
            if packed and isinstance(linear, nn.Embedding):
                pack_embedding(model, quants[name], dtype)
            elif packed:
                replace(model, name, PackedLinear.from_linear(linear, quants[name], **rounding.get(name, {})))
            else:
                found = rounding[name]
                replace(model, name, RoundedInputLinear(linear, found["activation"], found["input_scale"], found["input_zero_point"]))
    strictly(report, info)
    return model


_AUTO = {"causal-lm": "AutoModelForCausalLM", "classifier": "AutoModelForSequenceClassification"}


def read_quantized(folder: Path, dtype: torch.dtype) -> tuple[dict[str, torch.Tensor], dict[str, QuantWeight], dict[str, dict[str, Any]]]:
    """(dense state dict with every packed weight dequantized in `dtype`, the packed weights by module name, and for those whose
    input is rounded {activation, input_scale, input_zero_point}).

    Formats that aren't computed with here come dense, without packed weights. Raises UserError where they can't be dequantized.
    """
    settings = foreign.settings_of(folder, read_json(folder / "config.json")) or {}
    groups = list((settings.get("config_groups") or {}).values())
    found = tensors.headers(folder)
    if not foreign.is_native(settings, found):
        if foreign.why_not(settings, found) is None and foreign.quantizes_activations(settings):
            raise UserError(
                "{name} quantizes its activations in a way that Spokeshave can't compute, so loading it would change its numbers.",
                hint="Open it as a new model: its weights are then dequantized, and that is said.",
                kind="model",
                name=folder.name,
            )
        return dict(dequantized(folder, dtype)), {}, {}
    by_module: dict[str, dict[str, torch.Tensor]] = {}
    state: dict[str, torch.Tensor] = {}
    stems = {name.removesuffix(".weight_scale") for name in found if name.endswith(".weight_scale")}
    for name, tensor in tensors.read(found):
        stem, _, leaf = name.rpartition(".")
        if stem in stems and (leaf in ("weight", "input_scale", "input_zero_point") or leaf in inspect.PACKED_SUFFIXES):
            by_module.setdefault(stem, {})[leaf] = tensor
        else:
            state[name] = tensor
    quants: dict[str, QuantWeight] = {}
    rounding: dict[str, dict[str, Any]] = {}
    for stem, parts in by_module.items():
        if not {"weight", "weight_packed"} & parts.keys():
            continue  # the scales of a head that is tied to the embedding: it has the same
        group = group_of(stem, groups)
        quants[stem] = packed.from_layout(parts, group["weights"])
        state[f"{stem}.weight"] = packed.dequantize(quants[stem], dtype)
        if entry := group.get("input_activations"):
            activation = ActivationQuant.from_config(entry)
            kept = {leaf: parts.get(leaf) for leaf in ("input_scale", "input_zero_point")}
            if not activation.dynamic and (kept["input_scale"] is None or (kept["input_zero_point"] is None) != activation.symmetric):
                raise UserError(
                    "The scale of the input of {layer} is missing.",
                    hint="Download or make the model again.",
                    kind="model",
                    layer=stem,
                )
            if not activation.dynamic:
                kept = {leaf: None if t is None else t.reshape(1) for leaf, t in kept.items()}
            rounding[stem] = {"activation": activation} | (kept if not activation.dynamic else dict.fromkeys(kept))
    return state, quants, rounding


def dequantized(folder: Path, dtype: torch.dtype, *, remote_code: bool = False) -> Iterator[tuple[str, torch.Tensor]]:
    """Yields (name, tensor) of a folder quantized by others as if it had never been, weights in `dtype`, one module at a time.

    What its layers did to activations is left out. Raises UserError where the format can't be dequantized.
    """
    settings = foreign.settings_of(folder, read_json(folder / "config.json")) or {}
    groups = list((settings.get("config_groups") or {}).values())
    found = tensors.headers(folder)
    if foreign.why_not(settings, found) is not None:  # before a model is built for it
        raise foreign.not_read(folder.name, str(foreign.why_not(settings, found)))
    config = load_config(folder, remote_code=remote_code)
    modules: dict[str, nn.Module] = {}
    if not remote_code:
        with torch.device("meta"):
            modules = dict(model_class(config)(config).named_modules())
    yield from foreign.dense(
        found,
        settings,
        dtype,
        scheme=lambda stem: group_of(stem, groups) if groups else {},
        module=modules.get,
        model=folder.name,
    )


def group_of(module: str, groups: list[dict]) -> dict:
    """The config group whose targets name this module; a class name ('Linear') takes what none names."""
    from compressed_tensors.utils.match import match_name

    named = [g for g in groups if any(t != "Linear" and match_name(module, t) for t in g.get("targets", []))]
    rest = [g for g in groups if "Linear" in g.get("targets", [])]
    return (named or rest or groups)[0]


def strictly(report: Any, info: SourceInfo) -> None:
    """Raises UserError where the weights and the architecture didn't fit each other exactly."""
    get = lambda key: report.get(key) if isinstance(report, dict) else getattr(report, key, None)
    missing, unexpected = sorted(get("missing_keys") or ()), sorted(get("unexpected_keys") or ())
    mismatched = sorted(m if isinstance(m, str) else m[0] for m in get("mismatched_keys") or ())  # (name, theirs, ours)
    belong = "Check that config.json belongs to these weights."
    for names, message, hint in (
        (missing, "{count} weights that {architecture} needs are missing from the files, {first} among them.", "Download the model again."),
        (mismatched, "{count} weights don't have the shape that config.json says, {first} among them.", belong),
        (unexpected, "The files hold {count} weights that {architecture} doesn't have, {first} among them.", belong),
    ):
        if names:
            raise UserError(
                message,
                hint=hint,
                kind="model",
                count=len(names),
                first=names[0],
                architecture=info.architecture or "the model",
                detail="\n".join(names),
            )


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0][:200] if lines else type(error).__name__).rstrip(".") + "."


class quiet:
    """Silences transformers' progress bars and its notes on loading, which the strict check replaces; restores them after."""

    def __enter__(self):
        from transformers.utils import logging

        self.level, self.bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()

    def __exit__(self, *_):
        from transformers.utils import logging

        logging.set_verbosity(self.level)
        if self.bars:
            logging.enable_progress_bar()
