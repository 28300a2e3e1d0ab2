"""Run by a Python that has llmcompressor (not Spokeshave's): GPTQ of a folder on given token ids, saved to another folder.

    python oracle_llmcompressor.py FOLDER IDS.json TO SYMMETRIC GROUP THREADS

IDS.json: a list of windows, each a list of token ids. Prints {"seconds": of the compression alone, "version": ...} as its last line.
"""

import json
import sys
import time

import torch

folder, ids, to, symmetric, group, threads = sys.argv[1:7]
torch.set_num_threads(int(threads))

import llmcompressor  # noqa: E402
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme  # noqa: E402
from datasets import Dataset  # noqa: E402
from llmcompressor import oneshot  # noqa: E402
from llmcompressor.modifiers.gptq import GPTQModifier  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

with open(ids, encoding="utf-8") as handle:
    windows = json.load(handle)
data = Dataset.from_dict({"input_ids": windows, "attention_mask": [[1] * len(w) for w in windows]})
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
weights = QuantizationArgs(
    num_bits=4, type="int", symmetric=symmetric == "True", strategy="group", group_size=int(group), actorder="static"
)
scheme = QuantizationScheme(targets=["Linear"], weights=weights)
recipe = GPTQModifier(config_groups={"group_0": scheme}, ignore=["lm_head"], dampening_frac=0.01)
begun = time.perf_counter()
oneshot(
    model=model,
    tokenizer=AutoTokenizer.from_pretrained(folder),
    dataset=data,
    recipe=recipe,
    max_seq_length=len(windows[0]),
    num_calibration_samples=len(windows),
)
seconds = time.perf_counter() - begun
model.to(torch.bfloat16).save_pretrained(to, save_compressed=True)
print(json.dumps({"seconds": seconds, "version": llmcompressor.__version__}))
