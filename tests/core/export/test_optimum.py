"""What's exported opens in optimum, which pins a transformers of its own: SPOKESHAVE_OPTIMUM names a Python that has it."""

import json
import os
import subprocess

import pytest

from core.export.onnx import export
from core.export.runtime import OnnxGenerator
from core.records import OnnxOptions
from core.run import Run
from tests.conftest import make_pico

ASK = """
import json, sys
import torch
from optimum.onnxruntime import ORTModelForCausalLM
model = ORTModelForCausalLM.from_pretrained(sys.argv[1], use_io_binding=False)
ids = torch.tensor([json.loads(sys.argv[2])])
made = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=24, do_sample=False, pad_token_id=0)
print(json.dumps(made[0, ids.shape[1]:].tolist()))
"""


@pytest.mark.parametrize("profile", ["portable", "fast"])
def test_optimum_generates_the_same_tokens(tmp_path, profile):
    python = os.environ.get("SPOKESHAVE_OPTIMUM")
    if not python:
        pytest.skip("SPOKESHAVE_OPTIMUM names no Python that has optimum")
    export(make_pico(tmp_path / "model", hidden=64, seed=1), tmp_path / "out", Run(), options=OnnxOptions(profile=profile))
    wanted = OnnxGenerator(tmp_path / "out").generate("the old sailor", 24)
    said = subprocess.run([python, "-c", ASK, str(tmp_path / "out"), json.dumps(wanted["prompt_ids"])], capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout) == wanted["ids"]
    assert len(wanted["ids"]) >= 20
