"""Channels: which go, that the rest is solved right, and that every kind of model is cut to a width that its config says."""

import pytest
import torch

from core.errors import UserError
from core.methods.pruning import channels
from core.models import load, save, size, surgery
from core.models.blocks import weight_of
from core.run import Run
from tests.core.methods.conftest import Recorder, apply, same

SMALL = {"windows": 4, "context": 24, "multiple": 16}
IDS = torch.arange(20)[None]


def outputs(model):
    out = model(input_ids=IDS)
    return out.logits if "logits" in out else out.last_hidden_state


def test_compensation_is_the_least_squares_solution():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(200, 12, generator=generator) @ torch.randn(12, 12, generator=generator)
    weight, keep = torch.randn(5, 12, generator=generator), torch.tensor([0, 2, 3, 7, 8, 11])
    found = channels.compensated(weight, x.t() @ x, keep, damping=1e-9)
    expected = torch.linalg.lstsq(x[:, keep].double(), (x @ weight.t()).double()).solution.t()
    assert torch.allclose(found.double(), expected, atol=1e-4)
    error = lambda w: (x[:, keep] @ w.t() - x @ weight.t()).square().sum()
    assert error(found) < error(weight[:, keep])
    everything = channels.compensated(weight, x.t() @ x, torch.arange(12))
    assert torch.allclose(everything, weight, atol=1e-5)


@pytest.mark.parametrize(
    ("width", "share", "multiple", "left"),
    [
        (1536, 0.2, 64, 1216),
        (1536, 0.01, 64, 1472),
        (1536, 0.99, 64, 64),
        (96, 0.25, 64, 64),
        (100, 0.5, 64, 48),
        (7, 0.5, 64, 4),
        (64, 0, 64, 64),
    ],
)
def test_widths_are_multiples_that_fit(width, share, multiple, left):
    assert channels.width_after(width, share, multiple) == left


@pytest.mark.parametrize("criterion", ["activation", "taylor"])
def test_without_compensation_it_is_the_masked_model(pico, pico_llama, criterion):
    out = apply("channels", pico, share=0.5, criterion=criterion, compensate=False, **SMALL)
    whole = load.load(pico_llama).model
    for layer, block in enumerate(surgery.anatomy(whole).blocks):
        rows = weight_of(out.model.get_submodule(surgery.anatomy(out.model).blocks[layer].into[0]))
        stays = (weight_of(whole.get_submodule(block.into[0]))[:, None] == rows[None]).all(-1).any(1)
        assert int(stays.sum()) == 32
        weight_of(whole.get_submodule(block.down))[:, ~stays] = 0
    assert torch.allclose(outputs(out.model), outputs(whole), atol=1e-5)


def test_channels_that_add_nothing_go_first(pico):
    gone = [0, 5, 17, 40]
    for layer in pico.model.model.layers:
        layer.mlp.down_proj.weight[:, gone] *= 1e-3
    before = outputs(pico.model)
    out = apply("channels", pico, share=4 / 64, **(SMALL | {"multiple": 4}))
    assert surgery.anatomy(out.model).width == 60
    assert torch.allclose(outputs(out.model), before, atol=2e-2)


def test_compensation_moves_the_outputs_less(pico_llama):
    found = {}
    for compensate in (False, True):
        loaded = load.load(pico_llama)
        recorder = Recorder()
        apply("channels", loaded, recorder, share=0.5, compensate=compensate, **SMALL)
        found[compensate] = recorder.curve("error/model.layers.0.mlp.down_proj")[0]
    assert found[True] < 0.9 * found[False]


@pytest.mark.parametrize("source", ["pico_llama", "pico_gpt2", "pico_bert"])
def test_it_is_smaller_and_reloads(request, source, tmp_path):
    folder = request.getfixturevalue(source)
    out = apply("channels", load.load(folder), share=0.25, **SMALL)
    save.save(out.model, tmp_path, folder, run=Run())
    again = load.load(tmp_path)
    assert torch.equal(outputs(again.model), outputs(out.model))
    assert surgery.anatomy(again.model).width == {"pico_gpt2": 96}.get(source, 48)
    before, after = size.ledger(folder), size.ledger(tmp_path)
    assert after.weight_bytes < before.weight_bytes
    gone = 1 - sum(p.numel() for p in out.model.parameters()) / before.parameters
    assert f"{100 * gone:.1f} % of all parameters" in out.notes[-1]


def test_none_is_bit_identical_and_too_narrow_is_said(pico, pico_llama):
    assert same(apply("channels", pico, share=0).model, load.load(pico_llama).model)
    for layer in pico.model.model.layers:
        for part in (layer.mlp.gate_proj, layer.mlp.up_proj):
            part.weight = torch.nn.Parameter(part.weight[:1])
        layer.mlp.down_proj.weight = torch.nn.Parameter(layer.mlp.down_proj.weight[:, :1])
    with pytest.raises(UserError, match="too narrow"):
        apply("channels", pico, share=0.5, **SMALL)
