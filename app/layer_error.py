"""Layers of a running job: coloured by the error made in each as they come in, or what its blocks and heads are worth or lose.

Reads metrics of a job (layer_parts). 'error/<layer>': |change of the output| / |output|, in the root mean square over the calibration
text, or of the weights alone where a method reads no text. Kinds of layer (or heads) are rows and blocks are columns, which suits a
dock's low shape; what blocks have one number of is drawn as bars.
"""

from __future__ import annotations

import statistics
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, QTimer
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QStackedLayout, QStackedWidget, QVBoxLayout, QWidget

from app import text
from app.forms import calm_wheel
from app.heat import Cell, HeatGrid, HeatKey, log_share, span
from app.layer_parts import GRIDS, block_of, dropped, kind_and_part, kind_of, parts_of
from app.plots.block_bars import Block, BlockBars
from app.widgets import ElidedLabel, EmptyState
from core.events import Metric

REDRAW_MS = 120
LEAST_SPAN = 4.0  # from the palest to the darkest


class LayerErrorView(QWidget):
    """The parts of the job given by `show_job`; of several kinds of figures, a person chooses one."""

    def __init__(self, board: Any):
        super().__init__()
        self.board, self.job = board, ""
        self.parts: dict[str, dict[str, list[tuple[int, float]]]] = {}
        self._places: dict[tuple[str, str], str] = {}
        self._order: list[str] = []  # of the bars
        self._picked = False
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(3)
        head = QHBoxLayout()
        head.setSpacing(12)
        self.kinds = QComboBox()
        self.kinds.setObjectName("parts")
        self.kinds.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.kinds.setProperty("flat", True)
        self.kinds.setAccessibleName(self.tr("What's shown of each part"))
        self.kinds.activated.connect(self._pick)
        calm_wheel(self.kinds)
        head.addWidget(self.kinds)
        self.line = ElidedLabel("", "caption")
        head.addWidget(self.line, 1)
        self.key = HeatKey(16)
        self.key.setFixedWidth(230)
        head.addWidget(self.key)
        box.addLayout(head)
        self.grid = HeatGrid(self.tr("Error of each layer"))
        self.grid.setObjectName("errors")
        self.grid.picked.connect(lambda *_: self._tell())
        self.bars = BlockBars(self.tr("Figures of each block"))
        self.bars.setObjectName("bars")
        self.bars.picked.connect(lambda _: self._tell())
        self.pages = QStackedWidget()
        self.pages.addWidget(self.grid)
        self.pages.addWidget(self.bars)
        box.addWidget(self.pages, 1)
        lines = self.tr("A job that quantizes or prunes shows here what it does to each layer.")
        self.empty = EmptyState("columns", self.tr("No layers yet"), lines)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(page)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self.refresh)
        board.event.connect(self._on_event)

    def titles(self) -> dict[str, str]:
        return {
            "error": self.tr("Error of each layer"),
            "importance": self.tr("Importance of heads"),
            "heads/leave_out": self.tr("Loss by leaving each head out"),
            "influence": self.tr("Influence of each block"),
            "loss_without": self.tr("Loss without each block"),
            "sparsity": self.tr("Sparsity of each block"),
        }

    @property
    def kind(self) -> str:
        return self.kinds.currentData() or ""

    def show_job(self, job: str) -> None:
        self.job = job
        self.grid.current, self.bars.current = None, -1
        self._picked = False
        self.refresh()

    def _on_event(self, event: Any) -> None:
        if isinstance(event, Metric) and event.job == self.job and kind_and_part(event.name) and not self._later.isActive():
            self._later.start()

    def _pick(self, _index: int) -> None:
        self._picked = True
        self.grid.current, self.bars.current = None, -1
        self.refresh()

    def refresh(self) -> None:
        state = self.board.state(self.job) if self.job else None
        self.parts = parts_of(state.curves) if state else {}
        self._stack.setCurrentIndex(1 if self.parts else 0)
        if not self.parts:
            return
        self._offer()
        if self.kind in GRIDS:
            self._show_grid(self.parts[self.kind])
        else:
            self._show_bars(self.parts[self.kind], over=bool(state and state.status == "finished"))
        self.pages.setCurrentIndex(0 if self.kind in GRIDS else 1)
        self.key.setVisible(self.kind in GRIDS)
        self._tell()

    def _offer(self) -> None:
        known = list(self.parts)
        with QSignalBlocker(self.kinds):
            kept = self.kind if self._picked and self.kind in known else known[0]
            if [self.kinds.itemData(i) for i in range(self.kinds.count())] != known:
                self.kinds.clear()
                for kind in known:
                    self.kinds.addItem(self.titles()[kind], kind)
            self.kinds.setCurrentIndex(known.index(kept))
        self.kinds.setVisible(len(known) > 1 or known != ["error"])

    # -- layers and heads

    def _show_grid(self, parts: dict[str, list[tuple[int, float]]]) -> None:
        layers = self.kind == "error"
        self._places = {}
        for name, points in parts.items():
            if layers:
                self._places[kind_of(name), str(points[-1][0])] = name
            else:
                block, unit = name.split(".")
                self._places[unit, block] = name
        kinds = list(dict.fromkeys(row for row, _ in self._places))
        kinds = (
            [*[k for k in self.grid.rows if k in kinds], *[k for k in kinds if k not in self.grid.rows]]
            if layers
            else sorted(kinds, key=int)
        )
        last = [kind.rsplit(".", 1)[-1] for kind in kinds]
        labels = {kind: short if last.count(short) == 1 else kind for kind, short in zip(kinds, last, strict=True)}
        blocks = sorted({int(block) for _, block in self._places})
        self.grid.corner = "" if layers else self.tr("Head")
        self.grid.set_axes(kinds, [str(b) for b in blocks], labels)
        low, high = span(points[-1][1] for points in parts.values())
        low = min(low, high / LEAST_SPAN)
        show = (lambda v: text.fmt_percent(v, 2)) if layers else (lambda v: text.fmt_number(v, 2))
        self.key.set_ends(show(low), show(high))
        self.key.setToolTip(
            self.tr("Relative error of a layer's output, on a logarithmic scale") if layers else self.tr("On a logarithmic scale")
        )
        cells = {}
        for at, name in self._places.items():
            value = parts[name][-1][1]
            short = text.fmt_number(value, 2) if not layers else f"{100 * value:.1f}" if value >= 0.001 else "<.1"
            cells[at] = Cell(log_share(value, low, high), short, "", self._words(name))
        self.grid.set_cells(cells)

    # -- blocks

    def _show_bars(self, parts: dict[str, list[tuple[int, float]]], *, over: bool) -> None:
        self._order = sorted(parts, key=block_of)
        judged = self.kind in ("influence", "loss_without")
        gone = dropped(parts, over=over) if judged else set()
        blocks = [Block(block_of(name), parts[name][-1][1], self._words(name, name in gone), name in gone) for name in self._order]
        mean = statistics.fmean(b.value for b in blocks) if self.kind == "sparsity" else None
        self.bars.set_blocks(blocks, show=self._value, from_zero=self.kind != "loss_without", line=mean)

    # -- words

    def _value(self, value: float) -> str:
        return text.fmt_percent(value) if self.kind == "sparsity" else text.fmt_number(value, 3)

    def _words(self, name: str, gone: bool = False) -> str:
        value = self.parts[self.kind][name][-1][1]
        if self.kind == "error":
            return self.tr("{layer}: error {error} of its output").format(layer=name, error=text.fmt_percent(value, 2))
        if self.kind in GRIDS:
            layer, unit = name.split(".")
            words = self.tr("Layer {layer}, head or group {unit}: {value}")
            return words.format(layer=layer, unit=unit, value=text.fmt_number(value, 3))
        words = self.tr("Block {n}: {value}").format(n=block_of(name), value=self._value(value))
        return f"{words} · {self.tr('dropped')}" if gone else words

    def _tell(self) -> None:
        """The part at the cursor while a person looks there, else what stands out so far."""
        self.line.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        if self.kind in GRIDS:
            name = self._places.get(self.grid.current) if self.grid.hasFocus() and self.grid.current else None
            self.line.setText(self._words(name) if name is not None else self._summary())
        else:
            at = self.bars.current
            self.line.setText(self.bars.blocks[at].tip if 0 <= at < len(self.bars.blocks) else self._summary())

    def _summary(self) -> str:
        parts = self.parts[self.kind]
        values = {name: points[-1][1] for name, points in parts.items()}
        if self.kind == "error":
            worst = max(values, key=lambda n: values[n])
            words = self.tr("{n} layers, error in %. The largest: {layer}, {error}")
            return words.format(n=len(values), layer=worst, error=text.fmt_percent(values[worst], 2))
        if self.kind in GRIDS:
            return self.tr("{n} heads or groups; the least important go first").format(n=len(values))
        if self.kind == "sparsity":
            words = self.tr("{n} blocks, from {low} to {high}; dashed: their mean")
            return words.format(n=len(values), low=self._value(min(values.values())), high=self._value(max(values.values())))
        gone = sum(b.gone for b in self.bars.blocks)
        return self.tr("{n} blocks, judged anew after each drop; {gone} dropped").format(n=len(values), gone=gone)
