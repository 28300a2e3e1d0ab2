"""What the structured methods expect a file to take, against what it then takes."""

import pytest

from core import methods
from core.models import load, save, size
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import apply

SMALL = {"windows": 2, "context": 24}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    more = dict(hidden=64, intermediate_size=256, num_attention_heads=8, num_key_value_heads=4, head_dim=8)
    return make_pico(tmp_path_factory.mktemp("pico") / "m", layers=4, dtype="bfloat16", **more)


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("heads", {"share": 0.25}, "1 of 4 key-value groups"),
        ("heads", {"share": 0.25, "allocation": "global"}, "0 % smaller"),
        ("channels", {"share": 0.25}, "256 becomes 192"),
        ("layers", {"count": 2}, "2 of 4 layers"),
        ("layers", {"chosen": "1 2 3"}, "3 of 4 layers"),
        ("resize", {"share": 0.3}, "million at most"),
    ],
)
def test_estimates_are_near(folder, tmp_path, name, values, words):
    loaded = load.load(folder)
    found = methods.estimate(name, values | SMALL, loaded.info, size.ledger(folder))
    assert words in found["notes"][0]
    assert found["memory"] > 0
    assert found["seconds"] is None or found["seconds"] >= 0
    save.save(apply(name, loaded, **values, **SMALL).model, tmp_path, folder, run=Run())
    made = size.ledger(tmp_path)
    step = 4 * 64 * 3 * 64 * 2 if name == "resize" else 0  # it's 'at most', and stops at a whole step of width
    assert (
        abs(found["bytes_on_disk"] - made.bytes_on_disk) <= 4000 + step
    )  # the header of the weights is shorter by the names that are gone


def test_how_small_a_vocabulary_gets_is_not_guessed(folder):
    loaded = load.load(folder)
    found = methods.estimate("vocabulary", {}, loaded.info, size.ledger(folder))
    assert found["bytes_on_disk"] is None


@pytest.mark.parametrize("source", ["pico_bert", "pico_gpt2"])
def test_heads_that_are_only_masked_save_nothing(request, source):
    folder = request.getfixturevalue(source)
    loaded = load.load(folder)
    found = methods.estimate("heads", {}, loaded.info, size.ledger(folder))
    assert found["bytes_on_disk"] == size.ledger(folder).bytes_on_disk
