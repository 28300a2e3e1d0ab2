"""Labelled examples: texts, each with a class. Reading them from a file or the Hub, and the parts that they're cut into.

Covers CSV (semicolons too), TSV, JSON lines and Parquet files, and data sets of the Hub through `datasets`; a column with the text
and a column with the class, named or found. Which examples are held out depends on their text alone: it's the same for everyone who reads
the same data, in whatever order, and a text that occurs twice is never on both sides. And what a classifier says of texts.
Pairs of texts, several classes for one text and numbers to be predicted aren't covered.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from core.data.text import padded
from core.errors import UserError, explain
from core.recipe import LabelsRef

HELDOUT_SHARE = 0.2  # of the examples, never trained on: what accuracy is measured on
ASIDE_SHARE, MOST_ASIDE = 0.1, 1000  # of the rest, kept aside to choose the best step by
MOST_CLASSES = 1000
TEXT_NAMES = ("text", "sentence", "review", "content", "document", "comment", "question", "title", "body", "premise")
LABEL_NAMES = ("label", "labels", "class", "category", "target", "sentiment", "intent", "topic", "y")
FORMATS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".parquet": "parquet"}


@dataclass(frozen=True, slots=True)
class Labels:
    """Examples: `texts[i]` is of the class `classes[labels[i]]`. `sha256` is over the file's bytes, or over what the Hub gave."""

    name: str
    path: str
    sha256: str
    texts: tuple[str, ...]
    labels: tuple[int, ...]
    classes: tuple[str, ...]
    text_column: str
    label_column: str
    left_out: int = 0  # rows without a text or a class

    @property
    def notes(self) -> tuple[str, ...]:
        return (f"{self.left_out:,} rows of {self.name} have no text or no class and were left out.",) if self.left_out else ()

    def ref(self) -> LabelsRef:
        """What a recipe remembers of them."""
        return LabelsRef(path=self.path, sha256=self.sha256, text=self.text_column, label=self.label_column)

    def some(self, rows: Sequence[int]) -> tuple[list[str], list[int]]:
        """(texts, labels) of those rows."""
        return [self.texts[i] for i in rows], [self.labels[i] for i in rows]


@dataclass(frozen=True, slots=True)
class Split:
    """Row numbers: to learn from, to choose the best step by, and to measure accuracy on. No text is in two of them."""

    learn: tuple[int, ...]
    aside: tuple[int, ...]
    heldout: tuple[int, ...]


# ---- reading ----------------------------------------------------------------------------------------------------------


def read_labels(ref: LabelsRef) -> Labels:
    """The examples that `ref` names: a file, or 'org/name' or 'org/name:configuration' on the Hub (its split 'train').

    Raises UserError: no such file, not of a known format, a column that's missing or can't be told, one class only, more classes
    than make sense, no usable row, not the data that the recipe was made with.
    """
    columns, names, name, digest = _read(ref)
    found = _labels(name, str(ref.path), columns, ref, names)
    digest = digest or _digest(found)
    if ref.sha256 and ref.sha256 != digest:
        raise UserError(
            "The examples {name} aren't those that the recipe was made with.",
            hint="Restore them, or remove their sha256 from the recipe to use these.",
            kind="data",
            name=name,
        )
    object.__setattr__(found, "sha256", digest)
    return found


def _read(ref: LabelsRef) -> tuple[dict[str, list[Any]], dict[str, list[str]] | None, str, str]:
    """(columns, class names by column where the data set says them, what it's called, the file's sha256)."""
    path = Path(ref.path).expanduser()
    if path.is_dir():
        raise UserError("{path} is a folder, not a file of examples.", hint="Choose a file.", kind="data", path=str(path))
    if path.is_file():
        try:
            raw = path.read_bytes()
        except OSError as error:
            raise explain(error) from error
        return _columns(path, raw), None, path.name, hashlib.sha256(raw).hexdigest()
    if is_hub_id(ref.path):
        columns, names = _from_hub(ref)
        return columns, names, ref.path, ""
    raise UserError("There is no file of examples at {path}.", hint="Check the path.", kind="data", path=ref.path)


def is_hub_id(path: str) -> bool:
    """Whether a path that isn't there may be a data set's name on the Hub."""
    bare = path.partition(":")[0]
    known = Path(bare).suffix.lower() in FORMATS
    return not known and bare.count("/") == 1 and not bare.startswith((".", "/", "~")) and "\\" not in bare


def describe(ref: LabelsRef) -> dict[str, Any]:
    """{name, rows, columns, text, label, classes {name: rows}, left_out, heldout, longest (characters)}: what a person chooses by.

    Where it can't be told which columns hold text and class, only {name, columns, text, label}, what isn't known as ''.
    """
    columns = columns_of(ref)
    label = ref.label or _likely(columns, LABEL_NAMES, ref.text)
    text = ref.text or _likely(columns, TEXT_NAMES, label)
    if not (text and label):
        return {"name": ref.path, "columns": list(columns), "text": text, "label": label}
    found = read_labels(ref)
    counts = Counter(found.classes[i] for i in found.labels)
    parts = split(found)
    return {
        "name": found.name,
        "rows": len(found.texts),
        "columns": list(columns),
        "text": found.text_column,
        "label": found.label_column,
        "classes": {name: counts[name] for name in found.classes},
        "left_out": found.left_out,
        "heldout": len(parts.heldout),
        "longest": max(map(len, found.texts)),
    }


def columns_of(ref: LabelsRef) -> tuple[str, ...]:
    """The names of the columns, in their order."""
    return tuple(_read(ref)[0])


def _columns(path: Path, raw: bytes) -> dict[str, list[Any]]:
    """Column name -> its values. Raises UserError."""
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UserError(
            "{name} isn't a file of examples that can be read.",
            hint="Choose a .csv, .tsv, .jsonl or .parquet file.",
            kind="data",
            name=path.name,
        )
    if kind == "parquet":
        return _parquet(path)
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(
            "{name} isn't UTF-8 text (byte {position} can't be decoded).",
            hint="Save it again as UTF-8.",
            kind="data",
            name=path.name,
            position=error.start,
        ) from None
    if not content.strip():
        raise UserError("{name} is empty.", hint="Choose another file.", kind="data", name=path.name)
    return _csv(path, content) if kind == "csv" else _jsonl(path, content)


def _csv(path: Path, content: str) -> dict[str, list[Any]]:
    content = content.lstrip("\r\n")
    first = content.splitlines()[0]
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ";" if ";" in first and "," not in first else ","
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))  # a text may be longer than 131,072 characters
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(reader)
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise UserError(
            "{name} isn't valid CSV at line {line}: {reason}.",
            hint="Mend that line.",
            kind="data",
            name=path.name,
            line=reader.line_num,
            reason=str(error),
        ) from None
    for line, row in rows:
        if len(row) != len(header):
            raise UserError(
                "Line {line} of {name} has {found} fields where the first line names {wanted}.",
                hint="Put texts that contain a comma in double quotes.",
                kind="data",
                line=line,
                name=path.name,
                found=len(row),
                wanted=len(header),
            )
    _check_names(path, header)
    return {name: [row[i] for _, row in rows] for i, name in enumerate(header)}


def _check_names(path: Path, names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise UserError("{name} has two columns of the same name.", hint="Rename one of them.", kind="data", name=path.name)


def _jsonl(path: Path, content: str) -> dict[str, list[Any]]:
    """One JSON object a line, or one JSON array of objects."""
    rows: list[Any] = []
    number = 1
    try:
        if content.lstrip().startswith("["):
            rows = json.loads(content)
        else:
            for line in content.split("\n"):  # not splitlines: a text may hold U+2028
                if line.strip():
                    rows.append(json.loads(line))
                number += 1
        wrong = next((i for i, row in enumerate(rows, 1) if not isinstance(row, dict)), None)
    except (ValueError, RecursionError) as error:  # the latter where it's nested without end
        raise UserError(
            "Line {line} of {name} isn't JSON.",
            hint="Write one object a line, such as text and label.",
            kind="data",
            line=number,
            name=path.name,
            detail=str(error),
        ) from None
    if wrong is not None:
        raise UserError(
            "Row {row} of {name} isn't an object with named fields.",
            hint="Write one object a line, such as text and label.",
            kind="data",
            row=wrong,
            name=path.name,
        )
    names = dict.fromkeys(key for row in rows for key in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _parquet(path: Path) -> dict[str, list[Any]]:
    import pyarrow
    import pyarrow.parquet  # not until it's needed: it takes a while to import

    try:
        _check_names(path, pyarrow.parquet.read_schema(path).names)
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise UserError(
            "{name} can't be read as Parquet.", hint="Download or write it again.", kind="data", name=path.name, detail=str(error)
        ) from error
    return {name: table.column(name).to_pylist() for name in table.column_names}


def _from_hub(ref: LabelsRef) -> tuple[dict[str, list[Any]], dict[str, list[str]]]:
    """(columns of the split 'train', class names by column where the data set says them)."""
    import datasets  # not until it's needed: it takes seconds to import

    repo, _, configuration = ref.path.partition(":")
    try:
        found = datasets.load_dataset(repo, configuration or None, split="train")
    except Exception as error:  # it raises its own, the Hub's, requests' and the file system's
        raise UserError(
            "The data set {name} couldn't be read from the Hub.",
            hint="Check its name and the connection, or download it and choose the file.",
            kind="network",
            name=ref.path,
            detail=f"{type(error).__name__}: {error}",
        ) from error
    names = {name: list(feature.names) for name, feature in found.features.items() if isinstance(feature, datasets.ClassLabel)}
    return {name: list(found[name]) for name in found.column_names}, names


# ---- texts and classes ------------------------------------------------------------------------------------------------


def _labels(name: str, path: str, columns: dict[str, list[Any]], ref: LabelsRef, names: dict[str, list[str]] | None) -> Labels:
    label = _column(name, columns, ref.label, LABEL_NAMES, "class", taken=ref.text)
    text = _column(name, columns, ref.text, TEXT_NAMES, "text", taken=label)
    known = (names or {}).get(label)
    texts, given = [], []
    for words, value in zip(columns[text], columns[label], strict=True):
        if isinstance(words, str) and words.strip() and value is not None and str(value).strip() and not (known and value == -1):
            texts.append(_encodable(words.strip()))
            given.append(value)  # the Hub writes -1 for a class that isn't told
    if not texts:
        raise UserError(
            "{name} has no row with both a text ({text}) and a class ({label}).",
            hint="Choose other columns or another file.",
            kind="data",
            name=name,
            text=text,
            label=label,
        )
    if known:
        classes, numbers = tuple(known), [int(v) for v in given]
    else:
        if any(isinstance(v, (list, dict, float)) and not (isinstance(v, float) and v.is_integer()) for v in given):
            raise UserError(
                "The column {label} of {name} doesn't hold classes, but numbers or lists.",
                hint="Choose the column with one class a row.",
                kind="data",
                label=label,
                name=name,
            )
        said = [_encodable(str(int(v)) if isinstance(v, float) else str(v).strip()) for v in given]
        classes = tuple(sorted(set(said), key=_order))
        place = {c: i for i, c in enumerate(classes)}
        numbers = [place[s] for s in said]
    _check_classes(name, label, classes, numbers)
    return Labels(name, path, "", tuple(texts), tuple(numbers), classes, text, label, len(columns[text]) - len(texts))


def _encodable(words: str) -> str:
    """Without halves of surrogate pairs, which JSON can name and no encoding can write."""
    return words.encode("utf-8", "replace").decode("utf-8")


def _order(word: str) -> tuple[int, int, str]:
    """Whole numbers by their size before words by their letters."""
    sign, digits = word[:1] == "-", word.lstrip("-")
    return (0, (-1 if sign else 1) * int(digits), word) if digits.isascii() and digits.isdigit() and len(digits) < 20 else (1, 0, word)


def _check_classes(name: str, column: str, classes: tuple[str, ...], numbers: list[int]) -> None:
    present = set(numbers)
    if len(present) < 2:
        raise UserError(
            "All examples of {name} are of one class ({only}), so there is nothing to tell apart.",
            hint="Choose another file, or another column than {column}.",
            kind="data",
            name=name,
            only=classes[next(iter(present))],
            column=column,
        )
    if len(classes) > MOST_CLASSES or len(present) > len(numbers) / 2:
        raise UserError(
            "The column {column} of {name} has {classes} different values in {rows} rows, which aren't classes.",
            hint="Choose the column with the class.",
            kind="data",
            column=column,
            name=name,
            classes=len(present),
            rows=len(numbers),
        )
    few = [classes[i] for i, count in sorted(Counter(numbers).items()) if count < 3]
    if few:
        raise UserError(
            "The class {few} of {name} has fewer than three examples: too few to learn from and to measure on.",
            hint="Add examples of it, or remove it.",
            kind="data",
            few=few[0],
            name=name,
        )


def _column(name: str, columns: dict[str, list[Any]], asked: str, likely: Iterable[str], what: str, taken: str) -> str:
    """The column asked for, else one of a likely name, else the only one that's left."""
    shown = ", ".join(columns) or "none"
    if asked:
        if asked in columns:
            return asked
        raise UserError("{name} has no column {asked}.", hint="Its columns are: {shown}.", kind="data", name=name, asked=asked, shown=shown)
    found = _likely(columns, likely, taken)
    if not found:
        raise UserError(
            "It can't be told which column of {name} holds the {what}.",
            hint="Say which. Its columns are: {shown}.",
            kind="data",
            name=name,
            what=what,
            shown=shown,
        )
    return found


def _likely(columns: Iterable[str], likely: Iterable[str], taken: str) -> str:
    by_name = {c.strip().casefold(): c for c in columns if c != taken}
    found = next((by_name[word] for word in likely if word in by_name), "")
    return next(iter(by_name.values())) if not found and taken and len(by_name) == 1 else found


def _digest(labels: Labels) -> str:
    digest = hashlib.sha256()
    for text, number in zip(labels.texts, labels.labels, strict=True):
        digest.update(f"{labels.classes[number]}\0{text}\n".encode())
    return digest.hexdigest()


# ---- the parts --------------------------------------------------------------------------------------------------------


def split(labels: Labels) -> Split:
    """The same parts for the same texts, whatever the order of the rows: by the hash of each text, class by class.

    Of each class a fifth of the different texts is held out, at least one, and a tenth of the rest kept aside.
    """
    rows: dict[str, list[int]] = {}
    for i, text in enumerate(labels.texts):
        rows.setdefault(text, []).append(i)
    by_class: dict[int, list[str]] = {}
    for text, where in rows.items():
        by_class.setdefault(labels.labels[where[0]], []).append(text)
    share = min(ASIDE_SHARE, MOST_ASIDE / len(labels.texts))
    parts: tuple[list[int], list[int], list[int]] = ([], [], [])
    for texts in by_class.values():
        order = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())
        out = max(1, round(HELDOUT_SHARE * len(order)))
        aside = max(1, round(share * (len(order) - out)))
        for part, chosen in zip(parts, (order[out + aside :], order[out : out + aside], order[:out]), strict=True):
            part.extend(i for text in chosen for i in rows[text])
    if not parts[0]:
        raise UserError(
            "{name} has too few different texts to learn from some and measure on others.",
            hint="Choose a larger file.",
            kind="data",
            name=labels.name,
        )
    return Split(*(tuple(sorted(part)) for part in parts))


def to_model(labels: Labels, id2label: dict[int, str]) -> tuple[int, ...]:
    """labels.labels as the numbers that a model with these class names uses: by name (whatever its case, where that's enough to tell
    them apart), else in order where both are numbered.

    Raises UserError where the model's classes are others.
    """
    names = {str(name): int(i) for i, name in id2label.items()}
    folded = {name.casefold(): i for name, i in names.items()}
    apart = len(folded) == len(names) and len({c.casefold() for c in labels.classes}) == len(labels.classes)
    if all(c in names for c in labels.classes):
        table = [names[c] for c in labels.classes]
    elif apart and all(c.casefold() in folded for c in labels.classes):
        table = [folded[c.casefold()] for c in labels.classes]
    elif len(names) == len(labels.classes) and all(c == str(i) for i, c in enumerate(labels.classes)):
        table = list(range(len(labels.classes)))
    else:
        raise UserError(
            "The classes of {name} ({theirs}) aren't those of the model ({mine}).",
            hint="Choose the examples that it was trained on, or others with the same classes.",
            kind="data",
            name=labels.name,
            theirs=", ".join(labels.classes[:8]),
            mine=", ".join(str(n) for n in list(id2label.values())[:8]),
        )
    return tuple(table[i] for i in labels.labels)


def class_logits(model: Any, tokenizer: Any, texts: Sequence[str], longest: int) -> torch.Tensor:
    """A classifier's logits for each text, (texts, classes), padding masked out; texts are cut at `longest` tokens.

    A model that pools the last token finds it by its padding's id; one that names none is asked text by text.
    """
    device, pad = next(model.parameters()).device, model.config.pad_token_id
    groups = [list(texts)] if pad is not None else [[text] for text in texts]
    fed = (padded(tokenizer, group, longest, pad) for group in groups)
    return torch.cat([model(**{name: tensor.to(device) for name, tensor in one.items()}).logits for one in fed])
