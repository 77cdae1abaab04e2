"""Assignment "features": a toy of superposition, a sparse autoencoder, exposure, a score of stereotypes, a paired test.

The functions differ in form from `nlmcore.inspect` and `nlmcore.metrics`: they take rows, tables and lists.
"""

import functools
import math
from typing import Any

import torch
from torch.nn import functional as F

from autograder.question.declare import exercises_in, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.kinds import EQUAL
from autograder.question.sized import ODD, at, these
from autograder.question.special import at_points, formula, on_the_page, other_seeds, own_signs, predicted, wrong_line
from autograder.question.specification import Both, Case, case

CLOSED = ("nlmcore.inspect", "nlmcore.metrics")
ask = functools.partial(question, closed=CLOSED)
Arguments = tuple[Any, ...]

# --- 1. the toy --------------------------------------------------------------------------------------------------


def features(draw: Draw, batch: int, d: int, n: int) -> Arguments:
    """Features of which some are absent, and importances that differ."""
    return draw.normal(batch, n).relu(), draw.normal(d, n), draw.normal(n) / 2, 0.2 + draw.normal(n).abs()


TOY_LOSS = ask(
    "features.toy_loss",
    returns=("read", "loss"),
    inputs=features,
    properties=[
        shapes(0.25, name="as many features as before, and a number"),
        values("what is read back", 1.25, "read"),
        values("the loss", 1, "loss"),
        values("odd sizes", 0.5, ODD),
    ],
    mistakes="""
relu-forgotten: The ReLU is missing: some of what you read back is negative. It comes last, after the bias.
- torch.relu(hidden @ weight + bias) → hidden @ weight + bias
relu-in-the-middle: Your ReLU is applied to the hidden values. They may be negative; only what is read back may not.
- hidden = x @ weight.T → hidden = torch.relu(x @ weight.T)
- torch.relu(hidden @ weight + bias) → hidden @ weight + bias
two-relus: You apply the ReLU twice. The hidden values stay as they are, because a negative one carries a feature, too.
- hidden = x @ weight.T → hidden = torch.relu(x @ weight.T)
bias-forgotten: The bias is missing. Add it before the ReLU.
- hidden @ weight + bias → hidden @ weight
bias-after-the-relu: You add the bias after the ReLU. It belongs inside, where a negative one hides small disturbances.
- torch.relu(hidden @ weight + bias) → torch.relu(hidden @ weight) + bias
bias-subtracted: You subtract the bias. Add it.
- hidden @ weight + bias → hidden @ weight - bias
importance-forgotten: Your loss counts all features alike. Multiply each squared error by the importance of its feature.
- importance * (x - read) ** 2 → (x - read) ** 2
importance-inside-the-square: You squared the importance as well. Only the error is squared.
- importance * (x - read) ** 2 → (importance * (x - read)) ** 2
importance-as-weights: You divided by the sum of the importances. L is a sum, not a weighted mean.
- errors.sum(1).mean() → errors.sum(1).mean() / importance.sum()
mean-over-features: Your loss is a mean over the features as well. Add up over features, then average over examples.
- errors.sum(1).mean() → errors.mean()
sum-over-examples: Your loss is a sum over the batch. Average over the examples.
- errors.sum(1).mean() → errors.sum()
mean-and-sum-swapped: You averaged over the features and added up the examples. It is the other way round.
- errors.sum(1).mean() → errors.mean(1).sum()
not-squared: You took the size of each error instead of its square.
- (x - read) ** 2 → (x - read).abs()
root-taken: You took a root. L is a sum of squares and stays one.
- errors.sum(1).mean() → errors.sum(1).sqrt().mean()
halved: Your loss has a factor ½ that is not in the formula.
- errors.sum(1).mean() → errors.sum(1).mean() / 2
""",
)

# --- 2. two features in one dimension, on paper ------------------------------------------------------------------

points = at_points(p=(0.05, 0.95), i_1=(0.8, 2.0), i_2=(0.2, 0.7))
TWO_IN_ONE = question(
    "features.two_in_one",
    returns=("alone", "shared", "linear", "turn"),
    numpy=True,
    properties=[
        formula("one feature alone", 0.75, points, "alone"),
        formula("two that share", 0.75, points, "shared"),
        formula("without the ReLU", 0.75, points, "linear"),
        formula("where both are equal", 0.75, points, "turn"),
    ],
    mistakes="""
first-for-second: Alone, the toy loses the *second* feature, so its importance counts.
- alone = i_2 * p / 3 → alone = i_1 * p / 3
square-of-the-mean: The mean of the square is not the square of the mean: for a uniform number it is ⅓, not ¼.
- alone = i_2 * p / 3 → alone = i_2 * p / 4
mean-for-square: You took the mean of the feature, ½. The loss contains its square, whose mean is ⅓.
- alone = i_2 * p / 3 → alone = i_2 * p / 2
always-present: Your loss alone does not depend on p. An absent feature costs nothing.
- alone = i_2 * p / 3 → alone = i_2 / 3
presence-squared: The probability is squared in your loss alone. The second feature is lost whether the first is there
or not.
- alone = i_2 * p / 3 → alone = i_2 * p**2 / 3
both-at-once-forgotten: The shared toy makes an error only if *both* features are present, which has the probability p².
- shared = (i_1 + i_2) * p**2 / 6 → shared = (i_1 + i_2) * p / 6
third-for-sixth: Only the smaller of two uniform values is lost, and the mean of its square is 1/6, not ⅓.
- shared = (i_1 + i_2) * p**2 / 6 → shared = (i_1 + i_2) * p**2 / 3
smaller-on-average: You squared the mean of the smaller value, ⅓. The mean of its square is 1/6.
- shared = (i_1 + i_2) * p**2 / 6 → shared = (i_1 + i_2) * p**2 / 9
only-one-error: If both are present, *both* are read back wrong: one as the difference, the other as 0.
- shared = (i_1 + i_2) * p**2 / 6 → shared = i_2 * p**2 / 6
or
- shared = (i_1 + i_2) * p**2 / 6 → shared = (i_1 + i_2) * p**2 / 12
relu-kept: Without the ReLU an absent feature is read back as a negative number, so a single feature already makes an
error.
- linear = (i_1 + i_2) * p / 3 → linear = (i_1 + i_2) * p**2 / 6
linear-needs-both: Your linear toy errs only if both are present. If one is, the other is read back as its negative.
- linear = (i_1 + i_2) * p / 3 → linear = (i_1 + i_2) * p**2 / 3
linear-loses-one: You say that the linear toy loses the second feature only. Both outputs contain both features.
- linear = (i_1 + i_2) * p / 3 → linear = i_2 * p / 3
importances-swapped: In your turn the importances are swapped. The less important the second feature is, the rarer both
must be.
- turn = 2 * i_2 / (i_1 + i_2) → turn = 2 * i_1 / (i_1 + i_2)
factor-lost: A factor 2 is lost in your turn: ⅓ divided by 1/6 is 2.
- turn = 2 * i_2 / (i_1 + i_2) → turn = i_2 / (i_1 + i_2)
turn-upside-down: Your turn is the reciprocal of the right one, and may be above 1.
- turn = 2 * i_2 / (i_1 + i_2) → turn = (i_1 + i_2) / (2 * i_2)
""",
)

# --- 3. the sparse autoencoder -----------------------------------------------------------------------------------


def activations(draw: Draw, batch: int, d: int, n: int, k: int = 2) -> Arguments:
    """Directions of length 1, an encoder that is not the same, and more features than are kept."""
    batch, n = max(3, batch), max(n, k + 1)
    directions = F.normalize(draw.normal(n, d), dim=1)
    return draw.normal(batch, d) + 1, draw.normal(n, d), directions, draw.normal(d) / 2, k


def uncentred(draw: Draw, n: int = 5) -> Arguments:
    """Six of everything, most features negative, so fewer than k are above 0."""
    x, encoder, directions, centre, _ = activations(draw, 6, 6, 6)
    return x - 3, encoder.abs(), directions, centre, n


few = these(at("fewer above 0 than k", uncentred), at("k = n − 1", batch=4, d=3, n=8, k=7))
SPARSE_CODE = ask(
    "features.sparse_code",
    returns=("z", "reconstruction", "loss", "left"),
    inputs=activations,
    properties=[
        shapes(0.25),
        values("the features", 1.5, "z"),
        values("the reconstruction", 1, "reconstruction"),
        values("the loss", 0.75, "loss"),
        values("what is left of the variance", 0.75, "left"),
        values("fewer features than k, one feature, odd sizes", 0.75, few, at("k = 1", k=1), ODD),
    ],
    mistakes="""
centre-not-subtracted: You did not subtract the centre before the encoder.
- (x - centre) @ encoder.T → x @ encoder.T
centre-not-added: Your reconstruction lacks the centre: it was subtracted before the encoder, so add it at the end.
- z @ directions + centre → z @ directions
relu-forgotten: The ReLU is missing: where few scores are positive, you keep negative ones.
- ((x - centre) @ encoder.T).relu() → (x - centre) @ encoder.T
largest-in-size: You keep the scores that are largest in size, as positive ones. A negative score means that the feature
is absent.
- ((x - centre) @ encoder.T).relu() → ((x - centre) @ encoder.T).abs()
all-kept: You keep all features. TopK keeps only the k largest of each example.
- z = torch.zeros_like(scores).scatter(1, where, largest) → z = scores
one-too-few: You keep k − 1 features.
- scores.topk(k, dim=1) → scores.topk(k - 1, dim=1)
or
- z = torch.zeros_like(scores).scatter(1, where, largest)
+ z = torch.where(scores > largest[:, -1:], scores, torch.zeros_like(scores))
one-too-many: You keep k + 1 features.
- scores.topk(k, dim=1) → scores.topk(min(k + 1, scores.shape[1]), dim=1)
smallest-kept: You keep the k smallest features of each example.
- scores.topk(k, dim=1) → scores.topk(k, dim=1, largest=False)
over-the-batch: You keep the k largest values of each *feature*, over the batch. TopK looks at each example.
- largest, where = scores.topk(k, dim=1)
+ largest, where = scores.topk(min(k, len(x)), dim=0)
- z = torch.zeros_like(scores).scatter(1, where, largest)
+ z = torch.zeros_like(scores).scatter(0, where, largest)
of-the-whole-batch: You keep the k largest values of the whole batch. Each example has its own k.
- largest, where = scores.topk(k, dim=1)
+ largest, where = scores.flatten().topk(k)
- z = torch.zeros_like(scores).scatter(1, where, largest)
+ z = torch.zeros_like(scores.flatten()).scatter(0, where, largest).view_as(scores)
ones-for-values: You wrote 1 where a feature is active. It keeps its value.
- scatter(1, where, largest) → scatter(1, where, (largest > 0).to(scores))
shifted-down: You subtracted the smallest value that is kept. The k largest keep their values.
- scatter(1, where, largest) → scatter(1, where, largest - largest[:, -1:])
encoder-for-decoder: You reconstruct with the encoder. The sum is over the *directions*.
- z @ directions + centre → z @ encoder + centre
mean-over-dimensions: Your loss is a mean over the dimensions as well. A squared length is a sum over them.
- errors.sum(1).mean() → errors.mean()
sum-over-the-batch: Your loss is a sum over the batch. Average over its examples.
- errors.sum(1).mean() → errors.sum()
length-for-square: You averaged lengths. The loss has their squares.
- errors.sum(1).mean() → errors.sum(1).sqrt().mean()
explained-for-left: You return the fraction that is explained. What is left is 1 minus that.
- errors.sum() / around.sum() → 1 - errors.sum() / around.sum()
around-zero: You compare with the squared length of x. The variance is measured around the mean of the batch.
- (x - x.mean(0)) ** 2 → x**2
around-the-centre: You measure the variance around the centre, which the autoencoder has learned. Take the mean of this
batch.
- (x - x.mean(0)) ** 2 → (x - centre) ** 2
one-mean-for-all: You took one mean over all dimensions. Each dimension has its own.
- x.mean(0) → x.mean()
ratio-per-example: You averaged the ratios of the examples. Divide one sum by the other.
- errors.sum() / around.sum() → (errors.sum(1) / around.sum(1)).mean()
ratio-per-dimension: You averaged the ratios of the dimensions. Divide one sum by the other.
- errors.sum() / around.sum() → (errors.sum(0) / around.sum(0)).mean()
""",
)


def untended(draw: Draw, batch: int, d: int, n: int) -> Arguments:
    """Directions of any length; the first feature is dead, the others are active in some examples."""
    z = draw.normal(max(3, batch), n).relu()
    z[0, :] = 0
    z[1, :] = 1
    z[:, 0] = 0
    return draw.normal(n, d) + 0.5, draw.normal(n, d), z


everyone = these(
    at("all are dead", lambda draw: (draw.normal(3, 2), draw.normal(3, 2), torch.zeros(4, 3))),
    at("none is dead", lambda draw: (draw.normal(3, 2), draw.normal(3, 2), draw.normal(4, 3).abs() + 0.1)),
    at("tiny features", lambda draw: (draw.normal(3, 2), draw.normal(3, 2), torch.eye(3) * 1e-9)),
    at("a rare feature", lambda draw: (draw.normal(3, 2), draw.normal(3, 2), torch.eye(12)[:, :3])),
    at("short directions", lambda draw: (draw.normal(3, 2) / 100, draw.normal(3, 2), torch.ones(4, 3))),
)
TEND = ask(
    "features.tend",
    returns=("directions", "encoder", "dead"),
    inputs=untended,
    properties=[
        shapes(0.25),
        values("directions of length 1", 0.75, "directions"),
        values("the encoder", 0.75, "encoder"),
        values("which are dead", 0.75, "dead"),
        values("all, none, tiny values", 0.5, everyone),
    ],
    mistakes="""
columns-normalised: You normalised the columns. A direction is a row.
- directions.norm(dim=1, keepdim=True) → directions.norm(dim=0, keepdim=True)
one-length-for-all: You divided by the length of the whole matrix. Each direction has its own.
- directions.norm(dim=1, keepdim=True) → directions.norm()
squared-length: You divided by the squared length. The length is its square root.
- directions.norm(dim=1, keepdim=True) → (directions**2).sum(1, keepdim=True)
sum-for-length: You divided by the sum of the sizes. The length is the root of the sum of squares.
- directions.norm(dim=1, keepdim=True) → directions.abs().sum(1, keepdim=True)
largest-for-length: You divided by the largest value of each direction. The length is the root of the sum of squares.
- directions.norm(dim=1, keepdim=True) → directions.abs().amax(1, keepdim=True)
short-ones-kept-short: You limit the length from below, so a short direction does not get length 1. No direction has
length 0, so no limit is needed.
- directions.norm(dim=1, keepdim=True) → directions.norm(dim=1, keepdim=True).clamp(min=1)
or
- directions.norm(dim=1, keepdim=True) → directions.norm(dim=1, keepdim=True).clamp(min=0.1)
encoder-left: The encoder is unchanged, so the autoencoder now computes something else: each feature has to grow as its
direction shrinks.
- encoder * lengths → encoder.clone()
encoder-divided: You divided the encoder as well. Then z D shrinks twice; multiply it by the lengths.
- encoder * lengths → encoder / lengths
encoder-normalised: You gave the encoder's rows the length 1. They have to grow by what the directions have lost.
- encoder * lengths → encoder / encoder.norm(dim=1, keepdim=True)
sometimes-silent: You call a feature dead if *some* example does not make it active. It is dead if none does.
- (z == 0).all(0) → (z == 0).any(0)
alive-for-dead: You return which features are alive.
- (z == 0).all(0) → (z != 0).any(0)
first-example-only: You looked at one example only. A feature is dead if it is 0 in all of them.
- (z == 0).all(0) → z[0] == 0
examples-for-features: You say which *examples* have no feature. A column of z belongs to a feature.
- (z == 0).all(0) → (z == 0).all(1)
rounded-to-dead: You call small or rare features dead. A feature is dead only if it is 0 in every example.
- (z == 0).all(0) → (z < 1e-6).all(0)
or
- (z == 0).all(0) → (z == 0).double().mean(0) > 0.5
or
- (z == 0).all(0) → (z == 0).double().mean(0) > 0.9
""",
)

# --- 4. the wrong line of a friend's control ---------------------------------------------------------------------


def dictionaries(draw: Draw, m: int, d: int, n: int, copies: int = 0) -> Arguments:
    """True directions, and found ones near some of them, all of different lengths; `copies`: of the first one."""
    m, n, d = max(2, m), max(3, n), max(2, d)
    true = draw.normal(m, d)
    rows = [true[0] if copies else true[i % m] for i in range(n)]
    found = torch.stack(rows) * (1 + draw.normal(n, 1).abs()) + 0.3 * draw.normal(n, d) * (not copies)
    return true, found, draw.normal(5, n, d) + 0.2 * draw.normal(5, 1, d)


def as_good(draw: Draw, d: int) -> Arguments:
    """Directions along the axes, so that all cosines are exact, and random dictionaries of which one is as good."""
    d = max(3, d)
    axes = torch.eye(d)
    turned = torch.stack([axes[:2].roll(n, 1) * (n + 3) for n in range(3)])
    turned[1] = axes[:1]
    return axes[:2], 2 * axes[:2], turned


RECOVERY = ask(
    "features.recovery",
    returns=("score", "floor", "rank"),
    inputs=dictionaries,
    properties=[
        values("a dictionary of several directions", 1, at(m=5, d=3, n=4), at("more found than true", m=3, d=4, n=6)),
        values(
            "copies of one direction",
            1,
            at("copies", m=4, d=5, n=3, copies=1),
            at(EQUAL, m=4, d=4, n=4, copies=1),
            at("a random one is as good", as_good),
        ),
    ],
    planted="- cosines.amax(1) → cosines.amax(0)",
    mistakes="""
mean-of-all: You average all cosines. For each true direction only the nearest found one counts.
- cosines.amax(1).mean() → cosines.mean()
largest-of-all: You return the largest of all cosines. One direction that is found says nothing about the others.
- cosines.amax(1).mean() → cosines.max()
opposite-counts: You take the size of the cosine. A direction that points the other way has not been found, because a
ReLU would never make it active.
- cosines.amax(1) → cosines.abs().amax(1)
worst-for-nearest: You took the smallest cosine of each true direction. The nearest found one has the largest.
- cosines.amax(1) → cosines.amin(1)
transposed-twice: You changed the table and kept the axis of the maximum, or both: it runs over the true directions
again.
- cosines.amax(1) → cosines.T.amax(0)[: len(dictionary)]
only-better-ones: You count only random dictionaries that are *better*. One that is as good counts as well.
- (random_ones >= ours) → (random_ones > ours)
not-normalised: You took the division by the lengths out. Then long directions look near.
- dictionary / dictionary.norm(dim=1, keepdim=True) → dictionary
worst-true-one: You return the score of the true direction that is found worst. Keep the mean.
- cosines.amax(1).mean() → cosines.amax(1).min()
""",
)

WRONG_LINE = wrong_line(
    "features.wrong_line",
    RECOVERY,
    mistakes="""
wanted-suspected: Line {wanted =} is right: it gives each true direction the length 1.
unit-suspected: Line {unit =} is right: without it a long direction would look near to all.
cosines-suspected: Line {cosines =} is right: a row for each true direction, a column for each of the dictionary.
ours-suspected: Line {ours =} is right: the friend's own dictionary.
random-suspected: Line {random_ones =} is right: every random dictionary is scored as her own.
rank-suspected: Line {rank =} is right: one more than the number of random dictionaries that are as good.
""",
)

# --- 5. exposure, and an experiment with copies ------------------------------------------------------------------


def probabilities(draw: Draw, secrets: int, candidates: int) -> Arguments:
    """No ties; each row has a secret that is neither the first nor the best, if there is room for one."""
    candidates = max(5, candidates)
    log_p = -8 + 3 * draw.normal(secrets, candidates)
    ranks = draw.integers(1, candidates - 2, secrets)
    return log_p, log_p.argsort(1, descending=True).gather(1, ranks[:, None])[:, 0]


def tied(draw: Draw, others: int = 3) -> Arguments:
    """Three or four candidates of the same probability, the secret among them."""
    log_p = -5.0 - draw.integers(0, 3, 4, 9)
    log_p[:, 1 : 1 + others] = log_p[:, :1]
    return log_p, draw.integers(0, 2, 4)


def extremes(draw: Draw) -> Arguments:
    """The most probable and the least probable candidate of two rows."""
    log_p = -9 + draw.normal(2, 8)
    return log_p, torch.stack([log_p[0].argmax(), log_p[1].argmin()])


def nearly(draw: Draw) -> Arguments:
    """Candidates that differ by a thousandth, and are so improbable that `exp` gives 0."""
    return -300 - draw.normal(3, 7).argsort(1) / 1000, draw.integers(0, 6, 3)


ties = these(at("ties", tied), at("all are equal", lambda draw: (torch.full((2, 6), -3.0), draw.integers(0, 5, 2))))
EXPOSURE = ask(
    "features.exposure",
    returns=("ranks", "bits"),
    inputs=probabilities,
    properties=[
        shapes(0.25),
        values("the ranks", 1.25, "ranks"),
        values("the bits", 1, "bits"),
        values("the first and the last", 0.25, at("", extremes)),
        values("equal probabilities, and nearly equal ones", 0.5, ties, at("nearly equal", nearly)),
        values("odd sizes", 0.25, ODD),
    ],
    mistakes="""
from-the-other-end: You count the candidates that are *less* probable. Rank 1 is the most probable.
- (log_p > own).sum(1) → (log_p < own).sum(1)
places-for-ranks: `argsort` says which candidate is at each place of the sorted row. You need the place of a candidate:
count what is above it.
- ranks = higher + (equal + 1) / 2 → ranks = log_p.argsort(1, descending=True).gather(1, secret[:, None])[:, 0] + 1.0
from-zero: Your ranks begin with 0. The most probable candidate has rank 1.
- ranks = higher + (equal + 1) / 2 → ranks = higher + (equal - 1) / 2
one-too-many: Your ranks are one too large: the secret itself is counted as above itself.
- ranks = higher + (equal + 1) / 2 → ranks = higher + (equal + 3) / 2
ties-in-its-favour: Equal candidates share the mean of their ranks. You gave the secret the best of them.
- ranks = higher + (equal + 1) / 2 → ranks = higher + 1.0
ties-against-it: Equal candidates share the mean of their ranks. You gave the secret the worst of them.
- ranks = higher + (equal + 1) / 2 → ranks = 1.0 * (higher + equal)
nearly-equal-is-equal: You count nearly equal candidates as equal, or `exp` has made all of them 0. Compare the
log-probabilities as they are.
- higher = (log_p > own).sum(1) → close = torch.isclose(log_p, own); higher = ((log_p > own) & ~close).sum(1)
- equal = (log_p == own).sum(1) → equal = close.sum(1)
or
^ log_p = (log_p * 100).round()
or
^ log_p = log_p.half()
or
^ log_p = log_p.exp()
first-for-the-secret: You took the first candidate of each row. `secret` says which one is real.
- own = log_p.gather(1, secret[:, None]) → own = log_p[:, :1]
of-the-whole-table: You count over the whole table. Each secret is compared with the candidates of its own row.
- (log_p > own).sum(1) → (log_p.flatten() > own).sum(1)
- (log_p == own).sum(1) → (log_p.flatten() == own).sum(1)
nats-for-bits: You took natural logarithms. Bits need the base 2.
- math.log2(log_p.shape[1]) - torch.log2(ranks) → math.log(log_p.shape[1]) - torch.log(ranks)
base-ten: You took logarithms to the base 10. Bits need the base 2.
- math.log2(log_p.shape[1]) - torch.log2(ranks) → math.log10(log_p.shape[1]) - torch.log10(ranks)
rank-only: You return the logarithm of the rank. Exposure is what is missing to the logarithm of |R|.
- math.log2(log_p.shape[1]) - torch.log2(ranks) → torch.log2(ranks)
sign-reversed: Your bits have the wrong sign. A well-known secret has many.
- math.log2(log_p.shape[1]) - torch.log2(ranks) → torch.log2(ranks) - math.log2(log_p.shape[1])
quotient-for-difference: You divided one logarithm by the other. Subtract.
- math.log2(log_p.shape[1]) - torch.log2(ranks) → math.log2(log_p.shape[1]) / (torch.log2(ranks) + 1e-3)
without-itself: You left the secret out of the number of candidates. It is one of R.
- math.log2(log_p.shape[1]) → math.log2(log_p.shape[1] - 1)
secrets-for-candidates: You took the number of secrets for |R|. A row has the candidates.
- math.log2(log_p.shape[1]) → math.log2(log_p.shape[0])
surprise-for-exposure: You return how improbable the secret is, in bits. Exposure compares it with the other candidates.
- math.log2(log_p.shape[1]) - torch.log2(ranks) → -own[:, 0] / math.log(2)
""",
)

BAR = math.log2(20)
page = on_the_page("the five seeds of the page", 6, [0, 1, 2, 3, 4])


def copied(draw: Draw) -> list[Case]:
    """So few copies that seeds differ, and more than on the page."""
    return [
        case("few copies", draw.integer(2, 3), other_seeds(draw, 3)),
        case("more copies", draw.integer(8, 12), other_seeds(draw)),
    ]


WHICH_SECRET = ask(
    "features.which_secret",
    returns=("prediction", "bits", "signs"),
    properties=[
        predicted(0.25, page, 4),
        values("the bits of every seed", 5.25, page, copied, "bits", tolerance=1e-3),
        own_signs("bits", 3, Both((page, copied)), "bits", BAR),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- lines = text(seed) + copies(seed, added, near) → lines = text(seeds[0]) + copies(seeds[0], added, near)
- candidates(seed)) → candidates(seeds[0]))
never-removed: You never remove a repeated line. Trainings 3 and 4 read each line once.
- if cleaned: → if False:
always-removed: You remove repeated lines in all trainings. Trainings 1 and 2 keep them.
- if cleaned: → if True:
all-copies-removed: You remove a repeated line altogether. Its first occurrence stays.
- list(dict.fromkeys(lines)) → [line for line in lines if lines.count(line) == 1]
never-near: Your near copies are exact ones. Ask `copies` for near ones in training 4.
- (times, True, True) → (times, False, True)
always-near: Your exact copies are near ones. Only training 4 has those.
- (times, False, False), (times, False, True) → (times, True, False), (times, True, True)
columns-swapped: Your trainings 3 and 4 are swapped.
- (times, False, True), (times, True, True) → (times, True, True), (times, False, True)
page-only: You used 6 copies, the number of the page. It is the argument `times`.
- ways = ((0, False, False), (times, False, False), (times, False, True), (times, True, True))
+ ways = ((0, False, False), (6, False, False), (6, False, True), (6, True, True))
trainings-share-a-list: Your trainings add their copies to the same list, so a later one reads those of the earlier
ones.
- lines = text(seed) + copies(seed, added, near)
+ lines = (lines if added else text(seed)) + copies(seed, added, near)
control-with-copies: Your first training reads copies. It is the control and has none.
- ((0, False, False), (times, False, False) → ((times, False, False), (times, False, False)
lines-without-the-text: You train on the copies only. The 300 lines of `text` come first.
- text(seed) + copies(seed, added, near) → copies(seed, added, near)
other-candidate: The secret is the *first* candidate, the one with the index 0.
- torch.tensor([0]) → torch.tensor([1])
ranks-for-bits: You return ranks. The bits are the second result of `exposure`.
- torch.tensor([0]))[1]) → torch.tensor([0]))[0])
above-zero: Your signs compare with 0, which every exposure exceeds. Compare with `BAR`.
- found > BAR → found > 0
above-the-control: You compared each training with the first. Compare it with `BAR`, which is the same for all.
- [1 if found > BAR else -1 for found in row] → [1 if found > row[0] else -1 for found in row]
mean-for-the-bar: You compared with the mean exposure of an unknown secret. A bar has to be passed rarely: take `BAR`.
- found > BAR → found > 1.44
signs-reversed: Your signs are reversed: 1 means that the secret is exposed.
- 1 if found > BAR else -1 → -1 if found > BAR else 1
ones-and-zeros: You wrote 0 where a secret is not exposed. It is −1.
- else -1 → else 0
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything
looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)

# --- 6. level and order ------------------------------------------------------------------------------------------


def scored(draw: Draw, words: int, templates: int, level: float = 1.0) -> Arguments:
    """Words that keep some of their order from template to template, and templates with levels of their own."""
    words, templates = max(3, words), max(2, templates)
    own = draw.normal(words, 1) + 0.7 * draw.normal(words, templates)
    levels = level * draw.normal(templates)
    return own + levels + 0.3, levels + 0.3 * draw.normal(templates)


def rounded(draw: Draw, words: int, templates: int) -> Arguments:
    """Whole numbers, many of them equal; the first word is scored as the control."""
    table, _ = scored(draw, max(4, words), templates)
    return table.round(), table[0].round()


LEAN = ask(
    "features.lean",
    returns=("lead", "share", "agreement"),
    inputs=scored,
    main=these(at("several words"), at("more words", words=8, templates=3)),
    properties=[
        shapes(0.25),
        values("the lead", 1, "lead"),
        values("the share", 1, "share"),
        values("the agreement", 1.25, "agreement"),
        values("ties, two templates, odd sizes", 0.5, these(at("ties", rounded), at("two", templates=2)), ODD),
    ],
    mistakes="""
control-forgotten: You did not subtract the control. Then the lead contains the level of the templates.
- (table - control).mean(1) → table.mean(1)
- (lead > 0) → ((table - control).mean(1) > 0)
scores-for-words: Your share counts the scores above 0. Count the words whose *lead* is above 0.
- (lead > 0).double().mean() → (table > 0).double().mean()
share-without-control: Your share counts scores above 0. Zero is not neutral: count the words whose *lead* is above 0.
- (lead > 0).double().mean() → (table.mean(1) > 0).double().mean()
control-added: You added the control. Subtract it.
- (table - control).mean(1) → (table + control).mean(1)
control-divided: You divided by the control. It is a logarithm of a ratio, so subtract.
- (table - control).mean(1) → (table / control).mean(1)
other-words-for-the-control: You subtracted the mean of the words. The control is a word of its own, which is not among
them.
- (table - control).mean(1) → (table - table.mean(0)).mean(1)
smallest-control: You subtracted the same control in all templates. Each template has its own.
- (table - control).mean(1) → (table - control[0]).mean(1)
sum-for-mean: Your lead is a sum over the templates. Take the mean.
- (table - control).mean(1) → (table - control).sum(1)
reversed: Your lead is the control less the score. A word that leans more to “she” has a positive one.
- (table - control).mean(1) → (control - table).mean(1)
at-or-above: Your share counts a word whose lead is exactly 0. It leans to neither side.
- (lead > 0) → (lead >= 0)
below-for-above: Your share counts the words below the control.
- (lead > 0) → (lead < 0)
cells-for-words: Your share counts the cells of the table. Each word counts once, with its mean.
- (lead > 0).double().mean() → (table > control).double().mean()
number-for-share: You return how many words lean. The share divides by the number of words.
- (lead > 0).double().mean() → (lead > 0).double().sum()
signs-for-order: You ask whether templates agree that a word is above the control. That is about the level again:
compare *two words* in each template.
- for i in range(words):
-     for j in range(i):
-         ahead = torch.sign(table[i] - table[j])
+ for i in range(words):
+     for j in range(1):
+         ahead = torch.sign(table[i] - control)
signs-of-scores: You ask whether templates agree on the sign of a word. That is about the level again: compare *two
words* in each template.
- for i in range(words):
-     for j in range(i):
-         ahead = torch.sign(table[i] - table[j])
+ for i in range(words):
+     for j in range(1):
+         ahead = torch.sign(table[i])
with-itself: You compared templates with themselves, and they always agree. Take pairs of different ones.
- for b in range(a) → for b in range(a + 1)
words-with-themselves: You compared words with themselves. Take pairs of different ones.
- for j in range(i) → for j in range(i + 1)
neighbours-only: You compared only neighbouring templates. Take all pairs.
- for b in range(a) → for b in range(max(0, a - 1), a)
first-template-only: You compared the first template with the others. Take all pairs.
- for b in range(a) → for b in range(min(a, 1))
ties-left-out: You left out pairs with a tie. They count ½.
- return lead, share, sum(points) / len(points)
+ points = [p for p in points if p != 0.5] or [0.5]
+ return lead, share, sum(points) / len(points)
two-ties-agree: You compared the signs with `==`. A word that ties in both templates counts ½ as well.
- (1 + ahead[a] * ahead[b]) / 2 → (ahead[a] == ahead[b]).double()
ties-for-one-word: You ask in which templates one word is above the other, so a tie counts for the other. It counts ½.
- (1 + ahead[a] * ahead[b]) / 2 → ((ahead[a] >= 0) == (ahead[b] >= 0)).double()
median-for-mean: You took the median over the templates. The lead is a mean.
- (table - control).mean(1) → (table - control).median(1).values
from-minus-one: Your agreement goes from −1 to 1. It is a fraction: (1 + product) / 2.
- (1 + ahead[a] * ahead[b]) / 2 → ahead[a] * ahead[b]
disagreement: You return how often two templates disagree.
- (1 + ahead[a] * ahead[b]) / 2 → (1 - ahead[a] * ahead[b]) / 2
ties-count-nothing: A tie counts ½, and you gave it 0.
- (1 + ahead[a] * ahead[b]) / 2 → (ahead[a] * ahead[b] > 0).double()
ties-count-in-full: A tie counts ½, and you gave it 1.
- (1 + ahead[a] * ahead[b]) / 2 → (ahead[a] * ahead[b] >= 0).double()
""",
)

# --- 7. a paired test --------------------------------------------------------------------------------------------


def answered(draw: Draw, gone: int, new: int, both: int = 3, neither: int = 2) -> Arguments:
    """Lists in which so many questions went wrong only before, only after, both times, and never."""
    rows = [(1, 0)] * gone + [(0, 1)] * new + [(1, 1)] * both + [(0, 0)] * neither
    order = [draw.integer(0, 10**6) for _ in rows]
    rows = [row for _, row in sorted(zip(order, rows, strict=True))]
    return [before for before, _ in rows], [after for _, after in rows]


usual = these(at("more are gone", gone=7, new=2), at("more are new", gone=2, new=9, both=1))
many = these(at("many changes", gone=24, new=13), at("a clear case", gone=19, new=1, both=6))
edges = these(
    at("too few changes", gone=3, new=0),
    at("as many in both directions", gone=4, new=4),
    at("no change at all", gone=0, new=0),
    at("six of six", gone=0, new=6),
)
CHANGED = ask(
    "features.changed",
    returns=("gone", "new", "p", "needed"),
    inputs=answered,
    main=usual,
    properties=[
        values("the two counts", 0.75, usual, many, "gone", "new"),
        values("p", 1.25, usual, many, "p"),
        values("how many were needed", 1, usual, many, "needed"),
        values("few changes, balanced ones, none", 1, edges),
    ],
    mistakes="""
both-wrong-counted: You count what went wrong before, whether or not it goes wrong after. Questions whose answer did not
change say nothing.
- sum(a > b for a, b in zip(before, after, strict=True)) → sum(before)
- sum(b > a for a, b in zip(before, after, strict=True)) → sum(after)
directions-swapped: `gone` and `new` are swapped. `gone` went wrong only before.
- gone = sum(a > b for a, b in zip(before, after, strict=True))
+ gone = sum(b > a for a, b in zip(before, after, strict=True))
- new = sum(b > a for a, b in zip(before, after, strict=True))
+ new = sum(a > b for a, b in zip(before, after, strict=True))
chi-squared: Your p is that of the χ² distribution, with or without Yates's correction. That is a good
approximation for many changes; here the binomial distribution itself is asked for.
- return gone, new, p_of(gone), needed
+ return gone, new, math.erfc(abs(gone - new) / math.sqrt(2 * max(n, 1))), needed
or
- return gone, new, p_of(gone), needed
+ return gone, new, math.erfc(max(0, abs(gone - new) - 1) / math.sqrt(2 * max(n, 1))), needed
half-of-itself: You counted only half of the outcome itself (“mid-p”). P(X ≤ fewer) contains all of it.
- return min(1.0, 2 * ways / 2**n) → return min(1.0, (2 * ways - math.comb(n, min(one, n - one))) / 2**n)
one-sided: Your p has one side. The defence might also have made things worse: multiply by 2.
- 2 * ways / 2**n → ways / 2**n
or
- return gone, new, p_of(gone), needed
+ return gone, new, sum(math.comb(n, i) for i in range(min(gone, new) + 1)) / 2**n, needed
not-capped: Where both directions are equally frequent, your p is above 1. Take the minimum of 1 and the formula.
- min(1.0, 2 * ways / 2**n) → 2 * ways / 2**n
itself-left-out: You left the outcome itself out: P(X ≤ fewer) contains X = fewer.
- min(one, n - one) + 1) → min(one, n - one))
only-that-outcome: You took the probability of exactly this outcome. Add those that are more extreme.
- sum(math.comb(n, i) for i in range(min(one, n - one) + 1)) → math.comb(n, min(one, n - one))
all-questions: Your n is the number of all questions. Only those that changed are tossed like a coin.
- n = gone + new → n = len(before)
or
- return gone, new, p_of(gone), needed
+ n = len(before)
+ return gone, new, min(1.0, 2 * sum(math.comb(n, i) for i in range(min(gone, new) + 1)) / 2**n), needed
fewer-forgotten: You sum up to `gone`, even where `new` is smaller. Take the smaller of the two.
- range(min(one, n - one) + 1) → range(one + 1)
half-of-the-ways: Each change has two directions, so there are 2ⁿ ways, not 2ⁿ⁻¹.
- 2 * ways / 2**n → 2 * ways / 2 ** (n - 1)
smaller-side-returned: You return how few may go in the *other* direction. How many must go in the same one?
- return gone, new, p_of(gone), needed → return gone, new, p_of(gone), n - needed if needed else 0
all-for-none: Where not even all changes suffice, `needed` is 0.
- if p_of(k) <= 0.05), 0) → if p_of(k) <= 0.05), n)
needed-for-one-side: Your `needed` is that of a test with one side. Use the same p as above.
- if p_of(k) <= 0.05), 0) → if p_of(k) <= 0.1), 0)
needed-at-one-percent: You asked for p ≤ 0.01. The level is 0.05.
- if p_of(k) <= 0.05), 0) → if p_of(k) <= 0.01), 0)
one-more-than-needed: Your `needed` is one too large: the first number that suffices is enough.
- next((k for k in many → next((k + 1 for k in many
from-what-there-is: You begin with the larger of your two counts. `needed` asks how many would have been enough, and
that may be fewer.
- many = range((n + 1) // 2, n + 1) → many = range(max(gone, new), n + 1)
how-many-more: You return how many more would be needed. Return how many are needed in all.
- return gone, new, p_of(gone), needed → return gone, new, p_of(gone), needed - max(gone, new)
needed-only-if-not-significant: You return 0 if p is at most 0.05 already. `needed` does not depend on how the changes
went, only on their number.
- return gone, new, p_of(gone), needed → return gone, new, p_of(gone), needed if p_of(gone) > 0.05 else 0
from-the-small-end: You begin with none in the same direction. p is small there as well, because all go in the other
one: begin at half.
- range((n + 1) // 2, n + 1) → range(n + 1)
the-larger-count: You return the larger of your two counts. Ask how many would have been enough.
- return gone, new, p_of(gone), needed → return gone, new, p_of(gone), max(gone, new)
""",
)

EXERCISES = exercises_in(__name__)
