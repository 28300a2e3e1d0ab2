"""Sensitivity: a map of how far the outputs move when one layer alone is quantized, and the bits of each layer under a budget.

Covers the questions, the map with its cells edited by pointer or key, the budget, and what's projected; measuring is a job
(SensitivitySpec), and what Apply starts is one more (`applied`). The choosing is bits_plan's and core.allocation's. What's projected
is called an estimate: the KL is the sum of single-layer ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRectF, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QHBoxLayout, QMenu, QSlider, QSpinBox, QStackedWidget, QVBoxLayout, QWidget

from app import text
from app.bits_plan import STEPS, BitsPlan, maps_of
from app.forms import calm_wheel
from app.heat import Cell, HeatGrid, HeatKey, log_share, span
from app.theme import numbers, theme
from app.tool_dialog import ToolDialog
from app.widgets import EmptyState, Segmented, button, label, panel
from app.wizards.base import TextChoice
from core.allocation import DENSE, WIDTHS, LayerCost, SensitivityMap
from core.events import LayerMeasured
from core.records import ApplySpec, SensitivitySpec, Variant

GROUPS = (128, 64, 32)
KEYS = {Qt.Key.Key_8: 8, Qt.Key.Key_6: 6, Qt.Key.Key_5: 5, Qt.Key.Key_4: 4, Qt.Key.Key_3: 3, Qt.Key.Key_2: 2, Qt.Key.Key_0: DENSE}
FAST = (8, 4)  # core.decode.kernels'
LEAST_KL = 1e-7  # colours don't tell smaller ones apart
LEAST_SPAN = 30.0  # from the palest to the darkest, so that what's nearly equal looks it


class SensitivityDialog(ToolDialog):
    """`applied(job)`: a mixed variant is being made."""

    applied = Signal(str)

    def __init__(self, library: Any, board: Any, variant_id: str, parent: QWidget | None = None, *, device: str = "auto"):
        self.library, self.variant_id, self.device = library, variant_id, device
        self.plan: BitsPlan | None = None
        self.measured: dict[str, LayerCost] = {}  # of the running job
        self._found: SensitivityMap | None = None
        self.shown = "chosen"  # or a width, as text
        super().__init__(
            board,
            "sensitivity",
            self.tr("Sensitivity"),
            self.tr(
                "How far the model's outputs move (KL, nats a token) when one layer alone is quantized. Bits are spent where they "
                "matter: move the budget, change single cells, and start the variant that comes of it."
            ),
            parent,
        )
        self._make()
        self._soon = QTimer(self)  # a slider that's dragged, and layers that come in, are drawn some times a second
        self._soon.setSingleShot(True)
        self._soon.setInterval(40)
        self._soon.timeout.connect(self._show_soon)
        self._moved: int | None = None
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
        self.pages.addWidget(self._make_map())
        self.gone = EmptyState("quantize", self.tr("The variant isn't here"), self.tr("Choose a variant that isn't quantized in the tree."))
        self.pages.addWidget(self.gone)
        self.run_button.setText(self.tr("Measure"))
        self.run_button.setProperty("tip", self.tr("Tries every layer at every width (Ctrl+Enter)"))
        self.again = self.add_button(button(self.tr("Measure again…"), self._back, name="again"))
        self.again.setToolTip(self.tr("With other windows, groups or text. The map that's here stays kept."))
        self.apply_button = self.add_button(button(self.tr("Apply"), self.apply, name="apply", primary=True))
        self.apply_button.setToolTip(self.tr("Starts the job that makes this variant"))

    def _make_setup(self) -> QWidget:
        page = panel()
        box = QVBoxLayout(page)
        box.setContentsMargins(16, 14, 16, 14)
        box.setSpacing(10)
        box.addWidget(label(self.tr("What to measure"), "section"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(10)
        grid.setColumnStretch(2, 1)
        self.group = QComboBox()
        self.group.setObjectName("group_size")
        for size in GROUPS:
            self.group.addItem(self.tr("{n} columns").format(n=size), size)
        self.windows = QSpinBox()
        self.windows.setObjectName("windows")
        self.windows.setRange(1, 256)
        self.windows.setValue(4)
        self.context = QSpinBox()
        self.context.setObjectName("context")
        self.context.setRange(16, 4096)
        self.context.setValue(128)
        self.context.setSuffix(self.tr(" tokens"))
        for field in (self.group, self.windows, self.context):
            calm_wheel(field)
        rows = (
            (self.tr("Group size"), self.group, self.tr("Columns that share a scale below 8 bits; the next smaller that fits the model.")),
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
        box.addWidget(label(self.tr("Text"), "section"))
        self.text_choice = TextChoice(self.tr("The starter's training text"))
        self.text_choice.changed.connect(self.refresh)
        box.addWidget(self.text_choice)
        note = self.tr(
            "Every linear layer is tried at 8, 6, 5, 4, 3 and 2 bits. It may be cancelled: what's measured is kept, and goes on from there."
        )
        box.addWidget(label(note, "caption", wrap=True))
        box.addStretch(1)
        return page

    def _make_map(self) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        left = panel()
        box = QVBoxLayout(left)
        box.setContentsMargins(12, 8, 12, 10)
        box.setSpacing(6)
        head = QHBoxLayout()
        parts = [("chosen", self.tr("Chosen"))] + [(str(width), str(width)) for width in WIDTHS]
        self.width_switch = Segmented(parts)
        self.width_switch.chosen.connect(self._show_width)
        for key, part in self.width_switch.buttons.items():
            tip = (
                self.tr("KL at the bits chosen for each layer")
                if key == "chosen"
                else self.tr("KL of each layer at {n} bits").format(n=key)
            )
            part.setToolTip(tip)
            part.setAccessibleName(tip)
            part.setStyleSheet("padding: 3px 6px;")
        head.addWidget(self.width_switch)
        head.addSpacing(8)
        self.key = HeatKey()
        self.key.setMinimumWidth(130)
        self.key.setToolTip(self.tr("KL in nats a token, on a logarithmic scale"))
        head.addWidget(self.key, 1)
        box.addLayout(head)
        self.grid = HeatGrid(self.tr("Layers by kind: bits and KL"))
        self.grid.setObjectName("map")
        self.grid.picked.connect(lambda *_: self._tell_cell())
        self.grid.asked.connect(self._ask_cell)
        self.grid.pressed.connect(self._cell_key)
        box.addWidget(self.grid, 1)
        self.cell_line = label("", "caption", wrap=True)
        self.cell_line.setObjectName("cell")
        self.cell_line.setMinimumHeight(32)
        box.addWidget(self.cell_line)
        row.addWidget(left, 1)
        row.addWidget(self._make_side())
        return page

    def _make_side(self) -> QWidget:
        side = panel()
        side.setFixedWidth(268)
        box = QVBoxLayout(side)
        box.setContentsMargins(14, 10, 14, 12)
        box.setSpacing(7)
        box.addWidget(label(self.tr("Budget"), "section"))
        self.budget = Segmented((("size", self.tr("Size")), ("kl", self.tr("KL"))))
        self.budget.chosen.connect(self._set_budget)
        box.addWidget(self.budget)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("budget")
        self.slider.setRange(0, STEPS)
        self.slider.setPageStep(25)
        self.slider.setAccessibleName(self.tr("Budget"))
        self.slider.valueChanged.connect(self._slid)
        box.addWidget(self.slider)
        self.budget_line = label("", "caption", wrap=True)
        self.budget_line.setObjectName("budget_line")
        box.addWidget(self.budget_line)
        self.front = FrontPlot()
        box.addWidget(self.front)
        box.addWidget(label(self.tr("Projected"), "section"))
        figures = QGridLayout()
        figures.setVerticalSpacing(3)
        figures.setColumnStretch(0, 1)
        self.size_value, self.kl_value, self.bits_value = (label("", "value") for _ in range(3))
        for at, (words, value, name) in enumerate(
            (
                (self.tr("Size on disk, estimate"), self.size_value, "size"),
                (self.tr("Sum of KLs, estimate"), self.kl_value, "kl"),
                (self.tr("Bits a weight"), self.bits_value, "average"),
            )
        ):
            value.setObjectName(name)
            value.setFont(numbers(13, 600))
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            figures.addWidget(label(words, "caption"), at, 0)
            figures.addWidget(value, at, 1)
        box.addLayout(figures)
        self.counts = label("", "muted", wrap=True)
        self.counts.setObjectName("counts")
        box.addWidget(self.counts)
        row = QHBoxLayout()
        self.uniform = QComboBox()
        self.uniform.setObjectName("uniform")
        self.uniform.setAccessibleName(self.tr("One width for all"))
        self.uniform.activated.connect(self._set_uniform)
        calm_wheel(self.uniform)
        row.addWidget(self.uniform, 1)
        self.free = button("", self._free, name="free")
        self.free.setAutoDefault(False)
        self.free.setToolTip(self.tr("Cells set by hand follow the budget again (Delete frees one)"))
        row.addWidget(self.free)
        box.addLayout(row)
        self.fast = QCheckBox(self.tr("Only 8 and 4 bits"))
        self.fast.setObjectName("fast")
        self.fast.setToolTip(self.tr("There are kernels for these two on the CPU; the other widths are unpacked to be computed with."))
        self.fast.toggled.connect(self._set_fast)
        box.addWidget(self.fast)
        row = QHBoxLayout()
        row.addWidget(label(self.tr("Rounding"), "caption"))
        self.rounding = QComboBox()
        self.rounding.setObjectName("rounding")
        for words, key in (("GPTQ", "gptq"), (self.tr("Half-quadratic"), "hqq"), (self.tr("Round to nearest"), "rtn")):
            self.rounding.addItem(words, key)
        self.rounding.setToolTip(self.tr("How the variant is rounded. The map itself was measured with rounding to nearest."))
        calm_wheel(self.rounding)
        row.addWidget(self.rounding, 1)
        box.addLayout(row)
        box.addStretch(1)
        return side

    # -- the job

    def problem(self) -> str:
        v = self.variant
        if v is None:
            return self.tr("The variant isn't in the workspace any more.")
        if v.info.quantization:
            return self.tr("It's quantized already. Choose the variant that it came from.")
        if v.info.task not in ("causal-lm", "classifier"):
            return self.tr("It gives no probabilities, so there is no KL to measure.")
        path = self.text_choice.path()
        if path is not None and not Path(path).expanduser().is_file():
            return self.tr("Choose a text file.")
        return ""

    def start_if_able(self) -> None:
        if self.pages.currentIndex() == 0:
            super().start_if_able()

    def start(self) -> None:
        self.measured, self._found, self.plan = {}, None, None
        spec = SensitivitySpec(
            workspace=str(self.library.workspace.folder),
            variant=self.variant_id,
            group_size=self.group.currentData(),
            windows=self.windows.value(),
            context=self.context.value(),
            text=self.text_choice.path(),
        )
        self.pages.setCurrentIndex(1)
        self._show_width("4")
        self.submit(spec, self.tr("Sensitivity of {name}").format(name=self.variant.name), self.device)

    def took(self, event: Any) -> None:
        if isinstance(event, LayerMeasured):
            cost = LayerCost.model_validate(event.layer)
            self.measured[cost.name] = cost
            if not self._soon.isActive():
                self._soon.start()

    def finished_with(self, result: dict[str, Any]) -> None:
        found = SensitivityMap.model_validate_json(Path(result["file"]).read_text(encoding="utf-8"))
        self.take(found)
        self.grid.setFocus()

    def ended_without(self) -> None:
        self._show()

    def _load(self) -> None:
        """The latest map that's kept, where there is one."""
        v = self.variant
        kept = maps_of(self.library.workspace.path(self.variant_id)) if v is not None and self.library.workspace else []
        if v is None:
            self.pages.setCurrentIndex(2)
        elif kept and not self.problem():
            self.take(kept[0])
        else:
            self.pages.setCurrentIndex(0)

    def take(self, found: SensitivityMap) -> None:
        """Shows a finished map, one width for all to begin with."""
        self._found, self.measured = found, {}
        self.plan = BitsPlan(found, self.variant.ledger.bytes_on_disk)
        with QSignalBlocker(self.fast):
            self.fast.setChecked(False)
        self.fast.setVisible(len([w for w in found.widths if w in FAST]) == len(FAST) < len(found.widths))
        self.pages.setCurrentIndex(1)
        with QSignalBlocker(self.uniform):
            self.uniform.clear()
            self.uniform.addItem(self.tr("One width…"))
            for width in sorted(found.widths, reverse=True):
                self.uniform.addItem(self.tr("{n} bits").format(n=width), width)
        for key, part in self.width_switch.buttons.items():
            part.setVisible(key == "chosen" or int(key) in found.widths)
        self._show_width("chosen")
        self.refresh()

    def _back(self) -> None:
        self.tell_failure(None)
        self.pages.setCurrentIndex(0)
        self.refresh()

    # -- the choice

    def _set_budget(self, budget: str) -> None:
        if self.plan is not None:
            self.plan.set_budget(budget)
            self._show()

    def _slid(self, at: int) -> None:
        self._moved = at
        if not self._soon.isActive():
            self._soon.start()

    def _show_soon(self) -> None:
        if self._moved is not None and self.plan is not None:
            at, self._moved = self._moved, None
            self.plan.move(at)
            if self.shown != "chosen":
                self._show_width("chosen")
        self._show()

    def _set_uniform(self, index: int) -> None:
        width = self.uniform.itemData(index)
        with QSignalBlocker(self.uniform):
            self.uniform.setCurrentIndex(0)
        if width is not None and self.plan is not None:
            self.plan.uniform(width)
            self._show_width("chosen")

    def _set_fast(self, fast: bool) -> None:
        if self.plan is not None:
            self.plan.set_widths(tuple(w for w in self.plan.map.widths if w in FAST) if fast else self.plan.map.widths)
            self.plan.move(self.plan.at)
            self._show_width("chosen")

    def _free(self) -> None:
        if self.plan is not None:
            self.plan.free()
            self.plan.move(self.plan.at)
            self._show()

    def _layer(self, row: str, column: str) -> LayerCost | None:
        layers = self._found.layers if self._found is not None else self.measured.values()
        return next((c for c in layers if str(c.block) == row and c.kind == column), None)

    def set_cell(self, row: str, column: str, width: int) -> None:
        """Gives a layer a width, by hand."""
        layer = self._layer(row, column)
        if layer is not None and self.plan is not None and width in self.plan.choices():
            self.plan.set_bits([layer.name], width)
            self._show_width("chosen")

    def _cell_key(self, event: QKeyEvent) -> None:
        layer = self._layer(*self.grid.current) if self.grid.current else None
        if (
            self.plan is None
            or layer is None
            or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier & ~Qt.KeyboardModifier.ShiftModifier
        ):
            return
        if event.key() in KEYS:
            self.set_cell(*self.grid.current, KEYS[event.key()])
        elif event.key() in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            self.plan.nudge(layer.name, -1 if event.key() == Qt.Key.Key_Minus else 1)
            self._show_width("chosen")
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.plan.free([layer.name])
            self._show()
        else:
            return
        event.accept()

    def cell_menu(self, row: str, column: str) -> QMenu | None:
        """The widths of a cell, each with what it costs; and the same for its row and its kind."""
        layer = self._layer(row, column)
        if self.plan is None or layer is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        alike = (
            (menu, [layer.name]),
            (menu.addMenu(self.tr("All of block {n}").format(n=row)), [c.name for c in self._found.layers if c.block == layer.block]),
            (menu.addMenu(self.tr("All {kind}").format(kind=column)), [c.name for c in self._found.layers if c.kind == layer.kind]),
        )
        first = menu.actions()[0]
        for where, names in alike:
            for width in self.plan.choices():
                words = self._width_words(width)
                if where is menu:
                    size, kl = text.fmt_bytes(layer.bytes[width]), text.fmt_number(layer.kl[width], 3)
                    words = self.tr("{width}: {size}, KL {kl}").format(width=words, size=size, kl=kl)
                action = where.addAction(words, lambda names=names, width=width: self._set_many(names, width))
                if where is menu:
                    menu.removeAction(action)
                    menu.insertAction(first, action)
                    action.setCheckable(True)
                    action.setChecked(self.plan.bits[layer.name] == width)
        menu.insertSeparator(first)
        return menu

    def _set_many(self, names: list[str], width: int) -> None:
        self.plan.set_bits(names, width)
        self._show_width("chosen")

    def _ask_cell(self, row: str, column: str, at: QPoint) -> None:
        menu = self.cell_menu(row, column)
        if menu is not None:
            menu.popup(at)

    def _width_words(self, width: int) -> str:
        return self.tr("As it is") if width == DENSE else self.tr("{n} bits").format(n=width)

    # -- what's shown

    def _show_width(self, key: str) -> None:
        self.shown = key
        self.width_switch.set_current(key)
        self._show()

    def _show(self) -> None:
        layers = list(self._found.layers) if self._found is not None else list(self.measured.values())
        kinds = list(dict.fromkeys(c.kind for c in layers))
        blocks = sorted({c.block for c in layers})
        self.grid.set_axes([str(b) for b in blocks], kinds, {kind: short_kind(kind, kinds) for kind in kinds})
        low, high = span(c.kl[self._width_of(c)] for c in layers)
        low = max(low, min(LEAST_KL, high))
        low = min(low, high / LEAST_SPAN)
        self.key.set_ends(text.fmt_number(low, 1), text.fmt_number(high, 2))
        self.grid.set_cells({(str(c.block), c.kind): self._cell(c, low, high) for c in layers})
        self._tell_cell()
        self._tell_plan()
        self.refresh()

    def _width_of(self, cost: LayerCost) -> int:
        """The width whose KL a cell shows."""
        if self.shown == "chosen" and self.plan is not None:
            return self.plan.bits[cost.name]
        return int(self.shown) if self.shown.isdigit() and int(self.shown) in cost.kl else next(w for w in cost.kl if w != DENSE)

    def _cell(self, cost: LayerCost, low: float, high: float) -> Cell:
        width = self._width_of(cost)
        kl = cost.kl[width]
        fixed = self.plan is not None and cost.name in self.plan.fixed
        big = DASH if width == DENSE else str(width)
        share = 0.0 if width == DENSE else log_share(kl, low, high)
        return Cell(share, big, text.fmt_number(kl, 2), self._cell_words(cost, width), fixed and self.shown == "chosen")

    def _cell_words(self, cost: LayerCost, width: int) -> str:
        error = cost.stderr.get(width)
        kl = text.fmt_number(cost.kl[width], 3) + (f" ± {text.fmt_number(1.96 * error, 2)}" if error else "")
        words = self.tr("Block {block}, {kind}: {width}, KL {kl}, {size} ({rows} × {columns})").format(
            block=cost.block,
            kind=cost.kind,
            width=self._width_words(width),
            kl=kl,
            size=text.fmt_bytes(cost.bytes[width]),
            rows=cost.rows,
            columns=cost.columns,
        )
        return words + (f" · {self.tr('set by hand')}" if self.plan is not None and cost.name in self.plan.fixed else "")

    def _tell_cell(self) -> None:
        cell = self.grid.cells.get(self.grid.current) if self.grid.current else None
        hint = self.tr("Keys 8 6 5 4 3 2 set the bits, 0 leaves the layer as it is, + and − go one width on, Delete frees it.")
        words = cell.tip if cell is not None else ""
        self.cell_line.setText(f"{words}\n{hint}" if words and self.plan is not None else words)

    def _tell_plan(self) -> None:
        plan = self.plan
        for widget in (self.budget, self.slider, self.uniform, self.fast, self.rounding):
            widget.setEnabled(plan is not None)
        if plan is None:
            for value in (self.size_value, self.kl_value, self.bits_value, self.counts, self.budget_line):
                value.setText("")
            self.free.setVisible(False)
            self.front.set_front([], None)
            return
        with QSignalBlocker(self.slider):
            self.slider.setValue(plan.at)
        self.budget.set_current(plan.budget)
        value = text.fmt_bytes(plan.value()) if plan.budget == "size" else self.tr("{n} nats").format(n=text.fmt_number(plan.value(), 3))
        line = self.tr("At most {value}").format(value=value)
        if plan.over:
            line = self.tr("At most {value}; what's set by hand goes over it.").format(value=value)
        self.budget_line.setText(line)
        self._role(self.budget_line, "warn" if plan.over else "caption")
        change = text.fmt_change(plan.size / plan.on_disk)
        self.size_value.setText(f"{text.fmt_bytes(plan.size)} ({change})")
        self.kl_value.setText(text.fmt_number(plan.kl, 3))
        self.bits_value.setText(f"{plan.average:.2f}")
        parts = [self.tr("{width} {n}").format(width=self._width_words(width), n=n) for width, n in plan.counts()]
        self.counts.setText(self.tr("Layers: {counts}").format(counts=" · ".join(parts)))
        self.free.setVisible(bool(plan.fixed))
        self.free.setText(self.tr("Free {n}").format(n=len(plan.fixed)))
        self.front.set_front(plan.front(), (plan.size, plan.kl))

    def _role(self, widget: Any, role: str) -> None:
        from app.theme import restyle

        if widget.property("role") != role:
            widget.setProperty("role", role)
            restyle(widget)

    def refresh(self) -> None:
        if not hasattr(self, "apply_button"):
            return
        at = self.pages.currentIndex()
        super().refresh()
        self.run_button.setVisible(at == 0 and not self.running)
        self.again.setVisible(at == 1 and not self.running)
        self.apply_button.setVisible(at == 1 and not self.running)
        self.apply_button.setEnabled(self.plan is not None and not self.problem() and self._quantizes())
        self.apply_button.setDefault(at == 1)

    def _quantizes(self) -> bool:
        return any(width != DENSE for width in self.plan.bits.values())

    # -- making the variant

    def apply(self) -> None:
        """Starts the job that makes the variant as it's planned."""
        v, plan = self.variant, self.plan
        if v is None or plan is None or not self._quantizes():
            return
        taken = {other.name for other in self.library.variants()}
        name = next(n for n in (plan.name(), *(f"{plan.name()} ({i})" for i in range(2, 10_000))) if n not in taken)
        spec = ApplySpec(
            workspace=str(self.library.workspace.folder),
            variant=v.id,
            steps=(plan.step(self.rounding.currentData(), self.text_choice.path()),),
            name=name,
            text=self.library.workspace.settings.text,
        )
        job = self.board.submit(spec, self.tr("{name}, from {source}").format(name=name, source=v.name), self.device)
        self.say(self.tr("Started: {name}. Its progress is in the list of jobs.").format(name=name))
        self.applied.emit(job)


DASH = text.DASH


def short_kind(kind: str, kinds: list[str]) -> str:
    """'q_proj' of 'self_attn.q_proj', where the last part alone tells it from the others."""
    last = kind.rsplit(".", 1)[-1]
    return last if sum(other.rsplit(".", 1)[-1] == last for other in kinds) == 1 else kind


class FrontPlot(QWidget):
    """Size against the sum of KLs: the best choices as a line, the present one as a dot."""

    def __init__(self) -> None:
        super().__init__()
        self.points: list[tuple[int, float]] = []
        self.here: tuple[int, float] | None = None
        self.setFixedHeight(112)
        self.setAccessibleName(self.tr("Sum of KLs by size"))
        self.setToolTip(self.tr("The least sum of KLs at each size, and the choice that's shown (dot). Both are estimates."))
        theme().changed.connect(self.update)

    def set_front(self, points: list[tuple[int, float]], here: tuple[int, float] | None) -> None:
        self.points = [(s, k) for s, k in points if k > 0]
        self.here = here
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if len(self.points) < 2:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(numbers(11))
        every = self.points + ([self.here] if self.here and self.here[1] > 0 else [])
        sizes = [s for s, _ in every]
        area = QRectF(2, 6, self.width() - 4, self.height() - 24)
        low, high = min(k for _, k in every), max(k for _, k in every)

        def place(size: float, kl: float) -> QPointF:
            x = area.left() + 4 + (area.width() - 8) * (size - min(sizes)) / max(1, max(sizes) - min(sizes))
            share = log_share(kl, low, high) or 0.0
            return QPointF(x, area.bottom() - 4 - (area.height() - 8) * share)

        painter.setPen(QPen(theme().color("border"), 1))
        painter.setBrush(theme().color("surface2"))
        painter.drawRect(area)
        path = QPainterPath(place(*self.points[0]))
        for point in self.points[1:]:
            path.lineTo(place(*point))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme().color("accent"), 1.8))
        painter.drawPath(path)
        if self.here is not None and self.here[1] > 0:
            painter.setPen(QPen(theme().color("surface"), 2))
            painter.setBrush(theme().color("kind_quantized"))
            painter.drawEllipse(place(*self.here), 6, 6)
        painter.setPen(theme().color("text2"))
        foot = QRectF(area.left(), area.bottom() + 1, area.width(), 16)
        painter.drawText(foot, int(Qt.AlignmentFlag.AlignLeft), text.fmt_bytes(min(sizes)))
        painter.drawText(foot, int(Qt.AlignmentFlag.AlignRight), text.fmt_bytes(max(sizes)))
        inside = area.adjusted(0, 3, -6, 0)
        painter.drawText(inside, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop), f"KL {text.fmt_number(high, 2)}")
        painter.end()
