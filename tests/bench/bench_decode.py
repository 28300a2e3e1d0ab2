"""Decoding speed beside transformers' own: python -m tests.bench.bench_decode [TARGET DRAFT] [options]

Prints tokens/s (medians of interleaved repeats) of transformers' generate, its assisted generation with the same draft,
its prompt lookup, and Spokeshave plain, with the draft and with n-grams; then ratios, T(n), and what collecting a
round's details costs. Greedy, float32. --cpu-time measures processor time, for a machine that others use too; it's
only meaningful with --threads 1. Asserts nothing about time.
"""

from __future__ import annotations

import argparse
import copy
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.pieces import Pieces
from core.decode.policy import Fixed
from core.decode.products import faster_products
from core.decode.propose import DraftModel, NGram, Nobody
from core.decode.sampling import Sampling
from core.decode.stats import possible_speedup

STARTER = Path(__file__).parents[2] / "resources" / "starter"
PARAGRAPH = "The committee met on Tuesday and agreed that the harbour wall should be repaired before the winter storms arrive. "
PROMPTS = {"prose": "First Citizen: the king of England said to his men that they should", "copying": PARAGRAPH * 3}


def load(path: str):
    path = Path(path)
    settings = {"gguf_file": path.name} if path.suffix == ".gguf" else {}
    folder = path.parent if settings else path
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **settings).eval().requires_grad_(False)
    return model, AutoTokenizer.from_pretrained(folder, **settings)


def rounded(model):
    """A copy with every block's weights rounded to 8 bits a channel: the draft of the same cost that's almost always right."""
    model = copy.deepcopy(model)
    with torch.no_grad():
        for name, module in model.named_modules():
            if isinstance(module, torch.nn.Linear) and "lm_head" not in name:
                scale = module.weight.abs().amax(1, keepdim=True) / 127
                module.weight.copy_((module.weight / scale).round().clamp(-127, 127) * scale)
    return model


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("target", nargs="?", default=str(STARTER / "shakespeare-7m"))
    arguments.add_argument("draft", nargs="?", default=str(STARTER / "shakespeare-1m"), help="a folder, or 'int8' for a rounded copy")
    arguments.add_argument("--gamma", type=int, default=3)
    arguments.add_argument("--tokens", type=int, default=64)
    arguments.add_argument("--repeats", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=torch.get_num_threads())
    arguments.add_argument("--cpu-time", action="store_true")
    arguments.add_argument("--prompt", choices=sorted(PROMPTS), help="only this one")
    given = arguments.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    torch.set_num_threads(given.threads)
    logging.set_verbosity_error()
    clock = process_time if given.cpu_time else perf_counter
    target, tokenizer = load(given.target)
    draft = rounded(target) if given.draft == "int8" else load(given.draft)[0]
    pieces, sampling = Pieces(tokenizer), Sampling(max_new_tokens=given.tokens)

    def theirs(prompt, **more):
        begun = clock()
        out = target.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=given.tokens,
            min_new_tokens=given.tokens,
            do_sample=False,
            pad_token_id=0,
            **more,
        )
        return given.tokens / (clock() - begun), out[0, prompt.shape[1] :].tolist(), None

    def ours(prompt, proposer, gamma, details=True):
        begun = clock()
        ids = prompt[0].tolist()
        decoding = Decoding(
            CachedModel(target), ids, sampling=sampling, proposer=proposer(), policy=Fixed(gamma), pieces=pieces, details=details
        )
        for _ in decoding.rounds():
            pass
        return given.tokens / (clock() - begun), decoding.history.ids[len(ids) :], decoding

    def assisted(prompt):
        draft.generation_config.num_assistant_tokens = given.gamma
        draft.generation_config.num_assistant_tokens_schedule = "constant"
        draft.generation_config.assistant_confidence_threshold = 0.0
        return theirs(prompt, assistant_model=draft)

    drafting = lambda: DraftModel(CachedModel(draft), sampling)
    ways = {
        "transformers generate": lambda x: theirs(x),
        "transformers assisted": assisted,
        "transformers prompt lookup": lambda x: theirs(x, prompt_lookup_num_tokens=given.gamma + 4),
        "spokeshave plain": lambda x: ours(x, Nobody, 0),
        "spokeshave plain, no details": lambda x: ours(x, Nobody, 0, False),
        "spokeshave draft": lambda x: ours(x, drafting, given.gamma),
        "spokeshave draft, no details": lambda x: ours(x, drafting, given.gamma, False),
        "spokeshave n-gram": lambda x: ours(x, NGram, given.gamma + 4),
    }
    fast = {1, 2, 4, given.gamma + 1, given.gamma + 5}
    for title, text in PROMPTS.items():
        if given.prompt not in (None, title):
            continue
        prompt = torch.tensor([tokenizer(text)["input_ids"]])
        speeds, ids, last = {name: [] for name in ways}, {}, {}
        for repeat in range(given.repeats + 1):  # the first warms up
            for name, way in ways.items():
                with faster_products([target, draft] if name.startswith("spokeshave") else [], fast):
                    speed, ids[name], last[name] = way(prompt)
                if repeat:
                    speeds[name].append(speed)
        middle = {name: median(values) for name, values in speeds.items()}
        plain, own = middle["transformers generate"], middle["spokeshave plain"]
        print(f"\n{title}: {prompt.shape[1]} tokens of prompt, {given.tokens} new, gamma {given.gamma}, {given.threads} threads")
        print(f"{'':30} {'tokens/s':>9} {'x generate':>11} {'x own plain':>11}  spread        same ids")
        for name, speed in middle.items():
            spread = f"{min(speeds[name]):.1f}-{max(speeds[name]):.1f}"
            same = ids[name] == ids["transformers generate"]
            print(f"{name:30} {speed:9.1f} {speed / plain:11.2f} {speed / own:11.2f}  {spread:13} {same}")
        for name in ("spokeshave draft", "spokeshave n-gram"):
            costs, one = last[name].costs, last["spokeshave plain"].costs.target(1)
            possible = possible_speedup(given.tokens, one, costs)
            calls = sum(costs.target_calls.values())
            print(f"{name}: {given.tokens / calls:.2f} tokens a target call, possible {possible:.2f}x own plain (wall clock)")
        table = last["spokeshave n-gram"].costs.table()["target"]
        print("T(n) in ms:", {n: round(1e3 * t, 1) for n, t in table.items()})


if __name__ == "__main__":
    main()
