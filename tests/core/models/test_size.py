"""The ledger: every byte in one line, every number counted once."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from core.errors import Cancelled
from core.models.load import load
from core.models.size import ledger
from tests.core.models.conftest import Recorder


@pytest.mark.parametrize("fixture", ["pico_llama", "pico_bf16", "pico_untied", "pico_gpt2", "pico_bert"])
def test_lines_add_up(fixture, request):
    folder = request.getfixturevalue(fixture)
    made = ledger(folder)
    assert sum(line.bytes for line in made.lines) == made.bytes_on_disk == sum(p.stat().st_size for p in folder.iterdir())
    model = load(folder).model
    assert made.parameters == sum(p.numel() for p in model.parameters())
    assert made.nonzero == sum(int(torch.count_nonzero(p)) for p in model.parameters())
    assert made.original_parameters == made.parameters
    assert made.effective_bits == pytest.approx(16 if fixture == "pico_bf16" else 32)
    assert made.tied == (("lm_head.weight",) if fixture in ("pico_llama", "pico_bf16", "pico_gpt2") else ())


@pytest.mark.parametrize(("bits", "group", "symmetric"), [(8, None, True), (4, 16, True), (4, 16, False), (3, 8, True), (8, 16, False)])
def test_packed(packed_llama, pico_llama, bits, group, symmetric):
    folder, _ = packed_llama(bits, group, symmetric)
    made, before = ledger(folder, 28_192), ledger(pico_llama)
    assert made.parameters == before.parameters == 28_192
    dense = load(folder).model
    assert made.nonzero == sum(int(torch.count_nonzero(p)) for p in dense.parameters())
    assert sum(line.bytes for line in made.lines) == made.bytes_on_disk
    assert made.weight_bytes < before.weight_bytes
    by_name = {(line.component, line.storage): line for line in made.lines}
    storage = "int8" if bits == 8 else f"int{bits} packed"
    assert by_name[("mlp", storage)].bytes * 8 == 12_288 * bits
    assert by_name[("mlp", storage)].parameters == 12_288
    scales = sum(line.bytes for line in made.lines if line.component == "scales")
    assert scales > 0
    assert made.effective_bits == 8 * made.weight_bytes / 28_192
    assert made.lines[0].component == "embedding"


def test_tied_copy_has_bytes_but_no_parameters(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    state = load_file(folder / "model.safetensors")
    state["lm_head.weight"] = state["model.embed_tokens.weight"].clone()
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    made = ledger(folder)
    assert made.parameters == 28_192
    copies = [line for line in made.lines if line.component == "tied copy"]
    assert copies[0].bytes == 300 * 32 * 4
    assert copies[0].parameters == 0
    assert made.effective_bits > 32


def test_effective_bits_are_over_the_original(pico_llama):
    assert ledger(pico_llama, 2 * 28_192).effective_bits == 16


def test_files_of_ours_don_t_count(pico_llama, copy_of):
    folder = copy_of(pico_llama)
    (folder / "job.log").write_text("x" * 1000)
    (folder / "variant.json").write_text("{}")
    assert ledger(folder).bytes_on_disk == ledger(pico_llama).bytes_on_disk


def test_cancel(pico_llama):
    run = Recorder()
    run.control("cancel")
    with pytest.raises(Cancelled):
        ledger(pico_llama, run=run)
