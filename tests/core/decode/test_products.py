"""Faster products are the same products."""

import pytest
import torch
from torch import nn

from core.decode import products
from core.decode.products import columns, faster_products, forms, fours


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 9])
def test_every_form_is_the_product(rows):
    x, weight = torch.randn(rows, 40), torch.randn(30, 40)
    for form in forms(rows):
        out = form(x, weight)
        assert out.shape == (rows, 30)
        assert out.is_contiguous()
        assert (out - x @ weight.T).abs().max() < 1e-4


@pytest.fixture
def measured(monkeypatch):
    """Forms chosen without a clock: fours above 4 rows, else padded to 2 or 4 columns."""
    chosen = lambda rows: fours if rows > 4 else products.partial(columns, width=2 if rows < 3 else 4)
    monkeypatch.setattr(products, "_fastest", lambda sample, rows: {shape: chosen(rows) for shape, _ in sample})


def test_layers_are_as_before_afterwards(measured):
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 200, bias=False), nn.Linear(200, 4))
    inputs = [torch.randn(1, n, 256) for n in (1, 2, 3, 4, 5, 6, 9, 40)]
    with torch.inference_mode():
        plain = [model(x) for x in inputs]
        with faster_products([model, model], {1, 2, 4, 9}):
            assert "forward" in model[0].__dict__
            assert "forward" not in model[3].__dict__  # too small to gain
            for x, wanted in zip(inputs, plain, strict=True):
                assert (model(x) - wanted).abs().max() < 1e-4
            with faster_products([model], {1}):  # already faster: left as it is
                pass
            assert "forward" in model[0].__dict__
        assert all("forward" not in layer.__dict__ for layer in model)
        with pytest.raises(RuntimeError, match="within"), faster_products([model], {1}):
            raise RuntimeError("within")
        assert all("forward" not in layer.__dict__ for layer in model)


def test_other_dtypes_are_left_alone(measured):
    model = nn.Sequential(nn.Linear(256, 256)).to(torch.bfloat16)
    with faster_products([model], {1, 2}):
        assert "forward" not in model[0].__dict__


def test_measuring_happens_once(monkeypatch):
    calls = []

    def counted(sample, rows):
        calls.append(rows)
        return dict.fromkeys((shape for shape, _ in sample), None)

    monkeypatch.setattr(products, "_fastest", counted)
    model = nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 256))
    for _ in range(2):
        with faster_products([model], {1, 4}):
            pass
    assert calls == [1, 4]


def test_the_real_measurement_ends_in_a_usable_plan():
    model = nn.Sequential(nn.Linear(256, 512))
    x = torch.randn(1, 1, 256)
    with torch.inference_mode(), faster_products([model], {1, 2, 4, 5}):
        assert torch.allclose(model(x), nn.functional.linear(x, model[0].weight, model[0].bias), atol=1e-4)


def test_sample_is_thinned_but_has_every_shape(monkeypatch):
    monkeypatch.setattr(products, "ENOUGH", 40_000)
    weights = [torch.empty(40, 50) for _ in range(100)] + [torch.empty(9000, 50)]
    sample = products._sample(weights)
    assert {shape for shape, _ in sample} == {(40, 50), (9000, 50)}
    assert sum(w.numel() for _, w in sample) <= 2 * 40_000
