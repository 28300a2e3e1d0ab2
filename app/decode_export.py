"""A run for other programs: all of it as one JSON document, its tokens as a table.

Covers the contents; choosing a file and saying what went wrong is app.decode_view's, the animated picture app.decode_movie's.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from app.decode_run import FINAL, PROMPT, DecodeRun, cells_of_prompt, cells_of_round
from core.events import round_to_dict

COLUMNS = (
    "lane",
    "round",
    "place",
    "id",
    "text",
    "fate",
    "kept",
    "draft_probability",
    "target_probability",
    "u",
    "chance",
    "alpha",
    "draft_entropy",
    "target_entropy",
    "margin",
    "branch",
    "distance",
    "round_seconds",
    "at_seconds",
)


def as_json(run: DecodeRun) -> str:
    """The recording as one document: its head, and under lanes[name].rounds every Round with all that was measured of it."""
    head: dict[str, Any] = run.header()
    for name, lane in run.lanes.items():
        head["lanes"][name]["rounds"] = [round_to_dict(taken) for taken in lane.rounds]
    return json.dumps(head, ensure_ascii=False, indent=1) + "\n"


def rows(run: DecodeRun) -> list[dict[str, Any]]:
    """One row a token, by COLUMNS: the prompt's (round 0), then every guess and every token of the target's own, in the order they came.

    place counts from 0 in the whole text; that of a dropped guess is the place it was meant for. What wasn't measured is None.
    """
    out = []
    for name in run.order:
        lane = run.lanes[name]
        for cell in cells_of_prompt(lane):
            out.append(_row(name, 0, cell.item, cell.id, cell.text, "prompt", True))
        before = 0.0
        for index, taken in enumerate(lane.rounds):
            times = {"round_seconds": lane.at[index] - before, "at_seconds": lane.at[index]}
            before = lane.at[index]
            for cell in cells_of_round(taken, index):
                place = taken.start + (taken.accepted if cell.item == FINAL else cell.item)
                row = _row(name, index + 1, place, cell.id, cell.text, cell.kind.name.lower(), cell.kept) | times
                if cell.item not in (FINAL, PROMPT):
                    token = taken.drafted[cell.item]
                    row |= {
                        "draft_probability": token.draft,
                        "target_probability": token.target,
                        "u": token.u,
                        "chance": token.chance,
                        "alpha": token.alpha,
                        "draft_entropy": token.draft_entropy,
                        "target_entropy": token.target_entropy,
                        "margin": token.margin,
                        "branch": token.branch,
                        "distance": token.distance,
                    }
                else:
                    own = next((c for c in taken.final_top if c.id == cell.id), None)
                    row |= {"draft_probability": own.draft, "target_probability": own.target} if own else {}
                out.append(row)
    return out


def _row(lane: str, number: int, place: int, id: int, text: str, fate: str, kept: bool) -> dict[str, Any]:
    known = {"lane": lane, "round": number, "place": place, "id": id, "text": text, "fate": fate, "kept": int(kept)}
    return dict.fromkeys(COLUMNS) | known


def as_csv(run: DecodeRun) -> str:
    """`rows` as RFC 4180 text; an unknown value is an empty field."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows(run))
    return out.getvalue()
