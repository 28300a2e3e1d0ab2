"""Speed: what's timed, and what's said of it. No test here asserts how fast anything is."""

import statistics

import pytest
import torch

from core.errors import Cancelled, UserError
from core.evaluate.speed import rate, speed
from core.models import load
from core.run import Run
from tests.conftest import make_pico


def test_the_figures_and_their_conditions(pico_llama):
    loaded = load.load(pico_llama)
    found = {m.kind: m for m in speed(loaded.model, torch.arange(50), Run(), prefill_tokens=16, decode_tokens=4, repeats=2)}
    assert set(found) == {"prefill", "decode", "resident", "peak"}
    for kind in ("prefill", "decode"):
        m = found[kind]
        assert (m.unit, m.n) == ("tokens/s", 5)  # at least five repeats
        assert m.low <= m.value <= m.high
        assert (
            m.conditions | {"device": "cpu", "dtype": "float32", "threads": torch.get_num_threads(), "prefill_tokens": 16} == m.conditions
        )
    assert found["decode"].conditions["decode_tokens"] == 4
    assert found["peak"].value >= found["resident"].value > 10_000_000
    assert found["resident"].conditions["of"] == "process"


def test_resident_before_loading_is_taken_off(pico_llama):
    loaded = load.load(pico_llama)
    plain = {m.kind: m for m in speed(loaded.model, prefill_tokens=8, decode_tokens=2)}
    less = {m.kind: m for m in speed(loaded.model, prefill_tokens=8, decode_tokens=2, resident_before=10_000_000)}
    assert less["resident"].value < plain["resident"].value
    assert less["resident"].conditions["since"] == "before loading"


def test_decoding_is_greedy_and_uses_the_cache(pico_llama, monkeypatch):
    loaded = load.load(pico_llama)
    fed, forward = [], loaded.model.forward

    def watched(*args, input_ids=None, **more):
        fed.append(input_ids.clone())
        return forward(*args, input_ids=input_ids, **more)

    watched.__signature__ = __import__("inspect").signature(forward)
    monkeypatch.setattr(loaded.model, "forward", watched)
    speed(loaded.model, torch.arange(5), prefill_tokens=12, decode_tokens=6)
    assert fed[0].tolist() == [[0, 1, 2, 3, 4] * 2 + [0, 1]]
    assert [tuple(x.shape) for x in fed[:7]] == [(1, 12)] + [(1, 1)] * 6
    monkeypatch.undo()
    wanted = loaded.model.generate(fed[0], max_new_tokens=6, do_sample=False, eos_token_id=-1, pad_token_id=0)[0, 12:]
    assert torch.cat(fed[1:7]).flatten().tolist() == wanted.tolist()


def test_an_encoder_has_no_decode(tmp_path):
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)).eval()
    found = {m.kind for m in speed(model, prefill_tokens=8)}
    assert found == {"prefill", "resident", "peak"}


def test_a_median_and_its_spread():
    m = rate("decode", 10, [1.0, 2.0, 1.25, 0.5, 1.0], {})
    assert m.value == 10.0
    assert (m.low, m.high) == (5.0, 20.0)
    assert m.stderr == pytest.approx(1.2533 * statistics.stdev([10, 5, 8, 20, 10]) / 5**0.5)


def test_more_tokens_than_the_model_holds_are_refused(tmp_path):
    loaded = load.load(make_pico(tmp_path / "short", layers=1, max_position_embeddings=32))
    with pytest.raises(UserError, match="holds 32 tokens"):
        speed(loaded.model, prefill_tokens=20, decode_tokens=20)
    with pytest.raises(UserError, match="at least one token"):
        speed(loaded.model, prefill_tokens=0)


def test_a_cancelled_run_stops(pico_llama):
    run = Run()
    run.control("cancel")
    with pytest.raises(Cancelled):
        speed(load.load(pico_llama).model, run=run)
