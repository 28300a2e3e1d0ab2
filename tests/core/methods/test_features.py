"""Hidden states and attention relations: formulas in float64, padding, widths that differ, and models of several kinds."""

import copy
import math

import pytest
import torch

from core.data.labels import Labels
from core.methods.distillation.features import Inside, hidden_error, layer_pairs, looks_back_only, relation_error, relation_heads
from core.methods.distillation.students import shallower
from core.models import load
from tests.core.methods.conftest import Recorder, apply, give

QUICK = {"steps": 12, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32"}
BOTH = {"hidden": 1.0, "relations": 1.0}


# ---- on plain tensors -------------------------------------------------------------------------------------------------


@pytest.fixture
def states():
    generator = torch.Generator().manual_seed(0)
    student, teacher = (torch.randn(2, 5, 12, generator=generator) for _ in range(2))
    return student, teacher, torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]).float()


def test_hidden_states_are_compared_token_by_token(states):
    student, teacher, mask = states
    unit = lambda x: x.double() / x.double().square().sum().sqrt()
    found = [float((unit(student[r, t]) - unit(teacher[r, t])).square().sum()) for r in range(2) for t in range(5) if mask[r, t]]
    assert float(hidden_error(*states)) == pytest.approx(sum(found) / len(found), rel=1e-5)
    assert float(hidden_error(torch.zeros_like(teacher), teacher, mask)) == pytest.approx(1)  # nothing is known
    assert float(hidden_error(7 * student, 3 * teacher, mask)) == pytest.approx(float(hidden_error(*states)), rel=1e-5)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("heads", [1, 3])
def test_relations_are_the_formula(states, heads, causal):
    student, teacher, mask = states

    def row(x, r, h, i):
        x = x[r, :, h * (12 // heads) : (h + 1) * (12 // heads)].double()
        seen = [j for j in range(5) if mask[r, j] and (j <= i or not causal)]
        return torch.stack([x[i] @ x[j] / math.sqrt(x.shape[-1]) for j in seen]).softmax(0)

    total, count = 0.0, 0
    for r in range(2):
        for i in range(5):
            if mask[r, i]:
                pairs = [(row(teacher, r, h, i), row(student, r, h, i)) for h in range(heads)]
                total += sum(float((p * (p / q).log()).sum()) for p, q in pairs) / heads
                count += 1
    assert float(relation_error(student, teacher, heads, mask, causal)) == pytest.approx(total / count, rel=1e-4)


def test_relations_compare_widths_that_differ():
    x = torch.randn(1, 4, 64)
    wider = torch.cat([x, torch.zeros(1, 4, 64)], -1) * 2**0.25  # the same products, divided by the root of twice the width
    assert float(relation_error(wider, x, 1, torch.ones(1, 4), True)) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize(("widths", "heads"), [([384] * 6, 12), ([576, 192, 192, 384, 128, 128], 2), ([48, 36], 1), ([7, 5], 1), ([96], 3)])
def test_heads_of_relations(widths, heads):
    assert relation_heads(widths) == heads


@pytest.mark.parametrize(
    ("student", "teacher", "pairs"),
    [(2, 6, [(0, 2), (1, 5)]), (3, 3, [(0, 0), (1, 1), (2, 2)]), (1, 4, [(0, 3)]), (4, 2, [(0, 0), (1, 0), (2, 1), (3, 1)])],
)
def test_layers_are_paired_evenly(student, teacher, pairs):
    assert layer_pairs(student, teacher) == pairs


# ---- on models --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2", "pico_bert"])
def test_a_model_is_like_itself_and_a_shallower_one_is_not(request, model):
    loaded = load.load(request.getfixturevalue(model))
    other, ids = shallower(loaded.model, [1]), torch.arange(1, 13)[None]

    def compared(student):
        inside = Inside(student, loaded.model, BOTH, causal=model != "pico_bert")
        with inside.watched(), torch.no_grad():
            loaded.model(input_ids=ids)
            student(input_ids=ids)
        return inside.losses(), inside

    same, _ = compared(copy.deepcopy(loaded.model))
    unlike, inside = compared(other)
    assert same.keys() == unlike.keys() == {"hidden", "relations"}
    assert float(same["hidden"]) == float(same["relations"]) == 0
    assert float(unlike["hidden"]) > 0
    assert float(unlike["relations"]) > 0
    assert not len(inside.projections)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in loaded.model.modules())


def test_padding_counts_in_neither(pico_bert):
    teacher = load.load(pico_bert).model
    student = shallower(teacher, [0])
    inside = Inside(student, teacher, BOTH, causal=False)

    def losses(ids, mask):
        with inside.watched(), torch.no_grad():
            for model in (teacher, student):
                model(input_ids=ids, attention_mask=mask)
        return inside.losses()

    ids = torch.arange(1, 13)[None]
    plain = losses(ids, torch.ones_like(ids))
    padded = losses(torch.cat([ids, torch.zeros(1, 5, dtype=torch.long)], 1), torch.cat([torch.ones(1, 12), torch.zeros(1, 5)], 1))
    for name in plain:
        assert float(padded[name]) == pytest.approx(float(plain[name]), rel=1e-3)  # small differences of floats


def test_a_student_learns_by_them(pico):
    run = Recorder()
    outcome = apply("distil", pico, run, layers=1, **BOTH, **QUICK)
    for name in ("loss/hidden", "loss/relations"):
        assert run.curve(name)[-1] < run.curve(name)[0]
    parts = sum(run.curve(f"loss/{name}")[0] for name in ("teacher", "hidden", "relations"))
    assert run.curve("loss")[0] == pytest.approx(parts + 0.5 * run.curve("loss/text")[0], rel=1e-5)
    assert outcome.model.state_dict().keys() == {k for k in pico.model.state_dict() if ".layers.1." not in k}


def test_a_narrower_student_learns_by_a_projection_that_is_dropped(pico, pico_draft):
    run = Recorder()
    given = give(pico, load_variant=lambda name: load.load(pico_draft, train=True))
    outcome = apply("distil", pico, run, given, student="draft", **BOTH, **QUICK)
    assert run.curve("loss/hidden")[-1] < run.curve("loss/hidden")[0]
    assert outcome.model.state_dict().keys() == load.load(pico_draft).model.state_dict().keys()


def test_a_classifier_learns_by_them(pico_bert):
    rows = [(f"the {'home' if i % 2 else 'cold'} wind {'blows ' * (i % 5)}{i}", i % 2) for i in range(40)]
    texts, numbers = zip(*rows, strict=True)
    labels = Labels("a.csv", "a.csv", "", texts, numbers, ("bad", "good"), "text", "label")
    loaded = load.load(pico_bert)
    classifier = apply("classify", loaded, given=give(loaded, labels=labels), **QUICK).model
    loaded.model, loaded.info = classifier, loaded.info.model_copy(update={"task": "classifier"})
    runs = [Recorder(), Recorder()]
    for run, weight in zip(runs, (100.0, 1e-9), strict=True):
        apply("distil", loaded, run, give(loaded, labels=labels), layers=1, hidden=weight, relations=weight, **QUICK)
    for name in ("loss/hidden", "loss/relations"):
        assert runs[0].curve(name)[-1] < runs[1].curve(name)[-1]


@pytest.mark.parametrize(("model", "back"), [("pico_llama", True), ("pico_gpt2", True), ("pico_bert", False)])
def test_which_tokens_are_seen_is_found_out(request, model, back):
    assert looks_back_only(load.load(request.getfixturevalue(model)).model) == back


def test_a_decoder_that_classifies_still_looks_back_only(pico_llama):
    """By its task it was taken for an encoder, and its relations were compared with tokens that it never sees."""
    from transformers import AutoModelForSequenceClassification

    classifier = AutoModelForSequenceClassification.from_pretrained(pico_llama, num_labels=2)
    assert looks_back_only(classifier.eval())


def test_a_packed_teacher_relates_tokens_too(pico, pico_draft):
    """It used to be refused as a kind of attention that isn't known."""
    apply("rtn", pico)
    given = give(pico, load_variant=lambda name: load.load(pico_draft, train=True))
    run = Recorder()
    apply("distil", pico, run, given, student="draft", **QUICK | BOTH)
    assert run.curve("loss/relations")[-1] < run.curve("loss/relations")[0]
