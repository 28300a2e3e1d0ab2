"""What a target says of the windows that its draft learns, asked once: of each position its likeliest tokens among those that the draft
may say, and all the others of them as one.

Both are exact; what the draft may never say is left out, and the rest counts as all there is, since that share of the mass no draft of
those tokens can win. Windows kept aside keep the whole distribution, so acceptance, the mean of sum min(p, q), is exact there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core.methods import estimates, losses, training
from core.methods.checkpoints import Checkpoint
from core.methods.distillation.writing import WrittenFeed
from core.run import Run

LIKELIEST = 64  # tokens of each position that are told apart
MOST = 1 << 26  # probabilities of windows kept aside that stay in memory, 256 MB; of more the target is asked each time
FILE = "told.pt"


def most_bytes(tokens: int, context: int, vocabulary: int) -> int:
    """Memory that a Told of so many written tokens takes at most: what's kept of them, twice while it's put together, and the windows
    kept aside."""
    few = min(LIKELIEST, vocabulary - 1)
    return 2 * tokens * (4 * few + 2 * (few + 1)) + 4 * min(MOST, training.HELDOUT_WINDOWS * context * vocabulary)


class Told:
    """Windows of a feed with what the target says after each of their written tokens.

    kept: the tokens that the draft may say, by id, whose logits it gives in that order; None: all. Finished work is kept in `work`.
    Memory: 6 bytes a position and token that's told apart.
    """

    def __init__(
        self, feed: WrittenFeed, target: Any, kept: Tensor | None, loss: losses.Kind, precision: str, run: Run, work: Path | None = None
    ):
        self.feed, self.kept, self.loss, self.run = feed, kept, losses.Against(loss, 1.0, 0.0), run
        self._target, self._first = target, max(0, feed.given - 1)
        self.device = next(target.parameters()).device
        self._dtype = training.precision(precision, self.device.type)
        columns = feed.vocabulary if kept is None else len(kept)
        self.rows = estimates.rows_at_once(max(1, feed.learnt), feed.context, feed.vocabulary)
        self.few = min(LIKELIEST, columns - 1)
        self.tokens, self.logs = self._ask(work)
        self._aside = torch.cat(list(feed.held_out)).split(self.rows)
        held = sum(len(part) for part in self._aside) * (feed.context - self._first) * columns
        self._whole = [self._judged(part) for part in self._aside] if held <= MOST else None

    def numbers(self, size: int, seed: int) -> Any:
        return self.feed.numbers(size, seed)

    def loss_of(self, student: Any, numbers: Tensor) -> dict[str, Tensor]:
        """{'loss'}: how far the student is from the target on the windows of those numbers, a mean over their positions."""
        numbers = numbers.cpu()
        mine = self._positions(student, self.feed.windows[numbers])
        theirs = losses.Top(self.tokens[numbers].long().to(self.device), self.logs[numbers].float().to(self.device))
        nothing = torch.full(mine.shape[:-1], losses.UNTOLD, device=self.device)
        return {"loss": losses.distillation_loss(mine, theirs, nothing, self.loss)["loss"]}

    @torch.no_grad()
    def judge(self, student: Any) -> dict[str, float]:
        """On the windows kept aside: 'heldout_loss', without coarsening; 'acceptance'; 'agreement', the share of equal first choices."""
        loss = overlap = agreed = 0.0
        count = 0
        for number, part in enumerate(self._aside):
            self.run.check_cancelled()
            p, best = self._whole[number] if self._whole else self._judged(part)
            logs = self._positions(student, part).float().log_softmax(-1)  # (windows, positions, kept)
            loss += float(losses.between((p / p.sum(-1, keepdim=True)).log(), logs, self.loss.kind).sum())
            overlap += float(torch.minimum(p, logs.exp()).sum())
            mine = logs.argmax(-1)
            agreed += float(((mine if self.kept is None else self.kept.to(mine.device)[mine]) == best).sum())
            count += best.numel()
        return {"heldout_loss": loss / count, "acceptance": overlap / count, "agreement": agreed / count}

    def _positions(self, model: Any, windows: Tensor) -> Tensor:
        """Logits after each token that's followed by one to learn: (windows, positions, columns)."""
        return model(input_ids=windows[:, :-1].to(self.device), use_cache=False).logits[:, self._first :]

    @torch.no_grad()
    def _says(self, windows: Tensor) -> Tensor:
        """Log-probabilities of all the target's tokens, (windows, positions, vocabulary)."""
        with torch.autocast(self.device.type, self._dtype, enabled=self._dtype != torch.float32):
            return self._positions(self._target, windows).float().log_softmax(-1)

    def _among(self, logs: Tensor) -> Tensor:
        return logs if self.kept is None else logs[..., self.kept.to(logs.device)]

    def _ask(self, work: Path | None) -> tuple[Tensor, Tensor]:
        """Of the windows that are learnt: (tokens (windows, positions, few), places among those kept, log-probabilities (..., few + 1))."""
        windows = self.feed.windows[: self.feed.learnt]
        shape = (
            f"{tuple(windows.shape)} {self._first} {int(windows.sum())} {'all' if self.kept is None else int(self.kept.sum())} {self.few}"
        )
        state = None if work is None else Checkpoint(work, f"{shape} {self._dtype}", self.run, FILE)
        done: list[tuple[Tensor, Tensor]] = list((state.read() or []) if state else [])
        parts = windows.split(self.rows)
        for number, part in enumerate(self.run.track(parts, "Asking the target what it would say", known=len(done))):
            if number < len(done):
                continue
            self.run.check_cancelled()
            found = losses.top(self._among(self._says(part)), self.few)
            done.append((found.tokens.int().cpu(), found.logs.half().cpu()))
            if state is not None and (state.due or number == len(parts) - 1):
                state.write(lambda: done, sum(t.numel() * t.element_size() for pair in done for t in pair))
        return torch.cat([tokens for tokens, _ in done]), torch.cat([logs for _, logs in done])

    @torch.no_grad()
    def _judged(self, windows: Tensor) -> tuple[Tensor, Tensor]:
        """(probabilities of the tokens that the draft may say, (windows, positions, kept), the likeliest of all tokens)."""
        self.run.check_cancelled()
        logs = self._says(windows)
        return self._among(logs).exp(), logs.argmax(-1)
