"""Accuracy: the interval against the definition, and a score against a count by hand."""

import math

import pytest
import torch

from core.data.labels import Labels, split
from core.errors import UserError
from core.evaluate.accuracy import score, wilson
from tests.conftest import make_tokenizer


def make_labels(rows):
    return Labels("a.csv", "a.csv", "f" * 64, tuple(t for t, _ in rows), tuple(c for _, c in rows), ("bad", "good"), "text", "label")


class Tells:
    """Says 'good' (class 1) of texts whose first token is an even number, with a certainty of its own; padding mustn't matter."""

    config = type("C", (), {"id2label": {0: "bad", 1: "good"}, "pad_token_id": 0, "max_position_embeddings": 64})

    def __init__(self, turn=False, sure=2.0):
        self.turn, self.sure, self.widths = turn, sure, []
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def parameters(self):
        return iter([self.weight])

    def __call__(self, input_ids, attention_mask):
        self.widths.append(input_ids.shape[1])
        assert ((input_ids != 0).long().cumsum(1)[attention_mask == 0] >= 1).all()
        sign = 2 * ((input_ids[:, 0] % 2 == 0) != self.turn).float() - 1
        return type("O", (), {"logits": torch.stack([-sign, sign], 1) * self.sure})


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return make_tokenizer(tmp_path_factory.mktemp("tokenizer"))


@pytest.fixture(scope="module")
def labels():
    return make_labels([(f"{chr(97 + i % 26)} story number {i}", i % 2) for i in range(200)])


@pytest.mark.parametrize(("right", "total"), [(0, 10), (10, 10), (7, 10), (1800, 2016), (1, 1)])
def test_the_interval_is_where_the_score_test_does_not_reject(right, total):
    low, high = wilson(right, total)
    z = lambda p: abs(right / total - p) / math.sqrt(p * (1 - p) / total)
    assert low <= right / total <= high
    for edge, beyond in ((low, low - 1e-3), (high, high + 1e-3)):
        if 0 < edge < 1:
            assert z(edge) == pytest.approx(1.959964, abs=1e-5)
        if 0 < beyond < 1:
            assert z(beyond) > 1.96
    assert (low == 0) == (right == 0)
    assert (high == 1) == (right == total)


def test_a_share_must_be_one():
    with pytest.raises(ValueError, match="isn't a share"):
        wilson(3, 2)


def test_accuracy_is_the_share_of_the_held_out_examples(tokenizer, labels):
    model = Tells()
    heldout = split(labels).heldout
    first = [tokenizer(labels.texts[i])["input_ids"][0] for i in heldout]
    right = sum((token % 2 == 0) == bool(labels.labels[i]) for token, i in zip(first, heldout, strict=True))
    (found,) = score(model, tokenizer, labels)
    assert (found.kind, found.n, found.value) == ("accuracy", len(heldout), right / len(heldout))
    assert found.interval == wilson(right, len(heldout))
    assert found.conditions["examples"] == "a.csv"


def test_against_a_reference(tokenizer, labels):
    measured = {m.kind: m for m in score(Tells(), tokenizer, labels, reference=Tells())}
    assert (measured["agreement"].value, measured["kl"].value) == (1, 0)
    measured = {m.kind: m for m in score(Tells(sure=1.0), tokenizer, labels, reference=Tells(turn=True, sure=1.0))}
    p = 1 / (1 + math.exp(-2))
    assert measured["agreement"].value == 0
    assert measured["kl"].value == pytest.approx((2 * p - 1) * math.log(p / (1 - p)), rel=1e-6)


def test_a_model_without_a_padding_token_is_asked_text_by_text(tokenizer, labels):
    model = Tells()
    model.config = type("C", (), dict(vars(Tells.config), pad_token_id=None))
    assert score(model, tokenizer, labels)[0].value == score(Tells(), tokenizer, labels)[0].value
    assert len(model.widths) == len(split(labels).heldout)


def test_outputs_that_are_not_numbers_and_other_classes(tokenizer, labels):
    with pytest.raises(UserError, match="aren't numbers"):
        score(Tells(sure=math.nan), tokenizer, labels)
    with pytest.raises(UserError, match="no tokenizer"):
        score(Tells(), None, labels)
    model = Tells()
    model.config = type("C", (), dict(vars(Tells.config), id2label={0: "x", 1: "y"}))
    with pytest.raises(UserError, match="different classes"):
        score(Tells(), tokenizer, labels, reference=model)
    with pytest.raises(UserError, match="aren't those of the model"):
        score(model, tokenizer, labels)
