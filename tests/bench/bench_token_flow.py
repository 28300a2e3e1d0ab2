"""Token flow: what a batch of 60 tokens costs, appended and painted, with 10,000 to 50,000 tokens there already.

pytest -m bench tests/bench/bench_token_flow.py -s
"""

from __future__ import annotations

import random
import statistics
import time

import pytest
from PySide6.QtWidgets import QApplication

from app.decode_run import cells_of_round
from app.theme import theme
from app.token_flow import TokenFlow
from tests.app.decode_invented import invent_round

BATCH, BATCHES = 60, 120


def stream(seed: int = 1):
    """Cells without end, round by round."""
    rng, number = random.Random(seed), 0
    while True:
        yield from cells_of_round(invent_round(rng, number, 0, 0.0), number)
        number += 1


@pytest.mark.bench
def test_a_batch_of_60_tokens(qtbot):
    theme().load_fonts()
    flow = TokenFlow()
    qtbot.addWidget(flow)
    flow.resize(1060, 330)
    flow.show()
    qtbot.waitExposed(flow)
    cells = stream()
    print("\n  tokens   append   paint   both: median    p95    wall   scrub to 1/2 and back   (ms, processor time)")
    for size in (1_000, 10_000, 30_000, 50_000):
        flow.append([next(cells) for _ in range(size - len(flow.cells))])
        QApplication.processEvents()
        appended, painted, walls = [], [], []
        for _ in range(BATCHES):
            batch = [next(cells) for _ in range(BATCH)]
            wall, begun = time.perf_counter(), time.thread_time()
            flow.append(batch)
            middle = time.thread_time()
            QApplication.processEvents()
            ended = time.thread_time()
            walls.append(1e3 * (time.perf_counter() - wall))
            appended.append(1e3 * (middle - begun))
            painted.append(1e3 * (ended - middle))
        both = sorted(a + p for a, p in zip(appended, painted, strict=True))
        kept = flow.cells[:]
        begun = time.thread_time()
        flow.truncate(size // 2)
        flow.append(kept[size // 2 :])
        QApplication.processEvents()
        scrub = 1e3 * (time.thread_time() - begun)
        middles = [statistics.median(x) for x in (appended, painted, both, walls)]
        p95 = both[int(0.95 * len(both))]
        print(f"  {size:6d}   {middles[0]:6.3f}  {middles[1]:6.3f}  {middles[2]:13.3f}  {p95:5.3f}  {middles[3]:6.3f}   {scrub:8.1f}")
        flow.truncate(size)
