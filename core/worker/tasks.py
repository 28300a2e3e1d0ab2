"""One function per kind of job: (job, run) -> result, a plain dict. The order of things is decided here, and no maths.

A variant is written, checked and measured in staging and then renamed into place, so that cancelling at any moment
leaves nothing, and a variant that's listed is whole.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import torch

import resources
from core import events, exports, methods, pairing, providers
from core.allocation import LayerCost, SensitivityMap
from core.data import labels as examples
from core.data import text as texts
from core.decode import calibrate, exactness, fast, find, lab
from core.decode.duel import Duel
from core.errors import UserError
from core.evaluate import accuracy, embedding, frechet, perplexity
from core.evaluate import speed as speeds
from core.export import gguf, onnx, sparse
from core.export.runtime import OnnxGenerator
from core.methods import calibration, gradient_study, sensitivity, training
from core.methods.quantization import grid
from core.models import bring, devices, draft_words, inspect, load, save, size, verify
from core.recipe import ImagesRef, LabelsRef, Recipe, Source, Step, TextRef
from core.records import (
    ApplySpec,
    Drafting,
    EnumerateSpec,
    EstimateSpec,
    EvaluateSpec,
    ExactnessSpec,
    ExportSpec,
    FindDraftSpec,
    GenerateSpec,
    GradientStudySpec,
    ImportSpec,
    InspectSpec,
    Job,
    Kind,
    LabelsSpec,
    Measurement,
    SensitivitySpec,
    SourceInfo,
    SpeedSpec,
    TryExportSpec,
    Variant,
    new_id,
    now,
)
from core.run import Run
from core.worker import blockwise, exported, forecast, heads, looks, pictures
from core.workspace import Workspace, free_name, read_json

CONTEXT = 512  # tokens a window, where the model's own context isn't smaller
MUCH, LITTLE = 20_000, 8_192  # tokens scored by default: of a small model, and of one that a CPU is slow on
SLOW_FROM = 50_000_000  # parameters


# ---- looking --------------------------------------------------------------------------------------------------


def inspect_source(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, InspectSpec)
    info = inspect.inspect(spec.source, remote_code=spec.remote_code)
    return {"info": info} | (pictures.drawn(info, spec.draw, run) if spec.draw else {})


def estimate(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, EstimateSpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    method = methods.get(spec.step.method)
    params = methods.checked(method, spec.step.params)
    found = methods.estimate(method.info.name, params, variant.info, variant.ledger, run.device)
    found |= forecast.forecast(found, variant.info, workspace.measurements(variant.id), method.info.name, params, run)
    return found | {"name": methods.label(method, params)}


def describe_labels(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, LabelsSpec)
    return examples.describe(spec.labels)


# ---- bringing in ------------------------------------------------------------------------------------------------


def import_model(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, ImportSpec)
    workspace = Workspace(spec.workspace, create=True)
    words = texts.read_text(spec.text or workspace.settings.text or resources.HELDOUT_TEXT) if spec.measure else None
    name = spec.name or _plain_name(spec.source)
    with workspace.staging(new_id(name)) as staged, verify.Verifier() as verifier:
        info, notes = bring.bring(spec.source, staged, run, dtype=spec.dtype, remote_code=spec.remote_code)
        run.stage("Measuring size")
        ledger = size.ledger(staged)
        fingerprint = save.fingerprint(staged)
        origin = spec.source if info.kind == "hub" else Path(spec.source).name
        variant = Variant(
            id=staged.name,
            name=name,
            origin=origin,
            fingerprint=fingerprint,
            info=info,
            ledger=ledger,
            recipe=Recipe(source=Source(name=name, origin=origin, fingerprint=fingerprint), libraries=_libraries(), device=run.device),
            notes=tuple(notes),
            job=job.id,
        )
        loaded = load.load(staged, device=run.device, remote_code=spec.remote_code)  # a model that doesn't load isn't imported
        measured, variant = _reloaded(verifier, staged, loaded.model, variant, run, remote_code=spec.remote_code)
        if words:
            more, variant = _measured(variant, loaded, None, words, spec.max_tokens, run, images=spec.images)
            measured += more
        del loaded
        _commit(workspace, staged, variant, measured, run)
    return {"variant": variant.id}


def _plain_name(source: str) -> str:
    path = Path(source)
    return path.stem if path.suffix.lower() == ".gguf" else path.name or source


def _libraries() -> dict[str, str]:
    from core.worker.loop import libraries

    return libraries()


def _commit(workspace: Workspace, staged: Path, variant: Variant, measured: list[Measurement], run: Run) -> None:
    lines = "".join(m.model_dump_json() + "\n" for m in measured)
    (staged / "measurements.jsonl").write_text(lines, encoding="utf-8")
    run.check_cancelled()
    workspace.commit(staged, variant, log=workspace.log_path(run.job))
    run.emit(events.VariantAdded(run.job, variant.id))


# ---- changing ---------------------------------------------------------------------------------------------------


def apply(job: Job, run: Run) -> dict[str, Any]:
    """Each step makes a variant from the one before it."""
    spec = job.spec
    assert isinstance(spec, ApplySpec)
    workspace = Workspace(spec.workspace)
    parent = workspace.variant(spec.variant)
    words = texts.read_text(spec.text or workspace.settings.text or resources.HELDOUT_TEXT) if spec.measure else None
    checked = [(step, methods.get(step.method)) for step in spec.steps]
    checked = [(step, method, methods.checked(method, step.params)) for step, method in checked]  # all of them before the first is run
    if not checked:
        raise UserError("There is no step to apply.", hint="Choose a method.")
    made = []
    for number, (step, method, params) in enumerate(checked, 1):
        last = number == len(checked)
        parent = _apply_one(workspace, parent, step, method, params, job, run, words if last or spec.measure else None, spec, last)
        made.append(parent.id)
    return {"variant": made[-1], "variants": made}


def _apply_one(
    workspace: Workspace, parent: Variant, step: Step, method, params, job: Job, run: Run, words, spec: ApplySpec, last: bool
) -> Variant:
    info = method.info
    if parent.info.task not in info.tasks:
        raise UserError(
            "{method} doesn't apply to {name}: it's of the kind {task}.",
            hint="Choose another method.",
            kind="model",
            method=info.title,
            name=parent.name,
            task=parent.info.task,
        )
    words_in, labels, step = _training_data(step, info.needs_of(parent.info.task), parent)
    uncut = _uncut(workspace, parent)
    folder = workspace.path(parent.id)
    images = pictures.images_for(step.images, parent, folder) if "images" in info.needs else None
    step = pictures.recorded(step, images)
    trains = info.family in ("distillation", "recovery")
    with (
        workspace.staging(new_id(step.method)) as staged,
        verify.Verifier() as verifier,
        blockwise.place(workspace, parent, method, params, step, words_in, _libraries(), run) as place,
    ):
        run.stage("Loading", parent.name)
        torch.manual_seed(step.seed)
        streamed = place.streamed if place else None
        if streamed:
            loaded, tokenizer = streamed, load.load_tokenizer(folder) if parent.info.tokenizer else None
        else:
            loaded = load.load(
                folder, device=run.device, dtype="float32" if trains else "auto", packed=bool(parent.info.quantization), train=trains
            )
            tokenizer = loaded.tokenizer

        def load_variant(wanted: str):
            other = workspace.variant(wanted)
            return load.load(workspace.path(other.id), device=run.device, dtype="float32")

        given = methods.Given(
            tokenizer=tokenizer,
            folder=folder,
            info=parent.info.model_copy(update={"name": parent.name}),  # so that what's refused is called what the person calls it
            text=words_in,
            labels=labels,
            images=images,
            uncut="" if uncut.id == parent.id else uncut.id,  # of itself it would learn nothing
            seed=step.seed,
            device=run.device,
            load_variant=load_variant,
            home=place.home if place else None,
            likeness=None if images is None else lambda drawer, steps, count: frechet.distance(drawer, images, steps, count, run),
            costs=lambda target, draft, longest: calibrate.pair(target, draft, longest, run.check_cancelled),
            duel=lambda target: Duel(target, run.check_cancelled),
            work=place.work if place else None,
        )
        outcome = method.apply(loaded.model, params, run, given)
        notes, model, stored, files = outcome.notes, outcome.model, outcome.dtype, outcome.files
        del outcome, loaded
        run.stage("Saving")
        if streamed:
            streamed.save(staged, run=run)
            notes = (*notes, "The model is larger than the memory that was free: it was worked on block by block from disk.")
        else:
            save.save(model, staged, folder, run=run, dtype=stored)
        save.put(staged, files)
        name = spec.name if spec.name and last else free_name(methods.label(method, params), (v.name for v in workspace.variants()))
        found = inspect.inspect(staged).model_copy(update={"name": name})
        root = workspace.root(parent)
        ledger = size.ledger(staged, original_parameters=root.ledger.original_parameters)
        params_written = params.model_dump(mode="json")
        recorded = step.model_copy(update={"params": params_written})
        variant = Variant(
            id=staged.name,
            name=name,
            parent=parent.id,
            kind=_kind(parent.kind, info.family),
            method=step.method,
            origin=parent.origin,
            fingerprint=save.fingerprint(staged),
            info=found,
            ledger=ledger,
            recipe=parent.recipe.extended(recorded, device=run.device, libraries=_libraries()),
            notes=tuple(notes),
            job=job.id,
        )
        measured, variant = _reloaded(verifier, staged, None if streamed else model, variant, run)
        del model
        if words is not None and streamed:
            said = "Not measured: the original doesn't fit into memory beside it."
            variant = variant.model_copy(update={"notes": (*variant.notes, said)})
        elif words is not None:
            again = load.load(staged, device=run.device)
            whole = _uncut(workspace, variant, staged)
            reference = None if whole.id == variant.id else workspace.path(whole.id)
            held = {"labels": spec.labels, "images": spec.images}
            more, variant = _measured(variant, again, reference, words, spec.max_tokens, run, root=whole, **held)
            measured += more
        _commit(workspace, staged, variant, measured, run)
    return variant


def _kind(parent: Kind, family: str) -> Kind:
    made: dict[str, Kind] = {"pruning": "pruned", "quantization": "quantized", "distillation": "distilled"}
    if family == "recovery":
        return "combined" if parent == "original" else parent
    kind = made.get(family, "combined")
    return kind if parent in ("original", kind) else "combined"


def _training_data(step: Step, needs: tuple[str, ...], parent: Variant):
    """(text, labels, step): what the method reads, and the step with the hashes of what that is.

    A classifier's labels are the step's own or those that it learnt from; where it's calibrated and no text was named, the text is
    that of the examples it may learn from, which is more like what it will meet than the starter's.
    """
    labels = words = None
    wanted = step.labels or (parent.recipe.labels if parent.info.task == "classifier" else None)
    if wanted and ("labels" in needs or (needs and parent.info.task == "classifier")):
        labels = examples.read_labels(wanted)
    step = step.model_copy(update={"labels": labels.ref() if labels else None})
    reads = bool({"text", "calibration"} & set(needs))
    if labels and not (reads and step.text):
        content = "\n".join(labels.some(examples.split(labels).learn)[0])
        return texts.Text(labels.name, labels.path, content, labels.sha256), labels, step.model_copy(update={"text": None})
    if not reads:
        return None, labels, step.model_copy(update={"text": None})
    path = Path(step.text.path) if step.text else resources.TRAIN_TEXT
    words = texts.read_text(path)
    if step.text and step.text.sha256 and step.text.sha256 != words.sha256:
        raise UserError(
            "The text {path} isn't the one that the recipe was made with.",
            hint="Restore that text, or remove its sha256 from the recipe to use this one.",
            kind="data",
            path=str(path),
        )
    shown = "starter:train" if path == resources.TRAIN_TEXT else str(path)
    ref = None if shown == "starter:train" else TextRef(path=shown, sha256=words.sha256)
    return words, labels, step.model_copy(update={"text": ref})


def _uncut(workspace: Workspace, variant: Variant, folder: Path | None = None) -> Variant:
    """What a variant is measured against: the original it came from; of a classifier, the first of its line with the same classes.

    folder: where the variant lies while it isn't in the workspace yet.
    """
    classes = lambda folder: read_json(folder / "config.json").get("id2label")
    found, mine = variant, classes(folder or workspace.path(variant.id)) if variant.info.task == "classifier" else None
    while found.parent and found.parent in workspace.ids():
        above = workspace.variant(found.parent)
        if variant.info.task == "classifier" and (above.info.task != "classifier" or classes(workspace.path(above.id)) != mine):
            break
        found = above
    return found


def _reloaded(verifier: verify.Verifier, staged: Path, model, variant: Variant, run: Run, *, remote_code: bool = False):
    """(measurements, variant with its resident memory) of reloading the folder in a plain process. Raises UserError on a mismatch.

    model: None where it isn't in memory: then as many first blocks as fit are checked, and the variant's notes say how many.
    """
    blocks, layers = variant.info.layers, variant.info.layers
    if model is None:
        difference, blocks = blockwise.checked(verifier, staged, variant.info, run)
    else:
        difference = verifier.check(staged, model, run, remote_code=remote_code)
    run.log(f"Reloaded in a plain process: largest difference of the outputs {difference:.2e}")
    by = "diffusers" if variant.info.task == "diffusion" else "transformers"
    where = {"by": f"plain {by} in a fresh process", "dtype": "float32", "device": "cpu"}
    if blocks != layers:
        where["blocks"] = f"the first {blocks} of {layers}"
        said = f"Reloaded and compared on its first {blocks} of {layers} blocks: more don't fit into memory."
        variant = variant.model_copy(update={"notes": (*variant.notes, said)})
    measured = [
        Measurement(kind="reload", value=difference, n=verify.TOKENS, conditions=where | {"check": "largest difference of the outputs"})
    ]
    if verifier.resident and blocks == layers:
        measured.append(
            Measurement(kind="resident", value=verifier.resident, n=1, unit="bytes", conditions=where | {"when": "after the first forward"})
        )
        variant = variant.model_copy(update={"ledger": variant.ledger.model_copy(update={"resident_bytes": verifier.resident})})
    return measured, variant


# ---- measuring --------------------------------------------------------------------------------------------------


def _measured(
    variant: Variant,
    loaded,
    reference: Path | None,
    words,
    most: int | None,
    run: Run,
    root: Variant | None = None,
    labels: LabelsRef | None = None,
    images: ImagesRef | None = None,
):
    """(measurements, variant). What can't be measured is said in the notes, and costs nothing else."""
    measured: list[Measurement] = []
    try:
        if variant.info.task == "diffusion":
            return pictures.measure(loaded.model, pictures.images_for(images, variant, loaded.folder), run), variant
        most = _most(most, (root or variant).info)
        measured += _quality(variant, loaded, reference, words, most, run, root, labels=labels)
        for m in measured:
            if m.kind == "bits_per_byte" and "original" in m.conditions:
                said = f"Its tokens are others than the original's, so what compares is bits a byte: {m.value:.4f}, and "
                said += f"{m.conditions['original']:.4f} of the original on the same text."
                variant = variant.model_copy(update={"notes": (*variant.notes, said)})
        measured += _speed(loaded, words, run)
        if variant.info.task == "classifier" and not any(m.kind == "accuracy" for m in measured):
            said = "Its accuracy isn't known: measure it on labelled examples."
            variant = variant.model_copy(update={"notes": (*variant.notes, said)})
    except UserError as error:
        run.warn(f"not measured: {error}")
        variant = variant.model_copy(update={"notes": (*variant.notes, f"Not measured: {error}")})
    return measured, variant


def _most(asked: int | None, info: SourceInfo) -> int:
    return asked or (LITTLE if (info.parameters or 0) > SLOW_FROM else MUCH)


def _quality(
    variant: Variant,
    loaded,
    reference: Path | None,
    words,
    most: int | None,
    run: Run,
    root: Variant | None,
    context: int | None = None,
    labels: LabelsRef | None = None,
):
    """Of a classifier accuracy on the held-out part of the labels (None: those that it learnt from), of a language model perplexity.

    root: which variant the `reference` folder is.
    """
    info = variant.info
    if loaded.tokenizer is None:
        raise UserError("There is no tokenizer, so text can't be scored.", hint="Put the tokenizer's files beside the model.", kind="model")
    labels = labels or variant.recipe.labels
    if info.task == "classifier" and labels is not None:
        found = examples.read_labels(labels)
        teacher = load.load(reference, device=run.device, dtype=str(loaded.dtype).removeprefix("torch.")) if reference else None
        conditions = {"reference": root.id} if root is not None and teacher is not None else {}
        beside = {"reference": teacher.model, "reference_tokenizer": teacher.tokenizer} if teacher else {}
        return accuracy.score(loaded.model, loaded.tokenizer, found, run=run, max_tokens=context, conditions=conditions, **beside)
    conditions = {"text": words.name, "text_hash": words.sha256[:16]}
    if root is not None:
        conditions["reference"] = root.id
    teacher = load.load(reference, device=run.device, dtype=str(loaded.dtype).removeprefix("torch.")) if reference else None
    if info.task == "causal-lm":
        ids = texts.token_ids(words, loaded.tokenizer, most)
        window = min(context or CONTEXT, info.context or CONTEXT)
        if teacher and root is not None and root.info.tokens_hash != info.tokens_hash:
            return _bits_per_byte(loaded, teacher, ids, window, conditions, run)
        model = teacher.model if teacher else None
        return perplexity.score(loaded.model, ids, context=window, run=run, reference=model, conditions=conditions)
    if teacher is None:
        return []  # without labels, an encoder has no figure of its own, only agreement with another
    return embedding.score(loaded, teacher, words, run=run, conditions=conditions)


def _bits_per_byte(loaded, teacher, ids, window: int, conditions: dict[str, Any], run: Run) -> list[Measurement]:
    """Where the vocabulary isn't the original's: perplexity over its own tokens, and bits per byte, which can be compared.

    The original's bits per byte on the same text, in its own tokens, are kept with the conditions as 'original'.
    """
    size = perplexity.byte_count(loaded.tokenizer, ids)
    same = texts.token_ids(loaded.tokenizer.decode(ids.tolist(), clean_up_tokenization_spaces=False), teacher.tokenizer)
    theirs = perplexity.score(teacher.model, same, context=window, run=run, text_bytes=size)
    original = next(m.value for m in theirs if m.kind == "bits_per_byte")
    conditions = {k: v for k, v in conditions.items() if k != "reference"} | {"original": original}
    return perplexity.score(loaded.model, ids, context=window, run=run, text_bytes=size, conditions=conditions)


def _speed(loaded, words, run: Run, **how: int) -> list[Measurement]:
    """Speeds in this program's own runtime, packed where the variant is. `loaded` is made faster for good: measure quality before."""
    if loaded.tokenizer is None:
        return []
    runtime = "transformers"
    if torch.device(loaded.device).type == "cpu":
        if loaded.info.quantization:
            loaded = load.load(loaded.folder, device=loaded.device, dtype="float32", packed=True)
        done = fast.quicken(loaded.model)
        runtime = "packed codes" if done.packed else "prepacked" if done.prepacked else "transformers"
        if done.slow:
            run.log(f"{done.slow} layers are on a grid without a kernel of its own here, so they're unpacked at every step")
    ids = texts.token_ids(words, loaded.tokenizer, 4096)
    found = speeds.speed(loaded.model, ids, run, conditions={"runtime": runtime}, **how)
    return [m for m in found if m.kind in ("prefill", "decode")]  # memory is what a process of the model's own takes: see _reloaded


def evaluate(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, EvaluateSpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    words = texts.read_text(spec.text or workspace.settings.text or resources.HELDOUT_TEXT)
    reference = workspace.variant(spec.reference) if spec.reference else None
    if reference and variant.info.task != "encoder" and reference.info.tokens_hash != variant.info.tokens_hash:
        raise UserError(
            "{name} has other tokens than {reference}, so their predictions can't be compared.",
            hint="Choose a reference with the same tokenizer, such as the model that it was made from.",
            name=variant.name,
            reference=reference.name,
        )
    if reference and variant.info.task == "classifier" and reference.info.task != "classifier":
        raise UserError(
            "{reference} doesn't classify, so {name} can't be compared with it.",
            hint="Choose a classifier as the reference.",
            name=variant.name,
            reference=reference.name,
        )
    run.stage("Loading", variant.name)
    loaded = load.load(workspace.path(variant.id), device=run.device, dtype=spec.dtype)
    if variant.info.task == "diffusion":
        if reference is not None:
            raise UserError(
                "{name} draws images: it's held against images, not against another model.",
                hint="Leave the reference out.",
                kind="usage",
                name=variant.name,
            )
        found = pictures.images_for(spec.images, variant, loaded.folder)
        return _record(workspace, variant, pictures.measure(loaded.model, found, run, spec.steps, spec.also), run)
    folder = workspace.path(reference.id) if reference else None
    measured = _quality(variant, loaded, folder, words, spec.max_tokens, run, reference, spec.context, spec.labels)
    if spec.speed:
        measured += _speed(loaded, words, run)
    return _record(workspace, variant, measured, run)


def speed(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, SpeedSpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    words = texts.read_text(workspace.settings.text or resources.HELDOUT_TEXT)
    run.stage("Loading", variant.name)
    loaded = load.load(workspace.path(variant.id), device=run.device)
    if variant.info.task == "diffusion":
        steps = loaded.model.steps or min(pictures.STEPS, loaded.model.schedule.total)
        return _record(workspace, variant, [frechet.speed(loaded.model, steps, run, repeats=spec.repeats)], run)
    measured = _speed(loaded, words, run, prefill_tokens=spec.prefill_tokens, decode_tokens=spec.decode_tokens, repeats=spec.repeats)
    return _record(workspace, variant, measured, run)


def _record(workspace: Workspace, variant: Variant, measured: list[Measurement], run: Run) -> dict[str, Any]:
    run.check_cancelled()
    workspace.add_measurements(variant.id, measured)
    run.emit(events.Measured(run.job, variant.id))
    return {"variant": variant.id, "measurements": [m.model_dump() for m in measured]}


# ---- layer by layer ---------------------------------------------------------------------------------------------


def measure_sensitivity(job: Job, run: Run) -> dict[str, Any]:
    """The map is written layer by layer, so that a job that was cancelled or killed goes on where it stopped."""
    spec = job.spec
    assert isinstance(spec, SensitivitySpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    pictures.refuse(variant, "sensitivity")
    if variant.info.quantization:
        raise UserError(
            "{name} is quantized already, so its layers can't be tried at other widths.",
            hint="Choose the variant that it was made from.",
            kind="model",
            name=variant.name,
        )
    words = texts.read_text(spec.text or resources.TRAIN_TEXT)
    run.stage("Loading", variant.name)
    folder = workspace.path(variant.id)
    loaded = load.load(folder, device=run.device, dtype="float32")
    layers, _ = grid.targets(loaded.model, variant.info)
    group, notes = grid.group_of(sensitivity.grid_for(4, spec.group_size), layers)
    settings = calibration.CalibrationParams(windows=spec.windows, context=spec.context)
    ids, more = calibration.draw(words, loaded.tokenizer, settings, variant.info, spec.seed, run)
    known = sensitivity.conditions(
        text=words.name,
        text_hash=words.sha256,
        ids=ids,
        widths=spec.bits,
        group=group,
        clip=spec.clip,
        seed=spec.seed,
        device=run.device,
    )
    path = sensitivity.file_of(folder, known)
    kept = sensitivity.read(path)
    done = {cost.name: cost for cost in kept.layers} if kept else {}
    for note in (*notes, *more, *([f"{len(done)} layers were measured before, under the same settings."] if done else [])):
        run.log(note)
    for cost in done.values():
        run.emit(events.LayerMeasured(run.job, cost.model_dump(mode="json")))

    def keep(cost: LayerCost) -> None:
        done[cost.name] = cost
        sensitivity.write(path, SensitivityMap(widths=spec.bits, layers=tuple(done.values()), conditions=known))
        run.emit(events.LayerMeasured(run.job, cost.model_dump(mode="json")))

    dtype = load.storage_dtype(variant.info)
    costs = sensitivity.measure(
        loaded.model,
        ids,
        layers,
        run,
        widths=spec.bits,
        group=group,
        clip=spec.clip,
        scale_dtype=dtype,
        dense_bytes=dtype.itemsize,
        known=tuple(done.values()),
        tell=keep,
    )
    sensitivity.write(path, SensitivityMap(widths=spec.bits, layers=costs, conditions=known, complete=True))
    return {"file": str(path)}


def study_gradients(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, GradientStudySpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    if variant.info.task != "causal-lm" or variant.info.quantization:
        raise UserError(
            "{name} can't be trained here{why}.",
            hint="Choose a variant that generates text and isn't quantized.",
            kind="model",
            name=variant.name,
            why=": its weights are packed" if variant.info.quantization else "",
        )
    words = texts.read_text(spec.text or resources.TRAIN_TEXT)
    run.stage("Loading", variant.name)
    folder = workspace.path(variant.id)
    loaded = load.load(folder, device=run.device, dtype="float32", train=True)
    if spec.fresh:
        gradient_study.begin_anew(loaded.model, spec.seed)
    given = methods.Given(loaded.tokenizer, folder, variant.info, text=words, seed=spec.seed, device=run.device)
    params = training.TrainingParams(steps=spec.steps, batch=spec.batch, context=spec.context, learning_rate=spec.learning_rate)
    choices = gradient_study.CHOICES if spec.choices is None else [(c.bits, c.per, c.feedback) for c in spec.choices]
    return gradient_study.study(loaded.model, given, params, run, choices, spec.seeds)


# ---- generating -------------------------------------------------------------------------------------------------

_HELD: dict[tuple, Any] = {}  # the models of the last prompt, for the next one
_LAB: dict[tuple, lab.Held] = {}  # the target's caches, packed copy and costs, likewise


def _held(
    wanted: list[Variant | exported.Exported], workspace: Workspace | None, run: Run, dtype: str, beside: int | None = None
) -> tuple[list[Any], lab.Held]:
    """The variants' (or exports') models, the target's first, and what's kept of the target. What isn't wanted any more goes first.

    A quantized draft stays packed: it's faster, and a draft needn't be exact. The target computes in `dtype`, and so does what's at
    place `beside`, which doesn't draft.
    """
    drafts = [place not in (0, beside) for place in range(len(wanted))]
    keys = [
        (folder, v.fingerprint, run.device, dtype, drafts[place] and draft_words.has_words(folder), drafts[place] and _packs(v, run))
        for place, (v, folder) in enumerate((v, exported.path(workspace, v)) for v in wanted)
    ]
    for gone in [k for k in _LAB if k != keys[0]]:
        del _LAB[gone]
    for gone in [k for k in _HELD if k not in keys]:
        del _HELD[gone]
    held = _LAB.setdefault(keys[0], lab.Held())
    held.keep(*(loaded.model for loaded in _HELD.values()), packed=True)
    for key, variant in zip(keys, wanted, strict=True):
        if key not in _HELD:
            run.stage("Loading", variant.name)
            if isinstance(variant, exported.Exported):
                _HELD[key] = variant.loaded(run)
                continue
            halved = dtype == "bfloat16" and run.device == "cpu" and _products_in_bfloat16(variant)
            loaded = load.load(workspace.path(variant.id), device=run.device, dtype="float32" if halved else dtype, packed=key[-1])
            loaded.info = loaded.info.model_copy(update={"name": variant.name})  # so that what's refused is called what the person calls it
            if key[-2]:
                draft_words.for_drafting(loaded)
            if halved:
                fast.quicken(loaded.model, half=True)
            _HELD[key] = loaded
    return [_HELD[key] for key in keys], held


def _products_in_bfloat16(variant: Variant) -> bool:
    """Whether to have products alone in bfloat16, on float32 weights laid out anew (core.decode.fast): where the CPU multiplies in it
    and there's room for the weights in float32."""
    return devices.multiplies_bfloat16() and 5 * (variant.info.parameters or 0) < devices.free_bytes("cpu")


def _packs(variant: Variant, run: Run) -> bool:
    """Whether the variant is worth loading packed: there are kernels for codes on the CPU only (core.decode.fast)."""
    return bool(variant.info.quantization) and run.device == "cpu"


def _draft_of(drafting: Drafting, workspace: Workspace | None, provider: str = "") -> list[Variant | exported.Exported]:
    """The variant or export that drafts, where one does."""
    if drafting.proposer != "draft":
        return []
    if not drafting.draft:
        raise UserError("No draft was named.", hint="Choose a draft, n-gram lookup, or none.")
    return [exported.named(workspace, drafting.draft, provider)]


def generate(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, GenerateSpec)
    workspace, provider = Workspace(spec.workspace) if spec.workspace else None, spec.provider
    own, rival = _draft_of(spec, workspace, provider), _draft_of(spec.rival, workspace, provider) if spec.rival else []
    written = exported.named(workspace, spec.target, provider)
    exported.refuse_dtype(written, spec.dtype)
    other = [exported.named(workspace, spec.beside, provider)] if spec.beside else []
    wanted = [written, *own, *rival, *other]
    (target, *rest), held = _held(wanted, workspace, run, spec.dtype, beside=len(wanted) - 1 if other else None)
    result = lab.generate(
        target,
        rest[0] if own else None,
        spec,
        run,
        rival_draft=rest[len(own)] if rival else None,
        held=held,
        beside=rest[-1] if other else None,
    )
    return result | {"notes": exported.fallbacks(wanted, (target, *rest))}


def find_draft(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, FindDraftSpec)
    workspace = Workspace(spec.workspace)
    record = exported.named(workspace, spec.target, spec.provider)
    (target,), held = _held([record], workspace, run, "float32")
    if spec.drafts is None:
        known = exported.source(workspace, record)
        able = [v for v in workspace.variants() if v.id != record.id and (known is None or not pairing.draft_problem(known, v))]
        able.sort(key=lambda v: v.ledger.parameters)
        made = [exported.named(workspace, v.id, spec.provider) for v in exports.models(workspace, able + ([known] if known else []))]
        able += [one for one in made if one.id != record.id]
    else:
        able = [exported.named(workspace, name, spec.provider) for name in spec.drafts]

    def candidate(variant: Variant | exported.Exported) -> find.Candidate:
        return find.Candidate("draft", variant.name, variant.id, lambda: _as_draft(variant, workspace, run))

    return find.find(target, find.candidates(spec, [candidate(v) for v in able]), spec, run, held=held)


def _as_draft(variant: Variant | exported.Exported, workspace: Workspace, run: Run) -> Any:
    run.stage("Loading", variant.name)
    if isinstance(variant, exported.Exported):
        return variant.loaded(run)
    return draft_words.for_drafting(load.load(workspace.path(variant.id), device=run.device, dtype="float32", packed=_packs(variant, run)))


def check_exactness(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, ExactnessSpec)
    workspace = Workspace(spec.workspace)
    own = _draft_of(spec, workspace)
    (target, *drafts), held = _held([exported.named(workspace, spec.target), *own], workspace, run, "float32")
    return exactness.check(target, drafts[0] if drafts else None, spec, run, held=held)


def enumerate_toy(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, EnumerateSpec)
    return exactness.enumerate_toy(spec)


# ---- taking away ------------------------------------------------------------------------------------------------


def export(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, ExportSpec)
    workspace = Workspace(spec.workspace)
    variant = workspace.variant(spec.variant)
    if spec.format != "onnx":
        pictures.refuse(variant, "export")
    folder, to = workspace.path(variant.id), Path(spec.to)
    where = {"folder": str(spec.to), "check": "onnxruntime against torch"}
    kinds = [("onnx_max_abs", "max_abs"), ("onnx_top1", "top1"), ("onnx_bytes", "bytes")]
    if spec.format == "gguf":
        report = gguf.export(folder, to, run, kind=spec.gguf_type, name=variant.name, overwrite=spec.overwrite)
        where |= {"check": "plain transformers' GGUF reader against torch", "type": report["kind"]}
        kinds = [("gguf_max_abs", "max_abs"), ("gguf_top1", "top1"), ("gguf_kl", "kl"), ("gguf_bytes", "bytes")]
    elif spec.format == "sparse":
        report = sparse.pack(folder, to, run, name=variant.name, overwrite=spec.overwrite)
        where, kinds = {"folder": str(spec.to), "check": "restored and compared by sha256"}, [("sparse_bytes", "bytes")]
    else:
        report = onnx.export(folder, to, run, overwrite=spec.overwrite, options=spec.onnx)
        exported.remember(workspace, variant.id, to, report)
        kinds += [("onnx_kl", "kl")]  # where activations are rounded
    found = []
    for kind, key in kinds:
        if isinstance(report.get(key), (int, float)):
            found.append(
                Measurement(kind=kind, value=float(report[key]), n=int(report.get("tokens", 0) or 0), conditions=where, taken=now())
            )
    with contextlib.suppress(OSError):  # the export is whole; a workspace that can't be written to loses only its note of it
        workspace.add_measurements(variant.id, found)
    run.emit(events.Measured(run.job, variant.id))
    return {"folder": str(Path(spec.to).absolute()), "report": report, "variant": variant.id, "workspace": spec.workspace}


def try_export(job: Job, run: Run) -> dict[str, Any]:
    spec = job.spec
    assert isinstance(spec, TryExportSpec)
    run.stage("Loading", Path(spec.folder).name)
    generator = OnnxGenerator(Path(spec.folder), provider=spec.provider)
    if note := providers.fallback_note(spec.provider, generator.provider):
        run.warn(note)
    count = 0

    def on_token(token: int, piece: str) -> None:
        nonlocal count
        run.check_cancelled()
        if run.stop_asked:
            generator.stop()
        taken = events.Round(
            number=count,
            start=count,
            planned=0,
            drafted=(),
            why_stopped="",
            final_id=token,
            final_text=piece,
            final_kind="plain",
            committed=(token,),
        )
        count += 1
        run.emit(events.RoundTaken(run.job, "plain", taken))

    made = generator.generate(spec.prompt, max_new_tokens=spec.max_new_tokens, on_token=on_token)
    return made | {"provider": generator.provider}


TASKS = {
    "inspect": inspect_source,
    "estimate": estimate,
    "labels": describe_labels,
    "import": import_model,
    "apply": apply,
    "evaluate": evaluate,
    "speed": speed,
    "generate": generate,
    "find-draft": find_draft,
    "exactness": check_exactness,
    "enumerate": enumerate_toy,
    "sensitivity": measure_sensitivity,
    "gradient-study": study_gradients,
    "layer-look": looks.look_at_layer,
    "activation-look": looks.look_at_activations,
    "heads": heads.measure_heads,
    "export": export,
    "try-export": try_export,
    "compare-export": exported.compare,
    "classify-export": exported.classified,
    "look-export": exported.look,
    "draw-export": exported.drawn,
    "providers": exported.offered,
}
