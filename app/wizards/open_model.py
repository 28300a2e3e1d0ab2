"""The wizard that opens a model: where it is, what it is, the baseline to measure, review.

What's shown of the model comes from an inspection by the worker (`InspectSpec`): headers and configuration, no weights.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QRectF, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QFrame, QGridLayout, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

import resources
from app.forms import calm_wheel, local_paths
from app.samples import Pictures
from app.text import core_text, failure_text, fmt_bytes, fmt_count, fmt_percent
from app.theme import icon, icon_pixmap, theme
from app.wizards.base import (
    Card,
    DeviceChoice,
    Facts,
    ImagesChoice,
    Notice,
    Page,
    TextChoice,
    Wizard,
    button,
    column,
    keep,
    label,
    recall,
    spoken,
)
from app.wizards.plans import OpenPlan, dropped_source, memory_problem, source_kind
from core.events import Drawn, Failed, Finished
from core.records import InspectSpec, SourceInfo

ASK_DELAY_MS = 400
DRAWN = 10  # images of a first look
PARTS = ("embedding", "attention", "mlp", "norm", "head", "other")


class OpenModelWizard(Wizard):
    """`source`: a path or Hub id to begin with ('' for none)."""

    def __init__(self, library: Any, board: Any, source: str = "", parent: QWidget | None = None):
        workspace = str(library.workspace.folder) if library.workspace else ""
        plan = OpenPlan(workspace, [v.name for v in library.variants()])
        last = recall("open")
        plan.source = source
        plan.measure = bool(last.get("measure", True))
        plan.dtype = last["dtype"] if last.get("dtype") in ("auto", "float32", "bfloat16", "float16") else "auto"
        plan.text = last.get("text") or (library.workspace.settings.text if library.workspace else None)
        plan.max_tokens = int(last.get("max_tokens") or plan.max_tokens)
        self._question = ""
        super().__init__(plan, library, board, parent)
        self.plan: OpenPlan = plan
        self.setWindowTitle(self.tr("Open a model"))
        self.finish_button.setText(self.tr("Open"))
        self.source = SourcePage(self)
        self.what = WhatPage(self)
        self.baseline = BaselinePage(self)
        self.review = ReviewPage(self)
        for page in (self.source, self.what, self.baseline, self.review):
            self.add_page(page)
        self._delay = QTimer(self)
        self._delay.setSingleShot(True)
        self._delay.setInterval(ASK_DELAY_MS)
        self._delay.timeout.connect(self.inspect_now)
        self.begin()

    # -- inspecting

    def source_changed(self) -> None:
        """Inspects ahead of the page that shows it. The Hub is asked only once the person goes on: typing isn't asking."""
        self.forget(self._question)
        self.plan.asked()
        if source_kind(self.plan.source) in ("folder", "gguf"):
            self._delay.start()

    def inspect_now(self) -> None:
        question = self.plan.question
        if self.plan.inspected == question or self.plan.problem("source"):
            return
        self.forget(self._question)
        self.plan.asked()
        self.what.tell_waiting()
        source, remote_code = question
        if source_kind(source) != "hub":
            source = str(Path(source).expanduser().absolute())
        spec = InspectSpec(source=source, remote_code=remote_code)
        self._question = self.ask(spec, lambda event: self._inspected(question, event))
        self.refresh()

    def _inspected(self, question: tuple[str, bool], event: Any) -> None:
        info = SourceInfo.model_validate(event.result["info"]) if isinstance(event, Finished) else None
        if not isinstance(event, (Finished, Failed)) or not self.plan.answered(question, info):
            return
        if info is not None:
            self.what.tell_info(info)
            if info.task == "diffusion":
                self._draw(question)
        else:
            self.what.tell_failure(event)
        self.refresh()

    def _draw(self, question: tuple[str, bool]) -> None:
        """Asks for a few images, once it's known that the model draws some."""
        source = str(Path(question[0]).expanduser().absolute())
        self.what.tell_drawing()

        def answer(event: Any) -> None:
            if self.plan.question == question:
                self.what.tell_drawn(event)

        self._question = self.ask(InspectSpec(source=source, draw=DRAWN), answer)

    def catalogue_came(self) -> None:
        self.baseline.device.fill()
        if self.plan.inspected is None:
            self.what.tell_waiting()
        self.refresh()

    # -- ending

    def submit(self) -> str:
        plan = self.plan
        keep("open", {"measure": plan.measure, "dtype": plan.dtype, "text": plan.text, "max_tokens": plan.max_tokens})
        return self.board.submit(plan.spec(), self.tr("Open {name}").format(name=plan.name.strip()), plan.device)


class DropZone(QFrame):
    """Where a folder or a file may be dropped."""

    dropped = Signal(str)

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._over = False
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(10)
        self._sign = QLabel(self)
        self._sign.setAlignment(Qt.AlignmentFlag.AlignCenter)
        text = label(self.tr("Drop a model's folder or a .gguf file here, or choose it:"), "caption", self)
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.folder = button(self.tr("Folder …"), "browse_folder")
        self.gguf = button(self.tr("GGUF file …"), "browse_gguf")
        self.folder.setIcon(icon("folder"))
        self.gguf.setIcon(icon("cube"))
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(self.folder)
        row.addWidget(self.gguf)
        row.addStretch(1)
        box.addWidget(self._sign)
        box.addWidget(text)
        box.addLayout(row)
        theme().changed.connect(self._paint_sign)
        self._paint_sign()

    def _paint_sign(self) -> None:
        self._sign.setPixmap(icon_pixmap("import", 26, "muted", self.devicePixelRatioF()))
        self.update()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if local_paths(event.mimeData()):
            self._over = True
            self.update()
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: Any) -> None:
        self._over = False
        self.update()

    def dropEvent(self, event: QDropEvent) -> None:
        self._over = False
        self.update()
        paths = local_paths(event.mimeData())
        if paths:
            event.acceptProposedAction()
            self.dropped.emit(dropped_source(paths[0]))

    def paintEvent(self, event: Any) -> None:
        t, p = theme(), QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(t.color("accent" if self._over else "border_strong"), 1.4, Qt.PenStyle.DashLine)
        pen.setDashPattern([4, 4])
        p.setPen(pen)
        p.setBrush(t.color("accent_soft" if self._over else "surface2"))
        p.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)
        p.end()


class SourcePage(Page):
    def __init__(self, wizard: OpenModelWizard):
        super().__init__("source")
        self.say(
            self.tr("Source"),
            self.tr("Where is the model?"),
            self.tr("A copy is made in the workspace. What you open is never changed."),
        )
        self.wizard = wizard
        self.zone = DropZone(self)
        self.line = QLineEdit(self)
        self.line.setObjectName("source")
        self.line.setPlaceholderText(self.tr("/path/to/model  or  organisation/model"))
        self.line.setClearButtonEnabled(True)
        self.line.setText(wizard.plan.source)
        caption = label(self.tr("Path, or id on the Hugging Face Hub"), parent=self, wrap=False)
        caption.setBuddy(self.line)
        self.kind = label(role="muted", parent=self)
        self.kind.setObjectName("source_kind")
        field = QVBoxLayout()
        field.setSpacing(5)
        field.addWidget(caption)
        field.addWidget(self.line)
        field.addWidget(self.kind)
        self.body.addWidget(self.zone)
        self.body.addLayout(field)
        starters = [
            (resources.STARTER_TARGET, self.tr("Shakespeare 7M"), self.tr("A small language model that comes with Spokeshave.")),
            (resources.STARTER_DRAFT, self.tr("Shakespeare 1M"), self.tr("A smaller one with the same tokens: a draft for the other.")),
            (resources.STARTER_DIFFUSION, self.tr("Digits"), self.tr("A small diffusion model that draws handwritten digits.")),
        ]
        here = [(path, title, line) for path, title, line in starters if path.is_dir()]
        if here:
            self.body.addWidget(label(self.tr("Or begin with a starter model"), "section", self))
            grid = QGridLayout()
            grid.setSpacing(10)
            for number, (path, title, line) in enumerate(here):
                card = Card(title, line, self, sign=icon("cube", "accent"), radio=False)
                card.setObjectName(f"starter:{path.name}")
                card.clicked.connect(lambda _=False, path=path: self._starter(path))
                grid.addWidget(card, number // 2, number % 2)
            self.body.addLayout(grid)
        self.body.addStretch(1)
        self.line.textChanged.connect(self._typed)
        self.zone.dropped.connect(self.line.setText)
        self.zone.folder.clicked.connect(self._browse_folder)
        self.zone.gguf.clicked.connect(self._browse_gguf)
        self._tell_kind()

    def _starter(self, path: Path) -> None:
        self.line.setText(str(path))
        self.wizard.next()

    def _typed(self, text: str) -> None:
        self.wizard.plan.source = text
        self.wizard.what.withdraw_leave()
        self.wizard.source_changed()
        self._tell_kind()
        self.changed.emit()

    def _tell_kind(self) -> None:
        kind = source_kind(self.wizard.plan.source)
        self.kind.setText(
            {
                "": self.tr("A folder with config.json and .safetensors files, a .gguf file, or an id such as {example}.").format(
                    example="HuggingFaceTB/SmolLM2-135M"
                ),
                "folder": self.tr("A folder on this machine."),
                "gguf": self.tr("A GGUF file. Its weights are unpacked into an ordinary model."),
                "hub": self.tr("An id on the Hub. It's looked up when you go on; nothing is downloaded yet."),
                "missing": self.tr("There is nothing at this path."),
                "other": self.tr("This file isn't a model."),
            }[kind]
        )

    def _browse_folder(self) -> None:
        found = QFileDialog.getExistingDirectory(self, self.tr("Choose the model's folder"), self._start())
        if found:
            self.line.setText(found)

    def _browse_gguf(self) -> None:
        found, _ = QFileDialog.getOpenFileName(
            self, self.tr("Choose a GGUF file"), self._start(), self.tr("GGUF files (*.gguf);;All files (*)")
        )
        if found:
            self.line.setText(dropped_source(found))

    def _start(self) -> str:
        path = Path(self.wizard.plan.source.strip() or Path.home()).expanduser()
        return str(path if path.exists() else Path.home())

    def first_field(self) -> QWidget:
        return self.line


class PartsBar(QWidget):
    """Parameters by component, as one bar with a legend beneath it."""

    SHADES = {
        "embedding": "kind_pruned",
        "attention": "accent",
        "mlp": "kind_distilled",
        "norm": "muted",
        "head": "kind_quantized",
        "other": "border_strong",
    }

    def __init__(self, parent: QWidget | None = None):
        super().__init__(parent)
        self._parts: list[tuple[str, int]] = []
        box = column(self, 8)
        self._bar = _Bar(self)
        self._legend = QGridLayout()
        self._legend.setHorizontalSpacing(18)
        self._legend.setVerticalSpacing(4)
        box.addWidget(self._bar)
        box.addLayout(self._legend)
        theme().changed.connect(self._bar.update)

    def show_parts(self, components: dict[str, int]) -> None:
        names = {
            "embedding": self.tr("Embedding"),
            "attention": self.tr("Attention"),
            "mlp": self.tr("MLP"),
            "norm": self.tr("Norms"),
            "head": self.tr("Output head"),
            "other": self.tr("Other"),
        }
        total = sum(components.values()) or 1
        parts = [(part, components[part]) for part in PARTS if components.get(part)]
        parts += [(part, n) for part, n in components.items() if part not in PARTS and n]
        self._bar.parts = [(self.SHADES.get(part, "border_strong"), n / total) for part, n in parts]
        while self._legend.count():
            widget = self._legend.takeAt(0).widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for i, (part, n) in enumerate(parts):
            entry = QWidget(self)
            row = QHBoxLayout(entry)
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(7)
            row.addWidget(_Swatch(self.SHADES.get(part, "border_strong"), entry))
            row.addWidget(label(names.get(part, part), "caption", entry, wrap=False))
            row.addWidget(label(f"{fmt_count(n)} · {fmt_percent(n / total, 0)}", "muted", entry, wrap=False))
            row.addStretch(1)
            self._legend.addWidget(entry, *divmod(i, 3))
        self._bar.setAccessibleDescription(", ".join(f"{names.get(p, p)} {fmt_percent(n / total, 0)}" for p, n in parts))
        self._bar.update()


class _Swatch(QWidget):
    def __init__(self, color: str, parent: QWidget):
        super().__init__(parent)
        self._color = color
        self.setFixedSize(9, 9)

    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(theme().color(self._color))
        p.drawRoundedRect(QRectF(self.rect()), 2, 2)
        p.end()


class _Bar(QWidget):
    """Shares of a whole in colours; what's left is the well."""

    def __init__(self, parent: QWidget | None = None, height: int = 12):
        super().__init__(parent)
        self.parts: list[tuple[str, float]] = []
        self.setFixedHeight(height)

    def paintEvent(self, event: Any) -> None:
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(self.rect()), self.height() / 2, self.height() / 2)
        p.setClipPath(shape)
        p.fillRect(self.rect(), theme().color("border"))
        left = 0.0
        for color, share in self.parts:
            width = share * self.width()
            p.fillRect(QRectF(left, 0, width, self.height()), theme().color(color))
            left += width
            p.fillRect(QRectF(left - 0.5, 0, 1, self.height()), QColor(theme().color("surface")))
        p.end()


class WhatPage(Page):
    def __init__(self, wizard: OpenModelWizard):
        super().__init__("what")
        self.say(self.tr("What it is"), self.tr("What it is"), self.tr("Read from headers and configuration, before anything is copied."))
        self.wizard = wizard
        self.notice = Notice(self)
        self.notice.setObjectName("inspection")
        self.told = QWidget(self)
        box = column(self.told, 14)
        self.facts = Facts(self.told)
        self.drawn_title = label(self.tr("What it draws"), "section", self.told)
        self.drawn_text = label(role="caption", parent=self.told)
        self.drawn_text.setObjectName("drawn")
        self.drawn = QVBoxLayout()
        self.parts_title = label(self.tr("Parameters by component"), "section", self.told)
        self.parts = PartsBar(self.told)
        self.memory_title = label(self.tr("Memory"), "section", self.told)
        self.memory = _Bar(self.told, 6)
        self.memory_text = label(role="caption", parent=self.told)
        self.warnings = QVBoxLayout()
        self.warnings.setSpacing(8)
        box.addWidget(self.facts)
        drawing = QVBoxLayout()
        drawing.setSpacing(6)
        drawing.addWidget(self.drawn_title)
        drawing.addLayout(self.drawn)
        drawing.addWidget(self.drawn_text)
        box.addLayout(drawing)
        box.addWidget(self.parts_title)
        box.addWidget(self.parts)
        box.addWidget(self.memory_title)
        box.addWidget(self.memory)
        box.addWidget(self.memory_text)
        box.addLayout(self.warnings)
        self.remote = QCheckBox(self.tr("Run the code that comes with this model. I trust whoever made it."), self)
        self.remote.setObjectName("remote_code")
        self.remote.setToolTip(self.tr("Such code can do on this machine whatever you can do"))
        self.body.addWidget(self.notice)
        self.body.addWidget(self.told)
        self.body.addWidget(self.remote)
        self.body.addStretch(1)
        self.remote.toggled.connect(self._allowed)
        self.tell_waiting()

    def entered(self) -> None:
        self.wizard.inspect_now()

    def withdraw_leave(self) -> None:
        """Another model is to be opened: leave to run code was given for the one before."""
        self.wizard.plan.remote_code = False
        with QSignalBlocker(self.remote):
            self.remote.setChecked(False)

    def tell_waiting(self) -> None:
        if self.wizard.board.catalogue is None:
            text = self.tr("The worker is still starting; it reads the model in a few seconds.")
        elif source_kind(self.wizard.plan.source) == "hub":
            text = self.tr("Asking the Hub …")
        else:
            text = self.tr("Reading the headers …")
        self.notice.tell(text, "info")
        self.told.hide()
        self.remote.setVisible(self.wizard.plan.remote_code)

    def tell_failure(self, failed: Failed) -> None:
        sentence, hint = failure_text(failed)
        self.notice.tell(f"{sentence} {hint}".strip(), "error")
        self.told.hide()
        self.remote.setVisible(self.wizard.plan.remote_code)

    def tell_info(self, info: SourceInfo) -> None:
        hub = info.kind == "hub"
        download = self.tr("Opening it will download {size} from the Hub.").format(size=fmt_bytes(info.bytes_on_disk)) if hub else ""
        self.notice.tell(download, "info")
        self.facts.show_pairs(self._pairs(info))
        self._clear_drawn()
        self.parts.show_parts(info.components)
        for widget in (self.parts, self.parts_title):
            widget.setVisible(bool(info.components))
        self._tell_memory(info)
        while self.warnings.count():
            widget = self.warnings.takeAt(0).widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for warning in info.warnings:
            notice = Notice(self.told)
            self.warnings.addWidget(notice)
            notice.tell(core_text(warning), "warning")
        self.remote.setVisible(info.remote_code)
        self.told.show()

    def _clear_drawn(self) -> None:
        while self.drawn.count():
            widget = self.drawn.takeAt(0).widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.drawn_title.hide()
        self.drawn_text.hide()

    def tell_drawing(self) -> None:
        self._clear_drawn()
        self.drawn_title.show()
        self.drawn_text.setText(self.tr("Drawing …"))
        self.drawn_text.show()

    def tell_drawn(self, event: Any) -> None:
        """A row of images, or why there's none."""
        self._clear_drawn()
        self.drawn_title.show()
        self.drawn_text.show()
        if isinstance(event, Failed):
            self.drawn_text.setText(" ".join(failure_text(event)).strip())
        elif isinstance(event, Finished) and event.result.get("png"):
            found = event.result
            self.drawn.addWidget(Pictures(Drawn("teacher", found["steps"], found["png"], found["count"])))
            self.drawn_text.setText(self.tr("In {n} steps, not chosen among others").format(n=found["steps"]))
        else:
            self.drawn_text.setText(self.tr("It's too large to draw some in passing."))

    def _pairs(self, info: SourceInfo) -> list[tuple[str, str]]:
        dash = self.tr("unknown")
        tasks = {
            "causal-lm": self.tr("generates text"),
            "encoder": self.tr("encodes text"),
            "classifier": self.tr("classifies"),
            "diffusion": self.tr("draws images"),
            "unknown": self.tr("unknown"),
        }
        yes, no = self.tr("yes"), self.tr("no")
        dtype = ", ".join(sorted(info.dtypes, key=lambda d: -info.dtypes[d])) or dash
        shape = [
            self.tr("{n} layers").format(n=info.layers) if info.layers else "",
            self.tr("width {n}").format(n=info.hidden) if info.hidden else "",
            self._heads(info),
        ]
        known = [
            (self.tr("Architecture"), info.architecture or dash),
            (self.tr("Task"), tasks[info.task]),
            (self.tr("Parameters"), fmt_count(info.parameters) if info.parameters is not None else dash),
            (self.tr("Size on disk"), fmt_bytes(info.bytes_on_disk) if info.bytes_on_disk is not None else dash),
            (self.tr("Stored as"), info.quantization or dtype),
        ]
        if info.image_shape is not None:
            channels, height, width = info.image_shape
            kind = {1: self.tr("grey"), 3: self.tr("in colours")}.get(channels, str(channels))
            size = self.tr("{width} x {height}, {kind}").format(width=width, height=height, kind=kind)
            says = {
                "epsilon": self.tr("the noise (epsilon)"),
                "sample": self.tr("the image"),
                "v_prediction": self.tr("between noise and image (v)"),
            }
            return [
                *known,
                (self.tr("Images"), size),
                (self.tr("Classes"), fmt_count(info.classes) if info.classes else self.tr("none")),
                (self.tr("Scheduler"), info.scheduler or dash),
                (self.tr("Predicts"), says.get(info.prediction, info.prediction or dash)),
                (self.tr("Levels of noise"), fmt_count(info.context) if info.context else dash),
                (self.tr("Steps to draw in"), fmt_count(info.steps) if info.steps else self.tr("as many as one likes")),
            ]
        return [
            *known,
            (self.tr("Context"), self.tr("{n} tokens").format(n=fmt_count(info.context)) if info.context else dash),
            (self.tr("Shape"), ", ".join(s for s in shape if s) or dash),
            (self.tr("Vocabulary"), self.tr("{n} tokens").format(n=fmt_count(info.vocabulary)) if info.vocabulary else dash),
            (self.tr("Tied embedding"), dash if info.tied is None else yes if info.tied else no),
            (self.tr("Tokenizer"), yes if info.tokenizer else self.tr("missing")),
        ]

    def _heads(self, info: SourceInfo) -> str:
        if not info.heads:
            return ""
        if info.kv_heads and info.kv_heads != info.heads:
            return self.tr("{heads} heads in {groups} groups").format(heads=info.heads, groups=info.kv_heads)
        return self.tr("{heads} heads").format(heads=info.heads)

    def _tell_memory(self, info: SourceInfo) -> None:
        known = info.memory_needed is not None and info.memory_free is not None
        for widget in (self.memory, self.memory_title, self.memory_text):
            widget.setVisible(known)
        if info.memory_needed is None or info.memory_free is None:
            return
        share = min(1.0, info.memory_needed / max(1, info.memory_free))
        self.memory.parts = [("err" if info.memory_needed > info.memory_free else "accent", share)]
        self.memory.update()
        self.memory_text.setText(
            self.tr("About {needed} to hold it in float32; {free} free on this machine.").format(
                needed=fmt_bytes(info.memory_needed), free=fmt_bytes(info.memory_free)
            )
        )

    def _allowed(self, allowed: bool) -> None:
        self.wizard.plan.remote_code = allowed
        self.wizard.inspect_now()
        self.changed.emit()

    def first_field(self) -> QWidget | None:
        return self.remote if self.remote.isVisibleTo(self) else None


class BaselinePage(Page):
    def __init__(self, wizard: OpenModelWizard):
        super().__init__("baseline")
        self.say(
            self.tr("Baseline"),
            self.tr("Measure a baseline"),
            self.tr("What each later cut costs is told against this: perplexity on a text, and speed."),
        )
        self.wizard = wizard
        plan = wizard.plan
        self.name = QLineEdit(self)
        self.name.setObjectName("name")
        self.measure = QCheckBox(self.tr("Measure perplexity and speed after opening"), self)
        self.measure.setObjectName("measure")
        self.measure.setChecked(plan.measure)
        self.text = TextChoice(
            self.tr("Held-out text that comes with Spokeshave"),
            self.tr("Shakespeare that the starter models haven't seen. Good for comparing variants of any English model."),
            self,
        )
        self.text.set_path(plan.text)
        self.images = ImagesChoice(
            self.tr("The handwritten digits that come with Spokeshave"),
            self.tr("What the starter model learnt from. For another model, choose the images that it learnt from."),
            self,
        )
        self.images.setObjectName("images")
        self.dtype = QComboBox(self)
        self.dtype.setObjectName("dtype")
        for value, title in (
            ("auto", self.tr("As it's stored")),
            ("float32", "float32"),
            ("bfloat16", "bfloat16"),
            ("float16", "float16"),
        ):
            self.dtype.addItem(title, value)
        self.dtype.setCurrentIndex(max(self.dtype.findData(plan.dtype), 0))
        self.dtype.setToolTip(self.tr("The precision in which the copy in the workspace is kept"))
        self.device = DeviceChoice(wizard.board, "auto", self)
        self.tokens = QComboBox(self)
        self.tokens.setObjectName("max_tokens")
        for n, title in (
            (4_000, self.tr("4,000 tokens: quick, less sure")),
            (20_000, self.tr("20,000 tokens")),
            (100_000, self.tr("100,000 tokens: slow, surer")),
        ):
            self.tokens.addItem(title, n)
        self.tokens.setCurrentIndex(max(self.tokens.findData(plan.max_tokens), 0))
        for widget in (self.dtype, self.tokens):
            calm_wheel(widget)
        grid = QGridLayout()
        grid.setHorizontalSpacing(18)
        grid.setVerticalSpacing(5)
        for at, (title, widget) in enumerate(((self.tr("Name"), self.name), (self.tr("Keep the weights as"), self.dtype))):
            caption = label(title, parent=self, wrap=False)
            caption.setBuddy(widget)
            grid.addWidget(caption, 0, at)
            grid.addWidget(widget, 1, at)
        self.how = QWidget(self)
        how = QGridLayout(self.how)
        how.setContentsMargins(0, 0, 0, 0)
        how.setHorizontalSpacing(18)
        how.setVerticalSpacing(5)
        self.of_text: list[QWidget] = []
        for at, (title, widget) in enumerate(((self.tr("Device"), self.device), (self.tr("Read at most"), self.tokens))):
            caption = label(title, parent=self.how, wrap=False)
            caption.setBuddy(widget)
            how.addWidget(caption, 0, at)
            how.addWidget(widget, 1, at)
            self.of_text += [caption, widget] * at  # a model that draws reads no tokens
        for layout in (grid, how):
            layout.setColumnStretch(0, 1)
            layout.setColumnStretch(1, 1)
        self.memory = Notice(self)
        self.body.addLayout(grid)
        self.body.addWidget(self.measure)
        self.body.addWidget(self.text)
        self.body.addWidget(self.images)
        self.body.addWidget(self.how)
        self.body.addWidget(self.memory)
        self.body.addStretch(1)
        self.name.textEdited.connect(lambda _: self._changed())
        self.measure.toggled.connect(lambda _: self._changed())
        self.text.changed.connect(self._changed)
        self.images.changed.connect(self._changed)
        self.dtype.currentIndexChanged.connect(lambda _: self._changed())
        self.tokens.currentIndexChanged.connect(lambda _: self._changed())
        self.device.changed.connect(self._changed)

    def entered(self) -> None:
        self.device.fill()
        with QSignalBlocker(self.name):
            self.name.setText(self.wizard.plan.name)
        self._changed()

    def _changed(self) -> None:
        plan = self.wizard.plan
        plan.name = self.name.text()
        plan.measure = self.measure.isChecked()
        plan.text = self.text.path()
        plan.dtype = self.dtype.currentData()
        plan.max_tokens = self.tokens.currentData()
        plan.device = self.device.device()
        draws = plan.info is not None and plan.info.task == "diffusion"
        self.text.setVisible(plan.measure and not draws)
        self.images.setVisible(plan.measure and draws)
        for part in self.of_text:
            part.setVisible(not draws)
        self.measure.setText(
            self.tr("Measure the Fréchet distance and speed after opening")
            if draws
            else self.tr("Measure perplexity and speed after opening")
        )
        self.explanation = (
            self.tr("What each later cut costs is told against this: likeness to images, and speed.")
            if draws
            else self.tr("What each later cut costs is told against this: perplexity on a text, and speed.")
        )
        plan.images = self.images.path() if draws else None
        self.how.setVisible(plan.measure)
        needed = plan.info.memory_needed if plan.info else None
        self.memory.tell(spoken(memory_problem(needed, self.device.info())), "warning")
        self.changed.emit()

    def first_field(self) -> QWidget:
        return self.name


class ReviewPage(Page):
    def __init__(self, wizard: OpenModelWizard):
        super().__init__("review")
        self.say(self.tr("Review"), self.tr("Ready to open"), self.tr("The work goes on in the background; the window stays free."))
        self.wizard = wizard
        self.facts = Facts(self, columns=1)
        self.body.addWidget(self.facts)
        self.body.addStretch(1)

    def entered(self) -> None:
        plan = self.wizard.plan
        info = plan.info
        text = self.tr("the held-out text that comes with Spokeshave") if plan.text is None else Path(plan.text).name
        draws = info is not None and info.task == "diffusion"
        images = self.tr("the handwritten digits") if plan.images is None else Path(plan.images).name
        measured = (
            self.tr("Fréchet distance to {images}; speed").format(images=images)
            if plan.measure and draws
            else self.tr("perplexity on {text}, at most {n} tokens; speed").format(text=text, n=fmt_count(plan.max_tokens))
            if plan.measure
            else self.tr("nothing, so it has no place on the plot yet")
        )
        stored = {"auto": self.tr("as it's stored")}.get(plan.dtype, plan.dtype)
        pairs = [
            (self.tr("Name"), plan.name.strip()),
            (self.tr("Source"), plan.source.strip()),
            (self.tr("Size"), fmt_bytes(info.bytes_on_disk) if info and info.bytes_on_disk is not None else self.tr("unknown")),
            (self.tr("Weights"), stored),
            (self.tr("Measured"), measured),
            (self.tr("Device"), self.wizard.baseline.device.currentText()),
            (self.tr("Workspace"), plan.workspace),
        ]
        if info and info.kind == "hub":
            pairs.insert(3, (self.tr("Download"), fmt_bytes(info.bytes_on_disk)))
        self.facts.show_pairs(pairs)
