"""Where a student comes from: a shallower or narrower copy of its teacher, a fresh model of the same family, or another variant.

Shallower: some of the teacher's layers, spread evenly (Sanh et al., 'DistilBERT', 2019, section 3). Narrower: every layer, with the MLP
channels and attention heads that matter most (Muralidharan et al., 'Compact Language Models via Pruning and Knowledge Distillation',
2024), as the methods 'channels' and 'heads' cut them. Fresh: the teacher's class and tokenizer with other layers, width and heads, and
random weights. Doesn't train.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from core import methods
from core.errors import UserError
from core.methods import Given, losses
from core.models import inspect, surgery
from core.models.blocks import blocks
from core.models.packed import PackedLinear
from core.records import SourceInfo
from core.run import Run

INNER = 8  # a fresh MLP is so many channels wide, or a multiple


# ---- copies -----------------------------------------------------------------------------------------------------------


def kept_layers(total: int, wanted: int | None) -> list[int]:
    """Which of `total` layers a copy with `wanted` of them keeps (None: half, rounded up): evenly spread, first and last included."""
    wanted = wanted or (total + 1) // 2
    if wanted >= total:
        raise UserError(
            "A student of {wanted} layers isn't shallower than its teacher of {total}.",
            hint="Keep fewer than {total} layers.",
            wanted=wanted,
            total=total,
        )
    if wanted == 1:
        return [0]
    return [round(i * (total - 1) / (wanted - 1)) for i in range(wanted)]


def shallower(model: nn.Module, kept: list[int]) -> nn.Module:
    """A copy of the model with only those of its blocks, renumbered, and the config to match. The model is left as it was."""
    found = blocks(model)
    total = len(found)
    holder_name = found[0][0].rpartition(".")[0]
    parent_name, _, leaf = holder_name.rpartition(".")
    parent, whole = model.get_submodule(parent_name), model.get_submodule(holder_name)
    setattr(parent, leaf, nn.ModuleList(found[k][1] for k in kept))
    try:
        student = copy.deepcopy(model)  # only what stays is copied
    finally:
        setattr(parent, leaf, whole)
    for number, (_, block) in enumerate(blocks_of(student, holder_name)):
        for module in block.modules():  # a cache finds its layer by this number
            if isinstance(getattr(module, "layer_idx", None), int):
                module.layer_idx = number
    config = student.config.get_text_config()
    for name, value in list(vars(config).items()):
        named = "layer" in name or "block" in name  # 'layer_types' and the like, not a list of tokens that happens to be as long
        if named and isinstance(value, (list, tuple)) and len(value) == total:
            setattr(config, name, type(value)(value[k] for k in kept))
    config.num_hidden_layers = len(kept)
    return student


def blocks_of(model: nn.Module, holder: str) -> list[tuple[str, nn.Module]]:
    return [(f"{holder}.{index}", block) for index, block in enumerate(model.get_submodule(holder))]


def narrower(model: nn.Module, share: float, run: Run, given: Given) -> tuple[nn.Module, list[str]]:
    """(a copy with about that share of the MLP channels and of the heads of every layer, what has to be said of it). The model is left
    as it was; where its heads can't be fewer, all stay."""
    shape = surgery.anatomy(model)
    student = copy.deepcopy(model)
    notes: list[str] = []
    gone = units_gone(shape.units, share)
    why = surgery.heads_stay_because(model, shape.units - gone) if gone else "there is only one in each layer"
    if why:
        notes.append(f"All attention heads stay: {why}.")
    else:
        cut = methods.get("heads")
        outcome = cut.apply(student, cut.params(share=gone / shape.units), run, given)
        student, notes = outcome.model, [*notes, *outcome.notes]
    cut = methods.get("channels")
    outcome = cut.apply(student, cut.params(share=1 - share, windows=16, context=256), run, given)
    return outcome.model, [*notes, *(note for note in outcome.notes if note not in notes)]


def units_gone(units: int, share: float) -> int:
    """Heads (or groups of them) that a narrower copy with that share of the width loses in each layer; one stays at least."""
    return min(units - 1, math.floor(units * (1 - share) + 0.5))


# ---- fresh ones -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shape:
    """What a fresh student is made of."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    inner: int  # channels of the MLP


def fresh_shape(info: SourceInfo, layers: int | None, width: int | None, heads: int | None) -> Shape:
    """The shape asked for; what's None is half the teacher's. Raises UserError where heads don't divide the width, or it isn't known."""
    if not (info.layers and info.hidden and info.intermediate and info.heads):
        raise UserError(
            "The shape of {name} isn't known, so no smaller one like it can be made.",
            hint="Choose a shallower copy, or another variant as the student.",
            kind="model",
            name=info.name,
        )
    head_dim = info.head_dim or info.hidden // info.heads
    if width is None:
        width = heads * head_dim if heads else max(1, info.hidden // 2 // head_dim) * head_dim
    if heads is None:
        heads = max(1, width // head_dim)
    if width % (2 * heads):
        raise UserError(
            "A width of {width} can't be cut into {heads} heads that are all as wide, by an even number.",
            hint="Choose a width that is a multiple of {multiple}.",
            width=width,
            heads=heads,
            multiple=2 * heads,
        )
    groups = heads * (info.kv_heads or info.heads) // info.heads
    kv_heads = max(k for k in range(1, heads + 1) if heads % k == 0 and k <= max(1, groups))
    inner = max(INNER, round(width * info.intermediate / info.hidden / INNER) * INNER)
    return Shape(layers or (info.layers + 1) // 2, width, heads, kv_heads, inner)


def parameters(shape: Shape, info: SourceInfo) -> int:
    """Of a fresh model of that shape, from the teacher's parts; biases and norms are reckoned to scale with the width."""
    width, depth = shape.width / info.hidden, shape.layers / info.layers
    attention = width**2 * (1 + shape.kv_heads / shape.heads) / (1 + (info.kv_heads or info.heads) / info.heads)
    attention /= info.heads * (info.head_dim or info.hidden // info.heads) / info.hidden
    parts = {"attention": depth * attention, "mlp": depth * width * shape.inner / info.intermediate, "norm": depth * width}
    return round(sum(count * parts.get(part, width) for part, count in info.components.items()))


def fresh(model: nn.Module, shape: Shape, seed: int) -> nn.Module:
    """A model of the teacher's class and of that shape, with random weights. Raises UserError where its config can't say it."""
    own = surgery.anatomy(model)
    config = copy.deepcopy(model.config)
    text = config.get_text_config()
    known = text.to_dict()
    wanted = {
        "num_hidden_layers": shape.layers,
        "hidden_size": shape.width,
        "num_attention_heads": shape.heads,
        own.width_key: shape.inner,
    }
    wanted |= {"num_key_value_heads": shape.kv_heads, "head_dim": shape.width // shape.heads}
    always = ("num_hidden_layers", "hidden_size", "num_attention_heads")  # a config may know these by names of its own
    for name, value in list(known.items()):
        if isinstance(value, (list, tuple)) and len(value) == own.layers and "layer" in name:
            wanted[name] = [value[k * own.layers // shape.layers] for k in range(shape.layers)]
    try:
        for name, value in wanted.items():
            if name in always or known.get(name) is not None:
                setattr(text, name, value)
        type(text).from_dict(text.to_dict())
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            student = type(model)(config)
    except (ValueError, TypeError, surgery.StrictDataclassError) as error:
        raise UserError(
            "{architecture} can't be made in that shape: {why}.",
            hint="Choose another width or other heads, or a shallower copy.",
            kind="model",
            architecture=type(model).__name__,
            why=str(error).splitlines()[-1].rstrip("."),
        ) from error
    if getattr(model, "generation_config", None) is not None:
        student.generation_config = copy.deepcopy(model.generation_config)
    return student.to(next(model.parameters()).device).eval()


def check_dense(model: nn.Module, given: Given) -> None:
    """Raises UserError where the teacher's weights are packed, and a copy of them couldn't be trained."""
    if any(isinstance(m, PackedLinear) for m in model.modules()):
        raise UserError(
            "{name} is quantized, and a copy of packed weights can't be trained.",
            hint="Distil the variant before the quantization, or choose another variant as the student.",
            kind="model",
            name=given.info.name,
        )


# ---- another variant --------------------------------------------------------------------------------------------------


def alike(loaded: Any, given: Given) -> bool:
    """Whether the loaded variant has the teacher's tokens, and can be compared with it one by one."""
    return bool(loaded.info.tokens_hash) and loaded.info.tokens_hash == given.info.tokens_hash


def own_files(loaded: Any, given: Given) -> dict[str, bytes | None]:
    """What the student's folder holds beside weights and config, in the place of the teacher's: as Outcome.files wants it."""

    def beside(folder: Path) -> dict[str, Path]:
        found = (p for p in folder.iterdir() if p.is_file() and inspect.needed(p.name))
        return {p.name: p for p in found if p.suffix != ".safetensors" and p.name not in ("config.json", "model.safetensors.index.json")}

    gone: dict[str, bytes | None] = dict.fromkeys(beside(given.folder))
    return gone | {name: path.read_bytes() for name, path in beside(loaded.folder).items()}


def check(loaded: Any, model: Any, given: Given, *, texts: bool = False) -> None:
    """Raises UserError where the loaded variant can't learn from `model`: by its texts, where `texts`; else token by token or class by
    class."""
    if not texts and not alike(loaded, given):
        raise UserError(
            "{student} has other tokens than {teacher}, so it can't learn from it token by token.",
            hint="Choose a student with the same tokenizer, or let it learn on text that the teacher writes.",
            kind="model",
            student=loaded.folder.name,
            teacher=given.info.name,
        )
    if loaded.folder.resolve() == given.folder.resolve():
        raise UserError(
            "{student} can't learn from itself.",
            hint="Choose another variant as the student, or a shallower copy.",
            student=loaded.folder.name,
        )
    if loaded.info.task != given.info.task:
        raise UserError("{student} doesn't do what its teacher does.", hint="Choose another.", kind="model", student=loaded.folder.name)
    if given.info.task == "classifier" and loaded.model.config.id2label != model.config.id2label:
        raise UserError(
            "{student} tells other classes apart than {teacher}.",
            hint="Choose a student that learnt from the same labels.",
            kind="model",
            student=loaded.folder.name,
            teacher=given.info.name,
        )
    if given.info.task != "classifier" and not texts:
        sizes = [one.config.get_text_config().vocab_size for one in (loaded.model, model)]
        losses.shared(*sizes, len(given.tokenizer))
    if loaded.info.quantization:
        raise UserError(
            "{student} is quantized, and packed weights can't be trained.",
            hint="Choose the variant that it was quantized from.",
            kind="model",
            student=loaded.folder.name,
        )
