"""Classifies texts with the model in this folder: python example.py "A fine film." ["A poor one." ...]

Needs numpy, onnxruntime and tokenizers: pip install numpy onnxruntime tokenizers
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

FOLDER = Path(__file__).resolve().parent


def classify(texts: list[str]) -> list[tuple[str, float]]:
    """(label, its probability) for each text; of a model with one output, the label and that number as it is."""
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.enable_padding(pad_id=config.get("pad_token_id") or 0)
    # other processors: onnxruntime.get_available_providers() names those that this installation has
    session = onnxruntime.InferenceSession(str(next(FOLDER.rglob("*.onnx"))), providers=["CPUExecutionProvider"])
    read = tokenizer.encode_batch(texts)
    feeds = {
        "input_ids": np.array([r.ids for r in read], np.int64),  # (texts, tokens)
        "attention_mask": np.array([r.attention_mask for r in read], np.int64),  # 0 where padded
        "token_type_ids": np.array([r.type_ids for r in read], np.int64),
    }
    logits = session.run(["logits"], {i.name: feeds[i.name] for i in session.get_inputs()})[0]  # (texts, labels)
    odds = np.exp(logits - logits.max(-1, keepdims=True))
    shares = odds / odds.sum(-1, keepdims=True) if logits.shape[-1] > 1 else logits
    labels = config.get("id2label") or {}
    return [(labels.get(str(row.argmax()), str(row.argmax())), float(row.max())) for row in shares]


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit()
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for text, (label, share) in zip(sys.argv[1:], classify(sys.argv[1:]), strict=True):
        print(f"{label}\t{share:.4f}\t{text}")
