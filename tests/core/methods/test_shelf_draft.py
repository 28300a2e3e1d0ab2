"""A draft made for SmolLM2-135M in a minute or two: it's kept far more often than the same cut unlearnt, and changes no word."""

import pytest

import resources
from core.data.text import read_text
from core.decode import calibrate, lab
from core.models import bring, draft_words, load, save
from core.records import GenerateSpec
from core.run import Run
from tests.core.methods.conftest import Recorder, apply, give

pytestmark = pytest.mark.shelf
PROMPTS = ("The history of the steam engine begins", "def mean(numbers):\n")
SETTINGS = {"steps": 20, "layers": 3, "written": 5000, "vocabulary": 8192}


def test_a_draft_is_kept_more_often_and_the_words_stay(shelf, tmp_path):
    source, made = tmp_path / "source", tmp_path / "draft"
    for folder in (source, made):
        folder.mkdir()
    bring.bring(shelf / "smollm2-135m.gguf", source, Run())
    target, run = load.load(source, dtype="float32"), Recorder()
    given = give(target, costs=calibrate.pair, text=read_text(resources.TRAIN_TEXT))
    outcome = apply("draft", target, run, given, **SETTINGS)
    kept = run.curve("acceptance")
    assert max(kept) >= 3 * kept[0]
    assert max(kept) > 0.15
    save.save(outcome.model, made, source, run=Run())
    save.put(made, outcome.files)
    del outcome
    drafting = draft_words.for_drafting(load.load(made, dtype="float32"))
    assert isinstance(drafting.model.get_output_embeddings(), draft_words.ShortHead)
    for prompt in PROMPTS:
        asked = GenerateSpec(workspace="", target="", proposer="draft", draft="d", prompt=prompt, gamma=3, max_new_tokens=48, race=True)
        told = lab.generate(target, drafting, asked, Run())
        assert told["identical"] or told["divergence"]["margin"] < 1e-3
        assert told["accepted"] > 0
