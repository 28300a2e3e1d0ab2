"""Devices: which there are, which one a name means, what's free on them, and in which precision they compute.

Covers the CPU, CUDA and Apple's MPS. Changes no global setting of torch.
"""

from __future__ import annotations

import platform

import psutil
import torch

from core.errors import UserError
from core.params import nearest
from core.records import DeviceInfo

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16, "float64": torch.float64}
STORED = {"F64": torch.float64, "F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}  # safetensors' names


def devices() -> tuple[DeviceInfo, ...]:
    """The devices of this machine, best first; the CPU is always the last."""
    out = []
    if torch.cuda.is_available():
        for index in range(torch.cuda.device_count()):
            free, total = torch.cuda.mem_get_info(index)
            out.append(DeviceInfo(name=f"cuda:{index}", title=torch.cuda.get_device_name(index), total_bytes=total, free_bytes=free))
    if torch.backends.mps.is_available():
        total = torch.mps.recommended_max_memory()
        out.append(DeviceInfo(name="mps", title="Apple GPU", total_bytes=total, free_bytes=total - torch.mps.driver_allocated_memory()))
    memory = psutil.virtual_memory()
    title = platform.processor() or platform.machine() or "CPU"
    out.append(DeviceInfo(name="cpu", title=title, total_bytes=memory.total, free_bytes=memory.available))
    return tuple(out)


def choose(name: str = "auto") -> str:
    """The device as torch names it; 'auto' is cuda:0, else mps, else cpu, and 'cuda' is cuda:0. Raises UserError (kind 'device')."""
    wanted = (name or "auto").strip().lower()
    if wanted == "cpu":
        return "cpu"
    cuda = torch.cuda.is_available()
    if wanted == "auto":
        return "cuda:0" if cuda else "mps" if torch.backends.mps.is_available() else "cpu"
    kind, _, index = wanted.partition(":")
    if kind == "cuda" and (not index or index.isdecimal()):
        if not cuda:
            raise _absent(wanted)
        if int(index or 0) >= torch.cuda.device_count():
            raise _absent(wanted)
        return f"cuda:{int(index or 0)}"
    if wanted in ("mps", "mps:0"):
        if not torch.backends.mps.is_available():
            raise _absent(wanted)
        return "mps"
    raise UserError(
        "There is no device called {name}.{suggestion}",
        hint="Choose auto, cpu, cuda:0 or mps.",
        kind="device",
        name=name,
        suggestion=nearest(wanted, ("auto", "cpu", "cuda", "cuda:0", "mps")),
    )


def _absent(name: str) -> UserError:
    return UserError(
        "This machine has no {name} that torch can use.",
        hint="It has: {known}.",
        kind="device",
        name=name,
        known=", ".join(d.name for d in devices()),
    )


def memory(device: str = "cpu") -> tuple[int, int | None, int | None]:
    """(resident bytes of this process, bytes it holds on the accelerator or None, bytes free there or None).

    Where `device` is the CPU an accelerator is reported only if this process already uses it, so that asking
    doesn't start CUDA.
    """
    resident = psutil.Process().memory_info().rss
    if device.startswith("cuda") or (torch.cuda.is_available() and torch.cuda.is_initialized()):
        index = torch.device(device).index or 0 if device.startswith("cuda") else torch.cuda.current_device()
        return resident, torch.cuda.memory_reserved(index), torch.cuda.mem_get_info(index)[0]
    if device == "mps":
        used = torch.mps.driver_allocated_memory()
        return resident, used, torch.mps.recommended_max_memory() - used
    return resident, None, None


def free_bytes(device: str) -> int:
    """What a job on `device` could still take, in bytes."""
    if device.startswith("cuda"):
        return torch.cuda.mem_get_info(torch.device(device).index or 0)[0]
    if device == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    return psutil.virtual_memory().available


def dtype_for(name: str, device: str, stored: str | None = None) -> torch.dtype:
    """The dtype to compute in. 'auto' is float32 on cpu and mps, and the stored dtype on cuda.

    `stored` is a dtype as torch ('bfloat16') or safetensors ('BF16') names it; None or a packed one counts as float32.
    """
    wanted = (name or "auto").removeprefix("torch.")
    if wanted == "auto":
        if not device.startswith("cuda") or stored is None:
            return torch.float32
        return STORED.get(stored) or DTYPES.get(stored.removeprefix("torch."), torch.float32)
    if wanted not in DTYPES:
        raise UserError(
            "{name} isn't a precision to compute in.{suggestion}",
            hint="Choose auto, float32, bfloat16 or float16.",
            name=name,
            suggestion=nearest(wanted, ("auto", *DTYPES)),
        )
    return DTYPES[wanted]


def multiplies_bfloat16() -> bool:
    """Whether the CPU has instructions for it; without them bfloat16 is emulated and several times slower than float32."""
    asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")  # torch has no public name for it; one that's gone counts as no
    return any(getattr(torch.cpu, name, lambda: False)() for name in asked)
