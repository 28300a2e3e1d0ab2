"""Which of onnxruntime's execution providers computes an export: a choice where there is more than the CPU, and nothing to see elsewhere.

What there is, a worker says (ProvidersSpec), since the window doesn't import onnxruntime; it's asked once.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QComboBox, QWidget

from app.forms import calm_wheel
from core.events import TERMINAL, Finished
from core.providers import CPU, TITLES
from core.records import ProvidersSpec

_known: list[str] = []  # as the worker said


class ProviderChoice(QComboBox):
    """board None: whoever makes it asks later, by `ask`."""

    def __init__(self, board: Any = None, parent: QWidget | None = None):
        super().__init__(parent)
        self.setObjectName("provider")
        self.setAccessibleName(self.tr("Execution provider"))
        self.setToolTip(self.tr("What onnxruntime computes by, of what this installation has; what that can't compute, the CPU does"))
        calm_wheel(self)
        self._board, self._job, self._wanted = None, "", True
        self._fill(_known)
        if board is not None:
            self.ask(board)

    def ask(self, board: Any) -> None:
        """Learns what there is; a second time, nothing happens."""
        if _known:
            self._fill(_known)
        elif self._board is None:
            self._board = board
            board.event.connect(self._on_event)
            self._job = board.submit(ProvidersSpec(), self.tr("Ask onnxruntime what it has"))

    def chosen(self) -> str:
        return self.currentData() or ""

    def set_wanted(self, wanted: bool) -> None:
        """Whether there's an export that it's a choice for."""
        self._wanted = wanted
        self.setVisible(wanted and self.count() > 1)

    def _fill(self, names: list[str]) -> None:
        kept = self.chosen()
        self.clear()
        for name in names or [CPU]:
            self.addItem(TITLES[name], name)
        self.setCurrentIndex(max(self.findData(kept), 0))
        self.set_wanted(self._wanted)

    def _on_event(self, event: Any) -> None:
        if event.job != self._job or not isinstance(event, TERMINAL):
            return
        self._board.event.disconnect(self._on_event)
        if isinstance(event, Finished):
            _known[:] = event.result["providers"]
            self._fill(_known)
