"""Invented decodes for tests, the bench and screenshots: a board that runs nothing, a library of records, rounds drawn at random."""

from __future__ import annotations

import random
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.events import Candidate, CostsMeasured, DecodeStarted, Drafted, Finished, Round, RoundTaken, Started
from core.recipe import Recipe
from core.records import Ledger, SourceInfo, Variant, new_id
from core.workspace import Workspace

TEXT = (
    "the robot packed a small lamp and set off toward forest . Bip was not afraid , because friend never far away when you wind answered "
    "with soft laugh his bird came asked where did all go moon empty day wall map luck one sandwich for path narrow hill edge big"
)
WORDS = TEXT.split()


def word(rng: random.Random) -> str:
    if rng.random() < 0.04:
        return "\n"
    picked = rng.choice(WORDS)
    return picked if picked in ".," or rng.random() < 0.06 else f" {picked}"


def top(rng: random.Random, text: str, p: float | None, q: float) -> tuple[Candidate, ...]:
    rows = [Candidate(1, text, p, q)]
    left_p, left_q = 1 - (p or 0), 1 - q
    for i in range(5):
        share_p, share_q = rng.uniform(0.2, 0.6), rng.uniform(0.2, 0.6)
        rows.append(Candidate(10 + i, f" {rng.choice(WORDS)}", None if p is None else left_p * share_p, left_q * share_q))
        left_p, left_q = left_p * (1 - share_p), left_q * (1 - share_q)
    return tuple(sorted(rows, key=lambda c: -c.target))


def invent_round(
    rng: random.Random,
    number: int,
    start: int,
    at: float,
    *,
    gamma: int = 4,
    greedy: bool = False,
    point: bool = False,
    lossy: bool = False,
) -> Round:
    """A round as the engine would tell it. gamma 0: a plain one. lossy: with the distances that such a rule reports."""
    drafted, dropped = [], False
    for _ in range(gamma):
        text = word(rng)
        p, q, u = rng.uniform(0.1, 0.95), rng.uniform(0.05, 0.95), rng.random()
        p = None if point else p
        if dropped:
            drafted.append(Drafted(1, text, "untested", p))
            continue
        kept = rng.random() < 0.78
        if not greedy:
            ratio = q if p is None else min(1.0, q / p)
            u = ratio * rng.random() if kept else ratio + (1 - ratio) * rng.random()
            dropped = u > ratio
            if not kept and not dropped:
                q = 0.1
                p, dropped, u = (p and 0.8), True, 0.83
        else:
            dropped = not kept
            q = 0.08 if dropped else max(q, 0.5)
        rows = top(rng, text, p, q)
        verdict = "rejected" if dropped else "accepted"
        entropies = (None if p is None else rng.uniform(0.5, 3), rng.uniform(0.5, 3))
        alpha = q if p is None else rng.triangular(0.45, 1, 0.9)
        apart = rng.uniform(0, 0.3) if lossy else None
        drafted.append(Drafted(1, text, verdict, p, q, None if greedy else u, alpha, *entropies, 0.2, rows, distance=apart))
    accepted = sum(t.verdict == "accepted" for t in drafted)
    kind = "plain" if not gamma else "corrected" if dropped else "bonus"
    final = word(rng)
    final_id = 10
    if greedy and dropped:
        best = max(drafted[accepted].top, key=lambda c: c.target)
        final, final_id = best.text, best.id
    committed = (*(t.id for t in drafted[:accepted]), final_id)
    rows = top(rng, "x", None if not gamma else 0.1, 0.2)
    left = sum(max(0.0, c.target - (c.draft or 0.0)) for c in rows) or 1.0
    drawn = dropped and not greedy
    rows = tuple(
        Candidate(
            c.id,
            final if c.id == final_id else c.text,
            c.draft,
            c.target,
            max(0.0, c.target - (c.draft or 0.0)) / left if drawn else None,
        )
        for c in rows
    )
    seconds = {"draft": 0.004 * gamma, "verify": 0.022 + 0.002 * gamma, "sample": 0.0005, "crop": 0.0002, "event": 0.0001}
    return Round(
        number,
        start,
        gamma,
        tuple(drafted),
        "gamma",
        final_id,
        final,
        kind,
        rows,
        committed,
        seconds,
        start + accepted,
        start + accepted,
        at,
        "",
    )


def invent(
    rounds: int = 69,
    *,
    gamma: int = 4,
    greedy: bool = False,
    point: bool = False,
    lossy: bool = False,
    adaptive: bool = False,
    seed: int = 3,
) -> list[Round]:
    """adaptive: lengths from 0 to twice gamma, as the adaptive policy would choose them."""
    rng, out, at, start = random.Random(seed), [], 0.0, 9
    for number in range(rounds):
        length = rng.choice((0, gamma - 1, gamma, gamma, gamma + 1, 2 * gamma)) if adaptive else gamma
        taken = invent_round(rng, number, start, 0.0, gamma=length, greedy=greedy, point=point, lossy=lossy)
        at += sum(taken.seconds.values()) * rng.uniform(0.9, 1.2)
        taken = Round(**{f: getattr(taken, f) for f in Round.__slots__} | {"at": at})
        start += len(taken.committed)
        out.append(taken)
    return out


PROMPT = ("Once", " upon", " a", " time", ",", " there", " was", " a", " robot")


class FakeBoard(QObject):
    """A board that writes down what it was asked. Tests feed it events."""

    event = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.catalogue = None
        self.submitted: list[tuple] = []
        self.controls: list[str] = []
        self.cancelled: list[str] = []
        self.others: list = []  # states of other jobs

    def submit(self, spec, title, device="auto") -> str:
        self.submitted.append((spec, title, device))
        self.job = new_id("generate")
        return self.job

    def control(self, job: str, command: str) -> None:
        assert job == self.job
        self.controls.append(command)

    def cancel(self, job: str) -> None:
        self.cancelled.append(job)

    def states(self) -> list:
        return self.others

    def begin(self, lane: str = "speculative") -> None:
        self.event.emit(Started(self.job, 1, "cpu"))
        self.event.emit(DecodeStarted(self.job, lane, tuple(range(len(PROMPT))), PROMPT, 0.05))

    def feed(self, rounds: list[Round], lane: str = "speculative") -> None:
        for taken in rounds:
            self.event.emit(RoundTaken(self.job, lane, taken))

    def measure(self, lane: str = "speculative") -> None:
        """What calls of a pair cost, as on a CPU: the target's aren't flat."""
        target = {1: 0.0215, 2: 0.0361, 4: 0.0335, 8: 0.051, 16: 0.061}
        self.event.emit(CostsMeasured(self.job, lane, target, {} if lane == "plain" else {1: 0.0041}, 0.0008))

    def finish(self, **result) -> None:
        self.event.emit(Finished(self.job, result, 1.0))


def variant(
    id: str,
    name: str,
    *,
    parent: str | None = None,
    kind: str = "original",
    megabytes: float = 100,
    tokens: str = "t",
    task="causal-lm",
    chat: bool = False,
) -> Variant:
    info = SourceInfo(
        source=id,
        kind="variant",
        name=name,
        task=task,
        tokenizer=bool(tokens),
        tokens_hash=tokens,
        architecture="LlamaForCausalLM",
        chat_template=chat,
    )
    ledger = Ledger(
        bytes_on_disk=int(megabytes * 1e6),
        weight_bytes=int(megabytes * 1e6),
        parameters=int(megabytes * 5e5),
        nonzero=int(megabytes * 5e5),
        effective_bits=16,
        original_parameters=int(megabytes * 5e5),
    )
    return Variant(id=id, name=name, parent=parent, kind=kind, info=info, ledger=ledger, recipe=Recipe())


VARIANTS = (
    variant("shakespeare-aa", "Shakespeare-7M (fp32)", megabytes=28),
    variant("int8-bb", "int8 weight-only", parent="shakespeare-aa", kind="quantized", megabytes=8),
    variant("student-cc", "student 1M", parent="shakespeare-aa", kind="distilled", megabytes=4),
    variant("other-dd", "SmolLM2-135M", megabytes=269, tokens="other", chat=True),
    variant("minilm-ee", "all-MiniLM-L6", megabytes=90, tokens="bert", task="encoder"),
)


def make_workspace(folder: Path, variants=VARIANTS) -> Workspace:
    """A workspace that holds records and no weights."""
    workspace = Workspace(folder, create=True)
    for v in variants:
        with workspace.staging(v.id) as staged:
            workspace.commit(staged, v)
    return workspace
