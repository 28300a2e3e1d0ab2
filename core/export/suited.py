"""A graph for an older onnxruntime: the IR that it reads, and a sentence where it lacks the operators.

The IR that a release reads is the one of the ONNX release that it was built with (onnxruntime's compatibility table). Operators
beyond the standard came one by one; tried: fused attention isn't opened in float32 before 1.18, and of several tokens after a cache
(a prompt in pieces, a draft) 1.18 and 1.19 compute something else; products of 8-bit codes aren't opened before 1.22. A sliding window
is one token longer in fused attention before 1.24 (tried on both sides; pull request 25927 of onnxruntime's).
"""

from __future__ import annotations

from typing import Any

from core.errors import UserError
from core.records import OnnxOptions

OLDEST = (1, 14)  # reads opset 18
FUSED = (1, 20)  # computes attention with a cache, as it's asked for here
IR = (((1, 22), 11), ((1, 18), 10), ((1, 15), 9), (OLDEST, 8))  # from this release on, this IR


def ir_of(release: tuple[int, int]) -> int:
    return next(ir for since, ir in IR if release >= since)


def suit(graph: Any, runtime: str) -> None:
    """Lowers the IR of an onnx_ir model to what onnxruntime `runtime` ('1.17') reads.

    Raises UserError where that release is too old for the graph's operators, or no release at all.
    """
    release = _release(runtime)
    _refuse(release, runtime, _needed(graph))
    graph.ir_version = min(graph.ir_version, ir_of(release))


def foresee(config: dict[str, Any], options: OnnxOptions, generates: bool) -> None:
    """Raises what `suit` would, before any work begins, as far as the model's config.json and the options tell.

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
    _refuse(_release(options.runtime), options.runtime, max(needed))


def _release(runtime: str) -> tuple[int, int]:
    major, minor = (int(part) for part in runtime.split("."))
    return major, minor


def _refuse(release: tuple[int, int], runtime: str, needed: tuple[int, int]) -> None:
    if release < needed:
        raise UserError(
            "onnxruntime {runtime} is too old for the operators of this graph, which {needed} brought.",
            hint="Name a later onnxruntime, or choose the portable profile and exact products.",
            runtime=runtime,
            needed=".".join(map(str, needed)),
        )


def _needed(graph: Any) -> tuple[int, int]:
    """The first release with all that the graph is made of."""
    needed = [OLDEST]
    for node in graph.graph:
        if node.op_type == "MatMulNBits":
            needed.append((1, 17) if node.attributes["bits"].as_int() == 4 else (1, 22))
        elif node.op_type == "GroupQueryAttention":
            needed.append(FUSED)
            if "local_window_size" in node.attributes:
                needed.append((1, 24))
    return max(needed)
