"""Exporting a model's folder to ONNX.

`export` loads the folder, traces it (trace), writes graph, weights, tokenizer and configs into a temporary folder beside the
target, has the result checked by onnxruntime in a fresh process (parity), and only then renames it into place. Causal language
models get a key-value cache; encoders and classifiers don't need one. Weights are float32; a quantized variant keeps its own
grid, that of its embedding and output layer too (packed in MatMulNBits nodes, or as int8 widened on loading: core.export.trace
says when), and is never quantized again. Two profiles: portable, and fast (core.export.fused).

Encoder-decoder models become two graphs (core.export.seq2seq).

Not covered: state-space layers, vision and speech.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import resource
import shutil
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psutil

import core
from core.errors import Cancelled, UserError, explain
from core.export import examples, parity
from core.export.contents import contents
from core.export.genai import GENAI, genai_config
from core.export.runtime import CACHE, GRAPH, IN_PLACE, NAMES
from core.export.suited import suit
from core.export.target import MADE_BY, REPORT, check_target, move_into_place, partial
from core.records import OnnxOptions, SourceInfo, now
from core.run import Run
from core.runtimes import foresee
from core.workspace import read_json, write_atomically

T = TypeVar("T")

TASKS = ("causal-lm", "encoder", "classifier")
MEMORY_FACTOR = 3.0  # peak over the float32 weights, the check among it; 2.2 was seen (tests, test_memory)
SHARD = 2_000_000_000  # bytes of a data file, at most: some runtimes and hubs stop at 2 GB
EXAMPLE = "example.py"
EXAMPLES = {"causal-lm": "generate", "encoder": "embed", "classifier": "classify", "seq2seq": "rewrite", "diffusion": "draw"}
BESIDE = (
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "tokenizer.model",
    "spiece.model",
    "chat_template.jinja",
    "chat_template.json",
)


def export(folder: Path, to: Path, run: Run, *, overwrite: bool = False, options: OnnxOptions | None = None) -> dict[str, Any]:
    """Exports the model in `folder` to the new folder `to`; returns the report, which is written there too.

    options: how the graph is written (core.records). overwrite: replaces an earlier export of Spokeshave's at `to`; anything else
    that isn't empty is refused.
    The report: {max_abs, top1, tokens, checks, greedy, bytes, graph_bytes, data_bytes, referenced_bytes, opset, ir, nodes, inputs,
    outputs, weights, notes, seconds, ...}.
    Raises UserError: the target is taken or can't be written to, a kind of model that isn't exported, too little memory, a model
    that can't be traced, a check that failed (kind 'check'). Cancelled between stages. After either, nothing is left behind.
    """
    folder, to = Path(folder), Path(to).absolute()
    begun = time.perf_counter()
    try:
        check_target(to, overwrite)
        with partial(to) as work:
            made = work / "export"
            made.mkdir()
            report = _make(folder, made, run, options or OnnxOptions())
            report["seconds"]["total"] = time.perf_counter() - begun
            report["bytes"] = sum(p.stat().st_size for p in made.rglob("*") if p.is_file())
            write_atomically(made / REPORT, json.dumps(report, indent=1))
            run.check_cancelled()
            check_target(to, overwrite)
            move_into_place(made, to, work)
    except (UserError, Cancelled):
        raise
    except Exception as error:
        raise explain(error, detail=traceback.format_exc()) from error
    run.log(f"Exported to {to}: largest difference {report['max_abs']:.2g}, {report['bytes'] / 1e6:.1f} MB.")
    return report


# ---- making it ------------------------------------------------------------------------------------------------------------


def _make(folder: Path, made: Path, run: Run, options: OnnxOptions, rooms: list[float] | None = None) -> dict[str, Any]:
    """The export as it was asked for; where that fails its check, rounded more gently, then exact, and then portable, which its
    notes say. rooms: of rounding.way_for, the fastest first; those that were tried are taken off."""
    if rooms is None:
        from core.export.rounding import ROOMS  # torch: not until it's needed

        rooms = list(ROOMS)
    untried = len(rooms)
    try:
        return _attempt(folder, made, run, options, rooms)
    except UserError as error:
        if error.kind != "check":
            raise
        shutil.rmtree(made)
        made.mkdir()
        if options.activations != "float32":
            try:
                failed = json.loads(error.detail or "[]")
            except ValueError:  # not a check of figures: rounding isn't why
                raise error from None
            if 0 < len(rooms) < untried:
                return {"rounding_checks": failed} | _make(folder, made, run, options, rooms)
            report = _make(folder, made, run, options.model_copy(update={"activations": "float32"}))
            notes = report["notes"]
            notes.append("Activations rounded to int8 changed too much, so quantized layers multiply float32 ones.")
            return report | {"rounding_checks": failed}
        if options.profile == "fast":
            run.warn(f"the fused graph failed its check: {error}")
            report = _attempt(folder, made, run, options.model_copy(update={"profile": "portable"}), [])
            notes = report["notes"]
            notes.append("The fused graph failed its check, so the portable profile was written.")
            return report
        raise


@contextlib.contextmanager
def _stage(run: Run, seconds: dict[str, float], title: str, key: str) -> Iterator[None]:
    run.stage(title)
    begun = time.perf_counter()
    yield
    seconds[key] = time.perf_counter() - begun


def _attempt(folder: Path, made: Path, run: Run, options: OnnxOptions, rooms: list[float]) -> dict[str, Any]:
    from core.export import precision, seq2seq
    from core.models import inspect

    info = inspect.inspect_folder(folder)
    config = read_json(folder / "config.json") if (folder / "config.json").is_file() else {}  # a diffusion pipeline has one for each part
    foresee(config, options, info.task == "causal-lm")
    if seq2seq.is_one(info):
        return _attempt_pair(folder, made, run, options, info)
    if info.task != "diffusion":
        _refuse(info)
    precision.refuse(info, options.precision)
    if info.task == "diffusion":
        return _attempt_unet(folder, made, run, options)
    return _attempt_one(folder, made, run, options, rooms)


def _attempt_one(folder: Path, made: Path, run: Run, options: OnnxOptions, rooms: list[float]) -> dict[str, Any]:
    """A model that is one graph."""
    from core.models.load import load  # torch and transformers: not until they're needed

    seconds: dict[str, float] = {}
    stage = functools.partial(_stage, run, seconds)
    with stage("Loading", "load"):
        loaded = load(folder, device="cpu", dtype="float32", packed=True)
    import torch

    from core.export import precision, trace
    from core.models.activations import RoundedInputLinear
    from core.models.blocks import linears

    model, notes = loaded.model, []
    if loaded.info.task == "encoder":
        model = trace.body(model)
    rounded, tried = None, []
    with stage("Asking the original", "reference"):
        quants = trace.unpack_linears(model)
        causal = loaded.info.task == "causal-lm"
        name = trace.cache_name(model) if causal else None
        many = not causal and options.precision != "float32"
        answers = parity.reference(model, loaded.tokenizer, run, context=loaded.info.context, cache_name=name, many=many)
        if options.activations == "int8" and quants:
            rounded, tried = _rounding(model, quants, answers, run, notes, rooms)
        elif options.activations == "int8":
            notes.append("Activations are rounded before quantized layers only, and this variant has none: its products are exact.")
        limits = None
        if causal and any(isinstance(m, RoundedInputLinear) for m in model.modules()):
            limits = parity.unsure(model, answers, run)
            notes.append(
                "Layers of this variant round what they read, and float32's own error decides where a number lies between two steps: "
                f"noise of a millionth, on what torch reads, allows a divergence of {limits['kl']:.2g}."
            )
        window = parity.window_of(model.config.get_text_config()) if causal else None
        if window and "beyond" not in answers and len(answers["ids"]) < window + parity.BEYOND:
            notes.append(f"Its sliding window of {window} tokens is longer than the check's text, so what lies past it wasn't compared.")
        if options.labels is not None and loaded.info.task != "classifier":
            notes.append("Accuracy is measured of classifiers, and this is none: the examples weren't read.")
        theirs = _accuracy(model, loaded, options, run)
    if options.precision in precision.HALVES:
        if options.precision == "float16":
            precision.check_range(model, functools.partial(model, input_ids=torch.from_numpy(answers["ids"])[None]))
        precision.halve(model, precision.HALVES[options.precision])
    with stage("Tracing", "trace"):
        packed = trace.pack_linears(model, quants, rounded=rounded)
        rounds = sum(isinstance(m, trace.NBitsLinear) and m.level == trace.ROUNDED for m in model.modules()) if rounded else 0
        unquantized = [n for n, _ in linears(model, head=True)] if quants else []
        program, plan = _capture(loaded.info, model, options.profile, notes)
    with stage("Writing the graph", "convert"):
        graph, joined = _graph(loaded.info, program, plan)
        if quants:
            trace.narrow_dense(graph)
        if options.runtime:
            suit(graph, options.runtime)
        place = _place(options.layout, quants, options.precision)
        _write(graph, made, place)
        del graph, program, model, loaded.model
    if options.precision in precision.INT8:
        with stage("Quantizing", "quantize"):
            windows = None
            if options.precision == "int8-static":
                windows, said = precision.calibration_windows(loaded.tokenizer, loaded.info, options.text, run)
                notes += said
            dense = precision.quantize(made / place, options.precision, windows)
            if dense:
                notes.append(f"{dense} products that narrow what they read stay float32: one fixed range is too coarse for it.")
    with stage("Writing tokenizer and configuration", "files"):
        _write_beside(folder, made, options.precision)
        if options.layout == "transformers.js":
            _for_transformers_js(made, place)
        shutil.copyfile(Path(examples.__file__).with_name(f"{EXAMPLES[loaded.info.task]}.py"), made / EXAMPLE)
    with stage("Checking with onnxruntime", "check"):
        expected = {
            "inputs": plan.signature.inputs,
            "outputs": plan.signature.outputs,
            "quantized": packed | {"nbits": packed["nbits"] - joined["nbits"]},
            "limits": limits or _limits(loaded.info.task, options.precision, bool(rounds)),
        }
        figures = parity.check(made, answers, expected, run)
    in_place = bool(figures.get("in_place"))
    if plan.fused and not in_place:
        _unmark(made / place)
        figures["graph_bytes"] = (made / place).stat().st_size
        notes.append("This onnxruntime's attention doesn't write keys and values in place in this model, so they're copied at each step.")
    if causal and options.layout == "plain":
        beside = genai_config(made, plan.signature, loaded.info.context, in_place)
        write_atomically(made / GENAI, json.dumps(beside, indent=2))
    figures |= _compared(made, theirs, loaded, options, run, notes)
    source = sum(p.stat().st_size for p in folder.glob("*.safetensors"))
    if causal:
        notes += _unequal(plan.signature, read_json(folder / "config.json"))
    notes += _notes(quants, packed, figures, source, rounds) if options.precision == "float32" else []
    for note in notes:
        run.log(note)
    return {
        **_made_from(loaded.info),
        "profile": "fast" if plan.fused else "portable",
        "activations": "int8" if rounds else "float32",
        "weights": _weights(quants, options.precision),
        "precision": options.precision,
        "quantized_layers": len(quants),
        "source_bytes": source,
        "inputs": plan.signature.inputs,
        "outputs": plan.signature.outputs,
        **figures,
        **({"rounding_tried": tried} if tried else {}),
        "contents": contents(made) | {"unquantized": unquantized},
        "notes": notes,
        **_made_with(seconds, figures),
    }


def _attempt_pair(folder: Path, made: Path, run: Run, options: OnnxOptions, info: SourceInfo) -> dict[str, Any]:
    """An encoder-decoder model, as two graphs."""
    from core.models.load import load

    _refuse_memory(info)
    if options.precision != "float32":
        raise UserError(
            "A model with an encoder and a decoder is written in float32 only.", hint="Leave the precision at float32.", kind="model"
        )
    if info.quantization:
        raise UserError(
            "An encoder-decoder model with quantized weights can't be exported to ONNX yet.",
            hint="Export the model that it was made from.",
            kind="model",
        )
    seconds: dict[str, float] = {}
    stage = functools.partial(_stage, run, seconds)
    with stage("Loading", "load"):
        loaded = load(folder, device="cpu", dtype="float32")
    from core.export import seq2seq, trace

    model, notes = loaded.model, []
    if options.profile == "fast":
        notes.append("The fast profile is for models without an encoder; the portable one was written.")
    if options.layout != "plain":
        notes.append("Transformers.js wants other inputs of a model with an encoder, so its layout wasn't written.")
    with stage("Asking the original", "reference"):
        answers = seq2seq.reference(model, loaded.tokenizer, run)
    declared: dict[str, dict[str, Any]] = {}
    for name, plan in seq2seq.plans(model).items():
        with stage("Tracing", f"trace {name}"):
            program, _ = _traced(info, trace.capture, model, plan)
        with stage("Writing the graph", f"convert {name}"):
            graph = _traced(info, trace.convert, program, plan)
            if options.runtime:
                suit(graph, options.runtime)
            _write(graph, made, name)
            del graph, program
        declared[name] = {"inputs": plan.signature.inputs, "outputs": plan.signature.outputs, "quantized": {}}
    del model, loaded.model
    with stage("Writing tokenizer and configuration", "files"):
        _write_beside(folder, made)
        shutil.copyfile(Path(examples.__file__).with_name(f"{EXAMPLES['seq2seq']}.py"), made / EXAMPLE)
    with stage("Checking with onnxruntime", "check"):
        figures = parity.check(made, answers, {"graphs": declared, "inputs": {}, "outputs": {}, "quantized": {}}, run)
    notes.append("The window and the decoding lab don't run models with an encoder and a decoder; example.py beside the graphs does.")
    for note in notes:
        run.log(note)
    return {
        **_made_from(info),
        "form": "an encoder and a decoder",
        "profile": "portable",
        "activations": "float32",
        "weights": "float32",
        "quantized_layers": 0,
        "source_bytes": sum(p.stat().st_size for p in folder.glob("*.safetensors")),
        **figures,
        "contents": contents(made / seq2seq.DECODER),
        "notes": notes,
        **_made_with(seconds, figures),
    }


def _attempt_unet(folder: Path, made: Path, run: Run, options: OnnxOptions) -> dict[str, Any]:
    """The UNet of a diffusion pipeline, with what's needed to draw with it."""
    from core.models import diffusion
    from core.models.load import load

    seconds: dict[str, float] = {}
    stage = functools.partial(_stage, run, seconds)
    with stage("Loading", "load"):
        loaded = load(folder, device="cpu")
    _refuse_memory(loaded.info)
    import torch

    from core.export import precision, trace, unet

    denoiser, notes = loaded.model, []
    if options.profile == "fast":
        notes.append("The fast profile is for models that generate text; the portable one was written.")
    if options.layout != "plain":
        notes.append("Transformers.js draws no images, so its layout wasn't written.")
    with stage("Asking the original", "reference"):
        answers = unet.reference(denoiser, run)
    plan = unet.plan(denoiser)
    if options.precision in precision.HALVES:
        if options.precision == "float16":
            precision.check_range(denoiser.unet, lambda: plan.module(*plan.sample))
        precision.halve(denoiser.unet, precision.HALVES[options.precision])
    with stage("Tracing", "trace"), torch.no_grad():
        program, _ = _traced(loaded.info, trace.capture, denoiser.unet, plan, unet.as_it_is)
    with stage("Writing the graph", "convert"):
        graph = _traced(loaded.info, trace.convert, program, plan)
        if options.runtime:
            suit(graph, options.runtime)
        _write(graph, made, unet.PLACE)
        del graph, program
    with stage("Writing configuration", "files"):
        for name, path in diffusion.layout(folder).items():
            if name.endswith(".json"):
                (made / name).parent.mkdir(exist_ok=True)
                shutil.copyfile(path, made / name)
        shutil.copyfile(Path(examples.__file__).with_name(f"{EXAMPLES['diffusion']}.py"), made / EXAMPLE)
    source = sum(p.stat().st_size for p in diffusion.files(folder))
    del denoiser, loaded.model
    with stage("Checking with onnxruntime", "check"):
        expected = {
            "inputs": plan.signature.inputs,
            "outputs": plan.signature.outputs,
            "quantized": {},
            "limits": parity.DRAWING[options.precision],
        }
        figures = parity.check(made, answers, expected, run)
    for note in notes:
        run.log(note)
    return {
        **_made_from(loaded.info),
        "profile": "portable",
        "activations": "float32",
        "weights": options.precision,
        "precision": options.precision,
        "quantized_layers": 0,
        "source_bytes": source,
        "inputs": plan.signature.inputs,
        "outputs": plan.signature.outputs,
        **figures,
        "contents": contents(made),
        "notes": notes,
        **_made_with(seconds, figures),
    }


def _made_from(info: SourceInfo) -> dict[str, Any]:
    return {
        "made_by": MADE_BY,
        "version": core.__version__,
        "made": now(),
        "model": info.name,
        "architecture": info.architecture,
        "task": info.task,
    }


def _made_with(seconds: dict[str, float], figures: dict[str, Any]) -> dict[str, Any]:
    import onnx
    import torch
    import transformers

    return {
        "seconds": seconds,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "libraries": {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "onnx": onnx.__version__,
            "onnxruntime": figures["runtime"],
        },
    }


def _refuse(info: SourceInfo) -> None:
    if info.task not in TASKS:
        raise UserError(
            "{name} ({architecture}) can't be exported: language models with a cache, encoders and classifiers can.",
            hint="Choose another model.",
            kind="model",
            name=info.name,
            architecture=info.architecture or "unknown architecture",
        )
    _refuse_memory(info)


def _refuse_memory(info: SourceInfo) -> None:
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


def _rounding(
    model: Any, quants: dict[str, Any], answers: dict[str, Any], run: Run, notes: list[str], rooms: list[float]
) -> tuple[dict[str, int] | None, list[dict[str, Any]]]:
    """(the blocks in which activations may be rounded, of rounding.way_for; None or none, and a note, where they're better left alone;
    what was tried). The `rooms` that were tried are taken off, and the others shrink with what's used here: should this fail its check, the
    next is to be gentler, also where this used little of its room."""
    from core.export import rounding

    if "prompt" not in answers:
        notes.append("Rounded activations are judged by the probabilities of tokens, which this model doesn't give; they stay float32.")
        return None, []
    way, tried, took = rounding.way_for(model, quants, answers, run, rooms)
    spare = tried[-1]["used"] / rooms[took - 1] if way else 1.0
    rooms[:] = [room * spare for room in rooms[took:]]
    if way is None:
        notes.append("Activations rounded to int8 changed too much, so quantized layers multiply float32 ones.")
    elif not way:
        notes.append("Rounded activations would make none of the quantized layers faster, so they're left as they are.")
    return way, tried


def _capture(info: SourceInfo, model: Any, profile: str, notes: list[str]) -> tuple[Any, Any]:
    """(the traced program, its plan): in fused operators where that's asked for and possible; `notes` grows by what isn't."""
    from core.export import fused, trace

    causal = info.task == "causal-lm"
    if profile == "fast" and causal:

        def attempt(plan: Any) -> Any:
            try:
                return fused.capture(model, plan)[0]
            except fused.NotFused as why:
                notes.append(str(why))
                return None

        plan = _traced(info, fused.causal, model)
        program = _traced(info, attempt, plan)
        if program is not None:
            return program, plan
    elif profile == "fast":
        notes.append("The fast profile is for models that generate text; the portable one was written.")
    plan = _traced(info, trace.causal if causal else trace.encoder, model)
    program, chosen = _traced(info, trace.capture, model, plan)
    if not chosen:
        notes.append("This architecture computes its attention itself; it was exported as it is, which runs slower.")
    return program, plan


def _graph(info: SourceInfo, program: Any, plan: Any) -> tuple[Any, dict[str, int]]:
    """(the graph, of wide.join_products what became one). In fused operators it's marked as one whose cache may be kept in place.

    An encoder's products are of many tokens at a time, and no faster for being joined.
    """
    from core.export import trace, wide

    graph = _traced(info, trace.convert, program, plan)
    joined = wide.join_products(graph) if info.task == "causal-lm" else {"joined": 0, "nbits": 0}
    if plan.fused:
        graph.metadata_props[CACHE] = IN_PLACE
    return graph, joined


def _traced(info: SourceInfo, step: Callable[..., T], *args: Any) -> T:
    try:
        return step(*args)
    except (UserError, Cancelled, MemoryError):
        raise
    except Exception as error:  # whatever the model's own code raises on symbolic shapes, or has no ONNX operator
        raise UserError(
            "{architecture} can't be written as an ONNX graph: {reason}",
            hint="The detail says where; please report this model.",
            kind="model",
            architecture=info.architecture,
            reason=(str(error).strip().splitlines() or [type(error).__name__])[0][:200],
            detail=traceback.format_exc(),
        ) from error


def _limits(task: str, precision: str, rounds: bool) -> dict[str, float]:
    """What the check allows: see parity."""
    if precision == "float32":
        return parity.ROUNDED if rounds else parity.EXACT
    kind = precision if precision in parity.VECTORS else "int8"
    if task == "encoder":
        return {"cosine": parity.VECTORS[kind]}
    return parity.HALF[kind] if kind != "int8" else parity.INT8


def _accuracy(model: Any, loaded: Any, options: OnnxOptions, run: Run) -> Any:
    """Torch's accuracy on the held-out examples, before the model is changed for its precision; None where none are given."""
    if options.labels is None or loaded.info.task != "classifier":
        return None
    from core.data.labels import read_labels
    from core.evaluate.accuracy import score

    return score(model, loaded.tokenizer, read_labels(options.labels), run=run)[0]


def _compared(made: Path, theirs: Any, loaded: Any, options: OnnxOptions, run: Run, notes: list[str]) -> dict[str, Any]:
    """{accuracy: {onnx, torch: {value, low, high}, n}} on the same held-out examples, and a note; nothing where none are given."""
    if theirs is None:
        return {}
    from core.data.labels import read_labels
    from core.evaluate.accuracy import score
    from core.export.precision import Session

    mine = score(Session(made), loaded.tokenizer, read_labels(options.labels), run=run)[0]
    right = [round(one.value * one.n) for one in (mine, theirs)]
    notes.append(f"Right on {right[0]} of {mine.n} held-out examples, where torch in float32 is right on {right[1]}.")
    figures = {who: {"value": one.value, "low": one.low, "high": one.high} for who, one in (("onnx", mine), ("torch", theirs))}
    return {"accuracy": figures | {"n": mine.n}}


def _place(layout: str, quants: dict[str, Any], precision: str = "float32") -> str:
    """The graph's name within the folder. Transformers.js chooses by names: 'model', and 'q4', 'quantized' or 'fp16' after it."""
    if layout == "plain":
        return GRAPH
    if precision != "float32":
        return f"onnx/{NAMES.get('fp16' if precision == 'float16' else 'q8')}.onnx" if precision != "bfloat16" else "onnx/model_bf16.onnx"
    widths = {q.bits <= 4 for q in quants.values()}
    return f"onnx/model{'' if not quants else '_q4' if True in widths else '_quantized'}.onnx"


def _write(graph: Any, made: Path, place: str) -> None:
    """Weights go beside the graph, into several files where they're more than SHARD bytes."""
    import onnx_ir

    path = made / place
    path.parent.mkdir(exist_ok=True)
    held = sum(v.const_value.nbytes for v in graph.graph.initializers.values() if v.const_value is not None)
    data = f"{path.name}_data" if place.startswith("onnx/") else f"{path.name}.data"
    onnx_ir.save(graph, path, external_data=data, max_shard_size_bytes=SHARD if held > SHARD else None)
    with open(path, "rb") as out:
        os.fsync(out.fileno())


def _unmark(graph: Path) -> None:
    """Takes out what says that the graph's attention can write in place. The weights' file isn't touched."""
    import onnx

    model = onnx.load(graph, load_external_data=False)
    kept = [p for p in model.metadata_props if p.key != CACHE]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    onnx.save(model, graph)
    with open(graph, "rb") as out:
        os.fsync(out.fileno())


def _for_transformers_js(made: Path, place: str) -> None:
    """Tells Transformers.js, in config.json, which of its precisions the graph is and that its weights are beside it."""
    config = read_json(made / "config.json")
    stem = Path(place).stem
    dtype = {name: dtype for dtype, name in NAMES.items()}.get(stem, "auto")
    files = len([p for p in (made / place).parent.iterdir() if p.suffix != ".onnx"])
    config["transformers.js_config"] = {"dtype": dtype, "use_external_data_format": {f"{stem}.onnx": files}}
    write_atomically(made / "config.json", json.dumps(config, indent=2))


def _write_beside(folder: Path, made: Path, precision: str = "float32") -> None:
    """Tokenizer, templates and configurations.

    transformers 5 keeps the rotary base in rope_parameters, other readers look for rope_theta: both are there.
    """
    for name in BESIDE:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, made / name)
    config = read_json(folder / "config.json")
    config.pop("quantization_config", None)  # the graph holds the grid; nobody is to look for packed safetensors here
    rope = config.get("rope_parameters")
    if isinstance(rope, dict) and "rope_theta" in rope:
        config.setdefault("rope_theta", rope["rope_theta"])
    config["dtype"] = precision if precision in ("float16", "bfloat16") else "float32"
    write_atomically(made / "config.json", json.dumps(config, indent=2))
    tokenizer = made / "tokenizer_config.json"
    if (made / "tokenizer.json").is_file():
        settings = read_json(tokenizer) if tokenizer.is_file() else {}
        if settings.get("tokenizer_class") in (None, "TokenizersBackend"):  # a class that only transformers 5 knows
            settings["tokenizer_class"] = "PreTrainedTokenizerFast"
        write_atomically(tokenizer, json.dumps(settings, indent=2, ensure_ascii=False))


def _weights(quants: dict[str, Any], precision: str = "float32") -> str:
    if precision.startswith("int8"):
        return "8-bit integers, the rest dense"
    if not quants:
        return precision
    return f"{'/'.join(str(b) for b in sorted({q.bits for q in quants.values()}))}-bit integers, the rest dense"


def _unequal(signature: Any, config: dict[str, Any]) -> list[str]:
    """A note for each layer whose cache has other heads than the config says."""
    notes, said = [], (config.get("text_config") or config).get("num_key_value_heads")
    for name, axes in signature.inputs.items():
        if isinstance(said, int) and name.endswith(".key") and axes[1] != said:
            notes.append(
                f"Layer {name.split('.')[1]} has {axes[1]} key-value heads, the config says {said}: transformers and the builder of "
                "onnxruntime-genai can't open this, onnxruntime can."
            )
    return notes


def _notes(quants: dict[str, Any], packed: dict[str, int], figures: dict[str, Any], source: int, rounds: int) -> list[str]:
    notes = []
    held = figures["data_bytes"] + figures["graph_bytes"]
    if quants:
        notes.append(f"{len(quants)} quantized layers keep their own grid; nothing was quantized again.")
    if packed["int8"]:
        notes.append(f"{packed['int8']} of them are stored as int8 and widened when the file is loaded: small on disk, float32 in memory.")
    if rounds:
        notes.append(f"{rounds} of them multiply activations rounded to int8: faster, and judged by the probabilities they give.")
        notes.append(
            "Rounded products differ a little by how many tokens are read at once, so near ties may fall otherwise in a prompt read in "
            "pieces or after a draft."
        )
    if any(q.zero is not None and q.bits < 8 for q in quants.values()):
        notes.append("The grid's values are exact here; plain transformers rounds them to the stored dtype as it loads this variant.")
    if source and held > 1.5 * source:
        notes.append(f"Weights are stored as float32: the export is {held / source:.1f} times as large as the model's own files.")
    return notes
