"""The main job on SmolLM2-135M (GGUF), through the command line only, as a person would.

Each figure is what `spokeshave-cli --json` printed; the reload is done by a plain transformers process.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import resources

pytestmark = [pytest.mark.shelf, pytest.mark.slow, pytest.mark.timeout(1800)]
ROOT = Path(__file__).parents[2]
TOKENS = 4096

PLAIN = """
import json, sys, torch, transformers
folder, ids = sys.argv[1], json.loads(sys.argv[2])
model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
assert not any(name.split(".")[0] in ("core", "app") for name in sys.modules)
with torch.no_grad():
    logits = model(torch.tensor([ids])).logits[0].float()
torch.save(logits, sys.argv[3])
"""


def cli(*words: object) -> dict:
    done = subprocess.run([sys.executable, "-m", "core", *map(str, words), "--json"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("shelf") / "bench"


@pytest.fixture(scope="module")
def original(home, shelf) -> dict:
    return cli("import", shelf / "smollm2-135m.gguf", "-w", home, "--no-measure")


@pytest.fixture(scope="module")
def made(home, original) -> dict[str, dict]:
    settings = {
        "int8": ("rtn", "bits=8", "granularity=channel"),
        "int4": ("rtn", "bits=4", "granularity=group", "group_size=128"),
        "half": ("magnitude", "sparsity=0.5", "scope=layer"),
    }
    out = {}
    for name, (method, *knobs) in settings.items():
        words = [w for k in knobs for w in ("--set", k)]
        out[name] = cli("apply", method, "-w", home, "--variant", original["id"], "--name", name, *words)
    return out


@pytest.fixture(scope="module")
def scored(home, original, made) -> dict[str, dict]:
    common = ("-w", home, "--text", resources.HELDOUT_TEXT, "--max-tokens", TOKENS, "--reference", original["id"])
    return {name: cli("evaluate", "--variant", row["id"], *common) for name, row in (made | {"original": original}).items()}


def test_the_original_is_itself(original, scored):
    assert original["parameters"] == 134_515_008
    assert scored["original"]["kl"] < 1e-9
    assert scored["original"]["agreement"] == 1.0


def test_int8_is_as_good_and_small(original, made, scored):
    assert abs(scored["int8"]["perplexity"] / scored["original"]["perplexity"] - 1) < 0.005
    assert scored["int8"]["kl"] < 0.01
    assert made["int8"]["bytes_on_disk"] <= 0.62 * original["bytes_on_disk"]


def test_int4_falls_back_to_a_group_that_divides_and_says_so(made, scored):
    """128 doesn't divide 576; what was measured for symmetric groups of 32 and 128 bounds what 64 must give.

    Perplexity 36.7 and 43.6 against 27.9 (as ratios, since another text has other absolutes), KL .36 and .55.
    """
    assert any("64" in note and "128" in note for note in made["int4"]["notes"])
    ratio = scored["int4"]["perplexity"] / scored["original"]["perplexity"]
    assert 36.7 / 27.9 < ratio < 43.6 / 27.9
    assert 0.36 < scored["int4"]["kl"] < 0.55
    assert made["int4"]["effective_bits"] < 7.2


def test_magnitude_per_layer_is_worse_by_an_order_and_saves_nothing(original, made, scored):
    assert scored["half"]["perplexity"] > 10 * scored["original"]["perplexity"]
    assert abs(made["half"]["bytes_on_disk"] / original["bytes_on_disk"] - 1) < 0.01
    assert made["half"]["nonzero"] < 0.65 * original["parameters"]


@pytest.mark.parametrize("name", ["int8", "int4", "half"])
def test_plain_transformers_reloads_it_with_the_same_logits(name, made, tmp_path):
    import torch

    from core.models.load import load

    loaded = load(made[name]["path"])
    ids = loaded.tokenizer("All the world's a stage, and all the men and women merely players.")["input_ids"]
    with torch.no_grad():
        ours = loaded.model(torch.tensor([ids])).logits[0].float()
    to = tmp_path / "logits.pt"
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {"HF_HUB_OFFLINE": "1"}
    subprocess.run([sys.executable, "-c", PLAIN, made[name]["path"], json.dumps(ids), str(to)], check=True, cwd=tmp_path, env=env)
    theirs = torch.load(to)
    assert (ours - theirs).abs().max() <= 1e-4
    assert torch.equal(ours.argmax(-1), theirs.argmax(-1))


@pytest.mark.parametrize("prompt", ["Once upon a time", "def fibonacci(n):", "The capital of France is"])
def test_the_int8_copy_as_a_draft_changes_no_token(home, original, made, prompt):
    common = ("-w", home, "--target", original["id"], "--prompt", prompt, "--max-new-tokens", 64)
    plain = cli("generate", *common)
    drafted = cli("generate", *common, "--draft", made["int8"]["id"], "--gamma", 4)
    looked_up = cli("generate", *common, "--ngram", "--gamma", 4)
    assert drafted["token_ids"] == plain["token_ids"] == looked_up["token_ids"]
    assert drafted["accepted"] / drafted["tested"] > 0.85


def test_the_export_agrees_with_torch(home, original, tmp_path):
    report = cli("export-onnx", "-w", home, "--variant", original["id"], "--to", tmp_path / "onnx")["report"]
    assert report["max_abs"] <= 1e-3
    assert report["top1"] == 1.0
    assert report["tokens"] >= 256


def test_the_encoder_comes_in_is_quantized_and_compared(shelf, tmp_path):
    home = tmp_path / "encoder"
    model = cli("import", shelf / "minilm-l6", "-w", home)
    assert model["parameters"] > 22_000_000
    small = cli("apply", "rtn", "-w", home, "--variant", model["id"], "--set", "bits=8", "--measure")
    cosine = next(m for m in small["measurements"] if m["kind"] == "cosine")
    assert cosine["value"] > 0.995
    assert small["bytes_on_disk"] < model["bytes_on_disk"]
