"""The decode lab's job: a prompt through the engine, rounds as events, and a race against plain decoding.

Covers what lies between a GenerateSpec and the engine: prompt, special tokens, which draft may write for which target,
pause and stop, and the comparison of the two lanes. Loading the models is the worker's.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.pieces import Pieces
from core.decode.policy import Fixed
from core.decode.products import faster_products
from core.decode.propose import DraftModel, NGram, Nobody, Proposer
from core.decode.sampling import Sampling, Seeded
from core.decode.stats import Costs, Stats, possible_speedup
from core.errors import UserError
from core.events import DecodeStarted, Round, RoundTaken
from core.records import GenerateSpec
from core.run import Run

PROBES = 5  # one-token forwards that measure T(1) where no plain round did


def generate(target: Any, draft: Any, spec: GenerateSpec, run: Run) -> dict:
    """Decodes spec.prompt. target, draft: core.models.load.Loaded, draft None where spec.proposer needs none.

    Emits DecodeStarted and RoundTaken on lane 'speculative' (or 'plain' where nothing drafts) and, with spec.race, again on
    lane 'plain', afterwards and alone, with the same seed. Returns GenerateSpec's result and besides: speedup (measured;
    None without a race), possible_speedup, accepted_of_tested, accepted_of_drafted, costs (seconds by tokens fed),
    prefill_seconds and, in greedy decoding with a race, identical or divergence {position, margin}. Times leave pauses out.
    Raises UserError: no tokenizer, a draft with other tokens, a prompt without room, a cache that can't be taken back,
    logits that aren't numbers.
    """
    tokenizer, size = tokenizer_of(target)
    sampling = sampling_of(spec, target)
    prompt = encode(spec.prompt, tokenizer)
    pieces = Pieces(tokenizer)
    drafting = spec.proposer != "none" and spec.gamma > 0
    if spec.proposer == "draft":
        check_pair(target, draft)
    longest = len(prompt) + sampling.max_new_tokens + spec.gamma

    def lane(name: str, gamma: int) -> tuple[Decoding, Stats, Costs, list[Round], float]:
        model = CachedModel(target.model, name=target.info.name, vocabulary=size, rollback=gamma > 0, longest=longest)
        decoding = Decoding(
            model,
            prompt,
            sampling=sampling,
            proposer=_proposer(spec, draft, size, sampling, longest) if gamma else Nobody(),
            policy=Fixed(gamma),
            chooser=Seeded(spec.seed),
            pieces=pieces,
        )
        run.stage("Reading the prompt")
        prefill = decoding.prefill(run.check_cancelled)
        run.emit(DecodeStarted(run.job, name, tuple(prompt), tuple(pieces.all(prompt)), prefill))
        stats, rounds = Stats(), []
        for taken in decoding.rounds(lambda: _turn(run)):
            run.emit(RoundTaken(run.job, name, taken))
            stats.add(taken)
            rounds.append(taken)
            run.progress("Decoding", decoding.history.new, sampling.max_new_tokens, force=False)
        return decoding, stats, decoding.costs, rounds, prefill

    if spec.paused:
        run.control("pause")
    models = [target.model, draft.model] if spec.proposer == "draft" and drafting else [target.model]
    run.stage("Preparing")
    with faster_products(models, rows_of(spec.gamma if drafting else 0)):
        return _race(spec, run, lane, tokenizer, sampling, drafting)


def _race(spec: GenerateSpec, run: Run, lane: Any, tokenizer: Any, sampling: Sampling, drafting: bool) -> dict:
    decoding, stats, costs, _, prefill = lane("speculative" if drafting else "plain", spec.gamma if drafting else 0)
    result = _report(decoding, stats, tokenizer) | {"prefill_seconds": prefill, "speedup": None, "possible_speedup": None}
    one = costs.target(1) if costs.target_calls[1] else None
    if spec.race and drafting and decoding.stop != "stopped":
        plain, plain_stats, plain_costs, plain_rounds, plain_prefill = lane("plain", 0)
        result["plain"] = _report(plain, plain_stats, tokenizer) | {"prefill_seconds": plain_prefill}
        one = plain_costs.target(1) if plain_costs.target_calls[1] else one
        if stats.at and plain_stats.at and plain_stats.committed:
            result["speedup"] = result["tokens_per_s"] / result["plain"]["tokens_per_s"]
        if sampling.greedy:
            result |= _compare(decoding, plain, plain_rounds)
    if drafting and stats.committed:
        one = one or _measure_one(decoding)
        result["possible_speedup"] = possible_speedup(stats.committed, one, costs)
    result["costs"] = costs.table()
    return result


def rows_of(gamma: int) -> set[int]:
    """How many tokens forwards will be fed: 1 in plain rounds, 2 after a full accept, gamma + 1 to verify."""
    return {1, 2, 4, gamma + 1} if gamma > 2 else set(range(1, gamma + 2))


def tokenizer_of(target: Any) -> tuple[Any, int]:
    """The target's tokenizer, and how many tokens it has (its largest id + 1). Raises UserError where there's none."""
    if target.tokenizer is None:
        raise UserError(
            "{name} has no tokenizer, so a prompt can't be turned into tokens.",
            hint="Put the tokenizer's files into the model's folder and import it again.",
            kind="model",
            name=target.info.name,
        )
    return target.tokenizer, max(target.tokenizer.get_vocab().values()) + 1


def check_pair(target: Any, draft: Any) -> None:
    """Raises UserError where `draft` can't write for `target`: ids mean something only where the tokens are the same."""
    if draft is None:
        raise UserError("No draft model was chosen.", hint="Choose a draft, or draft from the text's own repetitions.")
    if not target.info.tokens_hash or target.info.tokens_hash != draft.info.tokens_hash:
        raise UserError(
            "{draft} has other tokens than {target}, so it can't draft for it.",
            hint="Choose a draft with the same tokenizer, such as a variant of the same model.",
            draft=draft.info.name,
            target=target.info.name,
        )


def encode(prompt: str, tokenizer: Any) -> list[int]:
    """The prompt's ids, with the special tokens that the tokenizer adds. An empty prompt is the token that texts begin with.

    That's the tokenizer's beginning-of-text token or, as in GPT-2's family, its end-of-text token; [] where it has neither.
    """
    ids = list(tokenizer(prompt)["input_ids"])
    if not ids:
        first = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        ids = [] if first is None else [first]
    return ids


def sampling_of(spec: GenerateSpec, target: Any) -> Sampling:
    """The spec's settings, and the ids that end a text by the model's configuration or its tokenizer's."""
    eos: set[int] = set()
    sources = (getattr(target.model, "generation_config", None), target.model.config, target.tokenizer)
    for value in (getattr(source, "eos_token_id", None) for source in sources):
        eos.update(value if isinstance(value, (list, tuple)) else [] if value is None else [value])
    return Sampling(
        temperature=spec.temperature,
        top_k=spec.top_k,
        top_p=spec.top_p,
        eos=tuple(sorted(eos)),
        max_new_tokens=spec.max_new_tokens,
    )


def _proposer(spec: GenerateSpec, draft: Any, size: int, sampling: Sampling, longest: int) -> Proposer:
    if spec.proposer == "ngram":
        return NGram()
    return DraftModel(CachedModel(draft.model, name=draft.info.name, vocabulary=size, longest=longest), sampling)


def _turn(run: Run) -> bool:
    run.wait_turn()
    return not run.stop_asked


def _report(decoding: Decoding, stats: Stats, tokenizer: Any) -> dict:
    ids = decoding.history.ids[decoding.history.prompt :]
    text = decoding.text if decoding.stop == "stop string" else tokenizer.decode(ids, skip_special_tokens=True)
    return stats.report() | {"text": text, "ids": ids, "stop": decoding.stop}


def _compare(decoding: Decoding, plain: Decoding, plain_rounds: list[Round]) -> dict:
    """Whether the lanes wrote the same; where a lane was stopped, as far as both got. Only greedy decoding promises it, in float32."""
    ours = decoding.history.ids[decoding.history.prompt :]
    theirs = plain.history.ids[plain.history.prompt :]
    if plain.stop == "stopped":
        ours = ours[: len(theirs)]
    if ours == theirs:
        return {"identical": True}
    same = zip(ours, theirs, strict=False)
    position = next((i for i, (a, b) in enumerate(same) if a != b), min(len(ours), len(theirs)))
    margin = None
    if position < len(plain_rounds):
        top = plain_rounds[position].final_top
        margin = top[0].target - top[1].target if len(top) > 1 else None
    return {"identical": False, "divergence": {"position": position, "margin": margin}}


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
