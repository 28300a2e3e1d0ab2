"""Real worker processes: crash, kill, a full pipe, Ctrl-C and a parent that's gone cost one job and nothing else."""

import os
import signal
import time
from types import SimpleNamespace

import pytest

from core import events
from core.jobs import JobPool
from core.recipe import Step
from core.records import ApplySpec, ImportSpec, InspectSpec, Job, SpeedSpec, new_id
from core.worker.loop import work
from core.workspace import Workspace

PATIENCE = 180


@pytest.fixture
def pool():
    made = JobPool()
    yield made
    made.close()


def job(spec) -> Job:
    return Job(id=new_id("job"), title="t", spec=spec)


def until(pool, wanted, seen):
    """Polls until `wanted(event)`; every event goes into `seen`."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pool.wait(0.1)
        for event in pool.poll(0.05):
            seen.append(event)
            if wanted(event):
                return event
    raise AssertionError(f"waited in vain; last events: {seen[-5:]}")


def ended(asked):
    return lambda event: isinstance(event, events.TERMINAL) and event.job == asked.id


def training(home, variant, pico_text, steps=100_000) -> Job:
    from core.recipe import TextRef

    step = Step(method="finetune", params={"steps": steps}, text=TextRef(path=str(pico_text)))
    return job(ApplySpec(workspace=str(home.folder), variant=variant, steps=(step,), measure=False))


@pytest.fixture
def home(tmp_path, pico_llama, pool) -> Workspace:
    """A workspace with one pico model, imported by a real worker."""
    asked = job(ImportSpec(workspace=str(tmp_path / "w"), source=str(pico_llama), measure=False))
    pool.submit(asked)
    last = until(pool, ended(asked), [])
    assert isinstance(last, events.Finished), last
    return Workspace(tmp_path / "w")


def nothing_left(home, ids):
    assert home.ids() == ids
    assert [p for p in (home.folder / ".staging").iterdir() if p.is_dir()] == []


@pytest.mark.cold
@pytest.mark.slow
def test_a_worker_serves_light_jobs_one_after_another_and_tells_what_it_can(pool, pico_llama, tmp_path):
    seen = []
    first, second = job(InspectSpec(source=str(pico_llama))), job(InspectSpec(source=str(tmp_path / "gone")))
    pool.submit(first)
    pool.submit(second)
    until(pool, ended(second), seen)
    (ready,) = [e for e in seen if isinstance(e, events.Ready)]
    assert {"magnitude", "rtn", "distil", "finetune"} <= {m.name for m in ready.catalogue.methods}
    assert not any(m.error for m in ready.catalogue.methods)
    assert ready.catalogue.devices[0].name
    (done,) = [e for e in seen if isinstance(e, events.Finished)]
    assert done.result["info"].layers == 2
    (failed,) = [e for e in seen if isinstance(e, events.Failed)]
    assert str(tmp_path / "gone") in failed.sentence


@pytest.mark.slow
def test_cancel_kill_and_crash_in_the_middle_of_training(pool, home, pico_text):
    """Three jobs end in three ways; each leaves the workspace as it was, and the next one runs."""
    ids = home.ids()
    curve = lambda event: isinstance(event, events.Metric)

    cancelled = training(home, ids[0], pico_text)
    pool.submit(cancelled)
    until(pool, curve, [])
    pool.cancel(cancelled.id)
    begun = time.monotonic()
    assert isinstance(until(pool, ended(cancelled), []), events.Cancelled)
    assert time.monotonic() - begun < 5
    nothing_left(home, ids)

    for sign, said in ((signal.SIGKILL, "killed from outside"), (signal.SIGSEGV, "SIGSEGV")):
        hurt, seen = training(home, ids[0], pico_text), []
        pool.submit(hurt)
        until(pool, curve, seen)
        (started,) = [e for e in seen if isinstance(e, events.Started)]
        os.kill(started.pid, sign)
        failed = until(pool, ended(hurt), seen)
        assert isinstance(failed, events.Failed)
        assert failed.kind == "killed"
        assert said in failed.sentence
        assert sum(isinstance(e, events.TERMINAL) for e in seen) == 1
        nothing_left(home, ids)

    fine = training(home, ids[0], pico_text, steps=3)
    pool.submit(fine)
    assert isinstance(until(pool, ended(fine), []), events.Finished)
    assert len(home.ids()) == 2


@pytest.mark.slow
def test_a_parent_that_does_not_read_does_not_slow_the_work(pool, home, pico_text):
    """A window that hangs must not distort a timing: the worker ends its job while nobody reads."""
    asked = training(home, home.ids()[0], pico_text, steps=60)
    pool.submit(asked)
    until(pool, lambda e: isinstance(e, events.Started), [])
    deadline = time.monotonic() + PATIENCE
    while len(home.ids()) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(home.ids()) == 2
    seen = []
    until(pool, ended(asked), seen)
    losses = [e.step for e in seen if isinstance(e, events.Metric) and e.name == "loss"]
    assert losses == sorted(losses)
    assert losses[-1] >= 59


@pytest.mark.cold
@pytest.mark.slow
def test_a_worker_whose_parent_is_gone_ends(tmp_path):
    import subprocess
    import sys

    code = (
        "import time\nfrom core.jobs import ProcessLauncher\n"
        "if __name__ == '__main__':\n    w = ProcessLauncher().launch(); print(w.pid, flush=True); time.sleep(600)\n"
    )
    script = tmp_path / "parent.py"
    script.write_text(code)
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": os.getcwd()}
    )
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + PATIENCE
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{pid}")


def test_a_workspace_that_cannot_be_written_to_costs_the_log_and_not_the_job(tmp_path):
    """It ended the worker with a traceback, even where the job only reads, as generating does."""
    home, told = Workspace(tmp_path / "w", create=True), []
    (home.folder / "logs").rmdir()
    (home.folder / "logs").write_text("permissions don't stop root, a file here does")
    pipe = SimpleNamespace(put=told.append, working="", begin=lambda run: None, end=lambda: None)
    work(job(SpeedSpec(workspace=str(home.folder), variant="v")), pipe, pipe, {"speed": lambda job, run: {"logged": run.log("a line")}})
    assert [e.result for e in told if isinstance(e, events.TERMINAL)] == [{"logged": None}]


def test_a_training_rests_goes_on_and_keeps_its_best_when_it_is_ended_early(pool, home, pico_text):
    seen = []
    (variant,) = home.ids()
    asked = training(home, variant, pico_text)
    pool.submit(asked)
    until(pool, lambda e: isinstance(e, events.Metric) and e.name == "loss", seen)
    pool.control(asked.id, "pause")
    until(pool, lambda e: isinstance(e, events.Paused) and e.on, seen)
    seen.clear()
    deadline = time.monotonic() + 0.7
    while time.monotonic() < deadline:
        pool.wait(0.1)
        seen += pool.poll(0.05)
    assert not [e for e in seen if isinstance(e, (events.Metric, events.Progress, *events.TERMINAL))]
    pool.control(asked.id, "resume")
    until(pool, lambda e: isinstance(e, events.Paused) and not e.on, seen)
    step = until(pool, lambda e: isinstance(e, events.Metric) and e.name == "loss", seen).step
    pool.control(asked.id, "pause")
    until(pool, lambda e: isinstance(e, events.Paused) and e.on, seen)
    pool.control(asked.id, "stop")
    last = until(pool, ended(asked), seen)
    assert isinstance(last, events.Finished), last
    made = home.variant(last.result["variant"])
    assert any("finished early as asked" in note for note in made.notes)
    assert int(made.notes[0].split()[0]) >= step
    assert (home.path(made.id) / "samples.json").is_file()
    assert [e.kept for e in seen if isinstance(e, events.Samples)][-1]
