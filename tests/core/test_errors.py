"""Every foreseen failure has its sentence; the rest is shown as a defect."""

import errno
import pickle

import pytest

from core.errors import UserError, explain


def test_sentence_and_hint_are_filled_in():
    error = UserError("{a} is no {b}.", hint="Try {c}.", kind="data", a="x", b="y", c="z")
    assert (error.sentence, error.hint, str(error)) == ("x is no y.", "Try z.", "x is no y. Try z.")


def test_it_crosses_a_pipe():
    error = pickle.loads(pickle.dumps(UserError("{a}.", hint="h", kind="disk", detail="d", a=1)))
    assert (str(error), error.kind, error.detail) == ("1. h", "disk", "d")


@pytest.mark.parametrize(
    ("raised", "kind", "said"),
    [
        (OSError(errno.ENOSPC, "x"), "disk", "disk is full"),
        (RuntimeError("I/O error: No space left on device (os error 28)"), "disk", "disk is full"),
        (OSError("problem writing element 28672 to file"), "disk", "disk is full"),  # NumPy says no more
        (PermissionError(errno.EACCES, "x", "/p"), "disk", "/p"),
        (FileNotFoundError(errno.ENOENT, "x", "/gone"), "input", "/gone"),
        (FileExistsError(errno.EEXIST, "x", "/a/file"), "input", "/a/file"),
        (NotADirectoryError(errno.ENOTDIR, "x", "/a/file/b"), "input", "a file is where a folder should be"),
        (OSError(errno.ENAMETOOLONG, "x", "/long"), "input", "too long"),
        (MemoryError(), "memory", "memory"),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"), "memory", "memory"),
        (ZeroDivisionError("boom"), "internal", "boom"),
        (RuntimeError(""), "internal", "RuntimeError"),
    ],
)
def test_known_causes_are_recognised(raised, kind, said):
    told = explain(raised)
    assert told.kind == kind
    assert said in str(told)


def test_a_cause_behind_a_librarys_exception_is_found():
    outer = RuntimeError("saving failed")
    outer.__cause__ = OSError(errno.ENOSPC, "x")
    assert explain(outer).kind == "disk"


def test_a_full_disk_is_the_workspaces_unless_another_place_is_named():
    """Of an export to another disk it was said that the workspace should be moved."""
    full = OSError(errno.ENOSPC, "x")
    assert "workspace" in explain(full).hint
    told = explain(full, place="/stick/models")
    assert (told.kind, told.sentence) == ("disk", explain(full).sentence)
    assert "/stick/models" in told.hint
    assert "workspace" not in told.hint


def test_an_unknown_kind_is_a_defect():
    with pytest.raises(ValueError, match="unknown kind"):
        UserError("x", kind="nonsense")
