"""Knobs: described once, checked everywhere."""

from typing import Literal

import pytest

from core.errors import UserError
from core.params import Params, check, knob, knobs, model_from_knobs, nearest, parse_settings


class Example(Params):
    bits: Literal[8, 4] = knob(8, title="Bits", help="Width.", labels={8: "8 bits"})
    sparsity: float = knob(0.5, title="Sparsity", help="Share.", ge=0, lt=1, unit="share")
    steps: int = knob(100, title="Steps", help="How many.", ge=1, le=1000)
    symmetric: bool = knob(True, title="Symmetric", help="No offset.", advanced=True)
    teacher: str | None = knob(None, title="Teacher", help="Whose words.", labels={None: "Nobody"}, kind="variant", when={"bits": 4})


def test_every_field_becomes_a_knob_in_order():
    found = knobs(Example)
    assert [k.name for k in found] == ["bits", "sparsity", "steps", "symmetric", "teacher"]
    assert [k.kind for k in found] == ["choice", "float", "int", "bool", "variant"]
    bits, sparsity, steps, symmetric, teacher = found
    assert bits.choices == ((8, "8 bits"), (4, "4"))
    assert (sparsity.low, sparsity.high, sparsity.low_open, sparsity.high_open) == (0, 1, False, True)
    assert (steps.low, steps.high) == (1, 1000)
    assert symmetric.advanced
    assert teacher.optional
    assert (teacher.empty, teacher.choices, steps.empty) == ("Nobody", (), "")
    assert teacher.active({"bits": 4})
    assert not teacher.active({"bits": 8})


def test_described_knobs_validate_as_the_class_does():
    """The window only has the description; it must allow and refuse just what the method does."""
    twin = model_from_knobs("Twin", knobs(Example))
    for values in ({}, {"bits": 4, "sparsity": 0.0}, {"steps": 1000, "teacher": "x"}):
        assert twin(**values).model_dump() == Example(**values).model_dump()
    for values in ({"bits": 5}, {"sparsity": 1.0}, {"sparsity": -0.1}, {"steps": 0}, {"steps": 2.5}, {"other": 1}):
        for model in (twin, Example):
            with pytest.raises(UserError):
                check(model, values)


def test_an_unknown_knob_names_the_nearest():
    with pytest.raises(UserError, match="Did you mean sparsity") as caught:
        check(Example, {"sparsty": 0.5}, of="magnitude")
    assert caught.value.kind == "usage"
    assert "magnitude" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=8", 8),
        ("a=0.5", 0.5),
        ("a=true", True),
        ("a=null", None),
        ("a=2:4", "2:4"),
        ("a=1e-3", 1e-3),
        ("a=-2", -2),
        ("a=x=y", "x=y"),
        ("a=", ""),
    ],
)
def test_settings_are_read_as_yaml(text, value):
    """YAML 1.1 would read the pattern 2:4 as a number in base 60, 124, and 1e-3 as text."""
    assert parse_settings([text]) == {"a": value}


@pytest.mark.parametrize("text", ["bits", "=4", " =4"])
def test_what_is_no_setting_is_refused(text):
    with pytest.raises(UserError, match="knob=value"):
        parse_settings([text])


def test_nearest_is_silent_when_nothing_is_near():
    assert nearest("zzzz", ["magnitude"]) == ""
