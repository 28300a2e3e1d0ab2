"""Text as it comes: never half a character."""

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from core.decode.pieces import Pieces

TEXT = "Zoë said: 你好, 🙂👩‍🚀! naïve café — “ok”"


@pytest.fixture(scope="module")
def byte_fallback():
    """A SentencePiece-like vocabulary: characters, and bytes for the rest."""
    vocab = {"<unk>": 0} | {f"<0x{b:02X}>": b + 1 for b in range(256)}
    for character in ["▁", *"abcdefghijklmnopqrstuvwxyz:,!"]:
        vocab[character] = len(vocab)
    tok = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>", byte_fallback=True))
    tok.pre_tokenizer = pre_tokenizers.Metaspace()
    tok.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return PreTrainedTokenizerFast(tokenizer_object=tok)


@pytest.fixture(scope="module")
def word_pieces():
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.decoder = decoders.WordPiece()
    tok.train_from_iterator(
        ["play playing player plays re run running"] * 5, trainers.WordPieceTrainer(vocab_size=60, special_tokens=["[UNK]"])
    )
    return PreTrainedTokenizerFast(tokenizer_object=tok, unk_token="[UNK]", clean_up_tokenization_spaces=False)


def whole(pieces):
    return all("\ufffd" not in p for p in pieces)


def test_byte_level(tokenizer):
    ids = tokenizer(TEXT)["input_ids"]
    pieces = Pieces(tokenizer).all(ids)
    assert len(pieces) == len(ids)
    assert "".join(pieces) == TEXT
    assert whole(pieces)
    assert pieces[: len(ids)].count("") > 10  # the tokens in the middle of a character carry nothing
    assert "🙂" in pieces  # and the one that completes it carries it


def test_byte_fallback(byte_fallback):
    text = "zo said: 你好, 🙂! ok"
    ids = byte_fallback(text)["input_ids"]
    pieces = Pieces(byte_fallback).all(ids)
    assert "".join(pieces) == byte_fallback.decode(ids)
    assert whole(pieces)
    assert "🙂" in pieces


def test_spaces_that_depend_on_the_token_before(word_pieces):
    ids = word_pieces("play playing run plays running player")["input_ids"]
    assert "".join(Pieces(word_pieces).all(ids)) == word_pieces.decode(ids)


def test_broken_bytes_do_not_hold_up_what_follows(tokenizer):
    pieces = Pieces(tokenizer)
    lead, tail_byte, letter = (tokenizer.convert_tokens_to_ids(c) for c in ("â", "Ĥ", "k"))  # E2, 82, 'k'
    assert pieces.all([lead, tail_byte, letter]) == ["", "", "\ufffdk"]
    assert pieces.all([tail_byte, letter]) == ["\ufffd", "k"]


def test_a_draft_goes_on_from_a_copy(tokenizer):
    pieces, ids = Pieces(tokenizer), tokenizer("🙂")["input_ids"]
    tail = pieces.start()
    for token in ids[:-1]:
        text, tail = pieces.feed(tail, token)
        assert text == ""
    assert pieces.feed(tail, ids[-1])[0] == "🙂"
    assert pieces.feed(tail, ids[-1])[0] == "🙂"  # the state wasn't spent


def test_alone_names_bytes(tokenizer):
    assert Pieces(tokenizer).alone(tokenizer.convert_tokens_to_ids("â")) == "<0xE2>"
    assert Pieces(tokenizer).alone(0) == "<|end|>"
    assert Pieces(None).alone(7) == "<7>"
    assert Pieces(None).feed(Pieces(None).start(), 7)[0] == "<7>"
