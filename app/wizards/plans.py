"""What the wizards decide, without a widget: which pages there are, what keeps a person from going on, and the job that comes out.

Covers opening, compressing, evaluating and exporting. Knows neither Qt nor how anything looks, so it's tested with plain
assertions; what a page says is a `Said`, translated by the page that shows it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from core.errors import UserError
from core.params import Knob
from core.recipe import ImagesRef, LabelsRef, Recipe, Source, Step, TextRef
from core.records import (
    ENCODER_DECODERS,
    GGUF_MODELS,
    ApplySpec,
    DeviceInfo,
    EvaluateSpec,
    ExportSpec,
    ImportSpec,
    MethodInfo,
    OnnxOptions,
    SourceInfo,
    Variant,
)
from core.runtimes import foresee
from core.workspace import free_name, read_json


class Bytes(int):
    """A number of bytes inside a Said: shown as '12.5 MB' rather than as digits."""


@dataclass(frozen=True)
class Said:
    """A sentence to be translated and then filled in; false where there's nothing to say.

    A value may be a UserError: it's filled in as its own sentence, translated as core's are.
    """

    template: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.template)


def say(template: str, **values: Any) -> Said:
    """Marks a template for translation (context 'wizards')."""
    return Said(template, values)


NOTHING = Said()


class Plan(Protocol):
    """What a Flow asks of a wizard's plan."""

    def pages(self) -> tuple[str, ...]: ...
    def problem(self, page: str) -> Said: ...


class Flow:
    """Where a person stands among the pages of a plan. Pages may come and go as the plan changes."""

    def __init__(self, plan: Plan):
        self.plan = plan
        self.page = plan.pages()[0]

    @property
    def place(self) -> int:
        """The index of the page that's shown."""
        pages = self.plan.pages()
        return pages.index(self.page) if self.page in pages else 0

    @property
    def last(self) -> bool:
        return self.page == self.plan.pages()[-1]

    @property
    def first(self) -> bool:
        return self.page == self.plan.pages()[0]

    @property
    def problem(self) -> Said:
        """Why the person can't go on from this page. The last page also answers for those before it."""
        if self.last:
            return next((said for said in map(self.plan.problem, self.plan.pages()) if said), NOTHING)
        return self.plan.problem(self.page)

    def next(self) -> bool:
        """One page on; False where there's none or something is in the way."""
        if self.last or self.problem:
            return False
        self.page = self.plan.pages()[self.place + 1]
        return True

    def back(self) -> bool:
        if self.first:
            return False
        self.page = self.plan.pages()[self.place - 1]
        return True

    def go(self, page: str) -> bool:
        """To a page already passed (a click on its step)."""
        pages = self.plan.pages()
        if page not in pages or pages.index(page) > self.place:
            return False
        self.page = page
        return True


# ---- shared checks ------------------------------------------------------------------------------------------------


def text_problem(path: str | None) -> Said:
    """What's wrong with a text file, as far as its folder entry tells; nothing for None (the starter's own text)."""
    if path is None:
        return NOTHING
    if not path.strip():
        return say("Choose a text file.")
    file = Path(path).expanduser()
    if not file.exists():
        return say("There is no file at {path}.", path=path)
    if file.is_dir():
        return say("{path} is a folder. Choose a text file.", path=path)
    if not os.access(file, os.R_OK):
        return say("There is no permission to read {path}.", path=path)
    if file.stat().st_size == 0:
        return say("{path} is empty.", path=path)
    return NOTHING


LABEL_FILES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")


def labels_problem(path: str | None) -> Said:
    """What's wrong with a file of labelled examples, as far as its name and its folder entry tell. A Hub name is left to the worker."""
    if path is None or not path.strip():
        return say("Choose a file of labelled examples.")
    file = Path(path).expanduser()
    if file.suffix.lower() not in LABEL_FILES:
        if not file.exists() and HUB_DATA.fullmatch(path.strip()):
            return NOTHING
        return say("Choose a .csv, .tsv, .jsonl or .parquet file, or give a data set of the Hub as org/name.")
    return text_problem(path)


def images_problem(path: str | None) -> Said:
    """What's wrong with a set of images, as far as its name and its entry tell; nothing where none is named."""
    if path is None:
        return NOTHING
    if not path.strip():
        return say("Choose an .npz file or a folder of pictures.")
    file = Path(path).expanduser()
    if not file.exists():
        return say("It doesn't exist.")
    return NOTHING if file.is_dir() or file.suffix.lower() == ".npz" else say("Choose an .npz file or a folder of pictures.")


def name_problem(name: str) -> Said:
    return NOTHING if name.strip() else say("Give it a name.")


def best_device(devices: Iterable[DeviceInfo]) -> str:
    """The device to preselect: the first CUDA device, else Apple's, else the processor; 'auto' while none is known."""
    names = [d.name for d in devices]
    for start in ("cuda", "mps", "cpu"):
        found = next((n for n in names if n.startswith(start)), None)
        if found:
            return found
    return "auto"


def memory_problem(needed: int | None, device: DeviceInfo | None) -> Said:
    """A warning where an estimate of the memory needed exceeds what's free; it doesn't keep anyone from trying."""
    if needed is None or device is None or device.free_bytes is None or needed <= device.free_bytes:
        return NOTHING
    return say(
        "This may not fit: it needs about {needed}, and {device} has {free} free.",
        needed=Bytes(needed),
        device=device.title,
        free=Bytes(device.free_bytes),
    )


# ---- open a model -------------------------------------------------------------------------------------------------

HUB_DATA = re.compile(r"[A-Za-z0-9][\w.\-]*/[A-Za-z0-9][\w.\-]*(:[\w.\-]+)?")
HUB_ID = re.compile(r"[A-Za-z0-9][\w.\-]*(/[A-Za-z0-9][\w.\-]*)?")


def source_kind(source: str) -> str:
    """'' (nothing typed), 'folder', 'gguf', 'hub', 'missing' (a path that isn't there) or 'other' (some other file).

    What exists on disk is taken for a path; only then may 'org/name' be an id on the Hub.
    """
    source = source.strip()
    if not source:
        return ""
    path = Path(source).expanduser()
    try:
        if path.is_dir():
            return "folder"
        if path.is_file():
            return "gguf" if path.suffix.lower() == ".gguf" else "other"
    except OSError:  # a name too long for a path
        return "missing"
    looks_local = source.startswith((".", "/", "~", "\\")) or source.lower().endswith((".gguf", ".safetensors", ".bin"))
    return "hub" if HUB_ID.fullmatch(source) and not looks_local else "missing"


def dropped_source(path: str) -> str:
    """What a dropped or chosen path means as a source: a weight file stands for its folder."""
    file = Path(path)
    if file.is_file() and file.suffix.lower() in (".safetensors", ".bin", ".json"):
        return str(file.parent)
    return str(file)


STARTER_IMAGES = (1, 8, 8)  # channels, height and width of the digits that come with Spokeshave


class OpenPlan:
    """Opening a model: where it is, what it is, and the baseline to measure."""

    def __init__(self, workspace: str, taken: Iterable[str] = ()):
        self.workspace, self.taken = workspace, tuple(taken)
        self.source = ""
        self.remote_code = False
        self.info: SourceInfo | None = None
        self.failed = False
        self.inspected: tuple[str, bool] | None = None  # what `info` or `failed` is the answer to
        self.name = ""
        self.dtype = "auto"
        self.device = "auto"
        self.measure = True
        self.text: str | None = None
        self.images: str | None = None  # to hold a model that draws against; None: the starter's digits
        self.max_tokens: int = 20_000

    def pages(self) -> tuple[str, ...]:
        return ("source", "what", "baseline", "review")

    @property
    def question(self) -> tuple[str, bool]:
        """What has to be inspected for the source as it's given now."""
        return self.source.strip(), self.remote_code

    def asked(self) -> None:
        self.inspected, self.info, self.failed = None, None, False

    def answered(self, question: tuple[str, bool], info: SourceInfo | None) -> bool:
        """Takes an inspection's answer (None: it failed); False where it's to a question no longer asked."""
        if question != self.question:
            return False
        self.inspected, self.info, self.failed = question, info, info is None
        if info is not None:
            self.name = free_name(info.name or Path(question[0]).name or "model", self.taken)
        return True

    def problem(self, page: str) -> Said:
        if page == "source":
            return self._source_problem()
        if page == "what":
            if self.inspected != self.question:
                return say("Reading the headers …")
            if self.failed or self.info is None:
                return say("This model can't be opened.")
            if self.info.remote_code and not self.remote_code:
                return say("This model brings its own code. Allow it, or choose another model.")
            return NOTHING
        if page == "baseline":
            return (self._baseline_problem() if self.measure else NOTHING) or name_problem(self.name)
        return NOTHING

    def _baseline_problem(self) -> Said:
        if self.info is None or self.info.task != "diffusion":
            return text_problem(self.text)
        if self.images is None and self.info.image_shape != STARTER_IMAGES:
            return say("The digits that come with Spokeshave aren't of its size. Choose the images that it learnt from.")
        return images_problem(self.images)

    def _source_problem(self) -> Said:
        kind = source_kind(self.source)
        if not kind:
            return say("Choose a model first.")
        if kind == "missing":
            return say("There is nothing at {path}.", path=self.source.strip())
        if kind == "other":
            return say("{name} isn't a model. Choose a folder, a .gguf file or a Hub id.", name=Path(self.source.strip()).name)
        return NOTHING

    def spec(self) -> ImportSpec:
        source = self.source.strip()
        if source_kind(source) != "hub":
            source = str(Path(source).expanduser().absolute())
        return ImportSpec(
            workspace=self.workspace,
            source=source,
            name=self.name.strip() or None,
            dtype=self.dtype,  # type: ignore[arg-type]
            remote_code=self.remote_code,
            measure=self.measure,
            text=self.text,
            max_tokens=self.max_tokens,
            images=ImagesRef(path=str(Path(self.images.strip()).expanduser().absolute())) if self.images and self.measure else None,
        )


# ---- compress -----------------------------------------------------------------------------------------------------

FAMILIES = ("pruning", "quantization", "distillation", "recovery")
REFUSALS = ("usage", "input", "model", "data")  # kinds of failure of an estimate that the job would fail by, too


class CompressPlan:
    """Making a variant: from which one, by which method with which settings, reading which text, and what's measured."""

    def __init__(self, workspace: str, family: str, variants: Iterable[Variant], methods: Iterable[MethodInfo] | None = None):
        if family not in FAMILIES:
            raise ValueError(f"no such family of methods: {family}")
        self.workspace, self.family = workspace, family
        self.variants = {v.id: v for v in variants}
        self.methods: tuple[MethodInfo, ...] | None = None
        self.variant = ""
        self.method = ""
        self.params: dict[str, Any] = {}
        self.params_problem = ""  # what the form says, already in words
        self.refused = ""  # the worker's own sentence on these settings, already in words
        self.text: str | None = None  # training or calibration text; None: the starter's
        self.images: str | None = None  # a file or folder of them; None: those that the variant learnt from, or the starter's
        self.labels: str | None = None  # a file of labelled examples; None: those that the variant learnt from
        self.columns: tuple[str, str] = ("", "")  # with the text and with the class; '': found by their names
        self.described: tuple[LabelsRef, dict[str, Any]] | None = None  # what the worker found in which examples
        self.name = ""
        self.name_waits = False  # for the worker's answer: started before it comes, the job names what it makes itself, and the same way
        self.names: dict[str, str] = {}  # that the worker has answered, by the settings
        self.seed = 0
        self.device = "auto"
        self.measure = True
        self.measure_text: str | None = None
        self.max_tokens = 20_000
        if methods is not None:
            self.learn(methods)

    def learn(self, methods: Iterable[MethodInfo]) -> None:
        """The catalogue has come: the methods of this family, and those that couldn't be loaded."""
        self.methods = tuple(m for m in methods if m.family == self.family or m.error)
        if self.chosen is None:
            self.method = next((m.name for m in self.methods if not self.method_problem(m)), "")

    @property
    def source(self) -> Variant | None:
        return self.variants.get(self.variant)

    @property
    def chosen(self) -> MethodInfo | None:
        return next((m for m in self.methods or () if m.name == self.method), None)

    @property
    def needs_text(self) -> bool:
        """Whether a text is asked for. A classifier that learnt from labels is calibrated on their texts."""
        return bool({"text", "calibration"} & self._needs) and self.known_labels is None

    @property
    def needs_labels(self) -> bool:
        return "labels" in self._needs

    @property
    def needs_images(self) -> bool:
        return "images" in self._needs

    @property
    def measures_labels(self) -> bool:
        """Whether what comes out is a classifier, which is measured on labelled examples, not on a text."""
        return self.needs_labels or (self.source is not None and self.source.info.task == "classifier")

    @property
    def draws(self) -> bool:
        """Whether it's a diffusion model, which is measured against images."""
        return self.source is not None and self.source.info.task == "diffusion"

    @property
    def _needs(self) -> set[str]:
        if self.chosen is None:
            return set()
        return set(self.chosen.needs_of(self.source.info.task if self.source else "unknown"))

    @property
    def known_labels(self) -> LabelsRef | None:
        """The examples that the variant learnt from, where it's a classifier that was made here."""
        return self.source.recipe.labels if self.source is not None and self.source.info.task == "classifier" else None

    @property
    def labels_ref(self) -> LabelsRef | None:
        """The examples chosen; None where there are none yet."""
        if self.labels is None:
            return self.known_labels
        path = self.labels.strip()
        if Path(path).expanduser().exists():
            path = str(Path(path).expanduser().absolute())
        return LabelsRef(path=path, text=self.columns[0], label=self.columns[1]) if path else None

    @property
    def examples(self) -> dict[str, Any] | None:
        """What the worker found in the examples chosen; None until it has answered."""
        return self.described[1] if self.described is not None and self.described[0] == self.labels_ref else None

    @property
    def trains(self) -> bool:
        return self.family in ("distillation", "recovery")

    def pages(self) -> tuple[str, ...]:
        reads = self.needs_text or self.needs_labels or self.needs_images
        return ("source", "method", "data", "review") if reads else ("source", "method", "review")

    def choose_default(self, preferred: str) -> None:
        """The variant asked for where it can be used, else the first that can."""
        usable = [v.id for v in self.variants.values() if not self.variant_problem(v)]
        self.variant = preferred if preferred in usable else (usable[0] if usable else "")
        if self.chosen is not None and self.method_problem(self.chosen):
            self.method = next((m.name for m in self.methods or () if not self.method_problem(m)), "")

    def variant_problem(self, variant: Variant) -> Said:
        """Why this variant can't be the source."""
        if variant.info.quantization:
            if self.family == "quantization":
                return say("It's quantized already. Choose the variant that it came from.")
            if self.family != "distillation":  # a quantized teacher still teaches
                return say("It's quantized, and that comes last. Choose the variant that it came from.")
        return NOTHING

    def method_problem(self, method: MethodInfo) -> Said:
        """Why this method can't be used on the variant chosen."""
        if method.error:
            return say("It couldn't be loaded: {reason}", reason=method.error)
        return say("It doesn't work on this kind of model.") if self.of_another_kind(method) else NOTHING

    def of_another_kind(self, method: MethodInfo) -> bool:
        """Whether this method is for other kinds of model than the variant chosen is."""
        source = self.source
        known = source is not None and source.info.task != "unknown" and not method.error
        return known and source.info.task not in method.tasks

    def problem(self, page: str) -> Said:
        if page == "source":
            if not self.variants:
                return say("There is no model in this workspace yet.")
            if self.source is None:
                return say("Choose a variant.")
            return self.variant_problem(self.source)
        if page == "method":
            if self.methods is None:
                return say("The worker is still starting. The methods appear in a few seconds.")
            if self.chosen is None:
                return say("Choose a method.")
            wrong = self.params_problem or self.refused
            return self.method_problem(self.chosen) or (Said("{problem}", {"problem": wrong}) if wrong else NOTHING)
        if page == "data":
            if self.needs_labels:
                return self._labels_problem()
            if self.needs_images:
                return images_problem(self.images) or self._unknown_images()
            return text_problem(self.text) if self.needs_text else NOTHING
        if page == "review":
            reads = self.measure and not self.measures_labels and not self.draws
            return name_problem(self.name) or (text_problem(self.measure_text) if reads else NOTHING)
        return NOTHING

    def _unknown_images(self) -> Said:
        """The starter's digits stand for what a model learnt from only where they have its size."""
        source = self.source
        if self.images is not None or source is None or source.recipe.images is not None or source.info.image_shape == (1, 8, 8):
            return NOTHING
        return say("Which images it learnt from isn't known. Choose them.")

    def _labels_problem(self) -> Said:
        if self.labels is not None or self.known_labels is None:
            wrong = labels_problem(self.labels)
            if wrong:
                return wrong
        return NOTHING if self.examples is not None else say("The examples haven't been read yet.")

    def step(self) -> Step:
        text = TextRef(path=str(Path(self.text).expanduser().absolute())) if self.needs_text and self.text else None
        labels = self.labels_ref if self.needs_labels else None
        images = ImagesRef(path=str(Path(self.images).expanduser().absolute())) if self.needs_images and self.images else None
        return Step(method=self.method, params=dict(self.params), seed=self.seed, text=text, labels=labels, images=images)

    def recipe(self) -> Recipe:
        """The whole way from the original, as the new variant will carry it."""
        source = self.source
        if source is None:
            return Recipe(steps=(self.step(),))
        before = source.recipe
        if not before.source.fingerprint and source.parent is None:
            before = before.model_copy(update={"source": Source(name=source.name, origin=source.origin, fingerprint=source.fingerprint)})
        return before.extended(self.step())

    def spec(self) -> ApplySpec:
        return ApplySpec(
            workspace=self.workspace,
            variant=self.variant,
            steps=(self.step(),),
            name=None if self.name_waits else self.name.strip() or None,
            measure=self.measure,
            text=self.measure_text if self.measure and not self.measures_labels and not self.draws else None,
            max_tokens=self.max_tokens,
        )

    def warning(self) -> Said:
        """Worth saying before the start, though nothing is wrong."""
        if self.needs_text and self.trains and self.measure and self.text and self.measure_text == self.text:
            return say("It would be measured on the text that it's trained on, which flatters it. Choose another text to measure on.")
        return NOTHING

    def learn_name(self, name: str) -> None:
        """The worker's own name for what the present settings make."""
        self.names[self._settings()] = name

    @property
    def name_known(self) -> bool:
        return self._settings() in self.names

    def _settings(self) -> str:
        return self.step().model_dump_json(include={"method", "params"})

    def suggested_name(self) -> str:
        """The worker's name; until it's known 'rtn 4-bit g64': the method and the settings that tell its variants apart."""
        method = self.chosen
        if method is None:
            return ""
        if self.name_known:
            return free_name(self.names[self._settings()], (v.name for v in self.variants.values()))
        parts = [method.name, *(_short(k, self.params[k.name]) for k in method.knobs if not k.advanced and k.name in self.params)]
        short = " ".join([p for p in parts if p][:4])
        return free_name(short, (v.name for v in self.variants.values()))


SHARE = 0.005  # less of something isn't what a variant is named after


def _short(knob: Knob, value: Any) -> str:
    """A setting in a few letters for a name, or '' where it says nothing there."""
    if value is None or knob.kind in ("text", "file", "variant"):
        return ""
    if knob.kind == "bool":
        return ("" if value else "no ") + knob.name.replace("_", " ") if value != knob.default else ""
    if knob.name in ("windows", "context") and value == knob.default:
        return ""  # how much text it looked at tells few variants apart
    if knob.name == "bits":
        return f"{value}-bit"
    if knob.name == "group_size":
        return f"g{value}" if value != knob.default else ""  # at its default it may not even apply
    if knob.kind == "choice":
        return "" if value == knob.default and knob.name not in ("pattern", "bits", "group_size") else str(value)
    if knob.kind == "float":
        if knob.low == 0 and knob.high == 1:
            return f"{value * 100:g} %" if not 0 < value < SHARE else ""  # a learning rate is no share
        return f"{knob.name} {value:g}"
    return f"{value} {knob.name.replace('_', ' ')}"


# ---- evaluate -----------------------------------------------------------------------------------------------------


class EvaluatePlan:
    """Measuring variants: on which text, against which reference, and how long."""

    def __init__(self, workspace: str, variants: Iterable[Variant]):
        self.workspace = workspace
        self.all = {v.id: v for v in variants}
        self.variants: tuple[str, ...] = ()
        self.text: str | None = None
        self.labels = ""  # a file of labelled examples for classifiers; '': those that each learnt from
        self.reference: str | None = None
        self.context: int | None = None
        self.max_tokens: int | None = 20_000
        self.speed = True
        self.images: str | None = None  # for models that draw; None: those that each learnt from
        self.steps: int | None = None  # that they draw in; None: as many as each was made for
        self.also: tuple[int, ...] = ()  # numbers of steps besides
        self.device = "auto"

    def pages(self) -> tuple[str, ...]:
        return ("measure",)

    @property
    def draws(self) -> bool:
        """Whether a model that draws images is among those chosen."""
        return any(self.all[i].info.task == "diffusion" for i in self.variants if i in self.all)

    @property
    def classifies(self) -> bool:
        """Whether a classifier is among those chosen."""
        return any(self.all[i].info.task == "classifier" for i in self.variants if i in self.all)

    @property
    def reads_text(self) -> bool:
        """Whether one is chosen that's measured on a text; a classifier is on its examples alone, and what draws on images."""
        chosen = [self.all[i].info.task for i in self.variants if i in self.all]
        return not chosen or any(task not in ("classifier", "diffusion") for task in chosen)

    @property
    def compares(self) -> bool:
        """Whether one is chosen that can be held against another model."""
        return self.reads_text or self.classifies

    def reference_problem(self, reference: Variant) -> Said:
        """Why a variant can't be what the chosen ones are compared with."""
        chosen = [v for i in self.variants if (v := self.all.get(i)) and v.info.task != "diffusion"]
        if reference.info.task == "diffusion" or (self.variants and not chosen):
            return say("A model that draws is held against images, not against another model.")
        if len(chosen) == 1 and chosen[0].id == reference.id:
            return say("It's the variant itself.")
        if any((v.info.task == "classifier") != (reference.info.task == "classifier") for v in chosen):
            return say("It doesn't do the same: one classifies, the other doesn't.")
        if any(v.info.tokens_hash != reference.info.tokens_hash for v in chosen):
            return say("Its tokenizer has other tokens, so the two can't be compared token by token.")
        return NOTHING

    def problem(self, page: str) -> Said:
        if not self.all:
            return say("There is no model in this workspace yet.")
        if not self.variants:
            return say("Choose at least one variant.")
        reference = self.all.get(self.reference or "")
        wrong = (self.reference_problem(reference) if reference and self.compares else NOTHING) or self._labels_problem()
        wrong = wrong or self._steps_problem() or self._images_problem()
        return wrong or (text_problem(self.text) if self.reads_text else NOTHING)

    def _images_problem(self) -> Said:
        drawing = [v for i in self.variants if (v := self.all.get(i)) and v.info.task == "diffusion"]
        unknown = next((v for v in drawing if v.recipe.images is None and v.info.image_shape not in (STARTER_IMAGES, None)), None)
        if self.images is None and unknown is not None:
            return say("Which images {name} learnt from isn't known: choose them.", name=unknown.name)
        return images_problem(self.images) if drawing else NOTHING

    def _steps_problem(self) -> Said:
        for v in (self.all[i] for i in self.variants if i in self.all):
            if v.info.task == "diffusion" and self.steps and v.info.context and self.steps > v.info.context:
                return say("{name} knows {n} levels of noise, so it can't draw in more steps.", name=v.name, n=v.info.context)
        return NOTHING

    def _labels_problem(self) -> Said:
        if not self.classifies:
            return NOTHING
        if self.labels.strip():
            return labels_problem(self.labels)
        unknown = next((v for i in self.variants if (v := self.all[i]).info.task == "classifier" and v.recipe.labels is None), None)
        return say("It isn't known what {name} learnt from: choose labelled examples.", name=unknown.name) if unknown else NOTHING

    def specs(self) -> list[tuple[str, EvaluateSpec]]:
        """(variant's name, job) for each variant chosen. A variant isn't compared with itself."""
        return [
            (
                self.all[i].name,
                EvaluateSpec(
                    workspace=self.workspace,
                    variant=i,
                    text=self.text if self.all[i].info.task not in ("classifier", "diffusion") else None,
                    reference=self.reference if self.reference != i and self.all[i].info.task != "diffusion" else None,
                    context=self.context,
                    max_tokens=self.max_tokens,
                    speed=self.speed,
                    labels=self._labels(i),
                    **self._drawing(i),
                ),
            )
            for i in self.variants
        ]

    def _drawing(self, variant: str) -> dict[str, Any]:
        """What's asked of a model that draws."""
        if self.all[variant].info.task != "diffusion":
            return {}
        path = (self.images or "").strip()
        images = ImagesRef(path=str(Path(path).expanduser().absolute())) if path else None
        return {"images": images, "steps": self.steps, "also": self.also}

    def _labels(self, variant: str) -> LabelsRef | None:
        path = self.labels.strip()
        if not path or self.all[variant].info.task != "classifier":
            return None
        return LabelsRef(path=str(Path(path).expanduser().absolute()) if Path(path).expanduser().exists() else path)


# ---- export -------------------------------------------------------------------------------------------------------


def file_name(name: str) -> str:
    """A variant's name as a folder's name: letters, digits, dots and dashes."""
    return re.sub(r"-{2,}", "-", re.sub(r"[^\w.\-]+", "-", name)).strip("-.") or "model"


GGUF_BITS = {"f32": 32.0, "f16": 16.0, "bf16": 16.0, "q8_0": 8.5, "q4_0": 4.5, "q4_k": 4.5}  # a weight, its share of scales included


class ExportPlan:
    """Writing a variant as ONNX, as GGUF, or packed without its zeros: which, in what, and into which folder."""

    def __init__(self, workspace: str, variants: Iterable[Variant]):
        self.workspace = workspace
        self.variants = {v.id: v for v in variants}
        self.variant = ""
        self.format = "onnx"  # or 'gguf', 'sparse'
        self.gguf_type = "auto"
        self.profile = "portable"  # of an ONNX graph; or 'fast'
        self.activations = "float32"  # or 'int8'
        self.layout = "plain"  # or 'transformers.js'
        self.runtime = ""  # the oldest onnxruntime that is to open it; '': any that Spokeshave knows
        self.precision = "float32"  # of the graph of a variant that isn't quantized: see `precisions`
        self.text: str | None = None  # that the ranges of 'int8-static' are found on; None: the starter's
        self.to = ""
        self.overwrite = False
        self.device = "auto"
        self._configs: dict[str, dict[str, Any]] = {}  # by variant

    def pages(self) -> tuple[str, ...]:
        return ("source", "folder", "review")

    @property
    def source(self) -> Variant | None:
        return self.variants.get(self.variant)

    def choose_default(self, preferred: str) -> None:
        usable = [v.id for v in self.variants.values() if not self.variant_problem(v)]
        self.variant = preferred if preferred in usable else (usable[0] if usable else "")

    def variant_problem(self, variant: Variant) -> Said:
        if variant.info.task == "unknown" and variant.info.model_type not in ENCODER_DECODERS:
            return say("It isn't known what this model does, so its inputs can't be described.")
        return NOTHING

    def format_problem(self) -> Said:
        """Why the chosen variant can't be written in the chosen format."""
        if self.format != "onnx" and self.draws:
            return say("A model that draws images is written as ONNX only; its folder is what diffusers loads.")
        if self.format == "gguf" and self.source is not None and self.source.info.model_type not in GGUF_MODELS:
            return say("A model of the kind {kind} can't be written as GGUF here. Choose ONNX.", kind=self.source.info.model_type or "?")
        if self.format == "sparse" and self.source is not None and (self.estimate or 0) >= self.source.ledger.weight_bytes:
            zeros = 100 * (1 - self.source.ledger.nonzero / max(self.source.ledger.parameters, 1))
            return say("{share} % of its weights are zero, too few to save anything. Prune it first.", share=f"{zeros:.2g}")
        return NOTHING

    @property
    def generates(self) -> bool:
        """Whether the chosen variant is a text generator, for which alone there's a fast profile."""
        return self.source is not None and self.source.info.task == "causal-lm"

    @property
    def rounds(self) -> bool:
        """Whether there's a choice of what quantized layers multiply by."""
        return self.generates and self.source is not None and bool(self.source.info.quantization)

    @property
    def lays_out(self) -> bool:
        """Whether there's a choice of where the graph goes: two graphs, of an encoder and a decoder, have a place of their own."""
        return self.source is not None and self.source.info.model_type not in ENCODER_DECODERS and self.source.info.task != "diffusion"

    @property
    def draws(self) -> bool:
        return self.source is not None and self.source.info.task == "diffusion"

    @property
    def precisions(self) -> tuple[str, ...]:
        """What the graph can be written in: a quantized variant keeps its own grid, and int8 is for encoders and classifiers."""
        info = self.source.info if self.source is not None else None
        if info is None or info.quantization or info.model_type in ENCODER_DECODERS:
            return ("float32",)
        return ("float32", "float16", *(("int8-dynamic", "int8-static") if info.task in ("encoder", "classifier") else ()))

    @property
    def stored_in(self) -> str:
        """The precision that was chosen, where the chosen variant has it."""
        return self.precision if self.format == "onnx" and self.precision in self.precisions else "float32"

    @property
    def calibrates(self) -> bool:
        """Whether a text is read to find the ranges of what comes into each layer."""
        return self.stored_in == "int8-static"

    def _labels(self) -> LabelsRef | None:
        """The examples that a classifier learnt from, where they're still there: its accuracy is shown on those held out."""
        if self.source is None or self.source.info.task != "classifier":
            return None
        known = self.source.recipe.labels
        return known if known is not None and Path(known.path).expanduser().is_file() else None

    @property
    def onnx_options(self) -> OnnxOptions:
        if self.format != "onnx":
            return OnnxOptions()
        return OnnxOptions(
            precision=self.stored_in,  # type: ignore[arg-type]
            text=str(Path(self.text).expanduser().absolute()) if self.calibrates and self.text else "",
            labels=self._labels(),
            profile=self.profile if self.generates else "portable",  # type: ignore[arg-type]
            activations=self.activations if self.rounds else "float32",  # type: ignore[arg-type]
            layout=self.layout if self.lays_out else "plain",  # type: ignore[arg-type]
            runtime=self.runtime,
        )

    @property
    def stored_as(self) -> str:
        """The GGUF type that most weights will get; '' where it depends on the variant's own grid."""
        if self.gguf_type != "auto":
            return self.gguf_type
        return "" if self.source is not None and self.source.info.quantization else "q8_0"

    def suggested_folder(self) -> str:
        return str(Path(self.workspace) / "exports" / f"{file_name(self.source.name)}-{self.format}") if self.source else ""

    @property
    def occupied(self) -> bool:
        """Whether the folder holds files already."""
        folder = Path(self.to).expanduser()
        return bool(self.to.strip()) and folder.is_dir() and any(folder.iterdir())

    @property
    def replaceable(self) -> bool:
        """Whether what the folder holds is an earlier export, which may be replaced."""
        return self.occupied and (Path(self.to).expanduser() / "export_report.json").is_file()

    @property
    def estimate(self) -> int | None:
        """Bytes that the files will take: of ONNX every weight by its precision, or the grid as it is; of GGUF by its type; packed, a bit
        for each weight and those that aren't zero. A tied weight counts once."""
        if self.source is None:
            return None
        ledger, parts = self.source.ledger, self.source.info.components
        if self.format == "onnx":
            table = parts.get("embedding", 0)  # stays float32 where products are in int8
            narrow = ledger.parameters * (2 if self.stored_in == "float16" else 4)
            dense = 4 * table + (ledger.parameters - table) if self.stored_in.startswith("int8") else narrow
            return ledger.weight_bytes if self.source.info.quantization else dense
        if self.format == "sparse":
            return round(ledger.weight_bytes * ledger.nonzero / max(ledger.parameters, 1) + ledger.parameters / 8)
        if not self.stored_as:
            return ledger.weight_bytes
        bits = GGUF_BITS[self.stored_as]
        edges = parts.get("embedding", 0) + parts.get("head", 0)  # these keep 8 bits where the others get 4
        return round((edges * max(bits, GGUF_BITS["q8_0"]) + (ledger.parameters - edges) * bits) / 8)

    def files(self) -> tuple[tuple[str, Said], ...]:
        """(file, what it is) for what will be written."""
        report = ("export_report.json", say("What was checked, and the figures."))
        if self.format == "gguf":
            name = file_name(self.source.name) if self.source is not None else "model"
            return ((f"{name}-{self.stored_as or '*'}.gguf", say("Weights, settings, tokenizer and chat template in one file.")), report)
        if self.format == "sparse":
            name = file_name(self.source.name) if self.source is not None else "model"
            return ((f"{name}.sparse.safetensors", say("The whole folder in one file, its zeros as a bit each.")), report)
        beside = (
            ("config.json, tokenizer.json …", say("Configuration and tokenizer, as transformers writes them.")),
            ("example.py", say("A script that runs the export with onnxruntime alone.")),
            report,
        )
        if self.draws:
            return (
                ("unet/model.onnx", say("The graph of the network that takes noise off an image.")),
                ("unet/model.onnx.data", say("The weights, beside the graph.")),
                (
                    "scheduler/scheduler_config.json …",
                    say("How noise is laid out, and other settings, as diffusers has them."),
                ),
                ("example.py", say("A script that draws with onnxruntime alone.")),
                report,
            )
        if self.source is not None and self.source.info.model_type in ENCODER_DECODERS:
            return (
                ("encoder.onnx, encoder.onnx.data", say("The graph that reads a text, and its weights.")),
                ("decoder.onnx, decoder.onnx.data", say("The graph that writes the answer, with a key-value cache, and its weights.")),
                *beside,
            )
        causal = self.source is not None and self.source.info.task == "causal-lm"
        graph = say("The graph, with a key-value cache for fast generation.") if causal else say("The graph, without a cache.")
        if self.layout == "transformers.js" and self.lays_out:
            return (("onnx/model*.onnx", graph), ("onnx/model*.onnx_data", say("The weights, beside the graph.")), *beside)
        return (
            ("model.onnx", graph),
            ("model.onnx.data", say("The weights, beside the graph.")),
            *([("genai_config.json", say("With it, onnxruntime-genai opens the folder."))] if causal else []),
            *beside,
        )

    def problem(self, page: str) -> Said:
        if page == "source":
            if not self.variants:
                return say("There is no model in this workspace yet.")
            if self.source is None:
                return say("Choose a variant.")
            return self.variant_problem(self.source)
        if page == "folder":
            wrong = self.format_problem() or self._runtime_problem() or (text_problem(self.text) if self.calibrates else NOTHING)
            return wrong or self._folder_problem()
        return NOTHING

    def runtime_refusal(self) -> UserError | None:
        """What the job would say of the onnxruntime that's named, where that's too old for the rest of what's chosen."""
        if self.format != "onnx" or self.source is None:
            return None
        try:
            foresee(self._config(), self.onnx_options, self.generates)
        except UserError as refusal:
            return refusal
        return None

    def _config(self) -> dict[str, Any]:
        """The chosen variant's config.json, read once; {} where it has none or it can't be read, which the job says."""
        if self.variant not in self._configs:
            try:
                self._configs[self.variant] = read_json(Path(self.workspace) / "variants" / self.variant / "config.json")
            except (UserError, OSError):
                self._configs[self.variant] = {}
        return self._configs[self.variant]

    def _runtime_problem(self) -> Said:
        refusal = self.runtime_refusal()
        return Said("{problem}", {"problem": refusal}) if refusal is not None else NOTHING

    def _folder_problem(self) -> Said:
        if not self.to.strip():
            return say("Choose a folder.")
        folder = Path(self.to).expanduser()
        if folder.exists() and not folder.is_dir():
            return say("{path} is a file. Choose a folder.", path=self.to)
        if not folder.is_absolute():
            return say("Give the whole path of the folder.")
        variants = Path(self.workspace) / "variants"
        if folder == variants or variants in folder.parents:
            return say("That folder belongs to the workspace's variants. Choose another.")
        if self.occupied and not self.replaceable:
            return say("The folder holds files that aren't an earlier export, and they stay. Choose another.")
        if self.occupied and not self.overwrite:
            return say("The folder holds files already. Allow replacing them, or choose another.")
        existing = folder
        while not existing.exists() and existing != existing.parent:
            existing = existing.parent
        if not existing.is_dir() or not os.access(existing, os.W_OK):
            return say("There is no permission to write to {path}.", path=str(existing))
        return NOTHING

    def spec(self) -> ExportSpec:
        return ExportSpec(
            workspace=self.workspace,
            variant=self.variant,
            to=str(Path(self.to).expanduser()),
            overwrite=self.overwrite,
            format=self.format,  # type: ignore[arg-type]
            gguf_type=self.gguf_type if self.format == "gguf" else "auto",  # type: ignore[arg-type]
            onnx=self.onnx_options,
        )
