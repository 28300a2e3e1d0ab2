"""Mixed precision: the budget is kept, the map is obeyed, each width reloads in plain transformers, and it beats one width."""

import pytest
import torch

from core import methods
from core.allocation import write_bits
from core.errors import UserError
from core.methods import sensitivity
from core.methods.quantization import mixed as made_of
from core.methods.quantization.mixed import MixedParams, label
from core.models import load, save, size
from core.models.blocks import linears
from core.models.packed import PackedLinear
from core.models.verify import Verifier
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply, give

SMALL = {"windows": 4, "context": 32, "probe_windows": 3, "probe_context": 24, "group_size": 16}


@pytest.fixture(scope="module")
def pico_bf16(tmp_path_factory):
    return make_pico(tmp_path_factory.mktemp("pico") / "bf16", dtype="bfloat16")


def bits_of(model):
    return {name: getattr(module, "bits", 0) for name, module in linears(model)}


def taken(model):
    """Bits a weight of the packed layers, as they're stored."""
    packed = [m for _, m in linears(model) if isinstance(m, PackedLinear)]
    stored = sum(b.numel() * b.element_size() for m in packed for n, b in m.named_buffers(recurse=False) if n.startswith("weight_"))
    return 8 * stored / sum(m.in_features * m.out_features for m in packed)


@pytest.mark.parametrize("rounding", ["rtn", "hqq", "gptq"])
def test_a_size_is_kept(pico_bf16, rounding):
    model = apply("mixed", load.load(pico_bf16), rounding=rounding, average_bits=5.5, **SMALL).model
    found = bits_of(model)
    assert len(set(found.values())) > 1
    assert 0 not in found.values()
    assert taken(model) <= 5.5


def test_a_kl_is_kept(pico_bf16):
    outcome = apply("mixed", load.load(pico_bf16), budget="kl", kl=0.03, rounding="rtn", **SMALL)
    loose = apply("mixed", load.load(pico_bf16), budget="kl", kl=0.5, rounding="rtn", **SMALL)
    assert taken(loose.model) < taken(outcome.model)
    note = next(n for n in outcome.notes if "single-layer KLs sum to" in n)
    assert float(note.split("sum to ")[1].split()[0]) <= 0.03


def test_a_map_is_obeyed_without_measuring(pico_bf16, monkeypatch):
    monkeypatch.setattr(sensitivity, "measure", None)
    written = "*=4, *.down_proj=8, model.layers.0.*q_proj=3, model.layers.1.*v_proj=dense"
    outcome = apply("mixed", load.load(pico_bf16), layers=written, rounding="rtn", **SMALL)
    found = bits_of(outcome.model)
    assert found["model.layers.0.mlp.down_proj"] == found["model.layers.1.mlp.down_proj"] == 8
    assert found["model.layers.0.self_attn.q_proj"] == 3
    assert found["model.layers.1.self_attn.v_proj"] == 0
    assert found["model.layers.1.self_attn.q_proj"] == 4
    assert outcome.notes[-1] == "Layers by bits: 8 bits 2, 4 bits 10, 3 bits 1, as they were 1."


def test_every_width_together_reloads_in_plain_transformers(pico_bf16, tmp_path):
    names = [name for name, _ in linears(load.load(pico_bf16).model)]
    bits = {name: (8, 6, 5, 4, 3, 2, 0)[at % 7] for at, name in enumerate(names)}
    with Verifier() as verifier:
        for rounding in ("gptq", "rtn"):
            model = apply("mixed", load.load(pico_bf16), layers=write_bits(bits), rounding=rounding, **SMALL).model
            made = tmp_path / rounding
            made.mkdir()
            save.save(model, made, pico_bf16, run=Run())
            assert verifier.check(made, model, Run()) <= 1e-4
            assert bits_of(load.load(made, packed=True).model) == bits
            assert size.ledger(made).weight_bytes < size.ledger(pico_bf16).weight_bytes


def test_it_beats_one_width_at_the_same_size(tmp_path):
    folder = make_pico(tmp_path / "m", layers=4, dtype="float32")
    loaded = load.load(folder)
    with torch.no_grad():  # a layer whose errors matter, and one whose errors don't
        loaded.model.get_submodule("model.layers.0.mlp.down_proj").weight.mul_(6)
        loaded.model.get_submodule("model.layers.3.self_attn.q_proj").weight.mul_(0.02)
    ids = torch.randint(0, loaded.model.config.vocab_size, (6, 48), generator=torch.Generator().manual_seed(5))
    log_p = loaded.model(input_ids=ids).logits.log_softmax(-1)

    def kl(model):
        log_q = model(input_ids=ids).logits.log_softmax(-1)
        return float((log_p.exp() * (log_p - log_q)).sum(-1).mean())

    loaded.model.save_pretrained(tmp_path / "uneven")
    load.load(folder).tokenizer.save_pretrained(tmp_path / "uneven")
    same = apply("rtn", load.load(tmp_path / "uneven"), bits=4, group_size=16, clip=True)
    many = SMALL | {"probe_windows": 8}
    found = apply("mixed", load.load(tmp_path / "uneven"), average_bits=taken(same.model), rounding="rtn", **many)
    assert taken(found.model) <= taken(same.model)
    assert kl(found.model) < 0.8 * kl(same.model)


def test_what_was_measured_before_is_taken_up(pico_bf16, tmp_path, monkeypatch):
    """A map that the window measured lies in the parent's folder, under the conditions that it was measured in."""
    import shutil

    folder = tmp_path / "m"
    shutil.copytree(pico_bf16, folder)
    loaded, seen = load.load(folder), []
    measured = sensitivity.measure

    def keep(*args, **kwargs):
        seen.append(measured(*args, **kwargs))
        return seen[-1]

    monkeypatch.setattr(sensitivity, "measure", keep)
    conditions = sensitivity.conditions
    monkeypatch.setattr(sensitivity, "conditions", lambda **k: seen.append(conditions(**k)) or seen[-1])
    first = bits_of(apply("mixed", loaded, rounding="rtn", **SMALL).model)
    known, costs = seen
    found = made_of.SensitivityMap(widths=(8, 6, 5, 4, 3, 2), layers=costs, conditions=known, complete=True)
    sensitivity.write(sensitivity.file_of(folder, known), found)
    monkeypatch.setattr(sensitivity, "measure", None)
    run = Recorder()
    assert bits_of(apply("mixed", load.load(folder), run, rounding="rtn", **SMALL).model) == first
    assert any("measured before" in getattr(e, "text", "") for e in run.events)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"average_bits": 2.0}, "smallest takes 3.00"),  # 2 bits, and a scale of 16 for each 16 weights
        ({"budget": "kl", "kl": 1e-9}, "the least is"),
        ({"layers": "*=dense"}, "nothing would change"),
        ({"layers": "*.q_proj=4"}, "12 linear layers were given no bits"),
        ({"average_bits": 4.0, "widths": "fast"}, "smallest takes 5.00"),
    ],
)
def test_what_cannot_be_met_is_told(pico_bf16, values, says):
    with pytest.raises(UserError, match=says):
        apply("mixed", load.load(pico_bf16), rounding="rtn", **(SMALL | values))


def test_its_name_says_the_budget():
    assert label(MixedParams()) == "mixed 4.25 bits"
    assert label(MixedParams(budget="kl", kl=0.05)) == "mixed KL 0.05"
    assert label(MixedParams(layers="*=4")) == "mixed by hand"


def test_the_estimate_is_an_upper_bound(pico_bf16, tmp_path):
    loaded = load.load(pico_bf16)
    ledger = size.ledger(pico_bf16)
    told = methods.estimate("mixed", {"average_bits": 6, **SMALL}, loaded.info, ledger)
    assert told["bytes_on_disk"] < ledger.bytes_on_disk
    assert told["seconds"] > 0
    assert methods.estimate("mixed", {"budget": "kl", **SMALL}, loaded.info, ledger)["bytes_on_disk"] is None
    assert methods.estimate("mixed", {"layers": "*=4"}, loaded.info, ledger)["notes"]


def test_a_classifier_can_be_mixed(tmp_path):
    from transformers import BertConfig, BertForSequenceClassification

    from tests.conftest import make_tokenizer

    torch.manual_seed(0)
    tokenizer = make_tokenizer(tmp_path)
    shape = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=128)
    BertForSequenceClassification(BertConfig(vocab_size=len(tokenizer), pad_token_id=0, **shape)).save_pretrained(tmp_path)
    loaded = load.load(tmp_path)
    outcome = apply("mixed", loaded, given=give(loaded), average_bits=6.5, **SMALL)
    assert any(n.startswith("Outside the blocks") for n in outcome.notes)
    assert isinstance(outcome.model.bert.pooler.dense, PackedLinear)


@pytest.mark.slow
def test_on_the_starter_it_is_closer_than_one_width_of_the_same_size():
    """At 4.25 bits a weight, on text that nothing was chosen by: about a third of the KL goes; the sum of single KLs foretells it."""
    import resources
    from core.data.text import read_text, token_ids
    from core.evaluate import perplexity

    folder = resources.STARTER_TARGET
    given = lambda loaded: give(loaded, text=read_text(resources.TRAIN_TEXT), folder=folder)
    base = load.load(folder)
    ids = token_ids(read_text(resources.HELDOUT_TEXT), base.tokenizer, 1024)

    def kl(model):
        return next(m.value for m in perplexity.score(model, ids, context=128, reference=base.model) if m.kind == "kl")

    loaded = load.load(folder)
    one = apply("rtn", loaded, given=given(loaded), bits=4, group_size=64, clip=True).model
    loaded = load.load(folder)
    probes = {"probe_windows": 2, "probe_context": 64}
    mixed = apply("mixed", loaded, given=given(loaded), average_bits=taken(one), rounding="rtn", group_size=64, **probes)
    assert taken(mixed.model) <= taken(one)
    found = kl(mixed.model)
    assert found < 0.8 * kl(one)
    foretold = float(next(n for n in mixed.notes if "sum to" in n).split("sum to ")[1].split()[0])
    assert 0.5 < found / foretold < 2
