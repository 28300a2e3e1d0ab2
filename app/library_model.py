"""Library: the open workspace as the window sees it, and the lineage tree as a Qt model.

Covers reading, selection, and noticing what other windows or the command line changed (a poll each second). Writes only
names and deletions; variants come from workers. Which numbers may be compared is decided here (`Library.scores`), so that
tree, plot and inspector agree.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt, QTimer, Signal

from app import text
from app.theme import kind_icon, numbers
from core import exports
from core.errors import UserError
from core.events import TERMINAL, Progress, Queued, Started
from core.records import ExportRecord, Measurement, Variant
from core.workspace import Workspace

POLL_MS = 1000
SPEED_KINDS = ("prefill", "decode", "draw", "resident", "peak")
NEUTRAL = ("text", "threads", "libraries", "seconds", "device")  # conditions that don't change what a quality figure means
# whatever else was measured in the same pass, these need no reference
OF_ITSELF = ("perplexity", "bits_per_byte", "accuracy", "frechet", "image_accuracy")
SCORE_KINDS = ("perplexity", "kl", "agreement", "cosine", "accuracy", "bits_per_byte", "frechet", "image_accuracy")
DRAWN = ("frechet", "image_accuracy", "draw")  # compared whatever the number of steps: that they differ is the point


@dataclass(frozen=True)
class Score:
    """A measurement of a variant, and whether it was taken under the same conditions as most of its kind."""

    measurement: Measurement
    comparable: bool = True

    @property
    def value(self) -> float:
        return self.measurement.value


def conditions_key(measurement: Measurement, variant: Variant) -> tuple:
    """What must be equal for two figures of a kind to be comparable.

    Perplexity is per token, so another tokenizer makes it another quantity; speed depends on device, dtype and threads.
    """
    more = ("steps",) if measurement.kind in DRAWN else ()
    if measurement.kind in SPEED_KINDS:
        kept = {k: v for k, v in measurement.conditions.items() if k not in ("text", "libraries", "seconds", *more)}
        return tuple(sorted((k, repr(v)) for k, v in kept.items()))
    dropped = (*NEUTRAL, *more, "reference") if measurement.kind in OF_ITSELF else NEUTRAL
    kept = {k: v for k, v in measurement.conditions.items() if k not in dropped}
    return (*sorted((k, repr(v)) for k, v in kept.items()), ("n", measurement.n), ("tokens", variant.info.tokens_hash))


def own_steps(measurement: Measurement) -> bool:
    """Whether it isn't of a model that drew in another number of steps than it's compared in."""
    return not measurement.conditions.get("other_steps")


def indistinguishable(a: Measurement, b: Measurement) -> bool:
    """Whether the two 95 % intervals overlap; False where one isn't known, since then nothing can be said."""
    if a.interval is None or b.interval is None:
        return False
    return a.interval[0] <= b.interval[1] and b.interval[0] <= a.interval[1]


class Library(QObject):
    """The open workspace. `changed`: variants or measurements did; `selected`: another variant's id, or ''."""

    changed = Signal()
    selected = Signal(str)
    opened = Signal()

    def __init__(self, parent: QObject | None = None):
        super().__init__(parent)
        self.workspace: Workspace | None = None
        self.selection = ""
        self.problems: dict[str, UserError] = {}
        self._stamp: dict[tuple[str, str], tuple[int, int]] = {}
        self._variants: dict[str, Variant] = {}
        self._measurements: dict[str, list[Measurement]] = {}
        self._exports: dict[str, list[ExportRecord]] = {}
        self._timer = QTimer(self)
        self._timer.setInterval(POLL_MS)
        self._timer.timeout.connect(self.refresh)

    # -- the workspace

    def open(self, folder: str | Path, create: bool = True) -> None:
        """Opens a workspace; raises UserError where the folder isn't one or can't become one."""
        self.workspace = Workspace(folder, create=create)
        self._stamp, self._variants, self._measurements, self._exports, self.problems = {}, {}, {}, {}, {}
        self.selection = ""
        self._read()
        self._timer.start()
        self.opened.emit()
        self.changed.emit()
        self.selected.emit("")

    def close(self) -> None:
        self._timer.stop()

    def refresh(self) -> None:
        """Looks whether anything changed on disk, and tells."""
        if self.workspace is None or not self._read():
            return
        gone = bool(self.selection) and self.selection not in self._variants
        if gone:
            self.selection = ""
        self.changed.emit()
        if gone:
            self.selected.emit("")

    def _read(self) -> bool:
        """Reads what changed since last time; whether anything did."""
        stamp = {(name, file): (mtime, size) for name, file, mtime, size in self.workspace.stamp()}
        changed = {key for key in stamp.keys() | self._stamp.keys() if stamp.get(key) != self._stamp.get(key)}
        if not changed:
            return False
        self._stamp = stamp
        for name, file in changed:
            if file == "measurements.jsonl":
                self._measurements[name] = self.workspace.measurements(name)
                continue
            if file == "exports.jsonl":
                self._exports[name] = self.workspace.exports(name)
                continue
            self._variants.pop(name, None)
            self.problems.pop(name, None)
            if (name, file) not in stamp:
                continue
            try:
                self._variants[name] = self.workspace.variant(name)
            except UserError as problem:  # a damaged record is listed as one; the rest of the workspace goes on
                self.problems[name] = problem
        return True

    # -- reading

    def variants(self) -> list[Variant]:
        """Oldest first."""
        return sorted(self._variants.values(), key=lambda v: (v.created, v.id))

    def variant(self, variant: str) -> Variant:
        """KeyError for an id that isn't (or is no longer) there."""
        return self._variants[variant]

    def get(self, variant: str) -> Variant | None:
        return self._variants.get(variant)

    def measurements(self, variant: str) -> list[Measurement]:
        """Everything measured on it, oldest first."""
        return self._measurements.get(variant, []) if variant in self._variants else []

    def exports(self, variant: str) -> list[ExportRecord]:
        """What was exported of it, oldest first; whether that's still there: core.exports.why_not."""
        return self._exports.get(variant, []) if variant in self._variants else []

    def exported_models(self) -> list[Variant]:
        """The exports that can still be decoded with, each as its variant with the export's name and size."""
        return exports.models(self.workspace, self.variants(), text.export_words()) if self.workspace is not None else []

    def gone_exports(self) -> dict[str, str]:
        """Why each export that can't be decoded with any more can't, by its name: 'onnx:FOLDER'."""
        return exports.gone(self.workspace, self.variants()) if self.workspace is not None else {}

    def model(self, name: str) -> Variant | None:
        """The variant of that id, or the export that 'onnx:FOLDER' names; None where it isn't there any more."""
        if exports.folder_of(name) is None:
            return self.get(name)
        return next((v for v in self.exported_models() if v.id == name), None)

    def latest(self, variant: str, kind: str) -> Measurement | None:
        return next((m for m in reversed(self.measurements(variant)) if m.kind == kind and own_steps(m)), None)

    def by_steps(self, variant: str, kind: str = "frechet") -> list[tuple[int, Measurement, Measurement]]:
        """(steps, likeness, drawing speed) of a model that draws, for each number of steps that both were measured in on the latest images.

        Speeds are of one machine's settings: those of the latest. From many steps to few.
        """
        found: dict[str, dict[int, Measurement]] = {kind: {}, "draw": {}}
        known: dict[str, tuple] = {}
        for m in reversed(self.measurements(variant)):
            steps = m.conditions.get("steps")
            if m.kind not in found or not isinstance(steps, int):
                continue
            key = (*(m.conditions.get(name) for name in ("images_hash", "seed", "device", "threads", "batch")), m.n * (m.kind == kind))
            if known.setdefault(m.kind, key) == key:
                found[m.kind].setdefault(steps, m)
        both = sorted(found[kind].keys() & found["draw"].keys(), reverse=True)
        return [(steps, found[kind][steps], found["draw"][steps]) for steps in both]

    def lineage(self, variant: str) -> list[Variant]:
        """From the original down to the variant itself."""
        chain: list[Variant] = []
        at = self._variants.get(variant)
        while at is not None and at not in chain:
            chain.insert(0, at)
            at = self._variants.get(at.parent) if at.parent else None
        return chain

    def root(self, variant: str) -> Variant:
        """The original it came from (itself, where that's gone); KeyError for an unknown id."""
        return (self.lineage(variant) or [self._variants[variant]])[0]

    def children(self, variant: str) -> list[Variant]:
        return [v for v in self.variants() if v.parent == variant]

    def scores(self, kind: str) -> dict[str, Score]:
        """The figure of a kind for each variant that has one, chosen so that as many as possible are comparable.

        The conditions shared by most variants (the latest of them, where it's a tie) are the reference. A variant
        measured under them shows that figure; one that wasn't shows its latest, marked as not comparable.
        """
        found: dict[str, dict[tuple, Measurement]] = {}
        for v in self._variants.values():
            mine = [m for m in self.measurements(v.id) if m.kind == kind]
            mine = [m for m in mine if own_steps(m)] or mine
            keyed = {conditions_key(m, v): m for m in mine}  # a later one replaces an earlier
            if keyed:
                found[v.id] = keyed
        if not found:
            return {}
        count = collections.Counter(key for keyed in found.values() for key in keyed)
        newest = {key: max(keyed[key].taken for keyed in found.values() if key in keyed) for key in count}
        reference = max(count, key=lambda key: (count[key], newest[key]))
        return {
            v: Score(keyed[reference]) if reference in keyed else Score(max(keyed.values(), key=lambda m: m.taken), False)
            for v, keyed in found.items()
        }

    def score_kind(self, variant: Variant) -> str:
        """The figure that says how good a variant is, by its task."""
        return {"encoder": "cosine", "classifier": "accuracy", "diffusion": "frechet"}.get(variant.info.task, "perplexity")

    def speed_kind(self, variant: Variant) -> str:
        """The speed that matters, by its task: only a language model writes token by token."""
        return {"encoder": "prefill", "classifier": "prefill", "diffusion": "draw"}.get(variant.info.task, "decode")

    # -- choosing and changing

    def select(self, variant: str) -> None:
        variant = variant if variant in self._variants else ""
        if variant != self.selection:
            self.selection = variant
            self.selected.emit(variant)

    def rename(self, variant: str, name: str) -> None:
        """Raises UserError for an empty name."""
        name = name.strip()
        if not name:
            raise UserError("A variant needs a name.", hint="Type one.")
        record = self.variant(variant)
        if name != record.name:
            self.workspace.update(record.model_copy(update={"name": name}))
            self.refresh()

    def delete(self, variant: str) -> None:
        """Raises UserError where other variants came from it."""
        self.workspace.delete(variant)
        self.refresh()


# ---- the tree -----------------------------------------------------------------------------------------------------

NAME, SIZE, SCORE = range(3)
IdRole, KindRole, GhostRole, MatchRole, ProblemRole = (Qt.ItemDataRole.UserRole + i for i in range(1, 6))


@dataclass
class _Node:
    id: str  # a variant's id, or a job's for a ghost
    parent: _Node | None
    row: int = 0
    children: list[_Node] = field(default_factory=list)
    ghost: bool = False
    number: int = 0


class LibraryModel(QAbstractItemModel):
    """The lineage tree: name, size in MB, score. Filters itself (`set_filter`); running jobs appear as ghost rows.

    `rebuilt` fires after a reset, for the view to open branches again and restore the selection.
    """

    rebuilt = Signal()

    def __init__(self, library: Library, board: Any = None, parent: QObject | None = None):
        super().__init__(parent)
        self.library, self.board = library, board
        self._filter = ""
        self._nodes: list[_Node] = []
        self._top: list[_Node] = []
        self._by_id: dict[str, _Node] = {}
        self._ghosts: tuple[str, ...] = ()
        self._scores: dict[str, dict[str, Score]] = {}
        library.changed.connect(self.rebuild)
        if board is not None:
            board.event.connect(self._on_event)
        self.rebuild()

    # -- building

    def set_filter(self, words: str) -> None:
        words = words.strip().casefold()
        if words != self._filter:
            self._filter = words
            self.rebuild()

    @property
    def filter(self) -> str:
        return self._filter

    def rebuild(self) -> None:
        self.beginResetModel()
        variants = {v.id: v for v in self.library.variants()}
        kinds = {self.library.score_kind(v) for v in variants.values()}
        self._scores = {kind: self.library.scores(kind) for kind in kinds}
        kept = self._kept(variants.values())
        self._nodes, self._top, self._by_id = [], [], {}
        made: dict[str | None, list[Variant]] = collections.defaultdict(list)
        for v in variants.values():
            if v.id in kept:
                made[v.parent if v.parent in variants else None].append(v)
        ghosts: dict[str | None, list[Any]] = collections.defaultdict(list)
        for state in running(self.board, self.library):
            target = getattr(state.job.spec, "variant", None)
            if not self._filter or target in kept:
                ghosts[target if target in kept else None].append(state)

        def add(parent: _Node | None, key: str | None) -> None:
            siblings = parent.children if parent else self._top
            for v in made[key]:
                node = self._new(v.id, parent, len(siblings), ghost=False)
                siblings.append(node)
                add(node, v.id)
            for state in ghosts[key]:
                siblings.append(self._new(state.job.id, parent, len(siblings), ghost=True))

        add(None, None)
        self._ghosts = tuple(s.job.id for s in running(self.board, self.library))
        self.endResetModel()
        self.rebuilt.emit()

    def _kept(self, variants: Iterable[Variant]) -> set[str]:
        """Ids that the filter shows: what matches, and its ancestors so that it keeps its place."""
        if not self._filter:
            return {v.id for v in variants}
        kept: set[str] = set()
        for v in variants:
            if self.matches(v):
                kept.update(a.id for a in self.library.lineage(v.id))
        return kept

    def matches(self, v: Variant) -> bool:
        return all(word in f"{v.name} {v.method} {text.kind_name(v.kind)}".casefold() for word in self._filter.split())

    def _new(self, id: str, parent: _Node | None, row: int, *, ghost: bool) -> _Node:
        node = _Node(id, parent, row, ghost=ghost, number=len(self._nodes))
        self._nodes.append(node)
        self._by_id[id] = node
        return node

    def _on_event(self, event: Any) -> None:
        if isinstance(event, (*TERMINAL, Queued, Started)):
            if tuple(s.job.id for s in running(self.board, self.library)) != self._ghosts:
                self.rebuild()
        elif isinstance(event, Progress) and event.job in self._by_id:
            index = self.index_of(event.job)
            self.dataChanged.emit(index, index.siblingAtColumn(SCORE))

    # -- Qt's questions

    def index_of(self, id: str) -> QModelIndex:
        node = self._by_id.get(id)
        return self.createIndex(node.row, 0, node.number) if node else QModelIndex()

    def _node(self, index: QModelIndex) -> _Node | None:
        return self._nodes[index.internalId()] if index.isValid() and index.internalId() < len(self._nodes) else None

    def index(self, row: int, column: int, parent: QModelIndex = QModelIndex()) -> QModelIndex:
        node = self._node(parent)
        siblings = node.children if node else self._top
        return self.createIndex(row, column, siblings[row].number) if 0 <= row < len(siblings) and 0 <= column <= SCORE else QModelIndex()

    def parent(self, index: QModelIndex) -> QModelIndex:
        node = self._node(index)
        return self.createIndex(node.parent.row, 0, node.parent.number) if node and node.parent else QModelIndex()

    def rowCount(self, parent: QModelIndex = QModelIndex()) -> int:
        if parent.isValid() and parent.column() > 0:
            return 0
        node = self._node(parent)
        return len(node.children if node else self._top)

    def columnCount(self, parent: QModelIndex = QModelIndex()) -> int:
        return 3

    def flags(self, index: QModelIndex) -> Qt.ItemFlag:
        node = self._node(index)
        if node is None:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled
        if not node.ghost:
            flags |= Qt.ItemFlag.ItemIsSelectable
            if index.column() == NAME:
                flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _aligned(section)
        if role == Qt.ItemDataRole.DisplayRole:
            return (self.tr("Variant"), self.tr("MB"), self._score_heading())[section]
        if role == Qt.ItemDataRole.ToolTipRole and section == SCORE:
            return self.tr("Perplexity on the evaluation text (lower is better); for encoders the cosine to the original's output.")
        return None

    def _score_heading(self) -> str:
        kinds = {self.library.score_kind(v) for v in self.library.variants()} or {"perplexity"}
        if len(kinds) > 1:
            return self.tr("Score")
        titles = {"cosine": self.tr("Cosine"), "accuracy": self.tr("Acc. %"), "frechet": self.tr("Fréchet")}
        return titles.get(kinds.pop(), self.tr("Perpl."))

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        node = self._node(index)
        if node is None:
            return None
        if role == IdRole:
            return node.id
        if role == GhostRole:
            return node.ghost
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _aligned(index.column())
        return self._ghost_data(node, index.column(), role) if node.ghost else self._variant_data(node, index.column(), role)

    def _ghost_data(self, node: _Node, column: int, role: int) -> Any:
        state = self.board.state(node.id)
        if state is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            share = state.done / state.total if state.total else None
            return (state.job.title, "", f"{100 * share:.0f} %" if share is not None and state.status == "running" else "…")[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            stage = text.core_text(state.stage) if state.stage else self.tr("waiting for its turn")
            return self.tr("This variant is being made: {stage}").format(stage=stage)
        return None

    def _variant_data(self, node: _Node, column: int, role: int) -> Any:
        v = self.library.get(node.id)
        if v is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return (v.name, text.fmt_mb(v.ledger.bytes_on_disk), self._score_text(v))[column]
        if role == Qt.ItemDataRole.EditRole:
            return v.name
        if role == Qt.ItemDataRole.DecorationRole and column == NAME:
            return kind_icon(v.kind)
        if role == Qt.ItemDataRole.FontRole and column != NAME:
            return numbers(12)
        if role == KindRole:
            return v.kind
        if role == MatchRole:
            return bool(self._filter) and self.matches(v)
        if role == Qt.ItemDataRole.AccessibleTextRole and column == NAME:
            return f"{v.name}, {text.kind_name(v.kind)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            if column == SCORE and (score := self.score(v)) and not score.comparable:
                return self.tr("Measured on another text or under other conditions than most, so not comparable with them.")
            return f"{v.name}\n{text.kind_name(v.kind)} · {v.method}" if column == NAME else None
        return None

    def score(self, v: Variant) -> Score | None:
        return self._scores.get(self.library.score_kind(v), {}).get(v.id)

    def _score_text(self, v: Variant) -> str:
        score = self.score(v)
        if score is None:
            return text.DASH
        shown = f"{100 * score.value:.1f}" if score.measurement.kind == "accuracy" else text.fmt_number(score.value, 4)
        return shown if score.comparable else f"({shown})"

    def setData(self, index: QModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        node = self._node(index)
        if role != Qt.ItemDataRole.EditRole or node is None or node.ghost or not str(value).strip():
            return False
        self.library.rename(node.id, str(value))
        return True


def _aligned(column: int) -> int:
    across = Qt.AlignmentFlag.AlignLeft if column == NAME else Qt.AlignmentFlag.AlignRight
    return int(Qt.AlignmentFlag.AlignVCenter | across)


def running(board: Any, library: Library) -> list[Any]:
    """The jobs that are making a variant of this workspace now, oldest first."""
    if board is None or library.workspace is None:
        return []
    return [
        s
        for s in board.states()
        if s.status in ("queued", "running")
        and s.job.kind in ("apply", "import")
        and Path(getattr(s.job.spec, "workspace", "") or ".").expanduser().absolute() == library.workspace.folder
    ]
