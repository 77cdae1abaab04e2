"""How far a step goes: the gradient clipped by its norm, and learning rates as functions of the step.

    g <- n_max g / |g|    when |g| > n_max,         |g| over all parameters together

Source: Pascanu, Mikolov & Bengio (2013, "On the difficulty of training recurrent neural networks", algorithm 1).
Departs from the paper: nothing.

`fit` calls a schedule with 1 before the first update. Bind the other arguments with functools.partial:

    fit(..., learning_rate=1.0, schedule=partial(noam_schedule, d_model=128, warmup=400))
    fit(..., learning_rate=3e-4, schedule=partial(cosine_schedule, total=2_000, warmup=100))
"""

import math
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from nlmcore.checks import Amount, Count, Probability, Size, checked


@checked
def clip_gradients(parameters: Iterable[Tensor], max_norm: float | int) -> float:
    """Scale all gradients in place so that their common norm is at most `max_norm`; return the unclipped norm.

    Parameters without a gradient are left out. A norm that is not finite is returned, and nothing is scaled.
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]  # a tensor is iterable, but not what is meant
    if not max_norm > 0:
        raise ValueError(f"max_norm must be greater than 0, got {max_norm}")
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return 0.0
    norm = float(torch.nn.utils.get_total_norm(gradients))
    # One factor for all parameters: the direction of the step stays, only its length changes.
    if math.isfinite(norm) and norm > max_norm:
        torch._foreach_mul_(gradients, max_norm / norm)  # all in one call: many small tensors
    return norm


@checked
def decay_groups(model: nn.Module, weight_decay: Amount) -> list[dict[str, Any]]:
    """Groups for an optimiser: weights that multiply decay by λ = `weight_decay`, all others by 0.

    Spared are vectors (norms and biases) and tables, whose rows are looked up: `nn.Embedding`, and modules with
    `is_table`, like learned positions. A matrix that is also a table (tied embeddings) is spared. An empty group is
    left out. Source: Radford et al. (2018), section 4.1, "on all non bias or gain weights"; nanoGPT decays tables too.
    """
    tables = (m for m in model.modules() if isinstance(m, nn.Embedding) or getattr(m, "is_table", False))
    spared = {id(parameter) for module in tables for parameter in module.parameters(recurse=False)}
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    decayed = [parameter for parameter in trained if parameter.ndim > 1 and id(parameter) not in spared]
    chosen = {id(parameter) for parameter in decayed}
    rest = [parameter for parameter in trained if id(parameter) not in chosen]
    groups: list[dict[str, Any]] = [
        {"params": decayed, "weight_decay": weight_decay},
        {"params": rest, "weight_decay": 0.0},
    ]
    return [group for group in groups if group["params"]]


@checked
def noam_schedule(step: Count, d_model: Size, warmup: Size = 4_000) -> float:
    """d_model^-0.5 * min(step^-0.5, step * warmup^-1.5): a learning rate that rises for `warmup` steps, then falls.

    Source: Vaswani et al. (2017, section 5.3). At step = warmup both branches meet in (d_model * warmup)^-0.5.
    Departs from the paper: step 0 gives 0.
    """
    return 0.0 if step == 0 else d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@checked
def cosine_schedule(step: Count, total: Count, warmup: Count = 0, floor: Probability = 0.0) -> float:
    """A factor of the learning rate: 0 to 1 linearly in `warmup` steps, then half a cosine down to `floor` at `total`.

    floor + (1 - floor) * (1 + cos(pi * (step - warmup) / (total - warmup))) / 2, and `floor` after `total`.
    Source: Loshchilov & Hutter (2017, equation 5) without restarts; warm-up as in Goyal et al. (2017).
    """
    if warmup >= total:
        raise ValueError(f"warmup must be less than total, got warmup={warmup} and total={total}")
    if step < warmup:
        return step / warmup
    done = min(1.0, (step - warmup) / (total - warmup))  # the fraction of the way down
    return floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2  # equation 5: from 1 down to floor
