"""Exports in the decoding engine: the tokens of torch, whoever drafts for whom, and the law of the target to the last branch."""

from collections import defaultdict
from types import SimpleNamespace

import pytest
import torch

from core.decode import exactness, lab
from core.decode.cache import CachedModel, read
from core.decode.engine import Decoding
from core.decode.exactness import EveryBranch
from core.decode.policy import Fixed
from core.decode.propose import DraftModel
from core.decode.sampling import Sampling
from core.decode.verify import verifier_for
from core.errors import UserError
from core.export import scorer
from core.export.onnx import export
from core.models.load import load
from core.records import ExactnessSpec, GenerateSpec, OnnxOptions
from core.run import Run
from tests.conftest import make_pico
from tests.core.export.test_onnx import quantized

PROMPT = "the old sailor told"
CLOSE = 1e-4


@pytest.fixture(scope="module")
def pairs(tmp_path_factory, exported, pico_llama):
    """The same grid by torch and as an export: dense in both profiles, and in 4 bits what's fast, too."""
    home = tmp_path_factory.mktemp("scorer")
    source = make_pico(home / "source", hidden=64, seed=3, tied=False)
    rounded = quantized(source, home / "rounded", lambda name: (4, 16, True))
    made = {"portable": SimpleNamespace(torch=load(pico_llama, dtype="float32"), onnx=scorer.load_exported(exported[0], threads=1))}
    for name, folder in (("fast", source), ("4-bit", rounded)):
        assert export(folder, home / name, Run(), options=OnnxOptions(profile="fast"))["profile"] == "fast"
        made[name] = SimpleNamespace(torch=load(folder, dtype="float32"), onnx=scorer.load_exported(home / name, threads=1))
    return made


def ran(target, draft=None, run=None, **changes):
    spec = GenerateSpec(**({"workspace": "w", "target": "t", "prompt": PROMPT, "max_new_tokens": 40, "gamma": 3} | changes))
    return lab.generate(target, draft, spec, run or Run())


def wanted(loaded, tokens=40):
    ids = torch.tensor([loaded.tokenizer(PROMPT)["input_ids"]])
    return loaded.model.generate(ids, max_new_tokens=tokens, do_sample=False, pad_token_id=0)[0, ids.shape[1] :].tolist()


# ---- one model ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["portable", "fast", "4-bit"])
def test_logits_after_any_way_of_feeding_are_those_of_the_text(pairs, name):
    """In chunks, taken back and fed anew, down to the first token and to nothing."""
    pair = pairs[name]
    ids = list(range(5, 45))
    straight = CachedModel(pair.torch.model).forward(ids, 40)
    model = pair.onnx.model.scorer()
    found = torch.cat([model.forward(ids[:7], 7), model.forward(ids[7:8], 1), model.forward(ids[8:20], 12)])
    assert (found - straight[:20]).abs().max() < CLOSE
    model.forward([1, 2, 3], 2)
    model.crop(20)
    assert model.length == 20
    assert (model.forward(ids[20:], 5) - straight[-5:]).abs().max() < CLOSE
    model.crop(30)
    model.crop(9)  # out of what was cut already
    assert (model.forward(ids[9:], 5) - straight[-5:]).abs().max() < CLOSE
    model.crop(1)
    assert (model.forward(ids[1:], 3) - straight[-3:]).abs().max() < CLOSE
    model.crop(0)
    assert (model.forward(ids, 3) - straight[-3:]).abs().max() < CLOSE
    assert model.ids == ids


def test_a_long_prompt_is_read_in_pieces(pairs, monkeypatch):
    """The graph gives logits of every token it's fed, so a prompt at once would take gigabytes."""
    pair = pairs["fast"]
    monkeypatch.setattr(scorer, "CHUNK", 6)
    ids, model = [i % 250 for i in range(40)], pair.onnx.model.scorer()
    most = []
    step = model.model.causal.step
    monkeypatch.setattr(model.model.causal, "step", lambda fed, *rest: most.append(fed.shape[1]) or step(fed, *rest))
    assert (read(model, ids, 2) - CachedModel(pair.torch.model).forward(ids, 2)).abs().max() < CLOSE
    assert max(most) <= 8
    assert sum(most) == 40


def test_what_begins_alike_is_kept(pairs):
    model = pairs["fast"].onnx.model.scorer()
    model.forward([1, 2, 3, 4], 1)
    assert model.begin([1, 2, 9, 9, 9]) == 2
    assert model.begin([1, 2]) == 1  # the last token's logits are still to be computed
    assert model.begin([7]) == 0


def test_vocabulary_is_cut_and_filled(pairs):
    model = pairs["fast"].onnx.model
    short, long = model.scorer(vocabulary=290).forward([1, 2], 2), model.scorer(vocabulary=310).forward([1, 2], 2)
    assert short.shape == (2, 290)
    assert torch.equal(long[:, :290], short)
    assert torch.isinf(long[:, 300:]).all()
    with pytest.raises(UserError, match="can't read token 305"):
        model.scorer().forward([305], 1)


# ---- pairs ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["portable", "fast", "4-bit"])
def test_greedy_text_is_torchs_of_the_same_grid(pairs, name):
    pair = pairs[name]
    assert ran(pair.onnx)["ids"] == wanted(pair.torch)


@pytest.mark.parametrize(
    ("target", "draft", "how"),
    [
        ("onnx", "4-bit onnx", {"proposer": "draft"}),
        ("onnx", "4-bit onnx", {"proposer": "draft", "policy": "adaptive", "gamma": 6}),
        ("torch", "4-bit onnx", {"proposer": "draft", "verifier": "block"}),
        ("torch", "4-bit onnx", {"proposer": "draft", "verifier": "tree"}),
        ("onnx", "4-bit torch", {"proposer": "draft"}),
        ("onnx", None, {"proposer": "ngram"}),
    ],
)
def test_whoever_drafts_for_whom_writes_the_targets_text(pairs, target, draft, how):
    made = {
        "onnx": pairs["fast"].onnx,
        "torch": pairs["fast"].torch,
        "4-bit onnx": pairs["4-bit"].onnx,
        "4-bit torch": pairs["4-bit"].torch,
    }
    result = ran(made[target], made.get(draft), race=True, **how)
    assert result["ids"] == wanted(pairs["fast"].torch)
    assert result["identical"] is True
    assert result["cache_bytes"] == result["cache_bytes_plain"] > 0
    if draft and how.get("policy") != "adaptive":  # which may find that drafting doesn't pay
        assert 0 < result["accepted"] < result["tested"]


def test_torch_runs_beside_the_export(pairs):
    pair, seen = pairs["fast"], []
    spec = GenerateSpec(workspace="w", target="t", prompt=PROMPT, max_new_tokens=20, proposer="ngram", race=True)
    result = lab.generate(pair.onnx, None, spec, Run("job", seen.append), beside=pair.torch)
    assert list(result["lanes"]) == ["speculative", "plain", "beside"]
    assert result["lanes"]["beside"]["ids"] == result["plain"]["ids"] == wanted(pair.torch, 20)
    assert result["lanes"]["beside"]["identical"] is True
    assert result["lanes"]["beside"]["speedup"] == pytest.approx(
        result["lanes"]["beside"]["tokens_per_s"] / result["plain"]["tokens_per_s"]
    )
    assert result["lanes"]["beside"]["possible_speedup"] is None


@pytest.mark.parametrize("rule", ["token", "block"])
def test_every_branch_of_sampling_has_the_targets_law(pairs, rule):
    """Of torch's own logits, by the definition; the export and its 4-bit draft run the engine, over all random choices."""
    pair = pairs["fast"]
    sampling = Sampling(temperature=1.5, top_k=3, max_new_tokens=3)
    prompt = pair.torch.tokenizer(PROMPT)["input_ids"]
    target, draft = pair.onnx.model.scorer(), pairs["4-bit"].onnx.model.scorer()
    chooser, found = EveryBranch(), defaultdict(float)
    while True:
        chooser.begin()
        decoding = Decoding(
            target,
            list(prompt),
            sampling=sampling,
            proposer=DraftModel(draft, sampling),
            policy=Fixed(2),
            verifier=verifier_for(sampling, rule),
            chooser=chooser,
            details=False,
        )
        for _ in decoding.rounds():
            assert target.ids == decoding.history.ids[:-1]
            assert draft.ids == decoding.history.ids[: draft.length]
        found[tuple(decoding.history.ids[len(prompt) :])] += chooser.weight
        if not chooser.advance():
            break
    law: dict = {(): 1.0}
    for _ in range(3):
        longer = {}
        for ids, chance in law.items():
            with torch.no_grad():
                logits = pair.torch.model(torch.tensor([[*prompt, *ids]])).logits[0, -1].double()
            best = logits.topk(3)
            for token, share in zip(best.indices.tolist(), torch.softmax(best.values / 1.5, 0).tolist(), strict=True):
                longer[(*ids, token)] = chance * share
        law = longer
    assert sum(law.values()) == pytest.approx(1)
    assert len(found) == 27
    assert 0.5 * sum(abs(law.get(ids, 0) - found.get(ids, 0)) for ids in law.keys() | found.keys()) < 1e-4


def test_exactness_can_be_checked_on_exports(pairs):
    spec = ExactnessSpec(
        workspace="w", target="t", prompt=PROMPT, proposer="draft", draft="d", gamma=2, temperature=1.5, tokens=1, runs=200
    )
    result = exactness.check(pairs["fast"].onnx, pairs["4-bit"].onnx, spec, Run())
    assert result["passed"]
    assert result["runs"] == 200


# ---- what can't work ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"proposer": "draft", "verifier": "tree"}, "reads one continuation at a time"),
        ({"proposer": "early-exit"}, "layers can't be run one by one"),
        ({"proposer": "layer-skip"}, "layers can't be run one by one"),
        ({"proposer": "packed"}, "no packed copy"),
        ({"kv_bits": 8}, "can't be rounded"),
    ],
)
def test_what_an_export_cant_do_is_said_before_the_run(pairs, how, said):
    seen = []
    with pytest.raises(UserError, match=said):
        ran(pairs["fast"].onnx, pairs["4-bit"].torch, Run("job", seen.append), **how)
    assert seen == []


def test_an_exported_draft_keeps_its_cache_unrounded(pairs):
    with pytest.raises(UserError, match="can't be rounded"):
        ran(pairs["fast"].torch, pairs["4-bit"].onnx, proposer="draft", kv_bits=8)


def test_other_tokens_arent_decoded_beside(pairs):
    pair = pairs["fast"]
    other = SimpleNamespace(model=pair.torch.model, info=pair.torch.info.model_copy(update={"tokens_hash": "x", "name": "other"}))
    with pytest.raises(UserError, match="other has other tokens"):
        lab.generate(pair.onnx, None, GenerateSpec(workspace="w", target="t", prompt=PROMPT), Run(), beside=other)
