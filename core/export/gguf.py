"""Exporting a model's folder as a GGUF file, what llama.cpp and the programs built on it run.

`export` loads the folder, writes weights, configuration and tokenizer into a temporary folder beside the target, reads the file
back (its header here, the whole of it by plain transformers in a fresh process), and only then renames it into place. A quantized
variant keeps its own grid where a type of GGUF's holds it (core.export.gguf_blocks); otherwise it's dequantized and rounded again,
and that is said.

Covers decoders like Llama: llama, mistral, qwen2, qwen3, gemma2 and gemma3 (text), with the rotary scalings that llama.cpp knows.
llama.cpp's own order of rotary rows is met (Llama's q and k are permuted), and its norms of Gemma, which have 1 added.
Not covered: other architectures, mixtures of experts, vision, importance matrices.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from gguf import GGMLQuantizationType as Type
from gguf import GGUFWriter, LlamaFileType, RopeScalingType, get_tensor_name_map
from gguf.constants import MODEL_ARCH

import core
from core.errors import Cancelled, UserError, explain
from core.export import gguf_blocks as blocks
from core.export import gguf_probe, gguf_tokenizer
from core.export.parity import sample_ids
from core.export.target import MADE_BY, REPORT, check_target, move_into_place, partial
from core.models import gguf_file
from core.records import SourceInfo, now
from core.run import Run
from core.workspace import write_atomically

LIMIT = 1e-3  # largest difference of a logit between what was written and what plain transformers reads
TOKENS = 256
TEXT = 20_000  # characters of the held-out text that both tokenizers split
MEMORY_FACTOR = 3.0  # peak over the float32 weights: the model, and the reader's own in its process
KINDS = ("auto", "f32", "f16", "bf16", "q8_0", "q4_0", "q4_k")
TYPES = {"f32": Type.F32, "f16": Type.F16, "bf16": Type.BF16, "q8_0": Type.Q8_0, "q4_0": Type.Q4_0, "q4_k": Type.Q4_K}
FILE_TYPES = {
    Type.F32: LlamaFileType.ALL_F32,
    Type.F16: LlamaFileType.MOSTLY_F16,
    Type.BF16: LlamaFileType.MOSTLY_BF16,
    Type.Q8_0: LlamaFileType.MOSTLY_Q8_0,
    Type.Q4_0: LlamaFileType.MOSTLY_Q4_0,
    Type.Q4_1: LlamaFileType.MOSTLY_Q4_1,
    Type.Q5_0: LlamaFileType.MOSTLY_Q5_0,
    Type.Q5_1: LlamaFileType.MOSTLY_Q5_1,
    Type.Q4_K: LlamaFileType.MOSTLY_Q4_K_S,
}
# where a row isn't a whole number of blocks, as llama.cpp falls back
NARROWER = {Type.Q4_K: Type.Q5_0, Type.Q4_0: Type.F16, Type.Q5_0: Type.F16, Type.Q8_0: Type.F16}


@dataclass(frozen=True, slots=True)
class Architecture:
    """How a model_type of transformers is written. pattern: of sliding layers, as llama.cpp has it built in (every n-th is full)."""

    name: str
    arch: MODEL_ARCH
    permuted: bool = False  # rows of q and k in the order of interleaved rotary pairs
    norm_plus: float = 0.0
    activation: str = "silu"
    pattern: int = 0
    largest: int = 0  # layers of the size whose attention is scaled by the width of its heads in the residual stream


ARCHITECTURES = {
    "llama": Architecture("llama", MODEL_ARCH.LLAMA, permuted=True),
    "mistral": Architecture("llama", MODEL_ARCH.LLAMA, permuted=True),
    "qwen2": Architecture("qwen2", MODEL_ARCH.QWEN2),
    "qwen3": Architecture("qwen3", MODEL_ARCH.QWEN3),
    "gemma2": Architecture("gemma2", MODEL_ARCH.GEMMA2, norm_plus=1.0, activation="gelu_pytorch_tanh", pattern=2, largest=46),
    "gemma3_text": Architecture("gemma3", MODEL_ARCH.GEMMA3, norm_plus=1.0, activation="gelu_pytorch_tanh", pattern=6, largest=62),
}
# settings of transformers' that change what is computed; a reader has to find each in the file, or know it
SETTINGS = (
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "rms_norm_eps",
    "rope_parameters",
    "hidden_act",
    "hidden_activation",
    "attention_bias",
    "mlp_bias",
    "tie_word_embeddings",
    "sliding_window",
    "use_sliding_window",
    "layer_types",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "query_pre_attn_scalar",
)


def export(folder: Path, to: Path, run: Run, *, kind: str = "auto", name: str = "", overwrite: bool = False) -> dict[str, Any]:
    """Exports the model in `folder` to the new folder `to` (one .gguf and a report); returns the report.

    kind: one of KINDS; 'auto' keeps a quantized variant's own grid, and its other weights as they are, and is q8_0 for a dense model.
    name: of the file, without its ending; the folder's by default. overwrite: replaces an earlier export of Spokeshave's at `to`.
    The report: {format, file, kind, types, max_abs, top1, kl, tokens, reread, checks, bytes, notes, seconds, ...}; max_abs, top1 and kl
    are of the file against the model as it was, over `tokens` tokens; `reread` against the numbers that were written.
    Raises UserError: the target is taken or can't be written to, an architecture or tokenizer that isn't exported, too little
    memory, a check that failed (kind 'check'). Cancelled between tensors. After either, nothing is left behind.
    """
    if kind not in KINDS:
        raise ValueError(f"{kind}: one of {KINDS}")
    folder, to = Path(folder), Path(to).absolute()
    begun = time.perf_counter()
    try:
        check_target(to, overwrite)
        with partial(to) as work:
            made = work / "export"
            made.mkdir()
            report = _make(folder, made, run, kind, _file_name(name or folder.name))
            report["seconds"]["total"] = time.perf_counter() - begun
            write_atomically(made / REPORT, json.dumps(report, indent=1))
            run.check_cancelled()
            check_target(to, overwrite)
            move_into_place(made, to, work)
    except (UserError, Cancelled):
        raise
    except Exception as error:
        raise explain(error, detail=traceback.format_exc()) from error
    run.log(f"Exported to {to}: {report['file']}, {report['bytes'] / 1e6:.1f} MB, KL {report['kl']:.2g}.")
    return report


def _file_name(name: str) -> str:
    clean = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip("-.")
    return clean or "model"


def _make(folder: Path, made: Path, run: Run, kind: str, name: str) -> dict[str, Any]:
    import torch
    import transformers

    from core.models.load import load

    seconds: dict[str, float] = {}
    clock = time.perf_counter()

    def lap(key: str) -> None:
        nonlocal clock
        seconds[key], clock = time.perf_counter() - clock, time.perf_counter()

    run.stage("Loading")
    loaded = load(folder, device="cpu", dtype="float32", packed=True)
    model, config = loaded.model, loaded.model.config
    _room(loaded.info)
    architecture = _architecture(loaded.info, config)
    vocabulary = gguf_tokenizer.describe(folder, loaded.tokenizer, config.vocab_size) if loaded.tokenizer is not None else None
    lap("load")
    run.stage("Asking the original")
    ids = sample_ids(loaded.tokenizer, config.vocab_size, min(TOKENS, loaded.info.context or TOKENS))
    before = _answers(model, ids)
    lap("reference")
    plan = _plan(model, architecture, kind, folder)
    path = made / f"{name}-{plan.label}.gguf"
    writer = GGUFWriter(path, architecture.name)
    _write_fields(writer, architecture, config, name, plan)
    if vocabulary is None:
        writer.add_tokenizer_model("none")
    else:
        gguf_tokenizer.write(writer, vocabulary, loaded.tokenizer)
    _write_tensors(writer, plan, run)
    lap("write")
    run.stage("Asking what was written")
    after = _answers(model, ids)
    settings = {key: getattr(config, key) for key in SETTINGS if hasattr(config, key)}
    tokenizer, found_info = loaded.tokenizer, loaded.info
    exact = _check_header(path, plan, architecture, config)
    del model, loaded, plan.weights
    lap("answers")
    run.stage("Reading it back")
    with tempfile.TemporaryDirectory(prefix="spokeshave-check-", dir=made.parent) as scratch:
        text = _text() if tokenizer is not None else ""
        read, answer = _reread(path, ids, text, settings, Path(scratch), run)
    lap("check")
    figures = _compare(before, after, read) | {"tokens": len(ids)}
    checks = [
        {"check": "plain transformers reads what was written", "value": figures["reread"], "limit": LIMIT, "passed": True, "note": ""},
        {"check": "the header says what the model's configuration says", "value": exact, "limit": exact, "passed": True, "note": ""},
    ]
    notes = [*plan.notes, *(vocabulary.notes if vocabulary else ["There is no tokenizer, so llama.cpp can only be given token numbers."])]
    if vocabulary is not None:
        own = list(tokenizer(text, add_special_tokens=False)["input_ids"])
        alike = _alike(own, answer["tokens"])
        checks.append(
            {
                "check": "the tokenizer in the file splits the held-out text alike",
                "value": alike,
                "limit": len(own),
                "passed": own == answer["tokens"],
                "note": "",
            }
        )
        if own != answer["tokens"]:
            notes.append("The tokenizer that plain transformers builds from the file splits some of the held-out text differently.")
    if answer["corrected"]:
        notes.append(f"Plain transformers doesn't take {', '.join(answer['corrected'])} from a GGUF file; for the check it was told.")
    if architecture.pattern == 0 and getattr(config, "sliding_window", None) and getattr(config, "use_sliding_window", True):
        notes.append("This model attends to a window of its last tokens; llama.cpp attends to all of them, so longer texts differ.")
    for note in notes:
        run.log(note)
    source = sum(p.stat().st_size for p in folder.glob("*.safetensors"))
    return {
        "made_by": MADE_BY,
        "version": core.__version__,
        "made": now(),
        "format": "gguf",
        "file": path.name,
        "kind": plan.label,
        "model": name,
        "architecture": found_info.architecture,
        "written_as": architecture.name,
        "task": found_info.task,
        "types": plan.types,
        "kept_layers": plan.kept,
        "tokenizer": f"{vocabulary.model} {vocabulary.pre}" if vocabulary else "none",
        "bytes": path.stat().st_size,
        "source_bytes": source,
        **figures,
        "checks": checks,
        "notes": notes,
        "seconds": seconds,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "libraries": {"torch": torch.__version__, "transformers": transformers.__version__, "gguf": _version("gguf")},
    }


def _version(package: str) -> str:
    from importlib.metadata import version

    return version(package)


# ---- what can be exported -----------------------------------------------------------------------------------------------


def _room(info: SourceInfo) -> None:
    needed, free = int(4 * MEMORY_FACTOR * (info.parameters or 0)), psutil.virtual_memory().available
    if needed > free:
        raise UserError(
            "Exporting {name} needs about {needed:.1f} GB of memory, and {free:.1f} GB are free.",
            hint="Close other programs, or choose a smaller model.",
            kind="memory",
            name=info.name,
            needed=needed / 1e9,
            free=free / 1e9,
        )


def _architecture(info: SourceInfo, config: Any) -> Architecture:
    """Raises UserError for a model that llama.cpp would compute otherwise, by what it has built in."""
    found = ARCHITECTURES.get(str(config.model_type)) if info.task == "causal-lm" else None
    if found is None:
        raise UserError(
            "{name} is of the kind {type}, which can't be exported to GGUF here.",
            hint="These can: {known}. ONNX takes more kinds.",
            kind="model",
            name=info.name,
            type=str(config.model_type),
            known=", ".join(ARCHITECTURES),
        )
    act = getattr(config, "hidden_activation", None) or getattr(config, "hidden_act", None)
    if act not in (found.activation, *(("swish",) if found.activation == "silu" else ())):
        raise _differs(info, "its activation function", act)
    if found.pattern:
        _check_gemma(info, config, found)
    types = {scaling["rope_type"] for scaling in _ropes(config).values()}
    if not types <= {"default", "linear", "llama3", "yarn"}:
        raise _differs(info, "how its rotary positions are scaled", ", ".join(sorted(types)))
    if any(float(r.get("partial_rotary_factor", 1.0)) != 1.0 for r in _ropes(config).values()):
        raise _differs(info, "its partial rotary positions", "partial_rotary_factor")
    return found


def _check_gemma(info: SourceInfo, config: Any, found: Architecture) -> None:
    head = config.hidden_size // config.num_attention_heads if config.num_hidden_layers == found.largest else config.head_dim
    if not math.isclose(config.query_pre_attn_scalar, head):
        raise _differs(info, "the scale of its attention", config.query_pre_attn_scalar)
    full = [(i + 1) % found.pattern == 0 for i in range(config.num_hidden_layers)]
    if [t == "full_attention" for t in config.layer_types] != full:
        raise _differs(info, "which of its layers attend to a window", "layer_types")


def _differs(info: SourceInfo, what: str, value: Any) -> UserError:
    return UserError(
        "{name} can't be exported to GGUF: llama.cpp has {what} built in otherwise ({value}).",
        hint="Export it to ONNX instead.",
        kind="model",
        name=info.name,
        what=what,
        value=str(value),
    )


def _ropes(config: Any) -> dict[str, dict[str, Any]]:
    """{kind of layer: its rotary parameters}; one entry '' where all layers have the same."""
    given = getattr(config, "rope_parameters", None) or {}
    if any(isinstance(v, dict) for v in given.values()):
        return {kind: {"rope_type": "default"} | (v or {}) for kind, v in given.items()}
    return {"": {"rope_type": "default"} | given}


# ---- fields -------------------------------------------------------------------------------------------------------------


def _head_dim(config: Any) -> int:
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def _write_fields(writer: GGUFWriter, architecture: Architecture, config: Any, name: str, plan: _Plan) -> None:
    head = _head_dim(config)
    writer.add_name(name)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_file_type(int(plan.file_type))
    writer.add_quantization_version(2)  # of ggml's quantized types
    ropes = _ropes(config)
    rope = ropes.get("full_attention") or next(iter(ropes.values()))
    writer.add_rope_dimension_count(head)
    writer.add_rope_freq_base(float(rope["rope_theta"]))
    if rope["rope_type"] == "linear":
        writer.add_rope_scaling_type(RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(float(rope["factor"]))
    elif rope["rope_type"] == "yarn":
        writer.add_rope_scaling_type(RopeScalingType.YARN)
        writer.add_rope_scaling_factor(float(rope["factor"]))
        writer.add_rope_scaling_orig_ctx_len(int(rope.get("original_max_position_embeddings") or config.max_position_embeddings))
    elif rope["rope_type"] == "llama3":
        plan.extra["rope_freqs.weight"] = _llama3_factors(rope, head)
    if "sliding_attention" in ropes and architecture.name == "gemma3":
        writer.add_float32("gemma3.rope.freq_base_swa", float(ropes["sliding_attention"]["rope_theta"]))
    if architecture.pattern:
        writer.add_sliding_window(config.sliding_window)
        for value, add in (
            (getattr(config, "attn_logit_softcapping", None), writer.add_attn_logit_softcapping),
            (getattr(config, "final_logit_softcapping", None), writer.add_final_logit_softcapping),
        ):
            if value:
                add(float(value))


def _llama3_factors(rope: dict[str, Any], head: int) -> np.ndarray:
    """(head / 2,) by what each rotary frequency is divided (Llama 3.1's scaling: long waves stretched, short ones left, a ramp between)."""
    factor, low, high = float(rope["factor"]), float(rope["low_freq_factor"]), float(rope["high_freq_factor"])
    context = int(rope["original_max_position_embeddings"])
    out = []
    for i in range(0, head, 2):
        wave = 2 * math.pi * float(rope["rope_theta"]) ** (i / head)
        if wave < context / high:
            out.append(1.0)
        elif wave > context / low:
            out.append(factor)
        else:
            smooth = (context / wave - low) / (high - low)
            out.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(out, np.float32)


# ---- tensors ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Weight:
    """A tensor on its way: its name in GGUF, the parameter it comes from (and goes back to, as it was stored), its type."""

    name: str
    kind: Type
    values: Any  # a torch tensor, float32; None where codes are kept
    quant: Any = None
    heads: int = 0  # of q and k, whose rows are permuted
    plus: float = 0.0
    put: Any = None  # takes the numbers that were stored


@dataclass(slots=True)
class _Plan:
    weights: list[_Weight]
    label: str
    file_type: LlamaFileType
    notes: list[str]
    kept: int = 0
    types: dict[str, dict[str, int]] = field(default_factory=dict)
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    shapes: dict[str, tuple[tuple[int, ...], str]] = field(default_factory=dict)


def _plan(model: Any, architecture: Architecture, kind: str, folder: Path) -> _Plan:
    """Which tensor goes where and how. A quantized layer is replaced in the model by a dense one, to hold what is written."""
    import torch

    from core.models import tensors
    from core.models.blocks import replace
    from core.models.devices import STORED
    from core.models.packed import QuantWeight, dequantize

    config = model.config
    stored = {name: info.dtype for name, info in tensors.headers(folder).items()}
    names = get_tensor_name_map(architecture.arch, config.num_hidden_layers)
    packed = {n: m for n, m in model.named_modules() if isinstance(getattr(m, "quant", None), QuantWeight)}
    tied = bool(config.tie_word_embeddings)
    quants = {}
    again = rounded = widened = rounding = 0
    notes: list[str] = []
    activations = sum(getattr(m, "activation", None) is not None for m in packed.values())
    for name, module in packed.items():
        quants[name] = module.quant
        values = dequantize(module.quant, torch.float32)
        if module.quant.kind == "int":  # the grid's own numbers, without plain transformers' rounding of them
            codes = module.quant.codes.float().unflatten(-1, (module.quant.scale.shape[-1], -1))
            zero = 0.0 if module.quant.zero is None else module.quant.zero.float().unsqueeze(-1)
            values = ((codes - zero) * module.quant.scale.float().unsqueeze(-1)).flatten(-2)
        replace(model, name, _dense(module, values))
    if tied and hasattr(model, "tie_weights"):
        model.tie_weights()
    plan = _Plan([], "", LlamaFileType.ALL_F32, notes)
    counted: dict[Type, int] = {}
    for name, parameter in model.state_dict().items():
        stem, _, leaf = name.rpartition(".")
        if tied and stem == "lm_head":
            continue
        target = names.get_name(stem)
        if target is None or leaf not in ("weight", "bias"):
            raise UserError(
                "{tensor} has no place in a GGUF file of the architecture {architecture}.",
                hint="Export the model to ONNX instead.",
                kind="model",
                tensor=name,
                architecture=architecture.name,
            )
        heads = 0
        if architecture.permuted and stem.endswith(("q_proj", "k_proj")):
            heads = config.num_attention_heads if stem.endswith("q_proj") else config.num_key_value_heads
        plus = architecture.norm_plus if stem.endswith("norm") else 0.0
        quant = quants.get(stem) if leaf == "weight" else None
        if parameter.ndim != 2:
            chosen = Type.F32
        else:
            edge = stem.endswith(("embed_tokens", "lm_head"))
            chosen, keeps = _choose(kind, parameter.shape, quant, edge, bool(quants), STORED.get(stored.get(name, ""), torch.float32))
            if quant is not None and not keeps:
                again, quant = again + (chosen not in (Type.F32, Type.F16, Type.BF16)), None
                widened += chosen in (Type.F32, Type.F16, Type.BF16)
            elif quant is not None:
                plan.kept += 1
                scale = quant.scale.float()
                rounding += not bool((scale.half().float() == scale).all())
            wanted = TYPES.get(kind)
            rounded += quant is None and not edge and wanted is not None and chosen != wanted
            counted[chosen] = counted.get(chosen, 0) + (0 if edge else parameter.numel())
        put = parameter.copy_ if hasattr(parameter, "copy_") else None
        plan.weights.append(_Weight(f"{target}.{leaf}", chosen, parameter, quant, heads, plus, put))
    main = max(counted, key=lambda t: counted[t]) if counted else Type.F32
    plan.file_type = FILE_TYPES[main]
    plan.label = kind if kind != "auto" else main.name.lower()
    if plan.kept:
        notes.append(f"{plan.kept} quantized layers keep their own grid; nothing in them was quantized again.")
    if rounding:
        notes.append(f"The scales of {rounding} layers were rounded to half precision, which is all that GGUF's blocks have.")
    if again:
        notes.append(f"The grid of {again} quantized layers doesn't fit {plan.label}; they were dequantized and quantized again.")
    if widened:
        notes.append(f"{widened} quantized layers were widened to {plan.label}: exact, but not small.")
    if activations:
        notes.append("This variant rounds what its layers take in; a GGUF file holds weights only, and llama.cpp rounds in its own way.")
    if rounded:
        notes.append(f"Rows of {rounded} layers aren't whole blocks of {plan.label}; they take the next wider type that fits.")
    return plan


def _dense(module: Any, values: Any) -> Any:
    """A plain layer of these numbers in a packed one's place."""
    import torch
    from torch import nn

    if hasattr(module, "in_features"):
        made: nn.Module = nn.Linear(module.in_features, module.out_features, bias=False, device="meta")
        made.bias = module.bias
    else:
        made = _embedding(values.shape, getattr(module, "embed_scale", None))
    made.weight = nn.Parameter(values.to(torch.float32), requires_grad=False)
    return made


def _embedding(shape: Any, scale: Any) -> Any:
    """An embedding without its numbers; scale: what Gemma multiplies it by."""
    from torch import nn

    class Scaled(nn.Embedding):
        def forward(self, ids: Any) -> Any:
            found = super().forward(ids)
            return found if scale is None else found * scale.to(found.dtype)

    return Scaled(*shape, device="meta")


def _choose(kind: str, shape: tuple[int, ...], quant: Any, edge: bool, quantized: bool, dtype: Any) -> tuple[Type, bool]:
    """(type of a matrix, whether its own codes are kept). edge: the embedding or the output layer, which get 8 bits where others get 4."""
    import torch

    if quant is not None:
        own = blocks.own_type(quant)
        if kind == "auto" and own is not None:
            return own, True
        if kind in ("q4_0", "q4_k") and own in (Type.Q4_0, Type.Q4_1):
            return own, True
        if kind in TYPES and blocks.holds(quant, TYPES[kind]):
            return TYPES[kind], True
    if kind == "auto" and quant is None and quantized:  # the rest of a quantized variant stays as it is stored
        return {torch.bfloat16: Type.BF16, torch.float16: Type.F16}.get(dtype, Type.F32), False
    wanted = TYPES[kind] if kind != "auto" else Type.Q8_0
    if edge and wanted in (Type.Q4_0, Type.Q4_K):
        wanted = Type.Q8_0
    while not blocks.fits(shape[-1], wanted):
        wanted = NARROWER[wanted]
    return wanted, False


def _write_tensors(writer: GGUFWriter, plan: _Plan, run: Run) -> None:
    """Declares every tensor, then writes them one at a time; what was stored goes back into the model."""
    import torch

    for weight in plan.weights:
        shape = tuple(weight.values.shape)
        dtype = {Type.F32: np.float32, Type.F16: np.float16}.get(weight.kind, np.uint8)
        stored = shape if dtype != np.uint8 else (*shape[:-1], blocks.row_bytes(shape[-1], weight.kind))
        size = math.prod(stored) * np.dtype(dtype).itemsize
        writer.add_tensor_info(weight.name, stored, np.dtype(dtype), size, raw_dtype=weight.kind)
        entry = plan.types.setdefault(weight.kind.name, {"tensors": 0, "parameters": 0, "bytes": 0})
        for key, value in (("tensors", 1), ("parameters", math.prod(shape)), ("bytes", size)):
            entry[key] += value
        plan.shapes[weight.name] = (shape[::-1], weight.kind.name)
    for name, array in plan.extra.items():
        writer.add_tensor_info(name, array.shape, array.dtype, array.nbytes, raw_dtype=Type.F32)
        plan.shapes[name] = (array.shape[::-1], "F32")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    with torch.no_grad():
        for weight in run.track(plan.weights, "Writing"):
            if weight.quant is not None:
                data = _permuted(blocks.keep(weight.quant, weight.kind), weight.heads)
            else:
                values = weight.values + weight.plus if weight.plus else weight.values
                data = _permuted(np.ascontiguousarray(values.numpy()), weight.heads)
                if weight.kind == Type.F16 and np.abs(data).max(initial=0.0) > np.finfo(np.float16).max:
                    raise UserError(
                        "{tensor} has values too large for {dtype}.",
                        hint="Choose bf16 or f32.",
                        kind="model",
                        tensor=weight.name,
                        dtype="float16",
                    )
                data = blocks.quantize(torch.from_numpy(data), weight.kind)
            writer.write_tensor_data(data)
            back = _permuted(blocks.dequantize(data, weight.kind).numpy().reshape(weight.values.shape), weight.heads, back=True)
            weight.put(torch.from_numpy(back) - weight.plus if weight.plus else torch.from_numpy(back))
        for array in plan.extra.values():
            writer.write_tensor_data(array)
    writer.close()


def _permuted(rows: np.ndarray, heads: int, *, back: bool = False) -> np.ndarray:
    """Rows of q or k from halves (transformers: first all first members of the rotary pairs) to pairs side by side (llama.cpp)."""
    if not heads:
        return rows
    half = rows.shape[0] // heads // 2
    inner = (half, 2) if back else (2, half)
    return np.ascontiguousarray(rows.reshape(heads, *inner, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape))


# ---- checks -------------------------------------------------------------------------------------------------------------


def _answers(model: Any, ids: np.ndarray) -> np.ndarray:
    """Logits (tokens, vocabulary), float32."""
    import torch

    with torch.no_grad():
        return model(input_ids=torch.from_numpy(ids)[None]).logits[0].float().numpy()


def _text() -> str:
    from resources import HELDOUT_TEXT

    with open(HELDOUT_TEXT, encoding="utf-8") as text:
        return text.read(TEXT)


def _check_header(path: Path, plan: _Plan, architecture: Architecture, config: Any) -> int:
    """How many facts the header, read by our own reader, agrees on with the model. Raises UserError where it doesn't."""
    header = gguf_file.read_header(path)
    wrong = [n for n, (shape, kind) in plan.shapes.items() if n not in header.tensors or header.tensors[n].type != kind]
    wrong += [n for n, (shape, _) in plan.shapes.items() if n in header.tensors and header.tensors[n].shape != shape]
    wrong += sorted(set(header.tensors) - set(plan.shapes))
    key = lambda rest: header.fields.get(f"{architecture.name}.{rest}")
    facts = {
        "block_count": config.num_hidden_layers,
        "embedding_length": config.hidden_size,
        "feed_forward_length": config.intermediate_size,
        "attention.head_count": config.num_attention_heads,
        "attention.head_count_kv": config.num_key_value_heads,
        "attention.key_length": _head_dim(config),
        "vocab_size": config.vocab_size,
        "context_length": config.max_position_embeddings,
    }
    wrong += [name for name, value in facts.items() if key(name) != value]
    if wrong:
        raise UserError(
            "The file that was written isn't what was meant: {first} differs.",
            hint="Nothing was kept. Please report it.",
            kind="check",
            first=wrong[0],
            detail="\n".join(wrong),
        )
    return len(facts) + len(plan.shapes)


def _reread(path: Path, ids: np.ndarray, text: str, settings: dict[str, Any], work: Path, run: Run) -> tuple[np.ndarray, dict[str, Any]]:
    """(logits, answer) of plain transformers in a fresh process. Raises UserError where it can't read the file; Cancelled."""
    import torch

    task = {
        "file": str(path),
        "ids": ids.tolist(),
        "text": text,
        "config": settings,
        "threads": torch.get_num_threads(),
        "to": str(work),
    }
    (work / "task.json").write_text(json.dumps(task), encoding="utf-8")
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    with open(work / "errors", "w+", encoding="utf-8") as errors:
        # -P: the script's own folder isn't searched, where this module would hide the package of its name
        process = subprocess.Popen(
            [sys.executable, "-P", gguf_probe.__file__, str(work / "task.json")],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environment,
        )
        try:
            while process.poll() is None:
                run.check_cancelled()
                time.sleep(0.05)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        errors.seek(0)
        said = errors.read()[-4000:]
    answer = json.loads((work / "answer.json").read_text(encoding="utf-8")) if (work / "answer.json").exists() else {}
    reason = answer.get("error") or ("" if answer else f"exit code {process.returncode}")
    if reason or answer["keys"]:
        raise UserError(
            "Plain transformers can't read the file that was written: {reason}",
            hint="Nothing was kept. The detail has the trace; please report it.",
            kind="check",
            reason=(reason.splitlines() or ["weights are missing"])[0][:200],
            detail=answer.get("trace") or json.dumps(answer.get("keys")) or said,
        )
    return np.load(work / "logits.npy"), answer


def _compare(before: np.ndarray, after: np.ndarray, read: np.ndarray) -> dict[str, float]:
    """Figures of the file as it was read. Raises UserError (kind 'check') where it isn't what was written."""
    reread, scale = float(np.abs(read - after).max()), float(np.abs(after).max())
    if not reread <= LIMIT * max(1.0, scale):  # NaN fails too
        raise UserError(
            "Plain transformers reads other numbers from the file than were written (largest difference {difference:.3g} of a logit).",
            hint="Nothing was kept. Please report it.",
            kind="check",
            difference=reread,
        )
    p, q = _log_softmax(before), _log_softmax(read)
    return {
        "reread": reread,
        "max_abs": float(np.abs(read - before).max()),
        "top1": float((read.argmax(-1) == before.argmax(-1)).mean()),
        "kl": float((np.exp(p) * (p - q)).sum(-1).mean()),
    }


def _log_softmax(x: np.ndarray) -> np.ndarray:
    x = x.astype(np.float64) - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def _alike(own: list[int], other: list[int]) -> int:
    """Tokens at the head of both that are the same."""
    return next((i for i, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), min(len(own), len(other)))
