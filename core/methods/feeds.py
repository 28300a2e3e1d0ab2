"""What a training is fed with: windows of a text for a language model, labelled examples for a classifier.

A feed gives batches, says what a model answers to one and what it should have answered, and holds the part that the best step
is chosen by. `objective` makes of it the two functions that training.train asks for, with a teacher beside the truth or without.
Examples are padded to the longest of their batch, and the padding is masked out of attention; texts are cut at the context.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import torch
from torch import Tensor

from core.data.labels import class_logits, split, to_model
from core.errors import UserError
from core.methods import Given, estimates, training
from core.methods.losses import IGNORED, UNTOLD, Against, Top, differences, distillation_loss, divergence
from core.methods.training import TrainingParams
from core.run import Run

BUCKET = 16  # batches' worth of examples that are sorted by length together, so that little is padded
OVERLAP = Against("tv")  # 1 less it is sum min(p, q): the chance that a token of the one as a draft is kept by the other
PLAIN = Against()  # KL to the teacher, and the truth as much
JUDGED = 64  # examples that are judged together


class Feed(Protocol):
    """vocabulary: logits a position; held_out: batches that aren't trained on; notes: what has to be said of the data."""

    vocabulary: int
    held_out: tuple[Tensor, ...]
    notes: tuple[str, ...]

    def batches(self, size: int, seed: int) -> Iterator[Tensor]:
        """Endless batches of `size` rows, in an order of the seed."""
        ...

    def answers(self, model: Any, rows: Tensor) -> tuple[Tensor, Tensor]:
        """(logits (..., vocabulary), truth (...)) of a model on the rows of a batch."""
        ...

    def outputs(self, model: Any) -> int:
        """How many logits that model gives a position."""
        ...

    def figures(self, loss: float, right: float) -> dict[str, float]:
        """What's reported of the held-out rows, from the mean loss and the share of right first choices."""
        ...


class Beside(Protocol):
    """What of two models is compared besides their answers: losses by name, means over what was watched, and what each weighs."""

    weights: dict[str, float]

    def watched(self) -> Any: ...

    def losses(self) -> dict[str, Tensor]: ...


class Kept(Protocol):
    """A teacher's answers that were kept."""

    def of(self, rows: Tensor) -> Tensor | Top | None:
        """As Against.brief gives it, of the rows of a batch; None where the teacher has to be asked."""
        ...


class TextFeed:
    """Windows of context + 1 tokens; each token is to be told from those before it. anew: whether each pass over the text cuts it
    elsewhere."""

    def __init__(self, given: Given, params: TrainingParams, vocabulary: int, run: Run, longest: int | None = None, anew: bool = True):
        longest, self.anew = longest or given.info.context, anew
        self.context, self.vocabulary, self.notes = params.context, vocabulary, ()
        self.learn, aside = training.read(given.text, given.tokenizer, params.context, run, longest)
        rows = estimates.rows_at_once(params.batch, params.context, vocabulary)
        self.held_out = training.kept_aside(aside, params.context, rows, given.device)

    def batches(self, size: int, seed: int) -> Iterator[Tensor]:
        return training.windows_of(self.learn, self.context, size, torch.Generator().manual_seed(seed), self.anew)

    def answers(self, model: Any, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Rows that the model wrote itself come as ~ids: no truth is known of them."""
        ids = torch.where(rows < 0, ~rows, rows)
        logits = model(input_ids=ids[:, :-1], use_cache=False).logits
        return logits, torch.where(rows < 0, UNTOLD, rows)[:, 1:]

    def outputs(self, model: Any) -> int:
        return model.config.get_text_config().vocab_size

    def figures(self, loss: float, right: float) -> dict[str, float]:
        return {"heldout_loss": loss, "heldout_perplexity": training.exp(loss)}


class LabelFeed:
    """Examples by their row number; the class is to be told. id2label: the model's classes."""

    def __init__(self, given: Given, params: TrainingParams, id2label: dict[int, str], run: Run, longest: int | None = None):
        longest = longest or given.info.context
        if longest and params.context > longest:
            raise UserError(
                "The model holds {longest} tokens, fewer than a context of {context}.",
                hint="Choose a context of at most {longest}.",
                longest=longest,
                context=params.context,
            )
        run.stage("Reading the examples", given.labels.name)
        self.tokenizer, self.context = given.tokenizer, params.context
        self.vocabulary, self.notes = len(id2label), given.labels.notes
        self.texts, self.truth = given.labels.texts, torch.tensor(to_model(given.labels, id2label))
        parts = split(given.labels)
        self.learn = parts.learn
        self.lengths = {i: len(given.labels.texts[i]) for i in (*parts.learn, *parts.aside)}
        aside = torch.tensor(sorted(parts.aside, key=lambda i: self.lengths[i]))
        self.held_out = aside.split(JUDGED)
        run.log(f"{len(parts.learn):,} examples to train on, {len(aside):,} kept aside, {len(parts.heldout):,} held out for measuring")

    def batches(self, size: int, seed: int) -> Iterator[Tensor]:
        """Each pass is shuffled; a batch holds texts of like length, and batches come in random order."""
        generator = torch.Generator().manual_seed(seed)
        order: list[int] = []
        while True:
            while len(order) < BUCKET * size:  # a small set is gone through several times
                order += [self.learn[i] for i in torch.randperm(len(self.learn), generator=generator).tolist()]
            chunk, order = order[: BUCKET * size], order[BUCKET * size :]
            chunk.sort(key=lambda i: self.lengths[i])
            made = torch.tensor(chunk).split(size)
            for number in torch.randperm(len(made), generator=generator).tolist():
                yield made[number]

    def answers(self, model: Any, rows: Tensor) -> tuple[Tensor, Tensor]:
        logits = class_logits(model, self.tokenizer, [self.texts[i] for i in rows.tolist()], self.context)  # (rows, classes)
        return logits, self.truth[rows.cpu()].to(logits.device)

    def outputs(self, model: Any) -> int:
        return self.vocabulary

    def figures(self, loss: float, right: float) -> dict[str, float]:
        return {"heldout_loss": loss, "heldout_accuracy": right}


def feed_for(
    model: Any, given: Given, params: TrainingParams, run: Run, vocabulary: int = 0, longest: int | None = None, anew: bool = True
) -> Feed:
    """The feed for the model's task. vocabulary: where another model's is larger; longest: tokens, where another model holds fewer;
    anew: whether each pass over a text cuts it elsewhere."""
    if given.info.task == "classifier":
        return LabelFeed(given, params, model.config.id2label, run, longest)
    return TextFeed(given, params, max(vocabulary, model.config.get_text_config().vocab_size), run, longest, anew)


def objective(
    feed: Feed,
    model: Any,
    run: Run,
    *,
    teacher: Any = None,
    against: Against = PLAIN,
    beside: Beside | None = None,
    kept: Kept | None = None,
) -> tuple[Callable[[Tensor], dict[str, Tensor]], Callable[[], dict[str, float]]]:
    """(loss_of, judge) for training.train: cross-entropy with the truth, or with a teacher `against` what it says, and alpha times it.

    judge gives 'heldout_loss' (of what's answered), the feed's figures, and with a teacher 'heldout_kl', 'agreement', and of models that
    generate 'acceptance', the mean of sum min(p, q). beside: what else of the two is compared in training; kept: answers for which the
    teacher isn't run in training. What's held out is always judged with the teacher itself.
    """

    # embeddings padded to different sizes hold the same tokens first
    shared = None if teacher is None else min(feed.outputs(model), feed.outputs(teacher))

    def taught(rows: Tensor) -> Tensor | None:
        """The teacher's logits over the classes or tokens that both have."""
        if teacher is None:
            return None
        with torch.no_grad():
            return feed.answers(teacher, rows)[0][..., :shared]

    def answered(rows: Tensor) -> tuple[Tensor, Tensor]:
        mine, truth = feed.answers(model, rows)
        return mine[..., :shared], truth

    def losses(mine: Tensor, truth: Tensor, theirs: Tensor | Top | None) -> dict[str, Tensor]:
        if theirs is None:
            return {"loss": training.cross_entropy(mine, truth)}
        return distillation_loss(mine, theirs, truth, against)

    def brief(rows: Tensor) -> Tensor | Top | None:
        """What's compared with; with top_k, the teacher's logits are gone before the model's own come."""
        found = None if kept is None else kept.of(rows)
        if found is not None or teacher is None:
            return found
        return against.brief(taught(rows))

    def loss_of(rows: Tensor) -> dict[str, Tensor]:
        with contextlib.nullcontext() if beside is None else beside.watched():
            theirs = brief(rows)
            found = losses(*answered(rows), theirs)
        for name, value in ({} if beside is None else beside.losses()).items():
            found[f"loss/{name}"] = value
            found["loss"] = found["loss"] + beside.weights[name] * value
        return found

    @torch.no_grad()
    def judge() -> dict[str, float]:
        total = plain = right = kl = agreed = accepted = 0.0
        count = 0
        for rows in feed.held_out:
            run.check_cancelled()
            theirs, (mine, truth) = taught(rows), answered(rows)
            counted = truth != IGNORED
            found, n = losses(mine, truth, theirs), int(counted.sum())
            count += n
            total += float(found["loss"]) * n
            plain += float(found.get("loss/text", found["loss"])) * n
            right += float((mine.argmax(-1) == truth).sum())
            if theirs is not None:
                kl += float(divergence(theirs.float(), mine.float())[counted].sum())
                accepted += float((1 - differences(theirs, mine, OVERLAP))[counted].sum())
                agreed += float((mine.argmax(-1) == theirs.argmax(-1))[counted].sum())
        out = feed.figures(plain / count, right / count) | {"heldout_loss": total / count}
        if teacher is None:
            return out
        drafts = {"acceptance": accepted / count} if isinstance(feed, TextFeed) else {}
        return out | {"heldout_kl": kl / count, "agreement": agreed / count} | drafts

    return loss_of, judge
