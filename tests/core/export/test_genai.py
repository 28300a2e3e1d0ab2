"""What lies beside a graph for onnxruntime-genai, and that it generates the same tokens from it, where it's installed."""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from core.export.genai import genai_config
from core.export.onnx import export
from core.export.runtime import CausalSession, open_session, read_graph
from core.export.trace import Signature
from core.records import OnnxOptions
from core.run import Run
from tests.conftest import make_pico

ASK = """
import json, sys
import onnxruntime_genai as og
model = og.Model(sys.argv[1])
asked = og.GeneratorParams(model)
asked.set_search_options(max_length=int(sys.argv[2]), do_sample=False)
made = og.Generator(model, asked)
made.append_tokens(json.loads(sys.argv[3]))
found = []
while not made.is_done():
    made.generate_next_token()
    found.append(int(made.get_next_tokens()[0]))
print(json.dumps(found))
"""


def test_every_name_is_the_graphs(exported):
    folder, _ = exported
    settings = json.loads((folder / "genai_config.json").read_text())
    decoder = settings["model"]["decoder"]
    graph = read_graph(folder).graph
    inputs, outputs = {v.name for v in graph.input}, {v.name for v in graph.output}
    layers = range(decoder["num_hidden_layers"])
    named = {decoder["inputs"][key] for key in ("input_ids", "attention_mask", "position_ids")}
    named |= {decoder["inputs"][f"past_{leaf}_names"] % i for leaf in ("key", "value") for i in layers}
    assert named == inputs
    assert {decoder["outputs"][f"present_{leaf}_names"] % i for leaf in ("key", "value") for i in layers} | {"logits"} == outputs
    assert (folder / decoder["filename"]).is_file()
    assert (decoder["num_key_value_heads"], decoder["head_size"]) == (2, 8)
    assert settings["model"]["vocab_size"] == 300
    assert settings["search"]["max_length"] == 256  # the model's context
    assert not settings["search"]["past_present_share_buffer"]


def test_what_a_model_doesn_t_say_has_a_default(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"n_embd": 32, "n_head": 4}))
    (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": [7, 9], "temperature": None}))
    signature = Signature({"input_ids": (1, "sequence"), "past_key_values.0.key": (1, 4, "past", 8)}, {"logits": (1, "sequence", 50)})
    settings = genai_config(tmp_path, signature, None)
    assert settings["model"]["eos_token_id"] == [7, 9]
    assert settings["model"]["pad_token_id"] == 7
    assert settings["search"]["temperature"] == 1.0
    assert "position_ids" not in settings["model"]["decoder"]["inputs"]


def test_memory_is_shared_where_the_cache_is_kept_in_place_and_layers_are_alike(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"hidden_size": 64, "num_attention_heads": 4}))
    inputs = {f"past_key_values.{i}.{leaf}": (1, 2, "past", 16) for i in range(2) for leaf in ("key", "value")}
    logits = {"logits": (1, "sequence", 50)}
    shared = lambda inputs, in_place: genai_config(tmp_path, Signature(inputs, logits), 64, in_place)["search"]["past_present_share_buffer"]
    assert shared(inputs, True)
    assert not shared(inputs, False)
    assert not shared(inputs | {"past_key_values.1.key": (1, 1, "past", 16)}, True)  # it takes as much for each layer


@pytest.mark.parametrize("profile", ["portable", "fast"])
def test_genai_generates_the_same_tokens(exported, profile, tmp_path):
    """SPOKESHAVE_GENAI: a Python that has onnxruntime-genai, where this one hasn't."""
    python = os.environ.get("SPOKESHAVE_GENAI") or (sys.executable if importlib.util.find_spec("onnxruntime_genai") else "")
    if not python:
        pytest.skip("onnxruntime-genai isn't installed, and SPOKESHAVE_GENAI names no Python that has it")
    folder = exported[0]
    if profile == "fast":
        folder = tmp_path / "out"
        export(make_pico(tmp_path / "wide", hidden=64, seed=4), folder, Run(), options=OnnxOptions(profile="fast"))
        assert json.loads((folder / "genai_config.json").read_text())["search"]["past_present_share_buffer"]
    ids, length = [5, 80, 131, 9, 44], 30
    said = subprocess.run([python, "-c", ASK, str(folder), str(length), json.dumps(ids)], capture_output=True, text=True, check=True)
    found = json.loads(said.stdout)
    causal = CausalSession(open_session(folder))
    fed, cache, wanted = np.array([ids]), causal.empty(1), []
    while len(wanted) < len(found):
        logits, cache = causal.step(fed, np.ones((1, len(ids) + len(wanted)), np.int64), cache)
        wanted.append(int(logits[0, -1].argmax()))
        fed = np.array([wanted[-1:]])
    assert len(found) >= 20
    assert found == wanted
