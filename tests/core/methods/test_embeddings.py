"""Embedding and head in 8 and 4 bits: stored once, reloaded by plain transformers as they were, or refused with why."""

import pytest
import torch

from core import methods
from core.errors import UserError
from core.methods.quantization.gptq import GptqParams
from core.methods.quantization.grid import embedding_problem, symmetric
from core.methods.quantization.rtn import RtnParams
from core.models import inspect, load, packed, save, size, tensors
from core.models.packed_embedding import PackedEmbedding, TiedHead
from core.models.streamed import Finished, Streamed
from core.models.verify import Verifier
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import apply, give
from tests.core.methods.test_streamed import pico_gemma  # noqa: F401

STORABLE = [
    {"bits": 8, "embeddings": 8},
    {"bits": 8, "embeddings": 8, "symmetric": True},
    {"bits": 8, "embeddings": 8, "granularity": "group", "group_size": 16},
    {"bits": 4, "embeddings": 8},
    {"bits": 3, "embeddings": 8},
    {"bits": 4, "embeddings": 4},
]


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as v:
        yield v


@pytest.fixture(scope="module")
def tied(tmp_path_factory):
    return make_pico(tmp_path_factory.mktemp("pico") / "tied", dtype="bfloat16")


@pytest.fixture(scope="module")
def untied(tmp_path_factory):
    return make_pico(tmp_path_factory.mktemp("pico") / "untied", dtype="bfloat16", tied=False)


def made(name, folder, to, **values):
    loaded = load.load(folder)
    model = apply(name, loaded, **values).model
    to.mkdir(exist_ok=True)
    save.save(model, to, folder, run=Run())
    return model


@pytest.mark.parametrize(
    ("source", "values"), [(s, v) for s in ("tied", "untied", "pico_bert") for v in STORABLE] + [("pico_gemma", STORABLE[-1])], ids=str
)
def test_it_reloads_as_it_was_in_plain_transformers_and_here(request, verifier, tmp_path, source, values):
    folder = request.getfixturevalue(source)
    model = made("rtn", folder, tmp_path, **values)
    assert isinstance(model.get_input_embeddings(), PackedEmbedding)
    assert verifier.check(tmp_path, model, Run()) <= 1e-4
    ids = torch.arange(24)[None]
    out = lambda m: (o.logits if "logits" in (o := m(input_ids=ids)) else o.last_hidden_state).float()
    dense, again = load.load(tmp_path), load.load(tmp_path, packed=True)
    assert torch.allclose(out(dense.model), out(model), atol=1e-5)
    assert torch.allclose(out(again.model), out(model), atol=1e-5)
    assert isinstance(again.model.get_input_embeddings(), PackedEmbedding)
    assert isinstance(again.model.get_output_embeddings(), TiedHead) == (source in ("tied", "pico_gemma"))
    second = tmp_path / "again"
    second.mkdir()
    save.save(again.model, second, tmp_path, run=Run())  # a packed model saved again is the same files
    assert save.fingerprint(second) == save.fingerprint(tmp_path)


def test_a_tied_embedding_is_stored_once_and_the_file_is_smaller_for_it(tied, tmp_path):
    made("rtn", tied, tmp_path / "kept", bits=8)
    made("rtn", tied, tmp_path / "eight", bits=8, embeddings=8)
    made("rtn", tied, tmp_path / "four", bits=4, embeddings=4)
    found = tensors.headers(tmp_path / "eight")
    assert "lm_head.weight" not in found
    assert found["model.embed_tokens.weight"].dtype == "I8"
    assert not any(n.startswith("lm_head") for n in tensors.headers(tmp_path / "four"))
    table = 300 * 32
    ledgers = {n: size.ledger(tmp_path / n) for n in ("kept", "eight", "four")}
    saved = ledgers["kept"].weight_bytes - ledgers["eight"].weight_bytes
    assert saved == table - 2 * 300 * (2 + 1)  # a byte a weight, less the scales and zeros of embedding and head
    assert ledgers["four"].weight_bytes < ledgers["eight"].weight_bytes - table // 3
    for ledger in ledgers.values():
        assert ledger.parameters == ledgers["kept"].parameters
        assert ledger.tied == ("lm_head.weight",)
    assert inspect.inspect(tmp_path / "eight").parameters == ledgers["kept"].parameters


def test_the_head_reads_the_codes_of_the_embedding_and_has_none_itself(tied):
    model = apply("rtn", load.load(tied), embeddings=8).model
    head, table = model.get_output_embeddings(), model.get_input_embeddings()
    assert isinstance(head, TiedHead)
    assert head.weight_codes is table.weight_codes
    assert not any(k.startswith("lm_head") for k in model.state_dict())
    assert torch.equal(head.weight, table.weight)
    moved = model.to(torch.bfloat16)
    assert moved.get_output_embeddings().weight.dtype == torch.bfloat16
    assert moved.get_input_embeddings().weight_scale.dtype == torch.bfloat16  # as it was: the stored dtype


def test_what_is_looked_up_is_what_the_codes_stand_for(tied):
    reference, model = load.load(tied).model, apply("rtn", load.load(tied), bits=4, embeddings=4).model
    ids = torch.tensor([[5, 5, 17, 299], [0, 1, 2, 3]])
    table = packed.dequantize(model.get_input_embeddings().quant, torch.float32)
    assert torch.equal(model.get_input_embeddings()(ids), table[ids])
    assert (table - reference.get_input_embeddings().weight).norm() < 0.15 * reference.get_input_embeddings().weight.norm()


@pytest.mark.parametrize(
    ("values", "tied_too"),
    [
        ({"bits": 4, "embeddings": 8, "symmetric": False}, True),
        ({"bits": 8, "embeddings": 4}, True),
        ({"bits": 3, "embeddings": 4}, True),
        ({"bits": 4, "embeddings": 4, "symmetric": True}, True),
        ({"bits": 4, "embeddings": 8, "symmetric": False}, False),
        ({"bits": 3, "embeddings": 4}, False),
    ],
)
def test_what_plain_transformers_could_not_reload_is_refused_before_anything_is_done(tied, untied, values, tied_too):
    loaded = load.load(tied if tied_too else untied)
    with pytest.raises(UserError, match="The embedding can't be stored like that"):
        apply("rtn", loaded, **values)
    assert not any(isinstance(m, packed.PackedLinear) for m in loaded.model.modules())
    notes = methods.estimate("rtn", values, loaded.info, size.ledger(loaded.folder))["notes"]
    assert any("Can't be stored" in n for n in notes)


def test_an_embedding_that_multiplies_is_refused_at_8_bits(pico_gemma):  # noqa: F811
    """compressed-tensors 0.20 makes its factor a weight, which then counts as missing and is made up."""
    with pytest.raises(UserError, match="multiplies what it looks up"):
        apply("rtn", load.load(pico_gemma), embeddings=8)


def test_the_automatic_grid_is_one_that_can_be_stored():
    for bits in (8, 6, 5, 4, 3, 2):
        for kind in (RtnParams, GptqParams):
            for tied in (True, False):
                assert embedding_problem(kind(bits=bits, embeddings=8), tied) == ""
    assert not symmetric(GptqParams(bits=4))
    assert symmetric(GptqParams(bits=4, embeddings=8))
    assert not symmetric(RtnParams(bits=4, embeddings=4))


@pytest.mark.parametrize("values", [{"bits": 8, "embeddings": 8}, {"bits": 4, "embeddings": 4}, {"bits": 3, "embeddings": 8}])
@pytest.mark.parametrize("source", ["tied", "untied"])
def test_streamed_it_is_the_same(request, tmp_path, source, values):
    folder = request.getfixturevalue(source)
    made("rtn", folder, tmp_path / "memory", **values)
    method = methods.get("rtn")
    home = Streamed(folder, Finished(tmp_path / "work", "x"))
    method.apply(home.model, methods.checked(method, values), Run(), give(load.load(folder), home=home))
    (tmp_path / "streamed").mkdir()
    home.save(tmp_path / "streamed", run=Run())
    assert save.fingerprint(tmp_path / "memory") == save.fingerprint(tmp_path / "streamed")
    read = lambda n: (tmp_path / n / "config.json").read_text()
    assert read("memory") == read("streamed")


@pytest.mark.parametrize("source", ["tied", "untied"])
@pytest.mark.parametrize("values", STORABLE, ids=str)
def test_the_size_is_estimated_within_3_percent(request, tmp_path, source, values):
    folder = make_pico(tmp_path / "pico", hidden=64, layers=3, dtype="bfloat16", tied=source == "tied")
    guess = methods.estimate("rtn", values, inspect.inspect(folder), size.ledger(folder))
    made("rtn", folder, tmp_path / "made", **values)
    real = size.ledger(tmp_path / "made", original_parameters=size.ledger(folder).parameters)
    assert guess["bytes_on_disk"] == pytest.approx(real.bytes_on_disk, rel=0.03)
    assert guess["effective_bits"] == pytest.approx(real.effective_bits, rel=0.03)


def test_calibration_sees_the_rounded_embedding(tied, tmp_path):
    outcome = apply("gptq", load.load(tied), bits=4, embeddings=4, windows=4, context=32)
    assert any("share their codes" in n for n in outcome.notes)
