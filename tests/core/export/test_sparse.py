"""The sparse file: smaller where there are zeros, never larger than needed, and every byte comes back."""

import json
import shutil

import pytest
import torch
from click.testing import CliRunner
from safetensors.torch import load_file, save_file

from core.cli.commands import cli
from core.errors import Cancelled, UserError
from core.export import sparse
from core.models import load, save
from core.models.blocks import linears, weight_of
from core.records import ExportSpec, Job
from core.run import Run
from core.worker import tasks
from core.workspace import Workspace
from tests.conftest import make_pico
from tests.core.conftest import make_variant


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != "export_report.json"}


@pytest.fixture(scope="module")
def pruned(tmp_path_factory):
    """A pico model in bfloat16, every other weight of its linear layers zero."""
    folder = make_pico(tmp_path_factory.mktemp("pico") / "pico", dtype="bfloat16", hidden=64, intermediate=128)
    loaded, made = load.load(folder), tmp_path_factory.mktemp("pico") / "pruned"
    for _, module in linears(loaded.model):
        weight_of(module)[:, ::2] = 0
    made.mkdir()
    save.save(loaded.model, made, folder, run=Run())
    return made


def pack(folder, to, **more):
    report = sparse.pack(folder, to, Run(), **more)
    return report, to / report["file"]


def test_it_comes_back_bit_for_bit_and_is_as_small_as_reckoned(pruned, tmp_path):
    report, file = pack(pruned, tmp_path / "packed", name="pruned 50 %")
    assert file.name == "pruned-50.sparse.safetensors"
    sparse.unpack(file, tmp_path / "back", Run())
    assert contents(tmp_path / "back") == contents(pruned)
    weights = [weight_of(m) for _, m in linears(load.load(pruned).model)]
    saved = sum(w.numel() // 2 * 2 - w.numel() // 8 for w in weights)  # half of two bytes each, less a bit each
    assert report["sparse_tensors"] == len(weights)
    assert report["bytes"] == file.stat().st_size
    assert report["dense_bytes"] == sum(map(len, contents(pruned).values()))
    assert abs(report["dense_bytes"] - saved - report["bytes"]) < 8000  # the header names its tensors, and twice where they're sparse
    assert {p.name for p in (tmp_path / "packed").iterdir()} == {file.name, "export_report.json"}


def test_every_dtype_minus_zero_nan_empty_and_scalar_tensors_come_back(tmp_path):
    folder = tmp_path / "odd"
    folder.mkdir()
    generator = torch.Generator().manual_seed(0)
    state = {}
    for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int64, torch.int32, torch.int8, torch.uint8):
        values = (torch.randn(3, 37, generator=generator) * 20).to(dtype)
        state[f"of_{dtype}".replace(".", "_")] = values.masked_fill(torch.rand(3, 37, generator=generator) < 0.7, 0)
    state["float8"] = torch.randn(64, generator=generator).mul(torch.arange(64) % 3 == 0).to(torch.float8_e4m3fn)
    state["minus"] = torch.tensor([-0.0, 0.0, float("nan"), float("-inf")] + [0.0] * 60)
    state |= {"none": torch.empty(0, 4), "one": torch.tensor(3.5), "zeros": torch.zeros(101, dtype=torch.bfloat16), "mask:x": torch.ones(2)}
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text("{}")
    _, file = pack(folder, tmp_path / "packed")
    sparse.unpack(file, tmp_path / "back", Run())
    assert contents(tmp_path / "back") == contents(folder)
    held = load_file(file)
    assert held["kept:minus"].view(torch.int32).count_nonzero() == 3
    assert held["kept:zeros"].numel() == 0


def test_shards_and_their_index_come_back(pruned, tmp_path, monkeypatch):
    monkeypatch.setattr(save, "SHARD", 20_000)
    folder = tmp_path / "shards"
    folder.mkdir()
    save.save(load.load(pruned).model, folder, pruned, run=Run())
    assert len(list(folder.glob("*.safetensors"))) > 2
    _, file = pack(folder, tmp_path / "packed")
    assert sorted(sparse.unpack(file, tmp_path / "back", Run())) == sorted(contents(folder))
    assert contents(tmp_path / "back") == contents(folder)


def test_what_would_be_no_smaller_is_refused(pico_llama, tmp_path):
    with pytest.raises(UserError, match="no smaller"):
        pack(pico_llama, tmp_path / "packed")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("harm", ["flipped", "cut", "foreign", "outside"])
def test_what_is_damaged_is_refused_and_leaves_nothing(pruned, tmp_path, harm):
    _, file = pack(pruned, tmp_path / "packed")
    raw = bytearray(file.read_bytes())
    length = int.from_bytes(raw[:8], "little")
    if harm == "flipped":
        raw[-100] ^= 1
    elif harm == "cut":
        raw = raw[:-10]
    else:
        old, new = (sparse.FORMAT, "spokeshave-sparse-9") if harm == "foreign" else ("config.json", "../conf.json")
        header = raw[8 : 8 + length].replace(old.encode(), new.encode())
        raw = len(header).to_bytes(8, "little") + header + raw[8 + length :]
    file.write_bytes(raw)
    with pytest.raises(UserError):
        sparse.unpack(file, tmp_path / "back", Run())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["packed"]


def test_a_folder_that_holds_something_is_not_written_into(pruned, tmp_path):
    _, file = pack(pruned, tmp_path / "packed")
    with pytest.raises(UserError, match="there already"):
        sparse.unpack(file, tmp_path / "packed", Run())
    with pytest.raises(UserError, match="earlier export"):
        pack(pruned, tmp_path / "packed")
    pack(pruned, tmp_path / "packed", overwrite=True)


def test_cancelled_it_leaves_nothing(pruned, tmp_path):
    class Stopping(Run):
        def check_cancelled(self):
            raise Cancelled

    with pytest.raises(Cancelled):
        sparse.pack(pruned, tmp_path / "packed", Stopping())
    assert not list(tmp_path.iterdir())


def test_from_the_command_line_it_comes_back_or_says_why_not(pruned, tmp_path):
    _, file = pack(pruned, tmp_path / "packed")
    words = ["unpack-sparse", str(file), "--to", str(tmp_path / "back"), "--json"]
    done = CliRunner().invoke(cli, words)
    assert json.loads(done.stdout)["files"]
    assert contents(tmp_path / "back") == contents(pruned)
    again = CliRunner().invoke(cli, words)
    assert again.exit_code == 1
    assert "is there already" in again.output


def test_as_a_job_its_size_is_kept_with_the_variant(pruned, tmp_path):
    workspace = Workspace(tmp_path / "ws", create=True)
    variant = make_variant("pruned")
    with workspace.staging(variant.id) as staged:
        shutil.copytree(pruned, staged, dirs_exist_ok=True)
        workspace.commit(staged, variant)
    spec = ExportSpec(workspace=str(workspace.folder), variant=variant.id, to=str(tmp_path / "packed"), format="sparse")
    result = tasks.export(Job(id="j", title="", spec=spec), Run())
    file = tmp_path / "packed" / result["report"]["file"]
    found = [m for m in workspace.measurements(variant.id) if m.kind == "sparse_bytes"]
    assert [m.value for m in found] == [file.stat().st_size]
    sparse.unpack(file, tmp_path / "back", Run())
    assert contents(tmp_path / "back") == contents(pruned)
    assert json.loads((tmp_path / "packed" / "export_report.json").read_text())["made_by"] == "spokeshave"
