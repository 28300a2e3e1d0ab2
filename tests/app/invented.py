"""An invented workspace and a board that runs nothing, for the tests of the shell and for looking at it. Every figure is made up."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.job_board import JobState, asked
from core import events
from core.recipe import Recipe, Source, Step
from core.records import (
    ApplySpec,
    Catalogue,
    DeviceInfo,
    EvaluateSpec,
    Job,
    Ledger,
    LedgerLine,
    Measurement,
    MethodInfo,
    SourceInfo,
    Variant,
    new_id,
)
from core.workspace import Workspace

CONDITIONS = {"text": "heldout.txt", "text_hash": "5c1d", "context": 512, "stride": 512, "bos": False, "device": "cpu", "dtype": "float32"}

# id, name, parent, kind, method, params, MB, parameters (millions, all and not zero), perplexity, its stderr, tokens/s
TREE: list[tuple] = [
    ("tiny", "TinyStories-42M", None, "original", "import", {}, 168.4, 42.1, 42.1, 12.4, 0.12, 38),
    ("int8", "int8 weight-only", "tiny", "quantized", "rtn", {"bits": 8}, 43.9, 42.1, 42.1, 12.47, 0.12, 61),
    ("int4", "int4 g32", "tiny", "quantized", "rtn", {"bits": 4, "group_size": 32}, 27.4, 42.1, 42.1, 13.5, 0.14, 72),
    ("int3", "int3 g64", "tiny", "quantized", "rtn", {"bits": 3, "group_size": 64}, 20.1, 42.1, 42.1, 18.9, 0.3, 74),
    ("int2", "int2 g32", "tiny", "quantized", "rtn", {"bits": 2, "group_size": 32}, 15.8, 42.1, 42.1, 164.0, 6.0, 75),
    ("mag30", "magnitude 30 %", "tiny", "pruned", "magnitude", {"sparsity": 0.3}, 118.6, 42.1, 29.6, 12.8, 0.12, 38),
    ("mag60", "magnitude 60 %", "mag30", "pruned", "magnitude", {"sparsity": 0.6}, 68.7, 42.1, 17.2, 16.6, 0.2, 38),
    ("mag60ft", "60 % + fine-tune, mask held", "mag60", "pruned", "finetune", {"steps": 600}, 68.7, 42.1, 17.2, 14.2, 0.2, 38),
    ("heads", "heads + FFN −25 %", "tiny", "pruned", "structured", {"share": 0.25}, 126.5, 31.6, 31.6, 15.1, 0.2, 49),
    ("kd", "KD-recovered", "heads", "combined", "distil", {"steps": 1200, "temperature": 2.0}, 126.5, 31.6, 31.6, 12.9, 0.12, 49),
    ("kdint8", "KD-recovered · int8", "kd", "combined", "rtn", {"bits": 8, "symmetric": True}, 33.2, 31.6, 31.6, 13.0, 0.13, 79),
    ("kdint4", "KD-recovered · int4 g64", "kd", "combined", "rtn", {"bits": 4, "group_size": 64}, 19.3, 31.6, 31.6, 14.4, 0.15, 88),
    ("student", "student 12M", "tiny", "distilled", "distil", {"layers": 4, "steps": 3000}, 48.6, 12.2, 12.2, 16.8, 0.2, 131),
    ("stint8", "student 12M · int8", "student", "combined", "rtn", {"bits": 8}, 12.7, 12.2, 12.2, 17.0, 0.2, 164),
    ("stint4", "student 12M · int4 g32", "student", "combined", "rtn", {"bits": 4, "group_size": 32}, 8.1, 12.2, 12.2, 19.4, 0.25, 170),
]


def info(parameters: float, *, task: str = "causal-lm", tokens: str = "words-a") -> SourceInfo:
    return SourceInfo(
        source="invented",
        kind="variant",
        name="invented",
        architecture="LlamaForCausalLM",
        model_type="llama",
        task=task,
        parameters=int(parameters * 1e6),
        tokenizer=True,
        tokens_hash=tokens,
        vocabulary=4096,
        context=1024,
        layers=8,
    )


def ledger(mb: float, parameters: float, nonzero: float, storage: str = "F32") -> Ledger:
    whole = int(mb * 1e6)
    shares = (("embedding", "BF16", 0.2), ("attention", storage, 0.25), ("mlp", storage, 0.49))
    shares += (("norm", "F32", 0.001), ("scales", "BF16", 0.03))
    lines = [
        LedgerLine(
            component=name,
            storage=kept,
            parameters=0 if name == "scales" else int(parameters * 1e6 * share),
            nonzero=0 if name == "scales" else int(nonzero * 1e6 * share),
            bytes=int(whole * share),
        )
        for name, kept, share in shares
    ]
    lines.append(LedgerLine(component="tokenizer", storage="file", bytes=whole - sum(line.bytes for line in lines)))
    return Ledger(
        bytes_on_disk=whole,
        weight_bytes=int(whole * 0.97),
        parameters=int(parameters * 1e6),
        nonzero=int(nonzero * 1e6),
        effective_bits=8 * whole * 0.97 / (parameters * 1e6),
        original_parameters=int(42.1e6),
        lines=tuple(lines),
        tied=("lm_head.weight",),
    )


def measured(perplexity: float, stderr: float, speed: float, root: str | None, **other: Any) -> list[Measurement]:
    conditions = CONDITIONS | other
    out = [Measurement(kind="perplexity", value=perplexity, stderr=stderr, n=19_968, conditions=conditions)]
    if root:
        gap = max(perplexity / 12.4 - 1, 0.002)
        against = conditions | {"reference": root}
        out.append(Measurement(kind="kl", value=0.4 * gap, stderr=0.02 * gap, n=19_968, unit="nats", conditions=against))
        out.append(Measurement(kind="agreement", value=1 / (1 + 0.8 * gap), stderr=0.004, n=19_968, conditions=against))
    timing = {"device": "cpu", "dtype": "float32", "threads": 2, "repeats": 5, "decode_tokens": 48}
    out.append(Measurement(kind="decode", value=speed, low=speed * 0.97, high=speed * 1.02, n=5, unit="tokens/s", conditions=timing))
    out.append(Measurement(kind="resident", value=4.3e6 * speed, n=1, unit="bytes", conditions=timing))
    return out


def drawn(steps: int, distance: float, speed: float, own: bool, **more) -> list[Measurement]:
    """What a model that draws was measured as in so many steps; own: those that it's compared in."""
    other = {} if own else {"other_steps": True}
    known = {"steps": steps, "images_hash": "ab", "seed": 0} | other | more
    timing = {"steps": steps, "device": "cpu", "threads": 2, "batch": 32} | other
    return [
        Measurement(kind="frechet", value=distance, stderr=0.1, n=1000, conditions=known),
        Measurement(kind="draw", value=speed, n=5, unit="images/s", conditions=timing),
    ]


def invent_variant(
    id: str, name: str, parent: str | None, kind: str, method: str, params: dict, mb: float, parameters: float, nonzero: float, at: int
) -> Variant:
    steps = (Step(method=method, params=params, seed=7),) if parent else ()
    return Variant(
        id=id,
        name=name,
        parent=parent,
        kind=kind,
        method=method,
        created=f"2030-01-01T10:{at:02d}:00+00:00",
        origin="TinyStories-42M" if parent is None else "",
        info=info(parameters),
        ledger=ledger(mb, parameters, nonzero, {8: "int8", 4: "int4 packed", 3: "int3 packed"}.get(params.get("bits"), "F32")),
        recipe=Recipe(source=Source(name="TinyStories-42M", fingerprint="c0ffee"), steps=steps, libraries={"torch": "2.13.0"}),
        notes=("Group size 64 was used: 128 doesn't divide 576.",) if params.get("group_size") == 64 else (),
    )


def put_packed(workspace: Workspace, id: str = "packed") -> Variant:
    """One that's quantized by its own record too, to 4 bits."""
    made = invent_variant(id, "int4", "tiny", "quantized", "rtn", {"bits": 4}, 20, 42.1, 42.1, 1)
    made = made.model_copy(update={"info": made.info.model_copy(update={"quantization": "int4"})})
    put(workspace, made)
    return made


def put(workspace: Workspace, variant: Variant, measurements: list[Measurement] = ()) -> None:
    """Commits a variant's record, without a model."""
    with workspace.staging(variant.id) as staged:
        workspace.commit(staged, variant)
    if measurements:
        workspace.add_measurements(variant.id, list(measurements))


def invent_workspace(folder: Path, tree: list[tuple] = TREE, *, odd: bool = False) -> Workspace:
    """`odd`: with a variant measured on another text, and one not measured at all."""
    workspace = Workspace(folder, create=True)
    for at, (id, name, parent, kind, method, params, mb, parameters, nonzero, perplexity, stderr, speed) in enumerate(tree):
        other = {"text_hash": "77aa"} if odd and id == "heads" else {}
        figures = [] if odd and id == "int3" else measured(perplexity, stderr, speed, "tiny" if parent else None, **other)
        put(workspace, invent_variant(id, name, parent, kind, method, params, mb, parameters, nonzero, at), figures)
    return workspace


CATALOGUE = Catalogue(
    methods=(
        MethodInfo(name="rtn", title="Round to nearest", family="quantization", summary="Seconds. Good at 8 bits, weak below 4."),
        MethodInfo(name="magnitude", title="Magnitude pruning", family="pruning", summary="Seconds. Zeros, not savings."),
        MethodInfo(name="distil", title="Distillation", family="distillation", summary="Minutes to hours."),
        MethodInfo(name="finetune", title="Fine-tuning", family="recovery", summary="Minutes to hours."),
    ),
    devices=(DeviceInfo(name="cpu", title="CPU"),),
    libraries={"torch": "2.13.0", "transformers": "5.24.0"},
)


class StillBoard(QObject):
    """A board that starts no worker: states are put in by hand, and what is asked of it is remembered."""

    event = Signal(object)

    def __init__(self, parent: QObject | None = None):
        super().__init__(parent)
        self._states: dict[str, JobState] = {}
        self.catalogue: Catalogue | None = CATALOGUE
        self.memory: events.Memory | None = None
        self.asked: list[tuple[str, Any]] = []
        self.cancelled: list[str] = []
        self.controls: list[tuple[str, str]] = []
        self.submitted: list[tuple[Any, str, str]] = []
        self.closed = self.warmed = False

    def warm(self) -> None:
        self.warmed = True

    def submit(self, spec: Any, title: str, device: str = "auto") -> str:
        job = Job(id=new_id(spec.kind), title=title, spec=spec, device=device)
        self._states[job.id] = JobState(job)
        self.submitted.append((spec, title, device))
        self.event.emit(events.Queued(job.id, title))
        return job.id

    def ask(self, spec: Any, callback: Any, device: str = "auto") -> str:
        id = new_id("ask")
        self.asked.append((spec, callback))
        return id

    def forget(self, asked: str) -> None:
        pass

    def cancel(self, job: str) -> None:
        self.cancelled.append(job)
        self._states[job].cancelling = True

    def control(self, job: str, command: str) -> None:
        self.controls.append((job, command))
        asked(self._states[job], command)

    def remove(self, job: str) -> None:
        self._states.pop(job, None)

    def states(self) -> list[JobState]:
        return list(self._states.values())

    def state(self, job: str) -> JobState | None:
        return self._states.get(job)

    def active(self) -> list[JobState]:
        return [s for s in self._states.values() if not s.over]

    def worker_state(self) -> dict[str, int]:
        busy = sum(s.status == "running" for s in self._states.values())
        return {"busy": busy, "starting": 0, "spare": 1, "holding": 0}

    def close(self) -> None:
        self.closed = True

    # -- for tests

    def put(self, spec: Any, title: str, **state: Any) -> JobState:
        job = Job(id=new_id(spec.kind), title=title, spec=spec)
        self._states[job.id] = made = JobState(job, **state)
        self.event.emit(events.Queued(job.id, title))
        return made


def invent_jobs(board: StillBoard, workspace: Path) -> list[JobState]:
    """A job in each state."""
    folder = str(workspace)
    begun = time.mktime((2030, 1, 1, 12, 4, 31, 0, 0, 0))
    rtn = lambda bits: (Step(method="rtn", params={"bits": bits}),)
    running = board.put(
        ApplySpec(workspace=folder, variant="student", steps=(Step(method="distil", params={"steps": 1200}),)),
        "Distil student 12M → 8M",
        status="running",
        stage="Training",
        done=744,
        total=1200,
        left=121,
        device="cpu",
        curves={"loss": [(s, 5.0 * (1 + s) ** -0.14 + 0.12 * ((s * 7919) % 13) / 13) for s in range(744)]},
    )
    lines = [
        ("INFO", 0, "worker 21874 ready, torch 2.13.0, 2 threads"),
        ("INFO", 0, "distil: teacher TinyStories-42M (float32), student 8M, T = 2.0, α = 0.5"),
        ("DEBUG", 1, "batch 4 × 256 tokens"),
        ("INFO", 2, "step     1/1200  loss 4.917  lr 3.0e-04  412 tok/s"),
        ("INFO", 39, "step   200/1200  loss 2.604  lr 3.0e-04  431 tok/s"),
        ("WARN", 41, "gradient norm 7.4 clipped to 1.0"),
        ("INFO", 80, "step   400/1200  loss 2.117  lr 2.7e-04  428 tok/s"),
        ("INFO", 122, "step   600/1200  loss 1.921  lr 2.1e-04  430 tok/s"),
        ("ERROR", 151, "the held-out text couldn't be scored: out of memory"),
        ("INFO", 152, "training goes on"),
    ]
    running.log = [events.Log(running.job.id, level, begun + at, words) for level, at, words in lines]
    queued = board.put(EvaluateSpec(workspace=folder, variant="int3"), "Evaluate int3 g64")
    finished = board.put(
        ApplySpec(workspace=folder, variant="kd", steps=rtn(4)),
        "int4 g64 on KD-recovered",
        status="finished",
        result={"variants": ["kdint4"]},
        seconds=112.0,
    )
    failure = events.Failed(
        "x",
        "memory",
        "There wasn't enough memory for this.",
        "Close other programs, or choose a smaller context, batch or model.",
        'Traceback (most recent call last):\n  File "core/worker/loop.py", line 91, in work\nMemoryError',
    )
    failed = board.put(
        ApplySpec(workspace=folder, variant="tiny", steps=(Step(method="magnitude", params={"sparsity": 0.4}),)),
        "Magnitude 40 % on TinyStories-42M",
        status="failed",
        failure=failure,
        seconds=18.0,
    )
    cancelled = board.put(ApplySpec(workspace=folder, variant="tiny", steps=rtn(8)), "int8 per row", status="cancelled")
    board.memory = events.Memory("", 1_430_000_000)
    return [running, queued, finished, failed, cancelled]
