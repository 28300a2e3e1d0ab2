"""Compares texts by the model in this folder: python example.py "A cat sits." "A kitten is sitting." "Stocks fell."

Needs numpy, onnxruntime and tokenizers: pip install numpy onnxruntime tokenizers
A text's vector is the mean of its tokens' vectors, of length 1; the product of two such vectors says how alike they are.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

FOLDER = Path(__file__).resolve().parent


def embed(texts: list[str]) -> np.ndarray:
    """(texts, width), each of length 1."""
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.enable_padding()
    # other processors: onnxruntime.get_available_providers() names those that this installation has
    session = onnxruntime.InferenceSession(str(next(FOLDER.rglob("*.onnx"))), providers=["CPUExecutionProvider"])
    read = tokenizer.encode_batch(texts)
    feeds = {
        "input_ids": np.array([r.ids for r in read], np.int64),  # (texts, tokens)
        "attention_mask": np.array([r.attention_mask for r in read], np.int64),  # 0 where padded
        "token_type_ids": np.array([r.type_ids for r in read], np.int64),
    }
    hidden = session.run(["last_hidden_state"], {i.name: feeds[i.name] for i in session.get_inputs()})[0]  # (texts, tokens, width)
    mask = feeds["attention_mask"][..., None]
    means = (hidden * mask).sum(1) / mask.sum(1)
    return means / np.linalg.norm(means, axis=-1, keepdims=True)


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit()
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for row in embed(sys.argv[1:]) @ embed(sys.argv[1:]).T:
        print("\t".join(f"{value:.3f}" for value in row))
