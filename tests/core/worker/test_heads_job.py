"""The job about heads: a map that's kept, a loss on other text, a curve, labels of a classifier."""

import math
import shutil

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification, BertModel

from core import events
from core.errors import Cancelled, UserError
from core.models import inspect, size
from core.recipe import LabelsRef, Recipe
from core.records import HeadMap, HeadsSpec, Variant
from core.worker.heads import sample
from core.workspace import Workspace
from tests.conftest import PROSE, make_tokenizer
from tests.core.worker.test_tasks import Recorder, do


@pytest.fixture(scope="module")
def home(tmp_path_factory, pico_llama):
    return planted(tmp_path_factory.mktemp("heads") / "w", pico_llama)


def planted(folder, source):
    """(workspace, id) of a variant put there without the checks of an import, which aren't what is tested here."""
    workspace = Workspace(folder, create=True)
    with workspace.staging("pico") as staged:
        shutil.copytree(source, staged, dirs_exist_ok=True)
        info = inspect.inspect(staged).model_copy(update={"name": "pico"})
        variant = Variant(id="pico", name="pico", info=info, ledger=size.ledger(staged), recipe=Recipe())
        workspace.commit(staged, variant)
    return workspace, "pico"


@pytest.fixture(scope="module")
def pico_encoder(tmp_path_factory):
    return _bert(tmp_path_factory.mktemp("pico") / "encoder", BertModel)


@pytest.fixture(scope="module")
def pico_classifier(tmp_path_factory):
    return _bert(tmp_path_factory.mktemp("pico") / "classifier", BertForSequenceClassification, num_labels=2)


def _bert(folder, cls, **more):
    folder.mkdir()
    size = len(make_tokenizer(folder))
    torch.manual_seed(0)
    shape = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=128)
    cls(BertConfig(vocab_size=size, pad_token_id=0, **shape, **more)).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    path = tmp_path_factory.mktemp("labels") / "examples.csv"
    words = PROSE.split()
    rows = [f"{' '.join(words[i : i + 6])},{i % 2}" for i in range(40)]
    path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return LabelsRef(path=str(path))


def spec_of(home, **more):
    return HeadsSpec(**({"workspace": str(home[0].folder), "variant": home[1], "windows": 3, "context": 24} | more))


def metrics(run, prefix):
    return [(e.name.removeprefix(prefix), e.step, e.value) for e in run.seen if isinstance(e, events.Metric) and e.name.startswith(prefix)]


def test_a_map_is_made_kept_and_filled_where_it_stopped(home):
    found = HeadMap.model_validate(do(spec_of(home))["map"])
    assert (found.layers, found.units, found.unit, found.heads_per_unit) == (2, 2, "kv_group", 2)
    assert set(found.scores) == {"taylor", "taylor_normalised", "magnitude", "random"}
    assert found.tokens == 72

    class Stops(Recorder):
        def _keep(self, event):
            super()._keep(event)
            if len(metrics(self, "heads/leave_out/")) == 2:
                self.control("cancel")

    with pytest.raises(Cancelled):
        do(spec_of(home, leave_out=True), Stops())
    run = Recorder()
    full = HeadMap.model_validate(do(spec_of(home, leave_out=True), run)["map"])
    assert {name for name, _, _ in metrics(run, "heads/leave_out/")} == {"0.0", "0.1", "1.0", "1.1"}
    assert all(v is not None for row in full.scores["leave_out"] for v in row)
    assert any(e.total == 2 for e in run.seen if isinstance(e, events.Progress) and e.stage.startswith("Leaving out"))
    assert HeadMap.model_validate(do(spec_of(home))["map"]) == full


def test_a_loss_is_measured_beside_what_was_expected(home):
    found = do(spec_of(home, action="loss", off=((0, 1), (1, 0))))
    assert found["loss"] != found["base"]
    assert math.isclose(found["perplexity"], math.exp(found["loss"]))
    rises = HeadMap.model_validate(do(spec_of(home))["map"]).expected
    assert math.isclose(found["predicted"]["taylor"], found["base"] + rises[0][1] + rises[1][0], rel_tol=1e-9)
    nothing = do(spec_of(home, action="loss"))
    assert nothing["loss"] == nothing["base"] == found["base"]
    with pytest.raises(UserError, match=r"no head 2\.0"):
        do(spec_of(home, action="loss", off=((2, 0),)))


def test_a_curve_is_told_as_its_measured(home):
    run = Recorder()
    found = do(spec_of(home, action="curve", criterion="magnitude", off=((1, 1),)), run)
    assert [p[0] for p in found["points"]] == [0, 1, 2, 3, 4]
    assert [(step, value) for _, step, value in metrics(run, "heads/curve/magnitude")] == [tuple(p) for p in found["points"]]
    assert found["measure"] == "perplexity"
    first = do(spec_of(home, action="loss", off=((1, 1),)))
    assert math.isclose(found["points"][1][1], first["perplexity"], rel_tol=1e-6)


def test_a_text_of_ones_own_is_learnt_from_in_part_only(home, pico_text):
    mine = do(spec_of(home, action="loss", off=((0, 0),), text=str(pico_text)))
    assert mine["tokens"] == 72
    assert mine["base"] != do(spec_of(home, action="loss", off=((0, 0),)))["base"]


def test_a_classifier_is_measured_by_accuracy(tmp_path, pico_classifier, examples):
    home, labels = planted(tmp_path / "w", pico_classifier), examples
    found = do(spec_of(home, labels=labels, action="curve"))
    assert found["measure"] == "accuracy"
    assert all(0 <= value <= 1 for _, value in found["points"])
    low, high = found["interval"]
    assert low <= found["points"][0][1] <= high
    lost = do(spec_of(home, labels=labels, action="loss", off=((0, 0),)))
    assert lost["perplexity"] is None
    assert 0 <= lost["accuracy"] <= 1
    bare = do(spec_of(home))["map"]
    assert bare["conditions"]["labels"] is False


def test_many_examples_are_drawn_from_all_of_the_file():
    rows = range(5000)  # such as one class, and then the other
    found = sample(rows, 1000)
    assert len(set(found)) == 1000
    assert 400 < sum(row < 2500 for row in found) < 600
    assert found == sample(rows, 1000)
    assert sample(rows, 9999) == [*rows]


def test_an_encoder_has_a_map_too(tmp_path, pico_encoder):
    home = planted(tmp_path / "w", pico_encoder)
    found = HeadMap.model_validate(do(spec_of(home, leave_out=True))["map"])
    assert found.base == pytest.approx(0, abs=1e-6)
    assert all(v > 0 for row in found.scores["leave_out"] for v in row)
    assert all(v > 0 for row in found.scores["taylor"] for v in row)
    assert found.expected is None
    assert "taylor" not in do(spec_of(home, action="loss", off=((0, 0),)))["predicted"]
    curve = do(spec_of(home, action="curve"))
    assert curve["measure"] == "cosine"
    assert curve["points"][0][1] == pytest.approx(1)
    assert curve["points"][-1][1] < curve["points"][1][1]
