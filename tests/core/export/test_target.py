"""Where an export goes: what's said when there's no room for it."""

import errno

import pytest

from core.errors import UserError, explain
from core.export import gguf, onnx, sparse
from core.export.target import partial
from core.models import save
from core.run import Run

FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("error", [FULL, RuntimeError("I/O error: No space left on device (os error 28)"), explain(FULL, detail="where")])
def test_a_full_disk_is_told_as_the_one_that_was_written_to(tmp_path, error):
    """Also where what writes has said already that the workspace's is full: it doesn't know that it writes elsewhere."""
    with pytest.raises(UserError) as told, partial(tmp_path / "stick" / "out"):
        raise error
    assert told.value.kind == "disk"
    assert str(tmp_path / "stick") in told.value.hint
    assert "workspace" not in told.value.hint
    assert told.value.detail
    assert not list((tmp_path / "stick").iterdir())


def test_a_full_disk_elsewhere_is_told_by_the_file_that_the_system_names(tmp_path):
    with pytest.raises(UserError) as told, partial(tmp_path / "out"):
        raise OSError(errno.ENOSPC, "No space left on device", "/scratch/check-1/weights")
    assert "/scratch/check-1" in told.value.hint


def test_other_failures_stay_what_they_are(tmp_path):
    with pytest.raises(ZeroDivisionError), partial(tmp_path / "out"):
        raise ZeroDivisionError


@pytest.mark.parametrize(("module", "export", "make"), [(onnx, "export", "_make"), (gguf, "export", "_make"), (sparse, "pack", "_pack")])
def test_every_format_names_the_folder_whose_disk_is_full(tmp_path, monkeypatch, module, export, make):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, make, full)
    with pytest.raises(UserError) as told:
        getattr(module, export)(tmp_path / "model", tmp_path / "stick" / "out", Run())
    assert str(tmp_path / "stick") in told.value.hint


def test_a_packed_file_without_room_names_its_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(save.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(UserError) as told:
        sparse.room_for(tmp_path, 1_000_000, place="/stick")
    assert "/stick" in told.value.hint
    with pytest.raises(UserError, match="choose a workspace"):
        sparse.room_for(tmp_path, 1_000_000)
