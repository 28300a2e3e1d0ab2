"""How the lanes of a race are told apart: their colours, their dashes, and their names. No drawing, and no pyqtgraph."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.decode_run import BESIDE_LANE, PLAIN_LANE, RIVAL, SPECULATIVE, DecodeRun

LANE_COLORS = {SPECULATIVE: "accent", RIVAL: "bonus_edge", PLAIN_LANE: "muted", BESIDE_LANE: "warn"}
LANE_DASHES = {SPECULATIVE: None, RIVAL: [7, 2.5], PLAIN_LANE: [3, 3], BESIDE_LANE: [1, 2]}  # in widths of the line; None: solid
translate = QCoreApplication.translate


def lane_title(run: DecodeRun, lane: str) -> str:
    """A lane's name on screen: who drafts where two do, else what it does."""
    if lane == PLAIN_LANE:
        return translate("acceptance", "plain")
    if lane == BESIDE_LANE:
        return run.rival_name or translate("acceptance", "beside it")
    if RIVAL not in run.lanes:
        return translate("acceptance", "speculative")
    name = run.rival_name if lane == RIVAL else run.draft_name
    return name or (translate("acceptance", "rival") if lane == RIVAL else translate("acceptance", "speculative"))
