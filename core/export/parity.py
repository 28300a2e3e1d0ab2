"""Whether an exported folder computes what the torch model computes, found out by onnxruntime in a fresh process.

`reference` runs the torch model and keeps its answers; `check` starts `python -m core.export.parity`, which imports no torch, and
compares. A causal model is asked the ways that a runtime will ask it: the whole text at once, in chunks and single steps, in
batches, padded at the left and at the right (each row against the same text alone and unpadded), and greedily with the cache.

A graph for one text at a time is asked texts of several lengths instead of batches.

Exact exports, quantized ones too, since torch is asked on the same grid: the largest difference of logits (or hidden states) is
limited, and the most likely token is the same everywhere but at exact ties. Where activations are rounded: the KL divergence of
the probabilities is limited, to more in a text of fewer tokens, and the share of tokens that change where the original prefers one:
of two that it finds equally likely, to within NEAR, either will do, which a divergence of nearly 0 decides as often as not.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from core.errors import UserError, explain
from core.export.runtime import CausalSession, graph_file, open_session, read_graph, referenced, tensors_of
from core.run import Run

LIMIT = 1e-3  # largest absolute difference of a logit, or of a hidden state
EXACT = {"max_abs": LIMIT, "top1": 1.0}
TOKENS = 256
ROUNDED = {"kl": 5e-3, "top1": 0.97, "tokens": TOKENS}  # nats, mean over so many tokens
NOISE, MORE = 1e-6, 3.0  # relative, of what a model reads that rounds inside; how many times as much as it moves torch the graph may differ
NEAR = 0.01  # two tokens whose probabilities are no further apart are as likely
HALF = {"float16": {"max_abs": 0.5, "top1": 0.99}, "bfloat16": {"max_abs": 2.0, "top1": 0.96}}  # logits, against float32
INT8 = {"kl": 1e-2, "top1": 0.95}  # of a classifier, over its texts; against float32 and not against the same grid
VECTORS = {"float16": 0.999, "bfloat16": 0.99, "int8": 0.97}  # least cosine of a text's vector with that of float32
# of a UNet's output, and of a pixel of what's drawn (from -1 to 1)
DRAWING = {
    "float32": {"max_abs": LIMIT, "pixel": 5e-3},
    "float16": {"max_abs": 0.05, "pixel": 0.1},
    "bfloat16": {"max_abs": 0.5, "pixel": 0.5},
}
MANY, LENGTH = 48, 24  # texts, and tokens in each, that a rounded encoder is asked besides
GREEDY, PROMPT = 64, 32
ROWS = (48, 33, 20)  # lengths of the batch's rows; shorter where the context is
BEYOND, FURTHEST = 8, 1100  # tokens past a sliding window that the text of the check reaches, where that isn't longer than FURTHEST
PIECE = 128  # tokens of such a text that are fed together
UNREFERENCED = 1 << 20  # bytes of the data file that alignment may leave unused

# ---- the torch side -------------------------------------------------------------------------------------------------------


def sample_ids(tokenizer: Any, vocabulary: int, count: int) -> np.ndarray:
    """(count,) token ids of the held-out text that comes with Spokeshave; random ones (seeded) where there's no tokenizer."""
    from resources import HELDOUT_TEXT

    if tokenizer is not None and HELDOUT_TEXT.is_file():
        with open(HELDOUT_TEXT, encoding="utf-8") as text:
            found = tokenizer(text.read(16 * count), add_special_tokens=False, verbose=False)["input_ids"][:count]
        if len(found) == count and max(found) < vocabulary:
            return np.array(found, np.int64)
    return np.random.default_rng(0).integers(0, vocabulary, count, dtype=np.int64)


def allowed(tokens: int, limits: dict[str, float] = ROUNDED) -> float:
    """The mean KL divergence that rounding may cause in so many tokens: a mean over fewer sways more."""
    return limits["kl"] * math.sqrt(max(1.0, limits["tokens"] / tokens))


def unsure(model: Any, answers: dict[str, np.ndarray], run: Run) -> dict[str, float]:
    """Limits like ROUNDED for a model that rounds inside: where a number lies between two steps, float32's own error decides, and all
    that follows differs. So torch is asked again with noise of a millionth on its embeddings, with three seeds, and MORE times the worst
    of what that changes is allowed. For a model that it doesn't sway they're ROUNDED's."""
    import torch

    rows = [(answers["ids"], answers["answer"]), *((answers[f"row{i}"], answers[f"row{i}_answer"]) for i in range(len(ROWS)))]
    kl, top1 = ROUNDED["kl"], ROUNDED["top1"]
    for seed in range(3):
        random = torch.Generator().manual_seed(seed)

        def disturb(_: Any, __: Any, out: Any, random: Any = random) -> Any:
            return out * (1 + NOISE * torch.randn(out.shape, generator=random, dtype=out.dtype))

        hook = model.get_input_embeddings().register_forward_hook(disturb)
        try:
            for ids, wanted in rows:
                run.check_cancelled()
                with torch.no_grad():
                    found = model(input_ids=torch.from_numpy(ids)[None]).logits[0].float().numpy()
                kl = max(kl, MORE * divergence(wanted, found) * ROUNDED["kl"] / allowed(len(wanted)))
                if len(ids) == len(answers["ids"]):
                    top1 = min(top1, 1 - MORE * (1 - kept(wanted, found)))
        finally:
            hook.remove()
    return ROUNDED | {"kl": kl, "top1": top1}


def row_lengths(count: int) -> list[int]:
    return [max(2, min(n, count * n // (2 * ROWS[0]))) for n in ROWS]


def _rows(ids: np.ndarray) -> list[np.ndarray]:
    lengths = row_lengths(len(ids))
    return [ids[i * 7 % max(1, len(ids) - n) :][:n] for i, n in enumerate(lengths)]


def reference(
    model: Any, tokenizer: Any, run: Run, *, context: int | None, cache_name: str | None, many: bool = False
) -> dict[str, np.ndarray]:
    """What the torch model answers. cache_name: how it takes its cache; None for an encoder. many: further texts, for an encoder whose
    graph rounds. Arrays are ready for np.savez."""
    import torch

    vocabulary = model.config.get_text_config().vocab_size
    count = min(TOKENS, context or TOKENS)
    ids = sample_ids(tokenizer, vocabulary, count)

    def ask(row: np.ndarray) -> np.ndarray:
        run.check_cancelled()
        extra = {} if cache_name else {"attention_mask": torch.ones(1, len(row), dtype=torch.int64)}
        with torch.no_grad():
            out = model(input_ids=torch.from_numpy(row)[None], **extra)
        return (out["logits"] if "logits" in out else out["last_hidden_state"])[0].float().numpy()

    kept: dict[str, np.ndarray] = {"ids": ids, "answer": ask(ids), "pad": np.array(getattr(model.config, "pad_token_id", None) or 0)}
    for index, row in enumerate(_rows(ids)):
        kept[f"row{index}"], kept[f"row{index}_answer"] = row, ask(row)
    if many:
        length = min(LENGTH, count)
        kept["many"] = sample_ids(tokenizer, vocabulary, MANY * length).reshape(MANY, length)
        kept["many_answers"] = np.stack([ask(row) for row in kept["many"]])
    beyond = past_window(model.config.get_text_config(), count, context) if cache_name else None
    if beyond:
        row = sample_ids(tokenizer, vocabulary, beyond)
        run.check_cancelled()
        with torch.no_grad():
            logits = model(input_ids=torch.from_numpy(row)[None]).logits[0, -2 * BEYOND :]
        kept |= {"beyond": row, "beyond_answer": logits.float().numpy()}
    if cache_name:
        kept |= _greedy(model, ids, run, count=count, cache_name=cache_name)
    return kept


def window_of(config: Any) -> int | None:
    """How many tokens some of the layers look back on, where it isn't all of them."""
    return getattr(config, "sliding_window", None) if getattr(config, "use_sliding_window", True) is not False else None


def past_window(config: Any, count: int, context: int | None) -> int | None:
    """The length of a text that reaches past the sliding window; None where `count` tokens do, or it'd be too long a text."""
    window = window_of(config)
    wanted = (window or 0) + BEYOND
    return wanted if window and count < wanted <= min(FURTHEST, context or FURTHEST) else None


def _greedy(model: Any, ids: np.ndarray, run: Run, *, count: int, cache_name: str) -> dict[str, np.ndarray]:
    """Greedy tokens after the first of `ids`, and by how much each won over the second best."""
    import torch
    from transformers.cache_utils import DynamicCache

    prompt = ids[: min(PROMPT, max(1, count // 2))]
    steps = min(GREEDY, count - len(prompt))
    cache, fed, tokens, margins = DynamicCache(config=model.config), torch.from_numpy(prompt)[None], [], []
    for _ in run.track(range(steps), "Asking the original"):
        with torch.no_grad():
            logits = model(input_ids=fed, use_cache=True, **{cache_name: cache}).logits[0, -1].float()
        best = logits.topk(2)
        tokens.append(int(best.indices[0]))
        margins.append(float(best.values[0] - best.values[1]))
        fed = best.indices[:1][None]
    return {"prompt": prompt, "greedy": np.array(tokens, np.int64), "margins": np.array(margins)}


# ---- the check, from the exporting process -------------------------------------------------------------------------------


def check(folder: Path, answers: dict[str, np.ndarray], expected: dict[str, Any], run: Run) -> dict[str, Any]:
    """Checks `folder` in a fresh process; returns the figures (see `compare`).

    expected: {inputs: {name: axes}, outputs: {name: axes}, quantized: {nbits: layers, int8: layers}, limits: EXACT's or ROUNDED's
    keys}. Raises UserError (kind
    'check') naming the check that failed with its figures, and whatever `open_session` finds wrong; Cancelled where the job
    was cancelled meanwhile.
    """
    with tempfile.TemporaryDirectory(prefix="spokeshave-check-", dir=folder.parent) as scratch:
        work = Path(scratch)
        np.savez(work / "answers.npz", **answers)
        (work / "expected.json").write_text(json.dumps(expected), encoding="utf-8")
        found = _in_fresh_process(folder, work, run)
    if "failure" in found:
        raise UserError(
            found["failure"]["message"],
            hint=found["failure"]["hint"],
            kind="memory" if found["failure"]["kind"] in ("memory", "oom") else "check",  # a graph that doesn't open is a failed check too
            detail=found["failure"]["detail"],
            **found["failure"]["values"],
        )
    return found


def _in_fresh_process(folder: Path, work: Path, run: Run) -> dict[str, Any]:
    root = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join(p for p in (root, os.environ.get("PYTHONPATH")) if p)
    command = [sys.executable, "-m", "core.export.parity", str(folder), str(work)]
    with open(work / "errors.txt", "w+", encoding="utf-8", errors="replace") as errors:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=os.environ | {"PYTHONPATH": paths})
        try:
            while child.poll() is None:
                run.check_cancelled()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(0.05)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        errors.seek(0)
        said = errors.read()
    result = work / "found.json"
    if child.returncode or not result.is_file():
        raise UserError(
            "The exported model couldn't be checked: the checking process ended with status {status}.",
            hint="The detail holds what it said.",
            kind="check",
            status=child.returncode,
            detail=said[-4000:],
        )
    return json.loads(result.read_text(encoding="utf-8"))


# ---- the check, in the fresh process -------------------------------------------------------------------------------------


class _Checks:
    """Figures as they come; the first that isn't good enough raises."""

    def __init__(self, answers: dict[str, np.ndarray], limits: dict[str, float] = EXACT):
        self.answers, self.limits = answers, limits
        self.rounds = limits not in (EXACT, DRAWING["float32"]) and "tokens" not in limits  # in half precision, or int8
        self.done: list[dict[str, Any]] = []
        self.max_abs, self.kl, self.cosine = 0.0, 0.0, 1.0

    def difference(self, title: str, found: np.ndarray, wanted: np.ndarray) -> float:
        """Largest absolute difference; NaN counts as infinite. Judged by it, or by the mean KL divergence where that's the limit."""
        apart = np.abs(found.astype(np.float64) - wanted) if found.shape == wanted.shape else np.array(np.inf)
        worst = float(np.where(np.isnan(apart), np.inf, apart).max())
        self.max_abs = max(self.max_abs, worst)
        judged = worst
        if "cosine" in self.limits:
            self.cosine = min(self.cosine, judged := vectors_apart(wanted, found)) if np.isfinite(worst) else (judged := 0.0)
            self.add(title, judged, self.limits["cosine"], judged >= self.limits["cosine"])
            return worst
        if "kl" in self.limits:
            judged = divergence(wanted, found) if np.isfinite(worst) else np.inf
            self.kl = max(self.kl, judged)
        limit = self.limits["kl" if "kl" in self.limits else "max_abs"]
        if "tokens" in self.limits:
            limit = allowed(found.size // found.shape[-1], self.limits)
        self.add(title, judged, limit, judged <= limit)
        return worst

    def add(self, title: str, value: float, limit: float | None, passed: bool, note: str = "") -> None:
        self.done.append({"check": title, "value": value, "limit": limit, "passed": passed, "note": note})
        if passed:
            return
        what = {"check": title, "value": value, "limit": float("nan") if limit is None else limit}
        if self.rounds:
            raise UserError(
                "In this precision too much of what the original computes is lost: {check} gave {value:.4g}, and the limit is {limit:.4g}.",
                hint="Nothing was written. Choose float32, which is exact, or quantize the model here and export that variant.",
                kind="check",
                detail=json.dumps(self.done, indent=1),
                **what,
            )
        raise UserError(
            "The exported model doesn't compute what the original computes: {check} gave {value:.4g}, and {limit:.4g} is allowed.",
            hint="Nothing was written. Please report this model; the detail lists the checks before it.",
            kind="check",
            detail=json.dumps(self.done, indent=1),
            **what,
        )


def divergence(wanted: np.ndarray, found: np.ndarray) -> float:
    """Mean KL divergence in nats of the probabilities of `found` from those of `wanted`, logits (..., vocabulary)."""

    def logs(logits: np.ndarray) -> np.ndarray:
        shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
        return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))

    of_wanted = logs(wanted)
    return float((np.exp(of_wanted) * (of_wanted - logs(found))).sum(-1).mean())


def undecided(wanted: np.ndarray) -> np.ndarray:
    """Where the two likeliest of logits (..., vocabulary) are as likely, to within NEAR: (...)."""
    shifted = wanted.astype(np.float64) - wanted.max(-1, keepdims=True)
    best = np.exp(np.partition(shifted, -2, axis=-1)[..., -2:])
    return (best[..., 1] - best[..., 0]) / np.exp(shifted).sum(-1) < NEAR


def kept(wanted: np.ndarray, found: np.ndarray) -> float:
    """The share of positions whose likeliest token stays, or where it's undecided: logits (..., vocabulary)."""
    return float(((found.argmax(-1) == wanted.argmax(-1)) | undecided(wanted)).mean())


def vectors_apart(wanted: np.ndarray, found: np.ndarray) -> float:
    """The least cosine between the vectors of a text, (..., width), with those that it should have."""
    wanted, found = wanted.astype(np.float64), found.astype(np.float64)
    lengths = np.linalg.norm(wanted, axis=-1) * np.linalg.norm(found, axis=-1)
    return float(((wanted * found).sum(-1) / np.maximum(lengths, 1e-30)).min())


def structure(folder: Path, expected: dict[str, Any]) -> dict[str, Any]:
    """Sizes, versions and nodes of the export, after checking that names, axes and quantized nodes are as declared."""
    model = read_graph(folder)
    nodes: dict[str, int] = {}
    for node in model.graph.node:
        nodes[node.op_type] = nodes.get(node.op_type, 0) + 1
    for kind, values in (("inputs", model.graph.input), ("outputs", model.graph.output)):
        there = {v.name: [d.dim_param or d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
        if list(there) != list(expected[kind]):
            raise UserError(
                "The exported graph names {there} where {wanted} was declared.",
                hint="Nothing was written. Please report this model.",
                kind="check",
                there=", ".join(there) or "nothing",
                wanted=", ".join(expected[kind]),
            )
        for name, axes in expected[kind].items():
            for index, (had, wanted) in enumerate(zip(there[name], axes, strict=True)):
                if isinstance(wanted, str) and not isinstance(had, str):
                    raise UserError(
                        "Axis {axis} of {name} became fixed at {size}.",
                        hint="Nothing was written: batches or texts of another length would fail. Please report this model.",
                        kind="check",
                        axis=f"{index} ({wanted})",
                        name=name,
                        size=had,
                    )
    used = {name for node in model.graph.node for name in node.input}
    if "attention_mask" in expected["inputs"] and "attention_mask" not in used:
        raise UserError(
            "The attention mask was optimised away; padded batches would be wrong.",
            hint="Nothing was written. Please report this model.",
            kind="check",
        )
    int8 = sum(t.data_type == onnx.TensorProto.INT8 and len(t.dims) == 3 and t.dims[2] > 1 for t in tensors_of(model.graph))
    there, count = nodes.get("MatMulNBits", 0) + int8, sum(expected["quantized"].values())
    if there != count or int8 != expected["quantized"].get("int8", 0):
        raise UserError(
            "{found} of {count} quantized layers are in the exported graph as such.",
            hint="Nothing was written. Please report this model.",
            kind="check",
            found=there,
            count=count,
        )
    used_bytes = sum(length for ranges in referenced(model).values() for _, length in ranges)
    beside = graph_file(folder).parent
    data_bytes = sum((beside / name).stat().st_size for name in referenced(model) if (beside / name).is_file())
    spare = data_bytes - used_bytes
    if spare > UNREFERENCED + used_bytes // 100:
        raise UserError(
            "{megabytes:.1f} MB of the data file isn't referenced.",
            hint="Nothing was written. Please report this model.",
            kind="check",
            megabytes=spare / 1e6,
        )
    return {
        "opset": {o.domain or "ai.onnx": o.version for o in model.opset_import},
        "ir": model.ir_version,
        "nodes": dict(sorted(nodes.items(), key=lambda item: -item[1])),
        "graph_bytes": graph_file(folder).stat().st_size,
        "data_bytes": data_bytes,
        "referenced_bytes": used_bytes,
    }


def compare(folder: Path, answers: dict[str, np.ndarray], expected: dict[str, Any]) -> dict[str, Any]:
    """All checks. Returns structure's figures, and {max_abs, top1, ties, tokens, checks, greedy, runtime, seconds}."""
    begun = time.perf_counter()
    checks = _Checks(answers, expected.get("limits", EXACT))
    if "graphs" in expected:
        found, figures = _compare_pair(folder, expected["graphs"], checks)
    else:
        found = structure(folder, expected)
        session = open_session(folder)
        if "drawn" in answers:
            figures = _compare_unet(session, checks, folder)
        else:
            figures = _compare_causal(session, checks) if "prompt" in answers else _compare_encoder(session, checks)
    import onnxruntime

    found |= {
        "max_abs": checks.max_abs,
        **({"kl": checks.kl} if "kl" in checks.limits else {}),
        **({"cosine": checks.cosine} if "cosine" in checks.limits else {}),
        "tokens": len(answers.get("ids", ())),
        "checks": checks.done,
        "runtime": onnxruntime.__version__,
        "providers": onnxruntime.get_available_providers(),
        **figures,
    }
    return found | {"check_seconds": time.perf_counter() - begun}


def _top1(checks: _Checks, found: np.ndarray, wanted: np.ndarray, *, classes: bool = False) -> dict[str, Any]:
    """Share of positions with the same most likely token (class). A tie in the original, to within the limit, may fall either way."""
    same = found.argmax(-1) == wanted.argmax(-1)
    best = np.partition(wanted, -2, axis=-1)[..., -2:]
    tied = (best[..., 1] - best[..., 0]) < 2 * checks.max_abs
    agreed = float(same.mean())
    limit = checks.limits["top1"]
    if "tokens" in checks.limits:
        share, near = kept(wanted, found), int((undecided(wanted) & ~same).sum())
        checks.add("the most likely token", share, limit, share >= limit, f"{near} near ties fell the other way" if near else "")
        return {"top1": agreed, "ties": near}
    ties = int((tied & ~same).sum())
    passed = bool((same | tied).all())
    if limit < 1:  # figures are rounded: a share may differ, near a tie or not
        passed |= agreed >= limit
    told = ties if limit == 1 else 0
    if classes:
        checks.add("the most likely class", agreed, limit, passed, f"{ties} exact ties fell the other way" if told else "")
        return {"top1": agreed, "ties": ties, "classified": same.size}
    checks.add("the most likely token", agreed, limit, passed, f"{ties} exact ties fell the other way" if told else "")
    return {"top1": agreed, "ties": ties}


def _compare_causal(session, checks: _Checks) -> dict[str, Any]:
    answers, causal = checks.answers, CausalSession(session)
    ids, wanted = answers["ids"], answers["answer"]
    count = len(ids)
    ones = lambda batch, length: np.ones((batch, length), np.int64)
    can, causal.in_place = causal.in_place, False  # first as any runtime may run it

    logits, _ = causal.step(ids[None], ones(1, count), causal.empty(1))
    checks.difference("the whole text at once", logits[0], wanted)
    figures = _top1(checks, logits[0], wanted)

    singles = min(8, count // 4)
    half = count // 2
    pieces = [half, count - half - singles, *[1] * singles]
    got = _in_pieces(causal, ids, pieces)
    checks.difference("chunks and single steps with the cache", got, wanted)
    if causal.batch == 1:
        figures["in_place"] = can and _same_in_place(checks, causal, ids, pieces, got)

    if "beyond" in answers:
        row, last, cache = answers["beyond"], [], causal.empty(1)
        for at in range(0, len(row), PIECE):
            logits, cache = causal.step(row[None, at : at + PIECE], ones(1, min(at + PIECE, len(row))), cache)
            last = [*last, *logits[0]][-2 * BEYOND :]
        checks.difference(f"{BEYOND} tokens past the sliding window", np.stack(last), answers["beyond_answer"])

    rows = [answers[f"row{i}"] for i in range(len(ROWS))]
    rows_wanted = [answers[f"row{i}_answer"] for i in range(len(ROWS))]
    if causal.batch == 1:
        got = [causal.step(row[None], ones(1, len(row)), causal.empty(1))[0][0] for row in rows]
        checks.difference("texts of other lengths", np.concatenate(got), np.concatenate(rows_wanted))
        return figures | {"greedy": _compare_greedy(causal, checks)}
    shortest, longest = min(map(len, rows)), max(map(len, rows))
    batch = np.stack([row[:shortest] for row in rows])
    logits, _ = causal.step(batch, ones(len(rows), shortest), causal.empty(len(rows)))
    checks.difference(f"a batch of {len(rows)}", logits, np.stack([w[:shortest] for w in rows_wanted]))

    for side in ("right", "left"):
        padded, mask = np.zeros((len(rows), longest), np.int64), np.zeros((len(rows), longest), np.int64)
        places = [slice(0, len(r)) if side == "right" else slice(longest - len(r), longest) for r in rows]
        for index, (row, place) in enumerate(zip(rows, places, strict=True)):
            padded[index, place], mask[index, place] = row, 1
        if side == "right":
            logits, _ = causal.step(padded, mask, causal.empty(len(rows)))
        else:  # the last token apart, so that a padded cache is continued too
            first, cache = causal.step(padded[:, :-1], mask[:, :-1], causal.empty(len(rows)))
            last, _ = causal.step(padded[:, -1:], mask, cache)
            logits = np.concatenate([first, last], axis=1)
        got = np.concatenate([logits[i, place] for i, place in enumerate(places)])
        checks.difference(f"a batch of {len(rows)} padded at the {side}", got, np.concatenate(rows_wanted))

    return figures | {"greedy": _compare_greedy(causal, checks)}


def _in_pieces(causal: CausalSession, ids: np.ndarray, pieces: list[int]) -> np.ndarray:
    """Logits (tokens, vocabulary) of a text fed in pieces of so many tokens. What's kept in place is asked to take tokens back, too."""
    got, at, cache = [], 0, causal.empty(1)
    for size in [p for p in pieces if p]:
        if causal.in_place and at:
            causal.step(ids[None, :1], np.ones((1, at + 1), np.int64), cache)
            cache.crop(at)
        logits, cache = causal.step(ids[None, at : at + size], np.ones((1, at + size), np.int64), cache)
        got.append(logits[0])
        at += size
    return np.concatenate(got)


def _same_in_place(checks: _Checks, causal: CausalSession, ids: np.ndarray, pieces: list[int], wanted: np.ndarray) -> bool:
    """Whether attention that writes keys and values in place gives what it gives otherwise. Not a check that fails: where it isn't so,
    the cache is copied."""
    causal.in_place = True
    try:
        found = _in_pieces(causal, ids, pieces)
    except RuntimeError:  # what onnxruntime raises
        return False
    finally:
        causal.in_place = False
    if not np.isfinite(found).all():
        return False
    if "kl" in checks.limits:
        return divergence(wanted, found) <= checks.limits["kl"]
    return float(np.abs(found - wanted).max()) <= checks.limits.get("max_abs", LIMIT)


def _compare_greedy(causal: CausalSession, checks: _Checks) -> dict[str, Any]:
    answers = checks.answers
    wanted, margins = answers["greedy"], answers["margins"]
    fed, cache, tokens = answers["prompt"][None], causal.empty(1), []
    for _ in range(len(wanted)):
        mask = np.ones((1, len(answers["prompt"]) + len(tokens)), np.int64)
        logits, cache = causal.step(fed, mask, cache)
        tokens.append(int(logits[0, -1].argmax()))
        fed = np.array([[tokens[-1]]])
    return _same_tokens(checks, tokens, wanted, margins)


def _same_tokens(checks: _Checks, tokens: list[int], wanted: np.ndarray, margins: np.ndarray) -> dict[str, Any]:
    differing = np.flatnonzero(np.array(tokens, np.int64) != wanted)
    if not len(differing):
        checks.add("greedy tokens", len(wanted), len(wanted), True)
        return {"tokens": len(wanted), "equal": len(wanted), "first_difference": None}
    first = int(differing[0])
    tie = bool(margins[first] < 2 * checks.max_abs)
    note = f"from token {first} on, where the original's two best differ by {margins[first]:.2g}"
    checks.add("greedy tokens", first, len(wanted), tie, note)
    return {"tokens": len(wanted), "equal": first, "first_difference": {"token": first, "margin": float(margins[first])}}


def _compare_encoder(session, checks: _Checks) -> dict[str, Any]:
    answers = checks.answers
    names = [i.name for i in session.get_inputs()]
    output = session.get_outputs()[0].name

    def ask(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return session.run([output], {n: feeds[n] for n in names})[0].astype(np.float32)

    ids, wanted = answers["ids"], answers["answer"]
    got = ask(ids[None], np.ones((1, len(ids)), np.int64))[0]
    classes = output == "logits" and wanted.shape[-1] > 1
    if "many" in answers:
        many, wanted_many = ask(answers["many"], np.ones_like(answers["many"])), answers["many_answers"]
        if output != "logits":  # each text's mean vector, as it's compared with others'
            checks.difference(f"the vectors of {len(many)} texts", many.mean(1), wanted_many.mean(1))
            got, wanted = got.mean(0, keepdims=True), wanted.mean(0, keepdims=True)
        else:
            checks.difference(f"{len(many)} texts", many, wanted_many)
        figures = _top1(checks, many, wanted_many, classes=True) if classes else {}
        checks.difference("the whole text", got, wanted)
    else:
        checks.difference("the whole text", got, wanted)
        figures = _top1(checks, got, wanted, classes=True) if classes else {}
    rows = [answers[f"row{i}"] for i in range(len(ROWS))]
    longest = max(map(len, rows))
    padded, mask = np.full((len(rows), longest), int(answers["pad"]), np.int64), np.zeros((len(rows), longest), np.int64)
    for index, row in enumerate(rows):
        padded[index, : len(row)], mask[index, : len(row)] = row, 1
    got = ask(padded, mask)
    wanted_rows = [answers[f"row{i}_answer"] for i in range(len(ROWS))]
    per_token = got.ndim == 3
    if "many" in answers and per_token:
        means = np.stack([got[i, : len(r)].mean(0) for i, r in enumerate(rows)])
        checks.difference(f"a padded batch of {len(rows)}", means, np.stack([w.mean(0) for w in wanted_rows]))
        return figures
    found = np.concatenate([got[i, : len(r)] if per_token else got[i][None] for i, r in enumerate(rows)])
    checks.difference(f"a padded batch of {len(rows)}", found, np.concatenate([w if per_token else w[None] for w in wanted_rows]))
    return figures


def _compare_pair(folder: Path, graphs: dict[str, Any], checks: _Checks) -> tuple[dict[str, Any], dict[str, Any]]:
    """(structure of both graphs together, figures) of an encoder and a decoder, the decoder in pieces, padded, and greedily."""
    parts = {name: structure(folder / name, one) for name, one in graphs.items()}
    found = next(iter(parts.values())) | {"nodes": {}, "graphs": parts}
    for key in ("graph_bytes", "data_bytes", "referenced_bytes"):
        found[key] = sum(part[key] for part in parts.values())
    for name, count in (pair for part in parts.values() for pair in part["nodes"].items()):
        found["nodes"][name] = found["nodes"].get(name, 0) + count
    encoder, decoder = (open_session(folder / name) for name in graphs)
    answers, greedy = checks.answers, checks.answers["greedy"]
    written = np.concatenate([[answers["start"]], greedy[:-1]]).astype(np.int64)
    shapes = {i.name: i.shape for i in decoder.get_inputs() if ".decoder." in i.name}
    names = [o.name for o in decoder.get_outputs()]

    def read(ids: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
        outputs = [o.name for o in encoder.get_outputs() if o.name.startswith("present.")]
        states = encoder.run(outputs, {"input_ids": ids, "attention_mask": mask})
        empty = {name: np.zeros((len(ids), shape[1], 0, shape[3]), np.float32) for name, shape in shapes.items()}
        crossed = {name.replace("present.", "past_key_values."): state for name, state in zip(outputs, states, strict=True)}
        return crossed | empty | {"encoder_attention_mask": mask}

    def write(ids: np.ndarray, cache: dict[str, np.ndarray]) -> np.ndarray:
        made = dict(zip(names, decoder.run(names, cache | {"input_ids": ids}), strict=True))
        for name in shapes:
            cache[name] = made[name.replace("past_key_values.", "present.")]
        return made["logits"]

    ids = answers["ids"][None]
    whole = write(written[None], read(ids, np.ones_like(ids)))[0]
    checks.difference("the whole text at once", whole, answers["answer"])
    figures = _top1(checks, whole, answers["answer"])
    rows = [answers[f"row{i}"] for i in range(len(ROWS))]
    longest = max(map(len, rows))
    padded, mask = np.full((len(rows), longest), int(answers["pad"]), np.int64), np.zeros((len(rows), longest), np.int64)
    for index, row in enumerate(rows):
        padded[index, : len(row)], mask[index, : len(row)] = row, 1
    cache, got, at = read(padded, mask), [], 0
    for size in (len(written) - 7, 4, 1, 1, 1):
        got.append(write(np.repeat(written[None, at : at + size], len(rows), axis=0), cache))
        at += size
    checks.difference(
        f"a padded batch of {len(rows)}, in chunks and single steps with the cache",
        np.concatenate(got, axis=1),
        np.stack([answers[f"row{i}_answer"] for i in range(len(ROWS))]),
    )
    cache, fed, tokens = read(ids, np.ones_like(ids)), written[None, :1], []
    for _ in greedy:
        tokens.append(int(write(fed, cache)[0, -1].argmax()))
        fed = np.array([[tokens[-1]]])
    best = np.partition(answers["answer"], -2, axis=-1)[:, -2:]
    return found, figures | {"greedy": _same_tokens(checks, tokens, greedy, best[:, 1] - best[:, 0])}


def _compare_unet(session, checks: _Checks, folder: Path) -> dict[str, Any]:
    """Its output at several levels of noise, and images drawn by the folder's own script from the same noise as torch's."""
    from core.export.examples.draw import draw

    answers = checks.answers
    names = {i.name for i in session.get_inputs()}
    index = 0
    while f"z{index}" in answers:
        z, t = answers[f"z{index}"], answers[f"t{index}"]
        feeds = {"sample": z, "timestep": t, "class_labels": answers.get(f"kinds{index}")}
        found = session.run(["out_sample"], {name: feeds[name] for name in names})[0]
        checks.difference(f"a batch of {len(z)} at the noise of {', '.join(map(str, t))}", found, answers[f"answer{index}"])
        index += 1
    scheduler = json.loads((folder / "scheduler" / "scheduler_config.json").read_text(encoding="utf-8"))
    noise, steps = answers["noise"], int(answers["steps"])
    classes = int(answers["kinds1"].max()) + 1 if "kinds1" in answers else 0
    kinds = np.arange(len(noise)) % max(classes, 1) if classes else None
    apart = float(np.abs(draw(session, scheduler, noise, steps, kinds) - answers["drawn"]).max())
    limit = checks.limits["pixel"]
    checks.add(f"{len(noise)} images drawn in {steps} steps", apart, limit, apart <= limit)
    return {"pixel": apart, "steps": steps}


def main(folder: str, work: str) -> None:
    """The fresh process: writes found.json into `work`, with a 'failure' where a check failed."""
    with np.load(Path(work) / "answers.npz") as stored:
        answers = dict(stored)
    expected = json.loads((Path(work) / "expected.json").read_text(encoding="utf-8"))
    try:
        found = compare(Path(folder), answers, expected)
    except Exception as error:
        import traceback

        known = explain(error, detail=traceback.format_exc())
        fields = {
            "message": known.template,
            "hint": known.hint_template,
            "kind": known.kind,
            "detail": known.detail,
            "values": known.values,
        }
        found = {"failure": fields}
    (Path(work) / "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
