"""Inspection: what's said of good sources, and the sentence for every bad one."""

import json
import struct
import time

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.errors import UserError
from core.models.inspect import inspect, task_of, tokens_hash
from core.models.load import load
from tests.core.models.conftest import write_gguf


def test_llama(pico_llama):
    info = inspect(pico_llama)
    assert info.kind == "folder"
    assert info.architecture == "LlamaForCausalLM"
    assert info.task == "causal-lm"
    assert info.parameters == 28_192
    assert sum(info.components.values()) == info.parameters
    assert info.components == {"embedding": 9_600, "attention": 6_144, "mlp": 12_288, "norm": 160}
    assert info.dtypes == {"F32": 28_192}
    assert info.tied
    assert info.tokenizer
    assert not info.chat_template
    assert (info.layers, info.hidden, info.intermediate, info.heads, info.kv_heads, info.head_dim) == (2, 32, 64, 4, 2, 8)
    assert (info.vocabulary, info.context) == (300, 256)
    assert info.memory_needed == 4 * 28_192
    assert info.memory_free > 0
    assert info.bytes_on_disk == sum(p.stat().st_size for p in pico_llama.iterdir())
    assert info.tokens_hash == tokens_hash(pico_llama)
    assert info.warnings == ()
    assert not info.remote_code


@pytest.mark.parametrize(
    ("fixture", "architecture", "task", "tied"),
    [
        ("pico_gpt2", "GPT2LMHeadModel", "causal-lm", True),
        ("pico_bert", "BertModel", "encoder", None),
        ("pico_untied", "LlamaForCausalLM", "causal-lm", False),
    ],
)
def test_others(fixture, architecture, task, tied, request):
    info = inspect(request.getfixturevalue(fixture))
    assert (info.architecture, info.task, info.tied) == (architecture, task, tied)
    assert (info.layers, info.hidden, info.heads, info.head_dim) == (2, 32, 4, 8)
    assert info.parameters == sum(info.components.values())


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("BertForSequenceClassification", "classifier"),
        ("BertForMaskedLM", "encoder"),
        ("GPT2LMHeadModel", "causal-lm"),
        ("T5ForConditionalGeneration", "unknown"),
        ("", "unknown"),
    ],
)
def test_task(name, task):
    assert task_of(name) == task


def test_packed(packed_llama):
    folder, _ = packed_llama(4, 16, False)
    info = inspect(folder)
    assert info.parameters == 28_192
    assert info.dtypes == {"F32": 9_760, "int4 packed": 18_432}
    assert info.quantization == "int4 g16 asym (compressed-tensors)"


def test_sharded(pico_llama, copy_of, sharded):
    folder = sharded(copy_of(pico_llama))
    assert inspect(folder).parameters == 28_192
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(UserError, match="1 of the 2 weight files are missing"):
        inspect(folder)


def test_index_and_files_disagree(pico_llama, copy_of, sharded):
    folder = sharded(copy_of(pico_llama))
    path = folder / "model-00002-of-00002.safetensors"
    state = load_file(path)
    state.pop(sorted(state)[0])
    save_file(state, path)
    with pytest.raises(UserError, match="lists 1 tensors that no file holds"):
        inspect(folder)
    (folder / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../../secret.safetensors"}}')
    with pytest.raises(UserError, match="isn't an index"):
        inspect(folder)


def test_tied_copy_is_counted_once_and_said(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    state = load_file(folder / "model.safetensors")
    state["lm_head.weight"] = state["model.embed_tokens.weight"].clone()
    save_file(state, folder / "model.safetensors")
    info = inspect(folder)
    assert info.parameters == 28_192
    assert "stores it twice" in " ".join(info.warnings)


def test_no_tokenizer_is_a_warning(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    for path in folder.glob("tokenizer*"):
        path.unlink()
    info = inspect(folder)
    assert not info.tokenizer
    assert info.tokens_hash == ""
    assert any("no tokenizer" in w for w in info.warnings)


def test_tokenizer_larger_than_the_embedding(pico_llama, copy_of, edit):
    folder = copy_of(pico_llama)
    edit(folder, vocab_size=100)
    assert any("more tokens than the embedding" in w for w in inspect(folder).warnings)


def test_chat_template_in_either_place(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"chat_template": "x"}))
    assert inspect(folder).chat_template
    folder = copy_of(pico_llama, "other")
    (folder / "chat_template.jinja").write_text("x")
    assert inspect(folder).chat_template


def test_tokens_hash_is_over_strings_not_sizes(pico_llama, pico_draft, copy_of):
    assert tokens_hash(pico_llama) == tokens_hash(pico_draft)
    folder = copy_of(pico_llama)
    path = folder / "tokenizer.json"
    described = json.loads(path.read_text())
    vocabulary = described["model"]["vocab"]
    a, b = [t for t, i in vocabulary.items() if i in (50, 51)]
    vocabulary[a], vocabulary[b] = vocabulary[b], vocabulary[a]
    path.write_text(json.dumps(described))
    assert tokens_hash(folder) != tokens_hash(pico_llama)


def test_own_code_is_said(pico_llama, copy_of, edit):
    folder = copy_of(pico_llama)
    edit(folder, auto_map={"AutoModelForCausalLM": "own.Own"}, model_type="own")
    info = inspect(folder)
    assert info.remote_code
    assert any("its own code" in w for w in info.warnings)


# ---- bad sources ------------------------------------------------------------------------------------------------


def refused(source, match: str) -> UserError:
    with pytest.raises(UserError, match=match) as caught:
        inspect(source)
    assert caught.value.sentence.endswith(".")
    assert caught.value.hint
    return caught.value


def test_nothing_there(tmp_path):
    refused(tmp_path / "nothing", "doesn't exist")
    refused("./no/such/folder", "doesn't exist")


def test_folders_that_are_no_model(tmp_path):
    refused(tmp_path, "is empty")
    (tmp_path / "a.txt").write_text("x")
    refused(tmp_path, "has no config.json")
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.json").write_text("{}")
    refused(tmp_path, "its folder m does")
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    assert "m.gguf" in refused(tmp_path, "a folder with GGUF files").hint


def test_config_without_weights(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    (folder / "model.safetensors").unlink()
    refused(folder, "config.json but no weights")
    (folder / "other.safetensors").write_bytes(b"")
    refused(folder, "no model.safetensors")
    (folder / "other.safetensors").unlink()
    (folder / "tf_model.h5").write_bytes(b"")
    refused(folder, "doesn't open .tf_model.h5")
    (folder / "pytorch_model.bin").write_bytes(b"")
    refused(folder, "pickled .pytorch_model.bin")


def test_config_that_is_none(pico_llama, copy_of, edit):
    folder = copy_of(pico_llama)
    edit(folder, model_type="lama")
    refused(folder, "doesn't know the model type 'lama'")
    edit(folder, model_type="llama", num_attention_heads="many")
    refused(folder, "doesn't make a valid llama model")
    (folder / "config.json").write_text("{")
    refused(folder, "isn't valid JSON")
    (folder / "config.json").write_text("[]")
    refused(folder, "doesn't hold a JSON object")


def test_lfs_pointer(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n")
    assert "git lfs pull" in refused(folder, "only a Git LFS pointer").hint


@pytest.mark.parametrize("keep", [0, 5, 100, 3000, -1, -50_000])
def test_truncated(pico_llama, copy_of, keep):
    folder = copy_of(pico_llama)
    path = folder / "model.safetensors"
    raw = path.read_bytes()
    path.write_bytes(raw[:keep] if keep >= 0 else raw[: len(raw) + keep])
    refused(folder, "is cut short")


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack("<Q", 1 << 60) + b"{}",
        struct.pack("<Q", 4) + b"{\xff\xfe}" + bytes(8),
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 12) + b'{"a": "text"',
        struct.pack("<Q", 57) + b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}   ' + bytes(8),
        struct.pack("<Q", 57) + b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}}   ' + bytes(8),
    ],
)
def test_corrupt(pico_llama, copy_of, raw):
    folder = copy_of(pico_llama)
    (folder / "model.safetensors").write_bytes(raw)
    refused(folder, "is damaged")


def test_one_file_of_a_model(pico_llama):
    refused(pico_llama / "model.safetensors", "its folder is what can be opened")
    refused(pico_llama / "config.json", "its folder is what can be opened")


def test_unreadable(pico_llama, copy_of, monkeypatch):
    folder = copy_of(pico_llama)
    monkeypatch.setattr("pathlib.Path.iterdir", lambda self: (_ for _ in ()).throw(PermissionError(13, "denied", str(self))))
    refused(folder, "no permission")


# ---- GGUF -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def pico_gguf(tmp_path_factory, pico_llama):
    return write_gguf(pico_llama, tmp_path_factory.mktemp("gguf") / "pico-q8.gguf", "Q8_0")


def test_gguf(pico_gguf, pico_llama):
    info, folder = inspect(pico_gguf), inspect(pico_llama)
    assert info.kind == "gguf"
    assert info.name == "pico-q8"
    assert info.quantization == "Q8_0 (GGUF)"
    assert info.dtypes == {"Q8_0": 28_032, "F32": 160}
    assert info.chat_template
    for field in (
        "architecture",
        "task",
        "parameters",
        "components",
        "tied",
        "layers",
        "hidden",
        "heads",
        "kv_heads",
        "vocabulary",
        "context",
    ):
        assert getattr(info, field) == getattr(folder, field), field
    assert info.tokens_hash == folder.tokens_hash
    assert info.bytes_on_disk == pico_gguf.stat().st_size


def test_gguf_that_can_t_be_read(pico_gguf, pico_llama, tmp_path):
    raw = pico_gguf.read_bytes()
    bad = tmp_path / "bad.gguf"
    for content, sentence in (
        (b"", "isn't a GGUF file"),
        (b"GGML" + raw[4:], "isn't a GGUF file"),
        (raw[:4] + struct.pack("<I", 1) + raw[8:], "GGUF version 1"),
        (raw[:4] + struct.pack(">I", 3) + raw[8:], "GGUF version"),
        (raw[:40], "cut short"),
        (raw[:4000], "cut short"),
        (raw[:-100], "cut short"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "LFS pointer"),
    ):
        bad.write_bytes(content)
        refused(bad, sentence)
    write_gguf(pico_llama, bad, architecture="clip")
    assert "llama" in refused(bad, "the architecture 'clip'").hint
    write_gguf(pico_llama, bad, architecture="t5")
    refused(bad, "the architecture 't5'")


def test_gguf_without_a_tokenizer(pico_llama, tmp_path):
    info = inspect(write_gguf(pico_llama, tmp_path / "bare.gguf", tokenizer=False))
    assert not info.tokenizer
    assert any("no tokenizer" in w for w in info.warnings)


# ---- real models ------------------------------------------------------------------------------------------------


@pytest.mark.shelf
def test_smollm(shelf):
    begun = time.monotonic()
    info = inspect(shelf / "smollm2-135m.gguf")
    print(f"\nSmolLM2 inspected in {time.monotonic() - begun:.2f} s: {info.model_dump(exclude={'memory_free'})}")
    assert info.parameters == 134_515_008
    assert info.quantization == "Q4_1 (GGUF)"
    assert (info.layers, info.hidden, info.heads, info.kv_heads, info.vocabulary) == (30, 576, 9, 3, 49_152)
    assert info.tied


@pytest.mark.shelf
def test_minilm(shelf):
    begun = time.monotonic()
    info = inspect(shelf / "minilm-l6")
    print(f"\nMiniLM inspected in {time.monotonic() - begun:.2f} s: {info.model_dump(exclude={'memory_free'})}")
    assert info.task == "encoder"
    assert info.parameters == sum(p.numel() for p in load(shelf / "minilm-l6").model.parameters())
    assert torch.get_num_threads() >= 1
