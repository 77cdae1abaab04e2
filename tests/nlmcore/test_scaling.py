"""Scaling laws: known constants are found again, intervals hold what they claim, a published exercise."""

import math

import pytest
import torch
from torch import Tensor

from nlmcore.scaling import FLOOR, HOFFMANN, KAPLAN, POWER, PUBLISHED, REFITTED, Law, fit_law, objective

KAPLANS = Law(A=8.8e13 ** (0.076 / 0.095), alpha=0.076 / 0.095, B=5.4e13, kappa=0.095)
FORMS = {
    POWER: Law(A=8.8e13**0.076, alpha=0.076),
    FLOOR: Law(E=1.69, A=406.4, alpha=0.34),
    HOFFMANN: PUBLISHED,
    KAPLAN: KAPLANS,
}


pytestmark = pytest.mark.usefixtures("unchecked")


def drawn(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def simulated(
    law: Law, form: tuple[str, ...], noise: float, seed: int, n: int = 40
) -> tuple[Tensor, Tensor, Tensor | None]:
    """(losses, N, D) of runs over two orders of magnitude in both."""
    generator = drawn(seed)
    N, D = torch.rand(2, n, generator=generator, dtype=torch.float64) * 5
    N, D = (N + 17).exp(), (D + 20).exp()
    losses = law.loss(N, D) * (noise * torch.randn(n, generator=generator, dtype=torch.float64)).exp()
    return losses, N, D if "B" in form else None


@pytest.mark.parametrize(("form", "law"), FORMS.items())
def test_constants_are_found_exactly_without_noise(form: tuple[str, ...], law: Law) -> None:
    found = fit_law(*simulated(law, form, 0.0, 1), form, samples=1).law
    for name in Law.__dataclass_fields__:
        assert getattr(found, name) == pytest.approx(getattr(law, name), rel=2e-3), name


def test_the_four_laws_are_those_of_the_papers() -> None:
    N, D = 3e8, 7e9
    assert FORMS[POWER].loss(N) == pytest.approx((8.8e13 / N) ** 0.076)
    assert PUBLISHED.loss(N, D) == pytest.approx(1.69 + 406.4 / N**0.34 + 410.7 / D**0.28)
    kaplan = ((8.8e13 / N) ** (0.076 / 0.095) + 5.4e13 / D) ** 0.095
    assert KAPLANS.loss(N, D) == pytest.approx(kaplan)
    assert torch.equal(
        PUBLISHED.loss(torch.tensor([N, 1e9])), torch.stack([torch.tensor(PUBLISHED.loss(n)) for n in (N, 1e9)])
    )


@pytest.mark.parametrize("law", [PUBLISHED, REFITTED, KAPLANS])
def test_the_frontier_has_the_lowest_loss_at_its_compute(law: Law) -> None:
    compute = 5.76e23
    N, D = law.frontier(compute)
    assert pytest.approx(compute) == 6 * N * D
    for factor in (0.99, 1.01):
        assert law.loss(N * factor, D / factor) > law.loss(N, D)
    more = law.frontier(10 * compute)[0]
    assert math.log10(more / N) == pytest.approx(law.beta / (law.alpha + law.beta)), "N* grows as C^a"


def test_what_the_constants_say_at_gophers_compute() -> None:
    """The paper itself asks for 20 tokens per parameter: its published constants do not."""
    for law, parameters, ratio, exponent in ((PUBLISHED, 32e9, 93, 0.452), (REFITTED, 72e9, 18, 0.513)):
        N, D = law.frontier(5.76e23)
        assert pytest.approx(parameters, rel=0.02) == N
        assert round(D / N) == pytest.approx(ratio, abs=0.5)
        assert law.beta / (law.alpha + law.beta) == pytest.approx(exponent, abs=5e-4)


def test_the_objective_is_the_sum_of_hubers() -> None:
    losses, N, D = simulated(PUBLISHED, HOFFMANN, 0.01, 3, 7)
    assert D is not None
    y, n, d = losses.log(), N.log(), D.log()
    theta = torch.tensor([[0.4, 5.5, 0.3, 6.2, 0.25], [0.6, 6.0, 0.35, 5.9, 0.3]], dtype=torch.float64)
    counts = torch.tensor([[1, 0, 2, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1]], dtype=torch.float64)
    for delta in (1e-3, 0.05):
        got = objective(theta, HOFFMANN, torch.stack([y, n, d]), counts, delta)
        for row, (e, a, alpha, b, beta) in enumerate(theta.tolist()):
            total = 0.0
            for i in range(7):
                r = abs(math.log(math.exp(e) + math.exp(a - alpha * n[i]) + math.exp(b - beta * d[i])) - float(y[i]))
                total += float(counts[row, i]) * (r * r / 2 if r <= delta else delta * (r - delta / 2))
            assert float(got[row]) == pytest.approx(total / delta)


def test_a_power_law_fitted_by_squares_is_the_regression_line() -> None:
    losses, N, _ = simulated(FORMS[POWER], POWER, 0.02, 8, 12)
    law = fit_law(losses, N, form=POWER, samples=1, delta=10.0).law
    x, y = N.log(), losses.log()
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    assert law.alpha == pytest.approx(-slope, rel=1e-5)
    assert math.log(law.A) == pytest.approx(float(y.mean() - slope * x.mean()), rel=1e-5)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """24 simulated experiments of 16 runs. Of 24 true intervals of 95 %, fewer than 19 hold once in 1,000 times."""
    law, held, predicted = FORMS[POWER], 0, 0
    for seed in range(24):
        losses, N, _ = simulated(law, POWER, 0.02, seed, 17)
        fit = fit_law(losses[1:], N[1:], form=POWER, samples=60, delta=0.1, generator=drawn(seed))
        low, estimate, high = fit.interval(lambda law: law.alpha)
        assert low < estimate < high
        held += low <= 0.076 <= high
        low, _, high = fit.predict(float(N[0]))
        predicted += low <= losses[0] <= high
    assert held >= 19
    assert predicted >= 19


def test_same_generator_same_fit_and_wider_coverage_wider_interval() -> None:
    runs = simulated(PUBLISHED, HOFFMANN, 0.005, 2)
    one, two = (fit_law(*runs, samples=20, delta=0.1, generator=drawn(4)) for _ in range(2))
    assert one.law == two.law
    assert torch.equal(one.laws.alpha, two.laws.alpha)
    wide, narrow = (one.interval(lambda law: law.frontier(1e21)[0], coverage) for coverage in (0.9, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < narrow[2] < wide[2]
    low, estimate, high = one.predict(1e10, 1e12)
    assert low < estimate == one.law.loss(1e10, 1e12) < high


def test_errors() -> None:
    losses, N, D = simulated(PUBLISHED, HOFFMANN, 0.0, 1, 8)
    with pytest.raises(ValueError, match=r"form must name constants of a Law.*got \('E', 'C'\)"):
        fit_law(losses, N, D, ("E", "C"))
    with pytest.raises(ValueError, match="B just where D is given"):
        fit_law(losses, N)
    with pytest.raises(ValueError, match="more runs than the form has constants, 5, got 5"):
        fit_law(losses[:5], N[:5], D[:5])  # type: ignore[index]
    with pytest.raises(ValueError, match="above 0 and finite"):
        fit_law(-losses, N, D)
    with pytest.raises(ValueError, match=r"N must have shape \(run,\) with run = 8"):
        fit_law(losses, N[:3], D)
