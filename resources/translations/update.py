"""Keeps the translations in step with the source: `python resources/translations/update.py`.

Reads every string that a person may see out of app/ and core/ (by their syntax trees, importing neither), writes the .ts
files anew with the translations that they hold already, notes.json (see app/notes.py), and, where Qt's lrelease is at hand,
the .qm files. A string without a translation is left unfinished; tests/test_translations.py fails until it has one.

What's read: tr(...) and translate(context, ...), say(...) of the wizards' plans, core_text(...); UserError's sentences and
hints, a knob's title, help, unit and labels, a method's title and summary, stages, notes, warnings, names of checks.
"""

from __future__ import annotations

import ast
import copy
import json
import shutil
import string
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
LANGUAGES = ("zh_CN",)
NOTE_LISTS = ("notes", "warnings")
WORDS = (  # that core fills into its notes
    "left",
    "right",
    "int8 per token",  # ActivationQuant's names
    "int8 with an offset per token",
    "fp8 per token",
    "int8, one fixed scale",
    "int8 with an offset, one fixed scale",
    "heads",
    "head",
    "key-value groups",
    "key-value group",
)
Key = tuple[str, str, str]  # context, source, comment


class Unreadable(Exception):
    """A call whose text can't be read from the source, so that it could never be translated."""


# ---- reading the source ------------------------------------------------------------------------------------------------


def texts(node: ast.expr | None) -> list[str]:
    """The constant strings that an expression may be: itself, or either side of an if; empty where it's none of these."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) and node.value.strip() else []
    if isinstance(node, ast.IfExp):
        return texts(node.body) + texts(node.orelse)
    if isinstance(node, ast.BoolOp):
        return [t for value in node.values for t in texts(value)]
    return []


def filled(node: ast.JoinedStr, inner: list[str] | None = None) -> str:
    """An f-string as a template: its expressions become named placeholders, numbered where they've no plain name."""
    out, used = [], set()
    for part in node.values:
        if isinstance(part, ast.Constant):
            out.append(str(part.value).replace("{", "{{").replace("}", "}}"))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = part.value
        if inner is not None:
            inner += notes_in(value)  # what's filled in may be words of its own
        name = value.id if isinstance(value, ast.Name) else value.attr if isinstance(value, ast.Attribute) else "n"
        unique, n = name, 2
        while unique in used:
            unique, n = f"{name}{n}", n + 1
        used.add(unique)
        out.append("{" + unique + "}")
    return "".join(out)


def notes_in(node: ast.expr | None) -> list[str]:
    """Constant strings and f-strings of an expression, as templates."""
    if isinstance(node, ast.JoinedStr):
        inner: list[str] = []
        return [filled(node, inner), *inner]
    if isinstance(node, ast.IfExp):
        return notes_in(node.body) + notes_in(node.orelse)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [t for element in node.elts for t in notes_in(element)]
    return [t.replace("{", "{{").replace("}", "}}") for t in texts(node)]


def called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""


class AppReader(ast.NodeVisitor):
    """(context, source, comment) of each translatable call in a file of app/."""

    def __init__(self, path: Path):
        self.path, self.found, self._classes = path, [], []
        self._all_classes: list[str] = []
        self._own = {"self"}  # names whose tr is that of the class they stand in

    def visit_Module(self, node: ast.Module) -> None:
        self._all_classes = [part.name for part in ast.walk(node) if isinstance(part, ast.ClassDef)]
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = set(self._own)
        for part in ast.walk(node):
            if isinstance(part, ast.Assign) and ast.unparse(part.value) == "self.tr":
                self._own |= {t.id for t in part.targets if isinstance(t, ast.Name)}
        self.generic_visit(node)
        self._own = before

    def _contexts(self, function: ast.expr) -> list[str]:
        """The classes that a one-argument tr may belong to: its own, or, asked of another object, any of the file's."""
        asked = function.value if isinstance(function, ast.Attribute) else function
        own = isinstance(asked, ast.Name) and asked.id in self._own
        return self._classes[-1:] if own else self._all_classes

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name, args = called(node), node.args
        if name in ("tr", "translate", "_translate", "QT_TRANSLATE_NOOP") and len(args) >= 2 and texts(args[0]) and texts(args[1]):
            comment = texts(args[2])[0] if len(args) > 2 and texts(args[2]) else ""
            self.found += [(context, source, comment) for context in texts(args[0]) for source in texts(args[1])]
        elif name == "tr" and len(args) >= 1 and not isinstance(node.func, ast.Subscript):
            if not texts(args[0]):
                raise Unreadable(f"{self.path}:{node.lineno}: the text inside tr() isn't a plain string")
            if not self._classes:
                raise Unreadable(f"{self.path}:{node.lineno}: tr() outside a class has no context")
            comment = texts(args[1])[0] if len(args) > 1 and texts(args[1]) else ""
            self.found += [(context, source, comment) for context in self._contexts(node.func) for source in texts(args[0])]
        elif name == "say" and args:
            self.found += [("wizards", source, "") for source in texts(args[0])]
        elif name == "core_text" and args:
            self.found += [("core", source, "") for source in texts(args[0])]
        elif name == "UserError":
            self.found += [("core", source, "") for source in error_texts(node)]


def error_texts(node: ast.Call) -> list[str]:
    out = texts(node.args[0]) if node.args else []
    for keyword in node.keywords:
        if keyword.arg in ("message", "hint"):
            out += texts(keyword.value)
    return out


class CoreReader(ast.NodeVisitor):
    """`found`: templates shown as they are; `notes`: templates that core fills in itself."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.notes: list[str] = []

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        name, args = called(node), node.args
        keywords = {k.arg: k.value for k in node.keywords}
        if name == "UserError" or (name.endswith("Error") and "hint" in keywords):
            self.found += error_texts(node)
        elif name == "Failed":
            self.found += [t for arg in args[2:4] for t in texts(arg)]
        elif name == "knob":
            for arg in ("title", "help", "unit"):
                self.found += texts(keywords.get(arg))
            labels = keywords.get("labels")
            if isinstance(labels, ast.Dict):
                self.found += [t for value in labels.values for t in texts(value)]
        elif name == "method" and "title" in keywords:
            self.found += texts(keywords["title"]) + texts(keywords.get("summary"))
        elif name in ("stage", "progress") and args:
            self.found += texts(args[0])
        elif name == "track" and len(args) >= 2:
            self.found += texts(args[1])
        elif name == "append" and isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in NOTE_LISTS and args:
            self.notes += notes_in(args[0])
        elif name in ("difference", "add") and isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "checks":
            self.notes += notes_in(args[0]) + (notes_in(args[4]) if len(args) > 4 else [])
        elif name == "DeviceInfo":
            self.found += texts(keywords.get("title"))

    def visit_Dict(self, node: ast.Dict) -> None:
        self.generic_visit(node)
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in NOTE_LISTS:
                for part in ast.walk(value):
                    if isinstance(part, (ast.List, ast.Tuple)):
                        self.notes += notes_in(part)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        names = {t.id for t in node.targets if isinstance(t, ast.Name)}
        names |= {t.slice.value for t in node.targets if isinstance(t, ast.Subscript) and isinstance(t.slice, ast.Constant)}
        if names & {*NOTE_LISTS, "note", "kept", "RUNS", "INTEGERS", "COPIES"}:
            self.notes += notes_in(node.value)
        elif names & {"message", "hint", "text"}:  # a sentence chosen first and raised afterwards
            self.found += [t for t in texts(node.value) if " " in t]
        elif names & {"_TASKS"} and isinstance(node.value, ast.Dict):
            self.found += [t for value in node.value.values for t in texts(value)]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.generic_visit(node)
        if node.name in ("draft_problem", "draft_note", "why_not"):  # functions that answer with a sentence, or with nothing
            for part in ast.walk(node):
                if isinstance(part, ast.Return):
                    self.notes += notes_in(part.value)
        elif node.name == "sentence" or (node.returns is not None and "list[str]" in ast.unparse(node.returns)):
            self.notes += sentences_in(node)  # functions that make notes for others to keep

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name) and node.target.id in NOTE_LISTS:
            self.notes += notes_in(node.value)


def sentences_in(function: ast.FunctionDef) -> list[str]:
    """Whole sentences that a function answers with, or puts into its list `out`; texts that it gave names to are filled in."""
    known = {
        part.targets[0].id: part.value
        for part in ast.walk(function)
        if isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name)
    }
    answers: list[ast.expr | None] = []
    for part in ast.walk(function):
        if isinstance(part, ast.Return):
            answers.append(part.value)
        elif isinstance(part, ast.Call) and called(part) == "append" and getattr(getattr(part.func, "value", None), "id", "") == "out":
            answers += part.args[:1]
    if "out" in known:
        answers.append(known["out"])
    out = []
    for text in (t for answer in answers for t in notes_in(_inlined(answer, known))):
        if " " in text and text.endswith("."):
            out.append(text)
        elif out and text not in out:
            out.append(text)  # words that are filled into the sentence before
    return out


def _inlined(node: ast.expr | None, known: dict[str, ast.expr]) -> ast.expr | None:
    """The expression with named texts in the place of their names."""

    class Inline(ast.NodeTransformer):
        def visit_JoinedStr(self, joined: ast.JoinedStr) -> ast.JoinedStr:
            values: list[ast.expr] = []
            for part in joined.values:
                value = known.get(part.value.id) if isinstance(part, ast.FormattedValue) and isinstance(part.value, ast.Name) else None
                if isinstance(value, ast.JoinedStr):
                    values += value.values
                elif isinstance(value, ast.IfExp):
                    values.append(ast.FormattedValue(value, -1, None))
                else:
                    values.append(part)
            return ast.JoinedStr(values)

    return None if node is None else Inline().visit(copy.deepcopy(node))


def sources(top: Path = TOP) -> tuple[list[Key], list[str]]:
    """(every string to translate, the templates that core fills in itself), each once, in the order of files and lines."""
    keys: dict[Key, None] = {}
    notes: dict[str, None] = {}
    for path in _files(top / "app"):
        reader = AppReader(path.relative_to(top))
        reader.visit(ast.parse(path.read_text(encoding="utf-8")))
        keys |= dict.fromkeys(reader.found)
    for path in _files(top / "core"):
        if "cli" in path.relative_to(top).parts:
            continue  # the command line speaks English
        core = CoreReader()
        core.visit(ast.parse(path.read_text(encoding="utf-8")))
        keys |= dict.fromkeys(("core", text, "") for text in core.found)
        notes |= dict.fromkeys(core.notes)
    keys |= dict.fromkeys(("core", text, "") for text in (*notes, *WORDS))
    return [k for k in keys if any(c.isalpha() for c in k[1])], [n for n in notes if "{" in n]


def _files(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*.py")) if "__pycache__" not in p.parts)


def placeholders(template: str) -> set[str]:
    """Names of the {placeholders}; ValueError where the braces don't match."""
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


# ---- .ts and .qm --------------------------------------------------------------------------------------------------------


def ts_path(language: str) -> Path:
    return HERE / f"spokeshave_{language}.ts"


def read_ts(path: Path) -> dict[Key, str]:
    """The finished translations of a .ts file."""
    if not path.exists():
        return {}
    out = {}
    for context in ET.parse(path).getroot().iter("context"):
        name = context.findtext("name") or ""
        for message in context.iter("message"):
            translation = message.find("translation")
            if translation is not None and translation.text and translation.get("type") is None:
                out[(name, message.findtext("source") or "", message.findtext("comment") or "")] = translation.text
    return out


def write_ts(path: Path, language: str, keys: list[Key], known: dict[Key, str]) -> list[Key]:
    """Writes the file; returns what has no translation."""
    by_source = {source: text for (_, source, _), text in known.items()}  # a string that moved to another class keeps its translation
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    missing = []
    for context in sorted({k[0] for k in keys}):
        element = ET.SubElement(root, "context")
        ET.SubElement(element, "name").text = context
        for key in [k for k in keys if k[0] == context]:
            message = ET.SubElement(element, "message")
            ET.SubElement(message, "source").text = key[1]
            if key[2]:
                ET.SubElement(message, "comment").text = key[2]
            text = known.get(key) or by_source.get(key[1])
            translation = ET.SubElement(message, "translation")
            if text:
                translation.text = text
            else:
                translation.set("type", "unfinished")
                missing.append(key)
    ET.indent(root, "    ")
    body = ET.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n', encoding="utf-8")
    return missing


def release(path: Path) -> bool:
    """Makes the .qm beside a .ts; False where lrelease isn't at hand. It's put in place whole: running windows read it as it lies there."""
    tool = (
        shutil.which("pyside6-lrelease", path=str(Path(sys.executable).parent))
        or shutil.which("pyside6-lrelease")
        or shutil.which("lrelease")
    )
    if tool is None:
        return False
    part = path.with_suffix(".part")
    subprocess.run([tool, "-silent", str(path), "-qm", str(part)], check=True)
    part.replace(path.with_suffix(".qm"))
    return True


def main() -> int:
    keys, notes = sources()
    (HERE / "notes.json").write_text(json.dumps(notes, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    left = 0
    for language in LANGUAGES:
        path = ts_path(language)
        missing = write_ts(path, language, keys, read_ts(path))
        left += len(missing)
        print(f"{path.name}: {len(keys)} strings, {len(missing)} without a translation")
        for context, source, _ in missing:
            print(f"  {context}: {source}")
        if not release(path):
            print("  lrelease isn't at hand: the .qm wasn't made")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
