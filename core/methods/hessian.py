"""The inverse Hessian of a layer's squared output error, as the methods that make up for their own errors need it.

Frantar & Alistarh, 'Optimal Brain Compression' (2022), and Frantar et al., 'GPTQ' (2023), section 3: the rows of the upper Cholesky
factor of the inverse say how an error in one column is best taken up by those after it. Covers damping, inputs that are always 0,
and the order of the columns; what's done with the columns is gptq's and sparsegpt's.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from core.errors import UserError


@dataclass(frozen=True)
class Factor:
    """What GPTQ needs of the Hessian of a layer's inputs."""

    order: Tensor  # (in,): columns in the order in which they're rounded
    upper: Tensor  # (in, in): Cholesky factor U of the inverse, in that order: H^-1 = U^T U
    dead: Tensor  # (in,) bool, in the weight's own order: inputs that are always 0


def factorise(hessian: Tensor, damping: float, act_order: bool = True) -> Factor:
    """The Factor of a Hessian (in, in), damped by `damping` times its mean diagonal, more where that doesn't make it definite.

    Leaves `hessian` as it is, and needs two more of its size at most.
    """
    diagonal = hessian.diagonal().clone()
    dead = diagonal == 0
    diagonal[dead] = 1
    order = diagonal.argsort(descending=True, stable=True) if act_order else torch.arange(len(hessian), device=hessian.device)
    mean = diagonal.mean()
    for more in (1, 10, 100, 1000):
        work = hessian[order[:, None], order]
        work.diagonal().copy_((diagonal + more * damping * mean)[order])
        lower, failed = torch.linalg.cholesky_ex(work)
        del work
        if failed:
            continue
        inverse = torch.cholesky_inverse(lower)
        del lower
        upper, failed = torch.linalg.cholesky_ex(inverse, upper=True)
        del inverse
        if not failed and torch.isfinite(upper).all():
            return Factor(order, upper, dead)
    raise UserError(
        "The inputs of a layer don't make a Hessian that can be inverted.",
        hint="Raise the damping, or calibrate on another or a longer text.",
        kind="data",
    )
