"""Generation by onnxruntime alone, and a sentence for everything that can be wrong with a folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from tokenizers import Tokenizer, decoders, models

from core.errors import UserError
from core.export.runtime import OnnxGenerator, data_problem, open_session
from core.models.load import load

ROOT = Path(__file__).resolve().parents[3]


def test_generates_what_torch_generates(exported, pico_llama):
    import torch

    folder, _ = exported
    seen = []
    made = OnnxGenerator(folder).generate("the old sailor", 24, on_token=lambda token, piece: seen.append((token, piece)))
    loaded = load(pico_llama, dtype="float32")
    ids = torch.tensor([made["prompt_ids"]])
    wanted = loaded.model.generate(ids, max_new_tokens=24, do_sample=False, pad_token_id=0)[0, ids.shape[1] :].tolist()
    assert made["ids"] == wanted == [token for token, _ in seen]
    assert made["text"].startswith("".join(piece for _, piece in seen))
    assert made["tokens"] == len(wanted)
    assert made["tokens_per_s"] > 0
    assert made["stop"] == ("end of text" if wanted[-1] == 0 else "length")


def test_stop_ends_after_the_token_at_work(exported):
    generator = OnnxGenerator(exported[0])
    made = generator.generate("the old sailor", 24, on_token=lambda *_: generator.stop())
    assert made["tokens"] == 1
    assert made["stop"] == "stopped"
    assert generator.generate("the old sailor", 3)["tokens"] > 1  # a stop is for one generation


def test_ends_at_the_end_of_text(exported, copied):
    first = OnnxGenerator(exported[0]).generate("the", 4)["ids"]
    (copied / "generation_config.json").write_text(json.dumps({"eos_token_id": [first[1]]}))
    made = OnnxGenerator(copied).generate("the", 4)
    assert made["ids"] == first[: first.index(first[1]) + 1]
    assert made["stop"] == "end of text"


def test_ends_where_the_context_does(exported, copied):
    config = json.loads((copied / "config.json").read_text())
    (copied / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 8}))
    (copied / "generation_config.json").write_text("{}")
    (copied / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 8, "eos_token_id": None}))
    generator = OnnxGenerator(copied)
    made = generator.generate("the", 40)
    assert made["prompt_tokens"] + made["tokens"] == 8
    assert made["stop"] == "length"
    with pytest.raises(UserError, match="reads 8 at most"):
        generator.generate("the quick brown fox jumps over the lazy dog and the sea", 4)


def test_pieces_are_whole_characters(exported, monkeypatch):
    """A character of four bytes comes as four tokens: nothing is shown until the last."""
    generator = OnnxGenerator(exported[0])
    wanted = generator.tokenizer.encode("a🌊b").ids
    assert len(wanted) == 6
    feed = iter(wanted)

    def step(ids, mask, cache):
        logits = np.zeros((1, ids.shape[1], 300), np.float32)
        logits[0, -1, next(feed)] = 1
        return logits, cache

    monkeypatch.setattr(generator.causal, "step", step)
    pieces = []
    made = generator.generate("x", len(wanted), on_token=lambda _, piece: pieces.append(piece))
    assert pieces == ["a", "", "", "", "🌊", "b"]
    assert made["text"] == "a🌊b"


def test_bytes_that_are_no_characters_end_nothing(exported, monkeypatch):
    """Of a tokenizer that falls back to bytes (Llama 2, Gemma), a stray one after a whole character makes both unreadable."""
    generator = OnnxGenerator(exported[0])
    stored = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"a": 256}
    tokenizer = Tokenizer(models.BPE(stored, [], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    generator.tokenizer = tokenizer
    wanted = [0xC3, 0x97, 0x80, 256]  # a multiplication sign, and a byte that continues nothing
    feed = iter(wanted)

    def step(ids, mask, cache):
        logits = np.zeros((1, ids.shape[1], 300), np.float32)
        logits[0, -1, next(feed)] = 1
        return logits, cache

    monkeypatch.setattr(generator.causal, "step", step)
    pieces = []
    made = generator.generate("a", len(wanted), on_token=lambda _, piece: pieces.append(piece))
    assert made["ids"] == wanted
    assert made["text"] == tokenizer.decode(wanted)
    assert pieces[:2] == ["", "\u00d7"]
    assert pieces[-1].endswith("a")


def test_empty_prompt(exported):
    with pytest.raises(UserError, match="prompt is empty"):
        OnnxGenerator(exported[0]).generate("", 4)


def test_needs_no_torch(exported):
    code = (
        "import sys; from pathlib import Path; from core.export.runtime import OnnxGenerator\n"
        f"print(OnnxGenerator(Path({str(exported[0])!r})).generate('the', 3)['tokens'])\n"
        "import core.export.parity\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "3"


def _without_graph(folder):
    (folder / "model.onnx").unlink()


def _garbage(folder):
    (folder / "model.onnx").write_bytes(b"not a graph at all" * 20)


def _empty(folder):
    (folder / "model.onnx").write_bytes(b"")


def _without_data(folder):
    (folder / "model.onnx.data").unlink()


def _short_data(folder):
    with open(folder / "model.onnx.data", "r+b") as data:
        data.truncate(5000)


def _newer(folder):
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    model.ir_version = 99
    onnx.save(model, folder / "model.onnx")


def _unknown_operator(folder):
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    model.graph.node[5].op_type = "Shave"
    onnx.save(model, folder / "model.onnx")


def _without_tokenizer(folder):
    (folder / "tokenizer.json").unlink()


def _bad_tokenizer(folder):
    (folder / "tokenizer.json").write_text("{")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_without_graph, r"holds no model\.onnx"),
        (_garbage, "is damaged"),
        (_empty, "is damaged"),
        (_without_data, r"model\.onnx\.data is missing"),
        (_short_data, r"cut short: 5000 bytes of \d+ are there"),
        (_newer, r"reads IR up to \d+, the file has 99"),
        (_unknown_operator, r"can't open .*model\.onnx"),
        (_without_tokenizer, r"holds no tokenizer\.json"),
        (_bad_tokenizer, "can't be read as a tokenizer"),
    ],
)
def test_sentences(copied, damage, sentence):
    damage(copied)
    with pytest.raises(UserError, match=sentence) as caught:
        OnnxGenerator(copied)
    assert caught.value.hint
    assert caught.value.kind != "internal"


def test_what_is_wrong_with_the_weights_is_known_without_opening_them(copied):
    assert data_problem(copied) is None
    _short_data(copied)
    assert "cut short" in data_problem(copied).sentence
    _without_data(copied)
    assert "missing" in data_problem(copied).sentence


def test_a_folder_that_isn_t_there(tmp_path):
    with pytest.raises(UserError, match=r"holds no model\.onnx"):
        open_session(tmp_path / "nothing")
