"""Forms: a method's knobs as widgets and back. No form is written by hand: the knob's description is all there is.

Covers every kind of knob of core.params, the folding of advanced ones, the hiding of those that don't apply, and the message
beside the one that's wrong. Doesn't know which method the knobs belong to.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import QEvent, QObject, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QStandardItem, QStandardItemModel, QValidator
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.text import core_text, fmt_number
from app.theme import icon, kind_icon, restyle, theme
from core.params import Knob, model_from_knobs
from core.records import Variant

INT_LIMIT = 2**31 - 1
MOST_SEGMENTS, LONGEST_SEGMENTS = 4, 26  # more choices than this, or longer labels, become a combo box
TWO_COLUMNS = 440  # narrower than this, fields stand one below the other
FEW, DECADES_BELOW = 50, 100  # a default under a 50th of the range: its slider goes by powers of ten, from a 100th of the default
CAPTION = 120  # longer help is cut at its first sentence; all of it is in the tooltip


# ---- editors: one per kind of knob, each with value(), set_value() and changed -----------------------------------------


class _CalmWheel(QObject):
    """Turning the wheel over a field that hasn't the focus scrolls the page instead of changing the value."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return False


def calm_wheel(widget: QWidget) -> None:
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_CalmWheel(widget))
    if isinstance(widget, QAbstractSpinBox):
        widget.lineEdit().setTextMargins(8, 0, 0, 0)  # a style sheet's padding doesn't reach the line inside
        widget.setFixedHeight(30)  # as high as a combo box beside it


class IntEditor(QSpinBox):
    changed = Signal()

    def __init__(self, knob: Knob, parent: QWidget | None = None):
        super().__init__(parent)
        low = -INT_LIMIT if knob.low is None else int(knob.low) + knob.low_open
        high = INT_LIMIT if knob.high is None else int(knob.high) - knob.high_open
        self._none = low - 1 if knob.optional else None
        self.setRange(low if self._none is None else self._none, high)
        if self._none is not None:
            self.setSpecialValueText(self.tr("not set"))
        self.setSingleStep(int(knob.step or 1))
        self.setGroupSeparatorShown(high >= 10_000)
        if knob.unit:
            self.setSuffix(f" {core_text(knob.unit)}")
        calm_wheel(self)
        self.set_value(knob.default)
        self.valueChanged.connect(lambda _: self.changed.emit())

    def validate(self, text: str, position: int) -> Any:
        if self._none is not None and not text.removesuffix(self.suffix()).strip():
            return QValidator.State.Acceptable, text, position
        return super().validate(text, position)

    def valueFromText(self, text: str) -> int:
        if self._none is not None and not text.removesuffix(self.suffix()).strip():
            return self._none
        return super().valueFromText(text)

    def value_or_none(self) -> int | None:
        return None if self._none is not None and self.value() == self._none else self.value()

    def set_value(self, value: Any) -> None:
        if value is None:
            self.setValue(self._none if self._none is not None else max(self.minimum(), 0))
        else:
            self.setValue(int(value))


class FloatBox(QDoubleSpinBox):
    """A spin box that shows 0.5 as 0.5 and 0.00003 as 3e-5, and steps by tenths of the size where no step is given."""

    changed = Signal()

    def __init__(self, knob: Knob, parent: QWidget | None = None):
        super().__init__(parent)
        low = -1e12 if knob.low is None else float(knob.low)
        high = 1e12 if knob.high is None else float(knob.high)
        self._none = low - 1 if knob.optional else None
        self.setDecimals(12)
        self.setRange(low if self._none is None else self._none, high)
        if self._none is not None:
            self.setSpecialValueText(self.tr("not set"))
        if knob.step:
            self.setSingleStep(knob.step)
        else:
            self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        if knob.unit:
            self.setSuffix(f" {core_text(knob.unit)}")
        calm_wheel(self)
        self.set_value(knob.default)
        self.valueChanged.connect(lambda _: self.changed.emit())

    def textFromValue(self, value: float) -> str:
        text = f"{value:.7g}"
        return text.replace("e-0", "e-").replace("e+0", "e+")

    def valueFromText(self, text: str) -> float:
        bare = self._bare(text)
        if self._none is not None and not bare:
            return self._none
        try:
            return float(bare)
        except ValueError:
            return self.value()

    def validate(self, text: str, position: int) -> Any:
        bare = self._bare(text)
        if text == self.specialValueText() or (self._none is not None and not bare):
            return QValidator.State.Acceptable, text, position
        try:
            number = float(bare)
        except ValueError:
            ok = not bare or all(c in "0123456789.-+eE" for c in bare)
            return (QValidator.State.Intermediate if ok else QValidator.State.Invalid), text, position
        inside = math.isfinite(number) and self.minimum() <= number <= self.maximum()
        return (QValidator.State.Acceptable if inside else QValidator.State.Intermediate), text, position

    def stepBy(self, steps: int) -> None:
        super().stepBy(steps)
        self.setValue(float(f"{self.value():.9g}"))  # 0.1 + 0.2 is 0.3 here

    def _bare(self, text: str) -> str:
        return text.removesuffix(self.suffix()).strip().replace(",", ".").replace("\u2212", "-")

    def value_or_none(self) -> float | None:
        if self._none is not None and self.value() == self._none:
            return None
        return float(f"{self.value():.12g}")

    def set_value(self, value: Any) -> None:
        if value is None:
            self.setValue(self._none if self._none is not None else max(self.minimum(), 0.0))
        else:
            self.setValue(float(value))


class FloatEditor(QWidget):
    """A spin box, with a slider beside it where both ends are known and near each other.

    Where the default is a tiny part of the range, as a learning rate's is, the slider goes by powers of ten.
    """

    changed = Signal()
    NOTCHES = 1000

    def __init__(self, knob: Knob, parent: QWidget | None = None):
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(10)
        self.box = FloatBox(knob, self)
        self.setFocusProxy(self.box)
        self.slider: QSlider | None = None
        self._low, self._high, self._step = knob.low, knob.high, knob.step
        small = float(knob.default) if isinstance(knob.default, (int, float)) else 0.0
        bounded = knob.low is not None and knob.high is not None
        self._powers = bounded and not knob.step and 0 <= knob.low < small <= knob.high / FEW  # type: ignore[operator]
        if self._powers:
            self._low = max(knob.low or 0.0, small / DECADES_BELOW)
        if knob.low is not None and knob.high is not None and knob.high - knob.low <= 10 and not knob.optional:
            self.slider = QSlider(Qt.Orientation.Horizontal, self)
            self.slider.setRange(0, self.NOTCHES)
            self.slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the box beside it takes the keyboard
            calm_wheel_slider = _CalmWheel(self.slider)
            self.slider.installEventFilter(calm_wheel_slider)
            self.slider.valueChanged.connect(self._slid)
            row.addWidget(self.slider, 1)
            self.box.setFixedWidth(96)
        row.addWidget(self.box, 0 if self.slider else 1)
        self.box.changed.connect(self._typed)
        self._follow()

    def value_or_none(self) -> float | None:
        return self.box.value_or_none()

    def set_value(self, value: Any) -> None:
        self.box.set_value(value)
        self._follow()

    def _slid(self, notch: int) -> None:
        assert self._low is not None
        assert self._high is not None
        if self._powers:
            self.box.setValue(float(f"{self._low * (self._high / self._low) ** (notch / self.NOTCHES):.2g}"))
            return
        value = self._low + (self._high - self._low) * notch / self.NOTCHES
        step = self._step or 0.01
        self.box.setValue(float(f"{round(value / step) * step:.9g}"))

    def _typed(self) -> None:
        self._follow()
        self.changed.emit()

    def _follow(self) -> None:
        if self.slider is not None and self._low is not None and self._high is not None:
            value = self.box.value()
            if self._powers:
                share = math.log(max(value, self._low) / self._low) / math.log(self._high / self._low)
            else:
                share = (value - self._low) / (self._high - self._low)
            with QSignalBlocker(self.slider):
                self.slider.setValue(round(share * self.NOTCHES))


class BoolEditor(QCheckBox):
    changed = Signal()

    def __init__(self, knob: Knob, parent: QWidget | None = None):
        super().__init__(core_text(knob.title), parent)
        self.set_value(knob.default)
        self.toggled.connect(lambda _: self.changed.emit())

    def value_or_none(self) -> bool:
        return self.isChecked()

    def set_value(self, value: Any) -> None:
        self.setChecked(bool(value))


class SegmentEditor(QFrame):
    """A few short choices side by side."""

    changed = Signal()

    def __init__(self, knob: Knob, parent: QWidget | None = None):
        super().__init__(parent)
        self.setProperty("segments", True)
        self._values = [value for value, _ in knob.choices]
        row = QHBoxLayout(self)
        row.setContentsMargins(3, 3, 3, 3)
        row.setSpacing(2)
        self._group = QButtonGroup(self)
        for i, (value, label) in enumerate(knob.choices):
            button = QToolButton(self)
            button.setProperty("segment", True)
            button.setText(core_text(label))
            button.setCheckable(True)
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.setObjectName(f"{knob.name}={value}")
            self._group.addButton(button, i)
            row.addWidget(button)
        self.setFocusProxy(self._group.button(0))
        self.set_value(knob.default)
        self._group.idToggled.connect(lambda _, on: self.changed.emit() if on else None)

    def value_or_none(self) -> Any:
        at = self._group.checkedId()
        return self._values[at] if at >= 0 else None

    def set_value(self, value: Any) -> None:
        at = _position(self._values, value)
        if at is not None:
            self._group.button(at).setChecked(True)


class ComboEditor(QComboBox):
    changed = Signal()

    def __init__(self, knob: Knob, parent: QWidget | None = None):
        super().__init__(parent)
        self._values: list[Any] = [value for value, _ in knob.choices]
        if knob.optional and None not in self._values:
            self._values.insert(0, None)
            self.addItem(self.tr("Automatic"))
        for _, label in knob.choices:
            self.addItem(core_text(label))
        calm_wheel(self)
        self.set_value(knob.default)
        self.currentIndexChanged.connect(lambda _: self.changed.emit())

    def value_or_none(self) -> Any:
        return self._values[self.currentIndex()] if self.currentIndex() >= 0 else None

    def set_value(self, value: Any) -> None:
        at = _position(self._values, value)
        if at is not None:
            self.setCurrentIndex(at)


def _position(values: list[Any], value: Any) -> int | None:
    """Where value stands; 1 and True are told apart."""
    return next((i for i, v in enumerate(values) if v == value and type(v) is type(value)), None)


class TextEditor(QLineEdit):
    changed = Signal()

    def __init__(self, knob: Knob, parent: QWidget | None = None):
        super().__init__(parent)
        self._optional = knob.optional
        self.set_value(knob.default)
        self.textChanged.connect(lambda _: self.changed.emit())

    def value_or_none(self) -> str | None:
        text = self.text().strip()
        return None if self._optional and not text else text

    def set_value(self, value: Any) -> None:
        self.setText("" if value is None else str(value))


class VariantEditor(QComboBox):
    """The variants of the workspace; those that can't be used are greyed, with the reason."""

    changed = Signal()

    def __init__(self, knob: Knob, library: Any, fits: Callable[[Variant], str], parent: QWidget | None = None):
        super().__init__(parent)
        self._library, self._fits = library, fits
        self._may_be_empty = knob.optional or knob.default == ""
        self._empty = None if knob.optional else ""
        self._none_means = knob.empty
        self._wanted: Any = knob.default
        self.setModel(QStandardItemModel(self))
        calm_wheel(self)
        self.fill()
        self.currentIndexChanged.connect(self._chosen)

    def fill(self) -> None:
        """Reads the library again; keeps the choice where it's still there."""
        with QSignalBlocker(self):
            model = self.model()
            assert isinstance(model, QStandardItemModel)
            model.clear()
            none = core_text(self._none_means) if self._none_means else self.tr("None chosen")
            first = QStandardItem(none if self._may_be_empty else self.tr("Choose a variant"))
            first.setData(self._empty, Qt.ItemDataRole.UserRole)
            first.setEnabled(self._may_be_empty)
            model.appendRow(first)
            at = 0
            for variant in self._library.variants() if self._library is not None else []:
                why = self._fits(variant)
                item = QStandardItem(kind_icon(variant.kind), variant.name + (f"  ({why.rstrip('.')})" if why else ""))
                item.setData(variant.id, Qt.ItemDataRole.UserRole)
                item.setEnabled(not why)
                if why:
                    item.setToolTip(why)
                model.appendRow(item)
                if variant.id == self._wanted and not why:
                    at = model.rowCount() - 1
            self.setCurrentIndex(at)

    def _chosen(self) -> None:
        self._wanted = self.currentData()
        self.changed.emit()

    def value_or_none(self) -> str | None:
        value = self.currentData()
        return value if value else self._empty if self._may_be_empty else None

    def set_value(self, value: Any) -> None:
        self._wanted = value
        self.fill()


class FileField(QWidget):
    """A path with a button to choose it; a file may be dropped on it. `folders`: a folder is wanted instead."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None, *, folders: bool = False, title: str = "", patterns: str = ""):
        super().__init__(parent)
        self._folders, self._title, self._patterns = folders, title, patterns
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.line = QLineEdit(self)
        self.line.setObjectName("path")
        self.line.setAcceptDrops(False)  # the whole field takes the drop
        self.button = QPushButton(self.tr("Choose …"), self)
        self.button.setAutoDefault(False)
        row.addWidget(self.line, 1)
        row.addWidget(self.button)
        self.setFocusProxy(self.line)
        self.setAcceptDrops(True)
        self.line.textChanged.connect(lambda _: self.changed.emit())
        self.button.clicked.connect(self._browse)

    def path(self) -> str:
        return self.line.text().strip()

    def set_path(self, path: str) -> None:
        self.line.setText(path)

    def _browse(self) -> None:
        start = self.path() or str(Path.home())
        if self._folders:
            chosen = QFileDialog.getExistingDirectory(self, self._title, start)
        else:
            chosen, _ = QFileDialog.getOpenFileName(self, self._title, start, self._patterns)
        if chosen:
            self.line.setText(chosen)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_paths(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = local_paths(event.mimeData())
        if paths:
            path = Path(paths[0])
            self.line.setText(str(path.parent if self._folders and path.is_file() else path))
            event.acceptProposedAction()


def local_paths(data: Any) -> list[str]:
    """The files of this machine among what's dragged."""
    return [url.toLocalFile() for url in data.urls() if url.isLocalFile()] if data.hasUrls() else []


class FileEditor(FileField):
    def __init__(self, knob: Knob, parent: QWidget | None = None):
        super().__init__(parent, title=core_text(knob.title))
        self._optional = knob.optional
        self.set_value(knob.default)

    def value_or_none(self) -> str | None:
        return self.path() or (None if self._optional else "")

    def set_value(self, value: Any) -> None:
        self.set_path("" if value is None else str(value))


# ---- a field: title, editor, help or what's wrong ----------------------------------------------------------------------


class Field(QWidget):
    """A knob on the page."""

    def __init__(self, knob: Knob, editor: Any, parent: QWidget | None = None):
        super().__init__(parent)
        self.knob, self.editor = knob, editor
        self.wide = knob.kind in ("text", "file", "variant")
        self.touched = False
        self._help = core_text(knob.help)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(5)
        title = core_text(knob.title)
        if knob.kind != "bool":
            label = QLabel(title, self)
            label.setBuddy(editor)
            column.addWidget(label)
        editor.setObjectName(knob.name)
        editor.setAccessibleName(title)
        editor.setAccessibleDescription(self._help)
        editor.setToolTip(self._help)
        column.addWidget(editor)
        self.caption = QLabel(self)
        self.caption.setWordWrap(True)
        self.caption.setProperty("role", "muted")
        column.addWidget(self.caption)
        column.addStretch(1)
        self.tell("")

    def tell(self, problem: str) -> None:
        """What's wrong, or else the help."""
        text = problem or self._short_help()
        self.caption.setText(text)
        self.caption.setVisible(bool(text))
        role = "error" if problem else "muted"
        if self.caption.property("role") != role:
            self.caption.setProperty("role", role)
            restyle(self.caption)
        target = self.editor.box if isinstance(self.editor, FloatEditor) else self.editor
        if bool(target.property("invalid")) != bool(problem):
            target.setProperty("invalid", bool(problem))
            restyle(target)

    def _short_help(self) -> str:
        # what the choices mean isn't told by the first sentence, which is about the first choice
        if _letters(self._help) <= (CAPTION if self.knob.kind != "choice" else 2 * CAPTION):
            return self._help
        for end in (". ", "。", "; ", "；"):
            at = self._help.find(end)
            if 0 < at < CAPTION + 40:
                return self._help[: at + 1].rstrip(";；") + ("" if end in (". ", "。") else " …")
        return self._help[: CAPTION - 1].rstrip() + " …"


class FieldGrid(QWidget):
    """Fields in two columns where there's room for the widest, in one where there isn't; wide ones take a whole row.

    It asks for no more than one column needs, so that a page in a narrow window never ends beyond the window's edge.
    """

    def __init__(self, fields: list[Field], parent: QWidget | None = None):
        super().__init__(parent)
        self._fields = fields
        self._placed: list[tuple] = []
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(18)
        self._grid.setVerticalSpacing(14)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1)
        for field in fields:
            field.setParent(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(max((f.minimumSizeHint().width() for f in self._shown()), default=0), super().minimumSizeHint().height())

    def _shown(self) -> list[Field]:
        return [f for f in self._fields if f.isVisibleTo(self)]

    def arrange(self) -> None:
        half = max((f.minimumSizeHint().width() for f in self._shown() if not f.wide), default=0)
        columns = 2 if self.width() >= max(TWO_COLUMNS, 2 * half + self._grid.horizontalSpacing()) else 1
        places, row, column = [], 0, 0
        for field in self._shown():
            span = columns if field.wide else 1
            if column + span > columns:
                row, column = row + 1, 0
            places.append((field, row, column, span))
            column += span
            if column >= columns:
                row, column = row + 1, 0
        if places == self._placed:
            return
        self._placed = places
        for field in self._fields:
            self._grid.removeWidget(field)
        for field, at, column, span in places:
            self._grid.addWidget(field, at, column, 1, span)
        self._grid.setColumnStretch(1, 1 if columns == 2 else 0)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self.arrange()


# ---- the form ----------------------------------------------------------------------------------------------------------


class Form(QWidget):
    """The knobs of a method. `variant` is the one that the method will work on: other variants are held against it."""

    changed = Signal()

    def __init__(self, knobs: tuple[Knob, ...], library: Any = None, variant: Variant | None = None, parent: QWidget | None = None):
        super().__init__(parent)
        self.knobs = tuple(knobs)
        self._library, self._variant = library, variant
        self._model = model_from_knobs("Settings", self.knobs)
        self._fields = {k.name: Field(k, self._editor(k)) for k in self.knobs}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self._plain = FieldGrid([self._fields[k.name] for k in self.knobs if not k.advanced], self)
        self._advanced = FieldGrid([self._fields[k.name] for k in self.knobs if k.advanced], self)
        self.more = QToolButton(self)
        self.more.setObjectName("more")
        self.more.setCheckable(True)
        self.more.setText(self.tr("More settings"))
        self.more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more.toggled.connect(self._fold)
        column.addWidget(self._plain)
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._advanced)
        self._advanced.hide()
        self.more.setIcon(icon("chevron"))
        for name, field in self._fields.items():
            field.editor.changed.connect(lambda name=name: self._edited(name))
        if library is not None:
            library.changed.connect(self._library_changed)
        theme().changed.connect(self._chevron)
        self._chevron()
        self._show_active()

    def _editor(self, knob: Knob) -> Any:
        if knob.kind == "int":
            return IntEditor(knob)
        if knob.kind == "float":
            return FloatEditor(knob)
        if knob.kind == "bool":
            return BoolEditor(knob)
        if knob.kind == "choice":
            labels = [core_text(label) for _, label in knob.choices]
            few = 2 <= len(labels) <= MOST_SEGMENTS and sum(map(_letters, labels)) <= LONGEST_SEGMENTS
            return SegmentEditor(knob) if few and not knob.optional else ComboEditor(knob)
        if knob.kind == "variant":
            return VariantEditor(knob, self._library, self.variant_problem)
        if knob.kind == "file":
            return FileEditor(knob)
        return TextEditor(knob)

    # -- reading and setting

    def values(self) -> dict[str, Any]:
        """The settings that apply. One that doesn't is left out, so that its default stands and the recipe stays short."""
        out = {name: field.editor.value_or_none() for name, field in self._fields.items()}
        active = self._active(out)
        return {name: value for name, value in out.items() if name in active}

    def set_values(self, values: dict[str, Any]) -> None:
        """Sets the knobs that are named; a name that isn't a knob's (any more) is passed over, a value beyond a bound is drawn to it."""
        for name, value in values.items():
            field = self._fields.get(name)
            if field is not None:
                with QSignalBlocker(field.editor):
                    try:
                        field.editor.set_value(value)
                    except (TypeError, ValueError):
                        field.editor.set_value(field.knob.default)  # what was remembered is of another type than the knob is now
        self._show_active()
        self.changed.emit()

    def problem(self) -> str | None:
        """The first thing that's wrong, with the knob's title; None where all is well."""
        wrong = self._problems()
        if not wrong:
            return None
        name = next(k.name for k in self.knobs if k.name in wrong)
        return self.tr("{knob}: {problem}").format(knob=core_text(self._fields[name].knob.title), problem=wrong[name])

    def editor(self, name: str) -> Any:
        return self._fields[name].editor

    def first_field(self) -> QWidget | None:
        return next((f.editor for f in self._fields.values() if f.isVisibleTo(self) and f.isEnabled()), None)

    def shown(self, name: str) -> bool:
        """Whether the knob applies, given the others."""
        return name in self._active({n: f.editor.value_or_none() for n, f in self._fields.items()})

    # -- inside

    def _active(self, values: dict[str, Any]) -> set[str]:
        """Names of knobs that apply. One that hangs on a knob that doesn't apply doesn't either."""
        names = set(self._fields)
        while True:
            seen = {name: values[name] for name in names}
            left = {name for name in names if self._fields[name].knob.active(seen)}
            if left == names:
                return names
            names = left

    def _problems(self) -> dict[str, str]:
        values = self.values()
        wrong: dict[str, str] = {}
        try:
            self._model(**values)
        except ValidationError as error:
            for found in error.errors():
                name = str(found["loc"][0]) if found["loc"] else ""
                if name in values:
                    wrong.setdefault(name, self._words(found, self._fields[name].knob))
        for name, value in values.items():
            knob = self._fields[name].knob
            if name in wrong or not value:
                continue
            if knob.kind == "variant":
                known = next((v for v in self._library.variants() if v.id == value), None) if self._library is not None else None
                why = self.variant_problem(known) if known else self.tr("This variant is gone.")
                if why:
                    wrong[name] = why
            elif knob.kind == "file" and not Path(value).expanduser().is_file():
                wrong[name] = self.tr("There is no such file.")
        return wrong

    def _words(self, found: Any, knob: Knob) -> str:
        """What pydantic found, as a sentence of ours."""
        kind, context = found["type"], found.get("ctx", {})
        if kind in ("less_than", "less_than_equal", "greater_than", "greater_than_equal"):
            limit = fmt_number(float(next(iter(context.values()))), 6)
            return {
                "less_than": self.tr("must be less than {limit}."),
                "less_than_equal": self.tr("must be at most {limit}."),
                "greater_than": self.tr("must be more than {limit}."),
                "greater_than_equal": self.tr("must be at least {limit}."),
            }[kind].format(limit=limit)
        if found.get("input") is None:
            return {
                "variant": self.tr("choose a variant."),
                "file": self.tr("choose a file."),
                "choice": self.tr("choose one."),
            }.get(knob.kind, self.tr("fill this in."))
        return str(found["msg"]).removeprefix("Value error, ").rstrip(".") + "."

    def variant_problem(self, variant: Variant) -> str:
        """Why a variant can't stand beside the one that's worked on; '' where it can."""
        mine = self._variant
        if mine is None:
            return ""
        if variant.id == mine.id:
            return self.tr("It's the model itself.")
        if mine.info.task != "unknown" and variant.info.task != mine.info.task:
            return self.tr("It's another kind of model.")
        if variant.info.tokens_hash != mine.info.tokens_hash:
            return self.tr("Its tokenizer has other tokens.")
        return ""

    def _edited(self, name: str) -> None:
        self._fields[name].touched = True
        self._show_active()
        self.changed.emit()

    def _show_active(self) -> None:
        active = self._active({name: field.editor.value_or_none() for name, field in self._fields.items()})
        for name, field in self._fields.items():
            field.setVisible(name in active)
        wrong = self._problems()
        for name, field in self._fields.items():
            field.tell(wrong.get(name, "") if field.touched else "")
        self.more.setVisible(any(k.advanced and k.name in active for k in self.knobs))
        if any(self._fields[name].knob.advanced for name in wrong):
            self.more.setChecked(True)
        self._plain.arrange()
        self._advanced.arrange()

    def _fold(self, shown: bool) -> None:
        self._advanced.setVisible(shown)
        self._advanced.arrange()
        self._chevron()
        self.more.setText(self.tr("Fewer settings") if shown else self.tr("More settings"))

    def _chevron(self) -> None:
        self.more.setArrowType(Qt.ArrowType.NoArrow)
        self.more.setIcon(icon("chevron"))

    def _library_changed(self) -> None:
        for field in self._fields.values():
            if isinstance(field.editor, VariantEditor):
                field.editor.fill()
        self._show_active()


def _letters(text: str) -> int:
    """Width in letters; an ideograph is two."""
    return sum(2 if ord(c) > 0x2E7F else 1 for c in text)
