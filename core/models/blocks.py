"""Walking a model: its transformer blocks, its linear layers, and what a parameter's name says it is part of.

Covers any transformers model whose blocks lie in one ModuleList. Linear layers are torch's Linear, GPT-2's Conv1D
(whose weight is stored transposed) and PackedLinear.
"""

from __future__ import annotations

import re

import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from core.errors import UserError
from core.models.packed import PackedLinear

COMPONENTS = ("embedding", "attention", "mlp", "norm", "head", "other")

# Read in this order: 'attention.output.LayerNorm' is a norm, and BERT's 'layer.0.output.dense' is what is left of its block.
_PATTERNS = (
    ("norm", r"norm|(^|\.)ln_|(^|\.)ln\d?(\.|$)"),
    ("head", r"^(lm_head|embed_out|output|score|(pre_)?classifier|qa_outputs|cls|vocab_\w+)(\.|$)|\.lm_head(\.|$)"),
    ("embedding", r"embed|(^|\.)w[tp]e(\.|$)|(^|\.)(tok|position|token)_embd(\.|$)"),
    ("attention", r"attn|attention|(^|\.)(q|k|v|o|qkv|query|key|value|out)_?(proj|lin)?(\.|$)"),
    ("mlp", r"mlp|ffn|feed_?forward|experts|intermediate|(^|\.)(fc_?|lin)\d?(\.|$)|(gate|up|down)_proj|layer\.\d+\.output\.dense"),
)
_COMPILED = tuple((component, re.compile(pattern, re.IGNORECASE)) for component, pattern in _PATTERNS)


def component(name: str) -> str:
    """Which of COMPONENTS a tensor belongs to, by its name in a transformers or GGUF file."""
    return next((component for component, pattern in _COMPILED if pattern.search(name)), "other")


def blocks(model: nn.Module) -> list[tuple[str, nn.Module]]:
    """The transformer blocks in the order in which they run, each with its name ('model.layers.0').

    Raises UserError (kind 'model') where the model has none that can be recognised.
    """
    config = getattr(model, "config", None)
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    count = getattr(config, "num_hidden_layers", None)
    lists = [
        (name, module)
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) and len({type(child) for child in module}) == 1
    ]
    # the outermost list of as many alike modules as the config has layers; experts and the like are lists too, but inside blocks
    fitting = [(name, module) for name, module in lists if len(module) == count] or (lists if count is None else [])
    if not fitting:
        raise UserError(
            "The transformer blocks of {architecture} can't be recognised.",
            hint="Methods that work block by block can't be used on it.",
            kind="model",
            architecture=type(model).__name__,
        )
    name, found = min(fitting, key=lambda item: (item[0].count("."), -len(item[1])))
    return [(f"{name}.{index}" if name else str(index), block) for index, block in enumerate(found)]


def linears(model: nn.Module, head: bool = False, embeddings: bool = False) -> list[tuple[str, nn.Module]]:
    """The linear layers in the model's own order, each with its name.

    head: the output layer too (what maps to the vocabulary or to classes); embeddings: nn.Embedding modules too.
    A module that is reached under two names is listed once.
    """
    output = getattr(model, "get_output_embeddings", lambda: None)()
    out = []
    for name, module in model.named_modules():
        if isinstance(module, (nn.Linear, Conv1D, PackedLinear)):
            if head or not (module is output or component(name) == "head"):
                out.append((name, module))
        elif embeddings and isinstance(module, nn.Embedding):
            out.append((name, module))
    return out


def weight_of(module: nn.Module) -> torch.Tensor:
    """The weight as (out, in), whichever way the module stores it; of a convolution (out, in x height x width).

    A view of the parameter for Linear, Conv1D, Conv2d and Embedding ((rows, width)): writing into it changes the module.
    For PackedLinear it is a dequantized copy.
    """
    if isinstance(module, Conv1D):
        return module.weight.t()  # (in, out) -> (out, in)
    if isinstance(module, nn.Conv2d):
        return module.weight.view(module.weight.shape[0], -1)
    return module.weight


def replace(model: nn.Module, name: str, module: nn.Module) -> None:
    """Puts `module` where the model has the submodule `name`."""
    parent, _, child = name.rpartition(".")
    setattr(model.get_submodule(parent), child, module)
