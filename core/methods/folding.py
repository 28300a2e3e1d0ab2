"""Where a scale of activation channels can move from one layer into the next without changing what a block computes.

Dividing the channels that a norm or a linear layer puts out, and multiplying the columns of the layers that read them,
changes nothing where nobody else reads them and nothing bends in between: from a norm before attention or MLP into the layers
behind it, from values into the attention's output, from an MLP's 'up' into its 'down', from one linear layer through a ReLU
into the next. Which of these a model has isn't looked up by its name: candidates are tried on the model's own blocks with
random scales, and stay where the block's output stays. A norm whose output also goes past the block (BERT's, which comes
after the residual) drops out by itself. Covers torch's Linear inside blocks; GPT-2's transposed layers have no folds here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from core.models.blocks import blocks

CLOSE = 1e-4  # how far a block's output may move, as a share of its size: float32's rounding, and nothing else
TOKENS = 8


@dataclass(frozen=True)
class Fold:
    """A source whose output channels may be divided by s, and the layers whose columns are then multiplied by it.

    repeat: (heads, times) where each head of the source's channels is read `times` times (grouped-query attention's values),
    else None; plus_one: the norm multiplies by 1 + weight.
    """

    source_name: str
    source: nn.Module
    targets: tuple[tuple[str, nn.Linear], ...]
    repeat: tuple[int, int] | None = None
    plus_one: bool = False

    @property
    def channels(self) -> int:
        return self.source.weight.shape[0]

    @property
    def of_norm(self) -> bool:
        return self.source.weight.ndim == 1

    def columns(self, s: Tensor) -> Tensor:
        """(channels,) -> one number for each column of the targets."""
        if self.repeat is None:
            return s
        heads, times = self.repeat
        return s.view(heads, -1).repeat_interleave(times, 0).flatten()

    def gathered(self, values: Tensor) -> Tensor:
        """The largest of what the columns (in,) say, for each channel of the source: the inverse of `columns`."""
        if self.repeat is None:
            return values
        heads, times = self.repeat
        return values.view(heads, times, -1).amax(1).flatten()

    @torch.no_grad()
    def apply(self, s: Tensor, stored: torch.dtype | None = None) -> Tensor:
        """Divides the source's channels by s (channels,) > 0 and multiplies the targets' columns by it, in place.

        stored: the dtype that a norm's weight will be saved in: it's rounded here, and the columns take what it was really
        divided by, so that saving moves nothing. Returns what the columns were multiplied by: (in,).
        """
        source = self.source
        s = s.to(source.weight.device, torch.float32)
        if self.of_norm:
            whole = source.weight.float() + 1 if self.plus_one else source.weight.float()
            new = whole / s
            written = new - 1 if self.plus_one else new
            if stored is not None:
                written = written.to(stored).float()
                new = written + 1 if self.plus_one else written
                s = torch.where((new == 0) | (whole == 0), s, whole / new)
            source.weight.copy_(written)
        else:
            source.weight.div_(s[:, None].to(source.weight.dtype))
        if getattr(source, "bias", None) is not None:
            source.bias.div_(s.to(source.bias.dtype))
        columns = self.columns(s)
        for _, target in self.targets:
            target.weight.mul_(columns.to(target.weight.dtype))
        return columns

    def tensors(self) -> list[Tensor]:
        """What `apply` changes."""
        bias = getattr(self.source, "bias", None)
        return [self.source.weight, *([bias] if bias is not None else []), *(t.weight for _, t in self.targets)]


@torch.no_grad()
def folds(model: nn.Module, forward: Callable[[Tensor], Any] | None = None) -> list[Fold]:
    """Every fold of the model, block after block, each tried on its own block.

    forward: ids (1, tokens) -> anything, how the model is called; its own call by default. Leaves every weight as it was.
    A layer is the target of one fold at most: the norm before it, where there is one.
    """
    device = next(model.parameters()).device
    vocabulary = model.config.get_text_config().vocab_size
    ids = torch.randint(0, vocabulary, (1, TOKENS), generator=torch.Generator().manual_seed(11)).to(device)
    called = _calls(model, ids, forward or (lambda ids: model(input_ids=ids)))
    found: list[Fold] = []
    plan: list[tuple] | None = None
    for name, block in blocks(model):
        if name not in called:
            continue
        args, kwargs = called[name]
        tried = None if plan is None else _planned(name, block, plan)
        if tried is None or not _holds(block, args, kwargs, tried):
            tried = _of_block(name, block, args, kwargs, _head_dim(model))
        if plan is None:
            plan = [_shape_of(name, fold) for fold in tried]
        found += tried
    return found


def _head_dim(model: nn.Module) -> int | None:
    config = model.config.get_text_config()
    heads = getattr(config, "num_attention_heads", None)
    return getattr(config, "head_dim", None) or (config.hidden_size // heads if heads and getattr(config, "hidden_size", None) else None)


def _calls(model: nn.Module, ids: Tensor, forward: Callable[[Tensor], Any]) -> dict[str, tuple[tuple, dict]]:
    """What each block is called with, in one forward."""
    called: dict[str, tuple[tuple, dict]] = {}
    hooks = []
    for name, block in blocks(model):

        def keep(module: nn.Module, args: tuple, kwargs: dict, name: str = name) -> None:
            called[name] = (args, {k: v for k, v in kwargs.items() if k not in ("past_key_values", "past_key_value", "cache", "use_cache")})

        hooks.append(block.register_forward_pre_hook(keep, with_kwargs=True))
    try:
        forward(ids)
    finally:
        for hook in hooks:
            hook.remove()
    return called


def _run(block: nn.Module, args: tuple, kwargs: dict) -> Tensor:
    out = block(*args, **kwargs)
    return (out[0] if isinstance(out, tuple) else out).float()


def _of_block(name: str, block: nn.Module, args: tuple, kwargs: dict, head_dim: int | None) -> list[Fold]:
    readers, norms, order = _who_reads_what(block, args, kwargs)
    prefix = f"{name}." if name else ""
    found: list[Fold] = []
    taken: set[str] = set()
    for norm_name, norm in norms:
        targets = tuple((f"{prefix}{n}", m) for n, m in readers.get(norm_name, ()))
        if not targets or any(m.in_features != norm.weight.shape[0] for _, m in targets):
            continue
        for plus_one in (False, True):
            fold = Fold(f"{prefix}{norm_name}", norm, targets, plus_one=plus_one)
            if _holds(block, args, kwargs, [fold]):
                found.append(fold)
                taken |= {n for n, _ in targets}
                break
    for place, (first_name, first) in enumerate(order):
        for second_name, second in order[place + 1 :]:
            if f"{prefix}{second_name}" in taken:
                continue
            repeat = None
            if first.out_features != second.in_features:
                if not head_dim or first.out_features % head_dim or second.in_features % first.out_features:
                    continue
                repeat = (first.out_features // head_dim, second.in_features // first.out_features)
            fold = Fold(f"{prefix}{first_name}", first, ((f"{prefix}{second_name}", second),), repeat=repeat)
            if _holds(block, args, kwargs, [fold]):
                found.append(fold)
                taken.add(f"{prefix}{second_name}")
                break
    return found


def _who_reads_what(
    block: nn.Module, args: tuple, kwargs: dict
) -> tuple[dict[str, list[tuple[str, nn.Linear]]], list[tuple[str, nn.Module]], list[tuple[str, nn.Linear]]]:
    """(the linear layers that get a norm's very output, by the norm; the norms; the linear layers in the order in which they run)."""
    norms = [
        (n, m)
        for n, m in block.named_modules()
        if "norm" in type(m).__name__.lower() and isinstance(getattr(m, "weight", None), nn.Parameter) and m.weight.ndim == 1
    ]
    outputs: list[tuple[str, Tensor]] = []  # held, so that no address is used twice
    readers: dict[str, list[tuple[str, nn.Linear]]] = {}
    order: list[tuple[str, nn.Linear]] = []
    hooks = []
    for n, m in norms:
        hooks.append(m.register_forward_hook(lambda _, __, out, n=n: outputs.append((n, out))))
    for n, m in block.named_modules():
        if not isinstance(m, nn.Linear):
            continue

        def reads(module: nn.Linear, inputs: tuple, n: str = n) -> None:
            order.append((n, module))
            for norm_name, out in outputs:
                if out.data_ptr() == inputs[0].data_ptr() and out.numel() == inputs[0].numel():
                    readers.setdefault(norm_name, []).append((n, module))

        hooks.append(m.register_forward_pre_hook(reads))
    try:
        _run(block, args, kwargs)
    finally:
        for hook in hooks:
            hook.remove()
    return readers, norms, order


def _holds(block: nn.Module, args: tuple, kwargs: dict, tried: list[Fold]) -> bool:
    """Whether the block's output stays where it was under random scales. The weights are put back bit for bit.

    Held against what the targets' half of it alone does: in a model whose attention is nearly flat, hardly anything moves the output.
    """
    if not tried:
        return True
    kept = [(t, t.detach().clone()) for fold in tried for t in fold.tensors()]
    before = _run(block, args, kwargs)
    generator = torch.Generator().manual_seed(5)
    scales = [torch.exp2(2 * torch.rand(fold.channels, generator=generator) - 1) for fold in tried]
    try:
        for fold, s in zip(tried, scales, strict=True):
            for _, target in fold.targets:
                target.weight.mul_(fold.columns(s).to(target.weight.device, target.weight.dtype))
        half = _run(block, args, kwargs)
        for tensor, value in kept:
            tensor.data.copy_(value)
        for fold, s in zip(tried, scales, strict=True):
            fold.apply(s)
        after = _run(block, args, kwargs)
    finally:
        for tensor, value in kept:
            tensor.data.copy_(value)
    close = CLOSE if before.dtype == torch.float32 and next(block.parameters()).dtype == torch.float32 else 0.02
    moved = float((after - before).abs().max())
    return moved <= close * float(before.abs().max()) and moved <= 0.05 * float((half - before).abs().max())


def _shape_of(name: str, fold: Fold) -> tuple:
    cut = len(name) + 1 if name else 0
    return fold.source_name[cut:], tuple(n[cut:] for n, _ in fold.targets), fold.repeat, fold.plus_one


def _planned(name: str, block: nn.Module, plan: list[tuple]) -> list[Fold] | None:
    """The first block's folds in another block; None where it isn't built alike."""
    modules = dict(block.named_modules())
    prefix = f"{name}." if name else ""
    out = []
    for source, targets, repeat, plus_one in plan:
        if source not in modules or any(t not in modules for t in targets):
            return None
        out.append(Fold(prefix + source, modules[source], tuple((prefix + t, modules[t]) for t in targets), repeat, plus_one))
    return out


def folds_of_block(model: nn.Module, name: str, block: nn.Module, args: tuple, kwargs: dict) -> list[Fold]:
    """The folds of one block, called with these arguments: for walks that hold one block at a time."""
    return _of_block(name, block, args, kwargs, _head_dim(model))
