"""Vocabulary: what stays suffices for every text, the tokenizer reads the person's own text as before, ids are renumbered everywhere."""

import json

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from core.errors import UserError
from core.methods.pruning import vocabulary
from core.models import inspect, load, save, size
from core.run import Run
from tests.conftest import PROSE
from tests.core.methods.conftest import apply, give, make_text, same

SHORT = "the old sailor sang of the sea and the harbour light\n" * 3
OTHER = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich: 日本 🙂 xyzzy\t42!"


def saved(out, folder, source):
    save.save(out.model, folder, source, run=Run())
    save.put(folder, out.files)
    return load.load(folder)


def test_the_text_is_read_alike_and_any_other_too(pico, pico_llama, tmp_path):
    out = apply("vocabulary", pico, given=give(pico, text=make_text(SHORT)))
    again = saved(out, tmp_path, pico_llama)
    old, new = pico.tokenizer, again.tokenizer
    before, after = old(SHORT)["input_ids"], new(SHORT)["input_ids"]
    assert old.convert_ids_to_tokens(before) == new.convert_ids_to_tokens(after)
    assert new.decode(after) == SHORT
    for text in (OTHER, PROSE):
        assert new.decode(new(text)["input_ids"]) == text
    assert len(new) == again.model.config.vocab_size == again.model.get_input_embeddings().weight.shape[0] < len(old)
    assert new.convert_tokens_to_ids("<|end|>") == again.model.config.eos_token_id == new.eos_token_id
    assert size.ledger(tmp_path).bytes_on_disk < size.ledger(pico_llama).bytes_on_disk
    assert inspect.inspect(tmp_path).tokens_hash != inspect.inspect(pico_llama).tokens_hash
    loaded = load.load(pico_llama)
    ids, theirs = torch.tensor([before[:30]]), torch.tensor([after[:30]])
    kept = [old.convert_tokens_to_ids(t) for t in new.convert_ids_to_tokens(list(range(len(new))))]
    assert torch.allclose(again.model(theirs).logits, loaded.model(ids).logits[..., kept], atol=1e-5)


def test_rare_tokens_go_too_where_that_is_wanted(pico, pico_llama, tmp_path):
    mild = apply("vocabulary", load.load(pico_llama), given=give(pico, text=make_text(SHORT)))
    out = apply("vocabulary", pico, given=give(pico, text=make_text(SHORT)), at_least=4)
    again = saved(out, tmp_path, pico_llama)
    assert again.model.config.vocab_size < mild.model.config.vocab_size
    assert again.tokenizer.decode(again.tokenizer(SHORT)["input_ids"]) == SHORT
    assert "% more" in out.notes[-1]


def test_where_all_is_used_every_bit_stays(pico, pico_llama, monkeypatch):
    monkeypatch.setattr(vocabulary, "seen", lambda given, run: dict.fromkeys(range(len(given.tokenizer)), 1))
    out = apply("vocabulary", pico)
    assert same(out.model, load.load(pico_llama).model)
    assert not out.files
    assert "nothing was dropped" in out.notes[0]


def test_whatever_a_kept_token_is_merged_from_is_kept(pico):
    plain = vocabulary.plain_tokenizer(give(pico))
    ids = plain["model"]["vocab"]
    longest = max(ids, key=len)
    kept = vocabulary.closure(plain, {ids[longest]})
    tokens = {t for t, i in ids.items() if i in kept}
    made = {}
    for left, right in plain["model"]["merges"]:
        made.setdefault(left + right, []).append((left, right))
    for token in tokens:
        for pair in made.get(token, []):
            assert set(pair) <= tokens
    assert len([t for t in tokens if len(t) == 1]) == len([t for t in ids if len(t) == 1])
    assert 0 in kept  # the special token


def wordpiece(folder):
    """A classifier with a lower-casing WordPiece tokenizer and a template with [CLS] and [SEP], as BERT's."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.normalizer, tok.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    tok.train_from_iterator([PROSE], trainers.WordPieceTrainer(vocab_size=200, special_tokens=special, show_progress=False))
    pairs = [(t, tok.token_to_id(t)) for t in ("[CLS]", "[SEP]")]
    tok.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=pairs)
    tok.decoder = decoders.WordPiece()
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, **names)
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    shape = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=128)
    BertForSequenceClassification(BertConfig(vocab_size=len(fast), pad_token_id=0, **shape)).save_pretrained(folder)


def test_wordpiece_and_a_classifier(tmp_path):
    source, made = tmp_path / "source", tmp_path / "made"
    source.mkdir()
    made.mkdir()
    wordpiece(source)
    (source / "vocab.txt").write_text("stale", encoding="utf-8")
    loaded = load.load(source)
    out = apply("vocabulary", loaded, given=give(loaded, text=make_text(SHORT)))
    again = saved(out, made, source)
    assert not (made / "vocab.txt").exists()
    old, new = loaded.tokenizer(SHORT, return_tensors="pt"), again.tokenizer(SHORT, return_tensors="pt")
    assert loaded.tokenizer.convert_ids_to_tokens(old["input_ids"][0]) == again.tokenizer.convert_ids_to_tokens(new["input_ids"][0])
    assert torch.allclose(again.model(**new).logits, load.load(source).model(**old).logits, atol=1e-5)
    strange = again.tokenizer("foxy windward")["input_ids"]
    assert again.tokenizer.unk_token_id not in strange
    assert len(again.tokenizer) < len(loaded.tokenizer)


def test_unigram_and_ids_named_by_the_generation_config(tmp_path, pico_llama):
    source, made = tmp_path / "source", tmp_path / "made"
    source.mkdir()
    made.mkdir()
    tok = Tokenizer(models.Unigram())
    tok.pre_tokenizer, tok.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    special = ["<unk>", "<s>", "</s>"]
    trainer = trainers.UnigramTrainer(vocab_size=180, special_tokens=special, unk_token="<unk>", show_progress=False)
    tok.train_from_iterator(PROSE.split(" light "), trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(source)
    shape = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2)
    config = LlamaConfig(vocab_size=len(fast), bos_token_id=1, eos_token_id=2, pad_token_id=len(fast) - 1, **shape)
    model = LlamaForCausalLM(config)
    model.generation_config.suppress_tokens = [len(fast) - 1]
    model.save_pretrained(source)
    loaded = load.load(source)
    out = apply("vocabulary", loaded, given=give(loaded, text=make_text("the wind was cold\n" * 4)))
    again = saved(out, made, source)
    assert again.model.config.pad_token_id == len(again.tokenizer) - 1 < len(fast) - 1
    wrote = json.loads((made / "generation_config.json").read_text(encoding="utf-8"))
    assert wrote["eos_token_id"] == again.tokenizer.eos_token_id
    assert wrote["suppress_tokens"] == [len(again.tokenizer) - 1]
    text = "the wind was cold"
    assert again.tokenizer.convert_ids_to_tokens(again.tokenizer(text)["input_ids"]) == fast.convert_ids_to_tokens(fast(text)["input_ids"])
    assert AutoTokenizer.from_pretrained(made).decode(again.tokenizer("long dark story")["input_ids"]).strip() == "long dark story"


def test_a_model_without_a_tokenizer_is_refused(pico):
    with pytest.raises(UserError, match="tokenizer"):
        apply("vocabulary", pico, given=give(pico, tokenizer=None))
    with pytest.raises(UserError, match="rebuilt"):
        apply("vocabulary", pico, given=give(pico, tokenizer=object()))
