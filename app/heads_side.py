"""Beside the map of attention heads: how many are off, what taking them would make, and the loss predicted and measured.

Covers showing a HeadsPlan and asking for changes to it; the map and the jobs are heads'.
"""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSlider, QVBoxLayout

from app import text
from app.heads_plan import HeadsPlan
from app.theme import numbers, restyle
from app.widgets import Segmented, button, label

WIDE = 272


class HeadsSide(QFrame):
    """`least`: so many of the least important, `each` layer's or the model's; `even`, `cleared`, `undone`: presses of the buttons."""

    least = Signal(int)
    each = Signal(bool)
    even = Signal()
    cleared = Signal()
    undone = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("panel", True)
        self.setFixedWidth(WIDE)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 10, 14, 12)
        box.setSpacing(7)
        box.addWidget(label(self.tr("Switched off"), "section"))
        self.count = label("", "figure")
        self.count.setObjectName("count")
        box.addWidget(self.count)
        row = QHBoxLayout()
        self.undo_button = button(self.tr("Undo"), self.undone.emit, name="undo")
        self.undo_button.setToolTip(self.tr("Takes the last change back (Ctrl+Z)"))
        self.clear_button = button(self.tr("All on"), self.cleared.emit, name="clear")
        for each in (self.undo_button, self.clear_button):
            each.setAutoDefault(False)
            row.addWidget(each, 1)
        box.addLayout(row)
        box.addSpacing(4)
        box.addWidget(label(self.tr("The least important"), "section"))
        self.where = Segmented((("all", self.tr("Wherever")), ("each", self.tr("Each layer"))))
        self.where.buttons["all"].setToolTip(self.tr("Of the whole model: gentler, but such heads can only become zeros"))
        self.where.buttons["each"].setToolTip(self.tr("As many of each layer: these can be cut out, and the file gets smaller"))
        self.where.chosen.connect(lambda key: self.each.emit(key == "each"))
        box.addWidget(self.where)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("least")
        self.slider.setAccessibleName(self.tr("How many of the least important are off"))
        self.slider.valueChanged.connect(self.least)
        box.addWidget(self.slider)
        self.outcome = label("", "caption", wrap=True)
        self.outcome.setObjectName("outcome")
        box.addWidget(self.outcome)
        self.even_button = button("", self.even.emit, name="even")
        self.even_button.setAutoDefault(False)
        box.addWidget(self.even_button)
        box.addSpacing(4)
        self.loss_title = label(self.tr("Loss"), "section")
        box.addWidget(self.loss_title)
        grid = QGridLayout()
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        self.values: dict[str, Any] = {}
        self._names: dict[str, Any] = {}
        for at, (key, words) in enumerate(
            (
                ("taylor", self.tr("Predicted, estimate")),
                ("leave_out", self.tr("… by leaving out")),
                ("measured", self.tr("Measured")),
            )
        ):
            value = label("", "value")
            value.setObjectName(f"loss_{key}")
            value.setFont(numbers(13, 600))
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            self._names[key], self.values[key] = label(words, "caption"), value
            grid.addWidget(self._names[key], at, 0)
            grid.addWidget(value, at, 1)
        self._names["taylor"].setToolTip(
            self.tr(
                "Sum of what each is worth by the gradient, sizes without signs: mostly too high, and most useful to compare choices with"
            )
        )
        self._names["leave_out"].setToolTip(self.tr("Sum of the measured rises of each alone: it takes them for independent"))
        box.addLayout(grid)
        self.told = label("", "caption", wrap=True)
        self.told.setObjectName("told")
        box.addWidget(self.told)
        box.addStretch(1)

    # -- showing

    def show_plan(self, plan: HeadsPlan | None, measured: dict[str, Any] | None, unit: str) -> None:
        """measured: the job's result for exactly what's off, where there is one. unit: 'nats', or '' for a distance."""
        for widget in (self.where, self.slider, self.clear_button, self.undo_button):
            widget.setEnabled(plan is not None)
        if plan is None:
            for each in (self.count, self.outcome, self.told, *self.values.values()):
                each.setText("")
            self.even_button.hide()
            return
        gone, total = len(plan.off), plan.total
        words = self.tr("{n} of {total} groups") if plan.map.unit == "kv_group" else self.tr("{n} of {total} heads")
        self.count.setText(words.format(n=gone, total=total))
        self.clear_button.setEnabled(bool(plan.off))
        self.undo_button.setEnabled(plan.can_undo)
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, plan.most)
            self.slider.setPageStep(max(1, plan.most // 10))
            self.slider.setValue(gone // plan.map.layers if plan.each else gone)
        self.where.set_current("each" if plan.each else "all")
        self.outcome.setText(self._outcome(plan))
        target = plan.made_even()
        self.even_button.setVisible(bool(plan.off) and not plan.cuts and not plan.masked_only and target != plan.off)
        self.even_button.setText(self.tr("Take {n} of each layer").format(n=len(target) // plan.map.layers))
        self.even_button.setToolTip(self.tr("The nearest choice that can be cut out: those chosen first, then the least important"))
        self._show_losses(plan, measured, unit)

    def _outcome(self, plan: HeadsPlan) -> str:
        if not plan.off:
            return self.tr("Click on the map to switch single ones off.")
        if len(plan.off) == plan.total:
            return self.tr("Nothing would be left of the attention.")
        if plan.masked_only:
            return self.tr("This kind of model has no setting for fewer heads: they become zeros, and the file keeps its size.")
        if plan.cuts:
            return self.tr("Each layer loses as many: they're cut out, and the file gets smaller.")
        return self.tr("Layers lose different numbers: they become zeros, and the file keeps its size.")

    def _show_losses(self, plan: HeadsPlan, measured: dict[str, Any] | None, unit: str) -> None:
        predicted = plan.predicted()
        self._names["leave_out"].setVisible("leave_out" in plan.map.scores)
        self.values["leave_out"].setVisible("leave_out" in plan.map.scores)
        for key in ("taylor", "leave_out"):
            rise = predicted.get(key)
            self.values[key].setText(text.unknown() if rise is None else self._rise(rise, unit))
        if measured is None:
            self.values["measured"].setText(text.unknown())
            self.told.setText("")
        else:
            self.values["measured"].setText(self._rise(measured["loss"] - measured["base"], unit))
            self.told.setText(self._told(measured))
        role = "value" if measured is not None else "muted"
        if self.values["measured"].property("role") != role:
            self.values["measured"].setProperty("role", role)
            restyle(self.values["measured"])

    def _rise(self, rise: float, unit: str) -> str:
        """'+0.093 (×1.10)': nats, and the factor on the perplexity where there is one."""
        words = f"{'+' if rise >= 0 else ''}{rise:.3f}".replace("-", text.MINUS)
        return f"{words} ({text.TIMES}{math.exp(min(rise, 50)):.2f})" if unit == "nats" else words

    def _told(self, measured: dict[str, Any]) -> str:
        if measured.get("perplexity") is not None:
            words = self.tr("Perplexity {before} → {after}, on {tokens} tokens that nothing was judged on.")
            before, after = text.fmt_number(measured["base_perplexity"]), text.fmt_number(measured["perplexity"])
        elif measured.get("accuracy") is not None:
            return self._told_accuracy(measured)
        else:
            words = self.tr("The outputs turn by {after} (1 − cosine), on {tokens} tokens that nothing was judged on.")
            before, after = "", text.fmt_number(measured["loss"], 3)
        return words.format(before=before, after=after, tokens=text.fmt_count(measured["tokens"]))

    def _told_accuracy(self, measured: dict[str, Any]) -> str:
        before, after, (low, high) = measured["base_accuracy"], measured["accuracy"], measured["interval"]
        shown = {"before": before, "after": after, "low": low, "high": high}
        words = self.tr("Accuracy {before} → {after}, on {n} examples held out. From {low} to {high} it can't be told from the first.")
        return words.format(n=text.fmt_count(measured["examples"]), **{name: text.fmt_percent(x) for name, x in shown.items()})
