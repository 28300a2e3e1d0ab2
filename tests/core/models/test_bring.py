"""Bringing models in from folders and GGUF files; the Hub has its own file."""

import json
import time

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.errors import Cancelled, UserError
from core.models import bring as bringing
from core.models.bring import bring
from core.models.load import load
from core.models.save import fingerprint
from core.models.size import ledger
from tests.core.models.conftest import Recorder, weights, write_gguf

IDS = torch.arange(1, 33)[None]


@pytest.fixture
def staged(tmp_path):
    folder = tmp_path / "staged"
    folder.mkdir()
    return folder


def logits(folder, **kwargs):
    with torch.no_grad():
        return load(folder, **kwargs).model(input_ids=IDS).logits


@pytest.mark.parametrize("fixture", ["pico_llama", "pico_bf16", "pico_gpt2", "pico_bert"])
def test_folder(fixture, request, staged, run):
    source = request.getfixturevalue(fixture)
    info, notes = bring(source, staged, run)
    assert fingerprint(staged) == fingerprint(source)
    assert info.kind == "variant"
    assert info.name == source.name
    assert notes == []
    assert {"Inspecting", "Copying", "Checking weights", "Checking that it loads"} <= set(run.stages)


def test_only_what_loading_needs_is_copied(pico_llama, copy_of, staged, run):
    source = copy_of(pico_llama)
    for name in (
        "README.md",
        "training_args.bin",
        "optimizer.pt",
        "pytorch_model.bin",
        "model.onnx",
        "notes.py",
        "variant.json",
        "job.log",
    ):
        (source / name).write_text("x")
    (source / "runs").mkdir()
    (source / "chat_template.jinja").write_text("{{ x }}")
    bring(source, staged, run)
    assert {p.name for p in staged.iterdir()} == {p.name for p in pico_llama.iterdir()} | {"chat_template.jinja"}


def test_sharded_folder(pico_llama, copy_of, sharded, staged, run):
    source = sharded(copy_of(pico_llama))
    bring(source, staged, run)
    assert fingerprint(staged) == fingerprint(pico_llama)


def test_packed_folder_stays_packed(packed_llama, staged, run):
    source, _ = packed_llama(4, 16)
    info, notes = bring(source, staged, run, dtype="float32")
    assert fingerprint(staged) == fingerprint(source)
    assert info.quantization == "int4 g16 (compressed-tensors)"
    assert "precision" in notes[0]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_folder_in_another_precision(pico_llama, copy_of, sharded, staged, run, dtype):
    info, notes = bring(sharded(copy_of(pico_llama)), staged, run, dtype=dtype)
    assert {t.dtype for t in weights(staged).values()} == {getattr(torch, dtype)}
    assert json.loads((staged / "config.json").read_text())["dtype"] == dtype
    assert list(info.dtypes) == ["BF16" if dtype == "bfloat16" else "F16"]
    assert dtype in notes[0]
    assert torch.allclose(logits(staged), logits(pico_llama), atol=0.5)


def test_the_source_is_left_as_it_was(pico_llama, copy_of, staged, run):
    source = copy_of(pico_llama)
    before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in source.iterdir()}
    bring(source, staged, run, dtype="bfloat16")
    assert {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in source.iterdir()} == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_aren_t_numbers(pico_llama, copy_of, staged, run, value):
    source = copy_of(pico_llama)
    state = load_file(source / "model.safetensors")
    state["model.layers.1.mlp.down_proj.weight"][7, 13] = value
    save_file(state, source / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"layers.1.mlp.down_proj.weight holds 1 values that aren't finite"):
        bring(source, staged, run)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_finite_finds_one_value_anywhere(dtype):
    """The fast check stands on aminmax passing NaN on, from whichever lane it comes."""
    from core.models.tensors import finite

    assert finite(torch.empty(0, dtype=dtype))
    for at in (0, 1, 15, 16, 31, 500, 1022):
        for bad in (float("nan"), float("inf"), float("-inf")):
            t = torch.randn(1023).to(dtype)
            assert finite(t)
            t[at] = bad
            assert not finite(t)


def test_missing_weights_are_found_before_it_counts(pico_llama, copy_of, staged, run):
    source = copy_of(pico_llama)
    state = load_file(source / "model.safetensors")
    del state["model.layers.1.mlp.down_proj.weight"]
    save_file(state, source / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match="needs are missing"):
        bring(source, staged, run)


def test_too_large_for_float16(pico_llama, copy_of, staged, run):
    source = copy_of(pico_llama)
    state = load_file(source / "model.safetensors")
    state["model.norm.weight"][0] = 1e6
    save_file(state, source / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match="too large for float16"):
        bring(source, staged, run, dtype="float16")


@pytest.mark.parametrize("stage", ["Copying", "Checking weights", "Converting"])
def test_cancel(pico_llama, staged, monkeypatch, stage):
    monkeypatch.setattr(bringing, "BLOCK", 1000)
    with pytest.raises(Cancelled):
        bring(pico_llama, staged, Recorder(cancel_at=stage), dtype="bfloat16")


def test_no_room(pico_llama, staged, run, monkeypatch):
    monkeypatch.setattr("core.models.save.shutil.disk_usage", lambda _: type("U", (), {"free": 10_000_000}))
    with pytest.raises(UserError, match="10 MB free, and 21 MB are needed"):
        bring(pico_llama, staged, run)
    assert not list(staged.iterdir())


def test_disk_fills_up_while_copying(pico_llama, staged, run, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bringing.shutil, "copyfile", full)
    with pytest.raises(UserError, match="disk is full"):
        bring(pico_llama, staged, run)


def test_no_memory(pico_llama, staged, run, monkeypatch):
    monkeypatch.setattr(bringing.psutil, "virtual_memory", lambda: type("M", (), {"available": 1000, "total": 2000}))
    with pytest.raises(UserError, match="of memory, and 0 MB are free") as caught:
        bring(pico_llama, staged, run)
    assert caught.value.kind == "memory"


def test_own_code_isn_t_brought_unasked(pico_llama, copy_of, edit, staged, run):
    source = copy_of(pico_llama)
    edit(source, auto_map={"AutoModelForCausalLM": "modeling_own.Own"})
    with pytest.raises(UserError, match="needs code of its own"):
        bring(source, staged, run)
    (source / "modeling_own.py").write_text("from transformers import LlamaForCausalLM\nclass Own(LlamaForCausalLM):\n    pass\n")
    bring(source, staged, run, remote_code=True)
    assert (staged / "modeling_own.py").exists()


# ---- GGUF -------------------------------------------------------------------------------------------------------


def test_gguf_in_float32_is_the_original(pico_llama, tmp_path, staged, run):
    """Through llama.cpp's layout and back: the same numbers bit for bit, with the rotary rows in their old order."""
    source = write_gguf(pico_llama, tmp_path / "pico.gguf")
    info, notes = bring(source, staged, run, dtype="float32")
    assert torch.equal(logits(staged), logits(pico_llama))
    assert info.parameters == 28_192
    assert info.quantization is None
    assert notes == ["Dequantized from GGUF; stored in float32, so the file grew."]
    assert "quantization_config" not in json.loads((staged / "config.json").read_text())
    assert "lm_head.weight" not in weights(staged)
    assert {"Reading", "Dequantizing", "Saving"} <= set(run.stages)
    tokenizer, original = load(staged).tokenizer, load(pico_llama).tokenizer
    text = "the old sailor told a long story"
    assert tokenizer(text)["input_ids"] == original(text)["input_ids"]
    assert tokenizer.apply_chat_template([{"role": "user", "content": "hello"}], tokenize=False) == "hello"


def test_gguf_is_stored_in_bfloat16(pico_untied, tmp_path, staged, run):
    source = write_gguf(pico_untied, tmp_path / "pico.gguf", "Q8_0")
    info, notes = bring(source, staged, run)
    assert info.dtypes == {"BF16": info.parameters}
    assert not info.tied
    assert notes == ["Dequantized from Q8_0 (GGUF); stored in bfloat16, so the file grew."]
    assert (logits(staged) - logits(pico_untied)).abs().max() < 0.2 * logits(pico_untied).abs().max()


def test_cancel_while_dequantizing(pico_llama, tmp_path, staged):
    from transformers import modeling_gguf_pytorch_utils as loading

    before = loading.tqdm
    source = write_gguf(pico_llama, tmp_path / "pico.gguf")
    with pytest.raises(Cancelled):
        bring(source, staged, Recorder(cancel_at="Dequantizing"))
    assert loading.tqdm is before


def test_gguf_whose_parts_are_missing(pico_llama, copy_of, tmp_path, staged, run):
    folder = copy_of(pico_llama)
    state = load_file(folder / "model.safetensors")
    del state["model.layers.1.mlp.down_proj.weight"]
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match="needs are missing"):
        bring(write_gguf(folder, tmp_path / "pico.gguf"), staged, run)


def test_gguf_whose_shapes_are_not_what_its_header_says(pico_llama, copy_of, edit, tmp_path, staged, run):
    folder = copy_of(pico_llama)
    edit(folder, intermediate_size=96)
    with pytest.raises(UserError, match=r"6 weights don't have the shape"):
        bring(write_gguf(folder, tmp_path / "pico.gguf"), staged, run)


# ---- real models ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def smollm(shelf, tmp_path_factory):
    """(folder, info, notes) of SmolLM2 imported from its GGUF file, once for all tests."""
    folder = tmp_path_factory.mktemp("shelf") / "smollm"
    folder.mkdir()
    begun = time.monotonic()
    info, notes = bring(shelf / "smollm2-135m.gguf", folder, Recorder())
    print(f"\nSmolLM2 imported in {time.monotonic() - begun:.1f} s; {notes}")
    return folder, info, notes


@pytest.mark.shelf
def test_smollm(smollm):
    folder, info, _ = smollm
    made = ledger(folder)
    print(made)
    assert info.dtypes == {"BF16": 134_515_008}
    assert made.weight_bytes == 269_030_016
    loaded = load(folder)
    ids = loaded.tokenizer("The capital of France is", return_tensors="pt")
    text = loaded.tokenizer.decode(loaded.model.generate(**ids, max_new_tokens=8, do_sample=False)[0])
    print(text)
    assert "Paris" in text


@pytest.mark.shelf
def test_minilm(shelf, staged, run):
    begun = time.monotonic()
    info, _ = bring(shelf / "minilm-l6", staged, run)
    print(f"\nMiniLM imported in {time.monotonic() - begun:.1f} s\n{ledger(staged)}")
    assert info.task == "encoder"
    assert fingerprint(staged) == fingerprint(shelf / "minilm-l6")


@pytest.mark.shelf
@pytest.mark.parametrize(
    ("bits", "group", "symmetric", "most"), [(8, None, True, 0.62), (8, None, False, 0.62), (4, 64, True, 0.43), (4, 64, False, 0.43)]
)
def test_smollm_packed_reloads_exactly(smollm, tmp_path, run, bits, group, symmetric, most):
    from core.models.save import save
    from core.models.verify import Verifier
    from tests.core.models.conftest import quantized

    source, info, _ = smollm
    with Verifier() as verifier:
        model = load(source).model
        quantized(model, bits, group, symmetric, torch.bfloat16)
        save(model, tmp_path, source, run=run)
        difference = verifier.check(tmp_path, model, run)
    made = ledger(tmp_path, info.parameters)
    share = made.weight_bytes / ledger(source).weight_bytes
    kind = f"W{bits} {f'g{group}' if group else 'per channel'} {'sym' if symmetric else 'asym'}"
    print(f"\n{kind}: difference {difference}, {made.bytes_on_disk} bytes, {share:.3f} of bf16, {made.effective_bits:.3f} effective bits")
    assert difference == 0.0
    assert share <= most
    assert weights(tmp_path)["model.embed_tokens.weight"].dtype == torch.bfloat16
