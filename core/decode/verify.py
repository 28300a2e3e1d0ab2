"""Which drafted tokens the target keeps, and which token it adds.

Covers the two rules that leave the target's output unchanged: greedy (argmax equality) and token (rejection sampling
with the residual). `q` is the target's processed distribution, `p` the draft's, as in Leviathan et al. 2023.
Rules that change the output (typical acceptance) don't belong here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from core.decode.propose import Proposal
from core.decode.sampling import Chooser, Sampling, bad_row


@dataclass
class Verdict:
    """accepted: how many drafted tokens are kept, from the first; final: the token after them.

    q: the target's distributions (rows, vocabulary), or None where the rule didn't need them. us: the draws compared.
    residual: what `final` was drawn from after a rejection, not normalised.
    """

    accepted: int
    final: int
    q: Tensor | None = None
    us: list[float | None] = field(default_factory=list)
    residual: Tensor | None = None


class Verifier(Protocol):
    def __call__(self, scores: Tensor, proposal: Proposal, sampling: Sampling, chooser: Chooser) -> Verdict:
        """scores: (len(proposal.ids) + 1, vocabulary), the target's adjusted logits before each drafted token and after the last."""


def greedy(scores: Tensor, proposal: Proposal, sampling: Sampling, chooser: Chooser) -> Verdict:
    """Keeps drafted tokens for as long as each is the target's argmax; then adds the target's own argmax."""
    largest, best = scores.max(-1)  # both (rows,)
    for value in largest.tolist():
        if value != value or value in (torch.inf, -torch.inf):
            bad_row(scores, "target")
    best = best.tolist()
    accepted = 0
    for token, wanted in zip(proposal.ids, best, strict=False):
        if token != wanted:
            break
        accepted += 1
    return Verdict(accepted, best[accepted])


def token(scores: Tensor, proposal: Proposal, sampling: Sampling, chooser: Chooser) -> Verdict:
    """Token-by-token rejection sampling (Leviathan et al. 2023, algorithm 1; Chen et al. 2023, theorem 1).

    Keeps a drafted token x with probability min(1, q(x)/p(x)). After the first rejection draws from the residual
    (q-p)+ , so that what comes out is distributed as q. All kept: draws one more from q. For a point mass p(x) is 1
    and the residual is q without x.
    """
    q = sampling.probabilities(scores)  # (drafted + 1, vocabulary)
    us: list[float | None] = []
    if proposal.ids:
        places = torch.tensor(proposal.ids, device=q.device)[:, None]
        q_of = q[:-1].gather(1, places)[:, 0].tolist()
        p_of = proposal.rows.gather(1, places)[:, 0].tolist() if proposal.rows is not None else [1.0] * len(q_of)
        for i, (q_x, p_x) in enumerate(zip(q_of, p_of, strict=True)):
            kept, u = chooser.bernoulli(min(1.0, q_x / p_x))
            us.append(u)
            if not kept:
                left = residual(q[i], proposal.rows[i] if proposal.rows is not None else None, proposal.ids[i])
                return Verdict(i, chooser.categorical(left), q, us, left)
    return Verdict(len(proposal.ids), chooser.categorical(q[-1]), q, us)


def residual(q: Tensor, p: Tensor | None, drafted: int) -> Tensor:
    """(q-p)+, not normalised; p None: a point mass on `drafted`. All (vocabulary,).

    Its sum is 1 - alpha. Where p and q are equal but for rounding it may be all zero, though a rejection can then
    still come of a ratio just below 1; q itself is what the residual tends to, and the error is of that rounding's order.
    """
    if p is None:
        left = q.clone()
        left[drafted] = 0
    else:
        left = (q - p).clamp_(min=0)
    return left if bool(left.any()) else q


def verifier_for(sampling: Sampling) -> Verifier:
    """The lossless rule for these settings."""
    return greedy if sampling.greedy else token
