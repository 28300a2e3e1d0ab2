"""The jobs of core.worker.exported, and generating by name: here, since one export of the pico Llama does for all of them."""

import shutil
from pathlib import Path

import onnxruntime
import pytest
import torch

from core import events, exports
from core.errors import UserError
from core.export import runtime
from core.export.onnx import export
from core.models import inspect
from core.models.load import load
from core.recipe import Recipe, Source
from core.records import (
    ClassifyExportSpec,
    CompareExportSpec,
    ExactnessSpec,
    FindDraftSpec,
    GenerateSpec,
    Job,
    Ledger,
    LookExportSpec,
    TryExportSpec,
    Variant,
)
from core.run import Run
from core.worker import exported as jobs
from core.worker import tasks
from core.workspace import Workspace
from tests.conftest import make_tokenizer

PROMPT = "the old sailor told"


def variant_of(home: Workspace, folder: Path, name: str, parent: str | None = None) -> Variant:
    with home.staging(f"{name}-000000") as staged:
        shutil.copytree(folder, staged, dirs_exist_ok=True)
        info = inspect.inspect(staged)
        ledger = Ledger(bytes_on_disk=100, weight_bytes=90, parameters=45, nonzero=45, effective_bits=16, original_parameters=45)
        variant = Variant(id=staged.name, name=name, parent=parent, info=info, ledger=ledger, recipe=Recipe(source=Source(name=name)))
        home.commit(staged, variant)
    return variant


@pytest.fixture(scope="module")
def home(tmp_path_factory, pico_llama, pico_draft, exported):
    """A workspace with the pico Llama as a variant of the smaller one, and its export remembered."""
    home = Workspace(tmp_path_factory.mktemp("jobs") / "ws", create=True)
    root = variant_of(home, pico_draft, "small")
    made = variant_of(home, pico_llama, "pico", root.id)
    jobs.remember(home, made.id, exported[0], exported[1])
    return home


def ran(kind, spec, seen=None):
    return tasks.TASKS[kind](
        Job(id="job", title="t", spec=spec, device="cpu"), Run("job", seen.append if seen is not None else lambda _: None)
    )


def test_an_export_is_remembered_with_its_check(home, exported):
    folder, report = exported
    (record,) = home.exports("pico-000000")
    assert record.folder == str(folder)
    assert (record.made, record.bytes, record.max_abs, record.top1) == (report["made"], report["bytes"], report["max_abs"], 1.0)
    assert exports.why_not(record) == ""


def test_three_ways(home, exported, pico_llama):
    """The small model is the 'original': it parts from the variant at once, and the export doesn't part from the variant."""
    spec = CompareExportSpec(workspace=str(home.folder), folder=str(exported[0]), prompts=(PROMPT, "a cold night"), max_new_tokens=12)
    result = ran("compare-export", spec)
    assert list(result["forms"]) == ["original", "variant", "export"]
    assert result["forms"]["export"]["tokens_per_s"] > 0
    assert [row["prompt"] for row in result["prompts"]] == [PROMPT, "a cold night"]
    wanted = ran("generate", GenerateSpec(workspace=str(home.folder), target="pico-000000", prompt=PROMPT, max_new_tokens=12))
    first = result["prompts"][0]
    assert first["forms"]["variant"]["ids"] == first["forms"]["export"]["ids"] == wanted["ids"]
    assert "".join(first["forms"]["export"]["pieces"]) == wanted["text"]
    assert first["parts"]["export"] is None
    assert first["parts"]["variant"]["position"] == 0
    assert first["parts"]["variant"]["margin"] > 0
    assert 0 <= result["busy"] <= 1


def test_a_divergence_is_found_with_torchs_margin(home, exported, monkeypatch):
    """The export's logits with the likeliest token left out at one step: a broken export, as far as anyone can see."""
    step, calls = runtime.CausalSession.step, []

    def broken(self, ids, mask, cache):
        logits, grown = step(self, ids, mask, cache)
        calls.append(ids.shape[1])
        if len(calls) == 5:  # the prompt, then the fourth token
            logits = logits.copy()
            logits[0, -1, logits[0, -1].argmax()] = -100
        return logits, grown

    monkeypatch.setattr(runtime.CausalSession, "step", broken)
    spec = CompareExportSpec(
        workspace=str(home.folder), folder=str(exported[0]), variant="pico-000000", prompts=(PROMPT,), max_new_tokens=8
    )
    parts = ran("compare-export", spec)["prompts"][0]["parts"]["export"]
    assert parts["position"] == 3
    wanted = ran("generate", GenerateSpec(workspace=str(home.folder), target="pico-000000", prompt=PROMPT, max_new_tokens=8))
    loaded = load(home.path("pico-000000"), dtype="float32")
    ids = [*loaded.tokenizer(PROMPT)["input_ids"], *wanted["ids"][:3]]
    with torch.no_grad():
        best = loaded.model(torch.tensor([ids])).logits[0, -1].topk(2).values
    assert parts["margin"] == pytest.approx(float(best[0] - best[1]), abs=1e-3)


def test_whose_export_it_is_must_be_known(home, exported, tmp_path):
    elsewhere = shutil.copytree(exported[0], tmp_path / "elsewhere")
    with pytest.raises(UserError, match="doesn't know which of its variants"):
        ran("compare-export", CompareExportSpec(workspace=str(home.folder), folder=str(elsewhere), prompts=(PROMPT,)))


def test_exports_are_named_where_variants_are(home, exported):
    """As target and as draft; a draft named twice is one model with two caches."""
    name = exports.reference(exported[0])
    plain = ran("generate", GenerateSpec(workspace=str(home.folder), target="pico-000000", prompt=PROMPT, max_new_tokens=16))
    common = {"workspace": str(home.folder), "prompt": PROMPT, "max_new_tokens": 16, "proposer": "draft", "race": True}
    for target, draft in ((name, "pico-000000"), ("pico-000000", name), (name, name)):
        result = ran("generate", GenerateSpec(target=target, draft=draft, **common))
        assert result["ids"] == plain["ids"]
        assert result["identical"] is True
        assert result["accepted"] == result["tested"] > 0
    result = ran("generate", GenerateSpec(target=name, draft=name, beside="pico-000000", **common))
    assert list(result["lanes"]) == ["speculative", "plain", "beside"]
    assert ran("generate", GenerateSpec(**common | {"workspace": "", "target": name, "draft": name}))["ids"] == plain["ids"]
    spec = ExactnessSpec(workspace=str(home.folder), target=name, prompt=PROMPT, proposer="draft", draft=name, runs=50, tokens=1)
    assert ran("exactness", spec)["passed"]


def test_what_cant_be_is_said(home, exported):
    name = exports.reference(exported[0])
    with pytest.raises(UserError, match="what it computes in was chosen"):
        ran("generate", GenerateSpec(workspace=str(home.folder), target=name, prompt=PROMPT, dtype="bfloat16"))
    with pytest.raises(UserError, match="isn't there any more"):
        ran("generate", GenerateSpec(workspace=str(home.folder), target="onnx:/nowhere/at/all", prompt=PROMPT))
    with pytest.raises(UserError, match="no workspace was given"):
        ran("generate", GenerateSpec(workspace="", target="pico-000000", prompt=PROMPT))


def test_find_a_draft_tries_exports_too(home, exported):
    seen = []
    spec = FindDraftSpec(
        workspace=str(home.folder), target="pico-000000", prompts=(PROMPT,), proposers=("draft",), max_new_tokens=8, gamma=2, repeats=1
    )
    rows = ran("find-draft", spec, seen)["rows"]
    assert [row["draft"] for row in rows] == ["small-000000", exports.reference(exported[0])]
    assert rows[1]["memory"] >= exported[1]["data_bytes"]
    assert rows[1]["cost"] > 0


def test_a_chosen_provider_that_doesnt_take_the_graph_is_said(exported, monkeypatch):
    """onnxruntime with CUDA listed, whose sessions fall back to the CPU as they do where no driver is there."""
    made = onnxruntime.InferenceSession
    asked = []

    def session(path, options, providers):
        asked.append(providers)
        return made(path, options, providers=["CPUExecutionProvider"])

    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"])
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    seen = []
    result = ran("try-export", TryExportSpec(folder=str(exported[0]), prompt=PROMPT, max_new_tokens=2, provider="cuda"), seen)
    assert asked == [["CUDAExecutionProvider", "CPUExecutionProvider"]]
    assert result["provider"] == "cpu"
    assert [e.text for e in seen if isinstance(e, events.Log)] == ["CUDA didn't take this graph on: CPU computes it."]


def test_looking_into_an_export(exported):
    folder, report = exported
    found = ran("look-export", LookExportSpec(folder=str(folder)))
    assert found["contents"]["operators"] == report["contents"]["operators"]
    assert found["report"]["made"] == report["made"]
    assert found["graph"] == str(folder / "model.onnx")


def test_of_two_graphs_the_decoder_is_looked_into(exported, tmp_path):
    folder = shutil.copytree(exported[0], tmp_path / "two")
    (folder / "model.onnx").rename(folder / "decoder.onnx")
    found = ran("look-export", LookExportSpec(folder=str(folder)))
    assert found["graph"] == str(folder / "decoder.onnx")
    assert found["contents"]["operators"] == exported[1]["contents"]["operators"]


# ---- classifiers ----------------------------------------------------------------------------------------------------------


def test_a_classifier_on_a_persons_texts(home, tmp_path):
    source = classifier(tmp_path / "source")
    variant = variant_of(home, source, "judge")
    report = export(home.path(variant.id), tmp_path / "out", Run())
    jobs.remember(home, variant.id, tmp_path / "out", report)
    spec = ClassifyExportSpec(workspace=str(home.folder), folder=str(tmp_path / "out"), texts=("the old sailor", " ", "a cold dark night"))
    found = ran("classify-export", spec)
    assert found["classes"] == ["poor", "fine", "great"]
    assert [row["text"] for row in found["rows"]] == ["the old sailor", "a cold dark night"]
    loaded = load(source, dtype="float32")
    for row in found["rows"]:
        with torch.no_grad():
            wanted = loaded.model(**loaded.tokenizer(row["text"], return_tensors="pt")).logits[0].softmax(-1).tolist()
        assert row["export"] == pytest.approx(wanted, abs=1e-4)
        assert row["torch"] == pytest.approx(wanted, abs=1e-5)
    assert found["largest"] < 1e-4
    assert min(found["seconds"].values()) > 0
    with pytest.raises(UserError, match="no text to classify"):
        ran("classify-export", spec.model_copy(update={"texts": ("",)}))


def test_a_language_model_doesnt_classify(home, exported):
    spec = ClassifyExportSpec(workspace=str(home.folder), folder=str(exported[0]), texts=("x",))
    with pytest.raises(UserError, match="This export doesn't classify"):
        ran("classify-export", spec)


def classifier(folder: Path) -> Path:
    from transformers import BertConfig, BertForSequenceClassification

    folder.mkdir()
    tokenizer = make_tokenizer(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4}
    config = BertConfig(
        vocab_size=len(tokenizer), max_position_embeddings=64, id2label={0: "poor", 1: "fine", 2: "great"}, pad_token_id=0, **shape
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim > 1:
                p.mul_(8)
    model.save_pretrained(folder)
    return folder
