"""A place for one of several plots, with the chooser as its heading.

Covers choosing, making a plot when it's first wanted, and the sentence in its place while there's nothing to draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from app.forms import calm_wheel
from app.plots.acceptance import CalmPlot, Moment
from app.theme import SEMIBOLD, ui_font

Choice = tuple[str, str, str, Callable[[], CalmPlot]]  # key, title, what it will show, how it's made


class PlotSlot(QFrame):
    """`choices`: what can be chosen here. `picked` passes on the round that was clicked in a plot."""

    picked = Signal(int)
    chosen = Signal(str)

    def __init__(self, name: str, choices: Sequence[Choice], first: str) -> None:
        super().__init__()
        self.setProperty("panel", True)
        self.setObjectName(name)
        self._choices = {key: (title, empty, make) for key, title, empty, make in choices}
        self._plots: dict[str, CalmPlot] = {}
        self._moment: Moment | None = None
        self.chooser = QComboBox()
        self.chooser.setObjectName(f"{name}-chooser")
        self.chooser.setProperty("flat", True)
        self.chooser.setProperty("heading", True)
        self.chooser.setAccessibleName(self.tr("Which plot"))
        self.chooser.setToolTip(self.tr("Choose what is plotted here"))
        calm_wheel(self.chooser)
        for key, title, _, _ in choices:
            self.chooser.addItem(title, key)
        self._empty = QLabel()
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._body = QWidget()
        self._stack = QStackedLayout(self._body)
        self._stack.addWidget(self._empty)
        head = QHBoxLayout()
        head.addWidget(self.chooser)
        head.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 6, 8, 4)
        box.setSpacing(2)
        box.addLayout(head)
        box.addWidget(self._body, 1)
        self.setMinimumHeight(176)  # below that, a plot's words lie on its lines
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.chooser.currentIndexChanged.connect(self._chosen)
        self.choose(first)
        self._fit()
        self.show_moment(None)

    @property
    def current(self) -> str:
        return self.chooser.currentData()

    @property
    def plot(self) -> CalmPlot:
        """The plot that's chosen, made now if it never was."""
        key = self.current
        if key not in self._plots:
            plot = self._plots[key] = self._choices[key][2]()
            if hasattr(plot, "picked"):
                plot.picked.connect(self.picked)
            self._stack.addWidget(plot)
        return self._plots[key]

    @property
    def sentence(self) -> str:
        """What stands in the plot's place; '' where the plot is shown."""
        return self._empty.text() if self._stack.currentWidget() is self._empty else ""

    def choose(self, key: str) -> None:
        """Raises ValueError for a plot that isn't offered."""
        at = self.chooser.findData(key)
        if at < 0:
            raise ValueError(key)
        self.chooser.setCurrentIndex(at)

    def _fit(self) -> None:
        """The chooser as wide as what's chosen, so that its arrow stands behind the words."""
        font = ui_font(13, SEMIBOLD)
        self.chooser.setFixedWidth(QFontMetrics(font).horizontalAdvance(self.chooser.currentText()) + 62)
        view = self.chooser.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + 24)

    def _chosen(self) -> None:
        self._fit()
        self.show_moment(self._moment)
        self.chosen.emit(self.current)

    def show_moment(self, moment: Moment | None) -> None:
        """Draws a moment of a run; None: there's no run yet."""
        self._moment = moment
        words = self._choices[self.current][1] if moment is None else self.plot.display(moment)
        self._empty.setText(words)
        self._stack.setCurrentWidget(self._empty if words else self.plot)
