"""How much memory an export takes, of a model that has 2 GB in float32: the exporting process and the checking one together."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import torch

ROOT = Path(__file__).resolve().parents[3]
EXPORT = """
import sys
from pathlib import Path
from core.export.onnx import export
from core.records import OnnxOptions
from core.run import Run
report = export(Path(sys.argv[1]), Path(sys.argv[2]), Run(), options=OnnxOptions(profile=sys.argv[3]))
assert report["max_abs"] < 1e-3
"""


def held(process: psutil.Process) -> int:
    """Bytes that a process and its children hold for themselves: pages of files that are mapped can be dropped, and don't count."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            found = one.memory_info()
            total += found.rss - found.shared
        except psutil.NoSuchProcess:
            continue
    return total


@pytest.mark.slow
@pytest.mark.matrix
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("profile", ["portable", "fast"])
def test_an_export_takes_three_times_the_model_at_most(profile, tmp_path):
    from transformers import LlamaConfig, LlamaForCausalLM

    shape = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 4}
    config = LlamaConfig(vocab_size=16_000, **shape, max_position_embeddings=32, tie_word_embeddings=False, eos_token_id=None)
    torch.manual_seed(0)
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    model.to_empty(device="cpu")
    for parameter in model.parameters():
        parameter.data.normal_(0, 0.05)
    size = 4 * sum(p.numel() for p in model.parameters())
    assert 2e9 < size < 2.4e9
    model.to(torch.bfloat16)  # as most are stored: in float32 nothing can stay in the file and be mapped from there
    model.save_pretrained(tmp_path / "model", max_shard_size="1GB")
    del model
    command = [sys.executable, "-c", EXPORT, str(tmp_path / "model"), str(tmp_path / "out"), profile]
    child = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)})
    process, most = psutil.Process(child.pid), 0
    while child.poll() is None:
        most = max(most, held(process))
        time.sleep(0.05)
    assert child.returncode == 0
    print(f"{profile}: {most / 1e9:.2f} GB at most, {most / size:.2f} times the model's {size / 1e9:.2f} GB")
    assert most <= 3 * size
    data = [path for path in (tmp_path / "out").iterdir() if path.stat().st_size > 1_000_000]
    assert all(path.stat().st_size <= 2_000_000_000 for path in data)
    assert len(data) == 2  # the weights are more than one file takes
