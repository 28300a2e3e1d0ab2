"""Agreement of an encoder's embeddings with its reference's."""

import pytest
import torch

from core.errors import UserError
from core.evaluate.embedding import cosine, embed, encode, score, sentences
from core.models import load
from tests.core.methods.conftest import apply, give, make_text

TEXTS = ["the old sailor told a long story", "the wind was cold", "of the harbour light and of the sea where the night was dark"]


def test_an_encoder_agrees_with_itself(pico_bert):
    loaded = load.load(pico_bert)
    found = cosine(loaded.model, loaded.model, loaded.tokenizer, TEXTS)[0]
    assert (found.kind, found.n) == ("cosine", 3)
    assert found.value == pytest.approx(1, abs=1e-6)
    assert found.conditions | {"sentences": 3, "pooling": "mean", "dtype": "float32", "device": "cpu"} == found.conditions


def test_fewer_bits_agree_less(pico_bert):
    reference, text = load.load(pico_bert), make_text()
    values = []
    for bits in (8, 4, 2):
        loaded = load.load(pico_bert)
        apply("rtn", loaded, given=give(loaded), bits=bits)
        values.append(score(loaded, reference, text, conditions={"text": "prose"})[0].value)
    assert values == sorted(values, reverse=True)
    assert values[0] > 0.999
    assert values[-1] < values[0]


def test_padding_does_not_count(pico_bert):
    loaded = load.load(pico_bert)
    with torch.no_grad():
        together = embed(loaded.model, encode(loaded.tokenizer, TEXTS, 64))
        alone = torch.cat([embed(loaded.model, encode(loaded.tokenizer, [t], 64)) for t in TEXTS])
    assert torch.allclose(together, alone, atol=1e-5)


def test_texts_are_cut_where_the_model_ends(pico_bert):
    loaded = load.load(pico_bert)
    fed = encode(loaded.tokenizer, ["the wind was cold " * 100], 10)
    assert fed["input_ids"].shape == (1, 10)
    assert cosine(loaded.model, loaded.model, loaded.tokenizer, ["the wind was cold " * 100], max_tokens=10_000)[0].n == 1


def test_sentences_of_a_text():
    text = "Short. This is a sentence of some length! And here is\nanother one?\n\nWithout a full stop at its end"
    assert sentences(text) == ["This is a sentence of some length!", "And here is another one?", "Without a full stop at its end"]
    assert len(sentences(text, most=1)) == 1
    with pytest.raises(UserError, match="no sentence"):
        sentences("Short. Very.")


def test_what_can_not_be_embedded_is_said(pico_bert):
    loaded = load.load(pico_bert)
    with pytest.raises(UserError, match="no tokenizer"):
        cosine(loaded.model, loaded.model, None, TEXTS)
    with pytest.raises(UserError, match="no sentences"):
        cosine(loaded.model, loaded.model, loaded.tokenizer, [])
    broken = load.load(pico_bert)
    next(broken.model.parameters()).data.fill_(float("nan"))
    with pytest.raises(UserError, match="aren't numbers"):
        cosine(broken.model, loaded.model, loaded.tokenizer, TEXTS)
