import pytest
from PySide6.QtCore import QSettings

from app import provider_choice
from app.wizards import base
from tests.app.wizards import stand_ins


@pytest.fixture(autouse=True)
def cpu_alone(monkeypatch):
    """onnxruntime has the CPU and nothing else, and need not be asked."""
    monkeypatch.setattr(provider_choice, "_known", ["cpu"])


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    """Last values are kept in a file of the test's own."""
    path = str(tmp_path / "settings.ini")
    monkeypatch.setattr(base, "store", lambda: QSettings(path, QSettings.Format.IniFormat))


@pytest.fixture
def library(qtbot, tmp_path):
    made = stand_ins.make_library(tmp_path / "workspace")
    yield made
    made.close()


@pytest.fixture
def board(qtbot):
    made = stand_ins.Board(stand_ins.catalogue())
    made.reply = stand_ins.estimate
    return made
