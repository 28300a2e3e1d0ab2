"""A draft that says fewer tokens than it reads: the same logits where it says any, nothing elsewhere, and the same text decoded."""

import ast
import shutil
from pathlib import Path

import pytest
import torch

from core.decode.fast import quicken
from core.decode.lab import generate
from core.errors import UserError
from core.models import draft_words, load, save
from core.models.packed_embedding import head_of
from core.records import GenerateSpec
from core.run import Run
from resources.translations import update
from tests.core.methods.conftest import apply

KEPT = torch.tensor([0, 3, 7, 20, 21, 40, 99])


def words(folder, kept=KEPT):
    (folder / draft_words.FILE).write_bytes(draft_words.content(kept))


@pytest.fixture
def draft(pico_draft, tmp_path):
    return shutil.copytree(pico_draft, tmp_path / "draft")


def logits(model, ids=((1, 2, 3, 50),)):
    with torch.no_grad():
        return model(input_ids=torch.tensor(ids)).logits


@pytest.mark.parametrize("method", [None, {"bits": 8}, {"bits": 4, "group_size": 8}])
def test_what_it_says_is_as_before_and_all_else_is_impossible(draft, method):
    loaded = load.load(draft, dtype="float32")
    if method:
        apply("rtn", loaded, **method)
    whole = logits(loaded.model)
    words(draft)
    short = logits(draft_words.for_drafting(loaded).model)
    others = torch.ones(whole.shape[-1], dtype=torch.bool).index_fill(0, KEPT, False)
    assert torch.allclose(short[..., KEPT], whole[..., KEPT], atol=1e-5)
    assert short[..., others].isneginf().all()
    assert draft_words.for_drafting(loaded).model is loaded.model  # twice is once
    quicken(loaded.model)
    assert torch.allclose(
        logits(loaded.model)[..., KEPT], whole[..., KEPT], atol=0.02 if method else 1e-3
    )  # packed layers multiply in bfloat16


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_the_target_writes_the_same_words(pico_llama, draft, temperature):
    """Greedily the very same; sampled, tokens that the draft never says come as often as the target says them: by its verdicts."""
    words(draft)
    target, drafting = load.load(pico_llama, dtype="float32"), draft_words.for_drafting(load.load(draft, dtype="float32"))
    ask = {"workspace": "", "target": "", "prompt": "To be", "temperature": temperature, "max_new_tokens": 60}
    told = generate(target, drafting, GenerateSpec(**ask, proposer="draft", draft="d", gamma=3, race=True), Run())
    if temperature:
        assert set(told["ids"]) - set(KEPT.tolist())  # what the draft can't say
    else:
        assert told["identical"]


def test_rows_learn_through_the_whole_layer(pico_draft):
    model = load.load(pico_draft, dtype="float32", train=True).model
    head, before = head_of(model), logits(model)
    draft_words.learn_rows(model, KEPT)
    some = model(input_ids=torch.tensor([[1, 2, 3]])).logits
    assert torch.allclose(some, before[:, :3][..., KEPT], atol=1e-5)
    with draft_words.in_all_columns(model):
        assert logits(model).shape == before.shape
    some.sum().backward()
    assert head.weight.grad[KEPT].abs().sum() > 0
    draft_words.whole(model)
    assert head_of(model) is head
    assert torch.equal(logits(model), before)


LIST, OWN = "it isn't a list of tokens", "they aren't the model's"
DAMAGED = [(b"", LIST), (b"[]", LIST), (b'{"tokens": []}', LIST), (b'{"tokens": ["a"]}', LIST)]
DAMAGED += [(b'{"tokens": [1, 1]}', OWN), (b'{"tokens": [-1]}', OWN), (b'{"tokens": [100000]}', OWN)]


def translatable() -> list[str]:
    """What the collector of strings finds in the module."""
    reader = update.CoreReader()
    reader.visit(ast.parse(Path(draft_words.__file__).read_text(encoding="utf-8")))
    return reader.found


@pytest.mark.parametrize(("content", "why"), DAMAGED)
def test_a_damaged_list_is_said(draft, content, why):
    (draft / draft_words.FILE).write_bytes(content)
    with pytest.raises(UserError) as told:
        draft_words.for_drafting(load.load(draft))
    assert why in told.value.template  # filled in as a value, it came in English into any language
    assert {told.value.template, told.value.hint_template} <= set(translatable())


def test_a_list_for_an_output_layer_that_is_no_table_is_said(draft, monkeypatch):
    words(draft)
    monkeypatch.setattr(draft_words, "can_shorten", lambda model: False)
    with pytest.raises(UserError) as told:
        draft_words.for_drafting(load.load(draft))
    assert "no row for each token" in told.value.template
    assert told.value.template in translatable()


def test_tokens_that_are_renumbered(draft):
    assert draft_words.renumbered(draft, {0: 0}) == {}
    words(draft)
    assert draft_words.renumbered(draft, {3: 0, 20: 1, 5: 2}) == {draft_words.FILE: draft_words.content(torch.tensor([0, 1]))}
    assert draft_words.renumbered(draft, {5: 2}) == {draft_words.FILE: None}


def test_copies_of_a_draft_say_as_few_tokens(draft, pico_llama, tmp_path):
    """Packed, fine-tuned, brought in from a folder: all go by what loading needs."""
    words(draft)
    copy = tmp_path / "copy"
    copy.mkdir()
    save.copy_rest(draft, copy)
    assert (copy / draft_words.FILE).read_bytes() == draft_words.content(KEPT)
    assert draft_words.carried(draft, pico_llama) == {draft_words.FILE: draft_words.content(KEPT)}
    assert draft_words.carried(pico_llama, draft) == {draft_words.FILE: None}
    assert draft_words.carried(pico_llama, pico_llama) == {}
