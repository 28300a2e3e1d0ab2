"""Finetuning: a model that was cut learns on text to live with the cut; what pruning set to zero stays zero.

Han et al., 'Learning both Weights and Connections' (2015), section 3: retraining with the mask held is what makes
pruning pay. Covers causal language models, all weights, next-token cross-entropy. No low-rank adapters, no labels.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from core.methods import Given, Outcome, estimates, method, training
from core.models.blocks import linears
from core.params import knob
from core.records import Ledger, SourceInfo
from core.run import Run


class FinetuneParams(training.TrainingParams):
    hold_zeros: Literal["auto", "yes", "no"] = knob(
        "auto",
        title="Keep zeros",
        help="Whether weights of linear layers that are exactly zero stay so. Automatic: where more than 1 % are, as after pruning. "
        "Never undoes the pruning.",
        labels={"auto": "Where it was pruned", "yes": "Always", "no": "Never"},
    )
    steps: int = knob(
        200,
        title="Steps",
        help="Updates of the weights. More is better until the loss on text kept aside stops falling.",
        ge=1,
        le=1_000_000,
    )
    learning_rate: float = knob(
        1e-4,
        title="Learning rate",
        help="Size of the updates at their largest. Halve it where perplexity on text kept aside rises; raise it for small models and "
        "deep cuts.",
        gt=0,
        le=1,
    )


PRUNED_FROM = 0.01  # share of exact zeros in the linear layers from which a model counts as pruned


def estimate_finetune(params: FinetuneParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    tokens = params.steps * params.batch * params.context
    return {
        "bytes_on_disk": ledger.bytes_on_disk,
        "effective_bits": ledger.effective_bits,
        "memory": estimates.training(info, params.batch, params.context),
        "seconds": estimates.training_seconds(info, tokens, 1.0, 0.1, device, training.precision(params.precision, device)),
    }


def label_finetune(params: FinetuneParams) -> str:
    return f"fine-tuned, {params.steps} step{'s' * (params.steps != 1)}"


@method(
    "finetune",
    title="Fine-tune",
    family="recovery",
    summary="Minutes to hours, needs a text. Wins back much of what pruning cost, on text of that kind; zeros stay zeros.",
    needs=("text",),
    tasks=("causal-lm",),
    paper="https://arxiv.org/abs/1506.02626",
    estimate=estimate_finetune,
    label=label_finetune,
)
def finetune(model: Any, params: FinetuneParams, run: Run, given: Given) -> Outcome:
    """Trains `model` in place, in float32; saving rounds it to the dtype that it's stored in."""
    learn, aside = training.read(given.text, given.tokenizer, params.context, run, given.info.context)
    vocabulary = model.config.get_text_config().vocab_size
    held_out = training.kept_aside(aside, params.context, estimates.rows_at_once(params.batch, params.context, vocabulary), given.device)
    hold = training.zeros_of(linears(model), model)
    zeros, weights = sum(int(m.sum()) for m in hold.values()), sum(m.numel() for m in hold.values())
    if params.hold_zeros == "no" or (params.hold_zeros == "auto" and zeros <= PRUNED_FROM * weights):
        hold = {}

    def loss_of(rows: Tensor) -> dict[str, Tensor]:
        return {"loss": training.cross_entropy(model(input_ids=rows[:, :-1], use_cache=False).logits, rows[:, 1:])}

    @torch.no_grad()
    def judge() -> dict[str, float]:
        total, count = 0.0, 0
        for rows in held_out:
            run.check_cancelled()
            total += float(loss_of(rows)["loss"]) * rows[:, 1:].numel()
            count += rows[:, 1:].numel()
        return {"heldout_loss": total / count, "heldout_perplexity": training.exp(total / count)}

    generator = torch.Generator().manual_seed(given.seed)
    feed = training.windows_of(learn, params.context, params.batch, generator)
    trained = training.train(
        model, feed, loss_of, judge, params, run=run, device=given.device, vocabulary=vocabulary, hold=hold, seed=given.seed
    )
    notes = [trained.sentence()]
    if trained.held:
        notes.append(f"{trained.held:,} zeros held ({100 * trained.held / weights:.1f} % of the linear layers' weights).")
    return Outcome(model, tuple(notes))
