"""Encoders and classifiers as ONNX in each precision beside torch in float32: how close, how large, how fast, how often right.

    SHELF=... pytest -m bench tests/bench/bench_onnx_encoders.py -s
    SPOKESHAVE_BENCH_CLASSIFIER=<folder>      a classifier of the shelf's film reviews, instead of one that's taught here

Texts of 64 tokens, eight together and one alone; rounds are interleaved, medians are shown, of the processor's time where there is one
thread. Accuracy is on the held-out fifth of the reviews. Asserts nothing about time.
"""

import os
import statistics
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from core.data.labels import read_labels
from core.errors import UserError
from core.export.onnx import export
from core.export.runtime import open_session
from core.methods import Given, checked, get
from core.models import load, save
from core.recipe import LabelsRef
from core.records import OnnxOptions
from core.run import Run

PRECISIONS = ("float32", "float16", "int8-dynamic", "int8-static")
TOKENS, TOGETHER, ROUNDS, STEPS = 64, 8, 7, 120
clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter


def taught(shelf: Path, folder: Path) -> Path:
    """MiniLM as a classifier of film reviews."""
    given_folder = os.environ.get("SPOKESHAVE_BENCH_CLASSIFIER")
    if given_folder:
        return Path(given_folder)
    loaded = load.load(shelf / "minilm-l6", dtype="float32")
    labels = read_labels(LabelsRef(path=str(shelf / "labels" / "movie.csv")))
    given = Given(loaded.tokenizer, loaded.folder, loaded.info, labels=labels)
    method = get("classify")
    made = method.apply(loaded.model, checked(method, {"steps": STEPS}), Run(), given).model
    folder.mkdir()
    save.save(made, folder, shelf / "minilm-l6", run=Run())
    return folder


def rates(ask, ids: np.ndarray) -> tuple[float, float]:
    """Texts a second: (together, alone)."""
    begun = clock()
    ask(ids)
    together = clock() - begun
    begun = clock()
    for row in ids[:3]:
        ask(row[None])
    return len(ids) / together, 3 / (clock() - begun)


@pytest.mark.bench
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("which", ["minilm", "classifier"])
def test_precisions_of_an_encoder(which, shelf, tmp_path):
    source = shelf / "minilm-l6" if which == "minilm" else taught(shelf, tmp_path / "classifier")
    labels = LabelsRef(path=str(shelf / "labels" / "movie.csv")) if which == "classifier" else None
    loaded = load.load(source, dtype="float32")
    model = loaded.model
    ids = np.random.default_rng(0).integers(1000, 5000, (TOGETHER, TOKENS))

    def in_torch(rows: np.ndarray) -> None:
        with torch.no_grad():
            model(input_ids=torch.from_numpy(rows), attention_mask=torch.ones(rows.shape, dtype=torch.int64))

    asked, reports = {"torch float32": in_torch}, {}
    for precision in PRECISIONS:
        try:
            reports[precision] = export(source, tmp_path / precision, Run(), options=OnnxOptions(precision=precision, labels=labels))
        except UserError as error:
            print(f"{precision}: {error}")
            continue
        session = open_session(tmp_path / precision, torch.get_num_threads())

        def in_onnx(rows: np.ndarray, session=session) -> None:
            feeds = {"input_ids": rows, "attention_mask": np.ones_like(rows), "token_type_ids": np.zeros_like(rows)}
            session.run(None, {i.name: feeds[i.name] for i in session.get_inputs()})

        asked[precision] = in_onnx
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in asked}
    for _ in range(ROUNDS):
        for name, ask in asked.items():
            found[name].append(rates(ask, ids))
    median = {name: tuple(statistics.median(column) for column in zip(*each, strict=True)) for name, each in found.items()}
    base = median["torch float32"]
    print(f"\n{which}: {torch.get_num_threads()} threads, texts of {TOKENS} tokens, {TOGETHER} together and one alone, median of {ROUNDS}")
    print(f"{'':16}{'MB':>8}{'max-abs':>10}{'cosine':>8}{'KL':>10}{'top-1':>7}{'right':>16}{'together/s':>12}{'alone/s':>9}{'x torch':>13}")
    for name, (together, alone) in median.items():
        r = reports.get(name, {})
        size = r.get("bytes") or sum(p.stat().st_size for p in source.glob("*.safetensors"))
        right = r.get("accuracy", {})
        shown = f"{right['onnx']['value']:.3f} ({right['torch']['value']:.3f})" if right else ""
        figures = "".join(
            f"{r[key]:{width}}" if r.get(key) is not None else " " * int(width.split(".")[0])
            for key, width in (("max_abs", "10.1e"), ("cosine", "8.4f"), ("kl", "10.1e"), ("top1", "7.3f"))
        )
        times = f"{together:12.1f}{alone:9.1f}{together / base[0]:7.2f}/{alone / base[1]:5.2f}"
        print(f"{name:16}{size / 1e6:8.1f}{figures}{shown:>16}{times}")
