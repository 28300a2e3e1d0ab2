"""The trade-off plot: what each variant costs (left to right) against how good it is (up is better, whichever measure).

Covers the choice of axes, the legend, the notes and the empty states. The drawing is tradeoff_plot's, made when there's
something to draw and the window has been shown; what may be compared is the library's decision.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app import text
from app.library_model import Library, running
from app.measures import measure
from app.theme import kind_path, theme, ui_font
from app.widgets import EmptyState, button, label, tool_button
from core.events import TERMINAL, Progress, Queued, Started
from core.records import Variant

if TYPE_CHECKING:
    from app.plots.tradeoff_plot import TradeoffPlot

Y_KINDS = ("perplexity", "kl", "agreement", "cosine", "accuracy", "bits_per_byte", "frechet", "image_accuracy")
KINDS = ("original", "pruned", "quantized", "distilled", "combined")


class TradeoffView(QFrame):
    """The plot in its panel. Asks for what it can't do itself by signals."""

    decode_wanted = Signal(str)
    open_wanted = Signal()
    starter_wanted = Signal()
    evaluate_wanted = Signal(str)
    menu_wanted = Signal(str, object)  # variant, global position

    def __init__(self, library: Library, board: Any):
        super().__init__()
        self.setProperty("panel", True)
        self.library, self.board = library, board
        self._plot: TradeoffPlot | None = None
        self._painted = False

        self.x_choice, self.y_choice = QComboBox(), QComboBox()
        for kind, words in (
            ("disk", self.tr("Size on disk")),
            ("parameters", self.tr("Parameters")),
            ("memory", self.tr("Resident memory")),
            ("speed", self.tr("Decode speed")),
            ("prefill", measure("prefill").title),
            ("draw", measure("draw").title),
        ):
            self.x_choice.addItem(words, kind)
        for kind in Y_KINDS:
            self.y_choice.addItem(measure(kind).title, kind)
        for box, name, tip in (
            (self.x_choice, "x_axis", self.tr("What the horizontal axis shows")),
            (self.y_choice, "y_axis", self.tr("What the vertical axis shows")),
        ):
            box.setObjectName(name)
            box.setToolTip(tip)
            box.setAccessibleName(tip)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.budget = QComboBox()
        self.budget.setObjectName("budget")
        self.budget.setToolTip(self.tr("A line that you drag: the best variant within it is marked"))
        self.budget.setAccessibleName(self.tr("Budget line"))
        for key, words in (("", self.tr("No budget")), ("x", self.tr("Budget across")), ("y", self.tr("Budget upwards"))):
            self.budget.addItem(words, key)
        self.budget.setProperty("flat", True)
        self.budget.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self._against = label(self.tr("against"), "caption")
        tip = self.tr("Show everything again (double-click an empty place)")
        self._reset = tool_button("expand_view", tip, lambda: self.plot.reset_view())
        self.legend = Legend()

        self._head = QHBoxLayout()
        self._head.setSpacing(6)
        for w in (self.y_choice, self._against, self.x_choice):
            self._head.addWidget(w)
        self._head.addStretch(1)
        self._head.addWidget(self._reset)
        below = QHBoxLayout()
        below.setSpacing(6)
        below.addWidget(self.legend, 1)
        below.addWidget(self.budget)
        self.note = QLabel()
        self.note.setProperty("role", "muted")
        self.note.setWordWrap(True)
        self.note.setTextFormat(Qt.TextFormat.RichText)
        links = Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        self.note.setTextInteractionFlags(links)
        self.note.linkActivated.connect(self._follow)
        self.note.setMinimumWidth(1)

        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(14, 10, 10, 8)
        box.setSpacing(4)
        box.addLayout(self._head)
        box.addLayout(below)
        self._plot_stack = QStackedWidget()
        box.addWidget(self._plot_stack, 1)
        box.addWidget(self.note)

        self.empty = EmptyState(
            "cube",
            self.tr("No models yet"),
            self.tr("Open a model to see how small it can get.\nDrop a folder or a .gguf file here."),
            (
                button(self.tr("Open a model…"), self.open_wanted.emit, name="empty_open", primary=True),
                button(self.tr("Open the starter models"), self.starter_wanted.emit, name="empty_starter"),
            ),
        )
        self.opening = EmptyState("import", "", "")
        self._unmeasured_button = button(self.tr("Evaluate…"), self._evaluate, name="plot_evaluate", primary=True)
        self.unmeasured = EmptyState("evaluate", self.tr("Nothing to plot on these axes"), "", (self._unmeasured_button,))
        self._stack = QStackedWidget()
        for each in (self.empty, self.opening, page):
            self._stack.addWidget(each)
        self._soon = QWidget()  # where the plot will be
        self._plot_stack.addWidget(self._soon)
        self._plot_stack.addWidget(self.unmeasured)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(1, 1, 1, 1)
        outer.addWidget(self._stack)

        self.x_choice.currentIndexChanged.connect(self._axes_chosen)
        self.y_choice.currentIndexChanged.connect(self._axes_chosen)
        self.budget.currentIndexChanged.connect(lambda: self.plot.set_budget(self.budget.currentData()))
        library.changed.connect(self.refresh)
        library.opened.connect(self._fit_axes)
        board.event.connect(self._on_event)
        self._chosen = False
        self._fit_axes()

    @property
    def plot(self) -> TradeoffPlot:
        """The drawing, made when it's first asked for: pyqtgraph takes a third of a second, which an empty window needn't wait."""
        if self._plot is None:
            from app.plots.tradeoff_plot import TradeoffPlot

            self._plot = TradeoffPlot(self.library, self.board)
            self._plot.decode_wanted.connect(self.decode_wanted)
            self._plot.menu_wanted.connect(self.menu_wanted)
            self._plot_stack.addWidget(self._plot)
            QWidget.setTabOrder(self.budget, self._plot)
            self.refresh()
            self._plot_stack.layout().activate()
        return self._plot

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.refresh)  # the window is on the screen: now there's time for the plot

    # -- what's shown

    def _axes_chosen(self) -> None:
        self._chosen = True
        self.refresh()

    def _fit_axes(self) -> None:
        """The measure that most variants have, until a person chooses one."""
        self._chosen = False
        self.refresh()

    def refresh(self) -> None:
        variants = self.library.variants()
        have = {kind: len(self.library.scores(kind)) for kind in Y_KINDS}
        if not self._chosen:
            best = max(Y_KINDS, key=lambda kind: (have[kind], -Y_KINDS.index(kind)))
            self.y_choice.blockSignals(True)
            self.y_choice.setCurrentIndex(self.y_choice.findData(best if have[best] else "perplexity"))
            self.y_choice.blockSignals(False)
        for row in range(self.y_choice.count()):  # measures that nothing has been given yet can be seen, not chosen
            item = self.y_choice.model().item(row)
            item.setEnabled(bool(have[self.y_choice.itemData(row)]) or row == self.y_choice.currentIndex())
        plot = self.plot if have[self.y_choice.currentData()] and self._painted else self._plot
        if plot is not None:
            plot.set_axes(self.x_choice.currentData(), self.y_choice.currentData())
        dots = plot.dots if plot is not None else []
        self.legend.show_kinds({v.kind for v in variants}, hollow=any(not d.comparable for d in dots))
        self._show_page(variants)
        self._say_whats_missing(variants)

    def _show_page(self, variants: list[Variant]) -> None:
        importing = [s for s in running(self.board, self.library) if s.job.kind == "import"]
        if variants:
            self._stack.setCurrentIndex(2)
            if self._plot is not None:
                there = bool(self._plot.dots or self._plot.ghosts)
                self._plot_stack.setCurrentWidget(self._plot if there else self.unmeasured)
            else:
                figures = self.library.scores(self.y_choice.currentData())
                self._plot_stack.setCurrentWidget(self._soon if figures else self.unmeasured)
            what = measure(self.y_choice.currentData()).title
            self.unmeasured.lines.setText(
                self.tr("No variant has both figures: {y} and {x}. Measuring one gives the plot its first point.").format(
                    y=what, x=self.x_choice.currentText()
                )
            )
        elif importing:
            state = next((s for s in importing if s.status == "running"), importing[0])
            self.opening.title.setText(state.job.title)
            stage = text.core_text(state.stage) if state.stage else self.tr("Waiting for its turn")
            share = f" {100 * state.done / state.total:.0f} %" if state.total else ""
            self.opening.lines.setText(stage + share + "\n" + self.tr("Its first point appears here when it has been measured."))
            self._stack.setCurrentIndex(1)
        else:
            self._stack.setCurrentIndex(0)

    def _say_whats_missing(self, variants: list[Variant]) -> None:
        dots = self._plot.dots if self._plot is not None else []
        shown = {d.variant.id for d in dots}
        # an original isn't compared with itself, so nothing is missing there
        of_itself = self.y_choice.currentData() in ("kl", "agreement", "cosine")
        unseen = [v for v in variants if v.id not in shown and not (of_itself and v.parent is None)]
        missing = [v.name for v in unseen]
        lines = []
        if missing and shown:
            what = measure(self.y_choice.currentData()).title
            names = ", ".join(missing[:3]) + ("…" if len(missing) > 3 else "")
            said = self.tr("Not shown, for want of a figure ({what}): {names}").format(what=what, names=names)
            lines.append(html.escape(said, quote=False) + self._link_to_another(unseen))
        if any(not d.comparable for d in dots):
            lines.append(self.tr("Hollow points were measured under other conditions: they can't be compared with the rest."))
        if link := self._link_to_steps():
            lines.append(link)
        if self._plot is not None and self._plot.courses:
            lines.append(html.escape(self.tr("Small points: the same model in so many steps."), quote=False))
        self.note.setText(" &nbsp; ".join(lines))
        self.note.setVisible(bool(lines))

    def _link_to_another(self, unseen: list[Variant]) -> str:
        """A link to the figure that those left out do have: a classifier has accuracy, and no perplexity."""
        kinds = [k for v in unseen if (k := self.library.score_kind(v)) in Y_KINDS and v.id in self.library.scores(k)]
        if not kinds or kinds[0] == self.y_choice.currentData():
            return ""
        words = self.tr("Show: {what}").format(what=measure(kinds[0]).title)
        return f' · <a href="{kinds[0]}" style="color:{theme().color("accent").name()}">{html.escape(words)}</a>'

    def _follow(self, kind: str) -> None:
        """A link of the note: the axis that has that figure shows it."""
        box = self.y_choice if kind in Y_KINDS else self.x_choice
        box.setCurrentIndex(box.findData(kind))

    def _link_to_steps(self) -> str:
        """A link to quality against the number of steps, where a model was measured in several and the plot doesn't show it."""
        kind = self.y_choice.currentData()
        drawn = kind in ("frechet", "image_accuracy") and self.x_choice.currentData() != "draw"
        if not drawn or not any(len(self.library.by_steps(v.id, kind)) > 1 for v in self.library.variants()):
            return ""
        words = html.escape(self.tr("Show each number of steps, against drawing speed"))
        return f'<a href="draw" style="color:{theme().color("accent").name()}">{words}</a>'

    def _evaluate(self) -> None:
        variants = self.library.variants()
        self.evaluate_wanted.emit(self.library.selection or (variants[0].id if variants else ""))

    def _on_event(self, event: Any) -> None:
        if isinstance(event, (*TERMINAL, Queued, Started)) or (isinstance(event, Progress) and self._stack.currentIndex() == 1):
            if self._plot is not None:
                self._plot.refresh_ghosts()
            self._show_page(self.library.variants())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._against.setVisible(self.width() > 470)


class Legend(QWidget):
    """The shapes of the kinds, the front, and what hollow means; drops its words where there's no room."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(22)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._kinds: list[str] = []
        self._hollow = False
        theme().changed.connect(self.update)

    def show_kinds(self, kinds: set[str], *, hollow: bool) -> None:
        self._kinds, self._hollow = [k for k in KINDS if k in kinds], hollow
        self.setToolTip("\n".join(words for _, words in self._entries()))
        self.update()

    def _entries(self) -> list[tuple[str, str]]:
        out = [(kind, text.kind_name(kind)) for kind in self._kinds]
        out.append(("front", self.tr("Pareto front")))
        if self._hollow:
            out.append(("hollow", self.tr("Other conditions")))
        return out

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(ui_font(12))
        metrics = QFontMetricsF(ui_font(12))
        entries = self._entries()
        worded = sum(metrics.horizontalAdvance(words) + 38 for _, words in entries) - 16 < self.width()
        x, middle = 4.0, self.height() / 2
        for key, words in entries:
            center = QPointF(x + 7, middle)
            if key == "front":
                painter.setPen(QPen(theme().color("accent"), 1.8))
                painter.drawLine(QPointF(x - 1, middle), QPointF(x + 15, middle))
            elif key == "hollow":
                painter.setPen(QPen(theme().color("text2"), 1.3, Qt.PenStyle.DotLine))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(center, 5, 5)
            else:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme().kind_color(key))
                painter.drawPath(kind_path(key, center, 11))
            x += 22
            if worded:
                painter.setPen(theme().color("text2"))
                painter.drawText(QRectF(x, 0, 300, self.height()), int(Qt.AlignmentFlag.AlignVCenter), words)
                x += metrics.horizontalAdvance(words) + 16
        painter.end()
