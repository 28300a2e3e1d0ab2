"""Run by itself as a script (by gguf.py): reads a GGUF file as anyone would with plain transformers, and writes what it computes.

It imports torch, transformers and numpy and nothing of Spokeshave. Its argument is a JSON task {file, ids, text, config, threads,
to}; the answer is the folder `to`: logits.npy and answer.json. Of the settings in `config` (the model's own), those that
transformers took otherwise from the file are put right before the weights are loaded, and named in the answer.
"""

import json
import math
import sys
import traceback
from pathlib import Path

import numpy as np
import torch
import transformers

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def same(a, b):
    if isinstance(a, float) or isinstance(b, float):  # the file keeps 32 bits of each
        return isinstance(a, (int, float)) and isinstance(b, (int, float)) and math.isclose(a, b, rel_tol=1e-6)
    if isinstance(a, dict) and isinstance(b, dict):
        return all(same(a.get(k), b.get(k)) for k in {*a, *b})
    return a == b


def probe(task):
    torch.set_num_threads(task["threads"])
    path, to = Path(task["file"]), Path(task["to"])
    where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name, "local_files_only": True}
    config = transformers.AutoConfig.from_pretrained(**where)
    corrected = []
    for name, value in task["config"].items():
        known = hasattr(config, name) or name == "head_dim"  # Qwen2 heeds one where it's given, and has none by default
        if known and not same(getattr(config, name, None), value):
            setattr(config, name, value)
            corrected.append(name)
    model, report = transformers.AutoModelForCausalLM.from_pretrained(**where, config=config, dtype=torch.float32, output_loading_info=True)
    model.eval()
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([task["ids"]])).logits[0].float().numpy()
    np.save(to / "logits.npy", logits)
    answer = {
        "corrected": corrected,
        "keys": {k: sorted(map(str, report[k])) for k in ("missing_keys", "mismatched_keys") if report.get(k)},
    }
    if task["text"]:
        tokenizer = transformers.AutoTokenizer.from_pretrained(**where)
        answer["tokens"] = tokenizer(task["text"], add_special_tokens=False)["input_ids"]
    return answer


if __name__ == "__main__":
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        found = probe(asked)
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    Path(asked["to"], "answer.json").write_text(json.dumps(found), encoding="utf-8")
