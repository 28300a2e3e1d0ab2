"""The precision ladder and fp8: what's lost is counted, ranges are checked, and what's saved is of the type."""

import pytest
import torch

import core.worker.tasks as tasks
from core import methods
from core.errors import UserError
from core.methods.quantization.cast import Lost, peak
from core.models import inspect, load, save, size, tensors
from core.models.activations import FP8, ActivationQuant, fp8_product, multiplies_fp8
from core.models.blocks import linears
from core.models.packed import PackedLinear
from core.models.verify import Verifier
from core.recipe import Step
from core.records import ApplySpec, ImportSpec, Job
from core.run import Run
from core.workspace import Workspace
from tests.conftest import make_pico
from tests.core.methods.conftest import apply, give

NAMES = {"float64": "F64", "float32": "F32", "bfloat16": "BF16", "float16": "F16"}
IDS = torch.randint(1, 300, (2, 24), generator=torch.Generator().manual_seed(3))


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


def saved(outcome, folder, made):
    made.mkdir()
    save.save(outcome.model, made, folder, run=Run(), dtype=outcome.dtype)
    return made


@pytest.mark.parametrize("source", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("to", [*NAMES, "fp8"])
def test_every_step_of_the_ladder(verifier, tmp_path, source, to):
    folder = make_pico(tmp_path / "source", dtype=source)
    outcome = apply("cast", load.load(folder), None, give(load.load(folder)), to=to)
    made = saved(outcome, folder, tmp_path / "made")
    assert verifier.check(made, outcome.model, Run()) <= 1e-5
    stored = {info.dtype for info in tensors.headers(made).values()}
    assert stored == ({NAMES[to]} if to != "fp8" else {"F8_E4M3", NAMES[source]})
    found = inspect.inspect(made)
    assert (found.quantization is not None) == (to == "fp8")
    guess = methods.estimate("cast", {"to": to}, inspect.inspect(folder), size.ledger(folder))
    assert guess["bytes_on_disk"] == pytest.approx(size.ledger(made).bytes_on_disk, rel=0.03)
    assert ("nothing is lost" in outcome.notes[0]) == (to in (source, "float64", "float32"))  # the source began in float32


def test_float64_keeps_what_float32_does_not_hold(tmp_path):
    folder = make_pico(tmp_path / "source", dtype="float64")
    model = load.load(folder, dtype=torch.float64).model
    for parameter in model.parameters():
        parameter.data *= 1 + 1e-12
    model.save_pretrained(folder)
    assert "nothing is lost" not in apply("cast", load.load(folder), None, give(load.load(folder)), to="float32").notes[0]
    exact = dict(tensors.read(tensors.headers(folder)))
    outcome = apply("cast", load.load(folder), None, give(load.load(folder)), to="float64")
    made = saved(outcome, folder, tmp_path / "made")
    assert all(torch.equal(t, exact[name]) for name, t in tensors.read(tensors.headers(made)))


def test_values_are_rounded_to_nearest_even(tmp_path, pico_llama):
    exact = dict(tensors.read(tensors.headers(pico_llama)))
    outcome = apply("cast", load.load(pico_llama), to="bfloat16")
    made = saved(outcome, pico_llama, tmp_path / "made")
    for name, tensor in tensors.read(tensors.headers(made)):
        assert torch.equal(tensor, exact[name].to(torch.bfloat16))


def test_what_is_lost_is_counted():
    before = torch.tensor([1.0, 1.0 + 2**-20, 1e-9, 70000.0, 0.0, -3.0])
    after = before.clamp(-65504, 65504).to(torch.float16)
    lost = Lost().add(before, after, 65504)
    assert (lost.numbers, lost.changed, lost.vanished, lost.beyond) == (6, 3, 1, 1)
    assert "50.0 % of 6 numbers changed" in lost.sentence("float16")
    assert "1 became zero, 1 were out of range and clipped" in lost.sentence("float16")
    assert "nothing is lost" in Lost().add(before, before.double(), 1e308).sentence("float64")


def test_weights_out_of_range_are_refused_or_clipped(verifier, tmp_path, pico_llama):
    loaded = load.load(pico_llama)
    loaded.model.model.layers[0].mlp.up_proj.weight.data[0, 0] = 1e5
    with pytest.raises(UserError, match=r"up_proj.* holds numbers up to 1e\+05, and float16 ends at 65504"):
        apply("cast", loaded, to="float16")
    outcome = apply("cast", loaded, to="float16", beyond="clip")
    assert "1 were out of range and clipped" in outcome.notes[0]
    made = saved(outcome, pico_llama, tmp_path / "made")
    assert dict(tensors.read(tensors.headers(made)))["model.layers.0.mlp.up_proj.weight"][0, 0] == 65504
    assert verifier.check(made, outcome.model, Run()) <= 1e-4


def test_numbers_that_flow_out_of_range_are_told(pico_llama):
    loaded = load.load(pico_llama)
    assert peak(loaded.model) < 1e4
    assert not any("Careful" in note for note in apply("cast", loaded, to="float16").notes)
    loaded.model.model.layers[0].mlp.down_proj.weight.data *= 1e4
    loaded.model.model.layers[0].mlp.up_proj.weight.data *= 200
    outcome = apply("cast", loaded, to="float16")
    assert any("overflows" in note and "float16 ends at 65504" in note for note in outcome.notes)
    assert not any("Careful" in note for note in apply("cast", loaded, to="bfloat16").notes)


def test_scales_save_fp8(pico_llama):
    error = {}
    for scale in ("channel", "tensor", "none"):
        loaded = load.load(pico_llama)
        for _, module in linears(loaded.model):
            module.weight.data /= 100  # as small as a real model's
        before = {n: m.weight.clone() for n, m in linears(loaded.model)}
        outcome = apply("cast", loaded, to="fp8", scale=scale)
        error[scale] = sum(float((m.weight - before[n]).square().sum()) for n, m in linears(outcome.model))
    assert error["channel"] <= error["tensor"] < 0.2 * error["none"]


def test_a_plain_cast_to_fp8_clips_only_where_asked(pico_llama):
    loaded = load.load(pico_llama)
    loaded.model.model.layers[0].mlp.up_proj.weight.data[0, 0] = 500.0
    with pytest.raises(UserError, match="fp8 ends at 448"):
        apply("cast", loaded, to="fp8", scale="none")
    outcome = apply("cast", loaded, to="fp8", scale="none", beyond="clip")
    assert "1 were out of range and clipped" in outcome.notes[0]
    assert outcome.model.model.layers[0].mlp.up_proj.weight[0, 0] == 448


def test_the_worker_stores_the_type(tmp_path, pico_llama, pico_text):
    home = str(tmp_path / "home")
    at = lambda spec: Job(id="j", title="t", spec=spec)
    first = tasks.import_model(at(ImportSpec(workspace=home, source=str(pico_llama), measure=False)), Run())["variant"]
    spec = ApplySpec(workspace=home, variant=first, steps=(Step(method="cast", params={"to": "float16"}),), measure=False)
    made = tasks.apply(at(spec), Run())["variant"]
    variant = Workspace(home).variant(made)
    assert set(variant.info.dtypes) == {"F16"}
    assert variant.name == "cast float16"
    assert variant.ledger.weight_bytes * 2 == Workspace(home).variant(first).ledger.weight_bytes


# ---- fp8 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["pico_llama", "pico_bert"])
@pytest.mark.parametrize("activations", ["dynamic", "none"])
def test_fp8_reloads_as_it_was(request, verifier, tmp_path, source, activations):
    folder = request.getfixturevalue(source)
    outcome = apply("fp8", load.load(folder), activations=activations)
    made = saved(outcome, folder, tmp_path / "made")
    assert verifier.check(made, outcome.model, Run()) <= 1e-5
    assert inspect.inspect(made).quantization.startswith("fp8 per channel")
    assert any("Simulated: cpu" in note for note in outcome.notes) == (activations == "dynamic")
    guess = methods.estimate("fp8", {"activations": activations}, inspect.inspect(folder), size.ledger(folder))
    assert any("Simulated" in note for note in guess["notes"])
    if source == "pico_llama":
        assert guess["bytes_on_disk"] == pytest.approx(size.ledger(made).bytes_on_disk, rel=0.03)


def test_the_product_in_fp8_is_the_simulated_one():
    """torch computes it on a CPU too, only not fast; out in bfloat16."""
    generator = torch.Generator().manual_seed(0)
    x, weight = torch.randn(2, 3, 32, generator=generator), torch.randn(16, 32, generator=generator)
    scale = weight.abs().amax(1, keepdim=True) / 448
    codes = (weight / scale).to(FP8)
    bias = torch.randn(16, generator=generator)
    want = torch.nn.functional.linear(ActivationQuant(kind="float").fake(x), codes.float() * scale, bias)
    got = fp8_product(x, codes, scale, bias)
    assert got.shape == want.shape
    assert (got - want).abs().max() < 2**-7 * want.abs().max()
    assert not multiplies_fp8("cpu")


@pytest.mark.gpu
def test_a_gpu_multiplies_in_fp8(pico_llama):
    if not multiplies_fp8("cuda"):
        pytest.skip("this GPU has no fp8 products")
    loaded = load.load(pico_llama, device="cuda", dtype="bfloat16")
    outcome = apply("fp8", loaded, None, give(loaded, device="cuda:0"))
    module = next(m for _, m in linears(outcome.model) if isinstance(m, PackedLinear))
    x = torch.randn(1, 4, module.in_features, device="cuda", dtype=torch.bfloat16)
    assert module._in_fp8(x)
    want = torch.nn.functional.linear(module.rounded(x).float(), module.weight.float())
    assert (module(x).float() - want).abs().max() < 0.05 * want.abs().max()
    assert not any("Simulated" in note for note in outcome.notes)
