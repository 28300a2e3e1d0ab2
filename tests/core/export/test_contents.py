"""The look inside a graph, and graphs for older runtimes."""

import numpy as np
import onnx
import onnx_ir
import pytest
from onnx import TensorProto, helper, numpy_helper

from core.errors import UserError
from core.export.contents import contents
from core.export.suited import ir_of, suit


def graph(nodes, stored) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 32]), helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    made = helper.make_graph(nodes, "g", values[:1], values[1:], [numpy_helper.from_array(v, n) for n, v in stored.items()])
    domains = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(made, opset_imports=domains, ir_version=10)


def packed(bits: int) -> onnx.NodeProto:
    settings = {"K": 32, "N": 32, "bits": bits, "block_size": 32}
    return helper.make_node("MatMulNBits", ["x", "codes", "scales"], ["y"], domain="com.microsoft", **settings)


def test_products_are_told_apart_by_their_weights(tmp_path):
    nodes = [
        packed(4),
        helper.make_node("Cast", ["whole"], ["a"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["a", "factors"], ["b"]),
        helper.make_node("MatMul", ["y", "b"], ["c"]),
        helper.make_node("MatMul", ["c", "dense"], ["d"]),
        helper.make_node("MatMul", ["d", "x"], ["e"]),
        helper.make_node("SimplifiedLayerNormalization", ["e", "factors"], ["f"]),
    ]
    stored = {
        "codes": np.zeros((32, 1, 16), np.uint8),
        "scales": np.ones(32, np.float32),
        "whole": np.zeros((32, 32), np.int8),
        "factors": np.ones(32, np.float32),
        "dense": np.zeros((32, 32), np.float32),
    }
    onnx.save(graph(nodes, stored), tmp_path / "model.onnx")
    found = contents(tmp_path)
    assert found["products"] == {"packed": 1, "widened": 1, "dense": 1, "computed": 1}
    assert found["beyond_standard"] == {"com.microsoft.MatMulNBits": 1, "ai.onnx.SimplifiedLayerNormalization": 1}
    assert found["operators"]["MatMul"] == 3
    assert [(t["name"], t["bytes"]) for t in found["largest"][:3]] == [("dense", 4096), ("whole", 1024), ("codes", 512)]


@pytest.mark.parametrize(("release", "ir"), [((1, 14), 8), ((1, 17), 9), ((1, 18), 10), ((1, 21), 10), ((1, 30), 11)])
def test_the_ir_that_a_release_reads(release, ir):
    assert ir_of(release) == ir


def test_a_runtime_that_lacks_an_operator_is_told(tmp_path):
    stored = {"codes": np.zeros((32, 1, 32), np.uint8), "scales": np.ones(32, np.float32)}
    eight = onnx_ir.from_proto(graph([packed(8)], stored))
    with pytest.raises(UserError, match=r"onnxruntime 1\.17 is too old for the operators of this graph, which 1\.22 brought"):
        suit(eight, "1.17")
    assert eight.ir_version == 10
    four = onnx_ir.from_proto(graph([packed(4)], stored))
    suit(four, "1.17")
    assert four.ir_version == 9
    suit(four, "1.32")
    assert four.ir_version == 9  # never raised
    with pytest.raises(UserError, match=r"which 1\.14 brought"):
        suit(onnx_ir.from_proto(graph([helper.make_node("Relu", ["x"], ["y"])], {})), "1.9")


def test_a_sliding_window_needs_a_runtime_that_counts_it_right():
    """onnxruntime 1.23 opens such a graph and looks back one token too far."""

    def attention(**settings):
        return helper.make_node("GroupQueryAttention", ["x"], ["y"], domain="com.microsoft", num_heads=2, kv_num_heads=2, **settings)

    suit(onnx_ir.from_proto(graph([attention()], {})), "1.20")
    with pytest.raises(UserError, match=r"which 1\.20 brought"):  # 1.18 and 1.19 open it, and take several tokens after a cache wrongly
        suit(onnx_ir.from_proto(graph([attention()], {})), "1.19")
    suit(onnx_ir.from_proto(graph([attention(local_window_size=8)], {})), "1.24")
    with pytest.raises(UserError, match=r"which 1\.24 brought"):
        suit(onnx_ir.from_proto(graph([attention(local_window_size=8)], {})), "1.23")
