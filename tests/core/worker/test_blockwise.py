"""Jobs that go block by block: a crash is gone on from, a cancel leaves nothing, and a model larger than memory is made all the same."""

import os
import time

import pytest

from core.errors import Cancelled, UserError
from core.methods import checkpoints
from core.models import devices
from core.recipe import Step
from core.records import ApplySpec, ImportSpec
from core.run import Run
from core.worker import blockwise, tasks
from core.workspace import OURS, Workspace
from tests.conftest import make_pico
from tests.core.worker.test_tasks import Recorder, do

GPTQ = Step(method="gptq", params={"windows": 4, "context": 32})
RTN = Step(method="rtn", params={"bits": 4})


class Agreeing:
    """A verifier that starts no process: reloading is what other tests are about."""

    resident = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def check(self, folder, model, run, **_):
        return 0.0


@pytest.fixture(autouse=True)
def verified(request, monkeypatch):
    if "reloaded" not in request.fixturenames:
        monkeypatch.setattr(tasks.verify, "Verifier", Agreeing)


@pytest.fixture
def reloaded():
    """For tests that reload in a plain process."""


@pytest.fixture
def home(tmp_path, pico_text) -> Workspace:
    folder = tmp_path / "home"
    do(ImportSpec(workspace=str(folder), source=str(make_pico(tmp_path / "pico", layers=3, dtype="bfloat16")), measure=False))
    return Workspace(folder)


class Failing(Recorder):
    """Fails at the first layer of a block, as full memory would."""

    def __init__(self, block, error=MemoryError):
        super().__init__()
        self.block, self.error = block, error

    def metric(self, name, step, value):
        super().metric(name, step, value)
        if name.startswith("error/") and step == self.block:
            raise self.error


def made_in(run: Run) -> set[int]:
    return {e.step for e in run.seen if getattr(e, "name", "").startswith("error/")}


def spec(home, step, **changes):
    return ApplySpec(workspace=str(home.folder), variant=home.variants()[0].id, steps=(step,), measure=False, **changes)


def unfinished(home):
    folder = home.folder / ".unfinished"
    return sorted(p.name for p in folder.iterdir() if p.is_dir()) if folder.exists() else []


@pytest.fixture
def little_memory(monkeypatch):
    """As if the model didn't fit, where it's asked whether to read it from disk; checking it still finds room."""
    monkeypatch.setattr(blockwise, "too_large", lambda info, device: True)


def test_a_job_goes_on_after_the_last_finished_block(home):
    with pytest.raises(MemoryError):
        do(spec(home, GPTQ), Failing(2))
    assert len(unfinished(home)) == 1
    run = Recorder()
    resumed = home.variant(do(spec(home, GPTQ), run)["variant"])
    assert made_in(run) == {2}
    assert any("Going on after block 2" in getattr(e, "text", "") for e in run.seen)
    assert unfinished(home) == []
    whole = Recorder()
    again = home.variant(do(spec(home, GPTQ), whole)["variant"])
    assert made_in(whole) == {0, 1, 2}
    assert again.fingerprint == resumed.fingerprint


@pytest.mark.parametrize("change", [{"params": GPTQ.params | {"bits": 3}}, {"seed": 1}])
def test_other_settings_begin_anew(home, change):
    with pytest.raises(MemoryError):
        do(spec(home, GPTQ), Failing(2))
    run = Recorder()
    do(spec(home, GPTQ.model_copy(update=change)), run)
    assert made_in(run) == {0, 1, 2}
    assert len(unfinished(home)) == 1  # the first one's, for whoever comes back to it


def test_a_cancel_leaves_nothing(home):
    with pytest.raises(Cancelled):
        do(spec(home, GPTQ), Failing(1, Cancelled))
    assert unfinished(home) == []


def test_a_job_that_fails_before_its_first_block_leaves_nothing(home):
    with pytest.raises(UserError):
        do(spec(home, Step(method="gptq", params={"windows": 4, "context": 32, "bits": 3, "embeddings": 4})))
    assert unfinished(home) == []


def test_what_nobody_came_back_to_is_removed_after_a_week(home):
    with pytest.raises(MemoryError):
        do(spec(home, GPTQ), Failing(1))
    (old,) = unfinished(home)
    folder = home.folder / ".unfinished" / old
    before = time.time() - blockwise.KEPT_SECONDS - 60
    for path in [*folder.iterdir(), folder]:
        os.utime(path, (before, before))
    do(spec(home, GPTQ.model_copy(update={"seed": 5})))
    assert unfinished(home) == []


def test_methods_that_take_seconds_keep_nothing(home):
    with pytest.raises(MemoryError):
        do(spec(home, RTN), Failing(1))
    assert unfinished(home) == []


@pytest.mark.parametrize("step", [GPTQ, RTN], ids=["gptq", "rtn"])
def test_a_model_that_does_not_fit_is_worked_on_from_disk_and_is_the_same(home, step, little_memory, monkeypatch, reloaded):
    run = Recorder()
    variant = home.variant(do(spec(home, step), run)["variant"])
    assert any("block by block from disk" in n for n in variant.notes)
    assert variant.ledger.bytes_on_disk == sum(p.stat().st_size for p in home.path(variant.id).iterdir() if p.name not in OURS)
    assert {m.kind for m in home.measurements(variant.id)} == {"reload", "resident"}
    assert unfinished(home) == []
    monkeypatch.setattr(blockwise, "too_large", lambda info, device: False)
    other = home.variant(do(spec(home, step))["variant"])
    assert other.fingerprint == variant.fingerprint
    assert not any("from disk" in n for n in other.notes)


def test_a_streamed_job_goes_on_too(home, little_memory):
    with pytest.raises(MemoryError):
        do(spec(home, RTN), Failing(2))
    run = Recorder()
    do(spec(home, RTN), run)
    assert made_in(run) == {2}


def test_what_does_not_fit_even_once_is_checked_on_its_first_blocks_and_that_is_said(home, little_memory, monkeypatch, reloaded):
    parameters = home.variants()[0].info.parameters
    monkeypatch.setattr(devices, "free_bytes", lambda device: int(2.5 * 4 * parameters / 3 * 1.5))  # room for one block and a half
    variant = home.variant(do(spec(home, RTN))["variant"])
    assert "Reloaded and compared on its first 1 of 3 blocks: more don't fit into memory." in variant.notes
    (measured,) = home.measurements(variant.id)
    assert measured.conditions["blocks"] == "the first 1 of 3"
    assert variant.ledger.resident_bytes is None


def test_a_streamed_variant_says_that_it_was_not_measured(home, little_memory, pico_text):
    variant = home.variant(do(spec(home, RTN).model_copy(update={"measure": True, "text": str(pico_text)}))["variant"])
    assert any(n.startswith("Not measured") for n in variant.notes)


def test_too_large_is_what_leaves_no_room(home, monkeypatch):
    info = home.variants()[0].info
    monkeypatch.setattr(devices, "free_bytes", lambda device: 4 * info.parameters)
    assert blockwise.too_large(info, "cpu")
    monkeypatch.setattr(devices, "free_bytes", lambda device: 5 * info.parameters)
    assert not blockwise.too_large(info, "cpu")


def test_a_twin_at_work_is_left_alone(home):
    variant = home.variants()[0]
    from core import methods

    method = methods.get("gptq")
    params = methods.checked(method, GPTQ.params)
    with blockwise.place(home, variant, method, params, GPTQ, None, {}, Run()) as one:
        with blockwise.place(home, variant, method, params, GPTQ, None, {}, Run()) as other:
            assert one.home.finished.folder != other.home.finished.folder
        assert one.home.finished.folder.exists()
        assert not other.home.finished.folder.exists()


# ---- trainings ----------------------------------------------------------------------------------------------------------------------

DISTIL = Step(method="distil", params={"layers": 1, "steps": 6, "batch": 2, "context": 16, "precision": "float32"})


class FailingAfter(Recorder):
    """Fails after a step of a training, as full memory would."""

    def __init__(self, last, error=MemoryError):
        super().__init__()
        self.last, self.error = last, error

    def metric(self, name, step, value):
        super().metric(name, step, value)
        if name == "lr" and step == self.last + 1:
            raise self.error


def trained_in(run: Run) -> list[int]:
    return [e.step for e in run.seen if getattr(e, "name", "") == "lr"]


def test_a_training_goes_on_where_it_stopped(home, monkeypatch):
    monkeypatch.setattr(checkpoints, "SECONDS", 0)
    with pytest.raises(MemoryError):
        do(spec(home, DISTIL), FailingAfter(3))
    assert len(unfinished(home)) == 1
    run = Recorder()
    resumed = home.variant(do(spec(home, DISTIL), run)["variant"])
    assert trained_in(run) == [4, 5, 6]
    assert any("Going on after step 3" in getattr(e, "text", "") for e in run.seen)
    assert unfinished(home) == []
    whole = Recorder()
    again = home.variant(do(spec(home, DISTIL), whole)["variant"])
    assert trained_in(whole) == [1, 2, 3, 4, 5, 6]
    assert again.fingerprint == resumed.fingerprint


@pytest.mark.parametrize("seconds", [0, 300])
def test_a_cancelled_training_leaves_nothing(home, monkeypatch, seconds):
    monkeypatch.setattr(checkpoints, "SECONDS", seconds)
    with pytest.raises(Cancelled if seconds == 0 else MemoryError):  # nor does one that failed before its state was written
        do(spec(home, DISTIL), FailingAfter(3, Cancelled if seconds == 0 else MemoryError))
    assert unfinished(home) == []
