"""A workspace stays whole: under crashes, two writers, full disks and damaged files."""

import json
import os
import subprocess
import sys
import threading

import pytest

from core.errors import UserError
from core.records import Measurement
from core.workspace import Workspace, write_atomically
from tests.core.conftest import make_variant


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    return Workspace(tmp_path / "w", create=True)


def test_what_was_written_is_found_again(workspace, add_variant):
    made = add_variant(workspace)
    workspace.add_measurements(made.id, [Measurement(kind="perplexity", value=5.0, stderr=0.1, n=10)])
    again = Workspace(workspace.folder)
    assert again.variants() == [made]
    assert again.variant(made.id) == again.variant(made.name) == made
    assert [m.value for m in again.measurements(made.id)] == [5.0]
    assert (again.path(made.id) / "recipe.yaml").read_text().startswith("spokeshave: 1")


def test_a_plain_folder_is_no_workspace(tmp_path):
    with pytest.raises(UserError, match="not a Spokeshave workspace"):
        Workspace(tmp_path)
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(UserError, match="other files"):
        Workspace(tmp_path, create=True)
    assert (tmp_path / "letter.txt").read_text() == "mine"


def test_a_later_format_and_a_damaged_marker_are_said(workspace):
    (workspace.folder / "workspace.json").write_text('{"spokeshave": 99}')
    with pytest.raises(UserError, match="later Spokeshave"):
        Workspace(workspace.folder)
    (workspace.folder / "workspace.json").write_text("{")
    with pytest.raises(UserError, match="damaged"):
        Workspace(workspace.folder)


def test_nothing_is_left_of_what_was_not_committed(workspace):
    with pytest.raises(RuntimeError, match="half-way"), workspace.staging("x-1") as staged:
        (staged / "half").write_text("half")
        raise RuntimeError("half-way")
    assert workspace.ids() == []
    assert list((workspace.folder / ".staging").iterdir()) == []


def test_a_writer_killed_half_way_is_swept_and_a_living_one_is_not(workspace):
    """The lock dies with its process, so what the dead left is told from what the living still write."""
    code = (
        "import sys, time\nfrom core.workspace import Workspace\n"
        "w = Workspace(sys.argv[1])\n"
        "with w.staging('half-1') as s:\n    (s / 'f').write_text('x'); print('ready', flush=True); time.sleep(60)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(workspace.folder)], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline().strip() == "ready"
        assert Workspace(workspace.folder).sweep() == []
        assert (workspace.folder / ".staging" / "half-1" / "f").exists()
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    Workspace(workspace.folder)
    assert list((workspace.folder / ".staging").iterdir()) == []


def test_measurements_of_many_writers_all_arrive(workspace, add_variant):
    made = add_variant(workspace)

    def write(k):
        for i in range(10):
            Workspace(workspace.folder).add_measurements(made.id, [Measurement(kind="k", value=100 * k + i)])

    writers = [threading.Thread(target=write, args=(k,)) for k in range(4)]
    [w.start() for w in writers]
    [w.join() for w in writers]
    assert len(workspace.measurements(made.id)) == 40


def test_a_last_line_cut_short_is_passed_over(workspace, add_variant):
    made = add_variant(workspace)
    workspace.add_measurements(made.id, [Measurement(kind="a", value=1)])
    with open(workspace.path(made.id) / "measurements.jsonl", "a") as out:
        out.write('{"kind": "b", "val')
    assert [m.kind for m in workspace.measurements(made.id)] == ["a"]


def test_a_parent_cannot_be_deleted_before_its_children(workspace, add_variant):
    parent = add_variant(workspace, "parent")
    child = add_variant(workspace, "child", parent=parent.id)
    with pytest.raises(UserError, match="child"):
        workspace.delete(parent.id)
    workspace.delete(child.id)
    workspace.delete(parent.id)
    assert workspace.ids() == []
    assert not list(workspace.variants_folder.iterdir())


def test_a_damaged_record_hides_one_variant_only(workspace, add_variant):
    good, bad = add_variant(workspace, "good"), add_variant(workspace, "bad")
    (workspace.path(bad.id) / "variant.json").write_text("{")
    assert workspace.variants() == [good]
    with pytest.raises(UserError, match="damaged"):
        workspace.variant(bad.id)


@pytest.mark.parametrize("name", ["", "../x", "a/b", "nonsense"])
def test_an_unknown_variant_is_said(workspace, name):
    with pytest.raises(UserError):
        workspace.variant(name)


def test_a_near_name_is_suggested(workspace, add_variant):
    made = add_variant(workspace, "quantized")
    with pytest.raises(UserError, match="Did you mean"):
        workspace.variant(made.id[:-1])


def test_of_several_with_a_name_none_is_taken(workspace, add_variant):
    """It was said that there's none."""
    made = [add_variant(workspace, "twice") for _ in range(2)]
    with pytest.raises(UserError, match="2 variants are called twice") as caught:
        workspace.variant("twice")
    assert all(v.id in caught.value.sentence for v in made)


def test_the_root_of_a_line(workspace, add_variant):
    a = add_variant(workspace, "a")
    b = add_variant(workspace, "b", parent=a.id)
    c = add_variant(workspace, "c", parent=b.id)
    assert workspace.root(c) == a
    assert workspace.root(make_variant("orphan", parent="gone")).name == "orphan"


def test_the_stamp_moves_with_every_change(workspace, add_variant):
    before = workspace.stamp()
    made = add_variant(workspace)
    middle = workspace.stamp()
    workspace.add_measurements(made.id, [Measurement(kind="a", value=1)])
    assert len({before, middle, workspace.stamp()}) == 3


def test_a_failed_write_keeps_the_old_text(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_atomically(path, json.dumps(1))

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, json.dumps(2))
    assert path.read_text() == "1"
    assert list(tmp_path.iterdir()) == [path]


def test_two_may_make_one_workspace_at_once(tmp_path, monkeypatch):
    """The second sees the marker of the first half-written, or comes when it's just in place; neither is a stranger's file."""
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / ".workspace.json.4711").write_text("{")
    assert Workspace(folder, create=True).variants() == []

    other = tmp_path / "v"
    look = Workspace._strange

    def late(self):
        monkeypatch.setattr(Workspace, "_strange", look)
        Workspace(other, create=True).save_settings(text="mine.txt")
        (other / "variants").rmdir()  # as far as the first had come
        return look(self)

    monkeypatch.setattr(Workspace, "_strange", late)
    assert Workspace(other, create=True).settings.text == "mine.txt"
