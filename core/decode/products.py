"""Faster linear layers for a few rows on a CPU: the same product, asked for in the form that the BLAS does fastest here.

x W^T with 1 to 16 rows of x is what decoding spends its time on. Matrix libraries treat so few rows as a poor case of
many; (W x^T)^T, padded to 2 or 4 columns, is often much faster (measured with MKL on an EPYC: 0.67 of the time for 1
row, 0.5 for 4). What's fastest depends on the machine, its threads and the shapes, so it's measured, once per model.
Results differ from nn.Linear's by rounding alone. Covers dense float32 nn.Linear layers on the CPU; others are left alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import thread_time
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

LEAST = 1 << 15  # weights smaller than this gain nothing: the call itself is the cost
ENOUGH = 64_000_000  # parameters to measure with, far more than caches hold: what's fastest in a cache isn't what's fastest from memory
PASSES = 3
WORTH = 0.95  # another form must take less than this share of nn.Linear's time

Shape = tuple[int, int]  # (outputs, inputs)
Form = Callable[[Tensor, Tensor], Tensor]  # (rows, inputs), (outputs, inputs) -> (rows, outputs)
_known: WeakKeyDictionary[nn.Module, dict] = WeakKeyDictionary()  # model -> {(threads, shape, rows): form or None}


def columns(x: Tensor, weight: Tensor, width: int) -> Tensor:
    """x W^T as (W x^T)^T, with x padded to `width` rows."""
    rows = x.shape[0]
    if width > rows:
        x = pad(x, (0, 0, 0, width - rows))
    return torch.mm(weight, x.t()).t()[:rows].contiguous()


def fours(x: Tensor, weight: Tensor) -> Tensor:
    """The same, four rows at a time."""
    return torch.cat([columns(part, weight, 4) for part in x.split(4)])


def forms(rows: int) -> list[Form]:
    """What to try for so many rows."""
    widths = {rows, rows + rows % 2, 4 if rows < 4 else rows, 8 if 4 < rows < 8 else rows}
    return [partial(columns, width=w) for w in sorted(widths)] + ([fours] if rows > 4 else [])


@contextlib.contextmanager
def faster_products(models: Iterable[nn.Module], rows: Iterable[int]) -> Iterator[None]:
    """Within, the models' linear layers take the fastest measured form for each of `rows` (tokens a forward).

    A row count in between takes the next larger one's form. Measuring costs some tenths of a second for a model of 135 M
    parameters, once for each thread count. The layers are as before afterwards.
    """
    wanted, changed = sorted(set(rows)), []
    try:
        for model in dict.fromkeys(models):
            layers = [m for m in model.modules() if _suits(m)]
            if not layers:
                continue
            plan = _measure(model, layers, wanted)
            for layer in layers:
                table = plan[tuple(layer.weight.shape)]
                if any(form is not None for form in table):
                    layer.forward = partial(_forward, layer, table)
                    changed.append(layer)
        yield
    finally:
        for layer in changed:
            del layer.forward


def _suits(module: nn.Module) -> bool:
    weight = getattr(module, "weight", None)
    return (
        type(module) is nn.Linear
        and "forward" not in module.__dict__  # something else has wrapped it
        and weight.device.type == "cpu"
        and weight.dtype == torch.float32
        and weight.is_contiguous()
        and weight.numel() >= LEAST
    )


def _forward(layer: nn.Linear, table: list[Form | None], x: Tensor) -> Tensor:
    rows = x.numel() // x.shape[-1]
    form = table[rows] if rows < len(table) else None
    if form is None:
        return linear(x, layer.weight, layer.bias)
    out = form(x.reshape(rows, x.shape[-1]), layer.weight)  # (rows, outputs)
    if layer.bias is not None:
        out = out + layer.bias
    return out.view(*x.shape[:-1], out.shape[-1])


@torch.inference_mode()
def _measure(model: nn.Module, layers: list[nn.Linear], wanted: list[int]) -> dict[Shape, list[Form | None]]:
    """For each weight shape, the form for 0, 1, ... max(wanted) rows; None: nn.Linear's own."""
    known, threads = _known.setdefault(model, {}), torch.get_num_threads()
    shapes = {tuple(layer.weight.shape) for layer in layers}
    sample: list[tuple[Shape, Tensor]] = []
    for rows in wanted:
        if any((threads, shape, rows) not in known for shape in shapes):
            sample = sample or _sample([layer.weight for layer in layers])
            for shape, form in _fastest(sample, rows).items():
                known[threads, shape, rows] = form
    plan = {}
    for shape in shapes:
        table: list[Form | None] = [None]
        for rows in wanted:
            form = known[threads, shape, rows]
            for n in range(len(table), rows + 1):
                # A form padded for more rows serves fewer as well; one as wide as its rows is made as wide as these.
                own = isinstance(form, partial) and form.keywords["width"] == rows > 4
                table.append(partial(columns, width=n) if own else form)
        plan[shape] = table
    return plan


def _sample(weights: list[Tensor]) -> list[tuple[Shape, Tensor]]:
    """Layers in the model's order, evenly thinned to about ENOUGH parameters, every shape among them; large ones in part."""
    parts = [w[: max(1, ENOUGH // 8 // w.shape[1])] for w in weights]
    step = -(-sum(p.numel() for p in parts) // ENOUGH)
    seen: dict[Shape, int] = {}
    out: list[tuple[Shape, Tensor]] = []
    for weight, part in zip(weights, parts, strict=True):
        nth = seen.setdefault(tuple(weight.shape), 0)
        seen[tuple(weight.shape)] += 1
        if nth % step == 0:
            out.append((tuple(weight.shape), part))
    return out


def _fastest(sample: list[tuple[Shape, Tensor]], rows: int) -> dict[Shape, Form | None]:
    """The fastest form for each shape. Layers are gone through in the model's order, since that decides what caches hold."""
    inputs = {shape[1]: torch.randn(rows, shape[1]) for shape, _ in sample}
    choices: list[Form | None] = [None, *forms(rows)]
    least = {shape: [float("inf")] * len(choices) for shape, _ in sample}
    for _ in range(PASSES):
        for place, form in enumerate(choices):
            spent = dict.fromkeys(least, 0.0)
            for shape, weight in sample:
                x = inputs[shape[1]]
                # This thread's processor time: some microseconds of wall clock say more about what else the machine does.
                begun = thread_time()
                if form is None:
                    linear(x, weight)
                else:
                    form(x, weight)
                spent[shape] += thread_time() - begun
            for shape, seconds in spent.items():
                least[shape][place] = min(least[shape][place], seconds)
    out: dict[Shape, Form | None] = {}
    for shape, times in least.items():
        best = min(range(len(times)), key=times.__getitem__)
        out[shape] = choices[best] if times[best] < WORTH * times[0] else None
    return out
