"""What runs a target's and a draft's forwards fastest: python -m tests.bench.bench_engines [TARGET] [--threads N] [--cpu-time]

Milliseconds of a forward of 1, 2, 4, 8 and 16 tokens after 64, medians, engines in turns: transformers eager in float32 and
bfloat16, with torch.compile (where a C++ compiler is found), with a static cache, quickened, the packed copy, and torch's
dynamic 8 bits; with each engine's overlap with the eager float32 distribution, sum of min(p, q), and the largest
difference of logits. Asserts nothing.
"""

from __future__ import annotations

import argparse
import copy
import shutil
import sys
import warnings
from statistics import median
from time import perf_counter, process_time

import torch
from transformers import StaticCache
from transformers.utils import logging

from core.decode.cache import CachedModel
from core.decode.fast import quicken
from core.decode.packed_copy import packed_copy
from tests.bench.bench_decode import PROMPTS, STARTER, load

BEFORE, WIDTHS = 64, (1, 2, 4, 8, 16)


class Static:
    """transformers' static cache: fixed buffers, which torch.compile wants."""

    def __init__(self, model):
        self.model, self.length = model, 0
        self.cache = StaticCache(config=model.config, max_cache_len=256)

    @torch.inference_mode()
    def forward(self, ids, keep):
        positions = torch.arange(self.length, self.length + len(ids))
        out = self.model(input_ids=torch.tensor([ids]), cache=self.cache, position_ids=positions[None], use_cache=True, logits_to_keep=keep)
        self.length += len(ids)
        return out.logits[0]

    def crop(self, length):
        self.cache.crop(length - self.length) if length < self.length else None
        self.length = length


def dynamic(model):
    """torch's dynamic 8 bits: activations are rounded, too."""
    model = copy.deepcopy(model)
    for name, module in list(model.named_modules()):
        if type(module) is torch.nn.Linear:
            model.set_submodule(name, Dynamic(module.weight))
    return model


class Dynamic(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        scale = (weight.abs().amax(1) / 127).double().clamp_min(1e-12)
        codes = torch.quantize_per_channel(weight.detach(), scale, torch.zeros_like(scale, dtype=torch.long), 0, torch.qint8)
        self.packed = torch.ops.quantized.linear_prepack(codes, None)

    def forward(self, x):
        return torch.ops.quantized.linear_dynamic(x, self.packed, True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("target", nargs="?", default=str(STARTER / "shakespeare-7m"))
    arguments.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments.add_argument("--repeats", type=int, default=9)
    arguments.add_argument("--cpu-time", action="store_true")
    given = arguments.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    warnings.filterwarnings("ignore")
    logging.set_verbosity_error()
    torch.set_num_threads(given.threads)
    clock = process_time if given.cpu_time else perf_counter
    model, tokenizer = load(given.target)
    quick = copy.deepcopy(model)
    print(quicken(quick))
    half = copy.deepcopy(model).bfloat16()
    engines = {
        "eager float32": CachedModel(model),
        "eager bfloat16": CachedModel(half),
        "static cache": Static(model),
        "quickened float32": CachedModel(quick),
        "packed copy (int8 weights)": CachedModel(packed_copy(quick)),
        "dynamic int8 (activations too)": CachedModel(dynamic(model)),
    }
    if shutil.which("g++") or shutil.which("c++"):
        compiled = copy.deepcopy(model)
        compiled.forward = torch.compile(compiled.forward, dynamic=True)
        engines["torch.compile, static cache"] = Static(compiled)
    else:
        print("torch.compile: no C++ compiler here")
    text = tokenizer("\n".join(PROMPTS["prose"]))["input_ids"]
    start, heard = text[:BEFORE], text[BEFORE : BEFORE + 16] if len(text) > BEFORE + 16 else text[:16]
    rows = {}
    for name, engine in list(engines.items()):
        try:
            engine.forward(start, 1)
            rows[name] = engine.forward(heard, len(heard)).float()
            engine.crop(BEFORE)
        except Exception as error:  # a bench says what doesn't run here, and goes on
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:120]}")
            del engines[name]
    seconds = {name: {n: [] for n in WIDTHS} for name in engines}
    for repeat in range(given.repeats + 1):  # the first warms up
        for name, engine in engines.items():
            for n in WIDTHS:
                begun = clock()
                engine.forward(heard[:n], n)
                spent = clock() - begun
                engine.crop(BEFORE)
                if repeat:
                    seconds[name][n].append(spent)
    q = rows["eager float32"].softmax(-1)
    print(f"\n{given.target}, {given.threads} threads, milliseconds by tokens fed, {given.repeats} repeats")
    print(f"{'':32}" + "".join(f"{n:>8}" for n in WIDTHS) + f"{'overlap':>10}{'logits':>10}")
    for name, table in seconds.items():
        overlap = float(torch.minimum(rows[name].softmax(-1), q).sum(-1).mean())
        apart = float((rows[name] - rows["eager float32"]).abs().max())
        print(f"{name:32}" + "".join(f"{1e3 * median(table[n]):8.1f}" for n in WIDTHS) + f"{overlap:10.4f}{apart:10.1e}")


if __name__ == "__main__":
    main()
