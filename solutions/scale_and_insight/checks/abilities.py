"""Questions 4a and 4b: three ways to count right answers, and where an ability appears."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import DIGITS
from autograder.exercise.special import at_points, formula
from autograder.exercise.specification import Case, case
from solutions.scale_and_insight.checks.common import CLOSED


def _answers(draw: Draw, count: int, low: int = 0, high: int = 9) -> tuple[list[list[int]], list[list[int]]]:
    """Some right, some with a wrong token, one too short, one too long."""
    wanted = [draw.integers(low, high, draw.integer(2, 5)).tolist() for _ in range(count)]
    written = [list(answer) for answer in wanted]
    for answer in written[2::3]:
        answer[draw.integer(0, len(answer) - 1)] += 100
    written[0] = written[0][:-1]
    written[1] = [*written[1], draw.integer(low, high)]
    return written, wanted


def _usual(draw: Draw) -> list[Case]:
    return [case("right, wrong, short and long answers", *_answers(draw, draw.integer(6, 9)))]


def _all_wrong_length(draw: Draw) -> list[Case]:
    wanted = [draw.integers(0, 9, draw.integer(1, 4)).tolist() for _ in range(4)]
    return [
        case("an answer that is empty", [[], wanted[1], wanted[2], []], wanted),
        case("answers that are too long", [[*answer, 3] for answer in wanted], wanted),
        case("all right", wanted, [list(answer) for answer in wanted]),
        case("nothing right", [[11] * len(answer) for answer in wanted], wanted),
        case("shifted by one", [[12, *answer] for answer in wanted], wanted),
        case(DIGITS, [[1, 12], [111, 2], [2, 3]], [[11, 2], [1, 112], [2, 3]]),
    ]


MIRAGE = question(
    "scale_and_insight.mirage",
    minutes=10,
    difficulty="medium",
    returns=("accuracy", "exact", "promised"),
    properties=[
        values("the accuracy", 0.75, _usual, "accuracy"),
        values("the exact match", 0.5, _usual, "exact"),
        values("what the accuracy promises", 0.75, _usual, "promised"),
        values("empty, short and long answers, ids of several digits", 0.5, _all_wrong_length),
    ],
    closed=CLOSED,
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
- sum(len(goal) for goal in wanted)
+ max(1, sum(min(len(answer), len(goal)) for answer, goal in pairs))

anywhere-counts: You count a token as right wherever it occurs. It has to be in its position.
- sum(mine == theirs for answer, goal in pairs for mine, theirs in zip(answer, goal, strict=False))
+ sum(theirs in answer for answer, goal in pairs for theirs in goal)

too-long-is-exact: An answer that goes on after the right tokens counts as exact. It is not right as a whole.
- list(answer) == list(goal) → list(answer)[: len(goal)] == list(goal)

too-short-is-exact: An answer that stops too early counts as exact: `zip` compares only what both have.
- sum(list(answer) == list(goal) for answer, goal in pairs)
+ sum(len(a) <= len(g) and all(x == y for x, y in zip(a, g)) for a, g in pairs)

joined-as-text: You compare answers as joined text, where (1, 12) and (11, 2) look the same. Compare the lists.
- list(answer) == list(goal) → "".join(map(str, answer)) == "".join(map(str, goal))

length-of-the-written: You raise the accuracy to the length of the *written* answer. The number of tokens that must be
right is that of the wanted one.
- sum(accuracy ** len(goal) for goal in wanted) → sum(accuracy ** len(answer) for answer in written)

mean-length: You raise the accuracy to the mean length. The mean of powers is not the power of the mean: take one power
per answer.
- sum(accuracy ** len(goal) for goal in wanted) / len(wanted)
+ accuracy ** (sum(len(goal) for goal in wanted) / len(wanted))

each-answers-own-accuracy: You take each answer's own accuracy to its length. The promise is what *one* accuracy for
all tokens would give.
- sum(accuracy ** len(goal) for goal in wanted) / len(wanted)
+ sum((sum(a == b for a, b in zip(w, g)) / len(g)) ** len(g) for w, g in pairs) / len(wanted)

product-of-all: You raise the accuracy to the number of all tokens. That is the probability that *every* answer is
right; the fraction of right answers is a mean over the answers.
- sum(accuracy ** len(goal) for goal in wanted) / len(wanted) → accuracy ** sum(len(goal) for goal in wanted)
""",
)


_points = at_points(c=(100.0, 5_000.0), alpha=(0.15, 0.6), length=(2, 9), q=(0.1, 0.8))

THRESHOLD = question(
    "scale_and_insight.threshold",
    minutes=15,
    difficulty="medium",
    returns=("N", "slope"),
    properties=[
        formula("the number of parameters", 1, _points, "N"),
        formula("the slope", 1, _points, "slope"),
    ],
    closed=CLOSED,
    mistakes="""
length-forgotten: Your formula is that of a single token. An answer has `length` tokens, and all of them must be right.
- length / -math.log(q) → 1 / -math.log(q)

fraction-upside-down: Your fraction is upside down: a longer answer needs a larger model.
- length / -math.log(q) → -math.log(q) / length

root-forgotten: You solved for a power of c / N. Take the root with α.
- ) ** (1 / alpha) → )

power-for-root: You raised to the power α. To undo a power, raise to 1/α.
- ** (1 / alpha) → ** alpha

root-of-the-match: You took q to the power 1/length as the loss of a token. It is the *probability* of a token; its
loss is minus its logarithm.
- length / -math.log(q) → 1 / q ** (1 / length)

slope-against-n: Your slope is against N. Against ln N it is N times as large: dN = N d ln N.
- -alpha * q * math.log(q) → -alpha * q * math.log(q) / N

slope-sign: Your slope has the wrong sign. A larger model is right more often, so the slope is positive; note that ln q
is negative.
- N, -alpha * q → N, alpha * q

slope-of-the-exponent: That is the slope of the exponent alone. The exact match is e to that exponent, so the chain
rule gives one more factor.
- -alpha * q * math.log(q) → -alpha * math.log(q)

alpha-forgotten: The slope lacks the factor α: the exponent falls like e to −α ln N.
- -alpha * q * math.log(q) → -q * math.log(q)

length-in-the-slope: Your slope has a factor `length`. The exponent already contains it: at q the whole exponent is
ln q, whatever the length is.
- -alpha * q * math.log(q) → -alpha * length * q * math.log(q)
""",
)
