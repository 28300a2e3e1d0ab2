"""Python processes that start warm: forked from a template that has torch and transformers imported.

Every apply job starts a plain process to reload what was saved, and every worker starts as one; on one core their
imports were a third of the suite's time. `Popen` stands in for subprocess.Popen where what's started is this Python;
what runs is a process of its own all the same, with its own memory, environment, folder and standard streams, that can
be signalled and killed. Two templates: PLAIN knows torch and transformers and nothing of Spokeshave (what reloads a
saved model must be plain), OURS is forked from it and knows core as well (workers, the command line).

`install()` puts it in the place of the processes that core starts (conftest.py does, on Linux only). The marker
`cold` keeps it out: tests of the start itself start processes as a user's machine does.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import multiprocessing
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

PLAIN = (
    "torch",
    "psutil",
    "transformers",
    "transformers.modeling_utils",
    "transformers.modeling_gguf_pytorch_utils",
    "transformers.models.auto.modeling_auto",
    "transformers.models.llama.modeling_llama",
    "transformers.quantizers.auto",
    "compressed_tensors",
)
OURS = ("core.worker.loop", "core.worker.tasks", "core.methods", "core.cli.commands")
VARIABLE = "SPOKESHAVE_TESTS_WARM"  # folder of the sockets; processes that are started warm start theirs warm
ROOT = Path(__file__).parents[1]


# ---- the template --------------------------------------------------------------------------------------------------------


def serve(folder: Path, name: str, names: tuple[str, ...]) -> None:
    """Imports `names`, then forks a process for each request on the socket `folder/name` until the folder's owner is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in names:
        importlib.import_module(module)
    if "core.methods" in names:
        sys.modules["core.methods"].catalogue()
        next(installed := install())  # noqa: F841 (for as long as this process lives)
    if len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("the template has threads: what's forked from it could hang")
    gc.collect()
    gc.freeze()  # collecting in a fork would copy every page
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / f"{name}.starting"))
    listener.listen(64)
    os.rename(folder / f"{name}.starting", folder / name)  # whoever finds it can connect
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    wanted = selectors.DefaultSelector()
    wanted.register(listener, selectors.EVENT_READ)
    wanted.register(woken, selectors.EVENT_READ)
    owner, children = os.getppid(), {}
    while os.getppid() == owner:
        for key, _ in wanted.select(timeout=1):
            if key.fileobj is listener:
                talk, _ = listener.accept()
                request, given = _receive(talk)
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    for opened in (listener, talk, *children.values()):
                        opened.close()
                    os.close(woken)
                    os.close(wake)
                    _become(request, given)
                for fd in given:
                    os.close(fd)
                children[pid] = talk
                _tell(talk, {"pid": pid})
            else:
                os.read(woken, 4096)
        while children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            talk = children.pop(pid)
            _tell(talk, {"code": os.waitstatus_to_exitcode(status)})
            talk.close()


def _tell(talk: socket.socket, message: dict[str, int]) -> None:
    with contextlib.suppress(OSError):  # whoever asked may be gone
        talk.sendall(json.dumps(message).encode() + b"\n")


def _receive(talk: socket.socket) -> tuple[dict[str, Any], list[int]]:
    data, packed, _, _ = socket.recv_fds(talk, 1 << 16, 64)
    size = int.from_bytes(data[:4], "big")
    while len(data) < size + 4:
        data += talk.recv(1 << 16)
    return json.loads(data[4:]), list(packed)


def _become(request: dict[str, Any], given: list[int]) -> None:
    """Runs what was asked for in this new process, and ends it."""
    code = 1
    try:
        high = [os.dup2(fd, 300 + at, inheritable=False) for at, fd in enumerate(given)]  # out of the way of where they go
        for fd in given:
            os.close(fd)
        for fd, to in zip(high, request["to"], strict=True):
            os.dup2(fd, to, inheritable=to < 3)
            os.close(fd)
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            at = ("stdin", "stdout", "stderr").index(name)
            setattr(sys, name, open(at, mode, buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False))  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        _fresh_torch()
        code = _run(request["words"])
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            threading._shutdown()
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _fresh_torch() -> None:
    """What a new process would have read from its environment."""
    torch = sys.modules["torch"]
    if threads := os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads))


def _run(words: list[str]) -> int:
    try:
        if words[0] == "-c":
            sys.argv = ["-c", *words[2:]]
            exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
        elif words[0] == "-m":
            sys.argv = words[1:]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as left:
        if left.code is None or isinstance(left.code, int):
            return left.code or 0
        print(left.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        traceback.print_exc()
        return 130
    return 0


# ---- who asks ------------------------------------------------------------------------------------------------------------


class Popen:
    """subprocess.Popen as far as core and the tests use it. args: this Python, then -P, and a script, -m module or -c code.

    `name`: the template, 'plain' or 'ours'.
    """

    def __init__(
        self,
        args: list[Any],
        *,
        stdin: Any = None,
        stdout: Any = None,
        stderr: Any = None,
        cwd: Any = None,
        env: dict[str, str] | None = None,
        text: bool = False,
        encoding: str = "utf-8",
        pass_fds: tuple[int, ...] = (),
        name: str = "plain",
    ):
        words = [os.fspath(a) if isinstance(a, Path) else str(a) for a in args]
        if words[0] != sys.executable:
            raise ValueError(f"only this Python starts warm, not {words[0]}")
        words = words[2:] if words[1] == "-P" else words[1:]
        self.args, self.returncode = args, None
        self.stdin = self.stdout = self.stderr = None
        given, to, ours = [], [], []
        for at, wanted, attribute in ((0, stdin, "stdin"), (1, stdout, "stdout"), (2, stderr, "stderr")):
            if wanted == subprocess.PIPE:
                read, write = os.pipe()
                mine, theirs = (write, read) if at == 0 else (read, write)
                mode = ("w" if at == 0 else "r") + ("" if text else "b")
                setattr(self, attribute, open(mine, mode, encoding=encoding if text else None))  # noqa: SIM115
                ours.append(theirs)
            elif wanted == subprocess.DEVNULL:
                theirs = os.open(os.devnull, os.O_RDWR)
                ours.append(theirs)
            elif wanted == subprocess.STDOUT:
                theirs = given[1]
            else:
                theirs = at if wanted is None else wanted if isinstance(wanted, int) else wanted.fileno()
            given.append(theirs)
            to.append(at)
        given += pass_fds
        to += pass_fds
        request = {"words": words, "env": dict(os.environ if env is None else env), "cwd": str(cwd or os.getcwd()), "to": to}
        data = json.dumps(request).encode()
        data = len(data).to_bytes(4, "big") + data
        ready(name)
        self._talk = socket.socket(socket.AF_UNIX)
        self._talk.connect(str(Path(os.environ[VARIABLE], name)))
        sent = socket.send_fds(self._talk, [data[: 1 << 15]], given)
        self._talk.sendall(data[sent:])
        for fd in ours:
            os.close(fd)
        self._said = b""
        self.pid = int(self._next(None)["pid"])

    def _next(self, timeout: float | None) -> dict[str, int] | None:
        """The next message of the template; None where there's none within `timeout` seconds."""
        self._talk.settimeout(timeout)
        while b"\n" not in self._said:
            try:
                got = self._talk.recv(1024)
            except (TimeoutError, BlockingIOError):
                return None
            if not got:
                raise RuntimeError("the template of warm processes is gone")
            self._said += got
        line, self._said = self._said.split(b"\n", 1)
        return json.loads(line)

    def poll(self) -> int | None:
        if self.returncode is None and (told := self._next(0)):
            self._ended(told)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            told = self._next(timeout)
            if told is None:
                raise subprocess.TimeoutExpired(self.args, timeout)
            self._ended(told)
        return self.returncode

    def _ended(self, told: dict[str, int]) -> None:
        self.returncode = told["code"]
        self._talk.close()

    def send_signal(self, sign: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, sign)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def communicate(self, timeout: float | None = None) -> tuple[Any, Any]:
        """What it wrote to its pipes, once it has ended."""
        found: dict[str, Any] = {"stdout": None, "stderr": None}
        readers = []
        for name in found:
            if stream := getattr(self, name):
                readers.append(threading.Thread(target=lambda n=name, s=stream: found.__setitem__(n, s.read()), daemon=True))
                readers[-1].start()
        if self.stdin:
            self.stdin.close()
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        for stream in (self.stdout, self.stderr):
            if stream:
                stream.close()
        return found["stdout"], found["stderr"]


def run(args: list[Any], *, timeout: float | None = None, name: str = "ours", **how: Any) -> subprocess.CompletedProcess:
    """subprocess.run with capture_output and text, warm where that's supported."""
    if not supported():
        return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, **how)
    process = Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, name=name, **how)
    try:
        out, err = process.communicate(timeout)
    except BaseException:
        process.kill()
        process.wait(10)
        raise
    return subprocess.CompletedProcess(args, process.returncode, out, err)


class _Process:
    """multiprocessing.Process as far as core.jobs uses it."""

    def __init__(self, target: Any, args: tuple[Any, ...], **_: Any):
        self._conn, self._threads = args
        self._target = target
        self.exitcode: int | None = None

    def start(self) -> None:
        fd = self._conn.fileno()
        code = (
            "from multiprocessing.connection import Connection\n"
            f"from {self._target.__module__} import {self._target.__qualname__} as child\n"
            f"child(Connection({fd}), {self._threads!r})\n"
        )
        self._popen = Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL, pass_fds=(fd,), name="ours")
        self.pid = self._popen.pid

    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def kill(self) -> None:
        self._popen.kill()

    def terminate(self) -> None:
        self._popen.terminate()

    def join(self, timeout: float | None = None) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.exitcode = self._popen.wait(timeout)

    def close(self) -> None:
        pass


# ---- in the place of what core starts ------------------------------------------------------------------------------------

_templates: list[subprocess.Popen | Popen] = []
_home: tempfile.TemporaryDirectory | None = None


def supported() -> bool:
    return sys.platform.startswith("linux")  # elsewhere a process that has imported torch isn't safely forked


def pids() -> set[int]:
    """Of the templates, which live as long as the test run."""
    return {t.pid for t in _templates}


def ready(name: str) -> None:
    """Starts the templates unless they're there, and waits for the one called `name`."""
    global _home
    if VARIABLE not in os.environ:
        _home = tempfile.TemporaryDirectory(prefix="spokeshave-warm-")
        os.environ[VARIABLE] = _home.name
        # numpy's BLAS would start its threads when it's imported; and how OpenMP's wait is read then (core.jobs says it for workers)
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
        _templates.append(subprocess.Popen([sys.executable, "-m", "tests.warm", _home.name, "plain", *PLAIN], cwd=ROOT, env=environment))
    if _home is None:
        return  # started warm itself: whoever started the templates waited for them
    _until_there(Path(_home.name, "plain"), _templates[0])
    if name == "ours" and len(_templates) == 1:
        words = [sys.executable, "-m", "tests.warm", _home.name, "ours", *OURS]
        _templates.append(Popen(words, cwd=ROOT))
    if name == "ours":
        _until_there(Path(_home.name, "ours"), _templates[1])


def _until_there(path: Path, template: Any) -> None:
    deadline = time.monotonic() + 300
    while not path.exists():
        if template.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the template of warm processes didn't start: {template.poll()}")
        time.sleep(0.02)


def close() -> None:
    """Ends the templates."""
    global _home
    for template in reversed(_templates):
        template.kill()
        template.wait(10)
    _templates.clear()
    if _home:
        os.environ.pop(VARIABLE, None)
        _home.cleanup()
        _home = None


def install() -> Iterator[None]:
    """Puts warm processes in the place of those that the imported modules of core start; undone when it's resumed."""
    theirs = SimpleNamespace(Popen=Popen, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL, TimeoutExpired=subprocess.TimeoutExpired)
    context = SimpleNamespace(Pipe=multiprocessing.get_context("spawn").Pipe, Process=_Process)
    kept = []
    for module, name, stand_in in (
        ("core.models.verify", "subprocess", theirs),
        ("core.export.gguf", "subprocess", theirs),
        ("core.jobs", "multiprocessing", SimpleNamespace(get_context=lambda _: context)),
    ):
        if found := sys.modules.get(module):
            kept.append((found, name, getattr(found, name)))
            setattr(found, name, stand_in)
    yield
    for found, name, real in kept:
        setattr(found, name, real)


if __name__ == "__main__":
    serve(Path(sys.argv[1]), sys.argv[2], tuple(sys.argv[3:]))
