"""The main window: puts the views together and does what they ask for.

Covers layout, actions, keys, drag and drop, opening workspaces, and closing. What a view shows is the view's; what a wizard
decides is the wizard's. Wizards and the decode lab are imported when they're first needed, so that the window shows sooner.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEventLoop, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QCloseEvent, QDesktopServices, QDragEnterEvent, QDropEvent, QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QMenu,
    QMessageBox,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

import resources
from app.dialogs import AboutDialog, SettingsDialog, ShortcutsDialog
from app.error_dialog import show_failure
from app.inspector import Inspector
from app.job_board import JobBoard
from app.job_panel import JobPanel
from app.language import install_language
from app.library_model import Library
from app.library_view import LibraryView
from app.plots.tradeoff import TradeoffView
from app.settings import LANGUAGES, Settings, default_workspace
from app.status_bar import StatusBar
from app.theme import SEMIBOLD, icon, theme, ui_font
from app.widgets import ElidedLabel, IconLabel, Segmented, tool_button
from core.errors import UserError
from core.events import Finished, Measured, VariantAdded
from core.records import ImportSpec, Job

BAR, GUTTER = 48, 8
TREE, INSPECTOR, DOCK = 328, 288, 216
NO_INSPECTOR_BELOW = 860  # logical pixels: narrower than this, the inspector makes room for the plot
FAMILIES = {"prune": "pruning", "quantize": "quantization", "distil": "distillation", "finetune": "recovery"}
ALT = {"open": "O", "prune": "P", "quantize": "Q", "distil": "D", "finetune": "F", "evaluate": "E", "export": "X"}
FAMILY_OF = {family: action for action, family in FAMILIES.items()}


class MainWindow(QMainWindow):
    """`folder`: the workspace; None: the last one, else the default one. `starter`: bring in the starter models.

    board, settings: for tests; made where they're None.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        starter: bool = False,
        board: Any = None,
        settings: Settings | None = None,
        parent: QWidget | None = None,
    ):
        super().__init__(parent)
        self.settings = settings or Settings()
        self.board = board if board is not None else JobBoard(self, threads=self.settings.threads or None)
        self.library = Library(self)
        self.page = "tradeoff"
        self._closed = self._gone = False
        self.decode: Any = None
        self.setWindowTitle("Spokeshave")
        self.setAcceptDrops(True)
        self.setMinimumSize(560, 360)
        self.resize(1440, 900)
        self._assemble()
        self._make_shortcuts()
        self._restore_layout()
        self.board.event.connect(self._on_event)
        theme().changed.connect(self._theme_changed)
        self.library.opened.connect(self._workspace_opened)
        self.library.changed.connect(self._library_changed)
        first = folder or (default_workspace() if starter else self.settings.workspace or default_workspace())
        self.open_workspace(first)
        if starter:
            QTimer.singleShot(0, self, self.open_starter)

    # ---- putting it together ------------------------------------------------------------------------------------

    def _assemble(self) -> None:
        """Makes every view. Called again when the language changes; the library and the board stay."""
        self.decode = None
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._make_bar())

        self.tree = LibraryView(self.library, self.board)
        self.tree.wanted.connect(self.do)
        self.tradeoff = TradeoffView(self.library, self.board)
        self.tradeoff.decode_wanted.connect(lambda v: self.do("decode", v))
        self.tradeoff.open_wanted.connect(lambda: self.open_wizard("open"))
        self.tradeoff.starter_wanted.connect(self.open_starter)
        self.tradeoff.evaluate_wanted.connect(lambda v: self.open_wizard("evaluate", v))
        self.tradeoff.menu_wanted.connect(lambda v, at: self.tree.menu(v).popup(at))
        self.inspector = Inspector(self.library, self.board)
        self.inspector.wanted.connect(self.do)
        self.jobs = JobPanel(self.board, self.library)
        self.jobs.restart_wanted.connect(self.restart)
        self.jobs.variant_wanted.connect(self._show_variant)

        self.centre = QStackedWidget()
        self.centre.addWidget(self.tradeoff)
        self.tree.setMinimumWidth(190)
        self.inspector.setMinimumWidth(248)  # that its table of sizes needs
        self.centre.setMinimumWidth(240)
        self.across = QSplitter(Qt.Orientation.Horizontal)
        for w in (self.tree, self.centre, self.inspector):
            self.across.addWidget(w)
        for at, stretch in enumerate((0, 1, 0)):
            self.across.setStretchFactor(at, stretch)
        self.down = QSplitter(Qt.Orientation.Vertical)
        self.down.addWidget(self.across)
        self.down.addWidget(self.jobs)
        self.down.setStretchFactor(0, 1)
        self.down.setStretchFactor(1, 0)
        for splitter in (self.across, self.down):
            splitter.setHandleWidth(GUTTER)
            splitter.setChildrenCollapsible(False)
        frame = QWidget()
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(GUTTER, GUTTER, GUTTER, 2)
        inside.addWidget(self.down)
        column.addWidget(frame, 1)
        self.status = StatusBar(self.board, self.settings.threads)
        self.status.pressed.connect(lambda: self.show_page("tradeoff"))
        column.addWidget(self.status)
        self.setCentralWidget(body)
        self._set_tab_order()
        self._library_changed()
        self._name_workspace()
        self.show_page(self.page)
        self.tree.tree.setFocus()

    def _make_bar(self) -> QFrame:
        bar = QFrame()
        bar.setProperty("bar", True)
        bar.setFixedHeight(BAR)
        row = QHBoxLayout(bar)
        row.setContentsMargins(15, 0, 10, 0)
        row.setSpacing(2)
        row.addWidget(IconLabel("cube", 19, "accent"))
        row.addSpacing(5)
        self.name = QLabel("Spokeshave")
        self.name.setFont(ui_font(13, SEMIBOLD))
        row.addWidget(self.name)
        row.addSpacing(10)
        self.workspace_name = ElidedLabel("", "muted", Qt.TextElideMode.ElideMiddle)
        self.workspace_name.setMaximumWidth(150)
        row.addWidget(self.workspace_name, 2)
        row.addSpacing(10)
        self.actions_: dict[str, QToolButton] = {}
        for key, picture, words, tip in (
            ("open", "import", self.tr("Open"), self.tr("Open a model: a folder, a GGUF file, or a Hub id")),
            ("prune", "prune", self.tr("Prune"), self.tr("Take out weights that matter least")),
            ("quantize", "quantize", self.tr("Quantize"), self.tr("Store weights in fewer bits")),
            ("distil", "distil", self.tr("Distil"), self.tr("Teach a smaller model what this one says")),
            ("finetune", "finetune", self.tr("Fine-tune"), self.tr("Train on, to recover what a cut cost")),
            ("evaluate", "evaluate", self.tr("Evaluate"), self.tr("Measure a variant again, or on another text")),
            ("export", "export", self.tr("Export"), self.tr("Export to ONNX or GGUF, with a check of the result")),
        ):
            action = QToolButton()
            action.setProperty("bar", True)
            action.setObjectName(f"action_{key}")
            action.setText(words)
            action.setIcon(icon(picture, "text"))
            action.setIconSize(QSize(16, 16))
            action.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            action.setAccessibleName(words)
            action.setShortcut(QKeySequence(f"Alt+{ALT[key]}"))  # without a mnemonic's underline in the bar
            action.setToolTip(self._tip(tip, key))
            action.setProperty("tip", self._tip(tip, key))
            action.clicked.connect(lambda _=False, key=key: self.do(key, self.library.selection))
            self.actions_[key] = action
            row.addWidget(action)
        row.addStretch(3)
        self.switch = Segmented((("tradeoff", self.tr("Trade-off")), ("decode", self.tr("Decode lab"))))
        self.switch.chosen.connect(self.show_page)
        row.addWidget(self.switch, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addStretch(2)
        self.language_button = tool_button("language", self.tr("Language"))
        self.language_button.setObjectName("language")
        self.language_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.language_button)
        for key, words in LANGUAGES.items():
            chosen = menu.addAction(words, lambda key=key: self.set_language(key))
            chosen.setCheckable(True)
            chosen.setChecked(key == self.settings.language)
        self.language_button.setMenu(menu)
        self.theme_button = tool_button("moon", self.tr("Light or dark"), self.toggle_theme)
        self.theme_button.setObjectName("toggle_theme")
        self.menu_button = tool_button("menu", self.tr("Menu"))
        self.menu_button.setObjectName("menu")
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu_button.setMenu(self._make_menu())
        for b in (self.language_button, self.theme_button, self.menu_button):
            b.setFixedSize(30, 30)
            row.addWidget(b)
        self._bar = bar
        self._theme_changed()
        return bar

    def _tip(self, tip: str, key: str) -> str:
        keys = QKeySequence(self._keys()[key][0]).toString(QKeySequence.SequenceFormat.NativeText)
        return f"{tip}  ({keys})"

    def _make_menu(self) -> QMenu:
        menu = QMenu(self.menu_button)
        add = lambda picture, words, does: menu.addAction(icon(picture), words, does)
        add("new", self.tr("&New workspace…"), self.new_workspace)
        add("open", self.tr("&Open workspace…"), self.choose_workspace)
        self.recent = menu.addMenu(icon("folder"), self.tr("&Recent workspaces"))
        self.recent.aboutToShow.connect(self._fill_recent)
        add("folder", self.tr("&Show the workspace's folder"), self._show_folder)
        add("cube", self.tr("Open the s&tarter models"), self.open_starter)
        menu.addSeparator()
        self.inspector_action = menu.addAction(self.tr("Show the &inspector"))
        self.inspector_action.setCheckable(True)
        self.inspector_action.setChecked(True)
        self.inspector_action.triggered.connect(lambda _: self._fit_width())
        self.jobs_action = menu.addAction(self.tr("Show the &jobs"))
        self.jobs_action.setCheckable(True)
        self.jobs_action.setChecked(True)
        self.jobs_action.triggered.connect(lambda _: self._fit_width())
        menu.addSeparator()
        add("settings", self.tr("S&ettings…"), self.show_settings)
        add("keyboard", self.tr("&Keyboard shortcuts"), self.show_shortcuts)
        add("info", self.tr("&About Spokeshave"), self.show_about)
        menu.addSeparator()
        add("quit", self.tr("&Quit"), self.close)
        return menu

    def _keys(self) -> dict[str, tuple[str, str, Callable[[], object]]]:
        """Every shortcut of the window: name -> (keys, what it does, how)."""
        act = lambda key: lambda: self.do(key, self.library.selection)
        return {
            "open": ("Ctrl+O", self.tr("Open a model"), act("open")),
            "prune": ("Ctrl+Shift+P", self.tr("Prune"), act("prune")),
            "quantize": ("Ctrl+Shift+U", self.tr("Quantize"), act("quantize")),
            "distil": ("Ctrl+Shift+D", self.tr("Distil"), act("distil")),
            "finetune": ("Ctrl+Shift+F", self.tr("Fine-tune"), act("finetune")),
            "evaluate": ("Ctrl+E", self.tr("Evaluate"), act("evaluate")),
            "export": ("Ctrl+Shift+E", self.tr("Export to ONNX or GGUF"), act("export")),
            "tradeoff": ("Ctrl+1", self.tr("Show the trade-off"), lambda: self.show_page("tradeoff")),
            "decode_page": ("Ctrl+2", self.tr("Show the decode lab"), lambda: self.show_page("decode")),
            "filter": ("Ctrl+F", self.tr("Filter the variants"), lambda: self.tree.search.setFocus()),
            "inspector": ("Ctrl+I", self.tr("Show or hide the inspector"), lambda: self.inspector_action.trigger()),
            "jobs": ("Ctrl+J", self.tr("Show or hide the jobs"), lambda: self.jobs_action.trigger()),
            "theme": ("Ctrl+Shift+L", self.tr("Light or dark"), self.toggle_theme),
            "workspace": ("Ctrl+Shift+O", self.tr("Open a workspace"), self.choose_workspace),
            "new_workspace": ("Ctrl+Shift+N", self.tr("New workspace"), self.new_workspace),
            "settings": ("Ctrl+,", self.tr("Settings"), self.show_settings),
            "shortcuts": ("F1", self.tr("This list"), self.show_shortcuts),
            "quit": ("Ctrl+Q", self.tr("Quit"), self.close),
        }

    def _make_shortcuts(self) -> None:
        for name in self._keys():
            shortcut = QShortcut(QKeySequence(self._keys()[name][0]), self)
            shortcut.activated.connect(lambda name=name: self._keys()[name][2]())

    def _set_tab_order(self) -> None:
        """The tree first, then what it's about, then the bar: the order in which work goes."""
        order = [
            self.tree.search,
            self.tree.tree,
            self.tradeoff.y_choice,
            self.tradeoff.x_choice,
            self.tradeoff.budget,  # and the plot, once there is one
            self.inspector.export,
            self.inspector.draft,
            self.inspector.evaluate,
            self.jobs.level,
            self.jobs.copy,
            *self.actions_.values(),
            *self.switch.buttons.values(),
            self.language_button,
            self.theme_button,
            self.menu_button,
        ]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    # ---- pages and sizes ----------------------------------------------------------------------------------------

    def show_page(self, page: str) -> None:
        """'tradeoff' or 'decode'. The decode lab has the whole width; the status bar keeps the jobs' progress."""
        if page not in ("tradeoff", "decode"):
            raise ValueError(f"unknown page: {page}")
        self.page = page
        if page == "decode" and self.decode is None:
            from app.decode_view import DecodeView

            self.decode = DecodeView(self.library, self.board)
            self.decode.open_model.connect(lambda: self.open_wizard("open"))
            self.centre.addWidget(self.decode)
        self.centre.setCurrentWidget(self.decode if page == "decode" else self.tradeoff)
        self.switch.set_current(page)
        self._fit_width()

    def _fit_width(self) -> None:
        """What there's room for: the inspector, the words of the actions, the names in the bar."""
        wide = self.width()
        plot = self.page == "tradeoff"
        inspect = self.inspector_action.isChecked() and wide >= NO_INSPECTOR_BELOW and bool(self.library.variants())
        self.inspector.setVisible(plot and inspect)
        self.jobs.setVisible(plot and self.jobs_action.isChecked())
        fixed = self.switch.sizeHint().width() + 3 * 32 + 80
        worded = sum(self._worded(a) for a in self.actions_.values())
        style = Qt.ToolButtonStyle
        words_fit = fixed + worded + self.name.sizeHint().width() + 70 < wide
        for action in self.actions_.values():
            action.setToolButtonStyle(style.ToolButtonTextBesideIcon if words_fit else style.ToolButtonIconOnly)
        pictures = 42 * len(self.actions_)
        taken = fixed + (worded if words_fit else pictures)
        self.name.setVisible(taken + self.name.sizeHint().width() < wide)
        self.workspace_name.setVisible(taken + self.name.sizeHint().width() + self.workspace_name.minimumWidth() + 50 < wide)

    def _worded(self, action: QToolButton) -> int:
        return action.fontMetrics().horizontalAdvance(action.text()) + 16 + 4 + 22

    def _default_sizes(self) -> None:
        wide, high = self.width() - 2 * GUTTER, self.height() - BAR - 26 - 2 * GUTTER
        share = min(1.0, wide / 1300)  # narrower windows give the plot what they can
        tree, inspector = max(int(TREE * share), 224), max(int(INSPECTOR * share), 256)
        if self.page != "tradeoff" or not self.library.variants() or self.width() < NO_INSPECTOR_BELOW:
            self.across.setSizes([tree, wide - tree - GUTTER, 0])
        else:
            self.across.setSizes([tree, max(wide - tree - inspector - 2 * GUTTER, 240), inspector])
        dock = min(DOCK, int(high * 0.3))
        self.down.setSizes([high - dock - GUTTER, dock])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_width()

    def showEvent(self, event: Any) -> None:
        super().showEvent(event)
        if not getattr(self, "_sized", False):
            self._sized = True
            state = self.settings.layout("across"), self.settings.layout("down")
            self._default_sizes()
            if not state[0].isEmpty() and not state[1].isEmpty():
                self.across.restoreState(state[0])
                self.down.restoreState(state[1])
                self._fit_width()

    def _restore_layout(self) -> None:
        geometry = self.settings.layout("window")
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
            return
        screen = self.screen()
        if screen is not None:
            room = screen.availableGeometry().size()
            self.resize(min(1440, room.width()), min(900, room.height()))

    # ---- theme and language -------------------------------------------------------------------------------------

    def toggle_theme(self) -> None:
        self.settings.theme = "light" if theme().dark else "dark"
        theme().set_dark(not theme().dark)

    def _theme_changed(self) -> None:
        self.theme_button.setIcon(icon("sun" if theme().dark else "moon"))

    def set_language(self, language: str) -> None:
        """Speaks another language from now on: every view is made again."""
        self.settings.language = language
        found = install_language(QApplication.instance(), language)
        sizes = self.across.saveState(), self.down.saveState()
        if self.decode is not None:
            self.decode.let_go()
        old = self.takeCentralWidget()
        self._assemble()
        self.centralWidget().show()
        old.deleteLater()
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)  # so that there's a width to divide
        self.across.restoreState(sizes[0])
        self.down.restoreState(sizes[1])
        self._fit_width()
        if not found:
            self.status.say(self.tr("There's no translation for {language}.").format(language=LANGUAGES[language]))

    # ---- workspaces ---------------------------------------------------------------------------------------------

    def open_workspace(self, folder: Path, create: bool = True) -> bool:
        """Opens a workspace and remembers it; a failure is shown, and what was open stays open."""
        try:
            self.library.open(folder, create=create)
        except UserError as problem:
            told = problem
            QTimer.singleShot(0, self, lambda: show_failure(self, told, self.tr("Open a workspace")))
            return False
        self.settings.remember(self.library.workspace.folder)
        return True

    def _workspace_opened(self) -> None:
        self._name_workspace()
        if self.decode is not None and self.page != "decode":
            self.decode.let_go()
            self.centre.removeWidget(self.decode)  # its runs belong to the workspace that was
            self.decode.deleteLater()
            self.decode = None

    def _name_workspace(self) -> None:
        workspace = self.library.workspace
        name = workspace.folder.name if workspace else ""
        self.workspace_name.setText(name)
        self.workspace_name.setMinimumWidth(min(self.workspace_name.sizeHint().width(), 150))  # whole, or not there: see _fit_width
        self._fit_width()
        self.setWindowTitle(f"{name} — Spokeshave" if name else "Spokeshave")

    def choose_workspace(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Open a workspace"), self._beside())
        if folder:
            self.open_workspace(Path(folder), create=False)

    def new_workspace(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, self.tr("Choose an empty folder for the new workspace"), self._beside())
        if folder:
            self.open_workspace(Path(folder))

    def _beside(self) -> str:
        return str(self.library.workspace.folder.parent) if self.library.workspace else str(Path.home())

    def _fill_recent(self) -> None:
        self.recent.clear()
        here = self.library.workspace.folder if self.library.workspace else None
        for path in self.settings.recent:
            if path != here:
                self.recent.addAction(str(path), lambda path=path: self.open_workspace(path, create=False))
        if self.recent.isEmpty():
            self.recent.addAction(self.tr("None yet")).setEnabled(False)

    def _show_folder(self) -> None:
        if self.library.workspace:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.library.workspace.folder)))

    def open_starter(self) -> None:
        """Brings both starter models into the workspace, where they aren't there (or on their way) yet."""
        if self.library.workspace is None and not self.open_workspace(default_workspace()):
            return
        there = {v.origin for v in self.library.variants()} | {v.name for v in self.library.variants() if v.parent is None}
        coming = {Path(s.job.spec.source).name for s in self.board.states() if s.job.kind == "import" and not s.over}
        missing = [s for s in (resources.STARTER_TARGET, resources.STARTER_DRAFT) if s.name not in there | coming]
        for source in missing:
            spec = ImportSpec(workspace=str(self.library.workspace.folder), source=str(source), name=source.name)
            self.board.submit(spec, self.tr("Open {name}").format(name=source.name))
        self.show_page("tradeoff")
        self.tradeoff.refresh()
        if not missing:
            self.status.say(self.tr("The starter models are here already."))

    # ---- doing --------------------------------------------------------------------------------------------------

    def do(self, action: str, variant: str = "") -> None:
        """What the bar, the menus and the views ask for, by name."""
        v = self.library.get(variant)
        if action == "open":
            self.open_wizard("open")
        elif action in FAMILIES:
            self.open_wizard(FAMILIES[action], variant)
        elif action in ("evaluate", "export"):
            self.open_wizard(action, variant)
        elif v is None:
            return
        elif action in ("decode", "draft"):
            self.show_page("decode")
            (self.decode.set_target if action == "decode" else self.decode.set_draft)(variant)
        elif action in ("sensitivity", "layers", "gradients", "heads"):
            self.open_layers(action, variant)
        elif action == "folder":
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.library.workspace.path(variant))))
        elif action == "recipe":
            QGuiApplication.clipboard().setText(v.recipe.to_yaml())
            self.status.say(self.tr("The recipe of {name} is on the clipboard.").format(name=v.name))
        elif action == "delete":
            self._delete(variant)
        elif action == "rename":
            self.tree.rename(variant)
        else:
            raise ValueError(f"unknown action: {action}")

    def _delete(self, variant: str) -> None:
        v = self.library.variant(variant)
        asked = self.tr("Delete {name}?").format(name=v.name)
        if not self.confirm(asked, self.tr("Its folder and its measurements are removed for good."), self.tr("Delete")):
            return
        try:
            self.library.delete(variant)
        except UserError as problem:
            show_failure(self, problem, asked)

    def confirm(self, question: str, words: str, yes: str) -> bool:
        """Asks before something that can't be undone."""
        box = QMessageBox(QMessageBox.Icon.NoIcon, "Spokeshave", question, parent=self)
        box.setInformativeText(words)
        agreed = box.addButton(yes, QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        box.exec()
        return box.clickedButton() is agreed

    def open_wizard(self, family: str, variant: str = "", source: str = "") -> Any:
        """family: open, pruning, quantization, distillation, recovery, evaluate or export. Returns the dialog (None: not possible yet)."""
        if family != "open" and not self.library.variants():
            self.status.say(self.tr("Open a model first."))
            return None
        if family == "open":
            from app.wizards.open_model import OpenModelWizard

            wizard = OpenModelWizard(self.library, self.board, source, self)
        elif family == "evaluate":
            from app.wizards.evaluate import EvaluateDialog

            wizard = EvaluateDialog(self.library, self.board, variant, self)
        elif family == "export":
            from app.wizards.export import ExportWizard

            wizard = ExportWizard(self.library, self.board, variant, self)
        else:
            from app.wizards.compress import CompressWizard

            wizard = CompressWizard(self.library, self.board, family, variant, self)
        wizard.submitted.connect(self._submitted)
        wizard.open()
        return wizard

    def open_layers(self, action: str, variant: str) -> Any:
        """'sensitivity': the map and the bits under a budget; 'layers': weights and activations before and after; 'gradients': the
        study of them; 'heads': what attention heads are worth. Returns the dialog.
        """
        if action == "sensitivity":
            from app.sensitivity import SensitivityDialog

            dialog = SensitivityDialog(self.library, self.board, variant, self)
            dialog.applied.connect(self._submitted)
        elif action == "gradients":
            from app.gradient_study import GradientStudyDialog

            dialog = GradientStudyDialog(self.library, self.board, variant, self)
        elif action == "heads":
            from app.heads import HeadsDialog

            dialog = HeadsDialog(self.library, self.board, variant, self)
            dialog.applied.connect(self._submitted)
        else:
            from app.histograms import HistogramDialog

            dialog = HistogramDialog(self.library, self.board, variant, self)
        dialog.show()
        return dialog

    def _submitted(self, job: str) -> None:
        """Back to the plot, where a ghost point waits, with the new job's log beside it."""
        self.show_page("tradeoff")
        self.tradeoff.refresh()
        self.jobs.refresh()
        self.jobs.show_job(job)

    def restart(self, job: Job) -> Any:
        """Opens the wizard that made a job, with the job's settings in it."""
        spec = job.spec
        if job.kind == "import":
            return self.open_wizard("open", source=spec.source)
        if job.kind in ("evaluate", "speed"):
            return self.open_wizard("evaluate", spec.variant)
        if job.kind == "export":
            return self.open_wizard("export", spec.variant)
        if job.kind != "apply" or not spec.steps:
            return None
        step = spec.steps[-1]
        catalogue = self.board.catalogue
        method = catalogue.method(step.method) if catalogue else None
        if method is None or method.family not in FAMILY_OF:
            self.status.say(self.tr("The method {name} isn't known here.").format(name=step.method))
            return None
        from app.wizards.base import keep, recall

        key = f"compress/{method.family}"
        last = recall(key)
        params = dict(last.get("params") or {}) | {step.method: dict(step.params)}
        text = step.text.path if step.text else None
        labels = step.labels.path if step.labels else last.get("labels")
        same = {"method": step.method, "params": params, "seed": step.seed, "labels": labels}
        images = step.images.path if step.images else None
        keep(key, last | same | {"measure": spec.measure, "text": text, "measure_text": spec.text, "images": images})
        return self.open_wizard(method.family, spec.variant)

    def _show_variant(self, variant: str) -> None:
        self.show_page("tradeoff")
        self.library.select(variant)

    # ---- what happens -------------------------------------------------------------------------------------------

    def _on_event(self, event: Any) -> None:
        if isinstance(event, (VariantAdded, Measured, Finished)):
            self.library.refresh()

    def _tell_if_gone(self) -> None:
        """A workspace whose folder was moved or deleted under the window looks like an empty one: says so, once."""
        workspace = self.library.workspace
        gone = workspace is not None and not (workspace.folder / "workspace.json").exists()
        if gone and not self._gone:
            problem = UserError(
                "The workspace {folder} isn't there any more.",
                hint="Bring it back, or open another workspace from the menu.",
                kind="disk",
                folder=str(workspace.folder),
            )
            show_failure(self, problem, self.tr("Workspace"))
        self._gone = gone

    def _library_changed(self) -> None:
        self._tell_if_gone()
        some = bool(self.library.variants())
        for key, action in self.actions_.items():
            if key != "open":
                action.setEnabled(some)
                action.setToolTip(action.property("tip") if some else self.tr("Open a model first"))
        if some != getattr(self, "_had_some", None):
            self._had_some = some
            self._fit_width()
            if getattr(self, "_sized", False):
                self._default_sizes()

    # ---- dialogs ------------------------------------------------------------------------------------------------

    def show_settings(self) -> SettingsDialog:
        language = self.settings.language
        dialog = SettingsDialog(self.settings, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def stored() -> None:
            theme().set_dark(wants_dark(self.settings.theme))
            if self.settings.language != language:
                self.set_language(self.settings.language)

        dialog.accepted.connect(stored)
        dialog.open()
        return dialog

    def show_shortcuts(self) -> ShortcutsDialog:
        window = [(keys, what) for keys, what, _ in self._keys().values()]
        tree = [
            ("F2", self.tr("Rename")),
            ("Del", self.tr("Delete")),
            ("Return", self.tr("Decode with it")),
            ("Menu", self.tr("What can be done with it")),
        ]
        plot = [
            ("Left, Right", self.tr("The next point")),
            ("Return", self.tr("Decode with it")),
            ("Home", self.tr("Show everything")),
            ("Comma, Period", self.tr("Move the budget line")),
        ]
        jobs = [
            ("Up, Down", self.tr("The next job")),
            ("Return", self.tr("Its result, or why it failed")),
            ("Space", self.tr("Pause it, or go on")),
            ("Del", self.tr("Cancel it, or take it off the list")),
        ]
        lab = [("Ctrl+Return", self.tr("Run"))]
        groups = [
            (self.tr("Window"), window),
            (self.tr("Tree"), tree),
            (self.tr("Plot"), plot),
            (self.tr("Jobs"), jobs),
            (self.tr("Decode lab"), lab),
        ]
        dialog = ShortcutsDialog(groups, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    def show_about(self) -> AboutDialog:
        catalogue = self.board.catalogue
        dialog = AboutDialog(catalogue.libraries if catalogue else {}, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
        return dialog

    # ---- drag and drop ------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(droppable(Path(u.toLocalFile())) for u in event.mimeData().urls() if u.isLocalFile()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls():
            path = Path(url.toLocalFile()) if url.isLocalFile() else None
            if path and droppable(path):
                event.acceptProposedAction()
                QTimer.singleShot(0, self, lambda path=path: self.dropped(path))  # the drag ends before a dialog opens
                return

    def dropped(self, path: Path) -> Any:
        """A workspace is opened; a model goes to the wizard."""
        if (path / "workspace.json").is_file():
            self.open_workspace(path, create=False)
            return None
        return self.open_wizard("open", source=str(path.parent if path.suffix == ".safetensors" else path))

    # ---- closing ------------------------------------------------------------------------------------------------

    def close_now(self) -> None:
        """Closes without asking: the system wants the process to end."""
        self.confirm = lambda *_: True
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._closed:
            event.accept()
            return
        active = [s for s in self.board.states() if not s.over]
        if active:
            names = "\n".join(f"• {s.job.title}" for s in active[:5])
            one, several = self.tr("A job is still at work. Close all the same?"), self.tr("Jobs are still at work. Close all the same?")
            question = one if len(active) == 1 else several
            words = names + "\n\n" + self.tr("They are cancelled, and nothing of them is kept.")
            if not self.confirm(question, words, self.tr("Cancel them and close")):
                event.ignore()
                return
        self._closed = True
        self.settings.set_layout("window", self.saveGeometry())
        if self.page == "tradeoff" and self.library.variants() and self.inspector.isVisible():
            self.settings.set_layout("across", self.across.saveState())
            self.settings.set_layout("down", self.down.saveState())
        self.settings.sync()
        self.library.close()
        if self.decode is not None:
            self.decode.close_recordings()
        self.hide()
        self.board.close()
        event.accept()


def droppable(path: Path) -> bool:
    """Whether a dropped path may be a model or a workspace: a folder, a GGUF file, or one of a folder's safetensors."""
    return path.is_dir() or (path.is_file() and path.suffix.lower() in (".gguf", ".safetensors"))


def wants_dark(choice: str) -> bool:
    """Whether a theme setting means dark; 'system' asks the system, and takes light where it doesn't say."""
    if choice == "system":
        hints = QGuiApplication.styleHints()
        return hints.colorScheme() == Qt.ColorScheme.Dark
    return choice == "dark"
