"""The status bar: running jobs with their progress, the workers, the device, memory used and free."""

from __future__ import annotations

import os
from typing import Any

import psutil
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import text
from app.theme import numbers
from app.widgets import Bar, label
from core.events import Memory

HEIGHT = 26
EVERY_MS = 2000


class StatusBar(QWidget):
    """`pressed` asks for the jobs to be shown, wherever the window is."""

    pressed = Signal()

    def __init__(self, board: Any, threads: int = 0):
        super().__init__()
        self.board, self._threads = board, threads
        self._message = ""
        self.setFixedHeight(HEIGHT)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 2)
        row.setSpacing(10)
        self.jobs = label("", "caption")
        self.jobs.setObjectName("status_jobs")
        self.bar = Bar(4)
        self.bar.setFixedWidth(116)
        self.worker = label("", "caption")
        self.worker.setObjectName("status_worker")
        self.said = label("", "caption")
        self.said.setObjectName("status_message")
        self.device = label("", "caption")
        self.device.setObjectName("status_device")
        self.memory = label("", "caption")
        self.memory.setObjectName("status_memory")
        self.memory.setFont(numbers(12))
        row.addWidget(self.jobs)
        row.addWidget(self.bar)
        row.addSpacing(8)
        row.addWidget(self.worker)
        row.addWidget(self.said)
        row.addStretch(1)
        row.addWidget(self.device)
        row.addSpacing(6)
        row.addWidget(self.memory)
        board.event.connect(self._on_event)
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.refresh)
        self._timer.start()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(120)
        self._soon.timeout.connect(self.refresh)
        self._clear = QTimer(self)
        self._clear.setSingleShot(True)
        self._clear.timeout.connect(lambda: self.said.setText(""))
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.worker.setVisible(self.width() > 860)

    def say(self, words: str, ms: int = 6000) -> None:
        """A remark that goes away by itself."""
        self.said.setText(words)
        self._clear.start(ms)

    def _on_event(self, event: Any) -> None:
        if not self._soon.isActive():
            self._soon.start()

    def refresh(self) -> None:
        self._show_jobs()
        self._show_worker()
        self._show_device()
        self._show_memory()

    def _show_jobs(self) -> None:
        states = self.board.states()
        running = [s for s in states if s.status == "running"]
        queued = sum(s.status == "queued" for s in states)
        parts = []
        if running:
            parts.append(self.tr("1 job running") if len(running) == 1 else self.tr("{n} jobs running").format(n=len(running)))
        if paused := sum(s.paused for s in running):
            parts.append(self.tr("{n} paused").format(n=paused))
        if queued:
            parts.append(self.tr("{n} queued").format(n=queued))
        self.jobs.setText(" · ".join(parts) or self.tr("No jobs running"))
        shares = [s.done / s.total for s in running if s.total]
        self.bar.setVisible(bool(running))
        self.bar.set_share(sum(shares) / len(running) if running else None)

    def _show_worker(self) -> None:
        state = self.board.worker_state()
        parts = []
        if state.get("busy"):
            parts.append(self.tr("{n} busy").format(n=state["busy"]))
        if state.get("holding"):
            parts.append(self.tr("{n} holding models").format(n=state["holding"]))
        if state.get("spare"):
            parts.append(self.tr("{n} spare, warm").format(n=state["spare"]))
        if state.get("starting"):
            parts.append(self.tr("{n} starting").format(n=state["starting"]))
        self.worker.setText(self.tr("Workers: {state}").format(state=", ".join(parts) or self.tr("none yet")))

    def _show_device(self) -> None:
        """The best device there is; a running job's own, while one runs."""
        used = [s.device for s in self.board.states() if s.status == "running" and s.device]
        catalogue = self.board.catalogue
        devices = list(catalogue.devices) if catalogue else []
        best = used[-1] if used else next((d.name for kind in ("cuda", "mps", "cpu") for d in devices if d.name.startswith(kind)), "")
        title = next((d.title for d in devices if d.name == best), best)
        if best == "cpu":
            threads = self._threads or os.cpu_count() or 1
            title = self.tr("CPU · 1 thread") if threads == 1 else self.tr("CPU · {n} threads").format(n=threads)
        self.device.setText(title or self.tr("Device not known yet"))
        self.device.setToolTip("\n".join(f"{d.name}: {d.title}" for d in devices))

    def _show_memory(self) -> None:
        known = psutil.virtual_memory()
        used, total = text.fmt_bytes(known.total - known.available), text.fmt_bytes(known.total)
        words = [self.tr("{used} of {total} used").format(used=used, total=total)]
        tip = [self.tr("Memory of this computer; free: {free}").format(free=text.fmt_bytes(known.available))]
        held: Memory | None = self.board.memory
        if held is not None:
            tip.append(self.tr("The worker holds {resident}").format(resident=text.fmt_bytes(held.resident)))
            if held.device_used is not None:
                gpu = self.tr("GPU {used} used").format(used=text.fmt_bytes(held.device_used))
                if held.device_free is not None:
                    gpu = self.tr("GPU {used} used, {free} free").format(
                        used=text.fmt_bytes(held.device_used), free=text.fmt_bytes(held.device_free)
                    )
                words.insert(0, gpu)
        self.memory.setText("   ".join(words))
        self.memory.setToolTip("\n".join(tip))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed.emit()
