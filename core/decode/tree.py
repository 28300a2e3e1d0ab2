"""Trees of drafted tokens: beside each token of the draft's chain the next likeliest ones, all read in one target call.

The tree is deterministic given the text, so the rule is plain: the target draws its own token at the tree's root; where that is
a child it goes on from there, and where it isn't, that token ends the round. What comes out is the target's own draw at every
position, whatever was drafted, so the rule is lossless for any tree (and for any chain, which is a tree without branches).
The same idea as SpecInfer's (Miao et al. 2023, section 4.2), with the tree drawn from no distribution but ranked: only the
first candidate of each depth is gone on from. Trees that are sampled, or shaped by confidence, aren't here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import torch
from torch import Tensor

from core.decode.cache import Scorer, read, shared
from core.decode.propose import DraftModel, Proposal, TreeShape
from core.decode.sampling import Chooser, History, Sampling, bad_row
from core.decode.verify import Verdict


class TreeDraft(DraftModel):
    """A smaller model's argmax chain, with its `branches` likeliest tokens as candidates at each depth (1: the chain alone).

    gamma is the depth; the target reads gamma times `branches` tokens. `sampling` and `confidence` as of DraftModel, but nothing
    is drawn: of the sampling only penalties, bias and bans matter, and confidence is compared with the softmax of what they left.
    """

    def __init__(self, model: Scorer, sampling: Sampling, confidence: float = 0.0, branches: int = 2):
        super().__init__(model, sampling, confidence)
        if branches < 1:
            raise ValueError("a tree has at least one branch")
        self.branches = branches
        self._same = 0  # tokens of the cache that are the history's for certain

    def propose(self, history: History, gamma: int, chooser: Chooser) -> Proposal:
        out = Proposal()
        beside: list[tuple[int, int]] = []  # (token, its parent in the chain)
        room = gamma if self.model.context is None else self.model.context - len(history.ids) + 1
        if room <= 0:
            out.why = "length"
            return out
        self._same = len(history.ids)
        feed = history.ids[self.model.length :]
        for place in range(min(gamma, room)):
            begun = perf_counter()
            logits = read(self.model, feed, 1)  # (1, vocabulary)
            scores = self.sampling.adjust(logits, history, out.ids, first=place)
            out.scores.append(scores)
            values, tokens = scores[0].topk(min(self.branches, scores.shape[-1]))
            best, *others = values.tolist()
            if best != best or best in (torch.inf, -torch.inf):
                bad_row(scores, "draft")
            token, *next_best = tokens.tolist()
            beside += [(other, place - 1) for other, value in zip(next_best, others, strict=True) if value > -torch.inf]
            sure = 1.0 if not self.confidence else 1 / float((scores - best).exp().sum())
            out.calls.append((len(feed), perf_counter() - begun))
            out.ids.append(token)
            feed = [token]
            if token in self.sampling.eos:
                out.why = "end of text"
                break
            if sure < self.confidence and place + 1 < gamma:
                out.why = "confidence"
                break
        else:
            if room < gamma:
                out.why = "length"
        chain = len(out.ids)
        out.tree = TreeShape([*out.ids, *(token for token, _ in beside)], [*range(-1, chain - 1), *(parent for _, parent in beside)])
        return out

    def settle(self, history: History) -> None:
        # Where a branch was taken, the cache still holds the chain's token in its place.
        self.model.crop(min(shared(self.model.ids, history.ids, min(self._same, self.model.length)), len(history.ids) - 1))


@dataclass
class Walk(Verdict):
    """A verdict on a tree. path: the nodes that were accepted, from the root on; `accepted` is their number.

    q, where it's there: one row for each position that was looked at, (accepted + 1, vocabulary).
    """

    path: list[int] = field(default_factory=list)


def shape_of(proposal: Proposal) -> TreeShape:
    """The proposal's tree; of a chain, the tree without branches."""
    return proposal.tree or TreeShape(proposal.ids, list(range(-1, len(proposal.ids) - 1)))


def adjust(logits: Tensor, history: History, tree: TreeShape, sampling: Sampling) -> Tensor:
    """Sampling.adjust, with each node's own path in its context. logits: (nodes + 1, vocabulary), the root's first."""
    chain = tree.chain
    rows = [sampling.adjust(logits[: chain + 1], history, tree.ids[:chain])]
    for node in range(chain, len(tree.ids)):
        path = tree.path_to(node)
        rows.append(sampling.adjust(logits[node + 1 : node + 2], history, [tree.ids[i] for i in path], first=len(path)))
    return torch.cat(rows) if len(rows) > 1 else rows[0]


def verify(scores: Tensor, proposal: Proposal, sampling: Sampling, chooser: Chooser) -> Walk:
    """Goes down the tree by the target's own tokens: its argmax in greedy decoding, otherwise a draw from q at each node.

    scores: (nodes + 1, vocabulary), the target's adjusted logits after the history and after each node; of a chain as for
    every rule. Lossless for every proposal; of a sampled chain the token rule accepts more.
    """
    tree = shape_of(proposal)
    path: list[int] = []
    rows: list[Tensor] = []
    row = 0
    while True:
        if sampling.greedy:
            value, best = scores[row].max(-1)
            value, token = float(value), int(best)
            if value != value or value in (torch.inf, -torch.inf):
                bad_row(scores[row : row + 1], "target")
        else:
            rows.append(sampling.probabilities(scores[row : row + 1]))
            token = chooser.categorical(rows[-1][0])
        node = tree.child(row - 1, token)
        if node is None:
            return Walk(len(path), token, torch.cat(rows) if rows else None, path=path)
        path.append(node)
        row = node + 1


def walked(proposal: Proposal, walk: Walk) -> tuple[Proposal, list[int], list[int]]:
    """What a round shows of a tree: the path, and where it left the chain for no branch, what the chain had further.

    Returns that as a chain's proposal, the rank of each of its tokens among its siblings, and the rows of the scores
    (0: the root's) that belong to its positions, one for each accepted token and one for the final one.
    """
    tree = shape_of(proposal)
    left = tree.chain if walk.path and walk.path[-1] >= tree.chain else len(walk.path)
    nodes = [*walk.path, *range(left, tree.chain)]
    ids = [tree.ids[node] for node in nodes]
    shown = Proposal(ids, None, proposal.scores[: len(ids)], proposal.why, proposal.calls)
    return shown, [tree.rank(node) for node in nodes], [0, *(node + 1 for node in walk.path)]
