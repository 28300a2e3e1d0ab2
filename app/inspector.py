"""Inspector: what the selected variant is made of, what was measured on it and how, where it came from, and its recipe.

Covers showing; what its buttons ask for is the window's (signal `wanted`). What isn't known is shown as 'not measured'.
"""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import text
from app.exports_card import ExportRow
from app.library_model import Library, conditions_key, own_steps
from app.measures import conditions_text, half_width, measure, pace_name
from app.notes import note_text
from app.samples import table
from app.theme import icon, kind_icon, mono, numbers, theme
from app.widgets import Bar, ElidedLabel, EmptyState, button, label, tool_button
from core.events import Ready, samples_from_json
from core.exports import why_not
from core.params import Knob
from core.records import Measurement, MethodInfo, Variant

MOST_SETTINGS = 4  # in the line beneath the name; the recipe below has them all


class Inspector(QFrame):
    """`wanted(action, variant)`: export, draft, evaluate, sensitivity, layers."""

    wanted = Signal(str, str)

    def __init__(self, library: Library, board: Any = None):
        super().__init__()
        self.setProperty("panel", True)
        self.library, self.board = library, board
        self._shown: tuple = ()
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.export = button(self.tr("Export…"), lambda: self._want("export"), name="export", primary=True)
        self.draft = button(self.tr("Use as draft"), lambda: self._want("draft"), name="use_as_draft")
        self.evaluate = button("", lambda: self._want("evaluate"), name="evaluate")
        self.evaluate.setIcon(icon("evaluate"))
        self.evaluate.setToolTip(self.tr("Evaluate: measure it again, or on another text"))
        self.evaluate.setAccessibleName(self.tr("Evaluate"))
        self.evaluate.setFixedWidth(34)
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self.scroll, 1)
        row = QHBoxLayout()
        row.setContentsMargins(12, 8, 12, 12)
        row.setSpacing(6)
        for b in (self.export, self.draft, self.evaluate):
            b.setStyleSheet("padding: 0 6px;")
        for b, stretch in ((self.export, 3), (self.draft, 4)):
            b.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            row.addWidget(b, stretch)
        row.addWidget(self.evaluate)
        box.addLayout(row)
        self.empty = EmptyState(
            "info", self.tr("Nothing selected"), self.tr("Choose a variant in the tree or a point in the plot to see what it's made of.")
        )
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.addWidget(self._stack)
        library.selected.connect(self.refresh)
        library.changed.connect(self.refresh)
        if board is not None:
            board.event.connect(self._on_event)
        self.refresh()

    def _want(self, action: str) -> None:
        if self.library.selection:
            self.wanted.emit(action, self.library.selection)

    def _on_event(self, event: Any) -> None:
        if isinstance(event, Ready):  # with it comes the catalogue, which knows the methods' words
            self.refresh()

    def refresh(self, _variant: str = "") -> None:
        """Shows the selection, anew where anything of it changed."""
        v = self.library.get(self.library.selection)
        if v is None:
            self._shown = ()
            self._stack.setCurrentIndex(0)
            return
        measured = self.library.measurements(v.id)
        chain = self.library.lineage(v.id)
        exported = tuple((record, why_not(record)) for record in self.library.exports(v.id))
        shown = (v, exported, len(measured), tuple(chain), tuple(len(self.library.measurements(a.id)) for a in chain), self._method(v))
        self._stack.setCurrentIndex(1)
        self.draft.setEnabled(v.info.task == "causal-lm")
        self.draft.setToolTip("" if v.info.task == "causal-lm" else self.tr("It doesn't generate text, so it can't draft."))
        if shown == self._shown:
            return
        same = bool(self._shown) and self._shown[0].id == v.id
        keep = self.scroll.verticalScrollBar().value() if same else 0
        self._shown = shown
        self.scroll.setWidget(self._content(v, chain, measured))
        if keep:
            QTimer.singleShot(0, self, lambda: self.scroll.verticalScrollBar().setValue(keep))

    # -- the parts

    def _content(self, v: Variant, chain: list[Variant], measured: list[Measurement]) -> QWidget:
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(12, 12, 8, 10)
        box.setSpacing(0)
        title = label(v.name, "title", wrap=True)
        title.setObjectName("title")
        title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        title.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        box.addWidget(title)
        box.addSpacing(4)
        box.addWidget(label(self._description(v), "caption", wrap=True))
        box.addSpacing(12)
        for what, figure, change, share, tip in self._figures(v, chain[0]):
            box.addLayout(self._figure(what, figure, change, share, tip))
            box.addSpacing(9)
        self._section(box, self.tr("Size"))
        box.addWidget(self._ledger(v))
        box.addLayout(self._by_layer(v))
        if (picture := self._samples(v)) is not None:
            self._section(box, self.tr("Drawn from the same noise"))
            box.addWidget(picture)
        self._section(box, self.tr("Measurements"))
        rows = self._latest(v, measured)
        if rows:
            often = collections.Counter(m.kind for m in rows)
            for m in rows:
                box.addWidget(_MeasureRow(m, named=often[m.kind] > 1))
        else:
            box.addWidget(label(self.tr("Not measured yet. Evaluate gives it its figures."), "muted", wrap=True))
        if (steps := self._by_steps(v)) is not None:
            self._section(box, self.tr("By the number of steps"))
            box.addWidget(steps)
        if (said := self._said(v)) is not None:
            self._section(box, self.tr("Samples of its training"))
            box.addWidget(said)
        exported = self.library.exports(v.id)
        if exported:
            self._section(box, self.tr("Exports"))
            for record in exported:
                box.addWidget(ExportRow(self.library, self.board, v, record))
        self._section(box, self.tr("Lineage"))
        for depth, a in enumerate(chain):
            row = _LineageRow(a, depth, here=a.id == v.id)
            row.pressed.connect(self.library.select)
            box.addWidget(row)
        if v.notes:
            self._section(box, self.tr("Notes"))
            for note in v.notes:
                box.addWidget(label(note_text(note), "caption", wrap=True))
                box.addSpacing(3)
        self._section(box, self.tr("Recipe"), copy=v.recipe.to_yaml())
        box.addWidget(_yaml(v.recipe.to_yaml()))
        box.addStretch(1)
        return page

    def _samples(self, v: Variant) -> _Picture | None:
        """What a distilled diffusion model draws, under what its teacher drew; None where there's no such picture."""
        path = self.library.workspace.path(v.id) / "samples.png" if self.library.workspace else None
        found = QPixmap(str(path)) if path is not None and path.is_file() else QPixmap()
        if found.isNull():
            return None
        picture = _Picture(found)
        picture.setObjectName("samples")
        words = self.tr("From above: the teacher in all of its steps, the teacher in as few as the student, the student")
        picture.setToolTip(words)
        picture.setAccessibleName(words)
        return picture

    def _said(self, v: Variant) -> QWidget | None:
        """What its training last said beside its teacher; None where nothing was kept."""
        path = self.library.workspace.path(v.id) / "samples.json" if self.library.workspace else None
        if path is None or not path.is_file():
            return None
        try:
            found = samples_from_json(path.read_bytes())
        except (OSError, ValueError):
            return label(self.tr("What was kept of them can't be read."), "muted", wrap=True)
        if not (found.said or found.classed):
            return None
        out = table(found, narrow=True)
        out.setObjectName("said")
        return out

    def _description(self, v: Variant) -> str:
        parts = [text.kind_name(v.kind)]
        step = v.recipe.steps[-1] if v.recipe.steps else None
        if step is not None:
            method = self._method(v)
            parts.append(text.core_text(method.title) if method is not None else step.method)
            parts += self._settings(method.knobs, step.params)[:MOST_SETTINGS] if method is not None else []
        else:
            parts += [v.info.architecture or v.info.model_type, v.origin]
        return " · ".join(p for p in parts if p)

    def _method(self, v: Variant) -> MethodInfo | None:
        """What the catalogue says of the method that made it; None for an original, and where the catalogue hasn't come yet."""
        catalogue = self.board.catalogue if self.board is not None else None
        return catalogue.method(v.recipe.steps[-1].method) if catalogue is not None and v.recipe.steps else None

    def _settings(self, knobs: tuple[Knob, ...], params: dict[str, Any]) -> list[str]:
        """'Sparsity: 0.5' of the main settings that were given and that meant anything."""
        values = {k.name: k.default for k in knobs} | params
        shown = [k for k in knobs if not k.advanced and k.active(values) and params.get(k.name) not in (None, "")]
        return [
            QCoreApplication.translate("Inspector", "{setting}: {value}").format(
                setting=text.core_text(k.title), value=self._value(k, params[k.name])
            )
            for k in shown
        ]

    def _value(self, knob: Knob, value: Any) -> str:
        if knob.kind == "choice":
            return next((text.core_text(words) for choice, words in knob.choices if choice == value), _short(value))
        if knob.kind == "variant":
            known = self.library.get(str(value))
            return known.name if known is not None else str(value)
        if knob.kind == "file":
            return Path(str(value)).name
        return f"{_short(value)} {text.core_text(knob.unit)}" if knob.unit else _short(value)

    def _figures(self, v: Variant, root: Variant) -> list[tuple[str, str, str, float | None, str]]:
        """(what, figure, change against the root, bar, tooltip) of size, score, speed and parameters."""
        lib, same = self.library, v.id == root.id
        size, size_root = v.ledger.bytes_on_disk, root.ledger.bytes_on_disk
        out = []
        ratio = size / size_root if size_root else None
        out.append((self.tr("Size on disk"), text.fmt_bytes(size), "" if same else text.fmt_change(ratio), ratio, ""))

        kind = lib.score_kind(v)
        spec, scores = measure(kind), lib.scores(kind)
        mine, theirs = scores.get(v.id), scores.get(root.id)
        change, share = "", None
        if mine:
            share = 1.0 if spec.less or spec.unit != "%" else mine.value
            if theirs and mine.comparable and theirs.comparable and theirs.value and mine.value:
                share = theirs.value / mine.value if spec.less else mine.value / theirs.value
                change = "" if same else spec.show_change(mine.value, theirs.value)
        tip = conditions_text(mine.measurement) if mine else ""
        out.append((spec.title, spec.show(mine.value if mine else None), change, share, tip))

        pace = lib.speed_kind(v)
        speed, speed_root = lib.latest(v.id, pace), lib.latest(root.id, pace)
        alike = [w for w in lib.variants() if lib.speed_kind(w) == pace]
        fastest = max((m.value for w in alike if (m := lib.latest(w.id, pace))), default=None)
        change = ""
        if speed and speed_root and speed_root.value and not same:
            change = f"{text.TIMES}{speed.value / speed_root.value:.2f}"
        share = speed.value / fastest if speed and fastest else None
        tip = conditions_text(speed) if speed else ""
        out.append(
            (
                pace_name(pace),
                measure(pace).show(speed.value if speed else None),
                change,
                share,
                tip,
            )
        )

        kept, of = v.ledger.nonzero, root.ledger.parameters
        ratio = kept / of if of else None
        tip = self.tr("Weights that aren't zero, against all of the original's")
        out.append((self.tr("Non-zero"), text.fmt_count(kept), "" if same else text.fmt_change(ratio), ratio, tip))
        return out

    def _figure(self, what: str, figure: str, change: str, share: float | None, tip: str) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(6)
        name = ElidedLabel(what, "caption")
        value = label(figure, "value" if figure != text.unknown() else "muted")
        value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        by = label(change, "muted")
        by.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        by.setFixedWidth(46)
        row.addWidget(name, 1)
        row.addWidget(value)
        row.addWidget(by)
        column.addLayout(row)
        bar = Bar()
        bar.set_share(share)
        for w in (value, bar):
            w.setToolTip(tip)
        column.addWidget(bar)
        return column

    def _section(self, box: QVBoxLayout, words: str, *, copy: str = "") -> None:
        box.addSpacing(14)
        row = QHBoxLayout()
        head = label(words, "caption")
        head.setStyleSheet("font-weight: 600;")
        row.addWidget(head, 1)
        if copy:
            press = tool_button("copy", self.tr("Copy the recipe"), lambda: QGuiApplication.clipboard().setText(copy), px=14)
            press.setObjectName("copy_recipe")
            row.addWidget(press)
        box.addLayout(row)
        box.addSpacing(6)

    def _ledger(self, v: Variant) -> QWidget:
        """The table of what the bytes are, and the sums beneath."""
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for column, words in enumerate(("", self.tr("as"), self.tr("weights"), self.tr("bytes"))):
            head = label(words, "muted")
            if column > 1:
                head.setAlignment(Qt.AlignmentFlag.AlignRight)
            grid.addWidget(head, 0, column)
        for row, line in enumerate(v.ledger.lines, 1):
            zeros = line.parameters - line.nonzero
            tip = self.tr("{n} of them not zero").format(n=text.fmt_count(line.nonzero)) if line.parameters and zeros else ""
            stored = label(_storage(line.storage), "muted")  # short, so that it's never cut
            cells = (
                label(_component(line.component), "caption"),
                stored,
                label(text.fmt_count(line.parameters) if line.parameters else text.DASH, "caption"),
                label(text.fmt_bytes(line.bytes), "caption"),
            )
            for column, cell in enumerate(cells):
                if column > 1:
                    cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                    cell.setFont(numbers(12))
                if tip:
                    cell.setToolTip(tip)
                grid.addWidget(cell, row, column)
            if stored.text() != _storage_in_full(line.storage):
                stored.setToolTip("\n".join(filter(None, (_storage_in_full(line.storage), tip))))
        resident = self.library.latest(v.id, "resident")
        peak = self.library.latest(v.id, "peak")
        known = v.ledger
        most = peak.value if peak else known.peak_bytes
        sums = (
            (self.tr("Bits a weight"), text.fmt_number(known.effective_bits, 3) if known.effective_bits else text.unknown()),
            (self.tr("Non-zero"), text.fmt_percent(known.nonzero / known.parameters) if known.parameters else text.unknown()),
            (self.tr("Tied, stored once"), ", ".join(_last_part(t) for t in known.tied)),
            (self.tr("On disk"), text.fmt_bytes(known.bytes_on_disk)),
            (self.tr("Resident memory"), text.fmt_bytes(resident.value if resident else known.resident_bytes)),
            (self.tr("Peak memory"), text.fmt_bytes(most) if most else ""),  # no row until it's measured
        )
        line = QFrame()
        line.setProperty("line", True)
        at = len(v.ledger.lines) + 1
        grid.addWidget(line, at, 0, 1, 4)
        for words, figure in sums:
            if not figure:
                continue
            at += 1
            value = label(figure, "muted" if figure == text.unknown() else "caption")
            value.setFont(numbers(12))
            row = QHBoxLayout()
            row.setSpacing(7)
            row.addWidget(ElidedLabel(words, "caption"), 1)
            row.addWidget(value)
            grid.addLayout(row, at, 0, 1, 4)
        return page

    def _by_layer(self, v: Variant) -> QGridLayout:
        """What can be looked at part by part; what each part is worth only where it isn't quantized yet."""
        grid = QGridLayout()  # two in a row: three are wider than the panel in a small window
        grid.setContentsMargins(0, 6, 0, 0)
        grid.setSpacing(2)
        grid.setColumnStretch(2, 1)
        judged = v.info.task in ("causal-lm", "classifier")
        tip, why = self.tr("Weights and activations before and after, with the grid drawn in"), self.tr("It's for models of text.")
        parts = [("layers", self.tr("Layers…"), tip, v.info.task != "diffusion", why)]
        if not v.info.quantization:
            why = self.tr("It gives no probabilities, so there is no KL to measure.")
            tip = self.tr("How much each layer minds fewer bits, and bits under a budget")
            parts.insert(0, ("sensitivity", self.tr("Sensitivity…"), tip, judged, why))
            tip = self.tr("What each attention head is worth; switch them off and cut them")
            why = self.tr("It isn't known what it's for, so there is no loss to judge heads by.")
            if v.info.task == "diffusion":
                why = self.tr("It draws images; heads are judged in models of text.")
            parts.insert(1, ("heads", self.tr("Heads…"), tip, v.info.task not in ("unknown", "diffusion"), why))
        for number, (action, words, tip, able, why) in enumerate(parts):
            press = button(words, lambda action=action: self._want(action), name=action)
            press.setProperty("flat", True)
            press.setStyleSheet("padding: 3px 7px;")
            press.setEnabled(able)
            press.setToolTip(tip if able else why)
            grid.addWidget(press, number // 2, number % 2, Qt.AlignmentFlag.AlignLeft)
        return grid

    def _by_steps(self, v: Variant) -> QWidget | None:
        """Likeness and speed of a model that draws, by the number of steps; None where it was measured in one alone."""
        found = self.library.by_steps(v.id)
        if len(found) < 2:
            return None
        page = QWidget()
        page.setObjectName("by_steps")
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        rows = [(self.tr("Steps"), measure("frechet").title, measure("draw").unit)]
        rows += [(text.fmt_count(n), measure("frechet").show(f.value), measure("draw").show(d.value, unit=False)) for n, f, d in found]
        for row, cells in enumerate(rows):
            for column, words in enumerate(cells):
                cell = label(words, "caption" if row else "muted")
                cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                if row:
                    cell.setFont(numbers(12))
                    cell.setToolTip("" if column == 0 else conditions_text(found[row - 1][column]))
                grid.addWidget(cell, row, column)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(2, 1)
        return page

    def _latest(self, v: Variant, measured: list[Measurement]) -> list[Measurement]:
        """The latest of each kind under each set of conditions, in the order in which kinds were first measured; those in other numbers
        of steps than the model's own have a table of theirs."""
        apart = len(self.library.by_steps(v.id)) > 1
        latest = {(m.kind, conditions_key(m, v)): m for m in measured if own_steps(m) or not apart}
        kinds = list(dict.fromkeys(m.kind for m in measured))
        return sorted(latest.values(), key=lambda m: kinds.index(m.kind))


class _Picture(QWidget):
    """A picture as wide as there's room for, and no wider than it is."""

    def __init__(self, pixmap: QPixmap):
        super().__init__()
        self.pixmap = pixmap
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return round(min(width, self.pixmap.width()) * self.pixmap.height() / self.pixmap.width())

    def sizeHint(self) -> QSize:
        return QSize(236, self.heightForWidth(236))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        width = min(self.width(), self.pixmap.width())
        painter.drawPixmap(0, 0, width, self.heightForWidth(width), self.pixmap)


class _MeasureRow(QFrame):
    """A figure; a press unfolds the conditions it was measured under. named: of an export, its folder is named as well."""

    def __init__(self, m: Measurement, named: bool = False):
        super().__init__()
        spec = measure(m.kind)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 1, 0, 1)
        box.setSpacing(2)
        row = QHBoxLayout()
        row.setSpacing(4)
        self.fold = tool_button("chevron", QCoreApplication.translate("Inspector", "Conditions"), self._toggle, px=10)
        self.fold.setFixedSize(QSize(16, 18))
        row.addWidget(self.fold)
        row.addWidget(ElidedLabel(spec.title, "caption"), 1)
        folder = str(m.conditions.get("folder") or "")
        value = label(spec.show(m.value, unit=spec.unit in ("%", "bytes", "tok/s")), "value")
        spread = label(half_width(m), "muted")
        value.setFont(numbers(12))
        row.addWidget(value)
        row.addWidget(spread)
        box.addLayout(row)
        if named and folder:
            where = ElidedLabel(Path(folder).name, "muted", Qt.TextElideMode.ElideMiddle)
            where.setObjectName("measured_export")
            beneath = QHBoxLayout()
            beneath.setContentsMargins(20, 0, 0, 3)
            beneath.addWidget(where)
            box.addLayout(beneath)
        self.conditions = label(conditions_text(m), "muted", wrap=True)
        self.conditions.setContentsMargins(20, 0, 0, 6)
        self.conditions.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.conditions.hide()
        box.addWidget(self.conditions)
        self.setToolTip(conditions_text(m))

    def _toggle(self) -> None:
        self.conditions.setVisible(self.conditions.isHidden())
        self.fold.setIcon(icon("down" if not self.conditions.isHidden() else "chevron"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._toggle()


class _LineageRow(QWidget):
    pressed = Signal(str)

    def __init__(self, v: Variant, depth: int, *, here: bool):
        super().__init__()
        self._id = v.id
        row = QHBoxLayout(self)
        row.setContentsMargins(min(depth, 6) * 12, 2, 0, 2)
        row.setSpacing(7)
        row.addWidget(_Shape(v.kind))
        name = ElidedLabel(v.name)
        if here:
            name.setStyleSheet("font-weight: 600;")
        row.addWidget(name, 3)
        size = label(text.fmt_bytes(v.ledger.bytes_on_disk), "muted")
        row.addWidget(size)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed.emit(self._id)


class _Shape(QWidget):
    """A kind's shape, 14 px."""

    def __init__(self, kind: str):
        super().__init__()
        self._icon = kind_icon(kind)
        self.setFixedSize(14, 14)
        theme().changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()


def _yaml(words: str) -> QPlainTextEdit:
    out = QPlainTextEdit(words.rstrip())
    out.setObjectName("recipe")
    out.setReadOnly(True)
    out.setProperty("bare", True)
    out.setFont(mono(12))
    out.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    out.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    out.document().setDocumentMargin(0)
    lines = words.rstrip().count("\n") + 1
    out.setFixedHeight(min(lines, 18) * (out.fontMetrics().lineSpacing()) + 14)
    return out


def _component(name: str) -> str:
    tr = QCoreApplication.translate
    known = {
        "embedding": tr("Inspector", "Embedding"),
        "attention": tr("Inspector", "Attention"),
        "mlp": tr("Inspector", "MLP"),
        "norm": tr("Inspector", "Norms"),
        "head": tr("Inspector", "Head"),
        "other": tr("Inspector", "Other"),
        "scales": tr("Inspector", "Scales"),
        "masks": tr("Inspector", "Masks"),
        "tokenizer": tr("Inspector", "Tokenizer"),
        "configuration": tr("Inspector", "Config"),
    }
    return known.get(name, name)


def _last_part(tensor: str) -> str:
    """'lm_head.weight' -> 'lm_head'."""
    return tensor.removesuffix(".weight").rsplit(".", 1)[-1]


def _storage(name: str) -> str:
    """In few letters: 'int4' of 'int4 packed', 'fp8' of 'F8_E4M3'."""
    return "fp8" if name.startswith("F8_") else _storage_in_full(name).removesuffix(" packed")


def _storage_in_full(name: str) -> str:
    return QCoreApplication.translate("Inspector", "file") if name == "file" else name


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return QCoreApplication.translate("Inspector", "yes") if value else QCoreApplication.translate("Inspector", "no")
    return f"{value:.6g}" if isinstance(value, float) else str(value)
