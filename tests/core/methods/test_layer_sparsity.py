"""Sparsities by outliers: blocks that have more of them keep more, and the mean is what was asked, to the weight."""

import pytest
import torch

from core.methods.pruning.layer_sparsity import outlier_ratio, spread
from core.models import load
from core.models.blocks import blocks, linears, weight_of
from core.models.streamed import Finished, Streamed
from core.run import Run
from tests.core.methods.conftest import Recorder, apply, give, same

SHORT = {"windows": 4, "context": 32}


def zeros_of(model):
    return {name: int((weight_of(m) == 0).sum()) for name, m in linears(model)}


def test_the_ratio_counts_what_is_above_a_multiple_of_the_mean():
    first, second = torch.tensor([1.0, 1, 1, 1, 40]), torch.tensor([[2.0, 2], [3, 30]])
    mean = 81 / 9
    for multiple in (2, 4, 5):
        expected = sum(int((x > multiple * mean).sum()) for x in (first, second)) / 9
        assert outlier_ratio(iter([first, second] * 2), 2, multiple) == expected


@pytest.mark.parametrize("sparsity", [0.01, 0.3, 0.5, 0.7, 0.99])
@pytest.mark.parametrize("band", [0, 0.08, 0.5])
def test_the_mean_over_the_weights_is_kept_and_the_order_is_that_of_the_outliers(sparsity, band):
    ratios, sizes = [0.4, 0.1, 0.3, 0.1, 0.9], [100, 250, 40, 1000, 7]
    found = spread(ratios, sizes, sparsity, band)
    assert sum(f * n for f, n in zip(found, sizes, strict=True)) / sum(sizes) == pytest.approx(sparsity, abs=1e-12)
    assert all(0 <= f <= 1 for f in found)
    ordered = [f for _, f in sorted(zip(ratios, found, strict=True))]
    assert ordered == sorted(ordered, reverse=True)
    assert max(found) - min(found) <= 2 * band + 1e-12


def test_blocks_alike_are_pruned_alike():
    assert spread([0.2, 0.2], [5, 9], 0.5, 0.08) == [0.5, 0.5]


@pytest.mark.parametrize("name", ["magnitude", "wanda", "sparsegpt"])
@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2", "pico_bert"])
def test_every_block_has_its_own_sparsity_and_the_whole_is_exact(request, name, model):
    loaded, run = load.load(request.getfixturevalue(model)), Recorder()
    values = {"sparsity": 0.6, "layers": "outliers", "outlier": 3} | (SHORT if name != "magnitude" else {})
    pruned = apply(name, loaded, run, **values).model
    zeros, sizes = zeros_of(pruned), {n: weight_of(m).numel() for n, m in linears(pruned)}
    assert sum(zeros.values()) == int(0.6 * sum(sizes.values()) + 0.5)
    told = {e.name.removeprefix("sparsity/"): e.value for e in run.events if getattr(e, "name", "").startswith("sparsity/")}
    assert told.keys() == {block for block, _ in blocks(pruned)}
    assert max(told.values()) > min(told.values())
    for block, sparsity in told.items():
        inside = [n for n in zeros if n.startswith(f"{block}.")]
        assert abs(sum(zeros[n] for n in inside) - sparsity * sum(sizes[n] for n in inside)) <= len(inside)


def test_looking_for_outliers_on_disk_finds_what_it_finds_in_memory(pico_llama, tmp_path):
    values = SHORT | {"layers": "outliers", "outlier": 3}
    one, other, loaded = Recorder(), Recorder(), load.load(pico_llama)
    apply("wanda", loaded, one, **values)
    home = Streamed(pico_llama, Finished(tmp_path / "work", "x"))
    loaded = load.load(pico_llama)
    model, loaded.model = loaded.model, home.model
    apply("wanda", loaded, other, given=give(loaded, home=home), **values)
    told = [[(e.name, e.value) for e in r.events if getattr(e, "name", "").startswith("sparsity/")] for r in (one, other)]
    assert told[0] == told[1] != []
    home.save(tmp_path, run=Run())
    assert same(load.load(tmp_path).model, apply("wanda", load.load(pico_llama), **values).model)
    assert model is not home.model
