"""Make me a draft: a small model that says what its target would, so that speculative decoding with it pays.

The draft is a shallower copy of the target, trained on what the target itself writes after beginnings of the text (Zhou et al.,
'DistillSpec', 2024, section 4). How often its tokens are kept, alpha, is the mean of sum min(p, q) on windows that weren't trained on
(Leviathan et al., 'Fast Inference from Transformers via Speculative Decoding', 2023, corollary 3.6); what that gains is predicted by
S(gamma) = E T(1) / (gamma T_draft(1) + T(gamma + 1)) with measured costs (core.theory), at the gamma that gains most. Where the number
of layers isn't given, copies of several depths are trained for equally long, and the one of the greatest S is trained on from the
start. What's predicted takes alpha to be the same at every position; the speed-up itself is for 'Find me a draft' to measure.
The draft may say fewer tokens than it reads (core.models.draft_words): the most frequent ones of what the target wrote and the text, as
many as are predicted to gain most. Trees aren't covered.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import time
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from core.data.text import token_ids
from core.errors import Cancelled
from core.methods import Duel, Given, Outcome, estimates, method, training
from core.methods.distillation import students, writing
from core.methods.distillation.told import Told, most_bytes
from core.methods.distillation.writing import WrittenFeed
from core.methods.samples import Shower, shower
from core.models import draft_words
from core.models.blocks import blocks, linears
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run
from core.theory import cost, speedups
from core.workspace import write_atomically

WRITING, TRYING = 0.3, 0.2  # shares of the time for the target's text, and for choosing the depth
TRAINING = 0.9  # of what's left, for steps; judging takes the rest
DEPTHS = (16, 8, 4)  # what the target's layers are divided by, for the depths that are tried
WORDS = (1024, 2048, 4096, 8192, 16384, 32768, 65536)  # tokens that a draft may say, for those that are tried
ASSUMED = 0.5  # acceptance of a draft of all tokens, where the number of tokens is chosen before any is trained
MOST_READ = 1_000_000  # tokens of the text that are counted
RACED, RACING = 3, 0.04  # texts on which the speed-up is measured, and the share of the training's time that it may take
FEWEST = 10  # steps, however little time there is
PLAN = "plan.json"


class _What(Params):
    minutes: float = knob(
        30.0,
        title="Time",
        unit="minutes",
        help="For everything: the target's text, the choice of the depth, and training. More time keeps more drafted tokens.",
        gt=0,
        le=10_000,
        when={"steps": None},
    )
    layers: int | None = knob(
        None,
        title="Layers",
        help="Of the draft. Empty: several are tried, and the one taken whose speed-up is predicted to be the greatest.",
        ge=1,
        le=1000,
    )
    loss: Literal["forward", "tv"] = knob(
        "forward",
        title="Loss",
        help="Total variation is what acceptance falls by; forward KL bounds it from above and learns faster at first.",
        labels={"forward": "Forward KL", "tv": "Total variation"},
    )
    vocabulary: int | None = knob(
        None,
        title="Tokens it may say",
        help="The output layer is most of a small draft's cost; with the most frequent tokens alone it's faster. The others are left to "
        "the target, so what's written stays the same. Empty: as many as are predicted to gain most.",
        ge=2,
        le=10_000_000,
        advanced=True,
    )
    written: int = knob(
        300_000,
        title="Tokens that the target writes",
        help="What the draft learns on, at most; fewer where they'd take more than a third of the time.",
        ge=100,
        le=100_000_000,
    )
    gamma: int = knob(
        8,
        title="Longest draft",
        unit="tokens",
        help="The speed-up is predicted for every number of drafted tokens up to this one.",
        ge=1,
        le=16,
        advanced=True,
    )


class DraftParams(training.TrainingParams, _What):
    """The time first, then the loop's knobs."""

    steps: int | None = knob(
        None,
        title="Steps",
        help="Updates of the weights. Empty: as many as fit into the time, which another run or machine may count otherwise.",
        ge=1,
        le=1_000_000,
        advanced=True,
    )
    context: int = knob(
        128,
        title="Context",
        unit="tokens",
        help="Tokens a window, of which the target writes three quarters. Memory and time grow with it.",
        ge=8,
        le=131_072,
    )


@dataclass(frozen=True)
class Plan:
    """What is made, once it's chosen: a later try of the same job goes on with it."""

    layers: int
    steps: int
    written: int  # tokens
    words: int | None  # tokens that the draft may say; None: all
    costs: dict[str, dict[int, float]]  # seconds of a forward by tokens fed, of 'target' and 'draft'; empty where not measured


def estimate_draft(params: DraftParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    if not (info.parameters and info.layers):
        return {}
    layers = params.layers or max(depths(info.layers))
    inside = sum(info.components.get(part, 0) for part in ("attention", "mlp", "norm"))
    gone = inside * (1 - layers / info.layers)
    share = 1 - gone / info.parameters
    written = min(params.written, (params.steps or params.written) * params.batch * params.context)
    memory = 2 * estimates.resident(info, "cpu") + estimates.training(info, params.batch, params.context, share)
    return {
        "bytes_on_disk": int(ledger.bytes_on_disk - gone * ledger.weight_bytes / max(1, ledger.parameters)),
        "memory": memory + (most_bytes(written, params.context, info.vocabulary) if info.vocabulary else 0),
        "seconds": 60 * params.minutes if params.steps is None else None,
        "notes": [f"{layers} of the {info.layers} layers at most, fewer where that pays more"] if params.layers is None else [],
        "layers": layers,
        "parameters": round(info.parameters - gone),
    }


def label_draft(params: DraftParams) -> str:
    return "draft" if params.layers is None else f"draft, {params.layers} layer{'s' * (params.layers != 1)}"


@method(
    "draft",
    title="Make me a draft",
    family="distillation",
    summary="As long as you give it. A small model that writes ahead of this one, so that speculative decoding with the two is faster.",
    needs=("text", "teacher"),
    tasks=("causal-lm",),
    paper="https://arxiv.org/abs/2310.08461",
    estimate=estimate_draft,
    label=label_draft,
    resumable=True,
    rank=60,
)
def draft(model: Any, params: DraftParams, run: Run, given: Given) -> Outcome:
    """Returns the draft, in float32; the target `model` is left as it was."""
    model.requires_grad_(False)
    if params.layers is not None:
        students.kept_layers(len(blocks(model)), params.layers)  # before anything takes time
    work = _Work(model, params, run, given)
    plan = work.plan()
    student, trained = work.train(plan, plan.layers, plan.steps, told=True)
    notes = [f"Draft: {plan.layers} of the target's {len(blocks(model))} layers."]
    notes += [work.sentence(trained), *work.feed(plan).notes]
    before, after = trained.start["acceptance"], trained.best["acceptance"]
    files: dict[str, bytes | None] = {draft_words.FILE: None} if draft_words.has_words(given.folder) else {}
    if plan.words is not None:
        kept = work.kept(plan)
        files = {draft_words.FILE: draft_words.content(kept)}
        share = 100 * work.covered(plan.words)
        notes.append(
            f"It says {len(kept):,} of the {work.columns:,} tokens, {share:.1f} % of what the target wrote and the draft didn't learn. "
            "As a model of its own it has all of them."
        )
    notes.append(f"Acceptance alpha on what the target wrote and the draft didn't learn: {after:.3f} ({before:.3f} before training).")
    if plan.costs:
        gamma, speed = predicted(after, plan.costs, params.gamma)
        share = (cost(plan.costs["draft"], 1) or 0.0) / (cost(plan.costs["target"], 1) or math.inf)
        notes.append(f"A drafted token costs {share:.3f} of the target's; predicted speed-up {speed:.2f} at {gamma} drafted tokens.")
        if (measured := work.measure(student, plan, after)) is not None:
            notes.append(f"Measured on {RACED} short texts, sampled, in turns with the target alone: {measured:.2f} times as fast.")
        if speed <= 1:
            notes.append("It isn't predicted to pay here: give it more time, or use the packed copy.")
    return Outcome(student, tuple(notes), files=files | (work.shown.files() if work.shown else {}))


def depths(layers: int) -> list[int]:
    """The numbers of layers that are tried, ascending: a sixteenth, an eighth and a quarter of the target's."""
    return sorted({max(1, round(layers / part)) for part in DEPTHS if max(1, round(layers / part)) < layers}) or [1]


def predicted(alpha: float, costs: dict[str, dict[int, float]], longest: int) -> tuple[int, float]:
    """(gamma of 1 ... longest that gains most, S(gamma)), alpha being the same at every position."""
    found = speedups([alpha] * longest, costs["target"], costs["draft"])
    gamma = max(range(1, len(found)), key=found.__getitem__)
    return gamma, found[gamma]


class _Trial(Run):
    """A run inside the job: it's cancelled, paused and ended early with it, and its curves and progress are nobody's."""

    def __init__(self, outer: Run):
        super().__init__(outer.job, None, outer.device, outer)


class _Work:
    """The target's text, trainings of copies on it, and the choice among them."""

    def __init__(self, model: Any, params: DraftParams, run: Run, given: Given):
        self.model, self.params, self.run, self.given = model, params, run, given
        self.total, self.columns = len(blocks(model)), model.config.get_text_config().vocab_size
        self.begun = time.monotonic() - run.rested
        self._feed: WrittenFeed | None = None
        self._told: dict[int | None, Told] = {}
        self._order: Tensor | None = None
        self._duel: Duel | None = None
        self._unmeasurable = False
        self._trained_since = self._racing = self._longest_race = 0.0  # seconds
        self.shown: Shower | None = None

    # -- choosing

    def plan(self) -> Plan:
        """As an earlier try wrote it down, or chosen now: depth by predicted speed-up, steps by the time that's left."""
        file = self.given.work / PLAN if self.given.work else None
        if file is not None and file.exists():
            found = json.loads(file.read_text(encoding="utf-8"))
            found["costs"] = {who: {int(n): s for n, s in table.items()} for who, table in found["costs"].items()}
            return Plan(**found)
        tried = [self.params.layers] if self.params.layers else depths(self.total)
        costs = self._costs(max(tried))
        plan = Plan(max(tried), self.params.steps or FEWEST, self._affordable(), None, {})
        plan = replace(plan, words=self._words(plan, tried[len(tried) // 2], costs))
        lines = None if costs is None else lambda layers: costs(layers, plan.words or self.columns)
        paces = {layers: self._pace(plan, layers) for layers in tried} if self.params.steps is None or len(tried) > 1 else {}
        tried = self._payable(tried, paces)
        layers = self._best(plan, tried, paces, lines) if len(tried) > 1 else tried[0]
        steps = self.params.steps or max(FEWEST, int(TRAINING * self._left() / paces[layers]))
        plan = replace(plan, layers=layers, steps=steps, costs=lines(layers) if lines else {})
        if file is not None:
            write_atomically(file, json.dumps(asdict(plan)))
        return plan

    def _words(self, plan: Plan, layers: int, costs: Any) -> int | None:
        """How many tokens the draft may say: what's asked for, or what's predicted to gain most; None: all."""
        if not draft_words.can_shorten(self.model):
            return None
        if self.params.vocabulary is not None:
            return self.params.vocabulary if self.params.vocabulary < self.columns else None
        if costs is None:
            return None
        able = [self.columns, *(n for n in WORDS if n <= self.columns / 2)]
        gains = {n: predicted(ASSUMED * self.covered(n, plan), costs(layers, n), self.params.gamma)[1] for n in able}
        best = max(gains, key=gains.__getitem__)  # the first of equals: all
        if best == self.columns:
            return None
        self.run.log(f"{best:,} of {self.columns:,} tokens, {100 * self.covered(best):.1f} % of what the target writes")
        return best

    def _ranked(self, plan: Plan) -> Tensor:
        """All tokens that may come, the most frequent first: those that mark something, then by what the target wrote and the text."""
        if self._order is None:
            feed, tokens = self.feed(plan), min(self.columns, len(self.given.tokenizer))
            counts = torch.bincount(feed.windows[: feed.learnt, max(1, feed.given) :].flatten(), minlength=tokens)[:tokens].double()
            ids = token_ids(self.given.text, self.given.tokenizer, MOST_READ)
            counts += torch.bincount(ids, minlength=tokens)[:tokens] / max(1, len(ids))  # what it never wrote, by the text
            marks = [i for i in (*self.given.tokenizer.all_special_ids, *_ends(self.model.config)) if 0 <= i < tokens]
            counts[marks] = torch.inf
            self._order = counts.argsort(descending=True, stable=True)  # among equals the lower ids, which most tokenizers learnt first
        return self._order

    def kept(self, plan: Plan) -> Tensor | None:
        """The tokens that the draft may say, ascending; None: all."""
        return None if plan.words is None else self._ranked(plan)[: plan.words].sort().values

    def covered(self, words: int, plan: Plan | None = None) -> float:
        """The share, of the tokens that the target wrote and the draft doesn't learn, that are among the `words` most frequent."""
        feed = self._feed or self.feed(plan)
        wrote = torch.cat(list(feed.held_out))[:, max(1, feed.given) :].flatten().cpu()
        return float(torch.isin(wrote, self._ranked(plan)[:words]).double().mean())

    def _left(self) -> float:
        """Seconds of the time that are left."""
        return 60 * self.params.minutes - (time.monotonic() - self.run.rested - self.begun)

    def _affordable(self) -> int:
        """Tokens that the target can write in its share of the time, as far as they're wanted."""
        if self.params.steps is not None:
            return self.params.written
        rows, few = torch.full((writing.ROWS, 1), 1), 8
        begun = time.monotonic()
        writing.continued(self.model, rows, 1 + few, len(self.given.tokenizer), torch.Generator().manual_seed(0), self.run)
        each = (time.monotonic() - begun) / (few * writing.ROWS)
        return max(100, min(self.params.written, int(WRITING * 60 * self.params.minutes / each)))

    def _costs(self, deepest: int) -> Any:
        """(layers, tokens it says) -> the costs of the target and of such a draft; None where nobody measures them.

        Drafts of one layer and of the most are measured, and one that says few tokens, and lines are drawn: a layer costs as much as
        another, and a token too.
        """
        if self.given.costs is None:
            return None
        target = copy.deepcopy(self.model)  # what's laid out for decoding can't teach any more
        measured: dict[tuple[int, int], dict[str, dict[int, float]]] = {}
        fewest = min(self.params.vocabulary or WORDS[0], self.columns)
        for layers, words in sorted({(1, self.columns), (deepest, self.columns), (1, fewest)}):
            student = students.shallower(self.model, list(range(layers)))
            if words < self.columns and draft_words.can_shorten(student):
                draft_words.shorten(student, torch.arange(words))
            measured[layers, words] = self.given.costs(target, student, self.params.gamma)
        del target
        one, most, few = (cost(measured[key]["draft"], 1) for key in ((1, self.columns), (deepest, self.columns), (1, fewest)))
        layer = (most - one) / max(1, deepest - 1)
        word = max(0.0, one - few) / max(1, self.columns - fewest)

        def of(layers: int, words: int) -> dict[str, dict[int, float]]:
            drafting = one + layer * (layers - 1) - word * (self.columns - words)
            return {"target": measured[deepest, self.columns]["target"], "draft": {1: drafting}}

        return of

    def _pace(self, plan: Plan, layers: int) -> float:
        """Seconds of a step, of three."""
        self.told(plan)  # which takes its time, once
        begun = time.monotonic() - self.run.rested
        self.train(plan, layers, 3, judged=False)
        return (time.monotonic() - self.run.rested - begun) / 3

    def _payable(self, tried: list[int], paces: dict[int, float]) -> list[int]:
        """Those of the depths, the shallowest first, that the time for trying has room for; the first in any case."""
        if self.params.steps is not None or len(tried) == 1:
            return tried
        room = TRYING * 60 * self.params.minutes
        kept = [layers for at, layers in enumerate(tried) if FEWEST * sum(paces[n] for n in tried[: at + 1]) <= room] or tried[:1]
        if len(kept) < len(tried):
            gone = ", ".join(str(layers) for layers in tried if layers not in kept)
            self.run.log(f"There isn't the time to try {gone} layers too")
        return kept

    def _best(self, plan: Plan, tried: list[int], paces: dict[int, float], lines: Any) -> int:
        """The depth of the greatest predicted speed-up after equally long trainings; by acceptance alone where costs aren't known."""
        whole = 60 * self.params.minutes if self.params.steps is None else self.params.steps * max(paces.values())
        found: dict[int, float] = {}
        for layers in tried:
            _, trained = self.train(plan, layers, max(FEWEST, int(TRYING * whole / len(tried) / paces[layers])))
            alpha = trained.best["acceptance"]
            found[layers] = predicted(alpha, lines(layers), self.params.gamma)[1] if lines else alpha
            what = f"{layers} layer{'s' * (layers != 1)}: acceptance {alpha:.3f} after {trained.steps} steps"
            self.run.log(f"{what}, a speed-up of {found[layers]:.2f} predicted" if lines else what)
        return max(found, key=found.__getitem__)

    # -- training

    def feed(self, plan: Plan) -> WrittenFeed:
        if self._feed is None:
            many = self._settings(1_000_000)
            self._feed = WrittenFeed(self.model, self.given, many, plan.written, True, self.run)
        return self._feed

    def _settings(self, steps: int) -> training.TrainingParams:
        values = {name: getattr(self.params, name) for name in training.TrainingParams.model_fields}
        return training.TrainingParams(**values | {"steps": steps})

    def train(self, plan: Plan, layers: int, steps: int, *, told: bool = False, judged: bool = True) -> tuple[Any, training.Trained]:
        """A copy of that depth, trained. told: it's the real one, whose curves are shown and whose state is kept."""
        student = students.shallower(self.model, students.kept_layers(self.total, layers))
        feed, settings, told_of = self.feed(plan), self._settings(steps), self.told(plan)
        if told_of.kept is not None:
            draft_words.learn_rows(student, told_of.kept)

        def judge() -> dict[str, float]:
            if not judged:
                return {"heldout_loss": 0.0, "acceptance": 0.0}
            found = told_of.judge(student)
            if plan.costs:
                found["predicted_speedup"] = predicted(found["acceptance"], plan.costs, self.params.gamma)[1]
            if told and (measured := self._in_passing(student, plan, found["acceptance"])) is not None:
                found["measured_speedup"] = measured
            return found

        if told:
            self.shown = shower(feed, student, self.model, self.given, self.run)
        trained = training.train(
            student,
            told_of.numbers(settings.batch, self.given.seed),
            lambda numbers: told_of.loss_of(student, numbers),
            judge,
            settings,
            run=self.run if told else _Trial(self.run),
            device=self.given.device,
            vocabulary=feed.vocabulary if told_of.kept is None else len(told_of.kept),
            hold=training.pruned_zeros_of(linears(student), student),
            seed=self.given.seed,
            work=self.given.work if told else None,
            show=functools.partial(self._show, student) if told else None,
        )
        draft_words.whole(student)
        return student, trained

    def measure(self, student: Any, plan: Plan, acceptance: float) -> float | None:
        """What the student gains as a draft at the length that's predicted to gain most; None where nobody measures it, or it fails, as
        where there's no memory for the copies: a training doesn't end by that."""
        if self.given.duel is None or not plan.costs or self._unmeasurable:
            return None
        try:
            return self._measured(student, plan, acceptance)
        except Cancelled:
            raise
        except Exception as error:
            self.run.warn(f"What the draft gains can't be measured here: {type(error).__name__}: {error}")
            self._duel, self._unmeasurable = None, True
            return None

    def _measured(self, student: Any, plan: Plan, acceptance: float) -> float:
        if self._duel is None:
            self._duel = self.given.duel(self.model)
        drafting = copy.deepcopy(student)
        draft_words.whole(drafting)
        if (kept := self.kept(plan)) is not None:
            draft_words.shorten(drafting, kept)
        feed = self.feed(plan)
        prompts = torch.cat(list(feed.held_out))[:RACED, : max(1, feed.given)].tolist()
        return self._duel(drafting, prompts, predicted(acceptance, plan.costs, self.params.gamma)[0])

    def _in_passing(self, student: Any, plan: Plan, acceptance: float) -> float | None:
        """The same, as far as it takes a small share of the training's time."""
        now = time.monotonic() - self.run.rested
        self._trained_since = self._trained_since or now
        if self._racing + self._longest_race > RACING * (now - self._trained_since):
            return None
        measured = self.measure(student, plan, acceptance)
        took = time.monotonic() - self.run.rested - now
        self._racing, self._longest_race = self._racing + took, max(self._longest_race, took)
        return measured

    def told(self, plan: Plan) -> Told:
        """What the target says of the windows, asked once for each number of tokens that the draft may say."""
        if plan.words not in self._told:
            of = self.params
            self._told = {plan.words: Told(self.feed(plan), self.model, self.kept(plan), of.loss, of.precision, self.run, self.given.work)}
        return self._told[plan.words]

    def _show(self, student: Any, step: int, kept: bool) -> None:
        with draft_words.in_all_columns(student):
            self.shown(step, kept)

    def sentence(self, trained: training.Trained) -> str:
        """'300 steps, the best of which (290) was kept.'"""
        early = ", finished early as asked" if trained.stopped else ""
        kept = f"the best of them ({trained.best_step}) was kept" if trained.best_step else "never better than the cut: nothing was changed"
        return f"{trained.steps} steps{early}; {kept}."


def _ends(config: Any) -> list[int]:
    """The tokens that a text ends with, as the model's configuration says."""
    ends = config.get_text_config().eos_token_id
    return [] if ends is None else list(ends) if isinstance(ends, (list, tuple)) else [ends]
