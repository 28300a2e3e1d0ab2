"""Surgery: taking attention heads, MLP channels, whole blocks or words out of a model, so that it's smaller and loads plainly.

A cut makes a new model of the same class, from a config of the new shapes, and gives it what's left of the weights; before that it's
checked, without weights, that the class builds exactly those shapes from that config. So what can't be written down in a config is
refused with the reason, and `mask_heads`, which only writes zeros, is what remains. transformers' models are uniform: every block has
as many heads and channels.

Covers blocks like Llama's (Mistral, Qwen, Gemma, Phi, …), BERT's, DistilBERT's, OPT's and GPT-2's with its transposed Conv1D. A Llama whose
width its heads no longer divide becomes the Mistral that computes the same. Doesn't choose what goes.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from core.errors import UserError
from core.models.blocks import blocks, weight_of
from core.models.packed import PackedLinear


@dataclass(frozen=True)
class Block:
    """A block's own names of what can be cut: full names of modules. `queries` to `values` are one fused module in GPT-2."""

    name: str
    queries: str
    keys: str
    values: str
    out: str  # what the heads' outputs go into, side by side
    into: tuple[str, ...]  # what makes the channels of the MLP
    down: str  # what the channels go into

    @property
    def fused(self) -> bool:
        return self.queries == self.values


@dataclass(frozen=True)
class Anatomy:
    """What a model is made of. A unit is what must be cut together: a head, or the query heads of a key-value head with it."""

    blocks: tuple[Block, ...]
    heads: int
    units: int  # a block
    head_dim: int
    width: int  # channels of the MLP
    width_key: str  # how the config calls that

    @property
    def layers(self) -> int:
        return len(self.blocks)

    @property
    def heads_per_unit(self) -> int:
        return self.heads // self.units

    @property
    def unit(self) -> str:
        return "head" if self.heads_per_unit == 1 else "kv_group"

    @property
    def unit_width(self) -> int:
        """Columns of `out` that a unit has."""
        return self.heads_per_unit * self.head_dim


@dataclass(frozen=True)
class _Names:
    """How an architecture calls the parts of a block."""

    queries: str
    keys: str
    values: str
    out: str
    into: tuple[str, ...]
    down: str
    width_key: str  # the config's word for the number of channels


_QKV = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
_ARCHITECTURES = (
    _Names(*_QKV, "self_attn.o_proj", ("mlp.gate_proj", "mlp.up_proj"), "mlp.down_proj", "intermediate_size"),
    _Names(*_QKV, "self_attn.o_proj", ("mlp.up_proj",), "mlp.down_proj", "intermediate_size"),
    _Names(*_QKV, "self_attn.o_proj", ("mlp.c_fc",), "mlp.c_proj", "intermediate_size"),
    _Names(*_QKV, "self_attn.dense", ("mlp.fc1",), "mlp.fc2", "intermediate_size"),
    _Names(*_QKV, "self_attn.out_proj", ("fc1",), "fc2", "ffn_dim"),
    _Names(
        *(f"attention.self.{n}" for n in ("query", "key", "value")),
        *("attention.output.dense", ("intermediate.dense",), "output.dense", "intermediate_size"),
    ),
    _Names("attention.q_lin", "attention.k_lin", "attention.v_lin", "attention.out_lin", ("ffn.lin1",), "ffn.lin2", "hidden_dim"),
    _Names("attn.c_attn", "attn.c_attn", "attn.c_attn", "attn.c_proj", ("mlp.c_fc",), "mlp.c_proj", "n_inner"),
)


def anatomy(model: nn.Module) -> Anatomy:
    """The parts of `model` by name and number. Raises UserError (kind 'model') where its blocks aren't of a kind known here."""
    found = blocks(model)
    have = dict(model.named_modules())
    for own in _ARCHITECTURES:
        names = [_named(block, own) for block, _ in found]
        if all(_is_linear(have.get(n)) for b in names for n in (b.queries, b.keys, b.values, b.out, *b.into, b.down)):
            break
    else:
        raise _unknown(model, "the parts of its blocks aren't named as those of Llama, BERT, DistilBERT, OPT or GPT-2")
    config = model.config.get_text_config()
    first, heads = names[0], config.num_attention_heads
    columns = weight_of(have[first.out]).shape[1]
    head_dim = columns // heads
    rows = weight_of(have[first.keys]).shape[0]
    units = heads if first.fused else rows // head_dim
    width = weight_of(have[first.down]).shape[1]
    shapes = {(weight_of(have[b.out]).shape[1], weight_of(have[b.keys]).shape[0], weight_of(have[b.down]).shape[1]) for b in names}
    if head_dim * heads != columns or heads % units or len(shapes) > 1:
        raise _unknown(model, "its blocks differ in shape, or its heads aren't side by side")
    return Anatomy(tuple(names), heads, units, head_dim, width, own.width_key)


def projections(model: nn.Module) -> tuple[str, ...]:
    """The modules that make queries, keys and values in the last block, packed or not: three, or one that makes all.

    Raises UserError as `anatomy` does.
    """
    have, block = dict(model.named_modules()), blocks(model)[-1][0]
    for own in _ARCHITECTURES:
        found = _named(block, own)
        names = (found.queries, found.keys, found.values)
        if all(isinstance(have.get(name), (nn.Linear, Conv1D, PackedLinear)) for name in names):
            return tuple(dict.fromkeys(names))
    raise _unknown(model, "the parts of its blocks aren't named as those of Llama, BERT, DistilBERT, OPT or GPT-2")


def _named(block: str, own: _Names) -> Block:
    attention = (f"{block}.{n}" for n in (own.queries, own.keys, own.values, own.out))
    return Block(block, *attention, tuple(f"{block}.{n}" for n in own.into), f"{block}.{own.down}")


def _is_linear(module: nn.Module | None) -> bool:
    return isinstance(module, (nn.Linear, Conv1D)) and not isinstance(module, PackedLinear)


def _unknown(model: nn.Module, why: str) -> UserError:
    return UserError(
        "{architecture} can't be cut: {why}.",
        hint="Choose a method that works on single weights, such as magnitude.",
        kind="model",
        architecture=type(model).__name__,
        why=why,
    )


# ---- attention ------------------------------------------------------------------------------------------------------------------


def heads_stay_because(model: nn.Module, units: int) -> str:
    """Why a model with `units` units left in each block can't be written as a config that loads plainly; '' where it can."""
    shape = anatomy(model)
    if shape.blocks[0].fused:
        return _NO_HEAD_DIM
    shapes = {name: tuple(t.shape) for name, t in model.state_dict().items()}
    for name, tensor in _heads_kept(model, shape, [torch.arange(units)] * shape.layers, shapes_only=True).items():
        shapes[name] = tuple(tensor.shape)
    found = _plan(model, _head_changes(shape, units), shapes)
    return found if isinstance(found, str) else ""


_NO_HEAD_DIM = "its config has no word for the width of a head, so its heads can't be fewer without being wider"


def _head_changes(shape: Anatomy, units: int) -> dict[str, Any]:
    changes = {"num_attention_heads": units * shape.heads_per_unit, "head_dim": shape.head_dim}
    return changes | {"num_key_value_heads": units}


def cut_heads(model: nn.Module, keep: Sequence[Tensor]) -> nn.Module:
    """A model with the units `keep[block]` (ascending indices, as many in every block) of each block's attention.

    `model` isn't to be used any more. Raises UserError where no config can say it.
    """
    shape = anatomy(model)
    units = len(keep[0])
    if any(len(k) != units for k in keep) or not units:
        raise ValueError(f"every block must keep as many units, and one at least: {[len(k) for k in keep]}")
    if units == shape.units:
        return model
    if shape.blocks[0].fused:
        raise _refused(model, _NO_HEAD_DIM)
    state = model.state_dict() | _heads_kept(model, shape, keep)
    return _rebuilt(model, _head_changes(shape, units), state)


def _heads_kept(model: nn.Module, shape: Anatomy, keep: Sequence[Tensor], shapes_only: bool = False) -> dict[str, Tensor]:
    """The tensors of the attention that change, by name."""
    out: dict[str, Tensor] = {}
    for block, kept in zip(shape.blocks, keep, strict=True):
        wide, narrow = _spread(kept, shape.unit_width), _spread(kept, shape.head_dim)
        for name, index, dim in ((block.queries, wide, 0), (block.keys, narrow, 0), (block.values, narrow, 0), (block.out, wide, 1)):
            out |= _sliced(model, name, index, dim, shapes_only)
    return out


def mask_heads(model: nn.Module, off: Collection[tuple[int, int]]) -> int:
    """Writes zeros over the units (block, unit) in `off`, in place; how many weights became zero. No file gets smaller by it.

    The columns of the output projection and the rows of the values, and those of queries and keys unless they're normed across heads.
    """
    shape, written = anatomy(model), 0
    with torch.no_grad():
        for layer, unit in sorted(set(off)):
            block = shape.blocks[layer]
            wide = torch.arange(unit * shape.unit_width, (unit + 1) * shape.unit_width)
            narrow = torch.arange(unit * shape.head_dim, (unit + 1) * shape.head_dim)
            places: list[tuple[str, Tensor, int]] = [(block.out, wide, 1)]
            if block.fused:
                hidden = weight_of(model.get_submodule(block.queries)).shape[0] // 3
                places += [(block.values, wide + part * hidden, 0) for part in range(3)]
            else:
                places.append((block.values, narrow, 0))
                if not _normed_across_heads(model, block, shape):
                    places += [(block.queries, wide, 0), (block.keys, narrow, 0)]
            for name, index, dim in places:
                module = model.get_submodule(name)
                weight = weight_of(module)
                index = index.to(weight.device)
                before = int(torch.count_nonzero(weight.index_select(dim, index)))
                weight.index_fill_(dim, index, 0)
                written += before
                if dim == 0 and module.bias is not None:
                    module.bias.index_fill_(0, index, 0)
    return written


def _normed_across_heads(model: nn.Module, block: Block, shape: Anatomy) -> bool:
    """Whether the attention has parameters, beside its projections, that are wider than a head."""
    home = block.queries.rpartition(".")[0]
    own = {block.queries, block.keys, block.values, block.out}
    inside = model.get_submodule(home).named_parameters()
    return any(f"{home}.{name.rpartition('.')[0]}" not in own and p.numel() > shape.head_dim for name, p in inside)


# ---- the MLP --------------------------------------------------------------------------------------------------------------------


def cut_channels(model: nn.Module, keep: Sequence[Tensor]) -> nn.Module:
    """A model whose MLPs have the channels `keep[block]` (ascending indices, as many in every block).

    `model` isn't to be used any more. Raises UserError where no config can say it.
    """
    shape = anatomy(model)
    width = len(keep[0])
    if any(len(k) != width for k in keep) or not width:
        raise ValueError(f"every block must keep as many channels, and one at least: {[len(k) for k in keep]}")
    if width == shape.width:
        return model
    state = model.state_dict()
    for block, kept in zip(shape.blocks, keep, strict=True):
        for name in block.into:
            state |= _sliced(model, name, kept, 0)
        state |= _sliced(model, block.down, kept, 1)
    return _rebuilt(model, {shape.width_key: width}, state)


# ---- blocks ---------------------------------------------------------------------------------------------------------------------


def drop_layers(model: nn.Module, gone: Collection[int]) -> nn.Module:
    """A model without the blocks `gone`; those that stay are renumbered, and the config's lists of one entry a block with them.

    `model` isn't to be used any more. Raises UserError where none would stay, or a block depends on its number.
    """
    found = [name for name, _ in blocks(model)]
    stay = [index for index in range(len(found)) if index not in set(gone)]
    if len(stay) == len(found):
        return model
    if not stay:
        raise UserError("A model needs one block at least.", hint="Drop fewer.", kind="usage")
    config = model.config.get_text_config()
    if getattr(config, "scale_attn_by_inverse_layer_idx", False):
        raise _refused(model, "its attention is scaled by the number of the block, and that would change")
    renamed = {found[old]: found[new] for new, old in enumerate(stay)}
    prefix = found[0].rpartition(".")[0]

    def rename(name: str) -> str | None:
        if not name.startswith(f"{prefix}."):
            return name
        home = prefix + "." + name[len(prefix) + 1 :].split(".", 1)[0]
        return renamed[home] + name[len(home) :] if home in renamed else None

    state = {new: t for name, t in model.state_dict().items() if (new := rename(name)) is not None}
    changes: dict[str, Any] = {"num_hidden_layers": len(stay)}
    for key, value in config.to_dict().items():
        if isinstance(value, (list, tuple)) and len(value) == len(found) and "layer" in key:
            changes[key] = [value[index] for index in stay]
    return _rebuilt(model, changes, state, rename)


# ---- words ----------------------------------------------------------------------------------------------------------------------


def cut_vocabulary(model: nn.Module, keep: Tensor) -> nn.Module:
    """A model whose embedding, output layer and what belongs to it have the rows `keep` (ascending indices).

    The config's special tokens are renumbered, and left out where they're gone. `model` isn't to be used any more.
    """
    embedding = model.get_input_embeddings()
    size = embedding.weight.shape[0]
    if len(keep) == size:
        return model
    state = model.state_dict()
    words = {id(embedding.weight)}
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    if head is not None:
        words |= {id(p) for p in head.parameters()}
    own = {
        id(p) for name, p in model.named_parameters(remove_duplicate=False) if name.startswith("cls.predictions.") and p.shape == (size,)
    }
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if id(parameter) in words | own and parameter.shape[0] == size:
            state[name] = parameter.detach().index_select(0, keep.to(parameter.device)).clone()
    new = {int(old): number for number, old in enumerate(keep.tolist())}
    config = model.config.get_text_config()
    changes: dict[str, Any] = {"vocab_size": len(keep)}
    for key, value in config.to_dict().items():
        if key.endswith("_token_id") and value is not None:
            changes[key] = renumbered(value, new)
    made = _rebuilt(model, changes, state)
    generation = getattr(made, "generation_config", None)
    if generation is not None:
        for key, value in generation.to_dict().items():
            if key.endswith("_token_id") and value is not None:
                setattr(generation, key, renumbered(value, new))
    return made


def renumbered(value: Any, new: dict[int, int]) -> Any:
    """A token's id, or several, by the new numbers; None where it's gone."""
    if isinstance(value, (list, tuple)):
        return [new[v] for v in value if v in new] or None
    return new.get(value)


# ---- the new model --------------------------------------------------------------------------------------------------------------


def _sliced(model: nn.Module, name: str, index: Tensor, dim: int, shapes_only: bool = False) -> dict[str, Tensor]:
    """The weight (and, for rows, the bias) of a linear layer with only `index` of its outputs (dim 0) or inputs (dim 1)."""
    module = model.get_submodule(name)
    stored = 1 - dim if isinstance(module, Conv1D) else dim
    weight = module.weight.detach()
    if shapes_only:
        weight = torch.empty_like(weight, device="meta")
    index = index.to(weight.device)
    out = {f"{name}.weight": weight.index_select(stored, index).contiguous()}
    if dim == 0 and module.bias is not None:
        bias = module.bias.detach()
        out[f"{name}.bias"] = bias.to(index.device).index_select(0, index) if not shapes_only else torch.empty(len(index), device="meta")
    return out


def _spread(units: Tensor, width: int) -> Tensor:
    """Indices of all columns of the units, each `width` wide."""
    return (units[:, None] * width + torch.arange(width, device=units.device)).flatten()


def _plan(model: nn.Module, changes: dict[str, Any], shapes: dict[str, tuple[int, ...]]) -> tuple[nn.Module, Any] | str:
    """(an empty model of those shapes, on no device; its config), or why there is none."""
    for cls, make in ((type(model), _same), (_cousin(model), _as_mistral)):
        if cls is None:
            continue
        try:
            config = make(model.config, changes)
            with torch.device("meta"):
                empty = cls(config)
        except (ValueError, StrictDataclassError) as error:  # transformers' own checks of a config
            why = _why(model, changes, str(error).splitlines()[-1].removesuffix(".").split(": ", 1)[-1].strip())
            continue
        found = {name: tuple(t.shape) for name, t in empty.state_dict().items()}
        if found == shapes:
            return empty, config
        why = _why(model, changes, "its config can't express those shapes")
    return why


def _why(model: nn.Module, changes: dict[str, Any], said: str) -> str:
    """The reason that matters: with no word for the width of a head, the number of heads doesn't."""
    known = "head_dim" in type(model.config.get_text_config())().to_dict()
    return said if known or "num_attention_heads" not in changes else _NO_HEAD_DIM


def _same(config: Any, changes: dict[str, Any]) -> Any:
    made = copy.deepcopy(config)
    text = made.get_text_config()
    for key, value in changes.items():
        setattr(text, key, value)
    plain = text.to_dict()
    type(text).from_dict(plain)  # raises where the class doesn't accept the numbers together
    return made


def _cousin(model: nn.Module) -> type | None:
    """The class of Mistral that computes what this Llama does; None for others."""
    name = type(model).__name__
    return getattr(transformers, name.replace("Llama", "Mistral"), None) if name.startswith("Llama") else None


def _as_mistral(config: Any, changes: dict[str, Any]) -> Any:
    plain = config.to_dict() | changes
    known = set(transformers.MistralConfig().to_dict()) | {"id2label", "label2id", "problem_type"}
    kept = {
        k: v for k, v in plain.items() if k in known and k not in ("model_type", "architectures", "transformers_version", "layer_types")
    }
    made = transformers.MistralConfig(**kept | {"sliding_window": None})
    made._attn_implementation = config._attn_implementation
    return made


def _rebuilt(
    model: nn.Module, changes: dict[str, Any], state: dict[str, Tensor], rename: Callable[[str], str | None] = lambda name: name
) -> nn.Module:
    """A model of the config with `changes`, holding `state`; buffers that no file holds are taken over by (new) name."""
    found = _plan(model, changes, {name: tuple(t.shape) for name, t in state.items()})
    if isinstance(found, str):
        raise _refused(model, found)
    made, _ = found
    made.load_state_dict(state, strict=True, assign=True)
    stored = state.keys()
    for name, buffer in model.named_buffers():
        new = rename(name)
        if new is not None and new not in stored and buffer is not None:
            home, _, leaf = new.rpartition(".")
            owner = made.get_submodule(home)
            if leaf in owner._buffers:
                owner._buffers[leaf] = buffer
    made.tie_weights()
    left = [name for name, t in (*made.named_parameters(), *made.named_buffers()) if t.is_meta]
    if left:
        raise RuntimeError(f"without a value after surgery: {left}")
    if getattr(model, "generation_config", None) is not None:
        made.generation_config = copy.deepcopy(model.generation_config)
    made.train(model.training)
    made.requires_grad_(any(p.requires_grad for p in model.parameters()))
    return made


def _refused(model: nn.Module, why: str) -> UserError:
    return UserError(
        "{architecture} can't be cut like that: {why}.",
        hint="Choose another amount, or only zeros instead of a smaller file.",
        kind="model",
        architecture=type(model).__name__,
        why=why,
    )
