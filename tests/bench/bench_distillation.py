"""Distillation where it must pay: a language model against the same one that learns from the text alone, and a classifier's student.

    pytest -m bench tests/bench/bench_distillation.py -k starter -s
    SHELF=... pytest -m bench tests/bench/bench_distillation.py -k film -s
    SHELF=... pytest -m bench tests/bench/bench_distillation.py -k answers -s

The starter pair: a fresh model of the small one's shape learns for equally many steps from the text alone, and from the large one beside
it, by several losses; perplexity on the held-out text, three seeds, and the interval of the mean difference (Student's t over the
seeds). Film reviews: MiniLM's six layers are taught, then two of them learn from the six; accuracy with its interval on the held-out
fifth, and the time of a forward against the teacher's, in turns in one run. Answers: steps with the teacher's answers computed and read
from disk, in turns, for the starter pair and for a student of 5 of SmolLM2's 30 layers; how much longer the whole takes by the number of
passes over the text, asking once included, and the disk it costs. Prints; what must hold is asserted.
"""

import itertools
import math
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import resources
from core.data.labels import read_labels, split
from core.data.text import padded, read_text, token_ids
from core.evaluate.accuracy import score as accuracy
from core.evaluate.perplexity import score as perplexity
from core.methods import Given, checked, get, training
from core.methods.distillation import answers, students
from core.methods.feeds import feed_for, objective
from core.methods.losses import Against
from core.models import load
from core.recipe import LabelsRef
from core.run import Run
from tests.bench.bench_methods import bring_in

SEEDS = (0, 1, 2)
T_95 = 4.303  # Student's t, two degrees of freedom
HELD_OUT = 16_384  # tokens of the held-out text that are scored
LOOP = {"steps": 300, "batch": 8, "context": 64, "learning_rate": 3e-3, "precision": "float32"}
LOSSES = {"text alone": None, "forward KL": Against("forward", 2.0, 0.5), "Jensen-Shannon": Against("js", 2.0, 0.5)}


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_starter_pair():
    teacher = load.load(resources.STARTER_TARGET, dtype="float32")
    small = load.load(resources.STARTER_DRAFT).info
    shape = students.fresh_shape(teacher.info, small.layers, small.hidden, small.heads)
    held_out = token_ids(read_text(resources.HELDOUT_TEXT), teacher.tokenizer, HELD_OUT)
    params = training.TrainingParams(**LOOP)
    found: dict[str, list[float]] = {name: [] for name in LOSSES}
    for seed in SEEDS:
        given = Given(teacher.tokenizer, teacher.folder, teacher.info, text=read_text(resources.TRAIN_TEXT), seed=seed)
        for name, against in LOSSES.items():
            begun = time.process_time()
            student = students.fresh(teacher.model, shape, seed)
            feed = feed_for(student, given, params, Run())
            how = {} if against is None else {"teacher": teacher.model, "against": against}
            loss_of, judge = objective(feed, student, Run(), **how)
            batches = feed.batches(params.batch, seed)
            training.train(student, batches, loss_of, judge, params, run=Run(), device="cpu", vocabulary=feed.vocabulary)
            found[name].append(perplexity(student, held_out, context=256)[0].value)
            print(f"seed {seed}, {name:15} perplexity {found[name][-1]:8.2f}   ({time.process_time() - begun:.0f} CPU s)", flush=True)
    print(f"\n{LOOP['steps']} steps of {LOOP['batch']} x {LOOP['context']} tokens; log-perplexity against the text alone, 95 % interval")
    for name, values in found.items():
        apart = [math.log(a / b) for a, b in zip(values, found["text alone"], strict=True)]
        half = T_95 * statistics.stdev(apart) / math.sqrt(len(apart))
        mean = statistics.fmean(apart)
        print(f"{name:15} {statistics.fmean(values):8.2f}   {mean:+.4f} ({mean - half:+.4f} to {mean + half:+.4f})")
        if name != "text alone":
            assert mean + half < 0, f"{name} isn't better than the text alone"


# ---- a classifier -----------------------------------------------------------------------------------------------------

TEACH = {"steps": 250}
STUDENT = {"layers": 2, "steps": 400, "batch": 32, "context": 128, "learning_rate": 3e-4, "alpha": 0.5, "hidden": 1.0}


def apply(model, given, name, **values):
    method = get(name)
    return method.apply(model, checked(method, values), Run(), given).model


def seconds(model, feds):
    begun = time.process_time()
    with torch.no_grad():
        for fed in feds:
            model(**fed)
    return time.process_time() - begun


@pytest.mark.bench
@pytest.mark.shelf
@pytest.mark.timeout(7200)
def test_film_reviews(shelf):
    loaded = load.load(shelf / "minilm-l6", dtype="float32")
    labels = read_labels(LabelsRef(path=str(shelf / "labels" / "movie.csv")))
    given = Given(loaded.tokenizer, loaded.folder, loaded.info, labels=labels)
    begun = time.process_time()
    teacher = apply(loaded.model, given, "classify", **TEACH)
    print(f"\ntaught in {time.process_time() - begun:.0f} CPU s", flush=True)
    given = replace(given, info=loaded.info.model_copy(update={"task": "classifier"}))
    begun = time.process_time()
    student = apply(teacher, given, "distil", **STUDENT)
    print(f"distilled in {time.process_time() - begun:.0f} CPU s", flush=True)
    found = {name: accuracy(model, loaded.tokenizer, labels)[0] for name, model in (("teacher", teacher), ("student", student))}
    for name, one in found.items():
        print(f"{name}: accuracy {100 * one.value:.2f} % ({100 * one.low:.2f} to {100 * one.high:.2f}, n = {one.n})")
    texts = sorted(labels.some(split(labels).heldout[:256])[0], key=len)
    feds = [padded(loaded.tokenizer, texts[i : i + 32], 256) for i in range(0, len(texts), 32)]
    ratios = [seconds(teacher, feds) / seconds(student, feds) for _ in range(7)][1:]
    print(f"{statistics.median(ratios):.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f}); {os.cpu_count()} cores, ", end="")
    kept = found["student"].value / found["teacher"].value
    print(f"{torch.get_num_threads()} threads; {100 * kept:.1f} % of the teacher's accuracy kept")
    assert kept >= 0.97
    assert statistics.median(ratios) >= 2


# ---- answers on disk --------------------------------------------------------------------------------------------------


def step(student, loss_of, rows):
    begun = time.process_time()
    loss_of(rows)["loss"].backward()
    spent = time.process_time() - begun
    student.zero_grad(set_to_none=True)
    return spent


def measure_answers(name, teacher, student, batch, context, repeats):
    given = Given(teacher.tokenizer, teacher.folder, teacher.info, text=read_text(resources.TRAIN_TEXT))
    params = training.TrainingParams(steps=repeats, batch=batch, context=context, precision="float32")
    student.float().requires_grad_(True)
    teacher.model.requires_grad_(False)
    feed = feed_for(student, given, params, Run(), anew=False)
    against = Against("forward", 2.0, 0.5, answers.DEFAULT_K)
    whole = Against("forward", 2.0, 0.5)
    with tempfile.TemporaryDirectory() as folder:
        fed = answers.batches_of(feed, batch, repeats, 0)
        kept = answers.Answers(Path(folder), teacher.model, feed, fed, feed.vocabulary, against, known={}, run=Run())
        begun = time.process_time()
        kept.gather(batch)
        asked = (time.process_time() - begun) / repeats
        ways = {"all tokens": (whole, None), "64 tokens": (against, None), "from disk": (against, kept)}
        losses = {
            way: objective(feed, student, Run(), teacher=teacher.model, against=how, kept=read)[0] for way, (how, read) in ways.items()
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for rows in itertools.islice(feed.batches(batch, 0), repeats):
            for way, loss_of in losses.items():
                times[way].append(step(student, loss_of, rows))
        kept.close()
    middle = {way: statistics.median(found[1:]) for way, found in times.items()}
    count = sum(p.numel() for p in student.parameters()) / sum(p.numel() for p in teacher.model.parameters())
    shape = f"{batch} x {context} tokens a step, {feed.vocabulary:,} in all"
    print(f"\n{name}: student of {100 * count:.0f} % of the teacher's parameters, {shape}")
    print(", ".join(f"{way} {1000 * spent:,.0f} ms" for way, spent in middle.items()), f"a step; asked once {1000 * asked:,.0f} ms")
    ratios = [a / b for a, b in zip(times["64 tokens"][1:], times["from disk"][1:], strict=True)]
    print(f"computed / from disk: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) a step; in all, ", end="")
    print(", ".join(f"{n * middle['64 tokens'] / (asked + n * middle['from disk']):.2f} with {n} passes" for n in (1, 2, 3, 10)))
    print(f"{kept.bytes / kept.count / context:.0f} bytes a token on disk, {4 * feed.vocabulary:,} as logits in memory")
    return statistics.median(ratios)


@pytest.mark.bench
@pytest.mark.timeout(7200)
def test_answers_of_the_starter_pair():
    teacher = load.load(resources.STARTER_TARGET, dtype="float32")
    student = load.load(resources.STARTER_DRAFT, dtype="float32").model
    assert measure_answers("starter pair", teacher, student, 8, 128, 24) > 1


@pytest.mark.bench
@pytest.mark.shelf
@pytest.mark.timeout(7200)
def test_answers_of_smollm2(shelf, tmp_path):
    teacher = load.load(bring_in(shelf / "smollm2-135m.gguf", tmp_path), dtype="float32")
    student = students.shallower(teacher.model, students.kept_layers(30, 5))
    assert measure_answers("SmolLM2", teacher, student, 4, 64, 6) > 1
