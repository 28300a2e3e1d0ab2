"""Iterative pruning: cut a little, train, cut a little more, until as much is gone as was asked for.

Zhu & Gupta, 'To Prune, or Not to Prune' (2017), section 3: after round t of n the share s (1 - (1 - t/n)^3) is gone, so that most goes
early, while there is much to spare. What's cut is chosen anew each round by any of the pruning methods here, and what was cut stays
cut: the optimizer holds the masks. Rewinding as in Frankle et al., 'Linear Mode Connectivity and the Lottery Ticket Hypothesis'
(2020): the weights that stay go back to what they were before the first cut. Ends early where the loss on what's kept aside
leaves the budget; the last state within it is kept. Covers free sparsity, heads, MLP channels and layers, on language models and
classifiers; no N:M patterns, whose share can't grow.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import nn

from core import methods
from core.errors import UserError
from core.methods import Given, Outcome, estimates, method, training
from core.methods.feeds import Feed, feed_for, objective
from core.methods.pruning import channels, patterns
from core.models import surgery
from core.models.blocks import blocks, linears
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run

ZEROING = ("magnitude", "wanda", "sparsegpt")


class _Schedule(Params):
    criterion: Literal["magnitude", "wanda", "sparsegpt", "heads", "channels", "layers"] = knob(
        "magnitude",
        title="What goes",
        help="The method that chooses each time. The first three set single weights to zero, which saves no bytes by itself; heads, "
        "channels and layers are cut out, and the file gets smaller.",
        labels={
            "magnitude": "Weights, by magnitude",
            "wanda": "Weights, by Wanda",
            "sparsegpt": "Weights, by SparseGPT",
            "heads": "Attention heads",
            "channels": "MLP channels",
            "layers": "Layers",
        },
    )
    sparsity: float = knob(
        0.5,
        title="Share that goes",
        help="Of the linear layers' weights, of the heads, of the MLP's width or of the layers, in the end.",
        gt=0,
        lt=1,
        step=0.05,
    )
    rounds: int = knob(
        5, title="Rounds", help="Cuts, each followed by training. More and smaller cuts lose less, and take as much longer.", ge=1, le=1000
    )
    budget: float | None = knob(
        None,
        title="Budget",
        unit="%",
        help="Ends early where, after training, perplexity on text kept aside is so many per cent higher than before the first cut (a "
        "classifier: accuracy so many points lower), and keeps the last state that wasn't. Empty: goes all the way.",
        ge=0,
        le=1000,
    )
    rewind: Literal["no", "weights"] = knob(
        "no",
        title="After each cut",
        help="Go on with the trained weights; or take those that stay back to what they were before the first cut, which trains longer and "
        "sometimes ends better.",
        labels={"no": "Go on from the trained weights", "weights": "Rewind the weights"},
        when={"criterion": ("magnitude", "wanda")},
        advanced=True,
    )
    loss: Literal["truth", "teacher"] = knob(
        "truth",
        title="Learn from",
        help="The text (a classifier: the labels) alone, or also what the model predicted before the first cut, which loses less and takes "
        "a third longer.",
        labels={"truth": "The text or labels", "teacher": "The uncut model too"},
    )
    first_steps: int = knob(
        0,
        title="Steps before the first cut",
        help="Trains first, where the model doesn't know this kind of text yet. Rewinding goes back to the end of these.",
        ge=0,
        le=1_000_000,
        advanced=True,
    )
    windows: int = knob(
        32,
        title="Calibration windows",
        help="Windows of text that the choice is made on each time.",
        ge=1,
        le=4096,
        unless={"criterion": "magnitude"},
        advanced=True,
    )


class IterativeParams(training.TrainingParams, _Schedule):
    """What goes and how fast first, then the loop's knobs."""

    steps: int = knob(
        60,
        title="Steps after each cut",
        help="Updates of the weights. More is better until the loss on what's kept aside stops falling.",
        ge=1,
        le=1_000_000,
    )
    learning_rate: float = knob(
        1e-4,
        title="Learning rate",
        help="Size of the updates at their largest, in every round. Halve it where perplexity rises; raise it for small models.",
        gt=0,
        le=1,
    )


def estimate_iterative(params: IterativeParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    tokens = (params.first_steps + params.rounds * params.steps) * params.batch * params.context
    taught = 1.0 if params.loss == "teacher" else 0.0
    copies = taught + (params.budget is not None) + (params.rewind == "weights")
    out: dict[str, Any] = {
        "memory": estimates.training(info, params.batch, params.context) + int(copies * estimates.resident(info, "cpu")),
        "notes": ["Without the time that choosing takes."],
    }
    if info.task != "classifier":  # how long the examples are isn't known before they're read
        out["seconds"] = estimates.training_seconds(info, tokens, 1.0, 0.1 + taught, device, training.precision(params.precision, device))
    if params.criterion in ZEROING and ledger.parameters:
        zeros = params.sparsity * estimates.linear_parameters(info)
        out |= {"bytes_on_disk": ledger.bytes_on_disk, "effective_bits": ledger.effective_bits}
        out["notes"] = [f"0 % smaller on disk, {100 * zeros / ledger.parameters:.0f} % zeros", *out["notes"]]
    return out


def label_iterative(params: IterativeParams) -> str:
    what = params.criterion if params.criterion in ZEROING else f"of {params.criterion}"
    return f"{100 * params.sparsity:.3g} % {what} in {params.rounds} round{'s' * (params.rounds != 1)}"


@method(
    "iterative",
    title="Cut and train in turns",
    family="pruning",
    summary="Minutes to hours, needs a text or labels. Loses least at deep cuts: a little goes, training heals it, a little more goes.",
    needs=("text", "labels"),
    tasks=("causal-lm", "classifier"),
    paper="https://arxiv.org/abs/1710.01878",
    estimate=estimate_iterative,
    label=label_iterative,
    rank=40,
)
def iterative(model: Any, params: IterativeParams, run: Run, given: Given) -> Outcome:
    """Returns the cut and trained model, in float32: `model` itself where weights are zeroed."""
    model.float()
    feed = feed_for(model, given, params, run)
    teacher = copy.deepcopy(model).requires_grad_(False) if params.loss == "teacher" else None
    schedule = _Rounds(params, run, given, feed, teacher, model)
    if params.first_steps:
        schedule.train(params.model_copy(update={"steps": params.first_steps}))
    schedule.begin()
    for number, share in enumerate(ramp(params.sparsity, params.rounds), 1):
        if not schedule.round(number, share):
            break
    return Outcome(schedule.model, tuple(schedule.notes()))


def ramp(sparsity: float, rounds: int) -> list[float]:
    """The share that's gone after each round: cubic, from 0 before the first to `sparsity` after the last."""
    return [sparsity * (1 - (1 - t / rounds) ** 3) for t in range(1, rounds + 1)]


@dataclass(frozen=True)
class _State:
    """A model that was judged: after which round, what share was gone, and the figures on what's kept aside."""

    number: int
    gone: float
    figures: dict[str, float]
    model: Any  # a copy, where there's a budget to go back for


class _Rounds:
    """One cut and training after the other, and what's known of them."""

    def __init__(self, params: IterativeParams, run: Run, given: Given, feed: Feed, teacher: Any, model: Any):
        self.params, self.run, self.given, self.feed, self.teacher, self.model = params, run, given, feed, teacher, model
        self.weights = _nonzero(model)
        self.parts = _parts(model, params.criterion)
        if self.parts:
            self._check_parts()
        self.asked = 0  # heads, channels or layers that are to be gone by now
        self.steps, self.said = 0, ""
        self.table: list[str] = []
        self.told: tuple[str, ...] = ()  # by the last cut

    def _check_parts(self) -> None:
        gone = self._target(self.params.sparsity)
        if not 0 < gone < self.parts:
            raise UserError(
                "{share} % of the {parts} {what} of {name} can't be cut.",
                hint="At least one must go, and one must stay: choose another share.",
                share=round(100 * self.params.sparsity),
                parts=self.parts,
                what=self.params.criterion,
                name=self.given.info.name,
            )

    def begin(self) -> None:
        """The state before the first cut: what the budget is measured from, and what rewinding goes back to."""
        _, judge = objective(self.feed, self.model, self.run)
        with torch.no_grad():
            self.start = self.kept = self._state(0, judge())
        rewinds = self.params.rewind == "weights" and self.params.criterion in ("magnitude", "wanda")
        self.origin = {name: p.detach().clone() for name, p in self.model.named_parameters()} if rewinds else {}

    def round(self, number: int, share: float) -> bool:
        """Cuts to `share`, and trains. Whether to go on."""
        if not self.cut(number, share):
            return True  # too small a step for one more head, layer or multiple of channels
        state = self._state(number, self.train(self.params))
        if not self._within_budget(state):
            self.said = (
                f"Round {number}, with {100 * state.gone:.1f} % gone, left the budget; kept is what there was with "
                f"{100 * self.kept.gone:.1f} % gone."
            )
            self.model = self.kept.model
            return False
        self.kept = state
        if self.run.stop_asked and number < self.params.rounds:
            self.said = f"Finished early as asked, after round {number} of {self.params.rounds}."
            return False
        return True

    def cut(self, number: int, share: float) -> bool:
        """Cuts the model so that `share` is gone since the beginning; False where that's no whole part more."""
        settings = self._settings(share)
        if settings is None:
            return False
        self.run.stage("Cutting", f"{number}/{self.params.rounds}")
        inner = methods.get(self.params.criterion)
        outcome = inner.apply(self.model, methods.checked(inner, settings), self.run, self.given)
        self.model, self.told = outcome.model.float(), outcome.notes
        if self.origin:
            self._rewind()
        return True

    def _settings(self, share: float) -> dict[str, Any] | None:
        """The inner method's settings; None where nothing is to go this time."""
        criterion, looked = self.params.criterion, {"windows": self.params.windows, "context": self.params.context}
        if not self.parts:
            return {"sparsity": share} | (looked if criterion != "magnitude" else {})
        target, now = self._target(share), _parts(self.model, criterion)
        if target <= self.asked:
            return None
        self.asked = target
        more = target - (self.parts - now)  # of parts that were only masked, all are named again: they're worth least
        return ({"count": more} if criterion == "layers" else {"share": more / now}) | looked

    def _target(self, share: float) -> int:
        """How many of the parts there were are to be gone, in whole parts (channels: in whole multiples)."""
        if self.params.criterion == "channels":
            step = channels.step_of(self.parts, channels.MULTIPLE)
            return round(share * self.parts / step) * step
        return patterns.count_of(share, self.parts)

    def _rewind(self) -> None:
        linear = {id(module.weight) for _, module in linears(self.model)}
        with torch.no_grad():
            for name, p in self.model.named_parameters():
                before = self.origin[name]
                p.copy_(before.masked_fill(p == 0, 0) if id(p) in linear else before)

    def train(self, params: training.TrainingParams) -> dict[str, float]:
        """Trains with what's zero held at zero, and leaves the best step; its figures."""
        zeros_of = training.pruned_zeros_of if self.parts else training.zeros_of
        hold = zeros_of(linears(self.model), self.model)
        loss_of, judge = objective(self.feed, self.model, self.run, teacher=self.teacher)
        how = {"run": self.run, "device": self.given.device, "vocabulary": self.feed.vocabulary, "seed": self.given.seed}
        rows = self.feed.batches(params.batch, self.given.seed + self.steps)
        done = training.train(self.model, rows, loss_of, judge, params, hold=hold, begun=self.steps, **how)
        self.steps += done.steps
        return done.best

    def _state(self, number: int, figures: dict[str, float]) -> _State:
        """Reports the model as it is."""
        gone = 1 - _nonzero(self.model) / self.weights
        name = next(name for name in ("heldout_accuracy", "heldout_perplexity") if name in figures)
        self.run.metric("iterative/sparsity", number, gone)
        self.run.metric(f"iterative/{name}", number, figures[name])
        value = f"accuracy {100 * figures[name]:.1f} %" if name == "heldout_accuracy" else f"perplexity {figures[name]:.2f}"
        self.table.append(f"{100 * gone:.1f} % gone: {value}")
        self.run.log(f"Round {number} of {self.params.rounds}: {self.table[-1]} on what's kept aside")
        return _State(number, gone, figures, copy.deepcopy(self.model) if self.params.budget is not None else None)

    def _within_budget(self, state: _State) -> bool:
        if self.params.budget is None:
            return True
        now, before = state.figures, self.start.figures
        if "heldout_accuracy" in now:
            return now["heldout_accuracy"] >= before["heldout_accuracy"] - self.params.budget / 100
        return now["heldout_perplexity"] <= before["heldout_perplexity"] * (1 + self.params.budget / 100)  # False for what's no number

    def notes(self) -> list[str]:
        ended = [self.said] if self.said else []
        rewound = ["After each cut the weights that stayed went back to what they were before the first."] if self.origin else []
        # what the last cut says of itself counts from the last round where layers or channels are renumbered: the table says it all
        whole = self.params.criterion not in ("layers", "channels")
        told = list(self.told) if whole and not (self.said and self.model is self.kept.model) else []
        return [f"On what's kept aside, after training each time: {'; '.join(self.table)}.", *ended, *rewound, *told, *self.feed.notes]


def _parts(model: nn.Module, criterion: str) -> int:
    """How many of them a block has, or the model has layers; 0 where weights go one by one."""
    if criterion in ZEROING:
        return 0
    if criterion == "layers":
        return len(blocks(model))
    shape = surgery.anatomy(model)
    return shape.units if criterion == "heads" else shape.width


def _nonzero(model: nn.Module) -> int:
    """Weights of the linear layers that aren't zero."""
    return sum(int(torch.count_nonzero(module.weight)) for _, module in linears(model))
