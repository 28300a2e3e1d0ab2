"""Run by itself as a script (by verify.py): reloads a saved folder as anyone would, and writes what it computes.

It imports torch and transformers (and psutil, to see its own memory; for a diffusion model, diffusers) and nothing of Spokeshave, so that
what it finds is what every user of the folder will find. Each line on standard input is a JSON task {folder, auto, ids, threads, to,
remote_code}; the answer is a JSON file beside `to`, which holds the outputs; `resident` in it is what loading and the
first forward added to the process's resident memory. It ends when its input ends.
"""

import json
import os
import sys
import traceback

import psutil
import torch
import transformers
from safetensors.torch import save_file

torch.set_num_interop_threads(1)
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def probe(task):
    torch.set_num_threads(task["threads"])
    auto = getattr(transformers, task["auto"])
    before = psutil.Process().memory_info().rss
    model, report = auto.from_pretrained(
        task["folder"],
        dtype=torch.float32,
        output_loading_info=True,
        local_files_only=True,
        trust_remote_code=task["remote_code"],
    )
    kept = {key: sorted(map(str, report[key])) for key in ("missing_keys", "unexpected_keys", "mismatched_keys") if report.get(key)}
    model.eval()
    ids = torch.tensor(task["ids"])
    both = {"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}
    with torch.no_grad():
        out = model(input_ids=ids, **both)
    resident = psutil.Process().memory_info().rss - before
    out = out.logits if "logits" in out else out.last_hidden_state
    save_file({"out": out.float().contiguous()}, task["to"])
    return {"keys": kept, "resident": resident}


def probe_pipeline(task):
    from diffusers import UNet2DModel

    torch.set_num_threads(task["threads"])
    before = psutil.Process().memory_info().rss
    unet, report = UNet2DModel.from_pretrained(task["pipeline"], subfolder="unet", output_loading_info=True, local_files_only=True)
    kept = {key: sorted(map(str, report[key])) for key in ("missing_keys", "unexpected_keys", "mismatched_keys") if report.get(key)}
    with open(os.path.join(task["pipeline"], "scheduler", "scheduler_config.json"), encoding="utf-8") as handle:
        total = json.load(handle).get("num_train_timesteps", 1000)
    unet.float().eval()
    size = unet.config.sample_size
    height, width = (size, size) if isinstance(size, int) else size
    z = torch.randn(3, unet.config.in_channels, height, width, generator=torch.Generator().manual_seed(7))
    classes = {} if unet.class_embedding is None else {"class_labels": torch.arange(3) % unet.class_embedding.num_embeddings}
    with torch.no_grad():
        out = unet(z, torch.tensor([0, total // 2, total - 1]), **classes).sample
    resident = psutil.Process().memory_info().rss - before
    save_file({"out": out.contiguous()}, task["to"])
    return {"keys": kept, "resident": resident}


for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = probe_pipeline(asked) if "pipeline" in asked else probe(asked)
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    with open(asked["to"] + ".part", "w", encoding="utf-8") as handle:
        json.dump(answer, handle)
    os.replace(asked["to"] + ".part", asked["to"] + ".json")
