"""Trainings that are cut off, one of them by a real kill, end with the weights of one that wasn't."""

import os
import signal
import subprocess
import sys

import pytest
import torch

from core.methods import checkpoints
from core.methods.checkpoints import Checkpoint
from core.methods.distillation import writing
from core.models import load
from core.run import Run
from tests.core.methods.conftest import Recorder, apply, give, same

QUICK = {"steps": 12, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32"}
DISTIL = ("distil", {"layers": 1, "loss": "js", "hidden": 1.0, "gradient_bits": 4, "data": "written", "written": 500, "on_policy": 0.5})
TRAININGS = [
    DISTIL,
    ("distil", {"layers": 1, "weights": "lora", "answers": "kept", "top_k": 8}),
    ("finetune", {}),
    ("finetune", {"weights": "lora", "gradient_bits": 2, "gradient_feedback": True}),
    ("qat", {}),
]
ENOUGH = 7  # steps that are done when the training is cut off

KILLED = """
import os, signal, sys
from core.methods import checkpoints
from core.models import load
from tests.core.methods.conftest import Recorder, apply, give
checkpoints.SECONDS = 0
loaded = load.load(sys.argv[1])
kill = lambda run, step: os.kill(os.getpid(), signal.SIGKILL) if step == {step} else None
apply({name!r}, loaded, Recorder(kill), give(loaded, work=__import__("pathlib").Path(sys.argv[2])), **{values!r})
"""


class CutOff(Exception):
    pass


@pytest.fixture
def always(monkeypatch):
    """The state is written at every step."""
    monkeypatch.setattr(checkpoints, "SECONDS", 0)


def steps_of(run):
    return [e.step for e in run.events if getattr(e, "name", None) == "lr"]


def whole(folder, name, values):
    return apply(name, load.load(folder), **values | QUICK).model


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process can be killed without a word here")
def test_a_killed_training_ends_as_one_that_was_not(pico_llama, tmp_path):
    name, values = DISTIL
    code = KILLED.format(step=ENOUGH + 1, name=name, values=values | QUICK)
    ended = subprocess.run([sys.executable, "-c", code, str(pico_llama), str(tmp_path)], env=os.environ | {"PYTHONPATH": os.getcwd()})
    assert ended.returncode == -signal.SIGKILL
    assert sorted(p.name for p in tmp_path.iterdir()) == [checkpoints.FILE, writing.FILE]
    loaded, run = load.load(pico_llama), Recorder()
    resumed = apply(name, loaded, run, give(loaded, work=tmp_path), **values | QUICK)
    assert steps_of(run) == list(range(ENOUGH + 1, 13))
    assert same(resumed.model, whole(pico_llama, name, values))


@pytest.mark.parametrize(("name", "values"), TRAININGS)
def test_what_was_cut_off_goes_on(pico_llama, tmp_path, always, name, values):
    def cut(run, step):
        if step == ENOUGH + 1:
            raise CutOff

    loaded = load.load(pico_llama)
    with pytest.raises(CutOff):
        apply(name, loaded, Recorder(cut), give(loaded, work=tmp_path), **values | QUICK)
    loaded, run = load.load(pico_llama), Recorder()
    resumed = apply(name, loaded, run, give(loaded, work=tmp_path), **values | QUICK)
    plain = apply(name, load.load(pico_llama), **values | QUICK)
    assert steps_of(run)[0] in (ENOUGH + 1, ENOUGH + 2)  # the last step's figures are told before its state is written
    assert same(resumed.model, plain.model)
    assert resumed.notes == plain.notes


@pytest.mark.parametrize("change", [{"learning_rate": 4e-3}, {"steps": 13}, {"batch": 3}])
def test_another_training_begins_anew(pico_llama, tmp_path, always, change):
    loaded = load.load(pico_llama)
    apply("finetune", loaded, given=give(loaded, work=tmp_path), **QUICK)
    loaded, run = load.load(pico_llama), Recorder()
    apply("finetune", loaded, run, give(loaded, work=tmp_path), **QUICK | change)
    assert steps_of(run)[0] == 1


def test_other_weights_begin_anew(pico_llama, tmp_path, always):
    loaded = load.load(pico_llama)
    apply("finetune", loaded, given=give(loaded, work=tmp_path), **QUICK)
    run = Recorder()
    apply("finetune", loaded, run, give(loaded, work=tmp_path), **QUICK)  # it's trained by now
    assert steps_of(run)[0] == 1


def test_a_finished_training_is_only_read(pico_llama, tmp_path, always):
    loaded = load.load(pico_llama)
    first = apply("finetune", loaded, given=give(loaded, work=tmp_path), **QUICK).model
    loaded, run = load.load(pico_llama), Recorder()
    assert same(apply("finetune", loaded, run, give(loaded, work=tmp_path), **QUICK).model, first)
    assert steps_of(run) == []


def test_a_file_that_can_not_be_read_is_none(tmp_path):
    checkpoint = Checkpoint(tmp_path, "a", Run())
    assert checkpoint.read() is None
    checkpoint.write(lambda: {"x": torch.ones(2)}, 1)
    assert torch.equal(checkpoint.read()["x"], torch.ones(2))
    assert Checkpoint(tmp_path, "b", Run()).read() is None
    checkpoint.path.write_bytes(checkpoint.path.read_bytes()[:-40])
    assert checkpoint.read() is None


def test_a_full_disk_is_told_once_and_the_last_state_stays(tmp_path, monkeypatch):
    run = Recorder()
    checkpoint = Checkpoint(tmp_path, "a", run)
    checkpoint.write(lambda: {"x": 1}, 1)
    for _ in range(2):
        checkpoint.write(lambda: {"x": 2}, 1 << 60)
    assert checkpoint.read() == {"x": 1}
    assert sum(getattr(e, "level", "") == "WARN" for e in run.events) == 1
    assert [p.name for p in tmp_path.iterdir()] == [checkpoints.FILE]


def test_a_paused_training_waits(pico_llama):
    run = Recorder()
    run.at = lambda run, step: run.control("stop") if step == 3 else None
    run.control("pause")
    for _ in range(3):
        run.control("step")
    loaded = load.load(pico_llama)
    apply("finetune", loaded, run, **QUICK)
    assert steps_of(run) == [1, 2, 3]
