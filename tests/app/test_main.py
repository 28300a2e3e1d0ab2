"""Starting: without a display, what the window's process imports, and that it ends when it's told to."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.__main__ import NO_DISPLAY, parse

ROOT = Path(__file__).resolve().parents[2]


def environment(tmp_path, **changes):
    kept = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    homes = {name: str(tmp_path / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    return kept | homes | {"PYTHONPATH": str(ROOT)} | changes


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux runs without a display")
def test_without_a_display_it_names_the_command_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "app"], capture_output=True, text=True, env=environment(tmp_path), timeout=60, cwd=tmp_path
    )
    assert done.returncode == 1
    assert done.stderr.strip() == NO_DISPLAY
    assert "spokeshave-cli" in done.stderr
    assert done.stdout == ""


def test_arguments():
    assert parse([]).folder is None
    assert parse(["ws", "--starter", "--dark"]).dark
    assert parse(["--language", "zh_CN"]).language == "zh_CN"
    with pytest.raises(SystemExit):
        parse(["--dark", "--light"])


HEAVY = ("torch", "transformers", "numpy", "pyqtgraph", "onnxruntime", "huggingface_hub", "safetensors", "tokenizers")


def test_the_window_imports_no_torch(tmp_path):
    """The window is painted, with a model in it, before anything heavy is imported; then the plot comes, with numpy."""
    code = f"""
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
app = QApplication([])
from app.main_window import MainWindow
from app.settings import Settings
from app.theme import theme
from tests.app.invented import StillBoard, invent_workspace
theme().apply(app)
folder = Path({str(tmp_path / "ws")!r})
invent_workspace(folder)
window = MainWindow(folder, board=StillBoard(), settings=Settings(folder.parent / "s.ini"))
window.show()
window.grab()
print(sorted(set(sys.modules) & set({HEAVY!r})))
app.processEvents()
assert window.tradeoff._plot is not None
window.show_page("decode")
for family in ("open", "quantization", "export"):
    window.open_wizard(family, "tiny").reject()
app.processEvents()
print(sorted(set(sys.modules) & set({HEAVY!r}) - {{"numpy", "pyqtgraph"}}))
window.close()
"""
    env = environment(tmp_path, QT_QPA_PLATFORM="offscreen")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[]", "[]"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_shows_warms_a_worker_and_ends_at_a_signal(tmp_path):
    env = environment(tmp_path, QT_QPA_PLATFORM="offscreen", SPOKESHAVE_TIMING="1", OMP_NUM_THREADS="1")
    command = [sys.executable, "-m", "app", str(tmp_path / "ws"), "--dark"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env, cwd=ROOT)
    try:
        for line in process.stderr:
            if line.startswith("window shown"):
                break
        else:
            pytest.fail("the window wasn't shown")
        seconds = float(line.split()[2])
        assert seconds < 60  # a loaded machine says nothing about speed; the figure is printed by SPOKESHAVE_TIMING
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()
    assert (tmp_path / "ws" / "workspace.json").is_file()
