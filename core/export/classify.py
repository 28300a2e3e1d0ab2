"""An exported classifier on a person's texts, beside the torch model that it was made from: probabilities and time of both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from core.errors import UserError
from core.export.runtime import open_session, provider_of
from core.models.load import load_tokenizer
from core.run import Run
from core.workspace import read_json

REPEATS = 5


def classified(folder: Path, texts: Sequence[str], run: Run, *, beside: Any = None, provider: str = "", threads: int | None = None) -> dict:
    """beside: the model it was made from (core.models.load.Loaded), or None.

    Returns {classes, single (whether the model has one output, which is a number and no probability), rows: [{text, export: [shares],
    torch: [shares] or None}], seconds: {export, torch or None} (median of a few repeats, for one text), largest (difference between
    two shares; None without torch), cut (texts that were longer than the model reads), provider}.
    Raises UserError: no text, a graph that doesn't classify, whatever `open_session` finds wrong.
    """
    texts = [text for text in texts if text.strip()]
    if not texts:
        raise UserError("There's no text to classify.", hint="Write one a line.")
    session = open_session(folder, threads, provider, in_turns=True)
    wanted = {i.name for i in session.get_inputs()}
    config = read_json(folder / "config.json")
    if "logits" not in {o.name for o in session.get_outputs()} or any(name.startswith("past_key_values.") for name in wanted):
        raise UserError("This export doesn't classify.", hint="Choose an exported classifier.", kind="model")
    tokenizer = load_tokenizer(folder)
    longest = config.get("max_position_embeddings") or tokenizer.model_max_length
    read = [dict(tokenizer(text, truncation=True, max_length=longest, return_tensors="np")) for text in texts]
    for row in read:
        row.setdefault("token_type_ids", np.zeros_like(row["input_ids"]))  # some tokenizers don't tell them: one text is of type 0
    cut = sum(len(tokenizer(text, verbose=False)["input_ids"]) > longest for text in texts)

    def ask_export(row: dict) -> np.ndarray:
        return session.run(["logits"], {name: row[name].astype(np.int64) for name in wanted})[0][0]

    @torch.inference_mode()
    def ask_torch(row: dict) -> np.ndarray:
        device = next(beside.model.parameters()).device
        fed = {k: torch.from_numpy(row[k].astype(np.int64)).to(device) for k in wanted}
        return beside.model(**fed).logits[0].float().cpu().numpy()

    asked = {"export": ask_export} | ({"torch": ask_torch} if beside is not None else {})
    found = {who: [ask(row) for row in read] for who, ask in asked.items()}  # which warms them up, too
    spent: dict[str, list[float]] = {who: [] for who in asked}
    for _ in run.track(range(REPEATS), "Timing"):
        for row in read:
            for who, ask in asked.items():  # in turns
                begun = time.perf_counter()
                ask(row)
                spent[who].append(time.perf_counter() - begun)
    single = found["export"][0].shape[-1] == 1
    shares = {who: [_shares(logits) for logits in rows] for who, rows in found.items()}
    labels = config.get("id2label") or {}
    return {
        "classes": [str(labels.get(str(i), i)) for i in range(found["export"][0].shape[-1])],
        "single": single,
        "rows": [
            {"text": text, "export": shares["export"][i], "torch": shares["torch"][i] if beside is not None else None}
            for i, text in enumerate(texts)
        ],
        "seconds": {"export": median(spent["export"]), "torch": median(spent["torch"]) if beside is not None else None},
        "largest": float(np.abs(np.array(shares["export"]) - np.array(shares["torch"])).max()) if beside is not None else None,
        "cut": cut,
        "provider": provider_of(session),
    }


def _shares(logits: np.ndarray) -> list[float]:
    if logits.shape[-1] == 1:
        return [float(logits[0])]
    odds = np.exp(logits.astype(np.float64) - logits.max())
    return [float(x) for x in odds / odds.sum()]
