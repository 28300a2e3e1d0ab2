"""Methods: the registry of everything that makes one variant out of another.

A method is one file under pruning/, quantization/, distillation/ or recovery/: a Params class and a function

    @method("magnitude", title=..., family="pruning", summary=..., paper=...)
    def magnitude(model, params: MagnitudeParams, run: Run, given: Given) -> Outcome:

and nothing else has to be told of it: the form, the recipe's check, the command line and the catalogue come from
the registration. Covers discovery, look-up, the checks that every method shares (task, needs, packed parents) and
estimates. Doesn't load, save, verify or measure: the worker does, around the call.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import UserError
from core.params import Params, check, knobs, nearest
from core.records import Ledger, MethodInfo, SourceInfo, Task
from core.run import Run

if TYPE_CHECKING:
    from core.data.images import Images
    from core.data.labels import Labels
    from core.data.text import Text
    from core.methods.sequential import Home
    from core.models.load import Loaded

PACKAGES = ("core.methods.pruning", "core.methods.quantization", "core.methods.distillation", "core.methods.recovery")
NEEDS = ("calibration", "text", "labels", "images", "teacher")


# (target, draft, drafted tokens at most) -> {'target', 'draft'}: {tokens fed: seconds}; neither model can be trained afterwards
Costs = Callable[[Any, Any, int], dict[str, dict[int, float]]]
Duel = Callable[[Any, list[list[int]], int], float]  # draft (for decoding from then on), prompts, tokens a round -> speed-up


@dataclass(frozen=True)
class Given:
    """What a method gets besides the model: everything that it may look at."""

    tokenizer: Any  # None where the model has none
    folder: Path  # where the parent lies: configuration, tokenizer
    info: SourceInfo
    text: Text | None = None  # what calibration or training reads
    labels: Labels | None = None  # what a classifier learns from, where it's known; its held-out part is for measuring only
    images: Images | None = None  # what a diffusion model learns from
    seed: int = 0
    device: str = "cpu"
    load_variant: Callable[[str], Loaded] = field(default=lambda variant: _no_variants(variant))
    uncut: str = ""  # id of the variant that this one was cut down from: the original, or the first classifier of its line
    home: Home | None = None  # of the blocks, for a method that goes block by block: sequential.walk takes it
    likeness: Callable[[Any, int, int], float] | None = None  # (model, steps, drawings) -> distance from the images; None: nobody measures
    costs: Costs | None = None  # seconds of a forward by tokens fed; None: nobody measures them
    duel: Callable[[Any], Duel] | None = None  # of a target: what a draft gains; None: nobody measures it
    work: Path | None = None  # a folder for what a later try of the same job goes on from, where the method is `resumable`


@dataclass(frozen=True)
class Outcome:
    """The changed model (the same object or another), and what has to be said of it."""

    model: Any
    notes: tuple[str, ...] = ()
    dtype: Any = None  # torch's, to store the dense weights in; None keeps, tensor by tensor, what the parent stores
    files: Mapping[str, bytes | None] = field(default_factory=dict)  # that the folder has instead of the parent's; None: has not


Apply = Callable[[Any, Params, Run, Given], Outcome]
Estimate = Callable[[Params, SourceInfo, Ledger, str], dict[str, Any]]


@dataclass(frozen=True)
class Method:
    """A registered method. `apply` makes the shared checks first; `estimate` and `name` are what the file itself provides."""

    info: MethodInfo
    params: type[Params]
    apply: Apply
    estimate: Estimate | None = None
    name: Callable[[Params], str] | None = None
    blockwise: bool = False
    resumable: bool = False


_methods: dict[str, Method] = {}
_ranks: dict[str, int] = {}
_broken: dict[str, MethodInfo] = {}
_walked = False


def method(
    name: str,
    *,
    title: str,
    family: str,
    summary: str,
    needs: Iterable[str] = (),
    tasks: tuple[Task, ...] = ("causal-lm", "encoder", "classifier"),
    paper: str = "",
    estimate: Estimate | None = None,
    label: Callable[[Params], str] | None = None,
    packed_parent: bool = False,
    blockwise: bool = False,
    resumable: bool = False,
    rank: int = 50,
) -> Callable[[Apply], Apply]:
    """Registers a method under `name`. Its Params class is found from the annotation of the argument `params`.

    needs: of NEEDS; estimate: (params, info, ledger, device) -> the fields of `estimate()` that the method knows;
    label: params -> a short name for the variant; packed_parent: whether a quantized variant may be its parent;
    blockwise: whether it changes blocks only through sequential.walk with `given.home`: then it can be resumed, and the model
    may be larger than memory; resumable: whether it keeps in `given.work` what it goes on from. rank: its place in lists, the one to
    begin with first.
    """

    def register(function: Apply) -> Apply:
        wanted = tuple(needs)
        unknown = [n for n in wanted if n not in NEEDS]
        if unknown:
            raise ValueError(f"{name}: unknown needs {unknown}")
        if name in _methods:
            raise ValueError(f"two methods are called {name}: {_methods[name].apply.__module__} and {function.__module__}")
        if "params" not in inspect.signature(function).parameters:
            raise TypeError(f"{name}: the function takes no argument called params")
        params = typing.get_type_hints(function).get("params")
        if not (isinstance(params, type) and issubclass(params, Params)):
            raise TypeError(f"{name}: annotate the argument params with a subclass of Params")
        info = MethodInfo(
            name=name, title=title, family=family, summary=summary, needs=wanted, tasks=tasks, paper=paper, knobs=knobs(params)
        )

        _ranks[name] = rank

        @functools.wraps(function)
        def apply(model: Any, params: Params, run: Run, given: Given) -> Outcome:
            _check_given(info, model, given, packed_parent)
            run.check_cancelled()
            return function(model, params, run, given)

        _methods[name] = Method(info, params, apply, estimate, label, blockwise, resumable)
        return function

    return register


def get(name: str) -> Method:
    """The method of that name. Raises UserError with the nearest name, or with why its file couldn't be imported."""
    discover()
    if name in _methods:
        return _methods[name]
    if name in _broken:
        raise UserError(
            "The method {name} couldn't be loaded: {reason}.",
            hint="Mend or remove its file, or install what it needs.",
            kind="internal",
            name=name,
            reason=_broken[name].error.splitlines()[-1] if _broken[name].error else "unknown",
            detail=_broken[name].error,
        )
    raise UserError(
        "There is no method called {name}.{suggestion}",
        hint="The methods are: {known}.",
        kind="usage",
        name=name,
        suggestion=nearest(name, _methods),
        known=", ".join(_methods),
    )


def catalogue() -> tuple[MethodInfo, ...]:
    """Every method as data: family by family, in each by rank; the broken ones last, with their error."""
    discover()
    known = [m.info for m in _methods.values()]
    families = list(dict.fromkeys(info.family for info in known))
    return (*sorted(known, key=lambda info: (families.index(info.family), _ranks[info.name])), *_broken.values())


def discover(packages: Iterable[str] = PACKAGES) -> None:
    """Imports every module of the packages once. One that fails becomes a visible entry, and the rest go on."""
    global _walked
    if packages is PACKAGES:
        if _walked:
            return
        _walked = True
    for package in packages:
        home = importlib.import_module(package)
        for found in sorted(pkgutil.iter_modules(home.__path__), key=lambda m: m.name):
            if found.name.startswith("_"):
                continue
            try:
                importlib.import_module(f"{package}.{found.name}")
            except Exception as error:  # whatever an author's file raises at import is for the reader of the list, not for the whole list
                _broken[found.name] = MethodInfo(name=found.name, title=found.name, error=f"{type(error).__name__}: {error}")


def checked(method: Method, values: dict[str, Any]) -> Params:
    """The method's parameters from plain values. Raises UserError naming the knob, why, and the nearest known name."""
    return check(method.params, values, of=method.info.name)


def label(method: Method, params: Params) -> str:
    """A short name for a variant that the method makes with these parameters: 'rtn 4-bit'."""
    return method.name(params) if method.name else method.info.name


def estimate(name: str, params: Params | dict[str, Any], info: SourceInfo, ledger: Ledger, device: str = "cpu") -> dict[str, Any]:
    """What a method would make of a variant, without doing it: {bytes_on_disk, effective_bits, memory, seconds, notes}.

    Bytes and seconds; None where it isn't known. Of a new student its 'layers' and 'parameters' too, and its 'width' as a share of
    the parent's. `info` and `ledger` are the parent's. Raises UserError for a wrong knob.
    """
    from core.methods import estimates

    found = get(name)
    values = params if isinstance(params, Params) else checked(found, params)
    out: dict[str, Any] = {"bytes_on_disk": None, "effective_bits": None, "memory": None, "seconds": None, "notes": []}
    problem = why_not(found.info, info)
    if problem:
        out["notes"] = [problem]
        return out
    if found.estimate is not None:
        out |= found.estimate(values, info, ledger, device)
    if out["effective_bits"] is None and out["bytes_on_disk"] is not None:
        out["effective_bits"] = estimates.effective_bits(out["bytes_on_disk"], ledger)
    return out


def why_not(method: MethodInfo, info: SourceInfo) -> str:
    """Why the method can't be used on that kind of model, as a sentence; '' where it can. From records alone."""
    if info.task not in method.tasks:
        return f"{method.title} works on {_tasks(method.tasks)}; this is {_tasks((info.task,))}."
    return ""


_TASKS = {
    "causal-lm": "models that generate text",
    "encoder": "encoders",
    "classifier": "classifiers",
    "diffusion": "diffusion models",
    "unknown": "a model whose task isn't known",
}


def _tasks(tasks: Iterable[str]) -> str:
    return ", ".join(_TASKS[t] for t in tasks)


def _check_given(info: MethodInfo, model: Any, given: Given, packed_parent: bool) -> None:
    """The checks that every method shares. Raises UserError."""
    from core.models.packed import PackedLinear

    if given.info.task not in info.tasks:
        raise UserError(
            "{method} works on {tasks}; {name} isn't one of them.",
            hint="Choose another method or another variant.",
            kind="model",
            method=info.title,
            tasks=_tasks(info.tasks),
            name=given.info.name,
        )
    packed = given.info.quantization or any(isinstance(m, PackedLinear) for m in model.modules())
    if packed and not packed_parent:
        raise UserError(
            "{name} is already quantized, and {method} would have to undo that.",
            hint="Apply it to the variant before the quantization, and quantize last.",
            kind="model",
            name=given.info.name,
            method=info.title,
        )
    needs = info.needs_of(given.info.task)
    if "labels" in needs and given.labels is None:
        raise UserError(
            "{method} needs labelled examples to learn from.",
            hint="Choose a file with a text and its class in each row.",
            kind="data",
            method=info.title,
        )
    if "images" in needs and given.images is None:
        raise UserError(
            "{method} needs images to learn from.",
            hint="Choose an .npz file or a folder of pictures.",
            kind="data",
            method=info.title,
        )
    if ("text" in needs or "calibration" in needs) and given.text is None:
        raise UserError("{method} needs a text to learn from.", hint="Choose a text file.", kind="data", method=info.title)
    if ("text" in needs or "labels" in needs) and given.tokenizer is None:
        raise UserError(
            "{name} has no tokenizer, so {method} can't read the text.",
            hint="Put tokenizer.json beside the model and import it again.",
            kind="model",
            name=given.info.name,
            method=info.title,
        )


def _no_variants(variant: str) -> Loaded:
    raise UserError("There is no variant called {variant} here.", hint="Choose one from the list.", variant=variant)
