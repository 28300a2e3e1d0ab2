"""AWQ: scales that change nothing but the rounding, found where the inputs are large; layers that can't be folded are rounded."""

import pytest
import torch

from core.data.text import token_ids
from core.methods import folding
from core.methods.quantization import awq as awqs
from core.methods.quantization import grid
from core.methods.quantization.awq import AwqParams, best_scales, label
from core.methods.sequential import Hessian, walk
from core.models import load
from core.models.blocks import linears
from core.models.packed import PackedLinear
from core.run import Run
from tests.conftest import PROSE
from tests.core.methods.conftest import Recorder, apply

SHORT = {"windows": 8, "context": 32}


class Plain:
    """A fold of a norm with as many channels as columns."""

    def gathered(self, values):
        return values

    def columns(self, s):
        return s


def stat_of(x):
    stat = Hessian(x.shape[1], x.device)
    stat.add(x)
    return stat


def test_the_columns_that_large_inputs_meet_are_scaled_up():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(256, 32, generator=generator)
    x[:, 7] *= 30
    weight = torch.randn(16, 32, generator=generator)
    s = best_scales([weight], stat_of(x), Plain(), 20, 3, 16, True, torch.float32)
    assert s.argmax() == 7
    assert s[7] > 3 * s.median()


def test_the_scaled_rounding_errs_less_on_the_outputs_than_the_plain_one():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(256, 64, generator=generator) * torch.exp(1.5 * torch.randn(64, generator=generator))
    weight = torch.randn(16, 64, generator=generator)
    stat = stat_of(x)
    s = best_scales([weight], stat, Plain(), 20, 4, 16, False, torch.float32)
    from core.models import packed

    error = lambda s: stat.power(
        packed.dequantize(grid.round_to_nearest(weight * s, 4, 16, False, False, torch.float32), torch.float32) / s - weight
    )
    assert error(s) < 0.8 * error(torch.ones(64))


def test_where_inputs_are_alike_nothing_is_scaled():
    weight = torch.randn(16, 32, generator=torch.Generator().manual_seed(2))
    stat = Hessian(32, torch.device("cpu"))
    stat.add(torch.eye(32))
    stat.tokens = 1
    assert best_scales([weight], stat, Plain(), 20, 4, 16, True, torch.float32) is None


def test_scaling_alone_leaves_the_model_what_it_was(pico_llama, monkeypatch):
    """With a rounding that rounds nothing, what's left is the folding: the model's outputs must stay."""
    loaded, reference = load.load(pico_llama), load.load(pico_llama)
    ids = token_ids(PROSE, loaded.tokenizer, 64)[None]
    moved = 0
    for turn in walk(loaded.model, Run(), "Walking", ids):
        stats = turn.collect(Hessian)
        for fold in folding.folds_of_block(loaded.model, turn.name, turn.block, *turn.call()):
            s = fold.gathered(stats[fold.targets[0][0]].magnitude).pow(0.5)
            fold.apply(s / (s.max() * s.min()).sqrt())
            moved += 1
    assert moved == 8  # in each of the two blocks: two norms, values, up
    assert torch.allclose(loaded.model(ids).logits, reference.model(ids).logits, atol=2e-4)
    assert not torch.equal(loaded.model.model.layers[0].input_layernorm.weight, reference.model.model.layers[0].input_layernorm.weight)


def test_it_is_closer_than_rounding(pico_llama):
    ids = token_ids(PROSE, load.load(pico_llama).tokenizer, 200)[None]

    def divergence(name, **values):
        reference = load.load(pico_llama).model(ids).logits.log_softmax(-1)
        out = apply(name, load.load(pico_llama), bits=3, group_size=16, **values).model(ids).logits.log_softmax(-1)
        return float((reference.exp() * (reference - out)).sum(-1).mean())

    assert divergence("awq", windows=32, context=64) < divergence("rtn")


def test_all_linears_become_packed_report_their_error_and_the_notes_count_them(pico):
    names = [n for n, _ in linears(pico.model)]
    run = Recorder()
    outcome = apply("awq", pico, run, **SHORT)
    assert all(isinstance(outcome.model.get_submodule(n), PackedLinear) for n in names)
    reported = {e.name.removeprefix("error/") for e in run.events if getattr(e, "name", "").startswith("error/")}
    assert reported == set(names)
    assert any("with their columns scaled" in n for n in outcome.notes)


def test_an_encoder_whose_norms_come_after_the_residual_is_quantized_all_the_same(pico_bert):
    model = apply("awq", load.load(pico_bert), **SHORT).model
    assert all(isinstance(m, PackedLinear) for _, m in linears(model))


@pytest.mark.parametrize("points", [1, 20])
def test_one_point_is_no_scaling(pico_llama, points):
    outcome = apply("awq", load.load(pico_llama), points=points, **SHORT)
    assert any(n.startswith("0 of them") for n in outcome.notes) == (points == 1)


def test_its_name():
    assert label(AwqParams(bits=3, symmetric=True)) == "awq 3-bit symmetric"
    assert awqs.POINTS == 20
