"""What an exported graph is made of: its operators, what was fused, packed or left dense and why, and where its bytes are.

The reading is a job's (LookExportSpec); opening the graph in Netron is that program's, where it's installed.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from app.notes import note_text
from app.text import core_text, fmt_bytes, fmt_count
from app.theme import mono, numbers
from app.tool_dialog import ToolDialog
from app.widgets import Bar, ElidedLabel, EmptyState, button, label
from core.records import LookExportSpec

MOST = 40  # names of layers that are listed
NARROW = 860  # px; below it the largest weights stand under the operators, or their names would be cut to nothing


def netron() -> list[str]:
    """The command that opens a file in Netron; [] where it isn't installed."""
    program = shutil.which("netron")
    if program:
        return [program, "--browse"] if program.endswith(".py") else [program]
    return [sys.executable, "-m", "netron", "--browse"] if importlib.util.find_spec("netron") else []


class LookDialog(ToolDialog):
    """Begins reading as it's made."""

    def __init__(self, board: Any, folder: str, parent: QWidget | None = None):
        self.folder, self.result_, self._parts = folder, {}, ()
        super().__init__(
            board,
            "look_export",
            self.tr("Inside {name}").format(name=Path(folder).name),
            self.tr("What the graph is made of. Sizes are those of the stored weights; nothing is run."),
            parent,
        )
        self.run_button.setText(self.tr("Read again"))
        self.netron_button = self.add_button(button(self.tr("Open in Netron"), self.open_netron, name="netron"))
        able = bool(netron())
        self.netron_button.setEnabled(able)
        self.netron_button.setToolTip(
            self.tr("Netron shows the graph node by node, in a window or browser of its own")
            if able
            else self.tr("Netron isn't installed here: pip install netron. It shows a graph node by node.")
        )
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setWidget(EmptyState("columns", self.tr("Reading the graph"), ""))
        self.body.addWidget(self.scroll, 1)
        self.start_if_able()

    def start(self) -> None:
        self.submit(LookExportSpec(folder=self.folder), self.tr("Look into {name}").format(name=Path(self.folder).name))

    def open_netron(self) -> None:
        graph = self.result_.get("graph")
        if graph:
            subprocess.Popen([*netron(), graph], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def finished_with(self, result: dict[str, Any]) -> None:
        self.result_ = result
        page = QWidget()
        self._columns = QGridLayout(page)
        self._columns.setContentsMargins(0, 0, 6, 0)
        self._columns.setHorizontalSpacing(28)
        self._columns.setVerticalSpacing(14)
        self._parts = (self._fused(result), self._operators(result["contents"]), self._weights(result["contents"]["largest"]))
        self._place()
        self.scroll.setWidget(page)

    def _place(self) -> None:
        """The parts in two columns, in a narrow window in one."""
        grid, narrow, top = self._columns, self.width() < NARROW, Qt.AlignmentFlag.AlignTop
        fused, operators, weights = self._parts
        for part in self._parts:
            grid.removeWidget(part)
        grid.addWidget(fused, 0, 0, top)
        grid.addWidget(operators, 1, 0, top)
        if narrow:
            grid.addWidget(weights, 2, 0, top)
        else:
            grid.addWidget(weights, 0, 1, 2, 1, top)
        grid.setColumnStretch(0, 2)
        grid.setColumnStretch(1, 0 if narrow else 3)
        grid.setHorizontalSpacing(0 if narrow else 28)
        grid.setRowStretch(3, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._parts:
            self._place()

    # -- the parts

    def _section(self, words: str) -> tuple[QWidget, QVBoxLayout]:
        holder = QWidget()
        box = QVBoxLayout(holder)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(6)
        box.addWidget(label(words, "section"))
        return holder, box

    def _fused(self, result: dict[str, Any]) -> QWidget:
        """What was fused or packed, what wasn't, and why."""
        holder, box = self._section(self.tr("Fused and packed"))
        found, report = result["contents"], result["report"]
        products, fused = found["products"], found["fused"]
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        rows = (
            (
                self.tr("Fused attention"),
                fused["attention"],
                self.tr("GroupQueryAttention: attention with its cache in one operator"),
            ),
            (self.tr("Fused norms"), fused["norms"], self.tr("A norm, often with the addition before it, in one operator")),
            (
                self.tr("Joined products"),
                fused["products"],
                self.tr("Products of the same input computed as one: queries, keys and values, or the two ways into an MLP"),
            ),
            (self.tr("Products with packed weights"), products["packed"], self.tr("MatMulNBits: the weights stay 4 or 8 bits in memory")),
            (
                self.tr("Products with widened weights"),
                products["widened"],
                self.tr("Stored as int8, widened when the file is loaded"),
            ),
            (self.tr("Products with dense weights"), products["dense"], self.tr("Weights in floating point")),
            (self.tr("Products of two activations"), products["computed"], self.tr("Nothing to pack: both sides are computed")),
        )
        for at, (words, count, tip) in enumerate(rows):
            name, value = label(words, "caption"), label(fmt_count(count), "caption")
            value.setFont(numbers(12))
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            for widget in (name, value):
                widget.setToolTip(tip)
            grid.addWidget(name, at, 0)
            grid.addWidget(value, at, 1)
        box.addLayout(grid)
        for words in self._why(found, report):
            said = label(words, "caption", wrap=True)
            said.setObjectName("why")
            box.addWidget(said)
        return holder

    def _why(self, found: dict[str, Any], report: dict[str, Any]) -> list[str]:
        out = []
        if problem := self.result_.get("problem"):
            out.append(core_text(problem["template"], **problem["values"]))
        left = (report.get("contents") or {}).get("unquantized") or []
        if left:
            shown = ", ".join(left[:MOST]) + (" …" if len(left) > MOST else "")
            out.append(self.tr("Not quantized, since the variant keeps them dense: {layers}.").format(layers=shown))
        if not report:
            out.append(self.tr("The folder has no report of Spokeshave's, so why it's like that isn't known."))
        elif report.get("profile") == "portable" and report.get("task") == "causal-lm" and not found["fused"]["attention"]:
            out.append(self.tr("Attention isn't fused in the portable profile, which takes batches and padding."))
        if Path(str(self.result_.get("graph"))).name == "decoder.onnx":
            out.append(self.tr("Of the two graphs, this is the decoder's; the encoder's is beside it."))
        out += [note_text(str(note)) for note in report.get("notes") or ()]
        return out

    def _operators(self, found: dict[str, Any]) -> QWidget:
        holder, box = self._section(self.tr("Operators"))
        outside = {name.rpartition(".")[2]: name for name in found["beyond_standard"]}
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        most = max(found["operators"].values(), default=1)
        for at, (name, count) in enumerate(found["operators"].items()):
            named = label(name)
            named.setFont(mono(12))
            if name in outside:
                named.setText(f"{name} *")
                named.setToolTip(
                    self.tr("{name} isn't in the ONNX standard: onnxruntime and what's built on it know it").format(name=outside[name])
                )
            bar = Bar(6, "warn" if name in outside else "accent")
            bar.set_share(count / most)
            value = label(fmt_count(count), "caption")
            value.setFont(numbers(12))
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for column, widget in enumerate((named, bar, value)):
                grid.addWidget(widget, at, column)
        box.addLayout(grid)
        words = self.tr("* not in the ONNX standard: onnxruntime's own") if outside else self.tr("All operators are of the ONNX standard.")
        box.addWidget(label(words, "muted", wrap=True))
        return holder

    def _weights(self, largest: list[dict[str, Any]]) -> QWidget:
        holder, box = self._section(self.tr("Largest weights"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        most = max((one["bytes"] for one in largest), default=1)
        for at, one in enumerate(largest):
            name = ElidedLabel(one["name"], "caption", Qt.TextElideMode.ElideMiddle)
            shape = label(f"{one['type']} " + "\u00d7".join(map(str, one["shape"])), "muted")
            bar = Bar(6)
            bar.setFixedWidth(72)
            bar.set_share(one["bytes"] / most if most else None)
            value = label(fmt_bytes(one["bytes"]), "caption")
            value.setFont(numbers(12))
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for column, widget in enumerate((name, shape, bar, value)):
                grid.addWidget(widget, at, column)
        box.addLayout(grid)
        return holder
