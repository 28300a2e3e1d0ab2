"""Low-rank additions to the linear layers of a model, through peft, for as long as it's trained.

Hu et al., 'LoRA: Low-Rank Adaptation of Large Language Models' (2021), section 4: W' = W + s B A, with A random and B zero, so
that nothing changes before the first step. Folded back at the end, so that what's saved is an ordinary model. Where weights are
held at zero, the addition is masked in training as it will be when it's folded: (W + s B A) * mask, so the folded model is the
trained one. Covers torch's Linear and GPT-2's Conv1D inside the blocks; embeddings and output layers stay as they are, but for a
classifier's head, which is trained in full.
"""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.models.blocks import blocks, component, linears, replace
from core.params import Params, knob

SCALE = 2.0  # s: lora_alpha over the rank
NAME = "default"


def weights_knob(unless: dict[str, Any] | None = None) -> Any:
    """The knob of which weights learn; `unless` as in `knob`."""
    return knob(
        "all",
        title="Weights that learn",
        help="All: learns most. Low rank: a small addition to each linear layer, folded into it at the end; needs a third of the memory "
        "and forgets less of what the model knew.",
        labels={"all": "All", "lora": "Low-rank additions (LoRA)"},
        unless=unless,
    )


class LoraParams(Params):
    weights: Literal["all", "lora"] = weights_knob()
    rank: int = knob(
        16,
        title="Rank",
        help="Of the additions. Higher learns more and takes more memory; 8 to 64 are usual.",
        ge=1,
        le=1024,
        when={"weights": "lora"},
    )
    lora_learning_rate: float = knob(
        1e-3,
        title="Learning rate of the additions",
        help="Ten times that of full fine-tuning is usual. Halve it where perplexity on text kept aside rises.",
        gt=0,
        le=1,
        when={"weights": "lora"},
    )


@contextlib.contextmanager
def added(model: nn.Module, rank: int, hold: dict[str, Tensor], seed: int = 0, *, head: bool = False) -> Iterator[Callable[[str], bool]]:
    """Adds them for the length of the block, and yields which parameters learn, by name; folds them in at its end.

    hold: parameter name -> True where the weight must stay exactly zero; head: whether the output layer learns too, in full.
    Where the block is left by an exception, the additions are taken off and the linear layers are as they were.
    """
    import peft  # not until it's needed: it takes a second to import

    inside = tuple(f"{name}." for name, _ in blocks(model))
    targets = {name: module for name, module in linears(model) if name.startswith(inside)}
    config = peft.LoraConfig(
        r=rank, lora_alpha=SCALE * rank, lora_dropout=0.0, target_modules=[*targets], fan_in_fan_out=_transposed(targets)
    )
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of how Conv1D stores its weight, which is set right above
        torch.manual_seed(seed)
        peft.inject_adapter_in_model(config, model, adapter_name=NAME)
    layers = {name: model.get_submodule(name) for name in targets}
    for name, layer in layers.items():
        mask = hold.get(f"{name}.weight")
        if mask is not None:
            layer.held = mask.to(layer.weight.device)
            layer.forward = types.MethodType(_masked, layer)
    folded = False
    try:
        yield lambda name: ".lora_" in name or (head and component(name) == "head")
        folded = True
    finally:
        for name, layer in layers.items():
            if folded:
                with torch.no_grad():
                    layer.base_layer.weight += _addition(layer)
            replace(model, name, layer.base_layer)
        model.requires_grad_(False)
        if hasattr(model, "peft_config"):
            del model.peft_config


def _transposed(targets: dict[str, nn.Module]) -> bool:
    return any(not isinstance(module, nn.Linear) for module in targets.values())


def _addition(layer: Any) -> Tensor:
    """s B A as the layer stores its weight, zero where the weight is held."""
    delta = layer.get_delta_weight(NAME)
    held = getattr(layer, "held", None)
    return delta if held is None else delta.masked_fill(held, 0)


def _masked(layer: Any, x: Tensor) -> Tensor:
    """The forward of a layer with held weights: the same product that the folded weight will make."""
    base = layer.base_layer
    weight = base.weight + _addition(layer)
    if isinstance(base, nn.Linear):
        return F.linear(x, weight, base.bias)
    return torch.matmul(x, weight) + base.bias  # Conv1D: (in, out)
