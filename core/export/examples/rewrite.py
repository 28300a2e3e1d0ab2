"""Answers a text with the model in this folder: python example.py "translate English to German: A good day." [tokens]

Needs numpy, onnxruntime and tokenizers: pip install numpy onnxruntime tokenizers
encoder.onnx reads the text once; decoder.onnx writes the answer token by token, each the most likely one.
"""

import json
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

FOLDER = Path(__file__).resolve().parent


def setting(name: str):
    """What generation_config.json, or else config.json, says."""
    for file in ("generation_config.json", "config.json"):
        if (FOLDER / file).is_file():
            found = json.loads((FOLDER / file).read_text(encoding="utf-8")).get(name)
            if found is not None:
                return found
    return None


def rewrite(text: str, tokens: int) -> str:
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    # other processors: onnxruntime.get_available_providers() names those that this installation has
    encoder, decoder = (
        onnxruntime.InferenceSession(str(FOLDER / f"{part}.onnx"), providers=["CPUExecutionProvider"]) for part in ("encoder", "decoder")
    )
    ids = np.array([tokenizer.encode(text).ids], np.int64)  # (1, source)
    mask = np.ones_like(ids)
    read = [o.name for o in encoder.get_outputs() if o.name.startswith("present.")]
    found = encoder.run(read, {"input_ids": ids, "attention_mask": mask})
    cache = {name.replace("present.", "past_key_values."): state for name, state in zip(read, found, strict=True)}
    own = {i.name: i.shape for i in decoder.get_inputs() if ".decoder." in i.name}
    cache |= {name: np.zeros((1, shape[1], 0, shape[3]), np.float32) for name, shape in own.items()}
    names = [o.name for o in decoder.get_outputs()]
    ends = setting("eos_token_id")
    ends = set(ends) if isinstance(ends, list) else {ends}
    written = [setting("decoder_start_token_id")]
    while len(written) <= tokens:
        fed = np.array([written[-1:]], np.int64)
        made = dict(zip(names, decoder.run(names, cache | {"input_ids": fed, "encoder_attention_mask": mask}), strict=True))
        cache |= {name: made[name.replace("past_key_values.", "present.")] for name in own}
        written.append(int(made["logits"][0, -1].argmax()))
        if written[-1] in ends:
            break
    return tokenizer.decode(written[1:])


if __name__ == "__main__":
    if sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        sys.exit()
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(rewrite(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 64))
