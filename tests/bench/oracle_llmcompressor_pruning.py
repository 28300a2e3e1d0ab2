"""Run by a Python that has llmcompressor (not Spokeshave's): SparseGPT or Wanda of a folder on given token ids, saved to another folder.

    python oracle_llmcompressor_pruning.py FOLDER IDS.json TO sparsegpt|wanda SPARSITY PATTERN THREADS

IDS.json: a list of windows, each a list of token ids; PATTERN: 0:0 for free, 2:4, 4:8. Prints {"seconds": of the pruning alone,
"cpu": seconds of processor time, "version": ..., "zeros": share} as its last line.
"""

import json
import sys
import time

import torch

folder, ids, to, name, sparsity, pattern, threads = sys.argv[1:8]
torch.set_num_threads(int(threads))

import llmcompressor  # noqa: E402
from datasets import Dataset  # noqa: E402
from llmcompressor import oneshot  # noqa: E402
from llmcompressor.modifiers.pruning import SparseGPTModifier, WandaPruningModifier  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

with open(ids, encoding="utf-8") as handle:
    windows = json.load(handle)
data = Dataset.from_dict({"input_ids": windows, "attention_mask": [[1] * len(w) for w in windows]})
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
settings = {"sparsity": float(sparsity), "mask_structure": pattern, "targets": [type(model.model.layers[0]).__name__]}
recipe = SparseGPTModifier(dampening_frac=0.01, **settings) if name == "sparsegpt" else WandaPruningModifier(**settings)
begun, busy = time.perf_counter(), time.process_time()
oneshot(
    model=model,
    tokenizer=AutoTokenizer.from_pretrained(folder),
    dataset=data,
    recipe=recipe,
    max_seq_length=len(windows[0]),
    num_calibration_samples=len(windows),
)
seconds, cpu = time.perf_counter() - begun, time.process_time() - busy
pruned = [m.weight for n, m in model.named_modules() if isinstance(m, torch.nn.Linear) and n != "lm_head"]
zeros = sum(int((w == 0).sum()) for w in pruned) / sum(w.numel() for w in pruned)
# not its own save_pretrained, which looks for a quantization that isn't there
torch.nn.Module.to(model, torch.bfloat16)
type(model).save_pretrained(model, to, save_compressed=False)
print(json.dumps({"seconds": seconds, "cpu": cpu, "version": llmcompressor.__version__, "zeros": zeros}))
