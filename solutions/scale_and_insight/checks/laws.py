"""Questions 1a to 1d: a power law, Huber's loss of a law with a floor, its constants, and a bootstrap interval."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.scale_and_insight.checks.common import CLOSED, between, noise, sizes_of_runs

# --- a straight line --------------------------------------------------------------------------------------


def _power(draw: Draw, N: Tensor) -> Tensor:
    return between(draw, 4, 12) * N ** -between(draw, 0.1, 0.4)


def _exact(draw: Draw) -> list[Case]:
    N = sizes_of_runs(draw, draw.integer(4, 6))
    return [case("runs on a line", N, _power(draw, N))]


def _scattered(draw: Draw) -> list[Case]:
    N = sizes_of_runs(draw, draw.integer(4, 6))
    return [case("runs that lie on no line", N, _power(draw, N) * noise(draw, len(N), 0.15))]


def _few(draw: Draw) -> list[Case]:
    N = sizes_of_runs(draw, 2)
    wide = sizes_of_runs(draw, 5).double()
    return [
        case("two runs", N, _power(draw, N)),
        case("float64, a size that occurs twice", torch.cat([wide, wide[:1]]), 1 + draw.normal(6).abs().double()),
    ]


POWER_LAW = question(
    "scale_and_insight.power_law",
    minutes=10,
    difficulty="easy",
    returns=("A", "alpha"),
    properties=[
        values("the exponent of runs on a line", 0.5, _exact, "alpha"),
        values("the constant of runs on a line", 0.5, _exact, "A"),
        values("runs that lie on no line", 0.5, _scattered),
        values("two runs, float64", 0.5, _few),
    ],
    closed=CLOSED,
    mistakes="""
sign-of-the-exponent: Your exponent has the wrong sign. The law is A · N to the power *minus* α, so a falling loss has
a positive α.
- , -slope → , slope

constant-in-logarithms: Your exponent is right, but you return the logarithm of A. Take the exponential.
- math.exp(float(y.mean()) - slope * float(x.mean())) → float(y.mean()) - slope * float(x.mean())

loss-not-logarithmic: You fit a line to the loss itself. A power law is a straight line if *both* axes are logarithmic.
- losses.double().log() → losses.double()

size-not-logarithmic: You fit a line over N itself, which is an exponential law. Take the logarithm of the sizes too.
- N.double().log() → N.double()

base-ten: You mixed two kinds of logarithms: the line is in log10, and the constant is taken back with e.
- x, y = N.double().log(), losses.double().log() → x, y = N.double().log10(), losses.double().log10()

through-two-runs: Your line goes through the smallest and the largest size only. All runs should count.
- slope = float((off * (y - y.mean())).sum() / (off**2).sum())
+ i, j = x.argmin(), x.argmax()
+ slope = float((y[j] - y[i]) / (x[j] - x[i]))

constant-at-one-run: Your exponent is right. For the constant you made the line go through one of the runs; it should
go through the means of both coordinates.
- math.exp(float(y.mean()) - slope * float(x.mean())) → math.exp(float(y[0]) - slope * float(x[0]))

sides-swapped: You fit ln N as a line over ln L and turned the slope over. With scattered runs that is another line:
the errors that should be small are those of ln L.
- slope = float((off * (y - y.mean())).sum() / (off**2).sum())
+ slope = float(((y - y.mean()) ** 2).sum() / (off * (y - y.mean())).sum())
""",
)


# --- Huber's loss -----------------------------------------------------------------------------------------


def _law(draw: Draw) -> tuple[float, float, float]:
    """ln E, ln A, α."""
    return between(draw, 0.2, 0.6), between(draw, 1.5, 2.5), between(draw, 0.2, 0.4)


def _losses(theta: tuple[float, float, float], N: Tensor) -> Tensor:
    e, a, alpha = theta
    return (torch.tensor(e).exp() + torch.tensor(a).exp() * N**-alpha).float()


def _small_errors(draw: Draw) -> list[Case]:
    N, theta = sizes_of_runs(draw, draw.integer(3, 5)), _law(draw)
    off = 1 + 0.4 * (draw.normal(len(N)).sign() * (0.3 + draw.normal(len(N)).abs())).clamp(-1, 1)
    return [case("errors below δ", list(theta), N, _losses(theta, N) * off, 2.0)]


def _large_errors(draw: Draw) -> list[Case]:
    N, theta = sizes_of_runs(draw, draw.integer(3, 5)), _law(draw)
    off = (0.4 + 0.5 * draw.normal(len(N)).abs()) * draw.normal(len(N)).sign()
    return [case("errors above δ", list(theta), N, _losses(theta, N) * off.exp(), 0.3)]


def _both_kinds(draw: Draw) -> list[Case]:
    N, theta = sizes_of_runs(draw, 5), _law(draw)
    off = torch.tensor([0.05, -0.1, 0.5, -0.8, 0.2])
    return [case("errors on both sides of δ", list(theta), N, _losses(theta, N) * off.exp(), 0.25)]


def _huge(draw: Draw) -> list[Case]:
    N = sizes_of_runs(draw, 4).double()
    x = N.log()
    level = 800.0 + draw.integer(0, 50)
    alpha = (level - 0.5) / float(x.mean())
    losses = (1.5 + (level - alpha * x).exp()) * noise(draw, 4, 0.1)
    return [case("ln A of 800 and more", [between(draw, 0.2, 0.6), level, alpha], N, losses, 0.2)]


def _one_run(draw: Draw) -> list[Case]:
    N, theta = sizes_of_runs(draw, 1), _law(draw)
    several = sizes_of_runs(draw, 3)
    return [
        case("one run", list(theta), N, _losses(theta, N) * 1.2, 0.1),
        case("E almost 0", [-60.0, theta[1], theta[2]], several, _losses(theta, several), 0.1),
    ]


ROBUST_ERROR = question(
    "scale_and_insight.robust_error",
    minutes=15,
    difficulty="medium",
    returns=("error",),
    properties=[
        values("errors below δ", 0.75, _small_errors),
        values("errors above δ", 0.75, _large_errors),
        values("both together", 0.5, _both_kinds),
        values("huge constants", 0.5, _huge),
        values("one run, E almost 0", 0.5, _one_run),
    ],
    closed=CLOSED,
    mistakes="""
only-squares: You count the squares of large errors too. Beyond δ an error counts on a straight line.
- e**2 / 2 if e <= delta else delta * (e - delta / 2) → e**2 / 2

half-forgotten: Your small errors count their squares. They should count half of them, as in the example.
- e**2 / 2 if → e**2 if

jump-at-delta: At δ your count jumps: the line has the right slope, but it does not begin where the parabola ends.
- delta * (e - delta / 2) → delta * e

kink-at-delta: At δ your count has a kink: the line begins where the parabola ends, but its slope is not δ.
- delta * (e - delta / 2) → e - delta + delta**2 / 2
or
- delta * (e - delta / 2) → delta**2 / 2 + delta * (e - delta) / 2

sign-kept: A negative error has to count like a positive one. You compare it with δ, or count it, with its sign.
- abs(law - math.log(loss)) → law - math.log(loss)

mean-for-sum: You return the mean over the runs. The sum is asked for.
- return total → return total / len(N)

loss-not-logarithmic: Your errors are differences of the losses. They should be differences of their logarithms.
- abs(law - math.log(loss)) → abs(math.exp(law) - loss)

theta-not-logarithmic: You took the first two numbers of theta for E and A. They are their logarithms.
- law = high + math.log1p(math.exp(low - high)) → law = math.log(abs(log_e + log_a * math.exp(-alpha * math.log(size))))

floor-forgotten: Your law has no floor: add E to the power law before you take the logarithm.
- law = high + math.log1p(math.exp(low - high)) → law = power

logarithms-added: You added the logarithms of both terms. That is the logarithm of their product; the law adds the
terms themselves.
- law = high + math.log1p(math.exp(low - high)) → law = high + low

overflow: Your error is right for ordinary constants, but e⁸⁰⁰ is more than a float64 holds, so a huge A gives
infinity. Stay in logarithms: the logarithm of a sum follows from the logarithms of its terms.
- law = high + math.log1p(math.exp(low - high))
+ law = float((math.exp(log_e) + torch.tensor(log_a).double().exp() * size**-alpha).log())
""",
)


# --- a law with a floor -----------------------------------------------------------------------------------


def _floor(draw: Draw, N: Tensor) -> Tensor:
    """Reducible losses between half and twice the floor, so that all constants matter."""
    E, alpha = between(draw, 1, 2), between(draw, 0.35, 0.6)
    return E * (1 + between(draw, 0.8, 1.6) * (N / N.min()) ** -alpha)


def _on_a_law(draw: Draw) -> list[Case]:
    N = sizes_of_runs(draw, draw.integer(6, 8)).double()
    return [case("runs that lie on a law", N, _floor(draw, N), 0.01)]


def _one_failed(draw: Draw) -> list[Case]:
    N = sizes_of_runs(draw, 8).double()
    losses = _floor(draw, N) * noise(draw, 8, 0.004)
    losses[N.argsort()[draw.integer(5, 7)]] *= 1.3
    return [case("noise, and a run that failed", N, losses, 0.01)]


def _no_floor(draw: Draw) -> list[Case]:
    """Of small models, and of large ones, where one start far from the solution finds a floor that is not there."""
    N = sizes_of_runs(draw, 6).double()
    large = (10 ** (6 + 4 * torch.arange(7).double() / 6) * noise(draw, 7, 0.1).double()).round()
    return [
        case("a pure power law", N, 8 * N ** -between(draw, 0.15, 0.3), 0.01),
        case("a pure power law of large models", large, 8 * large ** -between(draw, 0.15, 0.3), 0.01),
    ]


FLOOR_LAW = question(
    "scale_and_insight.floor_law",
    minutes=20,
    difficulty="hard",
    returns=("E", "A", "alpha"),
    properties=[
        values("runs that lie on a law", 1.5, _on_a_law, tolerance=5e-3),
        values("noise, and a run that failed", 1, _one_failed, tolerance=5e-3),
        values("a pure power law", 0.5, _no_floor, tolerance=5e-3),
    ],
    closed=CLOSED,
    mistakes="""
logarithms-returned: You return what the search found, and its first two numbers are logarithms. Take the exponential
of both.
- math.exp(log_e), math.exp(log_a), alpha → log_e, log_a, alpha

only-one-exponential: One of E and A is still a logarithm. Both are in theta as logarithms.
- math.exp(log_e), math.exp(log_a), alpha → math.exp(log_e), log_a, alpha
or
- math.exp(log_e), math.exp(log_a), alpha → log_e, math.exp(log_a), alpha

start-returned: You return one of the points where you started. `downhill` returns a lower point: use it.
- theta = downhill(lambda theta: robust_error(theta, N, losses, delta), start) → theta = start

one-start: Your search starts at a single point, and with large models it ends at a law that is not the best. Start
from several points and keep the lowest.
- found = []
+ theta = downhill(lambda theta: robust_error(theta, N, losses, delta), [0.0, 0.0, 0.5])
+ found = [(0.0, theta)]
- found.append((robust_error(theta, N, losses, delta), theta)) → pass

squared-errors: One failed run pulls your whole law up: large errors count as squares. Pass `delta` on.
- theta = downhill(lambda theta: robust_error(theta, N, losses, delta), start)
+ theta = downhill(lambda theta: robust_error(theta, N, losses, 1e3), start)

floor-guessed: Your floor is the lowest loss, or a fixed part of it. Nobody has measured the floor; it is one of the
three constants to search for.
- log_e, log_a, alpha = min(found)[1]
+ E = 0.9 * float(losses.min())
+ _, log_a, alpha = downhill(lambda t: robust_error([math.log(E), t[1], t[2]], N, losses, delta), min(found)[1])
+ log_e = math.log(E)
or
- log_e, log_a, alpha = min(found)[1]
+ A, alpha = power_law(N, losses - 0.98 * losses.min())
+ log_e, log_a = math.log(0.98 * float(losses.min())), math.log(A)

without-a-floor: Your E is 0, so you fitted the law of 1a once more. The law has three constants.
- log_e, log_a, alpha = min(found)[1]
+ A, alpha = power_law(N, losses)
+ log_e, log_a = -1e3, math.log(A)
""",
)


# --- a bootstrap interval ---------------------------------------------------------------------------------


def _picks(draw: Draw, runs: int, repetitions: int) -> Tensor:
    """Indices, in every row at least two different ones."""
    rows = draw.integers(0, runs - 1, repetitions, runs)
    rows[:, 0], rows[:, 1] = 0, draw.integer(1, runs - 1)
    return rows


def _runs(draw: Draw, label: str, beyond: float, repetitions: int = 40) -> Case:
    count = draw.integer(5, 6)
    N = sizes_of_runs(draw, count)
    losses = _power(draw, N) * noise(draw, count, 0.08)
    return case(label, N, losses, round(float(N.max()) * beyond), _picks(draw, count, repetitions))


def _larger(draw: Draw) -> list[Case]:
    return [_runs(draw, "a larger size", 4)]


def _elsewhere(draw: Draw) -> list[Case]:
    N, losses, at, picks = _runs(draw, "", 3).calls[0]
    five = sizes_of_runs(draw, 5)
    return [
        case(EQUAL, five, _power(draw, five) * noise(draw, 5, 0.08), 10**6, _picks(draw, 5, 5)),
        _runs(draw, "far beyond the runs", 1000),
        _runs(draw, "among the runs", 0.1, 30),
        case("float64", N.double(), losses.double(), at, picks),
    ]


FORECAST = question(
    "scale_and_insight.forecast",
    minutes=15,
    difficulty="medium",
    returns=("low", "forecast", "high"),
    properties=[
        values("the forecast", 0.5, _larger, "forecast"),
        values("the interval", 1.5, _larger, "low", "high"),
        values("far away, among the runs, float64", 1, _elsewhere),
    ],
    closed=CLOSED,
    mistakes="""
losses-not-picked: You pick the sizes of a repetition, but not their losses. A run is both: use the same row for both.
- power_law(N[row], losses[row]) → power_law(N[row], losses)

sizes-not-picked: You pick the losses of a repetition, but not their sizes. A run is both: use the same row for both.
- power_law(N[row], losses[row]) → power_law(N, losses[row])

each-run-once: You use each run of a repetition once, although some were picked twice. A run that was picked twice
counts twice.
- for row in picks: → for row in (picked.unique() for picked in picks):

ninety-percent: Your interval leaves out 5 % at each end, so it covers 90 %. For 95 % leave out 2.5 % at each end.
- [0.025, 0.975] → [0.05, 0.95]

smallest-and-largest: Your interval goes from the smallest to the largest prediction. It then grows with the number of
repetitions; take quantiles.
- [0.025, 0.975] → [0.0, 1.0]

normal-interval: You take the mean and 1.96 standard deviations. The predictions are not symmetric; take their
quantiles.
- low, high = torch.tensor(predictions).quantile(torch.tensor([0.025, 0.975])).tolist()
+ found = torch.tensor(predictions)
+ low, high = float(found.mean() - 1.96 * found.std()), float(found.mean() + 1.96 * found.std())

mean-of-repetitions: Your interval is right. The forecast itself is that of all runs, each once, not the mean or the
median of the repetitions.
- low, A * at**-alpha, high → low, float(torch.tensor(predictions).mean()), high
or
- low, A * at**-alpha, high → low, float(torch.tensor(predictions).median()), high

interval-of-the-constants: You take the quantiles of A and of α and predict with them. The two are tied to each other:
predict with each repetition's own pair, then take quantiles of the predictions.
- predictions = [] → found = []
- predictions.append(a * at**-slope) → found.append([a, slope])
- low, high = torch.tensor(predictions).quantile(torch.tensor([0.025, 0.975])).tolist()
+ ends = torch.tensor(found, dtype=torch.float64).quantile(torch.tensor([0.025, 0.975]).double(), dim=0)
+ low, high = float(ends[0, 0] * at ** -ends[1, 1]), float(ends[1, 0] * at ** -ends[0, 1])

at-the-largest-run: You predict at the largest size of the runs. The size to predict is `at`.
- alpha = power_law(N, losses) → alpha = power_law(N, losses); at = float(N.max())
""",
)
