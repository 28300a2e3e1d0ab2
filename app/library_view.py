"""The lineage tree: every variant under what it was made from, with a filter, a menu, and ghosts of running jobs.

Covers showing and choosing; what a menu entry does is the window's (signal `wanted`).
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QIcon, QKeyEvent, QKeySequence, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QLineEdit,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app import text
from app.error_dialog import show_failure
from app.library_model import NAME, SCORE, SIZE, GhostRole, IdRole, Library, LibraryModel, MatchRole
from app.theme import SEMIBOLD, icon, icon_pixmap, numbers, theme, ui_font
from app.widgets import label
from core.errors import UserError
from core.records import Variant

ROW, NARROW = 30, 280


class LibraryView(QFrame):
    """`wanted(action, variant)`: rename is done here; decode, draft, prune, quantize, distil, finetune, evaluate, export,
    folder, recipe, delete are asked for."""

    wanted = Signal(str, str)

    def __init__(self, library: Library, board: Any = None):
        super().__init__()
        self.setProperty("panel", True)
        self.library = library
        self.model = LibraryModel(library, board, self)
        box = QVBoxLayout(self)
        box.setContentsMargins(8, 10, 8, 8)
        box.setSpacing(8)
        head = label(self.tr("Models"), "section")
        head.setContentsMargins(6, 0, 0, 0)
        box.addWidget(head)

        self.search = QLineEdit()
        self.search.setObjectName("filter")
        self.search.setPlaceholderText(self.tr("Filter variants"))
        self.search.setClearButtonEnabled(True)
        for clear in self.search.findChildren(QToolButton):
            clear.setIcon(icon("close", "muted"))
        self.search.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.search.textChanged.connect(self.model.set_filter)
        self.search.installEventFilter(self)
        row = QVBoxLayout()
        row.setContentsMargins(4, 0, 4, 0)
        row.addWidget(self.search)
        box.addLayout(row)

        self.tree = _Tree()
        self.tree.setObjectName("tree")
        self.tree.setAccessibleName(self.tr("Variants"))
        self.tree.setModel(self.model)
        self.tree.setItemDelegate(_Delegate(self.tree, self))
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(SIZE, QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(SCORE, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(SIZE, 56)
        header.resizeSection(SCORE, 60)
        header.setSectionsClickable(False)
        header.setHighlightSections(False)
        box.addWidget(self.tree, 1)

        self.nothing = label("", "muted", wrap=True)
        self.nothing.setContentsMargins(8, 0, 8, 4)
        self.nothing.hide()
        box.addWidget(self.nothing)

        self._closed: set[str] = set()
        self._restoring = False
        self.model.rebuilt.connect(self._restore)
        self.tree.selectionModel().currentChanged.connect(self._on_current)
        self.tree.collapsed.connect(lambda i: self._fold(i, True))
        self.tree.expanded.connect(lambda i: self._fold(i, False))
        self.tree.activated_row.connect(lambda i: self._act("decode", i.data(IdRole)))
        self.tree.menu_at.connect(self._show_menu)
        self.tree.keyed.connect(self._on_key)
        library.selected.connect(self._on_selected)
        self.setFocusProxy(self.tree)
        theme().changed.connect(self.tree.viewport().update)
        self._restore()

    # -- state

    def _restore(self) -> None:
        """After a reset: open the branches that were open, and take up the selection again."""
        self._restoring = True
        self.tree.expandAll()
        if not self.model.filter:
            for id in list(self._closed):
                index = self.model.index_of(id)
                if index.isValid():
                    self.tree.setExpanded(index, False)
        self._on_selected(self.library.selection)
        self._restoring = False
        self._say()

    def _fold(self, index: QModelIndex, closed: bool) -> None:
        """Remembers what a person folded; not what a rebuild or a filter opens."""
        if not self._restoring and not self.model.filter:
            (self._closed.add if closed else self._closed.discard)(index.data(IdRole))

    def _say(self) -> None:
        words = []
        if self.model.filter and not self.model.rowCount():
            words.append(self.tr("No variant matches “{words}”.").format(words=self.search.text()))
        if self.library.problems:
            n = len(self.library.problems)
            words.append(self.tr("Damaged records left out: {n}").format(n=n))
            self.nothing.setToolTip("\n".join(" ".join(text.failure_text(p)) for p in self.library.problems.values()))
        self.nothing.setText("\n".join(words))
        self.nothing.setVisible(bool(words))

    def _on_selected(self, variant: str) -> None:
        index = self.model.index_of(variant) if variant else QModelIndex()
        if not index.isValid():
            self.tree.selectionModel().clear()
        elif self.tree.currentIndex().data(IdRole) != variant or not self.tree.selectionModel().isSelected(index):
            self.tree.setCurrentIndex(index)
            self.tree.scrollTo(index)

    def _on_current(self, now: QModelIndex, before: QModelIndex) -> None:
        if not self._restoring and now.isValid() and not now.data(GhostRole):
            self.library.select(now.data(IdRole))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.tree.setColumnHidden(SIZE, self.width() < NARROW)  # names need the room; plot and inspector tell the size

    # -- keys and the menu

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        if watched is self.search and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape and self.search.text():
                self.search.clear()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return):
                self.tree.setFocus()
                return True
        return super().eventFilter(watched, event)

    def _on_key(self, key: int) -> None:
        variant = self.library.selection
        if not variant:
            return
        if key == Qt.Key.Key_F2:
            self.rename(variant)
        elif key == Qt.Key.Key_Delete:
            self._act("delete", variant)

    def _act(self, action: str, variant: str) -> None:
        if action == "rename":
            self.rename(variant)
        elif self.library.get(variant):
            self.wanted.emit(action, variant)

    def rename(self, variant: str) -> None:
        index = self.model.index_of(variant)
        if index.isValid():
            self.tree.setCurrentIndex(index)
            self.tree.edit(index)

    def _show_menu(self, index: QModelIndex, where: QPoint) -> None:
        if index.isValid() and not index.data(GhostRole):
            self.menu(index.data(IdRole)).popup(where)

    def _views(self, v: Variant) -> list[tuple[str, str, str, bool]]:
        """What can be looked at part by part; what each part is worth only where it isn't quantized yet."""
        layers = ("layers", "columns", self.tr("La&yers…"), v.info.task != "diffusion")
        if v.info.quantization:
            return [layers]
        judged = v.info.task in ("causal-lm", "classifier")
        return [
            layers,
            ("sensitivity", "columns", self.tr("&Sensitivity of layers…"), judged),
            ("heads", "prune", self.tr("Attention &heads…"), v.info.task not in ("unknown", "diffusion")),
            ("gradients", "curve", self.tr("Study &gradients…"), v.info.task == "causal-lm"),
        ]

    def menu(self, variant: str) -> QMenu:
        """What can be done with a variant."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        v = self.library.variant(variant)
        generates = v.info.task == "causal-lm"
        entries: list[tuple[str, str, str, bool] | None] = [
            ("decode", "decode", self.tr("&Decode with it"), generates),
            ("draft", "play", self.tr("Use as dra&ft"), generates),
            None,
            ("prune", "prune", self.tr("&Prune…"), True),
            ("quantize", "quantize", self.tr("&Quantize…"), True),
            ("distil", "distil", self.tr("D&istil…"), True),
            ("finetune", "finetune", self.tr("Fine-&tune…"), True),
            ("evaluate", "evaluate", self.tr("&Evaluate…"), True),
            ("export", "export", self.tr("E&xport…"), True),
            None,
            *self._views(v),
            None,
            ("rename", "rename", self.tr("&Rename"), True),
            ("folder", "folder", self.tr("Show &folder"), True),
            ("recipe", "copy", self.tr("&Copy recipe"), True),
            None,
            ("delete", "trash", self.tr("De&lete…"), True),
        ]
        for entry in entries:
            if entry is None:
                menu.addSeparator()
                continue
            key, picture, words, enabled = entry
            action = QAction(icon(picture), words, menu)
            action.setObjectName(f"menu_{key}")
            action.setEnabled(enabled)
            if key == "rename":
                action.setShortcut(QKeySequence(Qt.Key.Key_F2))
            elif key == "delete":
                action.setShortcut(QKeySequence(Qt.Key.Key_Delete))
            action.triggered.connect(lambda _=False, key=key: self._act(key, variant))
            menu.addAction(action)
        return menu


class _Tree(QTreeView):
    menu_at = Signal(QModelIndex, QPoint)
    keyed = Signal(int)
    activated_row = Signal(QModelIndex)

    def __init__(self) -> None:
        super().__init__()
        self.setUniformRowHeights(True)
        self.setIndentation(14)
        self.setRootIsDecorated(True)
        self.setItemsExpandable(True)
        self.setExpandsOnDoubleClick(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.setIconSize(QSize(16, 16))
        self.doubleClicked.connect(self.activated_row)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        at = self.currentIndex()
        real = at.isValid() and not at.data(GhostRole)
        if event.key() in (Qt.Key.Key_F2, Qt.Key.Key_Delete):
            self.keyed.emit(event.key())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and real:
            self.activated_row.emit(at)
        elif event.key() == Qt.Key.Key_Menu and real:
            self.menu_at.emit(at, self.viewport().mapToGlobal(self.visualRect(at).bottomLeft()))
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: Any) -> None:
        index = self.indexAt(event.pos())
        if index.isValid() and not index.data(GhostRole):
            self.setCurrentIndex(index.siblingAtColumn(NAME))
        self.menu_at.emit(index, event.globalPos())

    def drawBranches(self, painter: QPainter, rect: QRect, index: QModelIndex) -> None:
        """A chevron for what can be folded, on the row's own background."""
        self._background(painter, QRect(self.viewport().rect().left(), rect.top(), rect.width() + 1, rect.height()), index, first=True)
        if self.model().rowCount(index):
            name = "down" if self.isExpanded(index) else "chevron"
            ratio = self.devicePixelRatioF()
            side = 12
            at = QPoint(rect.right() - side + 3, rect.center().y() - side // 2 + 1)  # clear of the mark of what's chosen
            painter.drawPixmap(at, icon_pixmap(name, side, "text2", ratio))

    def _background(self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex, first: bool) -> None:
        chosen = self.selectionModel().isSelected(index)
        if chosen:
            painter.fillRect(rect, theme().color("accent_soft"))
            if first:
                painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), theme().color("accent"))


class _Delegate(QStyledItemDelegate):
    """Rows of 30 px: shape, name with the filter's words marked, figures in columns. Ghosts are pale with a dashed ring."""

    def __init__(self, tree: _Tree, view: LibraryView):
        super().__init__(tree)
        self._tree, self._view = tree, view

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex) -> QSize:
        return QSize(60, ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        t = theme()
        painter.save()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        ghost = bool(index.data(GhostRole))
        self._tree._background(painter, option.rect, index, first=False)
        if not chosen and option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, t.color("surface2"))
        words = index.data(Qt.ItemDataRole.DisplayRole) or ""
        if index.column() == NAME:
            self._paint_name(painter, option, index, words, chosen, ghost)
        else:
            painter.setFont(numbers(12))
            painter.setPen(t.color("accent" if ghost else "on_soft" if chosen else "text2"))
            painter.drawText(option.rect.adjusted(0, 0, -8, 0), int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), words)
        painter.restore()

    def _paint_name(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex, words: str, chosen: bool, ghost: bool
    ) -> None:
        t = theme()
        rect = option.rect
        spot = QRect(rect.left() + 2, rect.center().y() - 7, 16, 16)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if ghost:
            painter.setPen(QPen(t.color("accent"), 1.4, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(QRectF(spot).adjusted(3, 3, -3, -3))
        else:
            picture: QIcon = index.data(Qt.ItemDataRole.DecorationRole)
            picture.paint(painter, spot)
        root = not index.parent().isValid() and not ghost
        font = ui_font(13, SEMIBOLD) if root else ui_font(13)
        painter.setFont(font)
        metrics = QFontMetrics(font)
        room = QRect(rect.left() + 23, rect.top(), rect.width() - 25, rect.height())
        shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, room.width())
        if index.data(MatchRole):
            for begin, end in marks(shown, self._view.model.filter):
                left = room.left() + metrics.horizontalAdvance(shown[:begin])
                wide = metrics.horizontalAdvance(shown[begin:end])
                fill = t.color("bonus_fill" if chosen else "accent_soft")
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(fill)
                painter.drawRoundedRect(QRect(left - 1, room.center().y() - 9, wide + 2, 19), 3, 3)
        faded = ghost or (self._view.model.filter and not index.data(MatchRole))
        painter.setPen(t.color("muted" if faded else "on_soft" if chosen else "text"))
        painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), shown)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: QModelIndex) -> QWidget:
        editor = QLineEdit(parent)
        editor.setObjectName("rename")
        editor.setStyleSheet("min-height: 22px; padding: 0 4px;")
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex) -> None:
        editor.setGeometry(option.rect.adjusted(19, 2, 0, -2))

    def setModelData(self, editor: QLineEdit, model: Any, index: QModelIndex) -> None:
        try:
            model.setData(index, editor.text())
        except UserError as problem:
            show_failure(self._view, problem, self._view.tr("Rename"))


def marks(name: str, words: str) -> list[tuple[int, int]]:
    """Where the filter's words occur in a name: [(begin, end)], without overlaps, from left to right."""
    found: list[tuple[int, int]] = []
    folded = name.casefold()
    if len(folded) != len(name):  # folding changed lengths (ß): positions would be wrong
        folded = name.lower() if len(name.lower()) == len(name) else name
    for word in words.split():
        at = folded.find(word)
        while at >= 0:
            found.append((at, at + len(word)))
            at = folded.find(word, at + len(word))
    out: list[tuple[int, int]] = []
    for begin, end in sorted(found):
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((begin, end))
    return out
