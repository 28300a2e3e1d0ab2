"""The dialog that measures variants again: on which text, against which reference, how much of it, and whether speed too."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QSpinBox, QWidget

from app.forms import FileField, calm_wheel
from app.theme import kind_icon
from app.wizards.base import DeviceChoice, ImagesChoice, Page, TextChoice, VariantList, Wizard, keep, label, recall, spoken
from app.wizards.plans import EvaluatePlan

COURSE = (32, 16, 8, 4, 2, 1)  # steps


class EvaluateDialog(Wizard):
    """`variant_id`: what's chosen at first. One job is started for each variant chosen."""

    def __init__(self, library: Any, board: Any, variant_id: str = "", parent: QWidget | None = None):
        workspace = str(library.workspace.folder) if library.workspace else ""
        plan = EvaluatePlan(workspace, library.variants())
        last = recall("evaluate")
        chosen = variant_id or library.selection
        plan.variants = (chosen,) if chosen in plan.all else tuple(plan.all)[:1]
        plan.text = last.get("text") or (library.workspace.settings.text if library.workspace else None)
        plan.max_tokens = int(last["max_tokens"]) if last.get("max_tokens") else plan.max_tokens
        plan.context = int(last["context"]) if last.get("context") else None
        plan.speed = bool(last.get("speed", True))
        plan.also = COURSE if last.get("course") else ()
        plan.images = last.get("images")
        if plan.variants:
            able = [v for v in library.lineage(plan.variants[0]) if not plan.reference_problem(v)]
            root = able[0] if able else library.root(plan.variants[0])
            plan.reference = root.id if not plan.reference_problem(root) else None
        super().__init__(plan, library, board, parent)
        self.plan: EvaluatePlan = plan
        self.setWindowTitle(self.tr("Measure"))
        self.finish_button.setText(self.tr("Measure"))
        self.resize(min(620, self.width()), self.height())
        self.measure = MeasurePage(self)
        self.add_page(self.measure)
        library.changed.connect(self._library_changed)
        self.begin()

    def catalogue_came(self) -> None:
        self.measure.device.fill()

    def _library_changed(self) -> None:
        self.plan.all = {v.id: v for v in self.library.variants()}
        self.measure.fill()
        self.refresh()

    def submit(self) -> str:
        plan = self.plan
        said = {"text": plan.text, "max_tokens": plan.max_tokens, "context": plan.context, "speed": plan.speed}
        said |= {"course": bool(plan.also), "images": plan.images}
        keep("evaluate", said)
        jobs = [self.board.submit(spec, self.tr("Measure {name}").format(name=name), plan.device) for name, spec in plan.specs()]
        for job in jobs[:-1]:
            self.submitted.emit(job)
        return jobs[-1]


class MeasurePage(Page):
    def __init__(self, wizard: EvaluateDialog):
        super().__init__("measure")
        self.say(
            self.tr("Measure"),
            self.tr("Measure a variant"),
            self.tr("Figures taken on the same text or images, under the same settings, can be compared."),
        )
        self.wizard = wizard
        plan = wizard.plan
        self.list = VariantList(self, many=True)
        self.list.setMinimumHeight(110)
        self.list.setToolTip(self.tr("Hold Ctrl to choose several"))
        self.text = TextChoice(self.tr("Held-out text that comes with Spokeshave"), "", self)
        self.text.set_path(plan.text)
        self.reference = QComboBox(self)
        self.reference.setObjectName("reference")
        self.reference.setToolTip(self.tr("KL divergence and agreement are measured against it"))
        self.context = QSpinBox(self)
        self.context.setObjectName("context")
        self.context.setRange(0, 1_000_000)
        self.context.setSingleStep(128)
        self.context.setSpecialValueText(self.tr("automatic"))
        self.context.setValue(plan.context or 0)
        self.context.setToolTip(self.tr("Tokens that the model sees at once; automatic: 512, or the model's own where that is less"))
        self.tokens = QSpinBox(self)
        self.tokens.setObjectName("max_tokens")
        self.tokens.setRange(256, 100_000_000)
        self.tokens.setSingleStep(1000)
        self.tokens.setGroupSeparatorShown(True)
        self.tokens.setValue(plan.max_tokens or 20_000)
        self.tokens.setToolTip(self.tr("More tokens take longer and make the interval narrower"))
        self.device = DeviceChoice(wizard.board, "auto", self)
        for widget in (self.reference, self.context, self.tokens):
            calm_wheel(widget)
        self.speed = QCheckBox(self.tr("Measure speed too"), self)
        self.speed.setObjectName("speed")
        self.speed.setChecked(plan.speed)
        grid = QGridLayout()
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(5)
        self.comparing: list[QWidget] = []  # what a model that draws is never asked
        fields = (
            (self.tr("Device"), self.device),
            (self.tr("Compare with"), self.reference),
            (self.tr("Context"), self.context),
            (self.tr("Read at most, tokens"), self.tokens),
        )
        for i, (title, widget) in enumerate(fields):
            row, at = divmod(i, 2)
            caption = label(title, parent=self, wrap=False)
            caption.setBuddy(widget)
            if row:
                caption.setContentsMargins(0, 8, 0, 0)
            if widget is not self.device:
                self.comparing += [caption, widget]
            grid.addWidget(caption, 2 * row, at)
            grid.addWidget(widget, 2 * row + 1, at)
            grid.setColumnStretch(at, 1)
        self.body.addWidget(self.list, 1)
        self.labels = FileField(
            self,
            title=self.tr("Choose examples"),
            patterns=self.tr("Examples (*.csv *.tsv *.jsonl *.ndjson *.json *.parquet);;All files (*)"),
        )
        self.labels.setObjectName("labels")
        self.labels.line.setPlaceholderText(self.tr("Empty: the held-out part of those that it learnt from"))
        self.labels_title = label(self.tr("Labelled examples, for accuracy"), "section", self)
        self.text_title = label(self.tr("Text"), "section", self)
        self.body.addWidget(self.text_title)
        self.body.addWidget(self.text)
        self.body.addWidget(self.labels_title)
        self.body.addWidget(self.labels)
        self.body.addLayout(grid)
        self.body.addWidget(self.speed)
        self.images_title = label(self.tr("Images"), "section", self)
        self.images = ImagesChoice(self.tr("Those that it learnt from"), "", self)
        self.images.setObjectName("images")
        self.images.set_path(plan.images)
        self.drawing = QWidget(self)
        row = QGridLayout(self.drawing)
        row.setContentsMargins(0, 0, 0, 0)
        row.setHorizontalSpacing(18)
        row.setVerticalSpacing(5)
        self.steps = QComboBox(self.drawing)
        self.steps.setObjectName("steps")
        self.steps.addItem(self.tr("As many as it was made for"), None)
        for n in (1, 2, 4, 8, 16, 32, 64):
            self.steps.addItem(self.tr("{n} steps").format(n=n), n)
        self.steps.setToolTip(self.tr("Steps from noise to image. A model that wasn't made for a number is drawn from in 32."))
        calm_wheel(self.steps)
        caption = label(self.tr("Steps to draw in"), parent=self.drawing, wrap=False)
        caption.setBuddy(self.steps)
        self.course = QCheckBox(self.tr("And in 32, 16, 8, 4, 2 and 1 steps: quality against time"), self.drawing)
        self.course.setObjectName("course")
        self.course.setToolTip(self.tr("The plot then shows a line for each model. Takes about twice as long as 32 steps alone."))
        self.course.setChecked(bool(plan.also))
        row.addWidget(caption, 0, 0)
        row.addWidget(self.steps, 1, 0)
        row.addWidget(self.course, 2, 0)
        at = self.body.indexOf(grid)
        for part in (self.images_title, self.images, self.drawing):
            self.body.insertWidget(at, part)
            at += 1
        self.images.changed.connect(self._changed)
        self.steps.currentIndexChanged.connect(lambda _: self._changed())
        self.course.toggled.connect(lambda _: self._changed())
        self.fill()
        self.list.chosen.connect(self._chosen)
        self.text.changed.connect(self._changed)
        self.labels.changed.connect(self._changed)
        self.reference.currentIndexChanged.connect(lambda _: self._changed())
        self.context.valueChanged.connect(lambda _: self._changed())
        self.tokens.valueChanged.connect(lambda _: self._changed())
        self.speed.toggled.connect(lambda _: self._changed())
        self.device.changed.connect(self._changed)
        self._changed()

    def fill(self) -> None:
        plan = self.wizard.plan
        self.list.fill(plan.all.values(), lambda v: "", plan.variants)
        self._fill_references()
        self._show_what_is_read()

    def _show_what_is_read(self) -> None:
        for part in (self.labels_title, self.labels):
            part.setVisible(self.wizard.plan.classifies)
        for part in (self.text_title, self.text):
            part.setVisible(self.wizard.plan.reads_text)
        for part in (self.images_title, self.images, self.drawing):
            part.setVisible(self.wizard.plan.draws)
        for part in (*self.comparing, self.speed):
            part.setVisible(self.wizard.plan.compares)

    def _fill_references(self) -> None:
        plan = self.wizard.plan
        wanted = plan.reference
        self.reference.blockSignals(True)
        self.reference.clear()
        self.reference.addItem(self.tr("Nothing"), None)
        model: Any = self.reference.model()
        for v in plan.all.values():
            why = spoken(plan.reference_problem(v))
            self.reference.addItem(kind_icon(v.kind), v.name, v.id)
            if why:
                item = model.item(self.reference.count() - 1)
                item.setEnabled(False)
                item.setToolTip(why)
            elif v.id == wanted:
                self.reference.setCurrentIndex(self.reference.count() - 1)
        self.reference.blockSignals(False)
        plan.reference = self.reference.currentData()

    def _chosen(self) -> None:
        self.wizard.plan.variants = tuple(self.list.selected_ids())
        self._fill_references()
        self._show_what_is_read()
        self.changed.emit()

    def _changed(self) -> None:
        plan = self.wizard.plan
        plan.text = self.text.path()
        plan.labels = self.labels.path()
        plan.reference = self.reference.currentData()
        plan.context = self.context.value() or None
        plan.max_tokens = self.tokens.value()
        plan.speed = self.speed.isChecked()
        plan.images, plan.steps = self.images.path(), self.steps.currentData()
        plan.also = COURSE if self.course.isChecked() else ()
        plan.device = self.device.device()
        self.changed.emit()

    def first_field(self) -> QWidget:
        return self.list
