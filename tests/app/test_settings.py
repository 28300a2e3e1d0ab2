"""What's remembered between sessions."""

import pytest
from PySide6.QtCore import QByteArray

from app.settings import Settings, default_workspace
from core.workspace import Workspace


def test_settings_come_back(tmp_path):
    path = tmp_path / "s.ini"
    first = Settings(path)
    assert first.theme == "system"
    first.theme, first.language, first.threads = "dark", "zh_CN", 3
    first.set_layout("across", QByteArray(b"abc"))
    folder = Workspace(tmp_path / "ws", create=True).folder
    first.remember(folder)
    first.sync()
    again = Settings(path)
    assert (again.theme, again.language, again.threads, again.workspace) == ("dark", "zh_CN", 3, folder)
    assert bytes(again.layout("across")) == b"abc"
    assert again.layout("down").isEmpty()


def test_a_workspace_that_is_gone_is_forgotten(tmp_path):
    settings = Settings(tmp_path / "s.ini")
    settings.remember(tmp_path / "never")
    assert settings.workspace is None
    assert settings.recent == []


def test_recent_workspaces_last_first(tmp_path):
    settings = Settings(tmp_path / "s.ini")
    folders = [Workspace(tmp_path / name, create=True).folder for name in "abc"]
    for folder in (*folders, folders[0]):
        settings.remember(folder)
    assert [p.name for p in settings.recent] == ["a", "c", "b"]


def test_nonsense_isnt_stored(tmp_path):
    settings = Settings(tmp_path / "s.ini")
    with pytest.raises(ValueError, match="unknown theme"):
        settings.theme = "pink"
    with pytest.raises(ValueError, match="unknown language"):
        settings.language = "xx"
    assert default_workspace().name == "Spokeshave"
