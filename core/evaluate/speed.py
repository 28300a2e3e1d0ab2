"""Speed of a model where it runs: prefill and decoding apart, and the memory that the process holds.

Each figure is the median of at least five timed repeats after a warm-up, with the repeats' smallest and largest as its
interval: for five repeats they enclose the true median with probability 1 - 2 * 0.5^5 = 0.94, whatever the distribution.
Greedy decoding of single tokens with the model's own cache; no batching, no compilation, no drafting.
"""

from __future__ import annotations

import inspect
import statistics
import sys
import time
from typing import Any

import torch
from torch import Tensor

from core.errors import UserError
from core.evaluate.perplexity import batch_device, dtype_name
from core.models import devices
from core.records import Measurement
from core.run import Run


@torch.no_grad()
def speed(
    model: Any,
    ids: Tensor | None = None,
    run: Run | None = None,
    *,
    prefill_tokens: int = 128,
    decode_tokens: int = 48,
    repeats: int = 5,
    resident_before: int | None = None,
    conditions: dict[str, Any] | None = None,
) -> list[Measurement]:
    """Measurements prefill and decode (tokens/s; an encoder has no decode), resident and peak (bytes).

    ids: LongTensor (n,): the prompt is its first `prefill_tokens`, repeated where it's shorter; None: the token ids
    0, 1, 2 .... `resident` and `peak` are the process's (on CUDA, the device's), the libraries included;
    with `resident_before`, the process's resident bytes before the model was loaded, they're what came on top.
    Raises UserError where the model's context can't hold the tokens.
    """
    run = run or Run()
    repeats = max(5, repeats)
    device = batch_device(model)
    causal = hasattr(model, "generate") and getattr(model, "can_generate", lambda: True)()
    _check_room(model, prefill_tokens, decode_tokens if causal else 0)
    if ids is None or not len(ids):
        ids = torch.arange(_vocabulary(model))
    prompt = ids.repeat(-(-prefill_tokens // len(ids)))[:prefill_tokens][None].to(device)  # (1, prefill)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)

    prefill, decode = [], []
    resident = peak = 0
    for turn in run.track(range(repeats + 1), "Measuring speed"):
        begun = clock(device)
        out = model(input_ids=prompt, **({"use_cache": True} if causal else {}))
        prefill.append(clock(device) - begun)
        if turn == 0:
            resident = _memory(device)[0]
        if causal:
            decode.append(_decode(model, out, decode_tokens, device, run))
        peak = max(peak, _memory(device)[1])
    known = (conditions or {}) | {
        "device": str(device),
        "dtype": dtype_name(model),
        "threads": torch.get_num_threads(),
        "repeats": repeats,
        "warm": True,
        "interval": "smallest and largest repeat",
    }
    measured = [rate("prefill", prefill_tokens, prefill[1:], known | {"prefill_tokens": prefill_tokens})]  # the first turn warmed up
    if causal:
        measured.append(
            rate("decode", decode_tokens, decode[1:], known | {"prefill_tokens": prefill_tokens, "decode_tokens": decode_tokens})
        )
    where = "device" if device.type == "cuda" else "process"
    less = resident_before if resident_before is not None and where == "process" else 0
    held = known | {"of": where, "since": "before loading" if less else "start of the process"}
    held = {k: v for k, v in held.items() if k not in ("repeats", "warm", "interval")}
    measured.append(
        Measurement(
            kind="resident", value=max(0, resident - less), n=1, unit="bytes", conditions=held | {"when": "after the first forward"}
        )
    )
    measured.append(Measurement(kind="peak", value=max(0, peak - less), n=1, unit="bytes", conditions=held | {"when": "highest so far"}))
    run.log(", ".join(f"{m.kind} {m.value:.4g} {m.unit}" for m in measured if m.unit == "tokens/s"))
    return measured


def rate(kind: str, tokens: int, seconds: list[float], conditions: dict[str, Any]) -> Measurement:
    """Median tokens a second of the repeats; stderr of a median is about 1.2533 standard errors of the mean."""
    rates = [tokens / s for s in seconds]
    error = 1.2533 * statistics.stdev(rates) / len(rates) ** 0.5
    return Measurement(
        kind=kind,
        value=statistics.median(rates),
        stderr=error,
        low=min(rates),
        high=max(rates),
        n=len(rates),
        unit="tokens/s",
        conditions=conditions,
    )


def _decode(model: Any, out: Any, tokens: int, device: torch.device, run: Run) -> float:
    """Seconds for `tokens` greedy steps after the prompt whose output is `out`."""
    cache = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"  # renamed in transformers 5.24
    step, held = out.logits[:, -1:].argmax(-1), getattr(out, cache)  # (1, 1)
    begun = clock(device)
    for _ in range(tokens):
        run.check_cancelled()
        out = model(input_ids=step, use_cache=True, **{cache: held})
        step, held = out.logits[:, -1:].argmax(-1), getattr(out, cache)
    return clock(device) - begun


def clock(device: torch.device) -> float:
    """Seconds, once the device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
    return time.perf_counter()


def _memory(device: torch.device) -> tuple[int, int]:
    """(bytes held, most bytes held so far): of the device's allocator on CUDA, else of this process."""
    if device.type == "cuda":
        return torch.cuda.memory_allocated(device), torch.cuda.max_memory_allocated(device)
    resident = devices.memory(str(device))[0]
    return resident, max(resident, _highest_resident())


def _highest_resident() -> int:
    """The process's highest resident size since it started, in bytes; 0 where the system doesn't say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _check_room(model: Any, prefill: int, decode: int) -> None:
    longest = getattr(model.config, "max_position_embeddings", None)
    if prefill < 1 or decode < 0:
        raise UserError("Speed needs at least one token.", hint="Choose at least 1 token.")
    if longest and prefill + decode > longest:
        raise UserError(
            "The model holds {longest} tokens, fewer than {prefill} of prompt and {decode} to decode.",
            hint="Choose fewer tokens.",
            longest=longest,
            prefill=prefill,
            decode=decode,
        )


def _vocabulary(model: Any) -> int:
    return min(getattr(model.config, "vocab_size", None) or 100, 1000)
