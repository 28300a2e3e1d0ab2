"""Attention heads: a map of what each is worth, heads switched off on it, the loss that's predicted and then measured, and the cut.

Covers the questions, the curve as heads go, and the jobs (HeadsSpec); what's chosen is heads_plan's, the map heads_map's, what's
beside it heads_side's. What 'Cut these' starts is a job that makes a variant (`applied`).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSpinBox, QSplitter, QStackedWidget, QVBoxLayout, QWidget

import resources
from app import text
from app.forms import calm_wheel
from app.heads_map import HeadsMap
from app.heads_plan import HeadsPlan, Unit, maps_of
from app.heads_side import HeadsSide
from app.tool_dialog import ToolDialog
from app.widgets import EmptyState, button, label, panel
from app.wizards.base import TextChoice
from core.events import Metric
from core.records import ApplySpec, HeadMap, HeadsSpec, Variant

CURVE, LEFT_OUT = "heads/curve/", "heads/leave_out/"
WINDOWS, CONTEXT = 8, 256


class HeadsDialog(ToolDialog):
    """`applied(job)`: a variant without the heads is being made."""

    applied = Signal(str)

    def __init__(self, library: Any, board: Any, variant_id: str, parent: QWidget | None = None, *, device: str = "auto"):
        self.library, self.variant_id, self.device = library, variant_id, device
        self.plan: HeadsPlan | None = None
        self.curves: dict[str, list[tuple[float, float]]] = {}
        v = library.get(variant_id)
        self.measure = {"causal-lm": "perplexity", "classifier": "accuracy"}.get(v.info.task if v else "", "cosine")
        self.interval: tuple[float, float] | None = None
        self.measured: dict[frozenset[Unit], dict[str, Any]] = {}
        self._action = ""
        self._asked: frozenset[Unit] = frozenset()  # what the running 'loss' job has off
        self._sliding = False
        self._chart_: Any = None
        super().__init__(
            board,
            "heads",
            self.tr("Attention heads"),
            self.tr(
                "What each head is worth to the loss; heads that share keys and values are one group. Switch them off on the map, see what "
                "that's predicted to cost, measure it, and make the variant without them."
            ),
            parent,
        )
        self._make()
        self._soon = QTimer(self)  # a slider that's dragged, and points that come in, are drawn some times a second
        self._soon.setSingleShot(True)
        self._soon.setInterval(50)
        self._soon.timeout.connect(self._show)
        self._load()
        library.changed.connect(self.refresh)
        self.refresh()

    @property
    def variant(self) -> Variant | None:
        return self.library.get(self.variant_id)

    def titles(self) -> dict[str, str]:
        """What the criteria are called."""
        return {
            "taylor": self.tr("Gradient (Taylor)"),
            "taylor_normalised": self.tr("Gradient, within each layer"),
            "magnitude": self.tr("Size of the weights"),
            "random": self.tr("Chance"),
            "leave_out": self.tr("Leaving each out"),
        }

    # -- making

    def _make(self) -> None:
        self.pages = QStackedWidget()
        self.body.addWidget(self.pages, 1)
        self.pages.addWidget(self._make_setup())
        self.pages.addWidget(self._make_map())
        self.pages.addWidget(EmptyState("prune", self.tr("The variant isn't here"), self.tr("Choose a variant that isn't quantized.")))
        self.run_button.setText(self.tr("Judge"))
        self.run_button.setProperty("tip", self.tr("One pass forward and backward over the text (Ctrl+Enter)"))
        self.again = self.add_button(button(self.tr("Judge again…"), self._back, name="again"))
        self.again.setToolTip(self.tr("On another text, or on more of it"))
        self.measure_button = self.add_button(button(self.tr("Measure"), self.measure_off, name="measure"))
        self.apply_button = self.add_button(button(self.tr("Cut these"), self.apply, name="apply", primary=True))
        QShortcut(QKeySequence.StandardKey.Undo, self, self._undo)
        QShortcut(QKeySequence.StandardKey.Redo, self, self._redo)

    def _make_setup(self) -> QWidget:
        page = panel()
        box = QVBoxLayout(page)
        box.setContentsMargins(16, 14, 16, 14)
        box.setSpacing(10)
        box.addWidget(label(self.tr("What to judge on"), "section"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(2, 1)
        self.windows, self.context = QSpinBox(), QSpinBox()
        for field, name, ends, value in ((self.windows, "windows", (1, 1024), WINDOWS), (self.context, "context", (8, 4096), CONTEXT)):
            field.setObjectName(name)
            field.setRange(*ends)
            field.setValue(value)
            calm_wheel(field)
        self.context.setSuffix(self.tr(" tokens"))
        rows = (
            (self.tr("Windows"), self.windows, self.tr("Of the text, drawn from all over it. More are steadier and take longer.")),
            (self.tr("Context"), self.context, self.tr("Tokens a window.")),
        )
        for at, (words, field, help_) in enumerate(rows):
            name = label(words)
            name.setBuddy(field)
            grid.addWidget(name, at, 0)
            grid.addWidget(field, at, 1)
            grid.addWidget(label(help_, "muted", wrap=True), at, 2)
        box.addLayout(grid)
        box.addSpacing(6)
        self.text_title = label(self.tr("Text"), "section")
        box.addWidget(self.text_title)
        self.text_choice = TextChoice(self.tr("The starter's training text"))
        self.text_choice.changed.connect(self.refresh)
        box.addWidget(self.text_choice)
        self.labels_line = label(self.tr("A classifier is judged on the examples that it learnt from, and measured on those kept aside."))
        self.labels_line.setWordWrap(True)
        box.addWidget(self.labels_line)
        learnt = self.variant is not None and self.variant.info.task == "classifier" and self.variant.recipe.labels is not None
        for each in (self.text_title, self.text_choice):
            each.setVisible(not learnt)
        self.labels_line.setVisible(learnt)
        box.addStretch(1)
        return page

    def _make_map(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        left = self.halves = QSplitter(Qt.Orientation.Vertical)
        left.setHandleWidth(8)
        left.setChildrenCollapsible(False)
        self.map = HeadsMap(self.titles())
        self.map.changed.connect(self._show)
        self.map.leave_out.connect(self.leave_out)
        left.addWidget(self.map)
        left.addWidget(self._make_curve())
        left.setSizes([300, 220])
        row.addWidget(left, 1)
        self.side = HeadsSide()
        self.side.least.connect(self._slid)
        self.side.each.connect(self._set_each)
        self.side.even.connect(lambda: self._choose(self.plan.made_even()))
        self.side.cleared.connect(lambda: self._choose(()))
        self.side.undone.connect(self._undo)
        self.side.slider.sliderReleased.connect(self._slid_to_end)
        row.addWidget(self.side)
        return page

    def _make_curve(self) -> QWidget:
        bottom = panel()
        self._curve_box = QVBoxLayout(bottom)
        self._curve_box.setContentsMargins(12, 8, 12, 6)
        self._curve_box.setSpacing(4)
        head = QHBoxLayout()
        self.curve_title = label("", "section")
        head.addWidget(self.curve_title, 1)
        self.curve_button = button(self.tr("Draw the curve"), self.draw_curve, name="curve")
        self.curve_button.setAutoDefault(False)
        self.curve_button.setToolTip(self.tr("Takes them out one after the other, the least important first, and measures what's left"))
        head.addWidget(self.curve_button)
        self._curve_box.addLayout(head)
        self.no_curve = label(self.tr("Drawn as it's measured: another criterion adds its own line."), "muted", wrap=True)
        self.no_curve.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._curve_box.addWidget(self.no_curve, 1)
        return bottom

    @property
    def chart(self) -> Any:
        if self._chart_ is None:
            from app.plots.heads_curve import HeadsCurve  # with pyqtgraph, which takes a third of a second

            self._chart_ = HeadsCurve(self.titles())
            self._curve_box.addWidget(self._chart_, 1)
            self.no_curve.hide()
        return self._chart_

    # -- the jobs

    def problem(self) -> str:
        v = self.variant
        if v is None:
            return self.tr("The variant isn't in the workspace any more.")
        if v.info.quantization:
            return self.tr("It's quantized already. Choose the variant that it came from.")
        if v.info.task == "unknown":
            return self.tr("It isn't known what it's for, so there is no loss to judge heads by.")
        path = self.text_choice.path()
        if path is not None and not Path(path).expanduser().is_file():
            return self.tr("Choose a text file.")
        return ""

    def start_if_able(self) -> None:
        if self.pages.currentIndex() == 0:
            super().start_if_able()

    def _submit(self, action: str, title: str, **more: Any) -> None:
        self._action = action
        spec = HeadsSpec(
            workspace=str(self.library.workspace.folder),
            variant=self.variant_id,
            action=action,
            windows=self.windows.value(),
            context=self.context.value(),
            text=self.text_choice.path(),
            **more,
        )
        self.tell_failure(None)
        self.submit(spec, title.format(name=self.variant.name), self.device)

    def start(self) -> None:
        self.plan, self.curves, self.measured, self.interval = None, {}, {}, None
        self.pages.setCurrentIndex(1)
        self._submit("importance", self.tr("Heads of {name}"))
        self._show()

    def leave_out(self) -> None:
        """Measures the loss without each one alone."""
        if not self.running and self.plan is not None:
            self._submit("importance", self.tr("Leaving out each head of {name}"), leave_out=True)

    def measure_off(self) -> None:
        """Measures the loss without those that are off."""
        if not self.running and self.plan is not None and self.plan.off:
            self._asked = self.plan.off
            self._submit("loss", self.tr("{name} without some heads"), off=tuple(sorted(self.plan.off)))

    def draw_curve(self) -> None:
        if not self.running and self.plan is not None:
            self.curves[self.plan.criterion] = []
            self._submit("curve", self.tr("Heads of {name}, one after the other"), criterion=self.plan.criterion)
            self._show()

    def took(self, event: Any) -> None:
        if not isinstance(event, Metric):
            return
        if event.name.startswith(CURVE):
            self.curves.setdefault(event.name.removeprefix(CURVE), []).append((event.step, event.value))
        elif event.name.startswith(LEFT_OUT) and self.plan is not None:
            layer, unit = (int(n) for n in event.name.removeprefix(LEFT_OUT).split("."))
            shape = (self.plan.map.layers, self.plan.map.units)
            rows = [list(row) for row in self.plan.map.scores.get("leave_out", [[None] * shape[1]] * shape[0])]
            rows[layer][unit] = event.value
            scores = self.plan.map.scores | {"leave_out": tuple(tuple(row) for row in rows)}
            self.plan.map = self.plan.map.model_copy(update={"scores": scores})
        else:
            return
        if not self._soon.isActive():
            self._soon.start()

    def finished_with(self, result: dict[str, Any]) -> None:
        if self._action == "importance":
            self.take(HeadMap.model_validate(result["map"]))
        elif self._action == "loss":
            self.measured[self._asked] = result
            self.measure = result["measure"]
            if self._value(result) is not None and self.curves:
                self.chart.viewport().update()
        else:
            self.curves[result["criterion"]] = [tuple(p) for p in result["points"]]
            self.measure = result["measure"]
            self.interval = tuple(result["interval"]) if result.get("interval") else self.interval
        self._show()
        self.map.grid.setFocus()

    def ended_without(self) -> None:
        if self.plan is None:
            self._load()
        self.curves = {criterion: points for criterion, points in self.curves.items() if points}
        self._show()

    def _load(self) -> None:
        """The latest map that's kept, of the text that comes with Spokeshave or of a classifier's own examples."""
        v = self.variant
        if v is None or self.library.workspace is None:
            self.pages.setCurrentIndex(2)
            return
        known = [m for m in maps_of(self.library.workspace.path(v.id)) if self._ours(m)] if not self.problem() else []
        if not known:
            self.pages.setCurrentIndex(0)
            return
        with QSignalBlocker(self.windows), QSignalBlocker(self.context):
            self.windows.setValue(known[0].conditions.get("windows", WINDOWS))
            self.context.setValue(known[0].conditions.get("context", CONTEXT))
        self.take(known[0])

    @staticmethod
    def _ours(found: HeadMap) -> bool:
        """Whether what it was measured on is known here: a text of one's own is only known by its name."""
        return bool(found.conditions.get("labels")) or found.conditions.get("data") == resources.TRAIN_TEXT.name

    def take(self, found: HeadMap) -> None:
        """Shows a map; what was switched off before stays off, where it's the same model."""
        off = self.plan.off if self.plan is not None else frozenset()
        criterion = self.plan.criterion if self.plan is not None else "taylor"
        self.plan = HeadsPlan(found, self.variant.info.model_type)
        self.plan.off = off
        self.pages.setCurrentIndex(1)
        if self._action == "importance" and self.plan.known("leave_out"):
            criterion = "leave_out"
        self.plan.criterion = criterion
        high = max(sum(self.halves.sizes()), 400)
        wanted = min(max(136 + 36 * found.units, 200), round(0.62 * high))  # few rows leave the room to the curve
        self.halves.setSizes([wanted, high - wanted])
        self._show()

    def _back(self) -> None:
        self.tell_failure(None)
        self.pages.setCurrentIndex(0)
        self.refresh()

    # -- the choice

    def _choose(self, off: Any) -> None:
        if self.plan is not None:
            self.plan.set_off(off)
            self._show()

    def _slid(self, count: int) -> None:
        if self.plan is None:
            return
        off = self.plan.least(count)
        if self._sliding and self.side.slider.isSliderDown():
            self.plan.replace_last(off)
        else:
            self.plan.set_off(off)
        self._sliding = self.side.slider.isSliderDown()
        if not self._soon.isActive():
            self._soon.start()

    def _slid_to_end(self) -> None:
        self._sliding = False

    def _set_each(self, each: bool) -> None:
        if self.plan is None:
            return
        count = len(self.plan.off)
        self.plan.each = each
        if count:
            wanted = round(count / self.plan.map.layers) if each else count
            self.plan.set_off(self.plan.least(min(max(wanted, 1), self.plan.most)))
        self._show()

    def _undo(self) -> None:
        if self.plan is not None and self.plan.undo():
            self._show()

    def _redo(self) -> None:
        if self.plan is not None and self.plan.redo():
            self._show()

    # -- what's shown

    def _show(self) -> None:
        plan = self.plan
        self.map.show_plan(plan, self._nats())
        self.side.show_plan(plan, self.measured.get(plan.off) if plan is not None else None, self._nats())
        self._show_curve()
        self.refresh()

    def _nats(self) -> str:
        return "nats" if self.variant is not None and self.variant.info.task in ("causal-lm", "classifier") else ""

    def _value(self, result: dict[str, Any]) -> float | None:
        """What a measured choice is in the curve's measure."""
        return {"perplexity": result.get("perplexity"), "accuracy": result.get("accuracy"), "cosine": 1 - result["loss"]}[self.measure]

    def _show_curve(self) -> None:
        plan = self.plan
        drawn = any(self.curves.values())
        title = {"perplexity": self.tr("Perplexity as they go"), "accuracy": self.tr("Accuracy as they go")}
        self.curve_title.setText(title.get(self.measure, self.tr("Agreement of the outputs as they go")))
        if plan is None or not (drawn or self._chart_ is not None):
            return
        start = next((points[0][1] for points in self.curves.values() if points and points[0][0] == 0), None)
        expected: list[tuple[float, float]] = []
        if self.measure == "perplexity" and start is not None and plan.criterion in self.curves:
            expected = [(count, start * math.exp(min(rise, 50.0))) for count, rise in plan.predicted_course(plan.criterion)]
        choices = [(len(off), value) for off, result in self.measured.items() if (value := self._value(result)) is not None]
        unit = self.tr("Groups removed") if plan.map.unit == "kv_group" else self.tr("Heads removed")
        self.chart.set_data(
            self.measure,
            dict(self.curves),
            total=plan.total,
            expected=expected,
            choices=choices,
            here=len(plan.off),
            unit=unit,
            band=self.interval if self.measure == "accuracy" else None,
        )

    def refresh(self) -> None:
        if not hasattr(self, "apply_button"):
            return
        at = self.pages.currentIndex()
        super().refresh()
        able = self.plan is not None and not self.running and not self.problem()
        self.run_button.setVisible(at == 0 and not self.running)
        for each in (self.again, self.measure_button, self.apply_button):
            each.setVisible(at == 1 and not self.running)
        some = able and bool(self.plan.off)
        self.measure_button.setEnabled(some and self.plan.off not in self.measured)
        tip = self.tr("Measures the loss without those that are off, on text that nothing was judged on")
        self.measure_button.setToolTip(tip if some else self.tr("Switch some off first"))
        self.apply_button.setEnabled(some and len(self.plan.off) < self.plan.total)
        self.apply_button.setText(self.tr("Cut these") if not some or self.plan.cuts else self.tr("Zero these"))
        self.apply_button.setToolTip(self.tr("Starts the job that makes this variant") if some else self.tr("Switch some off first"))
        self.apply_button.setDefault(at == 1)
        for each in (self.curve_button, self.map.leave_button):
            each.setEnabled(able)

    # -- making the variant

    def apply(self) -> None:
        """Starts the job that makes the variant without those that are off."""
        v, plan = self.variant, self.plan
        if v is None or plan is None or not plan.off or len(plan.off) == plan.total:
            return
        taken = {other.name for other in self.library.variants()}
        what = "groups" if plan.map.unit == "kv_group" else "heads"
        base = f"{what} {text.MINUS}{len(plan.off)} of {plan.total}"
        name = next(n for n in (base, *(f"{base} ({i})" for i in range(2, 10_000))) if n not in taken)
        spec = ApplySpec(
            workspace=str(self.library.workspace.folder),
            variant=v.id,
            steps=(plan.step(),),
            name=name,
            text=self.library.workspace.settings.text,
        )
        job = self.board.submit(spec, self.tr("{name}, from {source}").format(name=name, source=v.name), self.device)
        self.say(self.tr("Started: {name}. Its progress is in the list of jobs.").format(name=name))
        self.applied.emit(job)
