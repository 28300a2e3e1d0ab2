"""The pool: every job ends in exactly one terminal event, whatever its worker does.

The workers here are scripted, except where a process must really die: that's in tests/core/worker.
"""

import os
import signal
import time

import pytest

from core import events
from core.jobs import KILL_AFTER, TERMINATE_AFTER, JobPool, ProcessLauncher
from core.records import Catalogue, GenerateSpec, ImportSpec, InspectSpec, Job, SpeedSpec, new_id
from core.workspace import Workspace


class ScriptedWorker:
    """Does what the test says; remembers what it was told."""

    def __init__(self):
        self.pid, self.told, self.says, self.exit, self.ended = 7, [], [], None, []

    def send(self, message):
        self.told.append(message)

    def receive(self, until):
        said, self.says = self.says, []
        return said

    def alive(self):
        return self.exit is None

    def end(self, kill=False):
        self.ended.append("kill" if kill else "terminate")

    def reap(self, timeout=0.0):
        return self.exit

    # what the test makes it do
    def ready(self):
        self.says.append(events.Ready("", self.pid, Catalogue()))

    @property
    def job(self):
        return [m.job for m in self.told if isinstance(m, events.Do)][-1]

    def finish(self):
        self.says.append(events.Finished(self.job.id, {"ok": True}))

    def leave(self, code=0):
        self.exit = code


class Launcher:
    def __init__(self):
        self.workers = []

    def launch(self):
        self.workers.append(ScriptedWorker())
        return self.workers[-1]


@pytest.fixture
def launcher():
    return Launcher()


@pytest.fixture
def pool(launcher):
    made = JobPool(launcher)
    yield made
    for w in launcher.workers:
        w.leave()
    made.close(patience=0.1)


def job(spec=None) -> Job:
    return Job(id=new_id("job"), title="t", spec=spec or SpeedSpec(workspace="", variant="v"))


def generate(target="a", draft=None) -> Job:
    return job(GenerateSpec(workspace="", target=target, draft=draft, proposer="draft" if draft else "none", prompt="x"))


def of(found, kind):
    return [e for e in found if isinstance(e, kind)]


def terminals(found, asked):
    return [e for e in found if isinstance(e, events.TERMINAL) and e.job == asked.id]


def test_heavy_jobs_run_one_at_a_time_and_their_workers_end(pool, launcher):
    first, second = job(), job()
    pool.submit(first)
    pool.submit(second)
    assert len(launcher.workers) == 1
    launcher.workers[0].finish()
    assert of(pool.poll(), events.Finished)[0].job == first.id
    assert isinstance(launcher.workers[0].told[-1], events.Exit)
    assert launcher.workers[1].job == second
    launcher.workers[0].leave()
    launcher.workers[1].finish()
    assert len(terminals(pool.poll(), second)) == 1
    assert not pool.busy()


def test_a_light_job_is_served_beside_a_heavy_one_by_the_spare_which_stays(launcher):
    pool = JobPool(launcher, spare=True)
    pool.warm()
    heavy = job()
    pool.submit(heavy)  # takes the spare; another is started once that one is ready
    launcher.workers[0].ready()
    pool.poll()
    assert len(launcher.workers) == 2
    light = job(InspectSpec(source="x"))
    pool.submit(light)
    launcher.workers[1].ready()
    pool.poll()
    assert launcher.workers[1].job == light
    launcher.workers[1].finish()
    pool.poll()
    assert events.Exit() not in launcher.workers[1].told
    assert pool.worker_state()["spare"] == 1


def test_a_generator_keeps_its_pair_for_the_next_prompt_and_gives_it_up_for_other_work(pool, launcher):
    pool.submit(generate("a", "b"))
    launcher.workers[0].ready()
    launcher.workers[0].finish()
    pool.poll()
    again = generate("a", "b")
    pool.submit(again)
    assert launcher.workers[0].job == again
    assert len(launcher.workers) == 1
    launcher.workers[0].finish()
    pool.poll()
    pool.submit(job())
    assert isinstance(launcher.workers[0].told[-1], events.Exit)
    assert len(launcher.workers) == 2


def test_another_pair_means_another_worker(pool, launcher):
    pool.submit(generate("a"))
    launcher.workers[0].finish()
    pool.poll()
    pool.submit(generate("c"))
    assert isinstance(launcher.workers[0].told[-1], events.Exit)
    assert len(launcher.workers) == 2


def test_a_queued_job_is_cancelled_without_a_worker(pool, launcher):
    pool.submit(job())
    waiting = job()
    pool.submit(waiting)
    pool.cancel(waiting.id)
    assert isinstance(terminals(pool.poll(), waiting)[0], events.Cancelled)
    assert len(launcher.workers) == 1


def test_a_job_whose_worker_still_starts_is_cancelled_at_once_and_the_worker_serves_the_next(pool, launcher, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("core.jobs.time.monotonic", lambda: clock[0])
    first, second = job(), job()
    pool.submit(first)
    pool.submit(second)
    pool.cancel(first.id)
    assert isinstance(terminals(pool.poll(), first)[0], events.Cancelled)
    clock[0] += KILL_AFTER + 1  # a slow start isn't a cancel that isn't obeyed
    pool.poll()
    worker = launcher.workers[0]
    assert worker.ended == []
    assert len(launcher.workers) == 1
    assert worker.job.id == second.id
    worker.ready()
    worker.says += [events.Started(first.id, 7, "cpu"), events.Cancelled(first.id), events.Started(second.id, 7, "cpu")]
    found = pool.poll()
    assert [e.job for e in found if isinstance(e, (events.Started, *events.TERMINAL))] == [second.id]
    worker.finish()
    assert isinstance(terminals(pool.poll(), second)[0], events.Finished)


def test_a_cancel_that_is_not_obeyed_is_pressed(pool, launcher, monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("core.jobs.time.monotonic", lambda: clock[0])
    asked = job()
    pool.submit(asked)
    worker = launcher.workers[0]
    worker.ready()
    pool.poll()
    pool.cancel(asked.id)
    pool.poll()
    assert worker.ended == []
    clock[0] += TERMINATE_AFTER + 0.1
    pool.poll()
    assert worker.ended == ["terminate"]
    clock[0] += KILL_AFTER
    pool.poll()
    assert worker.ended == ["terminate", "kill"]
    worker.leave(-9)
    assert [type(e) for e in terminals(pool.poll(), asked)] == [events.Cancelled]


@pytest.mark.parametrize(("code", "said"), [(-9, "memory ran out"), (-11, "SIGSEGV"), (1, "exit code 1")])
def test_a_death_without_a_word_becomes_one_failure_with_the_end_of_the_log(pool, launcher, tmp_path, code, said):
    home = Workspace(tmp_path / "w", create=True)
    asked = job(ImportSpec(workspace=str(home.folder), source="x"))
    home.log_path(asked.id).write_text("\n".join(f"line {i}" for i in range(100)))
    pool.submit(asked)
    launcher.workers[0].leave(code)
    (failed,) = terminals(pool.poll(), asked)
    assert failed.kind == "killed"
    assert said in failed.sentence
    assert failed.detail.endswith("line 99")
    assert "line 10\n" not in failed.detail


def test_the_last_words_of_a_worker_come_before_its_death(pool, launcher):
    asked = job()
    pool.submit(asked)
    launcher.workers[0].finish()
    launcher.workers[0].leave(0)
    assert [type(e) for e in terminals(pool.poll(), asked)] == [events.Finished]


def test_a_second_terminal_event_is_dropped(pool, launcher):
    asked = generate()
    pool.submit(asked)
    launcher.workers[0].finish()
    launcher.workers[0].finish()
    assert len(terminals(pool.poll(), asked)) == 1


def test_workers_that_never_become_ready_end_in_a_failure_not_in_a_loop(pool, launcher):
    for _ in range(3):
        pool.warm()
        launcher.workers[-1].leave(1)
        found = pool.poll()
    assert "before they're ready" in of(found, events.Failed)[0].message
    asked = job()
    pool.submit(asked)
    assert isinstance(terminals(pool.poll(), asked)[0], events.Failed)
    assert len(launcher.workers) == 3


@pytest.mark.cold
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signal masks here")
def test_ctrl_c_does_not_reach_a_worker_that_still_starts(capfd):
    """A terminal's Ctrl-C goes to the whole group; a worker whose Python was just coming up died of it with a traceback."""
    worker = ProcessLauncher(threads=1).launch()
    try:
        until = time.monotonic() + 0.6
        while time.monotonic() < until:
            os.kill(worker.pid, signal.SIGINT)
            time.sleep(0.01)
        assert worker.reap() is None
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ()), "this side still gets it"
    finally:
        worker.end(kill=True)
        worker.reap(10)
    assert "KeyboardInterrupt" not in capfd.readouterr().err
