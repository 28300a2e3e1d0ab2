"""A graph for an older onnxruntime: the IR that it reads, and a sentence where it lacks the operators.

The IR that a release reads is the one of the ONNX release that it was built with (onnxruntime's compatibility table). Operators
beyond the standard came one by one; tried: fused attention isn't opened in float32 before 1.18, and of several tokens after a cache
(a prompt in pieces, a draft) 1.18 and 1.19 compute something else; products of 8-bit codes aren't opened before 1.22. A sliding window
is one token longer in fused attention before 1.24 (tried on both sides; pull request 25927 of onnxruntime's).
"""

from __future__ import annotations

from typing import Any

from core.runtimes import FUSED, OLDEST, refuse, release_of

IR = (((1, 22), 11), ((1, 18), 10), ((1, 15), 9), (OLDEST, 8))  # from this release on, this IR


def ir_of(release: tuple[int, int]) -> int:
    return next(ir for since, ir in IR if release >= since)


def suit(graph: Any, runtime: str) -> None:
    """Lowers the IR of an onnx_ir model to what onnxruntime `runtime` ('1.17') reads.

    Raises UserError where that release is too old for the graph's operators, or no release at all.
    """
    refuse(runtime, _needed(graph))
    graph.ir_version = min(graph.ir_version, ir_of(release_of(runtime)))


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
