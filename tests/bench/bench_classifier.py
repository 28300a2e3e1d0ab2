"""A classifier's whole path on real data: an encoder is taught on film reviews, cut, and healed; accuracy and speed after each.

    SHELF=... pytest -m bench tests/bench/bench_classifier.py -s

Prints accuracy with its interval on the held-out fifth, how it compares with the uncut classifier example by example, and the time
of a forward against the uncut one's, interleaved in one run. Then the curve of accuracy as heads go, the least important first, judged
by Taylor and by chance: how many go before accuracy leaves the interval of the uncut one. Asserts nothing about either.
"""

import copy
import statistics
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from core.data.labels import class_logits, read_labels, split, to_model
from core.data.text import Text, padded
from core.evaluate.accuracy import score, wilson
from core.methods import Given, checked, get, importance
from core.models import load, surgery
from core.recipe import LabelsRef
from core.run import Run

LEARN = {"steps": 250}
HEAL = {"steps": 200, "batch": 32, "context": 128, "loss": "teacher"}
LOOK = {"windows": 32, "context": 128}


def apply(model, given, name, **values):
    method = get(name)
    return method.apply(model, checked(method, values), Run(), given).model


def seconds(model, feds):
    begun = time.process_time()
    with torch.no_grad():
        for fed in feds:
            model(**fed)
    return time.process_time() - begun


def changed(model, other, tokenizer, labels):
    """(examples that only the first got right, that only the second did): what McNemar's test looks at."""
    rows = sorted(split(labels).heldout, key=lambda i: len(labels.texts[i]))
    truth = torch.tensor([to_model(labels, model.config.id2label)[i] for i in rows])
    found = []
    for m in (model, other):
        with torch.no_grad():
            parts = [
                class_logits(m, tokenizer, [labels.texts[i] for i in rows[b : b + 32]], 256).argmax(-1) for b in range(0, len(rows), 32)
            ]
        found.append(torch.cat(parts) == truth)
    return int((found[0] & ~found[1]).sum()), int((found[1] & ~found[0]).sum())


@pytest.mark.bench
@pytest.mark.shelf
@pytest.mark.timeout(3600)
def test_film_reviews(shelf):
    torch.manual_seed(0)
    loaded = load.load(shelf / "minilm-l6", dtype="float32")
    labels = read_labels(LabelsRef(path=str(shelf / "labels" / "movie.csv")))
    begun = time.perf_counter()
    given = Given(loaded.tokenizer, loaded.folder, loaded.info, labels=labels)
    uncut = apply(loaded.model, given, "classify", **LEARN)
    print(f"\ntaught in {time.perf_counter() - begun:.0f} s")
    texts = sorted(labels.some(split(labels).heldout[:256])[0], key=len)
    feds = [padded(loaded.tokenizer, texts[i : i + 32], 256) for i in range(0, len(texts), 32)]

    info = loaded.info.model_copy(update={"task": "classifier"})
    content = "\n".join(labels.some(split(labels).learn)[0])
    text = Text(labels.name, labels.path, content, labels.sha256)
    teacher = SimpleNamespace(model=uncut, info=info, folder=loaded.folder)
    given = replace(given, info=info, text=text, uncut="uncut", load_variant=lambda _: teacher)
    model = copy.deepcopy(uncut)
    tell("taught", uncut, uncut, loaded, labels, feds)
    curves(uncut, given)
    for name, values in (("heads", {"share": 0.3} | LOOK), ("channels", {"share": 0.3} | LOOK), ("finetune", HEAL)):
        model = apply(model, given, name, **values)
        tell(name, model, uncut, loaded, labels, feds)


def curves(model, given):
    """Accuracy on all that's held out, without more and more heads; what they're worth is judged on examples that were learnt from."""
    shape, labels = surgery.anatomy(model), given.labels
    learn, heldout = split(labels).learn, split(labels).heldout
    drawn = [learn[i] for i in torch.randperm(len(learn), generator=torch.Generator().manual_seed(0))[: 8 * LOOK["windows"]].tolist()]
    judged = importance.labelled(model, given, drawn, LOOK["context"])
    scores = importance.head_scores(model, shape, ("taylor", "random"), Run(), judged)
    examples = importance.labelled(model, given, heldout, 256)
    total = shape.layers * shape.units
    for criterion, apart in (("taylor", 3), ("random", 9)):
        queue = [divmod(i, shape.units) for i in scores[criterion].flatten().argsort(stable=True).tolist()]
        found = []
        for count in range(0, total + 1, apart):
            with importance.silenced(model, shape, queue[:count]):
                found.append((count, importance.accuracy(model, examples, Run())))
        low, high = wilson(round(found[0][1] * examples.count), examples.count)
        kept = next((i for i, (_, value) in enumerate(found) if value < low), len(found)) - 1
        print(
            f"heads by {criterion}: {found[kept][0]} of {total} go before accuracy leaves {100 * low:.2f} to {100 * high:.2f} %\n    "
            + ", ".join(f"{count}: {100 * value:.2f}" for count, value in found),
            flush=True,
        )


def tell(name, model, uncut, loaded, labels, feds):
    found = score(model, loaded.tokenizer, labels)[0]
    lost, won = changed(uncut, model, loaded.tokenizer, labels)
    pairs = [(seconds(uncut, feds), seconds(model, feds)) for _ in range(6)][1:]
    ratio = statistics.median(a / b for a, b in pairs)
    parameters = sum(p.numel() for p in model.parameters())
    print(
        f"{name:10} accuracy {100 * found.value:.2f} % ({100 * found.low:.2f} to {100 * found.high:.2f}, n = {found.n}), "
        f"{lost} lost and {won} won against the uncut one, {parameters:,} parameters, {ratio:.2f} times as fast"
    )
