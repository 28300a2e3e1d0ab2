"""What a draft gains while it still learns: its target writes with it and without it, in turns, on models that nothing else needs.

Shorter than 'Find me a draft' (find.py), which is what decides; sampled at temperature 1, of which acceptance in training is told too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from core.decode.cache import CachedModel
from core.decode.engine import Decoding
from core.decode.fast import quicken
from core.decode.policy import Fixed
from core.decode.products import faster_products
from core.decode.propose import DraftModel
from core.decode.sampling import Sampling, Seeded

TOKENS = 32  # written after each prompt


class Duel:
    """`target` is copied, and the copy laid out for decoding; it's kept for as long as this is.

    between: called after every round; what it raises ends the duel.
    """

    def __init__(self, target: Any, between: Callable[[], None] = lambda: None):
        self._target, self._between = copy.deepcopy(target), between
        quicken(self._target)

    def __call__(self, draft: Any, prompts: Sequence[list[int]], gamma: int, tokens: int = TOKENS) -> float:
        """Seconds a token without the draft over seconds a token with it, gamma tokens drafted a round.

        draft: a model that's for decoding from here on. Each text goes on in turns of one round, whoever has spent less time first.
        Raises UserError where a prompt leaves no room, or a model keeps no cache that can be taken back.
        """
        quicken(draft)
        spent, written = [0.0, 0.0], [0, 0]
        with faster_products((self._target, draft), {1, gamma + 1}):
            target, alone, other = (CachedModel(model) for model in (self._target, self._target, draft))
            for number, prompt in enumerate([prompts[0], *prompts]):  # the first time is for warming up
                both = [self._text(alone, prompt, tokens), self._text(target, prompt, tokens, other, gamma)]
                rounds = [text.rounds() for text in both]
                while going := [i for i in (0, 1) if not both[i].stop]:
                    next(rounds[min(going, key=lambda i: both[i].seconds)])
                    self._between()
                if number:
                    for i, text in enumerate(both):
                        spent[i] += text.seconds
                        written[i] += len(text.history.ids) - len(prompt)
        return (spent[0] / written[0]) / (spent[1] / written[1])

    @staticmethod
    def _text(target: CachedModel, prompt: list[int], tokens: int, draft: CachedModel | None = None, gamma: int = 0) -> Decoding:
        sampling = Sampling(temperature=1.0, max_new_tokens=tokens)
        proposer = None if draft is None else DraftModel(draft, sampling)
        text = Decoding(
            target, prompt, sampling=sampling, proposer=proposer, policy=Fixed(gamma), chooser=Seeded(len(prompt)), details=False
        )
        text.prefill()
        return text
