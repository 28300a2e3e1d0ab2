"""What a draft gains while it learns: against a clock that counts forwards, and the models as they were."""

import copy
import itertools

import pytest
import torch

from core.decode import duel, engine
from core.models import load
from tests.core.methods.conftest import same

PROMPTS = [[1, 2, 3], [4, 5]]


def test_a_draft_that_is_always_right_saves_rounds(pico_llama, monkeypatch):
    """By a clock on which every look takes a second, a round takes as long whatever is drafted: four tokens a round, four times as fast."""
    seconds = itertools.count()
    monkeypatch.setattr(engine, "perf_counter", lambda: float(next(seconds)))
    target = load.load(pico_llama, dtype="float32").model
    before = copy.deepcopy(target)
    fight = duel.Duel(target)
    assert fight(copy.deepcopy(target), PROMPTS, 3, tokens=16) == pytest.approx(4.0, rel=0.02)
    with torch.no_grad():
        other = copy.deepcopy(target)
        for p in other.parameters():
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(1)))
    assert fight(other, PROMPTS, 3, tokens=16) < 2.5
    assert same(target, before)


def test_it_ends_where_it_is_told_to(pico_llama):
    class Enough(Exception):
        pass

    def between():
        raise Enough

    target = load.load(pico_llama, dtype="float32").model
    with pytest.raises(Enough):
        duel.Duel(target, between)(copy.deepcopy(target), PROMPTS, 2)
