"""Devices: names, what's there, precision."""

import pytest
import torch

from core.errors import UserError
from core.models import devices


def test_cpu_is_always_there():
    names = [d.name for d in devices.devices()]
    assert names[-1] == "cpu"
    assert devices.devices()[-1].free_bytes > 0
    assert devices.choose("cpu") == "cpu"


def test_auto_takes_the_best(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert devices.choose("auto") == "cpu"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert devices.choose("auto") == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert devices.choose("auto") == "cuda:0"
    assert devices.choose("cuda") == "cuda:0"
    assert devices.choose("cuda:1") == "cuda:1"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(devices, "devices", lambda: ())
    with pytest.raises(UserError, match="no cuda:1"):
        devices.choose("cuda:1")


@pytest.mark.parametrize("name", ["gpu", "cud", "cuda:x", "tpu:0"])
def test_unknown_device(name):
    with pytest.raises(UserError) as caught:
        devices.choose(name)
    assert caught.value.kind == "device"


def test_absent_device_names_what_there_is(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match=r"no cuda:0 .* It has: .*cpu"):
        devices.choose("cuda:0")


def test_dtype():
    assert devices.dtype_for("auto", "cpu", "BF16") == torch.float32
    assert devices.dtype_for("auto", "mps", "bfloat16") == torch.float32
    assert devices.dtype_for("auto", "cuda:0", "BF16") == torch.bfloat16
    assert devices.dtype_for("auto", "cuda:0", "float16") == torch.float16
    assert devices.dtype_for("auto", "cuda:0", None) == torch.float32
    assert devices.dtype_for("bfloat16", "cpu", "F32") == torch.bfloat16
    with pytest.raises(UserError, match="Did you mean float16"):
        devices.dtype_for("floa16", "cpu")


def test_memory_of_this_process():
    resident, used, free = devices.memory()
    assert resident > 10_000_000
    assert (used is None) == (free is None)


@pytest.mark.gpu
def test_memory_on_the_gpu():
    held = torch.ones(1_000_000, device="cuda:0")
    _, used, free = devices.memory("cuda:0")
    assert used >= held.numel() * 4
    assert free > 0
