"""What an exported graph asks of the onnxruntime that opens it, foreseen from config.json and the options alone.

Nothing of ONNX is read here, so the window can ask before any work begins; what a finished graph needs is told by core.export.suited.
"""

from __future__ import annotations

from typing import Any

from core.errors import UserError
from core.records import OnnxOptions

OLDEST = (1, 14)  # reads opset 18
FUSED = (1, 20)  # computes attention with a cache, as it's asked for here


def foresee(config: dict[str, Any], options: OnnxOptions, generates: bool) -> None:
    """Raises UserError where the onnxruntime that's named is too old, as far as the model's config.json and the options tell.

    A model that can't be fused after all would need less than is foreseen here.
    """
    if not options.runtime:
        return
    text, needed = config.get("text_config") or config, [OLDEST]
    if options.profile == "fast" and generates:
        needed.append(FUSED)
        if text.get("sliding_window") and text.get("use_sliding_window", True) is not False:
            needed.append((1, 24))
    groups = ((config.get("quantization_config") or {}).get("config_groups") or {}).values()
    bits = {(group.get("weights") or {}).get("num_bits", 16) for group in groups}
    if generates and options.activations == "int8" and any(4 < n <= 8 for n in bits):
        needed.append((1, 22))
    refuse(options.runtime, max(needed))


def release_of(runtime: str) -> tuple[int, int]:
    """(1, 17) of '1.17'."""
    major, minor = (int(part) for part in runtime.split("."))
    return major, minor


def refuse(runtime: str, needed: tuple[int, int]) -> None:
    """Raises UserError where `runtime` ('1.17') is older than the release needed."""
    if release_of(runtime) < needed:
        raise UserError(
            "onnxruntime {runtime} is too old for the operators of this graph, which {needed} brought.",
            hint="Name a later onnxruntime, or choose the portable profile and exact products."
            if needed > OLDEST
            else "Name a later onnxruntime: no graph is written for one as old as this.",
            runtime=runtime,
            needed=".".join(map(str, needed)),
        )
