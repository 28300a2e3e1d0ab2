"""Commands on exported folders: what they ask of a worker, and what they say of its answer. The worker is made up."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from core.cli import commands
from core.cli.commands import cli
from core.workspace import Workspace


@pytest.fixture
def asked(monkeypatch):
    """Specs that were submitted; `answer` is what comes back."""

    class Asked(list):
        answer: dict = {}

    found = Asked()

    class Driver:
        def __init__(self, **_):
            pass

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def run(self, spec, title, **_):
            found.append(spec)
            return dict(found.answer)

    monkeypatch.setattr(commands, "Driver", Driver)
    return found


@pytest.fixture
def folders(tmp_path):
    """Two that look like exports, and one that doesn't."""
    made = [tmp_path / name for name in ("dense", "packed", "empty")]
    for folder in made:
        folder.mkdir()
    (made[0] / "model.onnx").write_bytes(b"x")
    (made[1] / "onnx").mkdir()
    (made[1] / "onnx" / "model_quantized.onnx").write_bytes(b"x")
    return [str(folder) for folder in made]


@pytest.fixture
def home(tmp_path, add_variant):
    made = Workspace(tmp_path / "w", create=True)
    add_variant(made, "seven")
    return made


def run(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


def test_folders_are_targets_and_drafts_without_a_workspace(asked, folders):
    dense, packed, _ = folders
    done = run("generate", "--target", dense, "--draft", packed, "--prompt", "x", "--json")
    assert done.exit_code == 0, done.output
    spec = asked[0]
    assert (spec.workspace, spec.target, spec.draft, spec.proposer) == ("", f"onnx:{dense}", f"onnx:{packed}", "draft")


def test_folders_and_variants_mix(asked, folders, home):
    dense, packed, _ = folders
    run(
        "generate",
        "-w",
        home.folder,
        "--target",
        "seven",
        "--draft",
        packed,
        "--beside",
        dense,
        "--race",
        "--prompt",
        "x",
        "--provider",
        "cpu",
    )
    spec, seven = asked[0], home.variants()[0].id
    assert (spec.target, spec.draft, spec.beside, spec.provider) == (seven, f"onnx:{packed}", f"onnx:{dense}", "cpu")
    run("find-draft", "-w", home.folder, "--target", dense, "--draft", packed, "--draft", "seven", "--prompt", "x")
    assert (asked[1].target, asked[1].drafts) == (f"onnx:{dense}", (f"onnx:{packed}", seven))
    run("exactness", "-w", home.folder, "--target", dense, "--draft", "seven", "--prompt", "x")
    assert (asked[2].target, asked[2].draft) == (f"onnx:{dense}", seven)


def test_a_variant_needs_its_workspace_and_a_folder_its_graph(asked, folders, home):
    said = run("generate", "--target", "seven", "--prompt", "x")
    assert said.exit_code == 2
    assert "name it with --workspace" in said.output
    said = run("generate", "-w", home.folder, "--target", folders[2], "--prompt", "x")
    assert said.exit_code == 1
    assert not asked


def test_an_export_that_writes_nothing_is_called_so(asked, folders, home):
    """It was said to be no export, or no variant."""
    (Path(folders[2]) / "export_report.json").write_text("{}")
    for words in ((), ("-w", home.folder)):
        said = run("generate", *words, "--target", folders[2], "--prompt", "x")
        assert said.exit_code == 1
        assert "doesn't continue text" in " ".join(said.output.split())
    assert not asked


def test_an_exports_notes_are_printed(asked, home, tmp_path):
    """Accuracy on the examples that were given is in them alone."""
    words = "Right on 9 of 10 held-out examples, where torch in float32 is right on 10."
    asked.answer = {"folder": "out", "report": {"task": "classifier", "max_abs": 0.1, "notes": [words]}}
    done = run("export-onnx", "-w", home.folder, "--variant", "seven", "--to", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert f"note: {words}" in done.output


def test_three_ways_are_printed_with_where_they_part(asked, folders, home):
    asked.answer = {
        "forms": {"variant": {"name": "seven", "tokens_per_s": 20.0}, "export": {"name": "dense (ONNX)", "tokens_per_s": 50.0}},
        "prompts": [
            {
                "prompt": "Once",
                "forms": {"variant": {"ids": [1, 2], "pieces": [" a", " hat"]}, "export": {"ids": [1, 3], "pieces": [" a", " [b]"]}},
                "parts": {"export": {"position": 1, "margin": 0.0021}},
            }
        ],
        "notes": ["Other programs used 50% of the processors meanwhile."],
    }
    done = run("compare-export", "-w", home.folder, folders[0], "--variant", "seven", "--prompt", "Once")
    assert done.exit_code == 0, done.output
    assert "a\u25b6 [b]" in done.output
    assert "0.0021" in done.output
    assert "50.0" in done.output
    assert "note: Other programs" in done.output
    assert asked[0].variant == home.variants()[0].id


def test_classes_are_printed_by_both(asked, folders, home):
    asked.answer = {
        "classes": ["bad", "good"],
        "rows": [{"text": "A fine film.", "export": [0.25, 0.75], "torch": [0.26, 0.74]}],
        "seconds": {"export": 0.001, "torch": 0.004},
        "largest": 0.01,
        "notes": [],
    }
    done = run("classify-export", "-w", home.folder, folders[0], "--variant", "seven", "--text", "A fine film.")
    assert "0.7500 / 0.7400" in done.output
    assert "1.00 ms by onnxruntime, 4.00 ms by torch" in done.output


def test_images_are_written(asked, folders, home, tmp_path):
    asked.answer = {"png": b"\x89PNG", "count": 2, "steps": 4, "largest": 1e-6, "seconds": {"export": 0.001, "torch": 0.002}, "notes": []}
    done = run("draw-export", "-w", home.folder, folders[0], "--variant", "seven", "--to", tmp_path / "x.png", "--json")
    assert (tmp_path / "x.png").read_bytes() == b"\x89PNG"
    assert json.loads(done.output)["steps"] == 4
