"""Find a draft: every way to draft for a target tried on the person's prompts, in a table and a plot, with the best named.

Covers what's to be tried and how it's shown; rows, their order and the break-even line are app.drafts_tried's, and all
measuring is the job's (FindDraftSpec). Says plainly where none pays. Taking a way up is the decode lab's: `chosen`.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.drafts_tried import Tried, common_costs, ranked, read_row
from app.forms import calm_wheel
from app.notes import note_text
from app.plots.worth import WorthPlot
from app.text import core_text, fmt_bytes
from app.theme import kind_icon, restyle
from app.tool_dialog import ToolDialog
from app.tried_table import TriedModel, TriedTable, times
from app.widgets import ElidedLabel, EmptyState, IconLabel, button, label, panel
from core.events import DraftTried
from core.exports import folder_of
from core.pairing import draft_note, draft_problem
from core.records import Choice, FindDraftSpec, Variant

BREAK = "---"  # on a line of its own, between two prompts


def split_prompts(words: str) -> tuple[str, ...]:
    """The prompts of a text in which a line of three dashes stands between two; empty ones are passed over."""
    prompts: list[list[str]] = [[]]
    for line in words.split("\n"):
        if line.strip() == BREAK:
            prompts.append([])
        else:
            prompts[-1].append(line)
    found = ("\n".join(lines).strip("\n") for lines in prompts)
    return tuple(prompt for prompt in found if prompt.strip())


class FindDraftDialog(ToolDialog):
    """`choice`: how the lab samples at the moment; its penalties and truncations are kept, its temperature can be changed here."""

    chosen = Signal(object)  # core.records.Drafting

    def __init__(
        self,
        library: Any,
        board: Any,
        target_id: str,
        prompt: str,
        parent: QWidget | None = None,
        *,
        choice: Choice | None = None,
        device: str = "auto",
    ):
        self.library, self.target_id, self.device = library, target_id, device
        self._choice = choice or Choice()
        self.rows: list[Tried] = []
        self.best: tuple | None = None
        self._spec: FindDraftSpec | None = None
        self._plain_speed: float | None = None
        self._over = ""  # how the search ended: finished, cancelled or failed
        super().__init__(
            board,
            "find_draft",
            self.tr("Find a draft"),
            self.tr(
                "Tries every way to draft for this target on your own prompts, each timed in turns with plain decoding on this machine. "
                "A way pays when its guesses are kept often enough for what they cost; where none does, that's said too."
            ),
            parent,
        )
        self._make(prompt)
        library.changed.connect(self._fill_ways)
        self._fill_ways()
        self.refresh()

    # -- making

    def _make(self, prompt: str) -> None:
        self.pages = QStackedWidget()
        self.body.addWidget(self.pages, 1)
        self.pages.addWidget(self._make_setup(prompt))
        self.pages.addWidget(self._make_results())
        self.no_target = EmptyState(
            "draft",
            self.tr("No target chosen"),
            self.tr("Choose the model whose text it is in the decode lab, then come back: this looks for the draft that speeds it up."),
        )
        self.pages.addWidget(self.no_target)
        self.run_button.setText(self.tr("Try them"))
        self.run_button.setProperty("tip", self.tr("Tries what's ticked, one after another (Ctrl+Enter)"))
        self.change_button = self.add_button(button(self.tr("Change…"), self._back, name="change"))
        self.change_button.setToolTip(self.tr("Back to the prompts and the ways to try"))
        self.use_button = self.add_button(button(self.tr("Use this draft"), self.use, name="use", primary=True))
        self.prompts.setFocus()
        self.prompts.moveCursor(QTextCursor.MoveOperation.End)

    def _make_setup(self, prompt: str) -> QWidget:
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        left, right = panel(), panel()
        row.addWidget(left, 3)
        row.addWidget(right, 2)
        box = QVBoxLayout(left)
        box.setContentsMargins(14, 10, 14, 12)
        box.setSpacing(8)
        head = QHBoxLayout()
        title = label(self.tr("Prompts"), "section")
        head.addWidget(title)
        self.prompt_count = label("", "caption")
        head.addWidget(self.prompt_count)
        head.addStretch(1)
        add = button(self.tr("Add a prompt"), self._add_prompt, name="add_prompt")
        add.setProperty("flat", True)
        add.setAutoDefault(False)
        add.setToolTip(self.tr("One more, after a line of three dashes. Several kinds of text give a fairer answer than one."))
        head.addWidget(add)
        box.addLayout(head)
        self.prompts = QPlainTextEdit(prompt)
        self.prompts.setObjectName("prompts")
        self.prompts.setTabChangesFocus(True)
        self.prompts.setAccessibleName(self.tr("Prompts"))
        self.prompts.setPlaceholderText(self.tr("What you'd ask this model. A line of three dashes stands between two prompts."))
        self.prompts.setToolTip(self.tr("Which draft pays depends on the text: try those that you'll use it for."))
        self.prompts.textChanged.connect(self.refresh)
        title.setBuddy(self.prompts)
        box.addWidget(self.prompts, 1)
        box.addLayout(self._make_numbers())
        box = QVBoxLayout(right)
        box.setContentsMargins(14, 10, 6, 10)
        box.setSpacing(6)
        box.addWidget(label(self.tr("Ways to try"), "section"))
        self.target_label = ElidedLabel("", "caption")
        box.addWidget(self.target_label)
        self._ways = QWidget()
        self._ways_box = QVBoxLayout(self._ways)
        self._ways_box.setContentsMargins(0, 2, 8, 2)
        self._ways_box.setSpacing(9)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(self._ways)
        box.addWidget(scroll, 1)
        self.ways: dict[tuple[str, str | None], QCheckBox] = {}
        return page

    def _make_numbers(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        self.temperature = QDoubleSpinBox()
        self.temperature.setRange(0.0, 5.0)
        self.temperature.setSingleStep(0.1)
        self.temperature.setSpecialValueText(self.tr("greedy"))
        self.temperature.setValue(self._choice.temperature)
        self.tokens, self.gamma, self.repeats = QSpinBox(), QSpinBox(), QSpinBox()
        self.tokens.setRange(8, 1024)
        self.tokens.setSingleStep(16)
        self.tokens.setValue(48)
        self.gamma.setRange(1, 16)
        self.gamma.setValue(8)
        self.repeats.setRange(1, 9)
        self.repeats.setValue(3)
        for at, (name, words, box, tip) in enumerate(
            (
                (
                    "temperature",
                    self.tr("Temperature"),
                    self.temperature,
                    self.tr("How freely the target samples. Guesses are kept more often when it's greedy."),
                ),
                (
                    "tokens",
                    self.tr("Tokens"),
                    self.tokens,
                    self.tr("New tokens for each prompt. More of them: steadier, and slower."),
                ),
                (
                    "gamma",
                    self.tr("γ at most"),
                    self.gamma,
                    self.tr("The longest draft considered: γ is how many tokens are guessed before the target checks them in one call."),
                ),
                (
                    "repeats",
                    self.tr("Repeats"),
                    self.repeats,
                    self.tr("Each way and plain decoding take turns so many times; the medians are compared."),
                ),
            )
        ):
            box.setObjectName(name)
            box.setToolTip(tip)
            box.setAccessibleName(words)
            box.setMinimumWidth(64)
            calm_wheel(box)
            title = label(words, "caption")
            title.setBuddy(box)
            title.setToolTip(tip)
            grid.addWidget(title, 0, at)
            grid.addWidget(box, 1, at)
            grid.setColumnStretch(at, 1)
        return grid

    def _make_results(self) -> QWidget:
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        verdict = QFrame()
        verdict.setProperty("panel", True)
        row = QHBoxLayout(verdict)
        row.setContentsMargins(14, 9, 14, 9)
        row.setSpacing(12)
        self.verdict_icon = IconLabel("queued", 20, "text2")
        row.addWidget(self.verdict_icon, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(2)
        self.verdict = label("", "section", wrap=True)
        self.verdict.setObjectName("verdict")
        self.conditions = label("", "caption", wrap=True)
        self.conditions.setObjectName("conditions")
        words.addWidget(self.verdict)
        words.addWidget(self.conditions)
        row.addLayout(words, 1)
        box.addWidget(verdict)
        self.model = TriedModel(self)
        self.table = TriedTable(self.model)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._selected())
        self.table.doubleClicked.connect(lambda _: self.use())
        self.plot = WorthPlot(self._card)
        self.plot.chosen.connect(self.select)
        holder, plots = panel(), panel()
        inside = QVBoxLayout(holder)
        inside.setContentsMargins(6, 4, 6, 6)
        inside.addWidget(self.table)
        inside = QVBoxLayout(plots)
        inside.setContentsMargins(10, 8, 6, 4)
        inside.setSpacing(2)
        title = label(self.tr("Cost against acceptance"), "section")
        title.setToolTip(
            self.tr(
                "Up: guesses are kept more often. Left: a guess costs less. In the tinted field drafting is predicted to be faster than "
                "plain decoding, at the length that suits it best; on its edge it's even.\n"
                "A filled point was faster by the clock, a hollow one wasn't."
            )
        )
        self.line_note = ElidedLabel("", "muted")
        inside.addWidget(title)
        inside.addWidget(self.line_note)
        inside.addWidget(self.plot, 1)
        self.split = QSplitter(Qt.Orientation.Horizontal)
        self.split.setHandleWidth(8)
        self.split.setChildrenCollapsible(False)
        self.split.addWidget(holder)
        self.split.addWidget(plots)
        self.split.setStretchFactor(0, 4)
        self.split.setStretchFactor(1, 3)
        self.split.setSizes([540, 400])
        self.waiting = EmptyState(
            "queued", self.tr("Nothing measured yet"), self.tr("A row appears here as each way has been tried, and a point in the plot.")
        )
        self.stack = QStackedWidget()
        self.stack.addWidget(self.waiting)
        self.stack.addWidget(self.split)
        box.addWidget(self.stack, 1)
        detail = QFrame()
        detail.setProperty("card", True)
        inside = QVBoxLayout(detail)
        inside.setContentsMargins(12, 7, 12, 7)
        self.detail = label("", "caption", wrap=True)
        self.detail.setObjectName("row_detail")
        inside.addWidget(self.detail)
        self._detail_card = detail
        detail.hide()
        box.addWidget(detail)
        return page

    # -- the ways to try

    @property
    def target(self) -> Variant | None:
        return self.library.model(self.target_id) if self.target_id else None

    def _fill_ways(self) -> None:
        """The models of the workspace as they are now, and the ways that need none; ticks are kept."""
        target, ticked = self.target, {key: box.isChecked() for key, box in self.ways.items()}
        while self._ways_box.count():
            widget = self._ways_box.takeAt(0).widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.ways = {}
        if target is not None:
            self.target_label.setText(self.tr("Target: {name}").format(name=target.name))
            graph = self.tr("An ONNX export can't draft for itself that way.") if folder_of(target.id) else ""
            for proposer in ("packed", "ngram", "layer-skip", "early-exit"):
                title, tip = self._way(proposer)
                why = graph if proposer != "ngram" else ""
                self._add_way((proposer, None), title, tip, why, ticked.get((proposer, None), proposer != "early-exit"))
            for v in (*self.library.variants(), *self.library.exported_models()):
                if v.id != target.id and v.info.task == "causal-lm":
                    key, why, note = ("draft", v.id), draft_problem(target, v), draft_note(target, v)
                    line = (
                        (self.tr("ONNX export") + ", " if folder_of(v.id) else "")
                        + fmt_bytes(v.ledger.bytes_on_disk)
                        + (f". {core_text(note)}" if note else "")
                    )
                    self._add_way(key, v.name, line, why, ticked.get(key, True), v.kind)
        self._ways_box.addStretch(1)
        if not self.running and self.pages.currentIndex() != 1:
            self.pages.setCurrentIndex(0 if target is not None else 2)
        self.refresh()

    def _add_way(self, key: tuple[str, str | None], title: str, tip: str, why: str, on: bool, kind: str = "") -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(1)
        box = QCheckBox(title)
        box.setObjectName(f"way_{key[1] or key[0]}")
        if kind:
            box.setIcon(kind_icon(kind))
            box.setIconSize(QSize(14, 14))
        box.setEnabled(not why)
        box.setChecked(on and not why)
        box.setMinimumWidth(1)
        words = core_text(why) if why else tip
        box.setToolTip(words)
        box.setAccessibleDescription(words)
        box.toggled.connect(lambda _: self.refresh())
        column.addWidget(box)
        under = label(words, "muted", wrap=True)
        under.setContentsMargins(22, 0, 0, 0)
        column.addWidget(under)
        self._ways_box.addWidget(holder)
        self.ways[key] = box

    def _way(self, proposer: str) -> tuple[str, str]:
        """A way that needs no other model: its name, and a line about it."""
        if proposer == "ngram":
            line = self.tr("What followed the same words earlier. Costs nothing; good where text repeats itself.")
            return self.tr("N-gram lookup"), line
        if proposer == "packed":
            line = self.tr("The target with 8-bit weights, made in memory: nearly its own guesses, for less.")
            return self.tr("Packed copy of the target"), line
        if proposer == "layer-skip":
            line = self.tr("The target with some layers left out; which ones is searched on your prompts.")
            return self.tr("Layer skip"), line
        return self.tr("Early exit"), self.tr("The target's first layers alone. Rarely pays without training.")

    def name_of(self, tried: Tried) -> str:
        """A way as a person calls it."""
        if tried.proposer == "draft":
            found = self.library.model(tried.draft) if tried.draft else None
            return found.name if found else tried.name
        return self._way(tried.proposer)[0]

    def picked(self) -> list[tuple[str, str | None]]:
        return [key for key, box in self.ways.items() if box.isChecked()]

    def _add_prompt(self) -> None:
        words = self.prompts.toPlainText().rstrip("\n")
        if words.strip():
            self.prompts.setPlainText(f"{words}\n{BREAK}\n")
        self.prompts.moveCursor(QTextCursor.MoveOperation.End)
        self.prompts.setFocus()

    # -- the search

    def problem(self) -> str:
        if self.target is None:
            return self.tr("There's no target to find a draft for.")
        if not split_prompts(self.prompts.toPlainText()):
            return self.tr("Write a prompt first.")
        if not self.picked():
            return self.tr("Tick at least one way to try.")
        return ""

    def start_if_able(self) -> None:
        if self.pages.currentIndex() == 0:
            super().start_if_able()

    def spec(self) -> FindDraftSpec:
        picked = self.picked()
        drafts = tuple(draft for proposer, draft in picked if proposer == "draft" and draft)
        proposers = tuple(dict.fromkeys(proposer for proposer, _ in picked))
        kept = self._choice.model_dump(exclude={"temperature", "max_new_tokens"})
        return FindDraftSpec(
            **{name: value for name, value in kept.items() if name in Choice.model_fields},
            workspace=str(self.library.workspace.folder),
            target=self.target_id,
            prompts=split_prompts(self.prompts.toPlainText()),
            drafts=drafts,
            proposers=proposers,
            temperature=round(self.temperature.value(), 2),
            max_new_tokens=self.tokens.value(),
            gamma=self.gamma.value(),
            repeats=self.repeats.value(),
        )

    def start(self) -> None:
        self._spec, self.rows, self.best, self._plain_speed, self._over = self.spec(), [], None, None, ""
        self.plot.select(None)
        self.conditions.setText(self._conditions())
        self.pages.setCurrentIndex(1)
        self._show_rows()
        self.submit(self._spec, self.tr("Find a draft for {target}").format(target=self.target.name), self.device)

    def _conditions(self) -> str:
        spec = self._spec
        warmth = self.tr("greedy") if spec.temperature == 0 else self.tr("temperature {t}").format(t=f"{spec.temperature:g}")
        count = self.tr("1 prompt") if len(spec.prompts) == 1 else self.tr("{n} prompts").format(n=len(spec.prompts))
        parts = [
            self.target.name if self.target else spec.target,
            count,
            warmth,
            self.tr("{n} tokens each").format(n=spec.max_new_tokens),
            self.tr("γ at most {n}").format(n=spec.gamma),
        ]
        if self._plain_speed is not None:
            parts.append(self.tr("plain {n} tok/s").format(n=f"{self._plain_speed:.1f}"))
        return " · ".join(parts)

    def took(self, event: Any) -> None:
        if isinstance(event, DraftTried):
            tried = read_row(event.row)
            self.rows = [r for r in self.rows if r.key != tried.key] + [tried]
            self._show_rows()

    def finished_with(self, result: dict[str, Any]) -> None:
        rows = [read_row(row) for row in result.get("rows", ())]
        best = result.get("best")
        self.best = rows[best].key if best is not None else None
        self.rows, self._over = ranked(rows), "finished"
        self._plain_speed = (result.get("plain") or {}).get("tokens_per_s")
        self.conditions.setText(self._conditions())
        self._show_rows()
        measured = [r for r in self.rows if r.measured is not None]
        first = self.best or (measured[0].key if measured else None)
        if first is not None:
            self.select(first)
        self.table.setFocus()

    def ended_without(self) -> None:
        self._over = "failed" if self._failure is not None else "cancelled"
        self.rows = ranked(self.rows)
        self._show_rows()

    # -- what's shown

    def _show_rows(self) -> None:
        key = self.selected_key
        self.plot.set_costs(self._spec.gamma, common_costs(self.rows))
        self._say_line()
        self.model.set_rows(self.rows, {r.key: self.name_of(r) for r in self.rows}, self.best)
        self.table.show_reasons()
        self.plot.set_points(self.rows, {r.key: self.name_of(r) for r in self.rows}, self.best)
        self.stack.setCurrentIndex(1 if self.rows else 0)
        if key is not None:
            self.select(key)
        self._selected()
        self._say_verdict()

    def _say_line(self) -> None:
        if self.plot.costs_known:
            words = self.tr("Edge of the field: break-even, by this target's measured costs.")
        else:
            words = self.tr("Edge: break-even, if checking several tokens costs as much as one.")
        self.line_note.setText(words)

    def _say_verdict(self) -> None:
        best = next((r for r in self.rows if r.key == self.best), None)
        measured = [r for r in self.rows if r.measured is not None]
        if self.running or not self._over:
            leader = max(measured, key=lambda r: r.measured, default=None)
            words = self.tr("Trying {n} ways…").format(n=len(self.picked()))
            if leader is not None:
                words = self.tr("Ahead so far: {name}, {speed}").format(name=self.name_of(leader), speed=times(leader.measured))
            sign, color = "queued", "text2"
        elif best is not None:
            words = self.tr("{name} pays: {speed} the speed of plain decoding, measured.").format(
                name=self.name_of(best), speed=times(best.measured)
            )
            sign, color = "check", "ok"
            if best.unsteady:
                words = self.tr(
                    "{name} pays, by {low} to {high} from one repeat to the next: try again while the machine is quiet."
                ).format(name=self.name_of(best), low=times(best.low), high=times(best.high))
                sign, color = "check", "warn"
        elif self._over != "finished":
            words = self.tr("It ended early: what's below was measured, and the rest wasn't tried.")
            if not self.rows:
                words = self.tr("It ended before anything was measured.")
            sign, color = "warning", "warn"
        elif measured and ranked(measured)[0].by_chance:
            first = ranked(measured)[0]
            words = self.tr("None pays for sure: {name} reached {speed}, more than its {n} tokens a target call can give; that's chance.")
            words = words.format(name=self.name_of(first), speed=times(first.measured), n=f"{first.per_call:.2f}")
            sign, color = "info", "warn"
        elif measured and ranked(measured)[0].undecided:
            first = ranked(measured)[0]
            words = self.tr("None pays for sure: the best, {name}, was between {low} and {high} from one repeat to the next.").format(
                name=self.name_of(first), low=times(first.low), high=times(first.high)
            )
            sign, color = "info", "warn"
        elif measured:
            words = self.tr("None pays on these prompts: the best, {name}, reached {speed}. Decode without a draft.").format(
                name=self.name_of(ranked(measured)[0]), speed=times(ranked(measured)[0].measured)
            )
            sign, color = "info", "warn"
        else:
            words = self.tr("None of these ways pays or could be tried; each row says why.")
            sign, color = "warning", "warn"
        self.verdict.setText(words)
        self.verdict_icon.set_icon(sign, color)

    @property
    def selected_key(self) -> tuple | None:
        row = self.table.currentIndex().row()
        return self.model.rows[row].key if 0 <= row < len(self.model.rows) else None

    @property
    def selected(self) -> Tried | None:
        return next((r for r in self.rows if r.key == self.selected_key), None)

    def select(self, key: tuple) -> None:
        """Marks a way in the table and in the plot."""
        row = next((i for i, r in enumerate(self.model.rows) if r.key == key), -1)
        if row >= 0:
            self.table.setCurrentIndex(self.model.index(row, 0))

    def _selected(self) -> None:
        tried = self.selected
        self.plot.select(tried.key if tried else None)
        self.detail.setText(self._detail(tried) if tried else "")
        self._detail_card.setVisible(tried is not None)
        self.refresh()

    def _detail(self, tried: Tried) -> str:
        name = self.name_of(tried)
        if tried.why and tried.cost is None:
            return self.tr("{name} wasn't tried: {why}").format(name=name, why=note_text(tried.why))
        if tried.hopeless:
            words = self.tr(
                "{name}: a guess costs {cost} of a target call, so with every guess kept it could reach {speed}. It wasn't timed."
            )
            return words.format(name=name, cost=f"{tried.cost:.2f}", speed=times(tried.predicted))
        if tried.why:
            words = self.tr("{name}, whose guess costs {cost} of a target call, wasn't timed: {why}")
            return words.format(name=name, cost=f"{tried.cost:.2f}", why=note_text(tried.why))
        parts = []
        if tried.alpha is not None and tried.cost is not None:
            if tried.cost < 0.005:
                words = self.tr("{name}: the target keeps {kept} % of its guesses, and a guess costs next to nothing.")
            else:
                words = self.tr("{name}: the target keeps {kept} % of its guesses, and a guess costs {cost} of a target call.")
            parts.append(words.format(name=name, kept=f"{100 * tried.alpha:.0f}", cost=f"{tried.cost:.2f}"))
        if tried.gamma and tried.predicted is not None and tried.predicted <= 1:
            words = self.tr("No draft length is predicted to pay; γ = {gamma} comes nearest, {speed}.")
            parts.append(words.format(gamma=tried.gamma, speed=times(tried.predicted)))
        elif tried.gamma is not None and tried.predicted is not None:
            parts.append(self.tr("γ = {gamma} is predicted to pay most, {speed}.").format(gamma=tried.gamma, speed=times(tried.predicted)))
        if tried.measured is not None:
            words = self.tr("By the clock: {speed}.") if tried.measured > 1 else self.tr("By the clock: {speed}, slower than without.")
            if tried.undecided and not tried.unsteady:
                words = self.tr("By the clock: {speed} in the middle, {low} to {high} from one repeat to the next.")
            parts.append(words.format(speed=times(tried.measured), low=times(tried.low), high=times(tried.high)))
        if tried.unsteady:
            parts.append(
                self.tr("The repeats differ much ({low} to {high}): other work on this machine disturbs the clock.").format(
                    low=times(tried.low), high=times(tried.high)
                )
            )
        if tried.per_call is not None:
            parts.append(self.tr("{n} tokens a target call.").format(n=f"{tried.per_call:.2f}"))
        if tried.memory:
            parts.append(self.tr("{size} of memory besides the target's.").format(size=fmt_bytes(tried.memory)))
        return " ".join(parts)

    def _card(self, tried: Tried) -> tuple[str, str, list[tuple[str, str, str]]]:
        """The plot's hover card: title, line beneath, rows."""
        rows = [(self.tr("Acceptance α"), f"{tried.alpha:.2f}", ""), (self.tr("Cost c"), f"{tried.cost:.2f}", "")]
        if tried.predicted is not None:
            gamma = f"γ = {tried.gamma}" if tried.gamma else ""
            rows.append((self.tr("Predicted"), times(tried.predicted), gamma))
        if tried.measured is not None:
            rows.append((self.tr("Measured"), times(tried.measured), ""))
        line = self.tr("faster than plain") if tried.pays else self.tr("not faster than plain")
        if tried.undecided:
            line = self.tr("sometimes faster than plain, sometimes slower")
        return self.name_of(tried), line, rows

    # -- buttons

    def refresh(self) -> None:
        if not hasattr(self, "use_button"):
            return
        at = self.pages.currentIndex()
        count = len(split_prompts(self.prompts.toPlainText()))
        self.prompt_count.setText(str(count) if count > 1 else "")
        super().refresh()
        if at == 1 and self.status.property("problem"):
            self.say("")
            self.status.setProperty("problem", False)
        self.run_button.setVisible(at != 1)
        self.change_button.setVisible(at == 1 and not self.running)
        self.use_button.setVisible(at == 1)
        why = self._use_problem()
        self.use_button.setEnabled(not why)
        self.use_button.setToolTip(why or self.tr("Takes it up in the decode lab"))
        worth = self.selected is None or self.selected.pays
        self.use_button.setText(self.tr("Use this draft") if worth else self.tr("Use it all the same"))
        if self.use_button.property("primary") != worth:
            self.use_button.setProperty("primary", worth)
            restyle(self.use_button)
        self.use_button.setDefault(at == 1)

    def _use_problem(self) -> str:
        tried = self.selected
        if tried is None:
            return self.tr("Choose a row first.")
        if tried.why:
            return self.tr("It wasn't timed, for the reason in its row.")
        if tried.draft is not None and self.library.model(tried.draft) is None:
            return self.tr("It isn't in the workspace any more.")
        return ""

    def _back(self) -> None:
        self.tell_failure(None)
        self.pages.setCurrentIndex(0 if self.target is not None else 2)
        self.say("")
        self.refresh()
        self.prompts.setFocus()

    def use(self) -> None:
        """Hands the chosen way to the decode lab."""
        tried = self.selected
        if tried is None or self._use_problem():
            return
        self.chosen.emit(tried.drafting())
        self.say(self.tr("The decode lab drafts with {name} now.").format(name=self.name_of(tried)))
