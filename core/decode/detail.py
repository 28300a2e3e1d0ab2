"""What the decode lab shows of a round: probabilities, entropies, margins, the likeliest candidates.

All rows are worked on together and cross to Python in one go: collecting must cost at most 2 % of a round. Nothing here
changes what's decoded.
"""

from __future__ import annotations

import torch
from torch import Tensor

from core.decode.pieces import Pieces
from core.decode.propose import Proposal
from core.decode.sampling import Sampling, entropy
from core.decode.verify import Verdict
from core.events import Candidate, Drafted

TOP = 8


def describe(
    texts: list[str], proposal: Proposal, verdict: Verdict, scores: Tensor, sampling: Sampling, pieces: Pieces, kept: int, tested: int
) -> tuple[tuple[Drafted, ...], tuple[Candidate, ...]]:
    """The drafted tokens with their fate, and the candidates for the final token.

    scores: (drafted + 1, vocabulary). kept: accepted after the cut; tested: those judged, after the cut.
    """
    rows = min(tested, verdict.accepted) + 1  # a row for every tested token, and the one that the final token came from
    q = verdict.q[:rows] if verdict.q is not None else sampling.probabilities(scores[:rows])  # (rows, vocabulary)
    ids = proposal.ids
    drafts = len(ids)
    p = proposal.rows
    if p is None and proposal.scores:
        p = torch.softmax(torch.cat(proposal.scores), -1)
    both = min(rows, drafts) if p is not None else 0
    width = min(TOP, q.shape[-1])

    if not drafts:  # plain rounds are the shortest, so they do the least
        chances, best = q.topk(width, -1)
        return (), _candidates(best[0].tolist(), None, chances[0].tolist(), pieces)

    likely = q if not both else torch.cat([torch.maximum(p[:both], q[:both]), q[both:]])
    most, top = likely.topk(width, -1)  # both (rows, width)
    drawn = q[:, ids[:rows]] if rows <= drafts else q[:, [*ids, ids[-1]]]  # (rows, rows), of which the diagonal is wanted
    own = torch.cat([q.gather(1, top), most[:, -1:], entropy(q)[:, None], drawn], 1).tolist()
    if both:
        picked = p[:, ids]  # (drafts, drafts)
        theirs = torch.cat([picked, entropy(p)[:, None]], 1).tolist()
        overlap = torch.minimum(p[:both], q[:both]).sum(-1, keepdim=True).clamp(max=1)  # rounding
        shared = torch.cat([p[:both].gather(1, top[:both]), overlap], 1).tolist()

    top = top.tolist()
    out = []
    for i, token in enumerate(ids):
        state = "accepted" if i < kept else "rejected" if i < tested else "untested"
        draft = theirs[i][i] if both else None
        spread = theirs[i][drafts] if both else None
        if i >= tested or i >= rows:
            out.append(Drafted(token, texts[i], "untested", draft, draft_entropy=spread))
            continue
        mine = own[i]
        chances = shared[i] if both else None
        out.append(
            Drafted(
                token,
                texts[i],
                state,
                draft,
                mine[width + 2 + i],
                verdict.us[i] if i < len(verdict.us) else None,
                chances[width] if chances else mine[width + 2 + i],  # a point mass overlaps q by q(x)
                spread,
                mine[width + 1],
                _margin(mine, width, q[i]),
                _candidates(top[i], chances, mine, pieces),
                distance=verdict.distance[i] if i < len(verdict.distance) else None,
                chance=verdict.chances[i] if i < len(verdict.chances) else None,
            )
        )
    last = rows - 1
    if verdict.residual is not None and kept == verdict.accepted:
        left = verdict.residual
        best = left.topk(width)
        total = float(left.sum())
        order = best.indices
        shares = [v / total for v in best.values.tolist()]
        theirs_last = p[last, order].tolist() if both else None
        final = _candidates(order.tolist(), theirs_last, q[last, order].tolist(), pieces, shares)
    else:
        final = _candidates(top[last], shared[last] if both and last < both else None, own[last], pieces)
    return tuple(out), final


def _margin(mine: list[float], width: int, q: Tensor) -> float:
    """The target's largest probability minus its second.

    The candidates are the likeliest by either model, so both are among them, unless the draft's own crowd one out: no
    token that isn't listed is likelier than the least candidate was, mine[width].
    """
    first, second = sorted(mine[:width], reverse=True)[:2]
    if second < mine[width]:
        first, second = q.topk(2).values.tolist()
    return first - second


def _candidates(ids: list[int], draft: list[float] | None, target: list[float], pieces: Pieces, left: list[float] | None = None):
    alone = pieces.alone
    return tuple(
        [
            Candidate(token, alone(token), draft[k] if draft else None, target[k], left[k] if left else None)
            for k, token in enumerate(ids)
            if target[k] > 0 or (draft and draft[k] > 0)
        ]
    )
