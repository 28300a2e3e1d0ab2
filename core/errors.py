"""Failures that a person reads: one sentence (what, why), what to do, and the detail one click away.

Covers every failure that Spokeshave foresees. Whatever else is raised is a defect, and is shown as one.
The sentence is a template with named values, so that the window can translate it before filling it in.
"""

from __future__ import annotations

import errno
from typing import Any

KINDS = ("usage", "input", "model", "data", "disk", "memory", "device", "network", "check", "killed", "internal")


class UserError(Exception):
    """A foreseen failure.

    `message` and `hint` are str.format templates over `values`; `kind` is one of KINDS; `detail` is
    free text for the fold-out (a traceback, a list of tensors).
    """

    def __init__(self, message: str, *, hint: str = "", kind: str = "input", detail: str = "", **values: Any):
        if kind not in KINDS:
            raise ValueError(f"unknown kind of error: {kind}")
        self.template, self.hint_template = message, hint
        self.kind, self.detail, self.values = kind, detail, values
        super().__init__(message, hint)

    @property
    def sentence(self) -> str:
        return self.template.format(**self.values)

    @property
    def hint(self) -> str:
        return self.hint_template.format(**self.values)

    def __str__(self) -> str:
        return f"{self.sentence} {self.hint}".strip()

    def __reduce__(self):
        return _rebuild, (self.template, self.hint_template, self.kind, self.detail, self.values)


def _rebuild(message: str, hint: str, kind: str, detail: str, values: dict[str, Any]) -> UserError:
    return UserError(message, hint=hint, kind=kind, detail=detail, **values)


class Cancelled(Exception):
    """Raised by `run.check_cancelled()` in the middle of a job that a person cancelled."""


def no_space(place: str = "", detail: str = "") -> UserError:
    """The disk is full: the workspace's, or the one that the folder `place` is on."""
    return UserError(
        "The disk is full, so nothing was saved.",
        hint="Free some space on the disk of {place}, or choose a folder on another disk, and try again."
        if place
        else "Free some space, or choose a workspace on another disk, and start the job again.",
        kind="disk",
        detail=detail,
        place=place,
    )


def is_no_space(error: BaseException) -> bool:
    """Whether it's for want of space; a library's own exception may say it in words alone."""
    if isinstance(error, UserError):
        return error.template == no_space().template
    io = error if isinstance(error, OSError) else error.__cause__ if isinstance(error.__cause__, OSError) else None
    said = str(error)
    words = ("No space left on device", "os error 28", "problem writing element")  # the last: NumPy's of a file that takes no more
    return (io is not None and io.errno in (errno.ENOSPC, errno.EDQUOT)) or any(each in said for each in words)


def explain(error: BaseException, *, detail: str = "", place: str = "") -> UserError:
    """Turn any exception into a UserError: known causes (no space, no memory, no permission) get their sentence.

    place: the folder that was written to, where that isn't the workspace's.
    """
    if isinstance(error, UserError):
        if detail and not error.detail:
            error.detail = detail
        return error
    text = f"{type(error).__name__}: {error}"
    name = type(error).__name__
    out_of_memory = (
        isinstance(error, MemoryError) or name == "OutOfMemoryError" or "DefaultCPUAllocator" in text or "out of memory" in text.lower()
    )
    if out_of_memory:
        return UserError(
            "There wasn't enough memory for this.",
            hint="Close other programs, or choose a smaller context, batch or model.",
            kind="memory",
            detail=detail or text,
        )
    io = error if isinstance(error, OSError) else error.__cause__ if isinstance(error.__cause__, OSError) else None
    code = io.errno if io is not None else None
    if is_no_space(error):
        return no_space(place, detail or text)
    if isinstance(error, PermissionError) or code in (errno.EACCES, errno.EROFS, errno.EPERM):
        return UserError(
            "There is no permission to use {path}.",
            hint="Change its permissions, or choose another place.",
            kind="disk",
            detail=detail or text,
            path=getattr(error, "filename", None) or "that path",
        )
    if isinstance(error, FileNotFoundError):
        return UserError(
            "{path} doesn't exist.",
            hint="Check the path.",
            kind="input",
            detail=detail or text,
            path=getattr(error, "filename", None) or "The file",
        )
    if isinstance(error, (FileExistsError, NotADirectoryError)) or code == errno.ENOTDIR:
        return UserError(
            "{path} can't be made: a file is where a folder should be.",
            hint="Choose another place.",
            kind="input",
            detail=detail or text,
            path=getattr(error, "filename", None) or "The folder",
        )
    if code == errno.ENAMETOOLONG:
        return UserError("That name is too long for this disk.", hint="Choose a shorter one.", kind="input", detail=detail or text)
    return UserError(
        "Something went wrong that Spokeshave didn't foresee ({what}).",
        hint="The detail says where; please report it.",
        kind="internal",
        detail=detail or text,
        what=text.splitlines()[0][:160],
    )
