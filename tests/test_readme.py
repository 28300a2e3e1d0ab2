"""What README says works: its method example is a method, and its blocks of commands are where .ci/run looks for them."""

import re
from pathlib import Path

import pytest
import torch

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["system", "open", "test"])
def test_the_marked_blocks_are_there(name):
    assert re.search(rf"<!-- ci: {name} -->\n```sh\n.+?\n```", README, re.S)


def test_the_example_of_a_method_is_one(pico_llama):
    from core import methods
    from core.models.blocks import linears
    from core.models.load import load
    from core.run import Run

    (code,) = re.findall(r"```python\n(.+?)```", README, re.S)
    methods.discover()
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    try:
        found = methods.get("random")
        loaded = load(pico_llama)
        given = methods.Given(loaded.tokenizer, pico_llama, loaded.info, seed=1)
        out = found.apply(loaded.model, methods.checked(found, {"sparsity": 0.25}), Run(), given)
        zeros = torch.cat([(layer.weight == 0).flatten() for _, layer in linears(out.model)]).float().mean()
        assert 0.2 < zeros < 0.3
    finally:
        methods._methods.pop("random", None)
