"""The wizard that makes a variant: source, method and settings, text, review. One for pruning, quantization, distillation and recovery.

The method's page is made from its knobs; nothing here knows a method by name. What's possible is decided by `plans.CompressPlan`.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QGuiApplication, QTextOption
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QLineEdit, QPlainTextEdit, QSpinBox, QVBoxLayout, QWidget

import resources
from app.forms import Form, calm_wheel
from app.notes import note_text
from app.text import core_text, failure_text, fmt_bytes
from app.theme import icon, mono
from app.wizards.base import (
    CardList,
    DeviceChoice,
    Estimate,
    Estimator,
    ImagesChoice,
    Notice,
    Page,
    TextChoice,
    VariantList,
    Wizard,
    button,
    keep,
    label,
    recall,
    spoken,
)
from app.wizards.labels import LabelsChoice
from app.wizards.plans import REFUSALS, CompressPlan, memory_problem
from core.events import Failed, Finished
from core.records import EstimateSpec

COPIED_MS = 1600


class CompressWizard(Wizard):
    """`family`: pruning, quantization, distillation or recovery; `variant_id`: the one to start from, where it can be."""

    def __init__(self, library: Any, board: Any, family: str, variant_id: str = "", parent: QWidget | None = None):
        workspace = str(library.workspace.folder) if library.workspace else ""
        catalogue = board.catalogue
        plan = CompressPlan(workspace, family, library.variants(), catalogue.methods if catalogue else None)
        plan.choose_default(variant_id or library.selection)
        self.memory_key = f"compress/{family}"
        last = recall(self.memory_key)
        self._last_params: dict[str, dict[str, Any]] = dict(last.get("params") or {})
        if any(m.name == last.get("method") and not plan.method_problem(m) for m in plan.methods or ()):
            plan.method = last["method"]
        self._wanted_method = str(last.get("method") or "")
        plan.seed = int(last.get("seed") or 0)
        plan.measure = bool(last.get("measure", True))
        plan.text = last.get("text") or None
        plan.images = last.get("images") or None  # of a job that's started again; otherwise another model's, and forgotten
        if plan.images:
            keep(self.memory_key, {k: v for k, v in last.items() if k != "images"})
        plan.labels = (last.get("labels") or None) if plan.known_labels is None else None  # else those that it learnt from
        plan.measure_text = last.get("measure_text") or library_text(library)
        self.started: list[str] = []
        super().__init__(plan, library, board, parent)
        self.setWindowTitle(self._title_of(family))
        self.plan: CompressPlan = plan
        self.another = button(self.tr("Start, and configure another"), "another")
        self.another.clicked.connect(self.start_another)
        self.extra.addWidget(self.another)
        self.source = SourcePage(self)
        self.method = MethodPage(self)
        self.data = DataPage(self)
        self.review = ReviewPage(self)
        for page in (self.source, self.method, self.data, self.review):
            self.add_page(page)
        self.estimator = Estimator(self, self._estimate_question, self._estimated)
        library.changed.connect(self._library_changed)
        if plan.source is not None and variant_id:
            self.flow.page = "method"  # the person has said already from which one
        self.begin()

    def _title_of(self, family: str) -> str:
        return {
            "pruning": self.tr("Prune"),
            "quantization": self.tr("Quantize"),
            "distillation": self.tr("Distil"),
            "recovery": self.tr("Fine-tune"),
        }[family]

    # -- the estimate

    def estimate_soon(self) -> None:
        self.plan.refused = ""
        ready = self.plan.source is not None and self.plan.chosen is not None and not self.plan.problem("method")
        for shown in (self.method.estimate, self.review.estimate):
            if ready:
                shown.waiting()
            shown.setVisible(ready)
        if ready:
            self.estimator.soon()
        else:
            self.estimator.drop()

    def _estimate_question(self) -> tuple[EstimateSpec, str] | None:
        plan = self.plan
        if plan.source is None or plan.chosen is None or plan.problem("method"):
            return None
        return EstimateSpec(workspace=plan.workspace, variant=plan.variant, step=plan.step(), device=plan.device), plan.device

    def _estimated(self, event: Any) -> None:
        source = self.plan.source
        if source is None:
            return
        if isinstance(event, Finished):
            for shown in (self.method.estimate, self.review.estimate):
                shown.tell(source.ledger.bytes_on_disk, event.result, note_text)
            self.review.needed = event.result.get("memory")
            if name := str(event.result.get("name") or ""):
                self.plan.learn_name(name)
        elif isinstance(event, Failed):
            sentence, hint = failure_text(event)
            for shown in (self.method.estimate, self.review.estimate):
                shown.unknown(f"{sentence} {hint}".strip())
            self.review.needed = None
            self.plan.refused = sentence if event.kind in REFUSALS else ""
        if self.plan.name_waits:
            self.review.suggest()
        self.review.tell_memory()
        self.refresh()

    # -- what comes from outside

    def catalogue_came(self) -> None:
        catalogue = self.board.catalogue
        if catalogue is None:
            return
        if self.plan.methods is None:
            self.plan.learn(catalogue.methods)
            if any(m.name == self._wanted_method and not self.plan.method_problem(m) for m in self.plan.methods or ()):
                self.plan.method = self._wanted_method
            self.method.fill()
        self.review.device.fill()
        self.refresh()

    def _library_changed(self) -> None:
        self.plan.variants = {v.id: v for v in self.library.variants()}
        if self.plan.variant not in self.plan.variants:
            self.plan.choose_default(self.library.selection)
        self.source.fill()
        self.refresh()

    # -- ending

    def refresh(self) -> None:
        super().refresh()
        self.another.setVisible(self.flow.last)
        self.another.setEnabled(self.finish_button.isEnabled())

    def all_well(self) -> str:
        if not self.started or self.flow.last:
            return ""
        return self.tr("Started: {names}. Change a setting for another.").format(names=", ".join(self.started))

    def submit(self) -> str:
        plan = self.plan
        assert plan.source is not None
        self._keep()
        title = self.tr("{name}, from {source}").format(name=plan.name.strip(), source=plan.source.name)
        return self.board.submit(plan.spec(), title, plan.device)

    def start_another(self) -> None:
        """Starts this one, and goes back to the settings for the next."""
        if not self.flow.last or self.flow.problem:
            return
        self.started.append(self.plan.name.strip())
        self.submitted.emit(self.submit())
        self.review.name_is_own = False
        self.flow.page = "method"
        self._show_page()

    def _keep(self) -> None:
        plan = self.plan
        self._last_params[plan.method] = dict(plan.params)
        keep(
            self.memory_key,
            {
                "method": plan.method,
                "params": self._last_params,
                "seed": plan.seed,
                "measure": plan.measure,
                "text": plan.text,
                "labels": plan.labels,
                "measure_text": plan.measure_text,
            },
        )

    def last_params(self, method: str) -> dict[str, Any]:
        """What was set for a method last time. A variant named then may be gone, so those are left out."""
        return dict(self._last_params.get(method) or {})


def library_text(library: Any) -> str | None:
    """The workspace's own evaluation text, where it has one."""
    return library.workspace.settings.text if library.workspace else None


class SourcePage(Page):
    def __init__(self, wizard: CompressWizard):
        super().__init__("source")
        self.say(
            self.tr("Source"), self.tr("Which model?"), self.tr("A new variant is made from it. The one that you choose stays as it is.")
        )
        self.wizard = wizard
        self.list = VariantList(self)
        self.body.addWidget(self.list, 1)
        self.fill()
        self.list.chosen.connect(self._chosen)

    def fill(self) -> None:
        plan = self.wizard.plan
        self.list.fill(plan.variants.values(), lambda v: spoken(plan.variant_problem(v)), [plan.variant])

    def _chosen(self) -> None:
        chosen = self.list.selected_ids()
        self.wizard.plan.variant = chosen[0] if chosen else ""
        self.wizard.method.source_changed()
        self.changed.emit()

    def first_field(self) -> QWidget:
        return self.list


class MethodPage(Page):
    def __init__(self, wizard: CompressWizard):
        super().__init__("method")
        self.say(self.tr("Method"), self.tr("Choose a method"), self._explain(wizard.plan.family))
        self.wizard = wizard
        self.wait = Notice(self)
        self.cards = CardList(self)
        self.cards.chosen.connect(self._chosen)
        self.others = label("", "muted", self)
        self.others.setObjectName("other_methods")
        self.form: Form | None = None
        self._form_of: tuple[str, str] = ("", "")
        self._place = QVBoxLayout()
        self.estimate = Estimate(self)
        self.body.addWidget(self.wait)
        self.body.addWidget(self.cards)
        self.body.addWidget(self.others)
        self.body.addLayout(self._place)
        self.body.addStretch(1)
        self.below = QWidget(self)
        under = QVBoxLayout(self.below)
        under.setContentsMargins(0, 10, 16, 12)
        under.addWidget(self.estimate)
        self.estimate.hide()

    def _explain(self, family: str) -> str:
        return {
            "pruning": self.tr("Pruning takes weights away. What's left computes with fewer of them, and a little less exactly."),
            "quantization": self.tr("Quantization stores each weight in fewer bits. Eight are nearly free; below four it shows."),
            "distillation": self.tr("A smaller model, the student, learns to predict what the larger one, the teacher, predicts."),
            "recovery": self.tr("Training a little more on text wins back accuracy that a cut has cost. Zeros stay zero."),
        }[family]

    def entered(self) -> None:
        self.fill()

    def fill(self) -> None:
        plan = self.wizard.plan
        methods = plan.methods or ()
        self.wait.tell(
            self.tr("The worker is still starting. The methods appear here in a few seconds.") if plan.methods is None else "", "info"
        )
        title = lambda m: core_text(m.title) or m.name
        others = [m for m in methods if plan.of_another_kind(m)]
        if len(others) == len(methods):
            others = []  # rather cards that say why than none
        cards = [(m.name, title(m), core_text(m.summary), spoken(plan.method_problem(m))) for m in methods if m not in others]
        self.others.setText(self.tr("For other kinds of model: {names}").format(names=", ".join(map(title, others))))
        self.others.setVisible(bool(others))
        if [(c[0], c[3]) for c in cards] != [(k, c.reason) for k, c in self.cards.cards.items()]:
            self.cards.fill(cards)
        if plan.method:
            self.cards.choose(plan.method)
            self._show_form()

    def source_changed(self) -> None:
        """Another variant is to be worked on: methods may apply or not, and other variants fit or not."""
        plan = self.wizard.plan
        if plan.chosen is not None and plan.method_problem(plan.chosen):
            plan.method = next((m.name for m in plan.methods or () if not plan.method_problem(m)), "")
        if self._form_of[1] != plan.variant:
            self._form_of = ("", "")

    def _chosen(self, method: str) -> None:
        self.wizard.plan.method = method
        self._show_form()
        self.changed.emit()
        QTimer.singleShot(0, self, self._show_whats_chosen)

    def _show_whats_chosen(self) -> None:
        """A card's settings may be far below it: they come into sight."""
        card = self.cards.cards.get(self.wizard.plan.method)
        if card is not None and self.form is not None and self.isVisible():
            self.layout().activate()  # so that the new form has its place
            self.wizard.bring_into_sight(self, card, self.form)

    def _show_form(self) -> None:
        plan = self.wizard.plan
        method = plan.chosen
        if method is None or self._form_of == (plan.method, plan.variant):
            self.wizard.estimate_soon()
            return
        before = self.form.values() if self.form is not None and self._made_for(plan.method) else self.wizard.last_params(plan.method)
        if self.form is not None:
            self._place.removeWidget(self.form)
            self.form.hide()
            self.form.deleteLater()
        self.form = Form(method.knobs, self.wizard.library, plan.source, self)
        self._form_of = (plan.method, plan.variant)
        self._method_of_form = plan.method
        self.form.set_values(before)
        self.form.changed.connect(self._edited)
        self._place.addWidget(self.form)
        self._edited()

    def _made_for(self, method: str) -> bool:
        return getattr(self, "_method_of_form", "") == method

    def _edited(self) -> None:
        assert self.form is not None
        plan = self.wizard.plan
        plan.params = self.form.values()
        plan.params_problem = self.form.problem() or ""
        self.wizard.estimate_soon()
        self.changed.emit()

    def first_field(self) -> QWidget | None:
        return self.cards.first_field()


class DataPage(Page):
    """The text or the labelled examples that the method reads, by what it needs."""

    def __init__(self, wizard: CompressWizard):
        super().__init__("data")
        self.say(self.tr("Data"), self.tr("Which text?"))
        self.wizard = wizard
        self.text = TextChoice(
            self.tr("Training text that comes with Spokeshave"),
            self.tr("Shakespeare, {size}. Right for the starter models; for others take text of the kind that they'll meet.").format(
                size=fmt_bytes(resources.TRAIN_TEXT.stat().st_size if resources.TRAIN_TEXT.exists() else None)
            ),
            self,
        )
        self.text.setObjectName("training_text")
        self.labels = LabelsChoice(wizard, self)
        self.images = ImagesChoice(
            self.tr("Those that it learnt from"),
            self.tr("The starter model learnt from the handwritten digits that come with Spokeshave."),
            self,
        )
        self.images.setObjectName("training_images")
        self.body.addWidget(self.text)
        self.body.addWidget(self.labels)
        self.body.addWidget(self.images)
        self.body.addStretch(1)
        self.images.set_path(wizard.plan.images)
        self.images.changed.connect(self._images_changed)
        self.text.set_path(wizard.plan.text)
        self.text.changed.connect(self._changed)
        self.labels.changed.connect(self.changed)

    def entered(self) -> None:
        plan = self.wizard.plan
        self.text.setVisible(not plan.needs_labels and not plan.needs_images)
        self.labels.setVisible(plan.needs_labels)
        self.images.setVisible(plan.needs_images)
        if plan.needs_images:
            self.title = self.tr("Which images?")
            self.explanation = self.tr("Noise is put on them for the model to take off; a fifth is kept aside to choose the best step by.")
            return
        self.title = self.tr("Which examples?") if plan.needs_labels else self.tr("Which text?")
        if plan.needs_labels:
            self.explanation = self.tr(
                "Texts, each with its class: a fifth of them is held out, never trained on, and what accuracy is measured on."
            )
            self.labels.entered()
            return
        calibrates = plan.chosen is not None and "calibration" in plan.chosen.needs
        self.explanation = (
            self.tr("The method runs the model over some text, to see which weights matter there.")
            if calibrates
            else self.tr("The model is trained on it. It should be text like that which it will meet.")
        )

    def _changed(self) -> None:
        self.wizard.plan.text = self.text.path()
        self.changed.emit()

    def _images_changed(self) -> None:
        self.wizard.plan.images = self.images.path()
        self.changed.emit()

    def first_field(self) -> QWidget:
        if self.wizard.plan.needs_labels:
            return self.labels.first_field()
        if self.wizard.plan.needs_images:
            return self.images.own if self.images.own.isChecked() else self.images.starter
        return self.text.own if self.text.own.isChecked() else self.text.starter


class ReviewPage(Page):
    def __init__(self, wizard: CompressWizard):
        super().__init__("review")
        self.say(self.tr("Review"), self.tr("Ready to start"), self.tr("The work goes on in the background; the window stays free."))
        self.wizard = wizard
        self.needed: int | None = None
        self.name_is_own = False
        plan = wizard.plan
        grid = QGridLayout()
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(5)
        self.name = QLineEdit(self)
        self.name.setObjectName("name")
        self.device = DeviceChoice(wizard.board, "auto", self)
        self.seed = QSpinBox(self)
        self.seed.setObjectName("seed")
        self.seed.setRange(0, 2**31 - 1)
        self.seed.setValue(plan.seed)
        self.seed.setToolTip(self.tr("The same seed gives the same weights on the same machine"))
        calm_wheel(self.seed)
        fields = ((self.tr("Name"), self.name), (self.tr("Device"), self.device), (self.tr("Seed"), self.seed))
        for at, (title, widget) in enumerate(fields):
            caption = label(title, parent=self, wrap=False)
            caption.setBuddy(widget)
            grid.addWidget(caption, 0, at)
            grid.addWidget(widget, 1, at)
        grid.setColumnStretch(0, 1)  # names are long; the others need what they need
        self.seed.setFixedWidth(104)
        self.body.addLayout(grid)
        self.estimate = Estimate(self)
        self.estimate.setObjectName("review_estimate")
        self.body.addWidget(self.estimate)
        self.notice = Notice(self)
        self.body.addWidget(self.notice)
        self.measure = QCheckBox(self.tr("Measure it afterwards: perplexity, difference from the original, speed"), self)
        self.measure.setObjectName("measure")
        self.measure.setToolTip(self.tr("Without a measurement the variant has no place on the plot"))
        self.measure.setChecked(plan.measure)
        self.body.addWidget(self.measure)
        self.text = TextChoice(self.tr("On the held-out text that comes with Spokeshave"), "", self)
        self.text.setObjectName("measure_text")
        self.text.setContentsMargins(23, 0, 0, 0)
        self.text.set_path(plan.measure_text)
        self.body.addWidget(self.text)
        head = QHBoxLayout()
        head.addWidget(label(self.tr("Recipe"), "section", self, wrap=False))
        head.addWidget(label(self.tr("spokeshave-cli run makes the same variant from it"), "muted", self, wrap=False))
        head.addStretch(1)
        self.copy = button(self.tr("Copy"), "copy", flat=True)
        self.copy.setIcon(icon("copy"))
        head.addWidget(self.copy)
        self.body.addLayout(head)
        self.recipe = QPlainTextEdit(self)
        self.recipe.setObjectName("recipe")
        self.recipe.setReadOnly(True)
        self.recipe.setFont(mono(12))
        self.recipe.setProperty("sunken", True)
        self.recipe.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.recipe.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # the page scrolls
        self.recipe.setTabChangesFocus(True)
        self.body.addWidget(self.recipe, 1)
        self.name.textEdited.connect(self._named)
        self.device.changed.connect(self._changed)
        self.seed.valueChanged.connect(lambda _: self._changed())
        self.measure.toggled.connect(lambda _: self._changed())
        self.text.changed.connect(self._changed)
        self.copy.clicked.connect(self._copy)
        self._read()

    def entered(self) -> None:
        plan = self.wizard.plan
        self.device.fill()
        self.measure.setText(self._what_is_measured())
        self.suggest(waits=not plan.name_known)
        self._read()
        self.wizard.estimate_soon()

    def _what_is_measured(self) -> str:
        plan = self.wizard.plan
        if plan.measures_labels:
            return self.tr("Measure it afterwards: accuracy on the examples held out, speed")
        if plan.draws:
            return self.tr("Measure it afterwards: likeness to the images, speed")
        if plan.source is not None and plan.source.info.task == "encoder":
            return self.tr("Measure it afterwards: difference from the original, speed")
        return self.tr("Measure it afterwards: perplexity, difference from the original, speed")

    def _named(self, text: str) -> None:
        self.name_is_own = bool(text.strip())
        self.wizard.plan.name_waits = False
        self._changed()

    def _read(self) -> None:
        plan = self.wizard.plan
        plan.name = self.name.text()
        plan.device = self.device.device()
        plan.seed = self.seed.value()
        plan.measure = self.measure.isChecked()
        plan.measure_text = self.text.path()
        self.text.setVisible(plan.measure and not plan.measures_labels and not plan.draws)
        if plan.chosen is not None:
            self._show_recipe(plan.recipe().to_yaml().rstrip())
        self.tell_memory()

    def _show_recipe(self, text: str) -> None:
        """As high as its text, a line for each; a long fingerprint takes two."""
        if text == self.recipe.toPlainText():
            return
        self.recipe.setPlainText(text)
        line = QFontMetrics(self.recipe.font())
        room = max(self.recipe.viewport().width() - 16, 200) // max(line.horizontalAdvance("0"), 1)
        rows = sum(1 + max(len(part) - 1, 0) // room for part in text.split("\n"))
        self.recipe.setFixedHeight(rows * line.lineSpacing() + 26)

    def suggest(self, *, waits: bool = False) -> None:
        """The worker's own name for what would come out, or what's nearest to it, unless the person gave one. waits: it's still to come."""
        plan = self.wizard.plan
        plan.name_waits = waits and not self.name_is_own
        if not self.name_is_own:
            plan.name = plan.suggested_name()
            with QSignalBlocker(self.name):
                self.name.setText(plan.name)

    def _changed(self) -> None:
        before = self.wizard.plan.device
        self._read()
        if self.wizard.plan.device != before:
            self.wizard.estimate_soon()
        self.changed.emit()

    def tell_memory(self) -> None:
        said = memory_problem(self.needed, self.device.info()) or self.wizard.plan.warning()
        self.notice.tell(spoken(said), "warning")

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.recipe.toPlainText() + "\n")
        self.copy.setText(self.tr("Copied"))
        self.copy.setIcon(icon("check", "ok"))
        QTimer.singleShot(COPIED_MS, self.copy, self._uncopied)

    def _uncopied(self) -> None:
        self.copy.setText(self.tr("Copy"))
        self.copy.setIcon(icon("copy"))

    def first_field(self) -> QWidget:
        return self.name
