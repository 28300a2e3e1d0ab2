"""Loading: strictly, from dense and from packed folders, and every refusal."""

import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.errors import UserError
from core.models.blocks import linears
from core.models.load import load, storage_dtype, stored_dtype
from core.models.packed import PackedLinear

IDS = torch.arange(1, 33)[None]


def test_dense(pico_llama):
    loaded = load(pico_llama)
    assert loaded.device == "cpu"
    assert loaded.dtype == torch.float32
    assert not loaded.model.training
    assert not any(p.requires_grad for p in loaded.model.parameters())
    assert loaded.model.config._attn_implementation == "sdpa"
    assert loaded.model.lm_head.weight is loaded.model.model.embed_tokens.weight
    assert loaded.tokenizer.eos_token == "<|end|>"
    assert loaded.info.parameters == sum(p.numel() for p in loaded.model.parameters())


def test_dtype_and_train(pico_bf16):
    assert load(pico_bf16).model.dtype == torch.float32
    loaded = load(pico_bf16, dtype="bfloat16", train=True)
    assert loaded.model.dtype == torch.bfloat16
    assert all(p.requires_grad for p in loaded.model.parameters())
    assert not loaded.model.training
    assert stored_dtype(loaded.info) == "BF16"
    assert storage_dtype(loaded.info) == torch.bfloat16


@pytest.mark.gpu
def test_on_the_gpu(pico_bf16):
    loaded = load(pico_bf16, device="cuda:0")
    assert loaded.model.device.type == "cuda"
    assert loaded.dtype == torch.bfloat16  # as it's stored


@pytest.mark.parametrize("fixture", ["pico_gpt2", "pico_bert", "pico_untied"])
def test_other_architectures(fixture, request):
    folder = request.getfixturevalue(fixture)
    loaded = load(folder)
    assert loaded.info.parameters == sum(p.numel() for p in loaded.model.parameters())


def test_without_a_tokenizer(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    for path in folder.glob("tokenizer*"):
        path.unlink()
    assert load(folder).tokenizer is None


def rewrite(folder, change):
    state = load_file(folder / "model.safetensors")
    change(state)
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda s: s.pop("model.layers.1.mlp.up_proj.weight"), "1 weights that LlamaForCausalLM needs are missing"),
        (
            lambda s: s.update({"model.extra.weight": torch.ones(2)}),
            "hold 1 weights that LlamaForCausalLM doesn't have, model.extra.weight",
        ),
        (
            lambda s: s.update({"model.norm.weight": torch.ones(5)}),
            "1 weights don't have the shape that config.json says, model.norm.weight among them",
        ),
    ],
)
def test_files_must_fit_the_architecture(pico_llama, copy_of, change, sentence):
    folder = copy_of(pico_llama)
    rewrite(folder, change)
    with pytest.raises(UserError, match=sentence) as caught:
        load(folder)
    assert caught.value.kind == "model"


def test_fewer_layers_in_the_config_than_in_the_files(pico_llama, copy_of, edit):
    folder = copy_of(pico_llama)
    edit(folder, num_hidden_layers=1)
    with pytest.raises(UserError, match="doesn't have"):
        load(folder)


def test_unknown_class(pico_llama, copy_of, edit):
    folder = copy_of(pico_llama)
    edit(folder, architectures=["LamaForCausalLM"])
    with pytest.raises(UserError, match="no model class LamaForCausalLM"):
        load(folder)


def test_damaged_tokenizer(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    (folder / "tokenizer.json").write_text("{]")
    with pytest.raises(UserError, match=r"tokenizer in .* can't be read"):
        load(folder)


def test_own_code_isn_t_run_unasked(pico_llama, copy_of, edit):
    folder = copy_of(pico_llama)
    witness = folder / "ran"
    (folder / "modeling_own.py").write_text(
        f"open({str(witness)!r}, 'w').close()\nfrom transformers import LlamaForCausalLM\nclass Own(LlamaForCausalLM):\n    pass\n"
    )
    edit(folder, auto_map={"AutoModelForCausalLM": "modeling_own.Own"}, architectures=["OwnForCausalLM"])
    with pytest.raises(UserError, match="needs code of its own"):
        load(folder)
    assert not witness.exists()
    loaded = load(folder, remote_code=True)
    assert witness.exists()
    assert type(loaded.model).__name__ == "Own"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"quant_method": "gptq", "bits": 4}, "doesn't read .gptq"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "doesn't read"),
        (
            {
                "quant_method": "compressed-tensors",
                "format": "float-quantized",
                "config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "strategy": "channel"}}},
            },
            "doesn't read .compressed-tensors float-quantized",
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "format": "int-quantized",
                "config_groups": {
                    "g": {
                        "targets": ["Linear"],
                        "weights": {"num_bits": 8, "type": "int", "strategy": "channel"},
                        "input_activations": {"num_bits": 8, "dynamic": True},
                    }
                },
            },
            "quantizes its activations in a way",
        ),
    ],
)
def test_quantized_formats_that_aren_t_read(pico_llama, copy_of, edit, settings, sentence):
    folder = copy_of(pico_llama)
    edit(folder, quantization_config=settings)
    with pytest.raises(UserError, match=sentence):
        load(folder)


def test_out_of_memory_has_its_sentence(pico_llama, monkeypatch):
    def no_room(*_, **__):
        raise MemoryError

    monkeypatch.setattr("core.models.load._read", no_room)
    with pytest.raises(UserError, match="wasn't enough memory") as caught:
        load(pico_llama)
    assert caught.value.kind == "memory"


def test_packed_folder_comes_dense_or_packed(packed_llama):
    folder, model = packed_llama(4, 16)
    dense, kept = load(folder), load(folder, packed=True)
    assert not any(isinstance(m, PackedLinear) for m in dense.model.modules())
    assert all(isinstance(m, PackedLinear) for _, m in linears(kept.model))
    assert not hasattr(dense.model.config, "quantization_config")
    with torch.no_grad():
        want = model(input_ids=IDS).logits
        assert torch.equal(dense.model(input_ids=IDS).logits, want)
        assert torch.equal(kept.model(input_ids=IDS).logits, want)
    assert dense.info.quantization == "int4 g16 (compressed-tensors)"


def test_sharded(pico_llama, copy_of, sharded):
    folder = sharded(copy_of(pico_llama))
    with torch.no_grad():
        assert torch.equal(load(folder).model(input_ids=IDS).logits, load(pico_llama).model(input_ids=IDS).logits)
    shutil.rmtree(folder)
