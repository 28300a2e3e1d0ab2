"""Params: a method's knobs. One pydantic field is one knob: default, bounds, unit, help.

Everything that a person can set is described once, here in the field, and becomes the wizard's form, the
command line's `--set`, the recipe's check and the reference page. Covers description and validation;
nothing here knows a widget or a tensor.
"""

from __future__ import annotations

import difflib
import re
import types
import typing
from typing import Any, Literal, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import PydanticUndefined

from core.errors import UserError

KnobKind = Literal["int", "float", "bool", "choice", "text", "variant", "file"]


class Params(BaseModel):
    """Base of every method's parameters: immutable, and an unknown name is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class Knob(BaseModel):
    """One knob as plain data: what a form, a table or a help page needs to show it."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: KnobKind
    title: str
    help: str
    unit: str = ""
    default: Any = None
    optional: bool = False
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False
    step: float | None = None
    choices: tuple[tuple[Any, str], ...] = ()
    empty: str = ""  # what it means that no variant is named
    advanced: bool = False
    when: dict[str, tuple[Any, ...]] = {}
    unless: dict[str, tuple[Any, ...]] = {}

    def active(self, values: dict[str, Any]) -> bool:
        """Whether the knob means anything, given the other values: all of `when` holds, and not all of `unless`."""
        ruled_out = bool(self.unless) and all(values.get(name) in those for name, those in self.unless.items())
        return not ruled_out and all(values.get(name) in allowed for name, allowed in self.when.items())


def knob(
    default: Any = ...,
    *,
    title: str,
    help: str,
    unit: str = "",
    ge: float | None = None,
    le: float | None = None,
    gt: float | None = None,
    lt: float | None = None,
    step: float | None = None,
    labels: dict[Any, str] | None = None,
    advanced: bool = False,
    when: dict[str, Any] | None = None,
    unless: dict[str, Any] | None = None,
    kind: KnobKind | None = None,
) -> Any:
    """A pydantic field that describes itself.

    labels: what to show for each choice of a Literal, and for None where a variant may be named; when: {other knob: value or tuple
    of values} for which this one applies; unless: the same for which, all together, it doesn't; kind: 'variant' (a str naming a
    variant) or 'file' (a str naming a file) where the type doesn't say.
    """
    extra = {
        "unit": unit,
        "step": step,
        "labels": list((labels or {}).items()),
        "advanced": advanced,
        "when": {k: v if isinstance(v, (tuple, list)) else (v,) for k, v in (when or {}).items()},
        "unless": {k: v if isinstance(v, (tuple, list)) else (v,) for k, v in (unless or {}).items()},
        "knob": kind,
    }
    return Field(default, title=title, description=help, ge=ge, le=le, gt=gt, lt=lt, json_schema_extra=extra)


def _plain_type(annotation: Any) -> tuple[Any, bool]:
    """(type without None, whether None was allowed)."""
    if get_origin(annotation) in (typing.Union, types.UnionType):
        rest = [a for a in get_args(annotation) if a is not type(None)]
        if len(rest) == 1 and len(rest) < len(get_args(annotation)):
            return rest[0], True
    return annotation, False


def knobs(params: type[Params]) -> tuple[Knob, ...]:
    """The knobs of a Params class, in the order in which they're written."""
    out = []
    for name, field in params.model_fields.items():
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        kind_of, optional = _plain_type(field.annotation)
        labels = {_key(k): v for k, v in extra.get("labels", [])}
        choices: tuple[tuple[Any, str], ...] = ()
        if get_origin(kind_of) is Literal:
            kind = "choice"
            choices = tuple((value, labels.get(_key(value), str(value))) for value in get_args(kind_of))
        else:
            kind = {bool: "bool", int: "int", float: "float", str: "text"}.get(kind_of)
        kind = extra.get("knob") or kind
        if kind is None:
            raise TypeError(f"{params.__name__}.{name}: no form is known for {field.annotation}")
        bounds = {
            type(m).__name__: getattr(m, type(m).__name__.lower()) for m in field.metadata if type(m).__name__ in ("Ge", "Gt", "Le", "Lt")
        }
        out.append(
            Knob(
                name=name,
                kind=kind,
                title=field.title or name,
                help=field.description or "",
                unit=extra.get("unit", ""),
                default=None if field.default is PydanticUndefined else field.default,
                optional=optional,
                low=bounds.get("Ge", bounds.get("Gt")),
                high=bounds.get("Le", bounds.get("Lt")),
                low_open="Gt" in bounds,
                high_open="Lt" in bounds,
                step=extra.get("step"),
                choices=choices,
                empty=labels.get(_key(None), ""),
                advanced=bool(extra.get("advanced", False)),
                when={k: tuple(v) for k, v in extra.get("when", {}).items()},
                unless={k: tuple(v) for k, v in extra.get("unless", {}).items()},
            )
        )
    return tuple(out)


def _key(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value  # so that 1 and True are told apart


def model_from_knobs(name: str, described: tuple[Knob, ...]) -> type[Params]:
    """The pydantic model that described knobs stand for, where the Params class itself can't be imported (the window)."""
    fields: dict[str, Any] = {}
    plain = {"int": int, "float": float, "bool": bool, "text": str, "variant": str, "file": str}
    for k in described:
        kind = Literal[tuple(value for value, _ in k.choices)] if k.kind == "choice" else plain[k.kind]  # type: ignore[valid-type]
        bounds = {}
        if k.low is not None:
            bounds["gt" if k.low_open else "ge"] = k.low
        if k.high is not None:
            bounds["lt" if k.high_open else "le"] = k.high
        fields[k.name] = (kind | None if k.optional else kind, Field(k.default, title=k.title, **bounds))
    return create_model(name, __base__=Params, **fields)


def nearest(name: str, known: typing.Iterable[str]) -> str:
    """' Did you mean …?' or nothing."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean {found[0]}?" if found else ""


def check(params: type[Params], values: dict[str, Any], *, of: str = "") -> Params:
    """Validated parameters; raises UserError naming the knob, why, and the nearest known name for an unknown one."""
    try:
        return params(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "settings"
        if first["type"] == "extra_forbidden":
            raise UserError(
                "{method} has no setting called {knob}.{suggestion}",
                hint="Its settings are: {known}.",
                kind="usage",
                method=of or params.__name__,
                knob=name,
                suggestion=nearest(name, params.model_fields),
                known=", ".join(params.model_fields) or "none",
            ) from None
        raise UserError(
            "{method}: {knob} = {value} isn't possible: {reason}.",
            hint="Change {knob}.",
            kind="usage",
            method=of or params.__name__,
            knob=name,
            value=repr(first.get("input")),
            reason=first["msg"].removeprefix("Value error, ").rstrip("."),
        ) from None


class _Loader(yaml.SafeLoader):
    """YAML without numbers in base 60, so that the pattern 2:4 is the text that it looks like."""

    yaml_implicit_resolvers = {
        first: [(tag, regexp) for tag, regexp in resolvers if tag not in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(0|[1-9][0-9]*)$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$"),
    list("-+0123456789."),
)


def load_yaml(text: str) -> Any:
    """Plain YAML data. Raises yaml.YAMLError."""
    return yaml.load(text, Loader=_Loader)


def parse_settings(pairs: typing.Iterable[str]) -> dict[str, Any]:
    """`knob=value` strings to values; the value is read as YAML, so 8, 0.5, true, null and text all work."""
    out: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise UserError("{pair} isn't a setting.", hint="Write knob=value, for example --set bits=4.", kind="usage", pair=repr(pair))
        try:
            out[name.strip()] = load_yaml(value) if value.strip() else ""
        except yaml.YAMLError:
            out[name.strip()] = value
    return out
