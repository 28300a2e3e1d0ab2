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


def test_the_starter_models_and_their_texts_stay_small():
    starter = ROOT / "resources" / "starter"
    assert sum(p.stat().st_size for p in starter.rglob("*") if p.is_file() and "__pycache__" not in p.parts) <= 25_000_000
