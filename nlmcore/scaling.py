"""Scaling laws: the loss of a model that nobody has trained yet, from the losses of smaller ones.

    L(N, D) = (E + A / N^α + B / D^β)^κ         N parameters, D tokens of training text

    (N_c / N)^α                                 E = B = 0, κ = 1: Kaplan et al. (2020), equation 1.1, N_c = A^{1/α}
    E + A / N^α                                 B = 0, κ = 1: with an irreducible loss E
    E + A / N^α + B / D^β                       κ = 1: Hoffmann et al. (2022), section 3.3, their third approach
    [(N_c/N)^{α_N/α_D} + D_c/D]^{α_D}           E = 0, β = 1: Kaplan et al. (2020), equation 1.5, α = α_N/α_D, κ = α_D

Training costs C ≈ 6 N D operations. The loss is lowest for a given C at the **frontier** (Hoffmann, equation 4)

    N* = G (C/6)^a,   D* = (C/6)^b / G,   G = (αA / βB)^{1/(α+β)},   a = β/(α+β),   b = α/(α+β)

The constants minimise Σ_i Huber_δ(ln L(N_i, D_i) − ln L_i), where ln L is κ times a log-sum-exp of ln E, ln A − α ln N
and ln B − β ln D. Intervals are those of the bootstrap (Efron 1979).

Departs from the papers: Hoffmann et al. start L-BFGS at each of 4,500 points; we start at the best few points of a
grid, and a bootstrap sample at the constants of all runs. We sum over runs and measure N and D
from their geometric means (Besiroglu et al. 2024 say why).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from nlmcore.checks import Positive, Probability, Size, checked

__all__ = ["HOFFMANN", "KAPLAN", "PUBLISHED", "REFITTED", "Fit", "Law", "fit_law", "objective"]

Number = Any  # a number, or a tensor of them: everything here works element by element

POWER, FLOOR = ("A", "alpha"), ("E", "A", "alpha")
HOFFMANN = ("E", "A", "alpha", "B", "beta")
KAPLAN = ("A", "alpha", "B", "kappa")
"""Forms: the constants that `fit_law` looks for. The others keep the values that `Law` gives them."""


@dataclass(frozen=True)
class Law:
    """L(N, D) = (E + A / N^α + B / D^β)^κ; a field may hold a tensor, for many laws at a time."""

    E: Number = 0.0
    A: Number = 0.0
    alpha: Number = 1.0
    B: Number = 0.0
    beta: Number = 1.0
    kappa: Number = 1.0

    def loss(self, N: Number, D: Number = 1.0) -> Number:
        """In nats per token. A law without B does not depend on D."""
        return (self.E + self.A / N**self.alpha + self.B / D**self.beta) ** self.kappa

    def frontier(self, compute: Number) -> tuple[Number, Number]:
        """(N*, D*), the parameters and tokens with the lowest loss for `compute` operations. Needs A and B above 0."""
        balance = (self.alpha * self.A / (self.beta * self.B)) ** (1 / (self.alpha + self.beta))
        parameters = balance * (compute / 6) ** (self.beta / (self.alpha + self.beta))
        return parameters, compute / 6 / parameters


PUBLISHED = Law(E=1.69, A=406.4, alpha=0.34, B=410.7, beta=0.28)  # Hoffmann et al. (2022)
REFITTED = Law(E=1.8172, A=482.01, alpha=0.3478, B=2085.43, beta=0.3658)  # Besiroglu et al. (2024), to their figure


@dataclass(frozen=True, eq=False)
class Fit:
    """What `fit_law` found."""

    law: Law
    laws: Law  # of the bootstrap samples: each fitted constant is a tensor (sample,)
    residuals: Float[Tensor, " run"]  # ln L_i - ln L(N_i, D_i), widened by √(runs / (runs - constants))

    @checked
    def interval(self, quantity: Callable[[Law], Number], coverage: Probability = 0.95) -> tuple[float, float, float]:
        """(low, estimate, high) of anything that follows from the constants, say `lambda law: law.frontier(1e21)[0]`:
        percentiles of the bootstrap samples. They show the noise of the runs, not whether the form is wrong."""
        ends = torch.tensor([(1 - coverage) / 2, (1 + coverage) / 2], dtype=torch.float64)
        low, high = torch.as_tensor(quantity(self.laws), dtype=torch.float64).flatten().quantile(ends).tolist()
        return low, float(quantity(self.law)), high

    def predict(self, N: float, D: float = 1.0, coverage: float = 0.95) -> tuple[float, float, float]:
        """(low, estimate, high) of the loss of one more run: uncertain constants, and the run's own noise."""
        e = self.residuals.exp()
        return self.interval(lambda law: law.loss(N, D)[:, None] * e if law is self.laws else law.loss(N, D), coverage)


@checked
def fit_law(
    losses: Float[Tensor, " run"],
    N: Float[Tensor, " run"],
    D: Float[Tensor, " run"] | None = None,
    form: tuple[str, ...] = HOFFMANN,
    samples: Size = 200,
    delta: Positive = 1e-3,
    generator: torch.Generator | None = None,
) -> Fit:
    """Fit a form to runs of N parameters and D tokens each (None: they do not differ in D).

    delta: larger errors of ln L than this count by their size, smaller ones by their square (Hoffmann et al.: 1e-3).
    Raises ValueError for a form that has B without D, fewer runs than constants, or anything that is not above 0.
    """
    if not {"A", "alpha"} <= set(form) <= Law.__dataclass_fields__.keys() or ("B" in form) != (D is not None):
        raise ValueError(
            f"form must name constants of a Law, A and alpha at least, and B just where D is given, got {form}"
        )
    if len(losses) <= len(form):
        raise ValueError(f"losses must be of more runs than the form has constants, {len(form)}, got {len(losses)}")
    D = torch.ones_like(N) if D is None else D
    if not all((x > 0).all() and x.isfinite().all() for x in (losses, N, D)):
        raise ValueError("losses, N and D must be above 0 and finite")
    y, n, d = (x.double().log() for x in (losses, N, D))
    runs, once = torch.stack([y, n - n.mean(), d - d.mean()]), torch.ones(1, len(y), dtype=torch.float64)

    best = _grid(form, float(y.mean()))
    for k in (8, 1):  # the best of the grid, then the best of these once more
        best = best[objective(best, form, runs, once, delta).topk(k, largest=False).indices]
        best = _minimise(best, form, runs, once, delta)
    drawn = torch.randint(len(y), (samples, len(y)), generator=generator)
    counts = once.new_zeros(samples, len(y)).scatter_add(1, drawn, once.expand(samples, -1))
    theta = torch.cat([best, _minimise(best.repeat(samples, 1), form, runs, counts, delta)])

    found = dict(zip(form, theta.unbind(1), strict=True))
    kappa = found.get("kappa", torch.zeros(())).exp()
    found = {name: kappa if name == "kappa" else x / kappa for name, x in found.items()}
    means: dict[str, Any] = {"E": 0.0, "A": found["alpha"] * n.mean(), "B": found.get("beta", 1.0) * d.mean()}
    found |= {name: (found[name] + means[name]).exp() for name in means.keys() & found}
    law, laws = Law(**{k: float(x[0]) for k, x in found.items()}), Law(**{k: x[1:] for k, x in found.items()})
    return Fit(law, laws, (y - law.loss(n.exp(), d.exp()).log()) * math.sqrt(len(y) / (len(y) - len(form))))


def objective(
    theta: Tensor, form: tuple[str, ...], runs: Tensor, counts: Tensor, delta: float
) -> Float[Tensor, " row"]:
    """Σ_i count_i Huber_δ(κ logsumexp((E, A − α n_i, B − β d_i) / κ) − y_i) / δ, of each row of theta (row, constant).

    theta holds ln κ, and κ times each of ln E, ln A, ln B, α and β: so each of them moves the loss itself.
    runs (3, run) are y = ln L, and n = ln N and d = ln D less their means.
    """
    constant = {name: x[:, None] for name, x in zip(form, theta.unbind(1), strict=True)}
    E, A, B = (constant.get(name, theta.new_tensor(-1e6)) for name in "EAB")  # absent: e^-1e6 = 0
    kappa = constant.get("kappa", theta.new_tensor(0.0)).exp()
    y, n, d = runs
    terms = torch.broadcast_tensors(E, A - constant["alpha"] * n, B - constant.get("beta", kappa) * d)
    errors = kappa * (torch.stack(terms) / kappa).logsumexp(dim=0) - y
    return (counts * F.huber_loss(errors, torch.zeros_like(errors), reduction="none", delta=delta)).sum(dim=1) / delta


def _grid(form: tuple[str, ...], level: float) -> Float[Tensor, "row constant"]:
    """Points to start at: every term a part of the mean loss, every exponent of a usual size."""
    found: list[tuple[float, ...]] = []
    for kappa in (0.05, 0.1, 0.2, 0.5) if "kappa" in form else (1.0,):
        terms = [level + kappa * math.log(part) for part in (0.1, 0.3, 0.6)]
        exponents = [kappa * exponent for exponent in (0.1, 0.3, 0.6, 1.0)]
        found += product(
            *(terms if name in "EAB" else [math.log(kappa)] if name == "kappa" else exponents for name in form)
        )
    return torch.tensor(found, dtype=torch.float64)


def _minimise(theta: Tensor, *arguments: Any) -> Tensor:
    """Every row of theta at the minimum of its own objective: one L-BFGS for their sum, since they share nothing."""
    theta = theta.clone().requires_grad_()
    limits = {"max_iter": 500, "tolerance_grad": 1e-9, "tolerance_change": 1e-12, "history_size": 50}
    optimizer = torch.optim.LBFGS([theta], line_search_fn="strong_wolfe", **limits)  # type: ignore[arg-type]

    def closure() -> Tensor:
        optimizer.zero_grad()
        total = objective(theta, *arguments).sum()
        total.backward()
        return total

    optimizer.step(closure)  # type: ignore[arg-type]
    return theta.detach()
