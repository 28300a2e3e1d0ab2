"""Perplexity and divergence against the formula in float64, and their errors."""

import math

import pytest
import torch

from core.errors import Cancelled, UserError
from core.evaluate import perplexity
from core.evaluate.perplexity import batches, bootstrap, byte_count, kl_divergence, score
from core.models import load
from core.run import Run


@pytest.fixture(scope="module")
def pico(pico_llama):
    return load.load(pico_llama)


@pytest.fixture(scope="module")
def other(pico_llama):
    """The same model with its weights disturbed."""
    model = load.load(pico_llama).model
    generator = torch.Generator().manual_seed(1)
    for p in model.parameters():
        p.data += 0.1 * p.std() * torch.randn(p.shape, generator=generator)
    return model


@pytest.fixture(scope="module")
def ids():
    return torch.randint(300, (203,), generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def by_hand(model, ids, context, reference=None):
    """(perplexity, kl, agreement, scored tokens): window by window, token by token, softmax in float64."""
    nll = kl = same = 0.0
    n = 0
    for start in range(0, len(ids), context):
        window = ids[start : start + context]
        if len(window) < 2:
            continue
        q = model(input_ids=window[None]).logits[0].double().softmax(-1)
        p = reference(input_ids=window[None]).logits[0].double().softmax(-1) if reference is not None else q
        for i in range(len(window) - 1):  # position i predicts token i + 1
            nll -= math.log(q[i, window[i + 1]])
            kl += float((p[i] * (p[i] / q[i]).log()).sum())
            same += float(p[i].argmax() == q[i].argmax())
            n += 1
    return math.exp(nll / n), kl / n, same / n, n


@pytest.mark.parametrize("context", [2, 7, 50, 101, 203, 256])
def test_perplexity_is_the_formula(pico, ids, context):
    wanted, _, _, n = by_hand(pico.model, ids, context)
    found = score(pico.model, ids, context=context)[0]
    assert found.kind == "perplexity"
    assert found.value == pytest.approx(wanted, rel=1e-5)
    assert found.n == n


def test_divergence_and_agreement_are_the_formula(pico, other, ids):
    _, kl, same, n = by_hand(other, ids, 64, pico.model)
    found = {m.kind: m for m in score(other, ids, context=64, reference=pico.model)}
    assert found["kl"].value == pytest.approx(kl, rel=1e-4)
    assert found["agreement"].value == same
    assert found["kl"].n == n
    assert 0 < found["kl"].stderr < found["kl"].value


def test_the_divergence_is_of_the_model_from_the_reference():
    p, q = torch.tensor([0.5, 0.4, 0.1]), torch.tensor([0.1, 0.2, 0.7])
    wanted = sum(a * math.log(a / b) for a, b in zip(p.tolist(), q.tolist(), strict=True))
    assert float(kl_divergence(p.log(), q.log())) == pytest.approx(wanted, rel=1e-6)
    assert float(kl_divergence(q.log(), p.log())) != pytest.approx(wanted, rel=0.1)


def test_a_model_does_not_diverge_from_itself(pico, ids):
    found = {m.kind: m for m in score(pico.model, ids, context=64, reference=pico.model)}
    assert found["kl"].value == 0
    assert found["agreement"].value == 1


def test_each_token_weighs_the_same_not_each_window(pico, ids):
    short = ids[:103]  # a window of 100 and one of 3
    found = score(pico.model, short, context=100)[0]
    wanted, _, _, n = by_hand(pico.model, short, 100)
    assert n == 99 + 2
    assert found.value == pytest.approx(wanted, rel=1e-5)


def test_the_last_window_counts_and_a_single_token_left_over_does_not(ids):
    sizes = lambda n, context: [tuple(b.shape) for b in batches(ids[:n], context, 2)]
    assert sizes(10, 4) == [(2, 4), (1, 2)]
    assert sizes(9, 4) == [(2, 4)]
    assert sizes(3, 4) == [(1, 3)]
    assert sizes(8, 4) == [(2, 4)]
    assert torch.equal(torch.cat([b.flatten() for b in batches(ids[:11], 4, 1)]), ids[:11])


def test_the_batch_does_not_change_the_score(pico, ids, monkeypatch):
    whole = score(pico.model, ids, context=20)[0].value
    monkeypatch.setattr(perplexity, "LOGITS", 1)
    assert score(pico.model, ids, context=20)[0].value == pytest.approx(whole, rel=1e-6)


def test_bits_per_byte(pico, ids):
    found = {m.kind: m for m in score(pico.model, ids, context=203, text_bytes=500)}
    bits = math.log2(found["perplexity"].value) * len(ids) / 500
    assert found["bits_per_byte"].value == pytest.approx(bits, rel=1e-9)
    assert found["bits_per_byte"].unit == "bits/byte"
    text = "the old sailor told — a story"
    assert byte_count(pico.tokenizer, torch.tensor(pico.tokenizer(text)["input_ids"])) == len(text.encode())


def test_padded_vocabularies_are_compared_over_the_tokens_that_both_have(pico, pico_llama, ids):
    wider = load.load(pico_llama).model
    wider.resize_token_embeddings(320, mean_resizing=False)
    wider.get_input_embeddings().weight.data[300:] = 0
    found = {m.kind: m for m in score(wider, ids, context=64, reference=pico.model)}
    assert found["kl"].value == pytest.approx(0, abs=1e-9)
    assert found["agreement"].value == 1


def test_the_conditions_say_how_it_was_taken(pico, ids):
    found = score(pico.model, ids, context=50, conditions={"text": "prose", "text_hash": "abc"}, reference=pico.model)
    for m in found:
        assert m.conditions["text"] == "prose"
        assert (
            m.conditions | {"context": 50, "stride": 50, "bos": False, "tokens": 203, "device": "cpu", "dtype": "float32"} == m.conditions
        )
        assert m.conditions["windows"] == 5
        assert m.interval[0] <= m.value <= m.interval[1]


def test_the_error_is_that_of_the_mean_over_independent_windows():
    generator = torch.Generator().manual_seed(3)
    means = torch.randn(400, generator=generator).double() + 3
    found = bootstrap("kl", (10 * means).tolist(), [10] * 400, {})
    assert found.stderr == pytest.approx(float(means.std()) / 400**0.5, rel=0.1)
    assert found.low < 3 < found.high
    assert bootstrap("kl", (10 * means).tolist(), [10] * 400, {}).stderr == found.stderr  # the same each time
    assert bootstrap("kl", [1.0], [10], {}).stderr is None  # one window tells nothing of its spread


def test_too_little_text_and_a_wrong_context_are_said(pico, ids):
    with pytest.raises(UserError, match="at least two"):
        score(pico.model, ids[:1])
    with pytest.raises(UserError, match="holds 256 tokens"):
        score(pico.model, ids, context=257)
    with pytest.raises(UserError, match="nothing to predict"):
        score(pico.model, ids, context=1)
    assert score(pico.model, ids)[0].conditions["context"] == 256  # what the model holds, where 512 is more


def test_scores_that_are_not_numbers_are_refused(pico_llama, ids):
    model = load.load(pico_llama).model
    model.model.layers[0].mlp.up_proj.weight.data[0, 0] = float("nan")
    with pytest.raises(UserError, match="aren't numbers") as error:
        score(model, ids)
    assert error.value.kind == "model"


def test_a_cancelled_run_stops(pico, ids):
    run = Run()
    run.control("cancel")
    with pytest.raises(Cancelled):
        score(pico.model, ids, context=10, run=run)
