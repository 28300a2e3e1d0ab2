"""Text: numbers, sizes and times as a person reads them, and the translation of what core says.

Core's sentences are templates (`core.errors`); they're translated here in the context 'core' and then filled in.
An unknown value is shown as UNKNOWN(), never as zero.
"""

from __future__ import annotations

import math
import string
from typing import Any

from PySide6.QtCore import QCoreApplication

from core.errors import UserError
from core.events import Failed

MINUS, TIMES, DASH = "\u2212", "\u00d7", "\u2013"
_translate = QCoreApplication.translate


def core_text(template: str, **values: Any) -> str:
    """A template of core's, translated, then filled with values. A value that's missing is shown by its name."""
    return string.Formatter().vformat(_translate("core", template), (), _Named(values))


class _Named(dict):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def failure_text(failed: Failed | UserError) -> tuple[str, str]:
    """(sentence, hint) of a failure, translated."""
    message = failed.template if isinstance(failed, UserError) else failed.message
    hint = failed.hint_template if isinstance(failed, UserError) else failed.hint
    return core_text(message, **failed.values), core_text(hint, **failed.values) if hint else ""


def unknown() -> str:
    return _translate("text", "not measured")


def export_words() -> dict[str, str]:
    """What core.exports.title says of an export, translated."""
    return {
        "fast": _translate("text", "fast"),
        "portable": _translate("text", "portable"),
        "rounded": _translate("text", "rounded products"),
    }


def fmt_bytes(n: float | None, *, unit: bool = True) -> str:
    """Decimal units, three figures: '33.2 MB'. None: 'not measured'."""
    if n is None:
        return unknown()
    value, name = float(n), "B"
    for name in ("B", "kB", "MB", "GB", "TB"):
        if abs(value) < 999.5 or name == "TB":
            break
        value /= 1000
    text = f"{value:.0f}" if name == "B" or abs(value) >= 99.95 else f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
    return f"{text} {name}" if unit else text


def fmt_mb(n: float | None) -> str:
    """Megabytes without the unit, for a column headed MB."""
    if n is None:
        return DASH
    mb = n / 1e6
    return f"{mb:.0f}" if mb >= 999.5 else f"{mb:.1f}" if mb >= 0.995 else f"{mb:.2f}"


def fmt_count(n: float | None) -> str:
    """'31.6 M', '4 096', '1.24 B'."""
    if n is None:
        return unknown()
    for size, name in ((1e9, "B"), (1e6, "M")):
        if abs(n) >= size * 0.9995:
            value = n / size
            return f"{value:.0f} {name}" if value >= 99.95 else f"{value:.1f} {name}" if value >= 9.995 else f"{value:.2f} {name}"
    return f"{round(n):,}".replace(",", "\u202f")


def fmt_seconds(s: float | None) -> str:
    """'0.8 s', '12 s', '1 min 52 s', '2 h 5 min'."""
    if s is None:
        return unknown()
    if s < 9.95:
        return _translate("text", "{n} s").format(n=f"{max(s, 0):.1f}")
    s = round(s)
    if s < 60:
        return _translate("text", "{n} s").format(n=s)
    if s < 3600:
        template = _translate("text", "{m} min {s} s") if s % 60 else _translate("text", "{m} min")
        return template.format(m=s // 60, s=s % 60)
    return _translate("text", "{h} h {m} min").format(h=s // 3600, m=s % 3600 // 60)


def fmt_left(s: float | None) -> str:
    """Time left, as roughly as it's known: '2 min left', '' where it isn't known."""
    if s is None or not math.isfinite(s):
        return ""
    if s < 60:
        return _translate("text", "{n} s left").format(n=max(1, round(s)))
    if s < 3600:
        return _translate("text", "{m} min left").format(m=round(s / 60))
    return _translate("text", "{h} h {m} min left").format(h=int(s // 3600), m=int(s % 3600 // 60))


def fmt_number(x: float | None, figures: int = 4) -> str:
    """A number to so many significant figures, with a real minus sign; None: 'not measured'."""
    if x is None:
        return unknown()
    if not math.isfinite(x):
        return "\u221e" if x > 0 else MINUS + "\u221e" if x < 0 else "NaN"
    if x == 0:
        return "0"
    size = math.floor(math.log10(abs(x)))
    if size >= 7 or size < -4:
        return f"{x:.{max(figures - 2, 1)}e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-").replace("-", MINUS)
    text = f"{x:.{max(figures - 1 - size, 0)}f}"
    return text.replace("-", MINUS)


def fmt_percent(x: float | None, digits: int = 1) -> str:
    """A share of one as a percentage: 0.784 -> '78.4 %'."""
    return unknown() if x is None else f"{100 * x:.{digits}f} %".replace("-", MINUS)


def fmt_change(ratio: float | None) -> str:
    """A ratio to a reference as a change: 0.2 -> '−80 %', 1.0 -> '±0 %', 3.4 -> '×3.40'."""
    if ratio is None or not math.isfinite(ratio):
        return ""
    if ratio >= 2:
        return f"{TIMES}{ratio:.2f}"
    change = 100 * (ratio - 1)
    if abs(change) < 0.05:
        return "±0 %"
    sign = "+" if change > 0 else MINUS
    return f"{sign}{abs(change):.0f} %" if abs(change) >= 9.5 else f"{sign}{abs(change):.1f} %"


def kind_name(kind: str) -> str:
    """A kind of variant, as a word."""
    return {
        "original": _translate("text", "Original"),
        "pruned": _translate("text", "Pruned"),
        "quantized": _translate("text", "Quantized"),
        "distilled": _translate("text", "Distilled"),
        "combined": _translate("text", "Combined"),
    }[kind]
