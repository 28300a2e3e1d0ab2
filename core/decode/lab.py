"""The decode lab's job: a prompt through the engine, rounds as events, and a race between ways to draft and plain decoding.

Covers what lies between a GenerateSpec and the engine: prompt or chat, texts that become tokens, who may draft for which
target and how, costs measured beforehand, lanes that take turns, pause and stop, and what the lanes amount to beside each
other. Loading the models is the worker's; so is keeping them between prompts (see Held).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from statistics import fmean
from time import perf_counter
from typing import Any, Literal

import torch
from torch import nn

import resources
from core.decode import calibrate, chat
from core.decode.cache import CachedModel, cached_model, read
from core.decode.engine import Decoding
from core.decode.fast import quicken
from core.decode.kv_quant import cache_bytes
from core.decode.packed_copy import packed_copy
from core.decode.pieces import Pieces
from core.decode.policy import Adaptive, Fixed, Policy
from core.decode.products import faster_products
from core.decode.propose import DraftModel, NGram, Nobody, Proposer
from core.decode.retokenize import Retokenized
from core.decode.sampling import History, Sampling, Seeded
from core.decode.self_draft import SelfDraft, search_skips
from core.decode.stats import Costs, Stats, possible_speedup
from core.decode.tree import TreeDraft
from core.decode.verify import verifier_for
from core.errors import UserError
from core.events import CostsMeasured, DecodeStarted, Round, RoundTaken
from core.records import Choice, Drafting, ExactnessSpec, GenerateSpec
from core.run import Run
from core.theory import speedups

PROBES = 5  # one-token forwards that measure T(1) where nothing else did
OWN = 12  # the same of the target's own layers: what a few layers less save is little, so it's measured more often
WIDTHS = (*calibrate.WIDTHS, 33, 65)  # tokens a forward at which costs are measured, as far as a round may go
SEARCHED = 160  # tokens that a set of skipped layers is searched on
SELF = ("early-exit", "layer-skip")
COPY = {"opening": (0.95, 20), "horizon": 400}  # of a packed copy: it's the target itself, rounded (measured: 0.96-0.98)
OPENING = 8  # tests that an earlier text's acceptance is worth at most: another text may be of another kind


@dataclass
class Held:
    """What a worker keeps of one target between prompts.

    caches: by lane and model, with what they hold, so that the next turn of a chat reads only what's new; packed: the target's
    packed copy; costs: what was measured for a pair; skipped: the sets of layers that were found, by the prompt's beginning;
    openings: what the acceptance of a pair was, which the adaptive length begins the next text with.
    """

    caches: dict[tuple, CachedModel] = field(default_factory=dict)
    packed: Any = None
    costs: dict[tuple, Costs] = field(default_factory=dict)
    skipped: dict[tuple, tuple[int, ...]] = field(default_factory=dict)
    openings: dict[tuple, tuple[float, float]] = field(default_factory=dict)

    def keep(self, *models: Any, packed: bool = False) -> None:
        """Forgets what belongs to all models but these, and the packed copy unless it's still wanted."""
        if not packed:
            self.packed = None
        kept = {id(m) for m in models} | ({id(self.packed)} if packed else set())
        self.caches = {key: cache for key, cache in self.caches.items() if id(cache.model) in kept}
        self.costs = {key: costs for key, costs in self.costs.items() if key[0] is None or key[0] in kept}
        self.openings = {key: opening for key, opening in self.openings.items() if key[0] is None or key[0] in kept}


@dataclass
class Lane:
    """One text being written, and what came of it so far. drafting None: plain decoding."""

    name: str
    drafting: Drafting | None
    decoding: Decoding
    measured: Costs | None = None  # beforehand
    settings: dict[str, Any] = field(default_factory=dict)  # what was left to be found: exit_layer, skipped
    prefill: float = 0.0
    stats: Stats = field(default_factory=Stats)
    rounds: list[Round] = field(default_factory=list)

    @property
    def ids(self) -> list[int]:
        """What was written after the prompt."""
        return self.decoding.history.ids[self.decoding.history.prompt :]

    @property
    def tokens_per_s(self) -> float | None:
        return self.stats.committed / self.stats.at if self.stats.at and self.stats.committed else None


def generate(
    target: Any,
    draft: Any,
    spec: GenerateSpec,
    run: Run,
    *,
    rival_draft: Any = None,
    held: Held | None = None,
    beside: Any = None,
    held_beside: Held | None = None,
) -> dict:
    """Decodes the spec's prompt, or its chat. target, draft, rival_draft: core.models.load.Loaded, None where nobody of that kind drafts.

    Lanes: 'speculative' ('plain' where nothing drafts), with spec.rival 'rival', with spec.race 'plain', with `beside` 'beside': another
    form of the target, decoded plainly. They take turns, a round each, the lane with the least time of its own first; each has its
    own caches, seed and clock. Emits for every lane CostsMeasured (where a length is chosen by costs, or lanes race), DecodeStarted
    and RoundTaken. A step is a round of the first lane.

    Returns the first lane's report (Stats.report; text, ids, stop) and beside it: prefill_seconds, reused (tokens of the prompt that
    were in the cache already), prompt_tokens, lossless, costs (seconds by tokens fed), speedup (measured against lane 'plain'; None
    without one), possible_speedup (what the run's own calls allow), efficiency (the one over the other), gammas {planned: rounds},
    distance (of a rule that isn't lossless: mean total variation over the tested positions), settings (exit_layer or skipped, where
    they were left to be found), cache_bytes and cache_bytes_plain (the target's keys and values as they're kept, and unrounded) and,
    greedily against lane 'plain', identical or divergence {position, margin}. The same for every lane under `lanes`; lane 'plain'
    also as `plain`. Lane 'beside' too is held against lane 'plain'.
    Raises UserError: no tokenizer, a draft that can't write for the target, a rule that can't judge the proposer, a prompt without
    room, texts that aren't tokens, a cache that can't be taken back, logits that aren't numbers.
    """
    held = held or Held()
    lab = Lab(target, run, held, spec.kv_bits)
    prompt, sampling = lab.prompt_and_sampling(spec)
    lanes: list[tuple[str, Drafting | None, Any]] = []
    main = spec if drafts(spec) else None
    lanes.append(("speculative" if main else "plain", main, draft))
    if spec.rival is not None:
        if not drafts(spec.rival):
            raise UserError("The rival doesn't draft, so it would be plain decoding.", hint="Choose how the rival drafts.")
        lanes.append(("rival", spec.rival, rival_draft))
    if spec.race and main:
        lanes.append(("plain", None, None))
    for _, drafting, model in lanes:
        lab.check(drafting, model)
    other = None if beside is None else lab.other(beside, held_beside)
    packed = any(drafting is not None and drafting.proposer == "packed" for _, drafting, _ in lanes)
    held.keep(target.model, *(m.model for m in (draft, rival_draft) if m is not None), packed=packed)
    if spec.paused:
        run.control("pause")
    run.stage("Preparing")
    racing = len(lanes) + (other is not None) > 1
    with lab.prepared([(drafting, model) for _, drafting, model in lanes]), other.prepared([]) if other else nullcontext():
        made = []
        for place, (name, drafting, model) in enumerate(lanes):
            lane = lab.lane(name, place, drafting, model, prompt, sampling, spec.seed, measure=racing)
            if lane.measured:
                told = lane.measured.table()
                run.emit(CostsMeasured(run.job, name, told["target"], told["draft"], lane.measured.overhead))
            made.append(lane)
        if other is not None:
            made.append(other.lane("beside", len(lanes), None, None, prompt, sampling, spec.seed))
        for lane in made:
            lab.begin(lane)
        for lane in lab.turns(made):
            if lane is made[0]:
                run.progress("Decoding", lane.decoding.history.new, sampling.max_new_tokens, force=False)
        for lane, (_, _, model) in zip(made, lanes, strict=False):
            lab.learn(lane, model, sampling)
        return _result(lab, made, sampling)


def drafts(drafting: Drafting) -> bool:
    return drafting.proposer != "none" and drafting.gamma > 0


class Lab:
    """A target, and whoever drafts for it: makes lanes of a Drafting, and lets them run."""

    def __init__(self, target: Any, run: Run, held: Held | None = None, kv_bits: Literal[8, 4] | None = None):
        self.target, self.run, self.held, self.kv_bits = target, run, held or Held(), kv_bits
        self.held.caches = {key: c for key, c in self.held.caches.items() if c.kv_bits == kv_bits}
        self.tokenizer, self.size = tokenizer_of(target)
        self.pieces = Pieces(self.tokenizer)
        self.layers = target.model.config.get_text_config(decoder=True).num_hidden_layers

    def other(self, beside: Any, held: Held | None) -> Lab:
        """A lab of another form of the target, to be decoded beside it. Raises UserError where its tokens are others."""
        if not same_tokens(self.target, beside):
            raise UserError(
                "{other} has other tokens than {target}, so they can't be decoded side by side.",
                hint="Choose the variant that the export was made from, or another export of it.",
                other=beside.info.name,
                target=self.target.info.name,
            )
        return Lab(beside, self.run, held, None if is_exported(beside) else self.kv_bits)

    # -- before anything is computed

    def prompt_and_sampling(self, spec: GenerateSpec | ExactnessSpec) -> tuple[list[int], Sampling]:
        """The prompt's ids, and how tokens are chosen after it."""
        ends: tuple[int, ...] = ()
        if messages := getattr(spec, "messages", ()):
            before, prompt = chat.prompt_of(messages, self.tokenizer, self.target.info.name)
            end = chat.end_of_turn(self.tokenizer, self.target.info.name)
            ends = () if end is None else (end,)
            after = chat.ids_of(before + spec.forced, self.tokenizer) if spec.forced else prompt
        else:
            prompt = encode(spec.prompt, self.tokenizer)
            after = encode(spec.prompt + spec.forced, self.tokenizer) if spec.forced else prompt
        return prompt, sampling_of(spec, self.target, forced=self._forced(spec.forced, prompt, after), ends=ends)

    def _forced(self, text: str, prompt: list[int], both: list[int]) -> tuple[int, ...]:
        """The ids of a forced beginning: as the text goes on from the prompt, where the prompt's own ids stay as they are."""
        if not text:
            return ()
        if both[: len(prompt)] == prompt and len(both) > len(prompt):
            return tuple(both[len(prompt) :])
        return tuple(chat.ids_of(text, self.tokenizer))

    def check(self, drafting: Drafting | None, draft: Any) -> None:
        """Raises UserError where this can't draft for the target."""
        refuse_of_exports(self.target, drafting, draft, self.kv_bits)
        if drafting is None:
            return
        if drafting.proposer == "draft":
            check_pair(self.target, draft)
        if drafting.verifier == "tree" and not self._tells_rows(drafting, draft):
            raise UserError(
                "A tree of candidates needs a draft model with the target's own tokens.",
                hint="Choose such a draft or the packed copy, or another rule.",
            )
        if drafting.exit_layer is not None and drafting.proposer == "early-exit" and drafting.exit_layer >= self.layers:
            raise UserError(
                "{name} has {layers} layers, so drafting can't leave after layer {asked}.",
                hint="Choose fewer than {layers} layers.",
                name=self.target.info.name,
                layers=self.layers,
                asked=drafting.exit_layer,
            )
        beyond = [n for n in drafting.skipped or () if not 0 <= n < self.layers]
        if drafting.proposer == "layer-skip" and beyond:
            raise UserError(
                "{name} has no layer {layer}: they're numbered from 0 to {last}.",
                hint="Change the layers to leave out.",
                name=self.target.info.name,
                layer=beyond[0],
                last=self.layers - 1,
            )

    def _tells_rows(self, drafting: Drafting, draft: Any) -> bool:
        return drafting.proposer == "packed" or (drafting.proposer == "draft" and same_tokens(self.target, draft))

    # -- models

    def prepared(self, who: Sequence[tuple[Drafting | None, Any]]) -> Any:
        """A context in which the models of these lanes compute as fast as they can here.

        They're made faster for good where that can be done (see core.decode.fast), so they can't be saved or trained any more;
        linear layers that are left multiply in the fastest form within the context. What's to be packed is packed before.
        """
        models, rows = [self.target.model], {1}
        for drafting, draft in who:
            if drafting is None:
                continue
            rows |= rows_of(drafting)
            if drafting.proposer == "draft":
                models.append(draft.model)
        models = [model for model in models if isinstance(model, nn.Module)]  # an export is laid out already
        for model in models:
            quicken(model)
        if any(drafting is not None and drafting.proposer == "packed" for drafting, _ in who):
            self.packed()
        return faster_products(models, rows)

    def cached(self, place: int, model: Any, name: str, size: int, *, rollback: bool = True, drafts: bool = False) -> CachedModel:
        """The model with this lane's cache, which may hold an earlier prompt. rollback: whether it must be able to take tokens back.

        drafts: whether it's there to draft. A model that drafts for itself has one cache as the target and another as the draft.
        """
        key = (place, id(model), rollback, self.kv_bits, drafts)
        if key not in self.held.caches:
            self.held.caches[key] = cached_model(model, name=name, vocabulary=size, rollback=rollback, kv_bits=self.kv_bits)
        return self.held.caches[key]

    def cached_target(self, place: int, rollback: bool) -> CachedModel:
        """The same of the target. One that can't take tokens back may still be decoded plainly."""
        model, name = self.target.model, self.target.info.name
        try:
            return self.cached(place, model, name, self.size)
        except UserError:
            if rollback:
                raise
            return self.cached(place, model, name, self.size, rollback=False)

    def packed(self) -> Any:
        """The target's packed copy, made at the first call."""
        if self.held.packed is None:
            self.run.stage("Packing a copy of the target")
            self.held.packed = packed_copy(self.target.model)
        return self.held.packed

    # -- lanes

    def lane(
        self,
        name: str,
        place: int,
        drafting: Drafting | None,
        draft: Any,
        prompt: list[int],
        sampling: Sampling,
        seed: int,
        *,
        measure: bool = False,
        policy: Policy | None = None,
        details: bool = True,
    ) -> Lane:
        """A lane that's ready to begin. measure: costs are measured even where no length is chosen by them.

        policy None: the one that `drafting` asks for.
        """
        target = self.cached_target(place, rollback=drafting is not None)
        lane_costs, measured, settings = Costs(), None, {}
        proposer: Proposer = Nobody()
        if drafting is not None:
            proposer, settings = self._proposer(drafting, place, draft, target, prompt, sampling)
            if measure or drafting.policy == "adaptive":
                measured = self.costs_of(drafting, draft, settings)
            if policy is None and drafting.policy == "adaptive":
                policy = self._adaptive(drafting, draft, settings, sampling, lane_costs, measured)
        decoding = Decoding(
            target,
            prompt,
            sampling=sampling,
            proposer=proposer,
            policy=policy or Fixed(drafting.gamma if drafting else 0),
            verifier=self.verifier(drafting, sampling) if drafting else None,
            chooser=Seeded(seed),
            pieces=self.pieces,
            costs=lane_costs,
            details=details,
        )
        return Lane(name, drafting, decoding, measured, settings)

    def _adaptive(
        self, drafting: Drafting, draft: Any, settings: dict[str, Any], sampling: Sampling, costs: Costs, measured: Costs | None
    ) -> Adaptive:
        how: dict[str, Any] = dict(COPY) if drafting.proposer == "packed" else {}
        if opening := self.held.openings.get(self._opening_key(drafting, draft, settings, sampling)):
            how["opening"] = opening
        return Adaptive(
            costs,
            longest=drafting.gamma,
            prior=measured,
            branches=drafting.branches if drafting.verifier == "tree" else 1,
            catch_up=drafting.proposer in ("draft", "packed"),  # the others read what the target wrote at no cost
            **how,
        )

    def learn(self, lane: Lane, draft: Any, sampling: Sampling) -> None:
        """Keeps what the lane's acceptance was, where its length was adaptive, for the next text of the pair."""
        policy, drafting = lane.decoding.policy, lane.drafting
        if drafting is None or not isinstance(policy, Adaptive):
            return
        rate, tests = policy.evidence()
        if tests >= OPENING / 2:
            self.held.openings[self._opening_key(drafting, draft, lane.settings, sampling)] = rate, min(tests, OPENING)

    def _opening_key(self, drafting: Drafting, draft: Any, settings: dict[str, Any], sampling: Sampling) -> tuple:
        model = self.held.packed if drafting.proposer == "packed" else draft.model if drafting.proposer == "draft" else None
        return id(model) if model is not None else None, drafting.proposer, drafting.verifier, repr(settings), sampling.temperature

    @staticmethod
    def verifier(drafting: Drafting, sampling: Sampling) -> Any:
        return verifier_for(sampling, drafting.verifier, epsilon=drafting.epsilon, delta=drafting.delta, k=drafting.relaxed_k)

    def _proposer(
        self, drafting: Drafting, place: int, draft: Any, target: CachedModel, prompt: list[int], sampling: Sampling
    ) -> tuple[Proposer, dict[str, Any]]:
        """(who drafts, what was left to be found)."""
        if drafting.proposer == "ngram":
            return NGram(), {}
        if drafting.proposer in SELF:
            kept, settings = self._layers(drafting, prompt)
            return SelfDraft(target, kept, sampling, drafting.confidence), settings
        model = self._draft_model(drafting, place, draft)
        if drafting.proposer == "draft" and not same_tokens(self.target, draft):
            return Retokenized(model, draft.tokenizer, self.tokenizer), {}
        if drafting.verifier == "tree":
            return TreeDraft(model, sampling, drafting.confidence, branches=drafting.branches), {}
        return DraftModel(model, sampling, drafting.confidence), {}

    def _draft_model(self, drafting: Drafting, place: int, draft: Any) -> CachedModel:
        if drafting.proposer == "packed":
            return self.cached(place, self.packed(), self.target.info.name, self.size, drafts=True)
        size = self.size if same_tokens(self.target, draft) else tokenizer_of(draft)[1]
        return self.cached(place, draft.model, draft.info.name, size, drafts=True)

    def _layers(self, drafting: Drafting, prompt: list[int]) -> tuple[list[int], dict[str, Any]]:
        """(the target's layers that draft, what was left to be found)."""
        if drafting.proposer == "early-exit":
            exit_layer = drafting.exit_layer or max(1, self.layers // 3)
            return list(range(exit_layer)), {"exit_layer": exit_layer}
        skipped = drafting.skipped if drafting.skipped is not None else self._search(prompt, drafting.gamma)
        return [n for n in range(self.layers) if n not in skipped], {"skipped": sorted(skipped)}

    def _search(self, prompt: list[int], gamma: int) -> tuple[int, ...]:
        """The layers whose absence pays most, by the acceptance found on the prompt's text and measured costs of the target.

        What leaving a layer out saves is taken as its share of the target's layers; it's measured once the set is chosen.
        """
        key = tuple(prompt[:64])
        if key not in self.held.skipped:
            self.run.stage("Searching layers to leave out")
            ids = prompt[-SEARCHED:]
            if len(ids) < SEARCHED:  # too little to judge by: the starter's text goes before it
                text = resources.TRAIN_TEXT.read_text(encoding="utf-8")[: 8 * SEARCHED]
                ids = chat.ids_of(text, self.tokenizer)[: SEARCHED - len(ids)] + ids
            found = search_skips(self._apart(self.target.model, self.target.info.name, self.size), ids, run_check=self.run.check_cancelled)
            target = self._measure((None, "target"), None, gamma + 1).table()["target"]

            def pays(skipped: Sequence[int], alpha: float) -> float:
                drafting = {1: target[1] * (1 - len(skipped) / self.layers)}
                return max(speedups([alpha] * gamma, target, drafting))

            if not found:
                raise UserError(
                    "No layer of {name} can be left out without spoiling what it predicts, so it can't draft that way.",
                    hint="Draft with the packed copy, or with another model.",
                    kind="model",
                    name=self.target.info.name,
                )
            skipped, alpha = max(found, key=lambda one: pays(*one))
            self.run.log(f"Layers left out: {', '.join(map(str, skipped)) or 'none'}; acceptance on the prompt's text {alpha:.2f}")
            self.held.skipped[key] = tuple(skipped)
        return self.held.skipped[key]

    # -- costs

    def costs_of(self, drafting: Drafting, draft: Any, settings: dict[str, Any]) -> Costs:
        """Seconds of one forward by the tokens fed, of the target and of who drafts: measured once for a pair, and kept."""
        widest = longest_round(drafting)
        if drafting.proposer == "ngram":
            return self._measure((None, "target"), None, widest)
        if drafting.proposer in SELF:
            kept, _ = self._layers(drafting.model_copy(update=settings), [])
            return self._measure((None, drafting.proposer, tuple(kept)), kept, widest)
        model = self.packed() if drafting.proposer == "packed" else draft.model
        return self._measure((id(model), drafting.proposer), self._apart(model, "", None), widest)

    def _measure(self, key: tuple, draft: CachedModel | list[int] | None, widest: int) -> Costs:
        """draft: a model, or which of the target's layers draft."""
        widths = tuple(sorted({n for n in WIDTHS if n < widest} | {widest}))
        key = (*key, widths, torch.get_num_threads(), self.kv_bits)
        if key not in self.held.costs:
            self.run.stage("Measuring what forwards cost")
            target = self._apart(self.target.model, self.target.info.name, self.size)
            model = None if isinstance(draft, list) else draft
            costs = calibrate.measure(target, model, widths, between=self.run.check_cancelled)
            if isinstance(draft, list):
                _measure_own_layers(costs, target, draft)
            self.held.costs[key] = costs
        return self.held.costs[key]

    def _apart(self, model: Any, name: str, size: int | None) -> CachedModel:
        """The model with a cache of its own, so that no lane's text is lost by measuring."""
        return cached_model(model, name=name, vocabulary=size, kv_bits=self.kv_bits)

    # -- running

    def begin(self, lane: Lane) -> None:
        """Reads the prompt, and says so."""
        self.run.stage("Reading the prompt")
        lane.prefill = lane.decoding.prefill(self.run.check_cancelled)
        ids = lane.decoding.history.ids
        self.run.emit(DecodeStarted(self.run.job, lane.name, tuple(ids), tuple(self.pieces.all(ids)), lane.prefill))

    def turns(self, lanes: Sequence[Lane], *, tell: bool = True) -> Iterator[Lane]:
        """Lets the lanes write in turns until all have ended; yields the lane that wrote a round. tell: rounds are sent as events.

        The one that has spent the least time goes next, so that whatever else the machine does is shared by all. While the run
        is paused, each step is a round of the first lane that hasn't ended.
        """
        run = self.run
        going = {id(lane): lane.decoding.rounds(lambda: not run.stop_asked) for lane in lanes}
        while live := [lane for lane in lanes if not lane.decoding.stop]:
            run.wait_turn()
            if run.stop_asked:
                for lane in live:
                    next(going[id(lane)], None)  # each learns that it was stopped
                return
            lane = live[0] if run.paused else min(live, key=lambda one: one.decoding.seconds)
            taken = next(going[id(lane)])
            if tell:
                begun = perf_counter()
                run.emit(RoundTaken(run.job, lane.name, taken))
                lane.decoding.spend(perf_counter() - begun)
            lane.stats.add(taken)
            lane.rounds.append(taken)
            yield lane


# ---- what it amounts to -----------------------------------------------------------------------------------------


def _result(lab: Lab, lanes: list[Lane], sampling: Sampling) -> dict:
    plain = next((lane for lane in lanes if lane.name == "plain"), None)
    told = {lane.name: _report(lab, lane, plain, sampling) for lane in lanes}
    result = told[lanes[0].name] | {"lanes": told}
    return result | {"plain": told["plain"]} if plain is not None and plain is not lanes[0] else result


def _report(lab: Lab, lane: Lane, plain: Lane | None, sampling: Sampling) -> dict:
    decoding, stats = lane.decoding, lane.stats
    before = decoding.history.ids[: decoding.history.prompt]
    text = decoding.text if decoding.stop == "stop string" else continued(before, lane.ids, lab.tokenizer)
    out = stats.report() | {
        "text": text,
        "ids": lane.ids,
        "stop": decoding.stop,
        "prefill_seconds": lane.prefill,
        "prompt_tokens": decoding.history.prompt,
        "reused": decoding.reused,
        "lossless": lane.drafting is None or lane.drafting.lossless,
        "speedup": None,
        "possible_speedup": None,
        "efficiency": None,
        "distance": None,
        "gammas": dict(sorted(Counter(r.planned for r in lane.rounds).items())),
        "settings": lane.settings,
        "costs": decoding.costs.table(),
    }
    out["cache_bytes"], out["cache_bytes_plain"] = cache_bytes(decoding.target.layer_caches())
    if lane is plain or (plain is None and lane.drafting is None):
        return out
    if not out["lossless"]:
        distances = [t.distance for r in lane.rounds for t in r.drafted if t.distance is not None]
        out["distance"] = fmean(distances) if distances else None
    if stats.committed and lane.drafting is not None:
        out["possible_speedup"] = possible_speedup(stats.committed, _one(lane, plain), decoding.costs)
    if plain is not None:
        if lane.tokens_per_s and plain.tokens_per_s:
            out["speedup"] = lane.tokens_per_s / plain.tokens_per_s
            if out["possible_speedup"]:
                out["efficiency"] = out["speedup"] / out["possible_speedup"]
        if sampling.greedy:
            out |= _compare(lane, plain)
    return out


def _compare(lane: Lane, plain: Lane) -> dict:
    """Whether the lanes wrote the same; where one was stopped, as far as both got. Only greedy decoding promises it, in float32."""
    ours, theirs = lane.ids, plain.ids
    if "stopped" in (plain.decoding.stop, lane.decoding.stop):
        both = min(len(ours), len(theirs))
        ours, theirs = ours[:both], theirs[:both]
        if not both:
            return {}  # stopped before there was anything to compare
    if ours == theirs:
        return {"identical": True}
    same = zip(ours, theirs, strict=False)
    position = next((i for i, (a, b) in enumerate(same) if a != b), min(len(ours), len(theirs)))
    margin = None
    if position < len(plain.rounds):
        top = plain.rounds[position].final_top
        margin = top[0].target - top[1].target if len(top) > 1 else None
    return {"identical": False, "divergence": {"position": position, "margin": margin}}


def _one(lane: Lane, plain: Lane | None) -> float:
    """T(1): as plain decoding measured it, or else this lane's own rounds without a draft, or what was measured before, or now."""
    for costs in (plain.decoding.costs if plain else None, lane.decoding.costs, lane.measured):
        if costs is not None and costs.target_calls[1]:
            return costs.target(1)
    if lane.measured is not None:
        return lane.measured.target(1)
    return _measure_one(lane.decoding)


@torch.inference_mode()
def _measure_own_layers(costs: Costs, target: CachedModel, layers: list[int]) -> None:
    """Adds what a forward of one token through these of the target's layers takes, and through all of them in turns with it."""
    text = History([1] * calibrate.LENGTH)
    drafting = SelfDraft(target, layers, Sampling())
    read(target, text.ids[:-1], 1)
    for turn in range(OWN + 1):  # the first warms up
        begun = perf_counter()
        target.forward(text.ids[-1:], 1)
        target.wait()
        spent = perf_counter() - begun
        target.crop(len(text.ids) - 1)
        calls = drafting.propose(text, 2, Seeded(0)).calls
        if turn:
            costs.add_target(1, spent)
            for tokens, seconds in calls:
                costs.add_draft(tokens, seconds)
    costs.target_calls.clear()  # these were no calls of a run
    costs.draft_calls.clear()


@torch.inference_mode()
def _measure_one(decoding: Decoding) -> float:
    """T(1): the target's seconds for one token, the median of a few, at the length that the run ended with."""
    target, costs = decoding.target, Costs()
    length = target.length
    for _ in range(PROBES):
        begun = perf_counter()
        target.forward(decoding.history.ids[-1:], 1)
        target.wait()
        costs.add_target(1, perf_counter() - begun)
        target.crop(length)
    return costs.target(1)


# ---- texts and pairs --------------------------------------------------------------------------------------------


def longest_round(drafting: Drafting) -> int:
    """The most tokens that one forward of the target is fed: what was drafted, and the token before it."""
    wide = drafting.branches if drafting.verifier == "tree" else 1
    return drafting.gamma * wide + 1


def rows_of(drafting: Drafting) -> set[int]:
    """How many tokens forwards will be fed: 1 in plain rounds, 2 after a full accept, and up to `longest_round` to verify."""
    most = longest_round(drafting)
    if most <= 3:
        return set(range(1, most + 1))
    between = (8, 16) if drafting.policy == "adaptive" else ()
    return {1, 2, 4, most} | {n for n in between if n < most}


def tokenizer_of(target: Any) -> tuple[Any, int]:
    """The model's tokenizer, and how many tokens it has (its largest id + 1). Raises UserError where there's none."""
    if target.tokenizer is None:
        raise UserError(
            "{name} has no tokenizer, so a prompt can't be turned into tokens.",
            hint="Put the tokenizer's files into the model's folder and import it again.",
            kind="model",
            name=target.info.name,
        )
    return target.tokenizer, max(target.tokenizer.get_vocab().values()) + 1


def same_tokens(target: Any, draft: Any) -> bool:
    """Whether ids mean the same to both."""
    return bool(target.info.tokens_hash) and target.info.tokens_hash == draft.info.tokens_hash


def is_exported(loaded: Any) -> bool:
    """Whether it's an exported graph, run by onnxruntime: it gives logits after a cache, and no more."""
    return getattr(loaded.model, "exported", False)


def refuse_of_exports(target: Any, drafting: Drafting | None, draft: Any, kv_bits: int | None) -> None:
    """Raises UserError for what needs more of a model than an export gives, before anything is computed."""
    exports = [one for one in (target, draft) if one is not None and is_exported(one)]
    if kv_bits and exports:
        raise UserError(
            "{name} is an ONNX export, whose keys and values are kept as its graph gives them, so they can't be rounded.",
            hint="Leave the cache unrounded, or decode with the variant itself.",
            name=exports[0].info.name,
        )
    if drafting is None or not is_exported(target):
        return
    name = target.info.name
    if drafting.verifier == "tree":
        raise UserError(
            "{name} is an ONNX export, whose graph reads one continuation at a time, so it can't check a tree of drafts.",
            hint="Choose the token or the block rule.",
            name=name,
        )
    if drafting.proposer in SELF:
        raise UserError(
            "{name} is an ONNX export, whose layers can't be run one by one, so it can't draft with some of them.",
            hint="Draft with a model, another export, or from the text's own repetitions.",
            name=name,
        )
    if drafting.proposer == "packed":
        raise UserError(
            "{name} is an ONNX export, of which no packed copy can be made in memory.",
            hint="Draft with an 8-bit export of the same model, or from the text's own repetitions.",
            name=name,
        )


def check_pair(target: Any, draft: Any) -> None:
    """Raises UserError where `draft` can't write for `target`: with other tokens its text is re-encoded, without any there's none."""
    if draft is None:
        raise UserError("No draft model was chosen.", hint="Choose a draft, or draft from the text's own repetitions.")
    if not same_tokens(target, draft) and draft.tokenizer is None:
        raise UserError(
            "{draft} has no tokenizer, so what it drafts can't be read by {target}.",
            hint="Choose a draft with a tokenizer, such as a variant of the same model.",
            draft=draft.info.name,
            target=target.info.name,
        )


def encode(prompt: str, tokenizer: Any) -> list[int]:
    """The prompt's ids, with the special tokens that the tokenizer adds. An empty prompt is the token that texts begin with.

    That's the tokenizer's beginning-of-text token or, as in GPT-2's family, its end-of-text token; [] where it has neither.
    """
    ids = list(tokenizer(chat.whole(prompt))["input_ids"])
    if not ids:
        first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        ids = [] if first is None else [first]
    return ids


def continued(before: list[int], ids: list[int], tokenizer: Any) -> str:
    """The text of `ids` where it follows `before`: SentencePiece's tokenizers drop the leading space of a text on its own."""
    tail = before[-4:]
    shown, whole = (tokenizer.decode(part, skip_special_tokens=True) for part in (tail, tail + ids))
    return whole[len(shown) :] if whole.startswith(shown) else tokenizer.decode(ids, skip_special_tokens=True)


def sampling_of(spec: Choice, target: Any, *, forced: tuple[int, ...] = (), ends: tuple[int, ...] = ()) -> Sampling:
    """The spec's settings, and the ids that end a text: by the model's configuration, its tokenizer's, and `ends`."""
    eos: set[int] = set(ends)
    sources = (getattr(target.model, "generation_config", None), target.model.config, target.tokenizer)
    for value in (getattr(source, "eos_token_id", None) for source in sources):
        eos.update(value if isinstance(value, (list, tuple)) else [] if value is None else [value])
    size = tokenizer_of(target)[1]  # configurations name ids that aren't there, -1 for 'none'
    banned = {i for text in spec.banned for i in banned_ids(text, target.tokenizer)}
    return Sampling(
        temperature=spec.temperature,
        top_k=spec.top_k,
        top_p=spec.top_p,
        min_p=spec.min_p,
        typical_p=spec.typical_p,
        repetition_penalty=spec.repetition_penalty,
        presence_penalty=spec.presence_penalty,
        frequency_penalty=spec.frequency_penalty,
        banned=tuple(sorted(banned)),
        forced=forced,
        eos=tuple(sorted(i for i in eos if 0 <= i < size)),
        stop=tuple(map(chat.whole, spec.stop)),
        min_new_tokens=spec.min_new_tokens,
        max_new_tokens=spec.max_new_tokens,
    )


def banned_ids(text: str, tokenizer: Any) -> set[int]:
    """The tokens that are exactly this text, or this text with a space before it. Raises UserError where there are none."""
    forms = [text] if not text or text[0].isspace() else [text, f" {text}"]
    found = {ids[0] for form in forms for ids in (chat.ids_of(form, tokenizer),) if len(ids) == 1}
    written = tokenizer.get_vocab().get(text)  # SentencePiece writes a text alone as if a space were before it
    if written is not None and tokenizer.decode([written]) == text:
        found.add(written)
    if not found:
        ids = chat.ids_of(text, tokenizer)
        raise UserError(
            "{text} can't be banned: it isn't one token but {count} ({pieces}).",
            hint="Ban one of those, or make it a stop text.",
            text=repr(text),
            count=len(ids),
            pieces=", ".join(repr(piece) for piece in Pieces(tokenizer).all(ids)) or "none",
        )
    return found
