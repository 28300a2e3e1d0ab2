"""The same prompts continued greedily by several forms of one model, token by token in turns: where they part, and how fast each is.

Forms are whatever gives a Scorer: torch models and exports. They take turns of one token, so that whatever else the machine does
is shared by all, and a form's speed is the median over its tokens. No drafting, no sampling.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import psutil
import torch
from torch import nn

from core.decode.cache import Scorer, cached_model, read
from core.decode.fast import quicken
from core.decode.lab import encode, same_tokens, sampling_of, tokenizer_of
from core.decode.pieces import Pieces
from core.decode.products import faster_products
from core.errors import UserError
from core.records import GenerateSpec
from core.run import Run

BUSY = 0.15  # share of the processors that others may use before speeds are called disturbed
WARM = 1  # tokens of each prompt that aren't timed


@dataclass
class Form:
    """One form of the model: what it wrote after a prompt, the top-2 margin of each token's logits, and each token's seconds."""

    name: str
    loaded: Any
    scorer: Scorer
    ids: list[int] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    ended: bool = False
    fed: list[int] = field(default_factory=list)

    def write(self, ends: frozenset[int], most: int) -> None:
        """One token more."""
        begun = time.perf_counter()
        logits = self.scorer.forward(self.fed, 1)[0]
        best = logits.topk(2)
        token = int(best.indices[0])
        self.scorer.wait()
        spent = time.perf_counter() - begun
        if not bool(torch.isfinite(best.values).all()):
            raise UserError("{name} gives logits that aren't numbers.", hint="Make or export it again.", kind="model", name=self.name)
        self.margins.append(float(best.values[0] - best.values[1]))
        if len(self.ids) >= WARM:
            self.seconds.append(spent)
        self.ids.append(token)
        self.fed = [token]
        full = self.scorer.context is not None and self.scorer.length + 1 >= self.scorer.context
        self.ended = token in ends or len(self.ids) >= most or full


@torch.inference_mode()
def side_by_side(models: dict[str, Any], prompts: Sequence[str], most: int, run: Run) -> dict[str, Any]:
    """models: {key: core.models.load.Loaded}, in order; the last is held against the one before it, and each against the first.

    Returns {forms: {key: {name, tokens_per_s (None below two tokens), tokens}}, prompts: [{prompt, forms: {key: {ids, pieces}},
    parts: {key: {position, margin} or None}}], busy}. parts: of every form but the first, where its tokens part from those of the form
    before it: the position after the prompt, and the top-2 margin of the logits that the form before had there; None where they don't
    part; a form whose tokens are others than its neighbour's isn't in `parts`. busy: the share of the processors that other
    programs used meanwhile.
    Raises UserError: no prompt, a prompt without room, no tokenizer, logits that aren't numbers.
    """
    if not prompts or not all(text.strip() for text in prompts):
        raise UserError("There's no prompt to compare on.", hint="Write one that's like what you'll use the model for.")
    torches = [m.model for m in models.values() if isinstance(m.model, nn.Module)]
    for model in torches:
        quicken(model)
    rows = []
    keys = list(models)
    forms: dict[str, Form] = {}
    for key, loaded in models.items():
        size = tokenizer_of(loaded)[1]
        forms[key] = Form(loaded.info.name, loaded, cached_model(loaded.model, name=loaded.info.name, vocabulary=size))
    watch = _Others()
    with faster_products(torches, {1}) if torches else nullcontext():
        for number, prompt in enumerate(prompts):
            run.progress("Writing", number, len(prompts), note=prompt[:60])
            _one(forms, prompt, most, run.check_cancelled)
            shown = {k: {"ids": list(f.ids), "pieces": Pieces(f.loaded.tokenizer).all(f.ids)} for k, f in forms.items()}
            parts = {}
            for before, key in itertools.pairwise(keys):
                if same_tokens(forms[before].loaded, forms[key].loaded):
                    parts[key] = parting(forms[before], forms[key])
            rows.append({"prompt": prompt, "forms": shown, "parts": parts})
    told = {
        key: {
            "name": form.name,
            "tokens_per_s": 1 / median(form.seconds) if form.seconds else None,
            "tokens": len(form.seconds),
        }
        for key, form in forms.items()
    }
    return {"forms": told, "prompts": rows, "busy": watch.share()}


def _one(forms: dict[str, Form], prompt: str, most: int, between: Callable[[], None]) -> None:
    ends = {}
    for key, form in forms.items():
        ids = encode(prompt, form.loaded.tokenizer)
        if not ids or (form.scorer.context is not None and len(ids) >= form.scorer.context):
            raise UserError(
                "The prompt has {tokens} tokens, and {name} reads at most {context}, so there's no room to write.",
                hint="Shorten the prompt.",
                tokens=len(ids),
                name=form.name,
                context=form.scorer.context,
            )
        form.ids, form.margins, form.ended, form.fed = [], [], False, ids[-1:]
        held = form.scorer.begin(ids)
        if held < len(ids) - 1:
            read(form.scorer, ids[held:-1], 1, between)
        ends[key] = frozenset(sampling_of(GenerateSpec(workspace="", target=""), form.loaded).eos)
    while live := [key for key, form in forms.items() if not form.ended]:
        between()
        for key in live:
            forms[key].write(ends[key], most)


def parting(before: Form, after: Form) -> dict[str, float] | None:
    """Where the second's tokens part from the first's, and how close the first's decision was there; None where they don't."""
    if before.ids == after.ids:
        return None
    same = zip(before.ids, after.ids, strict=False)
    position = next((i for i, (a, b) in enumerate(same) if a != b), min(len(before.ids), len(after.ids)))
    margins = before.margins if position < len(before.margins) else after.margins
    return {"position": position, "margin": margins[position]}


class _Others:
    """How much of the processors other programs use, from when it's made."""

    def __init__(self) -> None:
        self.own, self.all, self.begun = self._own(), self._all(), time.monotonic()

    @staticmethod
    def _own() -> float:
        times = psutil.Process().cpu_times()
        return times.user + times.system

    @staticmethod
    def _all() -> float:
        times = psutil.cpu_times()
        return sum(times) - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)

    def share(self) -> float:
        room = (time.monotonic() - self.begun) * (psutil.cpu_count() or 1)
        used = self._all() - self.all - (self._own() - self.own)
        return min(max(used / room, 0.0), 1.0) if room > 0 else 0.0
