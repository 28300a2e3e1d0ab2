"""onnxruntime's execution providers by short names: which of them are there, and in which order a session is to ask them.

Nothing is imported here: whoever has onnxruntime hands over what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.errors import UserError

CPU = "cpu"
NAMES = {  # as Spokeshave writes it -> as onnxruntime does; the order is that of offering
    CPU: "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}
TITLES = {CPU: "CPU", "cuda": "CUDA", "directml": "DirectML", "coreml": "CoreML", "openvino": "OpenVINO"}


def offered(available: Iterable[str]) -> list[str]:
    """Those of ours among what onnxruntime says it has."""
    have = set(available)
    return [name for name, theirs in NAMES.items() if theirs in have]


def name_of(theirs: str) -> str:
    """Our name for one of onnxruntime's; its own where we have none."""
    return next((name for name, word in NAMES.items() if word == theirs), theirs)


def chosen(name: str, available: Sequence[str]) -> list[str]:
    """What to ask a session for: the provider, and the CPU for what it can't compute. '' is the CPU.

    Raises UserError where this onnxruntime hasn't got it.
    """
    wanted = NAMES.get(name or CPU)
    if wanted is None or wanted not in available:
        raise UserError(
            "This onnxruntime can't compute by {provider}: it has {available}.",
            hint="Choose one of those, or install the onnxruntime that has it.",
            kind="device",
            provider=TITLES.get(name, name),
            available=", ".join(TITLES[one] for one in offered(available)) or "none",
        )
    return [wanted] if name in ("", CPU) else [wanted, NAMES[CPU]]


def fallback_note(asked: str, got: str) -> str:
    """What to say where another provider than the one asked for took the graph on; '' where it's that one."""
    if got == (asked or CPU):
        return ""
    note = f"{TITLES.get(asked, asked)} didn't take this graph on: {TITLES.get(got, got)} computes it."
    return note
