"""What training wins back after a cut, on SmolLM2-135M: perplexity, KL, size, and speed where the cut makes it faster.

    python -m tests.bench.bench_recovery MODEL --cut sparsegpt --minutes 10 [--threads 2]

MODEL: a folder, or SmolLM2's GGUF file. The cut is made, measured, healed by `finetune` with the uncut model as the only teacher
(alpha 0: nothing is learnt of the text itself, so that the ratio to the uncut model says what healing did and not what a new text
taught), for as many steps as fit into the minutes, and measured again. Held-out starter text, 8,192 tokens in windows of 512; trained
on the starter's training text. Speeds of uncut and cut model are taken in turns, medians of `--repeats`. Asserts nothing.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from pathlib import Path

import click
import torch

import resources
from core import methods
from core.data.text import read_text, token_ids
from core.decode import fast
from core.evaluate.perplexity import score
from core.evaluate.speed import speed
from core.models import bring, load, save, size
from core.run import Run

LOOK = {"windows": 16, "context": 256}
CUTS = {
    "none": [],
    "magnitude": [("magnitude", {"sparsity": 0.5})],
    "wanda": [("wanda", {"sparsity": 0.5, "windows": 16, "context": 512})],
    "sparsegpt": [("sparsegpt", {"sparsity": 0.5, "windows": 16, "context": 512})],
    "layers": [("layers", {"count": 2} | LOOK)],
    "heads": [("heads", {"share": 0.1, "allocation": "global"} | LOOK)],
    "channels": [("channels", {"share": 0.2} | LOOK)],
    "resize": [("resize", {"share": 0.25})],
}


class Telling(Run):
    """A run that prints what's measured on text kept aside."""

    def metric(self, name: str, step: int, value: float) -> None:
        if name.startswith("heldout"):
            print(f"    step {step}: {name} {value:.4f}", flush=True)


@click.command()
@click.argument("model", type=click.Path(exists=True, path_type=Path))
@click.option("--cut", type=click.Choice(list(CUTS)), required=True)
@click.option("--minutes", type=float, default=10)
@click.option("--batch", type=int, default=4)
@click.option("--context", type=int, default=256)
@click.option("--learning-rate", type=float, default=2e-4)
@click.option("--weights", type=click.Choice(["all", "lora"]), default="all")
@click.option("--threads", type=int, default=1)
@click.option("--repeats", type=int, default=5)
@click.option("--keep", type=click.Path(path_type=Path), default=None, help="Folder to keep the healed model in.")
def main(model, cut, minutes, batch, context, learning_rate, weights, threads, repeats, keep):
    torch.set_num_threads(threads)
    scratch = Path(tempfile.mkdtemp())
    try:
        compare(
            bring_in(model, scratch),
            scratch,
            cut,
            minutes,
            {"batch": batch, "context": context, "weights": weights},
            learning_rate,
            repeats,
        )
        if keep is not None and (scratch / "healed").exists():
            shutil.copytree(scratch / "healed", keep)
    finally:
        shutil.rmtree(scratch)


def bring_in(source: Path, scratch: Path) -> Path:
    if source.is_dir():
        return source
    folder = scratch / "original"
    folder.mkdir()
    bring.bring(source, folder, Run())
    return folder


def compare(folder: Path, scratch: Path, cut: str, minutes: float, how: dict, rate: float, repeats: int) -> None:
    original = load.load(folder, dtype="float32")
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, 8192)
    base = score(original.model, ids, context=512)[0].value
    whole = size.ledger(folder)
    print(f"{folder.name}: perplexity {base:.2f}, {whole.parameters / 1e6:.1f} M parameters, {torch.get_num_threads()} threads", flush=True)
    at = folder
    for name, values in CUTS[cut]:
        at = step(at, scratch / name, folder, name, values)
    tell(at, "cut", original, ids, base, folder)
    learn = how | {"loss": "teacher", "alpha": 0.0, "teacher": "original"}
    learn |= {"lora_learning_rate": rate} if how["weights"] == "lora" else {"learning_rate": rate}
    steps = fitting(at, scratch, folder, learn, minutes)
    begun = time.perf_counter()
    healed = step(at, scratch / "healed", folder, "finetune", learn | {"steps": steps})
    print(f"  {steps} steps of {how['batch']} x {how['context']} tokens in {(time.perf_counter() - begun) / 60:.1f} minutes", flush=True)
    tell(healed, "healed", original, ids, base, folder)
    if size.ledger(healed).parameters < whole.parameters:
        faster(folder, healed, ids, repeats)


def step(parent: Path, to: Path, original: Path, name: str, values: dict) -> Path:
    trains = name == "finetune"
    loaded, method = load.load(parent, dtype="float32" if trains else "auto", train=trains), methods.get(name)
    given = methods.Given(
        loaded.tokenizer,
        parent,
        loaded.info,
        text=read_text(resources.TRAIN_TEXT),
        load_variant=lambda variant: load.load(original, dtype="float32"),
    )
    outcome = method.apply(loaded.model, methods.checked(method, values), Telling(), given)
    for note in outcome.notes:
        print(f"  {note}")
    to.mkdir()
    save.save(outcome.model, to, parent, run=Run(), dtype=outcome.dtype)
    return to


def fitting(parent: Path, scratch: Path, original: Path, learn: dict, minutes: float) -> int:
    """How many steps fit, by the time of a few more steps over that of a few."""

    def seconds(steps: int) -> float:
        begun = time.perf_counter()
        step(parent, scratch / f"tried-{steps}", original, "finetune", learn | {"steps": steps})
        shutil.rmtree(scratch / f"tried-{steps}")
        return time.perf_counter() - begun

    few, more = seconds(1), seconds(6)
    return max(10, int(60 * minutes / max((more - few) / 5, 1e-3) * 0.85))  # some of the time goes to judging


def tell(folder: Path, what: str, original, ids, base: float, first: Path) -> None:
    found = {m.kind: m for m in score(load.load(folder, dtype="float32").model, ids, context=512, reference=original.model)}
    ledger = size.ledger(folder)
    ppl = found["perplexity"].value
    print(
        f"  {what}: perplexity {ppl:.2f} = {ppl / base:.3f} x, KL {found['kl'].value:.4f}, agreement {found['agreement'].value:.3f}, "
        f"{ledger.bytes_on_disk / 1e6:.1f} MB, {ledger.parameters / 1e6:.1f} M parameters, {ledger.nonzero / 1e6:.1f} M not zero",
        flush=True,
    )


def faster(original: Path, healed: Path, ids, repeats: int) -> None:
    pair = [load.load(folder, dtype="float32") for folder in (original, healed)]
    for loaded in pair:
        fast.quicken(loaded.model)
    ratios: dict[str, list[float]] = {"prefill": [], "decode": []}
    for _ in range(repeats):
        before, after = ({m.kind: m.value for m in speed(loaded.model, ids, Run())} for loaded in pair)
        for kind, values in ratios.items():
            values.append(after[kind] / before[kind])
    for kind, values in ratios.items():
        print(
            f"  {kind}: {statistics.median(values):.2f} x the uncut model's tokens/s ({min(values):.2f} to {max(values):.2f})", flush=True
        )


if __name__ == "__main__":
    main()
