"""Muon: the step of a matrix has singular values near 1, whatever those of its gradient are.

    M <- β M + G,    W <- W − η √max(1, rows / columns) · O(G + β M)              Jordan et al. (2024, "Muon")

O is the nearest matrix with orthogonal rows or columns, U Vᵀ for a matrix U S Vᵀ, here by five Newton–Schulz steps:

    X <- X / |X|,   then five times   X <- a X + (b A + c A²) X,   A = X Xᵀ,   a, b, c = 3.4445, −4.7750, 2.0315

These coefficients lift small singular values quickly and leave all that are not tiny between about 0.7 and 1.2.

Muon is for the matrices between layers. Embeddings, the output matrix, norms and biases get AdamW's step. PyTorch has
`torch.optim.Muon` for the matrices alone; this one takes both kinds of parameters, as `fit` needs.

Departs from the paper: X is not rounded to bfloat16.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Amount, checked

__all__ = ["Muon", "orthogonalised"]

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
