"""Products that read the same tensor, as one product of a wider weight: queries, keys and values; the two ways into an MLP.

A token's step through a small decoder is a hundred short products, each of which costs a call, a pass over what comes in (rounded to
int8 anew where products are rounded) and, with several threads, a meeting of all. Three into one, and the attention takes what comes
out as it is; where something else reads it, a Split gives each its part. Every output is the same sum as before.

Works on a finished graph: dense weights, packed ones of the same grid (MatMulNBits), and codes that are widened on loading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx_ir

PRODUCTS = ("MatMul", "MatMulNBits")
MOST = 4  # products that are joined: more of one tensor is another pattern, as of all layers that read an encoder's output


@dataclass(slots=True)
class _Product:
    node: onnx_ir.Node
    end: onnx_ir.Value  # what it puts out, its bias added
    bias: onnx_ir.Value | None
    width: int


def join_products(model: onnx_ir.Model) -> dict[str, int]:
    """{'joined': how many wider products there are now, 'nbits': how many nodes of packed weights fewer}"""
    graph, made = model.graph, {"joined": 0, "nbits": 0}
    for group in list(_groups(graph)):
        _join(graph, group)
        made["joined"] += 1
        if group[0].node.op_type == "MatMulNBits":
            made["nbits"] += len(group) - 1
    if made["joined"]:
        graph.sort()
    return made


def _groups(graph: onnx_ir.Graph) -> Iterator[list[_Product]]:
    """Products of one tensor whose weights can be put beside each other, in the attention's order where that reads them."""
    found: dict[tuple, list[_Product]] = {}
    for node in graph:
        product = _product(node)
        if product is not None:
            found.setdefault((node.inputs[0], _grid(node), _derived(node)), []).append(product)
    for group in found.values():
        if 2 <= len(group) <= MOST:
            attention = _attention(group)
            yield group if attention is None else sorted(group, key=lambda product: list(attention.inputs).index(product.end))


def _product(node: onnx_ir.Node) -> _Product | None:
    if node.op_type not in PRODUCTS or len(node.outputs) != 1 or node.outputs[0].is_graph_output():
        return None
    if node.op_type == "MatMulNBits":
        if any(x is not None and not x.is_initializer() for x in node.inputs[1:]):
            return None
        width = node.attributes["N"].as_int()
    else:
        weight = node.inputs[1]
        if weight.shape is None or len(weight.shape) != 2 or not isinstance(weight.shape[1], int) or not _constant(weight):
            return None
        width = weight.shape[1]
    shared = [x for x in node.inputs[1:] if x is not None and x.is_initializer() and len(list(x.uses())) > 1]
    if shared:  # another reads it too, as an embedding does: it would be stored twice
        return None
    end, bias = _biased(node.outputs[0], width)
    return _Product(node, end, bias, width)


def _biased(out: onnx_ir.Value, width: int) -> tuple[onnx_ir.Value, onnx_ir.Value | None]:
    users = [user for user, _ in out.uses()]
    if len(users) == 1 and users[0].op_type == "Add" and not users[0].outputs[0].is_graph_output():
        other = next((x for x in users[0].inputs if x is not out), None)
        if other is not None and other.is_initializer() and other.shape is not None and list(other.shape) == [width]:
            return users[0].outputs[0], other
    return out, None


def _grid(node: onnx_ir.Node) -> tuple:
    if node.op_type == "MatMul":
        return ("MatMul", node.inputs[1].dtype)
    settings = {name: a.as_int() for name, a in node.attributes.items() if name != "N"}
    return ("MatMulNBits", *sorted(settings.items()), *(x is not None for x in node.inputs[1:]))


def _derived(node: onnx_ir.Node) -> bool:
    """Whether its weight is computed from stored codes, when the file is loaded."""
    return node.op_type == "MatMul" and not node.inputs[1].is_initializer()


def _constant(value: onnx_ir.Value) -> bool:
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if at is None or at.is_initializer():
            continue
        node = at.producer()
        if node is None:  # an input of the graph
            return False
        waiting += node.inputs
    return True


def _attention(group: list[_Product]) -> onnx_ir.Node | None:
    """The attention that reads these products, all of them and nothing else, and that alone; None where there's no such."""
    users = [list(product.end.uses()) for product in group]
    if len(group) != 3 or any(len(found) != 1 for found in users):
        return None
    node = users[0][0][0]
    if node.op_type != "GroupQueryAttention" or {product.end for product in group} != set(node.inputs[:3]):
        return None
    return node


def _join(graph: onnx_ir.Graph, group: list[_Product]) -> None:
    first = min((product.node for product in group), key=list(graph).index)
    name = _together([product.node.name or f"product.{product.node.outputs[0].name}" for product in group])
    width = sum(product.width for product in group)
    attributes = [onnx_ir.AttrInt64("N", width) if a.name == "N" else a for a in first.attributes.values()]
    inputs = [first.inputs[0]]
    for index in range(1, len(first.inputs)):
        parts = [product.node.inputs[index] for product in group]
        inputs.append(None if parts[0] is None else _beside(graph, first, parts, axis=1 if first.op_type == "MatMul" else 0))
    out = _add(graph, first, first.op_type, inputs, attributes, name, first.domain)
    _describe(out, first.outputs[0], width)
    if any(product.bias is not None for product in group):
        given = {index: product.bias.const_value.numpy() for index, product in enumerate(group) if product.bias is not None}
        dtype = next(iter(given.values())).dtype
        biases = [given.get(index, np.zeros(product.width, dtype)) for index, product in enumerate(group)]
        stored = _store(graph, np.concatenate(biases), _together([p.bias.name for p in group if p.bias is not None]))
        out = _add(graph, first, "Add", [out, stored], [], f"{name}.bias")
        _describe(out, first.outputs[0], width)
    attention = _attention(group)
    if attention is not None:  # it takes the three as one
        attention.replace_input_with(0, out)
        for index in (1, 2):
            attention.replace_input_with(index, None)
    else:
        sizes = _store(graph, np.array([product.width for product in group], np.int64), f"{name}.widths")
        split = onnx_ir.node("Split", [out, sizes], {"axis": -1}, num_outputs=len(group), name=f"{name}.split")
        graph.insert_before(first, split)
        for part, product in zip(split.outputs, group, strict=True):
            part.name = f"{product.end.name}.part"
            _describe(part, product.end, product.width)
            product.end.replace_all_uses_with(part)
    _remove(graph, group)


def _describe(value: onnx_ir.Value, like: onnx_ir.Value, width: int) -> None:
    """The type and shape of another whose last axis is as wide as said."""
    if like.dtype is not None:
        value.dtype = like.dtype
    if like.shape is not None:
        value.shape = onnx_ir.Shape([*like.shape[:-1], width])


def _add(graph: onnx_ir.Graph, before: onnx_ir.Node, op_type: str, inputs, attributes, name: str, domain: str = "") -> onnx_ir.Value:
    node = onnx_ir.Node(domain, op_type, inputs, attributes, name=name)
    node.outputs[0].name = f"{name}.out"
    graph.insert_before(before, node)
    return node.outputs[0]


def _side_by_side(parts: list[onnx_ir.TensorProtocol], axis: int) -> onnx_ir.LazyTensor:
    """Put together each time it's read, one at a time while the file is written, so that no second copy of a model's weights is held."""
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)

    def together() -> onnx_ir.Tensor:
        return onnx_ir.Tensor(np.concatenate([part.numpy() for part in parts], axis))

    return onnx_ir.LazyTensor(together, dtype=parts[0].dtype, shape=onnx_ir.Shape(shape))


def _store(graph: onnx_ir.Graph, array: np.ndarray | onnx_ir.LazyTensor, name: str) -> onnx_ir.Value:
    while name in graph.initializers:
        name += "+"
    tensor = onnx_ir.Tensor(array) if isinstance(array, np.ndarray) else array
    tensor.name = name
    value = onnx_ir.Value(name=name, shape=tensor.shape, type=onnx_ir.TensorType(tensor.dtype), const_value=tensor)
    graph.register_initializer(value)
    return value


def _beside(graph: onnx_ir.Graph, before: onnx_ir.Node, parts: list[onnx_ir.Value], axis: int) -> onnx_ir.Value:
    """Stored tensors as one; those that are computed when the file is loaded are put together then, which runtimes fold too."""
    name = _together([part.name for part in parts])
    if all(part.is_initializer() for part in parts):
        return _store(graph, _side_by_side([part.const_value for part in parts], axis), name)
    out = _add(graph, before, "Concat", parts, [onnx_ir.AttrInt64("axis", axis)], name)
    if parts[0].dtype is not None:
        out.dtype = parts[0].dtype
    return out


def _remove(graph: onnx_ir.Graph, group: list[_Product]) -> None:
    """The products and their weights, so that what was copied is given back before the next is."""
    for product in group:
        nodes = [product.node] if product.end is product.node.outputs[0] else [product.end.producer(), product.node]
        inputs = [x for node in nodes for x in node.inputs if x is not None]
        for node in nodes:
            graph.remove(node, safe=True)
        for value in inputs:
            if value.is_initializer() and not value.uses():
                del graph.initializers[value.name]


def _together(names: list[str]) -> str:
    """'layers.0.q_proj.codes', 'layers.0.k_proj.codes' -> 'layers.0.q_proj+k_proj.codes'"""
    split = [name.split(".") for name in names]
    if len({len(parts) for parts in split}) > 1:
        return "+".join(names)
    return ".".join(column[0] if len(set(column)) == 1 else "+".join(column) for column in zip(*split, strict=True))
