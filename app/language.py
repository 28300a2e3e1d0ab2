"""Language: installs the translations of the window and of Qt's own dialogs. English is what the source says, so it needs none."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from resources import ROOT

_installed: list[QTranslator] = []


def install_language(app: QCoreApplication, language: str) -> bool:
    """Switches to a language ('en', 'zh_CN'); whether its translation was found. Views made afterwards speak it."""
    for translator in _installed:
        app.removeTranslator(translator)
    _installed.clear()
    QLocale.setDefault(QLocale(language))
    if language == "en":
        return True
    own, qt = QTranslator(app), QTranslator(app)
    if qt.load(f"qtbase_{language}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(qt)
        _installed.append(qt)
    found = own.load(f"spokeshave_{language}", str(ROOT / "translations"))
    if found:
        app.installTranslator(own)
        _installed.append(own)
    return found
