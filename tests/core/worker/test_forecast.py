"""Predicted speeds: the teacher's own at its own shape, less for less, none where nothing was measured."""

from itertools import cycle
from types import SimpleNamespace

import pytest

from core import methods
from core.methods.distillation import students
from core.models import load, size
from core.records import Measurement, SourceInfo
from core.run import Run
from core.worker import forecast

PARTS = {"embedding": 1000, "attention": 2000, "mlp": 6000, "norm": 100, "head": 900}
INFO = SourceInfo(
    source="x", kind="variant", name="x", task="causal-lm", parameters=10_000, components=PARTS, layers=8, tied=False, vocabulary=300
)


def speeds(decode=100.0, prefill=2000.0, device="cpu") -> list[Measurement]:
    found = {"decode": decode, "prefill": prefill}
    return [Measurement(kind=kind, value=value, conditions={"device": device}) for kind, value in found.items()]


OVERHEADS = forecast.overheads.__wrapped__


@pytest.fixture(autouse=True)
def fixed(monkeypatch):
    monkeypatch.setattr(forecast, "overheads", lambda threads: (0.001, 0.0005))


def test_the_teachers_shape_has_the_teachers_speed():
    assert 1 / forecast.seconds(INFO, 100, 8, 10_000) == pytest.approx(100)


def test_what_is_left_of_layers_and_of_weights_is_what_it_costs():
    rate = (0.01 - 0.001 - 8 * 0.0005) / 9000  # of the embedding one row is read
    assert forecast.seconds(INFO, 100, 2, 4000) == pytest.approx(0.001 + 2 * 0.0005 + rate * 3000)
    assert forecast.seconds(INFO, 100, 2, 4000, width=0.5) == pytest.approx(0.001 + 2 * 0.0005 + rate * 3500)
    tied = INFO.model_copy(update={"tied": True, "components": PARTS | {"head": 0, "embedding": 1900}})
    assert forecast.weights_read(tied, 10_000) == 10_000
    assert forecast.weights_read(tied, 10_000, 0.5) == 10_000 - 950
    assert forecast.weights_read(INFO, 10_000, 0.5) == 9000 - 450


def test_no_layer_is_predicted_to_cost_more_than_the_teacher_does():
    assert 1 / forecast.seconds(INFO, 1000, 8, 10_000) == pytest.approx(1000)
    assert forecast.seconds(INFO, 1000, 4, 10_000) < 1 / 1000


def test_a_busy_moment_makes_no_layer_dearer(monkeypatch):
    busy = cycle([0.004, 0.0, 0.002])
    pair = lambda *_: {"target": {1: 0.001 + 10 * 0.0005 + next(busy)}, "draft": {1: 0.001 + 2 * 0.0005 + next(busy)}}
    monkeypatch.setattr(forecast.calibrate, "pair", pair)
    assert OVERHEADS(1) == pytest.approx((0.001, 0.0005))


def test_a_draft_is_told_its_speed_up_by_acceptance():
    found = forecast.forecast({"layers": 1, "parameters": 2500}, INFO, speeds(), "draft", SimpleNamespace(gamma=8, vocabulary=None), Run())
    one = 1 / found["predicted_decode"]
    assert found["predicted_cost"] == pytest.approx(one * 100)
    for alpha, gamma, gain in found["predicted_speedups"]:
        tokens = (1 - alpha ** (gamma + 1)) / (1 - alpha)
        assert gain == pytest.approx(tokens * 0.01 / (gamma * one + 0.01 + gamma / 2000))
    gains = [gain for *_, gain in found["predicted_speedups"]]
    assert gains == sorted(gains)
    fewer = forecast.forecast({"layers": 1, "parameters": 2500}, INFO, speeds(), "draft", SimpleNamespace(gamma=8, vocabulary=30), Run())
    assert fewer["predicted_cost"] < found["predicted_cost"]


def test_nothing_is_predicted_of_what_was_not_measured_or_is_not_alike():
    shape = {"layers": 1, "parameters": 2500}
    ask = lambda info, measured, found=shape: forecast.forecast(found, info, measured, "distil", SimpleNamespace(), Run())
    assert ask(INFO, []) == {"measured_decode": None}
    assert ask(INFO, speeds(device="cuda:0")) == {"measured_decode": None}
    assert ask(INFO, speeds(), {}) == {}
    assert ask(INFO.model_copy(update={"quantization": "int8"}), speeds()) == {}
    assert "predicted_speedups" not in ask(INFO, speeds())


def test_a_new_students_shape_comes_with_its_estimate(pico_llama):
    loaded = load.load(pico_llama)
    ledger = size.ledger(pico_llama)
    count = lambda model: sum(p.numel() for p in model.parameters())
    fresh = {"begin": "fresh", "layers": 1, "width": 16, "heads": 2}
    made = {
        ("distil", ()): students.shallower(loaded.model, [0]),
        ("distil", tuple(fresh.items())): students.fresh(loaded.model, students.fresh_shape(loaded.info, 1, 16, 2), 0),
        ("draft", (("layers", 1),)): students.shallower(loaded.model, [0]),
    }
    for (method, params), student in made.items():
        found = methods.estimate(method, dict(params), loaded.info, ledger)
        assert (found["layers"], found["parameters"]) == (1, pytest.approx(count(student), rel=0.02))
    assert methods.estimate("distil", {"begin": "narrower"}, loaded.info, ledger)["layers"] == 2
    assert methods.estimate("finetune", {}, loaded.info, ledger).get("layers") is None


def test_an_embedding_is_as_large_however_few_the_layers(pico_llama):
    """Against the student itself: all of its weights but the embedding's rows, of which one is read."""
    loaded, ledger = load.load(pico_llama), size.ledger(pico_llama)
    fresh = {"begin": "fresh", "layers": 1, "width": 16, "heads": 2}
    for params, student in (
        ({"layers": 1}, students.shallower(loaded.model, [0])),
        (fresh, students.fresh(loaded.model, students.fresh_shape(loaded.info, 1, 16, 2), 0)),
    ):
        found = methods.estimate("distil", params, loaded.info, ledger)
        read = sum(p.numel() for p in student.parameters()) - (not loaded.info.tied) * student.get_input_embeddings().weight.numel()
        assert forecast.weights_read(loaded.info, found["parameters"], width=found["width"]) == pytest.approx(read, rel=0.02)


def test_what_a_layer_costs_is_measured(monkeypatch):
    monkeypatch.undo()
    base, each = forecast.overheads(1)
    assert 0 < each < 0.1
    assert base >= 0
    assert forecast.overheads(1) == (base, each)
