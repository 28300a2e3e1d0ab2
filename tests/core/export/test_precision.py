"""Graphs in half precision and int8: as close as they must be, and a sentence where a precision can't be had."""

import shutil
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
import torch

from core.data.labels import read_labels
from core.errors import UserError
from core.export import onnx as exporting
from core.export import parity, precision, trace
from core.export.onnx import export
from core.export.runtime import GRAPH, CausalSession, open_session, read_graph
from core.models.load import load
from core.recipe import LabelsRef
from core.records import OnnxOptions, SourceInfo
from core.run import Run
from tests.conftest import make_pico
from tests.core.export.test_onnx import _distilbert

CPU = ["CPUExecutionProvider"]


def test_float16_in_fused_operators(tmp_path):
    """Half the size, weights and cache in float16; the check is that of float32 with the tolerance of its rounding."""
    folder = make_pico(tmp_path / "pico", hidden=64)
    report = export(folder, tmp_path / "out", Run(), options=OnnxOptions(profile="fast", precision="float16"))
    assert (report["profile"], report["weights"], report["precision"]) == ("fast", "float16", "float16")
    assert report["max_abs"] < 0.05
    assert [c["limit"] for c in report["checks"]][:2] == [0.5, 0.99]
    kinds = {t.data_type for t in read_graph(tmp_path / "out").graph.initializer if np.prod(t.dims) > 64}
    assert kinds == {onnx.TensorProto.FLOAT16}
    causal = CausalSession(open_session(tmp_path / "out"))
    ids = np.array([[5, 80, 131, 9]])
    logits, _ = causal.step(ids, np.ones_like(ids), causal.empty(1))
    assert logits.dtype == np.float16
    with torch.no_grad():
        wanted = load(folder, dtype="float32").model(torch.from_numpy(ids)).logits.numpy()
    assert np.abs(logits - wanted).max() < 0.05


def test_a_row_of_padding_alone_stays_a_number_in_float16():
    """The lowest float16 under a score of -40 overflowed, and a row that sees nothing became no number, in later steps everywhere."""
    mask = trace._mask(1, 2, 2, attention_mask=torch.zeros(1, 2, dtype=torch.bool), dtype=torch.float16)
    assert mask.dtype == torch.float16
    q, k = torch.full((1, 1, 2, 8), -40.0).half(), torch.full((1, 1, 2, 8), 40.0).half()
    assert trace.attend(q, k, k.clone(), mask, 1.0, 0.0).isfinite().all()


def test_what_float16_doesn_t_hold_is_named():
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 4))
    ask = lambda: model(torch.ones(1, 4))
    assert 0 < precision.check_range(model, ask) < 10
    with torch.no_grad():
        model[0].weight.fill_(20_000.0)
    with pytest.raises(UserError, match=r"up to 65,504, and 0 of this model reaches 8\d,\d{3}") as caught:
        precision.check_range(model, ask)
    assert "float32" in caught.value.hint
    with torch.no_grad():
        model[0].weight.fill_(float("nan"))
    with pytest.raises(UserError, match="65,504"):
        precision.check_range(model, ask)


def test_rotary_frequencies_stay_float32(pico_llama):
    model = load(pico_llama, dtype="float32").model
    precision.halve(model, torch.float16)
    assert {p.dtype for p in model.parameters()} == {torch.float16}
    assert model.model.rotary_emb.inv_freq.dtype == torch.float32


@pytest.mark.parametrize(
    ("task", "quantization", "kind", "sentence"),
    [
        ("causal-lm", "int4", "float16", "is quantized already"),
        ("causal-lm", None, "int8-dynamic", "for encoders and classifiers"),
        ("diffusion", None, "int8-static", "for encoders and classifiers"),
        ("encoder", None, "bfloat16", "can't compute in bfloat16 on this processor: no kernel"),
    ],
)
def test_what_can_t_be_had_is_said_before_anything_is_loaded(task, quantization, kind, sentence, monkeypatch):
    monkeypatch.setattr(precision, "why_not_bfloat16", lambda: "no kernel")
    info = SourceInfo(source="x", kind="folder", name="x", task=task, quantization=quantization)
    with pytest.raises(UserError, match=sentence) as caught:
        precision.refuse(info, kind)
    assert caught.value.hint
    precision.refuse(info, "float32")


def test_whether_the_runtime_computes_bfloat16_is_asked_of_it():
    """Where it does, an export in bfloat16 is offered; where it doesn't, its reason is an operator's name."""
    why = precision.why_not_bfloat16()
    assert why == "" or "MatMul" in why


# ---- int8 -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    """(folder of a classifier, a float32 graph of it, answers of torch's, what the check is told): traced once."""
    torch.manual_seed(0)
    folder, made = _distilbert(tmp_path_factory.mktemp("int8") / "model"), tmp_path_factory.mktemp("int8") / "made"
    made.mkdir()
    loaded = load(folder, dtype="float32")
    answers = parity.reference(loaded.model, loaded.tokenizer, Run(), context=64, cache_name=None, many=True)
    plan = trace.encoder(loaded.model)
    program, _ = trace.capture(loaded.model, plan)
    exporting._write(trace.convert(program, plan), made, GRAPH)
    declared = {"inputs": plan.signature.inputs, "outputs": plan.signature.outputs, "quantized": {}, "limits": parity.INT8}
    return folder, made, answers, declared, loaded


@pytest.mark.parametrize("kind", ["int8-dynamic", "int8-static"])
def test_int8(classifier, tmp_path, kind, caplog):
    _, made, answers, declared, loaded = classifier
    folder = shutil.copytree(made, tmp_path / "out")
    windows = None
    if kind == "int8-static":
        windows, notes = precision.calibration_windows(loaded.tokenizer, loaded.info, "", Run())
        assert windows.shape == (precision.WINDOWS, 64)  # as wide as the model reads
        assert notes
    dense = precision.quantize(folder / GRAPH, kind, windows)
    figures = parity.compare(folder, answers, declared)
    assert figures["kl"] < parity.INT8["kl"]
    assert figures["max_abs"] > 1e-5  # it was rounded
    assert figures["nodes"].get("MatMulInteger", 0) == (14 if kind == "int8-dynamic" else 0)
    assert dense == (0 if kind == "int8-dynamic" else 3)  # two that lead out of an MLP, and the classes
    whole = sum(t.data_type == onnx.TensorProto.INT8 and len(t.dims) == 2 for t in read_graph(folder).graph.initializer)
    assert whole == 14 - dense
    assert {p.name for p in folder.iterdir()} <= {GRAPH, f"{GRAPH}.data"}  # nothing of the quantizer's own stays
    assert figures["classified"] == 48
    assert "the most likely class" in [c["check"] for c in figures["checks"]]
    assert "pre-processing" not in caplog.text  # onnxruntime's advice at every graph, which would be shown as a warning


def test_a_graph_that_lost_too_much_says_what_to_choose(classifier):
    _, made, answers, declared, _ = classifier
    changed = answers | {"many_answers": answers["many_answers"] + 3 * np.random.default_rng(0).standard_normal((48, 3))}
    with pytest.raises(UserError, match="too much of what the original computes is lost: 48 texts gave") as caught:
        parity.compare(made, changed, declared)
    assert "float32" in caught.value.hint


def test_vectors_are_held_against_each_other_by_their_angle():
    vectors = np.array([[1.0, 0.0], [0.0, 2.0]])
    assert parity.vectors_apart(vectors, 3 * vectors) == pytest.approx(1)
    assert parity.vectors_apart(vectors, vectors[::-1]) == pytest.approx(0)


def test_a_classifier_s_accuracy_is_shown_beside_torch_s(classifier, tmp_path):
    folder, made, *_, loaded = classifier
    rows = "\n".join(f'"{word} {n} the old sailor",LABEL_{n % 3}' for n in range(60) for word in ("a", "the"))
    (tmp_path / "examples.csv").write_text(f"text,label\n{rows}\n")
    shutil.copyfile(folder / "config.json", made / "config.json")
    options = OnnxOptions(labels=LabelsRef(path=str(tmp_path / "examples.csv")))
    notes: list[str] = []
    theirs = exporting._accuracy(loaded.model, loaded, options, Run())
    found = exporting._compared(made, theirs, loaded, options, Run(), notes)["accuracy"]
    assert found["onnx"] == found["torch"]  # a float32 graph tells the same classes
    held = len(exporting_split(options))
    assert found["n"] == held
    right = round(found["torch"]["value"] * held)
    assert notes == [f"Right on {right} of {held} held-out examples, where torch in float32 is right on {right}."]
    assert exporting._compared(made, None, loaded, OnnxOptions(), Run(), notes) == {}


def test_a_tokenizer_that_tells_no_types_is_of_type_0(classifier, monkeypatch):
    """A classifier's accuracy failed where the graph asked for token types and the examples had none."""
    folder, *_ = classifier
    asked = {}

    class Graph:
        def get_inputs(self):
            return [SimpleNamespace(name=name) for name in ("input_ids", "token_type_ids")]

        def run(self, _, feeds):
            asked.update(feeds)
            return [np.zeros((1, 3))]

    monkeypatch.setattr("core.export.runtime.open_session", lambda _: Graph())
    precision.Session(folder)(input_ids=torch.tensor([[4, 5]]))
    assert asked["token_type_ids"].tolist() == [[0, 0]]


def exporting_split(options):
    from core.data.labels import split

    return split(read_labels(options.labels)).heldout


def test_names_of_transformers_js():
    assert exporting._place("transformers.js", {}, "float16") == "onnx/model_fp16.onnx"
    assert exporting._place("transformers.js", {}, "int8-static") == "onnx/model_quantized.onnx"
    assert exporting._place("transformers.js", {"x": SimpleNamespace(bits=4)}) == "onnx/model_q4.onnx"
    assert exporting._place("plain", {}, "float16") == GRAPH
