"""A cache that grows by copies and one that's written in place give the same, whatever lay in the memory before."""

import json

import numpy as np
import onnx
import pytest

from core.export import cache as caches
from core.export import fused
from core.export.onnx import export
from core.export.runtime import CACHE, IN_PLACE, CausalSession, open_session, read_graph
from core.records import OnnxOptions
from core.run import Run
from tests.conftest import make_pico

FAST = OnnxOptions(profile="fast")


@pytest.fixture(scope="module")
def fast(tmp_path_factory):
    """(folder, report): heads of 16, in fused operators."""
    home = tmp_path_factory.mktemp("cache")
    return home / "out", export(make_pico(home / "wide", hidden=64), home / "out", Run(), options=FAST)


def marked(folder) -> bool:
    return {p.key: p.value for p in read_graph(folder).metadata_props}.get(CACHE) == IN_PLACE


def fed(causal, pieces, ids, cache=None):
    cache, at, got = cache or causal.empty(1), 0, []
    for size in pieces:
        logits, cache = causal.step(ids[:, at : at + size], np.ones((1, at + size), np.int64), cache)
        got.append(logits[0])
        at += size
    return np.concatenate(got), cache


IDS = np.random.default_rng(0).integers(0, 300, (1, 240))


def test_the_fast_profile_is_kept_in_place_and_says_so(fast, exported):
    folder, report = fast
    assert report["in_place"] is True
    assert marked(folder)
    assert isinstance(CausalSession(open_session(folder, 1)).empty(1), caches.InPlace)
    assert "in_place" not in exported[1]  # the portable one
    assert isinstance(CausalSession(open_session(exported[0], 1)).empty(1), caches.Grown)


def test_heads_of_8_are_kept_in_place(pico_llama, tmp_path):
    """Their rotation isn't the attention's, so the graph tells positions from the cache: its room was taken for its tokens once."""
    report = export(pico_llama, tmp_path / "out", Run(), options=FAST)
    assert report["in_place"] is True
    assert "do_rotary" not in {a.name for n in read_graph(tmp_path / "out").graph.node for a in n.attribute if a.i}


def test_what_is_wrong_in_place_is_copied(pico_llama, tmp_path, monkeypatch):
    """By the export's check; and by whoever opens a graph that says more than this onnxruntime can."""
    monkeypatch.setattr(fused._Layer, "get_seq_length", lambda self: self.keys.shape[2])  # as it was: the room
    folder = tmp_path / "out"
    report = export(pico_llama, folder, Run(), options=FAST)
    assert (report["profile"], report["in_place"], marked(folder)) == ("fast", False, False)
    assert any("copied at each step" in note for note in report["notes"])
    assert report["graph_bytes"] == (folder / "model.onnx").stat().st_size
    assert json.loads((folder / "genai_config.json").read_text())["search"]["past_present_share_buffer"] is False
    graph = read_graph(folder)
    graph.metadata_props.add(key=CACHE, value=IN_PLACE)
    onnx.save(graph, folder / "model.onnx")
    causal = CausalSession(open_session(folder, 1))
    assert causal.in_place is False
    whole, _ = fed(causal, [40], IDS)
    pieces, _ = fed(causal, [11, 1, 1, 27], IDS)
    assert np.abs(whole - pieces).max() < 1e-4


def test_a_graph_in_standard_operators_that_says_in_place_is_copied(exported, tmp_path):
    """Its new cache is longer than the old one, so it can't be the same memory."""
    graph = onnx.load(exported[0] / "model.onnx")
    for value in (*graph.graph.input, *graph.graph.output):
        value.type.tensor_type.shape.dim[0].dim_value = 1
    graph.metadata_props.add(key=CACHE, value=IN_PLACE)
    onnx.save(graph, tmp_path / "model.onnx")
    causal = CausalSession(open_session(tmp_path, 1))
    assert (causal.batch, causal.in_place) == (1, False)
    assert fed(causal, [20], IDS)[0].shape == (20, 300)


def test_where_memory_runs_out_the_old_is_not_written_to(fast, monkeypatch):
    """Some layers had new memory by then, and the session still wrote to the old that they'd given up."""
    causal = CausalSession(open_session(fast[0], 1))
    monkeypatch.setattr(caches, "ROOM", 8)
    _, cache = fed(causal, [6], IDS)
    real, left = np.empty, [2]

    def scarce(shape, dtype=float):
        left[0] -= 1
        if left[0] < 0:
            raise MemoryError
        return real(shape, dtype)

    monkeypatch.setattr(np, "empty", scarce)
    with pytest.raises(MemoryError):
        causal.step(IDS[:, 6:26], np.ones((1, 26), np.int64), cache)
    monkeypatch.setattr(np, "empty", real)
    whole, _ = fed(causal, [8], IDS)
    logits, _ = causal.step(IDS[:, 6:8], np.ones((1, 8), np.int64), cache)
    assert np.abs(logits[0] - whole[6:]).max() < 1e-4
    assert np.array_equal(cache.arrays()[0][:, :, 6:8], cache._held["past_key_values.0.key"][:, :, 6:8])
    assert cache.arrays()[0][:, :, 6:8].any()


def test_garbage_in_the_memory_doesn_t_matter(fast, monkeypatch):
    causal = CausalSession(open_session(fast[0], 1))
    causal.in_place = False
    wanted, grown = fed(causal, [100, 20, 1, 1], IDS)
    causal.in_place = True
    for garbage in (np.nan, 1e30):
        real = np.empty
        monkeypatch.setattr(np, "empty", lambda shape, dtype=float, _g=garbage: np.full(shape, _g, dtype))
        found, kept = fed(causal, [100, 20, 1, 1], IDS)
        monkeypatch.setattr(np, "empty", real)
        assert np.abs(found - wanted).max() < 1e-5
        for a, b in zip(kept.arrays(), grown.arrays(), strict=True):
            assert a.shape == b.shape == (1, 2, 122, 16)
            assert np.abs(a - b).max() < 1e-6


def test_memory_grows_with_the_text_and_keeps_what_was(fast, monkeypatch):
    monkeypatch.setattr(caches, "ROOM", 4)
    causal = CausalSession(open_session(fast[0], 1))
    found, cache = fed(causal, [3, 1, 1, 30, *[1] * 20], IDS)
    assert cache.room == 70  # 4, 8, then what 35 tokens need, and twice that
    whole, _ = fed(causal, [55], IDS)
    assert np.abs(found - whole).max() < 1e-4


@pytest.mark.parametrize("in_place", [True, False])
def test_tokens_are_taken_back(fast, in_place):
    causal = CausalSession(open_session(fast[0], 1))
    causal.in_place = in_place
    whole, _ = fed(causal, [60], IDS)
    _, cache = fed(causal, [40], IDS[:, ::-1])
    for length in (13, 0):
        cache.crop(length)
        assert {array.shape[2] for array in cache.arrays()} == {length}
    first, cache = fed(causal, [30, 10], IDS, cache)
    cache.crop(25)
    logits, _ = causal.step(IDS[:, 25:60], np.ones((1, 60), np.int64), cache)
    assert np.abs(first - whole[:40]).max() < 1e-4
    assert np.abs(logits[0] - whole[25:]).max() < 1e-4


def test_what_was_given_before_stays(fast):
    """Logits of one step aren't those of the next."""
    causal = CausalSession(open_session(fast[0], 1))
    one, cache = causal.step(IDS[:, :1], np.ones((1, 1), np.int64), causal.empty(1))
    kept = one.copy()
    causal.step(IDS[:, 1:2], np.ones((1, 2), np.int64), cache)
    assert np.array_equal(one, kept)


def test_two_texts_in_turns(fast):
    """Each with memory of its own, by one session."""
    causal = CausalSession(open_session(fast[0], 1))
    rows = (IDS[:, :20], IDS[:, 100:120])
    alone = [fed(causal, [20], row)[0] for row in rows]
    held, got = [causal.empty(1) for _ in rows], [[], []]
    for at in range(20):
        for index, row in enumerate(rows):
            logits, _ = causal.step(row[:, at : at + 1], np.ones((1, at + 1), np.int64), held[index])
            got[index].append(logits[0])
    for found, wanted in zip(got, alone, strict=True):
        assert np.abs(np.concatenate(found) - wanted).max() < 1e-4
