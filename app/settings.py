"""Settings: what the window remembers between sessions, in the place where the system keeps such things."""

from __future__ import annotations

from pathlib import Path

import platformdirs
from PySide6.QtCore import QByteArray, QLocale, QSettings

THEMES = ("system", "light", "dark")
LANGUAGES = {"en": "English", "zh_CN": "简体中文"}


class Settings:
    """Each property reads and writes through. `path`: an INI file of its own, for tests."""

    def __init__(self, path: Path | None = None):
        self._store = QSettings(str(path), QSettings.Format.IniFormat) if path else QSettings("Spokeshave", "Spokeshave")

    def _get(self, key: str, default: str = "") -> str:
        return str(self._store.value(key, default) or default)

    def _set(self, key: str, value: object) -> None:
        self._store.setValue(key, value)

    @property
    def theme(self) -> str:
        """system, light or dark."""
        return value if (value := self._get("theme", "system")) in THEMES else "system"

    @theme.setter
    def theme(self, value: str) -> None:
        if value not in THEMES:
            raise ValueError(f"unknown theme: {value}")
        self._set("theme", value)

    @property
    def language(self) -> str:
        """A key of LANGUAGES; the system's, until one was chosen."""
        stored = self._get("language")
        if stored in LANGUAGES:
            return stored
        return "zh_CN" if QLocale.system().language() == QLocale.Language.Chinese else "en"

    @language.setter
    def language(self, value: str) -> None:
        if value not in LANGUAGES:
            raise ValueError(f"unknown language: {value}")
        self._set("language", value)

    @property
    def threads(self) -> int:
        """Threads a worker may use; 0: all cores but the window's share."""
        return max(0, int(self._get("threads", "0")))

    @threads.setter
    def threads(self, value: int) -> None:
        self._set("threads", int(value))

    @property
    def workspace(self) -> Path | None:
        """The workspace that was open last, where it's still there."""
        stored = self._get("workspace")
        return Path(stored) if stored and (Path(stored) / "workspace.json").is_file() else None

    @workspace.setter
    def workspace(self, value: Path | None) -> None:
        self._set("workspace", str(value) if value else "")

    @property
    def recent(self) -> list[Path]:
        """Workspaces opened before, the last first, those that are still there."""
        stored = [line for line in self._get("recent").split("\n") if line]
        return [Path(line) for line in stored if (Path(line) / "workspace.json").is_file()]

    def remember(self, workspace: Path) -> None:
        self.workspace = workspace
        rest = [p for p in self.recent if p != workspace]
        self._set("recent", "\n".join(str(p) for p in [workspace, *rest][:8]))

    def layout(self, name: str) -> QByteArray:
        """A stored geometry or splitter state; empty where there's none."""
        value = self._store.value(f"layout/{name}")
        return value if isinstance(value, QByteArray) else QByteArray()

    def set_layout(self, name: str, value: QByteArray) -> None:
        self._set(f"layout/{name}", value)

    def sync(self) -> None:
        self._store.sync()


def default_workspace() -> Path:
    """Where the starter workspace lies."""
    return Path(platformdirs.user_data_dir("Spokeshave", appauthor=False)) / "Spokeshave"
