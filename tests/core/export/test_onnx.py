"""What an export is made of, that it computes what torch computes, and that a failed or cancelled one leaves nothing."""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

from core.errors import Cancelled, UserError
from core.export import examples, parity, rounding
from core.export import onnx as exporting
from core.export.onnx import export
from core.export.runtime import CausalSession, OnnxGenerator, open_session, read_graph, tensors_of
from core.models import packed, save
from core.models.activations import ActivationQuant
from core.models.blocks import linears, replace
from core.models.load import load
from core.models.packed import PackedLinear
from core.models.packed_embedding import pack_embedding
from core.records import OnnxOptions
from core.run import Run
from tests.conftest import make_pico, make_tokenizer

FAST = OnnxOptions(profile="fast")


def names(folder) -> set[str]:
    return {p.name for p in folder.iterdir()}


def test_folder_holds_what_a_runtime_needs(exported, pico_llama):
    folder, report = exported
    wanted = {"model.onnx", "model.onnx.data", "config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"}
    wanted |= {"genai_config.json", "example.py"}
    assert names(folder) == wanted | {"export_report.json"}
    assert json.loads((folder / "export_report.json").read_text()) == json.loads(json.dumps(report))
    config = json.loads((folder / "config.json").read_text())
    assert config["rope_theta"] == config["rope_parameters"]["rope_theta"]  # readers before transformers 5 know the first only
    assert json.loads((folder / "tokenizer_config.json").read_text())["tokenizer_class"] == "PreTrainedTokenizerFast"
    assert names(folder.parent) == {folder.name}  # no work folder, no lock


def test_report_has_the_figures(exported):
    _, report = exported
    assert report["max_abs"] <= 1e-4
    assert report["top1"] == 1.0
    assert report["tokens"] == 256
    assert report["greedy"] == {"tokens": 64, "equal": 64, "first_difference": None}
    assert [c["check"] for c in report["checks"]] == [
        "the whole text at once",
        "the most likely token",
        "chunks and single steps with the cache",
        "a batch of 3",
        "a batch of 3 padded at the right",
        "a batch of 3 padded at the left",
        "greedy tokens",
    ]
    assert all(c["passed"] for c in report["checks"])
    assert report["opset"]["ai.onnx"] >= 18
    assert report["data_bytes"] >= report["referenced_bytes"] > 0
    assert report["weights"] == "float32"


def test_tied_weight_is_stored_once(exported):
    folder, report = exported
    model = read_graph(folder)
    embeddings = [t for t in tensors_of(model.graph) if sorted(t.dims) == [32, 300]]
    assert len(embeddings) == 1
    assert report["data_bytes"] < 4 * 1.2 * 29_000  # the pico model's parameters, the tied ones once


def test_graph_says_nothing_of_this_machine(exported):
    folder, _ = exported
    data = (folder / "model.onnx").read_bytes()
    assert b"site-packages" not in data
    assert b".py" not in data


def test_axes_are_free(exported, pico_llama):
    """Batch, text and cache of sizes that no sample had, 1 among them."""
    folder, report = exported
    assert report["inputs"]["past_key_values.0.key"] == ("batch", 2, "past", 8)
    causal = CausalSession(open_session(folder))
    model = load(pico_llama, dtype="float32").model
    rng = np.random.default_rng(3)
    for batch, lengths in ((1, (1, 1, 7)), (4, (11, 2)), (2, (1, 30))):
        ids = rng.integers(0, 300, (batch, sum(lengths)))
        cache, at, got = causal.empty(batch), 0, []
        for length in lengths:
            logits, cache = causal.step(ids[:, at : at + length], np.ones((batch, at + length), np.int64), cache)
            got.append(logits)
            at += length
        with torch.no_grad():
            wanted = model(torch.from_numpy(ids)).logits.numpy()
        assert np.abs(np.concatenate(got, axis=1) - wanted).max() < 1e-4


def test_padded_rows_are_as_if_alone(exported):
    folder, _ = exported
    causal = CausalSession(open_session(folder))
    row = np.array([[5, 80, 131, 9]])
    alone, _ = causal.step(row, np.ones((1, 4), np.int64), causal.empty(1))
    padded = np.array([[7, 7, 7, 5, 80, 131, 9], [1, 2, 3, 4, 5, 6, 7]])
    mask = np.array([[0, 0, 0, 1, 1, 1, 1], [1] * 7])
    together, _ = causal.step(padded, mask, causal.empty(2))
    assert np.abs(together[0, 3:] - alone[0]).max() < 1e-4


# ---- targets ------------------------------------------------------------------------------------------------------------


def test_a_folder_with_other_things_is_never_replaced(pico_llama, tmp_path):
    to = tmp_path / "mine"
    to.mkdir()
    (to / "thesis.txt").write_text("ten years")
    for overwrite in (False, True):
        with pytest.raises(UserError, match="isn't empty"):
            export(pico_llama, to, Run(), overwrite=overwrite)
    assert (to / "thesis.txt").read_text() == "ten years"
    assert names(tmp_path) == {"mine"}


def test_an_earlier_export_is_replaced_only_when_asked(pico_llama, copied, monkeypatch):
    (copied / "model.onnx").write_bytes(b"old")
    with pytest.raises(UserError, match="earlier export"):
        export(pico_llama, copied, Run())
    assert (copied / "model.onnx").read_bytes() == b"old"

    def make(folder, made, run, options):  # the making has its own tests, and takes seconds
        (made / "model.onnx").write_bytes(b"new")
        return {"seconds": {}, "max_abs": 0.0, "made_by": "spokeshave"}

    monkeypatch.setattr(exporting, "_make", make)
    export(pico_llama, copied, Run(), overwrite=True)
    assert (copied / "model.onnx").read_bytes() == b"new"
    assert names(copied) == {"model.onnx", "export_report.json"}  # nothing of the old one stays
    assert names(copied.parent) == {"copy"}


def test_a_file_in_the_way(pico_llama, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(UserError, match="is a file"):
        export(pico_llama, tmp_path / "taken", Run())


def test_leftovers_of_a_killed_export_go(pico_llama, tmp_path, monkeypatch):
    dead = tmp_path / ".partial-out-0123abcd"
    (dead / "export").mkdir(parents=True)
    other = tmp_path / ".partial-another-0123abcd"
    other.mkdir()
    monkeypatch.setattr(exporting, "_make", lambda *_: {"seconds": {}, "max_abs": 0.0})
    export(pico_llama, tmp_path / "out", Run())
    assert names(tmp_path) == {"out", ".partial-another-0123abcd"}


def test_two_exports_to_one_place(pico_llama, tmp_path, monkeypatch):
    def make(folder, made, run, options):
        with pytest.raises(UserError, match="Another export"):
            export(pico_llama, tmp_path / "out", Run())
        return {"seconds": {}, "max_abs": 0.0}

    monkeypatch.setattr(exporting, "_make", make)
    export(pico_llama, tmp_path / "out", Run())
    assert names(tmp_path) == {"out"}


def _without_tracing(monkeypatch, plan):
    """Tracing is what takes the time, and these tests are about what comes around it."""
    from core.export import trace

    monkeypatch.setattr(trace, "causal", lambda model: plan)
    monkeypatch.setattr(trace, "capture", lambda model, plan: (None, True))
    monkeypatch.setattr(exporting, "_graph", lambda info, program, plan: (None, {"joined": 0, "nbits": 0}))


@pytest.mark.parametrize("stage", ["Loading", "Asking the original", "Tracing", "Writing the graph", "Checking with onnxruntime"])
def test_cancelled_at_any_stage_leaves_nothing(pico_llama, exported, tmp_path, stage, monkeypatch):
    from core.export import trace

    run = Run()
    report = exported[1]

    def sink(event):
        if getattr(event, "stage", "") == stage:
            run.control("cancel")

    run._sink = sink
    plan = trace.Plan(torch.nn.Identity(), (), trace.Signature(report["inputs"], report["outputs"]))
    _without_tracing(monkeypatch, plan)
    monkeypatch.setattr(exporting, "_write", lambda graph, made, place: shutil.copytree(exported[0], made, dirs_exist_ok=True))
    with pytest.raises(Cancelled):
        export(pico_llama, tmp_path / "out", run)
    assert names(tmp_path) == set()


def test_a_wrong_export_is_caught_and_leaves_no_folder(pico_llama, exported, tmp_path, monkeypatch):
    """The check must not believe the exporter: here the graph is right and the weights are those of another model."""
    from core.export import trace

    report = exported[1]

    def write(graph, made, place):
        shutil.copytree(exported[0], made, dirs_exist_ok=True)
        (made / "export_report.json").unlink()
        data = np.fromfile(made / "model.onnx.data", np.float32)
        data[1000:1100] += 0.5
        data.tofile(made / "model.onnx.data")

    plan = trace.Plan(torch.nn.Identity(), (), trace.Signature(report["inputs"], report["outputs"]))
    _without_tracing(monkeypatch, plan)
    monkeypatch.setattr(exporting, "_write", write)
    with pytest.raises(UserError, match="doesn't compute what the original computes: the whole text at once gave") as caught:
        export(pico_llama, tmp_path / "out", Run())
    assert caught.value.kind == "check"
    assert caught.value.values["value"] > 1e-3
    assert names(tmp_path) == set()


def test_what_isn_t_exported_is_refused_in_a_sentence(tmp_path):
    from transformers import BartConfig, BartForConditionalGeneration

    shape = {"encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    config = BartConfig(vocab_size=300, d_model=16, encoder_attention_heads=2, decoder_attention_heads=2, **shape)
    BartForConditionalGeneration(config).save_pretrained(tmp_path / "bart")
    with pytest.raises(UserError, match="can't be exported"):
        export(tmp_path / "bart", tmp_path / "out", Run())
    assert names(tmp_path) == {"bart"}


# ---- other architectures -------------------------------------------------------------------------------------------------


def _saved(folder, model):
    make_tokenizer(folder)
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.mul_(4)
    model.save_pretrained(folder)
    return folder


def _gpt2(folder):
    from transformers import GPT2Config, GPT2LMHeadModel

    return _saved(folder, GPT2LMHeadModel(GPT2Config(vocab_size=300, n_positions=64, n_embd=32, n_layer=2, n_head=4)))


def _gemma2(folder):
    """Sliding and full layers in turn, scores capped: the window (8) is much shorter than the text of the check."""
    from transformers import Gemma2Config, Gemma2ForCausalLM

    shape = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = Gemma2Config(
        **shape, num_key_value_heads=2, head_dim=8, max_position_embeddings=128, sliding_window=8, attn_logit_softcapping=2.0
    )
    return _saved(folder, Gemma2ForCausalLM(config))


def _bert(folder):
    from transformers import BertConfig, BertModel

    shape = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
    return _saved(folder, BertModel(BertConfig(**shape, max_position_embeddings=64)))


def _distilbert(folder):
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    config = DistilBertConfig(vocab_size=300, dim=32, hidden_dim=48, n_layers=2, n_heads=4, max_position_embeddings=64, num_labels=3)
    return _saved(folder, DistilBertForSequenceClassification(config))


def _masked(folder):
    from transformers import BertConfig, BertForMaskedLM

    shape = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4}
    return _saved(folder, BertForMaskedLM(BertConfig(**shape, max_position_embeddings=64)))


def _last_token(folder, labels=1, pad=5):
    """A classifier that reads the last token that isn't padding, and gives one number."""
    from transformers import LlamaConfig, LlamaForSequenceClassification

    shape = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 4}
    config = LlamaConfig(**shape, max_position_embeddings=64, pad_token_id=pad, num_labels=labels)
    return _saved(folder, LlamaForSequenceClassification(config))


def run_example(folder, *arguments) -> str:
    """What example.py in `folder` says: run where nothing of Spokeshave's can be imported."""
    command = [sys.executable, "-I", "example.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_the_example_generates_what_the_runtime_does(exported):
    folder, _ = exported
    wanted = OnnxGenerator(folder).generate("the old sailor", max_new_tokens=12)["text"]
    assert run_example(folder, "the old sailor", "12") == wanted + "\n"
    assert "core" not in (folder / "example.py").read_text()
    with pytest.raises(subprocess.CalledProcessError) as empty:
        run_example(folder, "")
    assert "The prompt is empty" in empty.value.stderr


@pytest.mark.parametrize("name", ["classify", "draw", "embed", "generate", "rewrite"])
def test_help_is_no_prompt_and_no_file(name, tmp_path):
    """It was continued as a text, and images were drawn to a file of that name."""
    shutil.copyfile(Path(examples.__file__).with_name(f"{name}.py"), tmp_path / "example.py")
    assert run_example(tmp_path, "--help").startswith(ast.get_docstring(ast.parse((tmp_path / "example.py").read_text())))
    assert [p.name for p in tmp_path.iterdir()] == ["example.py"]


@pytest.mark.parametrize("make", [_gpt2, _gemma2, _bert, _distilbert], ids=lambda f: f.__name__.strip("_"))
def test_other_architectures(make, tmp_path):
    torch.manual_seed(0)
    report = export(make(tmp_path / "model"), tmp_path / "out", Run())
    assert report["max_abs"] <= 1e-4
    assert not any("itself" in note for note in report["notes"])  # attention went in as ours
    said = run_example(tmp_path / "out", "the quick brown fox", "a long story") if make in (_bert, _distilbert) else ""
    if make is _bert:
        alike = np.array([[float(x) for x in line.split("\t")] for line in said.splitlines()])
        assert alike.shape == (2, 2)
        assert np.allclose(np.diag(alike), 1, atol=2e-3)
        assert list(report["inputs"]) == ["input_ids", "attention_mask", "token_type_ids"]
        assert list(report["outputs"]) == ["last_hidden_state"]
    elif make is _distilbert:
        assert report["outputs"] == {"logits": ("batch", 3)}
        rows = [line.split("\t") for line in said.splitlines()]
        assert [row[2] for row in rows] == ["the quick brown fox", "a long story"]
        assert all(row[0].startswith("LABEL_") and 1 / 3 <= float(row[1]) <= 1 for row in rows)
    else:
        assert report["greedy"]["equal"] == report["greedy"]["tokens"] > 0


def test_an_encoder_goes_without_the_head_that_guesses_masked_tokens(tmp_path):
    torch.manual_seed(0)
    report = export(_masked(tmp_path / "model"), tmp_path / "out", Run())
    assert list(report["outputs"]) == ["last_hidden_state"]
    assert run_example(tmp_path / "out", "the quick brown fox").strip() == "1.000"


def test_a_classifier_of_one_number_that_reads_the_last_token(tmp_path):
    torch.manual_seed(0)
    report = export(_last_token(tmp_path / "model"), tmp_path / "out", Run())
    assert report["outputs"] == {"logits": ("batch", 1)}
    _, number, _ = run_example(tmp_path / "out", "the quick brown fox").split("\t")
    loaded = load(tmp_path / "model", dtype="float32")
    want = loaded.model(input_ids=torch.tensor([loaded.tokenizer.encode("the quick brown fox")])).logits
    assert float(number) == pytest.approx(float(want), abs=1e-3)


def test_a_classifier_that_cannot_tell_where_texts_end_is_refused(tmp_path):
    with pytest.raises(UserError, match="names no padding token"):
        export(_last_token(tmp_path / "model", pad=None), tmp_path / "out", Run())


# ---- quantized variants --------------------------------------------------------------------------------------------------


def quantized(source, folder, grid_of):
    """A copy of `source` with each linear layer on the grid (bits, group size, symmetric) that `grid_of(name)` gives."""
    loaded = load(source, dtype="float32")
    for name, module in linears(loaded.model):
        bits, group_size, symmetric = grid_of(name)
        quant = packed.quantize(module.weight, bits, group_size=group_size, symmetric=symmetric, scale_dtype=torch.float32)
        replace(loaded.model, name, PackedLinear.from_linear(module, quant))
    folder.mkdir()
    save.save(loaded.model, folder, source, run=Run())
    return folder


def test_a_quantized_variant_keeps_its_grid(tmp_path):
    """Three grids in one model: 8 bits per channel, 4 bits in groups, and groups too small for the runtime."""
    source = make_pico(tmp_path / "wide", hidden=64)

    def grid_of(name):
        return (8, None, True) if "mlp" in name else (4, 32, True) if name.endswith(("q_proj", "k_proj")) else (4, 8, True)

    report = export(quantized(source, tmp_path / "quantized", grid_of), tmp_path / "out", Run())
    assert report["nodes"]["MatMulNBits"] == 2  # queries and keys together
    assert report["quantized_layers"] == 14  # the check counted the other ten as int8
    assert report["max_abs"] <= 1e-4  # against torch on the same grid: exact but for float32's own rounding
    assert report["top1"] == 1.0
    assert report["weights"] == "4/8-bit integers, the rest dense"
    assert report["data_bytes"] < 4 * 300 * 64 + 80_000 + 20_000  # the embedding in float32, codes of a byte or half, scales and norms
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert "quantization_config" not in config  # nobody is to look for packed safetensors in there


def test_offsets_are_kept(tmp_path):
    source = make_pico(tmp_path / "narrow", layers=1)
    report = export(quantized(source, tmp_path / "quantized", lambda name: (4, 16, False)), tmp_path / "out", Run())
    assert report["nodes"]["MatMulNBits"] == 4
    assert report["max_abs"] <= 1e-4


def with_table(source, folder, bits, group_size):
    """A copy of `source` whose embedding, which its output layer reads too, is on a grid as well as its linear layers."""
    loaded = load(source, dtype="float32")
    for name, module in linears(loaded.model):
        quant = packed.quantize(module.weight, bits, group_size=group_size, symmetric=False, scale_dtype=torch.float32)
        replace(loaded.model, name, PackedLinear.from_linear(module, quant))
    table = loaded.model.get_input_embeddings().weight
    pack_embedding(loaded.model, packed.quantize(table, bits, group_size=group_size, symmetric=False), torch.float32)
    folder.mkdir()
    save.save(loaded.model, folder, source, run=Run())
    return folder


def test_an_embedding_and_its_output_layer_are_packed_once(tmp_path):
    source = make_pico(tmp_path / "model", layers=1, hidden=64)
    report = export(with_table(source, tmp_path / "quantized", 4, 32), tmp_path / "out", Run(), options=FAST)
    assert report["nodes"]["MatMulNBits"] == 5  # seven in four, and the output layer
    assert report["contents"]["products"] == {"packed": 5, "widened": 0, "dense": 0, "computed": 0}
    assert report["contents"]["fused"]["products"] == 2
    assert report["contents"]["unquantized"] == []
    assert report["max_abs"] <= 1e-4
    codes = [t for t in report["contents"]["largest"] if t["shape"] == [300, 2, 16]]
    assert [t["type"] for t in codes] == ["uint8"]  # 300 rows of 64 in half bytes, once
    assert report["data_bytes"] < 60_000  # the table alone took 76,800 in float32


def test_rounded_activations_are_judged_by_probabilities(tmp_path, monkeypatch):
    """Eight bits become fast products where they're close enough; where they're not, the exact ones are written and the report says so."""
    source = make_pico(tmp_path / "model", layers=1, hidden=64)
    folder = with_table(source, tmp_path / "quantized", 8, None)
    monkeypatch.setitem(parity.ROUNDED, "kl", 1.0)
    monkeypatch.setitem(parity.ROUNDED, "top1", 0.5)
    options = OnnxOptions(activations="int8")
    report = export(folder, tmp_path / "out", Run(), options=options)
    assert report["activations"] == "int8"
    assert report["nodes"]["MatMulNBits"] == 5
    assert 0 < report["kl"] < 0.1
    assert [c["limit"] for c in report["checks"]][:2] == [1.0, 0.5]
    tried = report["rounding_tried"][-1]
    assert tried["blocks"] == {"64": 8}  # everything is allowed, so the fastest
    assert tried["kl"] == pytest.approx(report["kl"], rel=1)
    model = read_graph(tmp_path / "out")
    levels = {a.i for n in model.graph.node if n.op_type == "MatMulNBits" for a in n.attribute if a.name == "accuracy_level"}
    assert levels == {4}


def test_where_all_layers_change_too_much_some_stay_exact(tmp_path, monkeypatch):
    """The graph has both kinds of product, and the report counts those that round; a tied output layer goes with its embedding."""
    source = make_pico(tmp_path / "model", layers=1, hidden=64)
    folder = with_table(source, tmp_path / "quantized", 8, None)
    monkeypatch.setitem(parity.ROUNDED, "kl", 1.0)
    monkeypatch.setitem(parity.ROUNDED, "top1", 0.5)
    blocks = {f"model.layers.0.self_attn.{name}_proj": 32 for name in "qkv"} | {"lm_head": 16}
    monkeypatch.setattr(rounding, "way_for", lambda *args: (blocks, [{"blocks": {}, "kl": 0.0, "used": 0.1, "top1": 1.0}], 1))
    report = export(folder, tmp_path / "out", Run(), options=OnnxOptions(activations="int8"))
    assert report["activations"] == "int8"
    assert report["nodes"]["MatMulNBits"] == 2
    assert any(note.startswith("4 of them multiply activations rounded") for note in report["notes"])


def test_activations_that_may_not_be_rounded_stay_as_they_are(pico_llama, monkeypatch):
    loaded = load(pico_llama, dtype="float32")
    answers = parity.reference(loaded.model, loaded.tokenizer, Run(), context=64, cache_name=_cache_name(loaded.model))
    quants = {name: packed.quantize(module.weight, 8) for name, module in linears(loaded.model)}
    monkeypatch.setitem(parity.ROUNDED, "kl", 0.0)
    notes, rooms = [], list(rounding.ROOMS)
    way, tried = exporting._rounding(loaded.model, quants, answers, Run(), notes, rooms)
    assert (way, rooms) == (None, [])
    assert tried[0]["kl"] > 0
    assert notes == ["Activations rounded to int8 changed too much, so quantized layers multiply float32 ones."]
    notes.clear()
    assert exporting._rounding(loaded.model, quants, {}, Run(), notes, list(rounding.ROOMS)) == (None, [])
    assert "probabilities" in notes[0]


@pytest.mark.parametrize("profile", ["portable", "fast"])
def test_a_variant_that_rounds_what_it_reads_is_judged_by_probabilities(tmp_path, profile):
    """Float32's own rounding decides between two steps of the grid, and one step moves a logit by more than an exact export may."""
    source = make_pico(tmp_path / "model", layers=1, hidden=64)
    loaded = load(source, dtype="float32")
    for name, module in linears(loaded.model):
        quant = packed.quantize(module.weight, 8, scale_dtype=torch.float32)
        replace(loaded.model, name, PackedLinear.from_linear(module, quant, activation=ActivationQuant()))
    (tmp_path / "both").mkdir()
    save.save(loaded.model, tmp_path / "both", source, run=Run())
    report = export(tmp_path / "both", tmp_path / "out", Run(), options=OnnxOptions(profile=profile))
    assert report["profile"] == profile
    assert report["kl"] < 1e-3
    assert report["activations"] == "float32"  # nothing was rounded that the variant doesn't round
    assert any("noise of a millionth" in note for note in report["notes"])
    assert report["checks"][0]["limit"] >= 5e-3


def test_what_noise_changes_in_torch_the_graph_may_change_too(pico_llama):
    """A model that isn't swayed by noise keeps the usual limits; one that magnifies it gets them wider, by what it was seen to do."""
    loaded = load(pico_llama, dtype="float32")
    answers = parity.reference(loaded.model, loaded.tokenizer, Run(), context=64, cache_name=_cache_name(loaded.model))
    assert parity.unsure(loaded.model, answers, Run()) == parity.ROUNDED
    table = loaded.model.get_input_embeddings()
    steps = lambda _, __, out: 4 * torch.sin(out * 1e7)  # nothing of what's read is left of it after a step of a millionth
    torch.nn.Module.register_forward_hook(loaded.model.model.layers[0].input_layernorm, steps)
    swayed = parity.reference(loaded.model, loaded.tokenizer, Run(), context=64, cache_name=_cache_name(loaded.model))
    limits = parity.unsure(loaded.model, swayed, Run())
    assert limits["kl"] > 10 * parity.ROUNDED["kl"]
    assert limits["top1"] < parity.ROUNDED["top1"]
    assert not table._forward_hooks  # taken off again


def test_of_several_graphs_the_one_that_the_config_names_is_taken(tmp_path):
    from core.export.runtime import graph_file

    (tmp_path / "onnx").mkdir()
    for name in ("model", "model_fp16", "model_q4"):
        (tmp_path / "onnx" / f"{name}.onnx").write_bytes(b"")
    with pytest.raises(UserError, match="holds 3 graphs, and nothing in it says which is meant"):
        graph_file(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"transformers.js_config": {"dtype": "q4"}}))
    assert graph_file(tmp_path).name == "model_q4.onnx"
    assert graph_file(tmp_path / "onnx" / "model_fp16.onnx").name == "model_fp16.onnx"  # the file itself
    (tmp_path / "model.onnx").write_bytes(b"")
    assert graph_file(tmp_path) == tmp_path / "model.onnx"


def test_files_for_transformers_js_and_an_older_runtime(pico_llama, tmp_path, monkeypatch):
    """Weights split into files of a few kilobytes here, as they are at 2 GB, the graph under the name of its precision."""
    monkeypatch.setattr(exporting, "SHARD", 40_000)
    options = OnnxOptions(layout="transformers.js", runtime="1.15")
    report = export(pico_llama, tmp_path / "out", Run(), options=options)
    files = names(tmp_path / "out" / "onnx")
    assert "model.onnx" in files
    assert len(files) > 2
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["transformers.js_config"] == {"dtype": "fp32", "use_external_data_format": {"model.onnx": len(files) - 1}}
    assert report["ir"] == 9
    assert report["max_abs"] <= 1e-4  # the check read the files where they are
    assert OnnxGenerator(tmp_path / "out").generate("the old sailor", max_new_tokens=3)["tokens"] == 3
    assert run_example(tmp_path / "out", "the old sailor", "3")


# ---- real models ---------------------------------------------------------------------------------------------------------


@pytest.mark.shelf
@pytest.mark.parametrize("profile", ["portable", "fast"])
def test_smollm2(shelf, tmp_path, profile):
    from core.models.bring import bring

    (tmp_path / "staged").mkdir()
    bring(shelf / "smollm2-135m.gguf", tmp_path / "staged", Run())
    report = export(tmp_path / "staged", tmp_path / "out", Run(), options=OnnxOptions(profile=profile))
    assert report["profile"] == profile
    assert report["contents"]["fused"]["attention"] == (30 if profile == "fast" else 0)
    assert report["max_abs"] <= 5e-4
    assert report["top1"] == 1.0
    assert report["tokens"] == 256
    assert report["greedy"]["equal"] == 64
    assert 510e6 < report["data_bytes"] < 545e6  # 134.5 M parameters in float32, the tied embedding once


@pytest.mark.shelf
def test_minilm(shelf, tmp_path):
    report = export(shelf / "minilm-l6", tmp_path / "out", Run())
    assert report["max_abs"] <= 1e-4
    assert [c["check"] for c in report["checks"]] == ["the whole text", "a padded batch of 3"]


def test_too_little_memory_is_said_before_anything_is_loaded(pico_llama, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting.psutil, "virtual_memory", lambda: type("Free", (), {"available": 1000})())
    monkeypatch.setattr("core.models.load.load", lambda *a, **k: pytest.fail("it was loaded"))
    with pytest.raises(UserError, match=r"needs about 0\.0 GB of memory, and 0\.0 GB are free") as caught:
        export(pico_llama, tmp_path / "out", Run())
    assert caught.value.kind == "memory"
    assert names(tmp_path) == set()


def test_an_old_runtime_is_refused_before_anything_is_loaded(pico_llama, tmp_path, monkeypatch):
    monkeypatch.setattr("core.models.load.load", lambda *a, **k: pytest.fail("it was loaded"))
    with pytest.raises(UserError, match=r"1\.19 is too old .* which 1\.20 brought"):
        export(pico_llama, tmp_path / "out", Run(), options=OnnxOptions(profile="fast", runtime="1.19"))
    assert names(tmp_path) == set()


def test_a_text_of_the_check_reaches_past_a_sliding_window():
    """Windows of 256 tokens and more weren't reached; a very long one isn't, and the report says so."""
    from types import SimpleNamespace

    config = lambda window, **more: SimpleNamespace(sliding_window=window, **more)
    assert parity.past_window(config(512), 256, 8192) == 520
    assert parity.past_window(config(250), 256, 8192) == 258
    assert parity.past_window(config(8), 256, 8192) is None  # 256 tokens do
    assert parity.past_window(config(4096), 256, 8192) is None  # too long
    assert parity.past_window(config(512), 256, 512) is None  # the model reads no more
    assert parity.past_window(config(None), 256, 8192) is None
    assert parity.past_window(config(512, use_sliding_window=False), 256, 8192) is None


@pytest.mark.parametrize("profile", [pytest.param("portable", marks=pytest.mark.matrix), "fast"])
def test_the_graph_is_asked_past_its_window(profile, tmp_path, monkeypatch):
    """Nothing but the further text tells a window of 12 from one of 16 where the check's own texts have 12 tokens."""
    from transformers import MistralConfig, MistralForCausalLM

    from core.export import trace
    from tests.core.export.test_architectures import GROUPED, lively

    torch.manual_seed(0)
    monkeypatch.setattr(parity, "TOKENS", 12)
    settings = GROUPED | {"num_hidden_layers": 1, "sliding_window": 12, "head_dim": 16}
    model = lively(MistralForCausalLM(MistralConfig(**settings)))
    answers = parity.reference(model, None, Run(), context=64, cache_name=trace.cache_name(model))
    assert len(answers["beyond"]) == 20
    info = type("Info", (), {"task": "causal-lm", "architecture": "Mistral"})

    def asked(window):
        model.config.sliding_window = model.model.layers[0].self_attn.sliding_window = window
        program, plan = exporting._capture(info, model, profile, [])
        (tmp_path / str(window)).mkdir()
        exporting._write(trace.convert(program, plan), tmp_path / str(window), "model.onnx")
        declared = {"inputs": plan.signature.inputs, "outputs": plan.signature.outputs, "quantized": {}}
        return parity.compare(tmp_path / str(window), answers, declared)

    assert "8 tokens past the sliding window" in [c["check"] for c in asked(12)["checks"]]
    with pytest.raises(UserError, match="8 tokens past the sliding window gave"):
        asked(16)


def test_a_fused_graph_that_doesn_t_open_is_written_portable(exported, tmp_path, monkeypatch):
    """What the checking process can't open is a failed check, so that the portable profile is tried."""
    folder = shutil.copytree(exported[0], tmp_path / "copy")
    (folder / "model.onnx").write_bytes(b"no graph")
    with pytest.raises(UserError, match="is damaged") as caught:
        parity.check(folder, {"ids": np.arange(4)}, {"inputs": {}, "outputs": {}, "quantized": {}}, Run())
    assert caught.value.kind == "check"


def test_a_fused_graph_that_fails_its_check_is_written_portable(tmp_path, monkeypatch):
    tried = []

    def attempt(folder, made, run, options, rooms):
        tried.append((options.profile, options.activations))
        if options.profile == "fast":
            raise UserError("The export differs.", kind="check", detail="[]")
        return {"notes": []}

    monkeypatch.setattr(exporting, "_attempt", attempt)
    (tmp_path / "made").mkdir()
    report = exporting._make(tmp_path, tmp_path / "made", Run(), OnnxOptions(profile="fast", activations="int8"))
    assert tried == [("fast", "int8"), ("fast", "float32"), ("portable", "float32")]
    assert [note.split()[0] for note in report["notes"]] == ["The", "Activations"]


def test_rounding_that_fails_its_check_is_tried_more_gently_and_then_left(tmp_path, monkeypatch):
    """Torch's trial and onnxruntime's answers differ, so a way that was found good enough may not be."""
    tried = []

    def attempt(folder, made, run, options, rooms):
        tried.append((options.activations, list(rooms)))
        if options.activations == "int8" and len(tried) <= fails:
            rooms[:] = rooms[1:]
            raise UserError("The export differs.", kind="check", detail='[{"check": "one"}]')
        return {"notes": []}

    monkeypatch.setattr(exporting, "_attempt", attempt)
    monkeypatch.setattr(rounding, "ROOMS", (1, 2))
    options = OnnxOptions(activations="int8")
    for fails, expected in ((1, [("int8", [1, 2]), ("int8", [2])]), (2, [("int8", [1, 2]), ("int8", [2]), ("float32", [1, 2])])):
        tried.clear()
        (tmp_path / "made").mkdir(exist_ok=True)
        report = exporting._make(tmp_path, tmp_path / "made", Run(), options)
        assert tried == expected
        assert report["rounding_checks"] == [{"check": "one"}]
        assert bool(report["notes"]) == (fails == 2)


def test_a_mean_over_fewer_tokens_may_be_larger(monkeypatch):
    """By the root of the tokens: 64 of the check's 256 allow twice the divergence."""
    wanted = np.zeros((64, 8))
    found = wanted.copy()
    found[:, 0] = 0.35
    kl = parity.divergence(wanted, found)
    assert parity.ROUNDED["kl"] < kl < 2 * parity.ROUNDED["kl"]
    checks = parity._Checks({}, parity.ROUNDED)
    checks.difference("few", found, wanted)
    assert checks.done[0]["limit"] == pytest.approx(2 * parity.ROUNDED["kl"])
    with pytest.raises(UserError):
        checks.difference("many", np.tile(found, (4, 1)), np.tile(wanted, (4, 1)))


def test_of_two_tokens_as_likely_either_will_do():
    """By probabilities, not by logits: 0.02 of a logit between two that share everything are a hundredth, between two rare ones nothing."""
    wanted = np.array([[2.0, 1.99, -9.0], [2.0, 1.9, -9.0], [0.0, -3.0, -9.0]])
    found = wanted[:, [1, 0, 2]]
    assert parity.undecided(wanted).tolist() == [True, False, False]
    assert parity.kept(wanted, wanted) == 1.0
    assert parity.kept(wanted, found) == pytest.approx(1 / 3)
    checks = parity._Checks({}, parity.ROUNDED)
    with pytest.raises(UserError, match="most likely token"):
        parity._top1(checks, found, wanted)
    checks.max_abs = 9.0  # however large the differences, a decided token that changes counts
    with pytest.raises(UserError, match="most likely token"):
        parity._top1(checks, found, wanted)
    assert parity._top1(parity._Checks({}, parity.ROUNDED), found[:1], wanted[:1]) == {"top1": 0.0, "ties": 1}


def test_a_check_that_fails_for_another_reason_than_rounding_is_told(tmp_path, monkeypatch):
    def attempt(*_):
        raise UserError("The process ended.", kind="check", detail="Segmentation fault")

    monkeypatch.setattr(exporting, "_attempt", attempt)
    (tmp_path / "made").mkdir()
    with pytest.raises(UserError, match="ended"):
        exporting._make(tmp_path, tmp_path / "made", Run(), OnnxOptions(activations="int8"))


# ---- the check's own judgement ----------------------------------------------------------------------------------------------


def test_check_finds_what_is_wrong_with_a_graph(copied, exported):
    report = exported[1]
    expected = {"inputs": report["inputs"], "outputs": report["outputs"], "quantized": {}}
    assert parity.structure(copied, expected)["data_bytes"] == report["data_bytes"]
    with pytest.raises(UserError, match="0 of 14 quantized layers"):
        parity.structure(copied, expected | {"quantized": {"nbits": 14}})
    with pytest.raises(UserError, match=r"names .* was declared"):
        parity.structure(copied, expected | {"inputs": {"ids": ("batch",)}})
    with open(copied / "model.onnx.data", "ab") as data:
        data.write(b"\0" * (3 << 20))
    with pytest.raises(UserError, match=r"3\.1 MB of the data file isn't referenced"):
        parity.structure(copied, expected)


def test_check_finds_a_fixed_axis_and_a_lost_mask(copied, exported):
    report = exported[1]
    expected = {"inputs": report["inputs"], "outputs": report["outputs"], "quantized": {}}
    model = onnx.load(copied / "model.onnx", load_external_data=False)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2
    onnx.save(model, copied / "model.onnx")
    with pytest.raises(UserError, match=r"Axis 0 \(batch\) of input_ids became fixed at 2"):
        parity.structure(copied, expected)
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    for node in model.graph.node:
        for index, name in enumerate(node.input):
            if name == "attention_mask":
                node.input[index] = "input_ids"
    onnx.save(model, copied / "model.onnx")
    with pytest.raises(UserError, match="mask was optimised away"):
        parity.structure(copied, expected)


def test_layers_of_unequal_shape_are_named():
    from core.export.trace import Signature

    axes = lambda heads: ("batch", heads, "past", 8)
    signature = Signature({"input_ids": ("batch", "sequence")} | {f"past_key_values.{i}.key": axes(h) for i, h in enumerate((3, 2, 3))})
    (note,) = exporting._unequal(signature, {"num_key_value_heads": 3})
    assert note.startswith("Layer 1 has 2 key-value heads, the config says 3: transformers")
    assert note.endswith("onnxruntime can.")
    assert exporting._unequal(signature, {"n_head": 4}) == []  # a config without the word says nothing of them


def test_greedy_may_differ_only_at_a_tie(exported, pico_llama):
    """A first difference is forgiven where the original's two best were closer than the numbers' own noise, and nowhere else."""
    loaded = load(pico_llama, dtype="float32")
    answers = parity.reference(loaded.model, loaded.tokenizer, Run(), context=256, cache_name=_cache_name(loaded.model))
    causal = CausalSession(open_session(exported[0]))
    checks = parity._Checks(answers)
    checks.max_abs = 1e-5
    answers["greedy"][10] = (answers["greedy"][10] + 1) % 300
    with pytest.raises(UserError, match="greedy tokens gave 10"):
        parity._compare_greedy(causal, checks)
    answers["margins"][10] = 1e-6
    assert parity._compare_greedy(causal, checks)["first_difference"]["token"] == 10


def _cache_name(model):
    from core.export.trace import cache_name

    return cache_name(model)


def test_nan_isn_t_a_small_difference():
    checks = parity._Checks({})
    with pytest.raises(UserError, match="gave inf"):
        checks.difference("x", np.array([1.0, np.nan]), np.array([1.0, 2.0]))
