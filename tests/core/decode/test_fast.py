"""Quickened models and packed copies compute what the model computes, whatever its plan."""

import copy

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from core.decode import fast, kernels, packed_copy
from core.decode.cache import CachedModel
from core.decode.calibrate import measure
from core.errors import UserError

SMALL = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "vocab_size": 101, "max_position_embeddings": 128}
HEADS = {"num_attention_heads": 4, "num_key_value_heads": 2}
PLANS = {
    "llama": (SMALL | HEADS, True),
    "llama with biases": (SMALL | HEADS | {"attention_bias": True, "mlp_bias": True, "model_type": "llama"}, True),
    "mistral": (SMALL | HEADS | {"sliding_window": None}, True),
    "qwen2": (SMALL | HEADS, True),
    "qwen3": (SMALL | HEADS | {"head_dim": 16}, False),  # norms of queries and keys
    "gemma": (SMALL | HEADS | {"head_dim": 16}, False),  # norms of another kind
    "granite": (SMALL | HEADS | {"residual_multiplier": 0.5}, False),  # the same parts, otherwise put together
    "gpt2": ({"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 101, "n_positions": 128}, False),
}


@pytest.fixture(params=PLANS)
def plan(request):
    settings, fuses = PLANS[request.param]
    torch.manual_seed(5)
    kind = settings.get("model_type", request.param)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **{k: v for k, v in settings.items() if k != "model_type"}))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight += 0.1 * torch.randn_like(weight) if "norm" in name or "bias" in name else 0
    return model.eval().requires_grad_(False), fuses


def walk(model):
    """Logits of a prompt, of single tokens, of several at once, after a crop, and of a long text: (rows, vocabulary)."""
    cached = CachedModel(model)
    out = [cached.forward([5, 9, 2, 7], 4), cached.forward([3], 1), cached.forward([8, 1, 4], 3)]
    cached.crop(5)
    out += [cached.forward([6, 6], 2), cached.forward(list(range(40)), 40)]
    return torch.cat(out)


@pytest.mark.parametrize("pays", [True, False])
def test_quickened_is_the_same_model(plan, pays, monkeypatch):
    model, fuses = plan
    monkeypatch.setattr(fast, "prepacking_pays", lambda weights: pays)
    want = walk(model)
    done = fast.quicken(model)
    assert done.fused == (done.blocks if fuses else 0)
    assert (done.prepacked > 0) == pays
    assert torch.allclose(walk(model), want, atol=2e-5)
    assert fast.quicken(model) is done, "twice is once"


@pytest.mark.parametrize("quickened", [True, False])
def test_packed_copy_is_close_and_shares_what_it_can(plan, quickened, monkeypatch):
    model, _ = plan
    monkeypatch.setattr(fast, "prepacking_pays", lambda weights: True)
    want = walk(model).softmax(-1)
    embedding = model.get_input_embeddings().weight
    if quickened:
        fast.quicken(model)
    before = walk(model)
    copied = packed_copy.packed_copy(model)
    assert copied.get_input_embeddings().weight is embedding
    assert not [m for m in copied.modules() if type(m) in (torch.nn.Linear, kernels.Prepacked)]
    overlap = torch.minimum(walk(copied).softmax(-1), want).sum(-1).mean()
    assert overlap > 0.97
    assert torch.equal(walk(model), before), "the model itself is as it was"
    assert packed_copy.bytes_of_copy(copied) == sum(
        m.codes.nbytes + m.scale.nbytes for m in copied.modules() if isinstance(m, kernels.Int8)
    )


def test_an_additive_mask_means_what_a_boolean_one_does(plan):
    model, fuses = plan
    if not fuses:
        pytest.skip("not of the plan")
    fast.fuse(model, fast.dense_kernel)
    mask = torch.ones(1, 1, 3, 3, dtype=torch.bool).tril()
    ids = torch.tensor([[4, 5, 6]])
    added = torch.zeros(1, 1, 3, 3).masked_fill(~mask, torch.finfo(torch.float32).min)
    assert torch.allclose(model(ids, attention_mask=mask).logits, model(ids, attention_mask=added).logits, atol=1e-6)


@pytest.mark.parametrize("rows", [1, 2, 5, 33])
def test_prepacked_is_the_product_and_gives_its_weight_back(rows):
    weight, bias, x = torch.randn(48, 96), torch.randn(48), torch.randn(2, rows, 96)
    layer = kernels.Prepacked(weight, bias)
    assert torch.allclose(layer(x), torch.nn.functional.linear(x, weight, bias), atol=1e-5)
    assert torch.equal(layer.dense(), weight)


def test_int8_is_the_product_with_rounded_weights():
    weight, x = torch.randn(32, 64), torch.randn(1, 3, 64).bfloat16().float()
    layer = kernels.Int8(weight)
    assert (layer.dense() - weight).abs().max() <= weight.abs().amax() / 127 * 0.51 + 1e-6
    got, want = layer(x).double(), torch.nn.functional.linear(x.double(), layer.dense().double())
    assert (got - want).abs().max() < 0.01 * want.abs().max()  # the output is rounded to bfloat16's 8 bits
    assert torch.equal(kernels.Int8(torch.zeros(32, 64))(x), torch.zeros(1, 3, 32)), "a row of zeros has no scale of its own"


def test_products_in_bfloat16_are_nearer_than_bfloat16_throughout(plan, monkeypatch):
    model, fuses = plan
    monkeypatch.setattr(fast, "prepacking_pays", lambda weights: True)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.bfloat16().float())
    want = walk(model)
    throughout = walk(copy.deepcopy(model).bfloat16()).float()
    done = fast.quicken(model, half=True)
    assert done.fused == (done.blocks if fuses else 0)
    assert done.prepacked > 0
    assert not [m for m in model.modules() if type(m) in (torch.nn.Linear, kernels.Prepacked)]
    got = walk(model)
    assert not torch.equal(got, want)
    assert (got - want).square().mean() < (throughout - want).square().mean()


def test_half_precision_is_left_alone():
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SMALL, **HEADS)).bfloat16().eval()
    before = copy.deepcopy(model)
    done = fast.quicken(model)
    assert done.fused == done.prepacked == 0
    assert done.why
    ids = torch.tensor([[1, 2, 3]])
    assert torch.equal(model(ids).logits, before(ids).logits)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_half_precision_model_has_a_packed_copy(dtype):
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SMALL, **HEADS)).to(dtype).eval()
    fast.quicken(model)
    copied = packed_copy.packed_copy(model)
    assert packed_copy.bytes_of_copy(copied) > 0
    ids = torch.tensor([[1, 2, 3]])
    want = model(ids).logits
    assert (copied(ids).logits - want).abs().max() < 0.05 * want.abs().max()


def test_a_device_without_the_kernel_is_refused(target_model, monkeypatch):
    monkeypatch.setattr(packed_copy, "can_int8", lambda device: False)
    with pytest.raises(UserError, match="no 8-bit kernel"):
        packed_copy.packed_copy(target_model)


def test_prepacking_is_measured(monkeypatch):
    """What's measured decides, and only weights that can be laid out anew are looked at."""
    weights = [torch.randn(512, 512)] * 4
    assert kernels.prepacking_pays(weights) in (True, False)
    assert not kernels.prepacking_pays([])
    assert not kernels.prepacking_pays([torch.randn(8, 8).bfloat16()])

    class Slow(kernels.Prepacked):
        def forward(self, x):
            for _ in range(50):
                out = super().forward(x)
            return out

    monkeypatch.setattr(kernels, "Prepacked", Slow)
    assert not kernels.prepacking_pays(weights)


def test_measuring_costs_leaves_caches_as_they_were(target_model, noisy_copy):
    target, draft = CachedModel(target_model), CachedModel(noisy_copy)
    target.forward([1, 2, 3], 1)
    again = CachedModel(target_model)
    again.forward([1, 2, 3], 1)
    costs = measure(target, draft, (1, 3), length=16, repeats=2)
    table = costs.table()
    assert set(table["target"]) == {1, 3}
    assert set(table["draft"]) == {1, 2}
    assert all(seconds > 0 for part in table.values() for seconds in part.values())
    assert (target.length, draft.length) == (3, 0)
    assert torch.allclose(target.forward([4], 1), again.forward([4], 1))
    assert not costs.target_calls


def test_costs_of_a_short_context_are_measured_at_what_fits(target_model):
    target = CachedModel(target_model)
    target.context = 8
    assert set(measure(target, None, (1, 4, 9), length=64, repeats=1).table()["target"]) <= {1, 4}


def pack(model, bits, group, symmetric):
    """The model with its blocks' linear layers packed on a grid, and the same dequantized."""
    from core.models import blocks
    from core.models.packed import PackedLinear, quantize

    packed, dense = copy.deepcopy(model), copy.deepcopy(model)
    for name, layer in blocks.linears(model):
        quant = quantize(layer.weight, bits, group, symmetric, scale_dtype=torch.bfloat16)
        blocks.replace(packed, name, PackedLinear.from_linear(layer, quant))
        dense.get_submodule(name).weight.data = packed.get_submodule(name).weight
    return packed, dense


@pytest.mark.parametrize(("bits", "group", "symmetric"), [(8, None, True), (8, None, False), (4, 32, True), (4, 32, False), (3, 32, True)])
def test_a_packed_model_stays_packed_and_computes_on_its_own_grid(bits, group, symmetric):
    torch.manual_seed(5)
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SMALL, **HEADS)).eval().requires_grad_(False)
    packed, dense = pack(model, bits, group, symmetric)
    want = walk(dense)
    done = fast.quicken(packed)
    assert done.fused == 2
    assert (done.packed, done.slow) == (8, 0)  # four products a block
    got = walk(packed)
    assert (got - want).abs().max() < 0.03 * want.abs().max()  # bfloat16's 8 bits


def test_grids_without_a_kernel_stay_as_they_are_and_are_counted():
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SMALL, **HEADS)).eval().requires_grad_(False)
    packed, dense = pack(model, 6, 32, True)
    done = fast.quicken(packed)
    assert (done.fused, done.packed, done.slow) == (0, 0, 14)
    assert torch.allclose(walk(packed), walk(dense), atol=2e-5)


@pytest.mark.parametrize("rows", [3, 210])
@pytest.mark.parametrize(
    ("bits", "group", "symmetric", "outputs"), [(8, None, False, 40), (4, 64, False, 100), (4, None, True, 64), (2, 96, True, 64)]
)
def test_kernels_multiply_by_what_the_grid_says(bits, group, symmetric, outputs, rows):
    from core.models.packed import dequantize, quantize

    inputs = 192
    quant = quantize(torch.randn(outputs, inputs), bits, group, symmetric, scale_dtype=torch.bfloat16)
    kind = kernels.Codes8 if bits == 8 else kernels.Codes4
    layer = kind(quant.codes, quant.scale, quant.zero, torch.ones(outputs))
    x = torch.randn(1, rows, inputs).bfloat16().float()
    weight = dequantize(quant, torch.float32).double()
    want = torch.nn.functional.linear(x.double(), weight) + 1
    assert (layer(x) - want).abs().max() < 0.01 * want.abs().max()
    assert (layer.dense() - weight).abs().max() < 0.01 * weight.abs().max()
    stored = sum(b.nbytes for b in layer.buffers())
    assert stored < outputs * inputs * (1.1 if bits == 8 else 0.9)  # 4 bits: filled up to 64 rows, 4 bytes a group


def test_half_is_the_product_in_bfloat16():
    weight, x = torch.randn(32, 64).bfloat16().float(), torch.randn(1, 3, 64).bfloat16().float()
    layer = kernels.Half(weight, torch.ones(32))
    want = torch.nn.functional.linear(x.double(), weight.double()) + 1
    assert (layer(x) - want).abs().max() < 0.01 * want.abs().max()
    assert torch.equal(layer.dense(), weight)
