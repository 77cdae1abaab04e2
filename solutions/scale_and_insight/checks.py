"""Assignment "scale_and_insight": laws of scale with intervals, a budget, a mirage, and three instruments for a model.

The functions differ in form from `nlmcore.scaling` and `nlmcore.inspect`: laws are numbers, and a model is a dictionary
of tensors whose layers stop where somebody wants to look.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, inputs_too, question, values
from autograder.question.draw import Draw
from autograder.question.kinds import DIGITS, EQUAL
from autograder.question.sized import at, these
from autograder.question.special import at_points, experiment, formula, on_the_page, wrong_line
from autograder.question.specification import Case, case

CLOSED = ("nlmcore.scaling", "nlmcore.inspect")
"""Closed in every question: laws that are fitted already, and instruments that look already."""
ask = functools.partial(question, closed=CLOSED)

Given = tuple[Any, ...]
Range = tuple[float, float]


def between(draw: Draw, low: float, high: float) -> float:
    return round(low + (high - low) * draw.integer(0, 1000) / 1000, 4)


# --- 1. a power law, Huber's loss of a law with a floor, its constants, and a bootstrap interval ---------------


def sizes_of_runs(draw: Draw, count: int) -> Tensor:
    """Different sizes of models, not sorted and not at equal distances."""
    grown = torch.arange(count) + 0.3 * draw.normal(count).clamp(-1, 1)
    shuffled = draw.normal(count).argsort()
    return (1000 * 2.5**grown).round()[shuffled]


def noise(draw: Draw, count: int, size: float) -> Tensor:
    return (size * draw.normal(count)).exp()


def power(draw: Draw, N: Tensor) -> Tensor:
    return between(draw, 4, 12) * N ** -between(draw, 0.1, 0.4)


def runs(draw: Draw, count: int = 0, spread: float = 0.0) -> tuple[Tensor, Tensor]:
    N = sizes_of_runs(draw, count or draw.integer(4, 6))
    return N, power(draw, N) * noise(draw, len(N), spread)


def twice(draw: Draw) -> tuple[Tensor, Tensor]:
    N = sizes_of_runs(draw, 5).double()
    return torch.cat([N, N[:1]]), 1 + draw.normal(6).abs().double()


FEW_RUNS = these(at("two runs", count=2), at("float64, a size that occurs twice", twice))
POWER_LAW = ask(
    "scale_and_insight.power_law",
    returns=("A", "alpha"),
    inputs=at("runs on a line", runs),
    properties=[
        values("the exponent of runs on a line", 0.5, "alpha"),
        values("the constant of runs on a line", 0.5, "A"),
        values("runs that lie on no line", 0.5, at(spread=0.15)),
        values("two runs, float64", 0.5, FEW_RUNS),
    ],
    mistakes="""
sign-of-the-exponent: Your exponent has the wrong sign. The law is A · N to the power *minus* α, so a falling loss has a
positive α.
- , -slope → , slope
constant-in-logarithms: Your exponent is right, but you return the logarithm of A. Take the exponential.
- math.exp(float(y.mean()) - slope * float(x.mean())) → float(y.mean()) - slope * float(x.mean())
loss-not-logarithmic: You fit a line to the loss itself. A power law is a straight line if *both* axes are logarithmic.
- losses.double().log() → losses.double()
size-not-logarithmic: You fit a line over N itself, which is an exponential law. Take the logarithm of the sizes too.
- N.double().log() → N.double()
base-ten: You mixed two kinds of logarithms: the line is in log10, and the constant is taken back with e.
- x, y = N.double().log(), losses.double().log() → x, y = N.double().log10(), losses.double().log10()
through-two-runs: Your line has the slope between two of the runs only. All runs should count.
- slope = float((off * (y - y.mean())).sum() / (off**2).sum())
+ i, j = x.argmin(), x.argmax()
+ slope = float((y[j] - y[i]) / (x[j] - x[i]))
or
- slope = float((off * (y - y.mean())).sum() / (off**2).sum())
+ slope = float((y[-1] - y[0]) / (x[-1] - x[0]))
constant-at-one-run: Your exponent is right. For the constant you made the line go through one of the runs; it should go
through the means of both coordinates.
- math.exp(float(y.mean()) - slope * float(x.mean())) → math.exp(float(y[0]) - slope * float(x[0]))
sides-swapped: You fit ln N as a line over ln L and turned the slope over. With scattered runs that is another line: the
errors that should be small are those of ln L.
- slope = float((off * (y - y.mean())).sum() / (off**2).sum())
+ slope = float(((y - y.mean()) ** 2).sum() / (off * (y - y.mean())).sum())
""",
)

Errors = Callable[[Draw, int], Tensor]


def erring(draw: Draw, errors: Errors, delta: float, count: int = 0, log_e: float = 0.0) -> Given:
    """Runs whose losses differ by these errors from a law. `log_e`: what is asked about, instead of the law's own."""
    N = sizes_of_runs(draw, count or draw.integer(3, 5))
    e, a, alpha = between(draw, 0.2, 0.6), between(draw, 1.5, 2.5), between(draw, 0.2, 0.4)
    losses = (torch.tensor(e).exp() + torch.tensor(a).exp() * N**-alpha).float()
    return [log_e or e, a, alpha], N, losses * errors(draw, len(N)).exp(), delta


def small(draw: Draw, count: int) -> Tensor:
    return (1 + 0.4 * (draw.normal(count).sign() * (0.3 + draw.normal(count).abs())).clamp(-1, 1)).log()


def large(draw: Draw, count: int) -> Tensor:
    return (0.4 + 0.5 * draw.normal(count).abs()) * draw.normal(count).sign()


def huge(draw: Draw) -> Given:
    N = sizes_of_runs(draw, 4).double()
    level = 800.0 + draw.integer(0, 50)
    alpha = (level - 0.5) / float(N.log().mean())
    losses = (1.5 + (level - alpha * N.log()).exp()) * noise(draw, 4, 0.1)
    return [between(draw, 0.2, 0.6), level, alpha], N, losses, 0.2


TWO_SIDED = torch.tensor([0.05, -0.1, 0.5, -0.8, 0.2])
BOTH_SIDES = at("errors on both sides of δ", lambda draw: erring(draw, lambda *_: TWO_SIDED, 0.25, count=5))
ONE_RUN = these(
    at("one run", lambda draw: erring(draw, lambda *_: torch.tensor([0.18]), 0.1, count=1)),
    at("E almost 0", lambda draw: erring(draw, lambda *_: torch.zeros(3), 0.1, count=3, log_e=-60.0)),
)
ROBUST_ERROR = ask(
    "scale_and_insight.robust_error",
    returns=("error",),
    properties=[
        values("errors below δ", 0.75, at("", lambda draw: erring(draw, small, 2.0))),
        values("errors above δ", 0.75, at("", lambda draw: erring(draw, large, 0.3))),
        values("both together", 0.5, BOTH_SIDES),
        values("huge constants", 0.5, at("ln A of 800 and more", huge)),
        values("one run, E almost 0", 0.5, ONE_RUN),
    ],
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
logarithms-added: You added the logarithms of both terms. That is the logarithm of their product; the law adds the terms
themselves.
- law = high + math.log1p(math.exp(low - high)) → law = high + low
overflow: Your error is right for ordinary constants, but e⁸⁰⁰ is more than a float64 holds, so a huge A gives infinity.
Stay in logarithms: the logarithm of a sum follows from the logarithms of its terms.
- law = high + math.log1p(math.exp(low - high))
+ law = float((math.exp(log_e) + torch.tensor(log_a).double().exp() * size**-alpha).log())
""",
)


def floor(draw: Draw, N: Tensor) -> Tensor:
    """Reducible losses between half and twice the floor, so that all constants matter."""
    E, alpha = between(draw, 1, 2), between(draw, 0.35, 0.6)
    return E * (1 + between(draw, 0.8, 1.6) * (N / N.min()) ** -alpha)


def on_a_law(draw: Draw) -> Given:
    N = sizes_of_runs(draw, draw.integer(6, 8)).double()
    return N, floor(draw, N), 0.01


def one_failed(draw: Draw) -> Given:
    N = sizes_of_runs(draw, 8).double()
    losses = floor(draw, N) * noise(draw, 8, 0.004)
    losses[N.argsort()[draw.integer(5, 7)]] *= 1.3
    return N, losses, 0.01


def no_floor(draw: Draw, huge: bool = False) -> Given:
    """Of small models, or of large ones, where one start far from the solution finds a floor that is not there."""
    grown = 10 ** (6 + 4 * torch.arange(7).double() / 6)
    N = (grown * noise(draw, 7, 0.1).double()).round() if huge else sizes_of_runs(draw, 6).double()
    return N, 8 * N ** -between(draw, 0.15, 0.3), 0.01


PURE = these(at("a pure power law", no_floor), at("a pure power law of large models", no_floor, huge=True))
FLOOR_LAW = ask(
    "scale_and_insight.floor_law",
    returns=("E", "A", "alpha"),
    inputs=at("runs that lie on a law", on_a_law),
    properties=[
        values("runs that lie on a law", 1.5, tolerance=5e-3),
        values("noise, and a run that failed", 1, at("", one_failed), tolerance=5e-3),
        values("a pure power law", 0.5, PURE, tolerance=5e-3),
    ],
    mistakes="""
logarithms-returned: You return what the search found, and its first two numbers are logarithms. Take the exponential of
both.
- math.exp(log_e), math.exp(log_a), alpha → log_e, log_a, alpha
only-one-exponential: One of E and A is still a logarithm. Both are in theta as logarithms.
- math.exp(log_e), math.exp(log_a), alpha → math.exp(log_e), log_a, alpha
or
- math.exp(log_e), math.exp(log_a), alpha → log_e, math.exp(log_a), alpha
start-returned: You return one of the points where you started. `downhill` returns a lower point: use it.
- theta = downhill(lambda theta: robust_error(theta, N, losses, delta), start) → theta = start
one-start: Your search starts at a single point, and with large models it ends at a law that is not the best. Start from
several points and keep the lowest.
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


def forecast(draw: Draw, beyond: float = 4.0, repetitions: int = 40, count: int = 0) -> Given:
    """Runs, a size `beyond` times the largest one, and the picks of every repetition, two different ones at least."""
    N, losses = runs(draw, count or draw.integer(5, 6), 0.08)
    picks = draw.integers(0, len(N) - 1, repetitions, len(N))
    picks[:, 0], picks[:, 1] = 0, draw.integer(1, len(N) - 1)
    return N, losses, round(float(N.max()) * beyond), picks


ELSEWHERE = these(
    at(EQUAL, count=5, repetitions=5),
    at("far beyond the runs", beyond=1000.0),
    at("among the runs", beyond=0.1, repetitions=30),
    at("float64", beyond=3.0, double=True),
)
FORECAST = ask(
    "scale_and_insight.forecast",
    returns=("low", "forecast", "high"),
    inputs=at("a larger size", forecast),
    properties=[
        values("the forecast", 0.5, "forecast"),
        values("the interval", 1.5, "low", "high"),
        values("far away, among the runs, float64", 1, ELSEWHERE),
    ],
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

# --- 2. which form predicts the loss after a long text, for models that count pairs and triples of letters? ----


def other_lengths(draw: Draw) -> Given:
    """Two seeds for which the forms differ, in both orders. Else the floor is hardly determined, and a right search may
    end elsewhere."""
    shortest, far = 50 * draw.integer(10, 18), 128_000
    lengths, seeds = [shortest * 2**i for i in range(6)], list[int]()
    while len(seeds) < 2:
        seed = draw.integer(10, 999)
        _, ((a, b, c, d),), _ = WHICH_FORM.reference(lengths, far, [seed])
        if abs(a - b) > 0.01 and abs(c - d) > 0.01 and min(a, b, c, d) > 0.004:
            seeds.append(seed)
    return lengths, far, seeds


WHICH_FORM = experiment(
    "scale_and_insight.which_form",
    table="errors",
    points=(0.25, 2.25, 2.5),
    page=on_the_page("the five seeds of the page", [250, 500, 1000, 2000, 4000, 8000], 128_000, [0, 1, 2, 3, 4]),
    fresh=at("other lengths and seeds", other_lengths),
    claims=["0 < 1, 2 < 3", "1 < 0, 3 < 2", "1 < 0, 2 ~ 3", "1 < 0, 2 < 3"],
    tolerance=2e-3,
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- [*short, far], seed) → [*short, far], seeds[0])
far-loss-fitted: Your fits have seen the loss at `far`, which they should predict. Hold it out.
- torch.tensor(short, dtype=torch.float64) → torch.tensor([*short, far], dtype=torch.float64)
- *near, last = ladder(order, [*short, far], seed).tolist()
+ near = ladder(order, [*short, far], seed).tolist()
+         last = near[-1]
judged-on-the-longest: You judge the laws by the longest text of the fit. The question is what they predict beyond it,
at `far`.
- *near, last = ladder(order, [*short, far], seed).tolist()
+ near = ladder(order, short, seed).tolist()
+         last = near[-1]
* far**-alpha → short[-1] ** -alpha
sign-kept: Your errors have signs. Take the absolute value: a law that is too low is as wrong as one that is too high.
- row.append(abs(math.log(A * far**-alpha / last))) → row.append(math.log(A * far**-alpha / last))
- row.append(abs(math.log((E + A * far**-alpha) / last))) → row.append(math.log((E + A * far**-alpha) / last))
difference-in-nats: Your errors are differences of losses. Compare the logarithms, so that an error is a fraction of the
loss.
- abs(math.log(A * far**-alpha / last)) → abs(A * far**-alpha - last)
- abs(math.log((E + A * far**-alpha) / last)) → abs(E + A * far**-alpha - last)
forms-swapped: Your columns are not in the order of the page: the power law comes first, then the law with a floor.
- errors.append(row) → errors.append([row[1], row[0], row[3], row[2]])
orders-swapped: Your columns are not in the order of the page: pairs come first, then triples.
- (2, 3) → (3, 2)
pairs-only: Your last two columns repeat the first two. They are for triples, so `order` is 3 there.
- ladder(order, → ladder(2,
mean-of-the-seeds: Every row is the mean over all seeds. Keep the numbers of each seed: only they show whether a
difference is more than chance.
- conclusion = 3 → errors = torch.tensor(errors).mean(0).expand(len(seeds), 4); conclusion = 3
power-law-believed: Compare the first two columns: the law with a floor has the smaller error for every seed.
- conclusion = 3 → conclusion = 1
floor-believed-everywhere: For pairs you are right. But compare the last two columns seed by seed: for triples each form
wins sometimes, and the interval of the difference contains 0.
- conclusion = 3 → conclusion = 2
first-seeds-believed: For pairs you are right. In the last two columns, some seeds favour the power law, but not all:
the interval of the difference contains 0.
- conclusion = 3 → conclusion = 4
""",
)

# --- 3. the best split of a budget within limits, and when a large model overtakes a small one -----------------


def limited(draw: Draw, text: Range = (50, 50), largest: Range = (50, 50)) -> Given:
    """A law, a budget, and limits between these parts of what the law would like best."""
    bounds = {"E": (1.5, 2), "A": (200, 500), "alpha": (0.3, 0.36), "B": (600, 2000), "beta": (0.26, 0.29)}
    law = {name: between(draw, *ends) for name, ends in bounds.items()}
    budget = between(draw, 1, 9) * 10.0 ** draw.integer(18, 20)
    # The best split, from the law's slope, by bisection: the shares of both terms are in the ratio of the exponents.
    low, high = 1.0, budget
    for _ in range(200):
        N = (low * high) ** 0.5
        size = law["alpha"] * law["A"] / N ** law["alpha"]
        reading = law["beta"] * law["B"] / (budget / (6 * N)) ** law["beta"]
        low, high = (N, high) if size > reading else (low, N)
    return law, budget, budget / (6 * N) * between(draw, *text), N * between(draw, *largest)


LESS = (0.1, 0.6)
LIMITS = these(
    at("both limits", text=LESS, largest=LESS),
    at("a short text, and a model that becomes too large", text=(0.2, 0.4), largest=(1.5, 1.5)),
)
BEST_SPLIT = ask(
    "scale_and_insight.best_split",
    returns=("N", "D", "loss"),
    inputs=at("no limit is met", limited),
    properties=[
        values("the split without a limit", 1, "N", "D"),
        values("its loss", 0.5, "loss"),
        values("the text is too short", 0.5, at(text=LESS)),
        values("the model would be too large", 0.5, at(largest=LESS)),
        values("both limits", 0.5, LIMITS),
    ],
    mistakes="""
text-ignored: Your D can be larger than the whole text. If the text is too short, read all of it, with a larger model.
- min(max(N, budget / (6 * text)), largest) → min(N, largest)
- min(budget / (6 * N), text) → budget / (6 * N)
memory-ignored: Your model can be larger than `largest`.
- min(max(N, budget / (6 * text)), largest) → max(N, budget / (6 * text))
text-cut-model-kept: You cut the text, but the model stays at its size for a long one, so part of the budget is left
over. A larger model makes use of it.
- min(max(N, budget / (6 * text)), largest) → min(N, largest)
budget-left-over: With a model of the largest allowed size you still read the frontier's text. There is budget left for
more.
- N = min(max(N, budget / (6 * text)), largest)
- D = min(budget / (6 * N), text)
+ D = min(budget / (6 * N), text)
+ N = min(max(N, budget / (6 * text)), largest)
budget-exceeded: With both limits, yours reads more than the text. The memory has the last word on N, and the text on D.
- min(budget / (6 * N), text) → budget / (6 * N)
limits-in-another-order: With both limits, your model is larger than `largest`. The memory has the last word on N.
- min(max(N, budget / (6 * text)), largest) → max(min(N, largest), budget / (6 * text))
six-forgotten: One parameter and one token cost six operations, so the product N · D is C / 6.
* budget / 6) → budget / 1)
* 6 * → 1 *
exponents-swapped: You swapped α and β in the exponent of the compute. A large β means that more text soon stops
helping, so the model should grow faster.
- ** (beta / (alpha + beta)) → ** (alpha / (alpha + beta))
balance-upside-down: Your balance of the two terms is upside down: a large A means that size matters, so N should grow.
- (alpha * A / (beta * B)) → (beta * B / (alpha * A))
exponents-not-in-the-balance: Your balance leaves out α and β: you made the two *terms* equal. At the minimum their
slopes are.
- (alpha * A / (beta * B)) → (A / B)
half-and-half: You give N and D the same number. Hoffmann's law asks for equal *growth* at most, not for equal numbers.
- N = balance * (budget / 6) ** (beta / (alpha + beta)) → N = (budget / 6) ** 0.5
floor-forgotten: N and D are right, but your loss lacks the irreducible part E.
- E + A / N**alpha → A / N**alpha
loss-without-limits: N and D are right, but your loss is the one without the limits.
- N = min(max(N, budget / (6 * text)), largest)
+ free = E + A / N**alpha + B / (budget / (6 * N)) ** beta
+ N = min(max(N, budget / (6 * text)), largest)
- return N, D, E + A / N**alpha + B / D**beta → return N, D, free
""",
)

_points = at_points(
    A=(50.0, 500.0), alpha=(0.3, 0.5), B=(50.0, 500.0), beta=(0.2, 0.45), small=(500, 5_000), large=(6_000, 60_000)
)  # fmt: skip
_late = at_points(
    "a text that helps little", A=(50.0, 90.0), alpha=(0.3, 0.4), B=(300.0, 400.0), beta=(0.05, 0.06),
    small=(500, 900), large=(40_000, 60_000),
)  # fmt: skip
OVERTAKING = ask(
    "scale_and_insight.overtaking",
    returns=("share", "operations"),
    properties=[
        formula("the share at the best split", 1, _points, "share"),
        formula("the operations when the large one overtakes", 1.5, _points, "operations"),
        formula("however late it does", 0.5, _late, "operations"),
    ],
    mistakes="""
share-of-the-text: That is the share of the text. At the best split α times the size's term equals β times the text's
term; which of them is then larger?
- share = beta / (alpha + beta) → share = alpha / (alpha + beta)
ratio-for-share: That is the ratio of the two terms. The share is one term divided by the sum of both.
- share = beta / (alpha + beta) → share = beta / alpha
half-at-the-best: You made the two terms equal. At the best split their slopes along the curve of equal compute are
equal, and each slope has its exponent as a factor.
- share = beta / (alpha + beta) → share = 0.5
six-forgotten: Your operations are too few by a factor of six: a token costs six operations per parameter.
- operations = 6 * ( → operations = (
six-inside-the-root: The factor of six is inside the root, where it is raised to 1/β. In (6N)^β it is raised to β first.
- operations = 6 * (text / (A * (small**-alpha - large**-alpha))) ** (1 / beta)
+ operations = (6 * text / (A * (small**-alpha - large**-alpha))) ** (1 / beta)
root-forgotten: You solved for the compute to the power β. Take the root.
- ) ** (1 / beta) → )
root-of-alpha: The compute occurs in the text's term, with the exponent β. Take the root with β, not with α.
- ) ** (1 / beta) → ) ** (1 / alpha)
fraction-upside-down: Your fraction is upside down. A model whose size brings much, a large A, overtakes *early*.
- (text / (A * (small**-alpha - large**-alpha))) → ((A * (small**-alpha - large**-alpha)) / text)
equal-text: You let both read the same text; then the large model is ahead from the start. At equal compute the larger
one has read less: put D = C / 6N into each loss.
- text = B * (large**beta - small**beta) → text = B
exponent-not-split: (large − small) to the power β is not the difference of the powers.
- (large**beta - small**beta) → (large - small) ** beta
""",
)

# --- 4. three ways to count right answers, and where an ability appears ----------------------------------------


def answered(draw: Draw) -> Given:
    """Some right, some with a wrong token, one too short, one too long."""
    wanted = [draw.integers(0, 9, draw.integer(2, 5)).tolist() for _ in range(draw.integer(6, 9))]
    written = [list(answer) for answer in wanted]
    for answer in written[2::3]:
        answer[draw.integer(0, len(answer) - 1)] += 100
    return [written[0][:-1], [*written[1], draw.integer(0, 9)], *written[2:]], wanted


def odd_answers(draw: Draw) -> list[Case]:
    wanted = [draw.integers(0, 9, draw.integer(1, 4)).tolist() for _ in range(4)]
    return [
        case("an answer that is empty", [[], wanted[1], wanted[2], []], wanted),
        case("answers that are too long", [[*answer, 3] for answer in wanted], wanted),
        case("all right", wanted, [list(answer) for answer in wanted]),
        case("nothing right", [[11] * len(answer) for answer in wanted], wanted),
        case("shifted by one", [[12, *answer] for answer in wanted], wanted),
        case(DIGITS, [[1, 12], [111, 2], [2, 3]], [[11, 2], [1, 112], [2, 3]]),
    ]


MIRAGE = ask(
    "scale_and_insight.mirage",
    returns=("accuracy", "exact", "promised"),
    inputs=at("right, wrong, short and long answers", answered),
    properties=[
        values("the accuracy", 0.75, "accuracy"),
        values("the exact match", 0.5, "exact"),
        values("what the accuracy promises", 0.75, "promised"),
        values("empty, short and long answers, ids of several digits", 0.5, odd_answers),
    ],
    mistakes="""
mean-of-answers: Your accuracy is the mean of each answer's own fraction. A long answer has more tokens, and each token
should count the same.
- accuracy = right / sum(len(goal) for goal in wanted)
+ fractions = [sum(a == b for a, b in zip(answer, goal)) / len(goal) for answer, goal in pairs]
+ accuracy = sum(fractions) / len(wanted)
divided-by-the-written: You divide by the number of written tokens. A model that writes little would look good: divide
by the number of wanted tokens.
- accuracy = right / sum(len(goal) for goal in wanted) → accuracy = right / max(1, sum(len(a) for a in written))
missing-not-counted: You divide by the number of pairs that can be compared, so a token that is missing costs nothing.
Divide by all wanted tokens.
- sum(len(goal) for goal in wanted) → max(1, sum(min(len(answer), len(goal)) for answer, goal in pairs))
anywhere-counts: You count a token as right wherever it occurs. It has to be in its position.
- sum(mine == theirs for answer, goal in pairs for mine, theirs in zip(answer, goal, strict=False))
+ sum(theirs in answer for answer, goal in pairs for theirs in goal)
too-long-is-exact: An answer that goes on after the right tokens counts as exact. It is not right as a whole.
- list(answer) == list(goal) → list(answer)[: len(goal)] == list(goal)
too-short-is-exact: An answer that stops too early counts as exact: `zip` compares only what both have.
- sum(list(answer) == list(goal) for answer, goal in pairs)
+ sum(len(a) <= len(g) and all(x == y for x, y in zip(a, g)) for a, g in pairs)
or
- sum(list(answer) == list(goal) for answer, goal in pairs)
+ sum(all(x == y for x, y in zip(a, g)) for a, g in pairs)
joined-as-text: You compare answers as joined text, where (1, 12) and (11, 2) look the same. Compare the lists.
- list(answer) == list(goal) → "".join(map(str, answer)) == "".join(map(str, goal))
length-of-the-written: You raise the accuracy to the length of the *written* answer. The number of tokens that must be
right is that of the wanted one.
- sum(accuracy ** len(goal) for goal in wanted) → sum(accuracy ** len(answer) for answer in written)
mean-length: You raise the accuracy to the mean length. The mean of powers is not the power of the mean: take one power
per answer.
- sum(accuracy ** len(goal) for goal in wanted) / len(wanted)
+ accuracy ** (sum(len(goal) for goal in wanted) / len(wanted))
each-answers-own-accuracy: You take each answer's own accuracy to its length. The promise is what *one* accuracy for all
tokens would give.
- sum(accuracy ** len(goal) for goal in wanted) / len(wanted)
+ sum((sum(a == b for a, b in zip(w, g)) / len(g)) ** len(g) for w, g in pairs) / len(wanted)
product-of-all: You raise the accuracy to the number of all tokens. That is the probability that *every* answer is
right; the fraction of right answers is a mean over the answers.
- sum(accuracy ** len(goal) for goal in wanted) / len(wanted) → accuracy ** sum(len(goal) for goal in wanted)
""",
)

_points = at_points(c=(100.0, 5_000.0), alpha=(0.15, 0.6), length=(2, 9), q=(0.1, 0.8))
THRESHOLD = ask(
    "scale_and_insight.threshold",
    returns=("N", "slope"),
    properties=[formula("the number of parameters", 1, _points, "N"), formula("the slope", 1, _points, "slope")],
    mistakes="""
length-forgotten: Your formula is that of a single token. An answer has `length` tokens, and all of them must be right.
- length / -math.log(q) → 1 / -math.log(q)
fraction-upside-down: Your fraction is upside down: a longer answer needs a larger model.
- length / -math.log(q) → -math.log(q) / length
root-forgotten: You solved for a power of c / N. Take the root with α.
- ) ** (1 / alpha) → )
power-for-root: You raised to the power α. To undo a power, raise to 1/α.
- ** (1 / alpha) → ** alpha
root-of-the-match: You took q to the power 1/length as the loss of a token. It is the *probability* of a token; its loss
is minus its logarithm.
- length / -math.log(q) → 1 / q ** (1 / length)
slope-against-n: Your slope is against N. Against ln N it is N times as large: dN = N d ln N.
- -alpha * q * math.log(q) → -alpha * q * math.log(q) / N
slope-sign: Your slope has the wrong sign. A larger model is right more often, so the slope is positive; note that ln q
is negative.
- N, -alpha * q → N, alpha * q
slope-of-the-exponent: That is the slope of the exponent alone. The exact match is e to that exponent, so the chain rule
gives one more factor.
- -alpha * q * math.log(q) → -alpha * math.log(q)
alpha-forgotten: The slope lacks the factor α: the exponent falls like e to −α ln N.
- -alpha * q * math.log(q) → -q * math.log(q)
length-in-the-slope: Your slope has a factor `length`. The exponent already contains it: at q the whole exponent is ln
q, whatever the length is.
- -alpha * q * math.log(q) → -alpha * length * q * math.log(q)
""",
)

# --- 5. the logit lens, heads that are switched off, and a map of patches --------------------------------------


def model(draw: Draw, layers: int, *, vocab: int = 11, d_model: int = 6, heads: int = 3, sets: int = 1) -> Any:
    """(weights, sizes) of a random model with two coordinates per head. Its layers write as much as they read."""

    def matrix(rows: int, columns: int, scale: float = 1.0) -> Tensor:
        return scale * draw.normal(rows, columns) / columns**0.5

    def layer() -> dict[str, Tensor]:
        return {
            "attention_norm": 1 + 0.3 * draw.normal(d_model),
            "projection": matrix(2 * (heads + 2 * sets), d_model, 1.5),
            "output": matrix(d_model, 2 * heads, 1.5),
            "feed_forward_norm": 1 + 0.3 * draw.normal(d_model),
            "inner": matrix(10, d_model),
            "outer": matrix(d_model, 5, 1.5),
        }

    ends = {"embedding": draw.normal(vocab, d_model), "norm": 1 + 0.3 * draw.normal(d_model)}
    sizes = {"n_heads": heads, "n_kv_heads": sets, "base": 100.0, "eps": 1e-5}
    return {**ends, "layers": [layer() for _ in range(layers)]}, sizes


def text(draw: Draw, length: int = 0, vocab: int = 11) -> Tensor:
    return draw.integers(0, vocab - 1, length or 3 + draw.size())


def two_words(draw: Draw) -> list[int]:
    return [draw.integer(0, 4), draw.integer(5, 10)]


def lens(draw: Draw, length: int = 0, layers: int = 3, vocab: int = 11, sets: int = 1) -> Given:
    return text(draw, length, vocab), draw.integer(0, vocab - 1), *model(draw, layers, vocab=vocab, sets=sets)


def ranked(draw: Draw) -> Given:
    """A word whose ranks are neither first nor last everywhere."""
    while True:
        given = lens(draw, 4, 3, 30)
        _, ranks = LENS.reference(*given)
        if 3 < int(ranks[-1]) < 28 and len(set(ranks.tolist())) > 3:
            return given


RANKED = these(*(at(f"a word in the middle, {number}", ranked) for number in (1, 2, 3)))
SHORT = these(
    at("a text of one word", length=1, layers=2),
    at("a model without layers", length=3, layers=0),
    at(EQUAL, length=6, vocab=6, sets=3),
)
LENS = ask(
    "scale_and_insight.logit_lens",
    returns=("pathway", "ranks"),
    inputs=at("a text", lens),
    properties=[
        values("the pathway", 1.25, "pathway"),
        values("the ranks", 1.25, RANKED, "ranks"),
        inputs_too(values("one word, no layers; the inputs are unchanged", 1, SHORT)),
    ],
    mistakes="""
embedding-left-out: Your pathway begins after layer 0. Its first row is the embedded text, before any layer.
- kept = [x[0]] → kept = []
- torch.stack(kept) → torch.stack(kept if kept else [x[0]])
every-layer-reads-the-embedding: Every one of your layers reads the embedded text. A layer reads what the layer below
left on the pathway.
- x = finish(x, heads_of(x, layer, sizes), layer, sizes) → x = finish(y, heads_of(y, layer, sizes), layer, sizes)
- kept = [x[0]] → kept, y = [x[0]], x
first-position-read: You read the first position. The next word is predicted from the *last* one.
- pathway[:, -1] → pathway[:, 0]
norm-forgotten: Your lens leaves out the final norm, whose gain favours some words. Unembed with it.
- unembed(pathway[:, -1], weights, sizes) → pathway[:, -1] @ weights["embedding"].T
counted-from-0: Your pathway is right, but your ranks begin at 0. The largest logit has rank 1.
- .sum(dim=1) + 1 → .sum(dim=1)
ranks-from-below: Your pathway is right, but your ranks count the words *below*. Rank 1 is the largest logit.
- scores > scores → scores < scores
position-in-the-order: You return the word that has a rank, or the position after a single sort. To get the rank of
`word`, count the logits that are larger than its own.
- (scores > scores[:, [word]]).sum(dim=1) + 1 → scores.argsort(dim=1, descending=True)[:, word] + 1
or
- (scores > scores[:, [word]]).sum(dim=1) + 1 → scores.argsort(dim=1, descending=True)[:, word]
last-layer-only: Your ranks are those of the model's last layer at every depth. Unembed each row of the pathway.
- scores = unembed(pathway[:, -1], weights, sizes)
+ scores = unembed(pathway[-1:, -1], weights, sizes).expand(len(pathway), -1)
one-layer-too-few: Your pathway stops before the last layer.
- weights["layers"]: → weights["layers"][:-1]:
""",
)


def switched(
    draw: Draw, number: int = 1, layers: int = 3, length: int = 0, others: int = 0, heads: int = 3, sets: int = 1
) -> Given:
    words, answers = text(draw, length), two_words(draw)
    more = draw.integers(0, 10, others or 2 + draw.size(), others or len(words) + 1)
    return words, answers, more, number, *model(draw, layers, heads=heads, sets=sets)


ENDS = these(at("the first layer", number=0), at("the last layer", number=2))
FEW = these(
    at(EQUAL, length=3, others=3, sets=3),
    at("one head", number=0, layers=2, heads=1),
    at("a model of one layer, one other text of one word", number=0, layers=1, others=1, heads=2),
)
HEADS = ask(
    "scale_and_insight.head_effects",
    returns=("means", "falls"),
    inputs=at("a layer in the middle", switched),
    properties=[
        values("the means", 1, "means"),
        values("the falls", 1.5, "falls"),
        values("the first and the last layer", 1, ENDS),
        inputs_too(values("one head, one layer; the inputs are unchanged", 1, FEW)),
    ],
    mistakes="""
zero-for-the-mean: Your means are right, but you replace the head's output by 0. Zero is an output that the head may
never have; take its mean.
- heads[each, -1, each] = means → heads[each, -1, each] = 0.0
everywhere-replaced: Your means are right, but you replace the head's output at every position. Only the last position
is asked for.
- heads[each, -1, each] = means → heads[each, :, each] = means[:, None]
first-position-replaced: Your means are right, but you replace the head's output at the first position. It should be the
last.
- heads[each, -1, each] → heads[each, 0, each]
all-heads-at-once: Your means are right, but you switch off all heads of the layer at once, or one more with each copy.
Each run is without *one* head.
- heads[each, -1, each] = means → heads[:n, -1] = means
or
- heads[each, -1, each] = means
+ for h in range(n):
+     heads[h:n, -1, h] = means[h]
mean-of-this-text: Your mean is that of the text itself. It should be that of `others`.
- weights["embedding"][others] → weights["embedding"][text][None]
mean-at-the-last-position: Your mean is taken at the last position of the other texts. Take it over all positions.
- heads_of(y, here, sizes).mean((0, 1)) → heads_of(y, here, sizes)[:, -1].mean(0)
others-not-run: You give the embedded other texts to this layer directly. They have to pass the layers below first.
- y = finish(y, heads_of(y, layer, sizes), layer, sizes) → pass
rise-for-fall: Your means are right, but your falls have the wrong sign: take the log-odds of the whole run minus those
without the head, and the first word minus the second.
- odds[n] - odds[:n] → odds[:n] - odds[n]
layers-above-forgotten: Your means are right, but you unembed the result of this layer. The layers above have to read it
first.
- weights["layers"][number + 1 :] → weights["layers"][number + 1 : number + 1]
layer-twice: Your means are right, but the layers above begin with this one, so it runs twice.
- weights["layers"][number + 1 :] → weights["layers"][number:]
one-layer-higher: You work on layer `number` + 1, or one too low. Layers are counted from 0.
- weights["layers"][:number], weights["layers"][number]
+ weights["layers"][: max(0, number - 1)], weights["layers"][max(0, number - 1)]
- weights["layers"][number + 1 :] → weights["layers"][max(0, number - 1) + 1 :]
log-odds-of-probabilities: Your means are right, but you compare probabilities. The log-odds are the difference of two
logits.
- scores = unembed(z[:, -1], weights, sizes)[:, answers]
+ scores = torch.softmax(unembed(z[:, -1], weights, sizes), dim=-1)[:, answers]
""",
)


def patched(
    draw: Draw, layers: tuple[int, ...] = (0, 1, 2), positions: tuple[int, ...] = (0, 1, 3, 5), sets: int = 1
) -> Given:
    """Texts that differ in their second word, and answers whose log-odds differ by 1 or more."""
    while True:
        whole, clean, answers = model(draw, 3, sets=sets), text(draw, 6), two_words(draw)
        corrupted = clean.clone()
        corrupted[1] = (corrupted[1] + draw.integer(1, 10)) % 11
        odds, _ = PATCHES.reference(clean, corrupted, answers, [0], [1], *whole)
        if abs(float(odds[0] - odds[1])) > 1:
            return clean, corrupted, answers, list(layers), list(positions), *whole


CELLS = these(
    at("one layer and one position", layers=(1,), positions=(1,)),
    at("layers and positions in any order", layers=(2, 0), positions=(5, 1, 2)),
    at(EQUAL, positions=(1, 3, 5), sets=3),
)
LAST = at("after the last layer", layers=(2,), positions=(1, 4, 5))
PATCHES = ask(
    "scale_and_insight.patch_map",
    returns=("odds", "shares"),
    inputs=at("all layers, several positions", patched),
    properties=[
        values("the log-odds of both runs", 0.75, "odds"),
        values("the map after the last layer", 0.75, LAST, "shares"),
        values("the whole map", 2, "shares"),
        inputs_too(values("one cell, any order; the inputs are unchanged", 1, CELLS)),
    ],
    mistakes="""
texts-swapped: Your log-odds are right, but you put vectors of the corrupted run into the clean one. Run the corrupted
text, with one vector of the clean run.
- x = bad[number + 1].repeat → x = good[number + 1].repeat
- = good[number + 1][positions] → = bad[number + 1][positions]
one-layer-too-early: Your log-odds are right, but you patch the pathway *before* layer l. It should be patched after it.
- x = bad[number + 1].repeat → x = bad[number].repeat
- good[number + 1][positions] → good[number][positions]
- weights["layers"][number + 1 :] → weights["layers"][number:]
row-of-the-layer: Your log-odds are right, but you took row l of the pathway. That is what goes *into* layer l, because
row 0 is the embedding; what comes out is row l + 1.
- good[number + 1][positions] → good[number][positions]
or
- x = bad[number + 1].repeat → x = bad[number].repeat
- good[number + 1][positions] → good[number][positions]
layer-runs-again: Your log-odds are right. Your patched vector is the one after layer l, but then layer l runs once
more.
- weights["layers"][number + 1 :] → weights["layers"][number:]
never-continued: Your log-odds are right, but after the patch no layer runs, so only the last position can matter. Run
the layers above.
- weights["layers"][number + 1 :] → weights["layers"][:0]
patches-pile-up: Your log-odds are right, but each run keeps the patches of the earlier positions. In each cell of the
map a single vector is replaced.
- x[every, positions] = good[number + 1][positions]
+ for i, p in enumerate(positions):
+         x[i:, p] = good[number + 1][p]
all-positions-patched: Your log-odds are right, but you put in the clean vectors of all positions at once. Then
everything comes back everywhere.
- x[every, positions] = good[number + 1][positions] → x[:] = good[number + 1]
not-divided: Your log-odds are right, but the shares are differences of log-odds. Divide by the difference between the
clean and the corrupted run.
-  / (whole[0] - whole[1]) →
measured-from-the-clean: Your log-odds are right, but your shares are 0 where everything comes back and 1 where nothing
does. Measure from the corrupted run.
- (odds(x[:, -1]) - whole[1]) → (whole[0] - odds(x[:, -1]))
divided-by-the-clean: Your log-odds are right, but you divide by the log-odds of the clean run. If everything comes
back, the gain is the difference of both runs.
-  / (whole[0] - whole[1]) →  / whole[0]
not-from-the-corrupted: Your log-odds are right, but you do not subtract the corrupted run's log-odds above the fraction
bar, so the share is not 0 where nothing comes back.
- (odds(x[:, -1]) - whole[1]) → odds(x[:, -1])
answers-swapped: Your log-odds have the wrong sign: first the logit of the first word, minus that of the second.
- scores[..., 0] - scores[..., 1] → scores[..., 1] - scores[..., 0]
corrupted-first: Return the log-odds of the clean run first.
- return whole, → return whole.flip(0),
axes-swapped: Your log-odds are right, and the map has its axes swapped: a row per layer, a column per position.
- torch.stack(rows) → torch.stack(rows, dim=1)
row-of-the-map-by-index: Your log-odds are right, but you took the index in `layers` or `positions` for the layer or the
position.
- for number in layers: → for number in range(len(layers)):
or
- x[every, positions] = good[number + 1][positions] → x[every, every] = good[number + 1][every]
added-not-replaced: Your log-odds are right, but you add the clean vector. It should replace the corrupted one.
- x[every, positions] = good → x[every, positions] += good
changes-the-pathway: Your log-odds are right, but you write patches into the corrupted pathway itself, so later runs
begin with them. Patch a copy.
- x[every, positions] = good[number + 1][positions]
+ bad[number + 1][positions] = good[number + 1][positions]
+     x[:] = bad[number + 1]
looks like: all-positions-patched
""",
)

# --- 6. the wrong line of a friend who splits a logit ----------------------------------------------------------


def split(draw: Draw, length: int = 0, layers: int = 3, sets: int = 1, eps: float = 1e-5) -> Given:
    weights, sizes = model(draw, layers, sets=sets)
    return text(draw, length), two_words(draw), weights, sizes | {"eps": eps}


ODD_SPLITS = these(at("one layer, one word", length=1, layers=1), at(EQUAL, length=6, layers=2, sets=3, eps=0.5))
SHARES = ask(
    "scale_and_insight.direct_shares",
    returns=("shares",),
    inputs=at("three layers", split),
    properties=[
        values("the shares in three layers", 1.25),
        values("one layer, a large ε", 0.75, ODD_SPLITS),
    ],
    planted="- x[0, -1].square().mean() → torch.stack(parts).square().mean(-1)",
    mistakes="""
size-of-the-start: All parts are now divided by the same number, but it is the size of the embedding. The final norm
divides by the size of the pathway at its *end*.
- x[0, -1].square() → parts[0].square()
mean-of-sizes: All parts are now divided by the same number, but it is the mean of the parts' own sizes. The final norm
sees their sum.
- x[0, -1].square().mean() → torch.stack(parts).square().mean()
not-divided: You no longer divide by a size. The final norm does, so the shares are too large.
- torch.sqrt(x[0, -1].square().mean() + sizes["eps"]) → 1.0
length-for-size: You divide by the length of the vector. The norm divides by the root of the *mean* square.
- x[0, -1].square().mean() → x[0, -1].square().sum()
first-position-measured: You measure the size at the first position. The log-odds are those of the last one.
- x[0, -1].square() → x[0, 0].square()
all-positions-measured: Your mean goes over all positions of the text. Each position has its own norm; the log-odds are
those of the last one.
- x[0, -1].square().mean() → x.square().mean()
root-forgotten: You divide by the mean square. Divide by its root.
- torch.sqrt(x[0, -1].square().mean() + sizes["eps"]) → (x[0, -1].square().mean() + sizes["eps"])
""",
)

WRONG_LINE = wrong_line(
    "scale_and_insight.wrong_line",
    SHARES,
    points=1,
    mistakes="""
start-suspected: Line {parts = [x} is right: the first term of the sum is the embedding of the last word.
heads-suspected: Line {attention = F} is right: the matrix mixes what the heads gave, and the result is what they add to
the pathway.
network-suspected: Line {parts +=} is right: what the layer added, less what its heads added, is what its network added.
update-suspected: Line {x = after} is right: the next layer reads the pathway after this one.
difference-suspected: Line {first, second} is right: the log-odds are the pathway's dot product with a *difference* of
two unembeddings, and the embedding is the unembedding.
gain-suspected: Line {return} is right: the gain multiplies each dimension, so it may as well multiply the difference of
the two words. But look at what the line divides by.
""",
)

EXERCISES = exercises_in(__name__)
