"""Whether what the engine writes is distributed as the target alone would write it: proved on toys, tested on real pairs.

`enumerate_toy` runs the engine's own loop over a toy model with every random choice taken in turn, so the distribution
that comes out is exact, and its distance from the target's is zero or it isn't. `check` runs the engine on a real pair with
many seeds, and compares what it wrote with the target's own joint law of the next tokens by a chi-square test, with a wrong
rule beside it. The toy's rules include three that were shipped by others and aren't lossless: softmax-ratio, discard, resample.
A test can't prove exactness on a real pair, only fail to refute it; it says from which distance on it would have.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from core.decode.cache import cached_model, read, shared
from core.decode.engine import Decoding
from core.decode.lab import Held, Lab, Lane, drafts
from core.decode.policy import Fixed
from core.decode.propose import DraftModel, Proposal
from core.decode.sampling import Chooser, History, Sampling
from core.decode.verify import Verdict, Verifier, token, verifier_for
from core.errors import UserError
from core.records import EnumerateSpec, ExactnessSpec
from core.run import Run

LETTERS = "abcd"
UNSURE = 0.4  # below this the 'discard' rule's draft throws a token away
LOSSLESS = ("token", "block", "tree")
ALARM = 0.01  # chance that a check of a lossless rule fails all the same, over all its tests together
POWER = 0.9  # chance with which the distance that's told is found
LEAST = 5.0  # outcomes expected less often are pooled, as the chi-square law needs (Cochran 1954)


# ---- a world small enough to be enumerated ----------------------------------------------------------------------


class Table:
    """A 'model' whose logits are read from a table by the last two tokens.

    It looks at what its cache holds, not at what it ought to hold, so a crop by the wrong count gives wrong probabilities.
    """

    context = None
    device = torch.device("cpu")

    def __init__(self, seed: int, vocabulary: int = 3, spread: float = 1.5):
        self.name, self.vocabulary, self.ids = f"table {seed}", vocabulary, []
        generator = torch.Generator().manual_seed(seed)
        self.table = spread * torch.randn(vocabulary + 1, vocabulary + 1, vocabulary, generator=generator, dtype=torch.float64)

    @property
    def length(self) -> int:
        return len(self.ids)

    def row(self, ids: list[int]) -> Tensor:
        """The logits after `ids`: (vocabulary,)."""
        return self.table[ids[-2] if len(ids) > 1 else self.vocabulary, ids[-1]]

    def forward(self, ids: list[int], keep: int) -> Tensor:
        rows = []
        for new in ids:
            self.ids.append(new)
            rows.append(self.row(self.ids))
        return torch.stack(rows[-keep:])

    def require_trees(self) -> None:
        pass

    def forward_tree(self, ids: list[int], parents: list[int], keep: int) -> Tensor:
        self._fork, rows = len(self.ids), []
        for node in range(len(ids)):
            at, path = node, []
            while at >= 0:
                path.insert(0, ids[at])
                at = parents[at]
            rows.append(self.row([*self.ids[: self._fork], *path]))
        self.ids.extend(ids)
        return torch.stack(rows[-keep:])

    def keep_path(self, places: list[int]) -> None:
        self.ids[self._fork :] = [self.ids[self._fork + place] for place in places]

    def crop(self, length: int) -> None:
        del self.ids[length:]

    def begin(self, ids: list[int]) -> int:
        self.crop(min(shared(self.ids, ids), len(ids) - 1))
        return self.length

    def wait(self) -> None:
        pass


class Letters:
    """Tokens as the letters a, b, c, d."""

    def start(self) -> None:
        return None

    def feed(self, tail: None, token: int) -> tuple[str, None]:
        return LETTERS[token], None

    def alone(self, token: int) -> str:
        return LETTERS[token]


class EveryBranch:
    """A chooser that takes each possible course of a run in turn; `weight` is the chance of the one at hand.

    base: the choices that the run begins with, (taken, of how many) each, which stay as they are.
    """

    def __init__(self, base: tuple[tuple[int, int], ...] = ()):
        self.script, self.fixed = list(base), len(base)
        self.begin()

    def begin(self) -> None:
        self.at, self.weight = 0, 1.0

    def _choose(self, chances: list[float]) -> int:
        if self.at == len(self.script):
            self.script.append((0, len(chances)))
        taken, options = self.script[self.at]
        if options != len(chances):
            raise AssertionError("the run isn't the same after the same choices")
        self.at += 1
        self.weight *= chances[taken]
        return taken

    def categorical(self, p: Tensor) -> int:
        values = p.tolist()
        total = math.fsum(values)
        possible = [i for i, v in enumerate(values) if v > 0]
        return possible[self._choose([values[i] / total for i in possible])]

    def bernoulli(self, chance: float) -> tuple[bool, float | None]:
        if chance in (0.0, 1.0):
            return bool(chance), None
        return self._choose([chance, 1 - chance]) == 0, None

    def advance(self) -> bool:
        """To the next course; False where all were taken."""
        while len(self.script) > self.fixed and self.script[-1][0] + 1 == self.script[-1][1]:
            self.script.pop()
        if len(self.script) <= self.fixed:
            return False
        taken, options = self.script[-1]
        self.script[-1] = (taken + 1, options)
        return True


# ---- rules that look right and aren't ---------------------------------------------------------------------------


class SoftmaxRatio(DraftModel):
    """Drafts its argmax but reports the softmax as what it drew from (transformers 32867). Of a toy: total variation 0.7."""

    def propose(self, history: Any, gamma: int, chooser: Chooser) -> Proposal:
        wide, self.sampling = self.sampling, Sampling(temperature=0.0)
        out = super().propose(history, gamma, chooser)
        self.sampling = wide
        if out.ids:
            out.rows = torch.softmax(torch.cat(out.scores), -1)
        return out


class Discards(DraftModel):
    """Stops where it's unsure of the token that it drew, and throws that token away, which biases those that are left."""

    def propose(self, history: Any, gamma: int, chooser: Chooser) -> Proposal:
        out = super().propose(history, gamma, chooser)
        unsure = [i for i, x in enumerate(out.ids) if float(out.rows[i, x]) < UNSURE]
        if unsure:
            end = unsure[0]
            return Proposal(out.ids[:end], out.rows[:end] if end else None, out.scores[:end], "confidence", out.calls)
        return out


def resampling(verifier: Verifier) -> Verifier:
    """The rule with one mistake: after a rejection it draws from the target's distribution where the residual belongs.

    Of a tree: where the target's own token is none of the candidates, it draws another one.
    """

    def wrong(scores: Tensor, proposal: Proposal, sampling: Sampling, chooser: Chooser) -> Verdict:
        verdict = verifier(scores, proposal, sampling, chooser)
        if verdict.q is not None and (verdict.residual is not None or proposal.tree is not None):
            verdict.final = chooser.categorical(verdict.q[verdict.accepted])
        return verdict

    return wrong


# ---- the proof --------------------------------------------------------------------------------------------------

State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]  # committed ids, and those in the target's and the draft's cache
Script = tuple[tuple[int, int], ...]


def enumerate_toy(spec: EnumerateSpec) -> dict[str, Any]:
    """The exact law of the first `spec.tokens` tokens that the engine writes under a rule, against the target's own.

    Rounds that leave the same text and the same caches behind go on as one, so that each is run once from there.
    Returns {rule, lossless (whether the rule ought to be), tv (total variation; below 1e-12 is rounding), paths (courses of
    random choices covered), runs (rounds of the engine run for it), prompt, rows: [{ids, text, target, engine}] in the order
    of ids, tree: the first round's outcomes [{drafted, drafted_text, drafted_chance, accepted, tested, final, final_text,
    final_kind, committed, text, chance}], models: {target, draft} next-token laws after the prompt, by token}.
    """
    target, draft = Table(2 * spec.seed + 1, spec.vocabulary), Table(2 * spec.seed + 2, spec.vocabulary)
    prompt = [0, 1, 0]
    sampling = Sampling(temperature=1.0, max_new_tokens=spec.tokens)
    found, first, paths, runs = _courses(target, draft, prompt, sampling, spec)
    law = _law(target, prompt, spec.tokens)
    rows = [
        {"ids": list(ids), "text": _text(ids), "target": law.get(ids, 0.0), "engine": found.get(ids, 0.0)}
        for ids in sorted(law.keys() | found.keys())
    ]
    return {
        "rule": spec.rule,
        "lossless": spec.rule in LOSSLESS,
        "tv": 0.5 * math.fsum(abs(row["target"] - row["engine"]) for row in rows),
        "paths": paths,
        "runs": runs,
        "prompt": _text(prompt),
        "rows": rows,
        "tree": first,
        "models": {"target": _softmax(target.row(prompt)), "draft": _softmax(draft.row(prompt))},
    }


def _courses(
    target: Table, draft: Table, prompt: list[int], sampling: Sampling, spec: EnumerateSpec
) -> tuple[dict[tuple[int, ...], float], list[dict], int, int]:
    """(chance of each text, the first round's outcomes, how many courses, how many rounds were run)."""

    def make(chooser: Chooser) -> Decoding:
        target.ids, draft.ids = [], []
        return Decoding(
            target,
            list(prompt),
            sampling=sampling,
            proposer=_proposer(spec.rule, draft, sampling),
            policy=Fixed(spec.gamma),
            verifier=_verifier(spec.rule, sampling),
            chooser=chooser,
            pieces=Letters(),
            details=False,
        )

    ends: dict[tuple[int, ...], float] = defaultdict(float)
    first: dict[tuple, dict] = {}
    drafted_chances: dict[tuple, float] = defaultdict(float)
    paths = runs = 0
    waiting: list[dict[State, list]] = [{} for _ in range(spec.tokens)]  # by tokens written: state -> [chance, courses, script, rounds]
    waiting[0][(), (), ()] = [1.0, 1, (), 0]
    for written in range(spec.tokens):
        for chance, courses, script, done in waiting[written].values():
            for decoding, taken, weight, choices in _next_rounds(make, script, done):
                runs += 1
                ids = tuple(decoding.history.ids[len(prompt) :])
                if done == 0:
                    _outline(first, drafted_chances, taken, weight)
                if decoding.stop:
                    ends[ids] += chance * weight
                    paths += courses
                    continue
                state = (ids, tuple(target.ids), tuple(draft.ids))
                entry = waiting[len(ids)].setdefault(state, [0.0, 0, choices, done + 1])
                entry[0] += chance * weight
                entry[1] += courses
    certain = spec.rule == "tree"  # the same tree is drafted whatever happens; `drafted` is then the path that was walked in it
    outline = [row | {"drafted_chance": 1.0 if certain else drafted_chances[tuple(row["drafted"])]} for row in first.values()]
    return dict(ends), outline, paths, runs


def _next_rounds(make: Callable[[Chooser], Decoding], script: Script, done: int) -> Iterator[tuple[Decoding, Any, float, Script]]:
    """Every course of the round after the `done` rounds that `script` decides: (decoding, round, its chance, script after it)."""
    chooser = EveryBranch(script)
    while True:
        chooser.begin()
        decoding = make(chooser)
        rounds = decoding.rounds()
        for _ in range(done):
            next(rounds)
        chooser.weight = 1.0
        taken = next(rounds)
        yield decoding, taken, chooser.weight, tuple(chooser.script)
        if not chooser.advance():
            return


def _outline(first: dict[tuple, dict], drafted_chances: dict[tuple, float], taken: Any, weight: float) -> None:
    drafted = tuple(t.id for t in taken.drafted)
    drafted_chances[drafted] += weight
    key = (drafted, taken.accepted, taken.tested, taken.final_id, taken.committed)
    if key not in first:
        first[key] = {
            "drafted": list(drafted),
            "drafted_text": _text(drafted),
            "accepted": taken.accepted,
            "tested": taken.tested,
            "final": taken.final_id,
            "final_text": taken.final_text,
            "final_kind": taken.final_kind,
            "committed": list(taken.committed),
            "text": _text(taken.committed),
            "chance": 0.0,
        }
    first[key]["chance"] += weight


def _proposer(rule: str, draft: Table, sampling: Sampling) -> DraftModel:
    if rule == "tree":
        from core.decode.tree import TreeDraft

        return TreeDraft(draft, sampling, branches=2)
    return {"softmax-ratio": SoftmaxRatio, "discard": Discards}.get(rule, DraftModel)(draft, sampling)


def _verifier(rule: str, sampling: Sampling) -> Verifier:
    if rule == "resample":
        return resampling(token)
    return verifier_for(sampling, rule if rule in ("token", "block", "tree", "typical", "top-k") else "token")


def _law(target: Table, prompt: list[int], tokens: int) -> dict[tuple[int, ...], float]:
    """The target's own law of the next tokens, by the definition: one token after another, without any of the engine's code."""
    law: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(tokens):
        law = {(*ids, x): chance * p for ids, chance in law.items() for x, p in enumerate(_softmax(target.row([*prompt, *ids])))}
    return law


def _softmax(row: Tensor) -> list[float]:
    values = row.tolist()
    weights = [math.exp(v - max(values)) for v in values]
    return [w / math.fsum(weights) for w in weights]


def _text(ids: Any) -> str:
    return "".join(LETTERS[i] for i in ids)


# ---- the test ---------------------------------------------------------------------------------------------------

Law = dict[tuple[int, ...], float]  # of the next tokens: ids -> chance, or how often they were seen


def check(target: Any, draft: Any, spec: ExactnessSpec, run: Run, *, held: Held | None = None) -> dict[str, Any]:
    """Whether the engine's next `spec.tokens` tokens after the prompt are distributed as the target's, tested on spec.runs runs.

    Expected is the joint law by the target's own processed distributions, enumerated over the support that top_k leaves. Each
    run has its own seed and drafts spec.gamma tokens a round (policies aren't tested here); between runs caches are only
    cropped. Stop texts aren't looked for. Tests are made of the first token, the first two, ... all of them, at ALARM / tests
    each (Bonferroni). Beside each run one with a wrong rule ('resample') is made: its seeds are others.

    Returns {cells: [{ids, text, expected, seen, control, pooled}] (counts; `seen` by the engine, `control` by the wrong rule;
    those pooled in the joint test are marked), outside (runs that wrote what the target can't), chi_square, degrees, p (of the
    joint law), tests: [{tokens, chi_square, degrees, p}], level, passed (no p below the level, nothing outside), detects (see
    detectable), control: {rule, p, caught}, lossless (whether the rule ought to be), accepted, tested (drafted tokens, over
    all runs), runs, seconds, exact_tv (None: it's enumerated on toys only)}.
    A stop ends it with the runs that were made. Raises UserError: nothing drafts, what lab.generate refuses, or outcomes too
    few or too uneven to be tested.
    """
    lab = Lab(target, run, held)
    if not drafts(spec):
        raise UserError("Nothing drafts here, so there's nothing to check.", hint="Choose who drafts.")
    lab.check(spec, draft)
    prompt, sampling = lab.prompt_and_sampling(spec)
    sampling = replace(sampling, stop=(), max_new_tokens=spec.tokens + spec.gamma)  # so that the first round isn't cut short
    context = lab.cached_target(0, rollback=True).context
    if context is not None and len(prompt) + spec.tokens > context:
        raise UserError(
            "The prompt has {tokens} tokens, and {name} reads at most {context}, so there's no room for the {wanted} to be tested.",
            hint="Shorten the prompt.",
            tokens=len(prompt),
            name=target.info.name,
            context=context,
            wanted=spec.tokens,
        )
    begun = perf_counter()
    with lab.prepared([(spec, draft)]):
        run.stage("Computing the target's own law")
        law = joint_law(lab, prompt, sampling, spec.tokens)
        seen: dict[str, Law] = {"engine": defaultdict(float), "control": defaultdict(float)}
        made = accepted = tested = 0
        for number in run.track(range(spec.runs), "Checking"):
            if run.stop_asked:
                break
            for who in seen:
                seed = spec.seed * 1_000_003 + 2 * number + (who == "control")
                lane = lab.lane("speculative", 0, spec, draft, prompt, sampling, seed, policy=Fixed(spec.gamma), details=False)
                if who == "control":
                    lane.decoding.verifier = resampling(lane.decoding.verifier if spec.lossless else token)
                seen[who][_first(lane, spec.tokens)] += 1
                if who == "engine":
                    accepted, tested = accepted + lane.stats.accepted, tested + lane.stats.tested
            made += 1
    if not made:
        raise UserError("It was stopped before the first run.", hint="Let it go on for longer.")
    return _verdict(lab, law, seen, made, spec) | {
        "accepted": accepted,
        "tested": tested,
        "runs": made,
        "seconds": perf_counter() - begun,
        "exact_tv": None,
    }


@torch.inference_mode()
def joint_law(lab: Lab, prompt: list[int], sampling: Sampling, tokens: int) -> Law:
    """The target's own law of the next `tokens` tokens, fewer where the text ends: {ids: chance}. One forward for each beginning."""
    model = cached_model(lab.target.model, name=lab.target.info.name, vocabulary=lab.size)
    read(model, prompt, 1, lab.run.check_cancelled)
    law: Law = {(): 1.0}
    for _ in range(tokens):
        longer: Law = {}
        for ids, chance in law.items():
            if ids and ids[-1] in sampling.eos:
                longer[ids] = chance
                continue
            lab.run.check_cancelled()
            model.crop(len(prompt) - 1)
            history = History(prompt)
            history.extend(list(ids))
            logits = model.forward([prompt[-1], *ids], 1)  # (1, vocabulary)
            q = sampling.probabilities(sampling.adjust(logits, history, []))[0].cpu().double()
            for x in q.nonzero()[:, 0].tolist():
                longer[(*ids, x)] = chance * float(q[x])
        law = longer
    return law


def _first(lane: Lane, tokens: int) -> tuple[int, ...]:
    """Lets the lane write until there are so many tokens, or the text ends."""
    decoding = lane.decoding
    decoding.prefill()
    for taken in decoding.rounds():
        lane.stats.add(taken)
        if decoding.history.new >= tokens:
            break
    return tuple(lane.ids[:tokens])


def _verdict(lab: Lab, law: Law, seen: dict[str, Law], runs: int, spec: ExactnessSpec) -> dict[str, Any]:
    level = ALARM / spec.tokens
    told = {
        who: [_test(_shortened(law, n), _shortened(counts, n), runs) for n in range(1, spec.tokens + 1)] for who, counts in seen.items()
    }
    joint, pooled = told["engine"][-1], _pooled(law, runs)[1]
    if not joint["degrees"]:
        raise UserError(
            "One outcome takes nearly all the probability after this prompt, so {runs} runs can't tell one rule from another.",
            hint="Choose a higher temperature, more runs or another prompt.",
            runs=runs,
        )
    refuted = lambda tests: any(test["p"] < level for test in tests)
    outside = sum(count for ids, count in seen["engine"].items() if ids not in law)
    return {
        "cells": [
            {
                "ids": list(ids),
                "text": "".join(lab.pieces.all(list(ids))),
                "expected": chance * runs,
                "seen": int(seen["engine"].get(ids, 0)),
                "control": int(seen["control"].get(ids, 0)),
                "pooled": ids in pooled,
            }
            for ids, chance in sorted(law.items(), key=lambda item: -item[1])
        ],
        "outside": int(outside),
        "chi_square": joint["chi_square"],
        "degrees": joint["degrees"],
        "p": joint["p"],
        "tests": [{"tokens": n, **test} for n, test in enumerate(told["engine"], 1)],
        "level": level,
        "passed": not refuted(told["engine"]) and not outside,
        "detects": detectable(joint["degrees"], level, runs),
        "control": {"rule": "resample", "p": told["control"][-1]["p"], "caught": refuted(told["control"])},
        "lossless": spec.lossless,
    }


def _shortened(law: Law, tokens: int) -> Law:
    """The law of the first `tokens` tokens."""
    out: Law = defaultdict(float)
    for ids, chance in law.items():
        out[ids[:tokens]] += chance
    return dict(out)


def _pooled(law: Law, runs: int) -> tuple[list[list[tuple[int, ...]]], set[tuple[int, ...]]]:
    """(the outcomes of each cell, those that share one): every cell is expected at least LEAST times, the likeliest first."""
    order = sorted(law, key=lambda ids: -law[ids])
    cells = [[ids] for ids in order if law[ids] * runs >= LEAST]
    rest = [ids for ids in order if law[ids] * runs < LEAST]
    if rest:
        if sum(law[ids] for ids in rest) * runs >= LEAST or not cells:
            cells.append(rest)
        else:
            cells[-1] += rest
    return cells, {ids for cell in cells if len(cell) > 1 for ids in cell}


def _test(law: Law, seen: Law, runs: int) -> dict[str, Any]:
    """Pearson's chi-square test of the counts `seen` against the law. What the law doesn't have isn't counted here."""
    cells, _ = _pooled(law, runs)
    statistic = 0.0
    for cell in cells:
        expected = runs * math.fsum(law[ids] for ids in cell)
        statistic += (sum(seen.get(ids, 0) for ids in cell) - expected) ** 2 / expected
    degrees = len(cells) - 1
    return {"chi_square": statistic, "degrees": degrees, "p": _tail(statistic, degrees) if degrees else 1.0}


def detectable(degrees: int, level: float, runs: int) -> float:
    """The smallest total variation that a chi-square test at `level` finds with chance POWER, however the law is deviated from.

    A deviation of total variation t has noncentrality runs * sum(d^2 / p) >= 4 runs t^2 (by Cauchy and Schwarz, sum |d| being
    2 t), so it's found with at least the power of a noncentral chi-square law of 4 runs t^2. Solved for t. Outcomes that were
    pooled count as one.
    """
    critical = _solve(lambda x: level - _tail(x, degrees), 0.0, 10.0 * degrees + 200)
    noncentrality = _solve(lambda x: _power(x, degrees, critical) - POWER, 0.0, 50.0 * degrees + 1000)
    return min(1.0, math.sqrt(noncentrality / (4 * runs)))


def _tail(statistic: float, degrees: int) -> float:
    """The chance that a chi-square variable is larger."""
    half = torch.tensor([degrees / 2, statistic / 2], dtype=torch.float64)
    return float(torch.special.gammaincc(half[0], half[1]))


def _power(noncentrality: float, degrees: int, critical: float) -> float:
    """The chance that a noncentral chi-square variable is larger than `critical`: a Poisson mixture of central ones."""
    mean = noncentrality / 2
    j = torch.arange(int(mean + 12 * math.sqrt(mean + 1)) + 30, dtype=torch.float64)
    weights = torch.exp(j * math.log(mean) - mean - torch.lgamma(j + 1)) if mean > 0 else (j == 0).double()
    tails = torch.special.gammaincc(degrees / 2 + j, torch.full_like(j, critical / 2))
    return float((weights * tails).sum())


def _solve(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses 0, by bisection."""
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
