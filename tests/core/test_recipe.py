"""Recipes go to YAML and back, and say what's wrong with one that was edited."""

import pytest

from core.errors import UserError
from core.recipe import Recipe, Source, Step, TextRef


def example() -> Recipe:
    steps = (
        Step(method="magnitude", params={"sparsity": 0.5, "pattern": "2:4"}, seed=3),
        Step(method="finetune", params={"steps": 20}, text=TextRef(path="words 文.txt", sha256="ab")),
    )
    return Recipe(source=Source(name="a", origin="org/a", fingerprint="ff"), steps=steps, device="cpu", libraries={"torch": "2"})


def test_round_trip():
    assert Recipe.from_yaml(example().to_yaml()) == example()


def test_a_pattern_written_without_quotes_stays_a_pattern():
    text = "spokeshave: 1\nsteps:\n- method: magnitude\n  params: {pattern: 2:4, sparsity: 0.5, lr: 1e-3}\n"
    assert Recipe.from_yaml(text).steps[0].params == {"pattern": "2:4", "sparsity": 0.5, "lr": 0.001}


def test_extended_keeps_what_came_before():
    longer = example().extended(Step(method="rtn"))
    assert [s.method for s in longer.steps] == ["magnitude", "finetune", "rtn"]
    assert longer.source == example().source


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("- a\n- b", "isn't a recipe"),
        ("spokeshave: 1\na: [\nb: }", "isn't YAML: it breaks at line 3"),
        ("spokeshave: 99", "format 99"),
        ("steps: []", "format None"),
        ("spokeshave: 1\nsteps:\n- params: {}\n", "steps.0.method"),
        ("spokeshave: 1\nstep: []\n", "step"),
    ],
)
def test_what_is_wrong_is_said(text, said):
    with pytest.raises(UserError, match=said):
        Recipe.from_yaml(text)


def test_a_missing_or_binary_file_is_said(tmp_path):
    with pytest.raises(UserError, match="can't be read: No such file"):
        Recipe.read(tmp_path / "none.yaml")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="can't be read as text"):
        Recipe.read(tmp_path / "b.yaml")
