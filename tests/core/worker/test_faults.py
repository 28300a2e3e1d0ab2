"""What a person's machine does to a job: a full disk, too little memory, a folder that may not be written to."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.recipe import Step
from core.records import ApplySpec, ImportSpec, Job
from core.run import Run
from core.worker.tasks import TASKS
from core.workspace import Workspace

ROOT = Path(__file__).parents[3]


def do(spec):
    return TASKS[spec.kind](Job(id="job", title="t", spec=spec), Run("job"))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 40 MB. Needs the right to mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small file system can't be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_is_one_sentence_and_leaves_the_workspace_whole(small_disk, pico_llama):
    home = small_disk / "w"
    imported = do(ImportSpec(workspace=str(home), source=str(pico_llama), measure=False))["variant"]
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 200_000))
    spec = ApplySpec(workspace=str(home), variant=imported, steps=(Step(method="magnitude"),), measure=False)
    with pytest.raises(Exception, match="disk") as caught:
        do(spec)
    assert getattr(caught.value, "kind", "disk") == "disk"
    workspace = Workspace(home)
    assert workspace.ids() == [imported]
    assert [p for p in (home / ".staging").iterdir() if p.is_dir()] == []
    filler.unlink()


def test_the_command_line_says_a_full_disk_in_one_sentence(small_disk, pico_llama):
    (small_disk / "filler").write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 60_000))
    done = subprocess.run(
        [sys.executable, "-m", "core", "import", str(pico_llama), "-w", str(small_disk / "w"), "--no-measure"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "disk" in done.stderr.lower()
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.slow
def test_too_little_memory_is_one_sentence(tmp_path, pico_llama):
    """The address space is limited just above what the libraries take, so that a large allocation fails in the middle of work."""
    code = (
        "import resource, sys, torch, transformers\n"
        "from core.errors import explain\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000, used + 300_000_000))\n"
        "try:\n    torch.ones(200_000_000)\n"
        "except Exception as error:\n    told = explain(error)\n    print(told.kind); print(told)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.stdout.splitlines()[0] == "memory", done.stderr
    assert "memory" in done.stdout.splitlines()[1]
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_permission_is_one_sentence(tmp_path, pico_llama):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    with pytest.raises(Exception, match="permission"):
        Workspace(locked / "w", create=True)
