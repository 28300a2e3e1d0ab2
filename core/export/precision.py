"""Graphs in half precision, and encoders' graphs in int8: what must hold before, and onnxruntime's own quantizer.

Half precision is traced from the model in that precision. float16 holds numbers up to 65,504, so a forward pass in float32 looks for
larger ones first. bfloat16 holds them all; a graph in it is only written where this onnxruntime computes in it.

int8 is for encoders and classifiers, whose accuracy hardly moves: weights a grid for each output, and what comes into each layer
rounded as it comes (dynamic), or on a range found before on a text (static: QuantizeLinear and DequantizeLinear around each product, as
other runtimes want it). A text generator's own quantized variants are better than either.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from core.errors import UserError
from core.records import SourceInfo
from core.run import Run

HALVES = {"float16": torch.float16, "bfloat16": torch.bfloat16}
INT8 = ("int8-dynamic", "int8-static")
HIGHEST = 65504.0  # of float16
WINDOWS, WINDOW = 32, 128  # of text, and tokens in each, that static ranges are found on
PRODUCTS = ["MatMul", "Gemm"]


def refuse(info: SourceInfo, precision: str) -> None:
    """Raises UserError where this precision can't be had, before any work begins."""
    if precision == "float32":
        return
    if info.quantization:
        raise UserError(
            "{name} is quantized already, and its graph keeps its own grid beside float32.",
            hint="Leave the precision at float32, or export the variant that it was made from.",
            kind="model",
            name=info.name,
        )
    if precision in INT8 and info.task == "diffusion":
        raise UserError("This kind of int8 is for encoders and classifiers.", hint="Choose float16 or float32.", kind="model")
    if precision in INT8 and info.task not in ("encoder", "classifier"):
        raise UserError(
            "This kind of int8 is for encoders and classifiers: a text generator changes too much by it.",
            hint="Quantize {name} here, by GPTQ or AWQ for instance, and export that variant: its grid is written as it is.",
            kind="model",
            name=info.name,
        )
    if precision == "bfloat16":
        why = why_not_bfloat16()
        if why:
            raise UserError(
                "onnxruntime can't compute in bfloat16 on this processor: {reason}",
                hint="Choose float16, which is as small, or float32.",
                kind="model",
                reason=why,
            )


def why_not_bfloat16() -> str:
    """What onnxruntime says of a product in bfloat16; '' where it computes one."""
    import onnxruntime
    from onnx import TensorProto, helper

    values = [helper.make_tensor_value_info(name, TensorProto.BFLOAT16, ["n", 2]) for name in ("x", "y")]
    weight = helper.make_tensor("w", TensorProto.BFLOAT16, [2, 2], [1.0, 0.0, 0.0, 1.0])
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "product", values[:1], values[1:], [weight])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises a kind of its own for each status
        return str(error).strip().splitlines()[0].rpartition(" : ")[2].partition(" with name")[0]
    return ""


def check_range(model: nn.Module, ask: Callable[[], Any]) -> float:
    """The largest magnitude among weights and what modules give when `ask` runs the model. Raises UserError where float16 holds no
    such number."""
    worst, where = 0.0, ""

    def note(value: float, name: str) -> None:
        nonlocal worst, where
        if not value <= worst:  # NaN too
            worst, where = value, name

    for name, parameter in model.named_parameters():
        note(float(parameter.detach().abs().max()), name)
    hooks = []
    for name, module in model.named_modules():

        def after(_, __, out, name=name):
            for found in out if isinstance(out, tuple) else (out,):
                if isinstance(found, Tensor) and found.is_floating_point() and found.numel():
                    note(float(found.abs().max()), name)

        if not list(module.children()):
            hooks.append(module.register_forward_hook(after))
    try:
        with torch.no_grad():
            ask()
    finally:
        for hook in hooks:
            hook.remove()
    if not worst <= HIGHEST:
        raise UserError(
            "float16 holds numbers up to 65,504, and {layer} of this model reaches {value:,.0f}.",
            hint="Choose float32, or bfloat16 where the runtime computes in it.",
            kind="model",
            layer=where,
            value=worst,
        )
    return worst


def halve(model: nn.Module, dtype: torch.dtype) -> None:
    """Parameters and buffers to `dtype`, as transformers loads them: rotary frequencies stay float32."""
    for parameter in model.parameters():
        parameter.data = parameter.data.to(dtype)
    for module in model.modules():
        for name, buffer in list(module.named_buffers(recurse=False)):
            if buffer.is_floating_point() and "inv_freq" not in name:
                setattr(module, name, buffer.to(dtype))


def quantize(graph: Path, precision: str, windows: Tensor | None) -> int:
    """Puts the int8 graph where the float32 one is; returns how many products stay in float32.

    windows: LongTensor (windows, tokens) that static ranges are found on. What leads out of an MLP reads a few numbers a hundred times
    as large as the others: as it comes each text has a range of its own, but one range for all is too coarse (MiniLM: vectors at a
    cosine of 0.89 with those of float32, and 0.98 without these products). So in a static graph products that narrow stay as they are.
    """
    from onnxruntime import quantization

    work = graph.with_name("int8")
    work.mkdir()
    kept: list[str] = []
    made = work / graph.name
    shared = {"per_channel": True, "weight_type": quantization.QuantType.QInt8, "use_external_data_format": False}
    logging.getLogger().addFilter(_no_advice)  # which stays: adding it again changes nothing
    if precision == "int8-dynamic":
        quantization.quantize_dynamic(graph, made, op_types_to_quantize=PRODUCTS, extra_options={"MatMulConstBOnly": True}, **shared)
    else:
        assert windows is not None
        kept = _narrowing(graph)
        quantization.quantize_static(
            graph,
            made,
            _Reader(graph, windows),
            quant_format=quantization.QuantFormat.QDQ,
            op_types_to_quantize=PRODUCTS,
            nodes_to_exclude=kept,
            activation_type=quantization.QuantType.QUInt8,
            extra_options={"MatMulConstBOnly": True},
            **shared,
        )
    _restore(made, graph)
    shutil.rmtree(work)
    return len(kept)


def _no_advice(record: logging.LogRecord) -> bool:
    """False of what onnxruntime logs at every graph: to prepare it with a script of its own, for shapes that are inferred here."""
    return "pre-processing before quantization" not in record.getMessage()


def _narrowing(graph: Path) -> list[str]:
    """Names of the products with a weight that has more inputs than outputs."""
    import onnx

    model = onnx.load(graph, load_external_data=False)
    shapes = {t.name: list(t.dims) for t in model.graph.initializer}
    found = []
    for node in model.graph.node:
        shape = shapes.get(node.input[1]) if node.op_type in PRODUCTS else None
        if shape is not None and len(shape) == 2:
            turned = any(a.name == "transB" and a.i for a in node.attribute)
            inputs, outputs = reversed(shape) if turned else shape
            if inputs > outputs:
                found.append(node.name)
    return found


def _restore(made: Path, graph: Path) -> None:
    """What the quantizer made, with the graph's own names of axes and maker, written over `graph` and its data."""
    import onnx_ir

    old, new = onnx_ir.load(graph), onnx_ir.load(made)
    for mine, theirs in ((new.graph.inputs, old.graph.inputs), (new.graph.outputs, old.graph.outputs)):
        for value, was in zip(mine, theirs, strict=True):
            value.shape = was.shape
    new.producer_name, new.producer_version = "spokeshave", None
    new.ir_version = old.ir_version  # as an older runtime reads it
    new.metadata_props.clear()
    for value in new.graph.initializers.values():  # read before the files they came from go
        if value.const_value is not None:
            value.const_value = onnx_ir.Tensor(value.const_value.numpy().copy(), dtype=value.const_value.dtype, name=value.name)
    data = {t.const_value.location for t in old.graph.initializers.values() if isinstance(t.const_value, onnx_ir.ExternalTensor)}
    del old
    for name in data:
        (graph.parent / name).unlink()
    graph.unlink()
    onnx_ir.save(new, graph, external_data=sorted(data)[0] if data else f"{graph.name}.data")


class _Reader:
    """The windows, as onnxruntime's calibration asks for them: one after the other, then None."""

    def __init__(self, graph: Path, windows: Tensor):
        import onnx

        self.names = [v.name for v in onnx.load(graph, load_external_data=False).graph.input]
        self.rows: Iterator[Tensor] = iter(windows)

    def get_next(self) -> dict[str, np.ndarray] | None:
        row = next(self.rows, None)
        if row is None:
            return None
        ids = row[None].numpy()
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return {name: feeds[name] for name in self.names}


def calibration_windows(tokenizer: Any, info: SourceInfo, text: str, run: Run) -> tuple[Tensor, list[str]]:
    """(ids (windows, tokens), notes) as the quantization methods draw them. text: a file's path; '': the text that comes along."""
    from core.data.text import read_text
    from core.methods.calibration import CalibrationParams, draw
    from resources import TRAIN_TEXT

    return draw(read_text(text or TRAIN_TEXT), tokenizer, CalibrationParams(windows=WINDOWS, context=WINDOW), info, 0, run)


class Session(nn.Module):
    """An exported classifier that's called as transformers' are, so that it's scored by the same code."""

    def __init__(self, folder: Path):
        super().__init__()
        import transformers

        from core.export.runtime import open_session

        self.session = open_session(folder)
        self.config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
        self.place = nn.Parameter(torch.zeros(0), requires_grad=False)  # where its inputs are to be: on the CPU

    def forward(self, **fed: Tensor) -> Any:
        from transformers.modeling_outputs import SequenceClassifierOutput

        kinds = torch.zeros_like(fed["input_ids"])  # one text is of type 0, and not every tokenizer says so
        feeds = {i.name: fed.get(i.name, kinds).numpy() for i in self.session.get_inputs()}
        return SequenceClassifierOutput(logits=torch.from_numpy(self.session.run(["logits"], feeds)[0].astype(np.float32)))
