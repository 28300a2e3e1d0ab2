"""The target drafts for itself with some of its own layers: the first ones (early exit) or all but a few (layer skip).

No second model and no second cache: the layers that run read the target's keys and values of the text so far. Covers models
whose layers are alike and lie in one list; no layer is trained to be an exit, so what is drafted is as good as the layers
left happen to be. Sources: Elhoushi et al. 2024 (LayerSkip, section 4.3, of which only the shared cache of the past is taken
over: verifying reads the drafted tokens through every layer again); Zhang et al. 2023 (Draft & Verify, section 3.2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity

from core.decode.cache import BufferedLayer, CachedModel
from core.decode.propose import DraftModel, Proposal
from core.decode.sampling import Chooser, History, Sampling
from core.errors import UserError
from core.models.blocks import blocks

READ = 160  # tokens of the text that a search reads,
SCORED = 64  # and of those, how many at the end it compares distributions at
CANDIDATES = 8  # layers that a search considers leaving out
USELESS = 0.2  # a search ends where less than this is accepted


class SelfDraft(DraftModel):
    """Drafts with the target's layers `layers` (indices), on the target's own cache, which every proposal leaves as it found it.

    Early exit: range(E). Layer skip: all but the skipped ones. The first layer is always among them, since positions are
    counted by its cache. Its output is normed and mapped to tokens by the target's own last parts. Raises UserError where the
    model's layers can't be found, differ by their place, or aren't all kept in a cache that can be taken back.
    """

    length = 0  # it has no cache of its own

    def __init__(self, target: CachedModel, layers: Sequence[int], sampling: Sampling, confidence: float = 0.0):
        super().__init__(target, sampling, confidence)
        self._parts = _layers(target)
        self.layers = tuple(sorted(set(layers)))
        if not self.layers or self.layers[0] != 0 or self.layers[-1] >= len(self._parts):
            raise UserError(
                "{name} can draft with its own layers 0 to {last} only, and layer 0 must be among them.",
                hint="Choose other layers.",
                name=target.name,
                last=len(self._parts) - 1,
            )
        self._chosen = nn.ModuleList(self._parts.list[i] for i in self.layers)

    def start(self, prompt: list[int]) -> None:
        pass

    def propose(self, history: History, gamma: int, chooser: Chooser) -> Proposal:
        # In the first round the target has read the prompt's last token, too; it's fed again, to the chosen layers alone.
        with self.model.borrowed(len(history.ids) - 1), self._parts.only(self._chosen):
            return super().propose(history, gamma, chooser)

    def settle(self, history: History) -> None:
        pass


class _Layers:
    """A model's list of layers, and a way to run it with others in their place."""

    def __init__(self, owner: nn.Module, name: str):
        self._owner, self._name = owner, name
        self.list: nn.ModuleList = getattr(owner, name)

    def __len__(self) -> int:
        return len(self.list)

    @contextmanager
    def only(self, chosen: nn.ModuleList) -> Iterator[None]:
        setattr(self._owner, self._name, chosen)
        try:
            yield
        finally:
            setattr(self._owner, self._name, self.list)


def _layers(target: CachedModel) -> _Layers:
    found = blocks(target.model)[0][0]  # 'model.layers.0'
    owner, _, name = found.rpartition(".")[0].rpartition(".")
    parts = _Layers(target.model.get_submodule(owner), name)
    kinds = set(getattr(target.model.config.get_text_config(decoder=True), "layer_types", None) or ())
    caches = target.layer_caches()
    if len(kinds) > 1 or len(caches) != len(parts) or not all(isinstance(layer, BufferedLayer) for layer in caches):
        raise UserError(
            "The layers of {name} ({architecture}) differ by their place, so it can't draft with some of them.",
            hint="Choose another way to draft.",
            kind="model",
            name=target.name,
            architecture=type(target.model).__name__,
        )
    return parts


@torch.inference_mode()
def search_skips(
    target: CachedModel, ids: list[int], run_check: Callable[[], None] = lambda: None, most: int | None = None
) -> list[tuple[tuple[int, ...], float]]:
    """Which layers to leave out: for one, two, ... `most` of them (None: a fifth of the layers), the set found, with its alpha.

    alpha is the mean over the text's last positions of sum min(p, q) at temperature 1, p being what the remaining layers say
    after the text itself and q what all of them say: the acceptance rate of drafted tokens there. Greedy: each step leaves out
    the one layer more that costs the least, of those that change their input the least (block influence, 1 - cosine; Men et
    al. 2024, eq. 1). Draft & Verify searches by Bayesian optimisation for hours; this takes seconds and finds no sets whose
    layers are harmless only together. `run_check` is called before each forward. The cache isn't touched. ids: at least 2.
    Raises UserError as SelfDraft does.
    """
    parts = _layers(target)
    if len(ids) < 2:
        raise UserError("The text is too short to choose layers by.", hint="Write a longer prompt.")
    text = torch.tensor([ids[-READ:]], device=target.device)
    scored = min(SCORED, text.shape[1])

    def distributions() -> Tensor:
        run_check()
        logits = target.uncached(text, scored)  # (scored, vocabulary)
        return torch.softmax(logits.float(), -1)

    influence: list[float] = []

    def note(module: nn.Module, args: tuple, kwargs: dict, output) -> None:
        before = args[0] if args else kwargs["hidden_states"]
        after = output[0] if isinstance(output, tuple) else output
        influence.append(1 - float(cosine_similarity(before.float(), after.float(), dim=-1).mean()))

    hooks = [layer.register_forward_hook(note, with_kwargs=True) for layer in parts.list]
    try:
        q = distributions()
    finally:
        for hook in hooks:
            hook.remove()
    candidates = sorted(range(1, len(parts)), key=influence.__getitem__)[:CANDIDATES]
    skipped: tuple[int, ...] = ()
    found: list[tuple[tuple[int, ...], float]] = []
    for _ in range(min(len(candidates), max(1, len(parts) // 5) if most is None else most)):
        best, kept = None, -1.0
        for candidate in candidates:
            if candidate in skipped:
                continue
            without = {*skipped, candidate}
            with parts.only(nn.ModuleList(layer for i, layer in enumerate(parts.list) if i not in without)):
                p = distributions()
            alpha = float(torch.minimum(p, q).sum(-1).mean())
            if alpha > kept:
                best, kept = candidate, alpha
        if best is None or (found and kept < USELESS):
            break
        skipped = tuple(sorted((*skipped, best)))
        found.append((skipped, min(kept, 1.0)))
    return found
