"""T5 as two graphs: the same tokens as transformers' own generate, padded sources, and a script that needs no torch."""

import numpy as np
import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from core.errors import UserError
from core.export import seq2seq
from core.export.onnx import export
from core.export.runtime import open_session, read_graph
from core.models.bring import bring
from core.models.load import load
from core.records import ExportRecord, OnnxOptions
from core.run import Run
from tests.conftest import make_tokenizer
from tests.core.export.test_onnx import names, run_example
from tests.core.models import conftest

SHAPE = {"vocab_size": 300, "d_model": 32, "d_ff": 32, "d_kv": 8, "num_layers": 1, "num_heads": 4, "pad_token_id": 0, "eos_token_id": 1}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """(model's folder, export's folder, report)"""
    folder, to = (tmp_path_factory.mktemp("t5") / name for name in ("model", "out"))
    make_tokenizer(folder)
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(T5Config(**SHAPE, feed_forward_proj="gated-gelu", decoder_start_token_id=0))
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(1.5) if p.ndim > 1 else p
    model.save_pretrained(folder)
    return folder, to, export(folder, to, Run(), options=OnnxOptions(profile="fast"))


def test_two_graphs_write_what_generate_writes(exported):
    _, folder, report = exported
    assert report["max_abs"] <= 1e-4
    assert report["greedy"] == {"tokens": 48, "equal": 48, "first_difference": None}
    assert ExportRecord(folder=str(folder), made=report["made"], task=report["task"]).task == "unknown"  # what a workspace remembers of it
    assert any("fast profile" in note for note in report["notes"])
    assert any("lab" in note for note in report["notes"])  # what the rest of the workbench does with it
    wanted = {"encoder.onnx", "encoder.onnx.data", "decoder.onnx", "decoder.onnx.data", "example.py", "export_report.json"}
    assert wanted <= names(folder)
    inputs = {v.name for v in read_graph(folder / "decoder.onnx").graph.input}
    assert inputs == {"input_ids", "encoder_attention_mask"} | {
        f"past_key_values.0.{part}.{leaf}" for part in ("decoder", "encoder") for leaf in ("key", "value")
    }


def test_the_encoder_holds_no_weight_of_the_decoder_s_own(exported):
    """It's the graph of a whole step, of which only the cross-attention's keys and values are asked for."""
    source, folder, _ = exported
    model = load(source, dtype="float32").model
    kept = [model.shared.weight, *model.encoder.block.parameters(), model.encoder.final_layer_norm.weight]
    kept += [getattr(model.decoder.block[0].layer[1].EncDecAttention, part).weight for part in "kv"]
    size = sum(p.numel() * 4 for p in {id(p): p for p in kept}.values())
    assert abs((folder / "encoder.onnx.data").stat().st_size - size) < 4000  # norms and tables are in the graph itself


def test_the_script_writes_the_same_text(exported):
    source, folder, _ = exported
    loaded = load(source, dtype="float32")
    ids = torch.tensor([loaded.tokenizer.encode("the old sailor")])
    wanted = loaded.model.generate(ids, do_sample=False, num_beams=1, max_new_tokens=8)[0, 1:]
    assert run_example(folder, "the old sailor", "8") == loaded.tokenizer.decode(wanted) + "\n"


verifier = conftest.verifier


def test_it_can_be_imported_though_nothing_else_is_known_of_it(exported, tmp_path, verifier):
    """Import asked it for the next token of a text, which a model with a decoder apart doesn't answer."""
    (tmp_path / "staged").mkdir()
    info, _ = bring(exported[0], tmp_path / "staged", Run())
    assert (info.task, info.model_type) == ("unknown", "t5")
    assert verifier.check(tmp_path / "staged", load(tmp_path / "staged").model, Run()) == 0.0


def test_a_batch_of_sources(exported):
    source, folder, _ = exported
    encoder = open_session(folder / "encoder.onnx")
    ids = np.random.default_rng(0).integers(2, 300, (3, 7))
    mask = np.ones_like(ids)
    mask[1, 4:] = 0
    hidden = encoder.run(["last_hidden_state"], {"input_ids": ids, "attention_mask": mask})[0]
    model = load(source, dtype="float32").model
    with torch.no_grad():
        wanted = model.encoder(torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)).last_hidden_state.numpy()
    assert np.abs((hidden - wanted)[mask == 1]).max() < 1e-4


def test_another_precision_is_refused_before_anything_is_loaded(exported, tmp_path, monkeypatch):
    monkeypatch.setattr("core.models.load.load", lambda *a, **k: pytest.fail("it was loaded"))
    with pytest.raises(UserError, match="in float32 only"):
        export(exported[0], tmp_path / "out", Run(), options=OnnxOptions(precision="float16"))
    with pytest.raises(UserError, match="too old"):
        export(exported[0], tmp_path / "out", Run(), options=OnnxOptions(runtime="1.13"))


def test_a_model_that_names_no_first_token_is_refused():
    model = T5ForConditionalGeneration(T5Config(**SHAPE))
    model.config.decoder_start_token_id = None
    with pytest.raises(UserError, match="which token its answers begin with"):
        seq2seq.start_of(model)
