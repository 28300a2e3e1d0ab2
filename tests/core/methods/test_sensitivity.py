"""Sensitivity: against whole forwards of a model with that layer quantized, on several architectures; and that nothing is left changed."""

import pytest
import torch
from torch.nn import functional as F

from core.allocation import DENSE, SensitivityMap
from core.errors import Cancelled, UserError
from core.methods import sensitivity
from core.methods.quantization import grid
from core.models import load, packed
from core.models.blocks import linears, replace
from core.models.packed import PackedLinear
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, same

GROUP = 16


def measure(model, ids, run=None, widths=(8, 3), **more):
    settings = {"widths": widths, "group": GROUP, "clip": False, "scale_dtype": torch.float32, "dense_bytes": 4} | more
    layers = [(n, m) for n, m in linears(model) if isinstance(m, torch.nn.Linear)]
    return sensitivity.measure(model, ids, layers, run or Recorder(), **settings)


def draw(model, windows=3, context=24):
    return torch.randint(0, model.config.vocab_size, (windows, context), generator=torch.Generator().manual_seed(3))


def outputs(model, ids):
    with torch.no_grad():
        return F.log_softmax(model(input_ids=ids).logits.double(), -1)


def by_hand(folder, ids, name, bits):
    """KL of a model whose one layer is packed, by two whole forwards."""
    model = load.load(folder).model
    log_p = outputs(model, ids)
    layer = model.get_submodule(name)
    own = sensitivity.grid_for(bits, GROUP)
    quant = grid.round_to_nearest(layer.weight, bits, GROUP if bits < 8 else None, grid.symmetric(own), False, torch.float32)
    replace(model, name, PackedLinear.from_linear(layer, quant))
    return float((log_p.exp() * (log_p - outputs(model, ids))).sum(-1).mean())


@pytest.mark.parametrize("rows", [1, 4096])
def test_it_is_what_whole_forwards_give(pico_llama, monkeypatch, rows):
    monkeypatch.setattr(sensitivity, "TOKENS", 24 * rows)  # one window at a time, or all of them
    model = load.load(pico_llama).model
    ids = draw(model)
    costs = measure(model, ids)
    assert [c.name for c in costs] == [n for n, _ in linears(model)]
    for cost in costs[::3]:
        for bits in (8, 3):
            expected = by_hand(pico_llama, ids, cost.name, bits)
            assert cost.kl[bits] == pytest.approx(expected, rel=1e-3, abs=1e-9)
            assert cost.stderr[bits] > 0
        assert cost.kl[3] > cost.kl[8] > 0
        assert cost.kl[DENSE] == 0


def test_the_model_is_left_as_it_was_and_each_layer_is_told_of(pico_llama):
    model = load.load(pico_llama).model
    run, told = Recorder(), []
    measure(model, draw(model), run, tell=told.append)
    assert same(model, load.load(pico_llama).model)
    assert [c.name for c in told] == [n for n, _ in linears(model)]
    assert not any("forward" in m.__dict__ for m in model.modules())
    stages = [e for e in run.events if getattr(e, "stage", "") == "Measuring sensitivity"]
    assert stages[-1].done == stages[-1].total == 14


def test_a_cancelled_one_leaves_the_model_as_it_was_and_goes_on_from_there(pico_llama):
    model = load.load(pico_llama).model
    ids, run, told = draw(model), Recorder(), []

    def tell(cost):
        told.append(cost)
        if len(told) == 9:
            run.control("cancel")

    with pytest.raises(Cancelled):
        measure(model, ids, run, tell=tell)
    assert same(model, load.load(pico_llama).model)
    assert len(told) == 9
    rest = []
    costs = measure(model, ids, known=told, tell=rest.append)
    assert len(rest) == 5
    assert costs == measure(load.load(pico_llama).model, ids)  # to the last digit


def test_nothing_is_run_where_all_is_known(pico_llama):
    model = load.load(pico_llama).model
    costs = measure(model, draw(model))
    model.forward = None
    assert measure(model, None, known=costs) == costs


def test_bfloat16_is_measured_in_float32_and_stays_what_it_was(tmp_path):
    folder = make_pico(tmp_path / "bf16", dtype="bfloat16")
    model, wide = load.load(folder, dtype="bfloat16").model, load.load(folder, dtype="float32").model
    ids = draw(model)
    costs = measure(model, ids, scale_dtype=torch.bfloat16)
    reference = measure(wide, ids, scale_dtype=torch.bfloat16)
    for mine, theirs in zip(costs, reference, strict=True):
        assert mine.kl[8] == pytest.approx(theirs.kl[8], rel=1e-3)
    assert same(model, load.load(folder, dtype="bfloat16").model)


def test_a_classifier_has_one_position(tmp_path):
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    config = BertConfig(vocab_size=60, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, num_labels=3)
    model = BertForSequenceClassification(config).eval()
    costs = measure(model, draw(model))
    assert {c.block for c in costs} == {0, 1}
    assert all(c.kl[3] > 0 for c in costs)
    assert not any("pooler" in c.name for c in costs)


def test_an_encoder_has_no_probabilities(pico_bert):
    model = load.load(pico_bert).model
    with pytest.raises(UserError, match="gives no probabilities"):
        measure(model, draw(model))


def test_too_little_memory_is_told_beforehand(pico_llama, monkeypatch):
    monkeypatch.setattr(sensitivity.devices, "free_bytes", lambda device: 1000)
    model = load.load(pico_llama).model
    with pytest.raises(UserError, match="MB are free"):
        measure(model, draw(model))


@pytest.mark.parametrize("bits", [8, 6, 5, 4, 3, 2])
def test_bytes_are_those_that_are_written(bits):
    weight = torch.randn(24, 48)
    own = sensitivity.grid_for(bits, GROUP)
    quant = packed.quantize(weight, bits, GROUP if bits < 8 else None, grid.symmetric(own), scale_dtype=torch.bfloat16)
    written = packed.to_layout(quant, torch.bfloat16)
    stored = sum(t.numel() * t.element_size() for n, t in written.items() if n != "weight_shape")
    assert sensitivity.layer_bytes(24, 48, bits, GROUP, 2) == stored


def test_a_map_is_kept_under_its_conditions(tmp_path, pico_llama):
    model = load.load(pico_llama).model
    ids = draw(model)
    settings = dict(text="a", text_hash="f" * 64, ids=ids, widths=(8, 3), group=GROUP, clip=False, seed=0, device="cpu")
    known = sensitivity.conditions(**settings)
    path = sensitivity.file_of(tmp_path, known)
    assert sensitivity.read(path) is None
    found = SensitivityMap(widths=(8, 3), layers=measure(model, ids), conditions=known, complete=True)
    sensitivity.write(path, found)
    assert sensitivity.read(path) == found
    for change in ({"clip": True}, {"ids": ids[:2]}, {"group": 8}, {"widths": (8, 4)}, {"device": "cuda:0"}):
        assert sensitivity.file_of(tmp_path, sensitivity.conditions(**(settings | change))) != path
    assert sensitivity.file_of(tmp_path, sensitivity.conditions(**(settings | {"text": "b"}))) == path
    path.write_text("{", encoding="utf-8")
    assert sensitivity.read(path) is None


def test_a_run_without_listeners_is_enough(pico_llama):
    model = load.load(pico_llama).model
    assert len(measure(model, draw(model, 1), Run(), widths=(4,))) == 14
