"""Gradients in fewer bits: the same training once for each way of sending gradients, drawn as it goes, with what each cost and sent.

Covers the questions, the plot and the table; training is a job (GradientStudySpec), and nothing is kept of it but the figures. What
the figures mean against each other is gradient_rows'.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QSpinBox,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import text
from app.forms import calm_wheel
from app.gradient_rows import KINDS, Choice, key_of
from app.gradient_table import ChoiceKey, GradientModel, GradientTable, choice_name, plus, signed
from app.tool_dialog import ToolDialog
from app.widgets import EmptyState, Segmented, button, label, panel
from app.wizards.base import TextChoice
from core.events import GradientsTried, Metric, Progress
from core.records import GradientChoice, GradientStudySpec, Variant

BITS = (8, 4, 2)
PLAIN: Choice = (32, "channel", False)
FIRST = ((8, "tensor", False), (8, "channel", False), (4, "tensor", False), (4, "channel", False), (4, "channel", True))
FIRST += ((2, "channel", False), (2, "channel", True))
CURVE = "heldout_loss/"


class GradientStudyDialog(ToolDialog):
    """Of one variant that can be trained. Show it with `show()`."""

    def __init__(self, library: Any, board: Any, variant_id: str, parent: QWidget | None = None, *, device: str = "auto"):
        self.library, self.variant_id, self.device = library, variant_id, device
        self.rows: dict[Choice, dict[str, Any]] = {}
        self.curves: dict[Choice, list[tuple[int, float]]] = {}
        self.asked: list[Choice] = []  # of the study that's shown
        self.start_loss: float | None = None
        self.shown_seeds = 1
        self._chart_: Any = None
        super().__init__(
            board,
            "gradients",
            self.tr("Gradients in fewer bits"),
            self.tr(
                "Machines that train together send each other every gradient at each step. The same training runs once for each way "
                "of sending them, and shows what fewer bits cost in loss and save in bytes. The variant stays as it is."
            ),
            parent,
        )
        self._make()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(80)
        self._soon.timeout.connect(self._show)
        self._load()
        library.changed.connect(self.refresh)
        self.refresh()

    @property
    def variant(self) -> Variant | None:
        return self.library.get(self.variant_id)

    # -- making

    def _make(self) -> None:
        self.pages = QStackedWidget()
        self.body.addWidget(self.pages, 1)
        self.pages.addWidget(self._make_setup())
        self.pages.addWidget(self._make_result())
        lines = self.tr("Choose a variant that generates text and isn't quantized.")
        self.pages.addWidget(EmptyState("finetune", self.tr("The variant isn't here"), lines))
        self.run_button.setText(self.tr("Train"))
        self.run_button.setProperty("tip", self.tr("Trains once for each choice and seed (Ctrl+Enter)"))
        self.copy_button = self.add_button(button(self.tr("Copy table"), self._copy, name="copy"))
        self.copy_button.setToolTip(self.tr("The figures as tab-separated text"))
        self.again = self.add_button(button(self.tr("Study again…"), self._back, name="again"))
        self.again.setToolTip(self.tr("With other choices, steps or text"))

    def _make_setup(self) -> QWidget:
        page = panel()
        box = QVBoxLayout(page)
        box.setContentsMargins(16, 14, 16, 14)
        box.setSpacing(8)
        box.addWidget(label(self.tr("Ways to send gradients"), "section"))
        box.addWidget(
            label(
                self.tr(
                    "Rounded at random to so many bits, so that the mean stays right; error feedback adds to each gradient what rounding "
                    "took from the last one. float32 is always tried, to compare with."
                ),
                "caption",
                wrap=True,
            )
        )
        across = QHBoxLayout()
        across.setSpacing(36)
        left = QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self._make_choices())
        left.addSpacing(8)
        left.addWidget(label(self.tr("Text"), "section"))
        self.text_choice = TextChoice(self.tr("The starter's training text"))
        self.text_choice.changed.connect(self.refresh)
        left.addWidget(self.text_choice)
        left.addStretch(1)
        across.addLayout(left, 3)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(label(self.tr("The training"), "section"))
        right.addLayout(self._make_training())
        self.fresh = QCheckBox(self.tr("Begin with random weights"))
        self.fresh.setObjectName("fresh")
        self.fresh.setToolTip(self.tr("Of the same spread as the variant's: then there is much to learn, and differences show sooner."))
        right.addWidget(self.fresh)
        right.addStretch(1)
        across.addLayout(right, 2)
        box.addLayout(across)
        self.amount = label("", "caption", wrap=True)
        self.amount.setObjectName("amount")
        box.addWidget(self.amount)
        box.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setWidget(page)
        return scroll

    def _make_choices(self) -> QWidget:
        """Bits down, ways of rounding across."""
        frame = QWidget()
        grid = QGridLayout(frame)
        grid.setContentsMargins(0, 2, 0, 2)
        grid.setHorizontalSpacing(22)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(len(KINDS) + 1, 1)
        heads = {
            ("tensor", False): self.tr("A scale a tensor"),
            ("tensor", True): self.tr("… with feedback"),
            ("channel", False): self.tr("A scale a row"),
            ("channel", True): self.tr("… with feedback"),
        }
        for column, kind in enumerate(KINDS, 1):
            grid.addWidget(label(heads[kind], "caption"), 0, column)
        self.choices: dict[Choice, QCheckBox] = {}
        for row, bits in enumerate(BITS, 1):
            grid.addWidget(label(self.tr("{n} bits").format(n=bits)), row, 0)
            for column, (per, feedback) in enumerate(KINDS, 1):
                key = (bits, per, feedback)
                box = QCheckBox()
                box.setChecked(key in FIRST)
                box.setAccessibleName(choice_name(key))
                box.setToolTip(choice_name(key))
                box.toggled.connect(lambda _: self.refresh())
                grid.addWidget(box, row, column, Qt.AlignmentFlag.AlignHCenter)
                self.choices[key] = box
        return frame

    def _make_training(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(2, 1)
        self.steps, self.seeds, self.batch, self.context = (QSpinBox() for _ in range(4))
        self.rate = QDoubleSpinBox()
        self.rate.setDecimals(6)
        self.rate.setRange(0.000001, 1.0)
        self.rate.setSingleStep(0.0001)
        self.rate.setValue(5e-4)
        fields = (
            ("steps", self.steps, (1, 1_000_000, 100), self.tr("Steps"), self.tr("Updates of the weights in each run")),
            ("seeds", self.seeds, (1, 20, 3), self.tr("Seeds"), self.tr("Runs a choice. With two or more, what's noise can be told.")),
            ("batch", self.batch, (1, 4096, 8), self.tr("Batch"), self.tr("Windows of text a step")),
            ("context", self.context, (8, 131_072, 64), self.tr("Context"), self.tr("Tokens a window")),
            ("learning_rate", self.rate, None, self.tr("Learning rate"), self.tr("Size of the updates at their largest")),
        )
        for at, (name, field, ends, words, tip) in enumerate(fields):
            field.setObjectName(name)
            if ends:
                field.setRange(ends[0], ends[1])
                field.setValue(ends[2])
            field.setMinimumWidth(96)
            field.setToolTip(tip)
            field.valueChanged.connect(lambda _: self.refresh())
            calm_wheel(field)
            caption = label(words)
            caption.setBuddy(field)
            caption.setToolTip(tip)
            grid.addWidget(caption, at, 0)
            grid.addWidget(field, at, 1)
        return grid

    def _make_result(self) -> QWidget:
        page = QSplitter(Qt.Orientation.Vertical)
        page.setHandleWidth(8)
        page.setChildrenCollapsible(False)
        top = panel()
        self._plot_box = QVBoxLayout(top)
        self._plot_box.setContentsMargins(12, 8, 12, 8)
        self._plot_box.setSpacing(6)
        head = QHBoxLayout()
        self.mode = Segmented((("steps", self.tr("Steps")), ("bits", self.tr("Bits")), ("sent", self.tr("Bytes sent"))))
        self.mode.chosen.connect(self._set_mode)
        tips = {
            "steps": self.tr("Loss on text kept aside as the first seed of each choice trains"),
            "bits": self.tr("The lowest loss that each choice came to, by its bits; bars: standard error over the seeds"),
            "sent": self.tr("The same by the bytes that all gradients of a run take"),
        }
        for key, part in self.mode.buttons.items():
            part.setToolTip(tips[key])
        head.addWidget(self.mode)
        head.addSpacing(10)
        self.key = ChoiceKey()
        head.addWidget(self.key, 1)
        self._plot_box.addLayout(head)
        page.addWidget(top)
        bottom = panel()
        box = QVBoxLayout(bottom)
        box.setContentsMargins(4, 4, 4, 8)
        box.setSpacing(6)
        self.model = GradientModel(self)
        self.table = GradientTable(self.model)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._selected())
        box.addWidget(self.table, 1)
        self.verdict = label("", "caption", wrap=True)
        self.verdict.setObjectName("verdict")
        self.verdict.setContentsMargins(10, 0, 10, 0)
        box.addWidget(self.verdict)
        page.addWidget(bottom)
        page.setSizes([330, 300])
        return page

    @property
    def chart(self) -> Any:
        if self._chart_ is None:
            from app.plots.gradient_chart import GradientChart  # with pyqtgraph, which takes a third of a second

            self._chart_ = GradientChart(self._card)
            self._chart_.chosen.connect(self.select)
            self._plot_box.addWidget(self._chart_, 1)
        return self._chart_

    # -- words

    def _card(self, key: Choice) -> tuple[str, str, list[tuple[str, str, str]]]:
        row, apart = self.rows[key], self.model.apart.get(key)
        rows = [(self.tr("Loss"), text.fmt_number(row["heldout_loss"]), plus(row["stderr"]))]
        if apart is not None:
            rows.append((self.tr("Against float32"), signed(apart.mean), plus(apart.half)))
        rows.append((self.tr("Perplexity"), text.fmt_number(row["heldout_perplexity"]), ""))
        rows.append((self.tr("Sent"), text.fmt_bytes(row["sent"]), text.fmt_percent(row["sent"] / row["plain"])))
        rows.append((self.tr("Error of a gradient"), text.fmt_percent(row["error"]), ""))
        return choice_name(key), self.tr("{n} of {all} runs").format(n=len(row["losses"]), all=self.shown_seeds), rows

    # -- the job

    def problem(self) -> str:
        v = self.variant
        if v is None:
            return self.tr("The variant isn't in the workspace any more.")
        if v.info.quantization:
            return self.tr("Its weights are packed, so it can't be trained. Choose the variant that it came from.")
        if v.info.task != "causal-lm":
            return self.tr("It doesn't generate text, so there is no next token to learn.")
        if not any(box.isChecked() for box in self.choices.values()):
            return self.tr("Choose at least one way to send gradients.")
        if v.info.context and self.context.value() > v.info.context:
            return self.tr("The model holds {n} tokens: choose a shorter context.").format(n=v.info.context)
        path = self.text_choice.path()
        if path is not None and not Path(path).expanduser().is_file():
            return self.tr("Choose a text file.")
        return ""

    def start_if_able(self) -> None:
        if self.pages.currentIndex() == 0:
            super().start_if_able()

    def wanted(self) -> list[Choice]:
        return [PLAIN, *(key for key, box in self.choices.items() if box.isChecked())]

    def start(self) -> None:
        self.asked = self.wanted()
        self.shown_seeds, self.start_loss = self.seeds.value(), None
        self.rows, self.curves = {}, {}
        spec = GradientStudySpec(
            workspace=str(self.library.workspace.folder),
            variant=self.variant_id,
            choices=tuple(GradientChoice(bits=bits, per=per, feedback=feedback) for bits, per, feedback in self.asked),
            steps=self.steps.value(),
            batch=self.batch.value(),
            context=self.context.value(),
            learning_rate=self.rate.value(),
            fresh=self.fresh.isChecked(),
            seeds=self.seeds.value(),
            text=self.text_choice.path(),
        )
        self.pages.setCurrentIndex(1)
        self._set_mode("steps")
        self.submit(spec, self.tr("Gradients of {name}").format(name=self.variant.name), self.device)
        self._show()

    def took(self, event: Any) -> None:
        if isinstance(event, GradientsTried):
            row = event.row
            self.rows[key_of(row)] = row
            self.curves[key_of(row)] = [tuple(p) for p in row["curve"]]
            self.start_loss = row["start"]
        elif isinstance(event, Metric) and event.name.startswith(CURVE):
            key = self._key_named(event.name.removeprefix(CURVE))
            if key is not None:
                self.curves.setdefault(key, []).append((event.step, event.value))
        else:
            return
        if not self._soon.isActive():
            self._soon.start()

    def _progressed(self, event: Progress) -> None:
        key = self._key_named(event.note)
        super()._progressed(replace(event, note=choice_name(key)) if key is not None else event)

    def _key_named(self, name: str) -> Choice | None:
        """The choice of a curve, which core names in English."""
        return next((key for key in self.asked if core_name(key) == name), None)

    def finished_with(self, result: dict[str, Any]) -> None:
        self.take(result)
        self._set_mode("bits")

    def ended_without(self) -> None:
        self._show()

    def take(self, result: dict[str, Any]) -> None:
        """Shows a study that has ended."""
        self.rows = {key_of(row): row for row in result["rows"]}
        self.asked = list(self.rows)
        self.curves = {key: [tuple(p) for p in row["curve"]] for key, row in self.rows.items()}
        self.start_loss, self.shown_seeds = result["start"], result["seeds"]
        self.pages.setCurrentIndex(1)
        self._show()

    def _load(self) -> None:
        """The latest study of this variant in this session, where there is one."""
        if self.variant is None:
            self.pages.setCurrentIndex(2)
            return
        mine = [s for s in self.board.states() if s.job.kind == "gradient-study" and s.job.spec.variant == self.variant_id]
        done = [s for s in mine if s.status == "finished" and s.result]
        if done:
            self.take(done[-1].result)
            self._set_mode("bits")

    def _back(self) -> None:
        self.tell_failure(None)
        self.pages.setCurrentIndex(0)
        self.refresh()

    # -- what's shown

    def _set_mode(self, mode: str) -> None:
        self.mode.set_current(mode)
        self.chart.set_mode(mode)
        self._show()

    def _show(self) -> None:
        if self.pages.currentIndex() != 1:
            return
        self.chart.set_rows(self.rows, self.curves)
        self.key.set_keys(self.asked)
        self.model.set_rows(self.asked, self.rows)
        self.verdict.setText(self._verdict())
        self.refresh()

    def select(self, key: Choice) -> None:
        if key in self.asked:
            self.table.setCurrentIndex(self.model.index(self.asked.index(key), 0))

    def _selected(self) -> None:
        row = self.table.currentIndex().row()
        self.chart.select(self.asked[row] if 0 <= row < len(self.asked) else None)

    def _verdict(self) -> str:
        """What a person may conclude, and no more."""
        if not self.rows or PLAIN not in self.rows:
            return ""
        before = ""
        if self.start_loss is not None:
            before = self.tr("Loss before training: {loss}.").format(loss=text.fmt_number(self.start_loss))
            if all(row["heldout_loss"] >= self.start_loss for row in self.rows.values()):
                nothing = self.tr("No run got below it, so the choices can't be told apart: train longer, or begin with random weights.")
                return f"{before} {nothing}"
        apart = self.model.apart
        if not apart:
            return before
        if all(d.half is None for d in apart.values()):
            return f"{before} {self.tr('One run a choice: whether a difference is more than noise needs more seeds.')}".strip()
        same = [key for key, d in apart.items() if d.verdict == "same"]
        unclear = sum(d.verdict == "unclear" for d in apart.values())
        if same:
            least = min(same, key=lambda key: self.rows[key]["sent"])
            words = self.tr(
                "As good as float32, within 2 % of what it gains by training: {count} of {all}; the fewest bytes of them: {name}, {share}."
            )
            share = text.fmt_percent(self.rows[least]["sent"] / self.rows[least]["plain"])
            said = words.format(count=len(same), all=len(apart), name=choice_name(least), share=share)
        else:
            said = self.tr("None is surely as good as float32, within 2 % of what it gains by training.")
        if unclear:
            said += " " + self.tr("Not clear yet: {n}. More seeds would tell.").format(n=unclear)
        return f"{before} {said}".strip()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.model.as_text())
        self.say(self.tr("The table is on the clipboard."))

    def refresh(self) -> None:
        if not hasattr(self, "again"):
            return
        at = self.pages.currentIndex()
        runs = len(self.wanted()) * self.seeds.value()
        words = self.tr("{runs} runs of {steps} steps, {tokens} tokens each; the lowest loss on the end of the text, kept aside, counts.")
        tokens = text.fmt_count(self.steps.value() * self.batch.value() * self.context.value())
        self.amount.setText(words.format(runs=runs, steps=text.fmt_count(self.steps.value()), tokens=tokens))
        super().refresh()
        self.run_button.setVisible(at == 0 and not self.running)
        self.again.setVisible(at == 1 and not self.running)
        self.copy_button.setVisible(at == 1 and bool(self.rows))


def core_name(key: Choice) -> str:
    """As core.methods.gradient_study names a choice in its curves."""
    bits, per, feedback = key
    if bits == 32:
        return "float32"
    return f"{bits} bits, a scale a {'row' if per == 'channel' else 'tensor'}{', error feedback' if feedback else ''}"
