"""`python -m app.plots.picture WORKSPACE OUT.png [--dark]`: the trade-off plot of a workspace as a picture, without a window."""

from __future__ import annotations

import argparse
import os
import sys

WIDTH, HEIGHT, SHARPNESS = 1120, 680, 2  # logical pixels, and device pixels for each


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m app.plots.picture", description="Draw a workspace's trade-off plot into a PNG file.")
    parser.add_argument("workspace")
    parser.add_argument("out")
    parser.add_argument("--dark", action="store_true")
    asked = parser.parse_args()

    # pyqtgraph's lines are device pixels wide, so the widget itself has to be on a sharp screen
    os.environ["QT_SCALE_FACTOR"] = str(SHARPNESS)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QObject, Signal
    from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox

    from app.library_model import Library
    from app.plots.tradeoff import TradeoffView
    from app.theme import theme

    class NoBoard(QObject):
        """No jobs run here."""

        event = Signal(object)
        catalogue = None

        def states(self) -> list:
            return []

    app = QApplication([])
    theme().set_dark(asked.dark)
    theme().apply(app)
    library, board = Library(), NoBoard()
    library.open(asked.workspace, create=False)
    view = TradeoffView(library, board)
    view.resize(WIDTH, HEIGHT)
    view.show()
    for control in (*view.findChildren(QComboBox), *view.findChildren(QAbstractButton)):
        control.hide()  # a picture can't be asked anything
    app.processEvents()
    if library.variants():
        view.plot.reset_view()  # a view makes its plot only when the window has been painted
    app.processEvents()
    image = view.grab()
    view.close()
    library.close()
    return 0 if image.save(asked.out) else 1


if __name__ == "__main__":
    sys.exit(main())
