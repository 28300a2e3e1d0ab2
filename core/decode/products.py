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
ENOUGH = 4_000_000  # parameters of one shape to measure with: more than a core's cache holds
WORTH = 0.95  # another form must take less than this share of nn.Linear's time

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
def _measure(model: nn.Module, layers: list[nn.Linear], wanted: list[int]) -> dict[tuple[int, int], list[Form | None]]:
    """For each weight shape, the form for 0, 1, ... max(wanted) rows; None: nn.Linear's own."""
    known, threads = _known.setdefault(model, {}), torch.get_num_threads()
    shapes: dict[tuple[int, int], list[Tensor]] = {}
    for layer in layers:
        shapes.setdefault(tuple(layer.weight.shape), []).append(layer.weight)
    plan = {}
    for shape, weights in shapes.items():
        some = weights[: max(1, ENOUGH // weights[0].numel())]
        some = [w[: max(1, ENOUGH // w.shape[1])] for w in some]  # a part of an output layer behaves as the whole
        table: list[Form | None] = [None] * (max(wanted, default=0) + 1)
        below = 0
        for rows in wanted:
            key = (threads, shape, rows)
            if key not in known:
                known[key] = _fastest(some, rows)
            for n in range(below + 1, rows + 1):
                # A form padded for more rows serves fewer as well; one as wide as its rows is made as wide as these.
                table[n] = known[key]
                if isinstance(known[key], partial) and known[key].keywords["width"] == rows and rows > 4:
                    table[n] = partial(columns, width=n)
            below = rows
        plan[shape] = table
    return plan


def _fastest(weights: list[Tensor], rows: int) -> Form | None:
    x = torch.randn(rows, weights[0].shape[1])
    best, least = None, _time(linear, x, weights) * WORTH
    for form in forms(rows):
        seconds = _time(form, x, weights, give_up=1.5 * least)
        if seconds < least:
            best, least = form, seconds
    return best


def _time(form: Form, x: Tensor, weights: list[Tensor], give_up: float = float("inf")) -> float:
    """The least of three passes over the weights, after one to warm up. This thread's processor time, since a measurement
    of some milliseconds on the wall clock says more about what else the machine is doing."""
    least = float("inf")
    for attempt in range(4):
        begun = thread_time()
        for weight in weights:
            form(x, weight)
        seconds = thread_time() - begun
        if attempt:
            least = min(least, seconds)
        if seconds > 4 * give_up or (attempt > 1 and least > give_up):
            break
    return least
