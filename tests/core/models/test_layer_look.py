"""A look at a quantized layer: counts against the weights themselves, clipping, outlier channels, and what can't be looked at."""

import pytest
import torch

from core.errors import UserError
from core.models import layer_look, load, packed, save
from core.models.blocks import linears, replace
from core.models.packed import PackedLinear
from core.run import Run

NAME = "model.layers.0.mlp.down_proj"


@pytest.fixture
def quantized(pico_llama, tmp_path):
    """quantized(bits, group, symmetric, low=, high=) -> (folder, the QuantWeight of NAME)."""

    def made(bits, group=16, symmetric=True, share=1.0):
        model = load.load(pico_llama).model
        for name, module in linears(model):
            grouped = module.weight.unflatten(-1, (-1, group or module.in_features))
            ends = {"low": grouped.amin(-1) * share, "high": grouped.amax(-1) * share}
            replace(model, name, PackedLinear.from_linear(module, packed.quantize(module.weight, bits, group, symmetric, **ends)))
        folder = tmp_path / f"{bits}-{group}-{symmetric}-{share}"
        folder.mkdir()
        save.save(model, folder, pico_llama, run=Run())
        return folder, model.get_submodule(NAME).quant

    return made


def dense(folder):
    return load.load(folder).model.get_submodule(NAME).weight


@pytest.mark.parametrize(("bits", "group", "symmetric"), [(8, None, False), (4, 16, True), (3, 32, False), (2, 16, True)])
def test_what_is_counted_is_what_is_there(pico_llama, quantized, bits, group, symmetric):
    folder, quant = quantized(bits, group, symmetric)
    found = layer_look.look(folder, pico_llama, NAME)
    weight = dense(pico_llama)
    assert found["layer"] == NAME
    assert len(found["layers"]) == 14
    assert (found["bits"], found["group_size"], found["symmetric"], found["shape"]) == (bits, group, symmetric, list(weight.shape))
    assert len(found["grid"]["points"]) == len(found["after"]) == 1 << bits
    assert found["after"] == [int((quant.codes == code).sum()) for code in range(-(1 << bits - 1), 1 << bits - 1)]
    assert sum(found["dense"]) == weight.numel()
    error = float((packed.dequantize(quant, torch.float32) - weight).norm() / weight.norm())
    assert found["error"] == pytest.approx(error, rel=1e-5)
    assert found["clipped"] < 0.02
    assert found["columns"]["count"] == weight.shape[1]
    assert found["columns"]["largest"] == pytest.approx(weight.abs().amax(0).tolist())
    assert found["rows"]["median"] == pytest.approx(float(weight.abs().amax(1).median()))


def test_the_dense_weights_lie_around_the_points(pico_llama, quantized):
    """Steps are those of each group's own grid: within half a step of each point lie the weights that were rounded to it.

    Not so at the ends: the largest weight of a group lies just between the last two points.
    """
    folder, _ = quantized(4)
    found = layer_look.look(folder, pico_llama, NAME)
    low, high = found["edges"]
    width = (high - low) / len(found["dense"])
    for point, after in zip(found["grid"]["points"][2:-2], found["after"][2:-2], strict=True):
        near = sum(n for at, n in enumerate(found["dense"]) if abs(low + (at + 0.5) * width - point) < 0.5)
        assert near == pytest.approx(after, abs=0.2 * after + 12)


def test_clipping_is_seen(pico_llama, quantized):
    whole, clipped = (layer_look.look(quantized(4, share=share)[0], pico_llama, NAME) for share in (1.0, 0.6))
    assert whole["clipped"] == 0
    assert clipped["clipped"] > 0.02


def test_outlier_channels_are_named(pico_llama, quantized, tmp_path):
    model = load.load(pico_llama).model
    with torch.no_grad():
        model.get_submodule(NAME).weight[:, 5] *= 20
    save.save(model, tmp_path, pico_llama, run=Run())
    folder, _ = quantized(8, None)
    found = layer_look.look(folder, tmp_path, NAME)["columns"]["outliers"]
    assert [index for index, _, _ in found] == [5]
    assert found[0][2] > 10


def test_wide_layers_are_joined_without_losing_the_largest():
    largest = torch.rand(1000)
    largest[777] = 9
    found = layer_look.channels(largest)
    assert len(found["largest"]) == 334
    assert found["joined"] == 3
    assert max(found["largest"]) == found["largest"][777 // 3] == 9
    assert found["outliers"][0][0] == 777


def test_the_first_layer_is_shown_where_none_is_named_and_order_is_natural(pico_llama, quantized):
    folder, _ = quantized(8, None)
    assert layer_look.look(folder, pico_llama)["layer"] == "model.layers.0.mlp.down_proj"
    assert sorted(["layers.10.a", "layers.9.a"], key=layer_look._natural) == ["layers.9.a", "layers.10.a"]


def test_without_the_original_only_the_after_is_shown(pico_llama, pico_draft, quantized):
    folder, quant = quantized(4)
    for before, why in ((None, "isn't here"), (pico_draft, "another shape")):
        found = layer_look.look(folder, before, NAME)
        assert found["dense"] is found["error"] is found["clipped"] is None
        assert why in found["why"]
        assert sum(found["after"]) == quant.codes.numel()


def test_float8_has_its_own_points(pico_llama, tmp_path):
    model = load.load(pico_llama).model
    for name, module in linears(model):
        scale = module.weight.abs().amax(1, keepdim=True) / 448
        codes = (module.weight / scale).to(torch.float8_e4m3fn)
        replace(model, name, PackedLinear.from_linear(module, packed.QuantWeight(8, None, True, scale.detach(), None, codes)))
    save.save(model, tmp_path, pico_llama, run=Run())
    found = layer_look.look(tmp_path, pico_llama, NAME)
    assert found["kind"] == "float"
    assert (found["grid"]["low"], found["grid"]["high"]) == (-448, 448)
    assert sum(found["after"]) == sum(found["dense"]) == 32 * 64
    assert found["clipped"] is None


def test_what_cannot_be_looked_at_is_told(pico_llama, quantized):
    with pytest.raises(UserError, match="no layers on a grid"):
        layer_look.look(pico_llama, None)
    with pytest.raises(UserError, match="isn't a quantized layer"):
        layer_look.look(quantized(4)[0], pico_llama, "model.layers.9.mlp.down_proj")
