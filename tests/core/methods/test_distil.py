"""Distillation: the loss, the student, what's refused, and that a student learns."""

import math
import shutil
from types import SimpleNamespace

import pytest
import torch

from core import methods
from core.errors import UserError
from core.methods.distillation.distil import DistilParams
from core.methods.distillation.students import kept_layers, shallower
from core.methods.losses import IGNORED, Against, distillation_loss
from core.models import draft_words, inspect, load, save
from core.models.blocks import blocks, linears
from core.run import Run
from tests.conftest import make_pico, make_tokenizer
from tests.core.methods.conftest import Recorder, apply, give, make_text, same

QUICK = {"steps": 12, "batch": 4, "context": 24, "learning_rate": 5e-3, "precision": "float32"}
HOW = Against(temperature=2, alpha=0.5)


# ---- the loss -----------------------------------------------------------------------------------------------------


def formula(student, teacher, labels, temperature, alpha):
    """The same in float64, token by token."""
    kl = text = 0.0
    count = 0
    for mine, theirs, label in zip(
        student.flatten(0, -2).double(), teacher.flatten(0, -2).double(), labels.flatten().tolist(), strict=True
    ):
        if label == IGNORED:
            continue
        p, q = (theirs / temperature).softmax(0), (mine / temperature).softmax(0)
        kl += float((p * (p / q).log()).sum())
        text -= math.log(mine.softmax(0)[label])
        count += 1
    return temperature**2 * kl / count + alpha * text / count, temperature**2 * kl / count, text / count


@pytest.fixture
def logits():
    generator = torch.Generator().manual_seed(0)
    student, teacher = (3 * torch.randn(2, 5, 11, generator=generator) for _ in range(2))
    return student, teacher, torch.randint(11, (2, 5), generator=generator)


@pytest.mark.parametrize(("temperature", "alpha"), [(1, 0), (2, 0.5), (4, 3)])
def test_the_loss_is_the_formula(logits, temperature, alpha):
    losses = distillation_loss(*logits, Against(temperature=temperature, alpha=alpha))
    wanted = formula(*logits, temperature, alpha)
    assert [float(losses[k]) for k in ("loss", "loss/teacher", "loss/text")] == pytest.approx(wanted, rel=1e-5)


def test_the_loss_does_not_move_with_padding(logits):
    student, teacher, labels = logits
    plain = distillation_loss(student, teacher, labels, HOW)
    noise = torch.full((2, 3, 11), 50.0) * torch.randn(2, 3, 11)
    padded = distillation_loss(
        torch.cat([student, noise], 1), torch.cat([teacher, -noise], 1), torch.cat([labels, torch.full((2, 3), IGNORED)], 1), HOW
    )
    assert all(torch.allclose(plain[k], padded[k], rtol=1e-6) for k in plain)


def test_the_loss_does_not_move_with_the_shape_of_the_batch(logits):
    plain = distillation_loss(*logits, HOW)
    for shape in ((1, 10), (10, 1), (5, 2), (10,)):
        reshaped = distillation_loss(logits[0].reshape(*shape, 11), logits[1].reshape(*shape, 11), logits[2].reshape(shape), HOW)
        assert all(torch.allclose(plain[k], reshaped[k], rtol=1e-6) for k in plain)
    twice = distillation_loss(*(torch.cat([x, x]) for x in logits), HOW)
    assert all(torch.allclose(plain[k], twice[k], rtol=1e-6) for k in plain)


def test_a_student_that_equals_its_teacher_loses_nothing(logits):
    assert float(distillation_loss(logits[0], logits[0], logits[2], Against(temperature=2, alpha=0))["loss"]) == pytest.approx(0, abs=1e-6)


# ---- the student --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "wanted", "kept"),
    [(8, 4, [0, 2, 5, 7]), (8, None, [0, 2, 5, 7]), (30, 2, [0, 29]), (3, None, [0, 2]), (2, None, [0]), (5, 4, [0, 1, 3, 4])],
)
def test_the_layers_kept_are_spread_evenly(total, wanted, kept):
    assert kept_layers(total, wanted) == kept


def test_every_choice_of_layers_is_without_doubles_and_keeps_both_ends():
    for total in range(2, 40):
        for wanted in range(2, total):
            kept = kept_layers(total, wanted)
            assert len(set(kept)) == wanted
            assert (kept[0], kept[-1]) == (0, total - 1)


def test_a_student_as_deep_as_its_teacher_is_refused(pico):
    with pytest.raises(UserError, match="isn't shallower"):
        apply("distil", pico, layers=2, **QUICK)


@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2"])
def test_a_shallower_copy_is_whole_and_its_teacher_untouched(request, model):
    loaded = load.load(request.getfixturevalue(model))
    before = {k: v.clone() for k, v in loaded.model.state_dict().items()}
    total = len(blocks(loaded.model))
    student = shallower(loaded.model, [0, total - 1] if total > 2 else [1])
    kept = len(blocks(student))
    assert student.config.num_hidden_layers == kept < total == loaded.model.config.num_hidden_layers == len(blocks(loaded.model))
    assert all(torch.equal(before[k], v) for k, v in loaded.model.state_dict().items())
    last = [next(m for _, m in reversed(blocks(x))) for x in (student, loaded.model)]
    assert same(*last)
    assert {p.data_ptr() for p in student.parameters()}.isdisjoint(p.data_ptr() for p in loaded.model.parameters())
    if getattr(loaded.model.config, "layer_types", None):
        assert len(student.config.layer_types) == kept
    prompt = torch.arange(1, 9)[None]
    with torch.no_grad():  # generation with a cache goes on as without one
        cached = student.generate(prompt, max_new_tokens=8, do_sample=False, use_cache=True, eos_token_id=-1, pad_token_id=0)
        plain = student.generate(prompt, max_new_tokens=8, do_sample=False, use_cache=False, eos_token_id=-1, pad_token_id=0)
    assert torch.equal(cached, plain)


# ---- learning -----------------------------------------------------------------------------------------------------


def test_a_shallower_student_learns(pico):
    before = {k: v.clone() for k, v in pico.model.state_dict().items()}
    run = Recorder()
    outcome = apply("distil", pico, run, layers=1, **QUICK)
    assert len(blocks(outcome.model)) == 1
    loss, heldout = run.curve("loss"), run.curve("heldout_loss")
    assert len(loss) == 12
    assert loss[-1] < loss[0]
    assert min(heldout[1:]) < heldout[0]
    for name in ("loss/teacher", "loss/text", "lr", "heldout_perplexity", "heldout_kl", "agreement"):
        assert run.curve(name), name
    assert run.curve("loss")[0] == pytest.approx(run.curve("loss/teacher")[0] + 0.5 * run.curve("loss/text")[0], rel=1e-5)
    assert all(torch.equal(before[k], v) for k, v in pico.model.state_dict().items())  # the teacher
    assert not any(p.requires_grad for p in outcome.model.parameters())
    assert outcome.notes[0] == "Student: 1 of the teacher's 2 layers (1)."
    assert "perplexity on text kept aside" in outcome.notes[1]


@pytest.mark.parametrize("loss", [{"loss": kind} for kind in ("reverse", "js", "tv", "mse")] + [{"loss": "forward", "top_k": 20}])
def test_every_loss_teaches(pico, loss):
    run = Recorder()
    apply("distil", pico, run, layers=1, alpha=0, **loss, **QUICK)
    assert min(run.curve("heldout_kl")[1:]) < run.curve("heldout_kl")[0]
    assert run.curve("loss/teacher")[-1] < run.curve("loss/teacher")[0]


def test_the_same_seed_gives_the_same_student_and_another_seed_another(pico_llama):
    make = lambda seed: apply("distil", load.load(pico_llama), given=give(load.load(pico_llama), seed=seed), layers=1, **QUICK).model
    first = make(3)
    assert same(first, make(3))
    assert not same(first, make(4))


def test_gradients_do_not_depend_on_how_the_batch_is_cut(pico_llama, monkeypatch):
    whole = apply("distil", load.load(pico_llama), layers=1, **QUICK | {"steps": 2}).model.state_dict()
    monkeypatch.setattr("core.methods.estimates.rows_at_once", lambda batch, context, vocabulary: 1)
    cut = apply("distil", load.load(pico_llama), layers=1, **QUICK | {"steps": 2}).model.state_dict()
    assert all(torch.allclose(whole[k], cut[k], atol=2e-4) for k in whole)


@pytest.fixture
def variants(pico_llama, pico_draft, tmp_path):
    """A loader of variants by id, as the worker gives one."""
    strange = make_pico(tmp_path / "strange", layers=1)
    (strange / "tokenizer.json").write_text((strange / "tokenizer.json").read_text(encoding="utf-8").replace('"<|end|>"', '"<|stop|>"'))
    folders = {"draft": pico_draft, "teacher": pico_llama, "strange": strange}
    return lambda name: load.load(folders[name], train=True)


def test_another_variant_is_the_student(pico, variants):
    run = Recorder()
    outcome = apply("distil", pico, run, give(pico, load_variant=variants), student="draft", **QUICK)
    assert outcome.model.config.hidden_size == 16
    assert min(run.curve("heldout_loss")[1:]) < run.curve("heldout_loss")[0]
    assert "began with the weights of pico-draft" in outcome.notes[0]


def test_a_draft_that_learns_on_says_as_few_tokens_as_before(pico, variants, tmp_path):
    folder = shutil.copytree(variants("draft").folder, tmp_path / "few")
    (folder / draft_words.FILE).write_bytes(few := draft_words.content(torch.arange(40)))
    given = give(pico, load_variant=lambda name: load.load(folder, train=True))
    assert apply("distil", pico, given=given, student="few", **QUICK | {"steps": 1}).files[draft_words.FILE] == few
    plain = apply("distil", pico, given=give(pico, load_variant=variants), student="draft", **QUICK | {"steps": 1})
    assert draft_words.FILE not in plain.files


@pytest.mark.parametrize("weights", ["all", "lora"])
def test_zeros_of_a_pruned_student_stay(pico, variants, weights):
    student = variants("draft")
    apply("magnitude", student)
    before = {name: module.weight == 0 for name, module in linears(student.model)}
    outcome = apply("distil", pico, given=give(pico, load_variant=lambda name: student), student="draft", weights=weights, **QUICK)
    assert all(torch.equal(module.weight == 0, before[name]) for name, module in linears(outcome.model))
    assert f"{sum(int(m.sum()) for m in before.values()):,} zeros of the pruning stayed zero." in outcome.notes


def test_a_student_learns_by_low_rank_additions_alone(pico):
    """What comes out is an ordinary model whose linear layers moved by no more than the rank, and whose other weights didn't."""
    run = Recorder()
    begun = shallower(pico.model, [0]).state_dict()
    outcome = apply("distil", pico, run, layers=1, weights="lora", rank=2, lora_learning_rate=2e-2, **QUICK)
    heldout, after = run.curve("heldout_loss"), outcome.model.state_dict()
    assert min(heldout[1:]) < heldout[0]
    assert after.keys() == begun.keys()
    moved = {name for name in begun if not torch.equal(begun[name], after[name])}
    assert moved == {f"{name}.weight" for name, _ in linears(outcome.model)}
    for name in moved:
        assert 0 < int(torch.linalg.matrix_rank(after[name] - begun[name], atol=1e-5)) <= 2, name
    assert any("rank 2" in note for note in outcome.notes)


def test_a_fresh_student_can_not_learn_by_additions_alone(pico):
    with pytest.raises(UserError, match="knows nothing yet"):
        apply("distil", pico, begin="fresh", weights="lora", **QUICK)


def test_a_student_with_a_padded_vocabulary_learns_over_the_tokens_that_both_have(pico, variants):
    wider = variants("draft")
    wider.model.resize_token_embeddings(320, mean_resizing=False)
    run = Recorder()
    outcome = apply("distil", pico, run, give(pico, load_variant=lambda name: wider), student="draft", **QUICK)
    assert outcome.model.get_input_embeddings().weight.shape[0] == 320
    assert all(math.isfinite(x) for x in run.curve("loss"))


def test_a_packed_teacher_teaches_another_variant_but_not_a_copy_of_itself(pico, variants):
    apply("rtn", pico)
    outcome = apply("distil", pico, given=give(pico, load_variant=variants), student="draft", **QUICK)
    assert outcome.model.config.hidden_size == 16
    with pytest.raises(UserError, match="packed weights can't be trained"):
        apply("distil", pico, layers=1, **QUICK)


def test_a_student_without_all_tokens_is_refused(pico, variants):
    narrower = variants("draft")
    narrower.model.resize_token_embeddings(290, mean_resizing=False)
    with pytest.raises(UserError, match="only 290 of them"):
        apply("distil", pico, given=give(pico, load_variant=lambda name: narrower), student="draft", **QUICK)


@pytest.mark.parametrize(("student", "why"), [("strange", "other tokens"), ("teacher", "can't learn from itself")])
def test_a_student_that_can_not_learn_is_refused(pico, variants, student, why):
    with pytest.raises(UserError, match=why):
        apply("distil", pico, given=give(pico, load_variant=variants), student=student, **QUICK)


@pytest.mark.parametrize(("change", "why"), [({"quantization": "int8"}, "is quantized"), ({"task": "encoder"}, "doesn't do what")])
def test_a_student_of_another_kind_is_refused(pico, variants, change, why):
    def changed(name):
        loaded = variants("draft")
        return SimpleNamespace(model=loaded.model, folder=loaded.folder, info=loaded.info.model_copy(update=change))

    with pytest.raises(UserError, match=why):
        apply("distil", pico, given=give(pico, load_variant=changed), student="draft", **QUICK)


def test_a_student_with_other_tokens_learns_what_the_teacher_writes(pico, tmp_path):
    folder = make_pico(tmp_path / "other", layers=1)
    make_tokenizer(folder, 280)
    run = Recorder()
    given = give(pico, load_variant=lambda name: load.load(folder, train=True))
    values = QUICK | {"student": "other", "data": "written", "written": 4000}
    outcome = apply("distil", pico, run, given, **values)
    assert min(run.curve("heldout_loss")[1:]) < run.curve("heldout_loss")[0]
    assert not run.curve("heldout_kl")
    assert any("no probabilities" in note for note in outcome.notes)
    made = tmp_path / "made"
    made.mkdir()
    save.save(outcome.model, made, pico.folder, run=Run())
    save.put(made, outcome.files)
    assert inspect.inspect(made).tokens_hash == inspect.inspect(folder).tokens_hash != pico.info.tokens_hash
    for change, why in (
        ({"data": "text"}, "other tokens than"),
        ({"on_policy": 0.5}, "can judge neither"),
        ({"hidden": 1}, "can judge neither"),
        ({"answers": "kept"}, "none to keep"),
    ):
        with pytest.raises(UserError, match=why):
            apply("distil", pico, given=given, **values | change)


def test_shallower_may_be_written_out(pico):
    outcome = apply("distil", pico, student="shallower", layers=1, **QUICK | {"steps": 1})
    assert len(blocks(outcome.model)) == 1


def test_a_context_longer_than_the_model_is_refused(pico):
    with pytest.raises(UserError, match="holds 256 tokens"):
        apply("distil", pico, layers=1, **QUICK | {"context": 300})


def test_a_text_too_short_is_refused_with_what_would_do(pico):
    with pytest.raises(UserError) as error:
        apply("distil", pico, given=give(pico, text=make_text("the quick brown fox jumps over the lazy dog")), layers=1, **QUICK)
    assert "needs 50" in error.value.sentence
    assert "at most" in error.value.hint


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ({}, "student, half the layers"),
        ({"layers": 4}, "student, 4 layers"),
        ({"layers": 1}, "student, 1 layer"),
        ({"student": "v"}, "distilled"),
        ({"layers": 4, "weights": "lora"}, "student, 4 layers, LoRA"),
    ],
)
def test_its_name(values, name):
    assert methods.label(methods.get("distil"), DistilParams(**values)) == name
