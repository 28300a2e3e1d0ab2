"""A variant with fewer words, made by a job: its own tokenizer's files, and bits a byte in the place of KL."""

import json

from core.data.text import read_text
from core.models import load
from core.recipe import Step, TextRef
from core.records import ApplySpec
from tests.core.worker.test_heads_job import planted
from tests.core.worker.test_tasks import do


def test_another_vocabulary_is_compared_by_bits_a_byte(tmp_path, pico_llama, pico_text):
    words = tmp_path / "mine.txt"
    words.write_text("the old sailor sang of the sea and the harbour light\n" * 3, encoding="utf-8")
    workspace, original = planted(tmp_path / "w", pico_llama)
    steps = (Step(method="vocabulary", text=TextRef(path=str(words))),)
    done = do(ApplySpec(workspace=str(workspace.folder), variant=original, steps=steps, text=str(pico_text), max_tokens=300))
    variant, kinds = workspace.variant(done["variant"]), {m.kind: m for m in workspace.measurements(done["variant"])}
    assert {"perplexity", "bits_per_byte", "decode"} <= kinds.keys()
    assert not {"kl", "agreement"} & kinds.keys()
    assert kinds["bits_per_byte"].conditions["original"] > 0
    assert any("bits a byte" in note for note in variant.notes)
    folder = workspace.path(variant.id)
    tokenizer = load.load_tokenizer(folder)
    assert len(tokenizer) == variant.info.vocabulary < workspace.variant(original).info.vocabulary
    assert tokenizer.decode(tokenizer(read_text(pico_text).content)["input_ids"]) == read_text(pico_text).content
    assert json.loads((folder / "generation_config.json").read_text(encoding="utf-8"))["eos_token_id"] == tokenizer.eos_token_id
