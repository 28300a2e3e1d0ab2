"""Resize: the size that was asked for, the cheapest cut at every step, and shapes that reload."""

import math

import pytest
import torch

from core.errors import UserError
from core.methods import importance
from core.methods.pruning import resize
from core.models import load, save, surgery
from core.run import Run
from tests.conftest import make_pico
from tests.core.methods.conftest import Recorder, apply, give, same

SMALL = {"windows": 2, "context": 24}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Four blocks with as many heads as a cut can say, and an MLP of several steps."""
    more = dict(hidden=32, intermediate_size=256, num_attention_heads=8, num_key_value_heads=4, head_dim=8)
    return make_pico(tmp_path_factory.mktemp("pico") / "m", layers=4, **more)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_it_has_as_few_parameters_as_asked_and_hardly_fewer(folder, share, tmp_path):
    loaded = load.load(folder)
    before = resize.count(loaded.model)
    recorder = Recorder()
    out = apply("resize", loaded, recorder, share=share, **SMALL)
    after = resize.count(out.model)
    shape = surgery.anatomy(out.model)
    largest = 4 * 64 * 3 * 32  # one step of width in all blocks
    assert before * (1 - share) - largest <= after <= before * (1 - share) + 1
    assert recorder.curve("resize/parameters")[-1] == after
    assert recorder.curve("resize/parameters") == sorted(recorder.curve("resize/parameters"), reverse=True)
    save.save(out.model, tmp_path, folder, run=Run())
    again = load.load(tmp_path)
    assert resize.count(again.model) == after
    assert surgery.anatomy(again.model) == shape
    ids = torch.arange(12)[None]
    assert torch.equal(again.model(ids).logits, out.model(ids).logits)
    assert f"{after / 1e6:.2f} million" in out.notes[-1]


def test_the_cut_that_costs_least_a_parameter_is_taken(folder):
    """Every candidate's loss is that of the model really cut so, and the one with the least rise for what it removes is made."""
    loaded = load.load(folder)
    examples, _ = importance.draw(loaded.model, give(loaded), resize.ResizeParams(**SMALL), Run())
    search = resize.Search(loaded.model, examples, Run())
    search._look()
    cuts = {kind: search._cut(kind, 1) for kind in search.kinds}
    before = resize.count(loaded.model)
    index = min(range(4), key=lambda i: search.influence[i])
    without = surgery.drop_layers(load.load(folder).model, {index})
    assert math.isclose(cuts["depth"].loss, importance.loss(without, examples, Run()), rel_tol=1e-5)
    assert cuts["depth"].removed == before - resize.count(without)
    units = importance.head_scores(loaded.model, search.start, ["taylor"], Run(), examples)["taylor"]
    keep = [torch.tensor([u for u in range(4) if u != int(row.argmin())]) for row in units]
    fewer = surgery.cut_heads(load.load(folder).model, keep)
    assert math.isclose(cuts["heads"].loss, importance.loss(fewer, examples, Run()), rel_tol=1e-5)
    assert cuts["heads"].removed == before - resize.count(fewer)
    from core.methods.pruning.channels import narrowed

    slim = narrowed(load.load(folder).model, search.start, 192, Run(), None, scores=search.channel_scores(), compensate=False)
    assert math.isclose(cuts["width"].loss, importance.loss(slim, examples, Run()), rel_tol=1e-5)
    assert cuts["width"].removed == before - resize.count(slim)
    best = min(cuts, key=lambda kind: (cuts[kind].loss - search.loss) / cuts[kind].removed)
    taken = resize.Search(load.load(folder).model, examples, Run())
    taken.down_to(before - cuts[best].removed)
    shape = surgery.anatomy(taken.model)
    assert {"depth": shape.layers == 3, "heads": shape.units == 3, "width": taken.width == 192}[best]


@pytest.mark.parametrize(("among", "changed"), [("depth", "layers"), ("heads", "units"), ("width", "width")])
def test_only_what_is_allowed_is_cut(folder, among, changed):
    loaded = load.load(folder)
    start = surgery.anatomy(loaded.model)
    shape = surgery.anatomy(apply("resize", loaded, share=0.05, among=among, compensate=False, **SMALL).model)
    assert [name for name in ("layers", "units", "width") if getattr(shape, name) != getattr(start, name)] == [changed]


def test_all_kinds_together_stay_consistent(folder):
    """Far down, so that blocks, heads and channels all go, with channels silenced while blocks are renumbered."""
    loaded = load.load(folder)
    out = apply("resize", loaded, share=0.8, **SMALL)
    shape = surgery.anatomy(out.model)
    assert (shape.layers, shape.units, shape.width) != (4, 4, 256)
    assert resize.count(out.model) <= 0.2 * resize.count(load.load(folder).model) + 1


def test_large_enough_already_is_bit_identical(folder):
    loaded = load.load(folder)
    millions = resize.count(loaded.model) / 1e6 + 0.001
    assert same(apply("resize", loaded, millions=millions, **SMALL).model, load.load(folder).model)
    assert same(apply("resize", load.load(folder), share=0, **SMALL).model, load.load(folder).model)


def test_smaller_than_its_embedding_is_refused(folder):
    with pytest.raises(UserError, match="embedding"):
        apply("resize", load.load(folder), millions=0.005, **SMALL)


@pytest.mark.parametrize("source", ["pico_bert", "pico_gpt2"])
def test_models_whose_heads_stay_lose_depth_and_width(request, source):
    loaded = load.load(request.getfixturevalue(source))
    before = surgery.anatomy(loaded.model)
    out = apply("resize", loaded, share=0.2, **SMALL)
    after = surgery.anatomy(out.model)
    assert after.units == before.units
    assert (after.layers, after.width) != (before.layers, before.width)


def test_heads_that_stay_are_adjusted_as_they_are_cut(folder):
    found = {}
    for compensate in (False, True):
        loaded = load.load(folder)
        examples = importance.draw(loaded.model, give(loaded), resize.ResizeParams(**SMALL), Run())[0]
        with torch.no_grad():
            before = torch.cat([loaded.model(**fed).logits for fed in examples.inputs])
        model = apply("resize", loaded, share=0.05, among="heads", compensate=compensate, **SMALL).model
        with torch.no_grad():
            found[compensate] = float((torch.cat([model(**fed).logits for fed in examples.inputs]) - before).square().mean())
    assert found[True] < found[False]
