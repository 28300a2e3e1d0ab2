"""The wizard that exports a variant to ONNX, to GGUF or to a file without its zeros, and the report of what was checked when it's done.

The export runs as a job like any other; `ExportWatch` waits for its end and shows the report, with 'Try it' and 'Show folder'.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget
from shiboken6 import isValid

from app.compare_export import ClassifyDialog, CompareDialog
from app.draw_export import DrawDialog
from app.forms import FileField, calm_wheel
from app.look_export import LookDialog
from app.notes import note_text
from app.speed_bars import SpeedBars, speeds_of
from app.text import failure_text, fmt_bytes, fmt_number, fmt_percent, fmt_seconds
from app.theme import icon_pixmap, restyle, theme
from app.widgets import Segmented
from app.wizards.base import DeviceChoice, Facts, Notice, Page, TextChoice, VariantList, Wizard, button, keep, label, recall, spoken
from app.wizards.plans import ExportPlan
from app.wizards.try_export import TryExportDialog
from core.events import TERMINAL, Failed, Finished
from core.records import CompareExportSpec

RUNTIMES = ("1.24", "1.22", "1.20", "1.18", "1.17", "1.16", "1.15", "1.14")  # at which the operators or formats that are read changed
SPEED_PROMPTS = ("Once upon a time there was", "The reason for this is that")


class ExportWizard(Wizard):
    """`variant_id`: what's chosen at first."""

    def __init__(self, library: Any, board: Any, variant_id: str = "", parent: QWidget | None = None):
        workspace = str(library.workspace.folder) if library.workspace else ""
        plan = ExportPlan(workspace, library.variants())
        plan.choose_default(variant_id or library.selection)
        super().__init__(plan, library, board, parent)
        self.plan: ExportPlan = plan
        self.setWindowTitle(self.tr("Export"))
        self.finish_button.setText(self.tr("Export"))
        self.source = SourcePage(self)
        self.folder = FolderPage(self)
        self.review = ReviewPage(self)
        for page in (self.source, self.folder, self.review):
            self.add_page(page)
        library.changed.connect(self._library_changed)
        if plan.source is not None and variant_id:
            self.flow.page = "folder"
        self.begin()

    def catalogue_came(self) -> None:
        self.review.device.fill()

    def _library_changed(self) -> None:
        self.plan.variants = {v.id: v for v in self.library.variants()}
        self.source.fill()
        self.refresh()

    def submit(self) -> str:
        plan = self.plan
        assert plan.source is not None
        own = plan.to.strip() != plan.suggested_folder()
        parent = str(Path(plan.to).expanduser().parent) if own else ""
        kept = {"format": plan.format, "gguf_type": plan.gguf_type, "profile": plan.profile, "activations": plan.activations}
        kept |= {"layout": plan.layout, "runtime": plan.runtime, "precision": plan.precision}
        keep("export", {"parent": parent} | kept)
        titles = {"onnx": self.tr("Export {name} to ONNX"), "gguf": self.tr("Export {name} to GGUF"), "sparse": self.tr("Pack {name}")}
        job = self.board.submit(plan.spec(), titles[plan.format].format(name=plan.source.name), plan.device)
        ExportWatch(self.board, job, plan.source.name, self.parent())
        return job


class SourcePage(Page):
    def __init__(self, wizard: ExportWizard):
        super().__init__("source")
        self.say(
            self.tr("Model"), self.tr("Which model?"), self.tr("What's exported runs in other programs, without Python and without torch.")
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
        self.changed.emit()

    def first_field(self) -> QWidget:
        return self.list


class FolderPage(Page):
    def __init__(self, wizard: ExportWizard):
        super().__init__("folder")
        self.say(self.tr("Folder"), self.tr("Where to?"), self.tr("The folder appears only when the export is whole and checked."))
        self.wizard = wizard
        last = recall("export")
        self.formats = Segmented((("onnx", "ONNX"), ("gguf", "GGUF"), ("sparse", self.tr("Packed"))))
        self.formats.buttons["onnx"].setToolTip(self.tr("For onnxruntime and what's built on it; encoders and classifiers too"))
        self.formats.buttons["gguf"].setToolTip(self.tr("For llama.cpp and what's built on it; decoders like Llama, Qwen and Gemma"))
        self.formats.buttons["sparse"].setToolTip(
            self.tr("For keeping and sending a pruned model: one file without its zeros, from which the folder is restored bit for bit")
        )
        self.types = QComboBox(self)
        self.types.setObjectName("gguf_type")
        for value, title in (
            ("auto", self.tr("As it is: its own grid, or q8_0")),
            ("f32", self.tr("f32: exact, four bytes a weight")),
            ("f16", self.tr("f16: half precision")),
            ("bf16", self.tr("bf16: half the size, float32's range")),
            ("q8_0", self.tr("q8_0: 8 bits, hardly a loss")),
            ("q4_0", self.tr("q4_0: 4 bits, in groups of 32")),
            ("q4_k", self.tr("q4_k: 4 bits with offsets, better at the same size")),
        ):
            self.types.addItem(title, value)
        self.types.setToolTip(self.tr("What the weights of a GGUF file are stored in; with 4 bits, embedding and head get 8"))
        calm_wheel(self.types)
        self.profiles = QComboBox(self)
        self.profiles.setObjectName("onnx_profile")
        self.profiles.addItem(self.tr("Portable: batches and padding"), "portable")
        self.profiles.addItem(self.tr("Fast: one text at a time"), "fast")
        self.profiles.setToolTip(
            self.tr("Fast graphs are made of onnxruntime's own fused operators; portable ones take several texts at once")
        )
        self.activations = QComboBox(self)
        self.activations.setObjectName("onnx_activations")
        self.activations.addItem(self.tr("Exact products"), "float32")
        self.activations.addItem(self.tr("Rounded products, faster"), "int8")
        self.activations.setToolTip(
            self.tr("Rounded: quantized layers round what comes in to int8, where the check finds that close enough; exact ones don't")
        )
        for combo, kept in ((self.profiles, "profile"), (self.activations, "activations")):
            calm_wheel(combo)
            combo.setCurrentIndex(max(combo.findData(last.get(kept)), 0))
            combo.currentIndexChanged.connect(lambda _: self.entered())
        self.layouts = QComboBox(self)
        self.layouts.setObjectName("onnx_layout")
        self.layouts.addItem(self.tr("Plain folder"), "plain")
        self.layouts.addItem(self.tr("For Transformers.js"), "transformers.js")
        self.layouts.setToolTip(
            self.tr("For Transformers.js: the graph in the folder 'onnx', under the name that this library has for its precision")
        )
        self.runtimes = QComboBox(self)
        self.runtimes.setObjectName("onnx_runtime")
        self.runtimes.addItem(self.tr("Any recent onnxruntime"), "")
        for release in RUNTIMES:
            self.runtimes.addItem(self.tr("onnxruntime {release} or later").format(release=release), release)
        self.runtimes.setToolTip(
            self.tr("The oldest onnxruntime that is to open the file. Where the graph's operators came later, the export says so")
        )
        self.precisions = QComboBox(self)
        self.precisions.setObjectName("onnx_precision")
        self.precisions.setToolTip(
            self.tr(
                "float32 is exact. float16: half the size, rounded; numbers beyond 65,504 don't fit and are looked for. int8: weights and "
                "what they're multiplied by, in whole numbers; fixed ranges are found on a text beforehand. bfloat16 isn't offered: "
                "onnxruntime computes nothing in it on a processor."
            )
        )
        calm_wheel(self.precisions)
        self._wanted = str(last.get("precision") or "float32")
        self.precisions.activated.connect(self._chose_precision)
        self.text = TextChoice(self.tr("The starter's training text"), self.tr("Text that the ranges are found on"), self)
        self.text.changed.connect(lambda: self.entered())
        for combo, kept in ((self.layouts, "layout"), (self.runtimes, "runtime")):
            calm_wheel(combo)
            combo.setCurrentIndex(max(combo.findData(last.get(kept)), 0))
            combo.currentIndexChanged.connect(lambda _: self.entered())
        wizard.plan.format = last.get("format") if last.get("format") in self.formats.buttons else "onnx"
        self.formats.set_current(wizard.plan.format)
        self.types.setCurrentIndex(max(self.types.findData(last.get("gguf_type") or "auto"), 0))
        choice = QHBoxLayout()
        choice.setSpacing(12)
        choice.addWidget(self.formats)
        choice.addWidget(self.types)
        choice.addStretch(1)
        self.body.addLayout(choice)
        for both in ((self.profiles, self.activations, self.precisions), (self.layouts, self.runtimes)):
            line = QWidget(self)
            row = QHBoxLayout(line)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(12)
            for combo in both:
                row.addWidget(combo)
            row.addStretch(1)
            self.body.addWidget(line)
        self.too_old = label(role="error", parent=self)
        self.too_old.setObjectName("too_old")
        self.body.addWidget(self.too_old)
        self.body.addWidget(self.text)
        self.field = FileField(self, folders=True, title=self.tr("Choose a folder"))
        self.field.setObjectName("folder")
        caption = label(self.tr("Folder"), parent=self, wrap=False)
        caption.setBuddy(self.field.line)
        self.replace = QCheckBox(self.tr("Replace what's in the folder"), self)
        self.replace.setObjectName("overwrite")
        place = QVBoxLayout()
        place.setSpacing(5)
        place.addWidget(caption)
        place.addWidget(self.field)
        self.files = Facts(self, columns=1, plain=True)
        self.body.addLayout(place)
        self.body.addWidget(self.replace)
        self.body.addWidget(label(self.tr("What will be written"), "section", self))
        self.body.addWidget(self.files)
        self.body.addStretch(1)
        self._suggested = ""
        self.field.changed.connect(self._changed)
        self.replace.toggled.connect(lambda _: self._changed())
        self.formats.chosen.connect(lambda _: self.entered())
        self.types.currentIndexChanged.connect(lambda _: self.entered())

    def entered(self) -> None:
        plan = self.wizard.plan
        plan.format, plan.gguf_type = self.formats.current, str(self.types.currentData())
        plan.profile, plan.activations = str(self.profiles.currentData()), str(self.activations.currentData())
        self.types.setVisible(plan.format == "gguf")
        self.profiles.setVisible(plan.format == "onnx" and plan.generates)
        self.activations.setVisible(plan.format == "onnx" and plan.rounds)
        self._fill_precisions()
        plan.precision, plan.text = self._wanted, self.text.path()
        self.text.setVisible(plan.calibrates)
        plan.layout, plan.runtime = str(self.layouts.currentData()), str(self.runtimes.currentData() or "")
        self.layouts.setVisible(plan.format == "onnx" and plan.lays_out)
        self.runtimes.setVisible(plan.format == "onnx")
        self._say_too_old()
        for combos in ((self.profiles, self.activations, self.precisions), (self.layouts, self.runtimes)):
            combos[0].parentWidget().setVisible(not all(combo.isHidden() for combo in combos))  # an empty line would leave a gap
        if self.field.path() == self._suggested:
            suggested = plan.suggested_folder()
            parent = recall("export").get("parent")
            self._suggested = str(Path(parent) / Path(suggested).name) if parent and suggested else suggested
            self.field.set_path(self._suggested)
        self.files.show_pairs([(name, spoken(what)) for name, what in plan.files()])
        self._changed()

    def _say_too_old(self) -> None:
        """Under the runtimes: why the one that's named can't be, and what to do."""
        refusal = self.wizard.plan.runtime_refusal()
        self.too_old.setText(" ".join(failure_text(refusal)) if refusal is not None else "")
        self.too_old.setVisible(refusal is not None)
        self.runtimes.setAccessibleDescription(self.too_old.text() or self.runtimes.toolTip())
        if bool(self.runtimes.property("invalid")) != (refusal is not None):
            self.runtimes.setProperty("invalid", refusal is not None)
            restyle(self.runtimes)

    def chosen(self) -> str:
        """What will be made, in the words of what was chosen: some of it was remembered from the last export."""
        combos = (self.types, self.profiles, self.activations, self.precisions, self.layouts, self.runtimes)
        format = self.formats.buttons[self.formats.current].text()
        return " \u00b7 ".join([format, *(combo.currentText() for combo in combos if not combo.isHidden())])

    def _fill_precisions(self) -> None:
        """Those that the chosen variant has; what was wanted stays wanted for the next one that has it."""
        plan, combo = self.wizard.plan, self.precisions
        titles = {
            "float32": self.tr("float32: exact"),
            "float16": self.tr("float16: half the size"),
            "int8-dynamic": self.tr("int8, ranges as they come"),
            "int8-static": self.tr("int8, fixed ranges"),
        }
        if [combo.itemData(i) for i in range(combo.count())] != list(plan.precisions):
            combo.clear()
            for value in plan.precisions:
                combo.addItem(titles[value], value)
        combo.setCurrentIndex(max(combo.findData(self._wanted), 0))
        combo.setVisible(plan.format == "onnx" and combo.count() > 1)

    def _chose_precision(self) -> None:
        self._wanted = str(self.precisions.currentData())
        self.entered()

    def _changed(self) -> None:
        plan = self.wizard.plan
        plan.to = self.field.path()
        plan.overwrite = self.replace.isChecked()
        self.replace.setVisible(plan.replaceable)
        self.changed.emit()

    def first_field(self) -> QWidget:
        return self.field.line


class ReviewPage(Page):
    def __init__(self, wizard: ExportWizard):
        super().__init__("review")
        self.say(
            self.tr("Review"), self.tr("Ready to export"), self.tr("It's called done only when another program computes what torch does.")
        )
        self.wizard = wizard
        self.facts = Facts(self, columns=1)
        self.notice = Notice(self)
        self.device = DeviceChoice(wizard.board, "cpu", self)
        caption = label(self.tr("Device for the comparison"), parent=self, wrap=False)
        caption.setBuddy(self.device)
        self.device.setMaximumWidth(320)
        self.place = QWidget(self)  # ONNX files are traced and checked on the processor, packed ones aren't computed with
        place = QVBoxLayout(self.place)
        place.setContentsMargins(0, 0, 0, 0)
        place.setSpacing(5)
        place.addWidget(caption)
        place.addWidget(self.device)
        self.body.addWidget(self.facts)
        self.body.addWidget(self.notice)
        self.body.addWidget(self.place)
        self.body.addStretch(1)
        self.device.changed.connect(self._changed)

    def entered(self) -> None:
        plan = self.wizard.plan
        source = plan.source
        if source is None:
            return
        self.device.fill()
        self.facts.show_pairs(
            [
                (self.tr("Model"), source.name),
                (self.tr("Format"), self.wizard.folder.chosen()),
                (self.tr("Folder"), plan.to),
                (
                    self.tr("Size"),
                    self.tr("about {size}, an estimate; {now} now").format(
                        size=fmt_bytes(plan.estimate), now=fmt_bytes(source.ledger.bytes_on_disk)
                    ),
                ),
                (self.tr("Checks"), self._checks()),
            ]
        )
        note = ""
        self.place.setVisible(plan.format == "gguf")
        if plan.format == "sparse":
            note = self.tr("It's packed for keeping and sending. To use it, restore the folder: spokeshave-cli unpack-sparse FILE.")
        elif source.info.quantization and plan.format == "gguf":
            note = self.tr("Its own grid is kept where a type of GGUF's holds it; layers that had to be quantized again are counted.")
        elif source.info.quantization:
            note = self.tr("Its own grid is written as it is, packed; nothing is quantized again.")
        elif plan.overwrite and plan.occupied:
            note = self.tr("What's in the folder now is replaced once the export is whole.")
        self.notice.tell(note, "info")
        self._changed()

    def _checks(self) -> str:
        plan = self.wizard.plan
        if plan.format == "gguf":
            return self.tr("read back by plain transformers; its logits against what was written; header and tokenizer")
        if plan.format == "sparse":
            return self.tr("unpacked again, every file compared by its sha256")
        if plan.source is not None and plan.source.info.task == "causal-lm":
            return self.tr("loads; logits against torch; the same greedy tokens; every data byte referenced")
        if plan.draws:
            return self.tr("loads; outputs at several levels of noise against torch; the same images from the same noise")
        return self.tr("loads; outputs against torch; padded batches; every data byte referenced")

    def _changed(self) -> None:
        self.wizard.plan.device = self.device.device() if self.wizard.plan.format == "gguf" else "cpu"
        self.changed.emit()

    def first_field(self) -> QWidget:
        return self.device if self.place.isVisible() else self.wizard.finish_button


# ---- when it's done ----------------------------------------------------------------------------------------------------


class ExportWatch(QObject):
    """Waits for an export to finish and shows its report over `parent`. Failures are the job panel's to show."""

    def __init__(self, board: Any, job: str, name: str, parent: QObject | None = None):
        super().__init__(parent if parent is not None else board)
        self._board, self._job, self._name = board, job, name
        board.event.connect(self._on_event)

    def _on_event(self, event: Any) -> None:
        if event.job != self._job or not isinstance(event, TERMINAL) or not isValid(self):
            return
        self._board.event.disconnect(self._on_event)
        if isinstance(event, Finished):
            parent = self.parent()
            show_report(parent if isinstance(parent, QWidget) else None, self._board, event.result, self._name)
        self.deleteLater()


def show_report(parent: QWidget | None, board: Any, result: dict[str, Any], name: str = "") -> ExportReport:
    """The report of a finished export (its job's result), beside the window and without taking the keyboard."""
    dialog = ExportReport(board, result, name, parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    dialog.show()
    return dialog


class ExportReport(QDialog):
    """What was checked, with the figures."""

    def __init__(self, board: Any, result: dict[str, Any], name: str = "", parent: QWidget | None = None):
        super().__init__(parent)
        self.board, self.folder, self.report = board, str(result.get("folder", "")), dict(result.get("report") or {})
        self.workspace, self.variant = str(result.get("workspace") or ""), str(result.get("variant") or "")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Exported {name}").format(name=name) if name else self.tr("Exported"))
        box = QVBoxLayout(self)
        box.setContentsMargins(26, 22, 26, 18)
        box.setSpacing(14)
        title = QHBoxLayout()
        title.setSpacing(10)
        sign = QLabel(self)
        sign.setPixmap(icon_pixmap("check", 22, "ok", self.devicePixelRatioF()))
        title.addWidget(sign)
        title.addWidget(label(self.tr("Exported and checked"), "title", self), 1)
        box.addLayout(title)
        box.addWidget(label(self.folder, "caption", self, selectable=True))
        self.figures = Facts(self, columns=1)
        self.figures.show_pairs(self._figures())
        box.addWidget(self.figures)
        self._add_speed(box)
        checks = self._checks()
        if checks:
            box.addWidget(label(self.tr("Checks"), "section", self))
            grid = QGridLayout()
            grid.setHorizontalSpacing(10)
            grid.setVerticalSpacing(6)
            grid.setColumnStretch(1, 1)
            for row, (what, passed, figure) in enumerate(checks):
                mark = QLabel(self)
                mark.setPixmap(icon_pixmap("check" if passed else "warning", 16, "ok" if passed else "warn", self.devicePixelRatioF()))
                mark.setAccessibleName(self.tr("passed") if passed else self.tr("not passed"))
                grid.addWidget(mark, row, 0, Qt.AlignmentFlag.AlignTop)
                grid.addWidget(label(what, parent=self), row, 1)
                grid.addWidget(label(figure, "caption", self, wrap=False), row, 2, Qt.AlignmentFlag.AlignRight)
            box.addLayout(grid)
        for note in self.report.get("notes") or ():
            box.addWidget(label(note_text(str(note)), "caption", self))
        box.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(8)
        show = button(self.tr("Show folder"), "show_folder")
        self.look_button = button(self.tr("Look inside"), "look")
        self.compare_button = button(self.tr("Compare"), "compare")
        self.compare_button.setToolTip(self.tr("The original, the variant and the export side by side on your own prompts"))
        self.try_button = button(self.tr("Try it"), "try", primary=True)
        close = button(self.tr("Close"), "close")
        row.addWidget(show)
        row.addStretch(1)
        row.addWidget(self.look_button)
        row.addWidget(self.compare_button)
        row.addWidget(self.try_button)
        row.addWidget(close)
        box.addLayout(row)
        # a GGUF file is llama.cpp's to run, and a packed one is nobody's
        runs = self.report.get("format") not in ("gguf", "sparse")
        task = self.report.get("task", "causal-lm")
        self.try_button.setVisible(task in ("causal-lm", "classifier", "diffusion") and runs)
        self.compare_button.setVisible(task == "causal-lm" and runs and bool(self.workspace))
        self.look_button.setVisible(runs)
        self.look_button.clicked.connect(self.look)
        self.compare_button.clicked.connect(self.compare)
        self.try_button.setDefault(True)
        show.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(self.folder)))
        self.try_button.clicked.connect(self.try_it)
        close.clicked.connect(self.close)
        theme().changed.connect(self.update)
        self.resize(540, self.sizeHint().height())
        self._fit()
        (close if self.try_button.isHidden() else self.try_button).setFocus()

    def _add_speed(self, box: QVBoxLayout) -> None:
        """Bars of the export's speed beside torch's, once they're asked for: measuring them loads both."""
        self.speed_job = ""
        self.bars = SpeedBars(self)
        if self.report.get("task", "causal-lm") != "causal-lm" or self.report.get("format") in ("gguf", "sparse") or not self.workspace:
            return
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(label(self.tr("Speed"), "section", self))
        row.addStretch(1)
        self.measure_button = button(self.tr("Measure"), "measure")
        self.measure_button.setToolTip(self.tr("Plain decoding by onnxruntime and by torch, token by token in turns; some seconds"))
        self.measure_button.clicked.connect(self.measure)
        row.addWidget(self.measure_button)
        box.addLayout(row)
        box.addWidget(self.bars)
        self.speed_state = label("", "caption", self)
        self.speed_state.hide()
        box.addWidget(self.speed_state)
        self.board.event.connect(self._on_event)

    def measure(self) -> None:
        spec = CompareExportSpec(workspace=self.workspace, folder=self.folder, variant=self.variant or None, prompts=SPEED_PROMPTS)
        self.speed_job = self.board.submit(spec, self.tr("Measure {folder}").format(folder=Path(self.folder).name))
        self.measure_button.setEnabled(False)
        self._say_speed(self.tr("Measuring …"))

    def _say_speed(self, words: str) -> None:
        self.speed_state.setText(words)
        self.speed_state.setVisible(bool(words))

    def _on_event(self, event: Any) -> None:
        if not self.speed_job or event.job != self.speed_job or not isinstance(event, TERMINAL) or not isValid(self):
            return
        self.speed_job = ""
        self.measure_button.setEnabled(True)
        self._say_speed("")
        if isinstance(event, Finished):
            tip = self.tr("The median over the tokens, each form writing one in turn; prompts aren't counted")
            self.bars.show_speeds(speeds_of(event.result), self.tr("tokens/s"), list(event.result.get("notes") or ()), tip=tip)
        elif isinstance(event, Failed):
            self._say_speed(" ".join(part for part in failure_text(event) if part))
        self._fit()

    def _fit(self) -> None:
        """As high as its lines are at its width: `adjustSize` would make it narrower, wrap them, and squeeze the rows below."""
        box = self.layout()
        box.activate()
        wanted = box.totalHeightForWidth(self.width()) if box.hasHeightForWidth() else box.totalSizeHint().height()
        room = self.screen().availableGeometry().height() - 48 if self.screen() else wanted
        self.resize(self.width(), max(self.height(), min(wanted, room)))

    def done(self, result: int) -> None:
        if self.speed_job:
            self.board.cancel(self.speed_job)
            self.speed_job = ""
        super().done(result)

    def compare(self) -> CompareDialog:
        dialog = CompareDialog(self.board, self.workspace, self.folder, self.variant, self.parentWidget())
        dialog.show()
        return dialog

    def look(self) -> LookDialog:
        dialog = LookDialog(self.board, self.folder, self.parentWidget())
        dialog.show()
        return dialog

    def try_it(self) -> QDialog:
        if self.report.get("task") == "classifier":
            dialog: QDialog = ClassifyDialog(self.board, self.workspace, self.folder, self.variant, self.parentWidget())
        elif self.report.get("task") == "diffusion":
            dialog = DrawDialog(self.board, self.workspace, self.folder, self.variant, self.parentWidget())
        else:
            dialog = TryExportDialog(self.board, self.folder, self.parentWidget())
        dialog.show()
        self.close()
        return dialog

    def _figures(self) -> list[tuple[str, str]]:
        r, out = self.report, []
        if r.get("bytes") is not None:
            out.append((self.tr("Size on disk"), fmt_bytes(r["bytes"])))
        if r.get("file"):
            out.append((self.tr("File"), str(r["file"])))
        if r.get("max_abs") is not None:
            scored = r.get("task", "causal-lm") in ("causal-lm", "classifier")  # others give vectors, or the noise of an image
            what = self.tr("Largest difference in a logit") if scored else self.tr("Largest difference of an output")
            out.append((what, fmt_number(float(r["max_abs"]), 3)))
        if r.get("top1") is not None:
            text = fmt_percent(float(r["top1"]), 1)
            if r.get("task") == "classifier":
                if r.get("classified"):
                    text = self.tr("{share} of {n} answers").format(share=text, n=r["classified"])
            elif r.get("tokens"):
                text = self.tr("{share} of {n} tokens").format(share=text, n=r["tokens"])
            out.append((self.tr("Same first choice"), text))
        if r.get("kl") is not None:
            out.append((self.tr("KL divergence from the model"), fmt_number(max(float(r["kl"]), 0.0), 3)))
        seconds = r.get("seconds")
        took = seconds.get("total") if isinstance(seconds, dict) else seconds
        if took is not None:
            out.append((self.tr("Took"), fmt_seconds(float(took))))
        return out

    def _checks(self) -> list[tuple[str, bool, str]]:
        """(what, whether it passed, figure), from the report's own list."""
        out = []
        for check in self.report.get("checks") or ():
            value, limit, note = check.get("value"), check.get("limit"), str(check.get("note") or "")
            figure = fmt_number(value, 3) if value is not None else ""
            if limit == 1.0 and isinstance(limit, float) and value is not None:
                figure = fmt_percent(value)
            elif limit is not None and limit >= 1 and value is not None:
                figure = self.tr("{value} of {limit}").format(value=round(value), limit=round(limit))
            elif limit is not None and value is not None and value > limit:  # passed all the same: it's the least
                figure = self.tr("{value}, at least {limit}").format(value=fmt_percent(value), limit=fmt_percent(limit))
            elif limit is not None and value is not None:
                figure = self.tr("{value}, {limit} allowed").format(value=figure, limit=fmt_number(limit, 1))
            what = note_text(str(check.get("check", "")))
            what = what[:1].upper() + what[1:] + (f" ({note_text(note)})" if note else "")
            out.append((what, bool(check.get("passed", True)), figure))
        return out
