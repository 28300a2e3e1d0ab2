"""What the target goes on from: a text, or a chat of several turns.

Covers writing and keeping it. A chat is turned into tokens by the model's own template, in the worker.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QPlainTextEdit, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app.widgets import ElidedLabel, label, tool_button
from core.records import Turn

LINES = 3  # that a prompt grows to
TURN = 24  # px, a turn's line
TURNS = 3  # lines in view before they scroll


class Prompt(QPlainTextEdit):
    """A text field that grows with its text, up to three lines. Ctrl+Enter runs; Tab leaves."""

    entered = Signal()

    def __init__(self, name: str = "prompt") -> None:
        super().__init__()
        self.setObjectName(name)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self.grow)
        self.grow()

    def grow(self) -> None:
        lines = max(1, min(LINES, round(self.document().size().height())))
        around = self.height() - self.viewport().height() if self.isVisible() else 10
        height = max(30, lines * self.fontMetrics().lineSpacing() + round(2 * self.document().documentMargin()) + around)
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
        more = self.document().size().height() > LINES
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded if more else Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.grow()

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)


class Chat(QWidget):
    """Turns so far, one line each, and the message to send next. `changed` fires as any of it does."""

    changed = Signal()
    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._turns: list[Turn] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.system = QLineEdit()
        self.system.setObjectName("system")
        self.system.setPlaceholderText(self.tr("System message (optional): who the model is to be"))
        self.system.setAccessibleName(self.tr("System message"))
        self.system.textChanged.connect(lambda _: self.changed.emit())
        self._list = QWidget()
        self._rows = QVBoxLayout(self._list)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)
        self._scroll = QScrollArea()
        self._scroll.setObjectName("turns")
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self._list)
        self.message = Prompt("message")
        self.message.setPlaceholderText(self.tr("Message: what you say next"))
        self.message.setAccessibleName(self.tr("Message"))
        self.message.setToolTip(self.tr("What you say next. Ctrl+Enter sends it; the reply becomes a turn of the chat."))
        self.message.textChanged.connect(self.changed)
        self.message.entered.connect(self.entered)
        self.clear_button = tool_button("trash", self.tr("Begin a new chat"), self.clear)
        self.clear_button.setObjectName("new-chat")
        last = QHBoxLayout()
        last.setSpacing(6)
        last.addWidget(self.message, 1)
        last.addWidget(self.clear_button, 0, Qt.AlignmentFlag.AlignTop)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(6)
        box.addWidget(self.system)
        box.addWidget(self._scroll)
        box.addLayout(last)
        self._fill()

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(self._turns)

    def messages(self) -> tuple[Turn, ...]:
        """The chat as it would be sent: the system message, the turns, and what's written next."""
        first = (Turn(role="system", content=self.system.text()),) if self.system.text().strip() else ()
        said = self.message.toPlainText()
        return (*first, *self._turns, *((Turn(role="user", content=said),) if said.strip() else ()))

    def set_messages(self, messages: Sequence[Turn]) -> None:
        """Takes a chat over; a last turn of the user's is what's written next."""
        turns = list(messages)
        self.system.setText(turns.pop(0).content if turns and turns[0].role == "system" else "")
        said = turns.pop().content if turns and turns[-1].role == "user" else ""
        self._turns = turns
        self.message.setPlainText(said)
        self._fill()

    def send(self) -> None:
        """What's written becomes a turn."""
        said = self.message.toPlainText()
        if said.strip():
            self._turns.append(Turn(role="user", content=said))
            self.message.clear()
            self._fill()

    def reply(self, text: str) -> None:
        """The model's answer; an empty one takes the last message back into the field."""
        if text.strip():
            self._turns.append(Turn(role="assistant", content=text))
            self._fill()
        elif self._turns and self._turns[-1].role == "user" and not self.message.toPlainText():
            self.take_back(len(self._turns) - 1)

    def take_back(self, index: int) -> None:
        """Drops a turn and all after it; the user's own goes back into the field."""
        turn = self._turns[index]
        del self._turns[index:]
        if turn.role == "user":
            self.message.setPlainText(turn.content)
        self._fill()

    def clear(self) -> None:
        self._turns = []
        self.message.clear()
        self._fill()

    def set_steady(self, steady: bool) -> None:
        """While a run is under way, nothing of it can be taken back."""
        self._list.setEnabled(not steady)
        self.clear_button.setEnabled(not steady)

    def problem(self) -> str:
        """Why it can't be sent, as a sentence; '' where it can."""
        said = self.messages()
        return "" if said and said[-1].role == "user" else self.tr("The message is empty. Write what you say next.")

    def role_word(self, role: str) -> str:
        return {"user": self.tr("You"), "assistant": self.tr("Model"), "system": self.tr("System")}[role]

    def _fill(self) -> None:
        while self._rows.count():
            row = self._rows.takeAt(0).widget()
            row.hide()
            row.deleteLater()
        for index, turn in enumerate(self._turns):
            self._rows.addWidget(self._row(index, turn))
        lines = min(len(self._turns), TURNS)
        self._scroll.setVisible(lines > 0)
        self._scroll.setFixedHeight(max(1, lines * TURN))
        self._list.setFixedHeight(max(1, len(self._turns) * TURN))
        bar = self._scroll.verticalScrollBar()
        bar.setRange(0, max(0, (len(self._turns) - lines) * TURN))
        bar.setValue(bar.maximum())
        self.changed.emit()

    def _row(self, index: int, turn: Turn) -> QWidget:
        row = QWidget()
        row.setFixedHeight(TURN)
        who: QLabel = label(self.role_word(turn.role), "caption")
        who.setFixedWidth(48)
        text = ElidedLabel(" ".join(turn.content.split()), "" if turn.role == "user" else "caption")
        back = tool_button("close", self.tr("Take this turn and what follows back"), lambda: self.take_back(index), px=12)
        box = QHBoxLayout(row)
        box.setContentsMargins(2, 0, 2, 0)
        box.setSpacing(6)
        box.addWidget(who)
        box.addWidget(text, 1)
        box.addWidget(back)
        return row

    def minimumSizeHint(self) -> QSize:
        return QSize(160, super().minimumSizeHint().height())
