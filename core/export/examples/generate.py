"""Continues a text with the model in this folder: python example.py "Once upon a time" [tokens]

Needs numpy, onnxruntime and tokenizers: pip install numpy onnxruntime tokenizers
Greedy: each token is the most likely one. Keys and values of earlier tokens are kept, so that each step computes one token only.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

FOLDER = Path(__file__).resolve().parent


def ends() -> set[int]:
    """Ids of the tokens that end a text."""
    for name in ("generation_config.json", "config.json"):
        if (FOLDER / name).is_file():
            found = json.loads((FOLDER / name).read_text(encoding="utf-8")).get("eos_token_id")
            if found is not None:
                return set(found) if isinstance(found, list) else {found}
    return set()


def generate(prompt: str, tokens: int) -> str:
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    # other processors: onnxruntime.get_available_providers() names those that this installation has
    session = onnxruntime.InferenceSession(str(next(FOLDER.rglob("*.onnx"))), providers=["CPUExecutionProvider"])
    inputs = {i.name: i for i in session.get_inputs()}
    names = [o.name for o in session.get_outputs()]
    types = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
    value = onnxruntime.OrtValue.ortvalue_from_numpy  # keys and values stay in onnxruntime's memory from step to step
    past = [(n, i) for n, i in inputs.items() if n.startswith("past_key_values.")]
    cache = {n: value(np.zeros((1, i.shape[1], 0, i.shape[3]), types[i.type])) for n, i in past}
    ids = tokenizer.encode(prompt).ids
    if not ids:
        sys.exit("The prompt is empty: give a word at least.")
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    context = config.get("max_position_embeddings") or config.get("n_positions") or len(ids) + tokens
    if len(ids) >= context:
        sys.exit(f"The prompt has {len(ids)} tokens, and this model reads {context} at most.")
    tokens = min(tokens, context - len(ids))
    given, fed = len(ids), np.array([ids], np.int64)  # (1, new)
    while len(ids) < given + tokens:
        feeds = {
            "input_ids": value(fed),
            "attention_mask": value(np.ones((1, len(ids)), np.int64)),
            "position_ids": value(np.arange(len(ids) - fed.shape[1], len(ids))[None]),
            **cache,
        }
        found = dict(zip(names, session.run_with_ort_values(names, {n: feeds[n] for n in inputs}), strict=True))
        cache = {n: found[n.replace("past_key_values.", "present.")] for n in cache}
        ids.append(int(found["logits"].numpy()[0, -1].argmax()))
        if ids[-1] in ends():
            break
        fed = np.array([ids[-1:]], np.int64)
    return tokenizer.decode(ids[given:])


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit()
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if len(sys.argv) > 2 and not sys.argv[2].isdecimal():
        sys.exit(f"{sys.argv[2]} isn't a number of tokens.")
    print(generate(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 64))
