"""What the wizards' tests put in place of workers: a board that records what it's asked, and a library of made-up variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.library_model import Library
from core import events
from core.params import Knob
from core.recipe import Recipe, Source, Step
from core.records import Catalogue, DeviceInfo, Ledger, MethodInfo, SourceInfo, Variant
from core.workspace import Workspace

GB = 1_000_000_000

RTN = MethodInfo(
    name="rtn",
    title="Round to nearest",
    family="quantization",
    summary="Seconds, needs no data. 8 bits: half the size, hardly a loss. 4 bits: a quarter, and it shows.",
    knobs=(
        Knob(
            name="bits",
            kind="choice",
            title="Bits per weight",
            help="How many bits a weight takes.",
            default=8,
            choices=((8, "8"), (4, "4")),
        ),
        Knob(
            name="granularity",
            kind="choice",
            title="One scale for each",
            help="What shares a scale. Smaller groups are more exact and cost more scales.",
            default="auto",
            choices=(("auto", "Automatic"), ("channel", "Output row"), ("group", "Group of columns")),
        ),
        Knob(
            name="group_size",
            kind="int",
            title="Group size",
            help="Columns that share a scale.",
            unit="columns",
            default=128,
            low=8,
            high=1024,
            step=8,
            when={"granularity": ("group",)},
        ),
        Knob(name="symmetric", kind="bool", title="Symmetric", help="Zero stays exactly zero.", default=True, advanced=True),
        Knob(name="clip", kind="bool", title="Clip outliers", help="Search the range with the least error.", default=False, advanced=True),
    ),
)
GPTQ = MethodInfo(
    name="gptq",
    title="GPTQ",
    family="quantization",
    summary="Minutes. Uses calibration data, best at 3 to 4 bits.",
    needs=("calibration",),
    knobs=(
        Knob(name="bits", kind="int", title="Bits per weight", help="", default=4, low=2, high=8),
        Knob(name="damping", kind="float", title="Damping", help="Share of the mean diagonal.", default=0.01, low=0, high=1, low_open=True),
    ),
)
MAGNITUDE = MethodInfo(
    name="magnitude",
    title="Magnitude pruning",
    family="pruning",
    summary="Seconds, needs no data. Zeros only: no smaller on disk.",
    knobs=(
        Knob(
            name="sparsity",
            kind="float",
            title="Sparsity",
            help="Share of the weights that become zero.",
            default=0.5,
            low=0,
            high=1,
            high_open=True,
            step=0.05,
        ),
        Knob(
            name="pattern",
            kind="choice",
            title="Pattern",
            help="2:4 is what some GPUs compute faster.",
            default="free",
            choices=(("free", "Free"), ("2:4", "2:4")),
        ),
    ),
)
DISTIL = MethodInfo(
    name="distil",
    title="Distil",
    family="distillation",
    summary="Minutes to hours, needs a text. A student that's smaller and faster for real.",
    needs=("text", "teacher"),
    tasks=("causal-lm",),
    knobs=(
        Knob(name="steps", kind="int", title="Steps", help="Steps of the optimizer.", default=1000, low=1, high=1_000_000),
        Knob(name="student", kind="variant", title="Student", help="Who learns.", optional=True),
        Knob(
            name="layers",
            kind="int",
            title="Layers to keep",
            help="Of the shallower copy.",
            optional=True,
            low=1,
            high=1000,
            when={"student": (None,)},
        ),
        Knob(name="lr", kind="float", title="Learning rate", help="The largest.", default=3e-4, low=0, low_open=True, advanced=True),
    ),
)
BROKEN = MethodInfo(name="awq", title="awq", error="ModuleNotFoundError: No module named 'awq'")
METHODS = (RTN, GPTQ, MAGNITUDE, DISTIL, BROKEN)
CPU = DeviceInfo(name="cpu", title="x86_64", total_bytes=24 * GB, free_bytes=11 * GB)
GPU = DeviceInfo(name="cuda:0", title="Some GPU", total_bytes=80 * GB, free_bytes=70 * GB)


def info(name: str = "shakespeare-7m", **changes: Any) -> SourceInfo:
    return SourceInfo(
        **(
            {
                "source": f"/models/{name}",
                "kind": "folder",
                "name": name,
                "architecture": "LlamaForCausalLM",
                "model_type": "llama",
                "task": "causal-lm",
                "parameters": 7_349_760,
                "components": {"embedding": 1_048_576, "attention": 1_770_000, "mlp": 4_520_000, "norm": 11_184},
                "dtypes": {"BF16": 7_349_760},
                "bytes_on_disk": 14_900_000,
                "tied": True,
                "tokenizer": True,
                "layers": 8,
                "hidden": 256,
                "intermediate": 768,
                "heads": 8,
                "kv_heads": 2,
                "vocabulary": 4096,
                "context": 512,
                "tokens_hash": "aa",
                "memory_needed": 29_400_000,
                "memory_free": 11 * GB,
            }
            | changes
        )
    )


def variant(
    id: str, name: str = "", *, parent: str | None = None, kind: str = "original", size: int = 14_900_000, **changes: Any
) -> Variant:
    own = info(name or id, **{k: changes.pop(k) for k in list(changes) if k in SourceInfo.model_fields})
    recipe = Recipe(source=Source(name="shakespeare-7m", fingerprint="f" * 64))
    if parent:
        recipe = recipe.extended(Step(method="magnitude", params={"sparsity": 0.3}))
    ledger = Ledger(
        bytes_on_disk=size,
        weight_bytes=size - 20_000,
        parameters=7_349_760,
        nonzero=7_349_760,
        effective_bits=8 * size / 7_349_760,
        original_parameters=7_349_760,
    )
    return Variant(
        id=id, name=name or id, parent=parent, kind=kind, info=own, ledger=ledger, recipe=recipe, fingerprint="f" * 64, **changes
    )


VARIANTS = (
    variant("seven", "Shakespeare 7M", created="2026-01-01T00:00:00+00:00"),
    variant("one", "Shakespeare 1M", size=2_300_000, parameters=1_100_000, created="2026-01-01T00:00:01+00:00"),
    variant("cut", "magnitude 30 %", parent="seven", kind="pruned", created="2026-01-01T00:00:02+00:00"),
    variant(
        "eight",
        "rtn 8-bit",
        parent="seven",
        kind="quantized",
        size=8_600_000,
        quantization="int8 per channel (compressed-tensors)",
        created="2026-01-01T00:00:03+00:00",
    ),
    variant("other", "Another vocabulary", tokens_hash="bb", size=31_000_000, created="2026-01-01T00:00:04+00:00"),
)


def make_library(folder: Path, variants: tuple[Variant, ...] = VARIANTS) -> Library:
    workspace = Workspace(folder, create=True)
    for v in variants:
        with workspace.staging(v.id) as staged:
            workspace.commit(staged, v)
    library = Library()
    library.open(folder)
    library.close()  # no polling: tests call refresh()
    return library


class Board(QObject):
    """Records what's submitted; answers questions when told to (`answer`), or at once by `reply`."""

    event = Signal(object)

    def __init__(self, catalogue: Catalogue | None = None):
        super().__init__()
        self.catalogue = catalogue
        self.submitted: list[tuple[Any, str, str]] = []
        self.asked: dict[str, tuple[Any, Any, str]] = {}
        self.forgotten: list[str] = []
        self.cancelled: list[str] = []
        self.controls: list[tuple[str, str]] = []
        self.reply: Any = None

    def submit(self, spec: Any, title: str, device: str = "auto") -> str:
        self.submitted.append((spec, title, device))
        return f"job-{len(self.submitted)}"

    def ask(self, spec: Any, callback: Any, device: str = "auto") -> str:
        name = f"ask-{len(self.asked) + len(self.forgotten) + 1}"
        self.asked[name] = (spec, callback, device)
        if self.reply is not None:
            result = self.reply(spec)
            if result is not None:
                self.answer(name, result)
        return name

    def answer(self, name: str, result: Any) -> None:
        """`result`: a dict for Finished, or an event."""
        _, callback, _ = self.asked.pop(name)
        callback(events.Finished(name, result) if isinstance(result, dict) else result)

    def last_asked(self) -> str:
        return list(self.asked)[-1]

    def forget(self, asked: str) -> None:
        if self.asked.pop(asked, None):
            self.forgotten.append(asked)

    def cancel(self, job: str) -> None:
        self.cancelled.append(job)

    def control(self, job: str, command: str) -> None:
        self.controls.append((job, command))

    def learn(self, catalogue: Catalogue) -> None:
        """A worker has become ready."""
        self.catalogue = catalogue
        self.event.emit(events.Ready("", 1, catalogue))


def catalogue(*devices: DeviceInfo) -> Catalogue:
    return Catalogue(methods=METHODS, devices=devices or (CPU,))


def estimate(spec: Any) -> dict[str, Any] | None:
    """An answer to an EstimateSpec; nothing for other questions."""
    if spec.kind != "estimate":
        return None
    size = 8_600_000 if spec.step.params.get("bits", 8) == 8 else 5_200_000
    return {"bytes_on_disk": size, "effective_bits": 9.36, "memory": 62_000_000, "seconds": 1.4, "notes": []}
