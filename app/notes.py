"""Notes: translating what core has already filled in, a variant's notes, warnings and the names of checks.

Errors travel as templates with their values. Notes are stored as plain sentences, since a person may read them in the
variant's record; so their templates (resources/translations/notes.json, kept by update.py) are recognised here again, and
the sentence is made anew from the translated template. What isn't recognised is shown as it is.
"""

from __future__ import annotations

import functools
import json
import re
import string

from app.text import core_text
from resources import ROOT

TEMPLATES = ROOT / "translations" / "notes.json"


def note_text(note: str) -> str:
    """A note of core's in the language of the window."""
    exact = core_text(note) if "{" not in note else note
    if exact != note:
        return exact
    for pattern, template in _patterns():
        found = pattern.fullmatch(note)
        if found:
            values = {name: note_text(value) for name, value in found.groupdict().items()}
            return core_text(template, **values)
    return note


@functools.cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Templates with placeholders as patterns, those with the most words of their own first."""
    templates = json.loads(TEMPLATES.read_text(encoding="utf-8"))
    return tuple((_pattern(t), t) for t in sorted(templates, key=lambda t: -len(re.sub(r"\{.*?\}", "", t))))


def _pattern(template: str) -> re.Pattern[str]:
    parts = []
    for text, name, _, _ in string.Formatter().parse(template):
        parts.append(re.escape(text))
        if name is not None:
            parts.append(f"(?P<{name}>.*?)")
    return re.compile("".join(parts), re.DOTALL)
