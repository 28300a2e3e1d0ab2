"""GGUF export: what's written, read back by plain transformers, by the gguf package and by our own reader."""

import dataclasses
import json
import struct

import gguf as package
import numpy as np
import pytest
import torch
import transformers
from gguf import GGMLQuantizationType as Type
from gguf import TokenType

from core.errors import Cancelled, UserError
from core.export import gguf, gguf_blocks, gguf_tokenizer
from core.export.gguf import export
from core.models import packed
from core.models.bring import bring
from core.models.gguf_file import read_header
from core.models.inspect import inspect
from core.models.load import load
from core.records import GGUF_MODELS, ExportSpec, Job
from core.run import Run
from core.worker import tasks
from core.workspace import Workspace
from tests.conftest import PROSE, make_pico, make_tokenizer
from tests.core.conftest import make_variant
from tests.core.models.conftest import Recorder, quantized

IDS = torch.arange(1, 65)[None]


def logits(model):
    with torch.no_grad():
        return model(input_ids=IDS).logits


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A pico Llama of width 256, which k-quants need."""
    return make_pico(tmp_path_factory.mktemp("pico") / "wide", hidden=256, layers=1, seed=2)


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """A pico Llama of width 96: three blocks of 32, and no block of 256."""
    return make_pico(tmp_path_factory.mktemp("pico") / "narrow", hidden=96, seed=3)


@pytest.fixture
def unread(monkeypatch):
    """Leaves out the fresh process, which takes seconds: what was written is taken as read."""
    answers = []

    def asked(model, ids):
        answers.append(logits_of(model, ids))
        return answers[-1]

    def reread(path, ids, text, settings, work, run):
        return answers[-1], {"corrected": [], "keys": {}, "tokens": tokens_of(text)}

    tokens = {}
    tokens_of = lambda text: tokens.get(text, [])
    monkeypatch.setattr(gguf, "_answers", asked)
    monkeypatch.setattr(gguf, "_reread", reread)
    return answers


def logits_of(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.from_numpy(ids)[None]).logits[0].float().numpy()


def reread(folder, report):
    """The model as plain transformers builds it from the file alone."""
    return transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=report["file"], dtype=torch.float32).eval()


def save_variant(source, to, bits, group, symmetric):
    """A variant of `source` with every linear layer of its blocks on such a grid."""
    from core.models.load import storage_dtype
    from core.models.save import save

    loaded = load(source)
    quantized(loaded.model, bits, group, symmetric, storage_dtype(loaded.info))
    to.mkdir()
    save(loaded.model, to, source, run=Run())
    return to


# ---- architectures --------------------------------------------------------------------------------------------------

SMALL = dict(
    vocab_size=300,
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=256,
    bos_token_id=None,
    eos_token_id=0,
    pad_token_id=None,
)
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
KINDS = {
    "llama": ("Llama", {}),
    "llama-biases": ("Llama", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": False, "head_dim": 32}),
    "llama3-rope": ("Llama", {"rope_parameters": LLAMA3}),
    "mistral": ("Mistral", {"sliding_window": None, "head_dim": 32}),
    "qwen2": ("Qwen2", {"vocab_size": 320}),  # its tokenizer adds a token of its own
    "qwen2-heads": ("Qwen2", {"vocab_size": 320, "head_dim": 32}),  # as after a cut of heads
    "qwen3": ("Qwen3", {"head_dim": 32}),
    "gemma2": ("Gemma2", {"head_dim": 32, "query_pre_attn_scalar": 32, "sliding_window": 32, "num_hidden_layers": 3}),
    "gemma3": ("Gemma3", {"head_dim": 32, "query_pre_attn_scalar": 32, "sliding_window": 32, "num_hidden_layers": 7}),
}


def make_other(folder, kind):
    name, changes = KINDS[kind]
    config = getattr(transformers, f"{name}TextConfig" if name == "Gemma3" else f"{name}Config")(**SMALL | changes)
    torch.manual_seed(1)
    model = getattr(transformers, f"{name}ForCausalLM")(config)
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            if parameter.ndim > 1:
                parameter.mul_(4)
            else:  # norms and biases that aren't all ones or zeros
                parameter.add_(torch.randn_like(parameter) * 0.1)
            if "embed" in parameter_name and name.startswith("Gemma"):
                parameter.mul_(0.5)
    model.save_pretrained(folder)
    make_tokenizer(folder)
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_in_float32_it_is_the_model(kind, tmp_path, run):
    source = make_other(tmp_path / "source", kind)
    report = export(source, tmp_path / "out", run, kind="f32")
    assert report["max_abs"] < 1e-4
    assert report["reread"] < 1e-4
    assert report["top1"] == 1.0
    assert report["kl"] < 1e-9
    assert all(check["passed"] for check in report["checks"])
    assert report["types"].keys() == {"F32"}
    assert "Reading it back" in run.stages
    taken = [n for n in report["notes"] if "for the check it was told" in n]
    # what the file holds and transformers' own reader leaves out, so nothing else may be in it
    left_out = {"llama-biases": "attention_bias, mlp_bias", "llama3-rope": "rope_parameters"}
    left_out |= {"qwen2-heads": "head_dim", "qwen3": "head_dim"}
    if kind in left_out:
        assert taken == [f"Plain transformers doesn't take {left_out[kind]} from a GGUF file; for the check it was told."]
    elif not kind.startswith("gemma"):
        assert not taken
    path = tmp_path / "out" / report["file"]
    assert report["bytes"] == path.stat().st_size
    assert read_header(path).architecture == {"mistral": "llama", "llama3-rope": "llama"}.get(kind, kind.partition("-")[0])


def test_the_rotary_factors_of_llama_3_are_transformers_own(tmp_path, run, unread):
    source = make_other(tmp_path / "source", "llama3-rope")
    export(source, tmp_path / "out", run, kind="f32")
    (path,) = (tmp_path / "out").glob("*.gguf")
    stored = next(t for t in package.GGUFReader(path).tensors if t.name == "rope_freqs.weight").data
    rotary = load(source).model.model.rotary_emb
    plain = 1.0 / 10000.0 ** (torch.arange(0, 16, 2).float() / 16)
    np.testing.assert_allclose(plain.numpy() / np.array(stored), rotary.inv_freq.numpy(), rtol=1e-6)
    assert 1.0 in stored
    assert 8.0 in stored


def test_the_fields_of_gemma(tmp_path, run, unread):
    export(make_other(tmp_path / "source", "gemma3"), tmp_path / "out", run, kind="f32")
    (path,) = (tmp_path / "out").glob("*.gguf")
    fields = read_header(path).fields
    assert fields["gemma3.attention.sliding_window"] == 32
    assert fields["gemma3.rope.freq_base"] == 1e6
    assert fields["gemma3.rope.freq_base_swa"] == 1e4


def test_opened_again_here(tmp_path, run, unread, narrow):
    """Out and in: the import takes what the export wrote."""
    report = export(narrow, tmp_path / "out", run, kind="f32", name="Nice name / 1")
    assert report["file"] == "Nice-name---1-f32.gguf"
    staged = tmp_path / "staged"
    staged.mkdir()
    bring(tmp_path / "out" / report["file"], staged, run, dtype="float32")
    assert torch.equal(logits(load(staged).model), logits(load(narrow).model))
    assert inspect(tmp_path / "out" / report["file"]).tokens_hash == inspect(narrow).tokens_hash


# ---- types ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "main", "edge", "bits", "error"),
    [
        ("f16", "F16", "F16", 16, 1e-3),
        ("bf16", "BF16", "BF16", 16, 4e-3),
        ("q8_0", "Q8_0", "Q8_0", 8.5, 0.01),
        ("q4_0", "Q4_0", "Q8_0", 4.5, 0.1),
        ("q4_k", "Q4_K", "Q8_0", 4.5, 0.09),
        ("auto", "Q8_0", "Q8_0", 8.5, 0.01),
    ],
)
def test_types(wide, tmp_path, run, unread, kind, main, edge, bits, error):
    report = export(wide, tmp_path / "out", run, kind=kind)
    assert set(report["types"]) == {main, edge, "F32"}
    counted = report["types"][main]
    if main != edge:
        assert counted["parameters"] == 3 * 256 * 512 + 2 * 256 * 256 + 2 * 256 * 128
        assert counted["bytes"] * 8 == counted["parameters"] * bits
    assert report["kind"] == ("q8_0" if kind == "auto" else kind)
    assert report["notes"] == [] or "splits some of the held-out text" in report["notes"][0]
    path = tmp_path / "out" / report["file"]
    header = read_header(path)
    assert header.tensors["blk.0.ffn_up.weight"].type == main
    assert header.tensors["token_embd.weight"].type == edge
    assert header.fields["general.file_type"] == int(gguf.FILE_TYPES[Type[main]])
    # the gguf package's own reading, beside the source's weights
    found = {t.name: package.dequantize(t.data, t.tensor_type) for t in package.GGUFReader(path).tensors}
    model = load(wide).model
    for name, weight in (("ffn_up", model.model.layers[0].mlp.up_proj.weight), ("ffn_down", model.model.layers[0].mlp.down_proj.weight)):
        want = weight.numpy()
        off = np.linalg.norm(found[f"blk.0.{name}.weight"] - want) / np.linalg.norm(want)
        assert 0 < off < error


def test_q4_k_reads_back_through_transformers(wide, tmp_path, run):
    report = export(wide, tmp_path / "out", run, kind="q4_k")
    assert report["reread"] < 1e-3
    assert report["max_abs"] > 0
    model = reread(tmp_path / "out", report)
    (path,) = (tmp_path / "out").glob("*.gguf")
    found = {t.name: package.dequantize(t.data, t.tensor_type) for t in package.GGUFReader(path).tensors}
    assert np.array_equal(model.model.layers[0].mlp.up_proj.weight.detach().numpy(), found["blk.0.ffn_up.weight"])


def test_rows_that_aren_t_whole_blocks(narrow, pico_gpt2, tmp_path, run, unread):
    report = export(narrow, tmp_path / "out", run, kind="q4_k")
    assert set(report["types"]) == {"Q5_0", "Q8_0", "F32"}
    assert "Rows of 14 layers aren't whole blocks of q4_k; they take the next wider type that fits." in report["notes"]


def test_values_too_large_for_half_precision(narrow, tmp_path, run, unread, copy_of):
    from safetensors.torch import load_file, save_file

    folder = copy_of(narrow)
    state = load_file(folder / "model.safetensors")
    state["model.layers.0.mlp.up_proj.weight"][0, 0] = 1e5
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"blk.0.ffn_up.weight has values too large for float16"):
        export(folder, tmp_path / "out", run, kind="f16")
    assert not (tmp_path / "out").exists()


# ---- a variant's own grid -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bits", "group", "symmetric", "kind", "stored"),
    [
        (8, None, True, "auto", "Q8_0"),
        (8, 32, True, "q8_0", "Q8_0"),
        (4, 32, True, "auto", "Q4_0"),
        (4, 32, True, "q4_0", "Q4_0"),
        (4, 32, True, "q8_0", "Q8_0"),
        (4, 96, True, "auto", "Q4_0"),
        (4, 32, False, "q4_0", "Q4_1"),
        (3, 32, True, "auto", "Q4_0"),
        (2, 32, False, "auto", "Q4_1"),
        (5, 32, True, "auto", "Q5_0"),
        (5, 32, False, "auto", "Q5_1"),
        (6, None, True, "auto", "Q8_0"),
        (6, 32, False, "auto", "Q8_0"),
    ],
)
def test_a_grid_that_fits_is_kept(tmp_path, tmp_path_factory, run, unread, bits, group, symmetric, kind, stored):
    source = make_pico(tmp_path_factory.mktemp("pico") / "bf16", hidden=96, seed=3, dtype="bfloat16")
    variant = save_variant(source, tmp_path / "variant", bits, group, symmetric)
    report = export(variant, tmp_path / "out", run, kind=kind)
    assert report["kept_layers"] == 14
    assert report["types"][stored]["tensors"] >= 14
    assert "14 quantized layers keep their own grid; nothing in them was quantized again." in report["notes"]
    (path,) = (tmp_path / "out").glob("*.gguf")
    found = {t.name: package.dequantize(t.data, t.tensor_type) for t in package.GGUFReader(path).tensors}
    modules = dict(load(variant, packed=True).model.named_modules())
    quant = modules["model.layers.1.mlp.down_proj"].quant
    codes = quant.codes.double().unflatten(-1, (quant.scale.shape[-1], -1))
    codes = codes if quant.zero is None else codes - quant.zero.double().unsqueeze(-1)
    want = (codes * quant.scale.double().unsqueeze(-1)).flatten(-2).numpy()
    step = quant.scale.double().max().item()
    # with an offset, the value of the lowest code is rounded to half precision too: a small share of a step
    assert np.abs(found["blk.1.ffn_down.weight"] - want).max() <= (0 if symmetric or stored == "Q8_0" else step * 2**-6)
    if kind == "auto":
        assert read_header(path).tensors["token_embd.weight"].type == "BF16"  # as the variant has it


def test_rotary_rows_of_a_kept_grid_are_permuted_with_their_scales(tmp_path, run, narrow):
    variant = save_variant(narrow, tmp_path / "variant", 4, 32, True)
    report = export(variant, tmp_path / "out", run)
    assert report["kept_layers"] == 14
    assert report["max_abs"] < 0.05  # float32 scales went to half precision, and nothing else changed
    assert report["top1"] == 1.0
    assert any("rounded to half precision" in n for n in report["notes"])
    plain = transformers.AutoModelForCausalLM.from_pretrained(variant, dtype=torch.float32).eval()
    assert (logits(reread(tmp_path / "out", report)) - logits(plain)).abs().max() < 0.05


@pytest.mark.parametrize(
    ("bits", "group", "symmetric", "kind", "note"),
    [
        (8, None, False, "auto", "The grid of 14 quantized layers doesn't fit q8_0; they were dequantized and quantized again."),
        (8, None, True, "q4_0", "The grid of 14 quantized layers doesn't fit q4_0; they were dequantized and quantized again."),
        (4, 16, True, "auto", "The grid of 14 quantized layers doesn't fit q8_0; they were dequantized and quantized again."),
        (4, 32, True, "f16", "14 quantized layers were widened to f16: exact, but not small."),
    ],
)
def test_a_grid_that_doesn_t_fit_is_said(narrow, tmp_path, run, unread, bits, group, symmetric, kind, note):
    variant = save_variant(narrow, tmp_path / "variant", bits, group, symmetric)
    report = export(variant, tmp_path / "out", run, kind=kind)
    assert report["kept_layers"] == 0
    assert note in report["notes"]


def test_a_packed_embedding_is_kept_once(narrow, tmp_path, run):
    from core.models.blocks import replace
    from core.models.packed_embedding import PackedEmbedding, TiedHead
    from core.models.save import save

    model = load(narrow).model
    table = model.model.embed_tokens
    kept = PackedEmbedding.from_embedding(table, packed.quantize(table.weight, 8, None), torch.float32)
    replace(model, "model.embed_tokens", kept)
    replace(model, "lm_head", TiedHead(kept))
    (tmp_path / "variant").mkdir()
    save(model, tmp_path / "variant", narrow, run=run)
    report = export(tmp_path / "variant", tmp_path / "out", run)
    header = read_header(tmp_path / "out" / report["file"])
    assert header.tensors["token_embd.weight"].type == "Q8_0"
    assert "output.weight" not in header.tensors
    assert report["kept_layers"] == 1
    assert report["top1"] == 1.0


def test_scales_out_of_half_precision_s_range_aren_t_kept():
    quant = packed.quantize(torch.randn(4, 64) * 1e-7, 4, 32)
    assert gguf_blocks.own_type(quant) is None
    assert not gguf_blocks.holds(quant, Type.Q4_0)


# ---- blocks ---------------------------------------------------------------------------------------------------------


def test_q4_k_is_better_than_q4_0_and_holds_the_extremes():
    torch.manual_seed(0)
    weight = torch.randn(32, 512) * 0.02
    weight[0] = 0
    weight[1, 7] = 3
    weight[2] = 1.5
    weight[3] = -0.25
    stored = gguf_blocks.dequantize(gguf_blocks.quantize(weight, Type.Q4_K), Type.Q4_K)
    plain = gguf_blocks.dequantize(gguf_blocks.quantize(weight, Type.Q4_0), Type.Q4_0)
    assert (stored - weight)[4:].norm() < 0.9 * (plain - weight)[4:].norm()
    assert torch.equal(stored[0], weight[0])
    assert torch.allclose(stored[1, 7], weight[1, 7], rtol=1e-2)
    assert torch.allclose(stored[2:4], weight[2:4], rtol=1e-2)
    assert torch.isfinite(stored).all()
    with pytest.raises(ValueError, match="256"):
        gguf_blocks.q4_k(torch.zeros(2, 128))


def test_row_bytes():
    assert gguf_blocks.row_bytes(512, Type.Q4_K) == 288
    with pytest.raises(ValueError, match="whole number of Q8_0 blocks"):
        gguf_blocks.row_bytes(48, Type.Q8_0)


# ---- tokenizers -----------------------------------------------------------------------------------------------------

SPLITS = {
    "gpt-2": [{"type": "ByteLevel", "use_regex": True}],
    "smollm": [{"type": "Digits", "individual_digits": True}, {"type": "ByteLevel", "use_regex": True}],
    "default": [{"type": "Digits", "individual_digits": False}, {"type": "ByteLevel", "use_regex": True}],
}


@pytest.mark.parametrize("name", SPLITS)
def test_how_text_is_split(name):
    found, notes = gguf_tokenizer.split_name(SPLITS[name])
    assert found == name
    assert bool(notes) == (name == "default")


@pytest.mark.parametrize("name", ["llama-bpe", "qwen2", "tekken", "gpt-4o"])
def test_how_text_is_split_by_pattern(name):
    from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS as known

    steps = [{"type": "Split", "pattern": {"Regex": known[name]}}, {"type": "ByteLevel", "use_regex": False}]
    assert gguf_tokenizer.split_name(steps) == (name, [])
    assert gguf_tokenizer.split_name([{"type": "Split", "pattern": {"Regex": r"\w+|\W+"}}, steps[1]])[0] == "default"


def sentencepiece(folder, size=300):
    """A Llama-2-like tokenizer: BPE over pieces with a sign for the space, with bytes to fall back on."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tok = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    # learnt word by word, used on the whole text, as SentencePiece does it
    tok.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tok.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    specials = ["<unk>", "<s>", "</s>"]
    trainer = trainers.BpeTrainer(vocab_size=size - 256, special_tokens=specials, show_progress=False)
    tok.train_from_iterator([PROSE], trainer)
    described = json.loads(tok.to_str())
    learnt = [t for t, _ in sorted(described["model"]["vocab"].items(), key=lambda item: item[1]) if t not in specials]
    merged = ["".join(m) for m in described["model"]["merges"]]
    pieces = specials + [f"<0x{b:02X}>" for b in range(256)] + merged + [t for t in learnt if t not in merged]
    described["model"]["vocab"] = {t: i for i, t in enumerate(pieces)}
    described["pre_tokenizer"] = None
    tok = Tokenizer.from_str(json.dumps(described))
    tok.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tok.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in specials])
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(folder)
    return fast


@pytest.fixture
def spm_llama(tmp_path):
    folder = make_pico(tmp_path / "spm")
    for path in folder.glob("tokenizer*"):
        path.unlink()
    tokenizer = sentencepiece(folder)
    config = json.loads((folder / "config.json").read_text())
    assert len(tokenizer) <= config["vocab_size"]
    return folder


def test_sentencepiece(spm_llama, tmp_path, run):
    report = export(spm_llama, tmp_path / "out", run, kind="f32")
    assert report["tokenizer"] == "llama default"
    fields = read_header(tmp_path / "out" / report["file"]).fields
    types, tokens, scores = (fields[f"tokenizer.ggml.{n}"] for n in ("token_type", "tokens", "scores"))
    assert types[0] == TokenType.UNKNOWN
    assert types[1] == types[2] == TokenType.CONTROL
    assert set(types[3:259]) == {int(TokenType.BYTE)}
    assert len(tokens) == len(scores) == 300
    assert [types[i] for i, t in enumerate(tokens) if t.startswith("[PAD")] == [TokenType.UNUSED] * sum(
        t.startswith("[PAD") for t in tokens
    )
    assert fields["tokenizer.ggml.add_space_prefix"]
    assert not fields["tokenizer.ggml.add_bos_token"]
    text = "the quick brown fox told a story of the cold sea é"
    mine = load(spm_llama).tokenizer(text, add_special_tokens=False)["input_ids"]
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "out", gguf_file=report["file"])
    assert theirs(text, add_special_tokens=False)["input_ids"] == mine


def piece(text, score, kind=None):
    raw = text.encode()
    body = b"\x0a" + bytes([len(raw)]) + raw + b"\x15" + struct.pack("<f", score) + (b"\x18" + bytes([kind]) if kind else b"")
    return b"\x0a" + bytes([len(body)]) + body


def test_scores_of_a_sentencepiece_model(tmp_path):
    path = tmp_path / "tokenizer.model"
    trainer = b"\x12\x03\x0a\x01x"  # field 2, of the trainer: passed over
    path.write_bytes(piece("<unk>", 0.0, 2) + piece("▁t", -1.5) + piece("he", -2.25) + trainer)
    assert gguf_tokenizer.read_scores(path, {0: "<unk>", 1: "▁t", 2: "he", 3: "<added>"}) == {0: 0.0, 1: -1.5, 2: -2.25}
    for damaged in (b"", b"\x0a\x7f\x00", b"\x0b\x01"):
        path.write_bytes(damaged)
        with pytest.raises(UserError, match=r"tokenizer.model is damaged"):
            gguf_tokenizer.read_scores(path, {0: "a"})


def test_scores_from_merges():
    scores = gguf_tokenizer.merge_scores({0: "a", 1: "b", 2: "ab", 3: "abb"}, [("a", "b"), ("ab", "b")])
    assert scores[2] > scores[3] > scores[0] == scores[1]


def test_no_tokenizer_is_said(narrow, copy_of, tmp_path, run, unread):
    folder = copy_of(narrow)
    for path in folder.glob("tokenizer*"):
        path.unlink()
    report = export(folder, tmp_path / "out", run)
    assert report["tokenizer"] == "none"
    assert "llama.cpp can only be given token numbers" in report["notes"][-1]


# ---- refusals, and what's left of them ------------------------------------------------------------------------------


def refused(source, tmp_path, run, match, **settings):
    with pytest.raises(UserError, match=match) as caught:
        export(source, tmp_path / "out", run, **settings)
    assert caught.value.hint
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".partial*"))
    return caught.value


def test_the_window_knows_which_kinds_can_be_exported():
    assert tuple(gguf.ARCHITECTURES) == GGUF_MODELS


def test_other_kinds_of_model(pico_gpt2, pico_bert, tmp_path, run):
    assert "llama" in refused(pico_gpt2, tmp_path, run, "of the kind gpt2").hint
    refused(pico_bert, tmp_path, run, "of the kind bert")


@pytest.mark.parametrize(
    ("kind", "changes", "what"),
    [
        ("llama", {"hidden_act": "gelu"}, "its activation function built in otherwise .gelu"),
        ("llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0}}, "rotary positions are scaled"),
        ("gemma2", {"query_pre_attn_scalar": 48}, "the scale of its attention"),
        ("gemma2", {"layer_types": ["full_attention"] * 3}, "which of its layers attend to a window"),
    ],
)
def test_what_llama_cpp_would_compute_otherwise(tmp_path, run, edit, kind, changes, what):
    source = make_other(tmp_path / "source", kind)
    edit(source, **changes)
    refused(source, tmp_path, run, what)


def test_rows_in_the_wrong_order_are_caught(narrow, tmp_path, run, monkeypatch):
    """The trap of every converter of Llamas: rotary rows left as they are read back as other rows."""
    monkeypatch.setattr(gguf, "_permuted", lambda rows, heads, back=False: rows)
    refused(narrow, tmp_path, run, "reads other numbers from the file than were written", kind="f32")


def test_permuted_there_and_back():
    rows = np.arange(24.0).reshape(24, 1)
    there = gguf._permuted(rows, 2)
    assert there[:4, 0].tolist() == [0, 6, 1, 7]  # pairs of the first head side by side
    assert np.array_equal(gguf._permuted(there, 2, back=True), rows)


def test_a_reader_that_fails_is_told_of(narrow, tmp_path, run, monkeypatch):
    monkeypatch.setitem(gguf.ARCHITECTURES, "llama", dataclasses.replace(gguf.ARCHITECTURES["llama"], name="lama"))
    error = refused(narrow, tmp_path, run, "Plain transformers can't read the file that was written: ValueError", kind="f32")
    assert error.kind == "check"
    assert "lama" in error.detail


def test_a_header_that_isn_t_what_was_meant(narrow, tmp_path, run, monkeypatch, unread):
    monkeypatch.setattr(gguf.GGUFWriter, "add_block_count", lambda *_: None)
    assert refused(narrow, tmp_path, run, "isn't what was meant: block_count differs").kind == "check"


def test_cancelled(narrow, tmp_path):
    with pytest.raises(Cancelled):
        export(narrow, tmp_path / "out", Recorder(cancel_at="Writing"), kind="f32")
    assert list(tmp_path.iterdir()) == []


def test_an_earlier_export_is_replaced_only_when_asked(narrow, tmp_path, run, unread):
    export(narrow, tmp_path / "out", run)
    with pytest.raises(UserError, match="holds an earlier export"):
        export(narrow, tmp_path / "out", run)
    report = export(narrow, tmp_path / "out", run, kind="q4_0", overwrite=True)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["export_report.json", report["file"]]
    assert json.loads((tmp_path / "out" / "export_report.json").read_text())["file"] == report["file"]
    with pytest.raises(ValueError, match="q3_k"):
        export(narrow, tmp_path / "out", run, kind="q3_k")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "x").write_text("x")
    with pytest.raises(UserError, match="isn't empty"):
        export(narrow, tmp_path / "mine", run)


def test_as_a_job(narrow, tmp_path, run, unread):
    """The worker's task: the file is called what the variant is, and its figures are the variant's measurements."""
    workspace = Workspace(tmp_path / "w", create=True)
    variant = make_variant("Narrow one")
    with workspace.staging(variant.id) as staged:
        bring(narrow, staged, run)
        workspace.commit(staged, variant)
    spec = ExportSpec(workspace=str(workspace.folder), variant=variant.id, to=str(tmp_path / "out"), format="gguf", gguf_type="q4_0")
    result = tasks.export(Job(id="j", title="", spec=spec), run)
    assert result["report"]["file"] == "Narrow-one-q4_0.gguf"
    found = {m.kind: m for m in workspace.measurements(variant.id)}
    assert set(found) == {"gguf_max_abs", "gguf_top1", "gguf_kl", "gguf_bytes"}
    assert found["gguf_bytes"].value == (tmp_path / "out" / "Narrow-one-q4_0.gguf").stat().st_size
    assert found["gguf_kl"].conditions["type"] == "q4_0"


def test_the_command_line_has_it():
    from click.testing import CliRunner

    from core.cli.commands import cli

    told = CliRunner().invoke(cli, ["export-gguf", "--help"]).output
    assert "q4_k" in told
    assert "llama.cpp" in told


# ---- the real model -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smollm(shelf, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shelf") / "smollm"
    folder.mkdir()
    bring(shelf / "smollm2-135m.gguf", folder, Run())
    return folder


@pytest.mark.shelf
@pytest.mark.parametrize(("kind", "most"), [("q8_0", 0.005), ("q4_k", 0.35), ("q4_0", 0.45)])
def test_smollm(smollm, tmp_path, run, kind, most):
    """Exported, read back by plain transformers, and scored beside its source (2,048 held-out tokens, context 512)."""
    import resources
    from core.data import text as texts
    from core.evaluate import perplexity

    report = export(smollm, tmp_path / "out", run, kind=kind)
    assert report["reread"] < 1e-3
    assert all(check["passed"] for check in report["checks"])
    source = load(smollm)
    ids = texts.token_ids(texts.read_text(resources.HELDOUT_TEXT), source.tokenizer, 2048)
    made = perplexity.score(reread(tmp_path / "out", report), ids, context=512, run=run, reference=source.model)
    found = {m.kind: m.value for m in made}
    plain = {m.kind: m.value for m in perplexity.score(source.model, ids, context=512, run=run)}["perplexity"]
    print(f"\n{kind}: {report['bytes'] / 1e6:.1f} MB, perplexity {found['perplexity']:.2f} (source {plain:.2f}), KL {found['kl']:.4f}, "
          f"agreement {found['agreement']:.3f}; {report['seconds']['total']:.0f} s; {report['types']}; {report['notes']}")  # fmt: skip
    assert found["kl"] < most
