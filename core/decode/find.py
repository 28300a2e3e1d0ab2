"""Find me a draft: every way to draft for a target, tried on a person's prompts, with what it costs and what it brings.

For each: the cost c of a drafted token, the acceptance alpha on the prompts, the speed-up that these two and the measured
forwards predict, at the length that pays most, and the speed-up that was measured against plain decoding in turns with it.
Covers draft models, n-gram lookup, the packed copy and the target's own layers. Trees and rules that aren't lossless aren't
tried. Loading a candidate is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median
from typing import Any

from core.decode.lab import Held, Lab, Lane, encode, is_exported, sampling_of
from core.decode.packed_copy import bytes_of_copy
from core.decode.policy import Fixed
from core.decode.sampling import Sampling
from core.decode.stats import Costs
from core.errors import UserError
from core.events import DraftTried, Round
from core.records import Drafting, FindDraftSpec
from core.run import Run
from core.theory import cost, expected_tokens, speedups

PROBE = 4  # tokens a round while acceptance is learnt: enough positions, and bearable for a draft that's always wrong
LEARNT = 32  # tokens written for it, a prompt
ORDER = ("ngram", "packed", "layer-skip", "early-exit", "draft")  # what needs no other model goes first


@dataclass
class Candidate:
    """Somebody to try. draft: a variant's id; load: returns it as core.models.load.Loaded, when its turn comes."""

    proposer: str
    name: str
    draft: str | None = None
    load: Callable[[], Any] = lambda: None


@dataclass
class Learnt:
    """What one candidate's rounds said of its acceptance. greedy: a token is kept by argmax equality, so overlap isn't a chance."""

    greedy: bool
    overlap: list[float] = field(default_factory=list)  # sum of min(p, q) at every tested position
    by_position: list[list[float]] = field(default_factory=list)  # the chance of being kept at each position, or 1 and 0 for kept and not
    asked: int = 0  # rounds that had room for a draft
    drafted: int = 0  # and those in which there was one: n-grams are often silent

    def add(self, taken: Round) -> None:
        if taken.why_stopped == "length" and not taken.drafted:
            return  # the last token, which nobody is asked for
        self.asked += 1
        self.drafted += bool(taken.drafted)
        for place, token in enumerate(taken.drafted[: taken.tested]):
            if place == len(self.by_position):
                self.by_position.append([])
            if token.alpha is not None:
                self.overlap.append(token.alpha)
            self.by_position[place].append(float(token.verdict == "accepted") if self.greedy or token.alpha is None else token.alpha)

    @property
    def coverage(self) -> float | None:
        """The share of rounds in which there was a draft."""
        return self.drafted / self.asked if self.asked else None

    @property
    def alpha(self) -> float | None:
        return fmean(self.overlap) if self.overlap else None

    def rates(self, longest: int) -> list[float]:
        """Acceptance at positions 1 ... longest; leaning on the mean of all where a position was seldom tested."""
        every = [x for position in self.by_position for x in position]
        if not every:
            return [0.0] * longest
        mean = fmean(every)
        by_position = [*self.by_position, *([[]] * longest)][:longest]
        return [(sum(position) + 4 * mean) / (len(position) + 4) for position in by_position]


def candidates(spec: FindDraftSpec, variants: Iterable[Candidate]) -> list[Candidate]:
    """Who is tried, in order: the proposers that the spec names, and for 'draft' each of the variants."""
    names = {"ngram": "n-gram", "packed": "packed copy", "layer-skip": "layer skip", "early-exit": "early exit"}
    out: list[Candidate] = []
    for proposer in sorted(spec.proposers, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER)):
        if proposer == "draft":
            out += variants
        elif proposer in names:
            out.append(Candidate(proposer, names[proposer]))
        else:
            raise UserError("There's no way to draft called {name}.", hint="Choose of: {known}.", name=proposer, known=", ".join(ORDER))
    return out


def find(target: Any, tried: Sequence[Candidate], spec: FindDraftSpec, run: Run, *, held: Held | None = None) -> dict:
    """Tries each on spec.prompts, with the adaptive policy up to the length that pays most. Emits DraftTried as each is done.

    Returns {plain: {tokens_per_s}, rows, best}. A row: {proposer, draft (variant or None), name, alpha (mean sum of min(p, q) over
    the tested positions), cost (T_draft(1) / T(1)), gamma (at least 1), predicted (S(gamma) by measured forwards, and by the share
    of rounds in which there was a draft), measured (median over the repeats of tokens/s against plain decoding's in the same
    turns), low, high (the least and greatest repeat), tokens_per_target_call, memory (bytes that it needs beside the target),
    seconds: {target, draft} by tokens fed, rates (by position), coverage (that share), settings (layers that were found), why}.
    `why` says why a row wasn't tried, or not to the end; what isn't known is None. best: see best_of;
    None: none pays.
    A stop ends it with the rows that are done. Raises UserError: no prompts, one without room, no tokenizer.
    """
    lab = Lab(target, run, held)
    if not spec.prompts:
        raise UserError("There's no prompt to try drafts on.", hint="Write one that's like what you'll use the model for.")
    sampling = sampling_of(spec, target)
    prompts = [encode(text + spec.forced, lab.tokenizer) for text in spec.prompts]  # a forced beginning costs nobody a draft
    rows: list[dict] = []
    plain: list[float] = []
    for number, one in enumerate(tried):
        run.progress("Trying drafts", number, len(tried), note=one.name)
        run.check_cancelled()
        if run.stop_asked:
            break
        row = _row(one)
        try:
            _try(lab, one, row, prompts, sampling, spec, plain)
        except UserError as error:
            row["why"] = str(error)
        lab.held.keep(target.model)
        if run.stop_asked and row["measured"] is None and not row["why"]:
            break  # half a row says nothing
        rows.append(row)
        run.emit(DraftTried(run.job, row))
    return {"plain": {"tokens_per_s": median(plain) if plain else None}, "rows": rows, "best": best_of(rows)}


def best_of(rows: Sequence[dict]) -> int | None:
    """The row with the greatest measured speed-up of those whose every repeat was faster than plain decoding.

    No draft gains more than its tokens a target call: where even the least repeat did, the clock erred, and nothing is known.
    """
    able = [i for i, row in enumerate(rows) if row["low"] is not None]
    pays = [i for i in able if 1 < rows[i]["low"] <= (rows[i].get("tokens_per_target_call") or rows[i]["low"])]
    return max(pays, key=lambda i: rows[i]["measured"], default=None)


def _row(one: Candidate) -> dict[str, Any]:
    unknown = (
        "alpha",
        "cost",
        "gamma",
        "predicted",
        "measured",
        "low",
        "high",
        "tokens_per_target_call",
        "memory",
        "seconds",
        "rates",
        "coverage",
    )
    return {"proposer": one.proposer, "draft": one.draft, "name": one.name} | dict.fromkeys(unknown) | {"settings": {}, "why": ""}


def _try(
    lab: Lab, one: Candidate, row: dict, prompts: list[list[int]], sampling: Sampling, spec: FindDraftSpec, plain: list[float]
) -> None:
    """Fills in the row, and adds plain decoding's tokens/s of each repeat to `plain`."""
    draft = one.load()
    if draft is not None:
        lab.run.log(f"Loaded {one.name}")
        row["memory"] = _bytes_of(draft)
    drafting = Drafting(proposer=one.proposer, draft=one.draft, gamma=spec.gamma, policy="adaptive")
    lab.check(drafting, draft)
    with lab.prepared([(drafting, draft)]):
        lane = _lane(lab, drafting, draft, prompts[0], sampling, spec.seed, plain=False)  # what has to be found is found here
        drafting = drafting.model_copy(update=lane.settings)
        row["settings"] = lane.settings
        if draft is None:
            row["memory"] = bytes_of_copy(lab.packed()) if one.proposer == "packed" else 0
        costs = lane.measured
        assert costs is not None  # since the policy is the adaptive one
        table = costs.table()
        row["seconds"] = table
        one_draft = cost(table["draft"], 1) or 0.0
        row["cost"] = one_draft / costs.target(1)
        row["gamma"], row["predicted"] = best_case(costs, spec.gamma)
        row["why"] = why_not(row["predicted"])
        if row["why"]:
            return
        learnt = _learn(lab, drafting, draft, prompts, sampling, spec)
        rates = learnt.rates(spec.gamma)
        row["alpha"], row["rates"], row["coverage"] = learnt.alpha, rates, learnt.coverage
        predicted = [
            diluted(speed, expected_tokens(rates[:gamma]), learnt.coverage or 0.0)
            for gamma, speed in enumerate(speedups(rates, table["target"], table["draft"]))
        ]
        row["gamma"] = max(range(1, len(predicted)), key=predicted.__getitem__)
        row["predicted"] = predicted[row["gamma"]]
        if lab.run.stop_asked:
            return
        _measure(lab, drafting.model_copy(update={"gamma": row["gamma"]}), draft, row, prompts, sampling, spec, plain)


def _lane(lab: Lab, drafting: Drafting | None, draft: Any, prompt: list[int], sampling: Sampling, seed: int, **how: Any) -> Lane:
    is_plain = how.pop("plain")
    place, name = (1, "plain") if is_plain else (0, "speculative")
    return lab.lane(name, place, None if is_plain else drafting, draft, prompt, sampling, seed, **how)


def best_case(costs: Costs, longest: int) -> tuple[int, float]:
    """(length, speed-up) if every drafted token were kept: nothing that drafts at these costs does better."""
    table = costs.table()
    best = speedups([1.0] * longest, table["target"], table["draft"])
    gamma = max(range(1, len(best)), key=best.__getitem__)
    return gamma, best[gamma]


def diluted(speed: float, tokens: float, coverage: float) -> float:
    """The speed-up of a run in which only a share of the rounds drafts: those bring `tokens` at `speed`, the others one at 1."""
    return (coverage * tokens + 1 - coverage) / (coverage * tokens / speed + 1 - coverage)


def why_not(best: float) -> str:
    """Why what can't do better than `best` isn't tried any further; '' where it's worth trying."""
    if best <= 1:
        return "It can't pay: even if every token were kept, drafting and checking would take longer than writing plainly."
    return ""


def _learn(lab: Lab, drafting: Drafting, draft: Any, prompts: list[list[int]], sampling: Sampling, spec: FindDraftSpec) -> Learnt:
    """Acceptance on every prompt, at a fixed length, so that a draft that doesn't pay is judged by as many rounds as one that does."""
    learnt = Learnt(sampling.greedy)
    short = replace(sampling, max_new_tokens=min(spec.max_new_tokens, LEARNT))
    for prompt in lab.run.track(prompts, "Learning acceptance"):
        lane = _lane(lab, drafting, draft, prompt, short, spec.seed, plain=False, policy=Fixed(min(PROBE, spec.gamma)))
        _write(lab, [lane])
        for taken in lane.rounds:
            learnt.add(taken)
    return learnt


def _measure(
    lab: Lab,
    drafting: Drafting,
    draft: Any,
    row: dict,
    prompts: list[list[int]],
    sampling: Sampling,
    spec: FindDraftSpec,
    plain: list[float],
) -> None:
    """Each repeat writes after every prompt twice, plainly and with the draft, in turns of a round."""
    ratios, rounds, written = [], 0, 0
    for repeat in lab.run.track(range(spec.repeats), "Measuring speed"):
        spent = {"speculative": [0, 0.0], "plain": [0, 0.0]}  # tokens, seconds
        for prompt in prompts:
            seed = spec.seed + repeat
            lanes = [_lane(lab, drafting, draft, prompt, sampling, seed, plain=is_plain, details=False) for is_plain in (False, True)]
            _write(lab, lanes)
            if lab.run.stop_asked:
                return
            for lane in lanes:
                spent[lane.name][0] += lane.stats.committed
                spent[lane.name][1] += lane.stats.at
            rounds += lanes[0].stats.rounds
            written += lanes[0].stats.committed
        speed = {name: tokens / seconds for name, (tokens, seconds) in spent.items()}
        plain.append(speed["plain"])
        ratios.append(speed["speculative"] / speed["plain"])
    row["measured"], row["low"], row["high"] = median(ratios), min(ratios), max(ratios)
    row["tokens_per_target_call"] = written / rounds


def _write(lab: Lab, lanes: list[Lane]) -> None:
    """Lets the lanes write to their ends, without telling of each round."""
    for lane in lanes:
        lane.prefill = lane.decoding.prefill(lab.run.check_cancelled)
    for _ in lab.turns(lanes, tell=False):
        lab.run.check_cancelled()


def _bytes_of(draft: Any) -> int:
    """Bytes of its weights as loaded (of an export: as stored), tied ones once; caches, which grow with the text, aren't in it."""
    if is_exported(draft):
        return draft.model.nbytes
    held = {t.data_ptr(): t.nbytes for t in (*draft.model.parameters(), *draft.model.buffers())}
    return sum(held.values())
