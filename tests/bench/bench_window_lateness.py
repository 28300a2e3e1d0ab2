"""How late the window's event loop is while a worker trains on all cores.

    python -m tests.bench.bench_window_lateness [--seconds 20] [--model FOLDER]

A timer of 10 ms in the real main window: how much later than due each beat comes, idle and while `finetune` runs in a
worker with every core, its loss drawn live. Prints a table; the aim is a 99th percentile of at most 20 ms.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

BEAT = 0.010


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--model", type=Path)
    asked = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QApplication

    import resources
    from app.main_window import MainWindow
    from app.settings import Settings
    from app.theme import theme
    from core.recipe import Step
    from core.records import ApplySpec, ImportSpec

    app = QApplication([])
    theme().apply(app)
    with tempfile.TemporaryDirectory() as folder:
        window = MainWindow(Path(folder) / "bench", settings=Settings(Path(folder) / "settings.ini"))
        window.show()
        late: list[float] = []
        last = time.perf_counter()

        def beat() -> None:
            nonlocal last
            moment = time.perf_counter()
            late.append(max(0.0, moment - last - BEAT) * 1000)
            last = moment

        timer = QTimer(window)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.timeout.connect(beat)

        def spend(seconds: float, until=lambda: False) -> np.ndarray:
            nonlocal last
            late.clear()
            last = time.perf_counter()
            timer.start(int(BEAT * 1000))
            end = time.perf_counter() + seconds
            while time.perf_counter() < end and not until():
                app.processEvents()
                time.sleep(0.0005)
            timer.stop()
            return np.array(late)

        board, source = window.board, asked.model or resources.STARTER_TARGET
        home = str(Path(folder) / "bench")
        job = board.submit(ImportSpec(workspace=home, source=str(source), measure=False), "Open")
        spend(300, lambda: board.state(job).over)
        variant = board.state(job).result["variant"]
        rows = [("idle", spend(asked.seconds))]
        step = Step(method="finetune", params={"steps": 100_000})
        job = board.submit(ApplySpec(workspace=home, variant=variant, steps=(step,), measure=False), "Train")
        spend(300, lambda: bool(board.state(job).curves) or board.state(job).over)
        if board.state(job).failure:
            raise SystemExit(board.state(job).failure.sentence)
        window.jobs.show_job(job)
        rows.append(("training", spend(asked.seconds)))
        window.close_now()
        print(f"{'':10} {'beats':>7} {'median ms':>10} {'p95 ms':>8} {'p99 ms':>8} {'max ms':>8}")
        for name, found in rows:
            median, p95, p99 = np.percentile(found, [50, 95, 99])
            print(f"{name:10} {len(found):7} {median:10.2f} {p95:8.2f} {p99:8.2f} {found.max():8.2f}")


if __name__ == "__main__":
    main()
