"""`spokeshave`, or `python -m app`: opens the window. Qt is imported only once it's known that there's a screen."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

BEGUN = time.perf_counter()
NO_DISPLAY = "There is no display to open a window on; use spokeshave-cli in a terminal instead (spokeshave-cli --help)."


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="spokeshave", description="Prune, quantize and distil models, and see what each cut cost.")
    parser.add_argument("folder", nargs="?", type=Path, help="the workspace to open; made where it isn't there")
    starter = "bring in the starter models (into the default workspace, where no folder is given)"
    parser.add_argument("--starter", action="store_true", help=starter)
    look = parser.add_mutually_exclusive_group()
    look.add_argument("--dark", action="store_true", help="dark, whatever the settings say")
    look.add_argument("--light", action="store_true", help="light, whatever the settings say")
    parser.add_argument("--language", choices=("en", "zh_CN"), help="the language of the window")
    return parser.parse_args(arguments)


def has_display() -> bool:
    """Whether a window can be shown. On Linux that takes a display server, or a platform named on purpose."""
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def main(arguments: list[str] | None = None) -> int:
    multiprocessing.freeze_support()
    options = parse(arguments)
    if not has_display():
        print(NO_DISPLAY, file=sys.stderr)
        return 1
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app.error_dialog import install_excepthook
    from app.language import install_language
    from app.main_window import MainWindow, wants_dark
    from app.settings import Settings
    from app.theme import icon, theme

    app = QApplication(sys.argv[:1])
    app.setApplicationName("Spokeshave")
    app.setDesktopFileName("spokeshave")
    settings = Settings()
    theme().set_dark(options.dark or (not options.light and wants_dark(settings.theme)))
    theme().apply(app)
    app.setWindowIcon(icon("cube", "accent"))
    if options.language:
        settings.language = options.language
    install_language(app, settings.language)
    window = MainWindow(options.folder, starter=options.starter, settings=settings)
    install_excepthook(window)
    window.show()

    # Python sees signals between two of Qt's events, which the board's timer brings 30 times a second
    signal.signal(signal.SIGINT, lambda *_: window.close())
    signal.signal(signal.SIGTERM, lambda *_: window.close_now())

    def shown() -> None:
        if os.environ.get("SPOKESHAVE_TIMING"):
            print(f"window shown {_since_start():.3f} s after the process began", file=sys.stderr, flush=True)
        window.board.warm()
        if after := os.environ.get("SPOKESHAVE_QUIT_AFTER"):  # seconds; for a look at the start without a person
            QTimer.singleShot(int(float(after) * 1000), window, window.close_now)

    QTimer.singleShot(0, window, shown)
    return app.exec()


def _since_start() -> float:
    """Seconds since the process began, the interpreter's own start included."""
    import psutil

    return max(time.time() - psutil.Process().create_time(), time.perf_counter() - BEGUN)


if __name__ == "__main__":
    sys.exit(main())
