"""Choosing labelled examples: those that a classifier learnt from, or a file or data set, with its columns and what's in it.

The worker reads the file; here it's only named, and what was found is shown. What's chosen is written into the plan.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QRadioButton, QWidget

from app.forms import FileField, calm_wheel
from app.text import failure_text
from app.wizards.base import Estimator, column, label, spoken
from app.wizards.plans import CompressPlan, labels_problem
from core.events import Failed, Finished
from core.recipe import LabelsRef
from core.records import LabelsSpec

SHOWN_CLASSES = 6
LOPSIDED = 0.65  # a class with so large a share of the examples is remarked on


class LabelsChoice(QWidget):
    """`wizard`: the one whose plan gets the choice, and which asks the worker."""

    changed = Signal()

    def __init__(self, wizard: Any, parent: QWidget | None = None):
        super().__init__(parent)
        self._plan: CompressPlan = wizard.plan
        box = column(self, 6)
        self.known = QRadioButton(self)
        self.known.setObjectName("known_labels")
        self.own = QRadioButton(self.tr("Other examples"), self)
        self.own.setObjectName("own_labels")
        self.file = FileField(
            self,
            title=self.tr("Choose examples"),
            patterns=self.tr("Examples (*.csv *.tsv *.jsonl *.ndjson *.json *.parquet);;All files (*)"),
        )
        self.file.line.setPlaceholderText(self.tr("A .csv, .jsonl or .parquet file, or org/name on the Hub"))
        self.text, self.classes = self._combo("text_column"), self._combo("label_column")
        self.columns = QWidget(self)
        grid = QGridLayout(self.columns)
        grid.setContentsMargins(0, 8, 0, 0)
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(5)
        for at, (title, combo) in enumerate(
            ((self.tr("Column with the text"), self.text), (self.tr("Column with the class"), self.classes))
        ):
            caption = label(title, parent=self, wrap=False)
            caption.setBuddy(combo)
            grid.addWidget(caption, 0, at)
            grid.addWidget(combo, 1, at)
            grid.setColumnStretch(at, 1)
        self.found = label(role="muted", parent=self)
        self.found.setObjectName("found")
        self.found.setContentsMargins(0, 4, 0, 0)
        self.problem = label(role="error", parent=self)
        self.problem.setObjectName("labels_problem")
        self._place = QHBoxLayout()
        self._place.addWidget(self.file)
        for part in (self.known, self.own):
            box.addWidget(part)
        box.addLayout(self._place)
        for part in (self.columns, self.found, self.problem):
            box.addWidget(part)
        self._reader = Estimator(wizard, self._question, self._answered)
        self._columns: tuple[str, ...] = ()
        self._asked: LabelsRef | None = None
        if self._plan.labels:
            self.file.set_path(self._plan.labels)
        self.own.toggled.connect(lambda _: self._chosen())
        self.file.changed.connect(self._typed)
        for combo in (self.text, self.classes):
            combo.activated.connect(lambda _: self._columns_chosen())

    def _combo(self, name: str) -> QComboBox:
        made = QComboBox(self)
        made.setObjectName(name)
        calm_wheel(made)
        return made

    def entered(self) -> None:
        """The page is about to be shown: the variant may be another one by now."""
        known = self._plan.known_labels
        for part in (self.known, self.own):
            part.setVisible(known is not None)
        if known is not None:
            self.known.setText(self.tr("Those that it learnt from: {name}").format(name=known.path.replace("\\", "/").rpartition("/")[2]))
        with QSignalBlocker(self.own):
            (self.own if known is None or self._plan.labels else self.known).setChecked(True)
        self._place.setContentsMargins(23 if known is not None else 0, 0, 0, 0)
        self._chosen()

    def first_field(self) -> QWidget:
        return self.known if self._plan.known_labels is not None and not self.own.isChecked() else self.file

    # -- what's chosen

    def _chosen(self) -> None:
        own = self._plan.known_labels is None or self.own.isChecked()
        self.file.setVisible(own)
        self._plan.labels = self.file.path() if own else None
        self._read()

    def _typed(self) -> None:
        self._plan.columns, self._columns = ("", ""), ()
        self._chosen()

    def _columns_chosen(self) -> None:
        self._plan.columns = (self.text.currentText(), self.classes.currentText())
        self._read()

    def _read(self) -> None:
        """Asks the worker what's in it, where the name alone isn't wrong."""
        plan = self._plan
        wrong = spoken(labels_problem(plan.labels)) if plan.labels is not None or plan.known_labels is None else ""
        self._tell(wrong if plan.labels else "", "" if wrong or plan.examples else self.tr("Reading …"))
        if plan.examples:
            self._show(plan.examples)
        elif not wrong:
            self._reader.soon()
        self.changed.emit()

    # -- what's found

    def _question(self) -> tuple[LabelsSpec, str] | None:
        ref = self._plan.labels_ref
        self._asked = ref
        return (LabelsSpec(labels=ref), "cpu") if ref is not None else None

    def _answered(self, event: Any) -> None:
        if self._asked != self._plan.labels_ref:
            return
        if isinstance(event, Finished):
            told = "rows" in event.result
            self._plan.described = (self._asked, dict(event.result)) if told else None
            self._show(event.result)
        elif isinstance(event, Failed):
            self._plan.described = None
            self._tell(" ".join(failure_text(event)).strip(), "")
        self.changed.emit()

    def _show(self, found: dict[str, Any]) -> None:
        self._columns = tuple(found["columns"])
        for combo, chosen in ((self.text, found["text"]), (self.classes, found["label"])):
            with QSignalBlocker(combo):
                combo.clear()
                combo.addItems(self._columns)
                combo.setCurrentIndex(self._columns.index(chosen) if chosen in self._columns else -1)
        if "rows" not in found:
            self._tell(self.tr("Choose the columns: their names don't tell which holds the text and which the class."), "")
            return
        counts = list(found["classes"].items())
        shown = ", ".join(f"{name} ({_whole(count)})" for name, count in counts[:SHOWN_CLASSES])
        said = [
            self.tr("{rows} examples of {n} classes: {classes}.").format(
                rows=_whole(found["rows"]), n=len(counts), classes=shown + " …" * (len(counts) > SHOWN_CLASSES)
            ),
            self.tr("{n} are held out for measuring.").format(n=_whole(found["heldout"])),
        ]
        if found["rows"] and counts and max(n for _, n in counts) >= LOPSIDED * found["rows"]:
            name, most = max(counts, key=lambda each: each[1])
            said.append(
                self.tr("Always answering '{name}' would be right for {share} %: an accuracy near that says little.").format(
                    name=name, share=f"{100 * most / found['rows']:.0f}"
                )
            )
        if found["left_out"]:
            said.append(self.tr("{n} rows without a text or a class are left out.").format(n=_whole(found["left_out"])))
        self._tell("", " ".join(said))

    def _tell(self, wrong: str, found: str) -> None:
        self.problem.setText(wrong)
        self.problem.setVisible(bool(wrong))
        self.found.setText(found)
        self.found.setVisible(bool(found))
        own = self._plan.known_labels is None or self.own.isChecked()
        self.columns.setVisible(own and bool(self._columns))


def _whole(n: int) -> str:
    return f"{n:,}"
