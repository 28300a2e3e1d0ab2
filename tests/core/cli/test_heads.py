"""The heads command: a map, a loss, a curve, each as a table and as one JSON document; the job runs in this process."""

import json

import pytest
from click.testing import CliRunner

from core.cli import heads
from core.cli.commands import cli
from core.worker.tasks import TASKS
from tests.core.worker.test_heads_job import planted
from tests.core.worker.test_tasks import Recorder


class Here:
    """A driver without a process of its own."""

    def __init__(self, **how):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, spec, title, *, device):
        from core.records import Job

        return TASKS["heads"](Job(id="job", title=title, spec=spec, device="cpu"), Recorder())


@pytest.fixture
def ask(tmp_path, pico_llama, monkeypatch):
    workspace, _ = planted(tmp_path / "w", pico_llama)
    monkeypatch.setattr(heads, "Driver", Here)

    def run(*more):
        words = ["heads", "-w", str(workspace.folder), "--variant", "pico", "--windows", "2", "--context", "24", *more]
        return CliRunner().invoke(cli, words)

    return run


def test_a_map_a_loss_and_a_curve(ask):
    told = ask()
    assert told.exit_code == 0, told.output
    assert "taylor of each key-value group, by layer" in told.stdout
    assert "loss of the whole model" in told.stdout
    left = json.loads(ask("--criterion", "leave_out", "--json").stdout)["map"]["scores"]
    assert len(left["leave_out"]) == 2
    lost = ask("--off", "0.1, 1.0")
    assert "perplexity" in lost.stdout
    assert "estimate by taylor" in lost.stdout
    assert "estimate by leave_out" in lost.stdout
    curve = json.loads(ask("--curve", "--criterion", "magnitude", "--json").stdout)
    assert [p[0] for p in curve["points"]] == [0, 1, 2, 3, 4]
    assert "removed" in ask("--curve").stdout


def test_wrong_use(ask):
    done = ask("--off", "first")
    assert done.exit_code == 2
    assert "isn't a head" in done.stderr
    assert ask("--off", "9.9").exit_code == 2
