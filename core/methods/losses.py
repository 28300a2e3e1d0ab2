"""The losses that training here has in common: against a teacher's predictions, and against what the text or the labels say.

Hinton, Vinyals & Dean, 'Distilling the Knowledge in a Neural Network' (2015), section 2. On plain tensors; logits of tokens
and logits of classes alike. Hidden states and attention maps aren't compared.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

IGNORED = -100  # a label that doesn't count, as transformers writes it


def distillation_loss(student: Tensor, teacher: Tensor, labels: Tensor, temperature: float, alpha: float) -> dict[str, Tensor]:
    """{'loss', 'loss/teacher', 'loss/text'}: means over the positions whose label isn't IGNORED, so padding changes nothing.

    student, teacher: logits (..., vocab); labels: token ids (...). The mean over tokens is taken once, over all positions
    together: a mean over the vocabulary or over the batch's rows would make the loss depend on their number.
    """
    counted = labels != IGNORED  # (...)
    mine, theirs = student[counted].float(), teacher[counted].float()  # (tokens, vocab)
    taught = temperature**2 * divergence(theirs / temperature, mine / temperature).mean()
    text = F.cross_entropy(mine, labels[counted])
    return {"loss": taught + alpha * text, "loss/teacher": taught, "loss/text": text}


def divergence(teacher: Tensor, student: Tensor) -> Tensor:
    """KL(teacher || student) in nats at each position, summed over the vocabulary: logits (..., vocab) -> (...)."""
    log_p, log_q = F.log_softmax(teacher, -1), F.log_softmax(student, -1)
    return (log_p.exp() * (log_p - log_q)).sum(-1)
