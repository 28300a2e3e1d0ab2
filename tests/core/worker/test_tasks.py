"""The jobs themselves, run in this process on pico models: what they leave in the workspace, and what a cancel doesn't."""

import json

import pytest

from core import events
from core.errors import Cancelled, UserError
from core.recipe import Recipe, Step, TextRef
from core.records import (
    ApplySpec,
    Drafting,
    EnumerateSpec,
    EstimateSpec,
    EvaluateSpec,
    ExactnessSpec,
    FindDraftSpec,
    GenerateSpec,
    ImportSpec,
    InspectSpec,
    Job,
    SpeedSpec,
    Turn,
    new_id,
)
from core.run import Run
from core.worker import tasks
from core.worker.tasks import TASKS
from core.workspace import Workspace


class Recorder(Run):
    """Keeps the events; cancels itself at the first progress of the stage called `cancel_at`."""

    def __init__(self, cancel_at: str | None = None):
        self.seen = []
        self.cancel_at = cancel_at
        super().__init__("job", self._keep)

    def _keep(self, event):
        self.seen.append(event)
        if isinstance(event, events.Progress) and self.cancel_at == event.stage:
            self.control("cancel")


def do(spec, run=None):
    return TASKS[spec.kind](Job(id="job", title="t", spec=spec), run or Recorder())


@pytest.fixture(scope="module")
def home(tmp_path_factory, pico_llama, pico_draft, pico_text) -> Workspace:
    """A workspace with a pico target and draft, imported and measured."""
    folder = tmp_path_factory.mktemp("w") / "home"
    for source in (pico_llama, pico_draft):
        do(ImportSpec(workspace=str(folder), source=str(source), text=str(pico_text), max_tokens=600))
    return Workspace(folder)


@pytest.fixture(scope="module")
def target(home):
    return next(v for v in home.variants() if v.name == "pico-llama")


def nothing_left(home: Workspace, ids):
    assert home.ids() == ids
    assert [p for p in (home.folder / ".staging").iterdir() if p.is_dir()] == []


def test_an_import_is_measured(home, target, pico_llama):
    measured = {m.kind: m for m in home.measurements(target.id)}
    assert {"perplexity", "prefill", "decode"} <= set(measured)
    assert measured["perplexity"].stderr > 0
    assert measured["perplexity"].conditions["text"]
    assert target.parent is None
    assert target.fingerprint
    assert target.recipe.source.fingerprint == target.fingerprint
    assert target.ledger.bytes_on_disk == sum(p.stat().st_size for p in pico_llama.iterdir())
    assert target.info.tokens_hash


def test_inspect_and_estimate_answer_with_data(home, target, pico_llama):
    info = do(InspectSpec(source=str(pico_llama)))["info"]
    assert (info.layers, info.heads, info.kv_heads, info.tied) == (2, 4, 2, True)
    guess = do(EstimateSpec(workspace=str(home.folder), variant=target.id, step=Step(method="rtn", params={"bits": 8})))
    assert guess["bytes_on_disk"] < target.ledger.bytes_on_disk


def test_two_steps_make_two_variants_and_the_recipe_holds_both(home, target, pico_text):
    steps = (Step(method="magnitude", params={"sparsity": 0.25}), Step(method="rtn", params={"bits": 8}))
    run = Recorder()
    result = do(ApplySpec(workspace=str(home.folder), variant=target.id, steps=steps, text=str(pico_text), max_tokens=600), run)
    first, second = (home.variant(v) for v in result["variants"])
    assert (first.parent, second.parent) == (target.id, first.id)
    assert (first.kind, second.kind) == ("pruned", "combined")
    assert [s.method for s in second.recipe.steps] == ["magnitude", "rtn"]
    assert second.recipe.steps[0].params["scope"], "defaults are written out, so that a later default doesn't change a recipe"
    assert Recipe.from_yaml((home.path(second.id) / "recipe.yaml").read_text()) == second.recipe
    kinds = {m.kind for m in home.measurements(second.id)}
    assert {"perplexity", "kl", "agreement", "decode", "reload"} <= kinds
    kl = next(m for m in home.measurements(second.id) if m.kind == "kl")
    assert kl.conditions["reference"] == target.id
    assert [e.variant for e in run.seen if isinstance(e, events.VariantAdded)] == result["variants"]


def test_the_same_recipe_gives_the_same_weights(home, target):
    step = Step(method="magnitude", params={"sparsity": 0.5}, seed=3)
    made = [do(ApplySpec(workspace=str(home.folder), variant=target.id, steps=(step,), measure=False))["variant"] for _ in range(2)]
    assert home.variant(made[0]).fingerprint == home.variant(made[1]).fingerprint != target.fingerprint
    assert home.variant(made[0]).name != home.variant(made[1]).name  # nobody named them, and they can be told apart


@pytest.mark.parametrize("stage", ["Loading", "Saving", "Checking", "Measuring perplexity", "Measuring speed"])
def test_a_cancel_at_any_stage_leaves_nothing(home, target, pico_text, stage):
    before = home.ids()
    run = Recorder(cancel_at=stage)
    spec = ApplySpec(
        workspace=str(home.folder), variant=target.id, steps=(Step(method="rtn", params={"bits": 8}),), text=str(pico_text), max_tokens=600
    )
    with pytest.raises(Cancelled):
        do(spec, run)
    assert any(isinstance(e, events.Progress) and e.stage == stage for e in run.seen)
    nothing_left(home, before)


def test_a_cancelled_import_leaves_nothing(tmp_path, pico_llama, pico_text):
    folder = tmp_path / "w"
    with pytest.raises(Cancelled):
        do(ImportSpec(workspace=str(folder), source=str(pico_llama), text=str(pico_text)), Recorder(cancel_at="Measuring perplexity"))
    nothing_left(Workspace(folder), [])


def test_every_step_is_checked_before_the_first_runs(home, target):
    before = home.ids()
    steps = (Step(method="magnitude"), Step(method="rtn", params={"bitz": 4}))
    with pytest.raises(UserError, match="Did you mean bits"):
        do(ApplySpec(workspace=str(home.folder), variant=target.id, steps=steps, measure=False))
    nothing_left(home, before)


def test_a_text_that_changed_since_the_recipe_was_made_is_refused(home, target, pico_text):
    step = Step(method="finetune", params={"steps": 1}, text=TextRef(path=str(pico_text), sha256="0" * 64))
    with pytest.raises(UserError, match="isn't the one"):
        do(ApplySpec(workspace=str(home.folder), variant=target.id, steps=(step,), measure=False))


def test_an_evaluation_is_kept(home, target, pico_text):
    other = next(v for v in home.variants() if v.name == "pico-draft")
    found = do(
        EvaluateSpec(workspace=str(home.folder), variant=other.id, text=str(pico_text), reference=target.id, context=64, max_tokens=400)
    )
    kinds = {m["kind"]: m for m in found["measurements"]}
    assert {"perplexity", "kl", "agreement"} <= set(kinds)
    assert kinds["kl"]["conditions"]["context"] == 64
    assert any(m.kind == "kl" for m in home.measurements(other.id))


def test_a_reference_with_other_tokens_is_refused(home, target, pico_text):
    """The same ids would stand for other words, and the divergence would be a number without a meaning."""
    stranger = next(v for v in home.variants() if v.name == "pico-draft")
    other = stranger.model_copy(update={"id": "stranger-000000", "info": stranger.info.model_copy(update={"tokens_hash": "another"})})
    with home.staging(other.id) as staged:
        home.commit(staged, other)
    try:
        with pytest.raises(UserError, match="other tokens than pico-draft"):
            do(EvaluateSpec(workspace=str(home.folder), variant=target.id, text=str(pico_text), reference=other.id, max_tokens=400))
    finally:
        home.delete(other.id)


def test_speed_is_kept_with_its_conditions(home, target):
    found = do(SpeedSpec(workspace=str(home.folder), variant=target.id, prefill_tokens=16, decode_tokens=8))
    decode = next(m for m in found["measurements"] if m["kind"] == "decode")
    assert decode["value"] > 0
    assert {"device", "dtype", "threads"} <= set(decode["conditions"])


def test_a_draft_does_not_change_what_the_target_writes(home, target):
    draft = next(v for v in home.variants() if v.name == "pico-draft")
    spec = dict(workspace=str(home.folder), target=target.id, prompt="the quick brown", max_new_tokens=24)
    plain = do(GenerateSpec(**spec))
    run = Recorder()
    drafted = do(GenerateSpec(**spec, proposer="draft", draft=draft.id, gamma=3), run)
    looked_up = do(GenerateSpec(**spec, proposer="ngram", gamma=3))
    assert plain["ids"] == drafted["ids"] == looked_up["ids"]
    rounds = [e.round for e in run.seen if isinstance(e, events.RoundTaken)]
    assert drafted["rounds"] == len(rounds)
    assert drafted["accepted"] == sum(r.accepted for r in rounds)
    assert sum(len(r.committed) for r in rounds) == len(drafted["ids"])
    json.dumps(drafted)


def test_generate_without_the_named_draft_is_refused(home, target):
    with pytest.raises(UserError, match="No draft"):
        do(GenerateSpec(workspace=str(home.folder), target=target.id, proposer="draft", prompt="x"))


def test_what_cannot_be_measured_is_said_and_the_variant_kept(tmp_path, pico_llama):
    """A text shorter than two tokens must not cost a person the model that they waited for."""
    text = tmp_path / "short.txt"
    text.write_text("x")
    folder = tmp_path / new_id("w")
    result = do(ImportSpec(workspace=str(folder), source=str(pico_llama), text=str(text)))
    variant = Workspace(folder).variant(result["variant"])
    assert any("Not measured" in n for n in variant.notes)


# ---- drafting ---------------------------------------------------------------------------------------------------


def test_a_draft_is_found_among_the_workspaces_variants(home, target):
    draft = next(v for v in home.variants() if v.name == "pico-draft")
    run = Recorder()
    spec = FindDraftSpec(workspace=str(home.folder), target=target.id, prompts=("the quick brown",), max_new_tokens=8, repeats=1, gamma=2)
    found = do(spec, run)
    rows = found["rows"]
    assert [row["proposer"] for row in rows[:4]] == ["ngram", "packed", "layer-skip", "draft"]
    assert rows[3]["draft"] == draft.id  # the smallest goes first
    assert {row["draft"] for row in rows[3:]} == set(home.ids()) - {target.id}
    assert [e.row for e in run.seen if isinstance(e, events.DraftTried)] == found["rows"]
    json.dumps(found)


def test_exactness_is_checked_and_enumerated(home, target):
    spec = ExactnessSpec(workspace=str(home.folder), target=target.id, prompt="the quick", proposer="ngram", runs=100, top_k=2)
    checked = do(spec)
    assert checked["passed"] is True
    assert checked["runs"] == 100
    assert do(EnumerateSpec(rule="block"))["tv"] < 1e-12


def test_the_worker_keeps_a_target_and_lets_go_of_what_no_longer_drafts(home, target):
    draft = next(v for v in home.variants() if v.name == "pico-draft")
    spec = dict(workspace=str(home.folder), target=target.id, prompt="the quick brown", max_new_tokens=4)
    do(GenerateSpec(**spec, proposer="draft", draft=draft.id))
    first = {key[0].name: loaded for key, loaded in tasks._HELD.items()}
    assert set(first) == {target.id, draft.id}
    again = do(GenerateSpec(**spec, proposer="packed"))
    assert again["reused"] > 0  # the prompt, which the target has read before
    assert {key[0].name: loaded for key, loaded in tasks._HELD.items()} == {target.id: first[target.id]}
    (held,) = tasks._LAB.values()
    assert held.packed is not None
    do(GenerateSpec(**spec))
    assert held.packed is None
    assert {id(cache.model) for cache in held.caches.values()} == {id(first[target.id].model)}


def test_a_rival_has_a_draft_of_its_own(home, target):
    draft = next(v for v in home.variants() if v.name == "pico-draft")
    spec = dict(workspace=str(home.folder), target=target.id, prompt="the quick brown", max_new_tokens=12)
    found = do(GenerateSpec(**spec, proposer="ngram", rival=Drafting(proposer="draft", draft=draft.id, gamma=2)))
    assert found["lanes"]["rival"]["ids"] == found["ids"]
    with pytest.raises(UserError, match="No draft"):
        do(GenerateSpec(**spec, proposer="ngram", rival=Drafting(proposer="draft")))


def test_a_failure_names_the_variant_as_the_person_does(home, target):
    with pytest.raises(UserError, match="pico-llama has no chat template"):
        do(GenerateSpec(workspace=str(home.folder), target=target.id, messages=(Turn(role="user", content="hello"),)))
