"""Reading text, its token ids and windows."""

import hashlib

import pytest
import torch

from core.data.text import read_text, token_ids, windows
from core.errors import UserError
from tests.conftest import PROSE, make_tokenizer


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return make_tokenizer(tmp_path_factory.mktemp("tokenizer"))


def test_read_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffJane — “hello”\r\n".encode())
    text = read_text(path)
    assert text.content == "Jane — “hello”\r\n"  # the mark is gone, line ends stay as they are
    assert text.name == "a.txt"
    assert text.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"ab\xff\xfe", "isn't UTF-8 text (byte 2"),
        (b"MZ\0\0", "holds zero bytes"),
    ],
)
def test_what_is_no_text_gets_its_sentence(tmp_path, content, sentence):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_text(path)
    assert sentence in caught.value.sentence
    assert caught.value.hint


def test_missing_and_folder(tmp_path):
    with pytest.raises(UserError, match="doesn't exist"):
        read_text(tmp_path / "nothing.txt")
    with pytest.raises(UserError, match="is a folder"):
        read_text(tmp_path)


def test_token_ids_have_no_special_tokens_and_no_padding(tokenizer):
    ids = token_ids(PROSE, tokenizer)
    assert ids.dtype == torch.long
    assert ids.ndim == 1
    assert tokenizer.decode(ids) == PROSE
    assert tokenizer.eos_token_id not in ids


@pytest.mark.parametrize("most", [1, 7, 100, 600, 10**9])
def test_first_tokens_are_those_of_the_whole_text(tokenizer, most):
    """Only a prefix is tokenized; its end, cut through a word, mustn't show in the ids."""
    long = PROSE * 5
    assert torch.equal(token_ids(long, tokenizer, most), token_ids(long, tokenizer)[:most])


def test_no_tokenizer():
    with pytest.raises(UserError, match="has no tokenizer"):
        token_ids("text", None)


def test_windows_are_full_and_apart():
    ids = torch.arange(103)
    cut = windows(ids, 10)
    assert [len(w) for w in cut] == [10] * 10
    assert torch.equal(torch.cat(cut), ids[:100])


def test_text_shorter_than_the_context():
    with pytest.raises(UserError, match="has 9 tokens, fewer than one context of 10"):
        windows(torch.arange(9), 10)
    with pytest.raises(UserError, match="leaves nothing to predict"):
        windows(torch.arange(9), 1)
