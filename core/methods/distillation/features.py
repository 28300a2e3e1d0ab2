"""What a student is compared by besides its answers: hidden states, and how its last layer relates tokens to one another.

Hidden states (Sun et al., 'Patient Knowledge Distillation', 2019, eq. 7; Jiao et al., 'TinyBERT', 2020, section 3.1): student's
layer i of n goes with the teacher's i N / n of N; the mean over tokens of |W h / |W h| - h' / |h'||^2, each of length 1, since some
tokens' states are a thousand times as long as others' and norms undo it anyway. W is learnt along and dropped; where both are as
wide, there's none. Attention relations (Wang et al., 'MiniLM', 2020, and 'MiniLMv2', 2021, section 3.1): queries, keys and values of
the last layer, cut into equally many heads in both models, each softmax(X X^T / sqrt(d)); the KL of the student's from the teacher's,
averaged over heads and tokens, summed over the three. So numbers and widths of heads may differ. A causal model's token relates to
those before it; padding relates to nothing. Queries and keys are taken before positions turn them.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from core.errors import UserError
from core.models import surgery
from core.models.blocks import blocks

NARROWEST = 32  # numbers that a head of a relation has at least, where the widths allow it


@dataclass
class Seen:
    """One forward of a model: who is padding, the hidden states that were asked for, and queries, keys and values of the last layer."""

    mask: Tensor | None = None  # (rows, tokens), 1 where there's a token
    hidden: dict[int, Tensor] = field(default_factory=dict)  # block -> (rows, tokens, width)
    attention: dict[str, Tensor] = field(default_factory=dict)  # name of a projection -> (rows, tokens, width)


class Inside:
    """Two models of which the insides are compared. `projections`: what's learnt for that alone.

        with inside.watched():
            ...  # both models run, as often as each other
        inside.losses()

    weights: {'hidden', 'relations'} -> what each counts, 0 for none; causal: whether tokens see only those before them. Raises
    UserError where the model's attention isn't one whose parts are known.
    """

    def __init__(self, student: nn.Module, teacher: nn.Module, weights: dict[str, float], *, causal: bool, seed: int = 0):
        self.weights, self.causal = weights, causal
        hidden, relations = weights.get("hidden", 0) > 0, weights.get("relations", 0) > 0
        sides = [blocks(model) for model in (student, teacher)]
        self.pairs = layer_pairs(*map(len, sides)) if hidden else []
        self._sides = [_Side(student, [i for i, _ in self.pairs], relations), _Side(teacher, [k for _, k in self.pairs], relations)]
        self.relations = relations
        widths = [model.config.get_text_config().hidden_size for model in (student, teacher)]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            unlike = hidden and widths[0] != widths[1]
            self.projections = nn.ModuleList(nn.Linear(*widths) for _ in self.pairs) if unlike else nn.ModuleList()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """While it lasts, forwards of both models are noted; what was noted before is forgotten."""
        with contextlib.ExitStack() as stack:
            for side in self._sides:
                stack.enter_context(side.watched())
            yield

    def losses(self) -> dict[str, Tensor]:
        """{'hidden', 'relations'}, those that are compared: means over the tokens of all forwards since `watched`."""
        mine, theirs = (side.calls for side in self._sides)
        totals: dict[str, Tensor] = {}
        count = 0
        for one, other in zip(mine, theirs, strict=True):
            found, tokens = self._of(one, other)
            count += tokens
            totals = {name: totals.get(name, 0) + value * tokens for name, value in found.items()}
        for side in self._sides:
            side.calls = []
        return {name: value / count for name, value in totals.items()}

    def _of(self, mine: Seen, theirs: Seen) -> tuple[dict[str, Tensor], int]:
        """(the losses of one forward of each, the tokens that they're means over)."""
        some = next(iter((mine.hidden or mine.attention).values()))
        mask = torch.ones(some.shape[:2], device=some.device) if mine.mask is None else mine.mask.to(some.device).float()
        out = {}
        if self.pairs:
            apart = []
            for number, (i, k) in enumerate(self.pairs):
                guess = self.projections[number](mine.hidden[i]) if len(self.projections) else mine.hidden[i]
                apart.append(hidden_error(guess, theirs.hidden[k], mask))
            out["hidden"] = torch.stack(apart).mean()
        if self.relations:
            pairs = list(zip(self._sides[0].parts(mine), self._sides[1].parts(theirs), strict=True))
            heads = relation_heads([x.shape[-1] for pair in pairs for x in pair])
            out["relations"] = torch.stack([relation_error(a, b, heads, mask, self.causal) for a, b in pairs]).sum()
        return out, int(mask.sum())


class _Side:
    """One of the two models, and what's noted of it."""

    def __init__(self, model: nn.Module, layers: list[int], relations: bool):
        self.model, self.calls = model, []
        found = blocks(model)
        self._blocks = {index: found[index][1] for index in dict.fromkeys(layers)}
        self._names = _attention(model) if relations else ()

    def parts(self, seen: Seen) -> list[Tensor]:
        """Queries, keys and values, each (rows, tokens, width)."""
        found = [seen.attention[name] for name in self._names]
        return list(found[0].chunk(3, -1)) if len(found) == 1 else found

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        self.calls = []

        def begins(module: nn.Module, args: tuple, kwargs: dict) -> None:
            self.calls.append(Seen(kwargs.get("attention_mask")))

        def hidden(index: int):
            def note(module: nn.Module, args: tuple, output: Any) -> None:
                self.calls[-1].hidden[index] = output[0] if isinstance(output, tuple) else output

            return note

        def attention(name: str):
            def note(module: nn.Module, args: tuple, output: Tensor) -> None:
                self.calls[-1].attention[name] = output

            return note

        hooks = [self.model.register_forward_pre_hook(begins, with_kwargs=True)]
        hooks += [block.register_forward_hook(hidden(index)) for index, block in self._blocks.items()]
        hooks += [self.model.get_submodule(name).register_forward_hook(attention(name)) for name in self._names]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def _attention(model: nn.Module) -> tuple[str, ...]:
    """The modules that make queries, keys and values in the last block: three, or one that makes all."""
    try:
        return surgery.projections(model)
    except UserError as error:
        raise UserError(
            "The attention of {architecture} isn't of a kind whose relations can be compared.",
            hint="Set the weight of attention relations to 0.",
            kind="model",
            architecture=type(model).__name__,
        ) from error


@torch.no_grad()
def looks_back_only(model: nn.Module) -> bool:
    """Whether a token's states depend on none after it: of two texts that differ in the second token alone, the first's are the same."""
    base, device = model.base_model, next(model.parameters()).device
    ids = torch.tensor([[3, 4], [3, 5]], device=device)
    one, other = base(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[:, 0].float()
    return bool((one - other).norm() <= 1e-4 * one.norm())


# ---- on plain tensors -------------------------------------------------------------------------------------------------


def layer_pairs(student: int, teacher: int) -> list[tuple[int, int]]:
    """Which of the teacher's layers each of the student's goes with, from 0: evenly spread, the last with the last."""
    return [(i, max(1, round((i + 1) * teacher / student)) - 1) for i in range(student)]


def hidden_error(student: Tensor, teacher: Tensor, mask: Tensor) -> Tensor:
    """Mean over the tokens of |student - teacher|^2, each of length 1: (rows, tokens, width) each, mask (rows, tokens)."""
    apart = (F.normalize(student.float(), dim=-1) - F.normalize(teacher.float(), dim=-1)).square().sum(-1)
    return (apart * mask).sum() / mask.sum()


def relation_heads(widths: list[int]) -> int:
    """Into how many heads all of those widths are cut: as many as leave each NARROWEST numbers at least."""
    common = math.gcd(*widths)
    return max(h for h in range(1, max(1, common // NARROWEST) + 1) if common % h == 0)


def relation_error(student: Tensor, teacher: Tensor, heads: int, mask: Tensor, causal: bool) -> Tensor:
    """KL of the student's relations from the teacher's, mean over heads and tokens: (rows, tokens, width) each, mask (rows, tokens)."""
    rows, tokens = mask.shape
    seen = mask[:, None, None, :].bool().expand(rows, 1, tokens, tokens)
    if causal:
        seen = seen & torch.ones(tokens, tokens, dtype=torch.bool, device=mask.device).tril()

    def logs(x: Tensor) -> Tensor:
        x = x.float().unflatten(-1, (heads, -1)).transpose(1, 2)  # (rows, heads, tokens, d)
        scores = x @ x.transpose(-1, -2) / math.sqrt(x.shape[-1])
        return F.log_softmax(scores.masked_fill(~seen, torch.finfo(scores.dtype).min / 2), -1)

    with torch.autocast(mask.device.type, enabled=False):  # products in bfloat16 would be some percent off
        log_p, log_q = logs(teacher), logs(student)
    apart = (log_p.exp() * (log_p - log_q)).sum(-1).mean(1)  # (rows, tokens)
    return (apart * mask).sum() / mask.sum()
