"""Magnitude pruning: exactly the smallest go, exactly as many as asked, and nothing else changes."""

import pytest
import torch

from core.errors import UserError
from core.models import load
from core.models.blocks import linears, weight_of
from tests.core.methods.conftest import apply, same


def weights(model):
    return {name: weight_of(module).clone() for name, module in linears(model)}


def zeros(weight):
    return int((weight == 0).sum())


@pytest.mark.parametrize("scope", ["row", "layer", "global"])
def test_sparsity_zero_is_bit_identical(pico_llama, scope):
    loaded = load.load(pico_llama)
    loaded.model.model.layers[0].mlp.up_proj.weight.data[0, 0] = -0.0
    before = {k: v.clone() for k, v in loaded.model.state_dict().items()}
    after = apply("magnitude", loaded, sparsity=0, scope=scope).model.state_dict()
    assert all(torch.equal(before[k].view(torch.int32), after[k].view(torch.int32)) for k in before)


@pytest.mark.parametrize("sparsity", [0.1, 0.5, 0.77])
@pytest.mark.parametrize("scope", ["row", "layer", "global"])
@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2", "pico_bert"])
def test_exactly_as_many_zeros_as_asked_and_they_were_the_smallest(request, model, scope, sparsity):
    loaded = load.load(request.getfixturevalue(model))
    before = weights(loaded.model)
    others = {k: v.clone() for k, v in loaded.model.state_dict().items() if k.removesuffix(".weight") not in before}
    outcome = apply("magnitude", loaded, sparsity=sparsity, scope=scope)
    after = weights(outcome.model)
    assert sum(map(zeros, after.values())) == int(sparsity * sum(w.numel() for w in after.values()) + 0.5)
    for name, weight in after.items() if scope != "global" else ():
        assert abs(zeros(weight) - sparsity * weight.numel()) <= 1, name
        if scope == "row":
            assert ((weight == 0).sum(1) - sparsity * weight.shape[1]).abs().max() <= 1, name
    if scope == "global":
        gone = torch.cat([before[n].abs()[after[n] == 0] for n in after])
        stay = torch.cat([before[n].abs()[after[n] != 0] for n in after])
        assert gone.max() <= stay.min()
    for name in after:
        kept = after[name] != 0
        assert torch.equal(after[name][kept], before[name][kept])
        rows = zip(before[name].abs(), kept, strict=True) if scope == "row" else []
        assert all(row[~keep].max() <= row[keep].min() for row, keep in rows if (~keep).any())
    assert all(torch.equal(v, outcome.model.state_dict()[k]) for k, v in others.items())  # embeddings, head, norms, biases


@pytest.mark.parametrize(("pattern", "group", "gone"), [("2:4", 4, 2), ("4:8", 8, 4)])
@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2", "pico_bert"])
def test_exactly_half_of_every_group_goes(request, model, pattern, group, gone):
    loaded = load.load(request.getfixturevalue(model))
    before = weights(loaded.model)
    after = weights(apply("magnitude", loaded, pattern=pattern).model)
    for name, weight in after.items():
        cut, whole = weight.reshape(-1, group), before[name].abs().reshape(-1, group)  # along the inputs of an output
        assert ((cut == 0).sum(1) == gone).all(), name
        largest = whole.sort(1).values[:, gone:].sum(1)
        assert torch.allclose(cut.abs().sum(1), largest)


def test_existing_zeros_count_as_the_smallest(pico):
    apply("magnitude", pico, sparsity=0.3)
    before = weights(pico.model)
    after = weights(apply("magnitude", pico, sparsity=0.5).model)
    assert all((after[n][before[n] == 0] == 0).all() for n in after)
    assert all(((w == 0).sum(1) == w.shape[1] // 2).all() for w in after.values())


def test_the_note_says_that_nothing_became_smaller(pico):
    notes = apply("magnitude", pico).notes
    assert notes[0].startswith("0 % smaller on disk, 33 % zeros")


def test_a_width_that_the_pattern_does_not_fit_is_left_out_and_said(pico):
    layer = pico.model.model.layers[0].mlp
    layer.down_proj = torch.nn.Linear(6, 32, bias=False)  # 4 doesn't divide 6
    before = layer.down_proj.weight.clone()
    notes = apply("magnitude", pico, pattern="2:4").notes
    assert torch.equal(before, layer.down_proj.weight)
    assert "model.layers.0.mlp.down_proj" in notes[-1]


def test_weights_that_are_not_numbers_are_refused_and_named(pico):
    pico.model.model.layers[1].self_attn.q_proj.weight.data[0, 0] = float("nan")
    for values in ({}, {"scope": "global"}, {"pattern": "2:4"}):
        with pytest.raises(UserError, match=r"model\.layers\.1\.self_attn\.q_proj"):
            apply("magnitude", pico, **values)


def test_the_same_settings_give_the_same_weights(pico_llama):
    first, second = (apply("magnitude", load.load(pico_llama), sparsity=0.4, scope="global").model for _ in range(2))
    assert same(first, second)
