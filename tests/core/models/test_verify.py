"""The plain process: what it finds wrong, and that it's gone afterwards."""

import ast
import json
from pathlib import Path

import psutil
import pytest
import torch
from safetensors.torch import load_file, save_file

from core.errors import Cancelled, UserError
from core.models import verify
from core.models.load import load
from core.models.verify import Verifier, in_float32_on_cpu, probe_ids
from core.run import Run


def test_the_probe_knows_nothing_of_spokeshave():
    tree = ast.parse(Path(verify.__file__).with_name("reload_probe.py").read_text())
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [n for n in names if n.startswith(("core", "app", "resources"))]


@pytest.mark.cold
def test_another_model_is_told(verifier, pico_llama, copy_of):
    folder = copy_of(pico_llama)
    state = load_file(folder / "model.safetensors")
    state["model.layers.0.mlp.up_proj.weight"][0] *= 1.05
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match="gives other numbers") as caught:
        verifier.check(folder, load(pico_llama).model, Run())
    assert caught.value.kind == "check"
    assert verifier.check(pico_llama, load(pico_llama).model, Run()) == 0.0  # and the process lives on


def test_missing_weights_are_told(verifier, pico_llama, copy_of):
    folder = copy_of(pico_llama)
    state = load_file(folder / "model.safetensors")
    del state["model.layers.0.mlp.up_proj.weight"]
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match="not all of its weights fit") as caught:
        verifier.check(folder, load(pico_llama).model, Run())
    assert "up_proj" in caught.value.detail


def test_a_folder_that_doesn_t_load(verifier, pico_llama, copy_of):
    folder = copy_of(pico_llama)
    (folder / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(UserError, match="doesn't reload in plain transformers") as caught:
        verifier.check(folder, load(pico_llama).model, Run())
    assert "Traceback" in caught.value.detail


def test_nan_is_a_mismatch():
    nan = torch.full((1, 2), float("nan"))
    with pytest.raises(UserError, match="gives other numbers"):
        verify._compare(nan, nan)
    with pytest.raises(UserError, match="outputs of shape"):
        verify._compare(torch.ones(1, 2), torch.ones(1, 3))


def test_cancel_kills_it(pico_llama):
    run = Run()
    run.control("cancel")
    with Verifier() as made:
        process = psutil.Process(made._process.pid)
        with pytest.raises(Cancelled):
            made.check(pico_llama, load(pico_llama).model, run)
    assert not process.is_running()


def test_cancel_while_it_reloads(pico_llama, monkeypatch):
    run, model = Run(), load(pico_llama).model
    with Verifier() as made:
        process = psutil.Process(made._process.pid)
        process.suspend()
        monkeypatch.setattr(verify.time, "sleep", lambda _: run.control("cancel"))
        with pytest.raises(Cancelled):
            made.check(pico_llama, model, run)
    assert not process.is_running()


def test_its_death_is_told(pico_llama):
    with Verifier() as made:
        made._process.kill()
        made._process.wait()
        with pytest.raises(UserError, match="ended early") as caught:
            made.check(pico_llama, load(pico_llama).model, Run())
    assert caught.value.kind == "check"


def test_the_model_comes_back_as_it_was(pico_bf16):
    model = load(pico_bf16, dtype="bfloat16").model
    rotary = model.model.rotary_emb.inv_freq.clone()
    before = {name: (p.data_ptr(), p.dtype) for name, p in model.named_parameters()}
    with in_float32_on_cpu(model):
        assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert {name: (p.data_ptr(), p.dtype) for name, p in model.named_parameters()} == before
    assert torch.equal(model.model.rotary_emb.inv_freq, rotary)


def test_a_model_held_in_bfloat16_is_compared_in_float32(verifier, pico_bf16):
    model = load(pico_bf16, dtype="bfloat16").model
    assert verifier.check(pico_bf16, model, Run()) == 0.0


@pytest.mark.gpu
def test_a_model_on_the_gpu_is_compared_on_the_cpu(verifier, pico_bf16):
    model = load(pico_bf16, device="cuda:0").model
    assert verifier.check(pico_bf16, model, Run()) == 0.0
    assert model.device.type == "cuda"


def test_probe_is_always_the_same():
    assert torch.equal(probe_ids(300, None), probe_ids(300, 512))
    assert probe_ids(300, 8).shape == (1, 8)
    assert json.dumps(probe_ids(1000, 4).tolist()) == json.dumps(probe_ids(1000, 4).tolist())
