"""The Simplified Chinese translation is complete: a new string fails here until it has one.

After adding a string: `python resources/translations/update.py`, translate what it lists in spokeshave_zh_CN.ts, run it again.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from app import notes
from resources.translations import update

ZH = update.ts_path("zh_CN")


@pytest.fixture(scope="module")
def source():
    return update.sources()


@pytest.fixture(scope="module")
def known():
    return update.read_ts(ZH)


@pytest.fixture
def chinese(qapp):
    translator = QTranslator()
    assert translator.load(str(ZH.with_suffix(".qm")))
    qapp.installTranslator(translator)
    yield translator
    qapp.removeTranslator(translator)


def test_every_string_is_translated(source, known):
    missing = [key for key in source[0] if not known.get(key)]
    assert not missing, f"{len(missing)} strings without a translation, such as {missing[:5]}; run {update.__file__}"


def test_a_word_of_two_meanings_has_two_translations(chinese):
    recorded, counted = (chinese.translate(context, "Runs") for context in ("DecodeView", "ExactnessDialog"))
    assert recorded
    assert counted
    assert recorded != counted  # a list of recordings, and how often to draw


def test_nothing_translated_is_gone_from_the_source(source, known):
    gone = sorted(set(known) - set(source[0]))
    assert not gone, f"{len(gone)} translations of strings that are no more, such as {gone[:5]}; run {update.__file__}"


def test_placeholders_are_the_same_on_both_sides(known):
    wrong = []
    for (context, text, _), translation in known.items():
        try:
            if update.placeholders(text) != update.placeholders(translation):
                wrong.append((context, text, translation))
        except ValueError:
            if "{" in translation or "}" in translation:
                continue  # not a template: braces that mean themselves
            wrong.append((context, text, translation))
    assert not wrong


def test_whole_sentences_end_as_sentences(known):
    """A sentence with a full stop becomes one with an ideographic full stop; anything else would look unfinished."""
    wrong = [
        (s, t)
        for (_, s, _), t in known.items()
        if re.search(r"[a-z}%]\.$", s.rstrip()) and " " in s and not t.rstrip().endswith(("。", "）", ".", "…", "」"))
    ]
    assert not wrong


def test_chinese_is_chinese(known):
    """What stays in Latin letters is a name or a term; a sentence never is."""
    ideograph = re.compile(r"[\u4e00-\u9fff]")
    latin = [
        (s, t)
        for (_, s, _), t in known.items()
        if not ideograph.search(t) and len(re.findall(r"[A-Za-z]{3,}", re.sub(r"\{.*?\}", "", s))) > 2
    ]
    assert not latin


def test_the_qm_holds_what_the_ts_says(known, chinese):
    stale = [key for key, text in known.items() if chinese.translate(key[0], key[1], key[2] or None) != text]
    assert not stale, f"the .qm is older than the .ts ({stale[:3]}); run {update.__file__}"


def test_a_sample_through_the_window(chinese):
    assert QCoreApplication.translate("Wizard", "Next") == "下一步"
    assert QCoreApplication.translate("core", "The disk is full, so nothing was saved.").endswith("。")


def test_notes_are_recognised_and_made_anew(chinese):
    english = "0 % smaller on disk, 50 % zeros"
    assert notes.note_text(english) != english
    assert "50" in notes.note_text(english)
    assert notes.note_text("Something that nobody foresaw {x}.") == "Something that nobody foresaw {x}."


def test_the_templates_of_notes_are_up_to_date(source):
    assert json.loads(notes.TEMPLATES.read_text(encoding="utf-8")) == source[1]


def test_notes_without_a_translation_stay_as_they_are(qapp):
    for note in ("0 % smaller on disk, 50 % zeros", "Plain.", "Braces { that mean nothing"):
        assert notes.note_text(note) == note


# ---- the reader itself


def read(text: str) -> list[update.Key]:
    reader = update.AppReader(Path("x.py"))
    reader.visit(ast.parse(text))
    return reader.found


def test_what_the_reader_finds_in_the_window():
    found = read(
        "class A:\n"
        "    def f(self):\n"
        "        self.tr('one')\n"
        "        self.tr('two' if x else 'three')\n"
        "        translate('Ctx', 'four')\n"
        "        core_text('five')\n"
        "say('six', a=1)\n"
        "class B:\n"
        "    def g(self):\n"
        "        tr = self.tr\n"
        "        tr('seven')\n"
        "        other.tr('eight')\n"
    )
    assert found[6:] == [("B", "seven", ""), ("A", "eight", ""), ("B", "eight", "")]
    found = found[:6]
    assert found == [
        ("A", "one", ""),
        ("A", "two", ""),
        ("A", "three", ""),
        ("Ctx", "four", ""),
        ("core", "five", ""),
        ("wizards", "six", ""),
    ]


def test_a_string_that_cannot_be_read_is_a_mistake():
    with pytest.raises(update.Unreadable, match="plain string"):
        read("class A:\n    def f(self):\n        self.tr(f'x {y}')\n")
    with pytest.raises(update.Unreadable, match="no context"):
        read("tr('x')\n")


def test_what_the_reader_finds_in_core():
    reader = update.CoreReader()
    reader.visit(
        ast.parse(
            "raise UserError('Bad {x}.', hint='Do.' if a else 'Do not.', kind='model')\n"
            "k = knob(1, title='T', help='H', unit='u', labels={'a': 'L'})\n"
            "@method('m', title='M', summary='S')\n"
            "def m():\n"
            "    run.stage('Loading')\n"
            "    for _ in run.track(x, 'Working'): pass\n"
            "    notes.append(f'{a.b} of {len(c)} and {d}')\n"
            "    warnings.append('Plain.')\n"
        )
    )
    assert set(reader.found) == {"Bad {x}.", "Do.", "Do not.", "T", "H", "u", "L", "M", "S", "Loading", "Working"}
    assert reader.notes == ["{b} of {n} and {d}", "Plain."]


def test_the_reader_misses_nothing_that_lupdate_finds(source, tmp_path):
    """Qt's own tool reads tr() and translate() too, in its own way: what it finds must be here."""
    tool = shutil.which("pyside6-lupdate", path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip("pyside6-lupdate isn't at hand")
    files = [str(p) for p in (update.TOP / "app").rglob("*.py")]
    out = tmp_path / "theirs.ts"
    subprocess.run([tool, *files, "-ts", str(out)], check=True, capture_output=True)
    theirs = {k for k in _all_keys(out) if any(c.isalpha() for c in k[1])}
    mine = {(context, text) for context, text, _ in source[0]}
    classes = {context for context, _ in mine}  # where tr() is asked of another object, it takes that object's name for the context
    read_as_text = {text for _, text, _ in theirs if text not in classes}  # tr(context, text) it takes for tr(text, comment)
    assert read_as_text <= {text for _, text in mine}
    assert {(context, text) for context, text, _ in theirs if context in classes and text not in classes} <= mine


def _all_keys(path: Path) -> list[update.Key]:
    import xml.etree.ElementTree as ET

    return [
        (context.findtext("name") or "", message.findtext("source") or "", message.findtext("comment") or "")
        for context in ET.parse(path).getroot().iter("context")
        for message in context.iter("message")
    ]
