"""What the methods' tests share: pico models of other architectures, a text, and a short way to apply a method."""

import hashlib
from pathlib import Path

import pytest
import torch

from core import methods
from core.data.text import Text
from core.models import load
from core.run import Run
from tests.conftest import PROSE, make_tokenizer


class Recorder(Run):
    """A Run that keeps what it's told; `at` is called at every 'lr' metric, that is after every training step."""

    def __init__(self, at=None):
        self.events = []
        super().__init__("job", self.events.append)
        self.at = at

    def metric(self, name, step, value):
        super().metric(name, step, value)
        if self.at and name == "lr":
            self.at(self, step)

    def curve(self, name):
        return [e.value for e in self.events if getattr(e, "name", None) == name]


def make_text(content: str = PROSE) -> Text:
    return Text("prose.txt", "prose.txt", content, hashlib.sha256(content.encode()).hexdigest())


def give(loaded, **changes) -> methods.Given:
    return methods.Given(**({"tokenizer": loaded.tokenizer, "folder": loaded.folder, "info": loaded.info, "text": make_text()} | changes))


def apply(name: str, loaded, run: Run | None = None, given: methods.Given | None = None, **values) -> methods.Outcome:
    method = methods.get(name)
    return method.apply(loaded.model, methods.checked(method, values), run or Recorder(), given or give(loaded))


def same(a, b) -> bool:
    """Whether two models have the same weights bit for bit."""
    a, b = a.state_dict(), b.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[k].view(torch.uint8), b[k].view(torch.uint8)) for k in a)


@pytest.fixture
def pico(pico_llama):
    return load.load(pico_llama)


@pytest.fixture(scope="session")
def pico_bert(tmp_path_factory) -> Path:
    """Folder of a pico BERT encoder: 2 layers, hidden 32."""
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("pico") / "pico-bert"
    tokenizer = make_tokenizer(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=128,
        pad_token_id=0,
    )
    BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def pico_gpt2(tmp_path_factory) -> Path:
    """Folder of a pico GPT-2, whose linear layers are stored transposed: 3 layers, hidden 32."""
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("pico") / "pico-gpt2"
    tokenizer = make_tokenizer(folder)
    torch.manual_seed(0)
    config = GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=3, n_head=4, n_positions=128, bos_token_id=0, eos_token_id=0)
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder
