"""Unstructured pruning on SmolLM2-135M against the reference figures, on text that wasn't calibrated on.

Reference, throw-away code, times the base perplexity: Wanda 50 % 1.9, SparseGPT 50 % 1.7, 2:4 6.1 and 3.0, magnitude 17. Few windows
and tokens here, so that it takes minutes; the whole table is bench_pruning.py's.
"""

import pytest

import resources
from core.data.text import read_text, token_ids
from core.evaluate.perplexity import score
from core.export import sparse
from core.models import bring, load, save, size
from core.run import Run
from tests.core.methods.conftest import apply, give

pytestmark = [pytest.mark.shelf, pytest.mark.timeout(3600)]
CALIBRATED = {"windows": 8, "context": 512}


@pytest.fixture(scope="module")
def smollm2(shelf, tmp_path_factory):
    folder = tmp_path_factory.mktemp("smollm2") / "original"
    folder.mkdir()
    bring.bring(shelf / "smollm2-135m.gguf", folder, Run())
    return folder


@pytest.fixture(scope="module")
def measured(smollm2, tmp_path_factory):
    original = load.load(smollm2)
    ids = token_ids(read_text(resources.HELDOUT_TEXT), original.tokenizer, 4096)
    base = score(original.model, ids, context=512)[0].value
    lines = [line for line in size.ledger(smollm2).lines if line.component in ("attention", "mlp")]
    linear = sum(line.parameters for line in lines)
    already = sum(line.parameters - line.nonzero for line in lines)

    def make(name, **values):
        """(perplexity over the original's, the folder) of what was saved; its zeros are half of the linear layers' weights."""
        loaded = load.load(smollm2)
        outcome = apply(name, loaded, given=give(loaded, text=read_text(resources.TRAIN_TEXT)), **values)
        made = tmp_path_factory.mktemp("made")
        save.save(outcome.model, made, smollm2, run=Run())
        ledger = size.ledger(made)
        zeros = sum(line.parameters - line.nonzero for line in ledger.lines if line.component in ("attention", "mlp"))
        assert zeros == linear // 2 if "pattern" not in values else linear // 2 <= zeros <= linear // 2 + already  # three of four were zero
        assert ledger.bytes_on_disk == size.ledger(smollm2).bytes_on_disk
        return score(load.load(made).model, ids, context=512)[0].value / base, made

    return make


def test_half_of_the_weights_from_magnitude_to_sparsegpt(measured, tmp_path):
    magnitude, _ = measured("magnitude")
    wanda, _ = measured("wanda", **CALIBRATED)
    sparsegpt, folder = measured("sparsegpt", **CALIBRATED)
    assert sparsegpt < wanda < magnitude
    assert wanda <= 2.0
    assert sparsegpt <= 1.75
    report = sparse.pack(folder, tmp_path / "packed", Run())
    assert report["bytes"] < 0.75 * report["dense_bytes"]  # half of the linear layers' 212 MB goes, a bit a weight comes


def test_2_of_every_4_cost_more_than_half_of_all_and_keep_the_order(measured):
    wanda, _ = measured("wanda", **CALIBRATED, pattern="2:4")
    sparsegpt, _ = measured("sparsegpt", **CALIBRATED, pattern="2:4")
    assert sparsegpt < wanda
    assert sparsegpt <= 2.2
