"""Models larger than memory: a skeleton whose blocks come in from safetensors one at a time and go out as shards; and resuming.

    Finished   a folder of finished blocks, guarded by a fingerprint of model, data and settings: a later try with the same
               fingerprint begins after the last of them
    InMemory   the home of blocks of a model that is in memory: keeps finished ones for a later try
    Streamed   the home of blocks that are on disk: one is in memory at a time; `save` makes a folder of the finished ones

Both are a sequential.Home. What's written of a block is what's saved of it in the end: packed weights in compressed-tensors'
layout, dense ones in the dtype that the source stores; weights in memory are rounded with it, so that a resumed try goes on with
the same numbers. Covers what `load` loads of dense folders, where the files name tensors as the model does.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import sys
from pathlib import Path

import torch
from accelerate import init_empty_weights
from safetensors import safe_open
from torch import nn

from core.errors import UserError, explain
from core.models import load, packed, save, tensors
from core.models.blocks import blocks, linears, replace
from core.models.devices import STORED
from core.models.packed import PackedLinear, to_layout
from core.models.packed_embedding import head_of, name_of
from core.run import Run
from core.workspace import write_atomically

STATE = "state.json"
LARGE = 64_000_000  # bytes of a tensor outside the blocks that's written by itself, so that it's in memory by itself


class Finished:
    """A folder of finished blocks. Opening it with another fingerprint than it was written with empties it."""

    def __init__(self, folder: Path, fingerprint: str):
        self.folder, self.fingerprint = folder, fingerprint
        self.blocks: list[int] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            known = self._known()
            if known is None:
                for path in folder.iterdir():
                    path.unlink()
                self._write_state()
            else:
                self.blocks = known
                for path in folder.glob("*.part"):
                    path.unlink()
        except OSError as error:
            raise explain(error) from error

    def _known(self) -> list[int] | None:
        """The blocks that the folder holds whole, from the first on; None where they're another task's, or nothing can be read."""
        try:
            state = json.loads((self.folder / STATE).read_text(encoding="utf-8"))
            if state["fingerprint"] != self.fingerprint:
                return None
            listed = [int(n) for n in state["blocks"]]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        whole: list[int] = []
        for index in listed:
            try:
                tensors.read_header(self.path(index))
            except UserError:
                break  # cut short by the crash: that block is done again
            whole.append(index)
        return whole if whole == list(range(len(whole))) else None

    def __contains__(self, index: int) -> bool:
        return index in self.blocks

    def path(self, index: int) -> Path:
        return self.folder / f"block-{index:05}.safetensors"

    def write(self, index: int, name: str, block: nn.Module, found: dict[str, tensors.TensorInfo], main: torch.dtype) -> None:
        """Writes the block, and only then says that it's there. Rounds the weights in memory to what is stored.

        found: the source's tensors, whose dtypes are kept; main: for those that it doesn't have. Raises UserError: no space,
        numbers that aren't finite.
        """
        state, grids = stored(name, block, found, main)
        save.room_for(self.folder, sum(t.numel() * t.element_size() for t in state.values()))
        path = self.path(index)
        part = path.with_suffix(".part")
        save.write_tensors(state, part, {"packed": json.dumps(grids)})
        with open(part, "rb") as handle:
            os.fsync(handle.fileno())
        os.replace(part, path)
        self.blocks.append(index)
        self._write_state()

    def read(self, index: int, name: str, block: nn.Module, dtype: torch.dtype, device: str) -> None:
        """Puts the finished block's weights into `block`, packed layers as PackedLinear, to compute in `dtype`."""
        path = self.path(index)
        with safe_open(path, framework="pt") as handle:
            grids = json.loads(handle.metadata()["packed"])
        state = dict(tensors.read(tensors.read_header(path)))
        for stem, weights in grids.items():
            parts = {leaf: state.pop(key) for leaf in LAYOUT if (key := f"{stem}.{leaf}") in state}
            bias = state.pop(f"{stem}.bias", None)
            quant = packed.from_layout(parts, weights)
            module = PackedLinear(quant, None if bias is None else bias.to(dtype), dtype).to(device)
            replace(block, stem.removeprefix(f"{name}."), module)
        fill(block, {key.removeprefix(f"{name}."): value for key, value in state.items()}, dtype, device)

    def remove(self) -> None:
        """Everything goes: the work is done, or isn't wanted."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write_state(self) -> None:
        write_atomically(self.folder / STATE, json.dumps({"fingerprint": self.fingerprint, "blocks": self.blocks}))


LAYOUT = ("weight_packed", "weight_scale", "weight_zero_point", "weight_shape", "weight")


def stored(
    name: str, block: nn.Module, found: dict[str, tensors.TensorInfo], main: torch.dtype
) -> tuple[dict[str, torch.Tensor], dict[str, dict]]:
    """(tensors of a block as they're stored, by full name; grid of each packed layer). Rounds the block's dense weights likewise."""
    layers = {n: m for n, m in block.named_modules() if isinstance(m, PackedLinear)}
    state: dict[str, torch.Tensor] = {}
    grids: dict[str, dict] = {}
    for key, tensor in block.state_dict().items():
        stem, _, leaf = key.rpartition(".")
        if stem in layers and leaf != "bias":
            continue
        full = f"{name}.{key}"
        kept = tensor.detach()
        if tensor.is_floating_point():
            kept = kept.to(STORED.get(found[full].dtype if full in found else "", main))
            save.check_finite(full, kept, tensor)
            tensor.copy_(kept)
        state[full] = kept.cpu().contiguous()
    for stem, module in layers.items():
        if module.activation is not None or module.kind != "int":
            raise ValueError("only packed weights of integers can be kept block by block")
        full = f"{name}.{stem}"
        save.check_finite(f"{full}.weight_scale", module.weight_scale, module.weight_scale)
        layout = to_layout(module.quant, module.weight_scale.dtype)
        state |= {f"{full}.{leaf}": t.cpu().contiguous() for leaf, t in layout.items()}
        strategy = "group" if module.group_size else "channel"
        grids[full] = {"num_bits": module.bits, "symmetric": module.symmetric, "strategy": strategy, "group_size": module.group_size}
    return state, grids


def fill(block: nn.Module, state: dict[str, torch.Tensor], dtype: torch.dtype, device: str) -> None:
    """Gives the block's parameters and buffers these values, as copies; floating ones in `dtype`."""
    for key, value in state.items():
        owner, _, leaf = key.rpartition(".")
        module = block.get_submodule(owner)
        wanted = value.to(device, dtype, copy=True) if value.is_floating_point() else value.to(device, copy=True)
        if leaf in module._parameters:
            module._parameters[leaf] = nn.Parameter(wanted, requires_grad=False)
        else:
            module._buffers[leaf] = wanted


class InMemory:
    """The home of blocks that stay in memory: finished ones are kept on disk as well, and brought back by a later try."""

    def __init__(self, finished: Finished, folder: Path):
        """folder: the source, whose dtypes are kept."""
        self.finished = finished
        self.found = tensors.headers(folder)
        self.main = save.main_dtype(self.found)

    def enter(self, index: int, name: str, block: nn.Module) -> bool:
        if index not in self.finished:
            return False
        one = next(block.parameters())
        self.finished.read(index, name, block, one.dtype, str(one.device))
        return True

    def keep(self, index: int, name: str, block: nn.Module) -> None:
        self.finished.write(index, name, block, self.found, self.main)

    def leave(self, index: int, name: str, block: nn.Module) -> None:
        pass


def looking(home: InMemory | Streamed | None) -> Looking | None:
    """A home for a walk that only looks, before the one that changes: blocks come as the source has them, and nothing is kept."""
    return Looking(home) if isinstance(home, Streamed) else None


class Looking:
    """The home of blocks that are on disk, for a walk that leaves them as they are."""

    def __init__(self, home: Streamed):
        self._home = home

    def enter(self, index: int, name: str, block: nn.Module) -> bool:
        self._home.bring(name, block)
        return False

    def keep(self, index: int, name: str, block: nn.Module) -> None:
        pass

    def leave(self, index: int, name: str, block: nn.Module) -> None:
        self._home.leave(index, name, block)


class Streamed:
    """A model of which one block at a time is in memory, and the home of its blocks.

    `model` is a skeleton: parameters of the blocks are on torch's meta device until their turn, the rest is there; embeddings
    are read from the file where they're looked up. It computes in float32 on the CPU, in the stored dtype on CUDA.
    """

    def __init__(self, folder: Path, finished: Finished, device: str = "cpu"):
        """Raises UserError where the files don't name tensors as the model does, or the folder is quantized."""
        self.folder, self.finished, self.device = folder, finished, device
        self.found = tensors.headers(folder)
        self.main = save.main_dtype(self.found)
        self.dtype = self.main if device.startswith("cuda") else torch.float32
        config = load.load_config(folder)
        kind = load.model_class(config)
        config._attn_implementation = "sdpa" if getattr(kind, "_supports_sdpa", False) else "eager"
        with init_empty_weights(include_buffers=False):
            self.model = kind(config)
        self.model.tie_weights()
        self.model.eval().requires_grad_(False)
        self._blocks = [name for name, _ in blocks(self.model)]
        head = head_of(self.model)
        self._head = None if head is None else name_of(self.model, head)
        self._check_names()
        self._embedding = name_of(self.model, self.model.get_input_embeddings())
        self._fill_rest()

    def _check_names(self) -> None:
        tied = set(getattr(self.model, "all_tied_weights_keys", None) or ())
        missing = sorted(n for n in self.model.state_dict() if n not in self.found and n not in tied)
        if missing:
            raise UserError(
                "{count} weights go by other names in the files than in the model ({first}), so it can't be read block by block.",
                hint="It has to fit into memory: close other programs, or use a machine with more of it.",
                kind="model",
                count=len(missing),
                first=missing[0],
                detail="\n".join(missing),
            )

    def _of_block(self, name: str) -> bool:
        return any(name.startswith(f"{block}.") for block in self._blocks)

    def _fill_rest(self) -> None:
        """Everything outside the blocks but embedding and head, which are the largest."""
        apart = {f"{self._embedding}.weight", *([f"{self._head}.weight"] if self._head else [])}
        outside = {n: i for n, i in self.found.items() if not self._of_block(n) and n not in apart and n in self.model.state_dict()}
        fill(self.model, dict(tensors.read(outside)), self.dtype, self.device)
        from_disk(self.model.get_submodule(self._embedding), self.found[f"{self._embedding}.weight"], self.dtype, self.device)

    def enter(self, index: int, name: str, block: nn.Module) -> bool:
        if index in self.finished:
            self.finished.read(index, name, block, self.dtype, self.device)
            return True
        self.bring(name, block)
        return False

    def bring(self, name: str, block: nn.Module) -> None:
        """Gives the block the source's weights."""
        wanted = {n: i for n, i in self.found.items() if n.startswith(f"{name}.")}
        for key, value in tensors.read(wanted):
            fill(block, {key.removeprefix(f"{name}."): value}, self.dtype, self.device)

    def keep(self, index: int, name: str, block: nn.Module) -> None:
        self.finished.write(index, name, block, self.found, self.main)

    def leave(self, index: int, name: str, block: nn.Module) -> None:
        block.to("meta")
        give_back()

    def save(self, staged: Path, *, run: Run) -> None:
        """Makes a model's folder of the finished blocks (which are moved) and of what lies outside them. Raises UserError."""
        missing = [n for i, n in enumerate(self._blocks) if i not in self.finished]
        if missing:
            raise ValueError(f"blocks aren't finished: {missing}")
        outside = self._outside()
        files = len(outside) + len(self._blocks)
        name = lambda number: f"model-{number + 1:05}-of-{files:05}.safetensors"
        weight_map: dict[str, str] = {}
        total = 0
        try:
            for number, names in enumerate(outside):
                state = self._state(names)
                size = sum(t.numel() * t.element_size() for t in state.values())
                save.room_for(staged, size + save.ROOM)
                save.write_tensors(state, staged / name(number))
                weight_map |= dict.fromkeys(state, name(number))
                total += size
                del state
            for index in run.track(range(len(self._blocks)), "Saving"):
                found = tensors.read_header(self.finished.path(index))
                file = name(len(outside) + index)
                weight_map |= dict.fromkeys(found, file)
                total += sum(i.bytes for i in found.values())
                shutil.move(self.finished.path(index), staged / file)
            save.write_index(staged, weight_map, total)
            save.write_config(self.model, save.packed_modules(self.model), staged, self.main)
            save.copy_rest(self.folder, staged)
        except OSError as error:
            raise explain(error) from error

    def _outside(self) -> list[list[str]]:
        """The names of what lies outside the blocks, cut into files: the largest tensors each have one, the rest share the first."""
        layers = [n for n in save.packed_modules(self.model) if not self._of_block(n)]
        dense = [n for n in self.found if not self._of_block(n) and (n.rpartition(".")[0] not in layers or n.endswith("bias"))]
        large = [n for n in dense if self.found[n].bytes > LARGE]
        return [names for names in ([n for n in dense if n not in large], *([n] for n in large), *([n] for n in layers)) if names]

    def _state(self, names: list[str]) -> dict[str, torch.Tensor]:
        """Those tensors as they're stored: dense ones are the source's own, a packed module's are all of its own."""
        layers = save.packed_modules(self.model)
        state = dict(tensors.read({n: self.found[n] for n in names if n not in layers}))
        for name, module in linears(self.model):  # a layer outside the blocks may have been changed where it is
            full = f"{name}.weight"
            if full in state and not torch.equal(module.weight, state[full].to(module.weight)):
                state[full] = module.weight.detach().to(state[full].dtype).cpu()
        for name in [n for n in names if n in layers]:
            state |= {f"{name}.{leaf}": t.cpu().contiguous() for leaf, t in save.layout_of(layers[name], self.main).items()}
        return state

    def rows(self, embedding: bool, start: int, end: int) -> torch.Tensor:
        """Rows of the weight of the embedding (else of the head) as the file has them: (end - start, width) in the stored dtype."""
        info = self.found[f"{self._embedding if embedding else self._head}.weight"]
        with safe_open(info.file, framework="pt") as handle:
            return handle.get_slice(info.name)[start:end]


def give_back() -> None:
    """Gives freed memory back to the system. glibc keeps blocks below 32 MB for itself, and over many weights they add up."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform.startswith("linux") else None
    if trim is not None:
        trim(0)


def from_disk(embedding: nn.Module, info: tensors.TensorInfo, dtype: torch.dtype, device: str) -> None:
    """Has an embedding whose weight is on the meta device read the rows that it looks up from their file."""
    real = embedding.forward

    def forward(ids: torch.Tensor) -> torch.Tensor:
        rows, where = ids.cpu().unique(return_inverse=True)
        with safe_open(info.file, framework="pt") as handle:
            whole = handle.get_slice(info.name)
            table = torch.cat([whole[row : row + 1] for row in rows.tolist()])  # (different tokens, width)
        kept, padding = embedding._parameters["weight"], embedding.padding_idx
        embedding._parameters["weight"] = nn.Parameter(table.to(device, dtype), requires_grad=False)
        embedding.padding_idx = None  # which row it is has no meaning in the small table
        try:
            return real(where.to(device))  # the module's own: some multiply what they look up
        finally:
            embedding._parameters["weight"], embedding.padding_idx = kept, padding

    embedding.forward = forward


def first_blocks(folder: Path, to: Path, count: int) -> Path:
    """Makes the folder `to` of the first `count` blocks of a model that `Streamed.save` wrote, by links.

    It's a model like any other: what a whole that doesn't fit into memory can be checked on.
    """
    index = json.loads((folder / "model.safetensors.index.json").read_text(encoding="utf-8"))
    raw = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    every = sorted(set(index["weight_map"].values()))  # those outside the blocks first, then one a block
    files = every[: len(every) - load.load_config(folder).get_text_config().num_hidden_layers + count]
    to.mkdir(parents=True)
    for file in files:
        try:
            os.link(folder / file, to / file)
        except OSError:  # a disk without hard links
            shutil.copyfile(folder / file, to / file)
    save.write_index(to, {name: file for name, file in index["weight_map"].items() if file in files}, 0)
    key = next(k for k in ("num_hidden_layers", "n_layers", "n_layer") if k in raw)
    raw[key] = count
    if isinstance(raw.get("layer_types"), list):
        raw["layer_types"] = raw["layer_types"][:count]
    (to / "config.json").write_text(json.dumps(raw, indent=1), encoding="utf-8")
    return to
