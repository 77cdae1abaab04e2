"""How far a step goes: the gradient clipped by its norm, and learning rates as functions of the step.

    g <- n_max g / |g|    when |g| > n_max,         |g| over all parameters together

Source: Pascanu, Mikolov & Bengio (2013, "On the difficulty of training recurrent neural networks", algorithm 1).
Departs from the paper: nothing.

`fit` calls a schedule with 1 before the first update. Bind the other arguments with functools.partial:

    fit(..., learning_rate=1.0, schedule=partial(noam_schedule, d_model=128, warmup=400))
    fit(..., learning_rate=3e-4, schedule=partial(cosine_schedule, total=2_000, warmup=100))

**Muon**: the step of a matrix has singular values near 1, whatever those of its gradient are.

    M <- β M + G,    W <- W − η √max(1, rows / columns) · O(G + β M)              Jordan et al. (2024, "Muon")

O is the nearest matrix with orthogonal rows or columns, U Vᵀ for a matrix U S Vᵀ, here by five Newton–Schulz steps:

    X <- X / |X|,   then five times   X <- a X + (b A + c A²) X,   A = X Xᵀ,   a, b, c = 3.4445, −4.7750, 2.0315

These coefficients lift small singular values quickly and leave all that are not tiny between about 0.7 and 1.2. Muon is
for the matrices between layers. Embeddings, the output matrix, norms and biases get AdamW's step; `torch.optim.Muon`
has none for these. Departs from the paper: X is not rounded to bfloat16.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Float
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

    Source: Vaswani et al. (2017, section 5.3). Departs from the paper: step 0 gives 0.
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


A, B, C, STEPS = 3.4445, -4.7750, 2.0315, 5


@checked
def orthogonalised(G: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
    """About U Vᵀ for G = U S Vᵀ; zeros for a matrix of zeros."""
    wide = G.shape[0] <= G.shape[1]
    X = G if wide else G.mT  # A = X Xᵀ is the smaller of the two products
    X = X / (X.norm() + 1e-7)  # Frobenius: no singular value is above 1
    for _ in range(STEPS):
        gram = X @ X.mT
        X = A * X + (B * gram + C * gram @ gram) @ X
    return X if wide else X.mT


class Muon(torch.optim.Optimizer):
    """Muon's step with the rate lr for `matrices`, AdamW's with the rate `rest_lr` for `rest`, which may be empty.

    direction: O, from a matrix to the direction of its step.

    Raises ValueError for a parameter in `matrices` that is not a matrix.
    """

    @checked
    def __init__(
        self,
        matrices: Iterable[nn.Parameter],
        rest: Iterable[nn.Parameter],
        lr: Amount = 0.02,
        rest_lr: Amount = 3e-3,
        weight_decay: Amount = 0.0,
        momentum: float = 0.95,
        betas: tuple[float, float] = (0.9, 0.999),
        direction: Callable[[Tensor], Tensor] = orthogonalised,
    ) -> None:
        matrices, rest = list(matrices), list(rest)
        for weight in matrices:
            if weight.ndim != 2:
                raise ValueError(
                    f"matrices must have two dimensions, got shape {tuple(weight.shape)}: put it into rest"
                )
        groups = [
            {"params": matrices, "lr": lr, "matrices": True},
            {"params": rest, "lr": rest_lr, "matrices": False},
        ]
        self.direction = direction
        defaults = {"weight_decay": weight_decay, "momentum": momentum, "betas": betas}
        super().__init__([group for group in groups if group["params"]], defaults)

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    step = self._muon if group["matrices"] else self._adam
                    change = step(weight.grad, self.state[weight], group)
                    weight.mul_(1 - group["lr"] * group["weight_decay"]).sub_(group["lr"] * change)

    def _muon(self, g: Tensor, memory: dict[str, Any], group: dict[str, Any]) -> Tensor:
        beta, (rows, columns) = group["momentum"], g.shape
        m = memory["m"] = beta * memory["m"] + g if "m" in memory else g.clone()
        return max(1.0, rows / columns) ** 0.5 * self.direction(g + beta * m)  # Nesterov's momentum

    @staticmethod
    def _adam(g: Tensor, memory: dict[str, Any], group: dict[str, Any]) -> Tensor:
        beta1, beta2 = group["betas"]
        t = memory["t"] = memory.get("t", 0) + 1
        m = memory["m"] = (1 - beta1) * g + beta1 * memory.get("m", 0.0)
        v = memory["v"] = (1 - beta2) * g**2 + beta2 * memory.get("v", 0.0)
        return (m / (1 - beta1**t)) / ((v / (1 - beta2**t)).sqrt() + 1e-8)
