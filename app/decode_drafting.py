"""Who drafts for the target, how far, and by which rule the target judges it: one lane's row of the decode lab's controls.

Covers the fields of a Drafting that are always in sight; those that few change are app.decode_advanced's. No layout here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QCoreApplication, QModelIndex, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QSizePolicy,
    QSpinBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionComboBox,
    QStyleOptionViewItem,
    QStylePainter,
)

from app.forms import calm_wheel
from app.text import core_text
from app.theme import kind_icon, theme, ui_font
from core import exports
from core.pairing import draft_note, draft_problem
from core.records import Drafting, Variant

PLAIN, NGRAM, PACKED, EARLY, SKIP = "", "\x00ngram", "\x00packed", "\x00early-exit", "\x00layer-skip"  # ids of entries that are no variant
PROPOSERS = {PLAIN: "none", NGRAM: "ngram", PACKED: "packed", EARLY: "early-exit", SKIP: "layer-skip"}
ENTRIES = {proposer: id for id, proposer in PROPOSERS.items()}
BESIDE = "\x00beside:"  # before the id of another form of the target, which decodes plainly
ID = Qt.ItemDataRole.UserRole
WHY = Qt.ItemDataRole.UserRole + 1  # why an entry can't be chosen; '' where it can
NAME = Qt.ItemDataRole.UserRole + 2
BADGE = Qt.ItemDataRole.UserRole + 3  # what stands in a pill behind the name: 'ONNX'
ADAPTIVE_MOST, FIXED_LENGTH = 8, 4
translate = QCoreApplication.translate


class ModelBox(QComboBox):
    """A list of models; closed, it shows a name that ends in … where it doesn't fit (a styled box would cut it).

    `opening` fires before the list is shown, so that it can be filled anew.
    """

    opening = Signal()

    def __init__(self, name: str, tip: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setToolTip(tip)
        self.setModel(QStandardItemModel(self))
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        self.setIconSize(QSize(14, 14))
        calm_wheel(self)
        self.setItemDelegate(_Badged(self))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def showPopup(self) -> None:
        self.opening.emit()
        super().showPopup()

    def paintEvent(self, event) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        badge = self.currentData(BADGE) or ""
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self).width()
        room -= self.iconSize().width() + 4 if not option.currentIcon.isNull() else 0
        room -= badge_width(badge)
        name = self.currentData(NAME) or option.currentText
        option.currentText = self.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        if badge:
            field = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self)
            paint_badge(painter, field, badge)

    def fill(self, rows: Sequence[tuple[str, str, str, str, str]], chosen: str) -> None:
        """rows: (id, name, why it can't be chosen or '', kind or '', tip). Emits nothing."""
        was = self.blockSignals(True)
        model: Any = self.model()
        model.clear()
        for id, name, why, kind, tip in rows:
            item = QStandardItem(f"{name}  \u2013  {why}" if why else name)
            item.setData(id, ID)
            item.setData(why, WHY)
            item.setData(name, NAME)
            if exports.folder_of(id.removeprefix(BESIDE)) is not None:
                item.setData("ONNX", BADGE)
            item.setEditable(False)
            item.setEnabled(not why)
            item.setToolTip(why or tip or name)
            if kind:
                item.setIcon(kind_icon(kind))
            model.appendRow(item)
        self.setCurrentIndex(next((i for i, row in enumerate(rows) if row[0] == chosen), -1))
        view = self.view()
        view.setMinimumWidth(min(view.sizeHintForColumn(0) + 24, 620) if rows else 0)
        self.blockSignals(was)

    def choose(self, id: str) -> bool:
        """Selects an entry by its id; False where it isn't there."""
        model = self.model()
        found = model.match(model.index(0, 0, QModelIndex()), ID, id, 1, Qt.MatchFlag.MatchExactly)
        if found:
            self.setCurrentIndex(found[0].row())
        return bool(found)


def badge_width(words: str) -> int:
    """What a badge takes of a line, the gap before it included; 0 without one."""
    return QFontMetrics(ui_font(10)).horizontalAdvance(words) + 14 if words else 0


def paint_badge(painter: QPainter, line: QRect, words: str) -> None:
    """A pill at the right end of a line."""
    font = ui_font(10)
    width, height = badge_width(words) - 4, QFontMetrics(font).height() + 2
    pill = QRect(line.right() - width, line.center().y() - height // 2 + 1, width, height)
    painter.save()
    painter.setFont(font)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().color("accent_soft"))
    painter.drawRoundedRect(pill, 7, 7)
    painter.setPen(theme().color("on_soft"))
    painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, words)
    painter.restore()


class _Badged(QStyledItemDelegate):
    """Entries with their badges."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Any) -> None:
        super().paint(painter, option, index)
        if badge := index.data(BADGE):
            paint_badge(painter, option.rect.adjusted(0, 0, -8, 0), badge)

    def sizeHint(self, option: QStyleOptionViewItem, index: Any) -> QSize:
        size = super().sizeHint(option, index)
        return QSize(size.width() + badge_width(index.data(BADGE) or "") + 8, size.height())


class DraftingRow(QObject):
    """The widgets of one lane's drafting; whoever makes it lays them out. `changed` fires as any of them does."""

    changed = Signal()

    def __init__(self, name: str = "", *, nobody: str = "") -> None:
        """name: what the widgets' names end in; nobody: how the entry that drafts nothing is called."""
        super().__init__()
        self._variants: dict[str, Variant] = {}
        self._target: Variant | None = None
        self._nobody = nobody or self.tr("None (plain)")
        self._lengths = {"adaptive": ADAPTIVE_MOST, "fixed": FIXED_LENGTH}
        self.who = ModelBox(
            f"draft{name}",
            self.tr(
                "Who guesses the next tokens: a small fast model, the target itself in a cheaper form, "
                "or a look-up of what followed the same words before."
            ),
        )
        self.who.setAccessibleName(self.tr("Draft"))
        self.policy = self._box(f"policy{name}", self.tr("Policy"))
        self.policy.addItem(self.tr("Adaptive"), "adaptive")
        self.policy.addItem(self.tr("Fixed"), "fixed")
        self.policy.setToolTip(
            self.tr("Adaptive: each round's length is the one that measured costs and acceptance say pays most, or none at all.\n")
            + self.tr("Fixed: always the same length.")
        )
        self.gamma = QSpinBox()
        self.gamma.setObjectName(f"gamma{name}")
        self.gamma.setRange(0, 32)
        self.gamma.setValue(ADAPTIVE_MOST)
        self.gamma.setFixedHeight(30)
        self.gamma.lineEdit().setTextMargins(7, 0, 0, 0)  # the style sheet's padding doesn't reach it
        calm_wheel(self.gamma)
        self.gamma_label = QLabel()
        self.gamma_label.setProperty("role", "caption")
        self.gamma_label.setBuddy(self.gamma)
        self.verifier = self._box(f"verifier{name}", self.tr("Verifier"))
        for key, words, tip in (
            ("token", self.tr("Token"), self.tr("Token by token: each guess is kept with probability min(1, q/p). Lossless.")),
            ("block", self.tr("Block"), self.tr("The guess is judged as a whole, which keeps some more of it. Lossless.")),
            ("tree", self.tr("Tree"), self.tr("Several candidates at each depth, checked in the same call. Lossless.")),
            (
                "typical",
                self.tr("Typical"),
                self.tr("Whatever the target finds likely enough is kept. Not lossless: the text isn't the target's own."),
            ),
            (
                "top-k",
                self.tr("Top-k"),
                self.tr("Whatever is among the target's k likeliest is kept. Not lossless: the text isn't the target's own."),
            ),
        ):
            self.verifier.addItem(words, key)
            self.verifier.setItemData(self.verifier.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        self.badge = QLabel(self.tr("not lossless"))
        self.badge.setObjectName(f"badge{name}")
        self.badge.setProperty("role", "badge")
        self.badge.setToolTip(self.tr("What's written isn't distributed as the target's own text. How far off it is, is measured."))
        self.who.currentIndexChanged.connect(self.update)
        self.policy.currentIndexChanged.connect(self._policy_changed)
        self.gamma.valueChanged.connect(self._gamma_changed)
        self.verifier.currentIndexChanged.connect(self.update)
        self.update()

    @staticmethod
    def _box(name: str, words: str) -> QComboBox:
        box = QComboBox()
        box.setObjectName(name)
        box.setAccessibleName(words)
        box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        calm_wheel(box)
        return box

    # -- what can be chosen

    def set_models(
        self,
        variants: dict[str, Variant],
        target: Variant | None,
        chosen: str,
        beside: Sequence[Variant] = (),
        gone: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Fills the list of who may draft for a target. Emits nothing.

        beside: other forms of it, offered to be decoded plainly; gone: why some can't be used at all, by their ids.
        """
        self._variants, self._target = variants, target
        graph = self.tr("An ONNX export can't draft for itself that way.") if target is not None and exports.folder_of(target.id) else ""
        rows = [
            (PLAIN, self._nobody, "", "", ""),
            *(
                (
                    BESIDE + v.id,
                    self.tr("{name}, plain").format(name=v.name)
                    if exports.folder_of(v.id)
                    else self.tr("{name} by torch, plain").format(name=v.name),
                    core_text(gone[v.id]) if v.id in gone else "",
                    v.kind,
                    self.tr("The same model in another form, decoded without a draft in the same race"),
                )
                for v in beside
            ),
            (
                NGRAM,
                self.tr("N-gram look-up"),
                "",
                "",
                self.tr("What followed the same words before. Costs nothing; pays where text repeats."),
            ),
            (
                PACKED,
                self.tr("Packed copy of the target"),
                graph,
                "",
                self.tr(
                    "The target itself with its weights packed to 8 bits, made in memory at the first run. No training, high acceptance."
                ),
            ),
            (EARLY, self.tr("Early exit"), graph, "", self.tr("The target's own first layers, with its own cache.")),
            (SKIP, self.tr("Layer skip"), graph, "", self.tr("The target without the layers that your text misses least.")),
        ]
        for v in variants.values():
            why = gone.get(v.id) or (draft_problem(target, v) if target else "")
            note = draft_note(target, v) if target and not why else ""
            rows.append((v.id, v.name, core_text(why) if why else "", v.kind, core_text(note) if note else ""))
        self.who.fill(rows, chosen if any(row[0] == chosen for row in rows) else PLAIN)
        self.update()

    @property
    def beside(self) -> str:
        """The other form of the target that's to be decoded plainly; '' for none."""
        return self.id.removeprefix(BESIDE) if self.id.startswith(BESIDE) else ""

    @property
    def id(self) -> str:
        data = self.who.currentData(ID)
        return NGRAM if data is None else data

    @property
    def proposer(self) -> str:
        return "none" if self.beside else PROPOSERS.get(self.id, "draft")

    @property
    def plain(self) -> bool:
        return self.id == PLAIN or bool(self.beside)

    @property
    def lossless(self) -> bool:
        return self.plain or Drafting(verifier=self.verifier.currentData()).lossless

    def name(self) -> str:
        """Who drafts (or decodes beside the target), as a person says it; '' for nobody."""
        if self.id == PLAIN:
            return ""
        draft = self._variants.get(self.id)
        return draft.name if draft else self.who.currentData(NAME) or ""

    def problem(self) -> str:
        """Why it can't draft, as a sentence; '' where it can."""
        if (why := self.who.currentData(WHY)) and self.id in self._variants:
            return self.tr("{name} can't draft for this target. {why}").format(name=self._variants[self.id].name, why=why)
        if why and self.beside:
            return self.tr("{name} can't be decoded beside it. {why}").format(name=self._variants[self.beside].name, why=why)
        if why:
            return why
        if not self.plain and self.verifier.currentData() == "tree" and self._target is not None and exports.folder_of(self._target.id):
            return self.tr("An ONNX export reads one continuation at a time, so it can't check a tree. Choose another verifier.")
        if not self.plain and self.verifier.currentData() == "tree" and not self._makes_trees():
            return self.tr("A tree of candidates needs the packed copy, or a draft with the target's own tokens. Choose another verifier.")
        return ""

    def _makes_trees(self) -> bool:
        """Whether the draft tells how likely each candidate is in the target's own tokens."""
        draft, target = self._variants.get(self.id), self._target
        return self.proposer == "packed" or (draft is not None and target is not None and draft.info.tokens_hash == target.info.tokens_hash)

    # -- what it says

    def values(self) -> dict[str, Any]:
        """The fields of a Drafting that are chosen here."""
        return {
            "proposer": self.proposer,
            "draft": self.id if self.proposer == "draft" else None,
            "gamma": self.gamma.value(),
            "policy": self.policy.currentData(),
            "verifier": self.verifier.currentData(),
        }

    def set(self, drafting: Drafting) -> None:
        """Puts a drafting into the fields, as far as its draft is still there."""
        self.who.choose(drafting.draft or PLAIN if drafting.proposer == "draft" else ENTRIES[drafting.proposer])
        self.policy.setCurrentIndex(self.policy.findData(drafting.policy))
        self.gamma.setValue(drafting.gamma)
        self.verifier.setCurrentIndex(self.verifier.findData(drafting.verifier))

    def _policy_changed(self) -> None:
        self.gamma.setValue(self._lengths[self.policy.currentData()])  # each policy keeps its own length
        self.update()

    def _gamma_changed(self) -> None:
        self._lengths[self.policy.currentData()] = self.gamma.value()
        self.update()

    def update(self) -> None:
        adaptive, drafts = self.policy.currentData() == "adaptive", not self.plain
        tip = (
            self.tr("The most tokens guessed in a round; how many it really is, is chosen round by round. 0 drafts nothing.")
            if adaptive
            else self.tr("Draft length: how many tokens are guessed before the target checks them all in one call. 0 drafts nothing.")
        )
        words = self.tr("Most \u03b3") if adaptive else self.tr("Length \u03b3")
        self.gamma_label.setText(words)
        self.gamma.setAccessibleName(words)
        for widget in (self.gamma, self.gamma_label):
            widget.setToolTip(tip)
        for widget in (self.policy, self.gamma, self.verifier):
            widget.setEnabled(drafts)
        self.verifier.setToolTip(self.verifier.currentData(Qt.ItemDataRole.ToolTipRole) or "")
        self.badge.setVisible(not self.lossless)
        self.changed.emit()
