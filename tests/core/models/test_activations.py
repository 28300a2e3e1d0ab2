"""Activations on a grid: the arithmetic of compressed-tensors bit for bit, in the layer, on disk and in a plain process."""

import pytest
import torch
from compressed_tensors.quantization import QuantizationArgs
from compressed_tensors.quantization.lifecycle.forward import fake_quantize
from compressed_tensors.quantization.utils import compute_dynamic_scales_and_zp
from torch import nn

from core.models import inspect, load, packed, save
from core.models.activations import FP8, ActivationQuant, RoundedInputLinear
from core.models.blocks import linears, replace
from core.models.packed import PackedLinear, QuantWeight
from core.models.verify import Verifier
from core.run import Run
from tests.conftest import make_pico

GRIDS = [
    ActivationQuant(),
    ActivationQuant(symmetric=False),
    ActivationQuant(dynamic=False),
    ActivationQuant(dynamic=False, symmetric=False),
    ActivationQuant(kind="float"),
    ActivationQuant(kind="float", dynamic=False),
]
STATIC = {"input_scale": torch.tensor([0.03125]), "input_zero_point": torch.tensor([5], dtype=torch.int8)}


def rounding(grid: ActivationQuant, dtype=torch.float32) -> dict:
    if grid.dynamic:
        return {"activation": grid}
    zero = None if grid.symmetric else STATIC["input_zero_point"]
    return {"activation": grid, "input_scale": STATIC["input_scale"].to(dtype), "input_zero_point": zero}


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


@pytest.mark.parametrize("grid", GRIDS, ids=lambda g: g.name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(2, 5, 48), (1, 1, 48), (3, 48), (2, 4, 3, 16)])
def test_the_arithmetic_is_compressed_tensors_own(grid, dtype, shape):
    x = (3 * torch.randn(shape, generator=torch.Generator().manual_seed(1))).to(dtype)
    x[..., 0] *= 30
    args = QuantizationArgs(**grid.config())
    if grid.dynamic:
        scale, zero = compute_dynamic_scales_and_zp(x, args, nn.Linear(1, 1))
    else:
        scale, zero = STATIC["input_scale"].to(dtype), None if grid.symmetric else STATIC["input_zero_point"]
    mine = grid.fake(x, None if grid.dynamic else scale, None if grid.dynamic else zero)
    assert torch.equal(mine, fake_quantize(x, scale, zero, args))


def test_a_token_does_not_depend_on_its_neighbours():
    x = torch.randn(2, 6, 16)
    whole = ActivationQuant().fake(x)
    assert torch.equal(whole[1:, 2:3], ActivationQuant().fake(x[1:, 2:3]))


def test_the_error_is_half_a_step_at_most_and_zero_stays_zero():
    x = torch.randn(2, 6, 64)
    x[0, 0] = 0
    for grid in (ActivationQuant(), ActivationQuant(symmetric=False)):
        scale, _ = grid.scale_for(*grid.range_of(x))
        error = (grid.fake(x) - x).abs()
        assert bool((error <= 0.5001 * scale + 1e-7).all())
        assert grid.fake(x)[0, 0].abs().max() == 0
    assert ActivationQuant().fake(torch.zeros(1, 0, 4)).numel() == 0


def test_entries_that_are_not_known():
    for grid in GRIDS:
        assert ActivationQuant.from_config(grid.config()) == grid
    assert ActivationQuant.from_config({"num_bits": 4, "strategy": "token", "dynamic": True}) is None
    assert ActivationQuant.from_config({"num_bits": 8, "strategy": "group", "dynamic": True}) is None
    assert ActivationQuant.from_config({"num_bits": 8, "strategy": "tensor", "dynamic": True}) is None
    assert ActivationQuant.from_config({"num_bits": 8, "type": "float", "strategy": "tensor", "symmetric": False}) is None


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("grid", [*GRIDS, None], ids=lambda g: g.name if g else "none")
def test_what_is_saved_computes_alike_everywhere(verifier, tmp_path, grid, dtype):
    source = make_pico(tmp_path / "source", dtype=dtype)
    stored = getattr(torch, dtype)
    loaded = load.load(source)
    kind = grid.kind if grid else "float"
    for name, module in linears(loaded.model):
        weight = module.weight.detach().float()
        if kind == "int":
            quant = packed.quantize(weight, 8, scale_dtype=stored)
        else:
            scale = (weight.abs().amax(1, keepdim=True) / 448).to(stored)
            quant = QuantWeight(8, None, True, scale, None, (weight / scale.float()).clamp(-448, 448).to(FP8))
        replace(loaded.model, name, PackedLinear.from_linear(module, quant, **(rounding(grid, stored) if grid else {})))
    made = tmp_path / "made"
    made.mkdir()
    save.save(loaded.model, made, source, run=Run())
    assert verifier.check(made, loaded.model, Run()) == 0
    assert ("activations" in inspect.inspect(made).quantization) == (grid is not None)
    assert inspect.inspect(made).quantization.startswith("int8" if kind == "int" else "fp8")
    ids = torch.randint(0, 300, (2, 20), generator=torch.Generator().manual_seed(0))
    want = loaded.model(ids).logits
    for as_packed in (False, True):
        again = load.load(made, packed=as_packed)
        assert torch.equal(again.model(ids).logits, want)
        kinds = {type(m) for _, m in linears(again.model)}
        assert kinds == {PackedLinear if as_packed else RoundedInputLinear if grid else nn.Linear}


def test_scales_and_codes_keep_their_dtype_when_the_model_is_cast():
    linear = nn.Linear(8, 4).requires_grad_(False)
    quant = QuantWeight(8, None, True, torch.ones(4, 1), None, torch.randn(4, 8).to(FP8))
    module = PackedLinear.from_linear(linear, quant, **rounding(ActivationQuant(kind="float", dynamic=False))).half()
    assert (module.weight_codes.dtype, module.weight_scale.dtype, module.input_scale.dtype) == (FP8, torch.float32, torch.float32)
    assert module(torch.randn(1, 2, 8).half()).dtype == torch.float16


def test_an_asymmetric_grid_below_8_bits_is_not_joined_with_activations():
    quant = packed.quantize(torch.randn(4, 16), 4, 8, False)
    module = PackedLinear(quant, activation=ActivationQuant())
    with pytest.raises(packed.UserError, match="can't be joined with quantized activations"):
        packed.quantization_config({"a": module}, [])
