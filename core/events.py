"""Events: everything that crosses the pipe from a worker, small and plain, and never a tensor.

Exactly one terminal event (Finished, Cancelled, Failed) ends a job. Controls go the other way.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from core.records import Catalogue


@dataclass(frozen=True, slots=True)
class Event:
    job: str  # the job's id; "" for what concerns the worker itself


@dataclass(frozen=True, slots=True)
class Ready(Event):
    """A worker has imported its libraries and waits for work."""

    pid: int
    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class Queued(Event):
    title: str


@dataclass(frozen=True, slots=True)
class Started(Event):
    pid: int
    device: str


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """Where the job stands: done of total (0: unknown) within the named stage; left is seconds, None when unknown."""

    stage: str
    done: float
    total: float
    left: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Paused(Event):
    """The job rests now, as it was asked to; or (`on` False) is at work again."""

    on: bool


@dataclass(frozen=True, slots=True)
class Metric(Event):
    """A number of a curve: name 'loss', 'loss/teacher', 'loss/text', 'lr', 'heldout_perplexity' ..."""

    name: str
    step: int
    value: float


@dataclass(frozen=True, slots=True)
class Log(Event):
    level: Literal["DEBUG", "INFO", "WARN", "ERROR"]
    time: float  # seconds since the epoch
    text: str


@dataclass(frozen=True, slots=True)
class Memory(Event):
    """What the worker holds: resident bytes, and bytes on the accelerator (None where there's none)."""

    resident: int
    device_used: int | None = None
    device_free: int | None = None


@dataclass(frozen=True, slots=True)
class VariantAdded(Event):
    variant: str


@dataclass(frozen=True, slots=True)
class Measured(Event):
    """Measurements were added to a variant (they're on disk already)."""

    variant: str


@dataclass(frozen=True, slots=True)
class Finished(Event):
    result: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Cancelled(Event):
    pass


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """kind as in core.errors.KINDS; message and hint are templates over values, for translation."""

    kind: str
    message: str
    hint: str = ""
    detail: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        return f"{self.message.format(**self.values)} {self.hint.format(**self.values)}".strip()


TERMINAL = (Finished, Cancelled, Failed)


# ---- speculative decoding ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row of the paired bars: a token with its draft and target probability (None: the draft has no distribution)."""

    id: int
    text: str
    draft: float | None
    target: float
    residual: float | None = None  # among a correction's candidates: what it was drawn from, (target - draft)+ normalised


@dataclass(frozen=True, slots=True)
class Drafted:
    """A drafted token and its fate. Probabilities are those that the verifier compared, after all processing."""

    id: int
    text: str
    verdict: Literal["accepted", "rejected", "untested"]
    draft: float | None = None  # p(x); None for a point-mass draft
    target: float | None = None  # q(x); None where untested
    u: float | None = None  # the uniform draw it was compared with; None in greedy decoding
    alpha: float | None = None  # sum of min(p, q) over the vocabulary at this position
    draft_entropy: float | None = None  # nats
    target_entropy: float | None = None
    margin: float | None = None  # target's top-1 minus top-2 probability
    top: tuple[Candidate, ...] = ()
    branch: int = 0  # in a tree: its rank among its siblings by the draft's probability; 0 is the draft's first choice
    distance: float | None = None  # of a rule that isn't lossless: total variation of this position's law from the target's
    chance: float | None = None  # what u was compared with: min(1, target/draft) of the token rule, another number of the block rule


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of draft, verify, correct. `final` is the token that the target added itself."""

    number: int
    start: int  # position in the whole sequence of the first drafted token
    planned: int  # gamma the policy asked for
    drafted: tuple[Drafted, ...]
    why_stopped: str  # why drafting stopped: 'gamma', 'nothing to propose', 'length', 'end of text', 'confidence'
    final_id: int | None
    final_text: str
    final_kind: Literal["corrected", "bonus", "plain", "none"]  # plain: nothing was drafted this round
    final_top: tuple[Candidate, ...] = ()
    committed: tuple[int, ...] = ()  # ids added to the sequence by this round, after any cut
    seconds: dict[str, float] = field(default_factory=dict)  # draft, verify, sample, crop, event
    target_cache: int = 0  # cache lengths after the round
    draft_cache: int = 0
    at: float = 0.0  # seconds since decoding began (prefill excluded), after the round
    stop: str = ""  # 'end of text', 'stop string', 'length', 'stopped' ends the run here
    nodes: int = 0  # in a tree: how many drafted tokens the target read; `drafted` is then the path that was walked

    @property
    def accepted(self) -> int:
        return sum(t.verdict == "accepted" for t in self.drafted)

    @property
    def tested(self) -> int:
        return sum(t.verdict != "untested" for t in self.drafted)


def round_to_dict(taken: Round) -> dict[str, Any]:
    """A Round as JSON-ready data, with the two counts that a reader of the file would otherwise work out."""
    return {**asdict(taken), "accepted": taken.accepted, "tested": taken.tested}


def round_from_dict(data: dict[str, Any]) -> Round:
    """The Round that `round_to_dict` wrote, from parsed JSON too. Unknown names are passed over, so that a later version's file opens.

    Raises ValueError where it isn't a Round: a name is missing, or holds something of another shape.
    """
    try:
        return _round().validate_python(data)
    except ValidationError as error:
        raise ValueError(f"not a round: {error}") from error


@cache
def _round() -> TypeAdapter[Round]:
    return TypeAdapter(Round)


@dataclass(frozen=True, slots=True)
class RoundTaken(Event):
    """lane: 'speculative', or another side of a race: 'rival', 'plain'."""

    lane: str
    round: Round


@dataclass(frozen=True, slots=True)
class DecodeStarted(Event):
    lane: str
    prompt_ids: tuple[int, ...]
    prompt_pieces: tuple[str, ...]
    prefill_seconds: float


@dataclass(frozen=True, slots=True)
class CostsMeasured(Event):
    """Seconds of one forward by the number of tokens fed, measured once for a pair: T(n) of the target, and the draft's; before a run."""

    lane: str
    target: dict[int, float]
    draft: dict[int, float]
    overhead: float = 0.0  # seconds a round besides


@dataclass(frozen=True, slots=True)
class DraftTried(Event):
    """One row of 'find me a draft', as in its result."""

    row: dict[str, Any]


# ---- samples of a training ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """How two models go on after the same beginning, greedily; a piece is of one token.

    same: of the student's tokens from the first on, as far as it's known, whether the teacher would have said it after the same words.
    """

    beginning: str
    teacher: tuple[str, ...]
    student: tuple[str, ...]
    same: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Classed:
    """An example with its class, and the class that each model finds likeliest, with its probability."""

    text: str
    label: str
    teacher: str
    teacher_share: float
    student: str
    student_share: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """A row of images that a model drew from the same noise as the others' rows, side by side in one PNG."""

    who: Literal["teacher", "student"]
    steps: int
    png: bytes
    count: int
    frechet: float | None = None  # None: not measured
    measured: int = 0  # drawings that it was measured on


@dataclass(frozen=True, slots=True)
class Samples(Event):
    """What teacher and student say (or find, or draw) at a step of a training, always of the same things.

    kept: of the weights that were kept, which are those of this step; before: there's no teacher, and in its place is what the model
    itself said before it was trained.
    """

    step: int
    said: tuple[Said, ...] = ()
    classed: tuple[Classed, ...] = ()
    drawn: tuple[Drawn, ...] = ()
    kept: bool = False
    before: bool = False


def samples_to_json(samples: Samples) -> bytes:
    """What a variant's folder keeps of its training's last samples: 'samples.json'."""
    return json.dumps({k: v for k, v in asdict(samples).items() if k not in ("job", "drawn")}, ensure_ascii=False).encode()


def samples_from_json(data: bytes) -> Samples:
    """What `samples_to_json` wrote. Raises ValueError where it isn't."""
    try:
        return _samples().validate_python({"job": "", **json.loads(data)})
    except (ValueError, TypeError) as error:  # pydantic's and json's are ValueErrors
        raise ValueError(f"not samples: {error}") from error


@cache
def _samples() -> TypeAdapter[Samples]:
    return TypeAdapter(Samples)


# ---- sensitivity ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LayerMeasured(Event):
    """A layer's row of a sensitivity map: a core.allocation.LayerCost as plain data."""

    layer: dict[str, Any]


# ---- gradients in fewer bits --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GradientsTried(Event):
    """A choice of core.methods.gradient_study, after each of its runs: its row as in the result, of the runs there are so far."""

    row: dict[str, Any]


# ---- to a worker ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Do:
    job: Any  # core.records.Job


@dataclass(frozen=True, slots=True)
class Control:
    """command: cancel (undo and leave nothing), stop (finish with what there is), pause, resume, step (one round, then pause)."""

    job: str
    command: Literal["cancel", "stop", "pause", "resume", "step"]


@dataclass(frozen=True, slots=True)
class Exit:
    pass
