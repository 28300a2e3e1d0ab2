"""Blocks from disk: the same bytes as in memory, one block at a time, and a crash costs the block that it happened in."""

import json
import os
import subprocess
import sys

import pytest
import torch
import transformers
from torch import nn

from core import methods
from core.errors import UserError
from core.methods import sequential
from core.models import load, packed, save, streamed
from core.models.blocks import blocks, linears
from core.models.packed import PackedLinear
from core.models.streamed import Finished, InMemory, Streamed
from core.models.verify import Verifier
from core.run import Run
from tests.conftest import make_pico, make_tokenizer
from tests.core.methods.conftest import Recorder, give

CALIBRATED = {"windows": 4, "context": 32}
CASES = {
    "gptq": CALIBRATED | {"bits": 4, "symmetric": False},
    "awq": CALIBRATED | {"bits": 4},
    "hqq": {"bits": 3},
    "rtn": {"bits": 8},
}


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


@pytest.fixture(scope="module")
def pico_bf16(tmp_path_factory):
    return make_pico(tmp_path_factory.mktemp("pico") / "pico-bf16", dtype="bfloat16", layers=3)


@pytest.fixture(scope="module")
def pico_gemma(tmp_path_factory):
    """Whose embedding multiplies what it looks up, and whose norms add 1 to their weight."""
    folder = tmp_path_factory.mktemp("pico") / "pico-gemma"
    tokenizer = make_tokenizer(folder)
    torch.manual_seed(0)
    config = transformers.Gemma3TextConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=128,
        sliding_window=8,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"],
    )
    transformers.Gemma3ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


def params_of(name):
    method = methods.get(name)
    return method, methods.checked(method, CASES[name])


def in_memory(name, folder, to, work=None, run=None):
    """Applies in memory and saves to `to`; returns the model."""
    method, params = params_of(name)
    loaded = load.load(folder)
    home = InMemory(Finished(work, "x"), folder) if work else None
    model = method.apply(loaded.model, params, run or Run(), give(loaded, home=home)).model
    to.mkdir()
    save.save(model, to, folder, run=Run())
    return model


def stream(name, folder, to, work, run=None, fingerprint="x"):
    method, params = params_of(name)
    info = load.load(folder)
    home = Streamed(folder, Finished(work, fingerprint))
    method.apply(home.model, params, run or Run(), give(info, home=home))
    to.mkdir()
    home.save(to, run=Run())
    return home


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("source", ["pico_bf16", "pico_gemma", "pico_bert"])
def test_streamed_from_disk_it_makes_the_very_bytes_that_it_makes_in_memory(request, verifier, tmp_path, name, source):
    folder = request.getfixturevalue(source)
    model = in_memory(name, folder, tmp_path / "memory", tmp_path / "work-memory")
    stream(name, folder, tmp_path / "streamed", tmp_path / "work")
    assert save.fingerprint(tmp_path / "memory") == save.fingerprint(tmp_path / "streamed")
    config = [json.loads((tmp_path / n / "config.json").read_text()) for n in ("memory", "streamed")]
    assert config[0] == config[1]
    assert verifier.check(tmp_path / "streamed", model, Run()) <= 1e-4
    assert not list((tmp_path / "work").glob("*.safetensors"))  # moved, not copied


def test_an_untied_head_and_a_shared_one_are_stored_as_they_were(tmp_path):
    for tied in (True, False):
        folder = make_pico(tmp_path / f"pico-{tied}", tied=tied, dtype="bfloat16")
        made = tmp_path / f"made-{tied}"
        stream("rtn", folder, made, tmp_path / f"work-{tied}")
        with_head = "lm_head.weight" in json.loads((made / "model.safetensors.index.json").read_text())["weight_map"]
        assert with_head == (not tied)
        load.load(made)


@pytest.mark.parametrize("name", ["gptq", "rtn"])
def test_one_block_is_in_memory_at_a_time(tmp_path, pico_bf16, name):
    most = []

    class Watching(Recorder):
        def metric(self, metric, step, value):
            super().metric(metric, step, value)
            most.append([any(p.device.type != "meta" for p in block.parameters()) for _, block in blocks(home.model)])

    method, params = params_of(name)
    home = Streamed(pico_bf16, Finished(tmp_path / "work", "x"))
    assert all(p.device.type == "meta" for _, block in blocks(home.model) for p in block.parameters())
    assert home.model.get_input_embeddings().weight.device.type == "meta"
    method.apply(home.model, params, Watching(), give(load.load(pico_bf16), home=home))
    assert len(most) == 21
    assert all(sum(there) == 1 for there in most)


class Crash(Exception):
    pass


class Crashing(Recorder):
    """Dies in the middle of a block, after some of its layers were done."""

    def __init__(self, block, layers=3):
        super().__init__()
        self.block, self.layers = block, layers

    def metric(self, name, step, value):
        super().metric(name, step, value)
        if step == self.block:
            self.layers -= 1
            if not self.layers:
                raise Crash


@pytest.mark.parametrize("name", ["gptq", "awq", "rtn"])
@pytest.mark.parametrize("how", [stream, in_memory])
@pytest.mark.parametrize("block", [0, 1, 2])
def test_a_crash_resumes_at_the_block_where_it_stopped_and_the_result_is_the_same(tmp_path, pico_bf16, name, how, block):
    how(name, pico_bf16, tmp_path / "whole", tmp_path / "work-whole")
    with pytest.raises(Crash):
        how(name, pico_bf16, tmp_path / "never", tmp_path / "work", Crashing(block))
    again = Recorder()
    how(name, pico_bf16, tmp_path / "resumed", tmp_path / "work", again)
    assert {e.step for e in again.events if getattr(e, "name", "").startswith("error/")} == set(range(block, 3))
    assert save.fingerprint(tmp_path / "whole") == save.fingerprint(tmp_path / "resumed")


def test_another_fingerprint_begins_anew(tmp_path, pico_bf16):
    with pytest.raises(Crash):
        stream("rtn", pico_bf16, tmp_path / "a", tmp_path / "work", Crashing(2))
    assert Finished(tmp_path / "work", "x").blocks == [0, 1]
    other = Finished(tmp_path / "work", "y")
    assert other.blocks == []
    assert not list((tmp_path / "work").glob("block-*"))


def test_a_block_cut_short_by_the_crash_is_done_again(tmp_path, pico_bf16):
    with pytest.raises(Crash):
        stream("rtn", pico_bf16, tmp_path / "a", tmp_path / "work", Crashing(2))
    finished = Finished(tmp_path / "work", "x")
    os.truncate(finished.path(1), 100)
    (tmp_path / "work" / "block-00002.part").write_bytes(b"half")
    assert Finished(tmp_path / "work", "x").blocks == [0]
    assert not list((tmp_path / "work").glob("*.part"))
    run = Recorder()
    stream("rtn", pico_bf16, tmp_path / "b", tmp_path / "work", run)
    assert {e.step for e in run.events if getattr(e, "name", "").startswith("error/")} == {1, 2}


@pytest.mark.parametrize("state", ["", "{}", '{"fingerprint": "x", "blocks": [1]}', '{"fingerprint": "x", "blocks": "?"}'])
def test_a_damaged_state_is_no_state(tmp_path, state):
    (tmp_path / "state.json").write_text(state)
    assert Finished(tmp_path, "x").blocks == []


def test_dense_weights_changed_in_a_block_are_kept_in_the_stored_dtype(tmp_path, pico_bf16):
    """As a pruning method leaves them: what the next block is given is what will be saved."""
    home = Streamed(pico_bf16, Finished(tmp_path / "work", "x"))
    for turn in sequential.walk(home.model, Run(), "Walking", home=home):
        for name, module in turn.linears.items():
            turn.write(name, module.weight * 1.001)
    (tmp_path / "made").mkdir()
    home.save(tmp_path / "made", run=Run())
    before, after = load.load(pico_bf16).model.state_dict(), load.load(tmp_path / "made").model.state_dict()
    name = "model.layers.1.mlp.up_proj.weight"
    assert torch.equal(after[name], (before[name] * 1.001).bfloat16().float())
    assert torch.equal(after["model.norm.weight"], before["model.norm.weight"])


def test_names_that_differ_from_the_files_are_refused(tmp_path, pico_bf16):
    import shutil

    from safetensors.torch import load_file, save_file

    folder = tmp_path / "renamed"
    shutil.copytree(pico_bf16, folder)
    state = load_file(folder / "model.safetensors")
    save_file({k.replace("model.layers", "model.blocks"): v for k, v in state.items()}, folder / "model.safetensors")
    with pytest.raises(UserError, match="go by other names"):
        Streamed(folder, Finished(tmp_path / "work", "x"))


def test_numbers_that_are_not_finite_are_refused(tmp_path, pico_bf16):
    home = Streamed(pico_bf16, Finished(tmp_path / "work", "x"))
    with pytest.raises(UserError, match="finite"):
        for turn in sequential.walk(home.model, Run(), "Walking", home=home):
            next(iter(turn.linears.values())).weight[0, 0] = float("nan")
    assert Finished(tmp_path / "work", "x").blocks == []


def test_the_first_blocks_alone_are_a_model_that_plain_transformers_loads(verifier, tmp_path, pico_bf16):
    stream("gptq", pico_bf16, tmp_path / "made", tmp_path / "work")
    cut = streamed.first_blocks(tmp_path / "made", tmp_path / "cut", 2)
    model = load.load(cut, packed=True).model
    assert len(blocks(model)) == 2
    assert all(isinstance(m, PackedLinear) for _, m in linears(model))
    assert verifier.check(cut, model, Run()) <= 1e-4
    whole = load.load(tmp_path / "made", packed=True).model
    a, b = whole.model.layers[1].mlp.up_proj.quant, model.model.layers[1].mlp.up_proj.quant
    assert torch.equal(packed.dequantize(a), packed.dequantize(b))


# ---- memory ---------------------------------------------------------------------------------------------------------------

MEMORY = """
import json, resource, sys
from pathlib import Path
import torch
from core import methods
from core.data.text import read_text
from core.models import inspect, load
from core.models.streamed import Finished, Streamed
from core.run import Run

folder, work, text, name, values = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4], json.loads(sys.argv[5])
methods.discover()
torch.set_num_threads(2)
torch.randn(64, 64) @ torch.randn(64, 64)
status = lambda key: int(next(l for l in open("/proc/self/status") if l.startswith(key)).split()[1]) * 1024
Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew, so that what importing took isn't part of it
before = status("VmRSS")
method = methods.get(name)
home = Streamed(folder, Finished(work / "work", "x"))
given = methods.Given(load.load_tokenizer(folder), folder, inspect.inspect(folder), text=read_text(text), home=home)
method.apply(home.model, methods.checked(method, values), Run(), given)
(work / "made").mkdir()
home.save(work / "made", run=Run())
print(json.dumps({"over": status("VmHWM") - before, "interpreter": before}))
"""


@pytest.fixture(scope="module")
def two_gigabytes(tmp_path_factory):
    """Folder of a Llama of 2 GB in bfloat16, random weights, written block by block."""
    from safetensors.torch import save_file

    folder = tmp_path_factory.mktemp("large") / "two-gigabytes"
    folder.mkdir()
    tokenizer = make_tokenizer(folder)
    config = transformers.LlamaConfig(
        vocab_size=max(32_000, len(tokenizer)),
        hidden_size=1536,
        intermediate_size=4096,
        num_hidden_layers=35,
        num_attention_heads=12,
        num_key_value_heads=12,
        max_position_embeddings=512,
        tie_word_embeddings=False,
    )
    config.architectures = ["LlamaForCausalLM"]
    config.dtype = "bfloat16"
    config.save_pretrained(folder)
    from accelerate import init_empty_weights

    with init_empty_weights():
        model = transformers.LlamaForCausalLM(config)
    weight_map, files = {}, 36
    generator = torch.Generator().manual_seed(0)
    groups: dict[int, dict[str, torch.Size]] = {}
    for name, tensor in model.state_dict().items():
        at = int(name.split(".")[2]) + 1 if ".layers." in name else 0
        groups.setdefault(at, {})[name] = tensor.shape
    for at, shapes in groups.items():
        file = f"model-{at + 1:05}-of-{files:05}.safetensors"
        state = {
            n: torch.ones(s, dtype=torch.bfloat16) if len(s) == 1 else (torch.randn(s, generator=generator) * 0.02).bfloat16()
            for n, s in shapes.items()
        }
        save_file(state, folder / file, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(state, file)
    save.write_index(folder, weight_map, 0)
    yield folder
    import shutil

    shutil.rmtree(folder)


@pytest.mark.bench  # many minutes and 5 GB of disk: run by hand
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak resident memory is read from /proc")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("name", "values"), [("rtn", {"bits": 4}), ("gptq", {"windows": 4, "context": 128})])
def test_a_model_of_2_gb_is_quantized_in_1_2_gb_over_the_interpreter(two_gigabytes, tmp_path, pico_text, name, values):
    assert sum(p.stat().st_size for p in two_gigabytes.glob("*.safetensors")) > 2_000_000_000
    out = subprocess.run(
        [sys.executable, "-c", MEMORY, str(two_gigabytes), str(tmp_path), str(pico_text), name, json.dumps(values)],
        capture_output=True,
        text=True,
        timeout=1700,
        env=os.environ | {"MALLOC_ARENA_MAX": "2"},
    )
    assert out.returncode == 0, out.stderr[-2000:]
    found = json.loads(out.stdout.splitlines()[-1])
    print(f"\n{name}: {found['over'] / 1e6:.0f} MB over {found['interpreter'] / 1e6:.0f} MB of the interpreter with torch")
    assert found["over"] <= 1_200_000_000


def test_nothing_of_a_replaced_layer_is_held(pico_bf16, tmp_path):
    """What's held of layers that were replaced would add up to the whole model."""
    import gc
    import weakref

    home = Streamed(pico_bf16, Finished(tmp_path / "work", "x"))
    seen: list[weakref.ref] = []
    real = PackedLinear.from_linear.__func__

    def spy(cls, linear, quant, **rounding):
        seen.append(weakref.ref(linear.weight))
        return real(cls, linear, quant, **rounding)

    method, params = params_of("gptq")
    patch = pytest.MonkeyPatch()
    gc.collect()
    gc.freeze()  # what other tests left isn't looked at again and again
    try:
        patch.setattr(PackedLinear, "from_linear", classmethod(spy))
        alive = []

        class Watching(Recorder):
            def metric(self, metric, step, value):
                gc.collect()
                alive.append(sum(1 for r in seen if r() is not None))

        method.apply(home.model, params, Watching(), give(load.load(pico_bf16), home=home))
    finally:
        gc.unfreeze()
        patch.undo()
    assert len(seen) == 21
    assert max(alive) <= 8  # this block's, not the model's
    assert isinstance(home.model, nn.Module)
