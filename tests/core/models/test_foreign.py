"""Weights quantized by others: tiny files built by each format's formula, against a dequantization in float64 by plain loops."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from core.errors import UserError
from core.models import foreign
from core.models.bring import bring
from core.models.inspect import inspect
from core.models.load import load
from tests.conftest import make_pico
from tests.core.models.conftest import weights, write_gguf
from tests.core.models.test_hub import server  # noqa: F401

IDS = torch.arange(1, 33)[None]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A pico Llama whose every width is a multiple of 32, as 3-bit words need it."""
    return make_pico(tmp_path_factory.mktemp("pico") / "wide", hidden=64, seed=5)


@pytest.fixture
def staged(tmp_path):
    folder = tmp_path / "staged"
    folder.mkdir()
    return folder


def disguise(source, to, settings, encode, *, metadata=None, dtype=torch.float32):
    """Writes `source` with every linear weight of its blocks as encode(out, in, rng) has it.

    encode -> ({name that follows the module's: tensor}, the weight (out, in) in float64). Returns {module: weight}.
    """
    shutil.copytree(source, to)
    rng = np.random.default_rng(0)
    state, truth = {}, {}
    for name, tensor in weights(source).items():
        if not name.endswith("_proj.weight"):
            state[name] = tensor.to(dtype)
            continue
        parts, truth[name] = encode(*tensor.shape, rng)
        stem = name.removesuffix(".weight")
        state |= {f"{stem}.{leaf}": t.contiguous() for leaf, t in parts.items()}
    save_file(state, to / "model.safetensors", metadata=metadata(truth) if metadata else {"format": "pt"})
    config = json.loads((to / "config.json").read_text())
    (to / "config.json").write_text(json.dumps(config | {"quantization_config": settings}))
    return truth


def check(folder, truth, staged, run, name, *, dtype="float32", exact=2e-7, more=0):
    """Inspected and opened: the numbers are those of the loops."""
    info = inspect(folder)
    assert info.quantization == name
    assert info.parameters == more + sum(p.numel() for p in load(staged_of(folder, staged, run, dtype)).model.parameters())
    assert sum(info.components.values()) == info.parameters
    found = weights(staged)
    for module, want in truth.items():
        np.testing.assert_allclose(found[module].double().numpy(), want, rtol=exact, atol=exact)
    assert "quantization_config" not in json.loads((staged / "config.json").read_text())
    assert inspect(staged).quantization is None


def staged_of(folder, staged, run, dtype):
    _, notes = bring(folder, staged, run, dtype=dtype)
    assert any(n.startswith("Dequantized from") for n in notes)
    return staged


# ---- integers in words ----------------------------------------------------------------------------------------------


def words(values, bits):
    """Non-negative whole numbers -> 32-bit words of one long stream, by one large number."""
    stream = sum(int(v) << (i * bits) for i, v in enumerate(values))
    out = [(stream >> (32 * i)) & 0xFFFFFFFF for i in range(len(values) * bits // 32)]
    return np.array(out, np.uint32).view(np.int32)


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_unpack(bits):
    rng = np.random.default_rng(bits)
    codes = rng.integers(0, 1 << bits, (64, 5))
    codes[:, 0] = (1 << bits) - 1
    codes[:, 1] = 0
    packed = np.stack([words(column, bits) for column in codes.T], 1)
    assert np.array_equal(foreign.unpack(torch.from_numpy(packed), bits).numpy(), codes)
    with pytest.raises(ValueError, match="whole number"):
        foreign.unpack(torch.zeros(1, 1, dtype=torch.int32), 3)
    with pytest.raises(ValueError, match="7 bits"):
        foreign.unpack(torch.zeros(7, 1, dtype=torch.int32), 7)


def gptq(bits, group, *, less, order=False, bias=False):
    def encode(out, columns, rng):
        size = columns if group == -1 else group
        groups = columns // size
        codes = rng.integers(0, 1 << bits, (columns, out))
        zeros = rng.integers(1, 1 << bits, (groups, out))
        scales = (rng.random((groups, out)) * 0.1 + 0.01).astype(np.float16)
        g = np.arange(columns) // size
        if order:
            g = rng.permutation(g)
        truth = np.empty((out, columns))
        for o in range(out):
            for i in range(columns):
                truth[o, i] = float(scales[g[i], o]) * (int(codes[i, o]) - int(zeros[g[i], o]))
        parts = {
            "qweight": torch.from_numpy(np.stack([words(c, bits) for c in codes.T], 1)),
            "qzeros": torch.from_numpy(np.stack([words(z - less, bits) for z in zeros])),
            "scales": torch.from_numpy(scales),
            "g_idx": torch.from_numpy(g.astype(np.int32)),
        }
        if bias:
            parts["bias"] = torch.zeros(out, dtype=torch.float16)
        return parts, truth

    return encode


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("version", ["gptq", "gptq_v2"])
def test_gptq(wide, tmp_path, staged, run, bits, version):
    settings = {"quant_method": "gptq", "bits": bits, "group_size": 32, "desc_act": True, "sym": False, "checkpoint_format": version}
    folder = tmp_path / "q"
    truth = disguise(wide, folder, settings, gptq(bits, 32, less=version == "gptq", order=True))
    assert inspect(folder).dtypes[f"int{bits} packed"] == sum(t.size for t in truth.values())
    check(folder, truth, staged, run, f"int{bits} g32 (gptq)")


def test_gptq_per_channel_with_needless_biases(wide, tmp_path, staged, run):
    """AutoGPTQ writes a bias of zeros for every layer; a Llama has none, and its strict loading took none."""
    folder = tmp_path / "q"
    truth = disguise(wide, folder, {"quant_method": "gptq", "bits": 4, "group_size": -1}, gptq(4, -1, less=1, bias=True))
    biases = sum(t.shape[0] for t in truth.values())  # headers alone don't tell that they're zeros
    check(folder, truth, staged, run, "int4 per channel (gptq)", more=biases)
    assert not any(n.endswith("bias") for n in weights(staged))
    with torch.no_grad():
        assert torch.equal(load(folder).model(input_ids=IDS).logits, load(staged).model(input_ids=IDS).logits)


def test_gptq_with_its_configuration_in_a_file_of_its_own(wide, tmp_path, staged, run):
    folder = tmp_path / "q"
    truth = disguise(wide, folder, {}, gptq(4, 32, less=1))
    config = json.loads((folder / "config.json").read_text())
    del config["quantization_config"]
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "quantize_config.json").write_text(json.dumps({"bits": 4, "group_size": 32, "desc_act": False}))
    check(folder, truth, staged, run, "int4 g32 (gptq)")


def test_gptq_in_half_precision_stays_in_it(wide, tmp_path, staged, run, edit):
    folder = tmp_path / "q"
    truth = disguise(wide, folder, {"quant_method": "gptq", "bits": 4, "group_size": 32}, gptq(4, 32, less=1), dtype=torch.float16)
    edit(folder, dtype="float16")
    check(folder, truth, staged, run, "int4 g32 (gptq)", dtype="auto", exact=1e-3)
    assert {t.dtype for t in weights(staged).values()} == {torch.float16}


def test_gptq_on_conv1d(pico_gpt2, tmp_path, staged, run):
    """GPT-2's layers store (in, out): the weight is turned back."""
    folder = tmp_path / "q"
    shutil.copytree(pico_gpt2, folder)
    rng = np.random.default_rng(0)
    state = weights(pico_gpt2)
    name = "transformer.h.0.mlp.c_fc"
    columns, out = state.pop(f"{name}.weight").shape
    parts, truth = gptq(4, 32, less=1)(out, columns, rng)
    save_file(state | {f"{name}.{leaf}": t for leaf, t in parts.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32}}))
    bring(folder, staged, run, dtype="float32")
    found = weights(staged)
    np.testing.assert_allclose(found[f"{name}.weight"].numpy(), truth.T, rtol=1e-6)
    assert f"{name}.bias" in found


def awq(group):
    def encode(out, columns, rng):
        groups = columns // group
        codes, zeros = rng.integers(0, 16, (columns, out)), rng.integers(0, 16, (groups, out))
        scales = (rng.random((groups, out)) * 0.1 + 0.01).astype(np.float16)

        def packed(rows):
            turned = [row.reshape(-1, 8)[:, [0, 2, 4, 6, 1, 3, 5, 7]].reshape(-1) for row in rows]
            return torch.from_numpy(np.stack([words(row, 4) for row in turned]))

        truth = np.empty((out, columns))
        for o in range(out):
            for i in range(columns):
                truth[o, i] = float(scales[i // group, o]) * (int(codes[i, o]) - int(zeros[i // group, o]))
        return {"qweight": packed(codes), "qzeros": packed(zeros), "scales": torch.from_numpy(scales)}, truth

    return encode


def test_awq(wide, tmp_path, staged, run):
    folder = tmp_path / "q"
    settings = {"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm", "zero_point": True}
    truth = disguise(wide, folder, settings, awq(32))
    assert inspect(folder).dtypes["int4 packed"] == sum(t.size for t in truth.values())
    check(folder, truth, staged, run, "int4 g32 (awq)")


# ---- bitsandbytes ---------------------------------------------------------------------------------------------------

NF4 = [-1.0, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0.0, 0.0796, 0.1609, 0.2461, 0.3379, 0.4407, 0.5626, 0.723, 1.0]


def bnb4(kind, *, double, storage=torch.uint8, block=64, outer=256):
    def encode(out, columns, rng):
        count = out * columns
        codes = rng.integers(0, 16, count)
        table = np.array(NF4, np.float32)
        blocks = count // block
        state = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16", "shape": [out, columns]}
        parts = {"weight.quant_map": torch.from_numpy(table)}
        if double:
            small, inner = rng.integers(0, 256, blocks), np.sort(rng.random(256).astype(np.float32) * 2 - 1)
            largest = rng.random(-(-blocks // outer)).astype(np.float32)
            absmax = [float(inner[small[b]]) * float(largest[b // outer]) + 0.7 for b in range(blocks)]
            state |= {"nested_blocksize": outer, "nested_dtype": "float32", "nested_offset": 0.7}
            parts |= {
                "weight.absmax": torch.from_numpy(small.astype(np.uint8)),
                "weight.nested_absmax": torch.from_numpy(largest),
                "weight.nested_quant_map": torch.from_numpy(inner),
            }
        else:
            absmax = rng.random(blocks).astype(np.float32)
            parts["weight.absmax"] = torch.from_numpy(absmax)
        raw = np.array([(codes[2 * i] << 4) | codes[2 * i + 1] for i in range(count // 2)], np.uint8)
        parts["weight"] = torch.from_numpy(raw).view(storage)[:, None]
        text = json.dumps(state).encode()
        parts[f"weight.quant_state.bitsandbytes__{kind}"] = torch.tensor(list(text), dtype=torch.uint8)
        truth = np.array([float(table[codes[i]]) * float(absmax[i // block]) for i in range(count)]).reshape(out, columns)
        return parts, truth

    return encode


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize(("kind", "storage"), [("nf4", torch.uint8), ("fp4", torch.uint8), ("nf4", torch.bfloat16)])
def test_bitsandbytes_4(wide, tmp_path, staged, run, kind, storage, double):
    folder = tmp_path / "q"
    settings = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": kind, "bnb_4bit_use_double_quant": double}
    truth = disguise(wide, folder, settings, bnb4(kind, double=double, storage=storage))
    assert inspect(folder).dtypes["4-bit codes"] == sum(t.size for t in truth.values())
    check(folder, truth, staged, run, f"{kind}{' double' if double else ''} (bitsandbytes)")


def test_bitsandbytes_8(wide, tmp_path, staged, run):
    def encode(out, columns, rng):
        codes, scb = rng.integers(-127, 128, (out, columns)), rng.random(out).astype(np.float32)
        truth = codes * scb.astype(np.float64)[:, None] / 127
        parts = {"weight": torch.from_numpy(codes.astype(np.int8)), "SCB": torch.from_numpy(scb)}
        return parts | {"weight_format": torch.tensor(0, dtype=torch.uint8)}, truth

    folder = tmp_path / "q"
    truth = disguise(wide, folder, {"load_in_8bit": True}, encode)
    check(folder, truth, staged, run, "int8 per channel (bitsandbytes)")


# ---- 8-bit and 4-bit floats -----------------------------------------------------------------------------------------


def eights(rng, out, columns):
    return torch.from_numpy(rng.normal(size=(out, columns)).astype(np.float32) * 50).to(torch.float8_e4m3fn)


def test_fp8_in_blocks(wide, tmp_path, staged, run):
    """Blocks of 48 x 48: the last row and column of blocks are cut off."""

    def encode(out, columns, rng):
        codes, scale = eights(rng, out, columns), rng.random((-(-out // 48), -(-columns // 48))).astype(np.float32)
        exact = codes.double().numpy()
        truth = np.array([[exact[o, i] * float(scale[o // 48, i // 48]) for i in range(columns)] for o in range(out)])
        return {"weight": codes, "weight_scale_inv": torch.from_numpy(scale), "input_scale": torch.ones(1)}, truth

    folder = tmp_path / "q"
    settings = {"quant_method": "fp8", "weight_block_size": [48, 48], "activation_scheme": "static"}
    truth = disguise(wide, folder, settings, encode)
    check(folder, truth, staged, run, "fp8 blocks 48×48 (fp8)", exact=1e-6)
    assert inspect(folder).dtypes["F8_E4M3"] == sum(t.size for t in truth.values())


def test_what_was_done_to_activations_is_said(wide, tmp_path, staged, run):
    def encode(out, columns, rng):
        codes, scale = eights(rng, out, columns), rng.random((out, 1)).astype(np.float32)
        return {"weight": codes, "weight_scale": torch.from_numpy(scale)}, codes.double().numpy() * scale

    folder = tmp_path / "q"
    disguise(wide, folder, {"quant_method": "fbgemm_fp8"}, encode)
    _, notes = bring(folder, staged, run)
    assert "activations were quantized too" in notes[1]
    with pytest.raises(UserError, match="quantizes its activations in a way"):
        load(folder)


def ct(weights_entry, form, **group):
    entry = {"targets": ["Linear"], "weights": weights_entry, "format": form} | group
    return {"quant_method": "compressed-tensors", "format": form, "config_groups": {"group_0": entry}, "ignore": ["lm_head"]}


FOURS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


@pytest.mark.parametrize(("form", "size"), [("nvfp4-pack-quantized", 16), ("mxfp4-pack-quantized", 32)])
def test_four_bit_floats(wide, tmp_path, staged, run, form, size):
    def encode(out, columns, rng):
        codes = rng.integers(0, 16, (out, columns))
        raw = np.array([[codes[o, 2 * i] | (codes[o, 2 * i + 1] << 4) for i in range(columns // 2)] for o in range(out)], np.uint8)
        parts = {"weight_packed": torch.from_numpy(raw)}
        if form.startswith("nv"):
            parts["weight_scale"] = torch.from_numpy(rng.random((out, columns // size)).astype(np.float32) * 100).to(torch.float8_e4m3fn)
            parts["weight_global_scale"] = torch.tensor([300.0])
            scale = parts["weight_scale"].double().numpy() / 300
        else:
            exponents = rng.integers(118, 127, (out, columns // size))
            parts["weight_scale"] = torch.from_numpy(exponents.astype(np.uint8))
            scale = 2.0 ** (exponents.astype(np.float64) - 127)
        sign = lambda c: -1 if c & 8 else 1
        truth = [[sign(codes[o, i]) * FOURS[codes[o, i] & 7] * scale[o, i // size] for i in range(columns)] for o in range(out)]
        return parts, np.array(truth)

    folder = tmp_path / "q"
    strategy = "tensor_group" if form.startswith("nv") else "group"
    settings = ct({"num_bits": 4, "type": "float", "symmetric": True, "strategy": strategy, "group_size": size}, form)
    truth = disguise(wide, folder, settings, encode)
    assert inspect(folder).dtypes["fp4 packed"] == sum(t.size for t in truth.values())
    check(folder, truth, staged, run, inspect(folder).quantization)


@pytest.mark.parametrize(("form", "size"), [("nvfp4-pack-quantized", 16), ("mxfp4-pack-quantized", 32), ("mxfp8-quantized", 32)])
def test_against_compressed_tensors(form, size):
    """Files that compressed-tensors itself writes, against its own decompression (in bfloat16)."""
    from compressed_tensors.compressors.base import BaseCompressor
    from compressed_tensors.quantization import QuantizationScheme, preset_name_to_scheme

    preset = {"nvfp4-pack-quantized": "NVFP4A16", "mxfp4-pack-quantized": "MXFP4A16", "mxfp8-quantized": "MXFP8A16"}[form]
    scheme = preset_name_to_scheme(preset, ["Linear"])
    assert isinstance(scheme, QuantizationScheme)
    torch.manual_seed(0)
    weight = torch.randn(32, 64, dtype=torch.bfloat16)
    largest = weight.float().unflatten(1, (-1, size)).abs().amax(-1)
    state = {"weight": weight, "weight_scale": torch.exp2(torch.ceil(torch.log2(largest / 6))).to(torch.bfloat16)}
    if form.startswith("nv"):
        state["weight_global_scale"] = torch.tensor([64.0])
        state["weight_scale"] = (largest / 6 * 64).to(torch.bfloat16)
    compressor = BaseCompressor.get_value_from_registry(form)
    stored = compressor.compress(state, scheme)
    theirs = compressor.decompress(stored, scheme)["weight"]
    mine = foreign.compressed(stored, scheme.weights.model_dump())
    assert (mine - theirs.float()).abs().max() <= 2**-7 * mine.abs().max()
    assert (mine - weight.float()).abs().max() < largest.max() / 4


def test_activation_order_in_compressed_tensors(wide, tmp_path, staged, run):
    from core.models.packed import pack

    def encode(out, columns, rng):
        codes = rng.integers(-8, 8, (out, columns))
        scale = (rng.random((out, columns // 16)) * 0.1 + 0.01).astype(np.float32)
        order = rng.permutation(np.arange(columns) // 16)
        truth = np.array([[codes[o, i] * float(scale[o, order[i]]) for i in range(columns)] for o in range(out)])
        parts = {
            "weight_packed": pack(torch.from_numpy(codes.astype(np.int8)), 4),
            "weight_scale": torch.from_numpy(scale),
            "weight_shape": torch.tensor([out, columns]),
            "weight_g_idx": torch.from_numpy(order.astype(np.int32)),
        }
        return parts, truth

    folder = tmp_path / "q"
    entry = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 16, "actorder": "group"}
    truth = disguise(wide, folder, ct(entry, "pack-quantized"), encode)
    check(folder, truth, staged, run, "int4 g16 (compressed-tensors)")


# ---- torchao --------------------------------------------------------------------------------------------------------


def ao(kind, data, leaves):
    def metadata(truth):
        entry = lambda columns: json.dumps({"_type": kind, "_data": data(columns), "_tensor_data_names": leaves})
        return {"format": "pt", "tensor_names": json.dumps(sorted(truth))} | {n: entry(t.shape[1]) for n, t in truth.items()}

    return metadata


def ao_int8(out, columns, rng):
    codes, scale = rng.integers(-128, 128, (out, columns)), rng.random((out, 1)).astype(np.float32) + 0.1
    return {"_weight_qdata": torch.from_numpy(codes.astype(np.int8)), "_weight_scale": torch.from_numpy(scale)}, codes * scale.astype(float)


def ao_fp8(out, columns, rng):
    codes, scale = eights(rng, out, columns), rng.random((out, 1)).astype(np.float32)
    return {"_weight_qdata": codes, "_weight_scale": torch.from_numpy(scale)}, codes.double().numpy() * scale.astype(float)


def ao_intx(out, columns, rng):
    codes, zeros = rng.integers(-8, 8, (out, columns)), rng.integers(-8, 8, (out, columns // 32))
    scale = rng.random((out, columns // 32)).astype(np.float32) + 0.1
    truth = [[(codes[o, i] - zeros[o, i // 32]) * float(scale[o, i // 32]) for i in range(columns)] for o in range(out)]
    parts = {
        "_weight_qdata": torch.from_numpy(codes.astype(np.int8)),
        "_weight_scale": torch.from_numpy(scale),
        "_weight_zero_point": torch.from_numpy(zeros.astype(np.int8)),
    }
    return parts, np.array(truth)


def ao_int4(out, columns, rng):
    """Two signed codes a byte, the first below; scale and zero turned; the zero is added after scaling."""
    codes = rng.integers(-8, 8, (out, columns))
    scale, zero = rng.random((columns // 32, out)).astype(np.float32) + 0.1, rng.normal(size=(columns // 32, out)).astype(np.float32)
    raw = [[(codes[o, 2 * i] & 15) | ((codes[o, 2 * i + 1] & 15) << 4) for i in range(columns // 2)] for o in range(out)]
    truth = [[codes[o, i] * float(scale[i // 32, o]) + float(zero[i // 32, o]) for i in range(columns)] for o in range(out)]
    parts = {
        "_weight_qdata": torch.from_numpy(np.array(raw, np.uint8).view(np.int8)),
        "_weight_scale": torch.from_numpy(scale),
        "_weight_zero_point": torch.from_numpy(zero),
    }
    return parts, np.array(truth)


@pytest.mark.parametrize(
    ("kind", "name", "encode", "block"),
    [
        ("Int8Tensor", "int8", ao_int8, lambda columns: {"block_size": [1, columns]}),
        ("Float8Tensor", "fp8", ao_fp8, lambda columns: {"block_size": [1, columns]}),
        ("IntxUnpackedToInt8Tensor", "int8", ao_intx, lambda columns: {"block_size": [1, 32]}),
        ("Int4Tensor", "int4", ao_int4, lambda columns: {"block_size": [1, 32]}),
    ],
)
def test_torchao(wide, tmp_path, staged, run, kind, name, encode, block):
    folder = tmp_path / "q"
    leaves = ["qdata", "scale"] + (["zero_point"] if "int4" in encode.__name__ or "intx" in encode.__name__ else [])
    truth = disguise(wide, folder, {"quant_method": "torchao"}, encode, metadata=ao(kind, block, leaves))
    check(folder, truth, staged, run, f"{name} (torchao)", exact=1e-6)


def test_from_the_hub(wide, tmp_path, staged, run, server):  # noqa: F811
    """Downloaded into a folder of its own, dequantized from there, and that folder is gone afterwards."""
    folder = tmp_path / "q"
    truth = disguise(wide, folder, {"quant_method": "awq", "bits": 4, "group_size": 32}, awq(32))
    server.repos["org/awq"] = folder
    info = inspect("org/awq")
    assert info.quantization == "int4 g32 (awq)"
    assert info.parameters == inspect(folder).parameters
    bring("org/awq", staged, run, dtype="float32")
    assert not [p for p in staged.iterdir() if p.is_dir()]
    found = weights(staged)
    assert all(np.allclose(found[n].numpy(), t, rtol=1e-6) for n, t in truth.items())


# ---- what isn't read ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"}, "gptq marlin"),
        ({"quant_method": "awq", "bits": 4, "version": "gemv"}, "awq gemv 4-bit"),
        ({"quant_method": "hqq"}, "hqq"),
        ({"bits": 4}, "no method named"),
        (ct({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 16}, "marlin-24"), "compressed-tensors marlin-24"),
        (
            ct({"num_bits": 8, "type": "int", "strategy": "channel"}, "int-quantized")
            | {"sparsity_config": {"format": "sparse-24-bitmask"}},
            "compressed-tensors int-quantized sparse-24-bitmask",
        ),
    ],
)
def test_others_get_one_sentence(wide, tmp_path, staged, run, settings, named):
    folder = tmp_path / "q"
    disguise(wide, folder, settings, gptq(4, 32, less=1))
    info = inspect(folder)
    assert "It is stored quantized in a way that Spokeshave doesn't read." in info.warnings
    with pytest.raises(UserError) as caught:
        bring(folder, staged, run)
    assert caught.value.sentence == f"q is stored quantized in a way that Spokeshave doesn't read ({named})."
    assert "GPTQ" in caught.value.hint
    assert not list(staged.iterdir())


def test_damaged(wide, tmp_path, staged, run):
    def encode(out, columns, rng):
        parts, truth = gptq(4, 32, less=1)(out, columns, rng)
        return parts | {"scales": parts["scales"][:, :-8]}, truth

    folder = tmp_path / "q"
    disguise(wide, folder, {"quant_method": "gptq", "bits": 4, "group_size": 32}, encode)
    with pytest.raises(UserError, match=r"The quantized weight model.layers.0.\S+ is damaged") as caught:
        bring(folder, staged, run)
    assert caught.value.detail


def test_large_models_are_cut_into_files(wide, tmp_path, staged, run, monkeypatch):
    monkeypatch.setattr("core.models.save.SHARD", 40_000)
    folder = tmp_path / "q"
    truth = disguise(wide, folder, {"quant_method": "gptq", "bits": 4, "group_size": 32}, gptq(4, 32, less=1))
    bring(folder, staged, run, dtype="float32")
    assert len(list(staged.glob("model-*-of-*.safetensors"))) > 1
    found = weights(staged)
    assert all(np.allclose(found[n].numpy(), t, rtol=1e-6) for n, t in truth.items())


# ---- GGUF's k-quants ------------------------------------------------------------------------------------------------


def half(block, at):
    return float(np.frombuffer(block[at : at + 2].tobytes(), np.float16)[0])


def six_bits(scales):
    """The eight 6-bit scales and minima that q4_k and q5_k keep in 12 bytes."""
    out = []
    for j in range(8):
        if j < 4:
            out.append((scales[j] & 63, scales[j + 4] & 63))
        else:
            out.append(((scales[j + 4] & 15) | ((scales[j - 4] >> 6) << 4), (scales[j + 4] >> 4) | ((scales[j] >> 6) << 4)))
    return [(int(s), int(m)) for s, m in out]


def q2_k(b):
    d, low, y = half(b, 80), half(b, 82), []
    for i in range(256):
        part, shift, byte = i // 128, i % 128 // 32, i % 32
        scale = int(b[i // 16])
        y.append(d * (scale & 15) * ((int(b[16 + 32 * part + byte]) >> (2 * shift)) & 3) - low * (scale >> 4))
    return y


def q3_k(b):
    d, y = half(b, 108), []
    raw = [int(x) for x in b[96:108]]
    scales = [((raw[j] & 15) if j < 8 else (raw[j - 8] >> 4)) | (((raw[8 + j % 4] >> (2 * (j // 4))) & 3) << 4) for j in range(16)]
    for i in range(256):
        part, shift, byte = i // 128, i % 128 // 32, i % 32
        code = (int(b[32 + 32 * part + byte]) >> (2 * shift)) & 3
        high = (int(b[byte]) >> (4 * part + shift)) & 1
        y.append(d * (scales[i // 16] - 32) * (code - (0 if high else 4)))
    return y


def q4_k(b):
    d, low, pairs = half(b, 0), half(b, 2), six_bits(b[4:16])
    code = lambda i: (int(b[16 + 32 * (i // 64) + i % 32]) >> (4 * (i % 64 // 32))) & 15
    return [d * pairs[i // 32][0] * code(i) - low * pairs[i // 32][1] for i in range(256)]


def q5_k(b):
    d, low, pairs = half(b, 0), half(b, 2), six_bits(b[4:16])
    code = lambda i: ((int(b[48 + 32 * (i // 64) + i % 32]) >> (4 * (i % 64 // 32))) & 15) | (((int(b[16 + i % 32]) >> (i // 32)) & 1) << 4)
    return [d * pairs[i // 32][0] * code(i) - low * pairs[i // 32][1] for i in range(256)]


def q6_k(b):
    d, y = half(b, 208), []
    scales = b[192:208].view(np.int8)
    for i in range(256):
        part, quarter, byte = i // 128, i % 128 // 32, i % 32
        low = (int(b[64 * part + 32 * (quarter % 2) + byte]) >> (4 * (quarter // 2))) & 15
        high = (int(b[128 + 32 * part + byte]) >> (2 * quarter)) & 3
        y.append(d * int(scales[i // 16]) * ((low | (high << 4)) - 32))
    return y


LEVELS = [-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]


def iq4_nl(b):
    return [half(b, 0) * LEVELS[(int(b[2 + i % 16]) >> (4 * (i // 16))) & 15] for i in range(32)]


HALVES = {"Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,), "IQ4_NL": (0,)}


@pytest.mark.parametrize(
    ("kind", "loops"), [("Q2_K", q2_k), ("Q3_K", q3_k), ("Q4_K", q4_k), ("Q5_K", q5_k), ("Q6_K", q6_k), ("IQ4_NL", iq4_nl)]
)
def test_k_quants(tmp_path_factory, tmp_path, staged, run, monkeypatch, kind, loops):
    """A file of blocks drawn at random (but for their scales), opened, against loops over the block's documented layout."""
    import gguf

    source = make_pico(tmp_path_factory.mktemp("pico") / "256", hidden=256, layers=1, seed=6)
    size, nbytes = gguf.constants.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]]
    rng, drawn = np.random.default_rng(1), []

    def blocks(array, _):
        raw = rng.integers(0, 256, (array.shape[0], array.shape[1] // size, nbytes), dtype=np.uint8)
        for at in HALVES[kind]:
            raw[..., at : at + 2] = (rng.random(raw.shape[:2]) * 1e-3).astype(np.float16)[..., None].view(np.uint8)
        drawn.append(raw)
        return raw.reshape(array.shape[0], -1)

    monkeypatch.setattr(gguf.quants, "quantize", blocks)
    path = write_gguf(source, tmp_path / "k.gguf", kind)
    info = inspect(path)
    assert info.quantization == f"{kind} (GGUF)"
    bring(path, staged, run, dtype="float32")
    found = weights(staged)
    order = [n for n, t in weights(source).items() if t.ndim == 2]
    for name in ("model.layers.0.self_attn.v_proj.weight", "model.layers.0.mlp.down_proj.weight"):
        raw = drawn[order.index(name)][:3]  # rows enough
        want = np.array([[y for block in row for y in loops(block)] for row in raw])
        np.testing.assert_allclose(found[name][:3].numpy(), want, rtol=1e-5, atol=1e-9)
