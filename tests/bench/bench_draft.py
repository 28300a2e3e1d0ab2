"""A draft that's made for a model: its acceptance and speed-up, beside the same cut undistilled and the packed copy.

    python -m tests.bench.bench_draft MODEL --minutes 60 [--threads 2]

MODEL: a folder, or SmolLM2's GGUF file. The draft is made by `draft` in that time on the starter's training text; then it's tried, also
quantized to 8 bits, beside the cut that it began as and the packed copy: all as drafts by 'Find me a draft' on beginnings from the
held-out text, alpha and cost measured, speed-up predicted and measured against plain decoding in turns. Where a row says why, that way to
draft can't pay and wasn't measured. --into keeps what's made in a folder; where it's there already, it's only tried. Asserts nothing.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import click
import torch

import resources
from core import methods
from core.data.text import read_text
from core.decode import calibrate, find
from core.methods.distillation import students
from core.models import draft_words, load, save
from core.models.blocks import blocks
from core.records import FindDraftSpec
from core.run import Run
from tests.bench.bench_recovery import bring_in

PROMPTS, CHARACTERS = 4, 300


class Telling(Run):
    """A run that prints acceptance as it grows."""

    def metric(self, name: str, step: int, value: float) -> None:
        if name in ("acceptance", "predicted_speedup"):
            print(f"    step {step}: {name} {value:.4f}", flush=True)

    def log(self, text: str, level: str = "INFO") -> None:
        print(f"    {text}", flush=True)


@click.command()
@click.argument("model", type=click.Path(exists=True, path_type=Path))
@click.option("--minutes", type=float, default=60)
@click.option("--layers", type=int, default=None)
@click.option("--loss", type=click.Choice(["forward", "tv"]), default="forward")
@click.option("--batch", type=int, default=8)
@click.option("--context", type=int, default=128)
@click.option("--temperature", type=float, default=0.0)
@click.option("--threads", type=int, default=1)
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), default=None)
def main(model, minutes, layers, loss, batch, context, temperature, threads, into):
    torch.set_num_threads(threads)
    scratch = Path(tempfile.mkdtemp())
    try:
        folder, to = bring_in(model, scratch), into or scratch
        to.mkdir(exist_ok=True)
        if not (to / "draft").is_dir():
            make(folder, to, {"minutes": minutes, "layers": layers, "loss": loss, "batch": batch, "context": context})
        if not (to / "draft, 8 bits").is_dir():
            packed(to / "draft", to / "draft, 8 bits")
        compare(folder, to, temperature)
    finally:
        shutil.rmtree(scratch)


def make(folder: Path, scratch: Path, values: dict) -> None:
    """Puts the draft, and the same cut undistilled, into the scratch folder."""
    target, method = load.load(folder, dtype="float32"), methods.get("draft")
    words = read_text(resources.TRAIN_TEXT)
    given = methods.Given(target.tokenizer, folder, target.info, text=words, costs=calibrate.pair)
    begun = time.perf_counter()
    outcome = method.apply(target.model, methods.checked(method, values), Telling(), given)
    print(f"  made in {(time.perf_counter() - begun) / 60:.1f} minutes, {torch.get_num_threads()} threads")
    for note in outcome.notes:
        print(f"  {note}")
    kept = students.kept_layers(len(blocks(target.model)), len(blocks(outcome.model)))
    for name, made in (("draft", outcome.model), ("undistilled", students.shallower(target.model, kept))):
        (scratch / name).mkdir()
        save.save(made, scratch / name, folder, run=Run())
        save.put(scratch / name, outcome.files)  # so that they say the same tokens


def packed(draft: Path, to: Path) -> None:
    """The draft once more, its linear layers in 8 bits, which are read as such in decoding."""
    loaded, method = load.load(draft), methods.get("rtn")
    given = methods.Given(loaded.tokenizer, draft, loaded.info)
    outcome = method.apply(loaded.model, methods.checked(method, {"bits": 8}), Run(), given)
    to.mkdir()
    save.save(outcome.model, to, draft, run=Run())


def compare(folder: Path, scratch: Path, temperature: float) -> None:
    words = read_text(resources.HELDOUT_TEXT).content
    starts = range(0, len(words) - CHARACTERS, len(words) // PROMPTS)
    prompts = tuple(words[start : start + CHARACTERS] for start in list(starts)[:PROMPTS])
    spec = FindDraftSpec(workspace="", target="", prompts=prompts, temperature=temperature)

    def drafting(name: str):
        return draft_words.for_drafting(load.load(scratch / name, dtype="float32", packed=True))

    names = ("undistilled", "draft", "draft, 8 bits")
    tried = [find.Candidate("draft", name, name, lambda name=name: drafting(name)) for name in names]
    found = find.find(load.load(folder, dtype="float32"), [*tried, find.Candidate("packed", "packed copy")], spec, Run())
    print(f"\n{'':14} {'alpha':>6} {'cost':>6} {'gamma':>6} {'predicted':>10} {'measured':>9}   (least to greatest of {spec.repeats})")
    shown = lambda value, digits: "-" if value is None else f"{value:.{digits}f}"
    for row in found["rows"]:
        span = f"({shown(row['low'], 2)} to {shown(row['high'], 2)})" if row["low"] is not None else row["why"]
        numbers = f"{shown(row['alpha'], 3):>6} {shown(row['cost'], 3):>6} {row['gamma'] or '-':>6} {shown(row['predicted'], 2):>10}"
        print(f"{row['name']:14} {numbers} {shown(row['measured'], 2):>9}   {span}")


if __name__ == "__main__":
    main()
