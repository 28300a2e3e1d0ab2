"""A look at activations: counts against what the layers are really fed, the grids that round it, and outlier channels."""

import pytest
import torch

from core.models import activation_look, load
from core.models.activations import ActivationQuant, RoundedInputLinear
from core.models.blocks import linears, replace
from core.run import Run

NAME = "model.layers.1.mlp.down_proj"
IDS = torch.arange(2 * 24).view(2, 24) % 290


@pytest.fixture(scope="module")
def model(pico_llama):
    return load.load(pico_llama).model


def fed(model, name=NAME):
    got = []
    hook = model.get_submodule(name).register_forward_pre_hook(lambda _, given: got.append(given[0].detach()))
    with torch.no_grad():
        model(input_ids=IDS)
    hook.remove()
    return got[0]


def rounded(pico_llama, quant, scale=None, zero=None):
    model = load.load(pico_llama).model
    for name, module in linears(model):
        replace(model, name, RoundedInputLinear(module, quant, scale, zero))
    return model


def test_without_a_grid_int8_a_token_stands_in(model):
    seen = activation_look.watch(model, IDS, Run(), "Reading")
    assert len(seen) == 14
    x = fed(model)
    look = activation_look.compare(None, seen)[NAME]
    assert (look["rounded"], look["kind"], look["bits"], look["dynamic"], look["was"]) == (False, "int", 8, True, None)
    assert (look["width"], look["tokens"]) == (x.shape[-1], x[..., 0].numel())
    assert sum(look["dense"]) == sum(look["after"]) == x.numel()
    scale = x.abs().amax(-1, keepdim=True) / 127.5
    codes = (x / scale).clamp(-128, 127).round()
    assert look["after"] == [int((codes == point).sum()) for point in range(-128, 128)]
    assert look["now"]["error"] == pytest.approx(float((codes * scale - x).norm() / x.norm()), rel=1e-3)
    assert look["now"]["zeros"] == pytest.approx(float((codes == 0).float().mean()), rel=1e-3)
    assert look["now"]["clipped"] == 0
    assert look["now"]["channels"]["largest"] == pytest.approx(x.abs().flatten(0, 1).amax(0).tolist(), rel=1e-3)


def test_a_fixed_scale_clips(pico_llama, model):
    """Half of the range is beyond a grid that's half as wide; what it was is counted on the same grid."""
    x = fed(model, "model.layers.0.self_attn.q_proj")
    scale = x.abs().max().reshape(1) / 127.5 / 4
    quant = ActivationQuant(dynamic=False)
    looked = rounded(pico_llama, quant, scale)
    after = activation_look.watch(looked, IDS, Run(), "Reading")
    before = activation_look.watch(model, IDS, Run(), "Before", like=activation_look.grids(looked))
    look = activation_look.compare(before, after)["model.layers.0.self_attn.q_proj"]
    assert look["rounded"]
    assert not look["dynamic"]
    share = float(((x / scale).abs() > 128).float().mean())
    assert look["was"]["clipped"] == look["now"]["clipped"] == pytest.approx(share, abs=0.01)
    assert look["after"][0] + look["after"][-1] >= int(share * x.numel())
    assert sum(look["dense"]) == x.numel()


def test_an_offset_puts_zero_on_a_point(pico_llama, model):
    quant = ActivationQuant(dynamic=False, symmetric=False)
    scale, zero = quant.scale_for(torch.tensor([-1.0]), torch.tensor([3.0]))
    after = activation_look.watch(rounded(pico_llama, quant, scale, zero), IDS, Run(), "Reading")
    look = activation_look.compare(None, after)[NAME]
    at = look["grid"]["points"].index(float(zero))
    assert look["after"][at] == round(look["now"]["zeros"] * sum(look["after"]))


def test_float8_has_points_of_its_own(pico_llama, model):
    after = activation_look.watch(rounded(pico_llama, ActivationQuant(kind="float")), IDS, Run(), "Reading")
    look = activation_look.compare(None, after)[NAME]
    assert (look["grid"]["low"], look["grid"]["high"]) == (-448, 448)
    assert len(look["after"]) == len(look["grid"]["points"]) == 253
    assert sum(look["after"]) == sum(look["dense"])
    assert 0 < look["now"]["error"] < 0.05


def test_an_outlier_channel_is_found(pico_llama):
    """A norm's weight made twenty times as large makes one input channel of the next layers stand out."""
    model = load.load(pico_llama).model
    with torch.no_grad():
        model.model.layers[0].input_layernorm.weight[5] *= 20
    look = activation_look.compare(None, activation_look.watch(model, IDS, Run(), "Reading"))
    assert look["model.layers.0.self_attn.v_proj"]["now"]["channels"]["outliers"][0][0] == 5
    assert look["model.layers.0.self_attn.v_proj"]["now"]["zeros"] > look["model.layers.0.mlp.up_proj"]["now"]["zeros"]


def test_layers_of_another_width_have_no_before(model):
    after = activation_look.watch(model, IDS, Run(), "Reading")
    before = activation_look.watch(model, IDS, Run(), "Before")
    before[NAME].largest = torch.ones(3)
    looks = activation_look.compare(before, after)
    assert looks[NAME]["was"] is None
    assert looks[NAME]["dense"] is None
    assert looks["model.layers.0.mlp.up_proj"]["was"] is not None
