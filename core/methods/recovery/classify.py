"""Teaching an encoder to classify: a head on top of it, trained on labelled examples, alone or with the whole encoder.

Devlin et al., 'BERT' (2019), section 4.1: one linear layer on what the encoder makes of the first token (or what its class in
transformers pools), cross-entropy, all weights trained. Makes a model of the class that transformers has for classification with
that encoder, with the class names in its configuration. A classifier learns anew: its encoder is kept, and its head where the
classes are the same. Padding is masked out. One class a text; no pairs of texts.
"""

from __future__ import annotations

import copy
from typing import Any, Literal

import torch
from torch import nn

from core.errors import UserError
from core.methods import Given, Outcome, estimates, method, training
from core.methods.feeds import LabelFeed, objective
from core.methods.samples import shower
from core.models.blocks import component
from core.params import Params, knob
from core.records import Ledger, SourceInfo
from core.run import Run


class _What(Params):
    train: Literal["all", "head"] = knob(
        "all",
        title="Weights that learn",
        help="All: the best accuracy. Only the head: three times as fast, and the encoder stays as it is.",
        labels={"all": "All", "head": "Only the head"},
    )


class ClassifyParams(training.TrainingParams, _What):
    steps: int = knob(
        250,
        title="Steps",
        help="Updates of the weights. One to three passes over the examples are usual; more is better until the loss on examples kept "
        "aside stops falling.",
        ge=1,
        le=1_000_000,
    )
    batch: int = knob(32, title="Batch", unit="examples", help="Examples a step. Larger is steadier and slower.", ge=1, le=4096)
    context: int = knob(
        128,
        title="Context",
        unit="tokens",
        help="Longer texts are cut at so many tokens. Memory and time grow with it.",
        ge=8,
        le=131_072,
    )
    learning_rate: float = knob(
        1e-4,
        title="Learning rate",
        help="Size of the updates at their largest. Halve it where the loss jumps; for the head alone take ten times as much.",
        gt=0,
        le=1,
    )


def estimate_classify(params: ClassifyParams, info: SourceInfo, ledger: Ledger, device: str) -> dict[str, Any]:
    memory = estimates.training(info, params.batch, params.context)
    return {
        "bytes_on_disk": ledger.bytes_on_disk,
        "effective_bits": ledger.effective_bits,
        "memory": memory if params.train == "all" else memory - 16 * (info.parameters or 0),
        "notes": ["How long it takes depends on how long the examples are"],
    }


def label_classify(params: ClassifyParams) -> str:
    return f"classifier, {params.steps} step{'s' * (params.steps != 1)}{', head only' * (params.train == 'head')}"


@method(
    "classify",
    title="Teach to classify",
    family="recovery",
    summary="Minutes, needs labels. Gives an encoder a head that tells classes of text apart; its accuracy is measured from then on.",
    needs=("labels",),
    tasks=("encoder", "classifier"),
    paper="https://arxiv.org/abs/1810.04805",
    estimate=estimate_classify,
    label=label_classify,
    resumable=True,
    rank=20,
)
def classify(model: Any, params: ClassifyParams, run: Run, given: Given) -> Outcome:
    """Returns the classifier, in float32; a `model` that is one with the same classes is trained in place, another left as it was."""
    classifier, fresh = with_head(model, given.labels.classes, given.seed)
    classifier.to(given.device)
    feed = LabelFeed(given, params, classifier.config.id2label, run)
    loss_of, judge = objective(feed, classifier, run)
    head = {name for name, _ in classifier.named_parameters() if params.train == "all" or name in fresh or component(name) == "head"}
    show = shower(feed, classifier, None, given, run)
    trained = training.train(
        classifier,
        feed.batches(params.batch, given.seed),
        loss_of,
        judge,
        params,
        run=run,
        device=given.device,
        vocabulary=feed.vocabulary,
        learns=head.__contains__,
        seed=given.seed,
        work=given.work,
        show=show,
    )
    shown = ", ".join(given.labels.classes[:8]) + " …" * (len(given.labels.classes) > 8)
    notes = [trained.sentence(), f"Classes: {shown}.", *feed.notes]
    notes.append(f"Learnt from {len(feed.learn):,} examples; a fifth of {given.labels.name} is held out for measuring.")
    return Outcome(classifier, tuple(notes), files=show.files())


def with_head(model: nn.Module, classes: tuple[str, ...], seed: int = 0) -> tuple[nn.Module, set[str]]:
    """(the classifier around the model's encoder, names of its parameters that are new). Raises UserError where there's no such class."""
    from transformers import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING

    known = type(model.config) in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
    if not known:
        raise UserError(
            "transformers has no classifier for {architecture}.",
            hint="Choose another encoder.",
            kind="model",
            architecture=type(model).__name__,
        )
    cls = MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING[type(model.config)]
    config = copy.deepcopy(model.config)
    id2label = dict(enumerate(classes))
    if isinstance(model, cls) and model.config.id2label == id2label:
        return model, set()
    config.num_labels = len(classes)
    config.id2label, config.label2id = id2label, {name: i for i, name in id2label.items()}
    config.problem_type = "single_label_classification"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        classifier = cls(config)
    classifier.eval()
    inner, theirs = classifier.base_model, model.base_model.state_dict()
    missing, unexpected = inner.load_state_dict(theirs, strict=False)
    left = [name for name in unexpected if "pooler" not in name]  # a classifier may pool by itself
    lost = [name for name in missing if "pooler" not in name]  # an encoder may come without
    if left or lost:
        raise UserError(
            "The weights of {architecture} don't fit the classifier of its kind.",
            hint="The detail names them; please report this model.",
            kind="model",
            architecture=type(model).__name__,
            detail="\n".join([*left, *lost]),
        )
    prefix = f"{classifier.base_model_prefix}."
    fresh = {name for name, _ in classifier.named_parameters() if not name.startswith(prefix) or name.removeprefix(prefix) in missing}
    return classifier, fresh
