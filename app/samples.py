"""Samples of a training: what teacher and student say, find or draw of the same things, side by side, step by step.

`SamplesView` follows a job of the board and lets a person go back to earlier steps; `table` is one step's samples, for any place. Of text,
what the student says as the teacher would is tinted, where the two first part is framed by another tint and a bar, and what the teacher
wouldn't have said there is underlined.
"""

from __future__ import annotations

import html
from typing import Any

from PySide6.QtCore import QCoreApplication, QRect, QSignalBlocker, QSize, Qt, QTimer
from PySide6.QtGui import QIcon, QKeySequence, QPainter, QPaintEvent, QPixmap, QResizeEvent, QShortcut, QTransform
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QSlider,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app import text
from app.theme import icon, theme
from app.widgets import ElidedLabel, EmptyState, label, tool_button
from core.events import Classed, Drawn, Said, Samples

REDRAW_MS = 120
NARROW = 600  # pixels, below which what the tints mean is told by the tooltip alone
PARTS = "▏"  # stands before the token where the two part


class SamplesView(QWidget):
    """The samples of the job given by `show_job`. It stays at the latest step unless a person went to another."""

    def __init__(self, board: Any, *, opens: bool = True):
        super().__init__()
        self.board, self.job = board, ""
        self._opens = opens
        self._at = -1  # of the samples; -1: the latest
        self._shown: Any = None
        self.empty = EmptyState(
            "log", self.tr("No samples"), self.tr("A training shows here what teacher and student say after the same beginnings.")
        )
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(4)
        head = QHBoxLayout()
        head.setSpacing(8)
        self.back = tool_button("chevron", self.tr("The samples before"), lambda: self._go(-1), px=12)
        self.back.setObjectName("earlier")
        self.back.setIcon(_mirrored())
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName("sample_step")
        self.slider.setAccessibleName(self.tr("Step whose samples are shown"))
        self.slider.setFixedWidth(150)
        self.slider.valueChanged.connect(self._moved)
        self.forth = tool_button("chevron", self.tr("The samples after"), lambda: self._go(1), px=12)
        self.forth.setObjectName("later")
        for each in (self.back, self.forth):
            each.setFixedSize(QSize(22, 22))
        self.line = ElidedLabel("", "caption")
        self.line.setObjectName("samples_line")
        self.key = QLabel()
        self.key.setProperty("role", "caption")
        self.key.setTextFormat(Qt.TextFormat.RichText)
        head.addWidget(self.back)
        head.addWidget(self.slider)
        head.addWidget(self.forth)
        head.addWidget(self.line, 1)
        head.addWidget(self.key)
        if opens:
            self.open = tool_button("expand_view", self.tr("Show in a window of its own"), self._open, px=14)
            self.open.setObjectName("open_samples")
            head.addWidget(self.open)
        box.addLayout(head)
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll.setAccessibleName(self.tr("Samples"))
        box.addWidget(self.scroll, 1)
        self._stack = QStackedLayout(self)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(page)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(REDRAW_MS)
        self._later.timeout.connect(self.refresh)
        board.event.connect(self._on_event)
        theme().changed.connect(self._again)

    def samples(self) -> list[Samples]:
        state = self.board.state(self.job) if self.job else None
        return state.samples if state is not None else []

    def show_job(self, job: str) -> None:
        if job != self.job:
            self.job, self._at = job, -1
        self.refresh()

    def _on_event(self, event: Any) -> None:
        if isinstance(event, Samples) and event.job == self.job and not self._later.isActive():
            self._later.start()

    def _moved(self, at: int) -> None:
        self._at = -1 if at >= len(self.samples()) - 1 else at
        self.refresh()

    def _go(self, by: int) -> None:
        self.slider.setValue(self.slider.value() + by)

    def _again(self) -> None:
        self._shown = None
        self.refresh()

    def refresh(self) -> None:
        found = self.samples()
        self._stack.setCurrentIndex(1 if found else 0)
        if not found:
            self._shown = None
            return
        at = len(found) - 1 if self._at < 0 else min(self._at, len(found) - 1)
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, len(found) - 1)
            self.slider.setValue(at)
        self.slider.setEnabled(len(found) > 1)
        self.back.setEnabled(at > 0)
        self.forth.setEnabled(at < len(found) - 1)
        one = found[at]
        words = step_words(one, latest=at == len(found) - 1)
        self.line.setText(words)
        self.slider.setToolTip(words)
        self.key.setText(_key(one))
        self.scroll.setToolTip(_key(one))
        if one is not self._shown:
            keep = self.scroll.verticalScrollBar().value() if self._shown is not None else 0
            self._shown = one
            self.scroll.setWidget(table(one, large=not self._opens))
            if keep:
                QTimer.singleShot(0, self, lambda: self.scroll.verticalScrollBar().setValue(keep))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < NARROW
        self.key.setVisible(not narrow)
        self.slider.setFixedWidth(90 if narrow else 150)

    def _open(self) -> SamplesDialog:
        dialog = SamplesDialog(self.board, self.job, self.window())
        dialog.show()
        return dialog


class SamplesDialog(QDialog):
    """The same view with more room. It stays with its job."""

    def __init__(self, board: Any, job: str, parent: QWidget | None = None):
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        state = board.state(job)
        title = QCoreApplication.translate("SamplesView", "Samples")
        self.setWindowTitle(f"{title} · {state.job.title}" if state else title)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 12, 12, 12)
        self.view = SamplesView(board, opens=False)
        box.addWidget(self.view)
        self.view.show_job(job)
        QShortcut(QKeySequence.StandardKey.Close, self, self.close)
        self.resize(900, 620)


def _mirrored() -> QIcon:
    """The chevron that points to the left."""
    return QIcon(icon("chevron").pixmap(24, 24).transformed(QTransform().scale(-1, 1)))


# ---- one step -----------------------------------------------------------------------------------------------------------


def step_words(samples: Samples, *, latest: bool = False) -> str:
    """'Step 120 · 61 % as the teacher'."""
    tr = QCoreApplication.translate
    parts = [tr("SamplesView", "Step {n}").format(n=text.fmt_count(samples.step))]
    if samples.kept:
        parts.append(tr("SamplesView", "kept: this is what the variant says") if not samples.drawn else tr("SamplesView", "kept"))
    elif latest:
        parts.append(tr("SamplesView", "the latest"))
    marks = [ok for said in samples.said for ok in said.same]
    if marks and not samples.before:
        parts.append(tr("SamplesView", "{share} of the tokens as the teacher").format(share=text.fmt_percent(sum(marks) / len(marks), 0)))
    return " · ".join(parts)


def table(samples: Samples, *, narrow: bool = False, large: bool = False) -> QWidget:
    """A step's samples as a widget. narrow: below each other, where there's no room side by side; large: of the images."""
    page = QWidget()
    box = QVBoxLayout(page)
    box.setContentsMargins(0, 0, 6, 4)
    box.setSpacing(8)
    if samples.said:
        box.addWidget(_said_table(samples, narrow))
    if samples.classed:
        box.addWidget(_classed_table(samples, narrow))
    if samples.drawn:
        box.addWidget(_drawn_table(samples.drawn, large))
    box.addStretch(1)
    return page


def _names(samples: Samples) -> tuple[str, str]:
    tr = QCoreApplication.translate
    if samples.before:
        return tr("SamplesView", "Before"), tr("SamplesView", "Now")
    return tr("SamplesView", "Teacher"), tr("SamplesView", "Student")


def _key(samples: Samples) -> str:
    """What the tints mean, as rich text; '' where nothing is marked."""
    tr = QCoreApplication.translate
    if not any(said.same for said in samples.said):
        return ""
    same = tr("SamplesView", "as before") if samples.before else tr("SamplesView", "as the teacher")
    parts = [_mark(f"&nbsp;{same}&nbsp;", "accepted"), _mark(f"{PARTS}{tr('SamplesView', 'parts here')}&nbsp;", "rejected")]
    if not samples.before:
        parts.append(f"<u>{tr('SamplesView', 'other')}</u>")
    return "&nbsp; ".join(parts)


def _mark(words: str, kind: str) -> str:
    t = theme()
    fill, ink = t.color(f"{kind}_fill").name(), t.color(f"{kind}_text").name()
    return f'<span style="background-color:{fill}; color:{ink};">{words}</span>'


def _plain(piece: str) -> str:
    return html.escape(piece.replace("\r", "")).replace("\n", "⏎ ")


def marked(said: Said) -> str:
    """The student's words as rich text, with what's as the teacher's marked."""
    out, parted = [], False
    for at, piece in enumerate(said.student):
        words = _plain(piece if at else piece.lstrip(" "))
        known = said.same[at] if at < len(said.same) else None
        if known:
            out.append(_mark(words, "accepted"))
        elif known is None:
            out.append(words)
        else:
            lead = words[: len(words) - len(words.lstrip(" "))] if out else ""
            word = words[len(lead) :]
            out.append(lead + (f"<u>{word}</u>" if parted else _mark(PARTS + word, "rejected")))
            parted = True
    return "".join(out)


def _rich(words: str) -> QLabel:
    out = QLabel(f'<p style="white-space: pre-wrap; margin: 0;">{words}</p>')
    out.setTextFormat(Qt.TextFormat.RichText)
    out.setWordWrap(True)
    out.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    out.setMinimumWidth(1)
    out.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    out.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return out


def _rule() -> QFrame:
    line = QFrame()
    line.setFixedHeight(1)
    line.setStyleSheet(f"background: {theme().color('border').name()};")
    return line


def _said_table(samples: Samples, narrow: bool) -> QWidget:
    page = QWidget()
    grid = QGridLayout(page)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(5)
    first, second = _names(samples)
    spoken = lambda who, words: QCoreApplication.translate("SamplesView", "{who}: {words}").format(who=who, words=words)
    if not narrow:
        for column, (words, stretch) in enumerate(((_tr_beginning(), 3), (first, 4), (second, 4))):
            grid.addWidget(label(words, "muted"), 0, column)
            grid.setColumnStretch(column, stretch)
    for said in samples.said:
        begun, theirs, mine = (_rich(words) for words in (_plain(said.beginning), _plain("".join(said.teacher).lstrip(" ")), marked(said)))
        begun.setProperty("role", "caption")
        begun.setAccessibleName(spoken(_tr_beginning(), said.beginning))
        theirs.setAccessibleName(spoken(first, "".join(said.teacher)))
        mine.setAccessibleName(spoken(second, "".join(said.student)))
        row = grid.rowCount()
        if narrow:
            for at, part in enumerate((begun, label(first, "muted"), theirs, label(second, "muted"), mine)):
                grid.addWidget(part, row + at, 0)
            grid.setRowMinimumHeight(row + 5, 8)
        else:
            grid.addWidget(_rule(), row, 0, 1, 3)
            for column, part in enumerate((begun, theirs, mine)):
                grid.addWidget(part, row + 1, column, Qt.AlignmentFlag.AlignTop)
    return page


def _tr_beginning() -> str:
    return QCoreApplication.translate("SamplesView", "Beginning")


def _classed_table(samples: Samples, narrow: bool) -> QWidget:
    tr = QCoreApplication.translate
    page = QWidget()
    grid = QGridLayout(page)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(14)
    grid.setVerticalSpacing(5)
    first, second = _names(samples)
    heads = (tr("SamplesView", "Example"), tr("SamplesView", "Label"), first, second)
    if not narrow:
        for column, words in enumerate(heads):
            grid.addWidget(label(words, "muted"), 0, column)
        grid.setColumnStretch(0, 1)
    for one in samples.classed:
        row = grid.rowCount()
        example = _rich(_plain(one.text))
        cells = (label(one.label, "caption"), _share(one, "teacher"), _share(one, "student"))
        if narrow:
            grid.addWidget(example, row, 0, 1, 2)
            for at, (words, cell) in enumerate(zip(heads[1:], cells, strict=True)):
                grid.addWidget(label(words, "muted"), row + 1 + at, 0)
                grid.addWidget(cell, row + 1 + at, 1)
            grid.setRowMinimumHeight(row + 4, 8)
            grid.setColumnStretch(1, 1)
            continue
        grid.addWidget(_rule(), row, 0, 1, 4)
        grid.addWidget(example, row + 1, 0, Qt.AlignmentFlag.AlignTop)
        for column, cell in enumerate(cells, 1):
            grid.addWidget(cell, row + 1, column, Qt.AlignmentFlag.AlignTop)
    return page


def _share(one: Classed, who: str) -> QLabel:
    """'✓ positive 98 %': right or not by the label, in words for a reader of the screen."""
    tr = QCoreApplication.translate
    name, share = (one.teacher, one.teacher_share) if who == "teacher" else (one.student, one.student_share)
    right = name == one.label
    out = label(f"{'✓' if right else '✗'} {name} {text.fmt_percent(share, 0)}", "ok" if right else "error")
    out.setToolTip(tr("SamplesView", "Right by the label") if right else tr("SamplesView", "Wrong by the label"))
    out.setAccessibleName(f"{name} {text.fmt_percent(share, 0)}: {out.toolTip()}")
    return out


# ---- images -------------------------------------------------------------------------------------------------------------


def _drawn_table(rows: tuple[Drawn, ...], large: bool) -> QWidget:
    page = QWidget()
    grid = QGridLayout(page)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(6)
    grid.setColumnStretch(1, 1)
    for row, drawn in enumerate(rows):
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(label(drawn_words(drawn), "caption"))
        if drawn.frechet is not None:
            distance = QCoreApplication.translate("SamplesView", "Fréchet {value}").format(value=text.fmt_number(drawn.frechet, 3))
            shown = label(distance, "muted")
            tip = QCoreApplication.translate(
                "SamplesView",
                "Fréchet distance of {n} drawings from the images: lower is more alike. Fewer drawings are further away, so only those of "
                "as many compare.",
            )
            shown.setToolTip(tip.format(n=text.fmt_count(drawn.measured)))
            words.addWidget(shown)
        grid.addLayout(words, row, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(Pictures(drawn, large), row, 1)
    return page


def drawn_words(drawn: Drawn) -> str:
    tr = QCoreApplication.translate
    if drawn.who == "teacher":
        return tr("SamplesView", "Teacher, {n} steps").format(n=drawn.steps)
    return tr("SamplesView", "Student, {n} steps").format(n=drawn.steps)


class Pictures(QWidget):
    """A row of images, each as large as whole pixels of it allow; what doesn't fit the width isn't drawn."""

    GAP = 3

    def __init__(self, drawn: Drawn, large: bool = False):
        super().__init__()
        self.sheet = QPixmap()
        self.sheet.loadFromData(drawn.png)
        self.count = max(1, drawn.count)
        self.high = 64 if large else 32  # pixels of an image at least, or as near below as whole times its own allow
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(60)
        self.setFixedHeight(self._side().height())
        self.setAccessibleName(drawn_words(drawn))
        self.setToolTip(drawn_words(drawn))

    def _side(self) -> QSize:
        """Of an image on the screen: a whole number of times its own pixels, or where it's larger than that, as high as there's room."""
        one = QSize(max(1, self.sheet.width() // self.count), max(1, self.sheet.height()))
        scale = self.high // one.height() or min(1.0, 1.5 * self.high / one.height())
        return QSize(round(one.width() * scale), round(one.height() * scale))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        side, across = self._side(), self.sheet.width() // self.count
        for at in range(self.count):
            left = at * (side.width() + self.GAP)
            if left + side.width() > self.width():
                break
            painter.drawPixmap(QRect(left, 0, side.width(), side.height()), self.sheet, QRect(at * across, 0, across, self.sheet.height()))
        painter.end()
