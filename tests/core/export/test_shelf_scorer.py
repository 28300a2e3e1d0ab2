"""SmolLM2 by onnxruntime, with its own 8-bit export as the draft: the target's tokens, whoever computes what. Minutes."""

import json
import subprocess
import sys

import pytest
import torch

from core.models.load import load
from core.workspace import Workspace

PROMPT = "The capital of France is"
TOKENS = 64


def command(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "core", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.shelf
@pytest.mark.slow
def test_an_eight_bit_export_drafts_for_torch_and_for_the_exported_model(shelf, tmp_path):
    """Prints alpha, tokens a target call and the speed-up of both pairs."""
    home, dense, packed = (str(tmp_path / name) for name in ("ws", "dense", "packed"))
    source = command("import", str(shelf / "smollm2-135m.gguf"), "-w", home, "--no-measure")
    settings = [part for one in ("bits=8", "granularity=group", "group_size=32", "embeddings=8") for part in ("--set", one)]
    rounded = command("apply", "rtn", "-w", home, "--variant", source, *settings)
    for variant, to in ((source, dense), (rounded, packed)):
        how = ("--profile", "fast", "--activations", "int8", "--json")  # a draft needn't be exact
        report = json.loads(command("export-onnx", "-w", home, "--variant", variant, "--to", to, *how))["report"]
        assert report["profile"] == "fast"
    made = report["contents"]  # each layer multiplies its own codes, and those of one input together
    assert (made["products"]["packed"], made["fused"]["products"]) == (121, 60)
    loaded = load(Workspace(home).path(source), dtype="float32")
    ids = torch.tensor([loaded.tokenizer(PROMPT)["input_ids"]])
    wanted = loaded.model.generate(ids, max_new_tokens=TOKENS, do_sample=False, pad_token_id=0)[0, ids.shape[1] :].tolist()
    common = ["--draft", packed, "--prompt", PROMPT, "--max-new-tokens", str(TOKENS), "--gamma", "4", "--race", "--json"]
    for who, target in (("torch", ["-w", home, "--target", source]), ("onnxruntime", ["--target", dense])):
        found = json.loads(command("generate", *target, *common))
        assert found["ids"] == found["plain"]["ids"] == wanted
        assert found["identical"] is True
        assert found["accepted_of_tested"] > 0.9
        print(
            f"\n{who} with an 8-bit export: kept {found['accepted_of_tested']:.2f}, {found['tokens_per_target_call']:.2f} tokens a call, "
            f"speed-up {found['speedup']:.2f} (possible {found['possible_speedup']:.2f})"
        )
