"""Products of one tensor become one, and what comes out is what came out before, to the last bit where the kernels allow it."""

import numpy as np
import onnx
import onnx_ir
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from core.export import wide

RANDOM = np.random.default_rng(0)
WIDTH = 32


def model_of(nodes, stored, inputs=("x",), outputs=("a", "b")) -> onnx_ir.Model:
    values = lambda names: [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", None]) for name in names]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", WIDTH]) for name in inputs]
    tensors = [numpy_helper.from_array(array, name) for name, array in stored.items()]
    graph = helper.make_graph(nodes, "graph", given, values(outputs), tensors)
    for name, array in stored.items():  # the tracer tells the shapes of weights
        graph.value_info.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)], ir_version=10)
    return onnx_ir.from_proto(made)


def answers(model: onnx_ir.Model, **feeds) -> list[np.ndarray]:
    proto = onnx_ir.to_proto(model)
    onnx.checker.check_model(proto)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def compare(model: onnx_ir.Model, **feeds) -> dict[str, int]:
    """Joins, and compares before with after."""
    before = answers(model, **feeds)
    made = wide.join_products(model)
    for old, new in zip(before, answers(model, **feeds), strict=True):
        assert np.allclose(old, new, rtol=1e-6, atol=1e-6)
        assert old.shape == new.shape
    return made


def weights(*widths: int) -> dict[str, np.ndarray]:
    return {
        f"layer.{name}.weight": RANDOM.normal(size=(WIDTH, width)).astype(np.float32) for name, width in zip("abcdef", widths, strict=False)
    }


def products(stored: dict[str, np.ndarray], ends: str = "") -> list:
    names = [name.split(".")[1] for name in stored]
    return [helper.make_node("MatMul", ["x", f"layer.{n}.weight"], [n + ends], name=f"layer.{n}.matmul") for n in names]


def ops(model: onnx_ir.Model) -> list[str]:
    return [node.op_type for node in model.graph]


X = RANDOM.normal(size=(3, WIDTH)).astype(np.float32)


def doubled(*names: str) -> list:
    """Uses of the products: 'a0' -> 'a'."""
    return [helper.make_node("Add", [name + "0", name + "0"], [name]) for name in names]


def test_dense_products_become_one_and_a_split():
    stored = weights(24, 40)
    model = model_of([*products(stored, "0"), *doubled("a", "b")], stored)
    assert compare(model, x=X) == {"joined": 1, "nbits": 0}
    assert ops(model) == ["MatMul", "Split", "Add", "Add"]
    assert "layer.a+b.weight" in model.graph.initializers
    assert not set(stored) & set(model.graph.initializers)  # not stored twice


def test_biases_go_along_and_a_missing_one_is_nothing():
    stored = weights(24, 40)
    stored["bias"] = RANDOM.normal(size=24).astype(np.float32)
    nodes = [*products({n: a for n, a in stored.items() if n != "bias"}, "0")]
    nodes += [
        helper.make_node("Add", ["bias", "a0"], ["a1"]),
        helper.make_node("Sigmoid", ["a1"], ["a"]),
        helper.make_node("Sigmoid", ["b0"], ["b"]),
    ]
    model = model_of(nodes, stored)
    assert compare(model, x=X)["joined"] == 1
    assert ops(model) == ["MatMul", "Add", "Split", "Sigmoid", "Sigmoid"]


def test_codes_that_are_widened_on_loading_are_put_together_there():
    stored = {f"layer.{n}.codes": RANDOM.integers(-8, 8, (width, WIDTH)).astype(np.int8) for n, width in (("a", 16), ("b", 8))}
    nodes = []
    for n in "ab":
        nodes += [helper.make_node("Cast", [f"layer.{n}.codes"], [f"{n}.wide"], to=TensorProto.FLOAT)]
        nodes += [helper.make_node("Transpose", [f"{n}.wide"], [f"{n}.turned"], perm=[1, 0])]
        nodes += [helper.make_node("MatMul", ["x", f"{n}.turned"], [n + "0"], name=f"layer.{n}.matmul")]
    model = model_of([*nodes, *doubled("a", "b")], stored)
    for node in model.graph:  # as the tracer leaves them
        if node.op_type == "Transpose":
            node.outputs[0].shape = onnx_ir.Shape([WIDTH, 16 if node.outputs[0].name == "a.turned" else 8])
            node.outputs[0].dtype = onnx_ir.DataType.FLOAT
    assert compare(model, x=X)["joined"] == 1
    assert ops(model).count("MatMul") == 1
    assert set(model.graph.initializers) >= set(stored)  # the codes themselves are as they were


@pytest.mark.parametrize("zeros", [False, True])
def test_packed_products_of_one_grid(zeros):
    stored, nodes = {}, []
    for name, width in (("a", 16), ("b", 48)):
        stored[f"layer.{name}.codes"] = RANDOM.integers(0, 256, (width, 1, 16)).astype(np.uint8)
        stored[f"layer.{name}.scales"] = RANDOM.random(width).astype(np.float32)
        stored[f"layer.{name}.zeros"] = RANDOM.integers(0, 256, width).astype(np.uint8)
        parts = ("codes", "scales", "zeros") if zeros else ("codes", "scales")
        settings = {"K": WIDTH, "N": width, "bits": 4, "block_size": 32, "accuracy_level": 1}
        nodes.append(
            helper.make_node("MatMulNBits", ["x", *(f"layer.{name}.{p}" for p in parts)], [name + "0"], domain="com.microsoft", **settings)
        )
    if not zeros:
        stored = {name: array for name, array in stored.items() if "zeros" not in name}
    model = model_of([*nodes, *doubled("a", "b")], stored)
    assert compare(model, x=X) == {"joined": 1, "nbits": 1}
    node = next(n for n in model.graph if n.op_type == "MatMulNBits")
    assert node.attributes["N"].as_int() == 64


def test_of_other_grids_each_stays():
    stored, nodes = {}, []
    for name, block in (("a", 32), ("b", 16)):
        stored[f"{name}.codes"] = RANDOM.integers(0, 256, (16, WIDTH // block, block // 2)).astype(np.uint8)
        stored[f"{name}.scales"] = RANDOM.random(16 * WIDTH // block).astype(np.float32)
        settings = {"K": WIDTH, "N": 16, "bits": 4, "block_size": block}
        nodes.append(
            helper.make_node("MatMulNBits", ["x", f"{name}.codes", f"{name}.scales"], [name + "0"], domain="com.microsoft", **settings)
        )
    model = model_of([*nodes, *doubled("a", "b")], stored)
    assert compare(model, x=X) == {"joined": 0, "nbits": 0}


def test_what_is_left_alone():
    """Two inputs, a weight that something else reads, a product that is an output, a right side that's computed, and too many."""
    stored = weights(16, 16)
    nodes = products(stored, "0")
    nodes[1].input[0] = "y"
    model = model_of([*nodes, *doubled("a", "b")], stored, inputs=("x", "y"))
    assert compare(model, x=X, y=X)["joined"] == 0
    model = model_of([*products(stored, "0"), *doubled("a"), helper.make_node("MatMul", ["b0", "turned"], ["b"]),
                      helper.make_node("Transpose", ["layer.b.weight"], ["turned"])][::1], stored)  # fmt: skip
    model.graph.sort()
    assert compare(model, x=X)["joined"] == 0
    assert compare(model_of(products(stored), stored), x=X)["joined"] == 0
    square = RANDOM.normal(size=(WIDTH, WIDTH)).astype(np.float32)
    computed = [helper.make_node("MatMul", ["x", "y"], [n + "0"]) for n in "ab"]
    assert compare(model_of([*computed, *doubled("a", "b")], {}, inputs=("x", "y")), x=X, y=square)["joined"] == 0
    many = weights(8, 8, 8, 8, 8)
    nodes = [*products(many, "0"), *doubled(*"abcde")]
    assert compare(model_of(nodes, many, outputs=tuple("abcde")), x=X)["joined"] == 0


def test_names_say_what_was_joined():
    assert wide._together(["layers.0.q_proj.codes", "layers.0.k_proj.codes"]) == "layers.0.q_proj+k_proj.codes"
    assert wide._together(["a.b", "c"]) == "a.b+c"
