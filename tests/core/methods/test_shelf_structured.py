"""Structured pruning on SmolLM2-135M: what METHODS' figures say must come out here too, on little text."""

import json
import math

import pytest
import torch

import resources
from core import methods
from core.data.text import read_text, token_ids
from core.methods import importance
from core.methods.pruning import heads
from core.models import bring, load, save, size, surgery
from core.run import Run
from tests.core.methods.conftest import apply

pytestmark = pytest.mark.shelf
LITTLE = {"windows": 4, "context": 256}


@pytest.fixture(scope="module")
def folder(shelf, tmp_path_factory):
    made = tmp_path_factory.mktemp("smollm2")
    bring.bring(str(shelf / "smollm2-135m.gguf"), made, Run())
    return made


def given(loaded, **more):
    text = read_text(resources.TRAIN_TEXT)
    return methods.Given(**({"tokenizer": loaded.tokenizer, "folder": loaded.folder, "info": loaded.info, "text": text} | more))


def heldout(loaded, tokens=2048):
    ids = token_ids(read_text(resources.HELDOUT_TEXT), loaded.tokenizer, tokens)
    return importance.of_windows(loaded.model, "causal-lm", ids.view(-1, 512))


def test_the_gradient_beats_chance_and_magnitude(folder):
    loaded = load.load(folder, dtype="float32")
    shape, seen = surgery.anatomy(loaded.model), heldout(loaded)
    examples, _ = importance.draw(loaded.model, given(loaded), heads.HeadsParams(**LITTLE), Run())
    scores = importance.head_scores(loaded.model, shape, ["taylor", "random", "magnitude"], Run(), examples)
    base, rise = importance.loss(loaded.model, seen, Run()), {}
    for name, found in ((name, scores[name]) for name in ("taylor", "random", "magnitude")):
        with importance.silenced(loaded.model, shape, heads.least_of_all(found, 9)):
            rise[name] = importance.loss(loaded.model, seen, Run()) - base
    assert rise["taylor"] < min(rise["random"], rise["magnitude"])
    assert math.exp(rise["taylor"]) <= 1.12


def test_a_third_of_the_heads_cut_computes_what_the_masked_model_does(folder, tmp_path):
    masked, loaded = load.load(folder, dtype="float32"), load.load(folder, dtype="float32")
    units = " ".join(f"{layer}.{layer % 3}" for layer in range(30))
    out = apply("heads", loaded, given=given(loaded), chosen=units, compensate=False)
    assert type(out.model).__name__ == "LlamaForCausalLM"  # 6 heads divide 576
    surgery.mask_heads(masked.model, {(layer, layer % 3) for layer in range(30)})
    ids = token_ids(read_text(resources.HELDOUT_TEXT), loaded.tokenizer, 64)[None]
    with torch.no_grad():
        assert torch.allclose(out.model(ids).logits, masked.model(ids).logits, atol=1e-3, rtol=1e-4)
    save.save(out.model, tmp_path, folder, run=Run())
    before, after = size.ledger(folder), size.ledger(tmp_path)
    assert before.weight_bytes - after.weight_bytes == 30 * 8 * 64 * 576 * 2  # bytes of the groups that are gone, in bfloat16


def test_each_dropped_layer_costs_more(folder):
    loaded = load.load(folder, dtype="float32")
    seen, losses = heldout(loaded, 1024), []
    losses.append(importance.loss(loaded.model, seen, Run()))
    for _ in range(2):
        loaded.model = apply("layers", loaded, given=given(loaded), count=1, **LITTLE).model
        losses.append(importance.loss(loaded.model, seen, Run()))
    assert losses == sorted(losses)
    assert losses[-1] - losses[0] < math.log(1.6)


def test_words_that_a_play_does_not_use_go(folder, tmp_path):
    loaded = load.load(folder, dtype="float32")
    text = read_text(resources.HELDOUT_TEXT)
    out = apply("vocabulary", loaded, given=given(loaded, text=text))
    save.save(out.model, tmp_path, folder, run=Run())
    save.put(tmp_path, out.files)
    again = load.load(tmp_path, dtype="float32")
    old, new = loaded.tokenizer, again.tokenizer
    assert len(new) < 0.4 * len(old)
    assert old.convert_ids_to_tokens(old(text.content[:20_000])["input_ids"]) == new.convert_ids_to_tokens(
        new(text.content[:20_000])["input_ids"]
    )
    strange = "Größe, 数学, 🙂 and def f(x): return x**2\n\tthe Plattdeutsch zyzzyva"
    assert new.decode(new(strange)["input_ids"]) == strange
    chat = [{"role": "user", "content": "Who wrote this?"}]
    assert new.apply_chat_template(chat, tokenize=False) == old.apply_chat_template(chat, tokenize=False)
    assert size.ledger(tmp_path).weight_bytes < 0.85 * size.ledger(folder).weight_bytes
    wrote = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    assert wrote["eos_token_id"] == new.convert_tokens_to_ids("<|im_end|>") == new.eos_token_id
