"""The map of attention heads: layers across, heads (or groups of them) down, coloured by what each is worth, switched by pointer or key.

Covers showing a HeadsPlan and changing what it has off and judges by; what that means and costs is shown elsewhere.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QMenu, QVBoxLayout

from app import text
from app.forms import calm_wheel
from app.heads_plan import HeadsPlan, Unit
from app.heat import Cell, HeatGrid, HeatKey, log_share, span
from app.widgets import button, label

LINEAR = ("magnitude", "random")  # what doesn't spread over powers of ten
LEAST_SPAN = 8.0  # from the palest to the darkest


class HeadsMap(QFrame):
    """`changed`: the plan was, here; `leave_out`: each one's own loss is wanted. titles: what the criteria are called."""

    changed = Signal()
    leave_out = Signal()

    def __init__(self, titles: dict[str, str]) -> None:
        super().__init__()
        self.titles = titles
        self.plan: HeadsPlan | None = None
        self.unit = ""
        self._ranks: dict[Unit, int] = {}
        self._turning_off = True  # what a stroke over the map does
        self.setProperty("panel", True)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 8, 12, 8)
        box.setSpacing(6)
        head = QHBoxLayout()
        head.setSpacing(10)
        self.criterion = QComboBox()
        self.criterion.setObjectName("criterion")
        self.criterion.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.criterion.setAccessibleName(self.tr("Importance by"))
        self.criterion.setToolTip(self.tr("What each is worth, judged by this"))
        self.criterion.currentIndexChanged.connect(self._set_criterion)
        calm_wheel(self.criterion)
        head.addWidget(self.criterion)
        self.key = HeatKey()
        self.key.setMinimumWidth(120)
        head.addWidget(self.key, 1)
        self.leave_button = button(self.tr("Leave each out…"), self.leave_out.emit, name="leave_out")
        self.leave_button.setAutoDefault(False)
        head.addWidget(self.leave_button)
        box.addLayout(head)
        self.grid = HeatGrid(self.tr("Heads by layer: what each is worth"))
        self.grid.setObjectName("map")
        self.grid.switches = True
        self.grid.least, self.grid.most = QSize(15, 16), QSize(120, 44)
        self.grid.corner = self.tr("Layer")
        self.grid.picked.connect(lambda *_: self._tell_cell())
        self.grid.switched.connect(self._switch)
        self.grid.asked.connect(self._ask_cell)
        self.grid.pressed.connect(self._cell_key)
        box.addWidget(self.grid, 1)
        self.cell_line = label("", "caption", wrap=True)
        self.cell_line.setObjectName("cell")
        self.cell_line.setMinimumHeight(32)
        box.addWidget(self.cell_line)

    # -- showing

    def show_plan(self, plan: HeadsPlan | None, unit: str) -> None:
        """unit: 'nats' where worth is in them, '' elsewhere."""
        self.plan, self.unit = plan, unit
        self._show_criteria()
        if plan is None:
            self.grid.set_axes([], [])
            self.grid.set_cells({})
            self.key.set_ends("", "")
            self.cell_line.setText("")
            return
        kind = self.tr("Group {n}") if plan.map.unit == "kv_group" else self.tr("Head {n}")
        rows = [f"u{unit}" for unit in range(plan.map.units)]
        columns = [str(layer) for layer in range(plan.map.layers)]
        self.grid.set_axes(rows, columns, {row: kind.format(n=unit) for unit, row in enumerate(rows)})
        values = {unit: value for unit in plan.units() if (value := plan.score(unit)) is not None}
        self._ranks = {unit: rank for rank, unit in enumerate(sorted(values, key=lambda unit: (values[unit], unit)), 1)}
        low, high = self._ends(list(values.values()))
        self.key.set_ends(text.fmt_number(low, 2), text.fmt_number(high, 2))
        self.grid.set_cells({(f"u{unit}", str(layer)): self._cell((layer, unit), low, high) for layer, unit in plan.units()})
        self._tell_cell()

    def _ends(self, values: list[float | None]) -> tuple[float, float]:
        known = [v for v in values if v is not None]
        if self.plan.criterion in LINEAR:
            return (min(known), max(known)) if known else (0.0, 1.0)
        low, high = span(known)
        return min(low, high / LEAST_SPAN), high

    def _share(self, value: float | None, low: float, high: float) -> float | None:
        if self.plan.criterion in LINEAR:
            return None if value is None else (value - low) / ((high - low) or 1.0)
        return log_share(value, low, high)

    def _cell(self, unit: Unit, low: float, high: float) -> Cell:
        value = self.plan.score(unit)
        words = "" if value is None else text.fmt_number(value, 2)
        return Cell(self._share(value, low, high), words, "", self._cell_words(unit), off=unit in self.plan.off)

    def _cell_words(self, unit: Unit) -> str:
        plan = self.plan
        layer, number = unit
        value = plan.score(unit)
        if plan.map.unit == "kv_group":
            first = number * plan.map.heads_per_unit
            words = self.tr("Layer {layer}, group {group} (heads {first} to {last})")
            where = words.format(layer=layer, group=number, first=first, last=first + plan.map.heads_per_unit - 1)
        else:
            where = self.tr("Layer {layer}, head {head}").format(layer=layer, head=number)
        if value is None:
            return self.tr("{where}: not measured").format(where=where)
        words = self.tr("{where}: {value}, rank {rank} of {total} from the least important")
        if self.unit and plan.criterion in ("taylor", "leave_out"):
            words = self.tr("{where}: {value} nats, rank {rank} of {total} from the least important")
        said = words.format(where=where, value=text.fmt_number(value, 3), rank=self._ranks[unit], total=len(self._ranks))
        return f"{said} · {self.tr('off')}" if unit in plan.off else said

    def _tell_cell(self) -> None:
        cell = self.grid.cells.get(self.grid.current) if self.grid.current else None
        hint = self.tr("Click or press the space bar to switch off and on, draw over several, L for the whole layer, Delete for all on.")
        self.cell_line.setText(f"{cell.tip}\n{hint}" if cell is not None else "")

    def _show_criteria(self) -> None:
        known = [key for key in self.titles if self.plan is not None and self.plan.known(key)]
        with QSignalBlocker(self.criterion):
            if [self.criterion.itemData(i) for i in range(self.criterion.count())] != known:
                self.criterion.clear()
                for key in known:
                    self.criterion.addItem(self.titles[key], key)
            if known:
                self.criterion.setCurrentIndex(self.criterion.findData(self.plan.criterion))
        self.criterion.setEnabled(bool(known))
        self.leave_button.setVisible(self.plan is not None and "leave_out" not in known)
        if self.plan is not None:
            left = sum(self.plan.score(unit, "leave_out") is None for unit in self.plan.units())
            words = self.tr(
                "Measures the loss without each one alone, {n} of them, which takes long. It may be cancelled, and goes on from there."
            )
            self.leave_button.setToolTip(words.format(n=left))

    # -- changing

    def _choose(self, off: Any) -> None:
        self.plan.set_off(off)
        self.changed.emit()

    def _set_criterion(self) -> None:
        criterion = self.criterion.currentData()
        if self.plan is not None and criterion and criterion != self.plan.criterion:
            self.plan.criterion = criterion
            self.changed.emit()

    def _unit(self, row: str, column: str) -> Unit:
        return int(column), int(row[1:])

    def _switch(self, row: str, column: str, drawn: bool) -> None:
        if self.plan is None:
            return
        unit = self._unit(row, column)
        if not drawn:
            self._turning_off = unit not in self.plan.off
            self._choose(self.plan.off ^ {unit})
        else:
            self.plan.replace_last(self.plan.off | {unit} if self._turning_off else self.plan.off - {unit})
            self.changed.emit()

    def _cell_key(self, event: QKeyEvent) -> None:
        if self.plan is None or self.grid.current is None or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return
        if event.key() == Qt.Key.Key_L:
            self._toggle(self.plan.layer(self._unit(*self.grid.current)[0]))
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self._choose(())
        else:
            return
        event.accept()

    def _toggle(self, units: Any) -> None:
        self.plan.toggle(units)
        self.changed.emit()

    def cell_menu(self, row: str, column: str) -> QMenu | None:
        if self.plan is None:
            return None
        layer, unit = self._unit(row, column)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        off = (layer, unit) in self.plan.off
        menu.addAction(self.tr("Switch on") if off else self.tr("Switch off"), lambda: self._toggle([(layer, unit)]))
        menu.addAction(self.tr("Switch the whole layer {n}").format(n=layer), lambda: self._toggle(self.plan.layer(layer)))
        worse = [u for u in self.plan.order() if self.plan.score(u) <= self.plan.score((layer, unit))]
        words = self.tr("Switch off all that are worth no more ({n})").format(n=len(worse))
        menu.addAction(words, lambda: self._choose(self.plan.off | frozenset(worse)))
        return menu

    def _ask_cell(self, row: str, column: str, at: QPoint) -> None:
        menu = self.cell_menu(row, column)
        if menu is not None:
            menu.popup(at)
