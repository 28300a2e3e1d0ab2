"""`spokeshave-cli demo`: the main job on the starter models, from end to end.

Opens both, quantizes, prunes, measures, draws the trade-off plot, drafts with coloured tokens, exports to ONNX and
checks the export. Every figure that it prints was measured in this run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

import resources
from core import events
from core.cli.commands import Painter, figure, megabytes, table
from core.cli.drive import Driver
from core.errors import UserError
from core.recipe import Step
from core.records import ApplySpec, ExportSpec, GenerateSpec, ImportSpec, Variant
from core.workspace import Workspace

TOKENS = 4_000  # scored a variant: a few seconds each; the interval says how sure that is
PROMPT = "ROSALIND.\nI pray you, what is the time of day?\n"
STEPS = (
    Step(method="rtn", params={"bits": 8, "granularity": "channel"}),
    Step(method="rtn", params={"bits": 4, "granularity": "group", "group_size": 64}),
    Step(method="magnitude", params={"sparsity": 0.3}),
)


def demonstrate(folder: str | None, *, device: str = "auto", quiet: bool = False, debug: bool = False) -> dict[str, Any]:
    """Runs all of it in the workspace `folder` (a new one here by default). Returns what was measured."""
    begun = time.monotonic()
    where = Path(folder) if folder else _free(Path("spokeshave-demo"))
    home = Workspace(where, create=True)
    screen = Console(stderr=True, highlight=False) if quiet else Console(highlight=False)
    say = lambda text: screen.print(text, style="bold", markup=False)
    with Driver(quiet=quiet, debug=debug, spare=True) as driver:
        driver.warm()
        say(f"1  Opening the starter models in {where}")
        target = _import(driver, home, resources.STARTER_TARGET, device)
        draft = _import(driver, home, resources.STARTER_DRAFT, device)
        say("2  Compressing, and measuring against the original")
        made = []
        for step in STEPS:
            spec = ApplySpec(workspace=str(home.folder), variant=target.id, steps=(step,), max_tokens=TOKENS)
            result = driver.run(spec, f"{step.method} {' '.join(str(v) for v in step.params.values())}", device=device)
            made.append(home.variant(result["variant"]))
        _show(screen, home, [target, *made, draft])
        say("3  Drawing the trade-off plot")
        picture = _picture(home)
        screen.print(f"   {picture}", markup=False)
        say("4  Drafting: kept green, dropped struck through, corrected blue, bonus violet")
        run = _draft(driver, home, target, draft, screen, device)
        say("5  Exporting to ONNX, and checking the export against torch")
        to = _free(home.folder / "onnx")
        exported = driver.run(ExportSpec(workspace=str(home.folder), variant=target.id, to=str(to)), "Exporting", device=device)
    report = exported["report"]
    screen.print(
        f"   {to}: largest logit difference {report['max_abs']:.1e}, top-1 agreement {report['top1']:.1%} over {report['tokens']} tokens",
        markup=False,
    )
    seconds = time.monotonic() - begun
    say(f"Done in {seconds:.0f} s. Look at it in the window: spokeshave {where}")
    return {
        "workspace": str(home.folder),
        "variants": [v.id for v in (target, draft, *made)],
        "picture": str(picture),
        "generate": run,
        "export": exported,
        "seconds": seconds,
    }


def _free(path: Path) -> Path:
    number, free = 1, path
    while free.exists():
        number += 1
        free = path.with_name(f"{path.name}-{number}")
    return free


def _import(driver: Driver, home: Workspace, source: Path, device: str) -> Variant:
    spec = ImportSpec(workspace=str(home.folder), source=str(source), max_tokens=TOKENS)
    return home.variant(driver.run(spec, f"Opening {source.name}", device=device)["variant"])


def _show(screen: Console, home: Workspace, variants: list[Variant]) -> None:
    made = table("variant", ">on disk", ">bits", ">non-zero", ">perplexity", ">KL", ">agreement", ">decode tokens/s")
    for v in variants:
        latest = {m.kind: m for m in home.measurements(v.id)}
        told = [figure(latest[k]) if k in latest else "–" for k in ("perplexity", "kl", "agreement")]
        speed = f"{latest['decode'].value:.0f}" if "decode" in latest else "–"
        made.add_row(
            v.name,
            megabytes(v.ledger.bytes_on_disk),
            f"{v.ledger.effective_bits:.2f}",
            f"{v.ledger.nonzero / v.ledger.parameters:.0%}",
            *told,
            speed,
        )
    screen.print(made)


def _picture(home: Workspace) -> Path:
    """The window's own plot, drawn without a screen by the window's own code in a process of its own."""
    to = home.folder / "trade-off.png"
    command = [sys.executable, "-m", "app.plots.picture", str(home.folder), str(to)]
    done = subprocess.run(command, env=os.environ | {"QT_QPA_PLATFORM": "offscreen"}, capture_output=True, text=True, timeout=120)
    if done.returncode or not to.exists():
        raise UserError(
            "The trade-off plot couldn't be drawn.",
            hint="Qt needs some system libraries even without a screen; README lists them.",
            kind="device",
            detail=done.stderr,
        )
    return to


def _draft(driver: Driver, home: Workspace, target: Variant, draft: Variant, screen: Console, device: str) -> dict[str, Any]:
    painter = Painter(screen)
    spec = GenerateSpec(
        workspace=str(home.folder),
        target=target.id,
        draft=draft.id,
        proposer="draft",
        gamma=4,
        temperature=0.8,
        seed=7,
        max_new_tokens=96,
        prompt=PROMPT,
        race=True,
    )

    def paint(event: Any) -> None:
        if isinstance(event, events.RoundTaken) and event.lane == "speculative":
            painter.paint(event.round)

    quiet, driver.quiet = driver.quiet, True  # a progress bar would break the coloured lines
    run = driver.run(spec, "Drafting", device=device, on_event=paint)
    driver.quiet = quiet
    painter.end()
    share = f"{run['accepted'] / run['tested']:.0%}" if run["tested"] else "none tested"
    screen.print(
        f"   kept {run['accepted']} of {run['tested']} tested ({share}); {run['tokens_per_target_call']:.2f} tokens a target call; "
        f"{run['tokens_per_s']:.0f} tokens/s against {run['plain']['tokens_per_s']:.0f} plain: measured speed-up ×{run['speedup']:.2f}",
        markup=False,
    )
    return run
