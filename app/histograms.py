"""Histograms: the weights of a quantized layer before and after, with the grid drawn in, and the channels that stand out.

Weights are counted in steps of their own group's grid, so that one picture shows every group: the grid's points are whole numbers
(of float8, its own). Each layer is read by a light job (LayerLookSpec); nothing of the model is read here.
"""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QListWidget, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app import text
from app.notes import note_text
from app.text import failure_text
from app.theme import numbers, theme
from app.widgets import EmptyState, Segmented, button, label, panel
from core.events import Failed, Finished
from core.records import LayerLookSpec

ASK_MS = 120  # a list that's walked through with the arrow keys asks for where it stops
CROWDED = 6  # pixels between two points from which each is drawn by itself
RESCALED = ("awq", "smoothquant")  # methods that move scales between layers before they round


class HistogramDialog(QDialog):
    """Of one quantized variant. Show it with `show()`; it deletes itself when it's closed."""

    def __init__(self, library: Any, board: Any, variant_id: str, parent: QWidget | None = None):
        super().__init__(parent)
        self.library, self.board, self.variant_id = library, board, variant_id
        self.look: dict[str, Any] | None = None
        self._asked = ""
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
        self.ask(None)

    def _make(self) -> None:
        outer = QVBoxLayout(self)
        outer.setContentsMargins(20, 16, 20, 14)
        outer.setSpacing(10)
        outer.addWidget(label(self.windowTitle(), "title"))
        words = self.tr(
            "Weights in steps of their own group's grid: filled, what they were; lines, the points that they were rounded to and how "
            "many went there. What lies beyond the last point was clipped."
        )
        outer.addWidget(label(words, "caption", wrap=True))
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
        foot.addWidget(button(self.tr("Close"), self.close, name="close"))
        outer.addLayout(foot)

    def _make_right(self) -> QWidget:
        self.stack = QStackedWidget()
        self.waiting = EmptyState("quantize", self.tr("Reading the layer…"), self.tr("The weights are read in a worker."))
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
        head.addWidget(label(self.tr("Largest weight of each channel"), "section"))
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

    # -- asking

    def ask(self, layer: str | None) -> None:
        """Asks the worker for a layer (None: the first); an earlier question is forgotten."""
        if self.library.workspace is None:
            return
        if self._asked:
            self.board.forget(self._asked)
        spec = LayerLookSpec(workspace=str(self.library.workspace.folder), variant=self.variant_id, layer=layer)
        self._asked = self.board.ask(spec, self._answered)
        if self.look is None:
            self.stack.setCurrentIndex(0)
        else:
            self.status.setText(self.tr("Reading {layer}…").format(layer=layer))

    def _ask_current(self) -> None:
        item = self.list.currentItem()
        if item is not None and (self.look is None or item.text() != self.look["layer"]):
            self.ask(item.text())

    def _answered(self, event: Any) -> None:
        self._asked = ""
        self.status.setText("")
        if isinstance(event, Finished):
            self.look = event.result
            self._fill()
            self.stack.setCurrentIndex(2)
            self._show()
        elif isinstance(event, Failed):
            sentence, hint = failure_text(event)
            self.none.lines.setText(f"{sentence} {hint}".strip())
            self.stack.setCurrentIndex(1)

    def _fill(self) -> None:
        layers = self.look["layers"]
        if [self.list.item(i).text() for i in range(self.list.count())] != layers:
            self.list.blockSignals(True)
            self.list.clear()
            self.list.addItems(layers)
            for i in range(self.list.count()):
                self.list.item(i).setToolTip(layers[i])
            self.list.blockSignals(False)
            self._filter(self.filter.text())
        if self.list.currentItem() is None:
            self.list.blockSignals(True)
            self.list.setCurrentRow(layers.index(self.look["layer"]))
            self.list.blockSignals(False)

    def _filter(self, words: str) -> None:
        for i in range(self.list.count()):
            item = self.list.item(i)
            item.setHidden(words.strip().lower() not in item.text().lower())

    # -- showing

    def _show(self) -> None:
        if self.look is None:
            return
        look = self.look
        self.title.setText(look["layer"])
        self.facts.setText(self._facts(look))
        self.plot.set_look(look)
        side = look[self.side.current]
        self.channels.set_channels(side)
        named = [self.tr("{index} ({times} the median)").format(index=i, times=f"{text.TIMES}{t:.1f}") for i, _, t in side["outliers"]]
        if named:
            self.outliers.setText(self.tr("Outliers: {channels}").format(channels=", ".join(named)))
        else:
            self.outliers.setText(self.tr("No channel's largest weight is 3 times the median or more."))

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
        super().done(result)


class HistogramPlot(QWidget):
    """Counts of the weights before, as an area, and at each point of the grid after, as lines."""

    def __init__(self) -> None:
        super().__init__()
        self.look: dict[str, Any] | None = None
        self._at: float | None = None
        self.setMinimumHeight(140)
        self.setMouseTracking(True)
        self.setAccessibleName(self.tr("Histogram of the weights"))
        theme().changed.connect(self.update)

    def set_look(self, look: dict[str, Any]) -> None:
        self.look = look
        self.update()

    def area(self) -> QRectF:
        return QRectF(6, 20, self.width() - 12, self.height() - 42)

    def _x(self, step: float) -> float:
        low, high = self.look["edges"]
        return self.area().left() + self.area().width() * (step - low) / (high - low)

    def reading(self) -> str:
        """What lies at the pointer; '' where the pointer is elsewhere."""
        if self._at is None or self.look is None:
            return ""
        points = self.look["grid"]["points"]
        at = min(range(len(points)), key=lambda i: abs(points[i] - self._at))
        return self.tr("Point {point}: {n} weights").format(
            point=f"{points[at]:g}".replace("-", text.MINUS), n=text.fmt_count(self.look["after"][at])
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.look is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t, area, look = theme(), self.area(), self.look
        painter.setPen(QPen(t.color("border"), 1))
        painter.setBrush(t.color("surface2"))
        painter.drawRect(area)
        low, high = look["edges"]
        points, after, dense = look["grid"]["points"], look["after"], look["dense"]
        beyond = t.color("sunken")
        for left, right in ((low, look["grid"]["low"] - 0.5), (look["grid"]["high"] + 0.5, high)):
            if right > left and look["kind"] == "int":
                painter.fillRect(QRectF(self._x(left), area.top(), self._x(right) - self._x(left), area.height()), beyond)
        apart = area.width() / (high - low)
        if dense:
            # both are shares of their own sum in a step, so that the area and the lines have one scale
            per = len(dense) / (high - low)
            heights = [n * per for n in dense]
            top = max(max(heights), max(after) if look["kind"] == "int" else 0, 1)
            path = QPainterPath(QPointF(area.left(), area.bottom()))
            for i, height in enumerate(heights):
                x0, x1 = area.left() + area.width() * i / len(dense), area.left() + area.width() * (i + 1) / len(dense)
                y = area.bottom() - (area.height() - 6) * height / top
                path.lineTo(x0, y)
                path.lineTo(x1, y)
            path.lineTo(area.right(), area.bottom())
            fill = t.color("accent")
            fill.setAlphaF(0.3)
            painter.setPen(QPen(t.color("accent"), 1))
            painter.setBrush(fill)
            painter.drawPath(path)
        else:
            top = max(*after, 1)
        if look["kind"] == "float":
            top = max(*after, 1)  # float8's points lie closer together towards 0, so counts a point are a scale of their own
        place = lambda point, count: QPointF(self._x(point), area.bottom() - (area.height() - 6) * count / top)
        if apart < CROWDED and look["kind"] == "int":
            line = QPainterPath(QPointF(self._x(points[0] - 0.5), area.bottom()))
            for point, count in zip(points, after, strict=True):
                line.lineTo(self._x(point - 0.5), place(point, count).y())
                line.lineTo(self._x(point + 0.5), place(point, count).y())
            line.lineTo(self._x(points[-1] + 0.5), area.bottom())
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(t.color("kind_quantized"), 1.6))
            painter.drawPath(line)
        else:
            self._paint_stems(painter, area, points, after, place, apart)
        self._paint_words(painter, area, points, apart)
        painter.end()

    def _paint_stems(self, painter: QPainter, area: QRectF, points: list[float], after: list[int], place: Any, apart: float) -> None:
        """The grid as dotted lines, and on it what went to each point."""
        stem = theme().color("kind_quantized")
        for point, count in zip(points, after, strict=True):
            top = place(point, count)
            if self.look["kind"] == "int":
                painter.setPen(QPen(theme().color("border_strong"), 1, Qt.PenStyle.DotLine))
                painter.drawLine(QPointF(top.x(), area.top() + 1), QPointF(top.x(), area.bottom()))
            if not count:
                continue
            painter.setPen(QPen(stem, 2.4 if apart >= 8 else 1.2))
            painter.drawLine(QPointF(top.x(), area.bottom()), top)
            if apart >= 14:
                painter.setBrush(stem)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.drawEllipse(top, 3, 3)

    def _paint_words(self, painter: QPainter, area: QRectF, points: list[float], apart: float) -> None:
        t = theme()
        painter.setFont(numbers(11))
        painter.setPen(t.color("text2"))
        every = max(1, math.ceil(34 / max(apart, 0.01)))
        marks = [p for p in points if int(p) % every == 0] if self.look["kind"] == "int" else [points[0], 0.0, points[-1]]
        for point in marks:
            box = QRectF(self._x(point) - 26, area.bottom() + 3, 52, 15)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignHCenter), f"{point:g}".replace("-", text.MINUS))
        x = area.left()
        legend = [("accent", self.tr("before"))] if self.look["dense"] else []
        for color, words in (*legend, ("kind_quantized", self.tr("after, at each point"))):
            painter.fillRect(QRectF(x, 6, 12, 8), t.color(color))
            painter.setPen(t.color("text2"))
            painter.drawText(QPointF(x + 17, 14), words)
            x += 17 + painter.fontMetrics().horizontalAdvance(words) + 16
        painter.setPen(t.color("text"))
        reading = self.reading() or self.tr("steps of the grid")
        painter.drawText(QRectF(area.left(), 2, area.width(), 15), int(Qt.AlignmentFlag.AlignRight), reading)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        area = self.area()
        inside = self.look is not None and area.contains(event.position())
        low, high = self.look["edges"] if self.look else (0, 1)
        self._at = low + (high - low) * (event.position().x() - area.left()) / area.width() if inside else None
        self.update()

    def leaveEvent(self, event: Any) -> None:
        self._at = None
        self.update()


class ChannelPlot(QWidget):
    """The largest |weight| of each channel as bars, the median as a line, outliers in another colour and with their number."""

    def __init__(self) -> None:
        super().__init__()
        self.channels: dict[str, Any] | None = None
        self.setMinimumHeight(90)
        self.setAccessibleName(self.tr("Largest weight of each channel"))
        theme().changed.connect(self.update)

    def set_channels(self, channels: dict[str, Any]) -> None:
        self.channels = channels
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.channels or not self.channels["largest"]:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        t, found = theme(), self.channels
        area = QRectF(6, 16, self.width() - 12, self.height() - 34)
        painter.setPen(QPen(t.color("border"), 1))
        painter.setBrush(t.color("surface2"))
        painter.drawRect(area)
        top = max(found["largest"]) or 1.0
        wide = area.width() / len(found["largest"])
        far = {index // found["joined"]: index for index, _, _ in found["outliers"]}
        painter.setFont(numbers(11))
        for at, value in enumerate(found["largest"]):
            high = (area.height() - 4) * value / top
            bar = QRectF(area.left() + at * wide, area.bottom() - high, max(wide - 0.5, 0.8), high)
            painter.fillRect(bar, t.color("rejected_edge" if at in far else "accent"))
        y = area.bottom() - (area.height() - 4) * found["median"] / top
        painter.setPen(QPen(t.color("text2"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        painter.setPen(t.color("text2"))
        words = self.tr("median {median} (dashed), largest {largest}").format(
            median=text.fmt_number(found["median"], 3), largest=text.fmt_number(top, 3)
        )
        painter.drawText(QRectF(area.left(), 0, area.width(), 14), int(Qt.AlignmentFlag.AlignRight), words)
        foot = QRectF(area.left(), area.bottom() + 2, area.width(), 15)
        painter.drawText(foot, int(Qt.AlignmentFlag.AlignLeft), "0")
        painter.drawText(foot, int(Qt.AlignmentFlag.AlignRight), str(found["count"] - 1))
        painter.setPen(t.color("rejected_edge"))
        last = -1e9
        for at, index in sorted(far.items()):
            x = area.left() + (at + 0.5) * wide
            if x - last > 34 and 24 < x - area.left() < area.width() - 40:
                painter.drawText(QRectF(x - 24, area.bottom() + 2, 48, 15), int(Qt.AlignmentFlag.AlignHCenter), str(index))
                last = x
        painter.end()
