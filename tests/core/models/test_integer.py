"""Products of integers: the simulated layer's numbers to float32's rounding, and only where the processor gives them."""

import itertools

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from core.decode import fast
from core.models import blocks, integer
from core.models.activations import ActivationQuant
from core.models.integer import Product8
from core.models.packed import PackedLinear, quantize
from tests.core.decode.test_fast import HEADS, SMALL, walk

GRIDS = [ActivationQuant(dynamic=d, symmetric=s) for d, s in itertools.product((True, False), repeat=2)]


def right() -> bool:
    try:
        return integer._right()
    except (RuntimeError, NotImplementedError, AttributeError):
        return False


needs_kernel = pytest.mark.skipif(not right(), reason="no product of integers that's right here")


@pytest.fixture(autouse=True)
def whatever_the_clock_says(monkeypatch):
    """A busy machine mustn't decide what's tested."""
    monkeypatch.setattr(integer, "_CAN", [True])


def stored(activation, value=0.03, zero=-17):
    """The stored scale and zero of a fixed grid, None of each that the grid hasn't."""
    if activation.dynamic:
        return None, None
    return torch.tensor([value]).bfloat16(), None if activation.symmetric else torch.tensor([zero], dtype=torch.int8)


@needs_kernel
@pytest.mark.parametrize("activation", GRIDS, ids=lambda a: a.name)
@pytest.mark.parametrize("rows", [1, 7, 70])
@pytest.mark.parametrize("outputs", [24, 100])
def test_it_is_the_simulated_layer(activation, rows, outputs):
    generator = torch.Generator().manual_seed(rows)
    quant = quantize(torch.randn(outputs, 64, generator=generator), 8, scale_dtype=torch.bfloat16)
    bias, (scale, zero) = torch.randn(outputs, generator=generator), stored(activation)
    simulated = PackedLinear(quant, bias, torch.float32, activation=activation, input_scale=scale, input_zero_point=zero)
    x = 2 * torch.randn(2, rows, 64, generator=generator) + 0.5
    x[0, 0] = 0  # a token without a range
    x[1, -1, 3] = 200  # an outlier, beyond a fixed grid
    want = torch.nn.functional.linear(simulated.rounded(x).double(), simulated.weight.double(), bias.double())
    got = Product8(quant.codes, quant.scale, activation, bias, scale, zero)(x)
    assert got.shape == want.shape
    assert (got - want).abs().max() <= 2e-6 * want.abs().max()
    assert torch.equal(simulated.rounded(x[:0]), x[:0])
    assert Product8(quant.codes, quant.scale, activation, bias, scale, zero)(x[:0]).shape == (0, rows, outputs)


@needs_kernel
def test_its_memory_is_the_codes_which_it_gives_back():
    quant = quantize(torch.randn(256, 512), 8)
    layer = Product8(quant.codes, quant.scale, ActivationQuant())
    assert sum(b.nbytes for b in layer.buffers()) <= 1.1 * quant.codes.nbytes
    assert torch.equal(layer.dense(), quant.codes.float() * quant.scale)


def simulated_model(activation, spoil=None):
    torch.manual_seed(5)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SMALL, **HEADS)).eval().requires_grad_(False)
    for number, (name, layer) in enumerate(list(blocks.linears(model))):
        if name == "lm_head":
            continue
        scale, zero = stored(activation, 0.05 if not spoil else 0.05 + 0.001 * number)
        quant = quantize(layer.weight, 8, scale_dtype=torch.bfloat16)
        blocks.replace(model, name, PackedLinear.from_linear(layer, quant, activation=activation, input_scale=scale, input_zero_point=zero))
    return model


@needs_kernel
@pytest.mark.parametrize("activation", GRIDS, ids=lambda a: a.name)
def test_a_quickened_model_multiplies_integers(activation):
    model = simulated_model(activation)
    want = walk(model)
    done = fast.quicken(model)
    assert (done.fused, done.packed, done.slow) == (2, 8, 0)
    assert sum(isinstance(m, Product8) for m in model.modules()) == 8
    # a number that lies between two codes may fall the other way in a later layer
    assert (walk(model) - want).abs().max() < 0.05 * want.abs().max()


@needs_kernel
def test_layers_with_grids_of_their_own_are_not_joined():
    model = simulated_model(GRIDS[2], spoil=True)
    want = walk(model)
    done = fast.quicken(model)
    assert (done.fused, done.packed, done.slow) == (0, 14, 0)
    assert (walk(model) - want).abs().max() < 0.05 * want.abs().max()


def test_where_there_is_no_such_product_layers_stay_and_are_counted(monkeypatch):
    monkeypatch.setattr(fast, "can_multiply", lambda: False)
    model = simulated_model(GRIDS[0])
    want = walk(model)
    done = fast.quicken(model)
    assert (done.fused, done.packed, done.slow) == (0, 0, 14)
    assert torch.allclose(walk(model), want, atol=2e-5)


@needs_kernel
def test_a_kernel_that_saturates_or_crawls_is_not_used(monkeypatch):
    real = Product8._product

    def tried():
        monkeypatch.setattr(integer, "_CAN", [])
        return integer.can_multiply()

    monkeypatch.setattr(Product8, "_product", lambda self, *a: real(self, *a).clamp(max=100_000))
    assert not tried()

    def crawls(self, *a):
        for _ in range(200):
            out = real(self, a[0].clone(), *a[1:])
        return out

    monkeypatch.setattr(Product8, "_product", crawls)
    assert not tried()

    def fails(*_):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(Product8, "_product", fails)
    assert not tried()
