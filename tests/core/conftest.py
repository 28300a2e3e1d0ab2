"""Records made up for tests of what doesn't read the model's files."""

import pytest

from core.recipe import Recipe, Source
from core.records import Ledger, SourceInfo, Variant, new_id


def make_variant(name: str = "model", parent: str | None = None, **changes) -> Variant:
    info = SourceInfo(
        source=name, kind="folder", name=name, architecture="LlamaForCausalLM", task="causal-lm", tokens_hash="t", tokenizer=True
    )
    ledger = Ledger(bytes_on_disk=100, weight_bytes=90, parameters=45, nonzero=45, effective_bits=16, original_parameters=45)
    fields = dict(id=new_id(name), name=name, parent=parent, info=info, ledger=ledger, recipe=Recipe(source=Source(name=name)))
    return Variant(**(fields | changes))


@pytest.fixture
def add_variant():
    """add_variant(workspace, name, parent=None, ...) -> the committed Variant."""

    def add(workspace, name="model", parent=None, **changes):
        variant = make_variant(name, parent, **changes)
        with workspace.staging(variant.id) as staged:
            (staged / "model.safetensors").write_bytes(b"weights")
            workspace.commit(staged, variant)
        return variant

    return add
