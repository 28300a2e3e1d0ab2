"""What's exported opens in other people's libraries and generates the same tokens, where these are installed.

SPOKESHAVE_OPTIMUM: a Python that has optimum, which pins a transformers of its own. SPOKESHAVE_TRANSFORMERS_JS: a folder whose
node_modules hold @huggingface/transformers. onnxruntime-genai has a file of its own (test_genai).
"""

import json
import os
import subprocess

import pytest

from core.export.onnx import export
from core.export.runtime import OnnxGenerator
from core.records import OnnxOptions
from core.run import Run
from tests.conftest import make_pico
from tests.core.export.test_onnx import quantized

OPTIMUM = """
import json, sys
import torch
from optimum.onnxruntime import ORTModelForCausalLM
model = ORTModelForCausalLM.from_pretrained(sys.argv[1], use_io_binding=False)
ids = torch.tensor([json.loads(sys.argv[2])])
made = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=24, do_sample=False, pad_token_id=0)
print(json.dumps(made[0, ids.shape[1]:].tolist()))
"""
TRANSFORMERS_JS = """
import { AutoModelForCausalLM, AutoTokenizer, env } from '@huggingface/transformers';
env.allowRemoteModels = false;
env.localModelPath = process.argv[2];
const tokenizer = await AutoTokenizer.from_pretrained('out');
const model = await AutoModelForCausalLM.from_pretrained('out');
const inputs = tokenizer(process.argv[3]);
const made = await model.generate({ ...inputs, max_new_tokens: 24, do_sample: false });
console.log(JSON.stringify(made.tolist()[0].slice(inputs.input_ids.dims[1]).map(Number)));
"""


def said(command: list[str], **more) -> list[int]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture
def source(tmp_path):
    return make_pico(tmp_path / "model", hidden=64, seed=1)


@pytest.mark.parametrize("profile", ["portable", "fast"])
def test_optimum(source, tmp_path, profile):
    python = os.environ.get("SPOKESHAVE_OPTIMUM")
    if not python:
        pytest.skip("SPOKESHAVE_OPTIMUM names no Python that has optimum")
    export(source, tmp_path / "out", Run(), options=OnnxOptions(profile=profile))
    wanted = OnnxGenerator(tmp_path / "out").generate("the old sailor", 24)
    assert said([python, "-c", OPTIMUM, str(tmp_path / "out"), json.dumps(wanted["prompt_ids"])]) == wanted["ids"]
    assert len(wanted["ids"]) >= 20


@pytest.mark.parametrize("bits", [None, 4, 8])
def test_transformers_js(source, tmp_path, bits):
    """It chooses the file by its name and the precision that config.json names, and wants positions and padded batches."""
    home = os.environ.get("SPOKESHAVE_TRANSFORMERS_JS")
    if not home:
        pytest.skip("SPOKESHAVE_TRANSFORMERS_JS names no folder that has @huggingface/transformers")
    folder = quantized(source, tmp_path / "quantized", lambda name: (bits, 16, True)) if bits else source
    export(folder, tmp_path / "out", Run(), options=OnnxOptions(layout="transformers.js"))
    wanted = OnnxGenerator(tmp_path / "out").generate("the old sailor", 24)
    script = tmp_path / "script.mjs"
    script.write_text(TRANSFORMERS_JS)
    (tmp_path / "node_modules").symlink_to(os.path.join(home, "node_modules"))
    assert said(["node", str(script), str(tmp_path), "the old sailor"]) == wanted["ids"]
    assert len(wanted["ids"]) >= 20
