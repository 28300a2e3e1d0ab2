"""The decode lab's controls: which models, how to sample, the prompt, and Run, Pause, Step, Stop.

Covers the form and what's wrong with it (`problem`); starting and steering the job is app.decode_view's. Two rows, from
640 px on: below 900 px the buttons are icons and the number fields lose their arrows.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from app.forms import calm_wheel
from app.text import core_text
from app.theme import icon, kind_icon
from core.pairing import draft_problem
from core.records import GenerateSpec, Variant

PLAIN, NGRAM = "", "\x00ngram"  # ids of the two entries that are no variant
COMPACT, NARROWEST = 900, 650  # widths below which things get tighter, and can't get tighter
ID = Qt.ItemDataRole.UserRole
WHY = Qt.ItemDataRole.UserRole + 1  # why an entry can't be chosen; '' where it can
NAME = Qt.ItemDataRole.UserRole + 2
LINES = 3  # that the prompt grows to
NO_ARROWS = (  # setButtonSymbols(NoButtons) leaves a styled box no room for its text
    "QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { width: 0; border: none; }"
    "QAbstractSpinBox::up-arrow, QAbstractSpinBox::down-arrow { width: 0; height: 0; image: none; }"
)


class Prompt(QPlainTextEdit):
    """A text field that grows with its text, up to three lines. Ctrl+Enter runs; Tab leaves."""

    entered = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("prompt")
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(2)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.textChanged.connect(self._grow)
        self._grow()

    def _grow(self) -> None:
        lines = max(1, min(LINES, round(self.document().size().height())))
        around = self.height() - self.viewport().height() if self.isVisible() else 10
        height = max(30, lines * self.fontMetrics().lineSpacing() + round(2 * self.document().documentMargin()) + around)
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)
        more = self.document().size().height() > LINES
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded if more else Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._grow()

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)


class ModelBox(QComboBox):
    """A list of models; closed, it shows a name that ends in … where it doesn't fit (a styled box would cut it)."""

    def paintEvent(self, event) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self).width()
        room -= self.iconSize().width() + 4 if not option.currentIcon.isNull() else 0
        name = self.currentData(NAME) or option.currentText
        option.currentText = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


class Controls(QFrame):
    run_pressed = Signal()
    pause_pressed = Signal()
    step_pressed = Signal()
    stop_pressed = Signal()
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("panel", True)
        self._state, self._variants, self._filled = "idle", {}, False
        self._reason = QLabel()
        self._reason.setProperty("role", "warn")
        self._reason.setObjectName("problem")
        self._reason.setWordWrap(True)
        self._reason.hide()
        self._make_fields()
        self._make_buttons()
        self._lay_out()
        self._update()

    # -- making

    def _make_fields(self) -> None:
        self.target = self._combo("target", self.tr("The model whose text it is. Whatever the draft guesses, the target decides."))
        self.draft = self._combo(
            "draft",
            self.tr(
                "Who guesses the next tokens: a small fast model with the same tokens, or a look-up of what followed the same words before."
            ),
        )
        self.gamma = self._spin(
            QSpinBox(),
            "gamma",
            4,
            0,
            32,
            self.tr("Draft length: how many tokens are guessed before the target checks them all in one call. 0 drafts nothing."),
        )
        self.temperature = self._spin(
            QDoubleSpinBox(),
            "temperature",
            0.8,
            0.0,
            5.0,
            self.tr("How freely to sample. 0 is greedy: always the likeliest token. 1 samples from the model's own distribution."),
        )
        self.temperature.setSingleStep(0.1)
        self.temperature.setSpecialValueText(self.tr("greedy"))
        self.top_k = self._spin(
            QSpinBox(), "top_k", 0, 0, 100_000, self.tr("Sample from the k likeliest tokens only. 'all' leaves none out.")
        )
        self.top_k.setSpecialValueText(self.tr("all"))
        self.top_p = self._spin(
            QDoubleSpinBox(),
            "top_p",
            1.0,
            0.01,
            1.0,
            self.tr("Sample from the fewest tokens that together have this probability. 1 leaves none out."),
        )
        self.top_p.setSingleStep(0.05)
        self.seed = self._spin(QSpinBox(), "seed", 0, 0, 2**31 - 1, self.tr("The same seed with the same settings gives the same text."))
        self.most = self._spin(QSpinBox(), "max_tokens", 128, 1, 100_000, self.tr("Stop after so many new tokens."))
        self.most.setSingleStep(32)
        self.device = QComboBox()
        self.device.setObjectName("device")
        self.device.setToolTip(self.tr("Where both models run."))
        self.device.addItem(self.tr("Best device"), "auto")
        self.device.setVisible(False)
        self.prompt = Prompt()
        self.prompt.setPlaceholderText(self.tr("Prompt: the text to go on from"))
        self.prompt.setAccessibleName(self.tr("Prompt"))
        self.prompt.setToolTip(self.tr("The text to go on from. Ctrl+Enter runs."))
        self.prompt.setPlainText("Once upon a time")
        self.race = QCheckBox(self.tr("Race"))
        self.race.setObjectName("race")
        self.race.setToolTip(
            self.tr("Afterwards, decode once more without the draft, with the same seed. That's what the speed-up is measured against.")
        )
        self.target.currentIndexChanged.connect(self._target_changed)
        self.draft.currentIndexChanged.connect(self._update)
        for box in (self.gamma, self.temperature, self.top_k, self.top_p, self.seed, self.most):
            box.valueChanged.connect(self._update)
        self.prompt.textChanged.connect(self._update)
        self.prompt.entered.connect(lambda: self.run_button.isEnabled() and self.run_pressed.emit())

    def _combo(self, name: str, tip: str) -> QComboBox:
        box = ModelBox()
        box.setObjectName(name)
        box.setToolTip(tip)
        box.setModel(QStandardItemModel(box))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(6)
        box.setIconSize(QSize(14, 14))
        calm_wheel(box)
        box.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        return box

    def _spin(self, box, name: str, value, low, high, tip: str):
        box.setObjectName(name)
        box.setRange(low, high)
        box.setValue(value)
        box.setToolTip(tip)
        box.setAccessibleDescription(tip)
        box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        box.setFixedHeight(30)
        box.lineEdit().setTextMargins(7, 0, 0, 0)  # the style sheet's padding doesn't reach it
        calm_wheel(box)
        return box

    def _make_buttons(self) -> None:
        self.run_button = self._button("run", self.tr("Run"), "play", self.run_pressed, self.tr("Decode from the prompt (Ctrl+Enter)"))
        self.run_button.setProperty("primary", True)
        self.pause_button = self._button("pause", self.tr("Pause"), "pause", self.pause_pressed, "")
        self.step_button = self._button("step", self.tr("Step"), "step", self.step_pressed, "")
        self.stop_button = self._button("stop", self.tr("Stop"), "stop", self.stop_pressed, self.tr("End here and keep what there is"))

    def _button(self, name: str, words: str, glyph: str, signal, tip: str) -> QPushButton:
        button = QPushButton(words)
        button.setObjectName(name)
        button.setIcon(icon(glyph, "on_accent" if name == "run" else "text2"))
        button.setIconSize(QSize(15, 15))
        button.setToolTip(tip)
        button.setAccessibleName(words)
        button.setProperty("words", words)
        button.clicked.connect(lambda: signal.emit())
        return button

    def _lay_out(self) -> None:
        self._fields: list[tuple[QWidget, int, int]] = []  # widget, width, compact width
        models, numbers = QHBoxLayout(), QHBoxLayout()
        first = self._first = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        for row, stretch in ((models, 1), (numbers, 0)):
            row.setSpacing(8)
            first.addLayout(row, stretch)
        first.setSpacing(8)

        def field(words: str, widget: QWidget, stretch: int = 0, width: int = 0, compact: int = 0) -> None:
            label = QLabel(words)
            label.setProperty("role", "caption")
            label.setBuddy(widget)
            label.setToolTip(widget.toolTip())
            widget.setAccessibleName(words)
            column = QVBoxLayout()
            column.setSpacing(4)
            column.addWidget(label)
            column.addWidget(widget)
            (models if stretch else numbers).addLayout(column, stretch)
            if width:
                self._fields.append((widget, width, compact))

        field(self.tr("Target"), self.target, 3)
        field(self.tr("Draft"), self.draft, 3)
        field(self.tr("Length \u03b3"), self.gamma, 0, 66, 54)
        field(self.tr("Temp."), self.temperature, 0, 82, 58)
        field(self.tr("Top-k"), self.top_k, 0, 76, 50)
        field(self.tr("Top-p"), self.top_p, 0, 76, 50)
        field(self.tr("Seed"), self.seed, 0, 76, 50)
        field(self.tr("Tokens"), self.most, 0, 76, 54)
        second = QHBoxLayout()
        second.setSpacing(8)
        top = Qt.AlignmentFlag.AlignTop
        second.addWidget(self.prompt, 1, top)
        second.addWidget(self.device, 0, top)
        self.race.setFixedHeight(30)
        second.addWidget(self.race, 0, top)
        for button in (self.run_button, self.pause_button, self.step_button, self.stop_button):
            second.addWidget(button, 0, top)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 10, 14, 12)
        box.setSpacing(10)
        box.addLayout(first)
        box.addLayout(second)
        box.addWidget(self._reason)
        self._tighten(False)

    def _tighten(self, compact: bool) -> None:
        self._compact = compact
        for widget, width, small in self._fields:
            widget.setStyleSheet(NO_ARROWS if compact else "")
            widget.setFixedWidth(small if compact else width)
        for button in (self.pause_button, self.step_button, self.stop_button):
            button.setText("" if compact else button.property("words"))
            button.setFixedWidth(34 if compact else 84)
            button.setStyleSheet("padding: 0;")
        self.run_button.setFixedWidth(76 if compact else 92)

    def minimumSizeHint(self) -> QSize:
        return QSize(NARROWEST, super().minimumSizeHint().height())  # width of the tight form, which the loose one turns into on the way

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if (self.width() < COMPACT) != self._compact:
            self._tighten(self.width() < COMPACT)
        # a window at its least, or one at 200 %: the models get a line of their own, else their names wouldn't be seen
        narrow = self.width() < NARROWEST
        self._first.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "prompt"):
            self.prompt._grow()

    # -- models

    def set_variants(self, variants: list[Variant]) -> None:
        """Fills both lists, keeping what's chosen. At first: the oldest original that has a draft, and its smallest draft."""
        target, draft = self.target_id, self.draft_id
        self._variants = {v.id: v for v in in_lineage(variants)}
        fresh = not self._filled or target not in self._variants
        self._fill_target(target)
        if fresh and self.target_id:
            self._filled = True
            draft = self._best_draft()
        self._fill_draft(draft if draft in (PLAIN, NGRAM) or draft in self._variants else self._best_draft())
        self._update()

    def _smaller_drafts(self, target: Variant) -> list[Variant]:
        """Models that can draft for a target and take less room, the smallest first."""
        size = target.ledger.bytes_on_disk
        able = [v for v in self._variants.values() if v.ledger.bytes_on_disk < size and not draft_problem(target, v)]
        return sorted(able, key=lambda v: (v.ledger.bytes_on_disk, v.id))

    def _best_draft(self) -> str:
        target = self._variants.get(self.target_id)
        able = self._smaller_drafts(target) if target else []
        return able[0].id if able else NGRAM

    def _fill_target(self, chosen: str) -> None:
        rows = []
        for v in self._variants.values():
            why = "" if v.info.task == "causal-lm" else core_text("It doesn't generate text.")
            if not why and not v.info.tokenizer:
                why = self.tr("It has no tokenizer.")
            rows.append((v.id, v.name, why, v.kind))
        able = [id for id, _, why, _ in rows if not why]
        if chosen not in self._variants:
            drafted_for = [id for id in able if self._smaller_drafts(self._variants[id])]
            chosen = (drafted_for or able or [""])[0]
        self._fill(self.target, rows, chosen)

    def _fill_draft(self, chosen: str) -> None:
        target = self._variants.get(self.target_id)
        rows = [(PLAIN, self.tr("None (plain)"), "", ""), (NGRAM, self.tr("N-gram lookup"), "", "")]
        for v in self._variants.values():
            why = draft_problem(target, v) if target else ""
            rows.append((v.id, v.name, core_text(why) if why else "", v.kind))
        self._fill(self.draft, rows, chosen)

    def _fill(self, box: QComboBox, rows: list[tuple[str, str, str, str]], chosen: str) -> None:
        was = box.blockSignals(True)
        model: QStandardItemModel = box.model()
        model.clear()
        for id, name, why, kind in rows:
            item = QStandardItem(f"{name}  \u2013  {why}" if why else name)
            item.setData(id, ID)
            item.setData(why, WHY)
            item.setData(name, NAME)
            item.setEditable(False)
            item.setEnabled(not why)
            item.setToolTip(why or name)
            if kind:
                item.setIcon(kind_icon(kind))
            model.appendRow(item)
        box.setCurrentIndex(next((i for i, row in enumerate(rows) if row[0] == chosen), -1))
        view = box.view()
        view.setMinimumWidth(min(view.sizeHintForColumn(0) + 24, 620) if rows else 0)
        box.blockSignals(was)

    def _target_changed(self) -> None:
        self._fill_draft(self.draft_id)
        self._update()

    @property
    def target_id(self) -> str:
        return self.target.currentData(ID) or ""

    @property
    def draft_id(self) -> str:
        data = self.draft.currentData(ID)
        return NGRAM if data is None else data

    def choose(self, box: QComboBox, id: str) -> bool:
        """Selects an entry by its id; False where it isn't there."""
        model = box.model()
        found = model.match(model.index(0, 0, QModelIndex()), ID, id, 1, Qt.MatchFlag.MatchExactly)
        if found:
            box.setCurrentIndex(found[0].row())
        return bool(found)

    def set_devices(self, devices) -> None:
        """Devices to choose among; shown only where there's a choice."""
        chosen = self.device.currentData()
        self.device.clear()
        self.device.addItem(self.tr("Best device"), "auto")
        for device in devices:
            self.device.addItem(device.title or device.name, device.name)
        self.device.setCurrentIndex(max(0, self.device.findData(chosen)))
        self.device.setVisible(len(devices) > 1)

    # -- what it says

    @property
    def plain(self) -> bool:
        return self.draft_id == PLAIN

    def names(self) -> tuple[str, str]:
        """(target's name, who drafts: '' for nobody)."""
        target = self._variants.get(self.target_id)
        draft = self._variants.get(self.draft_id)
        who = draft.name if draft else self.tr("N-gram lookup") if self.draft_id == NGRAM else ""
        return target.name if target else "", who

    def spec(self, workspace: str, *, paused: bool = False) -> GenerateSpec:
        proposer = {PLAIN: "none", NGRAM: "ngram"}.get(self.draft_id, "draft")
        return GenerateSpec(
            workspace=workspace,
            target=self.target_id,
            draft=self.draft_id if proposer == "draft" else None,
            proposer=proposer,
            gamma=self.gamma.value(),
            temperature=round(self.temperature.value(), 4),
            top_k=self.top_k.value(),
            top_p=round(self.top_p.value(), 4),
            seed=self.seed.value(),
            max_new_tokens=self.most.value(),
            prompt=self.prompt.toPlainText(),
            race=self.race.isChecked() and proposer != "none",
            paused=paused,
        )

    def set_spec(self, spec: GenerateSpec) -> None:
        """Puts a run's settings back into the form, as far as its models are still there."""
        self.choose(self.target, spec.target)
        self.choose(self.draft, {"none": PLAIN, "ngram": NGRAM}.get(spec.proposer, spec.draft or PLAIN))
        for box, value in (
            (self.gamma, spec.gamma),
            (self.temperature, spec.temperature),
            (self.top_k, spec.top_k),
            (self.top_p, spec.top_p),
            (self.seed, spec.seed),
            (self.most, spec.max_new_tokens),
        ):
            box.setValue(value)
        self.prompt.setPlainText(spec.prompt)
        self.race.setChecked(spec.race)

    def problem(self) -> str:
        """Why it can't run, as a sentence; '' where it can."""
        if not self._variants:
            return self.tr("Open a model first.")
        if not self.target_id:
            return self.tr("No model here can generate text.")
        if why := self.target.currentData(WHY):
            return self.tr("{name} can't be the target. {why}").format(name=self._variants[self.target_id].name, why=why)
        if (why := self.draft.currentData(WHY)) and self.draft_id in self._variants:
            return self.tr("{name} can't draft for this target. {why}").format(name=self._variants[self.draft_id].name, why=why)
        if not self.prompt.toPlainText():
            return self.tr("The prompt is empty. Write a few words to go on from.")
        return ""

    # -- states

    def set_state(self, state: str) -> None:
        """idle, starting, running or paused."""
        self._state = state
        self._update()

    def _update(self) -> None:
        if not hasattr(self, "stop_button"):
            return
        problem, idle = self.problem(), self._state == "idle"
        self.run_button.setEnabled(idle and not problem)
        self.run_button.setToolTip(problem or (self.tr("Decode from the prompt (Ctrl+Enter)") if idle else self.tr("A run is under way.")))
        paused = self._state == "paused"
        self.pause_button.setEnabled(self._state in ("running", "paused"))
        words, glyph = (self.tr("Resume"), "play") if paused else (self.tr("Pause"), "pause")
        self.pause_button.setProperty("words", words)
        self.pause_button.setAccessibleName(words)
        self.pause_button.setIcon(icon(glyph))
        self.pause_button.setText("" if self._compact else words)
        self.pause_button.setToolTip(self.tr("Go on") if paused else self.tr("Wait after this round"))
        self.step_button.setEnabled(not problem if idle else True)
        self.step_button.setToolTip(self.tr("Start, and stop after one round") if idle else self.tr("Take one round, then wait"))
        self.stop_button.setEnabled(not idle)
        drafts, greedy = not self.plain, self.temperature.value() == 0
        self.gamma.setEnabled(drafts)
        self.race.setEnabled(drafts)
        for box in (self.top_k, self.top_p, self.seed):
            box.setEnabled(not greedy)
        shown = problem if self._variants else ""
        self._reason.setText(shown)
        self._reason.setVisible(bool(shown))
        self.changed.emit()


def in_lineage(variants: list[Variant]) -> list[Variant]:
    """Originals by age, each followed by what came of it."""
    known, made = {v.id for v in variants}, {}
    for v in sorted(variants, key=lambda v: (v.created, v.id)):
        made.setdefault(v.parent if v.parent in known else None, []).append(v)
    out, waiting = [], list(reversed(made.get(None, [])))
    while waiting:
        out.append(waiting.pop())
        waiting.extend(reversed(made.get(out[-1].id, [])))
    return out
