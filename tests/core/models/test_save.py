"""Saving: what's in the folder, what isn't, and that a plain process finds the same model in it."""

import json

import pytest
import torch

from core.errors import UserError
from core.models import save as saving
from core.models import tensors
from core.models.blocks import linears
from core.models.load import load
from core.models.save import fingerprint, save
from core.models.size import ledger
from tests.core.models.conftest import Recorder, quantized, weights

IDS = torch.arange(1, 33)[None]


@pytest.mark.parametrize("fixture", ["pico_llama", "pico_bf16", "pico_untied", "pico_gpt2", "pico_bert"])
def test_saving_nothing_changed_gives_the_same_bits(fixture, request, tmp_path, run, verifier):
    source = request.getfixturevalue(fixture)
    loaded = load(source)
    save(loaded.model, tmp_path, source, run=run)
    assert fingerprint(tmp_path) == fingerprint(source)
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {p.name for p in source.iterdir()}
    assert verifier.check(tmp_path, loaded.model, run) == 0.0
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["dtype"] == json.loads((source / "config.json").read_text())["dtype"]
    assert str(source) not in (tmp_path / "config.json").read_text()


@pytest.mark.parametrize("source", ["pico_llama", "pico_bf16"])
@pytest.mark.parametrize(
    ("bits", "group", "symmetric"),
    [
        (8, None, True),
        (8, None, False),
        (8, 16, True),
        (4, 16, True),
        (4, 16, False),
        (4, None, True),
        (3, 16, False),
        (2, 32, True),
        (6, 8, True),
    ],
)
def test_packed_reloads_to_the_same_logits(source, bits, group, symmetric, request, packed_llama, run, verifier):
    folder, model = packed_llama(bits, group, symmetric, request.getfixturevalue(source))
    assert verifier.check(folder, model, run) == 0.0
    stored = weights(folder)
    assert "lm_head.weight" not in stored  # tied: stored once, and not packed
    assert stored["model.embed_tokens.weight"].dtype == (torch.bfloat16 if source == "pico_bf16" else torch.float32)
    assert ("model.layers.0.mlp.up_proj.weight_packed" in stored) == (bits < 8)


def test_packed_in_bfloat16_is_the_same_there_too(packed_llama, pico_bf16):
    """Plain transformers loads in the config's dtype unless told otherwise."""
    from transformers import AutoModelForCausalLM

    for symmetric in (True, False):
        folder, _ = packed_llama(4, 16, symmetric, pico_bf16)
        plain = AutoModelForCausalLM.from_pretrained(folder)
        assert plain.dtype == torch.bfloat16
        with torch.no_grad():
            assert torch.equal(plain(input_ids=IDS).logits, load(folder, dtype="bfloat16").model(input_ids=IDS).logits)


def test_grids_of_several_kinds(pico_untied, tmp_path, run, verifier):
    from core.models.blocks import replace
    from core.models.packed import PackedLinear, quantize

    model = load(pico_untied).model
    for index, (name, layer) in enumerate(linears(model, head=True)):
        if index % 4 == 3:
            continue  # stays dense
        bits, group = [(8, None), (4, 16), (3, 8)][index % 4]
        replace(model, name, PackedLinear.from_linear(layer, quantize(layer.weight, bits, group)))
    save(model, tmp_path, pico_untied, run=run)
    assert verifier.check(tmp_path, model, run) == 0.0
    settings = json.loads((tmp_path / "config.json").read_text())["quantization_config"]
    assert len(settings["config_groups"]) == 3
    assert settings["ignore"]
    again = load(tmp_path, packed=True).model
    with torch.no_grad():
        assert torch.equal(again(input_ids=IDS).logits, model(input_ids=IDS).logits)


def test_a_packed_variant_can_be_saved_again(packed_llama, tmp_path, run):
    folder, _ = packed_llama(4, 16)
    again = load(folder, packed=True)
    to = tmp_path / "again"
    to.mkdir()
    save(again.model, to, folder, run=run)
    assert fingerprint(to) == fingerprint(folder)


def test_dense_again_after_packed(packed_llama, tmp_path, run, verifier):
    folder, _ = packed_llama(8, None)
    dense = load(folder)
    to = tmp_path / "dense"
    to.mkdir()
    save(dense.model, to, folder, run=run)
    assert "quantization_config" not in json.loads((to / "config.json").read_text())
    assert verifier.check(to, dense.model, run) == 0.0


def test_memory_holds_what_was_saved(pico_bf16, tmp_path, run, verifier):
    """Trained in float32, stored in bfloat16: the model in memory is rounded too, so that what's measured is what's kept."""
    loaded = load(pico_bf16, train=True)
    with torch.no_grad():
        for parameter in loaded.model.parameters():
            parameter.add_(1e-4 * torch.randn_like(parameter))
    save(loaded.model, tmp_path, pico_bf16, run=run)
    assert weights(tmp_path)["model.norm.weight"].dtype == torch.bfloat16
    assert verifier.check(tmp_path, loaded.model, run) == 0.0


def test_dtype_asked_for(pico_bf16, tmp_path, run, verifier):
    loaded = load(pico_bf16)
    save(loaded.model, tmp_path, pico_bf16, run=run, dtype=torch.float32)
    assert {t.dtype for t in weights(tmp_path).values()} == {torch.float32}
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == "float32"
    assert verifier.check(tmp_path, loaded.model, run) == 0.0


def test_real_shapes_reach_the_config(pico_llama, tmp_path, run, verifier):
    """A layer taken out: the config has to say so, and indices have to be counted anew."""
    loaded = load(pico_llama)
    del loaded.model.model.layers[0]
    loaded.model.model.layers[0].self_attn.layer_idx = 0
    loaded.model.config.num_hidden_layers = 1
    save(loaded.model, tmp_path, pico_llama, run=run)
    assert json.loads((tmp_path / "config.json").read_text())["num_hidden_layers"] == 1
    assert verifier.check(tmp_path, loaded.model, run) == 0.0


def test_zeros_stay_dense_and_masks_and_gradients_stay_out(pico_llama, tmp_path, run):
    loaded = load(pico_llama, train=True)
    loaded.model(input_ids=IDS).logits.sum().backward()
    with torch.no_grad():
        for _, layer in linears(loaded.model):
            layer.register_buffer("mask", torch.ones_like(layer.weight), persistent=False)
            layer.weight[:, ::2] = 0
    save(loaded.model, tmp_path, pico_llama, run=run)
    assert set(weights(tmp_path)) == set(weights(pico_llama))
    assert (tmp_path / "model.safetensors").stat().st_size == (pico_llama / "model.safetensors").stat().st_size
    made = ledger(tmp_path)
    assert made.nonzero < made.parameters
    assert made.effective_bits == 32


def test_large_models_are_cut_into_shards(pico_untied, tmp_path, run, monkeypatch, verifier):
    monkeypatch.setattr(saving, "SHARD", 40_000)
    loaded = load(pico_untied)
    save(loaded.model, tmp_path, pico_untied, run=run)
    files = tensors.weight_files(tmp_path)
    assert len(files) > 2
    assert all(p.stat().st_size < 42_000 for p in files)
    assert fingerprint(tmp_path) == fingerprint(pico_untied)
    assert verifier.check(tmp_path, loaded.model, run) == 0.0


def test_chat_template_and_generation_config_come_along(pico_llama, copy_of, tmp_path, run):
    source = copy_of(pico_llama)
    (source / "chat_template.jinja").write_text("{{ messages }}")
    (source / "generation_config.json").write_text('{"eos_token_id": 0, "temperature": 0.7, "do_sample": true}')
    (source / "training_args.bin").write_bytes(b"pickle")
    (source / "README.md").write_text("card")
    to = tmp_path / "to"
    to.mkdir()
    save(load(source).model, to, source, run=run)
    assert (to / "chat_template.jinja").read_text() == "{{ messages }}"
    assert json.loads((to / "generation_config.json").read_text())["temperature"] == 0.7
    assert not (to / "training_args.bin").exists()


def test_nan_isn_t_saved(pico_llama, tmp_path, run):
    loaded = load(pico_llama)
    with torch.no_grad():
        loaded.model.model.layers[1].mlp.up_proj.weight[3, 3] = float("nan")
    with pytest.raises(UserError, match=r"layers.1.mlp.up_proj.weight holds values that aren't finite"):
        save(loaded.model, tmp_path, pico_llama, run=run)
    assert not list(tmp_path.iterdir())


def test_values_too_large_for_the_stored_precision(pico_llama, tmp_path, run):
    loaded = load(pico_llama)
    with torch.no_grad():
        loaded.model.model.norm.weight[0] = 1e6
    with pytest.raises(UserError, match="too large for float16"):
        save(loaded.model, tmp_path, pico_llama, run=run, dtype=torch.float16)


def test_tied_output_layer_can_t_be_packed(pico_llama, tmp_path, run):
    """It would add a full output layer to the file beside the embedding that it was tied to."""
    from core.models.packed import PackedLinear, quantize

    model = load(pico_llama).model
    model.lm_head = PackedLinear.from_linear(model.lm_head, quantize(model.lm_head.weight, 8))
    with pytest.raises(UserError, match="tied to the embedding"):
        save(model, tmp_path, pico_llama, run=run)


def test_no_room(pico_llama, tmp_path, run, monkeypatch):
    monkeypatch.setattr(saving.shutil, "disk_usage", lambda _: type("U", (), {"free": 1_000_000}))
    with pytest.raises(UserError, match="1 MB free, and 21 MB are needed") as caught:
        save(load(pico_llama).model, tmp_path, pico_llama, run=run)
    assert caught.value.kind == "disk"


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), RuntimeError("I/O error: No space left on device (os error 28)")]
)
def test_disk_that_fills_up_while_saving(pico_llama, tmp_path, run, monkeypatch, error):
    def full(*_, **__):
        raise error

    monkeypatch.setattr(saving, "save_file", full)
    with pytest.raises(UserError, match="disk is full"):
        save(load(pico_llama).model, tmp_path, pico_llama, run=run)


def test_fingerprint_tells_one_bit(pico_llama, tmp_path, run, copy_of):
    loaded = load(pico_llama)
    with torch.no_grad():
        loaded.model.model.norm.weight[0] += 1e-6
    save(loaded.model, tmp_path, pico_llama, run=run)
    assert fingerprint(tmp_path) != fingerprint(pico_llama)


def test_encoder_packed(pico_bert, tmp_path, run, verifier):
    loaded = load(pico_bert)
    quantized(loaded.model, 8, None, True, torch.float32)
    save(loaded.model, tmp_path, pico_bert, run=run)
    assert verifier.check(tmp_path, loaded.model, run) == 0.0


def test_progress(pico_llama, tmp_path):
    run = Recorder()
    save(load(pico_llama).model, tmp_path, pico_llama, run=run)
    assert "Saving" in run.stages
