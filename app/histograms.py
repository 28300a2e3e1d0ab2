"""Histograms: the weights of a quantized layer before and after, what a layer is fed, the grid drawn in, channels that stand out.

Weights are counted in steps of their own group's grid, so that one picture shows every group: the grid's points are whole numbers
(of float8, its own). Each layer is read by a light job (LayerLookSpec). Activations are counted by a job that reads a text with the
whole model (ActivationLookSpec) and keeps what it found in the variant's folder; nothing of the model is read here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QDialog, QFileDialog, QHBoxLayout, QLineEdit, QListWidget, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app import text
from app.notes import note_text
from app.plots.histogram import ChannelPlot, HistogramPlot
from app.text import core_text, failure_text
from app.widgets import Bar, EmptyState, Segmented, button, label, panel
from core.events import TERMINAL, Failed, Finished, Progress
from core.records import ActivationLookSpec, LayerLookSpec

ASK_MS = 120  # a list that's walked through with the arrow keys asks for where it stops
RESCALED = ("awq", "smoothquant")  # methods that move scales between layers before they round


def activations_of(folder: Path) -> dict[str, Any] | None:
    """The latest look at activations that a variant's folder keeps; None where there's none that can be read."""
    for path in sorted(folder.glob("activations-*.json"), key=lambda p: -p.stat().st_mtime):
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError:  # cut off in the middle: it's looked at again then
            continue
    return None


class HistogramDialog(QDialog):
    """Of one variant; weights only where it's quantized. Show it with `show()`; it deletes itself when it's closed."""

    def __init__(self, library: Any, board: Any, variant_id: str, parent: QWidget | None = None):
        super().__init__(parent)
        self.library, self.board, self.variant_id = library, board, variant_id
        self.look: dict[str, Any] | None = None
        self.kept: dict[str, Any] | None = None  # the look at activations
        self._asked = self._job = ""
        self._chosen = ""  # the layer that's wanted, whichever of the two is shown
        self.setObjectName("histograms")
        v = library.get(variant_id)
        self.setWindowTitle(self.tr("Layers of {name}").format(name=v.name if v else variant_id))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self._make()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(ASK_MS)
        self._soon.timeout.connect(self._ask_current)
        room = self.screen().availableGeometry().size() if self.screen() else QSize(1024, 700)
        self.setMinimumSize(QSize(640, 460).boundedTo(room))
        self.resize(QSize(960, 660).boundedTo(room - QSize(24, 48)))
        board.event.connect(self._on_event)
        if v is None or v.info.quantization:
            self.ask(None)
        else:
            self.about.buttons["weights"].setEnabled(False)
            self.about.buttons["weights"].setToolTip(self.tr("It isn't quantized, so its weights lie on no grid."))
            self.show_about("activations")

    def _make(self) -> None:
        outer = QVBoxLayout(self)
        outer.setContentsMargins(20, 16, 20, 14)
        outer.setSpacing(10)
        head = QHBoxLayout()
        head.addWidget(label(self.windowTitle(), "title"), 1)
        self.about = Segmented((("weights", self.tr("Weights")), ("activations", self.tr("Activations"))))
        self.about.chosen.connect(self.show_about)
        head.addWidget(self.about)
        outer.addLayout(head)
        self.sentences = label("", "caption", wrap=True)
        outer.addWidget(self.sentences)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setHandleWidth(8)
        splitter.setChildrenCollapsible(False)
        outer.addWidget(splitter, 1)
        left = panel()
        box = QVBoxLayout(left)
        box.setContentsMargins(10, 10, 10, 10)
        box.setSpacing(6)
        self.filter = QLineEdit()
        self.filter.setObjectName("filter")
        self.filter.setPlaceholderText(self.tr("Find a layer"))
        self.filter.setAccessibleName(self.tr("Find a layer"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._filter)
        box.addWidget(self.filter)
        self.list = QListWidget()
        self.list.setObjectName("layers")
        self.list.setAccessibleName(self.tr("Layers"))
        self.list.setTextElideMode(Qt.TextElideMode.ElideLeft)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentRowChanged.connect(lambda _: self._soon.start())
        box.addWidget(self.list, 1)
        splitter.addWidget(left)
        splitter.addWidget(self._make_right())
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([250, 680])
        foot = QHBoxLayout()
        self.status = label("", "caption", wrap=True)
        self.status.setObjectName("status")
        foot.addWidget(self.status, 1)
        self.other_text = button(self.tr("Another text…"), self._choose_text, name="other_text")
        self.other_text.setToolTip(self.tr("Looks at the activations again, as a text of your own makes them"))
        self.other_text.setAutoDefault(False)
        foot.addWidget(self.other_text)
        foot.addWidget(button(self.tr("Close"), self.close, name="close"))
        outer.addLayout(foot)
        self._say_what()

    def _make_right(self) -> QWidget:
        self.stack = QStackedWidget()
        self.waiting = EmptyState("columns", "", "")
        self.bar = Bar(4)
        self.bar.setFixedWidth(260)
        self.waiting.layout().insertWidget(5, self.bar, 0, Qt.AlignmentFlag.AlignHCenter)
        self.none = EmptyState("warning", self.tr("Nothing to show"), "")
        page = panel()
        box = QVBoxLayout(page)
        box.setContentsMargins(14, 10, 14, 10)
        box.setSpacing(6)
        self.title = label("", "section", wrap=True)
        self.title.setObjectName("layer")
        self.facts = label("", "caption", wrap=True)
        self.facts.setObjectName("facts")
        box.addWidget(self.title)
        box.addWidget(self.facts)
        self.plot = HistogramPlot()
        box.addWidget(self.plot, 3)
        head = QHBoxLayout()
        self.channels_title = label("", "section")
        head.addWidget(self.channels_title)
        head.addStretch(1)
        self.side = Segmented((("columns", self.tr("Inputs")), ("rows", self.tr("Outputs"))))
        self.side.chosen.connect(lambda _: self._show())
        head.addWidget(self.side)
        box.addLayout(head)
        self.channels = ChannelPlot()
        box.addWidget(self.channels, 2)
        self.outliers = label("", "caption", wrap=True)
        self.outliers.setObjectName("outliers")
        box.addWidget(self.outliers)
        for w in (self.waiting, self.none, page):
            self.stack.addWidget(w)
        return self.stack

    # -- weights or activations

    def show_about(self, about: str) -> None:
        """'weights' or 'activations'; what isn't known yet is asked for."""
        self.about.set_current(about)
        self._say_what()
        if about == "weights":
            if self.look is None:
                self.ask(self._chosen or None)
            else:
                self._fill()
                self.stack.setCurrentIndex(2)
                self._ask_current()
                self._show()
            return
        v = self.library.get(self.variant_id)
        if self.kept is None and v is not None and self.library.workspace:
            self.kept = activations_of(self.library.workspace.path(self.variant_id))
        if self.kept is not None:
            self._fill()
            self.stack.setCurrentIndex(2)
            self._show()
        elif not self._job:
            self.measure(None)
        else:
            self._wait()

    def _say_what(self) -> None:
        weights = self.about.current == "weights"
        self.sentences.setText(
            self.tr(
                "Weights in steps of their own group's grid: filled, what they were; lines, the points that they were rounded to and how "
                "many went there. What lies beyond the last point was clipped."
            )
            if weights
            else self.tr(
                "What goes into each layer as the model reads a text, in steps of the grid that rounds it: filled, in the model that it "
                "was made from; line, at each point of the grid now. One large channel stretches the grid, and the others fall to 0."
            )
        )
        self.channels_title.setText(self.tr("Largest weight of each channel") if weights else self.tr("Largest of each input channel"))
        self.side.setVisible(weights)
        self.other_text.setVisible(not weights)

    def _wait(self) -> None:
        weights = self.about.current == "weights"
        self.waiting.title.setText(self.tr("Reading the layer…") if weights else self.tr("Reading a text…"))
        self.waiting.lines.setText(
            self.tr("The weights are read in a worker.")
            if weights
            else self.tr("The model runs in a worker; what goes into each layer is counted.")
        )
        self.bar.set_share(None)
        self.bar.setVisible(not weights)
        self.stack.setCurrentIndex(0)

    # -- asking

    def ask(self, layer: str | None) -> None:
        """Asks the worker for a layer's weights (None: the first); an earlier question is forgotten."""
        if self.library.workspace is None:
            return
        if self._asked:
            self.board.forget(self._asked)
        spec = LayerLookSpec(workspace=str(self.library.workspace.folder), variant=self.variant_id, layer=layer)
        self._asked = self.board.ask(spec, self._answered)
        if self.look is None:
            self._wait()
        else:
            self.status.setText(self.tr("Reading {layer}…").format(layer=layer))

    def _ask_current(self) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        self._chosen = item.text()
        if self.about.current == "activations":
            self._show()
        elif self.look is None or item.text() != self.look["layer"]:
            self.ask(item.text())

    def _answered(self, event: Any) -> None:
        self._asked = ""
        self.status.setText("")
        if isinstance(event, Finished):
            self.look = event.result
            self._chosen = self.look["layer"]
            if self.about.current == "weights":
                self._fill()
                self.stack.setCurrentIndex(2)
                self._show()
        elif isinstance(event, Failed) and self.about.current == "weights":
            self._tell(event)

    def _tell(self, event: Failed) -> None:
        sentence, hint = failure_text(event)
        self.none.lines.setText(f"{sentence} {hint}".strip())
        self.stack.setCurrentIndex(1)

    # -- activations

    def measure(self, path: str | None) -> None:
        """Starts the job that looks at the activations; path: the text, None for the starter's."""
        v = self.library.get(self.variant_id)
        if v is None or self.library.workspace is None:
            return
        if self._job:
            self.board.cancel(self._job)
        spec = ActivationLookSpec(workspace=str(self.library.workspace.folder), variant=self.variant_id, text=path)
        self._job = self.board.submit(spec, self.tr("Activations of {name}").format(name=v.name))
        self._wait()

    def _choose_text(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, self.tr("Choose a text"), "", self.tr("Text files (*.txt *.md *.text);;All files (*)"))
        if path:
            self.measure(path)

    def _on_event(self, event: Any) -> None:
        if not self._job or event.job != self._job:
            return
        if isinstance(event, Progress) and self.about.current == "activations":
            self.waiting.lines.setText(" · ".join(p for p in (core_text(event.stage), event.note, text.fmt_left(event.left)) if p))
            self.bar.set_share(event.done / event.total if event.total else None)
        elif isinstance(event, TERMINAL):
            self._job = ""
            if isinstance(event, Finished):
                self.kept = json.loads(Path(event.result["file"]).read_text(encoding="utf-8"))
                if self.about.current == "activations":
                    self.show_about("activations")
            elif self.about.current == "activations":
                if isinstance(event, Failed):
                    self._tell(event)
                else:
                    self.none.lines.setText(self.tr("It was cancelled."))
                    self.stack.setCurrentIndex(1)

    def _fill(self) -> None:
        layers = self.look["layers"] if self.about.current == "weights" else list(self.kept["layers"])
        wanted = self._chosen if self._chosen in layers else layers[0]
        self.list.blockSignals(True)
        if [self.list.item(i).text() for i in range(self.list.count())] != layers:
            self.list.clear()
            self.list.addItems(layers)
            for i in range(self.list.count()):
                self.list.item(i).setToolTip(layers[i])
            self._filter(self.filter.text())
        self.list.setCurrentRow(layers.index(wanted))
        self.list.blockSignals(False)

    def _filter(self, words: str) -> None:
        for i in range(self.list.count()):
            item = self.list.item(i)
            item.setHidden(words.strip().lower() not in item.text().lower())

    # -- showing

    def _show(self) -> None:
        if self.about.current == "activations":
            self._show_activations()
            return
        if self.look is None:
            return
        look = self.look
        self.title.setText(look["layer"])
        self.facts.setText(self._facts(look))
        self.plot.set_look(look)
        side = look[self.side.current]
        self.channels.set_channels(side)
        self.outliers.setText(self._outliers(side) or self.tr("No channel's largest weight is 3 times the median or more."))

    def _outliers(self, channels: dict[str, Any]) -> str:
        named = [self.tr("{index} ({times} the median)").format(index=i, times=f"{text.TIMES}{t:.1f}") for i, _, t in channels["outliers"]]
        return self.tr("Outliers: {channels}").format(channels=", ".join(named)) if named else ""

    def _show_activations(self) -> None:
        item = self.list.currentItem()
        if self.kept is None or item is None:
            return
        look = self.kept["layers"][item.text()]
        self.title.setText(item.text())
        self.facts.setText(self._activation_facts(look))
        before = self.tr("before") if look["was"] else self.tr("as it is")
        after = self.tr("now, at each point") if look["rounded"] else self.tr("if it were rounded so")
        self.plot.set_look(look, log=True, words=(before, after, self.tr("Point {point}: {n} activations")))
        now, was = look["now"]["channels"], look["was"]["channels"] if look["was"] else None
        self.channels.set_channels(now, was)
        words = self._outliers(now) or self.tr("No channel's largest activation is 3 times the median or more.")
        if was is not None and was["outliers"]:
            said = self.tr("before, {index} had {times} the median")
            words += " · " + said.format(index=was["outliers"][0][0], times=f"{text.TIMES}{was['outliers'][0][2]:.1f}")
        self.outliers.setText(words)
        worst = max(self.kept["layers"], key=lambda name: self.kept["layers"][name]["now"]["error"])
        error = text.fmt_percent(self.kept["layers"][worst]["now"]["error"], 2)
        self.status.setText(self.tr("The largest error of all layers: {layer}, {error}").format(layer=worst, error=error))

    def _activation_facts(self, look: dict[str, Any]) -> str:
        grid = self.tr("float8") if look["kind"] == "float" else self.tr("{n} bits").format(n=look["bits"])
        scale = self.tr("a scale a token") if look["dynamic"] else self.tr("one fixed scale")
        how = self.tr("symmetric") if look["symmetric"] else self.tr("with an offset")
        parts = [self.tr("{n} channels").format(n=look["width"]), self.tr("{n} tokens").format(n=text.fmt_count(look["tokens"]))]
        parts += [grid, scale, how]
        if not look["rounded"]:
            parts = [
                *parts[:2],
                self.tr("not rounded in this variant; what {grid}, {scale}, would make of it").format(grid=grid, scale=scale),
            ]
        for words, key in ((self.tr("error"), "error"), (self.tr("rounded to 0"), "zeros"), (self.tr("clipped"), "clipped")):
            now, was = look["now"][key], look["was"][key] if look["was"] else None
            if key == "clipped" and not now and not was:
                continue
            before = f" ({self.tr('before: {value}').format(value=text.fmt_percent(was, 2))})" if was is not None else ""
            parts.append(f"{words} {text.fmt_percent(now, 2)}{before}")
        if self.kept["before"]:
            parts.append(self.tr("before: {name}").format(name=self.kept["before"]))
        parts.append(self.tr("text: {name}").format(name=self.kept["conditions"]["text"]))
        return " · ".join(parts)

    def _facts(self, look: dict[str, Any]) -> str:
        kind = self.tr("float8") if look["kind"] == "float" else self.tr("{n} bits").format(n=look["bits"])
        group = self.tr("a scale for {n} columns").format(n=look["group_size"]) if look["group_size"] else self.tr("a scale a row")
        parts = [f"{look['shape'][0]} {text.TIMES} {look['shape'][1]}", kind, group]
        parts.append(self.tr("symmetric") if look["symmetric"] else self.tr("with an offset"))
        if look["error"] is not None:
            parts.append(self.tr("error of the weights {error}").format(error=text.fmt_percent(look["error"], 2)))
        if look["clipped"] is not None:
            parts.append(self.tr("clipped {share}").format(share=text.fmt_percent(look["clipped"], 2)))
        if look["dense"] is None:
            parts.append(note_text(look["why"]))
        elif look.get("before"):
            parts.append(self.tr("before: {name}").format(name=look["before"]))
        v = self.library.get(self.variant_id)
        if v is not None and v.method in RESCALED and look["dense"] is not None:
            parts.append(self.tr("rescaled before it was rounded, so what it was isn't on the same scale"))
        return " · ".join(parts)

    def done(self, result: int) -> None:
        if self._asked:
            self.board.forget(self._asked)
            self._asked = ""
        if self._job:
            self.board.cancel(self._job)
            self._job = ""
        super().done(result)
