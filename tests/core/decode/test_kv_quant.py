"""A cache in 8 or 4 bits: rounded once and for all, taken back exactly, smaller, and near what it was; speculation stays lossless on it."""

import pytest
import torch
from pydantic import ValidationError

from core.decode.cache import CachedModel, read
from core.decode.engine import Decoding
from core.decode.kv_quant import Packed, QuantizedLayer, cache_bytes, group_of, layer, rotated
from core.decode.pieces import Pieces
from core.decode.sampling import Sampling, Seeded
from core.errors import UserError
from core.records import GenerateSpec
from tests.core.decode.test_cache import PLAIN, WINDOWED
from tests.core.decode.test_every_cache import KINDS, OF_ALIKE_LAYERS, PROMPT, EveryOther, model_of, proposer_of
from tests.core.decode.test_lab import draft, ran, target  # noqa: F401 - fixtures

PROPOSERS = ("draft", "tree", "ngram", "early exit", "layer skip")


@pytest.fixture(params=[8, 4])
def bits(request):
    return request.param


def vectors(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# ---- the rounding -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [64, 80, 96, 128, 16])
def test_the_error_is_half_a_step(bits, width):
    x = vectors(1, 2, 7, width)
    packed = Packed.of(x, bits)
    y = rotated(x) if bits == 4 else x
    error = (rotated(packed.dense()) if bits == 4 else packed.dense()) - y
    step = packed.step.float().repeat_interleave(group_of(width, bits), -1)
    assert (error.abs() <= 0.56 * step + 1e-3).all()  # low and step are themselves rounded to float16
    assert packed.dense().shape == x.shape
    assert packed.codes.shape[-1] == width * bits // 8


def test_a_rotation_is_its_own_inverse_and_keeps_lengths():
    for width in (64, 80, 96, 24, 5):
        x = vectors(3, width)
        assert torch.allclose(rotated(rotated(x)), x, atol=1e-5)
        assert torch.allclose(rotated(x).norm(dim=-1), x.norm(dim=-1), rtol=1e-5)


def test_a_rotation_spreads_an_outlier():
    x = vectors(1, 1, 50, 64)
    x[..., 5] += 60
    turned = float((Packed.of(x, 4).dense() - x)[..., torch.arange(64) != 5].square().mean())
    codes = ((x - x.amin(-1, keepdim=True)) / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True)) * 15).round()
    plain = codes / 15 * (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True)) + x.amin(-1, keepdim=True)
    assert turned < float((plain - x)[..., torch.arange(64) != 5].square().mean())


def test_the_same_value_everywhere_and_nothing_at_all(bits):
    for value in (0.0, 3.0, -2.5):
        x = torch.full((1, 1, 2, 64), value)
        assert torch.allclose(Packed.of(x, bits).dense(), x, atol=0.03)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_dtype_comes_back(bits, dtype):
    assert Packed.of(vectors(1, 2, 3, 32).to(dtype), bits).dense().dtype == dtype


# ---- the layer ----------------------------------------------------------------------------------------------------


def test_a_token_is_rounded_alike_however_it_comes(bits):
    keys, values = vectors(1, 2, 300, 32), vectors(1, 2, 300, 32, seed=1)
    at_once, one_by_one = layer(bits), layer(bits)
    want = at_once.update(keys, values)
    for begin in range(0, 200, 7):
        one_by_one.update(keys[:, :, begin : min(200, begin + 7)], values[:, :, begin : min(200, begin + 7)])
    got = one_by_one.update(keys[:, :, 200:], values[:, :, 200:])
    assert all(torch.equal(a, b) for a, b in zip(got, want, strict=True))
    assert at_once.get_seq_length() == one_by_one.get_seq_length() == 300


def test_what_is_taken_back_and_put_back(bits):
    one, keys = layer(bits), vectors(1, 2, 40, 32)
    dense, _ = one.update(keys[:, :, :30], keys[:, :, :30])
    tail = one.tail(20)
    one.crop(-10)
    assert one.get_seq_length() == 20
    one.update(torch.zeros(1, 2, 12, 32), torch.zeros(1, 2, 12, 32))
    one.put(20, tail)
    assert one.get_seq_length() == 30
    again, values = one.update(keys[:, :, 30:], keys[:, :, 30:])
    assert torch.equal(again[:, :, :30], dense)
    assert torch.equal(again, values)
    one.keep(30, [31, 34, 38])
    kept, _ = one.update(keys[:, :, :1], keys[:, :, :1])
    assert torch.equal(kept[:, :, 30:33], again[:, :, [31, 34, 38]])
    one.reset()
    assert one.get_seq_length() == 0
    with pytest.raises(ValueError, match="negative"):
        one.crop(1)


def test_bytes_are_what_is_kept(bits):
    one = layer(bits)
    assert one.nbytes() == (0, 0)
    one.update(vectors(1, 2, 10, 64), vectors(1, 2, 10, 64))
    taken, plain = one.nbytes()
    assert plain == 2 * 2 * 10 * 64 * 4
    assert taken == 2 * 2 * 10 * (64 * bits // 8 + 4 * 64 // group_of(64, bits))
    assert not one.keys.numel()  # no floats stay


def test_an_odd_head_is_refused_at_4_bits():
    with pytest.raises(UserError, match="odd width"):
        layer(4).update(vectors(1, 1, 2, 5), vectors(1, 1, 2, 5))
    layer(8).update(vectors(1, 1, 2, 5), vectors(1, 1, 2, 5))


# ---- in a model ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_attention(bits, kind):
    model = model_of(kind)
    ids = torch.randint(4, 60, (30,), generator=torch.Generator().manual_seed(1)).tolist()
    plain, rounded = CachedModel(model), CachedModel(model, kv_bits=bits)
    assert all(isinstance(one, QuantizedLayer) for one in rounded.layer_caches())
    want, got = read(plain, ids, 5).softmax(-1), read(rounded, ids, 5).softmax(-1)
    distance = float((want - got).abs().sum(-1).mean() / 2)
    assert 0 < distance < (0.05 if bits == 8 else 0.6)
    taken, unrounded = cache_bytes(rounded.layer_caches())
    assert cache_bytes(plain.layer_caches()) == (unrounded, unrounded)
    assert taken < unrounded / (2.5 if bits == 8 else 3.5)
    rounded.crop(10)
    again = CachedModel(model, kv_bits=bits)
    again.forward(ids[:10], 1)
    assert torch.allclose(rounded.forward(ids[10:], 1), again.forward(ids[10:], 1), atol=1e-5)


def test_fewer_bits_are_further_away():
    model = model_of("llama")
    ids = torch.randint(4, 60, (60,), generator=torch.Generator().manual_seed(1)).tolist()
    want = CachedModel(model).forward(ids, 40).log_softmax(-1)
    kl = [float((want.exp() * (want - CachedModel(model, kv_bits=b).forward(ids, 40).log_softmax(-1))).sum(-1).mean()) for b in (8, 4)]
    assert 0 < kl[0] < 0.1 * kl[1]


@pytest.mark.parametrize("proposer", PROPOSERS)
@pytest.mark.parametrize("kind", ["llama", *WINDOWED])
def test_caches_are_as_good_as_fresh_ones_after_every_round(bits, kind, proposer):
    if proposer in OF_ALIKE_LAYERS and "layer_types" in KINDS[kind]:
        pytest.skip("its layers differ by their place")
    model, sampling = model_of(kind), Sampling(temperature=0.8, max_new_tokens=16)
    cached = CachedModel(model, kv_bits=bits)
    drafts = proposer_of(proposer, cached, kind, sampling)
    decoding = Decoding(cached, PROMPT, sampling=sampling, proposer=drafts, policy=EveryOther(), chooser=Seeded(3), pieces=Pieces())
    drafted = 0
    for taken in decoding.rounds():
        ids, drafted = decoding.history.ids, drafted + len(taken.drafted)
        assert cached.length == cached._cache.get_seq_length() == len(ids) - 1
        fresh = CachedModel(model, kv_bits=bits)
        want = read(fresh, ids, 1)
        assert torch.allclose(cached.forward(ids[cached.length :], 1), want, atol=1e-4)
        cached.crop(len(ids) - 1)
    assert drafted > 2


def test_plain_models_are_covered():
    assert {"llama", "gpt2"} <= set(KINDS)
    assert PLAIN


# ---- in the lab ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("proposer", ["draft", "ngram", "early-exit"])
def test_greedy_speculation_is_lossless_on_it(target, draft, bits, proposer):  # noqa: F811
    result, _ = ran(target, draft, proposer=proposer, race=True, kv_bits=bits)
    assert result["identical"] is True
    assert 0 < result["cache_bytes"] < result["cache_bytes_plain"] / 2
    assert result["plain"]["cache_bytes"] == result["cache_bytes"]


def test_plainly_and_changed_between_prompts(target):  # noqa: F811
    from core.decode import lab

    held = lab.Held()
    full, _ = ran(target, None, held=held, proposer="none")
    assert full["cache_bytes"] == full["cache_bytes_plain"] > 0
    eight, _ = ran(target, None, held=held, proposer="none", kv_bits=8)
    assert eight["reused"] == 0  # the other cache was let go
    assert len(held.caches) == 1
    again, _ = ran(target, None, held=held, proposer="none", kv_bits=8)
    assert again["ids"] == eight["ids"]
    assert again["reused"] > 0


def test_only_8_and_4():
    assert GenerateSpec(workspace="w", target="t").kv_bits is None
    with pytest.raises(ValidationError):
        GenerateSpec(workspace="w", target="t", kv_bits=2)
