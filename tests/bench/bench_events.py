"""What telling of every round costs: python -m tests.bench.bench_events [TARGET] [--tokens N]

The decode lab's job with its events sent as a worker sends them (every round's probabilities collected, pickled, written to a pipe that
another process reads), and with nothing collected or sent; interleaved, processor time of the whole process, medians. Asserts nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from statistics import median
from time import process_time

import torch

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.fast import quicken
from core.decode.packed_copy import packed_copy
from core.decode.pieces import Pieces
from core.decode.policy import Fixed
from core.decode.propose import DraftModel, Nobody
from core.decode.sampling import Sampling, Seeded
from core.events import RoundTaken
from core.models import load
from core.worker.pipe import Sender
from tests.bench.bench_decode import PROMPTS, STARTER


def drain(conn) -> None:
    try:
        while conn.recv() is not None:
            pass
    except EOFError:
        pass


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("target", nargs="?", default=str(STARTER / "shakespeare-7m"), help="a folder")
    arguments.add_argument("--tokens", type=int, default=96)
    arguments.add_argument("--repeats", type=int, default=7)
    given = arguments.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    torch.set_num_threads(1)
    loaded = load.load(given.target, dtype="float32")
    model, pieces = loaded.model, Pieces(loaded.tokenizer)
    quicken(model)
    draft = packed_copy(model)
    prompt = loaded.tokenizer(PROMPTS["chat"][0])["input_ids"]
    here, there = multiprocessing.Pipe()
    reader = multiprocessing.get_context("spawn").Process(target=drain, args=(there,), daemon=True)
    reader.start()
    there.close()
    sender = Sender(here)
    sender.start()

    def decode(gamma: int, temperature: float, told: bool) -> float:
        sampling = Sampling(temperature=temperature, max_new_tokens=given.tokens)
        proposer = DraftModel(CachedModel(draft), sampling) if gamma else Nobody()
        decoding = Decoding(
            CachedModel(model),
            prompt,
            sampling=sampling,
            proposer=proposer,
            policy=Fixed(gamma),
            chooser=Seeded(0),
            pieces=pieces,
            details=told,
        )
        begun = process_time()
        for taken in decoding.rounds():
            if told:
                sender.put(RoundTaken("bench", "speculative", taken))
        return (process_time() - begun) / decoding.history.new

    print(f"{given.target}: {given.tokens} tokens, {given.repeats} repeats, 1 thread, processor milliseconds a token")
    print(f"{'':28} {'silent':>8} {'told':>8} {'more':>7}")
    for title, gamma, temperature in (
        ("plain, greedy", 0, 0.0),
        ("packed copy, greedy", 4, 0.0),
        ("plain, temperature 1", 0, 1.0),
        ("packed copy, temperature 1", 4, 1.0),
    ):
        spent = {True: [], False: []}
        for repeat in range(given.repeats + 1):
            for told in (False, True):
                seconds = decode(gamma, temperature, told)
                if repeat:
                    spent[told].append(seconds)
        more = median(b / a for a, b in zip(spent[False], spent[True], strict=True)) - 1
        print(f"{title:28} {1e3 * median(spent[False]):8.2f} {1e3 * median(spent[True]):8.2f} {100 * more:6.1f} %")
    sender.close()
    here.close()
    reader.join(5)


if __name__ == "__main__":
    main()
