"""Which drafted tokens the target keeps, and which token it adds.

Lossless: greedy (argmax equality), token (rejection sampling with the residual), block (the drafted tokens judged
together); trees are judged in core.decode.tree. `q` is the target's processed distribution, `p` the draft's, as in
Leviathan et al. 2023. Not lossless, and apart: typical acceptance and relaxed top-k acceptance, which write another
text than the target would; their verdicts say how far off each token's law was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from core.decode.propose import Proposal
from core.decode.sampling import Chooser, Sampling, bad_row, entropy
from core.errors import UserError

NAMES = ("token", "block", "tree", "typical", "top-k")  # as a spec names them


@dataclass
class Verdict:
    """accepted: how many drafted tokens are kept, from the first; final: the token after them.

    q: the target's distributions (rows, vocabulary), or None where the rule didn't need them. us: the draws compared, and
    chances: what each was compared with, both by position, None where nothing was drawn. residual: what `final` was drawn
    from after a rejection, not normalised. distance: of a rule that isn't lossless, for each tested position the total
    variation between q and the law of the token written there (given the text before it).
    """

    accepted: int
    final: int
    q: Tensor | None = None
    us: list[float | None] = field(default_factory=list)
    residual: Tensor | None = None
    chances: list[float | None] = field(default_factory=list)
    distance: list[float] = field(default_factory=list)


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
    chances: list[float | None] = []
    if proposal.ids:
        q_of, p_of = _drafted(q, proposal)
        for i, (q_x, p_x) in enumerate(zip(q_of, p_of, strict=True)):
            chances.append(min(1.0, q_x / p_x))
            kept, u = chooser.bernoulli(chances[-1])
            us.append(u)
            if not kept:
                left = residual(q[i], proposal.rows[i] if proposal.rows is not None else None, proposal.ids[i])
                return Verdict(i, chooser.categorical(left), q, us, left, chances)
    return Verdict(len(proposal.ids), chooser.categorical(q[-1]), q, us, chances=chances)


def block(scores: Tensor, proposal: Proposal, sampling: Sampling, chooser: Chooser) -> Verdict:
    """The drafted tokens judged together (Sun et al. 2024, block verification, algorithm 2). Lossless, and keeps at least as many.

    With r_0 = 1, r_i = min(1, r_{i-1} q(x_i)/p(x_i)): a token's luck carries over to those after it. Of the last i whose
    draw falls below h_i, the first i tokens are kept, and the next is drawn from (r_i q - p)+. h_i = s_i / (s_i + 1 - r_i)
    with s_i the sum of (r_i q - p)+ after i tokens, and of the last token simply r_i. The draws are made from the last
    backwards, since those before the first that succeeds don't matter. It needs what each token was drawn from: for point
    masses (proposal.rows None) `token` is used, to which this rule comes down there.
    """
    if proposal.rows is None or not proposal.ids:
        return token(scores, proposal, sampling, chooser)
    q, p, drafts = sampling.probabilities(scores), proposal.rows, len(proposal.ids)
    reach, so_far = [], 1.0  # r_1 ... r_drafts
    for q_x, p_x in zip(*_drafted(q, proposal), strict=True):
        so_far = min(1.0, so_far * q_x / p_x)
        reach.append(so_far)
    scale = torch.tensor(reach[:-1], dtype=q.dtype, device=q.device)[:, None]
    excess = (scale * q[1:-1] - p[1:]).clamp_(min=0).sum(-1).tolist() if drafts > 1 else []  # s_1 ... s_{drafts - 1}
    hopes = [s / (s + (1 - r)) if s + (1 - r) > 0 else 1.0 for s, r in zip(excess, reach[:-1], strict=True)] + [reach[-1]]
    us: list[float | None] = [None] * drafts
    chances: list[float | None] = [None] * drafts
    accepted = 0
    for i in reversed(range(drafts)):
        kept, us[i] = chooser.bernoulli(hopes[i])
        chances[i] = hopes[i]
        if kept:
            accepted = i + 1
            break
    if accepted == drafts:
        return Verdict(accepted, chooser.categorical(q[-1]), q, us, chances=chances)
    weight = reach[accepted - 1] if accepted else 1.0
    left = residual(q[accepted] * weight, p[accepted], proposal.ids[accepted])
    return Verdict(accepted, chooser.categorical(left), q, us, left, chances)


def typical(epsilon: float = 0.3, delta: float = 0.09) -> Verifier:
    """Typical acceptance (Cai et al. 2024, Medusa, section 2.3.1). NOT lossless.

    Keeps a drafted token x where q(x) > min(epsilon, delta exp(-H(q))), H in nats, and draws from q after the last one kept.
    At temperature 0 q is the softmax of the target's logits, and the token added is its argmax.
    """
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not 0 < value <= 1:
            raise UserError("{name} must be above 0 and at most 1.", hint="Change it and decode again.", name=name)

    def kept(q: Tensor) -> Tensor:
        return q > (delta * torch.exp(-entropy(q))).clamp(max=epsilon)[:, None]

    return _lossy(kept)


def relaxed(k: int = 2) -> Verifier:
    """Keeps a drafted token that's among the target's k likeliest, ties with the last of them included. NOT lossless.

    After the last one kept draws from q. A token that can't be drawn (q(x) = 0: banned or truncated) is never kept.
    """
    if k < 1:
        raise UserError("{name} must be 1 or more.", hint="Change it and decode again.", name="relaxed_k")

    def kept(q: Tensor) -> Tensor:
        return (q >= q.topk(min(k, q.shape[-1]), -1).values[:, -1:]) & (q > 0)

    return _lossy(kept)


def _lossy(allowed: Callable[[Tensor], Tensor]) -> Verifier:
    """A rule that keeps drafted tokens inside a set which it makes of q: (rows, vocabulary) -> the same shape, bool."""

    def rule(scores: Tensor, proposal: Proposal, sampling: Sampling, chooser: Chooser) -> Verdict:
        q, drafts = sampling.probabilities(scores), len(proposal.ids)
        inside = allowed(q[:drafts])  # (drafted, vocabulary)
        places = torch.tensor(proposal.ids, device=q.device, dtype=torch.long)[:, None]
        fits = inside.gather(1, places)[:, 0].tolist()
        accepted = fits.index(False) if False in fits else drafts
        final = int(scores[accepted].argmax()) if sampling.greedy else chooser.categorical(q[accepted])
        tested = min(accepted + 1, drafts)
        if sampling.greedy:
            best = scores[:tested].argmax(-1).tolist()
            distance = [float(i < accepted and x != y) for i, (x, y) in enumerate(zip(proposal.ids, best, strict=False))]
        elif proposal.rows is None:  # the token is certain where it fits, and else drawn from q
            q_of = q[:tested].gather(1, places[:tested])[:, 0].tolist()
            distance = [1 - q_x if i < accepted else 0.0 for i, q_x in enumerate(q_of)]
        else:  # p inside the set; what p has outside is drawn from q
            p = torch.where(inside[:tested], proposal.rows[:tested], 0)
            law = p + (1 - p.sum(-1, keepdim=True)) * q[:tested]
            distance = (0.5 * (law - q[:tested]).abs().sum(-1)).tolist()
        return Verdict(accepted, final, q, distance=distance)

    return rule


def _drafted(q: Tensor, proposal: Proposal) -> tuple[list[float], list[float]]:
    """q(x) and p(x) of each drafted token x."""
    places = torch.tensor(proposal.ids, device=q.device)[:, None]
    q_of = q[: len(proposal.ids)].gather(1, places)[:, 0].tolist()
    return q_of, proposal.rows.gather(1, places)[:, 0].tolist() if proposal.rows is not None else [1.0] * len(q_of)


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


def verifier_for(sampling: Sampling, name: str = "token", *, epsilon: float = 0.3, delta: float = 0.09, k: int = 2) -> Verifier:
    """The rule of this name: 'token', 'block', 'tree' (lossless), 'typical' (epsilon, delta), 'top-k' (k).

    At temperature 0 token and block are argmax equality. Raises UserError where there's no such rule.
    """
    if name in ("token", "block"):
        return greedy if sampling.greedy else token if name == "token" else block
    if name == "tree":
        from core.decode import tree  # which builds on this module

        return tree.verify
    if name == "typical":
        return typical(epsilon, delta)
    if name == "top-k":
        return relaxed(k)
    raise UserError(
        "There's no rule to judge drafts by that's called {name}.",
        hint="Choose one of {names}.",
        name=name,
        names=", ".join(NAMES),
    )
