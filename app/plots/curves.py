"""Curves: the numbers that a job reports while it trains (loss, learning rate, perplexity on text kept aside), live.

Covers one job at a time, one name at a time for those of unlike scale. The drawing is curve_chart's, made with the first curve.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.layer_parts import curves_only
from app.widgets import EmptyState
from core.events import Metric

# In this order they're offered; names of core/methods/training.py and what its callers report.
ORDER = (
    "loss",
    "loss/teacher",
    "loss/text",
    "loss/hidden",
    "loss/relations",
    "acceptance",
    "predicted_speedup",
    "measured_speedup",
    "iterative/heldout_perplexity",
    "iterative/heldout_accuracy",
    "iterative/sparsity",
    "resize/loss",
    "resize/parameters",
    "heldout_perplexity",
    "heldout_accuracy",
    "heldout_loss",
    "agreement",
    "heldout_kl",
    "lr",
)
REDRAW_MS = 120  # curves arrive at 60 Hz; nobody reads them that fast


class CurvesView(QWidget):
    """The curves of the job given by `show_job`."""

    def __init__(self, board: Any):
        super().__init__()
        self.board = board
        self.job = ""
        self._made: Any = None
        self._names = QComboBox()
        self._names.setProperty("flat", True)
        self._names.setObjectName("curve")
        self._names.currentIndexChanged.connect(self._redraw)
        self._names.activated.connect(self._pick)
        self._picked = False  # whether a person chose the curve that's shown
        self._empty = EmptyState("curve", self.tr("No curves"), self.tr("A job that trains draws its loss here, as it falls."))
        page = QWidget()
        box = self._box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        row = QHBoxLayout()
        row.addWidget(self._names)
        row.addStretch(1)
        box.addLayout(row)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(page)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self._redraw)
        board.event.connect(self._on_event)

    @property
    def _chart(self) -> Any:
        if self._made is None:
            from app.plots.curve_chart import CurveChart  # with pyqtgraph, which takes a third of a second

            self._made = CurveChart(curve_title)
            self._box.addWidget(self._made, 1)
        return self._made

    def show_job(self, job: str) -> None:
        if job != self.job:
            self.job = job
            self._picked = False
            self._names.clear()
        self._redraw()

    def _on_event(self, event: Any) -> None:
        if isinstance(event, Metric) and event.job == self.job and not self._later.isActive():
            self._later.start()

    def _pick(self, _index: int) -> None:
        self._picked = True

    def _add(self, name: str) -> None:
        """Puts a curve in its place in the list, and shows the first where no person has chosen: the training loss, once it's known."""
        names = [self._names.itemData(i) for i in range(self._names.count())]
        at = sum(_rank(n) <= _rank(name) for n in names)
        with QSignalBlocker(self._names):
            self._names.insertItem(at, curve_title(name), name)
            self._names.setItemData(at, curve_help(name), Qt.ItemDataRole.ToolTipRole)
            if not self._picked:
                self._names.setCurrentIndex(0)

    def _redraw(self) -> None:
        state = self.board.state(self.job) if self.job else None
        curves = curves_only(state.curves) if state else {}
        known = [self._names.itemData(i) for i in range(self._names.count())]
        for name in curves:
            if name not in known and name.partition("/")[0] not in curves.keys() - {name}:
                self._add(name)
        self._stack.setCurrentIndex(1 if curves else 0)
        self._names.setVisible(self._names.count() > 0)  # one curve needs its name, too
        name = self._names.currentData()
        self._names.setToolTip(curve_help(name) if name else "")
        # parts of a loss ('loss/teacher') are drawn with it: they share its scale
        family = {n: c for n, c in curves.items() if n == name or n.startswith(f"{name}/")} if name else {}
        if family or self._made is not None:
            self._chart.x_title = curve_steps(name or "")
            self._chart.set_curves(family)


def _rank(name: str) -> int:
    return ORDER.index(name) if name in ORDER else len(ORDER)


def curve_title(name: str) -> str:
    """A curve's name as a person says it."""
    tr = QCoreApplication.translate
    known = {
        "loss": tr("curves", "Training loss"),
        "loss/teacher": tr("curves", "Loss against the teacher"),
        "loss/text": tr("curves", "Loss on the text"),
        "loss/hidden": tr("curves", "Loss of the hidden states"),
        "loss/relations": tr("curves", "Loss of the attention relations"),
        "acceptance": tr("curves", "Acceptance as a draft"),
        "predicted_speedup": tr("curves", "Predicted speed-up as a draft"),
        "measured_speedup": tr("curves", "Measured speed-up as a draft"),
        "lr": tr("curves", "Learning rate"),
        "heldout_perplexity": tr("curves", "Perplexity on text kept aside"),
        "heldout_loss": tr("curves", "Loss on text kept aside"),
        "heldout_kl": tr("curves", "Divergence from the teacher"),
        "agreement": tr("curves", "Agreement with the teacher"),
        "heldout_accuracy": tr("curves", "Accuracy on examples kept aside"),
        "iterative/heldout_perplexity": tr("curves", "Perplexity after each round"),
        "iterative/heldout_accuracy": tr("curves", "Accuracy after each round"),
        "iterative/sparsity": tr("curves", "Share gone after each round"),
        "gradient_error": tr("curves", "Error of a gradient"),
        "resize/loss": tr("curves", "Loss after each cut"),
        "resize/parameters": tr("curves", "Parameters after each cut"),
    }
    if name in known:
        return known[name]
    family, _, part = name.rpartition("/")
    if family == "heads/curve":
        return tr("curves", "As heads go, by {criterion}").format(criterion=part.replace("_", " "))
    if family == "heldout_loss":
        return tr("curves", "Loss on text kept aside: {choice}").format(choice=part)
    return name.replace("_", " ")


def curve_steps(name: str) -> str:
    """What a curve's steps count."""
    tr = QCoreApplication.translate
    family = name.partition("/")[0]
    return {
        "iterative": tr("curves", "Round"),
        "resize": tr("curves", "Cut"),
        "heads": tr("curves", "Heads gone"),
    }.get(family, tr("curves", "Step"))


def curve_help(name: str) -> str:
    """What a curve shows and which way is better, for its tooltip; '' for one that isn't known."""
    tr = QCoreApplication.translate
    known = {
        "loss": tr("curves", "What the training makes smaller, at each step, on the text it learns from. Lower is better."),
        "loss/teacher": tr(
            "curves", "How far the student's probabilities are from the teacher's, at the temperature chosen. Lower is better."
        ),
        "loss/text": tr("curves", "Cross-entropy of the text's own next tokens. Lower is better."),
        "loss/hidden": tr("curves", "How far what the student's layers hand on is from the teacher's, direction against direction."),
        "loss/relations": tr("curves", "How far the last layer's relations between tokens are from the teacher's, in nats."),
        "acceptance": tr(
            "curves",
            "Share of the student's tokens that the teacher would keep, were it to draft for it, on text kept aside. Higher is better.",
        ),
        "predicted_speedup": tr(
            "curves", "How much faster the two would write than the target alone, by this acceptance and measured costs. Above 1 it pays."
        ),
        "measured_speedup": tr(
            "curves",
            "How much faster the two wrote than the target alone, in turns, on a few short texts sampled at temperature 1. It's measured "
            "while the training waits, so it sways; 'Find me a draft' measures longer.",
        ),
        "lr": tr("curves", "Size of the updates: it grows through the warm-up and falls afterwards."),
        "heldout_perplexity": tr(
            "curves",
            "On the end of the text, which isn't trained on. Lower is better; where it rises again, the text is being learnt by heart.",
        ),
        "heldout_accuracy": tr(
            "curves", "Share of right answers on examples that aren't trained on and that the best step is chosen by. Higher is better."
        ),
        "iterative/heldout_perplexity": tr(
            "curves", "On text kept aside, after the training that follows each cut; round 0 is before the first."
        ),
        "iterative/heldout_accuracy": tr(
            "curves", "On examples kept aside, after the training that follows each cut; round 0 is before the first."
        ),
        "iterative/sparsity": tr("curves", "Share of the linear layers' weights that's gone, by rounds; most goes early."),
        "heldout_loss": tr("curves", "On the end of the text, which isn't trained on. The step where it's lowest is the one that's kept."),
        "heldout_kl": tr("curves", "KL from the teacher to the student on text kept aside, in nats a token. Lower is better."),
        "agreement": tr(
            "curves", "Share of the tokens of text kept aside for which both find the same next token likeliest. Higher is better."
        ),
        "gradient_error": tr("curves", "Of a gradient as it arrives: |change| / |gradient|."),
        "resize/parameters": tr("curves", "What's left after each cut of depth, width or heads."),
        "resize/loss": tr("curves", "On the calibration text, after each cut. The cut that costs least a parameter is made each time."),
    }
    return known.get(name, "")
