"""Decoding speed beside transformers' own, over twenty prompts: python -m tests.bench.bench_decode [TARGET] [options]

Ways, interleaved, medians of repeats: transformers' generate, its assisted generation with the same packed copy as the
assistant, its prompt lookup; Spokeshave plain, with each proposer at a fixed gamma and with the adaptive policy. Prompts of
four kinds (chat, prose, code, copying), greedy and at temperature 1, float32; reading the prompt counts. Prints a table for
each kind, the worst prompt of each way against Spokeshave's own plain decoding, what share of the possible speed-up was
reached, and whether greedy ids are transformers' own. --draft FOLDER adds a draft model, on both sides. Asserts nothing
about time.
"""

from __future__ import annotations

import argparse
import copy
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from core.decode.cache import CachedModel
from core.decode.calibrate import measure
from core.decode.engine import Decoding
from core.decode.fast import quicken
from core.decode.lab import COPY
from core.decode.packed_copy import packed_copy
from core.decode.pieces import Pieces
from core.decode.policy import Adaptive, Fixed
from core.decode.propose import DraftModel, NGram, Nobody
from core.decode.sampling import Sampling, Seeded
from core.decode.stats import Costs, possible_speedup

STARTER = Path(__file__).parents[2] / "resources" / "starter"
HARBOUR = "The committee met on Tuesday and agreed that the harbour wall should be repaired before the winter storms arrive."
LEDGER = "Flour, 12 sacks, 3 pounds each; barley, 7 sacks, 2 pounds each; salt, 4 barrels, 9 pounds each; rope, 30 fathoms, 1 pound each."
PROMPTS = {
    "chat": (
        "User: Why does a bicycle stay upright while it moves?\nAssistant:",
        "User: I have an interview tomorrow. How do I calm my nerves?\nAssistant:",
        "User: What is the difference between weather and climate?\nAssistant:",
        "User: Please suggest three things to do in a city when it rains.\nAssistant:",
        "User: How do I boil an egg so that the yolk stays soft?\nAssistant:",
    ),
    "prose": (
        "The lighthouse had stood empty for eleven years when the first letter arrived, and",
        "In the history of medicine, few discoveries changed daily life as much as",
        "She closed the gate behind her, looked once more at the house, and",
        "The river rises in the northern hills and flows for three hundred miles before",
        "Economists have long argued about what causes prices to rise, but",
    ),
    "code": (
        "def is_prime(n):\n    if n < 2:\n        return False\n",
        "import json\n\ndef load_settings(path):\n    with open(path) as file:\n",
        "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n",
        "# Count how often each word occurs in a text\ndef count_words(text):\n    counts = {}\n",
        "for (int i = 0; i < n; i++) {\n    for (int j = 0; j < n; j++) {\n",
    ),
    "copying": (
        f"{HARBOUR} {HARBOUR} {HARBOUR} ",
        f"Text: {LEDGER}\nThe same text again: {LEDGER}\nThe same text again:",
        "x = [1, 2, 3, 4, 5, 6, 7, 8]\ny = [1, 2, 3, 4, 5, 6, 7, 8]\nz = [1, 2, 3, 4, 5, 6, 7, 8]\nw = [",
        f"Original: {HARBOUR}\nCorrected: {HARBOUR}\n\nOriginal: {HARBOUR}\nCorrected:",
        "To be, or not to be, that is the question. To be, or not to be, that is the question. To be, or not to be,",
    ),
}


def load(path: str):
    path = Path(path)
    settings = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
    folder = path.parent if settings else path
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **settings).eval().requires_grad_(False)
    return model, AutoTokenizer.from_pretrained(folder, **settings)


class Bench:
    """The models, and every way to decode with them: a function of (prompt ids, temperature, seed) -> (seconds, ids, Decoding or None)."""

    def __init__(self, given: argparse.Namespace):
        self.given, self.clock = given, process_time if given.cpu_time else perf_counter
        self.peer, self.tokenizer = load(given.target)
        self.target = copy.deepcopy(self.peer)
        print(f"target: {self.target.num_parameters() / 1e6:.1f} M parameters; {quicken(self.target)}")
        self.drafts = {"packed copy": packed_copy(self.target)}
        self.assistants = dict(self.drafts)
        if given.draft:
            self.assistants["draft"] = load(given.draft)[0]
            self.drafts["draft"] = copy.deepcopy(self.assistants["draft"])
            quicken(self.drafts["draft"])
        self.pieces = Pieces(self.tokenizer)
        self.prior = {
            name: measure(CachedModel(self.target), CachedModel(model) if model else None)
            for name, model in {"none": None, **self.drafts}.items()
        }

    def ways(self) -> dict:
        gamma = self.given.gamma
        found = {"transformers generate": self.theirs()}
        for name in self.assistants:
            found[f"transformers assisted, {name}"] = self.theirs(assistant=name)
        found["transformers prompt lookup"] = self.theirs(prompt_lookup_num_tokens=10)
        found["plain"] = self.ours(None, 0)
        for name in self.drafts:
            found[f"{name}, gamma {gamma}"] = self.ours(name, gamma)
            found[f"{name}, adaptive"] = self.ours(name, None)
        found["n-gram, gamma 8"] = self.ours("n-gram", 8)
        found["n-gram, adaptive"] = self.ours("n-gram", None)
        return {name: way for name, way in found.items() if not self.given.only or self.given.only in name or name in KEPT}

    def theirs(self, assistant: str = "", **more):
        tokens = self.given.tokens
        if assistant:
            model = self.assistants[assistant]
            more["assistant_model"] = model
            model.generation_config.num_assistant_tokens = self.given.gamma
            model.generation_config.num_assistant_tokens_schedule = "constant"
            model.generation_config.assistant_confidence_threshold = 0.0

        def way(prompt: list[int], temperature: float, seed: int):
            torch.manual_seed(seed)
            ids = torch.tensor([prompt])
            how = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0} if temperature else {"do_sample": False}
            begun = self.clock()
            out = self.peer.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=tokens,
                min_new_tokens=tokens,
                pad_token_id=0,
                **how,
                **more,
            )
            return self.clock() - begun, out[0, len(prompt) :].tolist(), None

        return way

    def ours(self, drafter: str | None, gamma: int | None):
        def way(prompt: list[int], temperature: float, seed: int):
            eos = self.target.generation_config.eos_token_id
            sampling = Sampling(
                temperature=temperature,
                max_new_tokens=self.given.tokens,
                min_new_tokens=self.given.tokens,
                eos=(eos,) if eos is not None else (),
            )
            begun = self.clock()
            costs = Costs()
            if drafter is None:
                proposer = Nobody()
            elif drafter == "n-gram":
                proposer = NGram()
            else:
                proposer = DraftModel(CachedModel(self.drafts[drafter]), sampling)
            prior = self.prior[drafter if drafter in self.prior else "none"]
            policy = (
                Fixed(gamma)
                if gamma is not None
                else Adaptive(costs, longest=16, prior=prior, catch_up=drafter != "n-gram", **(COPY if drafter == "packed copy" else {}))
            )
            decoding = Decoding(
                CachedModel(self.target),
                prompt,
                sampling=sampling,
                proposer=proposer,
                policy=policy,
                chooser=Seeded(seed),
                pieces=self.pieces,
                costs=costs,
            )
            for _ in decoding.rounds():
                pass
            return self.clock() - begun, decoding.history.ids[len(prompt) :], decoding

        return way


KEPT = ("transformers generate", "plain")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("target", nargs="?", default=str(STARTER / "shakespeare-7m"), help="a folder or a .gguf file")
    arguments.add_argument("--draft", help="a folder with the same tokens")
    arguments.add_argument("--gamma", type=int, default=4)
    arguments.add_argument("--tokens", type=int, default=48)
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments.add_argument("--prompts", type=int, default=5, help="of each kind")
    arguments.add_argument("--kinds", nargs="+", choices=sorted(PROMPTS), default=list(PROMPTS))
    arguments.add_argument("--temperatures", nargs="+", type=float, default=[0.0, 1.0])
    arguments.add_argument("--only", help="ways whose name contains this, beside both plain ones")
    arguments.add_argument("--cpu-time", action="store_true", help="processor time, for a machine that others use; with --threads 1 only")
    given = arguments.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    torch.set_num_threads(given.threads)
    logging.set_verbosity_error()
    bench = Bench(given)
    ways = bench.ways()
    for name, prior in bench.prior.items():
        shown = {
            part: {n: f"{1e3 * t:.1f}" for n, t in table.items()} for part, table in prior.table().items() if part in ("target", "draft")
        }
        print(f"milliseconds of a forward by tokens fed, {name}: {shown}")
    for temperature in given.temperatures:
        for kind in given.kinds:
            compare(bench, ways, kind, temperature)


def compare(bench: Bench, ways: dict, kind: str, temperature: float) -> None:
    """Runs a kind's prompts and prints its table. Ratios are taken within a repeat, so that a busy machine hits both sides."""
    given = bench.given
    speeds, ratios, against, same = (defaultdict(list) for _ in range(4))
    accepted, shares = defaultdict(list), defaultdict(list)
    worst: dict[str, float] = {}
    for text in PROMPTS[kind][: given.prompts]:
        prompt = bench.tokenizer(text)["input_ids"]
        seconds, ids, runs = defaultdict(list), {}, {}
        for repeat in range(given.repeats + 1):  # the first warms up
            for name, way in ways.items():
                spent, ids[name], runs[name] = way(prompt, temperature, repeat)
                if repeat:
                    seconds[name].append(spent)
        for name, spent in seconds.items():
            middle = median(spent)
            speeds[name].append(given.tokens / middle)
            ratios[name].append(median(a / b for a, b in zip(seconds["transformers generate"], spent, strict=True)))
            against[name].append(median(a / b for a, b in zip(seconds["plain"], spent, strict=True)))
            worst[name] = min(worst.get(name, 9e9), against[name][-1])
            same[name].append(ids[name] == ids["transformers generate"])
            run = runs[name]
            if run is None or name == "plain":
                continue
            accepted[name].append(given.tokens / (sum(run.costs.target_calls.values()) + 1))  # the first token came of the prompt's logits
            possible = possible_speedup(given.tokens, runs["plain"].costs.target(1), run.costs)
            if possible:  # the last repeat's own clock, which leaves reading the prompt out on both sides
                shares[name].append(runs["plain"].seconds / run.seconds / possible)
    title = "greedy" if not temperature else f"temperature {temperature:g}"
    print(f"\n{kind}, {title}: {given.prompts} prompts, {given.tokens} new tokens, {given.repeats} repeats, {given.threads} threads")
    print(f"{'':36} {'tokens/s':>9} {'x generate':>11} {'x own plain':>12} {'worst':>6} {'a call':>7} {'of possible':>12}  same ids")
    for name in speeds:
        call = f"{median(accepted[name]):.2f}" if accepted[name] else ""
        share = f"{100 * median(shares[name]):.0f} %" if shares[name] else ""
        ids = f"{sum(same[name])}/{len(same[name])}" if not temperature else ""
        print(
            f"{name:36} {median(speeds[name]):9.1f} {median(ratios[name]):11.2f} {median(against[name]):12.2f} {worst[name]:6.2f}"
            f" {call:>7} {share:>12}  {ids}"
        )


if __name__ == "__main__":
    main()
