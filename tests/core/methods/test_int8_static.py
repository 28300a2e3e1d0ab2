"""Fixed scales: what the observers choose, and that a calibrated model is saved as it computed."""

import pytest
import torch

from core import methods
from core.methods.quantization.observers import BINS, Histogram, observed_range, stored_grid
from core.models import inspect, load, save, size
from core.models.activations import ActivationQuant
from core.models.blocks import linears
from core.models.verify import Verifier
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply
from tests.core.methods.test_w8a8 import IDS, hidden, with_outliers

QUICK = {"windows": 6, "context": 48}
STATIC = ActivationQuant(dynamic=False)
OFFSET = ActivationQuant(dynamic=False, symmetric=False)
KINDS = ("minmax", "percentile", "entropy", "error")


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


def histogram_of(x):
    found = Histogram(float(x.min()), float(x.max()), torch.device("cpu"))
    for part in x.split(1000):
        found.add(part)
    return found


def normal(n=200_000, outlier=0.0):
    x = torch.randn(n, generator=torch.Generator().manual_seed(0))
    if outlier:
        x[0] = outlier
    return x


# ---- observers ----------------------------------------------------------------------------------------------------


def test_a_histogram_counts_everything():
    x = normal(5000)
    found = histogram_of(x)
    assert found.counts.sum() == 5000
    assert found.counts.shape == (BINS,)
    mean = float((found.counts * found.centres).sum() / 5000)
    assert mean == pytest.approx(float(x.mean()), abs=1e-3)
    found.add(torch.tensor([1e9, -1e9]))  # outside: at the ends
    assert found.counts.sum() == 5002


def test_min_max_covers_all():
    assert observed_range("minmax", -3.0, 7.0, None, 1.0, STATIC) == (-3.0, 7.0)


@pytest.mark.parametrize("grid", [STATIC, OFFSET])
@pytest.mark.parametrize("share", [0.9, 0.99, 0.999])
def test_a_percentile_leaves_out_what_it_says(grid, share):
    x = normal() + (0 if grid.symmetric else 0.7)
    low, high = observed_range("percentile", float(x.min()), float(x.max()), histogram_of(x), share, grid)
    kept = float(((x >= low) & (x <= high)).float().mean())
    assert kept == pytest.approx(share, abs=0.002)


@pytest.mark.parametrize("grid", [STATIC, OFFSET])
@pytest.mark.parametrize("kind", ["entropy", "error"])
def test_the_search_gives_up_an_outlier(grid, kind):
    x = normal(outlier=300.0)
    low, high = observed_range(kind, float(x.min()), 300.0, histogram_of(x), 1.0, grid)
    assert 2.5 < high < (60 if kind == "entropy" else 250)
    if not grid.symmetric:
        assert low < -2  # drawn in apart from the upper end
    clean = normal()
    low, high = observed_range(kind, float(clean.min()), float(clean.max()), histogram_of(clean), 1.0, grid)
    assert 2 < max(high, -low) <= float(clean.abs().max())


def test_least_error_is_the_least_of_all():
    x = normal(outlier=40.0)

    def error(kind):
        low, high = observed_range(kind, float(x.min()), 40.0, histogram_of(x), 0.9999, STATIC)
        return float((STATIC.fake(x, *stored_grid(STATIC, low, high, torch.float32)) - x).square().sum())

    found = {kind: error(kind) for kind in KINDS}
    assert found["error"] <= 1.02 * min(found.values())


def test_a_layer_whose_input_never_moves():
    zeros = histogram_of(torch.zeros(10))
    for kind in KINDS:
        assert observed_range(kind, 0.0, 0.0, zeros, 0.99, STATIC) == (0.0, 0.0)
    scale, zero = stored_grid(OFFSET, 0.0, 0.0, torch.bfloat16)
    assert torch.isfinite(scale).all()
    assert OFFSET.fake(torch.zeros(1, 2, 3), scale, zero).abs().max() == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_zero_belongs_to_the_stored_scale(dtype):
    scale, zero = stored_grid(OFFSET, -0.7, 5.1, dtype)
    assert scale.dtype == dtype
    assert scale.shape == zero.shape == (1,)
    x = torch.linspace(-0.7, 5.1, 1000)[None, None]
    assert (OFFSET.fake(x, scale, zero) - x).abs().max() <= 0.51 * float(scale) + 0.02 * 5.1 * (dtype == torch.bfloat16)
    assert stored_grid(STATIC, -0.7, 5.1, dtype)[1] is None


# ---- the method ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["pico_llama", "pico_bert"])
@pytest.mark.parametrize("values", [{}, *({"observer": kind, "smooth": 0} for kind in KINDS), {"activations": "offset"}])
def test_what_is_made_reloads_as_it_was(request, verifier, tmp_path, source, values):
    folder = request.getfixturevalue(source)
    outcome = apply("int8_static", load.load(folder), **QUICK | values)
    made = tmp_path / "made"
    made.mkdir()
    save.save(outcome.model, made, folder, run=Run())
    assert verifier.check(made, outcome.model, Run()) <= 1e-5
    assert "int8 activations (fixed scales)" in inspect.inspect(made).quantization
    for again in (load.load(made), load.load(made, packed=True)):
        assert torch.equal(hidden(again.model), hidden(outcome.model))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("activations", ["symmetric", "offset"])
def test_the_size_is_estimated(tmp_path, dtype, activations):
    folder = make_pico(tmp_path / "pico", hidden=64, layers=3, dtype=dtype)
    made = tmp_path / "made"
    made.mkdir()
    values = QUICK | {"activations": activations}
    guess = methods.estimate("int8_static", values, inspect.inspect(folder), size.ledger(folder))
    save.save(apply("int8_static", load.load(folder), **values).model, made, folder, run=Run())
    real = size.ledger(made, original_parameters=size.ledger(folder).parameters)
    assert guess["bytes_on_disk"] == pytest.approx(real.bytes_on_disk, rel=0.03)
    assert guess["effective_bits"] == pytest.approx(real.effective_bits, rel=0.03)
    assert guess["seconds"] > 0


def test_smoothing_helps_fixed_scales_most(pico_llama, tmp_path):
    folder = with_outliers(pico_llama, tmp_path)
    want = hidden(load.load(folder).model)
    error = lambda **values: float((hidden(apply("int8_static", load.load(folder), **QUICK | values).model) - want).square().mean().sqrt())
    assert error(smooth=0.5) < 0.5 * error(smooth=0, observer="minmax")


def test_every_layer_tells_its_error_and_has_one_scale(pico_llama):
    run = Recorder()
    loaded = load.load(pico_llama)
    outcome = apply("int8_static", loaded, run, **QUICK)
    told = {e.name.removeprefix("error/") for e in run.events if getattr(e, "name", "").startswith("error/")}
    layers = dict(linears(outcome.model))
    assert told == set(layers)
    for module in layers.values():
        assert module.input_scale.shape == (1,)
        assert module.input_zero_point is None
    assert torch.isfinite(hidden(outcome.model, IDS)).all()
    assert any("Clipped of the inputs seen" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({}, "int8 static error, smoothed 0.5"),
        ({"observer": "percentile", "percentile": 99.9, "smooth": 0}, "int8 static percentile 99.9"),
        ({"observer": "minmax", "activations": "offset", "smooth": 0}, "int8 static minmax asymmetric"),
    ],
)
def test_its_name(values, name):
    method = methods.get("int8_static")
    assert methods.label(method, methods.checked(method, values)) == name
