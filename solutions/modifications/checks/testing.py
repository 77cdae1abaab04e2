"""Questions 4a to 4d: paired seeds, Welch's test, Holm's correction, and a rank correlation."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.modifications.checks.common import CLOSED, lines_of, shuffled


def _pairs(draw: Draw) -> list[Case]:
    count = draw.integer(4, 6)
    return [case("several seeds", lines_of(draw, count), lines_of(draw, count))]


def _alike(draw: Draw) -> list[Case]:
    """The seeds differ much, the two models little."""
    luck = lines_of(draw, 5)
    return [case("seeds that differ more than the models", [loss + draw.integer(10, 60) / 1000 for loss in luck], luck)]


def _odd_pairs(draw: Draw) -> list[Case]:
    few = lines_of(draw, 3)
    return [
        case("two pairs", lines_of(draw, 2), lines_of(draw, 2)),
        case("differences that are all equal", [loss + 0.25 for loss in few], few),
    ]


PAIRED = question(
    "modifications.paired",
    minutes=10,
    difficulty="easy",
    returns=("mean", "half"),
    properties=[
        values("the mean of the differences", 0.5, _pairs, "mean"),
        values("half the interval", 0.75, _pairs, "half"),
        values("pairs that have much in common", 0.25, _alike),
        values("two pairs, equal differences", 0.5, _odd_pairs),
    ],
    closed=CLOSED,
    mistakes="""
not-paired: Your interval is that of two independent samples, which contains the luck of the seeds. Take the deviation
of the *differences*.
- stdev(gaps) / math.sqrt(len(gaps)) → math.sqrt((variance(x) + variance(y)) / len(gaps))

standard-deviation-only: Your half width is that of a single difference. The mean of n differences has a standard error
that is smaller by the root of n.
- stdev(gaps) / math.sqrt(len(gaps)) → stdev(gaps)

not-the-root: You divided by the number of pairs. The standard error of a mean has its root.
- / math.sqrt(len(gaps)) → / len(gaps)

divided-by-n: Your standard deviation divides by n. That of a sample divides by n − 1.
- stdev(gaps) → stdev(gaps) * math.sqrt((len(gaps) - 1) / len(gaps))

normal-for-t: You took 1.96, which is right for many seeds. With few, the deviation itself is uncertain: take
`critical`.
- critical(len(gaps) - 1) → 1.96

one-degree-too-many: n differences have n − 1 degrees of freedom.
- critical(len(gaps) - 1) → critical(len(gaps))

too-many-degrees: Two *independent* samples would have 2 n − 2 degrees of freedom. Here there are n differences, so
n − 1.
- critical(len(gaps) - 1) → critical(2 * len(gaps) - 2)

whole-width: You return the whole width of the interval, or twice what is asked for.
- return fmean(gaps), critical → return fmean(gaps), 2 * critical

sign: Your mean has the wrong sign. It is the first model less the second.
- [a - b for → [b - a for

distance: You took the size of each difference without its sign. Seeds that disagree should cancel each other.
- [a - b for → [abs(a - b) for

variance-for-deviation: You took the variance of the differences for their standard deviation.
- stdev(gaps) → variance(gaps)
""",
)


def _samples(draw: Draw) -> list[Case]:
    """Means that are not far apart, so that p is neither 0 nor 1; sizes and spreads differ."""
    x = [2 + draw.integer(0, 300) / 1000 for _ in range(draw.integer(4, 5))]
    y = [2 + draw.integer(200, 400) / 1000 for _ in range(3)]
    return [case("two samples", [*x, 2.15], [*y, 2.35])]


def _odd_samples(draw: Draw) -> list[Case]:
    wide = [draw.integer(0, 4) / 2 + i for i in range(7)]
    return [
        case("samples of two", [1.0, 1.5 + draw.integer(0, 4) / 8], [2.0, 2.25]),
        case("very different spreads and sizes", wide, [2.0, 2.125]),
        case("the mean of the first is larger", [3.0, 3.5, 4.0], [2.0, 3.25, 2.5, 2.75]),
    ]


WELCH = question(
    "modifications.welch",
    minutes=15,
    difficulty="medium",
    returns=("t", "freedom", "p"),
    properties=[
        values("t", 0.75, _samples, "t"),
        values("the degrees of freedom", 1, _samples, "freedom"),
        values("p", 0.5, _samples, "p"),
        values("small samples, different spreads", 0.75, _odd_samples),
    ],
    closed=CLOSED,
    mistakes="""
pooled: That is Student's test with one common variance, and n + m − 2 degrees of freedom. Welch's has an error of its
own for each mean.
- a, b = variance(x) / len(x), variance(y) / len(y)
+ n, m = len(x), len(y)
+ common = ((n - 1) * variance(x) + (m - 1) * variance(y)) / (n + m - 2)
+ a, b = common / n, common / m
- (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)) → n + m - 2

freedom-of-student: Your t is Welch's, but the degrees of freedom are those of Student's test, n + m − 2.
- (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)) → len(x) + len(y) - 2

freedom-of-the-smaller: You took the degrees of freedom of the smaller sample. That is the smallest that Welch's formula
can give, not its value.
- (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)) → min(len(x), len(y)) - 1

freedom-rounded: You rounded the degrees of freedom. Student's distribution is defined between the integers as well.
- freedom = (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1))
+ freedom = math.floor((a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1)))

sizes-for-freedom: In the sum below the line each square is divided by its sample's *degrees of freedom*, which is the
size less 1.
- a**2 / (len(x) - 1) + b**2 / (len(y) - 1) → a**2 / len(x) + b**2 / len(y)

not-squared: In the degrees of freedom a and b are squared, each by itself, below the line.
- a**2 / (len(x) - 1) + b**2 / (len(y) - 1) → a / (len(x) - 1) + b / (len(y) - 1)

sum-not-squared: In the degrees of freedom the sum of a and b is squared.
- (a + b) ** 2 / → (a + b) /

variances-not-divided: You did not divide the variances by the sizes. The error of a mean shrinks with its sample.
- variance(x) / len(x), variance(y) / len(y) → variance(x), variance(y)

divided-by-n: Your variances divide by n. Those of a sample divide by n − 1.
- a, b = variance(x) / len(x), variance(y) / len(y)
+ a, b = (variance(v) * (len(v) - 1) / len(v) ** 2 for v in (x, y))

deviations-for-variances: You divided standard deviations by the sizes. a and b are *squared* errors: variance by size.
- variance(x) / len(x), variance(y) / len(y) → stdev(x) / len(x), stdev(y) / len(y)

root-forgotten: You divided by the squared error. Divide by its root.
- / math.sqrt(a + b) → / (a + b)

errors-added: You added the two standard errors. Their squares add up.
- / math.sqrt(a + b) → / (math.sqrt(a) + math.sqrt(b))

one-sided: Your p is one-sided. A modification may be worse as well as better: two-sided.
- two_sided(t, freedom) → two_sided(t, freedom) / 2

normal-for-t: Your p comes from the normal distribution. With few runs the tails are much heavier: use `two_sided`.
- two_sided(t, freedom) → math.erfc(abs(t) / math.sqrt(2))

sign: Your t has the wrong sign: it is positive if x has the larger mean.
- (fmean(x) - fmean(y)) → (fmean(y) - fmean(x))

without-a-sign: Your t has no sign any more. It is negative if x has the smaller mean.
- (fmean(x) - fmean(y)) → abs(fmean(x) - fmean(y))
""",
)


def _p(draw: Draw, count: int) -> list[float]:
    """Different p values, so small that no product reaches 1."""
    return [value / 20_000 for value in sorted({draw.integer(1, 1_500) for _ in range(2 * count)})[:count]]


def _sorted(draw: Draw) -> list[Case]:
    steps = [0.001 * draw.integer(1, 3), 0.005 * draw.integer(2, 3), 0.03 + 0.01 * draw.integer(0, 1), 0.3]
    return [case("sorted already", steps)]


def _unsorted(draw: Draw) -> list[Case]:
    low, middle, high = 0.001 * draw.integer(1, 3), 0.02 + 0.001 * draw.integer(0, 5), 0.07 + 0.01 * draw.integer(0, 3)
    return [case("in any order", order) for order in ([high, low, middle], [middle, high, low])]


def _raised(draw: Draw) -> list[Case]:
    """Neighbours so close that the later product is the smaller one."""
    near = 0.02 + 0.001 * draw.integer(0, 5)
    return [case("raised to an earlier one", [near + 0.002, 0.4, near, 0.001 * draw.integer(1, 3), near + 0.001])]


def _odd_p(draw: Draw) -> list[Case]:
    some = 0.01 * draw.integer(1, 3)
    return [
        case("products above 1", [0.6, 0.3 + some, 0.5, 0.9]),
        case("equal values", [some, 0.2, some, some]),
        case("a single one", [some]),
        case("eight of them", shuffled(draw, _p(draw, 8))),
    ]


HOLM = question(
    "modifications.holm",
    minutes=15,
    difficulty="medium",
    returns=("corrected",),
    properties=[
        values("sorted already", 0.5, _sorted),
        values("in any order", 0.5, _unsorted),
        values("raised to an earlier one", 0.5, _raised),
        values("above 1, equal, a single one", 0.5, _odd_p),
    ],
    closed=CLOSED,
    mistakes="""
bonferroni: That is Bonferroni's correction: all p values times their number. Holm's multiplies the next smallest by one
less each time.
- (len(p) - before) * p[i] → len(p) * p[i]

sorted-returned: You return the corrected values sorted. They are wanted in the order in which the p values came.
- corrected[i] = highest → corrected[before] = highest

not-sorted: You go through the p values in the order in which they came. The *smallest* is multiplied by their number.
- sorted(range(len(p)), key=lambda i: p[i]) → range(len(p))

largest-first: You start with the largest. Holm starts with the smallest, and multiplies it by their number.
- key=lambda i: p[i]) → key=lambda i: -p[i])

never-raised: A corrected value of yours is below that of a smaller p. Never let a later one fall below an earlier one.
- highest = max(highest, min(1.0, (len(p) - before) * p[i])) → highest = min(1.0, (len(p) - before) * p[i])

above-one: Your corrected values can exceed 1, which no probability does.
- min(1.0, (len(p) - before) * p[i]) → (len(p) - before) * p[i]

one-too-few: The smallest is multiplied by the number of tests, not by one less.
- (len(p) - before) → (len(p) - before - 1)

one-too-many: The smallest is multiplied by the number of tests, not by one more; the largest by 1.
- (len(p) - before) → (len(p) - before + 1)

hochberg: That is the correction of Benjamini and Hochberg, which multiplies by m / k. It allows a share of the winners
to be false; Holm's guards against a single false one.
+ order, lowest, corrected = sorted(range(len(p)), key=lambda i: p[i]), 1.0, [0.0] * len(p)
+ for k in range(len(p), 0, -1):
+     lowest = min(lowest, len(p) / k * p[order[k - 1]])
+     corrected[order[k - 1]] = lowest
+ return corrected

lowered-from-above: You went from the largest to the smallest and lowered. Holm goes from the smallest up, and raises.
+ order, lowest, corrected = sorted(range(len(p)), key=lambda i: p[i]), 1.0, [0.0] * len(p)
+ for k in range(len(p) - 1, -1, -1):
+     lowest = min(lowest, (len(p) - k) * p[order[k]])
+     corrected[order[k]] = lowest
+ return corrected
""",
)


def _lists(draw: Draw) -> tuple[list[float], list[float]]:
    count = draw.integer(5, 7)
    return lines_of(draw, count), lines_of(draw, count)


def _different(draw: Draw) -> list[Case]:
    return [case("different values", *_lists(draw))]


def _ties(draw: Draw) -> list[Case]:
    x, y = _lists(draw)
    x[1] = x[3] = x[4]
    y[0] = y[2]
    return [case("ties", x, y)]


def _odd_lists(draw: Draw) -> list[Case]:
    low = draw.integer(1, 9) / 4
    return [
        case("two values", [low, -low], [3.0, 7.0]),
        case("negative ones, all but one equal", [-low, -low, -2 * low, -low], [1.0, -2.0, -3.0, 0.5]),
    ]


RANK_CORRELATION = question(
    "modifications.rank_correlation",
    minutes=15,
    difficulty="medium",
    returns=("ranks", "rho"),
    properties=[
        values("the ranks of different values", 0.5, _different, "ranks"),
        values("the ranks with ties", 0.5, _ties, "ranks"),
        values("ρ without ties", 0.5, _different, "rho"),
        values("ρ with ties", 0.25, _ties, "rho"),
        values("two values, negative ones", 0.25, _odd_lists),
    ],
    closed=CLOSED,
    mistakes="""
order-for-ranks: You return the order, that is, *which* value is the smallest, the next and so on. The rank says of each
value which place it has: sort the order once more.
- return (v < v[:, None]).sum(1) + ((v == v[:, None]).sum(1) + 1) / 2 → return v.argsort() + 1.0

ties-in-their-order: You give equal values different ranks, by the order in which they come. They share the mean.
- return (v < v[:, None]).sum(1) + ((v == v[:, None]).sum(1) + 1) / 2
+ return v.argsort(stable=True).argsort() + 1.0

lowest-of-the-ties: You give equal values the lowest of their ranks. They share the mean.
- ((v == v[:, None]).sum(1) + 1) / 2 → 1.0

highest-of-the-ties: You give equal values the highest of their ranks. They share the mean.
- ((v == v[:, None]).sum(1) + 1) / 2 → 1.0 * (v == v[:, None]).sum(1)

ties-close-up: After equal values you go on with the next rank. Three values that share the rank 3 take up the ranks 2,
3 and 4.
- return (v < v[:, None]).sum(1) + ((v == v[:, None]).sum(1) + 1) / 2
+ return torch.unique(v, return_inverse=True)[1] + 1.0

ranks-from-zero: Your ranks start at 0. The correlation is the same, but the smallest value has rank 1.
- return ranks(x), → return ranks(x) - 1,

largest-first: Your rank 1 belongs to the largest value. It belongs to the smallest.
- return ranks(x), → return len(x) + 1 - ranks(x),

values-correlated: You correlated the values (Pearson). Spearman's ρ is the correlation of their ranks.
- for r in (ranks(x), ranks(y)) → for r in (torch.tensor(x).double(), torch.tensor(y).double())

not-centred: You did not subtract the mean rank from the ranks.
- (r - r.mean() for r in (ranks(x), ranks(y))) → (ranks(x), ranks(y))

covariance: Your result is not between −1 and 1: divide the dot product by the lengths of both lists of deviations.
- a @ b / (a.norm() * b.norm()) → a @ b / len(x)

shortcut: That is the formula with the squared differences of the ranks. It holds only without ties.
- a @ b / (a.norm() * b.norm()) → 1 - 6 * ((ranks(x) - ranks(y)) ** 2).sum() / (len(x) ** 3 - len(x))

sign-lost: Your ρ is never negative. Two lists of opposite order have −1.
- a @ b / (a.norm() * b.norm()) → abs(a @ b) / (a.norm() * b.norm())
""",
)
