"""Clipping the gradient by its norm: a step that is too long keeps its direction and loses its length.

    g <- n_max g / |g|    when |g| > n_max,         |g| over all parameters together

Source: Pascanu, Mikolov & Bengio (2013, "On the difficulty of training recurrent neural networks", algorithm 1).
Departs from the paper: nothing.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor


def clip_gradients(parameters: Iterable[Tensor], max_norm: float | int) -> float:
    """Scale all gradients in place so that their common norm is at most `max_norm`; return the norm before.

    Parameters without a gradient are left out. A norm that is not finite is returned, and nothing is scaled.
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    if isinstance(max_norm, bool) or not isinstance(max_norm, int | float):
        raise TypeError(f"max_norm must be a number, got {max_norm!r}")
    if not max_norm > 0:
        raise ValueError(f"max_norm must be greater than 0, got {max_norm}")
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return 0.0
    norm = float(torch.nn.utils.get_total_norm(gradients))
    if math.isfinite(norm) and norm > max_norm:
        torch._foreach_mul_(gradients, max_norm / norm)
    return norm
