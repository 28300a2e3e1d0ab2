"""Weight-only quantization on SmolLM2-135M against the reference figures, on text that wasn't calibrated on.

Reference, throw-away code: int4 g64 with an offset, RTN 1.25 times the base perplexity and KL .28, GPTQ 1.12 and .126; 3 bits, GPTQ
1.68. Few windows here, so that it takes minutes; the whole table is bench_quantization.py's.
"""

import pytest

import resources
from core.data.text import read_text, token_ids
from core.evaluate.perplexity import score
from core.models import bring, load, save, size
from core.run import Run
from tests.core.methods.conftest import apply, give

pytestmark = [pytest.mark.shelf, pytest.mark.timeout(3600)]
CALIBRATED = {"windows": 8, "context": 512, "group_size": 64}


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

    def make(name, **values):
        """(perplexity over the original's, KL, bytes) of what was saved."""
        loaded = load.load(smollm2)
        outcome = apply(name, loaded, given=give(loaded, text=read_text(resources.TRAIN_TEXT)), **values)
        made = tmp_path_factory.mktemp("made")
        save.save(outcome.model, made, smollm2, run=Run())
        found = {m.kind: m.value for m in score(load.load(made).model, ids, context=512, reference=original.model)}
        return found["perplexity"] / base, found["kl"], size.ledger(made).bytes_on_disk

    return make


def test_4_bits_from_rounding_to_gptq(measured):
    rtn = measured("rtn", bits=4, group_size=64, symmetric=False)
    hqq = measured("hqq", bits=4, group_size=64, symmetric=False)
    awq = measured("awq", bits=4, **CALIBRATED)
    gptq = measured("gptq", bits=4, **CALIBRATED)
    assert rtn[2] == hqq[2]  # the same grid, to the byte
    assert hqq[0] < rtn[0]
    assert gptq[1] < awq[1] < 0.7 * rtn[1]
    assert gptq[0] <= 1.10
    assert gptq[1] <= 0.11


def test_3_bits_by_gptq(measured):
    assert measured("gptq", bits=3, **CALIBRATED)[0] <= 1.5


def test_the_embedding_in_8_bits_costs_nearly_nothing_and_saves_28_mb(measured):
    kept, eight = measured("rtn", bits=8), measured("rtn", bits=8, embeddings=8)
    assert eight[0] == pytest.approx(1, abs=0.003)
    assert eight[1] < kept[1] + 0.003
    assert kept[2] - eight[2] == pytest.approx(28.0e6, rel=0.02)
