"""The commands. Each is thin: it makes a job (or reads the workspace), and prints what came of it."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import core
from core import allocation, events, exports, providers
from core.cli.drive import Driver, out
from core.errors import Cancelled, UserError, explain
from core.pairing import draft_note
from core.params import parse_settings
from core.recipe import ImagesRef, LabelsRef, Recipe, Step, TextRef
from core.records import (
    ApplySpec,
    ClassifyExportSpec,
    CompareExportSpec,
    Drafting,
    DrawExportSpec,
    EvaluateSpec,
    ExactnessSpec,
    ExportSpec,
    FindDraftSpec,
    GenerateSpec,
    GradientStudySpec,
    ImportSpec,
    LabelsSpec,
    Measurement,
    OnnxOptions,
    SensitivitySpec,
    SpeedSpec,
    Turn,
    Variant,
)
from core.workspace import Workspace

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(context_settings=CONTEXT)
@click.version_option(core.__version__, prog_name="spokeshave-cli")
def cli() -> None:
    """Prune, quantize and distil models, measure what each cut cost, draft with one for another, export to ONNX."""


def command(name: str) -> Callable:
    """A command with --json and --debug, whose foreseen failures are one sentence and exit status 1 (2 for wrong use)."""

    def wrap(function: Callable) -> Callable:
        @cli.command(name)
        @click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output, nothing else there.")
        @click.option("--debug", is_flag=True, help="Show logs, and where a failure came from.")
        @functools.wraps(function)
        def guarded(*args: Any, as_json: bool, debug: bool, **kwargs: Any) -> None:
            try:
                function(*args, as_json=as_json, debug=debug, **kwargs)
            except (KeyboardInterrupt, Cancelled):
                click.echo("Cancelled; nothing was left behind.", err=True)
                sys.exit(130)
            except click.ClickException:
                raise
            except BrokenPipeError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                sys.exit(1)
            except Exception as error:
                told = explain(error, detail=traceback.format_exc())
                click.echo(f"Error: {told}", err=True)
                if debug and told.detail:
                    click.echo(told.detail, err=True)
                sys.exit(2 if told.kind == "usage" else 1)

        return guarded

    return wrap


workspace_option = click.option("-w", "--workspace", required=True, type=click.Path(file_okay=False), help="The workspace folder.")
labels_option = click.option(
    "--labels", metavar="FILE", help="Examples, a text and its class in each row: CSV, JSON lines, Parquet, or org/name."
)
images_option = click.option("--images", metavar="PATH", help="Images, for a diffusion model: an .npz file or a folder of pictures.")
columns_options = [
    click.option("--text-column", default="", help="The column with the text; found by its name otherwise."),
    click.option("--label-column", default="", help="The column with the class; found by its name otherwise."),
]
variant_option = click.option("--variant", required=True, help="A variant's id (or its name, where just one has it).")
device_option = click.option("--device", default="auto", show_default=True, help="cpu, cuda, cuda:1, mps, or auto: the best there is.")


class Number(click.FloatRange):
    """A number in a range; 'nan', which no comparison keeps out, isn't one."""

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


def filled(ctx: Any, param: Any, value: str) -> str:
    """Refuses an empty SOURCE, which as a path would be the folder that one is in."""
    if not value.strip():
        raise click.BadParameter("it is empty.")
    return value


def document(data: Any) -> None:
    out(json.dumps(data, ensure_ascii=False, indent=1, default=_plain))


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def row(workspace: Workspace, variant: Variant) -> dict[str, Any]:
    """What `list` says of a variant."""
    return {
        "id": variant.id,
        "name": variant.name,
        "parent": variant.parent,
        "kind": variant.kind,
        "method": variant.method,
        "created": variant.created,
        "path": str(workspace.path(variant.id)),
        "architecture": variant.info.architecture,
        "bytes_on_disk": variant.ledger.bytes_on_disk,
        "weight_bytes": variant.ledger.weight_bytes,
        "parameters": variant.ledger.parameters,
        "nonzero": variant.ledger.nonzero,
        "effective_bits": variant.ledger.effective_bits,
        "fingerprint": variant.fingerprint,
        "notes": list(variant.notes),
        "exports": [e.model_dump(mode="json", exclude_none=True) | {"problem": exports.why_not(e)} for e in workspace.exports(variant.id)],
        "measurements": [m.model_dump(mode="json", exclude_none=True) for m in workspace.measurements(variant.id)],
    }


def table(*columns: str, title: str = "") -> Table:
    made = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        made.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left", overflow="fold")
    return made


def show(made: Table) -> None:
    width = None if sys.stdout.isatty() else 140
    Console(highlight=False, width=width).print(made)


def megabytes(size: int | None) -> str:
    return "unknown" if size is None else f"{size / 1e6:,.1f} MB"


def figure(m: Measurement) -> str:
    value = f"{m.value:.4g}"
    return f"{value} ± {1.96 * m.stderr:.2g}" if m.stderr else value


# ---- looking ----------------------------------------------------------------------------------------------------


@command("inspect")
@click.argument("source", callback=filled)
@click.option("--trust-remote-code", is_flag=True, help="Allow a model that brings its own Python code. It can do anything.")
def inspect(source: str, trust_remote_code: bool, as_json: bool, debug: bool) -> None:
    """What a folder, a .gguf file or a Hub id is, without loading its weights."""
    from core.models.inspect import inspect as look

    info = look(source, remote_code=trust_remote_code)
    if as_json:
        return document(info)
    made = table("what", "value", title=info.name)
    shape = f"{info.layers} layers, hidden {info.hidden}, MLP {info.intermediate}, {info.heads} heads, {info.kv_heads} key-value heads"
    for label, value in (
        ("architecture", f"{info.architecture or 'unknown'} ({info.task})"),
        ("shape", shape),
        ("parameters", f"{info.parameters:,}" if info.parameters else "unknown"),
        ("by component", ", ".join(f"{k} {v:,}" for k, v in info.components.items())),
        ("stored as", ", ".join(f"{k} {v:,}" for k, v in info.dtypes.items())),
        ("size on disk", megabytes(info.bytes_on_disk)),
        ("tied embedding", {True: "yes", False: "no", None: "unknown"}[info.tied]),
        ("tokenizer", "yes" if info.tokenizer else "no"),
        ("quantized as", info.quantization or "not quantized"),
        ("memory needed / free (estimate)", f"{megabytes(info.memory_needed)} / {megabytes(info.memory_free)}"),
        *(("warning", w) for w in info.warnings),
    ):
        made.add_row(label, value)
    show(made)


@command("methods")
@click.argument("name", required=False)
def methods(name: str | None, as_json: bool, debug: bool) -> None:
    """The methods, or one's knobs with their bounds and defaults."""
    from core import methods as registry

    if name:
        info = registry.get(name).info
        if as_json:
            return document(info)
        out(f"{info.title} ({info.family}): {info.summary}\n{info.paper}".rstrip())
        made = table("knob", "default", "allowed", "what it does")
        for k in info.knobs:
            low, high = (
                ("(" if k.low_open else "[") + f"{k.low:g}" if k.low is not None else "(-∞",
                f"{k.high:g}" + (")" if k.high_open else "]") if k.high is not None else "∞)",
            )
            allowed = " | ".join(str(v) for v, _ in k.choices) or (f"{low}, {high}" if k.kind in ("int", "float") else k.kind)
            made.add_row(k.name, str(k.default), allowed, f"{k.help}{' Unit: ' + k.unit + '.' if k.unit else ''}")
        return show(made)
    known = registry.catalogue()
    if as_json:
        return document([m.model_dump(mode="json") for m in known])
    made = table("method", "family", "needs", "what it is")
    for m in known:
        made.add_row(m.name, m.family, ", ".join(m.needs) or "–", f"Can't be used: {m.error}" if m.error else f"{m.title}. {m.summary}")
    show(made)


@command("list")
@workspace_option
def list_variants(workspace: str, as_json: bool, debug: bool) -> None:
    """The variants of a workspace, with their sizes and measurements."""
    home = Workspace(workspace)
    variants = home.variants()
    if as_json:
        return document([row(home, v) for v in variants])
    made = table("id", "name", "parent", "method", ">size", ">parameters", ">non-zero", ">bits", "measured")
    for v in variants:
        latest = {m.kind: m for m in home.measurements(v.id)}
        said = ", ".join(f"{k} {figure(latest[k])}" for k in ("perplexity", "kl", "agreement", "cosine", "decode") if k in latest)
        ledger = v.ledger
        made.add_row(
            v.id,
            v.name,
            v.parent or "–",
            v.method,
            megabytes(ledger.bytes_on_disk),
            f"{ledger.parameters:,}",
            f"{ledger.nonzero:,}",
            f"{ledger.effective_bits:.2f}",
            said or "–",
        )
    show(made)


# ---- changing ---------------------------------------------------------------------------------------------------


@command("import")
@click.argument("source", callback=filled)
@workspace_option
@click.option("--name", help="What to call it; the source's own name otherwise.")
@click.option(
    "--dtype",
    type=click.Choice(["auto", "float32", "bfloat16", "float16"]),
    default="auto",
    show_default=True,
    help="Storage; auto keeps it (GGUF: bfloat16).",
)
@click.option("--text", type=click.Path(dir_okay=False), help="Text for the baseline measurement; the starter's held-out text otherwise.")
@images_option
@click.option("--no-measure", is_flag=True, help="Leave the baseline measurement out.")
@click.option("--trust-remote-code", is_flag=True, help="Allow a model that brings its own Python code. It can do anything.")
@device_option
def import_model(
    source: str,
    workspace: str,
    name: str | None,
    dtype: str,
    text: str | None,
    images: str | None,
    no_measure: bool,
    trust_remote_code: bool,
    device: str,
    as_json: bool,
    debug: bool,
) -> None:
    """Bring a model into a workspace, measure it, and print the new variant's id."""
    Workspace(workspace, create=True)
    path = Path(source).expanduser()
    spec = ImportSpec(
        workspace=str(Path(workspace).absolute()),
        source=str(path.absolute()) if path.exists() else source,
        name=name,
        dtype=dtype,
        remote_code=trust_remote_code,
        measure=not no_measure,
        text=_file(text),
        images=_images(images),
    )
    _made(spec, f"Importing {Path(source).name}", workspace, device, as_json, debug)


def _file(path: str | None) -> str | None:
    return str(Path(path).expanduser().absolute()) if path else None


def _made(spec: Any, title: str, workspace: str, device: str, as_json: bool, debug: bool) -> None:
    """Runs a job that makes variants, and prints the last one's id."""
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, title, device=device)
    home = Workspace(workspace)
    variant = home.variant(result["variant"])
    if as_json:
        return document(row(home, variant) | {"variants": result.get("variants", [variant.id])})
    for note in variant.notes:
        click.echo(f"note: {note}", err=True)
    out(variant.id)


@command("apply")
@click.argument("method")
@workspace_option
@variant_option
@click.option("--set", "settings", multiple=True, metavar="KNOB=VALUE", help="A knob; may be repeated. 'methods METHOD' lists them.")
@click.option("--text", type=click.Path(dir_okay=False), help="Text to calibrate or train on; the starter's training text otherwise.")
@labels_option
@columns_options[0]
@columns_options[1]
@images_option
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--name", help="What to call the new variant.")
@click.option("--measure/--no-measure", default=False, show_default=True, help="Measure quality and speed afterwards, as the window does.")
@device_option
def apply(
    method: str,
    workspace: str,
    variant: str,
    settings: tuple[str, ...],
    text: str | None,
    labels: str | None,
    text_column: str,
    label_column: str,
    images: str | None,
    seed: int,
    name: str | None,
    measure: bool,
    device: str,
    as_json: bool,
    debug: bool,
) -> None:
    """Apply METHOD to a variant; prints the new variant's id."""
    home = Workspace(workspace)
    source = home.variant(variant)
    step = Step(
        method=method,
        params=parse_settings(settings),
        seed=seed,
        text=TextRef(path=_file(text) or "") if text else None,
        labels=_labels(labels, text_column, label_column),
        images=_images(images),
    )
    spec = ApplySpec(workspace=str(home.folder), variant=source.id, steps=(step,), name=name, measure=measure)
    _made(spec, f"{method} on {source.name}", workspace, device, as_json, debug)


def _images(path: str | None) -> ImagesRef | None:
    return None if path is None else ImagesRef(path=path if path.startswith("starter:") else str(Path(path).expanduser().absolute()))


def _labels(path: str | None, text: str, label: str) -> LabelsRef | None:
    if path is None:
        return None
    return LabelsRef(path=_file(path) or "" if Path(path).expanduser().exists() else path, text=text, label=label)


@command("labels")
@click.argument("file")
@columns_options[0]
@columns_options[1]
def labels(file: str, text_column: str, label_column: str, as_json: bool, debug: bool) -> None:
    """What a FILE of labelled examples holds (or 'org/name' on the Hub): its columns, its classes, and what's held out."""
    with Driver(quiet=True, debug=debug) as driver:
        result = driver.run(LabelsSpec(labels=_labels(file, text_column, label_column)), f"Reading {file}")
    if as_json:
        document(result)
        return
    if "rows" not in result:
        shown = ", ".join(result["columns"])
        out(f"Which columns hold text and class can't be told: say it with --text-column and --label-column. There are {shown}.")
        return
    out(f"{result['rows']:,} examples, {result['heldout']:,} of them held out for measuring; columns: {', '.join(result['columns'])}")
    out(f"Text: {result['text']}. Class: {result['label']}.")
    if result["left_out"]:
        out(f"{result['left_out']:,} rows have no text or no class and are left out.")
    made = table("class", "examples")
    for name, count in result["classes"].items():
        made.add_row(name, f"{count:,}")
    show(made)


@command("run")
@click.argument("recipe", type=click.Path(dir_okay=False))
@workspace_option
@click.option("--variant", help="Start from this variant, whatever the recipe's source says.")
@click.option("--measure/--no-measure", default=False, show_default=True, help="Measure each variant afterwards.")
@device_option
def run(recipe: str, workspace: str, variant: str | None, measure: bool, device: str, as_json: bool, debug: bool) -> None:
    """Make a recipe's variant again; prints its id. The same machine gives the same weights."""
    wanted = Recipe.read(Path(recipe))
    if not wanted.steps:
        raise UserError(
            "{recipe} has no steps, so there is nothing to run.",
            hint="Copy the recipe of a variant that was made from another.",
            recipe=recipe,
        )
    home = Workspace(workspace)
    spec = ApplySpec(workspace=str(home.folder), variant=_start(home, wanted, variant).id, steps=wanted.steps, measure=measure)
    _made(spec, f"Running {Path(recipe).name}", workspace, device, as_json, debug)


def _start(home: Workspace, recipe: Recipe, asked: str | None) -> Variant:
    """The original that a recipe starts from, found by its weights' fingerprint."""
    if asked:
        return home.variant(asked)
    originals = [v for v in home.variants() if v.parent is None]
    same = [v for v in originals if recipe.source.fingerprint and v.fingerprint == recipe.source.fingerprint]
    if not recipe.source.fingerprint:
        same = [v for v in originals if recipe.source.name in (v.name, v.id)]
    if not same:
        raise UserError(
            "The recipe starts from {name}, and no original in this workspace has the same weights.",
            hint="Import that model first, or name a variant to start from with --variant.",
            name=recipe.source.name or "a model that it doesn't name",
        )
    return same[0]


@command("delete")
@workspace_option
@variant_option
def delete(workspace: str, variant: str, as_json: bool, debug: bool) -> None:
    """Delete a variant that nothing else was made from."""
    home = Workspace(workspace)
    record = home.variant(variant)
    home.delete(record.id)
    if as_json:
        return document({"deleted": record.id})
    out(record.id)


# ---- measuring --------------------------------------------------------------------------------------------------


@command("evaluate")
@workspace_option
@variant_option
@click.option("--text", type=click.Path(dir_okay=False), help="Text to score; the starter's held-out text otherwise.")
@labels_option
@columns_options[0]
@columns_options[1]
@images_option
@click.option("--steps", type=click.IntRange(1), help="Steps that a diffusion model draws in; those that it was made for, or 32.")
@click.option("--also", multiple=True, type=click.IntRange(1), help="Another number of steps to draw in, with its speed; may be repeated.")
@click.option("--reference", help="Another variant: KL divergence and agreement with it are measured too.")
@click.option("--context", type=click.IntRange(2), help="Tokens a window; 512, or the model's context where that's smaller.")
@click.option("--max-tokens", type=click.IntRange(2), help="Score no more than so many tokens of the text.")
@click.option(
    "--dtype", type=click.Choice(["auto", "float32", "bfloat16", "float16"]), default="auto", show_default=True, help="To compute in."
)
@device_option
def evaluate(
    workspace: str,
    variant: str,
    text: str | None,
    labels: str | None,
    text_column: str,
    label_column: str,
    images: str | None,
    steps: int | None,
    also: tuple[int, ...],
    reference: str | None,
    context: int | None,
    max_tokens: int | None,
    dtype: str,
    device: str,
    as_json: bool,
    debug: bool,
) -> None:
    """Perplexity on a text (of a classifier accuracy on labels, of a diffusion model the Frechet distance to images), and with a reference
    KL divergence and agreement, each with its error."""
    home = Workspace(workspace)
    source = home.variant(variant)
    spec = EvaluateSpec(
        workspace=str(home.folder),
        variant=source.id,
        text=_file(text),
        reference=home.variant(reference).id if reference else None,
        context=context,
        max_tokens=max_tokens or sys.maxsize,
        dtype=dtype,
        labels=_labels(labels, text_column, label_column),
        images=_images(images),
        steps=steps,
        also=also,
    )
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, f"Evaluating {source.name}", device=device)
    _figures(source, [Measurement(**m) for m in result["measurements"]], as_json)


@command("speed")
@workspace_option
@variant_option
@click.option("--repeats", type=click.IntRange(5), default=5, show_default=True)
@device_option
def speed(workspace: str, variant: str, repeats: int, device: str, as_json: bool, debug: bool) -> None:
    """Prefill and decode speed, warm: median and spread."""
    home = Workspace(workspace)
    source = home.variant(variant)
    spec = SpeedSpec(workspace=str(home.folder), variant=source.id, repeats=repeats)
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, f"Timing {source.name}", device=device)
    _figures(source, [Measurement(**m) for m in result["measurements"]], as_json)


def _figures(variant: Variant, measured: list[Measurement], as_json: bool) -> None:
    if as_json:
        flat: dict[str, Any] = {"variant": variant.id}
        for m in measured:
            flat[m.kind] = m.value
            flat[f"{m.kind}_stderr"] = m.stderr
        flat["stderr"] = {m.kind: m.stderr for m in measured}
        scored = next((m for m in measured if m.kind in ("perplexity", "cosine")), measured[0] if measured else None)
        flat["tokens"] = scored.n if scored else 0
        flat["conditions"] = scored.conditions if scored else {}
        flat["measurements"] = [m.model_dump(mode="json", exclude_none=True) for m in measured]
        return document(flat)
    made = table("measured", ">value", "95 % interval", ">n", "conditions", title=variant.name)
    for m in measured:
        interval = f"{m.interval[0]:.5g} … {m.interval[1]:.5g}" if m.interval else "–"
        made.add_row(
            m.kind, f"{m.value:.5g} {m.unit}".strip(), interval, f"{m.n:,}", ", ".join(f"{k} {v}" for k, v in m.conditions.items())
        )
    show(made)


# ---- generating -------------------------------------------------------------------------------------------------


def options(*many: Callable) -> Callable:
    """Several options as one decorator, shown in this order."""

    def wrap(function: Callable) -> Callable:
        for option in reversed(many):
            function = option(function)
        return function

    return wrap


PROPOSERS = ("none", "draft", "ngram", "packed", "early-exit", "layer-skip")
target_option = click.option("--target", required=True, help="The variant whose text it is, or the folder of an ONNX export.")
provider_option = click.option(
    "--provider",
    type=click.Choice(tuple(providers.NAMES)),
    default="cpu",
    show_default=True,
    help="What onnxruntime computes exports by, of what it has.",
)
drafting_options = options(
    click.option(
        "--draft",
        help="The variant (or folder of an ONNX export) that writes ahead. With other tokens than the target's its text is re-encoded.",
    ),
    click.option("--ngram", is_flag=True, help="Draft by looking the last tokens up in the text so far; as --proposer ngram."),
    click.option(
        "--proposer",
        type=click.Choice(PROPOSERS),
        help="Who drafts: 'packed' is an 8-bit copy of the target, made in memory. [default: none]",
    ),
    click.option("--gamma", type=click.IntRange(0, 32), default=4, show_default=True, help="Tokens drafted a round; adaptive: at most."),
    click.option(
        "--policy",
        type=click.Choice(["fixed", "adaptive"]),
        default="fixed",
        show_default=True,
        help="adaptive: as many as pay, by measured costs and what was kept.",
    ),
    click.option(
        "--verifier",
        type=click.Choice(["token", "block", "tree", "typical", "top-k"]),
        default="token",
        show_default=True,
        help="The rule that keeps a drafted token. typical and top-k aren't lossless.",
    ),
    click.option("--confidence", type=Number(0, 1, max_open=True), default=0.0, help="Stop drafting after a token below this; 0: never."),
    click.option("--branches", type=click.IntRange(1, 8), default=2, show_default=True, help="Of a tree: candidates at each depth."),
    click.option("--exit-layer", type=click.IntRange(1), help="Early exit: how many first layers draft. [default: a third]"),
    click.option("--skip-layers", metavar="N,N,…", help="Layer skip: the layers left out, from 0. [default: searched on the prompt]"),
    click.option("--epsilon", type=Number(0, 1, min_open=True), default=0.3, help="Of the typical rule: its threshold."),
    click.option("--delta", type=Number(0, 1, min_open=True), default=0.09, help="Of the typical rule: its share of exp(-entropy)."),
    click.option("--relaxed-k", type=click.IntRange(1, 64), default=2, help="Of the top-k rule: how many of the likeliest are kept."),
)
choice_options = options(
    click.option(
        "--top-p",
        type=Number(0, 1, min_open=True),
        default=1.0,
        show_default=True,
        help="Only the likeliest tokens that hold this much probability.",
    ),
    click.option(
        "--min-p", type=Number(0, 1, max_open=True), default=0.0, help="Only tokens with this share of the likeliest's probability."
    ),
    click.option("--typical-p", type=Number(0, 1, min_open=True), default=1.0, help="Only the most typical tokens that hold this much."),
    click.option("--repetition-penalty", type=Number(0, 10, min_open=True), default=1.0, help="Divides the logits of tokens seen before."),
    click.option("--presence-penalty", type=Number(-10, 10), default=0.0, help="Subtracted from the logits of tokens written before."),
    click.option("--frequency-penalty", type=Number(-10, 10), default=0.0, help="The same for each time that they were written."),
    click.option("--ban", "banned", multiple=True, metavar="TEXT", help="A token that mustn't come; may be repeated."),
    click.option("--force", "forced", default="", metavar="TEXT", help="What the text begins with."),
    click.option("--stop", multiple=True, metavar="TEXT", help="A text that ends it; may be repeated."),
    click.option("--min-new-tokens", type=click.IntRange(0), default=0, help="No end of text before so many tokens."),
    click.option("--seed", type=int, default=0, show_default=True),
)
temperature_option = click.option("--temperature", type=Number(0, 5), default=0.0, show_default=True, help="0: always the likeliest token.")
top_k_option = click.option("--top-k", type=click.IntRange(0), default=0, show_default=True, help="Only the K likeliest tokens; 0: all.")


def model_of(home: Workspace | None, name: str) -> str:
    """The id of a variant of that name, or what names the ONNX export in that folder. Raises UserError where it's neither."""
    folder = Path(name).expanduser()
    known = home is not None and name in home.ids()
    if not known and folder.is_dir() and exports.holds_graph(folder):
        return exports.reference(folder)
    if not known and (folder / exports.REPORT).is_file():
        raise UserError(
            "What {folder} holds was exported of a model that doesn't continue text.",
            hint="Choose an exported language model.",
            folder=name,
        )
    if home is None:
        raise click.UsageError(f"{name} isn't the folder of an ONNX export, and a variant is of a workspace: name it with --workspace.")
    return home.variant(name).id


def drafting_of(workspace: str | None, how: dict[str, Any]) -> dict[str, Any]:
    """Takes the drafting options out of `how`; returns the fields of a Drafting. Wrong use is told before the workspace is opened."""
    names = ("gamma", "policy", "verifier", "confidence", "branches", "exit_layer", "epsilon", "delta", "relaxed_k")
    draft, ngram, proposer, skipped = (how.pop(name) for name in ("draft", "ngram", "proposer", "skip_layers"))
    if draft and ngram:
        raise click.UsageError("--draft and --ngram exclude each other.")
    said = "draft" if draft else "ngram" if ngram else None
    if said and proposer and proposer != said:
        raise click.UsageError(f"--{said} and --proposer {proposer} exclude each other.")
    proposer = said or proposer or "none"
    if proposer == "draft" and not draft:
        raise click.UsageError("--proposer draft needs --draft, the variant that drafts.")
    try:
        layers = tuple(int(part) for part in skipped.split(",")) if skipped else None
    except ValueError:
        raise click.BadParameter(f"{skipped!r} isn't a list of layers, such as 3,5,7.", param_hint="--skip-layers") from None
    fields = {name: how.pop(name) for name in names}
    home = Workspace(workspace) if workspace else None
    return fields | {"proposer": proposer, "draft": model_of(home, draft) if draft else None, "skipped": layers}


def rival_of(home: Workspace | None, text: str) -> Drafting:
    """'ngram', 'packed:gamma=7,policy=adaptive', 'draft:draft=NAME,gamma=6' as a Drafting."""
    proposer, _, rest = text.partition(":")
    fields = parse_settings(part for part in rest.split(",") if part) | {"proposer": proposer}
    if fields.get("draft"):
        fields["draft"] = model_of(home, str(fields["draft"]))
    try:
        return Drafting(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        raise click.BadParameter(f"{name}: {first['msg'].lower()}.", param_hint="--rival") from None


def turns_of(path: str) -> tuple[Turn, ...]:
    """A chat from a JSON file: a list of {"role": "user", "content": "…"}."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        turns = tuple(Turn(**turn) for turn in data)
        if not turns:
            raise ValueError("no turns")
        return turns
    except (ValueError, TypeError, RecursionError) as error:  # not JSON, not UTF-8, no turns; nested without end
        raise UserError(
            "{path} isn't a list of chat turns.",
            hint='Write it as JSON: [{{"role": "user", "content": "…"}}].',
            path=path,
            detail=str(error),
        ) from error


@command("generate")
@click.option("-w", "--workspace", type=click.Path(file_okay=False), help="The workspace folder; not needed where all models are exports.")
@target_option
@drafting_options
@temperature_option
@top_k_option
@choice_options
@click.option("--max-new-tokens", type=click.IntRange(1), default=128, show_default=True)
@click.option(
    "--dtype", type=click.Choice(["auto", "float32", "bfloat16", "float16"]), default="float32", show_default=True, help="To compute in."
)
@click.option(
    "--kv-bits",
    type=click.Choice(["8", "4"]),
    callback=lambda _, __, value: int(value) if value else None,
    help="Keep keys and values in so few bits.",
)
@click.option("--race", is_flag=True, help="Decode plainly too, with the same seed, in turns, and compare.")
@click.option("--beside", help="Another form of the target, decoded plainly in the same race: a variant, or the folder of an ONNX export.")
@provider_option
@click.option("--rival", metavar="HOW", help="A second way to draft beside the first: ngram, packed:gamma=7, draft:draft=NAME,gamma=6 …")
@click.option("--prompt", help="The text to go on from.")
@click.option("--chat", is_flag=True, help="The prompt is a user's message, written by the model's own chat template.")
@click.option("--system", help="With --chat: the system's message before it.")
@click.option("--messages", type=click.Path(dir_okay=False, exists=True), help="A chat from a JSON file: a list of {role, content}.")
@click.option("--rounds", type=click.Path(dir_okay=False, writable=True), help="Write every round to this file as JSON lines.")
@device_option
def generate(
    workspace: str | None,
    target: str,
    rival: str | None,
    beside: str | None,
    prompt: str | None,
    chat: bool,
    system: str | None,
    messages: str | None,
    rounds: str | None,
    device: str,
    as_json: bool,
    debug: bool,
    **how: Any,
) -> None:
    """Generate text, drafted ahead where asked; unless the rule says otherwise, it's distributed as if the target wrote alone."""
    if (prompt is None) == (messages is None):
        raise click.UsageError("Give --prompt, or --messages with a chat.")
    if (chat and prompt is None) or (system and not chat):
        raise click.UsageError("--chat makes a user's message of --prompt, and --system goes with it.")
    turns: tuple[Turn, ...] = turns_of(messages) if messages else ()
    if chat:
        turns = (*([Turn(role="system", content=system)] if system else []), Turn(role="user", content=prompt))
    drafting = drafting_of(workspace, how)
    home = Workspace(workspace) if workspace else None
    spec = GenerateSpec(
        workspace=str(home.folder) if home else "",
        target=model_of(home, target),
        beside=model_of(home, beside) if beside else None,
        prompt="" if turns else prompt,
        messages=turns,
        rival=rival_of(home, rival) if rival else None,
        **drafting,
        **how,
    )
    if rounds and not os.access(Path(rounds).absolute().parent, os.W_OK):  # said now, not when the text is written
        raise UserError("{path} can't be written.", hint="Choose a file in a folder that's there and that you may write to.", path=rounds)
    both = [spec.target, *([spec.draft] if spec.draft else [])]
    note = draft_note(*map(home.variant, both)) if len(both) > 1 and home and not any(map(exports.folder_of, both)) else ""
    if note:
        click.echo(f"note: {note}", err=True)
    painter = Painter() if sys.stdout.isatty() and not as_json else None
    taken: list[events.Round] = []
    shown = "speculative" if spec.proposer != "none" and spec.gamma else "plain"

    def on_event(event: Any) -> None:
        if isinstance(event, events.RoundTaken) and event.lane == shown:
            taken.append(event.round)
            if painter:
                painter.paint(event.round)

    with Driver(quiet=as_json or painter is not None, debug=debug) as driver:
        result = driver.run(spec, "Generating", device=device, on_event=on_event)
    if rounds:
        lines = "".join(json.dumps(events.round_to_dict(r), ensure_ascii=False) + "\n" for r in taken)
        Path(rounds).write_text(lines, encoding="utf-8")
    if as_json:
        return document(result | {"token_ids": result.get("ids", [])})
    if painter:
        painter.end()
    else:
        out(result["text"])
    if len(result["lanes"]) > 1:
        made = table("lane", ">tokens/s", ">kept/tested", ">tokens a call", ">speed-up", ">possible", "against plain")
        for name, lane in result["lanes"].items():
            made.add_row(
                name,
                f"{lane['tokens_per_s']:.1f}" if lane["tokens_per_s"] else "–",
                f"{lane['accepted']}/{lane['tested']}" if lane["tested"] else "–",
                f"{lane['tokens_per_target_call']:.2f}" if lane["rounds"] else "–",
                *(f"×{lane[key]:.2f}" if lane[key] else "–" for key in ("speedup", "possible_speedup")),
                _same(lane) if name != "plain" else "",
            )
        Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 140).print(made)
    rate = f"{result['tokens_per_s']:.1f} tokens/s" if result["tokens_per_s"] else "nothing written"
    said = f"{rate}, {len(result['ids'])} tokens, ended by {result['stop']}"
    if shown == "speculative":
        share = f"{result['accepted'] / result['tested']:.0%}" if result["tested"] else "none"
        said += f"; kept {result['accepted']} of {result['tested']} tested ({share}), {result['drafted']} drafted"
        if result["rounds"]:
            said += f", {result['tokens_per_target_call']:.2f} tokens a target call"
    if spec.kv_bits:
        said += f"; cache {result['cache_bytes'] / 1e6:.1f} MB instead of {result['cache_bytes_plain'] / 1e6:.1f}"
    if not result["lossless"]:
        far = f" (mean total variation {result['distance']:.3f} a tested position)" if result["distance"] is not None else ""
        said += f"; this rule isn't lossless{far}"
    click.echo(said, err=True)
    if result.get("plain") and result["speedup"]:
        plain = result["plain"]
        click.echo(f"plain: {plain['tokens_per_s']:.1f} tokens/s; measured speed-up ×{result['speedup']:.2f}; {_same(result)}", err=True)


def _same(lane: dict[str, Any]) -> str:
    """What a lane's text has to do with plain decoding's."""
    if lane.get("identical"):
        return "identical tokens"
    if parting := lane.get("divergence"):
        margin = f", top-2 margin {parting['margin']:.2g}" if parting["margin"] is not None else ""
        return f"parts at token {parting['position'] + 1}{margin}"
    return "sampled: nothing claimed"


@command("find-draft")
@workspace_option
@target_option
@provider_option
@click.option("--prompt", "prompts", multiple=True, help="A prompt like those that you'll use; may be repeated.")
@click.option("--prompts-file", type=click.Path(dir_okay=False, exists=True), help="A text file with prompts, a blank line between them.")
@click.option("--draft", "drafts", multiple=True, help="A variant to try; may be repeated. [default: every one that can]")
@click.option(
    "--proposer",
    "proposers",
    multiple=True,
    type=click.Choice(["draft", "ngram", "packed", "layer-skip", "early-exit"]),
    help="A way to try; may be repeated. [default: draft, ngram, packed, layer-skip]",
)
@click.option("--gamma", type=click.IntRange(1, 16), default=8, show_default=True, help="The most tokens a round that's considered.")
@click.option("--repeats", type=click.IntRange(1, 9), default=3, show_default=True)
@temperature_option
@top_k_option
@choice_options
@click.option("--max-new-tokens", type=click.IntRange(8), default=48, show_default=True)
@device_option
def find_draft(
    workspace: str,
    target: str,
    prompts: tuple[str, ...],
    prompts_file: str | None,
    drafts: tuple[str, ...],
    proposers: tuple[str, ...],
    device: str,
    as_json: bool,
    debug: bool,
    **how: Any,
) -> None:
    """Try every way to draft for a target on your prompts: what it costs, what it keeps, the speed-up predicted and measured."""
    if prompts_file:
        try:
            parts = Path(prompts_file).read_text(encoding="utf-8").replace("\r\n", "\n").split("\n\n")
        except UnicodeDecodeError as error:
            raise UserError("{path} isn't UTF-8 text.", hint="Save it as UTF-8.", path=prompts_file) from error
        prompts = (*prompts, *(part.strip("\n") for part in parts if part.strip()))
    if not prompts:
        raise click.UsageError("Give at least one --prompt, or --prompts-file.")
    home = Workspace(workspace)
    told = {"proposers": proposers} if proposers else {}
    spec = FindDraftSpec(
        workspace=str(home.folder),
        target=model_of(home, target),
        prompts=prompts,
        drafts=tuple(model_of(home, name) for name in drafts) or None,
        **told,
        **how,
    )

    def on_event(event: Any) -> None:
        if isinstance(event, events.DraftTried) and not as_json:
            speed = f"×{event.row['measured']:.2f}" if event.row["measured"] else "not to the end"
            click.echo(f"tried {event.row['name']}: {speed}", err=True)

    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, "Finding a draft", device=device, on_event=on_event)
    if as_json:
        return document(result)
    made = table("", "who drafts", ">alpha", ">cost c", ">gamma", ">predicted", ">measured", "repeats", ">tokens a call", ">memory")
    number = lambda value, form: format(value, form) if value is not None else "–"
    for i, row in enumerate(result["rows"]):
        made.add_row(
            "best" if i == result["best"] else "",
            row["name"],
            number(row["alpha"], ".2f"),
            number(row["cost"], ".2f"),
            number(row["gamma"], "d"),
            *(f"×{row[key]:.2f}" if row[key] is not None else "–" for key in ("predicted", "measured")),
            f"{row['low']:.2f} … {row['high']:.2f}" if row["low"] is not None else "–",
            number(row["tokens_per_target_call"], ".2f"),
            megabytes(row["memory"]) if row["memory"] is not None else "–",
        )
    show(made)
    for row in result["rows"]:
        if row["why"]:
            out(f"{row['name']}: {row['why']}")
    plain = result["plain"]["tokens_per_s"]
    said = "No way to draft pays here: plain decoding is fastest." if result["best"] is None else ""
    if plain:
        said = f"plain: {plain:.1f} tokens/s. {said}".rstrip()
    click.echo(said, err=True)


@command("exactness")
@workspace_option
@target_option
@drafting_options
@click.option("--temperature", type=Number(0, 5, min_open=True), default=1.0, show_default=True)
@click.option(
    "--top-k", type=click.IntRange(2, 8), default=4, show_default=True, help="Restricts the outcomes, so that each comes often enough."
)
@choice_options
@click.option("--prompt", required=True)
@click.option("--tokens", type=click.IntRange(1, 3), default=2, show_default=True, help="The joint law of so many next tokens.")
@click.option("--runs", type=click.IntRange(50, 20000), default=1000, show_default=True, help="More runs find smaller distances.")
@device_option
def exactness(workspace: str, target: str, device: str, as_json: bool, debug: bool, **how: Any) -> None:
    """Test whether drafting changes what the target writes: many seeds, a chi-square test, and a wrong rule beside it.

    Exit status 1 where a rule that ought to be lossless fails.
    """
    drafting = drafting_of(workspace, how)
    home = Workspace(workspace)
    spec = ExactnessSpec(workspace=str(home.folder), target=model_of(home, target), **drafting, **how)
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, "Checking exactness", device=device)
    if as_json:
        document(result)
    else:
        made = table("next tokens", ">expected", ">seen", ">by the wrong rule", "")
        for cell in result["cells"]:
            made.add_row(
                repr(cell["text"]), f"{cell['expected']:.1f}", str(cell["seen"]), str(cell["control"]), "pooled" if cell["pooled"] else ""
            )
        show(made)
        verdict = "no difference found" if result["passed"] else "it differs from the target"
        control = result["control"]
        caught = "was caught" if control["caught"] else "was NOT caught, so this test says little: more runs, or a draft that errs more"
        out(
            f"{verdict}: chi-square {result['chi_square']:.1f} with {result['degrees']} degrees of freedom, p = {result['p']:.3g} "
            f"(level {result['level']:.3g}), {result['runs']} runs in {result['seconds']:.0f} s\n"
            f"a total variation of {result['detects']:.3f} or more would have been found nine times in ten\n"
            f"the wrong rule beside it ({control['rule']}) {caught} (p = {control['p']:.3g})"
        )
    if result["lossless"] and not result["passed"]:
        sys.exit(1)


@command("gradient-study")
@workspace_option
@click.option("--variant", required=True, help="The variant to train.")
@click.option("--steps", type=click.IntRange(1), default=100, show_default=True)
@click.option("--batch", type=click.IntRange(1), default=8, show_default=True)
@click.option("--context", type=click.IntRange(8), default=64, show_default=True)
@click.option("--learning-rate", type=Number(0, 1, min_open=True), default=5e-4, show_default=True)
@click.option("--seeds", type=click.IntRange(1, 20), default=1, show_default=True, help="Runs a choice, to see what's noise.")
@click.option("--fresh", is_flag=True, help="Begin with random weights, so that there is much to learn.")
@click.option("--text", type=click.Path(), help="The text to train on.")
@device_option
def study_gradients(workspace: str, variant: str, text: str | None, device: str, as_json: bool, debug: bool, **how: Any) -> None:
    """Train the same model with gradients in 32, 8, 4 and 2 bits, and compare what it learns with the bytes sent."""
    home = Workspace(workspace)
    spec = GradientStudySpec(workspace=str(home.folder), variant=home.variant(variant).id, text=_file(text), **how)
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, "Studying gradients", device=device)
    if as_json:
        return document(result)
    made = table("gradients", ">loss at the end", ">perplexity", ">MB sent", ">of float32", ">error of a gradient", ">seconds")
    for row_ in result["rows"]:
        spread = f" ± {row_['stderr']:.4f}" if row_["stderr"] is not None else ""
        made.add_row(
            row_["name"],
            f"{row_['heldout_loss']:.4f}{spread}",
            f"{row_['heldout_perplexity']:.2f}",
            f"{row_['sent'] / 1e6:.1f}",
            f"{row_['sent'] / row_['plain']:.0%}",
            f"{row_['error']:.1%}",
            f"{row_['seconds']:.1f}",
        )
    show(made)
    out(f"loss on text kept aside before training: {result['start']:.4f}; {result['steps']} steps, {result['parameters']:,} parameters")


@command("sensitivity")
@workspace_option
@variant_option
@click.option(
    "--bits", multiple=True, type=click.Choice([str(b) for b in allocation.WIDTHS]), help="A width to try; may be repeated. All otherwise."
)
@click.option(
    "--group-size", type=click.IntRange(8, 1024), default=128, show_default=True, help="Columns that share a scale, below 8 bits."
)
@click.option("--clip/--no-clip", default=True, show_default=True, help="Search for the range with the least error, below 8 bits.")
@click.option("--windows", type=click.IntRange(1, 1024), default=4, show_default=True, help="Windows of text that are looked at.")
@click.option("--context", type=click.IntRange(8), default=128, show_default=True, help="Tokens a window.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--text", type=click.Path(dir_okay=False), help="The text; the starter's training text otherwise.")
@click.option("--average-bits", type=Number(1, 32), help="Choose each layer's bits so that they take no more a weight, scales counted.")
@click.option("--kl", type=Number(0, min_open=True), help="Choose each layer's bits so that the single KLs sum to no more.")
@device_option
def sensitivity(
    workspace: str,
    variant: str,
    bits: tuple[str, ...],
    text: str | None,
    average_bits: float | None,
    kl: float | None,
    device: str,
    as_json: bool,
    debug: bool,
    **how: Any,
) -> None:
    """How far the outputs move when one layer alone is quantized, for each layer and width; and bits under a budget."""
    if average_bits is not None and kl is not None:
        raise click.UsageError("--average-bits and --kl can't both be met; give one.")
    home = Workspace(workspace)
    source = home.variant(variant)
    widths = tuple(sorted({int(b) for b in bits}, reverse=True)) or allocation.WIDTHS
    spec = SensitivitySpec(workspace=str(home.folder), variant=source.id, bits=widths, text=_file(text), **how)
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, f"Measuring the layers of {source.name}", device=device)
    found = allocation.SensitivityMap.model_validate_json(Path(result["file"]).read_text(encoding="utf-8"))
    chosen, projected = _bits_chosen(found, source, average_bits, kl)
    if as_json:
        return document({"file": result["file"], **found.model_dump(mode="json"), "chosen": chosen, "projected": projected})
    made = table("layer", *(f">KL at {b}" for b in widths), *([">bits"] if chosen else []))
    for layer in found.layers:
        own = [{allocation.DENSE: "dense"}.get(chosen[layer.name], str(chosen[layer.name]))] if chosen else []
        made.add_row(layer.name, *(f"{layer.kl[b]:.3g}" for b in widths), *own)
    show(made)
    if projected:
        out(
            f"estimate: {projected['average_bits']:.2f} bits a weight, {megabytes(projected['bytes_on_disk'])} on disk, "
            f"single KLs sum to {projected['kl']:.4g}"
        )
        out(
            f'spokeshave-cli apply mixed --set "layers={allocation.write_bits(chosen)}" --set group_size={found.conditions["group_size"]} …'
        )


def _bits_chosen(
    found: allocation.SensitivityMap, source: Variant, average_bits: float | None, kl: float | None
) -> tuple[dict[str, int] | None, dict[str, Any] | None]:
    """(each layer's bits under the budget, what they'd come to); (None, None) where no budget was given. Raises UserError."""
    if average_bits is None and kl is None:
        return None, None
    allocator = allocation.Allocator(found.layers, found.widths)
    weights = sum(layer.weights for layer in found.layers)
    chosen = allocator.at_kl(kl) if kl is not None else allocator.at_size(average_bits * weights / 8)
    if chosen is None:
        raise UserError(
            "No choice of bits meets that: they take {least} bits a weight at least, and their KLs sum to {closest} at least.",
            hint="Raise the budget, or allow more widths.",
            kind="usage",
            least=f"{8 * allocator.least / weights:.2f}",
            closest=f"{allocator.best[-1]:.3g}",
        )
    return chosen, {
        "average_bits": allocation.average_bits(found.layers, chosen),
        "bytes_on_disk": allocation.file_bytes(found.layers, chosen, source.ledger.bytes_on_disk),
        "kl": allocation.total_kl(found.layers, chosen),
    }


class Painter:
    """Tokens in colour as they come: kept green, dropped struck through, corrected blue, bonus violet."""

    STYLES = {"accepted": "green", "rejected": "strike red", "corrected": "bold white on blue", "bonus": "bold magenta", "plain": ""}

    def __init__(self, console: Console | None = None):
        self.console = console or Console(highlight=False, soft_wrap=True)

    def paint(self, taken: events.Round) -> None:
        for token in taken.drafted:
            if token.verdict != "untested":
                self.console.print(token.text, style=self.STYLES[token.verdict], end="", markup=False)
        if taken.final_kind != "none":
            self.console.print(taken.final_text, style=self.STYLES[taken.final_kind], end="", markup=False)

    def end(self) -> None:
        self.console.print()


# ---- taking away ------------------------------------------------------------------------------------------------


@command("export-onnx")
@workspace_option
@variant_option
@click.option("--to", required=True, type=click.Path(file_okay=False), help="The folder to make.")
@click.option(
    "--profile",
    type=click.Choice(("portable", "fast")),
    default="portable",
    show_default=True,
    help="portable: batches and padding; fast: onnxruntime's fused operators, for one text at a time.",
)
@click.option(
    "--activations",
    type=click.Choice(("float32", "int8")),
    default="float32",
    show_default=True,
    help="What quantized layers multiply by: float32 is exact; int8 is faster, where the check finds it close enough.",
)
@click.option(
    "--layout",
    type=click.Choice(("plain", "transformers.js")),
    default="plain",
    show_default=True,
    help="transformers.js: files where that library looks for them.",
)
@click.option("--runtime", default="", metavar="1.N", help="The oldest onnxruntime that is to open the file.")
@click.option(
    "--precision",
    type=click.Choice(("float32", "float16", "bfloat16", "int8-dynamic", "int8-static")),
    default="float32",
    show_default=True,
    help="Of a variant that isn't quantized; int8 for encoders and classifiers.",
)
@click.option("--text", type=click.Path(dir_okay=False), help="Text that int8-static finds its ranges on; the starter's otherwise.")
@labels_option
@columns_options[0]
@columns_options[1]
@click.option("--overwrite", is_flag=True, help="Replace an earlier export there.")
@device_option
def export_onnx(
    workspace: str,
    variant: str,
    to: str,
    profile: str,
    activations: str,
    layout: str,
    runtime: str,
    precision: str,
    text: str | None,
    labels: str | None,
    text_column: str,
    label_column: str,
    overwrite: bool,
    device: str,
    as_json: bool,
    debug: bool,
) -> None:
    """Export to ONNX and check the result against torch; not passed is not done."""
    home = Workspace(workspace)
    source = home.variant(variant)
    if not re.fullmatch(r"(\d+\.\d+)?", runtime):
        raise click.BadParameter("name it as 1.17", param_hint="--runtime")
    options = OnnxOptions(
        profile=profile,
        activations=activations,
        layout=layout,
        runtime=runtime,
        precision=precision,
        text=str(Path(text).expanduser().absolute()) if text else "",
        labels=_labels(labels, text_column, label_column),
    )
    place = str(Path(to).expanduser().absolute())
    spec = ExportSpec(workspace=str(home.folder), variant=source.id, to=place, overwrite=overwrite, onnx=options)
    _export(spec, source.name, device, as_json, debug)


@command("compare-export")
@workspace_option
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--variant", help="The variant that it was exported from. [default: as the workspace remembers]")
@click.option("--prompt", "prompts", multiple=True, required=True, help="A prompt like those that you'll use; may be repeated.")
@click.option("--max-new-tokens", type=click.IntRange(1, 4096), default=48, show_default=True)
@provider_option
def compare_export(
    folder: str, workspace: str, variant: str | None, prompts: tuple[str, ...], as_json: bool, debug: bool, **how: Any
) -> None:
    """The original, the variant and its ONNX export in FOLDER side by side on your prompts, and where they part. Greedy decoding."""
    home = Workspace(workspace)
    place = str(Path(folder).expanduser().absolute())
    source = home.variant(variant).id if variant else None
    spec = CompareExportSpec(workspace=str(home.folder), folder=place, variant=source, prompts=prompts, **how)
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, f"Comparing {Path(folder).name}")
    if as_json:
        return document(result)
    for row_ in result["prompts"]:
        made = table("form", "text", "against the one above", title=repr(row_["prompt"]))
        for key, form in row_["forms"].items():
            parts = row_["parts"].get(key)
            pieces = list(form["pieces"])
            said = "" if key not in row_["parts"] else "the same tokens"
            if parts:
                pieces.insert(parts["position"], "\u25b6")
                said = f"parts at token {parts['position'] + 1}, where the top-2 margin was {parts['margin']:.2g}"
            made.add_row(f"{key}: {result['forms'][key]['name']}", escape("".join(pieces)), said)
        show(made)
    made = table("form", ">tokens/s")
    for form in result["forms"].values():
        made.add_row(form["name"], f"{form['tokens_per_s']:.1f}" if form["tokens_per_s"] else "–")
    show(made)
    for note in result["notes"]:
        click.echo(f"note: {note}", err=True)


@command("classify-export")
@workspace_option
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--variant", help="The variant that it was exported from. [default: as the workspace remembers]")
@click.option("--text", "texts", multiple=True, required=True, help="A text to classify; may be repeated.")
@provider_option
def classify_export(
    folder: str, workspace: str, variant: str | None, texts: tuple[str, ...], as_json: bool, debug: bool, **how: Any
) -> None:
    """Classify your texts with the exported classifier in FOLDER, beside torch: probabilities and time of both."""
    home = Workspace(workspace)
    place = str(Path(folder).expanduser().absolute())
    source = home.variant(variant).id if variant else None
    spec = ClassifyExportSpec(workspace=str(home.folder), folder=place, variant=source, texts=texts, **how)
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, f"Classifying with {Path(folder).name}")
    if as_json:
        return document(result)
    made = table("text", *(f">{name}" for name in result["classes"]))
    for row_ in result["rows"]:
        made.add_row(escape(row_["text"]), *(f"{a:.4f} / {b:.4f}" for a, b in zip(row_["export"], row_["torch"], strict=True)))
    show(made)
    spent = result["seconds"]
    out(
        f"each as ONNX / torch; largest difference {result['largest']:.2g}; a text takes {1000 * spent['export']:.2f} ms by onnxruntime, "
        f"{1000 * spent['torch']:.2f} ms by torch"
    )
    for note in result["notes"]:
        click.echo(f"note: {note}", err=True)


@command("draw-export")
@workspace_option
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--variant", help="The variant that it was exported from. [default: as the workspace remembers]")
@click.option(
    "--to", required=True, type=click.Path(dir_okay=False, writable=True), help="The PNG file to write: torch's above, the export's below."
)
@click.option("--count", type=click.IntRange(1, 64), default=8, show_default=True)
@click.option("--steps", type=click.IntRange(1), help="Steps to draw in; those that it was made for, or 32.")
@click.option("--seed", type=int, default=0, show_default=True)
@provider_option
def draw_export(folder: str, workspace: str, variant: str | None, to: str, as_json: bool, debug: bool, **how: Any) -> None:
    """Draw with the exported diffusion model in FOLDER, and with torch of the same noise."""
    home = Workspace(workspace)
    place = str(Path(folder).expanduser().absolute())
    source = home.variant(variant).id if variant else None
    spec = DrawExportSpec(workspace=str(home.folder), folder=place, variant=source, **how)
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, f"Drawing with {Path(folder).name}")
    Path(to).write_bytes(result.pop("png"))
    if as_json:
        return document(result | {"file": to})
    spent = result["seconds"]
    out(
        f"{to}: {result['count']} images in {result['steps']} steps; largest difference of a pixel {result['largest']:.2g} of 2; "
        f"an image takes {1000 * spent['export']:.1f} ms by onnxruntime, {1000 * spent['torch']:.1f} ms by torch"
    )
    for note in result["notes"]:
        click.echo(f"note: {note}", err=True)


@command("inspect-onnx")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
def inspect_onnx(folder: str, as_json: bool, debug: bool) -> None:
    """What an exported graph is made of: operators, what was fused or packed, and where its bytes are."""
    from core.export.contents import contents
    from core.export.runtime import data_problem

    found = contents(Path(folder))
    if problem := data_problem(Path(folder)):
        click.echo(f"note: {problem}", err=True)
    if as_json:
        return document(found)
    nodes = table("operator", ">nodes", "in the standard", title="Operators")
    outside = {name.rpartition(".")[2] for name in found["beyond_standard"]}
    for name, count in found["operators"].items():
        nodes.add_row(name, str(count), "no" if name in outside else "yes")
    show(nodes)
    weights = table("weight", "type", "shape", ">bytes", title="Largest weights")
    for one in found["largest"]:
        weights.add_row(one["name"], one["type"], " x ".join(map(str, one["shape"])), f"{one['bytes']:,}")
    show(weights)
    made = table("what", ">nodes", title="Fused and packed")
    for name, count in [
        ("fused attention", found["fused"]["attention"]),
        ("fused norms", found["fused"]["norms"]),
        ("joined products", found["fused"]["products"]),
    ]:
        made.add_row(name, str(count))
    for name, count in found["products"].items():
        made.add_row(f"{name} products", str(count))
    show(made)


@command("export-gguf")
@workspace_option
@variant_option
@click.option("--to", required=True, type=click.Path(file_okay=False), help="The folder to make.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(("auto", "f32", "f16", "bf16", "q8_0", "q4_0", "q4_k")),
    default="auto",
    show_default=True,
    help="What matrices are stored in; auto: a quantized variant's own grid, else q8_0.",
)
@click.option("--overwrite", is_flag=True, help="Replace an earlier export there.")
@device_option
def export_gguf(workspace: str, variant: str, to: str, kind: str, overwrite: bool, device: str, as_json: bool, debug: bool) -> None:
    """Export to GGUF, for llama.cpp, and read the file back with plain transformers; not passed is not done."""
    home = Workspace(workspace)
    source = home.variant(variant)
    place = str(Path(to).expanduser().absolute())
    spec = ExportSpec(workspace=str(home.folder), variant=source.id, to=place, overwrite=overwrite, format="gguf", gguf_type=kind)
    _export(spec, source.name, device, as_json, debug)


@command("pack-sparse")
@workspace_option
@variant_option
@click.option("--to", required=True, type=click.Path(file_okay=False), help="The folder to make.")
@click.option("--overwrite", is_flag=True, help="Replace an earlier export there.")
def pack_sparse(workspace: str, variant: str, to: str, overwrite: bool, as_json: bool, debug: bool) -> None:
    """Pack a pruned variant into one smaller file without its zeros; `unpack-sparse` restores its folder bit for bit."""
    home = Workspace(workspace)
    source = home.variant(variant)
    place = str(Path(to).expanduser().absolute())
    spec = ExportSpec(workspace=str(home.folder), variant=source.id, to=place, overwrite=overwrite, format="sparse")
    _export(spec, source.name, "cpu", as_json, debug)


@command("unpack-sparse")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--to", required=True, type=click.Path(file_okay=False), help="The folder to make: a model that plain transformers loads.")
def unpack_sparse(file: str, to: str, as_json: bool, debug: bool) -> None:
    """Restore the folder of a file that `pack-sparse` made, every file checked by its sha256."""
    from core.export import sparse
    from core.run import Run

    place = Path(to).expanduser().absolute()
    names = sparse.unpack(Path(file), place, Run())
    if as_json:
        return document({"folder": str(place), "files": names})
    out(f"{place}: {', '.join(names)}")


def _export(spec: ExportSpec, name: str, device: str, as_json: bool, debug: bool) -> None:
    with Driver(quiet=as_json, debug=debug) as driver:
        result = driver.run(spec, f"Exporting {name}", device=device)
    if as_json:
        return document(result)
    made = table("check", "value", title=result["folder"])
    for key, value in result["report"].items():
        if isinstance(value, (str, int, float, bool)):
            made.add_row(key, f"{value:.3g}" if isinstance(value, float) else str(value))
    show(made)
    for note in result["report"].get("notes") or ():
        click.echo(f"note: {note}", err=True)


@command("demo")
@click.option("-w", "--workspace", type=click.Path(file_okay=False), help="Where to keep what it makes; a new folder here otherwise.")
@device_option
def demo(workspace: str | None, device: str, as_json: bool, debug: bool) -> None:
    """The main job on the starter models, from end to end, in under two minutes."""
    from core.cli.demo import demonstrate

    result = demonstrate(workspace, device=device, quiet=as_json, debug=debug)
    if as_json:
        document(result)


def main() -> None:
    cli(prog_name="spokeshave-cli")
