"""Wanda: by |W| · ‖x‖ within each output row, on the outputs of the blocks already pruned; exact to the weight."""

import pytest
import torch

from core.errors import UserError
from core.methods import calibration
from core.methods.pruning.wanda import WandaParams
from core.models import load, save
from core.models.blocks import blocks, linears, weight_of
from core.models.streamed import Finished, InMemory, Streamed
from core.run import Run
from tests.core.methods.conftest import Recorder, apply, give, make_text, same

SHORT = {"windows": 4, "context": 32}


def weights(model):
    return {name: weight_of(module).clone() for name, module in linears(model)}


def by_hand(loaded, sparsity):
    """Wanda with hooks on whole forwards: no sequential driver, no shared statistics. Prunes the model."""
    ids, _ = calibration.draw(make_text(), loaded.tokenizer, WandaParams(**SHORT), loaded.info, 0, Run())
    for name, _ in blocks(loaded.model):
        inside = {n: m for n, m in linears(loaded.model) if n.startswith(f"{name}.")}
        seen = {n: [] for n in inside}
        hook = lambda inputs: lambda module, args: inputs.append(args[0].flatten(0, -2).double())
        handles = [m.register_forward_pre_hook(hook(seen[n])) for n, m in inside.items()]
        with torch.no_grad():
            loaded.model.base_model(input_ids=ids)
        for handle in handles:
            handle.remove()
        for n, module in inside.items():
            weight = weight_of(module)
            score = weight.double().abs() * torch.cat(seen[n]).norm(dim=0)
            for row, of_row in zip(weight, score, strict=True):
                row.data[of_row.argsort(stable=True)[: int(sparsity * len(row))]] = 0
    return loaded.model


@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2"])
def test_it_prunes_what_whole_forwards_and_sorting_prune(request, model):
    folder = request.getfixturevalue(model)
    expected = weights(by_hand(load.load(folder), 0.5))
    found = weights(apply("wanda", load.load(folder), sparsity=0.5, **SHORT).model)
    assert all(torch.equal(found[n], expected[n]) for n in expected)


@pytest.mark.parametrize("scope", ["row", "layer"])
@pytest.mark.parametrize("model", ["pico_llama", "pico_gpt2", "pico_bert"])
def test_exactly_as_many_zeros_as_asked_and_what_stays_is_not_moved(request, model, scope):
    loaded = load.load(request.getfixturevalue(model))
    before = weights(loaded.model)
    others = {k: v.clone() for k, v in loaded.model.state_dict().items() if k.removesuffix(".weight") not in before}
    outcome = apply("wanda", loaded, sparsity=0.37, scope=scope, **SHORT)
    after = weights(outcome.model)
    assert sum(int((w == 0).sum()) for w in after.values()) == int(0.37 * sum(w.numel() for w in after.values()) + 0.5)
    assert all(torch.equal(w[w != 0], before[n][w != 0]) for n, w in after.items())
    assert all(torch.equal(v, outcome.model.state_dict()[k]) for k, v in others.items())
    if scope == "row":
        assert all(((w == 0).sum(1) - 0.37 * w.shape[1]).abs().max() <= 1 for w in after.values())
    if model == "pico_bert":
        assert "Outside the blocks, so pruned by magnitude alone: pooler.dense." in outcome.notes


@pytest.mark.parametrize(("pattern", "group"), [("2:4", 4), ("4:8", 8)])
def test_exactly_half_of_every_group_goes(pico, pattern, group):
    after = weights(apply("wanda", pico, pattern=pattern, **SHORT).model)
    assert all(((w.reshape(-1, group) == 0).sum(1) == group // 2).all() for w in after.values())


def test_sparsity_zero_is_bit_identical(pico_llama):
    assert same(apply("wanda", load.load(pico_llama), sparsity=0, **SHORT).model, load.load(pico_llama).model)


def test_an_input_that_is_always_zero_goes_first(pico):
    block = pico.model.model.layers[0]
    block.mlp.up_proj.weight.data[5] = 0  # so the down projection's input 5 is always 0
    weight = apply("wanda", pico, sparsity=0.1, **SHORT).model.model.layers[0].mlp.down_proj.weight
    assert (weight[:, 5] == 0).all()


def test_each_layer_reports_the_error_that_it_makes(pico):
    run = Recorder()
    apply("wanda", pico, run, **SHORT)
    errors = {e.name.removeprefix("error/"): e.value for e in run.events if getattr(e, "name", "").startswith("error/")}
    assert errors.keys() == {n for n, _ in linears(pico.model)}
    assert all(0 < e < 1 for e in errors.values())


@pytest.mark.parametrize("name", ["wanda", "sparsegpt"])
@pytest.mark.parametrize("model", ["pico_llama", "pico_bert"])
def test_from_disk_and_after_a_crash_it_makes_the_same_bytes(request, tmp_path, name, model):
    folder = request.getfixturevalue(model)
    loaded = load.load(folder)
    whole = apply(name, loaded, **SHORT).model
    (tmp_path / "whole").mkdir()
    save.save(whole, tmp_path / "whole", folder, run=Run())

    class Crash(Recorder):
        def metric(self, metric, step, value):
            if step == 1:
                raise KeyboardInterrupt

    def streamed():
        return Streamed(folder, Finished(tmp_path / "streamed-work", "x"))

    def in_memory():
        return InMemory(Finished(tmp_path / "work", "x"), folder)

    for make in (streamed, in_memory):
        for run in (Crash(), Recorder()):
            loaded, home = load.load(folder), make()
            if isinstance(home, Streamed):
                loaded.model = home.model
            try:
                outcome = apply(name, loaded, run, given=give(loaded, home=home), **SHORT)
            except KeyboardInterrupt:
                assert home.finished.blocks == [0]
        made = tmp_path / make.__name__
        made.mkdir()
        if isinstance(home, Streamed):
            home.save(made, run=Run())
        else:
            save.save(outcome.model, made, folder, run=Run())
        assert save.fingerprint(made) == save.fingerprint(tmp_path / "whole")


def test_a_text_that_is_too_short_is_refused(pico):
    with pytest.raises(UserError, match="shorter than one window"):
        apply("wanda", pico, given=give(pico, text=make_text("Too short.")), windows=4, context=128)
