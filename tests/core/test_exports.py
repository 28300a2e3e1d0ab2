"""What a workspace remembers of exports, and what's said where a folder has changed behind its back."""

import json
import shutil

import pytest

from core import exports
from core.records import ExportRecord
from core.workspace import Workspace


@pytest.fixture
def home(tmp_path):
    return Workspace(tmp_path / "ws", create=True)


def exported(folder, made="2026-01-01", **changes) -> ExportRecord:
    folder.mkdir(exist_ok=True)
    (folder / "export_report.json").write_text(json.dumps({"made_by": "spokeshave", "made": made}))
    return ExportRecord(folder=str(folder), made=made, profile="fast", weights="8-bit integers, the rest dense", bytes=70, **changes)


def test_exports_are_remembered_and_forgotten(home, add_variant, tmp_path):
    variant = add_variant(home)
    before = home.stamp()
    first, second = exported(tmp_path / "a"), exported(tmp_path / "b")
    home.add_export(variant.id, first)
    assert home.stamp() != before
    home.add_export(variant.id, second)
    again = exported(tmp_path / "a", made="2026-02-02")
    home.add_export(variant.id, again)  # replaces the first
    assert home.exports(variant.id) == [second, again]
    home.forget_export(variant.id, second.folder)
    assert home.exports(variant.id) == [again]
    assert (tmp_path / "b").is_dir()


def test_a_line_cut_short_is_passed_over(home, add_variant, tmp_path):
    variant = add_variant(home)
    home.add_export(variant.id, exported(tmp_path / "a"))
    with open(home.path(variant.id) / "exports.jsonl", "a") as out:
        out.write('{"folder": "/x", "ma')
    assert len(home.exports(variant.id)) == 1


def test_what_became_of_a_folder_is_said(tmp_path):
    record = exported(tmp_path / "a")
    assert exports.why_not(record) == ""
    exported(tmp_path / "a", made="2026-03-03")
    assert exports.why_not(record) == "Another export lies in its folder by now."
    (tmp_path / "a" / "export_report.json").unlink()
    assert exports.why_not(record) == "Its folder holds something else by now."
    shutil.rmtree(tmp_path / "a")
    assert exports.why_not(record) == "Its folder isn't there any more."


def test_files_that_were_cut_short_are_noticed(tmp_path):
    record = exported(tmp_path / "a")
    (tmp_path / "a" / "export_report.json").write_text(json.dumps({"made": record.made, "graph_bytes": 10, "data_bytes": 100}))
    (tmp_path / "a" / "model.onnx").write_bytes(b"g" * 10)
    (tmp_path / "a" / "model.onnx.data").write_bytes(b"d" * 100)
    assert exports.why_not(record) == ""
    (tmp_path / "a" / "model.onnx.data").write_bytes(b"d" * 99)
    assert exports.why_not(record) == "Some of its files are missing or cut short."


def test_exact_and_rounded_products_are_told_apart(tmp_path):
    exact, rounded = exported(tmp_path / "a", activations="float32"), exported(tmp_path / "b", activations="int8")
    assert exports.title(exact) == "fast, 8-bit"
    assert exports.title(rounded) == "fast, 8-bit, rounded"
    assert exports.title(rounded, {"fast": "f", "rounded": "r"}) == "f, 8-bit, r"


def test_those_that_are_gone_are_named_with_why(home, add_variant, tmp_path):
    variant = add_variant(home)
    for name in "ab":
        home.add_export(variant.id, exported(tmp_path / name))
    assert exports.gone(home, home.variants()) == {}
    shutil.rmtree(tmp_path / "b")
    assert exports.gone(home, home.variants()) == {f"onnx:{tmp_path}/b": "Its folder isn't there any more."}


def test_exports_stand_where_variants_do(home, add_variant, tmp_path):
    variant = add_variant(home, "pico")
    other = add_variant(home, "classes", info=variant.info.model_copy(update={"task": "classifier"}))
    home.add_export(variant.id, exported(tmp_path / "a"))
    home.add_export(variant.id, exported(tmp_path / "gone"))
    home.add_export(other.id, exported(tmp_path / "c", task="classifier"))
    shutil.rmtree(tmp_path / "gone")
    (one,) = exports.models(home, home.variants())
    assert (one.id, one.name, one.parent) == (f"onnx:{tmp_path}/a", "pico (fast, 8-bit)", variant.id)
    assert one.ledger.bytes_on_disk == 70
    assert one.info == variant.info
    assert exports.folder_of(one.id) == tmp_path / "a"
    assert exports.folder_of(variant.id) is None
    assert exports.find(home, tmp_path / "a")[0].id == variant.id
    assert exports.find(home, tmp_path / "gone") is None
    home.add_export(variant.id, exported(tmp_path / "b"))  # another of the same title
    assert [v.name for v in exports.models(home, home.variants())] == ["pico (fast, 8-bit, a)", "pico (fast, 8-bit, b)"]
