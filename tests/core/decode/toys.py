"""Tiny worlds in which every outcome of the real engine can be enumerated."""

import math
from collections import defaultdict

import torch

from core.decode.engine import Decoding
from core.decode.policy import Fixed
from core.decode.sampling import Sampling

LETTERS = "abc"


class Table:
    """A 'model' whose logits are read from a table by the last two tokens. It looks at what its cache holds, not at what it
    ought to hold, so a crop by the wrong count gives wrong probabilities."""

    context = None
    device = torch.device("cpu")

    def __init__(self, seed: int, vocabulary: int = 3, spread: float = 1.5, support: int | None = None, dtype=torch.float64):
        self.name, self.vocabulary, self.cached = f"table {seed}", vocabulary, []
        generator = torch.Generator().manual_seed(seed)
        self.table = spread * torch.randn(vocabulary + 1, vocabulary + 1, vocabulary, generator=generator, dtype=torch.float64)
        if support is not None:  # only so many tokens are possible after any two
            least = self.table.topk(support, -1).values[..., -1:]
            self.table = self.table.masked_fill(self.table < least, -torch.inf)
        self.table = self.table.to(dtype)

    @property
    def length(self):
        return len(self.cached)

    def fresh(self):
        self.cached = []
        return self

    def forward(self, ids, keep):
        assert ids
        rows = []
        for token in ids:
            self.cached.append(token)
            before = self.cached[-2] if len(self.cached) > 1 else self.vocabulary
            rows.append(self.table[before, token])
        return torch.stack(rows[-keep:])

    @property
    def ids(self):
        return self.cached

    def require_trees(self):
        pass

    def forward_tree(self, ids, parents, keep):
        self.fork, rows = len(self.cached), []
        for node, token in enumerate(ids):
            assert parents[node] < node
            at, path = node, []
            while at >= 0:
                path.insert(0, ids[at])
                at = parents[at]
            before = [*self.cached[: self.fork], *path][-2] if self.fork + len(path) > 1 else self.vocabulary
            rows.append(self.table[before, token])
        self.cached.extend(ids)
        return torch.stack(rows[-keep:])

    def keep_path(self, places):
        self.cached[self.fork :] = [self.cached[self.fork + place] for place in places]

    def crop(self, length):
        del self.cached[length:]

    def begin(self, ids):
        while self.cached != ids[: len(self.cached)] or len(self.cached) >= len(ids):
            self.cached.pop()
        return len(self.cached)

    def wait(self):
        pass


class Letters:
    """Tokens as the letters a, b, c."""

    def start(self):
        return None

    def feed(self, tail, token):
        return LETTERS[token], None

    def alone(self, token):
        return LETTERS[token]


class EveryBranch:
    """A chooser that takes each possible course of a run in turn; `weight` is the chance of the one at hand."""

    def __init__(self):
        self.script: list[tuple[int, int]] = []  # (taken, options) of each choice so far
        self.begin()

    def begin(self):
        self.at, self.weight = 0, 1.0

    def _choose(self, chances: list[float]) -> int:
        if self.at == len(self.script):
            self.script.append((0, len(chances)))
        taken, options = self.script[self.at]
        assert options == len(chances), "the run isn't the same after the same choices"
        self.at += 1
        self.weight *= chances[taken]
        return taken

    def categorical(self, p):
        values = p.tolist()
        total = math.fsum(values)
        possible = [i for i, v in enumerate(values) if v > 0]
        assert possible, "asked to draw from nothing"
        return possible[self._choose([values[i] / total for i in possible])]

    def bernoulli(self, chance):
        assert 0 <= chance <= 1
        if chance in (0.0, 1.0):
            return bool(chance), None
        return self._choose([chance, 1 - chance]) == 0, None

    def advance(self) -> bool:
        """To the next course; False where all were taken."""
        while self.script and self.script[-1][0] + 1 == self.script[-1][1]:
            self.script.pop()
        if not self.script:
            return False
        taken, options = self.script[-1]
        self.script[-1] = (taken + 1, options)
        return True


def outcomes(target: Table, prompt, sampling: Sampling, proposer, policy=None, verifier=None, pieces=None, details=False) -> dict:
    """The exact distribution over (new ids, text, stop) of the real engine. `proposer` makes a fresh one, `policy` too."""
    chooser, found = EveryBranch(), defaultdict(float)
    while True:
        chooser.begin()
        decoding = Decoding(
            target.fresh(),
            list(prompt),
            sampling=sampling,
            proposer=proposer(),
            policy=policy() if policy else Fixed(0),
            verifier=verifier,
            chooser=chooser,
            pieces=pieces or Letters(),
            details=details,
        )
        for taken in decoding.rounds():
            ids = decoding.history.ids
            assert target.cached == ids[:-1], "the target's cache isn't the committed text but its last token"
            assert taken.target_cache == len(ids) - 1
            cached = getattr(getattr(decoding.proposer, "model", None), "cached", None)
            assert cached is None or cached == ids[: len(cached)], "the draft's cache holds tokens that weren't kept"
        found[(tuple(ids[len(prompt) :]), decoding.text, decoding.stop)] += chooser.weight
        if not chooser.advance():
            return dict(found)


def reference(target: Table, prompt, s: Sampling) -> dict:
    """The same distribution by the definition: one token after another, written without any of the engine's code."""
    found = defaultdict(float)

    def distribution(ids):
        new = ids[len(prompt) :]
        if len(new) < len(s.forced):
            return {s.forced[len(new)]: 1.0}
        before = ids[-2] if len(ids) > 1 else target.vocabulary
        scores = [float(x) for x in target.table[before, ids[-1]]]
        for t in set(ids):
            if s.repetition_penalty != 1:
                scores[t] = scores[t] / s.repetition_penalty if scores[t] > 0 else scores[t] * s.repetition_penalty
        for t in set(new):
            scores[t] -= s.presence_penalty + s.frequency_penalty * new.count(t)
        for t, amount in s.bias:
            scores[t] += amount
        for t in s.banned:
            scores[t] = -math.inf
        if len(ids) - len(prompt) < s.min_new_tokens:
            for t in s.eos:
                scores[t] = -math.inf
        scores = [x / s.temperature for x in scores]
        order = sorted(range(len(scores)), key=lambda t: -scores[t])
        if s.top_k:
            order = order[: s.top_k]
        chances = {t: math.exp(scores[t] - scores[order[0]]) for t in order}
        total = math.fsum(chances.values())
        chances = {t: c / total for t, c in chances.items()}
        kept, mass = {}, 0.0
        for t in order:
            if mass >= s.top_p:
                break
            kept[t] = chances[t]
            mass += chances[t]
        most = max(kept.values())
        kept = {t: c for t, c in kept.items() if c >= s.min_p * most and c > 0}
        total = math.fsum(kept.values())
        kept = {t: c / total for t, c in kept.items()}
        if s.typical_p == 1:
            return kept
        surprise = -math.fsum(c * math.log(c) for c in kept.values())
        usual, mass = {}, 0.0
        for t in sorted(kept, key=lambda t: abs(-math.log(kept[t]) - surprise)):
            if mass >= s.typical_p:
                break
            usual[t] = kept[t]
            mass += kept[t]
        return {t: c / mass for t, c in usual.items()}

    def walk(new, chance):
        for t, c in distribution([*prompt, *new]).items():
            ids = (*new, t)
            text = "".join(LETTERS[x] for x in ids)
            cut = min((text.find(stop) for stop in s.stop if stop in text), default=-1)
            if t in s.eos:
                found[(ids, text[:-1], "end of text")] += chance * c
            elif cut >= 0:
                found[(ids, text[:cut], "stop string")] += chance * c
            elif len(ids) == s.max_new_tokens:
                found[(ids, text, "length")] += chance * c
            else:
                walk(ids, chance * c)

    walk((), 1.0)
    return dict(found)


def total_variation(a: dict, b: dict) -> float:
    return 0.5 * math.fsum(abs(a.get(k, 0.0) - b.get(k, 0.0)) for k in a.keys() | b.keys())
