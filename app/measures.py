"""Measures: how each kind of measurement is called and written, and which way is better. One table for all views."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from app import text
from core.records import Measurement

_translate = QCoreApplication.translate


@dataclass(frozen=True)
class Measure:
    """scale: what stored values are multiplied by to be shown; log: whether its axis is logarithmic."""

    kind: str
    title: str
    unit: str = ""
    less: bool = True  # smaller is better
    log: bool = False
    scale: float = 1.0
    digits: int = 4  # significant figures; for percentages, figures after the point

    def show(self, value: float | None, *, unit: bool = True) -> str:
        if value is None:
            return text.unknown()
        if self.unit == "bytes":
            return text.fmt_bytes(value)
        shown = f"{value * self.scale:.1f}" if self.unit == "%" else text.fmt_number(value * self.scale, self.digits)
        return f"{shown} {self.unit}" if unit and self.unit else shown

    def show_change(self, value: float, reference: float) -> str:
        """The change against a reference: points for percentages, a factor for the rest."""
        if self.unit == "%":
            points = (value - reference) * self.scale
            return _translate("measures", "{change} pt").format(change=f"{points:+.1f}".replace("-", text.MINUS))
        return text.fmt_change(value / reference) if reference else ""


def measure(kind: str) -> Measure:
    """The description of a kind; one that isn't known is shown by its own name."""
    tr = _translate
    table: dict[str, Callable[[], Measure]] = {
        "perplexity": lambda: Measure(kind, tr("measures", "Perplexity"), log=True),
        "bits_per_byte": lambda: Measure(kind, tr("measures", "Bits per byte"), log=True),
        "kl": lambda: Measure(kind, tr("measures", "KL divergence"), "nats", log=True, digits=3),
        "agreement": lambda: Measure(kind, tr("measures", "Agreement"), "%", less=False, scale=100),
        "accuracy": lambda: Measure(kind, tr("measures", "Accuracy"), "%", less=False, scale=100),
        "cosine": lambda: Measure(kind, tr("measures", "Cosine"), less=False),
        "frechet": lambda: Measure(kind, tr("measures", "Fréchet distance"), log=True, digits=3),
        "image_accuracy": lambda: Measure(kind, tr("measures", "Accuracy of what's drawn"), "%", less=False, scale=100),
        "draw": lambda: Measure(kind, tr("measures", "Drawing speed"), tr("measures", "images/s"), less=False, digits=3),
        "decode": lambda: Measure(kind, tr("measures", "Decode speed"), "tok/s", less=False, digits=3),
        "prefill": lambda: Measure(kind, tr("measures", "Prefill speed"), "tok/s", less=False, digits=3),
        "resident": lambda: Measure(kind, tr("measures", "Resident memory"), "bytes"),
        "reload": lambda: Measure(kind, tr("measures", "Difference when reloaded"), digits=3),
        "peak": lambda: Measure(kind, tr("measures", "Peak memory"), "bytes"),
        "onnx_max_abs": lambda: Measure(kind, tr("measures", "ONNX logit difference"), digits=3),
        "onnx_top1": lambda: Measure(kind, tr("measures", "ONNX top-1 agreement"), "%", less=False, scale=100),
        "onnx_kl": lambda: Measure(kind, tr("measures", "ONNX KL divergence"), "nats", digits=3),
        "onnx_bytes": lambda: Measure(kind, tr("measures", "ONNX size"), "bytes"),
        "gguf_max_abs": lambda: Measure(kind, tr("measures", "GGUF logit difference"), digits=3),
        "gguf_top1": lambda: Measure(kind, tr("measures", "GGUF top-1 agreement"), "%", less=False, scale=100),
        "gguf_kl": lambda: Measure(kind, tr("measures", "GGUF KL divergence"), "nats", digits=3),
        "gguf_bytes": lambda: Measure(kind, tr("measures", "GGUF size"), "bytes"),
        "sparse_bytes": lambda: Measure(kind, tr("measures", "Packed size"), "bytes"),
    }
    return table[kind]() if kind in table else Measure(kind, kind.replace("_", " ").capitalize())


def pace_name(kind: str) -> str:
    """A kind of speed in a word, for narrow places."""
    tr = _translate
    return {"decode": tr("measures", "Decode"), "draw": tr("measures", "Drawing")}.get(kind, tr("measures", "Prefill"))


def half_width(m: Measurement) -> str:
    """The 95 % interval as '± x' in the measure's unit; '' where it isn't known."""
    if m.interval is None:
        return ""
    spec = measure(m.kind)
    half = (m.interval[1] - m.interval[0]) / 2 * spec.scale
    if spec.unit == "bytes":
        return f"± {text.fmt_bytes(half)}"
    return f"± {half:.1f}" if spec.unit == "%" and half >= 0.05 else f"± {text.fmt_number(half, 2)}"


def conditions_text(m: Measurement) -> str:
    """The conditions that it was measured under, one a line, for a tooltip or a fold-out."""
    lines = [f"{name.replace('_', ' ')}: {_plain(value)}" for name, value in m.conditions.items() if value not in (None, "")]
    if m.n:
        lines.append(f"n: {m.n}")
    lines.append(_translate("measures", "taken {when}").format(when=m.taken.replace("T", " ")[:19]))
    return "\n".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return _translate("measures", "yes") if value else _translate("measures", "no")
    if isinstance(value, float):
        return text.fmt_number(value)
    words = str(value)
    return words if len(words) <= 48 else words[:45] + "…"
