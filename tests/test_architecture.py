"""Boundaries are executable: the import contracts, what the window may not import, and a leak of Qt's binding."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def test_the_import_contracts_hold():
    done = subprocess.run([Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_window_imports_neither_torch_nor_transformers():
    code = (
        "import sys, app.main_window, app.job_board, app.decode_view, app.wizards.compress, app.wizards.open_model, app.wizards.export\n"
        "heavy = {'torch', 'transformers', 'onnxruntime', 'onnx', 'huggingface_hub', 'safetensors', 'tokenizers'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_command_line_answers_light_questions_without_torch():
    code = "import sys, core.cli\nassert not {'torch', 'transformers'} & set(sys.modules)\n"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_qts_binding_does_not_lose_references_to_none(qtbot):
    """PySide6 6.12.0 on Python 3.11 lost one at nearly every void call and aborted after some thousands."""
    from PySide6.QtWidgets import QWidget

    widget = QWidget()
    qtbot.addWidget(widget)
    before = sys.getrefcount(None)
    for _ in range(1000):
        widget.update()
    assert abs(sys.getrefcount(None) - before) < 100


@pytest.mark.parametrize("script", ["spokeshave-cli", "spokeshave"])
def test_the_scripts_point_at_what_exists(script):
    import importlib
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = (project["scripts"] | project["gui-scripts"])[script].partition(":")
    assert callable(getattr(importlib.import_module(module), function))


def test_no_path_of_a_machine_and_nothing_large_is_in_the_tree():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    starter = sum(p.stat().st_size for p in files if p.is_relative_to(ROOT / "resources" / "starter") and p.exists())
    assert starter <= 25_000_000
    for path in files:
        if path.suffix in (".py", ".md", ".toml", ".ts", ".yaml", "") and path.is_file() and path.stat().st_size < 2_000_000:
            text = path.read_text(encoding="utf-8", errors="ignore")
            assert "/home/" + "user" not in text, path
            assert "/work" + "/" not in text, path
