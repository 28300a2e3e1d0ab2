"""The decoding loop: draft, verify, correct, one Round after another.

    decoding = Decoding(target, prompt, proposer=..., policy=..., chooser=..., sampling=...)
    decoding.prefill()
    for round in decoding.rounds(): ...

Target, proposer, verifier, policy and chooser are given; the loop knows none of them. Whatever is exact here is proved
exact by running this loop with a chooser that enumerates. Not iterating further ends it. Batches and beams aren't here.

Invariants after every round: the target's cache holds all committed tokens but the last; the draft's holds a prefix of
the committed ones. A round is cut at the first of end of text, stop string and length, before caches are cropped and
anything is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import perf_counter

import torch
from torch import Tensor

from core.decode import tree
from core.decode.cache import Scorer, read
from core.decode.detail import describe
from core.decode.pieces import Pieces
from core.decode.policy import Fixed, Policy
from core.decode.propose import Nobody, Proposal, Proposer, TreeShape
from core.decode.sampling import Chooser, History, Sampling, Seeded
from core.decode.stats import Costs
from core.decode.verify import Verifier, verifier_for
from core.errors import UserError
from core.events import Drafted, Round


class Decoding:
    """One text being written. `history` is what's committed; `text` what's written, up to a stop string; `stop` why it ended.

    seconds: the time that this text has taken since the prompt was read: its rounds, and what `spend` added. Several texts can
    take turns in one process, and each has its own clock. `reused`: tokens of the prompt that the target's cache already held.
    verifier None: the lossless one for `sampling` and the proposer. details False: rounds carry ids and verdicts, no probabilities.
    Raises UserError where the prompt is empty or leaves no room in the target's context, and where a tree is to be drafted for
    a target that can't read one.
    """

    def __init__(
        self,
        target: Scorer,
        prompt: list[int],
        *,
        sampling: Sampling | None = None,
        proposer: Proposer | None = None,
        policy: Policy | None = None,
        verifier: Verifier | None = None,
        chooser: Chooser | None = None,
        pieces: Pieces | None = None,
        costs: Costs | None = None,
        details: bool = True,
    ):
        if not prompt:
            raise UserError("The prompt is empty, and this model has no token to begin a text with.", hint="Write a prompt.")
        if target.context is not None and len(prompt) >= target.context:
            raise UserError(
                "The prompt has {tokens} tokens, and {name} reads at most {context}, so there's no room to write.",
                hint="Shorten the prompt.",
                tokens=len(prompt),
                name=target.name,
                context=target.context,
            )
        self.target, self.sampling = target, sampling or Sampling()
        self.proposer, self.policy = proposer or Nobody(), policy or Fixed(0)
        trees = isinstance(self.proposer, tree.TreeDraft)
        if trees:
            target.require_trees()
        self.verifier, self.chooser = verifier or (tree.verify if trees else verifier_for(self.sampling)), chooser or Seeded(0)
        self.pieces, self.costs, self.details = pieces or Pieces(), costs or Costs(), details
        self.history = History(prompt)
        self.stop = ""
        self.text = ""
        self.seconds = 0.0
        self.reused = 0
        self._eos = frozenset(self.sampling.eos)
        self._tail = self.pieces.start()
        for token in prompt[-4:]:  # a prompt may end in half a character, or in what decides the next token's space
            self._tail = self.pieces.feed(self._tail, token)[1]
        self._longest_stop = max((len(s) for s in self.sampling.stop), default=0)
        self._read = False
        self._next: Tensor | None = None  # logits after the prompt, (1, vocabulary), until the first round used them

    def prefill(self, between: Callable[[], None] = lambda: None) -> float:
        """Reads the prompt with target and draft; returns the seconds. `between` is called after every 2,048 tokens.

        A target or draft handed over with a beginning of the prompt in its cache reads only what follows.
        """
        begun = perf_counter()
        self.reused = self.target.begin(self.history.ids)
        self._next = read(self.target, self.history.ids[self.reused :], 1, between)
        self.proposer.start(self.history.ids)
        self.target.wait()
        self._read = True
        return perf_counter() - begun

    def spend(self, seconds: float) -> None:
        """Adds time that the caller spent on this text, such as on sending its rounds to the window."""
        self.seconds += seconds

    def rounds(self, turn: Callable[[], bool] = lambda: True) -> Iterator[Round]:
        """Rounds until the text ends. `turn` is called before each: it may wait, and False ends the run ('stopped').

        What happens between rounds isn't in `seconds`, unless the caller says so by `spend`.
        """
        if not self._read:
            self.prefill()
        number = 0
        while not self.stop:
            if not turn():
                self.stop = "stopped"
                return
            number += 1
            yield self._round(number)

    @torch.inference_mode()
    def _round(self, number: int) -> Round:
        clock, history, target = perf_counter, self.history, self.target
        drafting = clock()
        start, room = len(history.ids), self.room()
        planned = self.policy.gamma()
        gamma = min(planned, room - 1)  # the target adds a token of its own, so the last one needn't be drafted
        if gamma > 0:
            proposal = self.proposer.propose(history, gamma, self.chooser)
            if len(proposal.ids) == gamma < planned:
                proposal.why = "length"
        else:
            proposal = Proposal(why="length" if planned else "gamma")
        drafted = proposal.ids
        proposal.move(target.device)

        verifying = clock()
        branched = proposal.tree
        pending = history.ids[target.length :]
        logits, feed = self._logits(pending, drafted, branched)
        target.wait()

        sampled = clock()
        scores = (
            self.sampling.adjust(logits, history, drafted) if branched is None else tree.adjust(logits, history, branched, self.sampling)
        )
        verdict = self.verifier(scores, proposal, self.sampling, self.chooser)
        ranks: list[int] = []
        if branched is not None:
            if not isinstance(verdict, tree.Walk):
                raise ValueError("a tree of drafted tokens needs the tree's own rule")
            proposal, ranks, looked_at = tree.walked(proposal, verdict)
            drafted, scores = proposal.ids, scores[looked_at]
        block = [*drafted[: verdict.accepted], verdict.final]
        committed, stop, text, tail = self._cut(block, room)

        cropping = clock()
        history.extend(committed)
        if branched is not None:
            first = len(feed) - len(branched.ids)
            target.keep_path([*range(first), *(first + node for node in verdict.path[: len(committed)])])
        target.crop(len(history.ids) - 1)
        self.proposer.settle(history)

        recording = clock()
        whole = len(committed) == len(block)
        kept = min(verdict.accepted, len(committed))
        tested = kept if not whole or verdict.accepted == len(drafted) else kept + 1
        self.policy.learn(tested, kept)
        if feed:
            self.costs.add_target(len(feed), sampled - verifying)
        for tokens, seconds in proposal.calls:
            self.costs.add_draft(tokens, seconds)
        self.costs.add_overhead(recording - drafting - (sampled - verifying) - sum(seconds for _, seconds in proposal.calls))
        texts, final_text = self._texts(drafted, verdict.accepted, verdict.final)
        if self.details:
            shown, final_top = describe(texts, proposal, verdict, scores, self.sampling, self.pieces, kept, tested)
        else:
            states = ["accepted"] * kept + ["rejected"] * (tested - kept) + ["untested"] * (len(drafted) - tested)
            shown, final_top = tuple(map(Drafted, drafted, texts, states)), ()
        if any(ranks):
            shown = tuple(replace(token, branch=rank) for token, rank in zip(shown, ranks, strict=True))
        self._tail, self.stop, self.text = tail, stop, self.text + text
        done = clock()
        self.seconds += done - drafting
        return Round(
            number=number,
            start=start,
            planned=planned,
            drafted=shown,
            why_stopped=proposal.why,
            final_id=verdict.final if whole else None,
            final_text=final_text if whole else "",
            final_kind="none" if not whole else "plain" if not drafted else "bonus" if verdict.accepted == len(drafted) else "corrected",
            final_top=final_top if whole else (),
            committed=tuple(committed),
            seconds={
                "draft": verifying - drafting,
                "verify": sampled - verifying,
                "sample": cropping - sampled,
                "crop": recording - cropping,
                "event": done - recording,
            },
            target_cache=target.length,
            draft_cache=self.proposer.length,
            at=self.seconds,
            stop=stop,
            nodes=len(branched.ids) if branched is not None else 0,
        )

    def _logits(self, pending: list[int], drafted: list[int], branched: TreeShape | None) -> tuple[Tensor, list[int]]:
        """The target's logits after the history and after each drafted token (in a tree: each node), and what it was fed for them.

        The first round has those after the prompt already. Later ones feed the last committed token, too.
        """
        nodes = drafted if branched is None else branched.ids
        feed = pending + nodes
        if not feed:
            logits, self._next = self._next, None
            return logits, feed
        keep = len(nodes) + (self._next is None)
        if branched is None:
            logits = self.target.forward(feed, keep)
        else:
            before = len(pending)
            logits = self.target.forward_tree(feed, [*range(-1, before - 1), *(before + parent for parent in branched.parents)], keep)
        if self._next is not None:
            logits, self._next = torch.cat([self._next, logits]), None
        return logits, feed  # logits: (nodes + 1, vocabulary)

    def room(self) -> int:
        """How many tokens may still be written."""
        room = self.sampling.max_new_tokens - self.history.new
        return room if self.target.context is None else min(room, self.target.context - len(self.history.ids))

    def _cut(self, block: list[int], room: int) -> tuple[list[int], str, str, object]:
        """The block up to the first end, why it ended there ('' where it didn't), its text, and the state after it.

        The token that completes a stop string is kept, as an id; the text ends before the string.
        """
        text, tail = "", self._tail
        before = self.text[-self._longest_stop :] if self._longest_stop else ""
        for count, token in enumerate(block, 1):
            if token in self._eos:
                return block[:count], "end of text", text, tail
            piece, tail = self.pieces.feed(tail, token)
            text += piece
            if piece and self._longest_stop:
                found = [at for at in ((before + text).find(s) for s in self.sampling.stop) if at >= 0]
                if found:
                    cut = min(found) - len(before)
                    if cut < 0:  # it began in an earlier round
                        self.text = self.text[:cut]
                    return block[:count], "stop string", text[: max(cut, 0)], tail
            if count == room:
                return block[:count], "length", text, tail
        return block, "", text, tail

    def _texts(self, drafted: list[int], accepted: int, final: int) -> tuple[list[str], str]:
        """The text of each drafted token where it stands, and of the final one after those accepted."""
        texts, tail, at_final = [], self._tail, self._tail
        for i, token in enumerate(drafted):
            piece, tail = self.pieces.feed(tail, token)
            texts.append(piece)
            if i + 1 == accepted:
                at_final = tail
        return texts, self.pieces.feed(at_final, final)[0]
