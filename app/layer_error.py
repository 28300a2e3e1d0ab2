"""Layer error: the layers of a model coloured by the error that a running quantization has made in each, as they come in.

Reads the metrics 'error/<layer>' of a job: |change of the output| / |output|, in the root mean square over the calibration text, or
of the weights alone where a method reads no text. Kinds of layer are rows and blocks are columns, which suits a dock's low shape.
"""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app import text
from app.heat import Cell, HeatGrid, HeatKey, log_share, span
from app.widgets import ElidedLabel, EmptyState
from core.events import Metric

PREFIX = "error/"
REDRAW_MS = 120
LEAST_SPAN = 4.0  # from the palest to the darkest


def errors_of(curves: dict[str, list[tuple[int, float]]]) -> dict[str, tuple[int, float]]:
    """Layer -> (block, its latest error) of a job's curves."""
    return {name.removeprefix(PREFIX): points[-1] for name, points in curves.items() if name.startswith(PREFIX) and points}


def kind_of(layer: str) -> str:
    """What a layer is within its block: what follows the first number in its name."""
    found = re.search(r"(?:^|\.)\d+\.(.+)$", layer)
    return found.group(1) if found else layer


class LayerErrorView(QWidget):
    """The layers of the job given by `show_job`."""

    def __init__(self, board: Any):
        super().__init__()
        self.board, self.job = board, ""
        self.errors: dict[str, tuple[int, float]] = {}
        self._names: dict[tuple[str, str], str] = {}
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(3)
        head = QHBoxLayout()
        head.setSpacing(12)
        self.line = ElidedLabel("", "caption")
        head.addWidget(self.line, 1)
        self.key = HeatKey(16)
        self.key.setFixedWidth(230)
        self.key.setToolTip(self.tr("Relative error of a layer's output, on a logarithmic scale"))
        head.addWidget(self.key)
        box.addLayout(head)
        self.grid = HeatGrid(self.tr("Error of each layer"))
        self.grid.setObjectName("errors")
        self.grid.picked.connect(lambda *_: self._tell())
        box.addWidget(self.grid, 1)
        self.empty = EmptyState("quantize", self.tr("No layers yet"), self.tr("A job that quantizes colours each layer by its error here."))
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(page)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self.refresh)
        board.event.connect(self._on_event)

    def show_job(self, job: str) -> None:
        self.job = job
        self.grid.current = None
        self.refresh()

    def _on_event(self, event: Any) -> None:
        if isinstance(event, Metric) and event.job == self.job and event.name.startswith(PREFIX) and not self._later.isActive():
            self._later.start()

    def refresh(self) -> None:
        state = self.board.state(self.job) if self.job else None
        self.errors = errors_of(state.curves) if state else {}
        self._stack.setCurrentIndex(1 if self.errors else 0)
        if not self.errors:
            return
        kinds = list(dict.fromkeys(kind_of(name) for name in self.errors))
        kinds = [*[k for k in self.grid.rows if k in kinds], *[k for k in kinds if k not in self.grid.rows]]
        blocks = sorted({block for block, _ in self.errors.values()})
        last = [kind.rsplit(".", 1)[-1] for kind in kinds]
        labels = {kind: short if last.count(short) == 1 else kind for kind, short in zip(kinds, last, strict=True)}
        self.grid.set_axes(kinds, [str(b) for b in blocks], labels)
        low, high = span(error for _, error in self.errors.values())
        low = min(low, high / LEAST_SPAN)
        self.key.set_ends(text.fmt_percent(low, 2), text.fmt_percent(high, 2))
        self._names = {(kind_of(name), str(block)): name for name, (block, _) in self.errors.items()}
        cells = {}
        for at, name in self._names.items():
            error = self.errors[name][1]
            cells[at] = Cell(log_share(error, low, high), f"{100 * error:.1f}" if error >= 0.001 else "<.1", "", self._words(name))
        self.grid.set_cells(cells)
        self._tell()

    def _words(self, name: str) -> str:
        return self.tr("{layer}: error {error} of its output").format(layer=name, error=text.fmt_percent(self.errors[name][1], 2))

    def _tell(self) -> None:
        """The layer at the cursor while a person looks there, else the worst so far."""
        name = self._names.get(self.grid.current) if self.grid.hasFocus() and self.grid.current else None
        if name is not None:
            self.line.setText(self._words(name))
            return
        worst = max(self.errors, key=lambda n: self.errors[n][1])
        words = self.tr("{n} layers, error in %. The largest: {layer}, {error}")
        self.line.setText(words.format(n=len(self.errors), layer=worst, error=text.fmt_percent(self.errors[worst][1], 2)))
        self.line.setAlignment(Qt.AlignmentFlag.AlignVCenter)
