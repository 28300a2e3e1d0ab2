"""The decode lab's controls: which models, who drafts and how it's judged, the prompt or chat, and Run, Pause, Step, Stop.

Covers the form and what's wrong with it (`problem`); starting and steering the job is app.decode_view's. The fields of a
lane's drafting are app.decode_drafting's, the drawer of finer settings app.decode_advanced's, prompt and chat app.decode_prompt's.
Below 900 px the buttons are icons and the number fields lose their arrows; below that the models get a line of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.decode_advanced import NO_ARROWS, Advanced
from app.decode_drafting import BESIDE, ID, NAME, NGRAM, PACKED, PLAIN, WHY, DraftingRow, ModelBox
from app.decode_prompt import Chat, Prompt
from app.forms import calm_wheel
from app.provider_choice import ProviderChoice
from app.text import core_text
from app.theme import icon
from app.widgets import ElidedLabel, Segmented
from core import exports
from core.pairing import draft_problem
from core.records import Choice, Drafting, GenerateSpec, Turn, Variant

__all__ = ["COMPACT", "ID", "NAME", "NGRAM", "PLAIN", "WHY", "Controls", "in_lineage"]
COMPACT, NARROWEST = 900, 640  # widths below which things get tighter, and can't get tighter
ONE_LINE = 1000  # from this width on, models and numbers stand in one line


class Controls(QFrame):
    run_pressed = Signal()
    pause_pressed = Signal()
    step_pressed = Signal()
    stop_pressed = Signal()
    find_pressed = Signal()
    check_pressed = Signal()
    explain_pressed = Signal()
    list_opening = Signal()  # of models: a moment to look whether they're all there
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("panel", True)
        self._state, self._variants, self._filled, self._compact = "idle", {}, False, False
        self._gone: dict[str, str] = {}  # why those that are chosen, but aren't there any more, can't be used
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
        self.target = ModelBox("target", self.tr("The model whose text it is. Whatever the draft guesses, the target decides."))
        self.main = DraftingRow()
        self.rival = DraftingRow("-rival", nobody=self.tr("Plain decoding only"))
        self.rival.who.setAccessibleName(self.tr("Second draft of the race"))
        self.draft, self.gamma, self.policy, self.verifier = self.main.who, self.main.gamma, self.main.policy, self.main.verifier
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
        self.most = self._spin(QSpinBox(), "max_tokens", 128, 1, 100_000, self.tr("Stop after so many new tokens."))
        self.most.setSingleStep(32)
        self.advanced = Advanced()
        self.advanced.hide()
        self.top_k, self.top_p, self.seed = (self.advanced.spin(name) for name in ("top_k", "top_p", "seed"))
        self.device = QComboBox()
        self.device.setObjectName("device")
        self.device.setAccessibleName(self.tr("Device"))
        self.device.setToolTip(self.tr("Where both models run."))
        self.device.addItem(self.tr("Best device"), "auto")
        self.device.setVisible(False)
        self.provider = ProviderChoice()
        self.provider.set_wanted(False)
        self.provider.setFixedHeight(30)
        self.prompt = Prompt()
        self.prompt.setPlaceholderText(self.tr("Prompt: the text to go on from"))
        self.prompt.setAccessibleName(self.tr("Prompt"))
        self.prompt.setToolTip(self.tr("The text to go on from. Ctrl+Enter runs."))
        self.prompt.setPlainText("Once upon a time")
        self.chat = Chat()
        self.chat.hide()
        self.mode = Segmented((("text", self.tr("Text")), ("chat", self.tr("Chat"))))
        self.mode.setFixedHeight(30)
        self.mode.buttons["text"].setToolTip(self.tr("Go on from a text as it is"))
        self.mode.buttons["chat"].setToolTip(self.tr("Turn by turn, written in the model's own chat template"))
        self.race = QCheckBox(self.tr("Race"))
        self.race.setObjectName("race")
        self.race.setToolTip(
            self.tr(
                "Decode plainly too, with the same seed, in turns and each by its own clock: that's what the speed-up is measured against."
            )
            + "\n"
            + self.tr("A second way to draft can run in the same race.")
        )
        for box in (self.target, self.main.who, self.rival.who):
            box.opening.connect(self.list_opening)
        self.target.currentIndexChanged.connect(self._target_changed)
        for row in (self.main, self.rival):
            row.changed.connect(self._update)
        for box in (self.temperature, self.most):
            box.valueChanged.connect(self._update)
        self.advanced.changed.connect(self._update)
        self.prompt.textChanged.connect(self._update)
        self.chat.changed.connect(self._update)
        self.mode.chosen.connect(lambda _: self._update())
        self.race.toggled.connect(self._update)
        for writer in (self.prompt, self.chat):
            writer.entered.connect(lambda: self.run_button.isEnabled() and self.run_pressed.emit())

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
        self.advanced_button = QPushButton()
        self.advanced_button.setObjectName("advanced-toggle")
        self.advanced_button.setCheckable(True)
        self.advanced_button.setIcon(icon("settings"))
        self.advanced_button.setIconSize(QSize(15, 15))
        self.advanced_button.toggled.connect(self._show_advanced)
        self.find_button = QToolButton()
        self.find_button.setObjectName("find-draft")
        self.find_button.setProperty("link", True)
        self.find_button.setText(self.tr("Find one\u2026"))
        self.find_button.setToolTip(self.tr("Try every way to draft for this target on your prompt, and see which pays"))
        self.find_button.clicked.connect(lambda: self.find_pressed.emit())
        self.tools_button = QPushButton()
        self.tools_button.setObjectName("tools")
        self.tools_button.setIcon(icon("more"))
        self.tools_button.setIconSize(QSize(16, 16))
        self.tools_button.setAccessibleName(self.tr("Tools"))
        self.tools_button.setToolTip(self.tr("Find a draft, check exactness, see how it works"))
        self.tools_button.setStyleSheet("QPushButton::menu-indicator { image: none; width: 0; } QPushButton { padding: 0; }")
        self.tools_button.setFixedWidth(34)
        self.tools_menu = QMenu(self.tools_button)
        self.tools_menu.setToolTipsVisible(True)
        self.find_action = self.tools_menu.addAction(icon("search"), self.tr("Find a draft\u2026"), self.find_pressed.emit)
        self.check_action = self.tools_menu.addAction(icon("check"), self.tr("Check exactness\u2026"), self.check_pressed.emit)
        self.check_action.setToolTip(self.tr("Test on this very pair that what's written is distributed as the target's own text"))
        self.explain_action = self.tools_menu.addAction(icon("info"), self.tr("How it works\u2026"), self.explain_pressed.emit)
        self.explain_action.setToolTip(self.tr("The engine on a toy model, over every random choice"))
        self.tools_button.setMenu(self.tools_menu)

    def _button(self, name: str, words: str, glyph: str, signal, tip: str) -> QPushButton:
        button = QPushButton(f" {words}")  # a little way from the icon
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

        def column(words: str | QLabel, widget: QWidget, width: int = 0, compact: int = 0, beside: QWidget | None = None) -> QWidget:
            caption = words if isinstance(words, QLabel) else QLabel(words)
            if isinstance(words, str):
                caption.setProperty("role", "caption")
                caption.setBuddy(widget)
                caption.setToolTip(widget.toolTip())
                widget.setAccessibleName(words)
            head = QHBoxLayout()
            head.setSpacing(6)
            head.addWidget(caption)
            if beside is not None:
                head.addWidget(beside)
            head.addStretch(1)
            out = QWidget()
            box = QVBoxLayout(out)
            box.setContentsMargins(0, 0, 0, 0)
            box.setSpacing(4)
            box.addLayout(head)
            box.addWidget(widget)
            if width:
                self._fields.append((widget, width, compact))
            return out

        self._models = [column(self.tr("Target"), self.target), column(self.tr("Draft"), self.draft, beside=self.find_button)]
        self._numbers = [
            column(self.tr("Policy"), self.policy, 116, 112),
            column(self.main.gamma_label, self.gamma, 66, 54),
            column(self.tr("Verifier"), self.verifier, 138, 130, self.main.badge),
            column(self.tr("Temp."), self.temperature, 82, 64),
            column(self.tr("Tokens"), self.most, 76, 58),
            column(QLabel(), self.advanced_button),
        ]
        self._rival_words = ElidedLabel(self.tr("Race against plain decoding and"), "caption")
        self._rivals = [self.rival.who, self.rival.policy, self.rival.gamma, self.rival.verifier]
        self._fields += [(self.rival.policy, 116, 112), (self.rival.gamma, 66, 54), (self.rival.verifier, 138, 130)]
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(10)
        self._place(False)
        second = QHBoxLayout()
        second.setSpacing(8)
        top = Qt.AlignmentFlag.AlignTop
        second.addWidget(self.mode, 0, top)
        second.addWidget(self.prompt, 1, top)
        second.addWidget(self.chat, 1, top)
        second.addWidget(self.device, 0, top)
        second.addWidget(self.provider, 0, top)
        self.race.setFixedHeight(30)
        second.addWidget(self.race, 0, top)
        for button in (self.run_button, self.pause_button, self.step_button, self.stop_button, self.tools_button):
            second.addWidget(button, 0, top)
        box = QVBoxLayout(self)
        box.setContentsMargins(14, 10, 14, 12)
        box.setSpacing(10)
        box.addLayout(self._grid)
        box.addWidget(self.advanced)
        box.addLayout(second)
        box.addWidget(self._reason)
        self._tighten(False)

    def _place(self, narrow: bool) -> None:
        """The fields in one line, the rival's under those of the first draft; or, without room for that, in two lines and two."""
        self._narrow, grid = narrow, self._grid
        for widget in (*self._models, *self._numbers, *self._rivals, self._rival_words, self.rival.badge):
            grid.removeWidget(widget)
        middle = Qt.AlignmentFlag.AlignVCenter
        if not narrow:
            for at, widget in enumerate((*self._models, *self._numbers)):
                grid.addWidget(widget, 0, at)
            for at, widget in enumerate((self._rival_words, *self._rivals)):
                grid.addWidget(widget, 1, at)
            grid.addWidget(self.rival.badge, 1, 5, 1, 3, Qt.AlignmentFlag.AlignLeft | middle)
        else:
            grid.addWidget(self._models[0], 0, 0, 1, 3)
            grid.addWidget(self._models[1], 0, 3, 1, 4)
            for at, widget in enumerate(self._numbers):
                grid.addWidget(widget, 1, at)
            grid.addWidget(self._rival_words, 2, 3, 1, 4)
            grid.addWidget(self.rival.badge, 2, 2, Qt.AlignmentFlag.AlignLeft | middle)
            grid.addWidget(self.rival.who, 3, 3, 1, 4)
            for at, widget in enumerate(self._rivals[1:]):
                grid.addWidget(widget, 3, at)
        self._rival_words.setAlignment(Qt.AlignmentFlag.AlignLeft if narrow else Qt.AlignmentFlag.AlignRight)
        for at in range(8):
            grid.setColumnStretch(at, int(at == 6) if narrow else int(at < 2))

    def _tighten(self, compact: bool) -> None:
        self._compact = compact
        for widget, width, small in self._fields:
            if not isinstance(widget, QComboBox):
                widget.setStyleSheet(NO_ARROWS if compact else "")
            widget.setFixedWidth(small if compact else width)
        for button in (self.pause_button, self.step_button, self.stop_button):
            button.setText("" if compact else " " + button.property("words"))
            button.setFixedWidth(34 if compact else 80)
            button.setStyleSheet("padding: 0;")
        self.run_button.setFixedWidth(76 if compact else 88)
        for part in self.mode.buttons.values():
            part.setStyleSheet("padding: 1px 8px; min-height: 18px;")
        self.advanced.tighten(compact)
        self._say_advanced()

    def minimumSizeHint(self) -> QSize:
        return QSize(NARROWEST, super().minimumSizeHint().height())  # width of the tight form, which the loose one turns into on the way

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if (self.width() < COMPACT) != self._compact:
            self._tighten(self.width() < COMPACT)
        narrow = self.width() < ONE_LINE  # or at 200 %: the models get a line of their own, else their names wouldn't be seen
        if narrow != self._narrow:
            self._place(narrow)

    def changeEvent(self, event) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "chat"):
            self.prompt.grow()
            self.chat.message.grow()

    def _show_advanced(self, on: bool) -> None:
        self.advanced.setVisible(on)

    # -- models

    def set_variants(
        self, variants: list[Variant], exported: list[Variant] | None = None, gone: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Fills the lists, keeping what's chosen. At first: the oldest original that has a draft, and its smallest draft.

        exported: exports of them, as core.exports.models gives them; they're offered, and never chosen by themselves. gone: why others
        aren't offered any more, by their ids; one that's chosen stays so until another is, and why it can't run is said.
        """
        target, draft = self.target_id, self.draft_id
        there = [*variants, *(exported or ())]
        missed = {target, draft, self.rival.id.removeprefix(BESIDE)} & self._variants.keys() & gone.keys() - {v.id for v in there}
        self._gone = {id: gone[id] for id in missed}
        self._variants = {v.id: v for v in in_lineage([*there, *(self._variants[id] for id in missed)])}
        fresh = not self._filled or target not in self._variants
        self._fill_target(target)
        if fresh and self.target_id:
            self._filled = True
            draft = self._best_draft()
        self._fill_drafts(draft if draft.startswith("\x00") or draft == PLAIN or draft in self._variants else self._best_draft())
        self._update()

    def _smaller_drafts(self, target: Variant) -> list[Variant]:
        """Models that can draft for a target and take less room, the smallest first; those of its own tokens only."""
        size = target.ledger.bytes_on_disk
        able = [
            v
            for v in self._variants.values()
            if v.ledger.bytes_on_disk < size
            and not exports.folder_of(v.id)
            and v.info.tokens_hash == target.info.tokens_hash
            and not draft_problem(target, v)
        ]
        return sorted(able, key=lambda v: (v.ledger.bytes_on_disk, v.id))

    def _best_draft(self) -> str:
        """The smallest model that can; without one the packed copy, which pays on most texts and needs nothing else."""
        target = self._variants.get(self.target_id)
        able = self._smaller_drafts(target) if target else []
        return able[0].id if able else PACKED

    def _fill_target(self, chosen: str) -> None:
        rows = []
        for v in self._variants.values():
            why = core_text(self._gone[v.id]) if v.id in self._gone else ""
            if not why and v.info.task != "causal-lm":
                why = core_text("It doesn't generate text.")
            if not why and not v.info.tokenizer:
                why = self.tr("It has no tokenizer.")
            rows.append((v.id, v.name, why, v.kind, ""))
        able = [id for id, _, why, _, _ in rows if not why and not exports.folder_of(id)]
        if chosen not in self._variants:
            drafted_for = [id for id in able if self._smaller_drafts(self._variants[id])]
            chosen = (drafted_for or able or [""])[0]
        self.target.fill(rows, chosen)

    def _fill_drafts(self, chosen: str) -> None:
        target = self._variants.get(self.target_id)
        rival = self.rival.id if self.rival.who.count() else PLAIN
        self.main.set_models(self._variants, target, chosen, gone=self._gone)
        beside = self._other_forms(target) if target else []
        rival = rival if rival.startswith("\x00") or rival in self._variants else PLAIN
        self.rival.set_models(self._variants, target, rival, beside, self._gone)

    def _other_forms(self, target: Variant) -> list[Variant]:
        """The variant that an export was made from and its other exports, or the exports of a variant."""
        of = target.parent if exports.folder_of(target.id) else target.id
        made = [v for v in self._variants.values() if exports.folder_of(v.id) and v.parent == of]
        source = [self._variants[of]] if of in self._variants and of != target.id else []
        return [*source, *(v for v in made if v.id != target.id)]

    def _target_changed(self) -> None:
        """A draft with other tokens than the new target's would do, but hardly well: the best one takes its place."""
        target, draft = self._variants.get(self.target_id), self._variants.get(self.draft_id)
        strange = target is not None and draft is not None and draft.info.tokens_hash != target.info.tokens_hash
        self._fill_drafts(self._best_draft() if strange else self.draft_id)
        self._update()

    @property
    def target_id(self) -> str:
        return self.target.currentData(ID) or ""

    @property
    def draft_id(self) -> str:
        return self.main.id

    def choose(self, box: ModelBox, id: str) -> bool:
        """Selects an entry by its id; False where it isn't there."""
        return box.choose(id)

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
        return self.main.plain

    @property
    def chatting(self) -> bool:
        return self.mode.current == "chat"

    @property
    def racing(self) -> bool:
        """Whether there's another lane than the one that's written; without a draft there's a race between forms of the target only."""
        return self.race.isChecked() and (not self.plain or bool(self.rival.beside))

    def names(self) -> tuple[str, str]:
        """(target's name, who drafts: '' for nobody)."""
        target = self._variants.get(self.target_id)
        return target.name if target else "", self.main.name()

    def rival_name(self) -> str:
        """Who drafts on the race's second lane; '' for nobody."""
        return self.rival.name() if self.racing else ""

    def text(self) -> str:
        """What is gone on from, as one text: the prompt, or the chat's latest message."""
        if not self.chatting:
            return self.prompt.toPlainText()
        said = self.chat.messages()
        return said[-1].content if said else ""

    @property
    def exported(self) -> bool:
        """Whether an export has a part in it."""
        named = (self.target_id, self.draft_id, *((self.rival.id, self.rival.beside) if self.racing else ()))
        return any(exports.folder_of(name) is not None for name in named)

    def drafting(self) -> Drafting:
        return Drafting(**self.main.values(), **self.advanced.drafting())

    def choice(self) -> Choice:
        return Choice(temperature=round(self.temperature.value(), 4), max_new_tokens=max(self.most.value(), 1), **self.advanced.choice())

    def spec(self, workspace: str, *, paused: bool = False) -> GenerateSpec:
        rival = Drafting(**self.rival.values(), **self.advanced.drafting()) if self.racing and not self.rival.plain else None
        beside = self.rival.beside or None if self.racing else None
        return GenerateSpec(
            **self.drafting().model_dump(),
            **self.choice().model_dump(),
            workspace=workspace,
            target=self.target_id,
            prompt="" if self.chatting else self.prompt.toPlainText(),
            messages=self.chat.messages() if self.chatting else (),
            race=self.racing,
            rival=rival,
            beside=beside,
            provider=self.provider.chosen() if self.exported else "",
            paused=paused,
        )

    def set_spec(self, spec: GenerateSpec) -> None:
        """Puts a run's settings back into the form, as far as its models are still there."""
        self.target.choose(spec.target)
        self.set_drafting(spec)
        self.advanced.set_choice(spec)
        self.temperature.setValue(spec.temperature)
        self.most.setValue(spec.max_new_tokens)
        if spec.messages:
            self.chat.set_messages(spec.messages)
        else:
            self.prompt.setPlainText(spec.prompt)
        self.mode.set_current("chat" if spec.messages else "text")
        self.race.setChecked(spec.race)
        self.rival.set(spec.rival or Drafting())
        if spec.beside:
            self.rival.who.choose(BESIDE + spec.beside)
        self._update()

    def set_drafting(self, drafting: Drafting) -> None:
        """Puts a way to draft into the form: what 'find a draft' found, or a recorded run's."""
        self.main.set(drafting)
        self.advanced.set_drafting(drafting)
        self._update()

    def conversation(self, messages: tuple[Turn, ...]) -> bool:
        """Whether a chat that was sent is the one in the form, so that its reply belongs there."""
        system = self.chat.system.text()
        first = (Turn(role="system", content=system),) if system.strip() else ()
        return bool(messages) and (*first, *self.chat.turns) == tuple(messages)

    def problem(self) -> str:
        """Why it can't run, as a sentence; '' where it can."""
        if not self._variants:
            return self.tr("Open a model first.")
        if not self.target_id:
            return self.tr("No model here can generate text.")
        name = self._variants[self.target_id].name
        if why := self.target.currentData(WHY):
            return self.tr("{name} can't be the target. {why}").format(name=name, why=why)
        if why := self.main.problem() or (self.rival.problem() if self.racing else ""):
            return why
        if why := self.advanced.problem():
            return why
        if self.chatting:
            if not self._variants[self.target_id].info.chat_template:
                return self.tr("{name} has no chat template, so turns can't be written the way it knows. Use Text.").format(name=name)
            return self.chat.problem()
        if not self.prompt.toPlainText():
            return self.tr("The prompt is empty. Write a few words to go on from.")
        if self.advanced.spin("min_new_tokens").value() > self.most.value():
            return self.tr("The least number of tokens is more than the most.")
        return ""

    # -- states

    def set_state(self, state: str) -> None:
        """idle, starting, running or paused."""
        self._state = state
        self._update()

    def _update(self) -> None:
        if not hasattr(self, "_rivals") or not hasattr(self, "stop_button"):
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
        self.pause_button.setText("" if self._compact else " " + words)
        self.pause_button.setToolTip(self.tr("Go on") if paused else self.tr("Wait after this round"))
        self.step_button.setEnabled(not problem if idle else True)
        self.step_button.setToolTip(
            problem or self.tr("Start, and show the first round step by step: draft, verify, correct")
            if idle
            else self.tr("One step: draft, verify or correct")
        )
        self.stop_button.setEnabled(not idle)
        drafts, greedy = not self.plain, self.temperature.value() == 0
        forms = any(self.rival.who.itemData(i, ID).startswith(BESIDE) for i in range(self.rival.who.count()))
        self.race.setEnabled(drafts or forms)
        for widget in (self._rival_words, *self._rivals):
            widget.setVisible(self.race.isChecked() and (drafts or forms))
        self.rival.badge.setVisible(self.racing and not self.rival.lossless)
        self.provider.set_wanted(self.exported)
        self.prompt.setVisible(not self.chatting)
        self.chat.setVisible(self.chatting)
        self.chat.set_steady(not idle)
        able = bool(self._variants) and bool(self.target_id) and not self.target.currentData(WHY)
        for part in (self.find_button, self.find_action):
            part.setEnabled(able)
        self.check_action.setEnabled(able and not self.main.problem() and not self.plain)
        self._show_what_applies(greedy)
        self._say_advanced()
        unsaid = self.chatting and problem == self.chat.problem()  # a message still to be written is nothing to warn of
        shown = problem if self._variants and not unsaid else ""
        self._reason.setText(shown)
        self._reason.setVisible(bool(shown))
        self.changed.emit()

    def _say_advanced(self) -> None:
        count = self.advanced.count
        words = self.tr("Advanced") if not count else self.tr("Advanced \u00b7 {n}").format(n=count)
        self.advanced_button.setText(f" {words}" if not self._compact else str(count or ""))
        self.advanced_button.setAccessibleName(words)
        self.advanced_button.setToolTip(self.tr("Finer settings of sampling and drafting; {n} of them changed").format(n=count))

    def _show_what_applies(self, greedy: bool) -> None:
        draftings = [Drafting(**self.main.values())]
        if self.racing:
            draftings.append(Drafting(**self.rival.values()))
        self.advanced.show_for(*draftings, greedy=greedy)


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
