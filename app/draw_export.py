"""Images from an exported diffusion model, above them torch's of the same noise: what deployment will draw, and how fast."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QSpinBox, QWidget

from app.forms import calm_wheel
from app.provider_choice import ProviderChoice
from app.speed_bars import SpeedBars
from app.text import fmt_number
from app.tool_dialog import ToolDialog
from app.widgets import EmptyState, label
from core.records import DrawExportSpec

MOST = 12  # images a row


class DrawDialog(ToolDialog):
    def __init__(self, board: Any, workspace: str, folder: str, variant: str = "", parent: QWidget | None = None):
        self.workspace, self.folder, self.variant = workspace, folder, variant
        super().__init__(
            board,
            "draw_export",
            self.tr("Draw with {name}").format(name=Path(folder).name),
            self.tr("onnxruntime draws with the exported files, and torch with the variant that they were made from, of the same noise."),
            parent,
        )
        self.run_button.setText(self.tr("Draw"))
        self.count = self._number("count", 8, 1, MOST, self.tr("images"), self.tr("How many images"))
        self.steps = self._number("steps", 0, 0, 1000, self.tr("steps"), self.tr("Steps that noise is taken off in; more take longer"))
        self.steps.setSpecialValueText(self.tr("its own steps"))
        self.seed = self._number("seed", 0, 0, 2**31 - 1, "", self.tr("Another seed begins with other noise"))
        self.seed.setPrefix(self.tr("seed") + " ")
        self.provider = ProviderChoice(board)
        row = QHBoxLayout()
        row.setSpacing(8)
        for widget in (self.count, self.steps, self.seed, self.provider):
            row.addWidget(widget)
        row.addStretch(1)
        self.body.addLayout(row)
        self.bars = SpeedBars()
        self.body.addWidget(self.bars)
        self.said = label("", "caption", wrap=True)
        self.said.setObjectName("said")
        self.said.hide()
        self.body.addWidget(self.said)
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setWidget(EmptyState("columns", self.tr("Nothing drawn yet"), self.tr("Press Draw: both begin with the same noise.")))
        self.body.addWidget(self.scroll, 1)
        self.refresh()

    def _number(self, name: str, value: int, low: int, high: int, unit: str, tip: str) -> QSpinBox:
        box = QSpinBox()
        box.setObjectName(name)
        box.setRange(low, high)
        box.setValue(value)
        box.setSuffix(f" {unit}" if unit else "")
        box.setToolTip(tip)
        box.setAccessibleName(tip)
        calm_wheel(box)
        return box

    def start(self) -> None:
        spec = DrawExportSpec(
            workspace=self.workspace,
            folder=self.folder,
            variant=self.variant or None,
            count=self.count.value(),
            steps=self.steps.value() or None,
            seed=self.seed.value(),
            provider=self.provider.chosen(),
        )
        self.submit(spec, self.tr("Draw with {name}").format(name=Path(self.folder).name))

    def finished_with(self, result: dict[str, Any]) -> None:
        spent = result["seconds"]
        rows = [(self.tr("Variant, torch"), 1000 * spent["torch"]), (self.tr("Export, onnxruntime"), 1000 * spent["export"])]
        tip = self.tr("Milliseconds for an image, drawn together with the others")
        self.bars.show_speeds(rows, self.tr("ms an image"), list(result.get("notes") or ()), less=True, tip=tip)
        words = self.tr("Above torch's, below onnxruntime's, in {steps} steps. The largest difference of a pixel is {largest}, of 2.")
        self.said.setText(words.format(steps=result["steps"], largest=fmt_number(result["largest"], 2)))
        self.said.show()
        found = QPixmap()
        found.loadFromData(result["png"])
        picture = QLabel()
        picture.setObjectName("picture")
        room = QSize(max(self.width() - 60, 200), max(self.height() - 280, 120))
        whole = max(1, min(room.width() // max(found.width(), 1), room.height() // max(found.height(), 1)))
        picture.setPixmap(found.scaled(whole * found.size(), Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.FastTransformation))
        picture.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        picture.setAccessibleName(self.said.text())
        self.scroll.setWidget(picture)
