"""What an exported graph is made of: its operators, those beyond the ONNX standard, and where its bytes are.

Needs onnx alone, and doesn't read the weights: their sizes follow from types and shapes.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from core.export.runtime import read_graph, tensors_of

LARGEST = 12  # initializers that are listed
# operators that onnxruntime keeps in the standard's own domain, though the standard hasn't got them
UNOFFICIAL = ("SimplifiedLayerNormalization",)
PRODUCTS = ("MatMul", "Gemm", "FusedMatMul")


def contents(folder: Path) -> dict[str, Any]:
    """{operators, beyond_standard, largest, fused, products} of the graph in `folder`.

    operators: {name: nodes}, the most frequent first; beyond_standard: {domain.name: nodes}; largest: [{name, type, shape, bytes}];
    fused: {attention, norms, products} nodes, these being products of one input whose parts are told apart afterwards;
    products: {packed, widened, dense, computed}: products with a weight in packed codes, in codes that are widened, in floating point,
    and those of two computed tensors. Raises UserError as `read_graph` does.
    """
    model = read_graph(folder)
    nodes = list(model.graph.node)
    operators = Counter(node.op_type for node in nodes)
    beyond = Counter(f"{node.domain or 'ai.onnx'}.{node.op_type}" for node in nodes if node.domain or node.op_type in UNOFFICIAL)
    tensors = sorted(tensors_of(model.graph), key=size, reverse=True)
    named = (t for t in tensors if t.name)
    largest = [
        {"name": t.name, "type": onnx.TensorProto.DataType.Name(t.data_type).lower(), "shape": list(t.dims), "bytes": size(t)}
        for t, _ in zip(named, range(LARGEST), strict=False)
    ]
    return {
        "operators": dict(operators.most_common()),
        "beyond_standard": dict(beyond.most_common()),
        "largest": largest,
        "fused": {
            "attention": operators["GroupQueryAttention"],
            "norms": operators["SkipSimplifiedLayerNormalization"] + operators["SimplifiedLayerNormalization"],
            "products": _joined(nodes),
        },
        "products": _products(model),
    }


def size(tensor: onnx.TensorProto) -> int:
    """Bytes of a tensor's values, wherever they're stored."""
    count = int(np.prod(tensor.dims, dtype=np.int64))
    return count * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize


def _joined(nodes: list[onnx.NodeProto]) -> int:
    """Products that are taken apart by a Split, or by attention that takes queries, keys and values as one."""
    apart = {node.input[0] for node in nodes if node.op_type == "Split"}
    apart |= {node.input[0] for node in nodes if node.op_type == "GroupQueryAttention" and not node.input[1]}
    apart |= {name for node in nodes if node.op_type == "Add" and node.output[0] in apart for name in node.input}  # before their bias
    return sum(node.op_type in (*PRODUCTS, "MatMulNBits") and node.output[0] in apart for node in nodes)


def _products(model: onnx.ModelProto) -> dict[str, int]:
    kinds = {t.name: t.data_type for t in model.graph.initializer}
    makers = {name: node for node in model.graph.node for name in node.output}

    def weight(name: str) -> str:
        """What a product's right side comes from, through nodes that only reshape or widen a constant."""
        integers = False
        waiting, seen = [name], set()
        while waiting:
            at = waiting.pop()
            if at in seen or not at:
                continue
            seen.add(at)
            if at in kinds:
                integers |= kinds[at] in (onnx.TensorProto.INT8, onnx.TensorProto.UINT8)
            elif at not in makers:
                return "computed"  # an input of the graph
            elif makers[at].op_type != "Constant":
                waiting += makers[at].input
        return "widened" if integers else "dense"

    found = Counter({"packed": sum(node.op_type == "MatMulNBits" for node in model.graph.node)})
    found.update(weight(node.input[1]) for node in model.graph.node if node.op_type in PRODUCTS)
    return {kind: found[kind] for kind in ("packed", "widened", "dense", "computed")}
